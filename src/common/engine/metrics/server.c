/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metrics' server (poll_server.c): one request per connection.
 *
 * Rules: no client waits for a slow one: a request must be whole within READ_MS of
 * its connection, the answer taken within WRITE_MS of its beginning (each within
 * CROWD_MS or WRITE_CROWD_MS while all places are taken). Everything has
 * a maximum. A page serves all who ask within FRESH_MS, so that who asks without a
 * pause costs the core two readings a second. Nothing is changed by any request, and
 * no client has to authenticate: the page names no user and no job.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "engine/metrics/metrics.h"
#include "engine/metrics/metrics_i.h"
#include "engine/rpc/rpc.h"
#include "util/mem.h"

#define CONNS_MAX 8
#define READ_MS 5000
#define CROWD_MS 1000
#define WRITE_MS 10000
#define WRITE_CROWD_MS 2000
#define FRESH_MS 1000
#define PAGE_MAX (24 * 1024 * 1024)

struct page {
	struct vs_buf text;
	int64_t made_ms;		/* 0: there is none */
};

static struct {
	struct page pages[2];		/* by format */
} srv;

static const struct vs_serve_type kind = {
	.who = "metrics", .thread = "vs_metrics",
	.places = CONNS_MAX, .size = sizeof(struct vs_conn),
	.read_ms = READ_MS, .read_crowd_ms = CROWD_MS,
	.write_ms = WRITE_MS, .write_crowd_ms = WRITE_CROWD_MS,
};
static struct vs_conn conns[CONNS_MAX];
static struct vs_serve server = {
	.kind = &kind, .conns = conns, .listen_fd = -1, .wake_fd = -1,
};

/* ---- answers ----------------------------------------------------------- */

static void answer(struct vs_conn *c, int status, const char *type,
		   const char *body, size_t len, int64_t now_ms)
{
	char head[VS_METRICS_HEAD_MAX];
	size_t n = vs_metrics_head(status, type, len, head);

	c->writing = true;
	c->since_ms = now_ms;
	if (vs_buf_add(&c->out, head, n) || vs_buf_add(&c->out, body, len))
		vs_serve_close(&server, c);
}

static void refuse(struct vs_conn *c, int status, const char *why, int64_t now_ms)
{
	char body[sizeof(((struct vs_err *)0)->text) + 8];

	snprintf(body, sizeof(body), "%s\n", why);
	answer(c, status, "text/plain; charset=utf-8", body, strlen(body),
	       now_ms);
}

/* Returns the page, made again if it is old. Returns NULL and sets err if it can't be
 * made. */
static const struct page *page_now(bool openmetrics, int64_t now_ms,
				   struct vs_err *err)
{
	struct page *p = &srv.pages[openmetrics];

	if (p->made_ms && now_ms - p->made_ms < FRESH_MS)
		return p;
	p->made_ms = 0;
	vs_buf_reset(&p->text);
	if (vs_metrics_page(openmetrics, &p->text, err))
		return NULL;
	p->made_ms = now_ms;
	return p;
}

static void conn_answer(struct vs_conn *c, const struct vs_metrics_request *r,
			int64_t now_ms)
{
	struct vs_err err = { 0 };
	const struct page *p;

	if (r->status != 200) {
		refuse(c, r->status, r->status == 404 || r->status == 405 ?
		       "this server answers GET /metrics only" :
		       "this is not a request for GET /metrics", now_ms);
		return;
	}
	p = page_now(r->openmetrics, now_ms, &err);
	if (p)
		answer(c, 200, vs_metrics_type(r->openmetrics), p->text.data,
		       p->text.len, now_ms);
	else
		refuse(c, 503, err.text, now_ms);
}

/* ---- sockets ----------------------------------------------------------- */

static void conn_open(struct vs_conn *c)
{
	c->in = (struct vs_buf)VS_BUF_INIT(VS_METRICS_REQUEST_MAX);
	c->out = (struct vs_buf)VS_BUF_INIT(VS_METRICS_HEAD_MAX + PAGE_MAX);
}

static void conn_read(struct vs_conn *c, int64_t now_ms)
{
	struct vs_metrics_request r;
	char buf[VS_METRICS_REQUEST_MAX];
	ssize_t n = recv(c->fd, buf, sizeof(buf) - c->in.len, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || vs_buf_add(&c->in, buf, (size_t)n))
		vs_serve_close(&server, c);
	else if (!vs_metrics_request_parse(c->in.data, c->in.len, &r))
		conn_answer(c, &r, now_ms);
}

static void conn_write(struct vs_conn *c)
{
	ssize_t n = send(c->fd, c->out.data + c->sent, c->out.len - c->sent,
			 MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		c->sent += (size_t)n;
	if (n < 0 || c->sent == c->out.len)
		vs_serve_close(&server, c);
}

static void *serve_main(void *arg)
{
	enum vs_serve_event event;
	struct vs_conn *c;

	(void)arg;
	while ((c = vs_serve_wait(&server, &event))) {
		switch (event) {
		case VS_SERVE_OPENED:
			conn_open(c);
			break;
		case VS_SERVE_READABLE:
			conn_read(c, server.now_ms);
			break;
		case VS_SERVE_WRITABLE:
			conn_write(c);
			break;
		case VS_SERVE_SLOW:
		case VS_SERVE_STOPS:
			vs_serve_close(&server, c);
		}
	}
	return NULL;
}

/* ---- start and stop ---------------------------------------------------- */

static int port_of(int fd)
{
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} a = { 0 };
	socklen_t len = sizeof(a);

	if (getsockname(fd, &a.sa, &len))
		return -1;
	return ntohs(a.sa.sa_family == AF_INET6 ? a.in6.sin6_port :
		     a.in.sin_port);
}

int vs_metrics_start(const char *addr, int port, int *bound,
		     struct vs_err *err)
{
	static const struct vs_listen_keys keys = { "MetricsAddr",
						    "MetricsPort" };
	int fd;

	vs_metrics_stop();
	for (int i = 0; i < 2; i++)
		srv.pages[i].text = (struct vs_buf)VS_BUF_INIT(PAGE_MAX);
	fd = vs_listen_at(&keys, addr, port, err);
	if (fd >= 0 && bound)
		*bound = port_of(fd);
	if (fd < 0 || vs_serve_start(&server, fd, serve_main, err)) {
		vs_metrics_stop();
		return -1;
	}
	return 0;
}

void vs_metrics_stop(void)
{
	vs_serve_stop(&server);
	for (int i = 0; i < 2; i++) {
		vs_buf_free(&srv.pages[i].text);
		srv.pages[i].made_ms = 0;
	}
}
