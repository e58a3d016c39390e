/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VMs that leave a host with their jobs running: who is moved, where to, under
 * whose hold, and what becomes of those that can't be.
 */
#include "engine/maintenance/maintenance_i.h"
#include "vmotion_stage.h"

static const struct vs_vc_task entering = {
	.moid = "task-900", .name = "HostSystem.enterMaintenanceMode",
	.entity = "host-1", .entity_name = "esx1", .state = "running",
	.user = "admin",
};

static void the_job_goes_on_while_its_vm_moves(const char *type)
{
	run(type, 1, 3);
	drain("esx1");
	turns(2);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	assert_string_equal(held_on("vm1"), "host-1");
	assert_string_equal(held_on(">vm1"), "host-2");
	turns(100);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(2);
	assert_string_equal(fake_get("vm1")->host, "host-2");
	assert_string_equal(held_on("vm1"), "host-2");
	assert_string_equal(held_on(">vm1"), "");
	assert_int_equal(heard(VS_REQUEST_ASSIGNMENT, NULL)->job, 7);
	turns(100);
	assert_int_equal(node_job(node("vm1")), 7);
	assert_int_equal(vs_vmotions.moved, 1);
	assert_null(heard(VS_REQUEST_DRAIN, NULL));
	assert_null(heard(VS_REQUEST_RELEASE, NULL));
	assert_null(heard(VS_REQUEST_REBUILD, NULL));
	assert_int_equal(fake_sent[FAKE_POWER_OFF] + fake_sent[FAKE_SHUTDOWN] +
			 fake_sent[FAKE_RECONFIGURE], 0);
	assert_int_equal(node("vm1")->vmotion.state, VS_VMOTION_NONE);
	vs_vmotions.moved = 0;
}

static void vmxnet3_moves(void **st)
{
	(void)st;
	the_job_goes_on_while_its_vm_moves("vmxnet3");
}

static void pvrdma_moves(void **st)
{
	(void)st;
	the_job_goes_on_while_its_vm_moves("pvrdma");
}

static void sriov_stays_and_the_node_says_why(void **st)
{
	(void)st;
	run("sriov", 1, 3);
	drain("esx1");
	turns(100);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 0);
	assert_string_equal(heard(VS_REQUEST_DRAIN, "vm1")->text,
		"host esx1 is drained by an operator; the VM stays until the job ends: vmotion: type sriov allows it in no release");
	assert_int_equal(node_job(node("vm1")), 7);
	assert_null(heard(VS_REQUEST_RELEASE, NULL));
}

/* Slurm shows its node idle. */
static void a_suspended_job_moves_too(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	flags("vm1", UP);
	drain("esx1");
	turns(2);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(60);
	assert_string_equal(held_on("vm1"), "host-2");
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	assert_null(heard(VS_REQUEST_DRAIN, "vm1"));
}

static void an_idle_node_goes_off_instead(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	end_job(7, "vm1");
	drain("esx1");
	turns(2);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 0);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
}

static void without_room_it_waits_and_says_so(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	maintenance(2, true);
	drain("esx1");
	turns(2);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 0);
	assert_non_null(strstr(heard(VS_REQUEST_DRAIN, "vm1")->text,
			       "esx2: in or entering maintenance"));
	flags("vm1", BUSY | VS_NODE_DRAIN);
	turns(200);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 0);
	maintenance(2, false);
	turns(60);
	assert_string_equal(held_on(">vm1"), "host-2");
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(3);
	assert_non_null(heard(VS_REQUEST_UNDRAIN, "vm1"));
	assert_int_equal(node_job(node("vm1")), 7);
}

/* It goes where the ledger has room for it: not where holds have it all. */
static void the_target_is_held_before_the_move(void **st)
{
	struct vs_claim other = { .node = ">vm9", .host = "host-2",
				 .mem_mb = 512 * 1024 };
	struct vs_err err;

	(void)st;
	run("vmxnet3", 1, 3);
	assert_int_equal(vs_ledger_take(core_ledger(), &other, &err), 0);
	drain("esx1");
	turns(1);
	assert_string_equal(held_on(">vm1"), "host-3");
}

static void vcenters_refusal_is_the_last_word(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	drain("esx1");
	turns(1);
	assert_true(fake_fault(FAKE_RELOCATE, VS_E_REQUEST,
			       "DisallowedMigrationDeviceAttached",
			       "a device prevents migration"));
	fake_slow(NULL, 0);
	turns(100);
	assert_string_equal(held_on(">vm1"), "");
	assert_string_equal(held_on("vm1"), "host-1");
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	assert_non_null(strstr(heard(VS_REQUEST_DRAIN, "vm1")->text,
		"vMotion to esx2 failed: a device prevents migration"));
	assert_int_equal(node_job(node("vm1")), 7);
	vs_vmotions.failed = 0;
}

static void a_host_that_fails_is_not_tried_twice_in_a_row(void **st)
{
	(void)st;
	run("vmxnet3", 1, 3);
	drain("esx1");
	turns(1);
	assert_string_equal(held_on(">vm1"), "host-2");
	assert_true(fake_fault(FAKE_RELOCATE, VS_E_OTHER_HOST,
			       "InsufficientMemoryResourcesFault", "no memory"));
	fake_slow(NULL, 0);
	turns(20);
	assert_string_equal(held_on(">vm1"), "host-3");
	assert_null(heard(VS_REQUEST_DRAIN, NULL));
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(2);
	assert_string_equal(held_on("vm1"), "host-3");
}

static void so_many_at_a_time_on_a_host(void **st)
{
	(void)st;
	run("vmxnet3", 2, 3);
	core_conf()->max_vmotions_per_host = 1;
	drain("esx1");
	turns(20);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	assert_null(heard(VS_REQUEST_DRAIN, NULL));
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(20);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 2);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(20);
	assert_null(heard(VS_REQUEST_DRAIN, NULL));
	assert_string_not_equal(fake_get("vm1")->host, "host-1");
	assert_string_not_equal(fake_get("vm2")->host, "host-1");
}

static void none_is_moved_where_the_key_says_so(void **st)
{
	(void)st;
	run("vmxnet3", 1, 3);
	core_conf()->max_vmotions_per_host = 0;
	drain("esx1");
	turns(20);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 0);
	assert_non_null(strstr(heard(VS_REQUEST_DRAIN, "vm1")->text,
			       "MaxVmotionsPerHost=0"));
}

static void a_move_by_somebody_else_is_followed(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	vs_strlcpy(fake_get("vm1")->host, "host-2", 32);
	fake_show(fake_get("vm1"));
	turns(2);
	assert_string_equal(held_on("vm1"), "host-2");
	assert_int_equal(heard(VS_REQUEST_ASSIGNMENT, NULL)->job, 7);
	assert_int_equal(vs_vmotions.others, 1);
	turns(100);
	assert_int_equal(fake_sent[FAKE_RELOCATE] + fake_sent[FAKE_POWER_OFF],
			 0);
	assert_null(heard(VS_REQUEST_RELEASE, NULL));
	assert_int_equal(node_error(node("vm1"))->code, VS_OK);
	vs_vmotions.others = 0;
}

/* vCenter does it itself; where it doesn't within two minutes, that is said. */
static void fully_automated_drs_moves_it(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	fake_drs = VS_VC_AUTO_YES;
	fake_moves = true;
	fake_slow(&entering, 1);
	turns(1000);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 0);
	assert_null(heard(VS_REQUEST_DRAIN, NULL));
	turns(300);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 0);
	assert_non_null(strstr(heard(VS_REQUEST_DRAIN, "vm1")->text,
			       "DRS is fully automated"));
}

/* Partial automation only recommends it; of a drain by svf DRS knows nothing. */
static void else_we_move_it(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	fake_drs = VS_VC_AUTO_YES;
	fake_slow(&entering, 1);
	turns(2);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	run("vmxnet3", 1, 2);
	fake_drs = VS_VC_AUTO_YES;
	fake_moves = true;
	fake_slow(NULL, 0);
	drain("esx1");
	turns(2);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
}

/* The target is held until it is known what became of the call. */
static void a_lost_reply_is_looked_after(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	drain("esx1");
	turns(1);
	assert_true(fake_lose(FAKE_RELOCATE, false));
	turns(30);
	assert_string_equal(held_on(">vm1"), "host-2");
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	fake_slow(NULL, 0);
	turns(1);
	assert_string_equal(held_on(">vm1"), "");
	vs_vmotions.failed = 0;
}

static void one_that_nobody_needs_any_more_is_called_off(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	drain("esx1");
	turns(1);
	assert_true(fake_accept(FAKE_RELOCATE));
	end_job(7, "vm1");
	flags("vm1", GOING);
	turns(2);
	assert_int_equal(fake_cancels, 1);
}

/* After a restart: the task doesn't show to which host the VM is moving. */
static void moves_of_before_us_are_waited_for(void **st)
{
	const struct vs_vc_task moving = {
		.moid = "task-77", .name = "VirtualMachine.relocate",
		.entity = NULL, .entity_name = "vm1", .state = "running",
		.user = "slurm",
	};
	struct vs_vc_task t = moving;

	(void)st;
	run("vmxnet3", 2, 2);
	t.entity = fake_get("vm1")->moid;
	fake_slow(&t, 1);
	drain("esx1");
	turns(20);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 0);
	assert_null(heard(VS_REQUEST_DRAIN, NULL));
	vs_strlcpy(fake_get("vm1")->host, "host-2", 32);
	fake_show(fake_get("vm1"));
	assert_true(fake_finish(FAKE_ADOPT));
	fake_slow(NULL, 0);
	turns(20);
	assert_string_equal(held_on("vm1"), "host-2");
	assert_string_equal(held_on(">vm2"), "host-2");
	vs_vmotions.others = 0;
}

static void an_eviction_goes_before(void **st)
{
	struct vs_err err = { 0 };

	(void)st;
	run("vmxnet3", 1, 2);
	vs_jb_free(vs_core_request("evict", "vm1", "", 0, &err));
	assert_int_equal(err.code, VS_OK);
	drain("esx1");
	turns(2);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 0);
	assert_non_null(heard(VS_REQUEST_DRAIN, "vm1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vmxnet3_moves),
		cmocka_unit_test(pvrdma_moves),
		cmocka_unit_test(sriov_stays_and_the_node_says_why),
		cmocka_unit_test(a_suspended_job_moves_too),
		cmocka_unit_test(an_idle_node_goes_off_instead),
		cmocka_unit_test(without_room_it_waits_and_says_so),
		cmocka_unit_test(the_target_is_held_before_the_move),
		cmocka_unit_test(vcenters_refusal_is_the_last_word),
		cmocka_unit_test(a_host_that_fails_is_not_tried_twice_in_a_row),
		cmocka_unit_test(so_many_at_a_time_on_a_host),
		cmocka_unit_test(none_is_moved_where_the_key_says_so),
		cmocka_unit_test(a_move_by_somebody_else_is_followed),
		cmocka_unit_test(fully_automated_drs_moves_it),
		cmocka_unit_test(else_we_move_it),
		cmocka_unit_test(a_lost_reply_is_looked_after),
		cmocka_unit_test(one_that_nobody_needs_any_more_is_called_off),
		cmocka_unit_test(moves_of_before_us_are_waited_for),
		cmocka_unit_test(an_eviction_goes_before),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
