/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf status: is vCenter there, and how much is under way. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "verbs.h"
#include "util/mem.h"

static const struct {
	const char *key, *label;
} numbers[] = {
	{ "nodes", "nodes" },
	{ "vms_on", "VMs on" },
	{ "vms_off", "VMs off" },
	{ "unverified", "unverified VMs" },
	{ "clone_sources", "clone sources" },
	{ "in_flight", "operations in flight" },
	{ "starts", "VMs started" },
	{ "failures", "steps that failed" },
	{ "clones_hour", "VMs created in the last hour" },
	{ "clones_max", "MaxClonesPerHour" },
	{ "prefetched", "prefetched VMs now" },
	{ "prefetch_made", "prefetched VMs so far" },
	{ "prefetch_used", "of those, used" },
	{ "prefetch_removed", "of those, removed" },
	{ "calls", "calls to vCenter" },
	{ "mutating", "calls that changed something" },
	{ "refused_events", "refused client events" },
};

static void line(const char *label, const char *value)
{
	VS_FREE char *s = vs_strdup(value);

	if (s[0])
		printf("%-29s %s\n", label, svf_clean(s));
}

/* "p99 0.21 ms, worst 0.90 ms, 1200 times" */
static void times(struct vs_j top, const char *key, const char *label)
{
	struct vs_j t = vs_j_opt(top, key);

	if (vs_j_null(t) || !vs_j_int_or(vs_j_opt(t, "count"), 0))
		return;
	printf("%-29s p99 %.2f ms, worst %.2f ms, %" PRId64 " times\n", label,
	       (double)vs_j_int_or(vs_j_opt(t, "p99_us"), 0) / 1000,
	       (double)vs_j_int_or(vs_j_opt(t, "worst_us"), 0) / 1000,
	       vs_j_int_or(vs_j_opt(t, "count"), 0));
}

/* "rhel9: clone 8.1 s, power-on 4.0 s, boot 21.5 s" */
static void paces(struct vs_j list)
{
	static const char *const what[][2] = {
		{ "clone_ms", "clone" }, { "power_on_ms", "power-on" },
		{ "boot_ms", "boot" }, { "relocate_ms", "relocate" },
		{ "clone_source_ms", "clone source" },
	};

	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j t = vs_j_at(list, i);
		VS_FREE char *s = vs_strdup(vs_j_str_or(vs_j_opt(t, "template"),
							"?"));
		const char *sep = ":";

		for (size_t k = 0; k < VS_COUNT(what); k++) {
			int64_t ms = vs_j_int_or(vs_j_opt(t, what[k][0]), -1);
			char *more;

			if (ms < 0)
				continue;
			more = vs_asprintf("%s%s %s %.1f s", s, sep, what[k][1],
					   (double)ms / 1000);
			free(s);
			s = more;
			sep = ",";
		}
		line("usual duration", s);
	}
}

/* How a new VM gets its VFs and devices. */
static void devices(const char *by)
{
	if (!strcmp(by, "clone"))
		line("devices of a new VM",
		     "in the clone: 2 calls to vCenter (clone, power-on)");
	else if (!strcmp(by, "untried"))
		line("devices of a new VM",
		     "not tried yet: 2 calls to vCenter, or 4 for a VM whose clone it refuses because of them");
	else if (!strcmp(by, "reconfigure"))
		line("devices of a new VM",
		     "after the clone: 3 calls to vCenter (clone, reconfigure, power-on), because it refused devices in a clone");
}

/* Prints DRS's answers: how many agreed with the placement, moved the VM,
 * refused, did not come. */
static void drs(struct vs_j answers)
{
	if (vs_j_null(answers))
		return;
	printf("%-29s %" PRId64 " as placed, %" PRId64 " moved, %" PRId64
	       " refused, %" PRId64 " missing\n", "answers of DRS",
	       vs_j_int_or(vs_j_opt(answers, "agreed"), 0),
	       vs_j_int_or(vs_j_opt(answers, "moved"), 0),
	       vs_j_int_or(vs_j_opt(answers, "refused"), 0),
	       vs_j_int_or(vs_j_opt(answers, "failed"), 0));
}

static void print(const struct svf *s, struct vs_jdoc *doc)
{
	struct vs_j top = vs_j_root(doc);
	int64_t silent_s = vs_j_int_or(vs_j_opt(top, "silent_s"), 0);
	struct vs_j paused = vs_j_opt(top, "paused");
	bool up = vs_j_bool(vs_j_get(top, "up"));
	char age[16];

	(void)s;
	if (doc->err.code)
		return;
	svf_age(vs_j_int_or(vs_j_opt(top, "since"), 0), age);
	line("vCenter", vs_j_str_or(vs_j_opt(top, "vcenter"), ""));
	printf("%-29s %s%s%s\n", "connection", up ? "up" : "down",
	       age[0] ? " for " : "", age);
	line("error", vs_j_str_or(vs_j_opt(top, "error"), ""));
	if (silent_s)
		printf("%-29s vCenter has sent nothing for %" PRId64 " s; calls wait for its answers\n",
		       "no answer", silent_s);
	line("metrics", vs_j_str_or(vs_j_opt(top, "metrics"), ""));
	line("no metrics", vs_j_str_or(vs_j_opt(top, "metrics_error"), ""));
	if (!vs_j_null(paused)) {
		VS_FREE char *text = svf_pause_text(paused);

		line("paused", text);
	}
	line("mode", vs_j_str_or(vs_j_opt(top, "mode"), ""));
	line("cluster id", vs_j_str_or(vs_j_opt(top, "cluster_id"), ""));
	for (size_t i = 0; i < VS_COUNT(numbers); i++) {
		struct vs_j j = vs_j_opt(top, numbers[i].key);

		if (!vs_j_null(j))
			printf("%-29s %" PRId64 "\n", numbers[i].label,
			       vs_j_int(j));
	}
	devices(vs_j_str_or(vs_j_opt(top, "devices_by"), ""));
	times(top, "select_calls", "time in Slurm's decisions");
	times(top, "slurm_locks", "time with Slurm's locks");
	paces(vs_j_opt(top, "usual_durations"));
	drs(vs_j_opt(top, "drs"));
	if (vs_j_bool_or(vs_j_opt(top, "removal_limit_reached"), false))
		line("removal limit", "reached: removals wait for svf reconcile --confirm");
}

static int run(const struct svf *s)
{
	int rc = svf_no_arguments(s, "status");

	return rc ? rc : svf_show(s, "status", 0, "", print);
}

const struct svf_verb svf_status = {
	.name = "status", .args = "", .run = run, .reads = true,
	.what = "the connection to vCenter and the work under way",
	.help =
"Each line has one fact. Usual durations are moving means of clones, power-ons\n"
"and boots of each template. A line appears if calls wait for answers and\n"
"vCenter has sent nothing for 13 s or more.\n"
"\n"
"With Prefetch= there are the numbers of prefetched VMs: now, so far, used by a\n"
"job, and removed unused. With Placement=drs there are DRS's answers. With\n"
"MetricsPort= there is the address of the metrics, or why they are not served.\n"
"\n"
"The devices of a new VM are added by its clone. If this vCenter refused devices\n"
"in a clone, a reconfiguration adds them after it. The first VM that is cloned\n"
"with VFs or devices shows which.\n"
"\n"
"Refused client events are events without a rule in the state of the client of\n"
"vCenter. Each is a bug of slurm-vsphere, and slurmctld's log names it.\n",
};
