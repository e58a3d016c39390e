/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suspend as a preemption action. A job that lacks room on hosts would have it
 * if the VMs of another job, of a lower one, were off (victims.c). Where that
 * one's partition says Preempt=suspend and its VMs may be suspended (door.c) they
 * are, with the job in them: the memory goes into a file, and what the VMs had of
 * their hosts is free. They go on, where they were, when the job they made room
 * for waits no more and there is room on their hosts again.
 *
 * Rules: by job, all its VMs or none; Slurm stops the job first and starts it
 * last, so that its record tells the truth throughout; whatever fails on the way
 * turns it back. A suspended VM is at its host, and resumed there alone. Slurm
 * says whether the job is still to go on: one that has ended meanwhile has its
 * VMs switched off, their memory thrown away. Nothing is remembered that Slurm's
 * records and vCenter don't show (suspend_say.c).
 */
#include <stdlib.h>
#include <string.h>
#include "engine/core_i.h"
#include "util/mem.h"
#include "util/time.h"

#define HEED_MS 10000		/* a slurmd that doesn't answer is stopped as it is */
#define TRY_MS VS_SUSPEND_TRY_MS
#define TRIES_MAX 4		/* in a turn: placement is asked under the lock */

static const char *const names[] = {
	[VS_SUSPEND_STOPS] = "stopping", [VS_SUSPEND_HEEDS] = "stopping",
	[VS_SUSPEND_GOES] = "suspending", [VS_SUSPEND_IS] = "suspended",
	[VS_SUSPEND_RESUMES] = "resuming", [VS_SUSPEND_WAKES] = "resuming",
};

const char *vs_suspend_state_name(enum vs_suspend_state s)
{
	return names[s];
}

struct vs_suspend *vs_suspend_of(const struct vs_core *c, uint32_t job)
{
	struct vs_suspend *s;

	HASH_FIND(hh, c->suspends.jobs, &job, sizeof(job), s);
	return s;
}

struct vs_suspend *vs_suspend_of_node(const struct vs_core *c,
				      const struct vs_node *n)
{
	return c->suspends.jobs && n->job ? vs_suspend_of(c, n->job) : NULL;
}

bool vs_suspend_on(const struct vs_core *c, const struct vs_node *n)
{
	bool is = vs_suspend_of_node(c, n) != NULL;

	for (size_t i = 0; i < n->nbeside && c->suspends.jobs && !is; i++)
		is = vs_suspend_of(c, n->beside[i].job) != NULL;
	return is;
}

bool vs_suspend_goes(const struct vs_core *c, const struct vs_node *n)
{
	const struct vs_suspend *s = vs_suspend_of_node(c, n);

	return s && s->state <= VS_SUSPEND_GOES && !s->back;
}

bool vs_suspend_comes_back(const struct vs_core *c, const struct vs_node *n)
{
	const struct vs_suspend *s = vs_suspend_of_node(c, n);

	return s && (s->state == VS_SUSPEND_RESUMES ||
		     s->state == VS_SUSPEND_GOES);
}

bool vs_suspends_stir(const struct vs_core *c)
{
	VS_EACH_SUSPEND(c, s)
		if (s->state != VS_SUSPEND_IS)
			return true;
	return false;
}

struct vs_node *vs_suspend_node(struct vs_core *c, const struct vs_suspend *s,
				size_t at)
{
	struct vs_node *n = vs_node_at(c, s->ids[at]);

	return n && n->job == s->job ? n : NULL;
}

static void node_add(struct vs_suspend *s, const struct vs_node *n)
{
	VS_GROW(s->ids, s->cap_ids, s->nodes + 1);
	s->ids[s->nodes++] = n->id;
}

static void touch_all(struct vs_core *c, const struct vs_suspend *s)
{
	VS_EACH_OF_SUSPEND(c, s, n)
		vs_node_touch(n);
}

static struct vs_suspend *add(struct vs_core *c, uint32_t job, uint32_t for_job,
			      enum vs_suspend_state state)
{
	struct vs_suspend *s = vs_calloc(1, sizeof(*s));

	s->job = job;
	s->for_job = for_job;
	s->waits = s->pends = true;
	HASH_ADD(hh, c->suspends.jobs, job, sizeof(s->job), s);
	vs_suspend_state(s, state, vs_clock());
	for (size_t i = 0; i < c->nnodes; i++) {
		if (c->nodes[i].job != job)
			continue;
		node_add(s, &c->nodes[i]);
		c->nodes[i].slept = true;
	}
	touch_all(c, s);
	return s;
}

void vs_suspend_begin(struct vs_core *c, const struct vs_victim *v,
		      uint32_t for_job)
{
	vs_info("JobId=%u its VMs are to be suspended, for JobId=%u", v->job,
		for_job);
	add(c, v->job, for_job, VS_SUSPEND_STOPS);
	c->suspends.look = true;
	vs_wake();
}

void vs_suspend_found(struct vs_core *c, const struct vs_port_look *row)
{
	struct vs_suspend *s;

	if (vs_suspend_of(c, row->job))
		return;
	vs_info("JobId=%u is found with its VMs suspended, or on their way",
		row->job);
	s = add(c, row->job, row->for_job, VS_SUSPEND_IS);
	s->held = row->held;
	s->stopped = true;
	if (row->since)
		s->wall_ms = row->since * 1000;
}

static void end(struct vs_suspends *all, struct vs_suspend *s)
{
	HASH_DEL(all->jobs, s);
	free(s->ids);
	free(s);
}

void vs_suspend_drop(struct vs_core *c, struct vs_suspend *s, const char *why)
{
	vs_info("JobId=%u %s", s->job, why);
	touch_all(c, s);
	end(&c->suspends, s);
}

void vs_suspends_clear(struct vs_core *c)
{
	struct vs_suspend *s, *next;
	struct vs_vain *v, *next_vain;

	HASH_ITER(hh, c->suspends.jobs, s, next)
		end(&c->suspends, s);
	HASH_ITER(hh, c->suspends.vain, v, next_vain) {
		HASH_DEL(c->suspends.vain, v);
		free(v);
	}
	c->suspends = (struct vs_suspends) { .jobs = NULL };
}

/* ---- step by step ---------------------------------------------------------------- */

void vs_suspend_state(struct vs_suspend *s, enum vs_suspend_state state,
		      int64_t now_ms)
{
	s->state = state;
	s->since_ms = now_ms;
	s->asked_s = 0;
	s->answered = s->lost = false;
	s->lacks_ms = s->fails_ms = 0;
	if (state != VS_SUSPEND_IS && state != VS_SUSPEND_RESUMES)
		s->wall_ms = 0;
	else if (!s->wall_ms)
		s->wall_ms = vs_wall_ms();
}

static bool is_busy(const struct vs_core *c, const struct vs_node *n)
{
	return n->op.kind != VS_OP_NONE || n->look_after > c->slow_seq;
}

/* Its VM, if nothing is under way for it and vCenter shows it so. */
const struct vs_vm *vs_suspend_shown(struct vs_core *c,
				     const struct vs_node *n,
				     enum vs_power power)
{
	const struct vs_vm *vm = vs_node_vm(c, n);

	return vm && vm->readable && vm->connected && !is_busy(c, n) &&
	       !n->missing && vm->power == power ? vm : NULL;
}

/* Their room together is what the other one waits for: until all have given it
 * nobody has had his chance. */
static void count_siblings(struct vs_core *c)
{
	VS_EACH_SUSPEND(c, goes) {
		if (goes->state >= VS_SUSPEND_IS || goes->back)
			continue;
		VS_EACH_SUSPEND(c, s)
			s->more_to_come |= s->for_job == goes->for_job;
	}
}

static void count(struct vs_core *c, int64_t now_ms)
{
	int calls = 0;

	VS_EACH_SUSPEND(c, s) {
		s->was_on = s->on;
		s->more_to_come = false;
		s->nodes = s->on = s->suspended = s->busy = 0;
	}
	for (size_t i = 0; i < c->nnodes; i++) {
		struct vs_node *n = &c->nodes[i];
		struct vs_suspend *s = vs_suspend_of_node(c, n);

		if (!s)
			continue;
		vs_suspend_call_off(c, n, s, now_ms);
		calls += n->op.kind == VS_OP_SUSPEND ||
			n->op.kind == VS_OP_RESUME ||
			n->op.kind == VS_OP_ADOPTED;
		node_add(s, n);
		s->busy += is_busy(c, n);
		s->on += vs_suspend_shown(c, n, VS_POWER_ON) != NULL;
		s->suspended += vs_suspend_shown(c, n, VS_POWER_SUSPENDED) !=
			NULL;
	}
	if (!calls || calls > c->suspends.calls)
		c->suspends.calls = calls;
	count_siblings(c);
}

static void suspend_all(struct vs_core *c, const struct vs_suspend *s,
			int64_t now_ms)
{
	VS_EACH_OF_SUSPEND(c, s, n)
		if (vs_suspend_shown(c, n, VS_POWER_ON) && !s->back)
			vs_op_at(c, n, VS_DO_SUSPEND, NULL, now_ms);
}

static bool may_go_on(const struct vs_core *c, const struct vs_suspend *s,
		      int64_t now_ms)
{
	return !s->held && now_ms >= s->try_ms &&
	       c->suspends.tries < TRIES_MAX &&
	       !vs_suspend_gives_way(s, now_ms);
}

/* All of its VMs, and only now is their room another's: at once, for who asks in
 * between would have somebody else's VM suspended, too. */
static void is_suspended(struct vs_core *c, struct vs_suspend *s,
			 int64_t now_ms)
{
	vs_suspend_state(s, VS_SUSPEND_IS, now_ms);
	s->why[0] = '\0';
	touch_all(c, s);
	VS_EACH_OF_SUSPEND(c, s, n)
		vs_hold_sync(c, n);
}

/* The other one has had its chance: no victim of this one for a while, nor has
 * that one others suspended if none of it has begun. */
static void spare(struct vs_core *c, const struct vs_suspend *s, int64_t now_ms)
{
	VS_EACH_OF_SUSPEND(c, s, n) {
		n->spared_job = s->job;
		n->spared_ms = now_ms + VS_SUSPEND_REFUSED_MS;
	}
	if (s->waits && !s->short_of)
		vs_suspend_in_vain(c, s->for_job, now_ms);
}

static void resumes(struct vs_core *c, struct vs_suspend *s, int64_t now_ms)
{
	vs_suspend_state(s, VS_SUSPEND_RESUMES, now_ms);
	s->try_ms = now_ms > s->try_ms ? now_ms : s->try_ms;
	vs_suspend_power_on(c, s, now_ms);
}

static void goes(struct vs_core *c, struct vs_suspend *s, int64_t now_ms)
{
	if (s->suspended == s->nodes) {
		c->suspends.suspended++;
		vs_info("JobId=%u its VMs are suspended, for JobId=%u", s->job,
			s->for_job);
		is_suspended(c, s, now_ms);
		VS_EACH_SUSPEND(c, o)
			if (o->for_job == s->for_job &&
			    o->state == VS_SUSPEND_IS)
				o->since_ms = now_ms;
		return;
	}
	/* half of a gang frees nothing that it would not want back */
	s->back |= !s->waits || (!s->busy && vs_suspend_lacks(c, s, now_ms));
	VS_EACH_SUSPEND(c, o)
		o->short_of |= s->back && o->for_job == s->for_job;
	if (!s->back)
		suspend_all(c, s, now_ms);
	else if (!s->busy && s->suspended && !vs_suspend_lacks(c, s, now_ms))
		resumes(c, s, now_ms);	/* in the room that is theirs still */
	else if (!s->busy)
		is_suspended(c, s, now_ms);
}

/* All of it, or nothing: half a gang's room is nobody's. */
static void goes_on(struct vs_core *c, struct vs_suspend *s, int64_t now_ms)
{
	s->back |= s->on != 0;	/* half of it is of no use */
	if (!s->busy && s->back && vs_suspend_none(c, s)) {
		vs_suspend_state(s, VS_SUSPEND_WAKES, now_ms);
		return;
	}
	if (s->busy || vs_suspend_lacks(c, s, now_ms) ||
	    !may_go_on(c, s, now_ms))
		return;
	c->suspends.tries++;
	c->suspends.tried = s->job;
	s->try_ms = now_ms + TRY_MS;
	if (!vs_suspend_place(c, s, now_ms))
		return;
	s->why[0] = '\0';
	if (s->pends && !s->back)
		spare(c, s, now_ms);
	s->try_ms = 0;
	resumes(c, s, now_ms);
}

static void step(struct vs_core *c, struct vs_suspend *s, int64_t now_ms)
{
	switch (s->state) {
	case VS_SUSPEND_STOPS:
		if (!s->waits)
			vs_suspend_drop(c, s, "isn't suspended: the other one waits no more");
		return;			/* suspend_say.c */
	case VS_SUSPEND_HEEDS:
		s->back |= !s->waits;
		if (s->back)
			is_suspended(c, s, now_ms);
		else if (s->answered || now_ms - s->since_ms >= HEED_MS)
			vs_suspend_state(s, VS_SUSPEND_GOES, now_ms);
		break;
	case VS_SUSPEND_GOES:
		goes(c, s, now_ms);
		break;
	case VS_SUSPEND_IS:
		goes_on(c, s, now_ms);
		break;
	case VS_SUSPEND_RESUMES:
		if (s->on == s->nodes)
			vs_suspend_state(s, VS_SUSPEND_WAKES, now_ms);
		else if (s->busy || !vs_suspend_lacks(c, s, now_ms))
			vs_suspend_power_on(c, s, now_ms);
		break;
	case VS_SUSPEND_WAKES:		/* suspend_say.c */
		/* it was, and nobody could see it */
		s->back |= s->suspended != 0;
		if (s->suspended)
			is_suspended(c, s, now_ms);
		break;
	}
	vs_suspend_judge(s, now_ms);
}

/* After the one that was tried last: few are, in a turn. */
static struct vs_suspend **in_turn(struct vs_core *c, size_t *n)
{
	struct vs_suspend **all = vs_calloc(vs_suspends_count(c), sizeof(*all));
	struct vs_suspend *last = vs_suspend_of(c, c->suspends.tried);
	struct vs_suspend *next = last ? last->hh.next : NULL;

	*n = 0;
	for (struct vs_suspend *s = next; s; s = s->hh.next)
		all[(*n)++] = s;
	VS_EACH_SUSPEND(c, s) {
		if (s == next)
			break;
		all[(*n)++] = s;
	}
	return all;
}

void vs_suspends_pass(struct vs_core *c, int64_t now_ms)
{
	VS_FREE struct vs_suspend **all = NULL;
	VS_FREE uint32_t *givers = NULL;
	size_t n;

	if (!c->suspends.jobs || c->blocked[0] || c->observe)
		return;
	count(c, now_ms);
	c->suspends.tries = 0;
	c->suspends.givers = givers = vs_suspend_givers(c, now_ms);
	all = in_turn(c, &n);
	for (size_t i = 0; i < n; i++) {
		if (!all[i]->nodes)
			vs_suspend_drop(c, all[i], "has left its nodes");
		else
			step(c, all[i], now_ms);
	}
	c->suspends.givers = NULL;
}
