/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server of rpc.h. Sockets never block; a client has its time, however many bytes
 * trickle meanwhile, and less of it while all places are taken.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* accept4, pthread_setname_np */
#endif
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/rpc/rpc.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/time.h"

#define DEAF_MS 1000		/* after accept() found no descriptor */

static struct vs_conn *conn_at(const struct vs_serve *s, int i)
{
	return (void *)((char *)s->conns + (size_t)i * s->kind->size);
}

void vs_serve_close(struct vs_serve *s, struct vs_conn *c)
{
	close(c->fd);
	vs_buf_free(&c->in);
	vs_buf_free(&c->out);
	if (s->kind->closing)
		s->kind->closing(c);
	memset(c, 0, s->kind->size);
	c->fd = -1;
	s->nconns--;
}

static int64_t deadline(const struct vs_serve *s, const struct vs_conn *c)
{
	const struct vs_serve_type *k = s->kind;

	if (s->nconns == k->places)
		return c->since_ms + (c->writing ? k->write_crowd_ms :
				      k->read_crowd_ms);
	return c->since_ms + (c->writing ? k->write_ms : k->read_ms);
}

static void accept_one(struct vs_serve *s, int64_t now_ms)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	int i = 0, fd = accept4(s->listen_fd, (struct sockaddr *)&sa, &len,
				SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct vs_conn *c;

	if (fd >= 0) {
		while (conn_at(s, i)->fd >= 0)
			i++;
		c = conn_at(s, i);
		c->fd = fd;
		c->since_ms = now_ms;
		s->nconns++;
		s->kind->opened(c, (struct sockaddr *)&sa, len);
	} else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		   errno == ENOMEM) {
		s->deaf_until_ms = now_ms + DEAF_MS;
	}
}

/* Who is to be polled for what; returns how long at most. */
static int poll_fill(const struct vs_serve *s, struct pollfd *pfd,
		     int64_t now_ms)
{
	bool deaf = now_ms < s->deaf_until_ms;
	int64_t next = deaf ? s->deaf_until_ms : INT64_MAX;

	pfd[0] = (struct pollfd){ .fd = s->wake_fd, .events = POLLIN };
	pfd[1] = (struct pollfd){
		.fd = deaf || s->nconns == s->kind->places ? -1 : s->listen_fd,
		.events = POLLIN,
	};
	for (int i = 0; i < s->kind->places; i++) {
		const struct vs_conn *c = conn_at(s, i);

		pfd[2 + i] = (struct pollfd){
			.fd = c->fd, .events = c->writing ? POLLOUT : POLLIN,
		};
		if (c->fd >= 0 && deadline(s, c) < next)
			next = deadline(s, c);
	}
	if (next == INT64_MAX)
		return -1;
	return next > now_ms ? (int)(next - now_ms) : 0;
}

static void conns_turn(struct vs_serve *s, const struct pollfd *pfd,
		       int64_t now_ms)
{
	for (int i = 0; i < s->kind->places; i++) {
		struct vs_conn *c = conn_at(s, i);

		if (c->fd < 0)
			continue;
		if (pfd[i].revents && c->writing)
			s->kind->writable(c, now_ms);
		else if (pfd[i].revents)
			s->kind->readable(c, now_ms);
		if (c->fd >= 0 && now_ms >= deadline(s, c)) {
			if (s->kind->slow)
				s->kind->slow(c);
			vs_serve_close(s, c);
		}
	}
}

static void *serve_main(void *arg)
{
	struct pollfd pfd[2 + VS_SERVE_PLACES];
	struct vs_serve *s = arg;

	while (!atomic_load(&s->stop)) {
		int timeout = poll_fill(s, pfd, vs_now_ms());

		if (poll(pfd, 2 + (nfds_t)s->kind->places, timeout) < 0)
			continue;	/* EINTR; nothing in pfd counts */
		conns_turn(s, pfd + 2, vs_now_ms());
		if (pfd[1].revents)
			accept_one(s, vs_now_ms());
	}
	for (int i = 0; i < s->kind->places; i++)
		if (conn_at(s, i)->fd >= 0)
			vs_serve_close(s, conn_at(s, i));
	return NULL;
}

static int thread_start(struct vs_serve *s, struct vs_err *err)
{
	sigset_t all, old;
	int rc;

	/* Signals are slurmctld's business. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&s->thread, NULL, serve_main, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return vs_err_set(err, VS_E_RETRY, "no thread for %s: %s",
				  s->kind->who, strerror(rc));
	pthread_setname_np(s->thread, s->kind->thread);
	s->running = true;
	return 0;
}

int vs_serve_start(struct vs_serve *s, int listen_fd, struct vs_err *err)
{
	for (int i = 0; i < s->kind->places; i++)
		conn_at(s, i)->fd = -1;
	atomic_store(&s->stop, false);
	s->deaf_until_ms = 0;
	s->listen_fd = listen_fd;
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake_fd < 0)
		vs_err_set(err, VS_E_RETRY, "eventfd: %s", strerror(errno));
	if (s->wake_fd < 0 || thread_start(s, err)) {
		vs_serve_stop(s);
		return -1;
	}
	return 0;
}

void vs_serve_stop(struct vs_serve *s)
{
	if (s->running) {
		atomic_store(&s->stop, true);
		if (eventfd_write(s->wake_fd, 1))
			vs_error("%s: can't wake the thread", s->kind->who);
		pthread_join(s->thread, NULL);
		s->running = false;
	}
	vs_cleanup_fd(&s->listen_fd);
	vs_cleanup_fd(&s->wake_fd);
	s->listen_fd = s->wake_fd = -1;
}
