/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan/allocation/ledger: what the NICs of VMs take, and when that is
 * unknown. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "plan_world.h"
#include "util/mem.h"

static struct world w;
static struct vs_host *esx01;

/* One host with two PFs of 8 VFs on one switch. */
static int setup(void **state)
{
	(void)state;
	w_init(&w);
	esx01 = w_host(&w, "esx01");
	w_pf(esx01, W_PF0, 8);
	w_pf(esx01, W_PF1, 8);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	w_clear(&w);
	return 0;
}

static struct vs_pf_use use_of(const char *pci)
{
	struct vs_pf_use use;

	vs_ledger_pf_use(&w.ledger, &w.inv, esx01, vs_host_pf(esx01, pci),
			 W_FOLDER, W_CLUSTER_ID, &use);
	return use;
}

#define assert_free(on_pf0, on_pf1) do {				\
	assert_int_equal(w_free(&w, "esx01", W_PF0), on_pf0);		\
	assert_int_equal(w_free(&w, "esx01", W_PF1), on_pf1);		\
} while (0)

/* ---- NICs -------------------------------------------------------------- */

static void a_powered_on_vms_nic_takes_a_vf_whoever_owns_it(void **state)
{
	struct vs_vm *ours = w_vm_on(&w, "vm-1", "esx01", W_PF0);
	struct vs_vm *copy = w_vm_on(&w, "vm-2", "esx01", W_PF0);
	struct vs_pf_use u;

	(void)state;
	w_vm_on(&w, "vm-3", "esx01", W_PF0);
	w_ours(&w, ours);
	w_ours(&w, copy);
	copy->uuid[0] ^= 1;
	u = use_of(W_PF0);
	assert_int_equal(u.total, 8);
	assert_int_equal(u.ours, 1);
	assert_int_equal(u.suspect, 1);
	assert_int_equal(u.foreign, 1);
	assert_int_equal(u.held, 0);
	assert_int_equal(u.free, 5);
	assert_false(u.unknown);
	assert_free(5, 8);
}

static void another_clusters_nic_counts_as_foreign(void **state)
{
	struct vs_vm *vm = w_vm_on(&w, "vm-1", "esx01", W_PF0);
	struct vs_pf_use u;

	(void)state;
	w_ours(&w, vm);
	vs_ledger_pf_use(&w.ledger, &w.inv, esx01, &esx01->pfs[0], W_FOLDER,
			 "another1", &u);
	assert_int_equal(u.foreign, 1);
	assert_int_equal(u.ours, 0);
}

static void a_vm_that_is_off_or_suspended_takes_none(void **state)
{
	struct vs_vm *vm = w_vm_on(&w, "vm-1", "esx01", W_PF0);

	(void)state;
	vm->power = VS_POWER_OFF;
	assert_free(8, 8);
	vm->power = VS_POWER_SUSPENDED;
	assert_free(8, 8);
}

static void an_unresolved_automatic_nic_counts_on_its_switch(void **state)
{
	struct vs_vm *vm = w_vm_on(&w, "vm-1", "esx01", "");

	(void)state;
	vm->nics[0].automatic = true;
	assert_free(7, 7);
	vs_strlcpy(esx01->pfs[1].switch_uuid, "another", VS_LABEL_LEN);
	assert_free(7, 8);
}

static void a_nic_of_an_unknown_switch_counts_everywhere(void **state)
{
	struct vs_vm *vm = w_vm_on(&w, "vm-1", "esx01", "");

	(void)state;
	vs_strlcpy(vm->nics[0].switch_uuid, "nowhere", VS_LABEL_LEN);
	assert_free(7, 7);
	vm->nics[0].switch_uuid[0] = '\0';
	esx01->pfs[0].switch_uuid[0] = '\0';
	assert_free(7, 7);
}

static void a_nic_on_a_pf_that_vanished_counts_on_its_switch(void **state)
{
	(void)state;
	w_vm_on(&w, "vm-1", "esx01", "0000:99:00.0");
	assert_free(7, 7);
}

static void a_raw_vf_counts_on_the_pfs_of_its_bus(void **state)
{
	struct vs_vm *vm = w_vm(&w, "vm-1", "x", "esx01");

	(void)state;
	vm->power = VS_POWER_ON;
	w_nic(vm, VS_NIC_PCI_FIXED, "0000:3b:01.4");
	assert_free(7, 8);
	w_nic(vm, VS_NIC_PCI_FIXED, "0000:5e:00.7");
	assert_free(7, 7);
	w_nic(vm, VS_NIC_PCI_FIXED, "0000:d8:00.0");	/* a GPU */
	assert_free(7, 7);
	w_nic(vm, VS_NIC_PCI_FIXED, "");		/* not told */
	assert_free(6, 6);
}

static void a_dynamic_device_counts_everywhere(void **state)
{
	struct vs_vm *vm = w_vm(&w, "vm-1", "x", "esx01");

	(void)state;
	vm->power = VS_POWER_ON;
	w_nic(vm, VS_NIC_PCI_DYNAMIC, "");
	assert_free(7, 7);
}

static void other_nics_take_no_vf(void **state)
{
	struct vs_vm *vm = w_vm(&w, "vm-1", "x", "esx01");

	(void)state;
	vm->power = VS_POWER_ON;
	w_nic(vm, VS_NIC_VMXNET3, "");
	w_nic(vm, VS_NIC_ETHERNET, "");
	w_nic(vm, VS_NIC_PVRDMA, "");
	w_nic(vm, VS_NIC_OTHER, "");
	assert_free(8, 8);
}

static void each_nic_of_a_vm_takes_its_own_vf(void **state)
{
	struct vs_vm *vm = w_vm_on(&w, "vm-1", "esx01", W_PF0);

	(void)state;
	w_nic(vm, VS_NIC_SRIOV, W_PF0);
	w_nic(vm, VS_NIC_SRIOV, W_PF1);
	assert_free(6, 7);
}

static void over_commit_is_shown_and_not_hidden(void **state)
{
	(void)state;
	esx01->pfs[0].vfs = 1;		/* max_vfs shrank */
	w_vm_on(&w, "vm-1", "esx01", W_PF0);
	w_vm_on(&w, "vm-2", "esx01", W_PF0);
	w_hold(&w, "n1", "esx01", W_PF0, VS_CLAIM_RESERVED);
	assert_int_equal(use_of(W_PF0).free, -2);
}

static void a_pf_of_another_host_has_no_use_here(void **state)
{
	struct vs_pf other = { .pci = "0000:ff:00.0", .vfs = 4 };
	struct vs_pf_use u;

	(void)state;
	vs_ledger_pf_use(&w.ledger, &w.inv, esx01, &other, W_FOLDER,
			 W_CLUSTER_ID, &u);
	assert_int_equal(u.total, 0);
	assert_int_equal(u.free, 0);
}

/* ---- unknown ------------------------------------------------------------ */

static void a_vm_that_cannot_be_read_makes_its_hosts_vfs_unknown(void **state)
{
	struct vs_vm *vm = w_vm_on(&w, "vm-1", "esx01", W_PF0);

	(void)state;
	assert_false(use_of(W_PF1).unknown);
	vm->readable = false;
	assert_true(use_of(W_PF0).unknown);
	assert_true(use_of(W_PF1).unknown);
	vm->power = VS_POWER_UNKNOWN;
	assert_true(use_of(W_PF1).unknown);
	vm->readable = true;	/* a power state that we don't know */
	assert_true(use_of(W_PF1).unknown);
}

static void an_unreadable_vm_that_is_off_hides_nothing(void **state)
{
	struct vs_vm *vm = w_vm_on(&w, "vm-1", "esx01", W_PF0);

	(void)state;
	vm->readable = false;
	vm->power = VS_POWER_OFF;
	assert_false(use_of(W_PF0).unknown);
	vm->power = VS_POWER_SUSPENDED;
	assert_false(use_of(W_PF0).unknown);
	vm->power = VS_POWER_UNKNOWN;
	vm->is_template = true;		/* a template is never on */
	assert_false(use_of(W_PF0).unknown);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_powered_on_vms_nic_takes_a_vf_whoever_owns_it),
		TEST(another_clusters_nic_counts_as_foreign),
		TEST(a_vm_that_is_off_or_suspended_takes_none),
		TEST(an_unresolved_automatic_nic_counts_on_its_switch),
		TEST(a_nic_of_an_unknown_switch_counts_everywhere),
		TEST(a_nic_on_a_pf_that_vanished_counts_on_its_switch),
		TEST(a_raw_vf_counts_on_the_pfs_of_its_bus),
		TEST(a_dynamic_device_counts_everywhere),
		TEST(other_nics_take_no_vf),
		TEST(each_nic_of_a_vm_takes_its_own_vf),
		TEST(over_commit_is_shown_and_not_hidden),
		TEST(a_pf_of_another_host_has_no_use_here),
		TEST(a_vm_that_cannot_be_read_makes_its_hosts_vfs_unknown),
		TEST(an_unreadable_vm_that_is_off_hides_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("nics", tests, NULL, NULL);
}
