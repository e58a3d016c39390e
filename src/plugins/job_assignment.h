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

#define VS_GOT_TAG "vsphere: "		/* the record's line begins so */
#define VS_GOT_HAS VS_GOT_TAG "adapter="	/* of what a job got */
#define VS_GOT_TEXT 1024		/* and isn't longer */
#define VS_GOT_ENV "SPANK_VSPHERE_"	/* slurm-vsphere sets these variables */

/* Names as people write many of them, "vm[001-003]"; free() it. */
typedef char *vs_got_fold(const char *const *names, size_t n);

/* "vsphere: adapter=sriov-roce vm[001-002]=esx01/0000:3b:00.0 ... waited_s=0.0
 * provision_s=12.3 ...", at most VS_GOT_TEXT bytes, of places what is too much as
 * "..."; free() it. */
char *vs_got_text(const struct vs_port_got *rows, size_t n, vs_got_fold *fold);

/* Returns true if slurm-vsphere wrote the record's line and the line says what
 * the job waits for. */
bool vs_got_is_wait(const char *line);

/* "SPANK_VSPHERE_0=vm001=esx01/0000:3b:00.0 vm002=..." and so on; free() each
 * and the array. Nodes of which nothing is known are left out. */
char **vs_got_env(const struct vs_port_got *rows, size_t n, size_t *nenv);

/* Is this entry one of slurm-vsphere's? NULL is none: a submitter can send it. */
bool vs_got_env_ours(const char *entry);

#define VS_GOT_WORD 256
struct vs_got_place { char host[VS_GOT_WORD], pfs[VS_GOT_WORD]; };

/* One node's, out of all variables: 0, or -1 (none, or it makes no sense). What
 * a user wrote may be among them. */
int vs_got_find(char *const *env, size_t nenv, const char *node,
		struct vs_got_place *out);

#endif
