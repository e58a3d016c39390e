/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCenter's objects as the client tells of them, and the events that carry them.
 * All that a pointer here leads to lives until the event's function returns, and
 * belongs to the client.
 */
#ifndef VS_VCENTER_DECODE_RECORDS_H
#define VS_VCENTER_DECODE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "util/host.h"
#include "util/err.h"
#include "vcenter/spec/vm_spec.h"

/* ---- what was resolved -------------------------------------------------- */
struct vs_vc_override { const char *vm;	/* moId; UNKNOWN: as the cluster */
	enum vs_vc_auto drs, ha;
	bool moves; };			/* drs: those that are on, too */
struct vs_vc_cluster { const char *name, *moid, *pool_moid;
	enum vs_vc_auto drs;		/* it chooses hosts at power-on */
	enum vs_vc_auto ha;		/* it starts VMs again elsewhere */
	bool dpm;			/* it switches idle hosts off */
	bool moves;			/* DRS moves VMs that are on by itself */
	const struct vs_vc_override *overrides; size_t noverrides; };
struct vs_vc_store { const char *name, *moid;
	int64_t free_mb;		/* -1 unknown */
	bool away; };			/* it says that it isn't accessible */
struct vs_vc_network { const char *name;	/* as people write it: %2f is / */
	const char *moid, *switch_uuid, *portgroup_key;
	bool nsx, opaque;		/* a segment: its port group, or none */
	unsigned int accepts; };	/* VS_VC_ACCEPTS_*: of its port group's
					 * security policy */
enum { VS_VC_ACCEPTS_MAC_CHANGES = 1, VS_VC_ACCEPTS_FORGED = 2,
       VS_VC_ACCEPTS_PROMISCUOUS = 4 };
/* Why a template can't be cloned. */
enum vs_vc_template_fault {
	VS_VC_TEMPLATE_NONE,
	VS_VC_TEMPLATE_ABSENT,
	VS_VC_TEMPLATE_UNREAD,
	VS_VC_TEMPLATE_VM,
	VS_VC_TEMPLATE_TPM,
	VS_VC_TEMPLATE_KEY
};
struct vs_vc_ref { char *type, *moid; };
struct vs_vc_template { const char *name, *moid, *change_version, *host;
	bool is_template; int hw;
	int64_t disk_mb;		/* a full clone's disks, 0 unknown */
	const char *missing;		/* why it can't be cloned now (moid and
					 * change_version are "" then), NULL:
					 * it can */
	enum vs_vc_template_fault lack;		/* the same, to be told apart */
	const char *guest;		/* guestId, "" or NULL unknown */
	int passthrough;		/* RDMA NICs and devices of a host */
	bool bios;			/* it boots by BIOS, not by EFI */
	const struct vs_vc_ref *nets; size_t nnets;	/* of its own NICs */
	enum vs_vc_auto snapshot, hot_add, tools;	/* has it that? */
	int cores_per_socket;		/* -1 automatic, 0 unknown */
	enum vs_vc_auto secure_boot;
	enum vs_vc_auto link; };	/* of vCenter to its host */
struct vs_vc_found {
	const char *about;		/* "VMware vCenter Server 8.0.3 build-..." */
	const char *instance_uuid;
	const char *release;		/* negotiated, "8.0.3.0" */
	const char *user;		/* UserSession.userName, for tasks */
	const char *datacenter, *folder, *datastore;	/* moIds; the first */
	const struct vs_vc_store *stores; size_t nstores;	/* all */
	const struct vs_vc_cluster *clusters; size_t nclusters;
	const struct vs_vc_network *networks; size_t nnetworks;
	const struct vs_vc_template *templates; size_t ntemplates;
};

/* ---- updates: only fields whose bit is in `has` are valid ---------------- */
struct vs_vc_pf { const char *pci, *pnic, *switch_uuid; int vfs; int numa;
	int numa_cores; int64_t numa_mb;	/* of that node, 0 unknown */
	bool link_up;
	struct vs_pf_facts facts; };
/* A device that the host hands to VMs, if passthrough is active for it; else it
 * could; enabled: once it was rebooted. "" for no label. */
struct vs_vc_device { const char *pci, *name, *label; int vendor, device;
	bool active, enabled;
	bool sriov;			/* it can have VFs: it is none */
	int numa, numa_cores; int64_t numa_mb; };
/* Any PCI device of the host. */
struct vs_vc_function { char *pci, *name; int vendor, device; };
/* A GPU that VMs share; type "sharedDirect": it is for vGPUs; mode "" before
 * 8.0 U3. A profile of vGPUs that the host offers, or a class of DVX devices,
 * and what its driver can do; nic: they are NICs on a network. */
struct vs_vc_gpu { const char *pci, *name, *vendor, *type, *mode;
	int numa, numa_cores; int64_t numa_mb; };
struct vs_vc_named { const char *name; bool moves, snapshots, nic; };
enum { VS_VC_HOST_NAME = 1, VS_VC_HOST_STATE = 2, VS_VC_HOST_HW = 4,
       VS_VC_HOST_PFS = 8, VS_VC_HOST_NETS = 16, VS_VC_HOST_STORES = 32,
       VS_VC_HOST_PARENT = 64, VS_VC_HOST_FACTS = 128 };
struct vs_vc_host {
	const char *moid;
	unsigned int has;
	const char *name, *cluster;
	bool connected, powered_on, maintenance, quarantine, standby;
	int cores, core_mhz, numa_nodes, max_hw;
	int64_t cpu_mhz, memory_mb;	/* what VMs can have, 0 unknown */
	const struct vs_vc_pf *pfs; size_t npfs;
	bool pfs_unread;		/* vCenter doesn't say which there are */
	bool unreadable;		/* always valid: a value can't be read */
	const struct vs_vc_device *devices; size_t ndevices;	/* with PFS */
	/* with PFS, where devices are wanted */
	const struct vs_vc_function *functions; size_t nfunctions;
	const struct vs_vc_gpu *gpus; size_t ngpus;
	const struct vs_vc_named *profiles, *dvx; size_t nprofiles, ndvx;
	const char *const *nets; size_t nnets;		/* moIds */
	const char *const *stores; size_t nstores;
	/* with FACTS or PFS */
	const struct vs_host_setup *setup;
	const struct vs_switch_facts *switches; size_t nswitches;
	const struct vs_incapable_facts *incapable; size_t nincapable;
};

enum { VS_VC_VM_NAME = 1, VS_VC_VM_POWER = 2, VS_VC_VM_HOST = 4,
       VS_VC_VM_CONN = 8, VS_VC_VM_NICS = 16, VS_VC_VM_CONFIG = 32,
       VS_VC_VM_MARK = 64, VS_VC_VM_PARENT = 128, VS_VC_VM_TOOLS = 256,
       VS_VC_VM_DISKS = 512, VS_VC_VM_GUEST = 1024,
       VS_VC_VM_POOL = 2048, VS_VC_VM_SNAPSHOT = 4096,
       VS_VC_VM_FROZEN = 8192, VS_VC_VM_WORDS = 16384 };
struct vs_vc_vm {
	const char *moid;
	unsigned int has;
	const char *name, *folder, *host, *pool, *uuid, *change_version;
	const char *power;		/* poweredOn, poweredOff, suspended */
	bool connected, is_template, tools_running;
	const char *owner_mark, *profile, *job_tag;	/* NULL: key not set */
	const char *parent, *from;	/* the same; with MARK */
	const char *bios_uuid;		/* config.uuid, with CONFIG */
	bool frozen;			/* for instant clones, by its guest */
	const char *snapshot;		/* moId of the one of that name, or "" */
	const char *guest_state, *guest_reason;	/* what the guest said last:
				 * booting, ready, failed; NULL: nothing */
	int vcpus; int64_t memory_mb, cpu_reserved_mhz, mem_reserved_mb;
	bool mem_locked, latency_high;
	const char *numa;		/* numa.nodeAffinity, NULL: none */
	struct vs_nic *nics; size_t nnics;
	const char *vmx;		/* "[store] dir/vm.vmx" */
	const char *disk_dir;		/* "[store] dir/" of it */
	bool disks_own;			/* all disks lie there */
	const char *bases;		/* other directories with disks that these
					 * stand on, each with a newline; or "" */
	bool unreadable;		/* missingSet: NoPermission, ...; or a
					 * value of another type than it has */
	/* With WORDS: VS_VC_NGUEST values, of vs_vc_guest_keys[]; NULL: unset. */
	const char *const *guest;
};

/* Keys of extraConfig that decide what root does in the guest at its next boot,
 * and the one that keeps all but root from writing guestinfo there. */
enum vs_vc_guest_key {
	VS_VC_G_ROOT_WRITES, VS_VC_G_NODE, VS_VC_G_ADAPTER, VS_VC_G_MAC,
	VS_VC_G_LINK_LAYER, VS_VC_G_DEVICE, VS_VC_G_MTU, VS_VC_G_ADDRESS,
	VS_VC_G_FIRST_ADDRESS, VS_VC_G_FIRST_MAC, VS_VC_G_GATEWAY, VS_VC_G_DNS,
	VS_VC_G_DNS_SEARCH, VS_VC_G_MACHINE_ID, VS_VC_G_CLUSTER,
	VS_VC_G_CONF_SERVER, VS_VC_G_DYNAMIC, VS_VC_G_PARENT, VS_VC_NGUEST
};
extern const char *const vs_vc_guest_keys[VS_VC_NGUEST];

/* A task that another user may have started (recentTask on the slow beat,
 * and those found at start): enough to adopt it. */
struct vs_vc_task {
	const char *moid, *name;	/* descriptionId: "VirtualMachine.clone" */
	const char *entity, *entity_name; /* a clone's entity is its source */
	const char *state;		/* queued, running, success, error */
	const char *user;		/* reason.userName, or "" */
};

/* Privileges that the account lacks on what a key of the configuration names:
 * "Folder", "slurm", "VirtualMachine.Inventory.Delete, ...". What only some VMs
 * take is told by itself: those with notes, those with a parent, linked clones.
 * What is of use for vMotion alone bars no job. Of the
 * vCenter's root key and name are "". */
enum vs_vc_use { VS_VC_FOR_JOBS, VS_VC_FOR_NOTES, VS_VC_FOR_SOURCES,
		 VS_VC_FOR_LINKED, VS_VC_FOR_VMOTION, VS_VC_FOR_POLICY,
		 VS_VC_USES };
struct vs_vc_missing_privilege {
	const char *key, *name, *privs;
	enum vs_vc_use use;
};

/* unreservedForVm, 0 if overcommitted, -1 unknown; what all its VMs may use
 * together, -1 unknown; and what the pool itself says of that: its limit, or its
 * reservation that doesn't expand, -1: neither, or unknown. */
struct vs_vc_pool { const char *cluster; int64_t cpu_mhz, mem_mb;
	int64_t most_mhz, most_mb, own_mhz, own_mb; };

struct vs_vc_slow {			/* what vCenter doesn't stream */
	const struct vs_vc_task *tasks; size_t ntasks;	/* unfinished only */
	int64_t store_free_mb;		/* of the first, -1 unknown */
	const struct vs_vc_store *stores; size_t nstores;	/* all */
	const struct vs_vc_pool *pools; size_t npools;
	const struct vs_vc_cluster *clusters; size_t nclusters;
	bool rights_known;		/* what follows was asked for, and told */
	const struct vs_vc_missing_privilege *lacks; size_t nlacks;
	const struct vs_vc_missing_privilege *excess; size_t nexcess; /* that it should not have
					 * there; of the root key and name are "" */
};

/* A device that a host offers to VMs, and the systemId that a backing which
 * names it must say. */
struct vs_vc_target { char pci[VS_PCI_LEN]; const char *system; };
struct vs_vc_targets {			/* all that a host offers */
	const struct vs_vc_target *devices; size_t ndevices;
	const struct vs_vc_option *options; size_t noptions;
};

enum vs_vc_kind { VS_VC_HOST, VS_VC_VM };

/* All of them come in the thread that calls vs_vc_iterate(). */
struct vs_vc_events {
	/* Called with true before callbacks that belong together, and with
	 * false after them: the records of one answer, any other event, the
	 * callback of an operation. Such calls do not nest. */
	void (*together)(void *arg, bool begins);
	void (*up)(void *arg, const struct vs_vc_found *found);
	/* The connection or the session is lost, or start-up failed. The code
	 * says whether it is retried (VS_E_RETRY), waits for a new password
	 * (VS_E_LOGIN) or for an administrator (VS_E_CONFIG). */
	void (*down)(void *arg, const struct vs_err *err);
	void (*load_begin)(void *arg);	/* all that is not delivered until
					 * load_end has gone */
	void (*load_end)(void *arg);
	void (*host)(void *arg, const struct vs_vc_host *h);
	void (*vm)(void *arg, const struct vs_vc_vm *v);
	void (*gone)(void *arg, enum vs_vc_kind kind, const char *moid);
	/* It was changed, is gone, is there again or was recreated; comes
	 * before the `slow` of the beat that noticed. */
	void (*template_changed)(void *arg, const struct vs_vc_template *t);
	/* The values of the next `slow` are asked for now: what was delivered
	 * before is in them. Not each asking comes to a `slow`. */
	void (*slow_begin)(void *arg);
	void (*slow)(void *arg, const struct vs_vc_slow *s);
	/* The answer to vs_vc_where(): a host's moId, or err. None comes when
	 * the client goes down. */
	void (*where)(void *arg, uint64_t id, const char *host,
		      const struct vs_err *err);
	/* The answer to vs_vc_target(), or err; likewise. */
	void (*target)(void *arg, uint64_t id, const struct vs_vc_targets *t,
		       const struct vs_err *err);
};

#endif
