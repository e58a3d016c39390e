/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a failed power-on of a node leads to, fault by fault: the same host
 * again, another host, waiting for room, or the end. (That vCenter's types give
 * these codes is test_vc_fault's part.)
 */
#include "engine_stage.h"
#include "util/json.h"

#define MINUTES(n) ((n) * 600)		/* in turns */

/* vm1 of JobId=7 is off on host-1, its power-on under way; two hosts. */
static void starts(void)
{
	begin(2, 2, 2, "warm");
	ready();
	boot_up(7, "vm1");
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	assert_string_equal(fake_get("vm1")->host, "host-1");
}

enum answer { SAME, OTHER, LOOK, WAIT, END };

/* What came of it, within a minute. */
static enum answer answer_of(void)
{
	int sent = fake_sent[FAKE_POWER_ON];

	for (int i = 0; i < MINUTES(1); i++) {
		turn();
		if (heard(VS_REQUEST_FAIL, "vm1"))
			return END;
		if (heard(VS_REQUEST_RELEASE, "vm1"))
			return WAIT;
		if (fake_waiting(FAKE_RELOCATE))
			return OTHER;
		if (fake_sent[FAKE_POWER_ON] > sent)
			return SAME;
	}
	return LOOK;	/* it waits for vCenter's next word */
}

static void each_fault_has_its_answer(void **st)
{
	static const struct {
		enum vs_code code;
		const char *fault;
		enum answer answer;
		bool job_fits;		/* may the next job be served? */
	} t[] = {
		{ VS_E_RETRY, "FileLocked", SAME, true },
		{ VS_E_RETRY, "ConcurrentAccess", SAME, true },
		{ VS_E_OTHER_HOST, "InsufficientHostCapacityFault", OTHER, true },
		{ VS_E_OTHER_HOST, "GenericVmConfigFault", OTHER, true },
		{ VS_E_OTHER_HOST, VS_VC_FAULT_NO_VF, OTHER, true },
		{ VS_E_STATE, "InvalidPowerState", LOOK, true },
		{ VS_E_BUSY, "TaskInProgress", LOOK, true },
		{ VS_E_GONE, "ManagedObjectNotFound", LOOK, true },
		{ VS_E_EXISTS, "DuplicateName", LOOK, true },
		{ VS_E_UNKNOWN, "HostNotConnected", LOOK, true },
		/* what hosts share lacks: none of them will do */
		{ VS_E_SHORTAGE, VS_VC_FAULT_NO_SPACE, WAIT, false },
		{ VS_E_SHORTAGE, "InsufficientFailoverResourcesFault", WAIT,
		  false },
		/* what an administrator must fix for all hosts */
		{ VS_E_CONFIG, "NoPermission", WAIT, false },
		{ VS_E_CONFIG, "LicenseExpired", WAIT, false },
		{ VS_E_REQUEST, "InvalidVmConfig", END, true },
		{ VS_E_REQUEST, "QuestionPending", END, true },
		{ VS_E_BUG, "InvalidProperty", END, true },
	};

	(void)st;
	for (size_t i = 0; i < VS_COUNT(t); i++) {
		enum answer got;
		int fits;

		starts();
		assert_true(fake_fault(FAKE_POWER_ON, t[i].code, t[i].fault,
				       "words of vCenter's"));
		got = answer_of();
		fits = !job_begin(8, "vm2", NULL);
		if (got != t[i].answer || fits != t[i].job_fits)
			fail_msg("%s: answer %d, next job %d", t[i].fault, got,
				 fits);
	}
}

static void a_fault_without_a_clear_cause_ends_the_hosts_turn(void **st)
{
	(void)st;
	starts();
	for (int i = 0; i < 2; i++) {
		assert_true(fake_fault(FAKE_POWER_ON, VS_E_RETRY, "SystemError",
				       "a general system error occurred"));
		assert_int_equal(answer_of(), SAME);
	}
	assert_true(fake_fault(FAKE_POWER_ON, VS_E_RETRY, "SystemError",
			       "a general system error occurred"));
	assert_int_equal(answer_of(), OTHER);
}

static void no_answer_of_vcenters_says_nothing_of_a_host(void **st)
{
	(void)st;
	starts();
	for (int i = 0; i < 4; i++) {
		assert_true(fake_fail(FAKE_POWER_ON, VS_E_RETRY, "HTTP 503"));
		assert_int_equal(answer_of(), SAME);
	}
	assert_null(vs_exclusion_get(&vs_core, "host-1", NULL));
}

static void a_full_datastore_is_a_reason_to_wait_and_takes_no_node_down(void **st)
{
	char why[256] = "";
	int one;

	(void)st;
	starts();
	assert_true(fake_fault(FAKE_POWER_ON, VS_E_SHORTAGE,
			       VS_VC_FAULT_NO_SPACE,
			       "No space left on device"));
	assert_int_equal(answer_of(), WAIT);
	one = id("vm2");
	assert_int_equal(
		vs_query_capacity(&vs_core, &one, 1, NULL, why, sizeof(why)),
		0);
	assert_non_null(strstr(why, "No space left on device"));
	assert_int_equal(job_begin(8, "vm2", NULL), -1);
	flags("vm1", DOWN);
	turns(MINUTES(6));		/* it is believed for five */
	assert_null(heard(VS_REQUEST_FAIL, NULL));
	assert_int_equal(job_begin(9, "vm2", NULL), 0);
}

static void room_that_an_operator_has_made_is_used_at_once(void **st)
{
	(void)st;
	starts();
	assert_true(fake_fault(FAKE_POWER_ON, VS_E_SHORTAGE,
			       VS_VC_FAULT_NO_SPACE,
			       "No space left on device"));
	assert_int_equal(job_begin(8, "vm2", NULL), -1);
	vs_jb_free(vs_core_request("resume", "esx2", "", 0, NULL));
	assert_int_equal(job_begin(8, "vm2", NULL), 0);
}

static void a_guest_that_cannot_be_asked_is_switched_off(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	fake_get("vm1")->tools = true;
	fake_show(fake_get("vm1"));
	end_job(7, "vm1");
	flags("vm1", GOING);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_SHUTDOWN), 1);
	assert_true(fake_fault(FAKE_SHUTDOWN, VS_E_STATE, "ToolsUnavailable",
			       "VMware Tools is not running"));
	turn();
	fake_slow(NULL, 0);
	turns(10);
	assert_int_equal(fake_waiting(FAKE_POWER_OFF), 1);
	assert_int_equal(fake_sent[FAKE_SHUTDOWN], 1);
}

static void a_power_off_that_fails_blames_no_place(void **st)
{
	(void)st;
	begin_idle("warm");
	flags("vm1", GOING);
	turns(2);
	assert_true(fake_fault(FAKE_POWER_OFF, VS_E_OTHER_HOST, "NewFault",
			       "it can't be done"));
	turns(2);
	assert_null(vs_avoids());
}

/* ---- a VM that can't be moved ------------------------------------------------ */

/* Off, and its place is on the other host. */
static void to_be_moved(const char *refused_with, enum vs_code code)
{
	begin(1, 2, 1, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	powered_down("vm1");
	vs_exclude_failed(fake_get("vm1")->host, NULL, now + 3600000,
			  "test");
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
	assert_true(fake_fault(FAKE_RELOCATE, code, refused_with, "no"));
	turns(10);
}

static void a_vm_that_vcenter_does_not_move_is_made_anew(void **st)
{
	char was[32];

	(void)st;
	to_be_moved("CannotAccessVmDevice", VS_E_REQUEST);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	assert_string_equal(vs_ledger_get(core_ledger(), "vm1")->host,
			    "host-2");
	vs_strlcpy(was, fake_get("vm1")->moid, sizeof(was));
	assert_true(fake_finish(FAKE_DESTROY));
	turns(3);
	assert_true(fake_finish(FAKE_CLONE));
	turns(3);
	assert_string_equal(fake_get("vm1")->host, "host-2");
	assert_string_not_equal(fake_get("vm1")->moid, was);
	assert_true(fake_finish(FAKE_POWER_ON));
	assert_null(heard(VS_REQUEST_FAIL, NULL));
	assert_null(heard(VS_REQUEST_RELEASE, NULL));
}

/* It may be the other host's fault alone. */
static void a_host_that_takes_none_is_not_the_vms_fault(void **st)
{
	(void)st;
	to_be_moved("InvalidHostState", VS_E_OTHER_HOST);
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	vs_exclude_end(VS_EXCLUDED_FAILED, "host-2");
	turns(20);
	assert_true(fake_fault(FAKE_RELOCATE, VS_E_OTHER_HOST,
			       "InvalidHostState", "no"));
	vs_exclude_end(VS_EXCLUDED_FAILED, "host-2");
	turns(20);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 2);
	assert_true(fake_finish(FAKE_DESTROY));
	turns(3);
	assert_true(fake_finish(FAKE_CLONE));
}

/* ---- a VF that is gone when it is wanted ------------------------------------ */

static void steal(const char *host)
{
	struct fake_vm *thief = fake_add_vm("thief", "group-other", host, true);

	thief->has_nic = true;
	vs_strlcpy(thief->pci, "0000:3b:00.0", sizeof(thief->pci));
	fake_show(thief);
}

/* nova 1851545, OpenNebula/one#3964: a VF is given though another VM has it. */
static void a_vf_stolen_after_the_hold_means_another_host(void **st)
{
	(void)st;
	begin(1, 2, 1, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", WANTED);
	turn();
	assert_true(fake_finish(FAKE_CLONE));
	turn();
	steal(fake_get("vm1")->host);
	flags("vm1", BOOT);
	turns(10);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	assert_int_equal(fake_overfull, 0);
	assert_null(heard(VS_REQUEST_FAIL, NULL));
}

/* aws-parallelcluster#4030: a shortage takes nodes down, and the job loops. */
static void a_vf_stolen_with_none_left_sends_the_job_back_to_wait(void **st)
{
	(void)st;
	begin(2, 1, 1, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", WANTED);
	turn();
	assert_true(fake_finish(FAKE_CLONE));
	steal("host-1");
	flags("vm1", BOOT);
	turns(MINUTES(1));
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
	assert_null(heard(VS_REQUEST_FAIL, NULL));
	assert_int_equal(fake_sent[FAKE_POWER_ON], 0);
	assert_int_equal(job_begin(7, "vm2", NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fault_has_its_answer),
		cmocka_unit_test(a_fault_without_a_clear_cause_ends_the_hosts_turn),
		cmocka_unit_test(no_answer_of_vcenters_says_nothing_of_a_host),
		cmocka_unit_test(a_full_datastore_is_a_reason_to_wait_and_takes_no_node_down),
		cmocka_unit_test(room_that_an_operator_has_made_is_used_at_once),
		cmocka_unit_test(a_guest_that_cannot_be_asked_is_switched_off),
		cmocka_unit_test(a_power_off_that_fails_blames_no_place),
		cmocka_unit_test(a_vm_that_vcenter_does_not_move_is_made_anew),
		cmocka_unit_test(a_host_that_takes_none_is_not_the_vms_fault),
		cmocka_unit_test(a_vf_stolen_after_the_hold_means_another_host),
		cmocka_unit_test(a_vf_stolen_with_none_left_sends_the_job_back_to_wait),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
