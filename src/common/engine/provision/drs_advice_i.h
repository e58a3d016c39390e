/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What drs_advice.c keeps, for it and its tests. The lock is
 * held. */
#ifndef VS_ENGINE_DRS_ADVICE_I_H
#define VS_ENGINE_DRS_ADVICE_I_H

#include "engine/state/core_i.h"

struct vs_drs {
	bool on;			/* Placement=drs */
	struct { uint64_t id; char node[VS_NAME_LEN]; } asks[VS_DRS_ASKING];
	size_t nasks;
	/* answers: our own place, another that we took, one that we couldn't
	 * take; none (DRS off, no right, late ...) */
	uint64_t agreed, moved, refused, failed;
};
extern struct vs_drs vs_drs;

#endif
