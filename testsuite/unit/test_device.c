/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurmd's look at the RDMA device before a job's first step. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "prep/vsphere/device.h"
#include "util/mem.h"

static char dir[64];
static char why[256];

static void put(const char *name, const char *text)
{
	VS_FREE char *path = vs_asprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
}

static int up(void **state)
{
	(void)state;
	vs_strlcpy(dir, "/tmp/vs-device-XXXXXX", sizeof(dir));
	assert_non_null(mkdtemp(dir));
	setenv("SLURM_VSPHERE_RUN", dir, 1);
	why[0] = '\0';
	return 0;
}

static int down(void **state)
{
	const char *names[] = { "ready", "state" };

	(void)state;
	for (size_t i = 0; i < VS_COUNT(names); i++) {
		VS_FREE char *path = vs_asprintf("%s/%s", dir, names[i]);

		unlink(path);
	}
	rmdir(dir);
	return 0;
}

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
