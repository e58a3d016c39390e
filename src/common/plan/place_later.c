/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement in a future where some VMs are gone: for when a job that waits may
 * begin, not for where its VMs will be. The ledger is not touched.
 *
 * Rules: one host at a time is looked at, and nothing is made ready for the
 * others. Never counts what hosts share.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plan/place_i.h"
#include "util/mem.h"

struct vs_later {
	struct vs_place_env env;
	struct vs_work w;		/* of one class and one site */
	struct vs_class class;
	const struct vs_fit *fits;
	struct vs_site site;
	struct vs_host_sum sum;		/* the site's own */
	size_t room;			/* there, as things stand */
};

/* What vs_fit_room() reads of the class beside its fits. */
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
		.env = &l->env, .sums = env->sums, .classes = &l->class,
		.nclasses = 1, .fits = &l->fits, .sites = &l->site,
		.nsites = 1,
	};
	vs_class_fill(&l->class, like);
	l->class.bare = vs_parent_bare(env, like);
	vs_fits_init(&l->w);
	*key = needs_key(vs_fits_key(&l->w, &l->class), &l->class,
			 (size_t)env->inv->nhosts);
	return l;
}

static size_t room_now(const struct vs_later *l)
{
	return vs_fit_room(&l->w, 0, 0, VS_ROOM_MAX);
}

void vs_later_on(struct vs_later *l, const struct vs_host *h)
{
	vs_site_fill(&l->w, l->w.sums->name_at[h->index], &l->site);
	l->sum = *l->site.sum;
	l->site.own = &l->sum;
	l->site.sum = &l->sum;
	l->room = room_now(l);
}

size_t vs_later_gone(struct vs_later *l, const struct vs_hold *hold)
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
