/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linked clones and the parents that they stand on. */
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "clone_source_stage.h"

static void the_first_clone_makes_the_parent(void **st)
{
	const struct fake_vm *p, *vm;

	(void)st;
	begin_linked(2, 1);
	ready();
	wants(7, "vm1");
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_non_null(strstr(waits("vm1"), "the template is being copied to parent-tpl-"));
	/* for two it is made once */
	wants(8, "vm2");
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_true(fake_finish(FAKE_CLONE));
	assert_null(fake_get("vm1"));
	p = fake_parent("parent-tpl-");
	assert_non_null(p);
	assert_string_equal(p->source, "vm-tpl");
	assert_false(p->has_nic);
	turns(2);
	assert_int_equal(fake_sent[FAKE_SNAPSHOT], 1);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_non_null(strstr(waits("vm2"), "a snapshot is being made of parent-tpl-"));
	assert_true(fake_finish(FAKE_SNAPSHOT));
	turns(2);
	assert_int_equal(fake_sent[FAKE_CLONE], 3);
	assert_true(fake_finish(FAKE_CLONE));
	assert_true(fake_finish(FAKE_CLONE));
	vm = fake_get("vm1");
	assert_string_equal(vm->source, p->moid);
	assert_string_equal(vm->from, p->uuid);
	assert_string_equal(vm->parent, "");
	assert_true(vm->base[0] && vm->has_nic);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 2);
	assert_int_equal(vs_tasks_provisioning(), 0);
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
}

static void a_restart_finds_it_and_makes_no_second(void **st)
{
	(void)st;
	begin_linked(2, 1);
	ready();
	wants(7, "vm1");
	assert_true(fake_finish(FAKE_CLONE));
	/* before its snapshot: another process, which knows nothing */
	fake_down(VS_E_RETRY);
	vs_clone_sources_clear(&vs_core);
	ready();
	turns(2);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_int_equal(fake_sent[FAKE_SNAPSHOT], 1);
	assert_true(fake_finish(FAKE_SNAPSHOT));
	turns(2);
	assert_int_equal(fake_parents(), 1);
	assert_true(fake_finish(FAKE_CLONE));
	assert_string_equal(fake_get("vm1")->from, fake_parent("")->uuid);
}

static void a_snapshot_under_way_is_waited_for(void **st)
{
	struct vs_vc_task task = {
		.moid = "task-99", .name = "VirtualMachine.createSnapshot",
		.state = "running", .user = "slurm",
	};

	(void)st;
	begin_linked(1, 1);
	ready();
	wants(7, "vm1");
	assert_true(fake_finish(FAKE_CLONE));
	fake_down(VS_E_RETRY);
	vs_clone_sources_clear(&vs_core);
	task.entity = fake_parent("")->moid;
	fake_load();
	fake_slow(&task, 1);
	turns(3);
	assert_int_equal(fake_sent[FAKE_ADOPT], 1);
	assert_int_equal(fake_sent[FAKE_SNAPSHOT], 0);
	vs_strlcpy(fake_parent("")->snapshot, "snap", 5);
	fake_show(fake_parent(""));
	assert_true(fake_finish(FAKE_ADOPT));
	fake_slow(NULL, 0);
	turns(2);
	assert_int_equal(fake_sent[FAKE_SNAPSHOT], 0);
	assert_int_equal(fake_sent[FAKE_CLONE], 2);
}

static void an_old_one_goes_after_its_last_child(void **st)
{
	char old[64];

	(void)st;
	begin_linked(2, 1);
	ready();
	first_child();
	vs_strlcpy(old, fake_parent("")->name, sizeof(old));
	fake_template("vm-tpl2", NULL);
	time_passes();
	assert_non_null(fake_get(old));
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	/* vm1 goes: nothing stands on it any more */
	fake_remove(fake_get("vm1"));
	flags("vm1", DOWN);
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
	assert_true(fake_finish(FAKE_DESTROY));
	assert_null(fake_get(old));
}

static void it_stays_while_a_clone_of_it_is_under_way(void **st)
{
	(void)st;
	begin_linked(1, 1);
	ready();
	wants(7, "vm1");
	fake_finish(FAKE_CLONE);
	turns(2);
	fake_finish(FAKE_SNAPSHOT);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
	fake_template("vm-tpl2", NULL);
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	assert_true(fake_finish(FAKE_CLONE));
	time_passes();
	/* the job needs another VM; only then has the source no clone left */
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
	assert_true(fake_finish(FAKE_DESTROY));
	assert_null(fake_get("vm1"));
	assert_int_equal(fake_parents(), 1);
}

static void it_stays_while_somebodys_clone_of_it_is_under_way(void **st)
{
	struct vs_vc_task task = {
		.moid = "task-99", .name = "VirtualMachine.clone",
		.state = "running", .user = "somebody",
	};

	(void)st;
	begin_linked(1, 1);
	ready();
	first_child();
	fake_remove(fake_get("vm1"));
	flags("vm1", DOWN);
	fake_template("vm-tpl2", NULL);
	task.entity = fake_parent("")->moid;
	for (int i = 0; i < 4; i++) {
		fake_slow(&task, 1);
		turns(60);
	}
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
}

static void it_stays_while_something_cannot_be_read(void **st)
{
	struct fake_vm *vm;

	(void)st;
	begin_linked(2, 1);
	ready();
	first_child();
	fake_remove(fake_get("vm1"));
	flags("vm1", DOWN);
	vm = fake_add_vm("odd", "group-v1", "host-1", false);
	vm->unreadable = true;
	fake_show(vm);
	fake_template("vm-tpl2", NULL);
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	vm->unreadable = false;
	fake_show(vm);
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
}

static void an_unknown_template_keeps_all(void **st)
{
	(void)st;
	begin_linked(1, 1);
	ready();
	first_child();
	fake_remove(fake_get("vm1"));
	flags("vm1", DOWN);
	fake_template("", "the template is gone");
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
}

static void nothing_is_made_in_observe_mode(void **st)
{
	(void)st;
	begin_linked(1, 1);
	core_set_observe(true);
	ready();
	flags("vm1", BOOT);
	turns(20);
	core_set_observe(false);
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
}

static void a_parent_is_no_nodes_vm_and_no_orphan(void **st)
{
	struct fake_vm *p;

	(void)st;
	begin_linked(2, 1);
	ready();
	first_child();
	time_passes();
	p = fake_parent("");
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	assert_int_equal(vs_vm_owner(vs_vm_get(core_inv(), p->moid),
				     core_folder(), core_cluster_id()),
			 VS_OWNER_CLONE_SOURCE);
	assert_int_equal(vs_vm_owner(vs_vm_get(core_inv(), p->moid),
				     core_folder(),
				     "99999999-2222-4333-8444-555555555555"),
			 VS_OWNER_OTHER_CLUSTER);
	/* a user renames it to a node's name: it belongs to no cluster then */
	vs_strlcpy(p->name, "vm2", sizeof(p->name));
	fake_show(p);
	assert_int_equal(job_begin(8, "vm2", NULL), -1);
	turns(10);
	assert_int_equal(fake_sent[FAKE_DESTROY] + fake_waiting(FAKE_POWER_ON),
			 1);		/* vm1's power-on alone */
}

static void a_setting_that_forbids_it_is_no_nodes_fault(void **st)
{
	(void)st;
	begin_linked(2, 1);
	ready();
	wants(7, "vm1");
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_fault(FAKE_SNAPSHOT, VS_E_CONFIG, "NoPermission",
			       "VirtualMachine.State.CreateSnapshot is lacking"));
	turns(100);
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
	assert_null(heard(VS_REQUEST_FAIL, "vm1"));
	/* others aren't even begun, and hear why */
	assert_int_equal(job_begin(8, "vm2", NULL), -1);
	assert_non_null(strstr(core_capacity()[0].missing, "CreateSnapshot is lacking"));
	assert_int_equal(fake_sent[FAKE_SNAPSHOT], 1);
	/* after a while it is tried again */
	now += VS_EXCLUDE_HOST_MS;
	flags("vm1", DOWN);
	turns(20);
	assert_int_equal(job_begin(8, "vm2", NULL), 0);
	flags("vm2", BOOT);
	turns(2);
	assert_int_equal(fake_sent[FAKE_SNAPSHOT], 2);
}

static void a_full_datastore_is_said_before_anything_is_sent(void **st)
{
	(void)st;
	begin_linked(1, 1);
	fake_store_mb = 15000;		/* the template has 20480 */
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(3);
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	assert_non_null(strstr(node_error(vs_node_named(&vs_core, "vm1"))->text,
			       "the clone source of linked clones needs 20480"));
	turns(100);
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

/* What is counted of the datastore: the parent in full, a child a tenth. */
static void room_is_counted_honestly(void **st)
{
	(void)st;
	begin_linked(1, 1);
	fake_store_mb = 100000;
	ready();
	wants(7, "vm1");
	assert_int_equal(core_profiles()[0].disk_mb, 2048);
	assert_int_equal(core_profiles()[0].template_mb, 20480);
	assert_int_equal(vs_free_capacity_get(&vs_core)->store_mb,
			 100000 - 20480 - 2048);
	assert_true(fake_finish(FAKE_CLONE));
	turns(12);
	assert_int_equal(vs_free_capacity_get(&vs_core)->store_mb,
			 100000 - 20480 - 2048);
	assert_true(fake_finish(FAKE_SNAPSHOT));
	turns(2);
	/* a reading has it now */
	fake_store_mb = 100000 - 20480;
	fake_slow(NULL, 0);
	turns(12);
	assert_int_equal(vs_free_capacity_get(&vs_core)->store_mb,
			 100000 - 20480 - 2048);
	assert_int_equal(HASH_COUNT(core_ledger()->holds), 1);
}

/* The job is cancelled while it is made: it is there for the next one. */
static void it_is_made_though_nobody_asks_any_more(void **st)
{
	(void)st;
	begin_linked(2, 1);
	ready();
	wants(7, "vm1");
	vs_job_end(&vs_core, 7, &(int) { id("vm1") }, 1, false);
	flags("vm1", DOWN);
	turns(2);
	assert_int_equal(fake_cancels, 0);
	assert_true(fake_finish(FAKE_CLONE));
	time_passes();
	assert_int_equal(HASH_COUNT(core_ledger()->holds), 0);
	assert_int_equal(fake_sent[FAKE_DESTROY] + fake_sent[FAKE_SNAPSHOT], 0);
	assert_int_equal(vs_tasks_provisioning(), 0);
	wants(8, "vm2");
	assert_int_equal(fake_sent[FAKE_SNAPSHOT], 1);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
}

static void each_host_has_its_own(void **st)
{
	(void)st;
	begin_linked(2, 2);
	per_host();
	ready();
	vs_str_replace(&core_conf()->placement, "spread");
	assert_int_equal(job_begin(7, "vm1", "vm2"), 0);
	flags("vm1", BOOT);
	flags("vm2", BOOT);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_CLONE), 2);
	assert_true(fake_finish(FAKE_CLONE) && fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_SNAPSHOT) && fake_finish(FAKE_SNAPSHOT));
	turns(2);
	assert_int_equal(fake_parents(), 2);
	assert_true(fake_finish(FAKE_CLONE) && fake_finish(FAKE_CLONE));
	assert_string_not_equal(fake_get("vm1")->base, fake_get("vm2")->base);
	vs_str_replace(&core_conf()->placement, NULL);
}

static void a_child_without_its_parent_is_built_anew(void **st)
{
	const struct vs_vm *vm;

	(void)st;
	begin_linked(1, 1);
	ready();
	first_child();
	vm = vs_vm_get(core_inv(), fake_get("vm1")->moid);
	assert_int_equal(vs_node_fit(&vs_core, &core_nodes()[0], vm),
			 VS_FIT_RIGHT);
	fake_remove(fake_parent(""));
	assert_int_equal(vs_node_fit(&vs_core, &core_nodes()[0], vm),
			 VS_FIT_REBUILD);
}

static void a_lost_connection_leaves_no_budget_too_many(void **st)
{
	(void)st;
	begin_linked(2, 1);
	ready();
	wants(7, "vm1");
	assert_int_equal(vs_tasks_provisioning(), 1);
	fake_down(VS_E_RETRY);
	assert_int_equal(vs_tasks_provisioning(), 0);
	assert_int_equal(vs_tasks_power_ops(), 0);
}

/* Its name is no node's; the end of orphans' holds isn't its. */
static void its_room_is_held_while_it_is_made(void **st)
{
	(void)st;
	begin_linked(2, 1);
	ready();
	wants(7, "vm1");
	assert_int_equal(HASH_COUNT(core_ledger()->holds), 2);
	vs_orphans_claims_left();
	turns(20);
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
	assert_int_equal(HASH_COUNT(core_ledger()->holds), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_clone_makes_the_parent),
		cmocka_unit_test(a_restart_finds_it_and_makes_no_second),
		cmocka_unit_test(a_snapshot_under_way_is_waited_for),
		cmocka_unit_test(an_old_one_goes_after_its_last_child),
		cmocka_unit_test(it_stays_while_a_clone_of_it_is_under_way),
		cmocka_unit_test(it_stays_while_somebodys_clone_of_it_is_under_way),
		cmocka_unit_test(it_stays_while_something_cannot_be_read),
		cmocka_unit_test(an_unknown_template_keeps_all),
		cmocka_unit_test(nothing_is_made_in_observe_mode),
		cmocka_unit_test(a_parent_is_no_nodes_vm_and_no_orphan),
		cmocka_unit_test(a_setting_that_forbids_it_is_no_nodes_fault),
		cmocka_unit_test(a_full_datastore_is_said_before_anything_is_sent),
		cmocka_unit_test(room_is_counted_honestly),
		cmocka_unit_test(it_is_made_though_nobody_asks_any_more),
		cmocka_unit_test(each_host_has_its_own),
		cmocka_unit_test(a_child_without_its_parent_is_built_anew),
		cmocka_unit_test(a_lost_connection_leaves_no_budget_too_many),
		cmocka_unit_test(its_room_is_held_while_it_is_made),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
