/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A breaker per host: one bad host must not eat a queue. When the VMs of
 * several different nodes failed to start on it in a row, nothing is placed
 * there for a while; then a single VM is tried. A start that succeeds closes
 * it, one that fails opens it for longer.
 *
 * Rules: only what speaks of the host counts, and a node counts once, so that
 * one broken node opens no breaker. VMs that run there are left alone. A trial
 * that ends without an answer (its job was cancelled) leaves the place to the
 * next. The lock is held throughout.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/hosts/hosts.h"
#include "engine/hosts/hosts_i.h"
#include "engine/state/state.h"
#include "util/json.h"
#include "util/mem.h"

struct vs_breaker *vs_breaker_get(const char *host)
{
	struct vs_breaker *b;

	vs_assert_locked();
	for (b = vs_hosts.breakers; b; b = b->next)
		if (!strcmp(b->host, host))
			return b;
	return NULL;
}

static struct vs_breaker *breaker_make(const char *host)
{
	struct vs_breaker *b = vs_breaker_get(host);

	if (b)
		return b;
	b = vs_calloc(1, sizeof(*b));
	vs_strlcpy(b->host, host, sizeof(b->host));
	b->next = vs_hosts.breakers;
	vs_hosts.breakers = b;
	return b;
}

bool vs_breaker_end(const char *host)
{
	struct vs_breaker **link = &vs_hosts.breakers, *b;
	bool was_open = false;

	vs_assert_locked();
	while ((b = *link) && strcmp(b->host, host))
		link = &b->next;
	if (!b)
		return false;
	was_open = b->trips > 0;
	*link = b->next;
	vs_exclude_end(VS_EXCLUDED_BROKEN, host);
	free(b);		/* host may be its own */
	vs_avoids_changed();
	vs_state_file_dirty();
	return was_open;
}

static const char *name_of(const struct vs_core *c, const char *host)
{
	const struct vs_host *h = vs_host_get(&c->inv, host);

	return h ? h->name : host;
}

static void trip(struct vs_core *c, struct vs_breaker *b, const char *why,
		 int64_t now_ms)
{
	int64_t pause = VS_BREAKER_MS << (b->trips < 5 ? b->trips : 5);
	char text[160];

	if (pause > VS_BREAKER_MAX_MS)
		pause = VS_BREAKER_MAX_MS;
	if (b->trips)
		snprintf(text, sizeof(text), "the trial VM failed to start: %s",
			 why);
	else
		snprintf(text, sizeof(text),
			 "%d nodes in a row failed to start: %s", b->nnodes,
			 why);
	b->trips++;
	b->nnodes = 0;
	b->trial[0] = '\0';
	vs_exclude_set(VS_EXCLUDED_BROKEN, b->host, NULL, now_ms + pause, text);
	vs_error("host=%s gets no VM for %lld min, then one trial VM (once the host is fixed: svf host resume %s): %s",
		 name_of(c, b->host), (long long)(pause / 60000),
		 name_of(c, b->host), text);
}

static bool counted(struct vs_breaker *b, const char *node)
{
	for (int i = 0; i < b->nnodes; i++)
		if (!strcmp(b->nodes[i], node))
			return true;
	return false;
}

void vs_breaker_failed(struct vs_core *c, const char *host, const char *node,
		       const char *why, int64_t now_ms)
{
	struct vs_breaker *b = breaker_make(host);

	if (b->trips) {
		/* What was under way when it opened tells nothing new. */
		if (!vs_exclusion_find(VS_EXCLUDED_BROKEN, host))
			trip(c, b, why, now_ms);
		return;
	}
	if (now_ms - b->first_ms > VS_BREAKER_WINDOW_MS)
		b->nnodes = 0;
	if (counted(b, node))
		return;
	if (!b->nnodes)
		b->first_ms = now_ms;
	vs_strlcpy(b->nodes[b->nnodes++], node, VS_NAME_LEN);
	if (b->nnodes == VS_BREAKER_NODES)
		trip(c, b, why, now_ms);
}

/* It wasn't the host after all. */
void vs_breaker_cleared(const char *host, const char *node)
{
	struct vs_breaker *b = vs_breaker_get(host);

	for (int i = 0; b && i < b->nnodes; i++)
		if (!strcmp(b->nodes[i], node)) {
			memmove(&b->nodes[i], &b->nodes[i + 1],
				(size_t)(b->nnodes - i - 1) *
				sizeof(b->nodes[0]));
			b->nnodes--;
		}
}

void vs_breaker_served(struct vs_core *c, const char *host)
{
	if (vs_breaker_end(host))
		vs_info("host=%s gets VMs again: the trial VM has started",
			name_of(c, host));
}

/* A host whose breaker has been open takes a single one. */
void vs_breakers_block(const struct vs_core *c, struct vs_host_block *bars)
{
	for (const struct vs_breaker *b = vs_hosts.breakers; b; b = b->next) {
		const struct vs_host *h =
			b->trips ? vs_host_get(&c->inv, b->host) : NULL;

		if (!h)
			continue;
		bars[h->index].trial = true;
		bars[h->index].most = b->trial[0] ? 0 : 1;
	}
}

void vs_breaker_tried(const struct vs_host *h,
		      const char *node)
{
	struct vs_breaker *b = vs_breaker_get(h->moid);

	if (!b || !b->trips || b->trial[0] ||
	    vs_exclusion_find(VS_EXCLUDED_BROKEN, h->moid))
		return;
	vs_strlcpy(b->trial, node, sizeof(b->trial));
	vs_avoids_changed();
	vs_info("host=%s gets a trial VM node=%s", h->name, node);
}

/* Trials whose node went elsewhere, or is wanted no more. */
void vs_breakers_observe(struct vs_core *c)
{
	vs_assert_locked();
	for (struct vs_breaker *b = vs_hosts.breakers; b; b = b->next) {
		const struct vs_claim *h = b->trial[0] ?
			vs_ledger_get(&c->ledger, b->trial) : NULL;

		if (!b->trial[0] || (h && !strcmp(h->host, b->host)))
			continue;
		b->trial[0] = '\0';
		vs_avoids_changed();
		vs_capacity_freed();
	}
}

/* ---- the state file -------------------------------------------------------- */

struct json_object *vs_breakers_json(void)
{
	struct json_object *arr = vs_jb_arr();

	for (const struct vs_breaker *b = vs_hosts.breakers; b; b = b->next) {
		struct json_object *o;

		if (!b->trips)
			continue;
		o = vs_jb_obj(NULL);
		vs_jb_str(o, "host", b->host);
		vs_jb_int(o, "trips", b->trips);
		vs_jb_add(arr, o);
	}
	return arr;
}

void vs_breakers_read(struct vs_j list)
{
	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j j = vs_j_at(list, i);
		const char *host = vs_j_str(vs_j_get(j, "host"));
		int64_t trips = vs_j_int(vs_j_get(j, "trips"));

		if (list.doc->err.code)
			return;
		if (trips > 0)
			breaker_make(host)->trips =
				trips < 100 ? (int)trips : 100;
	}
}
