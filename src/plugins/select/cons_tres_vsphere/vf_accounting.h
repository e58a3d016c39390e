/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The VFs of jobs, told to Slurm's accounting as licenses: license/vf of all
 * adapters, and one by each adapter's name, of those that slurm.conf's Licenses=
 * has. All under JOB W.
 */
#ifndef VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_VF_ACCOUNTING_H
#define VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_VF_ACCOUNTING_H

#include "job_test.h"

/* Clears nodes whose VFs are counted, if the job asks for alternative licenses
 * ("a|b"): with those it would not be counted, and pass each limit. */
void vs_accounting_block(const struct vs_test *t, bitstr_t *bitmap);
/* Before a job is tested on these nodes: it takes no fewer than that. */
void vs_account_least(const struct vs_test *t, const bitstr_t *bitmap);
/* It would get just these: Slurm's limits are judged by them next. */
void vs_accounting_request(const struct vs_test *t, const bitstr_t *bitmap);
/* It has its node_bitmap; nothing of it is counted yet. */
void vs_account_begin(job_record_t *job_ptr);
/* It lost that node. */
void vs_account_resized(job_record_t *job_ptr, const node_record_t *lost);
/* The nodes of one are the other's now, before Slurm merges their licenses. */
void vs_account_moved(job_record_t *from, job_record_t *to);
/* It leaves all of them, and may be back in the queue next. */
void vs_account_end(job_record_t *job_ptr);

#endif
