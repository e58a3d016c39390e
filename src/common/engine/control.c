/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control channel's server: one thread, one poll loop, one request per
 * connection, answered by vs_core_report() or vs_core_act() from memory.
 *
 * Rules: who asks is what munge says, nothing in the request; the answer can
 * be opened by that user alone. Nobody waits for a slow client: sockets never
 * block, a request must be whole within READ_MS (CROWD_MS while all places are
 * taken), each part of the answer must have been taken within WRITE_MS, and a
 * part is sealed when the one before it is gone. Everything has a maximum.
 * munged is waited for in this thread alone. Only operators of Slurm change
 * something. It never tells a refused peer why before munge has said who that is.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* accept4, pthread_setname_np */
#endif
#include <errno.h>
#include <netdb.h>
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

#include "engine/control.h"
#include "engine/control_i.h"
#include "engine/control_msg.h"
#include "util/buf.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/seal.h"
#include "util/time.h"

#define CONNS_MAX 32
#define READ_MS 5000
#define CROWD_MS 1000
#define WRITE_MS 5000
#define DEAF_MS 1000		/* after accept() found no descriptor */

struct conn {
	int fd;				/* -1: a free place */
	bool writing;
	int64_t since_ms;		/* accepted, or this part was begun */
	struct vs_buf in, out;
	size_t sent;			/* of out */
	struct vs_ctl_request req;
	uint32_t uid;
	char *report;
	size_t report_len;
	uint32_t part, of;		/* the next part */
	char peer[NI_MAXHOST + NI_MAXSERV];
};

static struct {
	bool running;
	pthread_t thread;
	int listen_fd, wake_fd;
	atomic_bool stop;
	int64_t deaf_until_ms;
	char *munge_socket;
	uint32_t slurm_uid;
	struct conn conns[CONNS_MAX];
	int nconns;
	atomic_uint_fast64_t served, refused, expired;
} ctl = { .listen_fd = -1, .wake_fd = -1 };

static const struct verb {
	const char *name;
	bool needs_job, needs_name, changes;	/* changes: an operator's */
} verbs[] = {
	{ "hosts", false, false, false },
	{ "nodes", false, false, false },
	{ "jobs", false, false, false },
	{ "why", true, false, false },
	{ "status", false, false, false },
	{ "plan", false, false, false },
	{ "reconcile", false, false, false },
	{ "check", false, false, false },
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
	{ "resume", false, true, true },
};

/* ---- connections ------------------------------------------------------- */

static void conn_close(struct conn *c)
{
	close(c->fd);
	vs_buf_free(&c->in);
	vs_buf_free(&c->out);
	free(c->report);
	memset(c, 0, sizeof(*c));
	c->fd = -1;
	ctl.nconns--;
}

static void conn_refuse(struct conn *c, const struct vs_err *err)
{
	atomic_fetch_add(&ctl.refused, 1);
	vs_debug("control: connection refused peer=%s: %s", c->peer, err->text);
	conn_close(c);
}

static void conn_open(int fd, const struct sockaddr *sa, socklen_t len,
		      int64_t now_ms)
{
	char host[NI_MAXHOST], port[NI_MAXSERV];
	struct conn *c = ctl.conns;

	while (c->fd >= 0)
		c++;
	c->fd = fd;
	c->since_ms = now_ms;
	c->in = (struct vs_buf)VS_BUF_INIT(VS_FRAME_HEAD + VS_CTL_REQUEST_MAX);
	c->out = (struct vs_buf)VS_BUF_INIT(VS_FRAME_HEAD + VS_CTL_REPLY_MAX);
	if (getnameinfo(sa, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		vs_strlcpy(c->peer, "?", sizeof(c->peer));
	else
		snprintf(c->peer, sizeof(c->peer), "%s:%s", host, port);
	ctl.nconns++;
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
	vs_buf_reset(&c->out);
	c->sent = 0;
	c->writing = true;
	c->since_ms = now_ms;
	if (vs_buf_add(&c->out, head, sizeof(head)) ||
	    vs_buf_add(&c->out, cred, len))
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

static int say_no(struct conn *c, const struct vs_err *why, int64_t now_ms,
		  struct vs_err *err)
{
	struct vs_ctl_part p = { .refused = true, .err = *why };

	vs_strlcpy(p.id, c->req.id, sizeof(p.id));
	c->part = c->of = 1;
	return part_seal(c, &p, now_ms, err);
}

/* Root and SlurmUser are operators even before Slurm is asked. */
static bool may_change(uint32_t uid)
{
	return uid == 0 || uid == ctl.slurm_uid || vs_core_is_operator(uid);
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
			vs_err_set(err, VS_E_REQUEST, "%s: a job id is expected",
				   v->name);
		else if (v->changes && !may_change(c->uid))
			vs_err_set(err, VS_E_REQUEST,
				   "%s: only root, SlurmUser and operators of Slurm may do that",
				   v->name);
		else if (v->needs_name && !*what(&c->req))
			vs_err_set(err, VS_E_REQUEST,
				   "%s: a name is expected", v->name);
		else
			return v;
		return NULL;
	}
	vs_err_set(err, VS_E_REQUEST, "slurmctld's slurm-vsphere does not know the verb '%s'",
		   c->req.verb);
	return NULL;
}

/* "why" of a task or a component has that as its name. */
static int job_asked(const struct conn *c, const struct verb *v, uint32_t *job,
		     struct vs_err *err)
{
	*job = c->req.job;
	if (!v->needs_job || !c->req.name[0])
		return 0;
	*job = vs_core_part(*job, c->req.name);
	return *job ? 0 : vs_err_set(err, VS_E_GONE, "no such job: %u%s%s",
				     c->req.job, c->req.name[0] == '+' ? "" :
				     "_", c->req.name);
}

static int report_make(struct conn *c, struct vs_err *err)
{
	const struct verb *v = verb_allowed(c, err);
	struct json_object *o;
	uint32_t job;

	if (!v || job_asked(c, v, &job, err))
		return -1;
	o = v->changes && c->req.at && !strcmp(v->name, "drain") ?
		vs_core_drain_at(c->req.name, c->req.text, c->req.at, c->uid,
				 err) :
		v->changes ?
		vs_core_act(v->name, what(&c->req), c->req.text, c->uid, err) :
		!strcmp(v->name, "plan") ?
		vs_core_plan(c->req.nodes, c->uid, err) :
		vs_core_report(v->name, job, c->uid, err);
	if (!o)
		return -1;
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

/* A whole request is in: answer it, or close. */
static void conn_answer(struct conn *c, size_t len, int64_t now_ms)
{
	struct vs_err err = { 0 }, why = { 0 };
	VS_FREE char *text = NULL;
	int rc;

	/* The buffer's own NUL ends the credential: nothing follows it. */
	if (c->in.len != VS_FRAME_HEAD + len) {
		vs_err_set(&err, VS_E_REQUEST, "bytes after the request");
		conn_refuse(c, &err);
		return;
	}
	if (vs_unseal(ctl.munge_socket, c->in.data + VS_FRAME_HEAD, &text, &len,
		      &c->uid, &err) ||
	    vs_ctl_request_parse(text, len, &c->req, &err)) {
		conn_refuse(c, &err);
		return;
	}
	if (report_make(c, &why))
		rc = say_no(c, &why, now_ms, &err);
	else
		rc = next_part(c, now_ms, &err);
	if (rc) {
		vs_error("control: an answer could not be sealed: %s", err.text);
		conn_close(c);
		return;
	}
	atomic_fetch_add(&ctl.served, 1);
	vs_debug("control: verb=%s JobId=%u uid=%u bytes=%zu%s%s", c->req.verb,
		 c->req.job, c->uid, c->report_len,
		 why.code ? " refused: " : "", why.code ? why.text : "");
}

/* ---- sockets ----------------------------------------------------------- */

static void conn_read(struct conn *c, int64_t now_ms)
{
	char buf[VS_FRAME_HEAD + VS_CTL_REQUEST_MAX];
	struct vs_err err = { 0 };
	ssize_t n = recv(c->fd, buf, sizeof(buf), 0);
	size_t len = 0;
	int rc;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || vs_buf_add(&c->in, buf, (size_t)n)) {
		vs_err_set(&err, VS_E_REQUEST, "%s", n > 0 ? "too many bytes" :
			   n < 0 ? strerror(errno) : "it hung up");
		conn_refuse(c, &err);
		return;
	}
	rc = vs_frame_check((unsigned char *)c->in.data, c->in.len,
			    VS_CTL_REQUEST_MAX, &len, &err);
	if (rc < 0)
		conn_refuse(c, &err);
	else if (!rc)
		conn_answer(c, len, now_ms);
}

static void conn_write(struct conn *c, int64_t now_ms)
{
	struct vs_err err = { 0 };
	ssize_t n = send(c->fd, c->out.data + c->sent, c->out.len - c->sent,
			 MSG_NOSIGNAL);

	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			conn_close(c);
		return;
	}
	c->sent += (size_t)n;
	if (c->sent < c->out.len)
		return;
	if (c->part == c->of) {
		conn_close(c);
	} else if (next_part(c, now_ms, &err)) {
		vs_error("control: an answer could not be sealed: %s", err.text);
		conn_close(c);
	}
}

static int64_t deadline(const struct conn *c)
{
	return c->since_ms + (c->writing ? WRITE_MS :
			      ctl.nconns == CONNS_MAX ? CROWD_MS : READ_MS);
}

static void accept_one(int64_t now_ms)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	int fd = accept4(ctl.listen_fd, (struct sockaddr *)&sa, &len,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0)
		conn_open(fd, (struct sockaddr *)&sa, len, now_ms);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		 errno == ENOMEM)
		ctl.deaf_until_ms = now_ms + DEAF_MS;
}

/* Who is to be polled for what; returns how long at most. */
static int poll_fill(struct pollfd pfd[2 + CONNS_MAX], int64_t now_ms)
{
	bool deaf = now_ms < ctl.deaf_until_ms;
	int64_t next = deaf ? ctl.deaf_until_ms : INT64_MAX;

	pfd[0] = (struct pollfd){ .fd = ctl.wake_fd, .events = POLLIN };
	pfd[1] = (struct pollfd){
		.fd = deaf || ctl.nconns == CONNS_MAX ? -1 : ctl.listen_fd,
		.events = POLLIN,
	};
	for (int i = 0; i < CONNS_MAX; i++) {
		const struct conn *c = &ctl.conns[i];

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
		struct conn *c = &ctl.conns[i];

		if (c->fd < 0)
			continue;
		if (pfd[i].revents && c->writing)
			conn_write(c, now_ms);
		else if (pfd[i].revents)
			conn_read(c, now_ms);
		if (c->fd >= 0 && now_ms >= deadline(c)) {
			atomic_fetch_add(&ctl.expired, 1);
			vs_debug("control: too slow, closed peer=%s", c->peer);
			conn_close(c);
		}
	}
}

static void *control_main(void *arg)
{
	struct pollfd pfd[2 + CONNS_MAX];

	(void)arg;
	while (!atomic_load(&ctl.stop)) {
		int timeout = poll_fill(pfd, vs_now_ms());

		if (poll(pfd, VS_COUNT(pfd), timeout) < 0)
			continue;	/* EINTR; nothing in pfd counts */
		conns_turn(pfd + 2, vs_now_ms());
		if (pfd[1].revents)
			accept_one(vs_now_ms());
	}
	for (int i = 0; i < CONNS_MAX; i++)
		if (ctl.conns[i].fd >= 0)
			conn_close(&ctl.conns[i]);
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
	rc = pthread_create(&ctl.thread, NULL, control_main, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return vs_err_set(err, VS_E_RETRY, "no thread for svf: %s",
				  strerror(rc));
	pthread_setname_np(ctl.thread, "vs_control");
	ctl.running = true;
	return 0;
}

int vs_control_start(const struct vs_conf *conf, struct vs_err *err)
{
	vs_control_stop();
	for (int i = 0; i < CONNS_MAX; i++)
		ctl.conns[i].fd = -1;
	atomic_store(&ctl.stop, false);
	atomic_store(&ctl.served, 0);
	atomic_store(&ctl.refused, 0);
	atomic_store(&ctl.expired, 0);
	ctl.deaf_until_ms = 0;
	ctl.slurm_uid = conf->password_uid;
	ctl.munge_socket = vs_strdup(conf->munge_socket);
	ctl.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ctl.wake_fd < 0)
		vs_err_set(err, VS_E_RETRY, "eventfd: %s", strerror(errno));
	else
		ctl.listen_fd = vs_control_listen(conf, err);
	if (ctl.listen_fd < 0 || thread_start(err)) {
		vs_control_stop();
		return -1;
	}
	return 0;
}

void vs_control_stop(void)
{
	if (ctl.running) {
		atomic_store(&ctl.stop, true);
		if (eventfd_write(ctl.wake_fd, 1))
			vs_error("control: can't wake the thread");
		pthread_join(ctl.thread, NULL);
		ctl.running = false;
	}
	vs_cleanup_fd(&ctl.listen_fd);
	vs_cleanup_fd(&ctl.wake_fd);
	ctl.listen_fd = ctl.wake_fd = -1;
	free(ctl.munge_socket);
	ctl.munge_socket = NULL;
}

void vs_control_counts_get(struct vs_control_counts *out)
{
	out->served = atomic_load(&ctl.served);
	out->refused = atomic_load(&ctl.refused);
	out->expired = atomic_load(&ctl.expired);
}
