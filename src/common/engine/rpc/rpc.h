/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets that listen (listen.c), and a small TCP server (poll_server.c): one thread,
 * one poll loop, a fixed number of places, and no caller waits for a slow client. The
 * owner's thread asks vs_serve_wait() what happened, and does what is to be done:
 * control/server.c, metrics/server.c.
 * The messages of the control channel are in message.h, which svf includes too.
 *
 * The module owns the sockets and the servers' threads. It needs no lock of the core.
 */
#ifndef VS_ENGINE_RPC_H
#define VS_ENGINE_RPC_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include "engine/state/config.h"
#include "util/buf.h"
#include "util/err.h"

/* ---- listen.c ---- */

/* A listening, non-blocking socket at SvfListenAddr:SvfPort, its port written
 * to STATE_DIR/vsphere_control.port; -1 VS_E_CONFIG. */
int vs_control_listen(const struct vs_conf *conf, struct vs_err *err);

/* The keys of vsphere.conf that address and port come from, for the text of an error. */
struct vs_listen_keys { const char *addr, *port; };
/* The same at any address, with nothing written. */
int vs_listen_at(const struct vs_listen_keys *keys, const char *addr, int port,
		 struct vs_err *err);

/* ---- poll_server.c ---- */

#define VS_SERVE_PLACES 32		/* at most, of one server */

/* The first member of its owner's struct. */
struct vs_conn {
	int fd;				/* -1: a free place */
	bool writing;			/* an answer is on its way */
	int64_t since_ms;		/* accepted, or the answer begun */
	struct vs_buf in, out;
	size_t sent;			/* of out */
};

struct vs_serve_type {
	const char *who, *thread;	/* for whom, in errors; the thread's name */
	int places;
	size_t size;			/* bytes of its owner's struct */
	/* From since_ms on, and while all places are taken. */
	int64_t read_ms, read_crowd_ms, write_ms, write_crowd_ms;
};

/* What the owner has to do with a connection. */
enum vs_serve_event {
	VS_SERVE_OPENED,	/* It is new, all 0 but fd and since_ms: set the
				 * maxima of its buffers. */
	VS_SERVE_READABLE,	/* receive */
	VS_SERVE_WRITABLE,	/* send more of out; it is `writing` */
	VS_SERVE_SLOW,		/* close it: it has used up its time */
	VS_SERVE_STOPS,		/* close it: the server stops */
};

struct vs_serve {
	const struct vs_serve_type *kind;
	void *conns;			/* kind->places of kind->size bytes */
	bool running;
	pthread_t thread;
	int listen_fd, wake_fd;		/* -1 while it doesn't run */
	atomic_bool stop;
	int64_t deaf_until_ms, now_ms;	/* now: of the last event */
	int nconns;
	struct sockaddr_storage peer;	/* of the last one that was opened */
	socklen_t peer_len;
	struct pollfd pfd[2 + VS_SERVE_PLACES];	/* wake, listen, places; */
	int at;				/* of these, the place to look at next */
};

/* Starts the thread of a server that doesn't run: thread_main, with NULL. The
 * socket listens, and is the server's from now on, even after a failure. Returns
 * 0, or -1 and sets err. */
int vs_serve_start(struct vs_serve *s, int listen_fd,
		   void *(*thread_main)(void *arg), struct vs_err *err);
/* Ends the thread, if it runs. */
void vs_serve_stop(struct vs_serve *s);

/* ---- in the server's thread ------------------------------------------- */

/* Waits for the next event. Returns its connection, and sets *event. Returns NULL
 * if the server stops and all connections are closed: the thread ends then. */
struct vs_conn *vs_serve_wait(struct vs_serve *s, enum vs_serve_event *event);
/* Frees the buffers of a connection and its place, which is zeroed. */
void vs_serve_close(struct vs_serve *s, struct vs_conn *c);

#endif
