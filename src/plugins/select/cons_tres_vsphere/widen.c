/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For `sbatch --test-only` Slurm offers a job that names nodes (-w) these alone,
 * though it may want more: then it says that the job can never run, which is
 * wrong. It gets the nodes that the real job would be offered.
 *
 * Only where the answer would be a certain "no" otherwise. Several partitions
 * and reservations are left to Slurm: what they allow isn't looked at here.
 */
#include "widen.h"

static bool as_a_test_only(const struct vs_test *t, const bitstr_t *bitmap)
{
	const job_record_t *job_ptr = t->job_ptr;
	bitstr_t *named = vs_named(t);

	return named && !(job_ptr->bit_flags & BACKFILL_TEST) &&
		(uint32_t)bit_set_count((bitstr_t *)bitmap) < t->min &&
		bit_super_set((bitstr_t *)bitmap, named);
}

void vs_widen(const struct vs_test *t, bitstr_t *bitmap)
{
	job_record_t *job_ptr = t->job_ptr;
	part_record_t *part_ptr = job_ptr->part_ptr;
	bitstr_t *all;

	if (!as_a_test_only(t, bitmap) || job_ptr->part_ptr_list || !part_ptr ||
	    !part_ptr->node_bitmap || (resv_list && list_count(resv_list)))
		return;
	all = bit_copy(part_ptr->node_bitmap);
	bit_and(all, avail_node_bitmap);
	if (job_ptr->details->exc_node_bitmap)
		bit_and_not(all, job_ptr->details->exc_node_bitmap);
	if (!job_req_node_filter(job_ptr, all, true))
		bit_or(bitmap, all);
	FREE_NULL_BITMAP(all);
}
