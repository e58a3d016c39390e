/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VMs of several NICs (NICsPerNode=): what is asked of vCenter for them, when one
 * is right, and which idle VMs make room for them. Devices beside them (ExtraDevice=).
 */
#include "engine_stage.h"

#define A "0000:3b:00.0"
#define B "0000:5e:00.0"

/* One host with two PFs; all nodes have two rails. */
static void begin_rails(int nodes)
{
	static const char *const nets[] = { "dvportgroup-1" };
	static const char *const stores[] = { "datastore-1" };
	const struct vs_vc_pf pfs[] = {
		{ .pci = B, .pnic = "vmnic5", .switch_uuid = "sw", .vfs = 4,
		  .numa = 1, .link_up = true },
		{ .pci = A, .pnic = "vmnic4", .switch_uuid = "sw", .vfs = 4,
		  .numa = 0, .link_up = true },
	};
	const struct vs_vc_host h = {
		.moid = "host-1", .has = ~0u, .name = "esx1",
		.cluster = "domain-c1", .connected = true, .powered_on = true,
		.cores = 64, .core_mhz = 2000, .numa_nodes = 2, .max_hw = 21,
		.memory_mb = 512 * 1024, .pfs = pfs, .npfs = 2, .nets = nets,
		.nnets = 1, .stores = stores, .nstores = 1,
	};

	begin(nodes, 1, 4, "power_off");
	core_adapters()[0].per_node = 2;
	core_adapters()[0].rails = true;
	vs_setup_macs(&vs_core);
	ready();
	fake_host(&h);
	turn();
}

static void a_clone_brings_a_nic_for_each_rail(void **state)
{
	const struct vs_node *n;
	struct fake_vm *vm;
	char pfs[VS_PFS_LEN];

	(void)state;
	begin_rails(1);
	n = vs_node_named(&vs_core, "vm1");
	assert_string_not_equal(n->macs[0], n->macs[1]);
	clone_for(7, "vm1");
	vm = fake_get("vm1");
	assert_int_equal(vm->nmore, 1);
	assert_string_equal(vm->mac, n->macs[0]);
	assert_string_equal(vm->more[0].mac, n->macs[1]);
	assert_string_equal(vm->pci, A);
	assert_string_equal(vm->more[0].pci, B);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	assert_int_equal(fake_sent[FAKE_RECONFIGURE], 0);
	assert_true(fake_finish(FAKE_POWER_ON));
	turn();
	assert_string_equal(vs_claim_pfs(vs_ledger_get(core_ledger(), "vm1"),
					 pfs), A "," B);
}

static void a_vm_that_lacks_one_of_its_nics_is_reconfigured(void **state)
{
	struct fake_vm *vm;

	(void)state;
	begin_rails(1);
	clone_for(7, "vm1");
	vm = fake_get("vm1");
	vm->nmore = 0;			/* by an administrator */
	fake_show(vm);
	turns(2);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 0);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	assert_int_equal(fake_get("vm1")->removed, 1);
	assert_int_equal(fake_get("vm1")->nmore, 1);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
}

static void a_nic_too_many_goes_with_a_reconfiguration(void **state)
{
	(void)state;
	begin_rails(1);
	clone_for(7, "vm1");
	core_adapters()[0].per_node = 1;	/* a new configuration */
	core_adapters()[0].rails = false;
	vs_profiles_changed(&vs_core);
	turns(3);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	assert_int_equal(fake_get("vm1")->removed, 2);
	assert_int_equal(fake_get("vm1")->nmore, 0);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	assert_int_equal(vs_ledger_get(core_ledger(), "vm1")->nvfs, 1);
}

static void the_ledger_is_rebuilt_from_what_vcenter_shows(void **state)
{
	struct vs_claim *h;

	(void)state;
	begin_rails(1);
	bring_up(7, "vm1");
	vs_ledger_clear(core_ledger());
	vs_node_mark_changed(vs_node_named(&vs_core, "vm1"));
	turns(2);
	h = vs_ledger_get(core_ledger(), "vm1");
	assert_non_null(h);
	assert_int_equal(h->state, VS_CLAIM_IN_USE);
	assert_true(vs_claim_is_on(h, (const struct vs_claim_vf []) {
		{ A, false }, { B, false } }, 2));
}

/* ---- room ------------------------------------------------------------------- */

/* vm1..vm4 take one VF each and fill both hosts; vm5 takes two of one PF. */
static void begin_mixed(void)
{
	struct vs_conf *conf = conf_make(5, "warm", 1024);
	struct vs_conf_adapter *two = conf_other_from(conf, 4, "sriov");
	static const char *const names[] = { "vm1", "vm2", "vm3", "vm4" };

	two->distinct_pfs = vs_strdup("no");
	two->per_node = 2;
	begin(5, 2, 2, "warm");
	begin_as(conf);
	ready();
	for (uint32_t i = 0; i < 4; i++) {
		bring_up(10 + i, names[i]);
		end_job(10 + i, names[i]);
	}
}

static void idle_vms_of_one_host_go_together_for_one_that_needs_both(void **st)
{
	const char *host = NULL;
	int want, n = 0;

	(void)st;
	begin_mixed();
	want = id("vm5");
	assert_int_equal(vs_query_capacity(&vs_core, &want, 1, NULL, NULL, 0),
			 0);
	refuse(20, &want, 1, 1, "no VF");
	turns(3);
	for (int i = 0; i < 4; i++) {
		const char *name = core_nodes()[i].name;
		const char *at = vs_ledger_get(core_ledger(), name)->host;

		if (!heard(VS_REQUEST_POWER_DOWN, name))
			continue;
		n++;
		assert_true(!host || !strcmp(host, at));
		host = at;
	}
	assert_int_equal(n, 2);
}

static void a_shortage_is_told_in_nodes_and_their_vfs(void **st)
{
	char why[256], words[256];
	int want[2];

	(void)st;
	begin_mixed();
	want[0] = id("vm5");
	assert_int_equal(vs_query_capacity(&vs_core, want, 1, NULL, why,
					   sizeof(why)), 0);
	vs_shortage_text(&vs_core, want, 1, 1, 0, why, words, sizeof(words));
	assert_string_equal(words, "needs 2 other VFs on 1 node, capacity for 0 VMs");
	/* of several kinds it is nodes that lack */
	want[1] = id("vm1");
	vs_shortage_text(&vs_core, want, 2, 2, 1, why, words, sizeof(words));
	assert_string_equal(words, "needs 2 nodes, capacity for 1 VM");
}

/* Also what takes it beside its VF (ExtraDevice=). */
static void a_device_that_no_host_offers_is_refused_by_its_ids(void **st)
{
	struct vs_conf *conf = conf_make(1, "warm", 4096);
	struct vs_err err = { 0 };

	(void)st;
	begin(1, 2, 1, "warm");
	conf_other_from(conf, 1, "dynamic-directpath");
	begin_as(conf);
	core_adapters()[1].vendor = 0x10de;
	core_adapters()[1].device = 0x20b0;
	core_adapters()[0].with = &core_adapters()[1];
	ready();
	assert_int_equal(vs_job_begin(&vs_core, 99, 0, (int[]) { 0 }, 1, &err),
			 -1);
	assert_non_null(strstr(err.text, "AdapterName=other: no host offers a device of Vendor=0x10de Device=0x20b0: enable passthrough for it"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clone_brings_a_nic_for_each_rail),
		cmocka_unit_test(a_vm_that_lacks_one_of_its_nics_is_reconfigured),
		cmocka_unit_test(a_nic_too_many_goes_with_a_reconfiguration),
		cmocka_unit_test(the_ledger_is_rebuilt_from_what_vcenter_shows),
		cmocka_unit_test(idle_vms_of_one_host_go_together_for_one_that_needs_both),
		cmocka_unit_test(a_shortage_is_told_in_nodes_and_their_vfs),
		cmocka_unit_test(a_device_that_no_host_offers_is_refused_by_its_ids),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("engine_rails", tests, NULL, NULL);
}
