/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf nodes: each node's VM, where it is, and what is being done with it.
 * Jobs that the user may not see are not in the answer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"

/* "power-on 12s of 20s", "-" when there is nothing to do. */
static void put_action(struct svf_table *t, const struct svf_row *row)
{
	const char *action = vs_j_str_or(vs_j_opt(row->j, "action"), "");
	int64_t usual = vs_j_int_or(vs_j_opt(row->j, "usual"), 0);
	char age[16];

	svf_age(vs_j_int_or(vs_j_opt(row->j, "since"), 0), age);
	if (!action[0] || !strcmp(action, "nothing"))
		svf_cell(t, "-");
	else if (age[0] && usual > 0)
		svf_cell(t, "%s %s of %" PRId64 "s", action, age, usual);
	else
		svf_cell(t, "%s%s%s", action, age[0] ? " " : "", age);
}

static void put_error(struct svf_table *t, const struct svf_row *row)
{
	const char *error = vs_j_str_or(vs_j_opt(row->j, "last_error"), "");

	svf_cell(t, "%s", error[0] ? error :
		 vs_j_str_or(vs_j_opt(row->j, "waits"), ""));
}

static const struct svf_col cols[] = {
	{ .name = "node", .how = SVF_NEED, .key = "node", .what = "the node, and its VM's name" },
	{ .name = "vm", .how = SVF_STATE | SVF_NEED, .key = "vm_state",
	  .what = "none, cloning, off, starting, on, stopping, suspended, foreign or unknown" },
	{ .name = "slurm", .how = SVF_STATE, .key = "slurm_state",
	  .what = "the node's state as Slurm has it" },
	{ .name = "host", .key = "host",
	  .what = "where the VM runs, or is going to" },
	{ .name = "pf", .key = "pf", .what = "the physical function it has a VF of" },
	{ .name = "mac", .key = "mac", .what = "the MAC address of its adapter" },
	{ .name = "adapter", .key = "adapter", .what = "the adapter that it has" },
	{ .name = "partition", .how = SVF_EXTRA, .key = "partition",
	  .what = "the PartitionName line that it follows" },
	{ .name = "jobid", .how = SVF_RIGHT | SVF_INT, .key = "job",
	  .what = "the job on it, if you may see that" },
	{ .name = "action", .how = SVF_STATE, .put = put_action,
	  .what = "what is being done or waited for, since when, and how long that took lately" },
	{ .name = "order", .how = SVF_EXTRA, .key = "order",
	  .what = "what an operator has ordered of its VM (svf vm): evict or rebuild" },
	{ .name = "error", .how = SVF_BAD, .put = put_error,
	  .what = "what failed last, which goes away with the next success; or the parent that its clone waits for" },
};
const struct svf_list svf_node_list = SVF_LIST(cols);

void svf_print_nodes(const struct svf *s, struct vs_j nodes)
{
	struct svf_table *t = svf_table_build(&svf_node_list, s);

	for (size_t i = 0; i < vs_j_len(nodes); i++) {
		struct vs_j node = vs_j_at(nodes, i);

		if (svf_column_shown(s, vs_j_str(vs_j_get(node, "node"))))
			svf_row_add(t, &(struct svf_row){ .j = node });
	}
	if (!nodes.doc->err.code)
		svf_table_print(t, s->no_header);
	svf_table_free(t);
}

static const struct svf_col suspect_cols[] = {
	{ .name = "suspect_vm", .key = "vm", .what = "the VM" },
	{ .name = "why", .key = "why", .what = "the test that it failed" },
};
static const struct svf_list suspects = SVF_LIST(suspect_cols);

static int run(const struct svf *s)
{
	struct vs_jdoc doc;
	struct vs_j nodes;
	int rc = svf_ask("nodes", 0, "", &doc), unknown;

	if (rc)
		return rc;
	if (s->json)
		return svf_print_named(s, &doc, "nodes", "node");
	nodes = vs_j_get(vs_j_root(&doc), "nodes");
	svf_print_nodes(s, nodes);
	unknown = svf_names_check(s, nodes, "node");
	if (!s->argc && !s->no_header && !s->format &&
	    vs_j_len(vs_j_opt(vs_j_root(&doc), "suspect"))) {
		putchar('\n');
		svf_print_rows(&suspects, NULL,
			       vs_j_opt(vs_j_root(&doc), "suspect"));
	}
	svf_print_notes(&doc);
	rc = svf_read_failed(&doc);
	vs_jdoc_free(&doc);
	return rc ? rc : unknown;
}

const struct svf_verb svf_nodes = {
	.name = "nodes", .args = "[NODE...]", .run = run, .reads = true,
	.list = &svf_node_list, .names = SVF_NAMES_NODE,
	.what = "nodes: VM, host, PF, MAC address, adapter and job",
	.help =
"VMs in the folder that carry this cluster's mark but fail a test of ownership\n"
"are listed below as suspect: they are counted and never touched.\n",
};
