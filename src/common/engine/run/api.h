/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core as the plugins see it: it takes the configuration, answers queries
 * from memory, and puts requests into a mailbox. Nothing here waits for
 * vCenter: every function takes one mutex that the engine holds only for memory
 * work.
 *
 * One core per process; both plugins share it. The plugins reach
 * these functions through struct vs_core_api (vs_core_api_get is the only
 * symbol they look up with dlsym), so that client commands never load it.
 */
#ifndef VS_ENGINE_API_H
#define VS_ENGINE_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/slurm/slurm_ops.h"
#include "engine/state/config.h"
#include "util/err.h"
#include "util/log.h"

struct vs_core_api {
	unsigned int version;		/* VS_CORE_API_VERSION */

	void (*log_to)(vs_log_sink *sink);
	/* Set up what this process shares with other plugins: libcurl. Call it
	 * in the thread that initializes plugins, before any of them has another
	 * thread. Returns 0, or -1 and sets err. */
	int (*setup)(struct vs_err *err);
	/* Takes over conf and starts, or continues with the new conf. Returns 0
	 * on success. Returns -1 if conf can't be used: the old one stays in
	 * force. port must live for ever. */
	int (*start)(struct vs_conf *conf_take, const struct vs_slurm_ops *port,
		     struct vs_err *err);
	void (*stop)(void);		/* join the threads; for fini */
	bool (*running)(void);

	/* Node ids are dense indexes into conf->nodes of the conf in force;
	 * epoch changes with every start(), and asks for new ids. */
	uint64_t (*epoch)(void);
	void (*node_ids)(const char *const *names, size_t n, int *ids);
				/* -1: not managed */

	/* Sets when the job of the next queries would end, in s since the
	 * epoch; 0: unknown. They are counted for one call of that mode. */
	void (*asks)(int64_t end, enum vs_query_mode mode);

	/* Each node alone, could it be served now: out[i] for ids[i]. And how
	 * many of them together, at most n, which need not be a prefix; what
	 * else is to be said of that into why, as refused() takes it. out and
	 * why may be NULL. */
	size_t (*room)(const int *ids, size_t n, enum vs_avail *out,
		       char *why, size_t why_size);
	/* All of them together? If not: surplus[k] = indexes into ids that
	 * must go, count in *nsurplus (surplus has room for n). */
	int (*check)(const int *ids, size_t n, size_t *surplus,
		     size_t *nsurplus, struct vs_err *err);
	/* Static capacity: could these n ever be on together? Unknown: yes. */
	bool (*ever)(const int *ids, size_t n, struct vs_err *err);
	/* As ever: how many VMs like those of these nodes could be on together,
	 * `want` at the most and if that is not known; one for each node, or
	 * (more) any number. */
	size_t (*capacity)(const int *ids, size_t n, size_t want, bool more);
	/* The kind of each; adapter is an index into *names, which ends with
	 * NULL: free() each and it. */
	void (*kinds)(const int *ids, size_t n, struct vs_vm_type *out,
		      char ***names);
	/* Slurm has rebuilt its node table. Callers that keep ids by its
	 * indexes have to ask for them again, because epoch changes. */
	void (*renumbered)(void);
	/* A job was refused: it needs `need` nodes out of ids, and could have
	 * `have` of them. why: a sentence of its own, or what follows that count
	 * and begins with a comma, colon or semicolon, or ""; of nodes: how many
	 * it has. If it lacks VFs, idle warm VMs that it can't use may be
	 * reclaimed for it; else it is for its reason alone. */
	void (*refused)(const struct vs_requesting_job *a, const int *ids,
			size_t n, size_t need, size_t have, const char *why);

	/* How many of these nodes may begin now without standing in the way of
	 * those who go before; avail (as from room) becomes NONE for those that
	 * may not at all. *left: how many might, if all could be served now. */
	size_t (*spare)(const struct vs_requesting_job *a, const int *ids,
			size_t n, enum vs_avail *avail, size_t *left);
	/* Returns the earliest time, from `from` on, at which the VMs of all
	 * these may be there. More than a month from now means unknown. */
	int64_t (*when)(const struct vs_requesting_job *a, const int *ids,
			size_t n, int64_t from);
	/* May VMs other than these nodes' make room, by then, for VMs like theirs?
	 * None that those who go before may have taken counts; false only where
	 * room is all that is lacking. */
	bool (*others_give)(const struct vs_requesting_job *a, const int *ids,
			    size_t n, int64_t by);
	/* Backfill has planned the job on (nodes like) these. Lower ones are
	 * tested against it until it begins or is no more. */
	void (*planned)(const struct vs_requesting_job *a, const int *ids,
			size_t n, int64_t start);
	/* The end of a job that begins, as known now. */
	void (*job_until)(uint32_t job, int64_t end);
	/* Slurm's reservations, all of them. */
	void (*reserved)(const struct vs_reservation *r, size_t n);

	/* Chooses the jobs to preempt for a job that would run on all of ids if
	 * they could be served. Sets take[i] for those that are needed (the
	 * first go first) and returns their number. Their VMs are powered off
	 * when the jobs have left, and until then no other job gets the
	 * capacity. Returns 0 if idle VMs and those on their way out suffice.
	 * Returns -1 if even all victims would not. */
	int (*make_room)(uint32_t job, const int *ids, size_t n,
			 const struct vs_victim *victims, size_t nvictims,
			 bool *take);

	/* Place and hold the job's final nodes. -1: the job must stay pending. */
	int (*job_begin)(uint32_t job, uint32_t restart, const int *ids,
			 size_t n, struct vs_err *err);
	/* The job's nodes must be up; answer by prolog_done of prep_ops. Comes again
	 * after a restart, without a job_begin before it: idempotent. */
	void (*job_wait)(uint32_t job, uint32_t restart, const int *ids,
			 size_t n);
	/* The job has left these nodes (end, requeue, shrink); idempotent.
	 * notify: epilog_done is expected. */
	void (*job_end)(uint32_t job, const int *ids, size_t n, bool notify);
	/* A running job after a restart: its nodes are claimed. launched: Slurm
	 * believes that it runs there, and will power up none of them for it. */
	void (*job_claim)(uint32_t job, uint32_t restart, const int *ids,
			  size_t n, bool launched);
	/* Why a pending job waits, or "" */
	void (*why)(uint32_t job, char *out, size_t size);

	/* Sets who answers slurmctld's prolog and epilog calls. May be called
	 * before start(), and again. ops stays the caller's. */
	void (*prep_ops)(const struct vs_prep_ops *ops);
	/* An administrator has a look (a reconfigure that changes nothing): try
	 * vCenter again now, a refused password too. */
	void (*try_again)(void);
	/* This process takes control of the cluster, and may have had it
	 * before. Forgets all jobs; job_claim adds them again. */
	void (*new_term)(void);
	/* So long a call or a lock of slurmctld's was kept, and what of it was
	 * our own work: for svf status. VS_TIMED_STOCK counts for the last asks. */
	void (*timed)(enum vs_timed what, int64_t us, int64_t cpu_us);
};
#define VS_CORE_API_VERSION 19
const struct vs_core_api *vs_core_api_get(void);

#endif
