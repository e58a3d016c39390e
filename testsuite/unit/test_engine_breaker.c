/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The breaker of a host: when it opens, what it lets pass, what closes it, and
 * that it outlives a restart.
 */
#include <unistd.h>
#include "engine/persist/persist.h"
#include "engine_stage.h"
#include "scratch.h"

#define MINUTE_MS (60 * 1000)

static const char *const names[] = { "vm1", "vm2", "vm3", "vm4", "vm5", "vm6",
				     "vm7", "vm8" };

/* Jobs 1 to n begin at once on vm1 to vmN, and have their clones. */
static void cloned(int n)
{
	for (int i = 0; i < n; i++) {
		assert_int_equal(job_begin((uint32_t)i + 1, names[i], NULL), 0);
		flags(names[i], BOOT);
	}
	turn();
	while (fake_finish(FAKE_CLONE))
		;
	turns(2);
}

static void power_on_fails(void)
{
	assert_true(fake_fault(FAKE_POWER_ON, VS_E_OTHER_HOST,
			       "GenericVmConfigFault", "the NIC is broken"));
}

static void all_ended(int n)
{
	for (int i = 0; i < n; i++) {
		int one = id(names[i]);

		vs_job_end(&vs_core, (uint32_t)i + 1, &one, 1, false);
		flags(names[i], DOWN);
	}
	turns(2);
}

/* esx1, the only host, has failed three nodes. */
static void opened(void)
{
	begin(8, 1, 8, "warm");
	ready();
	cloned(3);
	for (int i = 0; i < 3; i++)
		power_on_fails();
	turns(2);
	all_ended(3);
}

static const struct vs_exclusion *open_now(void)
{
	return vs_exclusion_find(VS_EXCLUDED_BROKEN, "host-1");
}

static int minutes_left(void)
{
	return (int)((open_now()->until_ms - now) / MINUTE_MS);
}

static void pass(int minutes)
{
	now += (int64_t)minutes * MINUTE_MS;
	turns(2);
}

static void nodes_that_fail_in_a_row_open_it(void **st)
{
	struct vs_err err = { 0 };
	int one;

	(void)st;
	begin(8, 1, 8, "warm");
	ready();
	cloned(3);
	power_on_fails();
	power_on_fails();
	assert_null(open_now());
	power_on_fails();
	assert_non_null(open_now());
	assert_non_null(strstr(open_now()->why, "3 nodes in a row"));
	assert_non_null(strstr(open_now()->why, "the NIC is broken"));
	one = id("vm8");
	assert_int_equal(vs_job_begin(&vs_core, 8, 0, &one, 1, &err), -1);
	assert_int_equal(err.code, VS_E_SHORTAGE);
}

static void one_bad_node_opens_nobodys(void **st)
{
	(void)st;
	begin(8, 1, 8, "warm");
	ready();
	cloned(1);
	for (int i = 0; i < 4; i++) {
		power_on_fails();
		pass(6);
		flags("vm1", DOWN);
		turns(2);
		flags("vm1", BOOT);
		job_begin(1, "vm1", NULL);
		turns(2);
	}
	assert_null(open_now());
}

static void a_start_in_between_begins_the_row_anew(void **st)
{
	(void)st;
	begin(8, 1, 8, "warm");
	ready();
	cloned(4);
	power_on_fails();
	power_on_fails();
	assert_true(fake_finish(FAKE_POWER_ON));
	turn();
	flags("vm3", BUSY);
	turns(2);
	power_on_fails();
	assert_null(open_now());
}

static void after_the_pause_a_single_vm_is_tried(void **st)
{
	(void)st;
	opened();
	assert_int_equal(minutes_left(), 4);
	pass(6);
	assert_null(open_now());
	assert_int_equal(job_begin(4, "vm4", "vm5"), -1);
	assert_int_equal(job_begin(4, "vm4", NULL), 0);
	assert_int_equal(job_begin(5, "vm5", NULL), -1);
	flags("vm4", BOOT);
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	turn();
	assert_int_equal(job_begin(5, "vm5", NULL), -1);
	flags("vm4", BUSY);
	turns(2);
	assert_int_equal(job_begin(5, "vm5", "vm6"), 0);
	assert_null(vs_breaker_get("host-1"));
}

static void a_trial_that_fails_opens_it_for_longer_up_to_an_hour(void **st)
{
	static const int left[] = { 9, 19, 39, 59, 59 };

	(void)st;
	opened();
	for (int i = 0; i < 5; i++) {
		pass(61);
		assert_int_equal(job_begin(4, "vm4", NULL), 0);
		flags("vm4", BOOT);
		turns(2);
		fake_finish(FAKE_CLONE);
		turns(2);
		power_on_fails();
		turn();
		assert_int_equal(minutes_left(), left[i]);
		flags("vm4", DOWN);
		vs_job_end(&vs_core, 4, (int[]){ id("vm4") }, 1, false);
		turns(2);
	}
}

static void a_trial_that_was_cancelled_leaves_its_place(void **st)
{
	(void)st;
	opened();
	pass(6);
	assert_int_equal(job_begin(4, "vm4", NULL), 0);
	assert_int_equal(job_begin(5, "vm5", NULL), -1);
	vs_job_end(&vs_core, 4, (int[]){ id("vm4") }, 1, false);
	pass(1);
	assert_int_equal(job_begin(5, "vm5", NULL), 0);
}

static void guests_that_die_count_too_and_are_not_the_hosts_twice(void **st)
{
	struct vs_breaker *b;

	(void)st;
	begin(1, 2, 4, "warm");
	ready();
	boot_up(1, "vm1");
	assert_true(fake_finish(FAKE_POWER_ON));
	turn();
	fake_get("vm1")->on = false;		/* a kernel panic, say */
	fake_show(fake_get("vm1"));
	turns(2);
	b = vs_breaker_get("host-1");
	assert_int_equal(b->nnodes, 1);
	turns(6);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(6);
	assert_true(fake_finish(FAKE_POWER_ON));
	turn();
	fake_get("vm1")->on = false;
	fake_show(fake_get("vm1"));
	turns(2);
	/* On two hosts: it is the guest. */
	assert_non_null(
		strstr(heard(VS_REQUEST_FAIL, "vm1")->text, "went off"));
	assert_int_equal(b->nnodes, 0);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 2);
}

/* cluster-toolkit#4419 and every queue that one bad host has eaten. */
static void one_bad_host_does_not_eat_a_queue(void **st)
{
	int failed = 0, served = 0;

	(void)st;
	begin(8, 2, 8, "destroy");
	ready();
	for (uint32_t job = 1; job <= 240; job++) {	/* one a minute */
		const char *name = names[job % 8];
		int one = id(name);

		assert_int_equal(job_begin(job, name, NULL), 0);
		flags(name, BOOT);
		for (int i = 0; i < 60 && !fake_waiting(FAKE_POWER_ON); i++) {
			turn();
			fake_finish(FAKE_CLONE);
			fake_finish(FAKE_RELOCATE);
		}
		if (!strcmp(fake_get(name)->host, "host-1")) {
			power_on_fails();
			failed++;
			for (int i = 0; i < 60 &&
			     !fake_waiting(FAKE_POWER_ON); i++) {
				turn();
				fake_finish(FAKE_RELOCATE);
			}
		}
		assert_true(fake_finish(FAKE_POWER_ON));
		turn();
		assert_string_equal(fake_get(name)->host, "host-2");
		flags(name, BUSY);
		turn();
		served++;
		vs_job_end(&vs_core, job, &one, 1, false);
		flags(name, GOING);
		turns(2);
		assert_true(fake_finish(FAKE_POWER_OFF));
		turns(2);
		assert_true(fake_finish(FAKE_DESTROY));
		flags(name, DOWN);
		pass(1);
	}
	assert_int_equal(served, 240);
	assert_true(failed >= 4 && failed <= 10);
}

/* ---- what outlives a restart ------------------------------------------------- */

static void it_outlives_a_restart(void **st)
{
	char dir[SCRATCH_LEN], path[SCRATCH_FILE];
	VS_FREE char *text = NULL;

	(void)st;
	opened();
	assert_non_null(mkdtemp(scratch_path(dir, "breaker")));
	free(core_conf()->state_dir);
	core_conf()->state_dir = vs_strdup(dir);
	vs_state_file_urgent();
	vs_state_file_dirty();
	vs_state_file_save(&vs_core, now);
	text = vs_state_file_read(dir);
	snprintf(path, sizeof(path), "%s/slurm_vsphere.hints", dir);
	unlink(path);
	rmdir(dir);
	assert_non_null(text);
	begin(8, 1, 8, "warm");
	vs_state_file_read_done(false);
	vs_state_file_load(&vs_core, text, NULL);
	ready();
	assert_non_null(open_now());
	assert_int_equal(job_begin(4, "vm4", NULL), -1);
	pass(6);
	assert_int_equal(job_begin(4, "vm4", "vm5"), -1);
	assert_int_equal(job_begin(4, "vm4", NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_that_fail_in_a_row_open_it),
		cmocka_unit_test(one_bad_node_opens_nobodys),
		cmocka_unit_test(a_start_in_between_begins_the_row_anew),
		cmocka_unit_test(after_the_pause_a_single_vm_is_tried),
		cmocka_unit_test(a_trial_that_fails_opens_it_for_longer_up_to_an_hour),
		cmocka_unit_test(a_trial_that_was_cancelled_leaves_its_place),
		cmocka_unit_test(guests_that_die_count_too_and_are_not_the_hosts_twice),
		cmocka_unit_test(one_bad_host_does_not_eat_a_queue),
		cmocka_unit_test(it_outlives_a_restart),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
