/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of what a site has set up: hosts, their PFs and switches,
 * templates, the datastore, pools. Facts go in as plain data, findings come
 * out, each with a code of check_codes.h, what is, what should be, and the
 * command that fixes it. An administrator runs the command: slurm-vsphere has
 * no privileges on hosts.
 *
 * A fact that is unknown causes no finding, except the one that says it is
 * unknown.
 *
 * Owns lists of findings and their texts (vs_found_clear() frees them) and what
 * is usual (vs_usual_free()). The order of calls is: vs_usual_count() and
 * vs_usual_count_capacity() of all hosts, then the checks, then
 * vs_found_sort(). A check adds findings to the list and changes nothing else.
 * No function fails, and none takes a lock: the caller keeps the inventory from
 * changing during the call.
 */
#ifndef VS_PLAN_CHECKS_H
#define VS_PLAN_CHECKS_H

#include "plan/checks/check_codes.h"
#include "plan/inventory/host_facts.h"
#include "plan/placement/placement.h"
#include "plan/inventory/vm_profile.h"

/* ---- findings ----------------------------------------------------------- */
struct vs_found {
	enum vs_check code;
	enum vs_severity severity;
	char *object;			/* its name, as people know it */
	char *is, *should;		/* short, no sentences */
	char *fix;			/* commands, one a line; "": none */
	char pf[VS_PCI_LEN];		/* of the host that is the object, or "" */
	/* That PF takes no VM for it, on the host of this moId. "": none must
	 * be kept away, or placement sees by itself why. */
	char bars[VS_MOID_LEN];
};
struct vs_found_list { struct vs_found *f; size_t n, cap; };

/* All four texts are taken over; the table's severity. Good until the next. */
struct vs_found *vs_found_add(struct vs_found_list *l, enum vs_check code,
			      const char *object, char *is_take,
			      char *should_take, char *fix_take);
void vs_found_clear(struct vs_found_list *l);
/* By severity, then code, then object. */
void vs_found_sort(struct vs_found_list *l);

/* ---- facts -------------------------------------------------------------- */
struct vs_template_facts {
	char name[VS_LABEL_LEN];	/* as configured */
	char guest[64];			/* guestId, "" unknown */
	int hw;				/* 0 unknown */
	bool bios;			/* known to boot by BIOS */
	int passthrough;		/* VFs or devices of a host in it */
	int snapshot, hot_add, tools;	/* 1, 0, -1 unknown */
	char nets[8][VS_MOID_LEN];	/* moIds, of its own NICs */
	size_t nnets;
};

struct vs_store_facts {
	const char *name, *type;	/* "vsan", "NFS", ... */
	int accessible;			/* 1, 0, -1 unknown */
	int64_t free_mb;		/* -1 unknown */
	int64_t needs_mb;		/* of what is defined and isn't there yet */
};

struct vs_pool_facts {
	const char *name;		/* for people */
	const char *path;		/* as govc has it */
	const char *cluster;		/* moId */
	int core_mhz;			/* of the fastest host there */
	int64_t most_cpu_mhz, most_mem_mb;	/* all its VMs together; -1 */
};

/* What is asked of a site. All of it belongs to the caller. */
struct vs_check_site {
	const struct vs_inventory *inv;
	const struct vs_adapter *adapters;
	const struct vs_network *nets;	/* beside adapters */
	size_t nadapters;
	const struct vs_profile *profiles;
	const int *nodes;		/* beside them: that have it */
	size_t nprofiles;
	const char *datacenter;
	const char *user;		/* of vCenter, or NULL */
	const char *store;		/* moId of the one for all, or "" */
	const char *store_name;		/* as configured, "a,b" */
};

/* ---- what is usual ------------------------------------------------------- */
/* Of each kind of thing, which value most hosts have. */
struct vs_usual;
struct vs_usual *vs_usual_new(void);
void vs_usual_free(struct vs_usual *u);
/* All hosts first, then the checks. */
void vs_usual_count(struct vs_usual *u, const struct vs_check_site *s,
		    const struct vs_host *h);
/* What it could hold: of all hosts, those that are away too. */
void vs_usual_count_capacity(struct vs_usual *u, const struct vs_check_site *s,
			     const struct vs_host *h);

/* The name of the switch of this network, as some host has it, or "SWITCH". */
const char *vs_check_switch_name(const struct vs_inventory *inv,
				 const struct vs_network *net);
/* The command that lets the account read all. user may be NULL or "". */
char *vs_check_readonly(const char *user);

/* ---- checks --------------------------------------------------------------- */
/* Each adds what the rows of check_table.c find: of a host and its PFs ... */
void vs_check_host(const struct vs_check_site *s, struct vs_usual *u,
		   const struct vs_host *h, struct vs_found_list *l);
/* ... of a template ... */
void vs_check_template(const struct vs_check_site *s,
		       const struct vs_template_facts *t,
		       struct vs_found_list *l);
/* Management and RDMA: by what hosts say. */
void vs_check_apart(const struct vs_check_site *s, struct vs_found_list *l);
/* Is it a finding of a template that keeps VMs of this profile from being made? */
bool vs_check_blocks(const struct vs_found *f, const struct vs_profile *prof);
void vs_check_store(const struct vs_store_facts *d, struct vs_found_list *l);
/* True: its limit is too low for one VM already. */
bool vs_check_pool(const struct vs_check_site *s, const struct vs_pool_facts *p,
		   struct vs_found_list *l);
/* Could VMs of this profile be on hosts of that cluster? */
bool vs_check_reaches(const struct vs_check_site *s, const char *cluster,
		      size_t profile);

/* What profiles need of datastores, or of pools, of which each may use some. */
struct vs_check_share {
	const int64_t *supply;		/* -1 unknown, or without an end */
	size_t nsupplies;
	const int64_t *demand;
	bool *const *may;		/* beside: [demand][supply] */
	size_t ndemands;
};
typedef void vs_check_short(void *arg, const bool *in, int64_t has,
			    int64_t needs);
/* Says which of them have less together than those need that may use no
 * other. Demands that may use none count nowhere. */
void vs_check_shared(const struct vs_check_share *s, vs_check_short *fn,
		     void *arg);

#endif
