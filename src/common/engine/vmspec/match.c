/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is this VM what its node needs, and the job that has the node: its profile,
 * its devices, its place, the VM that it was cloned from?
 *
 * Rules: a template that isn't known judges nothing. The lock is held.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "engine/state/state.h"
#include "engine/vmspec/vmspec.h"

static bool tag_right(const struct vs_node *n, const struct vs_vm *vm,
		      uint32_t job, uint32_t restart)
{
	char want[48];

	if (n->profile->retention != VS_RETAIN_DESTROY)
		return true;
	/* A VM of power_up bears no job's name, and could not be told from a
	 * used one later: each job gets its own. */
	if (!vm->job_tag[0] || !job)
		return !job;
	snprintf(want, sizeof(want), "%u.%u", job, restart);
	return !strcmp(want, vm->job_tag);
}

enum vs_profile_fit vs_node_fit(const struct vs_core *c,
				const struct vs_node *n,
				const struct vs_vm *vm)
{
	const char *want = c->now[n->profile - c->profiles].hash;
	enum vs_profile_fit fit;

	if (n->orders.rebuild[0] && !strcmp(vm->moid, n->orders.rebuild))
		return VS_FIT_REBUILD;
	if (vs_clone_source_lost(c, vm))
		return VS_FIT_REBUILD;
	if (!want[0])
		return VS_FIT_RIGHT;	/* template unknown: judge nothing */
	fit = vs_profile_fit(vm->profile, want);
	return fit == VS_FIT_RIGHT && !vs_guest_info_is_current(n, vm) ?
		VS_FIT_RECONFIGURE : fit;
}

bool vs_node_vm_right(struct vs_core *c, const struct vs_node *n,
		      const struct vs_vm *vm, uint32_t job, uint32_t restart)
{
	vs_assert_locked();
	return vs_node_fit(c, n, vm) == VS_FIT_RIGHT &&
	       vs_node_nics_right(n, vm,
				  vs_ledger_get(&c->ledger, n->name)) &&
	       tag_right(n, vm, job, restart);
}

bool vs_node_pool_wrong(const struct vs_core *c, const struct vs_vm *vm)
{
	const char *want = vs_host_pool(c, vm->host_ptr);

	return vm->pool[0] && want && strcmp(vm->pool, want);
}

enum vs_observed vs_node_observed_off(const struct vs_core *c,
				      const struct vs_node *n,
				      const struct vs_vm *vm,
				      const struct vs_claim *h, uint32_t job,
				      uint32_t restart)
{
	enum vs_profile_fit fit = vs_node_fit(c, n, vm);

	vs_assert_locked();
	/* off, an instant clone is no more than a slow one */
	if (fit == VS_FIT_REBUILD || !tag_right(n, vm, job, restart) ||
	    n->profile->clone == VS_CLONE_INSTANT)
		return VS_OBSERVED_OFF_STALE;
	/* it may not leave with a device that has an address here */
	if (h && (strcmp(h->host, vm->host) || vs_node_pool_wrong(c, vm)))
		return !vs_move_may(n, vm) ? VS_OBSERVED_OFF_STALE :
			strcmp(h->host, vm->host) && vs_vm_bound(vm) ?
			VS_OBSERVED_OFF_OTHER : VS_OBSERVED_OFF_ELSEWHERE;
	if (fit == VS_FIT_RECONFIGURE || !vs_node_nics_right(n, vm, h) ||
	    !vs_hardware_right(c, n, vm, h))
		return VS_OBSERVED_OFF_OTHER;
	return VS_OBSERVED_OFF;
}

bool vs_clone_source_lost(const struct vs_core *c, const struct vs_vm *child)
{
	const struct vs_vm *vm;

	if (!child->clone.from[0] || !child->disks.bases || !c->loaded)
		return false;
	LIST_FOREACH(vm, &c->inv.parents, with_parents)
		if (!strcasecmp(vm->uuid, child->clone.from))
			return false;
	/* of one that can't be read it is unknown what it is */
	for (vm = c->inv.vms; vm; vm = vm->hh.next)
		if (!vm->readable && !strcmp(vm->folder, c->folder))
			return false;
	return true;
}
