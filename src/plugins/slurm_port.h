/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the core asks of Slurm: struct vs_port over slurmctld's own functions. */
#ifndef VS_SLURM_PORT_H
#define VS_SLURM_PORT_H

#include <stdbool.h>
#include "slurm_compat.h"
#include "engine/core.h"
#include "engine/port.h"
#include "util/log.h"

/* Every reason that we write begins so; only those are ours to clear. */
#define VS_REASON_TAG "slurm-vsphere: "

extern const struct vs_port vs_slurm_port;

/* This process controls the cluster (node_init has come) or not; returns what
 * was so before. */
bool vs_port_active_set(bool active);
/* The same, at node_init: it takes control now, or goes on having it. */
bool vs_port_take(void);

/* A node that was created at run time and can't be served: no job shall get it.
 * Under JOB W, NODE W, PART W. */
void vs_port_node_refuse(node_record_t *n, const char *why);

/* What the job's record says of its wait is over, or (renew) is over if the job
 * waits for something else. JOB W. */
void vs_port_wait_over(job_record_t *job_ptr);
void vs_port_wait_renew(job_record_t *job_ptr);

/* slurmctld's log. */
vs_log_sink vs_slurm_log;

#endif
