/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf plan: what would happen to a job if it were submitted now. Slurm says
 * which nodes and when (sbatch.c), slurmctld's slurm-vsphere what it would do
 * for them; nothing is submitted, held or changed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sbatch.h"
#include "svf.h"
#include "util/mem.h"

#define UNKNOWN_S (300 * 24 * 3600)	/* the select plugin says "in a year" */

/* Slurm's clock is slurmctld's, which also gave the answer, later. */
static bool starts_now(const struct svf_sbatch *b, struct vs_j top)
{
	return b->start && b->start <= vs_j_int(vs_j_get(top, "time")) &&
		vs_j_bool(vs_j_get(top, "served"));
}

/* What the VFs sit on is soon gone; only then it is known where they are. */
static void say_idle(struct vs_j top)
{
	struct vs_j nodes = vs_j_opt(top, "give_way");

	if (!vs_j_bool_or(vs_j_opt(top, "after_idle"), false))
		return;
	printf("idle VMs give way for it first");
	for (size_t i = 0; i < vs_j_len(nodes); i++) {
		VS_FREE char *node = vs_strdup(vs_j_str(vs_j_at(nodes, i)));

		printf("%s%s", i ? ", " : ": ", svf_clean(node));
	}
	putchar('\n');
}

/* What lacks is no VF of these nodes. */
static char *slurms_own(struct vs_j top)
{
	int64_t busy = vs_j_int_or(vs_j_opt(top, "busy"), 0);

	if (busy > 0)
		return vs_asprintf("%" PRId64 " of its nodes %s other jobs",
				   busy, busy == 1 ? "has" : "have");
	return vs_strdup("nothing of vSphere's is in the way, but Slurm's own resources, limits or the begin time");
}

static void say_start(const struct svf_sbatch *b, struct vs_j top, bool now)
{
	const char *why = vs_j_str_or(vs_j_opt(top, "text"), "");
	VS_FREE char *nodes = vs_strdup(b->nodes);
	VS_FREE char *part = vs_strdup(b->partition);
	VS_FREE char *text = why[0] ? vs_strdup(why) : slurms_own(top);
	char at[32];

	svf_clean(nodes);
	svf_clean(part);
	if (now) {
		printf("starts now on %s%s%s\n", nodes,
		       part[0] ? " in partition " : "", part);
		return;
	}
	printf("waits: %s\n", svf_clean(text));
	say_idle(top);
	if (!b->start || b->start - vs_j_int(vs_j_get(top, "time")) > UNKNOWN_S ||
	    !svf_clock(b->start, SVF_DAY, at)[0]) {
		puts("nobody knows until when");
		return;
	}
	printf("Slurm expects it to start at %s on %s%s%s\n", at, nodes,
	       part[0] ? " in partition " : "", part);
}

/* "clone", or "clone-linked" */
static void put_do(struct svf_table *t, const struct svf_row *row)
{
	const char *clone = vs_j_str_or(vs_j_opt(row->j, "clone"), "");

	svf_cell(t, "%s%s%s", vs_j_str_or(vs_j_opt(row->j, "do"), "-"),
		 clone[0] ? "-" : "", clone);
}

static void put_calls(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%" PRId64, vs_j_int_or(vs_j_opt(row->j, "calls"), 0));
}

static void put_seconds(struct svf_table *t, const struct svf_row *row)
{
	int64_t seconds = vs_j_int_or(vs_j_opt(row->j, "seconds"), -1);

	if (seconds < 0)
		svf_cell(t, "-");
	else
		svf_cell(t, "%" PRId64, seconds);
}

static const struct svf_col cols[] = {
	{ .name = "node", .put = svf_put_node, .what = "the node the job gets" },
	{ .name = "adapter", .key = "adapter", .what = "the adapter that it has" },
	{ .name = "do", .how = SVF_STATE, .put = put_do,
	  .what = "what is done for it: reuse a VM that is on, power-on, clone, relocate, reconfigure, rebuild, wait; -linked: the new VM is a linked clone" },
	{ .name = "host", .key = "host", .what = "where its VM would run" },
	{ .name = "pf", .key = "pf", .what = "the physical function it would get" },
	{ .name = "calls", .how = SVF_RIGHT, .put = put_calls,
	  .what = "calls to vCenter that change something" },
	{ .name = "seconds", .how = SVF_RIGHT, .put = put_seconds,
	  .what = "how long that took lately, for it alone" },
};
static const struct svf_list list = SVF_LIST(cols);

static void print_nodes(const struct svf *s, struct vs_j nodes)
{
	struct svf_table *t = svf_table_of(&list, s);

	for (size_t i = 0; i < vs_j_len(nodes); i++)
		svf_row_add(t, &(struct svf_row){ .j = vs_j_at(nodes, i) });
	if (vs_j_len(nodes))
		svf_table_print(t, s->no_header);
	svf_table_free(t);
}

static void print(const struct svf *s, const struct svf_sbatch *b,
		  struct vs_jdoc *doc)
{
	struct vs_j top = vs_j_root(doc);
	int64_t others = vs_j_int_or(vs_j_opt(top, "others"), 0);
	bool now = starts_now(b, top);

	if (doc->err.code)
		return;		/* nothing half said */
	say_start(b, top, now);
	print_nodes(s, vs_j_opt(top, "nodes"));
	if (others)
		printf("%" PRId64 " node%s need no VM\n", others,
		       others == 1 ? "" : "s");
	if (!vs_j_bool_or(vs_j_opt(top, "served"), false))
		return;
	printf("calls to vCenter that change something: %" PRId64 "\n",
	       vs_j_int_or(vs_j_opt(top, "calls"), 0));
	printf("all nodes are up %s %" PRId64 " s%s\n",
	       vs_j_bool_or(vs_j_opt(top, "measured"), false) ? "in about" :
	       "within ResumeTimeout,",
	       vs_j_int_or(vs_j_opt(top, "seconds"), 0),
	       vs_j_bool_or(vs_j_opt(top, "measured"), false) ?
	       " (as it took lately)" : " (nothing was measured yet)");
}

/* Slurm's part beside the report's. */
static void join(const struct svf_sbatch *b, struct vs_jdoc *doc)
{
	struct vs_j top = vs_j_root(doc);
	bool now = starts_now(b, top);
	struct json_object *o;

	if (doc->err.code)
		return;
	o = vs_jb_obj(NULL);
	if (b->start)
		vs_jb_int(o, "start", b->start);
	vs_jb_str(o, "nodes", b->nodes);
	if (b->partition[0])
		vs_jb_str(o, "partition", b->partition);
	vs_jb_int(o, "processors", b->cpus);
	vs_jb_bool(doc->root, "starts_now", now);
	vs_jb_put(doc->root, "slurm", o);
}

static int no(const struct vs_err *err)
{
	VS_FREE char *text = vs_strdup(err->text);

	fprintf(stderr, "svf: %s\n", svf_clean(text));
	return err->code == VS_E_RETRY ? SVF_AWAY : SVF_NO;
}

static int ask_slurm(const struct svf_job *j, char **words, int n,
		     struct svf_sbatch *b, struct vs_err *err)
{
	if (svf_sbatch(words, n, j->on_stdin ? j->script : NULL, b, err))
		return -1;
	if (b->several)
		return vs_err_set(err, VS_E_REQUEST,
			"a heterogeneous job can't be planned, for sbatch --test-only mixes the nodes of its components: plan each component alone");
	return 0;
}

/* One question to Slurm, and what the core would do for its answer. */
static int ask(const struct svf_job *j, struct svf_sbatch *b,
	       struct vs_jdoc *doc)
{
	struct vs_err err = { 0 };

	memset(doc, 0, sizeof(*doc));
	if (svf_untold_check(j, &err) ||
	    ask_slurm(j, j->words, j->n, b, &err))
		return no(&err);
	return svf_ask_nodes("plan", b->nodes, doc);
}

/*
 * It can't begin at once in the partition that Slurm has answered for: it will
 * in the first of the others where it can. Else the earliest answer stays.
 */
static int ask_others(const struct svf_job *j, struct svf_sbatch *b,
		      struct vs_jdoc *doc)
{
	VS_FREE struct svf_sbatch *other = vs_calloc(1, sizeof(*other));
	VS_FREE char **argv = vs_calloc((size_t)j->n + 2, sizeof(*argv));
	int n = 0;
	VS_FREE char *list = svf_partitions(j, argv + 1, &n);
	char last[sizeof(b->partition)];
	struct vs_err err;

	vs_strlcpy(last, b->partition, sizeof(last));
	while (list && !starts_now(b, vs_j_root(doc)) &&
	       svf_partition_drop(list, last)) {
		VS_FREE char *option = vs_asprintf("--partition=%s", list);
		struct vs_jdoc answer;
		int rc;

		argv[0] = option;
		if (ask_slurm(j, argv, n + 1, other, &err))
			break;		/* none of the others can ever run it */
		rc = svf_ask_nodes("plan", other->nodes, &answer);
		if (rc)
			return rc;
		vs_strlcpy(last, other->partition, sizeof(last));
		if (!starts_now(other, vs_j_root(&answer)) &&
		    other->start >= b->start) {
			vs_jdoc_free(&answer);
			continue;
		}
		vs_jdoc_free(doc);
		*doc = answer;
		*b = *other;
	}
	return SVF_OK;
}

static int plan(const struct svf *s, const struct svf_job *j)
{
	VS_FREE struct svf_sbatch *b = vs_calloc(1, sizeof(*b));
	struct vs_jdoc doc;
	int rc = ask(j, b, &doc);

	if (!rc)
		rc = ask_others(j, b, &doc);
	if (rc) {
		vs_jdoc_free(&doc);
		return rc;
	}
	svf_untold_note(j, &doc);
	if (s->json) {
		join(b, &doc);
		rc = svf_read_failed(&doc);
		if (!rc)
			return svf_print_json(&doc);
	} else {
		print(s, b, &doc);
		svf_print_notes(&doc);
		rc = svf_read_failed(&doc);
	}
	vs_jdoc_free(&doc);
	return rc;
}

static int run(const struct svf *s)
{
	struct vs_err err = { 0 };
	struct svf_job job;
	int rc;

	if (svf_job_read(&job, s->argv, s->argc, &err))
		return no(&err);
	if (s->argc || job.on_stdin) {
		rc = plan(s, &job);
	} else {
		fputs("svf: plan: what is to be planned? A script, or options of sbatch\n",
		      stderr);
		rc = SVF_USAGE;
	}
	svf_job_free(&job);
	return rc;
}

const struct svf_verb svf_plan = {
	.name = "plan", .args = "SBATCH-ARGUMENTS", .run = run, .raw = true,
	.list = &list, .names = SVF_NAMES_FILE,
	.what = "what would happen if a job were submitted now",
	.help =
"Takes what sbatch takes: a script with its #SBATCH lines and arguments, a\n"
"script on standard input (one that comes within three seconds), or options\n"
"alone:\n"
"  svf plan job.sh\n"
"  svf plan -C sriov-roce -N 4 -p roce -w vm[001-002]\n"
"For each node it says what is done for it, the host and PF it would get, calls\n"
"that change something, and how long that took lately; or what the job would\n"
"wait for. Nothing is submitted, held or changed.\n"
"\n"
"sbatch --test-only is asked, so that Slurm chooses the nodes as it does for a\n"
"real job. It doesn't mind licenses in use, --hold, --dependency, more than one\n"
"task of an --array, nor what is free at --begin (a note says so), nor nodes\n"
"that are out of service now. Brackets and counts in --constraint ([a|b],\n"
"[a*1&b*1]) and heterogeneous jobs are refused: plan each kind of node, or each\n"
"component, alone. Exits with 1 where Slurm, or svf, refuses the job, with 3 where\n"
"slurmctld has not answered within 30 seconds.\n"
"\n"
"Of svf's own options --json and --noheader may stand anywhere before --, all\n"
"others before the verb only: after it they are sbatch's.\n",
	.more =
"job_submit plugins and limits of users count as for a real job; only a job id\n"
"is taken. A job that is submitted at once gets that very answer, unless jobs\n"
"before it in the queue are yet to start. Of several partitions the first that\n"
"can run the job at once is planned for, else the one that can earliest. With\n"
"Placement=drs vCenter has the last word on the host. Where idle VMs of other\n"
"nodes have the VFs (usual with Retention=warm) they give way within seconds:\n"
"the plan names them, but host, calls and time are known only when they are off.\n"
"\n"
"Where nodes are out of service (drained, powering down) or a partition's limits\n"
"are in the way sbatch --test-only refuses a job that sbatch queues. Of pending\n"
"jobs it knows neither nodes nor VFs: it adds the time that those of the same\n"
"partition and no lower priority would take one after another on the whole\n"
"partition. For --begin VMs and VFs are those of now.\n",
};
