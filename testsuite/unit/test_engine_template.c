/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A template that is deleted and made again under its name: jobs wait for it
 * in the queue, no node pays for it.
 */
#include "engine_stage.h"

#define GONE "Template=tpl: vCenter has no VM template of that name"

static void room_says(const char *text, size_t room)
{
	char why[300] = "";
	int one = id("vm1");

	assert_int_equal(
		vs_query_capacity(&vs_core, &one, 1, NULL, why, sizeof(why)),
		room);
	assert_string_equal(why, text);
}

static void no_job_begins_while_its_template_is_missing(void **state)
{
	size_t surplus[2], n = 0;
	struct vs_err err = { 0 };
	int one;

	(void)state;
	begin(1, 1, 1, "warm");
	ready();
	one = id("vm1");
	room_says("", 1);
	fake_template("", GONE);
	turn();
	room_says(": " GONE, 0);
	assert_int_equal(vs_query_check(&vs_core, &one, 1, surplus, &n, &err),
			 -1);
	assert_string_equal(err.text, GONE);
	assert_int_equal(vs_job_begin(&vs_core, 7, 0, &one, 1, &err), -1);
	assert_int_equal(err.code, VS_E_SHORTAGE);
	assert_string_equal(err.text, "node vm1 cannot get a VM now: " GONE);
	assert_true(vs_query_ever(&vs_core, &one, 1, &err));
	fake_template("vm-new", NULL);
	turn();
	room_says("", 1);
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turn();
	assert_true(fake_finish(FAKE_CLONE));
	assert_string_equal(fake_get("vm1")->source, "vm-new");
}

static void what_runs_or_exists_serves_without_its_template(void **state)
{
	(void)state;
	begin(2, 1, 2, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	fake_template("", GONE);
	turn();
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[id("vm1")]),
			 VS_AVAIL_RUNNING);
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[id("vm2")]),
			 VS_AVAIL_NONE);
	flags("vm1", GOING);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_OFF));
	flags("vm1", DOWN);
	turns(2);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
}

/* vCenter refuses the clone; the next slow beat finds the new one. */
static void a_clone_of_what_was_deleted_is_sent_again_of_the_new_one(
	void **state)
{
	(void)state;
	begin(1, 1, 1, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turn();
	assert_true(fake_fail(FAKE_CLONE, VS_E_GONE, "vm-tpl is gone"));
	assert_true(fake_slow_asked);
	turns(5);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	fake_template("vm-new", NULL);
	fake_slow(NULL, 0);
	turns(10);
	assert_true(fake_finish(FAKE_CLONE));
	assert_string_equal(fake_get("vm1")->source, "vm-new");
	assert_null(heard(VS_REQUEST_FAIL, NULL));
}

/* The job goes back to the queue; its node is not set down. */
static void a_job_that_began_goes_back_to_the_queue(void **state)
{
	const struct vs_outbox_request *t;

	(void)state;
	begin(1, 1, 1, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turn();
	assert_true(fake_fail(FAKE_CLONE, VS_E_GONE, "vm-tpl is gone"));
	fake_template("", GONE);
	fake_slow(NULL, 0);
	turns(200);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_null(heard(VS_REQUEST_FAIL, NULL));
	t = heard(VS_REQUEST_RELEASE, "vm1");
	assert_non_null(t);
	assert_string_equal(t->text, GONE);
	assert_null(vs_avoids());
	assert_int_equal(free_on("host-1"), 1);
}

static void a_used_vm_of_destroy_serves_nobody_while_none_can_be_made(
	void **state)
{
	(void)state;
	begin_idle("destroy");
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[0]),
			 VS_AVAIL_TO_CREATE);
	fake_template("", GONE);
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[0]),
			 VS_AVAIL_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_job_begins_while_its_template_is_missing),
		cmocka_unit_test(
			what_runs_or_exists_serves_without_its_template),
		cmocka_unit_test(
			a_clone_of_what_was_deleted_is_sent_again_of_the_new_one),
		cmocka_unit_test(a_job_that_began_goes_back_to_the_queue),
		cmocka_unit_test(
			a_used_vm_of_destroy_serves_nobody_while_none_can_be_made),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
