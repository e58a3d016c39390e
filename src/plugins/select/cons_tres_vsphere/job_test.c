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
#include "cluster.h"
#include "../../timed.h"
#include "when.h"
#include "util/mem.h"

#define TRIES 3			/* the first answer and two more */
#define EVER_MAX 512		/* beyond that a "never" costs too much */

/* The candidates that are ours, at the time of the question. */
struct ours {
	const struct vs_core_api *core;
	int *ids, *at;		/* core's id, index in the node table */
	enum vs_avail *avail;
	size_t n;
	uint64_t *weights;	/* as Slurm had set them, by index */
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

static void ours_free(struct ours *o)
{
	free(o->ids);
	free(o->at);
	free(o->avail);
	free(o->weights);
}

static bool ours_find(struct ours *o, const bitstr_t *bitmap)
{
	memset(o, 0, sizeof(*o));
	o->core = vs_cluster_core();
	if (o->core)
		o->n = vs_cluster_ids(bitmap, &o->ids, &o->at);
	return o->n > 0;
}

/* Leave out what can't be served now, and count what can. */
static void ours_trim(struct ours *o, const struct vs_test *t,
		      bitstr_t *bitmap)
{
	uint32_t others = (uint32_t)bit_set_count(bitmap) - (uint32_t)o->n;

	o->avail = vs_calloc(o->n, sizeof(*o->avail));
	o->core->avail(o->ids, o->n, o->avail);
	o->room = others + (uint32_t)o->core->room(o->ids, o->n, o->why,
						   sizeof(o->why));
	o->trimmed = o->room < t->max && o->room < others + o->n;
	for (size_t i = 0; i < o->n; i++) {
		if (o->avail[i] != VS_AVAIL_NONE || required(t, o->at[i]))
			continue;
		bit_clear(bitmap, o->at[i]);
		o->trimmed = true;
	}
}

/*
 * Slurm's sched_weight: a byte for cons_tres, 32 bits of Weight, two flags. For
 * nodes that are powered down it puts a constant in the place of Weight, and the
 * flag on some of them only. Nor does it renew sched_weight for WILL_RUN.
 */
#define WEIGHT_OUTSIDE_FLEX UINT64_C(0x10000000000)
#define WEIGHT_BOOT UINT64_C(0x20000000000)

static uint64_t weight_of(const node_record_t *node_ptr, enum vs_avail avail,
			  bool renew)
{
	uint64_t weight = node_ptr->sched_weight;

	if (avail == VS_AVAIL_WARM && !renew)
		return weight;
	weight &= WEIGHT_OUTSIDE_FLEX | 0xff;
	weight |= (uint64_t)node_ptr->config_ptr->weight << 8;
	return avail == VS_AVAIL_WARM ? weight : weight | WEIGHT_BOOT;
}

/*
 * What is warm before what must boot, as Slurm itself has it; then the
 * administrator's weights; then VMs that exist before new ones: two bits above
 * cons_tres' byte. Others' nodes need no VM, and must stay comparable.
 */
static void weights_set(struct ours *o, bool renew)
{
	static const uint64_t prefer[] = {
		[VS_AVAIL_WARM] = 0, [VS_AVAIL_OFF] = 1, [VS_AVAIL_NEW] = 2,
		[VS_AVAIL_NONE] = 3,
	};
	node_record_t *node_ptr;

	o->weights = vs_calloc((size_t)node_record_count, sizeof(*o->weights));
	for (int i = 0; (node_ptr = next_node(&i)); i++)
		o->weights[node_ptr->index] = node_ptr->sched_weight;
	for (size_t i = 0; i < o->n; i++) {
		node_ptr = node_record_table_ptr[o->at[i]];
		if (o->avail[i] < VS_COUNT(prefer))
			node_ptr->sched_weight =
				weight_of(node_ptr, o->avail[i], renew);
	}
	for (int i = 0; (node_ptr = next_node(&i)); i++)
		node_ptr->sched_weight =
			((node_ptr->sched_weight >> 8) << 10) |
			(node_ptr->sched_weight & 0xff);
	for (size_t i = 0; i < o->n; i++)
		if (o->avail[i] < VS_COUNT(prefer))
			node_record_table_ptr[o->at[i]]->sched_weight |=
				prefer[o->avail[i]] << 8;
}

static void weights_restore(const struct ours *o)
{
	node_record_t *node_ptr;

	for (int i = 0; (node_ptr = next_node(&i)); i++)
		node_ptr->sched_weight = o->weights[node_ptr->index];
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
	for (size_t i = 0; i < o->n; i++)
		if (!bit_test((bitstr_t *)answer, o->at[i]) &&
		    o->avail[i] != VS_AVAIL_WARM && !required(t, o->at[i]))
			bit_clear(bitmap, o->at[i]);
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
static bool would_run(const struct vs_test *t, const bitstr_t *given,
		      bitstr_t **nodes)
{
	struct vs_test all = *t;
	bitstr_t *work = bit_copy((bitstr_t *)given);
	int rc;

	all.candidates = NULL;
	all.preempted = NULL;
	rc = ask_stock(&all, work, NULL);
	free_job_resources(&t->job_ptr->job_resrcs);
	if (rc)
		FREE_NULL_BITMAP(work);
	*nodes = work;
	return !rc;
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
		why = vs_asprintf("needs %u node%s, %s", t->min,
				  t->min == 1 ? "" : "s", o->why);
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
	else if ((is_short || o.trimmed) && would_run(t, given, &nodes))
		refused(t, &o, nodes);
	weights_restore(&o);
	FREE_NULL_BITMAP(nodes);
	FREE_NULL_BITMAP(answer);
	FREE_NULL_BITMAP(given);
	ours_free(&o);
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

	if (o->n > EVER_MAX || o->core->ever(o->ids, need, NULL))
		return true;
	pick = vs_calloc(o->n + 1, sizeof(*pick));
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < o->n && n < need; i++) {
			if (required(t, o->at[i]) != !pass)
				continue;
			pick[n] = o->ids[i];
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
		others = (size_t)bit_set_count(given) - o.n;
		need = t->min > others ? t->min - others : 0;
		if (need > o.n)
			need = o.n;
		if (need && !ever_some(t, &o, need, &err)) {
			info("slurm-vsphere: %pJ can never run: %s", t->job_ptr,
			     err.text);
			free_job_resources(&t->job_ptr->job_resrcs);
			rc = ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;
		}
		ours_free(&o);
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
	weights_restore(&o);	/* what is warm now says nothing of later */
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
	ours_free(&o);
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
