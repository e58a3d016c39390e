/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vsphere.conf checked against slurm.conf, and Slurm's nodes brought together
 * with it. For processes that have Slurm's library: slurmctld, and what reads the
 * file alone also slurm-vsphere-check.
 */
#ifndef VS_PLUGINS_CONF_LOAD_H
#define VS_PLUGINS_CONF_LOAD_H

#include <stdint.h>
#include "plugins/slurm/conf_check.h"
#include "plugins/slurm/compat.h"
#include "conf.h"

/* Beside slurm.conf; free() it. */
char *vs_conf_path(void);

/*
 * Read, parse and check the file: all but the nodes. conf gets what slurm.conf
 * knows too (SlurmUser, StateSaveLocation, ...). The file's lines stay in *f for later
 * messages. NULL with err.
 */
struct vs_conf *vs_conf_read(const char *path, struct vs_conf_file *f,
			     struct vs_err *err);

/* The same from lines that were read before. */
struct vs_conf *vs_conf_build(const struct vs_conf_file *f, struct vs_err *err);

/* Nodes that were created at run time and can't be served, and why, in the order
 * in which they were found. */
struct vs_conf_refused {
	struct vs_conf_refusal { node_record_t *node_ptr; char *why; } *nodes;
	size_t n, cap;
};

/*
 * Fills conf->nodes from Slurm's partitions and nodes. Adds each node that was
 * created at run time and can't be served to *refused, and leaves it out of conf.
 * Returns 0 on success. Returns -1 and sets err if any other node can't be served;
 * *refused has what was found until then. The caller holds slurmctld's JOB, NODE
 * and PART locks, zeroes *refused before the call, and frees it after the call.
 */
int vs_conf_add_nodes(struct vs_conf *conf, struct vs_conf_file *f,
		      struct vs_conf_refused *refused, struct vs_err *err);
void vs_conf_refused_free(struct vs_conf_refused *refused);

/* The same for equal configurations. */
uint64_t vs_conf_hash(const struct vs_conf *conf);

/* The memory in MB of a VM for a node with that RealMemory, by the partition's rule:
 * a multiple of 4, as vCenter wants. */
int64_t vs_conf_memory_mb(const struct vs_conf_partition *p, uint64_t real);

/* For vs_conf_fill(): Slurm's host lists. */
char **vs_conf_expand_slurm(const char *list);

#endif
