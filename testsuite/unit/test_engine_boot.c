/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From power-on to registration: what Slurm is told, what a guest's own words
 * change. */
#include "engine/run/run_i.h"
#include "engine_stage.h"

/* vm1 is on, seen, not registered. */
static void boots(int hosts)
{
	begin(1, hosts, 1, "warm");
	ready();
	boot_up(7, "vm1");
	assert_true(fake_finish(FAKE_POWER_ON));
}

static void says(const char *state, const char *reason)
{
	struct fake_vm *vm = fake_get("vm1");

	vm->guest_state = state;
	vm->guest_reason = reason;
	fake_show(vm);
}

static int count(enum vs_slurm_request kind)
{
	int n = 0;

	for (size_t i = 0; i < ntold; i++)
		n += told[i].kind == kind;
	return n;
}

static void slurm_hears_once_when_the_boot_began(void **st)
{
	const struct vs_outbox_request *t;
	int64_t sent;

	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	clone_for(7, "vm1");
	turn();
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	sent = now;
	turns(40);		/* vCenter is slow, the push continues */
	assert_non_null(heard(VS_REQUEST_BOOT_PUSH, "vm1"));
	assert_null(heard(VS_REQUEST_BOOTED, "vm1"));
	assert_true(fake_finish(FAKE_POWER_ON));
	turns(100);
	assert_int_equal(count(VS_REQUEST_BOOTED), 1);
	t = heard(VS_REQUEST_BOOTED, "vm1");
	assert_int_equal(t->at_ms, sent);
	assert_false(t->ok);
}

static void a_guest_that_is_ready_is_asked_to_register(void **st)
{
	(void)st;
	boots(1);
	says("booting", "vm1");
	turns(60);
	assert_int_equal(count(VS_REQUEST_BOOTED), 1);
	ntold = 0;
	says("ready", "eth0");
	turns(101);
	assert_int_equal(count(VS_REQUEST_BOOTED), 2);	/* every 5 s */
	assert_true(heard(VS_REQUEST_BOOTED, "vm1")->ok);
	ntold = 0;
	flags("vm1", BUSY);
	turns(100);
	assert_int_equal(count(VS_REQUEST_BOOTED), 0);
}

static void a_guest_that_says_nothing_is_asked_when_its_tools_run(void **st)
{
	(void)st;
	boots(1);
	turns(200);
	assert_int_equal(count(VS_REQUEST_BOOTED), 1);
	assert_false(heard(VS_REQUEST_BOOTED, "vm1")->ok);
	ntold = 0;
	fake_get("vm1")->tools = true;
	fake_show(fake_get("vm1"));
	turns(301);
	assert_int_equal(count(VS_REQUEST_BOOTED), 3);	/* every 15 s */
	assert_true(heard(VS_REQUEST_BOOTED, "vm1")->ok);
}

static void a_guest_that_cannot_serve_is_tried_on_another_host(void **st)
{
	char first[32];

	(void)st;
	boots(2);
	turn();
	vs_strlcpy(first, fake_get("vm1")->host, sizeof(first));
	says("failed", "port 1 is DOWN");
	turns(2);
	assert_null(heard(VS_REQUEST_FAIL, "vm1"));
	assert_non_null(vs_exclusion_get(&vs_core, first, "0000:3b:00.0"));
	assert_true(fake_finish(FAKE_POWER_OFF));
	says(NULL, NULL);	/* unchanged: vCenter doesn't say it again */
	turns(6);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(6);
	assert_true(fake_finish(FAKE_POWER_ON));
	assert_string_not_equal(fake_get("vm1")->host, first);
	turn();
	assert_null(heard(VS_REQUEST_FAIL, "vm1"));
	says("booting", "vm1");
	turn();
	says("failed", "port 1 is DOWN");
	turns(2);
	assert_non_null(strstr(heard(VS_REQUEST_FAIL, "vm1")->text,
			       "the guest says: port 1 is DOWN"));
	assert_string_equal(heard(VS_REQUEST_REQUEUED, NULL)->text,
			    "node vm1: the guest says: port 1 is DOWN");
	turn();		/* two hosts, one guest: it wasn't the host */
	assert_null(vs_exclusion_get(&vs_core, first, "0000:3b:00.0"));
}

/* A template without a munge key would have every host blamed, one after the other. */
static void a_guest_that_blames_its_template_is_tried_nowhere_else(void **st)
{
	char host[32];

	(void)st;
	boots(2);
	turn();
	vs_strlcpy(host, fake_get("vm1")->host, sizeof(host));
	says("bad-template", "munge.key is missing");
	turns(2);
	assert_string_equal(heard(VS_REQUEST_REQUEUED, NULL)->text,
			    "node vm1: the guest says: munge.key is missing");
	assert_non_null(strstr(heard(VS_REQUEST_FAIL, "vm1")->text,
			       "the guest says: munge.key is missing"));
	assert_null(vs_exclusion_get(&vs_core, host, "0000:3b:00.0"));
}

/* vCenter's update of one of the two keys, and nothing else. */
static void says_alone(const char *state, const char *reason)
{
	fake_tell(vm, &(struct vs_vc_vm){
		.moid = fake_get("vm1")->moid, .has = VS_VC_VM_GUEST,
		.guest_state = state, .guest_reason = reason });
}

static void a_stream_of_words_from_a_node_that_is_up_moves_nothing(void **st)
{
	uint64_t was;

	(void)st;
	boots(1);
	turn();
	was = core_inv()->generation;
	says_alone("booting", "eth0");
	assert_int_not_equal(core_inv()->generation, was);
	flags("vm1", BUSY);
	turns(2);
	was = core_inv()->generation;
	for (int i = 0; i < 1000; i++)
		says_alone(i % 2 ? "failed" : "ready", "again");
	assert_int_equal(core_inv()->generation, was);
	assert_string_equal(vs_vm_get(core_inv(),
		fake_get("vm1")->moid)->guest.state, "failed");
	turns(3);
	assert_null(heard(VS_REQUEST_FAIL, "vm1"));
}

static void words_of_an_earlier_boot_are_not_believed(void **st)
{
	struct fake_vm *vm;

	(void)st;
	boots(1);
	vm = fake_get("vm1");
	turn();
	flags("vm1", BUSY);
	turn();
	says("ready", "eth0");
	end_job(7, "vm1");
	flags("vm1", GOING);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_OFF));
	assert_string_equal(vs_vm_get(core_inv(), vm->moid)->guest.state,
			    "ready");	/* said again by the fake, while off */
	vm->guest_state = vm->guest_reason = NULL;
	fake_show(vm);
	says("failed", "of old");
	flags("vm1", DOWN);
	turns(3);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
	/* The power-on is shown without the guest's words, as vCenter does. */
	fake_tell(vm, &(struct vs_vc_vm){
		.moid = vm->moid, .has = VS_VC_VM_POWER,
		.power = "poweredOn" });
	assert_string_equal(vs_vm_get(core_inv(), vm->moid)->guest.state, "");
	turns(3);
	assert_null(heard(VS_REQUEST_FAIL, "vm1"));
}

static void boot_timeout_quotes_the_guest(void **st)
{
	(void)st;
	boots(1);
	turn();
	says("booting", "waits\nfor \033eth0");	/* and no line of its own */
	now += (int64_t)core_conf()->boot_timeout_s * 1000;
	turns(2);
	assert_non_null(strstr(heard(VS_REQUEST_FAIL, "vm1")->text,
			       "the guest says: booting: waits for  eth0"));
}

static void a_silent_guest_is_tried_elsewhere_before_the_node_fails(void **st)
{
	(void)st;
	boots(2);
	turn();
	now += (int64_t)core_conf()->boot_timeout_s * 1000;
	turns(2);
	assert_null(heard(VS_REQUEST_FAIL, "vm1"));
	assert_true(fake_finish(FAKE_POWER_OFF));
	turns(6);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(6);
	assert_true(fake_finish(FAKE_POWER_ON));
	turn();
	now += (int64_t)core_conf()->boot_timeout_s * 1000;
	turns(2);
	assert_non_null(strstr(heard(VS_REQUEST_FAIL, "vm1")->text,
			       "BootTimeout"));
}

/* What a look has found is acted upon in the same turn, whole or not: the next
 * look finds a VM that is off and nothing else. */
static void a_guest_that_dies_at_once_is_tried_elsewhere(void **st)
{
	const struct vs_claim *h;
	struct fake_vm *vm;

	(void)st;
	boots(2);
	turn();
	vm = fake_get("vm1");
	h = vs_ledger_get(core_ledger(), "vm1");
	assert_string_equal(h->host, "host-1");
	vs_passes.whole_ms = vs_passes.full_ms = now;
	vs_name_freed_clear();
	vm->on = false;
	fake_show(vm);
	some_turn();
	assert_false(vs_passes.whole);
	turns(3);
	assert_null(heard(VS_REQUEST_FAIL, "vm1"));
	assert_int_equal(fake_waiting(FAKE_RELOCATE), 1);
}

/* ---- ResumeTimeout is extended, or not
 * ------------------------------------ */

static void an_outage_during_a_boot_takes_no_node_down(void **state)
{
	(void)state;
	begin_cloning();
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
	fake_down(VS_E_RETRY);
	ntold = 0;
	turns(20);
	assert_non_null(heard(VS_REQUEST_BOOT_PUSH, "vm1"));
}

static void what_stops_all_changes_takes_no_booting_node_down(void **state)
{
	struct fake_vm *vm;

	(void)state;
	begin_cloning();
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
	vm = fake_add_vm("x9", "group-v1", "host-1", false);
	snprintf(vm->mark, sizeof(vm->mark),
		 "99999999-2222-4333-8444-555555555555/x9/%s", vm->uuid);
	fake_show(vm);
	turn();
	assert_string_not_equal(core_blocked(), "");
	ntold = 0;
	turns(20);
	assert_non_null(heard(VS_REQUEST_BOOT_PUSH, "vm1"));
}

static void without_a_client_no_booting_node_is_taken_down(void **state)
{
	(void)state;
	begin(1, 1, 1, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	core_set_vc(NULL);
	core_set_found(false);
	core_set_loaded(false);
	core_set_ready(false);
	flags("vm1", BOOT);
	ntold = 0;
	turns(2);
	assert_non_null(heard(VS_REQUEST_BOOT_PUSH, "vm1"));
}

static void a_boot_that_slurm_was_told_of_is_not_pushed_in_an_outage(void **state)
{
	(void)state;
	boots(1);
	turn();
	assert_non_null(heard(VS_REQUEST_BOOTED, "vm1"));
	fake_down(VS_E_RETRY);
	ntold = 0;
	turns(20);
	assert_null(heard(VS_REQUEST_BOOT_PUSH, "vm1"));
}

/* Its VM can't be seen. */
static void nobody_waits(void)
{
	struct fake_vm *vm;

	begin_idle("warm");
	powered_down("vm1");
	vm = fake_get("vm1");
	vm->unreadable = true;
	fake_show(vm);
	flags("vm1", VS_NODE_POWERING_UP);
	turns(3);
	assert_non_null(heard(VS_REQUEST_BOOT_PUSH, "vm1"));
	assert_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

static void a_node_that_nobody_waits_for_does_not_boot_for_ever(void **state)
{
	(void)state;
	nobody_waits();
	now += (int64_t)core_conf()->provision_timeout_s * 1000;
	ntold = 0;
	turns(3);
	assert_null(heard(VS_REQUEST_BOOT_PUSH, "vm1"));
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
	flags("vm1", GOING);
	turn();
	flags("vm1", DOWN);
	turn();
	flags("vm1", VS_NODE_POWERING_UP);	/* and has all of it again */
	ntold = 0;
	turns(3);
	assert_non_null(heard(VS_REQUEST_BOOT_PUSH, "vm1"));
	assert_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

static void nor_does_it_while_vcenter_is_away(void **state)
{
	(void)state;
	nobody_waits();
	fake_down(VS_E_RETRY);
	now += (int64_t)core_conf()->provision_timeout_s * 1000;
	ntold = 0;
	turns(3);
	assert_null(heard(VS_REQUEST_BOOT_PUSH, "vm1"));
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

/* ---- since when it is on ------------------------------------------------------- */

/* A VM stays on while its node is powered down and comes up again: vCenter was
 * away for longer than SuspendTimeout, or the power budget or a fault delayed
 * the power-off. */
static void a_vm_that_outlived_its_nodes_power_down_boots_anew(void **state)
{
	const struct vs_outbox_request *t;

	(void)state;
	begin_idle("warm");
	now += 2 * 3600 * 1000;
	turns(2);
	flags("vm1", GOING);
	turn();
	assert_true(fake_fail(FAKE_POWER_OFF, VS_E_RETRY, "busy"));
	flags("vm1", DOWN);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	flags("vm1", BOOT);
	ntold = 0;
	turns(20);
	assert_null(heard(VS_REQUEST_BOOTED, "vm1"));
	assert_non_null(heard(VS_REQUEST_BOOT_PUSH, "vm1"));
	assert_true(fake_finish(FAKE_POWER_OFF));
	turns(20);
	assert_true(fake_finish(FAKE_POWER_ON));
	turns(3);
	t = heard(VS_REQUEST_BOOTED, "vm1");
	assert_non_null(t);
	assert_true(now - t->at_ms >= 0 && now - t->at_ms <= 10000);
}

/* The same, unseen: it is powered up while vCenter is away. */
static void a_vm_that_outlived_an_outage_boots_anew(void **state)
{
	(void)state;
	begin_idle("warm");
	fake_down(VS_E_RETRY);
	flags("vm1", GOING);
	turns(2);
	flags("vm1", DOWN);
	turns(2);
	flags("vm1", VS_NODE_POWERING_UP);
	ntold = 0;
	turns(2);
	assert_non_null(heard(VS_REQUEST_BOOT_PUSH, "vm1"));
	fake_load();
	fake_slow(NULL, 0);
	turns(2);
	assert_null(heard(VS_REQUEST_BOOTED, "vm1"));
	assert_int_equal(fake_waiting(FAKE_POWER_OFF), 1);
}

static void a_power_on_that_was_not_ours_has_no_old_time(void **state)
{
	const struct vs_outbox_request *t;
	struct fake_vm *vm;

	(void)state;
	begin_idle("warm");
	powered_down("vm1");
	now += 2 * 3600 * 1000;
	turns(2);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	vm = fake_get("vm1");
	vm->on = true;
	flags("vm1", BOOT);
	fake_show(vm);
	ntold = 0;
	turns(3);
	t = heard(VS_REQUEST_BOOTED, "vm1");
	assert_non_null(t);
	assert_int_equal(t->at_ms, 0);
	/* Its guest may be up, and was refused: it registers once only. */
	assert_true(t->ok);
	assert_null(heard(VS_REQUEST_BOOT_PUSH, "vm1"));
}

static void a_boot_of_before_a_restart_that_fails_blames_no_host(void **state)
{
	int one;

	(void)state;
	boots(1);
	turn();
	vs_leadership_begin(&vs_core);
	vs_client_renew_clear();
	flags("vm1", BOOT);
	one = id("vm1");
	vs_job_claim(&vs_core, 7, 0, &one, 1, false);
	fake_load();
	fake_slow(NULL, 0);
	ntold = 0;
	turns(2);
	assert_int_equal(fake_waiting(FAKE_POWER_OFF), 0);
	assert_null(heard(VS_REQUEST_BOOT_PUSH, "vm1"));
	assert_non_null(heard(VS_REQUEST_BOOTED, "vm1"));
	assert_true(heard(VS_REQUEST_BOOTED, "vm1")->ok);
	now += (int64_t)core_conf()->boot_timeout_s * 1000;
	turns(2);
	assert_null(heard(VS_REQUEST_FAIL, "vm1"));
	assert_null(vs_exclusion_get(&vs_core, "host-1", "0000:3b:00.0"));
	assert_int_equal(fake_waiting(FAKE_POWER_OFF), 1);
}

static void what_was_switched_on_long_before_it_was_shown_is_taken(void **state)
{
	const struct vs_outbox_request *t;

	(void)state;
	begin(1, 1, 1, "warm");
	ready();
	boot_up(7, "vm1");
	now += (int64_t)core_conf()->slurm.resume_timeout_s * 1000;
	ntold = 0;
	assert_true(fake_finish(FAKE_POWER_ON));
	turns(3);
	t = heard(VS_REQUEST_BOOTED, "vm1");
	assert_non_null(t);
	assert_true(now - t->at_ms >=
		    (int64_t)core_conf()->slurm.resume_timeout_s * 1000);
	assert_int_equal(fake_waiting(FAKE_POWER_OFF), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slurm_hears_once_when_the_boot_began),
		cmocka_unit_test(a_guest_that_is_ready_is_asked_to_register),
		cmocka_unit_test(a_guest_that_says_nothing_is_asked_when_its_tools_run),
		cmocka_unit_test(a_guest_that_cannot_serve_is_tried_on_another_host),
		cmocka_unit_test(a_guest_that_blames_its_template_is_tried_nowhere_else),
		cmocka_unit_test(a_stream_of_words_from_a_node_that_is_up_moves_nothing),
		cmocka_unit_test(words_of_an_earlier_boot_are_not_believed),
		cmocka_unit_test(boot_timeout_quotes_the_guest),
		cmocka_unit_test(a_silent_guest_is_tried_elsewhere_before_the_node_fails),
		cmocka_unit_test(a_guest_that_dies_at_once_is_tried_elsewhere),
		cmocka_unit_test(an_outage_during_a_boot_takes_no_node_down),
		cmocka_unit_test(what_stops_all_changes_takes_no_booting_node_down),
		cmocka_unit_test(without_a_client_no_booting_node_is_taken_down),
		cmocka_unit_test(a_boot_that_slurm_was_told_of_is_not_pushed_in_an_outage),
		cmocka_unit_test(a_node_that_nobody_waits_for_does_not_boot_for_ever),
		cmocka_unit_test(nor_does_it_while_vcenter_is_away),
		cmocka_unit_test(a_vm_that_outlived_its_nodes_power_down_boots_anew),
		cmocka_unit_test(a_vm_that_outlived_an_outage_boots_anew),
		cmocka_unit_test(a_power_on_that_was_not_ours_has_no_old_time),
		cmocka_unit_test(a_boot_of_before_a_restart_that_fails_blames_no_host),
		cmocka_unit_test(what_was_switched_on_long_before_it_was_shown_is_taken),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
