/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suspended jobs that room alone doesn't help: they wait for each other, a VM of
 * theirs isn't to be had, vCenter is away, or what they wait for never ends. */
#include "suspend_stage.h"

#define LOST_S (30 * 60)
#define PATIENCE_S (5 * 60)

static void out_of_reach(const char *vm, bool is)
{
	fake_get(vm)->unreadable = is;
	fake_show(fake_get(vm));
}

/* Each is asleep where the other one has made room for a job that never comes. */
static void two_that_sleep_on_one_host_dont_wait_for_each_other(void **state)
{
	(void)state;
	suspended();
	assert_true(begins(1));
	round_of(2);
	assert_int_equal(vs_make_room(&vs_core, 21, &nodes[5], 1, &victims[2],
				      1, take), 0);
	job_13 = (struct vs_port_look) { .is = VS_JOB_RUNNING };
	job_21 = (struct vs_port_look) { .is = VS_JOB_PENDING };
	round_of(5);
	assert_true(fake_finish(FAKE_SUSPEND));
	flags("vm3", SILENT);
	vs_job_end(&vs_core, 20, &nodes[4], 1, false);
	round_of(3);
	while (fake_finish(FAKE_CLONE))
		round_of(1);
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_IS);
	assert_int_equal(vs_suspend_of(&vs_core, 13)->state, VS_SUSPEND_IS);
	round_of(PATIENCE_S + 5);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 2);
}

/* What the others of it could have is not taken, nor held. */
static void a_gang_waits_for_the_host_of_one_of_its_vms(void **state)
{
	(void)state;
	gang_suspended();
	out_of_reach("vm2", true);
	job_20.is = VS_JOB_GONE;
	round_of(20);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 4);
	assert_null(vs_ledger_get(&vs_core.ledger, "vm1"));
	assert_string_equal(vs_suspend_of(&vs_core, 11)->why,
			    "vm2's VM on host esx2 isn't within reach");
	assert_string_equal(kept_nodes, "vm1 vm2 ");
	out_of_reach("vm2", false);
	round_of(5);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 2);
	assert_string_equal(vs_suspend_of(&vs_core, 11)->why, "");
}

/* It goes while the other one is powered on: nothing is tried at what is left. */
static void a_gang_of_which_one_is_lost_on_its_way_isnt_hurried(void **state)
{
	(void)state;
	gang_suspended();
	job_20.is = VS_JOB_GONE;
	round_of(3);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 2);
	assert_true(fake_fail(FAKE_POWER_ON, VS_E_RETRY, "not now"));
	fake_slow(NULL, 0);
	round_of(1);
	assert_true(fake_finish(FAKE_POWER_ON));
	out_of_reach("vm2", true);
	round_of(30);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 6);
	assert_string_equal(vs_suspend_of(&vs_core, 11)->why,
			    "vm2's VM on host esx2 isn't within reach");
	out_of_reach("vm2", false);
	round_of(8);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	assert_true(fake_finish(FAKE_POWER_ON));
	round_of(5);
	assert_int_equal(resumed, 1);
}

/* For so long, and then Slurm hears nothing of them: it ends the job. */
static void nobody_is_kept_for_a_host_that_never_comes_back(void **state)
{
	int64_t since_ms;

	(void)state;
	gang_suspended();
	out_of_reach("vm2", true);
	since_ms = now;
	job_20.is = VS_JOB_GONE;
	until(since_ms, LOST_S - 10);
	kept_nodes[0] = '\0';
	until(since_ms, LOST_S - 2);
	assert_string_equal(kept_nodes, "vm1 vm2 ");
	until(since_ms, LOST_S + 2);
	kept_nodes[0] = '\0';
	until(since_ms, LOST_S + 20);
	assert_string_equal(kept_nodes, "");
	assert_int_equal(fake_sent[FAKE_POWER_ON], 4);
	/* where SlurmdTimeout is 0 it goes on whenever it can */
	out_of_reach("vm2", false);
	round_of(5);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 2);
}

static void a_vm_that_is_gone_explains_no_silence(void **state)
{
	(void)state;
	gang_suspended();
	fake_remove(fake_get("vm2"));
	job_20.is = VS_JOB_GONE;
	round_of(20);
	assert_string_equal(vs_suspend_of(&vs_core, 11)->why,
			    "vCenter shows no VM of vm2");
	assert_string_equal(kept_nodes, "vm1 ");
	assert_int_equal(fake_sent[FAKE_POWER_ON], 4);
	gang_suspended();
	fake_get("vm1")->suspended = false;
	fake_show(fake_get("vm1"));
	round_of(20);
	assert_string_equal(vs_suspend_of(&vs_core, 11)->why, "vm1's VM is off");
	assert_string_equal(kept_nodes, "vm2 ");
	assert_int_equal(fake_sent[FAKE_POWER_ON], 4);
}

/* Its file may be broken: each try fails. */
static void fail_until(int64_t since_ms, int seconds)
{
	while (now - since_ms < (int64_t)seconds * 1000) {
		round_of(1);
		if (!fake_waiting(FAKE_POWER_ON))
			continue;
		assert_true(fake_fail(FAKE_POWER_ON, VS_E_REQUEST,
				      "it can't be read"));
		fake_slow(NULL, 0);
	}
}

static void resumes_that_fail_and_fail_are_slurms_to_judge(void **state)
{
	int64_t since_ms;

	(void)state;
	suspended();
	job_20.is = VS_JOB_GONE;
	since_ms = now;
	fail_until(since_ms, 590);
	kept_nodes[0] = '\0';
	fail_until(since_ms, 598);
	assert_string_equal(kept_nodes, "vm1 ");
	assert_true(fake_sent[FAKE_POWER_ON] > 10);
	fail_until(since_ms, 610);
	kept_nodes[0] = '\0';
	fail_until(since_ms, 620);
	assert_string_equal(kept_nodes, "");
	assert_string_equal(vs_suspend_of(&vs_core, 11)->why, "it can't be read");
}

/* Half of it is on a host that went: the other half isn't suspended for nothing,
 * and its slurmds say whether it lives. */
static void who_cant_be_suspended_whole_goes_on(void **state)
{
	(void)state;
	gang_wanted();
	round_of(1);
	assert_true(job_11.suspended);
	out_of_reach("vm2", true);
	round_of(4);
	while (fake_finish(FAKE_SUSPEND))
		round_of(1);
	flags("vm1", SILENT);
	round_of(3);
	/* one was under way: it comes back when the other one can */
	if (vs_suspend_of(&vs_core, 11)) {
		out_of_reach("vm2", false);
		round_of(5);
		assert_true(fake_finish(FAKE_POWER_ON));
		round_of(5);
	}
	assert_null(vs_suspend_of(&vs_core, 11));
	assert_int_equal(resumed, 1);
	assert_int_equal(vs_core.suspends.suspended, 0);
}

static void one_whose_host_goes_before_its_suspend_lives_by_its_slurmd(void **state)
{
	(void)state;
	full_house("vmxnet3");
	assert_int_equal(wanted(1, 1), 0);
	round_of(1);
	out_of_reach("vm1", true);
	answers = false;
	round_of(20);
	assert_int_equal(resumed, 0);
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_WAKES);
	answers = true;
	round_of(3);
	assert_int_equal(resumed, 1);
	assert_int_equal(fake_sent[FAKE_SUSPEND], 0);
}

/* Words are said, and nothing comes of them: as loop.c does while it is away. */
static void away_for(int seconds)
{
	vs_core.loaded = false;
	while (seconds--) {
		now += 1000;
		vs_suspend_say(&vs_core, now);
	}
}

static void who_was_stopped_goes_on_while_vcenter_is_away(void **state)
{
	(void)state;
	full_house("vmxnet3");
	answers = false;
	assert_int_equal(wanted(1, 1), 0);
	round_of(2);
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_HEEDS);
	away_for(6);
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_HEEDS);
	answers = true;
	away_for(8);
	assert_null(vs_suspend_of(&vs_core, 11));
	assert_int_equal(resumed, 1);
	vs_core.loaded = true;
}

static void whose_suspend_is_not_seen_is_asked(void **state)
{
	(void)state;
	full_house("vmxnet3");
	assert_int_equal(wanted(1, 1), 0);
	round_of(5);
	assert_int_equal(fake_waiting(FAKE_SUSPEND), 1);
	vs_op_forget_all(&vs_core);
	answers = false;
	woken = 0;
	away_for(90);
	assert_true(woken > 0);
	assert_string_equal(kept_nodes, "vm1 ");
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_GOES);
	answers = true;
	away_for(3);
	assert_null(vs_suspend_of(&vs_core, 11));
	assert_int_equal(resumed, 1);
	vs_core.loaded = true;
}

/* It was under way when slurmctld began. */
static void an_adopted_call_that_never_ends_is_called_off(void **state)
{
	struct vs_vc_task task = {
		.moid = "task-77", .name = "PowerOnVM_Task",
	};

	(void)state;
	suspended();
	task.entity = fake_get("vm1")->moid;
	vs_suspends_clear(&vs_core);
	fake_slow(&task, 1);
	round_of(3);
	assert_int_equal(vs_node_named(&vs_core, "vm1")->op.kind, VS_OP_ADOPTED);
	assert_non_null(vs_suspend_of(&vs_core, 11));
	round_of(100);
	assert_int_equal(fake_cancels, 0);
	round_of(20 + MEMORY_MB / 200);
	assert_int_equal(fake_cancels, 1);
}

/* Whenever it asks again: what it is given is there, or on its way. */
static void nobody_else_is_suspended_for_what_is_given(void **state)
{
	(void)state;
	full_house("vmxnet3");
	assert_int_equal(wanted(1, 4), 0);
	for (int i = 0; i < 40; i++) {
		now += 100;
		turn();
		vs_suspend_say(&vs_core, now);
		if (fake_finish(FAKE_SUSPEND))
			flags("vm1", SILENT);
		assert_int_equal(wanted(1, 4), 0);
		assert_null(vs_suspend_of(&vs_core, 12));
	}
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_IS);
}

/* The record of the array pends until the last task has begun. */
static void a_task_that_begins_has_had_its_chance(void **state)
{
	(void)state;
	full_house("vmxnet3");
	job_20.begun = 4;
	answers = false;
	assert_int_equal(wanted(1, 1), 0);
	round_of(3);
	job_20.begun = 5;	/* elsewhere: nothing was given yet */
	round_of(3);
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_HEEDS);
	answers = true;
	round_of(3);
	assert_int_equal(fake_waiting(FAKE_SUSPEND), 1);
	assert_true(fake_finish(FAKE_SUSPEND));
	flags("vm1", SILENT);
	round_of(5);
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_IS);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 4);
	job_20.begun = 6;
	round_of(3);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	assert_true(fake_finish(FAKE_POWER_ON));
	flags("vm1", BUSY);
	round_of(5);
	assert_int_equal(resumed, 1);
	/* nor does the next task have it suspended at once */
	assert_int_equal(wanted(1, 1), -1);
}

/* However quickly all goes: what it has begun is known before anything is given. */
static void a_task_that_begins_at_once_is_seen(void **state)
{
	(void)state;
	full_house("vmxnet3");
	round_of(2);	/* it has just been asked what is suspended */
	job_20.begun = 4;
	assert_int_equal(wanted(1, 1), 0);
	for (int i = 0; i < 8 && !fake_waiting(FAKE_SUSPEND); i++) {
		now += 50;
		turn();
		vs_suspend_say(&vs_core, now);
	}
	assert_true(fake_finish(FAKE_SUSPEND));
	turn();
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_IS);
	job_20.begun = 5;
	flags("vm1", SILENT);
	round_of(3);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
}

/* It is that job that has had it, not who comes to its node afterwards. */
static void who_comes_after_a_spared_one_isnt_spared(void **state)
{
	(void)state;
	suspended();
	round_of(PATIENCE_S + 5);
	assert_true(fake_finish(FAKE_POWER_ON));
	flags("vm1", BUSY);
	round_of(5);
	assert_int_equal(vs_make_room(&vs_core, 21, &nodes[4], 1, victims, 1,
				      take), -1);
	end_job(11, "vm1");
	round_of(2);
	vs_job_claim(&vs_core, 12, 0, &nodes[0], 1, true);
	victims[0].job = 12;
	flags("vm1", BUSY);
	round_of(2);
	assert_int_not_equal(vs_make_room(&vs_core, 21, &nodes[4], 1, victims,
					  1, take), -1);
}

static uint32_t last_of_many;
static int looked_at_last;

static void many_look(void *ctx, struct vs_port_look *rows, size_t n)
{
	(void)ctx;
	assert_true(n <= 256);
	for (size_t i = 0; i < n; i++) {
		looked_at_last += rows[i].job == last_of_many;
		rows[i] = (struct vs_port_look) {
			.job = rows[i].job, .is = VS_JOB_RUNNING,
			.suspended = true, .held = true,
		};
	}
}

/* Operators have suspended hundreds of jobs: whose is ours is found all the same. */
static void the_last_of_many_is_looked_at_too(void **state)
{
	struct vs_port many = port;

	(void)state;
	many.jobs_look = many_look;
	begin(300, 2, 300, "warm");
	ready();
	vs_core.port = &many;
	vs_suspends_clear(&vs_core);
	may_all_be_suspended(true);
	for (int i = 0; i < 300; i++) {
		vs_job_claim(&vs_core, 1000 + (uint32_t)i, 0, &i, 1, true);
		flags(vs_core.nodes[i].name, STOPPED);
	}
	last_of_many = 1299;
	looked_at_last = 0;
	for (int i = 0; i < 3; i++)
		vs_suspend_say(&vs_core, now += 1000);
	assert_true(looked_at_last > 0);
	vs_core.port = &port;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_that_sleep_on_one_host_dont_wait_for_each_other),
		cmocka_unit_test(a_gang_waits_for_the_host_of_one_of_its_vms),
		cmocka_unit_test(a_gang_of_which_one_is_lost_on_its_way_isnt_hurried),
		cmocka_unit_test(nobody_is_kept_for_a_host_that_never_comes_back),
		cmocka_unit_test(a_vm_that_is_gone_explains_no_silence),
		cmocka_unit_test(resumes_that_fail_and_fail_are_slurms_to_judge),
		cmocka_unit_test(who_cant_be_suspended_whole_goes_on),
		cmocka_unit_test(one_whose_host_goes_before_its_suspend_lives_by_its_slurmd),
		cmocka_unit_test(who_was_stopped_goes_on_while_vcenter_is_away),
		cmocka_unit_test(whose_suspend_is_not_seen_is_asked),
		cmocka_unit_test(an_adopted_call_that_never_ends_is_called_off),
		cmocka_unit_test(nobody_else_is_suspended_for_what_is_given),
		cmocka_unit_test(a_task_that_begins_has_had_its_chance),
		cmocka_unit_test(a_task_that_begins_at_once_is_seen),
		cmocka_unit_test(who_comes_after_a_spared_one_isnt_spared),
		cmocka_unit_test(the_last_of_many_is_looked_at_too),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
