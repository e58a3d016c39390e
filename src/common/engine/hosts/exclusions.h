/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hosts, PFs and what hosts share, left out of placement: for a while after a
 * failure, by a breaker, by an operator, or because a PF isn't what it was.
 */
#ifndef VS_ENGINE_EXCLUSIONS_H
#define VS_ENGINE_EXCLUSIONS_H

#include "plan/checks/checks.h"
#include "plan/inventory/inventory.h"
#include "util/hash.h"
#include "util/json.h"

struct vs_core;

#define VS_AVOID_HOST_MS (5 * 60 * 1000)
#define VS_AVOID_PF_MS (60 * 1000)
#define VS_AVOID_FOREVER INT64_MAX	/* until somebody says so */
#define VS_BREAKER_NODES 3		/* that fail in a row open it */
#define VS_BREAKER_WINDOW_MS (30 * 60 * 1000)
#define VS_BREAKER_MS ((int64_t)5 * 60 * 1000)	/* doubled each time, up to */
#define VS_BREAKER_MAX_MS ((int64_t)60 * 60 * 1000)

#define VS_AVOID_WORDS 160

enum vs_avoid_cause { VS_AVOID_FAILED, VS_AVOID_BROKEN, VS_AVOID_DRAINED,
		      VS_AVOID_SICK, VS_AVOID_LICENCE, VS_AVOID_DRIFTED,
		      VS_AVOID_UNFIT };
struct vs_avoid {
	enum vs_avoid_cause cause;
	char moid[VS_MOID_LEN];	/* of a host, cluster or datastore */
	char pf[VS_PCI_LEN];		/* "": the whole of it */
	int64_t until_ms;
	char why[VS_AVOID_WORDS];
	bool requeue;			/* drained: jobs that can't leave with
					 * their VMs are requeued */
	struct vs_avoid *next;
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
struct vs_pf_print { char pci[VS_PCI_LEN], pnic[32]; int vfs; };
struct vs_print {
	char host[VS_LABEL_LEN];	/* its name */
	int npfs;
	struct vs_pf_print pfs[VS_HOST_PFS];
	UT_hash_handle hh;
};

/* exclusions.c: the entries, by next; NULL: there is none */
const struct vs_avoid *vs_avoids(void);
void vs_avoids_clear(void);
/* what placement leaves out; lock held. vs_avoid_add: it failed */
void vs_avoid_put(enum vs_avoid_cause cause,
		  const char *moid, const char *pf, int64_t until_ms,
		  const char *why);
void vs_avoid_add(const char *host, const char *pf,
		  int64_t until_ms, const char *why);
int vs_avoid_end(enum vs_avoid_cause cause,
		 const char *moid);		/* how many there were */
void vs_avoid_expire(int64_t now_ms);
const struct vs_avoid *vs_avoid_cause(enum vs_avoid_cause cause,
				      const char *moid);
/* It is drained, and jobs there are requeued. */
void vs_avoid_requeue(struct vs_core *c, const char *host);
/* What the checks keep away from this host; NULL: nothing. */
const struct vs_avoid *vs_checks_unfit(const char *host);
/* The hosts and PFs that the checks have found to take no VM, in the place of
 * those before. Nodes on hosts of which that changed are looked at again. */
void vs_unfit_set(struct vs_core *c, const struct vs_found_list *l);
/* Why a host, or this PF of it, is left out; NULL: it isn't. */
const struct vs_avoid *vs_avoid_get(const struct vs_core *c, const char *host,
				    const char *pf);
/* Does the entry speak of this host, or of a PF of it? */
bool vs_avoid_of(const struct vs_core *c, const struct vs_avoid *a,
		 const struct vs_host *h);
bool vs_avoid_any(const struct vs_core *c, const struct vs_host *h);
/* What is left out of each host, for placement: by host->index; not the caller's,
 * until the next call. */
struct vs_bar *vs_avoid_bars(const struct vs_core *c);
/* The same array as the last call made it. The caller may leave more out. */
struct vs_bar *vs_avoid_bars_made(void);
/* What is left out is the same while this is: it moves with each entry, and with
 * the windows that bar a host (maintenance_window.c). */
uint64_t vs_avoid_key(void);
/* Writes why the host is left out, as users may read it: without the note of the
 * operator who drained it. */
void vs_avoid_public(const struct vs_avoid *a, char out[VS_AVOID_WORDS]);
/* Is the host, or this PF of it, left out? If so, why as vs_avoid_public(). */
bool vs_avoid_asked(void *arg, const struct vs_host *h,
		    const struct vs_pf *pf, char *why, size_t size);

/* "; 1 host is left out (esx01: why)" for a refusal's text, or "". */
const char *vs_avoid_note(struct vs_core *c);

/* circuit_breaker.c: hosts on which one node after the other failed; lock held */
struct vs_breaker *vs_breaker_get(const char *host);
struct vs_breaker *vs_breaker_make(const char *host);
bool vs_breaker_end(const char *host);	/* was it open? */
const struct vs_breaker *vs_breakers(void);			/* by next */
void vs_breakers_clear(void);
void vs_breaker_failed(struct vs_core *c, const char *host, const char *node,
		       const char *why, int64_t now_ms);
void vs_breaker_cleared(const char *host, const char *node);
void vs_breaker_served(struct vs_core *c, const char *host);
void vs_breakers_bar(const struct vs_core *c, struct vs_bar *bars);
void vs_breaker_tried(const struct vs_host *h,
		      const char *node);
void vs_breakers_look(struct vs_core *c);

/* pf_drift.c: PFs that changed; lock held */
struct vs_print *vs_print_get(const char *name);
struct vs_print *vs_print_make(const char *name);
void vs_print_forget(struct vs_print *p);	/* frees it */
/* The most VFs that it was seen with, 0: not known. */
int vs_drift_had(const struct vs_host *h,
		 const char *pci);
void vs_drift_look(struct vs_host *h);
void vs_drift_overcommit(struct vs_core *c, struct vs_host *h);
void vs_prints_clear(void);

/* What the state file keeps of these: the caller frees it. What is read and isn't
 * as expected is left out, with an error in the document. Lock held. */
struct json_object *vs_avoids_json(void);
void vs_avoids_read(struct vs_core *c, struct vs_j list);
struct json_object *vs_breakers_json(void);
void vs_breakers_read(struct vs_j list);
struct json_object *vs_prints_json(void);
void vs_prints_read(struct vs_j list);

#endif
