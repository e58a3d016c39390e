/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log of what the checks find: each finding when it comes and when it goes.
 * What many hosts have at once is one line, because a log of a thousand lines
 * hides the cause.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/checks/checks_i.h"
#include "util/mem.h"

struct line {
	char *key;
	const struct vs_found *f;
	bool met;
	UT_hash_handle hh;
};

static char *key_of(const struct vs_found *f)
{
	return vs_asprintf("%d %s %s %s", f->code, f->pf, f->object, f->is);
}

static struct line *lines_of(const struct vs_found_list *l)
{
	struct line *all = NULL, *s;

	for (size_t i = 0; i < l->n; i++) {
		VS_FREE char *key = key_of(&l->f[i]);

		HASH_FIND_STR(all, key, s);
		if (s)
			continue;
		s = vs_calloc(1, sizeof(*s));
		s->key = vs_strdup(key);
		s->f = &l->f[i];
		HASH_ADD_KEYPTR(hh, all, s->key, strlen(s->key), s);
	}
	return all;
}

static void lines_free(struct line *all)
{
	struct line *s, *next;

	HASH_ITER(hh, all, s, next) {
		HASH_DEL(all, s);
		free(s->key);
		free(s);
	}
}

static void say(const struct vs_found *f, int more, bool gone)
{
	const char *code = vs_check_kinds[f->code].code;
	VS_FREE char *who = vs_asprintf("%s%s%s", f->object,
					f->pf[0] ? " " : "", f->pf);
	char others[32] = "";

	if (more)
		snprintf(others, sizeof(others), " (and %d more)", more);
	if (gone)
		vs_info("check=%s resolved: %s%s", code, who, others);
	else if (f->severity == VS_HARD)
		vs_error("check=%s %s%s: %s; should be: %s (svf check)", code,
			 who, others, f->is, f->should);
	else
		vs_info("warning: check=%s %s%s: %s; should be: %s (svf check)",
			code, who, others, f->is, f->should);
}

/* Those of one code that were not met in the other list. */
static void say_new(struct line *all, bool gone)
{
	const struct vs_found *first[VS_CHECKS] = { NULL };
	int more[VS_CHECKS] = { 0 };

	for (struct line *s = all; s; s = s->hh.next) {
		if (s->met)
			continue;
		if (first[s->f->code])
			more[s->f->code]++;
		else
			first[s->f->code] = s->f;
	}
	for (int i = 0; i < VS_CHECKS; i++)
		if (first[i])
			say(first[i], more[i], gone);
}

void vs_checks_publish(const struct vs_found_list *old,
		       const struct vs_found_list *now)
{
	struct line *before = lines_of(old), *after = lines_of(now), *s, *t;

	for (s = after; s; s = s->hh.next) {
		HASH_FIND_STR(before, s->key, t);
		if (t)
			s->met = t->met = true;
	}
	say_new(before, true);
	say_new(after, false);
	lines_free(before);
	lines_free(after);
}
