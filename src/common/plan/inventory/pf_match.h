/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The network that an adapter's NICs connect to, and the PFs and devices of a
 * host that serve its VMs. Pure functions of their arguments, without errors.
 */
#ifndef VS_PLAN_PF_MATCH_H
#define VS_PLAN_PF_MATCH_H

#include "plan/inventory/inventory.h"

struct vs_network {		/* where an adapter's NICs connect */
	char moid[VS_MOID_LEN];
	char switch_uuid[VS_LABEL_LEN];	/* "" for a standard switch */
	char portgroup_key[VS_MOID_LEN];
	bool nsx, opaque;		/* NSX's: see engine/checks/networks.c */
	unsigned int accepts;		/* VS_VC_ACCEPTS_*, see engine/checks/networks.c */
};

/* How many VMs find that many VFs each, with rails on as many PFs? */
int vs_rails_capacity(const int *free, int npfs, int vfs, bool rails);

/* How many VMs of an adapter with VFs do all VFs of the host's PFs serve? */
int vs_host_vf_vms(const struct vs_host *h, const struct vs_adapter *a,
		   const struct vs_network *net);

/* Does the adapter's port group reach the host? One of devices has none, and
 * needs none. net may be NULL: it is not known. */
bool vs_host_on_net(const struct vs_host *h, const struct vs_adapter *a,
		    const struct vs_network *net);
/* Is this PF one by which a VF of the adapter gets on its network, or the row
 * one of its devices? */
bool vs_pf_reaches(const struct vs_adapter *a, const struct vs_network *net,
		   const struct vs_pf *pf);

/* The same of all that its VMs take: what is beside it counts too. */
bool vs_pf_serves(const struct vs_adapter *a, const struct vs_network *net,
		  const struct vs_pf *pf);

#endif
