/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of slurm_ops/ ask of each other; see engine/slurm/slurm_ops.h for each. */
#ifndef VS_PLUGINS_SLURM_OPS_OPS_I_H
#define VS_PLUGINS_SLURM_OPS_OPS_I_H

#include "engine/slurm/slurm_ops.h"
#include "plugins/slurm/compat.h"

/* Running, or suspended in the middle of it. */
bool vs_slurm_on_its_nodes(const job_record_t *job_ptr);
/* A job that has been launched is on the node. Under JOB R, from a thread of
 * our own (it walks the job list). */
bool vs_slurm_node_runs(const node_record_t *node_ptr);
/* Returns true if Slurm itself set the node DOWN because slurmd didn't
 * answer. */
bool vs_slurm_node_silent(const node_record_t *node_ptr);

/* Drained or set down by a person or a health check. NODE R. */
bool vs_slurm_node_taken(const node_record_t *node_ptr);

/* node_repair.c */

/* Returns true if the node is powered down, and none of Slurm's own rules would
 * make it usable again. The caller holds NODE R. */
bool vs_slurm_node_stuck(const node_record_t *n);
/* Repairs those of the named nodes that are still stuck. The caller is a thread
 * of the engine and holds no lock of slurmctld's. */
void vs_slurm_nodes_repair(const char *const *names, size_t n);
/* Returns the node's ResumeTimeout in seconds. The caller holds NODE R. */
int vs_slurm_resume_timeout(const node_record_t *n);
/* Makes a node idle that is to be powered down, counts as allocated and has no
 * job: power saving powers down only nodes that are idle or DOWN. Leaves every
 * other node alone. The caller holds JOB W and NODE W. */
void vs_slurm_node_emptied(node_record_t *n);

#define VS_SLURM_SLICE 500	/* nodes, under one hold of slurmctld's lock */

/* The node of this name, NULL: there is none. Names in the order of Slurm's
 * table, *next 0 at first, are found without a search. NODE R at least. */
node_record_t *vs_slurm_node_next(const char *name, int *next);

int vs_slurm_node_set(void *ctx, const char *node, enum vs_slurm_request change,
		      uint32_t job, const char *reason);
void vs_slurm_nodes_boot_push(void *ctx, const char *const *nodes, size_t n);
void vs_slurm_node_booted(void *ctx, const char *node, int64_t ago_ms,
			  bool ask);
void vs_slurm_power_scan(void *ctx);
void vs_slurm_job_requeued(void *ctx, uint32_t job, const char *text);
void vs_slurm_job_assignment(void *ctx, uint32_t job,
			     const struct vs_slurm_assignment *rows, size_t n);

/* What it waits for by its record. Under JOB R. */
enum vs_job_waits vs_slurm_waits(const job_record_t *job_ptr);

/* jobs.c */
uint32_t vs_slurm_job_part(void *ctx, uint32_t job, bool component,
			   uint32_t n);
void vs_slurm_jobs_read(void *ctx, struct vs_slurm_job *rows, size_t n);

/* job_nodes.c */

/* Fills *nodes for a pending job. The caller holds JOB R and NODE R. */
void vs_slurm_job_nodes_fill(struct vs_slurm_job_nodes *nodes,
			     const job_record_t *job_ptr);

/* reservations.c */
void vs_slurm_resvs_set(void *ctx, const struct vs_slurm_resv *rows, size_t n);

/* planned_jobs.c */
size_t vs_slurm_planned_jobs(void *ctx, int64_t within_s,
			     struct vs_slurm_planned *rows, size_t max);

#endif
