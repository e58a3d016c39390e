/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reading as text, in OpenMetrics 1.0 or in Prometheus' older format, which
 * differ in their heads, in a counter's family name and in the end. Names follow
 * Prometheus' conventions: base units, _total, one family per meaning; durations
 * are in seconds.
 *
 * Rules: a series that may come is there from the start, at 0, so that its first
 * change is seen; labels have few values (states, steps, codes, calls, adapters)
 * but for hosts and their PFs, of which there are as many as vCenter shows. Pure
 * but for the tally and the durations, which are read as they stand.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/clone_source/clone_source.h"
#include "engine/metrics/metrics_i.h"
#include "engine/state/state.h"
#include "util/mem.h"
#include "util/name.h"
#include "vcenter/transport/tally.h"
#include "vs_config.h"

#define PREFIX "slurm_vsphere_"

struct out {
	struct vs_buf *buf;
	bool openmetrics, full;
	const struct vs_metrics_facts *f;
};

enum kind { GAUGE, COUNTER, HISTOGRAM, SUMMARY, INFO };
static const struct { const char *type, *suffix; } kinds[] = {
	[GAUGE] = { "gauge", "" }, [COUNTER] = { "counter", "_total" },
	[HISTOGRAM] = { "histogram", "" }, [SUMMARY] = { "summary", "" },
	[INFO] = { "info", "_info" },
};

static void put(struct out *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void put(struct out *o, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (len < 0 || (size_t)len >= sizeof(line) ||
	    vs_buf_add(o->buf, line, (size_t)len))
		o->full = true;
}

static void family(struct out *o, enum kind kind, const char *name,
		   const char *unit, const char *help)
{
	const char *more = o->openmetrics ? "" : kinds[kind].suffix;
	const char *type = kind == INFO && !o->openmetrics ? "gauge" :
		kinds[kind].type;

	put(o, "# TYPE " PREFIX "%s%s %s\n", name, more, type);
	if (unit && o->openmetrics)
		put(o, "# UNIT " PREFIX "%s %s\n", name, unit);
	put(o, "# HELP " PREFIX "%s%s %s\n", name, more, help);
}

/* A label's value: vCenter's names may hold anything, and may have been cut. */
#define LABEL_LEN (2 * VS_LABEL_LEN)
static const char *label(const char *s, char out[LABEL_LEN])
{
	bool utf8 = vs_utf8_valid(s);
	size_t len = 0;

	for (; *s && len < LABEL_LEN - 2; s++) {
		if (*s == '"' || *s == '\\')
			out[len++] = '\\';
		out[len++] = (unsigned char)*s < ' ' ||
			(!utf8 && (unsigned char)*s >= 0x80) ? '?' : *s;
	}
	out[len] = '\0';
	return out;
}

/* "0.5", "30.0", "0.000128": as the formats want a bound, and a sum may be. */
#define SECONDS_LEN 32
static const char *seconds(int64_t us, char out[SECONDS_LEN])
{
	size_t len;

	snprintf(out, SECONDS_LEN, "%lld.%06lld", (long long)us / 1000000,
		 (long long)us % 1000000);
	for (len = strlen(out); out[len - 1] == '0' && out[len - 2] != '.';)
		out[--len] = '\0';
	return out;
}

static void one(struct out *o, enum kind kind, const char *name,
		const char *help, int64_t value)
{
	family(o, kind, name, NULL, help);
	put(o, PREFIX "%s%s %lld\n", name,
	    kind == COUNTER ? "_total" : "", (long long)value);
}

static void one_seconds(struct out *o, const char *name, const char *help,
			int64_t us)
{
	char s[SECONDS_LEN];

	family(o, GAUGE, name, "seconds", help);
	put(o, PREFIX "%s %s\n", name, seconds(us, s));
}

/* labels: "step=\"clone\"", or "". */
static void hist(struct out *o, const char *name, const char *labels,
		 const struct vs_hist *h, const int64_t *bounds)
{
	const char *comma = labels[0] ? "," : "", *open = labels[0] ? "{" : "";
	const char *close = labels[0] ? "}" : "";
	uint64_t sum = 0;
	char s[SECONDS_LEN];

	for (int i = 0; i < VS_HIST_BOUNDS; i++) {
		sum += h->n[i];
		put(o, PREFIX "%s_bucket{%s%sle=\"%s\"} %llu\n", name, labels,
		    comma, seconds(bounds[i] * 1000, s),
		    (unsigned long long)sum);
	}
	sum += h->n[VS_HIST_BOUNDS];
	put(o, PREFIX "%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, labels, comma,
	    (unsigned long long)sum);
	put(o, PREFIX "%s_sum%s%s%s %s\n", name, open, labels, close,
	    seconds(h->sum_ms * 1000, s));
	put(o, PREFIX "%s_count%s%s%s %llu\n", name, open, labels, close,
	    (unsigned long long)sum);
}

/* ---- what there is ----------------------------------------------------- */

static void site(struct out *o)
{
	const struct vs_metrics_facts *f = o->f;

	family(o, INFO, "build", NULL, "Version of slurm-vsphere, and of the Slurm that it is built for.");
	put(o, PREFIX "build_info{version=\"%s\",slurm=\"%s\"} 1\n",
	    PACKAGE_VERSION, VS_SLURM_RELEASE);
	one(o, GAUGE, "vcenter_up", "1: vCenter is connected, and its inventory is read.", f->up);
	one(o, GAUGE, "jobs_blocked", "1: no new job gets a VM now; svf status says why.", f->blocked);
	one(o, GAUGE, "observe", "1: Mode=observe, nothing is changed in vCenter and no job gets a VM.", f->observe);
	one(o, GAUGE, "paused", "1: an operator has stopped all calls that change vCenter (svf pause); svf status says who and why.", f->paused);
	one(o, GAUGE, "removal_limit_reached", "1: the removal limit is reached, an operator must decide (svf reconcile).", f->brake);
}

/* VFs of a PF, or devices that are alike. */
static void vfs_of(struct out *o, const struct vs_metrics_pf *p)
{
	static const char *const words[VS_VF_STATES] = {
		"free", "reserved", "managed", "foreign", "unverified",
		"quarantined", "lost",
	};
	const struct vs_metrics_facts *f = o->f;
	char names[512] = "", host[LABEL_LEN], adapter[LABEL_LEN];
	char kind[LABEL_LEN], at[LABEL_LEN], which[2 * LABEL_LEN + 32];
	size_t len = 0;

	for (size_t a = 0; a < f->nadapters && a < VS_METRIC_ADAPTERS; a++) {
		if (!(p->adapters >> a & 1))
			continue;
		snprintf(names + len, sizeof(names) - len, "%s%s",
			 len ? "," : "", label(f->adapters[a], adapter));
		len = strlen(names);
	}
	label(f->hosts[p->host].name, host);
	if (p->device)
		snprintf(which, sizeof(which), "device=\"%s\",label=\"%s\"",
			 label(p->ids, kind), label(p->label, at));
	for (int i = 0; i < VS_VF_STATES; i++)
		put(o, PREFIX "%s{adapter=\"%s\",host=\"%s\",%s%spf=\"%s\",state=\"%s\"} %d\n",
		    p->device ? "devices" : "vfs", names, host,
		    p->device ? which : "", p->device ? "," : "", p->pci,
		    words[i], p->n[i]);
}

static void hosts(struct out *o)
{
	static const char *const words[] = {
		"disconnected", "drained", "entering_maintenance", "excluded",
		"maintenance", "on_trial", "quarantined", "standby", "unknown",
		"up",
	};
	const struct vs_metrics_facts *f = o->f;
	char host[LABEL_LEN];

	family(o, GAUGE, "vfs", NULL, "VFs of each PF by state: free; reserved (also while the VM starts); used by managed, foreign or unverified VMs; quarantined (free but excluded); lost (the host is absent, or has fewer VFs than before). Below 0: over-committed. adapter: all adapters that use the PF.");
	for (size_t i = 0; i < f->npfs; i++)
		if (!f->pfs[i].device)
			vfs_of(o, &f->pfs[i]);
	family(o, GAUGE, "devices", NULL, "Devices that VMs get as a whole, in the same states. device: vendor and device id (label: their hardware label), DVX class or vGPU profile; each profile of a GPU counts the GPU. pf: the address of the first of several equal devices.");
	for (size_t i = 0; i < f->npfs; i++)
		if (f->pfs[i].device)
			vfs_of(o, &f->pfs[i]);
	family(o, GAUGE, "hosts", NULL, "ESXi hosts by state, as svf hosts shows it.");
	for (size_t w = 0; w < VS_COUNT(words); w++) {
		unsigned int n = 0;

		for (size_t i = 0; i < f->nhosts; i++)
			n += f->hosts[i].state &&
				!strcmp(f->hosts[i].state, words[w]);
		put(o, PREFIX "hosts{state=\"%s\"} %u\n", words[w], n);
	}
	family(o, GAUGE, "host_breaker", NULL, "Circuit breaker of each host: 0: closed, 1: half-open, the host gets one trial VM, 2: open, the host gets no VM.");
	for (size_t i = 0; i < f->nhosts; i++)
		if (f->hosts[i].state)
			put(o, PREFIX "host_breaker{host=\"%s\"} %d\n",
			    label(f->hosts[i].name, host), f->hosts[i].breaker);
}

static void states(struct out *o, const char *name,
		   struct vs_metrics_count (*rows)[VS_METRIC_STATES])
{
	char adapter[LABEL_LEN];

	for (size_t a = 0; a < o->f->nadapters; a++)
		for (int i = 0; i < VS_METRIC_STATES && rows[a][i].word; i++)
			put(o, PREFIX "%s{adapter=\"%s\",state=\"%s\"} %llu\n",
			    name, label(o->f->adapters[a], adapter),
			    rows[a][i].word, (unsigned long long)rows[a][i].n);
}

static void nodes(struct out *o)
{
	family(o, GAUGE, "nodes", NULL, "Managed nodes by Slurm's state.");
	states(o, "nodes", o->f->slurm);
	family(o, GAUGE, "node_vms", NULL, "Managed nodes by the state of their VM.");
	states(o, "node_vms", o->f->vms);
}

/* ---- what happened ----------------------------------------------------- */

/* A code as a label's value: with underscores. */
#define CODE_LEN 32
static const char *code_label(int code, char out[CODE_LEN])
{
	char *dash;

	vs_strlcpy(out, vs_code_name(code), CODE_LEN);
	while ((dash = strchr(out, '-')))
		*dash = '_';
	return out;
}

static void codes(struct out *o, const char *name, const char *step,
		  const uint64_t n[VS_CODES])
{
	char code[CODE_LEN];

	for (int i = VS_OK + 1; i < VS_CODES; i++)
		put(o, PREFIX "%s_total{%s%s%scode=\"%s\"} %llu\n", name,
		    step ? "step=\"" : "", step ? step : "", step ? "\"," : "",
		    code_label(i, code), (unsigned long long)n[i]);
}

static void steps(struct out *o)
{
	static const struct { int step; const char *word; } words[] = {
		{ VS_OP_CLONE, "clone" }, { VS_OP_RECONFIGURE, "reconfigure" },
		{ VS_OP_RELOCATE, "relocate" }, { VS_OP_POWER_ON, "power_on" },
		{ VS_DURATION_BOOT, "boot" }, { VS_OP_SHUTDOWN, "shutdown" },
		{ VS_OP_POWER_OFF, "power_off" }, { VS_OP_DESTROY, "destroy" },
		{ VS_OP_VMOTION, "vmotion" },
	};
	const struct vs_metrics *m = &o->f->kept;
	char labels[64];

	one(o, COUNTER, "vm_starts", "VMs that slurm-vsphere powered on and whose slurmd registered.", (int64_t)m->starts);
	family(o, COUNTER, "step_failures", NULL, "Failed steps of VMs, by the meaning of the failure; canceled: slurm-vsphere stopped the step itself.");
	for (size_t i = 0; i < VS_COUNT(words); i++)
		codes(o, "step_failures", words[i].word,
		      m->failed[words[i].step]);
	family(o, COUNTER, "nodes_released", NULL, "Nodes that got no VM and were returned to Slurm.");
	codes(o, "nodes_released", NULL, m->given_up);
	family(o, HISTOGRAM, "step_duration_seconds", "seconds", "Duration of successful steps: calls until their task ended, boot from power-on to registration, shutdown from the request until the VM was off.");
	for (size_t i = 0; i < VS_COUNT(words); i++) {
		snprintf(labels, sizeof(labels), "step=\"%s\"", words[i].word);
		hist(o, "step_duration_seconds", labels,
		     &m->steps[words[i].step], vs_hist_step_ms);
	}
}

static void calls(struct out *o)
{
	VS_FREE struct vs_tally *rows = vs_calloc(VS_TALLY_NAMES,
						  sizeof(*rows));
	size_t n = vs_tally_get(rows);
	char s[SECONDS_LEN], code[CODE_LEN];

	family(o, COUNTER, "vcenter_calls", NULL, "Finished calls to vCenter by outcome: ok, or the meaning of the error.");
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < VS_CODES; k++)
			put(o, PREFIX "vcenter_calls_total{call=\"%s\",outcome=\"%s\"} %llu\n",
			    rows[i].name, code_label(k, code),
			    (unsigned long long)rows[i].ended[k]);
	family(o, SUMMARY, "vcenter_call_duration_seconds", "seconds", "Duration of these calls; WaitForUpdatesEx is the call that waits for changes.");
	for (size_t i = 0; i < n; i++) {
		unsigned long long sum = 0;

		for (int k = 0; k < VS_CODES; k++)
			sum += rows[i].ended[k];
		put(o, PREFIX "vcenter_call_duration_seconds_sum{call=\"%s\"} %s\n",
		    rows[i].name, seconds(rows[i].us, s));
		put(o, PREFIX "vcenter_call_duration_seconds_count{call=\"%s\"} %llu\n",
		    rows[i].name, sum);
	}
}

static void work(struct out *o)
{
	static const char *const words[] = { "provisioning", "power" };
	const struct vs_metrics_facts *f = o->f;

	family(o, GAUGE, "operations_in_flight", NULL, "Operations in vCenter now.");
	for (int i = 0; i < 2; i++)
		put(o, PREFIX "operations_in_flight{type=\"%s\"} %d\n",
		    words[i], f->in_flight[i]);
	family(o, GAUGE, "operations_max", NULL, "MaxProvisionOps and MaxPowerOps.");
	for (int i = 0; i < 2; i++)
		put(o, PREFIX "operations_max{type=\"%s\"} %d\n", words[i],
		    f->in_flight_max[i]);
	one(o, GAUGE, "clones_last_hour", "VMs created in the last hour.", f->clones_hour);
	one(o, GAUGE, "clones_last_hour_max", "MaxClonesPerHour, 0: no limit.", f->clones_max);
	one(o, GAUGE, "prefetch_vms", "Prefetched VMs now.", (int64_t)f->ahead);
	one(o, COUNTER, "prefetch_vms_made", "VMs that were prefetched.", (int64_t)f->ahead_made);
	one(o, COUNTER, "prefetch_vms_used", "Prefetched VMs that a job used.", (int64_t)f->ahead_used);
	one(o, COUNTER, "prefetch_vms_removed", "Prefetched VMs that were removed unused.", (int64_t)f->ahead_removed);
}

static void clone_sources(struct out *o)
{
	static const struct { const char *name, *help; } words[] = {
		{ "clone_sources_made", "Clone sources that were created." },
		{ "clone_sources_failed", "Failed calls for clone sources: clone, snapshot, power-on, power-off, destroy." },
		{ "clone_sources_removed", "Clone sources that were removed because no more clones are made from them." },
	};
	const struct vs_metrics_facts *f = o->f;

	family(o, GAUGE, "clone_sources", NULL, "Clone sources of linked and instant clones, by state as svf clone-sources shows it.");
	for (int k = VS_CLONE_LINKED; k < VS_CLONE_KINDS; k++)
		for (int i = 0; i < VS_CLONE_SOURCE_STATES; i++)
			put(o, PREFIX "clone_sources{type=\"%s\",state=\"%s\"} %u\n",
			    vs_clone_name(k), vs_clone_source_states[i],
			    f->parents[k][i]);
	for (size_t w = 0; w < VS_COUNT(words); w++) {
		family(o, COUNTER, words[w].name, NULL, words[w].help);
		for (int k = VS_CLONE_LINKED; k < VS_CLONE_KINDS; k++) {
			const struct vs_clone_source_counts *n =
				&f->kept.parents[k];

			put(o, PREFIX "%s_total{type=\"%s\"} %llu\n",
			    words[w].name, vs_clone_name(k),
			    (unsigned long long)(w == 0 ? n->made :
						 w == 1 ? n->failed : n->ended));
		}
	}
}

/* ---- waiting ----------------------------------------------------------- */

static void waits(struct out *o)
{
	static const char *const words[] = {
		[VS_PENDING_VFS] = "vfs", [VS_PENDING_TURN] = "priority",
		[VS_PENDING_NODES] = "nodes",
	};
	const struct vs_metrics_facts *f = o->f;

	family(o, GAUGE, "jobs_waiting", NULL, "Pending jobs by the reason: vfs (or other capacity for VMs is missing), priority (free capacity is reserved for other jobs), or Slurm's nodes.");
	for (size_t i = 0; i < VS_COUNT(words); i++)
		put(o, PREFIX "jobs_waiting{reason=\"%s\"} %llu\n", words[i],
		    (unsigned long long)f->waits[i]);
	one_seconds(o, "vf_wait_oldest_seconds", "Longest time that a pending job has waited for VFs.", f->oldest_ms * 1000);
	family(o, HISTOGRAM, "vf_wait_seconds", "seconds", "Time that started jobs had waited for VFs, from the first test that found too few; 0 for jobs that did not wait.");
	hist(o, "vf_wait_seconds", "", &f->kept.vf_wait, vs_hist_wait_ms);
}

static void kept_of(struct out *o, const char *part, const char *clock,
		    struct vs_times *t)
{
	static const int log2s[] = { 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
				     18, 20 };
	char s[SECONDS_LEN];
	uint64_t n = 0, count;

	for (size_t i = 0; i < VS_COUNT(log2s); i++) {
		uint64_t below = vs_times_below(t, log2s[i]);

		n = below > n ? below : n;	/* others add meanwhile */
		put(o, PREFIX "slurmctld_blocked_seconds_bucket{part=\"%s\",clock=\"%s\",le=\"%s\"} %llu\n",
		    part, clock, seconds(INT64_C(1) << log2s[i], s),
		    (unsigned long long)n);
	}
	count = atomic_load(&t->count);
	count = count > n ? count : n;
	put(o, PREFIX "slurmctld_blocked_seconds_bucket{part=\"%s\",clock=\"%s\",le=\"+Inf\"} %llu\n",
	    part, clock, (unsigned long long)count);
	put(o, PREFIX "slurmctld_blocked_seconds_sum{part=\"%s\",clock=\"%s\"} %s\n",
	    part, clock, seconds(atomic_load(&t->sum_us), s));
	put(o, PREFIX "slurmctld_blocked_seconds_count{part=\"%s\",clock=\"%s\"} %llu\n",
	    part, clock, (unsigned long long)count);
}

static void kept(struct out *o)
{
	static const char *const words[VS_TIMED] = {
		[VS_TIMED_CALLS] = "select_calls", [VS_TIMED_LOCKS] = "locks",
	};

	family(o, HISTOGRAM, "slurmctld_blocked_seconds", "seconds", "Time that slurm-vsphere blocked slurmctld: in calls of its plugins, and by holding slurmctld's locks; elapsed time (wall) and CPU time (cpu).");
	for (int i = 0; i < VS_TIMED; i++) {
		kept_of(o, words[i], "wall", vs_timed(i, false));
		kept_of(o, words[i], "cpu", vs_timed(i, true));
	}
	one_seconds(o, "scrape_lock_seconds", "Longest time that this scrape could keep a thread of slurmctld waiting.", o->f->lock_us);
}

int vs_metrics_text(const struct vs_metrics_facts *f, bool openmetrics,
		    struct vs_buf *buf, struct vs_err *err)
{
	static void (*const parts[])(struct out *) = {
		site, hosts, nodes, steps, calls, work, clone_sources, waits, kept,
	};
	struct out o = { .buf = buf, .openmetrics = openmetrics, .f = f };

	for (size_t i = 0; i < VS_COUNT(parts); i++)
		parts[i](&o);
	if (openmetrics)
		put(&o, "# EOF\n");
	return !o.full ? 0 : vs_err_set(err, VS_E_BUG,
		"the metrics are longer than %zu bytes", buf->max);
}
