/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan/placement with several datastores: which one a VM gets, how much room there
 * is, and what becomes of VMs whose disks another host doesn't see. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "plan/allocation/shared_capacity.h"
#include "plan_world.h"
#include "util/mem.h"

#define MANY 16
#define DISK 10240

static struct world w;
static struct vs_place_node gang[MANY];
static struct vs_err err;

static int setup(void **state)
{
	(void)state;
	w_init(&w);
	w.p_roce.disk_mb = DISK;
	w_gang(&w, gang, MANY);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	w_clear(&w);
	return 0;
}

static struct vs_host *host(const char *name, const char *cluster,
			    const char *store)
{
	struct vs_host *h = w_host(&w, name);

	vs_strlcpy(h->cluster, cluster, sizeof(h->cluster));
	w_pf(h, W_PF0, 8);
	h->nstores = 0;
	if (store)
		vs_strlcpy(h->stores[h->nstores++], store, VS_MOID_LEN);
	vs_host_changed(&w.inv, h);
	return h;
}

static void sees(struct vs_host *h, const char *store)
{
	vs_strlcpy(h->stores[h->nstores++], store, VS_MOID_LEN);
	vs_host_changed(&w.inv, h);
}

/* "ds-a" is named a. */
static void store(const char *cluster, const char *moid, int64_t mb)
{
	w.inv.uses = vs_realloc(w.inv.uses, w.inv.nuses + 1,
				sizeof(*w.inv.uses));
	w.inv.uses[w.inv.nuses] = (struct vs_store_use) { .full_until_ms = 0 };
	vs_strlcpy(w.inv.uses[w.inv.nuses].cluster, cluster, VS_MOID_LEN);
	vs_strlcpy(w.inv.uses[w.inv.nuses++].store, moid, VS_MOID_LEN);
	vs_shared_capacity_set_stores(&w.inv, moid, moid + 3, mb);
}

static int place(size_t n)
{
	return vs_place(&w.env, gang, n, &err);
}

static int on(const char *name, const char *moid, size_t n)
{
	int count = 0;

	for (size_t i = 0; i < n; i++)
		count += !strcmp(gang[i].host->name, name) &&
			 !strcmp(gang[i].to_store, moid);
	return count;
}

static int lie_on(const char *moid, size_t n)
{
	int count = 0;

	for (size_t i = 0; i < n; i++)
		count += !strcmp(gang[i].to_store, moid);
	return count;
}

static size_t room(void)
{
	struct vs_place_node like = gang[0];

	return w_count(&w.env, &like, MANY);
}

static void each_host_gives_its_own(void **state)
{
	(void)state;
	host("esx1", "c1", "ds-a");
	host("esx2", "c1", "ds-b");
	store("c1", "ds-a", 4 * DISK);
	store("c1", "ds-b", 4 * DISK);
	assert_int_equal(place(4), 0);
	assert_int_equal(on("esx1", "ds-a", 4), 2);
	assert_int_equal(on("esx2", "ds-b", 4), 2);
}

static void of_two_the_one_with_most_room_is_taken(void **state)
{
	(void)state;
	sees(host("esx1", "c1", "ds-a"), "ds-b");
	store("c1", "ds-a", 3 * DISK);
	store("c1", "ds-b", 3 * DISK + 1);
	assert_int_equal(place(1), 0);
	assert_int_equal(on("esx1", "ds-b", 1), 1);
	vs_shared_capacity_set_stores(&w.inv, "ds-a", "a", 9 * DISK);
	assert_int_equal(place(1), 0);
	assert_int_equal(on("esx1", "ds-a", 1), 1);
}

static void another_clusters_is_none_of_its_own(void **state)
{
	(void)state;
	sees(host("esx1", "c1", "ds-a"), "ds-b");
	host("esx2", "c2", "ds-a");
	store("c1", "ds-a", 1 * DISK);
	store("c2", "ds-b", 9 * DISK);
	assert_int_equal(place(1), 0);
	assert_int_equal(on("esx1", "ds-a", 1), 1);
	assert_int_equal(place(2), -1);
	assert_non_null(strstr(err.text, "esx2: does not mount the datastore"));
}

/* A datastore that several hosts share counts once, whichever host uses it. */
static void room_is_counted_by_datastore(void **state)
{
	(void)state;
	host("esx1", "c1", "ds-a");
	host("esx2", "c1", "ds-a");
	host("esx3", "c1", "ds-b");
	store("c1", "ds-a", 3 * DISK - 1);
	store("c1", "ds-b", 2 * DISK);
	assert_int_equal(room(), 4);
	assert_int_equal(place(4), 0);
	assert_int_equal(on("esx1", "ds-a", 4) + on("esx2", "ds-a", 4), 2);
	assert_int_equal(on("esx3", "ds-b", 4), 2);
	assert_int_equal(place(5), -1);
	assert_non_null(strstr(err.text, "datastore a has 30719 MB free, each VM needs 10240 MB"));
	assert_non_null(strstr(err.text, "datastore b has 20480 MB free"));
	/* unknown is no refusal */
	vs_shared_capacity_set_stores(&w.inv, "ds-b", "b", -1);
	assert_int_equal(place(5), 0);
}

static void packed_vms_mind_it_too(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_PACK;
	host("esx1", "c1", "ds-a");
	host("esx2", "c1", "ds-b");
	store("c1", "ds-a", 2 * DISK);
	store("c1", "ds-b", 3 * DISK);
	assert_int_equal(place(5), 0);
	assert_int_equal(on("esx1", "ds-a", 5), 2);
	assert_int_equal(on("esx2", "ds-b", 5), 3);
	assert_int_equal(place(6), -1);
}

/* Datastores that hold the whole gang, just, don't say where it goes: pack
 * leaves the roomier host whole. */
static void datastores_that_hold_all_leave_pack_its_choice(void **state)
{
	struct vs_host *esx1 = host("esx1", "c1", "ds-a");
	struct vs_host *esx2 = host("esx2", "c1", "ds-a");

	(void)state;
	w.env.policy = VS_PLACE_PACK;
	esx2->pfs[0].vfs = 3;
	store("c1", "ds-a", 3 * DISK);
	assert_int_equal(place(3), 0);
	assert_int_equal(on("esx2", "ds-a", 3), 3);
	/* or both together, of which neither does */
	vs_shared_capacity_set_stores(&w.inv, "ds-a", "a", DISK);
	store("c1", "ds-b", 9 * DISK);
	sees(esx1, "ds-b");
	sees(esx2, "ds-b");
	assert_int_equal(place(3), 0);
	for (int i = 0; i < 3; i++)
		assert_string_equal(gang[i].host->name, "esx2");
}

/* Both hosts have VFs for all three, but one's datastore has room for two. */
static void pack_takes_the_host_whose_datastore_holds_all(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_PACK;
	host("esx1", "c1", "ds-a");
	host("esx2", "c1", "ds-b");
	store("c1", "ds-a", 3 * DISK - 1);
	store("c1", "ds-b", 3 * DISK);
	assert_int_equal(place(3), 0);
	assert_int_equal(on("esx2", "ds-b", 3), 3);
}

/* A hold has its disks until its VM is seen. */
static void what_is_promised_is_taken(void **state)
{
	struct vs_claim *h;

	(void)state;
	host("esx1", "c1", "ds-a");
	store("c1", "ds-a", 3 * DISK);
	h = w_hold(&w, "x", "esx1", W_PF0, VS_CLAIM_RESERVED);
	vs_strlcpy(h->store, "ds-a", sizeof(h->store));
	h->disk_mb = DISK;
	assert_int_equal(room(), 2);
}

static void a_vm_stays_where_its_disks_are_seen(void **state)
{
	(void)state;
	sees(host("esx1", "c1", "ds-a"), "ds-b");
	store("c1", "ds-a", 0);
	store("c1", "ds-b", 9 * DISK);
	gang[0].exists = true;
	gang[0].store = "ds-a";
	assert_int_equal(place(1), 0);
	assert_int_equal(on("esx1", "ds-a", 1), 1);
	assert_false(gang[0].moves);
}

/* Of one size, and each where its own disks are. */
static void vms_with_disks_in_two_places_are_two_kinds(void **state)
{
	(void)state;
	host("esx1", "c1", "ds-a");
	host("esx2", "c1", "ds-b");
	store("c1", "ds-a", 0);
	store("c1", "ds-b", 0);
	for (int i = 0; i < 2; i++) {
		gang[i].exists = gang[!i].exists = true;
		gang[i].store = "ds-a";
		gang[!i].store = "ds-b";
		assert_int_equal(place(2), 0);
		assert_string_equal(gang[i].host->name, "esx1");
		assert_string_equal(gang[!i].host->name, "esx2");
		assert_false(gang[0].moves || gang[1].moves);
	}
}

/* Whose disks lie somewhere, though not where, is no VM that needs disks. */
static void a_new_vm_beside_one_that_exists_needs_its_disks(void **state)
{
	(void)state;
	host("esx1", "c1", "ds-a");
	store("c1", "ds-a", DISK - 1);
	gang[0].exists = true;
	assert_int_equal(place(1), 0);
	assert_int_equal(place(2), -1);
	vs_shared_capacity_set_stores(&w.inv, "ds-a", "a", DISK);
	assert_int_equal(place(2), 0);
}

/* Now it can't be used; whether it will see one isn't told yet. */
static void a_host_that_tells_no_datastore_is_refused_for_now(void **state)
{
	struct vs_host *h = host("esx1", "c1", NULL);

	(void)state;
	store("c1", "ds-a", 9 * DISK);
	assert_int_equal(place(1), -1);
	assert_non_null(strstr(err.text, "esx1: does not mount the datastore"));
	assert_int_equal(vs_place_capacity(&w.env, &gang[0], 99), 8);
	sees(h, "ds-z");
	assert_int_equal(vs_place_capacity(&w.env, &gang[0], 99), 0);
}

static void else_it_takes_them_along_if_there_is_room(void **state)
{
	(void)state;
	host("esx2", "c1", "ds-b");
	store("c1", "ds-a", 9 * DISK);
	store("c1", "ds-b", DISK);
	gang[0].exists = gang[1].exists = true;
	gang[0].store = gang[1].store = "ds-a";
	assert_int_equal(place(1), 0);
	assert_int_equal(on("esx2", "ds-b", 1), 1);
	assert_true(gang[0].moves);
	assert_int_equal(place(2), -1);
	/* beside a new one, which needs disks as well */
	gang[1].exists = false;
	assert_int_equal(place(2), -1);
	vs_shared_capacity_set_stores(&w.inv, "ds-b", "b", 2 * DISK);
	assert_int_equal(place(2), 0);
	assert_true(gang[0].moves);
	assert_false(gang[1].moves);
}

static void a_vms_datastore_is_read_from_its_files(void **state)
{
	struct vs_vm *vm;

	(void)state;
	host("esx1", "c1", "ds-a");
	store("c1", "ds-a", DISK);
	store("c1", "ds-a2", DISK);
	vm = w_vm(&w, "vm-1", "x", "esx1");
	vs_strlcpy(vm->disks.dir, "[a2] x/", sizeof(vm->disks.dir));
	assert_int_equal(vs_vm_store(&w.inv, vm),
			 vs_shared_capacity_pool(&w.inv, "ds-a2"));
	vs_strlcpy(vm->disks.dir, "[a] x/", sizeof(vm->disks.dir));
	assert_int_equal(vs_vm_store(&w.inv, vm),
			 vs_shared_capacity_pool(&w.inv, "ds-a"));
	vs_strlcpy(vm->disks.dir, "[other] x/", sizeof(vm->disks.dir));
	assert_int_equal(vs_vm_store(&w.inv, vm), -1);
	vm->disks.dir[0] = '\0';
	assert_int_equal(vs_vm_store(&w.inv, vm), -1);
}

/* Two hosts that both see both: more than either has room for. */
static void a_gang_larger_than_the_largest_goes_on_several(void **state)
{
	static const enum vs_policy policies[] = { VS_PLACE_BALANCE,
		VS_PLACE_PACK, VS_PLACE_SPREAD };

	(void)state;
	sees(host("esx1", "c1", "ds-a"), "ds-b");
	sees(host("esx2", "c1", "ds-a"), "ds-b");
	store("c1", "ds-a", 3 * DISK);
	store("c1", "ds-b", 3 * DISK - 1);
	assert_int_equal(room(), 5);
	for (size_t i = 0; i < VS_COUNT(policies); i++) {
		w.env.policy = policies[i];
		assert_int_equal(place(5), 0);
		assert_int_equal(lie_on("ds-a", 5), 3);
		assert_int_equal(lie_on("ds-b", 5), 2);
		assert_int_equal(place(6), -1);
		assert_non_null(strstr(err.text, "capacity for 5 VMs (datastore a has 30720 MB free, each VM needs 10240 MB for disks and swap file; datastore b has 30719 MB free"));
	}
}

/* The choice is made again for each VM, not only when one datastore is full. */
static void each_vm_gets_the_one_with_most_room_then(void **state)
{
	(void)state;
	sees(host("esx1", "c1", "ds-a"), "ds-b");
	store("c1", "ds-a", 6 * DISK);
	store("c1", "ds-b", 5 * DISK - 1);
	assert_int_equal(place(4), 0);
	assert_string_equal(gang[0].to_store, "ds-a");
	assert_string_equal(gang[1].to_store, "ds-a");
	assert_string_equal(gang[2].to_store, "ds-b");
	assert_string_equal(gang[3].to_store, "ds-a");
}

/* What there is said to be room for can be placed, whichever hosts see what:
 * esx1 must not take what esx2 alone needs. */
static void what_there_is_room_for_can_be_placed(void **state)
{
	struct vs_host *esx1 = host("esx1", "c1", "ds-a");
	struct vs_host *esx2 = host("esx2", "c1", "ds-a");

	(void)state;
	sees(esx1, "ds-b");
	store("c1", "ds-a", DISK + 1);
	store("c1", "ds-b", DISK);
	esx1->pfs[0].vfs = esx2->pfs[0].vfs = 1;
	esx2->core_mhz = 1900;		/* slow cores are counted first */
	vs_hosts_reordered(&w.inv);
	assert_int_equal(room(), 2);
	for (int policy = 0; policy < 3; policy++) {
		w.env.policy = (enum vs_policy)policy;
		assert_int_equal(place(2), 0);
		assert_int_equal(on("esx1", "ds-b", 2), 1);
		assert_int_equal(on("esx2", "ds-a", 2), 1);
	}
}

static void whatever_hosts_see_room_is_what_can_be_placed(void **state)
{
	struct vs_host *h[4];
	size_t most;

	(void)state;
	for (int i = 0; i < 4; i++) {
		const char name[] = { 'e', 's', 'x', (char)('1' + i), 0 };

		h[i] = host(name, "c1", NULL);
	}
	for (unsigned int seed = 0; seed < 1000; seed++) {
		unsigned int r = seed * 2654435761u;

		w.inv.nuses = 0;
		store("c1", "ds-a", (r >> 4) % 5 * DISK);
		store("c1", "ds-b", (r >> 8) % 5 * DISK);
		store("c1", "ds-c", (r >> 12) % 5 * DISK);
		for (int i = 0; i < 4; i++, r = r * 1664525u + 1013904223u) {
			h[i]->pfs[0].vfs = (int)(r >> 8) % 4;
			h[i]->core_mhz = 2000 + (int)(r >> 10) % 4;
			h[i]->nstores = 0;
			for (int k = 0; k < 3; k++)
				if (r >> (12 + k) & 1)
					sees(h[i], (const char *[]) { "ds-a",
					     "ds-b", "ds-c" }[k]);
		}
		vs_hosts_reordered(&w.inv);
		w.env.policy = (enum vs_policy)(seed % 3);
		most = room();
		assert_int_equal(place(most), 0);
		assert_int_equal(place(most + 1), -1);
	}
}

/* Two kinds of VMs, exchanged and levelled: no datastore is promised twice. */
static void none_is_promised_twice(void **state)
{
	(void)state;
	w_pf(host("esx1", "c1", "ds-a"), W_PF1, 8);
	sees(w_host(&w, "esx1"), "ds-b");
	sees(host("esx2", "c1", "ds-b"), "ds-c");
	sees(host("esx3", "c1", "ds-c"), "ds-a");
	for (int seed = 0; seed < 300; seed++) {
		const int64_t rooms[] = { seed % 6, seed / 6 % 5 + 1,
					  seed / 30 % 5 };
		int64_t left[VS_COUNT(rooms)];
		size_t n = 4 + (size_t)seed % 6;

		w.inv.nuses = 0;
		for (size_t i = 0; i < VS_COUNT(rooms); i++) {
			const char moid[] = { 'd', 's', '-', (char)('a' + i), 0 };

			left[i] = rooms[i] * DISK + seed % 3 * DISK / 2;
			store("c1", moid, left[i]);
		}
		w_gang(&w, gang, n);
		for (size_t i = 0; i < n; i += 2)
			gang[i].profile = &w.p_eth;
		w.p_eth.disk_mb = DISK / 2 * (1 + seed % 3);
		w.env.policy = (enum vs_policy)(seed % 3);
		if (place(n))
			continue;
		for (size_t i = 0; i < n; i++)
			left[gang[i].to_store[3] - 'a'] -=
				gang[i].profile->disk_mb +
				vs_profile_swap_mb(gang[i].profile);
		for (size_t i = 0; i < VS_COUNT(rooms); i++)
			assert_true(left[i] >= 0);
	}
}

/* Of many that a host sees none is left unused. */
static void a_host_may_see_many(void **state)
{
	struct vs_host *h = host("esx1", "c1", NULL);
	char moid[16];

	(void)state;
	h->pfs[0].vfs = MANY;
	for (int i = 0; i < MANY; i++) {
		snprintf(moid, sizeof(moid), "ds-%02d", i);
		sees(h, moid);
		store("c1", moid, DISK);
	}
	assert_int_equal(room(), MANY);
	assert_int_equal(place(MANY), 0);
	gang[0].exists = true;
	gang[0].store = "ds-15";
	assert_int_equal(place(1), 0);
	assert_false(gang[0].moves);
	assert_string_equal(gang[0].to_store, "ds-15");
}

/* The disks of a VM that is moved count twice only until a reading has seen
 * them where they go. */
static void a_move_is_over_when_it_is_read(void **state)
{
	struct vs_claim *h;
	struct vs_vm *vm;

	(void)state;
	sees(host("esx1", "c1", "ds-a"), "ds-b");
	store("c1", "ds-a", 0);
	store("c1", "ds-b", 3 * DISK);
	vm = w_vm(&w, "vm-1", "x", "esx1");
	vm->power = VS_POWER_OFF;
	vs_strlcpy(vm->disks.dir, "[a] x/", sizeof(vm->disks.dir));
	vs_shared_capacity_begin(&w.inv);
	vs_shared_capacity_end(&w.inv);
	h = w_hold(&w, "x", "esx1", W_PF0, VS_CLAIM_RESERVED);
	vs_strlcpy(h->store, "ds-b", sizeof(h->store));
	vs_strlcpy(h->vm, "vm-1", sizeof(h->vm));
	h->disk_mb = DISK;
	h->moves = true;
	assert_int_equal(room(), 2);
	/* it goes there while the room is being read: not sure to be in it */
	vs_shared_capacity_begin(&w.inv);
	vs_strlcpy(vm->disks.dir, "[b] x/", sizeof(vm->disks.dir));
	vs_shared_capacity_end(&w.inv);
	assert_int_equal(room(), 2);
	vs_shared_capacity_begin(&w.inv);
	vs_shared_capacity_set_stores(&w.inv, "ds-b", "b", 2 * DISK);
	vs_shared_capacity_end(&w.inv);
	assert_int_equal(room(), 2);
}

/* Nothing was read yet, so that there is no array to write to. */
/* esx1 sees another one, but is away. */
static void datastores_alone_that_a_host_sees_are_said_to_lack(void **state)
{
	(void)state;
	host("esx1", "c1", "ds-a")->connected = false;
	host("esx2", "c1", "ds-b");
	store("c1", "ds-a", 4 * DISK);
	store("c1", "ds-b", DISK / 2);
	assert_int_equal(place(1), -1);
	assert_non_null(strstr(err.text, "datastore b has "));
	assert_null(strstr(err.text, "datastore a has "));
	assert_non_null(strstr(err.text, "esx1: not connected"));
}

/* As for a VM that is on and moves: its disks and its swap file are there. */
static void a_vm_that_is_on_needs_no_more_of_its_datastore(void **state)
{
	(void)state;
	host("esx1", "c1", "ds-a");
	store("c1", "ds-a", 0);
	assert_int_equal(room(), 0);
	assert_int_equal(place(1), -1);
	w.env.has_pool = true;
	assert_int_equal(room(), 8);
	assert_int_equal(place(1), 0);
	assert_string_equal(gang[0].to_store, "ds-a");
}

static void without_pools_nothing_is_taken_of_one(void **state)
{
	struct vs_taken t = { .pools = NULL };
	struct vs_vm *vm;

	(void)state;
	host("esx1", "c1", NULL);
	vm = w_vm(&w, "vm-1", "x", "esx1");
	w_ours(&w, vm);
	assert_int_equal(w.inv.npools, 0);
	vs_shared_capacity_take_vm(&w.inv, vm, w.env.folder, w.env.cluster_id,
				   &t);
	assert_int_equal(t.store_mb, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(each_host_gives_its_own),
		T(of_two_the_one_with_most_room_is_taken),
		T(another_clusters_is_none_of_its_own),
		T(room_is_counted_by_datastore),
		T(packed_vms_mind_it_too),
		T(datastores_that_hold_all_leave_pack_its_choice),
		T(pack_takes_the_host_whose_datastore_holds_all),
		T(what_is_promised_is_taken),
		T(a_vm_stays_where_its_disks_are_seen),
		T(else_it_takes_them_along_if_there_is_room),
		T(a_vms_datastore_is_read_from_its_files),
		T(a_gang_larger_than_the_largest_goes_on_several),
		T(each_vm_gets_the_one_with_most_room_then),
		T(what_there_is_room_for_can_be_placed),
		T(whatever_hosts_see_room_is_what_can_be_placed),
		T(none_is_promised_twice),
		T(a_host_may_see_many),
		T(a_move_is_over_when_it_is_read),
		T(datastores_alone_that_a_host_sees_are_said_to_lack),
		T(a_vm_that_is_on_needs_no_more_of_its_datastore),
		T(without_pools_nothing_is_taken_of_one),
		T(vms_with_disks_in_two_places_are_two_kinds),
		T(a_new_vm_beside_one_that_exists_needs_its_disks),
		T(a_host_that_tells_no_datastore_is_refused_for_now),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
