/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a guest reads at boot: set in each spec, watched, and set again before a
 * guest boots. */
#include "clone_source_stage.h"
#include "vcenter/calls/calls.h"

#define EVIL "10.9.9.9:6817"
#define SETTLES (VS_AWAIT_MS / 100 + 2)	/* in turns */

static struct fake_vm *vm1(void)
{
	struct fake_vm *vm = fake_get("vm1");

	assert_non_null(vm);
	return vm;
}

static void shows(enum vs_vc_guest_key key, const char *value)
{
	struct fake_vm *vm = vm1();

	vs_strlcpy(vm->guest[key], value, sizeof(vm->guest[key]));
	fake_show(vm);
	turns(2);
}

/* As long as the engine waits for a call's effect, and what it reads then. */
static void settles(void)
{
	turns(SETTLES);
	fake_slow(NULL, 0);
	turns(2);
}

/* One host; vm1 is up, and its job 7 is over. */
static void idle(void)
{
	begin(2, 1, 2, "warm");
	fake_guest = true;
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	turns(2);
}

/* vm1 is off, and its guest has left another controller's address. */
static void off_and_evil(void)
{
	idle();
	shows(VS_VC_G_CONF_SERVER, EVIL);
	powered_down("vm1");
	assert_false(vm1()->on);
}

static void job_asks(uint32_t job)
{
	assert_int_equal(job_begin(job, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
}

static void no_user_may_write(const struct fake_vm *vm)
{
	assert_non_null(vm);
	assert_string_equal(vs_vc_guest_keys[VS_VC_G_ROOT_WRITES],
			    "guest_rpc.rpci.auth.cmd.info-set");
	assert_string_equal(vm->guest[VS_VC_G_ROOT_WRITES], "TRUE");
}

static void every_vm_forbids_its_users_to_write(void **st)
{
	(void)st;
	idle();
	no_user_may_write(vm1());
	shows(VS_VC_G_ROOT_WRITES, "");
	powered_down("vm1");
	job_asks(8);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	no_user_may_write(vm1());

	begin_linked(1, 1);
	ready();
	first_child();
	no_user_may_write(vm1());

	begin_instant(1, 1);
	parent_stands(7, "vm1");
	no_user_may_write(fake_parent("parent-tpl-"));
	comes_up("vm1");
	no_user_may_write(vm1());
}

static void each_changed_value_is_set_again_before_the_next_job(void **st)
{
	(void)st;
	for (int key = 0; key < VS_VC_NGUEST; key++) {
		char was[64];

		idle();
		memcpy(was, vm1()->guest[key], sizeof(was));
		shows((enum vs_vc_guest_key)key, "evil");
		assert_int_equal(fake_sent[FAKE_POWER_OFF], 0);
		job_starts(8, "vm1");
		turns(3);
		assert_non_null(heard(VS_REQUEST_REBUILD, "vm1"));
		rebuilt_by(FAKE_RECONFIGURE);
		assert_string_equal(vm1()->guest[key], was);
		assert_true(fake_finish(FAKE_POWER_ON));
		turns(2);
		assert_int_equal(fake_sent[FAKE_RECONFIGURE], 1);
	}
}

/* As with ConcurrentAccess: what is shown is still the guest's. */
static void after_a_failed_call_the_guests_values_are_still_wrong(void **st)
{
	(void)st;
	off_and_evil();
	job_asks(8);
	assert_true(fake_fault(FAKE_RECONFIGURE, VS_E_RETRY,
			       "ConcurrentAccess", "changed meanwhile"));
	vm1()->version++;
	fake_show(vm1());
	for (int i = 0; i < 100 && !fake_waiting(FAKE_RECONFIGURE); i++)
		turn();
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
	assert_int_equal(fake_waiting(FAKE_RECONFIGURE), 1);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	turns(2);
	assert_string_equal(vm1()->guest[VS_VC_G_CONF_SERVER], "");
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
}

/* What is shown after it is from before it. */
static void a_call_whose_effect_is_not_shown_makes_nothing_right(void **st)
{
	struct fake_vm was;

	(void)st;
	off_and_evil();
	was = *vm1();
	job_asks(8);
	assert_int_equal(fake_waiting(FAKE_RECONFIGURE), 1);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	*vm1() = was;
	fake_show(vm1());
	settles();
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
}

/* A person switches the VM on before vCenter shows what was set. */
static void what_a_running_guest_may_have_written_is_not_learned(void **st)
{
	struct fake_vm was;
	int off;

	(void)st;
	off_and_evil();
	was = *vm1();
	job_asks(8);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	*vm1() = was;
	vm1()->on = true;
	vm1()->version += 2;
	fake_show(vm1());
	off = fake_sent[FAKE_POWER_OFF];
	settles();
	assert_int_equal(fake_sent[FAKE_POWER_OFF], off + 1);
}

/* The end of another call must not be taken for the lost one's. */
static void what_a_lost_call_left_is_not_learned_from_the_next_one(void **st)
{
	(void)st;
	off_and_evil();
	job_asks(8);
	assert_int_equal(fake_waiting(FAKE_RECONFIGURE), 1);
	fake_down(VS_E_RETRY);
	turns(2);
	vm1()->on = true;
	vm1()->version++;
	fake_load();
	fake_slow(NULL, 0);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_OFF));
	turns(2);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
	assert_int_equal(fake_waiting(FAKE_RECONFIGURE), 1);
}

/* vCenter shows "true" where "TRUE" was set; the VM has had a job so, and is
 * off again. */
static void shown_otherwise(void)
{
	off_and_evil();
	job_asks(8);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	shows(VS_VC_G_ROOT_WRITES, "true");
	settles();
	assert_true(fake_finish(FAKE_POWER_ON));
	assert_int_equal(fake_sent[FAKE_RECONFIGURE], 1);
	flags("vm1", BUSY);
	end_job(8, "vm1");
	powered_down("vm1");
}

static void what_vcenter_shows_otherwise_is_set_once(void **st)
{
	(void)st;
	shown_otherwise();
	job_asks(9);
	assert_int_equal(fake_sent[FAKE_RECONFIGURE], 1);
	assert_true(fake_finish(FAKE_POWER_ON));
	flags("vm1", BUSY);
	end_job(9, "vm1");
	shows(VS_VC_G_NODE, "vm777");
	powered_down("vm1");
	job_asks(10);
	assert_int_equal(fake_waiting(FAKE_RECONFIGURE), 1);
}

/* It was right for the configuration that was. */
static void another_configuration_forgets_what_was_shown(void **st)
{
	struct vs_conf *conf = conf_make(2, "warm", 1024);

	(void)st;
	shown_otherwise();
	conf->slurm.conf_server = vs_strdup("ctl2:6817");
	vs_setup_apply(&vs_core, conf);
	vs_setup_macs(&vs_core);
	ready();
	job_asks(9);
	assert_int_equal(fake_waiting(FAKE_RECONFIGURE), 1);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	assert_string_equal(vm1()->guest[VS_VC_G_CONF_SERVER], "ctl2:6817");
}

/* Slurm's reboot boots it again, and its next job may be another user's. */
static void an_instant_clone_whose_values_changed_is_made_again(void **st)
{
	(void)st;
	begin_instant(1, 1);
	fake_guest = true;
	parent_stands(7, "vm1");
	comes_up("vm1");
	end_job(7, "vm1");
	settles();
	job_starts(8, "vm1");
	turns(3);
	assert_null(heard(VS_REQUEST_REBUILD, "vm1"));
	end_job(8, "vm1");
	shows(VS_VC_G_CONF_SERVER, EVIL);
	job_starts(9, "vm1");
	turns(3);
	assert_non_null(heard(VS_REQUEST_REBUILD, "vm1"));
	rebuilt_by(FAKE_DESTROY);
	assert_true(fake_finish(FAKE_INSTANT));
	assert_string_equal(vm1()->guest[VS_VC_G_CONF_SERVER], "");
}

/* A job that keeps writing its guest's state is no work for the engine. */
static void words_of_a_guest_whose_node_is_up_are_only_noted(void **st)
{
	struct vs_vc_vm v = { .has = VS_VC_VM_GUEST, .guest_state = "failed",
			      .guest_reason = "a loop" };
	const struct vs_node *n;
	uint64_t epoch, generation;

	(void)st;
	idle();
	n = vs_node_named(&vs_core, "vm1");
	v.moid = vm1()->moid;
	turns(2);
	assert_true(n->kept->fresh);
	epoch = core_facts_epoch();
	generation = core_inv()->generation;
	fake_tell(vm, &v);
	assert_true(n->kept->fresh);
	assert_int_equal(core_facts_epoch(), epoch);
	assert_int_equal(core_inv()->generation, generation);
	assert_string_equal(vs_vm_get(core_inv(), v.moid)->guest.reason,
			    "a loop");
	/* of one that boots they are heard */
	job_starts(8, "vm1");
	flags("vm1", BOOT);
	turns(2);
	v.guest_reason = "no NIC";
	fake_tell(vm, &v);
	assert_false(n->kept->fresh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_vm_forbids_its_users_to_write),
		cmocka_unit_test(
			each_changed_value_is_set_again_before_the_next_job),
		cmocka_unit_test(
			after_a_failed_call_the_guests_values_are_still_wrong),
		cmocka_unit_test(
			a_call_whose_effect_is_not_shown_makes_nothing_right),
		cmocka_unit_test(
			what_a_running_guest_may_have_written_is_not_learned),
		cmocka_unit_test(
			what_a_lost_call_left_is_not_learned_from_the_next_one),
		cmocka_unit_test(what_vcenter_shows_otherwise_is_set_once),
		cmocka_unit_test(another_configuration_forgets_what_was_shown),
		cmocka_unit_test(
			an_instant_clone_whose_values_changed_is_made_again),
		cmocka_unit_test(
			words_of_a_guest_whose_node_is_up_are_only_noted),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
