/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job must wait: told to the core, with words for people. */
#ifndef VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_PENDING_REASON_H
#define VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_PENDING_REASON_H

#include "controller.h"
#include "job_test.h"

/* It would use these nodes, needs that many, has `have`; kept: for others before
 * it; why: as the core's room() has put it. */
void vs_refuse(const struct vs_test *t, const bitstr_t *nodes, uint32_t needs,
	       uint32_t have, bool kept, const char *why);

/* Slurm itself has no nodes for it now among those given; room: as many of them
 * can be served, those that have jobs included. Where nodes of others would do,
 * VFs say nothing. */
void vs_refuse_busy(const struct vs_test *t, const bitstr_t *given,
		    const struct vs_picked *p, uint32_t room, uint32_t needs);

#endif
