/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom jobs are suspended for, for how long, and what their calls may take. */
#include "suspend_stage.h"

#define PATIENCE_S (5 * 60)

/* Suspended at that time for job 20, which doesn't begin, it is back. */
static void had_its_time(int64_t since_ms, const char *vm)
{
	until(since_ms, PATIENCE_S + 15);
	assert_true(fake_finish(FAKE_POWER_ON));
	flags(vm, BUSY);
	round_of(5);
	assert_null(vs_core.suspends.jobs);
}

/* A limit keeps it, say, and each question names somebody. */
static void nobody_else_is_suspended_for_one_that_never_begins(void **state)
{
	int64_t back_ms;
	char text[256];

	(void)state;
	suspended();
	had_its_time(now, "vm1");
	back_ms = now;
	assert_int_equal(wanted(1, 4), -1);
	until(back_ms, 9 * 60);
	assert_int_equal(wanted(1, 4), -1);
	assert_null(vs_core.suspends.jobs);
	vs_strlcpy(text, "it waits", sizeof(text));
	vs_suspend_vain_words(&vs_core, 20, text, sizeof(text));
	assert_memory_equal(text, "it waits; others were suspended for it and it didn't begin: nobody is again before ", 83);
	vs_strlcpy(text, "it waits", sizeof(text));
	vs_suspend_vain_words(&vs_core, 21, text, sizeof(text));
	assert_string_equal(text, "it waits");
	/* others may have some suspended meanwhile */
	assert_int_equal(vs_make_room(&vs_core, 21, &nodes[4], 1, &victims[1],
				      1, take), 0);
	assert_non_null(vs_suspend_of(&vs_core, 12));
	job_21 = (struct vs_port_look) { .is = VS_JOB_GONE };
	round_of(5);
	assert_null(vs_core.suspends.jobs);
	until(back_ms, 11 * 60);
	assert_int_equal(wanted(1, 4), 0);
	round_of(5);
	assert_true(fake_finish(FAKE_SUSPEND));
	/* and the next time for twice as long */
	had_its_time(now, "vm1");
	back_ms = now;
	until(back_ms, 19 * 60);
	assert_int_equal(wanted(1, 4), -1);
	until(back_ms, 21 * 60);
	assert_int_equal(wanted(1, 4), 0);
}

/* Both of them make its room, and the datastore takes the memory of one. */
static void memory_that_has_no_room_suspends_nobody_in_vain(void **state)
{
	(void)state;
	full_house("vmxnet3");
	fake_store_mb = MEMORY_MB + MEMORY_MB / 2;
	fake_slow(NULL, 0);
	turn();
	victims[0].only_suspend = victims[1].only_suspend = true;
	assert_int_equal(wanted(2, 2), -1);
	assert_null(vs_core.suspends.jobs);
	/* who may be ended is, where there is no other way */
	victims[1].only_suspend = false;
	assert_int_equal(wanted(2, 2), 1);
	assert_false(take[0]);
	assert_true(take[1]);
	assert_non_null(vs_suspend_of(&vs_core, 11));
	assert_null(vs_suspend_of(&vs_core, 12));
	/* with what is on its way nobody else has room either */
	full_house("vmxnet3");
	fake_store_mb = MEMORY_MB + MEMORY_MB / 2;
	fake_slow(NULL, 0);
	turn();
	assert_int_equal(wanted(1, 1), 0);
	assert_int_equal(wanted(2, 4), 1);
	assert_false(take[0]);
}

/* One of its calls fails: what the other one had is never anybody else's. */
static void half_a_gang_keeps_its_room(void **state)
{
	(void)state;
	gang_wanted();
	round_of(5);
	assert_int_equal(fake_waiting(FAKE_SUSPEND), 2);
	assert_true(fake_finish(FAKE_SUSPEND));
	flags("vm1", SILENT);
	assert_true(fake_fail(FAKE_SUSPEND, VS_E_REQUEST, "no"));
	fake_slow(NULL, 0);
	for (int i = 0; i < 60 && !fake_waiting(FAKE_POWER_ON); i++) {
		now += 100;
		turn();
		assert_false(has_room());
	}
	assert_true(fake_finish(FAKE_POWER_ON));
	flags("vm1", BUSY);
	round_of(5);
	assert_int_equal(resumed, 1);
	assert_null(vs_core.suspends.jobs);
}

/* It went when the job's slurmds had just stopped it. */
static void nobody_is_suspended_for_one_that_is_gone_by_now(void **state)
{
	const struct vs_suspend *s;

	(void)state;
	full_house("vmxnet3");
	assert_int_equal(wanted(1, 1), 0);
	s = vs_suspend_of(&vs_core, 11);
	for (int i = 0; i < 10 && s->state != VS_SUSPEND_GOES; i++) {
		now += 1000;
		turn();
		if (s->state == VS_SUSPEND_GOES)
			job_20.is = VS_JOB_GONE;
		vs_suspend_say(&vs_core, now);
	}
	assert_int_equal(s->state, VS_SUSPEND_GOES);
	round_of(6);
	assert_int_equal(fake_sent[FAKE_SUSPEND], 0);
	assert_int_equal(resumed, 1);
	assert_null(vs_core.suspends.jobs);
}

/* What fails at last is judged from there, for others have come meanwhile. */
static void a_gang_that_comes_back_one_by_one_isnt_given_up(void **state)
{
	int64_t since_ms;

	(void)state;
	gang_suspended();
	job_20.is = VS_JOB_GONE;
	round_of(4);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 2);
	assert_true(fake_fail(FAKE_POWER_ON, VS_E_RETRY, "the file is locked"));
	fake_slow(NULL, 0);
	since_ms = now;
	until(since_ms, 300);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 2);
	assert_true(fake_finish(FAKE_POWER_ON));
	until(since_ms, 598);
	assert_true(fake_fail(FAKE_POWER_ON, VS_E_RETRY, "the file is locked"));
	fake_slow(NULL, 0);
	until(since_ms, 603);
	assert_false(vs_suspend_of(&vs_core, 11)->lost);
	until(since_ms, 610);
	assert_true(fake_finish(FAKE_POWER_ON));
	round_of(5);
	assert_int_equal(resumed, 1);
}

/* The first try fails; the next one takes long, for there is much to read. */
static void a_resume_that_takes_long_isnt_given_up(void **state)
{
	int64_t since_ms;

	(void)state;
	suspended();
	job_20.is = VS_JOB_GONE;
	round_of(3);
	assert_true(fake_fail(FAKE_POWER_ON, VS_E_RETRY, "the file is locked"));
	fake_slow(NULL, 0);
	since_ms = now;
	round_of(8);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	until(since_ms, 12 * 60);
	kept_nodes[0] = '\0';
	round_of(6);
	assert_string_equal(kept_nodes, "vm1 ");
	assert_true(fake_finish(FAKE_POWER_ON));
	flags("vm1", BUSY);
	round_of(5);
	assert_int_equal(resumed, 1);
}

/* The last of those that write together has had as little of the disks as they. */
static void who_writes_beside_others_has_their_time(void **state)
{
	int64_t since_ms;

	(void)state;
	gang_wanted();
	round_of(5);
	since_ms = now;
	until(since_ms, 1100);
	assert_true(fake_finish(FAKE_SUSPEND));
	until(since_ms, 1400);
	assert_false(vs_node_named(&vs_core, "vm1")->op.cancel_asked);
	assert_false(vs_node_named(&vs_core, "vm2")->op.cancel_asked);
	assert_true(fake_finish(FAKE_SUSPEND));
	round_of(3);
	assert_int_equal(vs_core.suspends.calls, 0);
}

/* vCenter showed what it knew: that it is on. Its memory was written meanwhile. */
static void who_was_suspended_while_its_host_was_away_goes_on(void **state)
{
	(void)state;
	full_house("vmxnet3");
	assert_int_equal(wanted(1, 1), 0);
	round_of(5);
	fake_get("vm1")->unreadable = true;
	fake_show(fake_get("vm1"));
	answers = false;
	assert_true(fake_fail(FAKE_SUSPEND, VS_E_RETRY, "lost"));
	fake_slow(NULL, 0);
	round_of(8);
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_WAKES);
	fake_get("vm1")->unreadable = false;
	fake_get("vm1")->on = false;
	fake_get("vm1")->suspended = true;
	fake_show(fake_get("vm1"));
	flags("vm1", SILENT);
	kept_nodes[0] = '\0';
	round_of(6);
	assert_string_equal(kept_nodes, "vm1 ");
	assert_true(fake_finish(FAKE_POWER_ON));
	answers = true;
	flags("vm1", BUSY);
	round_of(5);
	assert_int_equal(resumed, 1);
}

/* The list of nodes is another one; and nobody's answer is no answer. */
static void its_nodes_are_its_own_after_a_reconfiguration(void **state)
{
	struct vs_suspend *s;

	(void)state;
	gang_suspended();
	s = vs_suspend_of(&vs_core, 11);
	assert_string_equal(vs_suspend_node(&vs_core, s, 1)->name, "vm2");
	vs_setup_apply(&vs_core, conf_make(12, "warm", MEMORY_MB));
	assert_int_equal(s->nodes, 2);
	assert_string_equal(vs_suspend_node(&vs_core, s, 0)->name, "vm1");
	assert_string_equal(vs_suspend_node(&vs_core, s, 1)->name, "vm2");
	s->nodes = 0;
	vs_suspend_state(s, VS_SUSPEND_WAKES, now);
	vs_core.loaded = false;
	vs_suspend_say(&vs_core, now += 1000);
	vs_suspend_say(&vs_core, now += 1000);
	assert_int_equal(resumed, 0);
	vs_core.loaded = true;
}

/* Its room is what two of them give, and the second takes longer. */
static void the_time_to_begin_is_from_when_all_is_given(void **state)
{
	int64_t since_ms;

	(void)state;
	full_house("vmxnet3");
	assert_int_equal(wanted(2, 2), 0);
	round_of(5);
	assert_int_equal(fake_waiting(FAKE_SUSPEND), 2);
	assert_true(fake_finish(FAKE_SUSPEND));
	flags("vm1", SILENT);
	since_ms = now;
	until(since_ms, 2 * PATIENCE_S);
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_IS);
	assert_true(fake_finish(FAKE_SUSPEND));
	flags("vm2", SILENT);
	until(since_ms, 3 * PATIENCE_S - 20);
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_IS);
	assert_int_equal(vs_suspend_vain_until(&vs_core, 20), 0);
	until(since_ms, 3 * PATIENCE_S + 20);
	assert_int_not_equal(vs_suspend_vain_until(&vs_core, 20), 0);
}

static void who_never_had_all_of_it_isnt_blamed(void **state)
{
	int64_t since_ms;

	(void)state;
	full_house("vmxnet3");
	assert_int_equal(wanted(2, 2), 0);
	round_of(5);
	assert_true(fake_finish(FAKE_SUSPEND));
	flags("vm1", SILENT);
	assert_true(fake_fail(FAKE_SUSPEND, VS_E_REQUEST, "no"));
	fake_slow(NULL, 0);
	since_ms = now;
	until(since_ms, PATIENCE_S + 20);
	assert_true(fake_finish(FAKE_POWER_ON));
	assert_int_equal(vs_suspend_vain_until(&vs_core, 20), 0);
}

/* vCenter is away for longer than that: nobody could begin. */
static void the_time_to_begin_doesnt_run_while_nobody_can(void **state)
{
	(void)state;
	suspended();
	vs_core.loaded = false;
	for (int i = 0; i < 2 * PATIENCE_S; i++)
		vs_suspend_say(&vs_core, now += 1000);
	vs_core.loaded = true;
	round_of(10);
	assert_int_equal(vs_suspend_of(&vs_core, 11)->state, VS_SUSPEND_IS);
	assert_int_equal(vs_suspend_vain_until(&vs_core, 20), 0);
}

/* Its room is short, and wouldn't be its own. */
static void nobody_gives_way_to_who_may_not_go_on(void **state)
{
	(void)state;
	suspended();
	assert_int_equal(vs_make_room(&vs_core, 21, &nodes[6], 1, &victims[2],
				      1, take), 0);
	if (!vs_suspend_of(&vs_core, 13)) {	/* there was room: take it */
		bring_up(20, "vm5");
		assert_int_equal(vs_make_room(&vs_core, 21, &nodes[6], 1,
					      &victims[2], 1, take), 0);
	}
	job_13 = (struct vs_port_look) { .is = VS_JOB_RUNNING };
	job_21 = (struct vs_port_look) { .is = VS_JOB_PENDING };
	round_of(5);
	assert_true(fake_finish(FAKE_SUSPEND));
	flags("vm3", SILENT);
	round_of(2);
	bring_up(22, "vm6");
	job_20.is = VS_JOB_GONE;
	end_job(20, "vm5");
	end_job(22, "vm6");
	round_of(20);
	assert_string_equal(vs_suspend_of(&vs_core, 11)->why,
			    "what is free on its host was made free for another job");
	assert_false(vs_node_going(vs_node_named(&vs_core, "vm5")));
	assert_false(vs_node_going(vs_node_named(&vs_core, "vm6")));
}

/* The first failed; the second hangs, and that is what somebody can end. */
static void a_resume_that_hangs_is_said_whatever_was_before(void **state)
{
	int64_t since_ms;

	(void)state;
	suspended();
	job_20.is = VS_JOB_GONE;
	round_of(3);
	assert_true(fake_fail(FAKE_POWER_ON, VS_E_RETRY, "the file is locked"));
	fake_slow(NULL, 0);
	since_ms = now;
	round_of(8);
	assert_true(fake_accept(FAKE_POWER_ON));
	assert_string_equal(vs_suspend_of(&vs_core, 11)->why,
			    "the file is locked");
	until(since_ms, 120 + MEMORY_MB / 200 + 90);
	assert_non_null(strstr(vs_suspend_of(&vs_core, 11)->why,
			       "was called off and doesn't end"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_else_is_suspended_for_one_that_never_begins),
		cmocka_unit_test(memory_that_has_no_room_suspends_nobody_in_vain),
		cmocka_unit_test(half_a_gang_keeps_its_room),
		cmocka_unit_test(nobody_is_suspended_for_one_that_is_gone_by_now),
		cmocka_unit_test(a_gang_that_comes_back_one_by_one_isnt_given_up),
		cmocka_unit_test(a_resume_that_takes_long_isnt_given_up),
		cmocka_unit_test(who_writes_beside_others_has_their_time),
		cmocka_unit_test(who_was_suspended_while_its_host_was_away_goes_on),
		cmocka_unit_test(its_nodes_are_its_own_after_a_reconfiguration),
		cmocka_unit_test(the_time_to_begin_is_from_when_all_is_given),
		cmocka_unit_test(who_never_had_all_of_it_isnt_blamed),
		cmocka_unit_test(the_time_to_begin_doesnt_run_while_nobody_can),
		cmocka_unit_test(nobody_gives_way_to_who_may_not_go_on),
		cmocka_unit_test(a_resume_that_hangs_is_said_whatever_was_before),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
