/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two clocks. Rules: the loop reads them once per turn and hands now_ms
 * down; the monotonic one for deadlines, the wall clock for people only.
 * Never sleeps.
 */
#include <time.h>
#include "util/time.h"

static int64_t read_ms(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t vs_now_ms(void)
{
	return read_ms(CLOCK_MONOTONIC);
}

int64_t vs_wall_ms(void)
{
	return read_ms(CLOCK_REALTIME);
}
