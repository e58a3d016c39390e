/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watching: one private property collector, four filters, one outstanding
 * WaitForUpdatesEx.
 *
 * Rules of the collector (vSphere's WaitForUpdatesEx): version "" gives all
 * there is; a truncated version is good for one call, so losing its reply
 * means to begin again; another one may be used again after a lost reply. No
 * second wait is sent while objects are being read again, so that an older
 * reading can't overwrite a newer update. A vCenter that truncates without end
 * fails the client.
 */
#include <stdlib.h>
#include <string.h>

#include "util/log.h"
#include "util/mem.h"
#include "vcenter/client/client_i.h"
#include "vcenter/spec/spec.h"

#define POLL_RETRY_MS 1000
#define POLL_TRIES 3
#define RELOADS_MAX 3

void vs_vcx_watch_forget(struct vs_vc *vc)
{
	vs_strs_free(vc->watch.views, vc->watch.nviews);
	vc->watch.views = NULL;
	vc->watch.nviews = 0;
	vs_str_replace(&vc->watch.pc, NULL);
	vs_str_replace(&vc->watch.list_view, NULL);
	vs_str_replace(&vc->watch.poll_version, NULL);
	for (int f = 0; f < VCX_NFILTERS; f++)
		vs_str_replace(&vc->inv->filter[f], NULL);
	vc->watch.poll_open = vc->watch.poll_truncated = vc->watch.gathers =
		false;
	vc->watch.poll_fails = vc->watch.reloads = 0;
	vc->watch.poll_at = 0;
	vc->watch.poll_pages = (struct vcx_pages) { 0 };
	vs_inv_clear(vc->inv);
}

/* ---- views, collector, filters -------------------------------------------- */

static void next_view(struct vs_vc *vc);
static void next_filter(struct vs_vc *vc);

static bool took_ref(struct vcx_call *call, struct vs_j reply,
		     const struct vs_err *err, char **slot)
{
	struct vs_vc *vc = call->vc;
	struct vs_err bad;

	if (err) {
		vs_vcx_fail(vc, err);
		return false;
	}
	vs_str_replace(slot, vs_j_ref(reply, NULL));
	if (vs_vcx_bad(vc, reply))
		return false;
	if (**slot)
		return true;
	vs_err_set(&bad, VS_E_RETRY, "%s: an empty answer", call->what);
	vs_vcx_fail(vc, &bad);
	return false;
}

static struct json_object *members_of(struct vs_vc *vc, enum vcx_filter f)
{
	struct json_object *a = vs_jb_arr();

	if (f == VCX_F_TASKS) {
		vs_jb_add(a,
			  vs_spec_view_members("ListView",
					       vc->watch.list_view));
	} else if (f == VCX_F_MANAGED) {
		vs_jb_add(a, vs_spec_view_members("ContainerView",
				vc->watch.views[vc->watch.nviews - 1]));
	} else {
		for (size_t i = 0; i + 1 < vc->watch.nviews; i++)
			vs_jb_add(a, vs_spec_view_members("ContainerView",
							  vc->watch.views[i]));
	}
	return a;
}

static void on_filter(struct vcx_call *call, struct vs_j reply,
		      const struct vs_err *err)
{
	struct vs_vc *vc = call->vc;

	if (took_ref(call, reply, err, &vc->inv->filter[vc->watch.step])) {
		vc->watch.step++;
		next_filter(vc);
	}
}

static void next_filter(struct vs_vc *vc)
{
	static const char *const types[VCX_NFILTERS] = {
		[VCX_F_VMS] = "VirtualMachine",
		[VCX_F_MANAGED] = "VirtualMachine",
		[VCX_F_HOSTS] = "HostSystem",
		[VCX_F_TASKS] = "Task",
	};
	struct json_object *props = vs_jb_arr();
	enum vcx_filter f = vc->watch.step;

	if (f == VCX_NFILTERS) {
		vs_jb_free(props);
		/* Running tasks are read before the inventory: what ends in
		 * between shows as a VM, what doesn't as a task. */
		vs_vcx_slow(vc);
		return;
	}
	vs_jb_add(props, vs_spec_props(types[f], vs_inv_paths(vc->inv, f)));
	vs_vcx_post(&vc->http, 0, on_filter, "PropertyCollector", vc->watch.pc,
		    "CreateFilter", vs_spec_create_filter(
			vs_spec_filter(props, members_of(vc, f))));
}

static void on_collector(struct vcx_call *call, struct vs_j reply,
			 const struct vs_err *err)
{
	struct vs_vc *vc = call->vc;

	if (!took_ref(call, reply, err, &vc->watch.pc))
		return;
	vc->watch.step = 0;
	next_filter(vc);
}

static void on_list_view(struct vcx_call *call, struct vs_j reply,
			 const struct vs_err *err)
{
	struct vs_vc *vc = call->vc;

	if (!took_ref(call, reply, err, &vc->watch.list_view))
		return;
	vs_vcx_list_sync(vc, false);
	vs_vcx_post(&vc->http, 0, on_collector, "PropertyCollector",
		    vc->session.ids.collector, "CreatePropertyCollector", NULL);
}

static void on_view(struct vcx_call *call, struct vs_j reply,
		    const struct vs_err *err)
{
	struct vs_vc *vc = call->vc;

	if (took_ref(call, reply, err, &vc->watch.views[vc->watch.step])) {
		vc->watch.step++;
		next_view(vc);
	}
}

static void next_view(struct vs_vc *vc)
{
	static const char *const both[] = { "VirtualMachine", "HostSystem",
					    NULL };
	bool folder = vc->watch.step == vc->nclusters;

	if (vc->watch.step == vc->watch.nviews) {
		/* Empty: one task that vCenter has forgotten would make it
		 * fail. Adding them later says which those are. */
		vs_vcx_post(&vc->http, 0, on_list_view, "ViewManager",
			    vc->session.ids.views,
			    "CreateListView", vs_spec_list_view(vs_jb_arr()));
		return;
	}
	vs_vcx_post(&vc->http, 0, on_view, "ViewManager", vc->session.ids.views,
		    "CreateContainerView", vs_spec_container_view(
			folder ? "Folder" : "ClusterComputeResource",
			folder ? vc->resolved.folder :
				vc->clusters[vc->watch.step].moid,
			folder ? (const char *const[]){ both[0], NULL } :
			both));
}

void vs_vcx_watch(struct vs_vc *vc)
{
	vs_vcx_watch_forget(vc);
	vc->watch.nviews = vc->nclusters + 1;
	vc->watch.views = vs_calloc(vc->watch.nviews, sizeof(*vc->watch.views));
	vc->watch.step = 0;
	next_view(vc);
}

/* ---- reading again what a change could not tell --------------------------- */

static void on_reread(struct vcx_read *r, const char *type, const char *moid,
		      struct vs_j props, struct vs_j missing)
{
	struct vcx_refetch *what = TAILQ_FIRST(&r->vc->inv->refetch);

	(void)type;
	if (what && !strcmp(what->moid, moid))
		vs_inv_reread(r->vc->inv, what->filter, moid, props, missing);
}

static void after_set(struct vs_vc *vc);

static void on_reread_end(struct vcx_read *r)
{
	struct vs_vc *vc = r->vc;
	struct vcx_refetch *what = TAILQ_FIRST(&vc->inv->refetch);

	TAILQ_REMOVE(&vc->inv->refetch, what, link);
	free(what->type);
	free(what->moid);
	free(what);
	after_set(vc);
}

static void reread(struct vs_vc *vc, const struct vcx_refetch *what)
{
	struct vcx_read r = { .vc = vc, .object = on_reread,
			      .end = on_reread_end };
	struct json_object *props = vs_jb_arr(), *objects = vs_jb_arr();

	vs_jb_add(props, vs_spec_props(what->type,
				       vs_inv_paths(vc->inv, what->filter)));
	vs_jb_add(objects, vs_spec_object(what->type, what->moid));
	vs_vcx_read(&r, vs_spec_filter(props, objects));
}

/* ---- the long poll -------------------------------------------------------- */

/* Clusters without a host, or a view that lost what it showed, or rights that
 * went: nothing that was there may be taken for gone. */
static bool shows_nothing(struct vs_vc *vc)
{
	struct vs_err err;

	if (vc->inv->hosts)
		return false;
	vs_err_set(&err, VS_E_RETRY,
		   "vCenter shows no host in any cluster of vsphere.conf: check the privileges of the account (VCenterUser=)");
	vs_vcx_fail(vc, &err);
	return true;
}

/* Each change would cost a call, were none of them gathered. */
static void poll_on(struct vs_vc *vc)
{
	int ms = vs_vcx_gather_ms(vc, vc->watch.poll_news);

	vc->watch.told_at = vc->now;
	if (!ms || vc->state != VCX_UP || vc->watch.poll_truncated) {
		vs_vcx_poll(vc);
		return;
	}
	vc->watch.poll_at = vc->now + ms;
	vc->watch.gathers = true;
}

static void after_set(struct vs_vc *vc)
{
	struct vcx_refetch *what = TAILQ_FIRST(&vc->inv->refetch);

	if (what) {
		reread(vc, what);
		return;
	}
	if (vc->state == VCX_LOAD)
		vs_vcx_capacity(vc);
	vs_inv_flush(vc->inv);
	if (vc->state == VCX_LOAD && !vc->watch.poll_truncated) {
		if (shows_nothing(vc))
			return;
		vs_vcx_event(vc, VCX_EV_LOADED);
		if (vc->ev.load_end) {
			vs_inv_together(vc->inv, true);
			vc->ev.load_end(vc->ev_arg);
			vs_inv_together(vc->inv, false);
		}
		vs_vcx_list_sync(vc, true);
		vs_vcx_poll(vc);	/* a load's last part begins no stream */
		return;
	}
	poll_on(vc);
}

/* A vCenter that forgets each version at once would have the inventory loaded
 * without end, as fast as the network is. */
static bool may_reload(struct vs_vc *vc)
{
	if (vc->state == VCX_UP && vc->now - vc->up_at > VCX_SETTLED_MS)
		vc->watch.reloads = 0;
	return vc->watch.reloads++ < RELOADS_MAX;
}

static void on_poll_error(struct vs_vc *vc, const struct vs_err *err)
{
	if (!strcmp(err->fault, "InvalidCollectorVersion") &&
	    may_reload(vc)) {
		vs_info("vCenter no longer knows this client's version of the inventory: loading the inventory again");
		vs_vcx_event(vc, VCX_EV_VERSION_LOST);
		return;
	}
	if (err->code == VS_E_RETRY && !err->fault[0] &&
	    !vc->watch.poll_truncated && vc->watch.poll_fails++ < POLL_TRIES) {
		vs_debug("the answer to a wait for updates was lost: asking again");
		vc->watch.poll_at = vc->now + POLL_RETRY_MS;
		return;
	}
	vs_vcx_fail(vc, err);
}

/* Returns false, and fails the client, if a change is truncated without end. */
static bool truncated_ends(struct vs_vc *vc, struct vs_j reply)
{
	struct vs_j filters = vs_j_opt(reply, "filterSet");
	size_t objects = 0;
	struct vs_err err;

	vc->watch.poll_truncated =
		vs_j_bool_or(vs_j_opt(reply, "truncated"), false);
	if (!vc->watch.poll_truncated) {
		vc->watch.poll_pages = (struct vcx_pages) { 0 };
		return true;
	}
	for (size_t i = 0; i < vs_j_len(filters); i++)
		objects += vs_j_len(vs_j_opt(vs_j_at(filters, i),
					     "objectSet"));
	if (!vs_vcx_page(&vc->watch.poll_pages, objects, "WaitForUpdatesEx",
			 &err))
		return true;
	vs_vcx_fail(vc, &err);
	return false;
}

/* Returns 0. Returns -1, and fails the client, if it is not all of a set. */
static int apply_set(struct vs_vc *vc, struct vs_j set)
{
	struct vcx_task_updates tasks;
	struct vs_err bad;
	int rc;

	if (vs_inv_update(vc->inv, set, &bad)) {
		vs_vcx_fail(vc, &bad);
		return -1;
	}
	vs_inv_flush(vc->inv);
	rc = vs_inv_tasks(vc->inv, set, &tasks, &bad);
	for (size_t i = 0; i < tasks.n; i++)
		vs_vcx_task_received(vc, &tasks.list[i]);
	free(tasks.list);
	if (rc)
		vs_vcx_fail(vc, &bad);
	return rc;
}

static void on_updates(struct vcx_call *call, struct vs_j reply,
		       const struct vs_err *err)
{
	struct vs_vc *vc = call->vc;

	vc->watch.poll_open = false;
	if (err) {
		on_poll_error(vc, err);
		return;
	}
	vc->watch.poll_fails = 0;
	vc->watch.poll_news = !vs_j_null(reply);
	if (!vc->watch.poll_news) {
		vc->watch.poll_truncated = false;
		vc->watch.poll_pages = (struct vcx_pages) { 0 };
		after_set(vc);
		return;
	}
	vs_str_replace(&vc->watch.poll_version, vs_j_str(vs_j_get(reply,
							    "version")));
	if (!truncated_ends(vc, reply))
		return;
	if (!apply_set(vc, reply))
		after_set(vc);
}

void vs_vcx_poll(struct vs_vc *vc)
{
	bool now = vc->state == VCX_LOAD;

	if (vc->watch.poll_open || !vc->watch.pc)
		return;
	vc->watch.poll_at = 0;
	vc->watch.gathers = false;
	vc->watch.poll_open = true;
	vs_vcx_post(&vc->http, VCX_POLL, on_updates, "PropertyCollector",
		    vc->watch.pc,
		    "WaitForUpdatesEx",
		    vs_spec_wait(vc->watch.poll_version ?
				 vc->watch.poll_version : "",
				 now ? 0 : vc->http.wait_seconds));
}

void vs_vcx_poll_timer(struct vs_vc *vc)
{
	if (vc->watch.poll_at && vc->now >= vc->watch.poll_at)
		vs_vcx_poll(vc);
}

void vs_vcx_load(struct vs_vc *vc)
{
	vs_inv_clear(vc->inv);
	vs_str_replace(&vc->watch.poll_version, NULL);
	vc->watch.poll_truncated = false;
	vc->watch.poll_pages = (struct vcx_pages) { 0 };
	if (vc->ev.load_begin) {
		vs_inv_together(vc->inv, true);
		vc->ev.load_begin(vc->ev_arg);
		vs_inv_together(vc->inv, false);
	}
	vs_vcx_poll(vc);
}
