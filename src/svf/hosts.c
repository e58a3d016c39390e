/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf hosts: what each ESXi host has left. One line per host, with --pfs one
 * per physical function. Suspect VMs count as foreign, as they do in the
 * ledger.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "svf.h"
#include "util/mem.h"

struct sum {
	int64_t total, ours, foreign, held, free;
	bool unknown;
};

/* over: what one PF has too few of is not made up by another. */
static void add_pf(struct sum *s, struct vs_j pf, bool over)
{
	int64_t free = vs_j_int_or(vs_j_opt(pf, "free"), 0);

	if (free < 0 && !over)
		free = 0;
	s->total += vs_j_int_or(vs_j_opt(pf, "total"), 0);
	s->ours += vs_j_int_or(vs_j_opt(pf, "ours"), 0);
	s->foreign += vs_j_int_or(vs_j_opt(pf, "foreign"), 0) +
		vs_j_int_or(vs_j_opt(pf, "suspect"), 0);
	s->held += vs_j_int_or(vs_j_opt(pf, "held"), 0);
	s->free += free;
	s->unknown |= vs_j_bool_or(vs_j_opt(pf, "unknown"), false);
}

static void put_sum(struct svf_table *t, const struct sum *s)
{
	svf_cell(t, "%" PRId64, s->total);
	svf_cell(t, "%" PRId64, s->ours);
	svf_cell(t, "%" PRId64, s->foreign);
	svf_cell(t, "%" PRId64, s->held);
	if (s->unknown)
		svf_cell(t, "?");
	else
		svf_cell(t, "%" PRId64, s->free);
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
	time_t when = (time_t)at;
	struct tm tm;

	out[0] = '\0';
	if (at > 0 && localtime_r(&when, &tm))
		strftime(out, 32, " (until %H:%M)", &tm);
}

static void put_reasons(struct svf_table *t, struct vs_j host)
{
	struct vs_j list = vs_j_opt(host, "reasons");
	VS_FREE char *text = vs_strdup("");
	char until[32];

	for (size_t i = 0; i < vs_j_len(list); i++) {
		VS_FREE char *had = text;

		text = vs_asprintf("%s%s%s", had, i ? "; " : "",
				   vs_j_str(vs_j_at(list, i)));
	}
	put_until(vs_j_int_or(vs_j_opt(host, "avoided_until"), 0), until);
	svf_cell(t, "%s%s", text, until);
}

static void put_host(struct svf_table *t, struct vs_j host)
{
	struct vs_j pfs = vs_j_opt(host, "pfs");
	struct sum sum = { 0 };

	for (size_t i = 0; i < vs_j_len(pfs); i++)
		add_pf(&sum, vs_j_at(pfs, i), vs_j_len(pfs) == 1);
	svf_cell(t, "%s", vs_j_str(vs_j_get(host, "host")));
	svf_cell(t, "%s", vs_j_str_or(vs_j_opt(host, "cluster"), "-"));
	svf_cell(t, "%s", vs_j_str(vs_j_get(host, "state")));
	svf_cell(t, "%zu", vs_j_len(pfs));
	put_sum(t, &sum);
	put_room(t, host, "cpu_mhz_free", "cpu_mhz_total", 1000);
	put_room(t, host, "memory_mb_free", "memory_mb_total", 1024);
	svf_cell(t, "%" PRId64 "/%" PRId64,
		 vs_j_int_or(vs_j_opt(host, "vms_ours"), 0),
		 vs_j_int_or(vs_j_opt(host, "vms_foreign"), 0));
	put_reasons(t, host);
}

static void put_pfs(struct svf_table *t, struct vs_j host)
{
	struct vs_j pfs = vs_j_opt(host, "pfs");

	for (size_t i = 0; i < vs_j_len(pfs); i++) {
		struct vs_j pf = vs_j_at(pfs, i);
		struct sum one = { 0 };

		add_pf(&one, pf, true);
		svf_cell(t, "%s", vs_j_str(vs_j_get(host, "host")));
		svf_cell(t, "%s", vs_j_str(vs_j_get(host, "state")));
		svf_cell(t, "%s", vs_j_str(vs_j_get(pf, "pci")));
		svf_cell(t, "%s", vs_j_str_or(vs_j_opt(pf, "pnic"), "-"));
		svf_cell(t, "%s", vs_j_str_or(vs_j_opt(pf, "switch"), "-"));
		put_sum(t, &one);
	}
}

static int run(const struct svf *s)
{
	struct svf_table *t;
	struct vs_jdoc doc;
	struct vs_j hosts;
	int rc = svf_ask("hosts", 0, "", &doc);

	if (rc)
		return rc;
	if (s->json)
		return svf_print_json(&doc);
	t = svf_table_new(s->flag ?
		"HOST STATE PF NIC NETWORK >VFS >OURS >FOREIGN >HELD >FREE" :
		"HOST 2CLUSTER STATE 5>PFS >VFS >OURS >FOREIGN >HELD >FREE "
		"4>GHZ_FREE/ALL 3>GB_FREE/ALL 1>VMS_OURS/OTHER +REASON");
	hosts = vs_j_get(vs_j_root(&doc), "hosts");
	for (size_t i = 0; i < vs_j_len(hosts); i++) {
		struct vs_j host = vs_j_at(hosts, i);

		if (!svf_wanted(s, vs_j_str(vs_j_get(host, "host"))))
			continue;
		if (s->flag)
			put_pfs(t, host);
		else
			put_host(t, host);
	}
	rc = svf_read_failed(&doc);
	if (!rc) {
		svf_table_print(t, s->no_header);
		svf_print_notes(&doc);
		rc = svf_names_check(s, hosts, "host");
	}
	svf_table_free(t);
	vs_jdoc_free(&doc);
	return rc;
}

const struct svf_verb svf_hosts = {
	.name = "hosts", .args = "[HOST...]", .flag = "--pfs", .run = run,
	.what = "ESXi hosts: state, VFs, CPU and memory",
	.help =
"\n"
"  --pfs     one line per physical function\n"
"\n"
"VFS       virtual functions the host offers\n"
"OURS      in use by powered-on VMs of this Slurm cluster\n"
"FOREIGN   in use by any other VM, those of doubtful ownership included\n"
"HELD      given to a node whose VM does not show it in use yet\n"
"FREE      the rest; '?' if a VM on that host can't be read, below 0 if VFs\n"
"          that are in use have gone\n"
"GHZ, GB   not reserved / all that the host has\n"
"REASON    why VMs are kept away from it (svf host resume HOST ends that)\n"
"\n"
"On a narrow terminal the less important columns are left out.\n",
};
