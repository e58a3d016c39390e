/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node, the call that is under way for its VM, and who works on it: a part of
 * core_i.h, which brings the parts that a node has.
 */
#ifndef VS_ENGINE_NODE_I_H
#define VS_ENGINE_NODE_I_H

#include "engine/state/operation.h"

#define VS_TRIES_MAX 6
#define VS_SETTLE_MS 15000

/* A VM that must be there and isn't shown: as we saw it, or as Slurm says. */
enum vs_missing { VS_MISSING_NOT, VS_MISSING_SEEN, VS_MISSING_SLURM };

/* What was last said in the log of a drained node's power-down. */
enum vs_said { VS_SAID_NOTHING, VS_SAID_STAYS, VS_SAID_DOWN };

struct vs_claim { uint32_t job, restart; bool runs; };

/* What is known of a node until one of its facts is touched: few bytes, side
 * by side, for those that ask of all nodes at once. */
struct vs_kept {
	uint32_t epoch;			/* of c->facts_epoch, 0: not known */
	uint32_t touches;		/* moves with each touch */
	int profile;			/* index of its profile */
	unsigned char avail;		/* enum vs_avail, by its own facts */
	bool holds;			/* it has a place */
	bool place;			/* it needs one besides */
	bool exists;			/* for a VM that is there already */
	bool barred;			/* no new job may have it */
	bool lasts;			/* what bars it: no end is known */
	bool fresh;			/* looked at since */
	bool looked;			/* in this turn: to be acted upon */
	bool rests;			/* nothing is to be done for it */
	bool astir, up;			/* something is; it is wanted as it runs */
	int64_t unserved_ms;		/* avail is none since; 0: it isn't */
};

struct vs_node {
	const char *name;		/* conf's */
	int id;
	const struct vs_profile *profile;
	const struct vs_network *net;
	const struct vs_conf_node *conf;
	char mgmt_mac[VS_MAC_LEN], macs[VS_CARDS_MAX][VS_MAC_LEN];
	struct {			/* guest_words.c's: hashes */
		uint64_t want, shown;	/* 0: not known */
		enum { VS_WORDS_OLD, VS_WORDS_ASKED, VS_WORDS_SET } state;
		char version[64];	/* changeVersion before the call */
	} words;

	struct vs_kept *kept;
	/* Slurm's word */
	uint32_t flags;
	uint32_t job, restart;		/* the claim, job 0: none */
	bool runs;			/* nothing that it waited for is left */
	bool launched;			/* the job ran before we started */
	struct vs_claim *beside;	/* of jobs that share the node with it */
	size_t nbeside, cap_beside;
	int64_t claimed_ms;
	int64_t left_ms;		/* its job went before a boot; 0: not so */
	int64_t up_asked_ms;		/* POWERING_UP since; 0: it isn't */

	/* the comparison of the two truths, and what is done about it */
	enum vs_wanted wanted;
	enum vs_seen seen;
	enum vs_action action;
	struct vs_node_op op;
	struct vs_node_drs drs;
	struct vs_move move;
	struct vs_vmotion vmotion;
	LIST_ENTRY(vs_node) busy; struct vs_parent *parent;	/* while op.id; or NULL */
	struct vs_ahead ahead;
	struct vs_orders orders;
	struct vs_took took;
	uint64_t look_after;		/* wait for this slow beat's number */
	bool renew;			/* up for Slurm, VM not right for claim */
	bool leave;			/* to be powered down when idle */
	int64_t leave_ms;		/* Slurm was told so, 0: not */
	uint32_t reclaimed_for;		/* this job while it goes, 0: none */
	int64_t idle_ms;		/* up, and without a job since */
	int64_t given_ms;		/* to a preemptor, see victims.c; 0: not */
	bool giveup;			/* powering up for nobody any more */
	bool adopt;			/* its VM outlived Slurm's memory of it */
	bool compared;			/* with Slurm's memory, see adopt.c */
	bool cycle;			/* on, but off and on again is needed */
	bool dying;			/* its VM goes by Slurm's or its job's word */
	bool clone_lost;		/* the reply to one; it may be under way */
	bool maintained;		/* drained by us for its host */
	int64_t maintained_ms;
	enum vs_said said;		/* of its power-down for that */
	char drained_on[VS_MOID_LEN];	/* by others, see drain_counts.c; "": it isn't */
	char *foreign;			/* foreign.c's words, or NULL */
	bool forgotten;			/* an operator: its lost VM is no more */
	enum vs_braked braked;
	enum vs_missing missing;
	char alive[VS_MOID_LEN];	/* the VM that was on, "": none */
	bool alive_lost, ran_lost;	/* not within reach when last seen */
	bool known_off;			/* since it was last seen on */
	int64_t silent_ms;		/* while missing, for Slurm too; 0: not */
	int64_t adopt_ms, adopt_asked_ms;
	int tries;
	int64_t not_before_ms;
	int64_t power_sent_ms;		/* our power-on was sent; 0: not by us */
	bool starting;			/* its power-on was sent, not up yet */
	bool died;			/* it went off while it booted */
	bool owed;			/* see clone_quota.h */
	int64_t powered_on_ms;		/* it was seen on */
	int64_t boot_told_ms;		/* Slurm was told of this boot */
	bool boot_ready;		/* the guest says so */
	char boot_host[VS_MOID_LEN], boot_pf[VS_PCI_LEN]; /* where it failed to
				 * boot for this claim, "": nowhere */
	int64_t shutdown_ms;		/* guest asked to shut down */
	int64_t off_asked_ms;		/* the same, for vs_metrics_off alone */
	int64_t ready_since_ms;		/* wanted READY for how long */
	int64_t reported_ms, action_since_ms;
	int64_t going_ms;		/* it is to go off since, 0: it isn't */
	int64_t ending_ms;		/* a job's late kill may come until then; 0 */
	int64_t stuck_ms;		/* off and COMPLETING since; or 0 */
	char ran_on[VS_MOID_LEN];	/* where its VM was seen on, "": nowhere */
	struct vs_err last_err;
};

#endif
