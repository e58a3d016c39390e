/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See check_process.h. A program of its own and not libibverbs in slurmd: providers are
 * libraries of vendors that open devices and may crash, and a device that dies
 * keeps its callers in the kernel. What happens to a child happens to it alone,
 * and where it isn't installed slurmd starts and works all the same.
 *
 * A process in the kernel outlives even SIGKILL until the driver lets it go, and
 * would be slurmd's child until then, and a zombie after it. So a shell stands
 * between: our child, which can always be killed, and the program is its child,
 * that init inherits then.
 *
 * Rules: only the thread of this job's prolog waits, and not for ever; slurmd
 * waits for no child of any pid, nor do we; none is left to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "check_process.h"

#define LOOK_MS 10
#define KILLED_MS 1000		/* that a killed shell has to go */
#define ARGS_MAX 32

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Not the shell's last command, which it would become. */
static const char *const shell[] = { "/bin/sh", "-c", "\"$@\"; exit $?", "sh" };
#define SHELL_ARGS (sizeof(shell) / sizeof(shell[0]))

/* A child without our signals' settings, whose words come through out. */
static int spawn(const char *const argv[], int out, pid_t *pid)
{
	const char *args[SHELL_ARGS + ARGS_MAX + 1] = { NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

	memcpy(args, shell, sizeof(shell));
	for (size_t i = 0; argv[i]; i++) {
		if (i == ARGS_MAX)
			return E2BIG;
		args[SHELL_ARGS + i] = argv[i];
	}
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out, 2);
	rc = posix_spawn(pid, args[0], &files, &attr, (char *const *)args,
			 environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return rc;
}

/* Its last line, printable: libibverbs may have warned before. */
static void line_keep(char *why, size_t size, const char *text)
{
	size_t len = strlen(text), from;

	while (len && text[len - 1] == '\n')
		len--;
	for (from = len; from && text[from - 1] != '\n'; from--)
		;
	snprintf(why, size, "%.*s", (int)(len - from), text + from);
	for (char *c = why; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

/* Until it closes its words or the time is over; what is too much is dropped. */
static void words_read(int fd, int64_t end, char *text, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t len = 0;

	text[0] = '\0';
	for (;;) {
		char more[512];
		int64_t left = end - now_ms();
		ssize_t n;

		if (left <= 0 || poll(&p, 1, (int)left) < 1)
			return;
		n = read(fd, more, sizeof(more));
		if (n <= 0)
			return;
		if (len + (size_t)n >= size)	/* the last words count */
			len = 0;
		memcpy(text + len, more, (size_t)n);
		len += (size_t)n;
		text[len] = '\0';
	}
}

/* Has it ended by then? */
static bool ended(pid_t pid, int64_t end, int *status)
{
	const struct timespec look = { .tv_nsec = LOOK_MS * 1000000L };

	for (;;) {
		pid_t got = waitpid(pid, status, WNOHANG);

		if (got == pid)
			return true;
		if (got < 0 && errno != EINTR) {
			*status = -1;
			return true;
		}
		if (now_ms() >= end)
			return false;
		nanosleep(&look, NULL);
	}
}

enum vs_port_answer vs_port_check(const char *const argv[], int timeout_ms,
				  char *why, size_t size)
{
	int64_t end = now_ms() + timeout_ms;
	int pipes[2], status = 0;
	char text[2048];
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC))
		return VS_PORT_UNASKED;
	if (spawn(argv, pipes[1], &pid)) {
		close(pipes[0]);
		close(pipes[1]);
		return VS_PORT_UNASKED;
	}
	close(pipes[1]);
	words_read(pipes[0], end, text, sizeof(text));
	close(pipes[0]);
	if (!ended(pid, end, &status)) {
		/* What even so stays is the kernel's and init's. */
		kill(-pid, SIGKILL);
		ended(pid, now_ms() + KILLED_MS, &status);
		snprintf(why, size,
			 "%s did not answer within %d s: a device driver hangs (see dmesg in the guest)",
			 argv[0], timeout_ms / 1000);
		return VS_PORT_WRONG;
	}
	if (status == -1 || !WIFEXITED(status))
		return VS_PORT_UNASKED;
	if (!WEXITSTATUS(status))
		return VS_PORT_RIGHT;
	line_keep(why, size, text);
	return why[0] && (WEXITSTATUS(status) == 1 || WEXITSTATUS(status) == 3) ?
		VS_PORT_WRONG : VS_PORT_UNASKED;
}
