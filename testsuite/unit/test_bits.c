/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The set bits of a bitmap, found without a look at each bit: against a look at
 * each bit. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "plugins/slurm/bitmap_iter.h"

#define SIZE 700		/* no multiple of a stride */

/* Both walks meet the same bits in the same order. */
static void walks_agree(bitstr_t *bits)
{
	int next = 0, count = 0;

	VS_EACH_BIT(i, bits) {
		for (; next < i; next++)
			assert_false(bit_test(bits, next));
		assert_int_equal(i, next++);
		assert_true(bit_test(bits, i));
		count++;
	}
	assert_int_equal(count, bit_set_count(bits));
	count = 0;
	VS_EACH_BIT(first, bits) {
		int n = vs_bits_run(bits, first, first_last);

		assert_true(n >= 1);
		assert_int_equal(n, bit_set_count_range(bits, first,
							first + n));
		count += n;
		first += n - 1;
	}
	assert_int_equal(count, bit_set_count(bits));
}

static void patterns_agree(int size)
{
	bitstr_t *bits = bit_alloc(size);

	walks_agree(bits);
	for (int every = 1; every <= 300; every++) {
		for (int off = 0; off < every; off += 1 + every / 4) {
			bit_clear_all(bits);
			for (int i = off; i < size; i += every)
				bit_set(bits, i);
			walks_agree(bits);
			bit_not(bits);
			walks_agree(bits);
		}
	}
	FREE_NULL_BITMAP(bits);
}

static void every_set_bit_is_met_once_and_in_order(void **state)
{
	(void)state;
	patterns_agree(SIZE);
	patterns_agree(640);
	patterns_agree(1);
}

/* From each first to each last bit, across the edges of strides. */
static void runs_of_any_length_are_met_whole(void **state)
{
	(void)state;
	for (int from = 0; from < SIZE; from += 7) {
		for (int to = from; to < SIZE; to += 13) {
			bitstr_t *bits = bit_alloc(SIZE);

			bit_nset(bits, from, to);
			walks_agree(bits);
			FREE_NULL_BITMAP(bits);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_set_bit_is_met_once_and_in_order),
		cmocka_unit_test(runs_of_any_length_are_met_whole),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
