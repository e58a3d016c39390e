/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of a host as a whole: ESXi, its power policy and clock, what of
 * the site's it can reach, whether the largest VM fits, which devices it keeps
 * for itself (its administrator may want that: a warning). What is not known of
 * a host that is connected is one finding, "host-unread".
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

char *vs_check_reboot(const struct vs_host *h, const char *commands)
{
	return vs_asprintf(
		"govc host.maintenance.enter %s\n"
		"%s%s"
		"govc host.shutdown -r %s\n"
		"govc object.collect -wait 15m \"$(govc find / -type h -name %s)\" -runtime.connectionState notResponding\n"
		"govc object.collect -wait 60m \"$(govc find / -type h -name %s)\" -runtime.connectionState connected\n"
		"govc host.maintenance.exit %s",
		h->name, commands, commands[0] ? "\n" : "", h->name, h->name,
		h->name, h->name);
}

/* Another ESXi. */
static char *esxi_update(const struct vs_host *h)
{
	VS_FREE char *update = vs_asprintf(
		"govc host.esxcli -host %s software profile update -d DEPOT -p PROFILE",
		h->name);

	return vs_check_reboot(h, update);
}

/* ---- what the configuration asks of this host ---------------------------- */

static size_t adapter_of(const struct vs_check_site *s, size_t profile)
{
	return (size_t)(s->profiles[profile].adapter - s->adapters);
}

/* Could VMs of this profile be on it at all? */
static bool concerns(const struct vs_check_site *s, const struct vs_host *h,
		     size_t profile)
{
	return s->nodes[profile] &&
	       vs_host_on_net(h, s->profiles[profile].adapter,
			      &s->nets[adapter_of(s, profile)]);
}

/* True: it is too old, which is another build too. */
static bool check_hardware(const struct vs_check_site *s,
			   const struct vs_host *h, struct vs_found_list *l)
{
	const struct vs_profile *of = NULL;
	int need = 0;

	for (size_t p = 0; p < s->nprofiles; p++) {
		const struct vs_profile *prof = &s->profiles[p];
		int hw = vs_adapter_hw(prof->adapter);

		if (prof->template_hw > hw)
			hw = prof->template_hw;
		if (!concerns(s, h, p) || hw <= need)
			continue;
		need = hw;
		of = prof;
	}
	if (!of || !h->max_hw || h->max_hw >= need)
		return false;
	vs_found_add(l, VS_CHECK_ESXI_OLD, h->name,
		vs_asprintf("ESXi %s, hardware version %d at most",
			    h->facts ? h->facts->setup.version : "", h->max_hw),
		vs_asprintf("hardware version %d (Template=%s, adapter %s)",
			    need, of->template_name, of->adapter->name),
		esxi_update(h));
	return true;
}

static void check_cores(const struct vs_check_site *s, const struct vs_host *h,
			struct vs_found_list *l)
{
	int most = 0, cores = vs_host_vm_cores(h);

	for (size_t p = 0; p < s->nprofiles; p++)
		if (concerns(s, h, p) && s->profiles[p].latency_high &&
		    s->profiles[p].vcpus > most)
			most = s->profiles[p].vcpus;
	if (!h->cores || most <= cores)
		return;
	vs_found_add(l, VS_CHECK_HOST_CORES, h->name,
		vs_asprintf("%d of its %d cores for VMs", cores, h->cores),
		vs_asprintf("%d cores for one VM", most),
		vs_asprintf("vsphere.conf: PartitionName=... CPUs=%d",
			    cores > 0 ? cores : 1));
}

static void check_memory(const struct vs_check_site *s,
			 const struct vs_host *h, struct vs_found_list *l)
{
	int64_t most = 0;

	for (size_t p = 0; p < s->nprofiles; p++) {
		int64_t mb = vs_profile_reserved_mb(&s->profiles[p]) +
			vs_profile_overhead_mb(&s->profiles[p]);

		if (concerns(s, h, p) && mb > most)
			most = mb;
	}
	if (!h->memory_mb || most <= h->memory_mb)
		return;
	vs_found_add(l, VS_CHECK_HOST_MEMORY, h->name,
		vs_asprintf("%lld MB for VMs", (long long)h->memory_mb),
		vs_asprintf("%lld MB, overhead included", (long long)most),
		vs_asprintf("vsphere.conf: PartitionName=... Memory=%lld",
			    (long long)(h->memory_mb - h->memory_mb / 50) /
			    4 * 4));
}

/* ---- what it reaches ------------------------------------------------------ */

/* The PF that is to be an uplink, if it can only be one, into the switch. */
static char *add_uplink(const struct vs_check_site *s, const struct vs_host *h,
			size_t a)
{
	const char *pnic = NULL;
	int n = 0;

	for (int i = 0; i < h->npfs; i++) {
		struct vs_pf pf = h->pfs[i];

		vs_strlcpy(pf.switch_uuid, s->nets[a].switch_uuid,
			   sizeof(pf.switch_uuid));
		if (h->pfs[i].switch_uuid[0] ||
		    !vs_pf_reaches(&s->adapters[a], &s->nets[a], &pf))
			continue;
		pnic = h->pfs[i].pnic;
		n++;
	}
	return vs_asprintf("govc dvs.add -dvs %s -pnic %s %s",
			   vs_check_switch_name(s->inv, &s->nets[a]),
			   n == 1 && pnic[0] ? pnic : "VMNIC", h->name);
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

/* Without a card that could be one, the host is perhaps of another kind. */
static void check_uplink(const struct vs_check_site *s,
			 const struct vs_usual *u, const struct vs_host *h,
			 size_t a, struct vs_found_list *l)
{
	const struct vs_adapter *ad = &s->adapters[a];
	bool spare;
	struct vs_found *f;

	if (!vs_check_takes_vf(ad) || !h->pfs_known ||
	    vs_check_incapable(s, u, h, a, l) || vs_check_has_pf(s, h, a, ""))
		return;
	spare = vs_check_surplus(s, u, h, a);
	if (!spare && !most_have(u, "uplink", h, &s->nets[a]))
		return;
	f = vs_found_add(l, VS_CHECK_UPLINK_MISSING, h->name,
		vs_asprintf("no %s%s%s as uplink for %s",
			    spare ? "PF" : "card with VFs, nor one",
			    ad->pf[0] ? " " : "", ad->pf, ad->network),
		vs_asprintf("a PF with VFs in the switch of %s (adapter %s)",
			    ad->network, ad->name),
		add_uplink(s, h, a));
	if (!spare)
		f->severity = VS_WARNING;
}

static void check_network(const struct vs_check_site *s,
			  const struct vs_usual *u, const struct vs_host *h,
			  size_t a, struct vs_found_list *l)
{
	const struct vs_adapter *ad = &s->adapters[a];
	int n;

	if (vs_host_on_net(h, ad, &s->nets[a])) {
		check_uplink(s, u, h, a, l);
		return;
	}
	n = most_have(u, "net", h, &s->nets[a]);
	if (!n)
		return;
	vs_found_add(l, VS_CHECK_NETWORK_MISSING, h->name,
		vs_asprintf("no %s", ad->network),
		vs_asprintf("%s, as on %d hosts of the cluster (adapter %s)",
			    ad->network, n, ad->name),
		add_uplink(s, h, a));
}

/* Of adapters without VFs: those with them are judged PF by PF. */
static void check_mtu(const struct vs_check_site *s, const struct vs_host *h,
		      size_t a, struct vs_found_list *l)
{
	const struct vs_adapter *ad = &s->adapters[a];
	const struct vs_switch_facts *sw = vs_check_switch(h, &s->nets[a]);
	struct vs_found *f;

	if (vs_check_takes_vf(ad) || !ad->mtu || !sw || !sw->mtu ||
	    sw->mtu >= ad->mtu || !vs_host_has_net(h, s->nets[a].moid))
		return;
	f = vs_found_add(l, VS_CHECK_MTU, h->name,
		vs_asprintf("MTU %d on %s", sw->mtu, sw->name),
		vs_asprintf("%d (adapter %s)", ad->mtu, ad->name),
		vs_asprintf("govc dvs.change -mtu %d %s", ad->mtu, sw->name));
	f->severity = VS_WARNING;	/* small packets pass */
}

/* Where no adapter on the switch says what it must be. */
static void check_mtu_odd(const struct vs_check_site *s,
			  const struct vs_usual *u, const struct vs_host *h,
			  struct vs_found_list *l)
{
	for (size_t i = 0; h->facts && i < h->facts->nswitches; i++) {
		const struct vs_switch_facts *sw = &h->facts->switches[i];
		bool ours = false, said = false;
		const char *most;
		int n, others;
		char is[16];

		for (size_t a = 0; a < s->nadapters; a++) {
			if (strcmp(s->nets[a].switch_uuid, sw->uuid) ||
			    !vs_host_has_net(h, s->nets[a].moid))
				continue;
			ours |= s->adapters[a].link != VS_LINK_INFINIBAND;
			said |= s->adapters[a].mtu > 0;
		}
		snprintf(is, sizeof(is), "%d", sw->mtu);
		most = vs_usual_value(u, "mtu", sw->uuid, &n, &others);
		if (!ours || said || !sw->mtu || !most || !strcmp(most, is))
			continue;
		vs_found_add(l, VS_CHECK_MTU_ODD, h->name,
			vs_asprintf("MTU %d on %s", sw->mtu, sw->name),
			vs_asprintf("%s, as on %d hosts", most, n),
			vs_asprintf("govc dvs.change -mtu %s %s", most,
				    sw->name));
	}
}

static void check_store(const struct vs_check_site *s, const struct vs_host *h,
			struct vs_found_list *l)
{
	bool sees = s->inv->nuses ? vs_host_has_any_store(s->inv, h) :
		!s->store[0] || vs_host_has_store(h, s->store);

	if (!h->stores_known || sees)
		return;
	vs_found_add(l, VS_CHECK_STORE_MISSING, h->name,
		vs_asprintf("no Datastore=%s", s->store_name),
		vs_strdup("mounted, as on the other hosts of its cluster"),
		vs_asprintf("govc host.storage.info -host %s -rescan -refresh -rescan-vmfs",
			    h->name));
}

/* ---- ESXi ----------------------------------------------------------------- */

static void check_build(const struct vs_usual *u, const struct vs_host *h,
			struct vs_found_list *l)
{
	char build[48];
	const char *most;
	int n, others;

	snprintf(build, sizeof(build), "%s-%s", h->facts->setup.version,
		 h->facts->setup.build);
	most = vs_usual_value(u, "esxi", "", &n, &others);
	if (!h->facts->setup.build[0] || !most || !strcmp(most, build))
		return;
	vs_found_add(l, VS_CHECK_ESXI_ODD, h->name, vs_strdup(build),
		vs_asprintf("%s, as on %d hosts", most, n), esxi_update(h));
}

static const char *policy_words(const char *name)
{
	return !strcmp(name, "dynamic") ? "Balanced" :
	       !strcmp(name, "low") ? "Low Power" :
	       !strcmp(name, "custom") ? "Custom" : name;
}

static void check_settings(const struct vs_host *h, struct vs_found_list *l)
{
	const struct vs_host_facts *f = h->facts;

	if (f->setup.power[0] && strcmp(f->setup.power, "static"))
		vs_found_add(l, VS_CHECK_POWER_POLICY, h->name,
			vs_strdup(policy_words(f->setup.power)),
			vs_strdup("High Performance"),
			vs_asprintf("govc host.esxcli -host %s system settings advanced set -o /Power/CpuPolicy -s 'High Performance'",
				    h->name));
	if (f->setup.clocks == 0)
		vs_found_add(l, VS_CHECK_HOST_CLOCK, h->name,
			vs_strdup("no NTP or PTP server"),
			vs_strdup("the time servers of the site"),
			vs_asprintf("govc host.date.change -host %s -server NTP-SERVER\n"
				    "govc host.service -host %s enable ntpd\n"
				    "govc host.service -host %s start ntpd",
				    h->name, h->name, h->name));
	if (f->setup.reboot == 1)
		vs_found_add(l, VS_CHECK_HOST_REBOOT, h->name,
			vs_strdup("a reboot is required"),
			vs_strdup("none is"), vs_check_reboot(h, ""));
}

/* One finding of all its GPUs; one that is passed through is another's. */
static void check_gpus(const struct vs_check_site *s, const struct vs_host *h,
		       struct vs_found_list *l)
{
	const struct vs_host_facts *f = h->facts;
	bool wanted = false;

	for (size_t a = 0; a < s->nadapters; a++)
		wanted |= vs_adapter_type_info(&s->adapters[a])->by_profile;
	for (int i = 0; wanted && i < f->ngpus; i++) {
		const struct vs_gpu_facts *g = &f->gpus[i];

		VS_FREE char *set = NULL;

		if (!strcmp(g->type, "sharedDirect") ||
		    !strcmp(g->type, "direct"))
			continue;
		set = vs_asprintf("govc host.esxcli -host %s graphics host set --default-type SharedPassthru",
				  h->name);
		vs_found_add(l, VS_CHECK_GPU_MODE, h->name,
			vs_asprintf("GPU %s: %s", g->pci, g->type),
			vs_strdup("shared direct"), vs_check_reboot(h, set));
		return;
	}
}

/* Real hosts of several NUMA nodes list no PCI device with any of them. */
static void check_numa(const struct vs_check_site *s, const struct vs_host *h,
		       struct vs_found_list *l)
{
	const struct vs_profile *asks = NULL;
	int rows = 0;

	for (size_t p = 0; p < s->nprofiles; p++)
		if (concerns(s, h, p) && s->profiles[p].hw.numa_pf)
			asks = &s->profiles[p];
	for (int i = 0; i < h->npfs; i++) {
		if (h->pfs[i].numa >= 0)
			return;
		rows++;
	}
	if (!asks || !rows || h->numa_nodes < 2)
		return;
	vs_found_add(l, VS_CHECK_NUMA_UNKNOWN, h->name,
		vs_asprintf("no PCI device has a NUMA node, of %d",
			    h->numa_nodes),
		vs_asprintf("the NUMA node of the PFs of adapter %s",
			    asks->adapter->name),
		vs_strdup("vsphere.conf: PartitionName=... NumaAffinity=none\t# or update the host's BIOS and ESXi"));
}

static void check_unread(const struct vs_check_site *s,
			 const struct vs_host *h, struct vs_found_list *l)
{
	const struct vs_host_facts *f = h->facts;
	char lacks[120];

	snprintf(lacks, sizeof(lacks), "%s%s%s%s%s",
		 !f || !f->setup.power[0] ? ", power policy" : "",
		 !f || !f->setup.build[0] ? ", product" : "",
		 !f || f->setup.clocks < 0 ? ", time servers" : "",
		 !h->pfs_known ? ", PFs" : "",
		 !f || f->setup.reboot < 0 ? ", need of a reboot" : "");
	if (!lacks[0])
		return;
	vs_found_add(l, VS_CHECK_HOST_UNREAD, h->name,
		vs_asprintf("not read: %s", lacks + 2), vs_strdup("readable"),
		vs_check_readonly(s->user));
}

/* Devices that an adapter of vsphere.conf would give, and that the host doesn't,
 * or that we can't count. A device that no adapter names is no finding. */
static void check_idle(const struct vs_host *h, struct vs_found_list *l)
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

void vs_check_host(const struct vs_check_site *s, const struct vs_usual *u,
		   const struct vs_host *h, struct vs_found_list *l)
{
	bool old;

	if (!h->connected)
		return;		/* what it says is of yesterday */
	check_unread(s, h, l);
	old = check_hardware(s, h, l);
	check_cores(s, h, l);
	check_memory(s, h, l);
	check_numa(s, h, l);
	vs_check_host_capacity(s, u, h, l);
	check_store(s, h, l);
	for (size_t a = 0; a < s->nadapters; a++) {
		/* An opaque network is no host's fault (engine/checks/networks.c). */
		if (h->nnets && !s->nets[a].opaque)
			check_network(s, u, h, a, l);
		check_mtu(s, h, a, l);
	}
	check_mtu_odd(s, u, h, l);
	if (h->facts) {
		if (!old)
			check_build(u, h, l);
		check_settings(h, l);
		check_gpus(s, h, l);
	}
	vs_check_pfs(s, u, h, l);
	check_idle(h, l);
}
