/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `sbatch --test-only -w`: of a job that names fewer nodes than it wants Slurm
 * offers the named ones alone.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "select_stage.h"

static part_record_t part;

/* The job wants node 5, and Slurm offers it alone; its partition has all but
 * node 6. */
static int stage(void **state)
{
	stage_up(state);
	memset(&part, 0, sizeof(part));
	part.node_bitmap = bit_copy(bits);
	bit_clear(part.node_bitmap, 6);
	job.part_ptr = &part;
	require("5");
	bit_clear_all(bits);
	bit_set(bits, 5);
	return 0;
}

static int unstage(void **state)
{
	FREE_NULL_BITMAP(part.node_bitmap);
	return stage_down(state);
}

static int will_run(uint32_t n)
{
	return ask(SELECT_MODE_WILL_RUN, n, n, n);
}

static void it_gets_others_of_its_partition_beside(void **state)
{
	(void)state;
	assert_int_equal(will_run(3), 0);
	nodes_are("015");
}

static void what_it_excludes_and_what_is_not_available_stays_out(void **state)
{
	(void)state;
	details.exc_node_bitmap = bit_alloc(NODES);
	bit_set(details.exc_node_bitmap, 0);
	bit_clear(avail_node_bitmap, 1);
	assert_int_equal(will_run(4), 0);
	nodes_are("2345");
	/* of 7, 6 is another partition's, 7 has not the features */
	bit_clear_all(bits);
	bit_set(bits, 5);
	assert_int_not_equal(will_run(5), 0);
}

static void where_slurm_offers_enough_it_is_left_at_that(void **state)
{
	(void)state;
	assert_int_equal(will_run(1), 0);
	nodes_are("5");
	assert_int_equal(bit_set_count(bits), 1);
}

static void what_slurm_offers_without_a_name_is_left_at_that(void **state)
{
	(void)state;
	FREE_NULL_BITMAP(details.req_node_bitmap);
	assert_int_not_equal(will_run(2), 0);
}

static void backfill_and_reservations_are_left_to_slurm(void **state)
{
	(void)state;
	job.bit_flags |= BACKFILL_TEST;
	assert_int_not_equal(will_run(2), 0);
	job.bit_flags &= ~(uint64_t)BACKFILL_TEST;
	bit_clear_all(bits);
	bit_set(bits, 5);
	resv_list = list_create(NULL);
	list_append(resv_list, &part);
	assert_int_not_equal(will_run(2), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, stage, unstage)
	const struct CMUnitTest tests[] = {
		T(it_gets_others_of_its_partition_beside),
		T(what_it_excludes_and_what_is_not_available_stays_out),
		T(where_slurm_offers_enough_it_is_left_at_that),
		T(what_slurm_offers_without_a_name_is_left_at_that),
		T(backfill_and_reservations_are_left_to_slurm),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
