/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times of this thread, and where they are told. Nothing is told before the
 * core is there, which client commands never have.
 */
#include <stddef.h>
#include <time.h>
#include "timed.h"

static const struct vs_core_api *told_to;
static __thread int64_t locked_us, begun_us, others_us, others_from_us;
static __thread int depth;

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

void vs_timed_to(const struct vs_core_api *core)
{
	__atomic_store_n(&told_to, core, __ATOMIC_RELEASE);
}

static void tell(enum vs_timed what, int64_t us)
{
	const struct vs_core_api *core =
		__atomic_load_n(&told_to, __ATOMIC_ACQUIRE);

	if (core)
		core->timed(what, us);
}

void vs_timed_locked(void)
{
	locked_us = now_us();
}

void vs_timed_unlocked(void)
{
	tell(VS_TIMED_LOCKS, now_us() - locked_us);
}

void vs_timed_begin(void)
{
	if (depth++)
		return;
	begun_us = now_us();
	others_us = 0;
}

void vs_timed_others_begin(void)
{
	others_from_us = now_us();
}

void vs_timed_others_end(void)
{
	others_us += now_us() - others_from_us;
}

void vs_timed_end(void)
{
	if (!--depth)
		tell(VS_TIMED_CALLS, now_us() - begun_us - others_us);
}
