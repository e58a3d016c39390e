/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job got, as text: one line for its record, and for its nodes variables
 * of its SPANK environment, which slurmctld sends to each of them before the
 * job begins (spank_job_env). Pure.
 */
#ifndef VS_PLUGINS_JOB_ASSIGNMENT_H
#define VS_PLUGINS_JOB_ASSIGNMENT_H

#include <stdbool.h>
#include <stddef.h>
#include "engine/slurm/slurm_ops.h"

#define VS_ASSIGNMENT_TAG "vsphere: "	/* the record's line begins so */
#define VS_ASSIGNMENT_PLACED VS_ASSIGNMENT_TAG "adapter=" /* of what a job got */
#define VS_ASSIGNMENT_REQUEUED VS_ASSIGNMENT_TAG "requeued: " /* why */
#define VS_ASSIGNMENT_TEXT 1024		/* and isn't longer */
#define VS_ASSIGNMENT_ENV "SPANK_VSPHERE_" /* slurm-vsphere sets these variables */

/* Names as people write many of them, "vm[001-003]"; free() it. */
typedef char *vs_assignment_fold_fn(const char *const *names, size_t n);

/* "vsphere: adapter=sriov-roce vm[001-002]=esx01/0000:3b:00.0 ... waited_s=0.0
 * provision_s=12.3 ...", at most VS_ASSIGNMENT_TEXT bytes, of places what is
 * too much as "..."; free() it. */
char *vs_assignment_text(const struct vs_slurm_assignment *rows, size_t n,
			 vs_assignment_fold_fn *fold);

/* Returns true if slurm-vsphere wrote the record's line and the line says what
 * the job waits for. */
bool vs_assignment_is_wait(const char *line);

/* The line that says what the job waits for, and, if the line before it says why the
 * last run was requeued, that too, at most VS_ASSIGNMENT_TEXT bytes; free() it. */
char *vs_assignment_wait_text(const char *text, const char *before);

/* Why the job's last run was requeued, in the record's line, "" if that doesn't say. */
const char *vs_assignment_requeued(const char *line);

/* "SPANK_VSPHERE_0=vm001=esx01/0000:3b:00.0 vm002=..." and so on; free() each
 * and the array. Nodes of which nothing is known are left out. */
char **vs_assignment_env(const struct vs_slurm_assignment *rows, size_t n,
			 size_t *nenv);

/* Is this entry one of slurm-vsphere's? NULL is none: a submitter can send it. */
bool vs_assignment_env_managed(const char *entry);

#define VS_ASSIGNMENT_WORD 256
struct vs_assignment_place {
	char host[VS_ASSIGNMENT_WORD], pfs[VS_ASSIGNMENT_WORD];
};

/* One node's, out of all variables: 0, or -1 (none, or it makes no sense). What
 * a user wrote may be among them. */
int vs_assignment_find(char *const *env, size_t nenv, const char *node,
		       struct vs_assignment_place *out);

#endif
