/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks whether the host on which a template is registered is connected.
 * vCenter copies a template through that host alone, on whatever host the clone
 * is placed. While the host is away, no clone of the template starts, jobs stay
 * pending with this reason, and a clone that fails for it counts against no
 * node.
 *
 * The inventory shows the state of a host of the configured clusters at once.
 * For another host the periodic poll reads the template's connection state. An
 * unknown state counts as away, and the reason says so. Linked and instant
 * clones continue only if a clone source is ready on each host on which such a
 * VM may be placed. Existing VMs aren't affected unless they must be recreated.
 * The caller holds the core's lock.
 */
#include <string.h>
#include "engine/clone_source/clone_source.h"
#include "engine/state/state.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"

#define UNSURE_TRIES 2		/* vCenter may show it after the fault */

/* ---- parents that serve without the template ------------------------------------ */

static bool has_parent(const struct vs_core *c, size_t p, const char *host,
		       const char *store)
{
	struct vs_clone_source_key key;

	return !vs_clone_source_key_fill(c, &c->profiles[p], host, store,
					 &key) &&
	       vs_clone_source_action(vs_clone_source_choose(
		       &c->inv, &key, c->folder, c->cluster_id)) ==
		       VS_CLONE_SOURCE_READY;
}

static bool host_served(const struct vs_core *c, size_t p,
			const struct vs_host *h)
{
	if (!c->inv.nuses)
		return has_parent(c, p, h->moid, c->store);
	for (size_t i = 0; i < c->inv.nuses; i++)
		if (!strcmp(c->inv.uses[i].cluster, h->cluster) &&
		    vs_host_has_store(h, c->inv.uses[i].store) &&
		    !has_parent(c, p, h->moid, c->inv.uses[i].store))
			return false;
	return true;
}

static bool parents_serve(const struct vs_core *c, size_t p)
{
	bool some = false;

	if (c->profiles[p].clone == VS_CLONE_FULL)
		return false;
	for (const struct vs_host *h = c->inv.hosts; h; h = h->hh.next) {
		if (!vs_host_usable(h) || vs_host_cluster(c, h) < 0)
			continue;
		if (!host_served(c, p, h))
			return false;
		some = true;
	}
	return some;
}

/* ---- the judgement ----------------------------------------------------------------- */

/* Why it can't be cloned, to be free()d; NULL: its host is there. */
static char *away(const struct vs_core *c, size_t p)
{
	const struct vs_profile_capacity *now = &c->now[p];
	const char *name = c->profiles[p].template_name;
	const struct vs_host *h = vs_host_get(&c->inv, now->template_host);

	if (h ? h->connected && h->powered_on :
	    now->template_link == VS_VC_AUTO_YES)
		return NULL;
	if (!h && now->template_link == VS_VC_AUTO_UNKNOWN)
		return vs_asprintf("Template=%s: the connection state of its host is unknown: the account of VCenterUser= needs Read-only on the host",
				   name);
	return vs_asprintf("Template=%s: its host%s%s is not connected%s: connect it, or register the template on another host",
			   name, h ? " " : "", h ? h->name : "",
			   h && h->connected ? ", but in standby or off" : "");
}

/* What others say of the template goes before. */
static bool look(struct vs_core *c, size_t p)
{
	struct vs_profile_capacity *now = &c->now[p];
	VS_FREE char *why = NULL;

	if (!c->profiles[p].template_moid[0] ||
	    (now->missing[0] && !now->hostless))
		return false;
	why = away(c, p);
	if (why && parents_serve(c, p)) {
		free(why);
		why = NULL;
	}
	if (!now->missing[0] && !why)
		return false;
	if (why && !strncmp(now->missing, why, sizeof(now->missing) - 1))
		return false;
	vs_profile_missing_set(c, p, why ? why : "");
	now->hostless = why != NULL;
	return true;
}

void vs_template_host_received(struct vs_core *c, size_t profile,
			       const struct vs_vc_template *t)
{
	struct vs_profile_capacity *now = &c->now[profile];

	vs_assert_locked();
	vs_strlcpy(now->template_host, t->host ? t->host : "",
		   sizeof(now->template_host));
	now->template_link = t->link;
	now->hostless = false;		/* what is missing was reported again */
	look(c, profile);
}

void vs_template_hosts_update(struct vs_core *c)
{
	bool changed = false;

	vs_assert_locked();
	for (size_t p = 0; p < c->nprofiles; p++)
		changed |= look(c, p);
	if (!changed)
		return;
	vs_shared_outdate();
	vs_capacity_freed();
	vs_nodes_mark_changed(c);
}

/* ---- what others ask ------------------------------------------------------------------ */

char *vs_template_host_fix(const struct vs_core *c, size_t profile)
{
	const struct vs_profile_capacity *now = &c->now[profile];
	const struct vs_host *h = vs_host_get(&c->inv, now->template_host);

	if (!h && now->template_link == VS_VC_AUTO_UNKNOWN)
		return vs_check_readonly(c->conf->username);
	return vs_asprintf("govc host.reconnect %s\n# or remove that host from vCenter, and register the template on another:\ngovc vm.register -template -host HOST -ds DATASTORE PATH",
			   h ? h->name : "HOST");
}

static bool speaks_of_link(const struct vs_err *err)
{
	static const char *const types[] = { "HostNotConnected",
		"HostNotReachable", "HostCommunication", "NoHost",
		"InvalidHostConnectionState" };

	for (size_t i = 0; i < VS_COUNT(types); i++)
		if (!strcmp(err->fault, types[i]))
			return true;
	return false;
}

bool vs_template_host_failed(const struct vs_core *c, const struct vs_node *n,
			     const char *host, const struct vs_err *err)
{
	const struct vs_profile_capacity *now =
		&c->now[n->profile - c->profiles];
	const struct vs_host *to = vs_host_get(&c->inv, host);

	if (!speaks_of_link(err))
		return false;
	if (now->hostless)
		return true;
	/* one of the two: vCenter shows which, in a moment */
	return n->retry.tries < UNSURE_TRIES && to && to->connected &&
	       strcmp(now->template_host, host);
}
