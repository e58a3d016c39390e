/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf clone-sources: the VMs in the folder from which linked and instant clones are
 * made. */
#include "verbs.h"

static void put_removal(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%s", vs_j_bool_or(vs_j_opt(row->j, "removal_pending"),
				     false) ? "pending" : "-");
}

static const struct svf_col cols[] = {
	{ .name = "vm", .how = SVF_NEED, .key = "vm", .what = "its name in the folder" },
	{ .name = "type", .how = SVF_EXTRA, .key = "type",
	  .what = "the clones that are made of it: linked or instant" },
	{ .name = "template", .key = "template",
	  .what = "the template of which it is a copy; - if that version is gone" },
	{ .name = "datastore", .key = "datastore", .what = "the datastore of its disks" },
	{ .name = "host", .key = "host", .what = "the host where it is registered" },
	{ .name = "state", .how = SVF_STATE, .key = "state",
	  .what = "CLONING, NO_SNAPSHOT, SNAPSHOT, OFF, BOOTING, READY, DESTROY. AWAY: it or its host can't be reached. ON: a user powered it on. UNTAGGED: a user removed its ownership tag" },
	{ .name = "clones", .how = SVF_RIGHT | SVF_INT, .key = "clones",
	  .what = "VMs whose disks depend on it" },
	{ .name = "removal", .put = put_removal,
	  .what = "pending: it is not needed any more, and is removed after its last clone" },
	{ .name = "reason", .key = "reason",
	  .what = "why one that is not needed stays" },
};
static const struct svf_list list = SVF_LIST(cols);

static int run(const struct svf *s)
{
	return svf_show_list(s, &(struct svf_listing){
		.verb = "clone-sources", .member = "clone_sources", .key = "vm",
		.noun = "clone source", .list = &list },
		NULL, NULL);
}

const struct svf_verb svf_clone_sources = {
	.name = "clone-sources", .args = "[VM...]", .run = run, .reads = true,
	.list = &list,
	.what = "VMs that linked and instant clones are made of",
	.help =
"slurm-vsphere creates and removes them; they belong to no node. Sources of\n"
"linked clones stay off, sources of instant clones are frozen. If one is deleted\n"
"in vCenter, its clones break, and are rebuilt when they are next used.\n",
};
