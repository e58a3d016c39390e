/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nodes that Slurm offers a job, and what of them can be served now. */
#ifndef VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_CANDIDATES_H
#define VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_CANDIDATES_H

#include "controller.h"
#include "job_test.h"

/* The candidates at the time of the question. The arrays are large, and kept
 * from one question to the next. */
struct vs_candidates_free {
	const struct vs_core_api *core;
	struct vs_picked *p;
	enum vs_avail *avail;	/* of p->at; when trimmed, those that are left
				 * out come last: */
	size_t nout;
	uint32_t room;		/* how many nodes the job can get now, others'
				 * nodes included */
	uint32_t free;		/* and how many managed ones, planned jobs aside */
	bool trimmed;		/* stock sees less than Slurm gave */
	bool rest_weighed;
	bool kept;		/* what it needs, for others before it */
	char why[256];
};

/* Returns false if none of them is managed, or if there is no core. */
bool vs_candidates_find(struct vs_candidates_free *o, const bitstr_t *bitmap);

/* Leave out of the bitmap what can't be served now, and count what can. */
void vs_candidates_trim(struct vs_candidates_free *o, const struct vs_test *t,
			bitstr_t *bitmap);

/* What is in the way of the job: of the nodes that it names itself (-w), where
 * something is; else of all candidates. As core's room() says it. */
void vs_candidates_why(const struct vs_candidates_free *o,
		       const struct vs_test *t, char *why, size_t size);

/* Weights for stock's next questions (node_weights.h), of all candidates but those
 * that are left out; and of these, where stock is to see them after all. */
void vs_candidates_weigh(const struct vs_candidates_free *o, bool renew);
void vs_candidates_weigh_rest(struct vs_candidates_free *o);

/*
 * For `sbatch --test-only` Slurm offers a job that names nodes (-w) these alone,
 * though it may want more: then it says that the job can never run, which is
 * wrong. It gets the nodes that the real job would be offered.
 *
 * Only where the answer would be a certain "no" otherwise. Several partitions
 * and reservations are left to Slurm: what they allow isn't looked at here.
 */
void vs_candidates_widen(const struct vs_test *t, bitstr_t *bitmap);

#endif
