/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of this module share; no other module includes it. The caller
 * holds the lock. */
#ifndef VS_ENGINE_CHECKS_I_H
#define VS_ENGINE_CHECKS_I_H

#include "engine/checks/checks.h"

struct vs_missing_privilege { char *key, *name, *privs; enum vs_vc_use use; };

struct vs_checked_template {
	struct vs_template_facts facts;
	enum vs_vc_template_fault lack;
};
struct vs_checked_pool { char name[VS_LABEL_LEN], cluster[VS_MOID_LEN];
	int64_t most_mhz, most_mb, own_mhz, own_mb; };

struct vs_checked_store { char name[VS_LABEL_LEN], moid[VS_MOID_LEN]; int64_t free_mb; bool away; };

struct vs_checks {
	/* preflight.c, networks.c: what was judged */
	uint64_t checked;		/* generation of hosts */
	uint64_t judged_epoch;		/* configuration, for more-nodes-than-vfs */
	/* cluster_policy.c */
	bool automated;			/* some VM is, by an override */
	struct vs_missing_privilege *lacks;		/* of rights */
	size_t nlacks;
	struct vs_missing_privilege *excess; size_t nexcess;
	bool rights_known;
	/* site_checks.c, shared_checks.c */
	struct vs_checked *hosts, *site;	/* NULL: not checked yet */
	uint64_t hosts_seen;		/* inv.hosts_itself that was checked */
	bool stale;			/* what they ask beside that changed */
	bool site_stale;
	bool look;			/* vCenter has to be read again */
	int beside;	/* vs_free_capacity.beside that was judged */
	int64_t at_ms;			/* hosts were checked then, 0: never */
	int64_t read_ms;		/* of the last slow beat */
	/* Readings of what vCenter doesn't stream: begun, told, and judged
	 * together with the hosts of that time. */
	uint64_t begun, told, judged;
	struct vs_checked_template *templates;
	size_t ntemplates;
	struct vs_checked_pool *pools;
	size_t npools;
	struct vs_checked_store *stores;
	size_t nstores;
};
extern struct vs_checks vs_checks;

/* site_checks.c: nodes of each profile, which the caller frees; what is asked of
 * the site, which refers to both; and the findings in the place of older ones. */
int *vs_checks_nodes(const struct vs_core *c);
struct vs_check_site vs_checks_site(const struct vs_core *c, const int *nodes,
				    const char *names);
void vs_checked_set(struct vs_checked **slot, struct vs_found_list *take);
/* Jobs wait for what a hard finding speaks of: in the preflight. */
void vs_checks_block(struct vs_core *c);
/* shared_checks.c: what hosts share; false: the pass has to restart. */
bool vs_checks_share(struct vs_core *c);
bool vs_stores_away(void);
/* findings_log.c: logs what came and what went. */
void vs_checks_publish(const struct vs_found_list *old,
		       const struct vs_found_list *now);

/* The preflight's: networks.c, cluster_policy.c, other_cluster.c */
void vs_networks_check(struct vs_core *c);
bool vs_host_draws(const struct vs_core *c, const struct vs_host *h, size_t a);
void vs_guards_check(struct vs_core *c);
void vs_rights_check(struct vs_core *c);
void vs_other_cluster_check(struct vs_core *c);
bool vs_other_cluster_is_stale(struct vs_core *c);	/* judge it again */

#endif
