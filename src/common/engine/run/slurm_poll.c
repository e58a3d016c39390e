/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the engine's thread asks of Slurm on its beat, what it tells Slurm at the end
 * of a turn, and the state file: all that it does with what is slow.
 *
 * Rules: the port takes slurmctld's locks, so it is called without the core's. The
 * modules say what is to be asked, and take the answer, with the lock held. Between
 * the two any thread may have changed anything: an answer is taken by name or number.
 */
#include <stdlib.h>
#include "engine/forecast/forecast.h"
#include "engine/jobs/jobs.h"
#include "engine/maintenance/maintenance.h"
#include "engine/persist/persist.h"
#include "engine/prefetch/prefetch.h"
#include "engine/reconcile/reconcile.h"
#include "engine/run/run.h"
#include "engine/run/run_i.h"
#include "engine/slurm/outbox.h"
#include "engine/slurm/slurm_ops.h"
#include "engine/state/state.h"
#include "util/crash.h"
#include "util/json.h"
#include "util/mem.h"

#define AHEAD_MAX 4096		/* planned nodes */

/* Jobs that were requeued or cancelled while they waited: Slurm is asked for all
 * that wait. */
void vs_waits_gone(struct vs_core *c)
{
	VS_FREE struct vs_wait_id *ids = NULL;
	VS_FREE struct vs_slurm_job *rows = NULL;
	size_t n, gone = 0;

	vs_lock();
	n = vs_waits_list(&ids);
	vs_unlock();
	if (!n)
		return;
	rows = vs_calloc(n, sizeof(*rows));
	for (size_t i = 0; i < n; i++)
		rows[i].job = ids[i].job;
	c->port->jobs_read(c->port->ctx, rows, n);
	for (size_t i = 0; i < n; i++)
		if (!rows[i].configuring || rows[i].restart != ids[i].restart)
			ids[gone++] = ids[i];
	if (!gone)
		return;
	vs_lock();
	for (size_t i = 0; i < gone; i++)
		vs_wait_gone(&ids[i]);
	vs_unlock();
}

/*
 * Slurm tells no plugin of a pending job's end: nothing is reclaimed, or said, for
 * one that has been cancelled. And backfill wipes a reason without asking again
 * whether the job may run: what was said of it holds.
 */
void vs_jobs_recheck(struct vs_core *c)
{
	static unsigned int turn;	/* whose turn it is among them */
	struct vs_slurm_job rows[64] = { 0 };
	uint32_t jobs[VS_COUNT(rows)];
	size_t n;

	vs_lock();
	n = vs_jobs_next(false, 0, &turn, jobs,
			 VS_COUNT(jobs));
	vs_unlock();
	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		rows[i].job = jobs[i];
	c->port->jobs_read(c->port->ctx, rows, n);
	vs_lock();
	for (size_t i = 0; i < n; i++)
		vs_job_rechecked(jobs[i], rows[i].waits, rows[i].start);
	vs_unlock();
}

void vs_forecast_read_slurm(struct vs_core *c)
{
	VS_FREE struct vs_slurm_job *rows = NULL;
	uint64_t epoch;
	size_t n;

	if (!c->port->jobs_read)
		return;
	vs_lock();
	epoch = c->epoch;
	n = vs_forecast_jobs(&rows);
	vs_unlock();
	if (!n)
		return;
	c->port->jobs_read(c->port->ctx, rows, n);
	vs_lock();
	if (epoch == c->epoch)
		vs_forecast_seen(c, rows, n);
	vs_unlock();
}

void vs_orphans_query_slurm(struct vs_core *c)
{
	VS_FREE struct vs_slurm_node *rows = NULL;
	size_t n;

	vs_lock();
	n = vs_orphans_list(&rows);
	vs_unlock();
	if (!n)
		return;
	c->port->nodes_read(c->port->ctx, rows, n);
	vs_lock();
	vs_orphans_answered(rows, n);
	vs_unlock();
	for (size_t i = 0; i < n; i++)
		free((char *)rows[i].name);
}

void vs_prefetch_read(struct vs_core *c, int64_t now_ms)
{
	VS_FREE struct vs_slurm_planned *rows = NULL;
	int64_t within_s;
	size_t n;

	vs_lock();
	within_s = vs_prefetch_within_s(c);
	vs_unlock();
	if (!within_s || !c->port->jobs_ahead)
		return;
	rows = vs_calloc(AHEAD_MAX, sizeof(*rows));
	n = c->port->jobs_ahead(c->port->ctx, within_s, rows, AHEAD_MAX);
	vs_lock();
	vs_prefetch_planned(c, rows, n, now_ms);
	vs_unlock();
}

void vs_draining_hosts_publish(struct vs_core *c, int64_t now_ms)
{
	const struct vs_slurm_ops *p = c->port;
	struct vs_slurm_resv *rows = NULL;
	size_t n = 0;
	bool due;

	vs_lock();
	due = vs_leaving_due(c, now_ms, &rows, &n);
	vs_unlock();
	if (!due)
		return;
	if (p->resvs_set) {
		vs_crash_before("tell", "resvs");
		p->resvs_set(p->ctx, rows, n);
		vs_crash_after("tell", "resvs");
	}
	for (size_t i = 0; i < n; i++) {
		free(rows[i].name);
		free(rows[i].nodes);
		free(rows[i].comment);
	}
	free(rows);
}

void vs_outbox_send(struct vs_core *c, struct vs_outbox_request *tells,
		    size_t n, int64_t now_ms, int64_t *push_ms)
{
	vs_lock();
	vs_outbox_assignments_take(tells, n);
	vs_unlock();
	vs_outbox_say(c, tells, n, vs_passes.whole, now_ms, push_ms);
	vs_lock();
	vs_outbox_answered(c, tells, n);
	vs_unlock();
}

void vs_state_file_save(struct vs_core *c, int64_t now_ms)
{
	VS_FREE char *dir = NULL, *text = NULL;
	struct json_object *top;
	struct vs_err err = { 0 };

	vs_lock();
	top = vs_state_file_snapshot(c, now_ms, &dir);
	vs_unlock();
	if (top)
		text = vs_jb_text_free(top);
	if (text && vs_state_file_write(dir, text, &err))
		vs_error("the state file is not saved: %s", err.text);
}
