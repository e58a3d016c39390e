/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The judges of what hosts share: templates, the datastore, resource pools.
 */
#include <stdio.h>
#include <string.h>
#include "plan/checks/checks_i.h"
#include "util/mem.h"
#include "util/name.h"

#define LATENCY_HW 14	/* of LatencySensitivity=high (vSphere resource
			 * management) */

/* ---- templates ------------------------------------------------------------ */

static bool uses(const struct vs_check_site *s, size_t p,
		 const struct vs_template_facts *t)
{
	return s->nodes[p] && !strcmp(s->profiles[p].template_name, t->name);
}

static int needs_hw(const struct vs_profile *prof)
{
	int hw = vs_adapter_hw(prof->adapter);

	return prof->latency_high && hw < LATENCY_HW ? LATENCY_HW : hw;
}

bool vs_check_blocks(const struct vs_found *f, const struct vs_profile *prof)
{
	if (strcmp(prof->template_name, f->object))
		return false;
	switch (f->code) {
	case VS_CHECK_TEMPLATE_HW:
		return prof->template_hw < needs_hw(prof);
	case VS_CHECK_TEMPLATE_FIRMWARE:
		return vs_profile_efi(prof);
	case VS_CHECK_TEMPLATE_NIC:
		return true;
	default:
		return false;
	}
}

bool vs_judge_hw(struct vs_subject *k)
{
	const struct vs_adapter *of = NULL;
	int need = 0;

	for (size_t p = 0; p < k->site->nprofiles; p++) {
		const struct vs_profile *prof = &k->site->profiles[p];
		int hw = needs_hw(prof);

		if (!uses(k->site, p, k->template) || hw <= need)
			continue;
		need = hw;
		of = prof->adapter;
	}
	return k->template->hw < need &&
		vs_check_find(k, "hardware version %d"
			SHOULD "%d at least (adapter %s)"
			FIX AS_VM("govc vm.upgrade -vm {} -version %d"),
			k->template->hw, need, of->name, need);
}

/* The firmware can't be changed under a guest that is installed. */
#define BY_EFI "# reinstall {} in a VM that boots by EFI:\ngovc vm.change -vm VM -e firmware=efi"

bool vs_judge_efi(struct vs_subject *k)
{
	for (size_t p = 0; k->template->bios && p < k->site->nprofiles; p++) {
		const struct vs_adapter *a = k->site->profiles[p].adapter;

		if (!uses(k->site, p, k->template) ||
		    !vs_profile_efi(&k->site->profiles[p]))
			continue;
		return vs_adapter_mmio(a) ?
			vs_check_find(k, "BIOS" SHOULD
				"EFI (adapter %s, %d GB of MMIO)" FIX BY_EFI,
				a->name, vs_adapter_mmio(a)) :
			vs_check_find(k, "BIOS" SHOULD "EFI (SecureBoot=yes)"
				FIX BY_EFI);
	}
	return false;
}

/* "rhel9_64Guest", "otherLinux64Guest", "debian12_64Guest" */
static bool is_linux64(const char *guest)
{
	static const char *const others[] = { "win", "darwin", "freebsd",
		"solaris", "netware", "os2", "dos", "vmkernel", "unixWare",
		"eComStation", "openServer", "other" };
	size_t len = strlen(guest);

	if (!strncmp(guest, "otherLinux64", 12) ||
	    (!strncmp(guest, "other", 5) && len > 12 &&
	     !strcmp(guest + len - 12, "Linux64Guest")))
		return true;
	for (size_t i = 0; i < VS_COUNT(others); i++)
		if (!strncmp(guest, others[i], strlen(others[i])))
			return false;
	return len < 7 || !strcmp(guest + len - 7, "64Guest");
}

bool vs_judge_guest(struct vs_subject *k)
{
	const char *guest = k->template->guest;

	return guest[0] && !is_linux64(guest) &&
		vs_check_find(k, "%s" SHOULD "a 64-bit Linux"
			FIX AS_VM("govc vm.change -vm {} -g rhel9_64Guest"),
			guest);
}

bool vs_judge_nic(struct vs_subject *k)
{
	return k->template->passthrough > 0 &&
		vs_check_find(k, "%d of them"
			SHOULD "none: each clone gets its own"
			FIX AS_VM("govc device.ls -vm {}\ngovc device.remove -vm {} DEVICE"),
			k->template->passthrough);
}

/* ---- networks ------------------------------------------------------------- */

/* The first profile that some node has and that has this RDMA adapter? */
static bool first_rdma(const struct vs_check_site *s, size_t p)
{
	const struct vs_adapter *a = s->profiles[p].adapter;

	for (size_t k = 0; k < p; k++)
		if (s->nodes[k] && s->profiles[k].adapter == a)
			return false;
	return s->nodes[p] && vs_adapter_kinds[a->type].rdma;
}

static const struct vs_network *net_of(const struct vs_check_site *s, size_t p)
{
	return &s->nets[s->profiles[p].adapter - s->adapters];
}

/* A port group of a standard switch is known by its name. */
static bool manages(const struct vs_host *h, const struct vs_network *net,
		    const struct vs_adapter *a)
{
	for (int i = 0; h->facts && i < h->facts->setup.nmgmt; i++)
		if (!strcmp(h->facts->setup.mgmt[i], net->switch_uuid[0] ?
			    net->portgroup_key : a->network))
			return vs_host_has_net(h, net->moid);
	return false;
}

bool vs_judge_management(struct vs_subject *k)
{
	const struct vs_check_site *s = k->site;
	const struct vs_adapter *a = s->profiles[k->i].adapter;
	const char *first = "";
	int n = 0;

	if (!first_rdma(s, k->i))
		return false;
	for (const struct vs_host *h = s->inv->hosts; h; h = h->hh.next)
		if (manages(h, net_of(s, k->i), a) && !n++)
			first = h->name;
	k->object = a->name;
	return n && vs_check_find(k,
		"%s carries the management of %d host%s: %s%s"
		SHOULD "a port group of its own"
		FIX "govc dvs.portgroup.add -dvs %s -vlan VLAN NAME\n"
		"# vsphere.conf: AdapterName={} Network=NAME", a->network, n,
		vs_plural((uint64_t)n), first, n == 1 ? "" : ", ...",
		vs_check_switch_name(s->inv, net_of(s, k->i)));
}

bool vs_judge_own_nic(struct vs_subject *k)
{
	const struct vs_template_facts *t = k->template;

	for (size_t p = 0; p < k->site->nprofiles; p++) {
		const struct vs_adapter *a = k->site->profiles[p].adapter;
		bool its = false;

		for (size_t i = 0; i < t->nnets; i++)
			its |= !strcmp(t->nets[i], net_of(k->site, p)->moid);
		k->object = a->name;
		if (its && uses(k->site, p, t) &&
		    vs_adapter_kinds[a->type].rdma)
			vs_check_find(k,
				"template %s has its own NIC on %s" SHOULD
				"on a management network" FIX
				"govc vm.markasvm -host HOST %s\n"
				"govc vm.network.change -vm %s -net MANAGEMENT-NETWORK ethernet-0\n"
				"govc vm.markastemplate %s", t->name,
				a->network, t->name, t->name, t->name);
	}
	return k->added;
}

/* ---- the datastore, pools ------------------------------------------------- */

bool vs_judge_store_capacity(struct vs_subject *k)
{
	const struct vs_store_facts *d = k->store;

	return d->needs_mb > d->free_mb &&
		vs_check_find(k, "%lld GB free" SHOULD
			"%lld GB for disks and swap files of nodes without a VM" FIX
			"govc datastore.info {}	# free space, or define fewer nodes",
			(long long)d->free_mb / 1024,
			(long long)(d->needs_mb + 1023) / 1024);
}

bool vs_check_reaches(const struct vs_check_site *s, const char *cluster,
		      size_t profile)
{
	const struct vs_adapter *ad = s->profiles[profile].adapter;
	size_t a = (size_t)(ad - s->adapters);

	for (const struct vs_host *h = s->inv->hosts; h; h = h->hh.next)
		if (!strcmp(h->cluster, cluster) &&
		    vs_host_has_net(h, s->nets[a].moid) &&
		    (!vs_check_takes_vf(ad) || vs_check_has_pf(s, h, a, "")))
			return true;
	return false;
}

bool vs_judge_pool(struct vs_subject *k)
{
	const struct vs_pool_facts *p = k->pool;
	long long mem = 0, cpu = 0;

	for (size_t i = 0; i < k->site->nprofiles; i++) {
		const struct vs_profile *prof = &k->site->profiles[i];
		int64_t mb = vs_profile_reserved_mb(prof) +
			vs_profile_overhead_mb(prof);
		int64_t mhz = vs_profile_cpu_mhz(prof, p->core_mhz);

		if (!k->site->nodes[i] ||
		    !vs_check_reaches(k->site, p->cluster, i))
			continue;
		mem = mb > mem ? mb : mem;
		cpu = mhz > cpu ? mhz : cpu;
	}
	return ((p->most_mem_mb >= 0 && p->most_mem_mb < mem) ||
		(p->most_cpu_mhz >= 0 && p->most_cpu_mhz < cpu)) &&
		vs_check_find(k, "%lld MB, %lld MHz at most for all its VMs"
			SHOULD "%lld MB, %lld MHz for the largest of them alone"
			FIX "govc pool.change -mem.limit -1 -cpu.limit -1 %s",
			(long long)p->most_mem_mb, (long long)p->most_cpu_mhz,
			mem, cpu, p->path);
}
