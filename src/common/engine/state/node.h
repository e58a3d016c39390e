/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node: the call that is under way for its VM, and what each module of the engine
 * keeps of it. Included by state.h alone, which the others include.
 *
 * Rules: a struct that a node embeds is here, so that no header of this module needs
 * one of a module above it; the module that its comment names alone writes it. The
 * caller holds the core's lock.
 */
#ifndef VS_ENGINE_NODE_H
#define VS_ENGINE_NODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include "engine/state/config.h"
#include "plan/inventory/inventory.h"
#include "plan/reconcile/next_action.h"
#include "util/err.h"
#include "util/name.h"
#include "util/nic.h"

struct vs_clone_source;
struct vs_core;

enum vs_op_type { VS_OP_NONE, VS_OP_CLONE, VS_OP_RECONFIGURE, VS_OP_RELOCATE,
		  VS_OP_POWER_ON, VS_OP_SHUTDOWN, VS_OP_POWER_OFF,
		  VS_OP_DESTROY, VS_OP_ADOPTED, VS_OP_VMOTION, VS_OPS };

/* tasks: one call under way for a node, or just done and not yet shown by vCenter. */
struct vs_node_op {
	enum vs_op_type kind;
	uint64_t id;			/* the client's; 0: done, settling */
	char task[VS_MOID_LEN];
	char vm[VS_MOID_LEN], source[VS_MOID_LEN];	/* a clone's parent */
	char host[VS_MOID_LEN];
	int64_t since_ms;		/* sent, or done while settling */
	bool cancel_asked;
	bool devices;			/* its spec adds VFs or devices */
};

#define VS_TRIES_MAX 6
#define VS_AWAIT_MS 15000

/* When a node's next call may be sent, and why the last one failed. tasks/retry.c
 * alone writes it. */
struct vs_node_retry {
	int tries;			/* failures in a row */
	int64_t not_before_ms;
	uint64_t look_after;		/* wait for this slow beat's number */
	struct vs_err err;		/* code VS_OK: none counts */
};

/* A VM that must be there and isn't shown: as we saw it, or as Slurm says. */
enum vs_missing { VS_MISSING_NOT, VS_MISSING_OBSERVED, VS_MISSING_SLURM };

/* What was last said in the log of a drained node's power-down. */
enum vs_said { VS_SAID_NOTHING, VS_SAID_STAYS, VS_SAID_DOWN };

struct vs_node_job { uint32_t job, restart; bool runs; };

/* What is known of a node until one of its facts is touched: few bytes, side
 * by side, for those that ask of all nodes at once. */
struct vs_node_summary {
	uint32_t epoch;			/* of c->facts_epoch, 0: not known */
	uint32_t touches;		/* moves with each touch */
	int profile;			/* index of its profile */
	unsigned char avail;		/* enum vs_avail, by its own facts */
	bool holds : 1;			/* it has a place */
	bool place : 1;			/* it needs one besides */
	bool exists : 1;		/* for a VM that is there already */
	bool barred : 1;		/* no new job may have it */
	bool lasts : 1;			/* what bars it: no end is known */
	bool fresh : 1;			/* looked at since */
	bool looked : 1;		/* in this turn: to be acted upon */
	bool rests : 1;			/* nothing is to be done for it */
	bool astir : 1, up : 1;		/* something is; it is wanted as it runs */
	int64_t unserved_ms;		/* avail is none since; 0: it isn't */
};
_Static_assert(sizeof(struct vs_node_summary) <= 24, "all nodes' stay cached");

/* Who has the node: jobs/ alone writes it. */
struct vs_node_claims {
	uint32_t job, restart;		/* job 0: none */
	struct vs_node_job *beside;	/* of jobs that share the node with it */
	size_t nbeside, cap_beside;
	int64_t since_ms;
	int64_t left_ms;		/* its job went before a boot; 0: not so */
	int64_t promised_ms;		/* to a preemptor, see victims.c; 0: not */
	int64_t ending_ms;		/* a job's late kill may come until then; 0 */
	uint32_t reclaimed_for;		/* this job while it goes, 0: none */
};

/* Its VM's power, as our calls and vCenter show it: provision/ alone writes it. */
struct vs_node_power {
	int64_t sent_ms;		/* our power-on was sent; 0: not by us */
	int64_t on_ms;			/* it was seen on; 0: it isn't */
	int64_t shutdown_ms;		/* guest asked to shut down */
};

/* Its VM's boot: reconcile/boot.c and node.c. */
struct vs_node_boot {
	int64_t up_asked_ms;		/* POWERING_UP since; 0: it isn't */
	int64_t told_ms;		/* this boot was reported to Slurm */
	char host[VS_MOID_LEN], pf[VS_PCI_LEN]; /* where it failed to boot for
				 * this claim, "": nowhere */
};

/* Its VM must be there and isn't shown: reconcile/missing_vm.c. */
struct vs_node_absent {
	enum vs_missing how;
	char vm[VS_MOID_LEN];		/* the VM that was on, "": none */
	int64_t silent_ms;		/* while missing, for Slurm too; 0: not */
};

/* Its VM outlived Slurm's memory of it: reconcile/adopt.c. */
struct vs_node_adoption {
	int64_t since_ms, asked_ms;
};

/* The guest that a job had: reconcile/lost_guest.c. */
struct vs_node_guest {
	char ran_on[VS_MOID_LEN];	/* where its VM was seen on, "": nowhere */
	int64_t stuck_ms;		/* off and COMPLETING since; or 0 */
};

/* Its drain for its host, and its power-down: maintenance/node_drain.c. */
struct vs_node_drain {
	int64_t at_ms;			/* looked at */
	enum vs_said said;		/* of its power-down for that */
	int64_t vacate_ms;		/* its power-down was asked for, 0: not */
};

/* What the job of its latest claim waited for: jobs/startup_times.c. All 0: it began
 * before this process. */
struct vs_startup_times {
	int64_t began_ms;		/* the job got the node */
	int64_t lacked_ms;		/* so long had it lacked VFs */
	int64_t clone_ms, change_ms;	/* change: reconfigured, moved */
	int64_t on_ms, boot_ms;		/* boot: from on to registered */
	bool cold;			/* it was not up already */
	int64_t up_ms;			/* all of the job's were; 0: not yet */
};

/* Does the removal limit permit that the VM is powered off or destroyed? A permit is
 * final. tasks/removal_guard.c. */
enum vs_removal_state {
	VS_REMOVAL_UNREQUESTED,
	VS_REMOVAL_PASSED,
	VS_REMOVAL_WAITS
};

/* DRS's advice on its present claim: provision/drs_advice.c. */
struct vs_node_drs {
	uint64_t id;			/* of a question under way, 0: none */
	int64_t since_ms;
	bool settled;			/* it needs no advice any more */
};

/* Relocations of its VM that failed: vmspec/move.c. */
struct vs_move {
	char vm[VS_MOID_LEN];		/* whose moves failed, "": none did */
	int failed;			/* so often, for the hosts' sake */
	bool stuck;			/* it is not moved any more */
};

/* The VM of a node on a host that has to become empty. DUE: it waits for its turn. DRS:
 * DRS is to move it. STAYS: it can't move, why says it, and its job has to end there. */
enum vs_vmotion_state { VS_VMOTION_NONE, VS_VMOTION_DUE, VS_VMOTION_DRS,
			VS_VMOTION_GOES, VS_VMOTION_STAYS };

/* A VM that is to leave its host with its job running: maintenance/evacuate.c. */
struct vs_vmotion {
	enum vs_vmotion_state state;
	char to[VS_MOID_LEN];		/* it goes there, "" */
	char vm[VS_MOID_LEN];		/* which: beyond the call, if that is lost */
	char not_to[VS_MOID_LEN];	/* the last try failed there, "" */
	char why[240];			/* it stays */
	int tries;
	int64_t since_ms, again_ms;	/* again: not looked at before */
};

/* What operators have requested of its VM: maintenance/vm_actions.c. */
struct vs_vm_actions {
	bool evict;		/* its VM goes off when no job has it */
	bool requeue;		/* and its jobs are requeued at once */
	bool drained;		/* Slurm showed its drain */
	char rebuild[VS_MOID_LEN];	/* this VM is destroyed, "": none is */
	char wish[VS_MOID_LEN];	/* the host its VM is to be on next if there is
				 * capacity, "": any; outlives the request */
	char why[120];		/* the operator's note, "": none */
};

enum vs_prefetch_state {
	VS_PREFETCH_NOT,
	VS_PREFETCH_CLONE,		/* its VM is built, and stays off */
	VS_PREFETCH_UP,		/* Slurm was asked to power it up */
	VS_PREFETCH_GOES,		/* no job came: the VM is removed */
};

/* Its VM is made ready for a planned job: prefetch/prefetch.c. */
struct vs_node_prefetch {
	enum vs_prefetch_state state;
	bool built;		/* it had no VM before */
	bool rose;		/* UP: Slurm has begun to */
	uint32_t job;		/* for which it is, or was last, planned */
	uint32_t spent;		/* it was made ready for this one once */
	uint64_t read;		/* the last reading that named it */
	int64_t start_ms;	/* as planned then */
	int64_t since_ms;	/* in this state */
	int64_t unneeded_ms;	/* no plan names it since; 0: one does */
	int64_t suspend_ms;	/* Slurm powers it down after so long idle:
				 * SuspendTime of its partitions; 0: never */
	LIST_ENTRY(vs_node) entry;	/* while it is in some state */
};

/* Since when, in ms of vs_clock(): reconcile/node.c. */
struct vs_node_since {
	int64_t ready_ms;		/* wanted as it is wanted now */
	int64_t action_ms;		/* the action is what it is */
	int64_t reported_ms;		/* an action REPORT was last logged */
	int64_t idle_ms;		/* up, and without a job */
};

/*
 * What is true of a node beside what Slurm and vCenter show. Each has one module
 * that sets it, named here; which combinations are legal is in conditions.c, and
 * what they mean for an administrator in doc/dev/node-states.md.
 */
enum vs_condition {
	VS_COND_JOB_RUNS = 1 << 0,	/* jobs: nothing that the job waited for is left */
	VS_COND_JOB_LAUNCHED = 1 << 1,	/* jobs: the job ran before this process started */
	VS_COND_REBUILD = 1 << 2,	/* jobs: up for Slurm, but its VM is not the job's */
	VS_COND_VACATE = 1 << 3,	/* jobs: is powered down as soon as it is idle */
	VS_COND_RELEASED = 1 << 4,	/* jobs: Slurm was asked to take the node back */
	VS_COND_REMOVABLE = 1 << 5,	/* jobs: Slurm or its job lets the VM go */
	VS_COND_CLONE_RESERVED = 1 << 6, /* tasks: its clone is counted before it is sent */
	VS_COND_CLONE_UNCONFIRMED = 1 << 7, /* clone_source: the reply to its clone is lost */
	VS_COND_STARTING = 1 << 8,	/* provision: a power-on was sent, slurmd isn't up */
	VS_COND_HOST_DRAIN = 1 << 9,	/* maintenance: drained by us for its host */
	VS_COND_POWER_CYCLE = 1 << 10,	/* reconcile: its VM has to go off and on again */
	VS_COND_GUEST_READY = 1 << 11,	/* reconcile: the guest says that it is ready */
	VS_COND_BOOT_DIED = 1 << 12,	/* reconcile: its VM went off while it booted */
	VS_COND_VM_LOST = 1 << 13,	/* reconcile: out of reach when last shown */
	VS_COND_KNOWN_OFF = 1 << 14,	/* reconcile: off since it was last seen on */
	VS_COND_DECLARED_LOST = 1 << 15, /* reconcile: an operator says that its VM is lost */
	VS_COND_ADOPTING = 1 << 16,	/* reconcile: its VM outlived Slurm's memory of it */
	VS_COND_COMPARED = 1 << 17,	/* reconcile: with Slurm's memory, once */
	VS_COND_GUEST_LOST = 1 << 18,	/* reconcile: out of reach since it was seen on */
};

/* Each member has one module that writes it; structure.py knows. */
struct vs_node {
	const char *name;		/* conf's */
	int id;
	const struct vs_profile *profile;
	const struct vs_network *net;
	const struct vs_conf_node *conf;
	char mgmt_mac[VS_MAC_LEN], macs[VS_NICS_MAX][VS_MAC_LEN];
	struct vs_node_summary *kept;

	/* Slurm's word, and the jobs that it gave the node to */
	uint32_t flags;
	struct vs_node_claims claims;

	/* the comparison of the two truths, and what is done about it */
	enum vs_desired wanted;
	enum vs_observed seen;
	enum vs_action action;
	struct vs_node_since since;
	uint32_t conditions;		/* enum vs_condition, by vs_node_condition() */

	/* calls for it */
	struct vs_node_op op;
	LIST_ENTRY(vs_node) busy; struct vs_clone_source *parent; /* while op.id; or NULL */
	struct vs_node_retry retry;
	enum vs_removal_state braked;
	struct vs_node_power power;
	struct vs_node_drs drs;
	struct vs_move move;
	struct {			/* guest_info.c's: hashes */
		uint64_t want, shown;	/* 0: not known */
		enum {
			VS_GUEST_INFO_OLD,
			VS_GUEST_INFO_REQUESTED,
			VS_GUEST_INFO_SET
		} state;
		char version[64];	/* changeVersion before the call */
	} words;

	/* its VM's and its guest's life */
	struct vs_node_boot boot;
	struct vs_node_absent absent;
	struct vs_node_adoption adoption;
	struct vs_node_guest guest;
	char *foreign;			/* foreign.c's words, or NULL */

	/* what is planned for it */
	struct vs_vmotion vmotion;
	struct vs_node_prefetch ahead;
	struct vs_vm_actions orders;
	struct vs_node_drain drain;
	char drained_on[VS_MOID_LEN];	/* by others, see drain_counts.c; "": it isn't */
	struct vs_startup_times took;
	int64_t off_asked_ms;		/* its shutdown, for vs_metrics_off alone */
	int64_t going_ms;		/* it is to go off since, 0: it isn't */
};

/* Is any of these conditions true of the node? */
static inline bool vs_node_is(const struct vs_node *n, uint32_t any)
{
	return n->conditions & any;
}
/* Sets or clears a condition; a change marks the node changed: what is
 * kept of it is known no more, and it doesn't rest (vs_node_stir()). */
void vs_node_condition(struct vs_node *n, enum vs_condition bit, bool on);
/* Returns what is wrong with the node's conditions after a pass, a static text, or
 * NULL if their combination is legal. */
const char *vs_node_illegal(const struct vs_core *c, const struct vs_node *n);
/* What the i-th row of illegal combinations says; NULL: there are no more. */
const char *vs_node_illegal_entry(size_t i);
/* Ends the process if a combination is illegal, in builds for developers
 * (configure --enable-debug); nothing else. */
void vs_node_assert(const struct vs_core *c, const struct vs_node *n);

#endif
