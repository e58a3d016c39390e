/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maintenance that is planned (svf host drain HOST --at TIME). Until then the
 * host takes VMs of jobs whose time limit ends before it; no VM whose job could
 * run on is placed there, nor one that stays for an unknown time. A
 * little before its time the host is drained like any other, so that idle warm
 * VMs are off by then.
 *
 * Rules: what bars a host hangs on who asks: vs_until_set() says when that
 * ends, and a caller that keeps an answer keeps with it how many windows it saw
 * barred (vs_exclusion_key). The windows are an operator's word, and lie in the
 * hints file. The lock is held throughout.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/hosts/hosts.h"
#include "engine/hosts/hosts_i.h"
#include "engine/state/state.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/time.h"

static void changed(struct vs_core *c)
{
	vs_avoids_changed();
	vs_state_file_dirty();
	vs_capacity_freed();
	vs_nodes_mark_changed(c);
}

const struct vs_maintenance_window *vs_maintenance_window_get(const char *host)
{
	vs_assert_locked();
	for (const struct vs_maintenance_window *w = vs_hosts.windows; w;
	     w = w->next)
		if (!strcmp(w->host, host))
			return w;
	return NULL;
}

bool vs_maintenance_window_end(struct vs_core *c, const char *host)
{
	struct vs_maintenance_window **link = &vs_hosts.windows, *w;

	vs_assert_locked();
	while ((w = *link) && strcmp(w->host, host))
		link = &w->next;
	if (!w)
		return false;
	*link = w->next;
	free(w);
	changed(c);
	return true;
}

void vs_windows_clear(struct vs_core *c)
{
	vs_assert_locked();
	while (vs_hosts.windows)
		vs_maintenance_window_end(c, vs_hosts.windows->host);
}

int vs_maintenance_window_set(struct vs_core *c, const char *host, int64_t at,
			      const char *why, bool requeue)
{
	struct vs_maintenance_window **link = &vs_hosts.windows, *w;
	size_t n = 0;

	vs_assert_locked();
	vs_maintenance_window_end(c, host);
	for (w = *link; w; w = w->next)
		n++;
	if (n >= VS_WINDOWS_MAX)
		return -1;
	while (*link && (*link)->at <= at)
		link = &(*link)->next;
	w = vs_calloc(1, sizeof(*w));
	vs_strlcpy(w->host, host, sizeof(w->host));
	vs_strlcpy(w->why, why, sizeof(w->why));
	w->at = at;
	w->requeue = requeue;
	w->next = *link;
	*link = w;
	changed(c);
	return 0;
}

/* In time for idle VMs to go. */
void vs_maintenance_windows_update(struct vs_core *c)
{
	int64_t by = vs_wall_ms() / 1000 + vs_power_down_s(c);
	struct vs_maintenance_window *w;

	vs_assert_locked();
	while ((w = vs_hosts.windows) && w->at <= by) {
		const struct vs_host *h = vs_host_get(&c->inv, w->host);

		vs_info("host=%s is drained now: %s", h ? h->name : w->host,
			w->why);
		vs_exclude_set(VS_EXCLUDED_DRAINED, w->host, NULL,
			       VS_EXCLUDED_FOREVER, w->why);
		if (w->requeue)
			vs_exclusion_requeue(c, w->host);
		vs_maintenance_window_end(c, w->host);
	}
}

/* ---- who asks ----------------------------------------------------------------- */

int64_t vs_until_set(int64_t until)
{
	int64_t was = vs_hosts.until;

	vs_hosts.until = until;
	return was;
}

bool vs_maintenance_window_blocks(const struct vs_maintenance_window *w)
{
	return !vs_hosts.until || vs_hosts.until > w->at;
}

const struct vs_maintenance_window *vs_maintenance_window_blocking(
	const char *host)
{
	const struct vs_maintenance_window *w = vs_maintenance_window_get(host);

	return w && vs_maintenance_window_blocks(w) ? w : NULL;
}

size_t vs_windows_barring(void)
{
	size_t n = 0;

	for (const struct vs_maintenance_window *w = vs_hosts.windows;
	     w && vs_maintenance_window_blocks(w); w = w->next)
		n++;
	return n;
}

/* Its VM is on there, or about to be. */
bool vs_maintenance_window_blocks_node(const struct vs_core *c,
				       const struct vs_node *n)
{
	const struct vs_claim *h;
	const struct vs_maintenance_window *w;

	if (!vs_hosts.windows || !n->kept->holds)
		return false;
	h = vs_ledger_get(&c->ledger, n->name);
	w = h && h->state != VS_CLAIM_RESERVED ?
		vs_maintenance_window_blocking(h->host) : NULL;
	return w != NULL;
}

/* ---- the hints file ------------------------------------------------------------- */

struct json_object *vs_windows_json(void)
{
	struct json_object *arr = vs_jb_arr();

	for (const struct vs_maintenance_window *w = vs_hosts.windows; w;
	     w = w->next) {
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_str(o, "host", w->host);
		vs_jb_int(o, "at", w->at);
		vs_jb_str(o, "why", w->why);
		if (w->requeue)
			vs_jb_bool(o, "requeue", true);
		vs_jb_add(arr, o);
	}
	return arr;
}

void vs_windows_read(struct vs_core *c, struct vs_j list)
{
	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j j = vs_j_at(list, i);
		const char *host = vs_j_str(vs_j_get(j, "host"));
		int64_t at = vs_j_int(vs_j_get(j, "at"));
		const char *why = vs_j_str_or(vs_j_opt(j, "why"), "");

		if (list.doc->err.code)
			return;
		/* One whose time has come begins at once. */
		if (host[0] && at > 0 && at < INT64_MAX / 2000)
			vs_maintenance_window_set(
				c, host, at, why,
				vs_j_bool_or(vs_j_opt(j, "requeue"), false));
	}
}
