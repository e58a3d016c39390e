/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of the site, and the preflight: which findings there are, and which
 * of them block new jobs. The caller holds the lock. What the module's files
 * share: checks_i.h.
 */
#ifndef VS_ENGINE_CHECKS_H
#define VS_ENGINE_CHECKS_H

#include "engine/state/state.h"
#include "plan/checks/checks.h"
#include "vcenter/calls/calls.h"

/* ---- the passes --------------------------------------------------------- */

/* Judges again what has changed: the conditions for all work ... */
void vs_preflight(struct vs_core *c);
/* ... and the site. */
void vs_checks_update(struct vs_core *c, int64_t now_ms);
/* Another configuration is in force. */
void vs_checks_renew(void);

/* ---- what vCenter delivers ----------------------------------------------- */

void vs_checks_template(const struct vs_vc_template *t);
/* A reading of what vCenter doesn't stream has begun; it is complete. */
void vs_checks_reading(void);
void vs_checks_slow(const struct vs_vc_slow *s);
void vs_guards_set(struct vs_core *c, const struct vs_vc_cluster *clusters,
		   size_t n);
void vs_rights_set(const struct vs_vc_slow *s);
void vs_rights_forget(void);	/* another account, perhaps */
/* An operator asks that vCenter is read now. Taken: by run/loop.c. */
void vs_checks_look(void);
bool vs_checks_look_taken(void);

/* ---- what is found --------------------------------------------------------- */

/* The findings of the last pass. The list doesn't change any more, and its
 * readers need no lock. */
struct vs_checked { struct vs_found_list l; int users; };
/* What was found last; NULL: not checked yet. The caller drops both, with the
 * lock. */
void vs_checks_found(struct vs_checked **site, struct vs_checked **hosts);
void vs_checked_drop(struct vs_checked *k);
/* Which reading has begun, and up to which one all is judged, with the hosts of
 * that time; when vCenter delivered the last one, 0: never. */
uint64_t vs_checks_begun(void);
uint64_t vs_checks_judged(void);
int64_t vs_checks_read_ms(void);

/* Returns who else has `vfs` VFs of this PF of the host, by the other Slurm
 * cluster's id, or NULL if it does not matter. The caller frees it. */
char *vs_other_cluster_text(const struct vs_core *c, const struct vs_host *h,
			    int pf, int vfs);
/* Does the adapter take VFs, and may they be this PF's? */
bool vs_pf_draws(const struct vs_core *c, size_t a, const struct vs_pf *pf);
/* The network is on this host, but no NIC of it can get there. */
bool vs_host_unplugged(const struct vs_core *c, const struct vs_host *h,
		       size_t a);

#endif
