/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the outcome, the cause or the owner of something is in doubt. */
#include "engine_stage.h"

/* Unknown power-on, job cancelled: hold must stay until vCenter was looked at. */
static void a_power_on_of_unknown_outcome_keeps_its_hold_until_looked(void **state)
{
	int one;

	(void)state;
	begin(2, 1, 1, "warm");
	ready();
	one = id("vm1");
	boot_up(7, "vm1");
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	assert_true(fake_lose(FAKE_POWER_ON, false));	/* reply lost; the task may be queued */
	vs_job_end(&vs_core, 7, &one, 1, false);
	flags("vm1", GOING);
	turns(2);
	assert_int_equal(free_on("host-1"), 0);
}

/* No VF as the client says it: the PF is avoided, not the host for 5 min. */
static void no_vf_as_the_client_says_it_avoids_the_pf(void **state)
{
	const struct vs_claim *h;

	(void)state;
	begin(1, 2, 1, "warm");
	ready();
	boot_up(7, "vm1");
	h = vs_ledger_get(core_ledger(), "vm1");
	assert_non_null(h);
	assert_true(fake_no_vf());
	assert_non_null(vs_avoids());
	assert_string_equal(vs_avoids()->pf, "0000:3b:00.0");
}

/* An untagged VM (power_up by the administrator) of Retention=destroy is used once. */
static void destroy_an_untagged_vm_serves_one_job(void **state)
{
	(void)state;
	begin(1, 1, 1, "destroy");
	ready();
	powers_up("vm1");	/* scontrol update state=power_up */
	turns(2);
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BUSY);
	turns(2);
	end_job(7, "vm1");
	/* next job is quicker than the power-down */
	job_starts(8, "vm1");
	ntold = 0;
	turns(2);
	assert_non_null(heard(VS_REQUEST_REBUILD, "vm1"));
}

/* Its node came up between Slurm's last word and the job: the engine still took
 * it for booting when the job began. The job's prolog waited for ever. */
static void a_vm_that_was_booting_for_nobody_is_rebuilt_for_a_job(void **state)
{
	(void)state;
	begin(1, 1, 1, "destroy");
	ready();
	flags("vm1", VS_NODE_POWERING_UP);
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	turns(2);
	job_starts(7, "vm1");
	ntold = 0;
	turns(2);
	assert_non_null(heard(VS_REQUEST_REBUILD, "vm1"));
	rebuilt_by(FAKE_DESTROY);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	flags("vm1", BUSY);
	turns(2);
	assert_non_null(heard(VS_REQUEST_PROLOG, NULL));
}

/* The profile has changed since the first of them began: both end on it. */
static void a_job_beside_a_running_one_takes_the_vm_as_it_is(void **state)
{
	int one;

	(void)state;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	one = id("vm1");
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	core_profiles()[0].memory_mb = 2048;
	vs_profiles_changed(&vs_core);
	vs_job_wait(&vs_core, 8, 0, &one, 1);
	ntold = 0;
	turns(3);
	assert_null(heard(VS_REQUEST_REBUILD, "vm1"));
	assert_non_null(heard(VS_REQUEST_PROLOG, NULL));
}

/* Entering maintenance is called off: room is there again at once. */
static void room_comes_back_when_maintenance_is_called_off(void **state)
{
	struct vs_vc_task t = {
		.moid = "task-900", .name = "HostSystem.enterMaintenanceMode",
		.entity = "host-1", .entity_name = "esx1",
		.state = "running", .user = "a",
	};

	(void)state;
	begin(1, 1, 1, "warm");
	ready();
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[0]),
			 VS_AVAIL_TO_CREATE);
	fake_slow(&t, 1);
	turn();
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[0]), VS_AVAIL_NONE);
	fake_slow(NULL, 0);
	turn();
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[0]),
			 VS_AVAIL_TO_CREATE);
}

/* More nodes than VFs while it runs (a host left): VMs still go off. */
static void a_lost_host_does_not_stop_power_downs(void **state)
{
	struct vs_claim *h;

	(void)state;
	begin(2, 2, 1, "warm");
	core_conf()->allow_more_nodes_than_vfs = false;
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	h = vs_ledger_get(core_ledger(), "vm1");
	fake_tell(gone, VS_VC_HOST, strcmp(h->host, "host-1") ?
				  "host-1" : "host-2");
	flags("vm1", GOING);
	turns(5);
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 1);
}

/* A clone whose reply was lost while all else is well: no second one while it may run. */
static void a_lost_clone_is_not_sent_again_while_its_task_runs(void **state)
{
	struct vs_vc_task t = {
		.moid = "task-901", .name = "VirtualMachine.clone",
		.entity = "vm-tpl", .entity_name = "tpl",
		.state = "running", .user = "slurm",
	};

	(void)state;
	begin(1, 1, 1, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turn();
	assert_true(fake_lose(FAKE_CLONE, false));
	turns(20);
	fake_slow(&t, 1);	/* the look finds the running clone */
	turns(50);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
}

/* Prolog's own deadline while vCenter is away. */
static void the_prolog_deadline_holds_while_vcenter_is_away(void **state)
{
	int one;

	(void)state;
	begin(1, 1, 1, "warm");
	ready();
	one = id("vm1");
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	vs_job_wait(&vs_core, 7, 0, &one, 1);
	flags("vm1", BOOT);
	turn();
	fake_down(VS_E_RETRY);
	now += (int64_t)core_conf()->provision_timeout_s * 1000 + 1000;
	turns(3);
	assert_non_null(heard(VS_REQUEST_PROLOG, NULL));
}

/* Another user's clone of the template doesn't block clones by
 * slurm-vsphere. */
static void a_strangers_clone_of_the_template_stops_nobody(void **state)
{
	struct vs_vc_task t = {
		.moid = "task-901", .name = "VirtualMachine.clone",
		.entity = "vm-tpl", .entity_name = "tpl",
		.state = "running", .user = "somebody-else",
	};

	(void)state;
	begin(1, 1, 1, "warm");
	fake_load();
	fake_slow(&t, 1);
	turn();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(3);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
}

static void a_settled_but_never_right_reconfigure_is_bounded(void **state)
{
	int n0;

	(void)state;
	begin_idle("warm");
	powered_down("vm1");
	/* the NIC is on another network for vCenter for ever */
	fake_get("vm1")->has_nic = false;
	fake_show(fake_get("vm1"));
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	flags("vm1", BOOT);
	n0 = 0;
	for (int i = 0; i < 40; i++) {
		turns(2);
		if (fake_waiting(FAKE_RECONFIGURE)) {
			fake_finish(FAKE_RECONFIGURE);
			fake_get("vm1")->has_nic = false;
			fake_show(fake_get("vm1"));
			n0++;
		}
		now += 16000;
		turn();
		fake_slow(NULL, 0);
	}
	assert_true(n0 < 10);
}

/* It would be requeued at ProvisionTimeout, and begin there again, for ever. */
static void a_node_whose_task_was_called_off_and_goes_on_takes_no_job(void **state)
{
	struct vs_err err = { 0 };
	int one;

	(void)state;
	begin(1, 1, 1, "warm");
	ready();
	one = id("vm1");
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turn();
	assert_true(fake_accept(FAKE_CLONE));
	vs_job_end(&vs_core, 7, &one, 1, false);
	flags("vm1", GOING);
	turn();
	assert_int_equal(fake_cancels, 1);
	flags("vm1", DOWN);
	turns(20);
	assert_int_equal(vs_job_begin(&vs_core, 7, 1, &one, 1, &err), -1);
	assert_non_null(strstr(err.text, "cancelled task"));
	refuse(7, &one, 1, 1, err.text);
	vs_capacity_freed_clear();
	assert_true(fake_fail(FAKE_CLONE, VS_E_CANCELED, "cancelled"));
	assert_true(vs_capacity_freed_pending());
	turn();
	assert_int_equal(vs_job_begin(&vs_core, 7, 1, &one, 1, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_whose_task_was_called_off_and_goes_on_takes_no_job),
		cmocka_unit_test(a_settled_but_never_right_reconfigure_is_bounded),
		cmocka_unit_test(a_power_on_of_unknown_outcome_keeps_its_hold_until_looked),
		cmocka_unit_test(no_vf_as_the_client_says_it_avoids_the_pf),
		cmocka_unit_test(destroy_an_untagged_vm_serves_one_job),
		cmocka_unit_test(a_vm_that_was_booting_for_nobody_is_rebuilt_for_a_job),
		cmocka_unit_test(a_job_beside_a_running_one_takes_the_vm_as_it_is),
		cmocka_unit_test(room_comes_back_when_maintenance_is_called_off),
		cmocka_unit_test(a_lost_host_does_not_stop_power_downs),
		cmocka_unit_test(a_lost_clone_is_not_sent_again_while_its_task_runs),
		cmocka_unit_test(the_prolog_deadline_holds_while_vcenter_is_away),
		cmocka_unit_test(a_strangers_clone_of_the_template_stops_nobody),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
