/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must be so before anything is done: no other cluster in our folder
 * (else nothing is touched at all), and rule A when a configuration comes into
 * force (else no job gets a VM; those that are there end as usual). Later the
 * inventory is followed: VFs that went with a host are told, and stop nobody.
 */
#include <stdio.h>
#include <string.h>
#include "engine/core_i.h"

static void other_cluster(struct vs_core *c)
{
	c->blocked[0] = '\0';
	if (!vs_sums_now(c)->strangers)
		return;
	for (struct vs_vm *vm = c->inv.vms; vm; vm = vm->hh.next)
		if (!strcmp(vm->folder, c->folder) &&
		    vs_vm_owner(vm, c->folder, c->cluster_id) ==
		    VS_OWNER_OTHER_CLUSTER) {
			snprintf(c->blocked, sizeof(c->blocked),
				 "the folder holds VM %s of another cluster (id %s): give each cluster a folder of its own (or svf adopt, if this cluster's id was lost)",
				 vm->name, vm->mark.cluster);
			return;
		}
}

static void rule_a(struct vs_core *c)
{
	char why[sizeof(c->unserved)] = "";

	if (c->conf->oversubscribe_names || !vs_rule_a(c, why, sizeof(why)))
		why[0] = '\0';
	if (c->judged_epoch != c->epoch) {
		c->judged_epoch = c->epoch;
		memcpy(c->unserved, why, sizeof(why));
	} else if (!why[0]) {
		c->unserved[0] = '\0';
	}
	if (why[0] && strcmp(why, c->overcommit))
		vs_error("%s%s", c->unserved[0] ? "no job is served: " :
			 "VFs have gone: ", why);
	memcpy(c->overcommit, why, sizeof(why));
}

void vs_preflight(struct vs_core *c)
{
	char was[sizeof(c->blocked)];

	memcpy(was, c->blocked, sizeof(was));
	other_cluster(c);
	if (!c->ready || c->judged_epoch != c->epoch ||
	    c->checked != c->inv.hosts_itself) {
		c->checked = c->inv.hosts_itself;
		rule_a(c);
	}
	if (c->blocked[0] && strcmp(was, c->blocked))
		vs_error("nothing is served: %s", c->blocked);
}
