/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf check: what operators see, and the line and exit codes that Nagios reads. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "svf_stage.h"
#include "util/mem.h"

#define HARD "{\"code\":\"vf-off\",\"severity\":\"hard\",\"object_type\":\"PF\",\"object\":\"esx|01\"," \
	"\"pf\":\"0000:3b:00.0\",\"actual\":\"off\",\"expected\":\"on\",\"reason\":\"w\"," \
	"\"fix\":\"esxcli x\"}"
#define WARNING "{\"code\":\"esxi-odd\",\"severity\":\"warning\",\"object_type\":\"host\"," \
	"\"object\":\"esx02\",\"actual\":\"a\",\"expected\":\"b\",\"reason\":\"w\"}"
#define UNKNOWN "{\"code\":\"host-unread\",\"severity\":\"unknown\",\"object_type\":\"host\"," \
	"\"object\":\"esx03\",\"actual\":\"a\",\"expected\":\"b\",\"reason\":\"w\"}"

static char answer[2048];

static void found(const char *up, const char *findings)
{
	snprintf(answer, sizeof(answer),
		 "{\"up\":%s,\"seq\":1,\"hosts\":3,\"findings\":[%s]}", up,
		 findings);
	stage_report_text[CHECK] = answer;
}

static void columns_are_nouns_and_a_hard_finding_is_exit_1(void **state)
{
	(void)state;
	found("true", HARD "," WARNING);
	assert_int_equal(svf("check"), 1);
	assert_string_equal(out,
"SEVERITY  CODE      OBJECT               ACTUAL  EXPECTED\n"
"hard      vf-off    esx|01 0000:3b:00.0  off     on\n"
"warning   esxi-odd  esx02                a       b\n"
"\n# vf-off esx|01 0000:3b:00.0\nesxcli x\n"
"\n2 findings, 3 hosts\n");
	assert_int_equal(svf("check esx02"), 0);
	assert_int_equal(svf("check --strict esx02"), 1);
}

static void nagios_gets_one_line_and_its_own_exit_codes(void **state)
{
	static const struct { const char *up, *findings, *line; int code; } t[] = {
		{ "true", "", "SVF OK - 0 hard, 0 warning, 0 unknown | hard=0 warning=0 unknown=0\n", 0 },
		{ "true", WARNING, "SVF WARNING - 0 hard, 1 warning, 0 unknown: esxi-odd esx02 | hard=0 warning=1 unknown=0\n", 1 },
		{ "true", UNKNOWN "," WARNING "," HARD,
		  "SVF CRITICAL - 1 hard, 1 warning, 1 unknown: host-unread esx03; esxi-odd esx02; vf-off esx/01 0000:3b:00.0 | hard=1 warning=1 unknown=1\n", 2 },
		{ "true", UNKNOWN, "SVF UNKNOWN - 0 hard, 0 warning, 1 unknown: host-unread esx03 | hard=0 warning=0 unknown=1\n", 3 },
		{ "false", "", "SVF UNKNOWN - slurmctld is not connected to vCenter | hard=0 warning=0 unknown=0\n", 3 },
		{ "false", HARD, "SVF CRITICAL - 1 hard, 0 warning, 0 unknown: vf-off esx/01 0000:3b:00.0 | hard=1 warning=0 unknown=0\n", 2 },
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(t); i++) {
		found(t[i].up, t[i].findings);
		assert_int_equal(svf("check --nagios"), t[i].code);
		assert_string_equal(out, t[i].line);
		assert_string_equal(errs, "");
	}
	found("true", HARD "," WARNING);
	assert_int_equal(svf("check --nagios esxi-odd"), 1);
	expect_in(out, "SVF WARNING - 0 hard, 1 warning");
}

static void nagios_is_told_when_there_is_no_answer(void **state)
{
	(void)state;
	stage_report_text[CHECK] = "{\"up\":true}";
	assert_int_equal(svf("check --nagios"), 3);
	assert_string_equal(out, "SVF UNKNOWN - the answer can't be read | hard=0 warning=0 unknown=0\n");
	vs_control_stop();
	assert_int_equal(svf("check --nagios"), 3);
	assert_string_equal(out, "SVF UNKNOWN - slurmctld does not answer | hard=0 warning=0 unknown=0\n");
	/* 2 would be CRITICAL */
	assert_int_equal(svf("check --nagios --json"), 3);
	assert_int_equal(svf("check --nagios --codes"), 3);
	assert_string_equal(out, "SVF UNKNOWN - --nagios takes no --json, --codes, --standalone or -O | hard=0 warning=0 unknown=0\n");
}

static void a_word_that_is_no_code_and_no_object_is_refused(void **state)
{
	static const struct { const char *words, *says; } bad[] = {
		{ "check vf-of", "there is no code and no object 'vf-of'; did you mean 'vf-off'?" },
		{ "check vf-off esx3", "there is no code and no object 'esx3'; did you mean 'esx03'?" },
		{ "check --json WRONGCODE", "there is no code and no object 'WRONGCODE';" },
		{ "check --codes vf-of", "there is no code 'vf-of'; did you mean 'vf-off'?" },
		{ "check --codes --json esx03", "there is no code 'esx03';" },
	};

	(void)state;
	found("true", HARD);
	stage_report_text[OBJECTS] = "{\"objects\":[\"esx03\",\"rhel9\"]}";
	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		VS_FREE char *says = vs_asprintf("svf: check: %s svf-check-codes(7) lists the codes\n"
			"Try 'svf --help' for more information.\n", bad[i].says);

		assert_int_equal(svf(bad[i].words), 2);
		assert_string_equal(out, "");
		assert_string_equal(errs, says);
	}
	assert_int_equal(svf("check --nagios vf-of"), 3);
	assert_string_equal(out, "SVF UNKNOWN - there is no code and no object 'vf-of'; did you mean 'vf-off'? svf-check-codes(7) lists the codes | hard=0 warning=0 unknown=0\n");
	/* a code, and an object, of which nothing is found */
	assert_int_equal(svf("check esxi-odd esx03"), 0);
	assert_string_equal(out, "0 findings, 3 hosts\n");
	assert_int_equal(svf("check --nagios rhel9"), 0);
	/* one of a finding needs no list */
	stage_report_text[OBJECTS] = NULL;
	assert_int_equal(svf("check esx|01"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup(f, restart)
		T(columns_are_nouns_and_a_hard_finding_is_exit_1),
		T(a_word_that_is_no_code_and_no_object_is_refused),
		T(nagios_gets_one_line_and_its_own_exit_codes),
		T(nagios_is_told_when_there_is_no_answer),
	};

	signal(SIGPIPE, SIG_IGN);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, stage_open, stage_close);
}
