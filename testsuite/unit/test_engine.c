/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine without its thread: a fake vCenter (fake_vc.h) on one side, the
 * node flags that Slurm would show on the other, a clock of our own. Each test
 * plays one sentence of a job's life.
 */
#include "engine_stage.h"

/* ---- the plain life ---------------------------------------------------------- */

static void a_new_vm_costs_a_clone_and_a_power_on(void **state)
{
	(void)state;
	begin(1, 1, 2, "warm");
	ready();
	bring_up(7, "vm1");
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
	turns(20);
	for (int k = 0; k < FAKE_KINDS; k++)
		assert_int_equal(fake_sent[k],
				 k == FAKE_CLONE || k == FAKE_POWER_ON);
	assert_int_equal(free_on("host-1"), 1);
}

static void nothing_is_powered_on_before_slurm_asks_for_power(void **state)
{
	(void)state;
	begin(1, 1, 2, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", WANTED);
	turn();
	assert_true(fake_finish(FAKE_CLONE));
	turns(30);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 0);
	/* and power_save is made to look again meanwhile */
	assert_non_null(heard(VS_REQUEST_SCAN, NULL));
	flags("vm1", BOOT);
	turn();
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
}

static void resume_timeout_is_pushed_while_the_vm_is_not_on(void **state)
{
	(void)state;
	begin(1, 1, 2, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(3);
	assert_non_null(heard(VS_REQUEST_BOOT_PUSH, "vm1"));
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	turn();
	ntold = 0;
	turns(5);
	assert_null(heard(VS_REQUEST_BOOT_PUSH, "vm1"));
}

static void a_prolog_ends_when_the_last_node_is_up(void **state)
{
	int ids[2];

	(void)state;
	begin(2, 1, 2, "warm");
	ready();
	ids[0] = id("vm1");
	ids[1] = id("vm2");
	assert_int_equal(job_begin(7, "vm1", "vm2"), 0);
	vs_job_wait(&vs_core, 7, 0, ids, 2);
	flags("vm1", BOOT);
	flags("vm2", BOOT);
	turn();
	assert_true(fake_finish(FAKE_CLONE) && fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON) && fake_finish(FAKE_POWER_ON));
	flags("vm1", BUSY);
	turns(5);
	assert_null(heard(VS_REQUEST_PROLOG, NULL));
	flags("vm2", BUSY);
	turn();
	assert_non_null(heard(VS_REQUEST_PROLOG, NULL));
	assert_true(heard(VS_REQUEST_PROLOG, NULL)->ok);
	turns(5);
	assert_null(vs_waits());
}

static void a_warm_vm_costs_nothing(void **state)
{
	int one;

	(void)state;
	begin(1, 1, 2, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	memset(fake_sent, 0, sizeof(fake_sent));
	one = id("vm1");
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[one]),
			 VS_AVAIL_RUNNING);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	vs_job_wait(&vs_core, 8, 0, &one, 1);
	flags("vm1", BUSY);
	turn();
	assert_non_null(heard(VS_REQUEST_PROLOG, NULL));
	for (int k = 0; k < FAKE_KINDS; k++)
		assert_int_equal(fake_sent[k], 0);
}

static void a_vm_that_is_off_and_right_costs_one_call(void **state)
{
	(void)state;
	begin(1, 1, 2, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	powered_down("vm1");
	assert_int_equal(free_on("host-1"), 2);
	memset(fake_sent, 0, sizeof(fake_sent));
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(5);
	for (int k = 0; k < FAKE_KINDS; k++)
		assert_int_equal(fake_sent[k], k == FAKE_POWER_ON);
}

/* Slurm's clock is ahead of what the engine has heard. */
static void a_job_may_begin_in_the_moment_in_which_suspend_timeout_ends(
	void **state)
{
	const struct vs_claim *h;

	(void)state;
	begin(1, 1, 2, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	flags("vm1", GOING);
	turn();
	assert_true(fake_finish(FAKE_POWER_OFF));
	turns(2);
	assert_int_equal(free_on("host-1"), 2);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	turn();
	h = vs_ledger_get(core_ledger(), "vm1");
	assert_non_null(h);
	assert_int_equal(h->job, 8);
	assert_int_equal(free_on("host-1"), 1);
}

static void a_guest_with_tools_is_asked_before_it_is_switched_off(void **state)
{
	(void)state;
	begin(1, 1, 2, "warm");
	ready();
	bring_up(7, "vm1");
	fake_get("vm1")->tools = true;
	fake_show(fake_get("vm1"));
	end_job(7, "vm1");
	flags("vm1", GOING);
	turn();
	assert_int_equal(fake_sent[FAKE_SHUTDOWN], 1);
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 0);
	assert_true(fake_finish(FAKE_SHUTDOWN));
	turns(3);
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 0);
	assert_int_equal(free_on("host-1"), 2);
}

/* ---- shortage ------------------------------------------------------------------ */

static void two_jobs_at_once_never_overfill_a_pf(void **state)
{
	(void)state;
	begin(3, 1, 2, "warm");
	ready();
	assert_int_equal(job_begin(1, "vm1", NULL), 0);
	assert_int_equal(job_begin(2, "vm2", NULL), 0);
	assert_int_equal(job_begin(3, "vm3", NULL), -1);
	assert_int_equal(free_on("host-1"), 0);
	assert_int_equal(vs_node_avail(&vs_core,
				       &core_nodes()[id("vm3")]),
			 VS_AVAIL_NONE);
}

static void a_gang_is_held_whole_or_not_at_all(void **state)
{
	(void)state;
	begin(2, 1, 1, "warm");
	ready();
	assert_int_equal(job_begin(1, "vm1", "vm2"), -1);
	assert_int_equal(free_on("host-1"), 1);
	assert_int_equal(node_job(&core_nodes()[0]), 0);
}

static void a_stolen_vf_sends_the_vm_to_another_host(void **state)
{
	struct vs_claim *h;
	char first[VS_MOID_LEN];

	(void)state;
	begin(1, 2, 1, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turn();
	vs_strlcpy(first, vs_ledger_get(core_ledger(), "vm1")->host,
		   sizeof(first));
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_no_vf());
	turns(20);
	h = vs_ledger_get(core_ledger(), "vm1");
	assert_non_null(h);
	assert_string_not_equal(h->host, first);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(20);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	assert_int_equal(fake_overfull, 0);
}

static void a_full_pf_gets_no_power_on(void **state)
{
	struct fake_vm *thief;

	(void)state;
	begin(1, 1, 1, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turn();
	thief = fake_add_vm("thief", "group-other", "host-1", true);
	thief->has_nic = true;
	vs_strlcpy(thief->pci, "0000:3b:00.0", sizeof(thief->pci));
	fake_show(thief);
	assert_true(fake_finish(FAKE_CLONE));
	turns(100);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 0);
	assert_int_equal(fake_overfull, 0);
	/* shortage is no node fault */
	assert_null(heard(VS_REQUEST_FAIL, NULL));
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

/* ---- going away ------------------------------------------------------------------ */

static void a_cancel_during_the_clone_leaves_nothing(void **state)
{
	int one;

	(void)state;
	begin(1, 1, 1, "destroy");
	ready();
	one = id("vm1");
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	vs_job_wait(&vs_core, 7, 0, &one, 1);
	flags("vm1", BOOT);
	turn();
	vs_job_end(&vs_core, 7, &one, 1, true);
	turn();
	assert_non_null(heard(VS_REQUEST_PROLOG, NULL));
	assert_non_null(heard(VS_REQUEST_EPILOG, NULL));
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
	flags("vm1", GOING);
	/* the cancel came too late: the clone succeeds all the same */
	assert_true(fake_finish(FAKE_CLONE));
	turns(3);
	assert_true(fake_finish(FAKE_DESTROY));
	turns(3);
	assert_int_equal(fake_count(), 0);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 0);
	assert_int_equal(free_on("host-1"), 1);
}

static void a_job_that_leaves_a_booting_node_leaves_it_to_the_one_beside(
	void **state)
{
	int one;

	(void)state;
	begin(1, 1, 1, "power_off");
	ready();
	one = id("vm1");
	for (uint32_t job = 7; job <= 9; job++) {
		assert_int_equal(job_begin(job, "vm1", NULL), 0);
		vs_job_wait(&vs_core, job, 0, &one, 1);
	}
	flags("vm1", BOOT);
	turn();
	vs_job_end(&vs_core, 8, &one, 1, true);
	vs_job_end(&vs_core, 9, &one, 1, true);
	turn();
	assert_null(heard(VS_REQUEST_RELEASE, "vm1"));
	assert_int_equal(node_job(&core_nodes()[one]), 7);
	vs_job_end(&vs_core, 7, &one, 1, true);
	turn();
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

static void a_vm_to_be_rebuilt_takes_no_job_beside_a_running_one(void **state)
{
	struct vs_node *n;

	(void)state;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	n = vs_node_named(&vs_core, "vm1");
	assert_int_equal(vs_node_avail(&vs_core, n), VS_AVAIL_RUNNING);
	core_profiles()[0].memory_mb = 2048;
	vs_profiles_changed(&vs_core);
	turn();
	assert_int_equal(vs_node_avail(&vs_core, n), VS_AVAIL_NONE);
	end_job(7, "vm1");
	assert_int_equal(vs_node_avail(&vs_core, n), VS_AVAIL_TO_CREATE);
}

static void a_hold_stays_while_a_power_on_is_under_way(void **state)
{
	int one;

	(void)state;
	begin(1, 1, 1, "warm");
	ready();
	one = id("vm1");
	boot_up(7, "vm1");
	vs_job_end(&vs_core, 7, &one, 1, false);
	flags("vm1", GOING);
	turns(5);
	assert_int_equal(free_on("host-1"), 0);
	assert_true(fake_finish(FAKE_POWER_ON));
	turns(2);
	assert_true(fake_finish(FAKE_POWER_OFF));
	turns(2);
	assert_int_equal(free_on("host-1"), 1);
}

static void retention_destroy_never_reuses_a_vm(void **state)
{
	char uuid[40];

	(void)state;
	begin(1, 1, 1, "destroy");
	ready();
	bring_up(7, "vm1");
	vs_strlcpy(uuid, fake_get("vm1")->uuid, sizeof(uuid));
	end_job(7, "vm1");
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	/* the next job was quicker than the power-down */
	job_starts(8, "vm1");
	turn();
	assert_non_null(heard(VS_REQUEST_REBUILD, "vm1"));
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 0);
	rebuilt_by(FAKE_DESTROY);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	assert_string_not_equal(fake_get("vm1")->uuid, uuid);
	assert_int_equal(fake_overfull, 0);
}

static void a_vm_on_under_a_powered_down_node_is_switched_off(void **state)
{
	(void)state;
	begin_idle("warm");
	fake_get("vm1")->tools = true;
	fake_show(fake_get("vm1"));
	flags("vm1", DOWN);
	turn();
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 1);
	assert_int_equal(fake_sent[FAKE_SHUTDOWN], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_vm_costs_a_clone_and_a_power_on),
		cmocka_unit_test(nothing_is_powered_on_before_slurm_asks_for_power),
		cmocka_unit_test(resume_timeout_is_pushed_while_the_vm_is_not_on),
		cmocka_unit_test(a_prolog_ends_when_the_last_node_is_up),
		cmocka_unit_test(a_warm_vm_costs_nothing),
		cmocka_unit_test(a_vm_that_is_off_and_right_costs_one_call),
		cmocka_unit_test(a_job_may_begin_in_the_moment_in_which_suspend_timeout_ends),
		cmocka_unit_test(a_guest_with_tools_is_asked_before_it_is_switched_off),
		cmocka_unit_test(two_jobs_at_once_never_overfill_a_pf),
		cmocka_unit_test(a_gang_is_held_whole_or_not_at_all),
		cmocka_unit_test(a_stolen_vf_sends_the_vm_to_another_host),
		cmocka_unit_test(a_full_pf_gets_no_power_on),
		cmocka_unit_test(a_cancel_during_the_clone_leaves_nothing),
		cmocka_unit_test(a_job_that_leaves_a_booting_node_leaves_it_to_the_one_beside),
		cmocka_unit_test(a_vm_to_be_rebuilt_takes_no_job_beside_a_running_one),
		cmocka_unit_test(a_hold_stays_while_a_power_on_is_under_way),
		cmocka_unit_test(retention_destroy_never_reuses_a_vm),
		cmocka_unit_test(a_vm_on_under_a_powered_down_node_is_switched_off),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
