/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job that must wait: what it needs and what there is, for the core to put in
 * words, complete with when, and say.
 *
 * Rules: who lacks VFs may have idle VMs reclaimed; who waits for others' turn
 * or for nodes has a reason told, and nothing else. Never says whose jobs are in
 * the way.
 */
#include "pending_reason.h"
#include "start_time.h"
#include "util/mem.h"

#define SOME 8			/* candidates, where the job needs fewer */

void vs_refuse(const struct vs_test *t, const bitstr_t *nodes, uint32_t needs,
	       uint32_t have, bool kept, const char *why)
{
	VS_FREE int *ids = NULL;
	size_t n = vs_cluster_ids(nodes, &ids, NULL);
	uint32_t all = (uint32_t)bit_set_count((bitstr_t *)nodes);
	uint32_t others = all - (uint32_t)n;
	struct vs_requesting_job a = vs_requesting_job_fill(t);
	bool counts = !why[0] || strchr(",:;", why[0]);

	needs = needs > others ? needs - others : 0;
	if (!kept)
		have = MIN(have, needs - !!needs);
	else if (counts)
		why = ", reserved for higher-priority jobs";
	log_flag(SELECT_TYPE, "slurm-vsphere: %pJ stays pending: %u of %u nodes%s%s",
		 t->job_ptr, have, needs, counts ? "" : ": ", why);
	a.lacks = kept ? VS_PENDING_TURN : VS_PENDING_VFS;
	vs_cluster_core()->refused(&a, ids, n, needs, have, why);
}

/* Of many candidates some, from all over them: they tell whether the job is for
 * VMs of one kind. */
static size_t some_of(const struct vs_picked *p, size_t n, int *ids)
{
	n = MIN(n, p->n);
	for (size_t i = 0; i < n; i++)
		ids[i] = p->ids[i * p->n / n];
	return n;
}

/* Says nothing where it is not for nodes that the job waits. What is free are
 * nodes, unless there are VFs for some of them alone. */
void vs_refuse_busy(const struct vs_test *t, const bitstr_t *given,
		    const struct vs_picked *p, uint32_t room, uint32_t needs)
{
	struct vs_requesting_job a = vs_requesting_job_fill(t);
	uint32_t idle, used, vfs, have;
	VS_FREE int *ids = NULL;
	char words[32];
	size_t n;

	if (!p->n || p->nothers)
		return;
	idle = (uint32_t)bit_overlap((bitstr_t *)given, idle_node_bitmap);
	used = (uint32_t)bit_set_count((bitstr_t *)given) - idle;
	vfs = room > used ? room - used : 0;
	have = MIN(idle, vfs);
	if (have >= needs)
		return;
	ids = vs_calloc(MAX(needs, SOME) + 1, sizeof(*ids));
	n = some_of(p, MAX(needs, SOME), ids);
	snprintf(words, sizeof(words), "%u%s free", have,
		 vfs < idle ? "" : idle == 1 ? " node" : " nodes");
	a.lacks = VS_PENDING_NODES;
	vs_cluster_core()->refused(&a, ids, n, needs, have, words);
}
