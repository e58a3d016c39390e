/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs inside the engine: what Slurm asks for them and reports of them, and what
 * they wait for. The module owns each node's claims and took, the prologs that wait and
 * the refusals. The caller holds the core's lock. No function here waits.
 */
#ifndef VS_ENGINE_JOBS_H
#define VS_ENGINE_JOBS_H

#include "engine/slurm/slurm_ops.h"
#include "engine/state/state.h"

/* jobs.c: claims, waits */
int vs_job_begin(struct vs_core *c, uint32_t job, uint32_t restart,
		 const int *ids, size_t n, struct vs_err *err);
/* Returns 1 if the node needs a place, 0 if it has one. Returns -1 and sets err
 * if a job that gets it can't be served now. */
int vs_job_place(struct vs_core *c, struct vs_node *node, enum vs_avail avail,
		 struct vs_err *err);
void vs_job_claim(struct vs_core *c, uint32_t job, uint32_t restart,
		  const int *ids, size_t n, bool launched);
void vs_job_end(struct vs_core *c, uint32_t job, const int *ids, size_t n,
		bool notify);
void vs_job_wait(struct vs_core *c, uint32_t job, uint32_t restart,
		 const int *ids, size_t n);
void vs_job_started(struct vs_core *c, const struct vs_wait *w);
void vs_jobs_clear(void);
/* All jobs that were refused (uthash by job); this one, NULL: it was not. */
struct vs_pending *vs_refusals(void);
struct vs_pending *vs_refusal(uint32_t job);
/* The ids of nodes in waits and refusals are others: fn changes each list. */
void vs_jobs_renumber(void (*fn)(void *arg, int *ids, size_t *n), void *arg);

/* job_ended.c */
/* The job that the node was powered up for is gone: Slurm gets the node back, and
 * its VM isn't booted. */
void vs_boot_cancel(struct vs_node *n);
/* Slurm ends a job on this node whose VM is off: no job for a while. */
void vs_guest_lost_begin(const struct vs_core *c, struct vs_node *n,
			 int64_t now_ms);
/* Slurm takes the node back from the job (VS_JOB_ANY: from whichever has it), with
 * why as the node's reason. The records of its jobs say why they were requeued. */
void vs_guest_lost_release(const struct vs_node *n, uint32_t job,
			   const char *why);
/* The records of the node's jobs say why, once they are back in the queue. */
void vs_jobs_requeued_note(const struct vs_node *n, const char *why);
void vs_guest_lost_end(struct vs_node *n); /* jobs may have the node again */
/* A power-up of the node from now on is not the one of a job that has left. */
void vs_job_left_forget(struct vs_node *n);
/* The node is powered down as soon as it is idle; job: it is reclaimed for that
 * one, 0: for none. */
void vs_node_vacate(struct vs_node *n, uint32_t job);
/* The node is not powered down when it is idle. */
void vs_node_stay(struct vs_node *n);
/* The node is up and stays: it is reclaimed for no job. */
void vs_node_reclaimed_forget(struct vs_node *n);
/* Slurm was asked to take the node back from its job (on), or has answered. While it
 * is on no VM is booted for the node. */
void vs_node_release(struct vs_node *n, bool on);
/* The node's VM may be switched off and removed, by Slurm's word or its job's end
 * (on); or the node is wanted again. */
void vs_node_removable(struct vs_node *n, bool on);
/* The node is up for Slurm, and its VM has to be rebuilt for the job that waits for
 * it (on); or its VM is right, or no job waits. */
void vs_node_rebuild(struct vs_node *n, bool on);
/* The node's VM goes with its job: it is promised to a preemptor at now_ms, which
 * counts for a minute (vs_node_is_preempting()). 0: it is not promised. */
void vs_node_promise(struct vs_node *n, int64_t now_ms);

/* pending.c */
void vs_pending_free(struct vs_pending *r);
void vs_job_set_pending(struct vs_core *c, const struct vs_requesting_job *a,
			const int *ids, size_t n, size_t need, const char *why);
/* It waits for VFs, and was told so lately. */
bool vs_job_needs_vfs(const struct vs_pending *r, int64_t now_ms);
bool vs_jobs_need_vfs(void);	/* any of them */
/* Some of those that were refused, others the next time: at most max of them,
 * their number. lacking: of those that lack VFs. */
size_t vs_jobs_next(bool lacking, int64_t now_ms,
		    unsigned int *turn, uint32_t *jobs, size_t max);
/* What Slurm says now of a job that was refused: whether and why it waits, and when
 * backfill would start it (s since the epoch, 0: not planned). */
void vs_job_rechecked(uint32_t job, enum vs_job_waits waits,
		      int64_t start);
/* What it waits for, as it is said. */
void vs_job_pending_text(struct vs_core *c, const struct vs_pending *r,
			 char *out, size_t size);
void vs_job_reasons(struct vs_core *c, int64_t now_ms);

/* observe_mode.c: what would be done for a job */
/* Mode=observe: why no node would be served if it were manage, or NULL. */
const char *vs_observe_blocked(const struct vs_core *c);
/* Returns 1 and fills `at` if the node would need a place, 0 if its VM is on.
 * Returns -1 and sets err if it would not be served. */
int vs_observe_place(struct vs_core *c, struct vs_node *n,
		     struct vs_place_node *at, struct vs_err *err);
void vs_observe_text(struct vs_core *c, const struct vs_pending *r, char *out,
		     size_t size);

/* prolog_wait.c */
struct vs_wait_id { uint32_t job, restart; };
void vs_wait_end(struct vs_wait **link);	/* unlinked and freed */
void vs_waits_update(struct vs_core *c, int64_t now_ms);
/* All changes in vCenter were paused from since_ms to now_ms: that time is no part of
 * any prolog's ProvisionTimeout. */
void vs_waits_paused(int64_t since_ms, int64_t now_ms);
/* All that wait. Returns how many; the caller frees *out. */
size_t vs_waits_list(struct vs_wait_id **out);
/* The job was requeued or cancelled while it waited: its prolog is answered. Nothing
 * happens if it waits no more. */
void vs_wait_gone(const struct vs_wait_id *id);

/* assignment.c: what a job got, for outbox.h */
void vs_assignment_note(struct vs_core *c, const struct vs_wait *w,
			int64_t now_ms);
/* It runs, and a VM of it is on another host now: told at the turn's end, */
void vs_assignment_moved(uint32_t job);
void vs_assignments_moved(struct vs_core *c);	/* which this is */
void vs_assignments_clear(void);

/* startup_times.c: what a job had to wait for before it ran: VFs first, then its VMs */
/* A job begins on these; r: its refusal, NULL if it had none. */
void vs_startup_times_begin(struct vs_core *c, const int *ids, size_t n,
			    const struct vs_pending *r, int64_t now_ms);
/* One more step of the node's is done, as for vs_duration_note(). */
void vs_startup_times_note(struct vs_node *n, int what, int64_t ms);
/* The job's prolog is answered: all that the job waited for is there. */
void vs_startup_times_end(struct vs_core *c, const struct vs_wait *w,
			  int64_t now_ms);
/*
 * "waited_s=12.0 provision_s=35.2 cold=2 clone_s=20.1 power_on_s=3.0
 * boot_s=11.5", of each step the longest of its nodes; free() it. NULL: not
 * known of all of them.
 */
char *vs_startup_times_text(const struct vs_core *c, const struct vs_wait *w,
			    int64_t now_ms);

#endif
