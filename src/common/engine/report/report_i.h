/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reports, as report.c asks for them: each adds its answer to `top`. The lock is
 * held unless said, and those of nodes, jobs, hosts, parents and the plan lend it.
 */
#ifndef VS_ENGINE_REPORT_I_H
#define VS_ENGINE_REPORT_I_H

#include "engine/slurm/lookup.h"
#include "engine/state/state.h"

/* Slurm is asked meanwhile, with the lock given back. */
void vs_report_nodes(struct vs_core *c, struct json_object *top,
		     const struct vs_viewer *viewer);
/* One node's row. job 0: none. */
struct json_object *vs_report_node_row(struct vs_core *c, struct vs_node *n,
				       uint32_t job);
void vs_report_jobs(struct vs_core *c, struct json_object *top,
		    const struct vs_viewer *viewer);
void vs_report_check(struct vs_core *c, struct json_object *top, bool operator);

/* Names that a finding may have as its object. */
void vs_report_objects(struct vs_core *c, struct json_object *top,
		       bool sees_nodes);
void vs_report_why(struct vs_core *c, struct json_object *top,
		   const struct vs_slurm_job *job, bool sees_nodes);
void vs_report_status(struct vs_core *c, struct json_object *top,
		      bool operators);
void vs_report_reconcile(struct vs_core *c, struct json_object *top,
			 const struct vs_viewer *viewer);
/* Has all read again. The answer's "seq" is that of the last reading before. */
void vs_report_recheck(struct vs_core *c, struct json_object *top,
		       bool operator);
void vs_report_hosts(struct vs_core *c, struct json_object *top);
void vs_report_clone_sources(struct vs_core *c, struct json_object *top);

/* ---- dry_run.c: what is done for the plan's nodes, and how long that takes ---- */

/* Returns 0. Returns -1 and sets err if the configuration or the inventory was read
 * again meanwhile (VS_E_SHORTAGE), or no such job can ever run (VS_E_REQUEST). */
int vs_report_plan(struct vs_core *c, struct json_object *top, char **names,
		   bool sees_nodes, struct vs_err *err);

/* The configuration and the load of the inventory that a plan is of. */
struct vs_plan_base { uint64_t epoch, load_seq; };

/* Returns false if one of them is another now: the plan ends, and c->nodes is
 * not read. */
bool vs_plan_stands(const struct vs_core *c, const struct vs_plan_base *b);
/* The same, after other threads have had the lock. */
bool vs_plan_yield(const struct vs_core *c, const struct vs_plan_base *b);

/* ---- dry_run_places.c: where they would be ---- */

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
 * places, are of one moment. Returns false if the plan ends: *b does not stand, or
 * the hosts never stayed the same for long enough.
 */
bool vs_plan_places_find(struct vs_core *c, struct vs_plan_places *p,
			 const struct vs_plan_base *b);
/* Memory for n nodes; no lock needed. The caller's ids stay until they are
 * freed. */
void vs_plan_places_alloc(struct vs_plan_places *p, const int *ids, size_t n,
			  size_t nprofiles);
void vs_plan_places_free(struct vs_plan_places *p);

#endif
