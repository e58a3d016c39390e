/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * May this be done to such a VM? The capability table's answer, asked of all
 * that the VM has, so that what is forbidden is refused before vCenter hears of
 * it. Owns nothing; no function takes a lock: the caller keeps the inventory from
 * changing during the call.
 */
#ifndef VS_PLAN_CAPABILITY_H
#define VS_PLAN_CAPABILITY_H

#include "plan/devices/adapter_type.h"
#include "plan/inventory/inventory.h"
#include "util/err.h"

/* "8.0.3.0", "8.0.3" to VS_RELEASE(8, 0, 3); 0: that is no release. */
int vs_release_parse(const char *words);

/* The older of the two, one that isn't known (0) being the oldest that
 * slurm-vsphere works with: unknown is no yes. */
int vs_release_older(int a, int b);

/*
 * 0: it may, by the adapter (NULL: none), by what stands beside it (ExtraDevice=), and
 * by the NICs that vCenter shows in the VM (NULL: it isn't there yet). Else -1,
 * VS_E_REQUEST, and a text such as "vmotion: type sriov allows it in no
 * release". Where the driver of a host has a say it is the VM's host's, and
 * that of the one that it is to go to (NULL: none). release 0: the oldest.
 */
int vs_operation_allowed(const struct vs_adapter *a, const struct vs_vm *vm,
			 const struct vs_host *to, enum vs_operation deed,
			 int release, struct vs_err *err);

#endif
