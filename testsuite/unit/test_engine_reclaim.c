/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which idle VMs are powered off for a pending job: those whose end frees the
 * VF or the other capacity that the job needs, and no others.
 */
#include "engine_stage.h"

/* An idle VM without a VF, of a partition of its own, on the first host. */
static void idle_without_vf(const char *name)
{
	struct fake_vm *vm = fake_add_vm(name, "group-v1", "host-1", true);

	snprintf(vm->mark, sizeof(vm->mark), "%s/%s/%s", core_cluster_id(),
		 name, vm->uuid);
	flags(name, UP);
}

static void foreign_with_vf(const char *name, const char *host)
{
	struct fake_vm *vm = fake_add_vm(name, "group-other", host, true);

	vm->has_nic = true;
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
	assert_int_equal(vs_query_capacity(&vs_core, &wants, 1, NULL, NULL, 0),
			 0);
	refuse(8, &wants, 1, 1, "no room");
	turns(3);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm2"));
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
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm2"));
}

static void nothing_is_asked_back_for_a_node_that_lacks_no_room(void **state)
{
	int wants;

	(void)state;
	begin(2, 1, 2, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	fake_add_vm("vm2", "group-v1", "host-1", false);	/* unowned */
	fake_show(fake_get("vm2"));
	wants = id("vm2");
	refuse(8, &wants, 1, 1, "the name is taken");
	turns(3);
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
}

/* A VF would come free where no VM is started for now. */
static void nothing_is_asked_back_on_a_host_that_is_left_out(void **state)
{
	int wants;

	(void)state;
	begin(2, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	vs_exclude_failed("host-1", "", now + 60000, "a start failed");
	wants = id("vm2");
	now += 6000;
	refuse(8, &wants, 1, 1, "no VF");
	turns(3);
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	vs_exclude_end(VS_EXCLUDED_FAILED, "host-1");
	refuse(8, &wants, 1, 1, "no VF");
	turns(3);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
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
	assert_null(heard(VS_REQUEST_POWER_DOWN, NULL));
	refuse(8, &wants, 1, 1, "no VF");	/* not vm1, nor vm2 */
	turns(3);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm2"));
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
}

static void it_is_not_waited_for_for_ever(void **state)
{
	int wants;

	(void)state;
	two_end(&wants);
	now += 3000;
	turns(3);
	assert_null(heard(VS_REQUEST_POWER_DOWN, NULL));
	now += 1000;
	turns(3);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm2"));
}

static void was_told(uint32_t job, int wants, enum vs_pending_reason lacks,
		     bool backfill)
{
	struct vs_requesting_job a = {
		.job = job, .lasts = 3600, .lacks = lacks,
		.in_backfill = backfill,
	};

	vs_job_set_pending(&vs_core, &a, &wants, 1, 1, "0 free");
}

/* ---- vGPUs, and devices beside VFs ----------------------------------------- */

#define P4 "nvidia_a100-4c"
#define P8 "nvidia_a100-8c"

/* Nodes vm1 to vm3 have vGPUs of one profile, the rest of another, on a host
 * with so many GPUs. */
static void begin_vgpus(int gpus)
{
	static const struct vs_vc_named profiles[] = {
		{ .name = P4 }, { .name = P8 }, { .name = "nvidia_a100-40c" },
	};
	static struct vs_vc_gpu boards[2];
	struct vs_vc_host h = { .moid = "host-1", .has = VS_VC_HOST_PFS,
		.profiles = profiles, .nprofiles = VS_COUNT(profiles),
		.gpus = boards, .ngpus = (size_t)gpus };
	struct vs_conf *conf = conf_make(5, "warm", 1024);
	struct vs_conf_adapter *eight = conf_other_from(conf, 3, "vgpu");

	eight->profile = vs_strdup(P8);
	free(conf->adapters[0].type);
	conf->adapters[0].type = vs_strdup("vgpu");
	conf->adapters[0].profile = vs_strdup(P4);
	for (int i = 0; i < gpus; i++)
		boards[i] = (struct vs_vc_gpu) { .name = "A100",
			.type = "sharedDirect", .mode = "sameSize",
			.pci = "0000:65:00.0", .vendor = "", .numa = -1 };
	begin(5, 1, 0, "warm");
	begin_as(conf);
	ready();
	fake_host(&h);
	turn();
}

static int going(const char *const *names, size_t n)
{
	int found = 0;

	for (size_t i = 0; i < n; i++)
		found += heard(VS_REQUEST_POWER_DOWN, names[i]) != NULL;
	return found;
}

static const char *const fours[] = { "vm1", "vm2", "vm3" };

/* A GPU runs vGPUs of one profile: those of another stand in its way. */
static void a_vgpu_of_another_profile_gives_way(void **state)
{
	int wants[2];

	(void)state;
	begin_vgpus(1);
	bring_up(7, "vm1");
	end_job(7, "vm1");
	wants[0] = id("vm4");
	wants[1] = id("vm5");
	assert_true(vs_forecast_shared(&vs_core, core_nodes()[0].profile,
				       core_nodes()[3].profile));
	assert_int_equal(vs_query_capacity(&vs_core, wants, 2, NULL, NULL, 0),
			 0);
	refuse(8, wants, 2, 2, "no vGPU");
	turns(3);
	assert_int_equal(going(fours, 3), 1);
}

/* vCenter doesn't show which vGPU is on which GPU, so each may be on its own:
 * as many go as surely leave a GPU, and no more. */
static void as_many_vgpus_go_as_it_takes_and_no_more(void **state)
{
	int wants;

	(void)state;
	begin_vgpus(1);
	for (uint32_t i = 0; i < 2; i++) {
		bring_up(10 + i, fours[i]);
		end_job(10 + i, fours[i]);
	}
	wants = id("vm4");
	refuse(8, &wants, 1, 1, "no vGPU");
	turns(3);
	assert_int_equal(going(fours, 3), 2);
	begin_vgpus(2);
	for (uint32_t i = 0; i < 3; i++) {
		bring_up(10 + i, fours[i]);
		end_job(10 + i, fours[i]);
	}
	wants = id("vm4");
	refuse(8, &wants, 1, 1, "no vGPU");
	turns(3);
	assert_int_equal(going(fours, 3), 2);
}

/* Two devices beside a VF: two VMs with one each go together. */
static void what_is_beside_a_vf_is_given_back_together(void **state)
{
	struct vs_vc_pf pf = { .pci = "0000:3b:00.0", .pnic = "vmnic4",
		.switch_uuid = "sw", .numa = -1, .vfs = 8, .link_up = true };
	struct vs_vc_device gpus[2] = {
		{ .pci = "0000:65:00.0", .name = "A100", .label = "",
		  .vendor = 0x10de, .device = 0x20b0, .numa = -1, .active = true },
		{ .pci = "0000:ca:00.0", .name = "A100", .label = "",
		  .vendor = 0x10de, .device = 0x20b0, .numa = -1, .active = true },
	};
	struct vs_vc_host h = { .moid = "host-1", .has = VS_VC_HOST_PFS,
		.pfs = &pf, .npfs = 1, .devices = gpus, .ndevices = 2 };
	struct vs_conf *conf = conf_make(3, "warm", 1024);
	struct vs_conf_adapter *one =
		conf_other_from(conf, 0, "dynamic-directpath");
	int wants;

	(void)state;
	one->vendor = 0x10de;
	one->device = 0x20b0;
	conf->nadapters = 3;
	conf->adapters = vs_realloc(conf->adapters, 3, sizeof(*conf->adapters));
	conf->adapters[2] = (struct vs_conf_adapter) {
		.name = vs_strdup("pair"), .per_node = 2,
		.type = vs_strdup("dynamic-directpath"),
		.vendor = 0x10de, .device = 0x20b0,
	};
	conf->adapters[0].with = vs_strdup("pair");
	free(conf->nodes[2].partition);
	free(conf->nodes[2].adapter);
	conf->nodes[2].partition = vs_strdup("roce");
	conf->nodes[2].adapter = vs_strdup("sriov-roce");
	begin(3, 1, 8, "warm");
	begin_as(conf);
	ready();
	fake_host(&h);
	turn();
	for (uint32_t i = 0; i < 2; i++) {
		bring_up(10 + i, fours[i]);
		end_job(10 + i, fours[i]);
	}
	wants = id("vm3");
	assert_int_equal(vs_query_capacity(&vs_core, &wants, 1, NULL, NULL, 0),
			 0);
	refuse(8, &wants, 1, 1, "no device");
	turns(3);
	assert_int_equal(going(fours, 2), 2);
}

/* ---- who wants what ---------------------------------------------------------- */

/* A job that waits for its turn, or for nodes, has use of no VF yet. */
static void nothing_is_reclaimed_for_who_lacks_no_vf(void **state)
{
	(void)state;
	begin(2, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	now += 6000;
	was_told(8, id("vm2"), VS_PENDING_TURN, false);
	was_told(9, id("vm2"), VS_PENDING_NODES, false);
	turns(3);
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	assert_string_equal(vs_refusals()->why, "0 free");
	assert_string_equal(vs_refusals()->hh.next ?
		((struct vs_pending *)vs_refusals()->hh.next)->why : "",
		"needs 1 sriov-roce VF, 0 free");
	was_told(9, id("vm2"), VS_PENDING_VFS, true);
	turns(3);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
}

/* Backfill, or the job's next partition, says less a moment later. */
static void the_strongest_word_of_late_counts(void **state)
{
	(void)state;
	begin(2, 1, 1, "warm");
	ready();
	was_told(8, id("vm2"), VS_PENDING_VFS, false);
	now += 1000;
	was_told(8, id("vm2"), VS_PENDING_NODES, false);
	was_told(8, id("vm2"), VS_PENDING_TURN, false);
	assert_int_equal(vs_refusals()->lacks, VS_PENDING_VFS);
	now += 4000;
	was_told(8, id("vm2"), VS_PENDING_NODES, true);
	assert_int_equal(vs_refusals()->lacks, VS_PENDING_VFS);
	was_told(8, id("vm2"), VS_PENDING_NODES, false);
	assert_int_equal(vs_refusals()->lacks, VS_PENDING_NODES);
	was_told(8, id("vm2"), VS_PENDING_VFS, true);
	assert_int_equal(vs_refusals()->lacks, VS_PENDING_VFS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(room_is_asked_back_from_vms_that_have_no_vf),
		cmocka_unit_test(vms_stay_that_would_leave_nothing_of_what_lacks),
		cmocka_unit_test(nothing_is_asked_back_for_a_node_that_lacks_no_room),
		cmocka_unit_test(nothing_is_asked_back_on_a_host_that_is_left_out),
		cmocka_unit_test(slurm_looks_first_whether_the_job_takes_an_idle_vm),
		cmocka_unit_test(it_is_not_waited_for_for_ever),
		cmocka_unit_test(a_vgpu_of_another_profile_gives_way),
		cmocka_unit_test(as_many_vgpus_go_as_it_takes_and_no_more),
		cmocka_unit_test(what_is_beside_a_vf_is_given_back_together),
		cmocka_unit_test(nothing_is_reclaimed_for_who_lacks_no_vf),
		cmocka_unit_test(the_strongest_word_of_late_counts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
