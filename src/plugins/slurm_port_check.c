/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm.conf's part of `svf check`, for the port: asked from the control
 * channel's thread, under a read lock for as long as a few strings take.
 */
#include "slurm_check.h"
#include "slurm_port_i.h"

void vs_port_slurm_check(void *ctx, const struct vs_slurm_bounds *b,
			 vs_slurm_found *fn, void *arg)
{
	(void)ctx;
	vs_lock_parts_read();
	vs_slurm_checks(b, fn, arg);
	vs_unlock_parts_read();
}
