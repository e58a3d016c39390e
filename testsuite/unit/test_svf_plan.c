/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf plan: what it takes from sbatch's output, what it asks slurmctld for, and
 * what people see. The sbatch is the test's own.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "svf/verbs/sbatch.h"
#include "svf_stage.h"
#include "util/mem.h"

#define WHEN "Job 12 to start at 2026-11-22T00:10:00"
#define WHAT " using 8 processors on nodes vm[001-004] in partition roce"
#define LINE WHEN WHAT

static int64_t local(int hour, int min)
{
	struct tm tm = { .tm_year = 126, .tm_mon = 10, .tm_mday = 22,
			 .tm_hour = hour, .tm_min = min, .tm_isdst = -1 };

	return mktime(&tm);
}

static void its_line_is_found_among_others(void **state)
{
	static const char *const texts[] = {
		LINE, "sbatch: " LINE "\n",
		"sbatch: Job 12 is fine, says a filter\nsbatch: " LINE
		"\nsbatch:   Preempts: 7,9\n",
		"[2026-11-22T00:00:00] sbatch: " LINE "\r\n",
		"sbatch: " WHEN " a" WHAT "\n",		/* 25.05 */
		"sbatch: " WHEN " on cluster c1 a" WHAT "\n",
	};
	struct svf_sbatch b;

	(void)state;
	for (size_t i = 0; i < VS_COUNT(texts); i++) {
		memset(&b, 0, sizeof(b));
		assert_true(svf_sbatch_parse(texts[i], &b));
		assert_true(b.start == local(0, 10));
		assert_int_equal(b.cpus, 8);
		assert_string_equal(b.nodes, "vm[001-004]");
		assert_string_equal(b.partition, "roce");
	}
}

static void the_first_of_several_lines_counts(void **state)
{
	struct svf_sbatch b = { 0 };

	(void)state;
	assert_true(svf_sbatch_parse("Job 3 to start at Unknown using 2 processors on nodes vm1\nsbatch: " LINE, &b));
	assert_string_equal(b.nodes, "vm1");
	assert_string_equal(b.partition, "");
	assert_true(b.start == 0);	/* a time that is none */
}

static void what_is_not_its_line_is_no_answer(void **state)
{
	static const char *const texts[] = {
		"", "\n\n", "sbatch: error: Invalid feature specification",
		"Submitted batch job 12", "Job 12 to start at", "Job to start at x",
		"Job 12 to start at 2026-11-22T00:10:00 using many processors on nodes vm1",
		"Job 12 to start at 2026-11-22T00:10:00 using 8 processors on nodes ",
		"Job 99999999999 to start at 2026-11-22T00:10:00 using 8 processors on nodes vm1",
		"Job 12 to start at 2026-11-22T00:10:00 using 8 processors on\nnodes vm1",
		/* a heterogeneous job's */
		"Job 3 to start at 2026-11-22T00:10:00 using 2 processors on vm[1,3],x",
		"Job 12 to start at 2026-11-22T00:10:00 a\n using 8 processors on nodes vm1",
	};
	struct svf_sbatch b;

	(void)state;
	for (size_t i = 0; i < VS_COUNT(texts); i++)
		if (svf_sbatch_parse(texts[i], &b))
			fail_msg("taken: %s", texts[i]);
}

static void too_many_nodes_are_no_answer(void **state)
{
	VS_FREE struct svf_sbatch *b = vs_calloc(1, sizeof(*b));
	VS_FREE char *text = NULL, *nodes = vs_calloc(1, VS_CTL_NODES_MAX + 1);

	(void)state;
	memset(nodes, 'n', VS_CTL_NODES_MAX - 1);
	text = vs_asprintf("Job 1 to start at Unknown using 1 processors on nodes %s",
			   nodes);
	assert_true(svf_sbatch_parse(text, b));
	free(text);
	nodes[VS_CTL_NODES_MAX - 1] = 'n';
	text = vs_asprintf("Job 1 to start at Unknown using 1 processors on nodes %s",
			   nodes);
	assert_false(svf_sbatch_parse(text, b));
}

/* ---- the command ---------------------------------------------------------------- */

/* An sbatch that notes its words, and does `what`. */
static void sbatch_is(const char *what)
{
	VS_FREE char *path = path_of("sbatch"), *words = path_of("words");

	write_file("sbatch", "#!/bin/sh\nprintf '%%s|' \"$@\" >%s\n"
		   "%s\n", words, what);
	assert_int_equal(chmod(path, 0755), 0);
	snprintf(svf_path, sizeof(svf_path), "%s:/bin:/usr/bin", stage_dir);
}

static void expect_file(const char *name, const char *text)
{
	VS_FREE char *path = path_of(name);
	char got[1024];
	FILE *f = fopen(path, "re");

	assert_non_null(f);
	got[fread(got, 1, sizeof(got) - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(got, text);
}

static void its_options_are_sbatchs_and_the_core_is_asked_for_its_nodes(void **state)
{
	(void)state;
	sbatch_is("echo 'sbatch: " LINE "' >&2");
	assert_int_equal(svf("plan -N2-4 -n 8 -C a|b --json -w vm[1-2],vm4 -x vm3 --mem=4G"), 0);
	expect_file("words", "--test-only|--wrap=:|--nodes=2-4|--ntasks=8|"
		    "--constraint=a|b|--nodelist=vm[1-2],vm4|--exclude=vm3|"
		    "--mem=4G|");
	/* long forms, after svf's own; the last of one option counts */
	assert_int_equal(svf("--json plan --nodes=3 --ntasks 6 --constraint=c --partition=p --nodelist=n1 --exclude=n2 --mem 512 --time=10 --account=a --qos=q -N4"), 0);
	expect_file("words", "--test-only|--wrap=:|--nodes=4|--ntasks=6|"
		    "--constraint=c|--partition=p|--nodelist=n1|--exclude=n2|"
		    "--mem=512|--time=10|--account=a|--qos=q|");
	expect_in(out, "\"asked\": \"vm[001-004]\"");
	expect_in(out, "\"nodes\": \"vm[001-004]\"");
	expect_in(out, "\"starts_now\": false");
}

static const char report[] =
"{\"time\":4000000000,\"served\":true,\"nodes\":["
" {\"node\":\"vm001\",\"adapter\":\"sriov-roce\",\"action\":\"reuse\",\"steps\":[],"
"  \"host\":\"esx01\",\"pf\":\"0000:3b:00.0\",\"calls\":0,\"seconds\":0},"
" {\"node\":\"vm002\",\"adapter\":\"sriov-roce\",\"action\":\"clone\","
"  \"steps\":[\"clone\",\"power-on\"],"
"  \"host\":\"esx02\",\"pf\":\"0000:3b:00.0\",\"calls\":2,\"seconds\":32}],"
" \"unmanaged_nodes\":2,\"calls\":2,\"seconds\":32,\"measured\":true}";

static void people_see_what_is_done_for_each_node(void **state)
{
	(void)state;
	sbatch_is("echo 'sbatch: " LINE "' >&2");
	stage_report_text[PLAN] = report;
	assert_int_equal(svf("plan -N4"), 0);
	assert_string_equal(out,
"starts now on vm[001-004] in partition roce\n"
"NODE   ADAPTER     ACTION  HOST   PF            CALLS      TIME\n"
"vm001  sriov-roce  reuse   esx01  0000:3b:00.0      0  00:00:00\n"
"vm002  sriov-roce  clone   esx02  0000:3b:00.0      2  00:00:32\n"
"2 nodes need no VM\n"
"calls to vCenter that change something: 2\n"
"all nodes are up in about 00:00:32 (from recent durations)\n");
	assert_string_equal(errs, "");
}

static void calls_of_a_vcenter_that_made_no_clone_yet_have_a_most(void **state)
{
	(void)state;
	sbatch_is("echo 'sbatch: " LINE "' >&2");
	stage_report_text[PLAN] = "{\"time\":4000000000,\"served\":true,"
		"\"nodes\":[],\"calls\":4,\"calls_max\":8,\"seconds\":32}";
	assert_int_equal(svf("plan -N4"), 0);
	stage_report_text[PLAN] = NULL;
	expect_in(out, "calls to vCenter that change something: 4, at most 8 if "
		  "it refuses VFs or devices in a clone (not tried yet)\n");
}

static void people_see_what_a_job_would_wait_for(void **state)
{
	VS_FREE char *text = vs_asprintf(
		"{\"time\":%lld,\"served\":false,"
		"\"reason\":\"needs 4 sriov-roce VFs, 3 free\","
		"\"after_reclaim\":true,\"reclaimed_nodes\":[\"vm003\",\"vm\\u001b7\"],"
		"\"nodes\":[],\"calls\":0}",
		(long long)local(0, 0));

	(void)state;
	sbatch_is("echo 'sbatch: " LINE "' >&2");
	stage_report_text[PLAN] = text;
	assert_int_equal(svf("plan -N4"), 0);
	stage_report_text[PLAN] = NULL;
	assert_string_equal(out,
"waits: needs 4 sriov-roce VFs, 3 free\n"
"idle VMs are powered off for it first: vm003, vm?7\n"
"Slurm expects it to start at 2026-11-22T00:10:00 on vm[001-004] in partition roce\n");
}

static void what_waits_for_no_vf_waits_for_other_jobs(void **state)
{
	VS_FREE char *text = vs_asprintf(
		"{\"time\":%lld,\"served\":true,\"busy_nodes\":3,"
		"\"nodes\":[],\"calls\":0,\"seconds\":0}",
		(long long)local(0, 0));

	(void)state;
	sbatch_is("echo 'sbatch: " LINE "' >&2");
	stage_report_text[PLAN] = text;
	assert_int_equal(svf("plan -N4"), 0);
	stage_report_text[PLAN] = NULL;
	expect_in(out, "waits: 3 of its nodes run other jobs\n");
}

/* Slurm's time is later than now by the pending jobs alone. */
static void what_only_pending_jobs_delay_can_start_now(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	stage_report_text[PLAN] = "{\"time\":1789000000,\"served\":true,\"queued\":true,"
		"\"calls\":0,\"seconds\":600,\"measured\":false,\"nodes\":[]}";
	sbatch_is("echo 'sbatch: " LINE "' >&2");
	assert_int_equal(svf("plan -N1"), 0);
	expect_in(out, "can start now on vm[001-004] in partition roce: its nodes are idle, and vSphere has capacity\n"
		  "jobs before it are pending: Slurm may let them start first, and with their time limits expects it at 2");
	assert_null(strstr(out, "waits"));
	expect_in(out, "all nodes are up within ResumeTimeout, 00:10:00 (nothing was measured yet)\n");
	assert_int_equal(svf("plan -N1 --json"), 0);
	expect_in(out, "\"queued\": true");
	expect_in(out, "\"starts_now\": false");
}

/* As sbatch: of several it answers for the first. Only ib is free now. */
#define LATER " start at 2027-01-01T00:00:00 using 1 processors on nodes "
#define NOW " start at 2026-11-22T00:10:00 using 1 processors on nodes "
#define LADDER \
	"case \"$*\" in\n" \
	"*roce*) echo 'Job 1 to" LATER "vm1 in partition roce';;\n" \
	"*eth*) echo 'Job 2 to" LATER "vm2 in partition eth';;\n" \
	"*never*) echo 'error: never'; exit 1;;\n" \
	"*ib*) echo 'Job 3 to" NOW "vm3 in partition ib';;\n" \
	"*) echo \"Job 4 to" LATER "vm2 in partition ${SBATCH_PARTITION%%,*}\";;\nesac >&2"

static void the_first_partition_that_can_at_once_is_planned_for(void **state)
{
	VS_FREE char *text = vs_asprintf(
		"{\"time\":%lld,\"served\":true,\"nodes\":[],\"calls\":0,"
		"\"seconds\":0,\"measured\":true}",
		(long long)local(0, 10));

	(void)state;
	sbatch_is(LADDER);
	stage_report_text[PLAN] = text;
	assert_int_equal(svf("plan -p roce,eth,ib -N1"), 0);
	expect_file("words", "--test-only|--wrap=:|--nodes=1|--partition=ib|");
	expect_in(out, "starts now on vm3 in partition ib\n");
	assert_int_equal(svf("plan -p roce,never,ib -N1"), 0);
	expect_in(out, "starts now on vm3 in partition ib\n");
	setenv("SBATCH_PARTITION", "eth,ib", 1);
	assert_int_equal(svf("plan -N1"), 0);
	unsetenv("SBATCH_PARTITION");
	expect_in(out, "starts now on vm3 in partition ib\n");
	assert_int_equal(svf("plan -p roce,eth -N1"), 0);
	expect_in(out, "start at 2027-01-01T00:00:00 on vm1 in partition roce");
	stage_report_text[PLAN] = NULL;
}

static void what_slurm_has_against_it_is_one_line(void **state)
{
	(void)state;
	sbatch_is("echo 'sbatch: error: Invalid feature' >&2; "
		  "echo 'allocation failure: Bad\033[m constraints'; exit 1");
	assert_int_equal(svf("plan -C x"), 1);
	assert_string_equal(out, "");
	assert_string_equal(errs, "svf: Invalid feature; "
			    "allocation failure: Bad [m constraints\n");
	sbatch_is("echo 'allocation failure: Requested node configuration is not available'; exit 1");
	assert_int_equal(svf("plan -N9"), 1);
	expect_in(errs, "not available; --test-only minds only nodes that are in service now");
	/* -N0 */
	sbatch_is("echo 'sbatch: " WHEN " using 0 processors on nodes  in partition roce'");
	assert_int_equal(svf("plan -N0"), 1);
	assert_null(strstr(errs, "to start at"));
	expect_in(errs, "names no nodes");
	sbatch_is("exit 0");
	assert_int_equal(svf("plan -N1"), 1);
	assert_string_equal(errs, "svf: sbatch --test-only printed nothing\n");
}

/* ---- what is refused --------------------------------------------------------------- */

static void sbatchs_other_options_and_scripts_are_refused_by_name(void **state)
{
	static const struct { const char *words, *named; } refused[] = {
		{ "plan -N1 --gres=gpu:1", "unrecognized option '--gres=gpu:1'" },
		{ "plan --gres gpu:1 -N1", "unrecognized option '--gres'" },
		{ "plan -N1 -a 1-3 --exclusive", "invalid option -- 'a'" },
		{ "plan -N1 --mem-per-cpu=1G", "option '--mem-per-cpu=1G'" },
		{ "plan -N1 --wrap=true", "unrecognized option '--wrap=true'" },
		{ "plan --array=1-3 --hold -d singleton", "option '--array=1-3'" },
	};

	(void)state;
	sbatch_is("echo 'sbatch: " LINE "' >&2");
	for (size_t i = 0; i < VS_COUNT(refused); i++) {
		assert_int_equal(svf(refused[i].words), 2);
		assert_string_equal(out, "");
		expect_in(errs, refused[i].named);
	}
	assert_int_equal(svf("plan --gres=gpu:1"), 2);
	assert_string_equal(errs, "svf: unrecognized option '--gres=gpu:1'\n"
		"svf: plan: for other jobs, sbatch --test-only names the nodes, and svf plan -p PARTITION -w NODES shows the operations for them\n"
		"Try 'svf --help' for more information.\n");
	assert_int_equal(svf("plan -N1 job.sh"), 2);
	expect_in(errs, "svf: plan: 'job.sh': no script");
	assert_int_equal(svf("plan -N1 : -N1"), 2);
	expect_in(errs, "svf: plan: ':': no script and no heterogeneous job");
	assert_int_equal(svf("plan -N"), 2);
	expect_in(errs, "svf: option requires an argument -- 'N'\n");
}

static void brackets_and_counts_are_no_plan(void **state)
{
	static const char *const words[] = {
		"plan -C [a|b] -N2", "plan -N2 --constraint=[a*1&b*1]",
		"plan --constraint a*2",
	};

	(void)state;
	sbatch_is("echo 'sbatch: " LINE "' >&2");
	for (size_t i = 0; i < VS_COUNT(words); i++) {
		assert_int_equal(svf(words[i]), 1);
		assert_string_equal(out, "");
		expect_in(errs, "ignores brackets and counts");
	}
	setenv("SBATCH_CONSTRAINT", "[a|b]", 1);
	assert_int_equal(svf("plan -N2"), 1);
	expect_in(errs, "-C [a|b] can't be planned");
	assert_int_equal(svf("plan -N2 -C a|b"), 0);	/* it counts more */
	unsetenv("SBATCH_CONSTRAINT");
}

/* As the other verbs: sbatch is not run. */
static void without_slurm_conf_it_exits_as_other_verbs_do(void **state)
{
	VS_FREE char *path = path_of("slurm.conf");

	(void)state;
	sbatch_is("echo 'sbatch: fatal: Could not establish a configuration source' >&2; exit 1");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(svf("plan -N4"), 5);
	assert_string_equal(out, "");
	expect_in(errs, path);
	assert_null(strstr(errs, "sbatch"));
}

static void without_sbatch_or_words_it_says_so(void **state)
{
	(void)state;
	snprintf(svf_path, sizeof(svf_path), "/nowhere");
	assert_int_equal(svf("plan -N4"), 1);
	assert_string_equal(errs, "svf: sbatch was not found in PATH: it chooses the nodes\n");
	assert_int_equal(svf("plan"), 2);
	expect_in(errs, "the job's options are expected");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup(f, restart)
		cmocka_unit_test(its_line_is_found_among_others),
		cmocka_unit_test(the_first_of_several_lines_counts),
		cmocka_unit_test(what_is_not_its_line_is_no_answer),
		cmocka_unit_test(too_many_nodes_are_no_answer),
		T(its_options_are_sbatchs_and_the_core_is_asked_for_its_nodes),
		T(people_see_what_is_done_for_each_node),
		T(calls_of_a_vcenter_that_made_no_clone_yet_have_a_most),
		T(people_see_what_a_job_would_wait_for),
		T(what_waits_for_no_vf_waits_for_other_jobs),
		T(what_only_pending_jobs_delay_can_start_now),
		T(the_first_partition_that_can_at_once_is_planned_for),
		T(what_slurm_has_against_it_is_one_line),
		T(sbatchs_other_options_and_scripts_are_refused_by_name),
		T(brackets_and_counts_are_no_plan),
		T(without_slurm_conf_it_exits_as_other_verbs_do),
		T(without_sbatch_or_words_it_says_so),
	};

	signal(SIGPIPE, SIG_IGN);
	if (!freopen("/dev/null", "r", stdin))
		return 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, stage_open, stage_close);
}
