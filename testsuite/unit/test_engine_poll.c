/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How soon changes in vCenter must be known: at once while anything is wanted
 * or under way, later when nothing has been for half a minute.
 */
#include "engine_stage.h"
#include "engine/report/report.h"
#include "util/json.h"

/* Nothing happens for so many seconds. */
static void pass_s(int s)
{
	while (s--) {
		now += 900;
		turn();
	}
}

static void begin_asleep(int nodes)
{
	begin(nodes, 2, 2, "warm");
	ready();
	assert_int_equal(fake_calm, VS_VC_POLL_HIGH);
	pass_s(31);
	assert_int_equal(fake_calm, VS_VC_POLL_LOWEST);
}

static void who_wants_nothing_for_half_a_minute_is_asleep(void **state)
{
	(void)state;
	begin(2, 2, 2, "warm");
	ready();
	pass_s(28);
	assert_int_equal(fake_calm, VS_VC_POLL_HIGH);
	pass_s(3);
	assert_int_equal(fake_calm, VS_VC_POLL_LOWEST);
}

static void a_job_that_begins_ends_it_at_once(void **state)
{
	(void)state;
	begin_asleep(2);
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	turn();
	assert_int_equal(fake_calm, VS_VC_POLL_HIGH);
	flags("vm1", BOOT);
	pass_s(40);		/* the clone takes its time */
	assert_int_equal(fake_calm, VS_VC_POLL_HIGH);
}

static void vms_that_are_on_are_looked_after_more_closely(void **state)
{
	int one;

	(void)state;
	begin(2, 2, 2, "warm");
	ready();
	bring_up(7, "vm1");
	one = id("vm1");
	pass_s(28);
	assert_int_equal(fake_calm, VS_VC_POLL_HIGH);
	pass_s(4);
	assert_int_equal(fake_calm, VS_VC_POLL_LOW);
	vs_job_end(&vs_core, 7, &one, 1, false);
	flags("vm1", GOING);
	turn();
	assert_int_equal(fake_calm, VS_VC_POLL_HIGH);	/* it is to go off */
	assert_true(fake_finish(FAKE_POWER_OFF));
	flags("vm1", DOWN);
	pass_s(40);
	assert_int_equal(fake_calm, VS_VC_POLL_LOWEST);
}

static void who_waits_for_vfs_hears_of_them_at_once(void **state)
{
	int one;

	(void)state;
	begin_asleep(2);
	one = id("vm1");
	refuse(7, &one, 1, 1, "no VF is free");
	turn();
	assert_int_equal(fake_calm, VS_VC_POLL_HIGH);
	pass_s(40);
	assert_int_equal(fake_calm, VS_VC_POLL_HIGH);
	vs_jobs_clear();
	pass_s(31);
	assert_int_equal(fake_calm, VS_VC_POLL_LOWEST);
}

static void a_prolog_that_waits_ends_it(void **state)
{
	int one;

	(void)state;
	begin_asleep(1);
	one = id("vm1");
	flags("vm1", UP);
	vs_job_wait(&vs_core, 7, 0, &one, 1);
	turn();
	assert_int_equal(fake_calm, VS_VC_POLL_HIGH);
}

static void an_operators_order_ends_it(void **state)
{
	struct vs_err err;

	(void)state;
	begin_asleep(1);
	vs_jb_free(vs_core_request("confirm", "", "", 0, &err));
	turn();
	assert_int_equal(fake_calm, VS_VC_POLL_HIGH);
	pass_s(31);
	assert_int_equal(fake_calm, VS_VC_POLL_LOWEST);
}

static void a_vm_of_ours_that_no_node_stands_for_ends_it(void **state)
{
	struct fake_vm *vm;

	(void)state;
	begin_asleep(1);
	vm = fake_add_vm("vm9", "group-v1", "host-1", false);
	snprintf(vm->mark, sizeof(vm->mark), "%s/vm9/%s", core_cluster_id(),
		 vm->uuid);
	fake_show(vm);
	pass_s(2);
	assert_int_equal(fake_calm, VS_VC_POLL_HIGH);
}

static void whoever_has_lost_vcenter_is_alert(void **state)
{
	struct vs_err err;

	(void)state;
	begin_asleep(1);
	vs_err_set(&err, VS_E_RETRY, "vCenter does not answer");
	fake_tell(down, &err);
	turn();
	assert_int_equal(fake_calm, VS_VC_POLL_HIGH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_wants_nothing_for_half_a_minute_is_asleep),
		cmocka_unit_test(a_job_that_begins_ends_it_at_once),
		cmocka_unit_test(vms_that_are_on_are_looked_after_more_closely),
		cmocka_unit_test(who_waits_for_vfs_hears_of_them_at_once),
		cmocka_unit_test(a_prolog_that_waits_ends_it),
		cmocka_unit_test(an_operators_order_ends_it),
		cmocka_unit_test(a_vm_of_ours_that_no_node_stands_for_ends_it),
		cmocka_unit_test(whoever_has_lost_vcenter_is_alert),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
