/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mutating calls. Each is sent once; its answer is a task, an error that
 * says whether anything has happened, or nothing (VS_E_UNKNOWN). A client that
 * may only read sends none of them, for no caller.
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/calls/calls.h"
#include "vcenter/calls/raw_call.h"
#include "vcenter/client/client_i.h"
#include "vcenter/spec/spec.h"

/* The one door that every change goes through, cancelling included. */
static int may_change(struct vs_vc *vc, struct vs_err *err)
{
	if (vc->conf.read_only)
		return vs_err_set(err, VS_E_STATE,
				  "nothing may be changed in vCenter");
	if (vs_vc_is_up(vc))
		return 0;
	/* Why has been said (down); this may stand in a node's reason. */
	return vs_err_set(err, VS_E_RETRY, "not connected to vCenter");
}

/* A session that is gone did not start anything; everybody must know. */
static void on_failed(struct vs_vc *vc, uint64_t id, const struct vs_err *err)
{
	struct vcx_op *op = vs_vcx_op_find(vc, id);
	struct vs_err told = *err;

	if (op)
		vs_vcx_op_done(vc, op, "", &told);
	if (told.code == VS_E_RELOGIN && vc->state > VCX_LOGIN)
		vs_vcx_fail(vc, &told);
}

static void on_task(struct vcx_call *call, struct vs_j reply,
		    const struct vs_err *err)
{
	struct vs_vc *vc = call->vc;
	struct vcx_op *op = vs_vcx_op_find(vc, call->id);
	const char *task = err ? "" : vs_j_ref(reply, NULL);
	struct vs_err odd;

	if (!err && !*task) {
		vs_err_set(&odd, VS_E_UNKNOWN,
			   "%s: the answer names no task", call->what);
		err = &odd;
	}
	if (err) {
		on_failed(vc, call->id, err);
		return;
	}
	if (!op)
		return;
	if (op->cb.started) {
		vs_inv_together(vc->inv, true);
		op->cb.started(op->cb.arg, op->id, task);
		vs_inv_together(vc->inv, false);
	}
	if ((op = vs_vcx_op_find(vc, call->id)))
		vs_vcx_op_task(vc, op, task);
}

static void on_void(struct vcx_call *call, struct vs_j reply,
		    const struct vs_err *err)
{
	struct vcx_op *op = vs_vcx_op_find(call->vc, call->id);

	(void)reply;
	if (err)
		on_failed(call->vc, call->id, err);
	else if (op)
		vs_vcx_op_done(call->vc, op, "", NULL);
}

static int64_t send_vm(struct vs_vc *vc, vcx_fn *fn, const char *method,
		       const char *vm, struct json_object *body_take,
		       const struct vs_vc_op *op)
{
	struct vcx_call *call = vs_vcx_post(&vc->http, VCX_MUTATING, fn,
					    "VirtualMachine", vm, method,
					    body_take);

	call->id = vs_vcx_op_new(vc, method, op);
	return (int64_t)call->id;
}

static struct vcx_template *template_of(struct vs_vc *vc, const char *moid)
{
	for (size_t i = 0; i < vc->ntemplates; i++)
		if (!strcmp(vc->templates[i].moid, moid))
			return &vc->templates[i];
	return NULL;
}

struct json_object *vs_vc_clone_body(struct vs_vc *vc,
				     const struct vs_vc_clone *c,
				     struct vs_err *err)
{
	struct vcx_template *t = template_of(vc, c->like ? c->like : c->source);
	struct vs_vc_clone whole = *c;

	if (!*c->source || (t && t->missing)) {
		vs_err_set(err, VS_E_SHORTAGE, "%s", t && t->missing ?
			   t->missing : "the template does not exist");
		return NULL;
	}
	if (c->hw.mgmt_mac && (!t || !t->nic)) {
		vs_err_set(err, VS_E_CONFIG,
			"template \"%s\" has no NIC: its first NIC must be on the management network",
			t ? t->name : c->source);
		return NULL;
	}
	if (c->policy && t) {
		whole.disks = t->disks;
		whole.ndisks = t->ndisks;
	}
	return vs_spec_clone(&whole, c->hw.mgmt_mac ? t->nic : NULL);
}

int64_t vs_vc_vm_clone(struct vs_vc *vc, const struct vs_vc_clone *c,
		       const struct vs_vc_op *op, struct vs_err *err)
{
	struct json_object *body;

	if (may_change(vc, err) || !(body = vs_vc_clone_body(vc, c, err)))
		return -1;
	return send_vm(vc, on_task, "CloneVM_Task", c->source, body, op);
}

int64_t vs_vc_vm_instant(struct vs_vc *vc, const struct vs_vc_instant *c,
			 const struct vs_vc_op *op, struct vs_err *err)
{
	struct vcx_template *t;

	if (may_change(vc, err))
		return -1;
	t = template_of(vc, c->like);
	if (c->mgmt_mac && (!t || !t->nic))
		return vs_err_set(err, VS_E_CONFIG,
			"template \"%s\" has no NIC: its first NIC must be on the management network",
			t ? t->name : c->like);
	return send_vm(vc, on_task, "InstantClone_Task", c->source,
		       vs_spec_instant(c, c->mgmt_mac ? t->nic : NULL), op);
}

static const char *nic_type(struct vs_vc *vc, const char *moid, int key)
{
	struct vcx_vm *vm = vs_inv_vm(vc->inv, moid);

	for (size_t i = 0; vm && i < vm->v.nnics; i++)
		if (vm->v.nics[i].key == key)
			return vm->nic_types[i];
	return NULL;
}

int64_t vs_vc_vm_reconfigure(struct vs_vc *vc, const char *vm,
			     const char *change_version,
			     const struct vs_vc_hw *hw,
			     const struct vs_vc_op *op, struct vs_err *err)
{
	VS_FREE const char **gone = vs_calloc((size_t)hw->ngone + 1,
					      sizeof(*gone));
	struct vs_spec_types types = { .gone = gone };

	if (may_change(vc, err))
		return -1;
	if (hw->mgmt_mac &&
	    !(types.mgmt = nic_type(vc, vm, hw->mgmt_key)))
		return vs_err_set(err, VS_E_STATE,
				  "%s has no NIC with key %d", vm,
				  hw->mgmt_key);
	for (int i = 0; i < hw->ngone; i++)
		if (!(gone[i] = nic_type(vc, vm, hw->gone[i])))
			return vs_err_set(err, VS_E_STATE,
					  "%s has no device with key %d", vm,
					  hw->gone[i]);
	return send_vm(vc, on_task, "ReconfigVM_Task", vm,
		       vs_spec_reconfigure(change_version, hw, &types), op);
}

int64_t vs_vc_vm_relocate(struct vs_vc *vc, const char *vm, const char *host,
			  const char *pool, const char *store,
			  const struct vs_vc_op *op, struct vs_err *err)
{
	if (may_change(vc, err))
		return -1;
	return send_vm(vc, on_task, "RelocateVM_Task", vm,
		       vs_spec_relocate(host, pool, store), op);
}

int64_t vs_vc_vm_power_on(struct vs_vc *vc, const char *vm, const char *host,
			  const struct vs_vc_op *op, struct vs_err *err)
{
	if (may_change(vc, err))
		return -1;
	return send_vm(vc, on_task, "PowerOnVM_Task", vm,
		       vs_spec_power_on(host), op);
}

int64_t vs_vc_vm_power_off(struct vs_vc *vc, const char *vm,
			   const struct vs_vc_op *op, struct vs_err *err)
{
	if (may_change(vc, err))
		return -1;
	return send_vm(vc, on_task, "PowerOffVM_Task", vm, NULL, op);
}

int64_t vs_vc_vm_shutdown_guest(struct vs_vc *vc, const char *vm,
				const struct vs_vc_op *op, struct vs_err *err)
{
	if (may_change(vc, err))
		return -1;
	return send_vm(vc, on_void, "ShutdownGuest", vm, NULL, op);
}

int64_t vs_vc_vm_snapshot(struct vs_vc *vc, const char *vm, const char *name,
			  const struct vs_vc_op *op, struct vs_err *err)
{
	if (may_change(vc, err))
		return -1;
	return send_vm(vc, on_task, "CreateSnapshot_Task", vm,
		       vs_spec_snapshot(name), op);
}

int64_t vs_vc_vm_destroy(struct vs_vc *vc, const char *vm,
			 const struct vs_vc_op *op, struct vs_err *err)
{
	if (may_change(vc, err))
		return -1;
	return send_vm(vc, on_task, "Destroy_Task", vm, NULL, op);
}

/*
 * The ListView says nothing of a task that ended while it was a member before,
 * so an adopted one is looked at once. What can't be read is left to the view.
 */
static void on_look(struct vcx_read *r, const char *type, const char *moid,
		    struct vs_j props, struct vs_j missing)
{
	(void)type;
	(void)missing;
	vs_vcx_task_received(r->vc, &(struct vcx_task_update) {
		.moid = moid, .state = vs_vcx_prop(props, "info.state"),
		.error = vs_vcx_prop(props, "info.error"),
		.result = vs_vcx_prop(props, "info.result") });
}

static void on_looked(struct vcx_read *r)
{
	(void)r;
}

static void on_look_failed(struct vcx_read *r, const struct vs_err *err)
{
	(void)r;
	(void)err;
}

static void look(struct vs_vc *vc, const char *task)
{
	const struct vcx_read r = { .vc = vc, .object = on_look,
		.end = on_looked, .failed = on_look_failed };
	struct json_object *props = vs_jb_arr(), *objects = vs_jb_arr();

	vs_jb_add(props, vs_spec_props("Task", vs_inv_task_paths));
	vs_jb_add(objects, vs_spec_object("Task", task));
	vs_vcx_read(&r, vs_spec_filter(props, objects));
}

int64_t vs_vc_task_adopt(struct vs_vc *vc, const char *task,
			 const struct vs_vc_op *cb, struct vs_err *err)
{
	uint64_t id;

	/* Also from within the load, where running tasks are first seen. */
	if (vc->state < VCX_LOAD)
		return vs_err_set(err, VS_E_RETRY, "not connected to vCenter");
	id = vs_vcx_op_new(vc, "adopted", cb);
	vs_vcx_op_task(vc, vs_vcx_op_find(vc, id), task);
	look(vc, task);
	return (int64_t)id;
}

static void on_cancel(struct vcx_call *call, struct vs_j reply,
		      const struct vs_err *err)
{
	(void)reply;
	if (err && err->code == VS_E_RELOGIN && call->vc->state > VCX_LOGIN)
		vs_vcx_fail(call->vc, err);
}

int vs_vc_task_cancel(struct vs_vc *vc, const char *task, struct vs_err *err)
{
	if (may_change(vc, err))
		return -1;
	vs_vcx_post(&vc->http, VCX_QUIT, on_cancel, "Task", task, "CancelTask",
		    NULL);
	return 0;
}
