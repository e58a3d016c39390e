/* SPDX-License-Identifier: GPL-2.0-or-later */
/* devices.c: the devices of hosts that adapters hand to VMs whole. The lock is
 * held. */
#ifndef VS_ENGINE_DEVICES_I_H
#define VS_ENGINE_DEVICES_I_H

#include "engine/core_i.h"

/* Does any adapter hand out devices? Else nothing is read of them. */
bool vs_devices_wanted(const struct vs_core *c);
/* All rows of the host's table, from what vCenter tells of it; and one of them
 * for which there is no room (an address, or a name). */
void vs_host_rows(const struct vs_core *c, struct vs_host *to,
		  const struct vs_vc_host *h);
void vs_row_left_out(struct vs_host *to, const char *what);
/* The host's devices that some adapter wants, as rows after its PFs. */
void vs_devices_rows(const struct vs_core *c, struct vs_host *to,
		     const struct vs_vc_host *h);

/* The rest of those rows: what the host has by name (DVX classes, profiles). */
void vs_named_rows(const struct vs_core *c, struct vs_host *to, int from,
		   const struct vs_vc_host *h);

/* Those that would be, were they active, into its facts. */
struct vs_host_facts;
void vs_devices_idle(const struct vs_core *c, const struct vs_host *h,
		     const struct vs_vc_host *from, struct vs_host_facts *f);

/* A node's devices in its VM: there are as many as its adapter, and the one
 * beside it, say, and they are those; h: while it is off, those held for it
 * (NULL: whichever). */
bool vs_node_devices_right(const struct vs_node *n, const struct vs_vm *vm,
			   const struct vs_hold *h);
/* The rows that they are counted on, in the order of the node's slots, into
 * to[*count], and behind those that are there. */
void vs_node_devices(const struct vs_node *n, const struct vs_vm *vm,
		     struct vs_hold_card to[VS_CARDS_MAX], int *count);
/* Has it a device by its address? Then it can be registered on no other host,
 * before that was taken out of it. */
bool vs_vm_bound(const struct vs_vm *vm);
/* Queue the call that takes those out, and changes nothing else: a device, a
 * PF, a NUMA node of another host would mean one of the host that the VM is on.
 * The call's id, or -1. */
struct vs_vc_op;
int64_t vs_vm_unbind(struct vs_core *c, const struct vs_vm *vm,
		     const struct vs_vc_op *op, struct vs_err *err);
/* The same for a spec: cards s[*count] on, by what is held. -1: not now, and
 * why; VS_OK: it is being asked for (offer_i.h). */
int vs_spec_devices(struct vs_core *c, const struct vs_node *n,
		    const struct vs_hold *h, int64_t now_ms,
		    struct vs_vc_card_spec *s, int *count, struct vs_err *err);
/* "10de:20b0,10de:any,none" for the guest, to be free()d; NULL: it has none. */
char *vs_node_device_ids(const struct vs_node *n);

#endif
