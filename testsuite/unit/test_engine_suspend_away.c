/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suspended jobs while nobody acts: vCenter is away, we only look, or what is
 * suspended is not ours. */
#include "suspend_stage.h"

/* Slurm hears of its node though nothing shows what it is now. */
static void its_silence_is_known_while_vcenter_is_away(void **state)
{
	(void)state;
	suspended();
	vs_core.loaded = false;
	kept = 0;
	vs_suspend_say(&vs_core, now + 6000);
	assert_int_equal(kept, 1);
	assert_string_equal(kept_nodes, "vm1 ");
	vs_core.loaded = true;
	/* and while nobody sees whether the call that was sent is over */
	full_house("vmxnet3");
	assert_int_equal(wanted(1, 1), 0);
	round_of(5);
	assert_int_equal(fake_waiting(FAKE_SUSPEND), 1);
	vs_op_forget_all(&vs_core);
	vs_core.loaded = false;
	kept_nodes[0] = '\0';
	vs_suspend_say(&vs_core, now + 6000);
	assert_string_equal(kept_nodes, "vm1 ");
	vs_core.loaded = true;
}

static void while_only_looking_nothing_is_done(void **state)
{
	(void)state;
	suspended();
	vs_core.observe = true;
	job_20.is = VS_JOB_GONE;
	round_of(8);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 4);
	assert_int_equal(resumed, 0);
	vs_core.observe = false;
}

/* Somebody has suspended a VM by hand, and its job by scontrol: theirs. */
static void what_others_suspend_is_theirs(void **state)
{
	(void)state;
	full_house("vmxnet3");
	may_all_be_suspended(true);
	job_11.suspended = job_11.held = true;
	fake_get("vm1")->on = false;
	fake_get("vm1")->suspended = true;
	fake_show(fake_get("vm1"));
	flags("vm1", STOPPED);
	round_of(20);
	assert_null(vs_suspend_of(&vs_core, 11));
	assert_int_equal(kept, 0);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 4);
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 0);
}

/* The same, and its VM was on still: nothing shows that it was stopped. */
static void jobs_of_before_a_start_are_told_to_go_on(void **state)
{
	(void)state;
	full_house("vmxnet3");
	round_of(1);
	assert_int_equal(continued, 2);		/* that Slurm knows of here */
	round_of(10);
	assert_int_equal(continued, 2);		/* once */
	vs_suspends_clear(&vs_core);
	may_all_be_suspended(false);
	round_of(2);
	assert_int_equal(continued, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_silence_is_known_while_vcenter_is_away),
		cmocka_unit_test(while_only_looking_nothing_is_done),
		cmocka_unit_test(what_others_suspend_is_theirs),
		cmocka_unit_test(jobs_of_before_a_start_are_told_to_go_on),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
