/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Devices of hosts that VMs get whole: which of them are counted, as rows beside
 * the PFs, and which a node's VM has. A node's slots are its adapter's, then
 * those of the adapter beside it (With=); a device has no MAC, and is known by
 * its ids.
 *
 * Rules: only devices that some adapter names are rows, so that a site without
 * such adapters has none; those that are alike are one row with as many to
 * give, for which of them a VM gets is ESXi's choice. Devices in a VM of ours
 * are ours: its template has none. The lock is held.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/devices_i.h"
#include "engine/offer_i.h"
#include "plan/inventory/shared_devices.h"
#include "util/mem.h"

bool vs_devices_wanted(const struct vs_core *c)
{
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
		if (vs_adapter_kind(&c->adapters[i])->fixed &&
		    hands_out(&c->adapters[i], h, d))
			lines |= 1u << c->adapters[i].line;
	return lines;
}

/* On the bus of a PF that has VFs: it is one of them, and counted there. But for
 * another port of that card, which can have VFs itself: no VF can. (Their ids
 * don't tell the two apart: some vendors' VFs have those of their PF.) A PF
 * whose driver has it, or whose VFs are in use, is handed out to nobody. */
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
	for (int i = from; i < h->npfs && !vs_adapter_kind(a)->fixed; i++) {
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
	of->fixed = vs_adapter_kind(a)->fixed;
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

void vs_devices_rows(const struct vs_core *c, struct vs_host *to,
		     const struct vs_vc_host *h)
{
	int from = to->npfs;

	vs_offer_forget(to);
	free(to->devices);
	to->devices = NULL;
	if (!vs_devices_wanted(c))
		return;
	to->devices = vs_calloc(VS_HOST_PFS, sizeof(*to->devices));
	for (size_t i = 0; i < h->ndevices; i++) {
		const struct vs_vc_device *d = &h->devices[i];
		const struct vs_adapter *a = !d->active || is_counted(h, d) ?
			NULL : wanted_by(c, to, d);
		struct vs_devices *of = a ? alike(to, from, a, d) : NULL;

		/* a second row of the same would promise each twice */
		if (of && of->n == VS_DEVICES_MAX)
			vs_row_left_out(to, d->pci);
		else if (of)
			row_join(&to->pfs[from + (of - to->devices)], of, d);
		else if (a && to->npfs < VS_HOST_PFS)
			row_add(to, from, a, d)->lines = lines_of(c, to, d);
		else if (a)
			vs_row_left_out(to, d->pci);
	}
	vs_named_rows(c, to, from, h);
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

/* ---- a node's devices ---------------------------------------------------------- */

/* The adapter of the node's k-th device, and which card of the hold it is;
 * NULL: it has no more. */
static const struct vs_adapter *slot(const struct vs_node *n, int k, int *card)
{
	const struct vs_adapter *a = n->profile->adapter;
	int own = vs_adapter_nics(a) ? 0 : vs_adapter_vfs(a);

	*card = k < own ? k : vs_adapter_vfs(a) + k - own;
	return k < own ? a : k - own < vs_adapter_beside(a) ? a->with : NULL;
}

/* By its address; of a host that isn't known, or doesn't offer it any more, the
 * address says all that there is. */
static bool fixed_is(const struct vs_vm *vm, const struct vs_card *card,
		     const struct vs_adapter *a,
		     const struct vs_hold_card *held)
{
	const struct vs_pf *row = vm->host_ptr ?
		vs_host_device(vm->host_ptr, card->pci) : NULL;

	if (held)
		return !strcmp(card->pci, held->pf);
	return row ? vs_pf_reaches(a, NULL, row) : !vm->host_ptr ||
		vs_addresses_has(a->addresses, vm->host_ptr->name,
				 card->pci);
}

/* held NULL: whichever of its kind. */
static bool card_is(const struct vs_vm *vm, const struct vs_card *card,
		    const struct vs_adapter *a,
		    const struct vs_hold_card *held)
{
	const struct vs_adapter_kind *kind = vs_adapter_kind(a);

	if (card->kind != kind->card)
		return false;
	if (vs_adapter_named(a))
		return !strcmp(card->network, a->label);
	if (kind->fixed)
		return fixed_is(vm, card, a, held);
	return card->vendor == a->vendor && card->device == a->device &&
	       !strcmp(card->network, a->label);
}

/* The VM's first card of that kind that no slot has; -1. */
static int card_of(const struct vs_vm *vm, unsigned int taken,
		   const struct vs_adapter *a, const struct vs_hold_card *held)
{
	for (int i = 0; i < vm->ncards; i++)
		if (!(taken & 1u << i) && card_is(vm, &vm->cards[i], a, held))
			return i;
	return -1;
}

bool vs_node_devices_right(const struct vs_node *n, const struct vs_vm *vm,
			   const struct vs_hold *h)
{
	bool off = vm->power != VS_POWER_ON;
	const struct vs_adapter *a;
	unsigned int taken = 0;
	int card, at, k = 0;

	for (; (a = slot(n, k, &card)); k++) {
		if (off && h && card >= h->ncards)
			return false;
		at = card_of(vm, taken, a, off && h ? &h->cards[card] : NULL);
		if (at < 0)
			return false;
		taken |= 1u << at;
	}
	for (int i = 0; i < vm->ncards; i++)
		k -= vs_card_is_device(&vm->cards[i]);
	return !k;
}

void vs_node_devices(const struct vs_node *n, const struct vs_vm *vm,
		     struct vs_hold_card to[VS_CARDS_MAX], int *count)
{
	const struct vs_adapter *a;
	unsigned int taken = 0;
	int card, at;

	for (int k = 0; (a = slot(n, k, &card)); k++) {
		uint32_t rows;

		at = card_of(vm, taken, a, NULL);
		if (at < 0)
			continue;
		taken |= 1u << at;
		rows = vm->host_ptr ?
			vs_card_rows(vm->host_ptr, &vm->cards[at]) : 0;
		vs_strlcpy(to[*count].pf, rows ?
			   vm->host_ptr->pfs[__builtin_ctz(rows)].pci : "",
			   VS_PCI_LEN);
		(*count)++;
	}
}

/* ---- what is sent ----------------------------------------------------------------- */

static int bound(const struct vs_vm *vm, int keys[VS_VM_CARDS])
{
	int n = 0;

	for (int i = 0; i < vm->ncards; i++)
		if (vm->cards[i].kind == VS_CARD_PCI_FIXED)
			keys[n++] = vm->cards[i].key;
	return n;
}

bool vs_vm_bound(const struct vs_vm *vm)
{
	int keys[VS_VM_CARDS];

	return bound(vm, keys) > 0;
}

int64_t vs_vm_unbind(struct vs_core *c, const struct vs_vm *vm,
		     const struct vs_vc_op *op, struct vs_err *err)
{
	int keys[VS_VM_CARDS];
	struct vs_vc_hw hw = { .gone = keys };

	hw.ngone = bound(vm, keys);
	return vs_vc_vm_reconfigure(c->vc, vm->moid, vm->change_version, &hw,
				    op, err);
}

/* A device by its address, as its host has it. */
static int spec_fixed(struct vs_core *c, const struct vs_hold *h, int card,
		      int64_t now_ms, struct vs_vc_card_spec *s,
		      struct vs_err *err)
{
	struct vs_host *host = vs_host_get(&c->inv, h->host);
	const struct vs_pf *row = host && card < h->ncards ?
		vs_host_device(host, h->cards[card].pf) : NULL;

	if (!row)
		return vs_err_set(err, VS_E_OTHER_HOST,
			"host %s doesn't offer the device %s any more",
			host ? host->name : h->host,
			card < h->ncards ? h->cards[card].pf : "");
	s->kind = VS_VC_PCI_FIXED;
	s->pci = row->pci;
	s->name = row->pnic;
	s->system = vs_offer_system(c, host, row->pci, now_ms, err);
	return s->system ? 0 : -1;
}

/* What its host says of the parameters that the adapter gives its devices. */
static int spec_params(struct vs_core *c, const struct vs_hold *h,
		       int64_t now_ms, struct vs_vc_card_spec *s,
		       struct vs_err *err)
{
	struct vs_host *host = vs_host_get(&c->inv, h->host);

	return !host || !s->params[0] ? 0 :
		vs_offer_options(c, host, now_ms, &s->options, &s->noptions,
				 err);
}

int vs_spec_devices(struct vs_core *c, const struct vs_node *n,
		    const struct vs_hold *h, int64_t now_ms,
		    struct vs_vc_card_spec *s, int *count, struct vs_err *err)
{
	const struct vs_adapter *a;
	int card;

	for (int k = 0; (a = slot(n, k, &card)); k++) {
		struct vs_vc_card_spec one = {
			.kind = vs_adapter_kind(a)->by_class ? VS_VC_PCI_DVX :
				vs_adapter_kind(a)->by_profile ?
				VS_VC_PCI_VGPU : VS_VC_PCI_DYNAMIC,
			.vendor = a->vendor, .device = a->device,
			.label = a->label, .params = a->params,
		};

		if (vs_adapter_kind(a)->fixed &&
		    spec_fixed(c, h, card, now_ms, &one, err))
			return -1;
		if (vs_adapter_kind(a)->by_class &&
		    spec_params(c, h, now_ms, &one, err))
			return -1;
		s[(*count)++] = one;
	}
	return 0;
}

/* What a guest sees of one: of DVX devices and vGPUs at most the vendor is
 * known, "any" of it, and "none" says that nothing can be looked for. */
static char *ids_of(const struct vs_adapter *a)
{
	unsigned int vendor = a->vendor;

	if (!vs_adapter_named(a))
		return vs_asprintf("%04x:%04x", vendor,
				   (unsigned int)a->device);
	if (vs_adapter_kind(a)->by_profile)
		vendor = vs_vgpu_vendor(a->label);
	return vendor ? vs_asprintf("%04x:any", vendor) : vs_strdup("none");
}

char *vs_node_device_ids(const struct vs_node *n)
{
	const struct vs_adapter *a;
	char *out = NULL;
	int card;

	for (int k = 0; (a = slot(n, k, &card)); k++) {
		VS_FREE char *had = out, *ids = ids_of(a);

		out = vs_asprintf("%s%s%s", had ? had : "", had ? "," : "",
				  ids);
	}
	return out;
}
