/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pools, the datastore, hosts that leave and budgets: what the slow beat brings
 * decides whether a job begins, and a job that was refused begins when room
 * comes.
 */
#include "engine_stage.h"

/* A VM of 4 vCPUs and 1 GiB, all reserved, with its overhead. */
#define EACH (1024 + 64 + 8 * 4 + 11)
#define POOL "cluster C1"

static int ids_of(int n, int *ids)
{
	static const char *const names[] = { "vm1", "vm2", "vm3", "vm4" };

	for (int i = 0; i < n; i++)
		ids[i] = id(names[i]);
	return n;
}

/* How many of the first n nodes could be served; what it says of a job that
 * needs as many, behind that. */
static size_t room(int n, const char *expected)
{
	char why[256] = "", words[256], need[64];
	int ids[4];
	size_t got = vs_query_capacity(&vs_core, ids, (size_t)ids_of(n, ids),
				       NULL, why, sizeof(why));

	vs_shortage_text(&vs_core, ids, (size_t)n, (size_t)n, got, why, words,
			 sizeof(words));
	snprintf(need, sizeof(need), n == 1 ? "needs 1 sriov-roce VF, " :
		 "needs %d sriov-roce VFs, ", n);
	assert_memory_equal(words, need, strlen(need));
	assert_string_equal(words + strlen(need), expected);
	return got;
}

static void refused(uint32_t job, int n, const char *text)
{
	struct vs_err err;
	size_t surplus[4], ns;
	int ids[4];

	ids_of(n, ids);
	assert_int_equal(vs_query_check(&vs_core, ids, (size_t)n, surplus, &ns,
					&err), -1);
	assert_string_equal(err.text, text);
	assert_int_equal(vs_job_begin(&vs_core, job, 0, ids, (size_t)n, &err),
			 -1);
	for (int i = 0; i < n; i++)
		assert_int_equal(node_job(&core_nodes()[ids[i]]) == job, 0);
}

static void begins(uint32_t job, int n)
{
	struct vs_err err;
	int ids[4];

	ids_of(n, ids);
	if (vs_job_begin(&vs_core, job, 0, ids, (size_t)n, &err))
		fail_msg("%s", err.text);
}

static void beat(void)
{
	vs_capacity_freed_clear();
	fake_slow(NULL, 0);
}

/* ---- pools -------------------------------------------------------------- */

static void a_gang_waits_for_the_pool_and_begins_when_room_comes(void **state)
{
	(void)state;
	begin(4, 2, 4, "warm");
	fake_pool_mb = 4 * EACH - 1;
	ready();
	assert_int_equal(room(4, "capacity for 3 VMs: " POOL " has 4523 MB of "
			      "memory left, each VM needs 1131 MB"), 3);
	refused(7, 4, "needs 4 sriov-roce VFs, capacity for 3 VMs (" POOL " has 4523 "
		"MB of memory left, each VM needs 1131 MB)");
	assert_null(core_ledger()->holds);
	beat();
	assert_false(vs_capacity_freed_pending());	/* nothing has changed */
	fake_pool_mb = 4 * EACH;
	beat();
	assert_true(vs_capacity_freed_pending());	/* the scheduler is told */
	assert_int_equal(room(4, "4 free"), 4);
	begins(7, 4);
	flags("vm1", BOOT);
	turn();
	assert_true(fake_finish(FAKE_CLONE));
}

static void a_pool_is_told_by_the_name_it_was_given(void **state)
{
	(void)state;
	begin(1, 1, 4, "warm");
	core_conf()->clusters[0].pool = vs_strdup("slurm");
	fake_pool_mb = 1;
	ready();
	assert_int_equal(room(1, "capacity for 0 VMs: resource pool slurm of "
			      "cluster C1 has 1 MB of memory left, each VM "
			      "needs 1131 MB"), 0);
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[0]),
			 VS_AVAIL_NONE);
}

static void promised_vms_count_until_a_beat_has_them(void **state)
{
	(void)state;
	begin(4, 1, 4, "warm");
	fake_pool_mb = 3 * EACH;
	ready();
	assert_int_equal(job_begin(1, "vm1", "vm2"), 0);
	assert_int_equal(job_begin(2, "vm3", "vm4"), -1);
	flags("vm1", WANTED);
	flags("vm2", WANTED);
	turn();
	assert_true(fake_finish(FAKE_CLONE) && fake_finish(FAKE_CLONE));
	flags("vm1", BOOT);
	flags("vm2", BOOT);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON) && fake_finish(FAKE_POWER_ON));
	turn();
	assert_int_equal(job_begin(2, "vm3", "vm4"), -1);
	/* what is on is in the pool's own sum now, and counted once */
	fake_pool_mb = EACH;
	beat();
	assert_int_equal(job_begin(2, "vm3", "vm4"), -1);
	assert_int_equal(job_begin(3, "vm3", NULL), 0);
	assert_int_equal(job_begin(4, "vm4", NULL), -1);
}

static void a_vm_that_goes_off_leaves_room_at_once(void **state)
{
	(void)state;
	begin(2, 1, 4, "warm");
	fake_pool_mb = EACH;
	ready();
	bring_up(1, "vm1");
	fake_pool_mb = 0;
	beat();
	assert_int_equal(job_begin(2, "vm2", NULL), -1);
	end_job(1, "vm1");
	powered_down("vm1");
	assert_int_equal(job_begin(2, "vm2", NULL), 0);
}

static void a_warm_vm_needs_no_room(void **state)
{
	(void)state;
	begin(2, 1, 4, "warm");
	fake_pool_mb = EACH;
	ready();
	bring_up(1, "vm1");
	end_job(1, "vm1");
	fake_pool_mb = fake_store_mb = 0;
	beat();
	assert_int_equal(job_begin(2, "vm1", NULL), 0);
}

static void what_was_not_read_refuses_nobody(void **state)
{
	(void)state;
	begin(4, 1, 4, "warm");
	fake_store_mb = -1;
	fake_disk_mb = 1 << 30;
	ready();
	assert_int_equal(room(4, "4 free"), 4);
	begins(7, 4);
	/* a new connection knows nothing of the old one's values */
	begin(4, 1, 4, "warm");
	fake_pool_mb = 0;
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), -1);
	fake_down(VS_E_RETRY);
	fake_load();
	assert_true(!core_inv()->npools && !core_inv()->store.there);
	fake_pool_mb = -1;
	fake_slow(NULL, 0);
	turn();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
}

/* ---- the datastore ------------------------------------------------------ */

static void a_gang_waits_for_the_datastore_and_begins_when_room_comes(
	void **state)
{
	(void)state;
	begin(4, 2, 4, "warm");
	core_conf()->datastore = vs_strdup("vsan");
	fake_disk_mb = 10000;
	fake_store_mb = 39999;
	ready();
	assert_int_equal(room(4, "capacity for 3 VMs: datastore vsan has 39999 "
			      "MB free, 1 VM needs 10000 MB for disks and swap "
			      "files"), 3);
	refused(7, 4, "datastore vsan has 39999 MB free, 4 VMs need 40000 MB "
		"for disks and swap files");
	assert_null(core_ledger()->holds);
	fake_store_mb = 40000;
	beat();
	assert_true(vs_capacity_freed_pending());
	begins(7, 4);
	/* promised ones count */
	clone_for(8, "vm1");
}

static void clones_count_until_a_beat_has_them(void **state)
{
	(void)state;
	begin(3, 1, 4, "warm");
	fake_disk_mb = 10000;
	fake_store_mb = 20000;
	ready();
	bring_up(1, "vm1");
	assert_int_equal(job_begin(2, "vm2", "vm3"), -1);
	fake_store_mb = 10000;		/* by vCenter's own count */
	beat();
	assert_int_equal(job_begin(2, "vm2", NULL), 0);
	assert_int_equal(job_begin(3, "vm3", NULL), -1);
	flags("vm2", WANTED);
	turn();
	assert_true(fake_finish(FAKE_CLONE));
	turn();
	fake_store_mb = 0;
	beat();
	assert_int_equal(job_begin(3, "vm3", NULL), -1);
	fake_store_mb = 10000;
	beat();				/* vm2 is not counted again */
	assert_int_equal(job_begin(3, "vm3", NULL), 0);
}

/* Its hold ends before a beat has seen it. */
static void disks_of_a_vm_that_goes_off_at_once_still_count(void **state)
{
	(void)state;
	begin(3, 1, 3, "power_off");
	fake_disk_mb = 10000;
	fake_store_mb = 15000;
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	flags("vm1", GOING);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_OFF) || fake_finish(FAKE_SHUTDOWN));
	flags("vm1", DOWN);
	turns(3);
	assert_null(vs_ledger_get(core_ledger(), "vm1"));
	assert_int_equal(job_begin(8, "vm2", NULL), -1);
	/* itself it needs no more of it */
	assert_int_equal(job_begin(9, "vm1", NULL), 0);
	fake_store_mb = 10000;		/* by vCenter's own count */
	beat();
	assert_int_equal(job_begin(8, "vm2", NULL), 0);
}

static void vms_that_exist_need_vfs_all_the_same(void **state)
{
	static const char *const names[] = { "vm1", "vm2", "vm3" };

	(void)state;
	begin(3, 1, 2, "warm");
	ready();
	for (size_t i = 0; i < VS_COUNT(names); i++) {
		bring_up(1, names[i]);
		end_job(1, names[i]);
		powered_down(names[i]);
	}
	assert_int_equal(room(3, "2 free"), 2);
}

static void a_vm_that_exists_starts_beside_a_full_datastore(void **state)
{
	(void)state;
	begin(3, 1, 4, "warm");
	core_conf()->datastore = vs_strdup("vsan");
	fake_disk_mb = 10000;
	fake_store_mb = 10000;
	ready();
	bring_up(1, "vm1");
	end_job(1, "vm1");
	powered_down("vm1");
	fake_store_mb = 0;
	beat();
	assert_int_equal(room(3, "capacity for 1 VM: datastore vsan has 0 MB "
			      "free, 1 VM needs 10000 MB for disks and swap "
			      "files"), 1);
	assert_int_equal(job_begin(2, "vm2", NULL), -1);
	assert_int_equal(job_begin(2, "vm1", NULL), 0);
}

/* ---- templates and hosts ------------------------------------------------ */

static void a_template_that_is_too_new_finds_no_host(void **state)
{
	(void)state;
	begin(1, 1, 4, "warm");
	fake_hw = 22;			/* the hosts can do 21 */
	ready();
	refused(7, 1, "node vm1: needs 1 sriov-roce VF, 0 free (esx1: too old "
		"for the VM's hardware version)");
}

static void a_host_on_its_way_out_takes_nothing(void **state)
{
	struct vs_vc_task task = {
		.moid = "task-1", .name = "HostSystem.powerDownToStandBy",
		.entity = "host-1", .entity_name = "esx1", .state = "running",
		.user = "dpm",
	};

	(void)state;
	begin(1, 1, 4, "warm");
	ready();
	fake_slow(&task, 1);
	refused(7, 1, "node vm1: needs 1 sriov-roce VF, 0 free (esx1: in or "
		"entering standby, or powered off)");
	task.name = "EnterMaintenanceMode";
	fake_slow(&task, 1);
	refused(7, 1, "node vm1: needs 1 sriov-roce VF, 0 free (esx1: in or "
		"entering maintenance)");
	task.name = "HostSystem.powerUpFromStandBy";
	vs_capacity_freed_clear();
	fake_slow(&task, 1);
	assert_true(vs_capacity_freed_pending());
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
}

static void a_host_of_many_networks_and_datastores_keeps_ours(void **state)
{
	const char *nets[300], *stores[300];
	struct vs_vc_host h = {
		.moid = "host-1", .has = VS_VC_HOST_NETS | VS_VC_HOST_STORES,
		.nets = nets, .nnets = 300, .stores = stores, .nstores = 300,
	};
	struct vs_host *host;

	(void)state;
	begin(1, 1, 4, "warm");
	ready();
	for (int i = 0; i < 300; i++) {
		nets[i] = "dvportgroup-other";
		stores[i] = "datastore-other";
	}
	nets[299] = "dvportgroup-1";
	stores[299] = "datastore-1";
	fake_host(&h);
	host = vs_host_get(core_inv(), "host-1");
	assert_int_equal(host->nnets, VS_HOST_NETS);
	assert_int_equal(host->nstores, VS_HOST_STORES);
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	stores[299] = "datastore-other";
	fake_host(&h);
	assert_false(vs_host_has_store(host, "datastore-1"));
	assert_true(vs_host_has_store(host, "datastore-other"));
}

/* ---- budgets ------------------------------------------------------------ */

static void a_job_waits_for_a_host_whose_budget_is_used_up(void **state)
{
	size_t surplus, nsurplus;
	struct vs_err err;
	int one;

	(void)state;
	begin(3, 1, 4, "warm");
	core_conf()->max_ops_per_host = 1;
	ready();
	/* a gang of more than the budget begins, its calls queue */
	assert_int_equal(job_begin(1, "vm1", "vm2"), 0);
	flags("vm1", WANTED);
	flags("vm2", WANTED);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
	one = id("vm3");
	assert_int_equal(vs_query_check(&vs_core, &one, 1, &surplus, &nsurplus,
					&err), -1);
	assert_string_equal(err.text, "needs 1 sriov-roce VF, 0 free (esx1: "
			    "the maximum of operations is running)");
	assert_int_equal(job_begin(2, "vm3", NULL), -1);
	vs_capacity_freed_clear();
	assert_true(fake_finish(FAKE_CLONE));
	assert_true(vs_capacity_freed_pending());
	assert_int_equal(job_begin(2, "vm3", NULL), 0);
}

static void a_job_that_has_begun_does_not_wait_for_a_budget_again(void **state)
{
	(void)state;
	begin(2, 1, 4, "warm");
	core_conf()->max_ops_per_host = 1;
	ready();
	assert_int_equal(job_begin(1, "vm1", "vm2"), 0);
	flags("vm1", WANTED);
	turn();
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
	vs_claim_release(&vs_core, vs_node_named(&vs_core, "vm2"));
	flags("vm2", WANTED);
	turns(2);
	assert_non_null(vs_ledger_get(core_ledger(), "vm2"));
}

/* ---- sizes ---------------------------------------------------------------- */

static void vms_of_different_sizes_share_the_vfs(void **state)
{
	struct vs_conf *conf = conf_make(4, "warm", 1024);

	(void)state;
	begin(4, 1, 3, "warm");
	conf->nodes[2].memory_mb = conf->nodes[3].memory_mb = 2048;
	vs_setup_apply(&vs_core, conf);
	vs_setup_macs(&vs_core);
	ready();
	assert_int_equal(room(2, "2 free"), 2);
	assert_int_equal(room(4, "3 free"), 3);
	assert_int_equal(job_begin(1, "vm4", NULL), 0);
	assert_int_equal(room(4, "3 free"), 3);
	assert_int_equal(job_begin(2, "vm1", NULL), 0);
	assert_int_equal(job_begin(3, "vm2", NULL), 0);
	assert_int_equal(room(4, "3 free"), 3);
}

static void a_claim_has_its_nodes_id_after_a_reconfigure(void **state)
{
	struct vs_conf *conf = conf_make(4, "warm", 1024);
	const struct vs_node *n;

	(void)state;
	begin(4, 1, 4, "warm");
	ready();
	assert_int_equal(job_begin(1, "vm3", "vm4"), 0);
	vs_str_replace(&conf->nodes[0].name, "vm9");
	vs_setup_apply(&vs_core, conf);
	n = vs_node_named(&vs_core, "vm4");
	assert_int_equal(n->id, 2);
	assert_int_equal(vs_ledger_get(core_ledger(), "vm4")->id, n->id);
	vs_setup_apply(&vs_core, conf_make(3, "warm", 1024));
	assert_null(vs_ledger_get(core_ledger(), "vm4"));
	n = vs_node_named(&vs_core, "vm3");
	assert_int_equal(vs_ledger_get(core_ledger(), "vm3")->id, n->id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gang_waits_for_the_pool_and_begins_when_room_comes),
		cmocka_unit_test(a_pool_is_told_by_the_name_it_was_given),
		cmocka_unit_test(promised_vms_count_until_a_beat_has_them),
		cmocka_unit_test(a_vm_that_goes_off_leaves_room_at_once),
		cmocka_unit_test(a_warm_vm_needs_no_room),
		cmocka_unit_test(what_was_not_read_refuses_nobody),
		cmocka_unit_test(a_gang_waits_for_the_datastore_and_begins_when_room_comes),
		cmocka_unit_test(clones_count_until_a_beat_has_them),
		cmocka_unit_test(vms_that_exist_need_vfs_all_the_same),
		cmocka_unit_test(a_vm_that_exists_starts_beside_a_full_datastore),
		cmocka_unit_test(disks_of_a_vm_that_goes_off_at_once_still_count),
		cmocka_unit_test(a_template_that_is_too_new_finds_no_host),
		cmocka_unit_test(a_host_on_its_way_out_takes_nothing),
		cmocka_unit_test(a_host_of_many_networks_and_datastores_keeps_ours),
		cmocka_unit_test(a_job_waits_for_a_host_whose_budget_is_used_up),
		cmocka_unit_test(a_job_that_has_begun_does_not_wait_for_a_budget_again),
		cmocka_unit_test(vms_of_different_sizes_share_the_vfs),
		cmocka_unit_test(a_claim_has_its_nodes_id_after_a_reconfigure),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
