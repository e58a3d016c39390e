/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts that are wanted by their administrator. */
#include "engine_stage.h"

static const struct vs_vc_task entering = {
	.moid = "task-900", .name = "HostSystem.enterMaintenanceMode",
	.entity = "host-1", .entity_name = "esx1", .state = "running",
	.user = "admin",
};

static void idle_nodes_of_a_wanted_host_go_down_and_come_back(void **st)
{
	(void)st;
	begin(1, 2, 1, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	assert_string_equal(fake_get("vm1")->host, "host-1");
	fake_slow(&entering, 1);
	turns(2);
	assert_non_null(strstr(heard(VS_TELL_DRAIN, "vm1")->text,
			       "esx1 is entering maintenance"));
	assert_non_null(heard(VS_TELL_POWER_DOWN, "vm1"));
	flags("vm1", GOING | VS_NODE_DRAIN);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_OFF));
	flags("vm1", DOWN | VS_NODE_DRAIN);
	assert_null(heard(VS_TELL_UNDRAIN, "vm1"));
	turns(60);
	assert_non_null(heard(VS_TELL_UNDRAIN, "vm1"));
	flags("vm1", DOWN);
	ntold = 0;
	turns(200);
	assert_null(heard(VS_TELL_DRAIN, "vm1"));
	assert_null(heard(VS_TELL_UNDRAIN, "vm1"));
}

static void a_running_job_finishes_on_a_wanted_host(void **st)
{
	(void)st;
	begin(1, 2, 1, "warm");
	ready();
	bring_up(7, "vm1");
	fake_slow(&entering, 1);
	turns(60);
	assert_non_null(heard(VS_TELL_DRAIN, "vm1"));
	assert_null(heard(VS_TELL_POWER_DOWN, "vm1"));
	flags("vm1", BUSY | VS_NODE_DRAIN);
	turns(100);
	assert_int_equal(fake_sent[FAKE_POWER_OFF] + fake_sent[FAKE_SHUTDOWN],
			 0);
	end_job(7, "vm1");
	flags("vm1", UP | VS_NODE_DRAIN);
	turns(60);
	assert_non_null(heard(VS_TELL_POWER_DOWN, "vm1"));
}

static void maintenance_called_off_lifts_the_drain(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	fake_slow(&entering, 1);
	turns(2);
	flags("vm1", BUSY | VS_NODE_DRAIN);
	fake_slow(NULL, 0);
	turns(60);
	assert_non_null(heard(VS_TELL_UNDRAIN, "vm1"));
}

static void an_administrators_drain_is_left_alone(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	flags("vm1", BUSY | VS_NODE_DRAIN);
	turns(200);
	assert_null(heard(VS_TELL_UNDRAIN, "vm1"));
	assert_null(heard(VS_TELL_POWER_DOWN, "vm1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_nodes_of_a_wanted_host_go_down_and_come_back),
		cmocka_unit_test(a_running_job_finishes_on_a_wanted_host),
		cmocka_unit_test(maintenance_called_off_lifts_the_drain),
		cmocka_unit_test(an_administrators_drain_is_left_alone),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
