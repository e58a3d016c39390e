/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurmd's look at the RDMA device before a job's first step. */
#include <sys/stat.h>
#include "guest_stage.h"
#include "prep/vsphere/device.h"
#include "prep/vsphere/port_ask.h"

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

/* ---- slurm-vsphere-port is asked -------------------------------------------------- */

/* A program in its place, and a ready that names it; the port's own state says
 * DOWN, so that who looks there is seen. */
static void checker(const char *body)
{
	VS_FREE char *text = vs_asprintf(
		"#!/bin/sh\necho \"$*\" >%s/asked\n%s\n", dir, body);
	VS_FREE char *ready = vs_asprintf(
		"ok\nport %s\nrdma mlx5_0/1/4096/3/::ffff:10.1.0.7\n"
		"checker %s/checker\nlink-layer Ethernet\n", dir, dir);
	VS_FREE char *path = vs_asprintf("%s/checker", dir);

	put("checker", text);
	chmod(path, 0700);
	put("ready", ready);
	put("state", "1: DOWN\n");
}

static void a_port_that_is_as_it_was_passes(void **state)
{
	VS_FREE char *path = vs_asprintf("%s/asked", dir);
	char asked[128] = "";
	FILE *f;

	(void)state;
	checker("exit 0");
	assert_int_equal(vs_device_check(why, sizeof(why)), 0);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(asked, sizeof(asked), f));
	fclose(f);
	assert_string_equal(asked,
		"check Ethernet mlx5_0/1/4096/3/::ffff:10.1.0.7\n");
}

static void its_last_line_is_the_reason(void **state)
{
	(void)state;
	checker("echo 'libibverbs: Warning: something' >&2\n"
		"echo 'mlx5_0 port 1 is DOWN, not ACTIVE' >&2; exit 1");
	assert_int_equal(vs_device_check(why, sizeof(why)), -1);
	assert_string_equal(why, "mlx5_0 port 1 is DOWN, not ACTIVE");
	checker("i=0; while [ $i -lt 400 ]; do echo $i a warning >&2; i=$((i + 1)); done\n"
		"printf 'it is\\twrong' >&2; exit 3");
	assert_int_equal(vs_device_check(why, sizeof(why)), -1);
	assert_string_equal(why, "it is?wrong");
}

/* A template that lacks it, or has another release's: /sys is looked at. */
static void who_cannot_be_asked_stops_nobody(void **state)
{
	static const char *const bodies[] = {
		"echo usage >&2; exit 2", "kill -SEGV $$", "exit 1", "exit 127",
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bodies); i++) {
		checker(bodies[i]);
		assert_int_equal(vs_device_check(why, sizeof(why)), -1);
		assert_non_null(strstr(why, "\"1: DOWN\", not ACTIVE"));
		put("state", "4: ACTIVE\n");
		assert_int_equal(vs_device_check(why, sizeof(why)), 0);
	}
	checker("exit 0");
	put("state", "4: ACTIVE\n");
	put("checker", "");		/* not a program */
	assert_int_equal(vs_device_check(why, sizeof(why)), 0);
}

static void one_that_hangs_is_ended_and_is_wrong(void **state)
{
	VS_FREE char *path = vs_asprintf("%s/checker", dir);
	const char *argv[] = { path, "check", NULL };

	(void)state;
	checker("trap '' TERM; sleep 60; exit 0");
	assert_int_equal(vs_port_ask(argv, 1000, why, sizeof(why)),
			 VS_PORT_WRONG);
	assert_non_null(strstr(why, "did not answer within 1 s"));
	/* closes its words and stays */
	checker("exec 2>&-; sleep 60");
	assert_int_equal(vs_port_ask(argv, 1000, why, sizeof(why)),
			 VS_PORT_WRONG);
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
		T(a_port_that_is_as_it_was_passes),
		T(its_last_line_is_the_reason),
		T(who_cannot_be_asked_stops_nobody),
		T(one_that_hangs_is_ended_and_is_wrong),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
