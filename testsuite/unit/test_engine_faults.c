/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine when things go wrong: lost replies, restarts, VMs that
 * slurm-vsphere doesn't manage or can't read, an account that may change
 * nothing.
 */
#include "engine_stage.h"

static void mark(struct fake_vm *vm, const char *cluster, const char *uuid)
{
	snprintf(vm->mark, sizeof(vm->mark), "%s/%s/%s", cluster, vm->name,
		 uuid);
}

static int all_sent(void)
{
	int n = 0;

	for (int k = 0; k < FAKE_KINDS; k++)
		n += k == FAKE_ADOPT ? 0 : fake_sent[k];
	return n;
}

/* ---- outcomes that are not known ---------------------------------------------- */

static void a_clone_whose_reply_is_lost_is_looked_for_not_sent_again(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turn();
	assert_true(fake_lose(FAKE_CLONE, false));
	turns(50);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_true(fake_slow_asked);
	/* vCenter answers: no such task, no such VM */
	fake_slow(NULL, 0);
	turns(50);
	assert_int_equal(fake_sent[FAKE_CLONE], 2);
}

static void a_clone_that_happened_unheard_is_used(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turn();
	assert_true(fake_lose(FAKE_CLONE, true));
	turn();
	fake_slow(NULL, 0);
	turns(50);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
}

static void after_a_restart_a_clone_under_way_is_waited_for(void **st)
{
	struct vs_vc_task task = {
		.moid = "task-9", .name = "VirtualMachine.clone",
		.entity = "vm-tpl", .entity_name = "tpl", .state = "running",
		.user = "slurm",
	};

	(void)st;
	begin(1, 1, 1, "warm");
	flags("vm1", BOOT);
	fake_load();
	fake_slow(&task, 1);
	turns(50);
	assert_int_equal(fake_sent[FAKE_ADOPT], 1);
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	assert_true(fake_finish(FAKE_ADOPT));
	turns(3);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
}

/* slurmctld starts again while a task of this kind runs on the VM of a job's node. */
static void a_task_is_adopted(const char *kind)
{
	struct vs_vc_task task = {
		.moid = "task-9", .name = kind, .state = "running",
		.user = "slurm",
	};

	begin(1, 1, 1, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", WANTED);
	turn();
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	fake_down(VS_E_RETRY);
	flags("vm1", BOOT);
	fake_load();
	task.entity = fake_get("vm1")->moid;
	fake_slow(&task, 1);
	turns(20);
}

static void a_task_on_our_vm_is_adopted_not_repeated(void **st)
{
	(void)st;
	a_task_is_adopted("VirtualMachine.powerOn");
	assert_int_equal(fake_sent[FAKE_POWER_ON], 0);
	assert_int_equal(free_on("host-1"), 0);
	assert_true(fake_finish(FAKE_ADOPT));
	turns(2);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
}

/* A relocation whose answer is lost is adopted as a task. If it then fails, because the
 * NIC's PF is not on the new host, the VM's node must not be set down. */
static void what_an_adopted_task_fails_of_is_not_the_nodes_fault(void **st)
{
	(void)st;
	a_task_is_adopted("VirtualMachine.relocate");
	assert_true(fake_fault(FAKE_ADOPT, VS_E_REQUEST, "CannotAccessVmDevice",
			       "The device is not accessible on the host."));
	turns(20);
	assert_null(heard(VS_REQUEST_FAIL, NULL));
	assert_null(heard(VS_REQUEST_RELEASE, NULL));
	fake_slow(NULL, 0);
	turns(20);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
}

/* A destroy can't be called off: its node gets no job until it ends. */
static void a_task_that_never_ends_bars_its_node_until_it_does(void **st)
{
	(void)st;
	begin_idle("destroy");
	powered_down("vm1");
	assert_int_equal(fake_waiting(FAKE_DESTROY), 1);
	turns(20);
	assert_int_not_equal(vs_node_avail(&vs_core, &core_nodes()[0]),
			     VS_AVAIL_NONE);
	now += 60 * 1000;
	turns(2);
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[0]),
			 VS_AVAIL_NONE);
	assert_int_equal(job_begin(8, "vm1", NULL), -1);
	vs_capacity_freed_clear();
	assert_true(fake_finish(FAKE_DESTROY));
	assert_true(vs_capacity_freed_pending());		/* jobs wait for it */
	turns(2);
	assert_int_not_equal(vs_node_avail(&vs_core, &core_nodes()[0]),
			     VS_AVAIL_NONE);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
}

static void a_lost_connection_during_a_power_on_keeps_the_hold(void **st)
{
	(void)st;
	begin(2, 1, 1, "warm");
	ready();
	boot_up(7, "vm1");
	fake_down(VS_E_RETRY);
	turns(5);
	assert_int_equal(job_begin(8, "vm2", NULL), -1);
	fake_load();
	fake_slow(NULL, 0);
	turn();
	assert_int_equal(job_begin(8, "vm2", NULL), -1);
	assert_int_equal(free_on("host-1"), 0);
}

static void holds_and_capacity_are_equal_before_and_after_a_restart(void **st)
{
	int before;

	(void)st;
	begin(3, 1, 4, "warm");
	ready();
	bring_up(7, "vm1");
	assert_int_equal(job_begin(8, "vm2", NULL), 0);
	flags("vm2", BOOT);
	turn();
	before = free_on("host-1");
	/* everything that was only in memory goes */
	vs_ledger_clear(core_ledger());
	fake_down(VS_E_RETRY);
	vs_job_claim(&vs_core, 8, 0, (int[]) { id("vm2") }, 1, false);
	fake_load();
	fake_slow(NULL, 0);
	turn();
	assert_int_equal(free_on("host-1"), before);
}

/* ---- whose VM it is ------------------------------------------------------------ */

static void a_foreign_vm_with_a_nodes_name_is_never_touched(void **st)
{
	(void)st;
	begin(1, 1, 2, "destroy");
	fake_add_vm("vm1", "group-v1", "host-1", false);
	ready();
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[0]),
			 VS_AVAIL_NONE);
	flags("vm1", BOOT);
	turns(20);
	assert_int_equal(all_sent(), 0);
	assert_non_null(heard(VS_REQUEST_FAIL, "vm1"));
}

static void a_copy_of_our_vm_is_a_suspect_and_stays(void **st)
{
	struct fake_vm *copy;

	(void)st;
	begin(1, 1, 2, "destroy");
	copy = fake_add_vm("vm1", "group-v1", "host-1", true);
	mark(copy, core_cluster_id(), "99999999-0000-4000-8000-000000000000");
	ready();
	turns(20);
	assert_int_equal(all_sent(), 0);
}

static void another_clusters_vm_in_the_folder_stops_everything(void **st)
{
	struct fake_vm *other;

	(void)st;
	begin(2, 1, 2, "warm");
	other = fake_add_vm("vm9", "group-v1", "host-1", false);
	mark(other, "22222222-2222-4333-8444-555555555555", other->uuid);
	fake_load();
	fake_slow(NULL, 0);
	turn();
	assert_non_null(strstr(vs_query_blocked(&vs_core), "vm9"));
	assert_int_equal(job_begin(7, "vm1", NULL), -1);
	fake_remove(other);
	turn();
	assert_null(vs_query_blocked(&vs_core));
}

static void a_vm_with_a_foreign_disk_is_not_destroyed(void **st)
{
	(void)st;
	begin(1, 1, 1, "destroy");
	ready();
	bring_up(7, "vm1");
	fake_get("vm1")->disks_own = false;
	fake_show(fake_get("vm1"));
	end_job(7, "vm1");
	flags("vm1", GOING);
	turn();
	assert_true(fake_finish(FAKE_POWER_OFF));
	turns(50);
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	assert_non_null(strstr(node_error(&core_nodes()[0])->text, "disk"));
}

/* ---- what cannot be known --------------------------------------------------------- */

static void an_unreadable_vm_is_never_gone(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	memset(fake_sent, 0, sizeof(fake_sent));
	fake_get("vm1")->unreadable = true;
	fake_show(fake_get("vm1"));
	end_job(7, "vm1");
	flags("vm1", GOING);
	turns(20);
	assert_int_equal(all_sent(), 0);
	assert_non_null(vs_ledger_get(core_ledger(), "vm1"));
}

static void vcenter_away_makes_jobs_wait_and_changes_nothing(void **st)
{
	(void)st;
	begin(2, 1, 2, "warm");
	ready();
	bring_up(7, "vm1");
	memset(fake_sent, 0, sizeof(fake_sent));
	fake_down(VS_E_RETRY);
	turns(20);
	assert_int_equal(all_sent(), 0);
	assert_int_equal(job_begin(8, "vm2", NULL), -1);
	assert_non_null(strstr(vs_query_blocked(&vs_core), "connection lost"));
	assert_true(vs_query_ever(&vs_core, (int[]) { 0, 1 }, 2, NULL));
}

static void observe_mode_sends_nothing(void **st)
{
	(void)st;
	begin(1, 1, 2, "warm");
	core_set_observe(true);
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), -1);
	flags("vm1", BOOT);
	turns(20);
	assert_int_equal(all_sent(), 0);
}

static void a_pf_that_was_never_shown_is_no_place(void **st)
{
	struct fake_vm *vm, *thief;

	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	vm = fake_get("vm1");
	vm->pci[0] = '\0';
	/* everything is read again, and ESXi's choice isn't shown */
	vs_ledger_clear(core_ledger());
	fake_show(vm);
	turn();
	vm->on = false;
	fake_show(vm);
	thief = fake_add_vm("thief", "group-other", "host-1", true);
	thief->has_nic = true;
	vs_strlcpy(thief->pci, "0000:3b:00.0", sizeof(thief->pci));
	fake_show(thief);
	flags("vm1", BOOT);
	turns(50);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
	assert_int_equal(fake_sent[FAKE_RECONFIGURE], 0);
	assert_int_equal(fake_overfull, 0);
}

/* ---- rebuilding ---------------------------------------------------------------------- */

static void slurm_is_told_before_an_idle_nodes_vm_is_rebuilt(void **st)
{
	struct vs_profile *p = NULL;

	(void)st;
	begin_idle("warm");
	p = &core_profiles()[0];
	p->memory_mb = 2048;
	vs_profiles_changed(&vs_core);
	job_starts(8, "vm1");
	turns(3);
	assert_non_null(heard(VS_REQUEST_REBUILD, "vm1"));
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 0);
	rebuilt_by(FAKE_RECONFIGURE);
	assert_true(fake_finish(FAKE_POWER_ON));
	assert_int_equal(fake_get("vm1")->memory_mb, 2048);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
}

static void a_late_word_of_the_old_guest_does_not_end_a_rebuild(void **st)
{
	(void)st;
	begin_idle("warm");
	core_profiles()[0].memory_mb = 2048;
	vs_profiles_changed(&vs_core);
	job_starts(8, "vm1");
	turns(3);
	flags("vm1", BOOT);
	turns(2);
	/* the old slurmd's answer to a ping: up again, for Slurm */
	flags("vm1", BUSY);
	assert_true(fake_finish(FAKE_POWER_OFF));
	ntold = 0;
	turns(2);
	assert_non_null(heard(VS_REQUEST_REBUILD, "vm1"));
	flags("vm1", BOOT);
	turns(2);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	turns(2);
	assert_int_equal(fake_get("vm1")->memory_mb, 2048);
}

static void a_running_job_is_never_disturbed_by_a_new_profile(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	memset(fake_sent, 0, sizeof(fake_sent));
	core_profiles()[0].memory_mb = 2048;
	vs_profiles_changed(&vs_core);
	vs_strlcpy(core_profiles()[0].template_version, "2",
		   sizeof(core_profiles()[0].template_version));
	vs_profiles_changed(&vs_core);
	turns(50);
	assert_int_equal(all_sent(), 0);
}

static void a_changed_template_means_a_new_vm(void **st)
{
	(void)st;
	begin_idle("warm");
	flags("vm1", GOING);
	turn();
	assert_true(fake_finish(FAKE_POWER_OFF));
	flags("vm1", DOWN);
	turn();
	vs_strlcpy(core_profiles()[0].template_version, "2",
		   sizeof(core_profiles()[0].template_version));
	vs_profiles_changed(&vs_core);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
	assert_true(fake_finish(FAKE_DESTROY));
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
}

static void a_wrong_request_fails_the_node_at_once_with_its_cause(void **st)
{
	const struct vs_outbox_request *t;

	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turn();
	assert_true(fake_fail(FAKE_CLONE, VS_E_REQUEST, "no such network"));
	turn();
	t = heard(VS_REQUEST_FAIL, "vm1");
	assert_non_null(t);
	assert_non_null(strstr(t->text, "no such network"));
}

static void a_node_that_never_registers_fails_with_a_reason(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	boot_up(7, "vm1");
	assert_true(fake_finish(FAKE_POWER_ON));
	turn();
	now += (int64_t)core_conf()->boot_timeout_s * 1000;
	turns(2);
	assert_non_null(heard(VS_REQUEST_FAIL, "vm1"));
	assert_non_null(strstr(heard(VS_REQUEST_FAIL, "vm1")->text,
			       "BootTimeout"));
}

/* ---- names and VFs --------------------------------------------------------------------- */

static void an_idle_vm_that_a_waiting_job_cannot_use_is_reclaimed(void **st)
{
	int wants;

	(void)st;
	begin(2, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	wants = id("vm2");
	refuse(8, &wants, 1, 1, "needs 1 VF");
	turns(3);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
}

static void a_vm_with_a_job_is_never_reclaimed(void **st)
{
	int wants;

	(void)st;
	begin(2, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	wants = id("vm2");
	refuse(8, &wants, 1, 1, "needs 1 VF");
	turns(3);
	assert_null(heard(VS_REQUEST_POWER_DOWN, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clone_whose_reply_is_lost_is_looked_for_not_sent_again),
		cmocka_unit_test(a_clone_that_happened_unheard_is_used),
		cmocka_unit_test(after_a_restart_a_clone_under_way_is_waited_for),
		cmocka_unit_test(a_task_on_our_vm_is_adopted_not_repeated),
		cmocka_unit_test(what_an_adopted_task_fails_of_is_not_the_nodes_fault),
		cmocka_unit_test(a_task_that_never_ends_bars_its_node_until_it_does),
		cmocka_unit_test(a_lost_connection_during_a_power_on_keeps_the_hold),
		cmocka_unit_test(holds_and_capacity_are_equal_before_and_after_a_restart),
		cmocka_unit_test(a_foreign_vm_with_a_nodes_name_is_never_touched),
		cmocka_unit_test(a_copy_of_our_vm_is_a_suspect_and_stays),
		cmocka_unit_test(another_clusters_vm_in_the_folder_stops_everything),
		cmocka_unit_test(a_vm_with_a_foreign_disk_is_not_destroyed),
		cmocka_unit_test(an_unreadable_vm_is_never_gone),
		cmocka_unit_test(vcenter_away_makes_jobs_wait_and_changes_nothing),
		cmocka_unit_test(observe_mode_sends_nothing),
		cmocka_unit_test(a_pf_that_was_never_shown_is_no_place),
		cmocka_unit_test(slurm_is_told_before_an_idle_nodes_vm_is_rebuilt),
		cmocka_unit_test(a_late_word_of_the_old_guest_does_not_end_a_rebuild),
		cmocka_unit_test(a_running_job_is_never_disturbed_by_a_new_profile),
		cmocka_unit_test(a_changed_template_means_a_new_vm),
		cmocka_unit_test(a_wrong_request_fails_the_node_at_once_with_its_cause),
		cmocka_unit_test(a_node_that_never_registers_fails_with_a_reason),
		cmocka_unit_test(an_idle_vm_that_a_waiting_job_cannot_use_is_reclaimed),
		cmocka_unit_test(a_vm_with_a_job_is_never_reclaimed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
