/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the client calls back, in the engine's thread: the core's lock is taken
 * once for the records of one answer. inventory/ writes a record first; the modules
 * of higher levels that have to hear of it follow.
 *
 * Rules: the client calls together() around all that belongs together, so each
 * other callback here has the lock, and changes memory only. Threads of slurmctld
 * that want the lock have it between two records; the client walks them, not each.c.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/checks/checks.h"
#include "engine/clone_source/clone_source.h"
#include "engine/hosts/hosts.h"
#include "engine/inventory/inventory.h"
#include "engine/persist/persist.h"
#include "engine/provision/provision.h"
#include "engine/reconcile/reconcile.h"
#include "engine/run/run.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "plan/allocation/shared_capacity.h"
#include "plan/inventory/capability.h"
#include "util/mem.h"
#include "util/time.h"

static void together(void *arg, bool begins)
{
	(void)arg;
	if (begins)
		vs_lock();
	else
		vs_unlock();
}

void vs_calls_lost(struct vs_core *c)
{
	vs_assert_locked();
	vs_orphans_forget_calls(c);
	vs_op_forget_all(c);
}

static void strings_free(char ***list)
{
	for (char **s = *list; s && *s; s++)
		free(*s);
	free(*list);
	*list = NULL;
}

/* ---- names ---------------------------------------------------------------- */

static void found_clusters(struct vs_core *c, const struct vs_vc_found *f)
{
	strings_free(&c->cluster_moids);
	strings_free(&c->pool_moids);
	c->cluster_moids = vs_calloc(f->nclusters + 1, sizeof(char *));
	c->pool_moids = vs_calloc(f->nclusters + 1, sizeof(char *));
	for (size_t i = 0; i < f->nclusters; i++) {
		c->cluster_moids[i] = vs_strdup(f->clusters[i].moid);
		c->pool_moids[i] = vs_strdup(f->clusters[i].pool_moid);
	}
	vs_guards_set(c, f->clusters, f->nclusters);
}

static void template_apply(struct vs_core *c, const struct vs_vc_template *t)
{
	for (size_t i = 0; i < c->nprofiles; i++) {
		struct vs_profile *p = &c->profiles[i];

		if (strcmp(p->template_name, t->name))
			continue;
		vs_strlcpy(p->template_moid, t->moid,
			   sizeof(p->template_moid));
		vs_strlcpy(p->template_version, t->change_version,
			   sizeof(p->template_version));
		p->template_hw = t->hw;
		vs_hardware_template(p, t);
		vs_profile_missing_set(c, i, t->missing ? t->missing : "");
		vs_clone_source_template(c, i, t);	/* may add to it */
		vs_template_host_received(c, i, t);	/* likewise */
		vs_profile_capacity_outdate(c, i); /* more or less may fit */
	}
	vs_checks_template(t);
	if (t->missing)
		vs_error("%s", t->missing);
	vs_capacity_freed();
	vs_profiles_changed(c);
}

/* Writes for the next slurmctld, which may start soon, whether vCenter takes the
 * password. The file is written without the lock: nothing that was read before
 * holds when this returns. */
static void note_login(const struct vs_core *c, bool taken)
{
	VS_FREE char *dir = NULL, *user = NULL, *file = NULL;

	if (!c->conf->state_dir)
		return;
	dir = vs_strdup(c->conf->state_dir);
	user = vs_strdup(c->conf->username ? c->conf->username : "");
	file = vs_strdup(c->conf->password_file ? c->conf->password_file : "");
	vs_unlock();
	if (taken)
		vs_login_taken(dir);
	else
		vs_login_refused(dir, user, file);
	vs_lock();
}

static void on_up(void *arg, const struct vs_vc_found *f)
{
	struct vs_core *c = arg;

	note_login(c, true);
	found_clusters(c, f);
	vs_strlcpy(c->folder, f->folder, sizeof(c->folder));
	vs_stores_found(c, f);
	vs_vc_user_set(f->user);
	for (size_t i = 0; i < c->conf->nadapters; i++)
		for (size_t k = 0; k < f->nnetworks; k++) {
			const struct vs_vc_network *net = &f->networks[k];
			struct vs_network *to = &c->nets[i];

			if (strcmp(net->name, c->adapters[i].network))
				continue;
			vs_strlcpy(to->moid, net->moid, sizeof(to->moid));
			vs_strlcpy(to->switch_uuid, net->switch_uuid,
				   sizeof(to->switch_uuid));
			vs_strlcpy(to->portgroup_key, net->portgroup_key,
				   sizeof(to->portgroup_key));
			to->nsx = net->nsx;
			to->opaque = net->opaque;
			to->accepts = net->accepts;
		}
	for (size_t k = 0; k < f->ntemplates; k++)
		template_apply(c, &f->templates[k]);
	c->release = vs_release_parse(f->release);
	vs_clone_way_found(f);
	vs_vc_found(c);
	vs_nodes_mark_changed(c);
	vs_info("vCenter is connected: %s release=%s", f->about, f->release);
}

static void on_template(void *arg, const struct vs_vc_template *t)
{
	template_apply(arg, t);
	if (!t->missing)
		vs_info("template %s has changed: warm VMs are rebuilt when next used",
			t->name);
}

static void on_down(void *arg, const struct vs_err *err)
{
	struct vs_core *c = arg;
	VS_FREE char *text = NULL;	/* for those who don't know paths */

	vs_vc_unloaded(c);
	if (!c->vc_state[0])
		vs_vc_since_set(vs_wall_ms());
	vs_vc_state_set(c, err->text);
	if (!strstr(c->vc_state, "vCenter")) {
		text = vs_asprintf("vCenter: %s", err->text);
		vs_vc_state_set(c, text);
	}
	vs_calls_lost(c);
	vs_offers_down(c);
	vs_nodes_mark_changed(c);
	if (err->code == VS_E_RETRY || err->code == VS_E_RELOGIN)
		vs_info("vCenter is not reachable: %s", err->text);
	else
		vs_error("%s", err->text);
	if (err->code == VS_E_LOGIN)
		note_login(c, false);
}

/* ---- the load: what is not delivered until its end has gone --------------- */

static void on_load_begin(void *arg)
{
	struct vs_core *c = arg;
	struct vs_host *h, *ht;
	struct vs_vm *vm, *vt;

	vs_vc_unloaded(c);
	vs_nodes_mark_changed(c);
	vs_load_begun();
	for (h = c->inv.hosts; h; h = ht) {
		ht = h->hh.next;
		vs_inventory_remove_host(&c->inv, h->moid);
	}
	for (vm = c->inv.vms; vm; vm = vt) {
		vt = vm->hh.next;
		vs_inventory_remove_vm(&c->inv, vm->moid);
	}
	vs_shared_capacity_forget(&c->inv);
}

static void on_load_end(void *arg)
{
	struct vs_core *c = arg;

	vs_vc_loaded(c);
	vs_nodes_mark_changed(c);
	vs_vc_state_set(c, "");
	vs_vc_since_set(vs_wall_ms());
	/* Tasks under way are adopted before anything is begun. */
	vs_poll_await(c);
	vs_vc_poll_request(c->vc);
	vs_info("inventory loaded: hosts=%d vms=%u", c->inv.nhosts,
		HASH_COUNT(c->inv.vms));
}

/* ---- records of hosts and VMs --------------------------------------------- */

static void on_host(void *arg, const struct vs_vc_host *h)
{
	struct vs_core *c = arg;
	bool fewer_vfs;
	struct vs_host *to = vs_host_update(c, h, &fewer_vfs);

	vs_pf_change_observe(to);
	if (fewer_vfs)
		vs_pf_change_overcommit(c, to);
	vs_host_changed(&c->inv, to);
	vs_lock_yield();
}

static void on_vm(void *arg, const struct vs_vc_vm *v)
{
	struct vs_core *c = arg;
	struct vs_vm *to = vs_vm_update(c, v);

	if (to && v->has & VS_VC_VM_MARK)
		vs_clone_source_received(c, to, v->parent);
	if (to && v->has & VS_VC_VM_WORDS && v->guest)
		vs_guest_info_observed(to, v->guest);
	if (to && v->has & VS_VC_VM_NICS && vs_mac_may_be_shared(c, to))
		vs_findings_outdate();
	if (to)
		vs_vm_changed(&c->inv, to);
	vs_lock_yield();
}

static void on_gone(void *arg, enum vs_vc_kind kind, const char *moid)
{
	struct vs_core *c = arg;
	const struct vs_vm *vm = vs_vm_get(&c->inv, moid);

	if (kind == VS_VC_HOST) {
		vs_host_remove(c, moid);
	} else {
		if (vm && vs_mac_may_be_shared(c, vm))
			vs_findings_outdate();
		vs_vm_remove(c, moid);
	}
	vs_lock_yield();
}

/* ---- the periodic poll, answers --------------------------------------------- */

static void on_slow_begin(void *arg)
{
	struct vs_core *c = arg;

	vs_shared_capacity_begin(&c->inv);
	vs_checks_reading();
}

static void on_slow(void *arg, const struct vs_vc_slow *s)
{
	struct vs_core *c = arg;

	c->slow_seq++;
	vs_hosts_leaving_update(c, s);
	vs_capacity_update(c, s);
	vs_guards_set(c, s->clusters, s->nclusters);
	vs_rights_set(s);
	vs_checks_slow(s);
	vs_orphans_tasks(c, s->tasks, s->ntasks);
	vs_op_adopt_tasks(c, s->tasks, s->ntasks);
}

static void on_where(void *arg, uint64_t id, const char *host,
		     const struct vs_err *err)
{
	vs_drs_answered(arg, id, host, err);
}

static void on_target(void *arg, uint64_t id, const struct vs_vc_targets *t,
		      const struct vs_err *err)
{
	vs_device_ids_answered(arg, id, t, err);
}

const struct vs_vc_events vs_watch_events = {
	.together = together,
	.up = on_up,
	.down = on_down,
	.load_begin = on_load_begin,
	.load_end = on_load_end,
	.host = on_host,
	.vm = on_vm,
	.gone = on_gone,
	.template_changed = on_template,
	.slow_begin = on_slow_begin,
	.slow = on_slow,
	.where = on_where,
	.target = on_target,
};
