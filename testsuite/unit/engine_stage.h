/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage of the engine's tests: a fake vCenter (fake_vc.h) on one side, the
 * node flags that Slurm would show on the other, a clock of our own. Included
 * by each test program; what one of them doesn't use costs nothing.
 */
#ifndef ENGINE_STAGE_H
#define ENGINE_STAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmocka_range.h"
#include "engine/forecast/forecast_i.h"
#include "engine/hosts/hosts_i.h"
#include "engine/run/run_i.h"
#include "engine/tasks/tasks.h"
#include "fake_vc.h"
#include "node_state.h"
#include "util/mem.h"

#define STAGE static __attribute__((unused))

#define UP VS_NODE_UP
#define BUSY (VS_NODE_UP | VS_NODE_ALLOCATED)
#define DOWN VS_NODE_POWERED_DOWN
#define WANTED (VS_NODE_POWERED_DOWN | VS_NODE_ALLOCATED)
#define BOOT (VS_NODE_POWERING_UP | VS_NODE_ALLOCATED)
#define GOING VS_NODE_POWERING_DOWN

/* Does this thread need the lock? Returns what held before. */
STAGE bool lock_needed(bool is)
{
#ifdef VS_DEBUG
	bool was = !vs_lock_not_needed;

	vs_lock_not_needed = !is;
	return was;
#else
	return is;
#endif
}

/* The stage's is alone with the engine. */
static __attribute__((constructor)) void lock_not_needed(void)
{
	lock_needed(false);
}

/* A call of what takes the lock itself: it is seen to do so. */
#define TAKES_LOCK(call) ({ \
	bool was_ = lock_needed(true); \
	__auto_type answer_ = (call); \
	lock_needed(was_); \
	answer_; \
})
#define TAKES_LOCK_VOID(call) ((void)TAKES_LOCK(((call), 0)))
#define vs_core_report(...) TAKES_LOCK(vs_core_report(__VA_ARGS__))
#define vs_core_request(...) TAKES_LOCK(vs_core_request(__VA_ARGS__))
#define vs_core_plan(...) TAKES_LOCK(vs_core_plan(__VA_ARGS__))
#define vs_state_file_save(...) TAKES_LOCK_VOID(vs_state_file_save(__VA_ARGS__))
#define vs_waits_gone(...) TAKES_LOCK_VOID(vs_waits_gone(__VA_ARGS__))
#define vs_jobs_recheck(...) TAKES_LOCK_VOID(vs_jobs_recheck(__VA_ARGS__))
#define vs_orphans_query_slurm(...) \
	TAKES_LOCK_VOID(vs_orphans_query_slurm(__VA_ARGS__))
#define vs_prefetch_read(...) TAKES_LOCK_VOID(vs_prefetch_read(__VA_ARGS__))
#define vs_forecast_read_slurm(...) TAKES_LOCK_VOID(vs_forecast_read_slurm(__VA_ARGS__))
#define vs_draining_hosts_publish(...) TAKES_LOCK_VOID(vs_draining_hosts_publish(__VA_ARGS__))
#define vs_outbox_send(...) TAKES_LOCK_VOID(vs_outbox_send(__VA_ARGS__))

static int64_t now = 1000000;
static struct vs_outbox_request told[256];
static size_t ntold;

STAGE int64_t test_clock(void)
{
	return now;
}

/* What Slurm's PrivateData lets everybody see, and the user who is an operator
 * (-1: none): a port's viewer. */
static __attribute__((unused)) bool all_jobs, all_nodes;
static __attribute__((unused)) int64_t the_operator = -1;

STAGE void viewer(void *ctx, struct vs_viewer *v)
{
	(void)ctx;
	v->is_operator = v->uid == the_operator;
	v->sees_jobs = all_jobs || v->is_operator;
	v->sees_nodes = all_nodes || v->is_operator;
}

/* A port's jobs_read: all jobs run, and their prologs are not answered. */
STAGE void jobs_configure(void *ctx, struct vs_slurm_job *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct vs_slurm_job) {
			.job = rows[i].job, .there = true, .configuring = true,
			.is = VS_JOB_RUNNING, .end = INT64_MAX,
		};
}

/* What the engine keeps of the sums is what they are. */
STAGE void sums_are_true(void)
{
	struct vs_core *c = &vs_core;
	const struct vs_free_capacity *kept = vs_free_capacity_get(c);
	struct vs_free_capacity made = { 0 };

	vs_free_capacity_update(&made, &c->ledger, &c->inv, c->folder,
				c->cluster_id);
	assert_int_equal(made.nhosts, kept->nhosts);
	assert_int_equal(made.npools, kept->npools);
	for (size_t i = 0; i < made.nhosts; i++)
		assert_memory_equal(&made.hosts[i], &kept->hosts[i],
				    sizeof(made.hosts[i]));
	for (size_t i = 0; i < made.npools; i++)
		assert_memory_equal(&made.pools[i], &kept->pools[i],
				    sizeof(made.pools[i]));
	assert_true(made.store_mb == kept->store_mb);
	assert_int_equal(made.strangers, kept->strangers);
	vs_free_capacity_clear(&made);
}

/* What the forecast keeps of a kind is what it would find now. */
STAGE void kind_is_true(struct vs_core *c, size_t kind)
{
	struct vs_forecast_profile *k = &vs_forecast.kinds[kind];
	size_t n = vs_forecast.timeline.ngroups + 1;
	size_t *kept = vs_calloc(n, sizeof(*kept));
	bool is_free = vs_forecast_vf_is_free(c, kind);

	memcpy(kept, vs_forecast_vfs_held(c, kind), n * sizeof(*kept));
	k->held_of = k->vf_free_of = UINT64_MAX;
	assert_memory_equal(vs_forecast_vfs_held(c, kind), kept,
			    n * sizeof(*kept));
	assert_int_equal(vs_forecast_vf_is_free(c, kind), is_free);
	free(kept);
}

/* Nor has a curve of what comes free, or a node's place, missed a change. */
STAGE void times_are_true(void)
{
	struct vs_core *c = &vs_core;

	for (size_t k = 0; k < vs_forecast.nkinds; k++) {
		struct vs_capacity_released kept;
		const struct vs_curve *made = vs_forecast_curve(c, k);

		kept = vs_forecast.kinds[k].gains;
		vs_forecast.kinds[k].gains =
			(struct vs_capacity_released) { .turn = 0 };
		made = vs_forecast_curve(c, k);
		assert_int_equal(made->n, kept.curve.n);
		for (size_t i = 0; i < c->nnodes; i++)
			assert_int_equal(made->gains[i].much,
					 kept.curve.gains[i].much);
		for (size_t i = 0; i < made->n; i++)
			assert_int_equal(made->sum[i], kept.curve.sum[i]);
		vs_capacity_released_clear(&vs_forecast.kinds[k].gains);
		vs_forecast.kinds[k].gains = kept;
		kind_is_true(c, k);
	}
	for (size_t i = 0; i < c->nnodes && c->ready; i++)
		assert_int_equal(vs_node_summary_get(c, (int)i)->holds,
				 vs_ledger_get(&c->ledger, c->nodes[i].name)
				 != NULL);
}

/* One turn of the engine; what it would tell Slurm is kept. As the loop's,
 * which looks at all nodes in every third of them alone. */
STAGE void some_turn(void)
{
	struct vs_core *c = &vs_core;
	struct vs_outbox_request *tells;
	size_t ntells;

	now += 100;
	vs_lock();
	vs_pass_run(c, now);
	vs_activity_update(c, now);
	tells = vs_outbox_take(&ntells);
	for (size_t i = 0; i < ntells && ntold < VS_COUNT(told); i++)
		told[ntold++] = tells[i];
	free(tells);
	vs_unlock();
	/* without the lock: a check that fails ends the test there */
	if (c->nnodes < 100) {	/* a bench has more, and no time */
		sums_are_true();
		times_are_true();
	}
}

STAGE void turn(void)
{
	vs_passes.whole_ms = INT64_MIN / 2;
	some_turn();
}

STAGE void turns(int n)
{
	while (n--)
		turn();
}

STAGE const struct vs_outbox_request *heard(enum vs_slurm_request kind,
					    const char *node)
{
	for (size_t i = 0; i < ntold; i++)
		if (told[i].kind == kind &&
		    (!node || !strcmp(told[i].node, node)))
			return &told[i];
	return NULL;
}

STAGE void flags(const char *node, uint32_t f)
{
	vs_node_flags(&vs_core, vs_node_named(&vs_core, node), f);
}

STAGE int id(const char *node)
{
	return vs_node_named(&vs_core, node)->id;
}

/* A job with a time limit of an hour was refused. */
STAGE void refuse(uint32_t job, const int *ids, size_t n, size_t need,
		  const char *why)
{
	struct vs_requesting_job a = { .job = job, .lasts = 3600 };

	vs_job_set_pending(&vs_core, &a, ids, n, need, why);
}

STAGE struct vs_conf *conf_make(int nodes, const char *retention,
				 int64_t memory_mb)
{
	struct vs_conf *conf = vs_conf_new();

	conf->vcenter = vs_strdup("https://vc");
	vs_str_replace(&conf->mode, "manage");
	conf->allow_more_nodes_than_vfs = true;
	conf->nadapters = conf->npartitions = conf->nclusters = 1;
	conf->adapters = vs_calloc(1, sizeof(*conf->adapters));
	conf->adapters[0].name = vs_strdup("sriov-roce");
	conf->adapters[0].type = vs_strdup("sriov");
	conf->adapters[0].network = vs_strdup("NET");
	conf->adapters[0].mtu = 9000;
	conf->partitions = vs_calloc(1, sizeof(*conf->partitions));
	conf->partitions[0].name = vs_strdup("roce");
	conf->partitions[0].adapter = vs_strdup("sriov-roce");
	conf->partitions[0].template_name = vs_strdup("tpl");
	conf->partitions[0].retention = vs_strdup(retention);
	conf->clusters = vs_calloc(1, sizeof(*conf->clusters));
	conf->clusters[0].name = vs_strdup("C1");
	conf->nnodes = (size_t)nodes;
	conf->nodes = vs_calloc(conf->nnodes, sizeof(*conf->nodes));
	for (int i = 0; i < nodes; i++) {
		conf->nodes[i].name = vs_asprintf("vm%d", i + 1);
		conf->nodes[i].partition = vs_strdup("roce");
		conf->nodes[i].adapter = vs_strdup("sriov-roce");
		conf->nodes[i].vcpus = 4;
		conf->nodes[i].memory_mb = memory_mb;
	}
	return conf;
}

/* From this node on (0: the first) they have another adapter, "other", on the
 * same network and of the same template. */
STAGE struct vs_conf_adapter *conf_other_from(struct vs_conf *conf,
					      size_t first, const char *type)
{
	conf->nadapters = conf->npartitions = 2;
	conf->adapters = vs_realloc(conf->adapters, 2, sizeof(*conf->adapters));
	conf->partitions = vs_realloc(conf->partitions, 2,
				      sizeof(*conf->partitions));
	conf->adapters[1] = (struct vs_conf_adapter) {
		.name = vs_strdup("other"), .type = vs_strdup(type),
		.network = vs_strdup("NET"),
	};
	conf->partitions[1] = (struct vs_conf_partition) {
		.name = vs_strdup("others"), .adapter = vs_strdup("other"),
		.template_name = vs_strdup("tpl"),
		.retention = vs_strdup(conf->partitions[0].retention),
	};
	for (size_t i = first; i < conf->nnodes; i++) {
		free(conf->nodes[i].partition);
		free(conf->nodes[i].adapter);
		conf->nodes[i].partition = vs_strdup("others");
		conf->nodes[i].adapter = vs_strdup("other");
	}
	return &conf->adapters[1];
}

/* Instead of the configuration that begin() has made. */
STAGE void begin_as(struct vs_conf *conf)
{
	vs_setup_apply(&vs_core, conf);
	vs_setup_macs(&vs_core);
	for (size_t i = 0; i < core_nnodes(); i++)
		core_nodes()[i].flags = DOWN;
}

STAGE void breakers_clear(void)
{
	while (vs_hosts.breakers)
		vs_breaker_end(vs_hosts.breakers->host);
}

/* A cluster of `nodes` powered-down nodes on hosts with one PF each. */
STAGE void begin(int nodes, int hosts, int vfs, const char *retention)
{
	struct vs_core *c = &vs_core;

	lock_needed(false);
	c->clock = test_clock;
	ntold = 0;
	vs_pause_end(c);
	vs_jobs_clear();
	vs_clone_sources_clear(c);
	vs_ledger_clear(&c->ledger);
	vs_avoids_clear();
	vs_windows_clear(c);
	vs_draining_hosts_clear();
	breakers_clear();
	while (vs_hosts.prints)
		vs_fingerprint_forget(vs_hosts.prints);
	vs_state_file_read_done(true);
	fake_reset(hosts, vfs);
	for (size_t i = 0; i < c->nnodes; i++) {
		free(c->nodes[i].claims.beside);
		free(c->nodes[i].foreign);
	}
	c->nnodes = 0;
	free(c->nodes);
	c->nodes = NULL;
	vs_tasks_clear();
	vs_unowned_tasks_forget();
	c->blocked[0] = '\0';
	c->vc_state[0] = '\0';
	c->started = false;
	vs_strlcpy(c->cluster_id, "11111111-2222-4333-8444-555555555555",
		   sizeof(c->cluster_id));
	begin_as(conf_make(nodes, retention, 1024));
}

STAGE void ready(void)
{
	fake_load();
	fake_slow(NULL, 0);
	turn();
	assert_true(core_ready());
}

STAGE int job_begin(uint32_t job, const char *a, const char *b)
{
	int ids[2] = { id(a), b ? id(b) : 0 };
	struct vs_err err;

	return vs_api_job_begin(&vs_core, job, 0, ids, b ? 2 : 1, &err);
}

/* It begins on a node that is up, and its prolog waits. */
STAGE void job_starts(uint32_t job, const char *node)
{
	int one = id(node);

	assert_int_equal(job_begin(job, node, NULL), 0);
	vs_job_wait(&vs_core, job, 0, &one, 1);
	flags(node, BUSY);
}

/* The job has begun, Slurm asks for power, the new VM is there, off. */
STAGE void clone_for(uint32_t job, const char *node)
{
	assert_int_equal(job_begin(job, node, NULL), 0);
	flags(node, BOOT);
	turn();
	assert_true(fake_finish(FAKE_CLONE));
}

/* The same, and its power-on is under way. */
STAGE void boot_up(uint32_t job, const char *node)
{
	clone_for(job, node);
	turns(2);
}

/* Take node through clone and power-on to up, for a job. */
STAGE void bring_up(uint32_t job, const char *node)
{
	assert_int_equal(job_begin(job, node, NULL), 0);
	flags(node, WANTED);
	turn();
	assert_true(fake_finish(FAKE_CLONE));
	flags(node, BOOT);
	turn();
	turn();
	assert_true(fake_finish(FAKE_POWER_ON));
	flags(node, BUSY);
	turn();
	vs_job_started(&vs_core, &(struct vs_wait) {
		.job = job, .ids = &(int) { id(node) }, .n = 1,
	});
}

STAGE void end_job(uint32_t job, const char *node)
{
	int one = id(node);

	vs_job_end(&vs_core, job, &one, 1, false);
	flags(node, UP);
	turn();
}

/* One host, one node: vm1 is up, and its job 7 is over. */
STAGE void begin_idle(const char *retention)
{
	begin(1, 1, 1, retention);
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
}

/* The same host and node: vm1's clone for job 7 is under way. */
STAGE void begin_cloning(void)
{
	begin(1, 1, 1, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
}

/* Slurm powers the node up for no job, and it comes up. */
STAGE void powers_up(const char *node)
{
	flags(node, VS_NODE_POWERING_UP);
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	flags(node, UP);
}

STAGE void powered_down(const char *node)
{
	flags(node, GOING);
	turn();
	assert_true(fake_finish(FAKE_POWER_OFF));
	flags(node, DOWN);
	turns(2);
}

/* Powers vm1's VM off and reconfigures or destroys it, by `how`, until its
 * power-on or its clone is sent. */
STAGE void rebuilt_by(enum fake_kind how)
{
	flags("vm1", BOOT);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_OFF));
	turns(2);
	assert_true(fake_finish(how));
	turns(2);
}

STAGE int free_on(const char *host)
{
	struct vs_host *h = vs_host_get(core_inv(), host);
	struct vs_pf_use use;

	vs_ledger_pf_use(core_ledger(), core_inv(), h, &h->pfs[0],
			 core_folder(), core_cluster_id(), &use);
	return use.free;
}

#endif
