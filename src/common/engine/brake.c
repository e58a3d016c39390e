/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The brake: an emptied node list or a wrong file must not cost a site its
 * VMs. Whatever would switch off or destroy a VM without a job's own end, a
 * power-down of Slurm's or a rebuild that somebody waits for asks here first:
 * more than max(3, 5 %) of our VMs within ten minutes, and all such work stops
 * until an operator has looked (svf reconcile) and said so (--confirm).
 *
 * A VM is counted once, however many calls its end takes. A confirmation is for
 * the VMs that wait at that moment, not for those that come later.
 */
#include <stdio.h>
#include <string.h>
#include "engine/core_i.h"
#include "util/time.h"

#define MINUTE_MS (60 * 1000)

static int limit(const struct vs_core *c)
{
	int share = c->ours / 20;

	return share > 3 ? share : 3;
}

static int recent(const struct vs_brake *b, int64_t minute)
{
	int n = 0;

	for (int i = 0; i < VS_BRAKE_MINUTES; i++)
		if (b->slots[i].minute > minute - VS_BRAKE_MINUTES)
			n += b->slots[i].count;
	return n;
}

bool vs_brake_asks(struct vs_core *c, enum vs_braked *state, const char *vm)
{
	struct vs_brake *b = &c->brake;
	int64_t minute = vs_wall_ms() / MINUTE_MS;
	struct vs_brake_slot *slot = &b->slots[minute % VS_BRAKE_MINUTES];

	if (*state == VS_BRAKE_PASSED)
		return true;
	if (!b->on && recent(b, minute) < limit(c)) {
		if (slot->minute != minute)
			*slot = (struct vs_brake_slot){ .minute = minute };
		slot->count++;
		*state = VS_BRAKE_PASSED;
		c->hints_dirty = true;
		return true;
	}
	if (!b->on) {
		b->on = true;
		c->hints_dirty = true;
		vs_error("the brake is on: more than %d of %d VMs would be switched off or destroyed within 10 minutes outside of jobs' ends and power-downs, %s is the next: look with svf reconcile, go on with svf reconcile --confirm",
			 limit(c), c->ours, vm);
	}
	*state = VS_BRAKE_WAITS;
	return false;
}

/* What waits may go now. */
size_t vs_brake_confirm(struct vs_core *c)
{
	struct vs_orphan *o;
	size_t n = 0;

	for (size_t i = 0; i < c->nnodes; i++)
		if (c->nodes[i].braked == VS_BRAKE_WAITS) {
			c->nodes[i].braked = VS_BRAKE_PASSED;
			vs_node_touch(&c->nodes[i]);
			c->nodes[i].last_err.code = VS_OK;
			n++;
		}
	for (o = c->orphans; o; o = o->hh.next)
		if (o->braked == VS_BRAKE_WAITS) {
			o->braked = VS_BRAKE_PASSED;
			n++;
		}
	memset(&c->brake, 0, sizeof(c->brake));
	c->hints_dirty = true;
	vs_info("the brake is off: %zu VMs are confirmed", n);
	return n;
}
