/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf: its verbs, one file each (svf top and svf map: see svf/top, svf/map). */
#ifndef SVF_VERBS_H
#define SVF_VERBS_H

#include "svf/list/list.h"

extern const struct svf_verb svf_hosts, svf_nodes, svf_jobs, svf_why, svf_status,
	svf_reconcile, svf_adopt, svf_vm, svf_host, svf_conf,
	svf_plan, svf_pause, svf_resume, svf_check, svf_adapters, svf_clone_sources;

/* ---- when.c ------------------------------------------------------------ */
/* A time as Slurm's commands take them: 14:00 (today, or tomorrow if that is
 * over), 2026-03-01, 2026-03-01T14:00[:00], now+3 (seconds), now+2hours,
 * tomorrow, midnight, noon. s since the epoch, this machine's time zone; -1: it
 * is none of these. now_s: as time(NULL). */
int64_t svf_start_parse(const char *text, int64_t now_s);

/* ---- reconcile.c: of orders ---------------------------------------------- */
#define SVF_REASON_MAX 120	/* vs_ctl_request.text */
/* The end of an order: what came back in one line (taken) or as JSON. */
int svf_finish(const struct svf *s, struct vs_jdoc *doc, char *line);
/* SVF_OK, or SVF_USAGE after a line on standard error if words follow the verb. */
int svf_no_arguments(const struct svf *s, const char *verb);
/* The words from there on; free() it. */
char *svf_args_join(const struct svf *s, int from, const char *between);
bool svf_reason_fits(const char *verb, const char *text);	/* or says not */

/* ---- pause.c ------------------------------------------------------------- */
/* "by USER since TIME: REASON", of the member "paused" of an answer. The caller frees
 * it. */
char *svf_pause_text(struct vs_j paused);

/* ---- nodes.c ----------------------------------------------------------- */
/* The "nodes" array of a report as a table; those named in s alone, if any. */
void svf_print_nodes(const struct svf *s, struct vs_j nodes);
extern const struct svf_list svf_node_list;

#endif
