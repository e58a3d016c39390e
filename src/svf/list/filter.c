/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The filters of lists: -u, --me, -p, -t and -w, as squeue and sinfo have them. A
 * filter restricts the table and the JSON answer alike.
 */
#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "list.h"
#include "util/buf.h"
#include "util/hostlist.h"
#include "util/mem.h"

#define TEXT_MAX 4096

/* ---- words ---------------------------------------------------------------------- */

/* The words of "a,b", each to be free()d as the array is. */
static char **split(const char *text, size_t *n)
{
	VS_FREE char *copy = vs_strdup(text);
	char **out = vs_calloc(strlen(text) / 2 + 2, sizeof(*out));
	char *save = NULL;

	for (char *w = strtok_r(copy, ",", &save); w;
	     w = strtok_r(NULL, ",", &save))
		out[(*n)++] = vs_strdup(w);
	return out;
}

static void free_all(char **words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(words[i]);
	free(words);
}

/* "on-trial" and "ON_TRIAL" are one state. */
static bool same_state(const char *a, const char *b, size_t blen)
{
	size_t i = 0;

	for (; a[i] && i < blen; i++) {
		int x = a[i] == '-' ? '_' : toupper((unsigned char)a[i]);
		int y = b[i] == '-' ? '_' : toupper((unsigned char)b[i]);

		if (x != y)
			return false;
	}
	return !a[i] && i == blen;
}

/* ---- reading -------------------------------------------------------------------- */

static int user_add(struct svf_filter *f, const char *name)
{
	const struct passwd *pw = getpwnam(name);
	char *end = "";
	unsigned long uid = pw ? pw->pw_uid : strtoul(name, &end, 10);

	if (!pw && (!isdigit((unsigned char)*name) || *end ||
		    uid >= UINT32_MAX)) {
		fprintf(stderr, "svf: no such user: %s\n", name);
		return SVF_NO;
	}
	f->users[f->nusers++] = (uint32_t)uid;
	return 0;
}

static int users_read(struct svf_filter *f, const struct svf_filter_words *w)
{
	size_t n = 0;
	char **names = split(w->users ? w->users : "", &n);
	int rc = 0;

	f->users = vs_calloc(n + 1, sizeof(*f->users));
	for (size_t i = 0; i < n && !rc; i++)
		rc = user_add(f, names[i]);
	if (w->me)
		f->users[f->nusers++] = (uint32_t)getuid();
	free_all(names, n);
	return rc;
}

static int unknown_state(const char *verb, const char *word,
			 const struct svf_state *known)
{
	struct vs_buf b = VS_BUF_INIT(TEXT_MAX);

	for (const struct svf_state *k = known; k->name; k++)
		if (k == known || strcmp(k->name, k[-1].name) != 0)
			vs_buf_printf(&b, "%s%s", k == known ? "" : ", ",
				      k->name);
	svf_wrong(verb, "there is no state '%s'; there are: %s", word, b.data);
	vs_buf_free(&b);
	return SVF_USAGE;
}

/* Each as its full name. */
static int states_read(const char *verb, struct svf_filter *f,
		       const struct svf_filter_words *w)
{
	f->states = split(w->states ? w->states : "", &f->nstates);
	for (size_t i = 0; i < f->nstates; i++) {
		const char *word = f->states[i];
		const struct svf_state *k = w->known;
		size_t len = strlen(word);

		while (k->name && !same_state(k->name, word, len) &&
		       !(k->brief && same_state(k->brief, word, len)))
			k++;
		if (!k->name)
			return unknown_state(verb, word, w->known);
		vs_str_replace(&f->states[i], k->name);
	}
	return 0;
}

static int nodes_read(const char *verb, struct svf_filter *f, const char *list)
{
	f->nodes = list ? vs_hostlist_expand(list) : NULL;
	while (f->nodes && f->nodes[f->nnodes])
		f->nnodes++;
	if (f->nodes || !list)
		return 0;
	return svf_wrong(verb, "--nodelist takes a host list, not '%s'", list);
}

int svf_filter_read(const char *verb, const struct svf_filter_words *w,
		    struct svf_filter *f)
{
	int rc;

	memset(f, 0, sizeof(*f));
	f->partitions = split(w->partitions ? w->partitions : "",
			      &f->npartitions);
	rc = users_read(f, w);
	if (!rc)
		rc = states_read(verb, f, w);
	return rc ? rc : nodes_read(verb, f, w->nodes);
}

void svf_filter_free(struct svf_filter *f)
{
	free(f->users);
	free_all(f->partitions, f->npartitions);
	free_all(f->states, f->nstates);
	vs_hostlist_free(f->nodes);
	memset(f, 0, sizeof(*f));
}

/* ---- what passes ----------------------------------------------------------------- */

bool svf_filter_user(const struct svf_filter *f, int64_t uid)
{
	for (size_t i = 0; i < f->nusers; i++)
		if (f->users[i] == uid)
			return true;
	return !f->nusers;
}

/* One of "a,b" is enough. */
bool svf_filter_partition(const struct svf_filter *f, const char *list)
{
	for (const char *p = list; *p; p += !!*p) {
		size_t len = strcspn(p, ",");

		for (size_t i = 0; i < f->npartitions; i++)
			if (strlen(f->partitions[i]) == len &&
			    !strncmp(f->partitions[i], p, len))
				return true;
		p += len;
	}
	return !f->npartitions;
}

static bool is_state(const char *name, const char *word, size_t len)
{
	return same_state(name, word, len) ||
	       (!strcmp(name, "DRAIN") && (same_state("DRAINED", word, len) ||
					   same_state("DRAINING", word, len)));
}

/* One part of "IDLE+DRAINED" is enough. */
bool svf_filter_state(const struct svf_filter *f, const char *state)
{
	for (const char *p = state; *p; p += !!*p) {
		size_t len = strcspn(p, "+*~#!%$@^");

		for (size_t i = 0; i < f->nstates; i++)
			if (is_state(f->states[i], p, len))
				return true;
		p += len;
	}
	return !f->nstates;
}

int svf_filter_partitions_check(const struct svf_filter *f, struct vs_j list)
{
	int rc = SVF_OK;

	for (size_t i = 0; i < f->npartitions && vs_j_len(list); i++) {
		bool known = false;

		for (size_t k = 0; k < vs_j_len(list) && !known; k++)
			known = !strcmp(f->partitions[i], vs_j_str_or(vs_j_opt(
				vs_j_at(list, k), "partition"), ""));
		if (!known)
			rc = svf_no_such("partition", f->partitions[i]);
	}
	return rc;
}

bool svf_filter_nodes(const struct svf_filter *f, struct vs_j names)
{
	for (size_t k = 0; k < vs_j_len(names) && f->nnodes; k++) {
		const char *name = vs_j_str(vs_j_at(names, k));

		for (size_t i = 0; i < f->nnodes; i++)
			if (!strcmp(f->nodes[i], name))
				return true;
	}
	return !f->nnodes;
}

void svf_filter_apply(const struct svf *s, const struct svf_filter *f,
		      struct vs_jdoc *doc, const char *list, svf_keep_fn *keep)
{
	struct vs_j top = vs_j_root(doc), all = vs_j_opt(top, list);
	struct json_object *kept;

	if (!vs_j_is_obj(top) || vs_j_null(all))
		return;
	kept = vs_jb_arr();
	for (size_t i = 0; i < vs_j_len(all); i++)
		if (keep(s, f, vs_j_at(all, i)))
			vs_jb_add(kept, vs_jb_copy(vs_j_at(all, i)));
	if (doc->err.code)
		vs_jb_free(kept);	/* the caller says what can't be read */
	else
		vs_jb_put(doc->root, list, kept);
}

char **svf_filter_names(const struct svf *s, const struct svf_filter *f,
			struct svf *copy)
{
	size_t n = (size_t)s->argc;
	char **names = vs_calloc(n + f->nnodes + 1, sizeof(*names));

	for (size_t i = 0; i < n; i++)
		names[i] = s->argv[i];
	for (size_t i = 0; i < f->nnodes; i++)
		names[n + i] = f->nodes[i];
	*copy = *s;
	copy->argv = names;
	copy->argc = (int)(n + f->nnodes);
	return names;
}
