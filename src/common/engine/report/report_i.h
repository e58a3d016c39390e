/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf plan's two parts: where the nodes would be (dry_run_places.c), and what is
 * done for them and how long that takes (dry_run.c).
 */
#ifndef VS_ENGINE_REPORT_I_H
#define VS_ENGINE_REPORT_I_H

#include "engine/state/core_i.h"

/* The configuration and the load of the inventory that a plan is of. */
struct vs_plan_base { uint64_t epoch, load_seq; };

/* Returns false if one of them is another now: the plan ends, and c->nodes is
 * not read. Lock held. */
bool vs_plan_stands(const struct vs_core *c, const struct vs_plan_base *b);
/* The same, after other threads have had the lock. */
bool vs_plan_yield(const struct vs_core *c, const struct vs_plan_base *b);

struct vs_plan_want {			/* a node that is asked for */
	int id;
	uint64_t version; /* as vs_node_summary_version(), of what is here */
	int needs;			/* a place: 1; 0: none; -1: not served */
	bool held;			/* it has one */
	bool placed;			/* it has or would have this one: */
	struct vs_claim hold;		/* of a new place without node and VM */
	char host[VS_LABEL_LEN];	/* its host's name, "": not known */
	int host_at;			/* and index; of `hosts`, if not known */
};

struct vs_plan_places {
	struct vs_plan_want *wants;	/* by id */
	size_t n;
	int hosts;			/* that there are */
	bool served;
	struct vs_err why;		/* it isn't */
	bool never;			/* nor ever, and why */

	/* dry_run_places.c's own */
	struct vs_snapshot snap;
	struct vs_place_node *at;	/* of each want */
	const int *ids;			/* the caller's */
	size_t *need;			/* nodes of each profile */
};

/*
 * Finds a place for each node that needs one. All that is read, and so all
 * places, are of one moment. Lock held at the start and at the end, not in
 * between. Returns false if the plan ends: *b does not stand, or the hosts never
 * stayed the same for long enough.
 */
bool vs_plan_places_find(struct vs_core *c, struct vs_plan_places *p,
			 const struct vs_plan_base *b);
/* Memory for n nodes; no lock needed. The caller's ids stay until they are
 * freed. */
void vs_plan_places_alloc(struct vs_plan_places *p, const int *ids, size_t n,
			  size_t nprofiles);
void vs_plan_places_free(struct vs_plan_places *p);

#endif
