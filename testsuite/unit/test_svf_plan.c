/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf plan: what it takes from sbatch's output, what it asks slurmctld for, and
 * what people see. The sbatch is the test's own.
 */
#include <setjmp.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "svf/sbatch.h"
#include "svf_stage.h"
#include "util/buf.h"
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
		assert_false(b.several);
	}
}

static void a_heterogeneous_jobs_line_names_no_partition(void **state)
{
	struct svf_sbatch b;

	(void)state;
	assert_true(svf_sbatch_parse("sbatch: Job 3 to start at 2026-11-22T00:10:00 using 2 processors on vm[1,3],x", &b));
	assert_string_equal(b.nodes, "vm[1,3],x");
	assert_string_equal(b.partition, "");
	assert_true(b.several);
	/* nor do two lines tell of one job */
	assert_true(svf_sbatch_parse("sbatch: " LINE "\nsbatch: " LINE, &b));
	assert_true(b.several);
	/* a time that is none */
	assert_true(svf_sbatch_parse("Job 3 to start at Unknown using 2 processors on vm1", &b));
	assert_true(b.start == 0);
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
	text = vs_asprintf("Job 1 to start at Unknown using 1 processors on %s",
			   nodes);
	assert_true(svf_sbatch_parse(text, b));
	free(text);
	nodes[VS_CTL_NODES_MAX - 1] = 'n';
	text = vs_asprintf("Job 1 to start at Unknown using 1 processors on %s",
			   nodes);
	assert_false(svf_sbatch_parse(text, b));
}

static void expect_partitions(const char *words, const char *list,
			      const char *others)
{
	VS_FREE char *copy = vs_strdup(words), *got = NULL;
	char *argv[16], *rest[16], *save = NULL;
	struct vs_buf left = VS_BUF_INIT(256);
	struct svf_job job;
	int n = 0, nrest = 0;

	for (char *w = strtok_r(copy, " ", &save); w;
	     w = strtok_r(NULL, " ", &save))
		argv[n++] = w;
	assert_int_equal(svf_job_read(&job, argv, n, NULL), 0);
	got = svf_partitions(&job, rest, &nrest);
	svf_job_free(&job);
	if ((!list) != (!got) || (list && strcmp(got, list)))
		fail_msg("%s: %s, not %s", words, got ? got : "none",
			 list ? list : "none");
	for (int i = 0; i < nrest; i++)
		vs_buf_printf(&left, "%s%s", i ? " " : "", rest[i]);
	assert_string_equal(left.data ? left.data : "", others);
	vs_buf_free(&left);
}

static void several_partitions_are_read_as_sbatch_does(void **state)
{
	VS_FREE char *job = path_of("job.sh"), *words = NULL, *left = NULL;

	(void)state;
	expect_partitions("-N2 -p roce,eth -n 4", "roce,eth", "-N2 -n 4");
	expect_partitions("-proce,eth", "roce,eth", "");
	expect_partitions("--partition roce,eth -p a,b", "a,b", "");
	expect_partitions("--part=roce,eth", "roce,eth", "");
	expect_partitions("-p roce,eth --partition=a", NULL, "");
	expect_partitions("-N2 -p", NULL, "-N2 -p");	/* sbatch says so */
	write_file("job.sh", "#!/bin/sh\n# a remark\n\n#SBATCH -N2 -p a,b\n"
		   "#SBATCH --partition c,d\ntrue\n#SBATCH -p e,f\n");
	words = vs_asprintf("-N3 %s -p g,h", job);
	left = vs_asprintf("-N3 %s -p g,h", job);
	expect_partitions(words, "c,d", left);
	setenv("SBATCH_PARTITION", "x,y", 1);
	expect_partitions(words, "x,y", left);
	expect_partitions("-N1", "x,y", "-N1");
	expect_partitions("-p a,b", "a,b", "");
	unsetenv("SBATCH_PARTITION");
}

static void a_partition_leaves_its_list(void **state)
{
	char list[] = "a,b,ab";

	(void)state;
	assert_true(svf_partition_drop(list, "b"));
	assert_string_equal(list, "a,ab");
	assert_false(svf_partition_drop(list, "c"));
	assert_true(svf_partition_drop(list, "a"));
	assert_false(svf_partition_drop(list, "ab"));
	assert_string_equal(list, "");
}

/* ---- the command ---------------------------------------------------------------- */

/* An sbatch that notes its words and its script, and does `what`. */
static void sbatch_is(const char *what)
{
	VS_FREE char *path = path_of("sbatch"), *words = path_of("words");
	VS_FREE char *script = path_of("script");

	write_file("sbatch", "#!/bin/sh\nprintf '%%s|' \"$@\" >%s\n"
		   "cat >%s\n%s\n", words, script, what);
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

static void its_words_are_sbatchs_and_the_core_is_asked_for_its_nodes(void **state)
{
	(void)state;
	sbatch_is("echo 'sbatch: " LINE "' >&2");
	assert_int_equal(svf("plan -N4 -n 8 -C a|b --json job.sh -j"), 0);
	expect_file("words", "--test-only|-N4|-n|8|-C|a|b|job.sh|-j|");
	expect_file("script", "#!/bin/sh\n");
	expect_in(out, "\"asked\": \"vm[001-004]\"");
	expect_in(out, "\"nodes\": \"vm[001-004]\"");
	expect_in(out, "\"starts_now\": false");
}

static const char report[] =
"{\"time\":4000000000,\"served\":true,\"nodes\":["
" {\"node\":\"vm001\",\"adapter\":\"sriov-roce\",\"do\":\"reuse\",\"steps\":[],"
"  \"host\":\"esx01\",\"pf\":\"0000:3b:00.0\",\"calls\":0,\"seconds\":0},"
" {\"node\":\"vm002\",\"adapter\":\"sriov-roce\",\"do\":\"clone\","
"  \"steps\":[\"clone\",\"power-on\"],"
"  \"host\":\"esx02\",\"pf\":\"0000:3b:00.0\",\"calls\":2,\"seconds\":32}],"
" \"others\":2,\"calls\":2,\"seconds\":32,\"measured\":true}";

static void people_see_what_is_done_for_each_node(void **state)
{
	(void)state;
	sbatch_is("echo 'sbatch: " LINE "' >&2");
	stage_report_text[PLAN] = report;
	assert_int_equal(svf("plan job.sh"), 0);
	assert_string_equal(out,
"starts now on vm[001-004] in partition roce\n"
"NODE   ADAPTER     DO     HOST   PF            CALLS  SECONDS\n"
"vm001  sriov-roce  reuse  esx01  0000:3b:00.0      0        0\n"
"vm002  sriov-roce  clone  esx02  0000:3b:00.0      2       32\n"
"2 nodes need no VM\n"
"calls to vCenter that change something: 2\n"
"all nodes are up in about 32 s (as it took lately)\n");
	assert_string_equal(errs, "");
}

static void people_see_what_a_job_would_wait_for(void **state)
{
	VS_FREE char *text = vs_asprintf(
		"{\"time\":%lld,\"served\":false,"
		"\"text\":\"needs 4 sriov-roce VFs on 4 nodes, 3 free\","
		"\"after_idle\":true,\"give_way\":[\"vm003\",\"vm\\u001b7\"],"
		"\"nodes\":[],\"calls\":0}",
		(long long)local(0, 0));

	(void)state;
	sbatch_is("echo 'sbatch: " LINE "' >&2");
	stage_report_text[PLAN] = text;
	assert_int_equal(svf("plan job.sh"), 0);
	stage_report_text[PLAN] = NULL;
	assert_string_equal(out,
"waits: needs 4 sriov-roce VFs on 4 nodes, 3 free\n"
"idle VMs give way for it first: vm003, vm?7\n"
"Slurm expects it to start at 2026-11-22T00:10:00 on vm[001-004] in partition roce\n");
}

static void what_waits_for_no_vf_waits_for_other_jobs(void **state)
{
	VS_FREE char *text = vs_asprintf(
		"{\"time\":%lld,\"served\":true,\"busy\":3,"
		"\"nodes\":[],\"calls\":0,\"seconds\":0}",
		(long long)local(0, 0));

	(void)state;
	sbatch_is("echo 'sbatch: " LINE "' >&2");
	stage_report_text[PLAN] = text;
	assert_int_equal(svf("plan job.sh"), 0);
	stage_report_text[PLAN] = NULL;
	expect_in(out, "waits: 3 of its nodes have other jobs\n");
}

/* As sbatch: of several it answers for the first. Only ib is free now. */
#define LATER " start at 2027-01-01T00:00:00 using 1 processors on nodes "
#define NOW " start at 2026-11-22T00:10:00 using 1 processors on nodes "
#define LADDER \
	"case \"$*\" in\n" \
	"*roce*) echo 'Job 1 to" LATER "vm1 in partition roce';;\n" \
	"*eth*) echo 'Job 2 to" LATER "vm2 in partition eth';;\n" \
	"*ib*) echo 'Job 3 to" NOW "vm3 in partition ib';;\nesac >&2"

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
	expect_file("words", "--test-only|--partition=ib|-N1|");
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
	assert_int_equal(svf("plan --quiet job.sh"), 1);
	expect_in(errs, "leave out --quiet");
}

/* ---- what --test-only doesn't know ------------------------------------------------ */

/* The union of their nodes is no gang. */
static void a_heterogeneous_job_is_no_plan(void **state)
{
	(void)state;
	sbatch_is("echo 'sbatch: " WHEN " using 4 processors on vm[001-002]' >&2");
	assert_int_equal(svf("plan -N1 : -N1"), 1);
	assert_string_equal(out, "");
	expect_in(errs, "svf: a heterogeneous job can't be planned");
}

static void brackets_and_counts_are_no_plan(void **state)
{
	static const char *const words[] = {
		"plan -C [a|b] -N2", "plan -N2 --constraint=[a*1&b*1]",
		"plan --const a*2",
	};
	VS_FREE char *job = path_of("job.sh"), *script = NULL;

	(void)state;
	sbatch_is("echo 'sbatch: " LINE "' >&2");
	for (size_t i = 0; i < VS_COUNT(words); i++) {
		assert_int_equal(svf(words[i]), 1);
		assert_string_equal(out, "");
		expect_in(errs, "minds neither brackets nor counts");
	}
	write_file("job.sh", "#!/bin/sh\n#SBATCH -N2 -C \"[a|b]\"\ntrue\n");
	script = vs_asprintf("plan %s", job);
	assert_int_equal(svf(script), 1);
	free(script);
	script = vs_asprintf("plan -C a|b %s", job);	/* it counts more */
	assert_int_equal(svf(script), 0);
}

static void expect_notes(const char *words, const char *notes)
{
	VS_FREE char *line = vs_asprintf("plan %s", words);

	assert_int_equal(svf(line), 0);
	assert_string_equal(errs, notes);
}

#define ARRAY "note: this is one task of the array: what all of them find together is not planned\n"
#define HELD "note: the job would be held: this is what it would find if it were released now\n"
#define DEPENDS "note: this is as if what the job depends on were over\n"
#define BEGINS "note: VMs and VFs are those of now, not of the begin time\n"
#define LICENSES "note: this is as if its licenses were free\n"

static void what_is_not_looked_at_is_noted(void **state)
{
	VS_FREE char *job = path_of("job.sh"), *script = NULL;

	(void)state;
	sbatch_is("echo 'sbatch: " LINE "' >&2");
	expect_notes("-N1", "");
	expect_notes("-N1 -a 1-3", ARRAY);
	expect_notes("--array=1-3 --hold", ARRAY HELD);
	expect_notes("-H -d singleton -bnow+1hour", HELD DEPENDS BEGINS);
	expect_notes("--dep=afterok:1 -L tool:1", DEPENDS LICENSES);
	write_file("job.sh", "#!/bin/sh\n#SBATCH --licenses tool:1\n"
		   "#SBATCH -H\n\ntrue\n#SBATCH -a 1\n");
	script = vs_asprintf("-N1 %s -a 1", job);	/* the script's own */
	expect_notes(script, HELD LICENSES);
	assert_int_equal(svf("--json plan -N1 -H"), 0);
	expect_in(out, "\"the job would be held");
	assert_string_equal(errs, "");
}

/* ---- stdin ------------------------------------------------------------------------- */

/* It has the partitions from the script. */
#define ON_STDIN \
	"case \"$*\" in\n" \
	"*=eth,ib) echo 'Job 2 to" LATER "vm2 in partition eth';;\n" \
	"*=ib) echo 'Job 3 to" NOW "vm3 in partition ib';;\n" \
	"*) echo 'Job 1 to" LATER "vm1 in partition roce';;\nesac >&2"
#define TEXT "#!/bin/sh\n#SBATCH -p roce,eth,ib -H\ntrue\n"

static void a_script_on_stdin_is_sbatchs_each_time_it_is_asked(void **state)
{
	VS_FREE char *path = path_of("in"), *job = path_of("job.sh");
	VS_FREE char *line = vs_asprintf("plan %s", job);

	(void)state;
	sbatch_is(ON_STDIN);
	write_file("in", "%s", TEXT);
	snprintf(svf_stdin, sizeof(svf_stdin), "%s", path);
	assert_int_equal(svf("plan"), 0);
	expect_file("words", "--test-only|--partition=ib|");
	expect_file("script", TEXT);
	expect_in(errs, HELD);
	/* not where another one is named */
	write_file("job.sh", "#!/bin/sh\ntrue\n");
	assert_int_equal(svf(line), 0);
	expect_file("script", "#!/bin/sh\n");
	assert_int_equal(svf("plan --wrap=true"), 0);
	expect_file("script", "#!/bin/sh\n");
	assert_string_equal(errs, "");
}

static void nobody_waits_for_a_script_that_does_not_come(void **state)
{
	VS_FREE char *path = path_of("fifo");
	int fd;

	(void)state;
	sbatch_is("echo 'sbatch: " LINE "' >&2");
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	snprintf(svf_stdin, sizeof(svf_stdin), "%s", path);
	assert_int_equal(svf("plan -N1"), 1);
	expect_in(errs, "svf: sbatch would read a script from stdin, and none comes there");
	close(fd);
}

static void without_sbatch_or_words_it_says_so(void **state)
{
	(void)state;
	snprintf(svf_path, sizeof(svf_path), "/nowhere");
	assert_int_equal(svf("plan job.sh"), 1);
	assert_string_equal(errs, "svf: sbatch was not found in PATH: it chooses the nodes\n");
	assert_int_equal(svf("plan"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup(f, restart)
		cmocka_unit_test(its_line_is_found_among_others),
		cmocka_unit_test(a_heterogeneous_jobs_line_names_no_partition),
		cmocka_unit_test(what_is_not_its_line_is_no_answer),
		cmocka_unit_test(too_many_nodes_are_no_answer),
		T(several_partitions_are_read_as_sbatch_does),
		cmocka_unit_test(a_partition_leaves_its_list),
		T(its_words_are_sbatchs_and_the_core_is_asked_for_its_nodes),
		T(people_see_what_is_done_for_each_node),
		T(people_see_what_a_job_would_wait_for),
		T(what_waits_for_no_vf_waits_for_other_jobs),
		T(the_first_partition_that_can_at_once_is_planned_for),
		T(what_slurm_has_against_it_is_one_line),
		T(a_heterogeneous_job_is_no_plan),
		T(brackets_and_counts_are_no_plan),
		T(what_is_not_looked_at_is_noted),
		T(a_script_on_stdin_is_sbatchs_each_time_it_is_asked),
		T(nobody_waits_for_a_script_that_does_not_come),
		T(without_sbatch_or_words_it_says_so),
	};

	signal(SIGPIPE, SIG_IGN);
	if (!freopen("/dev/null", "r", stdin))
		return 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, stage_open, stage_close);
}
