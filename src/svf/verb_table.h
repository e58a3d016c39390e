/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf: all verbs, and what it says of them. */
#ifndef SVF_VERB_TABLE_H
#define SVF_VERB_TABLE_H

#include "svf/list/list.h"

extern const struct svf_verb *const svf_verbs[];	/* NULL-terminated */
const struct svf_verb *svf_verb_named(const char *name);	/* or NULL */

/* ---- options.c: the command line ----------------------------------------- */
struct svf_line {
	struct svf s;		/* s.argv has room for all words */
	const struct svf_verb *v;	/* NULL: svf --help or svf --version */
	const char *colour;	/* --color, NULL: not given */
	int iterate;		/* seconds, 0: once */
	bool help, usage, version;
	char command[64];	/* s.command */
};
/* Reads the words after argv[0]. Returns 0 on success. Returns SVF_USAGE after an
 * error line and svf_try(). l->s.argv must hold argc words. */
int svf_line_read(struct svf_line *l, int argc, char **argv);

/* ---- usage.c: what svf says of itself ---------------------------------- */
extern const struct svf_opt svf_opts[];	/* of every verb; ended by a NULL name */
/* "-O, --Format=FIELDS", to be free()d. */
char *svf_opt_title(const struct svf_opt *o);
void svf_usage(FILE *f);
void svf_synopsis(FILE *f, const struct svf_verb *v);	/* v: NULL, svf itself */
void svf_verb_usage(FILE *f, const struct svf_verb *v);
void svf_tables(FILE *f);	/* all of it for man.awk: a record per line */

/* ---- complete.c: for the shells; of the words after --complete ----------- */
int svf_complete(char **argv, int argc);

#endif
