/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job's question to the core's timeline: how it ranks, how long it runs,
 * which reservations there are. What the timeline says is the core's.
 *
 * Runs inside job_test: memory alone, JOB R at least.
 */
#include "start_time.h"
#include "controller.h"
#include "util/mem.h"

#define YEAR (365 * 24 * 3600)

int64_t vs_lasts(const job_record_t *job_ptr)
{
	const part_record_t *part_ptr = job_ptr->part_ptr;
	uint32_t limit = job_ptr->time_limit;

	if (limit == NO_VAL && part_ptr)
		limit = part_ptr->default_time != NO_VAL ?
			part_ptr->default_time : part_ptr->max_time;
	return limit == NO_VAL || limit == INFINITE ? YEAR : (int64_t)limit * 60;
}

/* How many other QOS its own may preempt. */
static uint64_t preempts(const job_record_t *job_ptr)
{
	const slurmdb_qos_rec_t *qos_ptr = job_ptr->qos_ptr;

	if (!qos_ptr || !qos_ptr->preempt_bitstr ||
	    xstrcmp(slurm_conf.preempt_type, "preempt/qos"))
		return 0;
	return MIN((uint64_t)bit_set_count(qos_ptr->preempt_bitstr), 0xff);
}

/* As Slurm sorts its queue: who may preempt others, who has a reservation, the
 * tier, the priority. */
static uint64_t rank_of(const job_record_t *job_ptr)
{
	uint64_t tier = job_ptr->part_ptr ? job_ptr->part_ptr->priority_tier : 0;

	return preempts(job_ptr) << 56 |
	       (uint64_t)(job_ptr->resv_id != 0) << 48 | tier << 32 |
	       job_ptr->priority;
}

/* ---- reservations ----------------------------------------------------------------- */

struct reservations {
	struct vs_reservation *rows;
	size_t n, cap;
};

static int note(void *x, void *arg)
{
	const slurmctld_resv_t *resv_ptr = x;
	struct reservations *all = arg;
	struct vs_reservation *r;
	/* A floating one's times are said from now on. */
	time_t now = time(NULL), from =
		resv_ptr->flags & RESERVE_FLAG_TIME_FLOAT ? now : 0;

	/* In maintenance no managed node runs jobs. */
	if (!resv_ptr->node_bitmap || (resv_ptr->flags & RESERVE_FLAG_MAINT) ||
	    from + resv_ptr->end_time <= now)
		return 0;
	VS_GROW(all->rows, all->cap, all->n + 1);
	r = &all->rows[all->n];
	r->start = from + resv_ptr->start_time;
	r->end = from + resv_ptr->end_time;
	r->n = vs_cluster_ids(resv_ptr->node_bitmap, &r->ids, NULL);
	all->n += r->n > 0;
	return 0;
}

/* Once a second, as which of their nodes have jobs changes too. In a second in which
 * Slurm changes them, at each query: its own mark of a change is in seconds. */
static void reservations_tell(const struct vs_core_api *core)
{
	static time_t told;
	static bool any;
	struct reservations all = { 0 };
	time_t now = time(NULL);

	if ((told == now && last_resv_update < told) || !resv_list)
		return;
	told = now;
	list_for_each(resv_list, note, &all);
	if (all.n || any)
		core->reserved(all.rows, all.n);
	any = all.n > 0;
	for (size_t i = 0; i < all.n; i++)
		free(all.rows[i].ids);
	free(all.rows);
}

/* ---- questions -------------------------------------------------------------------- */

void vs_start_query(const struct vs_test *t, enum vs_query_mode mode)
{
	const struct vs_core_api *core = vs_cluster_core();

	if (core)
		core->asks((int64_t)MAX(time(NULL), VS_TEST_FROM(t)) +
			   vs_lasts(t->job_ptr), mode);
}

struct vs_requesting_job vs_requesting_job_fill(const struct vs_test *t)
{
	reservations_tell(vs_cluster_core());
	return (struct vs_requesting_job) {
		.job = t->job_ptr->job_id,
		.rank = rank_of(t->job_ptr),
		.now = time(NULL),
		.lasts = vs_lasts(t->job_ptr),
		.in_order = t->mode == SELECT_MODE_RUN_NOW &&
			vs_waits_in_order(t->job_ptr),
		.in_backfill = t->mode == SELECT_MODE_WILL_RUN,
		.passes = vs_backfill_passes(),
		.reserved = t->job_ptr->resv_name != NULL,
	};
}

time_t vs_start_time(const struct vs_test *t, const bitstr_t *answer,
		     time_t from)
{
	const struct vs_core_api *core = vs_cluster_core();
	struct vs_requesting_job a = vs_requesting_job_fill(t);
	VS_FREE int *ids = NULL;
	size_t n = vs_cluster_ids(answer, &ids, NULL);

	return n ? (time_t)core->when(&a, ids, n, MAX(from, a.now)) : from;
}

void vs_start_publish(const struct vs_test *t, const bitstr_t *answer,
		      time_t start)
{
	const struct vs_core_api *core = vs_cluster_core();
	struct vs_requesting_job a = vs_requesting_job_fill(t);
	VS_FREE int *ids = NULL;
	size_t n;

	if (!(t->job_ptr->bit_flags & BACKFILL_TEST))
		return;
	n = vs_cluster_ids(answer, &ids, NULL);
	if (n)
		core->planned(&a, ids, n, start);
}
