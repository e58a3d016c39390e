/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine after slurmctld was killed: what it saved is some seconds older
 * than what vCenter shows. On the same stage as test_engine.
 */
#include "engine/tasks/tasks_i.h"
#include "engine/tasks/tasks.h"
#include "engine_stage.h"

/* slurmctld was killed: all of memory goes, vCenter's VMs stay. */
static void restart(uint32_t job, const char *node, uint32_t saved_flags)
{
	struct vs_node *n = vs_node_named(&vs_core, node);

	vs_ledger_clear(core_ledger());
	fake_down(VS_E_RETRY);
	core_set_started(false);
	vs_node_condition(n, VS_COND_COMPARED, false);
	node_set_job(n, 0);
	n->flags = saved_flags;
	n->wanted = VS_DESIRED_OFF;
	if (job)
		vs_job_claim(&vs_core, job, 0, &n->id, 1, true);
	fake_load();
	fake_slow(NULL, 0);
	ntold = 0;
	turns(3);
}

static void a_jobs_vm_under_a_node_saved_as_powered_down_stays_on(void **st)
{
	(void)st;
	begin(1, 1, 1, "destroy");
	ready();
	bring_up(7, "vm1");
	restart(7, "vm1", WANTED);
	assert_non_null(heard(VS_REQUEST_ADOPT, "vm1"));
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 0);
	assert_int_equal(fake_sent[FAKE_SHUTDOWN], 0);
	flags("vm1", BUSY);
	turns(3);
	end_job(7, "vm1");
	flags("vm1", DOWN);
	turns(3);
	assert_int_equal(fake_sent[FAKE_POWER_OFF] + fake_sent[FAKE_SHUTDOWN],
			 1);
}

/* The VM of an ended job is found on under a powered-down node; it registers. */
static void found_on(const char *retention)
{
	begin(1, 1, 1, retention);
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	restart(0, "vm1", DOWN);
	assert_non_null(heard(VS_REQUEST_ADOPT, "vm1"));
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 0);
	ntold = 0;
	flags("vm1", UP);
	turns(3);
}

static void a_free_vm_found_on_after_a_start_is_kept_where_warm(void **st)
{
	(void)st;
	found_on("warm");
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
}

static void elsewhere_slurm_powers_it_down_and_no_brake_is_needed(void **st)
{
	(void)st;
	for (int i = 0; i < 2; i++) {
		found_on(i ? "power_off" : "destroy");
		assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
		flags("vm1", GOING);
		turns(3);
		assert_int_equal(fake_sent[FAKE_POWER_OFF], 1);
		assert_int_equal(core_nodes()[0].braked,
				 VS_REMOVAL_UNREQUESTED);
	}
}

/* Its host doesn't answer at the start. */
static void found_silent(bool power_cycle)
{
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	fake_get("vm1")->unreadable = true;
	restart(0, "vm1", DOWN);
	turns(20);
	assert_null(heard(VS_REQUEST_ADOPT, "vm1"));
	if (power_cycle) {
		flags("vm1", GOING);
		turns(3);
		flags("vm1", DOWN);
		turns(3);
	}
	fake_get("vm1")->unreadable = false;
	fake_show(fake_get("vm1"));
	turns(3);
}

static void a_vm_whose_host_comes_back_after_a_start_is_adopted_then(void **st)
{
	(void)st;
	found_silent(false);
	assert_non_null(heard(VS_REQUEST_ADOPT, "vm1"));
	turns(50);
	assert_int_equal(fake_sent[FAKE_POWER_OFF] + fake_sent[FAKE_SHUTDOWN],
			 0);
	/* and once only: its guest says nothing, so it is Slurm's to end */
	now += 1000 * core_conf()->boot_timeout_s;
	turns(3);
	ntold = 0;
	turns(50);
	assert_null(heard(VS_REQUEST_ADOPT, "vm1"));
	assert_int_equal(fake_sent[FAKE_POWER_OFF] + fake_sent[FAKE_SHUTDOWN],
			 1);
}

static void but_not_if_slurm_has_powered_it_down_meanwhile(void **st)
{
	(void)st;
	found_silent(true);
	assert_null(heard(VS_REQUEST_ADOPT, "vm1"));
	assert_int_equal(fake_sent[FAKE_POWER_OFF] + fake_sent[FAKE_SHUTDOWN],
			 1);
}

static void a_used_vm_found_off_after_a_start_goes_without_the_brake(void **st)
{
	(void)st;
	begin_idle("destroy");
	fake_get("vm1")->on = false;
	fake_show(fake_get("vm1"));
	vs_removal_limit.on = true;
	restart(0, "vm1", DOWN);
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
	vs_removal_limit.on = false;
}

static void an_adopted_vm_that_slurm_wants_to_boot_is_cycled(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	restart(7, "vm1", WANTED);
	flags("vm1", BOOT);
	turns(3);
	assert_true(fake_finish(FAKE_POWER_OFF));
	turns(3);
	fake_finish(FAKE_RECONFIGURE);
	turns(3);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 2);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
}

static void a_vm_gone_off_under_a_configuring_jobs_node_is_built_again(void **st)
{
	int one;

	(void)st;
	begin_idle("warm");
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	one = id("vm1");
	vs_job_wait(&vs_core, 8, 0, &one, 1);
	flags("vm1", BUSY);
	fake_get("vm1")->on = false;
	fake_show(fake_get("vm1"));
	ntold = 0;
	turns(2);
	assert_non_null(heard(VS_REQUEST_REBUILD, "vm1"));
	assert_null(heard(VS_REQUEST_PROLOG, NULL));
	flags("vm1", BOOT);
	turns(3);
	assert_true(fake_finish(FAKE_POWER_ON));
}

/* Its end, its node's power-down and its VM's were not saved any more. */
static void a_job_that_slurm_forgot_to_have_ended_is_given_back(void **st)
{
	(void)st;
	begin(1, 1, 1, "destroy");
	ready();
	restart(7, "vm1", WANTED);
	turns(50);
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
	/* requeued, it begins again, when slurmctld has ceased to end it */
	end_job(7, "vm1");
	flags("vm1", DOWN);
	turns(10 * core_conf()->slurm.kill_tries_s);
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", WANTED);
	turns(3);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
}

static void a_job_that_still_waits_for_its_vm_is_not(void **st)
{
	struct vs_node *n;

	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	n = vs_node_named(&vs_core, "vm1");
	restart(0, "vm1", WANTED);
	vs_job_claim(&vs_core, 7, 0, &n->id, 1, false);
	turns(50);
	assert_null(heard(VS_REQUEST_RELEASE, "vm1"));
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
}

static void jobs_of_before_a_restart_are_judged_once_vcenter_was_read(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	turns(3);
	assert_null(heard(VS_REQUEST_SCHEDULE, NULL));
	ready();
	assert_non_null(heard(VS_REQUEST_SCHEDULE, NULL));
	ntold = 0;
	turns(20);
	assert_null(heard(VS_REQUEST_SCHEDULE, NULL));
}

/* Nothing shows its VF but the task. */
static void a_power_on_that_outlives_a_restart_keeps_its_vf(void **st)
{
	struct vs_vc_task task = {
		.moid = "task-9", .name = "VirtualMachine.powerOn",
		.state = "running", .user = "slurm",
	};
	int one;

	(void)st;
	begin(2, 1, 1, "warm");
	ready();
	boot_up(7, "vm1");
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	fake_down(VS_E_RETRY);
	one = id("vm1");	/* Slurm has saved nothing of it */
	vs_job_end(&vs_core, 7, &one, 1, false);
	flags("vm1", DOWN);
	vs_ledger_clear(core_ledger());
	fake_load();
	task.entity = fake_get("vm1")->moid;
	fake_slow(&task, 1);
	turn();
	assert_int_equal(free_on("host-1"), 0);
	assert_int_equal(job_begin(8, "vm2", NULL), -1);
	assert_true(fake_fail(FAKE_ADOPT, VS_E_CANCELED, "ended"));
	turns(2);
	assert_int_equal(free_on("host-1"), 1);
}

/* The clone may be any node's, and never ends: the nodes without a VM wait for
 * it, not for ever, and get no job meanwhile. */
static void a_clone_that_never_ends_does_not_stop_the_cluster(void **state)
{
	struct vs_vc_task t = {
		.moid = "task-901", .name = "VirtualMachine.clone",
		.entity = "vm-tpl", .entity_name = "tpl",
		.state = "running", .user = "slurm",
	};
	int two;
	struct vs_err err = { 0 };

	(void)state;
	begin(2, 1, 2, "warm");
	two = id("vm2");
	vs_job_claim(&vs_core, 7, 0, &two, 1, false);	/* had begun before */
	fake_load();
	fake_slow(&t, 1);
	flags("vm2", BOOT);
	turn();
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[0]),
			 VS_AVAIL_NONE);
	assert_int_equal(vs_job_begin(&vs_core, 8, 0, (int[]){ id("vm1") }, 1,
				      &err), -1);
	assert_non_null(strstr(err.text, "a clone for an unknown node is running"));
	now += 4 * 60 * 1000;
	turns(3);
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	assert_int_equal(fake_cancels, 0);
	now += 60 * 1000;
	vs_capacity_freed_clear();
	turns(3);
	assert_int_equal(fake_cancels, 1);
	assert_true(vs_capacity_freed_pending());		/* jobs wait for it */
	fake_slow(&t, 1);			/* hangs on */
	turns(3);
	assert_int_equal(fake_cancels, 1);
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	assert_true(fake_fail(FAKE_ADOPT, VS_E_CANCELED, "called off"));
	assert_int_equal(vs_unowned_tasks_count(), 0);
	turns(3);
	assert_int_equal(fake_waiting(FAKE_CLONE), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jobs_vm_under_a_node_saved_as_powered_down_stays_on),
		cmocka_unit_test(a_free_vm_found_on_after_a_start_is_kept_where_warm),
		cmocka_unit_test(elsewhere_slurm_powers_it_down_and_no_brake_is_needed),
		cmocka_unit_test(a_vm_whose_host_comes_back_after_a_start_is_adopted_then),
		cmocka_unit_test(but_not_if_slurm_has_powered_it_down_meanwhile),
		cmocka_unit_test(a_used_vm_found_off_after_a_start_goes_without_the_brake),
		cmocka_unit_test(an_adopted_vm_that_slurm_wants_to_boot_is_cycled),
		cmocka_unit_test(a_vm_gone_off_under_a_configuring_jobs_node_is_built_again),
		cmocka_unit_test(a_job_that_slurm_forgot_to_have_ended_is_given_back),
		cmocka_unit_test(a_job_that_still_waits_for_its_vm_is_not),
		cmocka_unit_test(jobs_of_before_a_restart_are_judged_once_vcenter_was_read),
		cmocka_unit_test(a_power_on_that_outlives_a_restart_keeps_its_vf),
		cmocka_unit_test(a_clone_that_never_ends_does_not_stop_the_cluster),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
