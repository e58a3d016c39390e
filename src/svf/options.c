/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line, as getopt_long(3) reads it: options may stand before or after
 * the verb, short ones may be grouped, long ones abbreviated, and -- ends them.
 * The options are those of the verb and those of every verb.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* getopt_long */
#endif
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verb_table.h"
#include "util/mem.h"

#define OPTIONS 40		/* of a verb, with those of every verb */
#define LONG 256		/* getopt's value of the first */
#define FLAG (LONG + OPTIONS)
#define ALSO (FLAG + 1)

#define FORMAT "-O FIELDS (--Format=FIELDS) chooses columns, as squeue -O does"
#define HEADER "--noheader is -h, as in sinfo and squeue"
#define JSON "--json has no short form"

/* Verbs and options that svf had, and what is used instead. */
static const struct { const char *name, *instead; } removed[] = {
	{ "import", SVF_PKGDATADIR "/vhpc-import/vhpc-import FILE makes a vsphere.conf from a cluster file of vHPC-toolkit (package slurm-vsphere; contribs/vhpc-import in the source)" },
	{ "parents", "it is svf clone-sources" },
	{ "-o", FORMAT },
	{ "-n", HEADER },
	{ "-j", JSON },
	{ "--format", FORMAT },
	{ "--watch", "-i SECONDS (--iterate=SECONDS) prints the answer again and again, as squeue -i does" },
};

/* The options of a verb in getopt's form. */
struct forms {
	const struct svf_opt *of[OPTIONS];
	struct option longs[OPTIONS + 3];	/* flag, also, the end */
	char shorts[3 * OPTIONS + 3];
	int n;
};

/* The line of a removed verb or option, with a value or without, if it is one. */
static bool removed_said(const char *word)
{
	for (size_t i = 0; i < VS_COUNT(removed); i++) {
		const char *name = removed[i].name;
		size_t len = strlen(name);

		if (strncmp(word, name, len) || (word[len] && word[len] != '='))
			continue;
		fprintf(stderr, "svf: %s was removed: %s\n", name,
			removed[i].instead);
		return true;
	}
	return false;
}

/* ---- getopt's form ------------------------------------------------------------- */

static int has_arg(const struct svf_opt *o)
{
	return !o->arg ? no_argument : o->arg[0] == '=' ? optional_argument :
		required_argument;
}

static void form_add(struct forms *f, const struct svf_opt *o)
{
	char *s = f->shorts + strlen(f->shorts);

	if (f->n == OPTIONS)
		abort();
	f->longs[f->n] = (struct option){ o->name + 2, has_arg(o), NULL,
					  LONG + f->n };
	f->of[f->n++] = o;
	if (!o->brief || strchr(f->shorts, o->brief[1]))
		return;
	*s++ = o->brief[1];
	for (int i = 0; i < has_arg(o); i++)
		*s++ = ':';
}

static void forms_make(struct forms *f, const struct svf_verb *v)
{
	int n;

	memset(f, 0, sizeof(*f));
	f->shorts[0] = '-';		/* words come in their order */
	for (const struct svf_opt *o = v ? v->own : NULL; o && o->name; o++)
		form_add(f, o);
	for (const struct svf_opt *o = svf_opts; o->name; o++)
		form_add(f, o);
	n = f->n;
	if (v && v->flag)
		f->longs[n++] = (struct option){ v->flag + 2, no_argument, NULL,
						 FLAG };
	if (v && v->also)
		f->longs[n] = (struct option){ v->also + 2, no_argument, NULL,
					       ALSO };
}

static const struct svf_opt *form_find(const struct forms *f, int c)
{
	if (c >= LONG && c < LONG + f->n)
		return f->of[c - LONG];
	for (int i = 0; i < f->n; i++)
		if (f->of[i]->brief && f->of[i]->brief[1] == c)
			return f->of[i];
	return NULL;
}

/* ---- the verb ------------------------------------------------------------------ */

static bool value_follows_in(const struct svf_opt *opts, const char *word)
{
	for (const struct svf_opt *o = opts; o && o->name; o++)
		if (has_arg(o) == required_argument &&
		    (!strcmp(word, o->name) ||
		     (o->brief && !strcmp(word, o->brief))))
			return true;
	return false;
}

/* Is the next word this option's value, for any verb? */
static bool value_follows(const char *word)
{
	if (value_follows_in(svf_opts, word))
		return true;
	for (const struct svf_verb *const *v = svf_verbs; *v; v++)
		if (value_follows_in((*v)->own, word))
			return true;
	return false;
}

/* The first word that is neither an option nor its value; NULL if none is. */
static const char *verb_word(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--"))
			return argv[i + 1];
		if (argv[i][0] != '-')
			return argv[i];
		i += value_follows(argv[i]);
	}
	return NULL;
}

/* ---- reading -------------------------------------------------------------------- */

static int iterate_take(struct svf_line *l, const char *value)
{
	char *end;
	long n = strtol(value, &end, 10);

	if (n < 1 || n > INT_MAX || *end)
		return svf_wrong(NULL, "--iterate takes a number of seconds, not '%s'",
				 value);
	l->iterate = (int)n;
	return 0;
}

static int option_take(struct svf_line *l, const struct svf_opt *o,
		       const char *value)
{
	if (has_arg(o) == required_argument && !*value)
		return svf_wrong(NULL, "option '%s' requires an argument",
				 o->name);
	switch (o->id) {
	case SVF_OPT_JSON:
		l->s.json = true;
		break;
	case SVF_OPT_NOHEADER:
		l->s.no_header = true;
		break;
	case SVF_OPT_LONG:
		l->s.all = true;
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
	case SVF_OPT_HELP:
		l->help = true;
		break;
	case SVF_OPT_USAGE:
		l->usage = true;
		break;
	case SVF_OPT_VERSION:
		l->version = true;
		break;
	case SVF_OPT_OWN:
		l->s.own[o - l->v->own] = value ? value : "";
		break;
	}
	return 0;
}

/* getopt has said what is wrong with the word. */
static int refuse(const struct svf_line *l, const char *word)
{
	char brief[] = { '-', (char)optopt, '\0' };

	removed_said(optopt && !strchr(word, '=') && word[1] != '-' ?
		     brief : word);
	if (l->v && l->v->instead)
		fprintf(stderr, "svf: %s: %s\n", l->v->name, l->v->instead);
	return svf_try();
}

/* A word that is no option: first the verb, then its arguments. */
static void word_take(struct svf_line *l, const char **verb, char *word)
{
	if (!*verb)
		*verb = word;
	else
		l->s.argv[l->s.argc++] = word;
}

static int words_read(struct svf_line *l, int argc, char **argv)
{
	const struct svf_opt *o;
	const char *verb = NULL;
	struct forms f;
	int c, rc;

	forms_make(&f, l->v);
	while ((c = getopt_long(argc, argv, f.shorts, f.longs, NULL)) != -1) {
		if (c == 1)
			word_take(l, &verb, optarg);
		else if (c == FLAG)
			l->s.flag = true;
		else if (c == ALSO)
			l->s.also = true;
		else if (!(o = form_find(&f, c)))
			return refuse(l, argv[optind - 1]);
		else if ((rc = option_take(l, o, optarg)))
			return rc;
	}
	for (; optind < argc; optind++)
		word_take(l, &verb, argv[optind]);
	return 0;
}

static int no_verb(const char *word)
{
	struct svf_near near = { .word = word };
	VS_FREE char *hint = NULL;

	for (const struct svf_verb *const *v = svf_verbs; *v; v++)
		svf_near_try(&near, (*v)->name);
	hint = svf_near_hint(&near);
	return svf_wrong(NULL, "there is no verb '%s'%s", word, hint);
}

/* svf help [VERB] */
static int help_read(struct svf_line *l)
{
	if (l->s.argc > 1)
		return svf_wrong(NULL, "help takes one verb, not '%s'",
				 l->s.argv[1]);
	if (l->s.argc && !(l->v = svf_verb_named(l->s.argv[0]))) {
		if (removed_said(l->s.argv[0]))
			return svf_try();
		return no_verb(l->s.argv[0]);
	}
	l->help = true;
	return 0;
}

int svf_line_read(struct svf_line *l, int argc, char **argv)
{
	const char *word = verb_word(argc, argv);
	int rc;

	l->v = word ? svf_verb_named(word) : NULL;
	rc = words_read(l, argc, argv);
	if (rc)
		return rc;
	if (word && !strcmp(word, "help"))
		return help_read(l);
	if (word && !l->v)
		return removed_said(word) ? svf_try() :
			no_verb(word);
	if (l->v)
		snprintf(l->command, sizeof(l->command), "svf %s%s%s",
			 l->v->name, l->v->words && l->s.argc ? " " : "",
			 l->v->words && l->s.argc ? l->s.argv[0] : "");
	l->s.command = l->command;
	if (l->v || l->help || l->usage || l->version)
		return 0;
	return svf_wrong(NULL, "a verb is expected, such as hosts, nodes or jobs");
}
