/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --watch: a verb again and again. On a terminal it is drawn anew in the same
 * place, and at once when the window has another size; ^C leaves the terminal
 * as it was. Elsewhere each answer that differs from the one before is a block
 * of its own after a line with the time.
 *
 * While nobody answers the last answer stays, and it is said since when: a
 * restart of slurmctld ends nothing here. What is wrong with the question
 * itself ends it, if it is so from the beginning.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* ppoll */
#endif
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "svf.h"
#include "util/mem.h"

/* Its own screen, no cursor, long lines cut; and back. */
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

struct watch {
	const struct svf_verb *v;
	bool terminal;
	int seconds;
	char *out, *err;		/* of the last answer */
	char *said;			/* elsewhere: printed last */
	int rc;
	time_t away;			/* nobody answers since; 0: not so */
};

static void say(const char *sequence)
{
	ssize_t n = write(STDOUT_FILENO, sequence, strlen(sequence));

	(void)n;			/* who hears nothing can't be told */
}

/* Only what a handler may do. */
static void ended(int sig)
{
	say(LEAVE);
	_exit(sig == SIGINT ? SVF_OK : 128 + sig);
}

static void ended_quietly(int sig)
{
	(void)sig;
	_exit(SVF_OK);
}

static void stopped(int sig)
{
	(void)sig;
	say(LEAVE);
	raise(SIGSTOP);
	say(ENTER);
}

static void resized(int sig)
{
	(void)sig;			/* ends a wait */
}

/* SIGWINCH comes while it is waited alone. */
static void signals(bool terminal, sigset_t *waiting)
{
	struct sigaction end = { .sa_handler = ended };
	struct sigaction stop = { .sa_handler = stopped };
	struct sigaction size = { .sa_handler = resized };
	sigset_t block;

	sigemptyset(&block);
	sigaddset(&block, SIGWINCH);
	sigaddset(&block, SIGCONT);
	sigprocmask(SIG_BLOCK, &block, waiting);
	sigdelset(waiting, SIGWINCH);
	if (!terminal) {
		end.sa_handler = ended_quietly;
		sigaction(SIGINT, &end, NULL);
		return;
	}
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGHUP, &end, NULL);
	sigaction(SIGQUIT, &end, NULL);
	sigaction(SIGTSTP, &stop, NULL);
	sigaction(SIGWINCH, &size, NULL);
	sigaction(SIGCONT, &size, NULL);
}

/* The verb once; what it has printed into *out and *err. */
static int run(const struct watch *w, const struct svf *s, char **out,
	       char **err)
{
	FILE *was_out = stdout, *was_err = stderr;
	size_t nout, nerr;
	FILE *o = open_memstream(out, &nout), *e = open_memstream(err, &nerr);
	int rc;

	if (!o || !e)
		abort();
	stdout = o;
	stderr = e;
	rc = w->v->run(s);
	stdout = was_out;
	stderr = was_err;
	fclose(o);
	fclose(e);
	return rc;
}

/* "14:05:10", or with its day for a file. */
static const char *clock_text(time_t at, bool day, char text[32])
{
	return svf_clock((int64_t)at, day ? SVF_DAY : "%H:%M:%S", text);
}

/* Nobody answers: what was there stays. */
static void take(struct watch *w, int rc, char *out, char *err)
{
	bool away = rc == SVF_AWAY || rc == SVF_MUNGE;

	if (away && !w->away)
		w->away = time(NULL);
	if (!away)
		w->away = 0;
	w->rc = rc;
	free(w->err);
	w->err = err;
	if (away && w->out) {
		free(out);
		return;
	}
	free(w->out);
	w->out = out;
}

/* Lines until the screen is full; how many are left. */
static int draw_lines(const char *text, int left)
{
	while (*text && left > 0) {
		size_t len = strcspn(text, "\n");

		printf("%.*s\033[K\n", (int)len, text);
		text += len + !!text[len];
		left--;
	}
	return left;
}

static void draw(const struct watch *w)
{
	struct winsize ws = { 0 };
	char now[32], since[32];
	int left;

	left = ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || !ws.ws_row ? 24 :
		ws.ws_row;
	printf("\033[Hsvf %s, every %d s: %s", w->v->name, w->seconds,
	       clock_text(time(NULL), false, now));
	if (w->away)
		printf("  nobody answers since %s",
		       clock_text(w->away, false, since));
	printf("\033[K\n\033[K\n");
	left = draw_lines(w->out, left - 3);
	if (w->err[0] && left > 1) {
		printf("\033[K\n");
		left = draw_lines(w->err, left - 1);
	}
	printf("\033[J");
	fflush(stdout);
}

/* Into a pipe or a file: what is another answer than the last. */
static void print_change(struct watch *w)
{
	VS_FREE char *text = w->away ? vs_strdup(w->err) :
		vs_asprintf("%s%s", w->out, w->err);
	char now[32];

	if (w->said && !strcmp(w->said, text))
		return;
	if (w->away && w->said && !strncmp(w->said, "svf: ", 5))
		return;			/* that was said */
	printf("%s# %s%s\n%s", w->said ? "\n" : "",
	       clock_text(time(NULL), true, now),
	       w->away ? " nobody answers" : "", text);
	fflush(stdout);
	free(w->said);
	w->said = vs_strdup(text);
}

/* Of the question: svf check says no, too, where it has found something. */
static bool complains(const char *err)
{
	return !strncmp(err, "svf: ", 5) || strstr(err, "\nsvf: ");
}

int svf_watch(const struct svf_verb *v, const struct svf *s, int seconds)
{
	struct watch w = { .v = v, .seconds = seconds,
			   .terminal = isatty(STDOUT_FILENO) };
	struct timespec wait = { .tv_sec = seconds };
	sigset_t waiting;

	signals(w.terminal, &waiting);
	for (bool first = true;; first = false) {
		char *out = NULL, *err = NULL;
		int rc = run(&w, s, &out, &err);

		if (first && (rc == SVF_USAGE || rc == SVF_CONF ||
			      (rc == SVF_NO && complains(err)))) {
			printf("%s", out);
			fprintf(stderr, "%s", err);
			free(out);
			free(err);
			return rc;
		}
		if (first && w.terminal)
			say(ENTER);
		take(&w, rc, out, err);
		if (w.terminal)
			draw(&w);
		else
			print_change(&w);
		ppoll(NULL, 0, &wait, &waiting);
	}
}
