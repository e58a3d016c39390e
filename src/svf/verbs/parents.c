/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf parents: the VMs in the folder that linked and instant clones stand on. */
#include "verbs.h"

static void put_wanted(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%s", vs_j_bool_or(vs_j_opt(row->j, "wanted"), true) ?
		 "yes" : "no");
}

static const struct svf_col cols[] = {
	{ .name = "vm", .how = SVF_NEED, .key = "vm", .what = "its name in the folder" },
	{ .name = "kind", .how = SVF_EXTRA, .key = "kind",
	  .what = "of which clones: linked or instant" },
	{ .name = "template", .key = "template",
	  .what = "of which it is a copy; - if of a version that is no more" },
	{ .name = "datastore", .key = "datastore", .what = "where its disks lie" },
	{ .name = "host", .key = "host", .what = "where it is registered" },
	{ .name = "state", .how = SVF_STATE, .key = "state",
	  .what = "cloning, no-snapshot, snapshot, off and booting (of instant clones, until frozen), ready, away (its host or it can't be reached), on (by somebody's hand), destroy, or unmarked (somebody took its mark away)" },
	{ .name = "children", .how = SVF_RIGHT | SVF_INT, .key = "children",
	  .what = "VMs that stand on its disks" },
	{ .name = "wanted", .put = put_wanted,
	  .what = "yes, or no: it goes after its last child" },
	{ .name = "stays", .key = "stays",
	  .what = "what keeps one that nobody wants" },
};
static const struct svf_list list = SVF_LIST(cols);

static int run(const struct svf *s)
{
	return svf_show_list(s, "parents", "vm", &list, NULL);
}

const struct svf_verb svf_clone_sources = {
	.name = "parents", .args = "[VM...]", .run = run, .reads = true,
	.list = &list,
	.what = "VMs that linked and instant clones stand on",
	.help =
"They are made and removed by slurm-vsphere and are no node's. Those of linked\n"
"clones stay off, those of instant clones stand frozen. Who deletes one in\n"
"vCenter breaks its children: they are built anew when next used.\n",
};
