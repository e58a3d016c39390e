/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurmd's look at the RDMA device before a job's first step. */
#include <sys/stat.h>
#include "guest_stage.h"
#include "prep/vsphere/device.h"

static char why[256];

static void a_machine_that_is_no_vm_of_ours_passes(void **state)
{
	(void)state;
	assert_int_equal(vs_device_check(why, sizeof(why)), 0);
}

static void a_ready_device_passes(void **state)
{
	(void)state;
	put("ready", "ok\n");
	assert_int_equal(vs_device_check(why, sizeof(why)), 0);
}

static void what_the_start_up_script_found_is_repeated(void **state)
{
	(void)state;
	put("ready", "failed: mlx5_0 has no link\n");
	assert_int_equal(vs_device_check(why, sizeof(why)), -1);
	assert_string_equal(why,
		"the RDMA device is not ready: mlx5_0 has no link");
}

static void an_empty_report_fails(void **state)
{
	(void)state;
	put("ready", "");
	assert_int_equal(vs_device_check(why, sizeof(why)), -1);
	assert_non_null(strstr(why, "wrote nothing"));
}

static void a_port_that_went_down_since_fails(void **state)
{
	VS_FREE char *ready = vs_asprintf("ok\nport %s\n", dir);

	(void)state;
	put("ready", ready);
	put("state", "4: ACTIVE\n");
	assert_int_equal(vs_device_check(why, sizeof(why)), 0);
	put("state", "1: DOWN\n");
	assert_int_equal(vs_device_check(why, sizeof(why)), -1);
	assert_non_null(strstr(why, "\"1: DOWN\", not ACTIVE"));
}

static void a_port_that_is_gone_fails(void **state)
{
	VS_FREE char *ready = vs_asprintf("ok\nport %s/none\n", dir);

	(void)state;
	put("ready", ready);
	assert_int_equal(vs_device_check(why, sizeof(why)), -1);
	assert_non_null(strstr(why, "is gone"));
}

#define T(f) cmocka_unit_test_setup_teardown(f, up, down)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_machine_that_is_no_vm_of_ours_passes),
		T(a_ready_device_passes),
		T(what_the_start_up_script_found_is_repeated),
		T(an_empty_report_fails),
		T(a_port_that_went_down_since_fails),
		T(a_port_that_is_gone_fails),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
