/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where an operator wants a node's VM to be next (vm_orders.c): asked when it is
 * placed, and used up then. The lock is held.
 */
#include <string.h>
#include "engine/state/core_i.h"

const char *vs_orders_wish(const struct vs_node *n, const struct vs_vm *vm)
{
	const struct vs_orders *o = &n->orders;

	if (!o->wish[0] || (vm && vm->power != VS_POWER_OFF &&
			    strcmp(vm->moid, o->rebuild) != 0))
		return NULL;
	return o->wish;
}

bool vs_orders_heed(struct vs_node *n, const struct vs_vm *vm, const char *host)
{
	const char *wish = vs_orders_wish(n, vm);
	bool met = wish && !strcmp(wish, host);

	if (wish)
		n->orders.wish[0] = '\0';
	return met;
}
