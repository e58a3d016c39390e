/* SPDX-License-Identifier: GPL-2.0-or-later */
/* May this job ever run, as far as vSphere's nodes are concerned? */
#ifndef VS_PLUGINS_JOB_SUBMIT_VSPHERE_FEASIBILITY_H
#define VS_PLUGINS_JOB_SUBMIT_VSPHERE_FEASIBILITY_H

#include "constraint.h"
#include "node_map.h"
#include "request.h"

#define VS_SENTENCE 640

/*
 * 0: nothing speaks against it, or it is not for us to say. Else Slurm's error,
 * and the sentence that says what is and what will do. Under CONF R, JOB R,
 * NODE R, PART R.
 */
int vs_feasibility_check(const struct vs_request *w,
			 char sentence[VS_SENTENCE]);

/* ---- between partition_fit.c, messages.c and feasibility.c, in this order -------- */

enum vs_verdict {
	VS_GOES,
	VS_GOES_UNMANAGED,	/* others' nodes decide, Slurm says it */
	VS_NONE,		/* no node of the partition fits */
	VS_FEW,			/* fewer than are asked for */
	VS_FEW_COUNTED,		/* of one kind of several */
	VS_UNREAD,		/* counts of several kinds, without brackets */
	VS_COUNTS,		/* they ask for more nodes than the job may have */
	VS_HOSTS,		/* the hosts can't hold as many VMs */
	VS_NAMED,		/* a node that the job names doesn't fit */
	VS_SHARED,		/* Retention=destroy, and not alone */
	VS_LICENSES,		/* alternative ones, where VFs are counted */
};

/* Of one partition. */
struct vs_finding {
	enum vs_verdict verdict;
	const part_record_t *part;
	const char *words;	/* of the constraint, or the part that matters */
	uint32_t need, have;	/* nodes */
	bool counted;		/* of the group that these are the words of */
	int node;		/* its index */
	const struct vs_vm_type *kind;	/* of the nodes, if it is one; or NULL */
};

struct vs_case {
	const struct vs_request *w;
	const struct vs_node_map *o;
	struct vs_constraint c;
	bitstr_t *named, *excluded;	/* as the job asks; NULL: no matter */
	bitstr_t *counted;	/* by licenses, which bars the job; NULL: none */
};

int vs_message_unknown(const struct vs_case *c, const char *name, size_t len,
		       const char *near, char sentence[VS_SENTENCE]);
int vs_message_unread(const struct vs_case *c, char sentence[VS_SENTENCE]);
int vs_message_write(const struct vs_case *c, const struct vs_finding *f,
		     char sentence[VS_SENTENCE]);

/* Returns true if no node of the partition is a VM of this cluster. A vs_part_fn: arg is
 * the const struct vs_case. */
bool vs_part_unmanaged(void *arg, part_record_t *part_ptr);
/* This partition alone. */
enum vs_verdict vs_partition_check(const struct vs_case *c,
				   part_record_t *part_ptr,
				   struct vs_finding *f);

#endif
