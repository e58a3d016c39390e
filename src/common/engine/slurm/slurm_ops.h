/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core asks of Slurm: a table of functions that the plugins fill
 * (src/plugins/slurm_ops/ops.c) and the tests fake. All of them are called from
 * the engine's thread, without the core's lock; they take slurmctld's locks
 * themselves and may wait for them, never for anything else.
 */
#ifndef VS_ENGINE_SLURM_OPS_H
#define VS_ENGINE_SLURM_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/state/config.h"
#include "plan/checks/check_codes.h"

struct vs_slurm_node {
	const char *name;		/* the engine's own copy */
	uint32_t flags;
	int64_t suspend_ms;		/* as in struct vs_node_prefetch */
};

/* The job that runs on a node, and what the next one there meets. */
struct vs_slurm_node_job {
	const char *node;
	uint32_t job, uid;		/* job 0: none */
	int resume_timeout_s;		/* of its partitions; 0: not known */
	bool queued;			/* jobs of its partitions are pending, not held */
};

/* What a pending job waits for, by its record: not pending; capacity, and the record
 * has a text that says of what or of whom; capacity, and no such text; something
 * that only Slurm knows of. */
enum vs_job_waits { VS_WAITS_NOT, VS_WAITS_CAPACITY, VS_WAITS_WORDLESS,
		    VS_WAITS_ELSE };

/* The nodes of a pending job. NULL: none. The caller frees both. */
struct vs_slurm_job_nodes {
	char *may_use;		/* a host list: those that it names; if it names
				 * none, those of its partitions but those that it
				 * excludes */
	char *out;		/* "node vm002 is drained: REASON; ...", of those that
				 * it names */
};

/* A job's texts, as squeue shows them. */
struct vs_slurm_job_text {
	char id[48];		/* "12", "12_3", "14+1" */
	char partition[64], state[24], reason[64];
	char desc[256];		/* instead of the reason; "": none */
	char requeued[384];	/* why its last run was requeued; "": unknown */
	struct vs_slurm_job_nodes *nodes; /* is filled too; NULL: not asked for */
};

/* What a job's record says. The caller sets job and text. */
struct vs_slurm_job {
	uint32_t job;
	struct vs_slurm_job_text *text;	/* is filled too; NULL: not asked for */
	uint32_t uid, restart;	/* its owner; how often it was requeued */
	bool there;		/* false: it has no record, and all below is 0 */
	bool configuring;	/* it has nodes, and is not launched yet */
	/* RUNNING or suspended on its nodes; GONE: neither, nor pending */
	enum { VS_JOB_GONE, VS_JOB_PENDING, VS_JOB_RUNNING } is;
	enum vs_job_waits waits;
	int64_t end;		/* of a running one, s since the epoch;
				 * INT64_MAX: unknown */
	int64_t start;		/* planned for a pending one; 0: not */
	uint32_t passes;	/* of a pending one: those that backfill has
				 * ended */
};

/* What a job has on one of its nodes. */
struct vs_slurm_assignment {
	char *node, *adapter;
	char *host;			/* the ESXi host's name; NULL: not known */
	char *pfs;			/* "0000:3b:00.0,...", a VF of each; NULL:
					 * none, or not known */
	bool admin_comment;		/* in the first row: keep it there, too */
	bool moved;			/* in the first row: a job that runs, of
					 * which a VM was moved */
	char *took; /* in the first row: what the job waited
					 * for, as vs_startup_times_text(); NULL: not known */
};

struct vs_slurm_planned {		/* what is to come on a node */
	char node[64];
	uint32_t job;
	bool ends;		/* the last job on it ends then; else: the job
				 * is planned to start there */
	int64_t in_s;		/* from now; past: it is late */
};

/* A reservation of Slurm's that shows what keeps nodes from jobs. */
struct vs_slurm_resv {
	char *name, *nodes;	/* "vm001,vm002" */
	char *comment;
	int64_t start, end;	/* epoch seconds */
};

#define VS_JOB_ANY UINT32_MAX	/* the job that has the node */

/* A request to Slurm. The first ones change a node, by node_set(). */
enum vs_slurm_request {
	/* The VM of a node that is up is about to be powered off for a rebuild:
	 * the node becomes POWERING_UP, so that its return is no unexpected
	 * reboot. Refused unless no job runs there and the node is up, or is
	 * POWERING_UP already. */
	VS_REQUEST_REBUILD,
	/* An idle node is to be powered down. Refused if it isn't idle. */
	VS_REQUEST_POWER_DOWN,
	/* A node is to be powered up, as an administrator would. Refused unless
	 * it is powered down, idle and in service. */
	VS_REQUEST_POWER_UP,
	/* The VM that runs under a POWERED_DOWN node is kept: its boot was no
	 * unexpected one, and its slurmd is asked to register. Is requested
	 * again until it has. Refused if the node's state doesn't allow it. */
	VS_REQUEST_ADOPT,
	/* The node can't be used: DOWN with this reason. Its jobs are requeued
	 * now, and are eligible at once where no slurmd ran them. Refused if
	 * jobs have the node, but not this one (0: none, VS_JOB_ANY: any). */
	VS_REQUEST_FAIL,
	/* The node has no fault but its VM can't be had now, or no job waits
	 * for it any more: powered down by force, and never DOWN. Its jobs are
	 * requeued as by FAIL. Refused as FAIL is, and if its power-down has
	 * begun. */
	VS_REQUEST_RELEASE,
	/* Drain the node, with this reason. Refused if it is drained. */
	VS_REQUEST_DRAIN,
	/* End a drain that has the tag of slurm-vsphere. Refused if there is
	 * none. */
	VS_REQUEST_UNDRAIN,
	VS_REQUEST_NODE_LAST = VS_REQUEST_UNDRAIN,

	/* Of a job */
	VS_REQUEST_PROLOG,		/* job_got(), then prolog_done() */
	VS_REQUEST_EPILOG,		/* job_got() of 0 rows, epilog_done() */
	VS_REQUEST_REASON,		/* job_reason() */
	VS_REQUEST_REQUEUED,		/* job_requeued() */
	VS_REQUEST_ASSIGNMENT,		/* job_got() */
	/* Of a node, without a change that may be refused */
	VS_REQUEST_BOOTED,		/* node_booted() */
	/* Once for all, at the turn's end */
	VS_REQUEST_BOOT_PUSH,		/* nodes_boot_push() */
	VS_REQUEST_SCAN,		/* power_scan() */
	VS_REQUEST_SCHEDULE		/* schedule() */
};

/* What of vsphere.conf bounds slurm.conf's keys, and what is found in it. */
struct vs_slurm_bounds {
	int boot_timeout_s, shutdown_grace_s;
	const char *partitions;	/* of VMs, with commas between; NULL: none */
	bool rdma;		/* an adapter has RDMA devices */
};
/* fix: what to write into slurm.conf. */
typedef void vs_slurm_found(void *arg, enum vs_check code, const char *is,
			    const char *should, const char *fix);

/* Who asks, and what Slurm permits this user. */
struct vs_viewer {
	uint32_t uid;
	bool is_operator;	/* may give orders */
	bool sees_jobs, sees_nodes; /* of other users: PrivateData */
};

/* What the prep plugin does for the engine: it answers slurmctld's prolog and epilog
 * calls. Called from the engine's thread, exactly once for each job_wait, and for
 * each job_end with notify. No lock is held. */
struct vs_prep_ops {
	/* ok: the job is launched. Otherwise it can't be served, and is
	 * requeued; a job that is not configuring any more is left alone. */
	void (*prolog_done)(uint32_t job, bool ok);
	void (*epilog_done)(uint32_t job);
};

struct vs_slurm_ops {
	void *ctx;
	/* False: slurmctld shuts down or this is no active controller: the
	 * engine starts nothing new until it is true again. */
	bool (*active)(void *ctx);
	/* Refresh flags and suspend_ms of all n rows (flags 0: no such node).
	 * One short NODE read lock. */
	void (*nodes_read)(void *ctx, struct vs_slurm_node *rows, size_t n);
	/* Change a node; the change's own comment says when it is refused. Only
	 * FAIL, RELEASE and DRAIN use reason, and only FAIL and RELEASE job.
	 * One JOB, NODE and PARTITION write lock. Returns 0 if the node is as
	 * requested. Returns -1 if it is refused, or the node is unknown. */
	int (*node_set)(void *ctx, const char *node, enum vs_slurm_request change,
			uint32_t job, const char *reason);
	/* ResumeTimeout continues for those that are POWERING_UP. */
	void (*nodes_boot_push)(void *ctx, const char *const *nodes, size_t n);
	/* The VM of a node that is POWERING_UP was switched on ago_ms ago
	 * (< 0: not known): slurmctld takes a guest that booted since then,
	 * even if that is longer ago than ResumeTimeout.
	 * ask: the guest is ready, its slurmd is asked to register (again). */
	void (*node_booted)(void *ctx, const char *node, int64_t ago_ms,
			    bool ask);
	/* Make power_save's thread look again (last_node_update). */
	void (*power_scan)(void *ctx);
	/* Text for a pending job's reason and its system comment; "" takes the
	 * latter back. */
	void (*job_reason)(void *ctx, uint32_t job, const char *text);
	/* Writes why the job was requeued just now into its system comment. */
	void (*job_requeued)(void *ctx, uint32_t job, const char *text);
	/* Writes what a job got, node by node, into its record: of a job that is
	 * about to be launched for its nodes too, and of a running one whose
	 * VM was moved. n 0: the job has left nodes; if it is back in the queue,
	 * its record no longer says what it got. One JOB write lock. */
	void (*job_got)(void *ctx, uint32_t job,
			const struct vs_slurm_assignment *rows, size_t n);
	/* Nudge the scheduler: capacity has changed. */
	void (*schedule)(void *ctx);
	/* Fills all n rows. One short JOB read lock, then short
	 * NODE read locks. */
	void (*nodes_jobs)(void *ctx, struct vs_slurm_node_job *rows, size_t n);
	/* Fills all n rows, under short JOB read locks. A test may leave it
	 * NULL: then the forecast is not read. */
	void (*jobs_read)(void *ctx, struct vs_slurm_job *rows, size_t n);
	/* Returns the job of task n of an array: its own, or the array's while
	 * it has none yet. Or (component) of component n of a heterogeneous
	 * job. Returns 0 if there is none. One short JOB read lock. */
	uint32_t (*job_part)(void *ctx, uint32_t job, bool component,
			     uint32_t n);
	/* Pending jobs that backfill has planned on these nodes within within_s
	 * seconds, the soonest first, and when running jobs leave theirs, if
	 * within that time: at most max rows, how many. One JOB read lock. */
	size_t (*jobs_ahead)(void *ctx, int64_t within_s,
			     struct vs_slurm_planned *rows, size_t max);
	/* All reservations that we have made are to be these: made, changed and
	 * deleted. Whatever else there is, of whatever name, is left alone. */
	void (*resvs_set)(void *ctx, const struct vs_slurm_resv *rows,
			  size_t n);
	/* Fills what v->uid is permitted. One short lock of slurm.conf. For the
	 * control channel: any thread, which holds no lock. */
	void (*viewer)(void *ctx, struct vs_viewer *v);
	/* Calls fn for each setting of slurm.conf that slurm-vsphere can't work
	 * with, under a lock of slurmctld. NULL: unknown. */
	void (*slurm_check)(void *ctx, const struct vs_slurm_bounds *b,
			    vs_slurm_found *fn, void *arg);
};

#endif
