/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf, the command: what its files share. One file per verb. */
#ifndef SVF_H
#define SVF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "util/err.h"
#include "util/json.h"

enum {				/* exit codes, documented in svf(1) */
	SVF_OK = 0,
	SVF_NO = 1,		/* answered: no such job, not allowed */
	SVF_USAGE = 2,
	SVF_AWAY = 3,		/* nobody answers */
	SVF_MUNGE = 4,
	SVF_CONF = 5,		/* vsphere.conf has an error (svf conf) */
};

#define SVF_PORT 6828		/* ControlPort's default */

struct svf {			/* the command line */
	bool json, no_header;
	int argc;		/* what follows the verb, options taken out */
	char **argv;
	bool flag;		/* the verb's own option was given */
};

struct svf_verb {
	const char *name;
	const char *args;	/* for the usage line, "" if none */
	const char *what;	/* one line */
	const char *help;	/* the rest of VERB --help */
	const char *flag;	/* the verb's own option ("--pfs") or NULL */
	bool raw;		/* what follows it is another command's */
	int (*run)(const struct svf *s);
};
extern const struct svf_verb svf_hosts, svf_nodes, svf_why, svf_status,
	svf_reconcile, svf_adopt, svf_vm, svf_host, svf_conf,
	svf_plan;

/* ---- where.c: whom to ask ---------------------------------------------- */
#define SVF_ENDS 8
struct svf_where {
	struct { char *host; int port; } ends[SVF_ENDS];	/* in order */
	int nends;
	char *munge_socket;	/* NULL: libmunge's own */
	char *slurm_user;	/* NULL: not known */
	char *vsphere_conf;	/* its path, there or not */
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

/* ---- show.c ------------------------------------------------------------ */
/* Ask, and print the report, its notes after it (--json: as it is). */
typedef void svf_print_fn(const struct svf *s, struct vs_jdoc *doc);
int svf_show(const struct svf *s, const char *verb, uint32_t job,
	     const char *name, svf_print_fn *print);
/* An exit code for a report that doesn't read as it should, after its line. */
int svf_read_failed(const struct vs_jdoc *doc);
/* --json: print the report and free it. */
int svf_print_json(struct vs_jdoc *doc);
/* The "notes" of a report, on stderr. */
void svf_print_notes(struct vs_jdoc *doc);

/* ---- table.c: aligned columns ------------------------------------------ */
struct svf_table;
/* Titles separated by blanks; one that begins with '>' is right-aligned, one
 * with a digit is left out where the terminal is too narrow (1 first), and the
 * last may begin with '+': there it goes below its line. */
struct svf_table *svf_table_new(const char *titles);
/* The next cell; a row ends by itself. Control characters become '?'. */
void svf_cell(struct svf_table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void svf_table_print(const struct svf_table *t, bool no_header);
void svf_table_free(struct svf_table *t);
/* The same cleaning for a text that is no cell, in place; returns s. */
char *svf_clean(char *s);
/* "12s", "3m05s", "2h10m", "4d03h" since then (epoch seconds); "" for 0. */
const char *svf_age(int64_t then, char out[16]);

/* ---- nodes.c ----------------------------------------------------------- */
/* The "nodes" array of a report as a table; those named in s alone, if any. */
void svf_print_nodes(const struct svf *s, struct vs_j nodes);

/* Is this name wanted: no names given, or among them. */
bool svf_wanted(const struct svf *s, const char *name);
/* Are the names of the command line those of list[].key? SVF_NO with a line on
 * stderr for each that is none. */
int svf_names_check(const struct svf *s, struct vs_j list, const char *key);

#endif
