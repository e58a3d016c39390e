/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger: the holds, and the one sum that says what is free.
 *
 * Rules: what can't be told counts against everything it may be, so that an
 * error in this count costs a VF for a while and never reserves one twice; a
 * host with a VM that can't be read has unknown VFs. Never drops a hold by
 * itself.
 */
#include <stdlib.h>
#include <string.h>
#include "plan/allocation/shared_capacity.h"
#include "util/mem.h"

/* ---- the index by host -------------------------------------------------- */

static struct vs_host_claims *holds_of(const struct vs_ledger *l,
				       const char *host)
{
	struct vs_host_claims *of;

	HASH_FIND_STR(l->hosts, host, of);
	return of;
}

const struct vs_host_claims *vs_ledger_host_claims(const struct vs_ledger *l,
						   const char *host)
{
	return holds_of(l, host);
}

static void note(struct vs_ledger *l, struct vs_host_claims *of)
{
	of->changed = ++l->generation;
	TAILQ_REMOVE(&l->by_change, of, by_change);
	TAILQ_INSERT_TAIL(&l->by_change, of, by_change);
}

static void hold_note(struct vs_ledger *l, const struct vs_claim *h)
{
	note(l, holds_of(l, h->host));
}

static void join(struct vs_ledger *l, struct vs_claim *h)
{
	struct vs_host_claims *of = holds_of(l, h->host);

	if (!of) {
		of = vs_calloc(1, sizeof(*of));
		vs_strlcpy(of->host, h->host, sizeof(of->host));
		LIST_INIT(&of->list);
		HASH_ADD_STR(l->hosts, host, of);
		TAILQ_INSERT_TAIL(&l->by_change, of, by_change);
	}
	LIST_INSERT_HEAD(&of->list, h, on_host);
	note(l, of);
}

static void leave(struct vs_ledger *l, struct vs_claim *h)
{
	LIST_REMOVE(h, on_host);
	hold_note(l, h);
}

/* ---- holds -------------------------------------------------------------- */

void vs_ledger_clear(struct vs_ledger *l)
{
	struct vs_claim *h;
	struct vs_host_claims *of;

	while ((h = l->holds)) {
		HASH_DEL(l->holds, h);
		free(h);
	}
	while ((of = l->hosts)) {
		HASH_DEL(l->hosts, of);
		free(of);
	}
	TAILQ_INIT(&l->by_change);
	l->cleared = ++l->generation;
}

struct vs_claim *vs_ledger_get(const struct vs_ledger *l, const char *node)
{
	struct vs_claim *h;

	HASH_FIND_STR(l->holds, node, h);
	return h;
}

int vs_ledger_take(struct vs_ledger *l, const struct vs_claim *hold,
		   struct vs_err *err)
{
	struct vs_claim *h;

	if (!hold->node[0] || !hold->host[0])
		return vs_err_set(err, VS_E_BUG,
				  "a claim needs a node and a host");
	h = vs_ledger_get(l, hold->node);
	if (h)
		return vs_err_set(err, VS_E_EXISTS,
				  "node %s already has a claim on host %s",
				  h->node, h->host);
	h = vs_calloc(1, sizeof(*h));
	*h = *hold;
	h->state = VS_CLAIM_RESERVED;
	HASH_ADD_STR(l->holds, node, h);
	join(l, h);
	return 0;
}

int vs_ledger_set_state(struct vs_ledger *l, struct vs_claim *h,
			enum vs_claim_state state)
{
	static const unsigned int next[] = {
		[VS_CLAIM_RESERVED] = 1u << VS_CLAIM_STARTING,
		[VS_CLAIM_STARTING] = 1u << VS_CLAIM_IN_USE |
				      1u << VS_CLAIM_RESERVED,
		[VS_CLAIM_IN_USE] = 0,
	};

	if (!(next[h->state] & 1u << state))
		return -1;
	h->state = state;
	hold_note(l, h);
	return 0;
}

bool vs_claim_is_on(const struct vs_claim *h, const struct vs_claim_vf *vfs,
		    int n)
{
	for (int i = 0; i < n && n == h->nvfs; i++) {
		if (strcmp(h->vfs[i].pf, vfs[i].pf))
			return false;
	}
	return n == h->nvfs;
}

const char *vs_claim_pfs(const struct vs_claim *h, char out[VS_PFS_LEN])
{
	size_t len = 0;

	out[0] = '\0';
	for (int i = 0; i < h->nvfs; i++) {
		out[len] = ',';
		len += i > 0;
		vs_strlcpy(out + len, h->vfs[i].pf, VS_PCI_LEN);
		len += strlen(out + len);
	}
	return out;
}

void vs_ledger_move(struct vs_ledger *l, struct vs_claim *h, const char *host,
		    const struct vs_claim_vf *vfs, int n)
{
	leave(l, h);
	vs_strlcpy(h->host, host, sizeof(h->host));
	for (int i = n; i < h->nvfs && !n; i++)
		h->vfs[i].automatic = true;
	for (int i = 0; i < n; i++) {
		if (i >= h->nvfs)
			h->vfs[i] = vfs[i];
		else if (vfs[i].pf[0])
			vs_strlcpy(h->vfs[i].pf, vfs[i].pf, VS_PCI_LEN);
		else
			h->vfs[i].automatic = true;
	}
	if (n)
		h->nvfs = n;
	join(l, h);
}

void vs_ledger_set_vm(struct vs_ledger *l, struct vs_claim *h, const char *vm)
{
	if (!strcmp(h->vm, vm))
		return;
	vs_strlcpy(h->vm, vm, sizeof(h->vm));
	hold_note(l, h);
}

void vs_ledger_set_store(struct vs_ledger *l, struct vs_claim *h,
			 const char *store, bool moves)
{
	if (!strcmp(h->store, store) && h->moves == moves)
		return;
	if (store != h->store)
		vs_strlcpy(h->store, store, sizeof(h->store));
	h->moves = moves;
	hold_note(l, h);
}

int vs_ledger_release(struct vs_ledger *l, const char *node)
{
	struct vs_claim *h = vs_ledger_get(l, node);

	if (!h)
		return -1;
	HASH_DEL(l->holds, h);
	leave(l, h);
	free(h);
	return 0;
}

/* ---- the sum ------------------------------------------------------------ */

static bool may_hide_vfs(const struct vs_vm *vm)
{
	if (vm->is_template || vm->power == VS_POWER_OFF ||
	    vm->power == VS_POWER_SUSPENDED)
		return false;
	return !vm->readable || vm->power == VS_POWER_UNKNOWN;
}

static int64_t max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void sum_start(const struct vs_host *h, struct vs_host_sum *s)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < h->npfs; i++)
		s->pf[i].total = h->pfs[i].vfs;
	s->cpu_free = vs_host_cpu_mhz(h);
	s->mem_free = h->memory_mb;
}

/* Of one NIC; returns the rows that it may be on. */
static uint32_t sum_nic(const struct vs_vm *vm, const struct vs_nic *c,
			 enum vs_owner owner, struct vs_host_sum *s)
{
	uint32_t mask = vs_nic_entries(vm->host_ptr, c);

	for (int i = 0; i < vm->host_ptr->npfs; i++) {
		if (!(mask & 1u << i)) {
			s->pf[i].crowded += vs_nic_takes(vm->host_ptr, mask,
							 i, c);
			continue;
		}
		if (vs_owner_is_managed(owner))
			s->pf[i].ours++;
		else if (owner == VS_OWNER_UNVERIFIED)
			s->pf[i].suspect++;
		else
			s->pf[i].foreign++;
		s->pf[i].beside += owner == VS_OWNER_OTHER_CLUSTER;
		s->beside += owner == VS_OWNER_OTHER_CLUSTER;
	}
	return mask;
}

static void sum_vm(const struct vs_vm *vm, const char *folder,
		   const char *cluster_id, struct vs_host_sum *s)
{
	const struct vs_host *h = vm->host_ptr;
	struct vs_share takes;
	enum vs_owner owner;
	uint32_t rows = 0;

	if (may_hide_vfs(vm))
		s->unknown = true;
	if (vm->power != VS_POWER_ON)
		return;
	vs_vm_share(vm, &takes);
	s->cpu_free -= takes.cpu_mhz;
	s->mem_free -= takes.mem_mb;
	s->cpu_given += max64(takes.cpu_mhz,
			      (int64_t)vm->vcpus * h->core_mhz);
	s->mem_given += max64(takes.mem_mb - vs_overhead_mb(vm->vcpus,
				vm->memory_mb), vm->memory_mb);
	s->vms++;
	owner = vs_vm_owner(vm, folder, cluster_id);
	for (int i = 0; i < vm->nnics; i++)
		rows |= sum_nic(vm, &vm->nics[i], owner, s);
	vs_sum_nodes(s, vs_entries_nodes(h, rows), 1, vm->memory_mb, vm->vcpus);
}

/* Its VFs but for those that this VM's NICs stand for, NULL: none do. */
static void sum_hold_vfs(const struct vs_host *h, const struct vs_claim *hold,
			 const struct vs_vm *vm, struct vs_host_sum *s)
{
	uint32_t masks[VS_NICS_MAX], rows = 0, had = 0;

	for (int c = 0; c < hold->nvfs; c++)
		masks[c] = vs_claim_entries(h, &hold->vfs[c]);
	for (int i = 0; i < h->npfs; i++) {
		int held = 0;
		uint32_t on = 0;

		for (int c = 0; c < hold->nvfs; c++) {
			held += vs_claim_takes(h, masks[c], i);
			on |= masks[c];
		}
		if (held && vm)
			held -= vs_vm_nics_on(vm, i);
		if (held <= 0)
			continue;
		if (!(on >> i & 1)) {
			s->pf[i].crowded += held;
			continue;
		}
		s->pf[i].held += held;
		rows |= 1u << i;
	}
	for (int i = 0; vm && i < vm->nnics; i++)
		had |= vs_nic_entries(h, &vm->nics[i]);
	vs_sum_nodes(s, vs_entries_nodes(h, rows) & ~vs_entries_nodes(h, had),
		     1, hold->mem_mb, hold->vcpus);
}

/* What of a hold no VM stands for yet, on the hold's own host. */
static void sum_hold(const struct vs_inventory *inv, const struct vs_host *h,
		     const struct vs_claim *hold, struct vs_host_sum *s)
{
	const struct vs_vm *vm =
		hold->vm[0] ? vs_vm_get(inv, hold->vm) : NULL;
	bool on = vm && vs_vm_shown_on(vm);
	/* a promise is kept for later, the others are for this very NIC */
	bool stands = on && (vm->host_ptr == h ||
			     hold->state != VS_CLAIM_RESERVED);

	if (hold->nvfs && !(stands && hold->state != VS_CLAIM_RESERVED &&
			      vs_vm_has_nics(vm, h, hold)))
		sum_hold_vfs(h, hold, stands && hold->state ==
			     VS_CLAIM_RESERVED ? vm : NULL, s);
	if (stands)
		return;
	s->cpu_free -= hold->cpu_mhz;
	s->mem_free -= hold->mem_mb;
	s->cpu_given += max64(hold->cpu_mhz,
			      (int64_t)hold->vcpus * h->core_mhz);
	s->mem_given += max64(hold->mem_mb, hold->memory_mb);
	s->vms++;
}

static void sum_end(const struct vs_host *h, struct vs_host_sum *s)
{
	for (int i = 0; i < h->npfs; i++) {
		struct vs_pf_use *u = &s->pf[i];

		u->free = u->total - u->ours - u->foreign - u->suspect -
			  u->held - u->crowded;
		u->unknown = s->unknown;
	}
}

static const struct vs_gone *gone_get(const struct vs_gone *gone,
				      const char *node)
{
	const struct vs_gone *g;

	HASH_FIND_STR(gone, node, g);
	return g;
}

void vs_ledger_sum_without(const struct vs_ledger *l,
			   const struct vs_inventory *inv,
			   const struct vs_host *h, const char *folder,
			   const char *cluster_id, const struct vs_gone *gone,
			   struct vs_host_sum *sum)
{
	const struct vs_host_claims *of = holds_of(l, h->moid);
	const struct vs_claim *hold;
	const struct vs_vm *vm;

	sum_start(h, sum);
	LIST_FOREACH(vm, &h->vms, on_host) {
		const struct vs_gone *g = gone_get(gone, vm->name);

		if (g && g->vm == vm)
			continue;
		sum_vm(vm, folder, cluster_id, sum);
		sum->strangers += vs_vm_is_foreign(vm, folder, cluster_id);
	}
	if (of) {
		LIST_FOREACH(hold, &of->list, on_host)
			if (!gone_get(gone, hold->node))
				sum_hold(inv, h, hold, sum);
	}
	sum_end(h, sum);
}

void vs_ledger_sum(const struct vs_ledger *l, const struct vs_inventory *inv,
		   const struct vs_host *h, const char *folder,
		   const char *cluster_id, struct vs_host_sum *sum)
{
	vs_ledger_sum_without(l, inv, h, folder, cluster_id, NULL, sum);
}

void vs_ledger_pf_use(const struct vs_ledger *l, const struct vs_inventory *inv,
		      const struct vs_host *h, const struct vs_pf *pf,
		      const char *folder, const char *cluster_id,
		      struct vs_pf_use *out)
{
	struct vs_host_sum s;

	memset(out, 0, sizeof(*out));
	vs_ledger_sum(l, inv, h, folder, cluster_id, &s);
	for (int i = 0; i < h->npfs; i++) {
		if (!strcmp(h->pfs[i].pci, pf->pci))
			*out = s.pf[i];
	}
}
