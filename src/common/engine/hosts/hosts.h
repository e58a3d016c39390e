/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hosts, PFs and what hosts share, left out of placement: for a while after a
 * failure, by a breaker, by an operator, or because a PF isn't what it was. And hosts
 * that are to be empty, now (cordon.c) or at a planned time. The lock is held.
 */
#ifndef VS_ENGINE_HOSTS_H
#define VS_ENGINE_HOSTS_H

#include "engine/state/state.h"
#include "plan/checks/checks.h"

struct json_object;
struct vs_j;

#define VS_WINDOWS_MAX 250

#define VS_EXCLUDE_HOST_MS (5 * 60 * 1000)
#define VS_EXCLUDE_PF_MS (60 * 1000)
#define VS_EXCLUDED_FOREVER INT64_MAX	/* until an operator ends it */
#define VS_BREAKER_NODES 3		/* that fail in a row open it */
#define VS_BREAKER_WINDOW_MS (30 * 60 * 1000)
#define VS_BREAKER_MS ((int64_t)5 * 60 * 1000)	/* doubled each time, up to */
#define VS_BREAKER_MAX_MS ((int64_t)60 * 60 * 1000)

#define VS_EXCLUSION_TEXT 160

enum vs_exclusion_cause {
	VS_EXCLUDED_FAILED,
	VS_EXCLUDED_BROKEN,
	VS_EXCLUDED_DRAINED,
	VS_EXCLUDED_DRAINS,
	VS_EXCLUDED_LICENCE,
	VS_EXCLUDED_PF_CHANGE,
	VS_EXCLUDED_UNFIT
};
struct vs_exclusion {
	enum vs_exclusion_cause cause;
	char moid[VS_MOID_LEN];	/* of a host, cluster or datastore */
	char pf[VS_PCI_LEN];		/* "": the whole of it */
	int64_t until_ms;
	char why[VS_EXCLUSION_TEXT];
	bool requeue;			/* drained: jobs that can't leave with
					 * their VMs are requeued */
	struct vs_exclusion *next;
};

struct vs_breaker {			/* of a host on which a start failed */
	char host[VS_MOID_LEN];
	char nodes[VS_BREAKER_NODES][VS_NAME_LEN];	/* in a row */
	int nnodes;
	int64_t first_ms;		/* of these */
	int trips;			/* 0: closed. Open while it is avoided
					 * as broken, half-open after that */
	char trial[VS_NAME_LEN];	/* half-open: with this node, "": none */
	struct vs_breaker *next;
};

/* What a host's PFs were when last found right: see pf_drift.c. */
struct vs_pf_fingerprint { char pci[VS_PCI_LEN], pnic[32]; int vfs; };
struct vs_host_fingerprint {
	char host[VS_LABEL_LEN];	/* its name */
	int npfs;
	struct vs_pf_fingerprint pfs[VS_HOST_PFS];
	UT_hash_handle hh;
};

/* Maintenance that an operator has planned: until then the host takes VMs of
 * jobs that end before it. */
struct vs_maintenance_window {
	char host[VS_MOID_LEN];
	int64_t at;			/* s since the epoch */
	char why[160];
	bool requeue;			/* what can't leave it then */
	struct vs_maintenance_window *next;		/* the soonest first */
};

/* exclusions.c: the entries, by next; NULL: there is none */
const struct vs_exclusion *vs_avoids(void);
void vs_avoids_clear(void);
/* what placement leaves out; lock held. vs_exclude_failed: it failed */
void vs_exclude_set(enum vs_exclusion_cause cause,
		    const char *moid, const char *pf, int64_t until_ms,
		    const char *why);
void vs_exclude_failed(const char *host, const char *pf,
		       int64_t until_ms, const char *why);
int vs_exclude_end(enum vs_exclusion_cause cause,
		   const char *moid);		/* how many there were */
void vs_exclude_expire(int64_t now_ms);
const struct vs_exclusion *vs_exclusion_find(enum vs_exclusion_cause cause,
					     const char *moid);
/* It is drained, and jobs there are requeued. */
void vs_exclusion_requeue(struct vs_core *c, const char *host);
/* What the checks keep away from this host; NULL: nothing. */
const struct vs_exclusion *vs_exclusion_checks(const char *host);
/* The hosts and PFs that the checks have found to take no VM, in the place of
 * those before. Nodes on hosts of which that changed are looked at again. */
void vs_unfit_set(struct vs_core *c, const struct vs_found_list *l);
/* Why a host, or this PF of it, is left out; NULL: it isn't. */
const struct vs_exclusion *vs_exclusion_get(const struct vs_core *c,
					    const char *host, const char *pf);
/* Does the entry speak of this host, or of a PF of it? */
bool vs_exclusion_is_on(const struct vs_core *c, const struct vs_exclusion *a,
			const struct vs_host *h);
bool vs_exclusion_any(const struct vs_core *c, const struct vs_host *h);
/* What is left out of each host, for placement: by host->index; not the caller's,
 * until the next call. */
struct vs_host_block *vs_exclusion_blocks(const struct vs_core *c);
/* The same array as the last call made it. The caller may leave more out. */
struct vs_host_block *vs_exclusion_blocks_cached(void);
/* What is left out is the same while this is: it moves with each entry, and with
 * the windows that bar a host (maintenance_window.c). */
uint64_t vs_exclusion_key(void);
/* Writes why the host is left out, as users may read it: without the note of the
 * operator who drained it. */
void vs_exclusion_text(const struct vs_exclusion *a,
		       char out[VS_EXCLUSION_TEXT]);
/* Is the host, or this PF of it, left out? If so, why as
 * vs_exclusion_text(). */
bool vs_exclusion_explain(void *arg, const struct vs_host *h,
			  const struct vs_pf *pf, char *why, size_t size);

/* "; 1 host is left out (esx01: why)" for a refusal's text, or "". */
const char *vs_exclusion_note(struct vs_core *c);

/* circuit_breaker.c: hosts on which one node after the other failed; lock held */
struct vs_breaker *vs_breaker_get(const char *host);
bool vs_breaker_end(const char *host);	/* was it open? */
void vs_breaker_failed(struct vs_core *c, const char *host, const char *node,
		       const char *why, int64_t now_ms);
void vs_breaker_cleared(const char *host, const char *node);
void vs_breaker_served(struct vs_core *c, const char *host);
void vs_breakers_block(const struct vs_core *c, struct vs_host_block *bars);
void vs_breaker_tried(const struct vs_host *h,
		      const char *node);
void vs_breakers_observe(struct vs_core *c);

/* pf_drift.c: PFs that changed; lock held */
struct vs_host_fingerprint *vs_fingerprint_get(const char *name);
void vs_fingerprint_forget(struct vs_host_fingerprint *p);	/* frees it */
/* The most VFs that it was seen with, 0: not known. */
int vs_pf_change_most(const struct vs_host *h,
		      const char *pci);
void vs_pf_change_observe(struct vs_host *h);
void vs_pf_change_overcommit(struct vs_core *c, struct vs_host *h);

/* For the state file: what lasts beyond this process, as JSON. The caller frees the
 * result. The second of each takes what it can use of what an earlier process kept,
 * and leaves out the rest; the document's error says that some was. */
struct json_object *vs_avoids_json(void);
void vs_avoids_read(struct vs_core *c, struct vs_j list);
struct json_object *vs_breakers_json(void);
void vs_breakers_read(struct vs_j list);
struct json_object *vs_prints_json(void);
void vs_prints_read(struct vs_j list);

/* cordon.c */
/* In maintenance, entering it, or drained by an operator. */
bool vs_host_is_cordoned(const struct vs_host *h);
/* Why, for such a host. note: with the note of the operator who drained it, which
 * is not for everybody. */
void vs_host_cordon_text(const struct vs_host *h,
			 bool note, char *why, size_t size);
/* The same with the note. */
void vs_host_cordon_reason(const struct vs_host *h,
			   char *why, size_t size);

/* drain_counts.c: drains by others, counted by host; lock held */
void vs_health_observe(struct vs_core *c, struct vs_node *n);
int vs_health_drains(const char *host);
/* The configuration in force has come; was: the limit before, -1: unknown. */
void vs_health_limit(struct vs_core *c, int was);
void vs_health_forget(struct vs_core *c, const char *host);
void vs_health_gone(const struct vs_node *n);
void vs_health_clear(struct vs_core *c);
struct json_object *vs_health_json(const struct vs_core *c);
void vs_health_read(struct vs_core *c, struct vs_j list);

/* maintenance_window.c: planned maintenance; lock held */
const struct vs_maintenance_window *vs_maintenance_window_get(const char *host);
/* Instead of the one it had. -1: there are too many. */
int vs_maintenance_window_set(struct vs_core *c, const char *host, int64_t at,
			      const char *why, bool requeue);
bool vs_maintenance_window_end(struct vs_core *c, const char *host); /* was there one? */
void vs_windows_clear(struct vs_core *c);
/* Those that begin. */
void vs_maintenance_windows_update(struct vs_core *c);
/* What ends then is what VMs are placed for; returns what was before. */
int64_t vs_until_set(int64_t until);
/* May what is placed now still run on the host when that begins? */
bool vs_maintenance_window_blocks(const struct vs_maintenance_window *w);
const struct vs_maintenance_window *vs_maintenance_window_blocking(
	const char *host);
size_t vs_windows_barring(void);	/* the first so many */
bool vs_maintenance_window_blocks_node(const struct vs_core *c,
				       const struct vs_node *n);
struct json_object *vs_windows_json(void);
void vs_windows_read(struct vs_core *c, struct vs_j list);

#endif
