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
 * no disk. Nothing is remembered of a job. Candidates are gone through once for
 * each of: who is ours, what the core says, weights there and back.
 */
#include "job_test.h"
#include "cluster.h"
#include "../../timed.h"
#include "weights.h"
#include "when.h"
#include "util/mem.h"

#define TRIES 3			/* the first answer and two more */
#define EVER_MAX 512		/* beyond that a "never" costs too much */

/* The candidates at the time of the question. The arrays are large, and kept
 * from one question to the next. */
struct ours {
	const struct vs_core_api *core;
	struct vs_picked *p;
	enum vs_avail *avail;	/* of p->at; when trimmed, those that are left
				 * out come last: */
	size_t nout;
	uint32_t room;		/* how many nodes the job can get now, others'
				 * nodes included */
	bool trimmed;		/* stock sees less than Slurm gave */
	char why[256];
};

static bool required(const struct vs_test *t, int index)
{
	bitstr_t *req = t->job_ptr->details ?
		t->job_ptr->details->req_node_bitmap : NULL;

	return req && bit_test(req, index);
}

static int ask_stock(const struct vs_test *t, bitstr_t *bitmap,
		     const struct ours *o)
{
	uint32_t max = MIN(t->max, o ? o->room : t->max);
	uint32_t req = MAX(MIN(t->req, max), t->min);

	int rc;

	vs_timed_others_begin();
	rc = t->stock(t->job_ptr, bitmap, t->min, max, req, t->mode,
		      t->candidates, t->preempted, t->exc VS_XPASS(t));
	vs_timed_others_end();
	return rc;
}

static bool ours_find(struct ours *o, const bitstr_t *bitmap)
{
	static struct vs_picked picked;

	memset(o, 0, sizeof(*o));
	o->p = &picked;
	o->core = vs_cluster_core();
	return o->core && vs_cluster_pick(bitmap, o->p);
}

/* Nodes that are left out are often neighbours. */
static void clear_all(bitstr_t *bitmap, const int *at, size_t n)
{
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && at[j] == at[j - 1] + 1; j++)
			;
		bit_nclear(bitmap, at[i], at[j - 1]);
	}
}

/* Those that can be served and those that the job names come first. Who has
 * which of the core's ids is not needed any more. */
static void ours_part(struct ours *o, const struct vs_test *t)
{
	static int *out;
	static size_t cap;
	struct vs_picked *p = o->p;
	size_t n = 0;

	VS_GROW(out, cap, p->n);
	for (size_t i = 0; i < p->n; i++) {
		if (o->avail[i] == VS_AVAIL_NONE && !required(t, p->at[i])) {
			out[o->nout++] = p->at[i];
			continue;
		}
		p->at[n] = p->at[i];
		o->avail[n++] = o->avail[i];
	}
	memcpy(p->at + n, out, o->nout * sizeof(*out));
	for (size_t i = n; i < p->n; i++)
		o->avail[i] = VS_AVAIL_NONE;
	p->n = n;
}

/* Leave out what can't be served now, and count what can. */
static void ours_trim(struct ours *o, const struct vs_test *t,
		      bitstr_t *bitmap)
{
	static enum vs_avail *avail;
	static size_t cap;
	uint32_t ours = (uint32_t)o->p->n, others = (uint32_t)o->p->nothers;

	VS_GROW(avail, cap, o->p->n);
	o->avail = avail;
	o->room = others + (uint32_t)o->core->room(o->p->ids, o->p->n, avail,
						   o->why, sizeof(o->why));
	ours_part(o, t);
	clear_all(bitmap, o->p->at + o->p->n, o->nout);
	o->trimmed = o->nout || (o->room < t->max && o->room < others + ours);
}

/* Stock sees all candidates but those that are left out. */
static void weights_set(const struct ours *o, bool renew)
{
	vs_weights_set(o->p->at, o->avail, o->p->n, renew);
	vs_weights_set(o->p->others, NULL, o->p->nothers, renew);
}

static void veto(const struct vs_test *t)
{
	free_job_resources(&t->job_ptr->job_resrcs);
	if (t->preempted)
		FREE_NULL_LIST(*t->preempted);
}

/*
 * The nodes of stock's answer together: 0, or -1 with the surplus cleared from
 * bitmap; 1 if a node that the job names is among it, or nothing more can go.
 */
static int check_answer(const struct vs_test *t, const struct ours *o,
			const bitstr_t *answer, bitstr_t *bitmap,
			struct vs_err *err)
{
	VS_FREE int *ids = NULL, *at = NULL;
	VS_FREE size_t *surplus = NULL;
	size_t n = vs_cluster_ids(answer, &ids, &at), nsurplus = 0;

	if (!n)
		return 0;
	surplus = vs_calloc(n, sizeof(*surplus));
	if (!o->core->check(ids, n, surplus, &nsurplus, err))
		return 0;
	for (size_t i = 0; i < nsurplus; i++) {
		if (required(t, at[surplus[i]]))
			return 1;
		bit_clear(bitmap, at[surplus[i]]);
	}
	return nsurplus ? -1 : 1;
}

/* For the last try: of ours, only what the answer before had and could keep,
 * what is warm, and what the job names. Stock then fills up with others' nodes,
 * or there is no such answer. */
static void only_sure(const struct vs_test *t, const struct ours *o,
		      const bitstr_t *answer, bitstr_t *bitmap)
{
	const int *at = o->p->at;

	for (size_t i = 0; i < o->p->n; i++)
		if (!bit_test((bitstr_t *)answer, at[i]) &&
		    o->avail[i] != VS_AVAIL_WARM && !required(t, at[i]))
			bit_clear(bitmap, at[i]);
}

/*
 * Ask stock for nodes that can be served together. 0 with *answer (to be
 * freed), else stock's code, or ESLURM_NODES_BUSY with *short set if the VFs
 * were what lacked. For WILL_RUN an answer about later counts as it is.
 */
static int ask_joint(const struct vs_test *t, struct ours *o, bitstr_t *bitmap,
		     bitstr_t **answer, bool *is_short)
{
	struct vs_err err = { 0 };

	*is_short = false;
	for (int try = 0; try < TRIES; try++) {
		bitstr_t *work = bit_copy(bitmap);
		int rc = ask_stock(t, work, o), fits = 0;

		if (!rc && (t->mode == SELECT_MODE_RUN_NOW ||
			    t->job_ptr->start_time <= time(NULL)))
			fits = check_answer(t, o, work, bitmap, &err);
		if (!rc && !fits) {
			*answer = work;
			return 0;
		}
		if (fits < 0 && try == TRIES - 2)
			only_sure(t, o, work, bitmap);
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
 * first: what stands in their way may be reclaimed. Else it waits for what Slurm
 * itself says.
 */
static bool would_run(const struct vs_test *t, const struct ours *o,
		      const bitstr_t *given, bitstr_t **nodes)
{
	struct vs_test all = *t;
	bitstr_t *work = bit_copy((bitstr_t *)given);
	int rc;

	vs_weights_set(o->p->at + o->p->n, o->avail + o->p->n, o->nout, false);
	all.candidates = NULL;
	all.preempted = NULL;
	rc = ask_stock(&all, work, NULL);
	free_job_resources(&t->job_ptr->job_resrcs);
	if (rc)
		FREE_NULL_BITMAP(work);
	*nodes = work;
	return !rc;
}

/* Of the nodes that it would use, those that can be served: what else can may
 * be full for Slurm. Fewer than it needs, or it would run. */
static uint32_t served(const struct vs_test *t, const struct ours *o,
		       const bitstr_t *nodes)
{
	uint32_t n = 0;

	for (size_t i = 0; i < o->p->n && n + 1 < t->min; i++)
		n += o->avail[i] != VS_AVAIL_NONE &&
		     bit_test((bitstr_t *)nodes, o->p->at[i]);
	return n;
}

static void refused(const struct vs_test *t, const struct ours *o,
		    const bitstr_t *nodes)
{
	VS_FREE char *why = NULL;
	VS_FREE int *ids = NULL;
	size_t n = vs_cluster_ids(nodes, &ids, NULL);
	size_t others = (size_t)bit_set_count((bitstr_t *)nodes) - n;
	size_t need = t->min > others ? t->min - others : 0;

	if (o->why[0] >= '0' && o->why[0] <= '9')
		why = vs_asprintf("needs %u node%s, %u%s", t->min,
				  t->min == 1 ? "" : "s",
				  o->room < t->min ? o->room : served(t, o, nodes),
				  o->why + strspn(o->why, "0123456789"));
	else
		why = vs_strdup(o->why);
	log_flag(SELECT_TYPE, "slurm-vsphere: %pJ must wait: %s", t->job_ptr,
		 why);
	o->core->refused(t->job_ptr->job_id, ids, n, need, why);
}

static int run_now(const struct vs_test *t, bitstr_t *bitmap)
{
	bitstr_t *given, *answer = NULL, *nodes = NULL;
	int rc = ESLURM_NODES_BUSY;
	bool is_short = true;
	struct ours o;

	if (!ours_find(&o, bitmap))
		return ask_stock(t, bitmap, NULL);
	given = bit_copy(bitmap);
	ours_trim(&o, t, bitmap);
	weights_set(&o, false);
	if (o.room >= t->min)
		rc = ask_joint(t, &o, bitmap, &answer, &is_short);
	if (!rc)
		bit_copybits(bitmap, answer);
	else if ((is_short || o.trimmed) && would_run(t, &o, given, &nodes))
		refused(t, &o, nodes);
	vs_weights_restore();
	FREE_NULL_BITMAP(nodes);
	FREE_NULL_BITMAP(answer);
	FREE_NULL_BITMAP(given);
	return rc;
}

/* ---- ever ----------------------------------------------------------------------- */

/*
 * Is there a choice of `need` among these, the required ones first, that the
 * hosts could hold if all were well? Only a certain "no" is one.
 */
static bool ever_some(const struct vs_test *t, const struct ours *o,
		      size_t need, struct vs_err *err)
{
	VS_FREE int *pick = NULL;
	size_t n = 0;

	if (o->p->n > EVER_MAX || o->core->ever(o->p->ids, need, NULL))
		return true;
	pick = vs_calloc(o->p->n + 1, sizeof(*pick));
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < o->p->n && n < need; i++) {
			if (required(t, o->p->at[i]) != !pass)
				continue;
			pick[n] = o->p->ids[i];
			if (o->core->ever(pick, n + 1, err))
				n++;
			else if (!pass)
				return false;
		}
	}
	return n >= need;
}

static int test_only(const struct vs_test *t, bitstr_t *bitmap)
{
	bitstr_t *given = bit_copy(bitmap);
	struct vs_err err = { 0 };
	size_t others, need;
	struct ours o;
	int rc = ask_stock(t, bitmap, NULL);

	/* A "never" for a queued job holds it, even when capacity is back. */
	if (!rc && vs_job_is_new(t->job_ptr) && ours_find(&o, given)) {
		others = o.p->nothers;
		need = t->min > others ? t->min - others : 0;
		if (need > o.p->n)
			need = o.p->n;
		if (need && !ever_some(t, &o, need, &err)) {
			info("slurm-vsphere: %pJ can never run: %s", t->job_ptr,
			     err.text);
			free_job_resources(&t->job_ptr->job_resrcs);
			rc = ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;
		}
	}
	FREE_NULL_BITMAP(given);
	return rc;
}

/* ---- when ----------------------------------------------------------------------- */

/*
 * Stock's answer, but "now" only if the VFs are there now: else backfill would
 * reserve nodes from now on for a job that RUN_NOW refuses, and idle them.
 */
static int will_run(const struct vs_test *t, bitstr_t *bitmap)
{
	time_t now = time(NULL);
	bitstr_t *given, *answer = NULL;
	bool is_short = false;
	struct ours o;
	int rc = ESLURM_NODES_BUSY;

	if (VS_TEST_LATER(t) || !ours_find(&o, bitmap))
		return ask_stock(t, bitmap, NULL);
	given = bit_copy(bitmap);
	ours_trim(&o, t, bitmap);
	weights_set(&o, true);
	if (o.room >= t->min)
		rc = ask_joint(t, &o, bitmap, &answer, &is_short);
	if (!rc && o.trimmed && t->job_ptr->start_time > now) {
		/* all nodes may be had earlier than those */
		FREE_NULL_BITMAP(answer);
		rc = ESLURM_NODES_BUSY;
	}
	vs_weights_restore();	/* what is warm now says nothing of later */
	if (!rc) {
		bit_copybits(bitmap, answer);
	} else {
		veto(t);
		bit_copybits(bitmap, given);
		rc = ask_stock(t, bitmap, NULL);
		if (!rc && t->job_ptr->start_time <= now)
			t->job_ptr->start_time = vs_when(given, o.room < t->min ?
							 t->min - o.room : 0);
	}
	FREE_NULL_BITMAP(answer);
	FREE_NULL_BITMAP(given);
	return rc;
}

int vs_job_test(struct vs_test *t, bitstr_t *bitmap)
{
	/* 0: a record made up for a reservation, with JOB R alone */
	if (!t->job_ptr->job_id)
		return ask_stock(t, bitmap, NULL);
	switch (t->mode) {
	case SELECT_MODE_RUN_NOW:
		return run_now(t, bitmap);
	case SELECT_MODE_TEST_ONLY:
		return test_only(t, bitmap);
	case SELECT_MODE_WILL_RUN:
		return will_run(t, bitmap);
	default:
		return ask_stock(t, bitmap, NULL);
	}
}
