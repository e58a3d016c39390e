/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of what hosts share: templates, the datastore, resource pools.
 */
#include <stdio.h>
#include <string.h>
#include "plan/checks/checks_i.h"
#include "util/mem.h"

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

static void check_hw(const struct vs_check_site *s,
		     const struct vs_template_facts *t,
		     struct vs_found_list *l)
{
	const char *of = "";
	int need = 0;

	for (size_t p = 0; p < s->nprofiles; p++) {
		const struct vs_profile *prof = &s->profiles[p];
		int hw = needs_hw(prof);

		if (!uses(s, p, t) || hw <= need)
			continue;
		need = hw;
		of = prof->adapter->name;
	}
	if (t->hw && t->hw < need)
		vs_found_add(l, VS_CHECK_TEMPLATE_HW, t->name,
			vs_asprintf("hardware version %d", t->hw),
			vs_asprintf("%d at least (adapter %s)", need, of),
			vs_asprintf("govc vm.markasvm -host HOST %s\n"
				    "govc vm.upgrade -vm %s -version %d\n"
				    "govc vm.markastemplate %s", t->name,
				    t->name, need, t->name));
}

/* The firmware can't be changed under a guest that is installed. */
static void check_firmware(const struct vs_check_site *s,
			   const struct vs_template_facts *t,
			   struct vs_found_list *l)
{
	for (size_t p = 0; t->bios && p < s->nprofiles; p++) {
		const struct vs_adapter *a = s->profiles[p].adapter;

		if (!uses(s, p, t) || !vs_profile_efi(&s->profiles[p]))
			continue;
		vs_found_add(l, VS_CHECK_TEMPLATE_FIRMWARE, t->name,
			vs_strdup("BIOS"),
			!vs_adapter_mmio(a) ? vs_strdup("EFI (SecureBoot=yes)") :
			vs_asprintf("EFI (adapter %s, %d GB of MMIO)", a->name,
				    vs_adapter_mmio(a)),
			vs_asprintf("# install %s anew in a VM that boots by EFI:\ngovc vm.change -vm VM -e firmware=efi",
				    t->name));
		return;
	}
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

/* A command that changes the template, which must be a VM for it. */
static char *as_vm(const struct vs_template_facts *t, const char *command)
{
	return vs_asprintf("govc vm.markasvm -host HOST %s\n%s\n"
			   "govc vm.markastemplate %s", t->name, command,
			   t->name);
}

static void check_guest(const struct vs_template_facts *t,
			struct vs_found_list *l)
{
	VS_FREE char *set = vs_asprintf("govc vm.change -vm %s -g rhel9_64Guest",
					t->name);

	if (t->guest[0] && !is_linux64(t->guest))
		vs_found_add(l, VS_CHECK_TEMPLATE_GUEST, t->name,
			vs_strdup(t->guest), vs_strdup("a 64-bit Linux"),
			as_vm(t, set));
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

void vs_check_apart(const struct vs_check_site *s, struct vs_found_list *l)
{
	for (size_t p = 0; p < s->nprofiles; p++) {
		const struct vs_adapter *a = s->profiles[p].adapter;
		const char *first = "";
		int n = 0;

		if (!first_rdma(s, p))
			continue;
		for (const struct vs_host *h = s->inv->hosts; h; h = h->hh.next)
			if (manages(h, net_of(s, p), a) && !n++)
				first = h->name;
		if (n)
			vs_found_add(l, VS_CHECK_APART, a->name,
				vs_asprintf("%s carries the management of %d host%s: %s%s",
					    a->network, n, n == 1 ? "" : "s",
					    first, n == 1 ? "" : ", ..."),
				vs_strdup("a port group of its own"),
				vs_asprintf("govc dvs.portgroup.add -dvs %s -vlan VLAN NAME\n"
					    "# vsphere.conf: AdapterName=%s Network=NAME",
					    vs_check_switch_name(s->inv, net_of(s, p)),
					    a->name));
	}
}

static void check_own_card(const struct vs_check_site *s,
			   const struct vs_template_facts *t,
			   struct vs_found_list *l)
{
	VS_FREE char *move = vs_asprintf(
		"govc vm.network.change -vm %s -net MANAGEMENT-NETWORK ethernet-0",
		t->name);

	for (size_t p = 0; p < s->nprofiles; p++) {
		const struct vs_adapter *a = s->profiles[p].adapter;
		bool its = false;

		for (size_t i = 0; i < t->nnets; i++)
			its |= !strcmp(t->nets[i], net_of(s, p)->moid);
		if (its && uses(s, p, t) && vs_adapter_kinds[a->type].rdma)
			vs_found_add(l, VS_CHECK_APART, a->name,
				vs_asprintf("the own card of template %s is on %s too",
					    t->name, a->network),
				vs_strdup("on a management network"),
				as_vm(t, move));
	}
}

/* ---- templates, whole -------------------------------------------------------- */

void vs_check_template(const struct vs_check_site *s,
		       const struct vs_template_facts *t,
		       struct vs_found_list *l)
{
	VS_FREE char *cold = vs_asprintf(
		"govc vm.change -vm %s -cpu-hot-add-enabled=false -memory-hot-add-enabled=false",
		t->name);
	VS_FREE char *card = vs_asprintf(
		"govc device.ls -vm %s\ngovc device.remove -vm %s DEVICE",
		t->name, t->name);
	VS_FREE char *snap = vs_asprintf("govc snapshot.remove -vm %s '*'",
					 t->name);
	VS_FREE char *tools = vs_asprintf(
		"govc vm.power -on %s	# install open-vm-tools in the guest, power it off",
		t->name);

	check_hw(s, t, l);
	check_firmware(s, t, l);
	check_guest(t, l);
	if (t->passthrough <= 0)	/* that is told already */
		check_own_card(s, t, l);
	if (t->passthrough > 0)
		vs_found_add(l, VS_CHECK_TEMPLATE_NIC, t->name,
			vs_asprintf("%d of them", t->passthrough),
			vs_strdup("none: each clone gets its own"),
			as_vm(t, card));
	if (t->hot_add == 1)
		vs_found_add(l, VS_CHECK_TEMPLATE_HOT_ADD, t->name,
			vs_strdup("on"), vs_strdup("off"), as_vm(t, cold));
	if (t->snapshot == 1)
		vs_found_add(l, VS_CHECK_TEMPLATE_SNAPSHOT, t->name,
			vs_strdup("it has one"), vs_strdup("none"),
			as_vm(t, snap));
	if (t->tools == 0)
		vs_found_add(l, VS_CHECK_TEMPLATE_TOOLS, t->name,
			vs_strdup("not installed"),
			vs_strdup("open-vm-tools in the guest"),
			as_vm(t, tools));
}

/* ---- the datastore, pools ------------------------------------------------- */

void vs_check_store(const struct vs_store_facts *d, struct vs_found_list *l)
{
	if (d->accessible == 0) {
		vs_found_add(l, VS_CHECK_STORE_AWAY, d->name,
			vs_strdup("not accessible"), vs_strdup("accessible"),
			vs_asprintf("govc datastore.info %s", d->name));
		return;
	}
	if (d->free_mb < 0 || d->needs_mb <= d->free_mb)
		return;
	vs_found_add(l, VS_CHECK_STORE_CAPACITY, d->name,
		vs_asprintf("%lld GB free", (long long)d->free_mb / 1024),
		vs_asprintf("%lld GB for disks and swap files of the nodes that have no other and aren't there yet",
			    (long long)(d->needs_mb + 1023) / 1024),
		vs_asprintf("govc datastore.info %s	# make room, or define fewer nodes",
			    d->name));
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

bool vs_check_pool(const struct vs_check_site *s, const struct vs_pool_facts *p,
		   struct vs_found_list *l)
{
	int64_t mem = 0, cpu = 0;
	bool low_mem, low_cpu;

	for (size_t i = 0; i < s->nprofiles; i++) {
		const struct vs_profile *prof = &s->profiles[i];
		int64_t mb = vs_profile_reserved_mb(prof) +
			vs_profile_overhead_mb(prof);
		int64_t mhz = vs_profile_cpu_mhz(prof, p->core_mhz);

		if (!s->nodes[i] || !vs_check_reaches(s, p->cluster, i))
			continue;
		mem = mb > mem ? mb : mem;
		cpu = mhz > cpu ? mhz : cpu;
	}
	low_mem = p->most_mem_mb >= 0 && p->most_mem_mb < mem;
	low_cpu = p->most_cpu_mhz >= 0 && p->most_cpu_mhz < cpu;
	if (!low_mem && !low_cpu)
		return false;
	vs_found_add(l, VS_CHECK_POOL_CAPACITY, p->name,
		vs_asprintf("%lld MB, %lld MHz at most for all its VMs",
			    (long long)p->most_mem_mb,
			    (long long)p->most_cpu_mhz),
		vs_asprintf("%lld MB, %lld MHz for the largest of them alone",
			    (long long)mem, (long long)cpu),
		vs_asprintf("govc pool.change -mem.limit -1 -cpu.limit -1 %s",
			    p->path));
	return true;
}
