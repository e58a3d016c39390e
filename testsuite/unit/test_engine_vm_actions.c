/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An operator's orders about nodes' VMs: evict and rebuild, in each phase of a
 * VM's life, over a restart, and withdrawn.
 */
#include "engine/control/control.h"
#include "engine/tasks/tasks_i.h"
#include "engine_stage.h"
#include "util/json.h"

/* The order's answer for its first node is kept in did and said. */
static char did[32], said[300];
static int64_t said_job;

static int order(const char *what, const char *nodes, const char *why)
{
	struct vs_err err = { 0 };
	struct json_object *o = vs_core_request(what, nodes, why, 0, &err);
	struct vs_jdoc doc;
	VS_FREE char *text = NULL;
	struct vs_j row;

	did[0] = said[0] = '\0';
	vs_strlcpy(said, err.text, sizeof(said));
	if (!o)
		return err.code;
	text = vs_jb_text_free(o);
	assert_int_equal(vs_jdoc_parse(&doc, text, strlen(text), NULL), 0);
	row = vs_j_at(vs_j_get(vs_j_root(&doc), "nodes"), 0);
	vs_strlcpy(did, vs_j_str(vs_j_get(row, "action")), sizeof(did));
	vs_strlcpy(said, vs_j_str_or(vs_j_opt(row, "description"), ""), sizeof(said));
	said_job = vs_j_int_or(vs_j_opt(row, "job"), 0);
	vs_jdoc_free(&doc);
	return 0;
}

static void must_do(const char *what, const char *nodes, const char *expected)
{
	if (order(what, nodes, strstr(what, "-on") ? "esx1" : ""))
		fail_msg("%s %s: %s", what, nodes, said);
	assert_string_equal(did, expected);
}

static struct vs_node *node(const char *name)
{
	return vs_node_named(&vs_core, name);
}

static enum vs_avail avail(const char *name)
{
	return vs_node_summary_get(&vs_core, id(name))->avail;
}

/* Slurm powers vm1 down, and its VM goes off. */
static void goes_off(void)
{
	turns(60);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	flags("vm1", GOING);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_OFF));
	turn();
	flags("vm1", DOWN);
	turns(60);
}

static void an_idle_warm_vm_goes_off_at_once_and_the_node_is_usable(void **st)
{
	(void)st;
	begin_idle("warm");
	assert_int_equal(order("evict", "vm1", "for a\ntest"), 0);
	assert_string_equal(did, "off");
	assert_int_equal(avail("vm1"), VS_AVAIL_NONE);
	turn();
	assert_string_equal(heard(VS_REQUEST_DRAIN, "vm1")->text,
			    "its VM is evicted by an operator: for a test");
	assert_null(heard(VS_REQUEST_UNDRAIN, "vm1"));
	flags("vm1", UP | VS_NODE_DRAIN);
	goes_off();
	assert_non_null(heard(VS_REQUEST_UNDRAIN, "vm1"));
	assert_false(vs_vm_actions_any(&node("vm1")->orders));
	assert_int_equal(avail("vm1"), VS_AVAIL_STOPPED);
	assert_null(vs_ledger_get(core_ledger(), "vm1"));
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	/* and nothing more is done to it */
	ntold = 0;
	turns(100);
	assert_null(heard(VS_REQUEST_DRAIN, "vm1"));
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
}

static void a_running_job_ends_first_and_none_comes_after_it(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	must_do("evict", "vm1", "after-job");
	assert_int_equal(said_job, 7);
	turns(60);
	assert_non_null(heard(VS_REQUEST_DRAIN, "vm1"));
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	assert_null(heard(VS_REQUEST_RELEASE, "vm1"));
	flags("vm1", BUSY | VS_NODE_DRAIN);
	turns(100);
	assert_false(fake_sent[FAKE_POWER_OFF] + fake_sent[FAKE_SHUTDOWN]);
	vs_job_end(&vs_core, 7, &(int) { id("vm1") }, 1, false);
	flags("vm1", UP | VS_NODE_DRAIN);
	goes_off();
	assert_non_null(heard(VS_REQUEST_UNDRAIN, "vm1"));
}

static void with_requeue_its_jobs_go_at_once(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	assert_int_equal(order("requeue", "vm1", "ask Doe"), 0);
	turn();
	assert_string_equal(heard(VS_REQUEST_RELEASE, "vm1")->text,
			    "its VM is evicted by an operator: ask Doe");
	/* users read this one: it has no operator's note */
	assert_string_equal(heard(VS_REQUEST_REQUEUED, NULL)->text,
			    "its VM is evicted by an operator");
	assert_int_equal(heard(VS_REQUEST_RELEASE, "vm1")->job, VS_JOB_ANY);
	assert_null(heard(VS_REQUEST_DRAIN, "vm1"));
	assert_true(node_ending_ms(node("vm1")) > now);
	flags("vm1", GOING);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_OFF));
	turn();
	assert_false(vs_vm_actions_any(&node("vm1")->orders));
}

static void one_that_slurm_has_down_goes_by_force(void **st)
{
	(void)st;
	begin_idle("warm");
	flags("vm1", VS_NODE_DOWN);
	must_do("evict", "vm1", "off");
	turn();
	assert_int_equal(heard(VS_REQUEST_RELEASE, "vm1")->job, 0);
}

static void resume_withdraws_what_waits_for_a_job(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	must_do("rebuild-on", "vm1", "after-job");
	turns(2);
	flags("vm1", BUSY | VS_NODE_DRAIN);
	turns(2);
	flags("vm1", BUSY);
	turns(2);
	assert_false(vs_vm_actions_any(&node("vm1")->orders));
	assert_string_equal(node("vm1")->orders.wish, "");
	ntold = 0;
	turns(100);
	assert_null(heard(VS_REQUEST_DRAIN, "vm1"));
	end_job(7, "vm1");
	turns(100);
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	assert_int_equal(avail("vm1"), VS_AVAIL_RUNNING);
}

static void what_is_not_on_can_not_go_off(void **st)
{
	(void)st;
	begin(2, 1, 1, "warm");
	ready();
	must_do("evict", "vm1", "nothing");
	assert_non_null(strstr(said, "has no VM"));
	must_do("rebuild", "vm1", "nothing");
	bring_up(7, "vm1");
	end_job(7, "vm1");
	must_do("evict", "vm1", "off");
	goes_off();
	must_do("evict", "vm1", "nothing");
	assert_string_equal(said, "its VM is off already");
	must_do("evict-on", "vm1", "nothing");
	assert_non_null(strstr(said, "starts on that host next"));
	assert_string_not_equal(node("vm1")->orders.wish, "");
}

static void nothing_is_done_for_a_list_with_an_unknown_node(void **st)
{
	(void)st;
	begin_idle("warm");
	assert_int_equal(order("evict", "vm[1-2]", ""), VS_E_GONE);
	assert_string_equal(said, "no such node: vm2 (nothing was changed)");
	assert_int_equal(order("evict", "vm[1-", ""), VS_E_REQUEST);
	assert_int_equal(order("rebuild", "vm1,vm9", ""), VS_E_GONE);
	assert_false(vs_vm_actions_any(&node("vm1")->orders));
	core_set_observe(true);
	assert_int_equal(order("evict", "vm1", ""), VS_E_STATE);
	core_set_observe(false);
}

static void a_vm_that_is_not_ours_is_refused(void **st)
{
	(void)st;
	begin_idle("warm");
	vs_strlcpy(vs_vm_get_named(core_inv(), core_folder(), "vm1")->
		   mark.cluster, "x", 2);
	must_do("rebuild", "vm1", "refused");
	assert_non_null(strstr(said, "not managed by slurm-vsphere"));
	assert_false(vs_vm_actions_any(&node("vm1")->orders));
}

/* On or off: it would be refused when it is off, and the node be of no use. */
static void a_rebuild_of_a_vm_with_a_disk_of_others_is_refused(void **st)
{
	(void)st;
	begin_idle("warm");
	vs_vm_get_named(core_inv(), core_folder(), "vm1")->disks.own = false;
	must_do("rebuild", "vm1", "refused");
	assert_non_null(strstr(said, "disk outside"));
	assert_false(vs_vm_actions_any(&node("vm1")->orders));
	must_do("evict", "vm1", "off");
}

#define KEPT (VS_NODE_DRAIN | VS_NODE_TAKEN | VS_NODE_STAYS)

/* Slurm would never power it down, and svf said that it goes off now. */
static void one_that_others_drained_and_slurm_keeps_on_is_refused(void **st)
{
	(void)st;
	begin_idle("warm");
	flags("vm1", UP | KEPT);
	must_do("evict", "vm1", "refused");
	assert_non_null(strstr(said, "SuspendExcNodes"));
	must_do("requeue", "vm1", "refused");
	must_do("rebuild", "vm1", "refused");
	flags("vm1", BUSY | KEPT);
	must_do("evict", "vm1", "refused");
	assert_false(vs_vm_actions_any(&node("vm1")->orders));
	must_do("requeue", "vm1", "off");	/* by force, as ever */
	/* each of the causes alone is no obstacle */
	begin_idle("warm");
	flags("vm1", UP | VS_NODE_STAYS);
	must_do("evict", "vm1", "off");
	begin_idle("warm");
	flags("vm1", UP | VS_NODE_DRAIN | VS_NODE_TAKEN);
	must_do("evict", "vm1", "off");
	begin_idle("warm");
	flags("vm1", VS_NODE_DOWN | KEPT);
	must_do("evict", "vm1", "off");
}

static void a_power_down_is_logged_once_and_not_when_slurm_keeps_it_on(void **st)
{
	size_t first = 0;

	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	must_do("evict", "vm1", "after-job");
	vs_job_end(&vs_core, 7, &(int) { id("vm1") }, 1, false);
	flags("vm1", UP | KEPT);
	ntold = 0;
	turns(200);
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	assert_true(vs_vm_actions_any(&node("vm1")->orders));
	flags("vm1", UP | VS_NODE_DRAIN | VS_NODE_TAKEN);
	turns(200);
	for (size_t i = 0; i < ntold; i++) {
		if (told[i].kind != VS_REQUEST_POWER_DOWN)
			continue;
		assert_int_equal(told[i].ok, first != 0);
		first++;
	}
	assert_true(first > 2);
}

static void a_later_order_adds_to_an_earlier_one(void **st)
{
	const struct vs_vm_actions *o;

	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	o = &node("vm1")->orders;
	assert_int_equal(order("rebuild", "vm1", ""), 0);
	assert_int_equal(order("evict", "vm1", "it hums"), 0);
	assert_string_equal(did, "after-job");
	assert_non_null(strstr(said, "rebuild"));
	assert_string_equal(o->rebuild, fake_get("vm1")->moid);
	assert_int_equal(order("requeue", "vm1", ""), 0);
	assert_string_equal(did, "off");
	must_do("evict", "vm1", "off");
	assert_true(o->evict && o->requeue);
	must_do("rebuild", "vm1", "off");
	assert_string_equal(said, "");
	assert_true(o->evict && o->requeue);
	assert_string_equal(o->rebuild, fake_get("vm1")->moid);
	assert_string_equal(o->why, "it hums");
}

static void a_warm_vm_is_rebuilt_when_it_is_off(void **st)
{
	char old[VS_MOID_LEN];

	(void)st;
	begin_idle("warm");
	vs_strlcpy(old, fake_get("vm1")->moid, sizeof(old));
	must_do("rebuild", "vm1", "off");
	turn();
	assert_string_equal(heard(VS_REQUEST_DRAIN, "vm1")->text,
			    "its VM is rebuilt by an operator");
	flags("vm1", UP | VS_NODE_DRAIN);
	goes_off();
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
	assert_true(fake_finish(FAKE_DESTROY));
	turns(2);
	assert_false(vs_vm_actions_any(&node("vm1")->orders));
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	bring_up(8, "vm1");
	assert_int_equal(fake_sent[FAKE_CLONE], 2);
	assert_string_not_equal(fake_get("vm1")->moid, old);
	/* the new VM isn't destroyed */
	end_job(8, "vm1");
	turns(100);
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
}

static void a_job_that_comes_before_finds_a_new_one_too(void **st)
{
	(void)st;
	begin_idle("warm");
	must_do("evict", "vm1", "off");
	goes_off();
	must_do("rebuild", "vm1", "destroy");
	assert_int_equal(job_begin(9, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
	assert_true(fake_finish(FAKE_DESTROY));
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
}

/* Slurm's power-downs are not counted, but what an order destroys is. */
static void too_many_rebuilds_put_the_brake_on(void **st)
{
	(void)st;
	begin(6, 1, 6, "warm");
	vs_removal_clear();
	ready();
	for (uint32_t i = 0; i < 6; i++) {
		const char *name = core_nodes()[i].name;

		bring_up(100 + i, name);
		end_job(100 + i, name);
		flags(name, GOING);
		turns(2);
		assert_true(fake_finish(FAKE_POWER_OFF));
		turn();
		flags(name, DOWN);
	}
	must_do("rebuild", "vm[1-6]", "destroy");
	turns(3);
	assert_int_equal(fake_sent[FAKE_DESTROY], 3);
	assert_true(vs_removal_limit_is_reached());
	assert_int_equal(vs_removal_confirm(&vs_core), 3);
	turns(3);
	assert_int_equal(fake_sent[FAKE_DESTROY], 6);
	vs_removal_clear();
}

/* Six nodes that a person has set down, their VMs on: the order, and Slurm's
 * POWERED_DOWN, which by_force() leads to without a POWERING_DOWN. */
static void six_down_go(const char *what)
{
	begin(6, 1, 6, "warm");
	vs_removal_clear();
	ready();
	for (uint32_t i = 0; i < 6; i++) {
		bring_up(100 + i, core_nodes()[i].name);
		end_job(100 + i, core_nodes()[i].name);
	}
	for (uint32_t i = 0; i < 6; i++)
		flags(core_nodes()[i].name, VS_NODE_DOWN | VS_NODE_TAKEN);
	must_do(what, "vm[1-6]", "off");
	turn();
	for (uint32_t i = 0; i < 6; i++) {
		assert_non_null(
			heard(VS_REQUEST_RELEASE, core_nodes()[i].name));
		flags(core_nodes()[i].name,
		      DOWN | VS_NODE_DOWN | VS_NODE_TAKEN);
	}
	for (int i = 0; i < 6; i++) {
		turns(2);
		if (!fake_finish(FAKE_POWER_OFF))
			fail_msg("the VM %d of six isn't switched off", i + 1);
	}
	turns(3);
}

static void evictions_of_nodes_that_are_down_ask_no_brake(void **st)
{
	(void)st;
	six_down_go("evict");
	assert_false(vs_removal_limit_is_reached());
	assert_null(vs_removal_limit.ends);
	for (uint32_t i = 0; i < 6; i++)
		assert_false(vs_vm_actions_any(&core_nodes()[i].orders));
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
}

static void but_what_their_rebuild_destroys_does(void **st)
{
	(void)st;
	six_down_go("rebuild");
	assert_int_equal(fake_sent[FAKE_DESTROY], 3);
	assert_true(vs_removal_limit_is_reached());
	vs_removal_clear();
}

static void while_the_brake_is_on_the_drain_goes_all_the_same(void **st)
{
	(void)st;
	begin_idle("warm");
	must_do("rebuild", "vm1", "off");
	vs_removal_limit.on = true;
	turn();
	flags("vm1", UP | VS_NODE_DRAIN);
	turns(60);
	flags("vm1", GOING | VS_NODE_DRAIN);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_OFF));
	turn();
	flags("vm1", DOWN | VS_NODE_DRAIN);
	for (int i = 0; i < 100; i++) {	/* and said again and again */
		must_do("rebuild", "vm1", "destroy");
		turn();
	}
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	assert_true(vs_vm_actions_any(&node("vm1")->orders));
	assert_non_null(heard(VS_REQUEST_UNDRAIN, "vm1"));
	vs_removal_clear();
}

static void orders_outlive_a_restart(void **st)
{
	VS_FREE char *text = NULL;
	struct json_object *top;
	struct vs_jdoc doc;

	(void)st;
	begin(2, 1, 2, "warm");
	ready();
	bring_up(7, "vm1");
	assert_int_equal(order("rebuild", "vm1", ""), 0);
	assert_true(vs_state_file_pending());
	top = vs_jb_obj(NULL);
	vs_jb_put(top, "orders", vs_vm_actions_json(&vs_core));
	text = vs_jb_text_free(top);
	memset(&node("vm1")->orders, 0, sizeof(node("vm1")->orders));
	vs_state_file_read_done(false);
	vs_state_file_load(&vs_core, text, NULL);
	turns(2);
	assert_non_null(heard(VS_REQUEST_DRAIN, "vm1"));
	assert_string_equal(node("vm1")->orders.rebuild,
			    fake_get("vm1")->moid);
	/* of a node or a shape that isn't known: nothing */
	memset(&node("vm1")->orders, 0, sizeof(node("vm1")->orders));
	assert_int_equal(vs_jdoc_parse(&doc,
		"[{\"node\":\"gone\",\"evict\":true},{\"evict\":true}]", 45,
		NULL), 0);
	vs_vm_actions_read(&vs_core, vs_j_root(&doc));
	vs_jdoc_free(&doc);
	assert_false(vs_vm_actions_any(&node("vm1")->orders));
	assert_false(vs_vm_actions_any(&node("vm2")->orders));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_warm_vm_goes_off_at_once_and_the_node_is_usable),
		cmocka_unit_test(a_running_job_ends_first_and_none_comes_after_it),
		cmocka_unit_test(with_requeue_its_jobs_go_at_once),
		cmocka_unit_test(one_that_slurm_has_down_goes_by_force),
		cmocka_unit_test(resume_withdraws_what_waits_for_a_job),
		cmocka_unit_test(what_is_not_on_can_not_go_off),
		cmocka_unit_test(nothing_is_done_for_a_list_with_an_unknown_node),
		cmocka_unit_test(a_vm_that_is_not_ours_is_refused),
		cmocka_unit_test(a_rebuild_of_a_vm_with_a_disk_of_others_is_refused),
		cmocka_unit_test(one_that_others_drained_and_slurm_keeps_on_is_refused),
		cmocka_unit_test(a_power_down_is_logged_once_and_not_when_slurm_keeps_it_on),
		cmocka_unit_test(a_later_order_adds_to_an_earlier_one),
		cmocka_unit_test(a_warm_vm_is_rebuilt_when_it_is_off),
		cmocka_unit_test(a_job_that_comes_before_finds_a_new_one_too),
		cmocka_unit_test(too_many_rebuilds_put_the_brake_on),
		cmocka_unit_test(evictions_of_nodes_that_are_down_ask_no_brake),
		cmocka_unit_test(but_what_their_rebuild_destroys_does),
		cmocka_unit_test(while_the_brake_is_on_the_drain_goes_all_the_same),
		cmocka_unit_test(orders_outlive_a_restart),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
