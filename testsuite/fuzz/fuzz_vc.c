/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What vCenter sends: update sets, faults, property lists. Each line of the
 * input is one JSON document, all of them go into one inventory.
 *
 * What must hold: nothing crashes; -1 comes with a code and a text; what is
 * delivered is complete (every string whose bit is set can be read).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/calls/calls_i.h"

static size_t touched;

static void touch(const char *s)
{
	touched += strlen(s);
}

static void on_vm(void *arg, const struct vs_vc_vm *v)
{
	(void)arg;
	touch(v->moid);
	if (v->has & VS_VC_VM_NAME)
		touch(v->name);
	if (v->has & VS_VC_VM_POWER)
		touch(v->power);
	if (v->has & VS_VC_VM_HOST)
		touch(v->host);
	if (v->has & VS_VC_VM_PARENT)
		touch(v->folder);
	if (v->has & VS_VC_VM_CONFIG) {
		touch(v->uuid);
		touch(v->change_version);
	}
	if (v->has & VS_VC_VM_DISKS)
		touch(v->disk_dir);
	for (size_t i = 0; i < v->nnics; i++) {
		touch(v->nics[i].mac);
		touch(v->nics[i].network);
		touch(v->nics[i].switch_uuid);
		touch(v->nics[i].pci);
	}
}

static void on_host(void *arg, const struct vs_vc_host *h)
{
	(void)arg;
	touch(h->moid);
	touch(h->cluster);
	if (h->has & VS_VC_HOST_NAME)
		touch(h->name);
	for (size_t i = 0; i < h->npfs; i++) {
		touch(h->pfs[i].pci);
		touch(h->pfs[i].pnic);
		touch(h->pfs[i].switch_uuid);
	}
	for (size_t i = 0; i < h->nnets; i++)
		touch(h->nets[i]);
	for (size_t i = 0; i < h->nstores; i++)
		touch(h->stores[i]);
}

static void on_gone(void *arg, enum vs_vc_kind kind, const char *moid)
{
	(void)arg;
	(void)kind;
	touch(moid);
}

static void touch_tasks(struct vs_inv *inv, struct vs_j set)
{
	struct vcx_task_updates tasks;
	struct vs_err err = { 0 };

	vs_inv_tasks(inv, set, &tasks, &err);
	for (size_t i = 0; i < tasks.n; i++) {
		const struct vcx_task_update *t = &tasks.list[i];

		touch(t->moid);
		if (t->lost)
			continue;
		touch(vs_j_str_or(t->state, ""));
		touch(vs_j_ref(t->result, NULL));
		vs_vcx_fault(t->error, VCX_IN_TASK, &err);
		if (err.code == VS_OK || !err.text[0] || strchr(err.text, '\n'))
			abort();
	}
	free(tasks.list);
}

static void feed(struct vs_inv *inv, const char *text, size_t len)
{
	struct vcx_template t = { 0 };
	struct vs_err err = { 0 };
	struct vs_jdoc doc;

	if (vs_jdoc_parse(&doc, text, len, &err)) {
		if (err.code == VS_OK || !err.text[0])
			abort();
		return;
	}
	if (vs_inv_update(inv, vs_j_root(&doc), &err) &&
	    (err.code == VS_OK || !err.text[0]))
		abort();
	vs_inv_flush(inv);
	touch_tasks(inv, vs_j_root(&doc));
	vs_inv_reread(inv, VCX_F_VMS, "vm-1", vs_j_root(&doc),
		      vs_j_root(&doc));
	vs_inv_reread(inv, VCX_F_HOSTS, "host-1", vs_j_root(&doc),
		      vs_j_root(&doc));
	vs_inv_flush(inv);
	vs_vcx_fault(vs_j_root(&doc), VCX_IN_CALL, &err);
	if (err.code == VS_OK || !err.text[0] || !err.fault[0])
		abort();
	touch(vs_vcx_where_read(vs_j_root(&doc)));
	vs_vcx_template_set(&t, vs_j_root(&doc));
	vs_vcx_template_view(&t);
	vs_vcx_template_wipe(&t);
	vs_jdoc_free(&doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct vs_vc_events ev = { .vm = on_vm, .host = on_host,
		.gone = on_gone };
	static const char *const filters[VCX_NFILTERS] = { "f-vms", "f-ours",
		"f-hosts", "f-tasks" };
	const char *p = (const char *)data, *end = p + size;
	struct vs_inv *inv = vs_inv_new(&ev, NULL);

	for (int f = 0; f < VCX_NFILTERS; f++)
		inv->filter[f] = vs_strdup(filters[f]);
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((nl ? nl : end) - p);

		feed(inv, p, len);
		p += len + 1;
	}
	vs_inv_free(inv);
	return 0;
}

#define FUZZ_CORPUS "vc"
#include "fuzz_main.h"
