/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From power-on to registration: what Slurm is told, what a guest's own words
 * change. */
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

static int count(enum vs_tell_kind kind)
{
	int n = 0;

	for (size_t i = 0; i < ntold; i++)
		n += told[i].kind == kind;
	return n;
}

static void slurm_hears_once_when_the_boot_began(void **st)
{
	const struct vs_tell *t;
	int64_t sent;

	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	clone_for(7, "vm1");
	turn();
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	sent = now;
	turns(40);		/* vCenter is slow, the push goes on */
	assert_non_null(heard(VS_TELL_BOOT_PUSH, "vm1"));
	assert_null(heard(VS_TELL_BOOTED, "vm1"));
	assert_true(fake_finish(FAKE_POWER_ON));
	turns(100);
	assert_int_equal(count(VS_TELL_BOOTED), 1);
	t = heard(VS_TELL_BOOTED, "vm1");
	assert_int_equal(t->at_ms, sent);
	assert_false(t->ok);
}

static void a_guest_that_is_ready_is_asked_to_register(void **st)
{
	(void)st;
	boots(1);
	says("booting", "vm1");
	turns(60);
	assert_int_equal(count(VS_TELL_BOOTED), 1);
	ntold = 0;
	says("ready", "eth0");
	turns(101);
	assert_int_equal(count(VS_TELL_BOOTED), 2);	/* every 5 s */
	assert_true(heard(VS_TELL_BOOTED, "vm1")->ok);
	ntold = 0;
	flags("vm1", BUSY);
	turns(100);
	assert_int_equal(count(VS_TELL_BOOTED), 0);
}

static void a_guest_that_says_nothing_is_asked_when_its_tools_run(void **st)
{
	(void)st;
	boots(1);
	turns(200);
	assert_int_equal(count(VS_TELL_BOOTED), 1);
	assert_false(heard(VS_TELL_BOOTED, "vm1")->ok);
	ntold = 0;
	fake_get("vm1")->tools = true;
	fake_show(fake_get("vm1"));
	turns(301);
	assert_int_equal(count(VS_TELL_BOOTED), 3);	/* every 15 s */
	assert_true(heard(VS_TELL_BOOTED, "vm1")->ok);
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
	assert_null(heard(VS_TELL_FAIL, "vm1"));
	assert_non_null(vs_avoid_get(&vs_core, first, "0000:3b:00.0"));
	assert_true(fake_finish(FAKE_POWER_OFF));
	says(NULL, NULL);	/* unchanged: vCenter doesn't say it again */
	turns(6);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(6);
	assert_true(fake_finish(FAKE_POWER_ON));
	assert_string_not_equal(fake_get("vm1")->host, first);
	turn();
	assert_null(heard(VS_TELL_FAIL, "vm1"));
	says("booting", "vm1");
	turn();
	says("failed", "port 1 is DOWN");
	turns(2);
	assert_non_null(strstr(heard(VS_TELL_FAIL, "vm1")->text,
			       "the guest says: port 1 is DOWN"));
	turn();		/* two hosts, one guest: it wasn't the host */
	assert_null(vs_avoid_get(&vs_core, first, "0000:3b:00.0"));
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
	assert_string_equal(vs_vm_get(&vs_core.inv, vm->moid)->guest_state,
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
	vs_watch_events.vm(&vs_core, &(struct vs_vc_vm){
		.moid = vm->moid, .has = VS_VC_VM_POWER,
		.power = "poweredOn" });
	assert_string_equal(vs_vm_get(&vs_core.inv, vm->moid)->guest_state, "");
	turns(3);
	assert_null(heard(VS_TELL_FAIL, "vm1"));
}

static void boot_timeout_quotes_the_guest(void **st)
{
	(void)st;
	boots(1);
	turn();
	says("booting", "waits\nfor \033eth0");	/* and no line of its own */
	now += (int64_t)vs_core.conf->boot_timeout_s * 1000;
	turns(2);
	assert_non_null(strstr(heard(VS_TELL_FAIL, "vm1")->text,
			       "the guest says: booting: waits for  eth0"));
}

static void a_silent_guest_is_tried_elsewhere_before_the_node_fails(void **st)
{
	(void)st;
	boots(2);
	turn();
	now += (int64_t)vs_core.conf->boot_timeout_s * 1000;
	turns(2);
	assert_null(heard(VS_TELL_FAIL, "vm1"));
	assert_true(fake_finish(FAKE_POWER_OFF));
	turns(6);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(6);
	assert_true(fake_finish(FAKE_POWER_ON));
	turn();
	now += (int64_t)vs_core.conf->boot_timeout_s * 1000;
	turns(2);
	assert_non_null(strstr(heard(VS_TELL_FAIL, "vm1")->text,
			       "BootTimeout"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slurm_hears_once_when_the_boot_began),
		cmocka_unit_test(a_guest_that_is_ready_is_asked_to_register),
		cmocka_unit_test(a_guest_that_says_nothing_is_asked_when_its_tools_run),
		cmocka_unit_test(a_guest_that_cannot_serve_is_tried_on_another_host),
		cmocka_unit_test(words_of_an_earlier_boot_are_not_believed),
		cmocka_unit_test(boot_timeout_quotes_the_guest),
		cmocka_unit_test(a_silent_guest_is_tried_elsewhere_before_the_node_fails),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
