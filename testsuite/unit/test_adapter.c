/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan/devices/adapter_type: the capability table. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "plan/devices/adapter_type.h"

static const struct vs_adapter_type_info *named(const char *name)
{
	for (int i = 0; i < VS_ADAPTER_TYPES; i++)
		if (!strcmp(vs_adapter_kinds[i].name, name))
			return &vs_adapter_kinds[i];
	fail_msg("no type %s", name);
	return NULL;
}

static void every_kind_has_a_name_and_a_hardware_version(void **state)
{
	enum vs_adapter_type back;

	(void)state;
	for (int i = 0; i < VS_ADAPTER_TYPES; i++) {
		const struct vs_adapter_type_info *k = &vs_adapter_kinds[i];

		assert_non_null(k->name);
		assert_true(k->min_hw >= 7);
		assert_true(k->since >= VS_RELEASE(4, 0, 0));
		if (!k->offered)
			continue;
		assert_true(k->nic != VS_NIC_OTHER);
		assert_int_equal(vs_adapter_type_parse(k->name, &back, NULL),
				 0);
		assert_int_equal(back, i);
	}
}

/* "yes no 8.0U2+ ...", in the order of the operations. */
static void row_is(const char *name, const char *words)
{
	const struct vs_adapter_type_info *k = named(name);
	char all[VS_OPERATIONS * VS_RELEASE_LEN] = "", one[VS_RELEASE_LEN];
	size_t len = 0;

	for (int d = 0; d < VS_OPERATIONS; d++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s",
					d ? " " : "",
					vs_can_words(&k->can[d], one));
	assert_string_equal(all, words);
}

/* vMotion, snapshot, HA, DRS placing, DRS moving, hot-add, instant clone: from
 * VMware's tables of what each type supports. */
static void the_table_says_what_vmware_says(void **state)
{
	(void)state;
	row_is("vmxnet3", "yes yes yes yes yes yes yes");
	row_is("pvrdma", "yes yes yes yes yes no no");
	row_is("sriov", "no no 8.0U2+ 8.0U2+ no no no");
	row_is("directpath", "no no no no no no no");
	row_is("dynamic-directpath", "no no yes yes no no no");
	row_is("dvx", "vendor vendor yes yes vendor no no");
	row_is("vgpu", "yes vendor yes yes no no no");
}

static void a_release_before_it_or_a_vendors_driver_is_no_yes(void **state)
{
	(void)state;
	assert_false(vs_adapter_can(VS_ADAPTER_SRIOV, VS_OPERATION_DRS_PLACE,
				    VS_RELEASE(8, 0, 1)));
	assert_true(vs_adapter_can(VS_ADAPTER_SRIOV, VS_OPERATION_DRS_PLACE,
				   VS_RELEASE(8, 0, 2)));
	assert_true(
		vs_adapter_can(VS_ADAPTER_SRIOV, VS_OPERATION_DRS_PLACE, 0));
	assert_false(vs_adapter_can(VS_ADAPTER_SRIOV, VS_OPERATION_VMOTION, 0));
	assert_false(vs_adapter_can(VS_ADAPTER_DVX, VS_OPERATION_VMOTION,
				    VS_RELEASE(9, 0, 0)));
	assert_false(vs_adapter_can(VS_ADAPTER_VGPU, VS_OPERATION_VMOTION,
				    VS_RELEASE(6, 7, 0)));
	assert_true(vs_adapter_can(VS_ADAPTER_PVRDMA, VS_OPERATION_VMOTION,
				   VS_RELEASE(6, 5, 0)));
}

/* What is counted pins its VM's memory, and DRS never moves it by itself
 * unless the vendor's driver can. */
static void what_is_counted_has_its_memory_reserved(void **state)
{
	(void)state;
	for (int i = 0; i < VS_ADAPTER_TYPES; i++) {
		const struct vs_adapter_type_info *k = &vs_adapter_kinds[i];

		assert_int_equal(k->takes_vf, k->full_memory);
		assert_false(k->takes_vf &&
			     vs_adapter_can(i, VS_OPERATION_DRS_MOVE, 0));
		assert_false(k->takes_vf &&
			     vs_adapter_can(i, VS_OPERATION_HOT_ADD, 0));
		assert_false(k->needs_dvs && !k->network);
	}
	assert_true(named("sriov")->takes_vf && named("sriov")->network);
	assert_false(named("pvrdma")->takes_vf || named("vmxnet3")->takes_vf);
	assert_true(named("pvrdma")->needs_dvs && named("pvrdma")->rdma);
	assert_int_equal(named("pvrdma")->min_hw, 13);
	assert_int_equal(named("dynamic-directpath")->min_hw, 17);
	assert_int_equal(named("dvx")->min_hw, 20);
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
		cmocka_unit_test(the_table_says_what_vmware_says),
		cmocka_unit_test(
			a_release_before_it_or_a_vendors_driver_is_no_yes),
		cmocka_unit_test(what_is_counted_has_its_memory_reserved),
		cmocka_unit_test(a_type_is_read_in_any_case),
		cmocka_unit_test(
			an_unknown_type_is_refused_with_the_known_ones),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("adapter", tests, NULL, NULL);
}
