/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf: what slurm-vsphere does, for people. This file reads the command line;
 * each verb has a file of its own. --help and --version work everywhere,
 * options may stand before or after the verb. It never talks to vCenter and
 * needs no password.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "verb_table.h"
#include "util/mem.h"
#include "vs_config.h"

#define FORMAT "-O FIELDS (--Format=FIELDS) chooses columns, as squeue -O does"

/* Verbs and options that svf had, and what is used instead. */
static const struct { const char *name, *instead; } removed[] = {
	{ "import", SVF_PKGDATADIR "/vhpc-import/vhpc-import FILE makes a vsphere.conf from a cluster file of vHPC-toolkit (package slurm-vsphere; contribs/vhpc-import in the source)" },
	{ "-o", FORMAT },
	{ "--format", FORMAT },
	{ "--watch", "-i SECONDS (--iterate=SECONDS) prints the answer again and again, as squeue -i does" },
};

struct line {			/* the command line while it is read */
	struct svf s;
	const struct svf_verb *v;
	const char *own[2], *colour;
	int owns;		/* more than two are too many */
	int iterate;		/* seconds, 0: once */
	bool no_more;		/* -- was there */
};

static bool is(const char *arg, const char *brief, const char *full)
{
	return (brief && !strcmp(arg, brief)) || !strcmp(arg, full);
}

static int wrong(const char *what, const char *arg)
{
	fprintf(stderr, "svf: %s '%s' (try svf --help)\n", what, arg);
	return SVF_USAGE;
}

/* Is it a removed verb or option, with a value or without? Then SVF_USAGE after
 * one line, else 0. */
static int refuse_removed(const char *word)
{
	for (size_t i = 0; i < VS_COUNT(removed); i++) {
		const char *name = removed[i].name;
		size_t len = strlen(name);

		if (strncmp(word, name, len) ||
		    (len > 2 && word[len] && word[len] != '='))
			continue;	/* -oVALUE is -o */
		fprintf(stderr, "svf: %s was removed: %s\n", name,
			removed[i].instead);
		return SVF_USAGE;
	}
	return 0;
}

/* Help and version, wherever they stand; -1 if neither is asked for. */
static int asked_for_help(int argc, char **argv)
{
	const struct svf_verb *v = NULL;

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (argv[i][0] != '-' && !v)
			v = svf_verb_named(argv[i]);
		if (is(argv[i], "-V", "--version")) {
			puts("svf " PACKAGE_VERSION);
			return SVF_OK;
		}
		if (!is(argv[i], "-h", "--help"))
			continue;
		for (int k = i + 1; k < argc && !v; k++)
			v = svf_verb_named(argv[k]);
		for (int k = 1; k < argc && !v; k++)
			if (refuse_removed(argv[k]))
				return SVF_USAGE;
		if (v)
			svf_verb_usage(stdout, v);
		else
			svf_usage(stdout);
		return SVF_OK;
	}
	return -1;
}

/* Which option of these is it, and its value: "--name=value", "-oVALUE" or the
 * next word, which *used counts. NULL: none of these. */
static const struct svf_opt *option_of(const struct svf_opt *opts, char **words,
				       const char **value, int *used)
{
	for (const struct svf_opt *o = opts; o && o->name; o++) {
		size_t len = strlen(o->name);
		bool optional = o->arg && o->arg[0] == '=';

		*used = 1;
		*value = NULL;
		if (o->arg && !strncmp(words[0], o->name, len) &&
		    words[0][len] == '=') {
			*value = words[0] + len + 1;
			return o;
		}
		if (o->arg && o->brief && words[0][1] != '-' &&
		    !strncmp(words[0], o->brief, 2) && words[0][2]) {
			*value = words[0] + 2;
			return o;
		}
		if (!is(words[0], o->brief, o->name))
			continue;
		if (o->arg && !optional) {
			*value = words[1];
			*used = words[1] ? 2 : 1;
		}
		return o;
	}
	return NULL;
}

static const struct svf_opt *option_at(const struct line *l, char **words,
				       const char **value, int *used)
{
	const struct svf_opt *o = option_of(l->v ? l->v->own : NULL, words,
					    value, used);

	return o ? o : option_of(svf_opts, words, value, used);
}

static int iterate_take(struct line *l, const char *value)
{
	char *end;
	long n = strtol(value, &end, 10);

	if (n < 1 || n > INT_MAX || *end)
		return wrong("--iterate takes a number of seconds, not", value);
	l->iterate = (int)n;
	return 0;
}

/* 0, or an exit code after its line. */
static int option_take(struct line *l, const struct svf_opt *o,
		       const char *value)
{
	if (o->arg && o->arg[0] != '=' && (!value || !*value))
		return wrong("something is expected after", o->name);
	switch (o->id) {
	case SVF_OPT_JSON:
		l->s.json = true;
		break;
	case SVF_OPT_NOHEADER:
		l->s.no_header = true;
		break;
	case SVF_OPT_FORMAT:
		l->s.format = value;
		break;
	case SVF_OPT_SORT:
		l->s.sort = value;
		break;
	case SVF_OPT_COLOR:
		l->colour = value ? value : "always";
		break;
	case SVF_OPT_ITERATE:
		return iterate_take(l, value);
	case SVF_OPT_OWN:
		l->s.own[o - l->v->own] = value;
		break;
	default:			/* were looked for before */
		break;
	}
	return 0;
}

/* One word, or an option with its value; 0, or an exit code. */
static int word_take(struct line *l, char **words, int *used)
{
	const struct svf_opt *o = NULL;
	const char *value;

	*used = 1;
	if (!l->no_more && !strcmp(words[0], "--")) {
		l->no_more = true;
		return 0;
	}
	if (!l->no_more && words[0][0] == '-')
		o = option_at(l, words, &value, used);
	if (o)
		return option_take(l, o, value);
	if (!l->no_more && words[0][0] == '-') {
		if (!(l->v && l->v->instead) && refuse_removed(words[0]))
			return SVF_USAGE;
		if (l->owns < 2)
			l->own[l->owns] = words[0];
		l->owns++;
	} else if (l->v)
		l->s.argv[l->s.argc++] = words[0];
	else if (!(l->v = svf_verb_named(words[0])))
		return refuse_removed(words[0]) ? SVF_USAGE :
			wrong("there is no verb", words[0]);
	return 0;
}

/* auto: a terminal with colours, unless NO_COLOR is set (no-color.org). */
static int colour_choose(struct line *l)
{
	const char *when = l->colour ? l->colour : "auto";
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (strcmp(when, "auto") && strcmp(when, "always") &&
	    strcmp(when, "never"))
		return wrong("--color is auto, always or never, not", when);
	l->s.colour = !strcmp(when, "always") ||
		(!strcmp(when, "auto") && isatty(STDOUT_FILENO) &&
		 !(no && *no) && term && *term && strcmp(term, "dumb"));
	return 0;
}

/* Checks that the columns exist, before slurmctld is asked. */
static int view_check(const struct line *l)
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
			return wrong(l->s.json ?
				     "--json is the whole answer: neither -O nor --sort goes with it, not" :
				     "this answer has no columns to choose from:",
				     texts[i]);
		picks = svf_view(list, texts[i], i == 1, &n, &err);
		if (picks)
			continue;
		fprintf(stderr, "svf: %s: %s\n", l->v->name,
			svf_clean(err.text));
		return SVF_USAGE;
	}
	return 0;
}

/* It is none of the verb's options. SVF_USAGE, after a line. */
static int refuse_option(const struct svf_verb *v, const char *word)
{
	const char *between = ":";

	if (!v->instead)
		return wrong("this verb has no option", word);
	fprintf(stderr, "svf: %s: %.*s is not one of the options it takes",
		v->name, (int)strcspn(word, "="), word);
	for (const struct svf_opt *o = v->own; o->name; o++) {
		fprintf(stderr, "%s %s", between, o->brief ? o->brief : o->name);
		between = ",";
	}
	fprintf(stderr, "; %s\n", v->instead);
	return SVF_USAGE;
}

/* The verb's own options, each once. */
static int own_take(struct line *l)
{
	for (int i = 0; i < l->owns && i < 2; i++) {
		const char *own = l->own[i];
		bool *is_set = l->v->flag && !strcmp(own, l->v->flag) ?
			&l->s.flag : l->v->also && !strcmp(own, l->v->also) ?
			&l->s.also : NULL;

		if (!is_set)
			return refuse_option(l->v, own);
		if (*is_set || l->owns > 2)
			return wrong("this verb has no option", "twice");
		*is_set = true;
	}
	return 0;
}

/* As squeue -i: until a signal ends it, or what is asked is wrong. While
 * slurmctld is away its line is printed each time. */
static int iterate(const struct line *l)
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
	struct line l = { .s.argv = rest };
	int rc;

	if (argc > 2 && !strcmp(argv[1], "--complete"))
		return svf_complete(argv + 2, argc - 2);
	rc = asked_for_help(argc, argv);
	if (rc >= 0)
		return rc;
	if (argc == 2 && !strcmp(argv[1], "--tables")) {
		svf_tables(stdout);	/* for the build */
		return SVF_OK;
	}
	for (int i = 1, used; i < argc; i += used)
		if ((rc = word_take(&l, argv + i, &used)) > 0)
			return rc;
	if (!l.v) {
		svf_usage(stderr);
		return SVF_USAGE;
	}
	rc = own_take(&l);
	if (!rc)
		rc = colour_choose(&l);
	if (!rc)
		rc = view_check(&l);
	if (!rc && l.iterate && (!l.v->reads || (l.s.flag && l.v->flag_orders)))
		rc = wrong("--iterate repeats what changes nothing, not",
			   l.v->name);
	return rc ? rc : l.iterate ? iterate(&l) : l.v->run(&l.s);
}
