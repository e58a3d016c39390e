/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select/cons_tres_vsphere: stock select/cons_tres with vSphere's VFs counted
 * in. This file is the face that Slurm loads: it opens the stock plugin, forwards
 * every symbol of the release to it, and adds to seven of them.
 *
 * Client commands load it too (they unpack node records through it): there it
 * forwards and says nothing. Only slurmctld's node_init, the first call of a
 * process that controls the cluster, wakes the rest. The plugin adds no bytes
 * to job or node records: a later Slurm could not read them.
 */
#include <errno.h>
#include "plugins/job_assignment.h"
#include "plugins/job_env.h"
#include "plugins/slurm/compat.h"
#include "plugins/slurm_ops/ops.h"
#include "vf_accounting.h"
#include "controller.h"
#include "job_test.h"
#include "start_time.h"
#include "stock.h"
#include "plugins/slurm/call_timing.h"
#include "util/mem.h"

VS_EXPORT const char plugin_name[] =
	"Consumable resources (TRES) with vSphere's virtual functions";
VS_EXPORT const char plugin_type[] = "select/cons_tres_vsphere";
VS_EXPORT const uint32_t plugin_version = SLURM_VERSION_NUMBER;
VS_EXPORT const uint32_t plugin_id = VS_PLUGIN_ID;

/* ---- the stock plugin -------------------------------------------------------- */

#define FORWARD(name, type, params, args)				\
	VS_EXPORT type select_p_##name params				\
	{								\
		return vs_stock.name args;				\
	}
VS_SYMBOLS(FORWARD)

VS_EXPORT int init(void)
{
	if (vs_stock_is_loaded())
		return SLURM_SUCCESS;
	if (vs_stock_load()) {
		error("%s: select/cons_tres of the same Slurm cannot be "
		      "loaded from PluginDir", plugin_type);
		return SLURM_ERROR;
	}
	if (running_in_slurmctld())
		vs_cluster_open();
	debug("%s loaded", plugin_type);
	return SLURM_SUCCESS;
}

/* slurmctld calls this only in builds that look for leaks. */
VS_EXPORT int fini(void)
{
	vs_cluster_stop();
	vs_stock_unload();
	return SLURM_SUCCESS;
}

/* ---- what we add ------------------------------------------------------------- */

VS_EXPORT int select_p_node_init(void)
{
	int rc = vs_stock.node_init();

	if (!rc && running_in_slurmctld())
		vs_cluster_take();
	return rc;
}

VS_EXPORT int select_p_reconfigure(void)
{
	int rc = vs_stock.reconfigure();

	if (!rc && running_in_slurmctld())
		vs_cluster_refresh();
	return rc;
}

VS_EXPORT int select_p_job_test(job_record_t *job_ptr, bitstr_t *bitmap,
				uint32_t min_nodes, uint32_t max_nodes,
				uint32_t req_nodes, uint16_t mode,
				vs_list_t preemptee_candidates,
				vs_list_t *preemptee_job_list,
				vs_exc_t *exc VS_XARGS)
{
	struct vs_test t = {
		.job_ptr = job_ptr, .min = min_nodes, .max = max_nodes,
		.req = req_nodes, .mode = mode,
		.candidates = preemptee_candidates,
		.preempted = preemptee_job_list, .exc = exc,
	};
	int rc;

	VS_XSET(&t);
	vs_timed_begin();
	vs_accounting_block(&t, bitmap);
	vs_account_least(&t, bitmap);
	rc = vs_job_test(&t, bitmap);
	if (!rc)
		vs_accounting_request(&t, bitmap);
	vs_timed_end();
	return rc;
}

/*
 * The last word: every node gets its place, or the job stays pending. (The gate
 * is job_test; here an array has been split already.)
 */
static int begin(job_record_t *job_ptr)
{
	const struct vs_core_api *core = vs_cluster_core();
	struct vs_test t = { .job_ptr = job_ptr, .mode = SELECT_MODE_RUN_NOW };
	VS_FREE int *ids = NULL;
	struct vs_err err = { 0 };
	struct vs_requesting_job a;
	size_t n;

	if (!core)
		return SLURM_SUCCESS;
	n = vs_cluster_ids(job_ptr->node_bitmap, &ids, NULL);
	if (!n)
		return SLURM_SUCCESS;
	vs_start_query(&t, VS_QUERY_OTHER);
	if (core->job_begin(job_ptr->job_id, job_ptr->restart_cnt, ids, n,
			    &err)) {
		info("slurm-vsphere: %pJ cannot start: %s", job_ptr, err.text);
		a = vs_requesting_job_fill(&t);
		core->refused(&a, ids, n, n, 0, err.text);
		free_job_resources(&job_ptr->job_resrcs);
		errno = ESLURM_NODES_BUSY;
		return ESLURM_NODES_BUSY;
	}
	core->job_until(job_ptr->job_id, time(NULL) + vs_lasts(job_ptr));
	/* a batch script must not begin while other nodes boot */
	job_ptr->wait_all_nodes = 1;
	return SLURM_SUCCESS;
}

/*
 * A job that begins has none of slurm-vsphere's entries yet.
 * vs_slurm_job_assignment() writes them later. Here every job comes by;
 * TEST_ONLY is not asked of a submission that gets its nodes at once (srun,
 * salloc).
 */
VS_EXPORT int select_p_job_begin(job_record_t *job_ptr)
{
	int rc = vs_stock.job_begin(job_ptr);

	if (rc)
		return rc;
	vs_job_env_replace(&job_ptr->spank_job_env,
			   &job_ptr->spank_job_env_size,
			   vs_assignment_env_managed, NULL, 0);
	vs_timed_begin();
	rc = begin(job_ptr);
	if (!rc) {
		vs_account_begin(job_ptr);
		vs_slurm_wait_over(job_ptr);
	}
	vs_timed_end();
	return rc;
}

static void leave(job_record_t *job_ptr, const bitstr_t *nodes)
{
	const struct vs_core_api *core = vs_cluster_core();
	VS_FREE int *ids = NULL;
	size_t n;

	vs_timed_begin();
	n = core ? vs_cluster_ids(nodes, &ids, NULL) : 0;
	if (n)
		core->job_end(job_ptr->job_id, ids, n, false);
	vs_timed_end();
}

VS_EXPORT int select_p_job_fini(job_record_t *job_ptr)
{
	int rc = vs_stock.job_fini(job_ptr);

	vs_account_end(job_ptr);
	leave(job_ptr, job_ptr->node_bitmap);
	return rc;
}

VS_EXPORT int select_p_job_resized(job_record_t *job_ptr,
				   node_record_t *node_ptr)
{
	const struct vs_core_api *core = vs_cluster_core();
	int rc = vs_stock.job_resized(job_ptr, node_ptr);
	int id = core ? vs_cluster_id(node_ptr) : -1;

	if (!rc && id >= 0) {
		core->job_end(job_ptr->job_id, &id, 1, false);
		vs_account_resized(job_ptr, node_ptr);
	}
	return rc;
}

/* The nodes of one job become another's. */
VS_EXPORT int select_p_job_expand(job_record_t *from, job_record_t *to)
{
	const struct vs_core_api *core = vs_cluster_core();
	VS_FREE int *ids = NULL;
	size_t n = core ? vs_cluster_ids(from->node_bitmap, &ids, NULL) : 0;
	int rc = vs_stock.job_expand(from, to);

	if (!rc && n) {
		core->job_claim(to->job_id, to->restart_cnt, ids, n, true);
		core->job_end(from->job_id, ids, n, false);
	}
	if (!rc && core)	/* though its nodes aren't managed: to's may be */
		vs_account_moved(from, to);
	return rc;
}
