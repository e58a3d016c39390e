/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See candidates.h. Candidates are gone through once for each of: which are
 * managed, what the core says, weights there and back; the arrays are kept from
 * one question to the next, which come one at a time (JOB W).
 */
#include "candidates.h"
#include "node_weights.h"
#include "start_time.h"
#include "plugins/slurm/bitmap_iter.h"
#include "util/mem.h"

bool vs_candidates_find(struct vs_candidates_free *o, const bitstr_t *bitmap)
{
	static struct vs_picked picked;

	memset(o, 0, sizeof(*o));
	o->p = &picked;
	o->core = vs_cluster_core();
	return o->core && vs_cluster_pick(bitmap, o->p);
}

/* Those that can be served and those that the job names come first. Who has
 * which of the core's ids is not needed any more. */
static void part(struct vs_candidates_free *o, const struct vs_test *t)
{
	static int *out;
	static size_t cap;
	const bitstr_t *named = vs_named(t);
	struct vs_picked *p = o->p;
	size_t n = 0, none = 0;

	for (size_t i = 0; i < p->n; i++)
		none += o->avail[i] == VS_AVAIL_NONE;
	if (!none)
		return;
	VS_GROW(out, cap, p->n);
	for (size_t i = 0; i < p->n; i++) {
		if (o->avail[i] == VS_AVAIL_NONE &&
		    !vs_bits_has(named, p->at[i])) {
			out[o->nout++] = p->at[i];
			continue;
		}
		p->at[n] = p->at[i];
		o->avail[n++] = o->avail[i];
	}
	memcpy(p->at + n, out, o->nout * sizeof(*out));
	for (size_t i = n; i < p->n; i++)
		o->avail[i] = VS_AVAIL_NONE;
	p->n = n;
}

/* What the plans of others leave of it, by the timeline. */
static void keep(struct vs_candidates_free *o, const struct vs_test *t)
{
	struct vs_requesting_job a = vs_requesting_job_fill(t);
	size_t left, spare = o->core->spare(&a, o->p->ids, o->p->n, o->avail,
					    &left);

	o->room = (uint32_t)MIN(o->room, o->p->nothers + spare);
	o->kept = o->p->nothers + left < t->min;
}

void vs_candidates_trim(struct vs_candidates_free *o, const struct vs_test *t,
			bitstr_t *bitmap)
{
	static enum vs_avail *avail;
	static size_t cap;
	uint32_t ours = (uint32_t)o->p->n, others = (uint32_t)o->p->nothers;

	VS_GROW(avail, cap, o->p->n);
	o->avail = avail;
	o->free = (uint32_t)o->core->room(o->p->ids, o->p->n, avail, o->why,
					  sizeof(o->why));
	o->room = others + o->free;
	keep(o, t);
	part(o, t);
	vs_bits_clear(bitmap, o->p->at + o->p->n, o->nout);
	o->trimmed = o->nout || (o->room < t->max && o->room < others + ours);
}

void vs_candidates_why(const struct vs_candidates_free *o,
		       const struct vs_test *t, char *why, size_t size)
{
	VS_FREE int *ids = NULL;
	char own[sizeof(o->why)] = "";
	size_t n = 0;

	if (vs_named(t))
		n = vs_cluster_ids(vs_named(t), &ids, NULL);
	if (n)
		o->core->room(ids, n, NULL, own, sizeof(own));
	vs_strlcpy(why, own[0] == ':' ? own : o->why, size);
}

void vs_candidates_weigh(const struct vs_candidates_free *o, bool renew)
{
	const struct vs_weighed seen = {
		.at = o->p->at, .avail = o->avail, .n = o->p->n,
		.others = o->p->others, .nothers = o->p->nothers,
	};

	vs_weights_set(&seen, renew);
}

void vs_candidates_weigh_rest(struct vs_candidates_free *o)
{
	const struct vs_weighed rest = {
		.at = o->p->at + o->p->n, .avail = o->avail + o->p->n,
		.n = o->nout,
	};

	if (!o->rest_weighed)
		vs_weights_set(&rest, false);
	o->rest_weighed = true;
}

/* ---- more of them ------------------------------------------------------------ */

static bool as_a_test_only(const struct vs_test *t, const bitstr_t *bitmap)
{
	const job_record_t *job_ptr = t->job_ptr;
	bitstr_t *named = vs_named(t);

	return named && !(job_ptr->bit_flags & BACKFILL_TEST) &&
		(uint32_t)bit_set_count((bitstr_t *)bitmap) < t->min &&
		bit_super_set((bitstr_t *)bitmap, named);
}

void vs_candidates_widen(const struct vs_test *t, bitstr_t *bitmap)
{
	job_record_t *job_ptr = t->job_ptr;
	part_record_t *part_ptr = job_ptr->part_ptr;
	bitstr_t *all;

	if (!as_a_test_only(t, bitmap) || job_ptr->part_ptr_list || !part_ptr ||
	    !part_ptr->node_bitmap || (resv_list && list_count(resv_list)))
		return;
	all = bit_copy(part_ptr->node_bitmap);
	bit_and(all, avail_node_bitmap);
	if (job_ptr->details->exc_node_bitmap)
		bit_and_not(all, job_ptr->details->exc_node_bitmap);
	if (!job_req_node_filter(job_ptr, all, true))
		bit_or(bitmap, all);
	FREE_NULL_BITMAP(all);
}
