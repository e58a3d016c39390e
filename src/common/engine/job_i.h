/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs inside the engine: what Slurm asks for them and tells of them, and what
 * they wait for. Included by core_i.h.
 */
#ifndef VS_ENGINE_JOB_I_H
#define VS_ENGINE_JOB_I_H

/* job.c: claims, waits, refusals; lock held */
int vs_job_begin(struct vs_core *c, uint32_t job, uint32_t restart,
		 const int *ids, size_t n, struct vs_err *err);
void vs_job_claim(struct vs_core *c, uint32_t job, uint32_t restart,
		  const int *ids, size_t n, bool launched);
void vs_job_end(struct vs_core *c, uint32_t job, const int *ids, size_t n,
		bool notify);
void vs_job_wait(struct vs_core *c, uint32_t job, uint32_t restart,
		 const int *ids, size_t n);
bool vs_job_waits(struct vs_core *c, uint32_t job);
bool vs_job_has(const struct vs_node *n, uint32_t job);
bool vs_job_runs(const struct vs_node *n);	/* any */
void vs_job_started(struct vs_core *c, const struct vs_wait *w);
void vs_job_refused(struct vs_core *c, uint32_t job, const int *ids, size_t n,
		    size_t need, const char *why);
void vs_jobs_clear(struct vs_core *c);
void vs_jobs_recheck(struct vs_core *c);	/* without the lock */
void vs_job_reasons(struct vs_core *c, int64_t now_ms);

/* ask.c: answers for the select plugin; lock held */
size_t vs_ask_room(struct vs_core *c, const int *ids, size_t n,
		   enum vs_avail *out, char *why, size_t why_size);
int vs_ask_check(struct vs_core *c, const int *ids, size_t n, size_t *surplus,
		 size_t *nsurplus, struct vs_err *err);
bool vs_ask_ever(struct vs_core *c, const int *ids, size_t n,
		 struct vs_err *err);
const char *vs_ask_blocked(const struct vs_core *c);	/* NULL: may serve */

/* reclaim.c: idle warm VMs that stand in a waiting job's way; lock held */
void vs_reclaim(struct vs_core *c, int64_t now_ms);

/* observe.c: what would be done for a job; lock held */
void vs_observe_say(struct vs_core *c, const struct vs_refused *r, char *out,
		    size_t size);

/* wait.c; lock held unless said */
void vs_wait_end(struct vs_wait **link);	/* unlinked and freed */
void vs_waits_pass(struct vs_core *c, int64_t now_ms);
void vs_waits_gone(struct vs_core *c);		/* no lock held */

#endif
