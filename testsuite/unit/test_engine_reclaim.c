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
	vs_job_refused(&vs_core, 8, &wants, 1, 1, "no room");
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
	vs_job_refused(&vs_core, 8, &wants, 1, 1, "no VF");
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
	vs_job_refused(&vs_core, 8, &wants, 1, 1, "the name is taken");
	turns(3);
	assert_null(heard(VS_TELL_POWER_DOWN, "vm1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(room_is_asked_back_from_vms_that_have_no_vf),
		cmocka_unit_test(vms_stay_that_would_leave_nothing_of_what_lacks),
		cmocka_unit_test(nothing_is_asked_back_for_a_node_that_lacks_no_room),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
