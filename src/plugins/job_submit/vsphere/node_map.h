/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of Slurm's nodes are managed, by their indexes. */
#ifndef VS_PLUGINS_JOB_SUBMIT_VSPHERE_NODE_MAP_H
#define VS_PLUGINS_JOB_SUBMIT_VSPHERE_NODE_MAP_H

#include "engine/run/api.h"
#include "plugins/slurm/compat.h"

struct vs_node_map {
	const struct vs_core_api *core;
	int size;			/* of ids and kinds: all nodes */
	bitstr_t *nodes;		/* the managed ones */
	bitstr_t *alone;		/* those whose VMs are for one job each */
	bitstr_t **like;		/* the same, by kind.like */
	size_t nlike;
	int *ids;			/* the core's, -1 */
	struct vs_vm_type *kinds;
	char **adapters;		/* their names, NULL at the end */
};

/*
 * NULL: the core isn't there, or has none. Under NODE R; what is returned holds
 * until vs_node_map_put(), which is due unless it was NULL.
 */
const struct vs_node_map *vs_node_map_get(void);
void vs_node_map_put(void);

/* The adapter of that name, -1. */
int vs_node_map_adapter(const struct vs_node_map *o, const char *name);

#endif
