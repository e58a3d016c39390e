/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When jobs that wait may begin, as the engine knows it: holds, ends of jobs,
 * VMs that give way, plans. One PF per host.
 */
#include "engine/forecast/forecast_i.h"
#include "engine_stage.h"
#include "util/time.h"

#define T0 1800000000		/* now, for Slurm */

static struct vs_requesting_job asker = { .job = 50, .rank = 5, .now = T0,
				 .lasts = 3600 };

static struct vs_slurm_job seen[8];

static void jobs_read(void *ctx, struct vs_slurm_job *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < VS_COUNT(seen); k++)
			if (seen[k].job == rows[i].job)
				rows[i] = seen[k];
}

static const struct vs_slurm_ops port = { .jobs_read = jobs_read };

/* The earliest time for VMs on these, in seconds from now. */
static int64_t in_s(const char *a, const char *b)
{
	int ids[2] = { id(a), b ? id(b) : 0 };

	return vs_start_time(&vs_core, &asker, ids, b ? 2 : 1, T0) - T0;
}

static size_t left;		/* what those before leave of them */

static size_t spare_of(const char *a, const char *b)
{
	int ids[2] = { id(a), id(b) };
	enum vs_avail avail[2] = { VS_AVAIL_TO_CREATE, VS_AVAIL_TO_CREATE };

	return vs_forecast_surplus(&vs_core, &asker, ids, 2, avail, &left);
}

static uint32_t passes;		/* of backfill, when a plan is made */

static void plan(uint32_t job, uint64_t rank, const char *node, int64_t in,
		 int64_t lasts)
{
	struct vs_requesting_job a = { .job = job, .rank = rank, .now = T0,
			      .lasts = lasts, .passes = passes };
	int one = id(node);

	vs_forecast_planned(&vs_core, &a, &one, 1, T0 + in);
}

/* Two VFs for four names; 7 has vm1, 8 has vm2. */
static void begin_full(void)
{
	begin(4, 2, 1, "warm");
	vs_forecast_clear();
	vs_forecast_renew(&vs_core);
	vs_forecast_down_set(10000);
	asker.in_order = false;
	ready();
	bring_up(7, "vm1");
	bring_up(8, "vm2");
	vs_forecast_job_end(&vs_core, 7, T0 + 100);
	vs_forecast_job_end(&vs_core, 8, T0 + 500);
}

static void a_vf_comes_with_a_jobs_end_and_its_vms(void **state)
{
	(void)state;
	begin_full();
	assert_int_equal(in_s("vm3", NULL), 110);
	assert_int_equal(in_s("vm3", "vm4"), 510);
	/* with the VM that is there itself: nothing is switched off */
	assert_int_equal(in_s("vm1", NULL), 0);
	/* vm1's VF is its own: for vm3 there is the other one */
	assert_int_equal(in_s("vm1", "vm3"), 510);
	vs_forecast_job_end(&vs_core, 7, T0 + 900);
	assert_int_equal(in_s("vm3", NULL), 510);
	assert_int_equal(in_s("vm3", "vm4"), 910);
}

static void an_idle_vm_gives_way_at_once(void **state)
{
	(void)state;
	begin_full();
	end_job(7, "vm1");
	assert_int_equal(in_s("vm3", NULL), 10);
	powered_down("vm1");
	assert_int_equal(in_s("vm3", NULL), 0);
	vs_forecast_down_set(10000);
	assert_int_equal(in_s("vm3", "vm4"), 510);
}

static void the_next_job_on_it_counts(void **state)
{
	(void)state;
	begin_full();
	end_job(7, "vm1");
	assert_int_equal(job_begin(9, "vm1", NULL), 0);
	vs_forecast_job_end(&vs_core, 9, T0 + 300);
	assert_int_equal(in_s("vm3", NULL), 310);
}

static void the_job_that_stays_longest_keeps_a_shared_vm(void **state)
{
	(void)state;
	begin_full();
	assert_int_equal(job_begin(9, "vm1", NULL), 0);
	vs_forecast_job_end(&vs_core, 9, T0 + 50);
	assert_int_equal(in_s("vm3", NULL), 110);
	vs_forecast_job_end(&vs_core, 9, T0 + 700);
	turns(60);
	assert_int_equal(in_s("vm3", NULL), 510);
	vs_forecast_job_end(&vs_core, 9, T0 + 200);
	assert_int_equal(in_s("vm3", NULL), 210);
	/* Slurm has both; the one that isn't the longest there isn't lost */
	core_set_port(&port);
	seen[0] = (struct vs_slurm_job) { .job = 7,
					  .is = VS_JOB_RUNNING,
					  .end = T0 + 100 };
	seen[1] = (struct vs_slurm_job) { .job = 8,
					  .is = VS_JOB_RUNNING,
					  .end = T0 + 500 };
	seen[2] = (struct vs_slurm_job) { .job = 9,
					  .is = VS_JOB_RUNNING,
					  .end = T0 + 50 };
	vs_forecast_read_slurm(&vs_core);
	core_set_port(NULL);
	assert_int_equal(in_s("vm3", NULL), 110);
}

static void what_strangers_hold_is_not_in_sight(void **state)
{
	struct fake_vm *vm;

	(void)state;
	begin(3, 2, 1, "warm");
	vs_forecast_clear();
	vs_forecast_renew(&vs_core);
	ready();
	vm = fake_add_vm("theirs", "group-other", "host-2", true);
	vm->has_nic = true;
	vs_strlcpy(vm->pci, "0000:3b:00.0", sizeof(vm->pci));
	fake_show(vm);
	bring_up(7, "vm1");
	vs_forecast_job_end(&vs_core, 7, T0 + 100);
	assert_true(in_s("vm2", NULL) > 0 && in_s("vm2", NULL) < 200);
	assert_int_equal(in_s("vm2", "vm3"), VS_START_UNKNOWN);
}

/* ---- whose end is unknown --------------------------------------------------- */

/* Two VFs are free on the first host: vm1 is idle and off with its VM. */
static void begin_half(void)
{
	begin(4, 2, 2, "warm");
	vs_forecast_clear();
	vs_forecast_renew(&vs_core);
	asker.in_order = false;
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	powered_down("vm1");
	assert_int_equal(in_s("vm1", "vm2"), 0);
}

static void answers(const char *name, bool yes)
{
	struct fake_vm *vm = fake_get(name);

	fake_tell(vm, &(struct vs_vc_vm){
		.moid = vm->moid, .has = VS_VC_VM_CONN | VS_VC_VM_POWER,
		.connected = yes, .power = !yes ? "unknown" :
		vm->on ? "poweredOn" : "poweredOff" });
	turn();
}

static void of_a_vm_out_of_reach_nobody_knows_when(void **state)
{
	(void)state;
	begin_half();
	answers("vm1", false);
	assert_int_equal(in_s("vm1", NULL), VS_START_UNKNOWN);
	assert_int_equal(in_s("vm1", "vm2"), VS_START_UNKNOWN);
	/* smaller ones do without it */
	assert_int_equal(in_s("vm2", "vm3"), 0);
	answers("vm1", true);
	assert_int_equal(in_s("vm1", "vm2"), 0);
}

/* A running one holds its VF, and its end is known; the VM's is not. */
static void the_end_of_its_job_says_nothing_of_a_vm_out_of_reach(void **state)
{
	(void)state;
	begin_half();
	bring_up(8, "vm2");
	vs_forecast_job_end(&vs_core, 8, T0 + 100);
	assert_true(in_s("vm2", NULL) < 200);
	answers("vm2", false);
	assert_int_equal(in_s("vm2", NULL), VS_START_UNKNOWN);
}

static void of_a_foreign_vm_in_its_place_nobody_knows_when(void **state)
{
	struct fake_vm *vm;

	(void)state;
	begin_half();
	vm = fake_add_vm("vm2", "group-v1", "host-1", false);
	fake_show(vm);
	turn();
	assert_int_equal(in_s("vm2", NULL), VS_START_UNKNOWN);
	assert_int_equal(in_s("vm1", "vm2"), VS_START_UNKNOWN);
	assert_int_equal(in_s("vm1", "vm3"), 0);
	fake_remove(vm);
	turn();
	assert_int_equal(in_s("vm1", "vm2"), 0);
}

static void what_ends_by_itself_is_believed_for_five_minutes(void **state)
{
	struct vs_node *n;

	(void)state;
	begin_half();
	n = vs_node_named(&vs_core, "vm2");
	node_set_ending_ms(n, now + 3600000);
	vs_node_mark_changed(n);
	assert_int_equal(in_s("vm1", "vm2"), 60);
	now += 299000;
	vs_node_mark_changed(n);
	assert_int_equal(in_s("vm1", "vm2"), 60);
	now += 2000;
	assert_int_equal(in_s("vm1", "vm2"), VS_START_UNKNOWN);
	node_set_ending_ms(n, 0);
	vs_node_mark_changed(n);
	assert_int_equal(in_s("vm1", "vm2"), 0);
	/* and again for the next cause */
	node_set_ending_ms(n, now + 3600000);
	vs_node_mark_changed(n);
	assert_int_equal(in_s("vm1", "vm2"), 60);
}

static void a_vm_that_is_there_needs_no_template(void **state)
{
	(void)state;
	begin_half();
	fake_template(NULL, "/DC0/vm/rhel9: there is no such template");
	turn();
	assert_int_equal(in_s("vm1", NULL), 0);
	assert_int_equal(in_s("vm1", "vm2"), VS_START_UNKNOWN);
}

static void while_nothing_may_be_done_nobody_knows_when(void **state)
{
	(void)state;
	begin_half();
	core_set_blocked("stop");
	assert_int_equal(in_s("vm1", NULL), VS_START_UNKNOWN);
	core_set_blocked("");
	vs_vc_state_set(&vs_core, "away");
	vs_vc_since_set(vs_wall_ms() - 290000);
	assert_int_equal(in_s("vm1", NULL), 60);
	vs_vc_since_set(vs_wall_ms() - 301000);
	assert_int_equal(in_s("vm1", NULL), VS_START_UNKNOWN);
}

static void how_long_a_vm_takes_to_go_is_learnt(void **state)
{
	(void)state;
	begin_full();
	vs_forecast_down_set(0);
	core_conf()->shutdown_grace_s = 10;
	end_job(7, "vm1");
	assert_int_equal(in_s("vm3", NULL), 15);
	core_conf()->shutdown_grace_s = 1000;
	assert_int_equal(in_s("vm3", NULL), 60);
	flags("vm1", GOING);
	turns(41);
	assert_true(fake_finish(FAKE_POWER_OFF));
	flags("vm1", DOWN);
	turns(2);
	assert_true(vs_forecast_down_ms() > 3900 &&
		    vs_forecast_down_ms() < 4500);
	end_job(8, "vm2");
	assert_int_equal(in_s("vm3", "vm4"), 5);
}

/* ---- who goes before whom -------------------------------------------------------------- */

static void a_plan_keeps_lower_jobs_from_its_vfs(void **state)
{
	(void)state;
	begin_full();
	end_job(7, "vm1");
	assert_int_equal(spare_of("vm3", "vm4"), 2);
	plan(9, 8, "vm3", 400, 1000);
	assert_int_equal(spare_of("vm3", "vm4"), 0);
	assert_int_equal(in_s("vm3", NULL), 500);	/* with job 8's end */
	asker.lasts = 300;
	assert_int_equal(spare_of("vm3", "vm4"), 2);
	assert_int_equal(in_s("vm3", NULL), 10);
	asker.lasts = 3600;
	asker.rank = 9;
	assert_int_equal(spare_of("vm3", "vm4"), 2);
	asker.rank = 5;
	vs_forecast_settled(9);
	assert_int_equal(spare_of("vm3", "vm4"), 2);
}

static void what_is_left_is_counted_where_nothing_can_be_served(void **state)
{
	int ids[2];
	enum vs_avail avail[2] = { VS_AVAIL_NONE, VS_AVAIL_NONE };

	(void)state;
	begin_full();
	ids[0] = id("vm3");
	ids[1] = id("vm4");
	plan(9, 8, "vm3", 400, 1000);
	/* vm1's VF, idle by then, is 9's */
	assert_int_equal(vs_forecast_surplus(&vs_core, &asker, ids, 2, avail,
					     &left), 0);
	assert_int_equal(left, 0);
	asker.lasts = 300;
	assert_int_equal(vs_forecast_surplus(&vs_core, &asker, ids, 2, avail,
					     &left), 0);
	assert_int_equal(left, 2);
	asker.lasts = 3600;
}

static bool others_give(const char *first, size_t n, int64_t by)
{
	int ids[4];

	for (size_t i = 0; i < n; i++)
		ids[i] = id(first) + (int)i;
	return vs_forecast_others_release(&vs_core, &asker, ids, n, T0 + by);
}

static void others_give_what_nobody_was_promised(void **state)
{
	struct vs_node *vm4;

	(void)state;
	begin_full();
	vm4 = vs_node_named(&vs_core, "vm4");
	/* whose VFs come free can be had themselves */
	assert_false(others_give("vm1", 4, 10000));
	/* vm1 can't, and its job ends in 100 s */
	assert_false(others_give("vm2", 3, 99));
	assert_true(others_give("vm2", 3, 100));
	plan(9, 8, "vm1", 300, 1000);
	assert_false(others_give("vm2", 3, 100));
	assert_true(others_give("vm3", 2, 500));	/* and vm2 too */
	asker.rank = 9;
	assert_true(others_give("vm2", 3, 100));
	asker.rank = 5;
	/* what is not about room may change at any time */
	node_set_missing(vm4, VS_MISSING_OBSERVED);
	vs_node_mark_changed(vm4);
	assert_true(others_give("vm1", 4, 10));
	node_set_missing(vm4, VS_MISSING_NOT);
	vs_node_mark_changed(vm4);
	assert_false(others_give("vm1", 4, 10));
	/* one after the other they have the same one */
	plan(10, 8, "vm1", 1300, 1000);
	assert_true(others_give("vm3", 2, 500));
	plan(10, 8, "vm1", 1299, 1000);
	assert_false(others_give("vm3", 2, 500));
	vs_forecast_settled(10);
	vs_forecast_settled(9);
	end_job(7, "vm1");
	powered_down("vm1");
	assert_true(others_give("vm1", 4, 10));		/* there is room */
}

static void with_enough_vfs_slurms_own_plans_will_do(void **state)
{
	(void)state;
	begin_full();
	end_job(7, "vm1");
	core_conf()->allow_more_nodes_than_vfs = false;
	plan(9, 8, "vm3", 400, 1000);
	assert_int_equal(spare_of("vm3", "vm4"), 2);
	assert_int_equal(in_s("vm3", NULL), 10);
}

static void a_reservation_keeps_what_its_nodes_will_need(void **state)
{
	struct vs_reservation r = { T0 + 300, T0 + 2000,
				    (int[]){ 2, 3 }, 2 };

	(void)state;
	begin_full();
	end_job(7, "vm1");
	end_job(8, "vm2");
	vs_forecast_reserved(&vs_core, &r, 1);
	assert_int_equal(spare_of("vm1", "vm2"), 0);
	asker.reserved = true;
	assert_int_equal(spare_of("vm1", "vm2"), 2);
	asker.reserved = false;
	r.n = 1;
	vs_forecast_reserved(&vs_core, &r, 1);
	assert_int_equal(spare_of("vm1", "vm2"), 1);
	assert_int_equal(job_begin(9, "vm3", NULL), -1);	/* no VF */
	vs_forecast_reserved(&vs_core, NULL, 0);
	assert_int_equal(spare_of("vm1", "vm2"), 2);
}

static void nobody_passes_one_that_was_refused_where_order_counts(void **state)
{
	struct vs_requesting_job high = { .job = 40, .rank = 9, .now = T0 };
	int wants;

	(void)state;
	begin_full();
	wants = id("vm3");
	vs_job_set_pending(&vs_core, &high, &wants, 1, 1, "needs 1 node");
	assert_int_equal(spare_of("vm3", "vm4"), 2);
	asker.in_order = true;
	assert_int_equal(spare_of("vm3", "vm4"), 0);
	asker.rank = 10;
	assert_int_equal(spare_of("vm3", "vm4"), 2);
	asker.rank = 5;
	now += 80000;			/* job 40 wasn't tested since */
	assert_int_equal(spare_of("vm3", "vm4"), 2);
	now -= 80000;
	end_job(7, "vm1");
	assert_int_equal(job_begin(40, "vm1", NULL), 0);
	assert_int_equal(spare_of("vm3", "vm4"), 2);
	asker.in_order = false;
}

/* vm1 and vm2 of one adapter, vm3 and vm4 of another; job 40 is refused vm1. */
static void begin_kinds(const char *type, const char *pf)
{
	static const struct vs_vc_pf pfs[] = {
		{ .pci = "0000:3b:00.0", .pnic = "vmnic4", .switch_uuid = "sw",
		  .vfs = 2, .numa = 0, .numa_cores = 32,
		  .numa_mb = 256 * 1024, .link_up = true },
		{ .pci = "0000:5e:00.0", .pnic = "vmnic5", .switch_uuid = "sw",
		  .vfs = 2, .numa = 1, .numa_cores = 32,
		  .numa_mb = 256 * 1024, .link_up = true },
	};
	const struct vs_vc_host h = { .moid = "host-1", .pfs = pfs, .npfs = 2,
				      .has = VS_VC_HOST_PFS };
	struct vs_requesting_job high = { .job = 40, .rank = 9, .now = T0 };
	struct vs_conf *conf = conf_make(4, "warm", 1024);
	int wants = 0;

	conf->adapters[0].pf = vs_strdup(pfs[0].pci);
	conf_other_from(conf, 2, type)->pf = vs_strdup(pf);
	begin(4, 1, 2, "warm");
	begin_as(conf);
	vs_forecast_clear();
	vs_forecast_renew(&vs_core);
	ready();
	fake_host(&h);
	turn();
	vs_job_set_pending(&vs_core, &high, &wants, 1, 1, "needs 1 node");
}

static void one_that_was_refused_holds_up_those_alone_who_want_its_vfs(
	void **state)
{
	static const struct { const char *type, *pf; size_t spare; } rows[] = {
		{ "vmxnet3", NULL, 2 }, { "sriov", "0000:5e:00.0", 2 },
		{ "sriov", "0000:3b:00.0", 0 }, { "sriov", NULL, 0 },
	};

	(void)state;
	asker.in_order = true;
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		begin_kinds(rows[i].type, rows[i].pf);
		assert_int_equal(spare_of("vm1", "vm2"), 0);
		assert_int_equal(spare_of("vm3", "vm4"), rows[i].spare);
	}
	asker.in_order = false;
}

/* ---- Slurm's word ------------------------------------------------------------------------ */

static void ends_and_plans_follow_what_slurm_says(void **state)
{
		const struct vs_plan *p;

	(void)state;
	begin_full();
	core_set_port(&port);
	plan(9, 8, "vm3", 400, 1000);
	seen[0] = (struct vs_slurm_job) { .job = 7,
					  .is = VS_JOB_RUNNING,
					  .end = T0 + 700 };
	seen[1] = (struct vs_slurm_job) { .job = 8,
					  .is = VS_JOB_RUNNING,
					  .end = T0 + 800 };
	seen[2] = (struct vs_slurm_job) { .job = 9,
					  .is = VS_JOB_PENDING,
					  .start = T0 + 450 };
	vs_forecast_read_slurm(&vs_core);
	asker.rank = 9;
	assert_int_equal(in_s("vm3", NULL), 710);
	p = vs_timeline_job_plan(&vs_forecast.timeline, 9);
	assert_non_null(p);
	assert_true(p->start == T0 + 450 && p->end == T0 + 1450);
	/* backfill plans it no more */
	seen[2].start = 0;
	now += 80000;
	vs_forecast_read_slurm(&vs_core);
	assert_non_null(vs_timeline_job_plan(&vs_forecast.timeline, 9));
	now += 20000;
	vs_forecast_read_slurm(&vs_core);
	assert_null(vs_timeline_job_plan(&vs_forecast.timeline, 9));
	/* a whole pass of backfill has ended without it */
	plan(9, 8, "vm3", 400, 1000);
	seen[2].passes = 1;
	vs_forecast_read_slurm(&vs_core);
	assert_non_null(vs_timeline_job_plan(&vs_forecast.timeline, 9));
	seen[2].passes = 2;
	vs_forecast_read_slurm(&vs_core);
	assert_null(vs_timeline_job_plan(&vs_forecast.timeline, 9));
	/* sdiag --reset: they are counted from 0 again */
	passes = 70;
	plan(9, 8, "vm3", 400, 1000);
	passes = 0;
	for (seen[2].passes = 0; seen[2].passes < 2; seen[2].passes++) {
		vs_forecast_read_slurm(&vs_core);
		assert_non_null(
			vs_timeline_job_plan(&vs_forecast.timeline, 9));
	}
	vs_forecast_read_slurm(&vs_core);
	assert_null(vs_timeline_job_plan(&vs_forecast.timeline, 9));
	/* cancelled */
	plan(9, 8, "vm3", 400, 1000);
	seen[2].is = VS_JOB_GONE;
	vs_forecast_read_slurm(&vs_core);
	assert_null(vs_timeline_job_plan(&vs_forecast.timeline, 9));
	asker.rank = 5;
	core_set_port(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vf_comes_with_a_jobs_end_and_its_vms),
		cmocka_unit_test(an_idle_vm_gives_way_at_once),
		cmocka_unit_test(the_next_job_on_it_counts),
		cmocka_unit_test(the_job_that_stays_longest_keeps_a_shared_vm),
		cmocka_unit_test(what_strangers_hold_is_not_in_sight),
		cmocka_unit_test(of_a_vm_out_of_reach_nobody_knows_when),
		cmocka_unit_test(the_end_of_its_job_says_nothing_of_a_vm_out_of_reach),
		cmocka_unit_test(of_a_foreign_vm_in_its_place_nobody_knows_when),
		cmocka_unit_test(what_ends_by_itself_is_believed_for_five_minutes),
		cmocka_unit_test(a_vm_that_is_there_needs_no_template),
		cmocka_unit_test(while_nothing_may_be_done_nobody_knows_when),
		cmocka_unit_test(how_long_a_vm_takes_to_go_is_learnt),
		cmocka_unit_test(a_plan_keeps_lower_jobs_from_its_vfs),
		cmocka_unit_test(what_is_left_is_counted_where_nothing_can_be_served),
		cmocka_unit_test(others_give_what_nobody_was_promised),
		cmocka_unit_test(with_enough_vfs_slurms_own_plans_will_do),
		cmocka_unit_test(a_reservation_keeps_what_its_nodes_will_need),
		cmocka_unit_test(nobody_passes_one_that_was_refused_where_order_counts),
		cmocka_unit_test(one_that_was_refused_holds_up_those_alone_who_want_its_vfs),
		cmocka_unit_test(ends_and_plans_follow_what_slurm_says),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
