/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The devices that a host hands to VMs whole, joined from two places:
 * pciPassthruInfo (which may be handed out now, and their labels) and the list
 * of its PCI devices (vendor, device, name). The list is long: it is read only
 * if an adapter of the configuration needs devices.
 *
 * Rules: what passthrough isn't active for goes to no VM, be it enabled (it waits
 * for a reboot) or not, and is told for the checks alone; ids are unsigned here,
 * though the API has them signed.
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/decode/inventory.h"

static void clear_devices(struct vcx_host *h)
{
	for (size_t i = 0; i < h->passthrough.ndevices; i++) {
		free(h->passthrough.devices[i].pci);
		free(h->passthrough.devices[i].name);
	}
	free(h->passthrough.devices);
	h->passthrough.devices = NULL;
	h->passthrough.ndevices = 0;
}

static void clear_gives(struct vcx_host *h)
{
	for (size_t i = 0; i < h->passthrough.ngives; i++) {
		free(h->passthrough.gives[i].pci);
		free(h->passthrough.gives[i].label);
	}
	free(h->passthrough.gives);
	h->passthrough.gives = NULL;
	h->passthrough.ngives = 0;
}

/* 0x10de comes as 4318, 0xb015 as -20459. */
static int id_of(struct vs_j dev, const char *key)
{
	return (int)(vs_j_int_or(vs_j_opt(dev, key), 0) & 0xffff);
}

void vs_inv_set_devices(struct vcx_host *h, struct vs_j list)
{
	size_t n = vs_j_len(list);

	clear_devices(h);
	h->passthrough.devices = n ?
		vs_calloc(n, sizeof(*h->passthrough.devices)) : NULL;
	for (size_t i = 0; i < n; i++) {
		struct vs_j dev = vs_j_at(list, i);
		struct vs_vc_function *d =
			&h->passthrough.devices[h->passthrough.ndevices++];

		d->pci = vs_str_lower(vs_j_str_or(vs_j_opt(dev, "id"), ""));
		d->name = vs_strdup(vs_j_str_or(vs_j_opt(dev, "deviceName"),
						""));
		d->vendor = id_of(dev, "vendorId");
		d->device = id_of(dev, "deviceId");
	}
}

void vs_inv_set_gives(struct vcx_host *h, struct vs_j list)
{
	size_t n = vs_j_len(list);

	clear_gives(h);
	h->passthrough.gives = n ? vs_calloc(n, sizeof(*h->passthrough.gives)) :
		NULL;
	for (size_t i = 0; i < n; i++) {
		struct vs_j p = vs_j_at(list, i);
		struct vcx_give *g =
			&h->passthrough.gives[h->passthrough.ngives];

		g->active = vs_j_bool_or(vs_j_opt(p, "passthruActive"), false);
		g->enabled = vs_j_bool_or(vs_j_opt(p, "passthruEnabled"),
					  false);
		if (!g->active && !g->enabled &&
		    !vs_j_bool_or(vs_j_opt(p, "passthruCapable"), false))
			continue;
		g->sriov = vs_j_bool_or(vs_j_opt(p, "sriovCapable"), false);
		g->pci = vs_str_lower(vs_j_str_or(vs_j_opt(p, "id"), ""));
		g->label = vs_strdup(vs_j_str_or(vs_j_opt(p, "hardwareLabel"),
						 ""));
		h->passthrough.ngives++;
	}
}

size_t vs_inv_host_devices_put(const struct vcx_host *h,
			       struct vs_vc_device *out)
{
	size_t n = 0, k;

	for (size_t i = 0; i < h->passthrough.ngives; i++) {
		const struct vcx_give *g = &h->passthrough.gives[i];

		for (k = 0; k < h->passthrough.ndevices &&
		     strcmp(h->passthrough.devices[k].pci, g->pci); k++)
			;
		if (k == h->passthrough.ndevices)
			continue;
		out[n] = (struct vs_vc_device) {
			.pci = g->pci, .label = g->label,
			.active = g->active, .enabled = g->enabled,
			.sriov = g->sriov,
			.name = h->passthrough.devices[k].name,
			.vendor = h->passthrough.devices[k].vendor,
			.device = h->passthrough.devices[k].device,
		};
		out[n].numa = vs_inv_pci_numa(h, g->pci, &out[n].numa_cores,
					      &out[n].numa_mb);
		n++;
	}
	return n;
}

void vs_inv_host_devices_free(struct vcx_host *h)
{
	clear_devices(h);
	clear_gives(h);
}
