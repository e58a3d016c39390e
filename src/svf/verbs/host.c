/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf host: drains hosts and takes them back. What happens to the VMs there is
 * shown with the request, and before it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "verbs.h"
#include "util/mem.h"

/* ---- what becomes of the VMs ---------------------------------------------------- */

static const struct svf_col cols[] = {
	{ .name = "node", .how = SVF_NEED, .key = "node", .what = "whose VM is on there" },
	{ .name = "job", .how = SVF_RIGHT | SVF_INT, .key = "job",
	  .what = "the job that has it" },
	{ .name = "will", .how = SVF_STATE | SVF_NEED, .key = "will",
	  .what = "move: to another host, with the job; stay: until the job ends; requeue: the job is; off: it is idle, and goes off" },
	{ .name = "why", .key = "why",
	  .what = "why it can't move" },
};
static const struct svf_list list = SVF_LIST(cols);

/* ---- orders --------------------------------------------------------------------- */

static void put_clock(int64_t at, char out[32])
{
	if (!svf_clock(at, SVF_DAY, out)[0])
		vs_strlcpy(out, "?", 32);
}

/* "; 2 jobs run there, safe at 2026-03-01T14:00:00" */
static char *safe_words(struct vs_j top)
{
	int64_t jobs = vs_j_int_or(vs_j_opt(top, "jobs_left"), 0);
	int64_t at = vs_j_int_or(vs_j_opt(top, "safe_at"), 0);
	bool moves = vs_j_int_or(vs_j_opt(top, "moves"), 0) > 0;
	char clock[32];

	if (vs_j_bool_or(vs_j_opt(top, "safe"), false))
		return vs_strdup("; none of ours is on there: safe now");
	if (!jobs && moves)
		return vs_strdup("; jobs leave with their VMs");
	if (!jobs)
		return vs_strdup("; idle VMs go off");
	put_clock(at, clock);
	return vs_asprintf("; %" PRId64 " job%s there, safe %s%s", jobs,
			   jobs == 1 ? " runs" : "s run",
			   at ? "at " : "when nobody knows", at ? clock : "");
}

static char *drained_words(struct vs_j top)
{
	int64_t at = vs_j_int_or(vs_j_opt(top, "maintenance_at"), 0);
	VS_FREE char *safe = safe_words(top);
	char clock[32];

	if (!at)
		return vs_asprintf("%s takes no more VMs (it was %s)%s",
				   vs_j_str(vs_j_get(top, "host")),
				   vs_j_str(vs_j_get(top, "was")), safe);
	put_clock(at, clock);
	return vs_asprintf("%s takes VMs of jobs that end before %s (it is %s)%s",
			   vs_j_str(vs_j_get(top, "host")), clock,
			   vs_j_str(vs_j_get(top, "was")), safe);
}

static int wrong(void)
{
	fputs("svf: host: drain HOST [--at TIME] [--requeue] [REASON], plan HOST [--requeue] or resume HOST is expected\n",
	      stderr);
	return SVF_USAGE;
}

/* The answer's first line, then a row for each VM. */
static int finish(const struct svf *s, struct vs_jdoc *doc, char *line_take)
{
	VS_FREE char *line = line_take;
	int rc;

	if (s->json)
		return svf_print_json(doc);
	rc = svf_read_failed(doc);
	if (!rc) {
		if (line)
			puts(svf_clean(line));
		svf_print_rows(&list, s, vs_j_opt(vs_j_root(doc), "nodes"));
	}
	vs_jdoc_free(doc);
	return rc;
}

static int drain(const struct svf *s)
{
	VS_FREE char *text = svf_args_join(s, s->flag ? 3 : 2, " ");
	struct vs_jdoc doc;
	int64_t at = 0;
	int rc;

	if (s->flag)
		at = svf_start_parse(s->argv[2], (int64_t)time(NULL));
	if (s->flag && at <= 0) {
		fprintf(stderr, "svf: host: TIME is 14:00, 2026-03-01T14:00 or now+2hours, not %s\n",
			s->argv[2]);
		return SVF_USAGE;
	}
	if (!svf_reason_fits("host", text))
		return SVF_USAGE;
	rc = svf_request_at(s->also ? "drain-requeue" : "drain", s->argv[1],
			    text, at, &doc);
	return rc ? rc : finish(s, &doc, drained_words(vs_j_root(&doc)));
}

static int plan(const struct svf *s)
{
	struct vs_jdoc doc;
	struct vs_j nodes;
	int rc = svf_request(s->also ? "leave-requeue" : "leave", s->argv[1],
			     "", &doc);

	if (rc)
		return rc;
	nodes = vs_j_opt(vs_j_root(&doc), "nodes");
	return finish(s, &doc, vs_j_len(nodes) ? NULL : vs_asprintf(
		"no VM of a node is on %s",
		vs_j_str(vs_j_get(vs_j_root(&doc), "host"))));
}

static int resume(const struct svf *s)
{
	struct vs_jdoc doc;
	struct vs_j top;
	int rc = svf_request("resume", s->argv[1], "", &doc);

	if (rc)
		return rc;
	top = vs_j_root(&doc);
	return finish(s, &doc, vs_asprintf(
		"%s takes VMs again, if nothing else keeps them away (it was %s)",
		vs_j_str(vs_j_get(top, "host")),
		vs_j_str(vs_j_get(top, "was"))));
}

static int run_host(const struct svf *s)
{
	const char *what = s->argc ? s->argv[0] : "";

	if (!strcmp(what, "drain") && s->argc >= (s->flag ? 3 : 2))
		return drain(s);
	if (!strcmp(what, "plan") && s->argc == 2 && !s->flag)
		return plan(s);
	if (!strcmp(what, "resume") && s->argc == 2 && !s->flag && !s->also)
		return resume(s);
	return wrong();
}

static const struct svf_word host_words[] = {
	{ "drain", "HOST [--at TIME] [REASON...]", "no VM is placed on the host any more; VMs leave with their jobs running where their adapter allows vMotion and another host of the cluster has room; other nodes whose VM is on there are drained, idle ones powered down, running jobs finish; a suspended VM stays. Says what becomes of each and when the last job ends, and so does reservation vsphere_HOST in Slurm. Outlives restarts. REASON is of 119 bytes at most" },
	{ "plan", "HOST", "says what would become of each VM there, as of now, and orders nothing" },
	{ "resume", "HOST", "ends that, and whatever else slurm-vsphere holds against the host. Look at svf hosts first" },
	{ 0 }
};

const struct svf_verb svf_host = {
	.name = "host", .args = "drain|plan|resume HOST", .words = host_words,
	.flag = "--at", .flag_what = "drain from TIME on (14:00, 2026-03-01T14:00, now+2hours); until then the host takes VMs of jobs that end before it, and no others",
	.also = "--requeue",
	.also_what = "with drain: jobs whose VMs can't leave are requeued when the drain begins, and those that may not be are ended; with plan: what that would mean",
	.run = run_host, .list = &list, .names = SVF_NAMES_HOST,
	.what = "keep VMs away from a host, or no longer",
	.help =
"While VMs of running jobs are on a host that is drained, enters maintenance or\n"
"will be drained (--at), Slurm has a reservation vsphere_HOST (MAINT, IGNORE_JOBS,\n"
"user root) of their nodes, which ends when the host is safe: with the last job's\n"
"time limit. It goes with the last VM, and comes back if it is deleted meanwhile;\n"
"one of which somebody has changed users, accounts, flags or comment is left alone,\n"
"nodes and times are put right. A time limit counts from the launch, so that\n"
"a boot shortly before --at TIME comes on top of it.\n"
"What else is held against a host: that a VM failed to start on it lately\n"
"(avoided), that three nodes in a row did (quarantined: no VM for 5 minutes,\n"
"then a single one is tried, and after each failure the pause doubles, up to an\n"
"hour; on-trial meanwhile), or that a physical function isn't what it was:\n"
"another NIC or another address, or it has virtual functions that another one\n"
"lost. That happens when a card is added or moved, because max_vfs of a driver\n"
"counts in PCI order; what svf hosts --pfs shows now is taken for right.\n"
"(root, SlurmUser, operators)\n",
};
