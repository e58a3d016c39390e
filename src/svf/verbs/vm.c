/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf vm: what an operator orders of nodes' VMs. One order may be for many
 * nodes: all of them are known, or nothing is done.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"
#include "util/mem.h"

static int forget(const struct svf *s)
{
	const char *host;
	struct vs_jdoc doc;
	struct vs_j top;
	int rc = svf_request("forget", s->argv[1], "", &doc);

	if (rc)
		return rc;
	top = vs_j_root(&doc);
	host = vs_j_str_or(vs_j_opt(top, "vm_host"), "");
	return svf_finish(s, &doc, vs_asprintf("%s: its VM%s%s is forgotten",
		vs_j_str(vs_j_get(top, "node")), *host ? " on host " : "",
		host));
}

/* ---- evict, rebuild ------------------------------------------------------------ */

/* In words what "did" means. */
static void put_text(struct svf_table *t, const struct svf_row *row)
{
	static const char *const words[][2] = {
		{ "off", "its VM goes off now, and gives its VF back" },
		{ "after-job", "drained; its VM goes off when the job has ended, then the drain is lifted" },
		{ "destroy", "its VM is off: it is destroyed now, and cloned anew when the node is wanted" },
	};
	const char *did = vs_j_str(vs_j_get(row->j, "did"));
	const char *text = vs_j_str_or(vs_j_opt(row->j, "text"), "");
	int64_t job = vs_j_int_or(vs_j_opt(row->j, "job"), 0);

	for (size_t i = 0; i < VS_COUNT(words) && !text[0]; i++)
		if (!strcmp(words[i][0], did))
			text = words[i][1];
	if (job > 0)
		svf_cell(t, "JobId=%" PRId64 " has it: %s", job, text);
	else
		svf_cell(t, "%s", text);
}

static const struct svf_col cols[] = {
	{ .name = "node", .how = SVF_NEED, .key = "node", .what = "the node" },
	{ .name = "did", .how = SVF_STATE | SVF_NEED, .key = "did",
	  .what = "off, after-job, destroy, nothing or refused" },
	{ .name = "text", .put = put_text,
	  .what = "the same in words, and why not" },
};
static const struct svf_list list = SVF_LIST(cols);

static int print(const struct svf *s, struct vs_jdoc *doc)
{
	struct vs_j nodes = vs_j_get(vs_j_root(doc), "nodes");
	struct svf_table *t = svf_table_build(&list, s);
	int rc, no = SVF_OK;

	for (size_t i = 0; i < vs_j_len(nodes); i++) {
		struct svf_row row = { .j = vs_j_at(nodes, i) };

		svf_row_add(t, &row);
		if (!strcmp(vs_j_str(vs_j_get(row.j, "did")), "refused"))
			no = SVF_NO;
	}
	rc = svf_read_failed(doc);
	if (!rc && s->json)
		return svf_table_free(t), svf_print_json(doc), no;
	if (!rc)
		svf_table_print(t, s->no_header);
	svf_table_free(t);
	vs_jdoc_free(doc);
	return rc ? rc : no;
}

static int order(const struct svf *s, const char *verb, const char *nodes,
		 const char *why)
{
	struct vs_jdoc doc;
	int rc = svf_request_nodes(verb, nodes, why, &doc);

	return rc ? rc : print(s, &doc);
}

/* NODES --on HOST */
static int order_on(const struct svf *s, const char *verb)
{
	if (s->argc == 3 && !s->flag && svf_reason_fits("vm", s->argv[2]))
		return order(s, verb, s->argv[1], s->argv[2]);
	fprintf(stderr, "svf: vm: %s NODES --on HOST is expected\n",
		s->argv[0]);
	return SVF_USAGE;
}

static int evict(const struct svf *s)
{
	VS_FREE char *why = svf_args_join(s, 2, " ");

	if (s->also)
		return order_on(s, "evict-on");
	if (!svf_reason_fits("vm", why))
		return SVF_USAGE;
	return order(s, s->flag ? "requeue" : "evict", s->argv[1], why);
}

static int rebuild(const struct svf *s)
{
	VS_FREE char *nodes = svf_args_join(s, 1, ",");

	if (s->also)
		return order_on(s, "rebuild-on");
	return order(s, "rebuild", nodes, "");
}

static int run(const struct svf *s)
{
	const char *what = s->argc ? s->argv[0] : "";

	if (s->argc == 2 && !strcmp(what, "forget") && !s->flag && !s->also)
		return forget(s);
	if (s->argc >= 2 && !strcmp(what, "evict"))
		return evict(s);
	if (s->argc >= 2 && !strcmp(what, "rebuild") && !s->flag)
		return rebuild(s);
	fputs("svf: vm: evict [--requeue] NODES [REASON], rebuild NODES, evict or rebuild NODES --on HOST, or forget NODE is expected\n",
	      stderr);
	return SVF_USAGE;
}

static const struct svf_word words[] = {
	{ "evict", "NODES [REASON...]", "the nodes' VMs go off and give their VFs back: idle ones now, others when their job has ended; until then their nodes are drained. The nodes can be used again at once" },
	{ "rebuild", "NODES...", "likewise, and the VMs are destroyed, to be cloned anew when the nodes are wanted again" },
	{ "forget", "NODE", "the node may have a new VM: its own is lost with its host for good, or was on and is not shown by vCenter any more" },
	{ 0 }
};

const struct svf_verb svf_vm = {
	.name = "vm", .args = "evict|rebuild|forget", .run = run,
	.words = words, .names = SVF_NAMES_NODE, .list = &list,
	.flag = "--requeue",
	.flag_what = "with evict: jobs on the nodes are requeued now, and those that may not be are ended",
	.also = "--on",
	.also_what = "evict or rebuild NODES --on HOST: their VMs come up on that host next, if it has room then; else elsewhere. Heeded once, forgotten with slurmctld",
	.what = "send a node's VM away, have it made anew, or let it be lost",
	.help =
"NODES are written as for Slurm (vm[001-004],vm007); one that is not known, and\n"
"nothing is done for any. The orders outlive restarts. scontrol update\n"
"nodename=NODE state=resume withdraws one that waits for a job; a later one adds\n"
"to it. A VM that is not ours or can't be judged is refused, and a rebuild of one\n"
"that has a disk of others; so is a node that somebody else has drained while\n"
"Slurm keeps it on (SuspendExcNodes, -Parts, -States), and one that scontrol\n"
"reconfigure took away in the middle of a long order. Too many VMs to be\n"
"destroyed put the brake on (svf reconcile).\n"
"\n"
"A node whose VM is on a host that doesn't answer is not built anew: two VMs\n"
"with one name and one job would be worse than a lost node. When you know that\n"
"the host is off, forget lets the node have a new VM; take the old one out of\n"
"vCenter's inventory first, or its name is taken. The order ends when the host\n"
"answers again. A VM that is missing, as after its vCenter's restore from a\n"
"backup: move it back into the folder under its name, or switch it off where it\n"
"runs and forget it. (root, SlurmUser, operators)\n",
};
