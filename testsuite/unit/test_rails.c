/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VMs that take several VFs (NICsPerNode=): the ledger's sum and placement. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "plan_world.h"
#include "util/mem.h"

#define W_PF2 "0000:86:00.0"

static struct world w;
static struct vs_host *esx01;
static struct vs_place_node gang[16];

/* One host with two PFs of 4 VFs on the network; VMs of two rails. */
static int setup(void **state)
{
	(void)state;
	w_init(&w);
	esx01 = w_host(&w, "esx01");
	w_pf(esx01, W_PF0, 4);
	w_pf(esx01, W_PF1, 4);
	w.roce.per_node = 2;
	w.roce.rails = true;
	for (size_t i = 0; i < VS_COUNT(gang); i++)
		gang[i] = (struct vs_place_node) {
			.node = "n", .profile = &w.p_roce, .net = &w.net,
		};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	w_clear(&w);
	return 0;
}

static struct vs_claim *hold_two(const char *a, const char *b)
{
	struct vs_claim *h = w_hold(&w, "n1", "esx01", a, VS_CLAIM_RESERVED);

	vs_strlcpy(h->vfs[1].pf, b, VS_PCI_LEN);
	h->nvfs = 2;
	return h;
}

#define assert_free(on_pf0, on_pf1) do {				\
	assert_int_equal(w_free(&w, "esx01", W_PF0), on_pf0);		\
	assert_int_equal(w_free(&w, "esx01", W_PF1), on_pf1);		\
} while (0)

/* As esx01 is now, one VM is placed on these PFs; second NULL: on one. */
static void placed_on(const char *first, const char *second)
{
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(vs_place(&w.env, gang, 1, NULL), 0);
	assert_int_equal(gang[0].npfs, second ? 2 : 1);
	assert_string_equal(gang[0].pfs[0]->pci, first);
	if (second)
		assert_string_equal(gang[0].pfs[1]->pci, second);
}

/* ---- the ledger --------------------------------------------------------- */

static void a_hold_takes_a_vf_for_each_nic(void **state)
{
	(void)state;
	hold_two(W_PF0, W_PF1);
	assert_free(3, 3);
	assert_int_equal(vs_ledger_release(&w.ledger, "n1"), 0);
	assert_free(4, 4);
	hold_two(W_PF0, W_PF0);
	assert_free(2, 4);
}

static void nics_of_the_promised_vm_stand_for_as_many_vfs(void **state)
{
	struct vs_vm *vm = w_vm_on(&w, "vm-1", "esx01", W_PF0);
	struct vs_claim *h = hold_two(W_PF0, W_PF0);

	(void)state;
	vs_ledger_set_vm(&w.ledger, h, vm->moid);
	assert_free(2, 4);	/* one is in use, the other is promised */
	w_nic(vm, VS_NIC_SRIOV, W_PF0);
	assert_free(2, 4);
	w_nic(vm, VS_NIC_SRIOV, W_PF1);
	assert_free(2, 3);
}

static void a_requested_holds_vm_that_is_on_has_all_it_gets(void **state)
{
	struct vs_vm *vm = w_vm_on(&w, "vm-1", "esx01", W_PF0);
	struct vs_claim *h = hold_two(W_PF0, W_PF1);

	(void)state;
	vs_ledger_set_vm(&w.ledger, h, vm->moid);
	vs_ledger_set_state(&w.ledger, h, VS_CLAIM_STARTING);
	assert_free(3, 4);
}

static void a_hold_follows_its_nics(void **state)
{
	static const struct vs_claim_vf shown[] = {
		{ W_PF1, false }, { W_PF1, false }, { W_PF0, false } };
	struct vs_claim *h = hold_two(W_PF0, W_PF1);
	char pfs[VS_PFS_LEN];

	(void)state;
	assert_true(vs_claim_is_on(h, (const struct vs_claim_vf []) {
		{ W_PF0, false }, { W_PF1, false } }, 2));
	assert_false(vs_claim_is_on(h, shown, 2));
	assert_false(vs_claim_is_on(h, shown, 3));
	vs_ledger_move(&w.ledger, h, esx01->moid, shown, 3);
	assert_true(vs_claim_is_on(h, shown, 3));
	assert_free(3, 2);
	assert_string_equal(vs_claim_pfs(h, pfs), W_PF1 "," W_PF1 "," W_PF0);
}

static void nics_that_are_not_shown_yet_keep_their_vfs(void **state)
{
	static const struct vs_claim_vf half[] = { { W_PF0, false },
						    { "", false } };
	struct vs_claim *h = hold_two(W_PF0, W_PF0);

	(void)state;
	vs_strlcpy(esx01->pfs[1].switch_uuid, "another", VS_LABEL_LEN);
	vs_ledger_move(&w.ledger, h, esx01->moid, half, 2);
	assert_free(2, 4);
	vs_ledger_move(&w.ledger, h, esx01->moid, NULL, 0);
	assert_int_equal(h->nvfs, 2);
	assert_free(2, 4);
}

/* ---- how many ----------------------------------------------------------- */

/* VMs that can be had: as many as there is a way to give each its VFs. */
static int served(int *free, int n, int vfs, bool rails)
{
	int pick[4], best = 0, got;

	for (int code = 0; code < 256; code++) {
		bool fits = true;
		int had[4] = { 0 };

		for (int k = 0; k < vfs; k++) {
			pick[k] = code >> 2 * k & 3;
			had[pick[k]]++;
		}
		if (code >> 2 * vfs)
			break;
		for (int p = 0; p < 4; p++)
			fits &= had[p] <= (p < n ? free[p] : 0) &&
				!(rails && had[p] > 1);
		if (!fits)
			continue;
		for (int k = 0; k < vfs; k++)
			free[pick[k]]--;
		got = 1 + served(free, n, vfs, rails);
		best = got > best ? got : best;
		for (int k = 0; k < vfs; k++)
			free[pick[k]]++;
	}
	return best;
}

static void as_many_vms_have_room_as_any_choice_of_pfs_allows(void **state)
{
	(void)state;
	for (int code = 0; code < 64; code++)
		for (int vfs = 1; vfs <= 3; vfs++)
			for (int rails = 0; rails < 2; rails++) {
				int free[3] = { code & 3, code >> 2 & 3,
						code >> 4 };

				if (free[0] + free[1] + free[2] > 6)
					continue;
				assert_int_equal(vs_rails_capacity(free, 3, vfs,
								   rails),
						 served(free, 3, vfs, rails));
			}
}

static void placement_counts_vms_not_vfs(void **state)
{
	(void)state;
	assert_int_equal(w_count(&w.env, gang, 100), 4);
	assert_int_equal(vs_place_capacity(&w.env, gang, 100), 4);
	w_hold(&w, "other", "esx01", W_PF0, VS_CLAIM_RESERVED);
	assert_int_equal(w_count(&w.env, gang, 100), 3);
	assert_int_equal(vs_place_capacity(&w.env, gang, 100), 4);
	w_pf(esx01, W_PF2, 4);
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(w_count(&w.env, gang, 100), 5);
	w.roce.rails = false;
	esx01->pfs[1].vfs = esx01->pfs[2].vfs = 0;
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(w_count(&w.env, gang, 100), 1);
}

/* ---- the answer --------------------------------------------------------- */

static void each_rail_is_on_a_pf_of_its_own_in_their_order(void **state)
{
	(void)state;
	w_pf(esx01, "0000:01:00.0", 5);
	assert_int_equal(vs_place(&w.env, gang, 4, NULL), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(gang[i].npfs, 2);
		assert_false(gang[i].pf_automatic);
		assert_true(strcmp(gang[i].pfs[0]->pci,
				   gang[i].pfs[1]->pci) < 0);
	}
}

static void a_gang_finds_the_last_vf_of_unequal_pfs(void **state)
{
	int used[3] = { 0 };

	(void)state;
	esx01->pfs[0].vfs = 2;
	w_pf(esx01, W_PF2, 6);		/* 2, 4, 6: six VMs */
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(vs_place(&w.env, gang, 6, NULL), 0);
	for (int i = 0; i < 6; i++)
		for (int k = 0; k < 2; k++)
			used[gang[i].pfs[k] - esx01->pfs]++;
	assert_int_equal(used[0], 2);
	assert_int_equal(used[1], 4);
	assert_int_equal(used[2], 6);
	assert_int_equal(vs_place(&w.env, gang, 7, NULL), -1);
}

/* Two of the three, and the first one's NUMA node is full. */
static void of_equally_free_pfs_those_whose_numa_node_holds_the_vm(void **state)
{
	(void)state;
	w_pf(esx01, W_PF2, 4);
	esx01->numa_nodes = 2;
	esx01->pfs[0].numa = 0;
	esx01->pfs[0].numa_mb = 1024;
	esx01->pfs[1].numa = esx01->pfs[2].numa = 1;
	placed_on(W_PF1, W_PF2);
	/* but what is free comes first: other rails may serve fewer VMs */
	esx01->pfs[0].vfs = 5;
	placed_on(W_PF0, W_PF1);
}

static void where_rails_do_not_matter_a_pf_may_give_several(void **state)
{
	(void)state;
	w.roce.rails = false;
	esx01->npfs = 1;
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(vs_place(&w.env, gang, 2, NULL), 0);
	assert_ptr_equal(gang[0].pfs[0], &esx01->pfs[0]);
	assert_ptr_equal(gang[0].pfs[1], &esx01->pfs[0]);
	assert_true(gang[0].pf_automatic);
	assert_int_equal(vs_place(&w.env, gang, 3, NULL), -1);
}

static void a_vmxnet3_vm_takes_no_vf_whatever_its_nics(void **state)
{
	(void)state;
	w.eth.per_node = 2;
	gang[0].profile = &w.p_eth;
	assert_int_equal(vs_place(&w.env, gang, 1, NULL), 0);
	assert_int_equal(gang[0].npfs, 0);
}

static enum vs_refusal refused(const char *text)
{
	struct vs_err err;

	assert_int_equal(vs_place(&w.env, gang, 2, &err), -1);
	assert_string_equal(err.text, text);
	return w_refusal(&err, "esx01");
}

static void what_lacks_is_told_in_nodes_and_vfs(void **state)
{
	(void)state;
	esx01->pfs[1].vfs = 1;
	vs_host_changed(&w.inv, esx01);
	w_hold(&w, "other", "esx01", W_PF1, VS_CLAIM_RESERVED);
	assert_int_equal(refused("needs 2 nodes with 2 sriov-roce VFs each, capacity for 0 VMs (esx01: too few free VFs for all NICs of a VM)"),
			 VS_REFUSE_VFS);
	esx01->npfs = 1;
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(refused("needs 2 nodes with 2 sriov-roce VFs each, capacity for 0 VMs (esx01: fewer PFs reach the network than a VM has NICs)"),
			 VS_REFUSE_RAILS);
	esx01->npfs = 2;
	esx01->pfs[0].vfs = esx01->pfs[1].vfs = 0;
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(refused("needs 2 nodes with 2 sriov-roce VFs each, capacity for 0 VMs (esx01: no free VF)"),
			 VS_REFUSE_VF);
}

static void a_pf_with_one_vf_left_serves_single_nics_only(void **state)
{
	struct vs_adapter one = w.roce;
	struct vs_profile p = w.p_roce;

	(void)state;
	one.per_node = 1;
	p.adapter = &one;
	esx01->pfs[0].vfs = 0;
	vs_host_changed(&w.inv, esx01);
	gang[1].profile = &p;
	assert_int_equal(w_count(&w.env, &gang[0], 9), 0);
	assert_int_equal(w_count(&w.env, &gang[1], 9), 4);
	esx01->pfs[0].vfs = 4;
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(vs_place(&w.env, gang, 2, NULL), 0);
	assert_int_equal(gang[0].npfs, 2);
	assert_int_equal(gang[1].npfs, 1);
}

/* ---- which PFs ---------------------------------------------------------- */

/* The PF with most free VFs is chosen first, and stands where its address is. */
static void rails_are_in_the_order_of_their_addresses(void **state)
{
	(void)state;
	w_pf(esx01, W_PF2, 6);
	esx01->pfs[1].vfs = 2;
	placed_on(W_PF0, W_PF2);
}

/* vCenter names a host's PFs in any order. */
static void of_pfs_that_are_alike_the_first_address_is_taken(void **state)
{
	(void)state;
	w.roce.per_node = 1;
	w_pf(esx01, "0000:01:00.0", 4);
	placed_on("0000:01:00.0", NULL);
}

/* The last VF of a host is on a PF whose NUMA node holds no VM more. */
static void the_last_vf_is_taken_on_a_full_numa_node_too(void **state)
{
	(void)state;
	w.roce.per_node = 1;
	esx01->npfs = 1;
	esx01->pfs[0].vfs = 1;
	esx01->pfs[0].numa = 0;
	esx01->pfs[0].numa_mb = 1024;
	esx01->numa_nodes = 2;
	placed_on(W_PF0, NULL);
}

/* A node beyond those that are counted is one that is not known. */
static void a_numa_node_that_is_not_counted_keeps_no_vm_away(void **state)
{
	(void)state;
	w.roce.per_node = 1;
	esx01->numa_nodes = 2;
	esx01->pfs[0].numa = VS_HOST_NODES;
	esx01->pfs[0].numa_mb = 1024;
	esx01->pfs[0].vfs = 3;
	esx01->pfs[1].vfs = 2;
	esx01->pfs[1].numa = 1;
	placed_on(W_PF0, NULL);
}

/* No loop over a host's PFs reads more of them than can be counted. */
static void a_host_may_have_as_many_pfs_as_are_counted(void **state)
{
	struct vs_rail_group kind = { &w.roce, &w.net };
	struct vs_adapter one;
	struct vs_profile p = w.p_roce;
	char pci[VS_PCI_LEN];

	(void)state;
	esx01->npfs = 0;
	for (int i = 0; i < VS_HOST_PFS; i++) {
		snprintf(pci, sizeof(pci), "0000:%02x:00.0", i + 1);
		w_pf(esx01, pci, i == VS_HOST_PFS - 1 ? 1 : i < 3);
	}
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(w_count(&w.env, gang, 9), 2);
	assert_int_equal(vs_place(&w.env, gang, 2, NULL), 0);
	assert_string_equal(gang[0].pfs[0]->pci, "0000:01:00.0");
	assert_string_equal(gang[0].pfs[1]->pci, "0000:02:00.0");
	assert_string_equal(gang[1].pfs[0]->pci, "0000:03:00.0");
	assert_string_equal(gang[1].pfs[1]->pci, "0000:18:00.0");
	one = w.roce;
	one.per_node = 1;
	p.adapter = &one;
	for (int i = 0; i < 5; i++)
		gang[i].profile = &p;
	w.env.policy = VS_PLACE_PACK;
	w.env.rails = &kind;
	w.env.nrails = 1;
	assert_int_equal(w_count(&w.env, gang, 9), 4);
	assert_int_equal(vs_place(&w.env, gang, 4, NULL), 0);
	assert_int_equal(vs_place(&w.env, gang, 5, NULL), -1);
}

/* ---- pack --------------------------------------------------------------- */

static void pack_keeps_hosts_that_hold_a_vm_of_several_vfs(void **state)
{
	struct vs_adapter one = w.roce;
	struct vs_profile p = w.p_roce;
	struct vs_rail_group kind = { &w.roce, &w.net };
	struct vs_host *esx02 = w_host(&w, "esx02");

	(void)state;
	one.per_node = 1;
	p.adapter = &one;
	for (int i = 0; i < 4; i++)
		gang[i].profile = &p;
	w_pf(esx02, W_PF0, 2);
	w_pf(esx02, W_PF1, 0);		/* no second rail there */
	w.env.policy = VS_PLACE_PACK;
	assert_int_equal(vs_place(&w.env, gang, 2, NULL), 0);
	assert_ptr_equal(gang[0].host, esx02);	/* the tightest fit */
	assert_int_equal(vs_place(&w.env, gang, 3, NULL), 0);
	assert_ptr_equal(gang[0].host, esx01);	/* one host is fewer */
	assert_ptr_equal(gang[2].host, esx01);
	w.env.rails = &kind;
	w.env.nrails = 1;
	assert_int_equal(vs_place(&w.env, gang, 3, NULL), 0);
	assert_int_equal((gang[0].host == esx02) + (gang[1].host == esx02) +
			 (gang[2].host == esx02), 2);
	esx02->pfs[0].vfs = 8;
	esx01->pfs[0].vfs = esx01->pfs[1].vfs = 8;
	vs_host_changed(&w.inv, esx01);
	vs_host_changed(&w.inv, esx02);
	assert_int_equal(vs_place(&w.env, gang, 4, NULL), 0);
	for (int i = 0; i < 4; i++)
		assert_ptr_equal(gang[i].host, esx02);
	/* one that takes as many isn't kept away from its own */
	gang[0].profile = &w.p_roce;
	assert_int_equal(vs_place(&w.env, gang, 1, NULL), 0);
	assert_ptr_equal(gang[0].host, esx01);
}

/* esx01 has room for just one VM of two rails: that is enough to keep it. */
static void pack_keeps_a_host_for_the_last_vm_of_several_vfs(void **state)
{
	struct vs_adapter one = w.roce;
	struct vs_profile p = w.p_roce;
	struct vs_rail_group kind = { &w.roce, &w.net };
	struct vs_host *esx02 = w_host(&w, "esx02");

	(void)state;
	one.per_node = 1;
	p.adapter = &one;
	gang[0].profile = &p;
	w_pf(esx02, W_PF0, 2);
	esx01->pfs[0].vfs = esx01->pfs[1].vfs = 1;
	vs_host_changed(&w.inv, esx01);
	w.env.policy = VS_PLACE_PACK;
	assert_int_equal(vs_place(&w.env, gang, 1, NULL), 0);
	assert_ptr_equal(gang[0].host, esx01);
	w.env.rails = &kind;
	w.env.nrails = 1;
	assert_int_equal(vs_place(&w.env, gang, 1, NULL), 0);
	assert_ptr_equal(gang[0].host, esx02);
}

static struct vs_adapter one;
static struct vs_profile p_one;
static struct vs_rail_group kind;

/* Packed VMs of one VF beside a kind of two rails: esx01 holds as many of those
 * as `rails` and so is to be left whole, esx02 has `single` VFs and none of
 * them. */
static struct vs_host *beside_rails(int rails, int single)
{
	struct vs_host *esx02 = w_host(&w, "esx02");

	one = w.roce;
	one.per_node = 1;
	p_one = w.p_roce;
	p_one.adapter = &one;
	kind = (struct vs_rail_group) { &w.roce, &w.net };
	for (size_t i = 0; i < VS_COUNT(gang); i++)
		gang[i].profile = &p_one;
	w_pf(esx02, W_PF0, single);
	esx01->pfs[0].vfs = esx01->pfs[1].vfs = rails;
	vs_host_changed(&w.inv, esx01);
	vs_host_changed(&w.inv, esx02);
	w.env.policy = VS_PLACE_PACK;
	w.env.rails = &kind;
	w.env.nrails = 1;
	return esx02;
}

static int on_host(const struct vs_host *h, size_t n)
{
	int count = 0;

	for (size_t i = 0; i < n; i++)
		count += gang[i].host == h;
	return count;
}

/* However tight a fit the host that is kept would be, and though a VM's disk
 * lies on it. */
static void pack_takes_no_kept_host_while_another_will_do(void **state)
{
	struct vs_host *esx02 = beside_rails(1, 3);

	(void)state;
	assert_int_equal(vs_place(&w.env, gang, 2, NULL), 0);
	assert_int_equal(on_host(esx02, 2), 2);
	gang[0].prefer_host = "host-esx01";
	assert_int_equal(vs_place(&w.env, gang, 2, NULL), 0);
	assert_int_equal(on_host(esx02, 2), 2);
	w.env.nrails = 0;			/* it is kept for no VM */
	assert_int_equal(vs_place(&w.env, gang, 2, NULL), 0);
	assert_int_equal(on_host(esx01, 2), 2);
}

static void what_the_others_do_not_hold_goes_on_kept_hosts(void **state)
{
	struct vs_host *esx02 = beside_rails(2, 2);

	(void)state;
	for (size_t n = 1; n <= 6; n++) {
		assert_int_equal(vs_place(&w.env, gang, n, NULL), 0);
		assert_int_equal(on_host(esx02, n), n < 2 ? 1 : 2);
		assert_int_equal(on_host(esx01, n), n < 2 ? 0 : n - 2);
	}
	assert_int_equal(vs_place(&w.env, gang, 7, NULL), -1);
}

/* One VM of the gang needs esx02. Placed last it finds no VF there; placed
 * first it takes one that the others counted on. */
static void beside_kept_hosts_a_vf_may_be_short(void **state)
{
	struct vs_host *esx02 = beside_rails(1, 2);
	struct vs_network there = w.net;

	(void)state;
	vs_strlcpy(there.moid, "dvportgroup-99", sizeof(there.moid));
	vs_strlcpy(esx02->nets[esx02->nnets++], there.moid, VS_MOID_LEN);
	vs_host_changed(&w.inv, esx02);
	gang[0].net = &there;
	assert_int_equal(vs_place(&w.env, gang, 5, NULL), -1);
	assert_int_equal(vs_place(&w.env, gang, 4, NULL), 0);
	assert_ptr_equal(gang[0].host, esx02);
	assert_int_equal(on_host(esx02, 4), 2);
	assert_int_equal(on_host(esx01, 4), 2);
}

/* esx01 could serve two rails of another network: a VM of two rails itself is
 * no reason to keep it for them. */
static void pack_keeps_no_host_from_a_vm_of_as_many_vfs(void **state)
{
	struct vs_adapter other = w.roce;
	struct vs_network net = w.net;
	struct vs_rail_group kind = { &other, &net };
	struct vs_host *esx02 = w_host(&w, "esx02");

	(void)state;
	vs_strlcpy(net.switch_uuid, "50 2a switch B", sizeof(net.switch_uuid));
	for (int i = 0; i < 2; i++)
		vs_strlcpy(w_pf(esx01, i ? "0000:01:00.0" : "0000:02:00.0", 4)->switch_uuid,
			   net.switch_uuid, VS_LABEL_LEN);
	esx01->pfs[0].vfs = esx01->pfs[1].vfs = 1;
	vs_host_changed(&w.inv, esx01);
	w_pf(esx02, W_PF0, 8);
	w_pf(esx02, W_PF1, 8);
	w.env.policy = VS_PLACE_PACK;
	w.env.rails = &kind;
	w.env.nrails = 1;
	assert_int_equal(vs_place(&w.env, gang, 1, NULL), 0);
	assert_ptr_equal(gang[0].host, esx01);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(a_hold_takes_a_vf_for_each_nic),
		T(nics_of_the_promised_vm_stand_for_as_many_vfs),
		T(a_requested_holds_vm_that_is_on_has_all_it_gets),
		T(a_hold_follows_its_nics),
		T(nics_that_are_not_shown_yet_keep_their_vfs),
		T(as_many_vms_have_room_as_any_choice_of_pfs_allows),
		T(placement_counts_vms_not_vfs),
		T(each_rail_is_on_a_pf_of_its_own_in_their_order),
		T(a_gang_finds_the_last_vf_of_unequal_pfs),
		T(of_equally_free_pfs_those_whose_numa_node_holds_the_vm),
		T(where_rails_do_not_matter_a_pf_may_give_several),
		T(a_vmxnet3_vm_takes_no_vf_whatever_its_nics),
		T(what_lacks_is_told_in_nodes_and_vfs),
		T(a_pf_with_one_vf_left_serves_single_nics_only),
		T(rails_are_in_the_order_of_their_addresses),
		T(of_pfs_that_are_alike_the_first_address_is_taken),
		T(the_last_vf_is_taken_on_a_full_numa_node_too),
		T(a_numa_node_that_is_not_counted_keeps_no_vm_away),
		T(a_host_may_have_as_many_pfs_as_are_counted),
		T(pack_keeps_hosts_that_hold_a_vm_of_several_vfs),
		T(pack_keeps_a_host_for_the_last_vm_of_several_vfs),
		T(pack_keeps_no_host_from_a_vm_of_as_many_vfs),
		T(pack_takes_no_kept_host_while_another_will_do),
		T(what_the_others_do_not_hold_goes_on_kept_hosts),
		T(beside_kept_hosts_a_vf_may_be_short),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("rails", tests, NULL, NULL);
}
