/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stage of the tests of prefetch: Slurm's plan beside engine_stage.h. */
#ifndef PREFETCH_STAGE_H
#define PREFETCH_STAGE_H

#include "engine/prefetch/prefetch_i.h"
#include "engine_stage.h"

static struct vs_slurm_planned plan[32];
static size_t nplan;

static size_t jobs_ahead(void *ctx, int64_t within_s,
			 struct vs_slurm_planned *rows, size_t max)
{
	size_t n = 0;

	(void)ctx;
	for (size_t i = 0; i < nplan && n < max; i++)
		if (plan[i].in_s <= within_s)
			rows[n++] = plan[i];
	return n;
}

static const struct vs_slurm_ops port = { .jobs_ahead = jobs_ahead };

STAGE void prefetch_is(int prefetch)
{
	struct vs_conf *conf = core_conf();

	conf->prefetch.vms = prefetch;
	conf->prefetch.window_s = 600;
	conf->prefetch.grace_s = 60;
	vs_plans.made = vs_plans.used = vs_plans.removed = 0;
	core_set_port(&port);
	nplan = 0;
}

STAGE void stage(int nodes, int hosts, int vfs, const char *retention,
		 int prefetch)
{
	begin(nodes, hosts, vfs, retention);
	prefetch_is(prefetch);
	ready();
}

STAGE void planned(uint32_t job, const char *node, int64_t in_s)
{
	struct vs_slurm_planned *p = &plan[nplan++];

	*p = (struct vs_slurm_planned) { .job = job, .in_s = in_s };
	vs_strlcpy(p->node, node, sizeof(p->node));
}

STAGE void ends(uint32_t job, const char *node, int64_t in_s)
{
	planned(job, node, in_s);
	plan[nplan - 1].ends = true;
}

/* Slurm's plan is read, and some turns go by. */
STAGE void plan_is_read(void)
{
	vs_prefetch_read(&vs_core, now);
	turns(3);
}

STAGE void goes_by(int64_t seconds)
{
	now += seconds * 1000;
	plan_is_read();
}

/* vm1 runs job 1 on the only VF and gives it back; vm2 is planned for job 2. */
STAGE void one_vf_that_comes_free(void)
{
	stage(2, 1, 1, "power_off", 4);
	bring_up(1, "vm1");
	planned(2, "vm2", 100);
	ends(1, "vm1", 90);
}

STAGE void cloned_ahead(void)
{
	one_vf_that_comes_free();
	plan_is_read();
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_non_null(fake_get("vm2"));
}

#endif
