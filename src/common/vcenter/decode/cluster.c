/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a cluster does with VMs by itself: DRS chooses a host at power-on, HA
 * starts a VM again on another one, DPM switches hosts off. Read with the names and on each slow beat,
 * from configurationEx, whole: a path may not descend into what it really is.
 *
 * Rules: a value that vCenter doesn't send is unknown, never "no": no other
 * check would notice. A VM's override counts where DRS looks at overrides at
 * all. Partial automation is automation: it is the placement at power-on
 * (vSphere API, DrsBehavior).
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/decode/objects.h"

static enum vs_vc_auto chooses(const char *behavior)
{
	return !*behavior ? VS_VC_AUTO_UNKNOWN :
	       !strcmp(behavior, "manual") ? VS_VC_AUTO_NO : VS_VC_AUTO_YES;
}

/* Partial automation only recommends what to move. */
static bool moves(const char *behavior)
{
	return !strcmp(behavior, "fullyAutomated");
}

static enum vs_vc_auto drs_of(struct vs_j drs)
{
	struct vs_j enabled = vs_j_opt(drs, "enabled");

	if (vs_j_null(enabled))
		return VS_VC_AUTO_UNKNOWN;
	if (!vs_j_bool(enabled))
		return VS_VC_AUTO_NO;
	return chooses(vs_j_str_or(vs_j_opt(drs, "defaultVmBehavior"), ""));
}

/*
 * False: DRS or HA is off, and what else is set, for single VMs too, waits for
 * it to be on. What is not said may be.
 */
static bool in_force(struct vs_j service)
{
	return vs_j_bool_or(vs_j_opt(service, "enabled"), true);
}

/*
 * Without host monitoring HA starts nothing again, after an isolation or a
 * datastore's loss neither (vSphere Availability, "Configure VMCP"). VM
 * monitoring is apart: it resets a guest where it is.
 */
static bool ha_in_force(struct vs_j das)
{
	return in_force(das) &&
	       strcmp(vs_j_str_or(vs_j_opt(das, "hostMonitoring"), ""),
		      "disabled") != 0;
}

static enum vs_vc_auto ha_of(struct vs_j das)
{
	struct vs_j vms = vs_j_opt(das, "defaultVmSettings");

	if (vs_j_null(vs_j_opt(das, "enabled")))
		return VS_VC_AUTO_UNKNOWN;
	if (!ha_in_force(das))
		return VS_VC_AUTO_NO;
	return strcmp(vs_j_str_or(vs_j_opt(vms, "restartPriority"), ""),
		      "disabled") ? VS_VC_AUTO_YES : VS_VC_AUTO_NO;
}

static struct vs_vc_override *override_of(struct vcx_cluster *c, struct vs_j o)
{
	const char *vm = vs_j_ref(vs_j_opt(o, "key"), NULL);

	for (size_t i = 0; i < c->noverrides; i++)
		if (!strcmp(c->overrides[i].vm, vm))
			return &c->overrides[i];
	VS_GROW(c->overrides, c->capoverrides, c->noverrides + 1);
	c->overrides[c->noverrides] = (struct vs_vc_override){
		.vm = vs_strdup(vm) };
	return &c->overrides[c->noverrides++];
}

static void drs_override(struct vcx_cluster *c, struct vs_j o)
{
	const char *behavior = vs_j_str_or(vs_j_opt(o, "behavior"), "");
	bool on = vs_j_bool_or(vs_j_opt(o, "enabled"), true);
	struct vs_vc_override *to = override_of(c, o);

	to->drs = on ? chooses(behavior) : VS_VC_AUTO_NO;
	to->moves = on && moves(behavior);
}

static void ha_override(struct vcx_cluster *c, struct vs_j o)
{
	const char *prio = vs_j_str_or(vs_j_opt(vs_j_opt(o, "dasSettings"),
			"restartPriority"),
		vs_j_str_or(vs_j_opt(o, "restartPriority"), ""));

	if (!*prio || !strcmp(prio, "clusterRestartPriority"))
		return;
	override_of(c, o)->ha = strcmp(prio, "disabled") ? VS_VC_AUTO_YES :
		VS_VC_AUTO_NO;
}

/* A part of DRS: off with it. Hosts may have their own word, which only turns
 * it off or on for them; one that is automated will do. */
static bool dpm_automated(struct vs_j conf)
{
	struct vs_j dpm = vs_j_opt(conf, "dpmConfigInfo");
	struct vs_j hosts = vs_j_opt(conf, "dpmHostConfig");
	bool all = !strcmp(vs_j_str_or(vs_j_opt(dpm, "defaultDpmBehavior"), ""),
			   "automated");

	if (!in_force(vs_j_opt(conf, "drsConfig")) ||
	    !vs_j_bool_or(vs_j_opt(dpm, "enabled"), false))
		return false;
	for (size_t i = 0, n = vs_j_len(hosts); i < n && !all; i++) {
		struct vs_j h = vs_j_at(hosts, i);

		all = vs_j_bool_or(vs_j_opt(h, "enabled"), true) &&
			!strcmp(vs_j_str_or(vs_j_opt(h, "behavior"), ""),
				"automated");
	}
	return all;
}

void vs_vcx_cluster_forget(struct vcx_cluster *c)
{
	for (size_t i = 0; i < c->noverrides; i++)
		free((char *)c->overrides[i].vm);
	free(c->overrides);
	c->overrides = NULL;
	c->noverrides = c->capoverrides = 0;
	c->drs = c->ha = VS_VC_AUTO_UNKNOWN;
	c->dpm = c->moves = false;
}

void vs_vcx_cluster_set(struct vcx_cluster *c, struct vs_j conf)
{
	struct vs_j drs = vs_j_opt(conf, "drsConfig");
	struct vs_j drs_vms = vs_j_opt(conf, "drsVmConfig");
	struct vs_j ha_vms = vs_j_opt(conf, "dasVmConfig");
	size_t n = vs_j_len(drs_vms);

	vs_vcx_cluster_forget(c);
	c->drs = drs_of(drs);
	c->moves = c->drs == VS_VC_AUTO_YES &&
		moves(vs_j_str_or(vs_j_opt(drs, "defaultVmBehavior"), ""));
	c->ha = ha_of(vs_j_opt(conf, "dasConfig"));
	c->dpm = dpm_automated(conf);
	if (!in_force(drs) ||
	    !vs_j_bool_or(vs_j_opt(drs, "enableVmBehaviorOverrides"), true))
		n = 0;
	for (size_t i = 0; c->drs != VS_VC_AUTO_UNKNOWN && i < n; i++)
		drs_override(c, vs_j_at(drs_vms, i));
	n = ha_in_force(vs_j_opt(conf, "dasConfig")) ? vs_j_len(ha_vms) : 0;
	for (size_t i = 0; i < n; i++)
		ha_override(c, vs_j_at(ha_vms, i));
}

struct vs_vc_cluster vs_vcx_cluster_view(const struct vcx_cluster *c)
{
	return (struct vs_vc_cluster){
		.name = c->name, .moid = c->moid, .pool_moid = c->pool_moid,
		.drs = c->drs, .ha = c->ha, .dpm = c->dpm, .moves = c->moves,
		.overrides = c->overrides, .noverrides = c->noverrides };
}
