/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A VM that is not ours stands in a node's place: it has the node's name in our
 * folder, and vCenter takes no second one of it there. No job gets the node, and
 * everybody who asks is told which VM it is and what to do: the log once, the
 * job that waits, svf nodes, svf reconcile. It is never touched.
 */
#include <stdlib.h>
#include "engine/core_i.h"
#include "util/mem.h"

static char *path_of(const struct vs_core *c, const struct vs_vm *vm)
{
	const struct vs_conf *conf = c->conf;

	return conf->datacenter ?
		vs_asprintf("/%s/vm/%s/%s", conf->datacenter, conf->folder,
			    vm->name) :
		vs_asprintf("%s/%s", conf->folder, vm->name);
}

static char *words(const struct vs_core *c, const struct vs_vm *vm)
{
	static const char *const whose[] = {
		[VS_OWNER_OURS] = "", [VS_OWNER_PARENT] = "is a parent of clones",
		[VS_OWNER_FOREIGN] = "was not made by slurm-vsphere",
		[VS_OWNER_SUSPECT] = "has our mark and was copied or moved",
		[VS_OWNER_OTHER_CLUSTER] = "is another Slurm cluster's",
	};
	VS_FREE char *path = path_of(c, vm);

	return vs_asprintf("a foreign VM stands in its place: %s %s; rename it, or move it to another folder",
			   path, whose[vs_vm_owner(vm, c->folder,
						   c->cluster_id)]);
}

void vs_foreign_look(struct vs_core *c, struct vs_node *n)
{
	const struct vs_vm *vm = n->seen == VS_SEEN_ALIEN ? vs_node_vm(c, n) :
		NULL;

	if (!vm == !n->foreign)
		return;
	free(n->foreign);
	n->foreign = vm ? words(c, vm) : NULL;
	if (vm)
		vs_error("node=%s gets no job: %s", n->name, n->foreign);
	else
		vs_info("node=%s: the foreign VM in its place is gone",
			n->name);
	c->name_freed |= !vm;
	vs_node_touch(n);
}
