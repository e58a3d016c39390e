/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm-vsphere-check: what its files share. See main.c for what it is. main.c sees no
 * header of Slurm's, and slurm_side.c none of the engine but plain data.
 */
#ifndef CHECK_H
#define CHECK_H

#include "engine/slurm/slurm_ops.h"
#include "engine/state/config.h"
#include "util/err.h"

/* Reads slurm.conf by Slurm's own code, which ends the process if it can't. Returns
 * the file's path and sets *slurm_user. */
const char *check_slurm_read(unsigned int *slurm_user);
/* vs_slurm_ops.slurm_check: the settings of slurm.conf. */
void check_slurm_conf(void *ctx, const struct vs_slurm_bounds *b,
		      vs_slurm_found *fn, void *arg);
/*
 * Reads vsphere.conf beside slurm.conf, and the nodes that slurm.conf has in its
 * partitions: those with State=CLOUD. Nodes that are created at run time are unknown
 * here. *path is the caller's to free in any case. Returns NULL and sets err if a line
 * is wrong, if the password file or the CA file can't be used, or if slurm.conf lacks
 * a partition or its nodes.
 */
struct vs_conf *check_conf_read(char **path, struct vs_err *err);

#endif
