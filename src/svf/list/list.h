/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf: answers as tables and as JSON. */
#ifndef SVF_LIST_H
#define SVF_LIST_H

#include "command.h"
#include "svf/rpc/rpc.h"

/* ---- show.c ------------------------------------------------------------ */
/* Ask, and print the report, its notes after it. */
struct svf_filter;
typedef void svf_print_fn(const struct svf *s, struct vs_jdoc *doc);
int svf_show(const struct svf *s, const char *verb, uint32_t job,
	     const char *name, svf_print_fn *print);
/* An exit code for a report that doesn't read as it should, after its line. */
int svf_read_failed(const struct vs_jdoc *doc);
/* --json: prints the answer with a first member "meta", and frees it. Returns an
 * exit code, after a line on stderr if the answer is no object. */
int svf_print_json(const struct svf *s, struct vs_jdoc *doc);
/* The same of an object that svf made; takes it. */
int svf_print_object(const struct svf *s, struct json_object *o_take);
/*
 * A list as a verb: asks, and prints the elements of the report's member verb, as rows
 * of l, which are named in s by their member key; all if s names none. add puts one
 * into the table, NULL: as one row. keep says which are printed, NULL: all. Notes and
 * unknown names go to stderr.
 */
typedef void svf_add_fn(struct svf_table *t, struct vs_j element);
typedef bool svf_keep_fn(const struct svf *s, const struct svf_filter *f,
			 struct vs_j element);
struct svf_listing {
	const char *verb, *key;
	const char *member;	/* of the answer, NULL: it is named as the verb */
	const char *noun;	/* what a name is; NULL: key */
	const struct svf_list *list;
	const struct svf_filter *filter;	/* for keep */
};
int svf_show_list(const struct svf *s, const struct svf_listing *l,
		  svf_add_fn *add, svf_keep_fn *keep);

/* ---- filter.c: -u, --me, -p, -t and -w of lists ---------------------------------- */
#define SVF_FILTER_USER { "-u", "--user", "LIST", \
	"only jobs of these users (names or numbers, with commas between)", \
	SVF_OPT_OWN }
#define SVF_FILTER_ME { NULL, "--me", NULL, "only your jobs", SVF_OPT_OWN }
#define SVF_FILTER_PARTITION(of) { "-p", "--partition", "LIST", \
	"only " of " of these partitions", SVF_OPT_OWN }
#define SVF_FILTER_STATES(of) { "-t", "--states", "LIST", \
	"only " of " in these states, with commas between", \
	SVF_OPT_OWN }
#define SVF_FILTER_NODELIST(of) { "-w", "--nodelist", "LIST", \
	"only " of " (a Slurm host list)", SVF_OPT_OWN }
/* brief: as squeue's, or NULL. DRAIN stands for DRAINED and DRAINING, as in sinfo. */
struct svf_state { const char *name, *brief; };
struct svf_filter {
	uint32_t *users;
	char **partitions, **states, **nodes;
	size_t nusers, npartitions, nstates, nnodes;
};
/* The values of the options, NULL: not given. */
struct svf_filter_words {
	const char *users, *partitions, *states, *nodes;
	bool me;
	const struct svf_state *known;	/* states that there are, ended by NULL */
};
/* Returns 0. Returns SVF_USAGE after a line if a state or a host list is wrong,
 * SVF_NO if there is no such user. f is to be freed in either case. */
int svf_filter_read(const char *verb, const struct svf_filter_words *w,
		    struct svf_filter *f);
void svf_filter_free(struct svf_filter *f);
/* Does it pass? Always where the option was not given. */
bool svf_filter_user(const struct svf_filter *f, int64_t uid);
bool svf_filter_partition(const struct svf_filter *f, const char *list);
bool svf_filter_state(const struct svf_filter *f, const char *state);
bool svf_filter_nodes(const struct svf_filter *f, struct vs_j names);
/* Are the partitions of -p those of list[].partition? SVF_NO with a line on stderr for
 * each that is none. An empty list says nothing. */
int svf_filter_partitions_check(const struct svf_filter *f, struct vs_j list);
/* Drops what keep refuses from the answer's list. */
void svf_filter_apply(const struct svf *s, const struct svf_filter *f,
		      struct vs_jdoc *doc, const char *list, svf_keep_fn *keep);
/* s with the names of -w after those of the command line; free() what it returns
 * after the copy. */
char **svf_filter_names(const struct svf *s, const struct svf_filter *f,
			struct svf *copy);
/* The "notes" of a report, and one line for its "findings", on stderr. */
void svf_print_notes(struct vs_jdoc *doc);
/* "2 findings about vCenter, 1 of which keeps jobs pending: see svf check", of an answer.
 * NULL: it has none. The caller frees it. */
char *svf_findings_line(struct vs_j answer);

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

/* ---- near.c: which name may have been meant ------------------------------- */
struct svf_near { const char *word, *name; size_t d; };	/* name NULL: none */
/* Notes the name if no other that was tried is more like the word. */
void svf_near_try(struct svf_near *n, const char *name);
/* "; did you mean 'NAME'?", or "". The caller frees it. */
char *svf_near_hint(const struct svf_near *n);

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
/* The time since then (epoch seconds), as svf_span() prints it; "" for 0. */
const char *svf_age(int64_t then, char out[16]);
#define SVF_DAY "%Y-%m-%dT%H:%M:%S"
/* So many seconds as Slurm prints them: "00:03:05", "4-03:10:00". */
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
 * stderr for each that is none, which calls it a noun. */
int svf_names_check(const struct svf *s, struct vs_j list, const char *key,
		    const char *noun);
/* SVF_NO after "no such NOUN: NAME" on stderr. */
int svf_no_such(const char *noun, const char *name);

#endif
