/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What vCenter has shown us so far: hosts and VMs, merged from the updates of
 * several filters, delivered as typed events. No network in here: update sets
 * go in as JSON, events come out.
 */
#ifndef VS_VCENTER_DECODE_INVENTORY_H
#define VS_VCENTER_DECODE_INVENTORY_H

#include <sys/queue.h>
#include <uthash.h>

#include "util/json.h"
#include "vcenter/decode/records.h"

enum vcx_filter { VCX_F_VMS, VCX_F_MANAGED, VCX_F_HOSTS, VCX_F_TASKS,
		  VCX_NFILTERS };

#define VCX_KEY_JOB "slurm.vsphere.job"
#define VCX_KEY_CLONE_SOURCE "slurm.vsphere.parent"
#define VCX_KEY_FROM "slurm.vsphere.from"
#define VCX_SNAPSHOT "slurm-vsphere"	/* the one of a parent */
#define VCX_KEY_STATE "guestinfo.slurm.state"	/* written by the guest */
#define VCX_KEY_REASON "guestinfo.slurm.reason"
#define VCX_KEY_NUMA "numa.nodeAffinity"

/* Of a VM's disks: vm_disks.c owns it. vm.c makes room for the files. */
struct vcx_disks {
	char **files;
	size_t n;
	char **under;			/* files that its disks stand on */
	size_t nunder, cap_under;
};

struct vcx_vm {
	/* What is delivered. vm.c owns its texts, and fills in at the delivery what
	 * hangs on several properties. `has` is what is yet to be delivered. */
	struct vs_vc_vm v;
	bool in[VCX_NFILTERS];
	bool dirty, told_unreadable;
	bool barred[VCX_NFILTERS];	/* not all of it may be read, or can */
	bool said;			/* that it can't be read, in the log */
	unsigned int held[VCX_NFILTERS];	/* VS_VC_VM_* of what can't: not
					 * delivered until it can */
	bool bare;			/* vCenter itself knows no config of it:
					 * invalid, inaccessible */
	unsigned int tried;		/* inv's round in which it was tried */
	char *guest[VS_VC_NGUEST];	/* by enum vs_vc_guest_key */
	char **nic_types;		/* beside v.NICs */
	struct vcx_disks disks;
	TAILQ_ENTRY(vcx_vm) link;	/* dirty ones */
	UT_hash_handle hh;
};

struct vcx_pnic { char *key, *device, *pci, *driver, *version, *firmware;
	bool link; };
struct vcx_proxy { char **pnics; size_t npnics; };
struct vcx_pt { char *pci; int vfs, asked, most; bool enabled; };
/* PCI devices of the host that VMs may get, now or after an administrator has
 * enabled them, or after the host's reboot. */
struct vcx_give { char *pci, *label; bool active, enabled, sriov; };
struct vcx_numa { char *pci; int node, threads; int64_t mb; };	/* the node's */

/* num/den of a figure; den 0: not known. */
struct vcx_part { int64_t num, den; };
/* Of what systemResources says, and of what is guessed. */
struct vcx_parts { struct vcx_part sys, guess; };
/* What VMs can have of a host: see host_capacity.c. MB and MHz, 0: not known. */
struct vcx_capacity {
	int64_t memory_mb;		/* all there is */
	int64_t sys_mem, sys_cpu;	/* by systemResources, */
	int64_t sys_of;			/* while it had so much memory, */
	int sys_cores;			/* so many cores */
	struct vcx_parts mem, cpu;	/* by its cluster's effective sums */
	int64_t told_mb, told_mhz;
	int64_t read_at;		/* systemResources is read no sooner */
};
/* ComputeResourceSummary: MB, MHz, of so many hosts; 0: not known. */
struct vcx_effective { int64_t mem_mb, cpu_mhz; int hosts; };

/* Devices that a host hands to VMs whole: host_devices.c owns it. */
struct vcx_passthrough {
	struct vs_vc_function *devices; size_t ndevices;
	struct vcx_give *gives; size_t ngives;
};
/* What a host has by name: shared_devices.c owns it. */
struct vcx_named {
	struct vs_vc_gpu *gpus; size_t ngpus;
	struct vs_vc_named *able, *dvx; size_t nable, ndvx;
	char **profiles; size_t nprofiles;
};

struct vcx_host {
	/* What is delivered. host.c owns its texts and lists. What hangs on several
	 * properties is filled in at the delivery. `has` is what is yet to be
	 * delivered. */
	struct vs_vc_host v;
	struct vs_host_setup setup;	/* v.setup: host_facts.c owns it */
	bool in, dirty, told_unreadable;
	bool barred;			/* not all of it can be read */
	bool said;			/* as in vcx_vm */
	unsigned int held;		/* likewise, VS_VC_HOST_* */
	unsigned int tried;		/* likewise */
	int threads;
	int servers;			/* of time, -1 unknown */
	bool ptp;			/* its clock needs none */
	struct vcx_capacity capacity;
	bool pts_read, pnics_read;	/* not so: unset */
	struct vcx_pt *pts; size_t npts;
	struct vcx_pnic *pnics; size_t npnics;
	struct vcx_passthrough passthrough;
	struct vcx_named named;
	struct vcx_proxy *proxies;	/* beside v.switches */
	struct vcx_numa *numas; size_t nnumas;
	TAILQ_ENTRY(vcx_host) link;
	UT_hash_handle hh;
};

struct vcx_refetch {
	enum vcx_filter filter;
	char *type, *moid;
	TAILQ_ENTRY(vcx_refetch) link;
};
TAILQ_HEAD(vcx_refetches, vcx_refetch);

/* What an update says of a task: info's members, which are null cursors if the
 * update doesn't say them. lost: vCenter shows the task no more. */
struct vcx_task_update {
	const char *moid;
	bool lost;
	struct vs_j state, error, result;
};
struct vcx_task_updates { struct vcx_task_update *list; size_t n, cap; };

struct vs_inv {
	const struct vs_vc_events *ev;
	void *ev_arg;
	char *filter[VCX_NFILTERS];	/* moIds */
	struct vcx_vm *vms;
	struct vcx_host *hosts;
	TAILQ_HEAD(, vcx_vm) dirty_vms;
	TAILQ_HEAD(, vcx_host) dirty_hosts;
	/* Objects that must be read again, because a change of them can't be applied. */
	struct vcx_refetches refetch;
	_Atomic uint64_t updates;	/* read in any thread */
	unsigned int round;
	unsigned int nunread;		/* lines of what can't be read, since
					 * the last beat */
	bool devices;			/* hosts' PCI devices are read, too */
	struct vcx_task_updates tasks;	/* while vs_inv_tasks() gathers them */
};

struct vs_inv *vs_inv_new(const struct vs_vc_events *ev, void *ev_arg);
void vs_inv_free(struct vs_inv *inv);
void vs_inv_clear(struct vs_inv *inv);	/* forget all, deliver nothing */
/* The properties a filter asks for, NULL-terminated. */
const char *const *vs_inv_paths(const struct vs_inv *inv, enum vcx_filter f);
/* Apply one UpdateSet, tasks left out. -1 with err if it is not one, or if the
 * session is gone (VS_E_RELOGIN in a missingSet). Then deliver with flush. A
 * property whose value is not of its type is logged and left out, and its object
 * is unreadable until it can be read. */
int vs_inv_update(struct vs_inv *inv, struct vs_j set, struct vs_err *err);
/* Reads what that UpdateSet says of tasks, in its order. The caller acts on it after
 * the flush: who hears that a clone has ended knows its VM then. Returns 0. Returns
 * -1 and sets err if the set is none; *out has the updates before the fault. The
 * caller frees out->list; its texts are the document's. */
int vs_inv_tasks(struct vs_inv *inv, struct vs_j set,
		 struct vcx_task_updates *out, struct vs_err *err);
/* An object was read again: as if it had just entered. */
void vs_inv_reread(struct vs_inv *inv, enum vcx_filter f, const char *moid,
		   struct vs_j prop_set, struct vs_j missing_set);
/* HostSystem.systemResources was read. A value that can't be is logged with its
 * path and does not fail the document; what was known of that host stays. */
void vs_inv_host_system(struct vs_inv *inv, const char *moid,
			struct vs_j system_resources);
/* Put some of what could not be read into the refetch list, in turn: nothing
 * promises that vCenter tells when a right is given back. */
void vs_inv_retry_blocked(struct vs_inv *inv);
void vs_inv_flush(struct vs_inv *inv);
/* Around the callbacks of one thing: see vs_vc_events. */
static inline void vs_inv_together(const struct vs_inv *inv, bool begins)
{
	if (inv->ev->together)
		inv->ev->together(inv->ev_arg, begins);
}
struct vcx_vm *vs_inv_vm(struct vs_inv *inv, const char *moid);
bool vs_inv_vm_unreadable(const struct vcx_vm *vm);
bool vs_inv_vm_blocked(const struct vcx_vm *vm);
bool vs_inv_host_unreadable(const struct vcx_host *h);
/* vm.c, host.c: one property; false: unknown path. */
bool vs_inv_vm_prop(struct vcx_vm *vm, const char *path, struct vs_j val);
bool vs_inv_host_prop(struct vcx_host *h, const char *path, struct vs_j val);
/* host_facts.c: how a host is set up; 0: no path of its. */
unsigned int vs_inv_host_fact(struct vcx_host *h, const char *path,
			      struct vs_j val);
/* vm_disks.c: a VM's disks; what they say of its directory, whose others
 * they stand on, and whether all are in the former, into its record. */
void vs_inv_read_disk(struct vcx_vm *vm, struct vs_j backing);
void vs_inv_clear_disks(struct vcx_vm *vm);
void vs_inv_vm_disks(struct vcx_vm *vm);
/* The moId of the first of our name in a list of trees, NULL: none. */
const char *vs_inv_find_snapshot(struct vs_j list, int depth);
/* host_devices.c: the devices that a host hands to VMs. */
void vs_inv_set_devices(struct vcx_host *h, struct vs_j list);
void vs_inv_set_gives(struct vcx_host *h, struct vs_j list);
/* out has room for ngives of them; how many they are. */
size_t vs_inv_host_devices_put(const struct vcx_host *h,
			       struct vs_vc_device *out);
void vs_inv_host_devices_free(struct vcx_host *h);
/* shared_devices.c: what it has by name; 0: no path of its. profiles has room for
 * nprofiles of them. */
unsigned int vs_inv_host_named(struct vcx_host *h, const char *path,
			       struct vs_j val);
void vs_inv_host_named_put(struct vcx_host *h, struct vs_vc_host *out,
			   struct vs_vc_named *profiles);
void vs_inv_host_named_free(struct vcx_host *h);
/* host_capacity.c. Reads HostSystem.systemResources; the host has none of it if it is
 * unset. A value of a wrong type fails the document. */
void vs_capacity_system(struct vcx_host *h, struct vs_j system_resources);
/* The host is of this size now, 0: not told. What was read of another is
 * forgotten. */
void vs_capacity_size(struct vcx_host *h, int64_t memory_mb, int cores);
/* The estimates: of all memory in MB, of all cores together in MHz. */
int64_t vs_capacity_guess_mb(int64_t mb);
int64_t vs_capacity_guess_mhz(int64_t mhz);
/* What VMs can have of this host: MB, MHz; 0: not known. */
int64_t vs_capacity_mb(const struct vcx_host *h);
int64_t vs_capacity_mhz(const struct vcx_host *h);
/* Fits the figures of this cluster's hosts to its effective sums. Does nothing if
 * the sums are unknown, or are of another number of hosts. */
void vs_capacity_cluster(struct vs_inv *inv, const char *cluster,
			 const struct vcx_effective *e);
/* Adds to the question of a slow beat the hosts whose systemResources are due. */
void vs_capacity_request(struct vs_inv *inv, int64_t now_ms,
			 struct json_object *props,
			 struct json_object *objects);
/* Marks the hosts whose figures have changed, for vs_inv_flush. */
void vs_capacity_finish(struct vs_inv *inv);
/* The NUMA node of an address, -1: not known; what the node has, 0: not known. */
int vs_inv_pci_numa(const struct vcx_host *h, const char *pci, int *cores,
		    int64_t *mb);
/* Before `enter`: what is not said is not set. */
void vs_inv_vm_reset(struct vcx_vm *vm, enum vcx_filter f);
void vs_inv_host_reset(struct vcx_host *h);
void vs_inv_vm_publish(struct vcx_vm *vm, const struct vs_vc_events *ev,
		       void *arg);
void vs_inv_host_publish(struct vcx_host *h, const struct vs_vc_events *ev,
			 void *arg);
void vs_inv_vm_free(struct vcx_vm *vm);
void vs_inv_host_free(struct vcx_host *h);
#define VCX_DEVICE_PATHS 5	/* so many come first of a host's */
extern const char *const vs_inv_vm_paths[], *const vs_inv_managed_paths[],
	*const vs_inv_host_paths[], *const vs_inv_task_paths[];
/* A copy in lower case; the caller frees it. */
char *vs_str_lower(const char *s);
void vs_strs_free(char **strs, size_t n);
/* Strings of an array of strings or references. */
char **vs_strs_read(struct vs_j arr, bool refs, size_t *n);

#endif
