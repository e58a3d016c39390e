/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan/placement: of a host's PFs the one whose NUMA node can hold the VM. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "plan_stage.h"

#define GANG 4

static struct vs_host *host(int vfs)
{
	struct vs_host *h = w_host(&w, "esx01");

	w_pf(h, W_PF0, vfs);
	return h;
}

static void the_pf_of_a_numa_node_that_holds_the_vm_is_taken(void **state)
{
	struct vs_host *h = host(8);
	struct vs_vm *vm;

	(void)state;
	w_pf(h, W_PF1, 16);
	h->numa_nodes = 2;
	h->pfs[0].numa = 0;
	h->pfs[1].numa = 1;
	place(1);
	assert_string_equal(gang[0].pfs[0]->pci, W_PF1);
	vm = w_vm_on(&w, "vm-1", "esx01", W_PF1);
	vm->memory_mb = 128 * 1024 - 8192 - vs_overhead_mb(4, 8192);
	place(1);			/* just */
	assert_string_equal(gang[0].pfs[0]->pci, W_PF1);
	place(2);			/* the gang's own count */
	assert_string_equal(gang[1].pfs[0]->pci, W_PF0);
	vm->memory_mb++;
	place(1);
	assert_string_equal(gang[0].pfs[0]->pci, W_PF0);
	h->numa_nodes = 1;
	place(1);
	assert_string_equal(gang[0].pfs[0]->pci, W_PF1);
	h->numa_nodes = 2;		/* no node holds it: free VFs decide */
	w.p_roce.memory_mb = 130 * 1024;
	h->memory_mb = 300 * 1024;
	vs_inventory_remove_vm(&w.inv, "vm-1");
	h->memory_mb = 250 * 1024;
	place(1);
	assert_string_equal(gang[0].pfs[0]->pci, W_PF1);
}

static void a_numa_node_needs_a_core_for_each_vcpu(void **state)
{
	struct vs_host *h = host(8);
	struct vs_claim *hold;

	(void)state;
	w_pf(h, W_PF1, 16);
	h->numa_nodes = 2;
	h->cores = 16;
	h->pfs[1].numa = 1;
	h->pfs[0].numa = 0;
	place(3);			/* four each, eight to a node */
	assert_string_equal(gang[0].pfs[0]->pci, W_PF1);
	assert_string_equal(gang[1].pfs[0]->pci, W_PF1);
	assert_string_equal(gang[2].pfs[0]->pci, W_PF0);
	hold = w_hold(&w, "x1", "esx01", W_PF1, VS_CLAIM_RESERVED);
	hold->vcpus = 4;
	w_vm_on(&w, "vm-1", "esx01", W_PF0);
	place(3);			/* no node holds the third */
	assert_string_equal(gang[0].pfs[0]->pci, W_PF1);
	assert_string_equal(gang[1].pfs[0]->pci, W_PF0);
	assert_string_equal(gang[2].pfs[0]->pci, W_PF1);
	h->pfs[1].numa_cores = 7;	/* what is known of it counts */
	place(1);
	assert_string_equal(gang[0].pfs[0]->pci, W_PF0);
	h->pfs[0].numa_mb = 8 * 1024;
	place(1);
	assert_string_equal(gang[0].pfs[0]->pci, W_PF1);
}

/* A host of two NUMA nodes with twelve cores each. The second node has two PFs. */
static struct vs_host *two_pfs_on_a_node(void)
{
	struct vs_host *h = host(8);

	w_pf(h, W_PF1, 8);
	w_pf(h, "0000:ca:00.0", 4);
	h->numa_nodes = 2;
	h->cores = 24;
	h->pfs[0].numa = h->pfs[1].numa = 1;
	h->pfs[2].numa = 0;
	return h;
}

/* However many NICs a VM has on a node, it is there once; likewise a hold, and
 * what a VM that is on already stands for. */
static void a_vm_counts_once_on_a_numa_node(void **state)
{
	struct vs_host *h = two_pfs_on_a_node();
	struct vs_claim *hold;
	struct vs_vm *vm;

	(void)state;
	vm = w_vm_on(&w, "vm-1", "esx01", W_PF0);	/* of 4 vCPUs */
	vs_strlcpy(w_nic(vm, VS_NIC_SRIOV, "")->pci, W_PF1, VS_PCI_LEN);
	vs_strlcpy(w_nic(vm, VS_NIC_SRIOV, "")->pci, W_PF1, VS_PCI_LEN);
	vs_host_changed(&w.inv, h);
	place(2);			/* 4 of 12 cores are taken there */
	assert_int_equal(gang[0].pfs[0]->numa, 1);
	assert_int_equal(gang[1].pfs[0]->numa, 1);
	hold = w_hold(&w, "x1", "esx01", W_PF0, VS_CLAIM_RESERVED);
	hold->vcpus = 4;
	hold->vfs[1] = hold->vfs[0];
	vs_strlcpy(hold->vfs[1].pf, W_PF1, VS_PCI_LEN);
	hold->nvfs = 2;
	vs_host_changed(&w.inv, h);
	place(1);
	assert_int_equal(gang[0].pfs[0]->numa, 1);
	/* with a NIC more than that VM has: it is the same VM */
	vs_ledger_set_vm(&w.ledger, hold, "vm-1");
	hold->vfs[2] = hold->vfs[0];
	hold->nvfs = 3;
	vs_host_changed(&w.inv, h);
	place(2);
	assert_int_equal(gang[1].pfs[0]->numa, 1);
}

/* The node of a VM's only NIC has that VM once, whatever else it is promised there. */
static void the_node_of_a_vms_only_nic_has_it_once(void **state)
{
	struct vs_host *h = two_pfs_on_a_node();
	struct vs_claim *hold;

	(void)state;
	w_vm_on(&w, "vm-1", "esx01", W_PF0);
	hold = w_hold(&w, "x1", "esx01", W_PF0, VS_CLAIM_RESERVED);
	hold->vcpus = 4;
	hold->vfs[1] = hold->vfs[0];
	vs_strlcpy(hold->vfs[1].pf, W_PF1, VS_PCI_LEN);
	hold->nvfs = 2;
	vs_ledger_set_vm(&w.ledger, hold, "vm-1");
	vs_host_changed(&w.inv, h);
	place(2);			/* 4 of 12 cores are taken there, not 8 */
	assert_int_equal(gang[0].pfs[0]->numa, 1);
	assert_int_equal(gang[1].pfs[0]->numa, 1);
}

/* NumaAffinity=pf: what no node of a PF can ever hold goes nowhere. */
static void a_vm_that_is_bound_goes_where_a_pfs_node_holds_it(void **state)
{
	struct vs_host *h = host(8);
	struct vs_free_capacity made = { 0 };
	struct vs_err err = { 0 };

	(void)state;
	w_pf(h, W_PF1, 16);
	h->numa_nodes = 2;
	h->cores = 16;
	h->pfs[0].numa = 0;
	h->pfs[1].numa = 1;
	h->pfs[1].numa_cores = 2;
	w.p_roce.vcpus = 8;
	w.p_roce.hw.numa_pf = true;
	vs_host_changed(&w.inv, h);
	place(1);			/* fewer VFs, but cores */
	assert_string_equal(gang[0].pfs[0]->pci, W_PF0);
	assert_int_equal(vs_place_capacity(&w.env, gang, 99), 8);
	vs_free_capacity_update(&made, &w.ledger, &w.inv, W_FOLDER,
				W_CLUSTER_ID);
	w.env.sums = &made;		/* which keeps what hosts could */
	place(1);
	w.p_roce.vcpus = 9;
	assert_int_equal(vs_place(&w.env, gang, 1, &err), -1);
	w.env.sums = NULL;
	vs_free_capacity_clear(&made);
	assert_int_equal(vs_place(&w.env, gang, 1, &err), -1);
	assert_non_null(strstr(err.text,
			       "no PF on a NUMA node that holds the VM"));
	assert_int_equal(vs_place_capacity(&w.env, gang, 99), 0);
	h->pfs[0].numa = h->pfs[1].numa = -1;	/* unknown */
	vs_host_changed(&w.inv, h);
	place(1);
	h->pfs[0].numa = 0;
	h->pfs[1].numa = 1;
	h->numa_nodes = 1;			/* it is the host */
	vs_host_changed(&w.inv, h);
	place(1);
	h->numa_nodes = 2;
	w.p_roce.vcpus = 8;
	w.p_roce.memory_mb = 200 * 1024;
	vs_host_changed(&w.inv, h);
	assert_int_equal(vs_place(&w.env, gang, 1, &err), -1);
}

/* What one VM of the profile takes: 4 vCPUs, 8 GB and its overhead. */
#define NEED (8192 + 64 + 8 * 4 + 82)
#define HALF (NEED / 2)

struct pf_node {
	int numa, mb, cores;
};

/* NumaAffinity=pf on a host of two PFs that reach the network, and of a large
 * third one that does not. */
struct bound_case {
	int nics;
	struct pf_node of[2];
	bool fits;
};

static const struct bound_case bound_cases[] = {
	/* of one NIC: the PF's own node holds it, just; or it does not */
	{ 1, { { 0, NEED, 4 }, { 1, 1, 1 } }, true },
	{ 1, { { 0, NEED - 1, 4 }, { 1, NEED, 3 } }, false },
	/* of two: what both nodes have, in either order */
	{ 2, { { 0, HALF, 2 }, { 1, NEED - HALF, 2 } }, true },
	{ 2, { { 1, HALF, 2 }, { 0, NEED - HALF, 2 } }, true },
	{ 2, { { 0, HALF, 2 }, { 1, NEED - HALF - 1, 2 } }, false },
	{ 2, { { 0, HALF, 2 }, { 1, NEED - HALF, 1 } }, false },
	/* a node that both are on is there once */
	{ 2, { { 0, NEED, 4 }, { 0, NEED, 4 } }, true },
	{ 2, { { 0, NEED - 1, 4 }, { 0, NEED - 1, 4 } }, false },
	{ 2, { { 1, NEED - 1, 4 }, { 1, NEED - 1, 4 } }, false },
	{ 2, { { 1, NEED, 3 }, { 1, NEED, 3 } }, false },
	/* a node that isn't known, or beyond 63, refuses no VM */
	{ 1, { { -1, 1, 1 }, { 0, 1, 1 } }, true },
	{ 2, { { 0, 1, 1 }, { -1, 1, 1 } }, true },
	{ 1, { { 63, 1, 1 }, { 0, 1, 1 } }, false },
	{ 2, { { 63, HALF, 2 }, { 0, NEED - HALF - 1, 2 } }, false },
	{ 1, { { 64, 1, 1 }, { 0, 1, 1 } }, true },
	{ 2, { { 0, 1, 1 }, { 64, 1, 1 } }, true },
};

static void bound_on(struct vs_host *h, const struct bound_case *c)
{
	w.roce.per_node = c->nics;
	w.roce.rails = true;
	for (int i = 0; i < 2; i++) {
		h->pfs[i].numa = c->of[i].numa;
		h->pfs[i].numa_mb = c->of[i].mb;
		h->pfs[i].numa_cores = c->of[i].cores;
	}
	vs_host_changed(&w.inv, h);
}

static void a_bound_vm_needs_nodes_that_hold_it(void **state)
{
	struct vs_host *h = host(8);
	struct vs_err err = { 0 };
	struct vs_pf *far;

	(void)state;
	w_pf(h, W_PF1, 8);
	far = w_pf(h, "0000:ca:00.0", 8);
	vs_strlcpy(far->switch_uuid, "50 2a switch B", VS_LABEL_LEN);
	far->numa = 2;
	h->numa_nodes = 3;
	w.p_roce.hw.numa_pf = true;
	for (size_t i = 0; i < VS_COUNT(bound_cases); i++) {
		const struct bound_case *c = &bound_cases[i];
		int failed;

		bound_on(h, c);
		failed = vs_place(&w.env, gang, 1, &err);
		if (failed != (c->fits ? 0 : -1) ||
		    !vs_place_capacity(&w.env, gang, 9) == c->fits)
			fail_msg("case %zu: vs_place() gives %d", i, failed);
		if (failed)
			assert_int_equal(w_refusal(&err, h->name),
					 VS_REFUSE_NUMA);
	}
}

/* A host with one NUMA node binds no VM, whatever its facts say. */
static void the_only_node_of_a_host_binds_to_nothing(void **state)
{
	struct vs_host *h = host(8);

	(void)state;
	w.p_roce.hw.numa_pf = true;
	h->numa_nodes = 1;
	h->pfs[0].numa = 0;
	h->pfs[0].numa_cores = 2;
	place(1);
	h->numa_nodes = 2;
	assert_int_equal(vs_place(&w.env, gang, 1, NULL), -1);
}

/* A pending reason names NUMA nodes, for they may change, and no lost host. */
static void a_numa_node_that_is_too_small_is_named(void **state)
{
	struct vs_host *h = host(8);
	char why[128];

	(void)state;
	h->numa_nodes = 2;
	h->pfs[0].numa = 0;
	h->pfs[0].numa_cores = 2;
	w.p_roce.hw.numa_pf = true;
	gang[0] = (struct vs_place_node) {
		.node = "n00", .profile = &w.p_roce, .net = &w.net,
	};
	assert_int_equal(vs_place_count(&w.env, gang, 9, why, sizeof(why)),
			 0);
	assert_string_equal(why, "no PF on a NUMA node that holds the VM on 1 host");
	h->connected = false;
	vs_host_changed(&w.inv, h);
	assert_int_equal(vs_place_count(&w.env, gang, 9, why, sizeof(why)),
			 0);
	assert_string_equal(why, "");
}

/* Of rails it may be on the nodes of all its PFs. */
static void nics_of_two_nodes_have_both(void **state)
{
	static const char *const both[] = { W_PF1, W_PF0 };
	struct vs_host *h = host(8);
	char nodes[VS_NUMA_LEN];

	(void)state;
	w_pf(h, W_PF1, 8);
	h->numa_nodes = 2;
	h->pfs[0].numa = 0;
	h->pfs[1].numa = 1;
	assert_string_equal(vs_numa_nodes(h, both, 2, nodes), "0,1");
	assert_string_equal(vs_numa_nodes(h, both, 1, nodes), "1");
	assert_string_equal(vs_numa_nodes(h, both, 0, nodes), "");
	h->pfs[0].numa = -1;
	assert_string_equal(vs_numa_nodes(h, both, 2, nodes), "");
	assert_string_equal(vs_numa_nodes(h, both, 1, nodes), "1");
	h->numa_nodes = 1;
	assert_string_equal(vs_numa_nodes(h, both, 1, nodes), "");
	h->numa_nodes = 2;
	h->pfs[0].numa = 1;
	assert_string_equal(vs_numa_nodes(h, both, 2, nodes), "1");
}

#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_pf_of_a_numa_node_that_holds_the_vm_is_taken),
		T(a_numa_node_needs_a_core_for_each_vcpu),
		T(a_vm_counts_once_on_a_numa_node),
		T(the_node_of_a_vms_only_nic_has_it_once),
		T(a_vm_that_is_bound_goes_where_a_pfs_node_holds_it),
		T(a_bound_vm_needs_nodes_that_hold_it),
		T(the_only_node_of_a_host_binds_to_nothing),
		T(a_numa_node_that_is_too_small_is_named),
		T(nics_of_two_nodes_have_both),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
