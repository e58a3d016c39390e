/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who asks: what Slurm says of the user of a request. No lock is held, because
 * Slurm takes its own.
 */
#include "engine/rpc/rpc.h"
#include "engine/slurm/slurm_ops.h"
#include "engine/state/core_i.h"

bool vs_core_is_operator(uint32_t uid)
{
	const struct vs_slurm_ops *p = vs_core.port;

	return p && p->is_operator(p->ctx, uid);
}
