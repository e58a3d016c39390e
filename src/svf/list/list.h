/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf: answers as tables and as JSON. */
#ifndef SVF_LIST_H
#define SVF_LIST_H

#include "command.h"
#include "svf/rpc/rpc.h"

/* ---- show.c ------------------------------------------------------------ */
/* Ask, and print the report, its notes after it (--json: as it is). */
typedef void svf_print_fn(const struct svf *s, struct vs_jdoc *doc);
int svf_show(const struct svf *s, const char *verb, uint32_t job,
	     const char *name, svf_print_fn *print);
/* An exit code for a report that doesn't read as it should, after its line. */
int svf_read_failed(const struct vs_jdoc *doc);
/* --json: print the report and free it. */
int svf_print_json(struct vs_jdoc *doc);
/* The same, with SVF_NO and a line for each name of s that list[].key hasn't. */
int svf_print_named(const struct svf *s, struct vs_jdoc *doc, const char *list,
		    const char *key);
/*
 * A list as a verb: asks, and prints the elements of the report's member verb, as rows
 * of l, which are named in s by their member key; all if s names none. add puts one
 * into the table, NULL: as one row. Notes and unknown names follow on stderr.
 */
typedef void svf_add_fn(struct svf_table *t, struct vs_j element);
int svf_show_list(const struct svf *s, const char *verb, const char *key,
		  const struct svf_list *l, svf_add_fn *add);
/* The "notes" of a report, on stderr. */
void svf_print_notes(struct vs_jdoc *doc);

/* ---- view.c: which columns, in which order ------------------------------- */
struct svf_pick {
	size_t col;		/* of the list */
	int width;		/* 0: as wide as its widest cell */
	bool right, down;	/* aligned; sorted from the greatest */
};
/*
 * "host,free:.6" of -O, or "-free,host" of --sort, as picks, to be free()d.
 * NULL: there is no such field or no width; err lists the fields.
 */
struct svf_pick *svf_view(const struct svf_list *l, const char *text,
			  bool sort, size_t *n, struct vs_err *err);
/* "host, cluster, ...", to be free()d. */
char *svf_fields(const struct svf_list *l);
/* A column's title, to be free()d. */
char *svf_title(const struct svf_col *col);
/* \033[...m for the cell of such a column, "" for none. */
const char *svf_cell_colour(const struct svf_col *col, const char *cell);

/* ---- table.c: aligned columns ------------------------------------------ */
/* These columns, by -O and --sort of s (NULL: the usual ones, all rows as they
 * come); rows by svf_row_add(). Print it with svf_table_print(). */
struct svf_table *svf_table_build(const struct svf_list *l,
				  const struct svf *s);
void svf_row_add(struct svf_table *t, const struct svf_row *row);
/* A row for each element; returns how many they are. */
size_t svf_rows_add(struct svf_table *t, struct vs_j list);
/* The same as a table, which is printed unless it is empty or its answer can't be
 * read. s: as of svf_table_build(). */
size_t svf_print_rows(const struct svf_list *l, const struct svf *s,
		      struct vs_j list);
/* The next cell; a row ends by itself. Control characters become '?'. */
void svf_cell(struct svf_table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void svf_table_print(const struct svf_table *t, bool no_header);
void svf_table_free(struct svf_table *t);
/* "12s", "3m05s", "2h10m", "4d03h" since then (epoch seconds); "" for 0. */
const char *svf_age(int64_t then, char out[16]);
#define SVF_DAY "%Y-%m-%dT%H:%M:%S"
/* The same of so many seconds, "0s" too. */
const char *svf_span(int64_t s, char out[16]);
/* Epoch seconds on this machine's clock, by strftime's form; "": there is no
 * such time, or it is 0. Returns out. */
const char *svf_clock(int64_t at, const char *form, char out[32]);

/* The texts of a list with `between` between them; "" of an empty list. The caller
 * frees it. */
char *svf_join(struct vs_j list, const char *between);
/* The user's name on this machine, or the number; "" below 0. The caller frees it. */
char *svf_user(int64_t uid);

/* Is this name wanted: no names given, or among them. */
bool svf_column_shown(const struct svf *s, const char *name);
/* Are the names of the command line those of list[].key? SVF_NO with a line on
 * stderr for each that is none. */
int svf_names_check(const struct svf *s, struct vs_j list, const char *key);

#endif
