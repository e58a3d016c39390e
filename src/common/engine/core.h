/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core as the plugins see it: configuration in, questions answered from
 * memory, wishes put into a mailbox. Nothing here waits for vCenter: every
 * function takes one mutex that the engine holds only for memory work.
 *
 * One core per process; both plugins share it. The plugins reach
 * these functions through struct vs_core_api (vs_core_api_get is the only
 * symbol they look up with dlsym), so that client commands never load it.
 */
#ifndef VS_ENGINE_CORE_H
#define VS_ENGINE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/slurm/slurm_ops.h"
#include "util/err.h"
#include "util/log.h"

/* ---- configuration, as plain data (src/plugins/vs_conf_*.c) -------- */
struct vs_conf_adapter {
	char *name, *type, *network, *pf, *link_layer, *subnet, *rails;
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
	char *clone;		/* "full", "linked"; NULL: full */
	char *subnet;		/* instead of the adapter's */
	char *addresses, *gateway, *dns, *dns_search;	/* of the first card */
	int vcpus;		/* 0: the node's CPUs */
	int64_t memory_mb;	/* 0: the node's RealMemory plus overhead */
	int64_t memory_overhead_mb;
	/* reserved: MHz and MB, -1 all; shares: a number, 0 normal, -1 low,
	 * -2 high (plan/devices/vm_hardware.h) */
	int64_t cpu_reservation, memory_reservation;
	int cpu_shares, memory_shares;
	int cores_per_socket;	/* 0: the template's */
	char *secure_boot, *numa_affinity;
};
struct vs_conf_cluster { char *name, *pool, *datastore; };
struct vs_conf_host { char *name, *leaf; };	/* expanded, one per host */
struct vs_conf_node {		/* one per Slurm node of ours */
	char *name;
	char *partition;	/* the vsphere.conf line that speaks for it */
	char *adapter;
	int vcpus;
	int64_t memory_mb;
	bool exclusive;		/* all its partitions are OverSubscribe=EXCLUSIVE */
	bool dynamic;		/* not in slurm.conf: created at run time */
	/* "10.1.0.7/16", with commas for several cards; "dhcp"; NULL: the guest's
	 * own. The first card is the template's, for management. */
	char *address, *first_address;
};
struct vs_conf {
	char *vcenter, *username, *password_file, *ca_file;
	unsigned int password_uid;	/* SlurmUser */
	bool insecure;
	char *datacenter, *folder, *datastore;
	char *placement, *mode;		/* "manage" or "observe" */
	char *clone_parents;		/* one for each "datastore" or "host" */
	bool oversubscribe_names;	/* rule B */
	bool admin_comment;		/* what a job got goes there, too */
	char *control_addr;		/* listen here, "127.0.0.1" */
	int control_port;
	char *metrics_addr;		/* serve metrics here, "127.0.0.1" */
	int metrics_port;		/* 0: nowhere */
	bool metrics_remote;		/* metrics_addr may be no loopback's */
	char *munge_socket;		/* NULL: libmunge's default */
	char *state_dir;		/* StateSaveLocation */
	char *slurm_cluster;
	char *conf_server;	/* "ctl1:6817,ctl2:6817", for slurmd in guests */
	int vmotions_max;	/* on a host at once, 0: none are done */
	int provision_max, power_max, host_max;	/* operations in flight */
	int health_drains;	/* on a host that keep VMs away, 0: never */
	int clones_max;			/* VMs made in an hour, 0: any number */
	int prefetch;		/* VMs made ahead at a time, 0: none */
	int prefetch_window_s, prefetch_grace_s;
	int boot_timeout_s;		/* power-on to registered */
	int prolog_timeout_s;
	int shutdown_grace_s;
	int suspend_time_s, resume_timeout_s;
	int kill_tries_s;		/* slurmctld tries as long to reach a slurmd */
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

/* ---- answers for the select plugin ---------------------------------------- */
enum vs_avail {
	VS_AVAIL_NONE,		/* cannot be served now */
	VS_AVAIL_NEW,		/* a VM must be built */
	VS_AVAIL_OFF,		/* its VM exists, powered off */
	VS_AVAIL_WARM,		/* powered on and right */
	VS_AVAIL_ALIEN,		/* no node of ours: not our business */
};

/* A job that may be ended for another's sake. */
struct vs_victim {
	const int *ids;			/* its nodes of ours */
	size_t n;
	uint32_t job;
};

/* Why a job was refused, the strongest first. */
enum vs_lacks {
	VS_LACKS_VFS,		/* or another share of what VMs need */
	VS_LACKS_TURN,		/* what is free is kept for others before it */
	VS_LACKS_NODES,		/* by Slurm's own word: they have other jobs */
};

/* A job that a question is asked for. Times are seconds since the epoch. */
struct vs_asker {
	uint32_t job;
	uint64_t rank;		/* the higher the sooner, then by job */
	int64_t now, lasts;	/* its time limit, s */
	bool in_order;		/* it passes nobody who was refused before it */
	bool in_backfill;	/* so that a scheduler's own word counts more */
	bool reserved;		/* it runs in a reservation */
	uint32_t passes;	/* of backfill, that have ended */
	enum vs_lacks lacks;	/* for refused() */
};

/* What a submission is judged by, of a node. */
struct vs_kind {
	int adapter;		/* -1: it is none of ours */
	int like;		/* the same for VMs that are alike, from 0 */
	int cards;		/* VFs that its VM takes, 0: it needs none */
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
	VS_TIMED
};

struct vs_core_api {
	unsigned int version;		/* VS_CORE_API_VERSION */

	void (*log_to)(vs_log_sink *sink);
	/* Set up what this process shares with other plugins: libcurl. Call it
	 * in the thread that initializes plugins, before any of them has another
	 * thread. Returns 0, or -1 and sets err. */
	int (*setup)(struct vs_err *err);
	/* Take over conf and start (or go on with the new conf: the old one
	 * stays in force and -1 is returned if the new one can't be used).
	 * port must live for ever. */
	int (*start)(struct vs_conf *conf_take, const struct vs_port *port,
		     struct vs_err *err);
	void (*stop)(void);		/* join the threads; for fini */
	bool (*running)(void);

	/* Node ids are dense indexes into conf->nodes of the conf in force;
	 * epoch changes with every start(), and asks for new ids. */
	uint64_t (*epoch)(void);
	void (*node_ids)(const char *const *names, size_t n, int *ids);
				/* -1: not ours */

	/* The job for which the questions that follow are asked would end then,
	 * s since the epoch; 0: nobody knows. */
	void (*asks)(int64_t end);

	/* Each node alone, could it be served now: out[i] for ids[i]. And how
	 * many of them together, at most n, which need not be a prefix; what
	 * else is to be said of that into why, as refused() takes it. out and
	 * why may be NULL. */
	size_t (*room)(const int *ids, size_t n, enum vs_avail *out,
		       char *why, size_t why_size);
	/* All of them together? If not: surplus[k] = indexes into ids that
	 * must go, count in *nsurplus (surplus has room for n). */
	int (*check)(const int *ids, size_t n, size_t *surplus,
		     size_t *nsurplus, struct vs_err *err);
	/* Static capacity: could these n ever be on together? Unknown: yes. */
	bool (*ever)(const int *ids, size_t n, struct vs_err *err);
	/* As ever: how many VMs like those of these nodes could be on together,
	 * `want` at the most and if that is not known; one for each node, or
	 * (more) any number. */
	size_t (*capacity)(const int *ids, size_t n, size_t want, bool more);
	/* The kind of each; adapter is an index into *names, which ends with
	 * NULL: free() each and it. */
	void (*kinds)(const int *ids, size_t n, struct vs_kind *out,
		      char ***names);
	/* Slurm made its node table anew: who keeps ids by its indexes asks for
	 * them again, for epoch changes. */
	void (*renumbered)(void);
	/* A job was refused: it needs `need` nodes out of ids, and could have
	 * `have` of them. why: a sentence of its own, or what follows that count
	 * and begins with a comma, colon or semicolon, or ""; of nodes: how many
	 * it has. If it lacks VFs, idle warm VMs that it can't use may be
	 * reclaimed for it; else it is for its reason alone. */
	void (*refused)(const struct vs_asker *a, const int *ids, size_t n,
			size_t need, size_t have, const char *why);

	/* How many of these nodes may begin now without standing in the way of
	 * those who go before; avail (as from room) becomes NONE for those that
	 * may not at all. *left: how many might, if all could be served now. */
	size_t (*spare)(const struct vs_asker *a, const int *ids, size_t n,
			enum vs_avail *avail, size_t *left);
	/* The earliest time, from `from` on, at which the VMs of all these may
	 * be there; more than a month from now: nobody knows. */
	int64_t (*when)(const struct vs_asker *a, const int *ids, size_t n,
			int64_t from);
	/* May VMs other than these nodes' make room, by then, for VMs like theirs?
	 * None that those who go before may have taken counts; false only where
	 * room is all that is lacking. */
	bool (*others_give)(const struct vs_asker *a, const int *ids, size_t n,
			    int64_t by);
	/* Backfill has planned the job on (nodes like) these. Lower ones are
	 * tested against it until it begins or is no more. */
	void (*planned)(const struct vs_asker *a, const int *ids, size_t n,
			int64_t start);
	/* The end of a job that begins, as known now. */
	void (*job_until)(uint32_t job, int64_t end);
	/* Slurm's reservations, all of them. */
	void (*reserved)(const struct vs_reservation *r, size_t n);

	/* A job would run on all of ids if they could be served. Whose end would
	 * give it what it lacks? take[i] is set for those that are needed (the
	 * first are to go first), and their number returned: their VMs go off
	 * when they have left, and until then no other job gets them. 0: what is
	 * idle or on its way out will do. -1: all their ends would not. */
	int (*make_room)(uint32_t job, const int *ids, size_t n,
			 const struct vs_victim *victims, size_t nvictims,
			 bool *take);

	/* Place and hold the job's final nodes. -1: the job must stay pending. */
	int (*job_begin)(uint32_t job, uint32_t restart, const int *ids,
			 size_t n, struct vs_err *err);
	/* The job's nodes must be up; answer by port->prolog_done. Comes again
	 * after a restart, without a job_begin before it: idempotent. */
	void (*job_wait)(uint32_t job, uint32_t restart, const int *ids,
			 size_t n);
	/* The job has left these nodes (end, requeue, shrink); idempotent.
	 * notify: port->epilog_done is expected. */
	void (*job_end)(uint32_t job, const int *ids, size_t n, bool notify);
	/* A running job after a restart: its nodes are claimed. launched: Slurm
	 * believes that it runs there, and will power up none of them for it. */
	void (*job_claim)(uint32_t job, uint32_t restart, const int *ids,
			  size_t n, bool launched);
	/* Why a pending job waits, or "" */
	void (*why)(uint32_t job, char *out, size_t size);

	/* Who answers slurmctld's prolog and epilog calls: the prep plugin
	 * gives its two functions here, and the engine calls them instead of
	 * port->prolog_done and port->epilog_done. From the engine's thread,
	 * exactly once for each job_wait and each job_end with notify; no lock
	 * of ours held. May be set before start(), and again. */
	void (*prep_hooks)(void (*prolog_done)(uint32_t job, bool ok),
			   void (*epilog_done)(uint32_t job));
	/* An administrator has a look (a reconfigure that changes nothing): try
	 * vCenter again now, a refused password too. */
	void (*try_again)(void);
	/* This process takes control of the cluster, and may have had it before:
	 * all that is known of jobs is forgotten, job_claim tells it anew. */
	void (*new_term)(void);
	/* So long a call or a lock of slurmctld's was kept, and what of it was
	 * our own work: for svf status. */
	void (*timed)(enum vs_timed what, int64_t us, int64_t cpu_us);
};
#define VS_CORE_API_VERSION 17
const struct vs_core_api *vs_core_api_get(void);

/* ---- reports, for the control channel ------------------------------------- */
struct json_object;
/* "hosts", "nodes", "jobs", "why" (job), "status", "reconcile". Caller owns the result; NULL with
 * err. uid decides what may be seen. */
struct json_object *vs_core_report(const char *what, uint32_t job, uint32_t uid,
				   struct vs_err *err);
/* "plan": what would be done now for a job that gets these nodes, as Slurm
 * lists them. Nothing is changed, held or remembered. */
struct json_object *vs_core_plan(const char *nodes, uint32_t uid,
				 struct vs_err *err);
/* The job of a part of it, as Slurm writes it: "3", an array's task, or "+1", a
 * component of a heterogeneous job. 0: there is none. */
uint32_t vs_core_part(uint32_t job, const char *part);
/* What an operator orders: "confirm" (the brake), "adopt" (VMs of a lost
 * cluster id), "forget" (name: a node whose VM is lost with its host), "drain"
 * and "resume" (name: a host; text: why), "drain-requeue" (jobs that can't leave
 * with their VMs are requeued), "leave" and "leave-requeue" (what would become of
 * the VMs there, nothing is ordered), "evict", "requeue", "rebuild" (name:
 * nodes, as Slurm lists them; text: why), "evict-on" and "rebuild-on" (text: the
 * host where their VMs are to be next, if there is room). The caller has asked
 * vs_core_is_operator(). Answers as above. */
struct json_object *vs_core_act(const char *what, const char *name,
				const char *text, uint32_t uid,
				struct vs_err *err);
/* "drain" at a time, s since the epoch: until then the host takes VMs of jobs that
 * end before it. */
struct json_object *vs_core_drain_at(const char *name, const char *text,
				     int64_t at, bool requeue, uint32_t uid,
				     struct vs_err *err);
bool vs_core_is_operator(uint32_t uid);

#endif
