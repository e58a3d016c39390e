/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The world around the select plugin's decision, played by hand: cons_tres takes
 * the cheapest idle nodes, the core counts VFs in one number. Node records, bit
 * strings and lists are libslurmfull's own.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "plugins/select/cons_tres_vsphere/stock.h"
#include "select_stage.h"
#include "util/mem.h"
struct select_world w;
job_record_t job;
vs_job_details_t details;
bitstr_t *bits;

vs_list_t job_list, resv_list;
time_t last_resv_update;
bitstr_t *avail_node_bitmap, *idle_node_bitmap;

/* ---- stock cons_tres: the cheapest idle nodes, as many as it may ---------------- */

/* As it does for WILL_RUN from 23.11. */
static void weigh(void)
{
	for (int i = 0; i < NODES; i++) {
		node_record_t *node_ptr = node_record_table_ptr[i];

		node_ptr->sched_weight = (uint64_t)node_ptr->weight << 16;
		if (IS_NODE_POWERED_DOWN(node_ptr))
			node_ptr->sched_weight |= UINT64_C(1) << 49;
	}
}

static int stock(job_record_t *job_ptr, bitstr_t *bitmap, uint32_t min_nodes,
		 uint32_t max_nodes, uint32_t req_nodes, uint16_t mode,
		 vs_list_t candidates, vs_list_t *preempted,
		 vs_exc_t *exc VS_XARGS)
{
	bitstr_t *pick = bit_alloc(NODES);
	uint32_t n = 0;
	bool later;

	(void)exc;
	if (mode == SELECT_MODE_WILL_RUN)
		job_ptr->start_time = w.start_without_0 &&
			!bit_test(bitmap, 0) ? w.start_without_0 : w.start;
	later = mode == SELECT_MODE_WILL_RUN && job_ptr->start_time > time(NULL);
	w.mode[w.asked] = mode;
	w.max[w.asked] = max_nodes;
	w.req[w.asked++] = req_nodes;
	if (mode == SELECT_MODE_WILL_RUN && VS_STOCK_WEIGHS)
		weigh();
	for (int i = 0; i < NODES; i++)
		w.weights[i] = node_record_table_ptr[i]->sched_weight;
	min_nodes = MAX(min_nodes, w.least);
	req_nodes = MAX(req_nodes, w.least);
	free_job_resources(&job_ptr->job_resrcs);
	for (int i = 0; i < NODES; i++)
		if (details.req_node_bitmap &&
		    bit_test(details.req_node_bitmap, i) &&
		    bit_test(bitmap, i)) {
			bit_set(pick, i);
			n++;
		}
	while (n < req_nodes && n < max_nodes) {
		int best = -1;

		for (int i = 0; i < NODES; i++)
			if (bit_test(bitmap, i) && !bit_test(pick, i) &&
			    (mode == SELECT_MODE_TEST_ONLY || later ||
			     !w.busy[i]) &&
			    (best < 0 || w.weights[i] < w.weights[best]))
				best = i;
		if (best < 0)
			break;
		bit_set(pick, best);
		n++;
	}
	if (w.stock_ends && candidates && n < min_nodes &&
	    bit_test(bitmap, 0)) {
		bit_set(pick, 0);	/* that of the first candidate */
		n++;
		*preempted = list_create(NULL);
		list_append(*preempted, list_peek(candidates));
	}
	bit_copybits(bitmap, pick);
	FREE_NULL_BITMAP(pick);
	if (n < min_nodes)
		return ESLURM_NODES_BUSY;
	job_ptr->job_resrcs = create_job_resources();
	return SLURM_SUCCESS;
}

/* ---- the core ------------------------------------------------------------------- */

static size_t core_room(const int *ids, size_t n, enum vs_avail *out,
			char *why, size_t size)
{
	bool barred = false;

	for (size_t i = 0; i < n; i++) {
		if (out)
			out[i] = w.avail[ids[i] - 100];
		barred |= n < NODES && ids[i] - 100 == w.barred;
	}
	if (why && barred)
		vs_strlcpy(why, ": it is barred", size);
	else if (why)
		snprintf(why, size, "; of %zu", w.room);
	return MIN(n, w.room);
}

static int core_check(const int *ids, size_t n, size_t *surplus,
		      size_t *nsurplus, struct vs_err *err)
{
	size_t used = 0;

	*nsurplus = 0;
	for (size_t i = 0; i < n; i++)
		if (w.avail[ids[i] - 100] == VS_AVAIL_NONE ||
		    (w.avail[ids[i] - 100] != VS_AVAIL_RUNNING &&
		     used++ >= w.vfs))
			surplus[(*nsurplus)++] = i;
	return *nsurplus ? vs_err_set(err, VS_E_SHORTAGE, "too few VFs") : 0;
}

static void core_asks(int64_t end, enum vs_query_mode mode)
{
	w.until = end;
	w.asked_as = mode;
}

static bool core_ever(const int *ids, size_t n, struct vs_err *err)
{
	(void)ids;
	if (n > w.ever)
		vs_err_set(err, VS_E_REQUEST, "the hosts have capacity for %zu", w.ever);
	return n <= w.ever;
}

static void core_refused(const struct vs_requesting_job *a, const int *ids,
			 size_t n, size_t need, size_t have, const char *why)
{
	assert_int_equal(a->job, 7);
	w.refused++;
	w.lacks = a->lacks;
	w.need = need;
	for (size_t i = 0; i < n; i++)
		w.wants[i] = (char)('0' + ids[i] - 100);
	w.wants[n] = '\0';
	w.have = have;
	vs_strlcpy(w.why, why, sizeof(w.why));
}

static int core_make_room(uint32_t id, const int *ids, size_t n,
			  const struct vs_victim *victims, size_t nvictims,
			  bool *take)
{
	int taken = 0;

	assert_int_equal(id, 7);
	assert_true(n && ids);
	if (w.idle_do)
		return 0;
	w.victims = (int)nvictims;
	for (size_t i = 0; i < nvictims; i++) {
		int node = victims[i].ids[0] - 100;

		take[i] = w.ends[node];
		taken += take[i];
	}
	return taken ? taken : -1;
}

uint16_t slurm_job_preempt_mode(job_record_t *job_ptr)
{
	uint16_t mode = w.mode_of[job_ptr->job_id - 31];

	return mode ? mode : PREEMPT_MODE_REQUEUE;
}

static size_t core_spare(const struct vs_requesting_job *a, const int *ids,
			 size_t n, enum vs_avail *avail, size_t *left)
{
	(void)ids;
	*left = MIN(n, w.left);
	for (size_t i = 0; i < n && !w.spare; i++)
		avail[i] = VS_AVAIL_NONE;
	w.in_order = a->in_order;
	w.reserved = a->reserved;
	w.lasts = a->lasts;
	w.rank = a->rank;
	return MIN(n, w.spare);
}

static int64_t core_when(const struct vs_requesting_job *a, const int *ids,
			 size_t n, int64_t from)
{
	time_t when = w.when;

	assert_int_equal(a->job, 7);
	if (w.when_without_0 && n && ids[0] != 100)
		when = w.when_without_0;
	return when > from ? when : from;
}

static bool core_others_give(const struct vs_requesting_job *a, const int *ids,
			     size_t n, int64_t by)
{
	(void)a;
	(void)ids;
	assert_int_equal(n, NODES);
	w.others_by = by;
	return w.others_give;
}

static void core_planned(const struct vs_requesting_job *a, const int *ids,
			 size_t n, int64_t start)
{
	assert_int_equal(a->job, 7);
	w.planned++;
	w.plan_start = start;
	for (size_t i = 0; i < n; i++)
		w.plan[i] = (char)('0' + ids[i] - 100);
	w.plan[n] = '\0';
}

int vs_rc_waits(void)
{
	return ESLURM_NODES_BUSY;
}

uint32_t vs_backfill_passes(void)
{
	return 0;
}

bool vs_waits_in_order(const job_record_t *job_ptr)
{
	return !(job_ptr->bit_flags & BACKFILL_SCHED);
}

/* Node 7 has not the features that it wants. */
int job_req_node_filter(job_record_t *job_ptr, bitstr_t *avail_bitmap,
			bool test_only)
{
	assert_ptr_equal(job_ptr, &job);
	assert_true(test_only);
	bit_clear(avail_bitmap, 7);
	return SLURM_SUCCESS;
}

const struct vs_core_api *vs_cluster_core(void)
{
	return &w.api;
}

size_t vs_cluster_ids(const bitstr_t *bitmap, int **ids, int **at)
{
	size_t n = 0;

	*ids = vs_calloc(NODES, sizeof(int));
	if (at)
		*at = vs_calloc(NODES, sizeof(int));
	for (int i = 0; bitmap && i < NODES; i++) {
		if (!w.ours[i] || !bit_test((bitstr_t *)bitmap, i))
			continue;
		(*ids)[n] = i + 100;
		if (at)
			(*at)[n] = i;
		n++;
	}
	if (!n) {
		free(*ids);
		*ids = NULL;
		if (at) {
			free(*at);
			*at = NULL;
		}
	}
	return n;
}

int vs_cluster_first(const bitstr_t *bitmap)
{
	for (int i = 0; bitmap && i < NODES; i++)
		if (w.ours[i] && bit_test((bitstr_t *)bitmap, i))
			return i;
	return -1;
}

size_t vs_cluster_pick(const bitstr_t *bitmap, struct vs_picked *p)
{
	static int ids[NODES], at[NODES], others[NODES];

	*p = (struct vs_picked) { ids, at, others, 0, 0, NODES };
	for (int i = 0; i < NODES; i++) {
		if (!bit_test((bitstr_t *)bitmap, i))
			continue;
		if (!w.ours[i]) {
			others[p->nothers++] = i;
			continue;
		}
		ids[p->n] = i + 100;
		at[p->n++] = i;
	}
	return p->n;
}

bool vs_job_is_new(const job_record_t *job_ptr)
{
	(void)job_ptr;
	return w.is_new;
}

/* ---- the stage -------------------------------------------------------------------- */

int stage_up(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	memset(&job, 0, sizeof(job));
	memset(&details, 0, sizeof(details));
	w.api.asks = core_asks;
	w.api.room = core_room;
	w.api.check = core_check;
	w.api.ever = core_ever;
	w.api.refused = core_refused;
	w.api.make_room = core_make_room;
	w.victims = w.barred = -1;
	w.api.spare = core_spare;
	w.api.when = core_when;
	w.api.others_give = core_others_give;
	w.others_give = true;
	w.api.planned = core_planned;
	w.spare = w.left = NODES;
	w.room = w.vfs = w.ever = NODES;
	job.job_id = 7;
	job.magic = JOB_MAGIC;
	job.details = &details;
	job.time_limit = 10;
	config_list = list_create(NULL);
	node_record_table_ptr = xcalloc(NODES, sizeof(node_record_t *));
	node_record_count = NODES;
	for (int i = 0; i < NODES; i++) {
		node_record_table_ptr[i] = xmalloc(sizeof(node_record_t));
		node_record_table_ptr[i]->index = (uint32_t)i;
		node_record_table_ptr[i]->sched_weight = (1 << 8) | 0xff;
		node_record_table_ptr[i]->config_ptr =
			xmalloc(sizeof(config_record_t));
		node_record_table_ptr[i]->config_ptr->weight = 1;
		node_record_table_ptr[i]->weight = 1;
		list_append(config_list, node_record_table_ptr[i]->config_ptr);
		w.ours[i] = true;
		w.avail[i] = VS_AVAIL_TO_CREATE;
	}
	bits = bit_alloc(NODES);
	bit_set_all(bits);
	avail_node_bitmap = bit_copy(bits);
	idle_node_bitmap = bit_copy(bits);
	job_list = list_create(NULL);
	return 0;
}

int stage_down(void **state)
{
	(void)state;
	free_job_resources(&job.job_resrcs);
	FREE_NULL_BITMAP(details.req_node_bitmap);
	FREE_NULL_BITMAP(details.exc_node_bitmap);
	FREE_NULL_BITMAP(avail_node_bitmap);
	FREE_NULL_BITMAP(idle_node_bitmap);
	FREE_NULL_LIST(resv_list);
	FREE_NULL_BITMAP(bits);
	FREE_NULL_LIST(job_list);
	FREE_NULL_LIST(config_list);
	for (int i = 0; i < NODES; i++) {
		xfree(node_record_table_ptr[i]->config_ptr);
		xfree(node_record_table_ptr[i]);
	}
	xfree(node_record_table_ptr);
	return 0;
}

int ask(uint16_t mode, uint32_t min, uint32_t max, uint32_t req)
{
	struct vs_test t = {
		.job_ptr = &job, .min = min, .max = max,
		.req = req, .mode = mode, .candidates = w.candidates,
		.preempted = &w.preempted,
	};

	vs_stock.job_test = stock;
	return vs_job_test(&t, bits);
}

void nodes_are(const char *list)
{
	char text[NODES + 1] = "", *to = text;

	for (int i = 0; i < NODES; i++)
		if (bit_test(bits, i))
			*to++ = (char)('0' + i);
	assert_string_equal(text, list);
}

void require(const char *list)
{
	details.req_node_bitmap = bit_alloc(NODES);
	for (; *list; list++)
		bit_set(details.req_node_bitmap, *list - '0');
}
