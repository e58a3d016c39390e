/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of what hosts have by name: devices of a DVX class, vGPUs of a profile
 * that some adapter gives. How many a GPU takes: plan/inventory/shared_devices.h.
 *
 * Rules: of a DVX class a host tells that it has it, and not how many devices
 * there are: as many as the site says, or as there are functions of the ids that
 * it says. NICs on a network (sriovNic) are none of these. The lock is held.
 */
#include <string.h>
#include "engine/inventory/inventory.h"
#include "engine/state/state.h"
#include "plan/inventory/shared_devices.h"
#include "util/mem.h"

static const struct vs_vc_named *named(const struct vs_vc_named *list,
				       size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

static unsigned int deeds(const struct vs_vc_named *d)
{
	return (unsigned int)d->moves << VS_OPERATION_VMOTION |
	       (unsigned int)d->snapshots << VS_OPERATION_SNAPSHOT;
}

static struct vs_pf *row_add(struct vs_host *to, int from,
			     const struct vs_adapter *a, int total,
			     const struct vs_vc_named *d)
{
	struct vs_devices *of = &to->devices[to->npfs - from];
	struct vs_pf *row = &to->pfs[to->npfs++];

	memset(row, 0, sizeof(*row));
	memset(of, 0, sizeof(*of));
	of->named = vs_adapter_type_info(a)->nic;
	of->n = 1;
	of->can = deeds(d);
	vs_strlcpy(of->label, a->label, sizeof(of->label));
	vs_shared_pci(of->named, a->label, of->pci[0]);
	row->of = of;
	row->vfs = total;
	row->numa = -1;
	row->link_up = true;
	vs_strlcpy(row->pci, of->pci[0], sizeof(row->pci));
	return row;
}

/* Given to VMs whole: no driver makes devices of a class of it. */
static bool passed_through(const struct vs_vc_host *h, const char *pci)
{
	for (size_t i = 0; i < h->ndevices; i++)
		if (h->devices[i].active && !strcmp(h->devices[i].pci, pci))
			return true;
	return false;
}

static void dvx_row(struct vs_host *to, int from, const struct vs_adapter *a,
		    const struct vs_vc_host *h)
{
	const struct vs_vc_named *d = named(h->dvx, h->ndvx, a->label);
	int n = a->vendor ? 0 : a->most;

	if (!d || d->nic)
		return;
	for (size_t i = 0; a->vendor && i < h->nfunctions; i++)
		n += h->functions[i].vendor == a->vendor &&
		     h->functions[i].device == a->device &&
		     !passed_through(h, h->functions[i].pci);
	if (a->most && n > a->most)
		n = a->most;
	if (n)
		row_add(to, from, a, n, d);
}

/* On one NUMA node if all its GPUs are. */
static void row_numa(struct vs_pf *row, const struct vs_vc_host *h,
		     uint32_t gpus)
{
	const struct vs_vc_gpu *g = &h->gpus[__builtin_ctz(gpus)];

	row->numa = g->numa;
	row->numa_cores = g->numa_cores;
	row->numa_mb = g->numa_mb;
	vs_strlcpy(row->pnic, g->name, sizeof(row->pnic));
	for (size_t i = 0; i < h->ngpus && i < 32; i++)
		if (gpus >> i & 1 && h->gpus[i].numa != g->numa)
			row->numa = -1;
}

static void vgpu_row(struct vs_host *to, int from, const struct vs_adapter *a,
		     const struct vs_vc_host *h)
{
	const struct vs_vc_named *d =
		named(h->profiles, h->nprofiles, a->label);
	VS_FREE struct vs_gpu *gpus = vs_calloc(h->ngpus + 1, sizeof(*gpus));
	VS_FREE const char **offered =
		vs_calloc(h->nprofiles + 1, sizeof(*offered));
	int per_gpu, total = 0, most = 0;
	bool one_model;
	uint32_t mask;
	struct vs_pf *row;

	for (size_t i = 0; i < h->ngpus; i++)
		gpus[i] = (struct vs_gpu) { h->gpus[i].name, h->gpus[i].type,
					    h->gpus[i].mode };
	for (size_t i = 0; i < h->nprofiles; i++)
		offered[i] = h->profiles[i].name;
	mask = d ? vs_vgpu_gpus(a->label, gpus, h->ngpus, &one_model) : 0;
	for (size_t i = 0; i < h->ngpus && i < 32; i++) {
		if (!(mask >> i & 1))
			continue;
		per_gpu = vs_vgpu_per_gpu(a->label, offered, h->nprofiles,
			!strcmp(gpus[i].mode, "mixedSize"), a->most);
		total += per_gpu;
		most = per_gpu > most ? per_gpu : most;
	}
	if (!total)
		return;
	row = row_add(to, from, a, total, d);
	to->devices[to->npfs - 1 - from].per_gpu = most;
	to->devices[to->npfs - 1 - from].one_model = one_model;
	row_numa(row, h, mask);
}

static bool has_row(const struct vs_host *h, int from,
		    const struct vs_adapter *a)
{
	for (int i = from; i < h->npfs; i++)
		if (h->pfs[i].of->named == vs_adapter_type_info(a)->nic &&
		    !strcmp(h->pfs[i].of->label, a->label))
			return true;
	return false;
}

void vs_named_entries_add(const struct vs_core *c, struct vs_host *to, int from,
			  const struct vs_vc_host *h)
{
	for (size_t i = 0; i < c->conf->nadapters; i++) {
		const struct vs_adapter *a = &c->adapters[i];

		if (!vs_adapter_named(a) || has_row(to, from, a))
			continue;
		if (to->npfs == VS_HOST_PFS)
			vs_entry_left_out(to, a->label);
		else if (vs_adapter_type_info(a)->by_class)
			dvx_row(to, from, a, h);
		else
			vgpu_row(to, from, a, h);
	}
}
