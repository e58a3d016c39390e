/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which idle VMs are asked back for a job that waits: those whose end gives it
 * what it lacks, be it a VF or room, and no others.
 */
#include "engine_stage.h"

/* An idle VM without a VF, of a partition of its own, on the first host. */
static void idle_without_vf(const char *name)
{
	struct fake_vm *vm = fake_add_vm(name, "group-v1", "host-1", true);

	snprintf(vm->mark, sizeof(vm->mark), "%s/%s/%s", vs_core.cluster_id,
		 name, vm->uuid);
	flags(name, UP);
}

static void foreign_with_vf(const char *name, const char *host)
{
	struct fake_vm *vm = fake_add_vm(name, "group-other", host, true);

	vm->has_card = true;
	vs_strlcpy(vm->pci, "0000:3b:00.0", sizeof(vm->pci));
	fake_show(vm);
}

static void room_is_asked_back_from_vms_that_have_no_vf(void **state)
{
	int wants;

	(void)state;
	begin(2, 2, 1, "warm");
	idle_without_vf("vm2");
	fake_pool_mb = 500;
	ready();
	wants = id("vm1");
	assert_int_equal(vs_ask_room(&vs_core, &wants, 1, NULL, NULL, 0), 0);
	refuse(8, &wants, 1, 1, "no room");
	turns(3);
	assert_non_null(heard(VS_TELL_POWER_DOWN, "vm2"));
}

static void vms_stay_that_would_leave_nothing_of_what_lacks(void **state)
{
	int wants;

	(void)state;
	begin(2, 2, 1, "warm");
	idle_without_vf("vm2");
	ready();
	wants = id("vm1");
	foreign_with_vf("a", "host-1");
	foreign_with_vf("b", "host-2");
	refuse(8, &wants, 1, 1, "no VF");
	turns(3);
	assert_null(heard(VS_TELL_POWER_DOWN, "vm2"));
}

static void nothing_is_asked_back_for_a_node_that_lacks_no_room(void **state)
{
	int wants;

	(void)state;
	begin(2, 1, 2, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	fake_add_vm("vm2", "group-v1", "host-1", false);	/* somebody's */
	fake_show(fake_get("vm2"));
	wants = id("vm2");
	refuse(8, &wants, 1, 1, "the name is taken");
	turns(3);
	assert_null(heard(VS_TELL_POWER_DOWN, "vm1"));
}

/* vm1 to vm3, two VFs of one host; job 8 wants vm3 while 6 and 7 have the
 * others, and then they end, 7 first. */
static void two_end(int *wants)
{
	begin(3, 1, 2, "warm");
	ready();
	bring_up(6, "vm1");
	bring_up(7, "vm2");
	*wants = id("vm3");
	refuse(8, wants, 1, 1, "no VF");
	now += 1000;
	end_job(7, "vm2");
	now += 1000;
	end_job(6, "vm1");
	turns(3);
}

static void slurm_looks_first_whether_the_job_takes_an_idle_vm(void **state)
{
	int wants;

	(void)state;
	two_end(&wants);
	assert_null(heard(VS_TELL_POWER_DOWN, NULL));
	refuse(8, &wants, 1, 1, "no VF");	/* not vm1, nor vm2 */
	turns(3);
	assert_non_null(heard(VS_TELL_POWER_DOWN, "vm2"));
	assert_null(heard(VS_TELL_POWER_DOWN, "vm1"));
}

static void it_is_not_waited_for_for_ever(void **state)
{
	int wants;

	(void)state;
	two_end(&wants);
	now += 3000;
	turns(3);
	assert_null(heard(VS_TELL_POWER_DOWN, NULL));
	now += 1000;
	turns(3);
	assert_non_null(heard(VS_TELL_POWER_DOWN, "vm2"));
}

static void was_told(uint32_t job, int wants, enum vs_lacks lacks,
		     bool backfill)
{
	struct vs_asker a = {
		.job = job, .lasts = 3600, .lacks = lacks,
		.in_backfill = backfill,
	};

	vs_job_refused(&vs_core, &a, &wants, 1, 1, "0 free");
}

/* A job that waits for its turn, or for nodes, has use of no VF yet. */
static void nothing_is_reclaimed_for_who_lacks_no_vf(void **state)
{
	(void)state;
	begin(2, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	now += 6000;
	was_told(8, id("vm2"), VS_LACKS_TURN, false);
	was_told(9, id("vm2"), VS_LACKS_NODES, false);
	turns(3);
	assert_null(heard(VS_TELL_POWER_DOWN, "vm1"));
	assert_string_equal(vs_core.refused->why, "0 free");
	assert_string_equal(vs_core.refused->hh.next ?
		((struct vs_refused *)vs_core.refused->hh.next)->why : "",
		"needs 1 sriov-roce VF, 0 free");
	was_told(9, id("vm2"), VS_LACKS_VFS, true);
	turns(3);
	assert_non_null(heard(VS_TELL_POWER_DOWN, "vm1"));
}

/* Backfill, or the job's next partition, says less a moment later. */
static void the_strongest_word_of_late_counts(void **state)
{
	(void)state;
	begin(2, 1, 1, "warm");
	ready();
	was_told(8, id("vm2"), VS_LACKS_VFS, false);
	now += 1000;
	was_told(8, id("vm2"), VS_LACKS_NODES, false);
	was_told(8, id("vm2"), VS_LACKS_TURN, false);
	assert_int_equal(vs_core.refused->lacks, VS_LACKS_VFS);
	now += 4000;
	was_told(8, id("vm2"), VS_LACKS_NODES, true);
	assert_int_equal(vs_core.refused->lacks, VS_LACKS_VFS);
	was_told(8, id("vm2"), VS_LACKS_NODES, false);
	assert_int_equal(vs_core.refused->lacks, VS_LACKS_NODES);
	was_told(8, id("vm2"), VS_LACKS_VFS, true);
	assert_int_equal(vs_core.refused->lacks, VS_LACKS_VFS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(room_is_asked_back_from_vms_that_have_no_vf),
		cmocka_unit_test(vms_stay_that_would_leave_nothing_of_what_lacks),
		cmocka_unit_test(nothing_is_asked_back_for_a_node_that_lacks_no_room),
		cmocka_unit_test(slurm_looks_first_whether_the_job_takes_an_idle_vm),
		cmocka_unit_test(it_is_not_waited_for_for_ever),
		cmocka_unit_test(nothing_is_reclaimed_for_who_lacks_no_vf),
		cmocka_unit_test(the_strongest_word_of_late_counts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
