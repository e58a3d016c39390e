/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf why JOBID: what a job waits for, in words. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"
#include "util/mem.h"

/* A number of 32 bits. */
static bool number(const char *s, char **end, uint32_t *v)
{
	unsigned long long n;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	n = strtoull(s, end, 10);
	*v = (uint32_t)n;
	return !errno && n < UINT32_MAX;
}

/* "12", an array's task "12_3" (part "3") or a heterogeneous job's component
 * "14+1" (part "+1"): as squeue writes them. */
static bool job_parse(const char *s, uint32_t *job, const char **part)
{
	uint32_t of_it;
	char *end;

	*part = "";
	if (!number(s, &end, job) || !*job)
		return false;
	if (!*end)
		return true;
	*part = end + (*end == '_');
	return (*end == '_' || *end == '+') && strlen(end + 1) < 11 &&
	       number(end + 1, &end, &of_it) && !*end;
}

static void print(const struct svf *s, struct vs_jdoc *doc)
{
	struct vs_j top = vs_j_root(doc);
	struct vs_j nodes = vs_j_opt(top, "nodes");
	int64_t job = vs_j_int(vs_j_get(top, "job"));
	const char *reason = vs_j_str_or(vs_j_opt(top, "reason"), "");
	VS_FREE char *line = NULL, *text = NULL;

	line = vs_asprintf("JobId=%lld %s%s%s%s", (long long)job,
			   vs_j_str_or(vs_j_opt(top, "state"), "?"),
			   reason[0] ? " (" : "", reason, reason[0] ? ")" : "");
	text = vs_strdup(vs_j_str(vs_j_get(top, "text")));
	if (doc->err.code)
		return;
	printf("%s\n%s\n", svf_clean(line), svf_clean(text));
	if (vs_j_len(nodes)) {
		putchar('\n');
		svf_print_nodes(&(struct svf){ .no_header = s->no_header,
					       .format = s->format,
					       .sort = s->sort,
					       .colour = s->colour }, nodes);
	}
}

static int run(const struct svf *s)
{
	const char *part;
	uint32_t job;

	if (!s->argc)
		return svf_wrong("why", "one job id is expected");
	if (s->argc > 1 || !job_parse(s->argv[0], &job, &part))
		return svf_wrong("why", "one job id is expected, not '%s'",
				 s->argv[s->argc > 1]);
	return svf_show(s, "why", job, part, print);
}

const struct svf_verb svf_why = {
	.name = "why", .args = "JOBID[_TASK|+N]", .run = run, .reads = true,
	.list = &svf_node_list,
	.what = "what a job waits for, in words",
	.help =
"The output has Slurm's state and reason of the job, the reason that vSphere\n"
"adds, and the job's nodes with their present operations. A job that does not\n"
"exist and one that you may not see (PrivateData) give the same answer. Of a job\n"
"that has ended slurm-vsphere keeps nothing; sacct has its nodes.\n"
"\n"
"While the job waits, SystemComment in its record has the reason too, after\n"
"\"vsphere: \". After a requeue it says why the last run ended, as \"vsphere: requeued:\",\n"
"and so does svf why. A start time is given if running jobs' time limits show it, as in\n"
"\"needs 4 sriov-roce VFs, 3 free; start expected 14:05\". A time of another day\n"
"has its date. svf jobs prints each start with date and seconds, and --json as\n"
"\"start_time\".\n",
};
