/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The top of the engine: its thread, its term of leadership, vCenter's client, and
 * who hears of what. No module of the engine includes this header.
 */
#ifndef VS_ENGINE_RUN_H
#define VS_ENGINE_RUN_H

#include "engine/metrics/metrics.h"
#include "engine/state/state.h"

struct vs_outbox_request;

/* ---- reconfigure.c: the lock is held ---- */

/* Can the engine use this configuration? Returns 0. Returns -1 and sets err
 * (VS_E_CONFIG) if a node names what vsphere.conf does not have. */
int vs_setup_check(const struct vs_conf *conf, struct vs_err *err);
/* Puts it into force; calls continue for nodes that it still has. Takes
 * conf, which vs_setup_check() has passed. */
void vs_setup_apply(struct vs_core *c, struct vs_conf *conf_take);
/* Chooses the MACs of all nodes, by the cluster's id. */
void vs_setup_macs(struct vs_core *c);

/* ---- vcenter_events.c ---- */

/* What the client calls back, in the engine's thread; arg is the core. together()
 * takes the lock and gives it back; all others need it. */
extern const struct vs_vc_events vs_watch_events;
/* The client is gone: the outcome of calls under way is unknown until vCenter is read
 * again. The lock is held. */
void vs_calls_lost(struct vs_core *c);

/* ---- vcenter_connect.c ---- */

/* A client for the configuration in force, which tells `events`; read_only: it
 * refuses each changing call, as with Mode=observe. Returns NULL and sets err
 * (VS_E_CONFIG) if it can't be made. The lock is held. */
struct vs_vc *vs_watch_connect(struct vs_core *c,
			       const struct vs_vc_events *events,
			       bool read_only, struct vs_err *err);

/* ---- standalone.c: the checks without slurmctld ---- */

/* What failed; VS_STEPS: nothing. CONNECTION includes TLS. */
enum vs_standalone_step { VS_STEP_CONNECTION, VS_STEP_LOGIN, VS_STEP_NAMES,
			  VS_STEP_INVENTORY, VS_STEPS };
struct vs_standalone {
	enum vs_standalone_step failed;
	struct vs_err err;		/* of that step */
	char about[128], user[128];	/* vCenter's and the account's name, "" */
};
/* Reads vCenter once, for patience_ms at most, and judges the site. For a process of
 * its own that has no engine. Of port, viewer and slurm_check are called. Takes conf.
 * Returns the report "check", which the caller frees. Returns NULL and fills s if
 * vCenter can't be read. */
struct json_object *vs_standalone_check(struct vs_conf *conf_take,
					const struct vs_slurm_ops *port,
					int patience_ms,
					struct vs_standalone *s);

/* ---- saved_state.c ---- */

/* Takes what vs_state_file_read() has found (NULL: nothing), once in a term:
 * before the first comparison. The lock is held. Returns 0. Returns -1 and sets err
 * (VS_E_CONFIG) for a file of a newer format, which is not written either. */
int vs_state_file_load(struct vs_core *c, const char *text, struct vs_err *err);
/* What is to be written now, and the directory of the file. Returns NULL if nothing
 * is. The caller frees both. The lock is held, and lent meanwhile. */
struct json_object *vs_state_file_snapshot(struct vs_core *c, int64_t now_ms,
					   char **dir);

/* ---- slurm_poll.c: what Slurm is asked and told, and the state file. The engine's
 * thread, no lock held ---- */

void vs_waits_gone(struct vs_core *c);	/* prologs of jobs that wait no more */
void vs_orphans_query_slurm(struct vs_core *c);
void vs_prefetch_read(struct vs_core *c, int64_t now_ms);
void vs_jobs_recheck(struct vs_core *c);	/* those that were refused */
void vs_forecast_read_slurm(struct vs_core *c); /* at jobs that the timeline has */
void vs_draining_hosts_publish(struct vs_core *c, int64_t now_ms); /* reservations */
/* Writes the state file if something in it has changed, at most once a second. */
void vs_state_file_save(struct vs_core *c, int64_t now_ms);
/* Sends the requests in their order. *push_ms: when power saving was last asked for
 * nodes. */
void vs_outbox_send(struct vs_core *c, struct vs_outbox_request *tells,
		    size_t n, int64_t now_ms, int64_t *push_ms);

/* ---- leadership.c: the engine's thread; no lock is needed unless said ---- */

struct vs_leadership {
	bool held;
	int lock_fd;			/* -1: none */
	int64_t waits_since_ms;		/* for another one's end, 0: not */
	char *control_at;		/* svf is answered there, NULL: not */
	char *control_why;		/* why not, as logged */
	int64_t control_ms;		/* looked at then */
	struct vs_metrics_place metrics;
};
/* Takes the lock file in this directory. Returns false while another engine has it,
 * for 30 s. */
bool vs_leadership_take(struct vs_leadership *t, const char *state_dir,
			int64_t now_ms);
/* Gives the lock file back. */
void vs_leadership_drop(struct vs_leadership *t);
/* Serves svf where the configuration says: again when it names another address, or
 * while another process has the port. */
void vs_leadership_control(struct vs_leadership *t, const struct vs_conf *conf);
/* Forgets what an earlier term knew of jobs and nodes. Any thread; the lock is held. */
void vs_leadership_begin(struct vs_core *c);

/* ---- loop.c ---- */

/* Ends the leadership, if this process has it: no lock is held. */
void vs_leadership_yield(struct vs_core *c, struct vs_leadership *t);
/* One comparison of the two truths for every node. The lock is held. */
void vs_pass_run(struct vs_core *c, int64_t now_ms);
/* Tells the client how soon changes must be known, after a pass. The lock is held. */
void vs_activity_update(struct vs_core *c, int64_t now_ms);
/* The engine's thread, until vs_core_stops(); arg is the core. */
void *vs_loop_main(void *arg);

/* ---- api.c ---- */

/* job_begin of struct vs_core_api, within a question and with the lock held: brings
 * the flags of the job's nodes up to date, then vs_job_begin(). */
int vs_api_job_begin(struct vs_core *c, uint32_t job, uint32_t restart,
		     const int *ids, size_t n, struct vs_err *err);

/* The thread is to end. */
bool vs_core_stops(void);
/* slurmctld's exit() waits for the thread from now on. To be called when the
 * libraries that clean up at exit have registered for it. */
void vs_core_stops_at_exit(void);

#endif
