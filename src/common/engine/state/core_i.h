/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine's inside: one struct with everything the core knows, and what
 * its files ask of each other. Not for anybody outside this room.
 *
 * One mutex (core.lock) guards all of it. The engine's thread takes it for
 * memory work only; it never calls the port with the lock held. Threads of
 * slurmctld take it inside their own locks.
 */
#ifndef VS_ENGINE_CORE_I_H
#define VS_ENGINE_CORE_I_H

#include <pthread.h>
#include <stdatomic.h>
#include "engine/hosts/exclusions.h"
#include "engine/tasks/removal_guard.h"
#include "engine/checks/site_checks.h"
#include "engine/tasks/clone_quota.h"
#include "engine/core.h"
#include "engine/metrics/metrics_i.h"
#include "engine/state/counters.h"
#include "engine/prefetch/prefetch.h"
#include "engine/jobs/startup_times.h"
#include "engine/forecast/forecast.h"
#include "engine/provision/drs_advice.h"
#include "engine/maintenance/maintenance.h"
#include "engine/vmspec/move.h"
#include "engine/maintenance/vm_orders.h"
#include "engine/clone_source/clone_source.h"
#include "plan/allocation/ledger.h"
#include "plan/placement/placement.h"
#include "plan/placement/snapshot.h"
#include "plan/reconcile/next_action.h"
#include "util/times.h"
#include "vcenter/calls/calls.h"
#include "engine/state/node_i.h"

struct vs_tell;

struct vs_orphan {			/* ours, and no node has its name */
	char vm[VS_MOID_LEN], name[VS_LABEL_LEN];
	bool there, told, stood_on;	/* stood_on: VMs stand on its disks */
	bool unknown_to_slurm;		/* slurmctld has no node of that name */
	uint64_t judged_after;		/* this slow beat is too old */
	uint64_t op;			/* the client's, 0: none */
	int64_t not_before_ms, shutdown_ms;
	int tries;
	enum vs_braked braked;
	UT_hash_handle hh;
};

struct vs_wait {			/* a prolog that waits for its nodes */
	uint32_t job, restart;
	int *ids;
	size_t n;
	int64_t since_ms;
	struct vs_wait *next;
};

#define VS_REFUSAL_FRESH_MS 15000
#define VS_WAIT_S 10		/* of the wait for updates */
#define VS_SILENT_MS (VS_WAIT_S * 1000 + 3000)
#define VS_REFUSAL_COUNTS_MS 5000	/* more than a weaker one */
#define VS_REFUSAL_ASKED_MS 2000	/* since then Slurm has looked elsewhere */
struct vs_refused {			/* a job's last refusal */
	uint32_t job;
	int *ids;
	size_t n, need;
	char why[256], told[256];
	int64_t at_ms, told_ms, lacked_ms;	/* lacked: VFs since, 0: not */
	enum vs_lacks lacks;
	bool wiped;			/* Slurm has written over it since */
	bool in_backfill;
	uint64_t rank;
	uint32_t lasts;			/* s, its time limit */
	int64_t planned;		/* by Slurm, s since the epoch; 0: not */
	int64_t expected, expected_ms;	/* s since the epoch; 0: not known */
	UT_hash_handle hh;
};

/* What is costly to know of a profile, until something changes. */
struct vs_profile_now {
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
	bool rule_a;			/* broken by the configuration */
};

struct vs_core {
	pthread_mutex_t lock;
	int wake_fd;
	int64_t (*clock)(void);		/* NULL: vs_now_ms */

	struct vs_conf *conf;
	const struct vs_port *port;
	uint64_t epoch;

	/* made from conf (reconfigure.c) */
	struct vs_adapter *adapters;	/* conf->nadapters */
	struct vs_network *nets;	/* one per adapter; moid "" unresolved */
	struct vs_rail_kind *rails;	/* those that take several VFs */
	size_t nrails;
	struct vs_profile *profiles;	/* one per distinct setting */
	struct vs_profile_now *now;	/* one per profile */
	size_t nprofiles;
	struct vs_node *nodes;
	struct vs_kept *kept;		/* by node->id */
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
	struct vs_guard *guards;
	size_t nguards;
	char vc_state[640];		/* why vCenter is not there, or "" */

	uint32_t facts_epoch;		/* see vs_nodes_touch; begins with 1 */
	struct vs_ledger ledger;
	LIST_HEAD(, vs_node) busy;	/* nodes with a call under way */
};

/* reconfigure.c: all with the lock held */
int vs_setup_check(const struct vs_conf *conf, struct vs_err *err);
void vs_setup_apply(struct vs_core *c, struct vs_conf *conf_take);
void vs_setup_macs(struct vs_core *c);

/* vcenter_events.c: what the client calls back, in the engine's thread. together()
 * takes the lock and gives it back; all others need it. */
extern const struct vs_vc_events vs_watch_events;

/* vcenter_connect.c: a client for the configuration in force; lock held */
struct vs_vc *vs_watch_connect(struct vs_core *c, struct vs_err *err);

/* from_vcenter.c: vCenter's records into the inventory; lock held */
void vs_host_update(struct vs_core *c, const struct vs_vc_host *h);
void vs_host_remove(struct vs_core *c, const char *moid);
void vs_vm_update(struct vs_core *c, const struct vs_vc_vm *v);
void vs_vm_remove(struct vs_core *c, const char *moid);

/* periodic.c: what vCenter doesn't stream is asked for now; has come. Lock held */
void vs_slow_begin(struct vs_core *c);
void vs_slow_update(struct vs_core *c, const struct vs_vc_slow *s);

/* activity.c: how soon changes must be known, told to the client; lock held. stirs:
 * something is wanted or under way; keeps: some VMs are kept on. */
void vs_calm_tell(struct vs_core *c, bool stirs, bool keeps, int64_t now_ms);
void vs_calm_end(int64_t now_ms);	/* an operator asks: at once */

/* orphan_vms.c: VMs of ours that no node stands for; lock held */
void vs_orphans_pass(struct vs_core *c, int64_t now_ms);
void vs_orphan_busy(struct vs_core *c, const struct vs_vm *vm);
void vs_orphans_forget_calls(struct vs_core *c);
void vs_orphans_clear(void);
const struct vs_orphan *vs_orphans(void);	/* uthash by moid */
/* An operator has confirmed those that wait: how many did. */
size_t vs_orphans_confirm(int64_t minute);
/* They are looked for in the next turn, however short ago they were. */
void vs_orphans_look_again(void);
/* There are holds of names that are no nodes. */
void vs_holds_left(void);
/* Their names, for Slurm to say which are nodes: rows whose flags are not 0. Returns
 * how many; the caller frees *rows and the names. */
size_t vs_orphans_list(struct vs_port_node **rows);
void vs_orphans_seen(const struct vs_port_node *rows,
		     size_t n);

/* state_file.c */
char *vs_hints_read(const char *state_dir);	/* no lock held; free() it */
void vs_hints_load(struct vs_core *c, const char *text);	/* lock held */
/* What is to be written now, and where. Returns NULL if nothing is. The lock is held,
 * and lent meanwhile. */
struct json_object *vs_hints_due(struct vs_core *c, int64_t now_ms,
				 char **path);
/* Frees both. No lock held. */
void vs_hints_write(struct json_object *top_take, char *path_take);

/* leadership.c: the engine's thread, no lock held */
struct vs_term {
	bool held;
	int lock_fd;			/* -1: none */
	int64_t waits_since_ms;		/* for another one's end, 0: not */
	char *control_at;		/* svf is answered there, NULL: not */
	char *control_why;		/* told of why not */
	int64_t control_ms;		/* looked at then */
	struct vs_metrics_place metrics;
};
bool vs_term_holds(struct vs_core *c, struct vs_term *t);
void vs_term_yield(struct vs_core *c, struct vs_term *t);
void vs_term_new(struct vs_core *c);	/* lock held, any thread */

/* slurm_poll.c: what Slurm is asked and told, and the state file. The engine's
 * thread, no lock held */
void vs_waits_gone(struct vs_core *c);	/* prologs of jobs that wait no more */
void vs_orphans_ask_slurm(struct vs_core *c);
void vs_prefetch_read(struct vs_core *c, int64_t now_ms);
void vs_jobs_recheck(struct vs_core *c);	/* those that were refused */
void vs_when_look(struct vs_core *c);	/* at jobs that the timeline has */
void vs_leaving_say(struct vs_core *c, int64_t now_ms);	/* reservations */
void vs_hints_save(struct vs_core *c, int64_t now_ms);
/* Says the words in their order. *push_ms: when power saving was last told of
 * nodes. */
void vs_say_all(struct vs_core *c, struct vs_tell *tells, size_t n,
		int64_t now_ms, int64_t *push_ms);

/* loop.c */
void vs_pass(struct vs_core *c, int64_t now_ms);	/* lock held */
void vs_calm(struct vs_core *c, int64_t now_ms);	/* after it; lock held */
void *vs_loop_main(void *arg);
/* The thread is to end. */
bool vs_core_stops(void);
/* slurmctld's exit() waits for the thread from now on. To be called when the
 * libraries that clean up at exit have registered for it. */
void vs_core_stops_at_exit(void);

#include "engine/state/state.h"
#include "engine/slurm/outbox.h"
#include "engine/reconcile/boot.h"
#include "engine/checks/checks.h"
#include "engine/allocation/allocation.h"
#include "engine/jobs/jobs.h"
#include "engine/state/durations.h"
#include "engine/allocation/datastores.h"

#endif
