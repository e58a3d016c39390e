/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a VM is to be like, for the calls that make or change one. Members that
 * are NULL or 0 are not said, and left out of the request.
 */
#ifndef VS_VCENTER_SPEC_VM_SPEC_H
#define VS_VCENTER_SPEC_VM_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What vCenter says of a switch: that it is on, off, or nothing. */
enum vs_vc_auto { VS_VC_AUTO_UNKNOWN, VS_VC_AUTO_NO, VS_VC_AUTO_YES };

/* A parameter of a DVX class that a host offers, and what its value must be
 * (vSphere's OptionType). */
enum vs_vc_value { VS_VC_VALUE_UNKNOWN, VS_VC_VALUE_STRING, VS_VC_VALUE_BOOL,
	VS_VC_VALUE_INT, VS_VC_VALUE_LONG, VS_VC_VALUE_FLOAT };
struct vs_vc_option { char class[64], key[64]; enum vs_vc_value type; };

enum vs_vc_net_type { VS_VC_NET_SRIOV, VS_VC_NET_PVRDMA, VS_VC_NET_VMXNET3,
	VS_VC_PCI_DYNAMIC, VS_VC_PCI_FIXED, VS_VC_PCI_DVX,
	VS_VC_PCI_VGPU };
struct vs_vc_nic_spec {
	enum vs_vc_net_type kind;
	const char *mac;			/* manual address */
	const char *network, *switch_uuid, *portgroup_key;
	const char *network_name;	/* of a standard one, which it is found
					 * by: as vs_vc_network.name */
	const char *pci;		/* explicit PF, NULL: automatic; of a
					 * fixed device its address */
	int vendor, device;		/* of a device, which has none of the
					 * rest above */
	const char *label;		/* of a dynamic one, NULL or "": any; or
					 * its class, or its profile */
	const char *params;		/* "key=value,...", of its class; or NULL */
	const struct vs_vc_option *options;	/* what its host says of them, */
	size_t noptions;		/* of this class and others; may be none */
	const char *name, *system;	/* of a fixed one, as its host has it;
					 * see vs_vc_target */
	bool mtu_change_allowed;
};
struct vs_vc_kv { const char *key, *value; };	/* extraConfig; "" deletes */
enum { VS_VC_SHARES_NORMAL = 0, VS_VC_SHARES_LOW = -1, VS_VC_SHARES_HIGH = -2 };
struct vs_vc_hw {				/* NULL or 0: not said */
	int vcpus, cores_per_socket;		/* -1: as vCenter chooses */
	int64_t memory_mb;
	bool memory_locked;			/* full reservation */
	int64_t mem_reserved_mb;		/* else */
	int64_t cpu_reserved_mhz;
	int cpu_shares, mem_shares;		/* a number, or the above */
	bool latency_high;
	bool cold;				/* no hot-add of CPU and memory */
	enum vs_vc_auto secure_boot;
	bool exact;		/* memory lock, reservations, shares and latency
				 * are as said here, and taken away where
				 * nothing is: the VM or its template may have
				 * them */
	const struct vs_vc_nic_spec *nics; int nnics; /* new ones */
	const int *gone; int ngone;	/* keys of NICs to be removed */
	const char *mgmt_mac; int mgmt_key;	/* give the template's first NIC
						 * this MAC; key in a reconfigure,
						 * 0 in a clone: found by us */
	const struct vs_vc_kv *extra; size_t nextra;
};
struct vs_vc_clone {
	const char *source, *folder, *name, *uuid;
	const char *like;		/* the template that the source is a copy
					 * of, NULL: it is the template */
	const char *pool, *host, *datastore;
	const char *snapshot;		/* linked clone of it, NULL: full */
	const char *policy;		/* storage policy's id, NULL: the
					 * template's or the datastore's own */
	const int *disks; size_t ndisks;	/* keys of the source's, for the
					 * policy; found by us */
	const char *annotation;		/* notes, NULL: none */
	struct vs_vc_hw hw;
};
/*
 * A clone of a VM that is on. The clone continues from the VM's state on the
 * same host and is on at once (InstantClone_Task). The name is taken from the
 * spec, the size is the source's. No instanceUuid may be given: the mark names
 * bios_uuid instead.
 */
struct vs_vc_instant {
	const char *source, *folder, *name, *bios_uuid, *pool;
	const char *like;		/* the template that the source is of */
	const char *mgmt_mac;		/* of the template's first NIC, or NULL */
	/* the source's other NICs: their keys, and what they become */
	const struct vs_vc_nic_spec *nics; const int *keys; int nnics;
	const struct vs_vc_kv *extra; size_t nextra;
};

#endif
