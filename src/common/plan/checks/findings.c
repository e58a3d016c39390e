/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings in a list, and what is usual: which value of a kind most hosts
 * have, so that a host that differs is found. While a driver is rolled out over
 * many hosts, the smaller group is reported, from the first host to the last
 * but one. The findings end by themselves with the roll-out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plan/checks/checks_i.h"
#include "util/mem.h"

/* ---- findings ----------------------------------------------------------- */

struct vs_found *vs_found_add(struct vs_found_list *l, enum vs_check code,
			      const char *object, char *is_take,
			      char *should_take, char *fix_take)
{
	struct vs_found *f;

	VS_GROW(l->f, l->cap, l->n + 1);
	f = &l->f[l->n++];
	*f = (struct vs_found) {
		.code = code, .severity = vs_check_kinds[code].severity,
		.object = vs_strdup(object), .is = is_take,
		.should = should_take, .fix = fix_take,
	};
	return f;
}

void vs_found_clear(struct vs_found_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->f[i].object);
		free(l->f[i].is);
		free(l->f[i].should);
		free(l->f[i].fix);
	}
	free(l->f);
	*l = (struct vs_found_list) { .f = NULL };
}

static int by_weight(const void *a, const void *b)
{
	const struct vs_found *x = a, *y = b;
	int object;

	if (x->severity != y->severity)
		return x->severity < y->severity ? -1 : 1;
	if (x->code != y->code)
		return x->code < y->code ? -1 : 1;
	object = strcmp(x->object, y->object);
	return object ? object : strcmp(x->pf, y->pf);
}

void vs_found_sort(struct vs_found_list *l)
{
	if (l->n)
		qsort(l->f, l->n, sizeof(*l->f), by_weight);
}

/* ---- what is usual ------------------------------------------------------ */

struct value { char *text; int n; };
struct usual {
	char *key;			/* kind and key */
	struct value *v;
	size_t n, cap;
	UT_hash_handle hh;
};

struct vs_usual *vs_usual_new(void)
{
	return vs_calloc(1, sizeof(struct vs_usual));
}

void vs_usual_free(struct vs_usual *u)
{
	struct usual *s, *next;

	if (!u)
		return;
	HASH_ITER(hh, u->all, s, next) {
		HASH_DEL(u->all, s);
		for (size_t i = 0; i < s->n; i++)
			free(s->v[i].text);
		free(s->v);
		free(s->key);
		free(s);
	}
	free(u->fits);
	free(u);
}

/* name: the kind and the key. */
static struct usual *usual_get(const struct vs_usual *u, const char *kind,
			       const char *key, char name[256])
{
	struct usual *s;

	snprintf(name, 256, "%s %s", kind, key);
	HASH_FIND_STR(u->all, name, s);
	return s;
}

void vs_usual_add(struct vs_usual *u, const char *kind, const char *key,
		  const char *value)
{
	char name[256];
	struct usual *s = usual_get(u, kind, key, name);
	size_t i;

	if (!value[0])
		return;
	if (!s) {
		s = vs_calloc(1, sizeof(*s));
		s->key = vs_strdup(name);
		HASH_ADD_KEYPTR(hh, u->all, s->key, strlen(s->key), s);
	}
	for (i = 0; i < s->n && strcmp(s->v[i].text, value); i++)
		;
	if (i == s->n) {
		VS_GROW(s->v, s->cap, s->n + 1);
		s->v[s->n++] = (struct value) { vs_strdup(value), 0 };
	}
	s->v[i].n++;
}

const char *vs_usual_value(const struct vs_usual *u, const char *kind,
			   const char *key, int *n, int *others)
{
	const struct value *most = NULL;
	char name[256];
	const struct usual *s = usual_get(u, kind, key, name);
	int all = 0;

	for (size_t i = 0; s && i < s->n; i++) {
		const struct value *v = &s->v[i];

		all += v->n;
		if (!most || v->n > most->n ||
		    (v->n == most->n && strcmp(v->text, most->text) > 0))
			most = v;
	}
	*n = most ? most->n : 0;
	*others = all - *n;
	return most ? most->text : NULL;
}

int vs_usual_has(const struct vs_usual *u, const char *kind, const char *key,
		 const char *value)
{
	char name[256];
	const struct usual *s = usual_get(u, kind, key, name);

	for (size_t i = 0; s && i < s->n; i++)
		if (!strcmp(s->v[i].text, value))
			return s->v[i].n;
	return 0;
}
