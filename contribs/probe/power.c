/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions that VMs answer which are switched on: which PF automatic choice
 * takes, what comes in which order, what a full PF says, when a VF is free
 * again, what DRS makes of a host that was asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "util/mem.h"
#include "util/time.h"
#include "vcenter/transport/fault.h"

/* A VM with a NIC on a host's PF, or where vCenter wants it. */
static const char *make_nic(struct probe *p, const struct host *h,
			     const char *pci, struct answer *a)
{
	struct make m = { .host = h->moid, .nic = true, .pci = pci };

	return vm_make(p, &m, a);
}

static struct host *need_host(struct probe *p, size_t n, struct answer *a)
{
	struct host *h = host_for(p, n);

	if (!h)
		saw(a, "no %shost has a free VF on network %s", n ? "second " :
		    "", p->o.network);
	return h;
}

static void show_backing(struct probe *p, const char *moid, const char *when,
			 struct answer *a)
{
	const struct vm *vm = vm_get(p, moid);

	saw(a, "%s: %s%s%s", when, vm->automatic ? "automatic" : "explicit",
	    vm->pci && *vm->pci ? ", " : ", no PF named",
	    vm->pci && *vm->pci ? vm->pci : "");
}

static bool has_pf(struct probe *p, void *arg)
{
	const struct vm *vm = vm_get(p, arg);

	return vm && vm->automatic && vm->pci && *vm->pci;
}

static void q_automatic(struct probe *p, struct answer *a)
{
	struct host *h = need_host(p, 0, a);
	const char *moid[2] = { NULL, NULL };
	size_t pfs = 0, vms;

	for (size_t k = 0; h && k < h->npfs; k++)
		pfs += pf_reaches(p, h, k);
	vms = pfs > 1 ? 2 : 1;		/* do two go to one PF? */
	for (size_t i = 0; h && i < vms; i++) {
		moid[i] = make_nic(p, h, NULL, a);
		if (!moid[i] || !vm_switch(p, moid[i], true, a))
			continue;
		judge(a, link_until(p, has_pf, (void *)moid[i],
				    PROBE_SHOW_MS));
		show_backing(p, moid[i], "on", a);
		saw_bindings(p, a, h);
	}
	if (pfs > 1)
		saw(a, "%zu PFs of the host are in that network's switch", pfs);
	for (size_t i = 0; i < vms; i++) {
		if (!moid[i])
			continue;
		if (vm_switch(p, moid[i], false, a)) {
			link_sleep(p, 1000);
			show_backing(p, moid[i], "off again", a);
		}
		vm_end(p, moid[i]);
	}
}

static void q_order(struct probe *p, struct answer *a)
{
	struct host *h = need_host(p, 0, a);
	const char *moid = h ? make_nic(p, h, NULL, a) : NULL;

	for (int on = 1; moid && on >= 0; on--) {
		struct op *op = vm_power(p, moid, on, NULL);
		struct vm *vm;
		bool shown;

		op_good(p, op);
		shown = !op->err.code && vm_shown(p, moid, on, PROBE_SHOW_MS);
		vm = vm_get(p, moid);
		if (!shown || !vm) {
			saw_err(a, "it was not shown", &op->err);
			judge(a, false);
			break;
		}
		saw(a, "%s took %lld ms, shown %lld ms %s the task's end",
		    on ? "power-on" : "power-off",
		    (long long)(op->done_ms - op->sent_ms),
		    (long long)llabs(vm->power_ms - op->done_ms),
		    vm->power_ms > op->done_ms ? "after" : "before");
		judge(a, vm->power_ms - op->done_ms < 15000);
	}
	if (moid)
		vm_end(p, moid);
}

static void q_host(struct probe *p, struct answer *a)
{
	struct host *from = need_host(p, 0, a);
	struct host *to = from ? need_host(p, 1, a) : NULL;
	const char *moid = to ? make_nic(p, from, NULL, a) : NULL;
	struct op *op;
	const struct vm *vm;
	struct reply r;
	const char *at;

	if (!moid)
		return;
	read_cluster(p, a, &r);
	reply_free(&r);
	saw(a, "DRS is %s", p->drs ? p->drs_behavior : "off");
	for (int other = 0; other < 2; other++) {
		const char *want = other ? to->moid : from->moid;

		op = vm_power(p, moid, true, want);
		if (!op_good(p, op) || !vm_shown(p, moid, true, PROBE_SHOW_MS)) {
			saw_err(a, "a power-on with a host failed", &op->err);
			break;
		}
		vm = vm_get(p, moid);
		at = vm->host ? vm->host : "";
		saw(a, "its host %s, it runs on %s", other ?
		    "was another than the one asked for" :
		    "was the one asked for",
		    !strcmp(at, want) ? "the one asked for" :
		    !strcmp(at, from->moid) ? "its own" : "a third one");
		if (!other)
			judge(a, !strcmp(at, want));
		vm_switch(p, moid, false, a);
	}
	vm_end(p, moid);
}

/* ---- a full PF ------------------------------------------------------------------- */

struct full { struct host *h; size_t pf; int room; };

/* The PF with the fewest free VFs; all of them must fit into our VMs. */
static bool find_fillable(struct probe *p, struct full *f)
{
	struct host *h;

	f->h = NULL;
	for (size_t i = 0; (h = host_for(p, i)); i++) {
		for (size_t k = 0; k < h->npfs; k++) {
			int room = h->pfs[k].vfs - pf_used(p, h, k);

			if (pf_reaches(p, h, k) && room > 0 &&
			    room < PROBE_VMS && (!f->h || room < f->room))
				*f = (struct full){ h, k, room };
		}
	}
	return f->h;
}

/* A clone that is to be switched on by its own task, on a full PF. */
static void clone_on(struct probe *p, const struct full *f, struct answer *a)
{
	struct make m = { .host = f->h->moid, .nic = true,
			  .pci = f->h->pfs[f->pf].pci, .name = "probe-on" };
	struct json_object *body = vm_clone_body(p, &m);
	struct op *op;
	const struct vm *vm = NULL;

	vs_jb_bool(vs_jb_member(body, "spec"), "powerOn", true);
	op = ask_task(p, "VirtualMachine", p->source, "CloneVM_Task", body);
	op_wait(p, op, PROBE_TASK_MS);
	link_sleep(p, 2000);
	for (size_t i = 0; i < p->nvms; i++)
		if (vm_ours(p, &p->vms[i]) &&
		    !strcmp(p->vms[i].name, m.name))
			vm = &p->vms[i];
	if (op->err.code && op->task[0])
		saw_task(p, a, "a clone with powerOn", op->task);
	else if (op->err.code)
		saw_err(a, "a clone with powerOn", &op->err);
	saw(a, "its VM %s", !vm ? "is not there" :
	    vm->power && !strcmp(vm->power, "poweredOn") ? "is on" :
	    "stays, off");
	if (vm) {
		VS_FREE char *moid = vs_strdup(vm->moid);

		vm_end(p, moid);
	}
}

/* The same by PowerOnMultiVM_Task, whose own success says nothing. */
static void multi_on(struct probe *p, const char *moid, struct answer *a)
{
	struct json_object *o = vs_jb_obj(NULL), *vms = vs_jb_arr();
	struct vs_j res, one;
	struct reply r;
	struct op *op;

	vs_jb_add(vms, vs_jb_new_ref("VirtualMachine", moid));
	vs_jb_put(o, "vm", vms);
	op = ask_task(p, "Datacenter", p->dc, "PowerOnMultiVM_Task", o);
	op_wait(p, op, PROBE_TASK_MS);
	if (op->err.code) {
		saw_err(a, "PowerOnMultiVM_Task", &op->err);
		return;
	}
	if (!ask_get(p, &r, "Task", op->task, "info")) {
		res = vs_j_opt(vs_j_root(&r.doc), "result");
		one = vs_j_at(vs_j_opt(res, "notAttempted"), 0);
		if (vs_j_len(vs_j_opt(res, "notAttempted")))
			saw(a, "PowerOnMultiVM_Task attempts nothing: %s",
			    vs_vcx_fault_type(vs_j_opt(one, "fault")));
		one = vs_j_at(vs_j_opt(res, "attempted"), 0);
		if (vs_j_len(vs_j_opt(res, "attempted")))
			saw_task(p, a, "PowerOnMultiVM_Task's own task",
				 vs_j_ref(vs_j_opt(one, "task"), NULL));
	}
	reply_free(&r);
}

/* How long after a power-off the next power-on finds the VF. */
static void release_lag(struct probe *p, const char *off, const char *on,
			struct answer *a)
{
	int64_t began, until;
	struct op *op;
	int tries = 0;

	if (!op_good(p, vm_power(p, off, false, NULL)))
		return;
	began = vs_now_ms();
	until = began + 60000;
	do {
		op = vm_power(p, on, true, NULL);
		op_good(p, op);
		tries++;
		if (op->err.code && strcmp(op->err.fault,
					   VS_VC_FAULT_NO_VF))
			break;
	} while (op->err.code && vs_now_ms() < until && !probe_stop);
	if (op->err.code)
		saw_err(a, "after a power-off", &op->err);
	else
		saw(a, "the VF of a VM that went off was free after %lld ms (%d tries)",
		    (long long)(op->sent_ms - began), tries);
	judge(a, !op->err.code && tries == 1);
}

static void q_shortage(struct probe *p, struct answer *a)
{
	const char *moid[PROBE_VMS] = { NULL }, *pci;
	struct full f;
	struct op *op;
	int n = 0;

	if (!find_fillable(p, &f)) {
		saw(a, "no PF can be filled with %d VMs", PROBE_VMS - 1);
		return;
	}
	pci = f.h->pfs[f.pf].pci;
	for (; n <= f.room; n++) {
		moid[n] = make_nic(p, f.h, pci, a);
		if (!moid[n] || (n < f.room && !vm_switch(p, moid[n], true, a)))
			break;
	}
	if (n > f.room) {
		op = vm_power(p, moid[f.room], true, NULL);
		op_good(p, op);
		if (op->task[0])
			saw_task(p, a, "a power-on beyond the PF's VFs",
				 op->task);
		else
			saw_err(a, "a power-on beyond the PF's VFs", &op->err);
		judge(a, !strcmp(op->err.fault, VS_VC_FAULT_NO_VF));
		multi_on(p, moid[f.room], a);
		if (op->err.code)
			release_lag(p, moid[0], moid[f.room], a);
		if (f.room + 1 < PROBE_VMS)
			clone_on(p, &f, a);
	}
	for (int i = 0; i < PROBE_VMS; i++)
		if (moid[i])
			vm_end(p, moid[i]);
}

const struct question power_questions[] = {
	{ "automatic", CHANGE, "What does a NIC with automatic PF show, on and off?",
	  "clones a VM (two, where a switch has several PFs), switches it on and off, removes it",
	  "once on, the PF that was chosen; while off nothing is relied on",
	  q_automatic },
	{ "order", CHANGE, "When is a VM shown on and off, against the task's end? (--memory: with so much locked memory)",
	  "clones a VM, switches it on and off, removes it",
	  "within seconds; until then we count the VF as held", q_order },
	{ "host", CHANGE, "Does PowerOnVM_Task keep to the host that is asked for?",
	  "clones a VM, switches it on with its own and with another host, removes it",
	  "a VM stays on its own host when that is asked for", q_host },
	{ "shortage", CHANGE, "What does a power-on say when no VF is left, and how soon is one free again?",
	  "where a PF has at most three VFs left: clones so many VMs and one more, switches them on, removes them",
	  "a fault that names the virtual function, and a VF is free as soon as its VM is off",
	  q_shortage },
	{ 0 }
};
