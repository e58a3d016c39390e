/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done with an answer of stock's whose nodes can't be served together. */
#ifndef VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_TRIM_ANSWER_H
#define VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_TRIM_ANSWER_H

#include "controller.h"

/* The job's managed candidates, and the nodes that may not be taken from it. */
struct vs_candidates {
	const struct vs_core_api *core;
	const bitstr_t *required;	/* NULL: it names none */
	const int *at;
	const enum vs_avail *avail;
	size_t n;
};

/*
 * The nodes of stock's answer together: 0, or -1 with the surplus cleared from
 * bitmap; 1 if a node that the job names is among it, or nothing more can go.
 */
int vs_answer_trim(const struct vs_candidates *all, const bitstr_t *answer,
		   bitstr_t *bitmap, struct vs_err *err);

/*
 * Leaves, of the managed nodes, those that the answer had and could keep, those
 * whose VMs run, and those that the job names. cons_tres then adds unmanaged
 * nodes, or finds no answer. alike: nodes with other features than the surplus
 * stay, because they may not need the missing resource.
 */
void vs_answer_narrow(const struct vs_candidates *all, const bitstr_t *answer,
		      bitstr_t *bitmap, bool alike);

#endif
