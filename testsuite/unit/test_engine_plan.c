/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What svf plan is told is what the engine does, step by step; asking changes
 * nothing. And how long things take here.
 */
#include "engine_stage.h"
#include "util/json.h"

#define USER 1001

/* Of vm2's partition. */
static int slow_s;
static bool queued;

static void nodes_jobs(void *ctx, struct vs_slurm_node_job *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		bool second = !strcmp(rows[i].node, "vm2");

		rows[i].resume_timeout_s = second ? slow_s : slow_s / 2;
		rows[i].queued = second && queued;
	}
}

static const struct vs_slurm_ops port = { .viewer = viewer,
					  .nodes_jobs = nodes_jobs };

static int stage(void **state)
{
	(void)state;
	begin(4, 2, 2, "warm");
	core_set_port(&port);
	all_nodes = true;
	slow_s = 0;
	queued = false;
	vs_paces_clear();
	ready();
	return 0;
}

/* The report, to be freed. */
static struct vs_jdoc asked(const char *nodes)
{
	struct vs_err err = { 0 };
	struct json_object *o = vs_core_plan(nodes, USER, &err);
	VS_FREE char *text = NULL;
	struct vs_jdoc doc;

	if (!o)
		fail_msg("%s", err.text);
	text = vs_jb_text_free(o);
	assert_int_equal(vs_jdoc_parse(&doc, text, strlen(text), &err), 0);
	return doc;
}

static struct vs_j row(struct vs_jdoc *doc, size_t i)
{
	return vs_j_at(vs_j_get(vs_j_root(doc), "nodes"), i);
}

static int64_t number(struct vs_jdoc *doc, const char *key)
{
	return vs_j_int_or(vs_j_opt(vs_j_root(doc), key), -1);
}

static void expect(const char *nodes, size_t i, const char *done, int calls)
{
	struct vs_jdoc doc = asked(nodes);

	assert_string_equal(vs_j_str(vs_j_get(row(&doc, i), "action")), done);
	assert_int_equal(vs_j_int(vs_j_get(row(&doc, i), "calls")), calls);
	vs_jdoc_free(&doc);
}

static int sent(void)
{
	int n = 0;

	for (int k = 0; k < FAKE_KINDS; k++)
		n += fake_sent[k];
	return n;
}

/* vm1 of job 7 goes its way until it is up. */
static void comes_up(void)
{
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	for (int i = 0; i < 40; i++) {
		turns(2);
		for (int k = 0; k < FAKE_KINDS; k++)
			fake_finish(k);
	}
	assert_true(fake_get("vm1") && fake_get("vm1")->on);
}

static void places_are_those_that_the_job_gets(void **state)
{
	struct vs_jdoc doc = asked("vm[1-3]");
	struct vs_err err = { 0 };
	int ids[] = { id("vm3"), id("vm1"), id("vm2") };

	(void)state;
	assert_true(vs_j_bool(vs_j_get(vs_j_root(&doc), "served")));
	assert_int_equal(number(&doc, "calls"), 6);
	/* in whatever order the nodes are named */
	assert_int_equal(vs_job_begin(&vs_core, 7, 0, ids, 3, &err), 0);
	for (size_t i = 0; i < 3; i++) {
		const char *name = vs_j_str(vs_j_get(row(&doc, i), "node"));
		const struct vs_claim *h = vs_ledger_get(core_ledger(), name);

		assert_non_null(h);
		assert_string_equal(vs_j_str(vs_j_get(row(&doc, i), "host")),
				    vs_host_get(core_inv(), h->host)->name);
		assert_string_equal(vs_j_str(vs_j_get(row(&doc, i), "pf")),
				    h->vfs[0].pf);
	}
	vs_jdoc_free(&doc);
}

static void an_observer_is_told_the_same(void **state)
{
	struct vs_jdoc real = asked("vm[1-3]"), doc;

	(void)state;
	core_set_observe(true);
	doc = asked("vm[1-3]");
	assert_int_equal(number(&doc, "calls"), 6);
	assert_string_equal(vs_j_str(vs_j_get(row(&doc, 2), "host")),
			    vs_j_str(vs_j_get(row(&real, 2), "host")));
	vs_jdoc_free(&doc);
	core_set_unserved("DRS chooses hosts automatically");
	doc = asked("vm[1-3]");
	assert_string_equal(vs_j_str(vs_j_get(vs_j_root(&doc), "reason")),
			    core_unserved());
	vs_jdoc_free(&doc);
	vs_jdoc_free(&real);
	core_set_observe(false);
	core_set_unserved("");
}

/* The placement runs on a copy: what is said of hosts is of that copy, too. */
static void an_observer_is_told_why_hosts_are_left_out(void **state)
{
	struct vs_host *h = vs_host_get(core_inv(), "host-2");
	const char *text;
	struct vs_jdoc doc;

	(void)state;
	core_set_observe(true);
	vs_exclude_set(VS_EXCLUDED_DRAINED, "host-1", NULL, VS_EXCLUDED_FOREVER,
		       "drained by an operator: its disk");
	for (int i = 0; i < h->npfs; i++)
		vs_exclude_set(VS_EXCLUDED_FAILED, "host-2", h->pfs[i].pci,
			       VS_EXCLUDED_FOREVER, "a start failed there");
	doc = asked("vm1");
	text = vs_j_str(vs_j_get(vs_j_root(&doc), "reason"));
	if (!strstr(text, "(drained by an operator)") ||
	    !strstr(text, "(a start failed there)"))
		fail_msg("%s", text);
	vs_jdoc_free(&doc);
	core_set_observe(false);
	vs_avoids_clear();
}

static void a_question_leaves_nothing_behind(void **state)
{
	uint64_t before = core_ledger()->generation;
	struct vs_jdoc doc;

	(void)state;
	turns(3);
	ntold = 0;
	doc = asked("vm[1-4],other");
	assert_int_equal(number(&doc, "unmanaged_nodes"), 1);
	vs_jdoc_free(&doc);
	assert_true(core_ledger()->generation == before);
	assert_null(core_ledger()->holds);
	assert_null(vs_refusals());
	turns(3);
	assert_int_equal(sent(), 0);
	assert_int_equal(ntold, 0);
}

static void a_new_vm_takes_a_clone_and_a_power_on(void **state)
{
	(void)state;
	expect("vm1", 0, "clone", 2);
	comes_up();
	assert_int_equal(sent(), 2);
}

static void a_warm_one_is_used_as_it_is(void **state)
{
	(void)state;
	bring_up(7, "vm1");
	end_job(7, "vm1");
	expect("vm1,vm2", 0, "reuse", 0);
	expect("vm1,vm2", 1, "clone", 2);
}

static void one_that_is_off_takes_a_power_on(void **state)
{
	int before;

	(void)state;
	bring_up(7, "vm1");
	end_job(7, "vm1");
	powered_down("vm1");
	before = sent();
	expect("vm1", 0, "power-on", 1);
	comes_up();
	assert_int_equal(sent() - before, 1);
}

/* Its host has no VF left: it goes to the other one. */
static void one_that_must_move_is_relocated_first(void **state)
{
	struct vs_host *h;
	int before;

	(void)state;
	bring_up(7, "vm1");
	end_job(7, "vm1");
	powered_down("vm1");
	h = vs_host_get(core_inv(), fake_get("vm1")->host);
	vs_exclude_set(VS_EXCLUDED_DRAINED, h->moid, NULL,
		       VS_EXCLUDED_FOREVER, "drained");
	before = sent();
	expect("vm1", 0, "relocate", 2);
	comes_up();
	assert_int_equal(sent() - before, 2);
}

static void one_of_an_older_template_is_rebuilt(void **state)
{
	int before;

	(void)state;
	bring_up(7, "vm1");
	end_job(7, "vm1");
	powered_down("vm1");
	fake_template("vm-new", NULL);
	turn();
	before = sent();
	expect("vm1", 0, "rebuild", 3);
	comes_up();
	assert_int_equal(sent() - before, 3);
}

static void what_lacks_is_said_in_the_words_of_a_waiting_job(void **state)
{
	struct vs_jdoc doc;

	(void)state;
	begin(6, 2, 2, "warm");
	core_set_port(&port);
	ready();
	bring_up(7, "vm6");
	doc = asked("vm[1-4]");
	assert_false(vs_j_bool(vs_j_get(vs_j_root(&doc), "served")));
	assert_string_equal(vs_j_str(vs_j_get(vs_j_root(&doc), "reason")),
			    "needs 4 sriov-roce VFs, 3 free");
	assert_string_equal(vs_j_str(vs_j_get(row(&doc, 0), "action")), "wait");
	assert_int_equal(number(&doc, "seconds"), -1);
	vs_jdoc_free(&doc);
}

/* Of those that can't all be had, the others have what they would have. */
static void of_a_job_that_waits_only_what_lacks_a_place_waits(void **state)
{
	static const char *const theirs[] = { "host-1", "host-2" };

	(void)state;
	begin(3, 2, 2, "warm");
	core_set_port(&port);
	ready();
	bring_up(7, "vm2");
	end_job(7, "vm2");
	for (size_t i = 0; i < VS_COUNT(theirs); i++) {
		struct fake_vm *vm = fake_add_vm(theirs[i], "group-other",
						 theirs[i], true);

		vm->has_nic = true;
		vs_strlcpy(vm->pci, "0000:3b:00.0", sizeof(vm->pci));
		fake_show(vm);
	}
	expect("vm[1-3]", 0, "wait", 0);
	expect("vm[1-3]", 1, "reuse", 0);
	expect("vm[1-3]", 2, "wait", 0);
}

/* vm1 to vm4 have the four VFs, and vm1 and vm2 are idle. The plan for `nodes`
 * needs only the end of `vm`. */
static void gives_way(const char *nodes, const char *vm)
{
	struct vs_jdoc doc = asked(nodes);
	struct vs_j list = vs_j_get(vs_j_root(&doc), "reclaimed_nodes");

	assert_true(vs_j_bool(vs_j_get(vs_j_root(&doc), "after_reclaim")));
	assert_int_equal(vs_j_len(list), 1);
	assert_string_equal(vs_j_str(vs_j_at(list, 0)), vm);
	vs_jdoc_free(&doc);
}

/* Of six nodes vm1 to vm4 run jobs 1 to 4 on the four VFs. */
static void all_vfs_with_four(void)
{
	begin(6, 2, 2, "warm");
	core_set_port(&port);
	ready();
	for (int i = 1; i <= 4; i++) {
		char name[8];

		snprintf(name, sizeof(name), "vm%d", i);
		bring_up((uint32_t)i, name);
	}
}

static void idle_vms_that_would_give_way_are_named(void **state)
{
	struct vs_jdoc doc;

	(void)state;
	all_vfs_with_four();
	doc = asked("vm5");
	assert_true(vs_j_null(vs_j_opt(vs_j_root(&doc), "after_reclaim")));
	assert_int_equal(number(&doc, "busy_nodes"), -1);
	vs_jdoc_free(&doc);
	doc = asked("vm[1,2,5]");
	assert_int_equal(number(&doc, "busy_nodes"), 2);
	vs_jdoc_free(&doc);
	end_job(1, "vm1");
	end_job(2, "vm2");
	turns(2);
	gives_way("vm5", "vm1");
	/* nor does it matter that Slurm has yet to say that its job is gone */
	flags("vm1", BUSY);
	flags("vm2", BUSY);
	turn();
	doc = asked("vm5");
	assert_int_equal(vs_j_len(vs_j_get(vs_j_root(&doc), "reclaimed_nodes")), 1);
	vs_jdoc_free(&doc);
	flags("vm1", UP);
	flags("vm2", UP);
	turn();
	/* one of the two is the job's own */
	gives_way("vm[1,5]", "vm2");
	doc = asked("vm[1,2,5]");
	assert_true(vs_j_null(vs_j_opt(vs_j_root(&doc), "after_reclaim")));
	vs_jdoc_free(&doc);
	/* no VM was asked to go */
	turns(3);
	assert_false(vs_node_is(&core_nodes()[id("vm1")], VS_COND_VACATE));
	assert_false(vs_node_is(&core_nodes()[id("vm2")], VS_COND_VACATE));
	/* one that goes already */
	vs_node_condition(&core_nodes()[id("vm2")], VS_COND_VACATE, true);
	gives_way("vm5", "vm2");
	all_nodes = false;
	doc = asked("vm5");
	assert_true(vs_j_bool(vs_j_get(vs_j_root(&doc), "after_reclaim")));
	assert_true(vs_j_null(vs_j_opt(vs_j_root(&doc), "reclaimed_nodes")));
	vs_jdoc_free(&doc);
}

static void what_no_host_will_ever_hold_is_no_plan(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	begin(6, 2, 2, "warm");
	core_set_port(&port);
	ready();
	assert_null(vs_core_plan("vm[1-5]", USER, &err));
	assert_string_equal(err.text, "can never run on the nodes that Slurm "
			    "chooses: 5 nodes of sriov-roce are requested, "
			    "the hosts have capacity for 4");
	assert_int_equal(err.code, VS_E_REQUEST);
}

static void hidden_nodes_are_counted_and_not_named(void **state)
{
	struct json_object *o;
	VS_FREE char *text = NULL;

	(void)state;
	all_nodes = false;
	o = vs_core_plan("vm1", USER, NULL);
	assert_non_null(o);
	text = vs_jb_text_free(o);
	assert_null(strstr(text, "vm1"));
	assert_null(strstr(text, "esx"));
	assert_non_null(strstr(text, "\"calls\":2"));
}

static void what_is_no_list_of_nodes_is_refused(void **state)
{
	static const char *const wrong[] = { "", "vm[1-", "vm[1-99999999]", "," };
	struct vs_err err;

	(void)state;
	for (size_t i = 0; i < VS_COUNT(wrong); i++) {
		memset(&err, 0, sizeof(err));
		assert_null(vs_core_plan(wrong[i], USER, &err));
		assert_int_equal(err.code, VS_E_REQUEST);
	}
}

/* ---- how long ------------------------------------------------------------------ */

static const struct vs_profile *profile(void)
{
	return core_nodes()[0].profile;
}

static void durations_are_a_moving_mean_by_template(void **state)
{
	struct vs_profile other = *profile();

	(void)state;
	vs_strlcpy(other.template_moid, "vm-other",
		   sizeof(other.template_moid));
	assert_int_equal(vs_duration_ms(profile(), VS_OP_CLONE), -1);
	vs_duration_note(profile(), VS_OP_CLONE, 8000);
	assert_int_equal(vs_duration_ms(profile(), VS_OP_CLONE), 8000);
	vs_duration_note(profile(), VS_OP_CLONE, 4000);
	assert_int_equal(vs_duration_ms(profile(), VS_OP_CLONE), 7000);
	assert_int_equal(vs_duration_ms(profile(), VS_OP_POWER_ON), -1);
	assert_int_equal(vs_duration_ms(&other, VS_OP_CLONE), -1);
}

/* 300 ms from on to registered: three turns of the stage's clock. */
static void calls_and_boots_are_measured_as_they_end(void **state)
{
	(void)state;
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turn();
	now += 8000;
	assert_true(fake_finish(FAKE_CLONE));
	assert_int_equal(vs_duration_ms(profile(), VS_OP_CLONE), 8000);
	turns(2);
	now += 4000;
	assert_true(fake_finish(FAKE_POWER_ON));
	/* a turn of 100 ms went by after it was sent */
	assert_int_equal(vs_duration_ms(profile(), VS_OP_POWER_ON), 4100);
	turn();
	assert_int_equal(vs_duration_ms(profile(), VS_DURATION_BOOT), -1);
	now += 20000;
	flags("vm1", BUSY);
	flags("vm2", BUSY);
	turn();
	assert_int_equal(vs_duration_ms(profile(), VS_DURATION_BOOT), 20100);
	turns(5);
	assert_int_equal(vs_duration_ms(profile(), VS_DURATION_BOOT), 20100);
}

static void measured(void)
{
	vs_duration_note(profile(), VS_OP_CLONE, 8000);
	vs_duration_note(profile(), VS_OP_POWER_ON, 4000);
	vs_duration_note(profile(), VS_DURATION_BOOT, 20000);
}

static void the_estimate_is_the_slowest_nodes_way(void **state)
{
	struct vs_jdoc doc = asked("vm[1-2]");

	(void)state;
	assert_false(vs_j_bool(vs_j_get(vs_j_root(&doc), "measured")));
	assert_int_equal(number(&doc, "seconds"),
			 core_conf()->slurm.resume_timeout_s);
	vs_jdoc_free(&doc);
	/* the longest of the nodes' partitions, where these are known */
	slow_s = 1200;
	doc = asked("vm[1-2]");
	assert_int_equal(number(&doc, "seconds"), 1200);
	vs_jdoc_free(&doc);
	doc = asked("vm1");
	assert_int_equal(number(&doc, "seconds"), 600);
	vs_jdoc_free(&doc);
	measured();
	doc = asked("vm[1-2]");
	assert_true(vs_j_bool(vs_j_get(vs_j_root(&doc), "measured")));
	assert_int_equal(number(&doc, "seconds"), 8 + 4 + 20);
	vs_jdoc_free(&doc);
}

static bool said_queued(const char *nodes)
{
	struct vs_jdoc doc = asked(nodes);
	bool said = vs_j_bool_or(vs_j_opt(vs_j_root(&doc), "queued"), false);

	vs_jdoc_free(&doc);
	return said;
}

/* Slurm adds the time of pending jobs, even if the nodes wait for none of them. */
static void idle_nodes_with_jobs_in_the_queue_are_said(void **state)
{
	(void)state;
	assert_false(said_queued("vm[1-2]"));
	queued = true;
	assert_false(said_queued("vm1"));
	assert_true(said_queued("vm[1-2]"));
	flags("vm1", BUSY);
	assert_false(said_queued("vm[1-2]"));
	flags("vm1", VS_NODE_POWERED_DOWN);
	assert_true(said_queued("vm[1-2]"));
	flags("vm2", VS_NODE_POWERED_DOWN | VS_NODE_DRAIN);
	assert_false(said_queued("vm[1-2]"));
}

/* Two clones at a time: 8 s for two, 16 s for four, then power-on and boot. */
static void the_estimate_knows_the_budgets(void **state)
{
	struct vs_jdoc doc;

	(void)state;
	measured();
	core_conf()->max_provision_ops = 2;
	doc = asked("vm[1-4]");
	assert_int_equal(number(&doc, "seconds"), 16 + 4 + 20);
	assert_int_equal(vs_j_int(vs_j_get(row(&doc, 3), "seconds")), 32);
	vs_jdoc_free(&doc);
	core_conf()->max_provision_ops = 20;
	core_conf()->max_ops_per_host = 1;	/* two hosts */
	doc = asked("vm[1-4]");
	/* each host: clone, clone, power-on, power-on */
	assert_int_equal(number(&doc, "seconds"), 2 * 8 + 2 * 4 + 20);
	vs_jdoc_free(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(places_are_those_that_the_job_gets, stage),
		cmocka_unit_test_setup(an_observer_is_told_the_same, stage),
		cmocka_unit_test_setup(an_observer_is_told_why_hosts_are_left_out, stage),
		cmocka_unit_test_setup(a_question_leaves_nothing_behind, stage),
		cmocka_unit_test_setup(a_new_vm_takes_a_clone_and_a_power_on, stage),
		cmocka_unit_test_setup(a_warm_one_is_used_as_it_is, stage),
		cmocka_unit_test_setup(one_that_is_off_takes_a_power_on, stage),
		cmocka_unit_test_setup(one_that_must_move_is_relocated_first, stage),
		cmocka_unit_test_setup(one_of_an_older_template_is_rebuilt, stage),
		cmocka_unit_test_setup(what_lacks_is_said_in_the_words_of_a_waiting_job, stage),
		cmocka_unit_test_setup(of_a_job_that_waits_only_what_lacks_a_place_waits, stage),
		cmocka_unit_test_setup(idle_vms_that_would_give_way_are_named, stage),
		cmocka_unit_test_setup(what_no_host_will_ever_hold_is_no_plan, stage),
		cmocka_unit_test_setup(hidden_nodes_are_counted_and_not_named, stage),
		cmocka_unit_test_setup(what_is_no_list_of_nodes_is_refused, stage),
		cmocka_unit_test_setup(durations_are_a_moving_mean_by_template, stage),
		cmocka_unit_test_setup(calls_and_boots_are_measured_as_they_end, stage),
		cmocka_unit_test_setup(the_estimate_is_the_slowest_nodes_way, stage),
		cmocka_unit_test_setup(idle_nodes_with_jobs_in_the_queue_are_said,
				       stage),
		cmocka_unit_test_setup(the_estimate_knows_the_budgets, stage),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
