/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where vMotions go that are under way, over a restart: vCenter's task names
 * the VM and not its target, and what is placed there meanwhile takes its room.
 *
 * Rules: it is a hint: written before the call leaves (state_file.c saves at the
 * turn's end, the client sends in the next one), believed only while vCenter
 * shows a task on that very VM, elsewhere than there; without it the VM has no
 * hold on its target. What is promised twice, vCenter itself refuses to one of the
 * two if it is a passthrough device or reserved memory; else the host has more
 * VMs than it should. The lock is held.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/maintenance/maintenance.h"
#include "engine/maintenance/maintenance_i.h"
#include "engine/state/state.h"
#include "util/json.h"
#include "util/mem.h"

static void bound_add(const char *node, const char *vm,
		      const char *host)
{
	struct vs_bound *b = vs_calloc(1, sizeof(*b));

	vs_strlcpy(b->node, node, sizeof(b->node));
	vs_strlcpy(b->vm, vm, sizeof(b->vm));
	vs_strlcpy(b->host, host, sizeof(b->host));
	b->next = vs_vmotions.bound;
	vs_vmotions.bound = b;
}

void vs_vmotions_forget(void)
{
	struct vs_bound *b;

	vs_assert_locked();
	while ((b = vs_vmotions.bound)) {
		vs_vmotions.bound = b->next;
		free(b);
	}
}

static void row_add(struct json_object *arr, const char *node, const char *vm,
		    const char *host)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_str(o, "node", node);
	vs_jb_str(o, "vm", vm);
	vs_jb_str(o, "host", host);
	vs_jb_add(arr, o);
}

struct json_object *vs_vmotions_json(const struct vs_core *c)
{
	struct json_object *arr = vs_jb_arr();

	/* of all: when the client is gone, none has a call */
	for (size_t i = 0; i < c->nnodes; i++) {
		const struct vs_vmotion *m = &c->nodes[i].vmotion;

		if (m->state == VS_VMOTION_GOES)
			row_add(arr, c->nodes[i].name, m->vm, m->to);
	}
	/* not yet looked for */
	for (const struct vs_bound *b = vs_vmotions.bound; b; b = b->next)
		row_add(arr, b->node, b->vm, b->host);
	return arr;
}

void vs_vmotions_read(struct vs_core *c, struct vs_j list)
{
	/* a node has one; a file with more is damaged */
	for (size_t i = 0; i < vs_j_len(list) && i < c->nnodes; i++) {
		struct vs_j j = vs_j_at(list, i);
		const char *node = vs_j_str(vs_j_get(j, "node"));
		const char *vm = vs_j_str(vs_j_get(j, "vm"));
		const char *host = vs_j_str(vs_j_get(j, "host"));

		if (list.doc->err.code)
			return;
		bound_add(node, vm, host);
	}
}

void vs_vmotion_adopted(struct vs_core *c, struct vs_node *n,
			const struct vs_vm *vm)
{
	const struct vs_bound *b = vs_vmotions.bound;
	struct vs_place_node at;
	const struct vs_host *to;

	while (b && (strcmp(b->node, n->name) || strcmp(b->vm, vm->moid)))
		b = b->next;
	to = b ? vs_host_get(&c->inv, b->host) : NULL;
	if (!to || to == vm->host_ptr || vm->power != VS_POWER_ON ||
	    vs_vmotion_claimed(c, n) || vs_vmotion_at(c, n, to, &at) ||
	    !vs_vmotion_claim(c, n, &at))
		return;
	n->vmotion.state = VS_VMOTION_GOES;
	vs_strlcpy(n->vmotion.to, to->moid, sizeof(n->vmotion.to));
	vs_strlcpy(n->vmotion.vm, vm->moid, sizeof(n->vmotion.vm));
	vs_info("node=%s its VM has moved by vMotion since before this start host=%s",
		n->name, to->name);
}
