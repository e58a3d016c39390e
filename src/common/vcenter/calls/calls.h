/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be asked of vCenter, and changed in it, once the client is up. No
 * function here waits: an answer comes in a later vs_vc_iterate(), as an event
 * or as a callback. All functions are called in the client's thread. They take
 * no lock. Of their arguments they keep a copy of `op`, and no more.
 */
#ifndef VS_VCENTER_CALLS_CALLS_H
#define VS_VCENTER_CALLS_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include "util/err.h"
#include "vcenter/client/client.h"
#include "vcenter/spec/vm_spec.h"
#include "vcenter/transport/fault.h"

/* On which of these hosts would DRS put such a clone? It changes nothing and
 * reserves nothing. The question's id; -1 with err: the client is not up. */
struct vs_vc_where {
	const char *cluster, *source, *name, *pool, *datastore;
	const char *const *hosts; size_t nhosts;
};
int64_t vs_vc_where(struct vs_vc *vc, const struct vs_vc_where *w,
		    struct vs_err *err);

/* Which devices does this host of that cluster offer by their address, and what
 * are the parameters of its DVX classes? The
 * question's id; -1 with err: the client is not up, or wasn't made with
 * `devices`. */
int64_t vs_vc_target(struct vs_vc *vc, const char *cluster, const char *host,
		     struct vs_err *err);

/* ---- mutating calls ------------------------------------------------------
 * Each gives an id (never 0); the callback comes at most twice: `started` when
 * vCenter has accepted it (task's moId; not for calls without a task), then
 * `done`, exactly once. err NULL: success; result is the new VM's moId after a
 * clone, else "". VS_E_UNKNOWN: the reply was lost, look before acting again.
 * -1 with err if the client is not up (VS_E_RETRY), may only read (VS_E_STATE), or
 * lacks what the call needs (nothing was sent).
 */
int64_t vs_vc_vm_clone(struct vs_vc *vc, const struct vs_vc_clone *c,
		       const struct vs_vc_op *op, struct vs_err *err);
int64_t vs_vc_vm_instant(struct vs_vc *vc, const struct vs_vc_instant *c,
			 const struct vs_vc_op *op, struct vs_err *err);
int64_t vs_vc_vm_reconfigure(struct vs_vc *vc, const char *vm,
			     const char *change_version,
			     const struct vs_vc_hw *hw,
			     const struct vs_vc_op *op, struct vs_err *err);
/* store: its disks go there, NULL: they stay where they are. */
int64_t vs_vc_vm_relocate(struct vs_vc *vc, const char *vm, const char *host,
			  const char *pool, const char *store,
			  const struct vs_vc_op *op, struct vs_err *err);
int64_t vs_vc_vm_power_on(struct vs_vc *vc, const char *vm, const char *host,
			  const struct vs_vc_op *op, struct vs_err *err);
int64_t vs_vc_vm_power_off(struct vs_vc *vc, const char *vm,
			   const struct vs_vc_op *op, struct vs_err *err);
int64_t vs_vc_vm_shutdown_guest(struct vs_vc *vc, const char *vm,
				const struct vs_vc_op *op, struct vs_err *err);
/* Of its disks alone, as it is: result is the snapshot's moId. */
int64_t vs_vc_vm_snapshot(struct vs_vc *vc, const char *vm, const char *name,
			  const struct vs_vc_op *op, struct vs_err *err);
int64_t vs_vc_vm_destroy(struct vs_vc *vc, const char *vm,
			 const struct vs_vc_op *op, struct vs_err *err);
/* Follow a task that was there before us: `done` only. */
int64_t vs_vc_task_adopt(struct vs_vc *vc, const char *task,
			 const struct vs_vc_op *op, struct vs_err *err);
int vs_vc_task_cancel(struct vs_vc *vc, const char *task, struct vs_err *err);

#endif
