/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job that was refused waits for, and until when, in words that people
 * read in squeue: times as squeue prints them, nothing of whose jobs stand in
 * its way.
 *
 * Rules: what Slurm has planned for it (squeue --start) comes before our own
 * estimate; a time that was said stays unless it moves by a minute, and moves
 * no more than twice a minute. Counts and time are of one moment: the counts come
 * with Slurm's test of the job, and a pass after it works out the time. Where the
 * capacity of its nodes has changed in between, the time of before stays, if these
 * counts had one, until the next test. The lock is held.
 */
#include <stdio.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/forecast/forecast.h"
#include "engine/forecast/forecast_i.h"
#include "engine/hosts/hosts.h"
#include "engine/state/state.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/time.h"

#define EXPECT_MS 30000
#define MOVED_S 60

/* `need` of its nodes, those first that hold a place. */
static size_t choose(struct vs_core *c, const struct vs_pending *r, int *ids)
{
	size_t n = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < r->n && n < r->need; i++) {
			if (r->ids[i] < 0 || (size_t)r->ids[i] >= c->nnodes)
				continue;
			if ((vs_ledger_get(&c->ledger,
					   c->nodes[r->ids[i]].name) == NULL) ==
			    (pass == 1))
				ids[n++] = r->ids[i];
		}
	return n;
}

static int64_t estimate(struct vs_core *c, const struct vs_pending *r,
			int64_t now)
{
	const struct vs_plan *p = vs_timeline_job_plan(&vs_forecast.timeline,
						       r->job);
	struct vs_requesting_job a = {
		.job = r->job, .rank = r->rank, .now = now, .lasts = r->lasts,
	};
	VS_FREE int *ids = NULL;
	size_t n;

	if (r->planned > now)
		return r->planned;
	if (p && p->start > now)
		return p->start;
	ids = vs_calloc(r->n + 1, sizeof(*ids));
	n = choose(c, r, ids);
	return n ? vs_start_time(c, &a, ids, n, now) : 0;
}

bool vs_estimate_is_due(const struct vs_pending *r, int64_t now_ms)
{
	return !r->expected_ms || now_ms - r->expected_ms >= EXPECT_MS;
}

/* How many of its nodes there is capacity for, while it lasts. */
static size_t capacity_of(struct vs_core *c, const struct vs_pending *r)
{
	int64_t was = vs_until_set(vs_wall_ms() / 1000 + r->lasts);
	size_t n = vs_query_capacity(c, r->ids, r->n, NULL, NULL, 0);

	vs_until_set(was);
	return n;
}

void vs_estimate_tested(struct vs_core *c, struct vs_pending *r)
{
	vs_assert_locked();
	if (r->lacks != VS_PENDING_NODES)
		r->capacity = capacity_of(c, r);
}

void vs_estimate_update(struct vs_core *c, struct vs_pending *r, int64_t now_ms)
{
	int64_t now = vs_wall_ms() / 1000, at;

	if (r->lacks != VS_PENDING_NODES && capacity_of(c, r) != r->capacity) {
		r->expected_ms = now_ms - EXPECT_MS;	/* with its next test */
		return;
	}
	r->expected_ms = now_ms;
	at = vs_query_blocked(c) ? 0 : estimate(c, r, now);
	if (r->expected <= now || at - r->expected >= MOVED_S ||
	    r->expected - at >= MOVED_S)
		r->expected = at;
}

int64_t vs_estimate_start(const struct vs_pending *r)
{
	return r->expected - vs_wall_ms() / 1000 < VS_START_UNKNOWN / 12 ?
		r->expected : 0;
}

/* Of all of them; NULL: they have several. */
static const struct vs_adapter *only_adapter(struct vs_core *c, const int *ids,
					     size_t n)
{
	const struct vs_adapter *a = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct vs_node *node = vs_node_at(c, ids[i]);

		if (node && a && node->profile->adapter != a)
			return NULL;
		if (node)
			a = node->profile->adapter;
	}
	return a;
}

void vs_need_text(struct vs_core *c, const int *ids, size_t n, size_t need,
		  char *out, size_t size)
{
	const struct vs_adapter *a = only_adapter(c, ids, n);
	bool vf = a && vs_adapter_takes(a);
	bool own = a && vs_adapter_vfs(a);
	size_t all = own ? need * (size_t)vs_adapter_total(a) : need;
	size_t more = vf ? need * (size_t)vs_adapter_additional(a) : 0;
	char nodes[40] = "", beside[VS_NAME_LEN + 40] = "";

	if (more)
		snprintf(beside, sizeof(beside), " with %zu %s %s%s", more,
			 a->with->name, vs_adapter_type_info(a->with)->unit,
			 vs_plural(more));
	if (vf && all + more > need)
		snprintf(nodes, sizeof(nodes), " on %zu node%s", need,
			 vs_plural(need));
	snprintf(out, size, "needs %zu %s%s%s%s%s%s", all,
		 a ? a->name : "node", a ? " " : "",
		 !a ? "" : own ? vs_adapter_type_info(a)->unit : "VM",
		 vs_plural(all), beside, nodes);
}

void vs_shortage_text(struct vs_core *c, const int *ids, size_t n, size_t need,
		      size_t have, const char *why, char *out, size_t size)
{
	const struct vs_adapter *a = only_adapter(c, ids, n);
	char needs[VS_NAME_LEN + 80];

	vs_assert_locked();
	if (why[0] && !strchr(",:;", why[0])) {
		vs_strlcpy(out, why, size);
		return;
	}
	vs_need_text(c, ids, n, need, needs, sizeof(needs));
	/* VFs are called free where nothing else keeps VMs from them. */
	if (!a || vs_adapter_total(a) > 1 || why[0] == ':')
		snprintf(out, size, "%s, capacity for %zu VM%s%s", needs, have,
			 vs_plural(have), why);
	else
		snprintf(out, size, "%s, %zu free%s", needs, have, why);
}

void vs_estimate_text(const struct vs_pending *r, char *out, size_t size)
{
	int64_t now = vs_wall_ms() / 1000;
	char at[32];

	vs_strlcpy(out, r->why, size);
	if (r->expected <= now)
		return;
	vs_clock_text(r->expected, at, sizeof(at));
	/* a cut reason is worth more than a cut time */
	if (r->expected - now >= VS_START_UNKNOWN / 12)
		snprintf(out, size, "%.*s; start time unknown", (int)size - 64,
			 r->why);
	else
		snprintf(out, size, "%.*s; start expected %s", (int)size - 64,
			 r->why, at);
}

void vs_estimate_forget(struct vs_pending *r)
{
	r->expected = r->expected_ms = 0;
}
