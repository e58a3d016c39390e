/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What placement leaves out for a while, and why: a host or PF that failed
 * lately, one that fails a check (site_checks.c), one that failed so often that its breaker is open, one that an
 * operator has drained, PFs that aren't what they were, and the cluster or
 * datastore that had no room.
 *
 * Rules: an entry is keyed by what it speaks of and by its cause, so that the
 * end of one cause never ends another; it keeps nothing that runs from
 * running. The lock is held throughout.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/state/core_i.h"
#include "util/mem.h"

static void changed(struct vs_core *c)
{
	c->avoid_gen++;
	c->hints_dirty = true;
}

void vs_avoid_put(struct vs_core *c, enum vs_avoid_cause cause,
		  const char *moid, const char *pf, int64_t until_ms,
		  const char *why)
{
	struct vs_avoid *a;

	vs_assert_locked();
	for (a = c->avoids; a; a = a->next)
		if (a->cause == cause && !strcmp(a->moid, moid) &&
		    !strcmp(a->pf, pf ? pf : ""))
			break;
	if (!a) {
		a = vs_calloc(1, sizeof(*a));
		a->cause = cause;
		vs_strlcpy(a->moid, moid, sizeof(a->moid));
		vs_strlcpy(a->pf, pf ? pf : "", sizeof(a->pf));
		a->next = c->avoids;
		c->avoids = a;
	}
	a->until_ms = until_ms;
	vs_strlcpy(a->why, why, sizeof(a->why));
	changed(c);
}

void vs_avoid_add(struct vs_core *c, const char *host, const char *pf,
		  int64_t until_ms, const char *why)
{
	vs_avoid_put(c, VS_AVOID_FAILED, host, pf, until_ms, why);
}

static struct vs_avoid **drop(struct vs_core *c, struct vs_avoid **link)
{
	struct vs_avoid *a = *link;

	*link = a->next;
	free(a);
	changed(c);
	c->vf_freed = true;
	return link;
}

int vs_avoid_end(struct vs_core *c, enum vs_avoid_cause cause,
		 const char *moid)
{
	struct vs_avoid **link = &c->avoids;
	int n = 0;

	vs_assert_locked();
	while (*link) {
		if ((*link)->cause == cause && !strcmp((*link)->moid, moid)) {
			link = drop(c, link);
			n++;
		} else {
			link = &(*link)->next;
		}
	}
	return n;
}

void vs_avoid_expire(struct vs_core *c, int64_t now_ms)
{
	struct vs_avoid **link = &c->avoids;

	vs_assert_locked();
	while (*link)
		link = now_ms < (*link)->until_ms ? &(*link)->next :
			drop(c, link);
}

const struct vs_avoid *vs_avoid_cause(const struct vs_core *c,
				      enum vs_avoid_cause cause,
				      const char *moid)
{
	vs_assert_locked();
	for (const struct vs_avoid *a = c->avoids; a; a = a->next)
		if (a->cause == cause && !strcmp(a->moid, moid))
			return a;
	return NULL;
}

void vs_avoid_requeue(struct vs_core *c, const char *host)
{
	vs_assert_locked();
	for (struct vs_avoid *a = c->avoids; a; a = a->next)
		if (a->cause == VS_AVOID_DRAINED && !strcmp(a->moid, host))
			a->requeue = true;
	changed(c);
	vs_nodes_touch(c);
}

/* The datastore is every host's, a cluster all of its own's. */
static bool speaks_of(const struct vs_core *c, const struct vs_avoid *a,
		      const char *host, const char *cluster)
{
	return !strcmp(a->moid, host) || !strcmp(a->moid, cluster) ||
	       (c->store[0] && !strcmp(a->moid, c->store));
}

bool vs_avoid_of(const struct vs_core *c, const struct vs_avoid *a,
		 const struct vs_host *h)
{
	vs_assert_locked();
	return speaks_of(c, a, h->moid, h->cluster);
}

bool vs_avoid_any(const struct vs_core *c, const struct vs_host *h)
{
	vs_assert_locked();
	for (const struct vs_avoid *a = c->avoids; a; a = a->next)
		if (vs_avoid_of(c, a, h))
			return true;
	return vs_checks_unfit(c, h->moid) != NULL;
}

const struct vs_avoid *vs_avoid_get(const struct vs_core *c, const char *host,
				    const char *pf)
{
	const struct vs_host *h = vs_host_get(&c->inv, host);

	for (const struct vs_avoid *a = c->avoids; a; a = a->next)
		if (speaks_of(c, a, host, h ? h->cluster : host) &&
		    (!a->pf[0] || (pf && !strcmp(a->pf, pf))))
			return a;
	for (const struct vs_avoid *a = vs_checks_unfit(c, host); a;
	     a = a->next)
		if (!a->pf[0] || (pf && !strcmp(a->pf, pf)))
			return a;
	return NULL;
}

static void bar(struct vs_bar *bar, const struct vs_avoid *a,
		const struct vs_host *h)
{
	if (!a->pf[0])
		bar->avoided = true;
	for (int i = 0; i < h->npfs; i++)
		if (!a->pf[0] || !strcmp(a->pf, h->pfs[i].pci))
			bar->pfs |= 1u << i;
}

/* From what is left out to its hosts: few entries, many hosts. */
const struct vs_bar *vs_avoid_bars(struct vs_core *c)
{
	size_t nhosts = (size_t)c->inv.nhosts;
	const struct vs_host *h;

	vs_assert_locked();
	VS_GROW(c->bars, c->cap_bars, nhosts + 1);
	memset(c->bars, 0, nhosts * sizeof(*c->bars));
	for (const struct vs_avoid *a = c->avoids; a; a = a->next) {
		h = vs_host_get(&c->inv, a->moid);
		if (h) {
			bar(&c->bars[h->index], a, h);
			continue;
		}
		for (h = c->inv.hosts; h; h = h->hh.next)
			if (vs_avoid_of(c, a, h))
				bar(&c->bars[h->index], a, h);
	}
	for (const struct vs_window *w = c->maintain.windows;
	     w && vs_window_bars(c, w); w = w->next) {
		h = vs_host_get(&c->inv, w->host);
		if (h)
			c->bars[h->index].avoided = true;
	}
	for (const struct vs_unfit *u = c->checks.unfit; u; u = u->hh.next) {
		h = vs_host_get(&c->inv, u->moid);
		for (const struct vs_avoid *a = u->avoids; h && a; a = a->next)
			bar(&c->bars[h->index], a, h);
	}
	vs_breakers_bar(c, c->bars);
	return c->bars;
}

uint64_t vs_avoid_key(const struct vs_core *c)
{
	return c->avoid_gen << 8 | vs_windows_barring(c);
}

/*
 * Texts of job records reach users: an operator's note is for operators. It
 * stands behind the first ": " of an order's words (drain_why() in admin_actions.c).
 */
static const char *public_words(const struct vs_avoid *a,
				const struct vs_window *w,
				char out[VS_AVOID_WORDS])
{
	const char *why = a ? a->why : w->why, *note;

	vs_strlcpy(out, why, VS_AVOID_WORDS);
	note = a && a->cause != VS_AVOID_DRAINED ? NULL : strstr(why, ": ");
	if (note)
		out[note - why] = '\0';
	return out;
}

void vs_avoid_public(const struct vs_avoid *a, char out[VS_AVOID_WORDS])
{
	public_words(a, NULL, out);
}

const char *vs_avoid_note(struct vs_core *c)
{
	const char *name = "", *first = NULL;
	char words[VS_AVOID_WORDS];
	uint64_t key = vs_avoid_key(c);
	int n = 0;

	if (c->avoid_note_gen == key &&
	    c->avoid_note_hosts == c->inv.nhosts)
		return c->avoid_note;
	c->avoid_note_gen = key;
	c->avoid_note_hosts = c->inv.nhosts;
	c->avoid_note[0] = '\0';
	for (struct vs_host *h = c->inv.hosts;
	     h && (c->avoids || c->maintain.windows || c->checks.unfit);
	     h = h->hh.next) {
		const struct vs_avoid *a = vs_avoid_get(c, h->moid, NULL);
		const struct vs_window *w = vs_window_barring(c, h->moid);

		/* Of one PF: it may be the only one that was asked for. */
		if (!a)
			a = vs_checks_unfit(c, h->moid);
		if ((!a && !w) || n++)
			continue;
		first = public_words(a, w, words);
		name = h->name;
	}
	if (first)
		snprintf(c->avoid_note, sizeof(c->avoid_note),
			 "; %d host%s left out (%.56s: %.80s)", n,
			 n == 1 ? " is" : "s are", name, first);
	return c->avoid_note;
}

bool vs_avoid_asked(void *arg, const struct vs_host *h,
		    const struct vs_pf *pf, char *why, size_t size)
{
	const struct vs_avoid *a =
		vs_avoid_get(arg, h->moid, pf ? pf->pci : NULL);
	const struct vs_window *w = vs_window_barring(arg, h->moid);

	char words[VS_AVOID_WORDS];

	if ((a || w) && why)
		vs_strlcpy(why, public_words(a, w, words), size);
	return a || w;
}

const struct vs_avoid *vs_checks_unfit(const struct vs_core *c,
				       const char *host)
{
	struct vs_unfit *u;

	vs_assert_locked();
	if (!c->checks.unfit)
		return NULL;
	HASH_FIND_STR(c->checks.unfit, host, u);
	return u ? u->avoids : NULL;
}
