/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which nodes a pending job may use, and which of those that it names (-w) Slurm
 * gives to no job now, with their reasons. Slurm's own reason for such a job, such
 * as BeginTime after a requeue, names neither.
 */
#include "plugins/slurm/bitmap_iter.h"
#include "ops_i.h"
#include "util/mem.h"

#define OUT_MAX 3		/* nodes in the text */

static int part_add(void *x, void *arg)
{
	const part_record_t *part_ptr = x;

	if (part_ptr->node_bitmap)
		bit_or(arg, part_ptr->node_bitmap);
	return 0;
}

static char *list_text(const bitstr_t *nodes)
{
	char *ranged = bitmap2node_name((bitstr_t *)nodes);
	char *out = ranged && ranged[0] ? vs_strdup(ranged) : NULL;

	xfree(ranged);
	return out;
}

static char *may_use(const job_record_t *job_ptr)
{
	const vs_job_details_t *details = job_ptr->details;
	bitstr_t *all;
	char *out;

	if (details && details->req_node_bitmap)
		return list_text(details->req_node_bitmap);
	all = bit_alloc(node_record_count);
	if (job_ptr->part_ptr_list)
		list_for_each(job_ptr->part_ptr_list, part_add, all);
	else if (job_ptr->part_ptr)
		part_add(job_ptr->part_ptr, all);
	if (details && details->exc_node_bitmap)
		bit_and_not(all, details->exc_node_bitmap);
	out = list_text(all);
	FREE_NULL_BITMAP(all);
	return out;
}

/* NULL: it takes new jobs, as far as a drain or a failure goes. */
static const char *out_word(const node_record_t *n)
{
	if (IS_NODE_DRAIN(n))
		return IS_NODE_DRAINING(n) ? "draining" : "drained";
	return IS_NODE_DOWN(n) ? "down" : NULL;
}

static void text_add(char **text, char *part)
{
	char *was = *text;

	*text = vs_asprintf("%s%s%s", was ? was : "", was ? "; " : "", part);
	free(was);
	free(part);
}

static char *out_text(bitstr_t *named)
{
	char *text = NULL;
	size_t n = 0;

	VS_EACH_BIT(i, named) {
		const node_record_t *node_ptr = node_record_table_ptr[i];
		const char *word = node_ptr ? out_word(node_ptr) : NULL;
		bool why = word && node_ptr->reason && node_ptr->reason[0];

		if (!word || n++ >= OUT_MAX)
			continue;
		text_add(&text, vs_asprintf("node %s is %s%s%s", node_ptr->name,
					    word, why ? ": " : "",
					    why ? node_ptr->reason : ""));
	}
	if (n > OUT_MAX)
		text_add(&text, vs_asprintf("and %zu more", n - OUT_MAX));
	return text;
}

void vs_slurm_job_nodes_fill(struct vs_slurm_job_nodes *nodes,
			     const job_record_t *job_ptr)
{
	nodes->may_use = may_use(job_ptr);
	if (job_ptr->details && job_ptr->details->req_node_bitmap)
		nodes->out = out_text(job_ptr->details->req_node_bitmap);
}
