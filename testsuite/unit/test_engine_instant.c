/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instant clones (Clone=instant): parents that stand frozen, one on each host,
 * and VMs that are on at once. */
#include "engine/tasks/tasks.h"
#include "clone_source_stage.h"

static void only_the_parent_is_made_before_slurm_asks_for_power(void **st)
{
	const struct fake_vm *p, *vm;

	(void)st;
	begin_instant(2, 1);
	parent_stands(7, "vm1");
	turns(50);
	p = fake_parent("parent-tpl-");
	assert_non_null(p);
	assert_true(p->has_nic && p->on && p->kind == VS_VC_NET_VMXNET3);
	assert_int_equal(fake_sent[FAKE_INSTANT], 0);
	assert_int_equal(fake_sent[FAKE_SNAPSHOT], 0);
	comes_up("vm1");
	vm = fake_get("vm1");
	assert_true(vm->on);
	assert_string_equal(vm->source, p->moid);
	assert_string_equal(vm->from, p->uuid);
	assert_string_equal(vm->parent, "");
	assert_string_not_equal(vm->mac, p->mac);
	/* no power-on but the clone source's, and no other VM is touched */
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
	assert_int_equal(fake_sent[FAKE_POWER_OFF] + fake_sent[FAKE_SHUTDOWN],
			 0);
	assert_null(heard(VS_REQUEST_REBUILD, NULL));
	assert_null(heard(VS_REQUEST_RELEASE, NULL));
	assert_int_equal(vs_tasks_provisioning() + vs_tasks_power_ops(), 0);
	/* the next one finds it */
	assert_int_equal(job_begin(8, "vm2", NULL), 0);
	comes_up("vm2");
	assert_int_equal(fake_parents(), 1);
}

static void a_parent_that_is_not_frozen_keeps_its_clones_waiting(void **st)
{
	(void)st;
	begin_instant(1, 1);
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
	assert_non_null(strstr(waits("vm1"), "waits for the clone source (instant clone): the template is being copied"));
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	turns(2);
	assert_non_null(strstr(waits("vm1"), "it boots and is then frozen"));
	assert_int_equal(fake_sent[FAKE_INSTANT], 0);
	now += (int64_t)core_conf()->boot_timeout_s * 1000;
	turns(2);
	/* an administrator's business, and no node's fault */
	assert_non_null(strstr(core_capacity()[0].missing, "was not frozen within"));
	assert_null(heard(VS_REQUEST_FAIL, NULL));
	assert_true(fake_finish(FAKE_POWER_OFF));
	assert_int_equal(fake_sent[FAKE_INSTANT], 0);
}

static void a_guest_that_says_why_is_heard(void **st)
{
	struct fake_vm *p;

	(void)st;
	begin_instant(1, 1);
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	p = fake_parent("parent-");
	p->guest_state = "failed";
	p->guest_reason = "no such tools";
	fake_show(p);
	turns(2);
	assert_non_null(strstr(core_capacity()[0].missing,
			       "the guest says: no such tools"));
}

static void a_lost_answer_makes_no_second_one(void **st)
{
	(void)st;
	begin_instant(1, 1);
	parent_stands(7, "vm1");
	flags("vm1", BOOT);
	turns(2);
	assert_true(fake_lose(FAKE_INSTANT, true));
	turns(20);
	fake_slow(NULL, 0);
	turns(20);
	assert_int_equal(fake_sent[FAKE_INSTANT], 1);
	assert_true(fake_get("vm1")->on);
	assert_int_equal(vs_node_named(&vs_core, "vm1")->seen, VS_OBSERVED_ON);
}

static void off_it_is_no_more(void **st)
{
	(void)st;
	begin_instant(1, 1);
	parent_stands(7, "vm1");
	comes_up("vm1");
	end_job(7, "vm1");
	powered_down("vm1");
	assert_true(fake_finish(FAKE_DESTROY));
	turns(20);
	assert_null(fake_get("vm1"));
	assert_int_equal(fake_parents(), 1);
	assert_true(fake_parent("parent-")->frozen);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_int_equal(fake_sent[FAKE_INSTANT], 1);
}

/* A copy of an instant clone has another BIOS uuid, so it isn't managed. */
static void a_copy_of_one_is_not_ours(void **st)
{
	struct fake_vm *vm;

	(void)st;
	begin_instant(1, 1);
	parent_stands(7, "vm1");
	comes_up("vm1");
	vm = fake_get("vm1");
	assert_int_equal(vs_vm_owner(vs_vm_get(core_inv(), vm->moid),
				     core_folder(), core_cluster_id()),
			 VS_OWNER_MANAGED);
	vs_strlcpy(vm->bios, "4211aaaa-0000-4000-8000-000000000009",
		   sizeof(vm->bios));
	fake_show(vm);
	assert_int_equal(vs_vm_owner(vs_vm_get(core_inv(), vm->moid),
				     core_folder(), core_cluster_id()),
			 VS_OWNER_UNVERIFIED);
}

/* Its host is to be empty; what became of another VM is another matter. */
static void it_goes_off_though_a_vm_is_missed(void **st)
{
	(void)st;
	begin_instant(2, 1);
	parent_stands(7, "vm1");
	core_inv()->by_index[0]->entering_maintenance = true;
	node_set_missing(&core_nodes()[1], VS_MISSING_OBSERVED);
	vs_clone_sources_update(&vs_core, now + 60000);
	vs_clone_sources_update(&vs_core, now + 70000);
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 1);
}

#define GB 1024

static size_t room_for(const char *node)
{
	return vs_capacity_count(&vs_core, vs_node_named(&vs_core, node));
}

/* The host has 512 GB. */
static void its_memory_counts_before_it_is_made(void **st)
{
	(void)st;
	begin_instant_of(2, 1, 200 * GB);
	turns(12);
	assert_int_equal(room_for("vm1"), 1);
	assert_int_equal(job_begin(7, "vm1", "vm2"), -1);
	parent_stands(7, "vm1");
	comes_up("vm1");
	turns(12);
	assert_int_equal(job_begin(8, "vm2", NULL), -1);
}

static void it_counts_once_on_each_host(void **st)
{
	(void)st;
	begin_instant_of(3, 1, 150 * GB);
	turns(12);
	assert_int_equal(room_for("vm1"), 2);
	assert_int_equal(job_begin(7, "vm1", "vm2"), 0);
	flags("vm1", WANTED);
	flags("vm2", WANTED);
	turns(2);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_int_equal(job_begin(8, "vm3", NULL), -1);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	turns(2);
	freeze();
	vs_job_end(&vs_core, 7, (int[]) { id("vm1"), id("vm2") }, 2, false);
	flags("vm1", DOWN);
	flags("vm2", DOWN);
	turns(12);
	assert_int_equal(room_for("vm3"), 2);
}

static void one_that_boots_again_has_its_memory_held(void **st)
{
	struct fake_vm *p;
	const struct vs_host *h;

	(void)st;
	begin_instant_of(2, 1, 200 * GB);
	parent_stands(7, "vm1");
	vs_job_end(&vs_core, 7, &(int) { id("vm1") }, 1, false);
	flags("vm1", DOWN);
	fake_slow(NULL, 0);
	turns(12);
	p = fake_parent("parent-");
	assert_null(vs_ledger_get(core_ledger(), p->name));
	p->on = p->frozen = false;	/* by a vCenter user */
	fake_show(p);
	turns(12);
	h = vs_host_get(core_inv(), "host-1");
	assert_true(vs_free_capacity_get(&vs_core)->hosts[h->index].mem_free >=
		    450 * GB);
	assert_int_equal(room_for("vm1"), 1);
	assert_int_equal(job_begin(8, "vm2", NULL), 0);
	flags("vm2", WANTED);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	assert_non_null(vs_ledger_get(core_ledger(), p->name));
	assert_true(vs_free_capacity_get(&vs_core)->hosts[h->index].mem_free <
		    112 * GB);
	assert_true(fake_finish(FAKE_POWER_ON));
	turns(12);
	assert_null(vs_ledger_get(core_ledger(), p->name));
	assert_true(vs_free_capacity_get(&vs_core)->hosts[h->index].mem_free <
		    112 * GB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_parent_is_made_before_slurm_asks_for_power),
		cmocka_unit_test(a_parent_that_is_not_frozen_keeps_its_clones_waiting),
		cmocka_unit_test(a_guest_that_says_why_is_heard),
		cmocka_unit_test(a_lost_answer_makes_no_second_one),
		cmocka_unit_test(off_it_is_no_more),
		cmocka_unit_test(a_copy_of_one_is_not_ours),
		cmocka_unit_test(it_goes_off_though_a_vm_is_missed),
		cmocka_unit_test(its_memory_counts_before_it_is_made),
		cmocka_unit_test(it_counts_once_on_each_host),
		cmocka_unit_test(one_that_boots_again_has_its_memory_held),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
