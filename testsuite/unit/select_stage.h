/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stage for the tests of the select plugin's decision: a core and a stock
 * plugin that note what they are asked, and one job. */
#ifndef SELECT_STAGE_H
#define SELECT_STAGE_H

#include "plugins/select/cons_tres_vsphere/controller.h"
#include "plugins/select/cons_tres_vsphere/job_test.h"

#define NODES 8

/* The world: the first array says which nodes slurm-vsphere manages; the core's
 * id of node i is i + 100. */
struct select_world {
	bool ours[NODES];
	enum vs_avail avail[NODES];
	bool busy[NODES];		/* for stock */
	int64_t until;			/* core->asks(): the job would end then, */
	enum vs_query_mode asked_as;	/* and the call is counted as that */
	size_t room;			/* core->room() */
	size_t vfs;			/* how many not warm may go together */
	size_t ever;
	bool is_new;
	uint32_t least;			/* so many nodes do its tasks need */
	time_t start;			/* stock's answer to WILL_RUN */
	time_t start_without_0;		/* if node 0 is no candidate */

	int asked;			/* stock */
	uint16_t mode[8];
	uint32_t max[8], req[8];
	uint64_t weights[NODES];
	int refused;			/* core */
	size_t need, have;
	char wants[NODES + 1];		/* the nodes it would use, as digits */
	char why[256];
	int barred;			/* a node that is the reason where the core is
					 * asked of few; -1: none */
	enum vs_pending_reason lacks;
	size_t spare, left;		/* core->spare() */
	bool in_order, reserved;	/* was asked so */
	int64_t lasts;
	uint64_t rank;
	time_t when, when_without_0;	/* core->when(); 0: as asked */
	bool others_give;		/* core->others_give(), by then: */
	int64_t others_by;
	int planned;
	char plan[NODES + 1];
	int64_t plan_start;
	struct vs_core_api api;

	/* preemption */
	vs_list_t candidates, preempted;
	bool stock_ends;		/* candidates, for their CPUs */
	bool idle_do;			/* what the core says */
	bool ends[3];			/* of which victims it has use */
	int victims;			/* told to it; -1: not asked */
	uint16_t mode_of[3];		/* of JobId=31 to 33; 0: requeue */
};
extern struct select_world w;
extern job_record_t job;	/* JobId=7 */
extern vs_job_details_t details;
extern bitstr_t *bits;		/* the candidates: all; then the answer */

/* cmocka's setup and teardown. */
int stage_up(void **state);
int stage_down(void **state);

/* One select_p_job_test(). */
int ask(uint16_t mode, uint32_t min, uint32_t max, uint32_t req);
/* The answer has exactly these nodes, as a string of digits. */
void nodes_are(const char *list);
/* The job names these nodes. */
void require(const char *list);

#endif
