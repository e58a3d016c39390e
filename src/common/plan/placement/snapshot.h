/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot: a private copy of all that placement reads, as of one moment. It
 * holds no pointer to what was copied, so that a placement on it needs no lock,
 * and nothing that is removed meanwhile can be read.
 *
 * Hosts are copied in pieces, and the lock may be released between two of them.
 * The last piece copies again what has changed since, and all of it is of that
 * moment then:
 *
 *   vs_snapshot_begin()	lock held
 *   vs_snapshot_alloc()	no lock needed
 *   vs_snapshot_stands() and vs_snapshot_hosts()	lock held; again and
 *				again, until all hosts are copied
 *   vs_snapshot_end()		lock held, not released since the last
 *				vs_snapshot_hosts()
 *   vs_snapshot_index()	no lock needed
 *   vs_place(&s->env, ...)	no lock needed
 *
 * Owns struct vs_snapshot and all copies; vs_snapshot_free() frees them. The
 * lock is the caller's: no function takes it, and none fails.
 */
#ifndef VS_PLAN_SNAPSHOT_H
#define VS_PLAN_SNAPSHOT_H

#include "plan/placement/placement.h"

/* The tables of a configuration that nodes to be placed point into. */
struct vs_place_tables {
	const struct vs_adapter *adapters;
	const struct vs_network *nets;		/* of each adapter */
	const struct vs_profile *profiles;
	size_t nadapters, nprofiles;
};

struct vs_snapshot {
	struct vs_place_env env;	/* of the copies alone */
	struct vs_place_tables tables;	/* copies too */

	/* its own */
	struct vs_inventory inv;
	struct vs_free_capacity sums;
	struct vs_host *hosts;		/* by index */
	uint64_t *itself, *stamp;	/* of each copy: vs_host.itself, and
					 * vs_free_capacity.stamp */
	uint64_t seen;			/* no copy lacks an older change */
	uint64_t hosts_changed, pools_changed, cleared;
	struct vs_adapter *adapters;
	struct vs_network *nets;
	struct vs_profile *profiles;
	struct vs_rail_group *rails;
	char (*moids)[VS_MOID_LEN];	/* of the datastore, then of clusters */
	const char **clusters;
	struct vs_host_block *bars;
	struct vs_why_left_out *why;	/* of each host, where they are few */
	int *ops;
	bool *bare;			/* a row of hosts for each profile */
};

/* Notes how much there is to copy. *s was zeroed or freed. env has sums and
 * bars; it and the tables may differ in content, but not in size, in the calls
 * that follow. */
void vs_snapshot_begin(struct vs_snapshot *s, const struct vs_place_env *env,
		       const struct vs_place_tables *from);
/* Allocates the memory. */
void vs_snapshot_alloc(struct vs_snapshot *s);
/* Returns false if hosts, pools or datastores came, went or changed their order
 * since vs_snapshot_begin(): the caller frees the snapshot then. */
bool vs_snapshot_stands(const struct vs_snapshot *s,
			const struct vs_place_env *env);
/* Copies at most `max` hosts that were not copied yet, or have changed since.
 * Returns true if no other is left. env has sums that are up to date. */
bool vs_snapshot_hosts(struct vs_snapshot *s, const struct vs_place_env *env,
		       size_t max);
/* Copies the rest: what hosts share, what is left out of them, the tables. *s
 * stays where it is from now on: s->env points into it. */
void vs_snapshot_end(struct vs_snapshot *s, const struct vs_place_env *env,
		     const struct vs_place_tables *from);
/* Makes the index of the copied hosts. No lock needed. */
void vs_snapshot_index(struct vs_snapshot *s);
/* What `from` asks for, with pointers into the snapshot alone; node is "". It
 * may be asked for as soon as there is memory. Lock held. */
void vs_snapshot_node(const struct vs_snapshot *s,
		      const struct vs_place_env *env,
		      const struct vs_place_tables *tables,
		      const struct vs_place_node *from,
		      struct vs_place_node *to);
/* Frees all of it; *s is zeroed. */
void vs_snapshot_free(struct vs_snapshot *s);

#endif
