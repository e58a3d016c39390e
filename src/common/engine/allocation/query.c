/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers for the select plugin, from memory: how many of these nodes could
 * be served together now, all of them, ever. The lock is held.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/hosts/hosts.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "util/mem.h"
#include "util/name.h"

const char *vs_query_blocked(const struct vs_core *c)
{
	vs_assert_locked();
	if (c->observe)
		return "Mode=observe: nothing is changed in vCenter";
	if (vs_pause_get())
		return vs_pause_get()->text;
	if (c->blocked[0])
		return c->blocked;
	if (c->unserved[0])
		return c->unserved;
	if (c->vc_state[0])
		return c->vc_state;
	if (!c->ready)
		return "the inventory of vCenter is being read";
	return NULL;
}

static bool needs_new_place(struct vs_core *c, const struct vs_node *n)
{
	return !vs_ledger_get(&c->ledger, n->name);
}

struct used { size_t all, fresh; };	/* nodes of a profile */

/* One more of the node's profile? A VM that exists needs no disks. */
static bool use_one(const struct vs_core *c, const struct vs_node_summary *k,
		    struct used *u)
{
	const struct vs_profile_capacity *now = &c->now[k->profile];

	if (u->all >= now->room[1] ||
	    (!k->exists && u->fresh >= now->room[0]))
		return false;
	u->all++;
	u->fresh += !k->exists;
	return true;
}

/* VFs of an adapter that are free, however large the VMs that want them. */
static size_t free_vfs(struct vs_core *c, size_t a)
{
	const struct vs_free_capacity *sums = vs_free_capacity_get(c);
	size_t n = 0;

	for (const struct vs_host *h = c->inv.hosts; h; h = h->hh.next) {
		const struct vs_host_sum *sum = &sums->hosts[h->index];

		if (!vs_host_usable(h) || sum->unknown)
			continue;
		for (int i = 0; i < h->npfs; i++)
			if (sum->pf[i].free > 0 &&
			    vs_pf_reaches(&c->adapters[a], &c->nets[a],
					  &h->pfs[i]))
				n += (size_t)sum->pf[i].free;
	}
	return n;
}

/* Each size of VM has its own room: by how many they want the same VFs. */
static size_t counted_twice(struct vs_core *c, const struct used *used)
{
	size_t over = 0;

	for (size_t a = 0; a < c->conf->nadapters; a++) {
		size_t sum = 0, sizes = 0, vfs;

		for (size_t p = 0; p < c->nprofiles; p++) {
			if (c->profiles[p].adapter != &c->adapters[a] ||
			    !used[p].all)
				continue;
			sum += used[p].all *
				(size_t)vs_adapter_vfs(&c->adapters[a]);
			sizes++;
		}
		if (sizes < 2 ||
		    !vs_adapter_vfs(&c->adapters[a]))
			continue;
		vfs = free_vfs(c, a);
		/* nodes, of which each takes as many */
		if (sum > vfs)
			over += (sum - vfs - 1) /
				(size_t)vs_adapter_vfs(&c->adapters[a]) + 1;
	}
	return over;
}

/* lacks: one that found no place, NULL: there was none. */
static void room_why(struct vs_core *c, const struct vs_node *lacks, char *why,
		     size_t size)
{
	const char *barred = lacks ? vs_node_blocked(c, lacks) : NULL;
	const char *shared = !lacks ? "" : barred ? barred :
		vs_capacity_get(c, lacks)->why[lacks->kept->exists];

	snprintf(why, size, "%s%s", shared[0] ? ": " : "",
		 shared[0] ? shared : lacks ? vs_exclusion_note(c) : "");
}

static bool alien(const struct vs_core *c, int id)
{
	return id < 0 || (size_t)id >= c->nnodes;
}

/* As vs_node_avail(), from what is kept: asked for all nodes at once. */
static enum vs_avail avail_kept(struct vs_core *c, int id)
{
	const struct vs_node_summary *k = &c->kept[id];
	const struct vs_profile_capacity *now;

	if (vs_maintenance_window_blocks_node(c, &c->nodes[id]))
		return VS_AVAIL_NONE;
	if (k->epoch != c->facts_epoch)
		return vs_node_avail(c, &c->nodes[id]);
	if (!k->place)
		return k->avail;
	now = &c->now[k->profile];
	if (!vs_question() || now->question != vs_question())
		vs_capacity_get(c, &c->nodes[id]);
	return now->room[k->exists] ? k->avail : VS_AVAIL_NONE;
}

/* It needs no place, and what is kept of it says all: with most nodes it is so. */
static inline bool serves_itself(const struct vs_core *c, int id)
{
	const struct vs_node_summary *k = &c->kept[id];

	return !alien(c, id) && k->epoch == c->facts_epoch && !k->place &&
		!k->barred;
}

static void none_avail(const struct vs_core *c, const int *ids, size_t n,
		       enum vs_avail *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = alien(c, ids[i]) ? VS_AVAIL_FOREIGN : VS_AVAIL_NONE;
}

size_t vs_query_capacity(struct vs_core *c, const int *ids, size_t n,
			 enum vs_avail *out, char *why, size_t why_size)
{
	VS_FREE struct used *used = vs_calloc(c->nprofiles + 1, sizeof(*used));
	const char *blocked = vs_query_blocked(c);
	const struct vs_node *lacks = NULL;
	size_t room = 0;
	bool as_kept;

	vs_assert_locked();
	if (blocked) {
		if (why)
			vs_strlcpy(why, blocked, why_size);
		if (out)
			none_avail(c, ids, n, out);
		return 0;
	}
	vs_query_begin();
	as_kept = !vs_windows_barring();
	for (size_t i = 0; i < n; i++) {
		enum vs_avail avail = VS_AVAIL_FOREIGN;
		const struct vs_node_summary *k;
		bool served;

		if (as_kept && serves_itself(c, ids[i])) {
			avail = c->kept[ids[i]].avail;
			if (out)
				out[i] = avail;
			room += avail != VS_AVAIL_NONE;
			continue;
		}
		if (!alien(c, ids[i]))
			avail = avail_kept(c, ids[i]);
		if (out)
			out[i] = avail;
		if (avail == VS_AVAIL_FOREIGN) {
			room++;
			continue;
		}
		k = &c->kept[ids[i]];
		served = avail != VS_AVAIL_NONE;
		if (k->place &&
		    (!served || !use_one(c, k, &used[k->profile]))) {
			lacks = &c->nodes[ids[i]];
			continue;
		}
		if (k->barred && !lacks)
			lacks = &c->nodes[ids[i]];
		room += served;
	}
	vs_query_end();
	room -= counted_twice(c, used);
	if (why)
		room_why(c, lacks, why, why_size);
	return room;
}

/* The longest prefix of `list` that can be placed together. */
static size_t prefix_that_fits(const struct vs_place_env *env,
			       struct vs_place_node *list, size_t n,
			       struct vs_err *err)
{
	size_t lo = 0, hi = n;

	if (!n || !vs_place(env, list, n, err))
		return n;
	while (lo + 1 < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (vs_place(env, list, mid, NULL))
			hi = mid;
		else
			lo = mid;
	}
	return lo;
}

/* Why this node, by itself, has no place now. */
static void why_not(struct vs_core *c, const struct vs_node *n,
		    struct vs_err *err)
{
	struct vs_place_env env;
	struct vs_place_node one;
	const char *lacks = vs_clone_blocked(c, n);
	const char *barred = vs_node_blocked(c, n);
	struct vs_err why = { 0 };

	vs_env_fill(c, &env);
	vs_place_node_fill(c, n, &one);
	if (barred)
		vs_err_set(err, VS_E_SHORTAGE, "node %s: %s", n->name, barred);
	else if (lacks)
		vs_err_set(err, VS_E_SHORTAGE, "%s", lacks);
	else if (needs_new_place(c, n) && vs_place(&env, &one, 1, &why))
		vs_err_set(err, VS_E_SHORTAGE, "node %s: %s", n->name,
			   why.text);
	else
		vs_err_set(err, VS_E_SHORTAGE, "node %s cannot get a VM now",
			   n->name);
}

static bool any_full(const struct vs_place_env *env)
{
	for (int i = 0; i < env->inv->nhosts; i++)
		if (env->ops[i] >= env->ops_max)
			return true;
	return false;
}

/* How many of these, which all need a place, can be placed together. One kind
 * of VM for which there is room always can. */
static size_t fit_together(struct vs_core *c, const int *ids,
			   const size_t *at, size_t n, struct vs_err *err)
{
	VS_FREE struct vs_place_node *list = NULL;
	struct vs_place_env env;
	bool alike = true;

	if (!n)
		return 0;
	vs_env_fill(c, &env);
	vs_env_budget(c, &env);
	for (size_t i = 1; i < n && alike; i++)
		alike = c->kept[ids[at[i]]].profile ==
			c->kept[ids[at[0]]].profile;
	if (alike && !any_full(&env) &&
	    n <= vs_capacity_get(c, &c->nodes[ids[at[0]]])->room[0])
		return n;
	list = vs_calloc(n, sizeof(*list));
	for (size_t i = 0; i < n; i++)
		vs_place_node_fill(c, &c->nodes[ids[at[i]]], &list[i]);
	return prefix_that_fits(&env, list, n, err);
}

/* at[fits] lacks room, and so do all of its kind after it: they are surplus. The
 * others may be well. Returns how many are left. */
static size_t kind_goes(struct vs_core *c, const int *ids, size_t *at,
			size_t fits, size_t n, size_t *surplus,
			size_t *nsurplus)
{
	int kind = c->kept[ids[at[fits]]].profile;
	size_t kept = fits;

	for (size_t i = fits; i < n; i++) {
		if (c->kept[ids[at[i]]].profile == kind)
			surplus[(*nsurplus)++] = at[i];
		else
			at[kept++] = at[i];
	}
	return kept;
}

int vs_query_check(struct vs_core *c, const int *ids, size_t n, size_t *surplus,
		   size_t *nsurplus, struct vs_err *err)
{
	VS_FREE size_t *at = vs_calloc(n + 1, sizeof(*at));
	const char *blocked = vs_query_blocked(c);
	const struct vs_node *none = NULL;
	size_t count = 0, fits;

	vs_assert_locked();
	*nsurplus = 0;
	for (size_t i = 0; i < n; i++) {
		struct vs_node *node;

		if (alien(c, ids[i]))
			continue;
		node = &c->nodes[ids[i]];
		if (blocked ||
		    avail_kept(c, node->id) == VS_AVAIL_NONE) {
			surplus[(*nsurplus)++] = i;
			none = node;
		} else if (needs_new_place(c, node)) {
			at[count++] = i;
		}
	}
	if (blocked)
		return vs_err_set(err, VS_E_SHORTAGE, "%s", blocked);
	fits = fit_together(c, ids, at, count, err);
	if (fits == count && none)
		why_not(c, none, err);
	while (fits < count) {
		count = kind_goes(c, ids, at, fits, count, surplus, nsurplus);
		fits = fit_together(c, ids, at, count, NULL);
	}
	return *nsurplus ? -1 : 0;
}

void vs_query_needs(const struct vs_core *c, const int *ids, size_t n,
		    size_t *need)
{
	vs_assert_locked();
	memset(need, 0, c->nprofiles * sizeof(*need));
	for (size_t i = 0; i < n && c->ready; i++)
		if (!alien(c, ids[i]))
			need[c->kept[ids[i]].profile]++;
	/* what bars it is to be corrected */
	for (size_t p = 0; p < c->nprofiles; p++)
		if (c->now[p].barred[0])
			need[p] = 0;
}

bool vs_query_fits(const struct vs_place_env *env,
		   const struct vs_place_tables *t, const size_t *need,
		   struct vs_err *err)
{
	for (size_t p = 0; p < t->nprofiles; p++) {
		const struct vs_profile *prof = &t->profiles[p];
		struct vs_place_node like = {
			.node = "", .profile = prof,
			.net = &t->nets[prof->adapter - t->adapters],
		};
		size_t have = need[p] ? vs_place_capacity(env, &like, need[p]) :
			0;

		if (have < need[p]) {
			vs_err_set(err, VS_E_REQUEST,
				"%zu node%s of %s %s requested, the hosts have capacity for %zu",
				need[p], vs_plural(need[p]),
				prof->adapter->name,
				need[p] == 1 ? "is" : "are", have);
			return false;
		}
	}
	return true;
}

bool vs_query_ever(struct vs_core *c, const int *ids, size_t n,
		   struct vs_err *err)
{
	VS_FREE size_t *need = vs_calloc(c->nprofiles + 1, sizeof(*need));
	const struct vs_place_tables tables = vs_tables_get(c);
	struct vs_place_env env;

	vs_assert_locked();
	vs_query_needs(c, ids, n, need);
	if (!c->ready)
		return true;
	vs_env_fill(c, &env);
	return vs_query_fits(&env, &tables, need, err);
}

