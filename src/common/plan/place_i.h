/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement's own workings: the work area that its files share.
 *
 * Nodes that need the same fall into one class; each host is a site. What is
 * fixed of a class on a site is found once, and what a placement takes is
 * kept in the site's sum, so that one more VM costs no rescan.
 */
#ifndef VS_PLAN_PLACE_I_H
#define VS_PLAN_PLACE_I_H

#include "plan/place.h"

#define VS_NO_NODE SIZE_MAX
#define VS_ROOM_MAX ((size_t)1 << 20)	/* more than any host has */

struct vs_class {
	const struct vs_profile *profile;
	const struct vs_network *net;
	bool takes_vf;
	int min_hw;
	int64_t mem_mb;			/* reserved and overhead */
	size_t count;			/* nodes of it in the gang */
	size_t room;			/* on all sites, before the gang */
};

struct vs_site {
	const struct vs_host *host;
	struct vs_host_sum sum;
	bool avoided;
	uint32_t avoided_pfs;		/* of avoid_asked */
	size_t placed;			/* nodes of the gang here */
	size_t first;			/* list of them, by vs_work.next */
};

struct vs_fit {				/* a class on a site */
	enum vs_refusal fixed;		/* refused whatever is free */
	uint32_t pfs;			/* candidates, avoided ones too */
	bool automatic;
};

struct vs_work {
	const struct vs_place_env *env;
	bool ever;			/* static capacity: all up and empty */
	struct vs_site *sites;		/* by host name */
	size_t nsites;
	struct vs_class *classes;
	size_t nclasses;
	struct vs_fit *fits;		/* [class * nsites + site] */
	struct vs_place_node *nodes;
	size_t n;
	size_t *class_of;		/* of each node */
	size_t *site_of, *next;		/* VS_NO_NODE: not placed / the end */
	int *pf_of;			/* -1: none */
	size_t *prefers;		/* site, or VS_NO_NODE */
	size_t *order;			/* nodes, most constrained first */
	int tries;			/* repairs left */
};

/* place_fit.c */
void vs_work_init(struct vs_work *w, const struct vs_place_env *env,
		  struct vs_place_node *nodes, size_t n, bool ever);
void vs_work_free(struct vs_work *w);
struct vs_fit *vs_fit_of(const struct vs_work *w, size_t cls, size_t site);
/* May one more of this class go there now? NONE, or the first reason. */
enum vs_refusal vs_fit_now(const struct vs_work *w, size_t cls, size_t site);
/* How many more of this class could go there, at most limit. */
size_t vs_fit_room(const struct vs_work *w, size_t cls, size_t site,
		   size_t limit);
/* The site's load in millionths if one more of this class were there. */
int64_t vs_fit_load(const struct vs_work *w, size_t cls, size_t site);
/* Put a node that fits there / take it back. */
void vs_put(struct vs_work *w, size_t node, size_t site);
void vs_put_on_pf(struct vs_work *w, size_t node, size_t site, int pf);
void vs_unput(struct vs_work *w, size_t node);

/* place_policy.c: place all of a class that isn't placed; true if all are. */
bool vs_place_even(struct vs_work *w, size_t cls);
/* The best site for one more by the policy, or VS_NO_NODE; O(sites). */
size_t vs_place_best(const struct vs_work *w, size_t cls);
/* place_pack.c */
bool vs_place_packed(struct vs_work *w, size_t cls);

#endif
