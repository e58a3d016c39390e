/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where svf's questions come in: the one place of report that takes the lock.
 *
 * Rules: what Slurm alone knows (who may see what, whose job it is) is looked up
 * before the lock is taken, or in vs_lock_yield_to(). Reports are memory work, and
 * lend the lock when they are long.
 */
#include <string.h>
#include "engine/report/report.h"
#include "engine/report/report_i.h"
#include "engine/slurm/lookup.h"
#include "util/hostlist.h"
#include "util/json.h"
#include "util/mem.h"

enum report { HOSTS, CLONE_SOURCES, NODES, JOBS, WHY, STATUS, CHECK, RECHECK,
	      RECONCILE, REPORTS };

static const struct {
	const char *name;
	bool of_nodes, for_operators;	/* whether the user may see nodes, or is
					 * an operator, is asked of Slurm */
} reports[REPORTS] = {
	[HOSTS] = { "hosts", false, false },
	[CLONE_SOURCES] = { "parents", false, false },
	[NODES] = { "nodes", true, false },
	[JOBS] = { "jobs", true, false },
	[WHY] = { "why", true, false },
	[STATUS] = { "status", false, true },
	[CHECK] = { "check", false, true },
	[RECHECK] = { "recheck", false, true },
	[RECONCILE] = { "reconcile", true, true },
};

static enum report report_named(const char *what)
{
	enum report r = HOSTS;

	while (r < REPORTS && strcmp(what, reports[r].name))
		r++;
	return r;
}

struct json_object *vs_core_report(const char *what, uint32_t job,
				   uint32_t uid, struct vs_err *err)
{
	enum report r = report_named(what);
	bool sees_nodes, operator;
	struct vs_core *c = &vs_core;
	struct json_object *top;
	struct vs_job_said slurm;

	if (r == REPORTS) {
		vs_err_set(err, VS_E_REQUEST, "unknown verb: %s", what);
		return NULL;
	}
	/* One answer for a job that isn't there and one that isn't the user's. */
	if (r == WHY && vs_lookup_job(job, uid, &slurm)) {
		vs_err_set(err, VS_E_GONE, "no such job: %u", job);
		return NULL;
	}
	sees_nodes = reports[r].of_nodes && vs_viewer_sees_nodes(uid);
	operator = reports[r].for_operators && vs_core_is_operator(uid);
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
		vs_report_nodes(c, top, uid, sees_nodes);
		break;
	case JOBS:
		vs_report_jobs(c, top, uid, sees_nodes);
		break;
	case WHY:
		vs_report_why(c, top, job, &slurm, sees_nodes);
		break;
	case STATUS:
		vs_report_status(c, top, operator);
		break;
	case CHECK:
		vs_report_check(c, top, operator);
		break;
	case RECHECK:
		vs_report_recheck(c, top, operator);
		break;
	case RECONCILE:
		vs_report_reconcile(c, top, sees_nodes, operator);
		break;
	case REPORTS:
		break;
	}
	vs_unlock();
	return top;
}

struct json_object *vs_core_plan(const char *nodes, uint32_t uid,
				 struct vs_err *err)
{
	char **names = nodes[0] ? vs_hostlist_expand(nodes) : NULL;
	struct json_object *top;
	bool sees_nodes;
	int rc;

	if (!names) {
		vs_err_set(err, VS_E_REQUEST,
			   "plan: a list of nodes is expected");
		return NULL;
	}
	top = vs_jb_obj(NULL);
	sees_nodes = vs_viewer_sees_nodes(uid);
	vs_lock();
	rc = vs_report_plan(&vs_core, top, names, sees_nodes, err);
	vs_unlock();
	vs_hostlist_free(names);
	if (!rc)
		return top;
	vs_jb_free(top);
	return NULL;
}
