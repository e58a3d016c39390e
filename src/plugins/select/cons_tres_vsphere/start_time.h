/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who asks, and from when on stock's answer holds for the VFs too. */
#ifndef VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_START_TIME_H
#define VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_START_TIME_H

#include "engine/state/config.h"
#include "job_test.h"

/* Tells the core until when the job would run, and what Slurm asks: before its
 * first question. */
void vs_start_query(const struct vs_test *t, enum vs_query_mode mode);
/* The job as the core's timeline sees it. */
struct vs_requesting_job vs_requesting_job_fill(const struct vs_test *t);
/* Its time limit in seconds. */
int64_t vs_lasts(const job_record_t *job_ptr);
/* Stock's answer is good from `from` on: and the VFs, when are they there? */
time_t vs_start_time(const struct vs_test *t, const bitstr_t *answer,
		     time_t from);
/* It has been said so to backfill: jobs behind it are tested against it. */
void vs_start_publish(const struct vs_test *t, const bitstr_t *answer,
		      time_t start);

#endif
