/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node's cards on its adapter's network: NICsPerNode= of them (devices have none:
 * see host_devices.c), each known by its
 * MAC, which is the node's for good; the k-th card takes its VF of the k-th PF
 * that is held, in the order of their addresses.
 *
 * Rules: NICs with other MACs are not managed. The lock is held.
 */
#include <stdio.h>
#include <string.h>
#include "engine/state/state.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"

static bool network_is(const struct vs_network *net, const struct vs_nic *card)
{
	return !strcmp(card->network, net->moid) ||
	       (net->portgroup_key[0] &&
		!strcmp(card->network, net->portgroup_key));
}

int vs_node_nic(const struct vs_node *n, const struct vs_nic *card)
{
	for (int k = 0; k < vs_adapter_nics(n->profile->adapter); k++)
		if (!strcasecmp(card->mac, n->macs[k]))
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

/* Off: the card must be able to land on the PF that is held for it. */
static bool card_lands(const struct vs_nic *card,
		       const struct vs_claim_vf *held)
{
	return card->automatic ? held->automatic :
		!held->automatic && !strcmp(card->pci, held->pf);
}

bool vs_node_nics_right(const struct vs_node *n, const struct vs_vm *vm,
			const struct vs_claim *h)
{
	int want = vs_adapter_nics(n->profile->adapter), count = 0, k;
	unsigned int found = 0;

	for (int i = 0; i < vm->ncards; i++) {
		const struct vs_nic *card = &vm->cards[i];

		k = vs_node_nic(n, card);
		if (k < 0)
			continue;
		if (card->kind !=
			    vs_adapter_type_info(n->profile->adapter)->card ||
		    !network_is(n->net, card))
			return false;
		found |= 1u << k;
		count++;
		if (card->kind == VS_NIC_SRIOV && vm->power != VS_POWER_ON &&
		    h && (k >= h->ncards || !card_lands(card, &h->cards[k])))
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
		for (int i = 0; i < vm->ncards; i++)
			if (vm->cards[i].kind == VS_NIC_SRIOV &&
			    !strcasecmp(vm->cards[i].mac, n->macs[k])) {
				vs_strlcpy(to[count++].pf, vm->cards[i].pci,
					   VS_PCI_LEN);
				break;
			}
	vs_node_devices(n, vm, to, &count);
	return count;
}

/* Others run on a VM that isn't right any more: of an older profile, say. It
 * serves one more, but not without its card. */
bool vs_node_shared_well(struct vs_core *c, const struct vs_node *n)
{
	const struct vs_vm *vm = vs_node_vm(c, n);

	return vm && vs_job_runs(n) && !vs_node_is(n, VS_COND_POWER_CYCLE) &&
	       vs_node_nics_right(n, vm,
				  vs_ledger_get(&c->ledger, n->name));
}
