/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sbatch --test-only leaves out of its answer though sbatch itself minds
 * it: said beside the plan where the plan is true without it, and no plan at all
 * where it isn't. svf(1) has the same list.
 */
#include <stdlib.h>
#include <string.h>

#include "sbatch.h"
#include "svf.h"
#include "util/mem.h"

static const struct {
	struct svf_option option;
	const char *note;
} untold[] = {
	{ { "-a", "--array", "SBATCH_ARRAY_INX", true },
	  "this is one task of the array: what all of them find together is not planned" },
	{ { "-H", "--hold", NULL, false },
	  "the job would be held: this is what it would find if it were released now" },
	{ { "-d", "--dependency", NULL, true },
	  "this is as if what the job depends on were over" },
	{ { "-b", "--begin", NULL, true },
	  "VMs and VFs are those of now, not of the begin time" },
	{ { "-L", "--licenses", NULL, true },
	  "this is as if its licenses were free" },
};

static const struct svf_option constraint = {
	"-C", "--constraint", "SBATCH_CONSTRAINT", true,
};

int svf_untold_check(const struct svf_job *j, struct vs_err *err)
{
	VS_FREE char *features = svf_option(j, &constraint);

	if (!features || !strpbrk(features, "[*"))
		return 0;
	return vs_err_set(err, VS_E_REQUEST,
		"-C %s can't be planned, for sbatch --test-only minds neither brackets nor counts: plan each kind of node alone",
		features);
}

void svf_untold_note(const struct svf_job *j, struct vs_jdoc *doc)
{
	struct vs_j said = vs_j_opt(vs_j_root(doc), "notes");
	struct json_object *notes = vs_jb_arr();

	for (size_t i = 0; i < vs_j_len(said); i++)
		vs_jb_add_str(notes, vs_j_str(vs_j_at(said, i)));
	for (size_t i = 0; i < VS_COUNT(untold); i++) {
		VS_FREE char *value = svf_option(j, &untold[i].option);

		if (value)
			vs_jb_add_str(notes, untold[i].note);
	}
	vs_jb_put(doc->root, "notes", notes);
}
