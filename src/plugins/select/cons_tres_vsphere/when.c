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
#include "../../bits.h"
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

	if (!IS_JOB_RUNNING(job_ptr) || job_ptr->end_time <= e->now ||
	    (e->end && job_ptr->end_time >= e->end))
		return 0;
	if (vs_cluster_first(job_ptr->node_bitmap) >= 0)
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
	VS_EACH_BIT(i, job_ptr->node_bitmap)
		ends[i] = MAX(ends[i], job_ptr->end_time);
	return 0;
}

/* The one that would be at `k` if they were sorted. */
static time_t kth(time_t *a, size_t n, size_t k)
{
	size_t lo = 0, hi = n - 1;

	while (lo < hi) {
		time_t pivot = a[lo + (hi - lo) / 2];
		size_t i = lo, j = hi;

		for (;; i++, j--) {
			time_t t;

			while (a[i] < pivot)
				i++;
			while (a[j] > pivot)
				j--;
			if (i >= j)
				break;
			t = a[i];
			a[i] = a[j];
			a[j] = t;
		}
		if (k <= j)
			hi = j;
		else
			lo = j + 1;
	}
	return a[k];
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
	static struct vs_picked p;
	static enum vs_avail *avail;
	static time_t *ends, *gone;	/* kept, as p is */
	static size_t navail, nends, ngone;
	bitstr_t *rest = bit_alloc(node_record_count);
	char *adapter = node_record_table_ptr[first]->config_ptr->feature;
	size_t n, count = 0;

	bit_not(rest);
	bit_and_not(rest, (bitstr_t *)given);
	n = vs_cluster_pick(rest, &p);
	FREE_NULL_BITMAP(rest);
	if (n < missing)
		return 0;
	VS_GROW(avail, navail, n);
	VS_GROW(gone, ngone, n);
	VS_GROW(ends, nends, node_record_count);
	core->room(p.ids, n, avail, NULL, 0);
	memset(ends, 0, (size_t)node_record_count * sizeof(*ends));
	list_for_each(job_list, note_ends, ends);
	for (size_t i = 0; i < n; i++) {
		char *of;

		if (avail[i] != VS_AVAIL_WARM)
			continue;
		of = node_record_table_ptr[p.at[i]]->config_ptr->feature;
		if (of == adapter || !xstrcmp(of, adapter))
			gone[count++] = MAX(ends[p.at[i]], now + LATER);
	}
	return count < missing ? 0 : kth(gone, count, missing - 1);
}

time_t vs_when(const bitstr_t *given, size_t missing)
{
	const struct vs_core_api *core = vs_cluster_core();
	int first = missing && core ? vs_cluster_first(given) : -1;
	time_t now = time(NULL), when;
	struct earliest e = { .now = now };

	if (first >= 0) {
		when = others_gone(core, given, first, missing, now);
		return when ? when : now + UNKNOWN;
	}
	list_for_each(job_list, earlier_end, &e);
	return e.end ? e.end : now + LATER;
}
