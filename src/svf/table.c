/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aligned columns, as sinfo's: each as wide as its widest cell, two blanks
 * between, no blanks at a line's end. On a terminal that is too narrow the
 * least important columns are left out, and a remark goes below its line; into
 * a pipe goes all of it. Names come from vCenter, where anybody
 * may have chosen them: what could steer a terminal is replaced.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "svf.h"
#include "util/mem.h"

struct svf_table {
	size_t ncols, ncells, cap;
	bool *right;
	int *drop;		/* 1 first, 0: never */
	bool remark;		/* the last column may go below */
	char **cells;		/* the titles first */
};

#define INDENT 4

/* How wide a line may be, 0: as wide as it is. */
static int columns(void)
{
	const char *told = getenv("COLUMNS");
	struct winsize ws;
	long n = told ? strtol(told, NULL, 10) : 0;

	if (n <= 0 && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws))
		n = ws.ws_col;
	return n > 0 && n < INT_MAX ? (int)n : 0;
}

char *svf_clean(char *s)
{
	for (unsigned char *p = (unsigned char *)s; *p; p++) {
		/* C1 controls in UTF-8 are c2 80 to c2 9f. */
		if (*p < ' ' || *p == 0x7f)
			*p = '?';
		else if (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f)
			p[0] = p[1] = '?';
	}
	return s;
}

static void put(struct svf_table *t, char *cell_take)
{
	VS_GROW(t->cells, t->cap, t->ncells + 1);
	t->cells[t->ncells++] = svf_clean(cell_take);
}

struct svf_table *svf_table_new(const char *titles)
{
	struct svf_table *t = vs_calloc(1, sizeof(*t));
	VS_FREE char *copy = vs_strdup(titles);
	char *save = NULL;

	t->right = vs_calloc(strlen(titles) + 1, sizeof(*t->right));
	t->drop = vs_calloc(strlen(titles) + 1, sizeof(*t->drop));
	for (char *w = strtok_r(copy, " ", &save); w;
	     w = strtok_r(NULL, " ", &save)) {
		if (*w >= '1' && *w <= '9')
			t->drop[t->ncols] = *w++ - '0';
		t->remark = *w == '+';
		t->right[t->ncols++] = *w == '>';
		put(t, vs_strdup(*w == '>' || *w == '+' ? w + 1 : w));
	}
	return t;
}

void svf_cell(struct svf_table *t, const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		abort();
	va_end(ap);
	put(t, s);
}

/* Columns a UTF-8 text takes, as far as one byte in front tells. */
static int width(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/* widths[i] < 0: this column is left out. */
static void print_row(const struct svf_table *t, char *const *row,
		      const int *widths)
{
	size_t last = 0;

	for (size_t i = 0; i < t->ncols; i++)
		if (row[i][0] && widths[i] >= 0)
			last = i;
	for (size_t i = 0; i <= last; i++) {
		int pad = widths[i] - width(row[i]);

		if (widths[i] < 0)
			continue;
		if (!t->right[i] && i == last)
			pad = 0;
		printf("%s%*s%s%*s", i ? "  " : "", t->right[i] ? pad : 0, "",
		       row[i], t->right[i] ? 0 : pad, "");
	}
	putchar('\n');
}

/* A remark below its line, broken between words. */
static void print_below(const char *text, int wide)
{
	int at = 0;

	while (*text) {
		size_t len = strcspn(text, " ");
		VS_FREE char *word = vs_asprintf("%.*s", (int)len, text);
		bool begins = !at || at + 1 + width(word) > wide;

		if (begins)
			printf("%s%*s%s", at ? "\n" : "", INDENT, "", word);
		else
			printf(" %s", word);
		at = (begins ? INDENT : at + 1) + width(word);
		text += len;
		text += strspn(text, " ");
	}
	if (at)
		putchar('\n');
}

static int total(const struct svf_table *t, const int *widths)
{
	int sum = 0;

	for (size_t i = 0; i < t->ncols; i++)
		if (widths[i] >= 0)
			sum += widths[i] + (i ? 2 : 0);
	return sum;
}

/* Leave columns out until the rest fits; true: the remark goes below. */
static bool fit(const struct svf_table *t, int *widths, int wide)
{
	bool below = t->remark && wide && total(t, widths) > wide;

	if (below)
		widths[t->ncols - 1] = -1;
	for (int which = 1; which <= 9 && wide; which++)
		for (size_t i = 0; i < t->ncols; i++)
			if (t->drop[i] == which && total(t, widths) > wide)
				widths[i] = -1;
	return below;
}

void svf_table_print(const struct svf_table *t, bool no_header)
{
	VS_FREE int *widths = vs_calloc(t->ncols + 1, sizeof(*widths));
	size_t first = no_header ? t->ncols : 0;
	int wide = columns();
	bool below;

	for (size_t i = first; i < t->ncells; i++) {
		int w = width(t->cells[i]);

		if (w > widths[i % t->ncols])
			widths[i % t->ncols] = w;
	}
	below = fit(t, widths, wide);
	for (size_t i = first; i + t->ncols <= t->ncells; i += t->ncols) {
		print_row(t, &t->cells[i], widths);
		if (below && i)
			print_below(t->cells[i + t->ncols - 1], wide);
	}
}

void svf_table_free(struct svf_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->ncells; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t->right);
	free(t->drop);
	free(t);
}

const char *svf_age(int64_t then, char out[16])
{
	int64_t s = (int64_t)time(NULL) - then;

	out[0] = '\0';
	if (then <= 0)
		return out;
	if (s < 0)
		s = 0;
	if (s > 999LL * 86400)
		s = 999LL * 86400;
	if (s < 60)
		snprintf(out, 16, "%ds", (int)s);
	else if (s < 3600)
		snprintf(out, 16, "%dm%02ds", (int)(s / 60), (int)(s % 60));
	else if (s < 86400)
		snprintf(out, 16, "%dh%02dm", (int)(s / 3600),
			 (int)(s / 60 % 60));
	else
		snprintf(out, 16, "%dd%02dh", (int)(s / 86400),
			 (int)(s / 3600 % 24));
	return out;
}

bool svf_wanted(const struct svf *s, const char *name)
{
	for (int i = 0; i < s->argc; i++)
		if (!strcmp(s->argv[i], name))
			return true;
	return s->argc == 0;
}

int svf_names_check(const struct svf *s, struct vs_j list, const char *key)
{
	int rc = SVF_OK;

	for (int i = 0; i < s->argc; i++) {
		bool known = false;

		for (size_t k = 0; k < vs_j_len(list) && !known; k++)
			known = !strcmp(s->argv[i], vs_j_str(
				vs_j_get(vs_j_at(list, k), key)));
		if (known)
			continue;
		fprintf(stderr, "svf: no such %s: %s\n", key, s->argv[i]);
		rc = SVF_NO;
	}
	return rc;
}
