/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions that reading answers: what the cluster is set to, what hosts and
 * ports show, what vCenter computes. Nothing is changed.
 */
#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "util/mem.h"

static void q_version(struct probe *p, struct answer *a)
{
	saw(a, "%s, API release %s chosen", p->about, p->release);
	judge(a, true);
}

/* The cluster's own settings, whole; before questions that go by them. */
void read_cluster(struct probe *p, struct answer *a, struct reply *r)
{
	struct vs_j drs;

	if (ask_get(p, r, "ClusterComputeResource", p->cluster,
		    "configurationEx"))
		saw_err(a, "configurationEx", &r->err);
	drs = vs_j_opt(vs_j_root(&r->doc), "drsConfig");
	p->drs = vs_j_bool_or(vs_j_opt(drs, "enabled"), false);
	vs_str_replace(&p->drs_behavior, vs_j_str_or(
		vs_j_opt(drs, "defaultVmBehavior"), "behaviour not said"));
	p->ha = vs_j_bool_or(vs_j_opt(vs_j_opt(vs_j_root(&r->doc), "dasConfig"),
				      "enabled"), false);
}

static const char *made_of(enum vs_vc_auto v)
{
	return v == VS_VC_AUTO_YES ? "yes" : v == VS_VC_AUTO_NO ? "no" :
		"unknown";
}

static void q_drs(struct probe *p, struct answer *a)
{
	struct reply r;

	read_cluster(p, a, &r);
	saw(a, "DRS %s, %s; our client makes of it that it chooses hosts: %s",
	    p->drs ? "on" : "off", p->drs_behavior, made_of(p->drs_auto));
	if (!r.err.code)
		judge(a, p->drs_auto == VS_VC_AUTO_NO);
	reply_free(&r);
}

static void q_ha(struct probe *p, struct answer *a)
{
	struct reply r;
	struct vs_j das;

	read_cluster(p, a, &r);
	das = vs_j_opt(vs_j_root(&r.doc), "dasConfig");
	saw(a, "HA %s, host monitoring: %s, restart priority by default: %s; our client makes of it that it restarts VMs: %s",
	    p->ha ? "on" : "off",
	    vs_j_str_or(vs_j_opt(das, "hostMonitoring"), "not said"),
	    vs_j_str_or(vs_j_opt(vs_j_opt(das, "defaultVmSettings"),
				 "restartPriority"), "not said"),
	    made_of(p->ha_auto));
	if (!r.err.code)
		judge(a, p->ha_auto == VS_VC_AUTO_NO);
	reply_free(&r);
}

static void q_rights(struct probe *p, struct answer *a)
{
	if (!p->rights_known) {
		saw(a, "vCenter doesn't tell");
		return;
	}
	saw(a, "missing: %s; too many at the root: %s", p->lacks[0] ? p->lacks :
	    "none", p->excess[0] ? p->excess : "none");
	judge(a, !p->lacks[0] && !p->excess[0]);
}

static void q_placevm(struct probe *p, struct answer *a)
{
	struct json_object *o = vs_jb_obj(NULL), *s = vs_jb_obj("PlacementSpec");
	struct json_object *c = vs_jb_obj("VirtualMachineCloneSpec");
	struct reply r;
	size_t n;

	read_cluster(p, a, &r);
	reply_free(&r);
	vs_jb_put(c, "location", vs_jb_obj("VirtualMachineRelocateSpec"));
	vs_jb_bool(c, "template", false);
	vs_jb_bool(c, "powerOn", false);
	vs_jb_str(s, "placementType", "clone");
	vs_jb_ref(s, "vm", "VirtualMachine", p->source);
	vs_jb_str(s, "cloneName", "probe-1");
	vs_jb_put(s, "cloneSpec", c);
	vs_jb_put(o, "placementSpec", s);
	if (ask(p, &r, "ClusterComputeResource", p->cluster, "PlaceVm", o, 0)) {
		saw_err(a, "PlaceVm", &r.err);
		/* What it says where DRS is off. */
		judge(a, !p->drs && !strcmp(r.err.fault, "InvalidState"));
	} else {
		n = vs_j_len(vs_j_opt(vs_j_root(&r.doc), "recommendations"));
		saw(a, "%zu recommendations%s", n,
		    vs_j_null(vs_j_opt(vs_j_root(&r.doc), "drsFault")) ? "" :
		    ", and a drsFault");
		judge(a, p->drs && n > 0);
	}
	reply_free(&r);
}

/* ---- hosts --------------------------------------------------------------------- */

/* fn for each host's property; the host is r's. */
static void each_host(struct probe *p, struct answer *a, const char *path,
		      void (*fn)(struct probe *p, struct answer *a,
				 const struct host *h, struct vs_j value))
{
	size_t n = 0;

	for (size_t i = 0; i < p->nhosts && n < 8 && !probe_stop; i++) {
		struct reply r;

		if (!p->hosts[i].connected)
			continue;
		n++;
		if (ask_get(p, &r, "HostSystem", p->hosts[i].moid, path))
			saw_err(a, path, &r.err);
		else
			fn(p, a, &p->hosts[i], vs_j_root(&r.doc));
		reply_free(&r);
	}
	if (!n)
		saw(a, "no host is connected");
}

static const struct vs_j *pnic_of(struct vs_j pnics, const char *pci,
				  struct vs_j *out)
{
	for (size_t i = 0; i < vs_j_len(pnics); i++) {
		*out = vs_j_at(pnics, i);
		if (!strcmp(vs_j_str_or(vs_j_opt(*out, "pci"), ""), pci))
			return out;
	}
	return NULL;
}

static void host_ports(struct probe *p, struct answer *a, const struct host *h,
		       struct vs_j config)
{
	struct vs_j pnics = vs_j_opt(vs_j_opt(config, "network"), "pnic"), nic;
	struct vs_j pts = vs_j_opt(config, "pciPassthruInfo");

	(void)p;
	for (size_t i = 0; i < vs_j_len(pts); i++) {
		struct vs_j pf = vs_j_at(pts, i), speed;
		const char *pci = vs_j_str_or(vs_j_opt(pf, "id"), "?");

		if (!vs_j_bool_or(vs_j_opt(pf, "sriovActive"), false))
			continue;
		if (!pnic_of(pnics, pci, &nic)) {
			saw(a, "%s %s: SR-IOV is active on what is no NIC",
			    h->name, pci);
			continue;
		}
		speed = vs_j_opt(vs_j_opt(nic, "linkSpeed"), "speedMb");
		saw(a, "%s %s: %s %s, driver %s, %lld VFs, link %lld Mb/s%s",
		    h->name, pci, vs_j_str_or(vs_j_opt(nic, "device"), "?"),
		    vs_j_null(vs_j_opt(nic, "rdmaDevice")) ? "without RDMA" :
		    "with RDMA", vs_j_str_or(vs_j_opt(nic, "driver"), "?"),
		    (long long)vs_j_int_or(vs_j_opt(pf, "numVirtualFunction"),
					   0),
		    (long long)vs_j_int_or(speed, 0),
		    vs_j_null(speed) ? " (no linkSpeed at all)" : "");
		if (vs_j_null(speed))
			judge(a, true);
	}
}

static void q_ports(struct probe *p, struct answer *a)
{
	each_host(p, a, "config", host_ports);
	if (a->verdict == UNKNOWN)
		saw(a, "no active PF is without link: no InfiniBand port, or it has one");
}

static void host_binding(struct probe *p, struct answer *a,
			 const struct host *h, struct vs_j config)
{
	struct vs_j list = vs_j_opt(config, "assignableHardwareBinding");
	int nics = 0;

	for (size_t k = 0; k < h->npfs; k++)
		nics += pf_reaches(p, h, k) ? pf_used(p, h, k) : 0;
	saw(a, "%s: %zu bindings, %d SR-IOV NICs are on", h->name,
	    vs_j_len(list), nics);
	if (nics)
		judge(a, vs_j_len(list) == 0);
}

static void q_binding(struct probe *p, struct answer *a)
{
	each_host(p, a, "config", host_binding);
}

void saw_bindings(struct probe *p, struct answer *a, const struct host *h)
{
	struct reply r;

	if (!ask_get(p, &r, "HostSystem", h->moid, "config"))
		saw(a, "its host has %zu bindings", vs_j_len(vs_j_opt(
			vs_j_root(&r.doc), "assignableHardwareBinding")));
	reply_free(&r);
}

static void q_pool(struct probe *p, struct answer *a)
{
	struct reply r, t;
	const char *env;
	size_t pools = 0, n;

	if (ask_get(p, &r, "ClusterComputeResource", p->cluster,
		    "environmentBrowser")) {
		saw_err(a, "environmentBrowser", &r.err);
		reply_free(&r);
		return;
	}
	env = vs_j_ref(vs_j_root(&r.doc), NULL);
	if (ask(p, &t, "EnvironmentBrowser", env, "QueryConfigTarget", NULL,
		0)) {
		saw_err(a, "QueryConfigTarget", &t.err);
	} else {
		struct vs_j list = vs_j_opt(vs_j_root(&t.doc), "sriov");

		n = vs_j_len(list);
		for (size_t i = 0; i < n; i++)
			pools += !vs_j_null(vs_j_opt(vs_j_at(list, i),
						     "devicePool"));
		saw(a, "%zu PFs, %zu of them in a switch's device pool", n,
		    pools);
		if (n)
			judge(a, pools > 0);
	}
	reply_free(&t);
	reply_free(&r);
}

static void q_size(struct probe *p, struct answer *a)
{
	struct reply r;

	if (!p->nhosts ||
	    ask_get(p, &r, "HostSystem", p->hosts[0].moid, "config")) {
		saw(a, "no host's config could be read");
		return;
	}
	saw(a, "a host's whole config: %zu bytes in %lld ms", r.len,
	    (long long)r.ms);
	/* What we read of it is far less; the limit is on 100 at a time. */
	judge(a, r.len < (64u << 20) / 100);
	reply_free(&r);
}

/* ---- tasks ------------------------------------------------------------------------ */

static bool beat_after(struct probe *p, void *arg)
{
	return p->beats > *(uint64_t *)arg;
}

static void q_tasks(struct probe *p, struct answer *a)
{
	uint64_t was = p->beats;
	struct reply r;

	vs_vc_poll_request(p->vc);
	if (!link_until(p, beat_after, &was, 60000)) {
		saw(a, "the slow beat brought nothing");
		return;
	}
	if (ask_get(p, &r, "TaskManager", vs_vc_id(p->vc, "TaskManager"),
		    "recentTask"))
		saw_err(a, "recentTask", &r.err);
	else
		saw(a, "recentTask has %zu tasks", vs_j_len(vs_j_root(&r.doc)));
	judge(a, !r.err.code);
	reply_free(&r);
}

const struct question read_questions[] = {
	{ "version", READ, "Which vCenter is it, and which API release do both sides speak?",
	  NULL, "8.0.1.0 to 8.0.3.0 is found by hello or by vimServiceVersions.xml",
	  q_version },
	{ "drs", READ, "Is DRS fully automated in the cluster?", NULL,
	  "DRS is off, manual or partially automated for VMs with passthrough",
	  q_drs },
	{ "ha", READ, "Would HA restart VMs?", NULL,
	  "HA is off or its restart priority disabled, for our VMs at least",
	  q_ha },
	{ "rights", READ, "What may the account do, and what not?", NULL,
	  "all that is needed on folder, pool, datastore, network and template, and nothing but reading at the root",
	  q_rights },
	{ "placevm", READ, "What does PlaceVm say to a clone of the template?",
	  NULL, "recommendations where DRS is on, InvalidState where it is off",
	  q_placevm },
	{ "ports", READ, "How do active PFs show: link, RDMA, VFs?", NULL,
	  "InfiniBand ports show as NICs without link (linkSpeed unset); link is no criterion",
	  q_ports },
	{ "binding", READ, "Does config.assignableHardwareBinding list the VFs of SR-IOV NICs?",
	  NULL, "it does not: VFs in use are counted by the VMs' NICs", q_binding },
	{ "pool", READ, "Which PFs are in a switch's device pool, so that vCenter can choose the PF?",
	  NULL, "a PF that is an uplink of a switch is in its pool", q_pool },
	{ "size", READ, "How large are a host's properties?", NULL,
	  "a page of 100 objects is far below 64 MiB", q_size },
	{ "tasks", READ, "Can recentTask be read?", NULL,
	  "it can, and shows tasks of others", q_tasks },
	{ 0 }
};
