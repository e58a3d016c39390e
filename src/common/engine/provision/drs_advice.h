/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Placement=drs, see drs_advice.c. */
#ifndef VS_ENGINE_DRS_ADVICE_H
#define VS_ENGINE_DRS_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "util/err.h"
#include "util/name.h"

struct vs_core;
struct vs_node;
struct json_object;

#define VS_DRS_ASKING 16		/* questions under way at once */

struct vs_node_drs {			/* of the node's present hold */
	uint64_t id;			/* of a question under way, 0: none */
	int64_t since_ms;
	bool settled;			/* it needs none any more */
};

/* Placement=drs, or another. */
void vs_drs_use(bool on);
/* Is DRS still to say where this node's clone goes? Asks, where it must; the
 * node keeps its place in any case. Lock held. */
bool vs_drs_waits(struct vs_core *c, struct vs_node *n, int64_t now_ms);
/* vCenter's answer; err is NULL on success. */
void vs_drs_answered(struct vs_core *c, uint64_t id, const char *host,
		     const struct vs_err *err);
/* The client is down: no answer comes. Lock held. */
void vs_drs_forget(struct vs_core *c);
/* For svf status; lock held. */
void vs_report_drs(struct json_object *top);

#endif
