/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf hosts: what each ESXi host has left. One line per host, with --pfs one
 * per physical function. Suspect VMs count as foreign, as they do in the
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
		 vs_j_int_or(vs_j_opt(row->j, "suspect"), 0));
}

static void put_free(struct svf_table *t, const struct svf_row *row)
{
	struct vs_j free = vs_j_opt(row->j, row->of.doc ? "free" : "vfs_free");

	if (vs_j_null(free))
		svf_cell(t, "?");
	else
		svf_cell(t, "%" PRId64, vs_j_int(free));
}

/* free/total, in units of `unit`; "-" for what isn't known. */
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

/* " (until 14:05)" on this machine's clock. */
static void put_until(int64_t at, char out[32])
{
	svf_clock(at, " (until %H:%M)", out);
}

static void put_reasons(struct svf_table *t, const struct svf_row *row)
{
	VS_FREE char *text = svf_join(vs_j_opt(row->j, "reasons"), "; ");
	char until[32];

	put_until(vs_j_int_or(vs_j_opt(row->j, "avoided_until"), 0), until);
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

static void put_ghz(struct svf_table *t, const struct svf_row *row)
{
	put_room(t, row->j, "cpu_mhz_free", "cpu_mhz_total", 1000);
}

static void put_gb(struct svf_table *t, const struct svf_row *row)
{
	put_room(t, row->j, "memory_mb_free", "memory_mb_total", 1024);
}

static void put_vms(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%" PRId64 "/%" PRId64,
		 vs_j_int_or(vs_j_opt(row->j, "vms_ours"), 0),
		 vs_j_int_or(vs_j_opt(row->j, "vms_foreign"), 0));
}

/* of: "vfs_" in a host's row, "" in a PF's. */
#define VFS_COLS(of, others)						\
	{ .name = "vfs", .how = SVF_RIGHT | SVF_INT, .key = of "total",	\
	  .what = "virtual functions there are" },			\
	{ .name = "ours", .how = SVF_RIGHT | SVF_INT, .key = of "ours",	\
	  .what = "in use by powered-on VMs of this Slurm cluster" },	\
	{ .name = "foreign", .how = SVF_RIGHT | SVF_INT, others,	\
	  .what = "in use by any other VM, those of doubtful ownership included" }, \
	{ .name = "held", .how = SVF_RIGHT | SVF_INT, .key = of "held",	\
	  .what = "given to a node whose VM does not show it in use yet" }, \
	{ .name = "free", .how = SVF_RIGHT | SVF_STATE, .put = put_free,	\
	  .what = "the rest; ? if a VM on that host can't be read, below 0 if VFs that are in use have gone" }

static const struct svf_col cols[] = {
	{ .name = "host", .how = SVF_NEED, .key = "host", .what = "the ESXi host" },
	{ .name = "cluster", .how = SVF_EXTRA, .key = "cluster",
	  .what = "vCenter's cluster it belongs to" },
	{ .name = "leaf", .how = SVF_EXTRA, .key = "leaf",
	  .what = "its leaf switch, from the ESXiHost lines" },
	{ .name = "state", .how = SVF_STATE | SVF_NEED, .key = "state",
	  .what = "up, avoided, quarantined, on-trial, drained, maintenance, entering-maintenance, standby, disconnected or unknown" },
	{ .name = "pfs", .how = SVF_RIGHT | SVF_INT, .key = "pfs_total",
	  .what = "physical functions with SR-IOV" },
	VFS_COLS("vfs_", .key = "vfs_foreign"),
	{ .name = "devices", .title = "DEVICES_FREE/ALL",
	  .how = SVF_RIGHT | SVF_IF, .put = put_devices,
	  .what = "devices that VMs get whole: not given to any, and all (profiles of one GPU count it each); only where there are some" },
	{ .name = "ghz", .title = "GHZ_FREE/ALL", .how = SVF_RIGHT | SVF_EXTRA,
	  .put = put_ghz, .what = "CPU that is not reserved, and all there is, in GHz" },
	{ .name = "gb", .title = "GB_FREE/ALL", .how = SVF_RIGHT | SVF_EXTRA,
	  .put = put_gb, .what = "the same of memory, in GB" },
	{ .name = "vms", .title = "VMS_OURS/OTHER", .how = SVF_RIGHT | SVF_EXTRA,
	  .put = put_vms, .what = "VMs on it: of this Slurm cluster, others" },
	{ .name = "reason", .how = SVF_BAD, .put = put_reasons,
	  .what = "why VMs are kept away from it, and until when" },
};
static const struct svf_list hosts = SVF_LIST(cols);

static const struct svf_col pf_cols[] = {
	{ .name = "host", .how = SVF_NEED | SVF_OF, .key = "host", .what = "the ESXi host" },
	{ .name = "state", .how = SVF_STATE | SVF_NEED | SVF_OF, .key = "state",
	  .what = "the host's, as without --pfs" },
	{ .name = "pf", .how = SVF_NEED, .key = "pci", .what = "the physical function's PCI address, or the first's of devices that are alike" },
	{ .name = "device", .how = SVF_IF, .put = put_ids,
	  .what = "of devices that VMs get whole: vendor and device, and their hardware label, or the DVX class or vGPU profile; the numbers are of such devices then" },
	{ .name = "nic", .key = "pnic", .what = "its name on the host" },
	{ .name = "network", .key = "switch",
	  .what = "the distributed switch that it is an uplink of" },
	{ .name = "numa", .how = SVF_EXTRA | SVF_RIGHT | SVF_INT, .key = "numa",
	  .what = "the host's NUMA node it is on" },
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

static int run(const struct svf *s)
{
	return svf_show_list(s, "hosts", "host", s->flag ? &pfs : &hosts,
			     s->flag ? put_pfs : NULL);
}

const struct svf_verb svf_hosts = {
	.name = "hosts", .args = "[HOST...]", .run = run, .reads = true,
	.flag = "--pfs", .flag_what = "one line per physical function, or kind of device that VMs get whole",
	.list = &hosts, .flagged = &pfs, .names = SVF_NAMES_HOST,
	.what = "ESXi hosts: state, VFs, CPU and memory",
	.help =
"CPU, memory, VMs and more are columns of -O: svf hosts -O host,ghz,gb,vms, or\n"
"-O ALL.\n",
};
