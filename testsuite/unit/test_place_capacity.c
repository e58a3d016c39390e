/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan/placement: the reasons it gives, and how many more would fit. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "plan_world.h"
#include "util/mem.h"

static struct world w;
static struct vs_host *esx01;
static struct vs_pf *pf;
static struct vs_place_node node;

/* One host with one PF of 8 VFs; one sriov node to place. */
static int setup(void **state)
{
	(void)state;
	w_init(&w);
	esx01 = w_host(&w, "esx01");
	pf = w_pf(esx01, W_PF0, 8);
	node = (struct vs_place_node) {
		.node = "n1", .profile = &w.p_roce, .net = &w.net,
	};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	w_clear(&w);
	return 0;
}

/* ---- the reasons -------------------------------------------------------- */

static void a_shortage_says_what_is_needed_and_free_and_why(void **state)
{
	struct vs_place_node gang[4];
	struct vs_host *esx02 = w_host(&w, "esx02");
	struct vs_err err;

	(void)state;
	pf->vfs = 3;
	esx02->maintenance = true;
	for (int i = 0; i < 4; i++)
		gang[i] = node;
	gang[0].host = esx02;		/* what stood there stays */
	assert_int_equal(vs_place(&w.env, gang, 4, &err), -1);
	assert_string_equal(err.text, "needs 4 sriov-roce VFs, 3 free (esx01: "
			    "no free VF; esx02: in or entering maintenance)");
	assert_ptr_equal(gang[0].host, esx02);
	assert_null(gang[1].host);
}

static void a_mixed_gangs_shortage_names_the_one_that_lacks(void **state)
{
	struct vs_place_node gang[3] = { node, node, node };
	struct vs_err err;

	(void)state;
	gang[1].profile = &w.p_eth;
	pf->vfs = 1;
	assert_int_equal(vs_place(&w.env, gang, 3, &err), -1);
	assert_string_equal(err.text, "needs 2 sriov-roce VFs beside 1 other "
			    "VM, 1 free (esx01: no free VF)");
	esx01->memory_mb = 10;
	gang[0].profile = gang[2].profile = &w.p_eth;
	assert_int_equal(vs_place(&w.env, gang, 3, &err), -1);
	assert_string_equal(err.text, "needs 3 vmxnet3 VMs, 0 free (esx01: "
			    "too little memory left)");
}

static void many_hosts_are_told_by_their_number(void **state)
{
	struct vs_err err;
	char name[16];

	(void)state;
	pf->vfs = 0;
	for (int i = 2; i < 7; i++) {
		snprintf(name, sizeof(name), "esx%02d", i);
		w_pf(w_host(&w, name), W_PF0, 0);
	}
	assert_int_equal(vs_place(&w.env, &node, 1, &err), -1);
	assert_string_equal(err.text, "needs 1 sriov-roce VF, 0 free (esx01: "
			    "no free VF; esx02: no free VF; esx03: no free "
			    "VF; esx04: no free VF; esx05: no free VF; "
			    "esx06: no free VF)");
	for (int i = 7; i < 100; i++) {
		struct vs_host *h;

		snprintf(name, sizeof(name), "esx%02d", i);
		h = w_host(&w, name);
		h->standby = i > 50;
		w_pf(h, W_PF0, 0);
	}
	assert_int_equal(vs_place(&w.env, &node, 1, &err), -1);
	assert_string_equal(err.text, "needs 1 sriov-roce VF, 0 free (49 "
			    "hosts: in or entering standby, or powered off; "
			    "50 hosts: no free VF)");
}

static void without_hosts_that_is_said(void **state)
{
	struct vs_err err;

	(void)state;
	vs_inventory_remove_host(&w.inv, esx01->moid);
	assert_int_equal(vs_place(&w.env, &node, 1, &err), -1);
	assert_string_equal(err.text, "needs 1 sriov-roce VF, 0 free (no host "
			    "is known)");
	assert_int_equal(w_count(&w.env, &node, 9), 0);
}

static void a_host_without_a_name_is_told_by_its_moid(void **state)
{
	struct vs_err err;

	(void)state;
	esx01->name[0] = '\0';
	pf->vfs = 0;
	assert_int_equal(vs_place(&w.env, &node, 1, &err), -1);
	assert_non_null(strstr(err.text, "(host-esx01: no free VF)"));
}

static void long_names_do_not_break_the_text(void **state)
{
	char name[VS_LABEL_LEN];
	struct vs_err err;

	(void)state;
	esx01->connected = false;
	for (int i = 0; i < 5; i++) {
		memset(name, 'a' + i, sizeof(name) - 1);
		name[100] = '\0';
		w_host(&w, name)->standby = true;
	}
	assert_int_equal(vs_place(&w.env, &node, 1, &err), -1);
	assert_true(strlen(err.text) < sizeof(err.text));
	assert_memory_equal(err.text, "needs 1 sriov-roce VF, 0 free (aaa", 34);
}

static void every_refusal_has_a_text_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < VS_REFUSALS; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(vs_refusal_text(i),
						vs_refusal_text(k));
	assert_string_equal(vs_refusal_text(VS_REFUSE_VF), "no free VF");
	assert_string_equal(vs_refusal_text(VS_REFUSALS), "?");
}

/* ---- how many ----------------------------------------------------------- */

static const char *avoid_host, *avoid_pci;

static bool avoid(void *arg, const struct vs_host *h, const struct vs_pf *p,
		  char *why, size_t size)
{
	bool yes = p ? avoid_pci && !strcmp(p->pci, avoid_pci) :
		avoid_host && !strcmp(h->name, avoid_host);

	assert_ptr_equal(arg, &w);
	if (yes)
		snprintf(why, size, "power-on failed at 12:00");
	return yes;
}

static void room_is_bounded_by_the_scarcest(void **state)
{
	int64_t each = 8192 + vs_overhead_mb(4, 8192);

	(void)state;
	assert_int_equal(w_count(&w.env, &node, 100), 8);
	assert_int_equal(w_count(&w.env, &node, 5), 5);
	esx01->memory_mb = 3 * each + each / 2;
	assert_int_equal(w_count(&w.env, &node, 100), 3);
	w.p_roce.latency_high = true;
	esx01->cores = 9;
	assert_int_equal(w_count(&w.env, &node, 100), 2);
	w_host(&w, "esx02");			/* no PF */
	assert_int_equal(w_count(&w.env, &node, 100), 2);
	w_pf(w_host(&w, "esx03"), W_PF1, 4);
	assert_int_equal(w_count(&w.env, &node, 100), 6);
	assert_int_equal(w_count(&w.env, &node, 3), 3);
}

static void an_over_committed_host_has_no_room(void **state)
{
	(void)state;
	w_vm_on(&w, "vm-1", "esx01", W_PF0)->mem_reserved_mb = 1 << 30;
	assert_int_equal(w_count(&w.env, &node, 100), 0);
	w.p_roce.latency_high = true;
	w_vm_on(&w, "vm-2", "esx01", W_PF0)->cpu_reserved_mhz = 1 << 30;
	assert_int_equal(w_count(&w.env, &node, 100), 0);
}

static void over_committed_cpu_leaves_no_room_for_a_reservation(void **state)
{
	(void)state;
	w_vm_on(&w, "vm-1", "esx01", W_PF0)->cpu_reserved_mhz = 1 << 30;
	assert_true(w_count(&w.env, &node, 100) > 0);
	w.p_roce.latency_high = true;
	assert_int_equal(w_count(&w.env, &node, 100), 0);
}

static void capacity_looks_through_whatever_is_only_now(void **state)
{
	(void)state;
	w.env.avoid = avoid;
	w.env.arg = &w;
	avoid_host = "esx01";
	avoid_pci = W_PF0;
	esx01->connected = false;
	esx01->maintenance = true;
	pf->link_up = false;
	w_vm_on(&w, "vm-1", "esx01", W_PF0)->readable = false;
	w_vm_on(&w, "vm-2", "esx01", W_PF0)->mem_reserved_mb = 1 << 30;
	w_hold(&w, "n2", "esx01", W_PF0, VS_CLAIM_RESERVED);
	assert_int_equal(w_count(&w.env, &node, 100), 0);
	assert_int_equal(vs_place_capacity(&w.env, &node, 100), 8);
	assert_int_equal(vs_place_capacity(&w.env, &node, 7), 7);
}

static void capacity_knows_what_can_never_be(void **state)
{
	const char *list[] = { "domain-c2", NULL };

	(void)state;
	esx01->max_hw = 9;
	assert_int_equal(vs_place_capacity(&w.env, &node, 9), 0);
	esx01->max_hw = 21;
	w.env.clusters = list;
	assert_int_equal(vs_place_capacity(&w.env, &node, 9), 0);
	w.env.clusters = NULL;
	w.env.store = "datastore-2";
	assert_int_equal(vs_place_capacity(&w.env, &node, 9), 0);
	w.env.store = W_STORE;
	assert_int_equal(vs_place_capacity(&w.env, &node, 9), 8);
	vs_strlcpy(w.roce.pf, W_PF1, VS_PCI_LEN);
	assert_int_equal(vs_place_capacity(&w.env, &node, 9), 0);
	w.roce.pf[0] = '\0';
	w.p_roce.memory_mb = 100 * 1024;
	assert_int_equal(vs_place_capacity(&w.env, &node, 9), 2);
	w.p_roce.memory_mb = 300 * 1024;
	assert_int_equal(vs_place_capacity(&w.env, &node, 9), 0);
	w.p_roce.memory_mb = 1024;
	w.p_roce.latency_high = true;
	w.p_roce.vcpus = 24;
	assert_int_equal(vs_place_capacity(&w.env, &node, 9), 2);
	w.p_roce.vcpus = 49;
	assert_int_equal(vs_place_capacity(&w.env, &node, 9), 0);
}

static void what_is_not_delivered_yet_is_no_never(void **state)
{
	struct vs_host *bare = vs_inventory_host(&w.inv, "host-new");

	(void)state;
	w.env.store = W_STORE;
	assert_int_equal(vs_place_capacity(&w.env, &node, 1000), 1000);
	bare->pfs_known = true;			/* it has none */
	assert_int_equal(vs_place_capacity(&w.env, &node, 1000), 8);
	node.profile = &w.p_eth;
	w.p_eth.latency_high = true;
	assert_int_equal(vs_place_capacity(&w.env, &node, 1000), 1000);
	bare->core_mhz = 2000;			/* its cores are still due */
	assert_int_equal(vs_place_capacity(&w.env, &node, 1000), 1000);
	bare->cores = 8;
	bare->memory_mb = 1000000;
	assert_true(vs_place_capacity(&w.env, &node, 1000) < 100);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_shortage_says_what_is_needed_and_free_and_why),
		TEST(a_mixed_gangs_shortage_names_the_one_that_lacks),
		TEST(many_hosts_are_told_by_their_number),
		TEST(without_hosts_that_is_said),
		TEST(a_host_without_a_name_is_told_by_its_moid),
		TEST(long_names_do_not_break_the_text),
		TEST(every_refusal_has_a_text_of_its_own),
		TEST(room_is_bounded_by_the_scarcest),
		TEST(an_over_committed_host_has_no_room),
		TEST(over_committed_cpu_leaves_no_room_for_a_reservation),
		TEST(capacity_looks_through_whatever_is_only_now),
		TEST(capacity_knows_what_can_never_be),
		TEST(what_is_not_delivered_yet_is_no_never),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("room", tests, NULL, NULL);
}
