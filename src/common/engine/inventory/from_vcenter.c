/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCenter's records of hosts and VMs into the inventory: the one file that knows
 * both the client's types and the plan's. run/vcenter_events.c calls it, and tells
 * the modules that have to hear of a change. The lock is held; only memory changes.
 */
#include <string.h>
#include "engine/inventory/inventory.h"
#include "engine/state/state.h"

/* ---- hosts ---------------------------------------------------------------- */

static bool net_asked(const struct vs_core *c, const char *moid)
{
	for (size_t i = 0; i < c->conf->nadapters; i++)
		if (!strcmp(c->nets[i].moid, moid))
			return true;
	return false;
}

/* A host may have hundreds; those that placement asks for are never the ones
 * that find no room in our table. */
static int list_copy(const struct vs_core *c,
		     bool (*asked)(const struct vs_core *, const char *),
		     const char *const *from, size_t n,
		     char to[][VS_MOID_LEN], int max)
{
	int kept = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < n && kept < max; i++)
			if (asked(c, from[i]) == !pass)
				vs_strlcpy(to[kept++], from[i], VS_MOID_LEN);
	return kept;
}

static void host_lists(const struct vs_core *c, struct vs_host *to,
		       const struct vs_vc_host *h)
{
	if (h->has & VS_VC_HOST_NETS)
		to->nnets = list_copy(c, net_asked, h->nets, h->nnets,
				      to->nets, VS_HOST_NETS);
	if (!(h->has & VS_VC_HOST_STORES))
		return;
	to->stores_known = true;
	to->nstores = list_copy(c, vs_stores_asked, h->stores, h->nstores,
				to->stores, VS_HOST_STORES);
}

static int host_vfs(const struct vs_host *h)
{
	int vfs = 0;

	for (int i = 0; i < h->npfs; i++)
		vfs += h->pfs[i].vfs;
	return vfs;
}

static const char *leaf_of(const struct vs_core *c, const char *host)
{
	for (size_t i = 0; i < c->conf->nhosts; i++)
		if (!strcmp(c->conf->hosts[i].name, host))
			return c->conf->hosts[i].leaf;
	return NULL;
}

struct vs_host *vs_host_update(struct vs_core *c, const struct vs_vc_host *h,
			       bool *fewer_vfs)
{
	struct vs_host *to = vs_inventory_host(&c->inv, h->moid);
	int vfs = host_vfs(to);
	const char *leaf;

	vs_assert_locked();
	if (h->has & VS_VC_HOST_NAME) {
		vs_host_set_name(&c->inv, to, h->name);
		leaf = leaf_of(c, h->name);
		vs_strlcpy(to->leaf, leaf ? leaf : "", sizeof(to->leaf));
	}
	if (h->has & VS_VC_HOST_PARENT)
		vs_strlcpy(to->cluster, h->cluster, sizeof(to->cluster));
	if (h->has & VS_VC_HOST_STATE) {
		to->connected = h->connected;
		to->powered_on = h->powered_on;
		to->maintenance = h->maintenance;
		to->quarantine = h->quarantine;
		to->standby = h->standby;
	}
	if (h->has & VS_VC_HOST_HW) {
		if (to->core_mhz != h->core_mhz)
			vs_hosts_reordered(&c->inv);
		to->cores = h->cores;
		to->core_mhz = h->core_mhz;
		to->cpu_mhz = h->cpu_mhz;
		to->memory_mb = h->memory_mb;
		to->numa_nodes = h->numa_nodes;
		to->max_hw = h->max_hw;
	}
	if (h->has & VS_VC_HOST_PFS)
		vs_host_entries_add(c, to, h);
	if (h->unreadable)	/* until all of it is told again */
		to->pfs_known = false;
	host_lists(c, to, h);
	vs_facts_set(c, to, h);
	*fewer_vfs = host_vfs(to) < vfs;
	vs_host_nodes_mark_changed(c, to);
	vs_capacity_freed();
	return to;
}

void vs_host_remove(struct vs_core *c, const char *moid)
{
	const struct vs_host *h = vs_host_get(&c->inv, moid);

	vs_assert_locked();
	if (h)
		vs_host_nodes_mark_changed(c, h);
	vs_inventory_remove_host(&c->inv, moid);
}

/* ---- VMs ------------------------------------------------------------------ */

static void vm_config(struct vs_vm *to, const struct vs_vc_vm *v)
{
	if (v->has & VS_VC_VM_CONFIG) {
		to->is_template = v->is_template;
		to->vcpus = v->vcpus;
		to->memory_mb = v->memory_mb;
		to->cpu_reserved_mhz = v->cpu_reserved_mhz;
		to->mem_reserved_mb = v->mem_reserved_mb;
		to->mem_locked = v->mem_locked;
		to->latency_high = v->latency_high;
		vs_strlcpy(to->numa, v->numa, sizeof(to->numa));
		vs_strlcpy(to->uuid, v->uuid, sizeof(to->uuid));
		vs_strlcpy(to->clone.bios_uuid, v->bios_uuid,
			   sizeof(to->clone.bios_uuid));
		vs_strlcpy(to->change_version,
			   v->change_version, sizeof(to->change_version));
	}
	if (v->has & VS_VC_VM_MARK) {
		vs_vm_set_owner_tag(to, v->owner_mark);
		vs_strlcpy(to->profile, v->profile, sizeof(to->profile));
		vs_strlcpy(to->job_tag, v->job_tag, sizeof(to->job_tag));
		vs_strlcpy(to->clone.from, v->from, sizeof(to->clone.from));
	}
	if (v->has & VS_VC_VM_DISKS) {
		vs_strlcpy(to->disks.dir, v->disk_dir, sizeof(to->disks.dir));
		to->disks.own = v->disks_own;
		vs_vm_set_bases(to, v->bases);
	}
	to->clone.frozen = v->has & VS_VC_VM_FROZEN ? v->frozen : to->clone.frozen;
	if (v->has & VS_VC_VM_SNAPSHOT)
		vs_strlcpy(to->clone.snapshot, v->snapshot,
			   sizeof(to->clone.snapshot));
}

static enum vs_power power_of(const char *s)
{
	return !strcmp(s, "poweredOn") ? VS_POWER_ON :
	       !strcmp(s, "poweredOff") ? VS_POWER_OFF :
	       !strcmp(s, "suspended") ? VS_POWER_SUSPENDED : VS_POWER_UNKNOWN;
}

static void touch_named(struct vs_core *c, const char *name)
{
	struct vs_node *n = vs_node_named(c, name);

	if (n)
		vs_node_mark_changed(n);
}

static void guest_says(struct vs_vm *to, const struct vs_vc_vm *v)
{
	vs_strlcpy(to->guest.state, v->guest_state, sizeof(to->guest.state));
	vs_strlcpy(to->guest.reason, v->guest_reason, sizeof(to->guest.reason));
}

/* A guest may write its state as often as it likes. While its node is up nothing
 * depends on that, so no node is looked at and no capacity counted again. */
static bool only_guest_says(struct vs_core *c, const struct vs_vm *to,
			    const struct vs_vc_vm *v)
{
	const struct vs_node *n = vs_node_named(c, to->name);

	return v->has == VS_VC_VM_GUEST && !v->unreadable && n &&
	       (n->flags & VS_NODE_UP) && vs_node_vm(c, n) == to;
}

struct vs_vm *vs_vm_update(struct vs_core *c, const struct vs_vc_vm *v)
{
	struct vs_vm *to = vs_inventory_vm(&c->inv, v->moid);
	bool unsure;

	vs_assert_locked();
	if (only_guest_says(c, to, v)) {
		guest_says(to, v);
		return NULL;
	}
	unsure = vs_node_vm_unsure(to);
	touch_named(c, to->name);
	if (v->has & VS_VC_VM_NAME) {
		vs_vm_set_name(&c->inv, to, v->name);
		touch_named(c, to->name);
	}
	if (v->has & VS_VC_VM_PARENT)
		vs_vm_set_folder(&c->inv, to, v->folder);
	if (v->has & VS_VC_VM_HOST)
		vs_vm_set_host(&c->inv, to, v->host);
	if (v->has & VS_VC_VM_POOL)
		vs_strlcpy(to->pool, v->pool, sizeof(to->pool));
	if (v->has & VS_VC_VM_CONN)
		to->connected = v->connected;
	if (v->has & VS_VC_VM_POWER) {
		enum vs_power power = power_of(v->power);

		if (to->power == VS_POWER_ON && power != VS_POWER_ON)
			vs_capacity_freed();
		if (to->power != power)	/* said by an earlier boot */
			to->guest.state[0] = to->guest.reason[0] = '\0';
		to->power = power;
	}
	if (v->has & VS_VC_VM_NICS) {
		to->nnics = v->nnics < VS_VM_NICS ? (int)v->nnics :
			VS_VM_NICS;
		if (to->nnics)
			memcpy(to->nics, v->nics, (size_t)to->nnics *
			       sizeof(*v->nics));
	}
	if (v->has & VS_VC_VM_GUEST)
		guest_says(to, v);
	if (v->has & VS_VC_VM_TOOLS)
		to->tools_running = v->tools_running;
	vm_config(to, v);
	/* NICs that don't fit into our table may hold VFs. */
	if (v->unreadable ||
	    ((v->has & VS_VC_VM_NICS) && v->nnics > VS_VM_NICS))
		to->readable = false;
	else if ((v->has & VS_VC_VM_NICS) && (v->has & VS_VC_VM_POWER))
		to->readable = true;
	/* Its host answers again, which was shown before, perhaps: jobs that
	 * wait for its node may begin. */
	if (unsure && !vs_node_vm_unsure(to))
		vs_capacity_freed();
	return to;
}

void vs_vm_remove(struct vs_core *c, const char *moid)
{
	const struct vs_vm *vm = vs_vm_get(&c->inv, moid);

	vs_assert_locked();
	if (vm)
		touch_named(c, vm->name);
	vs_inventory_remove_vm(&c->inv, moid);
	vs_capacity_freed();
}
