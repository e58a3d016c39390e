/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of the engine is read for the metrics' page (collect.c), its text
 * (format.c), both together (page_cache.c), and the requests for it (http_request.c).
 */
#ifndef VS_ENGINE_METRICS_I_H
#define VS_ENGINE_METRICS_I_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/clone_source/clone_source.h"
#include "engine/metrics/metrics.h"
#include "util/buf.h"
#include "util/err.h"

/* ---- collect.c: a reading ---------------------------------------- */

enum vs_vf_state {
	VS_VF_FREE,
	VS_VF_CLAIMED,
	VS_VF_MANAGED,
	VS_VF_FOREIGN,
	VS_VF_UNVERIFIED,
	VS_VF_QUARANTINED,
	VS_VF_LOST,
	VS_VF_STATES
};
#define VS_METRIC_STATES 12	/* words of a kind of state, at most */
#define VS_METRIC_ADAPTERS 64	/* the others of a PF are not named */

struct vs_metrics_pf {
	size_t host;			/* index of hosts */
	char pci[VS_PCI_LEN];
	uint64_t adapters;		/* a bit for each that draws on it */
	bool device;			/* it is of devices handed out whole */
	/* of these: "10de:20b0" and a hardware label, or class or profile */
	char ids[VS_DEVICE_LABEL], label[VS_DEVICE_LABEL];
	int n[VS_VF_STATES];
};
struct vs_metrics_host {
	char moid[VS_MOID_LEN], name[VS_LABEL_LEN];
	const char *state;		/* as in svf hosts */
	int breaker;			/* 0 closed, 1 half-open, 2 open */
};
struct vs_metrics_count { const char *word; uint64_t n; };

struct vs_metrics_facts {
	uint64_t epoch;			/* of the configuration */
	char (*adapters)[VS_NAME_LEN];
	size_t nadapters;
	struct vs_metrics_host *hosts;
	size_t nhosts;
	struct vs_metrics_pf *pfs;
	size_t npfs, cap_pfs;
	/* by adapter, then in the order in which a word was met */
	struct vs_metrics_count (*slurm)[VS_METRIC_STATES];
	struct vs_metrics_count (*vms)[VS_METRIC_STATES];
	struct vs_metrics kept;
	bool up, blocked, observe, paused, brake;
	int in_flight[2], in_flight_max[2];	/* provisioning, power */
	int clones_hour, clones_max;
	unsigned int parents[VS_CLONE_KINDS][VS_CLONE_SOURCE_STATES];
	uint64_t ahead, ahead_made, ahead_used, ahead_removed;
	uint64_t waits[VS_PENDING_NODES + 1];
	int64_t oldest_ms;		/* of those that wait for VFs */
	int64_t lock_us;		/* longest that slurmctld could be kept */
};
/* The lock is held, and lent meanwhile. Returns 0. Returns -1 and sets err (VS_E_RETRY)
 * if another configuration came in the middle. The caller frees it in both cases. */
int vs_metrics_read(struct vs_core *c, struct vs_metrics_facts *f,
		    struct vs_err *err);
void vs_metrics_facts_free(struct vs_metrics_facts *f);

/* ---- format.c: no lock held -------------------------------------- */

/* The text, for what metrics.h's type says. -1 VS_E_BUG: it is too long. */
int vs_metrics_text(const struct vs_metrics_facts *f, bool openmetrics,
		    struct vs_buf *out, struct vs_err *err);

/* ---- http_request.c: as much of HTTP as one page needs. Pure ------ */

#define VS_METRICS_REQUEST_MAX 8192	/* longer ones are refused */

struct vs_metrics_request {
	int status;		/* 200, or why not: 400, 404, 405, 431, 505 */
	bool openmetrics;	/* the answer's format, by Accept */
};

/* 1: more bytes are needed; 0: *out says what to answer. No shorter piece of the
 * same bytes says anything else than 1 or the same. */
int vs_metrics_request_parse(const char *text, size_t len,
			     struct vs_metrics_request *out);
const char *vs_metrics_type(bool openmetrics);	/* the content type */
/* Status line and headers for a body of so many bytes of this type, into out; its
 * length. The connection is closed after it. */
#define VS_METRICS_HEAD_MAX 320
size_t vs_metrics_head(int status, const char *type, size_t body,
		       char out[VS_METRICS_HEAD_MAX]);

/* ---- page_cache.c: the server's thread, no lock held ------------- */

/* Adds a page of this moment to out. Returns 0, or -1 and sets err, whose text is
 * the answer then. */
int vs_metrics_page(bool openmetrics, struct vs_buf *out, struct vs_err *err);

#endif
