/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operations: a mutating call's answer, then its task until the end.
 *
 * Rules: `started` at most once, `done` exactly once. Tasks outlive a session:
 * when a new one is there, all that are open are added to its ListView. A task
 * that vCenter doesn't know any more has an unknown outcome. Finished tasks
 * leave the ListView in batches, together with whatever must be added.
 */
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "util/crash.h"
#include "util/log.h"
#include "util/mem.h"
#include "vcenter/client/client_i.h"
#include "vcenter/spec/spec.h"

#define BATCH 20
#define LIST_RETRY_MS 1000
#define LIST_GATHER_MS 50
#define LIST_TRIES 3

uint64_t vs_vcx_new_id(struct vs_vc *vc)
{
	return ++vc->tasks.next_id;
}

uint64_t vs_vcx_op_new(struct vs_vc *vc, const char *what,
		       const struct vs_vc_op *cb)
{
	struct vcx_op *op = vs_calloc(1, sizeof(*op));

	op->id = vs_vcx_new_id(vc);
	op->what = vs_strdup(what);
	op->cb = *cb;
	HASH_ADD(hh, vc->tasks.by_id, id, sizeof(op->id), op);
	return op->id;
}

struct vcx_op *vs_vcx_op_find(struct vs_vc *vc, uint64_t id)
{
	struct vcx_op *op;

	HASH_FIND(hh, vc->tasks.by_id, &id, sizeof(id), op);
	return op;
}

static struct vcx_op *op_by_task(struct vs_vc *vc, const char *task)
{
	struct vcx_op *op;

	HASH_FIND(ht, vc->tasks.by_task, task, strlen(task), op);
	return op;
}

static void op_drop(struct vs_vc *vc, struct vcx_op *op)
{
	HASH_DELETE(hh, vc->tasks.by_id, op);
	if (op->task)
		HASH_DELETE(ht, vc->tasks.by_task, op);
}

static void op_free(struct vcx_op *op)
{
	free(op->what);
	free(op->task);
	free(op->result);
	free(op->error);
	free(op);
}

void vs_vcx_op_done(struct vs_vc *vc, struct vcx_op *op, const char *result,
		    const struct vs_err *err)
{
	op_drop(vc, op);
	if (op->task && op->listed) {
		VS_GROW(vc->tasks.gone_tasks, vc->tasks.capgone,
			vc->tasks.ngone + 1);
		vc->tasks.gone_tasks[vc->tasks.ngone++] = vs_strdup(op->task);
	}
	vs_debug("vCenter operation ended op=%s task=%s code=%s fault=%s",
		 op->what, op->task ? op->task : "none",
		 vs_code_name(err ? err->code : VS_OK),
		 err && err->fault[0] ? err->fault : "none");
	vs_crash_before("end", op->what);
	if (op->cb.done) {
		vs_inv_together(vc->inv, true);
		op->cb.done(op->cb.arg, op->id, result, err);
		vs_inv_together(vc->inv, false);
	}
	vs_crash_after("end", op->what);
	op_free(op);
	if (vc->tasks.ngone >= BATCH)
		vs_vcx_list_sync(vc, true);
}

void vs_vcx_op_task(struct vs_vc *vc, struct vcx_op *op, const char *task)
{
	op->task = vs_strdup(task);
	HASH_ADD_KEYPTR(ht, vc->tasks.by_task, op->task, strlen(op->task), op);
	if (!vc->tasks.list_at)	/* of a gang, others follow at once */
		vc->tasks.list_at = vc->now + LIST_GATHER_MS;
}

void vs_vcx_ops_lose(struct vs_vc *vc, const char *why)
{
	struct vcx_op *op, *next;
	struct vs_err err;

	HASH_ITER(hh, vc->tasks.by_id, op, next) {
		if (!op->task)
			continue;
		vs_err_set(&err, VS_E_UNKNOWN, "%s of %s: %s", op->what,
			   op->task, why);
		vs_vcx_op_done(vc, op, "", &err);
	}
}

void vs_vcx_ops_free(struct vs_vc *vc)
{
	struct vcx_op *op, *next;

	HASH_ITER(hh, vc->tasks.by_id, op, next) {
		op_drop(vc, op);
		op_free(op);
	}
	vs_vcx_list_forget(vc);
	free(vc->tasks.gone_tasks);
	vc->tasks.gone_tasks = NULL;
}

static void task_lost(struct vs_vc *vc, const char *task)
{
	struct vcx_op *op;
	struct vs_err err;

	while ((op = op_by_task(vc, task))) {
		vs_err_set(&err, VS_E_UNKNOWN,
			   "%s: vCenter no longer knows %s",
			   op->what, task);
		vs_vcx_op_done(vc, op, "", &err);
	}
}

/* ---- the ListView --------------------------------------------------------- */

void vs_vcx_list_forget(struct vs_vc *vc)
{
	struct vcx_op *op;

	for (op = vc->tasks.by_task; op; op = op->ht.next)
		op->listed = false;
	for (size_t i = 0; i < vc->tasks.ngone; i++)
		free(vc->tasks.gone_tasks[i]);
	vc->tasks.ngone = 0;
	vc->tasks.list_busy = false;
	vc->tasks.list_fails = 0;
	vc->tasks.list_at = 0;
}

static void on_modified(struct vcx_call *call, struct vs_j reply,
			const struct vs_err *err)
{
	struct vs_vc *vc = call->vc;
	struct vcx_op *op;
	size_t n;

	vc->tasks.list_busy = false;
	if (err && (err->code == VS_E_RELOGIN ||
		    vc->tasks.list_fails++ >= LIST_TRIES)) {
		vs_vcx_fail(vc, err);
		return;
	}
	if (err) {
		/* Adding what is in already does no harm. */
		for (op = vc->tasks.by_task; op; op = op->ht.next)
			op->listed = false;
		vc->tasks.list_at = vc->now + LIST_RETRY_MS;
		return;
	}
	vc->tasks.list_fails = 0;
	n = vs_j_len(reply);
	for (size_t i = 0; i < n; i++)
		task_lost(vc, vs_j_ref(vs_j_at(reply, i), NULL));
	if (!vs_vcx_bad(vc, reply))
		vs_vcx_list_sync(vc, false);
}

static struct json_object *to_add(struct vs_vc *vc)
{
	struct json_object *a = NULL;
	struct vcx_op *op;

	for (op = vc->tasks.by_task; op; op = op->ht.next) {
		if (op->listed)
			continue;
		op->listed = true;
		a = a ? a : vs_jb_arr();
		vs_jb_add(a, vs_jb_new_ref("Task", op->task));
	}
	return a;
}

static struct json_object *to_remove(struct vs_vc *vc)
{
	struct json_object *a = vc->tasks.ngone ? vs_jb_arr() : NULL;

	for (size_t i = 0; i < vc->tasks.ngone; i++) {
		/* Adopted a second time: it must stay. */
		if (!op_by_task(vc, vc->tasks.gone_tasks[i]))
			vs_jb_add(a, vs_jb_new_ref("Task",
						   vc->tasks.gone_tasks[i]));
		free(vc->tasks.gone_tasks[i]);
	}
	vc->tasks.ngone = 0;
	return a;
}

void vs_vcx_list_sync(struct vs_vc *vc, bool also_removals)
{
	struct json_object *add, *rem = NULL;

	if (!vc->watch.list_view || vc->tasks.list_busy || vc->tasks.list_at)
		return;
	add = to_add(vc);
	if (add || also_removals)
		rem = to_remove(vc);
	if (!add && !rem)
		return;
	vc->tasks.list_busy = true;
	vs_vcx_post(&vc->http, 0, on_modified, "ListView", vc->watch.list_view,
		    "ModifyListView", vs_spec_modify_list(add, rem));
}

void vs_vcx_list_timer(struct vs_vc *vc)
{
	if (!vc->tasks.list_at || vc->now < vc->tasks.list_at)
		return;
	vc->tasks.list_at = 0;
	vs_vcx_list_sync(vc, false);
}

/* ---- what the collector says ---------------------------------------------- */

/* Returns the moId of a reference, plain as every client has seen it, or in a
 * box as VMware's VI JSON guide has it; "" if the result is anything else. */
static const char *ref_of(struct vs_j result)
{
	struct vs_j r = vs_j_quiet(result);

	return *vs_j_str_or(vs_j_opt(r, "type"), "") ?
		vs_j_str_or(vs_j_opt(r, "value"), "") : "";
}

void vs_vcx_task_received(struct vs_vc *vc, const struct vcx_task_update *t)
{
	const char *s = vs_j_str_or(t->state, "");
	struct vcx_op *op;
	struct vs_err err;

	if (t->lost)
		task_lost(vc, t->moid);
	while ((op = op_by_task(vc, t->moid))) {
		if (*ref_of(t->result))
			vs_str_replace(&op->result, ref_of(t->result));
		if (!vs_j_null(t->error)) {
			if (!op->error)
				op->error = vs_calloc(1, sizeof(*op->error));
			vs_vcx_fault(t->error, VCX_IN_TASK, op->error);
		}
		if (!strcmp(s, "success")) {
			VS_FREE char *moid = vs_strdup(op->result ?
						       op->result : "");

			vs_vcx_op_done(vc, op, moid, NULL);
		} else if (!strcmp(s, "error")) {
			if (op->error)
				err = *op->error;
			else
				vs_vcx_fault(t->error, VCX_IN_TASK, &err);
			vs_vcx_op_done(vc, op, "", &err);
		} else {
			return;
		}
	}
}
