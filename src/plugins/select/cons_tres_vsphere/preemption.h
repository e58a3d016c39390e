/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preemption for VFs: whose end would give a job those that it lacks. */
#ifndef VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_PREEMPTION_H
#define VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_PREEMPTION_H

#include "job_test.h"

/* Of what Slurm offers, could the job be served without an end of another one:
 * by the VFs of VMs that are idle, or go already? */
bool vs_preemption_idle_suffice(const struct vs_test *t, const bitstr_t *given);

/*
 * Could it, if jobs of t->candidates ended? Its nodes then (to be freed), with
 * job_resrcs made and those jobs in *t->preempted; else NULL, and both are the
 * caller's to take back.
 */
bitstr_t *vs_preemption_candidates(const struct vs_test *t,
				   const bitstr_t *given);

#endif
