/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suspend as a preemption action: who is suspended, when it goes on, and what becomes
 * of it where that fails (suspend_stage.h). */
#include "suspend_stage.h"

static void a_job_is_suspended_where_it_would_end(void **state)
{
	(void)state;
	full_house("vmxnet3");
	assert_false(has_room());
	assert_int_equal(wanted(1, 4), 0);
	assert_false(take[0] || take[1] || take[2] || take[3]);
	assert_non_null(vs_suspend_of(&vs_core, 11));
	assert_null(vs_suspend_of(&vs_core, 12));
	/* asked again while it is on its way nobody else is named */
	assert_int_equal(wanted(1, 4), 0);
	assert_null(vs_suspend_of(&vs_core, 12));
	round_of(1);
	assert_true(job_11.suspended);
	assert_int_equal(job_11.for_job, 20);
	assert_int_equal(fake_sent[FAKE_SUSPEND], 0);	/* first its slurmd */
	round_of(4);
	assert_int_equal(fake_waiting(FAKE_SUSPEND), 1);
	assert_false(has_room());
	assert_true(fake_finish(FAKE_SUSPEND));
	flags("vm1", SILENT);
	round_of(6);
	assert_string_equal(kept_nodes, "vm1 ");
	assert_null(vs_ledger_get(&vs_core.ledger, "vm1"));
	assert_int_equal(vs_node_avail(&vs_core, &vs_core.nodes[nodes[0]]),
			 VS_AVAIL_NONE);
	assert_true(begins(1));
}

static void it_goes_on_when_there_is_room_again(void **state)
{
	(void)state;
	suspended();
	assert_true(begins(1));
	job_20.is = VS_JOB_RUNNING;
	round_of(5);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 4);	/* its VM is in vm1's room */
	assert_string_not_equal(vs_suspend_of(&vs_core, 11)->why, "");
	job_20.is = VS_JOB_GONE;
	vs_job_end(&vs_core, 20, &nodes[4], 1, false);
	round_of(8);
	while (fake_finish(FAKE_CLONE))
		round_of(1);
	round_of(3);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	assert_non_null(vs_ledger_get(&vs_core.ledger, "vm1"));
	answers = false;
	woken = 0;
	assert_true(fake_finish(FAKE_POWER_ON));
	round_of(5);
	assert_int_equal(resumed, 0);		/* its slurmd is silent yet */
	assert_int_equal(woken, 1);
	round_of(20);	/* it may have been asked before it could hear */
	assert_int_equal(woken, 2);
	answers = true;
	round_of(2);
	assert_int_equal(resumed, 1);
	assert_null(vs_suspend_of(&vs_core, 11));
	assert_int_equal(vs_core.suspends.resumed, 1);
	assert_int_equal(fake_sent[FAKE_SHUTDOWN], 0);
}

static void while_the_other_waits_it_stays(void **state)
{
	(void)state;
	suspended();
	round_of(30);
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_IS);
	assert_true(kept >= 5);
	/* but not for ever; and then it is no victim for a while */
	round_of(280);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 5);
	assert_true(fake_finish(FAKE_POWER_ON));
	flags("vm1", BUSY);
	round_of(4);
	assert_int_equal(resumed, 1);
	assert_int_equal(wanted(1, 1), -1);
	assert_null(vs_suspend_of(&vs_core, 11));
}

static void nobody_is_suspended_for_one_that_is_gone(void **state)
{
	(void)state;
	full_house("vmxnet3");
	assert_int_equal(wanted(1, 1), 0);
	vs_suspend_of(&vs_core, 11)->waits = false;
	round_of(2);
	assert_null(vs_suspend_of(&vs_core, 11));
	assert_false(job_11.suspended);
	/* its processes are stopped by then */
	full_house("vmxnet3");
	assert_int_equal(wanted(1, 1), 0);
	round_of(1);
	assert_true(job_11.suspended);
	job_20.is = VS_JOB_GONE;
	flags("vm1", STOPPED);
	round_of(8);
	assert_int_equal(resumed, 1);
	assert_int_equal(fake_sent[FAKE_SUSPEND], 0);
}

/* By an administrator, while it was suspended: the guest is the same one. */
static void it_goes_on_where_its_vm_is(void **state)
{
	(void)state;
	suspended();
	vs_strlcpy(fake_get("vm1")->host, "host-2", 32);
	vs_strlcpy(fake_get("vm4")->host, "host-1", 32);
	fake_show(fake_get("vm1"));
	fake_show(fake_get("vm4"));
	job_20.is = VS_JOB_GONE;
	ntold = 0;
	round_of(6);
	assert_true(fake_finish(FAKE_POWER_ON));
	flags("vm1", BUSY);
	round_of(5);
	assert_int_equal(resumed, 1);
	assert_null(heard(VS_TELL_GIVEUP, "vm1"));
}

/* What was made free for another job is that one's, not of who slept before. */
static void who_sleeps_takes_no_room_that_others_made(void **state)
{
	(void)state;
	suspended();
	assert_true(begins(1));
	job_20.is = VS_JOB_RUNNING;
	round_of(2);
	job_12.for_job = 0;
	assert_int_equal(vs_make_room(&vs_core, 21, &nodes[5], 1, &victims[2],
				      1, take), 0);
	assert_non_null(vs_suspend_of(&vs_core, 13));
	job_13 = (struct vs_port_look) { .is = VS_JOB_RUNNING };
	job_21 = (struct vs_port_look) { .is = VS_JOB_PENDING };
	round_of(5);
	assert_true(fake_finish(FAKE_SUSPEND));
	flags("vm3", SILENT);
	round_of(20);
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_IS);
	job_21.is = VS_JOB_GONE;
	round_of(5);
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state +
			 vs_suspend_of(&vs_core, 13)->state,
			 VS_SUSPEND_IS + VS_SUSPEND_RESUMES);
}

static void nobody_else_comes_to_its_node(void **state)
{
	(void)state;
	full_house("vmxnet3");
	assert_int_equal(vs_node_avail(&vs_core, &vs_core.nodes[nodes[0]]),
			 VS_AVAIL_WARM);
	assert_int_equal(wanted(1, 1), 0);
	assert_int_equal(vs_node_avail(&vs_core, &vs_core.nodes[nodes[0]]),
			 VS_AVAIL_NONE);
}

/* Its end would give nothing more. */
static void who_goes_already_is_no_victim(void **state)
{
	(void)state;
	full_house("vmxnet3");
	assert_int_equal(wanted(1, 1), 0);
	round_of(1);
	assert_int_equal(wanted(2, 4), 0);
	assert_false(take[0]);
	assert_non_null(vs_suspend_of(&vs_core, 12));
	assert_null(vs_suspend_of(&vs_core, 13));
}

static void who_waits_no_more_gives_way(void **state)
{
	(void)state;
	suspended();
	job_20.is = VS_JOB_GONE;
	round_of(3);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	assert_true(fake_finish(FAKE_POWER_ON));
	round_of(3);
	assert_int_equal(resumed, 1);
}

static void an_operators_hold_is_heeded(void **state)
{
	(void)state;
	suspended();
	job_20.is = VS_JOB_GONE;
	job_11.held = true;
	round_of(5);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 4);
	job_11.held = false;
	round_of(3);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 5);
}

static void a_vm_that_cant_be_suspended_costs_nobody_his_job(void **state)
{
	(void)state;
	full_house("vmxnet3");
	assert_int_equal(wanted(1, 1), 0);
	round_of(5);
	assert_true(fake_fail(FAKE_SUSPEND, VS_E_REQUEST, "no"));
	round_of(1);
	fake_slow(NULL, 0);
	round_of(12);
	assert_int_equal(resumed, 1);
	assert_null(vs_suspend_of(&vs_core, 11));
	assert_int_equal(fake_sent[FAKE_POWER_ON], 4);
	/* the next time it ends, as Slurm does it */
	assert_int_equal(wanted(1, 1), 1);
	assert_true(take[0]);
}

static void a_type_that_forbids_it_ends(void **state)
{
	(void)state;
	full_house("sriov");
	assert_int_equal(wanted(1, 1), 1);
	assert_true(take[0]);
	assert_null(vs_suspend_of(&vs_core, 11));
}

static void nobody_is_suspended_whose_partition_says_nothing(void **state)
{
	(void)state;
	full_house("vmxnet3");
	may_all_be_suspended(false);
	assert_int_equal(wanted(1, 1), 1);
	assert_true(take[0]);
	full_house("vmxnet3");
	may_all_be_suspended(false);
	victims[0].only_suspend = true;
	assert_int_equal(wanted(1, 1), -1);
	assert_false(take[0]);
	/* and by what it is, whatever its partition says */
	full_house("vmxnet3");
	victims[0].only_suspend = false;
	victims[0].never_suspend = true;
	assert_int_equal(wanted(1, 1), 1);
	assert_true(take[0]);
}

/* vCenter takes it, and that is the last that is heard of it. */
static void a_call_that_never_ends_is_called_off(void **state)
{
	char text[1024];

	(void)state;
	full_house("vmxnet3");
	assert_int_equal(wanted(1, 1), 0);
	round_of(5);
	assert_true(fake_accept(FAKE_SUSPEND));
	round_of(120);
	assert_int_equal(fake_cancels, 0);
	assert_string_equal(vs_suspend_of(&vs_core, 11)->why, "");
	/* what there is to write takes its time */
	round_of(MEMORY_MB / 200);
	assert_int_equal(fake_cancels, 1);
	round_of(70);		/* in vain */
	assert_int_equal(fake_cancels, 1);
	assert_non_null(strstr(vs_suspend_of(&vs_core, 11)->why,
			       "on vm1 was called off and doesn't end"));
	vs_suspend_words(&vs_core, vs_suspend_of(&vs_core, 11), text,
			 sizeof(text));
	assert_non_null(strstr(text, "doesn't end: end it there"));
	assert_true(fake_fail(FAKE_SUSPEND, VS_E_CANCELED, "called off"));
	fake_slow(NULL, 0);
	round_of(12);
	assert_int_equal(resumed, 1);
	assert_int_equal(wanted(1, 1), 1);
}

/* Whoever hasn't stopped the job yet is waited for; a requeued one is let go. */
static void its_slurmd_is_waited_for(void **state)
{
	(void)state;
	full_house("vmxnet3");
	answers = false;
	assert_int_equal(wanted(1, 1), 0);
	round_of(7);
	assert_int_equal(fake_sent[FAKE_SUSPEND], 0);
	job_11 = (struct vs_port_look) { .is = VS_JOB_PENDING };
	round_of(2);
	assert_null(vs_suspend_of(&vs_core, 11));
}

/* The preemptor's own VM is idle where the suspended one was. */
static void an_idle_vm_gives_way_to_it(void **state)
{
	(void)state;
	suspended();
	bring_up(20, "vm5");
	job_20.is = VS_JOB_RUNNING;
	round_of(3);
	job_20.is = VS_JOB_GONE;
	end_job(20, "vm5");
	round_of(2);
	assert_false(vs_node_going(vs_node_named(&vs_core, "vm5")));
	round_of(6);	/* Slurm has looked at its queue */
	assert_true(vs_node_going(vs_node_named(&vs_core, "vm5")));
	assert_false(vs_node_going(vs_node_named(&vs_core, "vm2")));
}

static void slurms_refusal_is_the_end_of_it(void **state)
{
	(void)state;
	full_house("vmxnet3");
	refuses = 1;
	assert_int_equal(wanted(1, 1), 0);
	round_of(3);
	assert_null(vs_suspend_of(&vs_core, 11));
	assert_int_equal(fake_sent[FAKE_SUSPEND], 0);
	assert_int_equal(wanted(1, 1), 1);	/* what is left */
	assert_true(take[0]);
}

/* Its job is cancelled: nobody in the VM can tell Slurm that it has ended. */
static void a_job_that_ends_suspended_loses_its_vm(void **state)
{
	(void)state;
	suspended();
	job_11 = (struct vs_port_look) { .is = VS_JOB_GONE };
	vs_job_end(&vs_core, 11, &nodes[0], 1, false);
	flags("vm1", VS_NODE_COMPLETING | VS_NODE_NO_RESPOND);
	round_of(3);
	assert_null(vs_suspend_of(&vs_core, 11));
	assert_int_equal(fake_waiting(FAKE_POWER_OFF), 1);
	assert_int_equal(fake_sent[FAKE_SHUTDOWN], 0);
	assert_true(fake_finish(FAKE_POWER_OFF));
	ntold = 0;
	round_of(8);
	assert_non_null(heard(VS_TELL_GIVEUP, "vm1"));
}

/* A person sets its node down: there, no job completes. */
static void a_node_that_is_taken_from_it_has_no_use_for_its_vm(void **state)
{
	(void)state;
	suspended();
	job_11 = (struct vs_port_look) { .is = VS_JOB_PENDING };
	vs_job_end(&vs_core, 11, &nodes[0], 1, false);
	flags("vm1", VS_NODE_DOWN | VS_NODE_TAKEN | VS_NODE_NO_RESPOND);
	round_of(3);
	assert_int_equal(fake_waiting(FAKE_POWER_OFF), 1);
	assert_true(fake_finish(FAKE_POWER_OFF));
	round_of(3);
	/* what somebody suspends there later is theirs */
	fake_get("vm1")->suspended = true;
	fake_show(fake_get("vm1"));
	round_of(8);
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 1);
}

static void two_vms_go_together_and_come_back_together(void **state)
{
	(void)state;
	gang_wanted();
	round_of(5);
	assert_int_equal(fake_waiting(FAKE_SUSPEND), 2);
	assert_true(fake_finish(FAKE_SUSPEND));
	round_of(2);
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_GOES);
	assert_non_null(vs_ledger_get(&vs_core.ledger, "vm1"));
	assert_non_null(vs_ledger_get(&vs_core.ledger, "vm2"));
	assert_true(fake_finish(FAKE_SUSPEND));
	flags("vm1", SILENT);
	flags("vm2", SILENT);
	round_of(2);
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_IS);
	/* room for one alone is no room */
	assert_true(begins(1));
	job_20.is = VS_JOB_RUNNING;
	round_of(5);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 4);
	assert_null(vs_ledger_get(&vs_core.ledger, "vm1"));
	assert_null(vs_ledger_get(&vs_core.ledger, "vm2"));
	job_20.is = VS_JOB_GONE;
	end_job(20, "vm5");
	flags("vm5", GOING);
	round_of(2);
	while (fake_finish(FAKE_CLONE) || fake_finish(FAKE_POWER_OFF))
		round_of(1);
	flags("vm5", DOWN);
	round_of(5);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 2);
	assert_true(fake_finish(FAKE_POWER_ON));
	round_of(3);
	assert_int_equal(resumed, 0);
	assert_true(fake_finish(FAKE_POWER_ON));
	round_of(5);
	assert_int_equal(resumed, 1);
}

/* slurmctld begins anew: its records and vCenter are all that is known. */
static void after_a_restart_it_is_found(void **state)
{
	(void)state;
	suspended();
	vs_suspends_clear(&vs_core);
	round_of(3);
	assert_non_null(vs_suspend_of(&vs_core, 11));
	assert_int_equal(vs_suspend_of(&vs_core, 11)->for_job, 20);
	kept = 0;
	round_of(6);
	assert_true(kept > 0);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 4);
	/* killed between the last VM's end and that word */
	vs_suspends_clear(&vs_core);
	fake_get("vm1")->on = true;
	fake_get("vm1")->suspended = false;
	fake_show(fake_get("vm1"));
	round_of(5);
	assert_int_equal(resumed, 1);
	assert_null(vs_suspend_of(&vs_core, 11));
	/* killed when Slurm had stopped it, and its VM was on still */
	job_11.suspended = job_11.ours = true;
	flags("vm1", STOPPED);
	round_of(5);
	assert_int_equal(resumed, 2);
	assert_null(vs_suspend_of(&vs_core, 11));
}

/* Killed before Slurm had saved that it is suspended. */
static void a_job_that_slurm_believes_running_goes_on(void **state)
{
	(void)state;
	suspended();
	vs_suspends_clear(&vs_core);
	job_11 = (struct vs_port_look) { .is = VS_JOB_RUNNING };
	flags("vm1", BUSY);
	round_of(4);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	assert_true(fake_finish(FAKE_POWER_ON));
	continued = 0;
	round_of(3);
	assert_null(vs_suspend_of(&vs_core, 11));
	assert_int_equal(fake_sent[FAKE_SUSPEND], 1);
	assert_int_equal(continued, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_suspended_where_it_would_end),
		cmocka_unit_test(it_goes_on_when_there_is_room_again),
		cmocka_unit_test(while_the_other_waits_it_stays),
		cmocka_unit_test(nobody_is_suspended_for_one_that_is_gone),
		cmocka_unit_test(it_goes_on_where_its_vm_is),
		cmocka_unit_test(who_sleeps_takes_no_room_that_others_made),
		cmocka_unit_test(nobody_else_comes_to_its_node),
		cmocka_unit_test(who_goes_already_is_no_victim),
		cmocka_unit_test(who_waits_no_more_gives_way),
		cmocka_unit_test(an_operators_hold_is_heeded),
		cmocka_unit_test(a_vm_that_cant_be_suspended_costs_nobody_his_job),
		cmocka_unit_test(a_type_that_forbids_it_ends),
		cmocka_unit_test(nobody_is_suspended_whose_partition_says_nothing),
		cmocka_unit_test(a_call_that_never_ends_is_called_off),
		cmocka_unit_test(its_slurmd_is_waited_for),
		cmocka_unit_test(an_idle_vm_gives_way_to_it),
		cmocka_unit_test(slurms_refusal_is_the_end_of_it),
		cmocka_unit_test(a_job_that_ends_suspended_loses_its_vm),
		cmocka_unit_test(a_node_that_is_taken_from_it_has_no_use_for_its_vm),
		cmocka_unit_test(two_vms_go_together_and_come_back_together),
		cmocka_unit_test(after_a_restart_it_is_found),
		cmocka_unit_test(a_job_that_slurm_believes_running_goes_on),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
