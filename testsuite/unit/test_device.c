/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurmd's look at the NICs before a job's first step. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include "guest_stage.h"
#include "plugins/prep/vsphere/device_check.h"
#include "plugins/prep/vsphere/check_process.h"

static char why[256];

static void a_machine_that_is_no_vm_of_ours_passes(void **state)
{
	(void)state;
	assert_int_equal(vs_device_check(why, sizeof(why)), 0);
}

static void a_ready_device_passes(void **state)
{
	(void)state;
	put("ready", "ok\n");
	assert_int_equal(vs_device_check(why, sizeof(why)), 0);
}

static void what_the_start_up_script_found_is_repeated(void **state)
{
	(void)state;
	put("ready", "failed: mlx5_0 has no link\n");
	assert_int_equal(vs_device_check(why, sizeof(why)), -1);
	assert_string_equal(why,
		"the RDMA device is not ready: mlx5_0 has no link");
}

static void an_empty_report_fails(void **state)
{
	(void)state;
	put("ready", "");
	assert_int_equal(vs_device_check(why, sizeof(why)), -1);
	assert_non_null(strstr(why, "wrote nothing"));
}

static void a_port_that_went_down_since_fails(void **state)
{
	VS_FREE char *ready = vs_asprintf("ok\nport %s\n", dir);

	(void)state;
	put("ready", ready);
	put("state", "4: ACTIVE\n");
	assert_int_equal(vs_device_check(why, sizeof(why)), 0);
	put("state", "1: DOWN\n");
	assert_int_equal(vs_device_check(why, sizeof(why)), -1);
	assert_non_null(strstr(why, "\"1: DOWN\", not ACTIVE"));
}

static void a_port_that_is_gone_fails(void **state)
{
	VS_FREE char *ready = vs_asprintf("ok\nport %s/none\n", dir);

	(void)state;
	put("ready", ready);
	assert_int_equal(vs_device_check(why, sizeof(why)), -1);
	assert_non_null(strstr(why, "is gone"));
}

/* ---- slurm-vsphere-port is asked -------------------------------------------------- */

/* A program in its place, and a ready that names it; the port's own state says
 * DOWN, so that who looks there is seen. */
static void checker(const char *body)
{
	VS_FREE char *text = vs_asprintf(
		"#!/bin/sh\necho \"$*\" >%s/asked\n%s\n", dir, body);
	VS_FREE char *ready = vs_asprintf(
		"ok\nport %s\nrdma mlx5_0/1/4096/3/::ffff:10.1.0.7\n"
		"checker %s/checker\nlink-layer Ethernet\n", dir, dir);
	VS_FREE char *path = vs_asprintf("%s/checker", dir);

	put("checker", text);
	chmod(path, 0700);
	put("ready", ready);
	put("state", "1: DOWN\n");
}

static void a_port_that_is_as_it_was_passes(void **state)
{
	VS_FREE char *path = vs_asprintf("%s/asked", dir);
	char asked[128] = "";
	FILE *f;

	(void)state;
	checker("exit 0");
	assert_int_equal(vs_device_check(why, sizeof(why)), 0);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(asked, sizeof(asked), f));
	fclose(f);
	assert_string_equal(asked,
		"check Ethernet mlx5_0/1/4096/3/::ffff:10.1.0.7\n");
}

static void its_last_line_is_the_reason(void **state)
{
	(void)state;
	checker("echo 'libibverbs: Warning: something' >&2\n"
		"echo 'mlx5_0 port 1 is DOWN, not ACTIVE' >&2; exit 1");
	assert_int_equal(vs_device_check(why, sizeof(why)), -1);
	assert_string_equal(why, "mlx5_0 port 1 is DOWN, not ACTIVE");
	checker("i=0; while [ $i -lt 400 ]; do echo $i a warning >&2; i=$((i + 1)); done\n"
		"printf 'it is\\twrong' >&2; exit 3");
	assert_int_equal(vs_device_check(why, sizeof(why)), -1);
	assert_string_equal(why, "it is?wrong");
}

/* A template that lacks it, or has another release's: /sys is looked at. */
static void who_cannot_be_asked_stops_nobody(void **state)
{
	static const char *const bodies[] = {
		"echo usage >&2; exit 2", "kill -SEGV $$", "exit 1", "exit 127",
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bodies); i++) {
		checker(bodies[i]);
		assert_int_equal(vs_device_check(why, sizeof(why)), -1);
		assert_non_null(strstr(why, "\"1: DOWN\", not ACTIVE"));
		put("state", "4: ACTIVE\n");
		assert_int_equal(vs_device_check(why, sizeof(why)), 0);
	}
	checker("exit 0");
	put("state", "4: ACTIVE\n");
	put("checker", "");		/* not a program */
	assert_int_equal(vs_device_check(why, sizeof(why)), 0);
}

/* The guest's script, which does it all; the program is asked by it alone. */
static void the_script_is_asked_where_it_says_that_it_can(void **state)
{
	VS_FREE char *script = vs_asprintf("%s/place", dir);
	VS_FREE char *text = vs_asprintf("#!/bin/sh\n[ \"$*\" = check ] || exit 2\n"
		"case $(cat %s/asked 2>/dev/null) in\n"
		"wrong) echo 'eth1 has MTU 1500' >&2; exit 1 ;;\n"
		"right) exit 0 ;;\n*) exit 2 ;;\nesac\n", dir);
	VS_FREE char *ready = vs_asprintf("ok\nport %s\nguest-check %s\n", dir,
					  script);

	(void)state;
	put("place", text);
	chmod(script, 0700);
	put("ready", ready);
	put("state", "1: DOWN\n");
	put("asked", "right");
	assert_int_equal(vs_device_check(why, sizeof(why)), 0);
	put("asked", "wrong");
	assert_int_equal(vs_device_check(why, sizeof(why)), -1);
	assert_string_equal(why, "eth1 has MTU 1500");
	/* it can't say: what there is else is looked at */
	put("asked", "");
	assert_int_equal(vs_device_check(why, sizeof(why)), -1);
	assert_non_null(strstr(why, "\"1: DOWN\", not ACTIVE"));
	unlink(script);
	assert_int_equal(vs_device_check(why, sizeof(why)), -1);
	assert_non_null(strstr(why, "\"1: DOWN\", not ACTIVE"));
}

static void one_that_hangs_is_ended_and_is_wrong(void **state)
{
	VS_FREE char *path = vs_asprintf("%s/checker", dir);
	const char *argv[] = { path, "check", NULL };

	(void)state;
	checker("trap '' TERM; sleep 60; exit 0");
	assert_int_equal(vs_port_check(argv, 1000, why, sizeof(why)),
			 VS_PORT_WRONG);
	assert_non_null(strstr(why, "did not answer within 1 s"));
	/* closes its words and stays */
	checker("exec 2>&-; sleep 60");
	assert_int_equal(vs_port_check(argv, 1000, why, sizeof(why)),
			 VS_PORT_WRONG);
}

/* ---- one that can't be ended ----------------------------------------------------- */

/*
 * Behaves like the caller of a driver that hangs: the process is killed and
 * stays, because a second process traces it and hasn't noticed its death yet.
 * The tracer writes the pid of the first one, and ends when the test opens and
 * closes let_go.
 */
static int never_goes(const char *note, const char *let_go)
{
	pid_t me = getpid();
	int ready[2];
	char c;

	if (pipe(ready) || fflush(NULL))
		return 9;
	/* Where the Yama module isn't, that is no error, nor needed. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (!fork()) {
		int in;
		FILE *out;

		alarm(60);	/* whatever becomes of the test */
		setsid();
		close(2);
		close(ready[0]);
		if (ptrace(PTRACE_SEIZE, me, NULL, NULL))
			_exit(1);
		out = fopen(note, "w");
		fprintf(out, "%d\n", (int)me);
		fclose(out);
		close(ready[1]);
		in = open(let_go, O_RDONLY);	/* until the test opens it */
		_exit(read(in, &c, 1) < 0);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) < 0)	/* it has us */
		return 9;
	for (;;)
		pause();
}

static int64_t ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void one_that_cannot_be_ended_is_no_child_of_slurmds(void **state)
{
	VS_FREE char *note = vs_asprintf("%s/asked", dir);
	VS_FREE char *let_go = vs_asprintf("%s/state", dir);
	const char *argv[] = { "/proc/self/exe", "never-goes", note, let_go,
		NULL };
	char self[256];
	int64_t began = ms();
	int pid = 0, fd;
	ssize_t len;
	FILE *f;

	(void)state;
	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	assert_true(len > 0);
	self[len] = '\0';
	argv[0] = self;
	assert_int_equal(mkfifo(let_go, 0600), 0);
	assert_int_equal(vs_port_check(argv, 1000, why, sizeof(why)),
			 VS_PORT_WRONG);
	assert_non_null(strstr(why, "did not answer within 1 s"));
	assert_true(ms() - began < 4000);	/* nor was it waited for: 1 s, and 1 s of grace */
	f = fopen(note, "r");
	if (!f || fscanf(f, "%d", &pid) != 1)
		fail_msg("the process that can't be ended wasn't made: ptrace is forbidden here");
	fclose(f);
	assert_int_equal(kill(pid, 0), 0);	/* it is still there */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	fd = open(let_go, O_WRONLY);
	close(fd);
}

#define T(f) cmocka_unit_test_setup_teardown(f, up, down)
int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		T(a_machine_that_is_no_vm_of_ours_passes),
		T(a_ready_device_passes),
		T(what_the_start_up_script_found_is_repeated),
		T(an_empty_report_fails),
		T(a_port_that_went_down_since_fails),
		T(a_port_that_is_gone_fails),
		T(a_port_that_is_as_it_was_passes),
		T(its_last_line_is_the_reason),
		T(who_cannot_be_asked_stops_nobody),
		T(the_script_is_asked_where_it_says_that_it_can),
		T(one_that_hangs_is_ended_and_is_wrong),
		T(one_that_cannot_be_ended_is_no_child_of_slurmds),
	};

	if (argc == 4 && !strcmp(argv[1], "never-goes"))
		return never_goes(argv[2], argv[3]);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
