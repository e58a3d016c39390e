/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See trim_answer.h. Rule: a node that the job names is never cleared. Which of
 * several kinds lacks room (`-C "sriov-roce|vmxnet3"`) is told by the features
 * of the nodes that had to go.
 */
#include "trim_answer.h"
#include "plugins/slurm/bitmap_iter.h"
#include "util/mem.h"

#define KINDS 16

int vs_answer_trim(const struct vs_candidates *all, const bitstr_t *answer,
		   bitstr_t *bitmap, struct vs_err *err)
{
	VS_FREE int *ids = NULL, *at = NULL;
	VS_FREE size_t *surplus = NULL;
	size_t n = vs_cluster_ids(answer, &ids, &at), nsurplus = 0;

	if (!n)
		return 0;
	surplus = vs_calloc(n, sizeof(*surplus));
	if (!all->core->check(ids, n, surplus, &nsurplus, err))
		return 0;
	for (size_t i = 0; i < nsurplus; i++) {
		if (vs_bits_has(all->required, at[surplus[i]]))
			return 1;
		bit_clear(bitmap, at[surplus[i]]);
	}
	return nsurplus ? -1 : 1;
}

static const char *features(int index)
{
	const node_record_t *n = node_record_table_ptr[index];

	return n && n->config_ptr ? n->config_ptr->feature : NULL;
}

static bool among(const char *const *kinds, size_t n, const char *kind)
{
	for (size_t i = 0; i < n; i++)
		if (kinds[i] == kind || !xstrcmp(kinds[i], kind))
			return true;
	return false;
}

/* Those of the nodes that had to go; KINDS and more: too many to tell. */
static size_t kinds_gone(const bitstr_t *answer, const bitstr_t *bitmap,
			 const char *kinds[KINDS])
{
	size_t n = 0;

	VS_EACH_BIT(i, (bitstr_t *)answer) {
		if (bit_test((bitstr_t *)bitmap, i) ||
		    among(kinds, n, features(i)))
			continue;
		if (n == KINDS)
			return KINDS + 1;
		kinds[n++] = features(i);
	}
	return n;
}

void vs_answer_narrow(const struct vs_candidates *all, const bitstr_t *answer,
		      bitstr_t *bitmap, bool alike)
{
	const char *kinds[KINDS];
	size_t n = alike ? kinds_gone(answer, bitmap, kinds) : KINDS + 1;

	for (size_t i = 0; i < all->n; i++) {
		int at = all->at[i];

		if (bit_test((bitstr_t *)answer, at) ||
		    vs_bits_has(all->required, at) ||
		    all->avail[i] == VS_AVAIL_RUNNING ||
		    (n <= KINDS && !among(kinds, n, features(at))))
			continue;
		bit_clear(bitmap, at);
	}
}
