/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tests read and set of a node's state, so that a member of struct vs_node is
 * named here once. Conditions have vs_node_is() and vs_node_condition().
 */
#ifndef NODE_STATE_H
#define NODE_STATE_H

#include "engine/state/state.h"
#include "engine/tasks/tasks.h"

static inline uint32_t node_job(const struct vs_node *n)
{
	return n->claims.job;
}

/* How many jobs have the node beside its first one. */
static inline size_t node_beside(const struct vs_node *n)
{
	return n->claims.nbeside;
}

/* A late kill by slurmctld may come until then, 0: none. */
static inline int64_t node_ending_ms(const struct vs_node *n)
{
	return n->claims.ending_ms;
}

static inline enum vs_missing node_missing(const struct vs_node *n)
{
	return n->absent.how;
}

/* As if the VM had never been seen on. */
static inline void node_forget_last_vm(struct vs_node *n)
{
	n->absent.vm[0] = '\0';
}

static inline const struct vs_err *node_error(const struct vs_node *n)
{
	return &n->retry.err;
}

static inline int node_tries(const struct vs_node *n)
{
	return n->retry.tries;
}

/* As at a start: nothing more is known of the job. */
static inline void node_set_job(struct vs_node *n, uint32_t job)
{
	vs_node_condition(n, VS_COND_JOB_LAUNCHED, false);
	vs_node_condition(n, VS_COND_JOB_RUNS, false);
	n->claims.job = job;
}

static inline void node_set_ending_ms(struct vs_node *n, int64_t until_ms)
{
	n->claims.ending_ms = until_ms;
}

static inline void node_set_missing(struct vs_node *n, enum vs_missing how)
{
	n->absent.how = how;
}

#endif
