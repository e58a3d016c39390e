/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of a host beside what placement asks: for plan/checks alone.
 * Kept apart from struct vs_host, which is walked through often, and owned by
 * it: the inventory frees the facts of a host that it removes.
 */
#ifndef VS_PLAN_HOST_FACTS_H
#define VS_PLAN_HOST_FACTS_H

#include "plan/inventory/inventory.h"

#define VS_HOST_MGMT 4
#define VS_HOST_GPUS 16

/* A PF, beside struct vs_pf and in the same order. Texts are "" if unknown. */
struct vs_pf_facts {
	bool enabled;			/* SR-IOV, by the host's administrator */
	int asked, most;		/* VFs requested, VFs supported */
	int had;			/* the most it was ever seen with, 0 */
	char driver[32], version[48], firmware[48];
};

struct vs_switch_facts {
	char uuid[VS_LABEL_LEN], name[VS_LABEL_LEN];
	int mtu;			/* 0 unknown */
};

/* A NIC in a distributed switch that isn't capable of SR-IOV: no PF. */
struct vs_incapable_facts {
	char pci[VS_PCI_LEN], pnic[32], switch_uuid[VS_LABEL_LEN], driver[32];
};

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
	char version[24], build[16];	/* ESXi's */
	char power[24];			/* policy: static, dynamic, low, custom */
	int clocks;			/* time servers, -1 unknown */
	int reboot;			/* it waits for one: 1, 0, -1 unknown */
	struct vs_pf_facts pfs[VS_HOST_PFS];
	struct vs_switch_facts *switches;
	size_t nswitches;
	/* keys of port groups, or names, that management uses */
	char mgmt[VS_HOST_MGMT][VS_LABEL_LEN];
	int nmgmt;
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
