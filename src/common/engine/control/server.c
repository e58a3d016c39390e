/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control channel's server (poll_server.c): one request per connection,
 * answered by vs_core_report() or vs_core_request() from memory.
 *
 * Rules: who asks is what munge says, nothing in the request; the answer can
 * be opened by that user alone. No thread waits for a slow client: a request
 * must be whole within READ_MS (CROWD_MS while all places are taken), each part
 * of the answer must have been taken within WRITE_MS, and a part is sealed when
 * the one before it is gone. Everything has a maximum. munged is waited for in
 * this thread alone. Only operators of Slurm change something. A request names
 * its cluster and its controller, and no other slurmctld obeys it: a credential
 * that was kept from its addressee is good for nothing elsewhere. It never
 * tells a refused peer why before munge has said who that is.
 */
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/control/control.h"
#include "engine/report/report.h"
#include "engine/rpc/message.h"
#include "engine/rpc/rpc.h"
#include "engine/slurm/lookup.h"
#include "engine/state/state.h"
#include "util/buf.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/seal.h"

#define CONNS_MAX 32
#define READ_MS 5000
#define CROWD_MS 1000
#define WRITE_MS 5000
#define PLAN_MS 1000
#define PLAN_BURST 10

struct conn {
	struct vs_conn c;
	struct vs_ctl_request req;
	uint32_t uid;
	char *report;
	size_t report_len;
	uint32_t part, of;		/* the next part */
	char peer[NI_MAXHOST + NI_MAXSERV];
};

/* The server's thread alone. */
struct plans {				/* that an ordinary user asked for */
	bool used;
	uint32_t uid;
	int64_t next_ms;		/* when the last one counts as asked */
};

static struct {
	char *munge_socket, *cluster;
	char host[HOST_NAME_MAX + 1];	/* this slurmctld's */
	uint32_t slurm_uid;
	struct plans plans[256];	/* of those who asked last */
} ctl;

static const struct vs_serve_type kind = {
	.who = "svf", .thread = "vs_control",
	.places = CONNS_MAX, .size = sizeof(struct conn),
	.read_ms = READ_MS, .read_crowd_ms = CROWD_MS,
	.write_ms = WRITE_MS, .write_crowd_ms = WRITE_MS,
};
static struct conn conns[CONNS_MAX];
static struct vs_serve server = {
	.kind = &kind, .conns = conns, .listen_fd = -1, .wake_fd = -1,
};

static const struct verb {
	const char *name;
	bool needs_job, needs_name, changes;	/* changes: an operator's */
} verbs[] = {
	{ "hosts", false, false, false },
	{ "nodes", false, false, false },
	{ "jobs", false, false, false },
	{ "why", true, false, false },
	{ "status", false, false, false },
	{ "clone-sources", false, false, false },
	{ "plan", false, false, false },
	{ "reconcile", false, false, false },
	{ "check", false, false, false },
	{ "objects", false, false, false },
	{ "recheck", false, false, false },
	{ "confirm", false, false, true },
	{ "adopt", false, false, true },
	{ "forget", false, true, true },
	{ "evict", false, true, true },
	{ "requeue", false, true, true },
	{ "rebuild", false, true, true },
	{ "evict-on", false, true, true },
	{ "rebuild-on", false, true, true },
	{ "drain", false, true, true },
	{ "drain-requeue", false, true, true },
	{ "leave", false, true, true },
	{ "leave-requeue", false, true, true },
	{ "resume", false, true, true },
	{ "pause", false, false, true },
	{ "pause-end", false, false, true },
};

/* ---- connections ------------------------------------------------------- */

static void conn_close(struct conn *c)
{
	free(c->report);
	vs_serve_close(&server, &c->c);
}

static void conn_refuse(struct conn *c, const struct vs_err *err)
{
	vs_debug("control: connection refused peer=%s: %s", c->peer, err->text);
	conn_close(c);
}

static void conn_open(struct conn *c)
{
	char host[NI_MAXHOST], port[NI_MAXSERV];
	struct vs_conn *at = &c->c;

	at->in = (struct vs_buf)VS_BUF_INIT(VS_FRAME_HEAD + VS_CTL_REQUEST_MAX);
	at->out = (struct vs_buf)VS_BUF_INIT(VS_FRAME_HEAD + VS_CTL_REPLY_MAX);
	if (getnameinfo((struct sockaddr *)&server.peer, server.peer_len, host,
			sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		vs_strlcpy(c->peer, "?", sizeof(c->peer));
	else
		snprintf(c->peer, sizeof(c->peer), "%s:%s", host, port);
}

/* ---- answers ----------------------------------------------------------- */

/* Seal the next part into out. */
static int part_seal(struct conn *c, const struct vs_ctl_part *p,
		     int64_t now_ms, struct vs_err *err)
{
	unsigned char head[VS_FRAME_HEAD];
	VS_FREE char *text = NULL, *cred = NULL;
	size_t len;

	text = vs_ctl_part_format(p, &len);
	if (vs_seal(ctl.munge_socket, c->uid, text, len, &cred, err))
		return -1;
	len = strlen(cred);
	vs_frame_head(head, len);
	vs_buf_reset(&c->c.out);
	c->c.sent = 0;
	c->c.writing = true;
	c->c.since_ms = now_ms;
	if (vs_buf_add(&c->c.out, head, sizeof(head)) ||
	    vs_buf_add(&c->c.out, cred, len))
		return vs_err_set(err, VS_E_BUG, "a part of %zu bytes is too long",
				  len);
	return 0;
}

static int next_part(struct conn *c, int64_t now_ms, struct vs_err *err)
{
	size_t at = (size_t)c->part * VS_CTL_PART_MAX;
	struct vs_ctl_part p = {
		.part = c->part, .of = c->of,
		.bytes = c->report + at, .len = c->report_len - at,
	};

	if (p.len > VS_CTL_PART_MAX)
		p.len = VS_CTL_PART_MAX;
	vs_strlcpy(p.id, c->req.id, sizeof(p.id));
	c->part++;
	return part_seal(c, &p, now_ms, err);
}

static int say_no(struct conn *c, const struct vs_err *why, bool elsewhere,
		  int64_t now_ms, struct vs_err *err)
{
	struct vs_ctl_part p = { .refused = true, .elsewhere = elsewhere,
				 .err = *why };

	vs_strlcpy(p.id, c->req.id, sizeof(p.id));
	c->part = c->of = 1;
	return part_seal(c, &p, now_ms, err);
}

/* Root and SlurmUser are operators even before Slurm is asked. */
static bool may_change(uint32_t uid)
{
	return uid == 0 || uid == ctl.slurm_uid ||
	       vs_lookup_viewer(uid).is_operator;
}

/* A node or host, or a list of nodes. */
static const char *what(const struct vs_ctl_request *r)
{
	return r->nodes[0] ? r->nodes : r->name;
}

static const struct verb *verb_allowed(const struct conn *c, struct vs_err *err)
{
	for (size_t i = 0; i < VS_COUNT(verbs); i++) {
		const struct verb *v = &verbs[i];

		if (strcmp(v->name, c->req.verb))
			continue;
		if (v->needs_job && !c->req.job)
			vs_err_set(err, VS_E_REQUEST, "%s: expected a job id",
				   v->name);
		else if (v->changes && !may_change(c->uid))
			vs_err_set(err, VS_E_REQUEST,
				   "%s: only root, SlurmUser and operators of Slurm may do that",
				   v->name);
		else if (v->needs_name && !*what(&c->req))
			vs_err_set(err, VS_E_REQUEST,
				   "%s: expected a name", v->name);
		else
			return v;
		return NULL;
	}
	vs_err_set(err, VS_E_REQUEST, "slurmctld's slurm-vsphere does not know the verb '%s'",
		   c->req.verb);
	return NULL;
}

/* One answer for a job that isn't there and one that isn't the user's, in the
 * words that were asked: Slurm's own id of a task would tell that it is there. */
static int no_such_job(const struct conn *c, struct vs_err *err)
{
	const char *part = c->req.name;

	return vs_err_set(err, VS_E_GONE, "no such job: %u%s%s (sacct shows jobs that ended long ago)",
			  c->req.job, !part[0] || part[0] == '+' ? "" : "_",
			  part);
}

/* "why" of a task or a component has that as its name. */
static int job_asked(const struct conn *c, const struct verb *v, uint32_t *job,
		     struct vs_err *err)
{
	*job = c->req.job;
	if (!v->needs_job || !c->req.name[0])
		return 0;
	*job = vs_core_part(*job, c->req.name);
	return *job ? 0 : no_such_job(c, err);
}

/* The user's own entry. With more users than entries, the one who may ask again
 * soonest loses his, and begins as one who never asked. */
static struct plans *plans_by(uint32_t uid, int64_t back)
{
	struct plans *soonest = ctl.plans;

	for (size_t i = 0; i < VS_COUNT(ctl.plans); i++) {
		struct plans *p = &ctl.plans[i];

		if (p->used && p->uid == uid)
			return p;
		if (soonest->used &&
		    (!p->used || p->next_ms < soonest->next_ms))
			soonest = p;
	}
	*soonest = (struct plans) { .used = true, .uid = uid, .next_ms = back };
	return soonest;
}

/* Placement for thousands of nodes costs far more than any report. So each
 * ordinary user may ask for PLAN_BURST plans at once, and for one more each
 * PLAN_MS. */
static int plan_allowed(const struct conn *c, int64_t now_ms,
			struct vs_err *err)
{
	int64_t back = now_ms - PLAN_BURST * PLAN_MS;
	struct plans *p;

	if (may_change(c->uid))
		return 0;
	p = plans_by(c->uid, back);
	if (p->next_ms < back)
		p->next_ms = back;
	if (p->next_ms + PLAN_MS > now_ms)
		return vs_err_set(err, VS_E_SHORTAGE,
			"plan: too many requests by uid %u: try again in %lld s",
			c->uid, (long long)(p->next_ms + 2 * PLAN_MS - now_ms -
					    1) / PLAN_MS);
	p->next_ms += PLAN_MS;
	return 0;
}

static int report_make(struct conn *c, int64_t now_ms, struct vs_err *err)
{
	const struct verb *v = verb_allowed(c, err);
	struct json_object *o;
	uint32_t job;

	if (!v || job_asked(c, v, &job, err) ||
	    (!strcmp(v->name, "plan") && plan_allowed(c, now_ms, err)))
		return -1;
	o = v->changes && c->req.at && !strncmp(v->name, "drain", 5) ?
		    vs_core_drain_at(c->req.name, c->req.text, c->req.at,
				     v->name[5] != '\0', c->uid, err) :
	    v->changes ? vs_core_request(v->name, what(&c->req), c->req.text,
					 c->uid, err) :
	    !strcmp(v->name, "plan") ?
			 vs_core_plan(c->req.nodes, c->uid, err) :
			 vs_core_report(v->name, job, c->uid, err);
	if (!o)
		return v->needs_job && err->code == VS_E_GONE ?
			no_such_job(c, err) : -1;
	c->report = vs_jb_text_free(o);
	c->report_len = strlen(c->report);
	if (c->report_len > VS_CTL_REPORT_MAX)
		return vs_err_set(err, VS_E_REQUEST,
				  "the answer of %zu bytes is too long",
				  c->report_len);
	c->of = (uint32_t)((c->report_len + VS_CTL_PART_MAX - 1) /
			   VS_CTL_PART_MAX);
	return 0;
}

static int request_check(size_t len, struct vs_err *err)
{
	return len <= VS_CTL_REQUEST_MAX ? 0 :
		vs_err_set(err, VS_E_REQUEST,
			   "a request of %zu bytes, at most %d are allowed",
			   len, VS_CTL_REQUEST_MAX);
}

/* Is the request for this slurmctld? */
static int target_check(const struct conn *c, bool *elsewhere,
			struct vs_err *err)
{
	struct vs_ctl_self self = { .host = ctl.host, .cluster = ctl.cluster };
	struct sockaddr_storage sa = { 0 };
	socklen_t len = sizeof(sa);
	char addr[INET6_ADDRSTRLEN] = "";

	/* Every host has the loopback addresses: they say nothing. */
	if (getsockname(c->c.fd, (struct sockaddr *)&sa, &len) ||
	    vs_ctl_addr_format((struct sockaddr *)&sa, addr, sizeof(addr)))
		addr[0] = '\0';
	self.addr = addr;
	return vs_ctl_request_check(&c->req, &self, elsewhere, err);
}

/* A whole request is in: answer it, or close. */
static void conn_answer(struct conn *c, size_t len, int64_t now_ms)
{
	struct vs_err err = { 0 }, why = { 0 };
	VS_FREE char *text = NULL;
	bool elsewhere = false;
	int rc;

	/* The buffer's own NUL ends the credential: nothing follows it. */
	if (c->c.in.len != VS_FRAME_HEAD + len) {
		vs_err_set(&err, VS_E_REQUEST, "unexpected bytes after the request");
		conn_refuse(c, &err);
		return;
	}
	/* munge may have inflated it: its length says nothing of the text's,
	 * which is 1 MiB at most, as munged seals no more. */
	if (vs_unseal(ctl.munge_socket, c->c.in.data + VS_FRAME_HEAD, &text, &len,
		      &c->uid, &err) || request_check(len, &err) ||
	    vs_ctl_request_parse(text, len, &c->req, &err)) {
		conn_refuse(c, &err);
		return;
	}
	if (target_check(c, &elsewhere, &why) || report_make(c, now_ms, &why))
		rc = say_no(c, &why, elsewhere, now_ms, &err);
	else
		rc = next_part(c, now_ms, &err);
	if (rc) {
		vs_error("control: an answer could not be sealed: %s", err.text);
		conn_close(c);
		return;
	}
	vs_debug("control: verb=%s JobId=%u uid=%u bytes=%zu%s%s", c->req.verb,
		 c->req.job, c->uid, c->report_len,
		 why.code ? " refused: " : "", why.code ? why.text : "");
}

/* ---- sockets ----------------------------------------------------------- */

static void conn_read(struct conn *c, int64_t now_ms)
{
	struct vs_conn *at = &c->c;
	char buf[VS_FRAME_HEAD + VS_CTL_REQUEST_MAX];
	struct vs_err err = { 0 };
	ssize_t n = recv(at->fd, buf, sizeof(buf), 0);
	size_t len = 0;
	int rc;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || vs_buf_add(&at->in, buf, (size_t)n)) {
		vs_err_set(&err, VS_E_REQUEST, "%s", n > 0 ? "too many bytes" :
			   n < 0 ? strerror(errno) : "the peer closed the connection");
		conn_refuse(c, &err);
		return;
	}
	rc = vs_frame_check((unsigned char *)at->in.data, at->in.len,
			    VS_CTL_REQUEST_MAX, &len, &err);
	if (rc < 0)
		conn_refuse(c, &err);
	else if (!rc)
		conn_answer(c, len, now_ms);
}

static void conn_write(struct conn *c, int64_t now_ms)
{
	struct vs_conn *at = &c->c;
	struct vs_err err = { 0 };
	ssize_t n = send(at->fd, at->out.data + at->sent, at->out.len - at->sent,
			 MSG_NOSIGNAL);

	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			conn_close(c);
		return;
	}
	at->sent += (size_t)n;
	if (at->sent < at->out.len)
		return;
	if (c->part == c->of) {
		conn_close(c);
	} else if (next_part(c, now_ms, &err)) {
		vs_error("control: an answer could not be sealed: %s", err.text);
		conn_close(c);
	}
}

static void *serve_main(void *arg)
{
	enum vs_serve_event event;
	struct vs_conn *at;

	(void)arg;
	while ((at = vs_serve_wait(&server, &event))) {
		/* Its place in the server is the first member. */
		struct conn *c = (struct conn *)at;

		switch (event) {
		case VS_SERVE_OPENED:
			conn_open(c);
			break;
		case VS_SERVE_READABLE:
			conn_read(c, server.now_ms);
			break;
		case VS_SERVE_WRITABLE:
			conn_write(c, server.now_ms);
			break;
		case VS_SERVE_SLOW:
			vs_debug("control: too slow, closed peer=%s", c->peer);
			conn_close(c);
			break;
		case VS_SERVE_STOPS:
			conn_close(c);
		}
	}
	return NULL;
}

/* ---- start and stop ---------------------------------------------------- */

int vs_control_start(const struct vs_conf *conf, struct vs_err *err)
{
	int fd;

	vs_control_stop();
	ctl.slurm_uid = conf->password_uid;
	memset(ctl.plans, 0, sizeof(ctl.plans));
	ctl.munge_socket = vs_strdup(conf->munge_socket);
	ctl.cluster = vs_strdup(conf->slurm.cluster ? conf->slurm.cluster : "");
	if (gethostname(ctl.host, sizeof(ctl.host) - 1))
		ctl.host[0] = '\0';
	fd = vs_control_listen(conf, err);
	if (fd < 0 || vs_serve_start(&server, fd, serve_main, err)) {
		vs_control_stop();
		return -1;
	}
	return 0;
}

void vs_control_stop(void)
{
	vs_serve_stop(&server);
	free(ctl.munge_socket);
	free(ctl.cluster);
	ctl.munge_socket = ctl.cluster = NULL;
}
