/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each node or host in turn: the loop that lends the lock, and sees whether another
 * configuration came meanwhile.
 *
 * Rules: a node is found by its id, which holds under one configuration; a host by its
 * moId, for vCenter's next answer may take it away.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/state/state.h"
#include "util/mem.h"

#define NODES_SLICE 64		/* between two loans of the lock */

bool vs_each_node(struct vs_core *c, vs_each_node_fn *fn, void *arg)
{
	uint64_t epoch = c->epoch;

	vs_assert_locked();
	for (size_t i = 0; i < c->nnodes; i++) {
		fn(c, &c->nodes[i], arg);
		if (i % NODES_SLICE < NODES_SLICE - 1)
			continue;
		vs_lock_yield();
		if (c->epoch != epoch)
			return false;
	}
	return true;
}

bool vs_each_host(struct vs_core *c, vs_each_host_fn *fn, void *arg)
{
	VS_FREE char (*moids)[VS_MOID_LEN] =
		vs_calloc((size_t)c->inv.nhosts + 1, sizeof(*moids));
	uint64_t epoch = c->epoch;
	size_t n = 0;

	vs_assert_locked();
	for (const struct vs_host *h = c->inv.hosts; h; h = h->hh.next)
		memcpy(moids[n++], h->moid, VS_MOID_LEN);
	for (size_t i = 0; i < n; i++) {
		struct vs_host *h = vs_host_get(&c->inv, moids[i]);

		if (h)
			fn(c, h, arg);
		vs_lock_yield();
		if (c->epoch != epoch)
			return false;
	}
	return true;
}
