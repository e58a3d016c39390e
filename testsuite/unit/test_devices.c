/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices that VMs get whole, alone and beside VFs: sums and placement. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "plan_world.h"
#include "util/mem.h"

#define GPU0 "0000:65:00.0"
#define GPU1 "0000:ca:00.0"

static struct world w;
static struct vs_adapter gpu, both;
static struct vs_profile p_gpu, p_both;
static struct vs_host *esx01, *esx02;

/* n devices alike, the first two at GPU0 and GPU1. */
static struct vs_pf *w_devices(struct vs_host *h, int n)
{
	struct vs_pf *row = w_pf(h, GPU0, n);
	struct vs_devices *of;

	h->devices = vs_calloc(VS_HOST_PFS, sizeof(*of));
	of = &h->devices[0];
	row->of = of;
	row->switch_uuid[0] = '\0';
	of->vendor = 0x10de;
	of->device = 0x20b0;
	of->n = n;
	vs_strlcpy(of->pci[0], GPU0, VS_PCI_LEN);
	vs_strlcpy(of->pci[1], GPU1, VS_PCI_LEN);
	return row;
}

/* Two hosts with a PF of 4 VFs; the first has two GPUs. */
static int setup(void **state)
{
	(void)state;
	w_init(&w);
	esx01 = w_host(&w, "esx01");
	esx02 = w_host(&w, "esx02");
	w_pf(esx01, W_PF0, 4);
	w_pf(esx02, W_PF0, 4);
	w_devices(esx01, 2);
	gpu = (struct vs_adapter) {
		.name = "gpu", .type = VS_ADAPTER_DYNAMIC,
		.vendor = 0x10de, .device = 0x20b0,
	};
	both = w.roce;
	both.with = &gpu;
	p_gpu = p_both = w.p_roce;
	p_gpu.adapter = &gpu;
	p_both.adapter = &both;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	w_clear(&w);
	return 0;
}

static struct vs_nic *dynamic_nic(struct vs_vm *vm, int device,
				   const char *label)
{
	struct vs_nic *c = w_nic(vm, VS_NIC_PCI_DYNAMIC, "");

	c->vendor = 0x10de;
	c->device = (uint16_t)device;
	vs_strlcpy(c->network, label, sizeof(c->network));
	return c;
}

static struct vs_vm *w_on(const char *moid, const char *host)
{
	struct vs_vm *vm = w_vm(&w, moid, moid, host);

	vm->power = VS_POWER_ON;
	vs_vm_changed(&w.inv, vm);
	return vm;
}

#define assert_free(vfs, gpus) do {					\
	assert_int_equal(w_free(&w, "esx01", W_PF0), vfs);		\
	assert_int_equal(w_free(&w, "esx01", GPU0), gpus);		\
} while (0)

/* ---- the ledger ----------------------------------------------------------- */

static void a_dynamic_nic_takes_one_of_those_alike(void **state)
{
	(void)state;
	dynamic_nic(w_on("vm-1", "esx01"), 0x20b0, "");
	assert_free(4, 1);
	dynamic_nic(w_on("vm-2", "esx01"), 0x20b0, "somebody's");
	assert_free(4, 0);
}

/* Also where the host has nothing else to give. */
static void so_it_does_on_a_host_of_devices_alone(void **state)
{
	struct vs_host *h = w_host(&w, "esx03");

	(void)state;
	w_devices(h, 2);
	dynamic_nic(w_on("vm-1", "esx03"), 0x20b0, "");
	assert_int_equal(w_free(&w, "esx03", GPU0), 1);
	/* of other ids, and no PF that could have such a VF */
	dynamic_nic(w_on("vm-2", "esx03"), 0x101c, "");
	assert_int_equal(w_free(&w, "esx03", GPU0), 1);
}

/* It may be a VF that is handed out as a device: of any PF, as before. */
static void one_of_other_ids_may_be_any_vf_but_no_device(void **state)
{
	(void)state;
	dynamic_nic(w_on("vm-1", "esx01"), 0x101c, "");
	assert_free(3, 2);
}

static void one_that_allows_several_counts_against_all(void **state)
{
	(void)state;
	dynamic_nic(w_on("vm-1", "esx01"), 0x20b0, "")->vendor = 0;
	assert_free(3, 1);
}

static void a_fixed_nic_takes_the_device_that_has_its_address(void **state)
{
	(void)state;
	w_nic(w_on("vm-1", "esx01"), VS_NIC_PCI_FIXED, GPU1);
	assert_free(4, 1);
	w_nic(w_on("vm-2", "esx01"), VS_NIC_PCI_FIXED, "0000:18:00.0");
	assert_free(4, 1);	/* no device entry has that address */
}

static void a_hold_of_a_device_is_stood_for_by_its_nic(void **state)
{
	struct vs_claim *h = w_hold(&w, "n1", "esx01", GPU0, VS_CLAIM_STARTING);
	struct vs_vm *vm = w_vm(&w, "vm-1", "n1", "esx01");

	(void)state;
	assert_free(4, 1);
	vs_ledger_set_vm(&w.ledger, h, vm->moid);
	vm->power = VS_POWER_ON;
	vs_vm_changed(&w.inv, vm);
	assert_free(4, 1);	/* no NIC is shown yet */
	dynamic_nic(vm, 0x20b0, "");
	assert_free(4, 1);
}

static void an_unknown_pf_of_a_nic_is_no_device(void **state)
{
	(void)state;
	w_vm_on(&w, "vm-1", "esx01", "0000:99:00.0");
	assert_free(3, 2);
}

/* ---- devices by their address ----------------------------------------------- */

/* Beside the PF: FPGAs at these, for the adapters of these lines. */
static struct vs_adapter fpga;
static struct vs_profile p_fpga;

static struct vs_pf *w_fixed(struct vs_host *h, const char *pci, int row,
			     uint32_t lines, const char *label)
{
	struct vs_pf *pf = w_pf(h, pci, 1);
	struct vs_devices *of = &h->devices[row];

	pf->of = of;
	pf->switch_uuid[0] = '\0';
	*of = (struct vs_devices) { .vendor = 0x10ee, .device = 0x5000,
				    .fixed = true, .lines = lines, .n = 1 };
	vs_strlcpy(of->label, label, sizeof(of->label));
	vs_strlcpy(of->pci[0], pci, VS_PCI_LEN);
	return pf;
}

#define FPGA0 "0000:3d:00.0"
#define FPGA1 "0000:d9:00.0"
#define FPGA2 "0000:da:00.0"

/* Two on esx01, of which the second adapter may give one; one on esx02. */
static void w_fpgas(void)
{
	w_fixed(esx01, FPGA0, 1, 1, "");
	w_fixed(esx01, FPGA1, 2, 3, "b");
	esx02->devices = vs_calloc(VS_HOST_PFS, sizeof(*esx02->devices));
	w_fixed(esx02, FPGA2, 0, 1, "");
	fpga = (struct vs_adapter) {
		.name = "fpga", .type = VS_ADAPTER_DIRECTPATH,
		.vendor = 0x10ee, .device = 0x5000,
	};
	p_fpga = w.p_roce;
	p_fpga.adapter = &fpga;
	vs_host_changed(&w.inv, esx01);
	vs_host_changed(&w.inv, esx02);
}

#define assert_fpgas(a, b, c) do {					\
	assert_int_equal(w_free(&w, "esx01", FPGA0), a);		\
	assert_int_equal(w_free(&w, "esx01", FPGA1), b);		\
	assert_int_equal(w_free(&w, "esx02", FPGA2), c);		\
} while (0)

static void a_fixed_nic_takes_its_device_and_no_other(void **state)
{
	(void)state;
	w_fpgas();
	assert_fpgas(1, 1, 1);
	w_nic(w_on("vm-1", "esx01"), VS_NIC_PCI_FIXED, FPGA1);
	assert_fpgas(1, 0, 1);
	assert_free(4, 2);	/* neither a VF nor a GPU */
	w_hold(&w, "n1", "esx01", FPGA0, VS_CLAIM_RESERVED);
	assert_fpgas(0, 0, 1);
}

/* vCenter doesn't show which of the devices it has: it may be each of them. */
static void a_dynamic_nic_counts_against_each_that_it_may_be(void **state)
{
	struct vs_nic *c;

	(void)state;
	w_fpgas();
	c = dynamic_nic(w_on("vm-1", "esx01"), 0x5000, "");
	c->vendor = 0x10ee;
	assert_fpgas(0, 0, 1);
	assert_free(4, 2);
	vs_strlcpy(c->network, "b", sizeof(c->network));
	vs_host_changed(&w.inv, esx01);
	assert_fpgas(1, 0, 1);	/* the only one of that label */
}

/* ---- placement ------------------------------------------------------------- */

static struct vs_place_node gang[8];

static struct vs_place_node *of(const struct vs_profile *p, size_t n)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f" };

	for (size_t i = 0; i < n; i++)
		gang[i] = (struct vs_place_node) {
			.node = names[i], .profile = p, .net = &w.net,
		};
	return gang;
}

static void devices_need_no_network_and_are_counted(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	esx01->nnets = 0;
	assert_int_equal(w_count(&w.env, of(&p_gpu, 1), 9), 2);
	assert_int_equal(vs_place(&w.env, of(&p_gpu, 2), 2, &err), 0);
	assert_ptr_equal(gang[1].host, esx01);
	assert_int_equal(gang[1].npfs, 1);
	assert_string_equal(gang[1].pfs[0]->pci, GPU0);
	assert_int_equal(vs_place(&w.env, of(&p_gpu, 3), 3, &err), -1);
	assert_int_equal(err.code, VS_E_SHORTAGE);
	assert_non_null(strstr(err.text, "needs 3 gpu devices, 2 free"));
	assert_non_null(strstr(err.text, "esx01: no free device"));
	assert_non_null(strstr(err.text, "esx02: no such device"));
}

static void a_vf_and_a_device_come_together_or_not_at_all(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	assert_int_equal(w_count(&w.env, of(&p_both, 1), 9), 2);
	assert_int_equal(vs_place(&w.env, of(&p_both, 2), 2, &err), 0);
	for (int i = 0; i < 2; i++) {
		assert_ptr_equal(gang[i].host, esx01);
		assert_int_equal(gang[i].npfs, 2);
		assert_string_equal(gang[i].pfs[0]->pci, W_PF0);
		assert_string_equal(gang[i].pfs[1]->pci, GPU0);
	}
	/* a device in use is short, however many VFs there are */
	dynamic_nic(w_on("vm-1", "esx01"), 0x20b0, "");
	assert_int_equal(vs_place(&w.env, of(&p_both, 2), 2, &err), -1);
	assert_non_null(strstr(err.text,
		"needs 2 sriov-roce VFs with 1 gpu device each, 1 free"));
	/* and so is a VF */
	assert_int_equal(w_count(&w.env, of(&p_both, 1), 9), 1);
	esx01->pfs[0].vfs = 0;
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(w_count(&w.env, of(&p_both, 1), 9), 0);
	assert_int_equal(w_count(&w.env, of(&p_gpu, 1), 9), 1);
}

static void each_address_is_given_once_to_whom_it_is_meant_for(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	w_fpgas();
	assert_int_equal(vs_place(&w.env, of(&p_fpga, 3), 3, &err), 0);
	assert_ptr_equal(gang[0].host, esx01);
	assert_ptr_not_equal(gang[0].pfs[0], gang[1].pfs[0]);
	assert_ptr_not_equal(gang[0].pfs[0], gang[2].pfs[0]);
	assert_ptr_not_equal(gang[1].pfs[0], gang[2].pfs[0]);
	assert_int_equal(vs_place(&w.env, of(&p_fpga, 4), 4, &err), -1);
	assert_non_null(strstr(err.text, "needs 4 fpga devices, 3 free"));
	/* another line of vsphere.conf has one of them alone */
	fpga.line = 1;
	assert_int_equal(w_count(&w.env, of(&p_fpga, 1), 9), 1);
	assert_int_equal(vs_place(&w.env, of(&p_fpga, 1), 1, &err), 0);
	assert_string_equal(gang[0].pfs[0]->pci, FPGA1);
	/* no device that ESXi chooses is one of them, nor the other way */
	fpga.type = VS_ADAPTER_DYNAMIC;
	assert_int_equal(w_count(&w.env, of(&p_fpga, 1), 9), 0);
	gpu.type = VS_ADAPTER_DIRECTPATH;
	assert_int_equal(w_count(&w.env, of(&p_gpu, 1), 9), 0);
}

static void several_for_one_vm_are_several_devices_of_one_host(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	w_fpgas();
	fpga.per_node = 2;
	assert_int_equal(w_count(&w.env, of(&p_fpga, 1), 9), 1);
	assert_int_equal(vs_place(&w.env, of(&p_fpga, 1), 1, &err), 0);
	assert_ptr_equal(gang[0].host, esx01);
	assert_int_equal(gang[0].npfs, 2);
	assert_string_equal(gang[0].pfs[0]->pci, FPGA0);
	assert_string_equal(gang[0].pfs[1]->pci, FPGA1);
}

/* ---- Address= ---------------------------------------------------------------- */

static void an_address_is_of_all_hosts_or_of_those_named(void **state)
{
	const char *list = "0000:3B:00.0,esx[03-04].org/0000:af:00.0,"
		"0000:5e:00.[0-1]";
	struct vs_addresses *a = vs_addresses_new(list);
	struct vs_addresses *wrong = vs_addresses_new("esx[");
	char text[VS_ADDRESS_LEN + 1];
	struct vs_err err = { 0 };

	(void)state;
	assert_int_equal(vs_address_check(list, &err), 0);
	assert_true(vs_addresses_has(a, "esx01.org", "0000:3b:00.0"));
	assert_true(vs_addresses_has(a, "esx03.org", "0000:3b:00.0"));
	assert_true(vs_addresses_has(a, "esx03.org", "0000:af:00.0"));
	assert_true(vs_addresses_has(a, "esx04.org", "0000:5e:00.1"));
	assert_false(vs_addresses_has(a, "esx05.org", "0000:af:00.0"));
	assert_false(vs_addresses_has(a, "esx03", "0000:af:00.0"));
	assert_false(vs_addresses_has(a, "esx03.org", "0000:af:00.2"));
	assert_true(vs_addresses_has(NULL, "esx01.org", "0000:af:00.2"));
	assert_false(vs_addresses_has(wrong, "esx01.org", "0000:af:00.2"));
	memset(text, 'x', sizeof(text));
	text[VS_ADDRESS_LEN] = '\0';
	assert_int_equal(vs_address_check(text, &err), -1);
	assert_non_null(strstr(err.text, "longer than 511"));
	assert_null(vs_addresses_new(""));
	vs_addresses_free(a);
	vs_addresses_free(wrong);
}

/* Alone and beside: they draw on the same devices. */
static void those_beside_and_those_alone_share_the_devices(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	of(&p_both, 3);
	gang[1].profile = gang[2].profile = &p_gpu;
	assert_int_equal(vs_place(&w.env, gang, 2, &err), 0);
	assert_int_equal(vs_place(&w.env, gang, 3, &err), -1);
}

static void the_pf_on_the_devices_numa_node_is_chosen(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	w_pf(esx01, W_PF1, 2);
	esx01->numa_nodes = 2;
	esx01->pfs[0].numa = 0;
	esx01->pfs[1].numa = 1;		/* the GPUs */
	esx01->pfs[2].numa = 1;
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(vs_place(&w.env, of(&p_both, 1), 1, &err), 0);
	assert_string_equal(gang[0].pfs[0]->pci, W_PF1);
	assert_string_equal(gang[0].pfs[1]->pci, GPU0);
	for (int i = 0; i < 3; i++)	/* the other way round */
		esx01->pfs[i].numa = !esx01->pfs[i].numa;
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(vs_place(&w.env, of(&p_both, 1), 1, &err), 0);
	assert_string_equal(gang[0].pfs[0]->pci, W_PF1);
	for (int i = 0; i < 3; i++)	/* unknown: free VFs decide */
		esx01->pfs[i].numa = -1;
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(vs_place(&w.env, of(&p_both, 1), 1, &err), 0);
	assert_string_equal(gang[0].pfs[0]->pci, W_PF0);
}

/* Of what sums keep of other questions nothing answers for other devices. */
static void devices_of_another_kind_are_another_question(void **state)
{
	struct vs_free_capacity made = { 0 };
	struct vs_err err = { 0 };

	(void)state;
	vs_free_capacity_update(&made, &w.ledger, &w.inv, W_FOLDER,
				W_CLUSTER_ID);
	w.env.sums = &made;
	assert_int_equal(vs_place(&w.env, of(&p_gpu, 1), 1, &err), 0);
	assert_int_equal(vs_place(&w.env, of(&p_both, 1), 1, &err), 0);
	gpu.device++;
	assert_int_equal(vs_place(&w.env, of(&p_gpu, 1), 1, &err), -1);
	assert_int_equal(vs_place(&w.env, of(&p_both, 1), 1, &err), -1);
	gpu.device--;
	assert_int_equal(vs_place(&w.env, of(&p_gpu, 1), 1, &err), 0);
	w.env.sums = NULL;
	vs_free_capacity_clear(&made);
}

static void a_device_for_passthrough_is_no_vgpu(void **state)
{
	static struct vs_adapter vgpu;
	static struct vs_profile p;

	(void)state;
	vgpu = (struct vs_adapter) {
		.name = "vgpu", .type = VS_ADAPTER_VGPU,
		.label = "grid_a100-4c",
	};
	p = p_gpu;
	assert_int_equal(vs_place_capacity(&w.env, of(&p, 1), 8), 2);
	p.adapter = &vgpu;
	assert_int_equal(vs_place_capacity(&w.env, of(&p, 1), 8), 0);
	assert_int_equal(w_count(&w.env, of(&p, 1), 8), 0);
}

static void what_devices_demand_goes_for_the_whole_vm(void **state)
{
	(void)state;
	assert_int_equal(vs_adapter_hw(&both), 17);
	assert_true(vs_adapter_p2p(&both));
	assert_true(vs_adapter_relaxes_acs(&both));
	both.strict_acs = true;
	assert_true(vs_adapter_p2p(&both));
	assert_false(vs_adapter_relaxes_acs(&both));
	both = w.eth;
	both.with = &gpu;
	assert_false(vs_adapter_p2p(&both));
	assert_true(vs_adapter_pins(&both));
	assert_int_equal(vs_profile_reserved_mb(&p_both), 8192);
	assert_int_equal(vs_adapter_mmio(&both), 0);
	gpu.mmio_gb = 160;
	assert_int_equal(vs_adapter_mmio(&both), 256);
	/* with a NIC that is not counted, the device is all */
	assert_int_equal(w_count(&w.env, of(&p_both, 1), 9), 2);
	esx01->max_hw = 15;
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(w_count(&w.env, of(&p_both, 1), 9), 0);
}

static void the_hash_knows_what_is_beside(void **state)
{
	char a[VS_PROFILE_HASH_LEN], b[VS_PROFILE_HASH_LEN];
	char c[VS_PROFILE_HASH_LEN];

	(void)state;
	vs_profile_hash(&w.p_roce, a);
	vs_profile_hash(&p_both, b);
	gpu.device++;
	vs_profile_hash(&p_both, c);
	assert_string_not_equal(a, b);
	assert_string_not_equal(b, c);
	assert_int_equal(vs_profile_fit(b, c), VS_FIT_RECONFIGURE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(a_dynamic_nic_takes_one_of_those_alike),
		T(so_it_does_on_a_host_of_devices_alone),
		T(one_of_other_ids_may_be_any_vf_but_no_device),
		T(one_that_allows_several_counts_against_all),
		T(a_fixed_nic_takes_the_device_that_has_its_address),
		T(a_hold_of_a_device_is_stood_for_by_its_nic),
		T(an_unknown_pf_of_a_nic_is_no_device),
		T(a_fixed_nic_takes_its_device_and_no_other),
		T(a_dynamic_nic_counts_against_each_that_it_may_be),
		T(each_address_is_given_once_to_whom_it_is_meant_for),
		T(several_for_one_vm_are_several_devices_of_one_host),
		T(an_address_is_of_all_hosts_or_of_those_named),
		T(devices_need_no_network_and_are_counted),
		T(a_vf_and_a_device_come_together_or_not_at_all),
		T(those_beside_and_those_alone_share_the_devices),
		T(the_pf_on_the_devices_numa_node_is_chosen),
		T(devices_of_another_kind_are_another_question),
		T(what_devices_demand_goes_for_the_whole_vm),
		T(the_hash_knows_what_is_beside),
		T(a_device_for_passthrough_is_no_vgpu),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}
