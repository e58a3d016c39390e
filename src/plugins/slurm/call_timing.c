/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times of this thread, and where they are told. Nothing is told before the
 * core is there, which client commands never have.
 */
#include <stddef.h>
#include <time.h>
#include "call_timing.h"

/* As others felt it, and what of it was this thread's work: the rest it waited
 * for the core's lock or for a processor. */
struct span { int64_t wall_us, cpu_us; };

static const struct vs_core_api *told_to;
static __thread struct span locked, begun, others, others_from;
static __thread int depth;

static int64_t us_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

static struct span now(void)
{
	return (struct span) { us_of(CLOCK_MONOTONIC),
			       us_of(CLOCK_THREAD_CPUTIME_ID) };
}

static struct span since(struct span from)
{
	struct span n = now();

	return (struct span) { n.wall_us - from.wall_us,
			       n.cpu_us - from.cpu_us };
}

void vs_timed_to(const struct vs_core_api *core)
{
	__atomic_store_n(&told_to, core, __ATOMIC_RELEASE);
}

static void tell(enum vs_timed what, struct span s)
{
	const struct vs_core_api *core =
		__atomic_load_n(&told_to, __ATOMIC_ACQUIRE);

	if (core)
		core->timed(what, s.wall_us, s.cpu_us);
}

void vs_timed_locked(void)
{
	locked = now();
}

void vs_timed_unlocked(void)
{
	tell(VS_TIMED_LOCKS, since(locked));
}

void vs_timed_begin(void)
{
	if (depth++)
		return;
	begun = now();
	others = (struct span) { 0 };
}

void vs_timed_others_begin(void)
{
	others_from = now();
}

void vs_timed_others_end(void)
{
	struct span s = since(others_from);

	others.wall_us += s.wall_us;
	others.cpu_us += s.cpu_us;
	tell(VS_TIMED_STOCK, s);
}

void vs_timed_end(void)
{
	struct span s;

	if (--depth)
		return;
	s = since(begun);
	s.wall_us -= others.wall_us;
	s.cpu_us -= others.cpu_us;
	tell(VS_TIMED_CALLS, s);
}
