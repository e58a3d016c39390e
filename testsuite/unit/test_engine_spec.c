/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the engine asks of vCenter for a VM: the NIC and the reservations that
 * each kind of adapter needs, on which host, how often, and for how long.
 */
#include "engine_stage.h"

/* A cluster whose only profile is of this kind, and its first clone. */
static const struct fake_vm *cloned(enum vs_adapter_type type, int mtu,
				    bool latency_high)
{
	begin(1, 1, 2, "warm");
	core_adapters()[0].type = type;
	core_adapters()[0].mtu = mtu;
	core_profiles()[0].latency_high = latency_high;
	ready();
	clone_for(7, "vm1");
	return fake_get("vm1");
}

static void sriov_has_all_its_memory_reserved(void **state)
{
	const struct fake_vm *vm = cloned(VS_ADAPTER_SRIOV, 0, false);

	(void)state;
	assert_int_equal(vm->kind, VS_VC_NET_SRIOV);
	assert_true(vm->mem_locked);
	assert_false(vm->latency_high);
	assert_int_equal(vm->cpu_reserved_mhz, 0);
}

static void an_mtu_needs_the_guests_right_to_change_it(void **state)
{
	(void)state;
	assert_false(cloned(VS_ADAPTER_SRIOV, 0, false)->mtu_change);
	assert_true(cloned(VS_ADAPTER_SRIOV, 9000, false)->mtu_change);
}

static void pvrdma_and_vmxnet3_reserve_nothing(void **state)
{
	(void)state;
	assert_int_equal(cloned(VS_ADAPTER_PVRDMA, 0, false)->kind,
			 VS_VC_NET_PVRDMA);
	assert_false(fake_get("vm1")->mem_locked);
	assert_int_equal(cloned(VS_ADAPTER_VMXNET3, 0, false)->kind,
			 VS_VC_NET_VMXNET3);
	assert_false(fake_get("vm1")->mem_locked);
}

static void latency_sensitivity_needs_all_cpu_and_memory(void **state)
{
	const struct fake_vm *vm = cloned(VS_ADAPTER_VMXNET3, 0, true);

	(void)state;
	assert_true(vm->latency_high);
	assert_true(vm->mem_locked);
	assert_int_equal(vm->cpu_reserved_mhz, 4 * 2000);
}

static void a_reconfigure_leaves_nothing_of_the_old_profile(void **state)
{
	const struct fake_vm *vm = cloned(VS_ADAPTER_SRIOV, 9000, true);

	(void)state;
	assert_true(vm->mem_locked && vm->latency_high &&
		    vm->cpu_reserved_mhz);
	assert_string_equal(vm->mtu, "9000");
	core_adapters()[0].type = VS_ADAPTER_VMXNET3;
	core_adapters()[0].mtu = 0;
	core_profiles()[0].latency_high = false;
	vs_profiles_changed(&vs_core);
	turns(2);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	vm = fake_get("vm1");
	assert_int_equal(vm->kind, VS_VC_NET_VMXNET3);
	assert_false(vm->mem_locked);
	assert_false(vm->latency_high);
	assert_int_equal(vm->cpu_reserved_mhz, 0);
	assert_string_equal(vm->mtu, "");
}

/* terraform-provider-vsphere#2133: NICs were identified by a guessed unit
 * number. slurm-vsphere identifies its NIC by the MAC address, whatever its key
 * and place. */
static void of_two_nics_ours_alone_is_taken_out(void **state)
{
	struct fake_vm *vm;

	(void)state;
	cloned(VS_ADAPTER_SRIOV, 9000, true);
	vm = fake_get("vm1");
	vm->key = 13007;
	vm->other_key = 13001;
	fake_show(vm);
	core_profiles()[0].memory_mb = 2048;
	vs_profiles_changed(&vs_core);
	turns(2);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	assert_int_equal(fake_get("vm1")->removed_key, 13007);
}

/* ---- where and when it is tried again --------------------------------- */

static const char *host_of_hold(void)
{
	const struct vs_claim *h = vs_ledger_get(core_ledger(), "vm1");

	return h ? h->host : "none";
}

static void a_host_that_failed_is_avoided_for_a_while(void **state)
{
	char first[VS_MOID_LEN];

	(void)state;
	begin(1, 2, 2, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turn();
	vs_strlcpy(first, host_of_hold(), sizeof(first));
	assert_true(fake_fail(FAKE_CLONE, VS_E_OTHER_HOST, "declared"));
	turns(20);
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
	assert_string_not_equal(host_of_hold(), first);
	assert_string_not_equal(host_of_hold(), "none");
	assert_non_null(vs_exclusion_get(&vs_core, first, NULL));
	now += VS_EXCLUDE_HOST_MS;
	turn();
	assert_null(vs_exclusion_get(&vs_core, first, NULL));
}

/* Milliseconds from a failure of this kind to the next try. */
static int64_t pause_after(enum fake_kind kind)
{
	int64_t from = now;

	assert_true(fake_fail(kind, VS_E_RETRY, "declared"));
	for (int i = 0; i < 400 && !fake_waiting(kind); i++) {
		ntold = 0;	/* it has no room for 40 s of words */
		turn();
		assert_null(heard(VS_REQUEST_FAIL, NULL));
	}
	assert_int_equal(fake_waiting(kind), 1);
	return now - from;
}

static void each_try_waits_twice_as_long_and_tries_are_bounded(void **state)
{
	int64_t last = 200;
	int tries = 0;

	(void)state;
	begin(1, 1, 2, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turn();
	for (; tries < VS_TRIES_MAX; tries++) {
		int64_t ms = pause_after(FAKE_CLONE);

		assert_true(ms >= last * 2 - 200 && ms <= last * 4);
		last = ms;
	}
	ntold = 0;
	assert_true(fake_fail(FAKE_CLONE, VS_E_RETRY, "declared"));
	turn();
	assert_non_null(heard(VS_REQUEST_FAIL, "vm1"));
	assert_string_equal(heard(VS_REQUEST_FAIL, "vm1")->text, "declared");
	turns(1000);
	assert_int_equal(fake_sent[FAKE_CLONE], VS_TRIES_MAX + 1);
}

static void a_prolog_that_waits_too_long_is_answered_with_no(void **state)
{
	int one;

	(void)state;
	begin(1, 1, 1, "warm");
	ready();
	one = id("vm1");
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	vs_job_wait(&vs_core, 7, 0, &one, 1);
	flags("vm1", BOOT);
	turn();
	now += (int64_t)core_conf()->provision_timeout_s * 1000 - 1000;
	turn();
	assert_null(heard(VS_REQUEST_PROLOG, NULL));
	now += 1000;
	turns(20);
	assert_non_null(heard(VS_REQUEST_PROLOG, NULL));
	assert_false(heard(VS_REQUEST_PROLOG, NULL)->ok);
	assert_null(vs_waits());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sriov_has_all_its_memory_reserved),
		cmocka_unit_test(an_mtu_needs_the_guests_right_to_change_it),
		cmocka_unit_test(pvrdma_and_vmxnet3_reserve_nothing),
		cmocka_unit_test(latency_sensitivity_needs_all_cpu_and_memory),
		cmocka_unit_test(a_reconfigure_leaves_nothing_of_the_old_profile),
		cmocka_unit_test(of_two_nics_ours_alone_is_taken_out),
		cmocka_unit_test(a_host_that_failed_is_avoided_for_a_while),
		cmocka_unit_test(each_try_waits_twice_as_long_and_tries_are_bounded),
		cmocka_unit_test(a_prolog_that_waits_too_long_is_answered_with_no),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
