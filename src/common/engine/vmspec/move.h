/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VMs that are off and are to be elsewhere, see move.c: a part of core_i.h. The
 * lock is held. */
#ifndef VS_ENGINE_MOVE_H
#define VS_ENGINE_MOVE_H

#include <stdbool.h>
#include "util/err.h"
#include "util/name.h"

#define VS_MOVE_MOID_LEN 80

struct vs_node;
struct vs_vm;

struct vs_move {			/* of a node */
	char vm[VS_MOVE_MOID_LEN];	/* whose moves failed, "": none did */
	int failed;			/* so often, for the hosts' sake */
	bool stuck;			/* it is not moved any more */
};

/* A relocation of this VM failed (vm: NULL if it is gone). True: it stays where
 * it is for good, and nothing else has to be blamed. */
bool vs_move_failed(struct vs_node *n, const struct vs_vm *vm,
		    const struct vs_err *err);
/* A relocation of its VM is done: what failed before counts no more. */
void vs_move_done(struct vs_node *n);
/* Can it be moved at all, as far as we know? */
bool vs_move_may(const struct vs_node *n, const struct vs_vm *vm);

#endif
