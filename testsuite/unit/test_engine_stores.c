/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several datastores: what the engine knows of where VMs lie, and sends. */
#include "engine_stage.h"

/* With t, which the template doesn't lie on, the larger one. */
static void begin_with(enum fake_stores stores, int hosts, int vfs)
{
	begin(2, hosts, vfs, "warm");
	free(core_conf()->datastore);
	core_conf()->datastore = vs_strdup("s,t");
	fake_stores = stores;
	fake_disk_mb = 10000;
	fake_store_mb = 50000;
	fake_t_mb = 90000;
	ready();
}

static int teardown(void **state)
{
	(void)state;
	fake_stores = FAKE_ONE;
	fake_disk_mb = 0;
	return 0;
}

static struct vs_claim *hold(const char *node)
{
	struct vs_claim *h = vs_ledger_get(core_ledger(), node);

	assert_non_null(h);
	return h;
}

/* slurmctld was killed: all of memory goes, vCenter's VMs stay. */
static void restart(uint32_t job, const char *node)
{
	struct vs_node *n = vs_node_named(&vs_core, node);

	vs_ledger_clear(core_ledger());
	fake_down(VS_E_RETRY);
	core_set_started(false);
	vs_node_condition(n, VS_COND_COMPARED, false);
	node_set_job(n, 0);
	n->flags = BUSY;
	n->wanted = VS_DESIRED_OFF;
	vs_job_claim(&vs_core, job, 0, &n->id, 1, true);
	fake_load();
	fake_slow(NULL, 0);
	ntold = 0;
	turns(3);
}

/* The template has changed: the next job's VM is recreated at once. */
static void made_anew(void)
{
	end_job(7, "vm1");
	fake_template("vm-new", NULL);
	turn();
	job_starts(8, "vm1");
	turns(3);
	assert_non_null(heard(VS_REQUEST_REBUILD, "vm1"));
	rebuilt_by(FAKE_DESTROY);
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
	assert_true(fake_finish(FAKE_CLONE));
}

static void after_a_restart_a_vm_lies_where_its_files_are(void **state)
{
	(void)state;
	begin_with(FAKE_BOTH, 1, 2);
	bring_up(7, "vm1");
	assert_string_equal(fake_get("vm1")->store, "datastore-2");
	restart(7, "vm1");
	assert_string_equal(hold("vm1")->store, "datastore-2");
	made_anew();
	assert_string_equal(fake_get("vm1")->store, "datastore-2");
}

/* The VM was moved to a datastore that isn't configured: its place is
 * unknown. */
static void without_a_known_one_a_place_is_found_anew(void **state)
{
	(void)state;
	begin_with(FAKE_BOTH, 1, 2);
	bring_up(7, "vm1");
	vs_strlcpy(fake_get("vm1")->store, "other", sizeof("other"));
	restart(7, "vm1");
	assert_string_equal(hold("vm1")->store, "");
	made_anew();
	assert_string_equal(fake_get("vm1")->store, "datastore-2");
}

/* A configuration with one datastore promised it, the present one has two. */
static void a_promise_without_one_is_given_anew(void **state)
{
	(void)state;
	begin_with(FAKE_BOTH, 1, 2);
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	vs_ledger_set_store(core_ledger(), hold("vm1"), "", false);
	flags("vm1", BOOT);
	turn();
	assert_true(fake_finish(FAKE_CLONE));
	assert_string_equal(fake_get("vm1")->store, "datastore-2");
}

static void a_vm_that_somebody_moves_lies_where_it_went(void **state)
{
	struct fake_vm *vm;

	(void)state;
	begin_with(FAKE_LOCAL, 2, 1);
	bring_up(7, "vm1");
	vm = fake_get("vm1");
	assert_string_equal(vm->host, "host-1");
	assert_string_equal(hold("vm1")->store, "datastore-1");
	vs_strlcpy(vm->host, "host-2", sizeof(vm->host));
	vs_strlcpy(vm->store, "datastore-2", sizeof(vm->store));
	fake_show(vm);
	turn();
	assert_string_equal(hold("vm1")->host, "host-2");
	assert_string_equal(hold("vm1")->store, "datastore-2");
	made_anew();
	assert_string_equal(fake_get("vm1")->host, "host-2");
	assert_string_equal(fake_get("vm1")->store, "datastore-2");
}

/* Off, it goes to the other host with its disks: once it is on, and a reading
 * has seen it there, they count no second time. */
static void a_move_is_over(void **state)
{
	struct fake_vm *vm;

	(void)state;
	begin_with(FAKE_LOCAL, 2, 1);
	bring_up(7, "vm1");
	end_job(7, "vm1");
	powered_down("vm1");
	fake_slow(NULL, 0);
	vm = fake_get("vm1");
	vs_exclude_failed("host-1", NULL, now + 3600000, "test");
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	assert_true(hold("vm1")->moves);
	flags("vm1", BOOT);
	turn();
	assert_true(fake_finish(FAKE_RELOCATE));
	assert_string_equal(vm->store, "datastore-2");
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	flags("vm1", BUSY);
	turn();
	assert_true(hold("vm1")->moves);
	fake_t_mb -= 10000;
	fake_slow(NULL, 0);
	turns(51);
	assert_false(hold("vm1")->moves);
	assert_int_equal(vs_free_capacity_get(&vs_core)
				 ->pools[vs_shared_capacity_pool(core_inv(),
								 "datastore-2")]
				 .mem_mb,
			 fake_t_mb);
}

/* There its parent's disks aren't: it is as large as its template. */
static void a_linked_clone_moves_as_a_full_one(void **state)
{
	struct vs_conf *conf = conf_make(2, "warm", 1024);
	int at;

	(void)state;
	conf->datastore = vs_strdup("s,t");
	conf->partitions[0].clone = vs_strdup("linked");
	begin(2, 2, 1, "warm");
	begin_as(conf);
	fake_stores = FAKE_LOCAL;
	fake_disk_mb = 20000;
	fake_store_mb = fake_t_mb = 90000;
	ready();
	vs_exclude_failed("host-2", NULL, now + 1000, "test");
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_SNAPSHOT));
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	assert_int_equal(hold("vm1")->disk_mb, 2000);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	flags("vm1", BUSY);
	turns(12);
	end_job(7, "vm1");
	powered_down("vm1");
	fake_slow(NULL, 0);
	at = vs_shared_capacity_pool(core_inv(), "datastore-2");
	vs_exclude_failed("host-1", NULL, now + 3600000, "test");
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	assert_true(hold("vm1")->moves);
	assert_int_equal(hold("vm1")->disk_mb, 20000);
	assert_int_equal(vs_free_capacity_get(&vs_core)->pools[at].mem_mb,
			 70000);
	/* and placement knows before */
	vs_job_end(&vs_core, 8, &(int) { id("vm1") }, 1, false);
	flags("vm1", DOWN);
	turns(2);
	assert_null(vs_ledger_get(core_ledger(), "vm1"));
	fake_t_mb = 19000;
	fake_slow(NULL, 0);
	assert_int_equal(job_begin(9, "vm1", NULL), -1);
}

/* Which of them is full isn't known. */
static void a_full_one_of_no_name_leaves_its_host_out(void **state)
{
	(void)state;
	begin_with(FAKE_BOTH, 2, 1);
	boot_up(7, "vm1");
	vs_ledger_set_store(core_ledger(), hold("vm1"), "", false);
	assert_true(fake_fault(FAKE_POWER_ON, VS_E_SHORTAGE,
			       VS_VC_FAULT_NO_SPACE, "No space left"));
	assert_non_null(vs_exclusion_get(&vs_core, "host-1", ""));
	assert_null(vs_exclusion_get(&vs_core, "host-2", ""));
}

static void blanks_are_no_part_of_a_name(void **state)
{
	(void)state;
	begin_with(FAKE_BOTH, 1, 2);
	free(core_conf()->datastore);
	core_conf()->datastore = vs_strdup(" s , t");
	fake_load();
	assert_int_equal(core_inv()->nuses, 2);
}

/* Each cluster has its own datastore: the common one isn't looked up. */
static void what_is_used_nowhere_need_not_exist(void **state)
{
	struct vs_conf *conf = conf_make(1, "warm", 1024);
	char *names;

	(void)state;
	conf->datastore = vs_strdup("gone");
	names = vs_stores_named(conf);
	assert_string_equal(names, "gone");
	free(names);
	conf->clusters[0].datastore = vs_strdup("s");
	names = vs_stores_named(conf);
	assert_string_equal(names, "s");
	free(names);
	vs_conf_free(conf);
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, teardown)
	const struct CMUnitTest tests[] = {
		T(after_a_restart_a_vm_lies_where_its_files_are),
		T(without_a_known_one_a_place_is_found_anew),
		T(a_promise_without_one_is_given_anew),
		T(a_vm_that_somebody_moves_lies_where_it_went),
		T(a_linked_clone_moves_as_a_full_one),
		T(a_move_is_over),
		T(a_full_one_of_no_name_leaves_its_host_out),
		T(blanks_are_no_part_of_a_name),
		T(what_is_used_nowhere_need_not_exist),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
