/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is counted for the metrics where it happens: counters of the process, by
 * which nothing is decided. A part of core_i.h; the lock is held unless said.
 */
#ifndef VS_ENGINE_COUNTERS_H
#define VS_ENGINE_COUNTERS_H

#include <stdint.h>
#include "engine/state/config.h"
#include "plan/inventory/clone_source.h"
#include "util/err.h"
#include "util/times.h"

struct vs_node;
struct vs_pending;

#define VS_HIST_BOUNDS 12
/* Durations by their upper bounds, the last one without. */
struct vs_hist {
	uint64_t n[VS_HIST_BOUNDS + 1];	/* not cumulated */
	int64_t sum_ms;
};
extern const int64_t vs_hist_step_ms[VS_HIST_BOUNDS];
extern const int64_t vs_hist_wait_ms[VS_HIST_BOUNDS];

#define VS_METRIC_STEPS 16 /* room for enum vs_op_type and VS_DURATION_BOOT */
struct vs_metrics {
	struct vs_hist steps[VS_METRIC_STEPS];
	uint64_t failed[VS_METRIC_STEPS][VS_CODES];
	uint64_t starts;		/* VMs that we switched on and that came up */
	uint64_t given_up[VS_CODES];	/* nodes, to Slurm */
	struct vs_hist vf_wait;		/* of jobs, until they began */
	struct vs_clone_source_counts {	/* by kind of their clones */
		uint64_t made, failed, ended;
	} parents[VS_CLONE_KINDS];
};

/* What was counted so far. */
const struct vs_metrics *vs_metrics_counted(void);
void vs_metrics_clear(void);
/* A step, of enum vs_op_type or VS_DURATION_BOOT, took so long. */
void vs_metrics_duration(int step, int64_t ms);
void vs_metrics_failed(int step, enum vs_code code);
void vs_metrics_released(enum vs_code code);
/* Its slurmd has registered after our power-on; ms: since it was seen on, 0: not
 * known. */
void vs_metrics_started(int64_t ms);
/* Its guest was asked to shut down, and it is off now. */
void vs_metrics_off_asked(struct vs_node *n, int64_t asked_ms);
void vs_metrics_off(struct vs_node *n, bool is_off,
		    int64_t now_ms);
/* A clone source for clones of this kind was made, failed, or was removed. */
void vs_metrics_clone_source_made(enum vs_clone_type kind);
void vs_metrics_clone_source_failed(enum vs_clone_type kind);
void vs_metrics_clone_source_ended(enum vs_clone_type kind);
/* slurmctld was kept so long by us: as it felt, and our own work. No lock is needed. */
void vs_timed_add(enum vs_timed what, int64_t us, int64_t cpu_us);
struct vs_times *vs_timed(enum vs_timed what, bool cpu);
/* A job was refused / begins; r: its last refusal, NULL: there was none. */
void vs_metrics_pending(struct vs_pending *r, enum vs_pending_reason lacks,
			int64_t now_ms);
void vs_metrics_began(const struct vs_pending *r,
		      int64_t now_ms);
/* The URL at which the metrics are served, "": they are not; why not, "": it is
 * not configured. Set: is it another than before? */
bool vs_metrics_place_set(const char *at, const char *why);
void vs_metrics_place(const char **at, const char **why);

#endif
