/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hosts that are to be empty, now or at a planned time, and what Slurm is shown
 * of it. Included by core_i.h; of what leaves with its job: evacuate.h.
 */
#ifndef VS_ENGINE_MAINTENANCE_H
#define VS_ENGINE_MAINTENANCE_H

#include "engine/maintenance/evacuate.h"
#include "plan/inventory/inventory.h"
#include "util/hash.h"

struct vs_core;
struct vs_node;
struct vs_j;
struct json_object;

/* A host that is to be empty. */
struct vs_draining_hosts {
	char host[VS_MOID_LEN];
	int64_t start;			/* of Slurm's reservation, s since the
					 * epoch */
	char *nodes;			/* of what is planned, */
	int64_t nodes_at;		/* as it was then */
	bool told, told_empty;		/* in the log */
	bool there;			/* it still is to be */
	UT_hash_handle hh;
};

/* The nodes and VMs that keep a host from being safe. */
struct vs_remaining_vms {
	size_t moves;			/* nodes whose VMs leave with the jobs */
	size_t nodes, jobs;		/* with VMs there, on these */
	size_t asleep;			/* of these, with suspended VMs */
	int vms, others;		/* managed ones without a node, and
					 * foreign ones, that are on */
	int64_t safe_at;		/* the last job's end, s since the
					 * epoch; VS_TIME_NEVER: unknown; 0:
					 * nothing runs there */
};

/* node_drain.c: nodes on hosts that are wanted; lock held */
/* Drained by another user, and kept on by SuspendExc*: Slurm doesn't power it
 * down, and a power-down that we ask for would lift the other's drain. */
bool vs_node_kept_on(const struct vs_node *n);
void vs_maintenance_apply(struct vs_core *c, struct vs_node *n, int64_t now_ms);
/* Asks Slurm to power the node down because of why. again: that was logged before.
 * If Slurm refuses, it is asked again. */
void vs_power_down_ask(const struct vs_node *n, bool again, const char *why);
/* Powers down a node that is to be vacated, as soon as it is idle, and once more
 * each minute while Slurm does not. */
void vs_vacate_act(struct vs_node *n, int64_t now_ms);

/* host_progress.c: until when hosts that are to be empty aren't; lock held */
void vs_host_remaining_vms(struct vs_core *c, const struct vs_host *h,
			   struct vs_remaining_vms *out);
/* "3 jobs on 4 nodes run on it, safe at 14:05" or "empty of ..., safe now". */
void vs_remaining_vms_text(const struct vs_remaining_vms *r, char *out,
			   size_t size);
/* As report.h has it. */
void vs_remaining_vms_json(const struct vs_remaining_vms *r,
			   struct json_object *o);
void vs_draining_hosts_clear(void);
/* Slurm's reservations are compared again: another configuration is in force. */
void vs_leaving_renew(void);
/* Slurm's reservations, as they shall be: all of them. Returns false if nothing is
 * to be said now; else the caller frees *rows and their strings. */
struct vs_slurm_resv;
bool vs_leaving_due(struct vs_core *c, int64_t now_ms,
		    struct vs_slurm_resv **rows, size_t *n);

#endif
