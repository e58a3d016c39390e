/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the engine asks of vCenter for a VM's hardware beside its NICs, and
 * what of it follows the host that the VM is on.
 */
#include "engine_stage.h"
#include "engine/vmspec/vmspec.h"

#define PF "0000:3b:00.0"

/* The host as it is from now on. */
static void host_is(int mhz, int numa)
{
	static const char *const nets[] = { "dvportgroup-1" };
	static const char *const stores[] = { "datastore-1" };
	const struct vs_vc_pf pf = { .pci = PF, .pnic = "vmnic4",
		.switch_uuid = "sw", .vfs = 2, .numa = numa, .numa_cores = 32,
		.numa_mb = 256 * 1024, .link_up = true };

	fake_host(&(struct vs_vc_host) {
		.moid = "host-1", .has = ~0u, .name = "esx1",
		.cluster = "domain-c1", .connected = true, .powered_on = true,
		.cores = 64, .core_mhz = mhz, .numa_nodes = 2, .max_hw = 21,
		.memory_mb = 512 * 1024, .pfs = &pf, .npfs = 1, .nets = nets,
		.nnets = 1, .stores = stores, .nstores = 1 });
}

static const struct fake_vm *cloned(enum vs_adapter_type type,
				    const struct vs_hardware *hw)
{
	begin(1, 1, 2, "warm");
	core_adapters()[0].type = type;
	core_profiles()[0].hw = *hw;
	ready();
	clone_for(7, "vm1");
	return fake_get("vm1");
}

static void a_clone_has_what_the_line_says(void **state)
{
	const struct vs_hardware hw = { .cpu_mhz = 3000, .mem_mb = 512,
		.cpu_shares = 7, .mem_shares = VS_SHARES_HIGH,
		.cores_per_socket = 2, .secure_boot = VS_HW_YES };
	const struct vs_vc_hw *got = &cloned(VS_ADAPTER_VMXNET3, &hw)->asked;

	(void)state;
	assert_true(got->exact);
	assert_int_equal(got->cpu_reserved_mhz, 3000);
	assert_int_equal(got->mem_reserved_mb, 512);
	assert_false(got->memory_locked);
	assert_false(got->cold);
	assert_int_equal(got->cpu_shares, 7);
	assert_int_equal(got->mem_shares, VS_VC_SHARES_HIGH);
	assert_int_equal(got->cores_per_socket, 2);
	assert_int_equal(got->secure_boot, VS_VC_AUTO_YES);
	assert_string_equal(fake_get("vm1")->numa, "");
}

static void with_a_vf_nothing_is_added_while_it_is_on(void **state)
{
	const struct vs_vc_hw *got = &cloned(VS_ADAPTER_SRIOV,
					     &(struct vs_hardware){ 0 })->asked;

	(void)state;
	assert_true(got->cold);
	assert_true(got->memory_locked);
	assert_int_equal(got->cpu_reserved_mhz, 0);
	/* a clone has these of its template without a word */
	assert_int_equal(got->cores_per_socket, 0);
	assert_int_equal(got->secure_boot, VS_VC_AUTO_UNKNOWN);
}

/* Power-on of a VM that was made for a host with other cores. */
static void follows_the_mhz(int mhz)
{
	const struct vs_hardware full = { .cpu_mhz = VS_RESERVE_FULL };

	assert_int_equal(cloned(VS_ADAPTER_SRIOV, &full)->cpu_reserved_mhz,
			 4 * 2000);
	host_is(mhz, 0);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 0);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	assert_int_equal(fake_get("vm1")->cpu_reserved_mhz, 4 * mhz);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	assert_int_equal(fake_sent[FAKE_RECONFIGURE], 1);
}

static void a_full_reservation_is_the_hosts_cores(void **state)
{
	(void)state;
	follows_the_mhz(3000);
	follows_the_mhz(1500);		/* more than its vCPUs could have */
}

static const struct vs_hardware whole = { .cpu_mhz = VS_RESERVE_FULL };

/* vCenter says done, and shows the VM's reservation as it was. */
static void reconfigured_and_not_shown(void)
{
	fake_shown_mhz = 4 * 2000;
	assert_true(fake_finish(FAKE_RECONFIGURE));
	turns(3);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 0);
}

/* A second one would have the changeVersion of before the first. */
static void a_reconfigure_is_done_when_it_is_shown(void **state)
{
	(void)state;
	cloned(VS_ADAPTER_SRIOV, &whole);
	host_is(3000, 0);
	turns(2);
	reconfigured_and_not_shown();
	assert_int_equal(fake_sent[FAKE_RECONFIGURE], 1);
	fake_shown_mhz = -1;
	fake_show(fake_get("vm1"));
	turns(2);
	assert_int_equal(fake_sent[FAKE_RECONFIGURE], 1);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
}

static void a_reconfigure_that_never_shows_ends(void **state)
{
	int many = 0;

	(void)state;
	cloned(VS_ADAPTER_SRIOV, &whole);
	host_is(3000, 0);
	turns(2);
	for (; many < 3 * VS_TRIES_MAX && fake_waiting(FAKE_RECONFIGURE);
	     many++) {
		reconfigured_and_not_shown();
		assert_int_equal(fake_sent[FAKE_RECONFIGURE], many + 1);
		now += VS_AWAIT_MS;
		turn();
		fake_slow(NULL, 0);
		turns(2);
	}
	assert_int_equal(many, VS_TRIES_MAX + 1);
	assert_non_null(heard(VS_REQUEST_FAIL, "vm1"));
}

static void the_numa_node_is_the_pfs(void **state)
{
	const struct vs_hardware pf = { .numa_pf = true };

	(void)state;
	assert_string_equal(cloned(VS_ADAPTER_SRIOV, &pf)->numa, "0");
	assert_true(fake_get("vm1")->asked.cold);
	host_is(2000, 1);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 0);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	assert_string_equal(fake_get("vm1")->numa, "1");
	turns(2);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	/* a VM that is on is left alone */
	assert_true(fake_finish(FAKE_POWER_ON));
	flags("vm1", BUSY);
	host_is(2000, 0);
	turns(4);
	assert_int_equal(fake_sent[FAKE_RECONFIGURE], 1);
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 0);
}

static void what_is_no_longer_said_is_the_templates_again(void **state)
{
	const struct vs_hardware hw = { .cores_per_socket = 4, .numa_pf = true,
		.cpu_shares = 7, .secure_boot = VS_HW_YES };
	const struct vs_vc_hw *got;

	(void)state;
	cloned(VS_ADAPTER_SRIOV, &hw);
	core_profiles()[0].hw = (struct vs_hardware){ 0 };
	core_profiles()[0].template_cores = 2;
	core_profiles()[0].template_secure = VS_HW_NO;
	vs_profiles_changed(&vs_core);
	turns(2);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	got = &fake_get("vm1")->asked;
	assert_int_equal(got->cores_per_socket, 2);
	assert_int_equal(got->secure_boot, VS_VC_AUTO_NO);
	assert_int_equal(got->cpu_shares, 0);
	assert_string_equal(fake_get("vm1")->numa, "");
}

/* Sockets of 3 cores don't divide 4 vCPUs: a clone that had its template's
 * would be refused. */
static void the_templates_sockets_that_dont_divide_the_vcpus_are_of_one(void **st)
{
	const struct vs_vc_hw *got;

	(void)st;
	begin(1, 1, 2, "warm");
	ready();
	core_profiles()[0].template_cores = 3;
	clone_for(7, "vm1");
	got = &fake_get("vm1")->asked;
	assert_int_equal(got->vcpus, 4);
	assert_int_equal(got->cores_per_socket, 1);
	core_profiles()[0].hw.cores_per_socket = 2;	/* said */
	vs_profiles_changed(&vs_core);
	turns(2);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	assert_int_equal(fake_get("vm1")->asked.cores_per_socket, 2);
}

static void a_vm_that_exists_is_told_what_its_clone_had(void **state)
{
	struct vs_profile p = { .vcpus = 4, .template_cores = -1 };
	struct vs_vc_hw hw = { 0 };

	(void)state;
	vs_hardware_again(&p, &hw);
	assert_int_equal(hw.cores_per_socket, -1);	/* automatic */
	hw.cores_per_socket = 2;	/* said */
	vs_hardware_again(&p, &hw);
	assert_int_equal(hw.cores_per_socket, 2);
	assert_int_equal(hw.secure_boot, VS_VC_AUTO_UNKNOWN);
}

static void what_is_so_anyway_is_as_if_nothing_were_said(void **state)
{
	static const struct vs_hardware nothing;
	const struct vs_conf_partition part = {
		.cpu_reservation = VS_RESERVE_FULL,
		.memory_reservation = VS_RESERVE_FULL };
	struct vs_adapter a = { .type = VS_ADAPTER_SRIOV };
	struct vs_profile p = { .adapter = &a, .latency_high = true };

	(void)state;
	vs_hardware_set(&p, &part);
	assert_true(vs_hardware_same(&p.hw, &nothing));
	p.latency_high = false;
	vs_hardware_set(&p, &part);
	assert_int_equal(p.hw.cpu_mhz, VS_RESERVE_FULL);
	assert_int_equal(p.hw.mem_mb, 0);
	a.type = VS_ADAPTER_VMXNET3;
	vs_hardware_set(&p, &part);
	assert_int_equal(p.hw.mem_mb, VS_RESERVE_FULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clone_has_what_the_line_says),
		cmocka_unit_test(with_a_vf_nothing_is_added_while_it_is_on),
		cmocka_unit_test(a_full_reservation_is_the_hosts_cores),
		cmocka_unit_test(a_reconfigure_is_done_when_it_is_shown),
		cmocka_unit_test(a_reconfigure_that_never_shows_ends),
		cmocka_unit_test(the_numa_node_is_the_pfs),
		cmocka_unit_test(what_is_no_longer_said_is_the_templates_again),
		cmocka_unit_test(
			the_templates_sockets_that_dont_divide_the_vcpus_are_of_one),
		cmocka_unit_test(a_vm_that_exists_is_told_what_its_clone_had),
		cmocka_unit_test(what_is_so_anyway_is_as_if_nothing_were_said),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
