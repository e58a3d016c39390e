/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See fake_vc.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fake_vc_i.h"
#include "util/mem.h"

#define PF "0000:3b:00.0"

struct fake_vm fake_vms[MAX_VMS];
struct fake_call fake_calls[MAX_CALLS];
int fake_ncalls;
static int nhosts, nvfs;
int fake_serial;
static struct vs_vc *const client = (struct vs_vc *)&fake_serial;

int fake_sent[FAKE_KINDS], fake_cancels, fake_overfull, fake_while_paused;
int64_t fake_disk_mb;
const char *fake_about;
int fake_hw;
const char *fake_template_host;
enum vs_vc_auto fake_template_link;

/* ---- the world ------------------------------------------------------------- */

void fake_reset(int hosts, int vfs)
{
	fake_shown_mhz = -1;
	fake_guest = false;
	memset(fake_vms, 0, sizeof(fake_vms));
	memset(fake_calls, 0, sizeof(fake_calls));
	memset(fake_sent, 0, sizeof(fake_sent));
	fake_cancels = fake_overfull = fake_ncalls = fake_while_paused = 0;
	fake_beat_reset();
	fake_pool_mhz = fake_pool_mb = -1;
	fake_store_mb = 1 << 20;
	fake_disk_mb = 0;
	fake_about = "fake";
	fake_hw = 20;
	fake_template_host = "host-templates";
	fake_template_link = VS_VC_AUTO_YES;
	nhosts = hosts;
	nvfs = vfs;
	core_set_vc(client);
}

struct fake_vm *fake_by_moid(const char *moid)
{
	for (int i = 0; i < MAX_VMS; i++)
		if (fake_vms[i].used && !strcmp(fake_vms[i].moid, moid))
			return &fake_vms[i];
	return NULL;
}

struct fake_vm *fake_get(const char *name)
{
	for (int i = 0; i < MAX_VMS; i++)
		if (fake_vms[i].used && !strcmp(fake_vms[i].name, name))
			return &fake_vms[i];
	return NULL;
}

static struct fake_vm *room(void)
{
	for (int i = 0; i < MAX_VMS; i++)
		if (!fake_vms[i].used)
			return &fake_vms[i];
	abort();
}

struct fake_vm *fake_add_vm(const char *name, const char *folder,
			    const char *host, bool on)
{
	struct fake_vm *vm = room();

	*vm = (struct fake_vm) { .used = true, .on = on, .disks_own = true,
				 .memory_mb = 1024 };
	snprintf(vm->moid, sizeof(vm->moid), "vm-%d", ++fake_serial);
	vs_strlcpy(vm->name, name, sizeof(vm->name));
	vs_strlcpy(vm->folder, folder, sizeof(vm->folder));
	vs_strlcpy(vm->host, host, sizeof(vm->host));
	snprintf(vm->uuid, sizeof(vm->uuid),
		 "00000000-0000-4000-8000-%012d", fake_serial);
	return vm;
}

int fake_count(void)
{
	int n = 0;

	for (int i = 0; i < MAX_VMS; i++)
		n += fake_vms[i].used && !strcmp(fake_vms[i].folder, "group-v1");
	return n;
}

static int used_on(const char *host)
{
	int n = 0;

	for (int i = 0; i < MAX_VMS; i++)
		n += fake_vms[i].used && fake_vms[i].on && fake_vms[i].has_nic &&
		     fake_vms[i].kind == VS_VC_NET_SRIOV &&
		     !strcmp(fake_vms[i].host, host);
	return n;
}

/* ---- what is delivered ------------------------------------------------------ */

int64_t fake_shown_mhz = -1;
bool fake_guest;

void fake_show(struct fake_vm *vm)
{
	struct vs_nic nics[FAKE_NICS + 1];
	const char *guest[VS_VC_NGUEST];
	char version[16];
	struct vs_vc_vm v = {
		.moid = vm->moid, .has = ~0u, .name = vm->name,
		.folder = vm->folder, .host = vm->host, .pool = vm->pool,
		.uuid = vm->uuid, .bios_uuid = vm->bios, .frozen = vm->frozen,
		.change_version = version,
		.power = vm->on ? "poweredOn" :
			vm->suspended ? "suspended" : "poweredOff",
		.connected = true, .is_template = vm->is_template,
		.tools_running = vm->tools,
		.owner_mark = vm->mark[0] ? vm->mark : NULL,
		.profile = vm->profile[0] ? vm->profile : NULL,
		.job_tag = vm->tag[0] ? vm->tag : NULL,
		.guest_state = vm->guest_state,
		.guest_reason = vm->guest_reason,
		.vcpus = 4, .memory_mb = vm->memory_mb,
		.latency_high = vm->latency_high,
		.numa = vm->numa[0] ? vm->numa : NULL,
		.cpu_reserved_mhz = fake_shown_mhz >= 0 ? fake_shown_mhz :
			vm->cpu_reserved_mhz,
		.mem_reserved_mb = vm->memory_mb, .mem_locked = true,
		.nics = nics,
		.disk_dir = !strcmp(vm->store, "datastore-2") ? "[t] d/" :
			!strcmp(vm->store, "other") ? "[o] d/" : "[s] d/",
		.disks_own = vm->disks_own,
		.unreadable = vm->unreadable,
	};

	snprintf(version, sizeof(version), "%d", vm->version + 1);
	for (int i = 0; i < VS_VC_NGUEST; i++)
		guest[i] = vm->guest[i][0] ? vm->guest[i] : NULL;
	v.guest = fake_guest ? guest : NULL;
	fake_parents_show(vm, &v);
	v.nnics = fake_nics_show(vm, nics);
	fake_tell(vm, &v);
}

void fake_remove(struct fake_vm *vm)
{
	char moid[32];

	memcpy(moid, vm->moid, sizeof(moid));
	vm->used = false;
	fake_tell(gone, VS_VC_VM, moid);
}

static void show_host(int i)
{
	static const char *const nets[] = { "dvportgroup-1" };
	static const char *const stores[] = { "datastore-1", "datastore-2" };
	char moid[32], name[32];
	struct vs_vc_pf pf = {
		.pci = PF, .pnic = "vmnic4", .switch_uuid = "sw", .vfs = nvfs,
		.numa_cores = 32, .numa_mb = 256 * 1024, .link_up = true,
	};
	struct vs_vc_host h = {
		.moid = moid, .has = ~0u, .name = name, .cluster = "domain-c1",
		.connected = true, .powered_on = true, .cores = 64,
		.core_mhz = 2000, .numa_nodes = 2, .max_hw = 21,
		.memory_mb = 512 * 1024, .pfs = &pf, .npfs = 1,
		.nets = nets, .nnets = 1,
		.stores = stores + (fake_stores == FAKE_LOCAL && i > 1),
		.nstores = fake_stores == FAKE_BOTH ? 2 : 1,
	};

	snprintf(moid, sizeof(moid), "host-%d", i);
	snprintf(name, sizeof(name), "esx%d", i);
	fake_tell(host, &h);
}

void fake_load(void)
{
	struct vs_vc_cluster cl = {
		.name = "C1", .moid = "domain-c1", .pool_moid = "resgroup-1",
		.drs = VS_VC_AUTO_NO, .ha = VS_VC_AUTO_NO,
	};
	struct vs_vc_network net = { "NET", "dvportgroup-1", "sw",
				     "dvportgroup-1", false, false, 0 };
	struct vs_vc_template tpl = {
		.name = "tpl", .moid = "vm-tpl", .change_version = "1",
		.host = fake_template_host, .link = fake_template_link,
		.is_template = true, .hw = fake_hw,
		.disk_mb = fake_disk_mb,
	};
	struct vs_vc_found f = {
		.about = fake_about, .instance_uuid = "u", .release = "8.0.3.0",
		.user = "slurm", .datacenter = "datacenter-1",
		.folder = "group-v1", .datastore = "datastore-1",
		.clusters = &cl, .nclusters = 1, .networks = &net,
		.nnetworks = 1, .templates = &tpl, .ntemplates = 1,
	};

	if (fake_stores) {
		f.stores = fake_two;
		f.nstores = 2;
	}
	fake_tell(up, &f);
	fake_tell(load_begin);
	for (int i = 1; i <= nhosts; i++)
		show_host(i);
	for (int i = 0; i < MAX_VMS; i++)
		if (fake_vms[i].used)
			fake_show(&fake_vms[i]);
	fake_tell(load_end);
}

void fake_template(const char *moid, const char *missing)
{
	struct vs_vc_template tpl = {
		.name = "tpl", .moid = moid, .change_version = moid,
		.host = fake_template_host, .link = fake_template_link,
		.is_template = true, .hw = fake_hw,
		.disk_mb = fake_disk_mb, .missing = missing,
	};

	fake_tell(template_changed, &tpl);
}

void fake_down(enum vs_code code)
{
	struct vs_err err = { .code = code, .text = "connection lost" };

	/* The client ends what is under way as unknown; the engine forgets. */
	for (int i = 0; i < fake_ncalls; i++)
		fake_calls[i].waiting = false;
	fake_tell(down, &err);
}

/* ---- fake_calls ------------------------------------------------------------------- */

struct fake_call *fake_call_new(enum fake_kind kind, const char *vm,
			     const char *host, const struct vs_vc_op *op)
{
	struct fake_call *c = &fake_calls[fake_ncalls++];

	if (fake_ncalls > MAX_CALLS)
		abort();
	memset(c, 0, sizeof(*c));
	c->waiting = true;
	c->kind = kind;
	c->id = (uint64_t)fake_ncalls;
	snprintf(c->task, sizeof(c->task), "task-%d", fake_ncalls);
	vs_strlcpy(c->vm, vm ? vm : "", sizeof(c->vm));
	vs_strlcpy(c->host, host ? host : "", sizeof(c->host));
	c->op = op;
	fake_sent[kind]++;
	fake_while_paused += kind != FAKE_ADOPT && vs_pause_get();
	return c;
}

void fake_extra_apply(struct fake_vm *vm, const struct vs_vc_hw *hw)
{
	vm->memory_mb = hw->memory_mb;
	vm->asked = *hw;
	if (hw->exact || hw->memory_locked)
		vm->mem_locked = hw->memory_locked;
	if (hw->exact || hw->latency_high)
		vm->latency_high = hw->latency_high;
	if (hw->exact || hw->cpu_reserved_mhz)
		vm->cpu_reserved_mhz = hw->cpu_reserved_mhz;
	for (size_t i = 0; i < hw->nextra; i++) {
		const struct vs_vc_kv *kv = &hw->extra[i];

		for (int k = 0; k < VS_VC_NGUEST; k++)
			if (!strcmp(kv->key, vs_vc_guest_keys[k]))
				vs_strlcpy(vm->guest[k], kv->value,
					   sizeof(vm->guest[k]));
		if (!strcmp(kv->key, VS_KEY_OWNER))
			vs_strlcpy(vm->mark, kv->value, sizeof(vm->mark));
		else if (!strcmp(kv->key, VS_KEY_PROFILE))
			vs_strlcpy(vm->profile, kv->value,
				   sizeof(vm->profile));
		else if (!strcmp(kv->key, "slurm.vsphere.job"))
			vs_strlcpy(vm->tag, kv->value, sizeof(vm->tag));
		else if (!strcmp(kv->key, "numa.nodeAffinity"))
			vs_strlcpy(vm->numa, kv->value, sizeof(vm->numa));
		else if (!strcmp(kv->key, "guestinfo.slurm.mtu"))
			vs_strlcpy(vm->mtu, kv->value, sizeof(vm->mtu));
		else
			fake_marks_apply(vm, kv);
	}
}

int64_t vs_vc_vm_clone(struct vs_vc *vc, const struct vs_vc_clone *cl,
		       const struct vs_vc_op *op, struct vs_err *err)
{
	struct fake_call *c = fake_call_new(FAKE_CLONE, NULL, cl->host, op);

	(void)vc;
	(void)err;
	fake_trace_clone(cl);
	c->clone = (struct fake_vm) { .used = true, .disks_own = true };
	vs_strlcpy(c->clone.source, cl->source, sizeof(c->clone.source));
	fake_source_apply(&c->clone, cl);
	snprintf(c->clone.moid, sizeof(c->clone.moid), "vm-%d", ++fake_serial);
	vs_strlcpy(c->clone.name, cl->name, sizeof(c->clone.name));
	vs_strlcpy(c->clone.folder, cl->folder, sizeof(c->clone.folder));
	vs_strlcpy(c->clone.host, cl->host, sizeof(c->clone.host));
	vs_strlcpy(c->clone.pool, cl->pool, sizeof(c->clone.pool));
	vs_strlcpy(c->clone.store, cl->datastore ? cl->datastore : "",
		   sizeof(c->clone.store));
	vs_strlcpy(c->clone.uuid, cl->uuid, sizeof(c->clone.uuid));
	fake_nics_apply(&c->clone, &cl->hw);
	fake_extra_apply(&c->clone, &cl->hw);
	return (int64_t)c->id;
}

int64_t vs_vc_vm_reconfigure(struct vs_vc *vc, const char *vm,
			     const char *version, const struct vs_vc_hw *hw,
			     const struct vs_vc_op *op, struct vs_err *err)
{
	struct fake_call *c = fake_call_new(FAKE_RECONFIGURE, vm, NULL, op);

	(void)vc;
	(void)err;
	fake_trace_reconfigure(vm, version, hw);
	c->clone = *fake_by_moid(vm);
	fake_nics_apply(&c->clone, hw);
	fake_extra_apply(&c->clone, hw);
	return (int64_t)c->id;
}

int64_t vs_vc_vm_relocate(struct vs_vc *vc, const char *vm, const char *host,
			  const char *pool, const char *store,
			  const struct vs_vc_op *op, struct vs_err *err)
{
	struct fake_call *c = fake_call_new(FAKE_RELOCATE, vm, host, op);

	(void)vc;
	(void)err;
	fake_trace_line("relocate vm=%s host=%s pool=%s store=%s", vm, host,
			pool, store ? store : "");
	vs_strlcpy(c->clone.pool, pool, sizeof(c->clone.pool));
	vs_strlcpy(c->clone.store, store ? store : "", sizeof(c->clone.store));
	return (int64_t)c->id;
}

/* A test has switched it on already: its own power-on takes no second VF. */
static bool is_on(const char *moid)
{
	const struct fake_vm *vm = fake_by_moid(moid);

	return vm && vm->on && vm->has_nic;
}

int64_t vs_vc_vm_power_on(struct vs_vc *vc, const char *vm, const char *host,
			  const struct vs_vc_op *op, struct vs_err *err)
{
	int busy = used_on(host);

	(void)vc;
	(void)err;
	fake_trace_line("power_on vm=%s host=%s", vm, host);
	for (int i = 0; i < fake_ncalls; i++)
		busy += fake_calls[i].waiting && fake_calls[i].kind == FAKE_POWER_ON &&
			!strcmp(fake_calls[i].host, host) &&
			!is_on(fake_calls[i].vm);
	if (busy >= nvfs && fake_by_moid(vm)->kind == VS_VC_NET_SRIOV)
		fake_overfull++;
	return (int64_t)fake_call_new(FAKE_POWER_ON, vm, host, op)->id;
}

#define SIMPLE(name, kind, call)					\
int64_t name(struct vs_vc *vc, const char *vm, const struct vs_vc_op *op, \
	     struct vs_err *err)					\
{									\
	(void)vc;							\
	(void)err;							\
	fake_trace_line(call " vm=%s", vm);				\
	return (int64_t)fake_call_new(kind, vm, NULL, op)->id;		\
}
SIMPLE(vs_vc_vm_power_off, FAKE_POWER_OFF, "power_off")
SIMPLE(vs_vc_vm_shutdown_guest, FAKE_SHUTDOWN, "shutdown_guest")
SIMPLE(vs_vc_vm_destroy, FAKE_DESTROY, "destroy")

int64_t vs_vc_task_adopt(struct vs_vc *vc, const char *task,
			 const struct vs_vc_op *op, struct vs_err *err)
{
	(void)vc;
	(void)err;
	fake_trace_line("wait_for task=%s", task);
	return (int64_t)fake_call_new(FAKE_ADOPT, task, NULL, op)->id;
}

int vs_vc_task_cancel(struct vs_vc *vc, const char *task, struct vs_err *err)
{
	(void)vc;
	(void)err;
	fake_trace_line("cancel task=%s", task);
	fake_cancels++;
	fake_while_paused += vs_pause_get() != NULL;
	return 0;
}

struct fake_call *fake_oldest(enum fake_kind kind)
{
	for (int i = 0; i < fake_ncalls; i++)
		if (fake_calls[i].waiting && fake_calls[i].kind == kind)
			return &fake_calls[i];
	return NULL;
}

int fake_waiting(enum fake_kind kind)
{
	int n = 0;

	for (int i = 0; i < fake_ncalls; i++)
		n += fake_calls[i].waiting && fake_calls[i].kind == kind;
	return n;
}

void fake_effect(struct fake_call *c)
{
	struct fake_vm *vm = c->kind == FAKE_CLONE || c->kind == FAKE_INSTANT ?
		room() : fake_by_moid(c->vm);

	if (!vm)
		return;
	switch (c->kind) {
	case FAKE_CLONE:
	case FAKE_INSTANT:
	case FAKE_RECONFIGURE:
		*vm = c->clone;
		vm->version++;
		break;
	case FAKE_RELOCATE:
		vs_strlcpy(vm->host, c->host, sizeof(vm->host));
		vs_strlcpy(vm->pool, c->clone.pool, sizeof(vm->pool));
		if (c->clone.store[0])
			vs_strlcpy(vm->store, c->clone.store,
				   sizeof(vm->store));
		break;
	case FAKE_POWER_ON:
		vm->on = true;
		vm->suspended = false;
		if (vm->has_nic && vm->automatic && !vm->kind)
			vs_strlcpy(vm->pci, PF, sizeof(vm->pci));
		break;
	case FAKE_POWER_OFF:
	case FAKE_SHUTDOWN:
		vm->on = vm->frozen = vm->suspended = false;
		break;
	case FAKE_SNAPSHOT:
		vs_strlcpy(vm->snapshot, c->task, sizeof(vm->snapshot));
		break;
	case FAKE_DESTROY:
		fake_remove(vm);
		return;
	default:
		return;
	}
	fake_show(vm);
}

/* A callback of an operation, as the client makes it. */
#define OP_TELLS(call) do { \
	vs_watch_events.together(&vs_core, true); \
	call; \
	vs_watch_events.together(&vs_core, false); \
} while (0)

bool fake_accept(enum fake_kind kind)
{
	struct fake_call *c = fake_oldest(kind);

	if (!c || c->accepted)
		return false;
	c->accepted = true;
	if (c->op->started && kind != FAKE_ADOPT)
		OP_TELLS(c->op->started(c->op->arg, c->id, c->task));
	return true;
}

bool fake_finish(enum fake_kind kind)
{
	struct fake_call *c = fake_oldest(kind);

	if (!c)
		return false;
	fake_accept(kind);
	c->waiting = false;
	fake_effect(c);
	OP_TELLS(c->op->done(c->op->arg, c->id,
			     kind == FAKE_CLONE || kind == FAKE_INSTANT ?
			     c->clone.moid : "", NULL));
	return true;
}

bool fake_fault(enum fake_kind kind, enum vs_code code, const char *fault,
		const char *text)
{
	struct fake_call *c = fake_oldest(kind);
	struct vs_err err = { .code = code };

	if (!c)
		return false;
	c->waiting = false;
	vs_strlcpy(err.fault, fault, sizeof(err.fault));
	vs_strlcpy(err.text, text, sizeof(err.text));
	OP_TELLS(c->op->done(c->op->arg, c->id, "", &err));
	return true;
}

bool fake_fail(enum fake_kind kind, enum vs_code code, const char *text)
{
	return fake_fault(kind, code, "", text);
}
