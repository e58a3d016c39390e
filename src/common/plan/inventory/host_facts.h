/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of a host beside what placement asks: for plan/checks alone.
 * Kept apart from struct vs_host, which is walked through often, and owned by
 * it: the inventory frees the facts of a host that it removes.
 */
#ifndef VS_PLAN_HOST_FACTS_H
#define VS_PLAN_HOST_FACTS_H

#include "plan/inventory/inventory.h"
#include "util/host.h"

#define VS_HOST_GPUS 16

/* A GPU that could be shared by profile; type: HostGraphicsInfo.graphicsType. */
struct vs_gpu_facts { char pci[VS_PCI_LEN], type[16]; };

/* A device that some adapter would hand out, and that passthrough isn't active
 * for. */
struct vs_idle_facts {
	char pci[VS_PCI_LEN], name[32], adapter[VS_NAME_LEN];
	uint16_t vendor, device;
	bool enabled;			/* it waits for a reboot of the host */
};

struct vs_host_facts {
	struct vs_host_setup setup;
	struct vs_pf_facts pfs[VS_HOST_PFS];	/* in the order of vs_host.pfs */
	struct vs_switch_facts *switches;
	size_t nswitches;
	struct vs_incapable_facts *incapable;
	size_t nincapable;
	struct vs_gpu_facts gpus[VS_HOST_GPUS];
	int ngpus;
	struct vs_idle_facts *idle;
	size_t nidle;
};

struct vs_host_facts *vs_host_facts_new(void);	/* all unknown */
void vs_host_facts_free(struct vs_host_facts *f);

#endif
