/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls to vCenter for parents, which linked clones stand on: a full clone of the
 * template, off and without a NIC, its one snapshot, its end.
 *
 * Rules: one call at a time for each. A restart finds what vCenter shows, and
 * vCenter takes no second VM of the name, which is made of the key.
 * A call that fails is the asking node's failure; an error that an
 * administrator must fix keeps all linked clones of that template waiting for a
 * while, and is no node's fault. Never touches a VM whose mark isn't a
 * parent's. The lock is held.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/clone_source/clone_source.h"
#include "engine/clone_source/clone_source_i.h"
#include "engine/hosts/hosts.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "plan/inventory/capability.h"
#include "util/mem.h"
#include "util/time.h"

#define NAMES 16
#define PAUSE_MAX 6

struct vs_clone_sources vs_clone_sources;

const struct vs_clone_sources *vs_clone_sources_all(void)
{
	return &vs_clone_sources;
}

static const char *const op_names[VS_CLONE_SOURCE_OPS] = {
	"nothing", "clone", "snapshot", "destroy", "adopted",
	"power-on", "power-off",
};

/* ---- records ------------------------------------------------------------------ */

struct vs_clone_source *vs_clone_source_record(struct vs_core *c,
					       const char *id, bool make)
{
	struct vs_clone_source *p;

	HASH_FIND_STR(vs_clone_sources.all, id, p);
	if (p || !make)
		return p;
	p = vs_calloc(1, sizeof(*p));
	vs_strlcpy(p->id, id, sizeof(p->id));
	p->judged_after = c->slow_seq;
	HASH_ADD_STR(vs_clone_sources.all, id, p);
	return p;
}

void vs_clone_source_key_id(const struct vs_clone_source_key *key,
			    char out[3 * VS_MOID_LEN])
{
	snprintf(out, 3 * VS_MOID_LEN, "%s/%s %s %s",
		 vs_clone_name(key->mark.kind), key->mark.of, key->store,
		 key->host);
}

/* The one door for a call of a parent's. */
static void op_set(struct vs_clone_source *p,
		   enum vs_clone_source_op op, uint64_t id, int64_t now_ms)
{
	if (p->op_id && p->op != VS_CLONE_SOURCE_ADOPTED)
		vs_tasks_provisioning_add(-1);
	if (p->op_id)
		vs_task_end(p->op_id);
	if (id)
		vs_task_begin(id, p->host);
	p->op = op;
	p->op_id = id;
	p->task[0] = '\0';
	p->since_ms = now_ms;
	if (id && op != VS_CLONE_SOURCE_ADOPTED)
		vs_tasks_provisioning_add(1);
}

static void room_free(struct vs_core *c, struct vs_clone_source *p)
{
	if (p->name[0] && vs_ledger_get(&c->ledger, p->name)) {
		vs_ledger_release(&c->ledger, p->name);
		vs_capacity_freed();
	}
}

/* ---- the end of a call ---------------------------------------------------------- */

static struct vs_clone_source *by_op(uint64_t id)
{
	struct vs_clone_source *p = vs_clone_sources.all;

	while (p && p->op_id != id)
		p = p->hh.next;
	return p;
}

static void started(void *arg, uint64_t id, const char *task)
{
	struct vs_clone_source *p;

	(void)arg;
	p = by_op(id);
	if (p)
		vs_strlcpy(p->task, task, sizeof(p->task));
}

static void look_first(struct vs_core *c, struct vs_clone_source *p)
{
	p->look_after = c->slow_seq + 1;
	vs_vc_poll_request(c->vc);
}

bool vs_clone_source_is_setting(const struct vs_err *err)
{
	return err->code == VS_E_CONFIG || err->code == VS_E_REQUEST ||
	       err->code == VS_E_BUG ||
	       (err->code == VS_E_SHORTAGE &&
		strcmp(err->fault, VS_VC_FAULT_NO_SPACE));
}

/* As if the clone of the node that asked had failed. */
static void tell_node(struct vs_core *c, struct vs_clone_source *p,
		      const struct vs_err *err, int64_t now_ms)
{
	struct vs_node *n = vs_node_named(c, p->node);
	struct vs_err told = *err;

	vs_err_prefix(&told, "clone source %s", p->name);
	if (vs_clone_source_is_setting(err))
		vs_clone_sources_block(c, &p->key, now_ms + VS_EXCLUDE_HOST_MS,
				       told.text);
	else if (n && n->parent == p && n->op.kind == VS_OP_NONE)
		vs_task_failed(c, n, VS_OP_CLONE, p->host, &told, now_ms);
}

static void failed(struct vs_core *c, struct vs_clone_source *p,
		   enum vs_clone_source_op op, const struct vs_err *err,
		   int64_t now_ms)
{
	p->not_before_ms = now_ms + ((int64_t)500 <<
		(p->tries < PAUSE_MAX ? p->tries : PAUSE_MAX));
	p->tries++;
	p->begun_ms = 0;
	vs_metrics_clone_source_failed(p->key.mark.kind);
	p->lost = op == VS_CLONE_SOURCE_CLONES && err->code == VS_E_UNKNOWN;
	p->judged_after = c->slow_seq;
	vs_info("clone source vm=%s %s failed code=%s fault=%s: %s",
		p->name, op_names[op], vs_code_name(err->code),
		err->fault[0] ? err->fault : "-", err->text);
	if (err->code == VS_E_EXISTS && op == VS_CLONE_SOURCE_CLONES)
		p->skip = (p->skip + 1) % NAMES;
	if (vs_failure_is_unconfirmed(err->code))
		look_first(c, p);
	if (op == VS_CLONE_SOURCE_CLONES)
		room_free(c, p);
	if (op != VS_CLONE_SOURCE_DESTROYS && op != VS_CLONE_SOURCE_GOES_OFF)
		tell_node(c, p, err, now_ms);
}

static void done(void *arg, uint64_t id, const char *result,
		 const struct vs_err *err)
{
	struct vs_core *c = arg;
	enum vs_clone_source_op was;
	struct vs_clone_source *p;
	int64_t now_ms = vs_clock();

	p = by_op(id);
	if (!p)
		return;
	was = p->op;
	if (err || was == VS_CLONE_SOURCE_ADOPTED) {
		op_set(p, VS_CLONE_SOURCE_IDLE, 0, now_ms);
		if (was == VS_CLONE_SOURCE_ADOPTED)
			look_first(c, p);
		else
			failed(c, p, was, err, now_ms);
	} else {
		vs_info("clone source vm=%s %s done task=%s ms=%lld", p->name,
			op_names[was], p->task[0] ? p->task : "-",
			(long long)(now_ms - p->since_ms));
		/* Now it settles: id 0, until vCenter shows it. */
		op_set(p, was, 0, now_ms);
		if (was == VS_CLONE_SOURCE_CLONES) {
			vs_strlcpy(p->vm, result, sizeof(p->vm));
			vs_strlcpy(p->born, result, sizeof(p->born));
			p->astray = false;
			p->born_ms = now_ms;
			vs_metrics_clone_source_made(p->key.mark.kind);
		}
		if (was == VS_CLONE_SOURCE_DESTROYS)
			vs_metrics_clone_source_ended(p->key.mark.kind);
		p->tries = 0;
		p->not_before_ms = 0;
	}
}

static const struct vs_vc_op calls = {
	.started = started, .done = done, .arg = &vs_core,
};

static bool settled(const struct vs_core *c, const struct vs_clone_source *p)
{
	const struct vs_vm *vm = vs_vm_get(&c->inv, p->vm);

	switch (p->op) {
	case VS_CLONE_SOURCE_CLONES:
		return vm && vm->readable && vm->disks.dir[0] &&
		       vs_vm_owner(vm, c->folder, c->cluster_id) ==
		       VS_OWNER_CLONE_SOURCE;
	case VS_CLONE_SOURCE_SNAPS:
		return !vm || vm->clone.snapshot[0];
	case VS_CLONE_SOURCE_BOOTS:
		return !vm || vm->power == VS_POWER_ON;
	case VS_CLONE_SOURCE_GOES_OFF:
		return !vm || vm->power != VS_POWER_ON;
	case VS_CLONE_SOURCE_DESTROYS:
		return !vm;
	default:
		return true;
	}
}

bool vs_clone_source_await(struct vs_core *c, struct vs_clone_source *p,
			   int64_t now_ms)
{
	struct vs_claim *h = vs_ledger_get(&c->ledger, p->name);

	if (p->op_id)
		return false;
	if (p->op == VS_CLONE_SOURCE_IDLE)
		return true;
	if (settled(c, p)) {
		if (p->op == VS_CLONE_SOURCE_CLONES && h)
			vs_ledger_set_vm(&c->ledger, h, p->vm);
		p->op = VS_CLONE_SOURCE_IDLE;
		return true;
	}
	if (now_ms - p->since_ms < VS_AWAIT_MS)
		return false;
	vs_info("clone source vm=%s vCenter reported its %s as done but does not show it: reading again",
		p->name, op_names[p->op]);
	p->op = VS_CLONE_SOURCE_IDLE;
	look_first(c, p);
	return true;
}

/* ---- calls ------------------------------------------------------------------------ */

/* Beside what else is promised there: its children's disks come on top. */
static int has_room(struct vs_core *c, const struct vs_clone_source *p,
		    int64_t mb, struct vs_err *err)
{
	const struct vs_free_capacity *sums = vs_free_capacity_get(c);
	int at = c->inv.nuses ? vs_shared_capacity_pool(&c->inv, p->key.store) :
				-1;
	int64_t left = at >= 0 ? sums->pools[at].mem_mb :
		c->inv.nuses ? VS_CAPACITY_UNKNOWN : sums->store_mb;

	if (left == VS_CAPACITY_UNKNOWN || left >= mb)
		return 0;
	vs_err_set(err, VS_E_SHORTAGE,
		   "datastore %s has %lld MB free, and the clone source of linked clones needs %lld: free space, or name another in Datastore=",
		   at >= 0 ? c->inv.pools[at].name : c->inv.store.name,
		   (long long)(left > 0 ? left : 0), (long long)mb);
	vs_strlcpy(err->fault, VS_VC_FAULT_NO_SPACE, sizeof(err->fault));
	return -1;
}

/* Counted until a reading of the datastore has seen it, and until it is on, if
 * it will be: as much as the clone that asks for it. */
void vs_clone_source_capacity_take(struct vs_core *c,
				   const struct vs_clone_source *p,
				   const struct vs_claim *like, int64_t mb)
{
	struct vs_claim hold = { .id = -1, .state = VS_CLAIM_RESERVED,
				.disk_mb = mb, .parent = true };

	if (p->key.mark.kind == VS_CLONE_INSTANT) {
		hold.cpu_mhz = like->cpu_mhz;
		hold.mem_mb = like->mem_mb;
		hold.swap_mb = like->swap_mb;
		hold.vcpus = like->vcpus;
		hold.memory_mb = like->memory_mb;
	}
	vs_strlcpy(hold.node, p->name, sizeof(hold.node));
	vs_strlcpy(hold.host, p->host, sizeof(hold.host));
	if (c->inv.nuses)
		vs_strlcpy(hold.store, p->key.store, sizeof(hold.store));
	vs_ledger_take(&c->ledger, &hold, NULL);
}

static void name_it(struct vs_core *c, struct vs_clone_source *p,
		    const struct vs_profile *profile)
{
	unsigned int k = p->skip;

	do {
		vs_clone_source_name(c->cluster_id, &p->key,
				     profile->template_name, k++, p->name);
	} while (k < NAMES && (vs_vm_get_named(&c->inv, c->folder, p->name) ||
			       vs_node_named(c, p->name)));
}

static int64_t send_clone(struct vs_core *c, struct vs_clone_source *p,
			  const struct vs_profile *profile, struct vs_err *err)
{
	char uuid[VS_UUID_LEN];
	VS_FREE char *owner = NULL;
	VS_FREE char *is = vs_clone_source_tag_format(&p->key.mark);
	struct vs_vc_kv kv[] = {
		{ VS_KEY_OWNER, NULL }, { VS_KEY_CLONE_SOURCE, is },
		/* the template may have been one of our VMs */
		{ VS_KEY_PROFILE, "" }, { VS_KEY_FROM, "" },
		{ "slurm.vsphere.job", "" }, { "guestinfo.slurm.node", "" },
	};
	struct vs_vc_clone cl = vs_clone_base(c, profile, p->name, uuid,
					      p->host);

	cl.datastore = p->key.store;
	cl.hw.extra = kv;
	cl.hw.nextra = VS_COUNT(kv);
	vs_uuid_random(uuid);
	owner = vs_vm_owner_tag(c, p->name, uuid);
	kv[0].value = owner;
	return vs_vc_vm_clone(c->vc, &cl, &calls, err);
}

int vs_clone_source_make(struct vs_core *c, struct vs_clone_source *p,
			 const struct vs_node *n, const struct vs_claim *h,
			 int64_t now_ms, struct vs_err *err)
{
	const struct vs_profile *profile = n->profile;
	const struct vs_host *at = vs_host_get(&c->inv, h->host);
	int64_t id;

	vs_strlcpy(p->host, h->host, sizeof(p->host));
	if (has_room(c, p, profile->template_mb, err))
		return -1;
	room_free(c, p);	/* of one that has gone */
	name_it(c, p, profile);
	id = p->key.mark.kind == VS_CLONE_INSTANT ?
		vs_spec_send_instant(c, n, h, p->name, &p->key, &calls,
				     err) :
		send_clone(c, p, profile, err);
	if (id < 0)
		return -1;
	op_set(p, VS_CLONE_SOURCE_CLONES, (uint64_t)id, now_ms);
	p->vm[0] = '\0';
	p->begun_ms = now_ms;
	vs_clone_source_capacity_take(c, p, h, profile->template_mb);
	vs_clones_note_one();
	vs_info("clone source vm=%s is created for %s clones of template %s: clone host=%s",
		p->name, vs_clone_name(p->key.mark.kind),
		profile->template_name, at ? at->name : "-");
	return 0;
}

int vs_clone_source_power(struct vs_core *c, struct vs_clone_source *p,
			  const struct vs_vm *vm, bool on, int64_t now_ms,
			  struct vs_err *err)
{
	int64_t id = on ? vs_vc_vm_power_on(c->vc, vm->moid, vm->host, &calls,
					    err) :
		vs_vc_vm_power_off(c->vc, vm->moid, &calls, err);

	if (id < 0)
		return -1;
	vs_strlcpy(p->name, vm->name, sizeof(p->name));
	vs_strlcpy(p->vm, vm->moid, sizeof(p->vm));
	vs_strlcpy(p->host, vm->host, sizeof(p->host));
	p->key.mark.kind = vm->parent.kind;
	op_set(p, on ? VS_CLONE_SOURCE_BOOTS : VS_CLONE_SOURCE_GOES_OFF,
	       (uint64_t)id, now_ms);
	return 0;
}

int vs_clone_source_snap(struct vs_core *c, struct vs_clone_source *p,
			 const struct vs_vm *vm, int64_t now_ms,
			 struct vs_err *err)
{
	int64_t id;

	/* it has no NIC of the adapter, but may have one of the template's */
	if (vs_operation_allowed(NULL, vm, NULL, VS_OPERATION_SNAPSHOT,
				 c->release, err))
		return -1;
	id = vs_vc_vm_snapshot(c->vc, vm->moid, VS_CLONE_SOURCE_SNAPSHOT,
			       &calls, err);
	if (id < 0)
		return -1;
	vs_strlcpy(p->name, vm->name, sizeof(p->name));
	vs_strlcpy(p->vm, vm->moid, sizeof(p->vm));
	vs_strlcpy(p->host, vm->host, sizeof(p->host));
	op_set(p, VS_CLONE_SOURCE_SNAPS, (uint64_t)id, now_ms);
	return 0;
}

void vs_clone_source_destroy(struct vs_core *c, struct vs_clone_source *r,
			     const struct vs_vm *vm, int64_t now_ms)
{
	struct vs_err err = { 0 };
	int64_t id = vs_vc_vm_destroy(c->vc, vm->moid, &calls, &err);

	vs_strlcpy(r->name, vm->name, sizeof(r->name));
	vs_strlcpy(r->vm, vm->moid, sizeof(r->vm));
	vs_strlcpy(r->host, vm->host, sizeof(r->host));
	r->key.mark.kind = vm->parent.kind;
	if (id < 0) {
		failed(c, r, VS_CLONE_SOURCE_DESTROYS, &err, now_ms);
		return;
	}
	vs_info("clone source vm=%s is destroyed: no linked clone uses its disks, and no more are made from it",
		vm->name);
	op_set(r, VS_CLONE_SOURCE_DESTROYS, (uint64_t)id, now_ms);
}

/* A clone of it only reads; its own disks are at work in the others. */
void vs_clone_source_busy(struct vs_core *c, const struct vs_vm *vm,
			  const struct vs_vc_task *task)
{
	struct vs_clone_source *r = vs_clone_source_record(c, vm->moid, true);
	int64_t id;

	r->judged_after = c->slow_seq;
	if (r->op_id || strcasestr(task->name, "clone") ||
	    vs_clone_sources_task(task->moid))
		return;
	id = vs_vc_task_adopt(c->vc, task->moid, &calls, NULL);
	if (id <= 0)
		return;
	op_set(r, VS_CLONE_SOURCE_ADOPTED, (uint64_t)id, vs_clock());
	vs_strlcpy(r->task, task->moid, sizeof(r->task));
	vs_strlcpy(r->name, vm->name, sizeof(r->name));
	vs_info("clone source vm=%s task=%s (%s) is under way: adopted", vm->name,
		task->moid, task->name);
}

void vs_clone_sources_forget_calls(struct vs_core *c)
{
	for (struct vs_clone_source *p = vs_clone_sources.all; p;
	     p = p->hh.next) {
		op_set(p, VS_CLONE_SOURCE_IDLE, 0, 0);
		room_free(c, p);
		p->look_after = 0;
		p->lost = false;
		p->judged_after = c->slow_seq;
		p->unwanted_ms = p->away_ms = p->boots_ms = p->begun_ms = 0;
	}
}

void vs_clone_sources_clear(struct vs_core *c)
{
	struct vs_clone_source *p, *tmp;

	vs_assert_locked();
	for (size_t i = 0; i < c->nnodes; i++)
		c->nodes[i].parent = NULL;
	HASH_ITER(hh, vs_clone_sources.all, p, tmp) {
		op_set(p, VS_CLONE_SOURCE_IDLE, 0, 0);
		room_free(c, p);
		HASH_DEL(vs_clone_sources.all, p);
		free(p);
	}
	free(vs_clone_sources.bars);
	vs_clone_hosts_free();
	vs_clone_sources = (struct vs_clone_sources) { .all = NULL };
}
