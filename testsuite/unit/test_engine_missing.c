/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VMs that vCenter doesn't show any more though no event reported their end:
 * vCenter was restored from a backup, or a user has renamed or moved a VM.
 */
#include "engine/tasks/tasks_i.h"
#include "engine_stage.h"
#include "util/time.h"
#include "util/json.h"

static struct fake_vm *forgotten;	/* runs, unknown to vCenter */

/* vCenter comes back without the VM, and no event has reported that. */
static void restored_without(const char *node)
{
	forgotten = fake_get(node);
	forgotten->used = false;
	fake_down(VS_E_RETRY);
	turn();
	fake_load();
	fake_slow(NULL, 0);
	ntold = 0;
	turns(3);
}

static int sent(void)
{
	int n = 0;

	for (int k = 0; k < FAKE_KINDS; k++)
		n += fake_sent[k];
	return n;
}

static struct vs_node *node(const char *name)
{
	return vs_node_named(&vs_core, name);
}

static void up_with(uint32_t job)
{
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	if (!job)
		end_job(7, "vm1");
}

/* But for the scheduler's nudge that comes with every load. */
static int words_to_slurm(void)
{
	int n = 0;

	for (size_t i = 0; i < ntold; i++)
		n += told[i].kind != VS_REQUEST_SCHEDULE;
	return n;
}

static void a_running_job_does_not_notice_that_its_vm_is_forgotten(void **st)
{
	int calls;

	(void)st;
	up_with(7);
	calls = sent();
	restored_without("vm1");
	turns(100);
	assert_int_equal(words_to_slurm(), 0);
	assert_int_equal(sent(), calls);
	assert_int_equal(free_on("host-1"), 0);
}

static void an_idle_node_is_neither_powered_down_nor_given_to_a_job(void **st)
{
	(void)st;
	up_with(0);
	restored_without("vm1");
	turns(100);
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	assert_int_equal(vs_node_avail(&vs_core, node("vm1")), VS_AVAIL_NONE);
}

/* The power-off can't be sent: the old VM may live on, under the same name. */
static void no_second_vm_is_built_after_slurm_has_powered_it_down(void **st)
{
	int calls;

	(void)st;
	up_with(0);
	restored_without("vm1");
	calls = sent();
	flags("vm1", GOING);
	turns(50);
	flags("vm1", DOWN);
	turns(50);
	assert_int_equal(job_begin(8, "vm1", NULL), -1);
	flags("vm1", WANTED);
	turns(50);
	assert_int_equal(sent(), calls);
}

static void nor_for_a_node_that_was_booting(void **st)
{
	int calls;

	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	boot_up(7, "vm1");
	assert_true(fake_finish(FAKE_POWER_ON));
	turns(2);
	restored_without("vm1");
	calls = sent();
	turns(50);
	assert_int_equal(sent(), calls);
}

/* By the loop, which isn't here: the scheduler's nudges up to now were given. */
static void nobody_is_told(void)
{
	vs_capacity_freed_clear();
	vs_name_freed_clear();
}

/* What Slurm knows of a node's power, look by look. */
static void a_node_that_rests_down_is_told_of_once(void **st)
{
	static const uint32_t before[] = {
		GOING, UP, VS_NODE_DOWN, DOWN | GOING, BOOT
	};

	(void)st;
	begin(1, 1, 1, "warm");
	nobody_is_told();
	flags("vm1", DOWN);	/* the first look: the start tells of all */
	assert_false(vs_name_freed_pending());
	ready();
	for (size_t i = 0; i < VS_COUNT(before); i++) {
		flags("vm1", before[i]);
		nobody_is_told();
		flags("vm1", DOWN);
		assert_true(vs_name_freed_pending());
		nobody_is_told();
		flags("vm1", WANTED);
		flags("vm1", DOWN);
		assert_false(vs_name_freed_pending());
	}
}

static void it_ends_when_the_vm_is_back_in_the_folder(void **st)
{
	(void)st;
	up_with(0);
	restored_without("vm1");
	assert_int_equal(node_missing(node("vm1")), VS_MISSING_OBSERVED);
	nobody_is_told();
	turns(3);
	assert_false(vs_name_freed_pending() || vs_capacity_freed_pending());
	forgotten->used = true;
	fake_show(forgotten);
	turns(3);
	assert_int_equal(node_missing(node("vm1")), VS_MISSING_NOT);
	assert_true(vs_name_freed_pending() && vs_capacity_freed_pending());
	assert_int_equal(vs_node_avail(&vs_core, node("vm1")),
			 VS_AVAIL_RUNNING);
	assert_int_equal(words_to_slurm(), 0);
}

/* vCenter finds it on its host, and puts it elsewhere under a new id. */
static void what_it_holds_is_counted_once_when_it_is_found(void **st)
{
	struct fake_vm *vm;

	(void)st;
	begin(1, 1, 2, "warm");
	ready();
	bring_up(7, "vm1");
	restored_without("vm1");
	assert_int_equal(free_on("host-1"), 1);
	vm = fake_add_vm("vm1", "group-v9", "host-1", true);
	vm->has_nic = true;
	vs_strlcpy(vm->mac, node("vm1")->macs[0], sizeof(vm->mac));
	vs_strlcpy(vm->pci, "0000:3b:00.0", sizeof(vm->pci));
	fake_show(vm);
	turns(60);
	assert_int_equal(free_on("host-1"), 1);
	assert_int_equal(node_missing(node("vm1")), VS_MISSING_OBSERVED);
	vm->on = false;
	fake_show(vm);
	turns(60);
	assert_int_equal(free_on("host-1"), 2);
	assert_int_equal(node_missing(node("vm1")), VS_MISSING_NOT);
}

static void an_operator_ends_it_by_forget(void **st)
{
	struct vs_err err = { 0 };

	(void)st;
	up_with(0);
	restored_without("vm1");
	nobody_is_told();
	vs_jb_free(vs_core_request("forget", "vm1", "", 0, &err));
	assert_true(vs_name_freed_pending() && vs_capacity_freed_pending());
	assert_int_equal(err.code, VS_OK);
	turns(3);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	flags("vm1", DOWN);
	turn();
	assert_int_equal(free_on("host-1"), 1);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
}

static void slurm_itself_may_give_the_node_up(void **st)
{
	(void)st;
	up_with(0);
	restored_without("vm1");
	flags("vm1", VS_NODE_NO_RESPOND);
	turns(200);
	assert_int_equal(node_missing(node("vm1")), VS_MISSING_OBSERVED);
	flags("vm1", VS_NODE_DOWN | VS_NODE_NO_RESPOND);
	turn();
	assert_int_equal(node_missing(node("vm1")), VS_MISSING_NOT);
}

/* slurmctld has started meanwhile and knows the VM by its slurmd alone, or by
 * what it has saved hours ago. */
static void after_a_start_the_slurmd_decides(void **st)
{
	(void)st;
	up_with(0);
	node_forget_last_vm(node("vm1"));
	core_set_started(false);
	restored_without("vm1");
	turns(100);
	assert_int_equal(node_missing(node("vm1")), VS_MISSING_SLURM);
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	flags("vm1", VS_NODE_NO_RESPOND);
	turns(30);
	flags("vm1", UP);
	turn();
	flags("vm1", VS_NODE_NO_RESPOND);
	turns(30);
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	turns(40);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
}

/* scontrol power_down of a node that is powered down, while vCenter is away. */
static void a_power_down_that_is_repeated_is_no_sign_of_life(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	node_forget_last_vm(node("vm1"));
	flags("vm1", DOWN);
	turn();
	flags("vm1", UP | VS_NODE_POWER_DOWN_ASKED);
	turn();
	flags("vm1", UP | VS_NODE_POWER_DOWN_ASKED | VS_NODE_STAYS);
	ready();
	turns(3);
	assert_int_equal(node_missing(node("vm1")), VS_MISSING_NOT);
	flags("vm1", GOING);
	turns(3);
	flags("vm1", DOWN);
	turns(3);
	assert_int_equal(vs_node_avail(&vs_core, node("vm1")),
			 VS_AVAIL_TO_CREATE);
	flags("vm1", VS_NODE_POWERING_UP);
	flags("vm1", UP);
	assert_true(node("vm1")->flags & VS_NODE_UP);
}

/* slurmctld was killed just after a VM's removal: what it has saved is from before
 * its node was powered down. Slurm powers the node down again before it has asked
 * its slurmd for anything, and asks it nothing from then on. */
static void what_was_powered_down_just_before_a_start_is_not_missed(void **st)
{
	const struct {
		const char *node;
		int64_t minutes_ago;
		enum vs_missing missing;
	} rows[] = {
		{ "vm1", 0, VS_MISSING_NOT },
		{ "vm1", VS_REMOVAL_MINUTES - 1, VS_MISSING_NOT },
		{ "vm1", VS_REMOVAL_MINUTES, VS_MISSING_SLURM },
		{ "vm2", 0, VS_MISSING_SLURM },
	};

	(void)st;
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		begin(2, 1, 2, "warm");
		node_forget_last_vm(node("vm1"));
		vs_removal_request_note(rows[i].node, "vm-77",
					vs_wall_ms() / 60000 -
						rows[i].minutes_ago);
		flags("vm1", UP);
		ready();
		assert_int_equal(node_missing(node("vm1")), rows[i].missing);
		flags("vm1", GOING);
		turns(100);
		flags("vm1", DOWN);
		turns(100);
		assert_int_equal(vs_node_avail(&vs_core, node("vm1")) ==
				 VS_AVAIL_TO_CREATE, !rows[i].missing);
		vs_removal_clear();
	}
}

/* As it was before vCenter was restored, and asked to go: it may run. */
static void one_that_was_up_when_it_was_asked_to_go_is_missed(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	node_forget_last_vm(node("vm1"));
	flags("vm1", UP);
	turn();
	flags("vm1", UP | VS_NODE_POWER_DOWN_ASKED);
	ready();
	assert_int_equal(node_missing(node("vm1")), VS_MISSING_SLURM);
}

/* Asked to go when its job ends, it is up until then, whatever it was meanwhile. */
static void a_node_that_is_asked_to_go_comes_up_when_it_answers_again(void **st)
{
	const uint32_t was[] = { VS_NODE_NO_RESPOND, VS_NODE_POWERING_UP,
				 VS_NODE_NO_RESPOND | VS_NODE_ALLOCATED,
				 VS_NODE_ALLOCATED, VS_NODE_DOWN };

	(void)st;
	begin(1, 1, 1, "warm");
	for (size_t i = 0; i < sizeof(was) / sizeof(was[0]); i++) {
		flags("vm1", UP);
		flags("vm1", was[i] | VS_NODE_POWER_DOWN_ASKED);
		flags("vm1", BUSY | VS_NODE_POWER_DOWN_ASKED);
		assert_true(node("vm1")->flags & VS_NODE_UP);
	}
}

static void a_vm_that_left_while_we_watched_is_gone(void **st)
{
	(void)st;
	up_with(0);
	ntold = 0;
	fake_remove(fake_get("vm1"));
	turns(2);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
}

/* Slurm still believes the node up when vCenter, which was away for a moment,
 * tells all there is: the node waited for an operator, for good. */
static void a_vm_that_was_destroyed_before_an_outage_is_not_missed(void **st)
{
	(void)st;
	up_with(7);
	fake_get("vm1")->on = false;
	fake_show(fake_get("vm1"));
	turn();
	fake_remove(fake_get("vm1"));
	turn();
	fake_down(VS_E_RETRY);
	turn();
	fake_load();
	fake_slow(NULL, 0);
	turns(3);
	assert_int_equal(node_missing(node("vm1")), VS_MISSING_NOT);
	assert_int_equal(node("vm1")->seen, VS_OBSERVED_NONE);
}

static void a_vm_that_was_off_is_gone(void **st)
{
	(void)st;
	up_with(0);
	flags("vm1", GOING);
	turns(3);
	assert_true(fake_finish(FAKE_POWER_OFF));
	flags("vm1", DOWN);
	turns(3);
	restored_without("vm1");
	assert_int_equal(vs_node_avail(&vs_core, node("vm1")),
			 VS_AVAIL_TO_CREATE);
}

/* By hand, in vCenter: the guest lives on with the node's name and address. */
static void a_renamed_vm_is_missed_until_it_is_off(void **st)
{
	struct fake_vm *vm;
	int calls;

	(void)st;
	up_with(0);
	ntold = 0;
	calls = sent();
	vm = fake_get("vm1");
	vs_strlcpy(vm->name, "vm1-old", sizeof(vm->name));
	fake_show(vm);
	turns(50);
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	flags("vm1", DOWN);
	turns(50);
	assert_int_equal(sent(), calls);
	assert_int_equal(job_begin(8, "vm1", NULL), -1);
	vm->on = false;
	fake_show(vm);
	turns(2);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_running_job_does_not_notice_that_its_vm_is_forgotten),
		cmocka_unit_test(an_idle_node_is_neither_powered_down_nor_given_to_a_job),
		cmocka_unit_test(no_second_vm_is_built_after_slurm_has_powered_it_down),
		cmocka_unit_test(nor_for_a_node_that_was_booting),
		cmocka_unit_test(a_node_that_rests_down_is_told_of_once),
		cmocka_unit_test(it_ends_when_the_vm_is_back_in_the_folder),
		cmocka_unit_test(what_it_holds_is_counted_once_when_it_is_found),
		cmocka_unit_test(an_operator_ends_it_by_forget),
		cmocka_unit_test(slurm_itself_may_give_the_node_up),
		cmocka_unit_test(after_a_start_the_slurmd_decides),
		cmocka_unit_test(a_power_down_that_is_repeated_is_no_sign_of_life),
		cmocka_unit_test(what_was_powered_down_just_before_a_start_is_not_missed),
		cmocka_unit_test(one_that_was_up_when_it_was_asked_to_go_is_missed),
		cmocka_unit_test(a_node_that_is_asked_to_go_comes_up_when_it_answers_again),
		cmocka_unit_test(a_vm_that_left_while_we_watched_is_gone),
		cmocka_unit_test(a_vm_that_was_destroyed_before_an_outage_is_not_missed),
		cmocka_unit_test(a_vm_that_was_off_is_gone),
		cmocka_unit_test(a_renamed_vm_is_missed_until_it_is_off),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
