/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of svf top's picture share: models from text, lines as text. */
#ifndef TOP_STAGE_H
#define TOP_STAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "svf/top/top.h"
#include "util/buf.h"
#include "util/mem.h"

#define PF0 "0000:3b:00.0"
#define PF1 "0000:af:00.0"

static inline struct top_model *model_of(const char *text,
					 const struct top_model *was)
{
	struct vs_jdoc doc;
	struct vs_err err;
	struct top_model *m;

	if (vs_jdoc_parse(&doc, text, strlen(text), &err))
		fail_msg("%s", err.text);
	m = top_model_new(&doc, was);
	if (vs_json_failed(&doc, &err))
		fail_msg("%s", err.text);
	vs_jdoc_free(&doc);
	return m;
}

/* A line as ASCII, without blanks at its end. */
static inline const char *line_text(const struct top_lines *ls, size_t i)
{
	static char text[1024];
	int n = 0;

	assert_true(i < ls->n);
	for (int k = 0; k < ls->l[i].n && n < 1023; k++)
		text[n++] = ls->l[i].g[k].ch < 0x80 ?
			(char)ls->l[i].g[k].ch : '~';
	while (n && text[n - 1] == ' ')
		n--;
	text[n] = '\0';
	return text;
}

static inline bool shows(const struct top_lines *ls, const char *what)
{
	for (size_t i = 0; i < ls->n; i++)
		if (strstr(line_text(ls, i), what))
			return true;
	return false;
}

#define expect_line(ls, i, want) assert_string_equal(line_text(ls, i), want)

#endif
