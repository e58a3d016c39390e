/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A foreign VM in a node's place: it has the node's name in the folder of this
 * cluster, and vCenter takes no second VM of that name there. No job gets the
 * node. The log (once), the pending reason of a job that waits for the node, svf
 * nodes and svf reconcile name the VM and the remedy. slurm-vsphere never
 * touches the VM.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/reconcile/reconcile.h"
#include "engine/state/state.h"
#include "util/mem.h"

static char *path_of(const struct vs_core *c, const struct vs_vm *vm)
{
	const struct vs_conf *conf = c->conf;

	return conf->datacenter ?
		vs_asprintf("/%s/vm/%s/%s", conf->datacenter, conf->folder,
			    vm->name) :
		vs_asprintf("%s/%s", conf->folder, vm->name);
}

/* Whose it is stands in its configuration, which may be out of reach. */
static bool whose_is_known(const struct vs_vm *vm)
{
	return vm->connected || (vm->owner_mark && vm->owner_mark[0]);
}

/* The caller frees the result. */
static char *words(const struct vs_core *c, const struct vs_vm *vm)
{
	static const char *const whose[] = {
		[VS_OWNER_MANAGED] = "",
		[VS_OWNER_CLONE_SOURCE] = "is a clone source",
		[VS_OWNER_FOREIGN] = "was not made by slurm-vsphere",
		[VS_OWNER_UNVERIFIED] = "has slurm-vsphere's ownership tag and was copied or moved",
		[VS_OWNER_OTHER_CLUSTER] = "belongs to another Slurm cluster",
	};
	VS_FREE char *path = path_of(c, vm);
	int format = vs_owner_tag_version(vm->owner_mark);

	if (format > VS_OWNER_TAG_FORMAT)
		return vs_asprintf("%s has the ownership tag of a newer slurm-vsphere (format %d): install that release again, or rename the VM",
				   path, format);
	if (!whose_is_known(vm))
		return vs_asprintf("vCenter cannot read %s, which may be the node's VM or a foreign VM: make its host and datastore accessible, rename it, or move it to another folder",
				   path);
	return vs_asprintf("a foreign VM has the node's name: %s %s; rename that VM, or move it to another folder",
			   path, whose[vs_vm_owner(vm, c->folder,
						   c->cluster_id)]);
}

/* While a call is under way nothing is judged: what was foreign stays so. */
static const struct vs_vm *foreign_vm(struct vs_core *c,
				      const struct vs_node *n)
{
	const struct vs_vm *vm = vs_node_vm(c, n);

	if (!vm || n->seen == VS_OBSERVED_FOREIGN)
		return vm;
	return n->foreign && vs_vm_owner(vm, c->folder, c->cluster_id) !=
		VS_OWNER_MANAGED ? vm : NULL;
}

void vs_foreign_observe(struct vs_core *c, struct vs_node *n)
{
	const struct vs_vm *vm = foreign_vm(c, n);
	char *now = vm ? words(c, vm) : NULL;

	if (now ? n->foreign && !strcmp(now, n->foreign) : !n->foreign) {
		free(now);
		return;
	}
	free(n->foreign);
	n->foreign = now;
	if (now)
		vs_error("node=%s gets no job: %s", n->name, now);
	else
		vs_info("node=%s: no foreign VM has its name any more",
			n->name);
	if (!now)
		vs_name_freed();
	vs_node_mark_changed(n);
}
