/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls under way, whatever they are for: on which host each counts, and until
 * when.
 */
#include "parents_stage.h"

static int on(const char *host)
{
	const struct vs_host *h = vs_host_get(&vs_core.inv, host);

	assert_non_null(h);
	return vs_tasks_by_host(&vs_core)[h->index];
}

static int on_all(void)
{
	return on("host-1") + on("host-2");
}

/* Of vm1 and vm2 the clones are under way, on a host each. */
static void two_clones(void)
{
	begin(2, 2, 1, "warm");
	ready();
	wants(7, "vm1");
	wants(8, "vm2");
	assert_int_equal(fake_waiting(FAKE_CLONE), 2);
}

static void the_call_of_a_node_counts_for_its_host_until_it_ends(void **st)
{
	(void)st;
	two_clones();
	assert_int_equal(on("host-1"), 1);
	assert_int_equal(on("host-2"), 1);
	vs_core.conf->host_max = 1;
	assert_true(vs_op_host_full(&vs_core, "host-1"));
	vs_core.conf->host_max = 2;
	assert_false(vs_op_host_full(&vs_core, "host-1"));
	assert_true(fake_finish(FAKE_CLONE));
	assert_int_equal(on_all(), 1);
	assert_true(fake_fail(FAKE_CLONE, VS_E_RETRY, "declared"));
	assert_int_equal(on_all(), 0);
}

static void the_call_of_a_clone_source_counts_like_that_of_a_node(void **st)
{
	const char *host;

	(void)st;
	begin_linked(1, 2);
	ready();
	wants(7, "vm1");
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
	assert_int_equal(on_all(), 1);
	host = on("host-1") ? "host-1" : "host-2";
	vs_core.conf->host_max = 1;
	assert_true(vs_op_host_full(&vs_core, host));
	assert_false(vs_op_host_full(&vs_core, strcmp(host, "host-1") ?
				     "host-1" : "host-2"));
	assert_true(fake_finish(FAKE_CLONE));
	assert_int_equal(on_all(), 0);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_SNAPSHOT), 1);
	assert_int_equal(on_all(), 1);
	vs_parents_clear(&vs_core);
	assert_int_equal(on_all(), 0);
}

static void the_call_of_a_node_that_is_dropped_counts_no_more(void **st)
{
	(void)st;
	two_clones();
	begin_as(conf_make(1, "warm", 1024));
	assert_int_equal(on_all(), 1);
	assert_true(fake_finish(FAKE_CLONE));
	assert_true(fake_finish(FAKE_CLONE));
	assert_int_equal(on_all(), 0);
}

static void no_call_is_under_way_without_a_client(void **st)
{
	(void)st;
	two_clones();
	fake_down(VS_E_RETRY);
	assert_null(vs_core.tasks.all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_call_of_a_node_counts_for_its_host_until_it_ends),
		cmocka_unit_test(the_call_of_a_clone_source_counts_like_that_of_a_node),
		cmocka_unit_test(the_call_of_a_node_that_is_dropped_counts_no_more),
		cmocka_unit_test(no_call_is_under_way_without_a_client),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
