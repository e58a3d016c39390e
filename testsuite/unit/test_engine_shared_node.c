/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs on one node after or beside each other, and what was true a moment ago:
 * nothing that was judged for one job is believed for the next.
 */
#include "engine_stage.h"

/* A job begins on the VM of another one (Retention=destroy), and the connection
 * to vCenter breaks before the next pass: `seen` was judged for no job. */
static void a_job_never_starts_on_anothers_vm_though_vcenter_leaves(void **state)
{
	(void)state;
	begin_idle("destroy");
	turns(2);
	job_starts(8, "vm1");	/* quicker than the power-down */
	fake_down(VS_E_RETRY);
	ntold = 0;
	turns(2);
	assert_null(heard(VS_REQUEST_PROLOG, NULL));
}

/* Two jobs wait on one node: each is "what others run on" to the other, and
 * both start on a VM without its NIC. */
static void two_jobs_that_wait_are_no_reason_to_start_on_a_wrong_vm(void **state)
{
	int one;

	(void)state;
	begin_idle("warm");
	one = id("vm1");
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	vs_job_wait(&vs_core, 8, 0, &one, 1);
	assert_int_equal(job_begin(9, "vm1", NULL), 0);
	vs_job_wait(&vs_core, 9, 0, &one, 1);
	flags("vm1", BUSY);
	fake_get("vm1")->has_nic = false;	/* by an administrator */
	fake_show(fake_get("vm1"));
	ntold = 0;
	turns(3);
	assert_null(heard(VS_REQUEST_PROLOG, NULL));
	assert_non_null(heard(VS_REQUEST_REBUILD, "vm1"));
}

/* The same without an administrator in the window: the node is being
 * rebuilt for one job, another begins beside it, the old guest's last ping makes
 * Slurm believe the node up. */
static void a_job_beside_one_that_waits_for_a_rebuild_does_not_end_it(void **state)
{
	int one;

	(void)state;
	begin_idle("warm");
	one = id("vm1");
	fake_get("vm1")->has_nic = false;
	fake_show(fake_get("vm1"));
	turns(2);
	job_starts(8, "vm1");
	ntold = 0;
	turns(2);
	assert_non_null(heard(VS_REQUEST_REBUILD, "vm1"));
	flags("vm1", BOOT);	/* set by a rebuild */
	if (job_begin(9, "vm1", NULL))
		return;		/* not beside it: as good */
	vs_job_wait(&vs_core, 9, 0, &one, 1);
	flags("vm1", BUSY);	/* a ping that was under way */
	ntold = 0;
	turn();
	assert_null(heard(VS_REQUEST_PROLOG, NULL));
}

/* Switched off under a running job while another waits beside it: a rebuild can
 * never begin (Slurm refuses it where a job runs), so the node is released. */
static void a_job_that_waits_beside_does_not_hide_a_vm_that_is_off(void **state)
{
	int one;

	(void)state;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");	/* 7 runs */
	one = id("vm1");
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	fake_get("vm1")->on = false;
	fake_show(fake_get("vm1"));
	vs_job_wait(&vs_core, 8, 0, &one, 1);
	ntold = 0;
	for (int i = 0; i < 100; i++) {
		now += 900;
		turn();
		/* what outbox.c does when the port refuses */
		vs_retry_pause(&core_nodes()[0], now + 500);
	}
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

/* "Its job is gone" is said late: by then the node has another job, which
 * the forced power-down kills. */
static void a_node_that_has_a_job_again_is_not_given_up(void **state)
{
	int one;

	(void)state;
	begin_cloning();
	one = id("vm1");
	ntold = 0;
	vs_job_end(&vs_core, 7, &one, 1, false);	/* scancel */
	assert_int_equal(job_begin(8, "vm1", NULL), 0);	/* the next in line */
	turn();
	assert_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

/* A task of before the restart on the node's own VM that never ends: the
 * node takes one job after the other, each of which waits ProvisionTimeout. */
static void a_node_with_a_task_that_never_ends_takes_no_job(void **state)
{
	struct vs_vc_task t = {
		.name = "VirtualMachine.powerOn", .moid = "task-902",
		.entity_name = "vm1", .state = "running", .user = "slurm",
	};
	int one;

	(void)state;
	begin(1, 2, 1, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	powered_down("vm1");
	t.entity = fake_get("vm1")->moid;
	core_set_started(false);
	core_set_ready(false);
	fake_load();
	fake_slow(&t, 1);
	turn();
	one = id("vm1");
	for (int run = 0; run < 3; run++) {
		struct vs_err err = { 0 };

		if (vs_job_begin(&vs_core, 8, (uint32_t)run, &one, 1, &err)) {
			assert_int_not_equal(run, 0);
			return;		/* barred after the first: good */
		}
		vs_job_wait(&vs_core, 8, (uint32_t)run, &one, 1);
		flags("vm1", BOOT);
		turns(2);
		now += (int64_t)core_conf()->provision_timeout_s * 1000;
		ntold = 0;
		turns(2);
		assert_non_null(heard(VS_REQUEST_PROLOG, NULL));
		vs_job_end(&vs_core, 8, &one, 1, false);
		flags("vm1", DOWN);
		turns(2);
	}
	fail_msg("the job was taken three times for a node that can't be had");
}

/* The node was released while it booted. The end of that, and a new power-up,
 * come while vCenter is away. The old decision must not stay, or the node would
 * get no VM, and its ResumeTimeout would not be extended. */
static void a_node_that_was_given_up_once_can_be_powered_up(void **state)
{
	int one;

	(void)state;
	begin_cloning();
	one = id("vm1");
	fake_down(VS_E_RETRY);
	vs_job_end(&vs_core, 7, &one, 1, false);
	turn();
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
	flags("vm1", GOING);
	turns(2);
	flags("vm1", DOWN);
	turns(2);
	flags("vm1", DOWN | VS_NODE_POWER_UP_ASKED);
	turn();
	flags("vm1", VS_NODE_POWERING_UP);
	turns(2);
	fake_load();
	fake_slow(NULL, 0);
	ntold = 0;
	turns(20);
	assert_true(fake_sent[FAKE_CLONE] == 2 ||
		    heard(VS_REQUEST_BOOT_PUSH, "vm1"));
}

static void show_suspended(void)
{
	struct vs_vc_vm v = {
		.moid = fake_get("vm1")->moid, .has = VS_VC_VM_POWER,
		.power = "suspended",
	};

	fake_tell(vm, &v);
}

/* A VM that an administrator has suspended: `seen` is unknown for good, but
 * the node is on offer: its jobs wait ProvisionTimeout, go back, and come again. */
static void a_suspended_vms_node_takes_no_job(void **state)
{
	(void)state;
	begin(1, 2, 1, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	show_suspended();
	flags("vm1", DOWN);
	turns(3);
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[0]),
			 VS_AVAIL_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_never_starts_on_anothers_vm_though_vcenter_leaves),
		cmocka_unit_test(two_jobs_that_wait_are_no_reason_to_start_on_a_wrong_vm),
		cmocka_unit_test(a_job_beside_one_that_waits_for_a_rebuild_does_not_end_it),
		cmocka_unit_test(a_job_that_waits_beside_does_not_hide_a_vm_that_is_off),
		cmocka_unit_test(a_node_that_has_a_job_again_is_not_given_up),
		cmocka_unit_test(a_node_with_a_task_that_never_ends_takes_no_job),
		cmocka_unit_test(a_node_that_was_given_up_once_can_be_powered_up),
		cmocka_unit_test(a_suspended_vms_node_takes_no_job),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
