/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See static_capacity.h. Rule: only a certain "no" is one; what costs too much to know is
 * none. Nothing of what is free or in service now counts, but Slurm's choice of
 * candidates.
 */
#include "static_capacity.h"
#include "plugins/slurm/bitmap_iter.h"
#include "util/mem.h"

#define EVER_MAX 512		/* beyond that a "never" costs too much */

/* Is there a choice of `need` among these, those that the job names first? */
static bool some(const struct vs_test *t, const struct vs_core_api *core,
		 const struct vs_picked *p, size_t need, struct vs_err *err)
{
	VS_FREE int *pick = NULL;
	size_t n = 0;

	if (p->n > EVER_MAX || core->ever(p->ids, need, NULL))
		return true;
	pick = vs_calloc(p->n + 1, sizeof(*pick));
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < p->n && n < need; i++) {
			if (vs_bits_has(vs_named(t), p->at[i]) != !pass)
				continue;
			pick[n] = p->ids[i];
			if (core->ever(pick, n + 1, err))
				n++;
			else if (!pass)
				return false;
		}
	}
	return n >= need;
}

bool vs_never(const struct vs_test *t, const struct vs_core_api *core,
	      const struct vs_picked *p)
{
	size_t need = t->min > p->nothers ? t->min - p->nothers : 0;
	struct vs_err err = { 0 };

	if (!vs_job_is_new(t->job_ptr))
		return false;
	if (need > p->n)
		need = p->n;
	if (!need || some(t, core, p, need, &err))
		return false;
	info("slurm-vsphere: %pJ can never run: %s", t->job_ptr, err.text);
	return true;
}
