/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Update sets into the records of hosts and VMs, and the records that changed
 * into events.
 *
 * Rules: the same VM may stand in two filters; it is gone when it has left
 * both. Events of one update set come together, at the flush, once per object.
 * A change that names a parent of what we asked for, one element of it, or
 * anything else we cannot apply to the letter, has the object read again. A value
 * that is not of its type, or that vCenter fails to read, is held back: what was
 * known of it stays, the object is unreadable, and it is read again on the beat.
 *
 * It knows no network; its owner reads what is in the refetch list.
 */
#include <stdlib.h>
#include <string.h>

#include "util/log.h"
#include "util/mem.h"
#include "vcenter/decode/inventory.h"
#include "vcenter/transport/fault.h"

#define TRY_BARRED 16		/* VMs a beat, and hosts */
#define SAY_UNREAD 8		/* lines a beat */

const char *const vs_inv_task_paths[] = {
	"info.state", "info.error", "info.result", NULL
};

const char *const *vs_inv_paths(const struct vs_inv *inv, enum vcx_filter f)
{
	switch (f) {
	case VCX_F_VMS:
		return vs_inv_vm_paths;
	case VCX_F_MANAGED:
		return vs_inv_managed_paths;
	case VCX_F_HOSTS:
		return vs_inv_host_paths +
			(inv && inv->devices ? 0 : VCX_DEVICE_PATHS);
	default:
		return vs_inv_task_paths;
	}
}

struct vs_inv *vs_inv_new(const struct vs_vc_events *ev, void *ev_arg)
{
	struct vs_inv *inv = vs_calloc(1, sizeof(*inv));

	inv->ev = ev;
	inv->ev_arg = ev_arg;
	inv->round = 1;
	TAILQ_INIT(&inv->dirty_vms);
	TAILQ_INIT(&inv->dirty_hosts);
	TAILQ_INIT(&inv->refetch);
	return inv;
}

static void clear_refetch(struct vs_inv *inv)
{
	struct vcx_refetch *r;

	while ((r = TAILQ_FIRST(&inv->refetch))) {
		TAILQ_REMOVE(&inv->refetch, r, link);
		free(r->type);
		free(r->moid);
		free(r);
	}
}

void vs_inv_clear(struct vs_inv *inv)
{
	struct vcx_vm *vm, *vm_next;
	struct vcx_host *h, *h_next;

	HASH_ITER(hh, inv->vms, vm, vm_next) {
		HASH_DEL(inv->vms, vm);
		vs_inv_vm_free(vm);
	}
	HASH_ITER(hh, inv->hosts, h, h_next) {
		HASH_DEL(inv->hosts, h);
		vs_inv_host_free(h);
	}
	TAILQ_INIT(&inv->dirty_vms);
	TAILQ_INIT(&inv->dirty_hosts);
	clear_refetch(inv);
}

void vs_inv_free(struct vs_inv *inv)
{
	if (!inv)
		return;
	vs_inv_clear(inv);
	for (int f = 0; f < VCX_NFILTERS; f++)
		free(inv->filter[f]);
	free(inv);
}

struct vcx_vm *vs_inv_vm(struct vs_inv *inv, const char *moid)
{
	struct vcx_vm *vm;

	HASH_FIND_STR(inv->vms, moid, vm);
	return vm;
}

static struct vcx_vm *vm_dirty(struct vs_inv *inv, const char *moid)
{
	struct vcx_vm *vm = vs_inv_vm(inv, moid);

	if (!vm) {
		vm = vs_calloc(1, sizeof(*vm));
		vm->v.moid = vs_strdup(moid);
		HASH_ADD_KEYPTR(hh, inv->vms, vm->v.moid, strlen(moid), vm);
	}
	if (!vm->dirty) {
		vm->dirty = true;
		TAILQ_INSERT_TAIL(&inv->dirty_vms, vm, link);
	}
	return vm;
}

static struct vcx_host *host_dirty(struct vs_inv *inv, const char *moid)
{
	struct vcx_host *h;

	HASH_FIND_STR(inv->hosts, moid, h);
	if (!h) {
		h = vs_calloc(1, sizeof(*h));
		h->v.moid = vs_strdup(moid);
		h->v.setup = &h->setup;
		HASH_ADD_KEYPTR(hh, inv->hosts, h->v.moid, strlen(h->v.moid),
				h);
	}
	if (!h->dirty) {
		h->dirty = true;
		TAILQ_INSERT_TAIL(&inv->dirty_hosts, h, link);
	}
	return h;
}

static void want_refetch(struct vs_inv *inv, enum vcx_filter f,
			 const char *type, const char *moid)
{
	struct vcx_refetch *r;

	TAILQ_FOREACH(r, &inv->refetch, link)
		if (r->filter == f && !strcmp(r->moid, moid))
			return;
	r = vs_calloc(1, sizeof(*r));
	r->filter = f;
	r->type = vs_strdup(type);
	r->moid = vs_strdup(moid);
	TAILQ_INSERT_TAIL(&inv->refetch, r, link);
}

/* ---- one object ----------------------------------------------------------- */

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* Does a change of `path` touch one that was asked for? */
static bool related(const struct vs_inv *inv, enum vcx_filter f,
		    const char *path)
{
	const char *const *p = vs_inv_paths(inv, f);

	for (size_t i = 0; p[i]; i++)
		if (starts(p[i], path) || starts(path, p[i]))
			return true;
	return false;
}

static void enter(struct vs_inv *inv, enum vcx_filter f, const char *moid)
{
	if (f == VCX_F_HOSTS) {
		struct vcx_host *h = host_dirty(inv, moid);

		h->in = true;
		vs_inv_host_reset(h);
	} else if (f != VCX_F_TASKS) {
		struct vcx_vm *vm = vm_dirty(inv, moid);

		vm->in[f] = true;
		vs_inv_vm_reset(vm, f);
	}
}

static bool entered(struct vs_inv *inv, enum vcx_filter f, const char *moid)
{
	struct vcx_vm *vm;
	struct vcx_host *h;

	if (f == VCX_F_HOSTS) {
		HASH_FIND_STR(inv->hosts, moid, h);
		return h && h->in;
	}
	vm = vs_inv_vm(inv, moid);
	return vm && vm->in[f];
}

static void task_add(struct vs_inv *inv, const struct vcx_task_update *u)
{
	struct vcx_task_updates *t = &inv->tasks;

	VS_GROW(t->list, t->cap, t->n + 1);
	t->list[t->n++] = *u;
}

static void leave(struct vs_inv *inv, enum vcx_filter f, const char *moid)
{
	if (f == VCX_F_TASKS) {
		task_add(inv, &(struct vcx_task_update) {
			.moid = moid, .lost = true });
	} else if (!entered(inv, f, moid)) {
		return;
	} else if (f == VCX_F_HOSTS) {
		host_dirty(inv, moid)->in = false;
	} else {
		struct vcx_vm *vm = vm_dirty(inv, moid);

		/* Still in the other filter: unknown from here on, not gone. */
		vm->in[f] = false;
		vs_inv_vm_reset(vm, f);
	}
}

static bool prop(struct vs_inv *inv, enum vcx_filter f, const char *moid,
		 const char *path, struct vs_j val)
{
	return f == VCX_F_HOSTS ?
		vs_inv_host_prop(host_dirty(inv, moid), path, val) :
		vs_inv_vm_prop(vm_dirty(inv, moid), path, val);
}

/* ---- what can't be read --------------------------------------------------- */

/* No update set: its owner gives up, nothing of it is excused. */
static bool broken(struct vs_j j)
{
	return !j.doc || vs_json_failed(j.doc, NULL);
}

/* Of an object once, until it can be read. */
static bool said_before(struct vs_inv *inv, enum vcx_filter f,
			const char *moid)
{
	bool *said, was;

	if (f == VCX_F_TASKS)
		return false;
	said = f == VCX_F_HOSTS ? &host_dirty(inv, moid)->said :
		&vm_dirty(inv, moid)->said;
	was = *said;
	*said = true;
	return was;
}

static void say_unread(struct vs_inv *inv, enum vcx_filter f,
		       const char *moid, const char *path, const char *why)
{
	if (!said_before(inv, f, moid) && inv->nunread++ < SAY_UNREAD)
		vs_error("vCenter's data of %s cannot be read: %s: %s",
			 moid, path, why);
}

static void said_unread(struct vs_inv *inv)
{
	if (inv->nunread > SAY_UNREAD)
		vs_error("vCenter's data cannot be read, %u more times",
			 inv->nunread - SAY_UNREAD);
	inv->nunread = 0;
}

/* Tries a value on a record of its own. Returns what of the object it is
 * (VS_VC_VM_*, VS_VC_HOST_*); 0: nothing that was asked for. */
static unsigned int try_prop(enum vcx_filter f, const char *path,
			     struct vs_j val)
{
	struct vcx_host *h;
	struct vcx_vm *vm;
	unsigned int bits;

	if (f == VCX_F_HOSTS) {
		h = vs_calloc(1, sizeof(*h));
		vs_inv_host_prop(h, path, val);
		bits = h->v.has;
		vs_inv_host_free(h);
		return bits;
	}
	vm = vs_calloc(1, sizeof(*vm));
	vs_inv_vm_prop(vm, path, val);
	bits = vm->v.has;
	vs_inv_vm_free(vm);
	return bits;
}

static void hold(struct vs_inv *inv, enum vcx_filter f, const char *moid,
		 unsigned int bits)
{
	if (f == VCX_F_HOSTS) {
		host_dirty(inv, moid)->barred = true;
		host_dirty(inv, moid)->held |= bits;
	} else {
		vm_dirty(inv, moid)->barred[f] = true;
		vm_dirty(inv, moid)->held[f] |= bits;
	}
}

static unsigned int held(struct vs_inv *inv, enum vcx_filter f,
			 const char *moid)
{
	return f == VCX_F_HOSTS ? host_dirty(inv, moid)->held :
		vm_dirty(inv, moid)->held[f];
}

/* Applies a property, or holds it. Returns what of the object it is, 0: its path
 * is not one that was asked for. */
static unsigned int take(struct vs_inv *inv, enum vcx_filter f,
			 const char *moid, const char *path, struct vs_j val)
{
	unsigned int bits = try_prop(f, path, val);
	struct vs_err err;

	if (vs_json_failure_take(val.doc, &err)) {
		hold(inv, f, moid, bits);
		say_unread(inv, f, moid, path, err.text);
	} else {
		prop(inv, f, moid, path, val);
	}
	return bits;
}

static void task_changes(struct vs_inv *inv, const char *moid,
			 struct vs_j changes)
{
	struct vs_j none = { .doc = changes.doc };
	struct vs_j state = none, error = none, result = none;
	struct vs_err err;
	size_t n = vs_j_len(changes);

	for (size_t i = 0; i < n; i++) {
		struct vs_j c = vs_j_at(changes, i), val = vs_j_opt(c, "val");
		const char *path = vs_j_str(vs_j_get(c, "name"));

		if (!strcmp(path, "info.state")) {
			state = val;
		} else if (!strcmp(path, "info.error")) {
			error = val;
		} else if (!strcmp(path, "info.result")) {
			result = val;
		} else if (!strcmp(path, "info")) {
			state = vs_j_opt(val, "state");
			error = vs_j_opt(val, "error");
			result = vs_j_opt(val, "result");
		}
	}
	if (broken(changes))
		return;
	vs_j_str_or(state, "");
	if (vs_json_failure_take(changes.doc, &err)) {
		say_unread(inv, VCX_F_TASKS, moid, "info.state", err.text);
		leave(inv, VCX_F_TASKS, moid);	/* its outcome is unknown */
		return;
	}
	/* How it ended may be told before that it has. */
	task_add(inv, &(struct vcx_task_update) {
		.moid = moid, .state = state, .error = error,
		.result = result });
}

/* Is `val` all that there is of `path`? An "add" to a list has one element only,
 * unless the path names that element: config.extraConfig["guestinfo.slurm.state"]. */
static bool is_whole(const char *path, const char *op, struct vs_j val)
{
	size_t len = strlen(path);

	return !strcmp(op, "assign") || vs_j_null(val) ||
		(!strcmp(op, "add") && len && path[len - 1] == ']');
}

static void changes(struct vs_inv *inv, enum vcx_filter f, const char *type,
		    const char *moid, struct vs_j list)
{
	unsigned int before = held(inv, f, moid), bits;
	size_t n = vs_j_len(list);

	for (size_t i = 0; i < n; i++) {
		struct vs_j c = vs_j_at(list, i);
		const char *path = vs_j_str(vs_j_get(c, "name"));
		const char *op = vs_j_str_or(vs_j_opt(c, "op"), "assign");
		struct vs_j val = vs_j_opt(c, "val");

		if (broken(c))
			return;
		bits = is_whole(path, op, val) ?
			take(inv, f, moid, path, val) : 0;
		/* What could not be read may be right again. */
		if (bits ? bits & before : related(inv, f, path))
			want_refetch(inv, f, type, moid);
	}
}

/* vCenter itself failed to read it: that is not "unset". */
static void hold_missing(struct vs_inv *inv, enum vcx_filter f,
			 const char *moid, const char *path,
			 struct vs_j fault)
{
	const char *const *p = vs_inv_paths(inv, f);
	struct vs_j unset = { 0 };
	unsigned int bits = 0;
	struct vs_err err;

	for (size_t i = 0; p[i]; i++)
		if (starts(p[i], path) || starts(path, p[i]))
			bits |= try_prop(f, p[i], unset);
	vs_vcx_fault(fault, VCX_IN_CALL, &err);
	say_unread(inv, f, moid, path, err.text);
	hold(inv, f, moid, bits);
}

static void missing_props(struct vs_inv *inv, enum vcx_filter f,
			  const char *moid, struct vs_j list)
{
	size_t n = vs_j_len(list);

	for (size_t i = 0; i < n; i++) {
		struct vs_j m = vs_j_at(list, i), fault = vs_j_opt(m, "fault");
		const char *type = vs_vcx_fault_type(fault);

		if (!strcmp(type, "NoPermission") && f != VCX_F_HOSTS)
			vm_dirty(inv, moid)->barred[f] = true;
		else if (strcmp(type, "NoPermission") &&
			 strcmp(type, "ManagedObjectNotFound"))
			hold_missing(inv, f, moid,
				     vs_j_str_or(vs_j_opt(m, "path"), ""),
				     fault);
	}
}

static void one_object(struct vs_inv *inv, enum vcx_filter f, struct vs_j o)
{
	const char *type, *moid = vs_j_ref(vs_j_get(o, "obj"), &type);
	const char *kind = vs_j_str(vs_j_get(o, "kind"));
	struct vs_j set = vs_j_opt(o, "changeSet");

	if (!*moid)
		return;
	inv->updates++;
	if (!strcmp(kind, "leave")) {
		leave(inv, f, moid);
		return;
	}
	if (f == VCX_F_TASKS) {
		task_changes(inv, moid, set);
		return;
	}
	if (!strcmp(kind, "enter"))
		enter(inv, f, moid);
	if (!entered(inv, f, moid)) {
		want_refetch(inv, f, type, moid);
		return;
	}
	changes(inv, f, type, moid, set);
	missing_props(inv, f, moid, vs_j_opt(o, "missingSet"));
	/* What could not be read may be in here now, or not. */
	if (f != VCX_F_HOSTS && vs_inv_vm(inv, moid)->barred[f] &&
	    !held(inv, f, moid) && !vs_j_len(vs_j_opt(o, "missingSet")))
		want_refetch(inv, f, type, moid);
}

/* ---- the set -------------------------------------------------------------- */

static int filter_of(const struct vs_inv *inv, struct vs_j u)
{
	const char *moid = vs_j_ref(vs_j_get(u, "filter"), NULL);

	for (int f = 0; f < VCX_NFILTERS; f++)
		if (inv->filter[f] && !strcmp(inv->filter[f], moid))
			return f;
	return -1;
}

/* Objects that vCenter can't show at all. */
static void missing_objects(struct vs_inv *inv, enum vcx_filter f,
			    struct vs_j list)
{
	size_t n = vs_j_len(list);

	for (size_t i = 0; i < n; i++) {
		struct vs_j m = vs_j_at(list, i);
		const char *moid = vs_j_ref(vs_j_get(m, "obj"), NULL);
		const char *fault = vs_vcx_fault_type(vs_j_opt(m, "fault"));

		if (!*moid)
			continue;
		if (f == VCX_F_TASKS)
			leave(inv, f, moid);
		else if (f != VCX_F_HOSTS && vs_inv_vm(inv, moid) &&
			 strcmp(fault, "ManagedObjectNotFound"))
			vm_dirty(inv, moid)->barred[f] = true;
	}
}

static void one_filter(struct vs_inv *inv, enum vcx_filter f, struct vs_j u)
{
	struct vs_j objects = vs_j_opt(u, "objectSet");
	size_t n = vs_j_len(objects);

	for (size_t i = 0; i < n && !broken(objects); i++)
		one_object(inv, f, vs_j_at(objects, i));
	missing_objects(inv, f, vs_j_opt(u, "missingSet"));
}

static bool session_lost(struct vs_j u, struct vs_err *err)
{
	struct vs_j objects = vs_j_opt(u, "objectSet");
	size_t n = vs_j_len(objects);

	if (vs_vcx_missing_session(vs_j_opt(u, "missingSet"), err))
		return true;
	for (size_t i = 0; i < n; i++)
		if (vs_vcx_missing_session(vs_j_opt(vs_j_at(objects, i),
						    "missingSet"), err))
			return true;
	return false;
}

int vs_inv_update(struct vs_inv *inv, struct vs_j set, struct vs_err *err)
{
	struct vs_j filters = vs_j_opt(set, "filterSet");
	size_t n = vs_j_len(filters);

	for (size_t i = 0; i < n; i++)
		if (session_lost(vs_j_at(filters, i), err))
			return -1;
	for (size_t i = 0; i < n; i++) {
		int f = filter_of(inv, vs_j_at(filters, i));

		/* Its answer to CreateFilter said another name: all that this
		 * filter shows would be missing. */
		if (f < 0)
			return vs_err_set(err, VS_E_RETRY,
				"vCenter sent updates of an unknown filter");
		if (f != VCX_F_TASKS)
			one_filter(inv, f, vs_j_at(filters, i));
	}
	return set.doc && vs_json_failed(set.doc, err) ? -1 : 0;
}

int vs_inv_tasks(struct vs_inv *inv, struct vs_j set,
		 struct vcx_task_updates *out, struct vs_err *err)
{
	struct vs_j filters = vs_j_opt(set, "filterSet");
	size_t n = vs_j_len(filters);

	for (size_t i = 0; i < n; i++)
		if (filter_of(inv, vs_j_at(filters, i)) == VCX_F_TASKS)
			one_filter(inv, VCX_F_TASKS, vs_j_at(filters, i));
	*out = inv->tasks;
	inv->tasks = (struct vcx_task_updates) { 0 };
	return set.doc && vs_json_failed(set.doc, err) ? -1 : 0;
}

void vs_inv_reread(struct vs_inv *inv, enum vcx_filter f, const char *moid,
		   struct vs_j prop_set, struct vs_j missing_set)
{
	size_t n = vs_j_len(prop_set);

	enter(inv, f, moid);
	for (size_t i = 0; i < n; i++) {
		struct vs_j p = vs_j_at(prop_set, i);
		const char *path = vs_j_str(vs_j_get(p, "name"));

		if (broken(p))
			return;
		take(inv, f, moid, path, vs_j_opt(p, "val"));
	}
	missing_props(inv, f, moid, missing_set);
}

void vs_inv_host_system(struct vs_inv *inv, const char *moid,
			struct vs_j system_resources)
{
	struct vcx_capacity known;
	struct vcx_host *h;
	struct vs_err err;

	HASH_FIND_STR(inv->hosts, moid, h);
	if (!h || vs_json_failed(system_resources.doc, NULL))
		return;
	known = h->capacity;
	vs_capacity_system(h, system_resources);
	if (!vs_json_failure_take(system_resources.doc, &err))
		return;
	h->capacity = known;
	say_unread(inv, VCX_F_HOSTS, moid, "systemResources", err.text);
}

/* Returns false if others have to wait for the next beat. */
static bool try_hosts(struct vs_inv *inv)
{
	struct vcx_host *h, *next;
	int n = 0;

	HASH_ITER(hh, inv->hosts, h, next) {
		if (!h->barred || h->tried == inv->round)
			continue;
		if (n++ == TRY_BARRED)
			return false;
		h->tried = inv->round;
		want_refetch(inv, VCX_F_HOSTS, "HostSystem", h->v.moid);
	}
	return true;
}

void vs_inv_retry_blocked(struct vs_inv *inv)
{
	bool all = try_hosts(inv);
	struct vcx_vm *vm, *next;
	int n = 0;

	said_unread(inv);
	HASH_ITER(hh, inv->vms, vm, next) {
		if (!vs_inv_vm_blocked(vm) || vm->tried == inv->round)
			continue;
		if (n++ == TRY_BARRED)
			return;
		vm->tried = inv->round;
		for (int f = VCX_F_VMS; f <= VCX_F_MANAGED; f++)
			if (vm->barred[f])
				want_refetch(inv, f, "VirtualMachine",
					     vm->v.moid);
	}
	if (all)
		inv->round++;
}

static void flush_host(struct vs_inv *inv, struct vcx_host *h)
{
	bool unreadable = vs_inv_host_unreadable(h);

	h->said &= h->barred;
	if (h->in && !h->v.has && unreadable == h->told_unreadable)
		return;
	h->told_unreadable = unreadable;
	if (h->in) {
		vs_inv_host_publish(h, inv->ev, inv->ev_arg);
		return;
	}
	HASH_DEL(inv->hosts, h);
	if (inv->ev->gone)
		inv->ev->gone(inv->ev_arg, VS_VC_HOST, h->v.moid);
	vs_inv_host_free(h);
}

static void flush_vm(struct vs_inv *inv, struct vcx_vm *vm)
{
	vm->said &= vs_inv_vm_blocked(vm);
	if (vm->in[VCX_F_VMS] || vm->in[VCX_F_MANAGED]) {
		bool unreadable = vs_inv_vm_unreadable(vm);

		/* Who took it for unreadable needs these to take it back. */
		if (vm->told_unreadable && !unreadable && vm->in[VCX_F_VMS])
			vm->v.has |= VS_VC_VM_POWER | VS_VC_VM_NICS;
		if (vm->v.has || unreadable != vm->told_unreadable)
			vs_inv_vm_publish(vm, inv->ev, inv->ev_arg);
		vm->told_unreadable = unreadable;
		return;
	}
	HASH_DEL(inv->vms, vm);
	if (inv->ev->gone)
		inv->ev->gone(inv->ev_arg, VS_VC_VM, vm->v.moid);
	vs_inv_vm_free(vm);
}

void vs_inv_flush(struct vs_inv *inv)
{
	struct vcx_host *h;
	struct vcx_vm *vm;

	if (TAILQ_EMPTY(&inv->dirty_hosts) && TAILQ_EMPTY(&inv->dirty_vms))
		return;
	vs_inv_together(inv, true);
	while ((h = TAILQ_FIRST(&inv->dirty_hosts))) {
		TAILQ_REMOVE(&inv->dirty_hosts, h, link);
		h->dirty = false;
		flush_host(inv, h);
	}
	while ((vm = TAILQ_FIRST(&inv->dirty_vms))) {
		TAILQ_REMOVE(&inv->dirty_vms, vm, link);
		vm->dirty = false;
		flush_vm(inv, vm);
	}
	vs_inv_together(inv, false);
}
