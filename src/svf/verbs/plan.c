/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf plan: what would happen to a job if it were submitted now. Slurm says
 * which nodes and when (sbatch.c), slurmctld's slurm-vsphere what it would do
 * for them; nothing is submitted, held or changed.
 *
 * It takes the options that decide which nodes a job of VMs gets, and those
 * without which Slurm may refuse the job (time limit, account, QOS). sbatch
 * reads their values. All other options of sbatch are refused.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sbatch.h"
#include "verbs.h"
#include "util/mem.h"
#include "util/name.h"

enum { NODES, NTASKS, CONSTRAINT, PARTITION, NODELIST, EXCLUDE, MEM, TIME,
       ACCOUNT, QOS, OPTIONS };		/* svf.own[] */

static const struct svf_opt own[] = {
	[NODES] = { "-N", "--nodes", "MIN[-MAX]", "number of nodes",
		    SVF_OPT_OWN },
	[NTASKS] = { "-n", "--ntasks", "NUMBER", "number of tasks",
		     SVF_OPT_OWN },
	[CONSTRAINT] = { "-C", "--constraint", "EXPR",
		"features of the nodes, such as the name of an adapter",
		SVF_OPT_OWN },
	[PARTITION] = { "-p", "--partition", "NAMES",
		"partition, or several with commas between", SVF_OPT_OWN },
	[NODELIST] = { "-w", "--nodelist", "NODES",
		"the job gets at least these nodes", SVF_OPT_OWN },
	[EXCLUDE] = { "-x", "--exclude", "NODES",
		"the job gets none of these nodes", SVF_OPT_OWN },
	[MEM] = { NULL, "--mem", "SIZE",
		"memory on each node, in MB or with K, M, G or T",
		SVF_OPT_OWN },
	[TIME] = { "-t", "--time", "LIMIT",
		"time limit: decides whether the job fits before a reservation or maintenance, and into the partition",
		SVF_OPT_OWN },
	[ACCOUNT] = { "-A", "--account", "NAME",
		"account, where the default one may not use the partition",
		SVF_OPT_OWN },
	[QOS] = { "-q", "--qos", "NAME",
		"quality of service, where limits or partitions depend on it",
		SVF_OPT_OWN },
	[OPTIONS] = { 0 }
};
_Static_assert(OPTIONS <= SVF_OWNS, "room for the values");

#define INSTEAD "for other jobs, sbatch --test-only names the nodes, and svf plan -p PARTITION -w NODES shows the operations for them"
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
	VS_FREE char *nodes = svf_join(vs_j_opt(top, "reclaimed_nodes"), ", ");

	if (vs_j_bool_or(vs_j_opt(top, "after_reclaim"), false))
		printf("idle VMs are powered off for it first%s%s\n",
		       nodes[0] ? ": " : "", svf_clean(nodes));
}

/* What lacks is no VF of these nodes. */
static char *slurms_own(struct vs_j top)
{
	int64_t busy = vs_j_int_or(vs_j_opt(top, "busy_nodes"), 0);

	if (busy > 0)
		return vs_asprintf("%" PRId64 " of its nodes %s other jobs",
				   busy, busy == 1 ? "runs" : "run");
	return vs_strdup("Slurm's own resources, limits or the begin time; vSphere has capacity");
}

/* Slurm's answer to --test-only adds the time limits of all pending jobs, one after
 * another, even if backfill would start this one before them. */
static void say_queued(const struct svf_sbatch *b, const char *nodes,
		       const char *part)
{
	char at[32];

	printf("can start now on %s%s%s: its nodes are idle, and vSphere has capacity\n",
	       nodes, part[0] ? " in partition " : "", part);
	svf_clock(b->start, SVF_DAY, at);
	printf("jobs before it are pending: Slurm may let them start first%s%s\n",
	       at[0] ? ", and with their time limits expects it at " : "", at);
}

static void say_start(const struct svf_sbatch *b, struct vs_j top, bool now)
{
	const char *why = vs_j_str_or(vs_j_opt(top, "reason"), "");
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
	if (vs_j_bool_or(vs_j_opt(top, "queued"), false)) {
		say_queued(b, nodes, part);
		return;
	}
	printf("waits: %s\n", svf_clean(text));
	say_idle(top);
	if (!b->start || b->start - vs_j_int(vs_j_get(top, "time")) > UNKNOWN_S ||
	    !svf_clock(b->start, SVF_DAY, at)[0]) {
		puts("its start time is unknown");
		return;
	}
	printf("Slurm expects it to start at %s on %s%s%s\n", at, nodes,
	       part[0] ? " in partition " : "", part);
}

/* "clone", or "clone-linked" */
static void put_action(struct svf_table *t, const struct svf_row *row)
{
	const char *clone = vs_j_str_or(vs_j_opt(row->j, "clone"), "");

	svf_cell(t, "%s%s%s", vs_j_str_or(vs_j_opt(row->j, "action"), "-"),
		 clone[0] ? "-" : "", clone);
}

static const struct svf_col cols[] = {
	{ .name = "node", .how = SVF_NEED, .key = "node",
	  .what = "a node of the job" },
	{ .name = "adapter", .key = "adapter", .what = "its adapter" },
	{ .name = "action", .how = SVF_STATE, .put = put_action,
	  .what = "the operation for its VM: reuse (a VM that is on), power-on, clone, relocate, reconfigure, rebuild or wait; -linked: the new VM is a linked clone" },
	{ .name = "host", .key = "host", .what = "the host for its VM" },
	{ .name = "pf", .key = "pf", .what = "the physical function for its VM" },
	{ .name = "calls", .how = SVF_RIGHT | SVF_INT, .key = "calls",
	  .what = "the number of calls that change something in vCenter" },
	{ .name = "time", .how = SVF_RIGHT | SVF_SPAN, .key = "seconds",
	  .what = "how long this usually takes, for it alone" },
};
static const struct svf_list list = SVF_LIST(cols);

static void print_calls(struct vs_j top)
{
	int64_t most = vs_j_int_or(vs_j_opt(top, "calls_max"), 0);

	printf("calls to vCenter that change something: %" PRId64,
	       vs_j_int_or(vs_j_opt(top, "calls"), 0));
	if (most)
		printf(", at most %" PRId64 " if it refuses VFs or devices in a clone (not tried yet)",
		       most);
	putchar('\n');
}

static void print(const struct svf *s, const struct svf_sbatch *b,
		  struct vs_jdoc *doc)
{
	struct vs_j top = vs_j_root(doc);
	int64_t others = vs_j_int_or(vs_j_opt(top, "unmanaged_nodes"), 0);
	bool now = starts_now(b, top);
	char span[16];

	if (doc->err.code)
		return;		/* no half of an answer */
	say_start(b, top, now);
	svf_print_rows(&list, s, vs_j_opt(top, "nodes"));
	if (others)
		printf("%" PRId64 " node%s need no VM\n", others,
		       vs_plural((uint64_t)others));
	if (!vs_j_bool_or(vs_j_opt(top, "served"), false))
		return;
	print_calls(top);
	printf("all nodes are up %s %s%s\n",
	       vs_j_bool_or(vs_j_opt(top, "measured"), false) ? "in about" :
	       "within ResumeTimeout,",
	       svf_span(vs_j_int_or(vs_j_opt(top, "seconds"), 0), span),
	       vs_j_bool_or(vs_j_opt(top, "measured"), false) ?
	       " (from recent durations)" : " (nothing was measured yet)");
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

/* The value of an option: of the command line, else of sbatch's variable. */
static const char *value_of(const struct svf *s, int option, const char *env)
{
	const char *value = s->own[option] ? s->own[option] : getenv(env);

	return value ? value : "";
}

/* Slurm's answer for these partitions; NULL: those of the command line. */
static int ask_slurm(const struct svf *s, const char *partition,
		     struct svf_sbatch *b, struct vs_err *err)
{
	char *words[OPTIONS];
	int n = 0, rc;

	for (int i = 0; i < OPTIONS; i++) {
		const char *value = i == PARTITION && partition ? partition :
			s->own[i];

		if (value)
			words[n++] = vs_asprintf("%s=%s", own[i].name, value);
	}
	rc = svf_sbatch(words, n, b, err);
	while (n > 0)
		free(words[--n]);
	return rc;
}

/* One question to Slurm, and what the core would do for its answer. */
static int ask(const struct svf *s, struct svf_sbatch *b, struct vs_jdoc *doc)
{
	struct vs_err err = { 0 };

	memset(doc, 0, sizeof(*doc));
	if (ask_slurm(s, NULL, b, &err))
		return no(&err);
	return svf_ask_nodes("plan", b->nodes, doc);
}

/*
 * Of several partitions --test-only answers for the first that can ever run the
 * job, and slurmctld starts the job in the first that can run it now. So each of
 * the others is asked about. If none can run it now, the earliest start counts.
 */
static int ask_others(const struct svf *s, struct svf_sbatch *b,
		      struct vs_jdoc *doc)
{
	VS_FREE struct svf_sbatch *other = vs_calloc(1, sizeof(*other));
	VS_FREE char *list = vs_strdup(value_of(s, PARTITION,
						"SBATCH_PARTITION"));
	VS_FREE char *first = vs_strdup(b->partition);
	char *save = NULL;
	struct vs_err err;

	for (char *name = strtok_r(list, ",", &save);
	     name && !starts_now(b, vs_j_root(doc));
	     name = strtok_r(NULL, ",", &save)) {
		struct vs_jdoc answer;
		int rc;

		if (!strcmp(name, first) || ask_slurm(s, name, other, &err))
			continue;	/* it can't ever run there */
		rc = svf_ask_nodes("plan", other->nodes, &answer);
		if (rc)
			return rc;
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

static int plan(const struct svf *s)
{
	VS_FREE struct svf_sbatch *b = vs_calloc(1, sizeof(*b));
	struct vs_jdoc doc;
	int rc = ask(s, b, &doc);

	if (!rc)
		rc = ask_others(s, b, &doc);
	if (rc) {
		vs_jdoc_free(&doc);
		return rc;
	}
	if (s->json) {
		join(b, &doc);
		rc = svf_read_failed(&doc);
		if (!rc)
			return svf_print_json(s, &doc);
	} else {
		print(s, b, &doc);
		svf_print_notes(&doc);
		rc = svf_read_failed(&doc);
	}
	vs_jdoc_free(&doc);
	return rc;
}

/* What is no plan; 0 or an exit code after a line. */
static int check(const struct svf *s)
{
	const char *features = value_of(s, CONSTRAINT, "SBATCH_CONSTRAINT");
	bool given = false;

	for (int i = 0; i < OPTIONS; i++)
		given |= s->own[i] != NULL;
	if (s->argc)
		return svf_wrong("plan", "'%s': no script and no heterogeneous job is read. Give the options of its #SBATCH lines; %s",
				 s->argv[0], INSTEAD);
	if (!given)
		return svf_wrong("plan", "the job's options are expected, such as -N 4 -C sriov-roce");
	if (!strpbrk(features, "[*"))
		return 0;
	fprintf(stderr, "svf: -C %s can't be planned, because sbatch --test-only ignores brackets and counts: plan each type of node alone\n",
		features);
	return SVF_NO;
}

static int run(const struct svf *s)
{
	int rc = check(s);

	/* sbatch would say it in its own words, and exit as if it refused the job. */
	if (!rc)
		rc = svf_ask_ready();
	return rc ? rc : plan(s);
}

const struct svf_verb svf_plan = {
	.name = "plan", .args = "", .run = run, .reads = true, .own = own, .instead = INSTEAD,
	.list = &list,
	.what = "what would happen to a job that is submitted now",
	.help =
"The options are those of sbatch. For each node the plan shows its host and PF,\n"
"the operation for its VM, the number of changing calls, and the usual duration.\n"
"If the job would wait, the plan shows the reason. svf plan submits, reserves\n"
"and changes nothing.\n"
"\n"
"svf runs sbatch --test-only, so that Slurm chooses the nodes as it does for a\n"
"real job. job_submit plugins, limits of users and variables such as\n"
"SBATCH_PARTITION apply. sbatch --test-only ignores nodes that are out of\n"
"service now.\n"
"\n"
"svf exits with 1 if Slurm or svf refuses the job, and with 3 if slurmctld does\n"
"not answer within 30 seconds. Brackets and counts in --constraint ([a|b],\n"
"[a*1&b*1]) are refused: plan each type of node alone.\n"
"\n"
"Other options of sbatch and scripts are refused. For a job that needs them use\n"
"two commands. The first prints its nodes and its start time, the second the\n"
"operations for these nodes.\n"
"  sbatch --test-only --gres=tmpfs:1 job.sh\n"
"  svf plan -p roce -w vm[001-002]\n"
"\n"
"A job that is submitted at once gets the planned nodes, unless jobs before it\n"
"in the queue have not started yet. Of several partitions the first that can run\n"
"the job at once is planned, else the one that can run it earliest. With\n"
"Placement=drs vCenter may choose another host.\n"
"\n"
"If idle VMs of other nodes have the VFs, they are powered off within seconds.\n"
"The plan names them, but their host, calls and time are known only when they\n"
"are off.\n"
"\n"
"sbatch --test-only refuses some jobs that sbatch queues, for example if nodes\n"
"are drained or a partition's limits are exceeded. It does not know the nodes\n"
"and VFs of pending jobs. It adds their time as if they ran one after another on\n"
"the whole partition. If the planned nodes are idle and jobs are pending, the plan\n"
"says \"can start now\" and names Slurm's time.\n",
};
