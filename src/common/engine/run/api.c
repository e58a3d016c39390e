/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core's face: the table of functions that the plugins call from
 * slurmctld's threads, inside slurmctld's locks. Every one of them is memory
 * work under one mutex; none waits for the network, the disk or Slurm.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* pthread_setname_np */
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "engine/allocation/allocation.h"
#include "engine/forecast/forecast.h"
#include "engine/hosts/hosts.h"
#include "engine/jobs/jobs.h"
#include "engine/preemption/preemption.h"
#include "engine/reconcile/reconcile.h"
#include "engine/run/api.h"
#include "engine/run/run.h"
#include "engine/slurm/outbox.h"
#include "engine/state/state.h"
#include "util/crash.h"
#include "util/mem.h"
#include "util/time.h"

#define EXIT_WAIT_S 3		/* more than a logout may take */

static pthread_t thread;
static atomic_bool thread_runs, stop;

bool vs_core_stops(void)
{
	return stop;
}

static int thread_start(struct vs_core *c, struct vs_err *err)
{
	sigset_t all, old;
	int rc;

	if (c->wake_fd < 0)
		c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->wake_fd < 0)
		return vs_err_set(err, VS_E_BUG, "eventfd: %s",
				  strerror(errno));
	/* Signals are slurmctld's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	stop = false;
	rc = pthread_create(&thread, NULL, vs_loop_main, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return vs_err_set(err, VS_E_BUG, "pthread_create: %s",
				  strerror(rc));
	pthread_setname_np(thread, "vs_engine");
	thread_runs = true;
	return 0;
}

static int core_start(struct vs_conf *conf, const struct vs_slurm_ops *port,
		      struct vs_err *err)
{
	struct vs_core *c = &vs_core;
	bool first;
	int rc = 0;

	if (vs_setup_check(conf, err)) {
		vs_conf_free(conf);
		return -1;
	}
	vs_lock();
	first = !thread_runs;
	if (first)
		c->port = port;		/* the thread reads it without lock */
	vs_setup_apply(c, conf);
	vs_client_renew();
	/* The new adapters' networks are not resolved: nothing may be judged
	 * by the old client's word meanwhile. */
	vs_vc_lost(c);
	if (first)
		rc = thread_start(c, err);
	vs_unlock();
	vs_wake();
	return rc;
}

static void core_stop(void)
{
	stop = true;
	vs_wake();
	if (thread_runs)
		pthread_join(thread, NULL);
	thread_runs = false;
}

/*
 * slurmctld leaves by exit(), without a word to its plugins. What OpenSSL then
 * frees goes away under the thread's feet: it has to end first. No lock is
 * taken and nothing waited for without an end, for exit() may come from fatal()
 * in whatever place, and in a child after fork() there is no such thread.
 */
static pid_t exit_pid;

static void at_exit(void)
{
	struct timespec until;

	if (!thread_runs || getpid() != exit_pid ||
	    pthread_equal(pthread_self(), thread))
		return;
	stop = true;
	vs_wake();
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += EXIT_WAIT_S;
	if (!pthread_timedjoin_np(thread, NULL, &until))
		thread_runs = false;
}

void vs_core_stops_at_exit(void)
{
	if (exit_pid != getpid() && !atexit(at_exit))
		exit_pid = getpid();
}

static void core_try_again(void)
{
	vs_lock_priority();
	vs_client_retry();
	vs_unlock();
	vs_wake();
}

static void core_new_term(void)
{
	vs_lock_priority();
	vs_leadership_begin(&vs_core);
	vs_unlock();
	vs_wake();
}

static bool core_running(void)
{
	return thread_runs;
}

static atomic_uint_fast64_t renumbered;	/* no fact of the engine's own */

static uint64_t core_epoch(void)
{
	return __atomic_load_n(&vs_core.epoch, __ATOMIC_ACQUIRE) +
		atomic_load(&renumbered);
}

static void core_node_ids(const char *const *names, size_t n, int *ids)
{
	vs_lock_priority();
	for (size_t i = 0; i < n; i++) {
		const struct vs_node *node = vs_node_named(&vs_core, names[i]);

		ids[i] = node ? node->id : -1;
	}
	vs_unlock();
}

static int64_t asked_end;	/* that for which slurmctld asks ends then */

/* A question of slurmctld's: for what it is asked ends when it has said. */
static void question_begin(void)
{
	vs_lock_priority();
	vs_query_counts_core();
	vs_until_set(asked_end);
}

static void question_end(void)
{
	vs_until_set(0);
	vs_unlock();
}

static void core_asks(int64_t end, enum vs_query_mode mode)
{
	vs_lock_priority();
	asked_end = end;
	vs_query_counts_call(mode);
	vs_unlock();
}

static size_t core_room(const int *ids, size_t n, enum vs_avail *out,
			char *why, size_t size)
{
	size_t room;

	question_begin();
	room = vs_query_capacity(&vs_core, ids, n, out, why, size);
	question_end();
	return room;
}

static int core_check(const int *ids, size_t n, size_t *surplus,
		      size_t *nsurplus, struct vs_err *err)
{
	int rc;

	question_begin();
	rc = vs_query_check(&vs_core, ids, n, surplus, nsurplus, err);
	question_end();
	return rc;
}

static bool core_ever(const int *ids, size_t n, struct vs_err *err)
{
	bool ever;

	vs_lock_priority();
	vs_query_counts_core();
	ever = vs_query_ever(&vs_core, ids, n, err);
	vs_unlock();
	return ever;
}

static size_t core_capacity(const int *ids, size_t n, size_t want, bool more)
{
	size_t most;

	vs_lock_priority();
	most = vs_submit_capacity(&vs_core, ids, n, want, more);
	vs_unlock();
	return most;
}

static void core_kinds(const int *ids, size_t n, struct vs_vm_type *out,
		       char ***names)
{
	vs_lock_priority();
	vs_submit_kinds(&vs_core, ids, n, out, names);
	vs_unlock();
}

static void core_renumbered(void)
{
	atomic_fetch_add(&renumbered, 1);
}

static void core_refused(const struct vs_requesting_job *a, const int *ids,
			 size_t n, size_t need, size_t have, const char *why)
{
	char words[256];

	vs_lock_priority();
	vs_query_counts_core();
	vs_shortage_text(&vs_core, ids, n, need, have, why, words,
			 sizeof(words));
	vs_job_set_pending(&vs_core, a, ids, n, need, words);
	vs_unlock();
	if (a->lacks != VS_PENDING_NODES)
		vs_wake();
}

static int core_make_room(uint32_t job, const int *ids, size_t n,
			  const struct vs_victim *victims, size_t nvictims,
			  bool *take)
{
	int taken;

	question_begin();
	vs_crash_before("core", "make_room");
	taken = vs_preemption_victims(&vs_core, job, ids, n, victims, nvictims,
				      take);
	vs_crash_after("core", "make_room");
	question_end();
	return taken;
}

static size_t core_spare(const struct vs_requesting_job *a, const int *ids,
			 size_t n, enum vs_avail *avail, size_t *left)
{
	size_t spare;

	question_begin();
	spare = vs_forecast_surplus(&vs_core, a, ids, n, avail, left);
	question_end();
	return spare;
}

static int64_t core_when(const struct vs_requesting_job *a, const int *ids,
			 size_t n, int64_t from)
{
	int64_t at;

	question_begin();
	at = vs_start_time(&vs_core, a, ids, n, from);
	question_end();
	return at;
}

static bool core_others_give(const struct vs_requesting_job *a, const int *ids,
			     size_t n, int64_t by)
{
	bool give;

	question_begin();
	give = vs_forecast_others_release(&vs_core, a, ids, n, by);
	question_end();
	return give;
}

static void core_planned(const struct vs_requesting_job *a, const int *ids,
			 size_t n, int64_t start)
{
	vs_lock_priority();
	vs_query_counts_core();
	vs_forecast_planned(&vs_core, a, ids, n, start);
	vs_unlock();
}

static void core_job_until(uint32_t job, int64_t end)
{
	vs_lock_priority();
	vs_forecast_job_end(&vs_core, job, end);
	vs_unlock();
}

static void core_reserved(const struct vs_reservation *r, size_t n)
{
	vs_lock_priority();
	vs_forecast_reserved(&vs_core, r, n);
	vs_unlock();
}

/* Slurm allocates no node that is powering down. So SuspendTimeout has ended since the
 * engine read the node's flags, and the job's holds must not end with that. */
static void powered_down_since(struct vs_core *c, struct vs_node *n)
{
	if (n && n->flags & VS_NODE_POWERING_DOWN)
		vs_node_flags(c, n, (n->flags & ~VS_NODE_POWERING_DOWN) |
			      VS_NODE_POWERED_DOWN);
}

int vs_api_job_begin(struct vs_core *c, uint32_t job, uint32_t restart,
		     const int *ids, size_t n, struct vs_err *err)
{
	for (size_t i = 0; i < n && !vs_query_blocked(c); i++)
		powered_down_since(c, vs_node_at(c, ids[i]));
	return vs_job_begin(c, job, restart, ids, n, err);
}

static int core_job_begin(uint32_t job, uint32_t restart, const int *ids,
			  size_t n, struct vs_err *err)
{
	int rc;

	vs_crash_before("core", "job_begin");
	question_begin();
	rc = vs_api_job_begin(&vs_core, job, restart, ids, n, err);
	question_end();
	vs_crash_after("core", "job_begin");
	if (!rc)
		vs_wake();
	return rc;
}

static void core_job_wait(uint32_t job, uint32_t restart, const int *ids,
			  size_t n)
{
	vs_crash_before("core", "job_wait");
	vs_lock_priority();
	vs_job_wait(&vs_core, job, restart, ids, n);
	vs_unlock();
	vs_crash_after("core", "job_wait");
	vs_wake();
}

static void core_job_end(uint32_t job, const int *ids, size_t n, bool notify)
{
	vs_crash_before("core", "job_end");
	vs_lock_priority();
	vs_job_end(&vs_core, job, ids, n, notify);
	vs_unlock();
	vs_crash_after("core", "job_end");
	vs_wake();
}

static void core_job_claim(uint32_t job, uint32_t restart, const int *ids,
			   size_t n, bool launched)
{
	vs_crash_before("core", "job_claim");
	vs_lock_priority();
	vs_job_claim(&vs_core, job, restart, ids, n, launched);
	vs_unlock();
	vs_crash_after("core", "job_claim");
}

static void core_why(uint32_t job, char *out, size_t size)
{
	struct vs_pending *r;

	vs_lock_priority();
	r = vs_refusal(job);
	vs_strlcpy(out, "", size);
	if (r)
		vs_job_pending_text(&vs_core, r, out, size);
	vs_unlock();
}

static void core_prep_ops(const struct vs_prep_ops *ops)
{
	vs_lock_priority();
	vs_outbox_prep_set(ops);
	vs_unlock();
}

static void core_timed(enum vs_timed what, int64_t us, int64_t cpu_us)
{
	if (what == VS_TIMED_STOCK)
		vs_query_counts_stock();
	else
		vs_timed_add(what, us, cpu_us);
}

static const struct vs_core_api api = {
	.timed = core_timed,
	.version = VS_CORE_API_VERSION,
	.log_to = vs_log_to,
	.setup = vs_vc_setup,
	.start = core_start,
	.stop = core_stop,
	.running = core_running,
	.try_again = core_try_again,
	.new_term = core_new_term,
	.epoch = core_epoch,
	.node_ids = core_node_ids,
	.asks = core_asks,
	.room = core_room,
	.check = core_check,
	.ever = core_ever,
	.capacity = core_capacity,
	.kinds = core_kinds,
	.renumbered = core_renumbered,
	.refused = core_refused,
	.make_room = core_make_room,
	.spare = core_spare,
	.when = core_when,
	.others_give = core_others_give,
	.planned = core_planned,
	.job_until = core_job_until,
	.reserved = core_reserved,
	.job_begin = core_job_begin,
	.job_wait = core_job_wait,
	.job_end = core_job_end,
	.job_claim = core_job_claim,
	.why = core_why,
	.prep_ops = core_prep_ops,
};

__attribute__((visibility("default")))
const struct vs_core_api *vs_core_api_get(void)
{
	return &api;
}
