/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf top: the site on one screen, live. A child asks, so that keys work while
 * slurmctld takes its time; the answer comes through a pipe. While no
 * controller answers, the last picture stays, with the time since when.
 *
 * Rules: signals are heard while it waits alone; every way out but SIGKILL
 * gives the terminal back; at most one question is under way.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* ppoll */
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/rpc/message.h"
#include "top.h"
#include "util/buf.h"
#include "util/mem.h"
#include "util/time.h"

#define INTERVAL_S 2
#define ANSWER_MAX (4 * (size_t)VS_CTL_REPORT_MAX)

struct top {
	struct top_view v;
	struct top_model *m;
	bool colour;
	pid_t child;			/* that asks; 0: none does */
	int fd;				/* from it */
	struct vs_buf heard;
	int64_t next_ms;		/* when it is asked again */
	bool ask;			/* at once */
	sigset_t waiting;
};

static volatile sig_atomic_t ended;	/* by which signal */

static void end_by(int sig)
{
	ended = sig;
}

static void signals(struct top *t)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction end = { .sa_handler = end_by };
	sigset_t block;

	sigemptyset(&block);
	sigaddset(&block, SIGWINCH);	/* ncurses' own */
	sigaddset(&block, SIGTSTP);
	for (size_t i = 0; i < VS_COUNT(ends); i++) {
		sigaction(ends[i], &end, NULL);
		sigaddset(&block, ends[i]);
	}
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &block, &t->waiting);
}

/* ---- asking ---------------------------------------------------------------------- */

static void write_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

/* The exit code and a line's end, then the answer, or why there is none. */
static void child_asks(int fd, const sigset_t *mask)
{
	struct json_object *all = NULL;
	VS_FREE char *said = NULL, *text = NULL;
	VS_FREE char *code = NULL;
	size_t nsaid;
	int rc;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	stderr = open_memstream(&said, &nsaid);
	if (!stderr)
		_exit(1);
	rc = top_ask(&all);
	fflush(stderr);
	text = rc ? NULL : vs_jb_text_free(all);
	code = vs_asprintf("%d\n", rc);
	write_all(fd, code, strlen(code));
	write_all(fd, rc ? said : text, rc ? nsaid : strlen(text));
	_exit(0);
}

static void begin_asking(struct top *t)
{
	int ends[2];

	t->ask = false;
	t->next_ms = vs_now_ms() + (int64_t)t->v.interval * 1000;
	if (pipe2(ends, O_CLOEXEC))
		return;			/* again, when it is time */
	fflush(stdout);
	t->child = fork();
	if (!t->child) {
		close(ends[0]);
		child_asks(ends[1], &t->waiting);
	}
	close(ends[1]);
	if (t->child < 0) {
		t->child = 0;
		close(ends[0]);
		return;
	}
	t->fd = ends[0];
	vs_buf_reset(&t->heard);
}

static void away(struct top *t, const char *why)
{
	size_t len;

	if (!t->v.away)
		t->v.away = (int64_t)time(NULL);
	if (!strncmp(why, "svf: ", 5))
		why += 5;
	len = strcspn(why, "\n");
	snprintf(t->v.error, sizeof(t->v.error), "%.*s", (int)len, why);
	svf_clean(t->v.error);
}

static void take_answer(struct top *t)
{
	const char *text = t->heard.data ? t->heard.data : "";
	const char *line = strchr(text, '\n');
	struct top_model *m = NULL;
	struct vs_jdoc doc;
	struct vs_err err;

	if (!line || strtol(text, NULL, 10)) {
		away(t, line ? line + 1 : "the question was cut short");
		return;
	}
	line++;
	if (vs_jdoc_parse(&doc, line, t->heard.len - (size_t)(line - text),
			  &err)) {
		away(t, err.text);
		return;
	}
	m = top_model_new(&doc, t->m);
	if (vs_json_failed(&doc, &err)) {
		away(t, err.text);
		top_model_free(m);
	} else {
		t->v.away = 0;
		top_model_free(t->m);
		t->m = m;
	}
	vs_jdoc_free(&doc);
}

static void end_asking(struct top *t, bool taken)
{
	if (!t->child)
		return;
	close(t->fd);
	if (!taken)
		kill(t->child, SIGKILL);
	while (waitpid(t->child, NULL, 0) < 0 && errno == EINTR)
		;
	t->child = 0;
	t->next_ms = vs_now_ms() + (int64_t)t->v.interval * 1000;
	if (taken)
		take_answer(t);
}

static void hear(struct top *t)
{
	char buf[65536];
	ssize_t n = read(t->fd, buf, sizeof(buf));

	if (n < 0 && errno == EINTR)
		return;
	if (n > 0 && !vs_buf_add(&t->heard, buf, (size_t)n))
		return;
	end_asking(t, true);
}

/* ---- the screen -------------------------------------------------------------------- */

static void draw(struct top *t)
{
	struct top_lines screen = { 0 };

	top_curses_size(&t->v.rows, &t->v.cols);
	t->v.now = (int64_t)time(NULL);
	top_draw(t->m, &t->v, &screen);
	top_curses_show(&screen);
	top_lines_free(&screen);
}

/* All keys that are there; false: it is over. */
static bool keys(struct top *t)
{
	int64_t key;

	while ((key = top_curses_key())) {
		enum top_did did;

		if (key < 0) {
			top_curses_again();
			continue;
		}
		did = top_key(t->m, &t->v, (uint32_t)key);
		if (did == TOP_DID_QUIT)
			return false;
		t->ask |= did == TOP_DID_ASK;
	}
	return true;
}

static void wait_more(struct top *t, bool *gone)
{
	struct pollfd p[2] = { { .fd = STDIN_FILENO, .events = POLLIN },
			       { .fd = t->child ? t->fd : -1,
				 .events = POLLIN } };
	int64_t left_ms = t->next_ms - vs_now_ms();
	struct timespec ts = { .tv_sec = 1 };	/* the clock advances */

	if (!t->v.paused && !t->child && left_ms < 1000) {
		left_ms = left_ms > 0 ? left_ms : 0;
		ts = (struct timespec){ .tv_nsec = (long)left_ms * 1000000 };
	}
	if (ppoll(p, 2, &ts, &t->waiting) < 0)
		return;			/* a signal: seen by the loop */
	*gone = p[0].revents & (POLLHUP | POLLERR | POLLNVAL);
	if (p[1].revents)
		hear(t);
}

static void loop(struct top *t)
{
	bool gone = false;

	t->ask = true;
	while (!ended && !gone) {
		bool due = !t->v.paused && vs_now_ms() >= t->next_ms;

		if (!t->child && (t->ask || due))
			begin_asking(t);
		draw(t);
		wait_more(t, &gone);
		if (!keys(t))
			break;
	}
}

static int interval_of(const char *text)
{
	char *end = "";
	long n = text ? strtol(text, &end, 10) : INTERVAL_S;

	return n < 1 || n > 3600 || *end ? 0 : (int)n;
}

static int run(const struct svf *s)
{
	struct top t = { .heard = VS_BUF_INIT(ANSWER_MAX),
			 .v.interval = interval_of(s->own[0]) };

	if (s->argc)
		return svf_wrong("top", "nothing is expected after it, not '%s'",
				 s->argv[0]);
	if (s->json)
		return svf_wrong("top", "it draws on a terminal; svf map --json prints its answers");
	if (!t.v.interval)
		return svf_wrong("top", "--iterate takes seconds from 1 to 3600, not '%s'",
				 s->own[0]);
	if (top_curses_begin(s->colour))
		return SVF_USAGE;
	signals(&t);
	loop(&t);
	top_curses_end();
	end_asking(&t, false);
	vs_buf_free(&t.heard);
	top_model_free(t.m);
	return !ended || ended == SIGINT ? SVF_OK : 128 + ended;
}

static const struct svf_opt own[] = {
	{ "-i", "--iterate", "SECONDS",
	  "ask slurmctld every SECONDS, from 1 to 3600; 2 if not given",
	  SVF_OPT_OWN },
	{ 0 }
};

const struct svf_verb svf_top = {
	.name = "top", .args = "", .run = run, .own = own,
	.what = "hosts, VFs, jobs and engine on one screen, live",
	.help =
"A cell is a VF, or a device that VMs get whole, with the letter and the colour of\n"
"the job that has it. The key h shows the other signs and the keys. While slurmctld\n"
"does not answer, the last screen stays, with the time of that answer. Users who\n"
"may not see all jobs or nodes (PrivateData) see theirs as * and +.\n"
"\n"
"Signs:\n"
"  A  in use by the job of that letter\n"
"  a  reserved for it, its VM is not on yet\n"
"  =  in use by a managed VM that has no job\n"
"  *  in use by a managed VM; you may not see its job\n"
"  +  reserved for a node whose VM is not on yet\n"
"  #  in use by another VM\n"
"  !  in use by an unverified VM\n"
"  .  free, and VMs may be placed on it\n"
"  -  free, but no VMs are placed on it\n"
"  x  free, but its host is quarantined\n"
"  ?  can't be counted now\n"
"Keys:\n"
"  q                     quit, as ^C does\n"
"  arrows, PgUp, PgDn,\n"
"  Home, End             scroll hosts, or jobs after Tab\n"
"  /                     search: a job's number, a user, a part of a host's\n"
"                        name; n: the next one, Esc: no more\n"
"  s                     order of hosts: name, trouble, free, used\n"
"  p                     pause, and on again; blank: ask now\n"
"  h                     help\n",
};
