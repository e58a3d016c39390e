/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf map --svg: the picture as SVG 1.1, without scripts, fonts or anything
 * from elsewhere. A box per host, a row of squares per PF, a square per VF with
 * its job's colour and letter; hosts flow in columns, so that a thousand of them
 * make a page and not a tape. What is in a name is escaped, and what XML can't
 * hold is a '?'.
 *
 * Squares of one use or job that follow one another are one path and one text,
 * which keeps the file of 1,000 hosts to some hundred kilobytes.
 */
#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "util/mem.h"
#include "util/name.h"

#define SQUARE 11
#define STEP 13
#define ROW_MIN 8		/* VFs side by side */
#define ROW_MAX 16
#define LABEL 46		/* px of a PF's name */
#define LABEL_MAX 7		/* characters of it */
#define NAME_H 18
#define GAP 8
#define MARGIN 20
#define LINE_H 16
#define WIDTH_MIN 1200		/* for remarks of 160 characters */
#define LEGEND_W 330
#define WAITING_MAX 60
#define JOBS_MAX 240
#define REASONS_MAX 60

static const char *const job_fills[TOP_COLOURS] = {
	"#8dd3a0", "#74b3f0", "#ffd25e", "#d39af0", "#5fd0d8", "#ffb074",
	"#b5dc62", "#93b8ff", "#e3b5e8", "#d8cfa0", "#7fc4b0", "#f0a3c0",
};

static const struct { const char *fill, *stroke; } fills[TOP_USES] = {
	[TOP_JOB] = { "#cccccc", "#555555" },
	[TOP_MAKING] = { "#eeeeee", "#555555" },
	[TOP_IDLE] = { "#ffffff", "#2a7a3a" },
	[TOP_HIDDEN] = { "#bbbbbb", "#555555" },
	[TOP_HELD] = { "#eeeeee", "#555555" },
	[TOP_FOREIGN] = { "#777777", "#444444" },
	[TOP_SUSPECT] = { "#e06060", "#802020" },
	[TOP_FREE] = { "#ffffff", "#bbbbbb" },
	[TOP_BARRED] = { "#f4ecd0", "#c0a050" },
	[TOP_QUARANTINED] = { "#f8d8d8", "#c04040" },
	[TOP_UNKNOWN] = { "#ffffff", "#c04040" },
};

struct page {
	FILE *f;
	const struct top_model *m;
	size_t *order;
	const char *domain;		/* that all hosts have, or NULL */
	int row;			/* VFs side by side */
	int box;			/* px of a host with its gap */
	int columns, width;
	size_t waits;
};

/* ---- squares -------------------------------------------------------------------- */

static const char *fill_of(const struct top_model *m, const struct top_cell *c)
{
	return c->job >= 0 && m->jobs[c->job].letter ?
		job_fills[m->jobs[c->job].colour] : fills[c->use].fill;
}

static bool alike(const struct top_cell *a, const struct top_cell *b)
{
	return a->use == b->use && a->job == b->job;
}

static void run_title(const struct page *p, const struct top_pf *pf,
		      const struct top_cell *c, int n)
{
	VS_FREE char *has = top_counts(pf->device ? 0 : n, pf->device ? n : 0);
	const struct top_model *m = p->m;
	FILE *f = p->f;

	fprintf(f, "<title>");
	map_put_text(f, pf->label, 40);
	if (c->job >= 0) {
		VS_FREE char *s = vs_asprintf(": %s of job %s, %s%s", has,
			m->jobs[c->job].id,
			m->jobs[c->job].user,
			c->use == TOP_MAKING ? ", VM not on yet" : "");

		map_put_text(f, s, 120);
	} else {
		fprintf(f, ": %s ", has);
		map_put_text(f, top_uses[c->use].what, 80);
	}
	fputs("</title>", f);
}

/* n cells from the first on, all alike: their squares, then their letters. */
static void run_put(const struct page *p, const struct top_pf *pf, int first,
		    int n, int x, int y)
{
	const struct top_cell *c = &pf->cells[first];
	char text[2] = { top_cell_char(p->m, c), '\0' };
	FILE *f = p->f;

	fprintf(f, "<g class=\"u%d\"%s", c->use,
		c->job >= 0 ? " fill=\"" : "");
	fprintf(f, "%s%s>", c->job >= 0 ? fill_of(p->m, c) : "",
		c->job >= 0 ? "\"" : "");
	run_title(p, pf, c, n);
	fputs("<path d=\"", f);
	for (int i = first; i < first + n; i++)
		fprintf(f, "M%d %dh%dv%dh-%dz", x + i % p->row * STEP,
			y + i / p->row * STEP, SQUARE, SQUARE, SQUARE);
	fputs("\"/>", f);
	for (int i = first; i < first + n && c->use != TOP_FREE;) {
		int row = i / p->row;

		/* not every viewer knows a list of x */
		fprintf(f, "<text class=\"c\" y=\"%d\">", y + row * STEP + 9);
		for (; i < first + n && i / p->row == row; i++) {
			fprintf(f, "<tspan x=\"%d\">",
				x + i % p->row * STEP + SQUARE / 2);
			map_put_text(f, text, 1);
			fputs("</tspan>", f);
		}
		fputs("</text>", f);
	}
	fputs("</g>\n", f);
}

static int pf_height(const struct page *p, const struct top_pf *pf)
{
	int rows = (pf->ncells + p->row - 1) / p->row;

	return (rows ? rows : 1) * STEP + 2;
}

static void pf_svg(const struct page *p, const struct top_pf *pf, int x, int y)
{
	size_t len = strlen(pf->label);
	VS_FREE char *over = pf->over ? vs_asprintf("%d over", pf->over) : NULL;

	/* of an address its end tells one from another */
	map_text_at(p->f, x, y + 9, over ? "s bad" : "s", over ? over :
		    len > LABEL_MAX ? pf->label + len - LABEL_MAX : pf->label,
		    LABEL_MAX);
	for (int i = 0, n; i < pf->ncells; i += n) {
		for (n = 1; i + n < pf->ncells &&
		     alike(&pf->cells[i], &pf->cells[i + n]); n++)
			;
		run_put(p, pf, i, n, x + LABEL, y);
	}
}

/* ---- a host ---------------------------------------------------------------------- */

static int host_height(const struct page *p, const struct top_host *h)
{
	int n = NAME_H + 6;

	for (int i = 0; i < h->npfs; i++)
		n += pf_height(p, &h->pfs[i]);
	return n;
}

static bool is_bad(const struct top_host *h)
{
	return !strcmp(h->state, "QUARANTINED") ||
	       !strcmp(h->state, "DISCONNECTED") ||
	       !strcmp(h->state, "UNKNOWN");
}

static void host_title(FILE *f, const struct top_host *h)
{
	fputs("<title>", f);
	map_put_text(f, h->name, 100);
	fputs(": ", f);
	map_put_text(f, h->state, 40);
	if (h->reason[0]) {
		fputs(", ", f);
		map_put_text(f, h->reason, 400);
	}
	fputs("</title>", f);
}

static void host_svg(const struct page *p, const struct top_host *h, int x,
		     int y)
{
	const char *kind = is_bad(h) ? "bad" : h->trouble ? "warn" : "ok";
	VS_FREE char *class = vs_asprintf("e %s", kind);
	VS_FREE char *state = h->trouble ? vs_strdup(h->state) :
		vs_asprintf("%d/%d free", h->free, h->total);
	size_t len = strlen(h->name) - (p->domain ? strlen(p->domain) : 0);
	VS_FREE char *name = vs_asprintf("%.*s", (int)len, h->name);
	int at = y + NAME_H + 2;

	fputs("<g>", p->f);
	host_title(p->f, h);
	fprintf(p->f, "<rect class=\"host %s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></g>\n",
		kind, x, y, p->box - GAP, host_height(p, h));
	map_text_at(p->f, x + 5, y + 13, "h", name,
		    (p->box - 20 - 6 * (int)strlen(state)) / 7);
	map_text_at(p->f, x + p->box - GAP - 5, y + 13, class, state, 22);
	for (int i = 0; i < h->npfs; i++) {
		pf_svg(p, &h->pfs[i], x + 5, at);
		at += pf_height(p, &h->pfs[i]);
	}
}

/* ---- the page -------------------------------------------------------------------- */

/* As many columns as make a page about four units wide for three high. */
static void shape(struct page *p)
{
	int64_t high = 0;
	int n;

	p->row = ROW_MIN;
	for (size_t i = 0; i < p->m->nhosts; i++)
		for (int k = 0; k < p->m->hosts[i].npfs; k++)
			if (p->m->hosts[i].pfs[k].ncells > p->row)
				p->row = ROW_MAX;
	p->box = LABEL + p->row * STEP + 20;
	n = (WIDTH_MIN - 2 * MARGIN) / p->box;
	for (size_t i = 0; i < p->m->nhosts; i++)
		high += host_height(p, &p->m->hosts[i]) + GAP;
	while (n < 60 && (int64_t)n * n * p->box * 3 < high * 4)
		n++;
	p->columns = n;
	p->width = n * p->box + 2 * MARGIN - GAP;
	if (p->width < WIDTH_MIN)
		p->width = WIDTH_MIN;
}

static size_t cluster_end(const struct page *p, size_t from)
{
	const struct top_host *h = p->m->hosts;
	size_t i = from;

	while (i < p->m->nhosts && !strcmp(h[p->order[i]].cluster,
					   h[p->order[from]].cluster))
		i++;
	return i;
}

/* Hosts of a cluster, row by row; draw is false to learn how high it is. */
static int cluster_rows(const struct page *p, size_t from, size_t to, int y,
			bool draw)
{
	for (size_t i = from; i < to; i += (size_t)p->columns) {
		int high = 0;

		for (size_t k = i; k < to && k < i + (size_t)p->columns; k++) {
			const struct top_host *h = &p->m->hosts[p->order[k]];

			if (draw)
				host_svg(p, h, MARGIN + (int)(k - i) * p->box,
					 y);
			if (host_height(p, h) > high)
				high = host_height(p, h);
		}
		y += high + GAP;
	}
	return y;
}

static int clusters_svg(const struct page *p, int y, bool draw)
{
	for (size_t i = 0, end; i < p->m->nhosts; i = end) {
		const char *name = p->m->hosts[p->order[i]].cluster;
		VS_FREE char *title = NULL;

		end = cluster_end(p, i);
		title = vs_asprintf("%s%s, %zu host%s%s%s", name[0] ?
				    "cluster " : "hosts of no known cluster",
				    name, end - i, vs_plural(end - i),
				    p->domain ? " of " : "",
				    p->domain ? p->domain + 1 : "");
		y += LINE_H + 4;
		if (draw)
			map_text_at(p->f, MARGIN, y, "t", title, 80);
		y = cluster_rows(p, i, end, y + GAP, draw) + 4;
	}
	return y;
}

/* ---- what stands below it ----------------------------------------------------------- */

/* n items in columns; returns the y after them. */
typedef void item_fn(const struct page *p, size_t i, int x, int y);

static int items_svg(const struct page *p, size_t n, int width, int y,
		     bool draw, item_fn *put)
{
	size_t columns = (size_t)((p->width - 2 * MARGIN) / width);
	size_t rows;

	columns = columns ? columns : 1;
	rows = (n + columns - 1) / columns;
	for (size_t i = 0; draw && i < n; i++)
		put(p, i, MARGIN + (int)(i / rows) * width,
		    y + (int)(i % rows) * LINE_H);
	return y + (int)rows * LINE_H;
}

static void square(const struct page *p, int x, int y, const char *class,
		   const char *fill, char sign)
{
	char text[2] = { sign, '\0' };

	fprintf(p->f, "<g class=\"%s\" fill=\"%s\"><path d=\"M%d %dh%dv%dh-%dz\"/><text class=\"c\" x=\"%d\" y=\"%d\">",
		class, fill, x, y - 9, SQUARE, SQUARE, SQUARE,
		x + SQUARE / 2, y);
	map_put_text(p->f, text, 1);
	fputs("</text></g>", p->f);
}

static void use_item(const struct page *p, size_t i, int x, int y)
{
	char class[8];

	snprintf(class, sizeof(class), "u%zu", i);
	square(p, x, y, class, fills[i].fill, i == TOP_FREE ? ' ' : top_uses[i].ch);
	map_text_at(p->f, x + STEP + 5, y, "l", top_uses[i].what, 70);
}

static const struct top_job *nth(const struct page *p, bool waits, size_t n)
{
	for (size_t i = 0; i < p->m->njobs; i++)
		if (p->m->jobs[i].waits == waits && !n--)
			return &p->m->jobs[i];
	return NULL;
}

static void job_item(const struct page *p, size_t i, int x, int y)
{
	const struct top_job *j = nth(p, false, i);
	VS_FREE char *has = top_counts(j->vfs, j->devices);
	VS_FREE char *text = vs_asprintf("%s  %s  %s  %s, %s%s", j->id,
		j->user, j->partition, j->state, has,
		j->making ? ", more to come" : "");

	if (j->letter)
		square(p, x, y, "u0", job_fills[j->colour], j->letter);
	map_text_at(p->f, x + STEP + 5, y, "l", text, 48);
}

static void waiting_item(const struct page *p, size_t i, int x, int y)
{
	const struct top_job *j = nth(p, true, i);
	VS_FREE char *text = NULL;
	char when[32];

	svf_clock(j->expected, "expected %Y-%m-%dT%H:%M", when);
	text = vs_asprintf("%s  %s  %s  %s  %s", j->id, j->user, j->partition,
			   when[0] ? when : "no time known", j->text);
	map_text_at(p->f, x, y, "l", text, 160);
}

static size_t trouble_next(const struct page *p, size_t i)
{
	while (i < p->m->nhosts && !p->m->hosts[p->order[i]].reason[0])
		i++;
	return i;
}

static void reason_item(const struct page *p, size_t n, int x, int y)
{
	size_t i = trouble_next(p, 0);
	VS_FREE char *text = NULL;
	const struct top_host *h;

	while (n--)
		i = trouble_next(p, i + 1);
	h = &p->m->hosts[p->order[i]];
	text = vs_asprintf("%s  %s  %s", h->name, h->state, h->reason);
	map_text_at(p->f, x, y, is_bad(h) ? "l bad" : "l", text, 160);
}

static int list_svg(const struct page *p, const char *title, size_t n,
		    size_t most, int width, int y, bool draw, item_fn *put)
{
	VS_FREE char *head = n > most ?
		vs_asprintf("%s (%zu, the first %zu)", title, n, most) :
		vs_strdup(title);

	if (!n)
		return y;
	y += LINE_H + 6;
	if (draw)
		map_text_at(p->f, MARGIN, y, "t", head, 100);
	return items_svg(p, n > most ? most : n, width, y + LINE_H + 2, draw,
			 put);
}

static int below_svg(const struct page *p, int y, bool draw)
{
	size_t nreasons = 0;

	for (size_t i = trouble_next(p, 0); i < p->m->nhosts;
	     i = trouble_next(p, i + 1))
		nreasons++;
	y = list_svg(p, "A square is a VF or device:", TOP_USES, TOP_USES, LEGEND_W, y,
		     draw, use_item);
	y = list_svg(p, "Jobs with VFs", p->m->njobs - p->waits, JOBS_MAX,
		     LEGEND_W, y, draw, job_item);
	y = list_svg(p, "Jobs that wait", p->waits, WAITING_MAX,
		     p->width - 2 * MARGIN, y, draw, waiting_item);
	return list_svg(p, "Hosts with a remark", nreasons, REASONS_MAX,
			p->width - 2 * MARGIN, y, draw, reason_item);
}

/* ---- the file ----------------------------------------------------------------------- */

static const char style[] =
"text{font-family:DejaVu Sans,Verdana,sans-serif;fill:#222}"
".T{font-size:18px;font-weight:bold}.t{font-size:13px;font-weight:bold}"
".l{font-size:11px}.h{font-size:11px;font-weight:bold}.s{font-size:9px}"
".e{font-size:10px;text-anchor:end}"
".c{font-size:9px;text-anchor:middle;font-weight:bold}"
".bad{fill:#b01818}.warn{fill:#8a6200}"
".host{fill:#fafafa;stroke:#999}"
".host.warn{fill:#fdf7e4;stroke:#a07800;stroke-width:2;stroke-dasharray:6 3}"
".host.bad{fill:#fdeeee;stroke:#b01818;stroke-width:2.5}"
/* dark squares, light letters */
".u5 text{fill:#fff}.u6 text{fill:#fff}"
/* not on yet: a frame that isn't closed */
".u1 path,.u4 path{stroke-dasharray:3 2}";

static void begin_svg(const struct page *p, int height)
{
	fprintf(p->f, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" xml:space=\"preserve\">\n<title>",
		p->width, height, p->width, height);
	map_put_text(p->f, p->m->site, 100);
	fprintf(p->f, "</title>\n<style>%s", style);
	for (int i = 0; i < TOP_USES; i++)
		fprintf(p->f, i <= TOP_MAKING ? ".u%d path{stroke:%s}" :
			".u%d path{stroke:%s;fill:%s}", i, fills[i].stroke,
			fills[i].fill);
	fprintf(p->f, "</style>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
		p->width, height);
}

static int head_svg(const struct page *p)
{
	const struct top_engine *e = &p->m->engine;
	struct top_lines sums = { 0 };
	VS_FREE char *link = vs_asprintf("vCenter %s%s%s%s%s", e->vcenter,
		e->vcenter[0] ? " " : "", e->up ? "up" : "DOWN", e->error[0] ? ": " : "", e->error);
	VS_FREE char *line = NULL;
	char day[32];

	svf_clock(p->m->at, "%Y-%m-%d %H:%M:%S %Z", day);
	map_text_at(p->f, MARGIN, 30, "T", p->m->site, 80);
	map_text_at(p->f, p->width - MARGIN, 30, "e", day, 40);
	map_text_at(p->f, MARGIN, 48, e->up ? "l" : "l bad", link, 150);
	top_sum_lines(p->m, &sums);
	line = vs_calloc((size_t)sums.l[0].n + 1, 1);
	for (int i = 0; i < sums.l[0].n; i++)
		line[i] = (char)sums.l[0].g[i].ch;	/* numbers and our words */
	map_text_at(p->f, MARGIN, 64, "l", line, 200);
	top_lines_free(&sums);
	return 70;
}

void map_svg(const struct top_model *m, FILE *f)
{
	VS_FREE size_t *order = top_order_of(m, TOP_BY_NAME);
	struct page p = { .f = f, .m = m, .order = order,
			  .domain = top_domain(m) };
	int y;

	for (size_t i = 0; i < m->njobs; i++)
		p.waits += m->jobs[i].waits;
	shape(&p);
	begin_svg(&p, below_svg(&p, clusters_svg(&p, 70, false), false) +
		  MARGIN);
	y = clusters_svg(&p, head_svg(&p), true);
	below_svg(&p, y, true);
	fputs("</svg>\n", f);
}
