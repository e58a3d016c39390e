/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement=drs: a gang is held where our own ledger finds room, as under
 * balance; before a clone, vCenter is asked on which of the hosts that would do
 * DRS would put it (PlaceVm), and the hold moves there.
 *
 * Rules: DRS chooses, the ledger decides: it counts VFs and promises, of which
 * DRS knows nothing, so that a VM goes nowhere where its VF isn't free. One
 * question per hold, a bounded number under way, a bounded wait; whatever goes
 * wrong is counted, and the VM is cloned where its hold is. Never asks for a VM
 * that is there already, nor for one that is where an operator wanted it.
 */
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/provision/provision.h"
#include "engine/provision/provision_i.h"
#include "engine/state/state.h"
#include "engine/vmspec/vmspec.h"
#include "util/json.h"
#include "util/mem.h"

#define WAIT_MS 10000

struct vs_drs vs_drs;

void vs_drs_use(bool on, bool some)
{
	vs_drs.on = on;
	vs_drs.some = some;
}

static void settle(struct vs_node *n)
{
	n->drs = (struct vs_node_drs) { .settled = true };
	vs_node_mark_changed(n);
}

/* Hosts of that cluster that our ledger would accept, the hold's own first. */
static size_t candidates(struct vs_core *c, const struct vs_node *n,
			 const struct vs_host *own, const char **out)
{
	VS_FREE const struct vs_host **fit =
		vs_calloc((size_t)c->inv.nhosts + 1, sizeof(*fit));
	struct vs_place_env env;
	struct vs_place_node like;
	size_t nfit, count = 0;

	vs_env_fill(c, &env);
	vs_place_node_fill(c, n, &like);
	nfit = vs_place_hosts(&env, &like, fit);
	out[count++] = own->moid;
	for (size_t i = 0; i < nfit; i++) {
		if (fit[i] != own && !strcmp(fit[i]->cluster, own->cluster))
			out[count++] = fit[i]->moid;
	}
	return count;
}

static bool ask(struct vs_core *c, struct vs_node *n,
		const struct vs_host *own, int64_t now_ms)
{
	VS_FREE const char **hosts =
		vs_calloc((size_t)c->inv.nhosts + 1, sizeof(*hosts));
	struct vs_vc_where w = {
		.cluster = own->cluster,
		.source = n->profile->template_moid,
		.name = n->name,
		.pool = vs_host_pool(c, own),
		.datastore = c->store[0] ? c->store : NULL,
		.hosts = hosts,
		.nhosts = candidates(c, n, own, hosts),
	};
	struct vs_err err = { 0 };
	int64_t id;

	if (w.nhosts < 2)
		return false;		/* there is nothing to choose */
	if (vs_capability_check(c, n, NULL, VS_OPERATION_DRS_PLACE, NULL,
				&err)) {
		vs_drs.failed++;
		vs_debug("node=%s DRS is not asked: %s", n->name, err.text);
		return false;
	}
	id = vs_vc_where(c->vc, &w, &err);
	if (id < 0) {
		vs_drs.failed++;
		return false;
	}
	n->drs = (struct vs_node_drs) {
		.id = (uint64_t)id, .since_ms = now_ms,
	};
	vs_drs.asks[vs_drs.nasks].id = (uint64_t)id;
	vs_strlcpy(vs_drs.asks[vs_drs.nasks++].node, n->name, VS_NAME_LEN);
	return true;
}

static bool asks(const struct vs_profile *p)
{
	return p->placement == VS_PLACEMENT_GLOBAL ? vs_drs.on :
		p->placement == VS_PLACEMENT_DRS;
}

bool vs_drs_waits(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	const struct vs_claim *h = vs_ledger_get(&c->ledger, n->name);
	const struct vs_host *own = h ? vs_host_get(&c->inv, h->host) : NULL;

	if (!asks(n->profile) || n->drs.settled || !own ||
	    h->state != VS_CLAIM_RESERVED)
		return false;
	if (n->drs.id && now_ms - n->drs.since_ms < WAIT_MS)
		return true;
	if (n->drs.id) {
		vs_drs.failed++;
		vs_debug("node=%s DRS does not answer", n->name);
	} else if (vs_drs.nasks == VS_DRS_ASKING) {
		return true;
	} else if (ask(c, n, own, now_ms)) {
		return true;
	}
	settle(n);
	return false;
}

/* Returns the node that asked, or NULL if none waits for the answer any
 * more. */
static struct vs_node *asker(struct vs_core *c, uint64_t id)
{
	struct vs_node *n = NULL;

	for (size_t i = 0; i < vs_drs.nasks; i++) {
		if (vs_drs.asks[i].id != id)
			continue;
		n = vs_node_named(c, vs_drs.asks[i].node);
		vs_drs.asks[i] = vs_drs.asks[--vs_drs.nasks];
		break;
	}
	return n && n->drs.id == id ? n : NULL;
}

static void take_answer(struct vs_core *c, struct vs_node *n, const char *host)
{
	const struct vs_claim *h = vs_ledger_get(&c->ledger, n->name);
	const struct vs_host *to = vs_host_get(&c->inv, host);

	if (!h || h->state != VS_CLAIM_RESERVED || vs_node_vm(c, n))
		return;		/* it is too late for advice */
	if (!strcmp(h->host, host)) {
		vs_drs.agreed++;
	} else if (to && !vs_claim_move(c, n, to)) {
		vs_drs.moved++;
		vs_info("node=%s DRS recommends another host=%s", n->name,
			to->name);
	} else {
		vs_drs.refused++;
		vs_debug("node=%s DRS recommends host=%s, which has no capacity for it",
			 n->name, to ? to->name : host);
	}
}

void vs_drs_answered(struct vs_core *c, uint64_t id, const char *host,
		     const struct vs_err *err)
{
	struct vs_node *n = asker(c, id);

	vs_assert_locked();
	if (n && err) {
		vs_drs.failed++;
		vs_debug("node=%s DRS recommends no host: %s", n->name, err->text);
	} else if (n) {
		take_answer(c, n, host);
	}
	if (n)
		settle(n);
}

void vs_drs_claim_changed(struct vs_core *c, struct vs_node *n,
			  enum vs_claim_event e, const struct vs_claim *before)
{
	const struct vs_claim *h;
	const char *prefers;

	(void)before;
	if (e != VS_CLAIM_TAKEN)
		return;
	h = vs_ledger_get(&c->ledger, n->name);
	prefers = vs_node_preferred_host(n, vs_node_vm(c, n));
	n->drs = (struct vs_node_drs) {
		.settled = prefers && !strcmp(prefers, h->host),
	};
}

void vs_drs_forget(struct vs_core *c)
{
	for (size_t i = 0; i < vs_drs.nasks; i++) {
		struct vs_node *n = vs_node_named(c, vs_drs.asks[i].node);

		if (n)
			n->drs = (struct vs_node_drs) { .id = 0 };
	}
	vs_drs.nasks = 0;
}

void vs_report_drs(struct json_object *top)
{
	struct json_object *o;

	vs_assert_locked();
	if (!vs_drs.on && !vs_drs.some)
		return;
	o = vs_jb_obj(NULL);
	vs_jb_int(o, "agreed", (int64_t)vs_drs.agreed);
	vs_jb_int(o, "moved", (int64_t)vs_drs.moved);
	vs_jb_int(o, "refused", (int64_t)vs_drs.refused);
	vs_jb_int(o, "failed", (int64_t)vs_drs.failed);
	vs_jb_put(top, "drs", o);
}
