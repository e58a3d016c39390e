/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hosts and their PFs, as JSON for the control channel (shape: report.h). The
 * sums are plan/allocation/ledger's; a PF that is over-committed is never hidden
 * by others that are free.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/checks/checks.h"
#include "engine/hosts/hosts.h"
#include "engine/maintenance/maintenance.h"
#include "engine/report/report.h"
#include "engine/report/report_i.h"
#include "engine/state/state.h"
#include "util/json.h"
#include "util/mem.h"

const char *vs_report_host_state(const struct vs_core *c,
				 const struct vs_host *h)
{
	const struct vs_breaker *b = vs_breaker_get(h->moid);

	return !h->connected ? "disconnected" :
	       !h->powered_on || h->standby ? "standby" :
	       h->maintenance ? "maintenance" :
	       h->entering_maintenance ? "entering_maintenance" :
	       vs_exclusion_find(VS_EXCLUDED_DRAINED, h->moid) ? "drained" :
	       vs_exclusion_find(VS_EXCLUDED_BROKEN, h->moid) ||
	       vs_exclusion_find(VS_EXCLUDED_DRAINS, h->moid) ? "quarantined" :
	       h->quarantine || !h->pfs_known ? "unknown" :
	       b && b->trips ? "on_trial" :
	       vs_exclusion_any(c, h) ? "excluded" : "up";
}

static const char *switch_name(const struct vs_core *c, const char *uuid)
{
	for (size_t i = 0; i < c->conf->nadapters; i++)
		if (uuid[0] && !strcmp(c->nets[i].switch_uuid, uuid))
			return c->adapters[i].network;
	return uuid;
}

/* A class or a profile, and what its driver says that it can do. */
static void named_json(struct json_object *o, const struct vs_devices *of)
{
	struct json_object *can = vs_jb_arr();

	vs_jb_str(o, "device", of->label);
	for (int d = 0; d < VS_OPERATIONS; d++)
		if (of->can >> d & 1)
			vs_jb_add_str(can, vs_operation_names[d]);
	vs_jb_put(o, "operations", can);
	if (of->per_gpu)
		vs_jb_int(o, "per_gpu", of->per_gpu);
}

static void device_json(struct json_object *o, const struct vs_devices *of)
{
	VS_FREE char *ids = vs_asprintf("%04x:%04x", (unsigned int)of->vendor,
					(unsigned int)of->device);

	if (of->named) {
		named_json(o, of);
		return;
	}
	vs_jb_str(o, "device", ids);
	vs_report_str(o, "label", of->label);
}

static struct json_object *pf_json(const struct vs_core *c,
				   const struct vs_pf *pf,
				   const struct vs_pf_use *use)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_str(o, "pci", pf->pci);
	vs_report_str(o, "nic", pf->pnic);
	vs_report_str(o, "network", switch_name(c, pf->switch_uuid));
	if (pf->of)
		device_json(o, pf->of);
	if (pf->numa >= 0)
		vs_jb_int(o, "numa", pf->numa);
	vs_jb_int(o, "total", use->total);
	vs_jb_int(o, "managed", use->ours);
	vs_jb_int(o, "foreign", use->foreign);
	vs_jb_int(o, "unverified", use->suspect);
	vs_jb_int(o, "reserved", use->held);
	if (use->crowded)
		vs_jb_int(o, "blocked", use->crowded);
	if (use->unknown)
		vs_jb_bool(o, "unknown", true);
	else
		vs_jb_int(o, "free", use->crowded && use->free < 0 ? 0 :
			  use->free);
	return o;
}

static void add_reason(struct json_object **why, char *text_take)
{
	VS_FREE char *text = text_take;

	if (!*why)
		*why = vs_jb_arr();
	vs_jb_add_str(*why, text);
}

static char *avoid_words(const struct vs_exclusion *a)
{
	return vs_asprintf("%s%s%s", a->pf, a->pf[0] ? ": " : "", a->why);
}

static void avoid_reasons(const struct vs_core *c, const struct vs_host *h,
			  struct json_object *o, struct json_object **why)
{
	int64_t until_ms = 0;

	for (const struct vs_exclusion *a = vs_exclusion_checks(h->moid); a;
	     a = a->next)
		add_reason(why, avoid_words(a));

	for (const struct vs_exclusion *a = vs_avoids(); a; a = a->next) {
		if (!vs_exclusion_is_on(c, a, h))
			continue;
		add_reason(why, avoid_words(a));
		if (a->until_ms > until_ms)
			until_ms = a->until_ms;
	}
	if (until_ms && until_ms != VS_EXCLUDED_FOREVER)
		vs_jb_int(o, "excluded_until", vs_report_epoch(until_ms));
}

/* It is to be empty, now or later: until when isn't it? */
static void leaving_reasons(struct vs_core *c, const struct vs_host *h,
			    struct json_object *o, struct json_object **why)
{
	const struct vs_maintenance_window *w =
		vs_maintenance_window_get(h->moid);
	struct vs_remaining_vms r;
	char words[256];

	if (!w && !vs_host_is_cordoned(h))
		return;
	if (w) {
		add_reason(why, vs_strdup(w->why));
		vs_jb_int(o, "maintenance_at", w->at);
	}
	vs_host_remaining_vms(c, h, &r);
	vs_remaining_vms_text(&r, words, sizeof(words));
	add_reason(why, vs_strdup(words));
	vs_remaining_vms_json(&r, o);
}

static void drains_reason(const struct vs_host *h,
			  struct json_object *o, struct json_object **why)
{
	int n = vs_health_drains(h->moid);

	if (!n)
		return;
	vs_jb_int(o, "node_drains", n);
	if (!vs_exclusion_find(VS_EXCLUDED_DRAINS, h->moid))
		add_reason(why, vs_asprintf(
			"%d node%s drained by operators or Slurm while %s here", n,
			n == 1 ? " was" : "s were",
			n == 1 ? "its VM ran" : "their VMs ran"));
}

static void host_reasons(struct vs_core *c, const struct vs_host *h,
			 const struct vs_host_sum *sum, struct json_object *o)
{
	const struct vs_breaker *b = vs_breaker_get(h->moid);
	struct json_object *why = NULL;

	for (size_t a = 0; a < c->conf->nadapters; a++)
		if (vs_host_unplugged(c, h, a))
			add_reason(&why, vs_asprintf(
				"%s: no uplink of %s with VFs",
				c->adapters[a].name, c->adapters[a].network));
	avoid_reasons(c, h, o, &why);
	leaving_reasons(c, h, o, &why);
	drains_reason(h, o, &why);
	if (b && b->trips && !vs_exclusion_find(VS_EXCLUDED_BROKEN, h->moid))
		add_reason(&why, vs_asprintf(
			"VM starts failed on the host recently: it gets one trial VM%s%s",
			b->trial[0] ? ", now " : "", b->trial));
	for (int i = 0; i < h->npfs; i++)
		if (vs_pf_over(&sum->pf[i]) && !sum->pf[i].unknown)
			add_reason(&why, vs_asprintf(
				"%s: over-committed, %d %s in use or reserved, %d present",
				h->pfs[i].pci,
				sum->pf[i].total - sum->pf[i].free,
				h->pfs[i].of ? "devices" : "VFs",
				sum->pf[i].total));
	for (int i = 0; i < h->npfs; i++) {
		char *words = vs_other_cluster_text(c, h, i, sum->pf[i].beside);

		if (words)
			add_reason(&why, words);
	}
	if (why)
		vs_jb_put(o, "reasons", why);
}

/* In the order of their addresses. */
static struct json_object *pfs_json(const struct vs_core *c,
				    const struct vs_host *h,
				    const struct vs_host_sum *sum)
{
	struct json_object *arr = vs_jb_arr();
	int order[VS_HOST_PFS];

	for (int i = 0; i < h->npfs; i++) {
		int k = i;

		for (; k && strcmp(h->pfs[order[k - 1]].pci,
				   h->pfs[i].pci) > 0; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	for (int i = 0; i < h->npfs; i++)
		vs_jb_add(arr, pf_json(c, &h->pfs[order[i]],
				       &sum->pf[order[i]]));
	return arr;
}

struct totals {
	int rows, total, ours, foreign, held, free;
	int over;			/* of the row that was added last */
	bool unknown;
};

/* What one row has too few of is not made up by another. */
static void total_add(struct totals *t, const struct vs_pf_use *use)
{
	t->rows++;
	t->total += use->total;
	t->ours += use->ours;
	t->foreign += use->foreign + use->suspect;
	t->held += use->held;
	t->free += use->free > 0 ? use->free : 0;
	t->over = use->free < 0 ? use->free : 0;
	t->unknown |= use->unknown;
}

/* The sums of its PFs, and of its devices that VMs get whole. */
static void totals_json(const struct vs_host *h, const struct vs_host_sum *sum,
			struct json_object *o)
{
	struct totals vfs = { 0 }, devices = { 0 };

	for (int i = 0; i < h->npfs; i++)
		total_add(h->pfs[i].of ? &devices : &vfs, &sum->pf[i]);
	vs_jb_int(o, "pfs_total", vfs.rows);
	vs_jb_int(o, "vfs_total", vfs.total);
	vs_jb_int(o, "vfs_managed", vfs.ours);
	vs_jb_int(o, "vfs_foreign", vfs.foreign);
	vs_jb_int(o, "vfs_reserved", vfs.held);
	if (!vfs.unknown)
		vs_jb_int(o, "vfs_free", vfs.rows == 1 && vfs.over ? vfs.over :
			  vfs.free);
	if (!devices.rows)
		return;
	vs_jb_int(o, "devices_total", devices.total);
	if (!devices.unknown)
		vs_jb_int(o, "devices_free", devices.free);
}

static const char *cluster_name(const struct vs_core *c,
				const struct vs_host *h)
{
	int at = vs_host_cluster(c, h);

	return at < 0 || (size_t)at >= c->conf->nclusters ? NULL :
		c->conf->clusters[at].name;
}

/* As Slurm says it of a node: DRAINING until the last VM has left. */
static const char *state_text(struct vs_core *c, const struct vs_host *h)
{
	const char *state = vs_report_host_state(c, h);
	struct vs_remaining_vms r;

	if (strcmp(state, "drained"))
		return state;
	vs_host_remaining_vms(c, h, &r);
	return r.safe_at ? "draining" : state;
}

static struct json_object *host_json(struct vs_core *c, struct vs_host *h,
				     const struct vs_host_sum *sum)
{
	struct json_object *o = vs_jb_obj(NULL);
	int ours = 0, foreign = 0;
	struct vs_vm *vm;

	LIST_FOREACH(vm, &h->vms, on_host) {
		if (vm->is_template)
			continue;
		if (vs_owner_is_managed(vs_vm_owner(vm, c->folder,
						    c->cluster_id)))
			ours++;
		else
			foreign++;
	}
	vs_jb_str(o, "host", h->name);
	vs_report_str(o, "cluster", cluster_name(c, h));
	vs_report_str(o, "leaf", h->leaf);
	vs_report_state(o, "state", state_text(c, h));
	host_reasons(c, h, sum, o);
	vs_jb_put(o, "pfs", pfs_json(c, h, sum));
	totals_json(h, sum, o);
	vs_jb_int(o, "cpu_mhz_total", vs_host_cpu_mhz(h));
	vs_jb_int(o, "cpu_mhz_free", sum->cpu_free);
	vs_jb_int(o, "memory_mb_total", h->memory_mb);
	vs_jb_int(o, "memory_mb_free", sum->mem_free);
	vs_jb_int(o, "vms_managed", ours);
	vs_jb_int(o, "vms_foreign", foreign);
	return o;
}

struct host_rows {
	struct host_row { char name[VS_LABEL_LEN]; struct json_object *o; } *rows;
	size_t n, cap;
};

static int by_host_name(const void *a, const void *b)
{
	return strcmp(((const struct host_row *)a)->name,
		      ((const struct host_row *)b)->name);
}

static void host_add(struct vs_core *c, struct vs_host *h, void *arg)
{
	struct host_rows *l = arg;

	VS_GROW(l->rows, l->cap, l->n + 1);
	vs_strlcpy(l->rows[l->n].name, h->name, sizeof(l->rows->name));
	l->rows[l->n++].o =
		host_json(c, h, &vs_free_capacity_get(c)->hosts[h->index]);
}

void vs_report_hosts(struct vs_core *c, struct json_object *top)
{
	struct json_object *arr = vs_jb_arr();
	struct host_rows l = { .rows = NULL };

	vs_assert_locked();
	/* False: of a configuration that is no more. */
	while (!vs_each_host(c, host_add, &l))
		while (l.n)
			vs_jb_free(l.rows[--l.n].o);
	qsort(l.rows, l.n, sizeof(*l.rows), by_host_name);
	for (size_t i = 0; i < l.n; i++)
		vs_jb_add(arr, l.rows[i].o);
	free(l.rows);
	vs_report_notes(c, top, false);
	vs_jb_put(top, "hosts", arr);
}
