/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement by trying everything: what the benchmark of placement is measured
 * against. For gangs of a few VMs on a few hosts; never part of the product.
 * It knows a small world of its own, and no line of plan/placement.
 */
#ifndef BENCH_EXACT_H
#define BENCH_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X_HOSTS 5
#define X_PFS 3
#define X_KINDS 3
#define X_GANG 10
#define X_NET_A 3u		/* PFs that are uplinks of one network */
#define X_NET_B 4u

struct x_host {
	int npfs, vfs[X_PFS], used[X_PFS];	/* by others */
	int cores, mhz;
	int64_t mem;				/* MB */
	int64_t cpu_given, mem_given;		/* by VMs that run there */
	int64_t mem_reserved;			/* of it */
	int pool;
};
struct x_kind {
	unsigned int pfs;		/* it may have, 0: it takes none */
	int vcpus;
	int64_t mem, mem_reserved;	/* overhead included */
	bool cpu_reserved;
};
struct x_pool { int64_t cpu, mem; };	/* left */
struct x_world {
	struct x_host hosts[X_HOSTS];
	struct x_kind kinds[X_KINDS];
	struct x_pool pools[2];
	int nhosts, nkinds;
	int kind_of[X_GANG], n;		/* the gang, sorted by kind */
};
struct x_place { int host, pf; };	/* pf -1: none */

/* What is made least of, over all ways to place the whole gang. */
enum x_goal { X_ANY, X_PEAK, X_SPREAD };

/* Can it be placed? With a goal, *best is the least there is. */
bool x_solve(const struct x_world *w, enum x_goal goal, double *best);
/* Is this a placement that the world allows? */
bool x_allowed(const struct x_world *w, const struct x_place *at);
/* The greatest load of a host, or the standard deviation of the loads. */
double x_cost(const struct x_world *w, const struct x_place *at,
	      enum x_goal goal);

#endif
