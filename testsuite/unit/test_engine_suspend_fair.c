/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom jobs are suspended for, how many, and that all of them have their turn. */
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

static void all_look(void *ctx, struct vs_port_look *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct vs_port_look) {
			.job = rows[i].job,
			.is = rows[i].job ? VS_JOB_RUNNING : VS_JOB_GONE,
			.suspended = true, .ours = true, .since = 1700000000,
		};
}

/* Those of a host that is to be empty ask first, and are refused each time. */
static void the_last_one_has_its_turn_too(void **state)
{
	struct vs_conf *conf = conf_make(12, "warm", 40 * 1024);
	struct vs_port all = port;
	const char *there[12] = { NULL };
	int last = -1;

	(void)state;
	begin(12, 2, 12, "warm");
	free(conf->adapters[0].type);
	conf->adapters[0].type = vs_strdup("vmxnet3");
	conf->adapters[0].mtu = 0;
	begin_as(conf);
	ready();
	all.jobs_look = all_look;
	vs_core.port = &all;
	vs_suspends_clear(&vs_core);
	may_all_be_suspended(true);
	for (int i = 0; i < 12; i++) {
		char name[8];
		int node;

		snprintf(name, sizeof(name), "vm%d", i + 1);
		node = id(name);
		bring_up(30 + (uint32_t)i, name);
		vs_job_claim(&vs_core, 30 + (uint32_t)i, 0, &node, 1, true);
		there[i] = fake_get(name)->host;
	}
	for (int i = 0; i < 12; i++) {
		if (!strcmp(there[i], "host-1"))
			vs_suspend_found(&vs_core, &(struct vs_port_look) {
				.job = 30 + (uint32_t)i });
	}
	for (int i = 0; i < 12; i++) {
		char name[8];

		snprintf(name, sizeof(name), "vm%d", i + 1);
		if (strcmp(there[i], "host-1") && last >= 0)
			continue;
		if (strcmp(there[i], "host-1")) {
			last = i;
			vs_suspend_found(&vs_core, &(struct vs_port_look) {
				.job = 30 + (uint32_t)i });
		}
		fake_get(name)->on = false;
		fake_get(name)->suspended = true;
		fake_show(fake_get(name));
		flags(name, SILENT);
	}
	assert_true(vs_suspends_count(&vs_core) > 4);
	vs_host_get(&vs_core.inv, "host-1")->maintenance = true;
	round_of(6);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	assert_true(fake_finish(FAKE_POWER_ON));
	vs_core.port = &port;
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
		cmocka_unit_test(the_last_one_has_its_turn_too),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
