/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node's conditions: how they change, and which of them can be true together.
 *
 * Rules: a condition is set by the module that node.h names, and nowhere else.
 * The table lists what must not be after a pass of the node, when all that Slurm
 * and vCenter showed has been judged. A row holds for every node, in every state
 * of vCenter's connection. The lock is held.
 */
#include <stdlib.h>
#include "engine/state/state.h"

/* Facts of a node that are no conditions, beside them in one word. */
enum {
	JOB = 1 << 20,			/* it has a job */
	UP = 1 << 21,			/* for Slurm */
	IN_SLURM = 1 << 22,		/* Slurm's flags of the node were read */
	ENDS = 1 << 23,			/* its VM is wanted off or gone */
	KEPT = 1 << 24,			/* its VM is wanted as it is */
	SEEN_ON = 1 << 25,		/* the right VM is on */
	SEEN_BUSY = 1 << 26,
	MISSING = 1 << 27,		/* its VM must be there and isn't shown */
	TOLD = 1 << 28,			/* the boot was reported to Slurm */
	CLONES = 1 << 29,		/* a clone is under way */
	CHANGES = 1 << 30,		/* so is a call that starts no VM */
};
#define OBSERVED (1U << 31)		/* nothing is done for any node */

/* Illegal: all of `all` are true, and none of `unless`. */
static const struct {
	uint32_t all, unless;
	const char *why;
} illegal[] = {
	{ VS_COND_JOB_RUNS, JOB, "a job runs on a node without a job" },
	{ VS_COND_JOB_LAUNCHED, VS_COND_JOB_RUNS,
	  "a job that was launched before doesn't run" },
	{ VS_COND_REBUILD, JOB, "no job waits for the rebuild" },
	{ VS_COND_REBUILD | SEEN_ON, 0, "the right VM is on and is rebuilt" },
	{ VS_COND_REMOVABLE, ENDS, "a VM that a job needs may be removed" },
	{ VS_COND_VACATE | IN_SLURM, UP | OBSERVED,
	  "a node that isn't up is vacated" },
	{ VS_COND_ADOPTING, KEPT, "an adopted VM isn't kept" },
	{ VS_COND_ADOPTING, VS_COND_COMPARED | OBSERVED,
	  "a VM is adopted that could be adopted again" },
	{ VS_COND_GUEST_READY, TOLD, "Slurm doesn't know of a boot that is over" },
	{ VS_COND_GUEST_READY, SEEN_ON | SEEN_BUSY,
	  "the guest of a VM that isn't on is ready" },
	{ VS_COND_BOOT_DIED | IN_SLURM, 0, "a boot's end was not acted upon" },
	{ VS_COND_KNOWN_OFF | MISSING, 0, "a VM that was off is missing" },
	{ VS_COND_CLONE_UNCONFIRMED | CLONES, 0,
	  "a clone was sent while another may be under way" },
	{ VS_COND_STARTING | CHANGES, 0, "a VM is changed while it starts" },
};

void vs_node_condition(struct vs_node *n, enum vs_condition bit, bool on)
{
	uint32_t now = on ? n->conditions | bit : n->conditions & ~(uint32_t)bit;

	if (now == n->conditions)
		return;
	n->conditions = now;
	vs_node_stir(n);
}

/* A call that starts no VM: all but a clone, which may be an instant one, a power-on,
 * and a task of another process. */
static bool changes(const struct vs_node_op *op)
{
	return op->kind != VS_OP_NONE && op->kind != VS_OP_CLONE &&
	       op->kind != VS_OP_POWER_ON && op->kind != VS_OP_ADOPTED;
}

static uint32_t facts(const struct vs_core *c, const struct vs_node *n)
{
	uint32_t is = n->conditions;

	is |= n->claims.job ? JOB : 0;
	is |= n->flags & VS_NODE_UP ? UP : 0;
	is |= n->flags ? IN_SLURM : 0;
	is |= n->wanted == VS_DESIRED_OFF || n->wanted == VS_DESIRED_GONE ?
		      ENDS :
		      0;
	is |= n->wanted == VS_DESIRED_KEEP ? KEPT : 0;
	is |= n->seen == VS_OBSERVED_ON ? SEEN_ON : 0;
	is |= n->seen == VS_OBSERVED_BUSY ? SEEN_BUSY : 0;
	is |= n->absent.how ? MISSING : 0;
	is |= n->boot.told_ms ? TOLD : 0;
	is |= n->op.kind == VS_OP_CLONE && n->op.id ? CLONES : 0;
	is |= changes(&n->op) ? CHANGES : 0;
	is |= c->observe ? OBSERVED : 0;
	return is;
}

const char *vs_node_illegal(const struct vs_core *c, const struct vs_node *n)
{
	uint32_t is = facts(c, n);

	for (size_t i = 0; i < VS_COUNT(illegal); i++)
		if ((is & illegal[i].all) == illegal[i].all &&
		    !(is & illegal[i].unless))
			return illegal[i].why;
	return NULL;
}

const char *vs_node_illegal_entry(size_t i)
{
	return i < VS_COUNT(illegal) ? illegal[i].why : NULL;
}

void vs_node_assert(const struct vs_core *c, const struct vs_node *n)
{
#ifdef VS_DEBUG
	const char *why = vs_node_illegal(c, n);

	if (!why)
		return;
	vs_error("bug: node=%s %s: conditions=%#x flags=%#x wanted=%s seen=%s op=%s",
		 n->name, why, n->conditions, n->flags,
		 vs_desired_name(n->wanted), vs_observed_name(n->seen),
		 vs_op_name(n->op.kind));
	abort();
#else
	(void)c;
	(void)n;
#endif
}
