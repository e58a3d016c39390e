/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plain data that crosses the border between the engine and the plugins: the
 * configuration, a node's flags, and what questions and answers consist of.
 */
#ifndef VS_ENGINE_CONFIG_H
#define VS_ENGINE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- configuration, as plain data (src/plugins/vs_conf_*.c) -------- */
struct vs_conf_adapter {
	char *name, *type, *network, *pf, *link_layer, *subnet;
	char *distinct_pfs;		/* "no"; "yes" or NULL: each VF of a VM on its own */
	int mtu, per_node;
	int vendor, device;	/* PCI ids of a device, 0: none given */
	char *label, *with;	/* its label; the adapter of devices beside */
	char *address;		/* of fixed ones, see plan/devices/pci_address_list.h */
	int mmio_gb;
	bool relax_acs;
	char *device_class, *parameters, *profile;	/* of dvx, of vgpu */
	int instances, per_gpu;	/* as many at most; 0: not said */
};
struct vs_conf_partition {	/* settings for the nodes of a partition */
	char *name, *adapter, *template_name, *retention, *latency;
	char *storage_policy, *annotation;
	char *placement;	/* instead of the global one; NULL: that */
	char *clone;		/* "full", "linked", ...; NULL: full */
	char *subnet;		/* instead of the adapter's */
	char *addresses, *gateway, *dns, *dns_search;	/* of the first NIC */
	int64_t memory_overhead_mb;	/* beside RealMemory, -1: a share of it */
	/* reserved: MHz and MB, -1 all; shares: a number, 0 normal, -1 low,
	 * -2 high (plan/devices/vm_hardware.h) */
	int64_t cpu_reservation, memory_reservation;
	int cpu_shares, memory_shares;
	int cores_per_socket;	/* 0: the template's */
	char *secure_boot, *numa_affinity;
};
struct vs_conf_cluster { char *name, *pool, *datastore; };
struct vs_conf_host { char *name, *leaf; };	/* expanded, one per host */
struct vs_conf_node {		/* one per managed Slurm node */
	char *name;
	char *partition;	/* the vsphere.conf line that speaks for it */
	char *adapter;
	int vcpus;
	int64_t memory_mb;
	bool exclusive;		/* all its partitions are OverSubscribe=EXCLUSIVE */
	bool dynamic;		/* not in slurm.conf: created at run time */
	/* "10.1.0.7/16", with commas for several NICs; "dhcp"; NULL: the guest's
	 * own. The first NIC is the template's, for management. */
	char *address, *first_address;
};
struct vs_conf {
	char *vcenter, *username, *password_file, *ca_file;
	unsigned int password_uid;	/* SlurmUser */
	bool verify_tls;
	char *datacenter, *folder, *datastore;
	char *placement, *mode;		/* "observe" or "manage" */
	bool allow_more_nodes_than_vfs;	/* more-nodes-than-vfs is allowed */
	bool admin_comment;		/* what a job got goes there, too */
	char *svf_listen_addr;		/* listen here, "127.0.0.1" */
	int svf_port;
	struct {
		char *addr;		/* serve metrics here, "127.0.0.1" */
		int port;		/* 0: nowhere */
	} metrics;
	char *munge_socket;		/* of AuthInfo, NULL: libmunge's default */
	char *state_dir;		/* StateSaveLocation */
	struct {			/* of slurm.conf */
		char *cluster;
		char *conf_server;	/* "ctl1:6817,ctl2:6817", for slurmd in guests */
		int resume_timeout_s;
		int kill_tries_s;	/* slurmctld tries as long to reach a slurmd */
	} slurm;
	int max_vmotions_per_host;	/* on a host at once, 0: none are done */
	int max_provision_ops, max_power_ops, max_ops_per_host;	/* operations in flight */
	int host_drain_threshold;	/* on a host that keep VMs away, 0: never */
	int max_clones_per_hour;			/* VMs made in an hour, 0: any number */
	struct {
		int vms;		/* made ahead at a time, 0: none */
		int window_s, grace_s;	/* PrefetchOptions: in this order */
	} prefetch;
	int boot_timeout_s;		/* power-on to registered */
	int provision_timeout_s;
	int shutdown_grace_s;
	struct vs_conf_adapter *adapters; size_t nadapters;
	struct vs_conf_partition *partitions; size_t npartitions;
	struct vs_conf_cluster *clusters; size_t nclusters;
	struct vs_conf_host *hosts; size_t nhosts;
	struct vs_conf_node *nodes; size_t nnodes;
};
struct vs_conf *vs_conf_new(void);	/* with the defaults */
void vs_conf_free(struct vs_conf *conf);
void vs_conf_node_clear(struct vs_conf_node *node);	/* what it owns */
const struct vs_conf_adapter *vs_conf_adapter_named(const struct vs_conf *conf,
						    const char *name);
const struct vs_conf_partition *vs_conf_partition_named(
	const struct vs_conf *conf, const char *name);	/* or NULL */

/* ---- a node, as Slurm has it ---------------------------------------------- */

enum {
	VS_NODE_POWERED_DOWN = 1,
	VS_NODE_POWERING_UP = 2,
	VS_NODE_POWERING_DOWN = 4,
	VS_NODE_POWER_DOWN_ASKED = 8,	/* request flag, not acted on yet */
	VS_NODE_POWER_UP_ASKED = 16,
	VS_NODE_UP = 32,	/* registered: no power flag, responding,
				 * base state IDLE, ALLOCATED or MIXED */
	VS_NODE_ALLOCATED = 64,	/* a job holds it, be it suspended */
	VS_NODE_COMPLETING = 128,
	VS_NODE_DOWN = 256,
	VS_NODE_DRAIN = 512,
	VS_NODE_SILENT = 2048,	/* DOWN by Slurm itself: it did not respond */
	VS_NODE_NO_RESPOND = 1024,
	VS_NODE_STAYS = 4096,	/* SuspendExc*: idle it is not powered down */
	VS_NODE_STAYS_EVER = 8192, /* whatever its state is */
	VS_NODE_TAKEN = 16384,	/* drained or down by others than us and than
				 * Slurm for want of an answer */
};

/* ---- answers for the select plugin ---------------------------------------- */
enum vs_avail {
	VS_AVAIL_NONE,		/* cannot be served now */
	VS_AVAIL_TO_CREATE,		/* a VM must be built */
	VS_AVAIL_STOPPED,		/* its VM exists, powered off */
	VS_AVAIL_RUNNING,		/* powered on and right */
	VS_AVAIL_FOREIGN,		/* not managed */
};

/* A job that may be ended for another's sake. */
struct vs_victim {
	const int *ids;			/* its managed nodes */
	size_t n;
	uint32_t job;
};

/* Why a job was refused, the strongest first. */
enum vs_pending_reason {
	VS_PENDING_VFS,		/* or another share of what VMs need */
	VS_PENDING_TURN,	/* what is free is kept for others before it */
	VS_PENDING_NODES,	/* by Slurm's own word: they have other jobs */
};

/* A job that a question is asked for. Times are seconds since the epoch. */
struct vs_requesting_job {
	uint32_t job;
	uint64_t rank;		/* the higher the sooner, then by job */
	int64_t now, lasts;	/* its time limit, s */
	bool in_order;		/* it passes no job that was refused before
				 * it */
	bool in_backfill;	/* so that a scheduler's own word counts more */
	bool reserved;		/* it runs in a reservation */
	uint32_t passes;	/* of backfill, that have ended */
	enum vs_pending_reason lacks;	/* for refused() */
};

/* What a submission is judged by, of a node. */
struct vs_vm_type {
	int adapter;		/* -1: it is not managed */
	int like;		/* the same for VMs that are alike, from 0 */
	int vfs;		/* VFs that its VM takes, 0: it needs none */
	bool alone;		/* Retention=destroy: a VM for one job */
};

struct vs_reservation {		/* of Slurm's: these nodes from then till then */
	int64_t start, end;
	int *ids;
	size_t n;
};

enum vs_timed {
	VS_TIMED_CALLS,		/* our part of slurmctld's calls */
	VS_TIMED_LOCKS,		/* slurmctld's locks, held by our threads */
	VS_TIMED,
	VS_TIMED_STOCK = VS_TIMED	/* a query to cons_tres, which is counted alone */
};

/* Slurm's questions to the select plugin, as they are counted. */
enum vs_query_mode {
	VS_QUERY_RUN_NOW,	/* may the job begin now */
	VS_QUERY_WILL_RUN,	/* when may it: backfill, --test-only */
	VS_QUERY_OTHER,
	VS_QUERY_MODES
};

#endif
