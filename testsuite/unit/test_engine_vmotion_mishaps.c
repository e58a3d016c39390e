/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VMs that leave a host with their jobs running while something else happens:
 * a lost host, a lost vCenter, a restart, another's hand.
 */
#include "engine/maintenance/maintenance_i.h"
#include "vmotion_stage.h"

static const struct vs_vc_task entering = {
	.moid = "task-900", .name = "HostSystem.enterMaintenanceMode",
	.entity = "host-1", .entity_name = "esx1", .state = "running",
	.user = "admin",
};

static void none_heard(enum vs_slurm_request kind)
{
	const struct vs_outbox_request *t = heard(kind, NULL);

	if (t)
		fail_msg("node %s, job %u: %s", t->node, t->job, t->text);
}

static void drain_requeue(const char *host)
{
	struct vs_err err = { 0 };

	vs_jb_free(vs_core_request("drain-requeue", host, "", 0, &err));
	assert_int_equal(err.code, VS_OK);
}

static void connected(const char *vm, bool is)
{
	struct vs_vc_vm v = {
		.moid = fake_get(vm)->moid, .has = VS_VC_VM_CONN,
		.connected = is,
	};

	fake_tell(vm, &v);
}

/* vm1 is known to run on host-1, and moves. */
static void lost_on_its_way(void)
{
	run("vmxnet3", 1, 2);
	flags("vm1", BUSY);
	turns(5);
	drain("esx1");
	turns(2);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	connected("vm1", false);
	turns(3);
}

static void drained_before_a_restart_it_is_undrained(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	flags("vm1", BUSY | VS_NODE_DRAIN);
	core_set_started(false);
	core_set_ready(false);
	drain("esx1");
	turns(2);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(200);
	assert_string_equal(held_on("vm1"), "host-2");
	assert_non_null(heard(VS_REQUEST_UNDRAIN, "vm1"));
}

static void a_short_loss_of_the_source_ends_no_job(void **st)
{
	(void)st;
	lost_on_its_way();
	connected("vm1", true);
	turns(3);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(20);
	assert_string_equal(held_on("vm1"), "host-2");
	none_heard(VS_REQUEST_RELEASE);
}

/* Shown again only where it has moved to. */
static void nor_one_that_lasts_till_it_is_there(void **st)
{
	(void)st;
	lost_on_its_way();
	assert_true(fake_finish(FAKE_RELOCATE));
	connected("vm1", true);
	turns(20);
	assert_string_equal(held_on("vm1"), "host-2");
	none_heard(VS_REQUEST_RELEASE);
}

/* Its vMotion fails, and HA starts it on the very host. */
static void started_again_on_the_target_its_job_ends(void **st)
{
	(void)st;
	lost_on_its_way();
	assert_true(fake_fault(FAKE_RELOCATE, VS_E_RETRY, "MigrationFault",
			       "the source is lost"));
	fake_slow(NULL, 0);
	turns(3);
	vs_strlcpy(fake_get("vm1")->host, "host-2", 32);
	fake_show(fake_get("vm1"));
	connected("vm1", true);
	turns(20);
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
	assert_int_equal(heard(VS_REQUEST_RELEASE, "vm1")->job, 7);
	vs_vmotions.failed = vs_vmotions.others = 0;
}

static void what_an_administrator_cancels_stays(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	drain("esx1");
	turns(2);
	assert_true(fake_fault(FAKE_RELOCATE, VS_E_CANCELED, "RequestCanceled",
			       "cancelled"));
	fake_slow(NULL, 0);
	turns(200);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	assert_int_equal(node("vm1")->vmotion.state, VS_VMOTION_STAYS);
	assert_non_null(strstr(heard(VS_REQUEST_DRAIN, "vm1")->text,
			       "vMotion to esx2 failed: cancelled"));
	assert_int_equal(node_job(node("vm1")), 7);
	vs_vmotions.failed = 0;
}

static void the_only_other_host_is_tried_again(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	drain_requeue("esx1");
	turns(2);
	assert_true(fake_fault(FAKE_RELOCATE, VS_E_RETRY, "MigrationFault",
			       "timed out"));
	fake_slow(NULL, 0);
	turns(30);
	none_heard(VS_REQUEST_RELEASE);
	turns(100);
	none_heard(VS_REQUEST_RELEASE);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 2);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(5);
	assert_string_equal(held_on("vm1"), "host-2");
	vs_vmotions.failed = 0;
}

static void a_host_to_which_one_comes_is_not_empty(void **st)
{
	struct vs_remaining_vms r;
	char words[160];

	(void)st;
	run("vmxnet3", 1, 2);
	drain("esx1");
	turns(2);
	assert_string_equal(held_on(">vm1"), "host-2");
	drain("esx2");
	turns(2);
	vs_host_remaining_vms(&vs_core, vs_host_get(core_inv(), "host-2"),
			      &r);
	assert_int_equal(r.moves, 1);
	vs_remaining_vms_text(&r, words, sizeof(words));
	assert_string_not_equal(words, "no managed VM is on, safe now");
}

/* Its patience begins with the maintenance, not with the drain. */
static void drs_has_its_time(void **st)
{
	(void)st;
	run("vmxnet3", 2, 2);
	core_conf()->max_vmotions_per_host = 1;
	drain_requeue("esx1");
	turns(1400);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	none_heard(VS_REQUEST_RELEASE);
	fake_drs = VS_VC_AUTO_YES;
	fake_moves = true;
	fake_slow(&entering, 1);
	turns(20);
	none_heard(VS_REQUEST_RELEASE);
}

static void it_arrives_while_vcenter_is_away(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	flags("vm1", BUSY);
	turns(5);
	drain("esx1");
	turns(2);
	fake_down(VS_E_RETRY);
	turns(5);
	vs_strlcpy(fake_get("vm1")->host, "host-2", 32);
	fake_load();
	fake_slow(NULL, 0);
	turns(20);
	assert_string_equal(held_on("vm1"), "host-2");
	assert_string_equal(held_on(">vm1"), "");
	none_heard(VS_REQUEST_RELEASE);
	none_heard(VS_REQUEST_FAIL);
}

/* DRS has moved it on, before it was shown where we had sent it. */
static void done_and_not_shown_gives_nobody_up(void **st)
{
	(void)st;
	run("vmxnet3", 1, 3);
	flags("vm1", BUSY);
	turns(5);
	vs_retry_spend(node("vm1"));	/* of other steps */
	drain("esx1");
	turns(5);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	assert_true(fake_finish(FAKE_RELOCATE));
	vs_strlcpy(fake_get("vm1")->host, "host-3", 32);
	fake_show(fake_get("vm1"));
	turns(400);
	assert_int_equal(node("vm1")->op.kind, VS_OP_NONE);
	none_heard(VS_REQUEST_FAIL);
	none_heard(VS_REQUEST_RELEASE);
	vs_vmotions.moved = vs_vmotions.others = 0;
}

/* An order to requeue outlives a plain one; who gives that is told so. */
static void told_again_the_order_says_what_it_does(void **st)
{
	struct vs_err err = { 0 };
	char *text;

	(void)st;
	run("sriov", 1, 3);
	drain_requeue("esx1");
	text = vs_jb_text_free(vs_core_request("drain", "esx1", "", 0, &err));
	assert_int_equal(err.code, VS_OK);
	turns(2);
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
	if (!strstr(text, "\"outcome\":\"requeue\""))
		fail_msg("requeued, but told: %s", text);
	free(text);
}

static void its_share_of_the_pool_goes_along(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	flags("vm1", BUSY);
	fake_pool_mb = 10;
	fake_slow(NULL, 0);
	turns(3);
	drain("esx1");
	turns(20);
	if (!fake_sent[FAKE_RELOCATE])
		fail_msg("stays: %s", node("vm1")->vmotion.why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drained_before_a_restart_it_is_undrained),
		cmocka_unit_test(a_short_loss_of_the_source_ends_no_job),
		cmocka_unit_test(nor_one_that_lasts_till_it_is_there),
		cmocka_unit_test(started_again_on_the_target_its_job_ends),
		cmocka_unit_test(what_an_administrator_cancels_stays),
		cmocka_unit_test(the_only_other_host_is_tried_again),
		cmocka_unit_test(a_host_to_which_one_comes_is_not_empty),
		cmocka_unit_test(drs_has_its_time),
		cmocka_unit_test(it_arrives_while_vcenter_is_away),
		cmocka_unit_test(done_and_not_shown_gives_nobody_up),
		cmocka_unit_test(told_again_the_order_says_what_it_does),
		cmocka_unit_test(its_share_of_the_pool_goes_along),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
