/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aligned columns, as sinfo's: each as wide as its widest cell, two blanks
 * between, no blanks at a line's end, the same on a terminal and in a pipe.
 * Names come from vCenter, where any user may have chosen them: what could steer
 * a terminal is replaced.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* qsort_r, strverscmp */
#endif
#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "list.h"
#include "util/hostlist.h"
#include "util/mem.h"

#define WIDE 80			/* of a line that is no terminal's */
#define NARROW 16		/* the least width of a wrapped column */

struct svf_table {
	struct svf_list list;
	struct svf_pick *picks, *sorts;
	size_t npicks, nsorts;
	bool chosen, colour;		/* by -O or --long: all of it */
	size_t ncells, cap;
	char **cells;
};

static void put(struct svf_table *t, char *cell_take)
{
	VS_GROW(t->cells, t->cap, t->ncells + 1);
	t->cells[t->ncells++] = svf_clean(cell_take);
}

struct svf_table *svf_table_build(const struct svf_list *l, const struct svf *s)
{
	struct svf_table *t = vs_calloc(1, sizeof(*t));
	struct vs_err err;

	t->list = *l;
	t->colour = s && s->colour;
	if (s && (s->format || s->all))
		t->picks = svf_view(l, s->format ? s->format : "ALL", false,
				    &t->npicks, &err);
	if (s && s->sort)
		t->sorts = svf_view(l, s->sort, true, &t->nsorts, &err);
	t->chosen = t->picks != NULL;
	if (t->chosen)
		return t;
	t->picks = vs_calloc(l->ncols + 1, sizeof(*t->picks));
	for (size_t i = 0; i < l->ncols; i++)
		if (!(l->cols[i].how & SVF_EXTRA))
			t->picks[t->npicks++] = (struct svf_pick){
				.col = i, .right = l->cols[i].how & SVF_RIGHT };
	return t;
}

/* "vm[001-004]" of an array of names, "-" if there is none. */
static void put_names(struct svf_table *t, struct vs_j list)
{
	size_t n = vs_j_len(list);
	VS_FREE const char **names = vs_calloc(n + 1, sizeof(*names));
	VS_FREE char *text = NULL;

	for (size_t i = 0; i < n; i++)
		names[i] = vs_j_str(vs_j_at(list, i));
	text = vs_hostlist_compress(names, n);
	svf_cell(t, "%s", text[0] ? text : "-");
}

/* The cell of a column without a function of its own. */
static void put_key(struct svf_table *t, const struct svf_col *col,
		    const struct svf_row *row)
{
	struct vs_j in = col->how & SVF_OF ? row->of : row->j, j;
	int64_t n;
	char text[16];

	if (col->how & SVF_AT) {
		svf_cell(t, "%s", *(const char *const *)
			 ((const char *)row->p + col->at));
		return;
	}
	j = col->how & SVF_NEED ? vs_j_get(in, col->key) :
		vs_j_opt(in, col->key);
	if (col->how & SVF_NAMES) {
		put_names(t, j);
	} else if (col->how & (SVF_INT | SVF_SPAN)) {
		n = vs_j_int_or(j, -1);
		if (n < 0 || col->how & SVF_SPAN)
			svf_cell(t, "%s", n < 0 ? "-" : svf_span(n, text));
		else
			svf_cell(t, "%" PRId64, n);
	} else {
		svf_cell(t, "%s", vs_j_str_or(j, col->how & SVF_BAD ? "" : "-"));
	}
}

void svf_row_add(struct svf_table *t, const struct svf_row *row)
{
	for (size_t i = 0; i < t->list.ncols; i++) {
		const struct svf_col *col = &t->list.cols[i];

		if (col->put)
			col->put(t, row);
		else
			put_key(t, col, row);
	}
}

size_t svf_rows_add(struct svf_table *t, struct vs_j list)
{
	size_t n = vs_j_len(list);

	for (size_t i = 0; i < n; i++)
		svf_row_add(t, &(struct svf_row){ .j = vs_j_at(list, i) });
	return n;
}

size_t svf_print_rows(const struct svf_list *l, const struct svf *s,
		      struct vs_j list)
{
	struct svf_table *t = svf_table_build(l, s);
	size_t n = svf_rows_add(t, list);

	if (n && !list.doc->err.code)
		svf_table_print(t, s && s->no_header);
	svf_table_free(t);
	return n;
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

/* Bytes of the first n columns. */
static int bytes_of(const char *s, int n)
{
	const char *p = s;

	for (; *p && (n > 0 || (*p & 0xc0) == 0x80); p++)
		n -= (*p & 0xc0) != 0x80;
	return (int)(p - s);
}

static void print_cell(const struct svf_pick *pick, const char *text,
		       const char *colour, int wide, bool last)
{
	int pad = wide - width(text), len = (int)strlen(text);

	if (pad < 0) {			/* -O field:width */
		len = bytes_of(text, wide);
		pad = 0;
	}
	if (!pick->right && last)
		pad = 0;
	printf("%*s%s%.*s%s%*s", pick->right ? pad : 0, "", colour, len, text,
	       colour[0] ? "\033[0m" : "", pick->right ? 0 : pad, "");
}

/* widths[i] < 0: this column is left out. */
static void print_row(const struct svf_table *t, char *const *row,
		      const int *widths, bool colour)
{
	size_t last = 0;

	for (size_t i = 0; i < t->npicks; i++)
		if (row[t->picks[i].col][0] && widths[i] >= 0)
			last = i;
	for (size_t i = 0; i <= last; i++) {
		const struct svf_pick *pick = &t->picks[i];
		const char *text = row[pick->col];

		if (widths[i] < 0)
			continue;
		printf("%s", i ? "  " : "");
		print_cell(pick, text, colour ? svf_cell_colour(
			   &t->list.cols[pick->col], text) : "", widths[i],
			   i == last);
	}
	putchar('\n');
}

/* Bytes of the first line of a text that is broken between words, or within a word
 * that is too long. */
static int line_bytes(const char *s, int wide)
{
	int n = bytes_of(s, wide), at = n;

	if (!s[n] || s[n] == ' ')
		return n;
	while (at && s[at - 1] != ' ')
		at--;
	return at ? at - 1 : n;
}

/* The rest of each cell; one that is not wrapped has it on the first line. Returns
 * false if no cell has more. */
static bool line_take(const struct svf_table *t, char **rest, char **line,
		      const int *widths)
{
	bool more = false;

	for (size_t i = 0; i < t->npicks; i++) {
		size_t col = t->picks[i].col;
		int len = t->list.cols[col].how & SVF_WRAP && widths[i] > 0 ?
			line_bytes(rest[col], widths[i]) :
			(int)strlen(rest[col]);

		line[col] = vs_asprintf("%.*s", len, rest[col]);
		rest[col] += len;
		rest[col] += strspn(rest[col], " ");
		more |= rest[col][0] != '\0';
	}
	return more;
}

static void print_wrapped(const struct svf_table *t, char *const *row,
			  const int *widths, bool colour)
{
	size_t n = t->list.ncols;
	VS_FREE char **rest = vs_calloc(n + 1, sizeof(*rest));
	VS_FREE char **line = vs_calloc(n + 1, sizeof(*line));
	bool more = true;

	memcpy(rest, row, n * sizeof(*rest));
	while (more) {
		more = line_take(t, rest, line, widths);
		print_row(t, line, widths, colour);
		for (size_t i = 0; i < n; i++) {
			free(line[i]);
			line[i] = NULL;
		}
	}
}

/* Of a terminal, or 80. */
static int screen_width(void)
{
	const char *env = getenv("COLUMNS");
	int n = env ? (int)strtol(env, NULL, 10) : 0;
	struct winsize w;

	if (n > 0)
		return n;
	return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) &&
		w.ws_col ? w.ws_col : WIDE;
}

/* Makes columns that may be wrapped share what the others leave of the line. */
static void narrow(const struct svf_table *t, int *widths)
{
	int left = screen_width(), n = 0;

	for (size_t i = 0; i < t->npicks; i++) {
		bool wraps = t->list.cols[t->picks[i].col].how & SVF_WRAP;

		if (widths[i] < 0)
			continue;
		left -= (i ? 2 : 0) + (wraps ? 0 : widths[i]);
		n += wraps;
	}
	for (size_t i = 0; i < t->npicks && n; i++) {
		int share = left / n > NARROW ? left / n : NARROW;

		if (t->list.cols[t->picks[i].col].how & SVF_WRAP &&
		    widths[i] > share)
			widths[i] = share;
	}
}

/* Columns of what this site doesn't have. */
static void leave_out(const struct svf_table *t, size_t nrows, int *widths)
{
	for (size_t i = 0; i < t->npicks && !t->chosen; i++) {
		size_t col = t->picks[i].col, row = 0;

		if (!(t->list.cols[col].how & SVF_IF))
			continue;
		while (row < nrows &&
		       !strcmp(t->cells[row * t->list.ncols + col], "-"))
			row++;
		if (row == nrows)
			widths[i] = -1;
	}
}

static void widen(const struct svf_table *t, char *const *row, int *widths)
{
	for (size_t i = 0; i < t->npicks; i++) {
		int w = t->picks[i].width ? t->picks[i].width :
			width(row[t->picks[i].col]);

		if (w > widths[i])
			widths[i] = w;
	}
}

/* Numbers by what they are, all else as `ls -v` does. */
static int by_cells(const void *a, const void *b, void *arg)
{
	char *const *const *x = a, *const *const *y = b;
	const struct svf_table *t = arg;

	for (size_t i = 0; i < t->nsorts; i++) {
		const char *p = (*x)[t->sorts[i].col];
		const char *q = (*y)[t->sorts[i].col];
		char *pend, *qend;
		double u = strtod(p, &pend), v = strtod(q, &qend);
		int rc = pend > p && qend > q && u != v ? (u > v) - (u < v) :
			strverscmp(p, q);

		if (rc)
			return t->sorts[i].down ? -rc : rc;
	}
	return (*x > *y) - (*x < *y);
}

void svf_table_print(const struct svf_table *t, bool no_header)
{
	size_t ncols = t->list.ncols, nrows = ncols ? t->ncells / ncols : 0;
	VS_FREE int *widths = vs_calloc(t->npicks + 1, sizeof(*widths));
	VS_FREE char ***rows = vs_calloc(nrows + 1, sizeof(*rows));
	VS_FREE char **titles = vs_calloc(ncols + 1, sizeof(*titles));

	for (size_t i = 0; i < ncols; i++)
		titles[i] = svf_title(&t->list.cols[i]);
	for (size_t i = 0; i < nrows; i++) {
		rows[i] = &t->cells[i * ncols];
		widen(t, rows[i], widths);
	}
	if (t->nsorts)
		qsort_r(rows, nrows, sizeof(*rows), by_cells, (void *)t);
	if (!no_header)
		widen(t, titles, widths);
	leave_out(t, nrows, widths);
	if (!t->chosen)
		narrow(t, widths);
	if (!no_header)
		print_row(t, titles, widths, false);
	for (size_t i = 0; i < nrows; i++)
		if (t->chosen)
			print_row(t, rows[i], widths, t->colour);
		else
			print_wrapped(t, rows[i], widths, t->colour);
	for (size_t i = 0; i < ncols; i++)
		free(titles[i]);
}

void svf_table_free(struct svf_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->ncells; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t->picks);
	free(t->sorts);
	free(t);
}

const char *svf_clock(int64_t at, const char *form, char out[32])
{
	time_t when = (time_t)at;
	struct tm tm;

	out[0] = '\0';
	if (at > 0 && localtime_r(&when, &tm))
		strftime(out, 32, form, &tm);
	return out;
}

const char *svf_age(int64_t then, char out[16])
{
	out[0] = '\0';
	return then <= 0 ? out : svf_span((int64_t)time(NULL) - then, out);
}

const char *svf_span(int64_t s, char out[16])
{
	if (s < 0)
		s = 0;
	if (s > 999LL * 86400)
		s = 999LL * 86400;
	if (s >= 86400)
		snprintf(out, 16, "%d-%02d:%02d:%02d", (int)(s / 86400),
			 (int)(s / 3600 % 24), (int)(s / 60 % 60),
			 (int)(s % 60));
	else
		snprintf(out, 16, "%02d:%02d:%02d", (int)(s / 3600),
			 (int)(s / 60 % 60), (int)(s % 60));
	return out;
}

char *svf_join(struct vs_j list, const char *between)
{
	char *text = vs_strdup("");

	for (size_t i = 0; i < vs_j_len(list); i++) {
		VS_FREE char *had = text;

		text = vs_asprintf("%s%s%s", had, i ? between : "",
				   vs_j_str(vs_j_at(list, i)));
	}
	return text;
}

char *svf_user(int64_t uid)
{
	const struct passwd *pw = uid < 0 || uid > UINT32_MAX ? NULL :
		getpwuid((uid_t)uid);

	return pw ? vs_strdup(pw->pw_name) :
	       uid < 0 ? vs_strdup("") : vs_asprintf("%lld", (long long)uid);
}

bool svf_column_shown(const struct svf *s, const char *name)
{
	for (int i = 0; i < s->argc; i++)
		if (!strcmp(s->argv[i], name))
			return true;
	return s->argc == 0;
}

int svf_no_such(const char *noun, const char *name)
{
	VS_FREE char *text = vs_strdup(name);

	fprintf(stderr, "svf: no such %s: %s\n", noun, svf_clean(text));
	return SVF_NO;
}

int svf_names_check(const struct svf *s, struct vs_j list, const char *key,
		    const char *noun)
{
	int rc = SVF_OK;

	for (int i = 0; i < s->argc; i++) {
		bool known = false;

		for (size_t k = 0; k < vs_j_len(list) && !known; k++)
			known = !strcmp(s->argv[i], vs_j_str(
				vs_j_get(vs_j_at(list, k), key)));
		if (known)
			continue;
		rc = svf_no_such(noun, s->argv[i]);
	}
	return rc;
}
