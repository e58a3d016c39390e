/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a submission is judged by: what the hosts could ever hold, and of what
 * kind nodes are. */
#include "engine_stage.h"

#define NODES 8

static int all[NODES];

static void begin_all(int hosts, int vfs)
{
	begin(NODES, hosts, vfs, "warm");
	for (int i = 0; i < NODES; i++)
		all[i] = i;
}

static size_t capacity(size_t n, size_t want, bool more)
{
	return vs_submit_capacity(&vs_core, all, n, want, more);
}

static void hosts_hold_as_many_as_there_are_vfs(void **state)
{
	(void)state;
	begin_all(2, 3);
	ready();
	assert_int_equal(capacity(NODES, NODES, false), 6);
	assert_int_equal(capacity(NODES, 4, false), 4);
}

static void a_node_counts_once_unless_more_may_come(void **state)
{
	(void)state;
	begin_all(2, 3);
	ready();
	assert_int_equal(capacity(2, 5, false), 2);
	assert_int_equal(capacity(2, 5, true), 5);
	assert_int_equal(capacity(2, 50, true), 6);
}

static void what_is_in_use_or_down_counts_all_the_same(void **state)
{
	(void)state;
	begin_all(2, 3);
	ready();
	bring_up(7, "vm1");
	vs_host_get(core_inv(), "host-1")->connected = false;
	assert_int_equal(capacity(NODES, NODES, false), 6);
}

static void what_is_not_known_refuses_nobody(void **state)
{
	(void)state;
	begin_all(2, 3);
	core_set_ready(false);
	assert_int_equal(capacity(NODES, NODES, false), NODES);
	assert_int_equal(capacity(NODES, 70, true), 70);
	ready();
	vs_strlcpy(core_capacity()[0].barred, "the template is missing",
		   sizeof(core_capacity()[0].barred));
	assert_int_equal(capacity(NODES, NODES, false), NODES);
}

/* It is kept from one question to the next. */
static void vfs_that_come_or_go_are_seen(void **state)
{
	struct vs_host *h;

	(void)state;
	begin_all(2, 3);
	ready();
	assert_int_equal(capacity(NODES, NODES, false), 6);
	h = vs_host_get(core_inv(), "host-1");
	h->pfs[0].vfs = 1;
	vs_host_changed(core_inv(), h);
	assert_int_equal(capacity(NODES, NODES, false), 4);
	h->pfs[0].vfs = 4;
	vs_host_changed(core_inv(), h);
	assert_int_equal(capacity(NODES, NODES, false), 7);
}

static void each_kind_has_its_own_capacity(void **state)
{
	struct vs_conf *conf = conf_make(NODES, "warm", 1024);

	(void)state;
	begin_all(2, 1);
	conf_other_from(conf, 4, "vmxnet3");
	begin_as(conf);
	ready();
	assert_int_equal(capacity(4, 4, false), 2);
	assert_int_equal(capacity(NODES, NODES, false), 6);
}

static void kinds_are_by_adapter(void **state)
{
	struct vs_conf *conf = conf_make(3, "destroy", 1024);
	const int ids[] = { 0, 2, -1, 99 };
	struct vs_vm_type kinds[VS_COUNT(ids)];
	char **names;

	(void)state;
	begin_all(1, 1);
	conf_other_from(conf, 2, "vmxnet3");
	begin_as(conf);
	vs_submit_kinds(&vs_core, ids, VS_COUNT(ids), kinds, &names);
	assert_string_equal(names[kinds[0].adapter], "sriov-roce");
	assert_string_equal(names[kinds[1].adapter], "other");
	assert_null(names[2]);
	assert_int_equal(kinds[0].vfs, 1);
	assert_int_equal(kinds[1].vfs, 0);
	assert_true(kinds[0].alone && kinds[1].alone);
	assert_int_not_equal(kinds[0].like, kinds[1].like);
	assert_int_equal(kinds[2].adapter, -1);
	assert_int_equal(kinds[3].adapter, -1);
	for (size_t i = 0; names[i]; i++)
		free(names[i]);
	free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_hold_as_many_as_there_are_vfs),
		cmocka_unit_test(a_node_counts_once_unless_more_may_come),
		cmocka_unit_test(what_is_in_use_or_down_counts_all_the_same),
		cmocka_unit_test(what_is_not_known_refuses_nobody),
		cmocka_unit_test(vfs_that_come_or_go_are_seen),
		cmocka_unit_test(each_kind_has_its_own_capacity),
		cmocka_unit_test(kinds_are_by_adapter),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
