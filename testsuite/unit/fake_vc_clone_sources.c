/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See fake_vc.h: parents and their children. A clone copies what its source says
 * of itself, as vCenter does; one of a snapshot stands on its source's disks.
 */
#include <stdio.h>
#include <string.h>
#include "fake_vc_i.h"
#include "util/mem.h"

static void dir_of(const struct fake_vm *vm, char out[64])
{
	snprintf(out, 64, "[%s] %s/", strcmp(vm->store, "other") ? "s" : "o",
		 vm->moid);
}

void fake_source_apply(struct fake_vm *vm, const struct vs_vc_clone *cl)
{
	for (int i = 0; i < MAX_VMS; i++) {
		const struct fake_vm *from = &fake_vms[i];

		if (!from->used || strcmp(from->moid, cl->source))
			continue;
		vs_strlcpy(vm->parent, from->parent, sizeof(vm->parent));
		vs_strlcpy(vm->from, from->from, sizeof(vm->from));
		if (cl->snapshot && !strcmp(cl->snapshot, from->snapshot))
			dir_of(from, vm->base);
	}
}

void fake_marks_apply(struct fake_vm *vm, const struct vs_vc_kv *kv)
{
	if (!strcmp(kv->key, VS_KEY_CLONE_SOURCE))
		vs_strlcpy(vm->parent, kv->value, sizeof(vm->parent));
	else if (!strcmp(kv->key, VS_KEY_FROM))
		vs_strlcpy(vm->from, kv->value, sizeof(vm->from));
}

void fake_parents_show(const struct fake_vm *vm, struct vs_vc_vm *out)
{
	static char dir[64], bases[80];

	out->parent = vm->parent[0] ? vm->parent : NULL;
	out->from = vm->from[0] ? vm->from : NULL;
	out->snapshot = vm->snapshot;
	out->bases = "";
	if (vm->parent[0]) {
		dir_of(vm, dir);
		out->disk_dir = dir;
	}
	if (vm->base[0]) {
		snprintf(bases, sizeof(bases), "%s\n", vm->base);
		out->bases = bases;
	}
}

struct fake_vm *fake_parent(const char *part)
{
	for (int i = 0; i < MAX_VMS; i++)
		if (fake_vms[i].used && fake_vms[i].parent[0] &&
		    strstr(fake_vms[i].name, part))
			return &fake_vms[i];
	return NULL;
}

int fake_parents(void)
{
	int n = 0;

	for (int i = 0; i < MAX_VMS; i++)
		n += fake_vms[i].used && fake_vms[i].parent[0];
	return n;
}

int64_t vs_vc_vm_snapshot(struct vs_vc *vc, const char *vm, const char *name,
			  const struct vs_vc_op *op, struct vs_err *err)
{
	(void)vc;
	(void)err;
	fake_trace_line("snapshot vm=%s name=%s", vm, name);
	return (int64_t)fake_call_new(FAKE_SNAPSHOT, vm, NULL, op)->id;
}

/* On the source's host, with an instance uuid of vCenter's own. */
int64_t vs_vc_vm_instant(struct vs_vc *vc, const struct vs_vc_instant *in,
			 const struct vs_vc_op *op, struct vs_err *err)
{
	const struct fake_vm *from = fake_by_moid(in->source);
	const struct vs_vc_hw hw = {
		.nics = in->nics, .nnics = in->nnics,
		.memory_mb = from->memory_mb,
		.extra = in->extra, .nextra = in->nextra,
	};
	struct fake_call *c = fake_call_new(FAKE_INSTANT, NULL, from->host, op);

	(void)vc;
	(void)err;
	fake_trace_instant(in);
	c->clone = *from;
	c->clone.frozen = false;
	vs_strlcpy(c->clone.source, in->source, sizeof(c->clone.source));
	snprintf(c->clone.moid, sizeof(c->clone.moid), "vm-%d", ++fake_serial);
	vs_strlcpy(c->clone.name, in->name, sizeof(c->clone.name));
	vs_strlcpy(c->clone.folder, in->folder, sizeof(c->clone.folder));
	vs_strlcpy(c->clone.bios, in->bios_uuid, sizeof(c->clone.bios));
	vs_uuid_random(c->clone.uuid);
	snprintf(c->clone.base, sizeof(c->clone.base), "[s] %s/", from->moid);
	fake_nics_apply(&c->clone, &hw);
	fake_extra_apply(&c->clone, &hw);
	return (int64_t)c->id;
}
