/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What test_engine_suspend.c stands on: two hosts with room for two VMs each; vm1 to
 * vm4 are up with jobs 11 to 14, which may be suspended; vm5 and vm6 are wanted
 * by job 20. Slurm is a few variables here. */
#ifndef SUSPEND_STAGE_H
#define SUSPEND_STAGE_H

#include "engine_stage.h"

#define MEMORY_MB (200 * 1024)	/* the hosts have 512 GiB */

/* As slurm_port.c has it of a node with a suspended job; and of one that
 * nodes_suspended() was said of. */
#define STOPPED (BUSY | VS_NODE_JOB_SUSPENDED)
#define SILENT (VS_NODE_ALLOCATED | VS_NODE_JOB_SUSPENDED | VS_NODE_NO_RESPOND)

static int nodes[8];
static struct vs_victim victims[4];
static bool take[4];

/* Slurm's records */
static struct vs_port_look job_11, job_12, job_13, job_20, job_21;
static uint32_t suspended_for[32];
static int refuses, resumed, kept, woken, continued;
static bool answers;
static char kept_nodes[64];

static struct vs_port_look *record(uint32_t job)
{
	static struct vs_port_look none;

	none = (struct vs_port_look) { .job = job };
	return job == 11 ? &job_11 : job == 12 ? &job_12 :
		job == 13 ? &job_13 : job == 20 ? &job_20 :
		job == 21 ? &job_21 : &none;
}

static void jobs_look(void *ctx, struct vs_port_look *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		uint32_t job = rows[i].job;

		rows[i] = *record(job);
		rows[i].job = job;
	}
}

static int job_suspend(void *ctx, uint32_t job, uint32_t for_job)
{
	struct vs_port_look *r = record(job);

	(void)ctx;
	if (refuses || r->is != VS_JOB_RUNNING || r->suspended)
		return -1;
	r->suspended = r->ours = true;
	r->for_job = suspended_for[job] = for_job;
	return 0;
}

static int job_resume(void *ctx, uint32_t job)
{
	struct vs_port_look *r = record(job);

	(void)ctx;
	if (!r->suspended || !r->ours || r->held)
		return -1;
	r->suspended = r->ours = false;
	resumed++;
	return 0;
}

static void job_continue(void *ctx, uint32_t job)
{
	(void)ctx;
	if (record(job)->is == VS_JOB_RUNNING && !record(job)->suspended)
		continued++;
}

static void nodes_suspended(void *ctx, const char *const *names, size_t n)
{
	(void)ctx;
	kept++;
	kept_nodes[0] = '\0';
	for (size_t i = 0, at = 0; i < n && at < sizeof(kept_nodes); i++)
		at += snprintf(kept_nodes + at, sizeof(kept_nodes) - at, "%s ",
			       names[i]);
}

static int64_t nodes_wake(void *ctx, const char *const *names, size_t n,
			  int64_t asked)
{
	assert_true(!asked || asked == 1000);
	(void)ctx;
	(void)names;
	assert_int_not_equal(n, 0);
	woken++;
	return 1000;
}

static bool nodes_answered(void *ctx, const char *const *names, size_t n,
			   int64_t since)
{
	(void)ctx;
	(void)names;
	(void)n;
	assert_int_equal(since, 1000);
	return answers;
}

static bool active(void *ctx)
{
	(void)ctx;
	return true;
}

static const struct vs_port port = {
	.active = active,
	.jobs_look = jobs_look, .job_suspend = job_suspend,
	.job_resume = job_resume, .job_continue = job_continue,
	.nodes_suspended = nodes_suspended,
	.nodes_wake = nodes_wake, .nodes_answered = nodes_answered,
};

/* A turn, and the words after it. */
STAGE void round_of(int n)
{
	while (n--) {
		now += 1000;
		turn();
		vs_suspend_say(&vs_core, now);
	}
}

STAGE void may_all_be_suspended(bool may)
{
	for (size_t i = 0; i < vs_core.nprofiles; i++)
		vs_core.profiles[i].preempt_suspend = may;
}

STAGE void full_house(const char *type)
{
	struct vs_conf *conf = conf_make(8, "warm", MEMORY_MB);

	begin(8, 2, 8, "warm");
	free(conf->adapters[0].type);
	conf->adapters[0].type = vs_strdup(type);
	conf->adapters[0].mtu = strcmp(type, "sriov") ? 0 : 9000;
	conf->partitions[0].memory_reservation = -1;	/* all */
	begin_as(conf);
	ready();
	vs_core.port = &port;
	vs_suspends_clear(&vs_core);
	may_all_be_suspended(true);
	for (int i = 0; i < 8; i++) {
		char name[8];
		uint32_t job = 11 + (uint32_t)i;

		snprintf(name, sizeof(name), "vm%d", i + 1);
		nodes[i] = id(name);
		if (i >= 4)
			continue;
		bring_up(job, name);
		vs_job_claim(&vs_core, job, 0, &nodes[i], 1, true);
		victims[i] = (struct vs_victim) {
			.ids = &nodes[i], .n = 1, .job = job,
		};
	}
	memset(take, 0, sizeof(take));
	job_11 = (struct vs_port_look) { .is = VS_JOB_RUNNING };
	job_12 = job_11;
	job_20 = (struct vs_port_look) { .is = VS_JOB_PENDING };
	refuses = resumed = kept = woken = continued = 0;
	answers = true;
	turn();
}

STAGE int wanted(size_t n, size_t nvictims)
{
	int taken = vs_make_room(&vs_core, 20, &nodes[4], n, victims, nvictims,
				 take);

	sums_are_true();
	return taken;
}

STAGE bool has_room(void)
{
	return vs_node_avail(&vs_core, &vs_core.nodes[nodes[4]]) !=
		VS_AVAIL_NONE;
}

STAGE bool begins(size_t n)
{
	struct vs_err err;

	return !vs_job_begin(&vs_core, 20, 0, &nodes[4], n, &err);
}

/* Job 11 and its VM, up to where it is suspended. */
STAGE void suspended(void)
{
	full_house("vmxnet3");
	assert_int_equal(wanted(1, 1), 0);
	round_of(5);
	assert_int_equal(fake_waiting(FAKE_SUSPEND), 1);
	assert_true(fake_finish(FAKE_SUSPEND));
	flags("vm1", SILENT);
	round_of(2);
	assert_non_null(vs_suspend_of(&vs_core, 11));
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_IS);
}

/* Job 11 has vm1 and vm2, on both hosts, and job 20 wants what both have. */
STAGE void gang_wanted(void)
{
	full_house("vmxnet3");
	vs_job_end(&vs_core, 12, &nodes[1], 1, false);
	vs_job_claim(&vs_core, 11, 0, &nodes[1], 1, true);
	victims[0] = (struct vs_victim) { .ids = nodes, .n = 2, .job = 11 };
	turn();
	assert_int_equal(wanted(2, 1), 0);
}

STAGE void gang_suspended(void)
{
	gang_wanted();
	round_of(5);
	assert_true(fake_finish(FAKE_SUSPEND));
	assert_true(fake_finish(FAKE_SUSPEND));
	flags("vm1", SILENT);
	flags("vm2", SILENT);
	round_of(2);
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_IS);
}

/* So long after that time; turns take some of their own. */
STAGE void until(int64_t since_ms, int seconds)
{
	while (now - since_ms < (int64_t)seconds * 1000)
		round_of(1);
}

#endif
