/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole screen, and what the keys do to it. Wide screens have the engine
 * and the jobs to the right of the hosts, narrow ones above and below them.
 * Nothing here knows a terminal: what is shown is a matter of the model, the
 * view and the size.
 */
#include <string.h>

#include "top.h"
#include "util/mem.h"

#define ROWS_MIN 10
#define ROWS_LEGEND 18		/* below that the signs have one line */
#define COLS_MIN 40
#define WIDE 130		/* columns from which things stand side by side */
#define SIDE_MAX 76
#define COLUMN_MIN 56		/* of hosts, with some room for reasons */

/* ---- pieces --------------------------------------------------------------------- */

static void copy_glyphs(struct top_line *to, const struct top_line *from)
{
	for (int i = 0; i < from->n; i++)
		top_char(to, from->g[i].style, from->g[i].ch);
}

/* The first line: whose, when, and what isn't as usual. */
static void head_line(const struct top_model *m, const struct top_view *v,
		      struct top_lines *out)
{
	struct top_line *l = top_line_new(out);
	char now[32], since[32];

	svf_clock(v->now, "%H:%M:%S", now);
	top_put(l, TOP_BAR, " svf top  %s  %s  every %d s ", m ? m->site : "",
		now, v->interval);
	if (v->paused) {
		svf_clock(m ? m->at : 0, "%H:%M:%S", since);
		top_put(l, TOP_BAR | TOP_MARK, " PAUSED at %s ", since);
	}
	if (v->away) {
		svf_clock(v->away, "%H:%M:%S", since);
		top_put(l, TOP_BAD | TOP_MARK, " slurmctld is silent since %s ",
			since);
	}
	top_pad(l, TOP_BAR, v->cols);
}

static void foot_line(const struct top_view *v, struct top_lines *out)
{
	struct top_line *l = top_line_new(out);

	if (v->typing)
		top_put(l, TOP_PLAIN, "/%s_", v->search);
	else if (v->said[0])
		top_put(l, TOP_WARN, "%s", v->said);
	else
		top_put(l, TOP_DIM,
			"q quit  / search  s sort: %s  p pause  Tab %s  h help%s%s",
			top_order_names[v->order], v->jobs ? "hosts" : "jobs",
			v->found ? "  n next: " : "",
			v->found ? v->search : "");
}

/* Lines of `from` from the first on, to fill rows. */
static void take_lines(struct top_lines *out, const struct top_lines *from,
		       size_t first, int rows)
{
	for (int i = 0; i < rows; i++) {
		struct top_line *l = top_line_new(out);

		if (first + (size_t)i < from->n) {
			l->of = from->l[first + (size_t)i].of;
			copy_glyphs(l, &from->l[first + (size_t)i]);
		}
	}
}

/* How far down the list may begin for its end to fill so many rows. */
static size_t last_first(const struct top_model *m, const struct top_view *v,
			 const size_t *order, int width, int rows)
{
	size_t at = m->nhosts;
	int used = 0;

	while (at > 0) {
		struct top_lines one = { .width = width };

		top_host_lines(m, v, order[at - 1], &one);
		used += (int)one.n;
		top_lines_free(&one);
		if (used > rows)
			break;
		at--;
	}
	return at < m->nhosts || !at ? at : at - 1;
}

/* Columns of hosts side by side, where they don't all fit below one another. */
static int columns_of(const struct top_model *m, const struct top_view *v,
		      const size_t *order, int width, int rows)
{
	int one = top_hosts_width(m);

	one = one > COLUMN_MIN ? one : COLUMN_MIN;
	return !last_first(m, v, order, width, rows) ? 1 :
		width < one ? 1 : (width + 3) / (one + 3);
}

/* The lines below one another, cut into columns under the head. */
static void put_columns(struct top_lines *out, const struct top_lines *head,
			const struct top_lines *all, int columns, int rows)
{
	for (int i = 0; i < rows; i++) {
		struct top_line *l = top_line_new(out);

		for (int k = 0; k < columns; k++) {
			size_t at = (size_t)(k * (rows - 1) + i) - 1;

			if (k) {
				top_pad(l, TOP_PLAIN, k * (all->width + 3) - 2);
				top_put(l, TOP_DIM, "| ");
			}
			if (!i && (!k || (size_t)(k * (rows - 1)) < all->n))
				copy_glyphs(l, &head->l[k > 0]);
			else if (i && at < all->n)
				copy_glyphs(l, &all->l[at]);
		}
	}
}

static void hosts_part(const struct top_model *m, struct top_view *v,
		       struct top_lines *out, int rows)
{
	VS_FREE size_t *order = top_order_of(m, v->order);
	struct top_lines all = { 0 }, head = { .width = out->width };
	int columns, room;
	size_t last;

	if (rows < 2) {
		take_lines(out, &all, 0, rows);
		return;
	}
	columns = columns_of(m, v, order, out->width, rows - 1);
	room = (rows - 1) * columns;
	all.width = (out->width - 3 * (columns - 1)) / columns;
	last = last_first(m, v, order, all.width, room);
	if (v->at > last)
		v->at = last;
	v->page = 0;
	for (size_t i = v->at; i < m->nhosts && all.n < (size_t)room; i++) {
		top_host_lines(m, v, order[i], &all);
		v->page += all.n <= (size_t)room;
	}
	head.width = all.width;
	top_hosts_head(m, &head);
	top_hosts_head(m, &head);
	if (last)
		top_put(&head.l[0], TOP_DIM, " %zu-%zu of %zu",
			v->at + 1, v->at + v->page, m->nhosts);
	put_columns(out, &head, &all, columns, rows);
	top_lines_free(&all);
	top_lines_free(&head);
}

/* The lines of all hosts and their head, at most so many. */
static int hosts_need(const struct top_model *m, const struct top_view *v,
		      int most)
{
	VS_FREE size_t *order = top_order_of(m, v->order);
	struct top_lines all = { .width = v->cols };
	int n;

	for (size_t i = 0; i < m->nhosts && (int)all.n < most; i++)
		top_host_lines(m, v, order[i], &all);
	n = (int)all.n + 1;
	top_lines_free(&all);
	return n < most ? n : most;
}

static void jobs_part(const struct top_model *m, struct top_view *v,
		      struct top_lines *out, int rows)
{
	struct top_lines all = { .width = out->width };

	top_job_lines(m, v, &all);
	v->jobs_page = rows > 1 ? (size_t)rows - 1 : 1;
	v->jobs_max = all.n > (size_t)rows ? all.n - (size_t)rows : 0;
	if (v->jobs_at > v->jobs_max)
		v->jobs_at = v->jobs_max;
	if (v->jobs_at < v->jobs_max && rows > 1) {
		take_lines(out, &all, v->jobs_at, rows - 1);
		top_put(top_line_new(out), TOP_DIM, "... %zu more lines (Tab)",
			all.n - v->jobs_at - (size_t)rows + 1);
	} else {
		take_lines(out, &all, v->jobs_at, rows);
	}
	top_lines_free(&all);
}

static void rule(struct top_lines *out, int width)
{
	top_pad(top_line_new(out), TOP_DIM, width);
	for (int i = 0; i < width && i < out->l[out->n - 1].n; i++)
		out->l[out->n - 1].g[i].ch = '-';
}

/* ---- the two ways to set it ------------------------------------------------------ */

static void draw_narrow(const struct top_model *m, struct top_view *v,
			struct top_lines *out, int rows)
{
	struct top_lines head = { .width = v->cols }, jobs = { .width = v->cols };
	int njobs, nhead;

	top_engine_lines(m, v->now, rows > 30 ? 2 : 1, &head);
	top_sum_lines(m, &head);
	nhead = (int)head.n > rows / 3 ? rows / 3 : (int)head.n;
	take_lines(out, &head, 0, nhead);
	rows -= nhead + 1;
	top_job_lines(m, v, &jobs);
	njobs = rows - hosts_need(m, v, rows);
	if (njobs < rows * 2 / 5)
		njobs = rows * 2 / 5;
	if (njobs > (int)jobs.n)
		njobs = (int)jobs.n;
	hosts_part(m, v, out, rows - njobs);
	rule(out, v->cols);
	jobs_part(m, v, out, njobs);
	top_lines_free(&head);
	top_lines_free(&jobs);
}

static void draw_wide(const struct top_model *m, struct top_view *v,
		      struct top_lines *out, int rows)
{
	int side = v->cols * 2 / 5 > SIDE_MAX ? SIDE_MAX : v->cols * 2 / 5;
	int main_width = v->cols - side - 3;
	struct top_lines left = { .width = main_width };
	struct top_lines right = { .width = side };

	top_sum_lines(m, &left);
	top_lines_cut(&left, 3);
	hosts_part(m, v, &left, rows - (int)left.n);
	top_put(top_line_new(&right), TOP_HEAD, "ENGINE");
	top_engine_lines(m, v->now, 3, &right);
	top_lines_cut(&right, (size_t)(rows / 2));
	top_line_new(&right);
	jobs_part(m, v, &right, rows - (int)right.n);
	for (int i = 0; i < rows; i++) {
		struct top_line *l = top_line_new(out);

		l->of = left.l[i].of;
		copy_glyphs(l, &left.l[i]);
		top_pad(l, TOP_PLAIN, main_width + 1);
		top_put(l, TOP_DIM, "| ");
		copy_glyphs(l, &right.l[i]);
	}
	top_lines_free(&left);
	top_lines_free(&right);
}

static void fill(struct top_lines *out, int rows)
{
	while (out->n < (size_t)rows)
		top_line_new(out);
}

/* The signs that are shown are explained below it. */
static void picture(const struct top_model *m, struct top_view *v,
		    struct top_lines *out)
{
	struct top_lines legend = { .width = v->cols };
	int rows;

	top_legend_lines(m, true, &legend);
	top_lines_cut(&legend, v->rows < ROWS_LEGEND ? 1 : (size_t)v->rows / 6);
	rows = v->rows - (int)out->n - 1 - (int)legend.n;
	if (v->cols >= WIDE)
		draw_wide(m, v, out, rows);
	else
		draw_narrow(m, v, out, rows);
	take_lines(out, &legend, 0, (int)legend.n);
	top_lines_free(&legend);
}

void top_draw(const struct top_model *m, struct top_view *v,
	      struct top_lines *out)
{
	out->width = v->cols;
	if (v->rows < ROWS_MIN || v->cols < COLS_MIN) {
		if (v->rows > 0)
			top_wrap(out, TOP_PLAIN, 0, v->rows, "terminal too small:");
		if (v->rows > 1)
			top_put(top_line_new(out), TOP_PLAIN,
				"%dx%d, needs %dx%d", v->cols, v->rows,
				COLS_MIN, ROWS_MIN);
		top_lines_cut(out, v->rows > 0 ? (size_t)v->rows : 0);
		fill(out, v->rows);
		return;
	}
	head_line(m, v, out);
	if (v->away && v->error[0])
		top_wrap(out, TOP_BAD, 0, 2, v->error);
	if (v->help) {
		top_help_lines(out);
	} else if (!m) {
		top_put(top_line_new(out), TOP_PLAIN, "slurmctld is asked ...");
	} else {
		picture(m, v, out);
	}
	top_lines_cut(out, (size_t)v->rows - 1);
	fill(out, v->rows - 1);
	foot_line(v, out);
}

/* ---- keys ------------------------------------------------------------------------- */

static void move_to(size_t *at, long to, size_t max)
{
	*at = to < 0 ? 0 : (size_t)to > max ? max : (size_t)to;
}

/* The drawing sees to it that no more is passed than there is. */
static bool key_moves(const struct top_model *m, struct top_view *v,
		      uint32_t key)
{
	size_t *at = v->jobs ? &v->jobs_at : &v->at;
	size_t max = v->jobs ? v->jobs_max : m && m->nhosts ? m->nhosts - 1 : 0;
	long page = (long)(v->jobs ? v->jobs_page : v->page);
	long now = (long)*at;

	page = page > 0 ? page : 1;
	switch (key) {
	case TOP_KEY_UP:
		move_to(at, now - 1, max);
		return true;
	case TOP_KEY_DOWN:
		move_to(at, now + 1, max);
		return true;
	case TOP_KEY_PGUP:
		move_to(at, now - page, max);
		return true;
	case TOP_KEY_PGDN:
		move_to(at, now + page, max);
		return true;
	case TOP_KEY_HOME:
		*at = 0;
		return true;
	case TOP_KEY_END:
		*at = max;
		return true;
	default:
		return false;
	}
}

static void find_next(const struct top_model *m, struct top_view *v,
		      size_t from)
{
	VS_FREE size_t *order = m ? top_order_of(m, v->order) : NULL;
	bool job = false;
	long at;

	if (!m || !v->search[0])
		return;
	v->found = true;
	at = m->nhosts ? top_find(v, m, order, from) : -1;
	for (size_t i = 0; i < m->njobs; i++)
		job |= top_job_found(v, m, (int)i);
	if (at >= 0) {
		v->at = (size_t)at;
	} else if (!job) {
		v->found = false;
		snprintf(v->said, sizeof(v->said),
			 "no host, job or user with VFs is named '%s'",
			 v->search);
	}
}

static void key_typed(const struct top_model *m, struct top_view *v,
		      uint32_t key)
{
	size_t len = strlen(v->search);

	if (key == '\n' || key == '\r') {
		v->typing = false;
		/* from the first on */
		find_next(m, v, m && m->nhosts ? m->nhosts - 1 : 0);
	} else if (key == 27) {
		v->typing = false;
		v->search[0] = '\0';
	} else if (key == TOP_KEY_BACK) {
		if (len)
			v->search[len - 1] = '\0';
	} else if (key > ' ' && key < 0x7f && len + 1 < sizeof(v->search)) {
		v->search[len] = (char)key;
		v->search[len + 1] = '\0';
	}
}

static enum top_did key_letter(const struct top_model *m, struct top_view *v,
			       uint32_t key)
{
	switch (key) {
	case 'q':
		return TOP_DID_QUIT;
	case 'h':
	case '?':
		v->help = !v->help;
		break;
	case 27:
		v->help = v->found = false;
		v->search[0] = '\0';
		break;
	case 's':
		v->order = (v->order + 1) % TOP_ORDERS;
		v->at = 0;
		break;
	case 'p':
		v->paused = !v->paused;
		return v->paused ? TOP_DID : TOP_DID_ASK;
	case ' ':
		return TOP_DID_ASK;
	case '\t':
		v->jobs = !v->jobs;
		break;
	case '/':
		v->typing = true;
		v->found = v->help = false;
		v->search[0] = '\0';
		break;
	case 'n':
		find_next(m, v, v->at);
		break;
	default:
		break;
	}
	return TOP_DID;
}

enum top_did top_key(const struct top_model *m, struct top_view *v,
		     uint32_t key)
{
	v->said[0] = '\0';
	if (v->typing) {
		key_typed(m, v, key);
		return TOP_DID;
	}
	return key_moves(m, v, key) ? TOP_DID : key_letter(m, v, key);
}
