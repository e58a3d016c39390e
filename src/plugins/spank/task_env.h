/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A task's variables, from what its node's files say. Pure. */
#ifndef VS_PLUGINS_SPANK_TASK_ENV_H
#define VS_PLUGINS_SPANK_TASK_ENV_H

#include "plugins/guest_files.h"

struct vs_env {			/* a task's environment */
	void *ctx;
	/* 0 with the value; else -1. A value that is too long is cut. */
	int (*get)(void *ctx, const char *name, char *value, size_t size);
	void (*set)(void *ctx, const char *name, const char *value);
	void (*unset)(void *ctx, const char *name);
};

/*
 * SLURM_VSPHERE_* as they are on this node, and what UCX and NCCL ask for,
 * unless the user has set that. g NULL: none of it is wanted. A step inherits
 * its batch script's environment, which may be another node's: what isn't true
 * here is taken away.
 */
void vs_env_make(const struct vs_env *env, const struct vs_guest *g);

#endif
