/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The preflight, and what is read of clusters for it (the rest: site_checks.h). */
#ifndef VS_ENGINE_CHECKS_H
#define VS_ENGINE_CHECKS_H

#include "engine/state/state.h"

/* preflight.c, its checks: networks.c, cluster_policy.c; lock held */
void vs_preflight(struct vs_core *c);
void vs_networks_check(struct vs_core *c);
/* other_cluster.c: another Slurm cluster's VMs on our PFs; lock held. */
void vs_other_cluster_check(struct vs_core *c);
bool vs_other_cluster_is_stale(struct vs_core *c); /* judge it again */
/* That it has `vfs` of this PF of the host, by its id; NULL: no matter. To be
 * freed. */
char *vs_other_cluster_text(const struct vs_core *c, const struct vs_host *h,
			    int pf, int vfs);
/* Does the adapter take VFs, and may they be this PF's? */
bool vs_pf_draws(const struct vs_core *c, size_t a, const struct vs_pf *pf);
bool vs_host_draws(const struct vs_core *c, const struct vs_host *h, size_t a);
bool vs_host_unplugged(const struct vs_core *c, const struct vs_host *h,
		       size_t a);
void vs_guards_set(struct vs_core *c, const struct vs_vc_cluster *clusters,
		   size_t n);
void vs_guards_check(struct vs_core *c);
void vs_rights_set(const struct vs_vc_slow *s);
void vs_rights_forget(void);	/* another account, perhaps */
void vs_rights_check(struct vs_core *c);

#endif
