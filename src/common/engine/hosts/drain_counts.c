/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drains stick to names, faults stick to hosts. A health check (NHC, say) drains
 * the node it finds a fault on, Slurm switches that node's VM off, and the host
 * gives the VF with the fault to the next. So it is remembered on which host a
 * node's VM was when another user drained it or set it down, and counted by
 * host: reported, told when they are as many as open a breaker, and with
 * HostDrainThreshold=N the host takes no more VMs from the Nth on.
 *
 * A drain counts as long as the node is drained. Slurm doesn't record whether a
 * person or a health check drained the node, so drains are only reported unless
 * HostDrainThreshold is set. VMs that run on the host are left alone. The caller
 * holds the core's lock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/hosts/hosts.h"
#include "engine/hosts/hosts_i.h"
#include "engine/state/state.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/name.h"

#define NOWHERE "-"		/* its VM was off: it says nothing of a host */

static struct vs_drain_count *sick_of(const char *host)
{
	struct vs_drain_count *s;

	HASH_FIND_STR(vs_hosts.sick, host, s);
	return s;
}

int vs_health_drains(const char *host)
{
	const struct vs_drain_count *s = sick_of(host);

	vs_assert_locked();
	return s ? s->nodes : 0;
}

static bool somewhere(const struct vs_node *n)
{
	return n->drained_on[0] && strcmp(n->drained_on, NOWHERE) != 0;
}

static void let_go(struct vs_node *n)
{
	struct vs_drain_count *s = somewhere(n) ? sick_of(n->drained_on) : NULL;

	if (somewhere(n))
		vs_state_file_dirty();
	n->drained_on[0] = '\0';
	if (!s || --s->nodes > 0)
		return;
	/* no drain counts against it any more */
	vs_exclude_end(VS_EXCLUDED_DRAINS, s->host);
	HASH_DEL(vs_hosts.sick, s);
	free(s);
}

static struct vs_drain_count *note(struct vs_node *n,
				   const char *host)
{
	struct vs_drain_count *s = sick_of(host);

	vs_strlcpy(n->drained_on, host, sizeof(n->drained_on));
	if (!s) {
		s = vs_calloc(1, sizeof(*s));
		vs_strlcpy(s->host, host, sizeof(s->host));
		HASH_ADD_STR(vs_hosts.sick, host, s);
	}
	s->nodes++;
	vs_state_file_dirty();
	return s;
}

static void judge(struct vs_core *c, const char *host, int nodes)
{
	const struct vs_host *h = vs_host_get(&c->inv, host);
	const char *name = h ? h->name : host;	/* not seen, or not yet */
	int most = c->conf->host_drain_threshold;
	char why[160];

	snprintf(why, sizeof(why),
		 "operators or Slurm drained %d node%s while %s ran here",
		 nodes, vs_plural((uint64_t)nodes),
		 nodes == 1 ? "its VM" : "their VMs");
	if (most && nodes >= most &&
	    !vs_exclusion_find(VS_EXCLUDED_DRAINS, host)) {
		vs_error("host=%s gets no VM until these nodes are resumed or an operator runs svf host resume %s: %s (HostDrainThreshold=%d)",
			 name, name, why, most);
		vs_exclude_set(VS_EXCLUDED_DRAINS, host, NULL,
			       VS_EXCLUDED_FOREVER, why);
	} else if (!most && nodes == VS_BREAKER_NODES) {
		vs_error("host=%s may be faulty: %s; it still gets VMs (to stop that: svf host drain %s)",
			 name, why, name);
	}
}

/* A host that is left out for its drained nodes, though they are fewer than the
 * limit. NULL: there is none. */
static const struct vs_exclusion *first_unjustified(int most)
{
	for (const struct vs_exclusion *a = vs_hosts.avoids; a; a = a->next)
		if (a->cause == VS_EXCLUDED_DRAINS &&
		    (!most || vs_health_drains(a->moid) < most))
			return a;
	return NULL;
}

/*
 * The limit is another than the one that was judged by. (As long as it is the
 * same, a host that was left out stays so until all of them are resumed.)
 */
void vs_health_limit(struct vs_core *c, int was)
{
	int most = c->conf->host_drain_threshold;
	const struct vs_exclusion *a;
	const struct vs_host *h;
	char moid[VS_MOID_LEN];

	vs_assert_locked();
	if (most == was)
		return;
	vs_state_file_dirty();
	while ((a = first_unjustified(most))) {
		h = vs_host_get(&c->inv, a->moid);
		vs_info("host=%s gets VMs again: HostDrainThreshold=%d, operators or Slurm drained nodes=%d there",
			h ? h->name : a->moid, most,
			vs_health_drains(a->moid));
		vs_strlcpy(moid, a->moid, sizeof(moid));
		vs_exclude_end(VS_EXCLUDED_DRAINS, moid);
	}
	for (struct vs_drain_count *s = vs_hosts.sick; most && s;
	     s = s->hh.next)
		judge(c, s->host, s->nodes);
}

void vs_health_observe(struct vs_core *c, struct vs_node *n)
{
	const struct vs_host *h;

	if (!n->flags)
		return;		/* not known to Slurm, or not yet */
	if (!(n->flags & VS_NODE_TAKEN)) {
		if (n->drained_on[0])
			let_go(n);
		return;
	}
	if (n->drained_on[0])
		return;
	h = vs_node_on(c, n);
	if (!h) {
		vs_strlcpy(n->drained_on, NOWHERE, sizeof(n->drained_on));
		return;
	}
	vs_info("node=%s was drained or set DOWN by an operator or Slurm, its VM is on host=%s: nodes=%d there",
		n->name, h->name, vs_health_drains(h->moid) + 1);
	judge(c, h->moid, note(n, h->moid)->nodes);
}

/* The node is not managed any more. */
void vs_health_gone(const struct vs_node *n)
{
	struct vs_node gone = *n;

	vs_assert_locked();
	let_go(&gone);
}

/* The host's faults are fixed, or it has none: the drains count against it no
 * more. */
void vs_health_forget(struct vs_core *c, const char *host)
{
	vs_assert_locked();
	for (size_t i = 0; i < c->nnodes; i++) {
		struct vs_node *n = &c->nodes[i];

		if (strcmp(n->drained_on, host) != 0)
			continue;
		let_go(n);
		if (n->flags & VS_NODE_TAKEN)
			vs_strlcpy(n->drained_on, NOWHERE,
				   sizeof(n->drained_on));
	}
	vs_exclude_end(VS_EXCLUDED_DRAINS, host);
}

/* Of nodes that are gone, too. */
void vs_health_clear(struct vs_core *c)
{
	struct vs_drain_count *s, *tmp;

	vs_assert_locked();
	HASH_ITER(hh, vs_hosts.sick, s, tmp) {
		HASH_DEL(vs_hosts.sick, s);
		free(s);
	}
	for (size_t i = 0; i < c->nnodes; i++)
		c->nodes[i].drained_on[0] = '\0';
}

struct json_object *vs_health_json(const struct vs_core *c)
{
	struct json_object *arr = vs_jb_arr();

	for (size_t i = 0; i < c->nnodes; i++) {
		const struct vs_node *n = &c->nodes[i];
		struct json_object *o;

		if (!somewhere(n))
			continue;
		o = vs_jb_obj(NULL);
		vs_jb_str(o, "node", n->name);
		vs_jb_str(o, "host", n->drained_on);
		vs_jb_add(arr, o);
	}
	return arr;
}

void vs_health_read(struct vs_core *c, struct vs_j list)
{
	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j j = vs_j_at(list, i);
		const char *name = vs_j_str(vs_j_get(j, "node"));
		const char *host = vs_j_str(vs_j_get(j, "host"));
		struct vs_node *n;

		if (list.doc->err.code)
			return;
		n = vs_node_named(c, name);
		if (n && !n->drained_on[0] && host[0] && strcmp(host, NOWHERE))
			note(n, host);
	}
}
