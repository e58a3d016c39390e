/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The judges of room for all VMs at once: on a host for as many as its VFs
 * serve, on datastores and in resource pools for all nodes that may use them.
 *
 * Rules: a host's VFs may go unused where all nodes find room on the hosts
 * together: then nothing is said. Hosts that are away count as they were, or
 * each absence would be a finding about all other hosts. Nodes that may use
 * others too are no demand of a datastore's or pool's own.
 */
#include <stdlib.h>
#include <string.h>
#include "plan/checks/checks_i.h"
#include "util/mem.h"

/* ---- hosts ---------------------------------------------------------------- */

/* VMs that VFs allow at once, and of those what memory and cores hold. */
struct fit { int vfs, mem, cores; };

static int least(int64_t a, int b)
{
	return a < b ? (int)a : b;
}

static int64_t vm_mb(const struct vs_profile *p)
{
	return vs_profile_reserved_mb(p) + vs_profile_overhead_mb(p);
}

static struct fit fit_of(const struct vs_check_site *s,
			 const struct vs_host *h, size_t p)
{
	const struct vs_profile *prof = &s->profiles[p];
	size_t a = (size_t)(prof->adapter - s->adapters);
	int cores = vs_host_vm_cores(h);
	struct fit f = { 0 };

	if (!s->nodes[p] || !vs_check_takes_vf(prof->adapter) ||
	    !vs_host_has_net(h, s->nets[a].moid))
		return f;
	f.vfs = f.mem = f.cores = least(vs_host_vf_vms(h, prof->adapter,
							   &s->nets[a]), s->nodes[p]);
	if (h->memory_mb)
		f.mem = least(h->memory_mb / vm_mb(prof), f.vfs);
	if (h->cores && prof->latency_high && prof->vcpus)
		f.cores = least(cores / prof->vcpus, f.vfs);
	return f;
}

void vs_usual_count_capacity(struct vs_usual *u, const struct vs_check_site *s,
			     const struct vs_host *h)
{
	if (!u->fits)
		u->fits = vs_calloc(s->nprofiles + 1, sizeof(*u->fits));
	for (size_t p = 0; p < s->nprofiles; p++) {
		struct fit f = fit_of(s, h, p);

		u->fits[p].mem += f.mem;
		u->fits[p].cores += f.cores;
	}
}

#define ROOM SHOULD "capacity for all %d nodes of adapter %s: the hosts have it for %lld"

/* Of several partitions the first: they share the host. That not even one VM
 * fits is a finding of its own. */
bool vs_judge_memory_vfs(struct vs_subject *k)
{
	const struct vs_check_site *s = k->site;
	long long has = k->host->memory_mb;

	for (size_t p = 0; k->usual->fits && p < s->nprofiles; p++) {
		long long mb = vm_mb(&s->profiles[p]), each;
		long long all = k->usual->fits[p].mem;
		struct fit f = fit_of(s, k->host, p);

		if (!f.mem || f.mem >= f.vfs || all >= s->nodes[p])
			continue;
		each = has / f.vfs - 64 - 8 * s->profiles[p].vcpus;
		return vs_check_find(k, "its VFs serve %d VMs x %lld MB = %lld MB, it has %lld MB: %d fit"
			ROOM FIX "slurm.conf: NodeName=... RealMemory=%lld	# or fewer nodes",
			f.vfs, mb, mb * f.vfs, has, f.mem, s->nodes[p],
			s->profiles[p].adapter->name, all,
			vs_check_real_memory(each * 100 / 101 / 4 * 4));
	}
	return false;
}

bool vs_judge_cores_vfs(struct vs_subject *k)
{
	const struct vs_check_site *s = k->site;
	int cores = vs_host_vm_cores(k->host);

	for (size_t p = 0; k->usual->fits && p < s->nprofiles; p++) {
		int vcpus = s->profiles[p].vcpus;
		long long all = k->usual->fits[p].cores;
		struct fit f = fit_of(s, k->host, p);

		if (!f.cores || f.cores >= f.vfs || all >= s->nodes[p])
			continue;
		return vs_check_find(k, "its VFs serve %d VMs x %d cores = %d, it has %d for VMs: %d fit"
			ROOM FIX "slurm.conf: NodeName=... CPUs=%d	# or fewer nodes",
			f.vfs, vcpus, vcpus * f.vfs, cores, f.cores,
			s->nodes[p], s->profiles[p].adapter->name, all,
			cores / f.vfs > 0 ? cores / f.vfs : 1);
	}
	return false;
}

/* ---- what many share ------------------------------------------------------- */

static bool within(const bool *part, const bool *all, size_t n)
{
	bool some = false;

	for (size_t i = 0; i < n; i++) {
		if (part[i] && !all[i])
			return false;
		some |= part[i];
	}
	return some;
}

/* False: they have enough, or it isn't known. */
static bool short_of(const struct vs_check_share *s, const bool *in,
		     int64_t *has, int64_t *needs)
{
	*has = *needs = 0;
	for (size_t i = 0; i < s->nsupplies; i++) {
		if (in[i] && s->supply[i] < 0)
			return false;
		*has += in[i] ? s->supply[i] : 0;
	}
	for (size_t d = 0; d < s->ndemands; d++)
		if (within(s->may[d], in, s->nsupplies))
			*needs += s->demand[d];
	return *needs > *has;
}

static bool same(const bool *a, const bool *b, size_t n)
{
	return !memcmp(a, b, n * sizeof(*a));
}

void vs_check_shared(const struct vs_check_share *s, vs_check_short *fn,
		     void *arg)
{
	VS_FREE bool *all = vs_calloc(s->nsupplies + 1, sizeof(*all));
	int64_t has, needs;
	bool found = false;

	for (size_t d = 0; d < s->ndemands; d++) {
		size_t k = 0;

		for (size_t i = 0; i < s->nsupplies; i++)
			all[i] |= s->may[d][i];
		while (!same(s->may[k], s->may[d], s->nsupplies))
			k++;
		if (k < d || !short_of(s, s->may[d], &has, &needs))
			continue;
		fn(arg, s->may[d], has, needs);
		found = true;
	}
	/* Each finds enough by itself, perhaps, in what all of them share. */
	if (!found && short_of(s, all, &has, &needs))
		fn(arg, all, has, needs);
}
