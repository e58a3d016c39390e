/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remarks on a whole answer, and the one line that stands for its findings. */
#include <stdio.h>

#include "list.h"
#include "util/mem.h"
#include "util/name.h"

void svf_print_notes(struct vs_jdoc *doc)
{
	struct vs_j notes = vs_j_opt(vs_j_root(doc), "notes");
	VS_FREE char *line = svf_findings_line(vs_j_root(doc));

	for (size_t i = 0; i < vs_j_len(notes); i++) {
		VS_FREE char *s = vs_strdup(vs_j_str(vs_j_at(notes, i)));

		fprintf(stderr, "note: %s\n", svf_clean(s));
	}
	if (line)
		fprintf(stderr, "note: %s\n", line);
}

/* svf check has their texts: here they would stand before each answer. */
char *svf_findings_line(struct vs_j answer)
{
	struct vs_j all = vs_j_opt(answer, "findings");
	size_t n = vs_j_len(all), stop = 0;
	const char *which = "";

	for (size_t i = 0; i < n; i++)
		stop += vs_j_bool_or(vs_j_opt(vs_j_at(all, i), "stops_jobs"),
				     false);
	if (!n)
		return NULL;
	if (stop == n)
		which = n == 1 ? " keeps jobs pending" : " keep jobs pending";
	else if (stop)
		which = stop == 1 ? ", one of which keeps jobs pending" :
			", some of which keep jobs pending";
	return vs_asprintf("%zu finding%s about vCenter%s: see svf check", n,
			   vs_plural(n), which);
}
