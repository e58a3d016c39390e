/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The budgets for operations in flight: per vCenter for provisioning and for
 * power, and per host. A waiting operation starts as soon as another ends. Also
 * the end of operations that no job needs any more.
 */
#include "engine/run/run_i.h"
#include "engine/tasks/tasks.h"
#include "engine_stage.h"

#define NODES 6

static const char *const names[NODES] = {
	"vm1", "vm2", "vm3", "vm4", "vm5", "vm6",
};

/* One job on all nodes, which wait for power, and that budget. */
static void all_wanted_within(int *budget, int max, uint32_t f)
{
	int ids[NODES];
	struct vs_err err;

	*budget = max;
	ready();
	for (int i = 0; i < NODES; i++)
		ids[i] = id(names[i]);
	assert_int_equal(vs_job_begin(&vs_core, 7, 0, ids, NODES, &err), 0);
	for (int i = 0; i < NODES; i++)
		flags(names[i], f);
}

static int in_flight_on(const char *host)
{
	int n = 0;

	for (size_t i = 0; i < core_nnodes(); i++)
		n += core_nodes()[i].op.id &&
		     !strcmp(core_nodes()[i].op.host, host);
	return n;
}

static void provisioning_has_a_budget_per_vcenter(void **state)
{
	(void)state;
	begin(NODES, 3, 2, "warm");
	all_wanted_within(&core_conf()->max_provision_ops, 2, WANTED);
	turns(10);
	assert_int_equal(fake_waiting(FAKE_CLONE), 2);
	for (int done = 0; done < NODES; done++) {
		assert_true(fake_finish(FAKE_CLONE));
		turns(2);
		assert_true(fake_waiting(FAKE_CLONE) <= 2);
	}
	assert_int_equal(fake_sent[FAKE_CLONE], NODES);
	assert_int_equal(vs_tasks_provisioning(), 0);
}

static void power_operations_have_a_budget_of_their_own(void **state)
{
	(void)state;
	begin(NODES, 3, 2, "warm");
	all_wanted_within(&core_conf()->max_power_ops, 1, BOOT);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_CLONE), NODES);
	while (fake_finish(FAKE_CLONE))
		;
	turns(10);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	for (int done = 0; done < NODES; done++) {
		assert_true(fake_finish(FAKE_POWER_ON));
		turns(2);
		assert_true(fake_waiting(FAKE_POWER_ON) <= 1);
	}
	assert_int_equal(fake_sent[FAKE_POWER_ON], NODES);
	assert_int_equal(vs_tasks_power_ops(), 0);
}

static void each_host_has_a_budget(void **state)
{
	(void)state;
	begin(NODES, 2, 3, "warm");
	all_wanted_within(&core_conf()->max_ops_per_host, 1, WANTED);
	turns(10);
	assert_int_equal(fake_waiting(FAKE_CLONE), 2);
	assert_int_equal(in_flight_on("host-1"), 1);
	assert_int_equal(in_flight_on("host-2"), 1);
	while (fake_finish(FAKE_CLONE)) {
		turns(2);
		assert_true(in_flight_on("host-1") <= 1);
		assert_true(in_flight_on("host-2") <= 1);
	}
	assert_int_equal(fake_sent[FAKE_CLONE], NODES);
}

/* Thousands that wait are not looked at in every turn. */
static void a_freed_budget_is_taken_before_all_are_looked_at(void **state)
{
	(void)state;
	begin(NODES, 3, 2, "warm");
	all_wanted_within(&core_conf()->max_provision_ops, 2, WANTED);
	turns(10);
	for (int done = 1; done <= 2; done++) {
		vs_passes.whole_ms = now;
		assert_true(fake_finish(FAKE_CLONE));
		some_turn();
		assert_false(vs_passes.whole);
		assert_int_equal(fake_sent[FAKE_CLONE], 2 + done);
		assert_int_equal(fake_waiting(FAKE_CLONE), 2);
	}
}

static void who_waits_is_looked_at_four_times_a_second(void **state)
{
	(void)state;
	begin(NODES, 3, 2, "warm");
	all_wanted_within(&core_conf()->max_provision_ops, 2, BOOT);
	turns(10);
	ntold = 0;
	for (int i = 0; i < 2; i++) {
		some_turn();
		assert_false(vs_passes.whole);
		assert_int_equal(ntold, 0);
	}
	some_turn();
	assert_true(vs_passes.whole);
	/* each of them: a part would leave others to ResumeTimeout */
	assert_int_equal(ntold, NODES);
	for (int i = 0; i < NODES; i++)
		assert_int_equal(told[i].kind, VS_REQUEST_BOOT_PUSH);
}

static void a_thousand_who_wait_are_looked_at_once_a_second(void **state)
{
	char name[16];
	int whole = 0;

	(void)state;
	begin(1000, 3, 2, "warm");
	ready();
	for (int i = 1; i <= 1000; i++) {
		snprintf(name, sizeof(name), "vm%d", i);
		flags(name, VS_NODE_POWERING_UP);
	}
	turns(2);
	vs_passes.full_ms = now;
	for (int i = 0; i < 40; i++) {
		some_turn();
		whole += vs_passes.whole;
	}
	assert_int_equal(whole, 4);
}

static void a_failed_call_gives_its_place_back(void **state)
{
	(void)state;
	begin(NODES, 3, 2, "warm");
	all_wanted_within(&core_conf()->max_provision_ops, 1, WANTED);
	turns(2);
	assert_true(fake_fail(FAKE_CLONE, VS_E_RETRY, "declared"));
	assert_int_equal(vs_tasks_provisioning(), 0);
	turn();
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
	assert_int_equal(vs_tasks_provisioning(), 1);
}

/* ---- called off ------------------------------------------------------- */

/* Job 7 on vm1 comes to the call of this kind, then it is cancelled. */
static void cancelled_at(enum fake_kind kind, bool task_known)
{
	int one;

	begin(1, 1, 1, "warm");
	ready();
	one = id("vm1");
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
	if (kind == FAKE_POWER_ON) {
		assert_true(fake_finish(FAKE_CLONE));
		turns(2);
	}
	assert_int_equal(fake_waiting(kind), 1);
	if (task_known)
		assert_true(fake_accept(kind));
	assert_int_equal(fake_cancels, 0);
	vs_job_end(&vs_core, 7, &one, 1, false);
	flags("vm1", GOING);
	turn();
}

static void a_task_that_nobody_needs_is_cancelled_in_vcenter(void **state)
{
	static const enum fake_kind kinds[] = { FAKE_CLONE, FAKE_POWER_ON };

	(void)state;
	for (size_t i = 0; i < VS_COUNT(kinds); i++) {
		cancelled_at(kinds[i], true);
		assert_int_equal(fake_cancels, 1);
		turns(10);
		assert_int_equal(fake_cancels, 1);	/* asked once */
		assert_true(fake_fail(kinds[i], VS_E_CANCELED, "canceled"));
		turns(10);
		assert_int_equal(free_on("host-1"), 1);
		assert_int_equal(fake_waiting(FAKE_CLONE) +
				 fake_waiting(FAKE_POWER_ON), 0);
	}
}

static void a_call_without_a_task_yet_is_cancelled_when_it_has_one(void **state)
{
	(void)state;
	cancelled_at(FAKE_CLONE, false);
	assert_int_equal(fake_cancels, 0);
	assert_true(fake_accept(FAKE_CLONE));
	assert_int_equal(fake_cancels, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(provisioning_has_a_budget_per_vcenter),
		cmocka_unit_test(power_operations_have_a_budget_of_their_own),
		cmocka_unit_test(each_host_has_a_budget),
		cmocka_unit_test(a_freed_budget_is_taken_before_all_are_looked_at),
		cmocka_unit_test(who_waits_is_looked_at_four_times_a_second),
		cmocka_unit_test(a_thousand_who_wait_are_looked_at_once_a_second),
		cmocka_unit_test(a_failed_call_gives_its_place_back),
		cmocka_unit_test(a_task_that_nobody_needs_is_cancelled_in_vcenter),
		cmocka_unit_test(a_call_without_a_task_yet_is_cancelled_when_it_has_one),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
