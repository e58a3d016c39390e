/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan/allocation/ledger: holds, their states, and how they stand beside NICs.
 *
 * Here, and with the chaos run's I1 and I3, is what others got wrong: a device
 * freed for the wrong VM or twice (sriov-network-device-plugin#685,
 * OpenNebula/one#3964 #5261), or taken by two (nova 1851545).
 */
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

static void host_capacity(const struct vs_host *h, int64_t *cpu, int64_t *mem)
{
	struct vs_host_sum s;

	vs_ledger_sum(&w.ledger, &w.inv, h, NULL, NULL, &s);
	*cpu = s.cpu_free;
	*mem = s.mem_free;
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

static const struct vs_claim_vf on_pf1 = { W_PF1, false };

/* ---- holds -------------------------------------------------------------- */

static void release_gives_back_what_take_took(void **state)
{
	(void)state;
	assert_free(8, 8);
	w_hold(&w, "n1", "esx01", W_PF0, VS_CLAIM_RESERVED);
	assert_free(7, 8);
	assert_int_equal(vs_ledger_release(&w.ledger, "n1"), 0);
	assert_free(8, 8);
	assert_null(vs_ledger_get(&w.ledger, "n1"));
}

static void a_double_release_is_told(void **state)
{
	(void)state;
	w_hold(&w, "n1", "esx01", W_PF0, VS_CLAIM_RESERVED);
	assert_int_equal(vs_ledger_release(&w.ledger, "n1"), 0);
	assert_int_equal(vs_ledger_release(&w.ledger, "n1"), -1);
	assert_free(8, 8);
}

static void a_node_has_one_hold(void **state)
{
	struct vs_claim again = { .node = "n1", .host = "host-esx02" };
	struct vs_err err;

	(void)state;
	w_hold(&w, "n1", "esx01", W_PF0, VS_CLAIM_RESERVED);
	assert_int_equal(vs_ledger_take(&w.ledger, &again, &err), -1);
	assert_int_equal(err.code, VS_E_EXISTS);
	assert_non_null(strstr(err.text, "n1"));
	assert_non_null(strstr(err.text, "host-esx01"));
	assert_string_equal(vs_ledger_get(&w.ledger, "n1")->host,
			    "host-esx01");
}

static void a_hold_of_nobody_or_nowhere_is_a_bug(void **state)
{
	struct vs_claim no_node = { .host = "host-1" };
	struct vs_claim no_host = { .node = "n1" };
	struct vs_err err;

	(void)state;
	assert_int_equal(vs_ledger_take(&w.ledger, &no_node, &err), -1);
	assert_int_equal(err.code, VS_E_BUG);
	assert_int_equal(vs_ledger_take(&w.ledger, &no_host, &err), -1);
	assert_int_equal(err.code, VS_E_BUG);
	assert_null(w.ledger.holds);
}

static void a_hold_is_promised_whatever_the_caller_wrote(void **state)
{
	struct vs_claim hold = { .node = "n1", .host = "host-esx01",
				.vfs = { { W_PF0, false } },
				.nvfs = 1, .state = VS_CLAIM_IN_USE };

	(void)state;
	assert_int_equal(vs_ledger_take(&w.ledger, &hold, NULL), 0);
	assert_int_equal(vs_ledger_get(&w.ledger, "n1")->state,
			 VS_CLAIM_RESERVED);
}

static void only_the_designs_transitions_are_allowed(void **state)
{
	static const bool allowed[3][3] = {
		/* to:		 promised requested seen */
		[VS_CLAIM_RESERVED] = { false, true, false },
		[VS_CLAIM_STARTING] = { true, false, true },
		[VS_CLAIM_IN_USE] = { false, false, false },
	};

	(void)state;
	for (int from = 0; from < 3; from++) {
		for (int to = 0; to < 3; to++) {
			struct vs_claim *h = w_hold(&w, "n1", "esx01", W_PF0,
						    from);
			int rc = vs_ledger_set_state(&w.ledger, h, to);

			assert_int_equal(rc, allowed[from][to] ? 0 : -1);
			assert_int_equal(h->state,
					 allowed[from][to] ? to : from);
			vs_ledger_release(&w.ledger, "n1");
		}
	}
}

static void names_of_one_character_are_names(void **state)
{
	const struct vs_claim hold = { .node = "n", .host = "h" };

	(void)state;
	assert_int_equal(vs_ledger_take(&w.ledger, &hold, NULL), 0);
	assert_non_null(vs_ledger_get(&w.ledger, "n"));
}

static void a_hold_without_a_vf_names_no_pf(void **state)
{
	const struct vs_claim hold = { .node = "n1", .host = "host-esx01" };
	char out[VS_PFS_LEN] = "not written";

	(void)state;
	assert_string_equal(vs_claim_pfs(&hold, out), "");
}

/* vCenter shows one NIC more than was held, whose PF is ESXi's choice. */
static void a_nic_more_is_held_as_it_is_shown(void **state)
{
	struct vs_claim *h = w_hold(&w, "n1", "esx01", W_PF0,
				    VS_CLAIM_STARTING);
	const struct vs_claim_vf vfs[] = {
		{ W_PF0, false }, { W_PF1, true },
	};

	(void)state;
	vs_ledger_move(&w.ledger, h, "host-esx01", vfs, 2);
	assert_int_equal(h->nvfs, 2);
	assert_string_equal(h->vfs[1].pf, W_PF1);
	assert_true(h->vfs[1].automatic);
	assert_false(h->vfs[0].automatic);
}

/* Its NICs become guesses, and nothing else of it changes. */
static void a_hold_of_the_most_nics_keeps_all_else_when_it_is_moved(void **state)
{
	struct vs_claim hold = { .node = "n1", .host = "host-esx01",
				.nvfs = VS_NICS_MAX, .vm = "vm-1" }, *h;

	(void)state;
	for (int i = 0; i < VS_NICS_MAX; i++)
		vs_strlcpy(hold.vfs[i].pf, W_PF0, VS_PCI_LEN);
	assert_int_equal(vs_ledger_take(&w.ledger, &hold, NULL), 0);
	h = vs_ledger_get(&w.ledger, "n1");
	vs_ledger_move(&w.ledger, h, "host-esx02", NULL, 0);
	assert_int_equal(h->nvfs, VS_NICS_MAX);
	for (int i = 0; i < VS_NICS_MAX; i++)
		assert_true(h->vfs[i].automatic);
	assert_string_equal(h->vm, "vm-1");
	assert_int_equal(h->state, VS_CLAIM_RESERVED);
}

static void a_hold_counts_on_the_host_it_was_moved_to(void **state)
{
	struct vs_host *esx02 = w_host(&w, "esx02");
	struct vs_claim *h = w_hold(&w, "n1", "esx01", W_PF0,
				    VS_CLAIM_STARTING);

	(void)state;
	w_pf(esx02, W_PF1, 4);
	vs_ledger_move(&w.ledger, h, esx02->moid, &on_pf1, 1);
	assert_free(8, 8);
	assert_int_equal(w_free(&w, "esx02", W_PF1), 3);
}

static void a_hold_moved_to_no_known_pf_keeps_taking_a_vf(void **state)
{
	struct vs_host *esx02 = w_host(&w, "esx02");
	struct vs_claim *h = w_hold(&w, "n1", "esx01", W_PF0,
				    VS_CLAIM_STARTING);

	(void)state;
	w_pf(esx02, W_PF1, 4);
	w_pf(esx02, "0000:af:00.0", 2);
	vs_ledger_move(&w.ledger, h, esx02->moid, NULL, 0);
	/* the guess isn't there: it may be on either */
	assert_int_equal(w_free(&w, "esx02", W_PF1), 3);
	assert_int_equal(w_free(&w, "esx02", "0000:af:00.0"), 1);
}

/* Where the guess is there, it may as well be the other PF of its switch. */
static void a_guess_counts_against_all_pfs_of_its_switch(void **state)
{
	static const struct vs_claim_vf unresolved = { "", false };
	struct vs_claim *h = w_hold(&w, "n1", "esx01", W_PF0,
				    VS_CLAIM_STARTING);

	(void)state;
	assert_free(7, 8);
	vs_ledger_move(&w.ledger, h, esx01->moid, NULL, 0);
	assert_free(7, 7);
	h->vfs[0].automatic = false;
	vs_ledger_move(&w.ledger, h, esx01->moid, &unresolved, 1);
	assert_free(7, 7);
}

static void a_hold_on_automatic_pf_counts_against_its_switch(void **state)
{
	struct vs_claim *h = w_hold(&w, "n1", "esx01", W_PF0,
				    VS_CLAIM_RESERVED);

	(void)state;
	h->vfs[0].automatic = true;
	assert_free(7, 7);
	vs_strlcpy(esx01->pfs[1].switch_uuid, "another", VS_LABEL_LEN);
	assert_free(7, 8);
	esx01->pfs[0].switch_uuid[0] = '\0';	/* no uplink: only its own */
	esx01->pfs[1].switch_uuid[0] = '\0';
	assert_free(7, 8);
}

static void a_hold_without_a_vf_takes_cpu_and_memory_only(void **state)
{
	int64_t cpu, mem;

	(void)state;
	w_hold(&w, "n1", "esx01", "", VS_CLAIM_RESERVED);
	assert_free(8, 8);
	host_capacity(esx01, &cpu, &mem);
	assert_int_equal(cpu, 48 * 2000 - 100);
	assert_int_equal(mem, 256 * 1024 - 1000);
}

static void a_hold_on_a_host_that_is_gone_takes_nothing_elsewhere(void **state)
{
	(void)state;
	w_hold(&w, "n1", "esx99", W_PF0, VS_CLAIM_STARTING);
	assert_free(8, 8);
}

static void the_generation_moves_with_every_change(void **state)
{
	uint64_t was = w.ledger.generation;
	struct vs_claim *h = w_hold(&w, "n1", "esx01", W_PF0,
				    VS_CLAIM_RESERVED);

	(void)state;
	assert_true(w.ledger.generation > was);
	was = w.ledger.generation;
	vs_ledger_set_state(&w.ledger, h, VS_CLAIM_IN_USE);	/* refused */
	assert_true(w.ledger.generation == was);
	vs_ledger_set_state(&w.ledger, h, VS_CLAIM_STARTING);
	assert_true(w.ledger.generation > was);
	was = w.ledger.generation;
	vs_ledger_move(&w.ledger, h, "host-esx02", &on_pf1, 1);
	assert_true(w.ledger.generation > was);
	was = w.ledger.generation;
	vs_ledger_set_vm(&w.ledger, h, "vm-9");
	assert_true(w.ledger.generation > was);
	was = w.ledger.generation;
	vs_ledger_set_vm(&w.ledger, h, "vm-9");			/* as it was */
	assert_true(w.ledger.generation == was);
	vs_ledger_set_store(&w.ledger, h, "datastore-2", false);
	assert_true(w.ledger.generation > was);
	was = w.ledger.generation;
	vs_ledger_set_store(&w.ledger, h, "datastore-2", false); /* as it was */
	assert_true(w.ledger.generation == was);
	vs_ledger_set_store(&w.ledger, h, "datastore-2", true);
	assert_true(w.ledger.generation > was);
	was = w.ledger.generation;
	vs_ledger_release(&w.ledger, "n1");
	assert_true(w.ledger.generation > was);
	was = w.ledger.generation;
	w_hold(&w, "n2", "esx01", W_PF0, VS_CLAIM_RESERVED);
	vs_ledger_clear(&w.ledger);
	assert_true(w.ledger.generation > was + 1);
	assert_null(w.ledger.holds);
}

/* ---- holds beside NICs ------------------------------------------------- */

static struct vs_claim *held_by_vm(enum vs_claim_state state)
{
	struct vs_claim *h = w_hold(&w, "n1", "esx01", W_PF0, state);

	vs_strlcpy(h->vm, "vm-1", sizeof(h->vm));
	return h;
}

static void a_seen_hold_counts_no_more_for_its_nic_does(void **state)
{
	struct vs_pf_use u;

	(void)state;
	held_by_vm(VS_CLAIM_IN_USE);
	w_vm_on(&w, "vm-1", "esx01", W_PF0);
	u = use_of(W_PF0);
	assert_int_equal(u.held, 0);
	assert_int_equal(u.free, 7);
}

static void a_requested_hold_gives_way_to_its_nic_at_once(void **state)
{
	(void)state;
	held_by_vm(VS_CLAIM_STARTING);
	assert_free(7, 8);
	w_vm_on(&w, "vm-1", "esx01", W_PF0);
	assert_free(7, 8);
}

static void a_seen_hold_without_its_nic_still_counts(void **state)
{
	struct vs_vm *vm;

	(void)state;
	held_by_vm(VS_CLAIM_IN_USE);
	assert_free(7, 8);			/* no such VM (yet) */
	vm = w_vm_on(&w, "vm-1", "esx01", W_PF0);
	vm->power = VS_POWER_OFF;
	assert_free(7, 8);
	vm->power = VS_POWER_ON;
	vm->readable = false;			/* its NIC is a memory */
	assert_free(6, 8);
	vm->readable = true;
	vm->nnics = 0;				/* on, NIC not shown */
	assert_free(7, 8);
	vm->nnics = 1;
	vs_vm_set_host(&w.inv, vm, "host-unknown");
	assert_free(7, 8);
}

static void a_hold_whose_nic_is_elsewhere_counts_there(void **state)
{
	struct vs_host *esx02 = w_host(&w, "esx02");

	(void)state;
	w_pf(esx02, W_PF0, 8);
	held_by_vm(VS_CLAIM_STARTING);
	w_vm_on(&w, "vm-1", "esx02", W_PF0);
	assert_free(8, 8);
	assert_int_equal(w_free(&w, "esx02", W_PF0), 7);
}

static void a_nic_on_a_host_whose_pfs_are_not_told_stands_too(void **state)
{
	(void)state;
	w_host(&w, "esx02");
	held_by_vm(VS_CLAIM_IN_USE);
	w_vm_on(&w, "vm-1", "esx02", W_PF0);
	assert_free(8, 8);
}

static void a_promise_elsewhere_counts_beside_the_nic(void **state)
{
	struct vs_host *esx02 = w_host(&w, "esx02");
	int64_t cpu, mem;

	(void)state;
	w_pf(esx02, W_PF0, 8);
	held_by_vm(VS_CLAIM_RESERVED);
	w_vm_on(&w, "vm-1", "esx02", W_PF0);	/* to be rebuilt on esx01 */
	assert_free(7, 8);
	assert_int_equal(w_free(&w, "esx02", W_PF0), 7);
	host_capacity(esx01, &cpu, &mem);
	assert_int_equal(mem, 256 * 1024 - 1000);
}

static void a_promise_at_its_own_vms_place_is_one_vf(void **state)
{
	struct vs_vm *vm = w_vm_on(&w, "vm-1", "esx01", W_PF0);

	(void)state;
	held_by_vm(VS_CLAIM_RESERVED);
	assert_free(7, 8);
	vs_strlcpy(vm->nics[0].pci, W_PF1, VS_PCI_LEN);
	assert_free(7, 7);		/* same host, another PF: both */
	vm->nnics = 0;
	assert_free(7, 8);
	vm->nnics = 1;			/* on the second PF it is one, too */
	vs_strlcpy(vs_ledger_get(&w.ledger, "n1")->vfs[0].pf, W_PF1,
		   VS_PCI_LEN);
	assert_free(8, 7);
}

static void nics_of_other_kinds_don_t_stand_for_a_hold(void **state)
{
	struct vs_vm *vm = w_vm(&w, "vm-1", "n1", "esx01");

	(void)state;
	vm->power = VS_POWER_ON;
	w_nic(vm, VS_NIC_VMXNET3, "");
	held_by_vm(VS_CLAIM_IN_USE);
	assert_free(7, 8);
}

static void a_device_elsewhere_on_the_host_makes_no_nic_a_device(void **state)
{
	struct vs_devices other = { .vendor = 0x10de, .device = 0x20b0 };
	struct vs_vm *vm = w_vm_on(&w, "vm-1", "esx01", W_PF0);

	(void)state;
	esx01->devices = &other;
	held_by_vm(VS_CLAIM_IN_USE);
	assert_free(7, 8);
	vm->nnics = 0;
	assert_free(7, 8);
	esx01->devices = NULL;
}

static void what_another_cluster_has_is_foreign_and_told_apart(void **state)
{
	struct vs_vm *theirs = w_vm_on(&w, "vm-1", "esx01", W_PF0);
	struct vs_free_capacity made = { 0 };
	struct vs_pf_use use;

	(void)state;
	w_ours(&w, theirs);
	w_vm_on(&w, "vm-2", "esx01", W_PF0);		/* unowned */
	w_vm_on(&w, "vm-3", "esx01", W_PF0);
	vs_ledger_pf_use(&w.ledger, &w.inv, esx01, vs_host_pf(esx01, W_PF0),
			 W_FOLDER, "another1", &use);
	assert_int_equal(use.beside, 1);
	assert_int_equal(use.ours, 0);
	assert_int_equal(use.free, 5);
	assert_int_equal(use_of(W_PF0).beside, 0);	/* its own cluster's view */
	assert_int_equal(use_of(W_PF0).ours, 1);
	assert_int_equal(use_of(W_PF0).free, 5);
	vs_free_capacity_update(&made, &w.ledger, &w.inv, W_FOLDER, "another1");
	assert_int_equal(made.beside, 1);
	assert_int_equal(made.hosts[esx01->index].beside, 1);
	assert_int_equal(made.strangers, 1);
	vs_free_capacity_clear(&made);
	/* another cluster's VM in its own folder isn't unowned */
	vs_vm_set_folder(&w.inv, theirs, "group-v9");
	vs_free_capacity_update(&made, &w.ledger, &w.inv, W_FOLDER, "another1");
	assert_int_equal(made.beside, 1);
	assert_int_equal(made.strangers, 0);
	vs_free_capacity_clear(&made);
}

static void a_pf_at_a_numa_node_beyond_all_is_at_none(void **state)
{
	(void)state;
	esx01->pfs[0].numa = VS_HOST_NODES - 1;
	assert_true(vs_entries_nodes(esx01, 1) == 1u << (VS_HOST_NODES - 1));
	esx01->pfs[0].numa = VS_HOST_NODES;
	assert_int_equal(vs_entries_nodes(esx01, 1), 0);
	esx01->pfs[0].numa = -1;
	assert_int_equal(vs_entries_nodes(esx01, 1), 0);
}

/* ---- CPU and memory ----------------------------------------------------- */

static void assert_room(int64_t cpu_used, int64_t mem_used)
{
	int64_t cpu, mem;

	host_capacity(esx01, &cpu, &mem);
	assert_int_equal(cpu, 48 * 2000 - cpu_used);
	assert_int_equal(mem, 256 * 1024 - mem_used);
}

static void only_what_is_reserved_and_the_overhead_takes_room(void **state)
{
	struct vs_vm *vm = w_vm(&w, "vm-1", "a", "esx01");
	int64_t over = vs_overhead_mb(4, 8192);

	(void)state;
	assert_room(0, 0);
	vm->power = VS_POWER_ON;
	assert_room(0, over);
	vm->cpu_reserved_mhz = 500;
	vm->mem_reserved_mb = 1024;
	assert_room(500, 1024 + over);
	vm->mem_locked = true;
	assert_room(500, 8192 + over);
	vm->latency_high = true;		/* 4 vCPUs in full */
	assert_room(8000, 8192 + over);
	vm->cpu_reserved_mhz = 9000;
	assert_room(9000, 8192 + over);
	vm->power = VS_POWER_OFF;
	assert_room(0, 0);
}

static void a_hold_and_its_running_vm_take_room_once(void **state)
{
	struct vs_vm *vm = w_vm_on(&w, "vm-1", "esx01", W_PF0);
	int64_t over = vs_overhead_mb(4, 8192);

	(void)state;
	held_by_vm(VS_CLAIM_IN_USE);
	assert_room(0, over);
	vm->power = VS_POWER_OFF;
	assert_room(100, 1000);
	vm->power = VS_POWER_ON;
	vs_ledger_release(&w.ledger, "n1");
	held_by_vm(VS_CLAIM_RESERVED);
	assert_room(0, over);
}

static void what_esxi_keeps_of_the_cpu_is_not_free(void **state)
{
	int64_t cpu, mem;

	(void)state;
	host_capacity(esx01, &cpu, &mem);
	assert_int_equal(cpu, (int64_t)esx01->cores * esx01->core_mhz);
	esx01->cpu_mhz = 54940;
	host_capacity(esx01, &cpu, &mem);
	assert_int_equal(cpu, 54940);
	esx01->core_mhz = 2593;
	assert_int_equal(vs_host_vm_cores(esx01), 21);
}

static void the_sum_over_all_hosts_is_the_sum_of_each(void **state)
{
	struct vs_host *esx02 = w_host(&w, "esx02");
	struct vs_free_capacity made = { 0 };
	const struct vs_host_sum *sums;
	struct vs_claim *h;
	int64_t cpu, mem;

	(void)state;
	w_pf(esx02, W_PF0, 4)->numa = 1;
	w_vm_on(&w, "vm-1", "esx02", W_PF0)->mem_locked = true;
	w_vm_on(&w, "vm-2", "esx01", "")->readable = false;
	h = w_hold(&w, "n1", "esx02", W_PF0, VS_CLAIM_RESERVED);
	h->vcpus = 10;
	h->memory_mb = 50000;
	w_hold(&w, "n2", "esx99", W_PF0, VS_CLAIM_RESERVED);
	vs_free_capacity_update(&made, &w.ledger, &w.inv, W_FOLDER,
				W_CLUSTER_ID);
	sums = made.hosts;
	for (int i = 0; i < 2; i++) {
		const struct vs_host *host = w.inv.by_index[i];

		for (int p = 0; p < host->npfs; p++) {
			struct vs_pf_use u;

			vs_ledger_pf_use(&w.ledger, &w.inv, host,
					 &host->pfs[p], W_FOLDER,
					 W_CLUSTER_ID, &u);
			assert_memory_equal(&u, &sums[i].pf[p], sizeof(u));
		}
		host_capacity(host, &cpu, &mem);
		assert_int_equal(sums[i].cpu_free, cpu);
		assert_int_equal(sums[i].mem_free, mem);
	}
	assert_true(sums[esx01->index].unknown);
	assert_int_equal(sums[esx02->index].vms, 2);
	assert_int_equal(sums[esx02->index].pf[0].free, 2);
	assert_int_equal(sums[esx02->index].node_mem_mb[1], 8192 + 1000);
	assert_int_equal(sums[esx02->index].cpu_given, 14 * 2000);
	assert_int_equal(sums[esx02->index].mem_given, 8192 + 50000);
	vs_free_capacity_clear(&made);
}

/* ---- where a NIC may be -------------------------------------------------- */

static void a_vm_with_a_wrong_mark_is_counted_apart(void **state)
{
	struct vs_vm *vm = w_vm_on(&w, "vm-1", "esx01", W_PF1);
	struct vs_pf_use use;

	(void)state;
	w_ours(&w, vm);
	vs_strlcpy(vm->uuid, "50211e0a-0000-4000-8000-000000000002",
		   sizeof(vm->uuid));
	use = use_of(W_PF1);
	assert_int_equal(use.suspect, 1);
	assert_int_equal(use.ours + use.foreign, 0);
	assert_int_equal(use.free, 7);
	assert_false(use.unknown);
	assert_free(8, 7);
	vm->readable = false;
	vs_vm_changed(&w.inv, vm);
	assert_true(use_of(W_PF1).unknown);
}

/* vCenter may name a PF that the host has no more. */
static void a_nic_of_a_pf_that_is_gone_may_be_on_its_switch(void **state)
{
	struct vs_vm *vm = w_vm_on(&w, "vm-1", "esx01", "0000:99:00.0");

	(void)state;
	assert_free(7, 7);
	vs_strlcpy(esx01->pfs[1].switch_uuid, "50 2a switch B", VS_LABEL_LEN);
	vs_host_changed(&w.inv, esx01);
	assert_free(7, 8);
	vs_strlcpy(vm->nics[0].switch_uuid, "50 2a switch B", VS_LABEL_LEN);
	vs_vm_changed(&w.inv, vm);
	assert_free(8, 7);
	vs_strlcpy(vm->nics[0].switch_uuid, "50 2a gone too", VS_LABEL_LEN);
	vs_vm_changed(&w.inv, vm);
	assert_free(7, 7);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(release_gives_back_what_take_took),
		TEST(a_double_release_is_told),
		TEST(a_node_has_one_hold),
		TEST(a_hold_of_nobody_or_nowhere_is_a_bug),
		TEST(a_hold_is_promised_whatever_the_caller_wrote),
		TEST(only_the_designs_transitions_are_allowed),
		TEST(a_hold_counts_on_the_host_it_was_moved_to),
		TEST(a_hold_moved_to_no_known_pf_keeps_taking_a_vf),
		TEST(a_guess_counts_against_all_pfs_of_its_switch),
		TEST(a_hold_on_automatic_pf_counts_against_its_switch),
		TEST(a_hold_without_a_vf_takes_cpu_and_memory_only),
		TEST(a_hold_on_a_host_that_is_gone_takes_nothing_elsewhere),
		TEST(the_generation_moves_with_every_change),
		TEST(a_seen_hold_counts_no_more_for_its_nic_does),
		TEST(a_requested_hold_gives_way_to_its_nic_at_once),
		TEST(a_seen_hold_without_its_nic_still_counts),
		TEST(a_hold_whose_nic_is_elsewhere_counts_there),
		TEST(a_nic_on_a_host_whose_pfs_are_not_told_stands_too),
		TEST(a_promise_elsewhere_counts_beside_the_nic),
		TEST(a_promise_at_its_own_vms_place_is_one_vf),
		TEST(nics_of_other_kinds_don_t_stand_for_a_hold),
		TEST(a_device_elsewhere_on_the_host_makes_no_nic_a_device),
		TEST(what_another_cluster_has_is_foreign_and_told_apart),
		TEST(a_pf_at_a_numa_node_beyond_all_is_at_none),
		TEST(only_what_is_reserved_and_the_overhead_takes_room),
		TEST(a_hold_and_its_running_vm_take_room_once),
		TEST(what_esxi_keeps_of_the_cpu_is_not_free),
		TEST(the_sum_over_all_hosts_is_the_sum_of_each),
		TEST(a_vm_with_a_wrong_mark_is_counted_apart),
		TEST(a_nic_of_a_pf_that_is_gone_may_be_on_its_switch),
		TEST(names_of_one_character_are_names),
		TEST(a_hold_without_a_vf_names_no_pf),
		TEST(a_nic_more_is_held_as_it_is_shown),
		TEST(a_hold_of_the_most_nics_keeps_all_else_when_it_is_moved),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
