/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is reported about VMs on a host that is to be empty, before and with the
 * order, and about VMs whose jobs the order requeues.
 */
#include "engine/hosts/hosts_i.h"
#include "vmotion_stage.h"
#include "util/time.h"

/* ---- what is told ---------------------------------------------------------------- */

static char answer[2048];

static void ask(const char *what)
{
	struct vs_err err = { 0 };
	struct json_object *o = vs_core_request(what, "esx1", "", 0, &err);
	char *text;

	assert_int_equal(err.code, VS_OK);
	text = vs_jb_text_free(o);
	vs_strlcpy(answer, text, sizeof(answer));
	free(text);
}

#define SAYS(words) do {						\
	if (!strstr(answer, words))					\
		fail_msg("no %s in %s", words, answer);			\
} while (0)

/* Without an order, and with it, the same. */
static void the_plan_says_what_becomes_of_each(void **st)
{
	static const char *const orders[] = { "leave", "drain" };

	(void)st;
	run("vmxnet3", 2, 3);
	end_job(8, "vm2");
	for (size_t i = 0; i < VS_COUNT(orders); i++) {
		ask(orders[i]);
		SAYS("\"nodes_moving\":1,");
		SAYS("\"nodes_staying\":0,");
		SAYS("{\"node\":\"vm1\",\"job\":7,\"outcome\":\"move\"}");
		SAYS("{\"node\":\"vm2\",\"outcome\":\"off\"}");
	}
	run("sriov", 1, 3);
	ask("leave");
	SAYS("\"nodes_moving\":0,\"nodes_staying\":1");
	SAYS("\"outcome\":\"stay\",\"reason\":\"vmotion: type sriov allows it in no release\"");
	ask("leave-requeue");
	SAYS("\"outcome\":\"requeue\"");
	assert_null(vs_exclusion_find(VS_EXCLUDED_DRAINED, "host-1"));
}

static void the_plan_counts_the_room(void **st)
{
	struct vs_claim other = { .node = ">vm9", .host = "host-2",
				 .mem_mb = 512 * 1024 - 200 };
	struct vs_err err;

	(void)st;
	run("vmxnet3", 2, 2);
	assert_int_equal(vs_ledger_take(core_ledger(), &other, &err), 0);
	ask("leave");
	SAYS("\"nodes_moving\":1,\"nodes_staying\":1");
	maintenance(2, true);
	ask("leave");
	SAYS("\"nodes_moving\":0,\"nodes_staying\":2");
	SAYS("esx2: in or entering maintenance");
}

/* A host isn't safe before the moving VMs are gone, but they count as no
 * remaining nodes. */
static void a_host_is_safe_when_they_are_gone(void **st)
{
	struct vs_host *h;
	struct vs_remaining_vms r;
	char words[160];

	(void)st;
	run("vmxnet3", 2, 3);
	drain("esx1");
	turns(1);
	h = vs_host_get(core_inv(), "host-1");
	vs_host_remaining_vms(&vs_core, h, &r);
	assert_int_equal(r.moves, 2);
	assert_int_equal(r.nodes, 0);
	assert_true(r.safe_at > 0);
	vs_remaining_vms_text(&r, words, sizeof(words));
	assert_string_equal(words, "2 VMs move away with their jobs running");
	assert_true(fake_finish(FAKE_RELOCATE) && fake_finish(FAKE_RELOCATE));
	turns(2);
	vs_host_remaining_vms(&vs_core, h, &r);
	assert_int_equal(r.safe_at, 0);
}

/* ---- requeued by an order --------------------------------------------------------- */

static void what_cannot_leave_is_requeued_by_the_order(void **st)
{
	(void)st;
	run("sriov", 1, 3);
	ask("drain-requeue");
	SAYS("\"outcome\":\"requeue\"");
	turns(2);
	assert_int_equal(heard(VS_REQUEST_RELEASE, "vm1")->job, VS_JOB_ANY);
	assert_int_equal(heard(VS_REQUEST_REQUEUED, NULL)->job, 7);
	assert_string_equal(heard(VS_REQUEST_REQUEUED, NULL)->text,
		"host esx1 is drained by an operator; jobs are requeued: vmotion: type sriov allows it in no release");
}

static void an_operators_note_is_not_for_users(void **st)
{
	struct vs_err err = { 0 };

	(void)st;
	run("sriov", 1, 3);
	vs_jb_free(
		vs_core_request("drain-requeue", "esx1", "ask Doe", 0, &err));
	assert_int_equal(err.code, VS_OK);
	turns(2);
	assert_non_null(strstr(heard(VS_REQUEST_RELEASE, "vm1")->text,
			       "drained by an operator: ask Doe;"));
	assert_string_equal(heard(VS_REQUEST_REQUEUED, NULL)->text,
		"host esx1 is drained by an operator; jobs are requeued: vmotion: type sriov allows it in no release");
}

static void what_can_leave_is_not(void **st)
{
	(void)st;
	run("vmxnet3", 1, 3);
	ask("drain-requeue");
	turns(50);
	assert_null(heard(VS_REQUEST_RELEASE, NULL));
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(50);
	assert_null(heard(VS_REQUEST_RELEASE, NULL));
	assert_int_equal(node_job(node("vm1")), 7);
}

/* Planned: until then they run. */
static void a_deadline_is_a_planned_drain_with_requeue(void **st)
{
	struct vs_err err = { 0 };
	int64_t now_s = vs_wall_ms() / 1000;

	(void)st;
	run("sriov", 1, 3);
	vs_jb_free(vs_core_drain_at("esx1", "", now_s + 100000, true, 0, &err));
	assert_int_equal(err.code, VS_OK);
	turns(60);
	assert_null(heard(VS_REQUEST_RELEASE, NULL));
	vs_hosts.windows->at = now_s;
	turns(60);
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_plan_says_what_becomes_of_each),
		cmocka_unit_test(the_plan_counts_the_room),
		cmocka_unit_test(a_host_is_safe_when_they_are_gone),
		cmocka_unit_test(what_cannot_leave_is_requeued_by_the_order),
		cmocka_unit_test(an_operators_note_is_not_for_users),
		cmocka_unit_test(what_can_leave_is_not),
		cmocka_unit_test(a_deadline_is_a_planned_drain_with_requeue),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
