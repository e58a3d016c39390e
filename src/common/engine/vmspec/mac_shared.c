/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MACs that another VM has too. A node's MACs follow from the cluster's id and
 * its name (util/name.c vs_mac_make), 22 bits in the range that vCenter leaves
 * to addresses made by hand: another Slurm cluster's VM, or any other VM, may
 * have the same one.
 *
 * Rules: it is told, and no other MAC is chosen. A choice that depended on what
 * vCenter shows would change with each restart, two Slurm clusters would make way
 * for each other again and again, and each change reconfigures a VM.
 */
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include "engine/state/state.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"

#define OURS_LEN 9	/* "00:50:56:" */

struct mac {
	char mac[VS_MAC_LEN];
	const struct vs_node *node;
	UT_hash_handle hh;
};

static void mac_add(struct mac **all, const char *mac, const struct vs_node *n)
{
	struct mac *m = vs_calloc(1, sizeof(*m));

	vs_strlcpy(m->mac, mac, sizeof(m->mac));
	m->node = n;
	HASH_ADD_STR(*all, mac, m);
}

static void macs_free(struct mac *all)
{
	struct mac *m, *tmp;

	HASH_ITER(hh, all, m, tmp) {
		HASH_DEL(all, m);
		free(m);
	}
}

/* A MAC of a node's VM could be this one. */
static bool by_hand(const struct vs_nic *nic)
{
	return !strncmp(nic->mac, "00:50:56:", OURS_LEN) &&
	       nic->mac[OURS_LEN] >= '0' && nic->mac[OURS_LEN] <= '3';
}

static bool is_other(const struct vs_core *c, const struct vs_vm *vm)
{
	return !vs_owner_is_managed(vs_vm_owner(vm, c->folder, c->cluster_id));
}

bool vs_mac_may_be_shared(const struct vs_core *c, const struct vs_vm *vm)
{
	for (int i = 0; i < vm->nnics; i++)
		if (by_hand(&vm->nics[i]))
			return is_other(c, vm);
	return false;
}

static void found(const struct vs_node *n,
		  const struct vs_vm *vm, const char *mac)
{
	/* names are read of VMs in the cluster's folder alone */
	const char *name = vm->name[0] ? vm->name : vm->moid;
	VS_FREE char *is = vs_asprintf("VM %s has %s too", name, mac);
	VS_FREE char *fix = vs_asprintf("govc object.collect -s VirtualMachine:%s name\t# which VM that is: give it another MAC address (Edit Settings)\nslurm.conf: or give node %s another name",
					name, n->name);

	vs_finding_add(
		VS_STOPS_NOTHING,
		&(struct vs_says) { VS_CHECK_MAC_SHARED, n->name, is,
				    "a unique MAC address", fix },
		"node %s: VM %s, which this cluster does not manage, has its MAC %s: on a common network neither is reached reliably",
		n->name, name, mac);
}

void vs_macs_check(struct vs_core *c)
{
	struct mac *all = NULL, *m;

	for (const struct vs_vm *vm = c->inv.vms; vm; vm = vm->hh.next) {
		if (vm->is_template || !vs_mac_may_be_shared(c, vm))
			continue;
		for (size_t i = 0; !all && i < c->nnodes; i++) {
			const struct vs_node *n = &c->nodes[i];

			mac_add(&all, n->mgmt_mac, n);
			for (int k = 0;
			     k < vs_adapter_total(n->profile->adapter); k++)
				mac_add(&all, n->macs[k], n);
		}
		for (int i = 0; i < vm->nnics; i++) {
			HASH_FIND_STR(all, vm->nics[i].mac, m);
			if (m)
				found(m->node, vm, m->mac);
		}
	}
	macs_free(all);
}
