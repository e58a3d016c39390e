/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The step table: wanted x seen -> the next action.
 *
 * Rules: every pair has its own entry; one step at a time, each of which
 * changes what is seen next; unknown means touch nothing. A VM that runs
 * under a node that Slurm believes up is never disturbed but for RENEW, of
 * which Slurm has been told. Never destroys what isn't off.
 */
#include "plan/reconcile/next_action.h"
#include "util/mem.h"

#define OFF_ROW(when_none, when_instant, want_gone)                            \
	[VS_OBSERVED_UNKNOWN] = VS_DO_WAIT, [VS_OBSERVED_BUSY] = VS_DO_WAIT,   \
	[VS_OBSERVED_NONE] = when_none,                                        \
	[VS_OBSERVED_NONE_INSTANT] = when_instant,                             \
	[VS_OBSERVED_OFF] = want_gone,                                         \
	[VS_OBSERVED_OFF_ELSEWHERE] = want_gone,                               \
	[VS_OBSERVED_OFF_OTHER] = want_gone,                                   \
	[VS_OBSERVED_OFF_STALE] = want_gone,                                   \
	[VS_OBSERVED_ON] = VS_DO_SHUTDOWN,                                     \
	[VS_OBSERVED_ON_WRONG] = VS_DO_SHUTDOWN,                               \
	[VS_OBSERVED_SUSPENDED] = VS_DO_SHUTDOWN,                              \
	[VS_OBSERVED_FOREIGN] = VS_DO_NOTHING

#define BUILD_ROW(when_instant, when_off, when_on, when_wrong)                 \
	[VS_OBSERVED_UNKNOWN] = VS_DO_WAIT, [VS_OBSERVED_BUSY] = VS_DO_WAIT,   \
	[VS_OBSERVED_NONE] = VS_DO_CLONE,                                      \
	[VS_OBSERVED_NONE_INSTANT] = when_instant,                             \
	[VS_OBSERVED_OFF] = when_off,                                          \
	[VS_OBSERVED_OFF_ELSEWHERE] = VS_DO_RELOCATE,                          \
	[VS_OBSERVED_OFF_OTHER] = VS_DO_RECONFIGURE,                           \
	[VS_OBSERVED_OFF_STALE] = VS_DO_DESTROY, [VS_OBSERVED_ON] = when_on,   \
	[VS_OBSERVED_ON_WRONG] = when_wrong,                                   \
	[VS_OBSERVED_SUSPENDED] = VS_DO_SHUTDOWN,                              \
	[VS_OBSERVED_FOREIGN] = VS_DO_REPORT

static const enum vs_action table[VS_WANTS][VS_SEENS] = {
	[VS_DESIRED_OFF] = { OFF_ROW(VS_DO_NOTHING, VS_DO_NOTHING,
				     VS_DO_NOTHING) },
	[VS_DESIRED_GONE] = { OFF_ROW(VS_DO_NOTHING, VS_DO_NOTHING,
				      VS_DO_DESTROY) },
	/* The settings that differ are fixed for the next job. */
	[VS_DESIRED_AHEAD] = { OFF_ROW(VS_DO_CLONE, VS_DO_NOTHING,
				       VS_DO_NOTHING) },
	/* POWERED_DOWN with a VM still on: it is dying, or must. An instant
	 * clone would be on before Slurm asks for a boot: it can't be made
	 * yet, its parent can. */
	[VS_DESIRED_READY] = { BUILD_ROW(VS_DO_PREPARE, VS_DO_NOTHING,
					 VS_DO_SHUTDOWN, VS_DO_SHUTDOWN) },
	/* POWERING_UP: Slurm expects a boot, so that a wrong VM may go down
	 * and come back. */
	[VS_DESIRED_ON] = { BUILD_ROW(VS_DO_INSTANT, VS_DO_POWER_ON,
				      VS_DO_NOTHING, VS_DO_SHUTDOWN) },
	[VS_DESIRED_RENEW] = { BUILD_ROW(VS_DO_INSTANT, VS_DO_POWER_ON,
					 VS_DO_SHUTDOWN, VS_DO_SHUTDOWN) },
	/* Jobs may run: a VM that isn't on has vanished under them. Only code
	 * that knows the jobs can decide. */
	[VS_DESIRED_KEEP] = {
		[VS_OBSERVED_UNKNOWN] = VS_DO_WAIT,
		[VS_OBSERVED_BUSY] = VS_DO_WAIT,
		[VS_OBSERVED_NONE] = VS_DO_REPORT,
		[VS_OBSERVED_NONE_INSTANT] = VS_DO_REPORT,
		[VS_OBSERVED_OFF] = VS_DO_REPORT,
		[VS_OBSERVED_OFF_ELSEWHERE] = VS_DO_REPORT,
		[VS_OBSERVED_OFF_OTHER] = VS_DO_REPORT,
		[VS_OBSERVED_OFF_STALE] = VS_DO_REPORT,
		[VS_OBSERVED_ON] = VS_DO_NOTHING,
		[VS_OBSERVED_ON_WRONG] = VS_DO_NOTHING,
		/* by an administrator, who resumes it too */
		[VS_OBSERVED_SUSPENDED] = VS_DO_NOTHING,
		[VS_OBSERVED_FOREIGN] = VS_DO_REPORT,
	},
};

static const char *const wanted_names[] = {
	[VS_DESIRED_OFF] = "off",     [VS_DESIRED_GONE] = "gone",
	[VS_DESIRED_AHEAD] = "ahead", [VS_DESIRED_READY] = "ready",
	[VS_DESIRED_ON] = "on",	      [VS_DESIRED_KEEP] = "keep",
	[VS_DESIRED_RENEW] = "renew",
};
static const char *const seen_names[] = {
	[VS_OBSERVED_UNKNOWN] = "unknown",
	[VS_OBSERVED_BUSY] = "busy",
	[VS_OBSERVED_NONE] = "none",
	[VS_OBSERVED_NONE_INSTANT] = "none-instant",
	[VS_OBSERVED_OFF] = "off",
	[VS_OBSERVED_OFF_ELSEWHERE] = "off-elsewhere",
	[VS_OBSERVED_OFF_OTHER] = "off-other",
	[VS_OBSERVED_OFF_STALE] = "off-stale",
	[VS_OBSERVED_ON] = "on",
	[VS_OBSERVED_ON_WRONG] = "on-wrong",
	[VS_OBSERVED_SUSPENDED] = "suspended",
	[VS_OBSERVED_FOREIGN] = "alien",
};
static const char *const action_names[] = {
	[VS_DO_NOTHING] = "nothing", [VS_DO_WAIT] = "wait",
	[VS_DO_CLONE] = "clone", [VS_DO_PREPARE] = "prepare",
	[VS_DO_INSTANT] = "instant-clone", [VS_DO_RELOCATE] = "relocate",
	[VS_DO_RECONFIGURE] = "reconfigure", [VS_DO_POWER_ON] = "power-on",
	[VS_DO_SHUTDOWN] = "shutdown", [VS_DO_DESTROY] = "destroy",
	[VS_DO_REPORT] = "report",
};
_Static_assert(VS_COUNT(wanted_names) == VS_WANTS, "a desired state has no name");
_Static_assert(VS_COUNT(seen_names) == VS_SEENS, "an observed state has no name");
_Static_assert(VS_COUNT(action_names) == VS_ACTIONS, "an action has no name");

enum vs_action vs_next_action(enum vs_desired wanted, enum vs_observed seen)
{
	if ((unsigned int)wanted >= VS_WANTS || (unsigned int)seen >= VS_SEENS)
		return VS_DO_WAIT;
	return table[wanted][seen];
}

const char *vs_desired_name(enum vs_desired w)
{
	return (unsigned int)w < VS_WANTS ? wanted_names[w] : "?";
}

const char *vs_observed_name(enum vs_observed s)
{
	return (unsigned int)s < VS_SEENS ? seen_names[s] : "?";
}

const char *vs_action_name(enum vs_action a)
{
	return (unsigned int)a < VS_ACTIONS ? action_names[a] : "?";
}
