/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inventory: what vCenter has told us, as plain data. Objects are keyed by
 * moId. The engine writes it from vCenter's updates; everything else reads.
 * Indexes are kept inside: hosts and VMs by moId, VMs by (folder, name), VMs
 * of a host. Pointers stay valid until the object is removed.
 *
 * Owns struct vs_inventory, its hosts, its VMs and all that these point to.
 * shared_capacity.h writes the pools and the datastore; the engine writes uses
 * and vs_host.offer. Code that writes a member without a setter calls
 * vs_host_changed() or vs_vm_changed() before the next question. What is not
 * known is NULL, "", 0 or -1, as the member says: no function fails. No function
 * takes a lock: the caller keeps others from the inventory during the call.
 */
#ifndef VS_PLAN_INVENTORY_H
#define VS_PLAN_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include "util/hash.h"
#include "plan/devices/vm_hardware.h"
#include "plan/inventory/clone_source.h"

#define VS_HOST_PFS 24	/* PFs and kinds of devices: bits of uint32_t */
#define VS_HOST_NODES 32	/* NUMA nodes: bits of uint32_t */
#define VS_HOST_NETS 64
#define VS_HOST_STORES 32
#define VS_VM_NICS 16
#define VS_DEVICES_MAX 64	/* alike, of a host */
#define VS_GUEST_SAYS 320	/* of its reason: what is, and what to do */

/* Devices of a host that are handed to VMs whole and are alike: one row beside
 * its PFs, with as many to give. One that is handed out by its address is a
 * row of its own. So are those of a DVX class, and the vGPUs of a profile, which
 * have a made-up address: see plan/inventory/shared_devices.h. */
struct vs_devices {
	uint16_t vendor, device;
	char label[VS_DEVICE_LABEL];	/* that is asked for, or the class, or
					 * the profile; of a fixed one its own */
	bool fixed;			/* handed out by its address alone, */
	uint32_t lines;			/* to VMs of these: vs_adapter.line */
	enum vs_nic_type named;	/* PCI_DVX, PCI_VGPU: by label; else 0 */
	int per_gpu;			/* vGPUs of the profile that fit on one */
	bool one_model;			/* all of the host's GPUs are alike */
	/* what the host's driver can do beside what the table of adapters says
	 * of all: bits of enum vs_operation */
	unsigned int can;
	int n;
	char pci[VS_DEVICES_MAX][VS_PCI_LEN];
};

struct vs_pf {
	char pci[VS_PCI_LEN];		/* of devices the first's */
	const struct vs_devices *of;	/* the row is of devices; NULL: a PF */
	char pnic[32];			/* "vmnic4" */
	char switch_uuid[VS_LABEL_LEN];	/* "" if it is no uplink */
	int vfs;			/* numVirtualFunction while sriovActive, else 0 */
	int numa;			/* -1 unknown */
	int numa_cores;			/* of that NUMA node, 0 unknown */
	int64_t numa_mb;
	bool link_up;
};

struct vs_host_facts;
struct vs_candidates_free;
struct vs_host {
	char moid[VS_MOID_LEN];
	char name[VS_LABEL_LEN];
	char cluster[VS_MOID_LEN];
	bool connected;			/* runtime.connectionState */
	bool powered_on;
	bool maintenance;
	bool entering_maintenance;	/* seen as a running task */
	bool quarantine, standby;
	bool entering_standby;		/* seen as a running task */
	bool pfs_known;			/* pciPassthruInfo has been delivered */
	int cores, core_mhz;
	int64_t cpu_mhz;		/* for VMs, ESXi's own part taken
					 * off; 0: all cores */
	int64_t memory_mb;		/* likewise */
	int numa_nodes;
	int max_hw;			/* highest VM hardware version */
	struct vs_pf pfs[VS_HOST_PFS];
	int npfs;
	int nleft;			/* for which there was no room */
	char left[VS_DEVICE_LABEL];	/* the first of them: address or name */
	struct vs_devices *devices;	/* its own, or NULL */
	struct vs_candidates_free *offer; /* likewise; the engine's, see device_ids.c */
	char nets[VS_HOST_NETS][VS_MOID_LEN];
	int nnets;
	char stores[VS_HOST_STORES][VS_MOID_LEN];
	int nstores;
	bool stores_known;		/* they have been delivered */
	char leaf[VS_NAME_LEN];		/* ESXiHost= Switch= of vsphere.conf */
	struct vs_host_facts *facts;	/* its own, NULL: none; see host_facts.h */

	/* kept by the inventory */
	LIST_HEAD(, vs_vm) vms;		/* registered here, on or off */
	UT_hash_handle hh;
	int index;			/* dense, for placement's arrays */
	uint64_t changed;		/* generation of its last change, or of
					 * a VM's on it */
	uint64_t itself;		/* of its own last one */
	TAILQ_ENTRY(vs_host) by_change;
};

enum vs_power { VS_POWER_UNKNOWN, VS_POWER_OFF, VS_POWER_ON, VS_POWER_SUSPENDED };

enum vs_override { VS_AS_CLUSTER, VS_LEFT_ALONE, VS_AUTOMATED };

/* What a VM takes of its resource pool and, by its swap file, of its
 * datastore: something while it is on only. */
struct vs_share {
	bool there;			/* so were its disks */
	int pool, store;		/* index, -1: none that we know */
	int64_t cpu_mhz, mem_mb, swap_mb;
};

struct vs_vm {
	char moid[VS_MOID_LEN];
	char name[VS_LABEL_LEN];
	char folder[VS_MOID_LEN];	/* parent */
	char host[VS_MOID_LEN];
	char pool[VS_MOID_LEN];		/* resource pool, "" not known */
	struct {	/* what the cluster's DRS and HA do to it: its own override */
		enum vs_override drs, ha;
		bool drs_moves;		/* drs automated: while it is on, too */
	} policy;
	enum vs_power power;
	bool connected;			/* runtime.connectionState */
	bool readable;			/* devices and power were delivered */
	bool is_template;
	bool tools_running;
	char uuid[VS_UUID_LEN];		/* config.instanceUuid */
	/* extraConfig slurm.vsphere.owner, or NULL; set by
	 * vs_vm_set_owner_tag */
	char *owner_mark;
	bool marked;			/* it is a mark, and says: */
	struct vs_owner_tag mark;
	char profile[24];
	struct {
		uint64_t hash;		/* of what its guest will read; 0: unknown */
		bool users_write;	/* its guest's users may write guestinfo */
	} words;
	char change_version[64];
	int vcpus;
	int64_t memory_mb;
	int64_t cpu_reserved_mhz, mem_reserved_mb;
	bool mem_locked;		/* memoryReservationLockedToMax */
	bool latency_high;
	char numa[VS_NUMA_LEN];		/* numa.nodeAffinity */
	struct vs_nic nics[VS_VM_NICS];
	int nnics;
	char job_tag[48];		/* slurm.vsphere.job: "JOBID.RESTARTS", Retention=destroy */
	struct {
		char dir[VS_LABEL_LEN];	/* "[store] dir/" of its vmx */
		bool own;		/* every disk lies in dir */
		/* "[store] dir/\n" of each directory with a disk that its own
		 * stand on, NULL: none; set by vs_vm_set_bases */
		char *bases;
		bool bases_told;	/* ever */
	} disks;
	struct {
		char bios_uuid[VS_UUID_LEN];	/* an instant clone's mark names it */
		bool frozen;		/* for instant clones */
		char from[VS_UUID_LEN];	/* of this parent it was made, "": none */
		char snapshot[VS_MOID_LEN];	/* a parent's own one, "": none */
	} clone;
	bool as_parent;			/* it says to be one, set by */
	struct vs_clone_source_tag parent;	/* vs_vm_set_clone_source */
	struct {	/* What the guest of this boot said last, "": nothing yet. */
		char state[16];	/* booting, ready, failed, bad-template */
		char reason[VS_GUEST_SAYS];
	} guest;

	struct {	/* kept by shared_capacity.c: what of it is in the pools' and the
			 * datastore's values as read last, and in those being read */
		struct vs_share told, telling;
		int64_t made_mb;	/* its disks, while no reading has seen it
					 * and no hold stands for them */
	} share;

	/* kept by the inventory: host, name and folder change through their
	 * setters only */
	LIST_ENTRY(vs_vm) on_host;	/* or among the strays */
	struct vs_host *host_ptr;	/* NULL while the host is not known */
	TAILQ_ENTRY(vs_vm) same_name;
	LIST_ENTRY(vs_vm) with_parents;
	struct vs_name_slot *name_slot;	/* NULL while it has no name */
	UT_hash_handle hh;
};

/*
 * What is read now and then only: see allocation/shared_capacity.h. -1: not
 * known. Of several datastores each is a pool of its own: "cluster" is its moId,
 * its memory what is free on it.
 */
struct vs_pool {
	char cluster[VS_MOID_LEN];	/* its VMs are on that one's hosts */
	char moid[VS_MOID_LEN];		/* "" not known */
	char name[VS_LABEL_LEN];	/* for people: "resource pool slurm" */
	int64_t cpu_mhz, mem_mb;	/* VMs may still reserve so much */
};
struct vs_store_use {			/* hosts of this cluster may use */
	char cluster[VS_MOID_LEN], store[VS_MOID_LEN];
	int64_t full_until_ms;		/* the engine's */
};
struct vs_store {
	bool there;			/* it was read once */
	char name[VS_LABEL_LEN];
	int64_t free_mb;
};

struct vs_inventory {
	struct vs_host *hosts;		/* uthash by moid */
	struct vs_vm *vms;		/* uthash by moid */
	int nhosts;
	struct vs_pool *pools;
	size_t npools;
	struct vs_store store;		/* the one our VMs lie on */
	struct vs_store_use *uses;	/* several: set by the engine */
	size_t nuses;			/* 0: there is one for all */
	uint64_t generation;		/* moves with every change */
	uint64_t hosts_changed;		/* of the set of hosts, or of an order
					 * of them: by name, by cores */
	uint64_t hosts_itself;		/* of a host's own last change, too */
	uint64_t pools_changed;		/* of the set of pools */

	/* kept by the inventory */
	struct vs_host **by_index;	/* nhosts of them */
	size_t by_index_cap;
	struct vs_name_slot *names;	/* uthash by (folder, name) */
	LIST_HEAD(, vs_vm) strays;	/* their host is not known */
	LIST_HEAD(, vs_vm) parents;	/* as_parent */
	TAILQ_HEAD(vs_hosts_changed, vs_host) by_change; /* latest last */
};

void vs_inventory_init(struct vs_inventory *inv);

/* Find or create. */
struct vs_host *vs_inventory_host(struct vs_inventory *inv, const char *moid);
struct vs_vm *vs_inventory_vm(struct vs_inventory *inv, const char *moid);
/* Find only; NULL if unknown. */
struct vs_host *vs_host_get(const struct vs_inventory *inv, const char *moid);
struct vs_host *vs_host_get_named(const struct vs_inventory *inv, const char *name);
struct vs_vm *vs_vm_get(const struct vs_inventory *inv, const char *moid);
/* The VM of that name in that folder (the first one, templates left out). */
struct vs_vm *vs_vm_get_named(const struct vs_inventory *inv,
			      const char *folder, const char *name);
/* Its owner's mark as found, NULL: none. */
void vs_vm_set_owner_tag(struct vs_vm *vm, const char *mark);
/* Of what it says to be a parent, NULL: it doesn't. */
void vs_vm_set_clone_source(struct vs_inventory *inv, struct vs_vm *vm,
			    const char *mark);
void vs_vm_set_bases(struct vs_vm *vm, const char *bases);
/* Set the VM's host (keeps lists right; "" = none) and note a change. */
void vs_vm_set_host(struct vs_inventory *inv, struct vs_vm *vm, const char *host);
/* The same for what the (folder, name) index is made of. */
void vs_vm_set_name(struct vs_inventory *inv, struct vs_vm *vm, const char *name);
void vs_vm_set_folder(struct vs_inventory *inv, struct vs_vm *vm,
		      const char *folder);
/* Marks the object as changed. Code that writes a field without a setter calls
 * this. */
void vs_host_changed(struct vs_inventory *inv, struct vs_host *h);
void vs_vm_changed(struct vs_inventory *inv, struct vs_vm *vm);
/* The hosts' order by name or by cores isn't what it was. */
void vs_hosts_reordered(struct vs_inventory *inv);
void vs_host_set_name(struct vs_inventory *inv, struct vs_host *h,
		      const char *name);
void vs_inventory_remove_host(struct vs_inventory *inv, const char *moid);
void vs_inventory_remove_vm(struct vs_inventory *inv, const char *moid);

struct vs_pf *vs_host_pf(struct vs_host *h, const char *pci);
bool vs_host_usable(const struct vs_host *h);	/* connected, on, not leaving */
/* MHz that VMs can have of it together; 0 if its cores are not known. */
int64_t vs_host_cpu_mhz(const struct vs_host *h);
/* Whole cores that VMs can have of it together; 0 if they are not known. */
int vs_host_vm_cores(const struct vs_host *h);
bool vs_host_has_net(const struct vs_host *h, const char *net_moid);
/* By the address of any of the row's devices; NULL: none. */
const struct vs_pf *vs_host_device(const struct vs_host *h, const char *pci);
/* Returns true if a NIC that needs these ids (0: unknown) and this label ("":
 * any) can get a device of the row. A row without a label matches any label.
 * The label of a fixed device is the device's own, and has to be the same. */
bool vs_devices_match(const struct vs_devices *d, unsigned int vendor,
		      unsigned int device, const char *label);
bool vs_host_has_store(const struct vs_host *h, const char *store_moid);
/* Of several datastores, does it see one that it may use? */
bool vs_host_has_any_store(const struct vs_inventory *inv,
			   const struct vs_host *h);

/* The NUMA nodes of these n PFs of a host, by their addresses, as ESXi's
 * numa.nodeAffinity wants them; "" where the host has one node alone, or one
 * of the PFs' is not known. Returns out. */
const char *vs_numa_nodes(const struct vs_host *h, const char *const *pcis,
			  int n, char out[VS_NUMA_LEN]);

/* The datastore that the VM lies on, an index of pools; -1: none of several. */
int vs_vm_store(const struct vs_inventory *inv, const struct vs_vm *vm);
/* Does the VM lie on this datastore (moId), the one or one of several? Of the
 * one, yes while its name isn't known. */
bool vs_vm_lies_on(const struct vs_inventory *inv, const struct vs_vm *vm,
		   const char *store);

/* Whose VM it is: the four tests of ownership. */
enum vs_owner {
	VS_OWNER_MANAGED,
	VS_OWNER_CLONE_SOURCE,	/* managed, a clone source: no node's */
	VS_OWNER_FOREIGN,	/* no mark of any slurm-vsphere */
	VS_OWNER_UNVERIFIED,	/* our mark, but a test fails */
	VS_OWNER_OTHER_CLUSTER,	/* a sound mark of another cluster's id */
};
enum vs_owner vs_vm_owner(const struct vs_vm *vm, const char *folder,
			  const char *cluster_id);
/* Returns true for a node's VM and for a clone source: VMs that slurm-vsphere
 * has created for this cluster. */
static inline bool vs_owner_is_managed(enum vs_owner o)
{
	return o == VS_OWNER_MANAGED || o == VS_OWNER_CLONE_SOURCE;
}
/* Another cluster's, in our folder: nothing may be done there. */
bool vs_vm_is_foreign(const struct vs_vm *vm, const char *folder,
		      const char *cluster_id);

#endif
