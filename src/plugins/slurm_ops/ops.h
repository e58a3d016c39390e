/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the core asks of Slurm: struct vs_slurm_ops over slurmctld's own
 * functions. */
#ifndef VS_PLUGINS_SLURM_OPS_OPS_H
#define VS_PLUGINS_SLURM_OPS_OPS_H

#include <stdbool.h>
#include "engine/state/config.h"
#include "plugins/slurm/compat.h"
#include "engine/slurm/slurm_ops.h"
#include "util/err.h"
#include "util/log.h"

/* Every reason that slurm-vsphere writes begins so. It clears no others. */
#define VS_REASON_TAG "slurm-vsphere: "

extern const struct vs_slurm_ops vs_slurm_ops_table;

/* This process controls the cluster (node_init has come) or not; returns what
 * was so before. */
bool vs_slurm_active_set(bool active);
/* The same, at node_init: this process takes control now, or keeps it. */
bool vs_slurm_take(void);

/* A node that was created at run time and can't be served: no job shall get it.
 * Under JOB W, NODE W, PART W. */
void vs_slurm_node_refuse(node_record_t *n, const char *why);

/* Makes a node idle that is powered down, and that none of Slurm's own rules would
 * make usable again. Leaves every other node alone. The caller holds JOB W and
 * NODE W. */
void vs_slurm_node_repair(node_record_t *n);
/* Keeps power saving from ending a boot of more than half of ResumeTimeout
 * before the engine has judged it. boot_req_time stays: slurmctld would refuse a
 * guest that booted before it. The caller holds NODE W. */
void vs_slurm_node_boot_kept(node_record_t *n);

/* What the job's record says of its wait is over, or (renew) is over if the job
 * waits for something else. JOB W. */
void vs_slurm_wait_over(job_record_t *job_ptr);
void vs_slurm_wait_renew(job_record_t *job_ptr);

/* slurmctld's log. */
vs_log_sink vs_slurm_log;

#endif
