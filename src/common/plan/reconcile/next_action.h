/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The step table: what is wanted of a node's VM x what vCenter shows of it
 * gives the next action. Pure data; a pair that is not in the table is a bug
 * and a failing test. Owns nothing, takes no lock.
 */
#ifndef VS_PLAN_NEXT_ACTION_H
#define VS_PLAN_NEXT_ACTION_H

#include <stdbool.h>

enum vs_desired {
	VS_DESIRED_OFF,		/* node powered down or powering down, VM kept */
	VS_DESIRED_GONE, /* the same, VM not kept (Retention, job's end) */
	VS_DESIRED_READY,	/* allocated, Slurm hasn't asked for power yet:
				 * build and configure it, keep it off */
	VS_DESIRED_ON,		/* POWERING_UP: boot it */
	VS_DESIRED_KEEP, /* up (idle or with jobs): leave it as it runs */
	VS_DESIRED_AHEAD,	/* powered down, a job is planned on it: build
				 * it where there is none, keep it off */
	VS_DESIRED_RENEW,	/* up, but the claim needs another VM or host:
				 * safe rebuild (slurmctld was told) */
	VS_WANTS
};

enum vs_observed {
	VS_OBSERVED_UNKNOWN,	/* unreadable, host away, vCenter away */
	VS_OBSERVED_BUSY, /* a task is running on it, our own or another */
	VS_OBSERVED_NONE,		/* no VM of that name in our folder */
	VS_OBSERVED_NONE_INSTANT, /* the same, and the one that is made comes on
				 * at once: an instant clone */
	VS_OBSERVED_OFF,	/* managed, off, right profile, right host */
	VS_OBSERVED_OFF_ELSEWHERE, /* right profile, other host than the hold's */
	VS_OBSERVED_OFF_OTHER,	/* same template, other settings */
	VS_OBSERVED_OFF_STALE,	/* other template (version): rebuild */
	VS_OBSERVED_ON,		/* on, right profile */
	VS_OBSERVED_ON_WRONG,	/* on, wrong profile, host or NIC */
	VS_OBSERVED_SUSPENDED,	/* managed, its guest's memory in a file */
	VS_OBSERVED_FOREIGN, /* the name is taken by a foreign or suspect VM */
	VS_SEENS
};

enum vs_action {
	VS_DO_NOTHING,		/* as it should be */
	VS_DO_WAIT,		/* something is under way */
	VS_DO_CLONE,
	VS_DO_PREPARE,		/* see to a parent for its instant clone */
	VS_DO_INSTANT,		/* clone it, and it is on */
	VS_DO_RELOCATE,
	VS_DO_RECONFIGURE,
	VS_DO_POWER_ON,
	VS_DO_SHUTDOWN,		/* guest first, power off after a grace time */
	VS_DO_DESTROY,
	VS_DO_REPORT,		/* slurm-vsphere cannot fix it: report it */
	VS_ACTIONS
};

enum vs_action vs_next_action(enum vs_desired wanted, enum vs_observed seen);
/* There is none, however it would be made. */
static inline bool vs_observed_none(enum vs_observed s)
{
	return s == VS_OBSERVED_NONE || s == VS_OBSERVED_NONE_INSTANT;
}
/* What becomes of a job in it can't be told. */
static inline bool vs_observed_unsure(enum vs_observed s)
{
	return s == VS_OBSERVED_UNKNOWN || s == VS_OBSERVED_SUSPENDED;
}
const char *vs_desired_name(enum vs_desired w);
const char *vs_observed_name(enum vs_observed s);
const char *vs_action_name(enum vs_action a);

#endif
