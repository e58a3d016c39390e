/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A VM that goes off or disappears though Slurm believes its node up: a vCenter
 * user did it, or slurmctld was killed and restored an older state.
 */
#include "engine_stage.h"

static void up_with(uint32_t job)
{
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	if (!job)
		end_job(7, "vm1");
	ntold = 0;
}

static void switch_off(void)
{
	fake_get("vm1")->on = false;
	fake_show(fake_get("vm1"));
}

static void a_job_whose_vm_was_switched_off_is_requeued(void **st)
{
	(void)st;
	up_with(7);
	switch_off();
	turns(20);
	assert_null(heard(VS_REQUEST_RELEASE, "vm1"));
	turns(30);
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
	assert_non_null(heard(VS_REQUEST_REQUEUED, NULL));
	assert_int_equal(heard(VS_REQUEST_REQUEUED, NULL)->job, 7);
	assert_string_equal(heard(VS_REQUEST_REQUEUED, NULL)->text,
			    "node vm1: its VM was powered off while a job ran");
	assert_null(heard(VS_REQUEST_FAIL, "vm1"));
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
}

/* slurmctld still tries to end the first run, and would end the second. */
static void a_node_whose_job_lost_its_vm_takes_none_for_a_while(void **st)
{
	int64_t until;

	(void)st;
	up_with(7);
	switch_off();
	turns(50);
	end_job(7, "vm1");
	flags("vm1", GOING);
	turns(2);
	flags("vm1", DOWN);
	turns(2);
	until = node_ending_ms(vs_node_named(&vs_core, "vm1"));
	assert_true(until > now + 25000);
	while (now + 200 < until) {
		turn();
		assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[0]),
				 VS_AVAIL_NONE);
	}
	assert_int_equal(job_begin(7, "vm1", NULL), -1);
	vs_name_freed_clear();
	turns(3);
	assert_true(vs_name_freed_pending());
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
}

static void an_idle_node_whose_vm_was_switched_off_takes_jobs_at_once(void **st)
{
	(void)st;
	up_with(0);
	switch_off();
	turns(10);
	flags("vm1", GOING);
	turns(2);
	flags("vm1", DOWN);
	turns(2);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
}

static void a_node_that_completes_for_ever_is_asked_for_again(void **st)
{
	(void)st;
	up_with(7);
	switch_off();
	turns(60);
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
	flags("vm1", VS_NODE_UP | VS_NODE_COMPLETING |
	      VS_NODE_POWER_DOWN_ASKED);
	turn();
	ntold = 0;
	turns(30);
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
	flags("vm1", VS_NODE_UP | VS_NODE_POWER_DOWN_ASKED);
	ntold = 0;
	turns(30);
	assert_int_equal(ntold, 0);
}

static void a_vm_that_comes_back_at_once_costs_no_job(void **st)
{
	(void)st;
	up_with(7);
	switch_off();
	turns(10);
	fake_get("vm1")->on = true;
	fake_show(fake_get("vm1"));
	turns(60);
	assert_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

static void a_vm_not_found_costs_a_job_only_if_its_slurmd_is_silent(void **st)
{
	(void)st;
	up_with(7);
	fake_remove(fake_get("vm1"));
	turns(100);
	assert_null(heard(VS_REQUEST_RELEASE, "vm1"));
	flags("vm1", VS_NODE_ALLOCATED | VS_NODE_NO_RESPOND);
	turns(30);
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

static void an_idle_node_without_its_vm_is_powered_down_until_it_is(void **st)
{
	(void)st;
	up_with(0);
	switch_off();
	turns(2);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	ntold = 0;		/* it could not be done: tried again */
	turns(30);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	flags("vm1", VS_NODE_UP | VS_NODE_POWER_DOWN_ASKED);
	turn();
	ntold = 0;
	turns(30);
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
}

static void a_node_that_is_down_is_not_said_to_be_up(void **st)
{
	(void)st;
	up_with(0);
	flags("vm1", VS_NODE_DOWN);
	switch_off();
	turns(50);
	assert_int_equal(ntold, 0);
}

static void a_node_that_slurm_set_down_for_its_silence_comes_back(void **st)
{
	(void)st;
	up_with(0);
	flags("vm1", VS_NODE_DOWN | VS_NODE_SILENT | VS_NODE_NO_RESPOND);
	turns(50);
	assert_int_equal(ntold, 0);	/* its VM is on: it may answer yet */
	switch_off();
	turns(50);
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

static void what_slurm_powers_down_while_vcenter_is_away_needs_no_brake(void **st)
{
	static const char *const names[] = { "vm1", "vm2", "vm3", "vm4", "vm5" };

	(void)st;
	begin(5, 2, 8, "warm");
	vs_removal_clear();
	ready();
	for (int i = 0; i < 5; i++) {
		bring_up(7 + i, names[i]);
		end_job(7 + i, names[i]);
	}
	fake_down(VS_E_RETRY);
	turns(3);
	for (int i = 0; i < 5; i++)
		flags(names[i], GOING);
	turns(3);
	for (int i = 0; i < 5; i++)
		flags(names[i], DOWN);
	turns(3);
	fake_load();
	fake_slow(NULL, 0);
	turns(3);
	assert_false(vs_removal_limit_is_reached());
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 5);
}

/* Power saving's next tick serves the job that is gone all the same. */
static void a_power_up_for_a_job_that_is_gone_boots_nothing(void **st)
{
	int one;

	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	one = id("vm1");
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", WANTED);
	turn();
	vs_job_end(&vs_core, 7, &one, 1, false);
	flags("vm1", DOWN);
	turns(5);
	flags("vm1", VS_NODE_POWERING_UP);
	turns(5);
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
	assert_int_equal(fake_sent[FAKE_POWER_ON], 0);
}

static void a_power_up_by_an_administrator_after_a_cancelled_job_is_one(void **st)
{
	int one;

	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	one = id("vm1");
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", WANTED);
	turn();
	assert_true(fake_finish(FAKE_CLONE));
	vs_job_end(&vs_core, 7, &one, 1, false);
	flags("vm1", DOWN);
	turns(5);
	flags("vm1", DOWN | VS_NODE_POWER_UP_ASKED);
	turn();
	flags("vm1", VS_NODE_POWERING_UP);
	turns(5);
	assert_null(heard(VS_REQUEST_RELEASE, "vm1"));
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
}

/* As after job_resized. */
static void a_node_that_the_job_has_lost_is_not_waited_for(void **state)
{
	int two[2], lost;

	(void)state;
	begin(2, 1, 2, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", "vm2"), 0);
	two[0] = id("vm1");
	lost = two[1] = id("vm2");
	vs_job_wait(&vs_core, 7, 0, two, 2);
	flags("vm1", BOOT);
	flags("vm2", BOOT);
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	vs_job_end(&vs_core, 7, &lost, 1, false);	/* job_resized */
	while (fake_finish(FAKE_CLONE) || fake_finish(FAKE_POWER_ON))
		turns(2);
	flags("vm1", BUSY);
	flags("vm2", DOWN);
	ntold = 0;
	turns(3);
	assert_non_null(heard(VS_REQUEST_PROLOG, NULL));
}

/* A user drained it: Slurm's power saving may take long, or never act. */
static void a_node_that_is_to_leave_is_told_now_and_then(void **st)
{
	size_t n = 0;

	(void)st;
	begin_idle("power_off");
	flags("vm1", UP | VS_NODE_DRAIN);
	ntold = 0;
	now += 60000;
	turns(100);
	for (size_t i = 0; i < ntold; i++)
		n += told[i].kind == VS_REQUEST_POWER_DOWN;
	assert_int_equal(n, 1);
	assert_true(heard(VS_REQUEST_POWER_DOWN, "vm1")->ok);	/* again */
	/* and at once when another job has been there */
	job_starts(8, "vm1");
	turns(2);
	ntold = 0;
	end_job(8, "vm1");
	turns(2);
	assert_false(heard(VS_REQUEST_POWER_DOWN, "vm1")->ok);
}

static size_t times_given_up(void)
{
	size_t n = 0;

	for (size_t i = 0; i < ntold; i++)
		n += told[i].kind == VS_REQUEST_RELEASE;
	return n;
}

/* Slurm itself ends the one that goes off; but for who takes it away. */
static void a_node_that_is_off_and_completes_for_ever_is_given_back(void **st)
{
	const uint32_t stuck = DOWN | VS_NODE_COMPLETING;

	(void)st;
	up_with(0);
	switch_off();
	flags("vm1", stuck);
	ntold = 0;
	turns(20);
	assert_int_equal(times_given_up(), 0);
	now += 6000;
	turns(20);
	assert_int_equal(times_given_up(), 1);
	flags("vm1", stuck | VS_NODE_DRAIN);
	now += 60000;
	turns(20);
	assert_int_equal(times_given_up(), 1);
	flags("vm1", DOWN);
	now += 60000;
	turns(20);
	assert_int_equal(times_given_up(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_whose_vm_was_switched_off_is_requeued),
		cmocka_unit_test(a_node_whose_job_lost_its_vm_takes_none_for_a_while),
		cmocka_unit_test(an_idle_node_whose_vm_was_switched_off_takes_jobs_at_once),
		cmocka_unit_test(a_node_that_completes_for_ever_is_asked_for_again),
		cmocka_unit_test(a_vm_that_comes_back_at_once_costs_no_job),
		cmocka_unit_test(a_vm_not_found_costs_a_job_only_if_its_slurmd_is_silent),
		cmocka_unit_test(an_idle_node_without_its_vm_is_powered_down_until_it_is),
		cmocka_unit_test(a_node_that_is_down_is_not_said_to_be_up),
		cmocka_unit_test(a_node_that_slurm_set_down_for_its_silence_comes_back),
		cmocka_unit_test(a_power_up_for_a_job_that_is_gone_boots_nothing),
		cmocka_unit_test(a_power_up_by_an_administrator_after_a_cancelled_job_is_one),
		cmocka_unit_test(what_slurm_powers_down_while_vcenter_is_away_needs_no_brake),
		cmocka_unit_test(a_node_that_the_job_has_lost_is_not_waited_for),
		cmocka_unit_test(a_node_that_is_to_leave_is_told_now_and_then),
		cmocka_unit_test(a_node_that_is_off_and_completes_for_ever_is_given_back),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
