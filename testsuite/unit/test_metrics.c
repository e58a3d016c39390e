/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metrics server with a made-up page and a clock that the test sets: what
 * is a request, which format is meant, and that no client waits for another.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "cmocka_range.h"

#include "engine/metrics/metrics.h"
#include "engine/metrics/metrics_i.h"
#include "util/mem.h"
#include "util/time.h"

#define PLACES 8		/* connections at once, as promised */
#define PATIENCE_MS 20000
#define LONG_PAGE ((size_t)20 * 1024 * 1024)
#define GET "GET /metrics HTTP/1.1\r\nHost: x\r\n"

static atomic_llong offset_ms;
static atomic_size_t page_size = 4;
static atomic_bool page_fails;
static atomic_uint pages_made;
static int port;

int64_t vs_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000 +
		atomic_load(&offset_ms);
}

int64_t vs_wall_ms(void)
{
	return (int64_t)time(NULL) * 1000;
}

/* Instead of page_cache.c's. */
int vs_metrics_page(bool openmetrics, struct vs_buf *out, struct vs_err *err)
{
	size_t left = atomic_load(&page_size);
	char piece[4096];

	atomic_fetch_add(&pages_made, 1);
	if (atomic_load(&page_fails))
		return vs_err_set(err, VS_E_RETRY, "not now");
	memset(piece, openmetrics ? 'o' : 't', sizeof(piece));
	while (left) {
		size_t n = left < sizeof(piece) ? left : sizeof(piece);

		if (vs_buf_add(out, piece, n))
			return vs_err_set(err, VS_E_BUG, "too long");
		left -= n;
	}
	return 0;
}

static int start(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	atomic_store(&page_size, 4);
	atomic_store(&page_fails, false);
	atomic_store(&pages_made, 0);
	assert_int_equal(vs_metrics_start("127.0.0.1", 0, &port, &err), 0);
	return 0;
}

static int stop_serving(void **state)
{
	(void)state;
	vs_metrics_stop();
	return 0;
}

static int dial(const char *text)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	if (*text)
		assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL),
				 (ssize_t)strlen(text));
	return fd;
}

/* All that comes until the peer hangs up; free() it. */
static char *all_of(int fd)
{
	struct vs_buf b = VS_BUF_INIT(64 * 1024 * 1024);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	static char buf[65536];
	ssize_t n;

	for (;;) {
		assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
		n = recv(fd, buf, sizeof(buf), 0);
		if (n <= 0)
			break;
		assert_int_equal(vs_buf_add(&b, buf, (size_t)n), 0);
	}
	close(fd);
	return b.data ? b.data : vs_strdup("");
}

static char *ask(const char *text)
{
	return all_of(dial(text));
}

static void expect(const char *text, const char *begins, const char *ends)
{
	VS_FREE char *s = ask(text);

	if (strncmp(s, begins, strlen(begins)))
		fail_msg("%.60s... is answered with %.80s", text, s);
	assert_true(strlen(s) >= strlen(ends));
	assert_string_equal(s + strlen(s) - strlen(ends), ends);
}

/* The server has not hung up. */
static void expect_open(int fd)
{
	char c;

	assert_int_not_equal(recv(fd, &c, 1, MSG_DONTWAIT | MSG_PEEK), 0);
}

/* ---- requests ---------------------------------------------------------- */

static int status_of(const char *text)
{
	struct vs_metrics_request r;

	return vs_metrics_request_parse(text, strlen(text), &r) ? 1 : r.status;
}

static void a_request_is_judged_by_its_own_words(void **state)
{
	static const struct { int status; const char *text; } all[] = {
		{ 200, GET "\r\n" },
		{ 200, "GET /metrics HTTP/1.0\n\n" },
		{ 200, "GET /metrics?a=b HTTP/1.1\r\nContent-Length: 0\r\n\r\n" },
		{ 404, "GET / HTTP/1.1\r\n\r\n" },
		{ 404, "GET /metricsx HTTP/1.1\r\n\r\n" },
		{ 404, "POST / HTTP/1.1\r\n\r\n" },
		{ 405, "POST /metrics HTTP/1.1\r\n\r\n" },
		{ 405, "HEAD /metrics HTTP/1.1\r\n\r\n" },
		{ 405, "get /metrics HTTP/1.1\r\n\r\n" },
		{ 505, "GET /metrics HTTP/2.0\r\n\r\n" },
		{ 505, "GET /metrics HTTP/1.11\r\n\r\n" },
		{ 400, "GET /metrics\r\n\r\n" },
		{ 400, "GET  /metrics HTTP/1.1\r\n\r\n" },
		{ 400, "\r\n" },
		{ 400, "GET /metrics FTP/1.1\r\n\r\n" },
		{ 400, GET " folded: x\r\n\r\n" },
		{ 400, GET "nocolon\r\n\r\n" },
		{ 400, GET "a b: c\r\n\r\n" },
		{ 400, GET ": c\r\n\r\n" },
		{ 400, GET "a: \001\r\n\r\n" },
		{ 400, GET "Transfer-Encoding: chunked\r\n\r\n" },
		{ 400, GET "Content-Length: 5\r\n\r\n" },
		{ 400, GET "\r\nGET / HTTP/1.1\r\n\r\n" },	/* and another */
		{ 1, "" }, { 1, GET }, { 1, "GET /metrics HTTP/1.1\r\n\r" },
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(all); i++)
		if (status_of(all[i].text) != all[i].status)
			fail_msg("%s: %d", all[i].text, status_of(all[i].text));
}

static void accept_of(const char *accept, bool openmetrics)
{
	struct vs_metrics_request r;
	VS_FREE char *text = vs_asprintf(GET "%s\r\n\r\n", accept);

	assert_int_equal(vs_metrics_request_parse(text, strlen(text), &r), 0);
	assert_int_equal(r.status, 200);
	if (r.openmetrics != openmetrics)
		fail_msg("%s", accept);
}

static void the_format_is_what_is_accepted_most(void **state)
{
	(void)state;
	accept_of("Accept: */*", false);
	accept_of("X: application/openmetrics-text", false);
	accept_of("Accept: application/openmetrics-text", true);
	accept_of("accept:APPLICATION/OpenMetrics-Text ; version=1.0.0", true);
	/* Prometheus 2.42's own */
	accept_of("Accept: application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", true);
	accept_of("Accept: text/plain, application/openmetrics-text;q=0.9", false);
	accept_of("Accept: application/openmetrics-text;q=0", false);
	accept_of("Accept: application/openmetrics-text;q=0.001", true);
	accept_of("Accept: text/plain;q=0.5,application/openmetrics-text;q=0.55", true);
	accept_of("Accept: text/html\r\nAccept: application/openmetrics-text", true);
}

static void what_is_too_long_is_refused(void **state)
{
	char text[VS_METRICS_REQUEST_MAX];
	struct vs_metrics_request r;

	(void)state;
	memset(text, 'a', sizeof(text));
	memcpy(text, GET, strlen(GET));
	assert_int_equal(vs_metrics_request_parse(text, sizeof(text) - 1, &r), 1);
	assert_int_equal(vs_metrics_request_parse(text, sizeof(text), &r), 0);
	assert_int_equal(r.status, 431);
}

/* ---- the server -------------------------------------------------------- */

static void one_page_in_two_formats(void **state)
{
	(void)state;
	expect(GET "\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4;",
	       "Connection: close\r\n\r\ntttt");
	expect(GET "Accept: application/openmetrics-text\r\n\r\n",
	       "HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0;",
	       "\r\n\r\noooo");
	expect("PUT /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 ", "answers GET /metrics only\n");
	expect("GET /x HTTP/1.1\r\n\r\n", "HTTP/1.1 404 ", "answers GET /metrics only\n");
}

static void a_page_serves_all_who_ask_within_a_second(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		expect(GET "\r\n", "HTTP/1.1 200 ", "tttt");
	assert_uint_in_range(atomic_load(&pages_made), 1, 2);	/* we may be slow */
	atomic_fetch_add(&offset_ms, 1000);
	atomic_store(&page_size, 5);
	expect(GET "\r\n", "HTTP/1.1 200 ", "\r\nttttt");
	assert_uint_in_range(atomic_load(&pages_made), 2, 3);
}

static void a_page_that_cannot_be_made_says_why(void **state)
{
	(void)state;
	atomic_store(&page_fails, true);
	expect(GET "\r\n", "HTTP/1.1 503 ", "\r\n\r\nnot now\n");
	atomic_store(&page_fails, false);
	expect(GET "\r\n", "HTTP/1.1 200 ", "tttt");
}

/* A byte now and then buys no time: the deadline is the connection's. */
static void who_trickles_is_cut_off(void **state)
{
	int fd = dial(GET);
	VS_FREE char *s = NULL;
	int64_t due_ms;

	(void)state;
	for (int i = 0; i < 4; i++) {
		atomic_fetch_add(&offset_ms, 1000);
		assert_int_equal(send(fd, "X", 1, MSG_NOSIGNAL), 1);
		expect(GET "\r\n", "HTTP/1.1 200 ", "tttt");
	}
	expect_open(fd);
	atomic_fetch_add(&offset_ms, 1100);
	due_ms = vs_now_ms();
	expect(GET "\r\n", "HTTP/1.1 200 ", "tttt");
	s = all_of(fd);
	assert_true(vs_now_ms() - due_ms < 3000);	/* after the last byte: 3900 */
	assert_string_equal(s, "");
}

static void a_crowd_of_slow_ones_keeps_nobody_out_for_long(void **state)
{
	int slow[PLACES], asks;
	int64_t began = vs_now_ms();
	VS_FREE char *s = NULL;

	(void)state;
	for (int i = 0; i < PLACES; i++)
		slow[i] = dial(GET);
	asks = dial(GET "\r\n");	/* in the kernel's queue */
	/* one second, and nothing but the crowd's own deadline wakes it */
	s = all_of(asks);
	assert_non_null(strstr(s, "tttt"));
	assert_true(vs_now_ms() - began < 4000);	/* and not five */
	for (int i = 0; i < PLACES; i++) {
		VS_FREE char *t = all_of(slow[i]);

		assert_string_equal(t, "");
	}
}

static void who_takes_no_answer_is_cut_off_and_others_are_served(void **state)
{
	VS_FREE char *s = NULL;
	int fd;

	(void)state;
	atomic_store(&page_size, LONG_PAGE);
	fd = dial(GET "\r\n");
	expect("GET /x HTTP/1.1\r\n\r\n", "HTTP/1.1 404 ", "\n");
	expect_open(fd);
	atomic_fetch_add(&offset_ms, 10100);
	atomic_store(&page_size, 4);
	expect(GET "\r\n", "HTTP/1.1 200 ", "\r\ntttt");
	s = all_of(fd);
	assert_true(strlen(s) < LONG_PAGE);
}

/* They hold all places, and read nothing. */
static void a_crowd_that_takes_no_answer_keeps_nobody_out_for_long(void **state)
{
	int64_t began = vs_now_ms();
	int deaf[PLACES], asks;
	VS_FREE char *s = NULL;

	(void)state;
	atomic_store(&page_size, LONG_PAGE);
	for (int i = 0; i < PLACES; i++)
		deaf[i] = dial(GET "\r\n");
	for (int i = 0; i < PLACES; i++) {
		struct pollfd p = { .fd = deaf[i], .events = POLLIN };

		assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	}
	began = vs_now_ms();
	asks = dial("GET /x HTTP/1.1\r\n\r\n");
	s = all_of(asks);
	assert_non_null(strstr(s, "HTTP/1.1 404 "));
	assert_true(vs_now_ms() - began < 6000);	/* and not ten */
	for (int i = 0; i < PLACES; i++)
		close(deaf[i]);
}

static void a_long_page_comes_whole(void **state)
{
	const size_t size = 20 * 1024 * 1024;
	VS_FREE char *s = NULL;

	(void)state;
	atomic_store(&page_size, size);
	s = ask(GET "\r\n");
	assert_non_null(strstr(s, "Content-Length: 20971520\r\n"));
	assert_int_equal(strlen(strstr(s, "\r\n\r\n")), size + 4);
}

static void a_port_in_use_is_an_error_of_the_configuration(void **state)
{
	struct vs_err err = { 0 };
	VS_FREE char *want = NULL;
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), taken;

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	taken = ntohs(a.sin_port);
	assert_int_equal(vs_metrics_start("127.0.0.1", taken, NULL, &err),
			 -1);
	assert_int_equal(err.code, VS_E_CONFIG);
	want = vs_asprintf("MetricsAddr=127.0.0.1 MetricsPort=%d: cannot listen: Address already in use",
			   taken);
	assert_string_equal(err.text, want);
	close(fd);
	/* and once it is free, it serves */
	assert_int_equal(vs_metrics_start("127.0.0.1", taken, &port, &err),
			 0);
	assert_int_equal(port, taken);
	expect(GET "\r\n", "HTTP/1.1 200 ", "tttt");
}

static void its_end_is_everybodys(void **state)
{
	int slow = dial(GET), idle = dial("");
	VS_FREE char *a = NULL, *b = NULL;

	(void)state;
	expect(GET "\r\n", "HTTP/1.1 200 ", "tttt");
	vs_metrics_stop();
	a = all_of(slow);
	b = all_of(idle);
	assert_string_equal(a, "");
	assert_string_equal(b, "");
	vs_metrics_stop();		/* harmless */
}

#define SERVED(f) cmocka_unit_test_setup_teardown(f, start, stop_serving)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_judged_by_its_own_words),
		cmocka_unit_test(the_format_is_what_is_accepted_most),
		cmocka_unit_test(what_is_too_long_is_refused),
		SERVED(one_page_in_two_formats),
		SERVED(a_page_serves_all_who_ask_within_a_second),
		SERVED(a_page_that_cannot_be_made_says_why),
		SERVED(who_trickles_is_cut_off),
		SERVED(a_crowd_of_slow_ones_keeps_nobody_out_for_long),
		SERVED(who_takes_no_answer_is_cut_off_and_others_are_served),
		SERVED(a_crowd_that_takes_no_answer_keeps_nobody_out_for_long),
		SERVED(a_long_page_comes_whole),
		SERVED(a_port_in_use_is_an_error_of_the_configuration),
		SERVED(its_end_is_everybodys),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
