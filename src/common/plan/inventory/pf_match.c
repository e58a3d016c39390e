/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which rows of a host serve the VMs of an adapter: its PFs, and its devices.
 *
 * Rules: a PF is told by its switch and its address, a device by its ids, its
 * label or its line. Never asks what is free of a row: free VFs are given as
 * numbers.
 */
#include <limits.h>
#include <string.h>
#include "plan/inventory/pf_match.h"

static bool device_of(const struct vs_adapter *a, const struct vs_devices *d)
{
	if (d->fixed != vs_adapter_type_info(a)->fixed)
		return false;
	if (d->fixed && !(d->lines & 1u << a->line))
		return false;
	if (vs_adapter_named(a) || d->named)
		return d->named == vs_adapter_type_info(a)->nic &&
		       !strcmp(d->label, a->label);
	return vs_devices_match(d, a->vendor, a->device, a->label);
}

bool vs_pf_reaches(const struct vs_adapter *a, const struct vs_network *net,
		   const struct vs_pf *pf)
{
	bool uplink;

	if (pf->of || !vs_adapter_nics(a))
		return pf->of && !vs_adapter_nics(a) && vs_adapter_vfs(a) &&
		       device_of(a, pf->of);
	uplink = net->switch_uuid[0] &&
		!strcmp(pf->switch_uuid, net->switch_uuid);

	/* a standard switch has no uuid: there the name is all */
	if (!a->pf[0] || net->switch_uuid[0])
		return uplink && (!a->pf[0] || !strcmp(a->pf, pf->pci));
	return !strcmp(a->pf, pf->pci);
}

bool vs_pf_serves(const struct vs_adapter *a, const struct vs_network *net,
		  const struct vs_pf *pf)
{
	return (vs_adapter_vfs(a) && vs_pf_reaches(a, net, pf)) ||
	       (a->with && vs_pf_reaches(a->with, net, pf));
}

bool vs_host_on_net(const struct vs_host *h, const struct vs_adapter *a,
		    const struct vs_network *net)
{
	return !vs_adapter_nics(a) || (net && vs_host_has_net(h, net->moid));
}

/*
 * m VMs find their VFs if no PF that is counted gives more than m of them:
 * sum of min(free, m) >= m * vfs. Each VM takes of the PFs with most free, then
 * that many are found indeed (see choose_pf).
 */
int vs_rails_capacity(const int *free, int npfs, int vfs, bool rails)
{
	int room = INT_MAX;

	for (;;) {
		int64_t sum = 0;

		for (int i = 0; i < npfs; i++) {
			if (free[i] > 0)
				sum += rails && free[i] > room ? room : free[i];
		}
		if (sum >= (int64_t)room * vfs || !room)
			return room;
		room = (int)(sum / vfs);
	}
}

int vs_host_vf_vms(const struct vs_host *h, const struct vs_adapter *a,
		   const struct vs_network *net)
{
	int vfs[VS_HOST_PFS], n = 0;

	for (int i = 0; i < h->npfs; i++)
		if (vs_pf_reaches(a, net, &h->pfs[i]))
			vfs[n++] = h->pfs[i].vfs;
	return vs_rails_capacity(vfs, n, vs_adapter_vfs(a), a->rails);
}
