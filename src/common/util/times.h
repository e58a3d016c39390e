/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long something took, many times: a histogram that any thread adds to
 * without a lock, and that answers within an eighth of the value.
 */
#ifndef VS_UTIL_TIMES_H
#define VS_UTIL_TIMES_H

#include <stdatomic.h>
#include <stdint.h>

#define VS_TIMES_SLOTS 256

struct vs_times {
	atomic_uint_fast64_t slots[VS_TIMES_SLOTS], count;
	atomic_int_fast64_t worst_us, sum_us;
};

void vs_times_add(struct vs_times *t, int64_t us);
/* The time that so many of a thousand did not exceed; 0 if there is none. */
int64_t vs_times_quantile(struct vs_times *t, int permille);
/* How many took less than 1 << log2 us, 3 <= log2 <= 30. */
uint64_t vs_times_below(struct vs_times *t, int log2);

#endif
