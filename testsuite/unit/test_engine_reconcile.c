/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Differences between Slurm's nodes and vCenter's VMs, row by row, while no job
 * asks for the node. Other programs test these rows: VMs on under a
 * powered-down node (test_engine, _restart), nodes up whose VM is gone or off
 * (_gone, _missing), orphans and the removal limit (_removal_limit).
 */
#include "engine/tasks/tasks.h"
#include "engine_stage.h"

static int sent(void)
{
	int n = 0;

	for (int k = 0; k < FAKE_KINDS; k++)
		n += fake_sent[k];
	return n;
}

/* Node vm1 is up, idle or with job 7; counting begins here. */
static struct fake_vm *up_with(uint32_t job, int hosts)
{
	begin(2, hosts, 2, "warm");
	ready();
	bring_up(7, "vm1");
	if (!job)
		end_job(7, "vm1");
	ntold = 0;
	memset(fake_sent, 0, sizeof(fake_sent));
	return fake_get("vm1");
}

static enum vs_avail avail(const char *node)
{
	return vs_node_avail(&vs_core, vs_node_named(&vs_core, node));
}

static void a_vm_off_that_should_be_on_is_switched_on_for_its_job(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	clone_for(7, "vm1");
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	turn();
	fake_get("vm1")->on = false;		/* by a user, while it boots */
	fake_show(fake_get("vm1"));
	turns(3);
	assert_true(fake_finish(FAKE_POWER_ON));
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
}

static void a_wrong_profile_waits_for_the_end_of_the_job_in_it(void **st)
{
	struct fake_vm *vm = up_with(7, 1);

	(void)st;
	vs_strlcpy(vm->profile, "0123456789abcdef", sizeof(vm->profile));
	fake_show(vm);
	turns(60);
	assert_int_equal(sent(), 0);
	assert_int_equal(ntold, 0);
	end_job(7, "vm1");
	assert_int_equal(avail("vm1"), VS_AVAIL_TO_CREATE);
	job_starts(8, "vm1");
	turns(2);
	assert_non_null(heard(VS_REQUEST_REBUILD, "vm1"));
}

/* A user or HA moved it: free capacity follows, no job or node is touched. */
static void a_vm_on_another_host_takes_its_vf_there(void **st)
{
	struct fake_vm *vm = up_with(7, 2);
	const char *from = !strcmp(vm->host, "host-1") ? "host-1" : "host-2";
	const char *to = !strcmp(from, "host-1") ? "host-2" : "host-1";

	(void)st;
	assert_int_equal(free_on(from), 1);
	vs_strlcpy(vm->host, to, sizeof(vm->host));
	fake_show(vm);
	turns(60);
	assert_int_equal(free_on(from), 2);
	assert_int_equal(free_on(to), 1);
	assert_int_equal(sent(), 0);
	assert_int_equal(ntold, 0);
}

static void a_nic_that_is_missing_or_another_is_put_right_for_the_next_job(
	void **st)
{
	(void)st;
	for (int how = 0; how < 2; how++) {
		struct fake_vm *vm = up_with(7, 1);

		if (how)
			vs_strlcpy(vm->mac, "00:50:56:00:00:01",
				   sizeof(vm->mac));
		else
			vm->has_nic = false;
		fake_show(vm);
		turns(60);
		assert_int_equal(sent(), 0);	/* a job runs in it */
		end_job(7, "vm1");
		job_starts(8, "vm1");
		turns(2);
		assert_non_null(heard(VS_REQUEST_REBUILD, "vm1"));
		flags("vm1", BOOT);
		turns(2);
		assert_true(fake_finish(FAKE_POWER_OFF));
		turns(2);
		assert_true(fake_finish(FAKE_RECONFIGURE));
		turns(2);
		assert_true(fake_finish(FAKE_POWER_ON));
		assert_int_equal(fake_sent[FAKE_CLONE], 0);
	}
}

static void a_hold_that_nobody_needs_ends(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	assert_int_equal(free_on("host-1"), 0);
	/* The job is gone, and Slurm has not reported that. */
	node_set_job(&core_nodes()[0], 0);
	vs_nodes_mark_changed(&vs_core);
	turns(40);
	while (fake_finish(FAKE_CLONE))
		;
	turns(60);
	assert_int_equal(free_on("host-1"), 1);
	assert_int_equal(vs_tasks_provisioning() + vs_tasks_power_ops(), 0);
}

/* Each carries our mark, and fails one of the four tests. */
static void copies_restores_and_templates_of_our_vms_stay_untouched(void **st)
{
	struct fake_vm *vm = up_with(0, 1), *copy;
	int before;

	(void)st;
	copy = fake_add_vm("vm1-copy", vm->folder, "host-1", true);
	vs_strlcpy(copy->mark, vm->mark, sizeof(copy->mark));
	fake_show(copy);		/* a copy: another uuid */
	copy = fake_add_vm("vm1-restored", vm->folder, "host-1", false);
	vs_strlcpy(copy->mark, vm->mark, sizeof(copy->mark));
	vs_strlcpy(copy->uuid, vm->uuid, sizeof(copy->uuid));
	fake_show(copy);		/* a restore: another name */
	copy = fake_add_vm("vm2", vm->folder, "host-1", false);
	vs_strlcpy(copy->mark, vm->mark, sizeof(copy->mark));
	copy->is_template = true;
	fake_show(copy);		/* a template under a node's name */
	copy = fake_add_vm("vm1", "group-v9", "host-1", true);
	vs_strlcpy(copy->mark, vm->mark, sizeof(copy->mark));
	vs_strlcpy(copy->uuid, vm->uuid, sizeof(copy->uuid));
	fake_show(copy);		/* in another folder */
	before = fake_count();
	for (int i = 0; i < 20; i++) {
		turns(20);
		fake_slow(NULL, 0);
	}
	assert_int_equal(sent(), 0);
	assert_int_equal(fake_count(), before);
	assert_int_equal(avail("vm1"), VS_AVAIL_RUNNING);
}

/* cluster-toolkit#4419: one bad record stopped every sync for days. */
static void one_broken_vm_or_host_stops_nobody_else(void **st)
{
	struct fake_vm *vm = up_with(0, 2);

	(void)st;
	vm->unreadable = true;
	fake_show(vm);
	fake_show(fake_add_vm("", vm->folder, vm->host, false));
	fake_show(fake_add_vm("nowhere", vm->folder, "", true));
	turns(20);
	assert_int_equal(avail("vm1"), VS_AVAIL_NONE);
	assert_int_equal(avail("vm2"), VS_AVAIL_TO_CREATE);
	bring_up(9, "vm2");
	assert_int_equal(vs_node_named(&vs_core, "vm2")->seen, VS_OBSERVED_ON);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vm_off_that_should_be_on_is_switched_on_for_its_job),
		cmocka_unit_test(a_wrong_profile_waits_for_the_end_of_the_job_in_it),
		cmocka_unit_test(a_vm_on_another_host_takes_its_vf_there),
		cmocka_unit_test(a_nic_that_is_missing_or_another_is_put_right_for_the_next_job),
		cmocka_unit_test(a_hold_that_nobody_needs_ends),
		cmocka_unit_test(copies_restores_and_templates_of_our_vms_stay_untouched),
		cmocka_unit_test(one_broken_vm_or_host_stops_nobody_else),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
