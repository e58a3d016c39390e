/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of devices that are handed to VMs whole: those that an adapter of
 * vsphere.conf would give, and that the host doesn't, or that we can't count.
 *
 * Rules: a device that nobody's line names is nobody's business; which of them a
 * host keeps for itself is its administrator's, so that it is no more than a
 * warning.
 */
#include "plan/check_i.h"
#include "util/mem.h"

void vs_check_idle(const struct vs_host *h, struct vs_found_list *l)
{
	for (size_t i = 0; h->facts && i < h->facts->nidle; i++) {
		const struct vs_idle_facts *d = &h->facts->idle[i];
		struct vs_found *f = vs_found_add(l, d->enabled ?
			VS_CHECK_DEVICE_REBOOT : VS_CHECK_DEVICE_OFF, h->name,
			vs_asprintf("%s (%s, %04x:%04x): passthrough is %s",
				    d->pci, d->name, (unsigned int)d->vendor,
				    (unsigned int)d->device, d->enabled ?
				    "enabled, not active" : "off"),
			vs_asprintf("active (adapter %s)", d->adapter),
			d->enabled ? vs_check_reboot(h, "") :
			vs_asprintf("govc host.esxcli -host %s hardware pci pcipassthru set -d %s -e true -a",
				    h->name, d->pci));

		vs_strlcpy(f->pf, d->pci, sizeof(f->pf));
	}
	if (h->nleft)
		vs_found_add(l, VS_CHECK_DEVICE_LEFT, h->name,
			h->nleft == 1 ?
			vs_asprintf("1 is left out: %s", h->left) :
			vs_asprintf("%d are left out: %s and others",
				    h->nleft, h->left),
			vs_asprintf("%d PFs and kinds of devices at most, and %d devices alike",
				    VS_HOST_PFS, VS_DEVICES_MAX),
			vs_strdup("# vsphere.conf: Type=dynamic-directpath counts devices alike as one kind, or name fewer by Address="));
}
