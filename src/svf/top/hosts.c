/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hosts x VFs: a host's lines are its name, its state in words, VFs free of all,
 * and each PF with a cell per VF. If a line is too narrow, PFs and cells
 * continue below, and so does the reason why VMs are kept away.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* qsort_r, strverscmp */
#endif
#include <stdlib.h>
#include <string.h>

#include "top.h"
#include "util/mem.h"

#define STATE_WIDTH 13
#define NAME_MAX 24
#define FREE_WIDTH 8

const char *const top_order_names[TOP_ORDERS] = {
	[TOP_BY_NAME] = "name", [TOP_BY_TROUBLE] = "trouble",
	[TOP_BY_FREE] = "free", [TOP_BY_USED] = "used",
};

/* ---- order ---------------------------------------------------------------------- */

struct sorting { const struct top_model *m; enum top_order by; };

static int used(const struct top_host *h)
{
	int n = 0;

	for (int i = 0; i < h->npfs; i++)
		for (int k = 0; k < h->pfs[i].ncells; k++)
			n += h->pfs[i].cells[k].use < TOP_FREE;
	return n;
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct sorting *s = arg;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const struct top_host *x = &s->m->hosts[i], *y = &s->m->hosts[k];
	int c = s->by == TOP_BY_TROUBLE ? y->trouble - x->trouble :
		s->by == TOP_BY_FREE ? y->free - x->free :
		s->by == TOP_BY_USED ? used(y) - used(x) : 0;

	if (!c)
		c = strcmp(x->cluster, y->cluster);
	if (!c)
		c = strverscmp(x->name, y->name);
	return c ? c : i < k ? -1 : i > k;
}

size_t *top_order_of(const struct top_model *m, enum top_order by)
{
	struct sorting s = { .m = m, .by = by };
	size_t *order = vs_calloc(m->nhosts + 1, sizeof(*order));

	for (size_t i = 0; i < m->nhosts; i++)
		order[i] = i;
	qsort_r(order, m->nhosts, sizeof(*order), compare, &s);
	return order;
}

/* ---- names ------------------------------------------------------------------------ */

const char *top_domain(const struct top_model *m)
{
	const char *all = m->nhosts ? strchr(m->hosts[0].name, '.') : NULL;

	for (size_t i = 0; all && i < m->nhosts; i++) {
		const char *dot = strchr(m->hosts[i].name, '.');

		if (!dot || dot == m->hosts[i].name || strcmp(dot, all))
			return NULL;
	}
	/* An address is no name with a domain. */
	return all && strspn(all, ".0123456789") == strlen(all) ? NULL : all;
}

static int short_len(const struct top_host *h, const char *dom)
{
	return (int)(strlen(h->name) - (dom ? strlen(dom) : 0));
}

static int name_width(const struct top_model *m, const char *dom)
{
	int widest = 4;			/* HOST */

	for (size_t i = 0; i < m->nhosts; i++) {
		int n = short_len(&m->hosts[i], dom);

		if (n > widest)
			widest = n;
	}
	return widest > NAME_MAX ? NAME_MAX : widest;
}

/* ---- a host ----------------------------------------------------------------------- */

static int state_style(const struct top_host *h)
{
	return !strcmp(h->state, "UP") ? TOP_PLAIN :
	       !strcmp(h->state, "QUARANTINED") ||
	       !strcmp(h->state, "DISCONNECTED") ||
	       !strcmp(h->state, "UNKNOWN") ? TOP_BAD : TOP_WARN;
}

static const char *state_word(const struct top_host *h)
{
	return !strcmp(h->state, "ENTERING_MAINTENANCE") ? "ENTER_MAINT" :
		h->state;
}

static int cell_style(const struct top_model *m, const struct top_view *v,
		      const struct top_cell *c)
{
	static const unsigned char styles[TOP_USES] = {
		[TOP_IDLE] = TOP_HEAD, [TOP_HIDDEN] = TOP_OTHER,
		[TOP_HELD] = TOP_OTHER, [TOP_FOREIGN] = TOP_OTHER,
		[TOP_SUSPECT] = TOP_BAD, [TOP_FREE] = TOP_PLAIN,
		[TOP_BARRED] = TOP_WARN, [TOP_QUARANTINED] = TOP_BAD,
		[TOP_UNKNOWN] = TOP_BAD,
		[TOP_JOB] = TOP_OTHER, [TOP_MAKING] = TOP_OTHER,
	};
	int mark = top_job_found(v, m, c->job) ? TOP_MARK : 0;

	if (c->job >= 0 && m->jobs[c->job].letter)
		return (TOP_JOB0 + m->jobs[c->job].colour) | mark;
	return styles[c->use] | mark;
}

struct drawing {
	const struct top_model *m;
	const struct top_view *v;
	struct top_lines *out;
	struct top_line *l;
	int indent, of;
};

static void below(struct drawing *d)
{
	d->l = top_line_new(d->out);
	d->l->of = d->of;
	top_pad(d->l, TOP_PLAIN, d->indent);
}

static bool has_room(const struct drawing *d, int n)
{
	return d->l->max - d->l->n >= n;
}

static void pf_put(struct drawing *d, const struct top_pf *p, bool first)
{
	int label = top_width(p->label);
	int whole = (first ? 0 : 2) + label + 1 + p->ncells;

	if (!first && !has_room(d, whole))
		below(d);
	else if (!first)
		top_put(d->l, TOP_PLAIN, "  ");
	top_put(d->l, TOP_DIM, "%s ", p->label);
	for (int i = 0; i < p->ncells; i++) {
		if (!has_room(d, 1)) {
			below(d);
			top_pad(d->l, TOP_PLAIN, d->indent + label + 1);
			if (!has_room(d, 1))	/* nothing fits there */
				return;
		}
		top_char(d->l, cell_style(d->m, d->v, &p->cells[i]),
			 (uint32_t)top_cell_char(d->m, &p->cells[i]));
	}
	if (p->more)
		top_put(d->l, TOP_DIM, " and %d", p->more);
	if (p->over)
		top_put(d->l, TOP_BAD, " %d too many", p->over);
}

static void reason_put(struct drawing *d, const struct top_host *h)
{
	int style = state_style(h);

	if (!h->reason[0])
		return;
	if (!has_room(d, 2 + top_width(h->reason)))
		below(d);
	else
		top_put(d->l, TOP_PLAIN, "  ");
	top_put(d->l, style == TOP_PLAIN ? TOP_WARN : style, "%s", h->reason);
}

void top_host_lines(const struct top_model *m, const struct top_view *v,
		    size_t i, struct top_lines *out)
{
	const struct top_host *h = &m->hosts[i];
	const char *dom = top_domain(m);
	int width = name_width(m, dom), len = short_len(h, dom);
	struct drawing d = { .m = m, .v = v, .out = out, .of = (int)i,
			     .indent = width + 2 + STATE_WIDTH + FREE_WIDTH + 1 };

	d.l = top_line_new(out);
	d.l->of = (int)i;
	/* Where it must be cut, the end tells one from another. */
	top_put(d.l, top_host_found(v, m, h) ? TOP_HEAD | TOP_MARK : TOP_HEAD,
		"%s%.*s", len > width ? "~" : "",
		len > width ? width - 1 : len,
		len > width ? h->name + len - width + 1 : h->name);
	top_pad(d.l, TOP_PLAIN, width + 2);
	top_put(d.l, state_style(h), "%s", state_word(h));
	top_pad(d.l, TOP_PLAIN, width + 2 + STATE_WIDTH);
	top_put(d.l, TOP_PLAIN, "%3d/%-3d", h->free, h->total);
	top_pad(d.l, TOP_PLAIN, d.indent);
	for (int k = 0; k < h->npfs; k++)
		pf_put(&d, &h->pfs[k], !k);
	if (!h->npfs)
		top_put(d.l, TOP_DIM, "no VFs");
	reason_put(&d, h);
}

int top_hosts_width(const struct top_model *m)
{
	int widest = 0, width = name_width(m, top_domain(m)) + 2 +
		STATE_WIDTH + FREE_WIDTH + 1;

	for (size_t i = 0; i < m->nhosts; i++) {
		const struct top_host *h = &m->hosts[i];
		int n = 0;

		for (int k = 0; k < h->npfs; k++)
			n += (k ? 2 : 0) + top_width(h->pfs[k].label) + 1 +
				h->pfs[k].ncells;
		if (n > widest)
			widest = n;
	}
	return width + widest;
}

void top_hosts_head(const struct top_model *m, struct top_lines *out)
{
	int width = name_width(m, top_domain(m));
	struct top_line *l = top_line_new(out);
	bool devices = false;

	for (size_t i = 0; i < m->nhosts; i++)
		devices |= m->hosts[i].devices > 0;
	top_put(l, TOP_HEAD, "HOST");
	top_pad(l, TOP_HEAD, width + 2);
	top_put(l, TOP_HEAD, "STATE");
	top_pad(l, TOP_HEAD, width + 2 + STATE_WIDTH);
	top_put(l, TOP_HEAD, devices ? "FREE/ALL" : "FREE/VFS");
}
