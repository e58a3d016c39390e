/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of forecast/ keep together, for them and their tests. The lock is
 * held. */
#ifndef VS_ENGINE_FORECAST_I_H
#define VS_ENGINE_FORECAST_I_H

#include "engine/forecast/forecast.h"

struct vs_forecast_profile {			/* of a profile */
	struct vs_capacity_released gains;		/* from when VMs go */
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

#endif
