/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What idle VMs would give back, by host: see freed_by.h.
 *
 * Rules: a VM has all that it takes or nothing, so that the scarcer of its own
 * and of what is beside it decides. A vGPU that goes gives its GPU back to other
 * profiles, as the ledger counts it: in whole.
 */
#include <limits.h>
#include <string.h>
#include "plan/allocation/freed_by.h"
#include "plan/inventory/shared_devices.h"

void vs_freed_start(struct vs_freed *f, const struct vs_host *host,
		    const struct vs_host_sum *sum, const struct vs_adapter *a,
		    const struct vs_network *net)
{
	*f = (struct vs_freed) { .host = host, .adapter = a };
	for (int i = 0; i < host->npfs; i++) {
		const struct vs_pf *pf = &host->pfs[i];

		f->free[i] = sum->pf[i].free;
		if (vs_adapter_vfs(a) && vs_pf_reaches(a, net, pf))
			f->own |= 1u << i;
		if (a->with && vs_pf_reaches(a->with, net, pf))
			f->beside |= 1u << i;
	}
}

static int room_on(const struct vs_freed *f, uint32_t rows, int takes,
		   bool rails)
{
	int free[VS_HOST_PFS], n = 0;

	for (int i = 0; i < f->host->npfs; i++)
		if (rows & 1u << i)
			free[n++] = f->free[i];
	return takes ? vs_rails_capacity(free, n, takes, rails) : INT_MAX;
}

static int own_room(const struct vs_freed *f)
{
	return room_on(f, f->own, vs_adapter_vfs(f->adapter),
		       f->adapter->rails);
}

static int beside_room(const struct vs_freed *f)
{
	return room_on(f, f->beside, vs_adapter_additional(f->adapter), false);
}

int vs_freed_capacity(const struct vs_freed *f)
{
	int own = own_room(f), beside = beside_room(f);

	return own < beside ? own : beside;
}

/* How many of the row i come free with one of the row at this address. */
static int gives(const struct vs_host *h, int i, const char *pci)
{
	int row;

	if (!strcmp(h->pfs[i].pci, pci))
		return 1;
	for (row = 0; row < h->npfs && strcmp(h->pfs[row].pci, pci); row++)
		;
	return row < h->npfs ? vs_entry_crowds(h, i, row) : 0;
}

bool vs_freed_add(struct vs_freed *f, const struct vs_claim *h, int most)
{
	struct vs_freed was = *f;
	uint32_t lack = 0;
	bool of_use = false;

	if (own_room(f) <= most)
		lack |= f->own;
	if (beside_room(f) <= most)
		lack |= f->beside;
	for (int c = 0; c < h->nvfs; c++)
		for (int i = 0; i < f->host->npfs; i++) {
			int n = (f->own | f->beside) >> i & 1 ?
				gives(f->host, i, h->vfs[c].pf) : 0;

			f->free[i] += n;
			/* of rails, others than the scarce are of no use */
			of_use |= n && lack >> i & 1 &&
				(!(f->own >> i & 1) || !f->adapter->rails ||
				 was.free[i] <= most);
		}
	if (!of_use)
		*f = was;
	return of_use;
}

bool vs_freed_singly(const struct vs_adapter *a)
{
	const struct vs_adapter *one = vs_adapter_vfs(a) ? a : a->with;

	return vs_adapter_takes(a) == 1 &&
	       !vs_adapter_type_info(one)->by_profile;
}
