/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Room for the VMs of a suspended job (suspend.c), where they are: what others have
 * given for a job that has yet to begin is that one's. The lock is held.
 */
#include <string.h>
#include "engine/core_i.h"
#include "util/mem.h"

#define PATIENCE_MS (5 * 60 * 1000)	/* with a job that has room, and waits */
#define MANY UINT32_MAX

void vs_suspend_cannot(struct vs_suspend *s, const char *why)
{
	if (strncmp(s->why, why, sizeof(s->why) - 1))
		vs_info("JobId=%u its VMs stay suspended: %s", s->job, why);
	vs_strlcpy(s->why, why, sizeof(s->why));
}

bool vs_suspend_gives_way(const struct vs_suspend *s, int64_t now_ms)
{
	return s->waits && !s->back &&
	       (s->state == VS_SUSPEND_GOES ||
		(s->state == VS_SUSPEND_IS &&
		 (s->more_to_come || now_ms - s->since_ms < PATIENCE_MS)));
}

uint32_t *vs_suspend_givers(struct vs_core *c, int64_t now_ms)
{
	uint32_t *by = vs_calloc((size_t)c->inv.nhosts + 1, sizeof(*by));

	VS_EACH_SUSPEND(c, s) {
		if (!vs_suspend_gives_way(s, now_ms))
			continue;
		VS_EACH_OF_SUSPEND(c, s, n) {
			const struct vs_vm *vm = vs_node_vm(c, n);
			uint32_t *of = vm && vm->host_ptr ?
				&by[vm->host_ptr->index] : NULL;

			if (of)
				*of = *of && *of != s->job ? MANY : s->job;
		}
	}
	return by;
}

/* A hold for its VM where it is. VS_E_BUSY: room alone would not do. */
static int place(struct vs_core *c, struct vs_node *n, const struct vs_vm *vm,
		 struct vs_err *err)
{
	uint32_t giver = vm->host_ptr && c->suspends.givers ?
		c->suspends.givers[vm->host_ptr->index] : 0;

	if (vs_ledger_get(&c->ledger, n->name))
		return 0;
	if (vm->host_ptr && vs_host_wanted(c, vm->host_ptr))
		return vs_err_set(err, VS_E_BUSY, "host %s is to be empty",
				  vm->host_ptr->name);
	if (giver && giver != n->job)
		return vs_err_set(err, VS_E_BUSY,
				  "what is free on its host was made free for another job");
	return vs_hold_here(c, n, vm, err);
}

/* All or none: half a gang on its hosts is room that nobody has. */
bool vs_suspend_place(struct vs_core *c, struct vs_suspend *s, int64_t now_ms)
{
	struct vs_err err = { 0 };

	VS_EACH_OF_SUSPEND(c, s, n) {
		const struct vs_vm *vm = err.code == VS_OK ?
			vs_suspend_shown(c, n, VS_POWER_SUSPENDED) : NULL;

		if (vm && place(c, n, vm, &err) && err.code != VS_E_BUSY)
			vs_suspend_make_way(c, n, vm, now_ms);
	}
	if (err.code == VS_OK)
		return true;
	VS_EACH_OF_SUSPEND(c, s, n)
		if (vs_suspend_shown(c, n, VS_POWER_SUSPENDED))
			vs_hold_drop(c, n);
	vs_suspend_cannot(s, err.text);
	return false;
}

void vs_suspend_power_on(struct vs_core *c, struct vs_suspend *s,
			 int64_t now_ms)
{
	struct vs_err err = { 0 };

	if (now_ms < s->try_ms)
		return;
	VS_EACH_OF_SUSPEND(c, s, n) {
		const struct vs_vm *vm = vs_suspend_shown(c, n, VS_POWER_SUSPENDED);

		if (!vm)
			continue;
		if (place(c, n, vm, &err)) {
			vs_suspend_cannot(s, err.text);
			s->try_ms = now_ms + VS_SUSPEND_TRY_MS;
			return;
		}
		vs_op_at(c, n, VS_DO_RESUME,
			 vs_ledger_get(&c->ledger, n->name), now_ms);
	}
}
