/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adapters: the kinds of device a VM can get, and what each kind allows and
 * demands, by release of vSphere (one table, vs_adapter_kinds; sources:
 * VMware's documentation as collected per type in the table's comments). Who
 * wants to know what a type may do asks the table, and never which type it is.
 *
 * The table is constant. A struct vs_adapter is the caller's; this folder reads
 * it alone. vs_adapter_type_parse() returns -1 and sets err; no other function
 * fails, and none takes a lock.
 */
#ifndef VS_PLAN_ADAPTER_TYPE_H
#define VS_PLAN_ADAPTER_TYPE_H

#include <stdbool.h>
#include <stdint.h>
#include "plan/devices/pci_address_list.h"
#include "util/nic.h"
#include "util/ipv4.h"

#define VS_NICS_MAX 8		/* NICs and devices of one VM */
#define VS_DEVICE_LABEL 64	/* a device's hardware label; a class of DVX
				 * devices, a vGPU's profile */
#define VS_DEVICE_PARAMS 256	/* "key=value,key=value" */
#define VS_FIXED_LINES 32	/* adapters of fixed devices */

enum vs_adapter_type {
	VS_ADAPTER_VMXNET3,
	VS_ADAPTER_PVRDMA,
	VS_ADAPTER_SRIOV,
	VS_ADAPTER_DIRECTPATH,
	VS_ADAPTER_DYNAMIC,
	VS_ADAPTER_DVX,
	VS_ADAPTER_VGPU,
	VS_ADAPTER_TYPES
};

/* What may be done with a VM that has the device. */
enum vs_operation {
	VS_OPERATION_VMOTION,
	VS_OPERATION_SNAPSHOT,
	VS_OPERATION_HA,			/* restarted on another host */
	VS_OPERATION_DRS_PLACE,		/* DRS chooses the host at power-on */
	VS_OPERATION_DRS_MOVE,		/* and moves it while it is on */
	VS_OPERATION_HOT_ADD,		/* of the device, into a VM that is on */
	VS_OPERATION_INSTANT,		/* a clone of it while it is on */
	VS_OPERATIONS
};

/* Releases of vSphere as numbers that can be compared: 8.0 U2 is 80002. */
#define VS_RELEASE(major, minor, update) \
	((major) * 10000 + (minor) * 100 + (update))
#define VS_RELEASE_LEN 16

struct vs_can {
	int from;			/* release; 0: in none */
	bool vendor;			/* where the device's driver can do it */
};

struct vs_adapter_type_info {
	const char *name;		/* as in vsphere.conf's Type= */
	bool offered;			/* vsphere.conf takes it */
	bool takes_vf;			/* one VF of a PF per NIC, or a device:
					 * counted */
	const char *unit;		/* what that is, for people */
	bool fixed;			/* a device given by its address */
	bool by_class, by_profile;	/* or by one of these; else by PCI ids */
	bool full_memory;		/* memory reserved in full, or no power-on */
	bool network;			/* a NIC on a port group */
	bool needs_dvs;			/* a distributed one */
	bool rdma;
	bool infiniband;		/* its port may be one */
	enum vs_nic_type nic;
	int since;			/* release of vSphere */
	int min_hw;			/* VM hardware version */
	struct vs_can can[VS_OPERATIONS];
	const char *needs;		/* beside these, for people; or NULL */
};

extern const struct vs_adapter_type_info vs_adapter_kinds[VS_ADAPTER_TYPES];
extern const char *const vs_operation_names[VS_OPERATIONS]; /* "vmotion", ... */

/* May it be done in this release (0: in the newest)? What hangs on the vendor's
 * driver counts as no; what hosts tell of it is vs_devices.can. */
bool vs_adapter_can(enum vs_adapter_type type, enum vs_operation deed,
		    int release);
/* "yes", "no", "8.0U2+", "vendor": what is true in which releases; those that
 * slurm-vsphere works with begin at VS_RELEASE_OLDEST. Returns out. */
#define VS_RELEASE_OLDEST VS_RELEASE(8, 0, 1)	/* of vCenter; hosts: any */
const char *vs_can_words(const struct vs_can *can, char out[VS_RELEASE_LEN]);
/* "8.0U2". Returns out. */
const char *vs_release_words(int release, char out[VS_RELEASE_LEN]);

/* -1 with the list of known names in err; one that is not offered yet is an
 * error of its own. */
int vs_adapter_type_parse(const char *s, enum vs_adapter_type *out,
			  struct vs_err *err);

enum vs_link_layer { VS_LINK_ETHERNET, VS_LINK_INFINIBAND };

struct vs_adapter {
	char name[VS_NAME_LEN];		/* it is the Slurm feature too */
	enum vs_adapter_type type;
	enum vs_link_layer link;
	char network[VS_LABEL_LEN];	/* port group */
	char pf[VS_PCI_LEN];		/* named PF, or "" for automatic */
	int per_node;			/* NICs of each VM; 0 is 1 */
	bool rails;			/* each on a PF of its own */
	int mtu;			/* 0: as the network has it */
	char subnet[VS_IPV4_POOLS_LEN];	/* of the NICs' addresses, or "" */
	/* a device's PCI ids, and its label ("": any); or instead of a label
	 * its class or profile */
	uint16_t vendor, device;
	char label[VS_DEVICE_LABEL];
	struct vs_addresses *addresses;	/* of fixed ones, its own; NULL: all */
	int line;			/* of fixed ones: its bit in
					 * vs_devices.lines */
	char params[VS_DEVICE_PARAMS];	/* of its class, or "" */
	int most;			/* devices of the class on a host, of the
					 * profile on a GPU, at most; 0: all */
	int mmio_gb;			/* 64-bit MMIO its VM needs, 0: none */
	bool strict_acs;		/* RelaxACS=no: devices below one PCIe
					 * switch stay isolated */
	const struct vs_adapter *with;	/* devices beside it in each VM, or NULL */
};

static inline const struct vs_adapter_type_info *vs_adapter_type_info(
	const struct vs_adapter *a)
{
	return &vs_adapter_kinds[a->type];
}
/* Devices that hosts have by a name of their own, and not by address or ids. */
static inline bool vs_adapter_named(const struct vs_adapter *a)
{
	return vs_adapter_type_info(a)->by_class ||
	       vs_adapter_type_info(a)->by_profile;
}
static inline int vs_adapter_total(const struct vs_adapter *a)
{
	return a->per_node > 1 ? a->per_node : 1;
}
/* VFs of this adapter, or devices, that one VM takes. */
static inline int vs_adapter_vfs(const struct vs_adapter *a)
{
	return vs_adapter_type_info(a)->takes_vf ? vs_adapter_total(a) : 0;
}
/* Those of the adapter beside it (ExtraDevice=). */
static inline int vs_adapter_additional(const struct vs_adapter *a)
{
	return a->with ? vs_adapter_vfs(a->with) : 0;
}
/* All that is counted of one VM: so many NICs has its hold, its own first. */
static inline int vs_adapter_takes(const struct vs_adapter *a)
{
	return vs_adapter_vfs(a) + vs_adapter_additional(a);
}
/* NICs of its VMs on a port group; 0 where it is a device. */
static inline int vs_adapter_nics(const struct vs_adapter *a)
{
	return vs_adapter_type_info(a)->network ? vs_adapter_total(a) : 0;
}
/* Its VM's memory must be reserved in full. */
static inline bool vs_adapter_pins(const struct vs_adapter *a)
{
	return vs_adapter_type_info(a)->full_memory ||
	       (a->with && vs_adapter_type_info(a->with)->full_memory);
}
/* The least hardware version of its VM. */
int vs_adapter_hw(const struct vs_adapter *a);
/* 64-bit MMIO of its VM in GB, 0: no device needs any. */
int vs_adapter_mmio(const struct vs_adapter *a);
/* A device beside an RDMA NIC: peer-to-peer between the two (GPUDirect). */
bool vs_adapter_p2p(const struct vs_adapter *a);
/* ... past the IOMMU, below one PCIe switch. */
bool vs_adapter_relaxes_acs(const struct vs_adapter *a);

#endif
