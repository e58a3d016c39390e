/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which nodes stock cons_tres takes first. */
#ifndef VS_WEIGHTS_H
#define VS_WEIGHTS_H

#include "../../slurm_compat.h"
#include "engine/core.h"

/*
 * For the next question to stock: sched_weight of the n nodes with the indexes
 * `at`. avail: NULL: no nodes of ours. renew: Slurm has not set them for this
 * question. All candidates must have theirs set, and each once, for they are
 * comparable among themselves alone. NODE W.
 */
void vs_weights_set(const int *at, const enum vs_avail *avail, size_t n,
		    bool renew);
/* All that were set are Slurm's again. */
void vs_weights_restore(void);

#endif
