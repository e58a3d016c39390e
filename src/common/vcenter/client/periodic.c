/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slow beat: what vCenter doesn't stream. Recent tasks (of any user), room
 * in the pools and on the datastore, the clusters' DRS and HA, what hosts keep for
 * themselves, the templates' versions, the account's rights, and whether all that
 * was found by name is still there.
 *
 * Rules: three requests a beat while all is there and nothing has changed, two
 * while no job waits for changes (poll_interval.c); a task once seen finished is not read
 * again. A beat that fails is left out; only the first one, before the
 * inventory is loaded, must succeed. What was deleted may have been made again:
 * templates are looked up by themselves, for anything else all names are.
 */
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "util/log.h"
#include "util/mem.h"
#include "vcenter/client/client_i.h"
#include "vcenter/spec/spec.h"

struct ended { char *moid; bool recent; UT_hash_handle hh; };

struct vcx_slow {
	struct vs_vc_task *tasks;
	size_t ntasks, captasks;
	struct vs_vc_pool *pools;
	bool folder_seen;
	struct ended *ended;
};

static void clear_tasks(struct vcx_slow *s)
{
	for (size_t i = 0; i < s->ntasks; i++) {
		struct vs_vc_task *t = &s->tasks[i];

		free((char *)t->moid);
		free((char *)t->name);
		free((char *)t->entity);
		free((char *)t->entity_name);
		free((char *)t->state);
		free((char *)t->user);
	}
	s->ntasks = 0;
}

void vs_vcx_slow_free(struct vs_vc *vc)
{
	struct vcx_slow *s = vc->slow;
	struct ended *e, *next;

	vc->slow_busy = false;
	if (!s)
		return;
	HASH_ITER(hh, s->ended, e, next) {
		HASH_DEL(s->ended, e);
		free(e->moid);
		free(e);
	}
	clear_tasks(s);
	free(s->tasks);
	free(s->pools);
	free(s);
	vc->slow = NULL;
}

static struct ended *ended_find(struct vcx_slow *s, const char *moid)
{
	struct ended *e;

	HASH_FIND_STR(s->ended, moid, e);
	return e;
}

static void ended_add(struct vcx_slow *s, const char *moid)
{
	struct ended *e;

	if (ended_find(s, moid))
		return;
	e = vs_calloc(1, sizeof(*e));
	e->moid = vs_strdup(moid);
	e->recent = true;
	HASH_ADD_KEYPTR(hh, s->ended, e->moid, strlen(e->moid), e);
}

/* What vCenter itself has forgotten, we may too. */
static void ended_sweep(struct vcx_slow *s)
{
	struct ended *e, *next;

	HASH_ITER(hh, s->ended, e, next) {
		if (e->recent)
			continue;
		HASH_DEL(s->ended, e);
		free(e->moid);
		free(e);
	}
}

/* ---- the end of a beat ---------------------------------------------------- */

void vs_vcx_slow_failed(struct vs_vc *vc, const struct vs_err *err)
{
	struct vs_err gone = *err;

	vc->slow_busy = false;
	/* An object that was found by name is gone. vSphere's documentation
	 * leaves it out of the answer; a server that sends a fault is
	 * understood too. */
	if (err->code == VS_E_GONE) {
		gone.code = VS_E_RELOGIN;
		vs_vcx_fail(vc, &gone);
	} else if (vc->state == VCX_WATCH)
		vs_vcx_fail(vc, err);
	else
		vs_debug("the values of the periodic poll were not read code=%s",
			 vs_code_name(err->code));
}

static void beat_failed(struct vcx_read *r, const struct vs_err *err)
{
	vs_vcx_slow_failed(r->vc, err);
}

void vs_vcx_capacity(struct vs_vc *vc)
{
	for (size_t i = 0; i < vc->nclusters; i++)
		vs_capacity_cluster(vc->inv, vc->clusters[i].moid,
				    &vc->clusters[i].effective);
	vs_capacity_finish(vc->inv);
}

static void deliver(struct vs_vc *vc)
{
	struct vcx_slow *s = vc->slow;
	VS_FREE struct vs_vc_cluster *clusters =
		vs_calloc(vc->nclusters + 1, sizeof(*clusters));
	struct vs_vc_slow out = {
		.tasks = s->tasks, .ntasks = s->ntasks,
		.store_free_mb = vc->stores[0].free_mb,
		.stores = vc->stores, .nstores = vc->nstores,
		.pools = s->pools, .npools = vc->nclusters,
		.clusters = clusters, .nclusters = vc->nclusters,
	};

	for (size_t i = 0; i < vc->nclusters; i++)
		clusters[i] = vs_vcx_cluster_view(&vc->clusters[i]);
	vs_vcx_rights_publish(vc, &out);
	vc->slow_busy = false;
	vs_vcx_capacity(vc);
	vs_inv_flush(vc->inv);
	if (vc->state == VCX_WATCH)
		vs_vcx_event(vc, VCX_EV_WATCHES);
	else
		vs_inv_retry_blocked(vc->inv);	/* after the next poll */
	vs_vcx_templates_publish(vc);
	if (vc->ev.slow) {
		vs_inv_together(vc->inv, true);
		vc->ev.slow(vc->ev_arg, &out);
		vs_inv_together(vc->inv, false);
	}
}

static const char *unseen(const struct vs_vc *vc, const char **key)
{
	*key = "Folder";
	if (!vc->slow->folder_seen)
		return vc->folder_name;
	*key = "Datastore";
	for (size_t i = 0; i < vc->nstores; i++)
		if (!vc->stores_seen[i])
			return vc->stores[i].name;
	*key = "Network";
	for (size_t i = 0; i < vc->nnetworks; i++)
		if (!vc->networks[i].seen)
			return vc->networks[i].name;
	*key = "ResourcePool";
	for (size_t i = 0; i < vc->nclusters; i++)
		if (!vc->clusters[i].pool_seen)
			return vc->clusters[i].pool ? vc->clusters[i].pool :
				vc->clusters[i].name;
	return NULL;
}

/* All that has a name is found at login alone, the templates excepted. */
static bool names_lost(struct vs_vc *vc)
{
	const char *key, *name = unseen(vc, &key);
	struct vs_err err;

	if (!name)
		return false;
	vs_err_set(&err, VS_E_RELOGIN,
		   "%s=%s: the object was removed from vCenter or recreated: all names are looked up again",
		   key, name);
	vs_vcx_fail(vc, &err);
	return true;
}

static void on_rights(struct vcx_call *call, struct vs_j reply,
		      const struct vs_err *err)
{
	struct vs_vc *vc = call->vc;

	if (err && err->code == VS_E_RELOGIN) {
		vs_vcx_fail(vc, err);
		return;
	}
	vs_vcx_rights_answer(vc, reply, err);
	deliver(vc);
}

void vs_vcx_slow_rights(struct vs_vc *vc)
{
	struct json_object *question = vs_vcx_rights_question(vc);

	if (question)
		vs_vcx_post(&vc->http, 0, on_rights, "AuthorizationManager",
			    vc->session.ids.rights,
			    "HasUserPrivilegeOnEntities", question);
	else
		deliver(vc);
}

static void on_values_end(struct vcx_read *r)
{
	struct vs_vc *vc = r->vc;

	if (names_lost(vc))
		return;
	for (size_t i = 0; i < vc->ntemplates; i++)
		if (!vc->templates[i].seen)
			vs_vcx_template_forget(&vc->templates[i]);
	vs_vcx_templates(vc);
}

/* ---- values --------------------------------------------------------------- */

static void one_task(struct vcx_slow *s, const char *moid, struct vs_j p)
{
	const char *state = vs_j_str_or(vs_vcx_prop(p, "info.state"), "");
	struct vs_vc_task *t;

	if (!strcmp(state, "success") || !strcmp(state, "error")) {
		ended_add(s, moid);
		return;
	}
	if (!*state)
		return;
	VS_GROW(s->tasks, s->captasks, s->ntasks + 1);
	t = &s->tasks[s->ntasks++];
	*t = (struct vs_vc_task){
		.moid = vs_strdup(moid), .state = vs_strdup(state),
		.name = vs_strdup(vs_j_str_or(
			vs_vcx_prop(p, "info.descriptionId"), "")),
		.entity = vs_strdup(vs_j_ref(
			vs_vcx_prop(p, "info.entity"), NULL)),
		.entity_name = vs_strdup(vs_j_str_or(
			vs_vcx_prop(p, "info.entityName"), "")),
		.user = vs_strdup(vs_j_str_or(vs_j_opt(
			vs_vcx_prop(p, "info.reason"), "userName"), "")),
	};
}

/* A pool or datastore that has less than nothing left has nothing. */
static int64_t left(struct vs_j val)
{
	int64_t n = vs_j_int_or(val, 0);

	return vs_j_null(val) ? -1 : n < 0 ? 0 : n;
}

/* ResourceAllocationInfo: a limit of -1 is none. */
static int64_t bound(struct vs_j of)
{
	int64_t most = vs_j_int_or(vs_j_opt(of, "limit"), -1);
	int64_t kept = vs_j_int_or(vs_j_opt(of, "reservation"), -1);

	if (vs_j_bool_or(vs_j_opt(of, "expandableReservation"), true))
		kept = -1;
	return most < 0 || (kept >= 0 && kept < most) ? kept : most;
}

static void one_pool(struct vs_vc *vc, const char *moid, struct vs_j p)
{
	struct vs_j rt = vs_vcx_prop(p, "runtime");
	struct vs_j conf = vs_vcx_prop(p, "config");
	struct vs_j cpu = vs_j_opt(rt, "cpu"), mem = vs_j_opt(rt, "memory");

	for (size_t i = 0; i < vc->nclusters; i++) {
		struct vs_vc_pool *row = &vc->slow->pools[i];
		int64_t bytes;

		if (strcmp(vc->clusters[i].pool_moid, moid))
			continue;
		vc->clusters[i].pool_seen = true;
		row->cpu_mhz = left(vs_j_opt(cpu, "unreservedForVm"));
		bytes = left(vs_j_opt(mem, "unreservedForVm"));
		row->mem_mb = bytes < 0 ? -1 : bytes >> 20;
		row->most_mhz = left(vs_j_opt(cpu, "maxUsage"));
		bytes = left(vs_j_opt(mem, "maxUsage"));
		row->most_mb = bytes < 0 ? -1 : bytes >> 20;
		row->own_mhz = bound(vs_j_opt(conf, "cpuAllocation"));
		row->own_mb = bound(vs_j_opt(conf, "memoryAllocation"));
	}
}

static void one_template(struct vs_vc *vc, const char *moid, struct vs_j p,
			 struct vs_j missing)
{
	const char *name = vs_j_str_or(vs_vcx_prop(p, "name"), "");
	const char *version = vs_j_str_or(
		vs_vcx_prop(p, "config.changeVersion"), "");
	bool is = vs_j_bool_or(vs_vcx_prop(p, "config.template"), false);

	for (size_t i = 0; i < vc->ntemplates; i++) {
		struct vcx_template *t = &vc->templates[i];

		/* Renamed: another one may have its name by now. */
		if (strcmp(t->moid, moid) ||
		    (*name && !vs_vcx_template_named(t, name)))
			continue;
		t->seen = true;
		/* It may be read no more: permissions were changed. */
		t->stale |= *version ? strcmp(t->change_version, version) ||
			t->is_template != is || vs_vcx_template_moved(t, p) :
			*t->change_version && vs_j_len(missing);
	}
}

static void one_cluster(struct vs_vc *vc, const char *moid, struct vs_j p)
{
	const struct vcx_effective e = {
		vs_j_int_or(vs_vcx_prop(p, "summary.effectiveMemory"), 0),
		vs_j_int_or(vs_vcx_prop(p, "summary.effectiveCpu"), 0),
		(int)vs_j_int_or(vs_vcx_prop(p, "summary.numEffectiveHosts"),
				 0) };

	for (size_t i = 0; i < vc->nclusters; i++) {
		if (strcmp(vc->clusters[i].moid, moid))
			continue;
		vs_vcx_cluster_set(&vc->clusters[i],
				   vs_vcx_prop(p, "configurationEx"));
		vs_str_replace(&vc->clusters[i].browser, vs_j_ref(
			vs_vcx_prop(p, "environmentBrowser"), NULL));
		vc->clusters[i].effective = e;
	}
}

static void one_network(struct vs_vc *vc, const char *moid)
{
	for (size_t i = 0; i < vc->nnetworks; i++)
		if (!strcmp(vc->networks[i].moid, moid))
			vc->networks[i].seen = true;
}

static void one_store(struct vs_vc *vc, const char *moid, struct vs_j p)
{
	int64_t bytes = left(vs_vcx_prop(p, "summary.freeSpace"));

	for (size_t i = 0; i < vc->nstores; i++) {
		if (strcmp(vc->stores[i].moid, moid))
			continue;
		vc->stores[i].free_mb = bytes < 0 ? -1 : bytes >> 20;
		vc->stores[i].away = !vs_j_bool_or(
			vs_vcx_prop(p, "summary.accessible"), true);
		vc->stores_seen[i] = true;
	}
}

static void on_value(struct vcx_read *r, const char *type, const char *moid,
		     struct vs_j props, struct vs_j missing)
{
	struct vs_vc *vc = r->vc;

	if (!strcmp(type, "Task")) {
		one_task(vc->slow, moid, props);
	} else if (!strcmp(type, "VirtualMachine")) {
		one_template(vc, moid, props, missing);
	} else if (!strcmp(type, "Datastore")) {
		one_store(vc, moid, props);
	} else if (!strcmp(type, "Folder")) {
		vc->slow->folder_seen = true;
	} else if (!strcmp(type, "ResourcePool")) {
		one_pool(vc, moid, props);
	} else if (!strcmp(type, "ClusterComputeResource")) {
		one_cluster(vc, moid, props);
	} else if (!strcmp(type, "HostSystem")) {
		vs_inv_host_system(vc->inv, moid,
				   vs_vcx_prop(props, "systemResources"));
	} else {
		one_network(vc, moid);
	}
}

static void start_values(struct vs_vc *vc)
{
	struct vcx_slow *s = vc->slow;

	clear_tasks(s);
	s->folder_seen = false;
	for (size_t i = 0; i < vc->nstores; i++) {
		vc->stores[i].free_mb = -1;
		vc->stores[i].away = false;
		vc->stores_seen[i] = false;
	}
	for (size_t i = 0; i < vc->nclusters; i++) {
		vc->clusters[i].pool_seen = false;
		vs_vcx_cluster_forget(&vc->clusters[i]);
	}
	for (size_t i = 0; i < vc->nnetworks; i++)
		vc->networks[i].seen = false;
	for (size_t i = 0; i < vc->ntemplates; i++)
		vc->templates[i].seen = false;
	free(s->pools);
	s->pools = vs_calloc(vc->nclusters, sizeof(*s->pools));
	for (size_t i = 0; i < vc->nclusters; i++)
		s->pools[i] = (struct vs_vc_pool){ vc->clusters[i].name, -1, -1,
						   -1, -1, -1, -1 };
}

static void add_things(struct vs_vc *vc, struct json_object *props,
		       struct json_object *objects)
{
	static const char *const cluster[] = { "environmentBrowser",
		"configurationEx", "summary.effectiveMemory",
		"summary.effectiveCpu", "summary.numEffectiveHosts", NULL };
	static const char *const pool[] = { "runtime", "config", NULL };
	static const char *const store[] = { "summary.freeSpace",
		"summary.accessible", NULL };
	static const char *const name[] = { "name", NULL };
	static const char *const vm[] = { "name", "config.template",
		"config.changeVersion", "runtime.host",
		"runtime.connectionState", NULL };
	bool any = false;

	vs_jb_add(props, vs_spec_props("ResourcePool", pool));
	for (size_t i = 0; i < vc->nclusters; i++)
		vs_jb_add(objects, vs_spec_object("ResourcePool",
						  vc->clusters[i].pool_moid));
	vs_jb_add(props, vs_spec_props("ClusterComputeResource",
				       cluster + !vc->inv->devices));
	for (size_t i = 0; i < vc->nclusters; i++)
		vs_jb_add(objects, vs_spec_object("ClusterComputeResource",
						  vc->clusters[i].moid));
	vs_jb_add(props, vs_spec_props("Datastore", store));
	for (size_t i = 0; i < vc->nstores; i++)
		vs_jb_add(objects, vs_spec_object("Datastore",
						  vc->stores[i].moid));
	vs_jb_add(props, vs_spec_props("Folder", name));
	vs_jb_add(objects, vs_spec_object("Folder", vc->resolved.folder));
	for (size_t i = 0; i < vc->nnetworks; i++) {
		const struct vcx_network *n = &vc->networks[i];
		size_t k = 0;

		while (strcmp(vc->networks[k].type, n->type))
			k++;
		if (k == i)	/* the first of its type */
			vs_jb_add(props, vs_spec_props(n->type, name));
		vs_jb_add(objects, vs_spec_object(n->type, n->moid));
	}
	for (size_t i = 0; i < vc->ntemplates; i++) {
		if (!*vc->templates[i].moid)
			continue;
		if (!any)
			vs_jb_add(props, vs_spec_props("VirtualMachine", vm));
		any = true;
		vs_jb_add(objects, vs_spec_object("VirtualMachine",
						  vc->templates[i].moid));
	}
}

static void read_values(struct vs_vc *vc, struct vs_j recent)
{
	static const char *const task[] = { "info.state", "info.descriptionId",
		"info.entity", "info.entityName", "info.reason",
		NULL };
	struct vcx_read r = { .vc = vc, .object = on_value,
		.end = on_values_end, .failed = beat_failed };
	struct json_object *props = vs_jb_arr(), *objects = vs_jb_arr();
	size_t n = vs_j_len(recent), asked = 0;
	struct ended *e;

	for (e = vc->slow->ended; e; e = e->hh.next)
		e->recent = false;
	for (size_t i = 0; i < n; i++) {
		const char *moid = vs_j_ref(vs_j_at(recent, i), NULL);

		if ((e = ended_find(vc->slow, moid))) {
			e->recent = true;
		} else if (*moid) {
			vs_jb_add(objects, vs_spec_object("Task", moid));
			asked++;
		}
	}
	ended_sweep(vc->slow);
	if (asked)
		vs_jb_add(props, vs_spec_props("Task", task));
	add_things(vc, props, objects);
	vs_capacity_request(vc->inv, vc->now, props, objects);
	start_values(vc);
	if (vc->ev.slow_begin) {
		vs_inv_together(vc->inv, true);
		vc->ev.slow_begin(vc->ev_arg);
		vs_inv_together(vc->inv, false);
	}
	vs_vcx_read(&r, vs_spec_filter(props, objects));
}

static void on_recent(struct vcx_call *call, struct vs_j reply,
		      const struct vs_err *err)
{
	struct vcx_read r = { .vc = call->vc };
	struct vs_err bad;

	if (err && err->code == VS_E_RELOGIN)
		vs_vcx_fail(call->vc, err);
	else if (err)
		beat_failed(&r, err);
	else if (vs_j_len(reply), vs_json_failed(reply.doc, &bad))
		beat_failed(&r, &bad);
	else
		read_values(call->vc, reply);
}

void vs_vcx_slow(struct vs_vc *vc)
{
	if (vc->slow_busy)
		return;
	if (!vc->slow)
		vc->slow = vs_calloc(1, sizeof(*vc->slow));
	vc->slow_busy = true;
	vs_vcx_get(&vc->http, on_recent, "TaskManager", vc->session.ids.tasks,
		   "recentTask");
}
