/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a job asks for, whether it is new or being changed. */
#ifndef VS_PLUGINS_JOB_SUBMIT_VSPHERE_REQUEST_H
#define VS_PLUGINS_JOB_SUBMIT_VSPHERE_REQUEST_H

#include "plugins/slurm/compat.h"

/* Of numbers 0, of texts NULL: not said. The texts are the request's. */
struct vs_request {
	uint32_t job;			/* 0: it is new */
	uint32_t user;
	const char *features, *prefer, *partition, *named, *excluded;
	const char *licenses;
	bool reserved;			/* it names a reservation */
	bool alone;			/* it gets whole nodes */
	uint32_t min, max;		/* nodes */
	uint32_t tasks, tasks_per_node, cpus;
	uint32_t cpus_each;		/* a task's, on one node */
};

void vs_request_read_new(struct vs_request *w, const job_desc_msg_t *desc);
/* The job as it would be after the change. False: nothing of this changes, or
 * the job doesn't wait. */
bool vs_request_read_change(struct vs_request *w, const job_desc_msg_t *desc,
			    const job_record_t *job_ptr);

/* As many nodes as its tasks need with so many on each; 0: not said. */
uint32_t vs_request_by_tasks(const struct vs_request *w);

/* No fewer nodes than that will do, if one has at most so many CPUs (where a
 * single task wants more than that, Slurm says it). */
uint32_t vs_request_least(const struct vs_request *w, uint32_t cpus_per_node);

/* For each of the job's partitions, once however often it is named; fn ends it
 * by returning false. False also for one that isn't there. */
typedef bool vs_part_fn(void *arg, part_record_t *part_ptr);
bool vs_parts_each(const struct vs_request *w, vs_part_fn *fn, void *arg);

#endif
