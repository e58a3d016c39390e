/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every verb does with an answer: ask for it, print it or pass it on as
 * JSON, say what is wrong with it. Any process may answer at an address:
 * nothing in the answer is trusted to have the right form.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "util/mem.h"

int svf_show(const struct svf *s, const char *verb, uint32_t job,
	     const char *name, svf_print_fn *print)
{
	struct vs_jdoc doc;
	int rc = svf_ask(verb, job, name, &doc);

	if (rc)
		return rc;
	if (s->json)
		return svf_print_json(&doc);
	print(s, &doc);
	svf_print_notes(&doc);
	rc = svf_read_failed(&doc);
	vs_jdoc_free(&doc);
	return rc;
}

int svf_read_failed(const struct vs_jdoc *doc)
{
	struct vs_err err;

	if (!vs_json_failed(doc, &err))
		return SVF_OK;
	fprintf(stderr, "svf: slurmctld's answer: %s (is svf of the same release?)\n",
		svf_clean(err.text));
	return SVF_AWAY;
}

/* JSON lets through what svf_clean() replaces: it is escaped, not lost. */
int svf_print_json(struct vs_jdoc *doc)
{
	VS_FREE char *text = vs_jb_pretty_free(doc->root);

	doc->root = NULL;
	for (const unsigned char *p = (unsigned char *)text; *p; p++) {
		bool c1 = p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f;

		if (c1)
			p++;
		if (c1 || *p == 0x7f)
			printf("\\u%04x", *p);
		else
			putchar(*p);
	}
	putchar('\n');
	return SVF_OK;
}

int svf_print_named(const struct svf *s, struct vs_jdoc *doc, const char *list,
		    const char *key)
{
	int unknown = svf_names_check(s, vs_j_opt(vs_j_root(doc), list), key);
	int rc = svf_print_json(doc);

	return rc ? rc : unknown;
}

int svf_show_list(const struct svf *s, const char *verb, const char *key,
		  const struct svf_list *l, svf_add_fn *add)
{
	struct svf_table *t;
	struct vs_jdoc doc;
	struct vs_j all;
	int rc = svf_ask(verb, 0, "", &doc);

	if (rc)
		return rc;
	if (s->json)
		return svf_print_named(s, &doc, verb, key);
	t = svf_table_build(l, s);
	all = vs_j_get(vs_j_root(&doc), verb);
	for (size_t i = 0; i < vs_j_len(all); i++) {
		struct vs_j j = vs_j_at(all, i);

		if (!svf_column_shown(s, vs_j_str(vs_j_get(j, key))))
			continue;
		if (add)
			add(t, j);
		else
			svf_row_add(t, &(struct svf_row){ .j = j });
	}
	rc = svf_read_failed(&doc);
	if (!rc) {
		svf_table_print(t, s->no_header);
		svf_print_notes(&doc);
		rc = svf_names_check(s, all, key);
	}
	svf_table_free(t);
	vs_jdoc_free(&doc);
	return rc;
}

void svf_print_notes(struct vs_jdoc *doc)
{
	struct vs_j notes = vs_j_opt(vs_j_root(doc), "notes");

	for (size_t i = 0; i < vs_j_len(notes); i++) {
		VS_FREE char *s = vs_strdup(vs_j_str(vs_j_at(notes, i)));

		fprintf(stderr, "note: %s\n", svf_clean(s));
	}
}
