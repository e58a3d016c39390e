/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The capability table: what each kind of adapter allows and demands.
 *
 * Rules: one row per kind, every column set; a new kind is a new row and
 * nothing else here. Never knows a name or a network.
 */
#include <stdio.h>
#include <strings.h>
#include "plan/adapter.h"
#include "util/mem.h"

const struct vs_adapter_kind vs_adapter_kinds[VS_ADAPTER_TYPES] = {
	/* Emulated: no pinning, nothing forbidden. Hardware version 7 brought
	 * it (vSphere's adapter type table). */
	[VS_ADAPTER_VMXNET3] = {
		.name = "vmxnet3",
		.takes_vf = false, .full_memory = false, .needs_dvs = false,
		.rdma = false,
		.hot_add = true, .vmotion = true, .snapshot = true,
		.suspend = true, .ha = true, .drs_moves = true,
		.min_hw = 7,
	},
	/* Hardware version 13, a distributed port group only, no hot-add;
	 * vMotion and snapshots work (vsphere-networking, PVRDMA support). */
	[VS_ADAPTER_PVRDMA] = {
		.name = "pvrdma",
		.takes_vf = false, .full_memory = false, .needs_dvs = true,
		.rdma = true,
		.hot_add = false, .vmotion = true, .snapshot = true,
		.suspend = true, .ha = true, .drs_moves = true,
		.min_hw = 13,
	},
	/* Guest memory is pinned for DMA: all of it reserved (enforced from
	 * 6.5). No migration, snapshot, suspend, hot-add, HA (SR-IOV support,
	 * vsphere-networking). Virtual machines of ESXi 5.5 and later. */
	[VS_ADAPTER_SRIOV] = {
		.name = "sriov",
		.takes_vf = true, .full_memory = true, .needs_dvs = false,
		.rdma = true,
		.hot_add = false, .vmotion = false, .snapshot = false,
		.suspend = false, .ha = false, .drs_moves = false,
		.min_hw = 10,
	},
};

int vs_adapter_type_parse(const char *s, enum vs_adapter_type *out,
			  struct vs_err *err)
{
	char known[80] = "";
	size_t len = 0;

	for (int i = 0; i < VS_ADAPTER_TYPES; i++) {
		if (s && !strcasecmp(s, vs_adapter_kinds[i].name)) {
			*out = i;
			return 0;
		}
		len += snprintf(known + len, sizeof(known) - len, "%s%s",
				i ? ", " : "", vs_adapter_kinds[i].name);
	}
	return vs_err_set(err, VS_E_CONFIG,
			  "\"%.40s\" is no adapter type: expected one of %s",
			  s ? s : "", known);
}
