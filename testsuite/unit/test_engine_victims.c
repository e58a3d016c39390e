/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose end would give a preemptor its VFs: two hosts of two VFs each; vm1 to vm4
 * are up with jobs 11 to 14, vm5 to vm8 are wanted.
 */
#include "engine_stage.h"

static int nodes[8];
static struct vs_victim victims[4];
static bool take[4];

static void full_house(void)
{
	begin(8, 2, 2, "warm");
	ready();
	for (int i = 0; i < 8; i++) {
		char name[8];

		snprintf(name, sizeof(name), "vm%d", i + 1);
		nodes[i] = id(name);
		if (i < 4)
			bring_up(11 + (uint32_t)i, name);
	}
	for (int i = 0; i < 4; i++)
		victims[i] = (struct vs_victim) { .ids = &nodes[i], .n = 1 };
	memset(take, 0, sizeof(take));
}

static int wanted(size_t n, size_t nvictims)
{
	int taken = vs_preemption_victims(&vs_core, 20, &nodes[4], n, victims,
					  nvictims, take);

	sums_are_true();
	return taken;
}

static void the_first_end_as_many_as_are_needed(void **state)
{
	(void)state;
	full_house();
	assert_int_equal(wanted(2, 4), 2);
	assert_true(take[0] && take[1] && !take[2] && !take[3]);
}

static void who_is_not_needed_is_spared(void **state)
{
	(void)state;
	full_house();
	victims[1] = (struct vs_victim) { .ids = &nodes[1], .n = 2 };
	assert_int_equal(wanted(2, 2), 1);
	assert_true(!take[0] && take[1]);
}

/* Either of the first two would do beside the third. */
static void who_would_come_last_is_spared_first(void **state)
{
	(void)state;
	full_house();
	victims[2] = (struct vs_victim) { .ids = &nodes[2], .n = 2 };
	assert_int_equal(wanted(3, 3), 2);
	assert_true(take[0] && !take[1] && take[2]);
}

static void nobody_ends_where_all_would_not_do(void **state)
{
	(void)state;
	full_house();
	assert_int_equal(wanted(3, 2), -1);
	assert_true(!take[0] && !take[1]);
	assert_int_equal(wanted(1, 0), -1);
}

static void whose_vm_has_no_vf_ends_for_nobody(void **state)
{
	(void)state;
	full_house();
	victims[0] = (struct vs_victim) { .ids = &nodes[7], .n = 1 };
	assert_int_equal(wanted(1, 2), 1);
	assert_true(!take[0] && take[1]);
}

/* A low partition over all nodes: every other one of its jobs has no VF. */
static void among_many_those_alone_end_whose_vms_have_vfs(void **state)
{
	enum { HOSTS = 12, EACH = 4, ALL = HOSTS * EACH, GANG = 40 };
	struct vs_conf *conf = conf_make(3 * ALL, "warm", 1024);
	static struct vs_victim many[2 * ALL];
	static int ids[3 * ALL];
	static bool ended[2 * ALL];
	char name[8];

	(void)state;
	conf_other_from(conf, 2 * ALL, "vmxnet3");
	begin(3 * ALL, HOSTS, EACH, "warm");
	begin_as(conf);
	ready();
	for (int i = 0; i < 3 * ALL; i++) {
		snprintf(name, sizeof(name), "vm%d", i + 1);
		ids[i] = id(name);
		if (i < ALL)
			bring_up(100 + (uint32_t)i, name);
		else if (i >= 2 * ALL)
			assert_int_equal(job_begin(100 + (uint32_t)i, name,
						   NULL), 0);
	}
	for (int i = 0; i < ALL; i++) {
		many[2 * i] = (struct vs_victim) { .ids = &ids[2 * ALL + i], .n = 1 };
		many[2 * i + 1] = (struct vs_victim) { .ids = &ids[i], .n = 1 };
	}
	assert_int_equal(vs_preemption_victims(&vs_core, 20, ids + ALL, GANG,
					       many, 2 * ALL, ended),
			 GANG);
	for (int i = 0; i < ALL; i++)
		assert_false(ended[2 * i]);
	sums_are_true();
}

static void nobody_ends_for_what_idle_vms_give(void **state)
{
	(void)state;
	full_house();
	end_job(14, "vm4");
	assert_int_equal(wanted(1, 3), 0);
	assert_int_equal(wanted(2, 3), 1);
	assert_true(take[0] && !take[1] && !take[2]);
}

static void a_vm_whose_job_just_ends_is_as_good_as_idle(void **state)
{
	(void)state;
	full_house();
	vs_job_end(&vs_core, 14, &nodes[3], 1, false);
	assert_int_equal(wanted(1, 3), 0);
}

static void a_node_that_the_job_is_to_get_keeps_its_vm(void **state)
{
	int both[] = { nodes[0], nodes[4] };

	(void)state;
	full_house();
	both[0] = nodes[0];
	both[1] = nodes[4];
	assert_int_equal(
		vs_preemption_victims(&vs_core, 20, both, 2, victims, 1, take),
		-1);
	assert_int_equal(
		vs_preemption_victims(&vs_core, 20, both, 2, victims, 2, take),
		1);
	assert_true(!take[0] && take[1]);
}

static void a_vm_that_is_promised_away_goes_with_its_job(void **state)
{
	enum vs_avail avail;

	(void)state;
	full_house();
	assert_int_equal(wanted(1, 4), 1);
	assert_int_equal(wanted(1, 4), 0);	/* no second one for the same */
	vs_query_capacity(&vs_core, &nodes[0], 1, &avail, NULL, 0);
	assert_int_equal(avail, VS_AVAIL_NONE);
	end_job(11, "vm1");
	turns(2);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm2"));
	powered_down("vm1");
	assert_int_equal(job_begin(20, "vm5", NULL), 0);
}

static void a_promise_that_nobody_renews_is_forgotten(void **state)
{
	enum vs_avail avail;

	(void)state;
	full_house();
	assert_int_equal(wanted(1, 4), 1);
	now += 61000;
	turns(1);
	vs_query_capacity(&vs_core, &nodes[0], 1, &avail, NULL, 0);
	assert_int_equal(avail, VS_AVAIL_RUNNING);
}

static void a_vm_goes_with_the_last_of_its_jobs(void **state)
{
	(void)state;
	full_house();
	assert_int_equal(job_begin(15, "vm1", NULL), 0);
	assert_int_equal(wanted(1, 1), -1);
	assert_int_equal(wanted(1, 2), 1);
	assert_true(!take[0] && take[1]);
	vs_node_promise(&core_nodes()[nodes[1]], 0);
	victims[1] = victims[0];
	assert_int_equal(wanted(1, 2), 2);
	assert_int_equal(wanted(1, 2), 0);
}

/* Many of whom few have what is wanted, far behind. */
static void few_of_many_end(void **state)
{
	struct vs_victim many[40];
	bool ends[40];

	(void)state;
	full_house();
	for (int i = 0; i < 40; i++)
		many[i] = (struct vs_victim) { .ids = &nodes[7], .n = 1 };
	many[9] = (struct vs_victim) { .ids = &nodes[2], .n = 1 };
	many[30] = many[33] = (struct vs_victim) { .ids = &nodes[0], .n = 1 };
	assert_int_equal(vs_preemption_victims(&vs_core, 20, &nodes[4], 2, many,
					       40, ends),
			 2);
	for (int i = 0; i < 40; i++)
		assert_int_equal(ends[i], i == 9 || i == 30);
	sums_are_true();
}

static void foreign_vms_give_nothing(void **state)
{
	struct fake_vm *vm;

	(void)state;
	full_house();
	end_job(14, "vm4");
	powered_down("vm4");
	for (int i = 0; i < 2 && (free_on("host-1") || free_on("host-2")); i++) {
		vm = fake_add_vm("theirs", "group-other", free_on("host-1") ?
				 "host-1" : "host-2", true);
		vm->has_nic = true;
		vs_strlcpy(vm->pci, "0000:3b:00.0", sizeof(vm->pci));
		fake_show(vm);
	}
	assert_int_equal(wanted(4, 3), -1);
	assert_int_equal(wanted(3, 3), 3);
}

/* ---- what hosts share ------------------------------------------------------- */

/* VFs for all; vm1 to vm4 are up. */
static void vfs_for_all(void)
{
	full_house();
	begin(8, 2, 4, "warm");
	ready();
	for (int i = 0; i < 4; i++)
		bring_up(11 + (uint32_t)i, core_nodes()[nodes[i]].name);
}

static void who_has_the_pools_memory_gives_it(void **state)
{
	(void)state;
	vfs_for_all();
	assert_int_equal(wanted(4, 4), 0);
	fake_pool_mb = 0;
	fake_slow(NULL, 0);
	assert_int_equal(wanted(4, 3), -1);
	assert_int_equal(wanted(3, 4), 3);
	assert_true(take[0] && take[1] && take[2] && !take[3]);
}

static void who_has_the_pools_processors_gives_them(void **state)
{
	(void)state;
	vfs_for_all();
	core_profiles()[0].latency_high = true;
	for (int i = 0; i < 4; i++) {
		struct fake_vm *vm = fake_get(core_nodes()[nodes[i]].name);

		vm->latency_high = true;
		vm->cpu_reserved_mhz = 4 * 2000;
		fake_show(vm);
	}
	fake_pool_mhz = 0;
	fake_slow(NULL, 0);
	assert_int_equal(wanted(2, 1), -1);
	assert_int_equal(wanted(2, 4), 2);
}

/* Its memory is in another pool: it has nothing that is wanted. */
static void whose_vm_lies_in_another_pool_ends_for_nobody(void **state)
{
	struct fake_vm *vm;

	(void)state;
	vfs_for_all();
	vm = fake_get("vm1");
	vs_strlcpy(vm->pool, "resgroup-other", sizeof(vm->pool));
	fake_show(vm);
	fake_pool_mb = 0;
	fake_slow(NULL, 0);
	assert_int_equal(wanted(1, 1), -1);
	assert_int_equal(wanted(1, 2), 1);
	assert_true(!take[0] && take[1]);
}

/* A VM whose memory isn't reserved has as much of it in a swap file. */
static void who_fills_the_datastore_gives_it(void **state)
{
	(void)state;
	vfs_for_all();
	fake_disk_mb = 1500;
	fake_template("vm-tpl", NULL);
	for (int i = 0; i < 4; i++) {
		struct vs_vm *vm = vs_vm_get(core_inv(), fake_get(
			core_nodes()[nodes[i]].name)->moid);

		vm->mem_locked = false;
		vm->mem_reserved_mb = 0;
		vs_vm_changed(core_inv(), vm);
	}
	fake_store_mb = 0;
	fake_slow(NULL, 0);
	assert_int_equal(wanted(1, 1), -1);
	assert_int_equal(wanted(1, 4), 2);
	assert_true(take[0] && take[1] && !take[2] && !take[3]);
	assert_int_equal(wanted(3, 4), -1);
}

static void nothing_is_known_without_vcenter(void **state)
{
	(void)state;
	full_house();
	vs_vc_state_set(&vs_core, "vCenter is away");
	assert_int_equal(wanted(1, 4), -1);
	core_set_vc_state("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_end_as_many_as_are_needed),
		cmocka_unit_test(who_is_not_needed_is_spared),
		cmocka_unit_test(who_would_come_last_is_spared_first),
		cmocka_unit_test(nobody_ends_where_all_would_not_do),
		cmocka_unit_test(whose_vm_has_no_vf_ends_for_nobody),
		cmocka_unit_test(among_many_those_alone_end_whose_vms_have_vfs),
		cmocka_unit_test(nobody_ends_for_what_idle_vms_give),
		cmocka_unit_test(a_vm_whose_job_just_ends_is_as_good_as_idle),
		cmocka_unit_test(a_node_that_the_job_is_to_get_keeps_its_vm),
		cmocka_unit_test(a_vm_that_is_promised_away_goes_with_its_job),
		cmocka_unit_test(a_promise_that_nobody_renews_is_forgotten),
		cmocka_unit_test(a_vm_goes_with_the_last_of_its_jobs),
		cmocka_unit_test(few_of_many_end),
		cmocka_unit_test(foreign_vms_give_nothing),
		cmocka_unit_test(who_has_the_pools_memory_gives_it),
		cmocka_unit_test(who_has_the_pools_processors_gives_them),
		cmocka_unit_test(whose_vm_lies_in_another_pool_ends_for_nobody),
		cmocka_unit_test(who_fills_the_datastore_gives_it),
		cmocka_unit_test(nothing_is_known_without_vcenter),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
