/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A NIC or device of a VM as vCenter shows it. vcenter/decode fills it, and the
 * inventory of plan keeps a copy: neither of the two sees the other.
 */
#ifndef VS_UTIL_NIC_H
#define VS_UTIL_NIC_H

#include <stdbool.h>
#include <stdint.h>
#include "util/name.h"

#define VS_NAME_LEN 64		/* Slurm node, adapter, partition names */
#define VS_MOID_LEN 80		/* vCenter's object ids */
#define VS_LABEL_LEN 128	/* vCenter's display names */

enum vs_nic_type { VS_NIC_OTHER, VS_NIC_ETHERNET, VS_NIC_VMXNET3,
		    VS_NIC_PVRDMA, VS_NIC_SRIOV, VS_NIC_PCI_FIXED,
		    VS_NIC_PCI_DYNAMIC, VS_NIC_PCI_DVX, VS_NIC_PCI_VGPU };

struct vs_nic {
	enum vs_nic_type kind;
	int key;
	char mac[VS_MAC_LEN];
	/* The key of the port group, or the moId of a standard network. Of a device
	 * its label, class or profile. */
	char network[VS_MOID_LEN];
	uint16_t vendor, device;	/* of a dynamic device, 0: several */
	char switch_uuid[VS_LABEL_LEN];
	/* sriov: the PF, "" while an automatic one is not resolved;
	 * fixed passthrough: the device's own address (may be a VF's). */
	char pci[VS_PCI_LEN];
	bool automatic;
	bool mtu_change_allowed;
};

/* A passthrough device. In a managed VM slurm-vsphere has added it. */
static inline bool vs_nic_is_device(const struct vs_nic *c)
{
	return c->kind == VS_NIC_PCI_FIXED || c->kind == VS_NIC_PCI_DYNAMIC ||
	       c->kind == VS_NIC_PCI_DVX || c->kind == VS_NIC_PCI_VGPU;
}

#endif
