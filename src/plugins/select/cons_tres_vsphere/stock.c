/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stock cons_tres asked about a job: the only call of its select_p_job_test().
 * The time that it takes is not counted as the plugin's own.
 */
#include "stock.h"
#include "plugins/slurm/call_timing.h"

int vs_stock_query(const struct vs_test *t, bitstr_t *bitmap)
{
	int rc;

	vs_timed_others_begin();
	rc = t->stock(t->job_ptr, bitmap, t->min, t->max, t->req, t->mode,
		      t->candidates, t->preempted, t->exc VS_XPASS(t));
	vs_timed_others_end();
	return rc;
}
