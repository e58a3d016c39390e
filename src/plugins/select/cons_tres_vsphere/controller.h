/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This process as the one that controls the cluster: vsphere.conf, the core,
 * and which of Slurm's nodes are managed. In slurmctld alone.
 */
#ifndef VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_CONTROLLER_H
#define VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_CONTROLLER_H

#include "engine/run/api.h"
#include "plugins/slurm/compat.h"

/* init: open the core. fatal() if that fails. */
void vs_cluster_open(void);

/* node_init: read and check vsphere.conf and slurm.conf. fatal() if that fails
 * at the first time; later the old configuration stays in force. */
void vs_cluster_take(void);

/* reconfigure: bring nodes and configuration together, start or update the
 * core, hand over the jobs that run. JOB W, NODE W, PART W are held. */
void vs_cluster_refresh(void);

void vs_cluster_stop(void);	/* fini */

/* The core, once it has been started; else NULL. Says that this process is in
 * control, for nothing asks for it in a standby controller. */
const struct vs_core_api *vs_cluster_core(void);

/* The core's ids of our nodes in the bitmap, and their indexes. Both arrays
 * are malloc()ed, and NULL if there are none; returns their number. */
size_t vs_cluster_ids(const bitstr_t *bitmap, int **ids, int **at);
/* The index of the first of them, -1: there is none. */
int vs_cluster_first(const bitstr_t *bitmap);

/* The same for bitmaps of all nodes, many times a second: the arrays are kept
 * from one question to the next. For static storage, under JOB W. */
struct vs_picked {
	int *ids, *at;		/* n managed nodes: core's id, index */
	int *others;		/* the indexes of the rest */
	size_t n, nothers, size;
};
size_t vs_cluster_pick(const bitstr_t *bitmap, struct vs_picked *p);
int vs_cluster_id(const node_record_t *node_ptr);	/* -1: not managed */

#endif
