/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A submission's or an update's fields in one form. Slurm says "not said" in
 * half a dozen ways; an update says only what it changes, the rest is the job's.
 */
#include "request.h"
#include "util/mem.h"

static const char *said(const char *s)
{
	return s && s[0] ? s : NULL;
}

static uint32_t number(uint32_t n)
{
	return n == NO_VAL || n == INFINITE ? 0 : n;
}

static uint32_t number16(uint16_t n)
{
	return n == NO_VAL16 || n == INFINITE16 ? 0 : n;
}

/* Tasks that share CPUs need no more of them. */
static bool shares_cpus(const job_desc_msg_t *desc)
{
	return desc->overcommit && desc->overcommit != NO_VAL8;
}

static void cpus_take(struct vs_request *w, const job_desc_msg_t *desc)
{
	uint32_t each = number16(desc->cpus_per_task);
	uint64_t all = (uint64_t)number(desc->num_tasks) * (each ? each : 1);

	w->cpus = number(desc->min_cpus);
	if (all > w->cpus && all < NO_VAL)
		w->cpus = (uint32_t)all;
	w->cpus_each = MAX(each, number16(desc->pn_min_cpus));
	if (shares_cpus(desc))
		w->cpus = w->cpus_each = 0;
}

void vs_request_read_new(struct vs_request *w, const job_desc_msg_t *desc)
{
	*w = (struct vs_request) {
		.user = desc->user_id,
		.features = said(desc->features),
		.prefer = said(desc->prefer),
		.partition = said(desc->partition),
		.named = said(desc->req_nodes),
		.excluded = said(desc->exc_nodes),
		.licenses = said(desc->licenses),
		.reserved = said(desc->reservation),
		.alone = VS_SHARED_ALONE(desc->shared),
		.min = number(desc->min_nodes),
		.max = number(desc->max_nodes),
		.tasks = number(desc->num_tasks),
		.tasks_per_node = number16(desc->ntasks_per_node),
	};
	cpus_take(w, desc);
}

static void wish_of_job(struct vs_request *w, const job_record_t *job_ptr)
{
	const vs_job_details_t *d = job_ptr->details;

	*w = (struct vs_request) {
		.job = job_ptr->job_id,
		.user = job_ptr->user_id,
		.features = said(d->features),
		.partition = said(job_ptr->partition),
		.named = said(d->req_nodes),
		.excluded = said(d->exc_nodes),
		.licenses = said(job_ptr->licenses),
		.reserved = said(job_ptr->resv_name),
		.alone = d->whole_node & WHOLE_NODE_REQUIRED,
		.min = number(d->min_nodes),
		.max = number(d->max_nodes),
		.tasks = number(d->num_tasks),
		.tasks_per_node = number16(d->ntasks_per_node),
		.cpus = d->overcommit ? 0 : number(d->min_cpus),
		.cpus_each = number16(d->pn_min_cpus),
	};
}

bool vs_request_read_change(struct vs_request *w, const job_desc_msg_t *desc,
			    const job_record_t *job_ptr)
{
	bool sizes = desc->min_nodes != NO_VAL || desc->num_tasks != NO_VAL ||
		desc->min_cpus != NO_VAL || desc->ntasks_per_node != NO_VAL16;
	const struct { const char *to; const char **at; } texts[] = {
		{ desc->features, &w->features },
		{ desc->partition, &w->partition },
		{ desc->req_nodes, &w->named },
		{ desc->exc_nodes, &w->excluded },
		{ desc->licenses, &w->licenses },
	};
	bool changes = sizes || desc->shared != NO_VAL16;

	if (!IS_JOB_PENDING(job_ptr) || !job_ptr->details)
		return false;
	wish_of_job(w, job_ptr);
	w->prefer = said(desc->prefer);
	w->reserved |= desc->reservation != NULL;
	for (size_t i = 0; i < VS_COUNT(texts); i++) {
		if (!texts[i].to)
			continue;
		*texts[i].at = said(texts[i].to);
		changes = true;
	}
	if (desc->min_nodes != NO_VAL)
		w->min = number(desc->min_nodes);
	if (desc->max_nodes != NO_VAL)
		w->max = number(desc->max_nodes);
	/* Slurm works out the one from the other by itself. */
	if (sizes)
		w->tasks = w->tasks_per_node = w->cpus = 0;
	if (desc->shared != NO_VAL16)
		w->alone = VS_SHARED_ALONE(desc->shared);
	return changes || w->prefer;
}

static uint32_t shares(uint32_t all, uint32_t each)
{
	return each ? all / each + !!(all % each) : 0;
}

uint32_t vs_request_by_tasks(const struct vs_request *w)
{
	return shares(w->tasks, w->tasks_per_node);
}

uint32_t vs_request_least(const struct vs_request *w, uint32_t cpus_per_node)
{
	uint32_t by_tasks = vs_request_by_tasks(w);
	uint32_t by_cpus = w->cpus_each > cpus_per_node ? 0 :
		shares(w->cpus, cpus_per_node);

	return MAX(MAX(w->min, 1), MAX(by_tasks, by_cpus));
}

/* ---- partitions ---------------------------------------------------------------- */

static bool among(part_record_t *const *parts, size_t n,
		  const part_record_t *part_ptr)
{
	while (n--)
		if (parts[n] == part_ptr)
			return true;
	return false;
}

bool vs_parts_each(const struct vs_request *w, vs_part_fn *fn, void *arg)
{
	VS_FREE part_record_t **seen = NULL;
	const char *at = w->partition;
	size_t n = 0;

	if (!at)
		return default_part_loc && fn(arg, default_part_loc);
	seen = vs_calloc(strlen(at) / 2 + 1, sizeof(*seen));
	while (*at) {
		size_t len = strcspn(at, ",");
		VS_FREE char *name = vs_asprintf("%.*s", (int)len, at);
		part_record_t *part_ptr = len ? find_part_record(name) : NULL;

		if (len && !part_ptr)
			return false;
		if (len && !among(seen, n, part_ptr)) {
			if (!fn(arg, part_ptr))
				return false;
			seen[n++] = part_ptr;
		}
		at += len + !!at[len];
	}
	return true;
}
