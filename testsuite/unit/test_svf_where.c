/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf: how it finds slurmctld, whom it believes, and what it says when nobody
 * answers.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "svf_stage.h"
#include "util/mem.h"
#include "util/seal.h"

/* ---- finding slurmctld ------------------------------------------------- */

static void the_controllers_of_slurm_conf_are_tried_in_order(void **state)
{
	(void)state;
	control[0] = '\0';
	write_file("slurm.conf",
		   "# SlurmctldHost=comment(127.0.0.9)\n"
		   "include more.conf\n"
		   "slurmctldhost=one(127.0.0.3)\nSlurmctldHost=two(127.0.0.1)\n");
	write_file("more.conf", "AuthInfo=\"ttl=9,\\\nsocket=%s\"\n", stage_socket);
	write_file("vsphere.conf", "VCenter=https://x ControlAddr=127.0.0.2 # x\n"
		   "controlport = %d\n", port);
	assert_int_equal(svf("-j hosts"), 0);
	vs_control_stop();
	assert_int_equal(svf("hosts"), 3);
	/* what isn't reached is named, in the order it was tried */
	expect_in(errs, "svf: slurmctld's slurm-vsphere is not reachable at 127.0.0.2:");
	assert_true(strstr(errs, "127.0.0.2:") < strstr(errs, "127.0.0.3:"));
	assert_true(strstr(errs, "127.0.0.3:") < strstr(errs, "127.0.0.1:"));
	expect_in(errs, "(Connection refused)");
	expect_in(errs, "begins anew (for some seconds after scontrol reconfigure");
	assert_null(strstr(errs, "127.0.0.9"));
}

static void without_control_addr_this_machine_is_asked_first(void **state)
{
	(void)state;
	control[0] = '\0';
	write_file("vsphere.conf", "ControlPort=%d MungeSocket=%s\n", port,
		   stage_socket);
	write_file("slurm.conf", "SlurmctldHost=one(127.0.0.3)\n");
	assert_int_equal(svf("-j hosts"), 0);
}

static void the_environment_goes_before_files(void **state)
{
	static const char *const bad[] = { "host:", "host:0", "host:65536",
					   ":1", "[::1", "[::1]x" };

	(void)state;
	write_file("vsphere.conf", "ControlAddr=127.0.0.3 ControlPort=1\n");
	assert_int_equal(svf("-j hosts"), 0);
	snprintf(control, sizeof(control), "[127.0.0.1]:%d", port);
	assert_int_equal(svf("-j hosts"), 0);
	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		snprintf(control, sizeof(control), "%s", bad[i]);
		assert_int_equal(svf("hosts"), 2);
		expect_in(errs, "HOST:PORT is expected");
	}
}

static void munge_that_does_not_run_is_said(void **state)
{
	(void)state;
	write_file("slurm.conf", "AuthInfo=socket=%s/nothing\n", stage_dir);
	assert_int_equal(svf("hosts"), 4);
	expect_in(errs, "svf: munge says: ");
	expect_in(errs, "is munged running here?");
}

static void another_munge_key_is_said(void **state)
{
	(void)state;
	write_file("slurm.conf", "AuthInfo=socket=%s\n", stage_stranger());
	assert_int_equal(svf("hosts"), 3);
	expect_in(errs, "closed the connection without an answer");
}

/* A server that runs as another user, as anybody could start one. */
static pid_t impostor(int io[2])
{
	pid_t pid;

	assert_int_equal(pipe(io), 0);
	pid = stage_fork();
	if (pid == 0) {
		struct vs_conf conf = { .control_addr = "127.0.0.1",
					.munge_socket = stage_socket };
		struct vs_err err;

		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(1);
		stage_dies_with_parent();	/* setuid has undone it */
		conf.control_port = port;
		if (vs_control_start(&conf, &err) || write(io[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	return pid;
}

static void an_answer_by_another_user_does_not_count(void **state)
{
	int io[2];
	char c;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	vs_control_stop();
	pid = impostor(io);
	assert_int_equal(read(io[0], &c, 1), 1);
	assert_int_equal(svf("-j hosts"), 3);
	expect_in(errs, "uid 65534 answers there, which is neither root nor SlurmUser");
	write_file("slurm.conf", "SlurmUser=65534\nAuthInfo=socket=%s\n",
		   stage_socket);
	assert_int_equal(svf("-j hosts"), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(io[0]);
	close(io[1]);
}

/* Answer one question like a server that mixes things up; in a child. */
static void answer_once(int listener, const char *id, uint32_t part)
{
	int fd = accept(listener, NULL, NULL);
	VS_FREE char *frame = NULL, *text = NULL, *cred = NULL, *reply = NULL;
	struct vs_ctl_part p = { .part = part, .of = 2, .bytes = "{}", .len = 2 };
	struct vs_ctl_request req;
	uint32_t uid;
	size_t len;

	frame = recv_frame(fd);
	if (!frame || vs_unseal(stage_socket, frame, &text, &len, &uid, NULL) ||
	    vs_ctl_request_parse(text, len, &req, NULL))
		_exit(1);
	vs_strlcpy(p.id, id ? id : req.id, sizeof(p.id));
	reply = vs_ctl_part_format(&p, &len);
	if (vs_seal(stage_socket, uid, reply, len, &cred, NULL))
		_exit(1);
	send_frame(fd, cred);
	_exit(0);
}

static void an_answer_to_another_question_does_not_count(void **state)
{
	static const struct { const char *id; uint32_t part; } mixed[] = {
		{ "other", 0 }, { NULL, 1 },
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(mixed); i++) {
		struct sockaddr_in sa;
		socklen_t len = sizeof(sa);
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), status;
		pid_t pid;

		assert_int_equal(listen(fd, 1), 0);
		assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len),
				 0);
		snprintf(control, sizeof(control), "127.0.0.1:%d",
			 ntohs(sa.sin_port));
		pid = stage_fork();
		if (pid == 0)
			answer_once(fd, mixed[i].id, mixed[i].part);
		close(fd);
		assert_int_equal(svf("-j hosts"), 3);
		expect_in(errs, "an answer to another question");
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup(f, restart)
		T(the_controllers_of_slurm_conf_are_tried_in_order),
		T(without_control_addr_this_machine_is_asked_first),
		T(the_environment_goes_before_files),
		T(munge_that_does_not_run_is_said),
		T(another_munge_key_is_said),
		T(an_answer_by_another_user_does_not_count),
		T(an_answer_to_another_question_does_not_count),
	};

	signal(SIGPIPE, SIG_IGN);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, stage_open, stage_close);
}
