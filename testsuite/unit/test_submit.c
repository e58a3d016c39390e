/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_submit/vsphere: what it refuses, what it lets through, and what it costs
 * others. The sentences themselves: system/test_submit.py. */
#include "submit_stage.h"
#include "util/mem.h"

static void goes(void)
{
	assert_int_equal(submit(), 0);
	assert_null(said);
}

static void refused(int rc, const char *with)
{
	assert_int_equal(submit(), rc);
	assert_non_null(said);
	assert_non_null(strstr(said, with));
}

#define NEVER ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE

/* ---- whose business it is ---------------------------------------------------------- */

static void jobs_of_others_partitions_cost_one_look(void **state)
{
	(void)state;
	desc.partition = (char *)"metal";
	desc.min_nodes = 50;
	goes();
	goes();
	assert_int_equal(w.asked, 0);
	assert_int_equal(w.read, 0);
	assert_int_equal(w.asked_ids, 1);
}

static void others_constraints_are_slurms_affair(void **state)
{
	(void)state;
	desc.partition = (char *)"metal";
	desc.features = (char *)"tape";
	goes();
	constrain("bigmem");
	desc.min_nodes = 3;
	goes();
	assert_int_equal(w.read, 0);
}

static void without_a_core_nothing_is_said(void **state)
{
	(void)state;
	w.running = false;
	desc.features = (char *)"tape";
	goes();
}

static void a_federation_may_have_it_elsewhere(void **state)
{
	(void)state;
	w.federated = true;
	desc.features = (char *)"tape";
	goes();
}

static void a_reservation_may_bring_its_partition(void **state)
{
	(void)state;
	desc.reservation = (char *)"maint";
	desc.features = (char *)"tape";
	goes();
	desc.partition = (char *)"roce";
	refused(ESLURM_INVALID_FEATURE, "tape");
}

static void what_is_kept_follows_core_and_table(void **state)
{
	(void)state;
	goes();
	goes();
	assert_int_equal(w.asked_ids, 1);
	w.epoch++;
	goes();
	assert_int_equal(w.asked_ids, 2);
}

static void a_partition_that_is_not_there_is_slurms_affair(void **state)
{
	(void)state;
	constrain("sriov-roce&vmxnet3");
	desc.partition = (char *)"roce,nowhere";
	goes();
}

/* ---- names ------------------------------------------------------------------------- */

static void an_unknown_name_is_refused_before_slurm_reads_it(void **state)
{
	(void)state;
	desc.features = (char *)"[sriov-roce*2&vmxnet*1]";
	refused(ESLURM_INVALID_FEATURE, "\"vmxnet\": did you mean vmxnet3?");
	assert_int_equal(w.read, 0);
}

static void unless_slurm_was_told_not_to_look(void **state)
{
	(void)state;
	slurm_conf.sched_params =
		(char *)"ignore_constraint_validation,ignore_prefer_validation";
	desc.features = desc.prefer = (char *)"tape";
	goes();
}

static void what_users_write_cannot_end_a_line(void **state)
{
	(void)state;
	desc.features = (char *)"a\nerror: \"\033[1m";
	refused(ESLURM_INVALID_FEATURE, "\"a?error: ??\"");
}

static void what_slurm_cannot_read_is_explained(void **state)
{
	(void)state;
	constrain("sriov-roce");
	w.rc = ESLURM_INVALID_FEATURE;
	refused(ESLURM_INVALID_FEATURE, "write counts in one pair of brackets");
}

/* ---- nodes --------------------------------------------------------------------------- */

static void one_partition_of_several_will_do(void **state)
{
	(void)state;
	constrain("vmxnet3");
	desc.partition = (char *)"roce,metal,eth";
	goes();
	desc.partition = (char *)"roce,metal";
	refused(NEVER, "use -p eth or -p both");
}

static void hidden_partitions_are_named_to_nobody(void **state)
{
	(void)state;
	part("both")->allow_groups = (char *)"wheel";
	part("eth")->state_up = PARTITION_DOWN;
	constrain("vmxnet3");
	desc.partition = (char *)"roce";
	refused(NEVER, "no partition that is open to all users can run the job");
	assert_null(strstr(said, "hidden"));
}

static void a_closed_partitions_alternate_is_left_to_slurm(void **state)
{
	(void)state;
	constrain("vmxnet3");
	desc.partition = (char *)"roce";
	part("roce")->alternate = (char *)"eth";
	refused(NEVER, "no node of partition roce");
	part("roce")->state_up = PARTITION_DRAIN;
	goes();
	part("roce")->alternate = NULL;
	refused(NEVER, "no node of partition roce");
}

static void of_several_the_partition_that_is_nearest_is_told(void **state)
{
	(void)state;
	constrain("vmxnet3");
	desc.partition = (char *)"roce,eth";
	desc.min_nodes = 3;
	/* more than that partition has, which is for Slurm to say */
	goes();
	desc.partition = (char *)"roce,both";
	refused(NEVER, "partition both has 2 nodes");
}

static void what_is_too_large_for_a_partition_is_slurms_affair(void **state)
{
	(void)state;
	desc.partition = (char *)"roce";
	desc.min_nodes = 5;
	goes();
	assert_true(w.asked == 1 && w.more);
	w.vfs = 4;
	refused(NEVER, "can run 4");
	slurm_conf.enforce_part_limits = PARTITION_ENFORCE_ALL;
	goes();
}

static void the_hosts_hold_no_more_than_they_do(void **state)
{
	(void)state;
	w.vfs = 3;
	desc.min_nodes = 3;
	constrain("sriov-roce");
	goes();
	assert_false(w.more);
	desc.min_nodes = 4;
	refused(NEVER, "can run 3 (a VF of sriov-roce each)");
	w.vfs = 0;
	refused(NEVER, "no vSphere host can ever run a VM");
}

static void others_nodes_need_no_vm(void **state)
{
	(void)state;
	part("metal")->node_bitmap = bit_realloc(part("metal")->node_bitmap,
						 NODES);
	bit_nset(part("metal")->node_bitmap, 0, 7);
	part("metal")->total_nodes = 8;
	desc.partition = (char *)"metal";
	desc.min_nodes = 5;
	w.vfs = 3;
	goes();
	desc.min_nodes = 6;
	refused(NEVER, "can run 5");
	desc.min_nodes = 20;		/* it may get more of the others' */
	goes();
}

static void tasks_count_as_the_nodes_that_they_need(void **state)
{
	(void)state;
	constrain("sriov-roce");
	desc.num_tasks = 8;
	goes();
	desc.num_tasks = 9;
	refused(NEVER, "5 are needed for its tasks");
	desc.overcommit = 1;
	goes();
	desc.overcommit = NO_VAL8;
	desc.num_tasks = 4;
	desc.cpus_per_task = 3;		/* Slurm says that no node has them */
	goes();
	desc.cpus_per_task = NO_VAL16;
	desc.num_tasks = 5;
	desc.ntasks_per_node = 1;
	refused(NEVER, "5 are needed for its tasks");
}

static void what_is_excluded_does_not_count(void **state)
{
	(void)state;
	constrain("vmxnet3");
	desc.exc_nodes = (char *)"4";
	desc.min_nodes = 2;
	refused(NEVER, "has 1 node with");
	desc.features = NULL;		/* no constraint: Slurm says it */
	desc.exc_nodes = (char *)"012345";
	goes();
}

static void a_named_node_must_fit(void **state)
{
	(void)state;
	constrain("vmxnet3");
	desc.req_nodes = (char *)"4";
	goes();
	desc.req_nodes = (char *)"04";
	refused(NEVER, "node v0, which the job names");
}

/* ---- brackets and counts --------------------------------------------------------------- */

static void of_alternatives_one_must_do(void **state)
{
	(void)state;
	desc.features = (char *)"[vmxnet3|sriov-roce]";
	reads("vmxnet3", VS_FEATURE_XOR, 0, 0);
	reads("sriov-roce", FEATURE_OP_END, 0, 0);
	desc.min_nodes = 4;
	goes();
	desc.min_nodes = 5;
	refused(NEVER, "4 nodes with \"sriov-roce\", and 5 are asked for");
}

static void what_follows_the_brackets_is_no_alternative(void **state)
{
	(void)state;
	desc.features = (char *)"[vmxnet3|bigmem]&sriov-roce";
	reads("vmxnet3", VS_FEATURE_XOR, 0, 0);
	reads("bigmem", FEATURE_OP_AND, 0, 0);
	reads("sriov-roce", FEATURE_OP_END, 0, 0);
	refused(NEVER, "has \"");
}

static void counted(uint16_t roce, uint16_t eth)
{
	desc.features = (char *)"[sriov-roce*2&vmxnet3*2]";	/* or so */
	reads("sriov-roce", FEATURE_OP_XAND, roce, 0);
	reads("vmxnet3", FEATURE_OP_END, eth, 0);
}

static void each_count_must_be_there(void **state)
{
	(void)state;
	counted(4, 2);
	goes();
	desc.partition = (char *)"roce,eth";
	refused(NEVER, "and 2 are counted: use -p both");
}

static void too_high_a_count_is_told_of_its_kind(void **state)
{
	(void)state;
	counted(3, 3);
	refused(NEVER, "2 nodes with \"vmxnet3\", and 3 are counted");
}

static void counts_are_no_more_than_the_job_may_have(void **state)
{
	(void)state;
	counted(2, 2);
	desc.min_nodes = 2;
	desc.max_nodes = 3;
	refused(NEVER, "counts 4 nodes, and the job may have 3");
	desc.max_nodes = 4;
	goes();
}

static void what_is_in_parentheses_counts_as_one(void **state)
{
	(void)state;
	desc.features = (char *)"[(vmxnet3|bigmem)*2&sriov-roce*1]";
	reads("vmxnet3", FEATURE_OP_OR, 0, 1);
	reads("bigmem", FEATURE_OP_XAND, 2, 0);
	reads("sriov-roce", FEATURE_OP_END, 1, 0);
	goes();
	desc.partition = (char *)"roce";
	refused(NEVER, "0 nodes with \"vmxnet3|bigmem\", and 2 are counted");
}

static void counts_without_brackets_are_of_each_node(void **state)
{
	(void)state;
	desc.features = (char *)"sriov-roce*2&vmxnet3*2";
	reads("sriov-roce", FEATURE_OP_AND, 2, 0);
	reads("vmxnet3", FEATURE_OP_END, 2, 0);
	refused(ESLURM_INVALID_FEATURE, "write counts in one pair of brackets");
}

static void of_what_is_not_certain_nothing_is_said(void **state)
{
	(void)state;
	desc.features = (char *)"bigmem|[sriov-roce*5&vmxnet3*1]";
	reads("bigmem", FEATURE_OP_OR, 0, 0);
	reads("sriov-roce", FEATURE_OP_XAND, 5, 0);
	reads("vmxnet3", FEATURE_OP_END, 1, 0);
	goes();
}

/* ---- sharing ------------------------------------------------------------------------- */

static void a_vm_for_one_job_is_not_shared(void **state)
{
	(void)state;
	desc.partition = (char *)"fresh";
	part("fresh")->max_share = 0;
	goes();
	part("fresh")->max_share = 1;
	refused(NEVER, "submit with --exclusive");
	desc.shared = JOB_SHARED_NONE;
	goes();
	desc.shared = NO_VAL16;
	bit_set(part("fresh")->node_bitmap, 0);	/* it may run there */
	goes();
}

/* ---- updates --------------------------------------------------------------------------- */

static void updated(int rc)
{
	assert_int_equal(modify(1000), rc);
}

static void an_update_is_judged_with_what_stays(void **state)
{
	(void)state;
	reads("sriov-roce", FEATURE_OP_END, 0, 0);
	desc.partition = (char *)"eth";
	updated(NEVER);
	desc.partition = (char *)"both";
	updated(0);
	desc.partition = NULL;
	desc.min_nodes = desc.max_nodes = 4;
	updated(0);
	w.vfs = 3;
	updated(NEVER);
}

static void what_an_update_clears_is_gone(void **state)
{
	(void)state;
	desc.partition = (char *)"eth";
	desc.features = (char *)"";
	updated(0);
	assert_int_equal(w.read, 0);
}

static void what_does_not_concern_us_is_not_judged(void **state)
{
	(void)state;
	job.partition = (char *)"eth";		/* it can't run already */
	desc.priority = 7;
	updated(0);
	desc.min_nodes = 1;
	job.job_state = JOB_RUNNING;
	updated(0);
	assert_int_equal(w.read, 0);
}

static void who_may_not_update_learns_nothing(void **state)
{
	(void)state;
	reads("sriov-roce", FEATURE_OP_END, 0, 0);
	desc.partition = (char *)"eth";
	assert_int_equal(modify(1001), 0);
	assert_int_equal(w.read, 0);
	w.operator = true;
	assert_int_equal(modify(1001), NEVER);
}

/* ---- sizes ----------------------------------------------------------------------------- */

static void what_slurm_refuses_for_its_length_is_not_read(void **state)
{
	const struct { char **field; size_t most; } fields[] = {
		{ &desc.features, 1024 }, { &desc.prefer, 1024 },
		{ &desc.partition, 1024 }, { &desc.req_nodes, 64 * 1024 },
		{ &desc.exc_nodes, 64 * 1024 }, { &desc.licenses, 1024 },
	};
	size_t size = 1024 * 1024;
	VS_FREE char *text = vs_calloc(size + 1, 1);

	(void)state;
	for (size_t i = 0; i < VS_COUNT(fields); i++) {
		desc.features = (char *)"tape";
		desc.prefer = desc.req_nodes = desc.exc_nodes = NULL;
		desc.licenses = NULL;
		desc.partition = (char *)"roce";
		refused(ESLURM_INVALID_FEATURE, "tape");
		for (size_t at = 0; at < size; at += 5)
			memcpy(text + at, "roce,", MIN((size_t)5, size - at));
		*fields[i].field = text;
		w.asked_ids = w.read = w.found = 0;
		goes();
		assert_int_equal(w.found + w.read + w.asked_ids, 0);
		text[fields[i].most + 1] = '\0';	/* one byte too many */
		goes();
		assert_int_equal(w.found + w.read + w.asked_ids, 0);
	}
}

static void a_partition_that_is_named_often_is_judged_once(void **state)
{
	char often[1024] = "roce";

	(void)state;
	constrain("sriov-roce");
	desc.min_nodes = 4;
	w.vfs = 3;
	desc.partition = often;
	refused(NEVER, "roce");
	assert_int_equal(w.asked, 1);
	for (size_t n = 4; n + 5 < sizeof(often); n += 5)
		memcpy(often + n, ",roce", 6);
	w.asked = 0;
	refused(NEVER, "roce");
	assert_int_equal(w.asked, 1);
}

/* Slurm's own list of parts has no bound here: the words that are kept have. */
static void the_words_of_a_long_group_are_cut(void **state)
{
	struct vs_constraint c;

	(void)state;
	for (int i = 0; i < 50; i++)
		reads("sriov-roce", FEATURE_OP_OR, 0, 1);
	reads("sriov-roce", VS_FEATURE_XOR, 0, 0);
	assert_int_equal(vs_constraint_make(&c, "(...)", 1000), 0);
	assert_int_equal(c.n, 1);
	assert_true(strlen(c.groups[0].words) < VS_NAME_CLEAN_LEN + 64);
	vs_constraint_clear(&c);
}

static void alternative_licenses_are_refused_where_vfs_are_counted(void **state)
{
	(void)state;
	desc.licenses = (char *)"a|b";
	desc.partition = (char *)"roce";
	goes();
	slurm_conf.licenses = (char *)"a:1,b:1,vf:8";
	refused(ESLURM_INVALID_LICENSES, "ask for one of \"a|b\" (-L)");
	desc.licenses = (char *)"a,b";
	goes();
	desc.licenses = (char *)"a|b";
	desc.partition = (char *)"eth";		/* vmxnet3 has no VF */
	goes();
	slurm_conf.licenses = (char *)"a:1,b:1,vmxnet3:8";
	refused(ESLURM_INVALID_LICENSES, "partition eth");
	desc.partition = (char *)"metal";
	goes();
	/* and an update by which it would be one */
	desc.licenses = (char *)"a|b";
	desc.partition = NULL;
	slurm_conf.licenses = (char *)"vf:8";
	job.licenses = NULL;
	constrain("sriov-roce");
	desc.features = NULL;
	assert_int_equal(modify(1000), ESLURM_INVALID_LICENSES);
	slurm_conf.licenses = NULL;
}

static void a_named_node_that_is_excluded_has_its_adapter(void **state)
{
	(void)state;
	constrain("sriov-roce");
	desc.req_nodes = (char *)"1";
	desc.exc_nodes = (char *)"1";
	goes();
	desc.req_nodes = (char *)"14";		/* 4 has vmxnet3 */
	refused(NEVER, "does not have \"sriov-roce\" (its adapter is vmxnet3)");
}

/* Six nodes are asked for, four are there, the hosts hold three. */
static void the_number_that_is_named_will_do(void **state)
{
	(void)state;
	desc.partition = (char *)"roce";
	part("roce")->total_nodes = 6;
	constrain("sriov-roce");
	desc.min_nodes = desc.max_nodes = 6;
	w.vfs = 3;
	refused(NEVER, "ask for 3 at most (-N3)");
	w.vfs = NODES;
	refused(NEVER, "ask for 4 at most (-N4)");
	desc.min_nodes = desc.max_nodes = NO_VAL;
	desc.num_tasks = 11;		/* of two CPUs each */
	refused(NEVER, "ask for no more tasks than 4 nodes hold");
}

/* -n6 --ntasks-per-node=1, or -N6 with it, as sbatch since 23.02 sends both. */
static void nodes_and_their_tasks_are_made_fewer_together(void **state)
{
	(void)state;
	desc.partition = (char *)"roce";
	part("roce")->total_nodes = 6;
	constrain("sriov-roce");
	desc.min_nodes = desc.max_nodes = desc.num_tasks = 6;
	desc.ntasks_per_node = 1;
	w.vfs = NODES;
	refused(NEVER, "ask for 4 at most (-N4), with no more tasks than they hold");
	w.vfs = 1;
	refused(NEVER, "ask for 1 at most (-N1), with no more tasks than it holds");
	desc.ntasks_per_node = 6;	/* one node holds them */
	refused(NEVER, "ask for 1 at most (-N1)");
	assert_null(strstr(said, "tasks"));
}

static void a_users_entries_of_ours_are_dropped(void **state)
{
	(void)state;
	desc.spank_job_env = xcalloc(4, sizeof(char *));
	desc.spank_job_env[0] = xstrdup("SPANK_VSPHERE_0=vm001=esx01/x");
	desc.spank_job_env[2] = xstrdup("SPANK_HIS=1");	/* [1]: no byte */
	desc.spank_job_env_size = 3;
	goes();
	assert_int_equal(desc.spank_job_env_size, 1);
	assert_string_equal(desc.spank_job_env[0], "SPANK_HIS=1");
	assert_null(desc.spank_job_env[1]);
	xfree(desc.spank_job_env[0]);
	xfree(desc.spank_job_env);
	desc.spank_job_env_size = 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, stage_up, stage_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_slurm_refuses_for_its_length_is_not_read),
		TEST(a_partition_that_is_named_often_is_judged_once),
		TEST(the_words_of_a_long_group_are_cut),
		TEST(alternative_licenses_are_refused_where_vfs_are_counted),
		TEST(a_named_node_that_is_excluded_has_its_adapter),
		TEST(the_number_that_is_named_will_do),
		TEST(nodes_and_their_tasks_are_made_fewer_together),
		TEST(a_users_entries_of_ours_are_dropped),
		TEST(jobs_of_others_partitions_cost_one_look),
		TEST(others_constraints_are_slurms_affair),
		TEST(without_a_core_nothing_is_said),
		TEST(a_federation_may_have_it_elsewhere),
		TEST(a_reservation_may_bring_its_partition),
		TEST(what_is_kept_follows_core_and_table),
		TEST(a_partition_that_is_not_there_is_slurms_affair),
		TEST(an_unknown_name_is_refused_before_slurm_reads_it),
		TEST(unless_slurm_was_told_not_to_look),
		TEST(what_users_write_cannot_end_a_line),
		TEST(what_slurm_cannot_read_is_explained),
		TEST(one_partition_of_several_will_do),
		TEST(hidden_partitions_are_named_to_nobody),
		TEST(a_closed_partitions_alternate_is_left_to_slurm),
		TEST(of_several_the_partition_that_is_nearest_is_told),
		TEST(what_is_too_large_for_a_partition_is_slurms_affair),
		TEST(the_hosts_hold_no_more_than_they_do),
		TEST(others_nodes_need_no_vm),
		TEST(tasks_count_as_the_nodes_that_they_need),
		TEST(what_is_excluded_does_not_count),
		TEST(a_named_node_must_fit),
		TEST(of_alternatives_one_must_do),
		TEST(what_follows_the_brackets_is_no_alternative),
		TEST(each_count_must_be_there),
		TEST(too_high_a_count_is_told_of_its_kind),
		TEST(counts_are_no_more_than_the_job_may_have),
		TEST(what_is_in_parentheses_counts_as_one),
		TEST(counts_without_brackets_are_of_each_node),
		TEST(of_what_is_not_certain_nothing_is_said),
		TEST(a_vm_for_one_job_is_not_shared),
		TEST(an_update_is_judged_with_what_stays),
		TEST(what_an_update_clears_is_gone),
		TEST(what_does_not_concern_us_is_not_judged),
		TEST(who_may_not_update_learns_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
