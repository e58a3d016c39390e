/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the shells are told that a word may become: svf --complete, and bash's
 * own function around it.
 */
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
#include "util/mem.h"

static const char hosts_text[] =
"{\"hosts\":[{\"host\":\"esx01\",\"state\":\"up\"},"
" {\"host\":\"esx02\",\"state\":\"up\"},"
" {\"host\":\"ring01\",\"state\":\"up\"},"
" {\"host\":\"a $(reboot)\",\"state\":\"up\"}]}";

/* The last word is completed; "@" is none yet. */
static void completes(const char *words, const char *expected)
{
	size_t len = strlen(words) - (strchr(words, '@') != NULL);
	VS_FREE char *cmd = NULL;
	int n = 0;

	for (const char *p = words; *p; p++)
		n += *p == ' ';
	cmd = vs_asprintf("--complete %d %.*s", n, (int)len, words);
	assert_int_equal(svf(cmd), 0);
	if (strcmp(out, expected))
		fail_msg("%s: '%s' instead of '%s'", words, out, expected);
	assert_string_equal(errs, "");
}

static void verbs_orders_and_options_come_from_the_tables(void **state)
{
	(void)state;
	completes("svf ho", "hosts\nhost\n");
	completes("svf rec", "reconcile\n");
	completes("svf pau", "pause\n");
	completes("svf res", "resume\n");
	completes("svf imp", "");
	completes("svf host dr", "drain\n");
	completes("svf vm f", "forget\n");
	completes("svf vm --re", "--requeue\n");
	completes("svf hosts --p", "--pfs\n");
	completes("svf nodes --p", "--partition=\n:nospace\n");
	completes("svf vm --o", "--on=\n:nospace\n");
	completes("svf jobs --m", "--me\n");
	completes("svf help ho", "hosts\nhost\n");
	completes("svf he", "help\n");
	completes("svf hosts --noh", "--noheader\n");
	completes("svf hosts --so", "--sort=\n:nospace\n");
	completes("svf --json reco", "reconcile\n");
	completes("svf -O host ho", "hosts\nhost\n");
	completes("svf conf @", ":files\n");
	completes("svf plan --j", "--json\n");
	completes("svf plan --nt", "--ntasks=\n:nospace\n");
	completes("svf plan --gr", "");
}

static void fields_are_those_of_the_table_that_is_asked_for(void **state)
{
	(void)state;
	completes("svf hosts -O cp", "cpu_ghz\n:nospace\n");
	completes("svf hosts -O host,fr", "host,free\n:nospace\n");
	completes("svf hosts --pfs -O nu", "numa\n:nospace\n");
	completes("svf hosts -O nu", ":nospace\n");
	completes("svf hosts --sort=-vf", "--sort=-vfs\n:nospace\n");
	/* as bash cuts it into words */
	completes("svf hosts --Format = host,fr", "host,free\n:nospace\n");
	completes("svf hosts --color = n", "never\n");
	completes("svf hosts --color=a", "--color=auto\n--color=always\n");
	completes("svf status -O @", ":nospace\n");
}

static void names_are_asked_for_and_only_harmless_ones_offered(void **state)
{
	(void)state;
	stage_report_text[HOSTS] = hosts_text;
	stage_report_text[NODES] = "{\"nodes\":[{\"node\":\"vm001\"}]}";
	completes("svf hosts esx", "esx01\nesx02\n");
	completes("svf host drain r", "ring01\n");
	completes("svf host drain esx01 r", "");
	completes("svf hosts a", "");
	completes("svf nodes v", "vm001\n");
	completes("svf vm forget v", "vm001\n");
}

static void nobody_waits_for_a_slurmctld_that_is_away(void **state)
{
	time_t begun = time(NULL);

	(void)state;
	vs_control_stop();
	completes("svf hosts e", "");
	snprintf(control, sizeof(control), "192.0.2.1:9");	/* TEST-NET-1 */
	completes("svf hosts e", "");
	assert_uint_in_range(time(NULL) - begun, 0, 5);
}

/* The function that `complete -F` has noted; compgen shows what comes of it. */
static void bash_completes_by_it(void **state)
{
	static const char script[] =
"source %s/src/svf/completion.bash && complete -p svf && "
"try() { COMP_WORDS=(src/svf/svf \"$@\"); COMP_CWORD=$#; _svf; compgen -W \"${COMPREPLY[*]}\" -- \"$LAST\"; echo .; }; "
"LAST=rec try rec; LAST=host try hosts --Format = host,fr; LAST= try vm ''";
	const char *top = getenv("srcdir");
	VS_FREE char *path = path_of("bash.out"), *file = path_of("try.bash");
	VS_FREE char *text = NULL;
	int status;
	pid_t pid;
	FILE *f;

	(void)state;
	text = vs_asprintf(script, top ? top : ".");
	write_file("try.bash", "%s\n", text);
	pid = stage_fork();
	if (pid == 0) {
		if (!freopen(path, "w", stdout))
			_exit(126);
		execlp("bash", "bash", "--norc", file, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	f = fopen(path, "re");
	assert_non_null(f);
	out[fread(out, 1, sizeof(out) - 1, f)] = '\0';
	fclose(f);
	expect_in(out, "complete -F _svf svf\nreconcile\n.\nhost,free\n.\n");
	expect_in(out, "forget\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup(f, restart)
		T(verbs_orders_and_options_come_from_the_tables),
		T(fields_are_those_of_the_table_that_is_asked_for),
		T(names_are_asked_for_and_only_harmless_ones_offered),
		T(nobody_waits_for_a_slurmctld_that_is_away),
		T(bash_completes_by_it),
	};

	signal(SIGPIPE, SIG_IGN);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, stage_open, stage_close);
}
