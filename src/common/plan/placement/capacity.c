/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement's questions without a place for an answer: how many more VMs of a
 * kind there is room for, now or ever, and on which hosts; and how many there
 * will be room for on a host when some of its VMs are gone, for when a job that
 * waits may begin.
 *
 * Rules: the ledger is not touched. For a future one host at a time is looked
 * at, and nothing is made ready for the others; what hosts share is not counted
 * in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plan/placement/placement_i.h"
#include "util/mem.h"
#include "util/name.h"

#define WHY_MAX 512

static void pool_say(const struct vs_work *w, const struct vs_pool_short *s,
		     struct vs_buf *why)
{
	VS_FREE bool *said = vs_calloc(w->env->inv->npools, sizeof(*said));

	vs_pool_explain(w, &w->classes[0], s, said, why);
}

/* The hosts themselves lack CPU or memory, or NUMA nodes of that size, and no
 * other thing that comes and goes. */
static void hosts_say(const struct vs_work *w, struct vs_buf *why)
{
	size_t n[VS_REFUSALS] = { 0 };

	for (size_t i = 0; i < w->nsites; i++)
		n[vs_fit_check(w, 0, i)]++;
	if (n[VS_REFUSE_VF] || n[VS_REFUSE_DEVICE] || n[VS_REFUSE_VFS] ||
	    n[VS_REFUSE_UNKNOWN] || n[VS_REFUSE_EXCLUDED] ||
	    n[VS_REFUSE_TRIAL] || n[VS_REFUSE_BUSY])
		return;
	for (enum vs_refusal r = 0; r < VS_REFUSALS; r++) {
		if (!n[r] || (r != VS_REFUSE_CPU && r != VS_REFUSE_MEMORY &&
			      r != VS_REFUSE_NUMA))
			continue;
		vs_buf_printf(why, "%s%s on %zu host%s", why->len ? ", " : "",
			      vs_refusal_text(r), n[r], vs_plural(n[r]));
	}
}

static size_t rooms(const struct vs_place_env *env,
		    const struct vs_place_node *like, size_t limit, bool ever,
		    struct vs_buf *why)
{
	struct vs_place_node one = *like;
	struct vs_pool_short short_of = { 0 };
	struct vs_work w;
	size_t sum = 0, many;
	int64_t need;

	vs_work_init(&w, env, &one, 1, ever);
	for (size_t i = 0; i < w.nsites && ever; i++) {
		if (vs_fit_get(&w, 0, i)->fixed == VS_REFUSE_UNKNOWN)
			sum = limit;
	}
	if (!sum)
		sum = vs_class_capacity(&w, 0, limit, &short_of);
	need = vs_store_need(&w);
	many = vs_store_fits(&w, need, sum);
	if (many < sum)
		vs_store_explain(&w, 1, need, why);
	else if (short_of.why)
		pool_say(&w, &short_of, why);
	else if (!many && !ever)
		hosts_say(&w, why);
	vs_work_free(&w);
	return many;
}

size_t vs_place_hosts(const struct vs_place_env *env,
		      const struct vs_place_node *like,
		      const struct vs_host **out)
{
	struct vs_place_node one = *like;
	struct vs_work w;
	size_t n = 0;

	vs_work_init(&w, env, &one, 1, false);
	for (size_t i = 0; i < w.nsites; i++) {
		if (!vs_fit_check(&w, 0, i))
			out[n++] = w.sites[i].host;
	}
	vs_work_free(&w);
	return n;
}

size_t vs_place_count(const struct vs_place_env *env,
		      const struct vs_place_node *like, size_t limit,
		      char *why, size_t size)
{
	struct vs_buf b = VS_BUF_INIT(WHY_MAX);
	size_t room = rooms(env, like, limit, false, &b);

	vs_strlcpy(why, b.data ? b.data : "", size);
	vs_buf_free(&b);
	return room;
}

/* Nothing shared bounds it, so that there is nothing to say. */
size_t vs_place_capacity(const struct vs_place_env *env,
			 const struct vs_place_node *like, size_t limit)
{
	return rooms(env, like, limit, true, NULL);
}

/* ---- when VMs of a host are gone ---------------------------------------- */

struct vs_later {
	struct vs_place_env env;
	struct vs_work w;		/* of one class and one site */
	struct vs_class class;
	const struct vs_fit *fits;
	struct vs_site site;
	struct vs_host_sum sum;		/* the site's own */
	size_t room;			/* there, as things stand */
};

/* What vs_fit_capacity() reads of the class beside its fits. */
static uint64_t needs_key(uint64_t key, const struct vs_class *c,
			  size_t nhosts)
{
	char plain[96];

	snprintf(plain, sizeof(plain), "%lld %d %d %lld",
		 (long long)c->mem_mb, c->profile->vcpus,
		 c->profile->latency_high, (long long)c->profile->hw.cpu_mhz);
	if (c->bare)
		key = vs_hash(key, c->bare, nhosts * sizeof(*c->bare));
	return vs_hash_str(key, plain);
}

struct vs_later *vs_later_begin(const struct vs_place_env *env,
				const struct vs_place_node *like,
				uint64_t *key)
{
	struct vs_later *l = vs_calloc(1, sizeof(*l));

	l->env = *env;
	l->w = (struct vs_work) {
		.env = &l->env,
		.policy = vs_place_policy(env, like->profile), .sums = env->sums, .classes = &l->class,
		.nclasses = 1, .fits = &l->fits, .sites = &l->site,
		.nsites = 1,
	};
	vs_class_fill(&l->class, like);
	l->class.bare = vs_clone_source_absent(env, like);
	vs_fits_init(&l->w);
	*key = needs_key(vs_fits_key(&l->w, &l->class), &l->class,
			 (size_t)env->inv->nhosts);
	return l;
}

static size_t room_now(const struct vs_later *l)
{
	return vs_fit_capacity(&l->w, 0, 0, VS_CAPACITY_MAX);
}

void vs_later_on(struct vs_later *l, const struct vs_host *h)
{
	vs_site_fill(&l->w, l->w.sums->name_at[h->index], &l->site);
	l->sum = *l->site.sum;
	l->site.own = &l->sum;
	l->site.sum = &l->sum;
	l->room = room_now(l);
}

size_t vs_later_gone(struct vs_later *l, const struct vs_claim *hold)
{
	size_t was = l->room;

	vs_site_gone(&l->site, hold);
	l->room = room_now(l);
	return l->room > was ? l->room - was : 0;
}

void vs_later_end(struct vs_later *l)
{
	free(l);
}
