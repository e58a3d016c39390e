/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What suspend.c has to say to Slurm, and what Slurm says of its jobs: by the
 * engine's thread without the lock, for the port takes slurmctld's.
 *
 * Rules: a job is one of ours by its record in slurmctld (port.h), which a
 * restart leaves, and by its VMs as vCenter shows them; those that are found so
 * are gone on with. Slurm hears of suspended VMs' nodes for as long as vCenter
 * shows them suspended, and no longer: then its own verdict on a silent node
 * comes.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/core_i.h"
#include "util/crash.h"
#include "util/mem.h"

#define LOOK_MS 1000
#define KEEP_MS VS_SUSPEND_KEEP_MS
#define FOUND_MAX 256
#define PER_TURN 16		/* words to slurmds */
#define ASK_MS VS_SUSPEND_ASK_MS

/* ---- what Slurm says --------------------------------------------------------------- */

static bool asks_for_it(const struct vs_core *c)
{
	for (size_t i = 0; i < c->nprofiles; i++)
		if (c->profiles[i].preempt_suspend)
			return true;
	return c->suspends.jobs != NULL;
}

/* Some may be left of another vsphere.conf. */
static bool has_some(const struct vs_core *c)
{
	for (size_t i = 0; i < c->nnodes; i++)
		if ((c->nodes[i].flags & VS_NODE_JOB_SUSPENDED) ||
		    c->nodes[i].seen == VS_SEEN_SUSPENDED)
			return true;
	return false;
}

static bool is_time(struct vs_core *c, int64_t now_ms)
{
	int64_t since_ms = now_ms - c->suspends.looked_ms;

	if (!c->ready || (since_ms < LOOK_MS && !c->suspends.look))
		return false;
	c->suspends.look = false;
	if (asks_for_it(c) || (since_ms >= KEEP_MS && has_some(c))) {
		c->suspends.looked_ms = now_ms;
		return true;
	}
	if (since_ms >= KEEP_MS)
		c->suspends.looked_ms = now_ms;
	return false;
}

/* Its job may be one that was suspended before we came: its VM is, or Slurm has
 * a job there that is. */
static bool may_be_found(struct vs_core *c, const struct vs_node *n)
{
	return n->job && !vs_suspend_of(c, n->job) && c->ready &&
	       (n->seen == VS_SEEN_SUSPENDED ||
		(n->flags & VS_NODE_JOB_SUSPENDED));
}

static void found_add(struct vs_port_look *rows, size_t *n, uint32_t job)
{
	for (size_t i = 0; i < *n; i++)
		if (rows[i].job == job)
			return;
	rows[(*n)++] = (struct vs_port_look) { .job = job };
}

/* Those that may be, so many at a time, from where the last look has ended. */
static size_t found_rows(struct vs_core *c, struct vs_port_look *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nnodes && n < FOUND_MAX; i++) {
		const struct vs_node *node;

		if (c->suspends.found_from >= c->nnodes)
			c->suspends.found_from = 0;
		node = &c->nodes[c->suspends.found_from++];
		if (may_be_found(c, node))
			found_add(rows, &n, node->job);
	}
	return n;
}

/* Each that is suspended and, next to it, whom for: npairs of these; then those
 * that may be, nfound. */
static struct vs_port_look *rows_make(struct vs_core *c, size_t *npairs,
				      size_t *nfound)
{
	struct vs_port_look *rows = vs_calloc(2 * vs_suspends_count(c) +
					      FOUND_MAX, sizeof(*rows));
	size_t n = 0;

	VS_EACH_SUSPEND(c, s) {
		rows[n++].job = s->job;
		rows[n++].job = s->for_job;
	}
	*npairs = n / 2;
	*nfound = found_rows(c, rows + n);
	return rows;
}

static bool is_shown_suspended(const struct vs_core *c, uint32_t job)
{
	for (size_t i = 0; i < c->nnodes; i++)
		if (c->nodes[i].job == job &&
		    c->nodes[i].profile->preempt_suspend &&
		    c->nodes[i].seen == VS_SEEN_SUSPENDED)
			return true;
	return false;
}

/* Whether it is to go on is Slurm's word alone. */
static void heed(struct vs_core *c, struct vs_suspend *s,
		 const struct vs_port_look *row)
{
	if (row->is != VS_JOB_RUNNING) {
		vs_suspend_drop(c, s, "runs no more: its VMs aren't resumed");
		return;
	}
	s->held = row->suspended && row->held;
	s->stopped = row->suspended;
	if (s->state == VS_SUSPEND_STOPS || row->suspended)
		return;
	/* whoever has done it: Slurm believes that it runs */
	s->back = true;
}

/* Does it wait for what s has given? The record of an array waits until its last
 * task has begun: any that begins after all is given has had its chance. */
static void heed_other(struct vs_suspend *s, const struct vs_port_look *row)
{
	s->pends = row->is == VS_JOB_PENDING;
	if (s->state < VS_SUSPEND_IS || !s->counted) {
		s->counted = true;
		s->begun = row->begun;
	}
	s->waits = s->pends && row->begun <= s->begun;
}

static void found(struct vs_core *c, const struct vs_port_look *row)
{
	if (row->is != VS_JOB_RUNNING || vs_suspend_of(c, row->job))
		return;
	if (row->suspended && row->ours)
		vs_suspend_found(c, row);
	else if (!row->suspended && is_shown_suspended(c, row->job))
		vs_suspend_found(c, row);
}

static void look(struct vs_core *c, int64_t now_ms)
{
	struct vs_port_look *rows;
	size_t npairs, nfound;

	vs_lock();
	if (!is_time(c, now_ms)) {
		vs_unlock();
		return;
	}
	rows = rows_make(c, &npairs, &nfound);
	vs_unlock();
	if (npairs + nfound)
		c->port->jobs_look(c->port->ctx, rows, 2 * npairs + nfound);
	vs_lock();
	for (size_t i = 0; i < npairs; i++) {
		struct vs_suspend *s = vs_suspend_of(c, rows[2 * i].job);

		if (!s)
			continue;
		heed_other(s, &rows[2 * i + 1]);
		heed(c, s, &rows[2 * i]);
	}
	for (size_t i = 0; i < nfound; i++)
		found(c, &rows[2 * npairs + i]);
	vs_unlock();
	free(rows);
}

/*
 * Once after a start: slurmds may have stopped a job for us just before the last
 * slurmctld was killed, which this one believes running. It is told to go on;
 * whom nobody has stopped does so anyway.
 */
static void go_on(struct vs_core *c)
{
	VS_FREE struct vs_port_look *rows = NULL;
	size_t n = 0;

	vs_lock();
	if (!c->ready || c->observe || c->suspends.continued >= c->nnodes) {
		vs_unlock();
		return;
	}
	rows = vs_calloc(PER_TURN, sizeof(*rows));
	while (c->suspends.continued < c->nnodes && n < PER_TURN) {
		const struct vs_node *node =
			&c->nodes[c->suspends.continued++];

		if (node->profile->preempt_suspend && node->launched &&
		    !(n && rows[n - 1].job == node->job))
			rows[n++].job = node->job;
	}
	vs_unlock();
	if (n)
		c->port->jobs_look(c->port->ctx, rows, n);
	for (size_t i = 0; i < n; i++)
		if (rows[i].is == VS_JOB_RUNNING && !rows[i].suspended)
			c->port->job_continue(c->port->ctx, rows[i].job);
}

/* ---- what it hears ----------------------------------------------------------------- */

struct word {
	uint32_t job, for_job;
	enum vs_suspend_state state;
	int64_t asked_s;
	bool again;			/* asked long ago */
	char **nodes;
	size_t n, cap;
	/* the answer */
	bool ok, asked, answered;
};

static void node_add(struct word *w, const struct vs_node *n)
{
	VS_GROW(w->nodes, w->cap, w->n + 1);
	w->nodes[w->n++] = vs_strdup(n->name);
}

static bool has_a_word(const struct vs_core *c, const struct vs_suspend *s,
		       int64_t now_ms)
{
	bool rests = c->observe || c->blocked[0];

	return vs_suspend_asks_away(c, s, now_ms) ||
	       (s->state == VS_SUSPEND_STOPS && !rests) ||
	       (s->state == VS_SUSPEND_WAKES && !s->held) ||
	       (s->state == VS_SUSPEND_HEEDS && !s->answered);
}

static struct word *words_make(struct vs_core *c, int64_t now_ms, size_t *n)
{
	struct word *words = NULL;
	size_t cap = 0;

	*n = 0;
	VS_EACH_SUSPEND(c, s) {
		struct word *w;

		if (!has_a_word(c, s, now_ms))
			continue;
		VS_GROW(words, cap, *n + 1);
		w = &words[(*n)++];
		*w = (struct word) {
			.job = s->job, .for_job = s->for_job,
			.state = s->state, .asked_s = s->asked_s,
			.again = now_ms - s->asked_ms >= ASK_MS,
		};
		VS_EACH_OF_SUSPEND(c, s, node)
			node_add(w, node);
	}
	return words;
}

static void wake(const struct vs_port *p, struct word *w)
{
	const char *const *nodes = (const char *const *)w->nodes;

	if (!w->n)
		return;		/* nobody's answer is none */
	if (!p->nodes_wake || !p->nodes_answered)
		w->answered = true;
	else if (w->asked_s)
		w->answered = p->nodes_answered(p->ctx, nodes, w->n,
						w->asked_s);
	w->asked = !w->answered && (!w->asked_s || w->again);
	if (w->asked)
		w->asked_s = p->nodes_wake(p->ctx, nodes, w->n, w->asked_s);
}

static void say(const struct vs_port *p, struct word *w)
{
	if (w->state == VS_SUSPEND_STOPS) {
		vs_crash_before("tell", "suspend");
		w->ok = !p->job_suspend(p->ctx, w->job, w->for_job);
		vs_crash_after("tell", "suspend");
		return;
	}
	wake(p, w);
	if (w->state == VS_SUSPEND_WAKES && w->answered) {
		vs_crash_before("tell", "resume");
		w->ok = !p->job_resume(p->ctx, w->job);
		if (!w->ok && p->job_continue)	/* for Slurm it runs */
			p->job_continue(p->ctx, w->job);
		vs_crash_after("tell", "resume");
	}
}

/* Nor is it asked for again at once: its job ends, if that is what is left. */
static void refused(struct vs_core *c, struct vs_suspend *s, int64_t now_ms)
{
	VS_EACH_OF_SUSPEND(c, s, n)
		n->no_suspend_ms = now_ms + VS_SUSPEND_REFUSED_MS;
	vs_suspend_drop(c, s, "isn't suspended: Slurm refuses it");
}

static void said(struct vs_core *c, const struct word *w, int64_t now_ms)
{
	struct vs_suspend *s = vs_suspend_of(c, w->job);

	if (!s || s->state != w->state)
		return;
	if (w->asked)
		s->asked_ms = now_ms;
	s->asked_s = w->asked_s;
	s->answered = w->answered;
	if (s->state == VS_SUSPEND_STOPS && w->ok)
		vs_suspend_state(s, VS_SUSPEND_HEEDS, now_ms);
	else if (s->state == VS_SUSPEND_STOPS)
		refused(c, s, now_ms);
	else if (s->state == VS_SUSPEND_GOES && w->answered)
		vs_suspend_state(s, VS_SUSPEND_WAKES, now_ms);
	if (w->state != VS_SUSPEND_WAKES || !w->answered)
		return;
	/* as when an operator has suspended it just now */
	if (!w->ok && s->stopped) {
		vs_suspend_state(s, VS_SUSPEND_WAKES, now_ms);
		return;
	}
	c->suspends.resumed += w->ok;
	vs_suspend_drop(c, s, w->ok ? "goes on: its VMs are resumed" :
			"has its VMs again");
}

static void word_end(struct word *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->nodes[i]);
	free(w->nodes);
}

/* It is suspended, or nobody can see yet that it isn't: vCenter is away, or the
 * call that changes that is under way, of whichever start. */
static bool is_silent(struct vs_core *c, const struct vs_node *n)
{
	const struct vs_suspend *s = n->job ? vs_suspend_of(c, n->job) : NULL;
	const struct vs_vm *vm = vs_node_vm(c, n);

	if (!s || s->lost || s->state < VS_SUSPEND_GOES ||
	    s->state > VS_SUSPEND_RESUMES)
		return false;
	if (!c->loaded || n->op.kind != VS_OP_NONE)
		return true;
	return vm && vm->power != VS_POWER_ON && vm->power != VS_POWER_OFF;
}

/* The nodes whose silence vCenter explains. */
static void keep(struct vs_core *c, int64_t now_ms)
{
	struct word w = { .n = 0 };
	bool unseen = false;

	vs_lock();
	if (now_ms - c->suspends.kept_ms >= KEEP_MS && asks_for_it(c)) {
		c->suspends.kept_ms = now_ms;
		unseen = !c->ready;
		for (size_t i = 0; i < c->nnodes; i++) {
			if (is_silent(c, &c->nodes[i]))
				node_add(&w, &c->nodes[i]);
		}
	}
	vs_unlock();
	if (unseen && c->port->suspended_unseen)
		c->port->suspended_unseen(c->port->ctx);
	if (w.n && c->port->nodes_suspended)
		c->port->nodes_suspended(c->port->ctx,
					 (const char *const *)w.nodes, w.n);
	word_end(&w);
}

void vs_suspend_say(struct vs_core *c, int64_t now_ms)
{
	struct word *words;
	size_t n = 0;

	if (!c->port->jobs_look || !c->port->job_suspend ||
	    !c->port->job_resume)
		return;
	look(c, now_ms);
	if (c->port->job_continue)
		go_on(c);
	vs_lock();
	vs_suspends_away(c, now_ms);
	words = words_make(c, now_ms, &n);
	vs_unlock();
	for (size_t i = 0; i < n && c->port->active(c->port->ctx); i++)
		say(c->port, &words[i]);
	vs_lock();
	for (size_t i = 0; i < n; i++)
		said(c, &words[i], now_ms);
	vs_unlock();
	for (size_t i = 0; i < n; i++)
		word_end(&words[i]);
	free(words);
	keep(c, now_ms);
}
