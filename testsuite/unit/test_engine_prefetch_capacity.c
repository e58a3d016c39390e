/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prefetch beside jobs: what of memory, the datastore and budgets it takes, and
 * what of them comes back with the VMs that go.
 */
#include "engine/prefetch/prefetch_i.h"
#include "prefetch_stage.h"

/* A VM of 4 vCPUs and 1 GiB, all reserved, with its overhead. */
#define EACH (1024 + 64 + 8 * 4 + 11)

/* One host with VFs for all and memory for so much; vm1 runs job 1. */
static void memory_for(int nodes, int64_t host_mb)
{
	struct vs_vc_host h = {
		.moid = "host-1", .has = VS_VC_HOST_HW, .cores = 64,
		.core_mhz = 2000, .numa_nodes = 2, .max_hw = 21,
		.memory_mb = host_mb,
	};

	stage(nodes, 1, 8, "power_off", 4);
	fake_host(&h);
	bring_up(1, "vm1");
}

/* Nothing is made for vm2 as there is no room, but with the end of vm1's job one
 * of two that are planned. */
static void comes_with_vm1(void)
{
	planned(2, "vm2", 100);
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 0);
	planned(2, "vm3", 100);
	ends(1, "vm1", 90);
	plan_is_read();
	assert_null(heard(VS_REQUEST_POWER_UP, NULL));
	assert_int_equal(vs_plans.nahead, 1);
	assert_int_equal(fake_sent[FAKE_CLONE], 1 + 1);
}

static void memory_of_a_host_comes_with_the_vm_that_has_it(void **state)
{
	(void)state;
	memory_for(3, 2 * EACH - 1);
	comes_with_vm1();
}

static void memory_of_a_pool_comes_with_the_vm_that_has_it(void **state)
{
	(void)state;
	memory_for(3, 512 * 1024);
	fake_pool_mb = EACH - 1;
	fake_slow(NULL, 0);
	comes_with_vm1();
}

/* To look for a place costs: a few that have none tell of the others. */
static void few_that_have_no_place_tell_of_the_others(void **state)
{
	char name[8];

	(void)state;
	memory_for(30, 2 * EACH - 1);
	for (int i = 2; i <= 30; i++) {
		snprintf(name, sizeof(name), "vm%d", i);
		planned(2, name, 100);
	}
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 0);
	assert_int_equal(vs_plans.in_vain[0], 8);
	/* at the next reading all is open again */
	ends(1, "vm1", 90);
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 1);
}

/* A VM that has no job and is powered off: when it ends is unknown. */
static void a_vf_comes_with_a_vm_that_is_on_its_way_out(void **state)
{
	(void)state;
	stage(3, 1, 1, "warm", 4);
	bring_up(1, "vm1");
	end_job(1, "vm1");
	planned(2, "vm2", 100);
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 0);
	flags("vm1", GOING);
	turns(2);
	planned(2, "vm3", 100);
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 1);
	assert_int_equal(fake_sent[FAKE_CLONE], 1 + 1);
}

/* Nor is its VF counted twice where Slurm speaks of its job still. */
static void a_vf_on_its_way_comes_once(void **state)
{
	(void)state;
	stage(3, 1, 1, "power_off", 4);
	bring_up(1, "vm1");
	end_job(1, "vm1");
	flags("vm1", GOING);
	turns(2);
	planned(2, "vm2", 100);
	planned(2, "vm3", 100);
	ends(1, "vm1", 90);
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 1);
}

static void the_datastore_keeps_room_for_what_jobs_may_begin(void **state)
{
	const int64_t disk_mb = 10000;

	(void)state;
	stage(2, 1, 1, "power_off", 4);
	fake_disk_mb = disk_mb;
	fake_template("vm-tpl", NULL);
	core_conf()->max_provision_ops = 3;
	bring_up(1, "vm1");
	planned(2, "vm2", 100);
	ends(1, "vm1", 90);
	/* Three for jobs, and its own. */
	fake_store_mb = 4 * disk_mb - 1;
	fake_slow(NULL, 0);
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 0);
	fake_store_mb = 4 * disk_mb;
	fake_slow(NULL, 0);
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 1);
}

static void half_of_a_hosts_budget_stays_with_jobs(void **state)
{
	(void)state;
	stage(4, 1, 2, "power_off", 4);
	core_conf()->max_ops_per_host = 4;
	bring_up(1, "vm1");
	assert_int_equal(job_begin(3, "vm3", NULL), 0);
	flags("vm3", BOOT);
	turns(2);
	planned(2, "vm2", 100);
	planned(2, "vm4", 101);
	ends(1, "vm1", 90);
	ends(3, "vm3", 90);
	/* Two calls of four: that of the job, and one. */
	plan_is_read();
	assert_int_equal(fake_waiting(FAKE_CLONE), 2);
	assert_true(fake_finish(FAKE_CLONE));	/* the job's */
	turns(3);
	assert_true(fake_finish(FAKE_POWER_ON));
	flags("vm3", BUSY);
	turns(2);
	plan_is_read();
	assert_int_equal(fake_waiting(FAKE_CLONE), 2);
}

static void nothing_is_begun_while_jobs_take_the_whole_budget(void **state)
{
	(void)state;
	stage(3, 1, 4, "warm", 4);
	core_conf()->max_provision_ops = 1;
	assert_int_equal(job_begin(1, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
	planned(2, "vm2", 100);
	plan_is_read();
	assert_null(heard(VS_REQUEST_POWER_UP, NULL));
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	plan_is_read();
	assert_non_null(heard(VS_REQUEST_POWER_UP, "vm2"));
}

/* ---- adapters ------------------------------------------------------------------ */

/* vm1 and vm2 have VFs, vm3 and vm4 are on Ethernet. */
static void vf_and_ethernet(void)
{
	struct vs_conf *conf = conf_make(4, "warm", 1024);

	conf_other_from(conf, 2, "vmxnet3");
	begin(4, 1, 1, "warm");
	begin_as(conf);
	prefetch_is(4);
	ready();
}

/* Job 9 is refused for want of many of those. */
static void many_wait_for(const char *node)
{
	int wants = id(node);

	refuse(9, &wants, 1, 100, "no room");
}

static void who_waits_for_vfs_keeps_no_ethernet_node(void **state)
{
	(void)state;
	vf_and_ethernet();
	many_wait_for("vm1");
	planned(7, "vm2", 60);
	planned(8, "vm3", 60);
	plan_is_read();
	assert_non_null(heard(VS_REQUEST_POWER_UP, "vm3"));
	assert_null(heard(VS_REQUEST_POWER_UP, "vm2"));
}

/* It waits for memory, of which VMs with VFs take as much. */
static void who_waits_for_ethernet_keeps_both(void **state)
{
	(void)state;
	vf_and_ethernet();
	many_wait_for("vm4");
	planned(7, "vm2", 60);
	planned(8, "vm3", 60);
	plan_is_read();
	assert_null(heard(VS_REQUEST_POWER_UP, NULL));
}

/* Two PFs, and one device: what is beside the VF (ExtraDevice=) counts by itself. */
static void a_device_beside_the_vf_is_made_ahead_for_once(void **state)
{
	struct vs_conf *conf = conf_make(3, "power_off", 1024);
	struct vs_vc_pf pfs[] = {
		{ .pci = "0000:3b:00.0", .pnic = "vmnic4", .facts.driver = "nmlx5",
		  .switch_uuid = "sw", .numa = -1, .vfs = 8, .link_up = true },
		{ .pci = "0000:5e:00.0", .pnic = "vmnic5", .facts.driver = "nmlx5",
		  .switch_uuid = "sw", .numa = -1, .vfs = 8, .link_up = true },
	};
	struct vs_vc_device gpu = { .pci = "0000:af:00.0", .name = "gpu",
		.label = "", .vendor = 0x10de, .device = 0x20b0, .numa = -1, .active = true };
	struct vs_vc_host h = { .moid = "host-1", .has = VS_VC_HOST_PFS,
		.pfs = pfs, .npfs = 2, .devices = &gpu, .ndevices = 1 };

	(void)state;
	begin(3, 1, 8, "power_off");
	conf_other_from(conf, 3, "dynamic-directpath");
	begin_as(conf);
	core_adapters()[1].vendor = 0x10de;
	core_adapters()[1].device = 0x20b0;
	core_adapters()[0].with = &core_adapters()[1];
	prefetch_is(4);
	ready();
	fake_host(&h);
	turn();
	/* vm1 is held, the device with it */
	assert_int_equal(job_begin(1, "vm1", NULL), 0);
	planned(2, "vm2", 100);
	planned(3, "vm3", 100);
	ends(1, "vm1", 90);
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 1);
}

#define T(f) cmocka_unit_test(f)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(memory_of_a_host_comes_with_the_vm_that_has_it),
		T(few_that_have_no_place_tell_of_the_others),
		T(memory_of_a_pool_comes_with_the_vm_that_has_it),
		T(a_vf_comes_with_a_vm_that_is_on_its_way_out),
		T(a_vf_on_its_way_comes_once),
		T(the_datastore_keeps_room_for_what_jobs_may_begin),
		T(half_of_a_hosts_budget_stays_with_jobs),
		T(nothing_is_begun_while_jobs_take_the_whole_budget),
		T(who_waits_for_vfs_keeps_no_ethernet_node),
		T(who_waits_for_ethernet_keeps_both),
		T(a_device_beside_the_vf_is_made_ahead_for_once),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
