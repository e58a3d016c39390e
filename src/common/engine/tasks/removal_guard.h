/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The removal limit: it holds removals that no request asked for. A part of
 * core_i.h. */
#ifndef VS_ENGINE_REMOVAL_GUARD_H
#define VS_ENGINE_REMOVAL_GUARD_H

#include "plan/inventory/inventory.h"
#include "util/json.h"

struct json_object;
struct vs_core;
struct vs_node;

/* Returns true if the removal limit permits this VM's removal. A permit is
 * final. */
enum vs_removal_state {
	VS_REMOVAL_UNREQUESTED,
	VS_REMOVAL_PASSED,
	VS_REMOVAL_WAITS
};

/* removal_guard.c: may this VM be switched off or destroyed outside of Slurm's own
 * words? Counts it once; lock held */
bool vs_removal_check(enum vs_removal_state *state, const char *vm,
		      const char *name);
/* Is it on? An operator has to look then. */
bool vs_removal_limit_is_reached(void);
/* So many VMs are this cluster's: its limit hangs on that. */
void vs_removal_limit_set(int vms);
/* Sets whether the brake has let the VM of this node go. */
void vs_removal_node_set(struct vs_node *n, enum vs_removal_state braked);
/* All VMs that it let go are forgotten, and it is off. */
void vs_removal_release(void);
void vs_removal_count(const char *vm, int64_t minute,
		      bool confirmed);
void vs_removal_clear(void);
/* Slurm has powered the VM's node down, or uses it again (ends: false). Across a
 * restart that is known for ten minutes; lock held */
void vs_removal_request(const char *node, const char *vm,
			bool ends);
/* Of this node, and of this VM of it unless NULL. */
bool vs_removal_was_requested(const char *node,
			      const char *vm);
void vs_removal_request_note(const char *node, const char *vm,
			     int64_t minute);
/* For the state file; the caller frees it. What is read and isn't as expected is
 * left out as a whole. Lock held. */
struct json_object *vs_removal_limit_json(void);
void vs_removal_limit_read(struct vs_j j);

#endif
