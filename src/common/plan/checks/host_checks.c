/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The judges of a host as a whole: ESXi, its power policy and clock, what of
 * the site's it can reach, whether the largest VM fits, which devices it keeps
 * for itself (its administrator may want that: a warning).
 */
#include <stdio.h>
#include <string.h>
#include "plan/checks/checks_i.h"
#include "util/mem.h"

const struct vs_switch_facts *vs_check_switch(const struct vs_host *h,
					      const struct vs_network *net)
{
	for (size_t i = 0; h->facts && i < h->facts->nswitches; i++)
		if (net->switch_uuid[0] &&
		    !strcmp(h->facts->switches[i].uuid, net->switch_uuid))
			return &h->facts->switches[i];
	return NULL;
}

const char *vs_check_switch_name(const struct vs_inventory *inv,
				 const struct vs_network *net)
{
	const struct vs_switch_facts *sw = NULL;

	for (const struct vs_host *h = inv->hosts; h && !sw; h = h->hh.next)
		sw = vs_check_switch(h, net);
	return sw && sw->name[0] ? sw->name : "SWITCH";
}

char *vs_check_readonly(const char *user)
{
	return vs_asprintf("govc permissions.set -principal '%s' -role ReadOnly -propagate=true /",
			   user && user[0] ? user : "USER");
}

/* ---- what the configuration asks of this host ---------------------------- */

/* Could VMs of this profile be on it at all? */
static bool concerns(const struct vs_check_site *s, const struct vs_host *h,
		     size_t profile)
{
	const struct vs_adapter *a = s->profiles[profile].adapter;

	return s->nodes[profile] &&
	       vs_host_on_net(h, a, &s->nets[a - s->adapters]);
}

bool vs_judge_esxi_old(struct vs_subject *k)
{
	const struct vs_host *h = k->host;
	const struct vs_profile *of = NULL;
	int need = 0;

	for (size_t p = 0; p < k->site->nprofiles; p++) {
		const struct vs_profile *prof = &k->site->profiles[p];
		int hw = vs_adapter_hw(prof->adapter);

		if (prof->template_hw > hw)
			hw = prof->template_hw;
		if (!concerns(k->site, h, p) || hw <= need)
			continue;
		need = hw;
		of = prof;
	}
	return of && h->max_hw < need &&
		vs_check_find(k, "ESXi %s, hardware version %d at most"
			SHOULD "hardware version %d (Template=%s, adapter %s)"
			FIX UPDATE, h->facts ? h->facts->setup.version : "",
			h->max_hw, need, of->template_name, of->adapter->name);
}

bool vs_judge_cores(struct vs_subject *k)
{
	const struct vs_check_site *s = k->site;
	int most = 0, cores = vs_host_vm_cores(k->host);

	for (size_t p = 0; p < s->nprofiles; p++)
		if (concerns(s, k->host, p) && s->profiles[p].latency_high &&
		    s->profiles[p].vcpus > most)
			most = s->profiles[p].vcpus;
	return most > cores &&
		vs_check_find(k, "%d of its %d cores for VMs"
			SHOULD "%d cores for one VM"
			FIX "slurm.conf: NodeName=... CPUs=%d",
			cores, k->host->cores, most, cores > 0 ? cores : 1);
}

long long vs_check_real_memory(long long vm_mb)
{
	long long real = (vm_mb - 256) * 32 / 33;

	return real > 0 ? real : 1;
}

bool vs_judge_memory(struct vs_subject *k)
{
	const struct vs_check_site *s = k->site;
	long long most = 0, has = k->host->memory_mb;

	for (size_t p = 0; p < s->nprofiles; p++) {
		int64_t mb = vs_profile_reserved_mb(&s->profiles[p]) +
			vs_profile_overhead_mb(&s->profiles[p]);

		if (concerns(s, k->host, p) && mb > most)
			most = mb;
	}
	return most > has && vs_check_find(k, "%lld MB for VMs"
		SHOULD "%lld MB, overhead included"
		FIX "slurm.conf: NodeName=... RealMemory=%lld",
		has, most, vs_check_real_memory((has - has / 50) / 4 * 4));
}

/* ---- what it reaches ------------------------------------------------------ */

/* The PF that is to be an uplink, if it can only be one. */
static const char *next_uplink(const struct vs_subject *k)
{
	const struct vs_pf *pfs = k->host->pfs;
	const char *pnic = "";
	int n = 0;

	for (int i = 0; i < k->host->npfs; i++)
		if (!pfs[i].switch_uuid[0] &&
		    vs_check_would_reach(k->site, k->i, &pfs[i])) {
			pnic = pfs[i].pnic;
			n++;
		}
	return n == 1 && pnic[0] ? pnic : "VMNIC";
}

static const char *dvs_of(const struct vs_subject *k)
{
	return vs_check_switch_name(k->site->inv, &k->site->nets[k->i]);
}

/* Hosts may differ by design: three of four must have what this one lacks. */
static int most_have(const struct vs_usual *u, const char *kind,
		     const struct vs_host *h, const struct vs_network *net)
{
	char key[VS_MOID_LEN * 2 + 2];
	const char *most;
	int n, others;

	snprintf(key, sizeof(key), "%s %s", h->cluster, net->moid);
	most = vs_usual_value(u, kind, key, &n, &others);
	return most && !strcmp(most, "yes") && n >= 3 * others ? n : 0;
}

void vs_usual_count_networks(struct vs_usual *u, const struct vs_check_site *s,
			     const struct vs_host *h)
{
	char key[VS_MOID_LEN * 2 + 2];

	for (size_t a = 0; h->nnets && a < s->nadapters; a++) {
		snprintf(key, sizeof(key), "%s %s", h->cluster, s->nets[a].moid);
		vs_usual_add(u, "net", key,
			     vs_host_has_net(h, s->nets[a].moid) ? "yes" : "no");
		if (h->pfs_known && vs_host_has_net(h, s->nets[a].moid) &&
		    vs_check_takes_vf(&s->adapters[a]))
			vs_usual_add(u, "uplink", key,
				     vs_check_has_pf(s, h, a, "") ? "yes" : "no");
	}
}

/* An opaque network is no host's fault (engine/checks/networks.c). */
bool vs_check_wants_uplink(const struct vs_check_site *s,
			   const struct vs_host *h, size_t a)
{
	return vs_check_takes_vf(&s->adapters[a]) && !s->nets[a].opaque &&
	       vs_host_on_net(h, &s->adapters[a], &s->nets[a]);
}

/* Without a NIC that could be one, the host is perhaps of another kind. */
bool vs_judge_uplink(struct vs_subject *k)
{
	const struct vs_check_site *s = k->site;
	const struct vs_adapter *ad = &s->adapters[k->i];
	const struct vs_host_facts *f = k->host->facts;
	struct vs_found *found;
	bool spare;

	if (!vs_check_wants_uplink(s, k->host, k->i) ||
	    vs_check_has_pf(s, k->host, k->i, ""))
		return false;
	for (size_t i = 0; f && i < f->nincapable; i++)
		if (vs_check_incapable(s, k->usual, k->host, k->i,
				       &f->incapable[i]))
			return false;
	spare = vs_check_surplus(s, k->usual, k->host, k->i);
	if (!spare && !most_have(k->usual, "uplink", k->host, &s->nets[k->i]))
		return false;
	found = vs_check_find(k, "no %s%s%s as uplink for %s"
		SHOULD "a PF with VFs in the switch of %s (adapter %s)"
		FIX ADD_UPLINK, spare ? "PF" : "NIC with VFs, nor one",
		ad->pf[0] ? " " : "", ad->pf, ad->network, ad->network,
		ad->name, dvs_of(k), next_uplink(k));
	if (!spare)
		found->severity = VS_WARNING;
	return true;
}

bool vs_judge_network(struct vs_subject *k)
{
	const struct vs_adapter *ad = &k->site->adapters[k->i];
	const struct vs_network *net = &k->site->nets[k->i];
	int n = most_have(k->usual, "net", k->host, net);

	return n && !net->opaque && !vs_host_on_net(k->host, ad, net) &&
		vs_check_find(k, "no %s"
			SHOULD "%s, as on %d hosts of the cluster (adapter %s)"
			FIX ADD_UPLINK, ad->network, ad->network, n, ad->name,
			dvs_of(k), next_uplink(k));
}

/* Of adapters without VFs: those with them are judged PF by PF. A warning,
 * because small packets pass. */
bool vs_judge_mtu(struct vs_subject *k)
{
	const struct vs_adapter *ad = &k->site->adapters[k->i];
	const struct vs_network *net = &k->site->nets[k->i];
	const struct vs_switch_facts *sw = vs_check_switch(k->host, net);

	if (vs_check_takes_vf(ad) || !sw || !sw->mtu || sw->mtu >= ad->mtu ||
	    !vs_host_has_net(k->host, net->moid))
		return false;
	vs_check_find(k, SMALL_MTU, sw->mtu, sw->name, ad->mtu, ad->name, ad->mtu,
		      sw->name)->severity = VS_WARNING;
	return true;
}

/* Where no adapter on the switch says what it must be. */
bool vs_judge_mtu_odd(struct vs_subject *k)
{
	const struct vs_check_site *s = k->site;
	const struct vs_switch_facts *sw = &k->host->facts->switches[k->i];
	bool ours = false, said = false;
	char is[16];

	for (size_t a = 0; a < s->nadapters; a++) {
		if (strcmp(s->nets[a].switch_uuid, sw->uuid) ||
		    !vs_host_has_net(k->host, s->nets[a].moid))
			continue;
		ours |= s->adapters[a].link != VS_LINK_INFINIBAND;
		said |= s->adapters[a].mtu > 0;
	}
	snprintf(is, sizeof(is), "%d", sw->mtu);
	return vs_check_odd(k, sw->uuid, sw->mtu ? is : "") && ours && !said &&
		vs_check_find(k, "MTU %d on %s" SHOULD "%s, as on %d hosts"
			FIX "govc dvs.change -mtu %s %s", sw->mtu, sw->name,
			k->most, k->nmost, k->most, sw->name);
}

bool vs_judge_store(struct vs_subject *k)
{
	const struct vs_check_site *s = k->site;
	bool sees = s->inv->nuses ? vs_host_has_any_store(s->inv, k->host) :
		!s->store[0] || vs_host_has_store(k->host, s->store);

	return !sees && vs_check_find(k, "no Datastore=%s"
		SHOULD "mounted, as on the other hosts of its cluster"
		FIX "govc host.storage.info -host {} -rescan -refresh -rescan-vmfs",
		s->store_name);
}

/* ---- ESXi ----------------------------------------------------------------- */

bool vs_judge_esxi_odd(struct vs_subject *k)
{
	char build[48];

	snprintf(build, sizeof(build), "%s-%s", k->host->facts->setup.version,
		 k->host->facts->setup.build);
	return vs_check_odd(k, "", build) &&
		vs_check_find(k, "%s" SHOULD "%s, as on %d hosts" FIX UPDATE,
			      build, k->most, k->nmost);
}

bool vs_judge_power(struct vs_subject *k)
{
	const char *name = k->host->facts->setup.power;

	return strcmp(name, "static") &&
		vs_check_find(k, "%s" SHOULD "High Performance"
			FIX ESXCLI "system settings advanced set -o /Power/CpuPolicy -s 'High Performance'",
			!strcmp(name, "dynamic") ? "Balanced" :
			!strcmp(name, "low") ? "Low Power" :
			!strcmp(name, "custom") ? "Custom" : name);
}

/* One finding of all its GPUs; one that is passed through is another's. */
bool vs_judge_gpu(struct vs_subject *k)
{
	const struct vs_host_facts *f = k->host->facts;
	bool wanted = false;

	for (size_t a = 0; a < k->site->nadapters; a++)
		wanted |= vs_adapter_type_info(&k->site->adapters[a])->by_profile;
	for (int i = 0; wanted && i < f->ngpus; i++) {
		const struct vs_gpu_facts *g = &f->gpus[i];

		if (strcmp(g->type, "sharedDirect") && strcmp(g->type, "direct"))
			return vs_check_find(k, "GPU %s: %s"
				SHOULD "shared direct"
				FIX REBOOT(ESXCLI "graphics host set --default-type SharedPassthru\n"),
				g->pci, g->type);
	}
	return false;
}

/* Real hosts of several NUMA nodes list no PCI device with any of them. */
bool vs_judge_numa(struct vs_subject *k)
{
	const struct vs_host *h = k->host;
	const struct vs_profile *asks = NULL;

	for (size_t p = 0; p < k->site->nprofiles; p++)
		if (concerns(k->site, h, p) &&
		    k->site->profiles[p].hw.numa_pf)
			asks = &k->site->profiles[p];
	for (int i = 0; i < h->npfs; i++)
		if (h->pfs[i].numa >= 0)
			return false;
	return asks && h->npfs > 0 && h->numa_nodes > 1 &&
		vs_check_find(k, "no PCI device has a NUMA node, of %d"
			SHOULD "the NUMA node of the PFs of adapter %s"
			FIX "vsphere.conf: PartitionName=... NumaAffinity=none	# or update the host's BIOS and ESXi",
			h->numa_nodes, asks->adapter->name);
}

/* ---- devices that an adapter of vsphere.conf would give -------------------- */

bool vs_judge_device(struct vs_subject *k)
{
	const struct vs_idle_facts *d = &k->host->facts->idle[k->i];
	unsigned int vendor = d->vendor, device = d->device;

	if (d->enabled != (k->code == VS_CHECK_DEVICE_REBOOT))
		return false;
	return d->enabled ?
		vs_check_find(k, "%s (%s, %04x:%04x): passthrough is enabled, not active"
			SHOULD "active (adapter %s)" FIX REBOOT(""),
			d->pci, d->name, vendor, device, d->adapter) :
		vs_check_find(k, "%s (%s, %04x:%04x): passthrough is off"
			SHOULD "active (adapter %s)"
			FIX ESXCLI "hardware pci pcipassthru set -d %s -e true -a",
			d->pci, d->name, vendor, device, d->adapter, d->pci);
}

/* A device that no adapter names is not counted. */
bool vs_judge_device_left(struct vs_subject *k)
{
	const struct vs_host *h = k->host;

	return h->nleft && vs_check_find(k, "%d %s not counted: %s%s" SHOULD
		"%d PFs and device types at most, and %d devices of a type" FIX
		"# vsphere.conf: Type=dynamic-directpath counts equal devices as one type, or name fewer by Address=",
		h->nleft, h->nleft == 1 ? "is" : "are", h->left,
		h->nleft == 1 ? "" : " and others", VS_HOST_PFS,
		VS_DEVICES_MAX);
}
