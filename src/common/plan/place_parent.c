/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parents of instant clones in placement: where none stands, the first clone
 * brings one along, as large as itself and on for as long as clones are wanted.
 *
 * Rules: of the host's CPU and memory alone; pools count it when it is made. By what
 * is free of a host that is up and empty (ever) each has one.
 */
#include "plan/place_i.h"

static bool has_one(const struct vs_work *w, size_t cls, size_t site,
		    size_t but)
{
	for (size_t i = w->sites[site].first; i != VS_NO_NODE; i = w->next[i])
		if (i != but && w->class_of[i] == cls)
			return true;
	return false;
}

int vs_fit_parents(const struct vs_work *w, size_t cls, size_t site,
		   size_t but)
{
	const struct vs_class *c = &w->classes[cls];

	if (c->profile->clone != VS_CLONE_INSTANT ||
	    !(w->ever || (c->bare && c->bare[w->sites[site].brief->index])))
		return 0;
	return !has_one(w, cls, site, but);
}

/* By their size they may be of one class: have they one parent? */
bool vs_parent_same(const struct vs_profile *a, const struct vs_profile *b)
{
	return a == b || (a->clone != VS_CLONE_INSTANT &&
			  b->clone != VS_CLONE_INSTANT);
}
