/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many VMs are made in an hour (MaxClonesPerHour=), and whether clones get their
 * devices at once: a part of core_i.h. */
#ifndef VS_ENGINE_CLONE_QUOTA_H
#define VS_ENGINE_CLONE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "util/json.h"
#include "util/name.h"

struct json_object;
struct vs_core;
struct vs_err;
struct vs_node;
struct vs_node_op;
struct vs_vc_found;
struct vs_vm;

#define VS_CLONES_MINUTES 60
#define VS_CLONES_MANY 1000	/* an hour: told where there is no cap */

/* A vCenter, by its instanceUuid and its build. */
struct vs_vcenter_id { char uuid[VS_UUID_LEN], build[64]; };

/* clone_quota.c; lock held. A clone is sent for the node, or it has been given (or
 * loses) a place for a VM that must be made. */
void vs_clones_sent(struct vs_node *n);
void vs_clones_note_one(void);	/* for no node */
void vs_clones_owe(struct vs_node *n, bool owed);
/* Once after some of them: may more jobs begin? Says no time until when. */
void vs_clones_assess(struct vs_core *c);
/* Will a VM be made for the node once it has a place for that job? Asked
 * before it has one. */
bool vs_clones_needed(const struct vs_core *c, const struct vs_node *n,
		      uint32_t job);
/* Once a turn: minutes pass, nodes are others. */
void vs_clones_update(struct vs_core *c);
/* Why no new job gets this node (vm: its VM, or NULL), NULL: not for this. */
const char *vs_clones_blocked(struct vs_core *c, const struct vs_node *n,
			      const struct vs_vm *vm);
/* Most of the hour's are used: the rest is for jobs. */
bool vs_clones_scarce(const struct vs_core *c);
/* Seconds since the epoch at which more may be made; 0: now. */
int64_t vs_clones_open(const struct vs_core *c);
void vs_clones_check(struct vs_core *c);	/* of the preflight */
int vs_clones_hour(void);	/* made in the last one */
void vs_clones_clear(void);			/* none was made */
/* For the state file; the caller frees it. What isn't as expected is left out. */
struct json_object *vs_clones_json(void);
void vs_clones_read(struct vs_j list);

/* clone_quota.c; lock held. vCenter is there: which one it is. */
void vs_clone_way_found(const struct vs_vc_found *f);
/* The one that answers; uuid "": none has yet. */
const struct vs_vcenter_id *vs_vcenter_now(void);
/* Are clones made without VFs and devices, which a reconfiguration adds? */
bool vs_clone_way_plain(void);
/*
 * Has a clone, or a reconfiguration after one, shown which way this vCenter takes?
 * Until then clones are sent with VFs and devices. A clone that vCenter refuses for
 * them costs its VM VS_CLONE_TRIAL_CALLS more: another clone and a reconfiguration.
 */
#define VS_CLONE_TRIAL_CALLS 2
bool vs_clone_way_known(void);
/* Is this node's clone one of them? Not where its adapter takes none. */
bool vs_node_clone_plain(const struct vs_node *n);
/*
 * The node's clone or reconfiguration has ended; err NULL: well. Returns true if
 * vCenter refused the clone for its devices: it is to be made without them, and
 * nothing is to blame. Else returns false.
 */
bool vs_clone_way_end(const struct vs_node *n,
		      const struct vs_node_op *was, const struct vs_err *err);
/* The vCenter that made a clone with devices, and the one that refused one, for the
 * state file. NULL: there was none. The caller frees it. */
struct json_object *vs_clone_taken_json(void);
struct json_object *vs_clone_refused_json(void);
void vs_clone_taken_read(struct vs_j j);
void vs_clone_refused_read(struct vs_j j);

#endif
