/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One question to slurmctld over the control channel, and its answer.
 *
 * Rules: every wait has an end; SlurmUser alone can open the question, and it
 * names the controller and the cluster that it is for (any user may listen on a
 * port, and hand over what was caught there); an answer counts only if root,
 * SlurmUser or this very user sealed it and if it carries the question's random
 * id; a controller that doesn't answer is passed over for the next, one that
 * refuses has answered.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "engine/rpc/message.h"
#include "rpc.h"
#include "util/buf.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/seal.h"
#include "util/time.h"

/* What to do where no server listens, and where none answers. */
#define CLOSED "Either slurmctld is not running, or it restarts (some seconds after scontrol reconfigure). Or SvfListenAddr in the controller's vsphere.conf is 127.0.0.1, the default, which answers only on the controller: for other hosts set SvfListenAddr=0.0.0.0"
#define SILENT "Check SVF_CONTROL, SlurmctldHost in slurm.conf, SvfPort in vsphere.conf and the firewall"
#define CONNECT_MS 5000
#define ANSWER_MS 30000		/* slurmctld may be busy with its own locks */

struct ask {
	struct svf_where where;
	struct vs_ctl_request req;
	struct vs_buf answer;
	uint32_t slurm_uid;	/* SlurmUser */
	bool answered;		/* an entitled server spoke: don't ask others */
	bool munge;		/* the local munged is what failed */
	bool closed;		/* no server listens at one of them */
	bool silent;		/* one of them can't be connected to otherwise */
};

/* Wait for the socket; 0, or -1 with errno when the time is over. */
static int wait_for(int fd, short events, int64_t end_ms)
{
	struct pollfd p = { .fd = fd, .events = events };
	int64_t left;
	int rc;

	do {
		left = end_ms - vs_now_ms();
		rc = poll(&p, 1, left > 0 ? (int)left : 0);
	} while (rc < 0 && errno == EINTR);
	if (!rc)
		errno = ETIMEDOUT;
	return rc > 0 ? 0 : -1;
}

static int connect_addr(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK |
			SOCK_CLOEXEC, 0);
	int rc = 0;
	socklen_t len = sizeof(rc);

	if (fd < 0)
		return -1;
	if (!connect(fd, a->ai_addr, a->ai_addrlen))
		return fd;
	if (errno == EINPROGRESS &&
	    !wait_for(fd, POLLOUT, vs_now_ms() + CONNECT_MS) &&
	    !getsockopt(fd, SOL_SOCKET, SO_ERROR, &rc, &len)) {
		if (!rc)
			return fd;
		errno = rc;
	}
	rc = errno;
	close(fd);
	errno = rc;
	return -1;
}

static int connect_to(const char *host, int port, struct vs_err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	char service[16];
	int rc, fd = -1;

	snprintf(service, sizeof(service), "%d", port);
	rc = getaddrinfo(host, service, &hints, &list);
	errno = 0;
	if (rc)
		return vs_err_set(err, VS_E_RETRY, "%s", gai_strerror(rc));
	for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
		fd = connect_addr(a);
	rc = errno;
	freeaddrinfo(list);
	if (fd < 0)
		vs_err_set(err, VS_E_RETRY, "%s", strerror(rc));
	errno = rc;
	return fd;
}

static int send_all(int fd, const void *data, size_t len, struct vs_err *err)
{
	int64_t end_ms = vs_now_ms() + CONNECT_MS;

	while (len > 0) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN && !wait_for(fd, POLLOUT, end_ms))
			continue;
		if (n < 0)
			return vs_err_set(err, VS_E_RETRY, "%s",
					  strerror(errno));
		data = (const char *)data + n;
		len -= (size_t)n;
	}
	return 0;
}

/* Read until a whole frame stands at the start of b; its length in *len. */
static int frame_get(int fd, struct vs_buf *b, size_t *len, struct vs_err *err)
{
	int64_t end_ms = vs_now_ms() + ANSWER_MS;
	char buf[65536];
	ssize_t n;
	int rc;

	while ((rc = vs_frame_check((unsigned char *)(b->data ? b->data : ""),
				    b->len, VS_CTL_REPLY_MAX, len, err)) > 0) {
		if (wait_for(fd, POLLIN, end_ms))
			return vs_err_set(err, VS_E_RETRY,
					  "no answer within %d s",
					  ANSWER_MS / 1000);
		n = recv(fd, buf, sizeof(buf), 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0)
			return vs_err_set(err, VS_E_RETRY, "%s",
					  strerror(errno));
		if (n == 0)
			return vs_err_set(err, VS_E_RETRY,
					  "it closed the connection without an answer (slurmctld's log says why: do munge keys and clocks agree?)");
		if (vs_buf_add(b, buf, (size_t)n))
			return vs_err_set(err, VS_E_REQUEST,
					  "too long an answer");
	}
	return rc;
}

static bool entitled(const struct ask *a, uint32_t uid)
{
	return uid == 0 || uid == geteuid() || uid == a->slurm_uid;
}

/* One part of the answer into a->answer; 1 if more follow. */
static int part_get(struct ask *a, int fd, struct vs_buf *in, uint32_t want,
		    struct vs_err *err)
{
	VS_FREE char *cred = NULL, *text = NULL;
	struct vs_ctl_part p;
	uint32_t uid;
	size_t len;

	if (frame_get(fd, in, &len, err))
		return -1;
	cred = vs_calloc(1, len + 1);
	memcpy(cred, in->data + VS_FRAME_HEAD, len);
	len += VS_FRAME_HEAD;
	memmove(in->data, in->data + len, in->len - len);
	in->len -= len;
	if (vs_unseal(a->where.munge_socket, cred, &text, &len, &uid, err)) {
		a->munge = true;
		return -1;
	}
	if (!entitled(a, uid))
		return vs_err_set(err, VS_E_REQUEST,
				  "uid %u answers there, which is neither root nor SlurmUser",
				  uid);
	if (vs_ctl_part_parse(text, len, &p, err))
		return -1;
	if (strcmp(p.id, a->req.id) || (!p.refused && p.part != want))
		return vs_err_set(err, VS_E_REQUEST,
				  "an answer to another question");
	a->answered = !p.elsewhere;
	if (p.refused) {
		*err = p.err;
		return -1;
	}
	if (vs_buf_add(&a->answer, p.bytes, p.len))
		return vs_err_set(err, VS_E_REQUEST, "too long an answer");
	return p.part + 1 < p.of;
}

/*
 * Whom the question is for: the controller's name in slurm.conf; this host's,
 * if the address is loopback's; or else the address. No name is asked of a name
 * server for it.
 */
static void target_set(struct ask *a, const char *name, int fd)
{
	struct sockaddr_storage sa = { 0 };
	socklen_t len = sizeof(sa);
	char *to = a->req.to;

	memset(to, 0, sizeof(a->req.to));
	if (name)
		vs_strlcpy(to, name, sizeof(a->req.to));
	else if (!getpeername(fd, (struct sockaddr *)&sa, &len) &&
		 vs_ctl_addr_format((struct sockaddr *)&sa, to,
				    sizeof(a->req.to)))
		gethostname(to, sizeof(a->req.to) - 1);
}

static int talk(struct ask *a, const char *name, int fd, struct vs_err *err)
{
	struct vs_buf in = VS_BUF_INIT(2 * VS_CTL_REPLY_MAX);
	VS_FREE char *text = NULL, *cred = NULL;
	unsigned char head[VS_FRAME_HEAD];
	uint32_t part = 0;
	int rc;

	target_set(a, name, fd);
	text = vs_ctl_request_format(&a->req);
	/* A fresh credential for each controller: munge takes none twice. */
	if (vs_seal(a->where.munge_socket, a->slurm_uid, text, strlen(text),
		    &cred, err)) {
		a->munge = true;
		return -1;
	}
	vs_frame_head(head, strlen(cred));
	vs_buf_reset(&a->answer);
	rc = send_all(fd, head, sizeof(head), err) ||
	     send_all(fd, cred, strlen(cred), err) ? -1 : 1;
	while (rc > 0)
		rc = part_get(a, fd, &in, part++, err);
	vs_buf_free(&in);
	return rc;
}

/* Each controller in turn until one answers. */
static int ask_all(struct ask *a, struct vs_err *err)
{
	struct vs_buf tried = VS_BUF_INIT(sizeof(err->text) / 2);

	for (int i = 0; i < a->where.nends; i++) {
		const char *host = a->where.ends[i].host;
		VS_CLOSE int fd = connect_to(host, a->where.ends[i].port, err);

		if (fd >= 0 && !talk(a, a->where.ends[i].name, fd, err)) {
			vs_buf_free(&tried);
			return 0;
		}
		if (a->answered || a->munge)
			break;
		a->closed |= fd < 0 && errno == ECONNREFUSED;
		a->silent |= fd < 0;
		vs_buf_printf(&tried, "%s%s:%d (%s)", tried.len ? ", " : "",
			      host, a->where.ends[i].port, err->text);
	}
	if (!a->answered && !a->munge)
		vs_err_set(err, VS_E_RETRY, "slurmctld does not answer at %s. %s",
			   tried.data ? tried.data : "any address",
			   a->closed ? CLOSED : a->silent ? SILENT : "");
	vs_buf_free(&tried);
	return -1;
}

/* Only SlurmUser may open what is sent. */
static int slurm_user_set(struct ask *a, struct vs_err *err)
{
	const char *name = a->where.slurm_user;
	const struct passwd *pw;
	unsigned long uid;

	if (!name || !a->where.cluster)
		return vs_err_set(err, VS_E_CONFIG,
				  "%s: SlurmUser and ClusterName can't be read there: set SLURM_CONF to the cluster's slurm.conf",
				  a->where.slurm_conf);
	vs_strlcpy(a->req.cluster, a->where.cluster, sizeof(a->req.cluster));
	pw = getpwnam(name);
	if (pw) {
		a->slurm_uid = pw->pw_uid;
		return 0;
	}
	uid = strtoul(name, NULL, 10);
	if (!name[0] || strspn(name, "0123456789") != strlen(name) ||
	    uid >= UINT32_MAX)
		return vs_err_set(err, VS_E_CONFIG,
				  "%s: SlurmUser=%s: this machine has no such user: add it, with slurmctld's uid",
				  a->where.slurm_conf, name);
	a->slurm_uid = (uint32_t)uid;
	return 0;
}

static int exit_code(const struct ask *a, const struct vs_err *err)
{
	if (a->munge)
		return SVF_AUTH;
	if (!a->answered)
		return SVF_AWAY;
	return err->code == VS_E_RETRY ? SVF_AWAY : SVF_NO;
}

int svf_ask_ready(void)
{
	struct vs_err err = { 0 };
	struct ask a = { 0 };
	int rc = SVF_OK;

	if (svf_where(&a.where, &err))
		rc = err.code == VS_E_CONFIG ? SVF_CONF : SVF_USAGE;
	else if (slurm_user_set(&a, &err))
		rc = SVF_CONF;
	if (rc == SVF_USAGE)
		svf_wrong(NULL, "%s", err.text);
	else if (rc)
		fprintf(stderr, "svf: %s\n", svf_clean(err.text));
	svf_where_free(&a.where);
	return rc;
}

static int ask(const struct vs_ctl_request *req, struct vs_jdoc *doc)
{
	struct ask a = { .req = *req,
			 .answer = VS_BUF_INIT(VS_CTL_REPORT_MAX) };
	struct vs_err err = { 0 };
	int rc = SVF_OK;

	memset(doc, 0, sizeof(*doc));
	vs_uuid_random(a.req.id);
	if (svf_where(&a.where, &err))
		rc = err.code == VS_E_CONFIG ? SVF_CONF : SVF_USAGE;
	else if (slurm_user_set(&a, &err))
		rc = SVF_CONF;
	else if (ask_all(&a, &err))
		rc = exit_code(&a, &err);
	else if (vs_jdoc_parse(doc, a.answer.data, a.answer.len, &err))
		rc = SVF_AWAY;
	if (rc == SVF_USAGE)
		svf_wrong(NULL, "%s", err.text);
	else if (rc)
		fprintf(stderr, "svf: %s\n", svf_clean(err.text));
	vs_buf_free(&a.answer);
	svf_where_free(&a.where);
	return rc;
}

int svf_ask(const char *verb, uint32_t job, const char *name,
	    struct vs_jdoc *doc)
{
	struct vs_ctl_request req = { .job = job };

	vs_strlcpy(req.verb, verb, sizeof(req.verb));
	vs_strlcpy(req.name, name, sizeof(req.name));
	return ask(&req, doc);
}

int svf_ask_nodes(const char *verb, const char *nodes, struct vs_jdoc *doc)
{
	struct vs_ctl_request req = { 0 };

	vs_strlcpy(req.verb, verb, sizeof(req.verb));
	vs_strlcpy(req.nodes, nodes, sizeof(req.nodes));
	return ask(&req, doc);
}

int svf_request_nodes(const char *verb, const char *nodes, const char *text,
		      struct vs_jdoc *doc)
{
	struct vs_ctl_request req = { 0 };

	if (strlen(nodes) >= sizeof(req.nodes))
		return svf_wrong(NULL, "a list of nodes of %zu bytes at most",
				 sizeof(req.nodes) - 1);
	vs_strlcpy(req.verb, verb, sizeof(req.verb));
	vs_strlcpy(req.nodes, nodes, sizeof(req.nodes));
	vs_strlcpy(req.text, text, sizeof(req.text));
	return ask(&req, doc);
}

int svf_request(const char *verb, const char *name, const char *text,
		struct vs_jdoc *doc)
{
	return svf_request_at(verb, name, text, 0, doc);
}

int svf_request_at(const char *verb, const char *name, const char *text,
		   int64_t at, struct vs_jdoc *doc)
{
	struct vs_ctl_request req = { .at = at };

	vs_strlcpy(req.verb, verb, sizeof(req.verb));
	vs_strlcpy(req.name, name, sizeof(req.name));
	vs_strlcpy(req.text, text, sizeof(req.text));
	return ask(&req, doc);
}
