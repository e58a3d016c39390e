/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What loop.c knows of its passes over the nodes, for it and its tests. The lock is
 * held. */
#ifndef VS_ENGINE_RUN_I_H
#define VS_ENGINE_RUN_I_H

#include "engine/run/run.h"

struct vs_passes {
	int64_t full_ms;		/* all nodes were looked at then, */
	uint32_t facts_epoch;		/* by facts of this generation */
	int64_t whole_ms;		/* all that don't rest were */
	bool whole;			/* in this turn */
	bool astir;			/* something is to be done for a node */
	size_t restless;		/* nodes that don't rest */
	bool keeps;			/* some are up */
};
extern struct vs_passes vs_passes;

#endif
