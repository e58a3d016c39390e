/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Room in pools and on the datastore between two readings of them.
 *
 * Rules: what is not certain counts as taken until the next reading: a VM that
 * changed while the values were read is in them by its lesser share. VMs that
 * can't be read are taken to be as they were. A hold counts until a VM stands
 * for it, its disks until a reading has seen the VM, which takes them over from a
 * hold that ends before. Never guesses what others do.
 */
#include <stdlib.h>
#include <string.h>
#include "plan/allocation/shared_capacity.h"
#include "util/mem.h"

static int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

bool vs_vm_shown_on(const struct vs_vm *vm)
{
	return vm->readable && vm->power == VS_POWER_ON && vm->host_ptr;
}

void vs_vm_share(const struct vs_vm *vm, struct vs_share *out)
{
	int64_t reserved, full;

	*out = (struct vs_share) { .there = true, .pool = -1, .store = -1 };
	if (vm->power != VS_POWER_ON)
		return;
	out->cpu_mhz = vm->cpu_reserved_mhz;
	if (vm->latency_high && vm->host_ptr) {
		full = (int64_t)vm->vcpus * vm->host_ptr->core_mhz;
		if (out->cpu_mhz < full)
			out->cpu_mhz = full;
	}
	reserved = vm->mem_locked ? vm->memory_mb : vm->mem_reserved_mb;
	out->mem_mb = reserved + vs_overhead_mb(vm->vcpus, vm->memory_mb);
	if (reserved < vm->memory_mb)
		out->swap_mb = vm->memory_mb - reserved;
}

/* A managed VM may lie in another pool, such as that of an older
 * configuration. */
static int pool_of(const struct vs_inventory *inv, const struct vs_vm *vm)
{
	int at = vm->host_ptr ?
			 vs_shared_capacity_pool(inv, vm->host_ptr->cluster) :
			 -1;

	if (at >= 0 && vm->pool[0] && inv->pools[at].moid[0] &&
	    strcmp(vm->pool, inv->pools[at].moid))
		return -1;
	return at;
}

static void share_now(const struct vs_inventory *inv, const struct vs_vm *vm,
		      struct vs_share *out)
{
	vs_vm_share(vm, out);
	out->pool = pool_of(inv, vm);
	out->store = vs_vm_store(inv, vm);
}

static bool same_share(const struct vs_share *a, const struct vs_share *b)
{
	return a->there == b->there && a->pool == b->pool &&
	       a->store == b->store &&
	       a->cpu_mhz == b->cpu_mhz && a->mem_mb == b->mem_mb &&
	       a->swap_mb == b->swap_mb;
}

/* ---- readings ----------------------------------------------------------- */

void vs_shared_capacity_begin(struct vs_inventory *inv)
{
	for (struct vs_vm *vm = inv->vms; vm; vm = vm->hh.next)
		share_now(inv, vm, &vm->share.telling);
}

void vs_shared_capacity_end(struct vs_inventory *inv)
{
	for (struct vs_vm *vm = inv->vms; vm; vm = vm->hh.next) {
		struct vs_share now, *t = &vm->share.telling;

		share_now(inv, vm, &now);
		t->cpu_mhz = min64(t->cpu_mhz, now.cpu_mhz);
		t->mem_mb = min64(t->mem_mb, now.mem_mb);
		t->swap_mb = min64(t->swap_mb, now.swap_mb);
		t->pool = now.pool;
		/* one that goes to another meanwhile is sure to be in neither */
		if (t->store != now.store)
			t->swap_mb = 0;
		if (same_share(&vm->share.told, t))
			continue;
		vm->share.told = *t;
		vs_vm_changed(inv, vm);
	}
	inv->generation++;
}

void vs_shared_capacity_forget(struct vs_inventory *inv)
{
	free(inv->pools);
	inv->pools = NULL;
	inv->npools = 0;
	inv->store.there = false;
	for (struct vs_vm *vm = inv->vms; vm; vm = vm->hh.next) {
		memset(&vm->share.told, 0, sizeof(vm->share.told));
		memset(&vm->share.telling, 0, sizeof(vm->share.telling));
	}
	inv->pools_changed = ++inv->generation;
}

int vs_shared_capacity_pool(const struct vs_inventory *inv, const char *cluster)
{
	for (size_t i = 0; i < inv->npools; i++) {
		if (!strcmp(inv->pools[i].cluster, cluster))
			return (int)i;
	}
	return -1;
}

void vs_shared_capacity_set_pool(struct vs_inventory *inv, const char *cluster,
				 const char *name, int64_t cpu_mhz,
				 int64_t mem_mb)
{
	int at = vs_shared_capacity_pool(inv, cluster);
	struct vs_pool *p;

	if (at < 0) {
		at = (int)inv->npools++;
		inv->pools = vs_realloc(inv->pools, inv->npools,
					sizeof(*inv->pools));
		vs_strlcpy(inv->pools[at].cluster, cluster, VS_MOID_LEN);
		inv->pools_changed = inv->generation + 1;
	}
	p = &inv->pools[at];
	vs_strlcpy(p->name, name, sizeof(p->name));
	p->cpu_mhz = cpu_mhz;
	p->mem_mb = mem_mb;
	inv->generation++;
}

void vs_shared_capacity_set_pool_moid(struct vs_inventory *inv,
				      const char *cluster, const char *moid)
{
	int at = vs_shared_capacity_pool(inv, cluster);

	if (at < 0 || !strcmp(inv->pools[at].moid, moid))
		return;
	vs_strlcpy(inv->pools[at].moid, moid, VS_MOID_LEN);
	inv->pools_changed = ++inv->generation;
}

void vs_shared_capacity_set_stores(struct vs_inventory *inv, const char *store,
				   const char *name, int64_t free_mb)
{
	vs_shared_capacity_set_pool(inv, store, name, -1, free_mb);
}

int vs_shared_capacity_stores(const struct vs_inventory *inv,
			      const struct vs_host *h, short *out, int max)
{
	int n = 0;

	for (size_t i = 0; i < inv->nuses && n < max; i++) {
		const struct vs_store_use *use = &inv->uses[i];
		int at;

		if (strcmp(use->cluster, h->cluster) ||
		    !vs_host_has_store(h, use->store))
			continue;
		at = vs_shared_capacity_pool(inv, use->store);
		if (at >= 0)
			out[n++] = (short)at;
	}
	return n;
}

void vs_shared_capacity_set_store(struct vs_inventory *inv, const char *name,
				  int64_t free_mb)
{
	vs_strlcpy(inv->store.name, name, sizeof(inv->store.name));
	inv->store.there = true;
	inv->store.free_mb = free_mb;
	inv->generation++;
}

/* ---- the sum ------------------------------------------------------------ */

static void pool_take(struct vs_taken *t, int pool, int64_t cpu, int64_t mem)
{
	if (pool < 0)
		return;
	t->pools[pool].cpu_mhz += cpu;
	t->pools[pool].mem_mb += mem;
}

void vs_shared_capacity_take_vm(const struct vs_inventory *inv,
				const struct vs_vm *vm, const char *folder,
				const char *cluster_id, struct vs_taken *t)
{
	const struct vs_share *told = &vm->share.told;
	struct vs_share now;

	/* others' may be in another pool, on another datastore */
	if (!vm->readable || vm->power == VS_POWER_UNKNOWN ||
	    !vs_owner_is_managed(vs_vm_owner(vm, folder, cluster_id)))
		return;
	share_now(inv, vm, &now);
	if (told->there) {
		pool_take(t, told->pool, -told->cpu_mhz, -told->mem_mb);
		pool_take(t, told->store, 0, -told->swap_mb);
	}
	if (!told->there) {
		pool_take(t, now.store, 0, vm->share.made_mb);
		t->store_mb += vm->share.made_mb;
	}
	pool_take(t, now.pool, now.cpu_mhz, now.mem_mb);
	pool_take(t, now.store, 0, now.swap_mb);
	t->store_mb += now.swap_mb - told->swap_mb;
}

void vs_shared_capacity_take_claim(const struct vs_inventory *inv,
				   const struct vs_claim *hold,
				   struct vs_taken *t)
{
	const struct vs_vm *vm =
		hold->vm[0] ? vs_vm_get(inv, hold->vm) : NULL;
	const struct vs_host *h = vs_host_get(inv, hold->host);
	int pool = h ? vs_shared_capacity_pool(inv, h->cluster) : -1;
	int store = hold->store[0] ? vs_shared_capacity_pool(inv, hold->store) :
				     -1;

	/* what moves is there once a reading has seen it there */
	if (!vm || !vm->share.told.there ||
	    (hold->moves && vm->share.told.store != store)) {
		t->store_mb += hold->disk_mb;
		pool_take(t, store, 0, hold->disk_mb);
	}
	/* as on a host: a promise for another place is kept for later */
	if (vm && vs_vm_shown_on(vm) &&
	    (hold->state != VS_CLAIM_RESERVED ||
	     vs_shared_capacity_pool(inv, vm->host_ptr->cluster) == pool))
		return;
	pool_take(t, pool, hold->cpu_mhz, hold->mem_mb);
	pool_take(t, store, 0, hold->swap_mb);
	t->store_mb += hold->swap_mb;
}

static int64_t left(int64_t told, int64_t taken)
{
	return told < 0 ? VS_CAPACITY_UNKNOWN : told - taken;
}

void vs_shared_capacity_left(const struct vs_inventory *inv,
			     const struct vs_taken *t,
			     struct vs_pool_capacity *pools, int64_t *store_mb)
{
	for (size_t i = 0; i < inv->npools; i++)
		pools[i] = (struct vs_pool_capacity) {
			left(inv->pools[i].cpu_mhz, t->pools[i].cpu_mhz),
			left(inv->pools[i].mem_mb, t->pools[i].mem_mb),
		};
	*store_mb = left(inv->store.there ? inv->store.free_mb : -1,
			 t->store_mb);
}
