/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands beside the hosts: the engine and its link to vCenter, what all
 * VFs are used for, the jobs that wait for VFs and those that have some, and
 * what the signs mean.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "top.h"
#include "util/mem.h"
#include "util/name.h"

/* ---- fields that flow over lines --------------------------------------------- */

struct flow { struct top_lines *out; struct top_line *l; };

static void field(struct flow *f, int style, char *text_take)
{
	VS_FREE char *text = text_take;
	int room = f->out->width;

	if (!f->l || (f->l->n && room > 0 &&
		      f->l->n + 3 + top_width(text) > room))
		f->l = top_line_new(f->out);
	else
		top_put(f->l, TOP_PLAIN, "   ");
	top_put(f->l, style, "%s", text);
}

static const char *ago(int64_t then, int64_t now, char out[16])
{
	out[0] = '\0';
	return then <= 0 || now < then ? out : svf_span(now - then, out);
}

static void link_field(struct flow *f, const struct top_engine *e, int64_t now)
{
	char age[16];

	ago(e->since, now, age);
	field(f, e->up ? TOP_PLAIN : TOP_BAD,
	      vs_asprintf("vCenter %s%s%s", e->up ? "up" : "DOWN",
			  age[0] ? " for " : "", age));
}

static void calls_fields(struct flow *f, const struct top_engine *e)
{
	if (e->in_flight >= 0)
		field(f, e->in_flight ? TOP_HEAD : TOP_PLAIN,
		      vs_asprintf("%" PRId64 " operation%s in flight",
				  e->in_flight, vs_plural((uint64_t)e->in_flight)));
	if (e->calls >= 0)
		field(f, TOP_PLAIN, vs_asprintf(
			"%" PRId64 " call%s, %" PRId64 " changing", e->calls,
			vs_plural((uint64_t)e->calls),
			e->mutating < 0 ? 0 : e->mutating));
	if (e->starts >= 0)
		field(f, TOP_PLAIN, vs_asprintf("%" PRId64 " VM start%s",
			e->starts, vs_plural((uint64_t)e->starts)));
	if (e->failures >= 0)
		field(f, e->failures ? TOP_WARN : TOP_PLAIN,
		      vs_asprintf("%" PRId64 " failure%s", e->failures,
				  vs_plural((uint64_t)e->failures)));
}

static void vms_fields(struct flow *f, const struct top_engine *e)
{
	if (e->on >= 0)
		field(f, TOP_PLAIN, vs_asprintf(
			"VMs %" PRId64 " on, %" PRId64 " off", e->on,
			e->off < 0 ? 0 : e->off));
	if (e->suspect > 0)
		field(f, TOP_WARN, vs_asprintf("%" PRId64 " unverified VM%s",
			e->suspect, vs_plural((uint64_t)e->suspect)));
	if (e->clones_max > 0)
		field(f, e->clones_hour >= e->clones_max ? TOP_WARN : TOP_PLAIN,
		      vs_asprintf("%" PRId64 " of %" PRId64 " VMs made this hour",
				  e->clones_hour, e->clones_max));
}

void top_engine_lines(const struct top_model *m, int64_t now, int notes,
		      struct top_lines *out)
{
	const struct top_engine *e = &m->engine;
	struct flow f = { .out = out };

	link_field(&f, e, now);
	if (e->mode[0] && strcmp(e->mode, "manage"))
		field(&f, TOP_WARN, vs_asprintf("mode %s", e->mode));
	calls_fields(&f, e);
	vms_fields(&f, e);
	if (e->brake)
		field(&f, TOP_BAD, vs_strdup("removal limit reached: see svf reconcile"));
	if (!e->up && e->error[0])
		top_wrap(out, TOP_BAD, 0, 2, e->error);
	for (size_t i = 0; i < m->nnotes && i < 3; i++)
		if (e->up || strcmp(m->notes[i], e->error) != 0)
			top_wrap(out, TOP_WARN, 0, notes, m->notes[i]);
}

static char *counted(int n, const char *what)
{
	return vs_asprintf("%d %s%s", n, what, vs_plural((uint64_t)n));
}

char *top_counts(int vfs, int devices)
{
	VS_FREE char *v = counted(vfs, "VF"), *d = counted(devices, "device");

	return vs_asprintf("%s%s%s", vfs || !devices ? v : "",
			   vfs && devices ? ", " : "", devices ? d : "");
}

/* "128 VFs: 12 job, 3 coming, 113 free" */
void top_sum_lines(const struct top_model *m, struct top_lines *out)
{
	static const unsigned char shown[] = { TOP_JOB, TOP_MAKING, TOP_IDLE,
		TOP_HIDDEN, TOP_HELD, TOP_FOREIGN, TOP_SUSPECT, TOP_FREE,
		TOP_BARRED, TOP_QUARANTINED, TOP_UNKNOWN };
	struct flow f = { .out = out };
	VS_FREE char *all = NULL;
	int total = 0, devices = 0;
	size_t troubled = 0;

	for (size_t i = 0; i < m->nhosts; i++) {
		total += m->hosts[i].total;
		devices += m->hosts[i].devices;
		troubled += m->hosts[i].trouble > 0;
	}
	field(&f, TOP_HEAD, vs_asprintf("%zu host%s", m->nhosts,
					vs_plural(m->nhosts)));
	if (troubled)
		field(&f, TOP_WARN, vs_asprintf("%zu not up", troubled));
	all = top_counts(total - devices, devices);
	field(&f, TOP_HEAD, vs_asprintf("%s:", all));
	for (size_t i = 0; i < VS_COUNT(shown); i++)
		if (m->uses[shown[i]])
			field(&f, TOP_PLAIN, vs_asprintf(
				"%d %s", m->uses[shown[i]],
				shown[i] == TOP_JOB ? "of jobs" :
				top_uses[shown[i]].brief));
}

/* ---- jobs --------------------------------------------------------------------- */

static void job_who(struct top_line *l, const struct top_job *j, int mark)
{
	top_put(l, TOP_HEAD | mark, "%-8s", j->id);
	top_put(l, TOP_PLAIN | mark, " %-8s %-8s", j->user, j->partition);
}

/* "  4712  bob  roce  14:30  needs 4 sriov-roce VFs, 3 free" */
static void waiting_put(struct top_lines *out, const struct top_view *v,
			const struct top_job *j, int mark)
{
	char day[32], clock[32], today[32];
	struct top_line *l = top_line_new(out);

	svf_clock(j->expected, "%Y-%m-%d", day);
	svf_clock(v ? v->now : 0, "%Y-%m-%d", today);
	svf_clock(j->expected, v && !strcmp(day, today) ? "%H:%M" :
		  "%m-%dT%H:%M", clock);
	top_put(l, TOP_PLAIN, "  ");
	job_who(l, j, mark);
	top_put(l, TOP_PLAIN, "  %s%s", clock[0] ? "expected " : "",
		clock[0] ? clock : "no time known");
	if (!j->text[0] && j->need)
		top_put(l, TOP_PLAIN, "  needs %d node%s", j->need,
			vs_plural((uint64_t)j->need));
	if (l->max - l->n >= 2 + top_width(j->text))
		top_put(l, TOP_WARN, "  %s", j->text);
	else
		top_wrap(out, TOP_WARN, 4, 2, j->text);
}

/* "A 4711  alice  roce  RUNNING  4 VFs  2 making: clone 12s" */
static void having_put(struct top_lines *out, const struct top_view *v,
		       const struct top_job *j, int mark)
{
	VS_FREE char *has = top_counts(j->vfs, j->devices);
	struct top_line *l = top_line_new(out);
	char age[16];

	top_put(l, j->letter ? (TOP_JOB0 + j->colour) | mark : TOP_PLAIN, "%c",
		j->letter ? j->letter : ' ');
	top_put(l, TOP_PLAIN, " ");
	job_who(l, j, mark);
	top_put(l, TOP_PLAIN, "  %-9s %s", j->state, has);
	if (!j->making)
		return;
	ago(j->since, v ? v->now : 0, age);
	top_put(l, TOP_WARN, "  %d node%s to come: %s%s%s", j->making,
		vs_plural((uint64_t)j->making), j->phase, age[0] ? " " : "", age);
}

void top_job_lines(const struct top_model *m, const struct top_view *v,
		   struct top_lines *out)
{
	size_t waits = 0;

	for (size_t i = 0; i < m->njobs; i++)
		waits += m->jobs[i].waits;
	top_put(top_line_new(out), TOP_HEAD, "QUEUE: %zu job%s waiting",
		waits, vs_plural(waits));
	for (size_t i = 0; i < m->njobs; i++)
		if (m->jobs[i].waits)
			waiting_put(out, v, &m->jobs[i],
				    top_job_found(v, m, (int)i) ? TOP_MARK : 0);
	top_put(top_line_new(out), TOP_HEAD, "JOBS WITH VFS: %zu",
		m->njobs - waits);
	for (size_t i = 0; i < m->njobs; i++)
		if (!m->jobs[i].waits)
			having_put(out, v, &m->jobs[i],
				   top_job_found(v, m, (int)i) ? TOP_MARK : 0);
}

/* ---- what the signs mean --------------------------------------------------------- */

/* A job without a letter has the sign of those that may not be seen. */
static int use_shown(const struct top_model *m, const struct top_cell *c)
{
	bool letter = c->job >= 0 && m->jobs[c->job].letter;

	return c->use == TOP_JOB && !letter ? TOP_HIDDEN :
	       c->use == TOP_MAKING && !letter ? TOP_HELD : c->use;
}

static void uses_count(const struct top_model *m, int shown[TOP_USES])
{
	for (size_t i = 0; i < m->nhosts; i++)
		for (int k = 0; k < m->hosts[i].npfs; k++)
			for (int n = 0; n < m->hosts[i].pfs[k].ncells; n++)
				shown[use_shown(m, &m->hosts[i].pfs[k].cells[n])]++;
}

/* "A-Z" for the letters of jobs. */
static char *sign_of(int use)
{
	char ch = top_uses[use].ch;

	return use == TOP_JOB || use == TOP_MAKING ?
		vs_asprintf("%c-%c", ch, ch + 25) : vs_asprintf("%c", ch);
}

void top_legend_lines(const struct top_model *m, bool brief, struct top_lines *out)
{
	struct top_line *l = NULL;
	int shown[TOP_USES] = { 0 };

	uses_count(m, shown);
	if (!brief)
		top_put(top_line_new(out), TOP_HEAD, "SIGNS: each is a VF, or a device that VMs get whole");
	for (int i = 0; i < TOP_USES; i++) {
		VS_FREE char *sign = sign_of(i);
		int len = (int)strlen(sign) + 1 + top_width(top_uses[i].legend);

		if (!shown[i])
			continue;
		if (!brief) {
			l = top_line_new(out);
			top_put(l, TOP_HEAD, "  %-3s  ", sign);
			top_put(l, TOP_PLAIN, "%s", top_uses[i].what);
			continue;
		}
		if (!l || (out->width > 0 && l->n + 2 + len > out->width))
			l = top_line_new(out);
		else
			top_put(l, TOP_PLAIN, "  ");
		top_put(l, TOP_HEAD, "%s ", sign);
		top_put(l, TOP_DIM, "%s", top_uses[i].legend);
	}
}

void top_help_lines(struct top_lines *out)
{
	static const char *const keys[][2] = {
		{ "q", "quit (so does ^C)" },
		{ "up down PgUp PgDn Home End", "scroll hosts, or jobs after Tab" },
		{ "Tab", "the arrows move hosts, or jobs" },
		{ "/", "search: a job's number, a user, a part of a host's name" },
		{ "n  Esc", "the next one; no more" },
		{ "s", "order of hosts: name, trouble, free, used" },
		{ "p", "pause, and on again" },
		{ "space", "ask now" },
		{ "h", "this, and back" },
	};

	top_put(top_line_new(out), TOP_HEAD, "A cell is a VF, or a device that VMs get whole:");
	for (int i = 0; i < TOP_USES; i++) {
		struct top_line *l = top_line_new(out);
		VS_FREE char *sign = sign_of(i);

		top_put(l, TOP_HEAD, "  %-3s  ", sign);
		top_put(l, TOP_PLAIN, "%s", top_uses[i].what);
	}
	top_put(top_line_new(out), TOP_HEAD, "Keys:");
	for (size_t i = 0; i < VS_COUNT(keys); i++) {
		struct top_line *l = top_line_new(out);

		top_put(l, TOP_HEAD, "  %-26s ", keys[i][0]);
		top_put(l, TOP_PLAIN, "%s", keys[i][1]);
	}
}
