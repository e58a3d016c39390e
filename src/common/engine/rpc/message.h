/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is inside the sealed frames of the control channel.
 *
 * Each request and each header of a reply has "protocol":1 as well, which rises
 * when an earlier release could misread it. Without one it is protocol 1. Who
 * receives a newer one refuses it, and names both.
 *
 * Request, one per connection:
 *   {"verb":"why","job":4711,"to":"ctl1","cluster":"hpc","id":"..."}
 *   "to" and "cluster" say for which slurmctld it is; each request has them
 *   or with a name:              {"verb":"forget","name":"vm003","id":"..."}
 *   and a reason:      {"verb":"drain","name":"esx01","text":"...","id":"..."}
 *   and for later:   {..., "at":1789000000, ...}
 *   or an array's task:          {"verb":"why","job":12,"name":"3","id":"..."}
 *   a heterogeneous job's part:  {"verb":"why","job":14,"name":"+1","id":"..."}
 *   or nodes, as Slurm lists them:
 *                     {"verb":"plan","nodes":"vm[001-004]","id":"..."}
 * Reply, one or more frames:    {"id":"...","part":0,"of":3}\n BYTES
 *   the bytes of all parts together are the report (engine/report/report.h), or
 * Refusal, one frame:           {"id":"...","error":"text","code":"gone"}\n
 *   of a request for another slurmctld: {..., "elsewhere":true}\n
 */
#ifndef VS_ENGINE_MESSAGE_H
#define VS_ENGINE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include "util/err.h"

#define VS_CTL_PROTOCOL 1
#define VS_CTL_ID_MAX 64
#define VS_CTL_AT_MAX ((int64_t)1 << 40)
#define VS_CTL_NODES_MAX 16384		/* thousands of them, in any order */
#define VS_CTL_REQUEST_MAX 32768	/* a request's credential */
/* A report's bytes in one frame: each costs both sides a turn of munged, which
 * takes credentials of at most 1 MiB. */
#define VS_CTL_PART_MAX (640 * 1024)
/* A part's credential: base64, header and munge's own. */
#define VS_CTL_REPLY_MAX (1024 * 1024)
#define VS_CTL_REPORT_MAX (16 * 1024 * 1024)

struct vs_ctl_request {
	uint32_t protocol;		/* a newer one's has an id, and no more */
	char verb[16];
	uint32_t job;
	char name[128];			/* of a node or host, "": none */
	char text[120];			/* why, "": not said */
	int64_t at;			/* when, s since the epoch; 0: now */
	char to[256];			/* controller's name or address */
	char cluster[128];		/* Slurm's ClusterName */
	char id[VS_CTL_ID_MAX];		/* the client's, echoed */
	char nodes[VS_CTL_NODES_MAX];	/* "": none */
};
char *vs_ctl_request_format(const struct vs_ctl_request *r);	/* free() it */
int vs_ctl_request_parse(const char *text, size_t len,
			 struct vs_ctl_request *out, struct vs_err *err);

/* The slurmctld that received a request. */
struct vs_ctl_self {
	const char *host;		/* as gethostname(2) says it */
	const char *cluster;		/* ClusterName */
	const char *addr;		/* of the connection here, "": loopback */
};
/*
 * Check that a request is for this slurmctld: its protocol is known, its cluster is
 * self's, and its
 * "to" is self's host name, with or without domain, or self's address. "to" may
 * be several names with commas between, as SlurmctldHost may be. Returns 0 if
 * so. Returns -1 and sets err and *elsewhere if not; *elsewhere is false for a
 * request that names no controller, or has a newer protocol.
 */
int vs_ctl_request_check(const struct vs_ctl_request *r,
			 const struct vs_ctl_self *self, bool *elsewhere,
			 struct vs_err *err);
/*
 * Write sa's numeric address to out, without a port. An IPv4 address within an
 * IPv6 one is written as IPv4; an IPv6 scope is left out, because each host has
 * its own. Returns true for a loopback address. Other families give "".
 */
bool vs_ctl_addr_format(const struct sockaddr *sa, char *out, size_t size);

struct vs_ctl_part {
	char id[VS_CTL_ID_MAX];
	uint32_t part, of;
	bool refused;
	bool elsewhere;			/* refused: ask another slurmctld */
	struct vs_err err;		/* of a refusal */
	const char *bytes;		/* inside the text that was parsed */
	size_t len;
};
/* The header and the bytes p->bytes as one text of *len bytes; free() it. */
char *vs_ctl_part_format(const struct vs_ctl_part *p, size_t *len);
int vs_ctl_part_parse(const char *text, size_t len, struct vs_ctl_part *out,
		      struct vs_err *err);

#endif
