/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What vCenter would do behind our back, and what it would not let us do: the
 * clusters' DRS and HA for passthrough VMs, the account's rights. Delivered on
 * the slow beat, judged in the preflight.
 *
 * Rules: DRS and HA that can't be read count as automated, because no other
 * check would notice; rights that can't be asked for refuse no job, because
 * vCenter checks them itself. A VM's override counts before its cluster. A
 * cluster by which no VF of an adapter can be had says nothing about that
 * adapter. The lock is held.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/checks/checks_i.h"
#include "util/mem.h"
#include "util/time.h"

/* ---- what the slow beat brings ---------------------------------------------- */

/* What can't be read counts as automated. */
static void guard_fill(struct vs_cluster_policy *g,
		       const struct vs_vc_cluster *cl)
{
	vs_strlcpy(g->cluster, cl->moid, sizeof(g->cluster));
	vs_strlcpy(g->name, cl->name, sizeof(g->name));
	g->moves = cl->moves;
	g->drs_unread = cl->drs == VS_VC_AUTO_UNKNOWN;
	g->ha_unread = cl->ha == VS_VC_AUTO_UNKNOWN;
	if (cl->drs == VS_VC_AUTO_YES)
		snprintf(g->drs, sizeof(g->drs),
			 "DRS of cluster %s chooses hosts automatically: set it to manual for VMs with VFs",
			 cl->name);
	else if (g->drs_unread)
		snprintf(g->drs, sizeof(g->drs),
			 "DRS of cluster %s cannot be read: VMs with VFs need it in manual mode",
			 cl->name);
	if (cl->ha == VS_VC_AUTO_YES)
		snprintf(g->ha, sizeof(g->ha),
			 "HA of cluster %s would restart VMs without Slurm: disable its restart priority for VMs with VFs",
			 cl->name);
	else if (g->ha_unread)
		snprintf(g->ha, sizeof(g->ha),
			 "HA of cluster %s cannot be read: VMs with VFs need its restart priority disabled",
			 cl->name);
	if (cl->dpm)
		snprintf(g->dpm, sizeof(g->dpm),
			 "DPM of cluster %s powers off idle hosts and wakes none for VMs that have a host: hosts in standby get no VM; set DPM to off or manual, or disable it for the hosts with VFs",
			 cl->name);
}

static enum vs_override override_of(enum vs_vc_auto a)
{
	return a == VS_VC_AUTO_YES ? VS_AUTOMATED :
	       a == VS_VC_AUTO_NO ? VS_LEFT_ALONE : VS_AS_CLUSTER;
}

static void overrides_set(struct vs_core *c, const struct vs_vc_cluster *cl)
{
	for (size_t i = 0; i < cl->noverrides; i++) {
		const struct vs_vc_override *o = &cl->overrides[i];
		struct vs_vm *vm = vs_vm_get(&c->inv, o->vm);

		if (!vm)
			continue;
		vm->policy.drs = override_of(o->drs);
		vm->policy.drs_moves = o->moves;
		vm->policy.ha = override_of(o->ha);
		vs_checks.automated |= vm->policy.drs == VS_AUTOMATED ||
			vm->policy.ha == VS_AUTOMATED;
	}
}

void vs_guards_set(struct vs_core *c, const struct vs_vc_cluster *clusters,
		   size_t n)
{
	struct vs_cluster_policy *now = vs_calloc(n + 1, sizeof(*now));
	bool was = vs_checks.automated;

	vs_assert_locked();
	for (struct vs_vm *vm = c->inv.vms; vm; vm = vm->hh.next)
		vm->policy.drs = vm->policy.ha = VS_AS_CLUSTER;
	vs_checks.automated = false;
	for (size_t i = 0; i < n; i++) {
		guard_fill(&now[i], &clusters[i]);
		overrides_set(c, &clusters[i]);
	}
	if (was || vs_checks.automated || n != c->nguards ||
	    (n && memcmp(now, c->guards, n * sizeof(*now))))
		vs_nodes_mark_changed(c);
	free(c->guards);
	c->guards = now;
	c->nguards = n;
	vs_findings_outdate();
}

static void lacks_free(struct vs_missing_privilege **of, size_t *n)
{
	for (size_t i = 0; i < *n; i++) {
		free((*of)[i].key);
		free((*of)[i].name);
		free((*of)[i].privs);
	}
	free(*of);
	*of = NULL;
	*n = 0;
}

static struct vs_missing_privilege *lacks_copy(
	const struct vs_vc_missing_privilege *of, size_t n)
{
	struct vs_missing_privilege *out = vs_calloc(n + 1, sizeof(*out));

	for (size_t i = 0; i < n; i++)
		out[i] = (struct vs_missing_privilege) { vs_strdup(of[i].key),
			vs_strdup(of[i].name), vs_strdup(of[i].privs),
			of[i].use };
	return out;
}

/* What couldn't be asked this time is as it was. */
void vs_rights_set(const struct vs_vc_slow *s)
{
	if (!s->rights_known)
		return;
	vs_rights_forget();
	vs_checks.rights_known = true;
	vs_checks.lacks = lacks_copy(s->lacks, s->nlacks);
	vs_checks.nlacks = s->nlacks;
	vs_checks.excess = lacks_copy(s->excess, s->nexcess);
	vs_checks.nexcess = s->nexcess;
	vs_findings_outdate();
}

void vs_rights_forget(void)
{
	vs_assert_locked();
	lacks_free(&vs_checks.lacks, &vs_checks.nlacks);
	lacks_free(&vs_checks.excess, &vs_checks.nexcess);
	vs_checks.rights_known = false;
}

/* ---- the judgement: DRS and HA ----------------------------------------------- */

static bool serves(const struct vs_core *c, const struct vs_cluster_policy *g,
		   size_t a)
{
	const struct vs_adapter *with = c->adapters[a].with;

	for (const struct vs_host *h = c->inv.hosts; h; h = h->hh.next)
		if (!strcmp(h->cluster, g->cluster) &&
		    (vs_host_draws(c, h, a) || (with &&
		     vs_host_draws(c, h, (size_t)(with - c->adapters)))))
			return true;
	return false;
}

static char *cluster_path(const struct vs_core *c,
			  const struct vs_cluster_policy *g)
{
	return vs_asprintf("/%s/host/%s", c->conf->datacenter ?
			   c->conf->datacenter : "DATACENTER", g->name);
}

/* Managed VMs are recreated: an override of theirs would come too late, so it
 * is the cluster's default that must be off. govc doesn't know that one. */
static char *ha_fix(const struct vs_core *c, const struct vs_cluster_policy *g)
{
	VS_FREE char *path = cluster_path(c, g);

	return vs_asprintf(
		"# for each VM of others that HA must still restart:\n"
		"# govc cluster.override.change -cluster %s -vm VM -ha-restart-priority medium\n"
		"# then, in the vSphere Client: %s, Configure, vSphere Availability, Edit, VM restart priority: Disabled\n"
		"# or, if HA protects no other VMs: govc cluster.change -ha-enabled=false %s",
		path, g->name, path);
}

static void found_drs(const struct vs_core *c, const struct vs_cluster_policy *g)
{
	VS_FREE char *path = cluster_path(c, g);
	VS_FREE char *fix = vs_asprintf("govc cluster.change -drs-mode manual %s",
					path);

	vs_finding_add(VS_STOPS_JOBS,
		       &(struct vs_says) {
			       VS_CHECK_DRS, g->name, g->drs_unread ?
			       "not readable" : "DRS chooses hosts",
			       "manual (off deletes the cluster's resource pools)",
			       fix },
		       "%s", g->drs);
}

static void found_ha(const struct vs_core *c, const struct vs_cluster_policy *g)
{
	VS_FREE char *fix = ha_fix(c, g);

	vs_finding_add(VS_STOPS_JOBS,
		       &(struct vs_says) {
			       VS_CHECK_HA, g->name, g->ha_unread ?
			       "not readable" : "HA restarts VMs",
			       "default restart priority disabled, or HA off",
			       fix },
		       "%s", g->ha);
}

static void check_guard(struct vs_core *c, const struct vs_cluster_policy *g)
{
	const char *why = g->drs[0] ? g->drs : g->ha;
	bool met = false;

	for (size_t p = 0; p < c->nprofiles; p++) {
		size_t a = (size_t)(c->profiles[p].adapter - c->adapters);

		if (!serves(c, g, a))
			continue;
		met = true;
		if (why[0] && !c->now[p].barred_new[0])
			vs_strlcpy(c->now[p].barred_new, why,
				   sizeof(c->now[p].barred_new));
	}
	if (met && g->drs[0])
		found_drs(c, g);
	if (met && g->ha[0])
		found_ha(c, g);
	if (met && g->dpm[0])
		vs_finding_add(
			VS_STOPS_PLANS,
			&(struct vs_says) {
				VS_CHECK_DPM, g->name, "DPM powers hosts off",
				"off or manual",
				"vSphere Client: Configure, vSphere DRS, Edit, Power Management (govc has no command for it)" },
			"%s", g->dpm);
}

static void found_override(struct vs_core *c, const struct vs_node *n,
			   const struct vs_vm *vm)
{
	bool drs = vm->policy.drs == VS_AUTOMATED;
	const struct vs_cluster_policy *g = vs_cluster_policy_get(c, vm);
	VS_FREE char *path = g ? cluster_path(c, g) : vs_strdup("CLUSTER");
	VS_FREE char *fix = vs_asprintf(
		"govc cluster.override.change -cluster %s -vm %s %s", path,
		vm->name, drs ? "-drs-mode manual" : "-ha-restart-priority disabled");

	vs_finding_add(VS_STOPS_JOBS,
		       &(struct vs_says) {
			       VS_CHECK_VM_OVERRIDE, n->name,
			       drs ? "DRS chooses its host" : "HA restarts it",
			       drs ? "manual or disabled" : "disabled", fix },
		       "node %s: %s", n->name, vs_vm_automated(c, vm));
}

static void check_overrides(struct vs_core *c)
{
	for (size_t i = 0; vs_checks.automated && i < c->nnodes; i++) {
		const struct vs_node *n = &c->nodes[i];
		const struct vs_vm *vm = vs_node_vm(c, n);

		if (vm && (vm->policy.drs == VS_AUTOMATED || vm->policy.ha == VS_AUTOMATED) &&
		    vs_adapter_takes(n->profile->adapter))
			found_override(c, n, vm);
	}
}

void vs_guards_check(struct vs_core *c)
{
	for (size_t i = 0; i < c->nguards; i++)
		check_guard(c, &c->guards[i]);
	check_overrides(c);
}

/* ---- the judgement: rights ---------------------------------------------------- */

/* Do only some VMs take it: of a template, of a network, of a kind? */
static bool is_of_some(const struct vs_missing_privilege *l)
{
	return l->use != VS_VC_FOR_JOBS || !strcmp(l->key, "Template") ||
	       !strcmp(l->key, "Network");
}

static bool takes(const struct vs_profile *p,
		  const struct vs_missing_privilege *l)
{
	if (l->use == VS_VC_FOR_NOTES)
		return p->annotation;
	if (l->use == VS_VC_FOR_SOURCES)
		return p->clone != VS_CLONE_FULL;
	if (l->use == VS_VC_FOR_LINKED)
		return p->clone == VS_CLONE_LINKED;
	if (l->use == VS_VC_FOR_POLICY)
		return p->storage_policy[0];
	return !strcmp(!strcmp(l->key, "Template") ? p->template_name :
		       p->adapter->network, l->name);
}

/* Only jobs whose VMs take it; else all of them. */
static void bar_by(struct vs_core *c, const struct vs_missing_privilege *l,
		   const char *why)
{
	if (!is_of_some(l)) {
		if (!c->unserved[0])
			vs_strlcpy(c->unserved, why, sizeof(c->unserved));
		return;
	}
	for (size_t p = 0; p < c->nprofiles; p++)
		if (takes(&c->profiles[p], l))
			vs_host_block(c, p, why);
}

/* "A.B, C.D on the network ..." into the words of a command. */
static char *role_update(const char *how, const char *privs)
{
	char *out = vs_asprintf("govc role.update %s ROLE", how);

	while (*privs) {
		size_t len = strcspn(privs, ", ");

		if (memchr(privs, '.', len)) {
			VS_FREE char *old = out;

			out = vs_asprintf("%s %.*s", old, (int)len, privs);
		}
		privs += len + strspn(privs + len, ", ");
	}
	return out;
}

/* "Folder=slurm"; caller frees. */
static char *lack_where(const struct vs_missing_privilege *l)
{
	return l->key[0] ? vs_asprintf("%s=%s", l->key, l->name) :
		vs_strdup("vCenter's root");
}

/* At the root the account has Read-only, which is no role to be changed. */
static char *lack_fix(const struct vs_missing_privilege *l, const char *user)
{
	return l->key[0] ? role_update("-a", l->privs) : vs_asprintf(
		"govc role.create ROLE System.Anonymous System.Read System.View %s\n"
		"govc permissions.set -principal '%s' -role ROLE -propagate=true /",
		l->privs, user);
}

/* Above the folder and the pools, it is to read, and no more. */
static void found_excess(const struct vs_missing_privilege *l,
			 const char *user)
{
	bool root = !l->key[0], dc = !strcmp(l->key, "Datacenter");
	VS_FREE char *where = lack_where(l);
	VS_FREE char *is = vs_asprintf("on %s: %s", where, l->privs);
	VS_FREE char *read = vs_check_readonly(user);
	VS_FREE char *fix = root ? vs_strdup(read) :
		dc ? vs_asprintf("%s%s", read, l->name) :
		role_update("-r", l->privs);

	vs_finding_add(
		VS_STOPS_NOTHING,
		&(struct vs_says) { VS_CHECK_RIGHTS_SURPLUS, user, is,
				    root || dc ? "Read-only there" :
						 "without them there",
				    fix },
		"the account has privileges on %s that it does not need there (%s): vCenter cannot protect other objects from the account",
		where, l->privs);
}

/* What is of use for more than jobs' start and end; it stops none of them. */
static const struct { enum vs_check code; const char *then; } uses[] = {
	[VS_VC_FOR_VMOTION] = { VS_CHECK_RIGHTS_VMOTION,
		"VMs stay on a draining host until their jobs end" },
};

static void lacks_for(const struct vs_missing_privilege *l)
{
	VS_FREE char *is = vs_asprintf("without %s", l->privs);
	VS_FREE char *fix = role_update("-a", l->privs);

	vs_finding_add(VS_STOPS_NOTHING, &(struct vs_says) {
		       uses[l->use].code, l->name, is,
		       "the role of slurm-vsphere(7), PRIVILEGES", fix },
		       "the account lacks privileges on %s=%s: %s: %s",
		       l->key, l->name, l->privs, uses[l->use].then);
}

void vs_rights_check(struct vs_core *c)
{
	const char *user = c->conf->username ? c->conf->username : "";
	VS_FREE char *read = vs_check_readonly(user);

	if (!vs_checks.rights_known) {
		vs_finding_add(
			VS_STOPS_NOTHING,
			&(struct vs_says) {
				VS_CHECK_RIGHTS_UNKNOWN, user, "not visible",
				"visible: Read-only at the root, propagating",
				read },
			"vCenter does not show the account's privileges: operations without a privilege fail when they are tried");
		return;
	}
	for (size_t i = 0; i < vs_checks.nlacks; i++) {
		const struct vs_missing_privilege *l = &vs_checks.lacks[i];
		VS_FREE char *where = lack_where(l);
		VS_FREE char *why = vs_asprintf(
			"the account lacks privileges on %s: %s", where,
			l->privs);
		VS_FREE char *is = vs_asprintf("without %s", l->privs);
		VS_FREE char *fix = lack_fix(l, user);
		const struct vs_says says = {
			VS_CHECK_RIGHTS_MISSING, l->key[0] ? l->name : "/", is,
			"the role of slurm-vsphere(7), PRIVILEGES",
			fix };

		if (l->use < VS_COUNT(uses) && uses[l->use].then) {
			lacks_for(l);
			continue;
		}
		if (c->observe) {
			vs_finding_add(VS_STOPS_NOTHING, &says,
				       "for Mode=manage %s", why);
			continue;
		}
		vs_finding_add(VS_STOPS_JOBS, &says, "%s", why);
		bar_by(c, l, why);
	}
	for (size_t i = 0; i < vs_checks.nexcess; i++)
		found_excess(&vs_checks.excess[i], user);
}
