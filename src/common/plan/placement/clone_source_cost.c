/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parents of instant clones in placement: where none stands, the first clone
 * brings one along, as large as itself and on for as long as clones are wanted.
 * A VM that exists brings none: it needs no parent any more.
 *
 * Rules: of the host's CPU and memory alone; pools count it when it is made. By what
 * is free of a host that is up and empty (ever) each has one.
 */
#include "plan/placement/placement_i.h"

static bool has_one(const struct vs_work *w, size_t cls, size_t site,
		    size_t but)
{
	for (size_t i = w->sites[site].first; i != VS_NO_NODE; i = w->next[i])
		if (i != but && w->class_of[i] == cls)
			return true;
	return false;
}

int vs_fit_clone_sources(const struct vs_work *w, size_t cls, size_t site,
			 size_t but)
{
	const struct vs_class *c = &w->classes[cls];

	if (c->profile->clone != VS_CLONE_INSTANT || c->exists ||
	    !(w->ever || (c->bare && c->bare[w->sites[site].brief->index])))
		return 0;
	return !has_one(w, cls, site, but);
}

const bool *vs_clone_source_absent(const struct vs_place_env *env,
				   const struct vs_place_node *n)
{
	if (!env->bare || n->profile->clone != VS_CLONE_INSTANT || n->exists)
		return NULL;
	return env->bare + (size_t)(n->profile - env->profiles) *
		(size_t)env->inv->nhosts;
}

bool vs_clone_source_same(const struct vs_class *c,
			  const struct vs_place_node *n)
{
	if (c->profile->clone != VS_CLONE_INSTANT &&
	    n->profile->clone != VS_CLONE_INSTANT)
		return true;
	return c->profile == n->profile && c->exists == n->exists;
}
