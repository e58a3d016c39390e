/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The capability table: what each kind of adapter allows and demands, and from
 * which release of vSphere on.
 *
 * Rules: one row per type, every operation named; a new type is a new row and
 * nothing else here. Never knows a name or a network of a site.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "plan/devices/adapter_type.h"
#include "util/mem.h"

#define NEVER { 0, false }
#define ALWAYS { 1, false }
#define FROM(major, minor, update) { VS_RELEASE(major, minor, update), false }
#define VENDOR(major, minor, update) { VS_RELEASE(major, minor, update), true }

const char *const vs_operation_names[VS_OPERATIONS] = {
	[VS_OPERATION_VMOTION] = "vmotion",
	[VS_OPERATION_SNAPSHOT] = "snapshot",
	[VS_OPERATION_HA] = "ha",
	[VS_OPERATION_DRS_PLACE] = "drs-place",
	[VS_OPERATION_DRS_MOVE] = "drs-move",
	[VS_OPERATION_HOT_ADD] = "hot-add",
	[VS_OPERATION_INSTANT] = "instant",
};

const struct vs_adapter_type_info vs_adapter_kinds[VS_ADAPTER_TYPES] = {
	/* Emulated: no pinning, nothing forbidden. Hardware version 7 brought
	 * it (vSphere's adapter type table). Instant clones from 6.7; devices
	 * whose state isn't in the VM's memory forbid them (InstantClone_Task:
	 * DisallowedMigrationDeviceAttached). */
	[VS_ADAPTER_VMXNET3] = {
		.name = "vmxnet3", .offered = true,
		.takes_vf = false, .full_memory = false,
		.network = true, .needs_dvs = false, .rdma = false,
		.nic = VS_NIC_VMXNET3,
		.since = VS_RELEASE(4, 0, 0), .min_hw = 7,
		.can = {
			[VS_OPERATION_VMOTION] = ALWAYS, [VS_OPERATION_SNAPSHOT] = ALWAYS,
			[VS_OPERATION_HA] = ALWAYS,
			[VS_OPERATION_DRS_PLACE] = ALWAYS,
			[VS_OPERATION_DRS_MOVE] = ALWAYS,
			[VS_OPERATION_HOT_ADD] = ALWAYS,
			[VS_OPERATION_INSTANT] = FROM(6, 7, 0),
		},
	},
	/* Hardware version 13, a distributed port group only, no hot-add;
	 * vMotion and snapshots work (vsphere-networking, PVRDMA support). Of
	 * instant clones nothing is documented: no. */
	[VS_ADAPTER_PVRDMA] = {
		.name = "pvrdma", .offered = true,
		.takes_vf = false, .full_memory = false,
		.network = true, .needs_dvs = true, .rdma = true,
		.nic = VS_NIC_PVRDMA,
		.since = VS_RELEASE(6, 5, 0), .min_hw = 13,
		.can = {
			[VS_OPERATION_VMOTION] = ALWAYS, [VS_OPERATION_SNAPSHOT] = ALWAYS,
			[VS_OPERATION_HA] = ALWAYS,
			[VS_OPERATION_DRS_PLACE] = ALWAYS,
			[VS_OPERATION_DRS_MOVE] = ALWAYS,
			[VS_OPERATION_HOT_ADD] = NEVER,
			[VS_OPERATION_INSTANT] = NEVER,
		},
		.needs = "guest kernel 4.6+, RDMA-tagged vmkernel adapter",
	},
	/* Guest memory is pinned for DMA: all of it reserved (enforced from
	 * 6.5). No migration, snapshot, hot-add (SR-IOV support,
	 * vsphere-networking); assignable hardware, which DRS places and HA
	 * restarts, from 8.0 U2. Virtual machines of ESXi 5.5 and later. */
	[VS_ADAPTER_SRIOV] = {
		.name = "sriov", .offered = true,
		.takes_vf = true, .unit = "VF", .full_memory = true,
		.network = true, .needs_dvs = false, .rdma = true,
		.infiniband = true,
		.nic = VS_NIC_SRIOV,
		.since = VS_RELEASE(5, 5, 0), .min_hw = 10,
		.can = {
			[VS_OPERATION_VMOTION] = NEVER, [VS_OPERATION_SNAPSHOT] = NEVER,
			[VS_OPERATION_HA] = FROM(8, 0, 2),
			[VS_OPERATION_DRS_PLACE] = FROM(8, 0, 2),
			[VS_OPERATION_DRS_MOVE] = NEVER, [VS_OPERATION_HOT_ADD] = NEVER,
			[VS_OPERATION_INSTANT] = NEVER,
		},
		.needs = "a free VF of a PF that is an uplink of the network",
	},
	/* The device itself, named by its address: its VM is bound to the host
	 * (DirectPath I/O, vm-admin). */
	[VS_ADAPTER_DIRECTPATH] = {
		.name = "directpath", .offered = true,
		.takes_vf = true, .unit = "device", .full_memory = true,
		.network = false, .needs_dvs = false, .rdma = false,
		.nic = VS_NIC_PCI_FIXED, .fixed = true,
		.since = VS_RELEASE(4, 0, 0), .min_hw = 7,
		.can = {
			[VS_OPERATION_VMOTION] = NEVER, [VS_OPERATION_SNAPSHOT] = NEVER,
			[VS_OPERATION_HA] = NEVER,
			[VS_OPERATION_DRS_PLACE] = NEVER, [VS_OPERATION_DRS_MOVE] = NEVER,
			[VS_OPERATION_HOT_ADD] = NEVER,
			[VS_OPERATION_INSTANT] = NEVER,
		},
		.needs = "a free device with passthrough enabled",
	},
	/* Any device of a vendor, a device id and perhaps a label: assignable
	 * hardware (7.0, hardware version 17; labels from 7.0 U2). */
	[VS_ADAPTER_DYNAMIC] = {
		.name = "dynamic-directpath", .offered = true,
		.takes_vf = true, .unit = "device", .full_memory = true,
		.network = false, .needs_dvs = false, .rdma = false,
		.nic = VS_NIC_PCI_DYNAMIC,
		.since = VS_RELEASE(7, 0, 0), .min_hw = 17,
		.can = {
			[VS_OPERATION_VMOTION] = NEVER, [VS_OPERATION_SNAPSHOT] = NEVER,
			[VS_OPERATION_HA] = FROM(7, 0, 0),
			[VS_OPERATION_DRS_PLACE] = FROM(7, 0, 0),
			[VS_OPERATION_DRS_MOVE] = NEVER, [VS_OPERATION_HOT_ADD] = NEVER,
			[VS_OPERATION_INSTANT] = NEVER,
		},
		.needs = "a free device of its vendor and device id",
	},
	/* Device virtualization extensions, "Enhanced DirectPath I/O": what the
	 * vendor's driver implements (8.0, hardware version 20). */
	[VS_ADAPTER_DVX] = {
		.name = "dvx", .offered = true,
		.takes_vf = true, .unit = "device", .full_memory = true,
		.network = false, .needs_dvs = false, .rdma = true,
		.nic = VS_NIC_PCI_DVX, .by_class = true,
		.since = VS_RELEASE(8, 0, 0), .min_hw = 20,
		.can = {
			[VS_OPERATION_VMOTION] = VENDOR(8, 0, 0),
			[VS_OPERATION_SNAPSHOT] = VENDOR(8, 0, 0),
			[VS_OPERATION_HA] = FROM(8, 0, 0),
			[VS_OPERATION_DRS_PLACE] = FROM(8, 0, 0),
			[VS_OPERATION_DRS_MOVE] = VENDOR(8, 0, 0),
			[VS_OPERATION_HOT_ADD] = NEVER,
			[VS_OPERATION_INSTANT] = NEVER,
		},
		.needs = "the vendor's driver on the host, a device class",
	},
	/* A share of a GPU, by the vendor's profile: vMotion from 6.7 U1; DRS
	 * doesn't move it by itself. */
	[VS_ADAPTER_VGPU] = {
		.name = "vgpu", .offered = true,
		.takes_vf = true, .unit = "vGPU", .full_memory = true,
		.network = false, .needs_dvs = false, .rdma = false,
		.nic = VS_NIC_PCI_VGPU, .by_profile = true,
		.since = VS_RELEASE(6, 0, 0), .min_hw = 11,
		.can = {
			[VS_OPERATION_VMOTION] = FROM(6, 7, 1),
			[VS_OPERATION_SNAPSHOT] = VENDOR(6, 7, 0),
			[VS_OPERATION_HA] = FROM(6, 5, 0),
			[VS_OPERATION_DRS_PLACE] = FROM(6, 7, 0),
			[VS_OPERATION_DRS_MOVE] = NEVER, [VS_OPERATION_HOT_ADD] = NEVER,
			[VS_OPERATION_INSTANT] = NEVER,
		},
		.needs = "the vendor's manager on the host, GPUs in mode \"shared direct\", a profile",
	},
};

bool vs_adapter_can(enum vs_adapter_type type, enum vs_operation deed,
		    int release)
{
	const struct vs_can *can = &vs_adapter_kinds[type].can[deed];

	return can->from && !can->vendor && (!release || release >= can->from);
}

int vs_adapter_hw(const struct vs_adapter *a)
{
	int hw = vs_adapter_type_info(a)->min_hw;

	return a->with && vs_adapter_type_info(a->with)->min_hw > hw ?
		vs_adapter_type_info(a->with)->min_hw : hw;
}

/* One window for all of them: a power of two that holds both, the size that
 * VMware asks for (Broadcom KB 323402). */
int vs_adapter_mmio(const struct vs_adapter *a)
{
	int all = a->mmio_gb + (a->with ? a->with->mmio_gb : 0), size = 1;

	while (all && size < all)
		size *= 2;
	return all ? size : 0;
}

bool vs_adapter_p2p(const struct vs_adapter *a)
{
	return vs_adapter_type_info(a)->rdma && vs_adapter_additional(a) > 0;
}

bool vs_adapter_relaxes_acs(const struct vs_adapter *a)
{
	return vs_adapter_p2p(a) && !a->strict_acs;
}

const char *vs_release_words(int release, char out[VS_RELEASE_LEN])
{
	int update = release % 100;

	snprintf(out, VS_RELEASE_LEN, update ? "%d.%dU%d" : "%d.%d",
		 release / 10000 % 100, release / 100 % 100, update);
	return out;
}

const char *vs_can_words(const struct vs_can *can, char out[VS_RELEASE_LEN])
{
	if (!can->from || can->vendor || can->from <= VS_RELEASE_OLDEST) {
		vs_strlcpy(out, !can->from ? "no" : can->vendor ? "vendor" :
			   "yes", VS_RELEASE_LEN);
		return out;
	}
	vs_release_words(can->from, out);
	out[strlen(out) + 1] = '\0';
	out[strlen(out)] = '+';
	return out;
}

int vs_adapter_type_parse(const char *s, enum vs_adapter_type *out,
			  struct vs_err *err)
{
	char known[120] = "";
	size_t len = 0;

	for (int i = 0; i < VS_ADAPTER_TYPES; i++) {
		const struct vs_adapter_type_info *k = &vs_adapter_kinds[i];

		if (s && !strcasecmp(s, k->name) && k->offered) {
			*out = i;
			return 0;
		}
		if (k->offered)
			len += (size_t)snprintf(known + len,
						sizeof(known) - len, "%s%s",
						len ? ", " : "", k->name);
	}
	return vs_err_set(err, VS_E_CONFIG,
			  "\"%.40s\" is not an adapter type: expected one of %s",
			  s ? s : "", known);
}
