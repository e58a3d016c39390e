/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control channel with a real munged: which users are admitted, what is
 * refused, and that no client waits for another.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cmocka_range.h"
#include <munge.h>

#include "control_stage.h"
#include "util/mem.h"
#include "util/seal.h"
#include "util/time.h"

#define NOBODY 65534
#define PLACES 32		/* connections at once, as promised */

/* Everybody is let go between tests. */
static int restart(void **state)
{
	static int port;

	port = stage_start();
	*state = &port;
	return 0;
}

static int port_of(void **state)
{
	return *(int *)*state;
}

/* The peer says nothing and hangs up. */
static void expect_hangup(int fd)
{
	VS_FREE char *frame = recv_frame(fd);

	assert_null(frame);
	close(fd);
}

static void expect_served(int port)
{
	struct vs_err err = { 0 };
	VS_FREE char *s = ask(port, "hosts", 0, &err, NULL);

	assert_non_null(s);
}

/* Counters move in the server's thread, after what the client sees. */
static void expect_count(uint64_t (*get)(void), uint64_t want)
{
	int64_t end = vs_now_ms() + 5000;

	while (get() != want && vs_now_ms() < end)
		sched_yield();
	assert_int_equal(get(), want);
}

static uint64_t refused(void) { return counts().refused; }
static uint64_t expired(void) { return counts().expired; }
static uint64_t served(void) { return counts().served; }

/* ---- who --------------------------------------------------------------- */

static void the_answer_is_for_who_munge_says_asks(void **state)
{
	struct vs_err err = { 0 };
	VS_FREE char *s = ask(port_of(state), "hosts", 0, &err, NULL);
	VS_FREE char *want = NULL;

	want = vs_asprintf("{\"uid\":%u}", geteuid());
	assert_non_null(s);
	assert_string_equal(s, want);
	expect_count(served, 1);
}

/* Asks as uid 65534, checks the answer, and writes the sealed frame to out. */
static void as_nobody(int port, int out)
{
	VS_FREE char *cred = NULL, *frame = NULL, *text = NULL;
	struct vs_ctl_part p;
	uint32_t uid;
	size_t len;
	int fd;

	if (setgid(NOBODY) || setuid(NOBODY))
		_exit(2);
	stage_dies_with_parent();	/* setuid has undone it */
	cred = question("hosts", 0);
	fd = dial(port);
	send_frame(fd, cred);
	if (!(frame = recv_frame(fd)) ||
	    vs_unseal(stage_socket, frame, &text, &len, &uid, NULL) ||
	    vs_ctl_part_parse(text, len, &p, NULL) || uid != 0 || p.refused)
		_exit(3);
	if (p.len != strlen("{\"uid\":65534}") ||
	    memcmp(p.bytes, "{\"uid\":65534}", p.len))
		_exit(4);
	if (write(out, frame, strlen(frame)) != (ssize_t)strlen(frame))
		_exit(5);
	_exit(0);
}

static void any_user_may_ask_and_nobody_else_can_open_the_answer(void **state)
{
	char frame[8192] = "";
	struct vs_err err = { 0 };
	VS_FREE char *text = NULL;
	int port = port_of(state), io[2], status;
	uint32_t uid;
	size_t len;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	assert_int_equal(pipe2(io, O_CLOEXEC), 0);
	pid = stage_fork();
	if (pid == 0)
		as_nobody(port, io[1]);
	close(io[1]);
	assert_true(read(io[0], frame, sizeof(frame) - 1) >= 0);
	close(io[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	/* root's munged would know the key; the answer is still not root's */
	assert_int_equal(vs_unseal(stage_socket, frame, &text, &len, &uid,
				   &err), -1);
	assert_non_null(strstr(err.text, "nauthorized"));
}

static void a_credential_is_good_for_one_question(void **state)
{
	VS_FREE char *cred = question("hosts", 0), *first = NULL;
	int fd = dial(port_of(state));

	send_frame(fd, cred);
	first = recv_frame(fd);
	assert_non_null(first);
	close(fd);
	fd = dial(port_of(state));
	send_frame(fd, cred);
	expect_hangup(fd);
	expect_count(refused, 1);
	expect_count(served, 1);
}

/* Seals a valid query with one option of munge changed. */
static char *odd_question(const char *socket, munge_opt_t opt, int value)
{
	VS_FREE char *text = vs_asprintf(
		"{\"verb\":\"hosts\",\"id\":\"q\",\"to\":\"%s\",\"cluster\":\"%s\"}",
		stage_host(), STAGE_CLUSTER);
	munge_ctx_t ctx = munge_ctx_create();
	char *cred = NULL;

	assert_int_equal(munge_ctx_set(ctx, MUNGE_OPT_SOCKET, socket), 0);
	assert_int_equal(munge_ctx_set(ctx, opt, value), 0);
	assert_int_equal(munge_encode(&cred, ctx, text, strlen(text)), 0);
	munge_ctx_destroy(ctx);
	return cred;
}

static void expect_refused(int port, const char *cred)
{
	uint64_t before = refused();
	int fd = dial(port);

	send_frame(fd, cred);
	expect_hangup(fd);
	expect_count(refused, before + 1);
}

static void a_credential_must_be_short_lived_for_us_and_of_our_key(void **state)
{
	VS_FREE char *ttl = odd_question(stage_socket, MUNGE_OPT_TTL, 300);
	VS_FREE char *fine = odd_question(stage_socket, MUNGE_OPT_TTL,
					  VS_SEAL_TTL);
	VS_FREE char *uid = odd_question(stage_socket,
					 MUNGE_OPT_UID_RESTRICTION, 54321);
	VS_FREE char *key = odd_question(stage_stranger(), MUNGE_OPT_TTL, 30);
	VS_FREE char *frame = NULL;
	int fd;

	expect_refused(port_of(state), ttl);
	expect_refused(port_of(state), uid);
	expect_refused(port_of(state), key);
	/* and it is these differences that it minds */
	fd = dial(port_of(state));
	send_frame(fd, fine);
	frame = recv_frame(fd);
	assert_non_null(frame);
	close(fd);
}

/* munge deflates what its client asks it to: 300 bytes come, 100 kB are meant. */
static char *deflated_question(size_t bytes)
{
	VS_FREE char *text = vs_calloc(bytes + 64, 1), *more = NULL;
	munge_ctx_t ctx = munge_ctx_create();
	char *cred = NULL;

	more = vs_calloc(bytes + 1, 1);
	memset(more, 'z', bytes);
	snprintf(text, bytes + 64, "{\"verb\":\"hosts\",\"id\":\"q\",\"z\":\"%s\"}",
		 more);
	assert_int_equal(munge_ctx_set(ctx, MUNGE_OPT_SOCKET, stage_socket), 0);
	assert_int_equal(munge_ctx_set(ctx, MUNGE_OPT_TTL, VS_SEAL_TTL), 0);
	assert_int_equal(munge_ctx_set(ctx, MUNGE_OPT_ZIP_TYPE, MUNGE_ZIP_ZLIB), 0);
	assert_int_equal(munge_encode(&cred, ctx, text, strlen(text)), 0);
	munge_ctx_destroy(ctx);
	assert_uint_in_range(strlen(cred), 1, VS_CTL_REQUEST_MAX - 1);
	return cred;
}

static void a_request_that_munge_inflates_is_measured_again(void **state)
{
	VS_FREE char *large = deflated_question(100000);
	VS_FREE char *fine = deflated_question(20000), *frame = NULL;
	int fd;

	expect_refused(port_of(state), large);
	fd = dial(port_of(state));
	send_frame(fd, fine);
	frame = recv_frame(fd);
	assert_non_null(frame);
	close(fd);
}

/* munge's own bound: no more than 1 MiB can be sealed, deflated or not, so that
 * no credential can be inflated to more. */
static void munge_seals_a_mebibyte_at_most(void **state)
{
	size_t bytes = 1024 * 1024 + 1;
	VS_FREE char *text = vs_calloc(bytes, 1);
	munge_ctx_t ctx = munge_ctx_create();
	char *cred = NULL;

	(void)state;
	assert_int_equal(munge_ctx_set(ctx, MUNGE_OPT_SOCKET, stage_socket), 0);
	assert_int_equal(munge_ctx_set(ctx, MUNGE_OPT_ZIP_TYPE, MUNGE_ZIP_ZLIB), 0);
	assert_int_equal(munge_encode(&cred, ctx, text, (int)bytes),
			 EMUNGE_BAD_LENGTH);
	assert_null(cred);
	munge_ctx_destroy(ctx);
}

/* Exits with how many of n plans this user got, 100: a refusal had other words. */
static void plans_of(uid_t uid_asks, int port, int n)
{
	int got = 0;

	if (setgid(NOBODY) || setuid(uid_asks))
		_exit(101);
	stage_dies_with_parent();
	for (int i = 0; i < n; i++) {
		VS_FREE char *cred = question("plan", 0), *frame, *text = NULL;
		struct vs_ctl_part p;
		uint32_t uid;
		size_t len;
		int fd = dial(port);

		send_frame(fd, cred);
		frame = recv_frame(fd);
		if (!frame || vs_unseal(stage_socket, frame, &text, &len, &uid,
					NULL) ||
		    vs_ctl_part_parse(text, len, &p, NULL))
			_exit(102);
		if (p.refused && !strstr(p.err.text, "too many requests by uid"))
			_exit(100);
		got += !p.refused;
		close(fd);
	}
	_exit(got);
}

static void expect_plans_of(uid_t uid, int port, int asked, int got)
{
	pid_t pid = stage_fork();
	int status;

	if (pid == 0)
		plans_of(uid, port, asked);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), got);
}

static void expect_plans(int port, int asked, int got)
{
	expect_plans_of(NOBODY, port, asked, got);
}

/* Plans have an answer, and time stands still. Returns the port. */
static int plans_begin(void **state)
{
	if (geteuid() != 0)
		skip();
	stage_report_text[4] = "{}";
	stage_clock_stop();
	return port_of(state);
}

static void plans_end(void)
{
	stage_clock_go();
	stage_report_text[4] = NULL;
}

/* Whatever their uids: 256 apart, for one. */
static void one_user_takes_no_plans_from_another(void **state)
{
	int port = plans_begin(state);

	stage_clock_forward(60000);
	expect_plans(port, 13, 10);
	for (uid_t uid = NOBODY - 256; uid > NOBODY - 1024; uid -= 256)
		expect_plans_of(uid, port, 11, 10);
	expect_plans(port, 1, 0);
	plans_end();
}

static void an_ordinary_user_gets_ten_plans_and_one_more_a_second(void **state)
{
	int port = plans_begin(state);

	expect_plans(port, 13, 10);
	stage_clock_forward(1000);
	expect_plans(port, 3, 1);
	stage_clock_forward(60000);
	expect_plans(port, 13, 10);
	for (int i = 0; i < 30; i++) {		/* root isn't counted */
		struct vs_err err = { 0 };
		VS_FREE char *text = ask(port, "plan", 0, &err, NULL);

		assert_non_null(text);
	}
	plans_end();
}

/* ---- whom -------------------------------------------------------------- */

static void expect_elsewhere(int port, const char *to, const char *cluster)
{
	VS_FREE char *cred = question_to("confirm", 0, to, cluster);
	VS_FREE char *frame = NULL, *text = NULL, *want = NULL;
	struct vs_ctl_part p = { 0 };
	uint32_t uid;
	size_t len;
	int fd = dial(port);

	send_frame(fd, cred);
	frame = recv_frame(fd);
	assert_non_null(frame);
	close(fd);
	assert_int_equal(vs_unseal(stage_socket, frame, &text, &len, &uid, NULL),
			 0);
	assert_int_equal(vs_ctl_part_parse(text, len, &p, NULL), 0);
	assert_true(p.refused && p.elsewhere);
	want = vs_asprintf("the request is for controller %s of cluster %s, but controller %s of cluster stage received it",
			   to, cluster, stage_host());
	assert_string_equal(p.err.text, want);
}

static void an_order_to_another_controller_is_refused(void **state)
{
	VS_FREE char *longer = vs_asprintf("%sx", stage_host());
	VS_FREE char *dotted = vs_asprintf("%s.x", stage_host());
	const char *const others[] = {
		"other", "other,another", ",", "localhost", "127.0.0.1", "::1",
		longer, dotted,
	};
	struct vs_err err = { 0 };
	VS_FREE char *none = NULL;
	int port = port_of(state);

	for (size_t i = 0; i < VS_COUNT(others); i++)
		expect_elsewhere(port, others[i], STAGE_CLUSTER);
	expect_elsewhere(port, stage_host(), "other");
	none = ask_to(port, "confirm", 0, "", "", &err, NULL);
	assert_null(none);
	assert_non_null(strstr(err.text, "the request names no controller"));
}

static void an_order_to_this_controller_is_obeyed(void **state)
{
	VS_FREE char *of_many = vs_asprintf("other,%s", stage_host());
	VS_FREE char *one = NULL, *two = NULL, *three = NULL;
	struct vs_err err = { 0 };
	int port = port_of(state);

	if (geteuid() != 0)
		skip();
	one = ask_to(port, "confirm", 0, stage_host(), "stage", &err, NULL);
	assert_non_null(one);
	assert_non_null(strstr(one, "\"did\":\"confirm\""));
	two = ask_to(port, "confirm", 0, of_many, "Stage", &err, NULL);
	assert_non_null(two);
	three = ask_to(port, "confirm", 0, "127.0.0.1", "stage", &err, NULL);
	assert_null(three);
}

/* Pure: a host with a domain, and addresses that aren't loopback's. */
static void names_and_addresses_of_a_controller(void **state)
{
	static const struct { const char *to, *cluster; bool good; } rows[] = {
		{ "ctl1", "hpc", true }, { "CTL1", "HPC", true },
		{ "ctl1.example.org", "hpc", true }, { "10.0.0.7", "hpc", true },
		{ "ctl0,ctl1", "hpc", true }, { "ctl1.example", "hpc", false },
		{ "ctl", "hpc", false }, { "ctl11", "hpc", false },
		{ "ctl2", "hpc", false }, { "10.0.0.70", "hpc", false },
		{ "10.0.0.7", "", false }, { "ctl1", "hpc2", false },
		{ "", "hpc", false }, { ",,", "hpc", false },
	};
	const struct vs_ctl_self self = { .host = "ctl1.example.org",
					  .cluster = "hpc", .addr = "10.0.0.7" };
	const struct vs_ctl_self bare = { .host = "ctl1", .cluster = "hpc",
					  .addr = "" };
	struct vs_ctl_request r = { 0 };
	bool elsewhere;

	(void)state;
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		int rc;

		vs_strlcpy(r.to, rows[i].to, sizeof(r.to));
		vs_strlcpy(r.cluster, rows[i].cluster, sizeof(r.cluster));
		rc = vs_ctl_request_check(&r, &self, &elsewhere, NULL);
		if (rc != (rows[i].good ? 0 : -1) ||
		    elsewhere != (!rows[i].good && r.to[0]))
			fail_msg("%s of %s: %d", r.to, r.cluster, rc);
	}
	/* without an address of its own it has no address at all */
	vs_strlcpy(r.to, ",", sizeof(r.to));
	vs_strlcpy(r.cluster, "hpc", sizeof(r.cluster));
	assert_int_equal(vs_ctl_request_check(&r, &bare, &elsewhere, NULL), -1);
}

/* Without a number it is protocol 1. Of a newer one nothing but the id is read. */
static void a_newer_protocol_is_refused_by_both_sides(void **state)
{
	static const char old[] = "{\"verb\":\"why\",\"id\":\"7\",\"to\":\"ctl1\",\"cluster\":\"hpc\"}";
	static const char newer[] = "{\"protocol\":2,\"id\":\"7\",\"verb\":[\"why\"]}";
	static const char reply[] = "{\"protocol\":2,\"id\":\"7\",\"part\":0,\"of\":1}\n{}";
	static const char before[] = "{\"id\":\"7\",\"part\":0,\"of\":1}\n{}";
	static const char refusal[] = "{\"protocol\":2,\"id\":\"7\",\"error\":\"no\",\"code\":\"gone\"}\n";
	const struct vs_ctl_self self = { .host = "ctl1", .cluster = "hpc",
					  .addr = "" };
	struct vs_ctl_request r;
	struct vs_err err = { 0 };
	struct vs_ctl_part p;
	bool elsewhere;

	(void)state;
	assert_int_equal(vs_ctl_request_parse(old, strlen(old), &r, NULL), 0);
	assert_int_equal(r.protocol, 1);
	assert_int_equal(vs_ctl_request_check(&r, &self, &elsewhere, NULL), 0);
	assert_int_equal(vs_ctl_request_parse(newer, strlen(newer), &r, NULL), 0);
	assert_string_equal(r.id, "7");
	assert_int_equal(vs_ctl_request_check(&r, &self, &elsewhere, &err), -1);
	assert_false(elsewhere);
	assert_string_equal(err.text,
		"svf speaks protocol 2, slurmctld's slurm-vsphere 1: install the svf of slurmctld's release");
	assert_int_equal(vs_ctl_part_parse(before, strlen(before), &p, NULL), 0);
	assert_int_equal(vs_ctl_part_parse(reply, strlen(reply), &p, &err), -1);
	assert_string_equal(err.text,
		"slurmctld's slurm-vsphere speaks protocol 2, svf 1: install the svf of slurmctld's release");
	/* A refusal is read whatever its protocol: it says what is to be done. */
	assert_int_equal(vs_ctl_part_parse(refusal, strlen(refusal), &p, NULL), 0);
	assert_true(p.refused);
	assert_string_equal(p.err.text, "no");
}

static void expect_addr(int family, const char *in, const char *want, bool loop)
{
	struct sockaddr_in in4 = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
				    .sin6_scope_id = 7 };
	void *to = family == AF_INET ? (void *)&in4.sin_addr :
		(void *)&in6.sin6_addr;
	char out[64];

	assert_int_equal(inet_pton(family, in, to), 1);
	assert_int_equal(vs_ctl_addr_format(family == AF_INET ?
					    (struct sockaddr *)&in4 :
					    (struct sockaddr *)&in6, out,
					    sizeof(out)), loop);
	assert_string_equal(out, want);
}

static void addresses_are_written_one_way(void **state)
{
	const struct sockaddr local = { .sa_family = AF_UNIX };
	char out[64] = "x";

	(void)state;
	expect_addr(AF_INET, "10.0.0.7", "10.0.0.7", false);
	expect_addr(AF_INET, "127.0.0.2", "127.0.0.2", true);
	expect_addr(AF_INET6, "::ffff:10.0.0.7", "10.0.0.7", false);
	expect_addr(AF_INET6, "::ffff:127.0.0.1", "127.0.0.1", true);
	expect_addr(AF_INET6, "::1", "::1", true);
	expect_addr(AF_INET6, "fe80::1", "fe80::1", false);
	assert_false(vs_ctl_addr_format(&local, out, sizeof(out)));
	assert_string_equal(out, "");
}

/* ---- what -------------------------------------------------------------- */

static void verbs_that_fail_say_why_and_what_to_do(void **state)
{
	struct vs_err err = { 0 };
	VS_FREE char *a = ask(port_of(state), "why", 99, &err, NULL);
	VS_FREE char *b = NULL, *c = NULL, *d = NULL;

	assert_null(a);
	assert_int_equal(err.code, VS_E_GONE);
	assert_string_equal(err.text, "no such job: 99 (sacct shows jobs that ended long ago)");
	b = ask(port_of(state), "why", 0, &err, NULL);
	assert_null(b);
	assert_int_equal(err.code, VS_E_REQUEST);
	assert_string_equal(err.text, "why: expected a job id");
	c = ask(port_of(state), "destroy", 0, &err, NULL);
	assert_null(c);
	assert_non_null(strstr(err.text, "does not know the verb 'destroy'"));
	d = ask(port_of(state), "why", 4711, &err, NULL);
	assert_non_null(d);
	expect_count(refused, 0);
}

static void the_longest_report_comes_in_parts_and_whole(void **state)
{
	struct vs_err err = { 0 };
	VS_FREE char *s = NULL;
	unsigned int parts;
	size_t n = 0;
	char *p;

	stage_big = (VS_CTL_REPORT_MAX - 4096) / 13 * 12;
	s = ask(port_of(state), "nodes", 0, &err, &parts);
	assert_non_null(s);
	assert_int_equal(parts, VS_CTL_REPORT_MAX / VS_CTL_PART_MAX + 1);
	p = strstr(s, "[\"");
	assert_non_null(p);
	for (p++; *p == '"'; p += 13, n++)
		assert_int_equal(strtoul(p + 1, NULL, 10), n);
	assert_int_equal(n, stage_big / 12);
	assert_string_equal(p - 1, "]}");
}

static void a_report_beyond_all_bounds_is_refused(void **state)
{
	struct vs_err err = { 0 };
	VS_FREE char *s = NULL;

	stage_big = VS_CTL_REPORT_MAX;
	s = ask(port_of(state), "nodes", 0, &err, NULL);
	assert_null(s);
	assert_non_null(strstr(err.text, "too long"));
}

/* ---- bad frames -------------------------------------------------------- */

/* at_sight: nothing more needs to come for it to be refused. */
static void raw(int port, const void *bytes, size_t len, bool at_sight)
{
	uint64_t before = refused();
	int fd = dial(port);

	assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
	if (!at_sight)
		shutdown(fd, SHUT_WR);
	expect_hangup(fd);
	expect_count(refused, before + 1);
}

static void garbage_is_refused_without_a_word(void **state)
{
	static const char http[] = "GET / HTTP/1.0\r\n\r\n";
	static const unsigned char big[] = { 0, 0, 128, 1, 'M', 'U', 'N', 'G',
					     'E', ':' };
	static const unsigned char zero[] = { 0, 0, 0, 0 };
	static const unsigned char other[] = { 0, 0, 0, 64, 'X' };
	static const unsigned char part[] = { 0, 0, 0, 64, 'M', 'U', 'N' };
	int port = port_of(state);

	raw(port, http, sizeof(http) - 1, true);
	raw(port, big, sizeof(big), true);
	raw(port, zero, sizeof(zero), true);
	raw(port, other, sizeof(other), true);
	raw(port, part, sizeof(part), false);
	raw(port, part, 0, false);
	expect_refused(port, "MUNGE:AwQDAAC=:");
	expect_served(port);
}

static void bytes_behind_a_question_are_refused(void **state)
{
	VS_FREE char *cred = question("hosts", 0);
	VS_FREE char *both = NULL;
	uint32_t n = __builtin_bswap32((uint32_t)strlen(cred));
	size_t len = strlen(cred);

	both = vs_calloc(1, len + 5);
	memcpy(both, &n, 4);
	memcpy(both + 4, cred, len);
	both[len + 4] = 'X';
	raw(port_of(state), both, len + 5, true);
}

static void what_is_sealed_must_be_a_question(void **state)
{
	static const char *const bad[] = {
		"", "{}", "[]", "null", "{\"verb\":\"hosts\"}", "{\"id\":\"q\"}",
		"{\"verb\":7,\"id\":\"q\"}", "{\"verb\":\"hosts\",\"id\":\"\"}",
		"{\"verb\":\"hosts\",\"id\":\"q\",\"job\":-1}",
		"{\"verb\":\"hosts\",\"id\":\"q\",\"job\":4294967296}",
		"{\"verb\":\"hosts\",\"id\":\"q\",\"job\":\"1\"}",
		"{\"verb\":\"averylongverbindeed\",\"id\":\"q\"}",
		"{\"verb\":\"hosts\",\"id\":\"q\"} x",
	};

	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		VS_FREE char *cred = NULL;

		assert_int_equal(vs_seal(stage_socket, VS_SEAL_ANYBODY, bad[i],
					 strlen(bad[i]), &cred, NULL), 0);
		expect_refused(port_of(state), cred);
	}
}

/* ---- slow and many ----------------------------------------------------- */

static void who_sends_slowly_is_dropped_and_holds_up_nobody(void **state)
{
	int port = port_of(state), fd = dial(port);

	stage_clock_stop();
	assert_int_equal(send(fd, "\0", 1, MSG_NOSIGNAL), 1);
	expect_served(port);
	assert_int_equal(expired(), 0);
	stage_clock_forward(4000);
	expect_served(port);
	assert_int_equal(expired(), 0);
	/* another byte is no excuse: the request must be whole in time */
	assert_int_equal(send(fd, "\0", 1, MSG_NOSIGNAL), 1);
	expect_served(port);
	stage_clock_forward(1100);
	expect_served(port);
	stage_clock_go();
	expect_hangup(fd);
	expect_count(expired, 1);
}

static void who_reads_slowly_is_dropped_and_holds_up_nobody(void **state)
{
	int port = port_of(state), fd = dial(port), small = 4096;
	VS_FREE char *cred = question("nodes", 0);

	stage_big = 12 * 1024 * 1024;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	stage_clock_stop();
	send_frame(fd, cred);
	expect_count(served, 1);
	for (int i = 0; i < 50; i++)
		expect_served(port);
	assert_int_equal(expired(), 0);
	stage_clock_forward(5100);
	expect_served(port);
	stage_clock_go();
	expect_count(expired, 1);
	close(fd);
}

static void when_all_places_are_taken_the_silent_give_way(void **state)
{
	int port = port_of(state), fds[PLACES];
	int64_t begin = vs_now_ms();

	for (int i = 0; i < PLACES; i++)
		fds[i] = dial(port);
	expect_served(port);
	assert_true(vs_now_ms() - begin >= 0 && vs_now_ms() - begin <= 4000);
	assert_true(expired() > 0);
	for (int i = 0; i < PLACES; i++)
		close(fds[i]);
	expect_served(port);
}

static void *one_of_many(void *arg)
{
	for (int i = 0; i < 5; i++)
		expect_served(*(int *)arg);
	return NULL;
}

static void many_at_once_are_all_served(void **state)
{
	pthread_t t[24];
	int port = port_of(state);

	for (size_t i = 0; i < VS_COUNT(t); i++)
		assert_int_equal(pthread_create(&t[i], NULL, one_of_many,
						&port), 0);
	for (size_t i = 0; i < VS_COUNT(t); i++)
		pthread_join(t[i], NULL);
	expect_count(served, 5 * VS_COUNT(t));
	assert_int_equal(refused() + expired(), 0);
}

/* ---- start and stop ---------------------------------------------------- */

static void a_busy_port_or_a_bad_address_is_said_clearly(void **state)
{
	char want[64];
	struct vs_conf conf = { .svf_listen_addr = "127.0.0.1",
				.munge_socket = stage_socket };
	struct vs_err err = { 0 };
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	int fd = dial(port_of(state)), other;

	/* a port of another listener: the client's own end of a connection
	 * doesn't block a port, so listen on one more */
	close(fd);
	other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(listen(other, 1), 0);
	assert_int_equal(getsockname(other, (struct sockaddr *)&sa, &len), 0);
	conf.svf_port = __builtin_bswap16(*(uint16_t *)sa.__ss_padding);
	snprintf(want, sizeof(want), "SvfPort=%d: cannot listen: Address "
		 "already in use", conf.svf_port);
	assert_int_equal(vs_control_start(&conf, &err), -1);
	assert_int_equal(err.code, VS_E_CONFIG);
	assert_non_null(strstr(err.text, want));
	close(other);
	conf.svf_listen_addr = "no.such.host.invalid";
	assert_int_equal(vs_control_start(&conf, &err), -1);
	assert_non_null(strstr(err.text, "SvfListenAddr=no.such.host.invalid: "));
}

static void stop_ends_all_connections_and_may_come_twice(void **state)
{
	int port = port_of(state), fd = dial(port);

	expect_served(port);
	vs_control_stop();
	expect_hangup(fd);
	vs_control_stop();
	expect_served(stage_start());
}

static void without_munged_the_client_is_told_nothing_and_dropped(void **state)
{
	struct vs_conf conf = { .svf_listen_addr = "127.0.0.1",
				.munge_socket = "/nonexistent/munge.socket",
				.state_dir = stage_dir };
	VS_FREE char *cred = question("hosts", 0);
	VS_FREE char *path = vs_asprintf("%s/vsphere_control.port", stage_dir);
	int port = 0;
	FILE *f;

	(void)state;
	assert_int_equal(vs_control_start(&conf, NULL), 0);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &port), 1);
	fclose(f);
	expect_refused(port, cred);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup(f, restart)
		T(the_answer_is_for_who_munge_says_asks),
		T(any_user_may_ask_and_nobody_else_can_open_the_answer),
		T(a_request_that_munge_inflates_is_measured_again),
		T(munge_seals_a_mebibyte_at_most),
		T(one_user_takes_no_plans_from_another),
		T(an_ordinary_user_gets_ten_plans_and_one_more_a_second),
		T(a_credential_is_good_for_one_question),
		T(a_credential_must_be_short_lived_for_us_and_of_our_key),
		T(an_order_to_another_controller_is_refused),
		T(an_order_to_this_controller_is_obeyed),
		T(names_and_addresses_of_a_controller),
		T(a_newer_protocol_is_refused_by_both_sides),
		T(addresses_are_written_one_way),
		T(verbs_that_fail_say_why_and_what_to_do),
		T(the_longest_report_comes_in_parts_and_whole),
		T(a_report_beyond_all_bounds_is_refused),
		T(garbage_is_refused_without_a_word),
		T(bytes_behind_a_question_are_refused),
		T(what_is_sealed_must_be_a_question),
		T(who_sends_slowly_is_dropped_and_holds_up_nobody),
		T(who_reads_slowly_is_dropped_and_holds_up_nobody),
		T(when_all_places_are_taken_the_silent_give_way),
		T(many_at_once_are_all_served),
		T(a_busy_port_or_a_bad_address_is_said_clearly),
		T(stop_ends_all_connections_and_may_come_twice),
		T(without_munged_the_client_is_told_nothing_and_dropped),
	};

	signal(SIGPIPE, SIG_IGN);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, stage_open, stage_close);
}
