/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement's own workings: the work area that its files share. No other folder
 * includes it.
 *
 * Nodes that need the same fall into one class; each host is a site. What is
 * fixed of a class on a site is found once, and what a placement takes is
 * kept in the site's sum, so that one more VM costs no rescan.
 */
#ifndef VS_PLAN_PLACEMENT_I_H
#define VS_PLAN_PLACEMENT_I_H

#include "plan/placement/placement.h"
#include "plan/allocation/shared_capacity.h"
#include "util/buf.h"

#define VS_NO_NODE SIZE_MAX
#define VS_CAPACITY_MAX ((size_t)1 << 20)	/* more than any host has */

struct vs_class {
	const struct vs_profile *profile;
	const struct vs_network *net;
	int vfs;			/* of each VM, 0: takes none */
	int beside;			/* devices beside them (ExtraDevice=) */
	bool rails;			/* each on a PF of its own */
	int min_hw;
	int64_t mem_mb;			/* reserved and overhead */
	int64_t swap_mb;
	bool exists;			/* told apart where there are several
					 * datastores, and of instant clones */
	int store;			/* datastores: where they lie; -1 */
	const bool *bare;		/* see vs_place_env; NULL: nowhere */
	size_t count;			/* nodes of it in the gang */
	size_t room;			/* on all sites, before the gang */
};

/* The PFs of one VM's NICs, by their places in vs_host.pfs (n 0: none), and
 * of several datastores its own, an index of pools (-1: none). Compared as
 * bytes: no holes. */
struct vs_picked {
	short n, store;
	signed char pf[VS_NICS_MAX];
};
_Static_assert(sizeof(struct vs_picked) == 2 * sizeof(short) + VS_NICS_MAX,
	       "vs_picked has holes");

struct vs_site {
	const struct vs_host *host;
	const struct vs_brief *brief;	/* of it */
	const struct vs_host_sum *sum;
	struct vs_host_sum *own;	/* `sum` is it once something is put
					 * there; NULL: nothing was */
	int pool;			/* -1: none that is known */
	int nstores;			/* of several, of its brief; 0: no matter */
	bool avoided;
	bool busy;			/* its budget of operations is used up */
	uint32_t avoided_pfs;	/* by vs_host_block, or the env's avoid() */
	size_t placed;			/* nodes of the gang here */
	size_t most;			/* no more of them */
	size_t first;			/* list of them, by vs_work.next */
};

struct vs_fit {				/* a class on a site */
	enum vs_refusal fixed;		/* refused whatever is free, unless its
					 * VFs can't be counted: that is first */
	uint32_t pfs;			/* candidates, avoided ones too */
	uint32_t beside;		/* the same for what is beside them */
	bool automatic;
};

struct vs_work {
	const struct vs_place_env *env;
	enum vs_policy policy;		/* of the gang */
	bool ever;			/* static capacity: all up and empty */
	struct vs_free_capacity *sums;
	struct vs_free_capacity made;	/* `sums`, where the caller has none */
	struct vs_site *sites;		/* by host name */
	size_t nsites;
	const size_t *by_mhz;		/* sites, slow cores first */
	struct vs_pool_capacity *pools;	/* what is left now, by site.pool */
	struct vs_pool_capacity *pools_before;	/* the gang */
	int64_t store_mb;		/* before the gang */
	struct vs_class *classes;
	size_t nclasses;
	const struct vs_fit **fits;	/* of each class, by host->index */
	struct vs_place_node *nodes;
	size_t n;
	size_t *class_of;		/* of each node */
	size_t *site_of, *next;		/* VS_NO_NODE: not placed / the end */
	struct vs_picked *pfs_of;
	size_t *prefers;		/* site, or VS_NO_NODE */
	int tries;			/* repairs left */
	bool heeds;			/* preferred hosts go first */
};

/* host_filter.c */
void vs_work_init(struct vs_work *w, const struct vs_place_env *env,
		  struct vs_place_node *nodes, size_t n, bool ever);
void vs_work_free(struct vs_work *w);
/* The policy of a gang whose first node has this profile: its partition's own, or
 * env's. */
enum vs_policy vs_place_policy(const struct vs_place_env *env,
			       const struct vs_profile *p);
/* Their parts: what a node needs, and the at-th host by name. */
void vs_class_fill(struct vs_class *c, const struct vs_place_node *n);
void vs_site_fill(const struct vs_work *w, size_t at, struct vs_site *s);
const struct vs_fit *vs_fit_get(const struct vs_work *w, size_t cls,
				size_t site);
/* What one more of this class reserves there, MHz. */
int64_t vs_fit_cpu(const struct vs_class *c, const struct vs_site *s);
/* clone_source_cost.c: VMs' worth that the first of an instant clones' class
 * takes there for its parent: 0 or 1. but: a node of the gang that isn't asked
 * of. */
int vs_fit_clone_sources(const struct vs_work *w, size_t cls, size_t site,
			 size_t but);
/* For vs_class.bare. */
const bool *vs_clone_source_absent(const struct vs_place_env *env,
				   const struct vs_place_node *n);
/* By their size they may be of one class: does it bring the same parent? */
bool vs_clone_source_same(const struct vs_class *c,
			  const struct vs_place_node *n);
/* May one more of this class go there now? NONE, or the first reason. */
enum vs_refusal vs_fit_check(const struct vs_work *w, size_t cls, size_t site);
/* pf_choice.c: what is free of a row. Of vGPUs it is less while others of
 * another profile are yet to come onto the same GPUs: each may take one that
 * those were promised. */
int vs_entry_free(const struct vs_site *s, int row);
/* VFs that are free on these PFs, and for how many VMs of the
 * class they are. */
size_t vs_vf_free(const struct vs_site *s, uint32_t pfs);
/* Could it hold a VM that takes more VFs than those of this class? */
bool vs_site_whole(const struct vs_work *w, const struct vs_class *c,
		   const struct vs_site *s);
size_t vs_vf_capacity(const struct vs_class *c, const struct vs_site *s,
		      const struct vs_fit *f, uint32_t not_these);
/* What of them is short, where there is no room. */
enum vs_refusal vs_vf_short(const struct vs_class *c, const struct vs_site *s,
			    const struct vs_fit *f);
/* Is anything of its VMs counted? */
static inline bool vs_class_counts(const struct vs_class *c)
{
	return c->vfs || c->beside;
}
/* How many more of this class could go there, at most limit; the pools are
 * left out of it. */
size_t vs_fit_capacity(const struct vs_work *w, size_t cls, size_t site,
		       size_t limit);
/* The site's load in millionths if one more of this class were there. */
int64_t vs_fit_load(const struct vs_work *w, size_t cls, size_t site);
/* As it is now, by what any class of the gang looks at. */
int64_t vs_site_load(const struct vs_work *w, size_t site);
/* The VM that this hold stands for is gone from the site. */
void vs_site_gone(struct vs_site *s, const struct vs_claim *hold);
/* Put a node that fits there / take it back. */
void vs_put(struct vs_work *w, size_t node, size_t site);
void vs_put_on_pfs(struct vs_work *w, size_t node, size_t site,
		   const struct vs_picked *pfs);
void vs_unput(struct vs_work *w, size_t node);

/* An array of one element per host that the sums keep from one question to the
 * next, not cleared; it goes back there. */
void *vs_scratch_take(void **spare, size_t n, size_t size);
void vs_scratch_give(void **spare, void *have);

/* pf_choice.c: on which of the site's PFs one more of the class would be. */
struct vs_picked vs_choose_pfs(const struct vs_work *w, size_t cls,
			       size_t site);

/* host_filter_static.c: what of them is fixed, for all classes */
void vs_fits_init(struct vs_work *w);
/* All that decides upon a class's fits beside the hosts. */
uint64_t vs_fits_key(const struct vs_work *w, const struct vs_class *c);

/* pools_datastores.c: what hosts share, resource pools and the datastore */
void vs_pools_init(struct vs_work *w);
/* Has the site's pool room for one more? NONE or a reason. */
enum vs_refusal vs_pool_fit(const struct vs_work *w, const struct vs_class *c,
			    const struct vs_site *s);
void vs_pool_charge(struct vs_work *w, const struct vs_class *c,
		    const struct vs_site *s, int store, int sign);
/* How many of `n` the pool and the datastores take out of `left`, which is
 * charged as by one vs_put() after the other. */
size_t vs_pool_share(const struct vs_work *w, const struct vs_class *c,
		     const struct vs_site *s, struct vs_pool_capacity *left,
		     size_t n);
/* A copy of what is left in the pools; free() it. */
struct vs_pool_capacity *vs_pools_copy(const struct vs_work *w);
/* May `need` of this class all go to hosts of the site's pool, whichever? Of
 * hosts that see different datastores that isn't sure: see vs_fit_check(). */
bool vs_pool_fits(const struct vs_work *w, const struct vs_class *c,
		  const struct vs_site *s, size_t need);
/* A pool, or all datastores, that allow no more, seen from a site. */
struct vs_pool_short { size_t site; enum vs_refusal why; };
/* How many more of this class fit on all sites together, at most limit;
 * why NONE: no pool is in the way. */
size_t vs_class_capacity(const struct vs_work *w, size_t cls, size_t limit,
			 struct vs_pool_short *short_of);
/* Places all VMs of a class again, where that costs its pool the least. Returns
 * true if all are placed. */
bool vs_place_cheapest(struct vs_work *w, size_t cls);
/* said: by index of pools, those named before; they aren't named again. */
void vs_pool_explain(const struct vs_work *w, const struct vs_class *c,
		     const struct vs_pool_short *s, bool *said,
		     struct vs_buf *b);
/* Of several, as things stand in `left`: where one more of the class would lie
 * there, as an index of pools (-1: any): where its disks are seen, else the
 * one with most room. mb: what it needs there. */
int vs_store_at(const struct vs_work *w, const struct vs_class *c,
		const struct vs_site *s, const struct vs_pool_capacity *left,
		int64_t *mb);
/* As things stand now. */
short vs_store_pick(const struct vs_work *w, size_t cls, size_t site);
/* Do its disks go there from another? */
bool vs_store_moves(const struct vs_work *w, const struct vs_class *c,
		    const struct vs_site *s);
/* Where the node's VM lies, -1; and is it of this class by that? What exists
 * needs another thing than what doesn't, where there are several. */
int vs_store_lies(const struct vs_work *w, const struct vs_place_node *n);
bool vs_store_same(const struct vs_work *w, const struct vs_class *c,
		   const struct vs_place_node *n, int lies);
/* MB that these nodes need of the datastore. */
int64_t vs_store_need(const struct vs_work *w);
/* How many of `n` VMs that need so much each it holds. */
size_t vs_store_fits(const struct vs_work *w, int64_t need_mb, size_t n);
void vs_store_explain(const struct vs_work *w, size_t n, int64_t need_mb,
		      struct vs_buf *b);

/* policy_balance_spread.c. The first places VMs on their preferred hosts if
 * they fit. The second returns true if the VM is on its preferred host and has
 * to stay there. */
void vs_place_preferred(struct vs_work *w);
bool vs_place_preference_met(const struct vs_work *w, size_t node);
/* Place all of a class that isn't placed; true if all are. */
bool vs_place_even(struct vs_work *w, size_t cls);
/* The best site for one more by the policy, or VS_NO_NODE; O(sites). */
size_t vs_place_best(const struct vs_work *w, size_t cls);
/* Add y to the n nodes in out, unless one of its class and PFs is among them;
 * the new n. */
size_t vs_group_add(const struct vs_work *w, size_t *out, size_t n, size_t y);
/* balance_improve.c: all are placed; move some for a more even load. */
void vs_place_level(struct vs_work *w);
/* policy_pack.c */
bool vs_place_packed(struct vs_work *w, size_t cls);

#endif
