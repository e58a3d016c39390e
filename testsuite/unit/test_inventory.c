/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan/inventory: the indexes in any order of updates, and whose a VM is. */
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

static int setup(void **state)
{
	(void)state;
	w_init(&w);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	w_clear(&w);
	return 0;
}

static int vms_on(const struct vs_host *h)
{
	const struct vs_vm *vm;
	int n = 0;

	LIST_FOREACH(vm, &h->vms, on_host) {
		assert_ptr_equal(vm->host_ptr, h);
		n++;
	}
	return n;
}

static void objects_are_found_by_their_moid(void **state)
{
	struct vs_host *h = vs_inventory_host(&w.inv, "host-1");
	struct vs_vm *vm = vs_inventory_vm(&w.inv, "vm-1");

	(void)state;
	assert_ptr_equal(vs_inventory_host(&w.inv, "host-1"), h);
	assert_ptr_equal(vs_inventory_vm(&w.inv, "vm-1"), vm);
	assert_ptr_equal(vs_host_get(&w.inv, "host-1"), h);
	assert_ptr_equal(vs_vm_get(&w.inv, "vm-1"), vm);
	assert_null(vs_host_get(&w.inv, "vm-1"));
	assert_null(vs_vm_get(&w.inv, "host-1"));
	assert_int_equal(w.inv.nhosts, 1);
}

static void a_host_is_found_by_its_name(void **state)
{
	struct vs_host *a = w_host(&w, "esx01"), *b = w_host(&w, "esx02");

	(void)state;
	assert_ptr_equal(vs_host_get_named(&w.inv, "esx01"), a);
	assert_ptr_equal(vs_host_get_named(&w.inv, "esx02"), b);
	assert_null(vs_host_get_named(&w.inv, "esx03"));
}

static void a_vm_joins_its_host_in_any_order_of_updates(void **state)
{
	struct vs_vm *early = w_vm(&w, "vm-1", "a", "esx01");
	struct vs_vm *other = w_vm(&w, "vm-2", "b", "esx02");
	struct vs_host *h;
	struct vs_vm *late;

	(void)state;
	assert_null(early->host_ptr);
	h = w_host(&w, "esx01");
	assert_ptr_equal(early->host_ptr, h);
	assert_null(other->host_ptr);
	late = w_vm(&w, "vm-3", "c", "esx01");
	assert_ptr_equal(late->host_ptr, h);
	assert_int_equal(vms_on(h), 2);
}

static void a_vm_moves_between_hosts_and_may_have_none(void **state)
{
	struct vs_host *a = w_host(&w, "esx01"), *b = w_host(&w, "esx02");
	struct vs_vm *vm = w_vm(&w, "vm-1", "a", "esx01");

	(void)state;
	vs_vm_set_host(&w.inv, vm, b->moid);
	assert_int_equal(vms_on(a), 0);
	assert_int_equal(vms_on(b), 1);
	vs_vm_set_host(&w.inv, vm, "");
	assert_null(vm->host_ptr);
	assert_int_equal(vms_on(b), 0);
}

static void vms_of_a_removed_host_come_back_with_it(void **state)
{
	struct vs_host *h = w_host(&w, "esx01");
	struct vs_vm *vm = w_vm(&w, "vm-1", "a", "esx01");

	(void)state;
	vs_inventory_remove_host(&w.inv, h->moid);
	assert_null(vm->host_ptr);
	assert_string_equal(vm->host, "host-esx01");
	assert_int_equal(w.inv.nhosts, 0);
	h = w_host(&w, "esx01");
	assert_ptr_equal(vm->host_ptr, h);
	assert_int_equal(vms_on(h), 1);
}

static void host_indexes_stay_dense(void **state)
{
	char name[16];
	bool seen[8];

	(void)state;
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "esx%02d", i);
		w_host(&w, name);
	}
	vs_inventory_remove_host(&w.inv, "host-esx03");
	vs_inventory_remove_host(&w.inv, "host-esx07");
	vs_inventory_remove_host(&w.inv, "host-esx00");
	vs_inventory_remove_host(&w.inv, "host-esx00");
	w_host(&w, "esx99");
	assert_int_equal(w.inv.nhosts, 6);
	memset(seen, 0, sizeof(seen));
	for (struct vs_host *h = w.inv.hosts; h; h = h->hh.next) {
		assert_true(h->index >= 0 && h->index <= 5);
		assert_false(seen[h->index]);
		seen[h->index] = true;
		assert_ptr_equal(w.inv.by_index[h->index], h);
	}
}

static void a_vm_is_found_by_folder_and_name(void **state)
{
	struct vs_vm *a = w_vm(&w, "vm-1", "n1", "esx01");
	struct vs_vm *b = w_vm(&w, "vm-2", "n2", "esx01");

	(void)state;
	assert_ptr_equal(vs_vm_get_named(&w.inv, W_FOLDER, "n1"), a);
	assert_ptr_equal(vs_vm_get_named(&w.inv, W_FOLDER, "n2"), b);
	assert_null(vs_vm_get_named(&w.inv, W_FOLDER, "n3"));
	assert_null(vs_vm_get_named(&w.inv, "group-v8", "n1"));
	assert_null(vs_vm_get_named(&w.inv, W_FOLDER, ""));
}

static void the_name_index_follows_renames_and_moves(void **state)
{
	struct vs_vm *vm = w_vm(&w, "vm-1", "n1", "esx01");

	(void)state;
	vs_vm_set_name(&w.inv, vm, "n9");
	assert_null(vs_vm_get_named(&w.inv, W_FOLDER, "n1"));
	assert_ptr_equal(vs_vm_get_named(&w.inv, W_FOLDER, "n9"), vm);
	vs_vm_set_folder(&w.inv, vm, "group-v8");
	assert_null(vs_vm_get_named(&w.inv, W_FOLDER, "n9"));
	assert_ptr_equal(vs_vm_get_named(&w.inv, "group-v8", "n9"), vm);
	vs_vm_set_name(&w.inv, vm, "");
	assert_null(vs_vm_get_named(&w.inv, "group-v8", "n9"));
	vs_vm_set_name(&w.inv, vm, "n1");
	vs_inventory_remove_vm(&w.inv, "vm-1");
	assert_null(vs_vm_get_named(&w.inv, "group-v8", "n1"));
	assert_null(w.inv.names);
}

static void of_equal_names_the_first_that_is_no_template_counts(void **state)
{
	struct vs_vm *tmpl = w_vm(&w, "vm-1", "n1", "esx01");
	struct vs_vm *first = w_vm(&w, "vm-2", "n1", "esx01");
	struct vs_vm *second = w_vm(&w, "vm-3", "n1", "esx01");

	(void)state;
	tmpl->is_template = true;
	assert_ptr_equal(vs_vm_get_named(&w.inv, W_FOLDER, "n1"), first);
	vs_inventory_remove_vm(&w.inv, "vm-2");
	assert_ptr_equal(vs_vm_get_named(&w.inv, W_FOLDER, "n1"), second);
	vs_inventory_remove_vm(&w.inv, "vm-3");
	assert_null(vs_vm_get_named(&w.inv, W_FOLDER, "n1"));
}

static void names_that_are_too_long_are_cut_the_same_each_time(void **state)
{
	struct vs_vm *vm = w_vm(&w, "vm-1", "n1", "esx01");
	uint64_t was;
	char big[300];

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	vs_vm_set_name(&w.inv, vm, big);
	assert_int_equal(strlen(vm->name), VS_LABEL_LEN - 1);
	was = w.inv.generation;
	vs_vm_set_name(&w.inv, vm, big);
	assert_true(w.inv.generation == was);
	assert_ptr_equal(vs_vm_get_named(&w.inv, W_FOLDER, vm->name), vm);
}

static void the_generation_moves_with_every_change_and_no_other(void **state)
{
	uint64_t was = w.inv.generation;
	struct vs_vm *vm;

	(void)state;
#define MOVED(does) do {						\
		does;							\
		assert_true(w.inv.generation > was);			\
		was = w.inv.generation;					\
	} while (0)
#define STAYS(does) do {						\
		does;							\
		assert_true(w.inv.generation == was);			\
	} while (0)
	MOVED(vs_inventory_host(&w.inv, "host-1"));
	STAYS(vs_inventory_host(&w.inv, "host-1"));
	MOVED(vm = vs_inventory_vm(&w.inv, "vm-1"));
	STAYS(vs_inventory_vm(&w.inv, "vm-1"));
	MOVED(vs_vm_set_host(&w.inv, vm, "host-1"));
	STAYS(vs_vm_set_host(&w.inv, vm, "host-1"));
	MOVED(vs_vm_set_name(&w.inv, vm, "a"));
	STAYS(vs_vm_set_name(&w.inv, vm, "a"));
	MOVED(vs_vm_set_folder(&w.inv, vm, "f"));
	STAYS(vs_vm_set_folder(&w.inv, vm, "f"));
	STAYS(vs_inventory_remove_vm(&w.inv, "vm-2"));
	MOVED(vs_inventory_remove_vm(&w.inv, "vm-1"));
	STAYS(vs_inventory_remove_host(&w.inv, "host-2"));
	MOVED(vs_inventory_remove_host(&w.inv, "host-1"));
}

static void a_host_is_usable_only_if_nothing_speaks_against_it(void **state)
{
	struct vs_host *h = w_host(&w, "esx01");
	bool *off[] = { &h->connected, &h->powered_on };
	bool *on[] = { &h->maintenance, &h->entering_maintenance,
		       &h->quarantine, &h->standby };

	(void)state;
	assert_true(vs_host_usable(h));
	for (size_t i = 0; i < VS_COUNT(off); i++) {
		*off[i] = false;
		assert_false(vs_host_usable(h));
		*off[i] = true;
	}
	for (size_t i = 0; i < VS_COUNT(on); i++) {
		*on[i] = true;
		assert_false(vs_host_usable(h));
		*on[i] = false;
	}
	assert_true(vs_host_usable(h));
}

static void pfs_networks_and_datastores_are_found(void **state)
{
	struct vs_host *h = w_host(&w, "esx01");
	struct vs_pf *pf = w_pf(h, W_PF0, 8);

	(void)state;
	w_pf(h, W_PF1, 8);
	assert_ptr_equal(vs_host_pf(h, W_PF0), pf);
	assert_ptr_equal(vs_host_pf(h, W_PF1), pf + 1);
	assert_null(vs_host_pf(h, "0000:00:00.0"));
	assert_null(vs_host_pf(h, ""));
	assert_true(vs_host_has_net(h, W_NET));
	assert_false(vs_host_has_net(h, "dvportgroup-31"));
	assert_true(vs_host_has_store(h, W_STORE));
	assert_false(vs_host_has_store(h, W_NET));
	h->nnets = h->nstores = h->npfs = 0;	/* what stood there is past */
	assert_false(vs_host_has_net(h, W_NET));
	assert_false(vs_host_has_store(h, W_STORE));
	assert_null(vs_host_pf(h, W_PF0));
}

/* ---- whose a VM is ------------------------------------------------------ */

static enum vs_owner owner_of(const struct vs_vm *vm)
{
	return vs_vm_owner(vm, W_FOLDER, W_CLUSTER_ID);
}

static void a_vm_is_ours_if_all_tests_hold(void **state)
{
	struct vs_vm *vm = w_vm(&w, "vm-1", "n1", "esx01");

	(void)state;
	w_ours(&w, vm);
	assert_int_equal(owner_of(vm), VS_OWNER_MANAGED);
	/* vCenter has been seen to spell uuids in either case */
	for (char *p = vm->uuid; *p; p++)
		if (*p == 'e' || *p == 'a')
			*p -= 'a' - 'A';
	assert_int_equal(owner_of(vm), VS_OWNER_MANAGED);
}

static void a_vm_without_a_mark_is_foreign(void **state)
{
	struct vs_vm *vm = w_vm(&w, "vm-1", "n1", "esx01");

	(void)state;
	assert_int_equal(owner_of(vm), VS_OWNER_FOREIGN);
	vs_vm_set_owner_tag(vm, "");
	assert_int_equal(owner_of(vm), VS_OWNER_FOREIGN);
}

static void a_mark_with_one_failed_test_is_suspect(void **state)
{
	struct vs_vm *vm = w_vm(&w, "vm-1", "n1", "esx01");

	(void)state;
	w_ours(&w, vm);
	vm->is_template = true;
	assert_int_equal(owner_of(vm), VS_OWNER_UNVERIFIED);
	vm->is_template = false;
	vs_vm_set_folder(&w.inv, vm, "group-v8");
	assert_int_equal(owner_of(vm), VS_OWNER_UNVERIFIED);
	vs_vm_set_folder(&w.inv, vm, W_FOLDER);
	vm->uuid[35] ^= 1;		/* a copy's */
	assert_int_equal(owner_of(vm), VS_OWNER_UNVERIFIED);
	vm->uuid[35] ^= 1;
	vs_vm_set_name(&w.inv, vm, "n2");
	assert_int_equal(owner_of(vm), VS_OWNER_UNVERIFIED);
	vs_vm_set_name(&w.inv, vm, "n1");
	assert_int_equal(owner_of(vm), VS_OWNER_MANAGED);
	vs_vm_set_owner_tag(vm, "nonsense");
	assert_int_equal(owner_of(vm), VS_OWNER_UNVERIFIED);
}

static void a_sound_mark_of_another_cluster_is_told_apart(void **state)
{
	struct vs_vm *vm = w_vm(&w, "vm-1", "n1", "esx01");

	(void)state;
	w_ours(&w, vm);
	assert_int_equal(vs_vm_owner(vm, W_FOLDER, "another1"),
			 VS_OWNER_OTHER_CLUSTER);
	vm->uuid[35] ^= 1;
	assert_int_equal(vs_vm_owner(vm, W_FOLDER, "another1"),
			 VS_OWNER_UNVERIFIED);
}

/* Of those no name and no uuid are read. */
static void outside_of_the_folder_a_mark_names_its_cluster(void **state)
{
	struct vs_vm *vm = w_vm(&w, "vm-1", "n1", "esx01");

	(void)state;
	w_ours(&w, vm);
	vm->uuid[0] = '\0';
	assert_int_equal(owner_of(vm), VS_OWNER_UNVERIFIED);
	vs_vm_set_folder(&w.inv, vm, "");
	assert_int_equal(vs_vm_owner(vm, W_FOLDER, "another1"),
			 VS_OWNER_OTHER_CLUSTER);
	assert_int_equal(owner_of(vm), VS_OWNER_FOREIGN);
	assert_int_equal(vs_vm_owner(vm, W_FOLDER, ""), VS_OWNER_FOREIGN);
	vm->is_template = true;
	assert_int_equal(vs_vm_owner(vm, W_FOLDER, "another1"),
			 VS_OWNER_FOREIGN);
}

static void without_an_id_or_a_folder_nothing_is_ours(void **state)
{
	struct vs_vm *vm = w_vm(&w, "vm-1", "n1", "esx01");

	(void)state;
	w_ours(&w, vm);
	assert_int_equal(vs_vm_owner(vm, W_FOLDER, ""), VS_OWNER_UNVERIFIED);
	assert_int_equal(vs_vm_owner(vm, W_FOLDER, NULL), VS_OWNER_UNVERIFIED);
	assert_int_equal(vs_vm_owner(vm, "", W_CLUSTER_ID),
			 VS_OWNER_UNVERIFIED);
	assert_int_equal(vs_vm_owner(vm, NULL, W_CLUSTER_ID),
			 VS_OWNER_UNVERIFIED);
	vs_vm_set_folder(&w.inv, vm, "");
	assert_int_equal(vs_vm_owner(vm, "", W_CLUSTER_ID),
			 VS_OWNER_UNVERIFIED);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(objects_are_found_by_their_moid),
		TEST(a_host_is_found_by_its_name),
		TEST(a_vm_joins_its_host_in_any_order_of_updates),
		TEST(a_vm_moves_between_hosts_and_may_have_none),
		TEST(vms_of_a_removed_host_come_back_with_it),
		TEST(host_indexes_stay_dense),
		TEST(a_vm_is_found_by_folder_and_name),
		TEST(the_name_index_follows_renames_and_moves),
		TEST(of_equal_names_the_first_that_is_no_template_counts),
		TEST(names_that_are_too_long_are_cut_the_same_each_time),
		TEST(the_generation_moves_with_every_change_and_no_other),
		TEST(a_host_is_usable_only_if_nothing_speaks_against_it),
		TEST(pfs_networks_and_datastores_are_found),
		TEST(a_vm_is_ours_if_all_tests_hold),
		TEST(a_vm_without_a_mark_is_foreign),
		TEST(a_mark_with_one_failed_test_is_suspect),
		TEST(a_sound_mark_of_another_cluster_is_told_apart),
		TEST(outside_of_the_folder_a_mark_names_its_cluster),
		TEST(without_an_id_or_a_folder_nothing_is_ours),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("inventory", tests, NULL, NULL);
}
