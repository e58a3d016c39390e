/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of a host's table: its PFs, then the devices that it hands out
 * (host_devices.c), then what it has by name (named_devices.c).
 *
 * Rules: a row that finds no room is counted nowhere, and never in silence. The
 * lock is held.
 */
#include <string.h>
#include "engine/inventory/inventory.h"
#include "engine/state/state.h"
#include "util/mem.h"

static void pf_row(struct vs_host *to, const struct vs_vc_pf *from)
{
	struct vs_pf *pf = &to->pfs[to->npfs++];

	memset(pf, 0, sizeof(*pf));
	vs_strlcpy(pf->pci, from->pci, sizeof(pf->pci));
	vs_strlcpy(pf->pnic, from->pnic, sizeof(pf->pnic));
	vs_strlcpy(pf->switch_uuid, from->switch_uuid,
		   sizeof(pf->switch_uuid));
	pf->vfs = from->vfs;
	pf->numa = from->numa;
	pf->numa_cores = from->numa_cores;
	pf->numa_mb = from->numa_mb;
	pf->link_up = from->link_up;
}

void vs_entry_left_out(struct vs_host *to, const char *what)
{
	if (!to->nleft++)
		vs_strlcpy(to->left, what, sizeof(to->left));
}

void vs_host_entries_add(const struct vs_core *c, struct vs_host *to,
			 const struct vs_vc_host *h)
{
	int was = to->nleft;

	to->npfs = to->nleft = 0;
	to->pfs_known = !h->pfs_unread;
	for (size_t i = 0; i < h->npfs; i++)
		if (to->npfs < VS_HOST_PFS)
			pf_row(to, &h->pfs[i]);
		else
			vs_entry_left_out(to, h->pfs[i].pci);
	vs_device_entries_add(c, to, h);
	if (to->nleft && to->nleft != was)
		vs_error("host=%s of its PFs and devices %d %s not counted (%s%s): the host has more than %d PFs and device types, or more than %d devices of a type",
			 to->name, to->nleft, to->nleft == 1 ? "is" : "are",
			 to->left, to->nleft == 1 ? "" : " and others",
			 VS_HOST_PFS,
			 VS_DEVICES_MAX);
}
