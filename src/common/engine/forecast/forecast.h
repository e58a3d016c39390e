/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When VFs come free, and for which jobs they are kept (plan/forecast/timeline). The
 * module owns the timeline. The caller holds the core's lock.
 */
#ifndef VS_ENGINE_FORECAST_H
#define VS_ENGINE_FORECAST_H

#include "engine/allocation/allocation.h"
#include "engine/state/state.h"
#include "plan/forecast/timeline.h"

/* occupancy.c: keeping it true */
void vs_forecast_renew(struct vs_core *c);	/* nodes, profiles are others */
void vs_forecast_clear(void);
void vs_forecast_update_node(struct vs_core *c, struct vs_node *n);
/* Hears of claims that are taken and released. */
vs_claim_fn vs_forecast_claim_changed;
void vs_forecast_job_end(struct vs_core *c, uint32_t job, int64_t end);
/* Jobs that the timeline has, to be filled in by Slurm. Returns how many; the caller
 * frees *rows. */
struct vs_slurm_job;
size_t vs_forecast_jobs(struct vs_slurm_job **rows);
/* What Slurm says of them, under the same configuration. */
void vs_forecast_seen(struct vs_core *c, const struct vs_slurm_job *rows,
		      size_t n);
/* The job has begun, or is none any more. */
void vs_forecast_settled(uint32_t job);

/* The end of the node's jobs, s since the epoch, for vs_until_set(); 0: unknown. */
int64_t vs_until_job(const struct vs_node *n);

/* start_time.c: answers */
const struct vs_curve *vs_forecast_curve(struct vs_core *c, size_t kind);
#define VS_START_UNKNOWN (365 * 24 * 3600)	/* s: beyond what is planned */
int64_t vs_start_time(struct vs_core *c, const struct vs_requesting_job *a,
		      const int *ids, size_t n, int64_t from);
size_t vs_forecast_surplus(struct vs_core *c, const struct vs_requesting_job *a,
			   const int *ids, size_t n, enum vs_avail *avail,
			   size_t *left);
/* VMs of the two want the same VFs (or are alike). */
bool vs_forecast_shared(struct vs_core *c, const struct vs_profile *a,
			const struct vs_profile *b);
bool vs_forecast_others_release(struct vs_core *c,
				const struct vs_requesting_job *a,
				const int *ids, size_t n, int64_t by);
void vs_forecast_planned(struct vs_core *c, const struct vs_requesting_job *a,
			 const int *ids, size_t n, int64_t start);
void vs_forecast_reserved(struct vs_core *c, const struct vs_reservation *r,
			  size_t n);
void vs_forecast_refused(struct vs_core *c, const struct vs_requesting_job *a,
			 const int *ids, size_t n);

/* estimate_text.c: when a job that was refused may begin, in words */
bool vs_estimate_is_due(const struct vs_pending *r, int64_t now_ms);
/* What was reckoned holds no more. */
void vs_estimate_forget(struct vs_pending *r);
/* Slurm has tested it: a time of these counts is one of this capacity. */
void vs_estimate_tested(struct vs_core *c, struct vs_pending *r);
void vs_estimate_update(struct vs_core *c, struct vs_pending *r,
			int64_t now_ms);
int64_t vs_estimate_start(const struct vs_pending *r);	/* 0: unknown */
/* "needs 4 sriov-roce VFs", which are like these. */
void vs_need_text(struct vs_core *c, const int *ids, size_t n, size_t need,
		  char *out, size_t size);
/* "..., 3 free": have and why as api.h's refused() has them. */
void vs_shortage_text(struct vs_core *c, const int *ids, size_t n, size_t need,
		      size_t have, const char *why, char *out, size_t size);
void vs_estimate_text(const struct vs_pending *r, char *out, size_t size);

#endif
