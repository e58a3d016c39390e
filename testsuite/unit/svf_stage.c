/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs svf in a child with an environment of its own, and reads back what it
 * printed. Nothing of the machine's own Slurm or munge is asked.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* pipe2 */
#endif
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "svf_stage.h"
#include "util/mem.h"

#define ARGS_MAX 24
#define RUN_S 60

int port;
char control[32];
char out[65536], errs[8192];
char svf_path[256];
bool as_nobody;

/* ---- running it -------------------------------------------------------- */

char *path_of(const char *name)
{
	return vs_asprintf("%s/%s", stage_dir, name);
}

void write_file(const char *name, const char *fmt, ...)
{
	VS_FREE char *path = path_of(name);
	FILE *f = fopen(path, "we");
	va_list ap;

	assert_non_null(f);
	va_start(ap, fmt);
	assert_true(vfprintf(f, fmt, ap) >= 0);
	va_end(ap);
	fclose(f);
	assert_int_equal(chmod(path, 0644), 0);
}

static void read_back(const char *name, char *buf, size_t size)
{
	VS_FREE char *path = path_of(name);
	FILE *f = fopen(path, "re");

	assert_non_null(f);
	buf[fread(buf, 1, size - 1, f)] = '\0';
	fclose(f);
}

/* Its standard output is the descriptor to, or a file if that is below 0. */
static void child(char **argv, int to)
{
	VS_FREE char *conf = path_of("slurm.conf");
	VS_FREE char *o = path_of("out"), *e = path_of("err");
	const char *svf = getenv("VS_SVF");
	static const char *const kept[] = {
		"COLUMNS", "SBATCH_CONSTRAINT", "SBATCH_PARTITION",
	};
	char *values[VS_COUNT(kept)];
	VS_FREE char *bin = vs_strdup(svf ? svf : "src/svf/svf");

	if (!freopen("/dev/null", "r", stdin) ||
	    !freopen(e, "w", stderr) ||
	    (to < 0 ? !freopen(o, "w", stdout) : dup2(to, 1) < 0))
		_exit(126);
	for (size_t i = 0; i < VS_COUNT(kept); i++)
		values[i] = getenv(kept[i]) ? vs_strdup(getenv(kept[i])) : NULL;
	clearenv();
	setenv("SLURM_CONF", conf, 1);
	for (size_t i = 0; i < VS_COUNT(kept); i++)
		if (values[i])
			setenv(kept[i], values[i], 1);
	if (svf_path[0])
		setenv("PATH", svf_path, 1);
	if (control[0])
		setenv("SVF_CONTROL", control, 1);
	argv[0] = bin;
	alarm(RUN_S);		/* one that never ends is a failure */
	if (as_nobody && (setgid(NOBODY) || setuid(NOBODY)))
		_exit(126);
	execv(bin, argv);
	_exit(127);
}

static pid_t start(const char *words, int to)
{
	VS_FREE char *copy = vs_strdup(words);
	char *argv[ARGS_MAX + 2] = { NULL }, *save = NULL;
	pid_t pid;
	int n = 1;

	for (char *w = strtok_r(copy, " ", &save); w && n <= ARGS_MAX;
	     w = strtok_r(NULL, " ", &save))
		argv[n++] = w;
	pid = stage_fork();
	if (pid == 0)
		child(argv, to);
	return pid;
}

FILE *svf_open(const char *words, pid_t *pid)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	*pid = start(words, ends[1]);
	close(ends[1]);
	return fdopen(ends[0], "r");
}

int svf(const char *words)
{
	pid_t pid = start(words, -1);
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	read_back("out", out, sizeof(out));
	read_back("err", errs, sizeof(errs));
	assert_int_not_equal(WEXITSTATUS(status), 127);
	return WEXITSTATUS(status);
}

int restart(void **state)
{
	(void)state;
	as_nobody = false;
	svf_path[0] = '\0';
	port = stage_start();
	snprintf(control, sizeof(control), "127.0.0.1:%d", port);
	write_file("slurm.conf", CLUSTER "AuthType=auth/munge\nAuthInfo=socket=%s\n",
		   geteuid(), stage_socket);
	write_file("vsphere.conf", "%s", "");
	return 0;
}
