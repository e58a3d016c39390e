/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets that listen (listen.c), and a small TCP server (poll_server.c): one thread,
 * one poll loop, a fixed number of places, and no caller waits for a slow client. What
 * the bytes of a connection mean is its owner's: control/server.c, metrics/server.c.
 * The messages of the control channel are in message.h, which svf includes too.
 *
 * The module owns the sockets and the servers' threads. It needs no lock of the core.
 */
#ifndef VS_ENGINE_RPC_H
#define VS_ENGINE_RPC_H

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

/* A listening, non-blocking socket at ControlAddr:ControlPort, its port written
 * to STATE_DIR/vsphere_control.port; -1 VS_E_CONFIG. */
int vs_control_listen(const struct vs_conf *conf, struct vs_err *err);

/* The same at any address, with nothing written; whose: "Control" or "Metrics",
 * for the text of an error. */
int vs_listen_at(const char *whose, const char *addr, int port,
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
	const char *who, *thread;	/* its name in errors; the thread's name */
	int places;
	size_t size;			/* bytes of its owner's struct */
	/* From since_ms on, and while all places are taken. */
	int64_t read_ms, read_crowd_ms, write_ms, write_crowd_ms;
	/* All in the server's thread. A new connection, all 0 but fd and
	 * since_ms: its buffers are to be given their maxima. */
	void (*opened)(struct vs_conn *c, const struct sockaddr *sa,
		       socklen_t len);
	void (*readable)(struct vs_conn *c, int64_t now_ms);
	void (*writable)(struct vs_conn *c, int64_t now_ms);
	void (*slow)(struct vs_conn *c);	/* it is closed next; or NULL */
	void (*closing)(struct vs_conn *c);	/* what else it has; or NULL */
};

struct vs_serve {
	const struct vs_serve_type *kind;
	void *conns;			/* kind->places of kind->size bytes */
	bool running;
	pthread_t thread;
	int listen_fd, wake_fd;		/* -1 while it doesn't run */
	atomic_bool stop;
	int64_t deaf_until_ms;
	int nconns;
};

/* Starts a server that doesn't run. The socket listens, and is the server's from now
 * on, also if this fails. Returns 0. Returns -1 and sets err if no thread can be had. */
int vs_serve_start(struct vs_serve *s, int listen_fd, struct vs_err *err);
/* Whether it runs or not. */
void vs_serve_stop(struct vs_serve *s);
/* In the server's thread. */
void vs_serve_close(struct vs_serve *s, struct vs_conn *c);

#endif
