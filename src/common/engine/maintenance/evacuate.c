/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VMs that leave a host which is to be empty with their jobs running, by
 * vMotion, where what they are made of allows it (capability.c). Where to is
 * evacuate_target.c's part; the node's own hold follows the VM (claims.c).
 *
 * Rules: where DRS is fully automated and the host enters maintenance vCenter
 * itself moves them, and we wait for it; a VM goes to a host of its cluster that
 * sees its datastore; so many at a time on each host, coming and going
 * (MaxVmotionsPerHost). What can't be moved, by its type, for want of room, or
 * because vCenter refuses, stays, with the reason: its job ends there, or is
 * requeued by an order (node_drain.c). Nothing is moved for an idle node: its VM
 * goes off.
 */
#include <stdio.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/hosts/hosts.h"
#include "engine/jobs/jobs.h"
#include "engine/maintenance/maintenance.h"
#include "engine/maintenance/maintenance_i.h"
#include "engine/provision/provision.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"

#define AGAIN_MS 500
#define ROOM_MS 5000		/* there was none */
#define DRS_MS (2 * 60 * 1000)	/* of patience with DRS */
#define STAYS_MS (10 * 60 * 1000)	/* after a refusal */
#define TRIES 3

struct vs_vmotions vs_vmotions;

/* ---- what becomes of it ------------------------------------------------------- */

static bool stays(struct vs_node *n, const char *why, int64_t again_ms)
{
	struct vs_vmotion *m = &n->vmotion;

	if (m->state != VS_VMOTION_STAYS ||
	    strncmp(m->why, why, sizeof(m->why) - 1))
		vs_info("node=%s its VM stays on its host JobId=%u: %s",
			n->name, n->claims.job, why);
	m->state = VS_VMOTION_STAYS;
	vs_strlcpy(m->why, why, sizeof(m->why));
	m->again_ms = again_ms;
	return false;
}

int vs_vmotion_may(struct vs_core *c, const struct vs_node *n,
		   const struct vs_vm *vm, struct vs_err *err)
{
	if (!c->conf->max_vmotions_per_host)
		return vs_err_set(err, VS_E_CONFIG, "MaxVmotionsPerHost=0");
	if (strlen(n->name) + 1 >= VS_NAME_LEN)
		return vs_err_set(err, VS_E_CONFIG, "the node's name is too long");
	if (vm && vm->power == VS_POWER_SUSPENDED)
		return vs_err_set(err, VS_E_STATE,
				  "the VM is suspended and can only be resumed on this host");
	return vs_capability_check(c, n, vm, VS_OPERATION_VMOTION, NULL, err);
}

bool vs_vmotion_expected(struct vs_core *c, const struct vs_node *n)
{
	const struct vs_vm *vm = vs_node_vm(c, n);

	return n->claims.job && !vs_node_going(n) && vm &&
	       n->vmotion.state == VS_VMOTION_NONE && !n->orders.evict &&
	       !vs_vmotion_may(c, n, vm, NULL);
}

static void go(struct vs_core *c, struct vs_node *n,
	       const struct vs_place_node *at, int64_t now_ms)
{
	struct vs_claim *hold = vs_vmotion_claim(c, n, at);

	if (!hold)
		return;
	n->vmotion.state = VS_VMOTION_DUE;
	vs_op_at(c, n, VS_DO_RELOCATE, hold, now_ms);
	if (n->op.kind != VS_OP_VMOTION) {	/* no budget, or it failed */
		vs_vmotion_claim_end(c, n);
		return;
	}
	n->vmotion.state = VS_VMOTION_GOES;
	vs_strlcpy(n->vmotion.to, at->host->moid, sizeof(n->vmotion.to));
	vs_strlcpy(n->vmotion.vm, n->op.vm, sizeof(n->vmotion.vm));
	vs_vmotion_begun(vs_node_vm(c, n)->host_ptr, at->host);
	/* saved at this turn's end, before the call leaves */
	vs_state_file_dirty();
	vs_state_file_urgent();
	vs_info("node=%s moves by vMotion JobId=%u host=%s from=%s", n->name,
		n->claims.job, at->host->name, vs_node_vm(c, n)->host_ptr->name);
}

static bool try_to_go(struct vs_core *c, struct vs_node *n,
		      const struct vs_vm *vm, int64_t now_ms)
{
	struct vs_vmotion *m = &n->vmotion;
	struct vs_place_node at;
	struct vs_err err = { 0 };
	bool again;

	/* what stays does so until it was looked for again */
	if (!vs_vmotion_in_order(c, n, vm)) {
		if (m->state == VS_VMOTION_STAYS)
			return false;
		m->state = VS_VMOTION_DUE;
		return true;
	}
	m->again_ms = now_ms + AGAIN_MS;
	switch (vs_vmotion_target(c, n, vm, &at, &err)) {
	case VS_TARGET_FOUND:
		go(c, n, &at, now_ms);
		return vs_vmotion_moves(m);
	case VS_TARGET_BUSY:
		break;
	case VS_TARGET_NONE:
		again = m->not_to[0] && m->tries;
		m->not_to[0] = '\0';
		if (!again)
			return stays(n, err.text, now_ms + ROOM_MS);
		m->again_ms = now_ms + ROOM_MS;
	}
	m->state = VS_VMOTION_DUE;
	return true;
}

bool vs_vmotion_leaves(struct vs_core *c, struct vs_node *n,
		       const struct vs_host *from, int64_t now_ms)
{
	const struct vs_vm *vm = vs_node_vm(c, n);
	struct vs_vmotion *m = &n->vmotion;
	struct vs_err err = { 0 };

	/* of a job that Slurm has suspended the node is idle */
	if (!n->claims.job || vs_node_going(n))
		return false;
	if ((n->op.kind != VS_OP_NONE && m->state) || now_ms < m->again_ms)
		return vs_vmotion_moves(m);
	if (vs_vmotion_may(c, n, vm, &err))
		return stays(n, err.text, now_ms + ROOM_MS);
	if (!(n->flags & VS_NODE_UP) || n->op.kind != VS_OP_NONE ||
	    (n->seen != VS_OBSERVED_ON && n->seen != VS_OBSERVED_ON_WRONG)) {
		/* it boots, or something else is under way */
		if (m->state == VS_VMOTION_NONE)
			m->state = VS_VMOTION_DUE;
		m->again_ms = now_ms + AGAIN_MS;
		return vs_vmotion_moves(m);
	}
	if ((from->entering_maintenance || from->maintenance) &&
	    vs_cluster_policy_moves(c, vm) &&
	    !vs_capability_check(c, n, vm, VS_OPERATION_DRS_MOVE, NULL, NULL)) {
		if (!m->since_ms)
			m->since_ms = now_ms;
		if (now_ms - m->since_ms >= DRS_MS)
			return stays(n, "DRS is fully automated but has not moved the VM",
				     now_ms + ROOM_MS);
		m->state = VS_VMOTION_DRS;
		m->again_ms = now_ms + AGAIN_MS;
		return true;
	}
	return try_to_go(c, n, vm, now_ms);
}

void vs_vmotion_observe(struct vs_core *c, struct vs_node *n)
{
	struct vs_vmotion *m = &n->vmotion;
	const struct vs_host *on;
	bool unsure;

	if (!m->state)
		return;
	unsure = n->op.kind == VS_OP_VMOTION || n->op.kind == VS_OP_ADOPTED ||
		n->retry.look_after > c->slow_seq;
	if (unsure || n->absent.how)
		return;
	vs_vmotion_claim_end(c, n);
	m->to[0] = '\0';
	if (m->state == VS_VMOTION_GOES)
		m->state = VS_VMOTION_DUE;
	on = vs_node_there(c, n);
	if (on && vs_host_is_cordoned(on))
		return;
	*m = (struct vs_vmotion) { .state = VS_VMOTION_NONE };
	vs_node_mark_changed(n);
}

void vs_vmotion_failed(struct vs_core *c, struct vs_node *n,
		       enum vs_op_type kind, const char *host,
		       const struct vs_err *err, int64_t now_ms)
{
	struct vs_vmotion *m = &n->vmotion;
	const struct vs_host *to = vs_host_get(&c->inv, host);
	char why[240];

	vs_vmotions.failed++;
	vs_metrics_failed(kind, err->code);
	/* slurm-vsphere cancelled it; another user's cancel counts as a refusal */
	if (err->code == VS_E_CANCELED &&
	    (n->wanted == VS_DESIRED_OFF || n->wanted == VS_DESIRED_GONE))
		return;
	snprintf(why, sizeof(why), "vMotion to %.60s failed: %.120s",
		 to ? to->name : "?", err->text);
	vs_info("node=%s JobId=%u %s code=%s fault=%s", n->name, n->claims.job, why,
		vs_code_name(err->code), err->fault[0] ? err->fault : "-");
	vs_strlcpy(m->not_to, host, sizeof(m->not_to));
	m->again_ms = now_ms + ((int64_t)1000 << (m->tries < 5 ? m->tries : 5));
	m->tries++;
	/* Whatever it was: what vCenter shows decides. */
	vs_retry_reread(c, n);
	vs_vc_poll_request(c->vc);
	if (err->code == VS_E_REQUEST || err->code == VS_E_CONFIG ||
	    err->code == VS_E_BUG || err->code == VS_E_CANCELED ||
	    m->tries >= TRIES) {
		m->tries = 0;
		stays(n, why, now_ms + STAYS_MS);
	}
}

static void arrived(struct vs_node *n, const char *was,
		    const struct vs_vm *vm)
{
	bool ours = !strcmp(n->vmotion.to, vm->host);

	if (ours)
		vs_vmotions.moved++;
	else
		vs_vmotions.others++;
	vs_info("node=%s has moved by vMotion JobId=%u host=%s from=%s%s",
		n->name, n->claims.job, vm->host_ptr->name, was,
		ours ? "" : ", not by slurm-vsphere");
	n->drain.at_ms = INT64_MIN / 2;	/* our drain goes at once */
	vs_assignment_moved(n->claims.job);
	for (size_t i = 0; i < n->claims.nbeside; i++)
		vs_assignment_moved(n->claims.beside[i].job);
}

/* Chosen by DRS at power-on; or moved while it was on: by vMotion where that may
 * be, else by HA, behind Slurm's back. */
static void elsewhere(struct vs_core *c, struct vs_node *n,
		      const struct vs_claim *h, const struct vs_vm *vm)
{
	const struct vs_host *from = vs_host_get(&c->inv, h->host);
	const char *was = from ? from->name : h->host;
	struct vs_err err;

	if (h->state != VS_CLAIM_IN_USE) {
		vs_info("node=%s its VM runs on a host that slurm-vsphere did not choose: host=%s",
			n->name, vm->host_ptr->name);
		return;
	}
	if (!vs_capability_check(c, n, vm, VS_OPERATION_VMOTION, NULL, NULL)) {
		arrived(n, was, vm);
		return;
	}
	vs_err_set(&err, VS_E_STATE,
		   "its VM was on %s and is on %s now: a VM with a passthrough device changes its host only by a restart; disable HA's restart priority for the VMs of this folder",
		   was, vm->host_ptr->name);
	vs_retry_error(n, &err);
	vs_error("node=%s %s", n->name, err.text);
}

void vs_evacuation_claim_changed(struct vs_core *c, struct vs_node *n,
				 enum vs_claim_event e,
				 const struct vs_claim *before)
{
	if (e == VS_CLAIM_MOVED)
		elsewhere(c, n, before, vs_node_vm(c, n));
	else if (e == VS_CLAIM_ADOPTED)
		vs_vmotion_adopted(c, n, vs_node_vm(c, n));
	else if (e == VS_CLAIM_TAKEN)
		vs_vm_actions_placed(n, vs_node_vm(c, n));
}
