/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Another Slurm cluster on the same PFs. Its VMs, in a folder of its own, bear
 * its id in their mark, and their VFs count as foreign. Its reservations can't
 * be seen here. So the other cluster is reported, by its id, and stops nothing.
 *
 * Rules: PFs that no adapter of this cluster uses may be another cluster's on
 * the same host. A finding's text doesn't change with every VM, because each
 * change is logged; how many VFs they are stands with the host. The lock is
 * held.
 */
#include <stdio.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/checks/checks_i.h"
#include "util/mem.h"

#define MOST 8			/* clusters that are told by their ids */

struct ids { char id[MOST][VS_UUID_LEN]; size_t n; };

static void ids_add(struct ids *s, const char *id)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->id[i], id))
			return;
	if (s->n < MOST)
		vs_strlcpy(s->id[s->n++], id, sizeof(s->id[0]));
}

static bool is_ours(const struct vs_core *c, const struct vs_host *h, int pf)
{
	for (size_t a = 0; a < c->conf->nadapters; a++)
		if (vs_pf_draws(c, a, &h->pfs[pf]))
			return true;
	return false;
}

/* Whose VMs have VFs of this PF. */
static void ids_of(const struct vs_core *c, const struct vs_host *h, int pf,
		   struct ids *s)
{
	const struct vs_vm *vm;

	LIST_FOREACH(vm, &h->vms, on_host) {
		bool on = false;

		for (int i = 0; vm->power == VS_POWER_ON && i < vm->nnics; i++)
			on |= vs_nic_entries(h, &vm->nics[i]) >> pf & 1;
		if (on && vs_vm_owner(vm, c->folder, c->cluster_id) ==
		    VS_OWNER_OTHER_CLUSTER)
			ids_add(s, vm->mark.cluster);
	}
}

void vs_other_cluster_check(struct vs_core *c)
{
	const struct vs_free_capacity *sums = vs_free_capacity_get(c);
	struct ids s = { .n = 0 };

	vs_checks.beside = sums->beside;
	if (!sums->beside)
		return;
	for (const struct vs_host *h = c->inv.hosts; h; h = h->hh.next)
		for (int i = 0; i < h->npfs; i++)
			if (sums->hosts[h->index].pf[i].beside &&
			    vs_host_cluster(c, h) >= 0 && is_ours(c, h, i))
				ids_of(c, h, i, &s);
	for (size_t i = 0; i < s.n; i++)
		vs_finding_add(
			VS_STOPS_NOTHING,
			&(struct vs_says) {
				VS_CHECK_OTHER_CLUSTER, s.id[i],
				"its VMs have VFs of this cluster's PFs",
				"its own PFs or hosts",
				"svf hosts -O host,reason:120\t# which PFs\n"
				"vsphere.conf: AdapterName=... PF=	# another for each cluster, or its own hosts by VSphereCluster=" },
			"another Slurm cluster (id %s) uses VFs of this cluster's PFs: the VFs that it reserves are not visible, so VMs may find a PF full at power-on; give each cluster its own PFs or hosts (svf hosts shows which)",
			s.id[i]);
}

bool vs_other_cluster_is_stale(struct vs_core *c)
{
	return !vs_free_capacity_get(c)->beside != !vs_checks.beside;
}

char *vs_other_cluster_text(const struct vs_core *c, const struct vs_host *h,
			    int pf, int vfs)
{
	VS_FREE char *which = NULL;
	struct ids s = { .n = 0 };

	vs_assert_locked();
	if (!vfs || !is_ours(c, h, pf))
		return NULL;
	ids_of(c, h, pf, &s);
	for (size_t i = 0; i < s.n; i++) {
		VS_FREE char *old = which;

		which = vs_asprintf("%s%s%s", old ? old : "", old ? ", " : "",
				    s.id[i]);
	}
	return vs_asprintf("%s: %d VF%s used by %s (id %s)", h->pfs[pf].pci,
			   vfs, vfs == 1 ? " is" : "s are", s.n > 1 ?
			   "other Slurm clusters" : "another Slurm cluster",
			   which ? which : "?");
}
