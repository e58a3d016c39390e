/* SPDX-License-Identifier: GPL-2.0-or-later */
/* suspend.c: jobs whose VMs are suspended for another job's sake. */
#ifndef VS_ENGINE_SUSPEND_I_H
#define VS_ENGINE_SUSPEND_I_H

#include <stdbool.h>
#include <stdint.h>

struct vs_core;

/* One that is being suspended, is, or is being resumed. */
struct vs_suspend {
	struct vs_suspend *next;
	uint32_t job, for_job;
};

/* NULL: it is not. Lock held. */
struct vs_suspend *vs_suspend_of(const struct vs_core *c, uint32_t job);

#endif
