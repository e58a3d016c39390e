/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A VM's hardware beside its NICs: what vsphere.conf says of it, what goes
 * into a spec, and what of it hangs on the host. A full CPU reservation is
 * vCPUs x the MHz of that host's cores, NUMA affinity its PFs' nodes: a VM that
 * comes to another host is reconfigured for it before it is powered on.
 *
 * Rules: what is not said is the template's, or vCenter's default where a VM
 * can't be asked what the template had. The lock is held.
 */
#include <string.h>
#include "engine/state/state.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"

static enum vs_hw_word word_of(const char *word)
{
	return !word ? VS_HW_TEMPLATE : !strcasecmp(word, "yes") ?
		VS_HW_YES : VS_HW_NO;
}

void vs_hardware_set(struct vs_profile *p, const struct vs_conf_partition *part)
{
	p->hw = (struct vs_hardware) {
		.cpu_mhz = p->latency_high ? 0 : part->cpu_reservation,
		.cpu_shares = part->cpu_shares,
		.mem_shares = part->memory_shares,
		.cores_per_socket = part->cores_per_socket,
		.secure_boot = word_of(part->secure_boot),
		.numa_pf = part->numa_affinity &&
			!strcasecmp(part->numa_affinity, "pf"),
	};
	if (!vs_profile_mem_locked(p))
		p->hw.mem_mb = part->memory_reservation;
}

void vs_hardware_template(struct vs_profile *p, const struct vs_vc_template *t)
{
	p->template_cores = t->cores_per_socket;
	p->template_secure = t->secure_boot == VS_VC_AUTO_YES ? VS_HW_YES :
		t->secure_boot == VS_VC_AUTO_NO ? VS_HW_NO : VS_HW_TEMPLATE;
}

static enum vs_vc_auto secure(enum vs_hw_word s)
{
	return s == VS_HW_YES ? VS_VC_AUTO_YES :
		s == VS_HW_NO ? VS_VC_AUTO_NO : VS_VC_AUTO_UNKNOWN;
}

void vs_hardware_fill(const struct vs_core *c, const struct vs_node *n,
		      const struct vs_claim *h, struct vs_vc_hw *hw)
{
	const struct vs_profile *p = n->profile;
	const struct vs_host *host = vs_host_get(&c->inv, h->host);

	hw->exact = true;
	hw->vcpus = p->vcpus;
	hw->cores_per_socket = p->hw.cores_per_socket;
	if (!hw->cores_per_socket && p->template_cores > 0 &&
	    p->vcpus % p->template_cores)
		hw->cores_per_socket = 1;	/* vCenter refuses what doesn't
						 * divide them */
	hw->memory_mb = p->memory_mb;
	hw->memory_locked = vs_profile_mem_locked(p);
	hw->mem_reserved_mb = vs_profile_reserved_mb(p);
	hw->mem_shares = p->hw.mem_shares;
	hw->cpu_shares = p->hw.cpu_shares;
	hw->latency_high = p->latency_high;
	hw->cold = vs_profile_cold(p);
	hw->secure_boot = secure(p->hw.secure_boot);
	if (host)
		hw->cpu_reserved_mhz = vs_profile_cpu_mhz(p, host->core_mhz);
}

void vs_hardware_again(const struct vs_profile *p, struct vs_vc_hw *hw)
{
	if (!hw->cores_per_socket)
		hw->cores_per_socket = p->template_cores;
	if (p->hw.secure_boot == VS_HW_TEMPLATE)
		hw->secure_boot = secure(p->template_secure);
}

const char *vs_hardware_numa(const struct vs_core *c, const struct vs_node *n,
			     const struct vs_claim *h, char out[VS_NUMA_LEN])
{
	const struct vs_host *host = h ? vs_host_get(&c->inv, h->host) : NULL;
	const char *pcis[VS_NICS_MAX];
	int many = vs_adapter_vfs(n->profile->adapter);

	out[0] = '\0';
	if (!host || !n->profile->hw.numa_pf)
		return out;
	for (int i = 0; i < many && i < h->nvfs; i++)
		pcis[i] = h->vfs[i].pf;
	return many <= h->nvfs ? vs_numa_nodes(host, pcis, many, out) : out;
}

static bool numa_right(const struct vs_core *c, const struct vs_node *n,
		       const struct vs_vm *vm, const struct vs_claim *h)
{
	char want[VS_NUMA_LEN];

	if (!h || !n->profile->hw.numa_pf)
		return true;
	return !strcmp(vm->numa, vs_hardware_numa(c, n, h, want));
}

/* Too much is as wrong as too little: the VM would take what its hold doesn't
 * count, and more than its vCPUs can have of slower cores. */
static bool cpu_right(const struct vs_node *n, const struct vs_vm *vm)
{
	if (!vs_profile_reserves_cpu(n->profile) || !vm->host_ptr)
		return true;
	return vm->cpu_reserved_mhz ==
		vs_profile_cpu_mhz(n->profile, vm->host_ptr->core_mhz);
}

bool vs_hardware_right(const struct vs_core *c, const struct vs_node *n,
		       const struct vs_vm *vm, const struct vs_claim *h)
{
	return cpu_right(n, vm) && numa_right(c, n, vm, h);
}

bool vs_hardware_settled(struct vs_core *c, const struct vs_node *n,
			 const struct vs_vm *vm)
{
	const struct vs_claim *h = vs_ledger_get(&c->ledger, n->name);

	if (strcmp(vm->host, n->op.host) && !vs_vm_bound(vm))
		return true;
	if (h && strcmp(h->host, n->op.host))
		h = NULL;		/* it is to be elsewhere by now */
	return vs_node_vm_right(c, n, vm, n->claims.job, n->claims.restart) &&
		vs_hardware_right(c, n, vm, h);
}
