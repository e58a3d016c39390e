/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers for the job_submit plugin: of what kind nodes are, and how many VMs of
 * these kinds the hosts could ever hold.
 *
 * Rule: only what is certain counts against a job. Static capacity, hosts that
 * are disconnected or in maintenance included; what is not read yet, or barred
 * for a reason that is to be mended, holds as many as are wanted. The lock is
 * held.
 */
#include <stdlib.h>
#include "engine/core_i.h"
#include "util/mem.h"

static bool alien(const struct vs_core *c, int id)
{
	return id < 0 || (size_t)id >= c->nnodes;
}

size_t vs_submit_capacity(struct vs_core *c, const int *ids, size_t n,
			  size_t want, bool more)
{
	VS_FREE size_t *have = vs_calloc(c->nprofiles + 1, sizeof(*have));
	struct vs_place_env env;
	size_t sum = 0;

	if (!c->ready)
		return want;
	for (size_t i = 0; i < n; i++)
		if (!alien(c, ids[i]))
			have[c->nodes[ids[i]].profile - c->profiles]++;
	vs_env_fill(c, &env);
	for (size_t p = 0; p < c->nprofiles && sum < want; p++) {
		const struct vs_profile *prof = &c->profiles[p];
		struct vs_place_node like = {
			.node = "", .profile = prof,
			.net = &c->nets[prof->adapter - c->adapters],
		};
		size_t limit = want - sum;

		if (!have[p])
			continue;
		if (!more && have[p] < limit)
			limit = have[p];
		sum += c->now[p].barred[0] ? limit :
			vs_place_capacity(&env, &like, limit);
	}
	return sum;
}

void vs_submit_kinds(const struct vs_core *c, const int *ids, size_t n,
		     struct vs_kind *out, char ***names)
{
	size_t count = c->conf ? c->conf->nadapters : 0;

	*names = vs_calloc(count + 1, sizeof(**names));
	for (size_t a = 0; a < count; a++)
		(*names)[a] = vs_strdup(c->adapters[a].name);
	for (size_t i = 0; i < n; i++) {
		const struct vs_profile *prof;

		out[i] = (struct vs_kind) { .adapter = -1 };
		if (alien(c, ids[i]))
			continue;
		prof = c->nodes[ids[i]].profile;
		out[i].adapter = (int)(prof->adapter - c->adapters);
		out[i].like = (int)(prof - c->profiles);
		out[i].alone = prof->retention == VS_RETAIN_DESTROY;
		if (vs_adapter_kinds[prof->adapter->type].takes_vf)
			out[i].cards = vs_adapter_cards(prof->adapter);
	}
}
