/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The conditions for all work, checked whenever vCenter has shown a change, so
 * that a finding ends by itself once its cause is fixed:
 *
 * another cluster's VMs in our folder	nothing at all is touched
 * rights missing on Folder, pool, store	no new job
 * ... on a Template, a Network		no new job that needs it
 * DRS or HA automated for VMs with VFs	no new job on such VMs
 * DPM automated where VFs are		told
 * a network that no PF with VFs reaches	no new job of that adapter
 * a template that no VM can be made from	no new job of that template (site_checks.c)
 * a template whose host isn't there	no new clone of it (template_host.c)
 * a datastore that isn't accessible	no new job (site_checks.c)
 * more nodes than VFs by configuration	no new job of those adapters
 * a host that sees no datastore of its own	told, it gets no VM
 * more nodes than VFs by lost VFs	told (doc/dev/decisions.md)
 * MaxClonesPerHour= reached		no new job that needs a new VM
 * rights in excess, or not to be known	told to operators
 * VFs that SuspendExc* keeps in use	told to operators
 * another Slurm cluster on our PFs	told to operators (other_cluster.c)
 * VMs whose users may write guestinfo	told to operators (guest_info.c)
 * another VM with a node's MAC		told to operators (mac_shared.c)
 *
 * Rules: what stops new jobs never stops a VM's end, or a job that has begun.
 * Each finding is logged when it comes and when it goes, not in between.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/checks/checks_i.h"
#include "engine/inventory/inventory.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"
#include "util/name.h"

static void other_cluster(struct vs_core *c)
{
	c->blocked[0] = '\0';
	if (!vs_free_capacity_get(c)->strangers)
		return;
	for (struct vs_vm *vm = c->inv.vms; vm; vm = vm->hh.next)
		if (!strcmp(vm->folder, c->folder) &&
		    vs_vm_owner(vm, c->folder, c->cluster_id) ==
		    VS_OWNER_OTHER_CLUSTER) {
			snprintf(c->blocked, sizeof(c->blocked),
				 "the folder holds VM %s of another cluster (id %s): give each cluster a folder of its own (or svf adopt, if this cluster's id was lost)",
				 vm->name, vm->mark.cluster);
			vs_finding_add(
				VS_STOPS_ALL,
				&(struct vs_says) {
					VS_CHECK_FOLDER, c->conf->folder,
					vm->name,
					"a folder of its own for each cluster",
					"svf adopt\t# if this cluster's id was lost" },
				"%s", c->blocked);
			return;
		}
}

/* While idle they have their VFs, and no other VM gets them. */
static void stays_check(struct vs_core *c)
{
	size_t nodes = 0, vfs = 0;

	for (size_t i = 0; i < c->nnodes; i++) {
		const struct vs_node *n = &c->nodes[i];

		if (!(n->flags & VS_NODE_STAYS_EVER))
			continue;
		nodes++;
		vfs += (size_t)vs_adapter_takes(n->profile->adapter);
	}
	if (vfs)
		vs_finding_add(
			VS_STOPS_NOTHING,
			&(struct vs_says) {
				VS_CHECK_SLURM_EXCLUDED, "slurm.conf",
				"SuspendExc* keeps managed nodes on",
				"SuspendExcNodes, SuspendExcParts and SuspendExcStates without them",
				"slurm.conf: SuspendExcNodes=" },
			"SuspendExcNodes, SuspendExcParts or SuspendExcStates keep %zu node%s on: once up, their VMs keep %zu VF%s that are never reclaimed for pending jobs",
			nodes, vs_plural(nodes), vfs, vs_plural(vfs));
}

/* ---- what is new ------------------------------------------------------------ */

static bool among(const struct vs_finding *f, const struct vs_finding *list,
		  size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].stops == f->stops && !strcmp(list[i].text, f->text))
			return true;
	return false;
}

static void told(const struct vs_finding *f)
{
	if (f->stops == VS_STOPS_ALL)
		vs_error("no job gets a VM: %s", f->text);
	else if (f->stops == VS_STOPS_JOBS)
		vs_error("jobs stay pending: %s", f->text);
	else if (f->stops == VS_STOPS_PLANS)
		vs_error("%s", f->text);
	else
		vs_info("warning: %s", f->text);
}

static void compare(struct vs_core *c, struct vs_finding *old, size_t n)
{
	bool changed = false;
	size_t nnow;
	const struct vs_finding *now = vs_findings(&nnow);

	for (size_t i = 0; i < nnow; i++)
		if (!among(&now[i], old, n)) {
			told(&now[i]);
			changed = true;
		}
	for (size_t i = 0; i < n; i++)
		if (!among(&old[i], now, nnow)) {
			vs_info("resolved: %s", old[i].text);
			changed = true;
		}
	vs_findings_free(old, n);
	if (!changed)
		return;
	vs_nodes_mark_changed(c);
	vs_capacity_freed();
}

void vs_preflight(struct vs_core *c)
{
	struct vs_finding *old;
	size_t nold;

	vs_assert_locked();
	if (c->ready && !vs_findings_outdated() && vs_checks.judged_epoch == c->epoch &&
	    vs_checks.checked == c->inv.hosts_itself &&
	    !vs_free_capacity_get(c)->strangers == !c->blocked[0] &&
	    !vs_other_cluster_is_stale(c))
		return;
	vs_checks.checked = c->inv.hosts_itself;
	old = vs_findings_begin(&nold);
	c->unserved[0] = '\0';
	for (size_t p = 0; p < c->nprofiles; p++)
		c->now[p].barred[0] = c->now[p].barred_new[0] = '\0';
	other_cluster(c);
	vs_rights_check(c);
	vs_networks_check(c);
	vs_guards_check(c);
	vs_stores_check(c);
	vs_clones_check(c);
	stays_check(c);
	vs_other_cluster_check(c);
	vs_guest_info_check(c);
	vs_macs_check(c);
	vs_checks_block(c);
	compare(c, old, nold);
}
