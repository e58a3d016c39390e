/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers for the job_submit plugin: of what kind nodes are, and how many VMs of
 * these kinds the hosts could ever hold.
 *
 * Rule: only what is certain counts against a job. Static capacity, hosts that
 * are disconnected or in maintenance included; what is not read yet, or blocked
 * for a reason that an administrator can fix, holds as many as are wanted. The
 * lock is held.
 */
#include <stdlib.h>
#include "engine/allocation/allocation.h"
#include "engine/state/state.h"
#include "util/mem.h"

static bool alien(const struct vs_core *c, int id)
{
	return id < 0 || (size_t)id >= c->nnodes;
}

#define CAPACITY_MAX ((size_t)1 << 20)	/* more nodes than Slurm can have */

/*
 * Of VMs of this profile, from hosts and networks alone: kept until one of them
 * changes, because each submission asks for it and the answer needs all hosts.
 */
static size_t capacity_of(struct vs_core *c, struct vs_place_env *env, size_t p)
{
	static struct kept { uint64_t hosts; uint32_t facts; size_t most; } *kept;
	static size_t nkept;
	const struct vs_profile *prof = &c->profiles[p];
	struct vs_place_node like = {
		.node = "", .profile = prof,
		.net = &c->nets[prof->adapter - c->adapters],
	};

	for (; nkept <= p; nkept++) {
		kept = vs_realloc(kept, nkept + 1, sizeof(*kept));
		kept[nkept] = (struct kept) { 0 };
	}
	if (kept[p].facts == c->facts_epoch &&
	    kept[p].hosts == c->inv.hosts_itself)
		return kept[p].most;
	if (!env->inv)
		vs_env_fill(c, env);
	kept[p] = (struct kept) {
		.hosts = c->inv.hosts_itself, .facts = c->facts_epoch,
		.most = vs_place_capacity(env, &like, CAPACITY_MAX),
	};
	return kept[p].most;
}

size_t vs_submit_capacity(struct vs_core *c, const int *ids, size_t n,
			  size_t want, bool more)
{
	VS_FREE size_t *have = vs_calloc(c->nprofiles + 1, sizeof(*have));
	struct vs_place_env env = { 0 };
	size_t sum = 0;

	vs_assert_locked();
	if (!c->ready)
		return want;
	for (size_t i = 0; i < n; i++)
		if (!alien(c, ids[i]))
			have[c->nodes[ids[i]].profile - c->profiles]++;
	for (size_t p = 0; p < c->nprofiles && sum < want; p++) {
		size_t limit = want - sum, most;

		if (!have[p])
			continue;
		if (!more && have[p] < limit)
			limit = have[p];
		most = c->now[p].barred[0] ? limit : capacity_of(c, &env, p);
		sum += most < limit ? most : limit;
	}
	return sum;
}

void vs_submit_kinds(const struct vs_core *c, const int *ids, size_t n,
		     struct vs_vm_type *out, char ***names)
{
	size_t count = c->conf ? c->conf->nadapters : 0;

	vs_assert_locked();
	*names = vs_calloc(count + 1, sizeof(**names));
	for (size_t a = 0; a < count; a++)
		(*names)[a] = vs_strdup(c->adapters[a].name);
	for (size_t i = 0; i < n; i++) {
		const struct vs_profile *prof;

		out[i] = (struct vs_vm_type) { .adapter = -1 };
		if (alien(c, ids[i]))
			continue;
		prof = c->nodes[ids[i]].profile;
		out[i].adapter = (int)(prof->adapter - c->adapters);
		out[i].like = (int)(prof - c->profiles);
		out[i].alone = prof->retention == VS_RETAIN_DESTROY;
		out[i].vfs = vs_adapter_takes(prof->adapter);
	}
}
