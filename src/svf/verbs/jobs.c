/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf jobs: what jobs have of vSphere, and what they wait for. One question for
 * all of them; which are shown is decided here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"
#include "util/mem.h"

/* This machine's name for it: a login node knows its users. */
static void put_user(struct svf_table *t, const struct svf_row *row)
{
	VS_FREE char *user = svf_user(vs_j_int_or(vs_j_opt(row->j, "uid"), -1));

	svf_cell(t, "%s", user[0] ? user : "-");
}

/* "2 clone 12s": so many nodes are on their way. */
static void put_making(struct svf_table *t, const struct svf_row *row)
{
	int64_t n = vs_j_int_or(vs_j_opt(row->j, "making"), 0);
	char age[16];

	svf_age(vs_j_int_or(vs_j_opt(row->j, "since"), 0), age);
	if (n > 0)
		svf_cell(t, "%" PRId64 " %s%s%s", n,
			 vs_j_str_or(vs_j_opt(row->j, "phase"), ""),
			 age[0] ? " " : "", age);
	else
		svf_cell(t, "-");
}

/* As squeue --start. */
static void put_expected(struct svf_table *t, const struct svf_row *row)
{
	char text[32];

	svf_clock(vs_j_int_or(vs_j_opt(row->j, "expected"), 0),
		  "%Y-%m-%dT%H:%M", text);
	svf_cell(t, "%s", text[0] ? text : "-");
}

static const struct svf_col cols[] = {
	{ .name = "jobid", .how = SVF_NEED, .key = "id",
	  .what = "as squeue writes it: 12, 12_3, 14+1" },
	{ .name = "user", .put = put_user, .what = "whose it is" },
	{ .name = "partition", .key = "partition",
	  .what = "its partition, or those that it may get" },
	{ .name = "state", .how = SVF_STATE | SVF_NEED, .key = "state",
	  .what = "the job's state as Slurm has it" },
	{ .name = "adapter", .how = SVF_NAMES, .key = "adapters",
	  .what = "of its nodes, or of those that it waits for" },
	{ .name = "need", .how = SVF_RIGHT | SVF_EXTRA | SVF_INT, .key = "need",
	  .what = "how many nodes it waits for" },
	{ .name = "nodes", .how = SVF_NAMES, .key = "nodes", .what = "that it has, of vSphere's" },
	{ .name = "hosts", .how = SVF_NAMES, .key = "hosts",
	  .what = "where their VMs run, or are going to" },
	{ .name = "vfs", .how = SVF_RIGHT | SVF_INT, .key = "vfs",
	  .what = "the virtual functions that these hold" },
	{ .name = "devices", .how = SVF_RIGHT | SVF_IF | SVF_INT, .key = "devices",
	  .what = "the devices that they hold whole; only where there are some" },
	{ .name = "making", .put = put_making,
	  .what = "nodes that are not up yet, and what was begun last for one of them, "
	  "when" },
	{ .name = "waited", .how = SVF_RIGHT | SVF_IF | SVF_SPAN, .key = "waited_s",
	  .what = "how long it lacked VFs or devices, until it began or now; only where one did" },
	{ .name = "provision", .how = SVF_RIGHT | SVF_IF | SVF_SPAN, .key = "provision_s",
	  .what = "from when it got its nodes until their VMs were up, or now; only where that is known" },
	{ .name = "expected", .put = put_expected,
	  .what = "when it may begin, as far as is known" },
	{ .name = "waits", .key = "text",
	  .what = "what it waits for: of vSphere, or by Slurm's own reason" },
};
static const struct svf_list list = SVF_LIST(cols);

/* "12" is all of an array, or of a heterogeneous job. */
static bool is_part_of(const char *id, const char *job)
{
	size_t len = strlen(job);

	return !strncmp(id, job, len) &&
	       (!id[len] || id[len] == '_' || id[len] == '+');
}

static bool wanted(const struct svf *s, const char *id)
{
	for (int i = 0; i < s->argc; i++)
		if (is_part_of(id, s->argv[i]))
			return true;
	return !s->argc;
}

/* A line for each that has nothing of vSphere's, or isn't there. */
static int check(const struct svf *s, struct vs_j jobs)
{
	int rc = SVF_OK;

	for (int i = 0; i < s->argc; i++) {
		bool found = false;

		for (size_t k = 0; k < vs_j_len(jobs) && !found; k++)
			found = is_part_of(vs_j_str(vs_j_get(
				vs_j_at(jobs, k), "id")), s->argv[i]);
		if (found)
			continue;
		fprintf(stderr, "svf: job %s has nothing of vSphere's, nor waits "
			"for it (svf why %s)\n", s->argv[i], s->argv[i]);
		rc = SVF_NO;
	}
	return rc;
}

static int run(const struct svf *s)
{
	struct svf_table *t;
	struct vs_jdoc doc;
	struct vs_j jobs;
	int rc = svf_ask("jobs", 0, "", &doc), unknown;

	if (rc)
		return rc;
	if (s->json) {
		unknown = check(s, vs_j_opt(vs_j_root(&doc), "jobs"));
		rc = svf_print_json(&doc);
		return rc ? rc : unknown;
	}
	jobs = vs_j_get(vs_j_root(&doc), "jobs");
	t = svf_table_build(&list, s);
	for (size_t i = 0; i < vs_j_len(jobs); i++) {
		struct vs_j job = vs_j_at(jobs, i);

		if (wanted(s, vs_j_str(vs_j_get(job, "id"))))
			svf_row_add(t, &(struct svf_row){ .j = job });
	}
	if (!jobs.doc->err.code)
		svf_table_print(t, s->no_header);
	svf_table_free(t);
	unknown = check(s, jobs);
	svf_print_notes(&doc);
	rc = svf_read_failed(&doc);
	vs_jdoc_free(&doc);
	return rc ? rc : unknown;
}

const struct svf_verb svf_jobs = {
	.name = "jobs", .args = "[JOBID...]", .run = run, .reads = true,
	.list = &list,
	.what = "jobs: nodes, hosts and VFs they have, what they wait for",
	.help =
"Jobs that have nodes of vSphere's, or wait for them; not those that Slurm has\n"
"not tried yet, nor those of other nodes. 12 is all of an array or of a\n"
"heterogeneous job. Jobs that you may not see (PrivateData) are left out.\n",
};
