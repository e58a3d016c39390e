/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions that a few VMs answer which are never switched on: cloning, names,
 * uuids, cancelling, extraConfig, relocation. Each ends what it made.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "probe.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/time.h"

static const char *first_host(struct probe *p)
{
	const struct host *h = host_for(p, 0);

	return h ? h->moid : p->source_host;
}

/* A throw-away VM with a NIC where the network has a PF. */
static const char *make_one(struct probe *p, struct answer *a)
{
	struct make m = { .host = first_host(p),
			  .nic = host_for(p, 0) != NULL };

	return vm_make(p, &m, a);
}

static void q_clone(struct probe *p, struct answer *a)
{
	struct make m = { .host = first_host(p), .nic = true };
	int64_t began = vs_now_ms();
	char uuid[VS_UUID_LEN];
	const struct vm *vm;
	const char *moid;

	if (!host_for(p, 0)) {
		saw(a, "no host has a free VF on network %s", p->o.network);
		return;
	}
	vs_uuid_random(uuid);
	m.uuid = uuid;
	moid = vm_make(p, &m, a);
	judge(a, moid != NULL);
	if (!moid)
		return;
	vm = vm_get(p, moid);
	saw(a, "cloned in %lld ms; NIC %s, its uuid %s, guest may change the MTU: %s, host as asked: %s",
	    (long long)(vs_now_ms() - began), vm->has_nic ? "there" : "MISSING",
	    vm->uuid && !strcasecmp(vm->uuid, uuid) ? "kept" : "replaced",
	    vm->mtu_change ? "yes" : "no",
	    vm->host && !strcmp(vm->host, m.host) ? "yes" : "no");
	judge(a, vm->has_nic && vm->mtu_change && vm->uuid && vm->host &&
	      !strcasecmp(vm->uuid, uuid) && !strcmp(vm->host, m.host));
	vm_end(p, moid);
}

static void q_duplicate(struct probe *p, struct answer *a)
{
	struct make m = { .host = first_host(p), .name = "probe-twice" };
	struct vs_err err = { 0 };
	struct op *one = vm_begin(p, &m, &err), *two = vm_begin(p, &m, &err);
	int good = 0;

	if (!one || !two) {
		saw_err(a, "two clones of one name", &err);
		return;
	}
	good += op_good(p, one);
	good += op_good(p, two);
	for (int i = 0; i < 2; i++) {
		struct op *op = i ? two : one;

		if (op->err.code)
			saw_err(a, op->started ? "refused by the task" :
				"refused by the call", &op->err);
	}
	saw(a, "%d of 2 clones of one name came about", good);
	judge(a, good == 1 && (one->err.code == VS_E_EXISTS ||
			       two->err.code == VS_E_EXISTS));
	link_sleep(p, 500);
	vm_end(p, one->result);
	vm_end(p, two->result);
}

static void q_uuid(struct probe *p, struct answer *a)
{
	const char *first = make_one(p, a), *second;
	struct make m = { .host = first_host(p) };
	VS_FREE char *uuid = NULL;
	const struct vm *vm;

	if (!first)
		return;
	uuid = vs_strdup(vm_get(p, first)->uuid);
	m.uuid = uuid;
	second = vm_make(p, &m, a);
	vm = second ? vm_get(p, second) : NULL;
	if (vm && vm->uuid) {
		bool same = !strcasecmp(vm->uuid, uuid);

		saw(a, "a second VM with the first one's instanceUuid: %s",
		    same ? "both have it" : "it got another one");
		judge(a, !same);
	} else {
		judge(a, true);	/* refused: said above */
	}
	if (second)
		vm_end(p, second);
	vm_end(p, first);
}

static bool is_started(struct probe *p, void *arg)
{
	const struct op *op = arg;

	(void)p;
	return op->started || op->done;
}

/* What lies on the datastore under that name, if we may look. */
static void saw_files(struct probe *p, struct answer *a, const char *name)
{
	struct json_object *o = vs_jb_obj(NULL), *how, *list = vs_jb_arr();
	VS_FREE char *path = vs_asprintf("[%s]", p->o.datastore);
	VS_FREE char *like = vs_asprintf("%s*", name);
	VS_FREE char *browser = NULL;
	struct reply r;
	struct op *op;

	if (!ask_get(p, &r, "Datastore", p->store, "browser"))
		browser = vs_strdup(vs_j_ref(vs_j_root(&r.doc), NULL));
	reply_free(&r);
	how = vs_jb_obj("HostDatastoreBrowserSearchSpec");
	vs_jb_add_str(list, like);
	vs_jb_put(how, "matchPattern", list);
	vs_jb_str(o, "datastorePath", path);
	vs_jb_put(o, "searchSpec", how);
	op = ask_task(p, "HostDatastoreBrowser", browser ? browser : "none",
		      "SearchDatastore_Task", o);
	op_wait(p, op, 60000);
	if (op->err.code) {
		saw(a, "its files can't be looked for (%s)", op->err.fault);
	} else if (!ask_get(p, &r, "Task", op->task, "info")) {
		saw(a, "%zu files or directories of that name", vs_j_len(
			vs_j_opt(vs_j_opt(vs_j_root(&r.doc), "result"),
				 "file")));
		reply_free(&r);
	}
}

static void q_cancel(struct probe *p, struct answer *a)
{
	struct make m = { .host = first_host(p), .name = "probe-cancel" };
	struct vs_err err = { 0 };
	struct op *op = vm_begin(p, &m, &err);
	const struct vm *left = NULL;

	if (!op || !link_until(p, is_started, op, PROBE_SHOW_MS) || op->done ||
	    vs_vc_task_cancel(p->vc, op->task, &err)) {
		saw_err(a, "no clone could be cancelled", op ? &op->err : &err);
		return;
	}
	op_wait(p, op, PROBE_TASK_MS);
	link_sleep(p, 3000);
	for (size_t i = 0; i < p->nvms; i++)
		if (p->vms[i].name && p->vms[i].folder &&
		    !strcmp(p->vms[i].name, m.name) &&
		    !strcmp(p->vms[i].folder, p->folder))
			left = &p->vms[i];
	saw(a, "the task ended %lld ms after the cancel, %s; a VM of that name is %s",
	    (long long)(op->done_ms - op->started_ms), !op->err.code ?
	    "well all the same" : op->err.fault, left ? "there" : "not there");
	if (op->err.code)
		judge(a, op->err.code == VS_E_CANCELED && !left);
	if (!left)
		saw_files(p, a, m.name);
	if (left) {
		VS_FREE char *moid = vs_strdup(left->moid);

		vm_end(p, moid);
	}
}

static bool said(struct probe *p, void *arg)
{
	const struct vm *vm = vm_get(p, arg);

	return vm && vm->word && !strcmp(vm->word, "probe");
}

static void q_guestinfo(struct probe *p, struct answer *a)
{
	static const struct vs_vc_kv kv[] = {
		{ "guestinfo.slurm.state", "probe" } };
	struct vs_vc_hw hw = { .extra = kv, .nextra = 1 };
	const char *moid = make_one(p, a);
	struct vs_vc_op cb;
	struct op *op;
	bool seen;

	if (!moid)
		return;
	op = op_new(p, &cb);
	if (vs_vc_vm_reconfigure(p->vc, moid,
				 vm_get(p, moid)->change_version, &hw, &cb,
				 &op->err) < 0)
		op->done = true;
	if (!op_good(p, op)) {
		saw_err(a, "a reconfigure failed", &op->err);
	} else {
		seen = link_until(p, said, (void *)moid, PROBE_SHOW_MS);
		if (seen)
			saw(a, "a guestinfo key came %lld ms after the task's end",
			    (long long)(vm_get(p, moid)->word_ms - op->done_ms));
		else
			saw(a, "a guestinfo key was not streamed within %d s",
			    PROBE_SHOW_MS / 1000);
		judge(a, seen);
	}
	vm_end(p, moid);
}

static void q_relocate(struct probe *p, struct answer *a)
{
	const char *moid;
	struct host *to = host_for(p, 1);
	struct vs_vc_op cb;
	struct op *op;

	if (!to) {
		saw(a, "there is no second host with a free VF");
		return;
	}
	moid = make_one(p, a);
	if (!moid)
		return;
	op = op_new(p, &cb);
	if (vs_vc_vm_relocate(p->vc, moid, to->moid, p->pool, NULL, &cb,
			      &op->err) < 0)
		op->done = true;
	if (op_good(p, op))
		saw(a, "a VM with a NIC, off, moved in %lld ms",
		    (long long)(op->done_ms - op->sent_ms));
	else
		saw_err(a, "a VM with a NIC, off, can't move", &op->err);
	judge(a, !op->err.code);
	vm_end(p, moid);
}

static void q_parallel(struct probe *p, struct answer *a)
{
	struct make m = { .host = first_host(p) };
	int64_t alone, began = vs_now_ms();
	const char *one = vm_make(p, &m, a);
	struct op *ops[PROBE_VMS - 1] = { NULL };
	int good = 0;

	alone = vs_now_ms() - began;
	if (!one)
		return;
	began = vs_now_ms();
	for (size_t i = 0; i < VS_COUNT(ops); i++)
		ops[i] = vm_begin(p, &m, NULL);
	for (size_t i = 0; i < VS_COUNT(ops); i++)
		good += ops[i] && op_good(p, ops[i]);
	saw(a, "one clone %lld ms, %d at once %lld ms", (long long)alone, good,
	    (long long)(vs_now_ms() - began));
	if (good == (int)VS_COUNT(ops))
		judge(a, vs_now_ms() - began < alone * 2 + 500);
	link_sleep(p, 500);
	vm_end(p, one);
	for (size_t i = 0; i < VS_COUNT(ops); i++)
		if (ops[i])
			vm_end(p, ops[i]->result);
}

static void q_result(struct probe *p, struct answer *a)
{
	const char *moid = make_one(p, a), *type = "";
	struct reply r;
	struct vs_j result;

	for (size_t i = 0; moid && i < p->nops; i++) {
		if (strcmp(p->ops[i]->result, moid))
			continue;
		if (ask_get(p, &r, "Task", p->ops[i]->task, "info"))
			saw_err(a, "its task", &r.err);
		result = vs_j_opt(vs_j_root(&r.doc), "result");
		vs_j_ref(result, &type);
		saw(a, "a clone's result: _typeName %s, type %s, value %s",
		    *vs_j_type(result) ? vs_j_type(result) : "none", type,
		    !strcmp(vs_j_ref(result, NULL), moid) ? "is the VM" :
		    "isn't the VM");
		judge(a, !strcmp(vs_j_ref(result, NULL), moid));
		reply_free(&r);
	}
	if (moid)
		vm_end(p, moid);
}

const struct question vm_questions[] = {
	{ "clone", CHANGE, "Does a clone take an SR-IOV NIC, our mark and our uuid in one step?",
	  "clones a VM, removes it",
	  "it does, and shows all of them; the guest may change the MTU", q_clone },
	{ "result", CHANGE, "How does the task of a clone name its VM?",
	  "clones a VM, reads its task, removes it",
	  "by a reference to the VM, plain or boxed", q_result },
	{ "duplicate", CHANGE, "What becomes of two clones of one name at the same time?",
	  "clones two VMs of one name, removes what came about",
	  "one comes about, the other is refused with DuplicateName",
	  q_duplicate },
	{ "uuid", CHANGE, "What becomes of a VM with an instanceUuid that is taken?",
	  "clones two VMs with one instanceUuid, removes them",
	  "it gets another one, or is refused: no two VMs have the same", q_uuid },
	{ "cancel", CHANGE, "What does a cancelled clone leave behind?",
	  "clones a VM, cancels that, removes what is left",
	  "the task ends with RequestCanceled and no VM is left in the folder",
	  q_cancel },
	{ "guestinfo", CHANGE, "Is a guestinfo key streamed when it changes?",
	  "clones a VM, sets guestinfo.slurm.state, removes it",
	  "the keyed path of extraConfig is delivered", q_guestinfo },
	{ "relocate", CHANGE, "May a VM with an SR-IOV NIC that is off be moved to another host?",
	  "clones a VM, relocates it to a second host, removes it",
	  "it may, in one call", q_relocate },
	{ "parallel", CHANGE, "Do clones from one template run side by side?",
	  "clones four VMs, removes them",
	  "three clones at once take less than twice as long as one",
	  q_parallel },
	{ 0 }
};
