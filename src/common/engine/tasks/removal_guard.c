/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The brake: an emptied node list or a wrong file must not cost a site its
 * VMs. Whatever would switch off or destroy a VM without a job's own end, a
 * power-down of Slurm's or a rebuild that somebody waits for asks here first:
 * more than max(3, 5 %) of our VMs within ten minutes, and all such work stops
 * until an operator has looked (svf reconcile) and said so (--confirm).
 *
 * A VM is counted once, however many calls its end takes, and however often
 * slurmctld starts meanwhile (state_file.c). A confirmation is for the VMs that wait
 * at that moment, not for those that come later. A power-down that Slurm asked
 * for before a restart is Slurm's word after it, too, for the power-off alone; and
 * if its VM is gone then, it went for that, and is not missed (missing_vm.c).
 */
#include <stdlib.h>
#include <string.h>
#include "engine/state/core_i.h"
#include "util/mem.h"
#include "util/time.h"

#define MINUTE_MS (60 * 1000)

static int limit(const struct vs_core *c)
{
	int share = c->ours / 20;

	return share > 3 ? share : 3;
}

void vs_brake_count(struct vs_brake *b, const char *vm, int64_t minute,
		    bool confirmed)
{
	struct vs_brake_end *e;

	HASH_FIND_STR(b->ends, vm, e);
	if (!e) {
		e = vs_calloc(1, sizeof(*e));
		vs_strlcpy(e->vm, vm, sizeof(e->vm));
		HASH_ADD_STR(b->ends, vm, e);
	}
	e->minute = minute;
	e->confirmed = confirmed;
}

/* Of the last ten minutes, by a clock that was not set back. */
static bool is_recent(int64_t then, int64_t minute)
{
	return then <= minute && then > minute - VS_BRAKE_MINUTES;
}

/* How many recent ones no operator has confirmed; the others are forgotten. */
static int recent(struct vs_brake *b, int64_t minute)
{
	struct vs_brake_end *e, *tmp;
	int n = 0;

	HASH_ITER(hh, b->ends, e, tmp) {
		if (!is_recent(e->minute, minute)) {
			HASH_DEL(b->ends, e);
			free(e);
		} else if (!e->confirmed) {
			n++;
		}
	}
	return n;
}

void vs_brake_release(struct vs_brake *b)
{
	struct vs_brake_end *e, *tmp;

	HASH_ITER(hh, b->ends, e, tmp) {
		HASH_DEL(b->ends, e);
		free(e);
	}
	b->on = false;
}

static void asked_forget(struct vs_brake *b, struct vs_brake_asked *a)
{
	HASH_DEL(b->asked, a);
	free(a);
}

void vs_brake_clear(struct vs_brake *b)
{
	struct vs_brake_asked *a, *tmp;

	vs_brake_release(b);
	HASH_ITER(hh, b->asked, a, tmp)
		asked_forget(b, a);
	b->asked_minute = 0;
}

/* ---- what Slurm has asked for ----------------------------------------------- */

void vs_brake_asked_at(struct vs_brake *b, const char *node, const char *vm,
		       int64_t minute)
{
	struct vs_brake_asked *a;

	HASH_FIND_STR(b->asked, node, a);
	if (!a) {
		a = vs_calloc(1, sizeof(*a));
		vs_strlcpy(a->node, node, sizeof(a->node));
		HASH_ADD_STR(b->asked, node, a);
	}
	vs_strlcpy(a->vm, vm, sizeof(a->vm));
	a->minute = minute;
}

bool vs_brake_was_asked(const struct vs_brake *b, const char *node,
			const char *vm)
{
	struct vs_brake_asked *a;

	HASH_FIND_STR(b->asked, node, a);
	return a && (!vm || !strcmp(a->vm, vm)) &&
		is_recent(a->minute, vs_wall_ms() / MINUTE_MS);
}

/* Once a minute. */
static void asked_expire(struct vs_brake *b, int64_t minute)
{
	struct vs_brake_asked *a, *tmp;

	if (minute == b->asked_minute)
		return;
	b->asked_minute = minute;
	HASH_ITER(hh, b->asked, a, tmp)
		if (!is_recent(a->minute, minute))
			asked_forget(b, a);
}

void vs_brake_asked(struct vs_core *c, const char *node, const char *vm,
		    bool ends)
{
	struct vs_brake *b = &c->brake;
	struct vs_brake_asked *a;
	int64_t minute;

	if (!b->asked && !ends)
		return;			/* nearly always, for each node in use */
	minute = vs_wall_ms() / MINUTE_MS;
	asked_expire(b, minute);
	HASH_FIND_STR(b->asked, node, a);
	if (ends ? a && !strcmp(a->vm, vm) : !a)
		return;
	if (ends)
		vs_brake_asked_at(b, node, vm, minute);
	else
		asked_forget(b, a);
	c->hints_dirty = true;
}

/* ---- what neither Slurm nor an operator asks for ----------------------------- */

bool vs_brake_asks(struct vs_core *c, enum vs_braked *state, const char *vm,
		   const char *name)
{
	struct vs_brake *b = &c->brake;
	int64_t minute = vs_wall_ms() / MINUTE_MS;
	struct vs_brake_end *e;
	int n;

	if (*state == VS_BRAKE_PASSED)
		return true;
	if (b->on && *state == VS_BRAKE_WAITS)
		return false;		/* asked again in each pass */
	n = recent(b, minute);
	HASH_FIND_STR(b->ends, vm, e);
	if (e || (!b->on && n < limit(c))) {
		vs_brake_count(b, vm, minute, e && e->confirmed);
		*state = VS_BRAKE_PASSED;
		c->hints_dirty = true;
		return true;
	}
	if (!b->on) {
		b->on = true;
		c->hints_dirty = true;
		vs_error("the brake is on: more than %d of %d VMs would be switched off or destroyed within 10 minutes outside of jobs' ends and power-downs, %s is the next: look with svf reconcile, go on with svf reconcile --confirm",
			 limit(c), c->ours, name);
	}
	*state = VS_BRAKE_WAITS;
	return false;
}
