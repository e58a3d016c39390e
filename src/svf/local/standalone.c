/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf check --standalone: the checks before slurmctld was ever started. A program of
 * the controller's package (src/check) makes them, because svf has no client of
 * vCenter. It prints what it tried, and findings in the form of svf check.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "local.h"
#include "svf/rpc/rpc.h"
#include "util/mem.h"

#define HELPER "slurm-vsphere-check"
#define ANSWER_MAX ((size_t)16 << 20)

static const char *str_of(struct vs_j step, const char *key)
{
	return vs_j_str_or(vs_j_opt(step, key), "");
}

void svf_steps_print(struct vs_j steps)
{
	for (size_t i = 0; i < vs_j_len(steps); i++) {
		struct vs_j step = vs_j_at(steps, i);
		VS_FREE char *text = vs_strdup(str_of(step, "text"));
		VS_FREE char *fix = vs_strdup(str_of(step, "fix"));
		VS_FREE char *name = vs_strdup(str_of(step, "step"));
		VS_FREE char *result = vs_strdup(str_of(step, "result"));

		printf("%-14s %-7s %s\n", svf_clean(name), svf_clean(result),
		       svf_clean(text));
		if (fix[0])
			printf("%-14s %-7s %s\n", "", "to do:", svf_clean(fix));
	}
}

static int no_helper(const char *path)
{
	fprintf(stderr, "svf: check: %s is not there: --standalone works on the controller, with the package slurm-vsphere\n",
		path);
	return SVF_NO;
}

int svf_standalone(struct vs_jdoc *doc, int *status)
{
	VS_FREE char *path = svf_helper_path(HELPER);
	struct vs_buf out = VS_BUF_INIT(ANSWER_MAX);
	char *const argv[] = { path, NULL };
	struct vs_err err = { 0 };
	int rc = SVF_OK;

	if (access(path, X_OK))
		return no_helper(path);
	*status = svf_program_run(argv, false, &out, &err);
	if (*status >= 0 &&
	    (!out.len || vs_jdoc_parse(doc, out.data, out.len, &err)))
		*status = vs_err_set(&err, VS_E_BUG, "%s ended with status %d and no answer",
				     path, *status);
	if (*status < 0) {
		fprintf(stderr, "svf: check: %s\n", svf_clean(err.text));
		rc = SVF_AWAY;
	}
	vs_buf_free(&out);
	return rc;
}
