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

enum { AT, REQUEUE, DRY_RUN, OPTIONS };	/* svf.own[] */

/* ---- what becomes of the VMs ---------------------------------------------------- */

static const struct svf_col cols[] = {
	{ .name = "node", .how = SVF_NEED, .key = "node",
	  .what = "the node whose VM is on there" },
	{ .name = "jobid", .how = SVF_RIGHT | SVF_INT, .key = "job",
	  .what = "the job on it" },
	{ .name = "outcome", .how = SVF_STATE | SVF_NEED, .key = "outcome",
	  .what = "move: the VM moves to another host with its job; stay: it stays until the job ends; requeue: the job is requeued; off: the VM is idle and is powered off" },
	{ .name = "reason", .key = "reason",
	  .what = "why the VM can't move" },
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
	int64_t jobs = vs_j_int_or(vs_j_opt(top, "jobs_remaining"), 0);
	int64_t at = vs_j_int_or(vs_j_opt(top, "safe_at"), 0);
	bool moves = vs_j_int_or(vs_j_opt(top, "nodes_moving"), 0) > 0;
	char clock[32];

	if (vs_j_bool_or(vs_j_opt(top, "safe"), false))
		return vs_strdup("; no managed VM is on there: safe now");
	if (!jobs && moves)
		return vs_strdup("; jobs move with their VMs");
	if (!jobs)
		return vs_strdup("; idle VMs are powered off");
	put_clock(at, clock);
	return vs_asprintf("; %" PRId64 " job%s there, safe %s%s", jobs,
			   jobs == 1 ? " runs" : "s run",
			   at ? "at " : "at an unknown time", at ? clock : "");
}

static char *drained_words(struct vs_j top)
{
	int64_t at = vs_j_int_or(vs_j_opt(top, "maintenance_at"), 0);
	VS_FREE char *safe = safe_words(top);
	char clock[32];

	if (!at)
		return vs_asprintf("%s takes no more VMs (it was %s)%s",
				   vs_j_str(vs_j_get(top, "host")),
				   vs_j_str(vs_j_get(top, "previous_state")), safe);
	put_clock(at, clock);
	return vs_asprintf("%s takes VMs of jobs that end before %s (it is %s)%s",
			   vs_j_str(vs_j_get(top, "host")), clock,
			   vs_j_str(vs_j_get(top, "previous_state")), safe);
}

static int wrong(void)
{
	return svf_wrong("host", "drain HOST [--at TIME] [--requeue] [--dry-run] [REASON] or resume HOST is expected; svf hosts lists hosts");
}

/* The answer's first line, then a row for each VM. */
static int finish(const struct svf *s, struct vs_jdoc *doc, char *line_take)
{
	VS_FREE char *line = line_take;
	int rc;

	if (s->json)
		return svf_print_json(s, doc);
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
	VS_FREE char *text = svf_args_join(s, 2, " ");
	struct vs_jdoc doc;
	int64_t at = 0;
	int rc;

	if (s->own[AT])
		at = svf_start_parse(s->own[AT], (int64_t)time(NULL));
	if (s->own[AT] && at <= 0)
		return svf_wrong("host", "TIME is 14:00, 2026-03-01T14:00 or now+2hours, not '%s'",
				 s->own[AT]);
	if (!svf_reason_fits("host", text))
		return SVF_USAGE;
	rc = svf_request_at(s->own[REQUEUE] ? "drain-requeue" : "drain",
			    s->argv[1], text, at, &doc);
	return rc ? rc : finish(s, &doc, drained_words(vs_j_root(&doc)));
}

/* What a drain would do now. */
static int dry_run(const struct svf *s)
{
	struct vs_jdoc doc;
	struct vs_j nodes;
	int rc;

	if (s->own[AT])
		return svf_wrong("host", "--dry-run shows a drain that begins now: it takes no --at");
	rc = svf_request(s->own[REQUEUE] ? "leave-requeue" : "leave",
			 s->argv[1], "", &doc);
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
		vs_j_str(vs_j_get(top, "previous_state"))));
}

static int run_host(const struct svf *s)
{
	const char *what = s->argc ? s->argv[0] : "";
	bool options = s->own[AT] || s->own[REQUEUE] || s->own[DRY_RUN];

	if (!strcmp(what, "plan"))
		return svf_wrong("host", "plan was removed: svf host drain --dry-run %s",
				 s->argc > 1 ? s->argv[1] : "HOST");
	if (!strcmp(what, "drain") && s->argc >= 2)
		return s->own[DRY_RUN] ? dry_run(s) : drain(s);
	if (!strcmp(what, "resume") && s->argc == 2 && !options)
		return resume(s);
	return wrong();
}

static const struct svf_word host_words[] = {
	{ "drain", "[--at TIME] [--requeue] [--dry-run] HOST [REASON...]", "place no more VMs on the host. VMs move away with their running jobs where their adapter allows vMotion and another host of the cluster has capacity. Other nodes with VMs there are drained: idle ones are powered down, running jobs finish. A suspended VM stays. The answer names the outcome for each node and the end of the last job, as reservation vsphere_HOST does in Slurm. A drain outlives restarts. REASON has at most 119 bytes" },
	{ "resume", "HOST", "end the drain, and clear every other reason that slurm-vsphere has against the host. Look at svf hosts first" },
	{ 0 }
};

static const struct svf_opt own[] = {
	[AT] = { NULL, "--at", "TIME",
		"with drain: drain from TIME on (14:00, 2026-03-01T14:00, now+2hours). Until then the host takes only VMs of jobs that end before TIME",
		SVF_OPT_OWN },
	[REQUEUE] = { NULL, "--requeue", NULL,
		"with drain: jobs whose VMs can't move are requeued when the drain begins; jobs that may not be requeued end",
		SVF_OPT_OWN },
	[DRY_RUN] = { NULL, "--dry-run", NULL,
		"with drain: print what would happen to each VM, and change nothing",
		SVF_OPT_OWN },
	[OPTIONS] = { 0 }
};

const struct svf_verb svf_host = {
	.name = "host", .args = "drain|resume HOST", .words = host_words,
	.own = own,
	.run = run_host, .list = &list, .names = SVF_NAMES_HOST,
	.what = "keep VMs off a host, or take it back",
	.help =
"Only root, SlurmUser and operators of Slurm may run it. While VMs with jobs are\n"
"on a drained host, Slurm has a reservation vsphere_HOST (MAINT, IGNORE_JOBS,\n"
"user root) of their nodes. The same holds for a host in maintenance, and before\n"
"the time of --at. It ends when the host is safe, at the last job's time limit.\n"
"\n"
"slurm-vsphere deletes the reservation with the last VM, and creates it again if\n"
"it is deleted before. If a user changed its users, accounts, flags or comment,\n"
"slurm-vsphere corrects only its nodes and times. A time limit counts from the\n"
"launch, so a boot shortly before --at TIME adds to it.\n"
"\n"
"Other states that keep VMs off a host:\n"
"  EXCLUDED: a VM failed to start on it lately.\n"
"  QUARANTINED: three nodes in a row failed to start on it. It gets no VM for 5\n"
"  minutes, then a single one (ON_TRIAL). Each failure doubles the pause, up to\n"
"  an hour.\n"
"  A physical function changed: it is another NIC, has another address, or has\n"
"  virtual functions that another one lost. Adding or moving a NIC does this,\n"
"  because max_vfs of a driver counts in PCI order. resume accepts what\n"
"  svf hosts --pfs shows now.\n",
};
