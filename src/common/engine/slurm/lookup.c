/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm is asked when a user asks, and not on the engine's beat: only then is it known
 * who asks and about what, and a site where nobody asks pays nothing.
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
	uint32_t (*job_of)(void *ctx, uint32_t job, uint32_t n);
	unsigned long n;
	char *end;

	n = strtoul(digits, &end, 10);
	if (!p || *end || *digits < '0' || *digits > '9' || n >= UINT32_MAX)
		return 0;
	job_of = component ? p->component_job : p->task_job;
	return job_of ? job_of(p->ctx, job, (uint32_t)n) : 0;
}

int vs_lookup_job(uint32_t job, const struct vs_viewer *viewer,
		  struct vs_job_said *out)
{
	const struct vs_slurm_ops *p = vs_core.port;
	struct vs_slurm_job_look look = { .job = job };
	uint32_t owner = 0;

	*out = (struct vs_job_said) { .waits = VS_WAITS_NOT };
	if (p->job_info(p->ctx, job, &owner, out->state, sizeof(out->state),
			out->reason, sizeof(out->reason)) ||
	    !sees_job(viewer, owner))
		return -1;
	if (p->jobs_look)
		p->jobs_look(p->ctx, &look, 1);
	out->start = look.start;
	if (!strcmp(out->state, "PENDING"))
		out->waits = p->job_waits(p->ctx, job);
	return 0;
}

void vs_lookup_nodes_jobs(void *lookup)
{
	const struct vs_slurm_ops *p = vs_core.port;
	struct vs_lookup *l = lookup;

	p->nodes_jobs(p->ctx, l->nodes, l->n);
	for (size_t i = 0; i < l->n; i++)
		if (!sees_job(l->viewer, l->nodes[i].uid))
			l->nodes[i].job = 0;
}

void vs_lookup_jobs(void *lookup)
{
	const struct vs_slurm_ops *p = vs_core.port;
	struct vs_lookup *l = lookup;

	if (p->jobs_info)
		p->jobs_info(p->ctx, l->jobs, l->n);
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
