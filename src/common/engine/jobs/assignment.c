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
#include "engine/jobs/jobs.h"
#include "engine/slurm/outbox.h"
#include "engine/slurm/slurm_ops.h"
#include "engine/state/state.h"
#include "util/mem.h"

static const char *pf_of(const struct vs_vm *vm, const char *mac)
{
	for (int i = 0; i < vm->nnics; i++)
		if (vm->nics[i].kind == VS_NIC_SRIOV && vm->nics[i].pci[0] &&
		    !strcasecmp(vm->nics[i].mac, mac))
			return vm->nics[i].pci;
	return NULL;
}

/* In the order of the node's MACs, in which the guest lists its devices. One
 * that isn't known leaves none: who pairs the lists would be misled. */
static char *pfs_of(const struct vs_node *n, const struct vs_vm *vm)
{
	char all[VS_NICS_MAX * VS_PCI_LEN] = "";
	size_t len = 0;

	for (int i = 0; i < vs_adapter_total(n->profile->adapter); i++) {
		const char *pf = pf_of(vm, n->macs[i]);

		if (!pf)
			return NULL;
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s",
					len ? "," : "", pf);
	}
	return vs_strdup(all);
}

static void row_fill(struct vs_core *c, const struct vs_node *n,
		     struct vs_slurm_assignment *row)
{
	const struct vs_vm *vm = vs_node_vm(c, n);

	row->node = vs_strdup(n->name);
	row->adapter = vs_strdup(n->profile->adapter->name);
	if (vm && vm->power == VS_POWER_ON && vm->host_ptr) {
		row->host = vs_strdup(vm->host_ptr->name);
		row->pfs = pfs_of(n, vm);
	}
}

void vs_assignment_note(struct vs_core *c, const struct vs_wait *w,
			int64_t now_ms)
{
	struct vs_assignment *g = vs_calloc(1, sizeof(*g));

	g->job = w->job;
	g->n = w->n;
	g->rows = vs_calloc(w->n + 1, sizeof(*g->rows));
	for (size_t i = 0; i < w->n; i++)
		row_fill(c, &c->nodes[w->ids[i]], &g->rows[i]);
	g->rows[0].admin_comment = c->conf->admin_comment;
	g->rows[0].took = vs_startup_times_text(c, w, now_ms);
	vs_outbox_post_assignment(g);
}

/* Jobs of VMs that came by vMotion in this turn. */
static struct moved { uint32_t *ids; size_t n, cap; } moved;

/* Several of its VMs may come in one turn: it is told once, of all of them. */
void vs_assignment_moved(uint32_t job)
{
	struct moved *m = &moved;

	if (!job)
		return;
	VS_GROW(m->ids, m->cap, m->n + 1);
	m->ids[m->n++] = job;
}

static int by_job(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static const uint32_t *find(const struct moved *m, uint32_t job)
{
	return job ? bsearch(&job, m->ids, m->n, sizeof(job), by_job) : NULL;
}

static bool is_of(const struct vs_node *n, const struct moved *m)
{
	bool is = find(m, n->claims.job);

	for (size_t k = 0; k < n->claims.nbeside && !is; k++)
		is = find(m, n->claims.beside[k].job);
	return is;
}

struct ids {
	const struct moved *of;
	int *ids;
	size_t n, cap;
};

static void id_add(struct vs_core *c, struct vs_node *n, void *arg)
{
	struct ids *l = arg;

	(void)c;
	if (!is_of(n, l->of))
		return;
	VS_GROW(l->ids, l->cap, l->n + 1);
	l->ids[l->n++] = n->id;
}

static void row_of(struct vs_core *c, const struct vs_node *n, uint32_t job,
		   struct vs_assignment *gots, const struct moved *m)
{
	const uint32_t *at = find(m, job);
	struct vs_assignment *g = at ? &gots[at - m->ids] : NULL;

	if (!g)
		return;
	VS_GROW(g->rows, g->cap, g->n + 1);
	g->rows[g->n] = (struct vs_slurm_assignment) { 0 };
	row_fill(c, n, &g->rows[g->n++]);
}

/* Those that wait are told when their prologs end. */
static void jobs_sort(struct moved *m)
{
	size_t kept = 0;

	qsort(m->ids, m->n, sizeof(*m->ids), by_job);
	for (size_t i = 0; i < m->n; i++)
		if ((!kept || m->ids[kept - 1] != m->ids[i]) &&
		    !vs_job_waits(m->ids[i]))
			m->ids[kept++] = m->ids[i];
	m->n = kept;
}

static void tell(struct vs_core *c, const struct vs_assignment *from)
{
	struct vs_assignment *g = vs_calloc(1, sizeof(*g));

	*g = *from;
	g->rows[0].admin_comment = c->conf->admin_comment;
	g->rows[0].moved = true;
	vs_outbox_post_assignment(g);
	vs_outbox_post(VS_REQUEST_ASSIGNMENT, NULL, g->job, true, NULL);
}

void vs_assignments_moved(struct vs_core *c)
{
	struct moved *m = &moved;
	VS_FREE struct vs_assignment *gots = NULL;
	struct ids l = { .of = m };

	vs_assert_locked();
	if (!m->n)
		return;
	jobs_sort(m);
	/* One walk for all jobs. */
	if (!vs_each_node(c, id_add, &l)) {
		free(l.ids);
		return;
	}
	gots = vs_calloc(m->n + 1, sizeof(*gots));
	for (size_t i = 0; i < l.n; i++) {
		const struct vs_node *node = &c->nodes[l.ids[i]];

		row_of(c, node, node->claims.job, gots, m);
		for (size_t k = 0; k < node->claims.nbeside; k++)
			row_of(c, node, node->claims.beside[k].job, gots, m);
	}
	free(l.ids);
	for (size_t i = 0; i < m->n; i++) {
		gots[i].job = m->ids[i];
		if (gots[i].n)		/* else its end came before */
			tell(c, &gots[i]);
	}
	m->n = 0;
}

void vs_assignments_clear(void)
{
	moved.n = 0;
	vs_outbox_assignments_clear();
}
