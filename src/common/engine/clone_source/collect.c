/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which sources of linked and instant clones are needed, and destroys
 * the others.
 *
 * A clone source is needed if a clone of a partition's template would be made
 * of it now. All are kept while that is unknown: while the template or a VM of
 * the folder can't be read, or a VM is missing. Another one is destroyed when
 * no disk depends on it, no clone of it is under way, and a later periodic poll
 * has shown no task on it. It is kept while it is on, or while it has a disk
 * outside of its own directory. The removal limit counts one that a new
 * configuration made superfluous, but not an outdated version of a source that
 * is still configured. Configuration and vCenter tell which it is, because a
 * restart forgets what was needed before. The caller holds the core's lock.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/clone_source/clone_source.h"
#include "engine/clone_source/clone_source_i.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "util/mem.h"
#include "util/time.h"

#define SCAN_MS 1000
#define LINGER_MS 5000		/* a template may be written twice in a row */
#define ASKED_MS 10000		/* by no clone any more */
#define UNREAD_MS 60000		/* a host that is away may come back */
#define FORGET_MS (10 * 60 * 1000)

bool vs_clone_sources_asked(const struct vs_conf *conf)
{
	for (size_t i = 0; i < conf->npartitions; i++) {
		enum vs_clone_type kind = VS_CLONE_FULL;

		if (!vs_clone_parse(conf->partitions[i].clone, &kind) &&
		    kind != VS_CLONE_FULL)
			return true;
	}
	return false;
}

static bool is_linked(const struct vs_profile *p)
{
	return p->clone != VS_CLONE_FULL;
}

void vs_clone_source_received(struct vs_core *c, struct vs_vm *vm,
			      const char *mark)
{
	bool was = vm->as_parent;

	vs_vm_set_clone_source(&c->inv, vm, mark);
	if (was != vm->as_parent)
		vs_nodes_mark_changed(c);
}

/* A snapshot is impossible with a NIC that is passed through. */
void vs_clone_source_template(struct vs_core *c, size_t profile,
			      const struct vs_vc_template *t)
{
	struct vs_profile *p = &c->profiles[profile];
	VS_FREE char *why = NULL;

	vs_assert_locked();
	p->template_mb = t->disk_mb;
	p->disk_mb = is_linked(p) ? vs_linked_mb(t->disk_mb) : t->disk_mb;
	if (!is_linked(p) || !t->passthrough || t->missing)
		return;
	why = vs_asprintf("Template=%s has a passthrough device, which Clone=%s does not allow: remove the device from the template (each VM gets its own), or set Clone=full",
			  t->name, vs_clone_name(p->clone));
	vs_profile_missing_set(c, profile, why);
}

/* ---- which are wanted ---------------------------------------------------------------- */

static bool lies_where_asked(const struct vs_core *c, const struct vs_vm *vm)
{
	return c->inv.nuses ? vs_vm_store(&c->inv, vm) >= 0 :
		vs_vm_lies_on(&c->inv, vm, c->store);
}

static bool wanted_by(const struct vs_core *c, const struct vs_vm *vm,
		      size_t profile)
{
	struct vs_clone_source_tag is;

	return !vs_clone_source_tag_fill(c->profiles[profile].clone,
					 c->now[profile].hash, &is) &&
	       is.kind == vm->parent.kind && !strcmp(is.of, vm->parent.of) &&
	       lies_where_asked(c, vm);
}

bool vs_clone_source_wanted(const struct vs_core *c, const struct vs_vm *vm)
{
	const struct vs_clone_source *r;

	vs_assert_locked();
	if (vm->parent.kind == VS_CLONE_KINDS)
		return true;		/* of an earlier process: unknown */
	HASH_FIND_STR(vs_clone_sources.all, vm->moid, r);
	for (size_t i = 0; i < c->nprofiles; i++)
		if (is_linked(&c->profiles[i]) &&
		    (!c->now[i].hash[0] ||
		     (!(r && r->worse) && wanted_by(c, vm, i))))
			return true;
	return false;
}

/* ---- the end of one -------------------------------------------------------------------- */

static bool can_go(const struct vs_vm *vm)
{
	return vm->readable && vm->connected && vm->host_ptr &&
	       vm->power == VS_POWER_OFF;
}

static bool host_leaves(const struct vs_vm *vm)
{
	const struct vs_host *h = vm->host_ptr;

	return h && (h->entering_maintenance || h->maintenance ||
		     h->entering_standby);
}

/* What vCenter shows of the template is the site's own word; a configuration that
 * doesn't ask for it any more may be a wrong file. */
static bool is_outdated(const struct vs_core *c, const struct vs_vm *vm)
{
	for (size_t i = 0; i < c->nprofiles; i++)
		if (c->profiles[i].clone == vm->parent.kind &&
		    c->now[i].hash[0] && lies_where_asked(c, vm))
			return true;
	return false;
}

static bool brake_lets(struct vs_clone_source *r,
		       const struct vs_vm *vm)
{
	return vs_removal_check(&r->braked, vm->moid, vm->name);
}

/* A VM that may stand on its disks keeps it, which is reported to operators. */
static void say_unread(const struct vs_clone_source *r,
		       const struct vs_vm *vm, int64_t now_ms)
{
	struct vs_clone_sources *p = &vs_clone_sources;

	if (r->has_children || now_ms - r->unwanted_ms < UNREAD_MS ||
	    !strcmp(p->unread, "?") || !strcmp(p->unread, p->unread_said))
		return;
	vs_strlcpy(p->unread_said, p->unread, sizeof(p->unread_said));
	vs_error("clone source vm=%s stays, as do all that are not needed: VM %s cannot be read and may use their disks; check that VM's host, its datastore and the account's privileges, or unregister the VM",
		 vm->name, p->unread);
}

/* One that stands frozen keeps its host's memory, and keeps the host from
 * maintenance: it is powered off where no clone needs it, or may be made of
 * it. */
static bool goes_off(struct vs_core *c, struct vs_clone_source *r,
		     const struct vs_vm *vm, int64_t now_ms)
{
	struct vs_err err = { 0 };

	if (vm->parent.kind != VS_CLONE_INSTANT || vm->power != VS_POWER_ON ||
	    !vm->readable || !vm->connected)
		return false;
	if (r->op == VS_CLONE_SOURCE_IDLE && now_ms >= r->not_before_ms &&
	    !r->made && !r->copied && !vs_clone_sources.copies_lost &&
	    (!r->unwanted_ms || host_leaves(vm) || brake_lets(r, vm))) {
		vs_info("clone source vm=%s is powered off: %s", vm->name,
			r->unwanted_ms ? "no more instant clones are made from it" :
			"its host is draining");
		if (vs_clone_source_power(c, r, vm, false, now_ms, &err))
			r->not_before_ms = now_ms + 1000;
	}
	return true;
}

static void end_it(struct vs_core *c, struct vs_clone_source *r,
		   const struct vs_vm *vm, int64_t now_ms)
{
	if (!r->unwanted_ms) {
		r->unwanted_ms = now_ms;
		r->judged_after = c->slow_seq;
		if (is_outdated(c, vm))
			r->braked = VS_REMOVAL_PASSED;
	}
	if (now_ms - r->unwanted_ms >= LINGER_MS && goes_off(c, r, vm, now_ms))
		return;
	if (r->op != VS_CLONE_SOURCE_IDLE || r->made || r->copied ||
	    vs_clone_sources.copies_lost || vs_clone_sources.missing ||
	    r->has_children || vs_clone_sources.unread[0]) {
		r->judged_after = c->slow_seq;
		if (vs_clone_sources.unread[0])
			say_unread(r, vm, now_ms);
		return;
	}
	if (!can_go(vm) || now_ms < r->not_before_ms ||
	    now_ms - r->unwanted_ms < LINGER_MS ||
	    vs_tasks_provisioning() >= c->conf->max_provision_ops)
		return;
	if (!vm->disks.own) {
		if (!r->told)
			vs_error("clone source vm=%s stays: it has a disk outside its own directory, which Destroy_Task would delete; detach that disk",
				 vm->name);
		r->told = true;
		return;
	}
	if (c->slow_seq <= r->judged_after)
		vs_vc_poll_request(c->vc);
	else if (brake_lets(r, vm))
		vs_clone_source_destroy(c, r, vm, now_ms);
}

/* ---- once a turn -------------------------------------------------------------------------- */

/* A reading has seen its disks, or there are none: the hold is over. */
static void hold_ends(struct vs_core *c, struct vs_clone_source *p,
		      int64_t now_ms)
{
	struct vs_claim *h = p->name[0] && !p->op_id ?
		vs_ledger_get(&c->ledger, p->name) : NULL;
	const struct vs_vm *vm = h ? vs_vm_get(&c->inv, p->vm) : NULL;

	if (!h || p->op != VS_CLONE_SOURCE_IDLE ||
	    (vm && !vm->share.told.there) ||
	    (vm && h->memory_mb && vm->power != VS_POWER_ON &&
	     now_ms - p->asked_ms < ASKED_MS))
		return;
	vs_ledger_release(&c->ledger, p->name);
	vs_capacity_freed();
}

static bool is_old(const struct vs_core *c, const struct vs_clone_source *p,
		   int64_t now_ms)
{
	if (!p->key.store[0])
		return !p->op_id && !vs_vm_get(&c->inv, p->id);
	return p->op == VS_CLONE_SOURCE_IDLE && !p->lost &&
	       !vs_clone_source_misplaced(c, p) &&
	       now_ms - p->asked_ms > FORGET_MS &&
	       !vs_ledger_get(&c->ledger, p->name);
}

static void forget_old(struct vs_core *c, int64_t now_ms)
{
	struct vs_clone_source *p, *tmp;

	HASH_ITER(hh, vs_clone_sources.all, p, tmp) {
		vs_clone_source_await(c, p, now_ms); /* no node may ask again */
		hold_ends(c, p, now_ms);
		if (!is_old(c, p, now_ms))
			continue;
		for (size_t i = 0; i < c->nnodes; i++)
			if (c->nodes[i].parent == p)
				c->nodes[i].parent = NULL;
		HASH_DEL(vs_clone_sources.all, p);
		free(p);
	}
}

void vs_clone_sources_update(struct vs_core *c, int64_t now_ms)
{
	struct vs_clone_source *r;
	struct vs_vm *vm;

	vs_assert_locked();
	if (now_ms - vs_clone_sources.scan_ms < SCAN_MS)
		return;
	vs_clone_sources.scan_ms = now_ms;
	vs_clone_sources_blocks_end(c, now_ms);
	vs_unconfirmed_clones_update(c);
	vs_clone_sources_absent_update(c);
	forget_old(c, now_ms);
	/* Until all nodes are judged it is unknown whose VM is missed. */
	if (!c->ready || c->observe || c->blocked[0] ||
	    !vs_changes_permitted())
		return;
	vs_clone_sources_observe(c, now_ms);
	LIST_FOREACH(vm, &c->inv.parents, with_parents) {
		if (vs_vm_owner(vm, c->folder, c->cluster_id) !=
		    VS_OWNER_CLONE_SOURCE)
			continue;
		r = vs_clone_source_record(c, vm->moid, false);
		if (!r) {	/* judged by the next pass, which has seen it */
			vs_clone_source_record(c, vm->moid, true);
			continue;
		}
		if (vs_clone_source_wanted(c, vm)) {
			r->unwanted_ms = 0;
			r->braked = VS_REMOVAL_UNREQUESTED;
			if (host_leaves(vm))
				goes_off(c, r, vm, now_ms);
		} else {
			end_it(c, r, vm, now_ms);
		}
	}
}

size_t vs_clone_sources_confirm(int64_t minute)
{
	size_t n = 0;

	vs_assert_locked();
	for (struct vs_clone_source *r = vs_clone_sources.all; r;
	     r = r->hh.next) {
		if (r->braked != VS_REMOVAL_WAITS)
			continue;
		r->braked = VS_REMOVAL_PASSED;
		vs_removal_count(r->id, minute, true);
		n++;
	}
	return n;
}

int vs_clone_sources_count(const struct vs_core *c)
{
	const struct vs_vm *vm;
	int n = 0;

	vs_assert_locked();
	LIST_FOREACH(vm, &c->inv.parents, with_parents)
		n += vs_vm_owner(vm, c->folder, c->cluster_id) ==
			VS_OWNER_CLONE_SOURCE;
	return n;
}
