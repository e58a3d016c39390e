/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Could this job run, now, ever, when: stock cons_tres and the VFs together. */
#ifndef VS_JOB_TEST_H
#define VS_JOB_TEST_H

#include "../../slurm_compat.h"

/* The arguments of one select_p_job_test(), and whom to ask. */
struct vs_test {
	vs_job_test_fn *stock;
	job_record_t *job_ptr;
	uint32_t min, max, req;
	uint16_t mode;
	vs_list_t candidates;		/* for preemption */
	vs_list_t *preempted;
	vs_exc_t *exc;
	VS_XFIELD
};

/* As select_p_job_test(): bitmap in: candidates; out, on success: the nodes. */
int vs_job_test(struct vs_test *t, bitstr_t *bitmap);

#endif
