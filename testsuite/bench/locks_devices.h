/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of locks_world.h: hosts with devices that VMs get whole, and the nodes for them. */
#ifndef VS_BENCH_LOCKS_DEVICES_H
#define VS_BENCH_LOCKS_DEVICES_H

#include "unit/engine_stage.h"

#define DEVICE_NODES 2000	/* the last ones */
#define DEVICES 4		/* of each host, alike */

/* Nodes that get a device whole. */
static void device_nodes(int nodes)
{
	struct vs_conf *conf = conf_make(nodes, "warm", 1024);
	struct vs_conf_adapter *a = conf_other_from(conf,
		(size_t)(nodes - DEVICE_NODES), "dynamic-directpath");

	a->vendor = 0x10de;
	a->device = 0x20b0;
	begin_as(conf);
}

static void device_hosts(int hosts, int vfs)
{
	static struct vs_vc_device gpus[DEVICES];
	static char pci[DEVICES][16];
	struct vs_vc_pf pf = { .pci = "0000:3b:00.0", .pnic = "vmnic4",
		.facts.driver = "nmlx5", .switch_uuid = "sw", .numa = -1, .vfs = vfs,
		.link_up = true };

	for (int i = 0; i < DEVICES; i++) {
		snprintf(pci[i], sizeof(pci[i]), "0000:%x5:00.0", 6 + i);
		gpus[i] = (struct vs_vc_device) { .pci = pci[i], .name = "gpu",
			.label = "", .vendor = 0x10de, .device = 0x20b0,
			.numa = -1 };
	}
	for (int i = 0; i < hosts; i++) {
		char moid[16];

		snprintf(moid, sizeof(moid), "host-%d", i + 1);
		fake_host(&(struct vs_vc_host){ .moid = moid,
			.has = VS_VC_HOST_PFS, .pfs = &pf, .npfs = 1,
			.devices = gpus, .ndevices = DEVICES });
	}
}

STAGE int device_rows(void)
{
	int n = 0;

	for (struct vs_host *h = vs_core.inv.hosts; h; h = h->hh.next)
		for (int i = 0; i < h->npfs; i++)
			n += h->pfs[i].of && h->pfs[i].vfs == DEVICES;
	return n;
}

#endif
