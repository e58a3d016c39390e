/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carries out operators' orders: confirm removals that the removal limit holds
 * back, adopt the VMs of a lost cluster id, forget a VM that was lost with its
 * host, drain a host, resume a repaired host, pause all changes in vCenter. The
 * control channel's thread calls these functions.
 */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "engine/checks/checks.h"
#include "engine/clone_source/clone_source.h"
#include "engine/control/control.h"
#include "engine/hosts/hosts.h"
#include "engine/inventory/inventory.h"
#include "engine/jobs/jobs.h"
#include "engine/maintenance/maintenance.h"
#include "engine/persist/persist.h"
#include "engine/reconcile/reconcile.h"
#include "engine/report/report.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "util/hostlist.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/time.h"

#define MINUTE_MS (60 * 1000)

static void confirm(struct vs_core *c, struct json_object *top)
{
	vs_lock();
	vs_jb_int(top, "confirmed", (int64_t)vs_removal_confirm(c));
	vs_unlock();
}

/* The one cluster id that the folder's VMs carry; how many of them do. */
static int lost_id(struct vs_core *c, char id[VS_UUID_LEN], int *vms,
		   struct vs_err *err)
{
	const struct vs_vm *own = NULL;

	*vms = 0;
	for (struct vs_vm *vm = c->inv.vms; vm; vm = vm->hh.next) {
		const char *theirs = vm->mark.cluster;

		if (!vs_owner_is_managed(vs_vm_owner(vm, c->folder, theirs)))
			continue;
		if (!strcmp(theirs, c->cluster_id)) {
			own = vm;
			continue;
		}
		if (*vms && strcmp(theirs, id))
			return vs_err_set(err, VS_E_STATE,
				"the folder holds VMs of two clusters (%s and %s)",
				id, theirs);
		vs_strlcpy(id, theirs, VS_UUID_LEN);
		(*vms)++;
	}
	if (*vms && own)
		return vs_err_set(err, VS_E_STATE,
			"this cluster manages VM %s already, and the folder has VMs of another cluster id: move the VMs of one id to another folder",
			own->name);
	if (*vms)
		return 0;
	if (own)
		return vs_err_set(err, VS_E_GONE,
			"nothing is lost: each VM in the folder belongs to this cluster");
	return vs_err_set(err, VS_E_GONE,
			  "the folder has no VM that can be adopted");
}

static int adopt(struct vs_core *c, struct json_object *top, struct vs_err *err)
{
	VS_FREE char *dir = NULL;
	char id[VS_UUID_LEN] = "";
	int vms = 0, rc;

	vs_lock();
	rc = !c->loaded ? vs_err_set(err, VS_E_RETRY,
				     "vCenter's inventory is not loaded") :
		lost_id(c, id, &vms, err);
	dir = vs_strdup(c->conf->state_dir);
	vs_unlock();
	if (rc || vs_cluster_id_store(dir, id, err))
		return -1;
	vs_lock();
	vs_client_renew();		/* as at a start: read and judge
					 * again */
	vs_unlock();
	vs_wake();
	vs_jb_str(top, "cluster_id", id);
	vs_jb_int(top, "vms", vms);
	return 0;
}

static int forget(struct vs_core *c, struct json_object *top, const char *name,
		  struct vs_err *err)
{
	struct vs_node *n;
	struct vs_vm *vm;
	int rc = -1;

	vs_lock();
	n = vs_node_named(c, name);
	vm = n ? vs_node_vm(c, n) : NULL;
	if (!n) {
		vs_err_set(err, VS_E_GONE, "no such node: %.64s", name);
	} else if (vs_missing_forget(n)) {
		vs_node_mark_changed(n);
		vs_jb_str(top, "node", n->name);
		rc = 0;
	} else if (!vm || vm->connected) {
		vs_err_set(err, VS_E_STATE, "the VM of node %s is %s: only a VM that is missing, or whose host does not answer, can be forgotten",
			   n->name, vm ? "reachable" : "not present");
	} else {
		vs_missing_declare_lost(n);
		vs_capacity_freed();
		vs_name_freed();
		vs_node_mark_changed(n);
		vs_jb_str(top, "node", n->name);
		if (vm->host_ptr)
			vs_jb_str(top, "vm_host", vm->host_ptr->name);
		rc = 0;
	}
	vs_unlock();
	return rc;
}

/* ---- hosts -------------------------------------------------------------------- */

static struct vs_host *host_named(struct vs_core *c, const char *name,
				  struct vs_err *err)
{
	struct vs_host *h = vs_host_get_named(&c->inv, name);

	if (!h)
		vs_err_set(err, VS_E_GONE, "no such host: %.100s", name);
	return h;
}

static void say_host(struct json_object *top, const struct vs_host *h,
		     const char *was)
{
	vs_jb_str(top, "host", h->name);
	vs_report_state(top, "previous_state", was);
}

static void drain_why(int64_t at, const char *text, char *why, size_t size)
{
	char when[48] = "drained by an operator";
	time_t then = (time_t)at;
	struct tm tm;

	if (at && localtime_r(&then, &tm))
		strftime(when, sizeof(when),
			 "maintenance planned for %Y-%m-%dT%H:%M", &tm);
	snprintf(why, size, "%s%s%s", when, text[0] ? ": " : "", text);
	vs_one_line(why);
}

/* At once if that is now, or too soon for idle VMs to go before. */
static int drain_from(struct vs_core *c, const struct vs_host *h, int64_t at,
		      bool requeue, const char *why, struct vs_err *err)
{
	if (at && vs_exclusion_find(VS_EXCLUDED_DRAINED, h->moid))
		return vs_err_set(err, VS_E_STATE,
			"host %s is drained already: svf host resume %s first",
			h->name, h->name);
	if (at && vs_maintenance_window_set(c, h->moid, at, why, requeue))
		return vs_err_set(err, VS_E_REQUEST,
			"maintenance is already planned for %d hosts, which is the maximum",
			VS_WINDOWS_MAX);
	if (at)
		return 0;
	vs_maintenance_window_end(c, h->moid);
	vs_exclude_set(VS_EXCLUDED_DRAINED, h->moid, NULL, VS_EXCLUDED_FOREVER,
		       why);
	if (requeue)
		vs_exclusion_requeue(c, h->moid);
	vs_nodes_mark_changed(c);
	return 0;
}

static int drain(struct vs_core *c, struct json_object *top, const char *name,
		 const char *text, int64_t at, bool requeue, struct vs_err *err)
{
	struct vs_remaining_vms r;
	struct vs_host *h;
	char why[160];
	int rc = -1;

	if (at && at <= vs_wall_ms() / 1000)
		return vs_err_set(err, VS_E_REQUEST,
				  "that time is in the past by slurmctld's clock");
	drain_why(at, text, why, sizeof(why));
	vs_lock();
	h = host_named(c, name, err);
	if (h) {
		say_host(top, h, vs_report_host_state(c, h));
		rc = drain_from(c, h, at, requeue, why, err);
		if (at)
			vs_jb_int(top, "maintenance_at", at);
		vs_host_remaining_vms(c, h, &r);
		vs_remaining_vms_json(&r, top);
		vs_vmotion_plan(c, h, requeue, top);
	}
	vs_unlock();
	vs_wake();
	return rc;
}

/* What would become of those on it. */
static int leave(struct vs_core *c, struct json_object *top, const char *name,
		 bool requeue, struct vs_err *err)
{
	struct vs_host *h;

	vs_lock();
	h = c->loaded ? host_named(c, name, err) : NULL;
	if (!c->loaded)
		vs_err_set(err, VS_E_RETRY,
			   "vCenter's inventory is not loaded");
	if (h) {
		say_host(top, h, vs_report_host_state(c, h));
		vs_vmotion_plan(c, h, requeue, top);
	}
	vs_unlock();
	return h ? 0 : -1;
}

/* Whatever kept VMs away from it by our decision, or an operator's. */
static int resume(struct vs_core *c, struct json_object *top, const char *name,
		  struct vs_err *err)
{
	struct vs_host *h;

	vs_lock();
	h = host_named(c, name, err);
	if (h) {
		say_host(top, h, vs_report_host_state(c, h));
		vs_exclude_end(VS_EXCLUDED_DRAINED, h->moid);
		vs_maintenance_window_end(c, h->moid);
		vs_health_forget(c, h->moid);
		vs_exclude_end(VS_EXCLUDED_FAILED, h->moid);
		/* and what it shares with others */
		vs_exclude_end(VS_EXCLUDED_FAILED, h->cluster);
		vs_exclude_end(VS_EXCLUDED_LICENCE, h->cluster);
		vs_exclude_end(VS_EXCLUDED_FAILED, c->store);
		vs_stores_try_again(c);
		vs_clone_sources_try_again(c);
		vs_breaker_end(h->moid);
		vs_pf_change_confirm(h);
		vs_capacity_freed();
		vs_nodes_mark_changed(c);
	}
	vs_unlock();
	vs_wake();
	return h ? 0 : -1;
}

/* ---- all changes in vCenter ----------------------------------------------------- */

/* Writes the user's name, or the number if this host knows none. Waits for the host's
 * user database: the caller does not hold the lock. */
static void user_name(uint32_t uid, char *out, size_t size)
{
	struct passwd row, *found = NULL;
	char buf[4096];

	if (getpwuid_r(uid, &row, buf, sizeof(buf), &found) || !found ||
	    !found->pw_name[0])
		snprintf(out, size, "uid %u", uid);
	else
		vs_strlcpy(out, found->pw_name, size);
}

static int pause_all(struct vs_core *c, struct json_object *top,
		     const char *reason, uint32_t uid, struct vs_err *err)
{
	char user[sizeof(((struct vs_pause *)0)->user)];
	struct json_object *was;

	if (!reason[0])
		return vs_err_set(err, VS_E_REQUEST,
				  "pause: expected a reason");
	user_name(uid, user, sizeof(user));
	vs_lock();
	was = vs_pause_json();
	if (was)
		vs_jb_put(top, "replaced", was);
	vs_pause_begin(c, user, uid, reason);
	vs_report_pause(top);
	vs_unlock();
	vs_wake();
	return 0;
}

static int resume_all(struct vs_core *c, struct json_object *top,
		      struct vs_err *err)
{
	const struct vs_pause *pause;
	int64_t now_ms = vs_clock();
	int rc = 0;

	vs_lock();
	pause = vs_pause_get();
	if (pause) {
		vs_report_pause(top);
		vs_waits_paused(pause->since_ms, now_ms);
		vs_boots_paused(c, pause->since_ms, now_ms);
		vs_pause_end(c);
	} else {
		rc = vs_err_set(err, VS_E_STATE, "slurm-vsphere is not paused");
	}
	vs_unlock();
	vs_wake();
	return rc;
}

/* About nodes' VMs. */
static int order(struct vs_core *c, struct json_object *top, const char *what,
		 const char *nodes, const char *why, struct vs_err *err)
{
	char **names = vs_hostlist_expand(nodes);
	int rc;

	if (!names)
		return vs_err_set(err, VS_E_REQUEST, "%s: expected a Slurm host list of nodes, not '%.100s'",
				  what, nodes);
	vs_lock();
	rc = vs_vm_actions_request(c, top, what, names, why, err);
	vs_unlock();
	vs_wake();
	vs_hostlist_free(names);
	return rc;
}

struct json_object *vs_core_request(const char *what, const char *name,
				    const char *text, uint32_t uid,
				    struct vs_err *err)
{
	struct vs_core *c = &vs_core;
	struct json_object *top = vs_jb_obj(NULL);
	int rc = 0;

	vs_info("operator uid=%u requests %s %.200s", uid, what, name);
	vs_lock();
	vs_activity_wake(vs_clock());
	vs_unlock();
	if (!strcmp(what, "confirm"))
		confirm(c, top);
	else if (!strcmp(what, "adopt"))
		rc = adopt(c, top, err);
	else if (!strcmp(what, "forget"))
		rc = forget(c, top, name, err);
	else if (!strcmp(what, "drain"))
		rc = drain(c, top, name, text, 0, false, err);
	else if (!strcmp(what, "drain-requeue"))
		rc = drain(c, top, name, text, 0, true, err);
	else if (!strcmp(what, "leave") || !strcmp(what, "leave-requeue"))
		rc = leave(c, top, name, what[5] != '\0', err);
	else if (!strcmp(what, "resume"))
		rc = resume(c, top, name, err);
	else if (!strcmp(what, "pause"))
		rc = pause_all(c, top, text, uid, err);
	else if (!strcmp(what, "pause-end"))
		rc = resume_all(c, top, err);
	else if (!strcmp(what, "evict") || !strcmp(what, "requeue") ||
		 !strcmp(what, "rebuild") || !strcmp(what, "evict-on") ||
		 !strcmp(what, "rebuild-on"))
		rc = order(c, top, what, name, text, err);
	else
		rc = vs_err_set(err, VS_E_REQUEST, "unknown request: %s", what);
	if (!rc)
		return top;
	vs_jb_free(top);
	return NULL;
}

struct json_object *vs_core_drain_at(const char *name, const char *text,
				     int64_t at, bool requeue, uint32_t uid,
				     struct vs_err *err)
{
	struct vs_core *c = &vs_core;
	struct json_object *top = vs_jb_obj(NULL);

	vs_info("operator uid=%u requests drain %s at %lld", uid, name,
		(long long)at);
	vs_lock();
	vs_activity_wake(vs_clock());
	vs_unlock();
	if (!drain(c, top, name, text, at, requeue, err))
		return top;
	vs_jb_free(top);
	return NULL;
}

/* What waits may go now. */
size_t vs_removal_confirm(struct vs_core *c)
{
	int64_t minute = vs_wall_ms() / MINUTE_MS;
	size_t n = 0;

	vs_removal_release();
	for (size_t i = 0; i < c->nnodes; i++) {
		struct vs_node *node = &c->nodes[i];
		const struct vs_vm *vm;

		if (node->braked != VS_REMOVAL_WAITS)
			continue;
		vm = vs_node_vm(c, node);
		vs_removal_node_set(node, VS_REMOVAL_PASSED);
		vs_node_mark_changed(node);
		vs_retry_error(node, NULL);
		if (vm)
			vs_removal_count(vm->moid, minute, true);
		n++;
	}
	n += vs_orphans_confirm(minute);
	n += vs_clone_sources_confirm(minute);
	vs_state_file_dirty();
	vs_info("the removal limit is lifted: %zu VMs are confirmed", n);
	return n;
}

/* What it is now is right. */
bool vs_pf_change_confirm(struct vs_host *h)
{
	struct vs_host_fingerprint *p = vs_fingerprint_get(h->name);
	bool was = vs_exclude_end(VS_EXCLUDED_PF_CHANGE, h->moid) > 0;

	if (p)
		vs_fingerprint_forget(p);
	vs_state_file_dirty();
	vs_pf_change_observe(h);
	vs_checks_renew();
	return was;
}
