/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parents of linked and instant clones as svf shows them, and what of them a plan needs.
 * Memory work; the lock is held, and lent between two parents, for
 * the children of each are counted among all VMs.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/clone_source/clone_source.h"
#include "engine/reconcile/reconcile.h"
#include "engine/report/report.h"
#include "engine/report/report_i.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "util/json.h"
#include "util/mem.h"

static const char *template_of(const struct vs_core *c,
			       const struct vs_clone_source_tag *m)
{
	struct vs_clone_source_tag is;

	for (size_t i = 0; i < c->nprofiles; i++)
		if (!vs_clone_source_tag_fill(c->profiles[i].clone,
					      c->now[i].hash, &is) &&
		    is.kind == m->kind && !strcmp(is.of, m->of))
			return c->profiles[i].template_name;
	return NULL;
}

const char *const vs_clone_source_states[VS_CLONE_SOURCE_STATES] = {
	"cloning", "snapshot", "destroy", "on", "away", "no_snapshot", "off",
	"booting", "ready",
};

/* What is done with it; VS_CLONE_SOURCE_STATES: nothing that has a name. */
static enum vs_clone_source_state doing(const struct vs_clone_source *p)
{
	return p->op == VS_CLONE_SOURCE_SNAPS ? VS_CLONE_SOURCE_IS_SNAPPED :
	       p->op == VS_CLONE_SOURCE_DESTROYS ?
						VS_CLONE_SOURCE_IS_DESTROYED :
	       p->op == VS_CLONE_SOURCE_CLONES ? VS_CLONE_SOURCE_IS_CLONING :
						 VS_CLONE_SOURCE_STATES;
}

/* What it is when nothing is done with it. */
static enum vs_clone_source_state stands(const struct vs_vm *vm)
{
	if (vm->power == VS_POWER_ON && vm->parent.kind != VS_CLONE_INSTANT)
		return VS_CLONE_SOURCE_IS_ON;
	switch (vs_clone_source_action(vm)) {
	case VS_CLONE_SOURCE_AWAY:
		return VS_CLONE_SOURCE_IS_AWAY;
	case VS_CLONE_SOURCE_SNAP:
		return VS_CLONE_SOURCE_IS_BARE;
	case VS_CLONE_SOURCE_BOOT:
		return VS_CLONE_SOURCE_IS_OFF;
	case VS_CLONE_SOURCE_FREEZES:
		return VS_CLONE_SOURCE_IS_BOOTING;
	default:
		return VS_CLONE_SOURCE_IS_READY;
	}
}

static const char *state_of(const struct vs_vm *vm)
{
	for (const struct vs_clone_source *p = vs_clone_sources_all()->all; p;
	     p = p->hh.next)
		if (!strcmp(p->vm, vm->moid) &&
		    doing(p) != VS_CLONE_SOURCE_STATES)
			return vs_clone_source_states[doing(p)];
	return vs_clone_source_states[stands(vm)];
}

static bool is_parent(const struct vs_core *c, const struct vs_vm *vm)
{
	return vm && vs_vm_owner(vm, c->folder, c->cluster_id) ==
		VS_OWNER_CLONE_SOURCE && vm->parent.kind < VS_CLONE_KINDS;
}

/* Each as it stands; then again those with which something is done. */
void vs_clone_sources_states(
	const struct vs_core *c,
	unsigned int n[VS_CLONE_KINDS][VS_CLONE_SOURCE_STATES])
{
	const struct vs_clone_source *p;
	const struct vs_vm *vm;

	LIST_FOREACH(vm, &c->inv.parents, with_parents)
		if (is_parent(c, vm))
			n[vm->parent.kind][stands(vm)]++;
	for (p = vs_clone_sources_all()->all; p; p = p->hh.next) {
		if (doing(p) == VS_CLONE_SOURCE_STATES)
			continue;
		vm = vs_vm_get(&c->inv, p->vm);
		if (is_parent(c, vm)) {
			n[vm->parent.kind][stands(vm)]--;
			n[vm->parent.kind][doing(p)]++;
		} else if (p->op == VS_CLONE_SOURCE_CLONES) {
			n[p->key.mark.kind][VS_CLONE_SOURCE_IS_CLONING]++;
		}
	}
}

/* "[vsan] parent-x/" lies on vsan. */
static void put_store(struct json_object *o, const struct vs_vm *vm)
{
	VS_FREE char *name = vs_strdup(vm->disks.dir[0] == '[' ?
				       vm->disks.dir + 1 : "");

	name[strcspn(name, "]")] = '\0';
	vs_report_str(o, "datastore", name);
}

const char *vs_clone_source_stays(const struct vs_core *c,
				  const struct vs_vm *vm)
{
	const struct vs_clone_source *r;

	HASH_FIND_STR(vs_clone_sources_all()->all, vm->moid, r);
	if (!r || !r->unwanted_ms || vs_clone_source_wanted(c, vm))
		return NULL;
	if (r->has_children)
		return "VMs use its disks";
	if (r->copied || vs_clone_sources_all()->copies_lost)
		return "a clone of it may be under way";
	if (vs_clone_sources_all()->missing)
		return "a node's VM is missing";
	if (vs_clone_sources_all()->unread[0])
		return "a VM that may use its disks cannot be read";
	if (!vm->readable || !vm->connected)
		return "the VM or its host cannot be reached";
	if (vm->power == VS_POWER_ON && vm->parent.kind != VS_CLONE_INSTANT)
		return "the VM is on";
	if (!vm->disks.own)
		return "it has a disk outside its own directory";
	return r->braked == VS_REMOVAL_WAITS ?
		"the removal limit is reached (svf reconcile)" : NULL;
}

static struct json_object *parent_json(struct vs_core *c,
				       const struct vs_vm *vm)
{
	struct json_object *o = vs_jb_obj(NULL);
	bool unsure;

	vs_jb_str(o, "vm", vm->name);
	vs_jb_str(o, "type", vs_clone_name(vm->parent.kind));
	vs_report_state(o, "state", state_of(vm));
	vs_report_str(o, "template", template_of(c, &vm->parent));
	put_store(o, vm);
	vs_report_str(o, "host", vm->host_ptr ? vm->host_ptr->name : NULL);
	vs_jb_int(o, "clones", (int64_t)vs_clone_source_children(&c->inv, vm,
								   c->folder,
								   &unsure));
	vs_jb_bool(o, "removal_pending", !vs_clone_source_wanted(c, vm));
	vs_report_str(o, "reason", vs_clone_source_stays(c, vm));
	return o;
}

/* Its mark was taken away, and it has children still: see orphan_vms.c. */
static void unmarked(const struct vs_core *c, struct json_object *arr)
{
	for (const struct vs_orphan *r = vs_orphans(); r; r = r->hh.next) {
		const struct vs_vm *vm = r->stood_on ?
			vs_vm_get(&c->inv, r->vm) : NULL;
		struct json_object *o;
		bool unsure;

		if (!vm)
			continue;
		o = vs_jb_obj(NULL);
		vs_jb_str(o, "vm", r->name);
		vs_report_state(o, "state", "untagged");
		put_store(o, vm);
		vs_report_str(o, "host",
			      vm->host_ptr ? vm->host_ptr->name : NULL);
		vs_jb_int(o, "clones",
			  (int64_t)vs_clone_source_children(
				  &c->inv, vm, c->folder, &unsure));
		vs_jb_bool(o, "removal_pending", true);
		vs_jb_str(o, "reason", "VMs use its disks");
		vs_jb_add(arr, o);
	}
}

/* One that vCenter doesn't show yet. */
static struct json_object *coming_json(const struct vs_core *c,
				       const struct vs_clone_source *p)
{
	const struct vs_host *h = vs_host_get(&c->inv, p->host);
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_str(o, "vm", p->name);
	vs_jb_str(o, "type", vs_clone_name(p->key.mark.kind));
	vs_report_state(o, "state", "cloning");
	vs_report_str(o, "template", template_of(c, &p->key.mark));
	vs_report_str(o, "host", h ? h->name : NULL);
	vs_jb_int(o, "since", vs_report_epoch(p->since_ms));
	vs_jb_int(o, "clones", 0);
	vs_jb_bool(o, "removal_pending", false);
	return o;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names first: parents come and go while the lock is lent, and each.c has none. */
static char **names_of(const struct vs_core *c, size_t *n)
{
	char **names = vs_calloc((size_t)vs_clone_sources_count(c) + 1,
				 sizeof(*names));
	const struct vs_vm *vm;

	*n = 0;
	LIST_FOREACH(vm, &c->inv.parents, with_parents)
		if (vs_vm_owner(vm, c->folder, c->cluster_id) ==
		    VS_OWNER_CLONE_SOURCE)
			names[(*n)++] = vs_strdup(vm->name);
	qsort(names, *n, sizeof(*names), by_name);
	return names;
}

void vs_report_clone_sources(struct vs_core *c, struct json_object *top)
{
	struct json_object *arr = vs_jb_arr();
	VS_FREE char **names = NULL;
	size_t n;

	vs_assert_locked();
	vs_jb_put(top, "clone_sources", arr);
	names = names_of(c, &n);
	for (size_t i = 0; i < n; i++) {
		const struct vs_vm *vm = vs_vm_get_named(&c->inv, c->folder,
							 names[i]);

		if (vm && vm->as_parent)
			vs_jb_add(arr, parent_json(c, vm));
		free(names[i]);
		vs_lock_yield();
	}
	for (const struct vs_clone_source *p = vs_clone_sources_all()->all; p;
	     p = p->hh.next)
		if (p->op == VS_CLONE_SOURCE_CLONES &&
		    !vs_vm_get_named(&c->inv, c->folder, p->name))
			vs_jb_add(arr, coming_json(c, p));
	unmarked(c, arr);
	vs_report_notes(c, top, false);
}

/* ---- for svf plan -------------------------------------------------------------- */

struct vs_clone_source_asked {
	struct vs_clone_source_key key;
	int64_t ms;
	UT_hash_handle hh;
};

static int64_t calls_of(enum vs_clone_source_action step)
{
	return step == VS_CLONE_SOURCE_MAKE ? 2 :
		step == VS_CLONE_SOURCE_SNAP || step == VS_CLONE_SOURCE_BOOT;
}

int64_t vs_clone_source_ask(const struct vs_core *c, const struct vs_node *n,
			    const struct vs_claim *h,
			    struct vs_clone_source_asked **all, int64_t *calls)
{
	struct vs_clone_source_key key = { .store = "" };
	struct vs_clone_source_asked *a;
	enum vs_clone_source_action step;

	if (vs_clone_source_key_fill(c, n->profile, h->host,
				     c->inv.nuses ? h->store : c->store, &key))
		return 0;
	HASH_FIND(hh, *all, &key, sizeof(key), a);
	if (a)
		return a->ms;
	step = vs_clone_source_action(vs_clone_source_choose(
		&c->inv, &key, c->folder, c->cluster_id));
	*calls += calls_of(step);
	a = vs_calloc(1, sizeof(*a));
	a->key = key;
	a->ms = step == VS_CLONE_SOURCE_READY ? 0 :
		vs_duration_ms(n->profile, VS_DURATION_CLONE_SOURCE);
	HASH_ADD(hh, *all, key, sizeof(a->key), a);
	return a->ms;
}

void vs_clone_sources_asked_free(struct vs_clone_source_asked *all)
{
	struct vs_clone_source_asked *a, *next;

	HASH_ITER(hh, all, a, next) {
		HASH_DEL(all, a);
		free(a);
	}
}
