/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What / looks for: a job by its number as squeue writes it (12 is all of an
 * array), else hosts whose name has the text in it, and a user's jobs. A number
 * that is a job's is no part of a host's name.
 */
#include <string.h>
#include <strings.h>

#include "top.h"

static bool is_job(const struct top_job *j, const char *text)
{
	size_t len = strlen(text);

	return !strncmp(j->id, text, len) &&
	       (!j->id[len] || j->id[len] == '_' || j->id[len] == '+');
}

static bool names_a_job(const struct top_view *v, const struct top_model *m)
{
	for (size_t i = 0; i < m->njobs; i++)
		if (is_job(&m->jobs[i], v->search))
			return true;
	return false;
}

bool top_job_found(const struct top_view *v, const struct top_model *m, int job)
{
	return v && v->found && v->search[0] && job >= 0 &&
		(is_job(&m->jobs[job], v->search) ||
		 !strcmp(m->jobs[job].user, v->search));
}

bool top_host_found(const struct top_view *v, const struct top_model *m,
		    const struct top_host *h)
{
	size_t len = v ? strlen(v->search) : 0;

	if (!len || !v->found || names_a_job(v, m))
		return false;
	for (const char *p = h->name; *p; p++)
		if (!strncasecmp(p, v->search, len))
			return true;
	return false;
}

static bool has_found(const struct top_view *v, const struct top_model *m,
		      const struct top_host *h)
{
	for (int i = 0; i < h->npfs; i++)
		for (int k = 0; k < h->pfs[i].ncells; k++)
			if (top_job_found(v, m, h->pfs[i].cells[k].job))
				return true;
	return false;
}

long top_find(const struct top_view *v, const struct top_model *m,
	      const size_t *order, size_t from)
{
	for (size_t i = 1; i <= m->nhosts; i++) {
		size_t at = (from + i) % m->nhosts;
		const struct top_host *h = &m->hosts[order[at]];

		if (top_host_found(v, m, h) || has_found(v, m, h))
			return (long)at;
	}
	return -1;
}
