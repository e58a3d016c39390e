/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stage for the tests of job_submit/vsphere: ten nodes, a core that knows
 * which of them slurm-vsphere manages, and Slurm's reading of a constraint,
 * which the test sets. */
#ifndef SUBMIT_STAGE_H
#define SUBMIT_STAGE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "plugins/job_submit/vsphere/feasibility.h"

/*
 * Nodes 0 to 3 have sriov-roce, 4 and 5 vmxnet3; slurm-vsphere manages them. It
 * doesn't manage 6 and 7, which have bigmem. 8 and 9 have sriov-roce again and
 * are for one job each. Each node has two CPUs. Their partitions are roce, eth,
 * both (the default), metal and fresh; hidden is both, hidden.
 */
#define NODES 10

struct submit_world {
	bool running;		/* the core */
	bool federated, operator;
	uint64_t epoch;
	int asked_ids;		/* how often for ids: the cache was refilled */
	int asked;		/* for capacity */
	size_t vfs;		/* the hosts hold as many VMs */
	bool more;		/* was asked so */
	int rc;			/* Slurm's, of reading the constraint */
	int read;		/* it was asked to */
	int found;		/* partitions that were looked up */
};
extern struct submit_world w;
extern job_desc_msg_t desc;	/* a submission that says nothing */
extern job_record_t job;	/* JobId=7 of uid 1000, pending, in roce, 2 nodes */
extern char *said;		/* what the user reads, NULL: nothing */

int stage_up(void **state);
int stage_down(void **state);

/* The next part of the constraint, as Slurm reads it. */
void reads(const char *name, uint8_t op, uint16_t count, uint16_t paren);
/* The same of a whole one: "a", and "a|b" or "a&b" without anything else. */
void constrain(const char *text);
part_record_t *part(const char *name);

int submit(void);
int modify(uint32_t uid);

#endif
