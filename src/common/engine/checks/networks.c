/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which PFs the adapters draw on: is there any at all, and are there no more
 * nodes than VFs (more-nodes-than-vfs). The lock is held.
 *
 * NSX's segments: SR-IOV and PVRDMA NICs are none of an overlay's, and which
 * segment is one vCenter doesn't say; an opaque network (N-VDS) is of a vSphere
 * before 8, and has no port group.
 *
 * Rules: a host of which something isn't known yet may have what is looked for.
 * More-nodes-than-vfs is judged when a configuration comes into force; VFs that
 * go with a host later are reported, and stop no job.
 */
#include <stdio.h>
#include <string.h>
#include "engine/checks/checks_i.h"
#include "util/mem.h"

static bool takes_vf(const struct vs_core *c, size_t a)
{
	return vs_adapter_vfs(&c->adapters[a]) > 0;
}

bool vs_pf_draws(const struct vs_core *c, size_t a, const struct vs_pf *pf)
{
	vs_assert_locked();
	return takes_vf(c, a) &&
	       vs_pf_reaches(&c->adapters[a], &c->nets[a], pf);
}

bool vs_host_draws(const struct vs_core *c, const struct vs_host *h, size_t a)
{
	for (int p = 0; p < h->npfs; p++)
		if (h->pfs[p].vfs && vs_pf_draws(c, a, &h->pfs[p]))
			return true;
	return false;
}

/* Adds a finding, why, and blocks new jobs of the adapter. */
static void block_adapter(struct vs_core *c, size_t a, const char *why,
			  enum vs_check code, const char *is,
			  const char *should, const char *fix)
{
	vs_finding_add(VS_STOPS_JOBS,
		       &(struct vs_says) { code, c->adapters[a].name, is,
					   should, fix }, "%s", why);
	for (size_t p = 0; p < c->nprofiles; p++)
		if (c->profiles[p].adapter == &c->adapters[a] ||
		    c->profiles[p].adapter->with == &c->adapters[a])
			vs_host_block(c, p, why);
}

/* ---- uplinks -------------------------------------------------------------- */

/* The network is on this host, but no NIC of it can get there. */
bool vs_host_unplugged(const struct vs_core *c, const struct vs_host *h,
		       size_t a)
{
	vs_assert_locked();
	return takes_vf(c, a) && h->pfs_known && vs_host_cluster(c, h) >= 0 &&
	       vs_adapter_nics(&c->adapters[a]) &&
	       vs_host_has_net(h, c->nets[a].moid) && !vs_host_draws(c, h, a);
}

static bool unreachable(const struct vs_core *c, size_t a, bool *no_net)
{
	bool some = false;

	*no_net = true;
	for (const struct vs_host *h = c->inv.hosts; h; h = h->hh.next) {
		if (vs_host_cluster(c, h) < 0)
			continue;
		if (!h->pfs_known ||
		    (!h->nnets && vs_adapter_nics(&c->adapters[a])))
			return false;
		some = true;
		if (!vs_host_on_net(h, &c->adapters[a], &c->nets[a]))
			continue;
		*no_net = false;
		if (!takes_vf(c, a) || vs_host_draws(c, h, a))
			return false;
	}
	return some;
}

/* What hosts have by name, and none of them has this one. */
static void no_named(struct vs_core *c, size_t a)
{
	const struct vs_adapter *ad = &c->adapters[a];
	bool class = vs_adapter_type_info(ad)->by_class;
	char should[VS_DEVICE_LABEL + 20], why[400];

	snprintf(should, sizeof(should), "%s=%s", class ? "DeviceClass" :
		 "Profile", ad->label);
	snprintf(why, sizeof(why), class ?
		 "AdapterName=%s: no host offers devices of %s: install the vendor's driver on the hosts; the class must not be that of a NIC on a network (hardware.dvxClasses)" :
		 "AdapterName=%s: no host offers %s: install the GPU vendor's manager on the hosts, and set their GPUs to \"shared direct\" (vSphere Client: host, Configure, Graphics)",
		 ad->name, should);
	block_adapter(c, a, why, VS_CHECK_ADAPTER_UPLINK, "no device", should,
		      class ? "govc object.collect -json HOST hardware.dvxClasses" :
		      "govc host.esxcli -host HOST graphics host set --default-type SharedPassthru");
}

static void no_device(struct vs_core *c, size_t a)
{
	const struct vs_adapter *ad = &c->adapters[a];
	const char *quote = ad->label[0] ? "'" : "";
	char ids[160], why[400];

	if (vs_adapter_named(ad)) {
		no_named(c, a);
		return;
	}
	snprintf(ids, sizeof(ids), "Vendor=0x%04x Device=0x%04x%s%s%s%s",
		 (unsigned int)ad->vendor, (unsigned int)ad->device,
		 ad->label[0] ? " HardwareLabel=" : "", quote, ad->label, quote);
	snprintf(why, sizeof(why),
		 "AdapterName=%s: no host offers a device of %s: enable passthrough for it (vSphere Client: host, Configure, PCI Devices), and reboot the host if vCenter asks for it",
		 ad->name, ids);
	block_adapter(c, a, why, VS_CHECK_ADAPTER_UPLINK, "no device", ids,
		      "govc host.esxcli -host HOST hardware pci pcipassthru set -d ADDRESS -e true -a");
}

static void check_uplinks(struct vs_core *c, size_t a)
{
	const struct vs_adapter *ad = &c->adapters[a];
	VS_FREE char *fix = NULL;
	char why[400];
	bool no_net;

	if (!unreachable(c, a, &no_net))
		return;
	if (!no_net && !vs_adapter_nics(ad)) {
		no_device(c, a);
		return;
	}
	fix = vs_asprintf("govc dvs.add -dvs %s -pnic VMNIC HOST",
			  vs_check_switch_name(&c->inv, &c->nets[a]));
	if (no_net)
		snprintf(why, sizeof(why),
			 "AdapterName=%s: no host has Network=%s", ad->name,
			 ad->network);
	else if (ad->pf[0])
		snprintf(why, sizeof(why),
			 "AdapterName=%s: on no host is PF=%s an uplink of Network=%s with VFs",
			 ad->name, ad->pf, ad->network);
	else
		snprintf(why, sizeof(why),
			 "AdapterName=%s: no host has an uplink of Network=%s with VFs",
			 ad->name, ad->network);
	block_adapter(c, a, why, no_net ? VS_CHECK_ADAPTER_NETWORK :
		      VS_CHECK_ADAPTER_UPLINK, no_net ? "on no host" :
		      "no uplink with VFs", ad->network, fix);
}

/* True: it can't be used, whatever hosts have. */
static bool check_segment(struct vs_core *c, size_t a)
{
	const struct vs_adapter *ad = &c->adapters[a];
	const struct vs_network *net = &c->nets[a];
	char why[400];

	if (net->opaque)
		snprintf(why, sizeof(why),
			 "AdapterName=%s: Network=%s is an opaque NSX network, which has no port group: name a port group of a distributed switch",
			 ad->name, ad->network);
	else if (net->nsx && vs_adapter_kinds[ad->type].rdma)
		snprintf(why, sizeof(why),
			 "AdapterName=%s: Network=%s is an NSX segment, where NICs of Type=%s may not work (on an overlay they never do): name a port group with a VLAN, created in vCenter on the switch of the PFs",
			 ad->name, ad->network,
			 vs_adapter_type_info(ad)->name);
	else
		return false;
	block_adapter(c, a, why, VS_CHECK_ADAPTER_NSX, net->opaque ?
		      "an opaque network" : "an NSX segment",
		      "a port group with a VLAN",
		      "govc dvs.portgroup.add -dvs SWITCH -vlan VLAN NAME");
	return true;
}

/* The port group alone keeps root in a VM from another node's MAC on the wire. */
static void check_policy(struct vs_core *c, size_t a)
{
	static const struct { unsigned int bit; const char *name; } rows[] = {
		{ VS_VC_ACCEPTS_MAC_CHANGES, "MAC address changes" },
		{ VS_VC_ACCEPTS_FORGED, "forged transmits" },
		{ VS_VC_ACCEPTS_PROMISCUOUS, "promiscuous mode" },
	};
	const struct vs_adapter *ad = &c->adapters[a];
	char what[80] = "", is[100];
	VS_FREE char *fix = NULL;

	for (size_t i = 0; i < VS_COUNT(rows); i++)
		if (c->nets[a].accepts & rows[i].bit)
			snprintf(what + strlen(what), sizeof(what) -
				 strlen(what), "%s%s", *what ? ", " : "",
				 rows[i].name);
	if (!*what)
		return;
	snprintf(is, sizeof(is), "%s accepted", what);
	fix = vs_asprintf("vSphere Client: %s, Configure, Policies, Edit, Security: Reject for all three (govc has no command for it)",
			  ad->network);
	vs_finding_add(
		VS_STOPS_NOTHING,
		&(struct vs_says) { VS_CHECK_NETWORK_POLICY, ad->name, is,
				    "rejected", fix },
		"AdapterName=%s: the port group %s accepts %s: root in a VM can use another node's MAC address, or read the packets of other VMs",
		ad->name, ad->network, what);
}

/* ---- more-nodes-than-vfs --------------------------------------------------- */

/* Number the adapters by pool: those that share a PF share a number. */
static void pools_number(const struct vs_core *c, size_t *pool)
{
	for (size_t i = 0; i < c->conf->nadapters; i++)
		pool[i] = i;
	for (const struct vs_host *h = c->inv.hosts; h; h = h->hh.next)
		for (int p = 0; p < h->npfs; p++)
			for (size_t a = 0; a < c->conf->nadapters; a++)
				for (size_t b = 0; b < a; b++) {
					size_t from = pool[a], to = pool[b];

					if (from == to ||
					    !vs_pf_draws(c, a, &h->pfs[p]) ||
					    !vs_pf_draws(c, b, &h->pfs[p]))
						continue;
					for (size_t k = 0;
					     k < c->conf->nadapters; k++)
						if (pool[k] == from)
							pool[k] = to;
				}
}

static int pool_vfs(const struct vs_core *c, const size_t *pool, size_t which)
{
	int vfs = 0;

	for (const struct vs_host *h = c->inv.hosts; h; h = h->hh.next) {
		if (vs_host_cluster(c, h) < 0)
			continue;
		for (int p = 0; p < h->npfs; p++)
			for (size_t a = 0; a < c->conf->nadapters; a++)
				if (pool[a] == which &&
				    vs_pf_draws(c, a, &h->pfs[p])) {
					vfs += h->pfs[p].vfs;
					break;
				}
	}
	return vfs;
}

/* *vfs: that all of them take. */
static size_t pool_nodes(const struct vs_core *c, const size_t *pool,
			 size_t which, int *vfs)
{
	size_t nodes = 0;

	*vfs = 0;
	for (size_t i = 0; i < c->nnodes; i++) {
		const struct vs_adapter *a = c->nodes[i].profile->adapter;

		if (pool[a - c->adapters] == which)
			*vfs += vs_adapter_vfs(a);
		else if (!a->with || pool[a->with - c->adapters] != which)
			continue;
		nodes++;
		if (a->with && pool[a->with - c->adapters] == which)
			*vfs += vs_adapter_additional(a);
	}
	return nodes;
}

static void more_nodes_than_vfs(struct vs_core *c, const size_t *pool, size_t a,
				bool broken, bool judge, const char *why)
{
	bool bars = false;

	for (size_t p = 0; p < c->nprofiles; p++) {
		struct vs_profile_capacity *now = &c->now[p];

		const struct vs_adapter *of = c->profiles[p].adapter;

		if (pool[of - c->adapters] != a &&
		    (!of->with || pool[of->with - c->adapters] != a))
			continue;
		now->more_nodes = broken && (judge || now->more_nodes);
		bars |= now->more_nodes;
		if (now->more_nodes)
			vs_host_block(c, p, why);
	}
	if (broken)
		vs_finding_add(bars ? VS_STOPS_JOBS : VS_STOPS_PLANS,
			       &(struct vs_says) {
				       VS_CHECK_MORE_NODES_THAN_VFS,
				       c->adapters[a].name, why,
				       "no more nodes than VFs",
				       "vsphere.conf: AllowMoreNodesThanVFs=yes" },
			       "%s%s", bars ? "" : "VFs have disappeared: ", why);
}

/* How many nodes of an adapter whose VMs take several VFs the hosts hold. */
static size_t rails_room(const struct vs_core *c, size_t a)
{
	size_t room = 0;

	for (const struct vs_host *h = c->inv.hosts; h; h = h->hh.next)
		if (vs_host_cluster(c, h) >= 0)
			room += (size_t)vs_host_vf_vms(h, &c->adapters[a],
						       &c->nets[a]);
	return room;
}

/* An adapter of the pool that has more nodes than hosts can hold, each with
 * all its VFs on one of them; the number of adapters: there is none. */
static size_t rails_short(const struct vs_core *c, const size_t *pool, size_t of,
			  size_t *nodes, size_t *room)
{
	for (size_t a = 0; a < c->conf->nadapters; a++) {
		if (pool[a] != of || vs_adapter_vfs(&c->adapters[a]) < 2)
			continue;
		*nodes = 0;
		for (size_t i = 0; i < c->nnodes; i++)
			*nodes += c->nodes[i].profile->adapter ==
				&c->adapters[a];
		*room = rails_room(c, a);
		if (*nodes > *room)
			return a;
	}
	return c->conf->nadapters;
}

/* Nodes of all adapters that draw on a pool of PFs take no more than its VFs. */
static void check_pool(struct vs_core *c, const size_t *pool, size_t a,
		       bool judge)
{
	int vfs = pool_vfs(c, pool, a), need;
	size_t nodes = pool_nodes(c, pool, a, &need), many = 0, room = 0;
	size_t rails = rails_short(c, pool, a, &many, &room);
	bool several = need != (int)nodes;
	/* An opaque network has no PFs at all, and is refused for itself. */
	bool broken = need > vfs && !c->nets[a].opaque;
	char why[256], each[40] = "";

	if (broken && several)
		snprintf(each, sizeof(each), ", which need %d VFs,", need);
	if (broken || rails == c->conf->nadapters)
		snprintf(why, sizeof(why), "%zu nodes of adapter %s%s%s for %d VFs: define at most as many nodes as there are VFs, or set AllowMoreNodesThanVFs=yes",
			 nodes, c->adapters[a].name, c->conf->nadapters > 1 ?
			 " (and those that share its PFs)" : "", each, vfs);
	else
		snprintf(why, sizeof(why), "%zu nodes of adapter %s with NICsPerNode=%d: the hosts have capacity for %zu of them%s: define no more nodes, or set AllowMoreNodesThanVFs=yes",
			 many, c->adapters[rails].name,
			 c->adapters[rails].per_node, room,
			 c->adapters[rails].rails ?
			 ", each VF on a PF of its own" : "");
	broken |= rails < c->conf->nadapters;
	more_nodes_than_vfs(c, pool, a,
			    broken && !c->conf->allow_more_nodes_than_vfs, judge,
			    why);
}

void vs_networks_check(struct vs_core *c)
{
	VS_FREE size_t *pool = vs_calloc(c->conf->nadapters + 1, sizeof(*pool));
	bool judge = vs_checks.judged_epoch != c->epoch;

	for (size_t a = 0; a < c->conf->nadapters; a++)
		if (!check_segment(c, a)) {
			check_uplinks(c, a);
			check_policy(c, a);
		}
	pools_number(c, pool);
	for (size_t a = 0; a < c->conf->nadapters; a++)
		if (pool[a] == a && takes_vf(c, a))
			check_pool(c, pool, a, judge);
	vs_checks.judged_epoch = c->epoch;
}
