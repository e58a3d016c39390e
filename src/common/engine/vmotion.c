/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VMs that leave a host which is to be empty with their jobs running, by
 * vMotion, where what they are made of allows it (door.c). The ledger chooses
 * the target as for any other VM, and has a hold there before vCenter is asked
 * and until the VM is shown there; the node's own hold follows the VM (hold.c).
 *
 * Rules: where DRS is fully automated and the host enters maintenance vCenter
 * itself moves them, and we wait for it; a VM goes to a host of its cluster that
 * sees its datastore; so many at a time on each host, coming and going
 * (MaxVmotionsPerHost). What can't be moved, by its type, for want of room, or
 * because vCenter refuses, stays, with the reason: its job ends there, or is
 * requeued by an order (maintain.c). Nothing is moved for an idle node: its VM
 * goes off.
 */
#include <stdio.h>
#include <string.h>
#include "engine/core_i.h"
#include "util/mem.h"

#define AGAIN_MS 500
#define ROOM_MS 5000		/* there was none */
#define DRS_MS (2 * 60 * 1000)	/* of patience with DRS */
#define STAYS_MS (10 * 60 * 1000)	/* after a refusal */
#define TRIES 3
#define MARK '>'		/* no node's name begins so */

/* ---- the hold on the target ------------------------------------------------ */

static void hold_name(const struct vs_node *n, char out[VS_NAME_LEN])
{
	snprintf(out, VS_NAME_LEN, "%c%.*s", MARK, VS_NAME_LEN - 2, n->name);
}

const char *vs_vmotion_hold_of(const char *hold)
{
	return hold[0] == MARK ? hold + 1 : NULL;
}

static void hold_end(struct vs_core *c, const struct vs_node *n)
{
	char name[VS_NAME_LEN];

	hold_name(n, name);
	if (!vs_ledger_release(&c->ledger, name))
		c->vf_freed = true;
}

/* Its disks stay where they are, and so does its swap file. */
static struct vs_hold *hold_take(struct vs_core *c, struct vs_node *n,
				 const struct vs_place_node *at)
{
	struct vs_hold hold;
	struct vs_err err;

	vs_hold_of(c, n, at, n->job, &hold);
	hold_name(n, hold.node);
	hold.disk_mb = hold.swap_mb = 0;
	hold.moves = false;
	if (vs_ledger_take(&c->ledger, &hold, &err)) {
		vs_error("bug: %s node=%s", err.text, n->name);
		return NULL;
	}
	return vs_ledger_get(&c->ledger, hold.node);
}

/* ---- where to ---------------------------------------------------------------- */

struct ask {
	struct vs_core *c;
	const struct vs_node *n;
	const struct vs_vm *vm;
	bool spare_busy;		/* hosts whose budget is used up */
};

/* vMotions that come to a host, or go from it. */
static int under_way(const struct vs_core *c, const char *host)
{
	const struct vs_node *n;
	int count = 0;

	LIST_FOREACH(n, &c->busy, busy) {
		const struct vs_vm *vm = vs_vm_get(&c->inv, n->op.vm);

		count += n->op.kind == VS_OP_VMOTION &&
			(!strcmp(n->op.host, host) ||
			 (vm && !strcmp(vm->host, host)));
	}
	return count;
}

static bool is_busy(const struct vs_core *c, const char *host)
{
	return under_way(c, host) >= c->conf->vmotions_max;
}

/* Why not there; NULL: it may. */
static const char *unfit(const struct ask *a, const struct vs_host *h)
{
	const char *store = vs_stores_of(a->c, a->vm);

	if (h == a->vm->host_ptr)
		return "it is there now";
	if (strcmp(h->cluster, a->vm->host_ptr->cluster))
		return "of another cluster";
	if (store && !vs_host_has_store(h, store))
		return "doesn't see its datastore";
	if (!strcmp(h->moid, a->n->vmotion.not_to))
		return "vCenter has just refused to move it there";
	if (a->spare_busy && is_busy(a->c, h->moid))
		return "MaxVmotionsPerHost";
	return NULL;
}

static bool left_out(void *arg, const struct vs_host *h,
		     const struct vs_pf *pf, char *why, size_t size)
{
	const struct ask *a = arg;
	const char *no = pf ? NULL : unfit(a, h);
	struct vs_err err;

	if (!no && !pf && vs_door(a->c, a->n, a->vm, VS_DEED_VMOTION, h, &err))
		no = err.text;
	if (!no)
		return vs_avoid_asked(a->c, h, pf, why, size);
	vs_strlcpy(why, no, size);
	return true;
}

static void env_fill(struct vs_core *c, struct ask *a, struct vs_place_env *env)
{
	vs_env_fill(c, env);
	env->avoid = left_out;
	env->arg = a;
	env->bars = NULL;
	env->has_pool = true;
}

static int place(struct vs_core *c, struct vs_node *n, const struct vs_vm *vm,
		 bool spare_busy, struct vs_place_node *at, struct vs_err *err)
{
	struct ask a = { c, n, vm, spare_busy };
	struct vs_place_env env;
	int rc;

	env_fill(c, &a, &env);
	vs_place_node_fill(c, n, at);
	vs_until_set(c, vs_until_job(c, n));
	rc = vs_place(&env, at, 1, NULL, err);
	vs_until_set(c, 0);
	if (!rc && at->moves)
		return vs_err_set(err, VS_E_SHORTAGE,
				  "no other host sees its datastore");
	return rc;
}

/* ---- what becomes of it ------------------------------------------------------- */

static bool stays(struct vs_node *n, const char *why, int64_t again_ms)
{
	struct vs_vmotion *m = &n->vmotion;

	if (m->state != VS_VMOTION_STAYS ||
	    strncmp(m->why, why, sizeof(m->why) - 1))
		vs_info("node=%s its VM stays where it is JobId=%u: %s",
			n->name, n->job, why);
	m->state = VS_VMOTION_STAYS;
	vs_strlcpy(m->why, why, sizeof(m->why));
	m->again_ms = again_ms;
	return false;
}

int vs_vmotion_may(struct vs_core *c, const struct vs_node *n,
		   const struct vs_vm *vm, struct vs_err *err)
{
	if (!c->conf->vmotions_max)
		return vs_err_set(err, VS_E_CONFIG, "MaxVmotionsPerHost=0");
	if (strlen(n->name) + 1 >= VS_NAME_LEN)
		return vs_err_set(err, VS_E_CONFIG, "its name is too long");
	return vs_door(c, n, vm, VS_DEED_VMOTION, NULL, err);
}

bool vs_vmotion_expected(struct vs_core *c, const struct vs_node *n)
{
	const struct vs_vm *vm = vs_node_vm(c, n);

	return n->job && !vs_node_going(n) && vm &&
	       n->vmotion.state == VS_VMOTION_NONE && !n->orders.evict &&
	       !vs_vmotion_may(c, n, vm, NULL);
}

size_t vs_vmotion_room(struct vs_core *c, struct vs_node *n,
		       const struct vs_vm *vm, char *why, size_t size)
{
	struct ask a = { c, n, vm, false };
	struct vs_place_env env;
	struct vs_place_node like;
	struct vs_err err = { 0 };
	size_t room;

	env_fill(c, &a, &env);
	vs_place_node_fill(c, n, &like);
	vs_until_set(c, vs_until_job(c, n));
	room = vs_place_room_why(&env, &like, c->nnodes, why, size);
	if (!room && !why[0] && vs_place(&env, &like, 1, NULL, &err))
		vs_strlcpy(why, err.text, size);
	vs_until_set(c, 0);
	return room;
}

static void go(struct vs_core *c, struct vs_node *n,
	       const struct vs_place_node *at, int64_t now_ms)
{
	struct vs_hold *hold = hold_take(c, n, at);

	if (!hold)
		return;
	n->vmotion.state = VS_VMOTION_DUE;
	vs_op_at(c, n, VS_DO_RELOCATE, hold, now_ms);
	if (n->op.kind != VS_OP_VMOTION) {	/* no budget, or it failed */
		hold_end(c, n);
		return;
	}
	n->vmotion.state = VS_VMOTION_GOES;
	vs_strlcpy(n->vmotion.to, at->host->moid, sizeof(n->vmotion.to));
	vs_info("node=%s moves by vMotion JobId=%u host=%s from=%s", n->name,
		n->job, at->host->name, vs_node_vm(c, n)->host_ptr->name);
}

/* A task of before us on a VM that is on may be a vMotion, to a host that
 * nobody tells: who chooses another one now may choose that. */
static bool strangers_move(const struct vs_core *c, int64_t now_ms)
{
	const struct vs_node *n;

	LIST_FOREACH(n, &c->busy, busy) {
		const struct vs_vm *vm = vs_vm_get(&c->inv, n->op.vm);

		if (n->op.kind == VS_OP_ADOPTED && vm &&
		    vm->power == VS_POWER_ON && !vs_op_hangs(n, now_ms))
			return true;
	}
	return false;
}

static bool try_to_go(struct vs_core *c, struct vs_node *n,
		      const struct vs_vm *vm, int64_t now_ms)
{
	struct vs_place_node at;
	struct vs_err err = { 0 };

	if (is_busy(c, vm->host) || strangers_move(c, now_ms)) {
		n->vmotion.state = VS_VMOTION_DUE;
		return true;
	}
	if (!place(c, n, vm, true, &at, &err)) {
		go(c, n, &at, now_ms);
		return vs_vmotion_moves(&n->vmotion);
	}
	if (place(c, n, vm, false, &at, &err)) {
		bool again = n->vmotion.not_to[0] && n->vmotion.tries;

		n->vmotion.not_to[0] = '\0';
		if (!again)
			return stays(n, err.text, now_ms + ROOM_MS);
		n->vmotion.again_ms = now_ms + ROOM_MS;
	}
	n->vmotion.state = VS_VMOTION_DUE;
	return true;
}

bool vs_vmotion_leaves(struct vs_core *c, struct vs_node *n,
		       const struct vs_host *from, int64_t now_ms)
{
	const struct vs_vm *vm = vs_node_vm(c, n);
	struct vs_vmotion *m = &n->vmotion;
	struct vs_err err = { 0 };

	/* of a job that Slurm has suspended the node is idle */
	if (!n->job || vs_node_going(n))
		return false;
	if ((n->op.kind != VS_OP_NONE && m->state) || now_ms < m->again_ms)
		return vs_vmotion_moves(m);
	if (vs_vmotion_may(c, n, vm, &err))
		return stays(n, err.text, now_ms + ROOM_MS);
	m->again_ms = now_ms + AGAIN_MS;
	if (!(n->flags & VS_NODE_UP) || n->op.kind != VS_OP_NONE ||
	    (n->seen != VS_SEEN_ON && n->seen != VS_SEEN_ON_WRONG)) {
		/* it boots, or something else is under way */
		if (m->state == VS_VMOTION_NONE)
			m->state = VS_VMOTION_DUE;
		return vs_vmotion_moves(m);
	}
	if ((from->entering_maintenance || from->maintenance) &&
	    vs_guard_moves(c, vm) &&
	    !vs_door(c, n, vm, VS_DEED_DRS_MOVE, NULL, NULL)) {
		if (!m->since_ms)
			m->since_ms = now_ms;
		if (now_ms - m->since_ms >= DRS_MS)
			return stays(n, "DRS is fully automated, and hasn't moved it",
				     now_ms + ROOM_MS);
		m->state = VS_VMOTION_DRS;
		return true;
	}
	return try_to_go(c, n, vm, now_ms);
}

void vs_vmotion_look(struct vs_core *c, struct vs_node *n)
{
	struct vs_vmotion *m = &n->vmotion;
	const struct vs_host *on;
	bool unsure;

	if (!m->state)
		return;
	unsure = n->op.kind == VS_OP_VMOTION || n->op.kind == VS_OP_ADOPTED ||
		n->look_after > c->slow_seq;
	if (unsure || n->missing)
		return;
	hold_end(c, n);
	m->to[0] = '\0';
	if (m->state == VS_VMOTION_GOES)
		m->state = VS_VMOTION_DUE;
	on = vs_node_on(c, n);
	if (on && vs_host_wanted(c, on))
		return;
	*m = (struct vs_vmotion) { .state = VS_VMOTION_NONE };
	vs_node_touch(n);
}

void vs_vmotion_failed(struct vs_core *c, struct vs_node *n, const char *host,
		       const struct vs_err *err, int64_t now_ms)
{
	struct vs_vmotion *m = &n->vmotion;
	const struct vs_host *to = vs_host_get(&c->inv, host);
	char why[240];

	c->vmotions.failed++;
	vs_metrics_failed(c, VS_OP_VMOTION, err->code);
	/* ours; anybody else's is a refusal */
	if (err->code == VS_E_CANCELED &&
	    (n->wanted == VS_WANT_OFF || n->wanted == VS_WANT_GONE))
		return;
	snprintf(why, sizeof(why), "vMotion to %.60s failed: %.120s",
		 to ? to->name : "?", err->text);
	vs_info("node=%s JobId=%u %s code=%s fault=%s", n->name, n->job, why,
		vs_code_name(err->code), err->fault[0] ? err->fault : "-");
	vs_strlcpy(m->not_to, host, sizeof(m->not_to));
	m->again_ms = now_ms + ((int64_t)1000 << (m->tries < 5 ? m->tries : 5));
	m->tries++;
	/* Whatever it was: what vCenter shows decides. */
	n->look_after = c->slow_seq + 1;
	vs_vc_slow_now(c->vc);
	if (err->code == VS_E_REQUEST || err->code == VS_E_CONFIG ||
	    err->code == VS_E_BUG || err->code == VS_E_CANCELED ||
	    m->tries >= TRIES) {
		m->tries = 0;
		stays(n, why, now_ms + STAYS_MS);
	}
}

static void arrived(struct vs_core *c, struct vs_node *n, const char *was,
		    const struct vs_vm *vm)
{
	bool ours = !strcmp(n->vmotion.to, vm->host);

	if (ours)
		c->vmotions.moved++;
	else
		c->vmotions.others++;
	vs_info("node=%s has moved by vMotion JobId=%u host=%s from=%s%s",
		n->name, n->job, vm->host_ptr->name, was,
		ours ? "" : ", not by us");
	n->maintained_ms = INT64_MIN / 2;	/* our drain goes at once */
	vs_got_moved(c, n->job);
	for (size_t i = 0; i < n->nbeside; i++)
		vs_got_moved(c, n->beside[i].job);
}

/* Chosen by DRS at power-on; or moved while it was on: by vMotion where that may
 * be, else by HA, behind Slurm's back. */
void vs_vmotion_elsewhere(struct vs_core *c, struct vs_node *n,
			  const struct vs_hold *h, const struct vs_vm *vm)
{
	const struct vs_host *from = vs_host_get(&c->inv, h->host);
	const char *was = from ? from->name : h->host;

	if (h->state != VS_HOLD_SEEN) {
		vs_info("node=%s runs on another host than was chosen: host=%s",
			n->name, vm->host_ptr->name);
		return;
	}
	if (!vs_door(c, n, vm, VS_DEED_VMOTION, NULL, NULL)) {
		arrived(c, n, was, vm);
		return;
	}
	vs_err_set(&n->last_err, VS_E_STATE,
		   "its VM was on %s and is on %s now: with a passthrough card only a restart does that; set HA's restart priority to disabled for the VMs of this folder",
		   was, vm->host_ptr->name);
	vs_error("node=%s %s", n->name, n->last_err.text);
}
