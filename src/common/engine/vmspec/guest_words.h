/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a node's guest reads at boot, as slurm-vsphere sets it, and as it is. */
#ifndef VS_ENGINE_GUEST_WORDS_H
#define VS_ENGINE_GUEST_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include "vcenter/calls/calls.h"

struct vs_core;
struct vs_node;
struct vs_vm;

/* By enum vs_vc_guest_key; NULL: the key is taken away. */
struct vs_guest_words { char *of[VS_VC_NGUEST]; };

/* What this node's VM must have. The caller frees it. Holds the core's lock. */
void vs_guest_words_make(const struct vs_core *c, const struct vs_node *n,
			 struct vs_guest_words *w);
void vs_guest_words_free(struct vs_guest_words *w);

/* A hash of VS_VC_NGUEST values, never 0. "" is as NULL, and so is "no" of
 * VS_VC_G_PARENT, which instant clones have. */
uint64_t vs_guest_words_hash(const char *const *of);

/* What vCenter shows of a VM, VS_VC_NGUEST values. The caller holds the core's
 * lock. */
void vs_guest_words_seen(struct vs_vm *vm,
			 const char *const *of);

/* The finding of VMs without VS_VC_G_ROOT_WRITES, for vs_preflight(). */
void vs_guest_words_check(struct vs_core *c);

/* All nodes' expected hashes, after their addresses were chosen. */
void vs_guest_words_expect(struct vs_core *c);

/* Are the VM's values those that were set? True also where it is unknown. */
bool vs_guest_words_right(const struct vs_node *n, const struct vs_vm *vm);

/*
 * The values that a node's VM shows after a call that sets them are learned in
 * three steps. asked: the call was sent; vm is as it was before, NULL for a
 * clone. done: the call ended, ok if it succeeded. learn: takes what vm shows for
 * right if the call succeeded, vm has another changeVersion since, and no user of
 * its guest can have written. The caller holds the core's lock.
 */
void vs_guest_words_asked(struct vs_node *n, const struct vs_vm *vm);
void vs_guest_words_done(struct vs_node *n, bool ok);
void vs_guest_words_learn(struct vs_node *n, const struct vs_vm *vm);

#endif
