/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job's constraint, and the nodes that its parts leave. */
#ifndef VS_PLUGINS_JOB_SUBMIT_VSPHERE_CONSTRAINT_H
#define VS_PLUGINS_JOB_SUBMIT_VSPHERE_CONSTRAINT_H

#include "plugins/slurm/compat.h"
#include "constraint_names.h"

/* Does Slurm know a node with that feature, active or not? Under NODE R. */
bool vs_feature_known(const char *name, size_t len);
/* The one of its features that is written most alike, NULL: none is. */
const char *vs_feature_near(const char *name, size_t len);

/* "a", or "(a|b)": what is counted, or is one of several alternatives. */
struct vs_group {
	char *words;
	uint32_t count;
	bool one_of;		/* all nodes of the job, or none of them */
	bool plain;		/* counted, and in no brackets */
	bitstr_t *nodes;
};

struct vs_constraint {
	bitstr_t *nodes;	/* that fit what needs no counting */
	struct vs_group *groups;	/* the others, in order */
	size_t n;
};

/* 0, or Slurm's error: it can't be read. text NULL: all nodes. Under JOB R and
 * NODE R. Free it in either case. */
int vs_constraint_make(struct vs_constraint *c, const char *text,
		       uint32_t user);
void vs_constraint_clear(struct vs_constraint *c);

#endif
