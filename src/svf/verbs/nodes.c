/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf nodes: each node's VM, where it is, and what is being done with it.
 * Jobs that the user may not see are not in the answer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"
#include "util/mem.h"

/* "power-on 00:00:12 of 00:00:20", "-" when there is nothing to do. */
static void put_action(struct svf_table *t, const struct svf_row *row)
{
	const char *action = vs_j_str_or(vs_j_opt(row->j, "action"), "");
	int64_t usual = vs_j_int_or(vs_j_opt(row->j, "usual_s"), 0);
	char age[16], span[16];

	svf_age(vs_j_int_or(vs_j_opt(row->j, "since"), 0), age);
	if (!action[0] || !strcmp(action, "nothing"))
		svf_cell(t, "-");
	else if (age[0] && usual > 0)
		svf_cell(t, "%s %s of %s", action, age, svf_span(usual, span));
	else
		svf_cell(t, "%s%s%s", action, age[0] ? " " : "", age);
}

static void put_error(struct svf_table *t, const struct svf_row *row)
{
	const char *error = vs_j_str_or(vs_j_opt(row->j, "last_error"), "");

	svf_cell(t, "%s", error[0] ? error :
		 vs_j_str_or(vs_j_opt(row->j, "reason"), ""));
}

static const struct svf_col cols[] = {
	{ .name = "node", .how = SVF_NEED, .key = "node",
	  .what = "the node, and its VM's name" },
	{ .name = "vm_state", .how = SVF_STATE | SVF_NEED,
	  .key = "vm_state",
	  .what = "NONE, CLONING, OFF, STARTING, ON, STOPPING, SUSPENDED, FOREIGN or UNKNOWN" },
	{ .name = "node_state", .how = SVF_STATE, .key = "node_state",
	  .what = "the node's state in Slurm; +DRAINED or +DRAINING after it as sinfo counts them" },
	{ .name = "host", .key = "host",
	  .what = "the host where the VM runs, or will run" },
	{ .name = "pf", .key = "pf", .what = "the physical function of its VF" },
	{ .name = "mac", .key = "mac", .what = "the MAC address of its adapter" },
	{ .name = "adapter", .key = "adapter", .what = "its adapter" },
	{ .name = "partition", .how = SVF_EXTRA, .key = "partition",
	  .what = "the PartitionName line that applies to it" },
	{ .name = "jobid", .how = SVF_RIGHT | SVF_INT, .key = "job",
	  .what = "the job on it, if you may see that" },
	{ .name = "action", .how = SVF_STATE, .put = put_action,
	  .what = "the operation in progress, its time so far, and how long it usually takes" },
	{ .name = "request", .how = SVF_EXTRA, .key = "request",
	  .what = "the operator's request for its VM (svf vm): evict or rebuild" },
	{ .name = "error", .how = SVF_BAD, .put = put_error,
	  .what = "the last failure, until the next success; or what its VM waits for" },
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
	{ .name = "unverified_vm", .key = "vm", .what = "the VM" },
	{ .name = "reason", .key = "reason", .what = "the test that it failed" },
};
static const struct svf_list suspects = SVF_LIST(suspect_cols);

enum { PARTITION, STATES, NODELIST, OPTIONS };	/* svf.own[] */

static const struct svf_opt own[] = {
	[PARTITION] = SVF_FILTER_PARTITION("nodes"),
	[STATES] = SVF_FILTER_STATES("nodes"),
	[NODELIST] = SVF_FILTER_NODELIST("these nodes"),
	[OPTIONS] = { 0 }
};

/* As sinfo takes them. */
static const struct svf_state states[] = {
	{ "POWERED_DOWN", NULL }, { "POWERING_UP", NULL },
	{ "POWERING_DOWN", NULL }, { "IDLE", NULL }, { "ALLOCATED", "ALLOC" },
	{ "COMPLETING", "COMP" }, { "DRAIN", NULL },
	{ "DRAINED", NULL }, { "DRAINING", "DRNG" }, { "DOWN", NULL },
	{ "UNKNOWN", "UNK" }, { 0 }
};

static bool keep(const struct svf *s, const struct svf_filter *f,
		 struct vs_j node)
{
	return svf_column_shown(s, vs_j_str(vs_j_get(node, "node"))) &&
		svf_filter_state(f, vs_j_str_or(
			vs_j_opt(node, "node_state"), "")) &&
		svf_filter_partition(f, vs_j_str_or(
			vs_j_opt(node, "partition"), ""));
}

static int show(const struct svf *s, const struct svf_filter *f)
{
	struct vs_jdoc doc;
	struct vs_j nodes;
	int rc = svf_ask("nodes", 0, "", &doc), unknown;

	if (rc)
		return rc;
	unknown = svf_names_check(s, vs_j_opt(vs_j_root(&doc), "nodes"),
				  "node", "node");
	if (svf_filter_partitions_check(f, vs_j_opt(vs_j_root(&doc), "nodes")))
		unknown = SVF_NO;
	svf_filter_apply(s, f, &doc, "nodes", keep);
	if (s->json) {
		rc = svf_print_json(s, &doc);
		return rc ? rc : unknown;
	}
	nodes = vs_j_get(vs_j_root(&doc), "nodes");
	if (vs_j_len(nodes) || !unknown)
		svf_print_nodes(s, nodes);
	if (!s->argc && !s->no_header && !s->format &&
	    vs_j_len(vs_j_opt(vs_j_root(&doc), "unverified"))) {
		putchar('\n');
		svf_print_rows(&suspects, NULL,
			       vs_j_opt(vs_j_root(&doc), "unverified"));
	}
	svf_print_notes(&doc);
	rc = svf_read_failed(&doc);
	vs_jdoc_free(&doc);
	return rc ? rc : unknown;
}

static int run(const struct svf *s)
{
	const struct svf_filter_words words = {
		.partitions = s->own[PARTITION], .states = s->own[STATES],
		.nodes = s->own[NODELIST], .known = states };
	VS_FREE char **names = NULL;
	struct svf_filter f;
	struct svf named;
	int rc = svf_filter_read("nodes", &words, &f);

	if (!rc) {
		names = svf_filter_names(s, &f, &named);
		rc = show(&named, &f);
	}
	svf_filter_free(&f);
	return rc;
}

const struct svf_verb svf_nodes = {
	.name = "nodes", .args = "[NODE...]", .run = run, .reads = true,
	.own = own, .list = &svf_node_list, .names = SVF_NAMES_NODE,
	.what = "nodes: VM, host, PF, MAC address, adapter and job",
	.help =
"VMs in the folder that have this cluster's ownership tag but fail a test of\n"
"ownership are listed below as unverified. slurm-vsphere counts them and never\n"
"changes them.\n"
"\n"
"-t takes states as sinfo does. DRAINING nodes have a job, DRAINED ones have none,\n"
"and DRAIN stands for both.\n",
};
