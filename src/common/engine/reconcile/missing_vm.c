/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VMs that vCenter doesn't show though they were on when it was last heard, or
 * though their slurmd answers Slurm: a vCenter restored from a backup has
 * forgotten those that were made since, which run all the same; an administrator has
 * renamed or moved one. Unknown is not gone: such a node gets no new VM, for two
 * with one name, one address and one job are worse than a lost node; what it
 * held stays held, and no job begins on it.
 *
 * Rules: only what was seen to go off, or to leave while vCenter told us all
 * there was to tell, is gone; and what Slurm had powered down in the ten minutes
 * before slurmctld began, whose file may be older than that. It ends when the VM
 * is back in the folder under its node's name, when it is seen off, when Slurm has
 * given the node up (where we know of it by Slurm alone: when its slurmd is
 * silent), or by svf vm forget.
 *
 * It never sends anything.
 */
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/reconcile/reconcile.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"

#define SILENT_MS 5000

/* Jobs may wait for it, and only this tells the scheduler. */
static void end(struct vs_node *n, const char *why)
{
	if (n->absent.how) {
		vs_info("node=%s no longer waits for its missing VM: %s", n->name, why);
		vs_capacity_freed();
		vs_name_freed();
	}
	n->absent.how = VS_MISSING_NOT;
	n->absent.vm[0] = '\0';
	vs_node_condition(n, VS_COND_VM_LOST, false);
}

static void begin(struct vs_node *n, enum vs_missing how)
{
	if (!n->absent.how)
		vs_error("node=%s %s, but vCenter does not show its VM (restored from a backup? renamed or moved?): the node is left alone until the VM is back in the folder under that name, or an operator runs svf vm forget %s",
			 n->name, how == VS_MISSING_SLURM ?
			 "answers Slurm" : "was on", n->name);
	n->absent.how = how;
	n->absent.silent_ms = 0;
}

/* The VM that was on is not in the folder under the node's name. */
static void look_elsewhere(struct vs_core *c, struct vs_node *n)
{
	const struct vs_vm *vm = vs_vm_get(&c->inv, n->absent.vm);

	if (!c->ready) {		/* ids of before may mean others now */
		n->absent.vm[0] = '\0';
		begin(n, VS_MISSING_OBSERVED);
	} else if (vm ? vm->power != VS_POWER_OFF : vs_node_is(n, VS_COND_VM_LOST)) {
		begin(n, VS_MISSING_OBSERVED);
	} else {
		end(n, vm ? "its VM is off" : "its VM is gone");
		vs_node_condition(n, VS_COND_KNOWN_OFF, true);
	}
}

/* It runs where we know nothing of its name: among those that vCenter found on
 * a host and put elsewhere. What it takes is counted there. */
static void find(struct vs_core *c, struct vs_node *n)
{
	for (struct vs_vm *vm = c->inv.vms; vm; vm = vm->hh.next)
		for (int i = 0; i < vm->nnics; i++)
			if (vm->power == VS_POWER_ON &&
			    vs_node_nic(n, &vm->nics[i]) >= 0) {
				vs_strlcpy(n->absent.vm, vm->moid,
					   sizeof(n->absent.vm));
				vs_claim_release(c, n);
				return;
			}
}

/* What Slurm says of a node that is missed. */
static void look_at_slurm(struct vs_node *n,
			  int64_t now_ms)
{
	const uint32_t power = VS_NODE_POWERED_DOWN | VS_NODE_POWERING_UP |
		VS_NODE_POWERING_DOWN;

	if (n->flags & power)
		return;			/* Slurm accepts no registration
					 * there */
	if (n->flags & VS_NODE_DOWN) {
		end(n, "Slurm has set the node DOWN");
		return;
	}
	if (!(n->flags & VS_NODE_NO_RESPOND))
		n->absent.silent_ms = 0;
	else if (!n->absent.silent_ms)
		n->absent.silent_ms = now_ms;
	else if (n->absent.how == VS_MISSING_SLURM &&
		 now_ms - n->absent.silent_ms >= SILENT_MS)
		end(n, "its slurmd does not answer either");
}

void vs_missing_observe(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	const struct vs_vm *vm;

	if (!c->loaded || !c->found)
		return;
	vm = vs_node_vm(c, n);
	if (vm) {
		if (n->absent.how)
			end(n, "vCenter shows its VM");
		vs_node_condition(n, VS_COND_VM_LOST, !vm->connected);
		if (vm->connected && vm->power == VS_POWER_OFF) {
			n->absent.vm[0] = '\0';
			vs_node_condition(n, VS_COND_KNOWN_OFF, true);
		} else if (vm->power == VS_POWER_ON &&
			   !vs_node_is(n, VS_COND_DECLARED_LOST) &&
			   vs_vm_owner(vm, c->folder, c->cluster_id) ==
			   VS_OWNER_MANAGED) {
			vs_strlcpy(n->absent.vm, vm->moid, sizeof(n->absent.vm));
			vs_node_condition(n, VS_COND_KNOWN_OFF, false);
		}
		return;
	}
	if (n->absent.vm[0])
		look_elsewhere(c, n);
	else if (!n->absent.how && !c->ready && !vs_node_is(n, VS_COND_KNOWN_OFF) &&
		 (n->flags & VS_NODE_UP) &&	/* which may be old */
		 !vs_removal_was_requested(n->name, NULL))
		begin(n, VS_MISSING_SLURM);
	if (n->absent.how && !n->absent.vm[0])
		find(c, n);
	if (n->absent.how)
		look_at_slurm(n, now_ms);
}

/* svf vm forget: the operator knows that there is none. */
bool vs_missing_forget(struct vs_node *n)
{
	bool was = n->absent.how;

	vs_assert_locked();
	end(n, "an operator declared its VM lost");
	return was;
}

void vs_missing_declare_lost(struct vs_node *n)
{
	vs_node_condition(n, VS_COND_DECLARED_LOST, true);
}

void vs_missing_within_reach(struct vs_node *n)
{
	vs_node_condition(n, VS_COND_DECLARED_LOST, false);
}
