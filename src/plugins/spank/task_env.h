/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A task's environment variables, made of what its node's files say. */
#ifndef VS_PLUGINS_SPANK_TASK_ENV_H
#define VS_PLUGINS_SPANK_TASK_ENV_H

#include <slurm/spank.h>
#include "plugins/guest_files.h"

/*
 * Sets SLURM_VSPHERE_* of sp's tasks to what is true on this node, and the
 * variables of UCX and NCCL unless the user has set them. g NULL: no variable is
 * wanted. A step inherits the environment of its batch script, which may run on
 * another node, so values that are not true here are removed.
 */
void vs_env_make(spank_t sp, const struct vs_guest *g);

#endif
