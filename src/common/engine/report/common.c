/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What several reports end with: what the preflight has found, and VMs that
 * only look like managed ones, how long slurmctld was kept (shapes: report.h).
 * Memory work, the lock is held.
 */
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/checks/checks.h"
#include "engine/report/report.h"
#include "engine/state/state.h"
#include "util/json.h"

/* What concerns the account alone is for operators. */
static void findings_json(struct json_object *top, bool operators)
{
	struct json_object *arr = NULL;
	size_t n;
	const struct vs_finding *found = vs_findings(&n);

	for (size_t i = 0; i < n; i++) {
		const struct vs_finding *f = &found[i];
		struct json_object *o;

		if (f->stops == VS_STOPS_NOTHING && !operators)
			continue;
		o = vs_jb_obj(NULL);
		vs_jb_str(o, "text", f->text);
		vs_jb_bool(o, "stops_jobs", f->stops == VS_STOPS_JOBS ||
			   f->stops == VS_STOPS_ALL);
		if (!arr)
			arr = vs_jb_arr();
		vs_jb_add(arr, o);
	}
	if (arr)
		vs_jb_put(top, "findings", arr);
}

void vs_report_notes(struct vs_core *c, struct json_object *top, bool operators)
{
	const char *blocked = vs_query_blocked(c);
	struct json_object *arr;

	if (blocked && blocked != c->unserved && blocked != c->blocked) {
		arr = vs_jb_arr();
		vs_jb_add_str(arr, blocked);
		vs_jb_put(top, "notes", arr);
	}
	findings_json(top, operators);
}

/* VMs in our folder that carry a mark and fail a test: listed, never touched. */
void vs_report_suspects(struct vs_core *c, struct json_object *top)
{
	struct json_object *arr = NULL;

	for (struct vs_vm *vm = c->inv.vms; vm; vm = vm->hh.next) {
		struct json_object *o;

		if (strcmp(vm->folder, c->folder) || vm->is_template ||
		    vs_vm_owner(vm, c->folder, c->cluster_id) !=
		    VS_OWNER_UNVERIFIED)
			continue;
		o = vs_jb_obj(NULL);
		vs_jb_str(o, "vm", vm->name);
		vs_jb_str(o, "reason",
			  "its ownership tag was copied from another VM (a copy, a restore or a template's clone)");
		if (!arr)
			arr = vs_jb_arr();
		vs_jb_add(arr, o);
	}
	if (arr)
		vs_jb_put(top, "unverified", arr);
}

/* How much of slurmctld's time the plugin used. */
void vs_report_times(struct json_object *top)
{
	static const char *const keys[VS_TIMED] = {
		[VS_TIMED_CALLS] = "select_calls",
		[VS_TIMED_LOCKS] = "slurm_locks",
	};

	for (int i = 0; i < VS_TIMED; i++) {
		struct vs_times *t = vs_timed(i, false);
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_int(o, "count", (int64_t)atomic_load(&t->count));
		vs_jb_int(o, "p50_us", vs_times_quantile(t, 500));
		vs_jb_int(o, "p99_us", vs_times_quantile(t, 990));
		vs_jb_int(o, "worst_us", atomic_load(&t->worst_us));
		t = vs_timed(i, true);
		vs_jb_int(o, "cpu_p50_us", vs_times_quantile(t, 500));
		vs_jb_int(o, "cpu_p99_us", vs_times_quantile(t, 990));
		vs_jb_int(o, "cpu_worst_us", atomic_load(&t->worst_us));
		vs_jb_put(top, keys[i], o);
	}
}

/* What Slurm asked the select plugin, and what the plugin asked for that. */
void vs_report_queries(struct json_object *top)
{
	static const char *const keys[VS_QUERY_MODES] = {
		[VS_QUERY_RUN_NOW] = "run_now",
		[VS_QUERY_WILL_RUN] = "start_time",
		[VS_QUERY_OTHER] = "other",
	};
	struct json_object *all = vs_jb_obj(NULL);

	for (int i = 0; i < VS_QUERY_MODES; i++) {
		const struct vs_query_counts *q = vs_query_counts(i);
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_int(o, "calls", (int64_t)atomic_load(&q->calls));
		vs_jb_int(o, "stock", (int64_t)atomic_load(&q->stock));
		vs_jb_int(o, "core", (int64_t)atomic_load(&q->core));
		vs_jb_put(all, keys[i], o);
	}
	vs_jb_put(top, "select_queries", all);
}
