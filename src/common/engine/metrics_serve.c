/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metrics' server: one thread, one poll loop, one request per connection.
 *
 * Rules: nobody waits for a slow client: sockets never block, a request must be
 * whole within READ_MS of its connection, the answer taken within WRITE_MS of its
 * beginning (each within CROWD_MS or WRITE_CROWD_MS while all places are taken),
 * however many bytes trickle meanwhile. Everything has
 * a maximum. A page serves all who ask within FRESH_MS, so that who asks without a
 * pause costs the core two readings a second. Nothing is changed by any request, and
 * nobody is asked who they are: the page names no user and no job.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* accept4, pthread_setname_np */
#endif
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/control_i.h"
#include "engine/metrics.h"
#include "engine/metrics_http.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/time.h"

#define CONNS_MAX 8
#define READ_MS 5000
#define CROWD_MS 1000
#define WRITE_MS 10000
#define WRITE_CROWD_MS 2000
#define DEAF_MS 1000		/* after accept() found no descriptor */
#define FRESH_MS 1000
#define PAGE_MAX (24 * 1024 * 1024)

struct conn {
	int fd;				/* -1: a free place */
	bool writing;
	int64_t since_ms;		/* accepted, or the answer begun */
	struct vs_buf in, out;
	size_t sent;
};

struct page {
	struct vs_buf text;
	int64_t made_ms;		/* 0: there is none */
};

static struct {
	bool running;
	pthread_t thread;
	int listen_fd, wake_fd;
	atomic_bool stop;
	int64_t deaf_until_ms;
	vs_metrics_page_fn *make;
	struct page pages[2];		/* by format */
	struct conn conns[CONNS_MAX];
	int nconns;
	atomic_uint_fast64_t served, refused, expired, made;
} srv = { .listen_fd = -1, .wake_fd = -1 };

/* ---- connections ------------------------------------------------------- */

static void conn_close(struct conn *c)
{
	close(c->fd);
	vs_buf_free(&c->in);
	vs_buf_free(&c->out);
	memset(c, 0, sizeof(*c));
	c->fd = -1;
	srv.nconns--;
}

static void conn_open(int fd, int64_t now_ms)
{
	struct conn *c = srv.conns;

	while (c->fd >= 0)
		c++;
	*c = (struct conn) {
		.fd = fd, .since_ms = now_ms,
		.in = VS_BUF_INIT(VS_METRICS_REQUEST_MAX),
		.out = VS_BUF_INIT(VS_METRICS_HEAD_MAX + PAGE_MAX),
	};
	srv.nconns++;
}

/* ---- answers ----------------------------------------------------------- */

static void answer(struct conn *c, int status, const char *type,
		   const char *body, size_t len, int64_t now_ms)
{
	char head[VS_METRICS_HEAD_MAX];
	size_t n = vs_metrics_head(status, type, len, head);

	c->writing = true;
	c->since_ms = now_ms;
	if (vs_buf_add(&c->out, head, n) || vs_buf_add(&c->out, body, len))
		conn_close(c);
	else
		atomic_fetch_add(status == 200 ? &srv.served : &srv.refused, 1);
}

static void refuse(struct conn *c, int status, const char *why, int64_t now_ms)
{
	char body[sizeof(((struct vs_err *)0)->text) + 8];

	snprintf(body, sizeof(body), "%s\n", why);
	answer(c, status, "text/plain; charset=utf-8", body, strlen(body),
	       now_ms);
}

/* The page, made anew if it is old; NULL with err. */
static const struct page *page_now(bool openmetrics, int64_t now_ms,
				   struct vs_err *err)
{
	struct page *p = &srv.pages[openmetrics];

	if (p->made_ms && now_ms - p->made_ms < FRESH_MS)
		return p;
	p->made_ms = 0;
	vs_buf_reset(&p->text);
	atomic_fetch_add(&srv.made, 1);
	if (srv.make(openmetrics, &p->text, err))
		return NULL;
	p->made_ms = now_ms;
	return p;
}

static void conn_answer(struct conn *c, const struct vs_metrics_request *r,
			int64_t now_ms)
{
	struct vs_err err = { 0 };
	const struct page *p;

	if (r->status != 200) {
		refuse(c, r->status, r->status == 404 || r->status == 405 ?
		       "GET /metrics is what is answered here" :
		       "this is no request for GET /metrics", now_ms);
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

static void conn_read(struct conn *c, int64_t now_ms)
{
	struct vs_metrics_request r;
	char buf[VS_METRICS_REQUEST_MAX];
	ssize_t n = recv(c->fd, buf, sizeof(buf) - c->in.len, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || vs_buf_add(&c->in, buf, (size_t)n))
		conn_close(c);
	else if (!vs_metrics_request_parse(c->in.data, c->in.len, &r))
		conn_answer(c, &r, now_ms);
}

static void conn_write(struct conn *c)
{
	ssize_t n = send(c->fd, c->out.data + c->sent, c->out.len - c->sent,
			 MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		c->sent += (size_t)n;
	if (n < 0 || c->sent == c->out.len)
		conn_close(c);
}

static int64_t deadline(const struct conn *c)
{
	if (srv.nconns == CONNS_MAX)
		return c->since_ms + (c->writing ? WRITE_CROWD_MS : CROWD_MS);
	return c->since_ms + (c->writing ? WRITE_MS : READ_MS);
}

static void accept_one(int64_t now_ms)
{
	int fd = accept4(srv.listen_fd, NULL, NULL,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0)
		conn_open(fd, now_ms);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		 errno == ENOMEM)
		srv.deaf_until_ms = now_ms + DEAF_MS;
}

/* Who is to be polled for what; returns how long at most. */
static int poll_fill(struct pollfd pfd[2 + CONNS_MAX], int64_t now_ms)
{
	bool deaf = now_ms < srv.deaf_until_ms;
	int64_t next = deaf ? srv.deaf_until_ms : INT64_MAX;

	pfd[0] = (struct pollfd){ .fd = srv.wake_fd, .events = POLLIN };
	pfd[1] = (struct pollfd){
		.fd = deaf || srv.nconns == CONNS_MAX ? -1 : srv.listen_fd,
		.events = POLLIN,
	};
	for (int i = 0; i < CONNS_MAX; i++) {
		const struct conn *c = &srv.conns[i];

		pfd[2 + i] = (struct pollfd){
			.fd = c->fd, .events = c->writing ? POLLOUT : POLLIN,
		};
		if (c->fd >= 0 && deadline(c) < next)
			next = deadline(c);
	}
	if (next == INT64_MAX)
		return -1;
	return next > now_ms ? (int)(next - now_ms) : 0;
}

static void conns_turn(const struct pollfd *pfd, int64_t now_ms)
{
	for (int i = 0; i < CONNS_MAX; i++) {
		struct conn *c = &srv.conns[i];

		if (c->fd < 0)
			continue;
		if (pfd[i].revents && c->writing)
			conn_write(c);
		else if (pfd[i].revents)
			conn_read(c, now_ms);
		if (c->fd >= 0 && now_ms >= deadline(c)) {
			atomic_fetch_add(&srv.expired, 1);
			conn_close(c);
		}
	}
}

static void *serve_main(void *arg)
{
	struct pollfd pfd[2 + CONNS_MAX];

	(void)arg;
	while (!atomic_load(&srv.stop)) {
		int timeout = poll_fill(pfd, vs_now_ms());

		if (poll(pfd, VS_COUNT(pfd), timeout) < 0)
			continue;	/* EINTR; nothing in pfd counts */
		conns_turn(pfd + 2, vs_now_ms());
		if (pfd[1].revents)
			accept_one(vs_now_ms());
	}
	for (int i = 0; i < CONNS_MAX; i++)
		if (srv.conns[i].fd >= 0)
			conn_close(&srv.conns[i]);
	return NULL;
}

/* ---- start and stop ---------------------------------------------------- */

static int thread_start(struct vs_err *err)
{
	sigset_t all, old;
	int rc;

	/* Signals are slurmctld's business. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&srv.thread, NULL, serve_main, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return vs_err_set(err, VS_E_RETRY, "no thread for metrics: %s",
				  strerror(rc));
	pthread_setname_np(srv.thread, "vs_metrics");
	srv.running = true;
	return 0;
}

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

int vs_metrics_start(const char *addr, int port, vs_metrics_page_fn *page,
		     int *bound, struct vs_err *err)
{
	vs_metrics_stop();
	for (int i = 0; i < CONNS_MAX; i++)
		srv.conns[i].fd = -1;
	for (int i = 0; i < 2; i++)
		srv.pages[i].text = (struct vs_buf)VS_BUF_INIT(PAGE_MAX);
	atomic_store(&srv.stop, false);
	atomic_store(&srv.served, 0);
	atomic_store(&srv.refused, 0);
	atomic_store(&srv.expired, 0);
	atomic_store(&srv.made, 0);
	srv.deaf_until_ms = 0;
	srv.make = page;
	srv.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (srv.wake_fd < 0)
		vs_err_set(err, VS_E_RETRY, "eventfd: %s", strerror(errno));
	else
		srv.listen_fd = vs_listen_at("Metrics", addr, port, err);
	if (srv.listen_fd >= 0 && bound)
		*bound = port_of(srv.listen_fd);
	if (srv.listen_fd < 0 || thread_start(err)) {
		vs_metrics_stop();
		return -1;
	}
	return 0;
}

void vs_metrics_stop(void)
{
	if (srv.running) {
		atomic_store(&srv.stop, true);
		if (eventfd_write(srv.wake_fd, 1))
			vs_error("metrics: can't wake the thread");
		pthread_join(srv.thread, NULL);
		srv.running = false;
	}
	vs_cleanup_fd(&srv.listen_fd);
	vs_cleanup_fd(&srv.wake_fd);
	srv.listen_fd = srv.wake_fd = -1;
	for (int i = 0; i < 2; i++) {
		vs_buf_free(&srv.pages[i].text);
		srv.pages[i].made_ms = 0;
	}
}

void vs_metrics_served_get(struct vs_metrics_served *out)
{
	out->served = atomic_load(&srv.served);
	out->refused = atomic_load(&srv.refused);
	out->expired = atomic_load(&srv.expired);
	out->made = atomic_load(&srv.made);
}
