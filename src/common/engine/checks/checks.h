/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the preflight's files and the reports ask of each other: a part of
 * core_i.h, which includes it.
 */
#ifndef VS_ENGINE_CHECKS_H
#define VS_ENGINE_CHECKS_H

/* preflight.c, its checks: networks.c, cluster_policy.c; lock held */
void vs_preflight(struct vs_core *c);
void vs_reach_check(struct vs_core *c);
/* Does the adapter take VFs of this PF? */
bool vs_pf_draws(const struct vs_core *c, size_t a, const struct vs_pf *pf);
/* mac_shared.c: other VMs with a node's MAC; lock held. */
void vs_macs_check(struct vs_core *c);
/* The VM is not this cluster's, and has a MAC that a node's VM could have. */
bool vs_mac_may_be_shared(const struct vs_core *c, const struct vs_vm *vm);
/* other_cluster.c: another Slurm cluster's VMs on our PFs; lock held. */
void vs_beside_check(struct vs_core *c);
bool vs_beside_stale(struct vs_core *c);	/* it has to be judged anew */
/* That it has `vfs` of this PF of the host, by its id; NULL: no matter. To be
 * freed. */
char *vs_beside_words(const struct vs_core *c, const struct vs_host *h, int pf,
		      int vfs);
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

/* template_host.c: the host on which a profile's template is registered; lock held.
 * Where it was seen; is it there now; what mends it, to be free()d. */
void vs_template_host_told(struct vs_core *c, size_t profile,
			   const struct vs_vc_template *t);
void vs_template_hosts_pass(struct vs_core *c);
char *vs_template_host_mend(const struct vs_core *c, size_t profile);
/* Did the node's clone on that host (moId) fail because the template's isn't there,
 * or may it have? */
bool vs_template_host_failed(const struct vs_core *c, const struct vs_node *n,
			     const char *host, const struct vs_err *err);

/* report*.c: parts of reports; lock held unless said */
int64_t vs_report_epoch(int64_t mono_ms);	/* as seconds since the epoch */
void vs_report_str(struct json_object *o, const char *key, const char *s);
void vs_report_notes(struct vs_core *c, struct json_object *top,
		     bool operators);
const char *vs_report_host_state(const struct vs_core *c,
				 const struct vs_host *h);	/* lock held */
const char *vs_report_slurm_state(uint32_t flags);
const char *vs_report_vm_state(struct vs_core *c, const struct vs_node *n,
			       const struct vs_vm *vm);	/* lock held */
/* The lock is held, and lent between two hosts. */
void vs_report_hosts(struct vs_core *c, struct json_object *top);
void vs_report_jobs(struct vs_core *c, struct json_object *top,
		    uint32_t uid);				/* no lock */
void vs_report_times(struct json_object *top);
void vs_report_suspects(struct vs_core *c, struct json_object *top);
void vs_report_reconcile(struct vs_core *c, struct json_object *top,
			 uint32_t uid);		/* no lock held */

#endif
