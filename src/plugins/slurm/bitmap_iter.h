/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The set bits of a bitmap of nodes, in order. Slurm's releases have no common
 * way to the next one, and a job's few nodes among 10,000 are looked for while
 * slurmctld's locks are held: what is empty is skipped.
 */
#ifndef VS_PLUGINS_SLURM_BITMAP_ITER_H
#define VS_PLUGINS_SLURM_BITMAP_ITER_H

#include "compat.h"

#define VS_BITS_STRIDE 64

/* The first set bit from i on, else one behind `last`. */
static inline int vs_bit_from(bitstr_t *bits, int i, int last)
{
	while (i <= last && !bit_test(bits, i)) {
		i++;
		while (i % VS_BITS_STRIDE == 0 && i + VS_BITS_STRIDE <= last &&
		       !bit_set_count_range(bits, i, i + VS_BITS_STRIDE))
			i += VS_BITS_STRIDE;
	}
	return i;
}

/* How many from i on are set without a gap, a stride at the most; i is set. */
static inline int vs_bits_run(bitstr_t *bits, int i, int last)
{
	int end = i - i % VS_BITS_STRIDE + VS_BITS_STRIDE, n = 1;

	if (i % VS_BITS_STRIDE == 0 && end <= last &&
	    bit_set_count_range(bits, i, end) == VS_BITS_STRIDE)
		return VS_BITS_STRIDE;
	while (i + n < end && i + n <= last && bit_test(bits, i + n))
		n++;
	return n;
}

/* for each set bit i; bits is evaluated more than once */
#define VS_EACH_BIT(i, bits)						\
	for (int i = bit_ffs(bits), i##_last = bit_fls(bits);		\
	     i >= 0 && (i = vs_bit_from(bits, i, i##_last)) <= i##_last; i++)

/* NULL: of no bits. */
static inline bool vs_bits_has(const bitstr_t *bits, int i)
{
	return bits && bit_test((bitstr_t *)bits, i);
}

/* Clear n of them; what is left out is often neighbours. */
static inline void vs_bits_clear(bitstr_t *bitmap, const int *at, size_t n)
{
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && at[j] == at[j - 1] + 1; j++)
			;
		bit_nclear(bitmap, at[i], at[j - 1]);
	}
}

#endif
