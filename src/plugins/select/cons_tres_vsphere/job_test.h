/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Could this job run, now, ever, when: stock cons_tres and the VFs together. */
#ifndef VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_JOB_TEST_H
#define VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_JOB_TEST_H

#include "plugins/slurm/compat.h"

/* The arguments of one select_p_job_test(). */
struct vs_test {
	job_record_t *job_ptr;
	uint32_t min, max, req;
	uint16_t mode;
	vs_list_t candidates;		/* for preemption */
	vs_list_t *preempted;
	vs_exc_t *exc;
	VS_XFIELD
};

/* The nodes that the job names; NULL: none. */
static inline bitstr_t *vs_named(const struct vs_test *t)
{
	return t->job_ptr->details ? t->job_ptr->details->req_node_bitmap :
		NULL;
}

/* As select_p_job_test(): bitmap in: candidates; out, on success: the nodes. */
int vs_job_test(struct vs_test *t, bitstr_t *bitmap);

#endif
