/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cluster file while it is read: sections of items, each character with its
 * place. Of import_read.c, for import_vms.c. */
#ifndef SVF_IMPORT_I_H
#define SVF_IMPORT_I_H

#include "import.h"

struct text {			/* characters and where they stood */
	char *s;
	struct svf_pos *at;	/* one more than there are characters */
	size_t len, cap, cap_at;
};
struct item { char *key; struct svf_pos at; struct text value; };
struct section {
	char *name;
	struct item *items;
	size_t nitems, cap;
};
struct file {
	const char *p, *end;
	int line;
	struct section *sections;
	size_t nsections, cap;
	struct vs_err *err;
};

/* "line L column C: " and the text; -1. */
int svf_bad(struct vs_err *err, struct svf_pos at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void svf_text_add(struct text *t, char c, struct svf_pos at);
void svf_text_free(struct text *t);
/* From p to end; -1 with its place. svf_file_free() in either case. */
int svf_file_read(struct file *f);
void svf_file_free(struct file *f);
struct section *svf_section_named(struct file *f, const char *name);	/* or NULL */

#endif
