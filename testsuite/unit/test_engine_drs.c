/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement=drs: who is asked before a clone, what an answer moves, and that a
 * bad answer, or none, leaves all as it was.
 */
#include "engine/provision/provision_i.h"
#include "engine_stage.h"
#include "util/json.h"

/* vm1 is placed on host-1, of three hosts; its clone is due. */
static void due(const char *policy, int vfs)
{
	begin(3, 3, vfs, "warm");
	free(core_conf()->placement);
	core_conf()->placement = vs_strdup(policy);
	vs_drs = (struct vs_drs) { .on = !strcmp(policy, "drs") };
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	assert_int_equal(free_on("host-1"), vfs - 1);
	flags("vm1", BOOT);
	turns(3);
}

static const char *cloned_on(const char *node)
{
	struct vs_node *n = vs_node_named(&vs_core, node);

	return n->op.kind == VS_OP_CLONE ? n->op.host : "";
}

static void counts(int agreed, int moved, int refused, int failed)
{
	assert_int_equal(vs_drs.agreed, agreed);
	assert_int_equal(vs_drs.moved, moved);
	assert_int_equal(vs_drs.refused, refused);
	assert_int_equal(vs_drs.failed, failed);
	assert_int_equal(vs_drs.nasks, 0);
}

static void drs_is_asked_before_the_clone_and_moves_the_hold(void **state)
{
	(void)state;
	due("drs", 2);
	assert_int_equal(fake_where.asked, 1);
	assert_string_equal(fake_where.name, "vm1");
	assert_string_equal(fake_where.cluster, "domain-c1");
	assert_string_equal(fake_where.hosts, "host-1 host-2 host-3");
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	fake_recommend(1, "host-3", NULL);
	assert_int_equal(free_on("host-1"), 2);
	assert_int_equal(free_on("host-3"), 1);
	turns(3);
	assert_string_equal(cloned_on("vm1"), "host-3");
	assert_int_equal(fake_where.asked, 1);
	assert_int_equal(vs_ledger_get(core_ledger(), "vm1")->job, 7);
	counts(0, 1, 0, 0);
}

static void due_in_partition(const char *global, enum vs_placement own)
{
	begin(3, 3, 2, "warm");
	vs_drs = (struct vs_drs) { .on = !strcmp(global, "drs") };
	core_profiles()[0].placement = own;
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(3);
}

static void a_partitions_own_placement_decides_whether_drs_is_asked(void **state)
{
	(void)state;
	due_in_partition("balance", VS_PLACEMENT_DRS);
	assert_int_equal(fake_where.asked, 1);
	due_in_partition("drs", VS_PLACEMENT_PACK);
	assert_int_equal(fake_where.asked, 0);
	assert_string_equal(cloned_on("vm1"), "host-1");
}

static void an_answer_that_names_our_own_place_changes_nothing(void **state)
{
	(void)state;
	due("drs", 2);
	fake_recommend(1, "host-1", NULL);
	turns(3);
	assert_string_equal(cloned_on("vm1"), "host-1");
	counts(1, 0, 0, 0);
}

/* DRS knows nothing of VFs. */
static void a_host_without_a_free_vf_is_not_taken(void **state)
{
	(void)state;
	due("drs", 1);
	assert_int_equal(job_begin(8, "vm2", NULL), 0);	/* host-2's only one */
	fake_recommend(1, "host-2", NULL);
	assert_int_equal(free_on("host-1"), 0);
	assert_int_equal(free_on("host-2"), 0);
	turns(3);
	assert_string_equal(cloned_on("vm1"), "host-1");
	assert_string_equal(fake_where.hosts, "host-2 host-3");
	fake_recommend(2, "host-2", NULL);	/* of vm2 */
	counts(1, 0, 1, 0);
}

static void only_hosts_with_room_are_offered(void **state)
{
	(void)state;
	begin(3, 3, 1, "warm");
	vs_drs = (struct vs_drs) { .on = true };
	ready();
	assert_int_equal(job_begin(8, "vm2", NULL), 0);		/* host-1 */
	vs_strlcpy(vs_host_get(core_inv(), "host-3")->cluster, "domain-c9",
		   VS_MOID_LEN);
	assert_int_equal(job_begin(7, "vm1", NULL), 0);		/* host-2 */
	assert_int_equal(free_on("host-2"), 0);
	flags("vm1", BOOT);
	turns(3);
	assert_int_equal(fake_where.asked, 0);	/* nothing to choose from */
	assert_string_equal(cloned_on("vm1"), "host-2");
}

static void a_host_that_vcenter_alone_knows_is_refused(void **state)
{
	(void)state;
	due("drs", 2);
	fake_recommend(1, "host-99", NULL);
	turns(3);
	assert_string_equal(cloned_on("vm1"), "host-1");
	counts(0, 0, 1, 0);
}

/* DRS is off, say. */
static void a_fault_leaves_the_vm_where_it_was_placed(void **state)
{
	struct vs_err err = { .code = VS_E_STATE, .text = "DRS is off" };

	(void)state;
	due("drs", 2);
	fake_recommend(1, "", &err);
	turns(3);
	assert_string_equal(cloned_on("vm1"), "host-1");
	assert_int_equal(fake_where.asked, 1);
	counts(0, 0, 0, 1);
}

static void no_answer_is_waited_for_ten_seconds(void **state)
{
	(void)state;
	due("drs", 2);
	now += 9000;
	turns(3);
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	now += 1000;
	turns(3);
	assert_string_equal(cloned_on("vm1"), "host-1");
	fake_recommend(1, "host-3", NULL);	/* too late */
	assert_int_equal(free_on("host-3"), 2);
	counts(0, 0, 0, 1);
}

static void a_lost_connection_asks_again_later(void **state)
{
	(void)state;
	due("drs", 2);
	fake_down(VS_E_RETRY);
	turns(2);
	ready();
	turns(3);
	assert_int_equal(fake_where.asked, 2);
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	fake_recommend(1, "host-2", NULL);	/* the query was given up */
	assert_int_equal(free_on("host-2"), 2);
	fake_recommend(2, "host-3", NULL);
	turns(3);
	assert_string_equal(cloned_on("vm1"), "host-3");
}

static void an_answer_for_a_job_that_is_gone_takes_nothing(void **state)
{
	int one;

	(void)state;
	due("drs", 2);
	one = id("vm1");
	vs_job_end(&vs_core, 7, &one, 1, false);
	flags("vm1", DOWN);
	turns(2);
	assert_int_equal(free_on("host-1"), 2);
	fake_recommend(1, "host-3", NULL);
	assert_int_equal(free_on("host-3"), 2);
	assert_null(vs_ledger_get(core_ledger(), "vm1"));
	assert_int_equal(vs_drs.nasks, 0);
}

static void a_vm_that_is_there_is_not_asked_for(void **state)
{
	(void)state;
	due("drs", 2);
	fake_recommend(1, "host-1", NULL);
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	turns(3);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
	assert_int_equal(fake_where.asked, 1);
}

static void other_policies_ask_nobody(void **state)
{
	(void)state;
	due("balance", 2);
	assert_int_equal(fake_where.asked, 0);
	assert_string_equal(cloned_on("vm1"), "host-1");
}

static void where_an_operator_wants_it_drs_is_not_asked(void **state)
{
	struct vs_err err = { 0 };
	struct json_object *o;

	(void)state;
	begin(3, 3, 2, "warm");
	vs_drs = (struct vs_drs) { .on = true };
	ready();
	o = vs_core_request("evict-on", "vm1", "esx3", 0, &err);
	assert_non_null(o);
	free(vs_jb_text_free(o));
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	assert_int_equal(free_on("host-3"), 1);
	flags("vm1", BOOT);
	turns(3);
	assert_int_equal(fake_where.asked, 0);
	assert_string_equal(cloned_on("vm1"), "host-3");
	/* once: the next hold is DRS's again */
	assert_int_equal(job_begin(8, "vm2", NULL), 0);
	flags("vm2", BOOT);
	turns(3);
	assert_int_equal(fake_where.asked, 1);
}

static void a_bounded_number_of_questions_is_under_way(void **state)
{
	int ids[20];
	struct vs_err err;

	(void)state;
	begin(20, 2, 32, "warm");
	vs_drs = (struct vs_drs) { .on = true };
	ready();
	for (int i = 0; i < 20; i++)
		ids[i] = core_nodes()[i].id;
	assert_int_equal(vs_job_begin(&vs_core, 7, 0, ids, 20, &err), 0);
	for (int i = 0; i < 20; i++)
		vs_node_flags(&vs_core, &core_nodes()[i], BOOT);
	turns(3);
	assert_int_equal(fake_where.asked, 16);
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	for (int i = 1; i <= 16; i++)
		fake_recommend(i, i % 2 ? "host-1" : "host-2", NULL);
	turns(3);
	assert_int_equal(fake_where.asked, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drs_is_asked_before_the_clone_and_moves_the_hold),
		cmocka_unit_test(a_partitions_own_placement_decides_whether_drs_is_asked),
		cmocka_unit_test(an_answer_that_names_our_own_place_changes_nothing),
		cmocka_unit_test(a_host_without_a_free_vf_is_not_taken),
		cmocka_unit_test(only_hosts_with_room_are_offered),
		cmocka_unit_test(a_host_that_vcenter_alone_knows_is_refused),
		cmocka_unit_test(a_fault_leaves_the_vm_where_it_was_placed),
		cmocka_unit_test(no_answer_is_waited_for_ten_seconds),
		cmocka_unit_test(a_lost_connection_asks_again_later),
		cmocka_unit_test(an_answer_for_a_job_that_is_gone_takes_nothing),
		cmocka_unit_test(a_vm_that_is_there_is_not_asked_for),
		cmocka_unit_test(other_policies_ask_nobody),
		cmocka_unit_test(where_an_operator_wants_it_drs_is_not_asked),
		cmocka_unit_test(a_bounded_number_of_questions_is_under_way),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
