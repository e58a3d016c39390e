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

#define OFF_ROW(when_none, when_instant, want_gone)			\
	[VS_SEEN_UNKNOWN] = VS_DO_WAIT,					\
	[VS_SEEN_BUSY] = VS_DO_WAIT,					\
	[VS_SEEN_NONE] = when_none,					\
	[VS_SEEN_NONE_INSTANT] = when_instant,				\
	[VS_SEEN_OFF] = want_gone,					\
	[VS_SEEN_OFF_ELSEWHERE] = want_gone,				\
	[VS_SEEN_OFF_OTHER] = want_gone,				\
	[VS_SEEN_OFF_STALE] = want_gone,				\
	[VS_SEEN_ON] = VS_DO_SHUTDOWN,					\
	[VS_SEEN_ON_WRONG] = VS_DO_SHUTDOWN,				\
	[VS_SEEN_SUSPENDED] = VS_DO_SHUTDOWN,				\
	[VS_SEEN_ALIEN] = VS_DO_NOTHING

#define BUILD_ROW(when_instant, when_off, when_on, when_wrong)		\
	[VS_SEEN_UNKNOWN] = VS_DO_WAIT,					\
	[VS_SEEN_BUSY] = VS_DO_WAIT,					\
	[VS_SEEN_NONE] = VS_DO_CLONE,					\
	[VS_SEEN_NONE_INSTANT] = when_instant,				\
	[VS_SEEN_OFF] = when_off,					\
	[VS_SEEN_OFF_ELSEWHERE] = VS_DO_RELOCATE,			\
	[VS_SEEN_OFF_OTHER] = VS_DO_RECONFIGURE,			\
	[VS_SEEN_OFF_STALE] = VS_DO_DESTROY,				\
	[VS_SEEN_ON] = when_on,						\
	[VS_SEEN_ON_WRONG] = when_wrong,				\
	[VS_SEEN_SUSPENDED] = VS_DO_SHUTDOWN,				\
	[VS_SEEN_ALIEN] = VS_DO_REPORT

static const enum vs_action table[VS_WANTS][VS_SEENS] = {
	[VS_WANT_OFF] = { OFF_ROW(VS_DO_NOTHING, VS_DO_NOTHING,
				  VS_DO_NOTHING) },
	[VS_WANT_GONE] = { OFF_ROW(VS_DO_NOTHING, VS_DO_NOTHING,
				   VS_DO_DESTROY) },
	/* The settings that differ are fixed for the next job. */
	[VS_WANT_AHEAD] = { OFF_ROW(VS_DO_CLONE, VS_DO_NOTHING,
				    VS_DO_NOTHING) },
	/* POWERED_DOWN with a VM still on: it is dying, or must. An instant
	 * clone would be on before Slurm asks for a boot: it can't be made
	 * yet, its parent can. */
	[VS_WANT_READY] = { BUILD_ROW(VS_DO_PREPARE, VS_DO_NOTHING,
				      VS_DO_SHUTDOWN, VS_DO_SHUTDOWN) },
	/* POWERING_UP: Slurm expects a boot, so that a wrong VM may go down
	 * and come back. */
	[VS_WANT_ON] = { BUILD_ROW(VS_DO_INSTANT, VS_DO_POWER_ON,
				   VS_DO_NOTHING, VS_DO_SHUTDOWN) },
	[VS_WANT_RENEW] = { BUILD_ROW(VS_DO_INSTANT, VS_DO_POWER_ON,
				      VS_DO_SHUTDOWN, VS_DO_SHUTDOWN) },
	/* Jobs may run: a VM that isn't on has vanished under them. Only code
	 * that knows the jobs can decide. */
	[VS_WANT_KEEP] = {
		[VS_SEEN_UNKNOWN] = VS_DO_WAIT,
		[VS_SEEN_BUSY] = VS_DO_WAIT,
		[VS_SEEN_NONE] = VS_DO_REPORT,
		[VS_SEEN_NONE_INSTANT] = VS_DO_REPORT,
		[VS_SEEN_OFF] = VS_DO_REPORT,
		[VS_SEEN_OFF_ELSEWHERE] = VS_DO_REPORT,
		[VS_SEEN_OFF_OTHER] = VS_DO_REPORT,
		[VS_SEEN_OFF_STALE] = VS_DO_REPORT,
		[VS_SEEN_ON] = VS_DO_NOTHING,
		[VS_SEEN_ON_WRONG] = VS_DO_NOTHING,
		/* by an administrator, who resumes it too */
		[VS_SEEN_SUSPENDED] = VS_DO_NOTHING,
		[VS_SEEN_ALIEN] = VS_DO_REPORT,
	},
};

static const char *const wanted_names[] = {
	[VS_WANT_OFF] = "off", [VS_WANT_GONE] = "gone",
	[VS_WANT_AHEAD] = "ahead", [VS_WANT_READY] = "ready", [VS_WANT_ON] = "on",
	[VS_WANT_KEEP] = "keep", [VS_WANT_RENEW] = "renew",
};
static const char *const seen_names[] = {
	[VS_SEEN_UNKNOWN] = "unknown", [VS_SEEN_BUSY] = "busy",
	[VS_SEEN_NONE] = "none", [VS_SEEN_NONE_INSTANT] = "none-instant",
	[VS_SEEN_OFF] = "off",
	[VS_SEEN_OFF_ELSEWHERE] = "off-elsewhere",
	[VS_SEEN_OFF_OTHER] = "off-other", [VS_SEEN_OFF_STALE] = "off-stale",
	[VS_SEEN_ON] = "on", [VS_SEEN_ON_WRONG] = "on-wrong",
	[VS_SEEN_SUSPENDED] = "suspended", [VS_SEEN_ALIEN] = "alien",
};
static const char *const action_names[] = {
	[VS_DO_NOTHING] = "nothing", [VS_DO_WAIT] = "wait",
	[VS_DO_CLONE] = "clone", [VS_DO_PREPARE] = "prepare",
	[VS_DO_INSTANT] = "instant-clone", [VS_DO_RELOCATE] = "relocate",
	[VS_DO_RECONFIGURE] = "reconfigure", [VS_DO_POWER_ON] = "power-on",
	[VS_DO_SHUTDOWN] = "shutdown", [VS_DO_DESTROY] = "destroy",
	[VS_DO_REPORT] = "report",
};
_Static_assert(VS_COUNT(wanted_names) == VS_WANTS, "a wish has no name");
_Static_assert(VS_COUNT(seen_names) == VS_SEENS, "a sight has no name");
_Static_assert(VS_COUNT(action_names) == VS_ACTIONS, "an action has no name");

enum vs_action vs_step(enum vs_wanted wanted, enum vs_seen seen)
{
	if ((unsigned int)wanted >= VS_WANTS || (unsigned int)seen >= VS_SEENS)
		return VS_DO_WAIT;
	return table[wanted][seen];
}

const char *vs_wanted_name(enum vs_wanted w)
{
	return (unsigned int)w < VS_WANTS ? wanted_names[w] : "?";
}

const char *vs_seen_name(enum vs_seen s)
{
	return (unsigned int)s < VS_SEENS ? seen_names[s] : "?";
}

const char *vs_action_name(enum vs_action a)
{
	return (unsigned int)a < VS_ACTIONS ? action_names[a] : "?";
}
