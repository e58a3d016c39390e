/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the fake vCenter's own files share. */
#ifndef FAKE_VC_I_H
#define FAKE_VC_I_H

#include "fake_vc.h"

#ifndef MAX_VMS		/* a benchmark has more */
#define MAX_VMS 64
#define MAX_CALLS 256
#endif

struct fake_call {
	bool waiting, accepted, late;
	enum fake_kind kind;
	uint64_t id;
	char task[32], vm[32], host[32];
	struct fake_vm clone;
	const struct vs_vc_op *op;
};

extern struct fake_call fake_calls[MAX_CALLS];
extern int fake_ncalls;
struct fake_call *fake_call_new(enum fake_kind kind, const char *vm,
				const char *host, const struct vs_vc_op *op);
struct fake_vm *fake_by_moid(const char *moid);
void fake_extra_apply(struct fake_vm *vm, const struct vs_vc_hw *hw);
extern int fake_serial;			/* of the last VM made */
struct fake_call *fake_oldest(enum fake_kind kind);	/* that waits */
void fake_effect(struct fake_call *c);			/* done and shown */

extern struct vs_vc_store fake_two[2];

/* fake_vc_clone_sources.c: what a clone of this source copies, and the spec says; what
 * is shown of it. */
void fake_source_apply(struct fake_vm *vm, const struct vs_vc_clone *cl);
void fake_marks_apply(struct fake_vm *vm, const struct vs_vc_kv *kv);
void fake_parents_show(const struct fake_vm *vm, struct vs_vc_vm *out);
extern struct fake_vm fake_vms[MAX_VMS];

/* fake_vc_trace.c */
void fake_trace_clone(const struct vs_vc_clone *cl);
void fake_trace_instant(const struct vs_vc_instant *in);
void fake_trace_reconfigure(const char *vm, const char *version,
			    const struct vs_vc_hw *hw);

/* fake_vc_nics.c */
void fake_nics_apply(struct fake_vm *vm, const struct vs_vc_hw *hw);
int fake_nics_show(const struct fake_vm *vm,
		    struct vs_nic out[FAKE_NICS + 1]);

#endif
