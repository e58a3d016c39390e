/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of cells, each with a character and a style, cut at a width: what
 * svf top draws and svf map prints. A character takes one column; what would
 * take none or two (or steer a terminal) is a '?'.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "top.h"
#include "util/mem.h"

struct top_line *top_line_new(struct top_lines *ls)
{
	struct top_line *l;

	VS_GROW(ls->l, ls->cap, ls->n + 1);
	l = &ls->l[ls->n++];
	*l = (struct top_line){ .of = -1, .max = ls->width > 0 ? ls->width :
				INT_MAX };
	return l;
}

void top_lines_free(struct top_lines *ls)
{
	for (size_t i = 0; i < ls->n; i++)
		free(ls->l[i].g);
	free(ls->l);
	ls->l = NULL;
	ls->n = ls->cap = 0;
}

void top_lines_cut(struct top_lines *ls, size_t n)
{
	while (ls->n > n)
		free(ls->l[--ls->n].g);
}

static bool fits_a_column(uint32_t ch)
{
	return (ch >= ' ' && ch < 0x7f) || (ch >= 0xa0 && ch < 0x300 &&
					    ch != 0xad) ||
	       (ch >= 0x370 && ch < 0x483) || (ch >= 0x48a && ch < 0x591);
}

void top_char(struct top_line *l, int style, uint32_t ch)
{
	if (l->n >= l->max)
		return;
	VS_GROW(l->g, l->cap, l->n + 1);
	l->g[l->n++] = (struct top_glyph){
		.ch = fits_a_column(ch) ? ch : '?',
		.style = (unsigned char)style };
}

/* Returns the character at *s and moves *s to the next. Returns 0xfffd if it is
 * no UTF-8. */
static uint32_t next_char(const char **s)
{
	const unsigned char *p = (const unsigned char *)*s;
	int n = *p < 0x80 ? 0 : *p >= 0xc2 && *p < 0xe0 ? 1 :
		*p >= 0xe0 && *p < 0xf0 ? 2 : *p >= 0xf0 && *p < 0xf5 ? 3 : -1;
	uint32_t ch = n <= 0 ? *p : *p & (0x3fu >> n);

	(*s)++;
	if (n < 0)
		return 0xfffd;
	for (int i = 1; i <= n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0xfffd;
		ch = ch << 6 | (p[i] & 0x3f);
	}
	*s += n;
	return ch;
}

int top_width(const char *text)
{
	int n = 0;

	while (*text) {
		next_char(&text);
		n++;
	}
	return n;
}

void top_put(struct top_line *l, int style, const char *fmt, ...)
{
	VS_FREE char *text = NULL;
	const char *s;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	for (s = text; *s;)
		top_char(l, style, next_char(&s));
}

void top_pad(struct top_line *l, int style, int to)
{
	if (to > l->max)
		to = l->max;
	while (l->n < to)
		top_char(l, style, ' ');
}

/* Something did not fit: its last characters say so. */
static void mark_cut(struct top_line *l)
{
	for (int i = l->n > 3 ? l->n - 3 : 0; i < l->n; i++)
		l->g[i].ch = '.';
}

void top_wrap(struct top_lines *ls, int style, int indent, int nlines,
	      const char *text)
{
	struct top_line *l = top_line_new(ls);
	int room = ls->width > 0 ? ls->width : INT_MAX;

	top_pad(l, style, indent);
	while (*text) {
		size_t len = strcspn(text, " ");
		VS_FREE char *word = vs_asprintf("%.*s", (int)len, text);
		bool first = l->n == indent;
		bool over = !first && top_width(word) >= room - l->n;

		if (over && nlines <= 1) {
			top_put(l, style, " %s", word);
			mark_cut(l);
			return;
		}
		if (over) {
			l = top_line_new(ls);
			top_pad(l, style, indent);
			nlines--;
			first = true;
		}
		top_put(l, style, "%s%s", first ? "" : " ", word);
		text += len;
		text += strspn(text, " ");
	}
}
