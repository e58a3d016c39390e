/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which columns svf shows, in which order and colour, and what it says of them
 * in --help and the man page. Expected texts are written by hand from svf(1).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* strptime */
#endif
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cmocka_range.h"

#include "svf_stage.h"
#include "util/json.h"
#include "util/mem.h"

static const char hosts_text[] =
"{\"hosts\":["
" {\"host\":\"esx1\",\"cluster\":\"HPC1\",\"state\":\"UP\",\"leaf\":\"leaf1\","
"  \"pfs\":[{\"pci\":\"0000:3b:00.0\",\"total\":8,\"managed\":2,\"free\":6}],"
"  \"pfs_total\":1,\"vfs_total\":8,\"vfs_managed\":2,"
"  \"vfs_foreign\":0,\"vfs_reserved\":0,\"vfs_free\":6},"
" {\"host\":\"esx2\",\"state\":\"QUARANTINED\",\"reasons\":[\"vm7 failed\"],"
"  \"pfs\":[{\"pci\":\"0000:3b:00.0\",\"total\":16,\"free\":16}],"
"  \"pfs_total\":1,\"vfs_total\":16,\"vfs_managed\":0,"
"  \"vfs_foreign\":0,\"vfs_reserved\":0,\"vfs_free\":16},"
" {\"host\":\"esx10\",\"state\":\"UP\","
"  \"pfs\":[{\"pci\":\"0000:3b:00.0\",\"total\":16,\"unknown\":true}],"
"  \"pfs_total\":1,\"vfs_total\":16,\"vfs_managed\":0,"
"  \"vfs_foreign\":0,\"vfs_reserved\":0}]}";

static void fields_and_widths_are_chosen_as_in_squeue(void **state)
{
	(void)state;
	stage_report_text[HOSTS] = hosts_text;
	assert_int_equal(svf("hosts -O host,free,vfs:5"), 0);
	assert_string_equal(out,
"HOST   FREE    VFS\n"
"esx1      6      8\n"
"esx2     16     16\n"
"esx10     ?     16\n");
	assert_int_equal(svf("-O STATE:4,host:.7 -h hosts"), 0);
	assert_string_equal(out, "UP       esx1\n"
			    "QUAR     esx2\n"
			    "UP      esx10\n");
	assert_int_equal(svf("hosts --Format=leaf,host -h esx1"), 0);
	assert_string_equal(out, "leaf1  esx1\n");
	assert_int_equal(svf("hosts --Format ALL -h esx1"), 0);
	assert_string_equal(out,
		"esx1  HPC1  leaf1  UP  1  8  2  0  0  6  -  -  -  0/0\n");
	assert_int_equal(svf("hosts --pfs -Onuma,pf esx1"), 0);
	assert_string_equal(out, "NUMA  PF\n   -  0000:3b:00.0\n");
}

/* A GPU is no VF: it has a column of its own, where there is one at all. */
static void devices_are_counted_apart_from_vfs(void **state)
{
	(void)state;
	stage_report_text[HOSTS] =
"{\"hosts\":[{\"host\":\"esx1\",\"state\":\"UP\",\"pfs\":["
" {\"pci\":\"0000:3b:00.0\",\"total\":8,\"managed\":2,\"free\":6},"
" {\"pci\":\"0000:65:00.0\",\"device\":\"10de:20b0\",\"label\":\"a\","
"  \"total\":2,\"managed\":1,\"free\":1}],"
"  \"pfs_total\":1,\"vfs_total\":8,\"vfs_managed\":2,"
"  \"vfs_foreign\":0,\"vfs_reserved\":0,\"vfs_free\":6,"
"  \"devices_total\":2,\"devices_free\":1},"
" {\"host\":\"esx2\",\"state\":\"UP\",\"pfs\":["
" {\"pci\":\"0000:65:00.0\",\"device\":\"10de:20b0\",\"total\":1,"
"  \"unknown\":true}],\"devices_total\":1,"
"  \"pfs_total\":0,\"vfs_total\":0,\"vfs_managed\":0,"
"  \"vfs_foreign\":0,\"vfs_reserved\":0,\"vfs_free\":0},"
" {\"host\":\"esx3\",\"state\":\"UP\",\"pfs\":[],"
"  \"pfs_total\":0,\"vfs_total\":0,\"vfs_managed\":0,"
"  \"vfs_foreign\":0,\"vfs_reserved\":0,\"vfs_free\":0}]}";
	assert_int_equal(svf("hosts"), 0);
	assert_string_equal(out,
"HOST  STATE  PFS  VFS  MANAGED  FOREIGN  RESERVED  FREE  DEVICES(FREE/TOTAL)  REASON\n"
"esx1  UP       1    8        2        0         0     6                  1/2\n"
"esx2  UP       0    0        0        0         0     0                  ?/1\n"
"esx3  UP       0    0        0        0         0     0                    -\n");
	assert_int_equal(svf("hosts --pfs -h -O pf,device,vfs,free esx1"), 0);
	assert_string_equal(out,
		"0000:3b:00.0  -            8  6\n"
		"0000:65:00.0  10de:20b0/a  2  1\n");
	assert_int_equal(svf("hosts -h -O devices,host esx3"), 0);
	assert_string_equal(out, "-  esx3\n");	/* chosen, it is there */
}

static void jobs_say_how_long_they_waited(void **state)
{
	(void)state;
	stage_report_text[JOBS] =
"{\"jobs\":["
" {\"job\":12,\"id\":\"12\",\"state\":\"RUNNING\",\"nodes\":[\"vm1\"],"
"  \"vfs\":1,\"devices\":2,\"wait_time_s\":65,\"provision_time_s\":0},"
" {\"job\":13,\"id\":\"13\",\"state\":\"PENDING\",\"wait_time_s\":7200}]}";
	assert_int_equal(svf("jobs -O jobid,vfs,devices,wait_time,provision_time"), 0);
	assert_string_equal(out,
		"JOBID  VFS  DEVICES  WAIT_TIME  PROVISION_TIME\n"
		"12       1        2   00:01:05        00:00:00\n"
		"13       -        -   02:00:00               -\n");
	assert_int_equal(svf("jobs"), 0);
	assert_non_null(strstr(out, "WAIT_TIME  PROVISION_TIME  START_TIME"));
	assert_non_null(strstr(out, "VFS  DEVICES  PROVISIONING"));
}

static void a_field_that_there_is_not_names_those_there_are(void **state)
{
	static const char *const bad[] = {
		"hosts -O host,nic", "hosts -O host,", "hosts -O host:0",
		"hosts -O host:x", "hosts -O host:5x", "hosts -O host:1001",
		"hosts -O host:", "hosts -O", "hosts --Format=", "hosts --sort",
		"hosts --sort=nic", "hosts --sort=host:3", "status -O vcenter",
		"hosts --json -O host", "conf -O key", "hosts --color=red",
	};

	(void)state;
	stage_report_text[HOSTS] = hosts_text;
	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		if (svf(bad[i]) != 2)
			fail_msg("svf %s: not 2: %s", bad[i], errs);
		assert_string_equal(out, "");
		assert_true(errs[0]);
	}
	assert_int_equal(svf("nodes -O host,nic"), 2);
	assert_string_equal(errs,
"svf: nodes: there is no field 'nic'; there are: node, vm_state, node_state, host, pf, mac, adapter, partition, jobid, action, request, error\n"
"Try 'svf --help' for more information.\n");
}

static void a_removed_option_names_what_is_used_instead(void **state)
{
	static const struct { const char *words, *said; } gone[] = {
		{ "hosts --watch", "svf: unrecognized option '--watch'\nsvf: --watch was removed: -i SECONDS (--iterate=SECONDS) prints the answer again and again, as squeue -i does\nTry 'svf --help' for more information.\n" },
		{ "--watch=5 hosts", "svf: unrecognized option '--watch=5'\nsvf: --watch was removed: -i SECONDS" },
		{ "hosts -o host", "svf: invalid option -- 'o'\nsvf: -o was removed: -O FIELDS (--Format=FIELDS) chooses columns, as squeue -O does\n" },
		{ "hosts -ohost", "svf: invalid option -- 'o'\nsvf: -o was removed: -O FIELDS" },
		{ "--format host hosts", "svf: unrecognized option '--format'\nsvf: --format was removed: -O FIELDS" },
		{ "hosts --format=host", "svf: unrecognized option '--format=host'\nsvf: --format was removed: -O FIELDS" },
	};

	(void)state;
	stage_report_text[HOSTS] = hosts_text;
	for (size_t i = 0; i < VS_COUNT(gone); i++) {
		assert_int_equal(svf(gone[i].words), 2);
		assert_string_equal(out, "");
		if (strncmp(errs, gone[i].said, strlen(gone[i].said)))
			fail_msg("svf %s: %s", gone[i].words, errs);
	}
	assert_int_equal(svf("hosts --watching"), 2);
	assert_string_equal(errs, "svf: unrecognized option '--watching'\n"
			    "Try 'svf --help' for more information.\n");
}

static void lines_are_sorted_by_fields_that_need_not_be_shown(void **state)
{
	(void)state;
	stage_report_text[HOSTS] = hosts_text;
	assert_int_equal(svf("hosts -h -O host --sort=-host"), 0);
	assert_string_equal(out, "esx10\nesx2\nesx1\n");
	assert_int_equal(svf("hosts -h -O host -S vfs,-host"), 0);
	assert_string_equal(out, "esx1\nesx10\nesx2\n");
}

/* ---- again and again -------------------------------------------------------------- */

static void expect_line(FILE *f, const char *text)
{
	char line[128];

	assert_non_null(fgets(line, sizeof(line), f));
	assert_string_equal(line, text);
}

/* As squeue -i: "Sun Nov 22 00:10:00 2026", at most a minute ago. */
static void expect_time(FILE *f)
{
	char line[128];
	struct tm tm = { .tm_isdst = -1 };
	const char *end;

	assert_non_null(fgets(line, sizeof(line), f));
	end = strptime(line, "%a %b %d %T %Y", &tm);
	if (!end || strcmp(end, "\n"))
		fail_msg("no time: %s", line);
	tm.tm_isdst = -1;
	assert_uint_in_range(time(NULL) - mktime(&tm), 0, 60);
}

static void end(FILE *f, pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	fclose(f);
}

static void an_answer_comes_again_after_the_time_and_an_empty_line(void **state)
{
	pid_t pid;
	FILE *f;

	(void)state;
	stage_report_text[HOSTS] = hosts_text;
	f = svf_open("hosts esx1 -i 1 -O host", &pid);
	for (int i = 0; i < 2; i++) {
		expect_time(f);
		expect_line(f, "HOST\n");
		expect_line(f, "esx1\n");
		expect_line(f, "\n");
	}
	end(f, pid);
	f = svf_open("hosts esx1 --iterate=1 -h -O host", &pid);
	for (int i = 0; i < 2; i++) {
		expect_line(f, "esx1\n");
		expect_line(f, "\n");
	}
	end(f, pid);
	f = svf_open("--json --iterate 1 hosts", &pid);
	expect_line(f, "{\n");
	end(f, pid);
}

static void it_continues_while_nobody_answers_and_ends_at_once_where_it_is_wrong(void **state)
{
	static const char *const bad[] = { "hosts -i 0", "hosts -i x", "hosts -i",
		"hosts --iterate=5x", "reconcile --confirm -i 5", "adopt -i 5",
		"top -i 0", "hosts -i 1 -O nic" };
	pid_t pid;
	FILE *f;

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bad); i++)
		if (svf(bad[i]) != 2)
			fail_msg("svf %s: not 2: %s", bad[i], errs);
	write_file("slurm.conf", "ClusterName=c\nSlurmUser=no-such-user\n");
	assert_int_equal(svf("hosts -i 1"), 5);
	restart(NULL);
	vs_control_stop();
	f = svf_open("hosts -i 1", &pid);
	for (int i = 0; i < 2; i++) {
		expect_time(f);
		expect_line(f, "\n");
	}
	end(f, pid);
}

static void states_that_need_an_eye_are_coloured_if_asked(void **state)
{
	(void)state;
	stage_report_text[HOSTS] = hosts_text;
	assert_int_equal(svf("hosts -O state,reason,host --color=always"), 0);
	assert_string_equal(out,
"STATE        REASON      HOST\n"
"UP                       esx1\n"
"\033[31mQUARANTINED\033[0m  \033[31mvm7 failed\033[0m  esx2\n"
"UP                       esx10\n");
	stage_report_text[NODES] =
"{\"nodes\":[{\"node\":\"vm1\",\"vm_state\":\"ON\",\"node_state\":\"IDLE+DRAIN\"}]}";
	assert_int_equal(svf("nodes -h -O node_state --color"), 0);
	assert_string_equal(out, "\033[33mIDLE+DRAIN\033[0m\n");
	assert_int_equal(svf("nodes -h -O node_state"), 0);
	assert_string_equal(out, "IDLE+DRAIN\n");
}

/* All verbs there are, by what the man page is made of. */
static void each_verb_says_what_it_is_and_its_fields(void **state)
{
	VS_FREE char *tables = NULL;
	char *save = NULL;
	int verbs = 0;

	(void)state;
	assert_int_equal(svf("--tables"), 0);
	assert_null(strstr(out, "\n\n"));
	expect_in(out, "\nfield\tleaf\t0\tits leaf switch");
	expect_in(out, "\noption\t-O\t--Format\tFIELDS\t");
	expect_in(out, "\nexit\t3\tslurmctld or vCenter does not answer");
	tables = vs_strdup(out);
	for (char *l = strtok_r(tables, "\n", &save); l;
	     l = strtok_r(NULL, "\n", &save)) {
		VS_FREE char *words = NULL, *head = NULL;
		int len = (int)strcspn(l + 5, "\t");

		if (strncmp(l, "verb\t", 5))
			continue;
		words = vs_asprintf("%.*s --help", len, l + 5);
		head = vs_asprintf("usage: svf %.*s [OPTION...]", len, l + 5);
		assert_int_equal(svf(words), 0);
		expect_in(out, head);
		verbs++;
	}
	assert_uint_in_range(verbs, 12, 40);
	assert_int_equal(svf("hosts --help"), 0);
	expect_in(out, "\n   leaf        its leaf switch");
	expect_in(out, "\n  *free        the rest");
	expect_in(out, "\nFields of -O and --sort with --pfs:\n");
	assert_int_equal(svf("jobs --help"), 0);
	expect_in(out, "\n  *provisioning\n               nodes that are not up yet");
}

/* With the same exit code as without. */
static void each_verb_has_json(void **state)
{
	static const char *const asked[] = { "hosts", "nodes", "jobs",
		"why 4711", "status", "reconcile", "reconcile --confirm", "adopt", "vm forget vm1",
		"host drain esx1", "host resume esx1", "conf --keys", "check --codes" };
	struct vs_jdoc doc;

	(void)state;
	for (size_t i = 0; i < VS_COUNT(asked); i++) {
		VS_FREE char *words = vs_asprintf("--json %s", asked[i]);

		if (svf(words))
			fail_msg("%s: %s", words, errs);
		if (vs_jdoc_parse(&doc, out, strlen(out), NULL))
			fail_msg("%s: %s", words, out);
		vs_jdoc_free(&doc);
	}
	stage_report_text[HOSTS] = hosts_text;
	assert_int_equal(svf("--json hosts esx1"), 0);
	assert_int_equal(svf("--json hosts esx9 esx1"), 1);
	assert_string_equal(errs, "svf: no such host: esx9\n");
	assert_int_equal(out[0], '{');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup(f, restart)
		T(fields_and_widths_are_chosen_as_in_squeue),
		T(devices_are_counted_apart_from_vfs),
		T(jobs_say_how_long_they_waited),
		T(a_field_that_there_is_not_names_those_there_are),
		T(a_removed_option_names_what_is_used_instead),
		T(lines_are_sorted_by_fields_that_need_not_be_shown),
		T(an_answer_comes_again_after_the_time_and_an_empty_line),
		T(it_continues_while_nobody_answers_and_ends_at_once_where_it_is_wrong),
		T(states_that_need_an_eye_are_coloured_if_asked),
		T(each_verb_has_json),
		T(each_verb_says_what_it_is_and_its_fields),
	};

	signal(SIGPIPE, SIG_IGN);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	unsetenv("COLUMNS");
	return cmocka_run_group_tests(tests, stage_open, stage_close);
}
