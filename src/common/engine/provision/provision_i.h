/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What drs_advice.c keeps, for it and its tests. The caller holds the core's lock. */
#ifndef VS_ENGINE_PROVISION_I_H
#define VS_ENGINE_PROVISION_I_H

#include "engine/provision/provision.h"

#define VS_DRS_ASKING 16		/* questions under way at once */

struct vs_drs {
	bool on;			/* Placement=drs */
	bool some;			/* of a partition */
	struct { uint64_t id; char node[VS_NAME_LEN]; } asks[VS_DRS_ASKING];
	size_t nasks;
	/* answers: the place that was chosen before, another that was taken, one
	 * that could not be taken; none (DRS off, no privilege, late ...) */
	uint64_t agreed, moved, refused, failed;
};
extern struct vs_drs vs_drs;

#endif
