/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probe's own VMs: made, switched, ended.
 *
 * Rules: at most PROBE_VMS at a time, all in the throw-away folder, each with
 * our run's mark in its clone spec. What is switched or destroyed carries that
 * mark and lies in that folder at that moment; nothing else is ever touched.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "probe.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/time.h"
#include "vcenter/transport/fault.h"
#include "vcenter/spec/spec.h"

/* ---- operations -------------------------------------------------------------- */

static void on_started(void *arg, uint64_t id, const char *task)
{
	struct op *op = arg;

	(void)id;
	op->started = true;
	op->started_ms = vs_now_ms();
	vs_strlcpy(op->task, task, sizeof(op->task));
}

static void on_done(void *arg, uint64_t id, const char *result,
		    const struct vs_err *err)
{
	struct op *op = arg;

	(void)id;
	op->done = true;
	op->done_ms = vs_now_ms();
	vs_strlcpy(op->result, result, sizeof(op->result));
	if (err)
		op->err = *err;
}

struct op *op_new(struct probe *p, struct vs_vc_op *cb)
{
	struct op *op = vs_calloc(1, sizeof(*op));

	VS_GROW(p->ops, p->cap_ops, p->nops + 1);
	p->ops[p->nops++] = op;
	op->sent_ms = vs_now_ms();
	*cb = (struct vs_vc_op){ .started = on_started, .done = on_done,
				 .arg = op };
	p->changed = true;
	return op;
}

/* What could not be sent is over. */
static struct op *sent(struct op *op, int64_t id)
{
	if (id < 0)
		op->done = true;
	return op;
}

static bool is_done(struct probe *p, void *arg)
{
	(void)p;
	return ((struct op *)arg)->done;
}

bool op_wait(struct probe *p, struct op *op, int64_t ms)
{
	return link_until(p, is_done, op, ms);
}

bool op_good(struct probe *p, struct op *op)
{
	return op_wait(p, op, PROBE_TASK_MS) && !op->err.code;
}

static bool is_started(struct probe *p, void *arg)
{
	struct op *op = arg;

	(void)p;
	return op->started || op->done;
}

struct op *ask_task(struct probe *p, const char *type, const char *moid,
		    const char *method, struct json_object *body_take)
{
	struct reply r;
	struct vs_vc_op cb;
	struct op *op = op_new(p, &cb);
	bool cleaning = p->cleaning, failed;

	/* What it began must be known, or it can't be ended. */
	p->cleaning = true;
	failed = ask(p, &r, type, moid, method, body_take, 0);
	p->cleaning = cleaning;
	if (failed) {
		op->err = r.err;
		op->done = true;
	} else {
		const char *task = vs_j_ref(vs_j_root(&r.doc), NULL);

		on_started(op, 0, task);
		sent(op, vs_vc_task_adopt(p->vc, task, &cb, &op->err));
	}
	reply_free(&r);
	return op;
}

void saw_task(struct probe *p, struct answer *a, const char *what,
	      const char *task)
{
	struct vs_err err = { 0 };
	struct reply r;
	struct vs_j error;

	if (ask_get(p, &r, "Task", task, "info")) {
		saw_err(a, what, &r.err);
	} else {
		error = vs_j_opt(vs_j_root(&r.doc), "error");
		vs_vcx_fault(error, VCX_IN_TASK, &err);
		saw(a, "%s: %s: %s", what,
		    vs_j_null(error) ? "no fault" : vs_vcx_fault_type(error),
		    vs_j_null(error) ? "" : err.text);
	}
	reply_free(&r);
}

/* ---- VMs of the probe
 * ------------------------------------------------------------ */

/* The VM's mark names its own uuid, or one of the probe's clones became it.
 * Neither is true for a copy of such a VM. */
static bool made_by_us(const struct probe *p, const struct vm *vm,
		       const struct vs_owner_tag *mark)
{
	if (vm->uuid && !strcasecmp(vm->uuid, mark->uuid))
		return true;
	for (size_t i = 0; i < p->nops; i++)
		if (!strcmp(p->ops[i]->result, vm->moid))
			return true;
	return false;
}

bool vm_ours(const struct probe *p, const struct vm *vm)
{
	struct vs_owner_tag mark;

	return vm && vm->folder && vm->mark && !vm->is_template &&
		!strcmp(vm->folder, p->folder) &&
		!vs_owner_tag_parse(vm->mark, &mark) &&
		!strcmp(mark.cluster, p->run_id) && made_by_us(p, vm, &mark);
}

size_t vms_ours(const struct probe *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nvms; i++)
		n += vm_ours(p, &p->vms[i]);
	return n;
}

/* ---- making ------------------------------------------------------------------------ */

struct clone {
	struct vs_vc_clone c;
	struct vs_vc_nic_spec nic;
	struct vs_vc_kv kv[2];
	char uuid[VS_UUID_LEN], name[32];
	char *mark;
};

static void clone_fill(struct probe *p, const struct make *m, struct clone *c)
{
	struct vs_owner_tag mark = { 0 };

	memset(c, 0, sizeof(*c));
	snprintf(c->name, sizeof(c->name), "probe-%d", ++p->names_used);
	vs_uuid_random(c->uuid);
	if (m->name)
		vs_strlcpy(c->name, m->name, sizeof(c->name));
	if (m->uuid)
		vs_strlcpy(c->uuid, m->uuid, sizeof(c->uuid));
	vs_strlcpy(mark.cluster, p->run_id, sizeof(mark.cluster));
	vs_strlcpy(mark.node, c->name, sizeof(mark.node));
	vs_strlcpy(mark.uuid, c->uuid, sizeof(mark.uuid));
	c->mark = vs_owner_tag_format(&mark);
	c->kv[0] = (struct vs_vc_kv){ VS_KEY_OWNER, c->mark };
	c->nic = (struct vs_vc_nic_spec){ .kind = VS_VC_NET_SRIOV,
		.network = p->network, .network_name = p->o.network,
		.switch_uuid = p->switch_uuid,
		.portgroup_key = p->portgroup_key, .pci = m->pci,
		.mtu_change_allowed = true };
	if (m->as)
		c->nic = *m->as;
	c->c = (struct vs_vc_clone){ .source = p->source, .folder = p->folder,
		.name = c->name, .uuid = c->uuid, .pool = p->pool,
		.host = m->host, .datastore = p->store,
		.snapshot = m->snapshot,
		.hw = { .vcpus = 1, .memory_mb = p->o.memory_mb,
			.memory_locked = m->nic || m->latency_mhz, .exact = true,
			.latency_high = m->latency_mhz > 0,
			.cpu_reserved_mhz = m->latency_mhz,
			.mgmt_mac = m->mac,
			.nics = &c->nic, .nnics = m->nic,
			.extra = c->kv, .nextra = 1 } };
}

struct json_object *vm_clone_body(struct probe *p, const struct make *m)
{
	struct json_object *body;
	struct clone c;

	clone_fill(p, m, &c);
	body = vs_vc_clone_body(p->vc, &c.c, NULL);
	if (!body)
		body = vs_spec_clone(&c.c, NULL);
	free(c.mark);
	return body;
}

struct op *vm_begin(struct probe *p, const struct make *m, struct vs_err *err)
{
	struct vs_vc_op cb;
	struct clone c;
	struct op *op;
	size_t under_way = 0;

	for (size_t i = 0; i < p->nops; i++)
		under_way += !p->ops[i]->done;
	if (vms_ours(p) + under_way >= PROBE_VMS) {
		vs_err_set(err, VS_E_SHORTAGE, "the probe has its %d VMs",
			   PROBE_VMS);
		return NULL;
	}
	clone_fill(p, m, &c);
	op = op_new(p, &cb);
	sent(op, vs_vc_vm_clone(p->vc, &c.c, &cb, &op->err));
	free(c.mark);
	if (err)
		*err = op->err;
	return op->err.code ? NULL : op;
}

struct shown { const char *moid; bool on; };

static bool is_there(struct probe *p, void *arg)
{
	return vm_ours(p, vm_get(p, ((struct shown *)arg)->moid));
}

const char *vm_make(struct probe *p, const struct make *m, struct answer *a)
{
	struct vs_err err = { 0 };
	struct op *op = vm_begin(p, m, &err);
	struct shown s;

	if (op && !op_good(p, op))
		err = op->err;
	if (!op || !op->done || err.code) {
		saw_err(a, "a clone failed", &err);
		return NULL;
	}
	s.moid = op->result;
	if (!link_until(p, is_there, &s, PROBE_SHOW_MS)) {
		saw(a, "a clone was never shown with its mark");
		return NULL;
	}
	return op->result;
}

/* ---- switching ------------------------------------------------------------------- */

struct op *vm_power(struct probe *p, const char *moid, bool on,
		    const char *host)
{
	struct vs_vc_op cb;
	struct op *op = op_new(p, &cb);

	if (!vm_ours(p, vm_get(p, moid)))
		vs_err_set(&op->err, VS_E_GONE, "%s is not ours", moid);
	if (op->err.code)
		return sent(op, -1);
	return sent(op, on ?
		vs_vc_vm_power_on(p->vc, moid, host, &cb, &op->err) :
		vs_vc_vm_power_off(p->vc, moid, &cb, &op->err));
}

static bool is_shown(struct probe *p, void *arg)
{
	const struct shown *s = arg;
	const struct vm *vm = vm_get(p, s->moid);

	return vm && vm->power &&
		!strcmp(vm->power, s->on ? "poweredOn" : "poweredOff");
}

bool vm_shown(struct probe *p, const char *moid, bool on, int64_t ms)
{
	struct shown s = { moid, on };

	return link_until(p, is_shown, &s, ms);
}

bool vm_switch(struct probe *p, const char *moid, bool on, struct answer *a)
{
	struct op *op = vm_power(p, moid, on, NULL);

	if (op_good(p, op) && vm_shown(p, moid, on, PROBE_SHOW_MS))
		return true;
	saw_err(a, on ? "a power-on failed" : "a power-off failed", &op->err);
	return false;
}

/* ---- ending ------------------------------------------------------------------------ */

static bool is_gone(struct probe *p, void *arg)
{
	return !vm_get(p, ((struct shown *)arg)->moid);
}

void vm_end(struct probe *p, const char *moid)
{
	struct vm *vm = vm_get(p, moid);
	struct shown s = { .moid = moid };
	struct vs_vc_op cb;
	struct op *op;

	if (!vm_ours(p, vm))
		return;
	if (vm->power && strcmp(vm->power, "poweredOff")) {
		op_good(p, vm_power(p, moid, false, NULL));
		vm_shown(p, moid, false, PROBE_SHOW_MS);
	}
	if (!vm_ours(p, vm_get(p, moid)))
		return;
	op = op_new(p, &cb);
	sent(op, vs_vc_vm_destroy(p->vc, moid, &cb, &op->err));
	if (op_good(p, op))
		link_until(p, is_gone, &s, PROBE_SHOW_MS);
}

static bool loaded(struct probe *p, void *arg)
{
	(void)arg;
	return p->up && p->loaded && vs_vc_is_up(p->vc);
}

/* Clones that are under way become VMs: cancel them, and see what they are. */
static void settle(struct probe *p)
{
	for (size_t i = 0; i < p->nops; i++) {
		struct op *op = p->ops[i];

		if (op->done)
			continue;
		link_until(p, is_started, op, PROBE_SHOW_MS);
		if (op->started && !op->done)
			vs_vc_task_cancel(p->vc, op->task, NULL);
		op_wait(p, op, PROBE_TASK_MS);
	}
}

bool vms_end(struct probe *p)
{
	p->cleaning = true;
	if (!p->changed)
		return true;
	vs_vc_retry(p->vc);
	if (!link_until(p, loaded, NULL, 300000)) {
		fprintf(stderr, "svf-probe: vCenter has gone: look for VMs named probe-* in folder %s and remove them\n",
			p->o.folder);
		return false;
	}
	settle(p);
	link_sleep(p, 1000);	/* what they became is shown */
	for (int tries = 0; tries < 3 && vms_ours(p); tries++) {
		for (size_t i = p->nvms; i-- > 0;) {
			VS_FREE char *moid = vs_strdup(p->vms[i].moid);

			vm_end(p, moid);
			if (i > p->nvms)
				i = p->nvms;
		}
	}
	for (size_t i = 0; i < p->nvms; i++)
		if (vm_ours(p, &p->vms[i]))
			fprintf(stderr, "svf-probe: %s could not be removed from folder %s: remove it\n",
				p->vms[i].name, p->o.folder);
	return !vms_ours(p);
}

/* ---- places ------------------------------------------------------------------------- */

bool pf_reaches(const struct probe *p, const struct host *h, size_t pf)
{
	return h->pfs[pf].vfs > 0 && p->switch_uuid && p->switch_uuid[0] &&
		!strcmp(h->pfs[pf].switch_uuid, p->switch_uuid);
}

int pf_used(const struct probe *p, const struct host *h, size_t pf)
{
	int n = 0;

	for (size_t i = 0; i < p->nvms; i++) {
		const struct vm *v = &p->vms[i];

		if (v->has_nic && v->host && v->power &&
		    !strcmp(v->host, h->moid) &&
		    strcmp(v->power, "poweredOff") &&
		    (!v->pci || !v->pci[0] || !strcmp(v->pci, h->pfs[pf].pci)))
			n++;
	}
	return n;
}

struct host *host_for(struct probe *p, size_t n)
{
	for (size_t i = 0; i < p->nhosts; i++) {
		struct host *h = &p->hosts[i];
		bool room = false;

		for (size_t k = 0; k < h->npfs; k++)
			room |= pf_reaches(p, h, k) &&
				pf_used(p, h, k) < h->pfs[k].vfs;
		if (room && h->connected && !h->maintenance && h->cluster &&
		    !strcmp(h->cluster, p->cluster) && !n--)
			return h;
	}
	return NULL;
}
