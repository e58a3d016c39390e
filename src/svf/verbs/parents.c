/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf parents: the VMs in the folder that linked and instant clones stand on. */
#include <inttypes.h>
#include <stdio.h>

#include "verbs.h"

static void put_vm(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%s", vs_j_str(vs_j_get(row->j, "vm")));
}

static void put_children(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%" PRId64, vs_j_int_or(vs_j_opt(row->j, "children"), 0));
}

static void put_wanted(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%s", vs_j_bool_or(vs_j_opt(row->j, "wanted"), true) ?
		 "yes" : "no");
}

static const struct svf_col cols[] = {
	{ .name = "vm", .put = put_vm, .what = "its name in the folder" },
	{ .name = "kind", .how = SVF_EXTRA, .key = "kind",
	  .what = "of which clones: linked or instant" },
	{ .name = "template", .key = "template",
	  .what = "of which it is a copy; - if of a version that is no more" },
	{ .name = "datastore", .key = "datastore", .what = "where its disks lie" },
	{ .name = "host", .key = "host", .what = "where it is registered" },
	{ .name = "state", .how = SVF_STATE, .key = "state",
	  .what = "cloning, no-snapshot, snapshot, off and booting (of instant clones, until frozen), ready, away (its host or it can't be reached), on (by somebody's hand), destroy, or unmarked (somebody took its mark away)" },
	{ .name = "children", .how = SVF_RIGHT, .put = put_children,
	  .what = "VMs that stand on its disks" },
	{ .name = "wanted", .put = put_wanted,
	  .what = "yes, or no: it goes after its last child" },
	{ .name = "stays", .key = "stays",
	  .what = "what keeps one that nobody wants" },
};
static const struct svf_list list = SVF_LIST(cols);

static int run(const struct svf *s)
{
	struct svf_table *t;
	struct vs_jdoc doc;
	struct vs_j all;
	int rc = svf_ask("parents", 0, "", &doc);

	if (rc)
		return rc;
	if (s->json)
		return svf_print_named(s, &doc, "parents", "vm");
	t = svf_table_of(&list, s);
	all = vs_j_get(vs_j_root(&doc), "parents");
	for (size_t i = 0; i < vs_j_len(all); i++) {
		struct vs_j vm = vs_j_at(all, i);

		if (svf_wanted(s, vs_j_str(vs_j_get(vm, "vm"))))
			svf_row_add(t, &(struct svf_row){ .j = vm });
	}
	rc = svf_read_failed(&doc);
	if (!rc) {
		svf_table_print(t, s->no_header);
		svf_print_notes(&doc);
		rc = svf_names_check(s, all, "vm");
	}
	svf_table_free(t);
	vs_jdoc_free(&doc);
	return rc;
}

const struct svf_verb svf_parents = {
	.name = "parents", .args = "[VM...]", .run = run, .reads = true,
	.list = &list,
	.what = "VMs that linked and instant clones stand on",
	.help =
"They are made and removed by slurm-vsphere and are no node's. Those of linked\n"
"clones stay off, those of instant clones stand frozen. Who deletes one in\n"
"vCenter breaks its children: they are built anew when next used.\n",
};
