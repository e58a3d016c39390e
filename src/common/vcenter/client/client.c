/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client's life: new, turn after turn, free. Its states: states.c.
 *
 * Rules: nothing blocks but curl_multi_poll in vs_vc_iterate. Whatever fails
 * while there is no session, or loses it, goes through vs_vcx_fail: it tells,
 * cleans up, and decides when to come back. It never resends a mutating call.
 */
#include <stdlib.h>
#include <string.h>

#include "util/log.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/time.h"
#include "vcenter/client/client_i.h"

static void timers(struct vs_vc *vc)
{
	if (vc->state == VCX_WAITING) {
		vs_vcx_wait_timer(vc);
		return;
	}
	vs_vcx_poll_timer(vc);
	vs_vcx_list_timer(vc);
	if (vc->state == VCX_UP && !vc->slow_busy && vc->now >= vc->slow_at) {
		vc->slow_at = vc->now + vs_vcx_poll_ms(vc);
		vs_vcx_slow(vc);
		vs_vcx_list_sync(vc, true);
	}
}

static void sooner(int64_t *at, int64_t when)
{
	if (when < *at)
		*at = when;
}

static int time_to_next(const struct vs_vc *vc, int wait_ms)
{
	int64_t at = vc->now + wait_ms;

	if (vc->state == VCX_WAITING) {
		if (vc->wait.retry_at >= 0)
			sooner(&at, vc->wait.retry_at);
		if (vc->wait.watch_files)
			sooner(&at, vc->wait.password_check_at);
	}
	if (vc->watch.poll_at)
		sooner(&at, vc->watch.poll_at);
	if (vc->tasks.list_at)
		sooner(&at, vc->tasks.list_at);
	if (vc->state == VCX_UP && !vc->slow_busy)
		sooner(&at, vc->slow_at);
	return at > vc->now ? (int)(at - vc->now) : 0;
}

static void set_now(struct vs_vc *vc, int64_t now_ms)
{
	vc->now = vc->http.now = now_ms;
}

bool vs_vc_iterate(struct vs_vc *vc, int64_t now_ms, int wait_ms, int wake_fd)
{
	struct curl_waitfd extra = { .fd = wake_fd,
				     .events = CURL_WAIT_POLLIN };
	int64_t before = vs_now_ms();
	int nready = 0;

	set_now(vc, now_ms);
	timers(vc);
	vs_vcx_pump(&vc->http);
	curl_multi_poll(vc->http.multi, wake_fd >= 0 ? &extra : NULL,
			wake_fd >= 0,
			time_to_next(vc, wait_ms), &nready);
	set_now(vc, now_ms + (vs_now_ms() - before));
	vs_vcx_pump(&vc->http);
	timers(vc);
	/* A poll that ended early was ended by a timer, the client's or
	 * curl's. */
	return nready > 0 || vc->now - now_ms < wait_ms;
}

bool vs_vc_is_up(const struct vs_vc *vc)
{
	return vc->state == VCX_UP;
}

void vs_vc_poll_request(struct vs_vc *vc)
{
	vc->slow_at = vc->now;
}

void vs_vc_stats_get(const struct vs_vc *vc, struct vs_vc_stats *out)
{
	int64_t waits_ms = vc->http.stats.waits_ms;

	*out = (struct vs_vc_stats){
		.calls = vc->http.stats.calls,
		.mutating = vc->http.stats.mutating,
		.logins = vc->stats.logins, .errors = vc->http.stats.errors,
		.updates = vc->inv->updates,
		.silent_ms = waits_ms ? vs_now_ms() - waits_ms : 0,
		.refused_events = vc->stats.refused_events,
	};
}

/* ---- new and free --------------------------------------------------------- */

static size_t count(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* "a,b": each once. */
static void take_stores(struct vs_vc *vc, const char *list)
{
	size_t most = 1, len;
	const char *start;

	for (const char *s = list; *s; s++)
		most += *s == ',';
	vc->stores = vs_calloc(most, sizeof(*vc->stores));
	vc->stores_seen = vs_calloc(most, sizeof(*vc->stores_seen));
	while ((len = vs_list_next(&list, &start))) {
		VS_FREE char *name = strndup(start, len);
		size_t i = 0;

		while (i < vc->nstores && strcmp(vc->stores[i].name, name))
			i++;
		if (i < vc->nstores)
			continue;
		vc->stores[vc->nstores++] = (struct vs_vc_store) {
			.name = vs_strdup(name), .moid = vs_strdup(""),
			.free_mb = -1 };
	}
}

static void take_names(struct vs_vc *vc, const struct vs_vc_names *n)
{
	vc->dc_name = vs_strdup(n->datacenter);
	vc->folder_name = vs_strdup(n->folder);
	take_stores(vc, n->datastore);
	vc->nclusters = count(n->clusters);
	vc->clusters = vs_calloc(vc->nclusters + 1, sizeof(*vc->clusters));
	for (size_t i = 0; i < vc->nclusters; i++) {
		vc->clusters[i].name = vs_strdup(n->clusters[i]);
		if (n->pools && n->pools[i] && *n->pools[i])
			vc->clusters[i].pool = vs_strdup(n->pools[i]);
	}
	vc->nnetworks = count(n->networks);
	vc->networks = vs_calloc(vc->nnetworks + 1, sizeof(*vc->networks));
	for (size_t i = 0; i < vc->nnetworks; i++)
		vc->networks[i].name = vs_strdup(n->networks[i]);
	vc->ntemplates = count(n->templates);
	vc->templates = vs_calloc(vc->ntemplates + 1, sizeof(*vc->templates));
	for (size_t i = 0; i < vc->ntemplates; i++) {
		vc->templates[i].name = vs_strdup(n->templates[i]);
		vs_vcx_template_forget(&vc->templates[i]);
	}
}

static int check_conf(const struct vs_vc_conf *c, struct vs_err *err)
{
	/* What is wrong may hold a password: it is not printed. */
	if (!c->url || strncmp(c->url, "https://", 8) || !c->url[8] ||
	    strpbrk(c->url + 8, "/?#@ "))
		return vs_err_set(err, VS_E_CONFIG,
			"VCenter: expected https://HOST or https://HOST:PORT and nothing around it");
	if (!c->username || !*c->username || !c->password_file)
		return vs_err_set(err, VS_E_CONFIG,
				  "VCenterUser and VCenterPasswordFile are needed");
	if (!c->names.datacenter || !c->names.folder || !c->names.datastore ||
	    !c->names.datastore[strspn(c->names.datastore, ", \t")] ||
	    !count(c->names.clusters))
		return vs_err_set(err, VS_E_CONFIG,
			"Datacenter, Folder, Datastore and a VSphereCluster are needed");
	return 0;
}

static char *url_of(const char *s)
{
	size_t n = strlen(s);
	char *url = vs_strdup(s);

	while (n && url[n - 1] == '/')
		url[--n] = '\0';
	return url;
}

struct vs_vc *vs_vc_new(const struct vs_vc_conf *conf,
			const struct vs_vc_events *events, void *arg,
			struct vs_err *err)
{
	VS_FREE char *url = url_of(conf->url ? conf->url : "");
	struct vs_vc_conf c = *conf;
	struct vs_vc *vc;

	c.url = url;
	if (check_conf(&c, err))
		return NULL;
	vc = vs_calloc(1, sizeof(*vc));
	vc->http.vc = vc;
	vc->ev = *events;
	vc->ev_arg = arg;
	vc->http.url = vs_strdup(url);
	vc->conf.username = vs_strdup(c.username);
	vc->conf.password_file = vs_strdup(c.password_file);
	vc->http.ca_file = vs_strdup(c.ca_file);
	vc->conf.password_uid = c.password_uid;
	vc->http.insecure = c.insecure;
	vc->conf.read_only = c.read_only;
	vc->conf.notes = c.notes;
	vc->conf.policy = c.policy;
	vc->conf.linked = c.linked;
	vc->conf.instant = c.instant;
	vc->conf.vmotion = c.vmotion;
	vc->http.call_timeout_ms = c.call_timeout_ms ? c.call_timeout_ms :
		60000;
	vc->http.wait_seconds = c.wait_seconds ? c.wait_seconds : 20;
	vc->http.max_body = c.max_body ? c.max_body : 64u << 20;
	take_names(vc, &c.names);
	vc->inv = vs_inv_new(&vc->ev, arg);
	vc->inv->devices = conf->devices;
	if (vs_vcx_http_init(&vc->http, err)) {
		vs_vc_free(vc, 0);
		return NULL;
	}
	return vc;
}

static void on_logout(struct vcx_call *call, struct vs_j reply,
		      const struct vs_err *err)
{
	(void)reply;
	(void)err;
	call->vc->http.token[0] = '\0';
}

static void logout(struct vs_vc *vc, int ms)
{
	int64_t until = vs_now_ms() + ms, left;

	vs_vcx_drop_all(&vc->http);
	if (!vc->http.token[0] || !vc->session.ids.sessions || ms <= 0)
		return;
	vs_vcx_post(&vc->http, VCX_QUIT, on_logout, "SessionManager",
		    vc->session.ids.sessions, "Logout", NULL);
	while (!TAILQ_EMPTY(&vc->http.calls) &&
	       (left = until - vs_now_ms()) > 0) {
		curl_multi_poll(vc->http.multi, NULL, 0, (int)left, NULL);
		vs_vcx_pump(&vc->http);
	}
}

static void free_names(struct vs_vc *vc)
{
	for (size_t i = 0; i < vc->nclusters; i++) {
		struct vcx_cluster *c = &vc->clusters[i];

		free(c->name);
		free(c->pool);
		free(c->moid);
		free(c->pool_moid);
		free(c->browser);
		vs_vcx_cluster_forget(c);
	}
	for (size_t i = 0; i < vc->nnetworks; i++) {
		struct vcx_network *n = &vc->networks[i];

		free(n->name);
		free(n->moid);
		free(n->type);
		free(n->switch_uuid);
		free(n->portgroup_key);
	}
	for (size_t i = 0; i < vc->ntemplates; i++)
		vs_vcx_template_wipe(&vc->templates[i]);
	free(vc->clusters);
	free(vc->networks);
	free(vc->templates);
	free(vc->dc_name);
	free(vc->folder_name);
	for (size_t i = 0; i < vc->nstores; i++) {
		free((char *)vc->stores[i].name);
		free((char *)vc->stores[i].moid);
	}
	free(vc->stores);
	free(vc->stores_seen);
}

void vs_vc_free(struct vs_vc *vc, int logout_ms)
{
	if (!vc)
		return;
	if (vc->http.multi)
		logout(vc, logout_ms);
	vs_vcx_session_forget(vc);
	vs_vcx_http_fini(&vc->http);
	vs_vcx_ops_free(vc);
	vs_inv_free(vc->inv);
	free_names(vc);
	free(vc->http.url);
	free(vc->conf.username);
	free(vc->conf.password_file);
	free(vc->http.ca_file);
	free(vc->session.about);
	free(vc->session.version);
	free(vc->session.instance_uuid);
	free(vc->session.user);
	free(vc->session.ids.root);
	free(vc->session.ids.collector);
	free(vc->session.ids.views);
	free(vc->session.ids.sessions);
	free(vc->session.ids.search);
	free(vc->session.ids.tasks);
	free(vc->session.ids.rights);
	free(vc->resolved.dc);
	free(vc->resolved.vm_folder);
	free(vc->resolved.folder);
	explicit_bzero(vc->http.token, sizeof(vc->http.token));
	free(vc);
}
