/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf why: what one job waits for, or what its nodes do.
 *
 * Slurm's own reason stands first, then what blocks all managed nodes now, then what
 * Slurm's latest test of the job met. The lock is held.
 */
#include <stdio.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/clone_source/clone_source.h"
#include "engine/forecast/forecast.h"
#include "engine/jobs/jobs.h"
#include "engine/provision/provision.h"
#include "engine/report/report.h"
#include "engine/report/report_i.h"
#include "engine/state/state.h"
#include "util/hostlist.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/time.h"

/* What the node's VM is waited for. */
static void slow_text(const struct vs_node *n, char *text, size_t size)
{
	const char *waits = vs_clone_source_waits(n);
	bool failed = n->retry.err.code != VS_OK;

	if (waits)
		snprintf(text, size, "%s %s", n->name, waits);
	else
		snprintf(text, size, "%s: %s%s%s", n->name,
			 n->op.kind != VS_OP_NONE ? vs_op_name(n->op.kind) :
			 n->seen == VS_OBSERVED_ON ? "booting" :
			 vs_action_name(n->action),
			 failed ? "; last error: " : "",
			 failed ? n->retry.err.text : "");
}

static void why_nodes(struct vs_core *c, uint32_t job, char *text, size_t size)
{
	size_t up = 0, all = 0;
	const struct vs_node *slow = NULL;
	char why[sizeof(slow->retry.err.text) + 256];

	for (size_t i = 0; i < c->nnodes; i++) {
		const struct vs_node *n = &c->nodes[i];

		if (!vs_job_has(n, job))
			continue;
		all++;
		if (n->flags & VS_NODE_UP)
			up++;
		else
			slow = n;
	}
	if (slow)
		slow_text(slow, why, sizeof(why));
	if (slow)
		snprintf(text, size, "%zu of %zu node%s %s up; %s", up, all,
			 vs_plural(all), all == 1 ? "is" : "are", why);
	else if (all == 1)
		snprintf(text, size, "its node is up");
	else if (all)
		snprintf(text, size, "all %zu nodes are up", all);
}

static void why_rows(struct vs_core *c, struct json_object *top, uint32_t job)
{
	struct json_object *arr = vs_jb_arr();

	for (size_t i = 0; i < c->nnodes; i++)
		if (vs_job_has(&c->nodes[i], job))
			vs_jb_add(arr, vs_report_node_row(c, &c->nodes[i],
							  job));
	vs_jb_put(top, "nodes", arr);
}

/* Which of the nodes that the job may use are managed. */
enum managed { NONE_MANAGED, SOME_MANAGED, ALL_MANAGED };

static enum managed nodes_managed(struct vs_core *c, const char *may_use)
{
	char **names = may_use ? vs_hostlist_expand(may_use) : NULL;
	size_t all = 0, managed = 0;

	for (; names && names[all]; all++)
		managed += vs_node_named(c, names[all]) != NULL;
	vs_hostlist_free(names);
	return !managed ? NONE_MANAGED :
	       managed < all ? SOME_MANAGED : ALL_MANAGED;
}

/* Slurm's tests of the job have left no reason: not yet, or because it needs nothing
 * of vSphere. What blocks all managed nodes is known without a test. Returns when it
 * is expected to begin, 0: unknown. */
static int64_t why_untested(struct vs_core *c, const struct vs_slurm_job *job,
			    const char *blocked, char *text, size_t size)
{
	const struct vs_slurm_job_nodes *nodes = job->text->nodes;
	enum managed managed = nodes_managed(c, nodes ? nodes->may_use : NULL);
	int64_t planned = job->start;
	char at[32] = "";

	if (blocked && managed == ALL_MANAGED) {
		snprintf(text, size, "%s", blocked);
		return 0;
	}
	if (planned - vs_wall_ms() / 1000 >= VS_START_UNKNOWN / 12)
		planned = 0;
	if (planned > vs_wall_ms() / 1000)
		vs_clock_text(planned, at, sizeof(at));
	snprintf(text, size, "%s%s%s%s%s",
		 blocked && managed == SOME_MANAGED ?
		 "Slurm's own reason applies" :
		 managed != NONE_MANAGED && !strcmp(job->text->reason, "None") ?
		 "Slurm has not tested the job yet" :
		 "the job waits for nothing in vSphere; Slurm's own reason applies",
		 at[0] ? ", and Slurm expects its start at " : "", at,
		 blocked && managed == SOME_MANAGED ?
		 "; no VM is started for it: " : "",
		 blocked && managed == SOME_MANAGED ? blocked : "");
	return planned;
}

/* Returns when it is expected to begin, 0: unknown. */
static int64_t why_waits(struct vs_core *c, const struct vs_slurm_job *job,
			 char *text, size_t size)
{
	const char *blocked = vs_query_blocked(c);
	struct vs_pending *r = vs_refusal(job->job);

	if (!r)
		return why_untested(c, job, blocked, text, size);
	if (c->observe || !blocked)
		vs_job_pending_text(c, r, text, size);
	else
		snprintf(text, size, "%s", blocked);
	return blocked ? 0 : vs_estimate_start(r);
}

/* Slurm's own reason of a requeued job, BeginTime, says nothing of its last run. */
static void why_requeued(const struct vs_slurm_job_text *slurm, char *text,
			 size_t size)
{
	size_t len = strlen(text);

	if (slurm->requeued[0])
		snprintf(text + len, size - len, "%sits last run was requeued: %s",
			 len ? "; " : "", slurm->requeued);
}

/* Of the nodes that the job names, those that are out of service. */
static void out_add(const struct vs_slurm_job *job, char *text, size_t size)
{
	const struct vs_slurm_job_nodes *nodes = job->text->nodes;
	size_t len = strlen(text);

	if (nodes && nodes->out)
		snprintf(text + len, size - len, "; %s", nodes->out);
}

void vs_report_why(struct vs_core *c, struct json_object *top,
		   const struct vs_slurm_job *job, bool sees_nodes)
{
	const struct vs_slurm_job_text *slurm = job->text;
	const char *reason = slurm->desc[0] ? slurm->desc : slurm->reason;
	char text[1024] = "";
	int64_t expected = 0;

	vs_assert_locked();
	if (strcmp(slurm->state, "PENDING"))
		why_nodes(c, job->job, text, sizeof(text));
	else if (job->waits == VS_WAITS_ELSE)
		snprintf(text, sizeof(text),
			 "Slurm's own reason applies, before any of vSphere: %s",
			 reason);
	else
		expected = why_waits(c, job, text, sizeof(text));
	if (!strcmp(slurm->state, "PENDING"))
		why_requeued(slurm, text, sizeof(text));
	if (sees_nodes)
		out_add(job, text, sizeof(text));
	if (sees_nodes)
		why_rows(c, top, job->job);
	if (!text[0] && job->is == VS_JOB_GONE)
		snprintf(text, sizeof(text), "the job has ended, and slurm-vsphere keeps nothing of ended jobs. SystemComment in scontrol show job %u has its hosts and PFs; sacct -j %u has its nodes",
			 job->job, job->job);
	else if (!text[0])
		snprintf(text, sizeof(text), "the job has no managed node");
	vs_jb_int(top, "job", job->job);
	vs_jb_str(top, "state", slurm->state);
	vs_jb_str(top, "reason", reason);
	vs_jb_str(top, "text", text);
	if (expected > vs_wall_ms() / 1000)
		vs_jb_int(top, "start_time", expected);
}
