/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of checks/ keep together: no other module includes this. The lock is
 * held. */
#ifndef VS_ENGINE_CHECKS_I_H
#define VS_ENGINE_CHECKS_I_H

#include "engine/state/state.h"

struct vs_missing_privilege { char *key, *name, *privs; enum vs_vc_use use; };

struct vs_checked_template {		/* vs_template_facts, and its texts */
	char name[VS_LABEL_LEN], guest[64];
	char nets[8][VS_MOID_LEN];
	struct vs_template_facts facts;
	enum vs_vc_template_fault lack;
};
struct vs_checked_pool { char name[VS_LABEL_LEN], cluster[VS_MOID_LEN];
	int64_t most_mhz, most_mb, own_mhz, own_mb; };

struct vs_checked_store { char name[VS_LABEL_LEN], moid[VS_MOID_LEN]; int64_t free_mb; bool away; };

struct vs_checks {
	/* preflight.c, networks.c: what was judged */
	uint64_t checked;		/* generation of hosts */
	uint64_t judged_epoch;		/* configuration, for rule A */
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

#endif
