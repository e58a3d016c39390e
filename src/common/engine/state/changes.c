/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marks on nodes of which a fact has changed: what was kept of such a node is
 * known no more, and the engine looks at it in its next turn. And three events,
 * each with one consumer: capacity or a node's name came free (run/loop.c tells
 * Slurm), the state file has to be written (run/saved_state.c).
 *
 * Rules: code that changes a fact marks what depends on it. The lock is held.
 */
#include "engine/state/state.h"
#include "util/mem.h"

void vs_node_mark_changed(struct vs_node *n)
{
	vs_assert_locked();
	n->kept->fresh = false;
	vs_node_stir(n);
}

void vs_node_stir(struct vs_node *n)
{
	n->kept->rests = false;
	n->kept->epoch = 0;
	n->kept->touches++;
}

void vs_node_looked(struct vs_node *n)
{
	n->kept->fresh = true;
}

void vs_node_rests_set(struct vs_node *n, bool rests)
{
	n->kept->rests = rests;
}

void vs_nodes_mark_changed(struct vs_core *c)
{
	vs_assert_locked();
	if (!++c->facts_epoch)
		c->facts_epoch = 1;
}

void vs_host_nodes_mark_changed(struct vs_core *c, const struct vs_host *h)
{
	struct vs_vm *vm;

	vs_assert_locked();
	LIST_FOREACH(vm, &h->vms, on_host) {
		struct vs_node *n = vs_node_named(c, vm->name);

		if (n)
			vs_node_mark_changed(n);
	}
}

void vs_node_summary_renewed(const struct vs_core *c, struct vs_node *n)
{
	vs_assert_locked();
	n->kept->epoch = c->facts_epoch;
}

void vs_profiles_changed(struct vs_core *c)
{
	vs_assert_locked();
	/* "" where the template isn't known: nothing is judged by it. */
	for (size_t i = 0; i < c->nprofiles; i++)
		if (vs_profile_hash(&c->profiles[i], c->now[i].hash))
			c->now[i].hash[0] = '\0';
	vs_nodes_mark_changed(c);
}

/* ---- capacity and names ---------------------------------------------------- */

static bool capacity_freed, name_freed;

void vs_capacity_freed(void)
{
	capacity_freed = true;
}

bool vs_capacity_freed_pending(void)
{
	return capacity_freed;
}

void vs_capacity_freed_clear(void)
{
	capacity_freed = false;
}

void vs_name_freed(void)
{
	name_freed = true;
}

bool vs_name_freed_pending(void)
{
	return name_freed;
}

void vs_name_freed_clear(void)
{
	name_freed = false;
}

/* ---- Slurm's plans ------------------------------------------------------------ */

static bool plans_outdated;

void vs_plans_outdate(void)
{
	plans_outdated = true;
}

bool vs_plans_outdated_taken(void)
{
	bool was = plans_outdated;

	plans_outdated = false;
	return was;
}

/* ---- the state file ---------------------------------------------------------- */

static struct {
	bool is_read, dirty;
	int64_t not_before_ms;
} state_file;

void vs_state_file_dirty(void)
{
	state_file.dirty = true;
}

bool vs_state_file_pending(void)
{
	return state_file.dirty;
}

void vs_state_file_urgent(void)
{
	state_file.not_before_ms = 0;
}

bool vs_state_file_due(int64_t now_ms, int64_t again_ms)
{
	if (!state_file.dirty || !state_file.is_read ||
	    now_ms < state_file.not_before_ms)
		return false;
	state_file.dirty = false;
	state_file.not_before_ms = now_ms + again_ms;
	return true;
}

void vs_state_file_read_done(bool read)
{
	state_file.is_read = read;
}

bool vs_state_file_is_read(void)
{
	return state_file.is_read;
}

void vs_state_file_forget(void)
{
	state_file.is_read = state_file.dirty = false;
}

/* ---- profiles ---------------------------------------------------------------- */

void vs_profile_capacity_outdate(struct vs_core *c, size_t profile)
{
	c->now[profile].facts++;
}

void vs_profile_missing_set(struct vs_core *c, size_t profile, const char *why)
{
	struct vs_profile_capacity *now = &c->now[profile];

	vs_strlcpy(now->missing, why, sizeof(now->missing));
	vs_profile_capacity_outdate(c, profile);
}
