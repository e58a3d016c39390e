/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prefetch: which planned nodes get what ahead of their jobs, where it lies,
 * and what jobs that wait now keep.
 */
#include "engine/prefetch/prefetch_i.h"
#include "prefetch_stage.h"

#define HOUR 3600

/* A job is refused for want of so many VFs of the likes of this node. */
static void refused_now(uint32_t job, const char *node, size_t need)
{
	int wants = id(node);

	refuse(job, &wants, 1, need, "no VF");
}

/* All VFs are with strangers: nothing can be powered on. */
static void no_vf_is_free(int hosts, int vfs)
{
	char name[32], host[32];

	for (int h = 1; h <= hosts; h++)
		for (int i = 0; i < vfs; i++) {
			struct fake_vm *vm;

			snprintf(name, sizeof(name), "x%d-%d", h, i);
			snprintf(host, sizeof(host), "host-%d", h);
			vm = fake_add_vm(name, "group-other", host, true);
			vm->has_nic = true;
			vs_strlcpy(vm->pci, "0000:3b:00.0", sizeof(vm->pci));
			fake_show(vm);
		}
}

/* ---- what is made ----------------------------------------------------------- */

static void nothing_is_made_unless_prefetch_says_so(void **state)
{
	(void)state;
	stage(2, 1, 2, "warm", 0);
	planned(7, "vm1", 10);
	plan_is_read();
	assert_null(heard(VS_REQUEST_POWER_UP, NULL));
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	assert_int_equal(vs_plans.nahead, 0);
}

static void nothing_is_made_while_vcenter_is_only_observed(void **state)
{
	(void)state;
	stage(2, 1, 2, "warm", 4);
	core_set_observe(true);
	planned(7, "vm1", 10);
	plan_is_read();
	core_set_observe(false);
	assert_null(heard(VS_REQUEST_POWER_UP, NULL));
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
}

static void planned_nodes_are_powered_up_where_vfs_are_to_spare(void **state)
{
	(void)state;
	stage(4, 1, 4, "warm", 4);
	planned(7, "vm2", 60);
	planned(7, "vm3", 60);
	plan_is_read();
	assert_non_null(heard(VS_REQUEST_POWER_UP, "vm2"));
	assert_non_null(heard(VS_REQUEST_POWER_UP, "vm3"));
	assert_null(heard(VS_REQUEST_POWER_UP, "vm1"));
	assert_null(heard(VS_REQUEST_POWER_UP, "vm4"));
	assert_int_equal(fake_sent[FAKE_CLONE], 0);	/* not before Slurm */
	powers_up("vm2");
	turns(2);
	assert_int_equal(job_begin(7, "vm2", NULL), 0);
	assert_int_equal(vs_plans.used, 1);
	assert_int_equal(vs_plans.nahead, 1);
	assert_int_equal(fake_sent[FAKE_CLONE] + fake_sent[FAKE_POWER_ON], 2);
}

static void a_vm_that_is_off_is_powered_up_too(void **state)
{
	(void)state;
	stage(2, 1, 2, "warm", 4);
	bring_up(1, "vm1");
	end_job(1, "vm1");
	powered_down("vm1");
	planned(7, "vm1", 60);
	plan_is_read();
	assert_non_null(heard(VS_REQUEST_POWER_UP, "vm1"));
}

static void suspends(const char *node, int64_t after_ms)
{
	core_nodes()[id(node)].ahead.suspend_ms = after_ms;
}

static void what_is_planned_for_later_waits(void **state)
{
	(void)state;
	stage(2, 1, 2, "warm", 4);
	suspends("vm1", 100 * 1000);
	planned(7, "vm1", HOUR);
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 0);
	/* Slurm would power it down again: its VM is built, and stays off. */
	plan[0].in_s = 101;
	plan_is_read();
	assert_null(heard(VS_REQUEST_POWER_UP, NULL));
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	plan[0].in_s = 99;
	plan_is_read();
	assert_non_null(heard(VS_REQUEST_POWER_UP, "vm1"));
}

/* Partitions may have a SuspendTime of their own. */
static void the_suspend_time_is_each_nodes_own(void **state)
{
	(void)state;
	stage(3, 1, 3, "warm", 4);
	suspends("vm1", 1);	/* SuspendTime=0 */
	suspends("vm2", 0);	/* SuspendTime=INFINITE */
	suspends("vm3", 500 * 1000);
	planned(7, "vm1", 400);
	planned(8, "vm2", 400);
	planned(9, "vm3", 400);
	plan_is_read();
	assert_null(heard(VS_REQUEST_POWER_UP, "vm1"));
	assert_non_null(heard(VS_REQUEST_POWER_UP, "vm2"));
	assert_non_null(heard(VS_REQUEST_POWER_UP, "vm3"));
}

static void never_more_than_prefetch_at_a_time(void **state)
{
	(void)state;
	stage(8, 1, 8, "warm", 3);
	for (int i = 1; i <= 8; i++) {
		char name[8];

		snprintf(name, sizeof(name), "vm%d", i);
		planned(7, name, 60);
	}
	for (int i = 0; i < 5; i++)
		plan_is_read();
	assert_int_equal(vs_plans.nahead, 3);
	assert_int_equal(vs_plans.made, 3);
	/* The soonest first. */
	stage(3, 1, 3, "warm", 1);
	planned(7, "vm1", 60);
	planned(8, "vm3", 30);
	plan_is_read();
	assert_non_null(heard(VS_REQUEST_POWER_UP, "vm3"));
	assert_null(heard(VS_REQUEST_POWER_UP, "vm1"));
}

static void half_of_the_budget_stays_with_jobs(void **state)
{
	(void)state;
	stage(8, 2, 8, "warm", 8);
	core_conf()->max_provision_ops = 4;
	for (int i = 1; i <= 8; i++) {
		char name[8];

		snprintf(name, sizeof(name), "vm%d", i);
		planned(7, name, 60);
	}
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 2);
	flags("vm1", UP);	/* one is ready: the next one's turn */
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 3);
}

static void vms_that_bear_their_jobs_name_are_not_made_ahead(void **state)
{
	(void)state;
	stage(2, 1, 2, "destroy", 4);
	planned(7, "vm1", 10);
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 0);
}

static void nodes_out_of_service_are_left_alone(void **state)
{
	(void)state;
	stage(3, 1, 3, "warm", 4);
	flags("vm1", DOWN | VS_NODE_DRAIN);
	flags("vm2", DOWN | VS_NODE_DOWN);
	flags("vm3", GOING);
	planned(7, "vm1", 10);
	planned(7, "vm2", 10);
	planned(7, "vm3", 10);
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 0);
}

/* ---- where VFs are short ------------------------------------------------------- */

static void a_vm_is_cloned_alone_where_a_vf_comes_free_later(void **state)
{
	(void)state;
	one_vf_that_comes_free();
	plan_is_read();
	assert_null(heard(VS_REQUEST_POWER_UP, NULL));
	assert_int_equal(fake_sent[FAKE_CLONE], 2);
	assert_null(vs_ledger_get(core_ledger(), "vm2"));
	assert_true(fake_finish(FAKE_CLONE));
	turns(3);
	assert_false(fake_get("vm2")->on);
	assert_null(vs_ledger_get(core_ledger(), "vm2"));
	assert_int_equal(free_on("host-1"), 0);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
	/* The VF is there: one call is left. */
	end_job(1, "vm1");
	powered_down("vm1");
	assert_int_equal(job_begin(2, "vm2", NULL), 0);
	flags("vm2", BOOT);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	assert_int_equal(fake_sent[FAKE_CLONE], 2);
	assert_int_equal(fake_sent[FAKE_RELOCATE] + fake_sent[FAKE_RECONFIGURE],
			 0);
	assert_int_equal(vs_plans.used, 1);
}

static void no_vm_is_cloned_where_no_vf_will_come_free(void **state)
{
	(void)state;
	stage(2, 1, 1, "power_off", 4);
	no_vf_is_free(1, 1);
	planned(2, "vm2", 100);
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 0);
	/* Nor where it comes free too late. */
	stage(2, 1, 1, "power_off", 4);
	bring_up(1, "vm1");
	planned(2, "vm2", 100);
	ends(1, "vm1", 400);
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 0);
}

static void no_vm_is_cloned_beside_one_that_stays_warm(void **state)
{
	(void)state;
	stage(2, 1, 1, "warm", 4);
	bring_up(1, "vm1");
	planned(2, "vm2", 100);
	ends(1, "vm1", 90);
	plan_is_read();
	assert_int_equal(vs_plans.nahead, 0);
}

static void the_clone_lies_where_the_vf_comes_free(void **state)
{
	const char *host;

	(void)state;
	stage(3, 2, 1, "power_off", 4);
	bring_up(1, "vm1");
	bring_up(3, "vm3");
	host = fake_get("vm3")->host;
	assert_string_not_equal(host, fake_get("vm1")->host);
	planned(2, "vm2", 100);
	ends(3, "vm3", 90);
	plan_is_read();
	assert_true(fake_finish(FAKE_CLONE));
	assert_string_equal(fake_get("vm2")->host, host);
	sums_are_true();
}

static void as_many_clones_as_vfs_that_come_free(void **state)
{
	(void)state;
	stage(4, 2, 1, "power_off", 4);
	bring_up(1, "vm1");
	bring_up(1, "vm2");
	planned(2, "vm3", 100);
	planned(2, "vm4", 100);
	ends(1, "vm1", 90);
	ends(1, "vm2", 90);
	plan_is_read();
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	plan_is_read();
	assert_true(fake_finish(FAKE_CLONE));
	assert_string_not_equal(fake_get("vm3")->host, fake_get("vm4")->host);
}

static void no_vf_is_taken_that_a_waiting_job_wants(void **state)
{
	(void)state;
	stage(4, 1, 2, "warm", 4);
	planned(7, "vm1", 60);
	refused_now(9, "vm4", 3);
	plan_is_read();
	assert_null(heard(VS_REQUEST_POWER_UP, NULL));
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_true(fake_finish(FAKE_CLONE));
	/* It waits no longer: the VF is to spare. */
	goes_by(20);
	assert_non_null(heard(VS_REQUEST_POWER_UP, "vm1"));
}

static void a_job_takes_its_vm_while_that_is_cloned(void **state)
{
	const char *host;

	(void)state;
	one_vf_that_comes_free();
	plan_is_read();
	end_job(1, "vm1");
	powered_down("vm1");
	assert_int_equal(job_begin(2, "vm2", NULL), 0);
	host = vs_ledger_get(core_ledger(), "vm2")->host;
	flags("vm2", BOOT);
	turns(2);
	assert_int_equal(fake_cancels, 0);
	assert_true(fake_finish(FAKE_CLONE));
	assert_string_equal(fake_get("vm2")->host, host);
	turns(3);
	assert_true(fake_finish(FAKE_POWER_ON));
	assert_int_equal(fake_sent[FAKE_CLONE], 2);
}

static void a_clone_that_fails_is_nobodys_fault(void **state)
{
	(void)state;
	one_vf_that_comes_free();
	for (int i = 0; i < 4; i++) {
		plan_is_read();
		fake_fail(FAKE_CLONE, VS_E_RETRY, "try again");
		goes_by(20);
	}
	assert_int_equal(fake_sent[FAKE_CLONE], 1 + 2);
	assert_int_equal(vs_plans.nahead, 0);
	assert_null(heard(VS_REQUEST_FAIL, "vm2"));
	assert_null(heard(VS_REQUEST_RELEASE, "vm2"));
}

/* ---- VFs that are on their way ------------------------------------------------------ */

/* Its VM is there, off. */
static void was_used(const char *node)
{
	bring_up(1, node);
	end_job(1, node);
	powered_down(node);
}

static void stays_warm(const char *node)
{
	bring_up(1, node);
	end_job(1, node);
}

/* vm1 has the only VF and is idle, vm2 is off and planned for job 7. */
static void vf_of_an_idle_vm(void)
{
	stage(3, 1, 1, "warm", 4);
	was_used("vm2");
	stays_warm("vm1");
	planned(7, "vm2", 60);
}

static void a_node_is_powered_up_while_its_jobs_vf_is_on_its_way(void **state)
{
	int sent;

	(void)state;
	vf_of_an_idle_vm();
	plan_is_read();
	assert_null(heard(VS_REQUEST_POWER_UP, NULL));
	refused_now(7, "vm2", 1);
	turn();				/* not with the plan's next reading */
	assert_non_null(heard(VS_REQUEST_POWER_UP, "vm2"));
	flags("vm2", VS_NODE_POWERING_UP);
	turns(5);
	assert_null(vs_ledger_get(core_ledger(), "vm2"));
	sent = fake_sent[FAKE_POWER_ON];
	flags("vm1", GOING);
	turn();
	assert_int_equal(fake_sent[FAKE_POWER_ON], sent);
	assert_true(fake_finish(FAKE_POWER_OFF));
	turn();
	assert_int_equal(fake_sent[FAKE_POWER_ON], sent + 1);
	assert_int_equal(job_begin(7, "vm2", NULL), 0);
	assert_int_equal(vs_plans.used, 1);
}

static void no_more_nodes_are_powered_up_than_vfs_are_on_their_way(void **state)
{
	(void)state;
	stage(3, 1, 1, "warm", 4);
	was_used("vm2");
	was_used("vm3");
	stays_warm("vm1");
	planned(7, "vm2", 60);
	planned(7, "vm3", 60);
	refused_now(7, "vm2", 1);
	plan_is_read();
	assert_non_null(heard(VS_REQUEST_POWER_UP, "vm2"));
	assert_null(heard(VS_REQUEST_POWER_UP, "vm3"));
}

static void what_is_on_its_way_to_another_job_is_not_waited_for(void **state)
{
	(void)state;
	vf_of_an_idle_vm();
	refused_now(8, "vm3", 1);
	plan_is_read();
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	assert_null(heard(VS_REQUEST_POWER_UP, NULL));
}

static void a_vf_that_came_goes_to_the_job_before(void **state)
{
	(void)state;
	vf_of_an_idle_vm();
	refused_now(7, "vm2", 1);
	plan_is_read();
	flags("vm2", VS_NODE_POWERING_UP);
	refused_now(6, "vm3", 1);	/* as urgent, and older */
	powered_down("vm1");
	turns(20);
	assert_null(vs_ledger_get(core_ledger(), "vm2"));
	now += VS_PENDING_FRESH_MS;	/* it waits no longer */
	turns(2);
	assert_non_null(vs_ledger_get(core_ledger(), "vm2"));
}

/* vm3 and vm4, on a host each, wait for the VFs of vm1 and vm2. */
static const char *two_wait_for_vfs(void)
{
	const int wants[] = { 2, 3 };

	stage(4, 2, 1, "warm", 4);
	stays_warm("vm3");
	was_used("vm4");
	assert_string_not_equal(fake_get("vm3")->host, fake_get("vm4")->host);
	powered_down("vm3");
	stays_warm("vm1");
	stays_warm("vm2");
	planned(7, "vm3", 60);
	planned(7, "vm4", 60);
	refuse(7, wants, 2, 2, "no VF");
	plan_is_read();
	flags("vm3", VS_NODE_POWERING_UP);
	return strcmp(fake_get("vm1")->host, fake_get("vm4")->host) ?
		"vm2" : "vm1";
}

static void each_vm_takes_the_vf_that_comes_free_where_it_lies(void **state)
{
	const char *first = two_wait_for_vfs();

	(void)state;
	flags("vm4", VS_NODE_POWERING_UP);
	turns(2);
	powered_down(first);
	assert_null(vs_ledger_get(core_ledger(), "vm3"));
	assert_non_null(vs_ledger_get(core_ledger(), "vm4"));
	powered_down(strcmp(first, "vm1") ? "vm1" : "vm2");
	assert_non_null(vs_ledger_get(core_ledger(), "vm3"));
	assert_int_equal(fake_sent[FAKE_RELOCATE], 0);
}

/* Slurm has been asked, and its word has not come yet. */
static void nor_is_it_taken_from_one_whose_power_up_is_not_seen_yet(void **state)
{
	(void)state;
	powered_down(two_wait_for_vfs());
	assert_null(vs_ledger_get(core_ledger(), "vm3"));
	flags("vm4", VS_NODE_POWERING_UP);
	turns(2);
	assert_non_null(vs_ledger_get(core_ledger(), "vm4"));
	assert_int_equal(fake_sent[FAKE_RELOCATE], 0);
}

#define T(f) cmocka_unit_test(f)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(nothing_is_made_unless_prefetch_says_so),
		T(nothing_is_made_while_vcenter_is_only_observed),
		T(planned_nodes_are_powered_up_where_vfs_are_to_spare),
		T(a_vm_that_is_off_is_powered_up_too),
		T(what_is_planned_for_later_waits),
		T(the_suspend_time_is_each_nodes_own),
		T(never_more_than_prefetch_at_a_time),
		T(half_of_the_budget_stays_with_jobs),
		T(vms_that_bear_their_jobs_name_are_not_made_ahead),
		T(nodes_out_of_service_are_left_alone),
		T(a_vm_is_cloned_alone_where_a_vf_comes_free_later),
		T(no_vm_is_cloned_where_no_vf_will_come_free),
		T(no_vm_is_cloned_beside_one_that_stays_warm),
		T(the_clone_lies_where_the_vf_comes_free),
		T(as_many_clones_as_vfs_that_come_free),
		T(no_vf_is_taken_that_a_waiting_job_wants),
		T(a_job_takes_its_vm_while_that_is_cloned),
		T(a_clone_that_fails_is_nobodys_fault),
		T(a_node_is_powered_up_while_its_jobs_vf_is_on_its_way),
		T(no_more_nodes_are_powered_up_than_vfs_are_on_their_way),
		T(what_is_on_its_way_to_another_job_is_not_waited_for),
		T(a_vf_that_came_goes_to_the_job_before),
		T(each_vm_takes_the_vf_that_comes_free_where_it_lies),
		T(nor_is_it_taken_from_one_whose_power_up_is_not_seen_yet),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
