/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core's struct, and those of jobs and prologs that wait. Included by state.h
 * alone, which the other modules include.
 *
 * One mutex (core.lock) guards all of it. The engine's thread takes it for
 * memory work only; it never calls Slurm with the lock held. Threads of
 * slurmctld take it inside their own locks.
 */
#ifndef VS_ENGINE_CORE_H
#define VS_ENGINE_CORE_H

#include <pthread.h>
#include <stdatomic.h>
#include "engine/state/config.h"
#include "engine/state/node.h"
#include "plan/allocation/ledger.h"
#include "plan/placement/placement.h"
#include "plan/placement/snapshot.h"
#include "plan/reconcile/next_action.h"
#include "util/log.h"
#include "util/times.h"
#include "vcenter/calls/calls.h"

struct vs_slurm_ops;

struct vs_cluster_policy {	/* a cluster; "": it is as it should */
	char cluster[VS_MOID_LEN], name[VS_LABEL_LEN], drs[224], ha[224];
	char dpm[320];
	bool moves;			/* DRS moves VMs that are on */
	bool drs_unread, ha_unread;	/* by drs and ha it only may be */
};

struct vs_orphan {			/* managed, and no node has its name */
	char vm[VS_MOID_LEN], name[VS_LABEL_LEN];
	bool there, told, stood_on;	/* stood_on: VMs stand on its disks */
	bool unknown_to_slurm;		/* slurmctld has no node of that name */
	uint64_t judged_after;		/* this slow beat is too old */
	uint64_t op;			/* the client's, 0: none */
	int64_t not_before_ms, shutdown_ms;
	int tries;
	enum vs_removal_state braked;
	UT_hash_handle hh;
};

struct vs_wait {			/* a prolog that waits for its nodes */
	uint32_t job, restart;
	int *ids;
	size_t n;
	int64_t since_ms;
	struct vs_wait *next;
};

#define VS_PENDING_FRESH_MS 15000
#define VS_WAIT_S 10		/* of the wait for updates */
#define VS_SILENT_MS (VS_WAIT_S * 1000 + 3000)
#define VS_PENDING_COUNTS_MS 5000	/* more than a weaker one */
#define VS_PENDING_ASKED_MS 2000	/* since then Slurm has looked elsewhere */
struct vs_pending {			/* a job's last refusal */
	uint32_t job;
	int *ids;
	size_t n, need;
	size_t capacity;		/* of its nodes, when Slurm tested it */
	char why[256], told[256];
	int64_t at_ms, told_ms, lacked_ms;	/* lacked: VFs since, 0: not */
	enum vs_pending_reason lacks;
	bool wiped;			/* Slurm has written over it since */
	bool in_backfill;
	uint64_t rank;
	uint32_t lasts;			/* s, its time limit */
	int64_t planned;		/* by Slurm, s since the epoch; 0: not */
	int64_t expected, expected_ms;	/* s since the epoch; 0: not known */
	UT_hash_handle hh;
};

/* What is costly to know of a profile, until something changes. */
struct vs_profile_capacity {
	uint64_t question;		/* room was asked for in this one, */
	uint64_t sums, avoid;		/* and is of these generations, */
	uint32_t seen, facts;		/* and of these: moved by what changed */
	size_t room[2];			/* for new VMs, for those that exist */
	char why[2][256];		/* of what hosts share, what allows no
					 * more, "": nothing */
	char hash[VS_PROFILE_HASH_LEN];	/* "": not known */
	char missing[256];		/* why its template can't be cloned, "" */
	bool hostless;			/* that is said by template_host.c */
	char template_host[VS_MOID_LEN]; /* where it is registered, "" unknown */
	enum vs_vc_auto template_link;	/* of vCenter to that host */
	char barred[256];		/* why no new job gets a node of it, "" */
	char barred_new[256];		/* the same for nodes without a VM */
	bool more_nodes;		/* than VFs, by the configuration */
};

struct vs_core {
	pthread_mutex_t lock;
	int wake_fd;
	int64_t (*clock)(void);		/* NULL: vs_now_ms */

	struct vs_conf *conf;
	const struct vs_slurm_ops *port;
	uint64_t epoch;

	/* made from conf (reconfigure.c) */
	struct vs_adapter *adapters;	/* conf->nadapters */
	struct vs_network *nets;	/* one per adapter; moid "" unresolved */
	struct vs_rail_group *rails;	/* those that take several VFs */
	size_t nrails;
	struct vs_profile *profiles;	/* one per distinct setting */
	struct vs_profile_capacity *now;	/* one per profile */
	size_t nprofiles;
	struct vs_node *nodes;
	struct vs_node_summary *kept;		/* by node->id */
	size_t nnodes;
	bool observe;
	char cluster_id[VS_UUID_LEN];

	/* vCenter's word */
	struct vs_vc *vc;
	int release;			/* vCenter's, 0: not known */
	bool found, loaded;	/* names resolved; between load_end and down */
	char folder[VS_MOID_LEN], store[VS_MOID_LEN];
	char **cluster_moids, **pool_moids; /* side by side, then NULL */
	struct vs_inventory inv;
	uint64_t slow_seq;		/* slow beats delivered */
	bool ready;			/* first pass after load is done */
	bool started;			/* first pass of this controller is done */
	char blocked[320];		/* why nothing may be done, or "" */
	char unserved[320];		/* why no job gets a VM, or "" */
	struct vs_cluster_policy *guards;
	size_t nguards;
	char vc_state[640];		/* why vCenter is not there, or "" */

	uint32_t facts_epoch;	/* see vs_nodes_mark_changed; begins with 1 */
	struct vs_ledger ledger;
	LIST_HEAD(, vs_node) busy;	/* nodes with a call under way */
};

#endif
