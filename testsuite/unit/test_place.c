/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan/placement: the answer, and the hard criteria of a host. */
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

/* Why esx01 refuses the node, by vs_place's text; room must agree. */
static enum vs_refusal refusal(void)
{
	struct vs_err err;

	if (!vs_place(&w.env, &node, 1, &err)) {
		assert_true(w_count(&w.env, &node, 100) > 0);
		return VS_REFUSE_NONE;
	}
	assert_int_equal(err.code, VS_E_SHORTAGE);
	assert_int_equal(w_count(&w.env, &node, 100), 0);
	return w_refusal(&err, "esx01");
}

/* ---- the answer --------------------------------------------------------- */

static void a_node_gets_a_host_and_a_pf(void **state)
{
	(void)state;
	assert_int_equal(vs_place(&w.env, &node, 1, NULL), 0);
	assert_ptr_equal(node.host, esx01);
	assert_ptr_equal(node.pfs[0], pf);
	assert_true(node.pf_automatic);
}

static void a_node_without_vf_gets_no_pf(void **state)
{
	(void)state;
	node.profile = &w.p_eth;
	pf->vfs = 0;
	assert_int_equal(vs_place(&w.env, &node, 1, NULL), 0);
	assert_ptr_equal(node.host, esx01);
	assert_null(node.pfs[0]);
	assert_false(node.pf_automatic);
}

static void the_pf_is_explicit_where_the_switch_has_several(void **state)
{
	struct vs_pf *second = w_pf(esx01, W_PF1, 0);

	(void)state;
	assert_int_equal(vs_place(&w.env, &node, 1, NULL), 0);
	assert_ptr_equal(node.pfs[0], pf);
	assert_false(node.pf_automatic);
	vs_strlcpy(second->switch_uuid, "another", VS_LABEL_LEN);
	assert_int_equal(vs_place(&w.env, &node, 1, NULL), 0);
	assert_true(node.pf_automatic);
}

static void a_named_pf_is_taken_and_explicit(void **state)
{
	struct vs_pf *second = w_pf(esx01, W_PF1, 1);

	(void)state;
	vs_strlcpy(w.roce.pf, W_PF1, VS_PCI_LEN);
	assert_int_equal(vs_place(&w.env, &node, 1, NULL), 0);
	assert_ptr_equal(node.pfs[0], second);
	assert_false(node.pf_automatic);
	second->vfs = 0;
	assert_int_equal(refusal(), VS_REFUSE_VF);
	vs_strlcpy(w.roce.pf, "0000:77:00.0", VS_PCI_LEN);
	assert_int_equal(refusal(), VS_REFUSE_NO_PF);
}

static void a_named_pf_must_reach_the_network_too(void **state)
{
	(void)state;
	vs_strlcpy(w.roce.pf, W_PF0, VS_PCI_LEN);
	vs_strlcpy(pf->switch_uuid, "another", VS_LABEL_LEN);
	assert_int_equal(refusal(), VS_REFUSE_NO_PF);
}

static void on_a_standard_switch_only_a_named_pf_will_do(void **state)
{
	(void)state;
	w.net.switch_uuid[0] = '\0';
	pf->switch_uuid[0] = '\0';
	assert_int_equal(refusal(), VS_REFUSE_NO_PF);
	vs_strlcpy(w.roce.pf, W_PF0, VS_PCI_LEN);
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	assert_ptr_equal(node.pfs[0], pf);
}

static void a_host_without_hardware_told_divides_nothing_by_zero(void **state)
{
	struct vs_host *esx00 = w_host(&w, "esx00");

	(void)state;
	node.profile = &w.p_eth;
	esx00->cores = 0;
	w_vm_on(&w, "vm-1", "esx01", W_PF0);
	assert_int_equal(vs_place(&w.env, &node, 1, NULL), 0);
	assert_ptr_equal(node.host, esx00);	/* no share of nothing */
	esx00->memory_mb = 0;
	assert_int_equal(vs_place(&w.env, &node, 1, NULL), 0);
	assert_ptr_equal(node.host, esx01);
}

static void of_hosts_with_one_name_the_moid_decides(void **state)
{
	struct vs_host *twin = vs_inventory_host(&w.inv, "host-a");

	(void)state;
	node.profile = &w.p_eth;
	vs_strlcpy(twin->name, "esx01", sizeof(twin->name));
	twin->connected = twin->powered_on = true;
	twin->cores = esx01->cores;
	twin->core_mhz = esx01->core_mhz;
	twin->memory_mb = esx01->memory_mb;
	vs_strlcpy(twin->nets[twin->nnets++], W_NET, VS_MOID_LEN);
	assert_int_equal(vs_place(&w.env, &node, 1, NULL), 0);
	assert_ptr_equal(node.host, twin);
}

static void a_host_may_have_as_many_pfs_as_there_is_room_for(void **state)
{
	struct vs_place_node gang[VS_HOST_PFS];
	char pci[VS_PCI_LEN];

	(void)state;
	pf->vfs = 1;
	gang[0] = node;
	for (int i = 1; i < VS_HOST_PFS; i++) {
		snprintf(pci, sizeof(pci), "0000:%02x:00.0", 0x40 + i);
		w_pf(esx01, pci, 1);
		gang[i] = node;
	}
	assert_int_equal(w_count(&w.env, &node, 99), VS_HOST_PFS);
	assert_int_equal(vs_place_capacity(&w.env, &node, 99), VS_HOST_PFS);
	assert_int_equal(vs_place(&w.env, gang, VS_HOST_PFS, NULL), 0);
	for (int i = 0; i < VS_HOST_PFS; i++)
		for (int k = 0; k < i; k++)
			assert_ptr_not_equal(gang[i].pfs[0], gang[k].pfs[0]);
	w_vm_on(&w, "vm-1", "esx01", "");
	assert_int_equal(w_count(&w.env, &node, 99), 0);
}

static void nothing_to_place_is_placed(void **state)
{
	(void)state;
	assert_int_equal(vs_place(&w.env, &node, 0, NULL), 0);
}

static void the_ledger_is_left_alone(void **state)
{
	uint64_t was = w.ledger.generation, inv = w.inv.generation;

	(void)state;
	assert_int_equal(vs_place(&w.env, &node, 1, NULL), 0);
	assert_true(w.ledger.generation == was && w.inv.generation == inv);
	assert_null(w.ledger.holds);
}

/* ---- hard criteria ------------------------------------------------------ */

/* Refused for `why`, and no place for what has one already either. */
static void refused_while(bool *flag, bool bad, enum vs_refusal why)
{
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	assert_true(vs_host_usable(esx01));
	*flag = bad;
	assert_int_equal(refusal(), why);
	assert_false(vs_host_usable(esx01));
	*flag = !bad;
}

static void a_host_in_no_state_for_vms_is_refused_for_that(void **state)
{
	(void)state;
	refused_while(&esx01->connected, false, VS_REFUSE_CONNECTION);
	refused_while(&esx01->maintenance, true, VS_REFUSE_MAINTENANCE);
	refused_while(&esx01->entering_maintenance, true,
		      VS_REFUSE_MAINTENANCE);
	refused_while(&esx01->powered_on, false, VS_REFUSE_STANDBY);
	refused_while(&esx01->standby, true, VS_REFUSE_STANDBY);
	refused_while(&esx01->entering_standby, true, VS_REFUSE_STANDBY);
	refused_while(&esx01->quarantine, true, VS_REFUSE_QUARANTINE);
}

static void only_the_clusters_of_the_configuration_are_used(void **state)
{
	const char *list[] = { "domain-c2", "domain-c1", NULL };

	(void)state;
	w.env.clusters = list;
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	list[1] = NULL;
	assert_int_equal(refusal(), VS_REFUSE_CLUSTER);
	list[0] = NULL;
	assert_int_equal(refusal(), VS_REFUSE_CLUSTER);
}

static void the_datastore_must_be_reached(void **state)
{
	(void)state;
	w.env.store = W_STORE;
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	w.env.store = "datastore-2";
	assert_int_equal(refusal(), VS_REFUSE_STORE);
}

static void the_hosts_hardware_version_must_do(void **state)
{
	(void)state;
	esx01->max_hw = 10;
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	esx01->max_hw = 9;
	assert_int_equal(refusal(), VS_REFUSE_HW);
	esx01->max_hw = 0;		/* not told */
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	w.p_roce.latency_high = true;
	esx01->max_hw = 13;
	assert_int_equal(refusal(), VS_REFUSE_HW);
	esx01->max_hw = 14;
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	w.roce.type = VS_ADAPTER_PVRDMA;
	w.p_roce.latency_high = false;
	esx01->max_hw = 12;
	assert_int_equal(refusal(), VS_REFUSE_HW);
}

static void the_templates_hardware_version_must_do_too(void **state)
{
	struct vs_place_node gang[2];
	struct vs_profile newer;

	(void)state;
	w.p_roce.template_hw = 19;
	esx01->max_hw = 19;
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	w.p_roce.template_hw = 20;
	assert_int_equal(refusal(), VS_REFUSE_HW);
	esx01->max_hw = 0;		/* not told */
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	/* of two templates each VM needs its own */
	esx01->max_hw = 20;
	newer = w.p_roce;
	newer.template_hw = 21;
	gang[0] = gang[1] = node;
	gang[1].profile = &newer;
	assert_int_equal(vs_place(&w.env, gang, 2, NULL), -1);
	w_pf(w_host(&w, "esx02"), W_PF0, 1);	/* up to 21 */
	assert_int_equal(vs_place(&w.env, gang, 2, NULL), 0);
	assert_string_equal(gang[1].host->name, "esx02");
}

static void the_network_must_be_on_the_host(void **state)
{
	(void)state;
	vs_strlcpy(w.net.moid, "dvportgroup-31", VS_MOID_LEN);
	assert_int_equal(refusal(), VS_REFUSE_NETWORK);
	node.net = NULL;		/* not resolved */
	assert_int_equal(refusal(), VS_REFUSE_NETWORK);
}

static void an_ethernet_pf_needs_link_an_infiniband_one_does_not(void **state)
{
	(void)state;
	pf->link_up = false;
	assert_int_equal(refusal(), VS_REFUSE_NO_PF);
	w.roce.link = VS_LINK_INFINIBAND;
	assert_int_equal(refusal(), VS_REFUSE_NONE);
}

/* As opposed to one that is there and in use. */
static void a_device_beside_the_vf_must_be_there(void **state)
{
	static struct vs_adapter device;

	(void)state;
	device = w.roce;
	vs_strlcpy(w.roce.pf, W_PF0, sizeof(w.roce.pf));
	vs_strlcpy(device.pf, W_PF1, sizeof(device.pf));
	w.roce.with = &device;
	assert_int_equal(refusal(), VS_REFUSE_NO_DEVICE);
	w_pf(esx01, W_PF1, 0);
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(refusal(), VS_REFUSE_DEVICE);
}

static void a_pf_without_a_free_vf_is_refused(void **state)
{
	(void)state;
	pf->vfs = 2;
	w_vm_on(&w, "vm-1", "esx01", W_PF0);
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	w_hold(&w, "n2", "esx01", W_PF0, VS_CLAIM_RESERVED);
	assert_int_equal(refusal(), VS_REFUSE_VF);
}

static void an_over_committed_pf_does_not_eat_anothers_vfs(void **state)
{
	(void)state;
	pf->vfs = 0;
	w_vm_on(&w, "vm-1", "esx01", W_PF0);
	w_vm_on(&w, "vm-2", "esx01", W_PF0);
	w_pf(esx01, W_PF1, 1);
	assert_int_equal(w_count(&w.env, &node, 100), 1);
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	assert_string_equal(node.pfs[0]->pci, W_PF1);
}

static void unknown_vfs_are_not_placed_on_but_vmxnet3_is(void **state)
{
	(void)state;
	w_vm_on(&w, "vm-1", "esx01", W_PF0)->readable = false;
	assert_int_equal(refusal(), VS_REFUSE_UNKNOWN);
	node.profile = &w.p_eth;
	assert_int_equal(refusal(), VS_REFUSE_NONE);
}

static void pfs_not_delivered_yet_are_unknown(void **state)
{
	(void)state;
	esx01->pfs_known = false;
	esx01->npfs = 0;
	assert_int_equal(refusal(), VS_REFUSE_UNKNOWN);
}

static void latency_high_needs_cpu_for_its_reservation(void **state)
{
	(void)state;
	w.p_roce.vcpus = 48;
	w_vm_on(&w, "vm-1", "esx01", W_PF0)->cpu_reserved_mhz = 1;
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	w.p_roce.latency_high = true;
	assert_int_equal(refusal(), VS_REFUSE_CPU);
	w.p_roce.vcpus = 47;
	assert_int_equal(refusal(), VS_REFUSE_NONE);
}

static void a_cpu_overcommit_is_no_matter_without_a_reservation(void **state)
{
	(void)state;
	w_vm_on(&w, "vm-1", "esx01", W_PF0)->cpu_reserved_mhz = 1000000;
	assert_int_equal(refusal(), VS_REFUSE_NONE);
}

static void a_vf_needs_memory_for_its_reservation_and_overhead(void **state)
{
	int64_t need = 8192 + vs_overhead_mb(4, 8192);

	(void)state;
	esx01->memory_mb = need;
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	esx01->memory_mb = need - 1;
	assert_int_equal(refusal(), VS_REFUSE_MEMORY);
	node.profile = &w.p_eth;	/* the overhead is all it reserves */
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	esx01->memory_mb = vs_overhead_mb(4, 8192) - 1;
	assert_int_equal(refusal(), VS_REFUSE_MEMORY);
}

/* ---- avoided ------------------------------------------------------------ */

static const char *avoid_host, *avoid_pci, *avoid_why;

static bool avoid(void *arg, const struct vs_host *h, const struct vs_pf *p,
		  char *why, size_t size)
{
	bool yes = p ? avoid_pci && !strcmp(p->pci, avoid_pci) :
		avoid_host && !strcmp(h->name, avoid_host);

	assert_ptr_equal(arg, &w);
	if (p && !strcmp(p->switch_uuid, "another")) {
		vs_strlcpy(why, "of no interest", size);
		return true;
	}
	if (yes)
		vs_strlcpy(why, avoid_why, size);
	return yes;
}

static void hosts_and_pfs_that_failed_lately_are_left_out(void **state)
{
	struct vs_err err;

	(void)state;
	w.env.avoid = avoid;
	w.env.arg = &w;
	avoid_why = "power-on failed at 12:00";
	avoid_host = "esx02";
	avoid_pci = W_PF1;
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	avoid_pci = W_PF0;
	assert_int_equal(refusal(), VS_REFUSE_EXCLUDED);
	esx01->pfs[1] = *pf;		/* the first is on another switch */
	vs_strlcpy(pf->switch_uuid, "another", VS_LABEL_LEN);
	vs_strlcpy(pf->pci, "0000:01:00.0", VS_PCI_LEN);
	esx01->npfs = 2;
	assert_int_equal(vs_place(&w.env, &node, 1, &err), -1);
	assert_non_null(strstr(err.text, "power-on failed at 12:00"));
	w_pf(esx01, W_PF1, 1);
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	assert_string_equal(node.pfs[0]->pci, W_PF1);
	assert_int_equal(w_count(&w.env, &node, 100), 1);
	avoid_host = "esx01";
	assert_int_equal(refusal(), VS_REFUSE_EXCLUDED);
	assert_int_equal(vs_place(&w.env, &node, 1, &err), -1);
	assert_non_null(strstr(err.text, "power-on failed at 12:00"));
	node.profile = &w.p_eth;
	assert_int_equal(refusal(), VS_REFUSE_EXCLUDED);
	avoid_why = "";
	assert_int_equal(vs_place(&w.env, &node, 1, &err), -1);
	assert_non_null(strstr(err.text, "(esx01: excluded)"));
}

/* ---- what is kept from one question to the next -------------------------- */

/* Each member that decides whether a host could, changed beside kept sums. */
static void another_question_is_not_answered_by_what_is_kept(void **state)
{
	const char *list[] = { "domain-c1", NULL };
	struct vs_network elsewhere = w.net;
	struct vs_free_capacity made = { 0 };

	(void)state;
	vs_free_capacity_update(&made, &w.ledger, &w.inv, W_FOLDER,
				W_CLUSTER_ID);
	w.env.sums = &made;
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	w.env.store = "datastore-2";
	assert_int_equal(refusal(), VS_REFUSE_STORE);
	w.env.store = W_STORE;
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	w.env.clusters = list;
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	list[0] = "domain-c9";
	assert_int_equal(refusal(), VS_REFUSE_CLUSTER);
	list[0] = NULL;				/* none is allowed */
	assert_int_equal(refusal(), VS_REFUSE_CLUSTER);
	w.env.clusters = NULL;			/* all are */
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	vs_strlcpy(elsewhere.moid, "dvportgroup-99", sizeof(elsewhere.moid));
	node.net = &elsewhere;
	assert_int_not_equal(refusal(), VS_REFUSE_NONE);
	node.net = &w.net;
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	vs_strlcpy(w.roce.pf, "0000:99:00.0", sizeof(w.roce.pf));
	assert_int_equal(refusal(), VS_REFUSE_NO_PF);
	w.roce.pf[0] = '\0';
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	/* the port group's switch isn't read yet, and then it is */
	w.net.switch_uuid[0] = '\0';
	assert_int_equal(refusal(), VS_REFUSE_NO_PF);
	vs_strlcpy(w.net.switch_uuid, W_SWITCH, sizeof(w.net.switch_uuid));
	assert_int_equal(refusal(), VS_REFUSE_NONE);
	w.env.sums = NULL;
	vs_free_capacity_clear(&made);
}

/* Asked again, a question costs no second answer for each host. */
static void a_question_is_kept_once(void **state)
{
	struct vs_network elsewhere = w.net;
	struct vs_free_capacity made = { 0 };

	(void)state;
	vs_strlcpy(elsewhere.moid, "dvportgroup-99", sizeof(elsewhere.moid));
	vs_free_capacity_update(&made, &w.ledger, &w.inv, W_FOLDER,
				W_CLUSTER_ID);
	w.env.sums = &made;
	for (int round = 0; round < 3; round++) {
		node.net = &w.net;
		assert_int_equal(refusal(), VS_REFUSE_NONE);
		assert_int_equal(made.nfits, round ? 2 : 1);
		node.net = &elsewhere;
		assert_int_equal(refusal(), VS_REFUSE_NETWORK);
		assert_int_equal(made.nfits, 2);
	}
	w.env.sums = NULL;
	vs_free_capacity_clear(&made);
}

/* Users choose the size of their VMs: what is kept of it has a bound. */
static void no_number_of_questions_is_kept_for_ever(void **state)
{
	struct vs_free_capacity made = { 0 };

	(void)state;
	w.p_roce.hw.numa_pf = true;
	esx01->numa_nodes = 2;
	esx01->pfs[0].numa = 0;
	vs_host_changed(&w.inv, esx01);
	vs_free_capacity_update(&made, &w.ledger, &w.inv, W_FOLDER,
				W_CLUSTER_ID);
	w.env.sums = &made;
	for (int i = 0; i < 300; i++) {		/* half of 48 cores is 24 */
		w.p_roce.vcpus = i % 2 ? 25 : 24;
		w.p_roce.memory_mb = 1024 + i;
		assert_int_equal(refusal(),
				 i % 2 ? VS_REFUSE_NUMA : VS_REFUSE_NONE);
		assert_true(made.nfits <= 65);
	}
	w.env.sums = NULL;
	vs_free_capacity_clear(&made);
}

static void a_host_on_trial_takes_as_many_as_it_may(void **state)
{
	struct vs_host_block bar = { .trial = true, .most = 2 };
	struct vs_place_node gang[3];
	struct vs_err err;

	(void)state;
	assert_int_equal(esx01->index, 0);
	w_gang(&w, gang, 3);
	w.env.bars = &bar;
	assert_int_equal(w_count(&w.env, &node, 100), 2);
	assert_int_equal(vs_place(&w.env, gang, 2, &err), 0);
	assert_int_equal(vs_place(&w.env, gang, 3, &err), -1);
	bar.most = 3;
	assert_int_equal(vs_place(&w.env, gang, 3, &err), 0);
	bar.most = 0;
	assert_int_equal(refusal(), VS_REFUSE_TRIAL);
}

/* Counted as they are placed: two are the trial, though there are VFs for more. */
static void a_gang_leaves_the_host_on_trial_when_its_trial_is_full(void **state)
{
	struct vs_host_block bar[2] = { { .trial = true, .most = 2 },
					{ .trial = false } };
	struct vs_place_node gang[4];
	int there = 0;

	(void)state;
	w_pf(w_host(&w, "esx02"), W_PF0, 2);
	for (int i = 0; i < 4; i++)
		gang[i] = node;
	w.env.bars = bar;
	w.env.policy = VS_PLACE_SPREAD;
	assert_int_equal(vs_place(&w.env, gang, 4, NULL), 0);
	for (int i = 0; i < 4; i++)
		there += gang[i].host == esx01;
	assert_int_equal(there, 2);
	assert_int_equal(w_count(&w.env, gang, 100), 4);
	/* each kind alone would be within it */
	gang[1].profile = gang[2].profile = &w.p_eth;
	vs_host_get_named(&w.inv, "esx02")->connected = false;
	assert_int_equal(vs_place(&w.env, gang, 2, NULL), 0);
	assert_int_equal(vs_place(&w.env, gang, 3, NULL), -1);
}

/* Each kind is packed for itself: what the first one took of the trial is not
 * there for the second. */
static void a_packed_second_kind_minds_the_trial_too(void **state)
{
	struct vs_host_block bar[2] = { { .trial = true, .most = 2 },
					{ .trial = false } };
	struct vs_place_node gang[3];
	int there = 0;

	(void)state;
	w_pf(w_host(&w, "esx02"), W_PF0, 8);
	for (int i = 0; i < 3; i++)
		gang[i] = node;
	gang[1].profile = gang[2].profile = &w.p_eth;
	w.env.bars = bar;
	w.env.policy = VS_PLACE_PACK;
	assert_int_equal(vs_place(&w.env, gang, 3, NULL), 0);
	for (int i = 0; i < 3; i++)
		there += gang[i].host == esx01;
	assert_int_equal(there, 2);
}

/* 96000 MHz on each host; a VM of 8 vCPUs with latency sensitivity high has
 * 16000 of them to itself. */
static void a_gang_reserves_no_cpu_twice(void **state)
{
	struct vs_profile other = w.p_roce;
	struct vs_place_node gang[13];

	(void)state;
	w_pf(w_host(&w, "esx02"), W_PF0, 8);
	w.p_roce.latency_high = true;
	w.p_roce.vcpus = 8;
	other.hw.cpu_mhz = 2000;	/* another kind, beside them */
	for (int i = 0; i < 13; i++)
		gang[i] = node;
	assert_int_equal(w_count(&w.env, &node, 100), 12);
	assert_int_equal(vs_place(&w.env, gang, 12, NULL), 0);
	gang[12].profile = &other;
	assert_int_equal(vs_place(&w.env, gang, 13, NULL), -1);
	assert_int_equal(vs_place(&w.env, gang + 1, 12, NULL), 0);
}

/* The parent of an instant clone reserves as much as the clone. */
static void a_clones_parent_needs_its_cpu_too(void **state)
{
	static const bool bare[1] = { true };
	struct vs_profile instant = w.p_roce;
	size_t room;

	(void)state;
	w.env.bare = bare;
	w.env.profiles = &instant;
	instant.clone = VS_CLONE_INSTANT;
	instant.hw.cpu_mhz = 2000;
	esx01->cores = 1;		/* 2000 MHz: one of the two */
	node.profile = &instant;
	assert_int_equal(vs_place(&w.env, &node, 1, NULL), -1);
	room = w_count(&w.env, &node, 100);
	assert_int_equal(room, 0);
	esx01->cores = 2;
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(vs_place(&w.env, &node, 1, NULL), 0);
	assert_int_equal(w_count(&w.env, &node, 100), 1);
	esx01->cores = 7;		/* the parent, and six */
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(w_count(&w.env, &node, 100), 6);
}

/* What a VM that can't be read may have taken is the reason, not what is missing
 * by the host's own list. */
static void a_host_with_an_unread_vm_is_refused_for_that_first(void **state)
{
	(void)state;
	w_vm_on(&w, "vm-1", "esx01", W_PF0)->readable = false;
	assert_int_equal(refusal(), VS_REFUSE_UNKNOWN);
	pf->link_up = false;
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(refusal(), VS_REFUSE_UNKNOWN);
	pf->link_up = true;
	w.roce.per_node = 2;
	w.roce.rails = true;
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(refusal(), VS_REFUSE_UNKNOWN);
	esx01->connected = false;
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(refusal(), VS_REFUSE_CONNECTION);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_node_gets_a_host_and_a_pf),
		TEST(a_node_without_vf_gets_no_pf),
		TEST(the_pf_is_explicit_where_the_switch_has_several),
		TEST(a_named_pf_is_taken_and_explicit),
		TEST(a_named_pf_must_reach_the_network_too),
		TEST(on_a_standard_switch_only_a_named_pf_will_do),
		TEST(a_host_without_hardware_told_divides_nothing_by_zero),
		TEST(of_hosts_with_one_name_the_moid_decides),
		TEST(a_host_may_have_as_many_pfs_as_there_is_room_for),
		TEST(nothing_to_place_is_placed),
		TEST(the_ledger_is_left_alone),
		TEST(a_host_in_no_state_for_vms_is_refused_for_that),
		TEST(only_the_clusters_of_the_configuration_are_used),
		TEST(the_datastore_must_be_reached),
		TEST(the_hosts_hardware_version_must_do),
		TEST(the_templates_hardware_version_must_do_too),
		TEST(the_network_must_be_on_the_host),
		TEST(an_ethernet_pf_needs_link_an_infiniband_one_does_not),
		TEST(a_pf_without_a_free_vf_is_refused),
		TEST(an_over_committed_pf_does_not_eat_anothers_vfs),
		TEST(unknown_vfs_are_not_placed_on_but_vmxnet3_is),
		TEST(pfs_not_delivered_yet_are_unknown),
		TEST(latency_high_needs_cpu_for_its_reservation),
		TEST(a_cpu_overcommit_is_no_matter_without_a_reservation),
		TEST(a_vf_needs_memory_for_its_reservation_and_overhead),
		TEST(hosts_and_pfs_that_failed_lately_are_left_out),
		TEST(another_question_is_not_answered_by_what_is_kept),
		TEST(a_question_is_kept_once),
		TEST(no_number_of_questions_is_kept_for_ever),
		TEST(a_host_on_trial_takes_as_many_as_it_may),
		TEST(a_gang_leaves_the_host_on_trial_when_its_trial_is_full),
		TEST(a_gang_reserves_no_cpu_twice),
		TEST(a_clones_parent_needs_its_cpu_too),
		TEST(a_host_with_an_unread_vm_is_refused_for_that_first),
		TEST(a_packed_second_kind_minds_the_trial_too),
		TEST(a_device_beside_the_vf_must_be_there),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
