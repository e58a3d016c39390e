/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prologs that wait for their nodes: answered once, when the last node is up,
 * when ProvisionTimeout is over (vCenter there or not), or when the job waits no
 * more. The time of a pause (svf pause) is no part of ProvisionTimeout: see
 * doc/dev/decisions.md.
 */
#include <stdlib.h>
#include "engine/jobs/jobs.h"
#include "engine/jobs/jobs_i.h"
#include "engine/slurm/outbox.h"
#include "engine/slurm/slurm_ops.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"
#include "util/time.h"

struct vs_jobs vs_jobs;

static bool node_up(struct vs_core *c, const struct vs_node *n)
{
	if (!(n->flags & VS_NODE_UP) || vs_node_is(n, VS_COND_REBUILD))
		return false;
	return n->seen == VS_OBSERVED_ON ||
		(n->seen == VS_OBSERVED_ON_WRONG && vs_node_shared_well(c, n));
}

/* True: the wait is over, the prolog is to be answered. */
static bool wait_over(struct vs_core *c, struct vs_wait *w, int64_t now_ms,
		      bool *ok)
{
	VS_FREE char *took = NULL;
	size_t up = 0;

	for (size_t i = 0; i < w->n; i++)
		up += node_up(c, &c->nodes[w->ids[i]]);
	*ok = true;
	if (up == w->n) {
		took = vs_startup_times_text(c, w, now_ms);
		vs_info("JobId=%u all nodes are up nodes=%zu ms=%lld%s%s",
			w->job, w->n, (long long)(now_ms > w->since_ms ?
						  now_ms - w->since_ms : 0),
			took ? " " : "", took ? took : "");
		return true;
	}
	if (!vs_changes_permitted() || now_ms - w->since_ms <
	    (int64_t)c->conf->provision_timeout_s * 1000)
		return false;
	vs_error("JobId=%u its prolog fails: after ProvisionTimeout=%d s %zu of %zu nodes are up",
		 w->job, c->conf->provision_timeout_s, up, w->n);
	*ok = false;
	return true;
}

void vs_wait_end(struct vs_wait **link)
{
	struct vs_wait *w = *link;

	*link = w->next;
	free(w->ids);
	free(w);
}

void vs_waits_update(struct vs_core *c, int64_t now_ms)
{
	struct vs_wait **link = vs_waits_first();

	vs_assert_locked();
	while (*link) {
		struct vs_wait *w = *link;
		bool ok;

		if (!wait_over(c, w, now_ms, &ok)) {
			link = &w->next;
			continue;
		}
		if (ok) {
			vs_job_started(c, w);
			vs_assignment_note(c, w, now_ms);
			vs_startup_times_end(c, w, now_ms);
		}
		vs_outbox_post(VS_REQUEST_PROLOG, NULL, w->job, ok, NULL);
		vs_wait_end(link);
	}
}

void vs_waits_paused(int64_t since_ms, int64_t now_ms)
{
	vs_assert_locked();
	for (struct vs_wait *w = *vs_waits_first(); w; w = w->next)
		w->since_ms += now_ms -
			(w->since_ms > since_ms ? w->since_ms : since_ms);
}

size_t vs_waits_list(struct vs_wait_id **out)
{
	size_t n = 0, all = 0;

	vs_assert_locked();
	for (const struct vs_wait *w = *vs_waits_first(); w; w = w->next)
		all++;
	*out = vs_calloc(all + 1, sizeof(**out));
	for (const struct vs_wait *w = *vs_waits_first(); w; w = w->next)
		(*out)[n++] = (struct vs_wait_id) { w->job, w->restart };
	return n;
}

void vs_wait_gone(const struct vs_wait_id *id)
{
	struct vs_wait **link = vs_waits_first();

	vs_assert_locked();
	while (*link && ((*link)->job != id->job ||
			 (*link)->restart != id->restart))
		link = &(*link)->next;
	if (!*link)
		return;
	vs_outbox_post(VS_REQUEST_PROLOG, NULL, id->job, true, NULL);
	vs_wait_end(link);
}
