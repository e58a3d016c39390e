/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf conf: vsphere.conf as the plugins read it, by the same table and checks,
 * and the table itself. Works on any file without slurmctld. What only Slurm or
 * vCenter can tell (nodes, partitions, templates) is checked when slurmctld
 * starts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/conf/conf.h"
#include "verbs.h"
#include "util/buf.h"
#include "util/hostlist.h"
#include "util/mem.h"

/* ---- the file ---------------------------------------------------------- */

/* The value in force; NULL if there is none. */
static const char *value_of(const struct vs_conf_record *r, size_t key,
			    bool *is_default)
{
	*is_default = !r->values[key];
	return *is_default ? vs_conf_keys[key].dflt : r->values[key];
}

/* Values in quotes where the parser needs them. */
static void print_pair(const char *key, const char *value)
{
	VS_FREE char *s = vs_strdup(value);

	svf_clean(s);
	printf(strpbrk(s, " \t#") ? "%s=\"%s\"" : "%s=%s", key, s);
}

static void print_record(const struct vs_conf_record *r)
{
	bool is_default, first = true;

	for (size_t k = 0; k < vs_conf_nkeys; k++) {
		const struct vs_conf_key *key = &vs_conf_keys[k];
		const char *value;

		if (key->scope != r->scope ||
		    !(value = value_of(r, k, &is_default)))
			continue;
		if (r->scope != VS_SCOPE_TOP && !first)
			putchar(' ');
		print_pair(key->key, value);
		if (r->scope == VS_SCOPE_TOP)
			puts(is_default ? "\t# default" : "");
		first = false;
	}
	if (r->scope != VS_SCOPE_TOP)
		putchar('\n');
}

static int print_file_json(const struct svf *s, const struct vs_conf_file *f)
{
	struct json_object *top = vs_jb_obj(NULL), *arr = vs_jb_arr();
	bool is_default;

	for (size_t i = 0; i < f->nrecords; i++) {
		const struct vs_conf_record *r = &f->records[i];
		struct json_object *o = vs_jb_obj(NULL);
		struct json_object *keys = vs_jb_obj(NULL);

		for (size_t k = 0; k < vs_conf_nkeys; k++)
			if (vs_conf_keys[k].scope == r->scope)
				vs_jb_str(keys, vs_conf_keys[k].key,
					  value_of(r, k, &is_default));
		if (r->line)
			vs_jb_int(o, "line", vs_conf_line_number(r->line));
		if (r->line >= VS_CONF_LINES)
			vs_jb_str(o, "file",
				  f->files[r->line / VS_CONF_LINES - 1]);
		vs_jb_put(o, "keys", keys);
		vs_jb_add(arr, o);
	}
	vs_jb_str(top, "file", f->path);
	vs_jb_put(top, "records", arr);
	return svf_print_object(s, top);
}

static int check(const struct svf *s, const char *path)
{
	struct vs_conf *conf = vs_conf_new();
	struct vs_conf_file f = { 0 };
	struct vs_err err = { 0 };
	int rc = SVF_OK;

	if (vs_conf_scan(&f, path, &err) ||
	    vs_conf_fill(conf, &f, vs_hostlist_expand, &err)) {
		fprintf(stderr, "svf: %s\n", svf_clean(err.text));
		rc = SVF_CONF;
	} else if (s->json) {
		rc = print_file_json(s, &f);
	} else {
		printf("# %s\n", path);
		for (size_t i = 0; i < f.nrecords; i++)
			print_record(&f.records[i]);
	}
	vs_conf_file_free(&f);
	vs_conf_free(conf);
	return rc;
}

/* ---- the table --------------------------------------------------------- */

/* By level, then by kind of line, as the table has them. The caller frees the list,
 * which ends with NULL. */
static const struct vs_conf_key **keys_by_level(void)
{
	const struct vs_conf_key **all = vs_calloc(vs_conf_nkeys + 1,
						   sizeof(*all));
	size_t n = 0;

	for (int level = 0; level < VS_LEVELS; level++)
		for (size_t k = 0; k < vs_conf_nkeys; k++)
			if ((int)vs_conf_keys[k].level == level)
				all[n++] = &vs_conf_keys[k];
	return all;
}

static int print_keys_json(const struct svf *s)
{
	struct json_object *top = vs_jb_obj(NULL), *arr = vs_jb_arr();

	VS_FREE const struct vs_conf_key **all = keys_by_level();

	for (size_t k = 0; k < vs_conf_nkeys; k++) {
		const struct vs_conf_key *key = all[k];
		struct json_object *o = vs_jb_obj(NULL);
		const char *opener = vs_conf_opener(key->scope);

		vs_jb_str(o, "key", key->key);
		vs_jb_str(o, "line", opener[0] ? opener : NULL);
		vs_jb_str(o, "default", key->dflt);
		vs_jb_bool(o, "required", key->required);
		vs_jb_str(o, "level", vs_conf_level_name(key->level));
		vs_jb_str(o, key->type == VS_CONF_OPTIONS ? "options" :
			  "choices", key->choices);
		vs_jb_str(o, "doc", key->doc);
		vs_jb_add(arr, o);
	}
	vs_jb_put(top, "keys", arr);
	return svf_print_object(s, top);
}

/* The meaning, and what may be given. */
static char *words_of(const struct vs_conf_key *key)
{
	if (key->type == VS_CONF_CHOICE)
		return vs_asprintf("%s One of %s.", key->doc, key->choices);
	if (key->type == VS_CONF_INT || key->type == VS_CONF_MB ||
	    key->type == VS_CONF_OPTIONS)
		return vs_asprintf("%s From %ld to %ld.", key->doc, key->min,
				   key->max);
	return vs_strdup(key->doc);
}

static void put_line(struct svf_table *t, const struct svf_row *row)
{
	const struct vs_conf_key *key = row->p;
	const char *opener = vs_conf_opener(key->scope);

	svf_cell(t, "%s", opener[0] ? opener : "-");
}

static void put_level(struct svf_table *t, const struct svf_row *row)
{
	const struct vs_conf_key *key = row->p;

	svf_cell(t, "%s", vs_conf_level_name(key->level));
}

/* A default of several values would make the table too wide: its text has them. */
static void put_default(struct svf_table *t, const struct svf_row *row)
{
	const struct vs_conf_key *key = row->p;

	svf_cell(t, "%s", key->type == VS_CONF_OPTIONS ? "(see text)" :
		 key->dflt ? key->dflt : key->required ? "(required)" : "-");
}

static void put_meaning(struct svf_table *t, const struct svf_row *row)
{
	VS_FREE char *words = words_of(row->p);

	svf_cell(t, "%s", words);
}

static const struct svf_col cols[] = {
	{ .name = "line", .put = put_line,
	  .what = "the key that opens its line; - of a global key" },
	{ .name = "key", .how = SVF_AT,
	  .at = offsetof(struct vs_conf_key, key), .what = "the key" },
	{ .name = "level", .put = put_level,
	  .what = "required, common or advanced: who needs it" },
	{ .name = "default", .put = put_default,
	  .what = "its default, (required), or - for none" },
	{ .name = "meaning", .how = SVF_WRAP, .put = put_meaning,
	  .what = "its meaning and its values" },
};
static const struct svf_list list = SVF_LIST(cols);

static int print_keys(const struct svf *s)
{
	VS_FREE const struct vs_conf_key **all = keys_by_level();
	struct svf_table *t;

	if (s->json)
		return print_keys_json(s);
	t = svf_table_build(&list, s);
	for (size_t k = 0; k < vs_conf_nkeys; k++)
		svf_row_add(t, &(struct svf_row){ .p = all[k] });
	svf_table_print(t, s->no_header);
	svf_table_free(t);
	return SVF_OK;
}

static int run(const struct svf *s)
{
	struct vs_err err = { 0 };
	struct svf_where w;
	int rc;

	if (s->argc > 1)
		return svf_wrong("conf", "one file is expected, not '%s' too",
				 s->argv[1]);
	if (s->flag)
		return print_keys(s);
	if (s->argc)
		return check(s, s->argv[0]);
	svf_where(&w, &err);	/* for the path alone */
	rc = check(s, w.vsphere_conf);
	svf_where_free(&w);
	return rc;
}

const struct svf_verb svf_conf = {
	.name = "conf", .args = "[FILE]", .run = run,
	.flag = "--keys",
	.flag_what = "every key, by level, with its default and its meaning",
	.flagged = &list, .names = SVF_NAMES_FILE,
	.what = "check vsphere.conf(5) and print what is in force",
	.help =
"The file is read by the plugins' own parser; FILE is vsphere.conf beside\n"
"slurm.conf if not given. Needs no slurmctld. Nodes, partitions and what vCenter\n"
"has are checked when slurmctld starts.\n",
};
