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
#include "select_stage.h"
#include "util/mem.h"
struct select_world w;
job_record_t job;
vs_job_details_t details;
bitstr_t *bits;

vs_list_t job_list;

/* ---- stock cons_tres: the cheapest idle nodes, as many as it may ---------------- */

static int stock(job_record_t *job_ptr, bitstr_t *bitmap, uint32_t min_nodes,
		 uint32_t max_nodes, uint32_t req_nodes, uint16_t mode,
		 vs_list_t candidates, vs_list_t *preempted,
		 vs_exc_t *exc VS_XARGS)
{
	bitstr_t *pick = bit_alloc(NODES);
	uint32_t n = 0;

	(void)candidates;
	(void)preempted;
	(void)exc;
	if (mode == SELECT_MODE_WILL_RUN)
		job_ptr->start_time = w.start_without_0 &&
			!bit_test(bitmap, 0) ? w.start_without_0 : w.start;
	w.max[w.asked] = max_nodes;
	w.req[w.asked++] = req_nodes;
	for (int i = 0; i < NODES; i++)
		w.weights[i] = node_record_table_ptr[i]->sched_weight;
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
			    (mode == SELECT_MODE_TEST_ONLY || !w.busy[i]) &&
			    (best < 0 || w.weights[i] < w.weights[best]))
				best = i;
		if (best < 0)
			break;
		bit_set(pick, best);
		n++;
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
	for (size_t i = 0; i < n; i++)
		out[i] = w.avail[ids[i] - 100];
	if (why)
		snprintf(why, size, "%zu VFs free", w.room);
	return MIN(n, w.room);
}

static int core_check(const int *ids, size_t n, size_t *surplus,
		      size_t *nsurplus, struct vs_err *err)
{
	size_t used = 0;

	*nsurplus = 0;
	for (size_t i = 0; i < n; i++)
		if (w.avail[ids[i] - 100] == VS_AVAIL_NONE ||
		    (w.avail[ids[i] - 100] != VS_AVAIL_WARM && used++ >= w.vfs))
			surplus[(*nsurplus)++] = i;
	return *nsurplus ? vs_err_set(err, VS_E_SHORTAGE, "too few VFs") : 0;
}

static bool core_ever(const int *ids, size_t n, struct vs_err *err)
{
	(void)ids;
	if (n > w.ever)
		vs_err_set(err, VS_E_REQUEST, "the hosts can hold %zu", w.ever);
	return n <= w.ever;
}

static void core_refused(uint32_t id, const int *ids, size_t n, size_t need,
			 const char *why)
{
	assert_int_equal(id, 7);
	w.refused++;
	w.need = need;
	for (size_t i = 0; i < n; i++)
		w.wants[i] = (char)('0' + ids[i] - 100);
	w.wants[n] = '\0';
	vs_strlcpy(w.why, why, sizeof(w.why));
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
	w.api.room = core_room;
	w.api.check = core_check;
	w.api.ever = core_ever;
	w.api.refused = core_refused;
	w.room = w.vfs = w.ever = NODES;
	job.job_id = 7;
	job.magic = JOB_MAGIC;
	job.details = &details;
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
		list_append(config_list, node_record_table_ptr[i]->config_ptr);
		w.ours[i] = true;
		w.avail[i] = VS_AVAIL_NEW;
	}
	bits = bit_alloc(NODES);
	bit_set_all(bits);
	job_list = list_create(NULL);
	return 0;
}

int stage_down(void **state)
{
	(void)state;
	free_job_resources(&job.job_resrcs);
	FREE_NULL_BITMAP(details.req_node_bitmap);
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
		.stock = stock, .job_ptr = &job, .min = min, .max = max,
		.req = req, .mode = mode,
	};

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
