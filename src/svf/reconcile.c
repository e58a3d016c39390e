/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf reconcile, adopt, host: what an operator looks at and orders. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "svf.h"
#include "util/mem.h"

static int no_arguments(const struct svf *s, const char *verb)
{
	if (!s->argc)
		return SVF_OK;
	fprintf(stderr, "svf: %s: nothing is expected after it, not %s\n", verb,
		s->argv[0]);
	return SVF_USAGE;
}

/* The end of every order: print what came back in one line or as JSON. */
int svf_finish(const struct svf *s, struct vs_jdoc *doc, char *line)
{
	VS_FREE char *text = line;
	int rc;

	if (s->json)
		return svf_print_json(doc);
	rc = svf_read_failed(doc);
	if (!rc)
		puts(svf_clean(text));
	vs_jdoc_free(doc);
	return rc;
}

/* ---- reconcile --------------------------------------------------------------- */

static bool is_suspect(const struct svf_row *row)
{
	return vs_j_null(vs_j_opt(row->j, "what"));
}

static void put_vm(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%s", vs_j_str(vs_j_get(row->j, "vm")));
}

static void put_waits(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%s", vs_j_bool_or(vs_j_opt(row->j, "waits"), false) ?
		 "yes" : "no");
}

static void put_what(struct svf_table *t, const struct svf_row *row)
{
	if (is_suspect(row))
		svf_cell(t, "suspect, never touched: %s",
			 vs_j_str_or(vs_j_opt(row->j, "why"), "?"));
	else
		svf_cell(t, "%s", vs_j_str(vs_j_get(row->j, "what")));
}

static const struct svf_col cols[] = {
	{ .name = "vm", .put = put_vm, .what = "the VM" },
	{ .name = "state", .key = "state", .what = "on or off, as vCenter shows it" },
	{ .name = "waits", .how = SVF_STATE, .put = put_waits,
	  .what = "yes: the brake holds it back until you confirm" },
	{ .name = "what", .put = put_what,
	  .what = "what is wrong with it, and what is done about it" },
};
static const struct svf_list list = SVF_LIST(cols);

static void print(const struct svf *s, struct vs_jdoc *doc)
{
	struct vs_j top = vs_j_root(doc), vms = vs_j_opt(top, "vms");
	struct vs_j suspect = vs_j_opt(top, "suspect");
	struct svf_table *t = svf_table_of(&list, s);
	size_t n = vs_j_len(vms), nsuspect = vs_j_len(suspect);

	for (size_t i = 0; i < n; i++)
		svf_row_add(t, &(struct svf_row){ .j = vs_j_at(vms, i) });
	for (size_t i = 0; i < nsuspect; i++)
		svf_row_add(t, &(struct svf_row){ .j = vs_j_at(suspect, i) });
	if (n + nsuspect)
		svf_table_print(t, s->no_header);
	else
		puts("nothing is to be mended");
	svf_table_free(t);
	if (vs_j_bool(vs_j_get(top, "brake")))
		puts("the brake is on: svf reconcile --confirm lets those that wait go");
}

static int confirm(const struct svf *s)
{
	struct vs_jdoc doc;
	int rc = svf_order("confirm", "", "", &doc);

	if (rc)
		return rc;
	return svf_finish(s, &doc, vs_asprintf("%" PRId64 " VMs are confirmed",
		vs_j_int(vs_j_get(vs_j_root(&doc), "confirmed"))));
}

static int run_reconcile(const struct svf *s)
{
	int rc = no_arguments(s, "reconcile");

	return rc ? rc : s->flag ? confirm(s) :
		svf_show(s, "reconcile", 0, "", print);
}

const struct svf_verb svf_reconcile = {
	.name = "reconcile", .args = "", .run = run_reconcile,
	.flag = "--confirm", .flag_orders = true,
	.flag_what = "let those go that wait now (root, SlurmUser, operators)",
	.list = &list,
	.what = "what is mended by itself, and what waits for you",
	.help =
"VMs that no node stands for (switched off and destroyed, unless Slurm still has\n"
"a node of that name), VMs that run under nodes which are powered down, VMs that\n"
"are missing, and suspects, which are never touched. More than 5 % of the VMs\n"
"(and more than 3) to be switched off or destroyed within ten minutes outside of\n"
"jobs' ends and Slurm's own power-downs put the brake on: they wait, also over\n"
"restarts, until an operator has looked at this list and says --confirm.\n",
};

/* ---- adopt ------------------------------------------------------------------- */

static int run_adopt(const struct svf *s)
{
	struct vs_jdoc doc;
	struct vs_j top;
	int rc = no_arguments(s, "adopt");

	if (rc || (rc = svf_order("adopt", "", "", &doc)))
		return rc;
	top = vs_j_root(&doc);
	return svf_finish(s, &doc, vs_asprintf(
		"%" PRId64 " VMs are adopted with cluster id %s",
		vs_j_int(vs_j_get(top, "vms")),
		vs_j_str(vs_j_get(top, "cluster_id"))));
}

const struct svf_verb svf_adopt = {
	.name = "adopt", .args = "", .run = run_adopt,
	.what = "take over the VMs of this cluster's lost id",
	.help =
"The cluster id lies in StateSaveLocation and in each VM. After a loss of\n"
"StateSaveLocation the VMs carry an id that nobody knows: nothing is served, and\n"
"none is touched. If no other cluster uses the folder they are yours: adopt\n"
"takes the id that they carry. (root, SlurmUser, operators)\n",
};

/* ---- host -------------------------------------------------------------------- */

char *svf_words(const struct svf *s, int from, const char *between)
{
	char *text = vs_strdup("");

	for (int i = from; i < s->argc; i++) {
		VS_FREE char *had = text;

		text = vs_asprintf("%s%s%s", had, had[0] ? between : "",
				   s->argv[i]);
	}
	return text;
}

bool svf_reason_fits(const char *verb, const char *text)
{
	if (strlen(text) < SVF_REASON_MAX)
		return true;
	fprintf(stderr, "svf: %s: a reason of %d bytes at most\n", verb,
		SVF_REASON_MAX - 1);
	return false;
}

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
	char clock[32];

	if (vs_j_bool_or(vs_j_opt(top, "safe"), false))
		return vs_strdup("; none of ours is on there: safe now");
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

static int run_host(const struct svf *s)
{
	bool is_drain = s->argc && !strcmp(s->argv[0], "drain");
	VS_FREE char *text = svf_words(s, s->flag ? 3 : 2, " ");
	struct vs_jdoc doc;
	struct vs_j top;
	int64_t at = 0;
	int rc;

	if (s->argc < (s->flag ? 3 : 2) ||
	    (!is_drain && (s->flag || s->argc != 2 ||
			   strcmp(s->argv[0], "resume")))) {
		fputs("svf: host: drain HOST [--at TIME] [REASON] or resume HOST is expected\n",
		      stderr);
		return SVF_USAGE;
	}
	if (s->flag)
		at = svf_when(s->argv[2], (int64_t)time(NULL));
	if (s->flag && at <= 0) {
		fprintf(stderr, "svf: host: TIME is 14:00, 2026-03-01T14:00 or now+2hours, not %s\n",
			s->argv[2]);
		return SVF_USAGE;
	}
	if (!svf_reason_fits("host", text))
		return SVF_USAGE;
	rc = svf_order_at(s->argv[0], s->argv[1], text, at, &doc);
	if (rc)
		return rc;
	top = vs_j_root(&doc);
	return svf_finish(s, &doc, is_drain ? drained_words(top) : vs_asprintf(
		"%s takes VMs again, if nothing else keeps them away (it was %s)",
		vs_j_str(vs_j_get(top, "host")),
		vs_j_str(vs_j_get(top, "was"))));
}

static const struct svf_word host_words[] = {
	{ "drain", "HOST [--at TIME] [REASON...]", "no VM is placed on the host any more; nodes whose VM is on there are drained, idle ones powered down, running jobs finish. Says when the last of them ends, and so does reservation vsphere_HOST in Slurm. Outlives restarts. REASON is of 119 bytes at most" },
	{ "resume", "HOST", "ends that, and whatever else slurm-vsphere holds against the host. Look at svf hosts first" },
	{ 0 }
};

const struct svf_verb svf_host = {
	.name = "host", .args = "drain|resume HOST", .words = host_words,
	.flag = "--at", .flag_what = "drain from TIME on (14:00, 2026-03-01T14:00, now+2hours); until then the host takes VMs of jobs that end before it, and no others",
	.run = run_host, .names = SVF_NAMES_HOST,
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
