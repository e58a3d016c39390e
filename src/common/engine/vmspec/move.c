/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A VM that is off and whose place is elsewhere is relocated. One that vCenter
 * doesn't move (a device of its host's own, a disk that the other host can't
 * see, a snapshot too many) is recreated where its place is: it holds nothing
 * that its template doesn't.
 *
 * Rules: what vCenter refuses for the VM's own sake is not asked again; what
 * fails for a host's sake is tried on another one first. This is forgotten with
 * the VM, or when it has been moved after all.
 */
#include <string.h>
#include "engine/state/state.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"

#define MOVES_FAILED_MAX 2

bool vs_move_failed(struct vs_node *n, const struct vs_vm *vm,
		    const struct vs_err *err)
{
	struct vs_move *m = &n->move;

	if (!vm || (err->code != VS_E_REQUEST && err->code != VS_E_OTHER_HOST))
		return false;
	if (strcmp(m->vm, vm->moid))
		*m = (struct vs_move) { .failed = 0 };
	vs_strlcpy(m->vm, vm->moid, sizeof(m->vm));
	m->stuck = err->code == VS_E_REQUEST ||
		++m->failed >= MOVES_FAILED_MAX;
	if (m->stuck)
		vs_info("node=%s its VM cannot be moved from host=%s and is recreated on another host: %s",
			n->name, vm->host_ptr ? vm->host_ptr->name : "-",
			err->text);
	return err->code == VS_E_REQUEST;
}

bool vs_move_may(const struct vs_node *n, const struct vs_vm *vm)
{
	return !n->move.stuck || strcmp(n->move.vm, vm->moid);
}

void vs_move_done(struct vs_node *n)
{
	n->move.failed = 0;
}
