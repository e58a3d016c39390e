/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Claims of VFs, memory and CPU (claims.c), what is free (capacity.c), which nodes can
 * be served now (availability.c), and the answers to the select plugin (query.c).
 *
 * The module owns the ledger, the free capacity and each node's summary. The caller
 * holds the core's lock. No function here waits or calls vCenter. A gang is claimed as
 * a whole or not at all.
 */
#ifndef VS_ENGINE_ALLOCATION_H
#define VS_ENGINE_ALLOCATION_H

#include "engine/state/state.h"
#include "plan/allocation/ledger.h"
#include "plan/placement/placement.h"
#include "plan/placement/snapshot.h"

/* ---- claims.c: claim events ----------------------------------------------------- */

/* What becomes of a node's claim, for modules that keep something by it. reconfigure.c
 * says which functions are called, and in which order; claims.c knows none of them. */
enum vs_claim_event {
	VS_CLAIM_TAKEN,		/* the node has a claim */
	VS_CLAIM_RELEASED,	/* the node has no claim any more */
	VS_CLAIM_MOVED,		/* vCenter shows its VM on another host: the
				 * claim is there now */
	VS_CLAIM_ADOPTED,	/* its VM is on, and a task that an earlier
				 * process started is under way on it */
	VS_CLAIM_BY_JOB,	/* a job is about to claim the node */
};

/* Called after the claim has changed. before is the claim as it was, of RELEASED and
 * MOVED, and NULL else. The function may take and release claims of other names. */
typedef void vs_claim_fn(struct vs_core *c, struct vs_node *n,
			 enum vs_claim_event e, const struct vs_claim *before);

/* Sets who hears of these events, in this order. The list has to live as long as the
 * process. */
void vs_claims_subscribe(vs_claim_fn *const *list, size_t n);
/* Tells all of them of an event. */
void vs_claim_changed(struct vs_core *c, struct vs_node *n,
		      enum vs_claim_event e, const struct vs_claim *before);

/* ---- claims.c, capacity.c: claims and what is free ------------------------------ */

struct vs_free_capacity *vs_free_capacity_get(struct vs_core *c);
/* The same as that made them last. Who asks what would be changes them, and undoes
 * it. */
struct vs_free_capacity *vs_free_capacity_cached(void);
/* The number of the question that is being answered; 0: none is. */
uint64_t vs_question(void);
void vs_env_fill(struct vs_core *c, struct vs_place_env *env);
/* Those of the configuration in force. */
struct vs_place_tables vs_tables_get(const struct vs_core *c);
void vs_claim_adopt(struct vs_core *c, struct vs_node *n, struct vs_vm *vm);
void vs_claim_sync(struct vs_core *c, struct vs_node *n);
int vs_claim_take(struct vs_core *c, struct vs_node *n, struct vs_err *err);
int vs_claim_take_gang(struct vs_core *c, struct vs_node **nodes, size_t n,
		       uint32_t job, struct vs_err *err);
/* Returns 0 with what the node's VM needs of a place. Returns -1 and sets err if
 * no VM can be made for it, whatever room there is. */
int vs_claim_request(struct vs_core *c, const struct vs_node *n,
		     struct vs_place_node *to, struct vs_err *err);
/* What a VM of the profile has once it is placed there; without the names of its
 * node and of the VM. Needs no lock. */
void vs_claim_fill(const struct vs_profile *profile,
		   const struct vs_place_node *at, uint32_t job,
		   struct vs_claim *out);
/* What a node has once it is placed there. */
void vs_claim_build(struct vs_core *c, const struct vs_node *n,
		    const struct vs_place_node *at, uint32_t job,
		    struct vs_claim *out);
/* A promised one goes there, if that host has a place; -1: it stays. */
int vs_claim_move(struct vs_core *c, struct vs_node *n,
		  const struct vs_host *to);
void vs_claim_release(struct vs_core *c, struct vs_node *n);
/* Is there still room for the VF it was given? Asked before each step. */
bool vs_claim_fits(struct vs_core *c, struct vs_node *n);
/* By node->kept->exists. */
size_t vs_capacity_count(struct vs_core *c, const struct vs_node *like);
/* query.c: between these two nothing is changed, and what was asked once holds. */
void vs_query_begin(void);
void vs_query_end(void);
/* Why no VM can be made for it, whatever room there is; NULL: it can, or has
 * one. */
const char *vs_clone_blocked(struct vs_core *c, const struct vs_node *n);
void vs_capacity_recount(struct vs_core *c);	/* before the first query */
const struct vs_profile_capacity *vs_capacity_profile(struct vs_core *c,
						      size_t profile);
const struct vs_profile_capacity *vs_capacity_get(struct vs_core *c,
						  const struct vs_node *like);
void vs_place_node_fill(struct vs_core *c, const struct vs_node *n,
			struct vs_place_node *to);
/* Hosts whose budget of operations is used up take no more for now. */
void vs_env_budget(struct vs_core *c, struct vs_place_env *env);

/* availability.c: could it be served now; what is kept of each node */
enum vs_avail vs_node_avail(struct vs_core *c, struct vs_node *n);
/* What is known of it, brought up to date. Inline: asked for all nodes at once. */
void vs_node_summary_renew(struct vs_core *c, struct vs_node *n);
static inline const struct vs_node_summary *
vs_node_summary_get(struct vs_core *c, int id)
{
	if (c->kept[id].epoch != c->facts_epoch)
		vs_node_summary_renew(c, &c->nodes[id]);
	return &c->kept[id];
}
/* Moves when a fact of the node may have changed; never 0. */
uint64_t vs_node_summary_version(const struct vs_core *c, int id);
/* Why no new job may have this node, NULL: it may. Lives until a node is
 * touched. */
const char *vs_node_blocked(struct vs_core *c, const struct vs_node *n);
/* The same, of what does not end by itself: until an administrator does
 * something it is unknown when a job may have the node. */
const char *vs_node_blocked_permanently(struct vs_core *c,
					const struct vs_node *n);
/* Returns why no job may have this VM, because of what DRS or HA would do with
 * it, or NULL if a job may. The text lives until the clusters' settings are
 * read again. */
const char *vs_vm_automated(const struct vs_core *c, const struct vs_vm *vm);

/* clone_hosts.c: for vs_place_env.bare. By profile and host->index: is no clone source
 * counted there of which such a VM is made? The result is not the caller's, and lives
 * until the next vs_clone_hosts_find(). */
const bool *vs_clone_hosts_bare(struct vs_core *c);
/* Sets who knows which clone sources are being made: calls each() with the mark of
 * every one, and the name of its hold. */
typedef void vs_clones_requested_fn(
	struct vs_core *c,
	void (*each)(struct vs_core *c, const struct vs_clone_source_tag *m,
		     const char *name));
void vs_clones_requested_subscribe(vs_clones_requested_fn *fn);
/* Finds them again from the inventory and the ledger. */
void vs_clone_hosts_find(struct vs_core *c);
/* A hash of what was found; 0 if it is of another configuration. */
uint64_t vs_clone_hosts_hash(const struct vs_core *c);
void vs_clone_hosts_free(void);

/* query.c: answers for the select plugin; lock held */
size_t vs_query_capacity(struct vs_core *c, const int *ids, size_t n,
			 enum vs_avail *out, char *why, size_t why_size);
int vs_query_check(struct vs_core *c, const int *ids, size_t n, size_t *surplus,
		   size_t *nsurplus, struct vs_err *err);
/*
 * Static capacity per profile, each by itself: a "no" must be certain. What is
 * not known yet is no reason to say never. Returns false and sets err if these
 * nodes can never all be had.
 */
bool vs_query_ever(struct vs_core *c, const int *ids, size_t n,
		   struct vs_err *err);
/* Its two parts: how many nodes of each profile are asked for (need has room for
 * all profiles), and whether empty hosts would hold them. The second reads env and
 * the tables alone, and needs no lock if they are a snapshot's. */
void vs_query_needs(const struct vs_core *c, const int *ids, size_t n,
		    size_t *need);
bool vs_query_fits(const struct vs_place_env *env,
		   const struct vs_place_tables *t, const size_t *need,
		   struct vs_err *err);
const char *vs_query_blocked(const struct vs_core *c);	/* NULL: may serve */

/* capacity.c: answers for who judges submissions, as in run/api.h; lock held */
size_t vs_submit_capacity(struct vs_core *c, const int *ids, size_t n,
			  size_t want, bool more);
void vs_submit_kinds(const struct vs_core *c, const int *ids, size_t n,
		     struct vs_vm_type *out, char ***names);

#endif
