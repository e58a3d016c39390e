/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pure checks: a sound host finds nothing; one thing that is changed in it
 * is found by one code; what isn't known finds nothing. What is usual, and the
 * table itself.
 */
#include "check_stage.h"

static void a_sound_site_finds_nothing(void **state)
{
	(void)state;
	look();
	assert_int_equal(found.n, 0);
}

static void of_a_host_that_is_away_nothing_is_said(void **state)
{
	(void)state;
	host(2)->connected = false;
	host(2)->facts->setup.power[0] = '\0';
	host(2)->pfs[0].link_up = false;
	look();
	assert_int_equal(found.n, 0);
}

static void what_is_not_read_is_one_finding_that_bars_nothing(void **state)
{
	struct vs_host *h = host(2);

	(void)state;
	vs_host_facts_free(h->facts);
	h->facts = NULL;
	finds(VS_CHECK_HOST_UNREAD, "-principal 'slurm@v' -role ReadOnly");
	assert_int_equal(found.f[0].severity, VS_UNSURE);
	assert_string_equal(found.f[0].bars, "");
}

/* Each value that stands for "unknown" would be a finding if it were judged. */
static void what_needs_an_unknown_fact_is_not_judged(void **state)
{
	struct vs_host *h = host(2);

	(void)state;
	h->max_hw = h->cores = h->nnets = h->nstores = 0;
	h->memory_mb = 0;
	h->stores_known = h->pfs_known = false;
	h->facts->setup.power[0] = h->facts->setup.build[0] = '\0';
	h->facts->setup.clocks = h->facts->setup.reboot = -1;
	finds(VS_CHECK_HOST_UNREAD, "govc permissions.set");
	assert_string_equal(found.f[0].is, "not read: power policy, product, "
			    "time servers, PFs, reboot required");
}

/* ---- VFs -------------------------------------------------------------------- */

static void vfs_are_judged_in_the_order_in_which_they_are_mended(void **state)
{
	struct vs_pf *pf = &host(2)->pfs[0];
	struct vs_pf_facts *f = &host(2)->facts->pfs[0];

	(void)state;
	pf->vfs = 4;				/* fewer than it had */
	f->asked = 4;
	finds(VS_CHECK_VF_LOST, "max_vfs=8\n");
	assert_non_null(strstr(found.f[0].fix, "svf host resume esx2"));
	f->asked = 6;				/* and than were asked for */
	finds(VS_CHECK_VF_FEWER, "host.shutdown -r esx2");
	pf->vfs = 0;				/* and there are none */
	finds(VS_CHECK_VF_INACTIVE, "host.shutdown -r esx2");
	f->enabled = false;			/* off: as many VFs as others */
	finds(VS_CHECK_VF_OFF, "-a -m nmlx5_core -p max_vfs=8\n");
}

/* What the firmware bounds hides nothing else; and it is NVIDIA's rule. */
static void the_firmwares_number_is_a_finding_of_its_own(void **state)
{
	struct vs_pf_facts *f = &host(2)->facts->pfs[0];

	(void)state;
	f->most = 8;
	finds(VS_CHECK_VF_COUNT, "mlxconfig -y -d 0000:3b:00.0 set "
	      "SRIOV_EN=1 NUM_OF_VFS=9\ngovc host.shutdown -r esx2");
	host(2)->pfs[0].vfs = 4;
	look();
	assert_int_equal(found.n, 2);
	assert_int_equal(found.f[1].code, VS_CHECK_VF_FEWER);
	f->asked = 4;
	f->most = 4;
	look();
	assert_int_equal(found.n, 2);
	assert_int_equal(found.f[1].code, VS_CHECK_VF_LOST);
	for (int i = 1; i <= HOSTS; i++)
		vs_strlcpy(host(i)->facts->pfs[0].driver, "icen", 32);
	finds(VS_CHECK_VF_LOST, "-m icen -p max_vfs=8\n");
	f->asked = f->had = 4;
	look();
	assert_int_equal(found.n, 0);
}

/* A block that is pasted: no line comes before what it needs. */
static void a_reboot_is_waited_for(void **state)
{
	static const char *const lines[] = {
		"govc host.maintenance.enter esx2\n", "mlxfwmanager ",
		"govc host.shutdown -r esx2\n",
		"-name esx2)\" -runtime.connectionState notResponding\n",
		"-name esx2)\" -runtime.connectionState connected\n",
		"govc host.maintenance.exit esx2" };
	const char *at;

	(void)state;
	vs_strlcpy(host(2)->facts->pfs[0].firmware, "22.40.5", 48);
	finds(VS_CHECK_FIRMWARE_ODD, lines[0]);
	at = found.f[0].fix;
	for (size_t i = 0; i < VS_COUNT(lines); i++) {
		at = strstr(at, lines[i]);
		if (!at)
			fail_msg("no %s in its place in: %s", lines[i],
				 found.f[0].fix);
	}
}

/* NUM_OF_VFS >= sum(max_vfs) + 1, of all ports of a NIC. */
static void two_ports_of_a_nic_share_its_firmwares_number(void **state)
{
	struct vs_host *h = host(2);

	(void)state;
	h->pfs[1] = h->pfs[0];
	h->facts->pfs[1] = h->facts->pfs[0];
	vs_strlcpy(h->pfs[1].pci, "0000:3b:00.1", VS_PCI_LEN);
	h->npfs = 2;
	look();
	assert_int_equal(found.n, 2);		/* 8 + 8 + 1 > 16 */
	assert_int_equal(found.f[0].code, VS_CHECK_VF_COUNT);
	h->facts->pfs[0].most = h->facts->pfs[1].most = 17;
	look();
	assert_int_equal(found.n, 0);
	/* Another NIC's ports count for themselves. */
	h->facts->pfs[0].most = h->facts->pfs[1].most = 9;
	vs_strlcpy(h->pfs[1].pci, "0000:5e:00.0", VS_PCI_LEN);
	look();
	assert_int_equal(found.n, 0);
}

/* max_vfs has a number for each port, in the order of addresses. */
static void the_drivers_list_is_in_pci_order(void **state)
{
	struct vs_host *h = host(2);

	(void)state;
	h->pfs[1] = h->pfs[0];
	h->facts->pfs[1] = h->facts->pfs[0];
	vs_strlcpy(h->pfs[1].pci, "0000:18:00.0", VS_PCI_LEN);
	h->facts->pfs[1].asked = 5;
	h->pfs[1].vfs = h->facts->pfs[1].had = 5;
	h->npfs = 2;
	h->facts->pfs[0].enabled = false;
	h->pfs[0].vfs = 0;
	finds(VS_CHECK_VF_OFF, "max_vfs=5,8\n");
}

/* A NIC without SR-IOV capability is no PF: the check names uplinks that should
 * be PFs, and ignores others. */
static void an_uplink_that_is_not_capable_is_named(void **state)
{
	struct vs_host_facts *f = host(2)->facts;

	(void)state;
	f->incapable = vs_calloc(2, sizeof(*f->incapable));
	f->nincapable = 1;
	vs_strlcpy(f->incapable[0].pci, "0000:3b:00.1", VS_PCI_LEN);
	vs_strlcpy(f->incapable[0].pnic, "vmnic5", 32);
	vs_strlcpy(f->incapable[0].switch_uuid, "sw", VS_LABEL_LEN);
	vs_strlcpy(f->incapable[0].driver, "ixgben", 32);
	look();				/* another kind of NIC beside a PF */
	assert_int_equal(found.n, 0);
	/* The other port of the NIC: 8 of each, and one. */
	vs_strlcpy(f->incapable[0].driver, "nmlx5_core", 32);
	finds(VS_CHECK_VF_INCAPABLE, "SRIOV_EN=1 NUM_OF_VFS=17\n");
	assert_string_equal(found.f[0].pf, "0000:3b:00.1");
	host(2)->npfs = 0;		/* there is nothing else */
	finds(VS_CHECK_VF_INCAPABLE, "mlxconfig -y -d 0000:3b:00.1 set");
	vs_strlcpy(f->incapable[0].switch_uuid, "other", VS_LABEL_LEN);
	finds(VS_CHECK_UPLINK_MISSING, "dvs.add");
}

static void a_pf_that_no_adapter_draws_on_is_nobodys_business(void **state)
{
	struct vs_host *h = host(2);

	(void)state;
	h->pfs[1] = h->pfs[0];
	h->facts->pfs[1] = (struct vs_pf_facts) { .enabled = false };
	vs_strlcpy(h->pfs[1].pci, "0000:5e:00.0", VS_PCI_LEN);
	vs_strlcpy(h->pfs[1].switch_uuid, "other", VS_LABEL_LEN);
	h->npfs = 2;
	look();
	assert_int_equal(found.n, 0);
}

/* ---- ports and switches -------------------------------------------------------- */

static void a_port_without_link_bars_its_pf(void **state)
{
	(void)state;
	host(2)->pfs[0].link_up = false;
	finds(VS_CHECK_LINK_DOWN, "nic up -n vmnic4");
	assert_string_equal(found.f[0].bars, "host-2");
	assert_string_equal(found.f[0].pf, "0000:3b:00.0");
}

static void infiniband_shows_neither_link_nor_mtu(void **state)
{
	(void)state;
	adapter.link = VS_LINK_INFINIBAND;
	host(2)->pfs[0].link_up = false;
	host(2)->facts->switches[0].mtu = 1500;
	look();
	assert_int_equal(found.n, 0);
}

static void a_small_mtu_bars_the_pf_and_an_unknown_one_nothing(void **state)
{
	struct vs_switch_facts *sw = &host(2)->facts->switches[0];

	(void)state;
	sw->mtu = 8999;
	finds(VS_CHECK_MTU, "dvs.change -mtu 9000 dvs");
	assert_string_equal(found.f[0].bars, "host-2");
	sw->mtu = 0;
	look();
	assert_int_equal(found.n, 0);
	sw->mtu = 1500;
	adapter.mtu = 0;		/* as the network has it on other hosts */
	finds(VS_CHECK_MTU_ODD, "dvs.change -mtu 9000 dvs");
	assert_int_equal(found.f[0].severity, VS_WARNING);
	assert_string_equal(found.f[0].bars, "");
	for (int i = 1; i <= HOSTS; i++)
		host(i)->facts->switches[0].mtu = 1500;
	look();
	assert_int_equal(found.n, 0);
}

/* Of a switch that no adapter is on, nothing is said. */
/* The PF is barred for all adapters or for none. */
static void another_adapters_mtu_bars_no_pf_that_serves(void **state)
{
	struct vs_adapter both[2] = { adapter, adapter };
	struct vs_network nets[2] = { net, net };
	struct vs_profile of[2] = { profile, profile };
	int has[2] = { 1, 0 };

	(void)state;
	both[0].mtu = 0;
	vs_strlcpy(both[1].name, "roce9k", sizeof(both[1].name));
	of[0].adapter = &both[0];
	of[1].adapter = &both[1];
	site.adapters = both;
	site.nets = nets;
	site.nadapters = site.nprofiles = 2;
	site.profiles = of;
	site.nodes = has;
	for (int i = 1; i <= HOSTS; i++)
		host(i)->facts->switches[0].mtu = 1500;
	look();
	assert_int_equal(found.n, 0);		/* no node has roce9k */
	has[1] = 1;
	look();
	assert_int_equal(found.n, HOSTS);
	assert_int_equal(found.f[0].code, VS_CHECK_MTU);
	assert_int_equal(found.f[0].severity, VS_WARNING);
	assert_string_equal(found.f[0].bars, "");
	both[0].mtu = 9000;
	look();
	assert_int_equal(found.f[0].severity, VS_HARD);
	assert_string_not_equal(found.f[0].bars, "");
}

static void another_switchs_mtu_is_nobodys_business(void **state)
{
	(void)state;
	adapter.mtu = 0;
	vs_strlcpy(net.switch_uuid, "other", sizeof(net.switch_uuid));
	for (int i = 1; i <= HOSTS; i++)
		vs_strlcpy(host(i)->pfs[0].switch_uuid, "other", VS_LABEL_LEN);
	host(2)->facts->switches[0].mtu = 1500;
	look();
	assert_int_equal(found.n, 0);
}

static void without_vfs_a_small_mtu_warns_and_bars_nothing(void **state)
{
	(void)state;
	adapter.type = VS_ADAPTER_PVRDMA;
	host(2)->facts->switches[0].mtu = 1500;
	finds(VS_CHECK_MTU, "dvs.change -mtu 9000 dvs");
	assert_int_equal(found.f[0].severity, VS_WARNING);
	assert_string_equal(found.f[0].bars, "");
}

static void a_network_is_missed_where_three_of_four_have_it(void **state)
{
	(void)state;
	vs_strlcpy(host(2)->nets[0], "another", VS_MOID_LEN);
	finds(VS_CHECK_NETWORK_MISSING, "dvs.add");
	vs_strlcpy(host(3)->nets[0], "another", VS_MOID_LEN);
	look();				/* two kinds of hosts, by design */
	assert_int_equal(found.n, 0);
}

static void an_uplink_is_missed_where_the_network_is(void **state)
{
	(void)state;
	host(2)->pfs[0].switch_uuid[0] = '\0';
	finds(VS_CHECK_UPLINK_MISSING, "dvs.add -dvs dvs -pnic vmnic4 esx2");
	assert_int_equal(found.f[0].severity, VS_HARD);
	host(2)->pfs_known = false;
	look();
	assert_int_equal(found.n, 1);
	assert_int_equal(found.f[0].code, VS_CHECK_HOST_UNREAD);
}

/* One host of four lost its NIC, perhaps; two and two are of two kinds. */
static void a_host_without_such_a_nic_is_no_hard_finding(void **state)
{
	struct vs_host_facts *f = host(2)->facts;

	(void)state;
	host(2)->npfs = 0;
	finds(VS_CHECK_UPLINK_MISSING, "dvs.add -dvs dvs -pnic VMNIC esx2");
	assert_int_equal(found.f[0].severity, VS_WARNING);
	/* Its uplinks, and what it has beside them, are of another kind. */
	f->incapable = vs_calloc(2, sizeof(*f->incapable));
	f->nincapable = 1;
	vs_strlcpy(f->incapable[0].pci, "0000:18:00.0", VS_PCI_LEN);
	vs_strlcpy(f->incapable[0].switch_uuid, "sw", VS_LABEL_LEN);
	vs_strlcpy(f->incapable[0].driver, "ntg3", 32);
	host(2)->npfs = 1;
	host(2)->pfs[0].switch_uuid[0] = '\0';
	vs_strlcpy(f->pfs[0].driver, "i40en", 32);
	finds(VS_CHECK_UPLINK_MISSING, "dvs.add");
	assert_int_equal(found.f[0].severity, VS_WARNING);
	host(3)->npfs = 0;
	look();
	assert_int_equal(found.n, 0);
	/* Nowhere is one: then what there is might be meant. */
	host(1)->npfs = host(4)->npfs = 0;
	finds(VS_CHECK_VF_INCAPABLE, "# SR-IOV on in the firmware");
}

/* ---- what is usual --------------------------------------------------------------- */

static void the_odd_one_is_told_on_either_side_of_a_roll_out(void **state)
{
	(void)state;
	vs_strlcpy(host(2)->facts->pfs[0].version, "4.24", 48);
	finds(VS_CHECK_DRIVER_ODD, "software vib update");
	/* Two and two: the later one is the usual one. */
	vs_strlcpy(host(3)->facts->pfs[0].version, "4.24", 48);
	look();
	assert_int_equal(found.n, 2);
	assert_string_equal(found.f[0].object, "esx1");
	assert_string_equal(found.f[1].object, "esx4");
	vs_strlcpy(host(1)->facts->pfs[0].version, "4.24", 48);
	vs_strlcpy(host(4)->facts->pfs[0].version, "4.24", 48);
	look();
	assert_int_equal(found.n, 0);
}

/* ConnectX-6 and -7 have other firmware by nature. */
static void firmware_is_compared_within_a_family_of_nics(void **state)
{
	(void)state;
	vs_strlcpy(host(2)->facts->pfs[0].firmware, "28.40.5", 48);
	look();
	assert_int_equal(found.n, 0);
	vs_strlcpy(host(2)->facts->pfs[0].firmware, "22.40.5", 48);
	finds(VS_CHECK_FIRMWARE_ODD, "mlxfwmanager -y -d 0000:3b:00.0");
}

static void a_host_that_is_too_old_is_not_odd_beside(void **state)
{
	(void)state;
	vs_strlcpy(host(2)->facts->setup.build, "90", 16);
	finds(VS_CHECK_ESXI_ODD, "software profile update");
	host(2)->max_hw = profile.template_hw - 1;
	finds(VS_CHECK_ESXI_OLD, "software profile update");
}

/* ---- room ----------------------------------------------------------------------- */

static void the_cores_of_esxi_are_no_vms(void **state)
{
	(void)state;
	profile.vcpus = 28;
	look();
	assert_int_equal(found.n, 0);
	host(2)->cpu_mhz--;
	finds(VS_CHECK_HOST_CORES, "slurm.conf: NodeName=... CPUs=27");
	assert_string_equal(found.f[0].is, "27 of its 32 cores for VMs");
	assert_string_equal(found.f[0].should, "28 cores for one VM");
	profile.latency_high = false;	/* cores are shared then */
	look();
	assert_int_equal(found.n, 0);
}

static void memory_counts_with_its_overhead(void **state)
{
	int64_t need = vs_profile_reserved_mb(&profile) +
		vs_profile_overhead_mb(&profile);

	(void)state;
	host(2)->memory_mb = need;
	look();
	assert_int_equal(found.n, 0);
	host(2)->memory_mb = need - 1;
	finds(VS_CHECK_HOST_MEMORY, "slurm.conf: NodeName=... RealMemory=");
	nodes = 0;			/* no node has it */
	look();
	assert_int_equal(found.n, 0);
}

static void one_device_that_is_left_out_has_no_others(void **state)
{
	struct vs_host *h = host(2);

	(void)state;
	h->nleft = 1;
	vs_strlcpy(h->left, "0000:58:00.0", sizeof(h->left));
	finds(VS_CHECK_DEVICE_LEFT, "Address=");
	assert_string_equal(found.f[0].is, "1 is not counted: 0000:58:00.0");
	h->nleft = 2;
	finds(VS_CHECK_DEVICE_LEFT, "Address=");
	assert_string_equal(found.f[0].is,
			    "2 are not counted: 0000:58:00.0 and others");
}

static void where_no_numa_node_is_told_its_affinity_has_no_effect(void **state)
{
	struct vs_host *h = host(2);

	(void)state;
	h->numa_nodes = 2;
	h->pfs[0].numa = -1;
	look();
	assert_int_equal(found.n, 0);
	profile.hw.numa_pf = true;
	for (int i = 1; i <= HOSTS; i++)
		host(i)->numa_nodes = 2;
	finds(VS_CHECK_NUMA_UNKNOWN, "NumaAffinity=none");
	assert_string_equal(found.f[0].is,
			    "no PCI device has a NUMA node, of 2");
	h->numa_nodes = 1;	/* there is no choice */
	look();
	assert_int_equal(found.n, 0);
	h->numa_nodes = 2;
	nodes = 0;		/* and no node of such a partition */
	look();
	assert_int_equal(found.n, 0);
	nodes = 1;
	h->pfs[0].numa = 0;
	look();
	assert_int_equal(found.n, 0);
}

/* ---- the table, the cost ------------------------------------------------------------- */

static void every_row_of_the_table_is_whole_and_alone(void **state)
{
	(void)state;
	for (int i = 0; i < VS_CHECKS; i++) {
		const struct vs_check_kind *k = &vs_check_kinds[i];

		assert_true(k->code && k->of && k->what && k->why);
		assert_int_equal(strspn(k->code,
			"abcdefghijklmnopqrstuvwxyz-"), strlen(k->code));
		assert_int_equal(k->why[strlen(k->why) - 1], '.');
		for (int j = 0; j < i; j++)
			assert_string_not_equal(k->code,
						vs_check_kinds[j].code);
	}
}

/* On the engine's thread, when a host has changed. */
static void a_thousand_hosts_cost_milliseconds(void **state)
{
	struct timespec a, b;
	double ms;

	(void)state;
	for (int i = HOSTS + 1; i <= 1000; i++)
		sound_host(i);
	for (int i = 1; i <= 1000; i += 2)
		host(i)->facts->switches[0].mtu = 1500;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	look();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	ms = (double)(b.tv_sec - a.tv_sec) * 1e3 +
		(double)(b.tv_nsec - a.tv_nsec) / 1e6;
	print_message("1000 hosts, %zu findings: %.2f ms\n", found.n, ms);
	assert_int_equal(found.n, 500);
	assert_true(ms < 200);		/* sanitizers and all */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_sound_site_finds_nothing),
		T(of_a_host_that_is_away_nothing_is_said),
		T(what_is_not_read_is_one_finding_that_bars_nothing),
		T(what_needs_an_unknown_fact_is_not_judged),
		T(vfs_are_judged_in_the_order_in_which_they_are_mended),
		T(the_firmwares_number_is_a_finding_of_its_own),
		T(a_reboot_is_waited_for),
		T(two_ports_of_a_nic_share_its_firmwares_number),
		T(the_drivers_list_is_in_pci_order),
		T(an_uplink_that_is_not_capable_is_named),
		T(a_pf_that_no_adapter_draws_on_is_nobodys_business),
		T(a_port_without_link_bars_its_pf),
		T(infiniband_shows_neither_link_nor_mtu),
		T(a_small_mtu_bars_the_pf_and_an_unknown_one_nothing),
		T(another_adapters_mtu_bars_no_pf_that_serves),
		T(another_switchs_mtu_is_nobodys_business),
		T(without_vfs_a_small_mtu_warns_and_bars_nothing),
		T(a_network_is_missed_where_three_of_four_have_it),
		T(an_uplink_is_missed_where_the_network_is),
		T(a_host_without_such_a_nic_is_no_hard_finding),
		T(the_odd_one_is_told_on_either_side_of_a_roll_out),
		T(firmware_is_compared_within_a_family_of_nics),
		T(a_host_that_is_too_old_is_not_odd_beside),
		T(the_cores_of_esxi_are_no_vms),
		T(memory_counts_with_its_overhead),
		T(one_device_that_is_left_out_has_no_others),
		T(where_no_numa_node_is_told_its_affinity_has_no_effect),
		T(every_row_of_the_table_is_whole_and_alone),
		T(a_thousand_hosts_cost_milliseconds),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
