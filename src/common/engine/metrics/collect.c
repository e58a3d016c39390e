/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reading for the metrics: sums of what the core knows, small enough to be kept
 * after the lock is given back. What is made of them is format.c's.
 *
 * Rules: hosts and nodes are read a slice at a time, and slurmctld's threads go
 * first between two; no text is made, and nothing sorted, under the lock. No job,
 * user or node is named, because all that reach the port may read it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "engine/allocation/allocation.h"
#include "engine/checks/checks.h"
#include "engine/hosts/hosts.h"
#include "engine/jobs/jobs.h"
#include "engine/metrics/metrics_i.h"
#include "engine/prefetch/prefetch.h"
#include "engine/report/report.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "util/mem.h"

#define HOSTS_SLICE 16
#define NODES_SLICE 64

/* Of this thread's own work: how long it waited for a processor says nothing. */
static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

/* ---- PFs --------------------------------------------------------------- */

static uint64_t adapters_of(const struct vs_core *c, const struct vs_pf *pf)
{
	uint64_t mask = 0;

	for (size_t a = 0; a < c->conf->nadapters && a < VS_METRIC_ADAPTERS; a++)
		if (vs_pf_draws(c, a, pf))
			mask |= UINT64_C(1) << a;
	return mask;
}

/* Where its VFs without a VM count: those of a host that isn't there are
 * lost for now, those that placement leaves out in quarantine, also while their
 * host is off by intent. */
static enum vs_vf_state spare_of(const struct vs_host *h,
				 const struct vs_host_block *bar, int pf,
				 const struct vs_pf_use *use)
{
	if (h->standby || h->maintenance)
		return VS_VF_QUARANTINED;
	if (!h->connected || !h->powered_on)
		return VS_VF_LOST;
	if (use->unknown || !h->pfs_known || !vs_host_usable(h) ||
	    bar->avoided || bar->trial || (bar->pfs & 1u << pf))
		return VS_VF_QUARANTINED;
	return VS_VF_FREE;
}

static void pf_read(struct vs_core *c, const struct vs_host *h, int i,
		    const struct vs_host_block *bar, struct vs_metrics_facts *f,
		    size_t host)
{
	const struct vs_pf_use *use =
		&vs_free_capacity_get(c)->hosts[h->index].pf[i];
	const struct vs_pf *pf = &h->pfs[i];
	int had = vs_pf_change_most(h, pf->pci);
	int spare = use->total - use->ours - use->foreign - use->suspect -
		use->held;
	struct vs_metrics_pf *p;

	if (use->crowded)	/* their GPU runs another profile's */
		spare = spare > use->crowded ? spare - use->crowded : 0;
	if (!use->total && !had && !spare)
		return;
	VS_GROW(f->pfs, f->cap_pfs, f->npfs + 1);
	p = &f->pfs[f->npfs++];
	*p = (struct vs_metrics_pf) { .host = host };
	vs_strlcpy(p->pci, pf->pci, sizeof(p->pci));
	p->adapters = adapters_of(c, pf);
	p->device = pf->of != NULL;
	if (pf->of && pf->of->named) {
		vs_strlcpy(p->ids, pf->of->label, sizeof(p->ids));
	} else if (pf->of) {
		snprintf(p->ids, sizeof(p->ids), "%04x:%04x",
			 (unsigned int)pf->of->vendor,
			 (unsigned int)pf->of->device);
		vs_strlcpy(p->label, pf->of->label, sizeof(p->label));
	}
	p->n[VS_VF_CLAIMED] = use->held;
	p->n[VS_VF_MANAGED] = use->ours;
	p->n[VS_VF_FOREIGN] = use->foreign;
	p->n[VS_VF_UNVERIFIED] = use->suspect;
	if (had > use->total)
		p->n[VS_VF_LOST] = had - use->total;
	/* below 0, it is over-committed */
	p->n[spare < 0 ? VS_VF_FREE : spare_of(h, bar, i, use)] += spare;
}

/* ---- hosts ------------------------------------------------------------- */

static int breaker_of(const char *moid)
{
	const struct vs_breaker *b = vs_breaker_get(moid);

	return vs_exclusion_find(VS_EXCLUDED_BROKEN, moid) ? 2 :
		b && b->trips ? 1 : 0;
}

static void host_read(struct vs_core *c, struct vs_metrics_facts *f, size_t at,
		      const struct vs_host_block *bars)
{
	struct vs_metrics_host *m = &f->hosts[at];
	const struct vs_host *h = vs_host_get(&c->inv, m->moid);

	if (!h)
		return;		/* it went meanwhile */
	m->state = vs_report_host_state(c, h);
	m->breaker = breaker_of(h->moid);
	for (int i = 0; i < h->npfs; i++)
		pf_read(c, h, i, &bars[h->index], f, at);
}

static void hosts_name(struct vs_core *c, struct vs_metrics_facts *f)
{
	f->hosts = vs_calloc((size_t)c->inv.nhosts + 1, sizeof(*f->hosts));
	for (struct vs_host *h = c->inv.hosts; h; h = h->hh.next) {
		struct vs_metrics_host *m = &f->hosts[f->nhosts++];

		vs_strlcpy(m->moid, h->moid, sizeof(m->moid));
		vs_strlcpy(m->name, h->name, sizeof(m->name));
	}
}

/* ---- nodes ------------------------------------------------------------- */

/* All of them, met or not: who is not there can't be seen to go. */
static const char *const slurm_words[] = {
	"allocated", "completing", "down", "drain", "idle", "powered_down",
	"powering_down", "powering_up", "unknown",
};
static const char *const vm_words[] = {
	"cloning", "none", "off", "on", "starting", "stopping", "suspended",
	"unknown",
};

static void words_fill(struct vs_metrics_count *row, const char *const *words,
		       size_t n)
{
	for (size_t i = 0; i < n; i++)
		row[i].word = words[i];
}

static void count(struct vs_metrics_count *row, const char *word)
{
	for (int i = 0; i < VS_METRIC_STATES; i++) {
		if (row[i].word && strcmp(row[i].word, word))
			continue;
		row[i].word = word;
		row[i].n++;
		return;
	}
}

static void node_read(struct vs_core *c, const struct vs_node *n,
		      struct vs_metrics_facts *f)
{
	size_t a = (size_t)(n->profile->adapter - c->adapters);

	if (a >= f->nadapters)
		return;
	count(f->slurm[a], vs_report_slurm_state(n->flags));
	count(f->vms[a], vs_report_vm_state(c, n, vs_node_vm(c, n)));
}

/* ---- the rest ---------------------------------------------------------- */

static void adapters_name(const struct vs_core *c, struct vs_metrics_facts *f)
{
	size_t n = c->conf->nadapters;

	f->epoch = c->epoch;
	f->nadapters = n;
	f->adapters = vs_calloc(n + 1, sizeof(*f->adapters));
	f->slurm = vs_calloc(n + 1, sizeof(*f->slurm));
	f->vms = vs_calloc(n + 1, sizeof(*f->vms));
	for (size_t a = 0; a < n; a++) {
		vs_strlcpy(f->adapters[a], c->adapters[a].name,
			   sizeof(f->adapters[a]));
		words_fill(f->slurm[a], slurm_words, VS_COUNT(slurm_words));
		words_fill(f->vms[a], vm_words, VS_COUNT(vm_words));
	}
}

static void sums_read(struct vs_core *c, struct vs_metrics_facts *f)
{
	int64_t now_ms = vs_clock();
	const char *why = vs_query_blocked(c);
	const struct vs_prefetched ahead = vs_prefetch_counts();

	f->kept = *vs_metrics_counted();
	f->up = c->ready;
	f->blocked = why != NULL;
	f->observe = c->observe;
	f->paused = vs_pause_get() != NULL;
	f->brake = vs_removal_limit_is_reached();
	f->in_flight[0] = vs_tasks_provisioning();
	f->in_flight[1] = vs_tasks_power_ops();
	f->in_flight_max[0] = c->conf->max_provision_ops;
	f->in_flight_max[1] = c->conf->max_power_ops;
	f->clones_hour = vs_clones_hour();
	f->clones_max = c->conf->max_clones_per_hour;
	memset(f->parents, 0, sizeof(f->parents));
	vs_clone_sources_states(c, f->parents);
	f->ahead = ahead.now;
	f->ahead_made = ahead.made;
	f->ahead_used = ahead.used;
	f->ahead_removed = ahead.removed;
	for (const struct vs_pending *r = vs_refusals(); r; r = r->hh.next) {
		f->waits[r->lacks]++;
		if (r->lacks != VS_PENDING_NODES && r->lacked_ms &&
		    now_ms - r->lacked_ms > f->oldest_ms)
			f->oldest_ms = now_ms - r->lacked_ms;
	}
}

/* Between two slices. False: the configuration is another one now. Not by each.c, for
 * how long the lock was held is a metric. */
static bool lend(struct vs_core *c, struct vs_metrics_facts *f,
		 int64_t *since_us)
{
	int64_t us = now_us() - *since_us;

	if (us > f->lock_us)
		f->lock_us = us;
	vs_lock_yield();
	*since_us = now_us();
	return c->epoch == f->epoch;
}

static bool slices(struct vs_core *c, struct vs_metrics_facts *f)
{
	int64_t since_us = now_us();
	const struct vs_host_block *bars = NULL;

	adapters_name(c, f);
	hosts_name(c, f);
	sums_read(c, f);
	if (!lend(c, f, &since_us))
		return false;
	vs_free_capacity_get(c);
	for (size_t i = 0; i < f->nhosts; i++) {
		if (i % HOSTS_SLICE == 0)
			bars = vs_exclusion_blocks(c);
		host_read(c, f, i, bars);
		if (i % HOSTS_SLICE == HOSTS_SLICE - 1 &&
		    !lend(c, f, &since_us))
			return false;
	}
	for (size_t i = 0; i < c->nnodes; i++) {
		node_read(c, &c->nodes[i], f);
		if (i % NODES_SLICE == NODES_SLICE - 1 &&
		    !lend(c, f, &since_us))
			return false;
	}
	return lend(c, f, &since_us);
}

int vs_metrics_read(struct vs_core *c, struct vs_metrics_facts *f,
		    struct vs_err *err)
{
	vs_assert_locked();
	memset(f, 0, sizeof(*f));
	return slices(c, f) ? 0 : vs_err_set(err, VS_E_RETRY,
		"vsphere.conf was read again in the meantime: repeat the request");
}

void vs_metrics_facts_free(struct vs_metrics_facts *f)
{
	free(f->adapters);
	free(f->slurm);
	free(f->vms);
	free(f->hosts);
	free(f->pfs);
	memset(f, 0, sizeof(*f));
}
