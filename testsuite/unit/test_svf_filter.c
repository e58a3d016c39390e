/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The filters of svf hosts, nodes and jobs, for tables and JSON alike, and tables that
 * are wrapped. Expected texts are written by hand from svf(1).
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "svf_stage.h"
#include "util/json.h"
#include "util/mem.h"

static const char hosts_text[] =
"{\"hosts\":["
" {\"host\":\"esx1\",\"state\":\"UP\"},"
" {\"host\":\"esx2\",\"state\":\"ON_TRIAL\"},"
" {\"host\":\"esx3\",\"state\":\"DRAINING\"},"
" {\"host\":\"esx4\",\"state\":\"DRAINED\"}]}";

static const char nodes_text[] =
"{\"nodes\":["
" {\"node\":\"vm1\",\"vm_state\":\"ON\",\"node_state\":\"IDLE\",\"partition\":\"roce\"},"
" {\"node\":\"vm2\",\"vm_state\":\"ON\",\"node_state\":\"ALLOCATED\",\"partition\":\"ib\"},"
" {\"node\":\"vm3\",\"vm_state\":\"NONE\",\"node_state\":\"DRAINED\",\"partition\":\"roce\"},"
" {\"node\":\"vm4\",\"vm_state\":\"NONE\",\"node_state\":\"POWERED_DOWN+DRAINED\"},"
" {\"node\":\"vm5\",\"vm_state\":\"ON\",\"node_state\":\"DRAINING\"}],"
" \"notes\":[\"observe mode\"]}";

static char jobs_text[1024];

static void jobs_set(void)
{
	snprintf(jobs_text, sizeof(jobs_text),
"{\"jobs\":["
" {\"job\":1,\"id\":\"1\",\"uid\":%u,\"partition\":\"roce\",\"state\":\"RUNNING\",\"nodes\":[\"vm1\",\"vm2\"]},"
" {\"job\":2,\"id\":\"2_1\",\"uid\":1,\"partition\":\"ib,roce\",\"state\":\"PENDING\"},"
" {\"job\":3,\"id\":\"3\",\"uid\":4000000000,\"partition\":\"ib\",\"state\":\"CONFIGURING\",\"nodes\":[\"vm9\"]}]}",
		 (unsigned int)geteuid());
	stage_report_text[JOBS] = jobs_text;
}

struct asked { const char *words, *out; };

static void answers(const struct asked *a, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (svf(a[i].words))
			fail_msg("svf %s: %s", a[i].words, errs);
		if (strcmp(out, a[i].out))
			fail_msg("svf %s: '%s' instead of '%s'", a[i].words,
				 out, a[i].out);
	}
}

static void hosts_are_filtered_by_state_and_name(void **state)
{
	static const struct asked asked[] = {
		{ "hosts -h -O host -t UP", "esx1\n" },
		{ "hosts -h -O host -t on-trial,drng", "esx2\nesx3\n" },
		{ "hosts -h -O host --states=DRAINED,Up", "esx1\nesx4\n" },
		{ "hosts -h -O host -t drain", "esx3\nesx4\n" },
		{ "hosts -h -O host -w esx[2-3]", "esx2\nesx3\n" },
		{ "hosts -h -O host --nodelist esx1 esx4", "esx1\nesx4\n" },
		{ "hosts -h -O host -w esx[1-3] -t draining", "esx3\n" },
		{ "-t up hosts -h -O host", "esx1\n" },
		{ "hosts -t STANDBY -h", "" },
	};

	(void)state;
	stage_report_text[HOSTS] = hosts_text;
	answers(asked, VS_COUNT(asked));
	/* a host that the filter drops exists all the same */
	assert_int_equal(svf("hosts -h -O host -t up esx4"), 0);
	assert_string_equal(out, "");
	assert_int_equal(svf("hosts -h -O host -w esx[4-5]"), 1);
	assert_string_equal(out, "esx4\n");
	assert_string_equal(errs, "svf: no such host: esx5\n");
}

static void nodes_are_filtered_by_state_partition_and_name(void **state)
{
	static const struct asked asked[] = {
		{ "nodes -h -O node -t idle", "vm1\n" },
		{ "nodes -h -O node -t ALLOC,drained", "vm2\nvm3\nvm4\n" },
		{ "nodes -h -O node -t drained", "vm3\nvm4\n" },
		{ "nodes -h -O node -t draining", "vm5\n" },
		{ "nodes -h -O node -t DRNG", "vm5\n" },
		{ "nodes -h -O node -t drain", "vm3\nvm4\nvm5\n" },
		{ "nodes -h -O node -p roce", "vm1\nvm3\n" },
		{ "nodes -h -O node -p ib", "vm2\n" },
		{ "nodes -h -O node --partition=roce --states=idle,powered_down", "vm1\n" },
		{ "nodes -h -O node -w vm[1-2]", "vm1\nvm2\n" },
	};

	(void)state;
	stage_report_text[NODES] = nodes_text;
	answers(asked, VS_COUNT(asked));
	assert_int_equal(svf("nodes -w vm[5-6] -h -O node"), 1);
	assert_string_equal(out, "vm5\n");
	assert_string_equal(errs, "svf: no such node: vm6\nnote: observe mode\n");
	assert_int_equal(svf("nodes -h -O node -p ib,x"), 1);
	assert_string_equal(out, "vm2\n");
	assert_string_equal(errs, "svf: no such partition: x\nnote: observe mode\n");
	assert_int_equal(svf("nodes -p x"), 1);
	assert_string_equal(out, "");
}

static void jobs_are_filtered_as_squeue_does(void **state)
{
	static const struct asked asked[] = {
		{ "jobs -h -O jobid --me", "1\n" },
		{ "jobs -h -O jobid -u daemon", "2_1\n" },
		{ "jobs -h -O jobid -u daemon,4000000000", "2_1\n3\n" },
		{ "jobs -h -O jobid -u daemon --me", "1\n2_1\n" },
		{ "jobs -h -O jobid -p roce", "1\n2_1\n" },
		{ "jobs -h -O jobid -t PD,cf", "2_1\n3\n" },
		{ "jobs -h -O jobid -t running", "1\n" },
		{ "jobs -h -O jobid -w vm[2-3]", "1\n" },
		{ "jobs -h -O jobid -p roce -t PD", "2_1\n" },
		{ "jobs -h -O jobid -t PD 2", "2_1\n" },
	};

	(void)state;
	jobs_set();
	answers(asked, VS_COUNT(asked));
	/* as squeue: no such node; who sees no nodes is not told */
	stage_report_text[NODES] = nodes_text;
	assert_int_equal(svf("jobs -h -O jobid -w vm1,vm99"), 1);
	assert_string_equal(out, "1\n");
	assert_string_equal(errs, "svf: no such node: vm99\n");
	stage_report_text[NODES] = "{\"nodes\":[]}";
	assert_int_equal(svf("jobs -h -O jobid -w vm1,vm99"), 0);
}

static void a_filter_restricts_json_too(void **state)
{
	struct vs_jdoc doc;
	struct vs_j list;

	(void)state;
	stage_report_text[NODES] = nodes_text;
	assert_int_equal(svf("nodes --json -p roce -t drain"), 0);
	assert_int_equal(vs_jdoc_parse(&doc, out, strlen(out), NULL), 0);
	list = vs_j_get(vs_j_root(&doc), "nodes");
	assert_int_equal(vs_j_len(list), 1);
	assert_string_equal(vs_j_str(vs_j_get(vs_j_at(list, 0), "node")), "vm3");
	assert_int_equal(vs_j_len(vs_j_get(vs_j_root(&doc), "notes")), 1);
	vs_jdoc_free(&doc);
	jobs_set();
	assert_int_equal(svf("jobs --json --me"), 0);
	assert_int_equal(vs_jdoc_parse(&doc, out, strlen(out), NULL), 0);
	assert_int_equal(vs_j_len(vs_j_get(vs_j_root(&doc), "jobs")), 1);
	vs_jdoc_free(&doc);
}

static void names_restrict_json_too(void **state)
{
	struct vs_jdoc doc;
	struct vs_j list;

	(void)state;
	stage_report_text[HOSTS] = hosts_text;
	assert_int_equal(svf("hosts --json esx2 -w esx4"), 0);
	assert_int_equal(vs_jdoc_parse(&doc, out, strlen(out), NULL), 0);
	list = vs_j_get(vs_j_root(&doc), "hosts");
	assert_int_equal(vs_j_len(list), 2);
	assert_string_equal(vs_j_str(vs_j_get(vs_j_at(list, 1), "host")), "esx4");
	vs_jdoc_free(&doc);
	jobs_set();
	assert_int_equal(svf("jobs --json 2"), 0);
	assert_int_equal(vs_jdoc_parse(&doc, out, strlen(out), NULL), 0);
	assert_int_equal(vs_j_len(vs_j_get(vs_j_root(&doc), "jobs")), 1);
	vs_jdoc_free(&doc);
}

static void a_value_that_is_none_is_refused(void **state)
{
	(void)state;
	stage_report_text[HOSTS] = hosts_text;
	assert_int_equal(svf("hosts -t good"), 2);
	assert_string_equal(errs, "svf: hosts: there is no state 'good'; there are: UP, EXCLUDED, QUARANTINED, ON_TRIAL, DRAINING, DRAINED, DRAIN, MAINTENANCE, ENTERING_MAINTENANCE, STANDBY, DISCONNECTED, UNKNOWN\n"
		"Try 'svf --help' for more information.\n");
	assert_int_equal(svf("nodes -t good"), 2);
	assert_string_equal(errs, "svf: nodes: there is no state 'good'; there are: POWERED_DOWN, POWERING_UP, POWERING_DOWN, IDLE, ALLOCATED, COMPLETING, DRAIN, DRAINED, DRAINING, DOWN, UNKNOWN\n"
		"Try 'svf --help' for more information.\n");
	assert_int_equal(svf("jobs -t u"), 2);
	assert_int_equal(svf("nodes -w vm[1"), 2);
	assert_string_equal(errs, "svf: nodes: --nodelist takes a host list, not 'vm[1'\nTry 'svf --help' for more information.\n");
	assert_int_equal(svf("jobs -u no-such-user"), 1);
	assert_string_equal(errs, "svf: no such user: no-such-user\n");
	assert_int_equal(svf("jobs -u 12x"), 1);
	assert_int_equal(svf("hosts -p roce"), 2);
	assert_int_equal(svf("nodes --me"), 2);
	assert_string_equal(out, "");
}

/* ---- wide tables ------------------------------------------------------------------ */

static size_t widest(const char *text)
{
	size_t most = 0;

	for (; *text; text += !!*text) {
		size_t len = strcspn(text, "\n");

		if (len > most)
			most = len;
		text += len;
	}
	return most;
}

static void wide_tables_are_wrapped_to_80_columns_in_a_pipe(void **state)
{
	static const char *const wide[] = { "check --codes", "conf --keys",
					    "adapters" };

	(void)state;
	unsetenv("COLUMNS");
	for (size_t i = 0; i < VS_COUNT(wide); i++) {
		VS_FREE char *whole = vs_asprintf("%s --long", wide[i]);

		assert_int_equal(svf(wide[i]), 0);
		if (widest(out) > 80)
			fail_msg("%s: %zu columns", wide[i], widest(out));
		assert_int_equal(svf(whole), 0);
		assert_true(widest(out) > 120);
	}
	assert_int_equal(svf("check --codes esxi-odd"), 0);
	assert_string_equal(out,
"CODE      SEVERITY  OBJECT  DESCRIPTION\n"
"esxi-odd  warning   host    the host has another ESXi build than most hosts\n");
	setenv("COLUMNS", "52", 1);
	assert_int_equal(svf("check --codes esxi-odd"), 0);
	unsetenv("COLUMNS");
	assert_string_equal(out,
"CODE      SEVERITY  OBJECT  DESCRIPTION\n"
"esxi-odd  warning   host    the host has another\n"
"                            ESXi build than most\n"
"                            hosts\n");
	/* columns that were chosen are not wrapped */
	assert_int_equal(svf("check --codes -h -O description esxi-odd"), 0);
	assert_string_equal(out, "the host has another ESXi build than most hosts\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup(f, restart)
		T(hosts_are_filtered_by_state_and_name),
		T(nodes_are_filtered_by_state_partition_and_name),
		T(jobs_are_filtered_as_squeue_does),
		T(a_filter_restricts_json_too),
		T(names_restrict_json_too),
		T(a_value_that_is_none_is_refused),
		T(wide_tables_are_wrapped_to_80_columns_in_a_pipe),
	};

	signal(SIGPIPE, SIG_IGN);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	unsetenv("COLUMNS");
	return cmocka_run_group_tests(tests, stage_open, stage_close);
}
