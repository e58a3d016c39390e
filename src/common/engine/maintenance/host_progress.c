/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host that is to be empty: in maintenance, entering it, drained by an
 * operator, or at a planned time. Reports which managed VMs are still there and
 * when the last of their jobs ends. Makes a Slurm reservation of their nodes,
 * so that users see it. A node's name isn't bound to a host, so the node leaves
 * the reservation when its VM is off.
 *
 * A VM of unknown state counts as there, so that an outage of vCenter removes
 * nothing from a reservation. Slurm gets the full list each time, and the Slurm
 * operations find what differs, so that a restart needs no memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/forecast/forecast.h"
#include "engine/hosts/hosts.h"
#include "engine/maintenance/maintenance.h"
#include "engine/maintenance/maintenance_i.h"
#include "engine/slurm/slurm_ops.h"
#include "engine/state/state.h"
#include "util/buf.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/time.h"

#define SAY_MS 2000
#define YEAR_S ((int64_t)365 * 24 * 3600)
#define BOUNDLESS_S (YEAR_S * 3 / 4)	/* Slurm's "no limit" is a year */
#define LEAST_S 60
#define OVERDUE_S 600
#define NODES_MAX (1 << 20)	/* bytes: more than a host can have VMs */
#define JOBS 512		/* of a host, told apart */

struct tally {
	struct vs_remaining_vms *r;
	uint32_t jobs[JOBS];
	int64_t now;
};

static void count_job(struct tally *t, uint32_t job)
{
	for (size_t i = 0; i < t->r->jobs; i++)
		if (t->jobs[i] == job)
			return;
	if (job && t->r->jobs < JOBS)
		t->jobs[t->r->jobs++] = job;
}

/* A node's VM is there, or on its way. */
static void count_node(struct vs_core *c, struct tally *t,
		       const struct vs_node *n)
{
	int64_t end = n->claims.job ? vs_until_job(n) : t->now;

	if (vs_vmotion_moves(&n->vmotion) || vs_vmotion_expected(c, n)) {
		t->r->moves++;
		if (t->r->safe_at < t->now)
			t->r->safe_at = t->now;
		return;
	}
	if (!end || n->absent.how || vs_observed_unsure(n->seen))
		end = VS_TIME_NEVER;
	t->r->asleep += n->claims.job && vs_node_sleeps(c, n);
	count_job(t, n->claims.job);
	for (size_t i = 0; i < n->claims.nbeside; i++)
		count_job(t, n->claims.beside[i].job);
	t->r->nodes++;
	if (end > t->now + BOUNDLESS_S)
		end = VS_TIME_NEVER;
	/* An overdue one ends any moment. */
	if (end < t->now)
		end = t->now;
	if (end > t->r->safe_at)
		t->r->safe_at = end;
}

/* The node whose VM this is, if it is suspended and, so, has no hold. */
static const struct vs_node *asleep(struct vs_core *c, const struct vs_vm *vm)
{
	const struct vs_node *n = vm->power == VS_POWER_SUSPENDED ?
		vs_node_named(c, vm->name) : NULL;

	return n && vs_node_vm(c, n) == vm && vs_node_sleeps(c, n) &&
		!vs_ledger_get(&c->ledger, n->name) ? n : NULL;
}

void vs_host_remaining_vms(struct vs_core *c, const struct vs_host *h,
			   struct vs_remaining_vms *out)
{
	const struct vs_host_claims *holds = vs_ledger_host_claims(&c->ledger,
								   h->moid);
	struct tally t = { .r = out, .now = vs_wall_ms() / 1000 };
	const struct vs_claim *hold;
	const struct vs_vm *vm;

	vs_assert_locked();
	*out = (struct vs_remaining_vms) { 0 };
	if (holds)
		LIST_FOREACH(hold, &holds->list, on_host) {
			const char *comes = vs_vmotion_claim_node(hold->node);
			const struct vs_node *n = vs_node_named(
				c, comes ? comes : hold->node);

			/* once it is here its own hold is, too */
			if (n && (!comes || vs_node_on(c, n) != h))
				count_node(c, &t, n);
		}
	LIST_FOREACH(vm, &h->vms, on_host) {
		const struct vs_node *sleeps = asleep(c, vm);

		if (vm->is_template || vm->power == VS_POWER_OFF)
			continue;
		if (vs_vm_owner(vm, c->folder, c->cluster_id) !=
		    VS_OWNER_MANAGED)
			out->others += vm->power != VS_POWER_SUSPENDED;
		else if (sleeps)
			count_node(c, &t, sleeps);
		else if (!vs_ledger_get(&c->ledger, vm->name))
			out->vms++;
	}
	if (out->vms)
		out->safe_at = VS_TIME_NEVER;
}

void vs_remaining_vms_text(const struct vs_remaining_vms *r, char *out,
			   size_t size)
{
	char at[32] = "?", others[144] = "";
	size_t len = 0;

	if (r->moves)
		len = (size_t)snprintf(others, sizeof(others),
				       "; %zu VM%s away with %s running", r->moves,
				       r->moves == 1 ? " moves" : "s move",
				       r->moves == 1 ? "its job" : "their jobs");
	if (r->asleep)
		len += (size_t)snprintf(others + len, sizeof(others) - len,
					"; %zu VM%s suspended", r->asleep,
					r->asleep == 1 ? " is" : "s are");
	if (r->others)
		snprintf(others + len, sizeof(others) - len, "; %d other VM%s %s on",
			 r->others, vs_plural(r->others),
			 r->others == 1 ? "is" : "are");
	if (!r->safe_at) {
		snprintf(out, size, "no managed VM is on, safe now%s", others);
		return;
	}
	if (r->moves && !r->nodes && !r->vms) {
		snprintf(out, size, "%s", others + 2);
		return;
	}
	if (r->safe_at != VS_TIME_NEVER)
		vs_clock_text(r->safe_at, at, sizeof(at));
	if (r->jobs)
		snprintf(out, size, "%zu job%s on %zu node%s, safe %s%s%s",
			 r->jobs, vs_plural(r->jobs), r->nodes,
			 vs_plural(r->nodes),
			 r->safe_at == VS_TIME_NEVER ?
			 "at an unknown time: a job has no time limit, is suspended or is not visible" :
			 "at ", r->safe_at == VS_TIME_NEVER ? "" : at, others);
	else
		snprintf(out, size, "%zu idle VM%s, safe when %s off%s",
			 r->nodes + (size_t)r->vms,
			 vs_plural(r->nodes + (size_t)r->vms),
			 r->nodes + (size_t)r->vms == 1 ? "it is" : "they are",
			 others);
}

void vs_remaining_vms_json(const struct vs_remaining_vms *r,
			   struct json_object *o)
{
	if (r->moves)
		vs_jb_int(o, "nodes_moving", (int64_t)r->moves);
	if (r->jobs)
		vs_jb_int(o, "jobs_remaining", (int64_t)r->jobs);
	if (r->nodes)
		vs_jb_int(o, "nodes_remaining", (int64_t)r->nodes);
	if (!r->safe_at)
		vs_jb_bool(o, "safe", true);
	else if (r->safe_at != VS_TIME_NEVER)
		vs_jb_int(o, "safe_at", r->safe_at);
}

/* ---- who is to be empty ------------------------------------------------------- */

/* A host that is to become empty. */
struct vs_draining_hosts {
	char host[VS_MOID_LEN];
	int64_t start;			/* of Slurm's reservation, s since the
					 * epoch */
	char *nodes;			/* of what is planned, */
	int64_t nodes_at;		/* as it was then */
	bool told, told_empty;		/* in the log */
	bool there;			/* it still is to be */
	UT_hash_handle hh;
};

static struct {
	struct vs_draining_hosts *leaving;	/* uthash by host */
	bool silent;			/* Slurm has none by slurm-vsphere */
	int64_t said_ms;
} reservations;

static struct vs_draining_hosts *leaving(const char *host,
					 int64_t start, int64_t now)
{
	struct vs_draining_hosts *l;

	HASH_FIND_STR(reservations.leaving, host, l);
	if (!l) {
		l = vs_calloc(1, sizeof(*l));
		vs_strlcpy(l->host, host, sizeof(l->host));
		HASH_ADD_STR(reservations.leaving, host, l);
	}
	/* What has begun stays begun; what is planned may be moved. */
	if (!l->start || start > now || l->start > now)
		l->start = start;
	l->there = true;
	return l;
}

static void drop(struct vs_draining_hosts *l)
{
	HASH_DEL(reservations.leaving, l);
	free(l->nodes);
	free(l);
}

void vs_draining_hosts_clear(void)
{
	vs_assert_locked();
	while (reservations.leaving)
		drop(reservations.leaving);
	reservations.silent = false;
}

void vs_leaving_renew(void)
{
	reservations.silent = false;
}

/* The log: once when it begins, once when it is done. */
static void tell(const struct vs_host *h,
		 struct vs_draining_hosts *l, const struct vs_remaining_vms *r)
{
	char words[256], why[256];

	if (!vs_host_is_cordoned(h))
		return;
	vs_remaining_vms_text(r, words, sizeof(words));
	if (!r->safe_at && !l->told_empty)
		vs_info("host=%s is empty: %s", h->name, words);
	else if (!l->told) {
		vs_host_cordon_reason(h, why, sizeof(why));
		vs_info("%s: %s", why, words);
	}
	l->told = true;
	l->told_empty = !r->safe_at;
}

/* ---- Slurm's reservation --------------------------------------------------------- */

static char *resv_name(const struct vs_host *h)
{
	char *name = vs_asprintf("vsphere_%s", h->name);

	for (char *p = name; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-",
			    *p))
			*p = '_';
	return name;
}

/* A node whose VM leaves with its job stays usable for all jobs. */
static bool stays_there(struct vs_core *c, const char *node)
{
	const struct vs_node *n = vs_node_named(c, node);

	return n && !vs_vmotion_moves(&n->vmotion);
}

static char *nodes_of(struct vs_core *c, const struct vs_host *h)
{
	const struct vs_host_claims *holds = vs_ledger_host_claims(&c->ledger,
								   h->moid);
	struct vs_buf b = VS_BUF_INIT(NODES_MAX);
	const struct vs_claim *hold;
	const struct vs_vm *vm;

	if (holds)
		LIST_FOREACH(hold, &holds->list, on_host)
			if (stays_there(c, hold->node))
				vs_buf_printf(&b, "%s%s", b.len ? "," : "",
					      hold->node);
	LIST_FOREACH(vm, &h->vms, on_host)
		if (asleep(c, vm))
			vs_buf_printf(&b, "%s%s", b.len ? "," : "", vm->name);
	return b.data;
}

/* Why; when is its end. Words that change would be a new record of it in
 * Slurm's accounting each time. */
static char *comment_of(const struct vs_host *h)
{
	const struct vs_maintenance_window *w =
		vs_maintenance_window_get(h->moid);
	char why[256];

	if (w)
		snprintf(why, sizeof(why), "host %.100s: %.140s", h->name,
			 w->why);
	else
		vs_host_cordon_reason(h, why, sizeof(why));
	return vs_asprintf("slurm-vsphere: %s", why);
}

/* Of what is planned, others once a minute: VMs come and go until then. The
 * first is told at once, and when the last is gone. */
static char *nodes_at(struct vs_core *c, const struct vs_host *h,
		      struct vs_draining_hosts *l, bool planned, int64_t now)
{
	char *nodes = nodes_of(c, h);

	if (!planned || !nodes || !l->nodes || now - l->nodes_at >= LEAST_S) {
		free(l->nodes);
		l->nodes = nodes;
		l->nodes_at = now;
	} else {
		free(nodes);
	}
	return l->nodes ? vs_strdup(l->nodes) : NULL;
}

static void row_make(const struct vs_host *h, const struct vs_draining_hosts *l,
		     const struct vs_remaining_vms *r, char *nodes_take,
		     struct vs_slurm_resv *row)
{
	int64_t now = vs_wall_ms() / 1000;
	bool planned = vs_maintenance_window_get(h->moid) != NULL;

	*row = (struct vs_slurm_resv) {
		.name = resv_name(h), .nodes = nodes_take,
		.comment = comment_of(h), .start = l->start,
		.end = planned || r->safe_at == VS_TIME_NEVER ?
			l->start + YEAR_S : r->safe_at,
	};
	/* Overdue: any moment, but it isn't written again for each. */
	if (row->end < now + LEAST_S)
		row->end = ((now + LEAST_S) / OVERDUE_S + 1) * OVERDUE_S;
	if (row->end <= row->start)
		row->end = row->start + LEAST_S;
}

/* Makes a row for each host that may have a managed VM on it, by what is known. */
static size_t rows_make(struct vs_core *c, struct vs_slurm_resv **rows)
{
	int64_t now = vs_wall_ms() / 1000;
	struct vs_draining_hosts *l, *tmp;
	size_t n = 0, cap = 0;

	*rows = NULL;
	for (l = reservations.leaving; l; l = l->hh.next)
		l->there = false;
	for (const struct vs_host *h = c->inv.hosts; h && !c->observe;
	     h = h->hh.next) {
		const struct vs_maintenance_window *w =
			vs_maintenance_window_get(h->moid);
		struct vs_remaining_vms r;
		char *nodes;

		if (!w && !vs_host_is_cordoned(h))
			continue;
		l = leaving(h->moid, w ? w->at : now, now);
		vs_host_remaining_vms(c, h, &r);
		tell(h, l, &r);
		nodes = nodes_at(c, h, l, w && w->at > now, now);
		if (!nodes)
			continue;
		VS_GROW(*rows, cap, n + 1);
		row_make(h, l, &r, nodes, &(*rows)[n++]);
	}
	HASH_ITER(hh, reservations.leaving, l, tmp)
		if (!l->there)
			drop(l);
	return n;
}

bool vs_leaving_due(struct vs_core *c, int64_t now_ms,
		    struct vs_slurm_resv **rows, size_t *n)
{
	vs_assert_locked();
	if (!c->ready || now_ms - reservations.said_ms < SAY_MS)
		return false;
	reservations.said_ms = now_ms;
	*n = rows_make(c, rows);
	if (!*n && reservations.silent) {
		free(*rows);
		return false;
	}
	reservations.silent = !*n;
	return true;
}
