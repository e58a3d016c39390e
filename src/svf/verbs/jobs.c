/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf jobs: the VMs of jobs, and what jobs wait for. One request asks for all of
 * them, and this file chooses which are printed.
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

/* "2 clone 00:00:12": the nodes that are not up yet. */
static void put_provisioning(struct svf_table *t, const struct svf_row *row)
{
	int64_t n = vs_j_int_or(vs_j_opt(row->j, "provisioning"), 0);
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
static void put_start(struct svf_table *t, const struct svf_row *row)
{
	char text[32];

	svf_clock(vs_j_int_or(vs_j_opt(row->j, "start_time"), 0), SVF_DAY, text);
	svf_cell(t, "%s", text[0] ? text : "-");
}

static const struct svf_col cols[] = {
	{ .name = "jobid", .how = SVF_NEED, .key = "id",
	  .what = "the job, as squeue writes it: 12, 12_3, 14+1" },
	{ .name = "user", .put = put_user, .what = "the job's user" },
	{ .name = "partition", .key = "partition",
	  .what = "the job's partition, or its candidates" },
	{ .name = "state", .how = SVF_STATE | SVF_NEED,
	  .key = "state", .what = "the job's state in Slurm" },
	{ .name = "adapter", .how = SVF_NAMES, .key = "adapters",
	  .what = "adapters of its nodes, or those that it waits for" },
	{ .name = "need", .how = SVF_RIGHT | SVF_EXTRA | SVF_INT, .key = "need",
	  .what = "the number of nodes that it waits for" },
	{ .name = "nodes", .how = SVF_NAMES, .key = "nodes",
	  .what = "its nodes that are VMs" },
	{ .name = "hosts", .how = SVF_NAMES, .key = "hosts",
	  .what = "the hosts where their VMs run, or will run" },
	{ .name = "vfs", .how = SVF_RIGHT | SVF_INT, .key = "vfs",
	  .what = "the number of their virtual functions" },
	{ .name = "devices", .how = SVF_RIGHT | SVF_IF | SVF_INT, .key = "devices",
	  .what = "the number of their whole devices; only where there are some" },
	{ .name = "provisioning", .put = put_provisioning,
	  .what = "nodes that are not up yet, the last operation for one of them, and its time so far" },
	{ .name = "wait_time", .how = SVF_RIGHT | SVF_IF | SVF_SPAN, .key = "wait_time_s",
	  .what = "how long VFs or devices were missing, until it started or now; only where they were" },
	{ .name = "provision_time", .how = SVF_RIGHT | SVF_IF | SVF_SPAN, .key = "provision_time_s",
	  .what = "from when it got its nodes until their VMs were up, or now; only where that is known" },
	{ .name = "start_time", .put = put_start,
	  .what = "when it may start, if that is known" },
	{ .name = "reason", .key = "reason",
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

/* A line for each job that is not in the list. */
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
		fprintf(stderr, "svf: job %s has no VM, and waits for none (svf why %s)\n", s->argv[i], s->argv[i]);
		rc = SVF_NO;
	}
	return rc;
}

enum { USER, ME, PARTITION, STATES, NODELIST, OPTIONS };	/* svf.own[] */

static const struct svf_opt own[] = {
	[USER] = SVF_FILTER_USER,
	[ME] = SVF_FILTER_ME,
	[PARTITION] = SVF_FILTER_PARTITION("jobs"),
	[STATES] = SVF_FILTER_STATES("jobs"),
	[NODELIST] = SVF_FILTER_NODELIST("jobs on these nodes"),
	[OPTIONS] = { 0 }
};

/* As squeue takes them. */
static const struct svf_state states[] = {
	{ "PENDING", "PD" }, { "CONFIGURING", "CF" }, { "RUNNING", "R" },
	{ "COMPLETING", "CG" }, { "SUSPENDED", "S" }, { "STOPPED", "ST" },
	{ "COMPLETED", "CD" }, { "CANCELLED", "CA" }, { "FAILED", "F" },
	{ "TIMEOUT", "TO" }, { "NODE_FAIL", "NF" }, { "PREEMPTED", "PR" },
	{ "BOOT_FAIL", "BF" }, { "DEADLINE", "DL" }, { "OUT_OF_MEMORY", "OOM" },
	{ "REQUEUED", "RQ" }, { "REQUEUE_HOLD", "RH" }, { "RESIZING", "RS" },
	{ "SIGNALING", "SI" }, { "SPECIAL_EXIT", "SE" }, { "STAGE_OUT", "SO" },
	{ "RESV_DEL_HOLD", "RD" }, { "REVOKED", "RV" }, { 0 }
};

static bool keep(const struct svf *s, const struct svf_filter *f,
		 struct vs_j job)
{
	return wanted(s, vs_j_str(vs_j_get(job, "id"))) &&
		svf_filter_user(f, vs_j_int_or(vs_j_opt(job, "uid"), -1)) &&
		svf_filter_partition(f, vs_j_str_or(
			vs_j_opt(job, "partition"), "")) &&
		svf_filter_state(f, vs_j_str_or(vs_j_opt(job, "state"), "")) &&
		svf_filter_nodes(f, vs_j_opt(job, "nodes"));
}

static int show(const struct svf *s, const struct svf_filter *f)
{
	struct svf_table *t;
	struct vs_jdoc doc;
	struct vs_j jobs;
	int rc = svf_ask("jobs", 0, "", &doc), unknown;

	if (rc)
		return rc;
	unknown = check(s, vs_j_opt(vs_j_root(&doc), "jobs"));
	svf_filter_apply(s, f, &doc, "jobs", keep);
	if (s->json) {
		rc = svf_print_json(s, &doc);
		return rc ? rc : unknown;
	}
	jobs = vs_j_get(vs_j_root(&doc), "jobs");
	t = svf_table_build(&list, s);
	svf_rows_add(t, jobs);
	if (!jobs.doc->err.code && (vs_j_len(jobs) || !unknown))
		svf_table_print(t, s->no_header);
	svf_table_free(t);
	svf_print_notes(&doc);
	rc = svf_read_failed(&doc);
	vs_jdoc_free(&doc);
	return rc ? rc : unknown;
}

/* As squeue -w: a node that is none is refused, and not passed over. Whose list of
 * nodes is empty may see none. */
static int nodes_check(const struct svf_filter *f)
{
	const struct svf named = { .argv = f->nodes, .argc = (int)f->nnodes };
	struct vs_jdoc doc;
	struct vs_j all;
	int rc;

	if (!f->nnodes)
		return SVF_OK;
	rc = svf_ask("nodes", 0, "", &doc);
	if (rc)
		return rc;
	all = vs_j_opt(vs_j_root(&doc), "nodes");
	if (vs_j_len(all))
		rc = svf_names_check(&named, all, "node", "node");
	vs_jdoc_free(&doc);
	return rc;
}

static int run(const struct svf *s)
{
	const struct svf_filter_words words = { .users = s->own[USER],
		.me = s->own[ME], .partitions = s->own[PARTITION],
		.states = s->own[STATES], .nodes = s->own[NODELIST],
		.known = states };
	struct svf_filter f;
	int unknown = SVF_OK, rc = svf_filter_read("jobs", &words, &f);

	if (!rc)
		unknown = nodes_check(&f);
	if (!rc && (unknown == SVF_OK || unknown == SVF_NO))
		rc = show(s, &f);
	svf_filter_free(&f);
	return rc ? rc : unknown;
}

const struct svf_verb svf_jobs = {
	.name = "jobs", .args = "[JOBID...]", .run = run, .reads = true,
	.own = own, .list = &list,
	.what = "jobs: their nodes, hosts and VFs, and why they wait",
	.help =
"The list has jobs whose nodes are VMs, and jobs that wait for such nodes. Jobs\n"
"that Slurm has not tried to start yet are not in it. 12 stands for all of an\n"
"array or of a heterogeneous job. Jobs that you may not see (PrivateData) are\n"
"left out.\n",
};
