/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan/adapter: the capability table. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "plan/adapter.h"

static void every_kind_has_a_name_and_a_hardware_version(void **state)
{
	enum vs_adapter_type back;

	(void)state;
	for (int i = 0; i < VS_ADAPTER_TYPES; i++) {
		const struct vs_adapter_kind *k = &vs_adapter_kinds[i];

		assert_non_null(k->name);
		assert_true(k->min_hw >= 7);
		assert_int_equal(vs_adapter_type_parse(k->name, &back, NULL),
				 0);
		assert_int_equal(back, i);
	}
}

static void a_vf_pins_the_vm_and_its_memory(void **state)
{
	(void)state;
	for (int i = 0; i < VS_ADAPTER_TYPES; i++) {
		const struct vs_adapter_kind *k = &vs_adapter_kinds[i];

		if (!k->takes_vf)
			continue;
		assert_true(k->full_memory);
		assert_false(k->vmotion || k->snapshot || k->suspend ||
			     k->hot_add || k->ha || k->drs_moves);
	}
	assert_true(vs_adapter_kinds[VS_ADAPTER_SRIOV].takes_vf);
}

/* VMware's table of what PVRDMA supports, and its studies */
static void pvrdma_moves_needs_a_dvs_and_takes_no_vf(void **state)
{
	const struct vs_adapter_kind *k = &vs_adapter_kinds[VS_ADAPTER_PVRDMA];

	(void)state;
	assert_true(k->rdma && k->needs_dvs && k->vmotion && k->drs_moves);
	assert_false(k->takes_vf || k->full_memory || k->hot_add);
	assert_int_equal(k->min_hw, 13);
}

static void vmxnet3_demands_nothing(void **state)
{
	const struct vs_adapter_kind *k = &vs_adapter_kinds[VS_ADAPTER_VMXNET3];

	(void)state;
	assert_false(k->takes_vf || k->full_memory || k->needs_dvs || k->rdma);
	assert_true(k->hot_add && k->vmotion && k->snapshot && k->ha);
}

static void a_type_is_read_in_any_case(void **state)
{
	enum vs_adapter_type t = VS_ADAPTER_VMXNET3;

	(void)state;
	assert_int_equal(vs_adapter_type_parse("SRIOV", &t, NULL), 0);
	assert_int_equal(t, VS_ADAPTER_SRIOV);
}

static void an_unknown_type_is_refused_with_the_known_ones(void **state)
{
	enum vs_adapter_type t = VS_ADAPTER_PVRDMA;
	struct vs_err err;

	(void)state;
	assert_int_equal(vs_adapter_type_parse("sriovx", &t, &err), -1);
	assert_int_equal(t, VS_ADAPTER_PVRDMA);
	assert_int_equal(err.code, VS_E_CONFIG);
	assert_non_null(strstr(err.text, "\"sriovx\""));
	assert_non_null(strstr(err.text, "vmxnet3, pvrdma, sriov"));
	assert_int_equal(vs_adapter_type_parse("", &t, NULL), -1);
	assert_int_equal(vs_adapter_type_parse(NULL, &t, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_has_a_name_and_a_hardware_version),
		cmocka_unit_test(a_vf_pins_the_vm_and_its_memory),
		cmocka_unit_test(pvrdma_moves_needs_a_dvs_and_takes_no_vf),
		cmocka_unit_test(vmxnet3_demands_nothing),
		cmocka_unit_test(a_type_is_read_in_any_case),
		cmocka_unit_test(
			an_unknown_type_is_refused_with_the_known_ones),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("adapter", tests, NULL, NULL);
}
