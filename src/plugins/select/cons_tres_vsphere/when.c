/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the VFs that a job lacks now may be back: an estimate for backfill and
 * for people, from the ends of running jobs. It never says "now", and keeps no
 * node idle for what nobody knows.
 *
 * Runs inside job_test: memory alone, JOB R at least.
 */
#include "when.h"
#include "cluster.h"
#include "util/mem.h"

#define LATER 60		/* seconds, until idle warm VMs have given way */
#define UNKNOWN (365 * 24 * 3600)	/* beyond what backfill plans for */

struct earliest {
	time_t now, end;
};

/* The first end of a running job on nodes of ours. JOB R at least. */
static int earlier_end(void *x, void *arg)
{
	job_record_t *job_ptr = x;
	struct earliest *e = arg;
	VS_FREE int *ids = NULL;

	if (!IS_JOB_RUNNING(job_ptr) || job_ptr->end_time <= e->now ||
	    (e->end && job_ptr->end_time >= e->end))
		return 0;
	if (vs_cluster_ids(job_ptr->node_bitmap, &ids, NULL))
		e->end = job_ptr->end_time;
	return 0;
}

/* When the last running job leaves each node, by index. */
static int note_ends(void *x, void *arg)
{
	job_record_t *job_ptr = x;
	time_t *ends = arg;

	if (!IS_JOB_RUNNING(job_ptr) || !job_ptr->node_bitmap)
		return 0;
	for (int i = 0; i < node_record_count; i++)
		if (bit_test(job_ptr->node_bitmap, i))
			ends[i] = MAX(ends[i], job_ptr->end_time);
	return 0;
}

static int by_time(const void *a, const void *b)
{
	time_t ta = *(const time_t *)a, tb = *(const time_t *)b;

	return ta < tb ? -1 : ta > tb;
}

/*
 * The candidates, idle or not, are short of `missing` VFs: when will so many
 * nodes of the same adapter that are none have let go of theirs? 0: never, as
 * far as is known: the rest is with foreign VMs, or lost with its host.
 */
static time_t others_gone(const struct vs_core_api *core,
			  const bitstr_t *given, int first, size_t missing,
			  time_t now)
{
	VS_FREE time_t *ends = vs_calloc((size_t)node_record_count,
					 sizeof(*ends));
	VS_FREE time_t *gone = NULL;
	VS_FREE enum vs_avail *avail = NULL;
	VS_FREE int *ids = NULL, *at = NULL;
	bitstr_t *rest = bit_alloc(node_record_count);
	char *adapter = node_record_table_ptr[first]->config_ptr->feature;
	size_t n, count = 0;

	bit_not(rest);
	bit_and_not(rest, (bitstr_t *)given);
	n = vs_cluster_ids(rest, &ids, &at);
	FREE_NULL_BITMAP(rest);
	gone = vs_calloc(n + 1, sizeof(*gone));
	avail = vs_calloc(n + 1, sizeof(*avail));
	core->avail(ids, n, avail);
	list_for_each(job_list, note_ends, ends);
	for (size_t i = 0; i < n; i++)
		if (avail[i] == VS_AVAIL_WARM &&
		    !xstrcmp(node_record_table_ptr[at[i]]->config_ptr->feature,
			     adapter))
			gone[count++] = MAX(ends[at[i]], now + LATER);
	if (count < missing)
		return 0;
	qsort(gone, count, sizeof(*gone), by_time);
	return gone[missing - 1];
}

time_t vs_when(const bitstr_t *given, size_t missing)
{
	const struct vs_core_api *core = vs_cluster_core();
	VS_FREE int *ids = NULL, *at = NULL;
	time_t now = time(NULL), when;
	struct earliest e = { .now = now };

	if (missing && core && vs_cluster_ids(given, &ids, &at)) {
		when = others_gone(core, given, at[0], missing, now);
		return when ? when : now + UNKNOWN;
	}
	list_for_each(job_list, earlier_end, &e);
	return e.end ? e.end : now + LATER;
}
