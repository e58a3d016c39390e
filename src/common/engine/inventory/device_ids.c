/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which devices a host offers by their address, and the systemId that a spec
 * must say with each, and what the parameters of its DVX classes must be: what no
 * update streams, and a host alone knows. Asked
 * (QueryConfigTarget) when a VM is to be built there, and kept until something
 * of the host's devices changes or a call fails there.
 *
 * Rules: a bounded number of questions; never a second one for the same host
 * while one is under way; a refusal is believed for a few seconds.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/inventory/inventory.h"
#include "engine/state/state.h"
#include "util/mem.h"

#define ASKING_MAX 16
#define REFUSED_MS 5000
#define OPTIONS_MAX 32		/* of the classes that adapters have */

static int asking;			/* questions under way */

struct vs_candidates_free {
	uint64_t ask;			/* under way, 0: none */
	bool stale;			/* its answer may be of before a change */
	bool told;			/* it has answered */
	int64_t told_ms;
	struct vs_err err;		/* why it wasn't told, VS_OK: it was */
	int n;
	struct { char pci[VS_PCI_LEN], system[64]; } of[VS_HOST_PFS];
	size_t noptions;
	struct vs_vc_option options[OPTIONS_MAX];
};

static void ask(struct vs_core *c, struct vs_host *h, int64_t now_ms)
{
	struct vs_candidates_free *o = h->offer;
	int64_t id;

	if (asking >= ASKING_MAX)
		return;			/* the next turn sees to it */
	memset(o, 0, sizeof(*o));
	o->told_ms = now_ms;
	id = vs_vc_target(c->vc, h->cluster, h->moid, &o->err);
	if (id < 0)
		return;
	o->ask = (uint64_t)id;
	asking++;
}

int vs_device_ids_options(struct vs_core *c, struct vs_host *h, int64_t now_ms,
			  const struct vs_vc_option **to, size_t *n,
			  struct vs_err *err)
{
	struct vs_candidates_free *o = h->offer;

	err->code = VS_OK;
	*n = 0;
	if (!o || (!o->ask && !o->told && now_ms - o->told_ms >= REFUSED_MS)) {
		if (!o)
			o = h->offer = vs_calloc(1, sizeof(*o));
		ask(c, h, now_ms);
	}
	if (o->told) {
		*to = o->options;
		*n = o->noptions;
		return 0;
	}
	if (o->err.code == VS_OK || o->err.code == VS_E_RETRY) {
		*err = o->err;
		return -1;
	}
	return 0;		/* refused for good: the spec guesses */
}

const char *vs_device_ids_system(struct vs_core *c, struct vs_host *h,
				 const char *pci, int64_t now_ms,
				 struct vs_err *err)
{
	struct vs_candidates_free *o = h->offer;

	err->code = VS_OK;
	if (!o || (!o->ask && !o->n && now_ms - o->told_ms >= REFUSED_MS)) {
		if (!o)
			o = h->offer = vs_calloc(1, sizeof(*o));
		ask(c, h, now_ms);
	}
	for (int i = 0; i < o->n; i++)
		if (!strcmp(o->of[i].pci, pci))
			return o->of[i].system;
	if (o->err.code != VS_OK)
		*err = o->err;
	else if (o->n)
		vs_err_set(err, VS_E_OTHER_HOST,
			"host %s does not offer its device %s to VMs: enable passthrough for it (svf check)",
			h->name, pci);
	return NULL;
}

void vs_device_ids_forget(struct vs_host *h)
{
	struct vs_candidates_free *o = h->offer;

	if (o && o->ask) {
		o->stale = true;
		return;
	}
	free(o);
	h->offer = NULL;
}

void vs_offers_down(struct vs_core *c)
{
	vs_assert_locked();
	for (struct vs_host *h = c->inv.hosts; h; h = h->hh.next) {
		free(h->offer);
		h->offer = NULL;
	}
	asking = 0;
}

static struct vs_host *asked(const struct vs_core *c, uint64_t id)
{
	struct vs_host *h = c->inv.hosts;

	while (h && (!h->offer || h->offer->ask != id))
		h = h->hh.next;
	return h;
}

static bool class_given(const struct vs_core *c, const char *class)
{
	for (size_t i = 0; i < c->conf->nadapters; i++)
		if (vs_adapter_type_info(&c->adapters[i])->by_class &&
		    !strcmp(c->adapters[i].label, class))
			return true;
	return false;
}

/* Devices that are handed out by their address, classes that some adapter has. */
static void take(const struct vs_core *c, const struct vs_host *h,
		 struct vs_candidates_free *o, const struct vs_vc_targets *t)
{
	o->told = true;
	for (size_t i = 0; i < t->ndevices && o->n < VS_HOST_PFS; i++) {
		const struct vs_vc_target *d = &t->devices[i];
		const struct vs_pf *row = vs_host_device(h, d->pci);

		if (!row || !row->of->fixed)
			continue;
		vs_strlcpy(o->of[o->n].pci, d->pci, VS_PCI_LEN);
		vs_strlcpy(o->of[o->n].system, d->system,
			   sizeof(o->of[0].system));
		o->n++;
	}
	for (size_t i = 0; i < t->noptions && o->noptions < OPTIONS_MAX; i++)
		if (class_given(c, t->options[i].class))
			o->options[o->noptions++] = t->options[i];
	if (!o->n)
		vs_err_set(&o->err, VS_E_OTHER_HOST,
			"host %s offers no such device to VMs, though passthrough is active for it",
			h->name);
}

static void wake(struct vs_core *c, const struct vs_host *h)
{
	const struct vs_host_claims *of = vs_ledger_host_claims(&c->ledger,
								h->moid);
	const struct vs_claim *hold;
	struct vs_node *n;

	if (!of)
		return;
	LIST_FOREACH(hold, &of->list, on_host) {
		n = vs_node_named(c, hold->node);
		if (n)
			vs_node_mark_changed(n);
	}
}

void vs_device_ids_answered(struct vs_core *c, uint64_t id,
			    const struct vs_vc_targets *t,
			    const struct vs_err *err)
{
	struct vs_host *h;

	vs_assert_locked();
	if (asking)
		asking--;
	h = asked(c, id);
	if (h) {
		h->offer->ask = 0;
		h->offer->told_ms = vs_clock();
		if (h->offer->stale)
			vs_device_ids_forget(h);
		else if (err)
			vs_err_set(&h->offer->err, err->code,
				"host %s is not read (QueryConfigTarget): %s",
				h->name, err->text);
		else
			take(c, h, h->offer, t);
		wake(c, h);
	}
}
