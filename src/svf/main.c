/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf: what slurm-vsphere does, for people. options.c reads the command line; each
 * verb has a file of its own. svf never talks to vCenter and needs no password.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "verb_table.h"
#include "util/mem.h"
#include "vs_config.h"

static char name[] = "svf";

/* auto: a terminal with colours, unless NO_COLOR is set (no-color.org). */
static int colour_choose(struct svf_line *l)
{
	const char *when = l->colour ? l->colour : "auto";
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (strcmp(when, "auto") && strcmp(when, "always") &&
	    strcmp(when, "never"))
		return svf_wrong(NULL, "--color is auto, always or never, not '%s'",
				 when);
	l->s.colour = !strcmp(when, "always") ||
		(!strcmp(when, "auto") && isatty(STDOUT_FILENO) &&
		 !(no && *no) && term && *term && strcmp(term, "dumb"));
	return 0;
}

/* Checks that the columns exist, before slurmctld is asked. */
static int view_check(const struct svf_line *l)
{
	const struct svf_list *list = l->s.flag && l->v->flagged ?
		l->v->flagged : l->v->list;
	const char *texts[] = { l->s.format, l->s.sort };

	for (int i = 0; i < 2; i++) {
		struct vs_err err = { 0 };
		VS_FREE struct svf_pick *picks = NULL;
		size_t n;

		if (!texts[i])
			continue;
		if (!list || l->s.json)
			return svf_wrong(l->v->name, "%s '%s'", l->s.json ?
					 "--json is the whole answer: neither -O nor --sort goes with it, not" :
					 "this answer has no columns to choose from:",
					 texts[i]);
		picks = svf_view(list, texts[i], i == 1, &n, &err);
		if (picks)
			continue;
		return svf_wrong(l->v->name, "%s", err.text);
	}
	return 0;
}

/* As squeue -i: until a signal ends it, or what is asked is wrong. While
 * slurmctld is away its line is printed each time. */
static int iterate(const struct svf_line *l)
{
	for (;;) {
		char now[32];
		int rc;

		if (!l->s.no_header && !l->s.json)
			puts(svf_clock((int64_t)time(NULL), "%a %b %d %T %Y",
				       now));
		fflush(stdout);
		rc = l->v->run(&l->s);
		if (rc == SVF_USAGE || rc == SVF_CONF)
			return rc;
		putchar('\n');
		fflush(stdout);
		sleep((unsigned int)l->iterate);
	}
}

int main(int argc, char **argv)
{
	VS_FREE char **rest = vs_calloc((size_t)argc + 1, sizeof(*rest));
	VS_FREE char **words = vs_calloc((size_t)argc + 1, sizeof(*words));
	struct svf_line l = { .s.argv = rest };
	int rc;

	if (argc > 2 && !strcmp(argv[1], "--complete"))
		return svf_complete(argv + 2, argc - 2);
	if (argc == 2 && !strcmp(argv[1], "--tables")) {
		svf_tables(stdout);	/* for the build */
		return SVF_OK;
	}
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	words[0] = name;		/* getopt begins its errors with it */
	rc = svf_line_read(&l, argc, words);
	if (!rc && l.version)
		return puts("svf " PACKAGE_VERSION), SVF_OK;
	if (!rc && l.usage)
		return svf_synopsis(stdout, l.v), SVF_OK;
	if (!rc && l.help)
		return l.v ? svf_verb_usage(stdout, l.v) : svf_usage(stdout),
			SVF_OK;
	if (!rc)
		rc = colour_choose(&l);
	if (!rc)
		rc = view_check(&l);
	if (!rc && l.iterate && (!l.v->reads || (l.s.flag && l.v->flag_orders)))
		rc = svf_wrong(NULL, "--iterate repeats what changes nothing, not '%s'",
			       l.v->name);
	return rc ? rc : l.iterate ? iterate(&l) : l.v->run(&l.s);
}
