/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fuzzer's steps: bytes become hosts, VMs and holds, in plan's world and
 * in the naive model alike. What plan answers to a step is checked at once.
 */
#include <string.h>
#include "plan_run.h"
#include "util/mem.h"

#define UUID "50211e0a-0000-4000-8000-000000000001"

unsigned int byte(struct run *r)
{
	return r->p < r->end ? *r->p++ : 0;
}

int below(struct run *r, int n)
{
	return (int)(byte(r) % (unsigned int)n);
}

void host_moid(int i, char out[VS_MOID_LEN])
{
	if (i == NO)
		out[0] = '\0';
	else
		snprintf(out, VS_MOID_LEN, "host-%d", i);
}

static void bus_pci(int bus, int function, char out[VS_PCI_LEN])
{
	if (bus == NO)
		out[0] = '\0';
	else
		snprintf(out, VS_PCI_LEN, "0000:%02x:00.%d", bus & 0xff,
			 function & 7);
}

static void switch_name(int sw, char out[VS_LABEL_LEN])
{
	out[0] = '\0';
	if (sw != NO)
		snprintf(out, VS_LABEL_LEN, "switch-%d", sw);
}

struct vs_host *host_get(struct run *r, int i)
{
	char moid[VS_MOID_LEN];

	host_moid(i, moid);
	return vs_host_get(&r->inv, moid);
}

/* ---- steps -------------------------------------------------------------- */

void do_host(struct run *r)
{
	int i = below(r, HOSTS);
	struct m_host *m = &r->m.host[i];
	char moid[VS_MOID_LEN], name[8];
	struct vs_host *h;

	host_moid(i, moid);
	h = vs_inventory_host(&r->inv, moid);
	snprintf(name, sizeof(name), "esx%d", i * 7 % 5);
	vs_host_set_name(&r->inv, h, name);
	vs_hosts_reordered(&r->inv);
	vs_host_changed(&r->inv, h);
	m->there = h->pfs_known = true;
	m->usable = below(r, 8) > 0;
	m->avoided = below(r, 8) == 0;
	h->connected = h->powered_on = true;
	h->quarantine = !m->usable;
	m->cluster = below(r, POOLS);
	snprintf(h->cluster, sizeof(h->cluster), "c%d", m->cluster);
	h->max_hw = m->hw = below(r, 4) ? 21 : below(r, 22);
	m->ops = below(r, OPS_MAX + 2);
	h->nstores = 1;
	vs_strlcpy(h->stores[0], STORE, VS_MOID_LEN);
	h->cores = m->cores = 4 + below(r, 20);
	h->core_mhz = m->mhz = 1000 + 100 * below(r, 4);
	h->memory_mb = m->mem = 1000 * (1 + below(r, 60));
	m->leaf = below(r, 3);
	snprintf(h->leaf, sizeof(h->leaf), "leaf%d", m->leaf);
	h->numa_nodes = below(r, 3);
	h->nnets = 1;
	vs_strlcpy(h->nets[0], "net", VS_MOID_LEN);
	h->npfs = m->npfs = below(r, PFS + 1);
	for (int p = 0; p < m->npfs; p++) {
		struct m_pf *f = &m->pf[p];
		struct vs_pf *to = &h->pfs[p];

		f->bus = 0x10 * (p + 1);
		f->sw = below(r, 4) - 1;
		f->vfs = below(r, 6);
		f->link = below(r, 6) > 0;
		f->avoided = below(r, 8) == 0;
		bus_pci(f->bus, 0, to->pci);
		switch_name(f->sw, to->switch_uuid);
		to->vfs = f->vfs;
		to->link_up = f->link;
		to->numa = below(r, 3) - 1;
	}
}

void do_host_gone(struct run *r)
{
	int i = below(r, HOSTS);
	char moid[VS_MOID_LEN];

	host_moid(i, moid);
	vs_inventory_remove_host(&r->inv, moid);
	r->m.host[i].there = false;
}

static void vm_nics(struct run *r, struct m_vm *m, struct vs_vm *vm)
{
	static const enum vs_nic_type kinds[] = {
		[M_NONE] = VS_NIC_ETHERNET, [M_SRIOV] = VS_NIC_SRIOV,
		[M_FIXED] = VS_NIC_PCI_FIXED,
		[M_DYNAMIC] = VS_NIC_PCI_DYNAMIC,
		[M_VMXNET3] = VS_NIC_VMXNET3,
	};

	vm->nnics = m->nnics = below(r, NICS + 1);
	for (int c = 0; c < m->nnics; c++) {
		struct m_nic *k = &m->nic[c];
		struct vs_nic *to = &vm->nics[c];
		int bus = below(r, PFS + 2);

		memset(to, 0, sizeof(*to));
		k->kind = below(r, 8);
		if (k->kind > M_VMXNET3)
			k->kind = M_SRIOV;
		k->bus = bus && k->kind != M_DYNAMIC ? 0x10 * bus : NO;
		k->sw = below(r, 5) - 1;
		to->kind = kinds[k->kind];
		bus_pci(k->bus, k->kind == M_FIXED ? 3 : 0, to->pci);
		switch_name(k->sw, to->switch_uuid);
	}
}

void do_vm(struct run *r)
{
	int i = below(r, VMS), host = below(r, HOSTS + 1) - 1;
	struct m_vm *m = &r->m.vm[i];
	char moid[VS_MOID_LEN], mark[VS_MOID_LEN];
	struct vs_vm *vm;

	snprintf(mark, sizeof(mark), CLUSTER "/vm-%d/" UUID, i);
	snprintf(moid, sizeof(moid), "vm-%d", i);
	vm = vs_inventory_vm(&r->inv, moid);
	m->there = true;
	vs_vm_set_name(&r->inv, vm, moid);
	vs_vm_set_folder(&r->inv, vm, FOLDER);
	m->host = host;
	host_moid(host, moid);
	vs_vm_set_host(&r->inv, vm, moid);
	m->ours = below(r, 2);
	vs_vm_set_owner_tag(vm, m->ours ? mark : NULL);
	vs_strlcpy(vm->uuid, UUID, sizeof(vm->uuid));
	vm->vcpus = m->vcpus = below(r, 9);
	vm->memory_mb = m->mem = 100 * below(r, 80);
	vm->mem_reserved_mb = m->mem_res = 50 * below(r, 40);
	vm->cpu_reserved_mhz = m->cpu_res = 100 * below(r, 40);
	vm->mem_locked = m->locked = below(r, 2);
	vm->latency_high = m->latency = below(r, 4) == 0;
	vm->readable = m->readable = below(r, 8) > 0;
	vm->power = m->power = below(r, 4);
	vm_nics(r, m, vm);
	vs_vm_changed(&r->inv, vm);
}

void do_vm_power(struct run *r)
{
	int i = below(r, VMS), power = below(r, 4);
	char moid[VS_MOID_LEN];
	struct vs_vm *vm;

	snprintf(moid, sizeof(moid), "vm-%d", i);
	vm = vs_vm_get(&r->inv, moid);
	MUST(!vm == !r->m.vm[i].there);
	if (!vm)
		return;
	vm->power = r->m.vm[i].power = power;
	vm->readable = r->m.vm[i].readable = below(r, 8) > 0;
	vs_vm_changed(&r->inv, vm);
}

void do_vm_gone(struct run *r)
{
	int i = below(r, VMS);
	char moid[VS_MOID_LEN];

	snprintf(moid, sizeof(moid), "vm-%d", i);
	vs_inventory_remove_vm(&r->inv, moid);
	MUST(!vs_vm_get_named(&r->inv, FOLDER, moid));
	r->m.vm[i].there = false;
	r->m.vm[i].told = r->m.vm[i].telling = (struct m_share) { 0 };
}

void sums_now(struct run *r, struct vs_host_sum *sums)
{
	memset(sums, 0, HOSTS * sizeof(*sums));
	for (int i = 0; i < r->inv.nhosts; i++)
		vs_ledger_sum(&r->ledger, &r->inv, r->inv.by_index[i], FOLDER,
			      CLUSTER, &sums[i]);
}

void keep(struct run *r)
{
	vs_free_capacity_update(&r->kept, &r->ledger, &r->inv, FOLDER, CLUSTER);
}

static void room_now(struct run *r, struct vs_pool_capacity *pools,
		     int64_t *store)
{
	memset(pools, 0, POOLS * sizeof(*pools));
	keep(r);
	for (size_t i = 0; i < r->kept.npools; i++)
		pools[i] = r->kept.pools[i];
	*store = r->kept.store_mb;
}

/* release(take(x)) = x */
static void take_and_back(struct run *r, const struct vs_claim *hold)
{
	struct vs_host_sum before[HOSTS], after[HOSTS];
	struct vs_pool_capacity pools[POOLS], pools2[POOLS];
	int64_t store, store2;

	room_now(r, pools, &store);

	sums_now(r, before);
	MUST(!vs_ledger_take(&r->ledger, hold, NULL));
	MUST(vs_ledger_take(&r->ledger, hold, NULL) == -1);
	MUST(!vs_ledger_release(&r->ledger, hold->node));
	MUST(vs_ledger_release(&r->ledger, hold->node) == -1);
	sums_now(r, after);
	check_kept(r);
	MUST(!memcmp(before, after, sizeof(before)));
	room_now(r, pools2, &store2);
	MUST(!memcmp(pools, pools2, sizeof(pools)) && store == store2);
	MUST(!vs_ledger_take(&r->ledger, hold, NULL));
}

void hold_take(struct run *r, int node, struct m_hold m)
{
	struct vs_claim hold = { .cpu_mhz = m.cpu, .mem_mb = m.mem,
				.disk_mb = m.disk, .swap_mb = m.swap,
				.nvfs = m.nnics };

	snprintf(hold.node, sizeof(hold.node), "n%d", node);
	host_moid(m.host, hold.host);
	for (int i = 0; i < m.nnics; i++) {
		bus_pci(m.nic[i].bus, 0, hold.vfs[i].pf);
		hold.vfs[i].automatic = m.nic[i].automatic;
	}
	if (m.vm != NO)
		snprintf(hold.vm, sizeof(hold.vm), "vm-%d", m.vm);
	if (r->m.hold[node].there) {
		MUST(vs_ledger_take(&r->ledger, &hold, NULL) == -1);
		return;
	}
	take_and_back(r, &hold);
	m.there = true;
	m.state = 0;
	r->m.hold[node] = m;
}

void do_take(struct run *r)
{
	int node = below(r, NODES), bus = below(r, PFS + 2);
	struct m_hold some = { .nnics = bus ? 1 + below(r, NICS) : 0 };

	for (int i = 0; i < some.nnics; i++, bus = 1 + below(r, PFS + 1))
		some.nic[i] = (struct m_held) { 0x10 * bus, below(r, 2) };
	hold_take(r, node, (struct m_hold) {
		.host = below(r, HOSTS), .nnics = some.nnics,
		.nic = { some.nic[0], some.nic[1], some.nic[2] },
		.vm = below(r, VMS + 1) - 1,
		.cpu = 100 * below(r, 30), .mem = 50 * below(r, 30),
		.disk = 100 * below(r, 9), .swap = 50 * below(r, 9),
	});
}

static void move(struct run *r, struct m_hold *m, struct vs_claim *h)
{
	struct vs_claim_vf shown[NICS] = { 0 };
	int n = below(r, NICS + 1);
	char moid[VS_MOID_LEN];

	m->host = below(r, HOSTS);
	host_moid(m->host, moid);
	for (int i = 0; i < m->nnics && !n; i++)
		m->nic[i].automatic = true;
	for (int i = 0; i < n; i++) {
		int bus = below(r, PFS + 2);

		if (i >= m->nnics)
			m->nic[i] = (struct m_held) { NO, false };
		else if (!bus)
			m->nic[i].automatic = true;
		if (bus)
			m->nic[i].bus = 0x10 * bus;
		bus_pci(bus ? 0x10 * bus : NO, 0, shown[i].pf);
	}
	if (n)
		m->nnics = n;
	vs_ledger_move(&r->ledger, h, moid, shown, n);
}

void do_hold(struct run *r)
{
	int node = below(r, NODES), what = below(r, 6);
	struct m_hold *m = &r->m.hold[node];
	char name[VS_NAME_LEN], moid[VS_MOID_LEN];
	struct vs_claim *h;

	snprintf(name, sizeof(name), "n%d", node);
	h = vs_ledger_get(&r->ledger, name);
	MUST(!h == !m->there);
	if (!h)
		return;
	if (what < 3) {
		bool ok = what == m->state + 1 || (what == 0 && m->state == 1);

		MUST(vs_ledger_set_state(&r->ledger, h, what) == (ok ? 0 : -1));
		if (ok)
			m->state = what;
	} else if (what == 3) {
		move(r, m, h);
	} else if (what == 4) {
		m->vm = below(r, VMS);
		snprintf(moid, sizeof(moid), "vm-%d", m->vm);
		vs_ledger_set_vm(&r->ledger, h, moid);
	} else {
		MUST(!vs_ledger_release(&r->ledger, name));
		m->there = false;
	}
}

void class_read(struct run *r, int i)
{
	int bus = below(r, 8);
	struct m_class *m = &r->m.cls[i];

	m->vf = below(r, 4) > 0;
	m->latency = below(r, 4) == 0;
	m->ib = below(r, 2);
	m->sw = below(r, 3);
	m->named = bus && bus <= PFS ? 0x10 * bus : NO;
	m->vcpus = 1 + below(r, 6);
	m->mem = 100 * (1 + below(r, 40));
	m->disk = below(r, 3) ? 100 * below(r, 20) : 0;
	m->hw = below(r, 4) ? 0 : 18 + below(r, 5);
	m->vfs = below(r, 2) ? 1 : 1 + below(r, PFS);
	m->rails = m->vfs > 1 && below(r, 2);
	r->adapter[i].per_node = m->vfs;
	r->adapter[i].rails = m->rails;
	r->adapter[i].type = m->vf ? VS_ADAPTER_SRIOV : VS_ADAPTER_VMXNET3;
	r->adapter[i].link = m->ib ? VS_LINK_INFINIBAND : VS_LINK_ETHERNET;
	bus_pci(m->named, 0, r->adapter[i].pf);
	r->profile[i].adapter = &r->adapter[i];
	r->profile[i].vcpus = m->vcpus;
	r->profile[i].memory_mb = m->mem;
	r->profile[i].disk_mb = m->disk;
	r->profile[i].template_hw = m->hw;
	r->profile[i].latency_high = m->latency;
	vs_strlcpy(r->net[i].moid, "net", VS_MOID_LEN);
	switch_name(m->sw, r->net[i].switch_uuid);
}

void do_class(struct run *r)
{
	class_read(r, below(r, CLASSES));
}

/* ---- readings of pools and the datastore -------------------------------- */

void do_begin(struct run *r)
{
	vs_shared_capacity_begin(&r->inv);
	for (int v = 0; v < VMS; v++)
		if (r->m.vm[v].there)
			r->m.vm[v].telling = m_share(&r->m, v);
}

static int64_t less(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

void do_values(struct run *r)
{
	char name[VS_MOID_LEN];

	for (int p = 0; p < POOLS; p++) {
		struct m_pool *pool = &r->m.pool[p];

		if (!below(r, 4))
			continue;
		pool->there = true;
		pool->cpu = below(r, 3) ? 1000 * below(r, 60) : -1;
		pool->mem = below(r, 3) ? 500 * below(r, 80) : -1;
		snprintf(name, sizeof(name), "c%d", p);
		vs_shared_capacity_set_pool(&r->inv, name, name, pool->cpu,
					    pool->mem);
	}
	r->m.store = below(r, 3) ? 500 * below(r, 60) : -1;
	vs_shared_capacity_set_store(&r->inv, "store", r->m.store);
	vs_shared_capacity_end(&r->inv);
	for (int v = 0; v < VMS; v++) {
		struct m_share now = m_share(&r->m, v), *t =
			&r->m.vm[v].telling;

		if (!r->m.vm[v].there)
			continue;
		t->cpu = less(t->cpu, now.cpu);
		t->mem = less(t->mem, now.mem);
		t->swap = less(t->swap, now.swap);
		t->pool = now.pool;
		r->m.vm[v].told = *t;
	}
}

void do_forget(struct run *r)
{
	vs_shared_capacity_forget(&r->inv);
	memset(r->m.pool, 0, sizeof(r->m.pool));
	r->m.store = -1;
	for (int v = 0; v < VMS; v++)
		r->m.vm[v].told = r->m.vm[v].telling = (struct m_share) { 0 };
}

void ops_fill(struct run *r)
{
	for (int h = 0; h < HOSTS; h++)
		if (r->m.host[h].there)
			r->ops[host_get(r, h)->index] = r->m.host[h].ops;
}
