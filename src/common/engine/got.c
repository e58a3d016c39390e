/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job got: of each of its nodes the adapter, the host and the PFs, as
 * vCenter shows them when its prolog is answered. Noted under the lock, said to
 * Slurm just before that answer, so that it is there when the job begins.
 * What vCenter doesn't show (an automatic PF that isn't resolved) is left out:
 * a guess would be read as a fact.
 */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include "engine/core_i.h"
#include "util/crash.h"
#include "util/mem.h"

struct vs_got {
	uint32_t job;
	struct vs_port_got *rows;
	size_t n;
	struct vs_got *next;
};

static const char *pf_of(const struct vs_vm *vm, const char *mac)
{
	for (int i = 0; i < vm->ncards; i++)
		if (vm->cards[i].kind == VS_CARD_SRIOV && vm->cards[i].pci[0] &&
		    !strcasecmp(vm->cards[i].mac, mac))
			return vm->cards[i].pci;
	return NULL;
}

/* In the order of the node's MACs, in which the guest lists its devices. One
 * that isn't known leaves none: who pairs the lists would be misled. */
static char *pfs_of(const struct vs_node *n, const struct vs_vm *vm)
{
	char all[VS_CARDS_MAX * VS_PCI_LEN] = "";
	size_t len = 0;

	for (int i = 0; i < vs_adapter_cards(n->profile->adapter); i++) {
		const char *pf = pf_of(vm, n->macs[i]);

		if (!pf)
			return NULL;
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s",
					len ? "," : "", pf);
	}
	return vs_strdup(all);
}

static void row_fill(struct vs_core *c, const struct vs_node *n,
		     struct vs_port_got *row)
{
	const struct vs_vm *vm = vs_node_vm(c, n);

	row->node = vs_strdup(n->name);
	row->adapter = vs_strdup(n->profile->adapter->name);
	if (vm && vm->power == VS_POWER_ON && vm->host_ptr) {
		row->host = vs_strdup(vm->host_ptr->name);
		row->pfs = pfs_of(n, vm);
	}
}

static void got_free(struct vs_got *g)
{
	for (size_t i = 0; i < g->n; i++) {
		free(g->rows[i].node);
		free(g->rows[i].adapter);
		free(g->rows[i].host);
		free(g->rows[i].pfs);
		free(g->rows[i].took);
	}
	free(g->rows);
	free(g);
}

void vs_got_note(struct vs_core *c, const struct vs_wait *w, int64_t now_ms)
{
	struct vs_got *g = vs_calloc(1, sizeof(*g));

	g->job = w->job;
	g->n = w->n;
	g->rows = vs_calloc(w->n + 1, sizeof(*g->rows));
	for (size_t i = 0; i < w->n; i++)
		row_fill(c, &c->nodes[w->ids[i]], &g->rows[i]);
	g->rows[0].admin_comment = c->conf->admin_comment;
	g->rows[0].took = vs_took_words(c, w, now_ms);
	g->next = c->gots;
	c->gots = g;
}

void vs_got_moved(struct vs_core *c, uint32_t job)
{
	struct vs_got *g;
	size_t n = 0;

	if (!job || vs_job_waits(c, job))
		return;		/* it is told when its prolog ends */
	g = vs_calloc(1, sizeof(*g));
	g->job = job;
	for (size_t i = 0; i < c->nnodes; i++)
		n += vs_job_has(&c->nodes[i], job);
	g->rows = vs_calloc(n + 1, sizeof(*g->rows));
	for (size_t i = 0; i < c->nnodes && g->n < n; i++)
		if (vs_job_has(&c->nodes[i], job))
			row_fill(c, &c->nodes[i], &g->rows[g->n++]);
	g->rows[0].admin_comment = c->conf->admin_comment;
	g->rows[0].moved = true;
	g->next = c->gots;
	c->gots = g;
	vs_tell(c, VS_TELL_GOT, NULL, job, true, NULL);
}

/* The latest of this job, unlinked; NULL: there is none. */
static struct vs_got *take(struct vs_core *c, uint32_t job)
{
	struct vs_got **link = &c->gots, *g;

	while (*link && (*link)->job != job)
		link = &(*link)->next;
	g = *link;
	if (g)
		*link = g->next;
	return g;
}

void vs_got_say(struct vs_core *c, uint32_t job)
{
	struct vs_got *g;

	vs_lock();
	g = take(c, job);
	vs_unlock();
	if (!g)
		return;
	vs_crash_before("tell", "got");
	c->port->job_got(c->port->ctx, job, g->rows, g->n);
	vs_crash_after("tell", "got");
	got_free(g);
}

void vs_got_clear(struct vs_core *c)
{
	while (c->gots)
		got_free(take(c, c->gots->job));
}
