/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads Slurm's data when a user asks, not in each pass of the engine: only
 * then are the user and the object known, and without requests it costs
 * nothing.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/slurm/lookup.h"
#include "engine/state/state.h"
#include "util/mem.h"

struct vs_viewer vs_lookup_viewer(uint32_t uid)
{
	const struct vs_slurm_ops *p = vs_core.port;
	struct vs_viewer viewer = { .uid = uid };

	if (p)
		p->viewer(p->ctx, &viewer);
	return viewer;
}

static bool sees_job(const struct vs_viewer *viewer, uint32_t owner)
{
	return viewer->sees_jobs || viewer->uid == owner;
}

uint32_t vs_core_part(uint32_t job, const char *part)
{
	const struct vs_slurm_ops *p = vs_core.port;
	bool component = part[0] == '+';
	const char *digits = part + component;
	unsigned long n;
	char *end;

	n = strtoul(digits, &end, 10);
	if (!p || *end || *digits < '0' || *digits > '9' || n >= UINT32_MAX)
		return 0;
	return p->job_part(p->ctx, job, component, (uint32_t)n);
}

int vs_lookup_job(struct vs_slurm_job *job, const struct vs_viewer *viewer)
{
	const struct vs_slurm_ops *p = vs_core.port;

	p->jobs_read(p->ctx, job, 1);
	return job->there && sees_job(viewer, job->uid) ? 0 : -1;
}

void vs_lookup_nodes_jobs(void *lookup)
{
	const struct vs_slurm_ops *p = vs_core.port;
	struct vs_lookup *l = lookup;

	if (!p || !p->nodes_jobs)
		return;
	p->nodes_jobs(p->ctx, l->nodes, l->n);
	for (size_t i = 0; i < l->n; i++)
		if (!sees_job(l->viewer, l->nodes[i].uid))
			l->nodes[i].job = 0;
}

void vs_lookup_jobs(void *lookup)
{
	const struct vs_slurm_ops *p = vs_core.port;
	struct vs_lookup *l = lookup;

	p->jobs_read(p->ctx, l->jobs, l->n);
	for (size_t i = 0; i < l->n; i++)
		l->jobs[i].there &= sees_job(l->viewer, l->jobs[i].uid);
}

static void conf_found(void *arg, enum vs_check code, const char *is,
		       const char *should, const char *fix)
{
	vs_found_add(arg, code, "slurm.conf", vs_strdup(is),
		     vs_strdup(should), vs_asprintf("slurm.conf: %s", fix));
}

void vs_lookup_slurm_conf(void *lookup)
{
	const struct vs_slurm_ops *p = vs_core.port;
	struct vs_lookup *l = lookup;

	if (p->slurm_check)
		p->slurm_check(p->ctx, &l->bounds, conf_found, &l->found);
	vs_found_sort(&l->found);
}
