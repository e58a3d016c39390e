/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf: how it finds slurmctld, whose answers it accepts, and what it prints
 * when no server answers.
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
		   "include more.conf\n" CLUSTER
		   "slurmctldhost=one(127.0.0.3)\nSlurmctldHost=%s(127.0.0.1)\n",
		   geteuid(), stage_host());
	write_file("more.conf", "AuthInfo=\"ttl=9,\\\nsocket=%s\"\n", stage_socket);
	write_file("vsphere.conf", "VCenter=https://x SvfListenAddr=127.0.0.2 # x\n"
		   "svfport = %d\n", port);
	assert_int_equal(svf("--json hosts"), 0);
	vs_control_stop();
	assert_int_equal(svf("hosts"), 3);
	/* what isn't reached is named, in the order it was tried */
	expect_in(errs, "svf: slurmctld does not answer at 127.0.0.2:");
	assert_true(strstr(errs, "127.0.0.2:") < strstr(errs, "127.0.0.3:"));
	assert_true(strstr(errs, "127.0.0.3:") < strstr(errs, "127.0.0.1:"));
	expect_in(errs, "(Connection refused)");
	expect_in(errs, "Either slurmctld is not running, or it restarts (some seconds after scontrol reconfigure).");
	expect_in(errs, "SvfListenAddr in the controller's vsphere.conf is 127.0.0.1, the default, which answers only on the controller: for other hosts set SvfListenAddr=0.0.0.0\n");
	assert_null(strstr(errs, "127.0.0.9"));
}

static void without_control_addr_this_machine_is_asked_first(void **state)
{
	(void)state;
	control[0] = '\0';
	write_file("vsphere.conf", "SvfPort=%d\n", port);
	write_file("slurm.conf", CLUSTER "SlurmctldHost=one(127.0.0.3)\n"
		   "AuthInfo=socket=%s\n", geteuid(), stage_socket);
	assert_int_equal(svf("--json hosts"), 0);
	/* Slurm takes that for this machine's name, and so does svf */
	write_file("slurm.conf", CLUSTER "SlurmctldHost=localhost\n"
		   "AuthInfo=socket=%s\n", geteuid(), stage_socket);
	assert_int_equal(svf("--json hosts"), 0);
}

/* Another cause has another remedy. */
static void a_name_that_is_unknown_is_said(void **state)
{
	(void)state;
	snprintf(control, sizeof(control), "no-such-host.invalid:9");
	assert_int_equal(svf("hosts"), 3);
	expect_in(errs, "svf: slurmctld does not answer at no-such-host.invalid:9 (");
	expect_in(errs, "). Check SVF_CONTROL, SlurmctldHost in slurm.conf, SvfPort in vsphere.conf and the firewall\n");
	assert_null(strstr(errs, "SvfListenAddr"));
}

/* As the plugins and svf-probe refuse it, in the same words. */
static void a_vsphere_conf_with_an_error_is_refused(void **state)
{
	static const struct { const char *text, *words; } bad[] = {
		{ "# SvfListenAddr\nSvfListenAddr=\"127.0.0.1 # x\nSvfPort=%d\n",
		  "svf: vsphere.conf line 2: the quotes after SvfListenAddr= are never closed" },
		{ "SvfPort=%d\nMode=manage\nsvfport=1\n",
		  "svf: vsphere.conf line 3: SvfPort is given twice, first in line 1" },
		{ "Include # %d\n",
		  "svf: vsphere.conf line 1: expected one file after Include" },
		{ "Include=more.conf # %d\n",
		  "svf: vsphere.conf line 1: Include takes no \"=\": write Include FILE" },
		{ "ControlPort=%d\n",
		  "svf: vsphere.conf line 1: ControlPort= was renamed: write SvfPort=" },
		{ "SvfPort=%d\nMungeSocket=/x\n",
		  "svf: vsphere.conf line 2: MungeSocket= was removed: " },
		{ "SvfListenAddr= # %d\n",
		  "svf: vsphere.conf line 1: SvfListenAddr= has no value" },
		{ "SvfPort=%d\nMode=manage \\\n", "svf: vsphere.conf line 2: " },
		{ "Mode=manage\nSvfPort=%d0000\n",
		  "0000: expected a number from 1 to 65535" },
	};
	VS_FREE char *path = path_of("vsphere.conf");

	(void)state;
	write_file("more.conf", "SvfPort=%d\n", port);
	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		write_file("vsphere.conf", bad[i].text, port);
		control[0] = '\0';
		assert_int_equal(svf("hosts"), 5);
		expect_in(errs, bad[i].words);
		/* an address in the environment makes it needless */
		snprintf(control, sizeof(control), "127.0.0.1:%d", port);
		assert_int_equal(svf("--json hosts"), 0);
		assert_string_equal(errs, "");
	}
	/* what may not be read leaves the defaults */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(svf("--json hosts"), 0);
}

/* svf may be older than slurmctld's plugin: what it doesn't know is no error. */
static void keys_of_a_newer_release_are_passed_over(void **state)
{
	(void)state;
	control[0] = '\0';
	write_file("vsphere.conf", "NewKey=1 SvfPort=1\n"
		   "NewName=a Datastore=b SvfListenAddr=127.0.0.9\n"
		   "ESXiHost=a NewSwitch=b SvfPort=2 Switch=c\n"
		   "SvfListenAddr=127.0.0.1 NewKey=2 SvfPort=%d\n", port);
	write_file("slurm.conf", CLUSTER "AuthInfo=socket=%s\n", geteuid(),
		   stage_socket);
	assert_int_equal(svf("--json hosts"), 0);
	/* so is an included file that isn't there; of the other the port counts */
	write_file("more.conf", "NewKey=3 # x\nSvfPort=%d\n", port);
	write_file("vsphere.conf", "SvfListenAddr=127.0.0.1\nInclude none.conf\n"
		   "Include more.conf\n");
	assert_int_equal(svf("--json hosts"), 0);
}

static void slurm_conf_is_read_as_slurm_reads_it(void **state)
{
	char more[6000];

	(void)state;
	control[0] = '\0';
	memset(more, 'n', sizeof(more) - 1);
	more[sizeof(more) - 1] = '\0';
	write_file("vsphere.conf", "SvfListenAddr=127.0.0.1 SvfPort=%d\n", port);
	write_file("slurm.conf", CLUSTER "NodeName=%s \\\n Port=7\n"
		   "DebugFlags+=power\nNodeName=\"open\n"
		   "SlurmctldHost=%s(127.0.0.1)\nAuthInfo=x\\#1,socket=%s # c\n",
		   geteuid(), more, stage_host(), stage_socket);
	assert_int_equal(svf("--json hosts"), 0);
}

static void who_is_not_meant_is_passed_over(void **state)
{
	VS_FREE char *want = NULL;

	(void)state;
	control[0] = '\0';
	write_file("vsphere.conf", "SvfListenAddr=127.0.0.1 SvfPort=%d\n", port);
	write_file("slurm.conf", CLUSTER "SlurmctldHost=other(127.0.0.1)\n"
		   "SlurmctldHost=%s(localhost)\nAuthInfo=socket=%s\n",
		   geteuid(), stage_host(), stage_socket);
	assert_int_equal(svf("--json hosts"), 0);
	write_file("slurm.conf", CLUSTER "SlurmctldHost=other(127.0.0.1)\n"
		   "AuthInfo=socket=%s\n", geteuid(), stage_socket);
	assert_int_equal(svf("--json hosts"), 3);
	want = vs_asprintf("the request is for controller other of cluster stage, but controller %s of cluster stage received it",
			   stage_host());
	expect_in(errs, want);
	/* the same for whom SVF_CONTROL names */
	snprintf(control, sizeof(control), "127.0.0.1:%d", port);
	assert_int_equal(svf("--json hosts"), 3);
	expect_in(errs, want);
	write_file("slurm.conf", "ClusterName=two\nSlurmUser=%u\n"
		   "SlurmctldHost=%s(localhost)\nAuthInfo=socket=%s\n",
		   geteuid(), stage_host(), stage_socket);
	assert_int_equal(svf("--json hosts"), 3);
	expect_in(errs, "of cluster two, but controller");
}

static void without_slurm_user_nothing_is_sent(void **state)
{
	VS_FREE char *path = path_of("slurm.conf");

	(void)state;
	write_file("slurm.conf", "ClusterName=stage\nSlurmUser=nosuchuser\n");
	assert_int_equal(svf("hosts"), 5);
	expect_in(errs, "SlurmUser=nosuchuser: this machine has no such user");
	write_file("slurm.conf", "SlurmUser=root\n");
	assert_int_equal(svf("hosts"), 5);
	expect_in(errs, "set SLURM_CONF");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(svf("hosts"), 5);
	expect_in(errs, path);
	expect_in(errs, "SlurmUser and ClusterName can't be read there");
	assert_int_equal(counts().served + counts().refused, 0);
}

static void the_environment_goes_before_files(void **state)
{
	static const char *const bad[] = { "host:", "host:0", "host:65536",
					   ":1", "[::1", "[::1]x" };

	(void)state;
	write_file("vsphere.conf", "SvfListenAddr=127.0.0.3 SvfPort=1\n");
	assert_int_equal(svf("--json hosts"), 0);
	snprintf(control, sizeof(control), "[127.0.0.1]:%d", port);
	assert_int_equal(svf("--json hosts"), 0);
	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		snprintf(control, sizeof(control), "%s", bad[i]);
		assert_int_equal(svf("hosts"), 2);
		expect_in(errs, "HOST:PORT is expected");
	}
}

static void munge_that_does_not_run_is_said(void **state)
{
	(void)state;
	write_file("slurm.conf", CLUSTER "AuthInfo=socket=%s/nothing\n", geteuid(),
		   stage_dir);
	assert_int_equal(svf("hosts"), 4);
	expect_in(errs, "svf: munge says: ");
	expect_in(errs, "is munged running here?");
}

static void another_munge_key_is_said(void **state)
{
	(void)state;
	write_file("slurm.conf", CLUSTER "AuthInfo=socket=%s\n", geteuid(),
		   stage_stranger());
	assert_int_equal(svf("hosts"), 3);
	expect_in(errs, "closed the connection without an answer");
}

/* A socket that listens on a free port, at which svf asks next. */
static int listener(void)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&sa, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
	snprintf(control, sizeof(control), "127.0.0.1:%d", ntohs(sa.sin_port));
	return fd;
}

/* Exits with 1 if uid can open the frame, with 0 if munge refuses it. */
static void try_to_open(const char *frame, uid_t uid)
{
	VS_FREE char *text = NULL;
	struct vs_err err = { 0 };
	uint32_t from;
	size_t len;

	if (setgid(uid) || setuid(uid))
		_exit(2);
	if (!vs_unseal(stage_socket, frame, &text, &len, &from, &err))
		_exit(1);
	_exit(strstr(err.text, "nauthorized") ? 0 : 3);
}

/* Catch a question, try to open it, and answer as another user; in a child. */
static void impostor(int listen_fd)
{
	int fd = accept(listen_fd, NULL, NULL), status;
	struct vs_ctl_part p = { .of = 1, .id = "a guess", .bytes = "{}", .len = 2 };
	VS_FREE char *frame = recv_frame(fd), *reply = NULL, *cred = NULL;
	size_t len;
	pid_t pid = fork();

	if (!frame || pid < 0)
		_exit(10);
	if (!pid)
		try_to_open(frame, NOBODY);
	if (waitpid(pid, &status, 0) != pid || status ||
	    setgid(NOBODY) || setuid(NOBODY))
		_exit(11);
	reply = vs_ctl_part_format(&p, &len);
	if (vs_seal(stage_socket, 0, reply, len, &cred, NULL))
		_exit(12);
	send_frame(fd, cred);
	_exit(0);
}

static void another_user_cannot_open_the_question_nor_answer_it(void **state)
{
	int fd, status;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	fd = listener();
	pid = stage_fork();
	if (pid == 0)
		impostor(fd);
	close(fd);
	assert_int_equal(svf("--json hosts"), 3);
	expect_in(errs, "uid 65534 answers there, which is neither root nor SlurmUser");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* svf's question, caught and not opened. */
static char *caught(const char *words)
{
	VS_FREE char *frame = NULL;
	int fd = listener(), at, io[2], n;
	char *cred = vs_calloc(1, VS_CTL_REQUEST_MAX + 1);
	pid_t pid;

	assert_int_equal(pipe(io), 0);
	pid = stage_fork();
	if (pid == 0) {
		at = accept(fd, NULL, NULL);
		frame = recv_frame(at);
		n = frame ? (int)strlen(frame) : 0;
		_exit(!n || write(io[1], frame, (size_t)n) != n);
	}
	close(fd);
	close(io[1]);
	assert_int_equal(svf(words), 3);
	expect_in(errs, "closed the connection");
	assert_true(read(io[0], cred, VS_CTL_REQUEST_MAX) > 0);
	close(io[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return cred;
}

/* SlurmUser is any other here than the one who asks: root's no exception. */
static void slurm_user_alone_can_open_the_question(void **state)
{
	static const struct { uid_t uid; int status; } who[] = {
		{ 0, 0 }, { 1, 0 }, { NOBODY, 1 },
	};
	VS_FREE char *frame = NULL;
	int status;

	(void)state;
	if (geteuid() != 0)
		skip();
	write_file("slurm.conf", CLUSTER "AuthInfo=socket=%s\n", NOBODY,
		   stage_socket);
	frame = caught("--json hosts");
	for (size_t i = 0; i < VS_COUNT(who); i++) {
		pid_t pid = stage_fork();

		if (pid == 0)
			try_to_open(frame, who[i].uid);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), who[i].status);
	}
}

/* Answer one question like a server that mixes things up; in a child. */
static void answer_once(int listen_fd, const char *id, uint32_t part)
{
	int fd = accept(listen_fd, NULL, NULL);
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
		int fd = listener(), status;
		pid_t pid;

		pid = stage_fork();
		if (pid == 0)
			answer_once(fd, mixed[i].id, mixed[i].part);
		close(fd);
		assert_int_equal(svf("--json hosts"), 3);
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
		T(a_name_that_is_unknown_is_said),
		T(munge_that_does_not_run_is_said),
		T(another_munge_key_is_said),
		T(a_vsphere_conf_with_an_error_is_refused),
		T(keys_of_a_newer_release_are_passed_over),
		T(slurm_conf_is_read_as_slurm_reads_it),
		T(who_is_not_meant_is_passed_over),
		T(without_slurm_user_nothing_is_sent),
		T(another_user_cannot_open_the_question_nor_answer_it),
		T(slurm_user_alone_can_open_the_question),
		T(an_answer_to_another_question_does_not_count),
	};

	signal(SIGPIPE, SIG_IGN);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, stage_open, stage_close);
}
