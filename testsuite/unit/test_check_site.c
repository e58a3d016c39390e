/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pure checks of what hosts share: pools, datastores, templates. */
#include "check_stage.h"

static void a_pools_limit_is_held_against_the_largest_vm(void **state)
{
	struct vs_pool_facts p = { .name = "slurm", .path = "/p",
		.cluster = "domain-c1",
		.core_mhz = 2400, .most_cpu_mhz = -1, .most_mem_mb = -1 };

	(void)state;
	vs_check_pool(&site, &p, &found);
	assert_int_equal(found.n, 0);
	p.most_cpu_mhz = 16 * 2400 - 1;
	vs_check_pool(&site, &p, &found);
	assert_int_equal(found.n, 1);
	p.most_cpu_mhz++;
	p.most_mem_mb = 32 * 1024;
	vs_check_pool(&site, &p, &found);	/* the overhead comes on top */
	assert_int_equal(found.n, 2);
	p.cluster = "domain-c2";		/* no known host is in it */
	vs_check_pool(&site, &p, &found);
	vs_strlcpy(host(1)->cluster, "domain-c2", VS_MOID_LEN);
	host(1)->npfs = 0;			/* one is, without a PF */
	vs_check_pool(&site, &p, &found);
	assert_int_equal(found.n, 2);
	host(1)->npfs = 1;
	vs_check_pool(&site, &p, &found);
	assert_int_equal(found.n, 3);
}

static void a_datastore_has_room_or_says_how_much_it_lacks(void **state)
{
	struct vs_store_facts d = { .name = "vsan", .accessible = 1,
				    .free_mb = 1000, .needs_mb = 1000 };

	(void)state;
	vs_check_store(&d, &found);
	d.needs_mb++;
	d.free_mb = -1;
	vs_check_store(&d, &found);
	assert_int_equal(found.n, 0);
	d.free_mb = 1000;
	vs_check_store(&d, &found);
	assert_int_equal(found.f[0].code, VS_CHECK_STORE_CAPACITY);
	d.accessible = 0;		/* that alone */
	vs_check_store(&d, &found);
	assert_int_equal(found.n, 2);
	assert_int_equal(found.f[1].code, VS_CHECK_STORE_AWAY);
}

/* ---- templates --------------------------------------------------------------------- */

static size_t of_template(const char *guest, int hw, int flag)
{
	struct vs_template_facts t = { .name = "tpl", .hw = hw,
		.snapshot = flag, .hot_add = flag, .tools = flag };

	vs_strlcpy(t.guest, guest, sizeof(t.guest));
	vs_found_clear(&found);
	vs_check_template(&site, &t, &found);
	return found.n;
}

static void guests_are_known_by_vspheres_names(void **state)
{
	static const char *const good[] = { "rhel9_64Guest", "", "sles15_64Guest",
		"otherLinux64Guest", "other5xLinux64Guest", "debian12_64Guest",
		"rockylinux_64Guest", "ubuntu64Guest" };
	static const char *const bad[] = { "rhel6Guest", "windows9_64Guest",
		"otherGuest64", "freebsd14_64Guest", "darwin21_64Guest",
		"other3xLinuxGuest", "vmkernel8Guest" };

	(void)state;
	for (size_t i = 0; i < VS_COUNT(good); i++)
		if (of_template(good[i], 20, -1))
			fail_msg("%s is not taken", good[i]);
	for (size_t i = 0; i < VS_COUNT(bad); i++)
		if (of_template(bad[i], 20, -1) != 1)
			fail_msg("%s is taken", bad[i]);
}

static void a_templates_hardware_is_as_new_as_its_use(void **state)
{
	(void)state;
	assert_int_equal(of_template("", 14, -1), 0);
	assert_int_equal(of_template("", 13, -1), 1);	/* latency */
	profile.latency_high = false;
	assert_int_equal(of_template("", 13, -1), 0);
	assert_int_equal(of_template("", 10, -1), 0);	/* SR-IOV */
	assert_int_equal(of_template("", 9, -1), 1);
	assert_non_null(strstr(found.f[0].fix, "-version 10"));
	assert_int_equal(of_template("", 0, -1), 0);
}

/* The finding blocks only jobs of the one adapter that needs EFI. */
static void large_bars_want_a_template_that_boots_by_efi(void **state)
{
	struct vs_adapter gpu = { .name = "gpu", .type = VS_ADAPTER_DYNAMIC,
				  .mmio_gb = 160 };
	struct vs_template_facts t = { .name = "tpl", .guest = "", .hw = 20,
		.bios = true, .snapshot = -1, .hot_add = -1, .tools = -1 };
	struct vs_profile plain = profile;

	(void)state;
	vs_check_template(&site, &t, &found);
	assert_int_equal(found.n, 0);
	adapter.with = &gpu;
	vs_check_template(&site, &t, &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.f[0].code, VS_CHECK_TEMPLATE_FIRMWARE);
	assert_string_equal(found.f[0].is, "BIOS");
	assert_non_null(strstr(found.f[0].should, "256 GB"));
	plain.adapter = &(struct vs_adapter) { .type = VS_ADAPTER_VMXNET3 };
	assert_true(vs_check_blocks(&found.f[0], &profile));
	assert_false(vs_check_blocks(&found.f[0], &plain));
	t.bios = false;
	vs_found_clear(&found);
	vs_check_template(&site, &t, &found);
	assert_int_equal(found.n, 0);
}

static void each_flag_of_a_template_is_a_finding_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(of_template("", 20, 1), 2);	/* snapshot, hot-add */
	assert_int_equal(of_template("", 20, 0), 1);	/* no tools */
	assert_int_equal(found.f[0].code, VS_CHECK_TEMPLATE_TOOLS);
}

/* ---- networks ------------------------------------------------------------------------ */

static void a_templates_own_nic_is_not_on_the_rdma_network(void **state)
{
	struct vs_template_facts t = { .name = "tpl", .guest = "", .hw = 20,
		.snapshot = -1, .hot_add = -1, .tools = -1, .nnets = 1,
		.nets = { "network-1", "pg-1" } };

	(void)state;
	vs_check_template(&site, &t, &found);
	assert_int_equal(found.n, 0);
	t.nnets = 2;
	vs_check_template(&site, &t, &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.f[0].code, VS_CHECK_APART);
	assert_non_null(strstr(found.f[0].fix, "vm.network.change -vm tpl"));
	vs_found_clear(&found);
	t.passthrough = 1;		/* that NIC is to go, before all */
	vs_check_template(&site, &t, &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.f[0].code, VS_CHECK_TEMPLATE_NIC);
	t.passthrough = 0;
	adapter.type = VS_ADAPTER_VMXNET3;
	vs_check_template(&site, &t, &found);
	assert_int_equal(found.n, 1);
}

static void management_is_not_on_the_rdma_network(void **state)
{
	(void)state;
	vs_strlcpy(net.portgroup_key, "key-1", VS_MOID_LEN);
	for (int i = 2; i <= 3; i++) {
		host(i)->facts->setup.nmgmt = 2;
		vs_strlcpy(host(i)->facts->setup.mgmt[0], "PG", VS_LABEL_LEN);
	}
	vs_check_apart(&site, &found);
	assert_int_equal(found.n, 0);	/* a standard one of that name */
	for (int i = 2; i <= 3; i++)
		vs_strlcpy(host(i)->facts->setup.mgmt[1], "key-1", VS_LABEL_LEN);
	vs_check_apart(&site, &found);
	assert_int_equal(found.n, 1);
	assert_string_equal(found.f[0].object, "roce");
	assert_string_equal(found.f[0].is,
			    "PG carries the management of 2 hosts: esx2, ...");
	net.switch_uuid[0] = '\0';	/* it is a standard one itself */
	vs_check_apart(&site, &found);
	assert_int_equal(found.n, 2);
	/* vCenter shows such a name with its slashes */
	vs_strlcpy(adapter.network, "RoCE 10.1.0.0/16", VS_LABEL_LEN);
	vs_strlcpy(host(2)->facts->setup.mgmt[0], "16", VS_LABEL_LEN);
	vs_check_apart(&site, &found);
	assert_int_equal(found.n, 2);
	vs_strlcpy(host(2)->facts->setup.mgmt[0], adapter.network, VS_LABEL_LEN);
	vs_check_apart(&site, &found);
	assert_int_equal(found.n, 3);
	nodes = 0;
	vs_check_apart(&site, &found);
	assert_int_equal(found.n, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_pools_limit_is_held_against_the_largest_vm),
		T(a_datastore_has_room_or_says_how_much_it_lacks),
		T(guests_are_known_by_vspheres_names),
		T(large_bars_want_a_template_that_boots_by_efi),
		T(a_templates_hardware_is_as_new_as_its_use),
		T(each_flag_of_a_template_is_a_finding_of_its_own),
		T(a_templates_own_nic_is_not_on_the_rdma_network),
		T(management_is_not_on_the_rdma_network),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
