/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core knows, as JSON for the control channel (shapes: report.h);
 * hosts are in hosts.c. Memory work, the lock is held.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/clone_source/clone_source.h"
#include "engine/jobs/jobs.h"
#include "engine/maintenance/maintenance.h"
#include "engine/prefetch/prefetch.h"
#include "engine/provision/provision.h"
#include "engine/reconcile/reconcile.h"
#include "engine/report/report.h"
#include "engine/report/report_i.h"
#include "engine/slurm/lookup.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/time.h"

int64_t vs_report_epoch(int64_t mono_ms)
{
	return (vs_wall_ms() - vs_clock() + mono_ms) / 1000;
}

void vs_report_str(struct json_object *o, const char *key, const char *s)
{
	if (s && s[0])
		vs_jb_str(o, key, s);
}

void vs_report_state(struct json_object *o, const char *key, const char *state)
{
	VS_FREE char *text = vs_strdup(state);

	for (char *p = text; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	vs_jb_str(o, key, text);
}

/* ---- nodes ------------------------------------------------------------------- */

const char *vs_report_slurm_state(uint32_t f)
{
	return !f ? "unknown" :
	       f & VS_NODE_POWERING_DOWN ? "powering_down" :
	       f & VS_NODE_POWERING_UP ? "powering_up" :
	       f & VS_NODE_DOWN ? "down" :
	       f & VS_NODE_POWERED_DOWN ? "powered_down" :
	       f & VS_NODE_DRAIN ? "drain" :
	       f & VS_NODE_ALLOCATED ? "allocated" :
	       f & VS_NODE_COMPLETING ? "completing" : "idle";
}

/* As sinfo: draining while a job is there. Beside another state it follows that. */
static void state_json(uint32_t f, struct json_object *o)
{
	const char *state = vs_report_slurm_state(f);
	const char *drain = f & (VS_NODE_ALLOCATED | VS_NODE_COMPLETING) ?
		"draining" : "drained";
	bool alone = !strcmp(state, "drain");
	VS_FREE char *text = vs_asprintf("%s%s%s", alone ? "" : state,
		!alone && f & VS_NODE_DRAIN ? "+" : "",
		f & VS_NODE_DRAIN ? drain : "");

	vs_report_state(o, "node_state", text);
}

const char *vs_report_vm_state(struct vs_core *c, const struct vs_node *n,
			       const struct vs_vm *vm)
{
	if (!c->loaded || n->absent.how)
		return "unknown";
	switch (n->op.kind) {
	case VS_OP_CLONE:
		return "cloning";
	case VS_OP_POWER_ON:
		return "starting";
	case VS_OP_POWER_OFF:
	case VS_OP_SHUTDOWN:
		return "stopping";
	default:
		break;
	}
	if (!vm)
		return "none";
	if (n->foreign)
		return "foreign";
	return vm->power == VS_POWER_ON ? "on" :
	       vm->power == VS_POWER_OFF ? "off" :
	       vm->power == VS_POWER_SUSPENDED ? "suspended" : "unknown";
}

/* What is done, since when, and how long it took lately. */
static void action_json(const struct vs_node *n,
			struct json_object *o)
{
	bool op = n->op.kind != VS_OP_NONE;
	bool boots = !op && n->wanted == VS_DESIRED_ON &&
		     n->seen == VS_OBSERVED_ON && n->power.on_ms;
	int64_t since_ms = boots ? n->power.on_ms :
		op && n->op.since_ms ? n->op.since_ms : n->since.action_ms;
	int64_t usual_ms = op || boots ? vs_duration_ms(n->profile, boots ?
		VS_DURATION_BOOT : (int)n->op.kind) : -1;

	vs_jb_str(o, "action", boots ? "boot" : op ? vs_op_name(n->op.kind) :
		  vs_action_name(n->action));
	if (since_ms)
		vs_jb_int(o, "since", vs_report_epoch(since_ms));
	if (usual_ms >= 0)
		vs_jb_int(o, "usual_s", (usual_ms + 999) / 1000);
}

struct json_object *vs_report_node_row(struct vs_core *c, struct vs_node *n,
				       uint32_t job)
{
	struct json_object *o = vs_jb_obj(NULL);
	struct vs_vm *vm = vs_node_vm(c, n);
	const struct vs_claim *h = vs_ledger_get(&c->ledger, n->name);
	char pfs[VS_PFS_LEN], macs[VS_MACS_LEN];
	const struct vs_host *host =
		vm && vm->power == VS_POWER_ON ? vm->host_ptr :
		h ? vs_host_get(&c->inv, h->host) : vm ? vm->host_ptr : NULL;

	vs_jb_str(o, "node", n->name);
	vs_report_state(o, "vm_state", vs_report_vm_state(c, n, vm));
	state_json(n->flags, o);
	vs_report_str(o, "host", host ? host->name : NULL);
	vs_report_str(o, "pf", h ? vs_claim_pfs(h, pfs) : NULL);
	vs_report_str(o, "mac", vs_node_macs(n, macs));
	vs_jb_str(o, "adapter", n->profile->adapter->name);
	vs_jb_str(o, "partition", n->conf->partition);
	if (job)
		vs_jb_int(o, "job", job);
	action_json(n, o);
	if (vs_vm_actions_any(&n->orders))
		vs_jb_str(o, "request", n->orders.rebuild[0] ? "rebuild" :
			  "evict");
	host = vs_host_get(&c->inv, n->drained_on);
	vs_report_str(o, "drained_on", host ? host->name : NULL);
	if (n->absent.how)
		vs_report_str(o, "last_error",
			      "vCenter does not show its VM, which was on: see svf reconcile");
	else if (n->foreign)
		vs_report_str(o, "last_error", n->foreign);
	else if (n->retry.err.code != VS_OK)
		vs_report_str(o, "last_error", n->retry.err.text);
	vs_report_str(o, "reason", vs_clone_source_waits(n));
	return o;
}

/* By name and not by each.c: another configuration may come while Slurm is asked, or
 * after that. */
void vs_report_nodes(struct vs_core *c, struct json_object *top,
		     const struct vs_viewer *viewer)
{
	VS_FREE struct vs_slurm_node_job *rows = NULL;
	struct vs_lookup l = { .viewer = viewer, .n = c->nnodes };
	struct json_object *arr = vs_jb_arr();

	vs_assert_locked();
	vs_jb_put(top, "nodes", arr);
	if (!viewer->sees_nodes)
		return;
	l.nodes = rows = vs_calloc(l.n + 1, sizeof(*rows));
	for (size_t i = 0; i < l.n; i++)
		rows[i].node = vs_strdup(c->nodes[i].name);
	vs_lock_yield_to(vs_lookup_nodes_jobs, &l);
	for (size_t i = 0; i < l.n; i++) {
		struct vs_node *node = vs_node_named(c, rows[i].node);

		if (node)
			vs_jb_add(arr, vs_report_node_row(c, node,
							  rows[i].job));
		free((char *)rows[i].node);
		vs_lock_yield();
	}
	vs_report_suspects(c, top);
	vs_report_notes(c, top, false);
}

/* ---- status -------------------------------------------------------------------- */

static void report_prefetch(struct json_object *top)
{
	const struct vs_prefetched p = vs_prefetch_counts();

	vs_jb_int(top, "prefetched", (int64_t)p.now);
	vs_jb_int(top, "prefetch_made", (int64_t)p.made);
	vs_jb_int(top, "prefetch_used", (int64_t)p.used);
	vs_jb_int(top, "prefetch_removed", (int64_t)p.removed);
}

static void report_metrics(struct json_object *top)
{
	const char *at, *why;

	vs_metrics_place(&at, &why);
	vs_report_str(top, "metrics", at);
	vs_report_str(top, "metrics_error", why);
}

void vs_report_pause(struct json_object *top)
{
	vs_assert_locked();
	vs_jb_put(top, "paused", vs_pause_json());
	vs_jb_int(top, "in_flight",
		  vs_tasks_provisioning() + vs_tasks_power_ops());
}

/* Since this slurmctld began: VMs that came up, and what failed. */
static void report_starts(struct json_object *top)
{
	const struct vs_metrics *m = vs_metrics_counted();
	uint64_t failed = 0;

	for (int i = 0; i < VS_METRIC_STEPS; i++)
		for (int k = 0; k < VS_CODES; k++)
			failed += m->failed[i][k];
	vs_jb_int(top, "starts", (int64_t)m->starts);
	vs_jb_int(top, "failures", (int64_t)failed);
}

void vs_report_status(struct vs_core *c, struct json_object *top,
		      bool operators)
{
	struct vs_vc_stats st = { 0 };
	int on = 0, off = 0, suspect = 0;

	vs_assert_locked();
	if (c->vc)
		vs_vc_stats_get(c->vc, &st);
	for (struct vs_vm *vm = c->inv.vms; vm; vm = vm->hh.next) {
		enum vs_owner owner = vs_vm_owner(vm, c->folder,
						  c->cluster_id);

		suspect += owner == VS_OWNER_UNVERIFIED;
		if (owner == VS_OWNER_MANAGED)
			(*(vm->power == VS_POWER_ON ? &on : &off))++;
	}
	vs_report_str(top, "vcenter", operators ? c->conf->vcenter : NULL);
	vs_jb_bool(top, "up", c->ready);
	vs_jb_int(top, "since", vs_vc_since_ms() / 1000);
	vs_report_str(top, "error", c->vc_state);
	/* It answers each wait for updates, if only that there are none. */
	if (st.silent_ms > VS_SILENT_MS)
		vs_jb_int(top, "silent_s", st.silent_ms / 1000);
	vs_jb_str(top, "mode", c->observe ? "observe" : "manage");
	vs_report_str(top, "cluster_id", c->cluster_id);
	vs_jb_int(top, "calls", (int64_t)st.calls);
	vs_jb_int(top, "mutating", (int64_t)st.mutating);
	vs_jb_int(top, "refused_events", (int64_t)st.refused_events);
	vs_report_pause(top);
	vs_jb_int(top, "nodes", (int64_t)c->nnodes);
	vs_jb_int(top, "vms_on", on);
	vs_jb_int(top, "vms_off", off);
	vs_jb_int(top, "unverified", suspect);
	if (vs_clone_sources_asked(c->conf) || vs_clone_sources_count(c))
		vs_jb_int(top, "clone_sources", vs_clone_sources_count(c));
	report_starts(top);
	vs_jb_int(top, "clones_hour", vs_clones_hour());
	if (vs_vcenter_now()->uuid[0])
		vs_jb_str(top, "devices_by", !vs_clone_way_known() ?
			  "untried" : vs_clone_way_plain() ?
			  "reconfigure" : "clone");
	if (c->conf->max_clones_per_hour)
		vs_jb_int(top, "clones_max", c->conf->max_clones_per_hour);
	if (c->conf->prefetch.vms || vs_prefetch_counts().made)
		report_prefetch(top);
	vs_report_times(top);
	vs_report_queries(top);
	vs_report_paces(top);
	vs_report_drs(top);
	report_metrics(top);
	if (vs_removal_limit_is_reached())
		vs_jb_bool(top, "removal_limit_reached", true);
	vs_report_notes(c, top, operators);
}

/* ---- reconcile: what is repaired by itself, and what the removal limit holds back */

static void add_vm(struct json_object *arr, const struct vs_vm *vm,
		   const char *name, const char *what,
		   enum vs_removal_state braked)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_str(o, "vm", name);
	if (vm)
		vs_report_state(o, "state", vm->power == VS_POWER_ON ?
				"on" : "off");
	vs_jb_str(o, "description", what);
	if (braked == VS_REMOVAL_WAITS)
		vs_jb_bool(o, "confirmation_required", true);
	vs_jb_add(arr, o);
}

static void add_nodes(struct vs_core *c, struct json_object *arr)
{
	for (size_t i = 0; i < c->nnodes; i++) {
		const struct vs_node *n = &c->nodes[i];
		const struct vs_vm *vm = vs_node_vm(c, n);

		if (n->absent.how)
			add_vm(arr, vm, n->name,
			       "was on and is not shown by vCenter (restored from a backup? renamed or moved?): left alone until it is back, or svf vm forget",
			       n->braked);
		else if (n->foreign && vs_vm_owner(vm, c->folder, c->cluster_id)
			 != VS_OWNER_UNVERIFIED)	/* those have a list */
			add_vm(arr, vm, n->name, n->foreign, n->braked);
		else if (vs_node_is(n, VS_COND_ADOPTING))
			add_vm(arr, vm, n->name,
			       "runs although its node is powered down: its guest is asked to register",
			       n->braked);
		else if (n->action == VS_DO_REPORT)
			add_vm(arr, vm, n->name,
			       "does not exist although Slurm has its node up",
			       n->braked);
		else if ((n->wanted == VS_DESIRED_OFF ||
			  n->wanted == VS_DESIRED_GONE) &&
			 !vs_node_is(n, VS_COND_REMOVABLE) &&
			 n->action == VS_DO_SHUTDOWN)
			add_vm(arr, vm, n->name,
			       "is on although its node is powered down: will be powered off",
			       n->braked);
		else if (n->braked == VS_REMOVAL_WAITS)
			add_vm(arr, vm, n->name,
			       "is not needed while its node is powered down: will be destroyed",
			       n->braked);
	}
}

static void add_orphans(struct vs_core *c, struct json_object *arr)
{
	for (const struct vs_orphan *o = vs_orphans(); o; o = o->hh.next) {
		const struct vs_vm *vm = vs_vm_get(&c->inv, o->vm);

		if (vm)
			add_vm(arr, vm, o->name, o->stood_on ?
			       "no node has its name, and VMs use its disks: left alone until they are gone" :
			       o->unknown_to_slurm ?
			       "no node has its name: will be powered off and destroyed" :
			       "its node no longer has an adapter: left alone while Slurm has that node",
			       o->braked);
	}
}

/* Only clone sources that the removal limit holds back: an operator confirms
 * these, while the others are removed without help. */
static void add_parents(struct vs_core *c, struct json_object *arr)
{
	for (const struct vs_clone_source *r = vs_clone_sources_all()->all; r;
	     r = r->hh.next) {
		const struct vs_vm *vm = r->braked == VS_REMOVAL_WAITS ?
			vs_vm_get(&c->inv, r->id) : NULL;

		if (vm)
			add_vm(arr, vm, vm->name,
			       "is a clone source that the configuration no longer uses: will be destroyed",
			       r->braked);
	}
}

void vs_report_reconcile(struct vs_core *c, struct json_object *top,
			 const struct vs_viewer *viewer)
{
	struct json_object *arr = vs_jb_arr();

	vs_assert_locked();
	/* Not for everybody: a few refused logins lock the account. */
	if (viewer->is_operator)
		vs_client_retry();
	vs_jb_bool(top, "removal_limit_reached", vs_removal_limit_is_reached());
	if (viewer->sees_nodes) {
		add_nodes(c, arr);
		add_orphans(c, arr);
		add_parents(c, arr);
		vs_report_suspects(c, top);
	}
	vs_report_notes(c, top, viewer->is_operator);
	vs_jb_put(top, "vms", arr);
}
