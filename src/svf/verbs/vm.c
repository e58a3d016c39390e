/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf vm: what an operator orders of nodes' VMs. One order may be for many
 * nodes: all of them are known, or nothing is done.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"
#include "util/hostlist.h"
#include "util/mem.h"

enum { REQUEUE, ON, OPTIONS };	/* svf.own[] */

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

/* What the action means, in a sentence. */
static void put_text(struct svf_table *t, const struct svf_row *row)
{
	static const char *const words[][2] = {
		{ "off", "its VM is powered off now, which frees its VF" },
		{ "after-job", "drained; its VM is powered off when the job has ended, then the drain ends" },
		{ "destroy", "its VM is off: it is destroyed now, and cloned again for the node's next job" },
	};
	const char *did = vs_j_str(vs_j_get(row->j, "action"));
	const char *text = vs_j_str_or(vs_j_opt(row->j, "description"), "");
	int64_t job = vs_j_int_or(vs_j_opt(row->j, "job"), 0);

	for (size_t i = 0; i < VS_COUNT(words) && !text[0]; i++)
		if (!strcmp(words[i][0], did))
			text = words[i][1];
	if (job > 0)
		svf_cell(t, "JobId=%" PRId64 " runs on it: %s", job, text);
	else
		svf_cell(t, "%s", text);
}

static const struct svf_col cols[] = {
	{ .name = "node", .how = SVF_NEED, .key = "node", .what = "the node" },
	{ .name = "action", .how = SVF_STATE | SVF_NEED, .key = "action",
	  .what = "off, after-job, destroy, nothing or refused" },
	{ .name = "description", .put = put_text,
	  .what = "what happens to its VM, or why nothing does" },
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
		if (!strcmp(vs_j_str(vs_j_get(row.j, "action")), "refused"))
			no = SVF_NO;
	}
	rc = svf_read_failed(doc);
	if (!rc && s->json)
		return svf_table_free(t), svf_print_json(s, doc), no;
	if (!rc)
		svf_table_print(t, s->no_header);
	svf_table_free(t);
	vs_jdoc_free(doc);
	return rc ? rc : no;
}

static int order(const struct svf *s, const char *verb, const char *nodes,
		 const char *why)
{
	char **names = vs_hostlist_expand(nodes);
	struct vs_jdoc doc;
	int rc;

	vs_hostlist_free(names);
	if (!names)
		return svf_wrong("vm", "%s takes a Slurm host list of nodes, not '%s'",
				 s->argv[0], nodes);
	rc = svf_request_nodes(verb, nodes, why, &doc);
	return rc ? rc : print(s, &doc);
}

/* The nodes' VMs start on that host next. */
static int order_on(const struct svf *s, const char *verb, const char *nodes)
{
	if (!svf_reason_fits("vm", s->own[ON]))
		return SVF_USAGE;
	return order(s, verb, nodes, s->own[ON]);
}

static int evict(const struct svf *s)
{
	VS_FREE char *why = svf_args_join(s, 2, " ");

	if (s->own[ON])
		return svf_wrong("vm", "evict --on was removed: svf vm move %s --on %s",
				 s->argv[1], s->own[ON]);
	if (!svf_reason_fits("vm", why))
		return SVF_USAGE;
	return order(s, s->own[REQUEUE] ? "requeue" : "evict", s->argv[1], why);
}

static int rebuild(const struct svf *s)
{
	VS_FREE char *nodes = svf_args_join(s, 1, ",");

	if (s->own[ON])
		return order_on(s, "rebuild-on", nodes);
	return order(s, "rebuild", nodes, "");
}

static int run(const struct svf *s)
{
	const char *what = s->argc ? s->argv[0] : "";
	bool on = s->own[ON], requeue = s->own[REQUEUE];

	if (s->argc >= 2 && !strcmp(what, "evict"))
		return evict(s);
	if (s->argc == 2 && !strcmp(what, "move") && on && !requeue)
		return order_on(s, "evict-on", s->argv[1]);
	if (s->argc >= 2 && !strcmp(what, "rebuild") && !requeue)
		return rebuild(s);
	if (s->argc == 2 && !strcmp(what, "forget") && !requeue && !on)
		return forget(s);
	return svf_wrong("vm", "evict [--requeue] NODES [REASON], move NODES --on HOST, rebuild NODES [--on HOST] or forget NODE is expected");
}

static const struct svf_word words[] = {
	{ "evict", "[--requeue] NODES [REASON...]", "power the nodes' VMs off, which frees their VFs: those of idle nodes now, others after their job, as Slurm's power_down_asap. Until then Slurm drains their nodes. The nodes can be used again at once" },
	{ "move", "NODES --on HOST", "the same, and each VM starts on that host next" },
	{ "rebuild", "NODES... [--on HOST]", "the same as evict, and the VMs are destroyed; they are cloned again for the nodes' next jobs" },
	{ "forget", "NODE", "let the node have a new VM: its VM is lost with its host for good, or was on and vCenter does not show it any more" },
	{ 0 }
};

static const struct svf_opt own[] = {
	[REQUEUE] = { NULL, "--requeue", NULL,
		"with evict: requeue jobs on the nodes now; jobs that may not be requeued end",
		SVF_OPT_OWN },
	[ON] = { NULL, "--on", "HOST",
		"with move or rebuild: the VMs start on this host next, if it has capacity then, else on another one. This holds for one start, and until slurmctld restarts",
		SVF_OPT_OWN },
	[OPTIONS] = { 0 }
};

const struct svf_verb svf_vm = {
	.name = "vm", .args = "evict|move|rebuild|forget NODES", .run = run,
	.words = words, .names = SVF_NAMES_NODE, .list = &list, .own = own,
	.what = "power off, move, rebuild or forget nodes' VMs",
	.help =
"Only root, SlurmUser and operators of Slurm may run it. NODES is a Slurm host\n"
"list (vm[001-004],vm007). If any node is unknown, the command fails and changes\n"
"nothing. Requests outlive restarts. \"scontrol update nodename=NODE\n"
"state=resume\" withdraws a request that waits for a job.\n"
"\n"
"A later request adds to an earlier one. These are refused:\n"
"  a VM that is not managed, or whose ownership is not verified;\n"
"  a rebuild of a VM that has a disk of another VM;\n"
"  a node that a user has drained while Slurm keeps it on (SuspendExcNodes,\n"
"  SuspendExcParts, SuspendExcStates);\n"
"  a node that scontrol reconfigure removed during a long request.\n"
"If too many VMs would be destroyed, the removal limit holds them (svf\n"
"reconcile).\n"
"\n"
"A node whose VM is on a host that does not answer gets no new VM. Two VMs with\n"
"one name and one job are worse than a lost node. If the host is surely off,\n"
"remove the VM from vCenter's inventory. Then forget lets the node have a new\n"
"VM. The request ends when the host answers again.\n"
"\n"
"If a VM is missing, as after a restore of vCenter from a backup, move it back\n"
"into the folder under its name. Or switch it off where it runs, and forget it.\n",
};
