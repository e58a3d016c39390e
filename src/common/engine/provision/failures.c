/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a failed call leads to: the same again, another place, waiting, or the
 * end. Whom a failure speaks of is left out for a while: a PF without VFs, a
 * host, or what many hosts share (their datastore, their cluster).
 *
 * Rules: the next action is decided again from desired and observed state,
 * nothing is sent again from here; a shortage, and an error that an
 * administrator must fix for all of them, is no node's fault, so no node goes
 * down for it. The lock is held.
 */
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/clone_source/clone_source.h"
#include "engine/hosts/hosts.h"
#include "engine/inventory/inventory.h"
#include "engine/jobs/jobs.h"
#include "engine/provision/provision.h"
#include "engine/slurm/outbox.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"

#define TRIES_HERE 2		/* faults of no clear cause, on one host */

/* A job's node that can't be had: Slurm gets it back, with the cause. */
void vs_node_force_release(struct vs_node *n, const char *why)
{
	VS_FREE char *jobs_why = NULL;

	if (vs_node_is(n, VS_COND_RELEASED) || n->wanted == VS_DESIRED_AHEAD)
		return;		/* no job has it yet */
	vs_error("node=%s cannot get a VM: %s", n->name, why);
	vs_metrics_released(n->retry.err.code);
	if (n->retry.err.code == VS_E_SHORTAGE)
		vs_outbox_post(VS_REQUEST_RELEASE, n->name, n->claims.job,
			       false, why);
	else
		vs_outbox_post(VS_REQUEST_FAIL, n->name, n->claims.job, false,
			       why);
	jobs_why = vs_asprintf("node %s: %s", n->name, why);
	vs_jobs_requeued_note(n, jobs_why);
	vs_node_release(n, true);
	vs_retry_uncount(n);
}

/* What it was to have is not to be had: its PFs, or devices, are left out. */
static bool finds_none(const struct vs_err *err)
{
	return !strcmp(err->fault, VS_VC_FAULT_NO_VF) ||
	       !strcmp(err->fault, VS_VC_FAULT_NO_DEVICE);
}

/* The code as the engine takes it: a fault of the host's ends its patience
 * with that host, and no node is to blame for vCenter's settings. */
static enum vs_code judged(const struct vs_node *n, enum vs_op_type kind,
			   const struct vs_err *err, bool nobodys)
{
	if (!err->fault[0])
		return err->code;	/* said by no vCenter */
	/* An adopted task may be a person's, or a call of which only the answer
	 * was lost. The engine's own next call tells what is wrong, if it fails. */
	if (kind == VS_OP_ADOPTED && err->code != VS_E_CANCELED)
		return VS_E_UNKNOWN;
	if (finds_none(err) || err->code == VS_E_CONFIG || nobodys)
		return VS_E_SHORTAGE;
	if (err->code == VS_E_RETRY && n->retry.tries >= TRIES_HERE)
		return VS_E_OTHER_HOST;
	return err->code;
}

static void blame_shared(struct vs_core *c, const struct vs_node *n,
			 const struct vs_host *at,
			 const struct vs_err *err, int64_t now_ms)
{
	bool space = !strcmp(err->fault, VS_VC_FAULT_NO_SPACE);
	const struct vs_claim *h = vs_ledger_get(&c->ledger, n->name);

	if (space && h && vs_stores_full(c, h->store,
					 now_ms + VS_EXCLUDE_HOST_MS))
		return;
	if (vs_vc_fault_is_licence(err->fault)) {
		vs_exclude_set(VS_EXCLUDED_LICENCE, at->cluster, NULL,
			       now_ms + VS_EXCLUDE_HOST_MS, err->text);
		return;
	}
	/* of several it is unknown which: its host sees it */
	vs_exclude_failed(!space      ? at->cluster :
			  c->store[0] ? c->store :
					at->moid,
			  NULL, now_ms + VS_EXCLUDE_HOST_MS, err->text);
}

static bool is_start(enum vs_op_type k)
{
	return k == VS_OP_CLONE || k == VS_OP_RECONFIGURE ||
	       k == VS_OP_RELOCATE || k == VS_OP_POWER_ON;
}

/* PFs without a VF, or devices: whichever the fault speaks of. */
static void blame_nics(const struct vs_host *at,
			const struct vs_claim *h, const struct vs_err *err,
			int64_t now_ms)
{
	bool device = !strcmp(err->fault, VS_VC_FAULT_NO_DEVICE);

	for (int i = 0; i < h->nvfs; i++)
		if (device == (vs_host_device(at, h->vfs[i].pf) != NULL))
			vs_exclude_failed(at->moid, h->vfs[i].pf,
					  now_ms + VS_EXCLUDE_PF_MS, err->text);
}

static void blame(struct vs_core *c, struct vs_node *n, const char *host,
		  const struct vs_err *err, int64_t now_ms)
{
	struct vs_claim *h = vs_ledger_get(&c->ledger, n->name);
	struct vs_host *at = vs_host_get(&c->inv, host);

	if (!at)
		return;
	vs_device_ids_forget(at);
	if (finds_none(err) && h && h->nvfs) {
		blame_nics(at, h, err, now_ms);
	} else if (n->retry.err.code == VS_E_SHORTAGE && err->fault[0]) {
		blame_shared(c, n, at, err, now_ms);
	} else {
		vs_exclude_failed(host, NULL, now_ms + VS_EXCLUDE_HOST_MS,
				  err->text);
		vs_breaker_failed(c, host, n->name, err->text, now_ms);
	}
	if (h && h->state == VS_CLAIM_RESERVED)
		vs_claim_release(c, n);
}

/* A guest that can't be asked is switched off instead. */
static void not_asked(const struct vs_core *c, struct vs_node *n,
		      enum vs_code code, int64_t now_ms)
{
	n->power.shutdown_ms = now_ms;
	if (code != VS_E_UNKNOWN && code != VS_E_RELOGIN)
		n->power.shutdown_ms -= (int64_t)c->conf->shutdown_grace_s * 1000;
}

/* Look before anything else is done. */
static void look_first(struct vs_core *c, struct vs_node *n,
		       enum vs_op_type kind, const struct vs_err *err)
{
	vs_retry_reread(c, n);
	vs_clone_unconfirmed_set(n, kind == VS_OP_CLONE &&
					    err->code == VS_E_UNKNOWN);
	vs_vc_poll_request(c->vc);
}

void vs_node_failed(struct vs_core *c, struct vs_node *n, enum vs_op_type kind,
		    const char *host, const struct vs_err *err, int64_t now_ms)
{
	int64_t pause = (int64_t)500 << (n->retry.tries < 6 ? n->retry.tries : 6);
	bool nobodys = kind == VS_OP_CLONE &&
		vs_template_host_failed(c, n, host, err);
	struct vs_err as = *err;

	as.code = judged(n, kind, err, nobodys);
	vs_retry_error(n, &as);
	vs_metrics_failed(kind, err->code);
	vs_retry_pause(n, now_ms + pause);
	if (kind == VS_OP_SHUTDOWN)
		not_asked(c, n, err->code, now_ms);
	if (kind == VS_OP_RELOCATE &&
	    vs_move_failed(n, vs_node_vm(c, n), &as))
		return;
	if (vs_failure_is_unconfirmed(nobodys ? err->code : as.code))
		look_first(c, n, kind, err);
	switch (as.code) {
	case VS_E_OTHER_HOST:
	case VS_E_SHORTAGE:
		if (is_start(kind) && !nobodys)
			blame(c, n, host, err, now_ms);
		break;
	case VS_E_CANCELED:
		return;
	case VS_E_REQUEST:
	case VS_E_CONFIG:
	case VS_E_BUG:
		vs_retry_spend(n);
		break;
	default:
		break;
	}
	vs_info("node=%s op=%s failed code=%s fault=%s: %s", n->name,
		vs_op_name(kind), vs_code_name(err->code),
		err->fault[0] ? err->fault : "-", err->text);
	if (vs_retry_count(n) &&
	    (n->wanted == VS_DESIRED_READY || n->wanted == VS_DESIRED_ON))
		vs_node_force_release(n, err->text);
}
