/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls under way, whatever they are for: on which host each counts, until when,
 * and who hears that one has failed.
 */
#include "clone_source_stage.h"

static int on(const char *host)
{
	const struct vs_host *h = vs_host_get(core_inv(), host);

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
	core_conf()->max_ops_per_host = 1;
	assert_true(vs_op_host_full(&vs_core, "host-1"));
	core_conf()->max_ops_per_host = 2;
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
	core_conf()->max_ops_per_host = 1;
	assert_true(vs_op_host_full(&vs_core, host));
	assert_false(vs_op_host_full(&vs_core, strcmp(host, "host-1") ?
				     "host-1" : "host-2"));
	assert_true(fake_finish(FAKE_CLONE));
	assert_int_equal(on_all(), 0);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_SNAPSHOT), 1);
	assert_int_equal(on_all(), 1);
	vs_clone_sources_clear(&vs_core);
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
	assert_int_equal(vs_tasks_by_host(&vs_core)[0], 0);
}

static char heard_node[16], heard_host[16];
static enum vs_op_type heard_kind;
static int nheard;

static void hears(struct vs_core *c, struct vs_node *n, enum vs_op_type kind,
		  const char *host, const struct vs_err *err, int64_t now_ms)
{
	(void)c;
	assert_int_equal(n->op.kind, VS_OP_NONE);
	assert_int_equal(err->code, VS_E_RETRY);
	assert_true(now_ms == now);
	vs_strlcpy(heard_node, n->name, sizeof(heard_node));
	vs_strlcpy(heard_host, host, sizeof(heard_host));
	heard_kind = kind;
	nheard++;
}

static const struct vs_task_owner listener = { .failed = hears };

static void the_owner_of_its_kind_hears_of_a_call_that_fails(void **st)
{
	(void)st;
	begin(1, 2, 1, "warm");
	ready();
	nheard = 0;
	vs_tasks_own(VS_OP_CLONE, &listener);
	wants(7, "vm1");
	assert_true(fake_fail(FAKE_CLONE, VS_E_RETRY, "declared"));
	assert_int_equal(nheard, 1);
	assert_string_equal(heard_node, "vm1");
	assert_int_equal(heard_kind, VS_OP_CLONE);
	assert_true(!strcmp(heard_host, "host-1") ||
		    !strcmp(heard_host, "host-2"));
	/* the node itself counts no failure */
	assert_int_equal(node_tries(vs_node_named(&vs_core, "vm1")), 0);
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	vs_tasks_own(VS_OP_POWER_OFF, &listener);
	assert_true(fake_fail(FAKE_POWER_ON, VS_E_RETRY, "declared"));
	assert_int_equal(nheard, 1);
	assert_int_equal(node_tries(vs_node_named(&vs_core, "vm1")), 1);
}

static void a_clone_source_that_fails_is_the_failure_of_who_asked(void **st)
{
	(void)st;
	begin_linked(1, 2);
	ready();
	nheard = 0;
	vs_tasks_own(VS_OP_CLONE, &listener);
	wants(7, "vm1");
	assert_true(fake_fail(FAKE_CLONE, VS_E_RETRY, "declared"));
	assert_int_equal(nheard, 1);
	assert_string_equal(heard_node, "vm1");
	assert_int_equal(heard_kind, VS_OP_CLONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_call_of_a_node_counts_for_its_host_until_it_ends),
		cmocka_unit_test(the_call_of_a_clone_source_counts_like_that_of_a_node),
		cmocka_unit_test(the_call_of_a_node_that_is_dropped_counts_no_more),
		cmocka_unit_test(no_call_is_under_way_without_a_client),
		cmocka_unit_test(the_owner_of_its_kind_hears_of_a_call_that_fails),
		cmocka_unit_test(a_clone_source_that_fails_is_the_failure_of_who_asked),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
