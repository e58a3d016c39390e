/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each node as it is to be and as it is, and one step from here to there. The lock is
 * held.
 */
#ifndef VS_ENGINE_RECONCILE_H
#define VS_ENGINE_RECONCILE_H

#include "engine/allocation/allocation.h"
#include "engine/state/state.h"

/* node.c: one node's comparison; lock held. Hears of jobs that claim a node. */
vs_claim_fn vs_node_claim_changed;
void vs_node_flags(struct vs_core *c, struct vs_node *n, uint32_t flags);
void vs_node_observe(struct vs_core *c, struct vs_node *n, int64_t now_ms);
void vs_node_apply(struct vs_core *c, struct vs_node *n, int64_t now_ms);

/* foreign.c: sets n->foreign to the reason why a foreign VM keeps jobs from the
 * node, or to NULL. The node owns the text. The caller holds the core's lock and
 * has set n->seen. */
void vs_foreign_observe(struct vs_core *c, struct vs_node *n);

/* missing_vm.c: VMs that vCenter doesn't show and that are not gone; lock held */
void vs_missing_observe(struct vs_core *c, struct vs_node *n, int64_t now_ms);
bool vs_missing_forget(struct vs_node *n);
/* An operator says that the node's VM, which is out of reach, is lost. */
void vs_missing_declare_lost(struct vs_node *n);
/* Its host answers: the VM is not lost. */
void vs_missing_within_reach(struct vs_node *n);

/* boot.c: from Slurm's request to registration; lock held */
void vs_boot_asked(struct vs_core *c, struct vs_node *n, uint32_t flags);
void vs_boots_push(struct vs_core *c, int64_t now_ms);
/* As vs_waits_paused(), of nodes that Slurm powers up for no job. */
void vs_boots_paused(struct vs_core *c, int64_t since_ms, int64_t now_ms);
void vs_boot_apply(struct vs_core *c, struct vs_node *n, int64_t now_ms);
bool vs_boot_comes_late(const struct vs_node *n, uint32_t flags);

/* adopt.c: VMs that run under powered-down nodes after a start; lock held */
bool vs_adopt_lost(struct vs_core *c, const struct vs_node *n);
void vs_adopt_observe(struct vs_core *c, struct vs_node *n, int64_t now_ms);
void vs_adopt_looked(struct vs_core *c, struct vs_node *n);
void vs_adopt_apply(struct vs_core *c, struct vs_node *n, int64_t now_ms);

/* lost_guest.c: jobs whose guest is no more */
/* That is over; and where is the VM? Before anything else is judged. */
void vs_guest_lost_observe(struct vs_core *c, struct vs_node *n,
			   int64_t now_ms);
/* Switches a suspended VM off whose node Slurm is completing, or has set DOWN because
 * it is silent: no job of it is left to be resumed. */
void vs_guest_lost_suspended_apply(struct vs_core *c, struct vs_node *n,
				   int64_t now_ms);
/* A job whose VM was started again elsewhere is requeued. */
void vs_guest_lost_apply(struct vs_core *c, struct vs_node *n, int64_t now_ms);

/* orphan_vms.c: managed VMs that belong to no node; lock held */
void vs_orphans_update(struct vs_core *c, int64_t now_ms);
void vs_orphans_tasks(struct vs_core *c, const struct vs_vc_task *tasks,
		      size_t n);
void vs_orphans_forget_calls(struct vs_core *c);
void vs_orphans_clear(void);
const struct vs_orphan *vs_orphans(void);	/* uthash by moid */
/* An operator has confirmed those that wait: how many did. */
size_t vs_orphans_confirm(int64_t minute);
/* There are holds of names that are no nodes. */
void vs_orphans_claims_left(void);
/* Their names, for Slurm to say which are nodes: rows whose flags are not 0. Returns
 * how many; the caller frees *rows and the names. */
struct vs_slurm_node;
size_t vs_orphans_list(struct vs_slurm_node **rows);
void vs_orphans_answered(const struct vs_slurm_node *rows,
			 size_t n);

#endif
