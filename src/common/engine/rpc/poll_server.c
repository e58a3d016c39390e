/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server of rpc.h. Sockets never block; a client has its time, however many bytes
 * trickle meanwhile, and less of it while all places are taken.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* accept4, pthread_setname_np */
#endif
#include <errno.h>
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

/* The new connection, or NULL. */
static struct vs_conn *accept_one(struct vs_serve *s, int64_t now_ms)
{
	struct vs_conn *c;
	int i = 0, fd;

	s->peer_len = sizeof(s->peer);
	fd = accept4(s->listen_fd, (struct sockaddr *)&s->peer, &s->peer_len,
		     SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM)
			s->deaf_until_ms = now_ms + DEAF_MS;
		return NULL;
	}
	while (conn_at(s, i)->fd >= 0)
		i++;
	c = conn_at(s, i);
	c->fd = fd;
	c->since_ms = now_ms;
	s->nconns++;
	return c;
}

/* Who is to be polled for what; returns how long at most. */
static int poll_fill(struct vs_serve *s)
{
	bool deaf = s->now_ms < s->deaf_until_ms;
	int64_t next = deaf ? s->deaf_until_ms : INT64_MAX;

	s->pfd[0] = (struct pollfd){ .fd = s->wake_fd, .events = POLLIN };
	s->pfd[1] = (struct pollfd){
		.fd = deaf || s->nconns == s->kind->places ? -1 : s->listen_fd,
		.events = POLLIN,
	};
	for (int i = 0; i < s->kind->places; i++) {
		const struct vs_conn *c = conn_at(s, i);

		s->pfd[2 + i] = (struct pollfd){
			.fd = c->fd, .events = c->writing ? POLLOUT : POLLIN,
		};
		if (c->fd >= 0 && deadline(s, c) < next)
			next = deadline(s, c);
	}
	if (next == INT64_MAX)
		return -1;
	return next > s->now_ms ? (int)(next - s->now_ms) : 0;
}

static void turn_begin(struct vs_serve *s)
{
	int timeout;

	s->now_ms = vs_now_ms();
	timeout = poll_fill(s);
	s->at = 0;
	if (poll(s->pfd, 2 + (nfds_t)s->kind->places, timeout) < 0) {
		s->at = s->kind->places;	/* EINTR; nothing in pfd counts */
		s->pfd[1].revents = 0;
	}
	s->now_ms = vs_now_ms();
}

/* The next connection of this turn that has an event: what it can do first, then
 * whether its time is used up. NULL: all have been looked at. */
static struct vs_conn *turn_next(struct vs_serve *s, enum vs_serve_event *event)
{
	while (s->at < s->kind->places) {
		struct vs_conn *c = conn_at(s, s->at);
		short *revents = &s->pfd[2 + s->at].revents;

		if (*revents) {
			*revents = 0;
			*event = c->writing ? VS_SERVE_WRITABLE :
				VS_SERVE_READABLE;
			return c;
		}
		s->at++;
		if (c->fd >= 0 && s->now_ms >= deadline(s, c)) {
			*event = VS_SERVE_SLOW;
			return c;
		}
	}
	return NULL;
}

static struct vs_conn *first_open(const struct vs_serve *s)
{
	for (int i = 0; i < s->kind->places; i++)
		if (conn_at(s, i)->fd >= 0)
			return conn_at(s, i);
	return NULL;
}

struct vs_conn *vs_serve_wait(struct vs_serve *s, enum vs_serve_event *event)
{
	struct vs_conn *c = turn_next(s, event);

	while (!c) {
		*event = VS_SERVE_OPENED;
		if (s->pfd[1].revents)
			c = accept_one(s, vs_now_ms());
		s->pfd[1].revents = 0;
		if (c)
			break;
		*event = VS_SERVE_STOPS;
		if (atomic_load(&s->stop))
			return first_open(s);
		turn_begin(s);
		c = turn_next(s, event);
	}
	return c;
}

static int thread_start(struct vs_serve *s, void *(*thread_main)(void *arg),
			struct vs_err *err)
{
	sigset_t all, old;
	int rc;

	/* Signals are slurmctld's business. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&s->thread, NULL, thread_main, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return vs_err_set(err, VS_E_RETRY, "no thread for %s: %s",
				  s->kind->who, strerror(rc));
	pthread_setname_np(s->thread, s->kind->thread);
	s->running = true;
	return 0;
}

int vs_serve_start(struct vs_serve *s, int listen_fd,
		   void *(*thread_main)(void *arg), struct vs_err *err)
{
	for (int i = 0; i < s->kind->places; i++)
		conn_at(s, i)->fd = -1;
	atomic_store(&s->stop, false);
	s->deaf_until_ms = 0;
	s->at = s->kind->places;
	s->pfd[1].revents = 0;
	s->listen_fd = listen_fd;
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake_fd < 0)
		vs_err_set(err, VS_E_RETRY, "eventfd: %s", strerror(errno));
	if (s->wake_fd < 0 || thread_start(s, thread_main, err)) {
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
			vs_error("%s: cannot wake the thread", s->kind->who);
		pthread_join(s->thread, NULL);
		s->running = false;
	}
	vs_cleanup_fd(&s->listen_fd);
	vs_cleanup_fd(&s->wake_fd);
	s->listen_fd = s->wake_fd = -1;
}
