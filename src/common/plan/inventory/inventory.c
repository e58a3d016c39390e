/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inventory: hosts and VMs as vCenter has told us, with their indexes.
 *
 * Rules: an object's address is good until the object is removed; a VM whose
 * host isn't known (yet) is kept among the strays and joins its host when
 * that comes, whatever the order of vCenter's updates; each lookup costs the
 * same with ten VMs or ten thousand (a host's name excepted). Never decides
 * anything but whose a VM is, and on which datastore it lies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "plan/inventory/host_facts.h"
#include "plan/inventory/inventory.h"
#include "util/mem.h"

/* VMs of one folder and name; more than one only while vCenter renames. */
struct vs_name_slot {
	uint64_t key;
	TAILQ_HEAD(, vs_vm) vms;
	UT_hash_handle hh;
};

void vs_inventory_init(struct vs_inventory *inv)
{
	memset(inv, 0, sizeof(*inv));
	LIST_INIT(&inv->strays);
	LIST_INIT(&inv->parents);
	TAILQ_INIT(&inv->by_change);
}

/* ---- what has changed --------------------------------------------------- */

/* The one door for both generations. */
static void host_note(struct vs_inventory *inv, struct vs_host *h)
{
	h->changed = ++inv->generation;
	TAILQ_REMOVE(&inv->by_change, h, by_change);
	TAILQ_INSERT_TAIL(&inv->by_change, h, by_change);
}

void vs_host_changed(struct vs_inventory *inv, struct vs_host *h)
{
	host_note(inv, h);
	h->itself = inv->hosts_itself = h->changed;
}

void vs_vm_changed(struct vs_inventory *inv, struct vs_vm *vm)
{
	if (vm->host_ptr)
		host_note(inv, vm->host_ptr);
	else
		inv->generation++;
}

/* ---- the index by (folder, name) ---------------------------------------- */

static uint64_t name_key(const char *folder, const char *name)
{
	return vs_hash_str(vs_hash_str(VS_HASH_START, folder), name);
}

static void name_unindex(struct vs_inventory *inv, struct vs_vm *vm)
{
	struct vs_name_slot *slot = vm->name_slot;

	if (!slot)
		return;
	TAILQ_REMOVE(&slot->vms, vm, same_name);
	vm->name_slot = NULL;
	if (TAILQ_EMPTY(&slot->vms)) {
		HASH_DEL(inv->names, slot);
		free(slot);
	}
}

static void name_index(struct vs_inventory *inv, struct vs_vm *vm)
{
	uint64_t key = name_key(vm->folder, vm->name);
	struct vs_name_slot *slot;

	if (!vm->name[0])
		return;
	HASH_FIND(hh, inv->names, &key, sizeof(key), slot);
	if (!slot) {
		slot = vs_calloc(1, sizeof(*slot));
		slot->key = key;
		TAILQ_INIT(&slot->vms);
		HASH_ADD(hh, inv->names, key, sizeof(key), slot);
	}
	TAILQ_INSERT_TAIL(&slot->vms, vm, same_name);
	vm->name_slot = slot;
}

static void name_change(struct vs_inventory *inv, struct vs_vm *vm,
			char *field, const char *value, size_t size)
{
	char copy[VS_LABEL_LEN];

	vs_strlcpy(copy, value, size);
	if (!strcmp(field, copy))
		return;
	name_unindex(inv, vm);
	vs_strlcpy(field, copy, size);
	name_index(inv, vm);
	vs_vm_changed(inv, vm);
}

void vs_vm_set_name(struct vs_inventory *inv, struct vs_vm *vm,
		    const char *name)
{
	name_change(inv, vm, vm->name, name, sizeof(vm->name));
}

void vs_vm_set_folder(struct vs_inventory *inv, struct vs_vm *vm,
		      const char *folder)
{
	name_change(inv, vm, vm->folder, folder, sizeof(vm->folder));
}

struct vs_vm *vs_vm_get_named(const struct vs_inventory *inv,
			      const char *folder, const char *name)
{
	uint64_t key = name_key(folder, name);
	struct vs_name_slot *slot;
	struct vs_vm *vm;

	HASH_FIND(hh, inv->names, &key, sizeof(key), slot);
	if (!slot)
		return NULL;
	TAILQ_FOREACH(vm, &slot->vms, same_name) {
		if (!vm->is_template && !strcmp(vm->name, name) &&
		    !strcmp(vm->folder, folder))
			return vm;
	}
	return NULL;
}

/* ---- VMs ---------------------------------------------------------------- */

struct vs_vm *vs_vm_get(const struct vs_inventory *inv, const char *moid)
{
	struct vs_vm *vm;

	HASH_FIND_STR(inv->vms, moid, vm);
	return vm;
}

struct vs_vm *vs_inventory_vm(struct vs_inventory *inv, const char *moid)
{
	struct vs_vm *vm = vs_vm_get(inv, moid);

	if (vm)
		return vm;
	vm = vs_calloc(1, sizeof(*vm));
	vs_strlcpy(vm->moid, moid, sizeof(vm->moid));
	LIST_INSERT_HEAD(&inv->strays, vm, on_host);
	HASH_ADD_STR(inv->vms, moid, vm);
	inv->generation++;
	return vm;
}

static void join_host(struct vs_inventory *inv, struct vs_vm *vm,
		      struct vs_host *host)
{
	vs_vm_changed(inv, vm);
	LIST_REMOVE(vm, on_host);
	vm->host_ptr = host;
	if (host)
		LIST_INSERT_HEAD(&host->vms, vm, on_host);
	else
		LIST_INSERT_HEAD(&inv->strays, vm, on_host);
	vs_vm_changed(inv, vm);
}

void vs_vm_set_host(struct vs_inventory *inv, struct vs_vm *vm,
		    const char *host)
{
	if (!strcmp(vm->host, host))
		return;
	vs_strlcpy(vm->host, host, sizeof(vm->host));
	join_host(inv, vm, vs_host_get(inv, vm->host));
}

static void vm_drop(struct vs_inventory *inv, struct vs_vm *vm)
{
	vs_vm_changed(inv, vm);
	vs_vm_set_clone_source(inv, vm, NULL);
	name_unindex(inv, vm);
	LIST_REMOVE(vm, on_host);
	HASH_DEL(inv->vms, vm);
	free(vm->owner_mark);
	free(vm->disks.bases);
	free(vm);
}

void vs_inventory_remove_vm(struct vs_inventory *inv, const char *moid)
{
	struct vs_vm *vm = vs_vm_get(inv, moid);

	if (vm)
		vm_drop(inv, vm);
}

/* ---- hosts -------------------------------------------------------------- */

struct vs_host *vs_host_get(const struct vs_inventory *inv, const char *moid)
{
	struct vs_host *h;

	HASH_FIND_STR(inv->hosts, moid, h);
	return h;
}

struct vs_host *vs_host_get_named(const struct vs_inventory *inv,
				  const char *name)
{
	for (struct vs_host *h = inv->hosts; h; h = h->hh.next) {
		if (!strcmp(h->name, name))
			return h;
	}
	return NULL;
}

struct vs_host *vs_inventory_host(struct vs_inventory *inv, const char *moid)
{
	struct vs_host *h = vs_host_get(inv, moid);
	struct vs_vm *vm, *next;

	if (h)
		return h;
	h = vs_calloc(1, sizeof(*h));
	vs_strlcpy(h->moid, moid, sizeof(h->moid));
	LIST_INIT(&h->vms);
	HASH_ADD_STR(inv->hosts, moid, h);
	h->index = inv->nhosts++;
	VS_GROW(inv->by_index, inv->by_index_cap, inv->nhosts);
	inv->by_index[h->index] = h;
	TAILQ_INSERT_TAIL(&inv->by_change, h, by_change);
	vs_host_changed(inv, h);
	inv->hosts_changed = inv->generation;
	for (vm = LIST_FIRST(&inv->strays); vm; vm = next) {
		next = LIST_NEXT(vm, on_host);
		if (!strcmp(vm->host, h->moid))
			join_host(inv, vm, h);
	}
	return h;
}

void vs_hosts_reordered(struct vs_inventory *inv)
{
	inv->hosts_changed = inv->hosts_itself = ++inv->generation;
}

void vs_host_set_name(struct vs_inventory *inv, struct vs_host *h,
		      const char *name)
{
	if (!strcmp(h->name, name))
		return;
	vs_strlcpy(h->name, name, sizeof(h->name));
	vs_host_changed(inv, h);
	vs_hosts_reordered(inv);
}

static void host_drop(struct vs_inventory *inv, struct vs_host *h)
{
	struct vs_host *last = inv->by_index[--inv->nhosts];

	while (!LIST_EMPTY(&h->vms))
		join_host(inv, LIST_FIRST(&h->vms), NULL);
	last->index = h->index;
	inv->by_index[last->index] = last;
	HASH_DEL(inv->hosts, h);
	TAILQ_REMOVE(&inv->by_change, h, by_change);
	vs_host_facts_free(h->facts);
	free(h->devices);
	free(h->offer);
	free(h);
	vs_hosts_reordered(inv);
}

void vs_inventory_remove_host(struct vs_inventory *inv, const char *moid)
{
	struct vs_host *h = vs_host_get(inv, moid);

	if (h)
		host_drop(inv, h);
}

struct vs_pf *vs_host_pf(struct vs_host *h, const char *pci)
{
	for (int i = 0; i < h->npfs; i++) {
		if (!strcmp(h->pfs[i].pci, pci))
			return &h->pfs[i];
	}
	return NULL;
}

const struct vs_pf *vs_host_device(const struct vs_host *h, const char *pci)
{
	for (int i = 0; i < h->npfs; i++)
		for (int k = 0; h->pfs[i].of && k < h->pfs[i].of->n; k++)
			if (!strcmp(h->pfs[i].of->pci[k], pci))
				return &h->pfs[i];
	return NULL;
}

bool vs_devices_match(const struct vs_devices *d, unsigned int vendor,
		      unsigned int device, const char *label)
{
	if (!vendor)
		return true;
	return d->vendor == vendor && d->device == device &&
	       (!label[0] || (!d->fixed && !d->label[0]) ||
		!strcmp(d->label, label));
}

bool vs_host_usable(const struct vs_host *h)
{
	return h->connected && h->powered_on && !h->maintenance &&
	       !h->entering_maintenance && !h->quarantine && !h->standby &&
	       !h->entering_standby;
}

static bool has(const char list[][VS_MOID_LEN], int n, const char *moid)
{
	for (int i = 0; i < n; i++) {
		if (!strcmp(list[i], moid))
			return true;
	}
	return false;
}

int64_t vs_host_cpu_mhz(const struct vs_host *h)
{
	return h->cpu_mhz ? h->cpu_mhz : (int64_t)h->cores * h->core_mhz;
}

int vs_host_vm_cores(const struct vs_host *h)
{
	return h->core_mhz ? (int)(vs_host_cpu_mhz(h) / h->core_mhz) :
		h->cores;
}

bool vs_host_has_net(const struct vs_host *h, const char *net_moid)
{
	return has(h->nets, h->nnets, net_moid);
}

bool vs_host_has_store(const struct vs_host *h, const char *store_moid)
{
	return has(h->stores, h->nstores, store_moid);
}

bool vs_host_has_any_store(const struct vs_inventory *inv,
			   const struct vs_host *h)
{
	for (size_t i = 0; i < inv->nuses; i++)
		if (!strcmp(inv->uses[i].cluster, h->cluster) &&
		    vs_host_has_store(h, inv->uses[i].store))
			return true;
	return false;
}

static int node_of(const struct vs_host *h, const char *pci)
{
	for (int i = 0; i < h->npfs; i++)
		if (!strcmp(h->pfs[i].pci, pci))
			return h->pfs[i].numa;
	return -1;
}

const char *vs_numa_nodes(const struct vs_host *h, const char *const *pcis,
			  int n, char out[VS_NUMA_LEN])
{
	uint64_t nodes = 0;
	size_t len = 0;

	out[0] = '\0';
	for (int i = 0; i < n; i++) {
		int node = h->numa_nodes > 1 ? node_of(h, pcis[i]) : -1;

		if (node < 0 || node > 63)
			return out;
		nodes |= 1ull << node;
	}
	for (int k = 0; k < 64 && len + 4 < VS_NUMA_LEN; k++)
		if (nodes & 1ull << k)
			len += (size_t)snprintf(out + len, VS_NUMA_LEN - len,
						len ? ",%d" : "%d", k);
	return out;
}

/* ---- datastores of VMs --------------------------------------------------- */

static bool is_store(const struct vs_inventory *inv, const char *moid)
{
	for (size_t i = 0; i < inv->nuses; i++) {
		if (!strcmp(inv->uses[i].store, moid))
			return true;
	}
	return false;
}

/* "[local-3] vm001/" lies on local-3. */
int vs_vm_store(const struct vs_inventory *inv, const struct vs_vm *vm)
{
	const char *end = strchr(vm->disks.dir, ']');
	size_t len = vm->disks.dir[0] == '[' && end ?
		(size_t)(end - vm->disks.dir) : 0;

	for (size_t i = 0; i < inv->npools && inv->nuses && len > 1; i++) {
		const struct vs_pool *p = &inv->pools[i];

		if (!strncmp(p->name, vm->disks.dir + 1, len - 1) &&
		    !p->name[len - 1] && is_store(inv, p->cluster))
			return (int)i;
	}
	return -1;
}

bool vs_vm_lies_on(const struct vs_inventory *inv, const struct vs_vm *vm,
		   const char *store)
{
	const char *name = inv->store.name;
	size_t len = strlen(name);
	int at;

	if (inv->nuses) {
		at = vs_vm_store(inv, vm);
		return at >= 0 && !strcmp(inv->pools[at].cluster, store);
	}
	return !inv->store.there || !len ||
	       (vm->disks.dir[0] == '[' &&
		!strncmp(vm->disks.dir + 1, name, len) &&
		vm->disks.dir[1 + len] == ']');
}

/* ---- whose a VM is ------------------------------------------------------ */

/* Parsed once: whose a VM is is asked in every sum. */
void vs_vm_set_owner_tag(struct vs_vm *vm, const char *mark)
{
	vs_str_replace(&vm->owner_mark, mark);
	vm->marked = mark && !vs_owner_tag_parse(mark, &vm->mark);
}

void vs_vm_set_clone_source(struct vs_inventory *inv, struct vs_vm *vm,
			    const char *mark)
{
	bool was = vm->as_parent;

	vm->as_parent = vs_clone_source_tag_parse(mark, &vm->parent);
	if (was && !vm->as_parent)
		LIST_REMOVE(vm, with_parents);
	if (!was && vm->as_parent)
		LIST_INSERT_HEAD(&inv->parents, vm, with_parents);
}

void vs_vm_set_bases(struct vs_vm *vm, const char *bases)
{
	vs_str_replace(&vm->disks.bases, bases && bases[0] ? bases : NULL);
	vm->disks.bases_told = true;
}

enum vs_owner vs_vm_owner(const struct vs_vm *vm, const char *folder,
			  const char *cluster_id)
{
	const struct vs_owner_tag *mark = &vm->mark;

	if (!vm->owner_mark || !vm->owner_mark[0])
		return VS_OWNER_FOREIGN;
	/* Outside of the folder no more is read than whose it says to be. */
	if (!vm->uuid[0] && (!folder || strcmp(vm->folder, folder)))
		return vm->marked && !vm->is_template && cluster_id &&
		       cluster_id[0] && strcmp(mark->cluster, cluster_id) ?
		       VS_OWNER_OTHER_CLUSTER : VS_OWNER_FOREIGN;
	if (!vm->marked)
		return VS_OWNER_UNVERIFIED;
	/* a template, a copy, a restore or a renamed VM carries the mark too */
	if (vm->is_template || strcmp(mark->node, vm->name) ||
	    (strcasecmp(mark->uuid, vm->uuid) &&
	     strcasecmp(mark->uuid, vm->clone.bios_uuid)))
		return VS_OWNER_UNVERIFIED;
	/* our own id is lost: nothing can be told from another cluster's */
	if (!cluster_id || !cluster_id[0])
		return VS_OWNER_UNVERIFIED;
	if (strcmp(mark->cluster, cluster_id))
		return VS_OWNER_OTHER_CLUSTER;
	if (!folder || !folder[0] || strcmp(vm->folder, folder))
		return VS_OWNER_UNVERIFIED;
	return vm->as_parent ? VS_OWNER_CLONE_SOURCE : VS_OWNER_MANAGED;
}

bool vs_vm_is_foreign(const struct vs_vm *vm, const char *folder,
		      const char *cluster_id)
{
	return folder && !strcmp(vm->folder, folder) &&
	       vs_vm_owner(vm, folder, cluster_id) == VS_OWNER_OTHER_CLUSTER;
}
