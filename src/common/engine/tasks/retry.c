/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a node's next call may be sent: failures in a row, the pause after one, the
 * poll to wait for while a call's outcome is unknown, and the last error.
 *
 * Rules: nothing else writes n->retry. What a failure leads to is decided by the
 * caller (provision/failures.c). The lock is held.
 */
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"

void vs_retry_reset(struct vs_node *n)
{
	n->retry.tries = 0;
	n->retry.not_before_ms = 0;
}

void vs_retry_uncount(struct vs_node *n)
{
	n->retry.tries = 0;
}

bool vs_retry_count(struct vs_node *n)
{
	return ++n->retry.tries > VS_TRIES_MAX;
}

void vs_retry_spend(struct vs_node *n)
{
	n->retry.tries = VS_TRIES_MAX;
}

void vs_retry_pause(struct vs_node *n, int64_t until_ms)
{
	n->retry.not_before_ms = until_ms;
}

void vs_retry_error(struct vs_node *n, const struct vs_err *err)
{
	if (err)
		n->retry.err = *err;
	else
		n->retry.err.code = VS_OK;
}

void vs_retry_reread(const struct vs_core *c, struct vs_node *n)
{
	n->retry.look_after = c->slow_seq + 1;
}

void vs_retry_reread_end(struct vs_node *n)
{
	n->retry.look_after = 0;
}
