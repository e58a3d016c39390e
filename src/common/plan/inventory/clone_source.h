/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clone sources: managed VMs that are no node's, of which nodes' VMs are cloned
 * (Clone=linked, Clone=instant). Those of linked clones are one for each
 * version of a template on each datastore, or (Clone=linked_per_host) on each
 * host: a full clone that stays off, without a passthrough NIC, with one
 * snapshot. Those of instant clones are one for each profile on each host: on,
 * as large as their clones, with NICs like theirs, and frozen by their guest.
 * A parent bears the owner's mark, with its own name for the node's, and says
 * of what it is a parent in a key beside it. A child says in a key of its own
 * which parent's uuid it was made of.
 *
 * Owns nothing but the strings that it returns, where the prototype says so. A VM
 * that is returned is the inventory's. No function takes a lock: the caller keeps
 * the inventory from changing during the call.
 */
#ifndef VS_PLAN_CLONE_SOURCE_H
#define VS_PLAN_CLONE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include "plan/devices/adapter_type.h"

struct vs_inventory;
struct vs_vm;

/* How a node's VM is made: Clone= of its partition. */
enum vs_clone_type { VS_CLONE_FULL, VS_CLONE_LINKED,
		     VS_CLONE_INSTANT, VS_CLONE_KINDS };
const char *vs_clone_name(enum vs_clone_type k);	/* "full", "linked" */
/* Of vsphere.conf's word, NULL: full; -1: it is none. */
int vs_clone_parse(const char *word, enum vs_clone_type *out);
/* Does the word ask for a clone source on each host? */
bool vs_clone_per_host(const char *word);

#define VS_KEY_CLONE_SOURCE "slurm.vsphere.parent"	/* "linked/3f0a11c2" */
#define VS_KEY_FROM "slurm.vsphere.from"	/* a child's: its parent's uuid */
#define VS_CLONE_SOURCE_SNAPSHOT "slurm-vsphere" /* the snapshot's name */

#define VS_CLONE_SOURCE_OF_LEN 24
struct vs_clone_source_tag {
	enum vs_clone_type kind;	/* VS_CLONE_KINDS: it isn't understood */
	/* of which version of a template: the first half of the profile's hash;
	 * of instant clones, whose size is their parent's, all of it */
	char of[VS_CLONE_SOURCE_OF_LEN];
};
/* "": no parent. A mark that can't be read is a parent's too, but no node's VM
 * is cloned of it. */
bool vs_clone_source_tag_parse(const char *s, struct vs_clone_source_tag *out);
char *vs_clone_source_tag_format(const struct vs_clone_source_tag *m); /* free() it */
/* What a profile of this hash asks for; -1: the hash isn't known ("") or its
 * VMs have no parent. */
int vs_clone_source_tag_fill(enum vs_clone_type kind, const char *hash,
			     struct vs_clone_source_tag *out);

/* Who is asked for: of what, on which datastore (moId), on which host (moId,
 * "": any). */
struct vs_clone_source_key {
	struct vs_clone_source_tag mark;
	char store[VS_MOID_LEN], host[VS_MOID_LEN];
};
bool vs_clone_source_is(const struct vs_inventory *inv, const struct vs_vm *vm,
			const struct vs_clone_source_key *key);
/* The one to be cloned from, of those that vs_vm_owner() calls parents: one that
 * can be used before one that can't, one with its snapshot before one without,
 * then by name. NULL: there is none. */
struct vs_vm *vs_clone_source_choose(const struct vs_inventory *inv,
				     const struct vs_clone_source_key *key,
				     const char *folder,
				     const char *cluster_id);
/* Of two that are asked for by one key, is a the one? b may be NULL. */
bool vs_clone_source_order(const struct vs_vm *a, const struct vs_vm *b);
/* Can it be read, and is its host there to copy from? */
bool vs_clone_source_reachable(const struct vs_vm *vm);

enum vs_clone_source_action {
	VS_CLONE_SOURCE_MAKE,			/* there is none */
	VS_CLONE_SOURCE_AWAY,	/* it can't be used where it is */
	VS_CLONE_SOURCE_SNAP,			/* it lacks its snapshot */
	VS_CLONE_SOURCE_BOOT,			/* of instant clones, and off */
	VS_CLONE_SOURCE_FREEZES, /* its guest hasn't asked to be frozen */
	VS_CLONE_SOURCE_READY,
};
enum vs_clone_source_action vs_clone_source_action(const struct vs_vm *chosen); /* or NULL */

/*
 * Its name: of the template's last part and a hash of key and cluster, so that
 * vCenter takes no second one; ordinal 0, 1, ... where names are taken.
 */
void vs_clone_source_name(const char *cluster_id,
			  const struct vs_clone_source_key *key,
			  const char *template_name, unsigned int ordinal,
			  char out[VS_NAME_LEN]);

/* Does the VM stand on the disks of this parent, or say so? */
bool vs_clone_source_has_child(const struct vs_vm *parent,
			       const struct vs_vm *vm);
/* How many do; unsure: something in the folder can't be read, or
 * something elsewhere of whose disks nothing was ever read. */
size_t vs_clone_source_children(const struct vs_inventory *inv,
				const struct vs_vm *parent, const char *folder,
				bool *unsure);

/* MB that are counted for a linked clone's own disks, of a template with so
 * many: a tenth, 1 GB at the least, never more than all. It grows with what
 * the guest writes. */
int64_t vs_linked_mb(int64_t template_mb);

#endif
