/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a host is set up, as vCenter shows it. vcenter/decode fills it, and the
 * inventory of plan keeps a copy: neither of the two sees the other. Texts are ""
 * where vCenter does not say.
 */
#ifndef VS_UTIL_HOST_H
#define VS_UTIL_HOST_H

#include <stdbool.h>
#include "util/nic.h"

#define VS_HOST_MGMT 4

struct vs_host_setup {
	char version[24], build[16];	/* ESXi's */
	char power[24];			/* policy: static, dynamic, low, custom */
	int clocks;			/* time servers, -1 unknown */
	int reboot;			/* it waits for one: 1, 0, -1 unknown */
	/* keys of port groups, or names, that management uses */
	char mgmt[VS_HOST_MGMT][VS_LABEL_LEN];
	int nmgmt;
};

/* A PF, beside what placement asks of it. */
struct vs_pf_facts {
	bool enabled;			/* SR-IOV, by the host's administrator */
	int asked, most;		/* VFs requested, VFs supported */
	int had;			/* the most it was ever seen with, 0; the
					 * engine's */
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

#endif
