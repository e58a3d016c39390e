/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf: the command line as verbs see it, what a list and a verb say of themselves. */
#ifndef SVF_COMMAND_H
#define SVF_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "util/json.h"

#define SVF_OWNS 16		/* options of its own that a verb may have */

struct svf {			/* the command line */
	const char *command;	/* "svf host drain"; NULL: not known */
	bool json, no_header;
	bool all;		/* --long: all columns, none wrapped */
	const char *format;	/* -O: what columns, NULL: the usual ones */
	const char *sort;	/* --sort: by what, NULL: as they come */
	bool colour;
	int argc;		/* what follows the verb, options taken out */
	char **argv;
	bool flag;		/* the verb's own option was given */
	bool also;		/* so was its other one */
	const char *own[SVF_OWNS];	/* values of the verb's options ("" of one
				 * without a value), NULL: not given */
};

/*
 * A table's columns, each declared once: the usual view, -O, --sort, --help,
 * the man page and completion come from here.
 */
struct svf_row { struct vs_j j, of; const void *p; };	/* as the table needs */
struct svf_table;
enum {				/* svf_col.how */
	SVF_RIGHT = 1,		/* aligned */
	SVF_NEED = 2,		/* an answer without the key can't be read */
	SVF_EXTRA = 4,		/* with -O alone */
	SVF_STATE = 8,		/* coloured by the word */
	SVF_BAD = 16,		/* coloured, whatever it says */
	SVF_IF = 32,		/* left out where all cells are "-" */
	/* The key's value is no text, but: */
	SVF_INT = 64,		/* a number; "-" below 0 */
	SVF_SPAN = 128,		/* so many seconds; likewise */
	SVF_NAMES = 256,	/* an array of names: as a host list */
	SVF_OF = 512,		/* (and) a member of row->of */
	SVF_AT = 1024,		/* no key: a text of row->p, at .at */
	SVF_WRAP = 2048,	/* wrapped where the table is too wide */
};
struct svf_col {
	const char *name;	/* -O's word; the title is it in upper case */
	const char *what;	/* a sentence or less, without its full stop */
	const char *title;	/* if it is another, else NULL */
	unsigned int how;
	const char *key;	/* this member of row->j ("-" if absent), or */
	size_t at;
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
	enum { SVF_OPT_JSON, SVF_OPT_NOHEADER, SVF_OPT_LONG,
	       SVF_OPT_FORMAT, SVF_OPT_SORT,
	       SVF_OPT_COLOR, SVF_OPT_ITERATE, SVF_OPT_HELP,
	       SVF_OPT_USAGE, SVF_OPT_VERSION, SVF_OPT_OWN } id;
};

struct svf_verb {
	const char *name;
	const char *args;	/* for the usage line, "" if none */
	const char *what;	/* one line */
	const char *help;	/* more of it, in VERB --help; the man page has
				 * its first paragraph */
	const char *flag;	/* the verb's own option ("--pfs") or NULL */
	const char *flag_what;	/* what that does */
	const char *also, *also_what;	/* another one, that changes no columns */
	const struct svf_opt *own;	/* SVF_OPT_OWN; they precede those of every
				 * verb; ended by a NULL name; NULL: none */
	const char *instead;	/* printed after the error of an unknown option;
				 * NULL: nothing */
	bool reads;		/* --iterate may repeat it, */
	bool flag_orders;	/* but not with its own option */
	const struct svf_list *list;	/* its columns, NULL: it has none */
	const struct svf_list *flagged;	/* with its option; NULL: the same */
	const struct svf_word *words;	/* ended by a NULL name; NULL: none */
	enum svf_names names;	/* what is named on the command line */
	int (*run)(const struct svf *s);
};

#endif
