/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From standby to control: init only opens the core, node_init is the first call
 * that means "this process controls the cluster", reconfigure always comes last.
 * A configuration that can't be used stops slurmctld's start, but never a
 * running one: then the old one stays in force and the log says why.
 *
 * All functions run under slurmctld's locks, JOB and NODE for writing, so that
 * the node map needs no lock of its own. It is an index for the current node
 * table and the core's current epoch, rebuilt when either changes.
 */
#include "controller.h"
#include "plugins/slurm/bitmap_iter.h"
#include "plugins/core_loader.h"
#include "plugins/slurm_ops/ops.h"
#include "plugins/conf/load.h"
#include "util/mem.h"

static struct {
	const struct vs_core_api *api;
	struct vs_conf_file file;	/* accepted by the last good node_init */
	bool file_read;
	bool started;
	bool claim;		/* the jobs are to be handed over again */
	uint64_t hash;		/* of the configuration in force */

	int *map;		/* node index -> core's id, -1 */
	int map_size;
	uint64_t map_epoch;
	bool map_stale;
} cluster;

/* At the first start there is no old configuration to continue with. */
static void refuse(const struct vs_err *err)
{
	if (!cluster.started)
		fatal("slurm-vsphere: %s%s", err->text,
		      vs_another_goes_on() ?
		      "; the old configuration stays in force" : "");
	error("slurm-vsphere: %s; the old configuration stays in force",
	      err->text);
}

static int read_file(struct vs_err *err)
{
	VS_FREE char *path = vs_conf_path();
	struct vs_conf_file file;
	struct vs_conf *conf;

	if (vs_conf_check_slurm(err))
		return -1;
	conf = vs_conf_read(path, &file, err);
	if (!conf) {
		vs_conf_file_free(&file);
		return -1;
	}
	vs_conf_free(conf);
	vs_conf_file_free(&cluster.file);
	cluster.file = file;
	cluster.file_read = true;
	return 0;
}

/* slurmctld initializes select plugins before jobcomp's, whose threads may use
 * libcurl (select_g_init() and jobcomp_g_init(), 22.05 to 25.11). */
void vs_cluster_open(void)
{
	struct vs_err err = { 0 };

	if (cluster.api)
		return;
	cluster.api = vs_core_open(&err);
	if (!cluster.api || cluster.api->setup(&err))
		fatal("slurm-vsphere: %s", err.text);
	cluster.api->log_to(vs_slurm_log);
}

void vs_cluster_take(void)
{
	struct vs_err err = { 0 };

	vs_cluster_open();
	cluster.claim = true;
	cluster.map_stale = true;
	if (read_file(&err))
		refuse(&err);
	/* Within one term it is a reconfigure. */
	if (!vs_slurm_take())
		cluster.api->new_term();
}

static void map_renew(void)
{
	uint64_t epoch = cluster.api->epoch();
	size_t n = (size_t)node_record_count;
	VS_FREE const char **names = NULL;

	if (!cluster.map_stale && cluster.map_epoch == epoch &&
	    cluster.map_size == node_record_count)
		return;
	names = vs_calloc(n + 1, sizeof(*names));
	for (size_t i = 0; i < n; i++)
		names[i] = node_record_table_ptr[i] ?
			node_record_table_ptr[i]->name : "";
	cluster.map = vs_realloc(cluster.map, n, sizeof(*cluster.map));
	cluster.api->node_ids(names, n, cluster.map);
	cluster.map_size = node_record_count;
	cluster.map_epoch = epoch;
	cluster.map_stale = false;
}

/* ---- jobs that run already ---------------------------------------------------- */

static int claim_job(void *x, void *arg)
{
	job_record_t *job_ptr = x;
	VS_FREE int *ids = NULL;
	size_t n;

	(void)arg;
	vs_slurm_wait_renew(job_ptr);
	if (!(IS_JOB_RUNNING(job_ptr) || IS_JOB_SUSPENDED(job_ptr)) ||
	    !job_ptr->node_bitmap)
		return 0;
	n = vs_cluster_ids(job_ptr->node_bitmap, &ids, NULL);
	if (!n)
		return 0;
	cluster.api->job_claim(job_ptr->job_id, job_ptr->restart_cnt, ids, n,
			       !IS_JOB_CONFIGURING(job_ptr));
	cluster.api->job_until(job_ptr->job_id, job_ptr->end_time);
	return 0;
}

static void repair_nodes(void)
{
	node_record_t *node_ptr;

	for (int i = 0; (node_ptr = next_node(&i)); i++)
		if (vs_cluster_id(node_ptr) >= 0)
			vs_slurm_node_repair(node_ptr);
}

/* Boots continue over a start and a reconfigure of slurmctld's. */
static void keep_boots(void)
{
	node_record_t *node_ptr;

	for (int i = 0; (node_ptr = next_node(&i)); i++)
		if (vs_cluster_id(node_ptr) >= 0)
			vs_slurm_node_boot_kept(node_ptr);
}

/*
 * Where a node was deleted, the next one that is created gets no job from Slurm
 * 24.11, with stock cons_tres neither, until slurmctld starts again.
 */
static void created_get_jobs(void)
{
	node_record_t *node_ptr;

	for (int i = 0; (node_ptr = next_node(&i)); i++)
		if (IS_NODE_DYNAMIC_NORM(node_ptr) && IS_NODE_IDLE(node_ptr) &&
		    !node_ptr->run_job_cnt && vs_cluster_id(node_ptr) >= 0)
			bit_set(share_node_bitmap, node_ptr->index);
}

static int add_nodes(struct vs_conf *conf, struct vs_err *err)
{
	struct vs_conf_refused refused = { .n = 0 };
	int rc = vs_conf_add_nodes(conf, &cluster.file, &refused, err);

	for (size_t i = 0; i < refused.n; i++)
		vs_slurm_node_refuse(refused.nodes[i].node_ptr,
				     refused.nodes[i].why);
	vs_conf_refused_free(&refused);
	return rc;
}

void vs_cluster_refresh(void)
{
	struct vs_err err = { 0 };
	struct vs_conf *conf;
	uint64_t hash;

	cluster.map_stale = true;
	if (!cluster.file_read)
		return;
	vs_slurm_active_set(true);
	conf = vs_conf_build(&cluster.file, &err);
	if (!conf || add_nodes(conf, &err)) {
		vs_conf_free(conf);
		refuse(&err);
	} else if ((hash = vs_conf_hash(conf)) == cluster.hash &&
		   cluster.started && cluster.api->running()) {
		vs_conf_free(conf);
		/* Nodes that come and go are no administrator's decision. */
		if (cluster.claim)
			cluster.api->try_again();
	} else if (cluster.api->start(conf, &vs_slurm_ops_table, &err)) {
		refuse(&err);
	} else {
		/* A word of an operator's, as in the process before. */
		if (!cluster.started && vs_begun_by_reconfigure())
			cluster.api->try_again();
		cluster.hash = hash;
		cluster.started = true;
		cluster.claim = true;
	}
	if (!cluster.started)
		return;
	cluster.api->renumbered();
	map_renew();		/* not in a scheduler's question */
	repair_nodes();
	keep_boots();
	created_get_jobs();
	if (!cluster.claim)
		return;
	cluster.claim = false;
	list_for_each(job_list, claim_job, NULL);
}

void vs_cluster_stop(void)
{
	vs_slurm_active_set(false);
	if (cluster.api && cluster.started)
		cluster.api->stop();
	cluster.started = false;
	vs_conf_file_free(&cluster.file);
	cluster.file_read = false;
	free(cluster.map);
	cluster.map = NULL;
	cluster.map_size = 0;
}

const struct vs_core_api *vs_cluster_core(void)
{
	if (!cluster.started)
		return NULL;
	vs_slurm_active_set(true);
	return cluster.api;
}

/* ---- which nodes are managed
 * ---------------------------------------------------- */

int vs_cluster_id(const node_record_t *node_ptr)
{
	if (!cluster.started)
		return -1;
	map_renew();
	return (int)node_ptr->index < cluster.map_size ?
		cluster.map[node_ptr->index] : -1;
}

size_t vs_cluster_ids(const bitstr_t *bitmap, int **ids, int **at)
{
	bitstr_t *bits = (bitstr_t *)bitmap;
	size_t n = 0, max;

	*ids = NULL;
	if (at)
		*at = NULL;
	if (!cluster.started || !bitmap)
		return 0;
	map_renew();
	max = (size_t)bit_set_count(bits);
	VS_EACH_BIT(i, bits) {
		if (i >= cluster.map_size || cluster.map[i] < 0)
			continue;
		if (!n) {
			*ids = vs_calloc(max, sizeof(**ids));
			if (at)
				*at = vs_calloc(max, sizeof(**at));
		}
		(*ids)[n] = cluster.map[i];
		if (at)
			(*at)[n] = i;
		n++;
	}
	return n;
}

int vs_cluster_first(const bitstr_t *bitmap)
{
	bitstr_t *bits = (bitstr_t *)bitmap;

	if (!cluster.started || !bitmap)
		return -1;
	map_renew();
	VS_EACH_BIT(i, bits)
		if (i < cluster.map_size && cluster.map[i] >= 0)
			return i;
	return -1;
}

static inline void pick(struct vs_picked *p, int i)
{
	if (i >= cluster.map_size || cluster.map[i] < 0) {
		p->others[p->nothers++] = i;
		return;
	}
	p->ids[p->n] = cluster.map[i];
	p->at[p->n++] = i;
}

size_t vs_cluster_pick(const bitstr_t *bitmap, struct vs_picked *p)
{
	bitstr_t *bits = (bitstr_t *)bitmap;
	size_t size = (size_t)node_record_count;

	p->n = p->nothers = 0;
	if (!cluster.started || !bitmap)
		return 0;
	map_renew();
	if (p->size < size) {
		p->ids = vs_realloc(p->ids, size, sizeof(*p->ids));
		p->at = vs_realloc(p->at, size, sizeof(*p->at));
		p->others = vs_realloc(p->others, size, sizeof(*p->others));
		p->size = size;
	}
	VS_EACH_BIT(first, bits) {
		int end = first + vs_bits_run(bits, first, first_last);

		for (int i = first; i < end; i++)
			pick(p, i);
		first = end - 1;
	}
	return p->n;
}
