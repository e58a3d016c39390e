/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage of the tests of the inventory: update sets in, ' stands for ", and
 * what is delivered as words in `out`. Included by each test program.
 */
#ifndef INV_STAGE_H
#define INV_STAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "util/mem.h"
#include "vcenter/decode/inventory.h"

#define STAGE static __attribute__((unused))

#define REF(t, v) "{'_typeName':'ManagedObjectReference','type':'" t \
	"','value':'" v "'}"
#define STR(v) "{'_typeName':'string','_value':'" v "'}"
#define CHANGE(n, v) "{'name':'" n "','op':'assign','val':" v "}"
#define OBJ(kind, t, v, changes) "{'kind':'" kind "','obj':" REF(t, v) \
	",'changeSet':[" changes "]}"
#define SET(f, objs) "{'filter':" REF("PropertyFilter", f) \
	",'objectSet':[" objs "]}"
#define UPDATE(filters) "{'_typeName':'UpdateSet','version':'1'," \
	"'filterSet':[" filters "]}"
/* A fault in data: as VI JSON of vCenter 8.0.3 has it, and as SOAP has it. */
#define FLAT(type) "{'_typeName':'" type "','faultstring':'No.'}"
#define NESTED(type) "{'_typeName':'LocalizedMethodFault','fault':" \
	"{'_typeName':'" type "'},'localizedMessage':'No.'}"
#define OWNER "config.extraConfig[\\\"slurm.vsphere.owner\\\"]"
#define NUMA "config.extraConfig[\\\"numa.nodeAffinity\\\"]"
#define POWER(v) CHANGE("runtime.powerState", \
	"{'_typeName':'VirtualMachinePowerState','_value':'" v "'}")

static char out[8192];		/* what was delivered, one word an event */
static struct vs_err err;
static __attribute__((unused)) unsigned int host_had;	/* VS_VC_HOST_* */

static void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *fmt, ...)
{
	size_t n = strlen(out);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out + n, sizeof(out) - n, fmt, ap);
	va_end(ap);
}

static void on_vm(void *arg, const struct vs_vc_vm *v)
{
	(void)arg;
	note("vm %s", v->moid);
	if (v->unreadable)
		note(" unreadable");
	if (v->has & VS_VC_VM_NAME)
		note(" name=%s", v->name);
	if (v->has & VS_VC_VM_POWER)
		note(" power=%s", v->power);
	if (v->has & VS_VC_VM_HOST)
		note(" host=%s", v->host);
	if (v->has & VS_VC_VM_PARENT)
		note(" folder=%s", v->folder);
	if (v->has & VS_VC_VM_MARK)
		note(" owner=%s", v->owner_mark ? v->owner_mark : "-");
	if (v->has & VS_VC_VM_CONFIG)
		note(" uuid=%s locked=%d mem=%d", v->uuid, v->mem_locked,
		     (int)v->mem_reserved_mb);
	if ((v->has & VS_VC_VM_CONFIG) && v->numa)
		note(" numa=%s", v->numa);
	if (v->has & VS_VC_VM_NICS)
		for (size_t i = 0; i < v->nnics; i++)
			note(" nic=%d/%s/%s%s%s", v->nics[i].kind,
			     v->nics[i].mac, v->nics[i].automatic ? "auto" :
			     "", v->nics[i].pci,
			     v->nics[i].kind > VS_NIC_PCI_DYNAMIC ?
			     v->nics[i].network : "");
	if (v->has & VS_VC_VM_DISKS)
		note(" dir=%s own=%d%s%s", v->disk_dir, v->disks_own,
		     v->bases && v->bases[0] ? " bases=" : "",
		     v->bases ? v->bases : "");
	if ((v->has & VS_VC_VM_GUEST) && v->guest_state)
		note(" says=%s:%s", v->guest_state,
		     v->guest_reason ? v->guest_reason : "");
	note(";");
}

static void on_gone(void *arg, enum vs_vc_kind kind, const char *moid)
{
	(void)arg;
	if (kind == VS_VC_VM)
		note("gone %s;", moid);
}

static void note_named(const struct vs_vc_named *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		note(" %s=%s%s%s", list[i].name, list[i].moves ? "m" : "",
		     list[i].snapshots ? "c" : "", list[i].nic ? "n" : "");
}

static void on_host(void *arg, const struct vs_vc_host *h)
{
	(void)arg;
	host_had = h->has;
	note("host %s", h->moid);
	if (h->unreadable)
		note(" unreadable");
	if (h->has & VS_VC_HOST_STATE)
		note(" %s%s%s", h->connected ? "connected" : "away",
		     h->standby ? " standby" : "",
		     h->maintenance ? " maintenance" : "");
	if (h->has & VS_VC_HOST_HW)
		note(" %dx%d %dMB hw%d", h->cores, h->core_mhz,
		     (int)h->memory_mb, h->max_hw);
	if (h->has & VS_VC_HOST_PFS)
		for (size_t i = 0; i < h->npfs; i++)
			note(" %s=%s/%s/%d/n%d:%dx%dMB/%d", h->pfs[i].pci,
			     h->pfs[i].pnic, h->pfs[i].switch_uuid,
			     h->pfs[i].vfs, h->pfs[i].numa,
			     h->pfs[i].numa_cores, (int)h->pfs[i].numa_mb,
			     h->pfs[i].link_up);
	if (h->has & VS_VC_HOST_PFS)
		for (size_t i = 0; i < h->ndevices; i++)
			note(" %s=%s%04x:%04x/%s/%s/n%d", h->devices[i].pci,
			     h->devices[i].active ? "" :
			     h->devices[i].enabled ? "waits:" : "off:",
			     (unsigned int)h->devices[i].vendor,
			     (unsigned int)h->devices[i].device,
			     h->devices[i].name, h->devices[i].label,
			     h->devices[i].numa);
	for (size_t i = 0; i < h->ngpus; i++)
		note(" %s=%s/%s/%s/n%d", h->gpus[i].pci, h->gpus[i].name,
		     h->gpus[i].type, h->gpus[i].mode, h->gpus[i].numa);
	note_named(h->profiles, h->nprofiles);
	note_named(h->dvx, h->ndvx);
	note(";");
}

static void note_task(const struct vcx_task_update *t)
{
	const char *vm = vs_j_ref(t->result, NULL);

	if (t->lost)
		note("lost %s;", t->moid);
	else
		note("task %s %s%s%s%s;", t->moid, vs_j_str_or(t->state, "-"),
		     vs_j_null(t->error) ? "" : " error", *vm ? " ->" : "", vm);
}

/* What is done with each update of a task. */
static void (*on_task)(const struct vcx_task_update *t) = note_task;

static const struct vs_vc_events events = {
	.vm = on_vm, .gone = on_gone, .host = on_host,
};

STAGE int setup(void **state)
{
	struct vs_inv *inv = vs_inv_new(&events, NULL);

	inv->filter[VCX_F_VMS] = vs_strdup("f-vms");
	inv->filter[VCX_F_MANAGED] = vs_strdup("f-ours");
	inv->filter[VCX_F_HOSTS] = vs_strdup("f-hosts");
	inv->filter[VCX_F_TASKS] = vs_strdup("f-tasks");
	out[0] = '\0';
	*state = inv;
	return 0;
}

STAGE int teardown(void **state)
{
	vs_inv_free(*state);
	return 0;
}

static struct vs_jdoc parse(const char *text)
{
	VS_FREE char *json = vs_strdup(text);
	struct vs_jdoc doc;

	for (char *p = json; *p; p++)
		if (*p == '\'')
			*p = '"';
	if (vs_jdoc_parse(&doc, json, strlen(json), &err))
		fail_msg("%s: %s", text, err.text);
	return doc;
}

STAGE int feed(struct vs_inv *inv, const char *text)
{
	struct vcx_task_updates tasks = { .n = 0 };
	struct vs_jdoc doc = parse(text);
	int rc;

	out[0] = '\0';
	rc = vs_inv_update(inv, vs_j_root(&doc), &err);
	vs_inv_flush(inv);
	if (!rc)
		rc = vs_inv_tasks(inv, vs_j_root(&doc), &tasks, &err);
	for (size_t i = 0; i < tasks.n; i++)
		on_task(&tasks.list[i]);
	free(tasks.list);
	vs_jdoc_free(&doc);
	return rc;
}

#define DELIVERS(inv, text, want) do {					\
	assert_int_equal(feed(inv, text), 0);				\
	assert_string_equal(out, want);					\
} while (0)

/* What is to be read again, and forgets it: "vm-1/0 ", moId and filter of each. */
STAGE void wanted_is(struct vs_inv *inv, const char *words)
{
	struct vcx_refetch *r;
	char got[2048] = "";

	while ((r = TAILQ_FIRST(&inv->refetch))) {
		size_t n = strlen(got);

		snprintf(got + n, sizeof(got) - n, "%s/%d ", r->moid,
			 (int)r->filter);
		TAILQ_REMOVE(&inv->refetch, r, link);
		free(r->type);
		free(r->moid);
		free(r);
	}
	assert_string_equal(got, words);
}

#endif
