/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Datastores, one or several: a part of core_i.h. The lock is held. */
#ifndef VS_ENGINE_DATASTORES_H
#define VS_ENGINE_DATASTORES_H

#include "vcenter/calls/calls.h"

struct vs_conf;
struct vs_core;
struct vs_hold;
struct vs_host;
struct vs_node;
struct vs_vm;

/* The names of all that are used, "a,b": the top's, then the clusters' own. free() it. */
char *vs_stores_named(const struct vs_conf *conf);
/* They are found: who may use which. */
void vs_stores_found(struct vs_core *c, const struct vs_vc_found *f);
/* What is free on each. True: on one it has grown. */
bool vs_stores_told(struct vs_core *c, const struct vs_vc_slow *s);
/* Is it one of them? */
bool vs_stores_asked(const struct vs_core *c, const char *moid);
/* Of several, the one that a VM lies on (moId); NULL: not told. */
const char *vs_stores_of(const struct vs_core *c, const struct vs_vm *vm);
/* The node's hold ends (or begins: 0), and with it what counts its VM's disks
 * while no reading has seen the VM. */
void vs_stores_disks(struct vs_core *c, const struct vs_node *n,
		     int64_t made_mb);
/* vCenter has found no room there: it counts as full until then. False: it is
 * none of several. */
bool vs_stores_full(struct vs_core *c, const char *moid, int64_t until_ms);
/* An operator has made room: what the next reading says counts. */
void vs_stores_try_again(struct vs_core *c);
/* May a VM be made as the hold says? Of several its host must see the one that
 * is named there: without one the disks go to the template's. */
bool vs_stores_right(const struct vs_core *c, const struct vs_hold *h);
/* The VM is on: the hold's is where its files are. */
void vs_stores_seen(struct vs_core *c, struct vs_hold *h,
		    const struct vs_vm *vm);
/* Of the preflight: hosts that see none of those that they may use. */
void vs_stores_check(struct vs_core *c);

#endif
