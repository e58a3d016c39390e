/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VMs of a type that may move, each with a job, and hosts that they are to leave:
 * a part of locks_world.h. */
#ifndef VS_BENCH_LOCKS_VMOTION_H
#define VS_BENCH_LOCKS_VMOTION_H

#include "unit/engine_stage.h"
#include "util/json.h"

#define DRAINED 300		/* hosts, from esx501 on */

static bool moves;		/* all are of such a type */

static void of_a_type_that_moves(int nodes)
{
	struct vs_conf *conf = conf_make(nodes, "warm", 1024);

	free(conf->adapters[0].type);
	conf->adapters[0].type = vs_strdup("vmxnet3");
	conf->adapters[0].mtu = 0;
	begin_as(conf);
}

STAGE void hosts_drained(const int *all, int vms, uint32_t first_job)
{
	struct vs_err err = { 0 };
	char name[16];

	for (int i = 0; i < vms; i++)
		vs_job_claim(&vs_core, first_job + (uint32_t)i, 0, &all[i], 1,
			     true);
	turns(3);
	for (int i = 0; i < DRAINED && !err.code; i++) {
		snprintf(name, sizeof(name), "esx%d", i + 501);
		vs_jb_free(vs_core_request("drain", name, "bench", 0, &err));
	}
	if (err.code)
		fprintf(stderr, "%s\n", err.text);
}

#endif
