/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one check before calls that a type of adapter may forbid: vMotion,
 * hot-add, snapshot, DRS's placement. It asks the capability table
 * (plan/devices/adapter_type) of what the VM is made of and by the releases
 * that vCenter and the hosts tell, so that what would fail there, or leave the
 * VM half done, is refused here with the reason.
 *
 * Rules: code that sends such a call passes here first (requests.c,
 * drs_advice.c, evacuate.c); an unknown release counts as the oldest. Never
 * asks which type it is.
 */
#include "engine/state/state.h"
#include "engine/vmspec/vmspec.h"
#include "plan/inventory/capability.h"

static int release_of(const struct vs_host *h)
{
	return h && h->facts ? vs_release_parse(h->facts->setup.version) : 0;
}

int vs_capability_check(const struct vs_core *c, const struct vs_node *n,
			const struct vs_vm *vm, enum vs_operation deed,
			const struct vs_host *to, struct vs_err *err)
{
	int release = vs_release_older(c->release,
				       c->release);

	/* placing and restarting are vCenter's own operations */
	if (deed != VS_OPERATION_DRS_PLACE && deed != VS_OPERATION_HA) {
		if (vm && vm->host_ptr)
			release = vs_release_older(release,
						   release_of(vm->host_ptr));
		if (to)
			release = vs_release_older(release, release_of(to));
	}
	return vs_operation_allowed(n->profile->adapter, vm, to, deed,
				    release, err);
}
