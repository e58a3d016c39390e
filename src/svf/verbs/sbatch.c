/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Slurm says of a job that would be submitted now: `sbatch --test-only`
 * with the options that svf plan takes. sbatch reads their values and its own
 * variables (SBATCH_PARTITION). Slurm chooses the nodes as for a real job.
 *
 * sbatch's output comes from outside: only its one line is believed, and
 * whatever is printed of the rest is cleaned.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* memmem, strptime */
#endif
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sbatch.h"
#include "util/buf.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/time.h"

#define ANSWER_MS 30000		/* as for an answer of slurmctld itself */
#define OUTPUT_MAX (1024 * 1024)
#define NOT_AVAILABLE "Requested node configuration is not available"
#define BUT "; --test-only minds only nodes that are in service now, and limits as they are: the job itself may be queued, if the hosts can ever hold it"

/* ---- its one line ------------------------------------------------------------ */

/* The word at s into out; what follows it. NULL: there is none, or too long. */
static const char *word(const char *s, char *out, size_t size)
{
	size_t n = strcspn(s, " \t\r\n");

	if (!n || n >= size)
		return NULL;
	memcpy(out, s, n);
	out[n] = '\0';
	return s + n;
}

static const char *after(const char *s, const char *text)
{
	size_t n = strlen(text);

	return s && !strncmp(s, text, n) ? s + n : NULL;
}

/* What follows the text, wherever in this line it is. */
static const char *past(const char *s, const char *text)
{
	size_t n = strlen(text);
	const char *at = s ? memmem(s, strcspn(s, "\r\n"), text, n) : NULL;

	return at ? at + n : NULL;
}

static const char *number(const char *s, uint32_t *v)
{
	char *end;
	unsigned long long n;

	if (!s || *s < '0' || *s > '9')
		return NULL;
	errno = 0;
	n = strtoull(s, &end, 10);
	if (errno || n > UINT32_MAX)
		return NULL;
	*v = (uint32_t)n;
	return end;
}

/* Slurm writes local time; 0: not known. */
static int64_t instant(const char *s)
{
	struct tm tm = { .tm_isdst = -1 };
	const char *end = strptime(s, "%Y-%m-%dT%H:%M:%S", &tm);

	return end && !*end ? (int64_t)mktime(&tm) : 0;
}

/* "Job 7 to start at TIME using 4 processors on nodes LIST in partition P".
 * From 25.05 there is more before "using": "on cluster C a". */
static bool line_parse(const char *s, struct svf_sbatch *out)
{
	struct svf_sbatch r = { 0 };
	char when[40];
	uint32_t job;

	s = after(number(after(s, "Job "), &job), " to start at ");
	s = s ? word(s, when, sizeof(when)) : NULL;
	s = number(past(s, " using "), &r.cpus);
	s = after(s, " processors on nodes ");
	s = s ? word(s, r.nodes, sizeof(r.nodes)) : NULL;
	if (!s)
		return false;
	s = after(s, " in partition ");
	if (s)
		word(s, r.partition, sizeof(r.partition));
	r.start = instant(when);
	*out = r;
	return true;
}

bool svf_sbatch_parse(const char *text, struct svf_sbatch *out)
{
	for (const char *s = text; s; s = strchr(s, '\n')) {
		const char *end, *job;

		s += *s == '\n';
		end = strchrnul(s, '\n');
		/* "sbatch: " before it, or what a wrapper puts there */
		job = memmem(s, (size_t)(end - s), "Job ", 4);
		if (job && line_parse(job, out))
			return true;
	}
	return false;
}

/* ---- the child --------------------------------------------------------------- */

/* Never returns. */
static void child(char **argv, int out)
{
	if (dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(126);
	setenv("LC_ALL", "C", 1);
	setenv("SLURM_TIME_FORMAT", "standard", 1);
	execvp(argv[0], argv);
	_exit(127);
}

/* Until it says no more; false: the time is over. */
static bool hear(int fd, struct vs_buf *said)
{
	int64_t end_ms = vs_now_ms() + ANSWER_MS, left;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char part[4096];
	ssize_t n = 1;

	while ((left = end_ms - vs_now_ms()) > 0) {
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		n = read(fd, part, sizeof(part));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || vs_buf_add(said, part, (size_t)n))
			return true;
	}
	return false;
}

/* All that it says, on both of its outputs; its exit status, -1 with err. */
static int run(char **argv, struct vs_buf *said, struct vs_err *err)
{
	int ends[2], status = 0;
	bool in_time = true;
	pid_t pid;

	if (pipe(ends))
		return vs_err_set(err, VS_E_RETRY, "pipe: %s", strerror(errno));
	pid = fork();
	if (!pid)
		child(argv, ends[1]);
	close(ends[1]);
	if (pid > 0)
		in_time = hear(ends[0], said);
	close(ends[0]);
	if (!in_time)
		kill(pid, SIGKILL);
	if (pid < 0)
		return vs_err_set(err, VS_E_RETRY, "fork: %s", strerror(errno));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!in_time)
		return vs_err_set(err, VS_E_RETRY,
				  "sbatch --test-only had no answer of slurmctld within %d s",
				  ANSWER_MS / 1000);
	if (!WIFEXITED(status))
		return vs_err_set(err, VS_E_RETRY, "sbatch was ended by a signal");
	if (WEXITSTATUS(status) == 127)
		return vs_err_set(err, VS_E_CONFIG,
				  "sbatch was not found in PATH: it chooses the nodes");
	return WEXITSTATUS(status);
}

/* It had no answer, as Slurm's own errors say it in all releases. */
static bool nobody_answers(const char *text)
{
	static const char *const words[] = {
		"Unable to contact slurm controller", "Socket timed out",
		"Zero Bytes were transmitted", "in standby mode",
		"Communication connection failure",
	};

	for (size_t i = 0; i < VS_COUNT(words); i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

/* What it had against the job, line by line, without its own name. */
static void no_said(struct vs_buf *said, struct vs_err *err)
{
	struct vs_buf b = VS_BUF_INIT(sizeof(err->text) - 1);
	char *save = NULL;

	for (char *s = said->len ? strtok_r(said->data, "\n", &save) : NULL; s;
	     s = strtok_r(NULL, "\n", &save)) {
		const char *of = after(s, "sbatch: ");
		const char *why = after(of ? of : s, "error: ");

		vs_buf_printf(&b, "%s%s", b.len ? "; " : "", why ? why :
			      of ? of : s);
	}
	if (!b.len)
		vs_err_set(err, VS_E_REQUEST,
			   "sbatch --test-only printed nothing");
	else if (strstr(b.data, " to start at "))
		vs_err_set(err, VS_E_REQUEST,
			   "sbatch --test-only names no nodes that can be read: does the job ask for any, or for too many?");
	else if (nobody_answers(b.data))
		vs_err_set(err, VS_E_RETRY,
			   "slurmctld does not answer sbatch --test-only: %s",
			   b.data);
	else
		vs_err_set(err, VS_E_REQUEST, "%s%s", b.data,
			   strstr(b.data, NOT_AVAILABLE) ? BUT : "");
	vs_buf_free(&b);
}

int svf_sbatch(char **options, int n, struct svf_sbatch *out,
	       struct vs_err *err)
{
	VS_FREE char **argv = vs_calloc((size_t)n + 4, sizeof(*argv));
	struct vs_buf said = VS_BUF_INIT(OUTPUT_MAX);
	int rc;

	argv[0] = "sbatch";
	argv[1] = "--test-only";
	argv[2] = "--wrap=:";	/* else it reads a script from stdin */
	memcpy(argv + 3, options, (size_t)n * sizeof(*argv));
	rc = run(argv, &said, err);
	if (rc >= 0 && !svf_sbatch_parse(said.data ? said.data : "", out)) {
		no_said(&said, err);
		rc = -1;
	}
	vs_buf_free(&said);
	return rc < 0 ? -1 : 0;
}
