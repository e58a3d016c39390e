/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prefetch: what becomes of a VM that was made ahead and that no job needs, or
 * of which nothing is known any more.
 */
#include "engine/prefetch/prefetch_i.h"
#include "engine/tasks/tasks_i.h"
#include "prefetch_stage.h"

static struct vs_node_prefetch *ahead_of(const char *node)
{
	return &vs_node_named(&vs_core, node)->ahead;
}

static void a_clone_that_no_job_needs_goes_after_the_grace(void **state)
{
	(void)state;
	cloned_ahead();
	nplan = 0;
	goes_by(50);		/* backfill restarts: this proves nothing */
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	planned(2, "vm2", 100);
	goes_by(50);
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	nplan = 0;
	goes_by(1);
	goes_by(59);
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	goes_by(2);
	assert_true(fake_finish(FAKE_DESTROY));
	turns(2);
	assert_int_equal(vs_plans.nahead, 0);
	assert_int_equal(vs_plans.removed, 1);
	assert_false(vs_removal_limit_is_reached());
	assert_int_equal(HASH_COUNT(vs_removal_limit.ends), 0);
}

static void a_vm_that_is_up_for_nobody_is_powered_down_and_goes(void **state)
{
	(void)state;
	stage(2, 1, 2, "warm", 4);
	planned(7, "vm1", 60);
	plan_is_read();
	powers_up("vm1");
	nplan = 0;
	goes_by(1);
	goes_by(58);
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	goes_by(3);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	powered_down("vm1");
	turns(2);
	assert_true(fake_finish(FAKE_DESTROY));
	turns(2);
	assert_int_equal(vs_plans.nahead, 0);
	assert_int_equal(vs_plans.removed, 1);
	assert_int_equal(HASH_COUNT(vs_removal_limit.ends), 0);
}

static void a_boot_for_nobody_is_called_off(void **state)
{
	(void)state;
	stage(2, 1, 2, "warm", 4);
	planned(7, "vm1", 60);
	plan_is_read();
	flags("vm1", VS_NODE_POWERING_UP);
	turns(2);
	assert_true(fake_accept(FAKE_CLONE));
	nplan = 0;
	goes_by(1);
	goes_by(61);
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
	flags("vm1", DOWN);
	turns(2);
	assert_int_equal(fake_cancels, 1);
}

static void what_an_administrator_powers_up_is_his(void **state)
{
	(void)state;
	cloned_ahead();
	flags("vm2", DOWN | VS_NODE_POWER_UP_ASKED);
	turns(2);
	assert_int_equal(vs_plans.nahead, 0);
	nplan = 0;
	flags("vm2", VS_NODE_POWERING_UP);
	goes_by(1);
	goes_by(100);
	assert_null(heard(VS_REQUEST_RELEASE, "vm2"));
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
}

static void a_node_is_made_ready_once_for_a_job(void **state)
{
	(void)state;
	stage(2, 1, 2, "warm", 4);
	planned(7, "vm1", 60);
	plan_is_read();
	powers_up("vm1");
	turns(2);
	powered_down("vm1");	/* SuspendTime */
	ntold = 0;
	plan_is_read();
	assert_null(heard(VS_REQUEST_POWER_UP, "vm1"));
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	plan[0].job = 8;
	plan_is_read();
	assert_non_null(heard(VS_REQUEST_POWER_UP, "vm1"));
	/* Slurm takes its time: it isn't down again before it was up. */
	turns(3);
	assert_int_equal(ahead_of("vm1")->state, VS_PREFETCH_UP);
}

static void a_new_configuration_keeps_what_was_made(void **state)
{
	struct vs_conf *conf = conf_make(2, "power_off", 1024);

	(void)state;
	cloned_ahead();
	vs_setup_apply(&vs_core, conf);		/* Prefetch=0, again */
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 1);
	goes_by(1);
	goes_by(conf->prefetch.grace_s);
	assert_true(fake_finish(FAKE_DESTROY));
	turns(2);
	assert_int_equal(vs_plans.nahead, 0);
}

static void another_controllers_past_is_forgotten(void **state)
{
	(void)state;
	cloned_ahead();
	vs_lock();
	vs_leadership_begin(&vs_core);
	vs_unlock();
	assert_int_equal(vs_plans.nahead, 0);
	assert_int_equal(ahead_of("vm2")->state, VS_PREFETCH_NOT);
	vs_client_renew_clear();
	flags("vm1", DOWN);
	flags("vm2", DOWN);
	nplan = 0;
	ready();
	goes_by(1);
	goes_by(100);
	assert_non_null(fake_get("vm2"));	/* a node's VM that is off */
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
}

#define T(f) cmocka_unit_test(f)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_clone_that_no_job_needs_goes_after_the_grace),
		T(a_vm_that_is_up_for_nobody_is_powered_down_and_goes),
		T(a_boot_for_nobody_is_called_off),
		T(what_an_administrator_powers_up_is_his),
		T(a_node_is_made_ready_once_for_a_job),
		T(a_new_configuration_keeps_what_was_made),
		T(another_controllers_past_is_forgotten),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
