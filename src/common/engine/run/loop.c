/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine's thread: vCenter's events in, Slurm's node flags read on a beat,
 * each node compared and moved one step, words to Slurm sent at the end of the
 * turn with no lock held. It waits for I/O and for slurmctld's locks, and no
 * thread waits for it.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/allocation/allocation.h"
#include "engine/checks/checks.h"
#include "engine/clone_source/clone_source.h"
#include "engine/control/control.h"
#include "engine/forecast/forecast.h"
#include "engine/hosts/hosts.h"
#include "engine/jobs/jobs.h"
#include "engine/maintenance/maintenance.h"
#include "engine/metrics/metrics.h"
#include "engine/persist/persist.h"
#include "engine/preemption/preemption.h"
#include "engine/prefetch/prefetch.h"
#include "engine/provision/provision.h"
#include "engine/reconcile/reconcile.h"
#include "engine/run/run.h"
#include "engine/run/run_i.h"
#include "engine/slurm/outbox.h"
#include "engine/slurm/slurm_ops.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "util/crash.h"
#include "util/mem.h"
#include "util/time.h"

#define BEAT_BUSY_MS 100	/* a job waits for a node, */
#define BEAT_MANY_MS 250	/* or for many */
#define BEAT_IDLE_MS 1000
#define LOOK_MS 100		/* whether another one is in control */
#define PUSH_MS 1000
#define CONTROL_MS 1000
#define LOGOUT_MS 1000
#define FULL_MS 5000
#define WHOLE_MS 250		/* with few nodes to look at */
#define WHOLE_MAX_MS 1000
#define MANY 256		/* nodes */
#define RENEW_MS 10000
#define SLICE 64		/* nodes between two breaths */

struct vs_passes vs_passes = { .full_ms = INT64_MIN / 2 };

struct loop {
	struct vs_core *c;
	struct vs_leadership term;
	struct vs_slurm_node *rows;
	size_t nrows;
	uint64_t epoch;
	bool logs_in;			/* whatever was before this process */
	int64_t read_ms, push_ms, schedule_ms, orphans_ms, renew_ms;
};

/* ---- Slurm's word -------------------------------------------------------------- */

static void rows_renew(struct loop *l)
{
	struct vs_core *c = l->c;

	vs_lock();
	if (l->epoch != c->epoch || !l->rows) {
		for (size_t i = 0; i < l->nrows; i++)
			free((char *)l->rows[i].name);
		free(l->rows);
		l->nrows = c->nnodes;
		l->rows = vs_calloc(l->nrows + 1, sizeof(*l->rows));
		for (size_t i = 0; i < l->nrows; i++)
			l->rows[i].name = vs_strdup(c->nodes[i].name);
		l->epoch = c->epoch;
	}
	vs_unlock();
}

static void flags_take(struct vs_core *c, struct vs_node *n, void *arg)
{
	const struct loop *l = arg;

	vs_prefetch_suspend_set(n, l->rows[n->id].suspend_ms);
	vs_node_flags(c, n, l->rows[n->id].flags);
}

static void nodes_read(struct loop *l, int64_t now_ms)
{
	struct vs_core *c = l->c;

	rows_renew(l);
	c->port->nodes_read(c->port->ctx, l->rows, l->nrows);
	l->read_ms = now_ms;
	vs_lock();
	if (l->epoch == c->epoch)
		vs_each_node(c, flags_take, l);
	vs_unlock();
}

/* ---- the pass ---------------------------------------------------------------------- */

/* Nothing will be done for it until a fact is touched. */
static bool rests(const struct vs_node *n)
{
	const uint32_t stirs = VS_COND_ADOPTING | VS_COND_VACATE |
		VS_COND_RELEASED | VS_COND_REBUILD | VS_COND_POWER_CYCLE |
		VS_COND_HOST_DRAIN;

	return n->kept->fresh && n->action == VS_DO_NOTHING &&
	       n->op.kind == VS_OP_NONE && !vs_node_is(n, stirs) &&
	       !n->vmotion.state && !n->claims.ending_ms &&
	       !n->guest.stuck_ms && !vs_vm_actions_any(&n->orders) &&
	       (n->wanted == VS_DESIRED_KEEP || n->wanted == VS_DESIRED_OFF ||
		n->wanted == VS_DESIRED_GONE || n->wanted == VS_DESIRED_AHEAD);
}

/* Let slurmctld's threads have the lock. False: nothing of before holds. Not by each.c:
 * to place a vMotion takes long, and a pass ends when the inventory is gone. */
static bool breathe(struct vs_core *c, size_t i)
{
	uint64_t epoch = c->epoch;

	if (vs_vmotion_placed_taken() || i % SLICE == SLICE - 1) {
		vs_lock_yield();
		/* None is placed by those who have had it. */
		vs_vmotion_placed_taken();
	}
	return c->epoch == epoch && c->loaded;
}

static void look(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	vs_node_looked(n);
	n->kept->looked = true;
	vs_node_observe(c, n, now_ms);
}

/* Thousands wait for a budget or for their guests: between two whole turns for
 * those alone of which a fact was touched, or that can have a budget now. */
static bool is_due(const struct vs_core *c, const struct vs_node *n)
{
	return vs_passes.whole || !n->kept->fresh || n->kept->looked ||
		(vs_tasks_ended() && n->op.kind == VS_OP_NONE &&
		 n->action != VS_DO_NOTHING && vs_op_affords(c, n->action));
}

static void node_pass(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	struct vs_node_summary *k = n->kept;

	if (!k->fresh)
		look(c, n, now_ms);
	k->looked = false;
	vs_node_apply(c, n, now_ms);
	vs_node_assert(c, n);
	vs_forecast_update_node(c, n);
	vs_node_rests_set(n, rests(n));
	k->up = n->wanted == VS_DESIRED_KEEP;
	k->astir = !k->up && n->action != VS_DO_NOTHING;
	if (k->epoch != c->facts_epoch)	/* before the first query */
		vs_node_avail(c, n);
}

/* The more they are, the longer each of them waits for others anyway. */
static int64_t whole_every_ms(void)
{
	int64_t ms = WHOLE_MS * (1 + (int64_t)(vs_passes.restless / MANY));

	return ms < WHOLE_MAX_MS ? ms : WHOLE_MAX_MS;
}

/* Those that rest are passed over, but not for ever: FULL_MS. False: the
 * configuration has changed meanwhile. */
static bool nodes_pass(struct vs_core *c, int64_t now_ms)
{
	bool all = !c->ready || vs_passes.facts_epoch != c->facts_epoch ||
		now_ms - vs_passes.full_ms >= FULL_MS, astir = false;
	bool keeps = vs_passes.keeps && !all;
	size_t restless = 0;

	if (all) {
		vs_passes.full_ms = now_ms;
		vs_passes.facts_epoch = c->facts_epoch;
	}
	vs_passes.whole = all || vs_name_freed_pending() ||
		now_ms - vs_passes.whole_ms >= whole_every_ms();
	vs_passes.restless = c->nnodes;	/* until all have been seen */
	if (vs_passes.whole)
		vs_passes.whole_ms = now_ms;
	/* All holds first: existing requests go before new ones. */
	for (size_t i = 0; i < c->nnodes; i++) {
		if (all)
			vs_node_rests_set(&c->nodes[i], false);
		if (!c->kept[i].rests && (vs_passes.whole || !c->kept[i].fresh))
			look(c, &c->nodes[i], now_ms);
		if (!breathe(c, i))
			return false;
	}
	if (c->blocked[0]) {
		vs_passes.whole = true;
		vs_boots_push(c, now_ms);
		return true;
	}
	for (size_t i = 0; i < c->nnodes; i++) {
		struct vs_node *n = &c->nodes[i];
		struct vs_node_summary *k = &c->kept[i];

		if (k->rests)
			continue;
		if (!is_due(c, n)) {
			astir |= k->astir;
			keeps |= k->up;
			restless++;
			continue;
		}
		node_pass(c, n, now_ms);
		restless += !k->rests;
		astir |= k->astir;
		keeps |= k->up;
		if (!breathe(c, i))
			return false;
	}
	vs_passes.astir = astir;
	vs_passes.restless = restless;
	vs_passes.keeps = keeps;
	vs_tasks_ended_clear();
	return true;
}

/* One comparison of the two truths for every node. */
void vs_pass_run(struct vs_core *c, int64_t now_ms)
{
	uint64_t epoch = c->epoch;

	vs_exclude_expire(now_ms);
	vs_maintenance_windows_update(c);
	vs_breakers_observe(c);
	vs_passes.whole = true;
	if (!c->loaded || !c->found || vs_client_renewed() ||
	    !vs_poll_is_due(c)) {
		vs_boots_push(c, now_ms);
		vs_waits_update(c, now_ms);
		return;
	}
	vs_unowned_tasks_update(c, now_ms);
	vs_clones_update(c);
	vs_template_hosts_update(c);
	vs_checks_update(c, now_ms);
	/* The lock was lent: another configuration may have come, and the
	 * inventory be the old one's. */
	if (c->epoch != epoch)
		return;
	vs_preflight(c);
	vs_orphans_update(c, now_ms);
	vs_clone_sources_update(c, now_ms);
	vs_vmotions_update(c, now_ms);
	if (!nodes_pass(c, now_ms))
		return;
	vs_assignments_moved(c);
	if (c->epoch != epoch)
		return;
	if (!c->ready) {
		vs_crash_before("core", "ready");
		vs_vc_ready(c);
		/* What may not be touched has not been judged yet either. */
		c->started |= !c->blocked[0];
		vs_capacity_freed();
		vs_activity_wake(now_ms);
		vs_vmotions_forget();
		vs_info("ready: nodes=%zu hosts=%d", c->nnodes, c->inv.nhosts);
		/* Jobs of before a restart: Slurm's next full pass is a minute
		 * away, and until then it is unknown what they wait for. */
		vs_outbox_post(VS_REQUEST_SCHEDULE, NULL, 0, true, NULL);
		vs_crash_after("core", "ready");
	}
	vs_waits_update(c, now_ms);
	vs_reclaim(c, now_ms);
	vs_prefetch_update(c, now_ms);
	vs_capacity_recount(c);
}

/* What is wanted or under way: changes in vCenter must be known at once. */
static bool stirs(const struct vs_core *c)
{
	return !c->ready || c->blocked[0] || c->unserved[0] ||
	       vs_passes.restless || vs_waits() || vs_refusals() ||
	       vs_unowned_tasks_count() || vs_orphans() ||
	       !LIST_EMPTY(&c->busy);
}

void vs_activity_update(struct vs_core *c, int64_t now_ms)
{
	vs_activity_publish(c, stirs(c), vs_passes.keeps, now_ms);
}

static bool busy(void)
{
	return vs_waits() || vs_tasks_provisioning() || vs_tasks_power_ops() ||
		vs_passes.astir;
}

/* ---- the client's life ---------------------------------------------------------------- */

/* The first login after a start, which another process may have tried. */
static bool login_barred(struct loop *l, struct vs_err *err)
{
	VS_FREE char *dir = NULL, *user = NULL, *file = NULL;
	int64_t left_ms;

	if (l->logs_in)
		return false;
	vs_lock();
	dir = vs_strdup(l->c->conf->state_dir);
	user = vs_strdup(l->c->conf->username);
	file = vs_strdup(l->c->conf->password_file);
	vs_unlock();
	left_ms = vs_login_blocked_ms(dir, user, file);
	l->logs_in = !left_ms;
	if (left_ms)
		vs_err_set(err, VS_E_LOGIN,
			   "vCenter has refused the login with VCenterUser=%s and the password in VCenterPasswordFile=%s before this start: the login is tried again in %d s, when that file changes, at scontrol reconfigure or svf reconcile",
			   user, file, (int)(left_ms / 1000) + 1);
	return left_ms > 0;
}

/* The files of StateSaveLocation are read without the lock. */
static void client_renew(struct loop *l, int64_t now_ms)
{
	struct vs_core *c = l->c;
	struct vs_err err = { 0 };
	char id[VS_UUID_LEN] = "";
	VS_FREE char *dir = NULL, *hints = NULL;
	struct vs_vc *old, *vc = NULL;

	vs_lock();
	vs_client_renew_clear();
	vs_vc_lost(c);
	vs_calls_lost(c);
	old = c->vc;
	c->vc = NULL;
	dir = vs_strdup(c->conf->state_dir);
	vs_unlock();
	if (old)
		vs_vc_free(old, 2000);
	hints = vs_state_file_read(dir);
	if (!login_barred(l, &err) && !vs_cluster_id_load(dir, id, &err)) {
		vs_lock();
		vs_strlcpy(c->cluster_id, id, sizeof(c->cluster_id));
		vs_setup_macs(c);
		if (!vs_state_file_load(c, hints, &err))
			vc = vs_watch_connect(c, &vs_watch_events, false, &err);
		vs_unlock();
	}
	vs_lock();
	c->vc = vc;
	vs_vc_state_set(c, vc ? "connecting to vCenter" : err.text);
	vs_vc_since_set(vs_wall_ms());
	/* Only this tries again, after a full file system for example. */
	if (!vc)
		vs_client_renew();
	vs_unlock();
	if (vc)
		vs_core_stops_at_exit();
	if (!vc && !l->renew_ms)
		vs_error("%s", err.text);
	l->renew_ms = vc ? 0 : now_ms + RENEW_MS;
}

static void drain(int fd)
{
	uint64_t count;

	while (read(fd, &count, sizeof(count)) > 0)
		;
}

/*
 * Until something happens, or wait_ms are over, or another one is in control:
 * a process that a reconfigure replaces ends without a word to its threads, and
 * the session is to be given back before that.
 */
static void rest(struct vs_core *c, int64_t now_ms, int wait_ms)
{
	struct pollfd wake = { .fd = c->wake_fd, .events = POLLIN };
	int64_t end_ms = now_ms + wait_ms;
	bool woken;

	do {
		int left = end_ms - now_ms < LOOK_MS ? end_ms - now_ms : LOOK_MS;

		woken = c->vc ? vs_vc_iterate(c->vc, now_ms, left, c->wake_fd)
			      : poll(&wake, 1, left) != 0;
		now_ms = vs_clock();
	} while (!woken && now_ms < end_ms && c->port->active(c->port->ctx));
	drain(c->wake_fd);
}

/* What operators have asked for: a reading, or a login that was refused too. */
static void ask_vcenter(struct loop *l, bool look, bool retry)
{
	struct vs_core *c = l->c;

	if (c->vc && (look || retry)) {
		vs_vc_poll_set(c->vc, VS_VC_POLL_HIGH);
		if (retry)
			vs_vc_retry(c->vc);
		vs_vc_poll_request(c->vc); /* what was fixed shows at once */
	} else if (retry) {
		l->logs_in = true;
		l->renew_ms = 0;
	}
}

static void turn(struct loop *l)
{
	struct vs_core *c = l->c;
	struct vs_outbox_request *tells;
	size_t ntells;
	int64_t now_ms = vs_clock();
	bool is_busy, retry, look;

	vs_lock();
	is_busy = busy();
	retry = vs_client_retry_taken();
	look = vs_checks_look_taken();
	vs_unlock();
	ask_vcenter(l, look, retry);
	rest(c, now_ms, !c->vc ? BEAT_IDLE_MS : is_busy ? BEAT_BUSY_MS / 2 : 500);
	now_ms = vs_clock();
	if (!c->port->active(c->port->ctx))
		return;
	if (now_ms - l->read_ms >= (!is_busy ? BEAT_IDLE_MS :
				    vs_passes.restless < MANY ? BEAT_BUSY_MS :
				    BEAT_MANY_MS)) {
		nodes_read(l, now_ms);
		vs_waits_gone(c);
	}
	if (now_ms - l->orphans_ms >= BEAT_IDLE_MS) {
		l->orphans_ms = now_ms;
		vs_orphans_query_slurm(c);
		vs_prefetch_read(c, now_ms);
		vs_jobs_recheck(c);
		vs_forecast_read_slurm(c);
	}
	vs_lock();
	vs_pass_run(c, now_ms);
	vs_activity_update(c, now_ms);
	vs_job_reasons(c, now_ms);
	if (vs_capacity_freed_pending() && now_ms - l->schedule_ms >= PUSH_MS) {
		vs_capacity_freed_clear();
		l->schedule_ms = now_ms;
		if (vs_jobs_need_vfs())
			vs_outbox_post(VS_REQUEST_SCHEDULE, NULL, 0, true,
				       NULL);
	}
	if (vs_name_freed_pending()) {
		vs_name_freed_clear();
		vs_outbox_post(VS_REQUEST_SCHEDULE, NULL, 0, true, NULL);
		vs_outbox_post(VS_REQUEST_SCAN, NULL, 0, false, NULL);
	}
	tells = vs_outbox_take(&ntells);
	vs_unlock();
	vs_outbox_send(c, tells, ntells, now_ms, &l->push_ms);
	free(tells);
	vs_draining_hosts_publish(c, now_ms);
	vs_state_file_save(c, now_ms);
}

/* ---- leadership ---------------------------------------------------------------------- */

static bool term_take(struct vs_core *c, struct vs_leadership *t,
		      int64_t now_ms)
{
	VS_FREE char *dir = NULL;

	vs_lock();
	dir = vs_strdup(c->conf->state_dir);
	vs_unlock();
	if (!vs_leadership_take(t, dir, now_ms))
		return false;
	vs_lock();
	vs_client_renew();
	vs_unlock();
	return true;
}

void vs_leadership_yield(struct vs_core *c, struct vs_leadership *t)
{
	struct vs_vc *vc;

	if (!t->held)
		return;
	t->held = false;
	vs_lock();
	vc = c->vc;
	c->vc = NULL;
	vs_vc_lost(c);
	vs_calls_lost(c);
	vs_orphans_clear();
	vs_vc_state_set(c, "this slurmctld is not in control");
	vs_state_file_urgent();
	vs_unlock();
	vs_vc_free(vc, LOGOUT_MS);
	vs_control_stop();
	vs_metrics_end(&t->metrics);
	vs_str_replace(&t->control_at, NULL);
	vs_str_replace(&t->control_why, NULL);
	t->control_ms = 0;
	vs_state_file_save(c, vs_clock());
	vs_lock();
	vs_state_file_read_done(false);	/* others will write them */
	vs_unlock();
	vs_leadership_drop(t);
}

static void control_keep(struct vs_core *c, struct vs_leadership *t,
			 int64_t now_ms)
{
	VS_FREE char *addr = NULL, *munge = NULL, *dir = NULL, *cluster = NULL;
	struct vs_conf conf;

	if (now_ms - t->control_ms < CONTROL_MS)
		return;
	t->control_ms = now_ms;
	vs_lock();
	conf = (struct vs_conf) {
		.svf_listen_addr = addr = vs_strdup(c->conf->svf_listen_addr),
		.svf_port = c->conf->svf_port,
		.munge_socket = munge = vs_strdup(c->conf->munge_socket),
		.state_dir = dir = vs_strdup(c->conf->state_dir),
		.slurm.cluster = cluster = vs_strdup(c->conf->slurm.cluster),
		.password_uid = c->conf->password_uid,
	};
	vs_unlock();
	vs_leadership_control(t, &conf);
}

/* Is this process in control now? */
static bool term_holds(struct vs_core *c, struct vs_leadership *t)
{
	int64_t now_ms = vs_clock();

	if (!c->port->active(c->port->ctx)) {
		vs_leadership_yield(c, t);
		return false;
	}
	if (!t->held && !term_take(c, t, now_ms))
		return false;
	control_keep(c, t, now_ms);
	vs_metrics_keep(c, &t->metrics, now_ms);
	return true;
}

static bool goes_on(bool *renew)
{
	bool on;

	vs_lock();
	on = !vs_core_stops();
	*renew = vs_client_renewed();
	vs_unlock();
	return on;
}

void *vs_loop_main(void *arg)
{
	struct loop l = { .c = arg, .term.lock_fd = -1 };
	struct vs_core *c = arg;
	struct pollfd wake = { .fd = c->wake_fd, .events = POLLIN };
	bool renew;

	for (;;) {
		bool holds = term_holds(c, &l.term);

		if (!goes_on(&renew))
			break;
		if (!holds) {
			poll(&wake, 1, BEAT_IDLE_MS);
			drain(c->wake_fd);
			continue;
		}
		if (renew && vs_clock() >= l.renew_ms) {
			vs_crash_before("core", "renew");
			client_renew(&l, vs_clock());
			vs_crash_after("core", "renew");
		}
		turn(&l);
	}
	vs_leadership_yield(c, &l.term);
	for (size_t i = 0; i < l.nrows; i++)
		free((char *)l.rows[i].name);
	free(l.rows);
	return NULL;
}
