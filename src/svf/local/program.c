/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that verbs run: what they print is captured, and their end is waited for. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "local.h"
#include "util/mem.h"

/* Never returns. */
static void child(char *const argv[], int out, bool errors)
{
	if (dup2(out, 1) < 0 || (errors && dup2(out, 2) < 0))
		_exit(126);
	execv(argv[0], argv);
	_exit(127);
}

/* Reads all; returns false if it is more than the buffer takes. */
static bool capture(int fd, struct vs_buf *to)
{
	char part[4096];
	ssize_t n;

	for (;;) {
		n = read(fd, part, sizeof(part));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return true;
		if (vs_buf_add(to, part, (size_t)n))
			return false;
	}
}

int svf_program_run(char *const argv[], bool errors, struct vs_buf *out,
		    struct vs_err *err)
{
	int ends[2], status = 0;
	bool whole = false;
	pid_t pid;

	fflush(stdout);
	if (pipe(ends))
		return vs_err_set(err, VS_E_RETRY, "pipe: %s", strerror(errno));
	pid = fork();
	if (!pid)
		child(argv, ends[1], errors);
	close(ends[1]);
	if (pid > 0)
		whole = capture(ends[0], out);
	close(ends[0]);
	if (pid < 0)
		return vs_err_set(err, VS_E_RETRY, "fork: %s", strerror(errno));
	if (!whole)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!whole)
		return vs_err_set(err, VS_E_RETRY, "%s printed too much", argv[0]);
	if (!WIFEXITED(status))
		return vs_err_set(err, VS_E_RETRY, "%s was ended by signal %d",
				  argv[0], WTERMSIG(status));
	if (WEXITSTATUS(status) == 127)
		return vs_err_set(err, VS_E_GONE, "%s can't be run", argv[0]);
	return WEXITSTATUS(status);
}

/* This program's own file; "" if /proc doesn't say. */
static void own_path(char *out, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", out, size - 1);

	out[n > 0 ? n : 0] = '\0';
}

char *svf_own_path(void)
{
	char own[4096];

	own_path(own, sizeof(own));
	return own[0] ? vs_strdup(own) : vs_strdup(SVF_BINDIR "/svf");
}

/* An installation may lie below another root: what stands before BINDIR in svf's own
 * path stands before the other directories too. */
char *svf_helper_path(const char *name)
{
	static const char tail[] = SVF_BINDIR "/svf";
	char own[4096];
	size_t len, cut = strlen(tail);

	own_path(own, sizeof(own));
	len = strlen(own);
	if (len >= cut && !strcmp(own + len - cut, tail))
		own[len - cut] = '\0';
	else
		own[0] = '\0';
	return vs_asprintf("%s" SVF_PKGLIBEXECDIR "/%s", own, name);
}
