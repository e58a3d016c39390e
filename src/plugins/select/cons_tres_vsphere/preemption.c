/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preemption for VFs. Stock cons_tres ends jobs for the CPUs and the memory of
 * their nodes; a VF may be held by a VM of any node, and the core knows whose
 * end would give it.
 *
 * Rules: Slurm's candidates alone, in Slurm's order. Slurm ends them, not we, and
 * only those that would be requeued or cancelled. A job with PreemptMode=SUSPEND is
 * never named: Slurm would stop its processes, and its VM would stay on and keep its
 * VF.
 */
#include "preemption.h"
#include "stock.h"
#include "controller.h"
#include "util/mem.h"

struct ends {
	job_record_t **jobs;
	struct vs_victim *victims;
	size_t n, max;
};

static int note(void *x, void *arg)
{
	job_record_t *job_ptr = x;
	uint16_t mode = slurm_job_preempt_mode(job_ptr);
	struct ends *e = arg;
	int *ids = NULL;
	size_t n;

	if (mode != PREEMPT_MODE_REQUEUE && mode != PREEMPT_MODE_CANCEL)
		return 0;
	n = vs_cluster_ids(job_ptr->node_bitmap, &ids, NULL);
	if (!n || e->n == e->max)
		return 0;
	e->jobs[e->n] = job_ptr;
	e->victims[e->n++] = (struct vs_victim) {
		.ids = ids, .n = n, .job = job_ptr->job_id,
	};
	return 0;
}

static int is_job(void *x, void *arg)
{
	return x == arg;
}

static void preempt(vs_list_t *preempted, job_record_t *job_ptr)
{
	if (!*preempted)
		*preempted = list_create(NULL);
	if (!list_find_first(*preempted, is_job, job_ptr))
		list_append(*preempted, job_ptr);
}

/*
 * As few nodes as will do; preempting: where other jobs may end for their CPUs.
 * NULL: stock has none.
 */
static bitstr_t *fewest(const struct vs_test *t, const bitstr_t *given,
			bool preempting)
{
	bitstr_t *work = bit_copy((bitstr_t *)given);
	struct vs_test few = *t;

	few.req = t->min;
	if (!preempting)
		few.candidates = NULL;
	if (vs_stock_query(&few, work))
		FREE_NULL_BITMAP(work);
	return work;
}

/* How many must, added to *t->preempted; 0 and -1 as from make_room(). */
static int end_some(const struct vs_test *t, const bitstr_t *nodes)
{
	size_t max = (size_t)list_count(t->candidates);
	VS_FREE job_record_t **jobs = vs_calloc(max + 1, sizeof(job_record_t *));
	VS_FREE struct vs_victim *victims = vs_calloc(max + 1,
						      sizeof(*victims));
	VS_FREE bool *take = vs_calloc(max + 1, sizeof(*take));
	struct ends e = { jobs, victims, 0, max };
	VS_FREE int *ids = NULL;
	size_t n = vs_cluster_ids(nodes, &ids, NULL);
	int taken;

	list_for_each(t->candidates, note, &e);
	taken = vs_cluster_core()->make_room(t->job_ptr->job_id, ids, n,
					     victims, e.n, take);
	for (size_t i = 0; i < e.n; i++) {
		if (take[i]) {
			info("slurm-vsphere: %pJ is preempted for the VFs that %pJ needs",
			     jobs[i], t->job_ptr);
			preempt(t->preempted, jobs[i]);
		}
		free((void *)victims[i].ids);
	}
	return taken;
}

bitstr_t *vs_preemption_candidates(const struct vs_test *t,
				   const bitstr_t *given)
{
	bitstr_t *nodes = fewest(t, given, false);

	if (!nodes)
		nodes = fewest(t, given, true);
	if (nodes && end_some(t, nodes) <= 0)
		FREE_NULL_BITMAP(nodes);
	return nodes;
}

bool vs_preemption_idle_suffice(const struct vs_test *t, const bitstr_t *given)
{
	bitstr_t *nodes = fewest(t, given, false);
	VS_FREE int *ids = NULL;
	size_t n = vs_cluster_ids(nodes, &ids, NULL);
	bool will = n && !vs_cluster_core()->make_room(t->job_ptr->job_id, ids,
						       n, NULL, 0, NULL);

	FREE_NULL_BITMAP(nodes);
	free_job_resources(&t->job_ptr->job_resrcs);
	return will;
}
