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

static const struct report {
	const char *name;
	bool of_nodes, for_operators;	/* whether the user may see nodes, or is
					 * an operator, is asked of Slurm */
} reports[] = {
	{ "hosts", false, false },
	{ "parents", false, false },
	{ "nodes", true, false },
	{ "jobs", true, false },
	{ "why", true, false },
	{ "status", false, true },
	{ "check", false, true },
	{ "recheck", false, true },
	{ "reconcile", true, true },
};

static const struct report *report_named(const char *what)
{
	for (size_t i = 0; i < VS_COUNT(reports); i++)
		if (!strcmp(what, reports[i].name))
			return &reports[i];
	return NULL;
}

struct json_object *vs_core_report(const char *what, uint32_t job,
				   uint32_t uid, struct vs_err *err)
{
	const struct report *r = report_named(what);
	bool sees_nodes = r && r->of_nodes && vs_viewer_sees_nodes(uid);
	bool operator = r && r->for_operators && vs_core_is_operator(uid);
	bool why = !strcmp(what, "why");
	struct vs_core *c = &vs_core;
	struct json_object *top;
	struct vs_job_said slurm;

	if (!r) {
		vs_err_set(err, VS_E_REQUEST, "unknown verb: %s", what);
		return NULL;
	}
	/* One answer for a job that isn't there and one that isn't the user's. */
	if (why && vs_lookup_job(job, uid, &slurm)) {
		vs_err_set(err, VS_E_GONE, "no such job: %u", job);
		return NULL;
	}
	top = vs_jb_obj(NULL);
	vs_lock();
	if (!strcmp(what, "hosts"))
		vs_report_hosts(c, top);
	else if (!strcmp(what, "parents"))
		vs_report_clone_sources(c, top);
	else if (!strcmp(what, "nodes"))
		vs_report_nodes(c, top, uid, sees_nodes);
	else if (!strcmp(what, "jobs"))
		vs_report_jobs(c, top, uid, sees_nodes);
	else if (why)
		vs_report_why(c, top, job, &slurm, sees_nodes);
	else if (!strcmp(what, "status"))
		vs_report_status(c, top, operator);
	else if (!strcmp(what, "check"))
		vs_report_check(c, top, operator);
	else if (!strcmp(what, "recheck"))
		vs_report_recheck(c, top, operator);
	else
		vs_report_reconcile(c, top, sees_nodes, operator);
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
