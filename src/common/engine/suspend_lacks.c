/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What keeps a suspended job that no room on hosts would help: a VM of it that is
 * gone, off, or on a host that isn't reached; a resume that fails and fails; and
 * vCenter, when it goes away between the word that stops a job and its suspend.
 *
 * Rules: a job goes on with all its VMs or not at all. A VM that is gone or off
 * explains no silence (suspend_say.c): Slurm sets its node DOWN and ends the job,
 * as any other's. For a host that may come back, and for resumes that may yet
 * succeed, the silence of all is explained for a while, and no longer: then, too,
 * it is Slurm's verdict. A job of which no VM is suspended needs none of this: its
 * slurmds answer, or they don't. The lock is held.
 */
#include <stdio.h>
#include "engine/core_i.h"

#define LOST_MS (30 * 60 * 1000)	/* a host's repair, a boot of vCenter's */
#define FAILS_MS (10 * 60 * 1000)
#define AWAY_MS 10000			/* processes stand, and nothing comes */
#define ASK_AWAY_MS 60000		/* a call may be under way */

/* In words for people; false: nothing is wrong with it. */
static bool lacks(struct vs_core *c, const struct vs_node *n, char *why,
		  size_t size)
{
	const struct vs_vm *vm = vs_node_vm(c, n);

	if (!vm || n->missing)
		snprintf(why, size, "vCenter shows no VM of %s", n->name);
	else if (!vm->connected || !vm->readable)
		snprintf(why, size, "%s's VM on host %s isn't within reach",
			 n->name, vm->host_ptr ? vm->host_ptr->name : "?");
	else if (vm->power != VS_POWER_ON && vm->power != VS_POWER_SUSPENDED)
		snprintf(why, size, "%s's VM is off", n->name);
	else
		return false;
	return true;
}

bool vs_suspend_lacks(struct vs_core *c, struct vs_suspend *s, int64_t now_ms)
{
	char why[sizeof(s->why)];

	VS_EACH_OF_SUSPEND(c, s, n) {
		if (!lacks(c, n, why, sizeof(why)))
			continue;
		vs_suspend_cannot(s, why);
		s->lacks_ms = s->lacks_ms ? s->lacks_ms : now_ms;
		return true;
	}
	if (s->lacks_ms)
		s->why[0] = '\0';
	s->lacks_ms = 0;
	return false;
}

bool vs_suspend_none(struct vs_core *c, const struct vs_suspend *s)
{
	VS_EACH_OF_SUSPEND(c, s, n) {
		const struct vs_vm *vm = vs_node_vm(c, n);

		if (vm && vm->power == VS_POWER_SUSPENDED)
			return false;
	}
	return true;
}

void vs_suspend_judge(struct vs_suspend *s, int64_t now_ms)
{
	bool lost;

	if (s->on > s->was_on)
		s->fails_ms = 0;
	if (s->busy)
		return;		/* it may yet succeed */
	lost = (s->lacks_ms && now_ms - s->lacks_ms >= LOST_MS) ||
	       (s->fails_ms && now_ms - s->fails_ms >= FAILS_MS);

	if (lost && !s->lost)
		vs_error("JobId=%u its VMs can't be resumed (%s): what becomes of it is Slurm's to say, after SlurmdTimeout",
			 s->job, s->why);
	s->lost = lost;
}

/* Nobody acts, but a job whose VMs are on may go on. */
static bool rests(const struct vs_core *c)
{
	return !c->loaded || c->blocked[0] || c->observe;
}

/*
 * A job that was told to stop and of which no call was sent has its VMs, whatever
 * vCenter is doing, and whatever we may not: it runs on in them. Where calls were,
 * its slurmds say it.
 */
void vs_suspends_away(struct vs_core *c, int64_t now_ms)
{
	if (!rests(c))
		return;
	VS_EACH_SUSPEND(c, s) {
		/* nor can the other one begin meanwhile */
		if (s->state == VS_SUSPEND_IS)
			s->since_ms = now_ms;
		if (s->state != VS_SUSPEND_HEEDS ||
		    now_ms - s->since_ms < AWAY_MS)
			continue;
		vs_info("JobId=%u isn't suspended: %s", s->job,
			c->loaded ? "nothing is done now" : "vCenter is away");
		s->back = true;
		vs_suspend_state(s, VS_SUSPEND_WAKES, now_ms);
	}
}

bool vs_suspend_asks_away(const struct vs_core *c, const struct vs_suspend *s,
			  int64_t now_ms)
{
	return !c->loaded && s->state == VS_SUSPEND_GOES &&
	       now_ms - s->since_ms >= ASK_AWAY_MS;
}
