/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adapters: the kinds of network device a VM can get, and what each kind
 * allows and demands (one table, vs_adapter_kinds; sources: VMware's
 * documentation as collected per type in the table's comments).
 */
#ifndef VS_PLAN_ADAPTER_H
#define VS_PLAN_ADAPTER_H

#include <stdbool.h>
#include <stdint.h>
#include "util/name.h"
#include "util/ipv4.h"

#define VS_NAME_LEN 64		/* Slurm node, adapter, partition names */
#define VS_MOID_LEN 80		/* vCenter's object ids */
#define VS_LABEL_LEN 128	/* vCenter's display names */
#define VS_CARDS_MAX 8		/* cards of one VM, vsphere.conf's PerNode= */

enum vs_adapter_type {
	VS_ADAPTER_VMXNET3,
	VS_ADAPTER_PVRDMA,
	VS_ADAPTER_SRIOV,
	VS_ADAPTER_TYPES
};

struct vs_adapter_kind {
	const char *name;		/* as in vsphere.conf's Type= */
	bool takes_vf;			/* one VF of a PF per card */
	bool full_memory;		/* memory reserved in full, or no power-on */
	bool needs_dvs;			/* a distributed port group */
	bool rdma;
	bool hot_add, vmotion, snapshot, suspend, ha;
	bool drs_moves;			/* DRS may move a powered-on VM */
	int min_hw;			/* VM hardware version */
};

extern const struct vs_adapter_kind vs_adapter_kinds[VS_ADAPTER_TYPES];

/* -1 with the list of known names in err. */
int vs_adapter_type_parse(const char *s, enum vs_adapter_type *out,
			  struct vs_err *err);

enum vs_link_layer { VS_LINK_ETHERNET, VS_LINK_INFINIBAND };

struct vs_adapter {
	char name[VS_NAME_LEN];		/* it is the Slurm feature too */
	enum vs_adapter_type type;
	enum vs_link_layer link;
	char network[VS_LABEL_LEN];	/* port group */
	char pf[VS_PCI_LEN];		/* named PF, or "" for automatic */
	int per_node;			/* cards of each VM; 0 is 1 */
	bool rails;			/* each on a PF of its own */
	int mtu;			/* 0: as the network has it */
	char subnet[VS_IPV4_POOLS_LEN];	/* of the cards' addresses, or "" */
};

static inline int vs_adapter_cards(const struct vs_adapter *a)
{
	return a->per_node > 1 ? a->per_node : 1;
}
/* VFs that one VM takes. */
static inline int vs_adapter_vfs(const struct vs_adapter *a)
{
	return vs_adapter_kinds[a->type].takes_vf ? vs_adapter_cards(a) : 0;
}

#endif
