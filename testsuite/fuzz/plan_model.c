/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The naive model: plan/allocation/ledger.h's sum asked of each NIC and each
 * hold, one PF at a time. Slow on purpose; never calls plan.
 */
#include <stddef.h>
#include "plan_model.h"

static bool bus_exists(const struct m_host *h, int bus)
{
	for (int p = 0; p < h->npfs; p++)
		if (h->pf[p].bus == bus)
			return true;
	return false;
}

static bool switch_exists(const struct m_host *h, int sw)
{
	for (int p = 0; p < h->npfs; p++)
		if (sw != NO && h->pf[p].sw == sw)
			return true;
	return false;
}

static bool nic_may_be_on(const struct m_host *h, int pf,
			   const struct m_nic *c)
{
	switch (c->kind) {
	case M_SRIOV:
		if (c->bus != NO && bus_exists(h, c->bus))
			return h->pf[pf].bus == c->bus;
		if (switch_exists(h, c->sw))
			return h->pf[pf].sw == c->sw;
		return true;
	case M_FIXED:
		return c->bus == NO || h->pf[pf].bus == c->bus;
	case M_DYNAMIC:
		return true;
	default:
		return false;
	}
}

static bool is_on(const struct model *m, int vm)
{
	return m->vm[vm].there && m->vm[vm].power == 2;
}

/* Shown on, with all we need to know of it, on a host that we know. */
static bool is_shown(const struct model *m, int vm)
{
	return vm != NO && is_on(m, vm) && m->vm[vm].readable &&
	       m->vm[vm].host != NO && m->host[m->vm[vm].host].there;
}

static bool has_vf_nic(const struct m_vm *vm)
{
	for (int c = 0; c < vm->nnics; c++)
		if (vm->nic[c].kind == M_SRIOV)
			return true;
	return false;
}

static bool hold_may_be_on(const struct m_host *h, int pf,
			   const struct m_held *d)
{
	if (d->bus == NO || !bus_exists(h, d->bus))
		return true;
	if (h->pf[pf].bus == d->bus)
		return true;
	if (!d->automatic || h->pf[pf].sw == NO)
		return false;
	for (int p = 0; p < h->npfs; p++)
		if (h->pf[p].bus == d->bus && h->pf[p].sw == h->pf[pf].sw)
			return true;
	return false;
}

/* Its VFs of this PF that no NIC of its VM stands for. */
static int held_on(const struct model *m, int host, int pf,
		   const struct m_hold *d)
{
	const struct m_host *h = &m->host[host];
	const struct m_vm *vm = is_shown(m, d->vm) ? &m->vm[d->vm] : NULL;
	int n = 0;

	for (int c = 0; c < d->nnics; c++)
		n += hold_may_be_on(h, pf, &d->nic[c]);
	if (!vm)
		return n;
	if (d->state > 0)
		return has_vf_nic(vm) ? 0 : n;
	if (vm->host != host)
		return n;
	for (int c = 0; c < vm->nnics; c++)
		n -= vm->nic[c].kind == M_SRIOV &&
		     nic_may_be_on(h, pf, &vm->nic[c]);
	return n > 0 ? n : 0;
}

void m_use(const struct model *m, int host, int pf, struct m_use *out)
{
	const struct m_host *h = &m->host[host];

	*out = (struct m_use) { 0 };
	for (int v = 0; v < VMS; v++) {
		if (!is_on(m, v) || m->vm[v].host != host)
			continue;
		for (int c = 0; c < m->vm[v].nnics; c++) {
			if (!nic_may_be_on(h, pf, &m->vm[v].nic[c]))
				continue;
			if (m->vm[v].ours)
				out->ours++;
			else
				out->others++;
		}
	}
	for (int n = 0; n < NODES; n++)
		if (m->hold[n].there && m->hold[n].host == host)
			out->held += held_on(m, host, pf, &m->hold[n]);
	out->free = h->pf[pf].vfs - out->ours - out->others - out->held;
}

bool m_unknown(const struct model *m, int host)
{
	for (int v = 0; v < VMS; v++) {
		const struct m_vm *vm = &m->vm[v];

		if (vm->there && vm->host == host &&
		    (vm->power == 0 || (vm->power == 2 && !vm->readable)))
			return true;
	}
	return false;
}

static int64_t overhead(int vcpus, int64_t mem)
{
	return 64 + 8 * vcpus + (mem + 99) / 100;
}

void m_room(const struct model *m, int host, int64_t *cpu, int64_t *mem)
{
	const struct m_host *h = &m->host[host];

	*cpu = (int64_t)h->cores * h->mhz;
	*mem = h->mem;
	for (int v = 0; v < VMS; v++) {
		const struct m_vm *vm = &m->vm[v];
		int64_t full = (int64_t)vm->vcpus * h->mhz;

		if (!is_on(m, v) || vm->host != host)
			continue;
		*cpu -= vm->latency && full > vm->cpu_res ? full : vm->cpu_res;
		*mem -= vm->locked ? vm->mem : vm->mem_res;
		*mem -= overhead(vm->vcpus, vm->mem);
	}
	for (int n = 0; n < NODES; n++) {
		const struct m_hold *d = &m->hold[n];

		if (!d->there || d->host != host)
			continue;
		if (is_shown(m, d->vm) &&
		    (d->state > 0 || m->vm[d->vm].host == host))
			continue;
		*cpu -= d->cpu;
		*mem -= d->mem;
	}
}

int m_pool_of(const struct model *m, int host)
{
	if (host == NO || !m->host[host].there ||
	    !m->pool[m->host[host].cluster].there)
		return NO;
	return m->host[host].cluster;
}

struct m_share m_share(const struct model *m, int v)
{
	const struct m_vm *vm = &m->vm[v];
	struct m_share s = { .there = true, .pool = m_pool_of(m, vm->host) };
	int64_t full = vm->host == NO || !m->host[vm->host].there ? 0 :
		(int64_t)vm->vcpus * m->host[vm->host].mhz;
	int64_t reserved = vm->locked ? vm->mem : vm->mem_res;

	if (vm->power != 2)
		return s;
	s.cpu = vm->latency && full > vm->cpu_res ? full : vm->cpu_res;
	s.mem = reserved + overhead(vm->vcpus, vm->mem);
	s.swap = vm->mem > reserved ? vm->mem - reserved : 0;
	return s;
}

static bool hold_has_vm(const struct model *m, const struct m_hold *d)
{
	if (!is_shown(m, d->vm))
		return false;
	return d->state > 0 ||
	       m_pool_of(m, m->vm[d->vm].host) == m_pool_of(m, d->host);
}

static bool vm_counts(const struct m_vm *vm)
{
	return vm->there && vm->ours && vm->readable && vm->power;
}

void m_pool_left(const struct model *m, int pool, int64_t *cpu, int64_t *mem)
{
	int64_t c = 0, e = 0;

	for (int v = 0; v < VMS; v++) {
		struct m_share now = m_share(m, v);
		const struct m_share *told = &m->vm[v].told;

		if (!vm_counts(&m->vm[v]))
			continue;
		if (told->there && told->pool == pool)
			c += told->cpu, e += told->mem;
		if (now.pool == pool)
			c -= now.cpu, e -= now.mem;
	}
	for (int n = 0; n < NODES; n++) {
		const struct m_hold *d = &m->hold[n];

		if (d->there && !hold_has_vm(m, d) &&
		    m_pool_of(m, d->host) == pool)
			c -= d->cpu, e -= d->mem;
	}
	*cpu = m->pool[pool].cpu < 0 ? M_UNKNOWN : m->pool[pool].cpu + c;
	*mem = m->pool[pool].mem < 0 ? M_UNKNOWN : m->pool[pool].mem + e;
}

int64_t m_store_left(const struct model *m)
{
	int64_t left = m->store;

	if (left < 0)
		return M_UNKNOWN;
	for (int v = 0; v < VMS; v++)
		if (vm_counts(&m->vm[v]))
			left += m->vm[v].told.swap - m_share(m, v).swap;
	for (int n = 0; n < NODES; n++) {
		const struct m_hold *d = &m->hold[n];

		if (!d->there)
			continue;
		if (!hold_has_vm(m, d))
			left -= d->swap;
		if (d->vm == NO || !m->vm[d->vm].there ||
		    !m->vm[d->vm].told.there)
			left -= d->disk;
	}
	return left;
}

int64_t m_store_need(const struct m_class *c, bool exists)
{
	return (c->vf || c->latency ? 0 : c->mem) + (exists ? 0 : c->disk);
}

/* One after the other, each where it costs its pool least. */
int m_fits_all(const struct model *m, const struct m_class *c)
{
	int64_t cpu[POOLS], mem[POOLS];
	int fits[HOSTS], sum = 0;

	for (int p = 0; p < POOLS; p++)
		m_pool_left(m, p, &cpu[p], &mem[p]);
	for (int h = 0; h < HOSTS; h++)
		fits[h] = m_fits(m, h, c, false);
	for (;;) {
		int best = NO, p;

		for (int h = 0; h < HOSTS; h++) {
			int64_t need = m_cpu_need(c, m->host[h].mhz);

			p = m_pool_of(m, h);
			if (fits[h] && (p == NO || ((!need || need <= cpu[p]) &&
						    m_mem_need(c) <= mem[p])) &&
			    (best == NO || m->host[h].mhz < m->host[best].mhz))
				best = h;
		}
		if (best == NO)
			return sum;
		fits[best]--;
		sum++;
		p = m_pool_of(m, best);
		if (p != NO && cpu[p] != M_UNKNOWN)
			cpu[p] -= m_cpu_need(c, m->host[best].mhz);
		if (p != NO && mem[p] != M_UNKNOWN)
			mem[p] -= m_mem_need(c);
	}
}

int64_t m_cpu_need(const struct m_class *c, int mhz)
{
	return c->latency ? (int64_t)c->vcpus * mhz : 0;
}

int64_t m_mem_need(const struct m_class *c)
{
	return (c->vf || c->latency ? c->mem : 0) + overhead(c->vcpus, c->mem);
}

int m_hw(const struct m_class *c)
{
	int hw = c->latency ? 14 : c->vf ? 10 : 7;

	return c->hw > hw ? c->hw : hw;
}

bool m_reaches(const struct m_host *h, const struct m_class *c, int pf,
	       bool ever)
{
	return h->pf[pf].sw == c->sw &&
	       (c->named == NO || h->pf[pf].bus == c->named) &&
	       (c->ib || ever || h->pf[pf].link);
}

/* One VM after the other takes of those PFs that have most. */
static int vms_served(const struct m_class *c, int *free, int n)
{
	for (int vms = 0;; vms++) {
		bool had[PFS] = { false };

		for (int k = 0; k < c->vfs; k++) {
			int best = NO;

			for (int p = 0; p < n; p++)
				if (free[p] > 0 && !(c->rails && had[p]) &&
				    (best == NO || free[p] > free[best]))
					best = p;
			if (best == NO)
				return vms;
			free[best]--;
			had[best] = true;
		}
	}
}

int m_fits(const struct model *m, int host, const struct m_class *c, bool ever)
{
	const struct m_host *h = &m->host[host];
	int64_t cpu, mem, vfs, n;
	int free[PFS] = { 0 };

	if (!h->there || (!ever && (!h->usable || h->avoided ||
				    h->ops >= OPS_MAX)))
		return 0;
	if (h->hw && h->hw < m_hw(c))
		return 0;
	if (c->vf && !ever && m_unknown(m, host))
		return 0;
	m_room(m, host, &cpu, &mem);
	if (ever) {
		cpu = (int64_t)h->cores * h->mhz;
		mem = h->mem;
	}
	for (int p = 0; p < h->npfs; p++) {
		struct m_use u;

		if (!m_reaches(h, c, p, ever) || (!ever && h->pf[p].avoided))
			continue;
		m_use(m, host, p, &u);
		if (ever)
			u.free = h->pf[p].vfs;
		free[p] = u.free;
	}
	n = mem < 0 ? 0 : mem / m_mem_need(c);
	if (c->latency && cpu / m_cpu_need(c, h->mhz) < n)
		n = cpu < 0 ? 0 : cpu / m_cpu_need(c, h->mhz);
	vfs = c->vf ? vms_served(c, free, h->npfs) : 0;
	if (c->vf && vfs < n)
		n = vfs;
	return (int)n;
}
