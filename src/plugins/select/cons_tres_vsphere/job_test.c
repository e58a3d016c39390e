/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decision whether, when and where a job may run: stock cons_tres decides
 * on CPUs, memory and the rest, the core on VFs, and only what both accept is
 * an answer.
 *
 * Rules: nodes that can't be served now are left out before stock is asked, but
 * never those the job names nor those whose VM holds its VF; a shortage is
 * told to stock by fewer nodes at most, not by fewer nodes to choose from,
 * because that starves jobs that would fit others; stock's answer is checked as
 * a whole. A queued job is never told "never". Nothing here waits: no network,
 * no disk. Nothing is remembered of a job.
 */
#include "job_test.h"
#include "stock.h"
#include "static_capacity.h"
#include "candidates.h"
#include "preemption.h"
#include "pending_reason.h"
#include "plugins/job_assignment.h"
#include "plugins/job_env.h"
#include "trim_answer.h"
#include "node_weights.h"
#include "start_time.h"

#define TRIES 4			/* the first answer and three more */
#define LATER 60		/* s: there is room, but not for these together */

static int ask_stock(const struct vs_test *t, bitstr_t *bitmap,
		     const struct vs_candidates_free *o)
{
	struct vs_test limited = *t;

	limited.max = MIN(t->max, o ? o->room : t->max);
	limited.req = MAX(MIN(t->req, limited.max), t->min);
	return vs_stock_query(&limited, bitmap);
}

static void veto(const struct vs_test *t)
{
	free_job_resources(&t->job_ptr->job_resrcs);
	if (t->preempted)
		FREE_NULL_LIST(*t->preempted);
}

/*
 * Ask stock for nodes that can be served together. 0 with *answer (to be
 * freed), else stock's code, or ESLURM_NODES_BUSY with *short set if the VFs
 * were what lacked. For WILL_RUN an answer about later counts as it is.
 */
static int ask_joint(const struct vs_test *t, struct vs_candidates_free *o,
		     bitstr_t *bitmap, bitstr_t **answer, bool *is_short)
{
	const struct vs_candidates all = {
		.core = o->core, .at = o->p->at, .avail = o->avail, .n = o->p->n,
		.required = vs_named(t),
	};
	struct vs_err err = { 0 };

	*is_short = false;
	for (int try = 0; try < TRIES; try++) {
		bitstr_t *work = bit_copy(bitmap);
		int rc = ask_stock(t, work, o), fits = 0;

		if (!rc && (t->mode == SELECT_MODE_RUN_NOW ||
			    t->job_ptr->start_time <= time(NULL)))
			fits = vs_answer_trim(&all, work, bitmap, &err);
		if (!rc && !fits) {
			*answer = work;
			return 0;
		}
		if (fits < 0 && try >= TRIES - 3)
			vs_answer_narrow(&all, work, bitmap,
					 try == TRIES - 3);
		FREE_NULL_BITMAP(work);
		if (rc)
			return rc;
		*is_short = true;
		snprintf(o->why, sizeof(o->why), "%.*s",
			 (int)sizeof(o->why) - 1, err.text);
		veto(t);
		if (fits > 0)
			break;
		o->trimmed = true;
	}
	*is_short = true;
	return ESLURM_NODES_BUSY;
}

/*
 * Would the job run on what Slurm offers, if each node could be served? If so
 * it waits for VFs, and *nodes (to be freed) are those it would use, warm ones
 * first, and no more than it must have (tasks may need more of them than Slurm
 * says beforehand): what stands in their way may be reclaimed. Else it waits for what Slurm
 * itself says.
 */
static bool would_run(const struct vs_test *t, struct vs_candidates_free *o,
		      const bitstr_t *given, bitstr_t **nodes)
{
	struct vs_test all = *t;
	bitstr_t *work = bit_copy((bitstr_t *)given);
	int rc;

	vs_candidates_weigh_rest(o);
	all.candidates = NULL;
	all.preempted = NULL;
	all.req = t->min;
	rc = ask_stock(&all, work, NULL);
	free_job_resources(&t->job_ptr->job_resrcs);
	if (rc)
		FREE_NULL_BITMAP(work);
	*nodes = work;
	return !rc;
}

/* How many of these nodes can be served. */
static uint32_t served(const struct vs_candidates_free *o,
		       const bitstr_t *nodes)
{
	uint32_t n = 0;

	for (size_t i = 0; i < o->p->n; i++)
		n += o->avail[i] != VS_AVAIL_NONE &&
		     bit_test((bitstr_t *)nodes, o->p->at[i]);
	return n;
}

/* What there is for it: of the nodes that it would use, for what else can be served
 * may be full for Slurm. What is kept for other jobs is what no job runs on, though
 * a VM that is on has room. */
static uint32_t there_is(const struct vs_candidates_free *o,
			 const bitstr_t *nodes)
{
	return o->kept ? MIN(served(o, idle_node_bitmap), o->free) :
		MIN(served(o, nodes), o->room - (uint32_t)o->p->nothers);
}

/* Tasks may need more than Slurm says beforehand; of a range backfill has been
 * given what the job would like to have. */
static uint32_t needs_of(const struct vs_test *t, const bitstr_t *nodes)
{
	if (t->mode == SELECT_MODE_WILL_RUN && t->req > t->min)
		return t->min;
	return MAX(t->min, (uint32_t)bit_set_count((bitstr_t *)nodes));
}

/* It waits for VFs, or for its turn to get them. */
static void refused(const struct vs_test *t, const struct vs_candidates_free *o,
		    const bitstr_t *nodes)
{
	uint32_t needs = needs_of(t, nodes);
	char why[sizeof(o->why)];

	vs_candidates_why(o, t, why, sizeof(why));
	vs_refuse(t, nodes, needs, there_is(o, nodes), o->kept, why);
}

/*
 * The job may preempt others, and can't run otherwise. No job is preempted for
 * resources that idle VMs can release, nor for CPUs of nodes that then can't be
 * served. If only VFs are missing, the jobs whose VMs hold them are preempted.
 */
static int ask_preempting(const struct vs_test *t, struct vs_candidates_free *o,
			  const bitstr_t *given, bitstr_t *bitmap,
			  bitstr_t **answer, bool *is_short)
{
	int rc = ESLURM_NODES_BUSY;

	vs_candidates_weigh_rest(o);
	*is_short = true;
	if (vs_preemption_idle_suffice(t, given))
		return rc;
	if (o->room >= t->min)
		rc = ask_joint(t, o, bitmap, answer, is_short);
	if (rc)
		*answer = vs_preemption_candidates(t, given);
	if (!*answer)
		veto(t);
	return *answer ? 0 : rc;
}

static int run_now(const struct vs_test *t, bitstr_t *bitmap)
{
	bitstr_t *given, *answer = NULL, *nodes = NULL;
	int rc = ESLURM_NODES_BUSY;
	bool is_short = true;
	struct vs_test first = *t;
	struct vs_candidates_free o;

	if (!vs_candidates_find(&o, bitmap))
		return ask_stock(t, bitmap, NULL);
	given = bit_copy(bitmap);
	vs_candidates_trim(&o, t, bitmap);
	vs_candidates_weigh(&o, false);
	if (o.trimmed)		/* no other job ends, if that is possible */
		first.candidates = NULL;
	if (o.room >= t->min)
		rc = ask_joint(&first, &o, bitmap, &answer, &is_short);
	if (rc && t->candidates && !o.kept && (is_short || o.trimmed))
		rc = ask_preempting(t, &o, given, bitmap, &answer, &is_short);
	if (!rc) {
		bit_copybits(bitmap, answer);
	} else if ((is_short || o.trimmed) && would_run(t, &o, given, &nodes)) {
		refused(t, &o, nodes);
		rc = vs_rc_waits();
	} else {
		vs_refuse_busy(t, given, o.p, o.room, t->min);
	}
	vs_weights_restore();
	FREE_NULL_BITMAP(nodes);
	FREE_NULL_BITMAP(answer);
	FREE_NULL_BITMAP(given);
	return rc;
}

static int test_only(const struct vs_test *t, bitstr_t *bitmap)
{
	bitstr_t *given = bit_copy(bitmap);
	struct vs_candidates_free o;
	int rc = ask_stock(t, bitmap, NULL);

	/* A submission comes by here: a user's entries must not look as if
	 * slurm-vsphere had written them. A pending job has none. */
	if (IS_JOB_PENDING(t->job_ptr))
		vs_job_env_replace(&t->job_ptr->spank_job_env,
				   &t->job_ptr->spank_job_env_size,
				   vs_assignment_env_managed, NULL, 0);
	if (!rc && vs_candidates_find(&o, given) && vs_never(t, o.core, o.p)) {
		free_job_resources(&t->job_ptr->job_resrcs);
		rc = ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;
	}
	FREE_NULL_BITMAP(given);
	return rc;
}

/* ---- when ----------------------------------------------------------------------- */

/* An answer of stock's for later, and when the VFs are there for it too. */
struct slot {
	bitstr_t *nodes;		/* NULL: none */
	time_t start;
	bool only_vfs;			/* are lacking now */
};

/* Of all that Slurm gave; what is warm now says nothing of later. */
static struct slot slot_of_all(const struct vs_test *t, const bitstr_t *given,
			       int *rc)
{
	struct slot s = { .nodes = bit_copy((bitstr_t *)given) };
	time_t now;

	veto(t);
	*rc = ask_stock(t, s.nodes, NULL);
	if (*rc) {
		FREE_NULL_BITMAP(s.nodes);
		return s;
	}
	now = time(NULL);	/* not before stock's */
	s.only_vfs = t->mode == SELECT_MODE_RUN_NOW ||
		     t->job_ptr->start_time <= now;
	s.start = vs_start_time(t, s.nodes,
				s.only_vfs ? now : t->job_ptr->start_time);
	if (s.start <= now)
		s.start = now + LATER;
	return s;
}

/* The same, asked for now alone: stock looks into the future for as long as for
 * many of that. */
static struct slot slot_of_now(const struct vs_test *t, const bitstr_t *given)
{
	struct vs_test run = *t;
	struct slot s;
	int rc;

	run.mode = SELECT_MODE_RUN_NOW;
	s = slot_of_all(&run, given, &rc);
	free_job_resources(&t->job_ptr->job_resrcs);
	return s;
}

/* Could it be had sooner with nodes that were left out? Not where they wait for
 * VFs of the very nodes that the job can have itself. */
static bool sooner_with_all(const struct vs_test *t,
			    const struct vs_candidates_free *o, time_t start)
{
	struct vs_requesting_job a = vs_requesting_job_fill(t);

	return o->p->nothers || t->candidates ||
	       o->core->others_give(&a, o->p->ids, o->p->n + o->nout, start);
}

/*
 * Backfill asks from when on it may: stock takes that for "now", and so does
 * backfill unless it is told a later time.
 */
static int will_run_later(const struct vs_test *t, bitstr_t *bitmap)
{
	int rc = ask_stock(t, bitmap, NULL);
	time_t from, start;

	if (rc || !vs_cluster_core() || vs_cluster_first(bitmap) < 0)
		return rc;
	from = MAX(VS_TEST_FROM(t), t->job_ptr->start_time);
	start = vs_start_time(t, bitmap, from);
	if (start > from)
		t->job_ptr->start_time = start;
	vs_start_publish(t, bitmap, start);
	return 0;
}

/*
 * There are jobs that only backfill ever tests: behind others of their partition,
 * in a flexible reservation that is yet to begin, and all of them where the main
 * scheduler does not run. Backfill may test a job in the second of its submission
 * and not again before a job, node or partition changes: this test counts too.
 * sbatch --test-only, which has no BACKFILL_TEST, leaves no trace.
 */
static void say_why(const struct vs_test *t, const struct vs_candidates_free *o,
		    const bitstr_t *given, const struct slot *s, time_t now)
{
	if (!s->nodes || (vs_job_is_new(t->job_ptr) &&
			  !(t->job_ptr->bit_flags & BACKFILL_TEST)))
		return;
	if (s->only_vfs)
		refused(t, o, s->nodes);
	else if (s->start > now)
		vs_refuse_busy(t, given, o->p, o->room, needs_of(t, s->nodes));
}

/*
 * Stock's answer, but "now" only if the VFs are there now: else backfill would
 * reserve nodes from now on for a job that RUN_NOW refuses, and idle them. For
 * later there are two answers: with what can be served by the VFs of now, VMs
 * with jobs on them included; and with all nodes, when others' VMs are gone.
 */
static int will_run(const struct vs_test *t, bitstr_t *bitmap)
{
	struct slot first = { 0 }, all = { 0 }, *best = &first;
	bitstr_t *given;
	bool is_short = false;
	struct vs_candidates_free o;
	int rc = ESLURM_NODES_BUSY;
	time_t now;

	if (VS_TEST_LATER(t))
		return will_run_later(t, bitmap);
	if (!vs_candidates_find(&o, bitmap))
		return ask_stock(t, bitmap, NULL);
	/* sbatch --test-only, which TEST_ONLY never sees */
	if (!(t->job_ptr->bit_flags & BACKFILL_TEST) &&
	    vs_never(t, o.core, o.p))
		return ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;
	given = bit_copy(bitmap);
	vs_candidates_trim(&o, t, bitmap);
	vs_candidates_weigh(&o, true);
	if (o.room >= t->min)
		rc = ask_joint(t, &o, bitmap, &first.nodes, &is_short);
	vs_weights_restore();
	now = time(NULL);	/* not before stock's */
	if (!rc) {
		first.start = t->job_ptr->start_time;
		if (first.start > now)
			first.start = vs_start_time(t, first.nodes,
						    first.start);
	}
	if (rc || (o.trimmed && first.start > now &&
		   sooner_with_all(t, &o, first.start)))
		all = slot_of_all(t, given, &rc);
	else if (o.trimmed && first.start > now)
		all = slot_of_now(t, given);
	say_why(t, &o, given, all.nodes ? &all : &first, now);
	if (all.nodes && (!first.nodes || all.start < first.start))
		best = &all;
	if (best->nodes) {
		rc = 0;
		bit_copybits(bitmap, best->nodes);
		t->job_ptr->start_time = best->start;
		if (best->start > now)
			vs_start_publish(t, bitmap, best->start);
	}
	FREE_NULL_BITMAP(first.nodes);
	FREE_NULL_BITMAP(all.nodes);
	FREE_NULL_BITMAP(given);
	return rc;
}

static enum vs_query_mode mode_of(const struct vs_test *t)
{
	return t->mode == SELECT_MODE_RUN_NOW ? VS_QUERY_RUN_NOW :
		t->mode == SELECT_MODE_WILL_RUN ? VS_QUERY_WILL_RUN :
		VS_QUERY_OTHER;
}

int vs_job_test(struct vs_test *t, bitstr_t *bitmap)
{
	/* 0: a record made up for a reservation, with JOB R alone */
	if (!t->job_ptr->job_id)
		return ask_stock(t, bitmap, NULL);
	vs_start_query(t, mode_of(t));
	switch (t->mode) {
	case SELECT_MODE_RUN_NOW:
		return run_now(t, bitmap);
	case SELECT_MODE_TEST_ONLY:
		return test_only(t, bitmap);
	case SELECT_MODE_WILL_RUN:
		vs_candidates_widen(t, bitmap);
		if (vs_wants_fewest(t->job_ptr))
			t->req = t->min;
		return will_run(t, bitmap);
	default:
		return ask_stock(t, bitmap, NULL);
	}
}
