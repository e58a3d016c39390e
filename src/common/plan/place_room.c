/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement's questions without a place for an answer: how many more VMs of a
 * kind there is room for, now or ever, and on which hosts.
 */
#include "plan/place_i.h"
#include "util/mem.h"

#define WHY_MAX 512

static void pool_say(const struct vs_work *w, const struct vs_pool_short *s,
		     struct vs_buf *why)
{
	VS_FREE bool *said = vs_calloc(w->env->inv->npools, sizeof(*said));

	vs_pool_say(w, &w->classes[0], s, said, why);
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
		if (vs_fit_of(&w, 0, i)->fixed == VS_REFUSE_UNKNOWN)
			sum = limit;
	}
	if (!sum)
		sum = vs_class_room(&w, 0, limit, &short_of);
	need = vs_store_need(&w);
	many = vs_store_holds(&w, need, sum);
	if (many < sum)
		vs_store_say(&w, 1, need, why);
	else if (short_of.why)
		pool_say(&w, &short_of, why);
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
		if (!vs_fit_now(&w, 0, i))
			out[n++] = w.sites[i].host;
	}
	vs_work_free(&w);
	return n;
}

size_t vs_place_room(const struct vs_place_env *env,
		     const struct vs_place_node *like, size_t limit)
{
	char why[8];

	return vs_place_room_why(env, like, limit, why, sizeof(why));
}

size_t vs_place_room_why(const struct vs_place_env *env,
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
