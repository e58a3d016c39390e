/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Durations in slots that grow with them: below 8 us one slot for each, then
 * eight for each doubling. What is read while others add is a little old, and
 * never torn.
 */
#include "util/times.h"

#define STEPS 8			/* a power of two */

static int slot_of(int64_t us)
{
	int log2, slot;

	if (us < STEPS)
		return us < 0 ? 0 : (int)us;
	log2 = 63 - __builtin_clzll((unsigned long long)us);
	slot = (log2 - 2) * STEPS + (int)(us >> (log2 - 3)) % STEPS;
	return slot < VS_TIMES_SLOTS ? slot : VS_TIMES_SLOTS - 1;
}

/* The longest that goes there. */
static int64_t most_of(int slot)
{
	int log2 = slot / STEPS + 2;

	if (slot < STEPS)
		return slot;
	return (((int64_t)slot % STEPS + STEPS + 1) << (log2 - 3)) - 1;
}

void vs_times_add(struct vs_times *t, int64_t us)
{
	int_fast64_t worst = atomic_load(&t->worst_us);

	atomic_fetch_add(&t->slots[slot_of(us)], 1);
	atomic_fetch_add(&t->count, 1);
	atomic_fetch_add(&t->sum_us, us > 0 ? us : 0);
	while (us > worst &&
	       !atomic_compare_exchange_weak(&t->worst_us, &worst, us))
		;
}

int64_t vs_times_quantile(struct vs_times *t, int permille)
{
	uint_fast64_t count = atomic_load(&t->count), sum = 0;
	uint_fast64_t want = (count * (uint_fast64_t)permille + 999) / 1000;
	int64_t worst = atomic_load(&t->worst_us);

	if (!count)
		return 0;
	for (int i = 0; i < VS_TIMES_SLOTS - 1; i++) {
		sum += atomic_load(&t->slots[i]);
		if (sum >= want)
			return most_of(i) < worst ? most_of(i) : worst;
	}
	return worst;
}

uint64_t vs_times_below(struct vs_times *t, int log2)
{
	int end = (log2 - 2) * STEPS;	/* slots begin at powers of two */
	uint64_t sum = 0;

	for (int i = 0; i < end && i < VS_TIMES_SLOTS; i++)
		sum += atomic_load(&t->slots[i]);
	return sum;
}
