/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core's state as unit tests see and set it. No other file of the unit tests
 * but their stage (engine_stage.h) names a member of struct vs_core, so that a
 * member can move to another module by a change of this file.
 */
#ifndef CORE_ACCESS_H
#define CORE_ACCESS_H

#include "engine/state/state.h"
#include "util/mem.h"

static inline struct vs_inventory *core_inv(void)
{
	return &vs_core.inv;
}

static inline struct vs_ledger *core_ledger(void)
{
	return &vs_core.ledger;
}

static inline struct vs_conf *core_conf(void)
{
	return vs_core.conf;
}

static inline struct vs_node *core_nodes(void)
{
	return vs_core.nodes;
}

static inline size_t core_nnodes(void)
{
	return vs_core.nnodes;
}

static inline struct vs_profile *core_profiles(void)
{
	return vs_core.profiles;
}

/* One row for each profile. */
static inline struct vs_profile_capacity *core_capacity(void)
{
	return vs_core.now;
}

static inline struct vs_adapter *core_adapters(void)
{
	return vs_core.adapters;
}

/* ---- values that tests read and set --------------------------------------------- */

#define CORE_VALUE(type, name) \
static inline type core_##name(void) \
{ \
	return vs_core.name; \
} \
static inline void core_set_##name(type value) \
{ \
	vs_core.name = value; \
}

#define CORE_TEXT(name) \
static inline const char *core_##name(void) \
{ \
	return vs_core.name; \
} \
static inline void core_set_##name(const char *value) \
{ \
	vs_strlcpy(vs_core.name, value, sizeof(vs_core.name)); \
}

typedef int64_t core_clock_fn(void);

CORE_VALUE(bool, observe)
CORE_VALUE(bool, found)
CORE_VALUE(bool, loaded)
CORE_VALUE(bool, ready)
CORE_VALUE(bool, started)
CORE_VALUE(uint64_t, epoch)
CORE_VALUE(uint32_t, facts_epoch)
CORE_VALUE(int, release)
CORE_VALUE(const struct vs_slurm_ops *, port)
CORE_VALUE(struct vs_vc *, vc)
CORE_VALUE(core_clock_fn *, clock)

CORE_TEXT(cluster_id)
CORE_TEXT(folder)
CORE_TEXT(blocked)
CORE_TEXT(unserved)
CORE_TEXT(vc_state)

#undef CORE_VALUE
#undef CORE_TEXT

#endif
