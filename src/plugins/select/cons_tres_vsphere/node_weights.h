/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which nodes stock cons_tres takes first. */
#ifndef VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_NODE_WEIGHTS_H
#define VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_NODE_WEIGHTS_H

#include "engine/state/config.h"
#include "plugins/slurm/compat.h"

/* Candidates, by their index: managed nodes, and others. */
struct vs_weighed {
	const int *at;
	const enum vs_avail *avail;	/* of at */
	size_t n;
	const int *others;
	size_t nothers;
};

/*
 * For the next question to stock: their weights. renew: Slurm has not set them
 * for this question. All candidates must have theirs set, and each once, for
 * they are comparable among themselves alone. NODE W.
 */
void vs_weights_set(const struct vs_weighed *w, bool renew);
/* All that were set are Slurm's again. */
void vs_weights_restore(void);

#endif
