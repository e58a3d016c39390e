/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf nodes: each node's VM, where it is, and what is being done with it.
 * Jobs that the user may not see are not in the answer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "svf.h"

/* "power-on 12s", "" when there is nothing to do. */
static void put_action(struct svf_table *t, struct vs_j node)
{
	const char *action = vs_j_str_or(vs_j_opt(node, "action"), "");
	char age[16];

	svf_age(vs_j_int_or(vs_j_opt(node, "since"), 0), age);
	if (!action[0] || !strcmp(action, "nothing"))
		svf_cell(t, "-");
	else
		svf_cell(t, "%s%s%s", action, age[0] ? " " : "", age);
}

static void put_node(struct svf_table *t, struct vs_j node)
{
	int64_t job = vs_j_int_or(vs_j_opt(node, "job"), 0);
	static const char *const plain[] = { "host", "pf", "mac", "adapter" };

	svf_cell(t, "%s", vs_j_str(vs_j_get(node, "node")));
	svf_cell(t, "%s", vs_j_str(vs_j_get(node, "vm_state")));
	svf_cell(t, "%s", vs_j_str_or(vs_j_opt(node, "slurm_state"), "-"));
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		svf_cell(t, "%s", vs_j_str_or(vs_j_opt(node, plain[i]), "-"));
	if (job > 0)
		svf_cell(t, "%" PRId64, job);
	else
		svf_cell(t, "-");
	put_action(t, node);
	svf_cell(t, "%s", vs_j_str_or(vs_j_opt(node, "last_error"), ""));
}

void svf_print_nodes(const struct svf *s, struct vs_j nodes)
{
	struct svf_table *t = svf_table_new("NODE VM SLURM HOST PF MAC ADAPTER "
					    ">JOBID ACTION ERROR");

	for (size_t i = 0; i < vs_j_len(nodes); i++) {
		struct vs_j node = vs_j_at(nodes, i);

		if (!s || svf_wanted(s, vs_j_str(vs_j_get(node, "node"))))
			put_node(t, node);
	}
	if (!nodes.doc->err.code)
		svf_table_print(t, s && s->no_header);
	svf_table_free(t);
}

static void print_suspects(struct vs_jdoc *doc)
{
	struct vs_j list = vs_j_opt(vs_j_root(doc), "suspect");
	struct svf_table *t;

	if (!vs_j_len(list))
		return;
	t = svf_table_new("SUSPECT_VM WHY");
	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j vm = vs_j_at(list, i);

		svf_cell(t, "%s", vs_j_str_or(vs_j_opt(vm, "vm"), "-"));
		svf_cell(t, "%s", vs_j_str_or(vs_j_opt(vm, "why"), ""));
	}
	putchar('\n');
	svf_table_print(t, false);
	svf_table_free(t);
}

static int run(const struct svf *s)
{
	struct vs_jdoc doc;
	struct vs_j nodes;
	int rc = svf_ask("nodes", 0, "", &doc), unknown;

	if (rc)
		return rc;
	if (s->json)
		return svf_print_json(&doc);
	nodes = vs_j_get(vs_j_root(&doc), "nodes");
	svf_print_nodes(s, nodes);
	unknown = svf_names_check(s, nodes, "node");
	if (!s->argc && !s->no_header)
		print_suspects(&doc);
	svf_print_notes(&doc);
	rc = svf_read_failed(&doc);
	vs_jdoc_free(&doc);
	return rc ? rc : unknown;
}

const struct svf_verb svf_nodes = {
	.name = "nodes", .args = "[NODE...]", .run = run,
	.what = "nodes: VM, host, PF, MAC address, adapter and job",
	.help =
"\n"
"VM        none, cloning, off, starting, on, stopping, suspended, unknown\n"
"SLURM     the node's state as Slurm has it\n"
"HOST, PF  where the VM runs, or is going to\n"
"JOBID     the job on it, if you may see that\n"
"ACTION    what is being done or waited for, and since when\n"
"ERROR     what failed last; it goes away with the next success\n"
"\n"
"VMs in the folder that carry this cluster's mark but fail a test of\n"
"ownership are listed below as suspect: they are counted and never touched.\n",
};
