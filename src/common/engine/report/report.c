/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where svf's questions come in: the one place of report that takes the lock.
 *
 * Rules: what Slurm alone knows (who may see what, whose job it is) is looked up
 * before the lock is taken, or in vs_lock_yield_to(). Reports are memory work, and
 * lend the lock when they are long.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/report/report.h"
#include "engine/report/report_i.h"
#include "engine/slurm/lookup.h"
#include "engine/state/state.h"
#include "util/hostlist.h"
#include "util/json.h"
#include "util/mem.h"

enum report { HOSTS, CLONE_SOURCES, NODES, JOBS, WHY, STATUS, CHECK, OBJECTS, RECHECK,
	      RECONCILE, REPORTS };

static const struct {
	const char *name;
	bool of_viewer;		/* the answer is not the same for all users */
} reports[REPORTS] = {
	[HOSTS] = { "hosts", false },
	[CLONE_SOURCES] = { "clone-sources", false },
	[NODES] = { "nodes", true },
	[JOBS] = { "jobs", true },
	[WHY] = { "why", true },
	[STATUS] = { "status", true },
	[CHECK] = { "check", true },
	[OBJECTS] = { "objects", true },
	[RECHECK] = { "recheck", true },
	[RECONCILE] = { "reconcile", true },
};

static enum report report_named(const char *what)
{
	enum report r = HOSTS;

	while (r < REPORTS && strcmp(what, reports[r].name))
		r++;
	return r;
}

static void nodes_free(struct vs_slurm_job_nodes *nodes)
{
	free(nodes->may_use);
	free(nodes->out);
}

struct json_object *vs_core_report(const char *what, uint32_t job,
				   uint32_t uid, struct vs_err *err)
{
	enum report r = report_named(what);
	struct vs_viewer viewer = { .uid = uid };
	struct vs_core *c = &vs_core;
	struct json_object *top;
	struct vs_slurm_job_nodes nodes = { NULL, NULL };
	struct vs_slurm_job_text text = { .nodes = &nodes };
	struct vs_slurm_job slurm = { .job = job, .text = &text };

	if (r == REPORTS) {
		vs_err_set(err, VS_E_REQUEST, "unknown verb: %s", what);
		return NULL;
	}
	if (reports[r].of_viewer)
		viewer = vs_lookup_viewer(uid);
	/* One answer for a job that isn't there and one that isn't the user's. */
	if (r == WHY && vs_lookup_job(&slurm, &viewer)) {
		vs_err_set(err, VS_E_GONE, "no such job: %u", job);
		nodes_free(&nodes);
		return NULL;
	}
	top = vs_jb_obj(NULL);
	vs_lock();
	switch (r) {
	case HOSTS:
		vs_report_hosts(c, top);
		break;
	case CLONE_SOURCES:
		vs_report_clone_sources(c, top);
		break;
	case NODES:
		vs_report_nodes(c, top, &viewer);
		break;
	case JOBS:
		vs_report_jobs(c, top, &viewer);
		break;
	case WHY:
		vs_report_why(c, top, &slurm, viewer.sees_nodes);
		break;
	case STATUS:
		vs_report_status(c, top, viewer.is_operator);
		break;
	case CHECK:
		vs_report_check(c, top, viewer.is_operator);
		break;
	case OBJECTS:
		vs_report_objects(c, top, viewer.sees_nodes);
		break;
	case RECHECK:
		vs_report_recheck(c, top, viewer.is_operator);
		break;
	case RECONCILE:
		vs_report_reconcile(c, top, &viewer);
		break;
	case REPORTS:
		break;
	}
	vs_unlock();
	nodes_free(&nodes);
	return top;
}

struct json_object *vs_core_plan(const char *nodes, uint32_t uid,
				 struct vs_err *err)
{
	char **names = nodes[0] ? vs_hostlist_expand(nodes) : NULL;
	struct json_object *top;
	struct vs_viewer viewer;
	int rc;

	if (!names) {
		vs_err_set(err, VS_E_REQUEST,
			   "plan: a list of nodes is expected");
		return NULL;
	}
	top = vs_jb_obj(NULL);
	viewer = vs_lookup_viewer(uid);
	vs_lock();
	rc = vs_report_plan(&vs_core, top, names, viewer.sees_nodes, err);
	vs_unlock();
	vs_hostlist_free(names);
	if (!rc)
		return top;
	vs_jb_free(top);
	return NULL;
}
