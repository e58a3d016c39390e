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
#include "vs_config.h"

int svf_show(const struct svf *s, const char *verb, uint32_t job,
	     const char *name, svf_print_fn *print)
{
	struct vs_jdoc doc;
	int rc = svf_ask(verb, job, name, &doc);

	if (rc)
		return rc;
	if (s->json)
		return svf_print_json(s, &doc);
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

#define SCHEMA 1		/* of the files in schema; +1 if a field changes */

/* What Slurm's commands have in their --json too: the program and the command. */
static struct json_object *meta(const struct svf *s)
{
	struct json_object *o = vs_jb_obj(NULL), *plugin = vs_jb_obj(NULL);

	vs_jb_str(plugin, "type", "svf");
	vs_jb_str(plugin, "name", "slurm-vsphere");
	vs_jb_put(o, "plugin", plugin);
	vs_jb_str(o, "command", s->command ? s->command : "svf");
	vs_jb_str(o, "version", PACKAGE_VERSION);
	vs_jb_int(o, "schema", SCHEMA);
	return o;
}

/* JSON lets through what svf_clean() replaces: it is escaped, not lost. */
static void print_text(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		bool c1 = p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f;

		if (c1)
			p++;
		if (c1 || *p == 0x7f)
			printf("\\u%04x", *p);
		else
			putchar(*p);
	}
	putchar('\n');
}

int svf_print_object(const struct svf *s, struct json_object *o_take)
{
	struct json_object *all = vs_jb_first(o_take, "meta", meta(s));
	VS_FREE char *text = NULL;

	if (!all) {
		fputs("svf: slurmctld's answer is not a JSON object (is svf of the same release?)\n",
		      stderr);
		return SVF_AWAY;
	}
	text = vs_jb_pretty_free(all);
	print_text(text);
	return SVF_OK;
}

int svf_print_json(const struct svf *s, struct vs_jdoc *doc)
{
	struct json_object *root = doc->root;

	doc->root = NULL;
	return svf_print_object(s, root);
}

/* The member of the answer that has the list. */
static const char *member_of(const struct svf_listing *l)
{
	return l->member ? l->member : l->verb;
}

/* No table of nothing after a name that is unknown. */
static void rows_print(const struct svf *s, const struct svf_listing *l,
		       svf_add_fn *add, struct vs_jdoc *doc, bool unknown)
{
	size_t n = 0;
	struct svf_table *t = svf_table_build(l->list, s);
	struct vs_j all = vs_j_get(vs_j_root(doc), member_of(l));

	for (size_t i = 0; i < vs_j_len(all); i++) {
		struct vs_j j = vs_j_at(all, i);

		if (!svf_column_shown(s, vs_j_str(vs_j_get(j, l->key))))
			continue;
		n++;
		if (add)
			add(t, j);
		else
			svf_row_add(t, &(struct svf_row){ .j = j });
	}
	if (!doc->err.code && !(unknown && !n))
		svf_table_print(t, s->no_header);
	svf_table_free(t);
}

int svf_show_list(const struct svf *s, const struct svf_listing *l,
		  svf_add_fn *add, svf_keep_fn *keep)
{
	struct vs_jdoc doc;
	int rc = svf_ask(l->verb, 0, "", &doc), unknown;

	if (rc)
		return rc;
	unknown = svf_names_check(s, vs_j_opt(vs_j_root(&doc), member_of(l)),
				  l->key, l->noun ? l->noun : l->key);
	if (keep)
		svf_filter_apply(s, l->filter, &doc, member_of(l), keep);
	if (s->json) {
		rc = svf_print_json(s, &doc);
		return rc ? rc : unknown;
	}
	rows_print(s, l, add, &doc, unknown);
	rc = svf_read_failed(&doc);
	if (!rc)
		svf_print_notes(&doc);
	vs_jdoc_free(&doc);
	return rc ? rc : unknown;
}
