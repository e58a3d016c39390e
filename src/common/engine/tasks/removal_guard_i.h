/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What removal_guard.c keeps, for it and its tests alone. The lock is held. */
#ifndef VS_ENGINE_REMOVAL_GUARD_I_H
#define VS_ENGINE_REMOVAL_GUARD_I_H

#include "engine/state/core_i.h"

#define VS_REMOVAL_MINUTES 10
struct vs_removal_permit {			/* a VM that it let go */
	char vm[VS_MOID_LEN];
	int64_t minute;			/* since the epoch */
	bool confirmed;			/* by an operator: not counted */
	UT_hash_handle hh;
};
struct vs_removal_request {	/* Slurm has powered its node down */
	char node[VS_NAME_LEN];
	char vm[VS_MOID_LEN];
	int64_t minute;
	UT_hash_handle hh;
};
struct vs_removal_limit {
	bool on;
	struct vs_removal_permit *ends;	/* uthash by vm */
	struct vs_removal_request *asked;	/* uthash by node */
	int64_t asked_minute;		/* when these were looked through */
	int ours;			/* VMs of this cluster */
};
extern struct vs_removal_limit vs_removal_limit;

#endif
