/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Slurm knows of a request of svf: what its user may do and see (PrivateData),
 * and the jobs that it is about. No lock is held, because Slurm takes its own.
 */
#ifndef VS_ENGINE_LOOKUP_H
#define VS_ENGINE_LOOKUP_H

#include "engine/slurm/slurm_ops.h"
#include "plan/checks/checks.h"

/* Returns what Slurm permits this user. Before start() that is nothing. */
struct vs_viewer vs_lookup_viewer(uint32_t uid);

/* Returns the job of a part of this one, as Slurm writes it: "3", an array's task, or
 * "+1", a component of a heterogeneous job. Returns 0 if there is none. */
uint32_t vs_core_part(uint32_t job, const char *part);

/* Fills *job. Returns 0. Returns -1 if the job is not there, or the user may not
 * see it. */
int vs_lookup_job(struct vs_slurm_job *job, const struct vs_viewer *viewer);

/* A question and its answer, for vs_lock_yield_to(). Its arrays are the caller's. */
struct vs_lookup {
	const struct vs_viewer *viewer;
	struct vs_slurm_node_job *nodes;
	struct vs_slurm_job *jobs;
	size_t n;			/* nodes or jobs */
	struct vs_slurm_bounds bounds;
	struct vs_found_list found;
};

/* What Slurm has on each of l->nodes. Job 0: there is none, or the user may not see
 * it. Nothing is known if no plugin answers. */
void vs_lookup_nodes_jobs(void *l);
/* All of l->jobs, by number; `there` is false also for one that the user may not see. */
void vs_lookup_jobs(void *l);
/* Adds what is wrong in slurm.conf to l->found, which the caller clears. */
void vs_lookup_slurm_conf(void *l);

#endif
