/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small client of vCenter's VI JSON API (8.0U1 and later): libcurl multi,
 * one thread (the caller's), callbacks, no waiting. It knows nothing of Slurm,
 * jobs, profiles or plans: typed requests go in, typed updates come out.
 *
 * Life: new -> (turn ...)* -> free. The client logs in, negotiates the
 * release, resolves the configured names, builds its views and filters, loads
 * the inventory page by page and then keeps one WaitForUpdatesEx open. When the
 * session or the connection is lost it says so (down), backs off, comes back
 * and delivers everything again, between load_begin and load_end. It never
 * resends a mutating call.
 *
 * All strings in callbacks live until the callback returns. Callbacks may
 * issue new calls, but must not free the client.
 */
#ifndef VS_VCENTER_CLIENT_CLIENT_H
#define VS_VCENTER_CLIENT_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "util/err.h"
#include "vcenter/decode/records.h"
#include "vcenter/transport/setup.h"

struct vs_vc;

/* What must be found in vCenter, by the names an administrator gave. */
struct vs_vc_names {
	const char *datacenter, *folder;
	const char *datastore;		/* one, or several: "a,b" */
	const char *const *clusters;	/* NULL-terminated, with pools beside */
	const char *const *pools;	/* "" or NULL: the cluster's root pool */
	const char *const *networks;	/* NULL-terminated */
	const char *const *templates;	/* NULL-terminated */
};

struct vs_vc_conf {
	const char *url;		/* https://vc.example.org[:port] */
	const char *username;
	const char *password_file;	/* read at each login; owner and mode
					 * are checked each time (uid below) */
	unsigned int password_uid;	/* who must own it, mode 0600 or 0400 */
	const char *ca_file;		/* NULL: the system's store */
	bool insecure;			/* TLS not verified: warns at each login */
	bool read_only;			/* all mutating calls are refused here */
	int call_timeout_ms;		/* 60000 */
	int wait_seconds;		/* long poll: 10; vCenter then says
					 * something at least as often */
	size_t max_body;		/* bytes of one reply: 64 MiB */
	bool devices;			/* hosts' PCI devices are wanted */
	bool notes;			/* VMs get an annotation */
	bool linked;			/* some are linked clones, */
	bool instant;			/* instant ones */
	bool vmotion;			/* running VMs may leave their hosts */
	bool policy;			/* some have a storage policy */
	struct vs_vc_names names;
};

struct vs_vc *vs_vc_new(const struct vs_vc_conf *conf,
			const struct vs_vc_events *events, void *arg,
			struct vs_err *err);
/* Logs out (bounded by ms), cancels nothing in vCenter. */
void vs_vc_free(struct vs_vc *vc, int logout_ms);

/*
 * One turn: wait at most wait_ms for I/O or for wake_fd to become readable
 * (-1: none; it is not read), then do all that is ready and call back. False
 * if nothing came in all that time.
 */
bool vs_vc_iterate(struct vs_vc *vc, int64_t now_ms, int wait_ms, int wake_fd);
bool vs_vc_is_up(const struct vs_vc *vc);	/* loaded and listening */
/* Try now, whatever the backoff or a refused password said. */
void vs_vc_retry(struct vs_vc *vc);
/* Read the slow values on the next turn instead of on the beat. */
void vs_vc_poll_request(struct vs_vc *vc);
/* How long changes that come in a stream may be gathered, and the interval of
 * the periodic poll. HIGH, a new client's: 0.2 s (0.05 s while the client's tasks
 * are under way), 15 s. LOW: 5 s, 15 s. LOWEST: 10 s, 30 s. In the last two,
 * privileges are read every 5 minutes unless some are missing. A change to a
 * shorter interval delivers the gathered changes at once. */
enum vs_vc_poll {
	VS_VC_POLL_HIGH,
	VS_VC_POLL_LOW,
	VS_VC_POLL_LOWEST,
	VS_VC_POLLS
};
void vs_vc_poll_set(struct vs_vc *vc, enum vs_vc_poll calm);

/* Callbacks of an operation, either may be NULL: see calls/calls.h. They come
 * between two calls of vs_vc_events.together(). */
struct vs_vc_op {
	void (*started)(void *arg, uint64_t id, const char *task);
	void (*done)(void *arg, uint64_t id, const char *result,
		     const struct vs_err *err);
	void *arg;
};

struct vs_vc_stats { uint64_t calls, mutating, logins, errors, updates;
	uint64_t refused_events;	/* of the client's states: a bug */
	int64_t silent_ms;	/* vCenter owes answers, and sends nothing */
};
/* From any thread, as long as the client lives. */
void vs_vc_stats_get(const struct vs_vc *vc, struct vs_vc_stats *out);

#endif
