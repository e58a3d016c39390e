/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCenter's records in plan's shape. The lock is held. Nothing fails: a value that
 * vCenter has not sent stays as it was.
 */
#ifndef VS_ENGINE_INVENTORY_H
#define VS_ENGINE_INVENTORY_H

#include "engine/state/state.h"

/* from_vcenter.c: writes what vCenter sends of a host into its record, which is made if
 * there is none, and marks the nodes whose VMs are there as changed. Returns the host.
 * *fewer_vfs is set if it had more VFs before. The caller calls vs_host_changed()
 * when all modules have heard. */
struct vs_host *vs_host_update(struct vs_core *c, const struct vs_vc_host *h,
			       bool *fewer_vfs);
/* vCenter has the host (moId) no more. Does nothing if it is not known. */
void vs_host_remove(struct vs_core *c, const char *moid);
/* The same of a VM, and marks the node of its name. Returns the VM, for which the
 * caller calls vs_vm_changed(). Returns NULL if only its guest's state changed and
 * nothing depends on that now. */
struct vs_vm *vs_vm_update(struct vs_core *c, const struct vs_vc_vm *v);
void vs_vm_remove(struct vs_core *c, const char *moid);

/* periodic.c: notes which hosts enter maintenance or standby, by the tasks under way. */
void vs_hosts_leaving_update(struct vs_core *c, const struct vs_vc_slow *s);
/* Notes what is free in the resource pools and on the datastores. */
void vs_capacity_update(struct vs_core *c, const struct vs_vc_slow *s);

/* host_devices.c: the devices of hosts that adapters hand to VMs whole. */
/* Does any adapter hand out devices? Else nothing is read of them. */
bool vs_device_entries_needed(const struct vs_core *c);
/* All rows of the host's table, from what vCenter tells of it; and one of them
 * for which there is no room (an address, or a name). */
void vs_host_entries_add(const struct vs_core *c, struct vs_host *to,
			 const struct vs_vc_host *h);
void vs_entry_left_out(struct vs_host *to, const char *what);
/* The host's devices that some adapter wants, as rows after its PFs. */
void vs_device_entries_add(const struct vs_core *c, struct vs_host *to,
			   const struct vs_vc_host *h);

/* The rest of those rows: what the host has by name (DVX classes, profiles). */
void vs_named_entries_add(const struct vs_core *c, struct vs_host *to, int from,
			  const struct vs_vc_host *h);

/* Those that would be, were they active, into its facts. */
struct vs_host_facts;
void vs_devices_idle(const struct vs_core *c, const struct vs_host *h,
		     const struct vs_vc_host *from, struct vs_host_facts *f);

/* host_facts.c: how a host is set up, as told; lock held */
void vs_facts_set(struct vs_core *c, struct vs_host *to,
		  const struct vs_vc_host *h);
/* Returns what fixes a template that can't be cloned, to be free()d. user may
 * be NULL. */
char *vs_template_fix(const char *name, enum vs_vc_template_fault lack,
		      const char *user);

/* ---- datastores.c ------------------------------------------------------ */

/* The names of all that are used, "a,b": the top's, then the clusters' own. free() it. */
char *vs_stores_named(const struct vs_conf *conf);
/* They are found: who may use which. */
void vs_stores_found(struct vs_core *c, const struct vs_vc_found *f);
/* What is free on each. True: on one it has grown. */
bool vs_datastores_received(struct vs_core *c, const struct vs_vc_slow *s);
/* Is it one of them? */
bool vs_stores_asked(const struct vs_core *c, const char *moid);
/* Of several, the one that a VM lies on (moId); NULL: not told. */
const char *vs_vm_datastore(const struct vs_core *c, const struct vs_vm *vm);
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
bool vs_stores_right(const struct vs_core *c, const struct vs_claim *h);
/* The VM is on: the hold's is where its files are. */
void vs_datastores_claimed(struct vs_core *c, struct vs_claim *h,
			   const struct vs_vm *vm);
/* Of the preflight: hosts that see none of those that they may use. */
void vs_stores_check(struct vs_core *c);

/* ---- device_ids.c: what hosts offer by its address --------------------- */

/* The systemId that a spec must say of this device of the host, good until the
 * next update of it. NULL with err VS_OK: vCenter is being asked, and the nodes
 * that have a hold there are looked at when it has said so; else why not. */
const char *vs_device_ids_system(struct vs_core *c, struct vs_host *h,
				 const char *pci, int64_t now_ms,
				 struct vs_err *err);
/*
 * What the parameters of its DVX classes must be, good as long. Returns 0, with
 * *n 0 where the host doesn't say it. Returns -1 as above: err VS_OK while vCenter
 * is being asked, else it is to be asked again (VS_E_RETRY).
 */
int vs_device_ids_options(struct vs_core *c, struct vs_host *h, int64_t now_ms,
			  const struct vs_vc_option **to, size_t *n,
			  struct vs_err *err);
/* The id may have changed: it has to be asked for again. */
void vs_device_ids_forget(struct vs_host *h);
/* The client is down: no answer comes. */
void vs_offers_down(struct vs_core *c);
/* vCenter's answer; err is NULL on success. */
void vs_device_ids_answered(struct vs_core *c, uint64_t id,
			    const struct vs_vc_targets *t,
			    const struct vs_err *err);

#endif
