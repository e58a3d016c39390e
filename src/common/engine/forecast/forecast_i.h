/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of forecast/ keep together, for them and their tests. The lock is
 * held. */
#ifndef VS_ENGINE_FORECAST_I_H
#define VS_ENGINE_FORECAST_I_H

#include "engine/forecast/forecast.h"

struct vs_forecast_profile {			/* of a profile */
	struct vs_capacity_released gains;		/* from when VMs go */
	/* Is a VF for it free? For that free capacity and those facts. */
	bool vf_free;
	uint64_t vf_free_of;
	uint32_t vf_free_facts;
	/* VFs for it that the first i groups of the timeline hold, by i; at that
	 * generation of the timeline and of the hosts */
	size_t *held, held_cap;
	uint64_t held_of, held_hosts;
	/* who was refused, and may not be passed by those behind it */
	uint32_t first;			/* a job, 0: none */
	uint64_t rank;
	int64_t first_ms;
};

struct vs_forecast {
	struct vs_timeline timeline;
	struct vs_forecast_profile *kinds;	/* c->nprofiles of them */
	size_t nkinds;
	size_t *need;			/* by kind, for one question */
	uint64_t shared_of;		/* generation of the hosts */
};
extern struct vs_forecast vs_forecast;

/* Returns true if some host has a VF free that this kind of VM can have. */
bool vs_forecast_vf_is_free(struct vs_core *c, size_t kind);

/* Returns, by i from 0 to timeline.ngroups, how many VFs that this kind of VM can
 * have the first i groups of the timeline hold. Valid until the next change. */
const size_t *vs_forecast_vfs_held(struct vs_core *c, size_t kind);

#endif
