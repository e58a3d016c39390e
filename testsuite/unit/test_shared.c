/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vGPUs and DVX devices: how many a host has, what one profile takes of another,
 * sums and placement. Numbers of vGPUs are of NVIDIA's tables. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "plan/inventory/capability.h"
#include "plan/inventory/shared_devices.h"
#include "plan_world.h"
#include "util/mem.h"

/* ---- names ------------------------------------------------------------------ */

static void a_profile_is_read_from_its_end(void **state)
{
	struct vs_vgpu v;

	(void)state;
	assert_true(vs_vgpu_parse("nvidia_a100-4c", &v));
	assert_int_equal(v.gb, 4);
	assert_int_equal(v.slices, 0);
	assert_int_equal(v.model, strlen("nvidia_a100"));
	assert_true(vs_vgpu_parse("nvidia_a100-1-5cme", &v));
	assert_int_equal(v.gb, 5);
	assert_int_equal(v.slices, 1);
	assert_int_equal(v.model, strlen("nvidia_a100"));
	assert_true(v.special);
	assert_true(vs_vgpu_parse("nvidia_rtx6000-ada-48q", &v));
	assert_int_equal(v.slices, 0);
	assert_int_equal(v.model, strlen("nvidia_rtx6000-ada"));
	assert_true(vs_vgpu_parse("grid_m60-0b", &v));
	assert_int_equal(v.gb, 1);
	assert_false(vs_vgpu_parse("a100", &v));
	assert_false(vs_vgpu_parse("nvidia_a100", &v));
	assert_false(vs_vgpu_parse("nvidia_a100-", &v));
	assert_false(vs_vgpu_parse("nvidia_a100-4", &v));
	assert_false(vs_vgpu_parse("nvidia_-4c", &v));
	assert_false(vs_vgpu_parse("_a100-4c", &v));
	assert_false(vs_vgpu_parse("nvidia_a 100-4c", &v));
	assert_false(vs_vgpu_parse("nvidia_a100-99999999c", &v));
	assert_false(vs_vgpu_parse("", &v));
	assert_true(vs_vgpu_same_model("nvidia_a100-4c", "nvidia_a100-1-5c"));
	assert_false(vs_vgpu_same_model("nvidia_a100-4c", "nvidia_a100d-4c"));
	assert_int_equal(vs_vgpu_vendor("grid_t4-16q"), 0x10de);
	assert_int_equal(vs_vgpu_vendor("other_x-1c"), 0);
}

/* ---- how many of a GPU ------------------------------------------------------- */

static const char *const a100[] = { "nvidia_a100-4c", "nvidia_a100-5c",
	"nvidia_a100-8c", "nvidia_a100-10c", "nvidia_a100-20c",
	"nvidia_a100-40c", "nvidia_a100-1-5c", "nvidia_a100-1-5cme",
	"nvidia_a100-1-10c", "nvidia_a100-2-10c", "nvidia_a100-3-20c",
	"nvidia_a100-4-20c", "nvidia_a100-7-40c", "nvidia_l40-1q",
	"nvidia_l40-48q" };

static int fits(const char *profile, bool mixed, int most)
{
	return vs_vgpu_per_gpu(profile, a100, VS_COUNT(a100), mixed, most);
}

static void as_many_fit_as_the_vendor_says(void **state)
{
	static const struct { const char *profile; int same, mixed; } of[] = {
		{ "nvidia_a100-4c", 10, 8 }, { "nvidia_a100-5c", 8, 8 },
		{ "nvidia_a100-8c", 5, 4 }, { "nvidia_a100-10c", 4, 4 },
		{ "nvidia_a100-20c", 2, 2 }, { "nvidia_a100-40c", 1, 1 },
		{ "nvidia_a100-1-5c", 7, 7 }, { "nvidia_a100-1-5cme", 1, 1 },
		{ "nvidia_a100-1-10c", 4, 4 }, { "nvidia_a100-2-10c", 3, 3 },
		{ "nvidia_a100-3-20c", 2, 2 }, { "nvidia_a100-4-20c", 1, 1 },
		{ "nvidia_a100-7-40c", 1, 1 }, { "nvidia_l40-1q", 32, 32 },
		{ "nvidia_a100-16c", 0, 0 },	/* the host hasn't it */
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(of); i++) {
		assert_int_equal(fits(of[i].profile, false, 0), of[i].same);
		assert_int_equal(fits(of[i].profile, true, 0), of[i].mixed);
	}
	assert_int_equal(fits("nvidia_a100-4c", false, 3), 3);
	assert_int_equal(fits("nvidia_a100-4c", false, 20), 10);
}

/* A host that offers nothing of the whole GPU's size promises less, not more. */
static void what_is_not_offered_is_no_measure(void **state)
{
	static const char *const few[] = { "nvidia_a100-4c", "nvidia_a100-8c",
					   "nvidia_a100d-80c" };

	(void)state;
	assert_int_equal(vs_vgpu_per_gpu("nvidia_a100-4c", few, 3, false, 0), 2);
}

static void only_gpus_in_the_mode_count(void **state)
{
	struct vs_gpu g = { "NVIDIA A100", "sharedDirect", "" };

	(void)state;
	assert_true(vs_gpu_serves(&g, "nvidia_a100-4c"));
	assert_true(vs_gpu_serves(&g, "nvidia_a100-1-5c"));
	g.mode = "sameSize";
	assert_true(vs_gpu_serves(&g, "nvidia_a100-4c"));
	assert_false(vs_gpu_serves(&g, "nvidia_a100-1-5c"));
	g.mode = "multiInstanceGpu";
	assert_false(vs_gpu_serves(&g, "nvidia_a100-4c"));
	assert_true(vs_gpu_serves(&g, "nvidia_a100-1-5c"));
	g.type = "shared";
	assert_false(vs_gpu_serves(&g, "nvidia_a100-1-5c"));
}

static void of_several_models_names_decide(void **state)
{
	struct vs_gpu g[] = { { "NVIDIA A100-PCIE-40GB", "sharedDirect", "" },
		{ "NVIDIA A100-PCIE-40GB", "shared", "" },
		{ "NVIDIA L40", "sharedDirect", "" },
		{ "NVIDIA L40S", "sharedDirect", "" } };
	bool one;

	(void)state;
	assert_int_equal(vs_vgpu_gpus("nvidia_a100-4c", g, 4, &one), 1);
	assert_false(one);
	assert_int_equal(vs_vgpu_gpus("nvidia_l40-4q", g, 4, &one), 4);
	assert_int_equal(vs_vgpu_gpus("nvidia_a100d-4c", g, 4, &one), 0);
	assert_int_equal(vs_vgpu_gpus("nvidia_a100d-4c", g, 2, &one), 1);
	assert_true(one);
}

/* The console's own adapter takes no vGPUs, and is no second model. */
static void a_gpu_of_another_mode_is_no_other_model(void **state)
{
	struct vs_gpu g[] = { { "ASPEED Graphics Family", "basic", "" },
		{ "GA100 [A100 PCIe]", "sharedDirect", "" },
		{ "GA100 [A100 PCIe]", "sharedDirect", "" },
		{ "NVIDIA L40", "shared", "" } };
	bool one;

	(void)state;
	assert_int_equal(vs_vgpu_gpus("nvidia_a100d-4c", g, 4, &one), 6);
	assert_true(one);
	g[3].type = "sharedDirect";
	assert_int_equal(vs_vgpu_gpus("nvidia_a100d-4c", g, 4, &one), 0);
	assert_false(one);
}

/* ---- sums and placement ------------------------------------------------------- */

#define P4 "nvidia_a100-4c"
#define P8 "nvidia_a100-8c"
#define CLASS "com.vendor.fpga"

static struct world w;
static struct vs_adapter v4, v8, dvx, both;
static struct vs_profile p4, p8, p_dvx, p_both;
static struct vs_host *esx01;
static char r4[VS_PCI_LEN], r8[VS_PCI_LEN], rd[VS_PCI_LEN];

static struct vs_devices *row(struct vs_host *h, int at,
			      enum vs_nic_type kind, const char *name,
			      char pci[VS_PCI_LEN], int total, int per_gpu)
{
	struct vs_devices *of = &h->devices[at];
	struct vs_pf *pf;

	vs_shared_pci(kind, name, pci);
	pf = w_pf(h, pci, total);
	pf->switch_uuid[0] = '\0';
	pf->of = of;
	of->named = kind;
	of->per_gpu = per_gpu;
	of->one_model = true;
	of->n = 1;
	vs_strlcpy(of->label, name, sizeof(of->label));
	vs_strlcpy(of->pci[0], pci, VS_PCI_LEN);
	return of;
}

static struct vs_adapter named(const char *name, enum vs_adapter_type type,
			       const char *label)
{
	struct vs_adapter a = { .type = type };

	vs_strlcpy(a.name, name, sizeof(a.name));
	vs_strlcpy(a.label, label, sizeof(a.label));
	return a;
}

/* Two GPUs of 10 vGPUs of one profile or 5 of the other, 3 DVX devices, 4 VFs. */
static int setup(void **state)
{
	(void)state;
	w_init(&w);
	esx01 = w_host(&w, "esx01");
	w_pf(esx01, W_PF0, 4);
	esx01->devices = vs_calloc(VS_HOST_PFS, sizeof(struct vs_devices));
	row(esx01, 0, VS_NIC_PCI_VGPU, P4, r4, 20, 10);
	row(esx01, 1, VS_NIC_PCI_VGPU, P8, r8, 10, 5);
	row(esx01, 2, VS_NIC_PCI_DVX, CLASS, rd, 3, 0);
	v4 = named("v4", VS_ADAPTER_VGPU, P4);
	v8 = named("v8", VS_ADAPTER_VGPU, P8);
	dvx = named("dvx", VS_ADAPTER_DVX, CLASS);
	both = w.roce;
	both.with = &v4;
	p4 = p8 = p_dvx = p_both = w.p_roce;
	p4.adapter = &v4;
	p8.adapter = &v8;
	p_dvx.adapter = &dvx;
	p_both.adapter = &both;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	w_clear(&w);
	return 0;
}

static struct vs_vm *w_on(const char *moid, enum vs_nic_type kind,
			  const char *name)
{
	struct vs_vm *vm = w_vm(&w, moid, moid, "esx01");

	vs_strlcpy(w_nic(vm, kind, "")->network, name, VS_MOID_LEN);
	vm->power = VS_POWER_ON;
	vs_vm_changed(&w.inv, vm);
	return vm;
}

#define assert_free(vfs, four, eight, devices) do {			\
	assert_int_equal(w_free(&w, "esx01", W_PF0), vfs);		\
	assert_int_equal(w_free(&w, "esx01", r4), four);		\
	assert_int_equal(w_free(&w, "esx01", r8), eight);		\
	assert_int_equal(w_free(&w, "esx01", rd), devices);		\
} while (0)

static void a_vgpu_takes_one_of_its_profile_and_a_gpu_of_others(void **state)
{
	(void)state;
	assert_free(4, 20, 10, 3);
	w_on("vm-1", VS_NIC_PCI_VGPU, P4);
	assert_free(4, 19, 5, 3);
	w_on("vm-2", VS_NIC_PCI_VGPU, P8);
	assert_free(4, 9, 4, 3);
	/* of a profile without a device entry: it takes a GPU of each */
	w_on("vm-3", VS_NIC_PCI_VGPU, "nvidia_a100-40c");
	assert_free(4, -1, -1, 3);
}

/* Of a model that is told apart, only its own profiles. */
static void a_vgpu_of_another_model_takes_nothing(void **state)
{
	(void)state;
	w_on("vm-1", VS_NIC_PCI_VGPU, "nvidia_l40-8q");
	assert_free(4, 10, 5, 3);
	esx01->devices[0].one_model = esx01->devices[1].one_model = false;
	vs_host_changed(&w.inv, esx01);
	assert_free(4, 20, 10, 3);
	/* a name that tells no model may be of any */
	w_on("vm-2", VS_NIC_PCI_VGPU, "mxgpu-1");
	assert_free(4, 10, 5, 3);
}

static void a_dvx_device_takes_one_of_its_class(void **state)
{
	(void)state;
	w_on("vm-1", VS_NIC_PCI_DVX, CLASS);
	assert_free(4, 20, 10, 2);
	/* of another it may be a VF */
	w_on("vm-2", VS_NIC_PCI_DVX, "com.vendor.nic");
	assert_free(3, 20, 10, 2);
}

static void a_hold_counts_as_its_vgpu_will(void **state)
{
	struct vs_claim *h = w_hold(&w, "n1", "esx01", r4, VS_CLAIM_STARTING);
	struct vs_vm *vm;

	(void)state;
	assert_free(4, 19, 5, 3);
	vm = w_vm(&w, "vm-1", "n1", "esx01");
	vs_ledger_set_vm(&w.ledger, h, vm->moid);
	vs_strlcpy(w_nic(vm, VS_NIC_PCI_VGPU, "")->network, P4, VS_MOID_LEN);
	assert_free(4, 19, 5, 3);
	vm->power = VS_POWER_ON;
	vs_vm_changed(&w.inv, vm);
	assert_free(4, 19, 5, 3);
	vs_ledger_release(&w.ledger, "n1");
	assert_free(4, 19, 5, 3);
}

static struct vs_place_node gang[40];

static struct vs_place_node *of(const struct vs_profile *p, size_t n)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f",
		"g", "h", "i", "j", "k", "l" };

	for (size_t i = 0; i < n; i++)
		gang[i] = (struct vs_place_node) {
			.node = names[i], .profile = p, .net = &w.net,
		};
	return gang;
}

static void devices_of_a_class_are_counted(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	assert_int_equal(w_count(&w.env, of(&p_dvx, 1), 9), 3);
	assert_int_equal(vs_place(&w.env, of(&p_dvx, 3), 3, &err), 0);
	assert_string_equal(gang[2].pfs[0]->pci, rd);
	assert_int_equal(vs_place(&w.env, of(&p_dvx, 4), 4, &err), -1);
	assert_int_equal(err.code, VS_E_SHORTAGE);
	vs_strlcpy(dvx.label, "com.vendor.other", sizeof(dvx.label));
	assert_int_equal(w_count(&w.env, of(&p_dvx, 1), 9), 0);
}

/* A host of nothing but these vGPUs, in two rows; esx01 is away. */
static struct vs_host *gpus_of(const char *name, const char *first, int total,
			       int per_gpu, const char *other, int others,
			       int per)
{
	struct vs_host *h = w_host(&w, name);
	char pci[2][VS_PCI_LEN];

	h->devices = vs_calloc(VS_HOST_PFS, sizeof(struct vs_devices));
	row(h, 0, VS_NIC_PCI_VGPU, first, pci[0], total, per_gpu);
	row(h, 1, VS_NIC_PCI_VGPU, other, pci[1], others, per);
	esx01->connected = false;
	vs_host_changed(&w.inv, esx01);
	return h;
}

/* Two profiles in one query: each vGPU of one takes a GPU of the other, because
 * the order of the power-ons is unknown. */
static void a_gang_of_two_profiles_shares_the_gpus(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	esx01->memory_mb = 1 << 30;
	esx01->cores = 1000;
	vs_host_changed(&w.inv, esx01);
	of(&p8, 6);
	gang[5].profile = &p4;
	assert_int_equal(vs_place(&w.env, gang, 6, &err), -1);
	of(&p8, 2);
	gang[1].profile = &p4;
	assert_int_equal(vs_place(&w.env, gang, 2, &err), 0);
	of(&p8, 3);
	gang[2].profile = &p4;
	assert_int_equal(vs_place(&w.env, gang, 3, &err), -1);
	of(&p8, 10);
	assert_int_equal(vs_place(&w.env, gang, 10, &err), 0);
	of(&p8, 11);
	assert_int_equal(vs_place(&w.env, gang, 11, &err), -1);
}

/* A host of two GPUs and nothing else: vGPUs of P4 are its first row. Two VMs with
 * vGPUs of P8 take both GPUs, and leave none for P4, in whatever order. */
static void what_a_gang_takes_is_taken_of_the_first_row_too(void **state)
{
	struct vs_host *h = gpus_of("esx02", P4, 20, 10, P8, 10, 5);
	struct vs_err err = { 0 };

	(void)state;
	of(&p8, 3);
	gang[1].profile = &p4;
	assert_int_equal(vs_place(&w.env, gang, 3, &err), -1);
	assert_int_equal(vs_place(&w.env, gang, 2, &err), 0);
	assert_ptr_equal(gang[1].host, h);
}

/*
 * A VM with P4 is placed first, on esx02, where its GPU is the only one: none of the
 * five with P8, which fit nowhere else, has a place then. It goes to esx03, and its
 * GPU must be as if it had never been there.
 */
static void a_vm_that_is_taken_back_leaves_its_gpu(void **state)
{
	struct vs_host *h = gpus_of("esx02", P4, 2, 2, P8, 10, 10);
	struct vs_err err = { 0 };

	(void)state;
	gpus_of("esx03", P4, 1, 1, "nvidia_a100-40c", 1, 1);
	of(&p8, 6);
	gang[0].profile = &p4;
	assert_int_equal(vs_place(&w.env, gang, 6, &err), 0);
	assert_string_equal(gang[0].host->name, "esx03");
	for (int i = 1; i < 6; i++)
		assert_ptr_equal(gang[i].host, h);
}

/* What runs stays where it is, what is to come may come anywhere. */
static void what_is_held_keeps_its_gpu_until_it_is_on(void **state)
{
	(void)state;
	w_hold(&w, "n1", "esx01", r4, VS_CLAIM_STARTING);
	assert_int_equal(w_count(&w.env, of(&p8, 1), 9), 1);
	assert_int_equal(w_count(&w.env, of(&p4, 1), 9), 9);
	vs_ledger_release(&w.ledger, "n1");
	assert_int_equal(w_count(&w.env, of(&p8, 1), 20), 10);
	w_on("vm-1", VS_NIC_PCI_VGPU, P4);
	assert_int_equal(w_count(&w.env, of(&p8, 1), 20), 5);
}

/* The same, and one of the first row is held. */
static struct vs_host *gpus_alone(const char *held, int total, int per_gpu,
				  const char *other, int others, int per)
{
	struct vs_host *h = gpus_of("esx02", held, total, per_gpu, other,
				    others, per);

	w_hold(&w, "n1", "esx02", h->pfs[0].pci, VS_CLAIM_STARTING);
	return h;
}

static void what_is_held_in_the_first_row_keeps_its_gpu_too(void **state)
{
	(void)state;
	gpus_alone(P4, 20, 10, P8, 10, 5);
	assert_int_equal(w_count(&w.env, of(&p8, 1), 9), 1);
}

/* All rows of a host are devices: what may be a VF of any PF takes none of them. */
static void where_there_is_no_pf_no_row_is_taken_for_one(void **state)
{
	struct vs_host *h = w_host(&w, "esx02");
	char pci[3][VS_PCI_LEN];
	struct vs_vm *vm;

	(void)state;
	h->devices = vs_calloc(VS_HOST_PFS, sizeof(struct vs_devices));
	row(h, 0, VS_NIC_PCI_DVX, CLASS, pci[0], 3, 0);
	row(h, 1, VS_NIC_PCI_VGPU, P4, pci[1], 20, 10);
	row(h, 2, VS_NIC_PCI_VGPU, P8, pci[2], 10, 5);
	vm = w_vm(&w, "vm-1", "vm-1", "esx02");
	vs_strlcpy(w_nic(vm, VS_NIC_PCI_DVX, "")->network, "com.vendor.nic",
		   VS_MOID_LEN);
	vm->power = VS_POWER_ON;
	vs_vm_changed(&w.inv, vm);
	assert_int_equal(w_free(&w, "esx02", pci[0]), 3);
	assert_int_equal(w_free(&w, "esx02", pci[1]), 20);
	vs_strlcpy(vm->nics[0].network, CLASS, VS_MOID_LEN);
	vs_vm_changed(&w.inv, vm);
	assert_int_equal(w_free(&w, "esx02", pci[0]), 2);
}

/* A vGPU that is promised on the second row takes a GPU from the first. */
static void what_is_held_in_the_second_row_takes_a_gpu_from_the_first(void **state)
{
	struct vs_host *h = w_host(&w, "esx02");
	char pci[2][VS_PCI_LEN];
	struct vs_pf_use use;

	(void)state;
	h->devices = vs_calloc(VS_HOST_PFS, sizeof(struct vs_devices));
	row(h, 0, VS_NIC_PCI_VGPU, P4, pci[0], 20, 10);
	row(h, 1, VS_NIC_PCI_VGPU, P8, pci[1], 10, 5);
	w_hold(&w, "n1", "esx02", pci[1], VS_CLAIM_STARTING);
	assert_int_equal(w_free(&w, "esx02", pci[0]), 10);
	assert_int_equal(w_free(&w, "esx02", pci[1]), 9);
	vs_ledger_pf_use(&w.ledger, &w.inv, h, &h->pfs[0], W_FOLDER,
			 W_CLUSTER_ID, &use);
	assert_int_equal(use.held, 0);	/* of its own profile none is promised */
}

/* The one GPU that serves ten of P4 has nine left: no GPU is free of them. */
static void the_last_of_a_gpu_that_another_profile_may_get_is_not_given(void **state)
{
	(void)state;
	gpus_alone(P4, 10, 10, P8, 6, 5);
	assert_int_equal(w_count(&w.env, of(&p8, 1), 9), 0);
}

/* One of two whole GPUs is held: a VM finds the other one. */
static void the_last_whole_gpu_is_given(void **state)
{
	(void)state;
	gpus_alone("nvidia_a100-40c", 2, 1, P4, 20, 10);
	assert_int_equal(w_count(&w.env, of(&p4, 1), 9), 1);
}

/* The only whole GPU is held, though the host says that ten of P4 are free. */
static void where_no_whole_gpu_is_left_none_is_given(void **state)
{
	(void)state;
	gpus_alone("nvidia_a100-40c", 1, 1, P4, 20, 10);
	assert_int_equal(w_count(&w.env, of(&p4, 1), 9), 0);
}

/* No loop over a host's rows reads more of them than can be counted. */
static void a_host_may_have_as_many_rows_as_are_counted(void **state)
{
	struct vs_host *h = gpus_alone(P4, 20, 10, P8, 10, 5);
	char pci[VS_PCI_LEN];

	(void)state;
	for (int i = 2; i < VS_HOST_PFS; i++) {
		snprintf(pci, sizeof(pci), "0000:%02x:00.0", i);
		w_pf(h, pci, 1);
	}
	vs_host_changed(&w.inv, h);
	assert_int_equal(w_count(&w.env, of(&p8, 1), 9), 1);
}

static void a_vf_and_a_vgpu_come_together_or_not_at_all(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	assert_int_equal(w_count(&w.env, of(&p_both, 1), 9), 4);
	assert_int_equal(vs_place(&w.env, of(&p_both, 1), 1, &err), 0);
	assert_int_equal(gang[0].npfs, 2);
	assert_string_equal(gang[0].pfs[0]->pci, W_PF0);
	assert_string_equal(gang[0].pfs[1]->pci, r4);
	w_on("vm-1", VS_NIC_PCI_VGPU, P8);
	w_on("vm-2", VS_NIC_PCI_VGPU, P8);
	assert_int_equal(vs_place(&w.env, of(&p_both, 1), 1, &err), -1);
	assert_int_equal(err.code, VS_E_SHORTAGE);
	assert_non_null(strstr(err.text, "with 1 v4 vGPU"));
	/* VFs are free: the device is short */
	assert_int_equal(w_refusal(&err, "esx01"), VS_REFUSE_DEVICE);
}

/* The table allows it, and the host's driver has its say. */
static void a_driver_that_cannot_keeps_its_vm(void **state)
{
	struct vs_vm *vm = w_on("vm-1", VS_NIC_PCI_VGPU, P4);
	struct vs_err err = { 0 };

	(void)state;
	assert_int_equal(vs_operation_allowed(&v4, vm, NULL,
					      VS_OPERATION_VMOTION, 0, &err),
			 -1);
	assert_non_null(strstr(err.text, "the GPU driver of host esx01"));
	esx01->devices[0].can = 1u << VS_OPERATION_VMOTION;
	assert_int_equal(vs_operation_allowed(&v4, vm, NULL,
					      VS_OPERATION_VMOTION, 0, &err),
			 0);
	esx01->devices[0].can = 0;
	assert_int_equal(vs_operation_allowed(&v4, NULL, NULL,
					      VS_OPERATION_VMOTION, 0, &err),
			 0);
}

/* Where it is to go another version of the driver may be. */
static void nor_does_it_go_to_one_that_cannot(void **state)
{
	struct vs_vm *vm = w_on("vm-1", VS_NIC_PCI_VGPU, P4);
	struct vs_devices there = esx01->devices[0];
	struct vs_host to = { .name = "esx02", .npfs = 1 };
	struct vs_err err = { 0 };

	(void)state;
	esx01->devices[0].can = 1u << VS_OPERATION_VMOTION;
	to.pfs[0].of = &there;
	there.can = 0;
	assert_int_equal(vs_operation_allowed(&v4, vm, &to,
					      VS_OPERATION_VMOTION, 0, &err),
			 -1);
	assert_non_null(strstr(err.text, "the GPU driver of host esx02"));
	there.can = 1u << VS_OPERATION_VMOTION;
	assert_int_equal(vs_operation_allowed(&v4, vm, &to,
					      VS_OPERATION_VMOTION, 0, &err),
			 0);
	/* what it has none of is placement's refusal */
	there.can = 0;
	vs_strlcpy(there.label, "another", sizeof(there.label));
	assert_int_equal(vs_operation_allowed(&v4, vm, &to,
					      VS_OPERATION_VMOTION, 0, &err),
			 0);
}

static void what_is_demanded_of_the_vm(void **state)
{
	char a[VS_PROFILE_HASH_LEN], b[VS_PROFILE_HASH_LEN];

	(void)state;
	assert_int_equal(vs_adapter_hw(&dvx), 20);
	assert_true(vs_adapter_pins(&dvx) && vs_adapter_pins(&v4));
	assert_int_equal(vs_adapter_hw(&v4), 11);
	esx01->max_hw = 19;
	vs_host_changed(&w.inv, esx01);
	assert_int_equal(w_count(&w.env, of(&p_dvx, 1), 9), 0);
	/* another profile, or other parameters, are another VM */
	vs_profile_hash(&p_dvx, a);
	vs_strlcpy(dvx.params, "queues=8", sizeof(dvx.params));
	vs_profile_hash(&p_dvx, b);
	assert_string_not_equal(a, b);
	assert_int_equal(vs_profile_fit(a, b), VS_FIT_RECONFIGURE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_is_read_from_its_end),
		cmocka_unit_test(as_many_fit_as_the_vendor_says),
		cmocka_unit_test(what_is_not_offered_is_no_measure),
		cmocka_unit_test(only_gpus_in_the_mode_count),
		cmocka_unit_test(of_several_models_names_decide),
		cmocka_unit_test(a_gpu_of_another_mode_is_no_other_model),
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(a_vgpu_takes_one_of_its_profile_and_a_gpu_of_others),
		T(a_vgpu_of_another_model_takes_nothing),
		T(a_dvx_device_takes_one_of_its_class),
		T(a_hold_counts_as_its_vgpu_will),
		T(devices_of_a_class_are_counted),
		T(a_gang_of_two_profiles_shares_the_gpus),
		T(what_a_gang_takes_is_taken_of_the_first_row_too),
		T(a_vm_that_is_taken_back_leaves_its_gpu),
		T(what_is_held_keeps_its_gpu_until_it_is_on),
		T(what_is_held_in_the_first_row_keeps_its_gpu_too),
		T(where_there_is_no_pf_no_row_is_taken_for_one),
		T(what_is_held_in_the_second_row_takes_a_gpu_from_the_first),
		T(the_last_of_a_gpu_that_another_profile_may_get_is_not_given),
		T(the_last_whole_gpu_is_given),
		T(where_no_whole_gpu_is_left_none_is_given),
		T(a_host_may_have_as_many_rows_as_are_counted),
		T(a_vf_and_a_vgpu_come_together_or_not_at_all),
		T(a_driver_that_cannot_keeps_its_vm),
		T(nor_does_it_go_to_one_that_cannot),
		T(what_is_demanded_of_the_vm),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("shared", tests, NULL, NULL);
}
