/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Devices of hosts that VMs get whole: which of them are counted, as rows beside
 * the PFs. Those that a node's VM has: vm_devices.c.
 *
 * Rules: only devices that some adapter names are rows, so that a site without
 * such adapters has none; those that are alike are one row with as many to
 * give, for which of them a VM gets is ESXi's choice. The lock is held.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/inventory/inventory.h"
#include "engine/state/state.h"
#include "plan/inventory/shared_devices.h"
#include "util/mem.h"

bool vs_device_entries_needed(const struct vs_core *c)
{
	vs_assert_locked();
	for (size_t a = 0; a < c->conf->nadapters; a++)
		if (!vs_adapter_nics(&c->adapters[a]))
			return true;
	return false;
}

/* ---- rows ------------------------------------------------------------------- */

static bool hands_out(const struct vs_adapter *a, const struct vs_host *h,
		      const struct vs_vc_device *d)
{
	return !vs_adapter_nics(a) && a->vendor == d->vendor &&
	       a->device == d->device &&
	       (!a->label[0] || !strcmp(a->label, d->label)) &&
	       vs_addresses_has(a->addresses, h->name, d->pci);
}

/* The adapter that hands it out, the first one; NULL: none. */
static const struct vs_adapter *wanted_by(const struct vs_core *c,
					  const struct vs_host *h,
					  const struct vs_vc_device *d)
{
	for (size_t i = 0; i < c->conf->nadapters; i++)
		if (hands_out(&c->adapters[i], h, d))
			return &c->adapters[i];
	return NULL;
}

/* Of a device that goes by its address: all adapters that may give it. */
static uint32_t lines_of(const struct vs_core *c, const struct vs_host *h,
			 const struct vs_vc_device *d)
{
	uint32_t lines = 0;

	for (size_t i = 0; i < c->conf->nadapters; i++)
		if (vs_adapter_type_info(&c->adapters[i])->fixed &&
		    hands_out(&c->adapters[i], h, d))
			lines |= 1u << c->adapters[i].line;
	return lines;
}

/* On the bus of a PF that has VFs: it is one of them, and counted there. But for
 * another port of that NIC, which can have VFs itself: no VF can. (Their ids
 * don't tell the two apart: some vendors' VFs have those of their PF.) A PF
 * whose driver has it, or whose VFs are in use, is handed out to no VM. */
static bool is_counted(const struct vs_vc_host *h, const struct vs_vc_device *d)
{
	static const size_t bus = sizeof("0000:3b") - 1;

	for (size_t i = 0; i < h->npfs && d->sriov; i++)
		if (!strcmp(h->pfs[i].pci, d->pci))
			return true;
	for (size_t i = 0; i < h->npfs && !d->sriov; i++)
		if (h->pfs[i].vfs > 0 && !strncmp(h->pfs[i].pci, d->pci, bus))
			return true;
	return false;
}

static struct vs_devices *alike(const struct vs_host *h, int from,
				const struct vs_adapter *a,
				const struct vs_vc_device *d)
{
	for (int i = from; i < h->npfs && !vs_adapter_type_info(a)->fixed;
	     i++) {
		struct vs_devices *of = &h->devices[i - from];

		if (!of->fixed && !of->named && of->vendor == d->vendor &&
		    of->device == d->device &&
		    (!a->label[0] || !strcmp(of->label, d->label)))
			return of;
	}
	return NULL;
}

static struct vs_devices *row_add(struct vs_host *to, int from,
				  const struct vs_adapter *a,
				  const struct vs_vc_device *d)
{
	struct vs_devices *of = &to->devices[to->npfs - from];
	struct vs_pf *row = &to->pfs[to->npfs++];

	memset(row, 0, sizeof(*row));
	memset(of, 0, sizeof(*of));
	row->of = of;
	row->vfs = 1;
	row->numa = d->numa;
	row->numa_cores = d->numa_cores;
	row->numa_mb = d->numa_mb;
	row->link_up = true;
	vs_strlcpy(row->pci, d->pci, sizeof(row->pci));
	vs_strlcpy(row->pnic, d->name, sizeof(row->pnic));
	of->vendor = (uint16_t)d->vendor;
	of->device = (uint16_t)d->device;
	of->fixed = vs_adapter_type_info(a)->fixed;
	of->n = 1;
	vs_strlcpy(of->label, of->fixed ? d->label : a->label,
		   sizeof(of->label));
	vs_strlcpy(of->pci[0], d->pci, sizeof(of->pci[0]));
	return of;
}

/* One more that is alike: the row has the lowest address, and a NUMA node if
 * all are on one. */
static void row_join(struct vs_pf *row, struct vs_devices *of,
		     const struct vs_vc_device *d)
{
	int k = of->n++;

	for (; k && strcmp(of->pci[k - 1], d->pci) > 0; k--)
		vs_strlcpy(of->pci[k], of->pci[k - 1], sizeof(of->pci[k]));
	vs_strlcpy(of->pci[k], d->pci, sizeof(of->pci[k]));
	vs_strlcpy(row->pci, of->pci[0], sizeof(row->pci));
	row->vfs = of->n;
	if (row->numa != d->numa)
		row->numa = -1;
}

void vs_device_entries_add(const struct vs_core *c, struct vs_host *to,
			   const struct vs_vc_host *h)
{
	int from = to->npfs;

	vs_device_ids_forget(to);
	free(to->devices);
	to->devices = NULL;
	if (!vs_device_entries_needed(c))
		return;
	to->devices = vs_calloc(VS_HOST_PFS, sizeof(*to->devices));
	for (size_t i = 0; i < h->ndevices; i++) {
		const struct vs_vc_device *d = &h->devices[i];
		const struct vs_adapter *a = !d->active || is_counted(h, d) ?
			NULL : wanted_by(c, to, d);
		struct vs_devices *of = a ? alike(to, from, a, d) : NULL;

		/* a second row of the same would promise each twice */
		if (of && of->n == VS_DEVICES_MAX)
			vs_entry_left_out(to, d->pci);
		else if (of)
			row_join(&to->pfs[from + (of - to->devices)], of, d);
		else if (a && to->npfs < VS_HOST_PFS)
			row_add(to, from, a, d)->lines = lines_of(c, to, d);
		else if (a)
			vs_entry_left_out(to, d->pci);
	}
	vs_named_entries_add(c, to, from, h);
}

void vs_devices_idle(const struct vs_core *c, const struct vs_host *h,
		     const struct vs_vc_host *from, struct vs_host_facts *f)
{
	f->idle = vs_calloc(from->ndevices + 1, sizeof(*f->idle));
	for (size_t i = 0; i < from->ndevices; i++) {
		const struct vs_vc_device *d = &from->devices[i];
		const struct vs_adapter *a = d->active || is_counted(from, d) ?
			NULL : wanted_by(c, h, d);
		struct vs_idle_facts *to = &f->idle[f->nidle];

		if (!a)
			continue;
		vs_strlcpy(to->pci, d->pci, sizeof(to->pci));
		vs_strlcpy(to->name, d->name, sizeof(to->name));
		vs_strlcpy(to->adapter, a->name, sizeof(to->adapter));
		to->vendor = (uint16_t)d->vendor;
		to->device = (uint16_t)d->device;
		to->enabled = d->enabled;
		f->nidle++;
	}
}
