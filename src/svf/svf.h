/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf, the command: what its files share. One file per verb. */
#ifndef SVF_H
#define SVF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "util/err.h"
#include "util/json.h"

enum {				/* exit codes, documented in svf(1) */
	SVF_OK = 0,
	SVF_NO = 1,		/* answered: no such job, not allowed */
	SVF_USAGE = 2,
	SVF_AWAY = 3,		/* nobody answers */
	SVF_MUNGE = 4,
	SVF_CONF = 5,		/* a file has an error, or can't be written */
};

#define SVF_PORT 6828		/* ControlPort's default */

#define SVF_OWNS 10		/* options with values that a verb may have */

struct svf {			/* the command line */
	bool json, no_header;
	const char *format;	/* -O: what columns, NULL: the usual ones */
	const char *sort;	/* --sort: by what, NULL: as they come */
	bool colour;
	int argc;		/* what follows the verb, options taken out */
	char **argv;
	bool flag;		/* the verb's own option was given */
	bool also;		/* so was its other one */
	const char *own[SVF_OWNS];	/* values of the verb's options, NULL:
				 * not given */
};

/*
 * A table's columns, each declared once: the usual view, -O, --sort, --help,
 * the man page and completion come from here.
 */
struct svf_row { struct vs_j j, of; const void *p; };	/* as the table needs */
struct svf_table;
enum {				/* svf_col.how */
	SVF_RIGHT = 1,		/* aligned */
	SVF_EXTRA = 4,		/* with -O alone */
	SVF_STATE = 8,		/* coloured by the word */
	SVF_BAD = 16,		/* coloured, whatever it says */
	SVF_IF = 32,		/* left out where all cells are "-" */
};
struct svf_col {
	const char *name;	/* -O's word; the title is it in upper case */
	const char *what;	/* a sentence or less, without its full stop */
	const char *title;	/* if it is another, else NULL */
	unsigned int how;
	const char *key;	/* this string of row->j ("-" if absent), or */
	void (*put)(struct svf_table *t, const struct svf_row *row);
};
struct svf_list { const struct svf_col *cols; size_t ncols; };
#define SVF_LIST(array) { array, sizeof(array) / sizeof((array)[0]) }

/* What follows a verb that has several orders: svf host drain. */
struct svf_word { const char *name, *args, *what; };
enum svf_names { SVF_NAMES_NONE, SVF_NAMES_HOST, SVF_NAMES_NODE,
		 SVF_NAMES_FILE };

struct svf_opt {
	const char *brief, *name;	/* "-O" or NULL, "--Format" */
	const char *arg;	/* "FIELDS"; "=WHEN": after = and may be left
				 * out; NULL: takes none */
	const char *what;
	enum { SVF_OPT_JSON, SVF_OPT_NOHEADER, SVF_OPT_FORMAT, SVF_OPT_SORT,
	       SVF_OPT_COLOR, SVF_OPT_ITERATE, SVF_OPT_HELP,
	       SVF_OPT_VERSION, SVF_OPT_OWN } id;
};

struct svf_verb {
	const char *name;
	const char *args;	/* for the usage line, "" if none */
	const char *what;	/* one line */
	const char *help;	/* more of it, in VERB --help and the man page */
	const char *more;	/* in the man page alone, or NULL */
	const char *flag;	/* the verb's own option ("--pfs") or NULL */
	const char *flag_what;	/* what that does */
	const char *also, *also_what;	/* another one, that changes no columns */
	const struct svf_opt *own;	/* with values, SVF_OPT_OWN; after the verb
				 * they go before those of every verb; ended by
				 * a NULL name; NULL: none */
	const char *instead;	/* of an option that is refused; NULL: an
				 * unknown option is a mistake */
	bool reads;		/* --iterate may repeat it, */
	bool flag_orders;	/* but not with its own option */
	const struct svf_list *list;	/* its columns, NULL: it has none */
	const struct svf_list *flagged;	/* with its option; NULL: the same */
	const struct svf_word *words;	/* ended by a NULL name; NULL: none */
	enum svf_names names;	/* what is named on the command line */
	int (*run)(const struct svf *s);
};
extern const struct svf_verb *const svf_verbs[];	/* NULL-terminated */
const struct svf_verb *svf_verb_named(const char *name);	/* or NULL */
extern const struct svf_verb svf_hosts, svf_nodes, svf_jobs, svf_why, svf_status,
	svf_reconcile, svf_adopt, svf_vm, svf_host, svf_conf,
	svf_plan, svf_check, svf_top, svf_map, svf_adapters,
	svf_parents;

/* ---- where.c: whom to ask ---------------------------------------------- */
#define SVF_ENDS 8
struct svf_where {
	struct {
		char *host;	/* to connect to */
		char *name;	/* SlurmctldHost's name; NULL: not known */
		int port;
	} ends[SVF_ENDS];	/* in order */
	int nends;
	char *munge_socket;	/* NULL: libmunge's own */
	char *slurm_user;	/* "root" as in Slurm if slurm.conf has none;
				 * NULL: slurm.conf can't be read */
	char *cluster;		/* ClusterName, NULL: not known */
	char *slurm_conf, *vsphere_conf;	/* paths, there or not */
};
int svf_where(struct svf_where *w, struct vs_err *err);
void svf_where_free(struct svf_where *w);
/*
 * The keys of a file in slurm.conf's style, Include followed, fn for each; fn
 * may be called with the same key again. 0, or -1 if it can't be read.
 */
typedef void svf_conf_fn(void *arg, const char *key, const char *value);
int svf_conf_read(const char *path, svf_conf_fn *fn, void *arg);

/* ---- ask.c ------------------------------------------------------------- */
/* The report into *doc, an exit code and an error line on stderr otherwise. */
int svf_ask(const char *verb, uint32_t job, const char *name,
	    struct vs_jdoc *doc);
/* The same about nodes, as Slurm lists them. */
int svf_ask_nodes(const char *verb, const char *nodes, struct vs_jdoc *doc);
/* The same for an operator's order about a node or host (or none: ""), and
 * why ("": not said). */
int svf_order(const char *verb, const char *name, const char *text,
	      struct vs_jdoc *doc);
/* The same, to be done at a time (s since the epoch; 0: now). */
int svf_order_at(const char *verb, const char *name, const char *text,
		 int64_t at, struct vs_jdoc *doc);

/* ---- when.c ------------------------------------------------------------ */
/* A time as Slurm's commands take them: 14:00 (today, or tomorrow if that is
 * over), 2026-03-01, 2026-03-01T14:00[:00], now+3 (seconds), now+2hours,
 * tomorrow, midnight, noon. s since the epoch, this machine's time zone; -1: it
 * is none of these. now_s: as time(NULL). */
int64_t svf_when(const char *text, int64_t now_s);

/* An order for nodes, as Slurm lists them, and why. */
int svf_order_nodes(const char *verb, const char *nodes, const char *text,
		    struct vs_jdoc *doc);

/* ---- reconcile.c: of orders ---------------------------------------------- */
#define SVF_REASON_MAX 120	/* vs_ctl_request.text */
/* The end of an order: what came back in one line (taken) or as JSON. */
int svf_finish(const struct svf *s, struct vs_jdoc *doc, char *line);
/* The words from there on; free() it. */
char *svf_words(const struct svf *s, int from, const char *between);
bool svf_reason_fits(const char *verb, const char *text);	/* or says not */

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
/* The "notes" of a report, on stderr. */
void svf_print_notes(struct vs_jdoc *doc);

/* ---- usage.c: what svf says of itself ---------------------------------- */
extern const struct svf_opt svf_opts[];	/* of every verb; ended by a NULL name */
/* "-O, --Format=FIELDS", to be free()d. */
char *svf_opt_title(const struct svf_opt *o);
void svf_usage(FILE *f);
void svf_verb_usage(FILE *f, const struct svf_verb *v);
void svf_tables(FILE *f);	/* all of it for man.awk: a record per line */

/* ---- complete.c: for the shells; of the words after --complete ----------- */
int svf_complete(char **argv, int argc);

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
const char *svf_colour_of(const struct svf_col *col, const char *cell);

/* ---- table.c: aligned columns ------------------------------------------ */
/* These columns, by -O and --sort of s (NULL: the usual ones, all rows as they
 * come); rows by svf_row_add(). Print it with svf_table_print(). */
struct svf_table *svf_table_of(const struct svf_list *l, const struct svf *s);
void svf_row_add(struct svf_table *t, const struct svf_row *row);
/* The next cell; a row ends by itself. Control characters become '?'. */
void svf_cell(struct svf_table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A row's "node"; its "job", "-" for none. */
void svf_put_node(struct svf_table *t, const struct svf_row *row);
void svf_put_job(struct svf_table *t, const struct svf_row *row);
void svf_table_print(const struct svf_table *t, bool no_header);
void svf_table_free(struct svf_table *t);
/* The same cleaning for a text that is no cell, in place; returns s. */
char *svf_clean(char *s);
/* "12s", "3m05s", "2h10m", "4d03h" since then (epoch seconds); "" for 0. */
const char *svf_age(int64_t then, char out[16]);
#define SVF_DAY "%Y-%m-%dT%H:%M:%S"
/* The same of so many seconds, "0s" too. */
const char *svf_span(int64_t s, char out[16]);
/* Epoch seconds on this machine's clock, by strftime's form; "": there is no
 * such time, or it is 0. Returns out. */
const char *svf_clock(int64_t at, const char *form, char out[32]);

/* ---- nodes.c ----------------------------------------------------------- */
/* The "nodes" array of a report as a table; those named in s alone, if any. */
void svf_print_nodes(const struct svf *s, struct vs_j nodes);
extern const struct svf_list svf_node_list;

/* Is this name wanted: no names given, or among them. */
bool svf_wanted(const struct svf *s, const char *name);
/* Are the names of the command line those of list[].key? SVF_NO with a line on
 * stderr for each that is none. */
int svf_names_check(const struct svf *s, struct vs_j list, const char *key);

#endif
