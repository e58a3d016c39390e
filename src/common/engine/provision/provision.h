/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The next call to vCenter for a node (operations.c, requests.c), what a failure leads
 * to (failures.c), and DRS's advice before a clone (drs_advice.c).
 *
 * The module owns each node's power and drs. The caller holds the core's lock. A call
 * is handed to the client, and no function here waits for its end.
 */
#ifndef VS_ENGINE_PROVISION_H
#define VS_ENGINE_PROVISION_H

#include "engine/allocation/allocation.h"
#include "engine/state/state.h"

struct json_object;

/* ---- operations.c: calls for a node ------------------------------------------- */

int vs_op_start(struct vs_core *c, struct vs_node *n, enum vs_action action,
		int64_t now_ms);
/* The same for a claim that isn't the node's: a clone whose VM stays off, a
 * vMotion. */
void vs_op_at(struct vs_core *c, struct vs_node *n, enum vs_action action,
	      struct vs_claim *at, int64_t now_ms);
void vs_unowned_tasks_update(struct vs_core *c, int64_t now_ms);
void vs_op_cancel(struct vs_core *c, struct vs_node *n);
/* vCenter shows the node's VM on, for the first time since it was off. */
void vs_power_on_observed(struct vs_node *n, int64_t now_ms);
/* vCenter doesn't show the VM on. sure: it is off, or there is none, so no power-on
 * by slurm-vsphere is on its way. */
void vs_power_on_over(struct vs_node *n, bool sure);
/* The node is up for Slurm: its power-on has ended well. */
void vs_power_on_served(struct vs_node *n);
/* A shutdown of the guest that was asked for counts no more. */
void vs_shutdown_forget(struct vs_node *n);
void vs_op_await(struct vs_core *c, struct vs_node *n, int64_t now_ms);
void vs_op_forget_all(struct vs_core *c);	/* the client is gone */
void vs_op_adopt_tasks(struct vs_core *c, const struct vs_vc_task *tasks,
		       size_t n);

/* requests.c: hands the action's call to the client. */
int64_t vs_op_send(struct vs_core *c, struct vs_node *n, struct vs_claim *h,
		   struct vs_vm *vm, enum vs_action action, int64_t now_ms,
		   const struct vs_vc_op *op, enum vs_op_type *kind,
		   struct vs_err *err);

/* ---- failures.c --------------------------------------------------------------- */

/* The owner's part of a failed call (tasks.h), of any but a vMotion. Other modules
 * call vs_task_failed(). */
void vs_node_failed(struct vs_core *c, struct vs_node *n, enum vs_op_type kind,
		    const char *host, const struct vs_err *err, int64_t now_ms);
void vs_node_force_release(struct vs_node *n, const char *why);

/* ---- drs_advice.c: Placement=drs ---------------------------------------------- */

/* Sets whether DRS is asked at all. */
void vs_drs_use(bool on, bool some);
/* Does the node's clone have to wait for DRS's advice? Asks vCenter if that is needed.
 * The node keeps its place in any case. */
bool vs_drs_waits(struct vs_core *c, struct vs_node *n, int64_t now_ms);
/* vCenter's answer; err is NULL on success. */
void vs_drs_answered(struct vs_core *c, uint64_t id, const char *host,
		     const struct vs_err *err);
/* The client is down: no answer comes. */
void vs_drs_forget(struct vs_core *c);
/* Hears of claims that are taken: no advice on them was asked for yet. */
vs_claim_fn vs_drs_claim_changed;
/* Adds the counts of advice to svf status. */
void vs_report_drs(struct json_object *top);

#endif
