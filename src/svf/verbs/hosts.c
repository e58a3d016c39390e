/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf hosts: the capacity of each ESXi host. One line per host, with --pfs one
 * per physical function. Unverified VMs count as foreign, as they do in the
 * ledger.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"
#include "util/mem.h"

/* Of a PF's row, where row->of is its host. */
static void put_foreign(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%" PRId64, vs_j_int_or(vs_j_opt(row->j, "foreign"), 0) +
		 vs_j_int_or(vs_j_opt(row->j, "unverified"), 0));
}

static void put_free(struct svf_table *t, const struct svf_row *row)
{
	struct vs_j free = vs_j_opt(row->j, row->of.doc ? "free" : "vfs_free");

	if (vs_j_null(free))
		svf_cell(t, "?");
	else
		svf_cell(t, "%" PRId64, vs_j_int(free) < 0 ? 0 :
			 vs_j_int(free));
}

/* free/total, in units of `unit`; "-" for what isn't known. An over-committed
 * host has 0 free: its reason says by how much. */
static void put_room(struct svf_table *t, struct vs_j host,
		     const char *free_key, const char *total_key, int64_t unit)
{
	int64_t room = vs_j_int_or(vs_j_opt(host, free_key), -1);
	int64_t total = vs_j_int_or(vs_j_opt(host, total_key), -1);

	if (room < 0 && total < 0)
		svf_cell(t, "-");
	else if (room < 0)
		svf_cell(t, "?/%" PRId64, total / unit);
	else
		svf_cell(t, "%" PRId64 "/%" PRId64, room / unit, total / unit);
}

/* " (until 2026-03-01T14:05:00)" on this machine's clock. */
static void put_until(int64_t at, char out[32])
{
	svf_clock(at, " (until " SVF_DAY ")", out);
}

static void put_reasons(struct svf_table *t, const struct svf_row *row)
{
	VS_FREE char *text = svf_join(vs_j_opt(row->j, "reasons"), "; ");
	char until[32];

	put_until(vs_j_int_or(vs_j_opt(row->j, "excluded_until"), 0), until);
	svf_cell(t, "%s%s", text, until);
}

static void put_devices(struct svf_table *t, const struct svf_row *row)
{
	put_room(t, row->j, "devices_free", "devices_total", 1);
}

/* "10de:20b0", with its hardware label "10de:20b0/a". */
static void put_ids(struct svf_table *t, const struct svf_row *row)
{
	const char *label = vs_j_str_or(vs_j_opt(row->j, "label"), "");

	svf_cell(t, "%s%s%s", vs_j_str_or(vs_j_opt(row->j, "device"), "-"),
		 label[0] ? "/" : "", label);
}

static void put_cpu(struct svf_table *t, const struct svf_row *row)
{
	put_room(t, row->j, "cpu_mhz_free", "cpu_mhz_total", 1000);
}

static void put_memory(struct svf_table *t, const struct svf_row *row)
{
	put_room(t, row->j, "memory_mb_free", "memory_mb_total", 1024);
}

static void put_vms(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%" PRId64 "/%" PRId64,
		 vs_j_int_or(vs_j_opt(row->j, "vms_managed"), 0),
		 vs_j_int_or(vs_j_opt(row->j, "vms_foreign"), 0));
}

/* of: "vfs_" in a host's row, "" in a PF's. */
#define VFS_COLS(of, others)						\
	{ .name = "vfs", .how = SVF_RIGHT | SVF_INT, .key = of "total",	\
	  .what = "the number of virtual functions" },			\
	{ .name = "managed", .how = SVF_RIGHT | SVF_INT, .key = of "managed", \
	  .what = "in use by powered-on VMs of this Slurm cluster" },	\
	{ .name = "foreign", .how = SVF_RIGHT | SVF_INT, others,	\
	  .what = "in use by any other VM, unverified ones included" },	\
	{ .name = "reserved", .how = SVF_RIGHT | SVF_INT, .key = of "reserved", \
	  .what = "reserved for a node whose VM does not use it yet" },	\
	{ .name = "free", .how = SVF_RIGHT | SVF_STATE, .put = put_free,	\
	  .what = "the rest; ? if a VM on that host can't be read" }

static const struct svf_col cols[] = {
	{ .name = "host", .how = SVF_NEED, .key = "host", .what = "the ESXi host" },
	{ .name = "cluster", .how = SVF_EXTRA, .key = "cluster",
	  .what = "its cluster in vCenter" },
	{ .name = "leaf", .how = SVF_EXTRA, .key = "leaf",
	  .what = "its leaf switch, from the ESXiHost lines" },
	{ .name = "state", .how = SVF_STATE | SVF_NEED,
	  .key = "state",
	  .what = "UP, EXCLUDED, QUARANTINED, ON_TRIAL, DRAINING (VMs are on it), DRAINED (none is), MAINTENANCE, ENTERING_MAINTENANCE, STANDBY, DISCONNECTED or UNKNOWN" },
	{ .name = "pfs", .how = SVF_RIGHT | SVF_INT, .key = "pfs_total",
	  .what = "the number of physical functions with SR-IOV" },
	VFS_COLS("vfs_", .key = "vfs_foreign"),
	{ .name = "devices", .title = "DEVICES(FREE/TOTAL)",
	  .how = SVF_RIGHT | SVF_IF, .put = put_devices,
	  .what = "devices that VMs get whole: free ones, and all (profiles of one GPU count it each); only where there are some" },
	{ .name = "cpu_ghz", .title = "CPU_GHZ(FREE/TOTAL)",
	  .how = SVF_RIGHT | SVF_EXTRA, .put = put_cpu,
	  .what = "CPU in GHz, as vCenter counts it: not reserved, and all" },
	{ .name = "mem_gb", .title = "MEM_GB(FREE/TOTAL)",
	  .how = SVF_RIGHT | SVF_EXTRA, .put = put_memory,
	  .what = "memory in GB: not reserved, and all" },
	{ .name = "vms", .title = "VMS(MANAGED/OTHER)",
	  .how = SVF_RIGHT | SVF_EXTRA, .put = put_vms,
	  .what = "VMs on it: of this Slurm cluster, and others" },
	{ .name = "reason", .how = SVF_BAD, .put = put_reasons,
	  .what = "why it gets no VMs, and until when" },
};
static const struct svf_list hosts = SVF_LIST(cols);

static const struct svf_col pf_cols[] = {
	{ .name = "host", .how = SVF_NEED | SVF_OF, .key = "host", .what = "the ESXi host" },
	{ .name = "state", .how = SVF_STATE | SVF_NEED | SVF_OF,
	  .key = "state", .what = "the host's state" },
	{ .name = "pf", .how = SVF_NEED, .key = "pci", .what = "the physical function's PCI address, or the first of several equal devices" },
	{ .name = "device", .how = SVF_IF, .put = put_ids,
	  .what = "of devices that VMs get whole: vendor and device, and their hardware label, or the DVX class or vGPU profile; the numbers count such devices then" },
	{ .name = "nic", .key = "nic", .what = "its name on the host" },
	{ .name = "network", .key = "network",
	  .what = "the distributed switch of which it is an uplink" },
	{ .name = "numa", .how = SVF_EXTRA | SVF_RIGHT | SVF_INT, .key = "numa",
	  .what = "its NUMA node on the host" },
	VFS_COLS("", .put = put_foreign),
};
static const struct svf_list pfs = SVF_LIST(pf_cols);

static void put_pfs(struct svf_table *t, struct vs_j host)
{
	struct vs_j list = vs_j_opt(host, "pfs");

	for (size_t i = 0; i < vs_j_len(list); i++)
		svf_row_add(t, &(struct svf_row){ .j = vs_j_at(list, i),
						  .of = host });
}

/* ---- the verb -------------------------------------------------------------- */

enum { STATES, NODELIST, OPTIONS };	/* svf.own[] */

static const struct svf_opt own[] = {
	[STATES] = SVF_FILTER_STATES("hosts"),
	[NODELIST] = SVF_FILTER_NODELIST("these hosts"),
	[OPTIONS] = { 0 }
};

static const struct svf_state states[] = {
	{ "UP", NULL }, { "EXCLUDED", NULL }, { "QUARANTINED", NULL },
	{ "ON_TRIAL", NULL }, { "DRAINING", "DRNG" }, { "DRAINED", NULL },
	{ "DRAIN", NULL },
	{ "MAINTENANCE", "MAINT" }, { "ENTERING_MAINTENANCE", NULL },
	{ "STANDBY", NULL }, { "DISCONNECTED", NULL }, { "UNKNOWN", "UNK" },
	{ 0 }
};

static bool keep(const struct svf *s, const struct svf_filter *f,
		 struct vs_j host)
{
	return svf_column_shown(s, vs_j_str(vs_j_get(host, "host"))) &&
		svf_filter_state(f, vs_j_str_or(vs_j_opt(host, "state"), ""));
}

static int run(const struct svf *s)
{
	const struct svf_filter_words words = { .states = s->own[STATES],
		.nodes = s->own[NODELIST], .known = states };
	struct svf_filter f;
	struct svf_listing l = { .verb = "hosts", .key = "host",
		.list = s->flag ? &pfs : &hosts, .filter = &f };
	VS_FREE char **names = NULL;
	struct svf named;
	int rc = svf_filter_read("hosts", &words, &f);

	if (!rc) {
		names = svf_filter_names(s, &f, &named);
		rc = svf_show_list(&named, &l, s->flag ? put_pfs : NULL, keep);
	}
	svf_filter_free(&f);
	return rc;
}

const struct svf_verb svf_hosts = {
	.name = "hosts", .args = "[HOST...]", .run = run, .reads = true,
	.own = own,
	.flag = "--pfs", .flag_what = "print one line per physical function, or per type of device that VMs get whole",
	.list = &hosts, .flagged = &pfs, .names = SVF_NAMES_HOST,
	.what = "ESXi hosts: state, VFs, CPU and memory",
	.help =
"-O prints CPU, memory, VMs and more: svf hosts -O host,cpu_ghz,mem_gb,vms, or\n"
"svf hosts -O ALL.\n",
};
