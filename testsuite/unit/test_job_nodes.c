/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which nodes a pending job may use, and which that it names are out of service, with
 * real records. */
#include "plugins/slurm/compat.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "plugins/slurm_ops/ops_i.h"
#include "util/mem.h"

#define NODES 6

static node_record_t nodes[NODES], *table[NODES];
static char names[NODES][8];
static part_record_t parts[2];
static vs_job_details_t details;
static job_record_t job;
static struct vs_slurm_job_nodes got;

static int up(void **state)
{
	(void)state;
	memset(nodes, 0, sizeof(nodes));
	for (int i = 0; i < NODES; i++) {
		snprintf(names[i], sizeof(names[i]), "vm%d", i);
		nodes[i].name = names[i];
		nodes[i].index = (uint32_t)i;
		nodes[i].node_state = NODE_STATE_IDLE | NODE_STATE_CLOUD;
		table[i] = &nodes[i];
	}
	node_record_table_ptr = table;
	node_record_count = NODES;
	for (int i = 0; i < 2; i++) {
		parts[i].node_bitmap = bit_alloc(NODES);
		bit_nset(parts[i].node_bitmap, 3 * i, 3 * i + 2);
	}
	memset(&details, 0, sizeof(details));
	memset(&job, 0, sizeof(job));
	job.details = &details;
	job.part_ptr = &parts[0];
	return 0;
}

static int down(void **state)
{
	(void)state;
	FREE_NULL_BITMAP(details.req_node_bitmap);
	FREE_NULL_BITMAP(details.exc_node_bitmap);
	FREE_NULL_BITMAP(parts[0].node_bitmap);
	FREE_NULL_BITMAP(parts[1].node_bitmap);
	FREE_NULL_LIST(job.part_ptr_list);
	free(got.may_use);
	free(got.out);
	memset(&got, 0, sizeof(got));
	return 0;
}

static void fill(void)
{
	free(got.may_use);
	free(got.out);
	memset(&got, 0, sizeof(got));
	vs_slurm_job_nodes_fill(&got, &job);
}

static void out(int i, uint32_t flags, const char *reason)
{
	nodes[i].node_state = flags;
	nodes[i].reason = (char *)reason;
}

static void its_partitions_nodes_but_those_that_it_excludes(void **state)
{
	(void)state;
	fill();
	assert_string_equal(got.may_use, "vm[0-2]");
	assert_null(got.out);
	job.part_ptr_list = list_create(NULL);
	list_append(job.part_ptr_list, &parts[0]);
	list_append(job.part_ptr_list, &parts[1]);
	details.exc_node_bitmap = bit_alloc(NODES);
	bit_set(details.exc_node_bitmap, 1);
	fill();
	assert_string_equal(got.may_use, "vm[0,2-5]");
	FREE_NULL_LIST(job.part_ptr_list);
	job.part_ptr = NULL;
	fill();
	assert_null(got.may_use);
}

static void of_a_drained_node_that_it_names_the_reason_is_told(void **state)
{
	(void)state;
	out(1, NODE_STATE_IDLE | NODE_STATE_DRAIN,
	    "prep/vsphere: rxe0 port 1 is DOWN");
	fill();			/* it names none: others may do */
	assert_null(got.out);
	details.req_node_bitmap = bit_alloc(NODES);
	bit_nset(details.req_node_bitmap, 0, 1);
	fill();
	assert_string_equal(got.may_use, "vm[0-1]");
	assert_string_equal(got.out, "node vm1 is drained: prep/vsphere: rxe0 port 1 is DOWN");
	out(0, NODE_STATE_DOWN, NULL);
	out(1, NODE_STATE_ALLOCATED | NODE_STATE_DRAIN, "disk");
	fill();
	assert_string_equal(got.out, "node vm0 is down; node vm1 is draining: disk");
}

static void of_many_nodes_the_first_are_told(void **state)
{
	(void)state;
	details.req_node_bitmap = bit_alloc(NODES);
	bit_nset(details.req_node_bitmap, 0, 4);
	for (int i = 0; i < NODES; i++)
		out(i, NODE_STATE_IDLE | NODE_STATE_DRAIN, i ? "" : "a");
	fill();
	assert_string_equal(got.out, "node vm0 is drained: a; node vm1 is drained; node vm2 is drained; and 2 more");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, up, down)
	const struct CMUnitTest tests[] = {
		T(its_partitions_nodes_but_those_that_it_excludes),
		T(of_a_drained_node_that_it_names_the_reason_is_told),
		T(of_many_nodes_the_first_are_told),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
