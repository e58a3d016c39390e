/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node's NICs on its adapter's network: NICsPerNode= of them (devices have none:
 * see host_devices.c), each known by its
 * MAC, which is the node's for good; the k-th NIC takes its VF of the k-th PF
 * that is held, in the order of their addresses.
 *
 * Rules: NICs with other MACs are not managed. The lock is held.
 */
#include <stdio.h>
#include <string.h>
#include "engine/state/state.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"

static bool network_is(const struct vs_network *net, const struct vs_nic *nic)
{
	return !strcmp(nic->network, net->moid) ||
	       (net->portgroup_key[0] &&
		!strcmp(nic->network, net->portgroup_key));
}

int vs_node_nic(const struct vs_node *n, const struct vs_nic *nic)
{
	for (int k = 0; k < vs_adapter_nics(n->profile->adapter); k++)
		if (!strcasecmp(nic->mac, n->macs[k]))
			return k;
	return -1;
}

const char *vs_node_macs(const struct vs_node *n, char out[VS_MACS_LEN])
{
	size_t len = 0;

	out[0] = '\0';
	for (int k = 0; k < vs_adapter_nics(n->profile->adapter); k++)
		len += (size_t)snprintf(out + len, VS_MACS_LEN - len, "%s%s",
					k ? "," : "", n->macs[k]);
	return out;
}

/* Off: the NIC must be able to land on the PF that is held for it. */
static bool nic_lands(const struct vs_nic *nic,
		       const struct vs_claim_vf *held)
{
	return nic->automatic ? held->automatic :
		!held->automatic && !strcmp(nic->pci, held->pf);
}

bool vs_node_nics_right(const struct vs_node *n, const struct vs_vm *vm,
			const struct vs_claim *h)
{
	int want = vs_adapter_nics(n->profile->adapter), count = 0, k;
	unsigned int found = 0;

	for (int i = 0; i < vm->nnics; i++) {
		const struct vs_nic *nic = &vm->nics[i];

		k = vs_node_nic(n, nic);
		if (k < 0)
			continue;
		if (nic->kind !=
			    vs_adapter_type_info(n->profile->adapter)->nic ||
		    !network_is(n->net, nic))
			return false;
		found |= 1u << k;
		count++;
		if (nic->kind == VS_NIC_SRIOV && vm->power != VS_POWER_ON &&
		    h && (k >= h->nvfs || !nic_lands(nic, &h->vfs[k])))
			return false;
	}
	return count == want && found == (1u << want) - 1 &&
	       vs_node_devices_right(n, vm, h);
}

int vs_node_nics(const struct vs_node *n, const struct vs_vm *vm,
		 struct vs_claim_vf to[VS_NICS_MAX])
{
	int count = 0;

	memset(to, 0, VS_NICS_MAX * sizeof(*to));
	for (int k = 0; k < vs_adapter_nics(n->profile->adapter); k++)
		for (int i = 0; i < vm->nnics; i++)
			if (vm->nics[i].kind == VS_NIC_SRIOV &&
			    !strcasecmp(vm->nics[i].mac, n->macs[k])) {
				vs_strlcpy(to[count++].pf, vm->nics[i].pci,
					   VS_PCI_LEN);
				break;
			}
	vs_node_devices(n, vm, to, &count);
	return count;
}

/* Others run on a VM that isn't right any more: of an older profile, say. It
 * serves one more, but not without its NIC. */
bool vs_node_shared_well(struct vs_core *c, const struct vs_node *n)
{
	const struct vs_vm *vm = vs_node_vm(c, n);

	return vm && vs_job_runs(n) && !vs_node_is(n, VS_COND_POWER_CYCLE) &&
	       vs_node_nics_right(n, vm,
				  vs_ledger_get(&c->ledger, n->name));
}
