/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A card or device of a VM as vCenter shows it. vcenter/decode fills it, and the
 * inventory of plan keeps a copy: neither of the two sees the other.
 */
#ifndef VS_UTIL_CARD_H
#define VS_UTIL_CARD_H

#include <stdbool.h>
#include <stdint.h>
#include "util/name.h"

#define VS_NAME_LEN 64		/* Slurm node, adapter, partition names */
#define VS_MOID_LEN 80		/* vCenter's object ids */
#define VS_LABEL_LEN 128	/* vCenter's display names */

enum vs_card_kind { VS_CARD_OTHER, VS_CARD_ETHERNET, VS_CARD_VMXNET3,
		    VS_CARD_PVRDMA, VS_CARD_SRIOV, VS_CARD_PCI_FIXED,
		    VS_CARD_PCI_DYNAMIC, VS_CARD_PCI_DVX, VS_CARD_PCI_VGPU };

struct vs_card {
	enum vs_card_kind kind;
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

#endif
