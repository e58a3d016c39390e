/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf --complete N WORD...: what the Nth word may become, a line each, for the
 * shells' completion (completion.bash, completion.zsh), from the same tables as
 * --help. ":files" and ":nospace" are for the shell.
 *
 * Rules: it says nothing but candidates, asks slurmctld for names only where
 * one is to be completed, and is over within ASK_S whatever happens.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verb_table.h"
#include "util/mem.h"

#define ASK_S 2

struct state {
	const struct svf_verb *v;
	bool flag;			/* its own option stands before */
	bool help;			/* "help" does: a verb follows */
	int args;			/* words after the verb, no options */
	const char *word;		/* args is 1 or more: the first */
	const char *cur;		/* to be completed */
	size_t head;			/* so much of it is the shell's own word */
};

/* One that the shell takes as it is. */
static void offer(const char *cur, size_t head, const char *name)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-=,+";

	if (!strncmp(name, cur, strlen(cur)) && name[0] &&
	    name[strspn(name, good)] == '\0')
		puts(name + head);
}


/* The last of "host,fr"; `value` of cur is what follows `--Format=`. */
static void offer_fields(const struct state *st, const char *value, bool sort)
{
	const struct svf_list *l = !st->v ? NULL : st->flag && st->v->flagged ?
		st->v->flagged : st->v->list;
	const char *last = strrchr(value, ',');
	int before;

	last = last ? last + 1 : value;
	last += sort && *last == '-';
	before = (int)(last - st->cur);
	for (size_t i = 0; l && i < l->ncols; i++) {
		VS_FREE char *name = vs_asprintf("%.*s%s", before, st->cur,
						 l->cols[i].name);

		offer(st->cur, st->head, name);
	}
	puts(":nospace");
}

static void offer_colours(const struct state *st, const char *value)
{
	static const char *const when[] = { "auto", "always", "never" };
	int before = (int)(value - st->cur);

	for (size_t i = 0; i < VS_COUNT(when); i++) {
		VS_FREE char *name = vs_asprintf("%.*s%s", before, st->cur,
						 when[i]);

		offer(st->cur, st->head, name);
	}
}

static void too_long(int sig)
{
	(void)sig;
	_exit(0);
}

/* Offers the names that exist; none if slurmctld doesn't answer in time. */
static void offer_names(const struct state *st, const char *verb,
			const char *key)
{
	struct vs_jdoc doc;
	struct vs_j list;

	fflush(stdout);
	signal(SIGALRM, too_long);
	alarm(ASK_S);
	if (!freopen("/dev/null", "w", stderr) || svf_ask(verb, 0, "", &doc))
		return;
	list = vs_j_opt(vs_j_root(&doc), verb);
	for (size_t i = 0; i < vs_j_len(list); i++)
		offer(st->cur, st->head, vs_j_str_or(
			vs_j_opt(vs_j_at(list, i), key), ""));
	vs_jdoc_free(&doc);
}

static void offer_value(const struct state *st, const struct svf_opt *o,
			const char *value)
{
	if (o->id == SVF_OPT_FORMAT || o->id == SVF_OPT_SORT)
		offer_fields(st, value, o->id == SVF_OPT_SORT);
	else if (o->id == SVF_OPT_COLOR)
		offer_colours(st, value);
	else if (o->id == SVF_OPT_OWN && !strcmp(o->arg, "FILE"))
		puts(":files");
	else if (o->id == SVF_OPT_OWN && !strcmp(o->arg, "HOST"))
		offer_names(st, "hosts", "host");
}

/* One that takes a value ends in =, which the shell does not follow by a blank. */
static void offer_option(const struct state *st, const struct svf_opt *o)
{
	bool value = o->arg && o->arg[0] != '=';
	VS_FREE char *name = vs_asprintf("%s%s", o->name, value ? "=" : "");

	offer(st->cur, st->head, name);
	if (value && !strncmp(name, st->cur, strlen(st->cur)))
		puts(":nospace");
}

static void offer_options(const struct state *st)
{
	if (st->v && st->v->flag)
		offer(st->cur, st->head, st->v->flag);
	if (st->v && st->v->also)
		offer(st->cur, st->head, st->v->also);
	for (const struct svf_opt *o = st->v ? st->v->own : NULL; o && o->name;
	     o++)
		offer_option(st, o);
	for (const struct svf_opt *o = svf_opts; o->name; o++)
		if (o->id != SVF_OPT_ITERATE || !st->v || st->v->reads)
			offer_option(st, o);
}

static void offer_arguments(const struct state *st)
{
	const struct svf_word *w = st->v->words;

	if (w && !st->args) {
		for (; w->name; w++)
			offer(st->cur, st->head, w->name);
		return;
	}
	/* One name and then a reason, unless the order takes several. */
	for (; w && w->name; w++)
		if (!strcmp(w->name, st->word) && st->args > 1 &&
		    !strstr(w->args, "NODES..."))
			return;
	if (st->v->names == SVF_NAMES_HOST)
		offer_names(st, "hosts", "host");
	else if (st->v->names == SVF_NAMES_NODE)
		offer_names(st, "nodes", "node");
	else if (st->v->names == SVF_NAMES_FILE)
		puts(":files");
}

static const struct svf_opt *named_in(const struct svf_opt *opts,
				      const char *word, size_t len)
{
	for (const struct svf_opt *o = opts; o && o->name; o++)
		if ((strlen(o->name) == len && !strncmp(word, o->name, len)) ||
		    (o->brief && len == 2 && !strncmp(word, o->brief, len)))
			return o;
	return NULL;
}

static const struct svf_opt *option_named(const struct state *st,
					  const char *word, size_t len)
{
	const struct svf_opt *o = named_in(st->v ? st->v->own : NULL, word, len);

	return o ? o : named_in(svf_opts, word, len);
}

/* One of the words before. */
static void pass(struct state *st, const char *word)
{
	if (st->v && st->v->flag && !strcmp(word, st->v->flag)) {
		st->flag = true;
	} else if (word[0] == '-') {
		return;
	} else if (!st->v && !st->help && !strcmp(word, "help")) {
		st->help = true;
	} else if (!st->v && !st->help) {
		st->v = svf_verb_named(word);
	} else if (st->args++ == 0) {
		st->word = word;
	}
}

static void offer_verbs(const struct state *st)
{
	for (const struct svf_verb *const *v = svf_verbs; *v; v++)
		offer(st->cur, st->head, (*v)->name);
	if (!st->help)
		offer(st->cur, st->head, "help");
}

static void complete(struct state *st, char **words, int n)
{
	const struct svf_opt *o = NULL;
	const char *equals;

	for (int i = 1; i < n; i++) {
		bool value = o && o->arg && o->arg[0] != '=';

		o = value ? NULL : option_named(st, words[i],
						strlen(words[i]));
		if (!value)
			pass(st, words[i]);
	}
	equals = strchr(st->cur, '=');
	if (o && o->arg && o->arg[0] != '=')
		offer_value(st, o, st->cur);
	else if (st->cur[0] == '-' && equals &&
		 (o = option_named(st, st->cur,
				  (size_t)(equals - st->cur))))
		offer_value(st, o, equals + 1);
	else if (st->cur[0] == '-')
		offer_options(st);
	else if (st->v)
		offer_arguments(st);
	else
		offer_verbs(st);
}

/*
 * bash takes `--Format=host` for three words: put together again, and then only
 * what follows = is its word.
 */
int svf_complete(char **argv, int argc)
{
	VS_FREE char **words = vs_calloc((size_t)argc + 1, sizeof(*words));
	long at = argc > 0 ? strtol(argv[0], NULL, 10) : -1;
	VS_FREE char *joined = NULL;
	struct state st = { 0 };
	int n = 0;

	if (at < 1 || at > argc - 1)
		return SVF_USAGE;
	argv++;			/* argv[at] may be NULL: nothing typed yet */
	for (int i = 0; i < at; i++)
		words[n++] = argv[i];
	st.cur = argv[at] ? argv[at] : "";
	if (n > 1 && !strcmp(words[n - 1], "=") && at > 2) {
		joined = vs_asprintf("%s=%s", words[n - 2], st.cur);
		n -= 2;
	} else if (n > 1 && !strcmp(st.cur, "=")) {
		joined = vs_asprintf("%s=", words[--n]);
	}
	if (joined) {
		st.cur = joined;
		st.head = (size_t)(strchr(joined, '=') + 1 - joined);
	}
	complete(&st, words, n);
	return SVF_OK;
}
