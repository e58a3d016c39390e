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
#include "engine/hosts/hosts.h"
#include "engine/hosts/hosts_i.h"
#include "engine/state/state.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/time.h"

struct vs_hosts vs_hosts;

static void changed(void)
{
	vs_avoids_changed();
	vs_state_file_dirty();
}

void vs_exclude_set(enum vs_exclusion_cause cause,
		    const char *moid, const char *pf, int64_t until_ms,
		    const char *why)
{
	struct vs_exclusion *a;

	vs_assert_locked();
	for (a = vs_hosts.avoids; a; a = a->next)
		if (a->cause == cause && !strcmp(a->moid, moid) &&
		    !strcmp(a->pf, pf ? pf : ""))
			break;
	if (!a) {
		a = vs_calloc(1, sizeof(*a));
		a->cause = cause;
		vs_strlcpy(a->moid, moid, sizeof(a->moid));
		vs_strlcpy(a->pf, pf ? pf : "", sizeof(a->pf));
		a->next = vs_hosts.avoids;
		vs_hosts.avoids = a;
	}
	a->until_ms = until_ms;
	vs_strlcpy(a->why, why, sizeof(a->why));
	changed();
}

void vs_exclude_failed(const char *host, const char *pf,
		       int64_t until_ms, const char *why)
{
	vs_exclude_set(VS_EXCLUDED_FAILED, host, pf, until_ms, why);
}

const struct vs_exclusion *vs_avoids(void)
{
	return vs_hosts.avoids;
}

static struct vs_exclusion **drop(struct vs_exclusion **link)
{
	struct vs_exclusion *a = *link;

	*link = a->next;
	free(a);
	changed();
	vs_capacity_freed();
	return link;
}

int vs_exclude_end(enum vs_exclusion_cause cause,
		   const char *moid)
{
	struct vs_exclusion **link = &vs_hosts.avoids;
	int n = 0;

	vs_assert_locked();
	while (*link) {
		if ((*link)->cause == cause && !strcmp((*link)->moid, moid)) {
			link = drop(link);
			n++;
		} else {
			link = &(*link)->next;
		}
	}
	return n;
}

void vs_exclude_expire(int64_t now_ms)
{
	struct vs_exclusion **link = &vs_hosts.avoids;

	vs_assert_locked();
	while (*link)
		link = now_ms < (*link)->until_ms ? &(*link)->next :
			drop(link);
}

void vs_avoids_clear(void)
{
	while (vs_hosts.avoids)
		vs_exclude_expire(INT64_MAX);
}

const struct vs_exclusion *vs_exclusion_find(enum vs_exclusion_cause cause,
					     const char *moid)
{
	vs_assert_locked();
	for (const struct vs_exclusion *a = vs_hosts.avoids; a; a = a->next)
		if (a->cause == cause && !strcmp(a->moid, moid))
			return a;
	return NULL;
}

void vs_exclusion_requeue(struct vs_core *c, const char *host)
{
	vs_assert_locked();
	for (struct vs_exclusion *a = vs_hosts.avoids; a; a = a->next)
		if (a->cause == VS_EXCLUDED_DRAINED && !strcmp(a->moid, host))
			a->requeue = true;
	changed();
	vs_nodes_mark_changed(c);
}

/* The datastore is every host's, a cluster all of its own's. */
static bool speaks_of(const struct vs_core *c, const struct vs_exclusion *a,
		      const char *host, const char *cluster)
{
	return !strcmp(a->moid, host) || !strcmp(a->moid, cluster) ||
	       (c->store[0] && !strcmp(a->moid, c->store));
}

bool vs_exclusion_is_on(const struct vs_core *c, const struct vs_exclusion *a,
			const struct vs_host *h)
{
	vs_assert_locked();
	return speaks_of(c, a, h->moid, h->cluster);
}

bool vs_exclusion_any(const struct vs_core *c, const struct vs_host *h)
{
	vs_assert_locked();
	for (const struct vs_exclusion *a = vs_hosts.avoids; a; a = a->next)
		if (vs_exclusion_is_on(c, a, h))
			return true;
	return vs_exclusion_checks(h->moid) != NULL;
}

const struct vs_exclusion *vs_exclusion_get(const struct vs_core *c,
					    const char *host, const char *pf)
{
	const struct vs_host *h = vs_host_get(&c->inv, host);

	for (const struct vs_exclusion *a = vs_hosts.avoids; a; a = a->next)
		if (speaks_of(c, a, host, h ? h->cluster : host) &&
		    (!a->pf[0] || (pf && !strcmp(a->pf, pf))))
			return a;
	for (const struct vs_exclusion *a = vs_exclusion_checks(host); a;
	     a = a->next)
		if (!a->pf[0] || (pf && !strcmp(a->pf, pf)))
			return a;
	return NULL;
}

static void bar(struct vs_host_block *bar, const struct vs_exclusion *a,
		const struct vs_host *h)
{
	if (!a->pf[0])
		bar->avoided = true;
	for (int i = 0; i < h->npfs; i++)
		if (!a->pf[0] || !strcmp(a->pf, h->pfs[i].pci))
			bar->pfs |= 1u << i;
}

/* From what is left out to its hosts: few entries, many hosts. */
struct vs_host_block *vs_exclusion_blocks(const struct vs_core *c)
{
	size_t nhosts = (size_t)c->inv.nhosts;
	const struct vs_host *h;

	vs_assert_locked();
	VS_GROW(vs_hosts.bars, vs_hosts.cap_bars, nhosts + 1);
	memset(vs_hosts.bars, 0, nhosts * sizeof(*vs_hosts.bars));
	for (const struct vs_exclusion *a = vs_hosts.avoids; a; a = a->next) {
		h = vs_host_get(&c->inv, a->moid);
		if (h) {
			bar(&vs_hosts.bars[h->index], a, h);
			continue;
		}
		for (h = c->inv.hosts; h; h = h->hh.next)
			if (vs_exclusion_is_on(c, a, h))
				bar(&vs_hosts.bars[h->index], a, h);
	}
	for (const struct vs_maintenance_window *w = vs_hosts.windows;
	     w && vs_maintenance_window_blocks(w); w = w->next) {
		h = vs_host_get(&c->inv, w->host);
		if (h)
			vs_hosts.bars[h->index].avoided = true;
	}
	for (const struct vs_template_fault *u = vs_hosts.unfit; u;
	     u = u->hh.next) {
		h = vs_host_get(&c->inv, u->moid);
		for (const struct vs_exclusion *a = u->avoids; h && a;
		     a = a->next)
			bar(&vs_hosts.bars[h->index], a, h);
	}
	vs_breakers_block(c, vs_hosts.bars);
	return vs_hosts.bars;
}

struct vs_host_block *vs_exclusion_blocks_cached(void)
{
	return vs_hosts.bars;
}

uint64_t vs_exclusion_key(void)
{
	return vs_hosts.avoid_gen << 8 | vs_windows_barring();
}

/*
 * Texts of job records reach users: an operator's note is for operators. It
 * stands behind the first ": " of an order's words (drain_why() in admin_actions.c).
 */
static const char *public_words(const struct vs_exclusion *a,
				const struct vs_maintenance_window *w,
				char out[VS_EXCLUSION_TEXT])
{
	const char *why = a ? a->why : w->why, *note;

	vs_strlcpy(out, why, VS_EXCLUSION_TEXT);
	note = a && a->cause != VS_EXCLUDED_DRAINED ? NULL : strstr(why, ": ");
	if (note)
		out[note - why] = '\0';
	return out;
}

void vs_exclusion_text(const struct vs_exclusion *a,
		       char out[VS_EXCLUSION_TEXT])
{
	public_words(a, NULL, out);
}

const char *vs_exclusion_note(struct vs_core *c)
{
	const char *name = "", *first = NULL;
	char words[VS_EXCLUSION_TEXT];
	uint64_t key = vs_exclusion_key();
	int n = 0;

	if (vs_hosts.avoid_note_gen == key &&
	    vs_hosts.avoid_note_hosts == c->inv.nhosts)
		return vs_hosts.avoid_note;
	vs_hosts.avoid_note_gen = key;
	vs_hosts.avoid_note_hosts = c->inv.nhosts;
	vs_hosts.avoid_note[0] = '\0';
	for (struct vs_host *h = c->inv.hosts;
	     h && (vs_hosts.avoids || vs_hosts.windows || vs_hosts.unfit);
	     h = h->hh.next) {
		const struct vs_exclusion *a = vs_exclusion_get(c, h->moid,
								NULL);
		const struct vs_maintenance_window *w =
			vs_maintenance_window_blocking(h->moid);

		/* Of one PF: it may be the only one that was asked for. */
		if (!a)
			a = vs_exclusion_checks(h->moid);
		if ((!a && !w) || n++)
			continue;
		first = public_words(a, w, words);
		name = h->name;
	}
	if (first)
		snprintf(vs_hosts.avoid_note, sizeof(vs_hosts.avoid_note),
			 "; %d host%s excluded (%.56s: %.80s)", n,
			 vs_plural((uint64_t)n), name, first);
	return vs_hosts.avoid_note;
}

bool vs_exclusion_explain(void *arg, const struct vs_host *h,
			  const struct vs_pf *pf, char *why, size_t size)
{
	const struct vs_exclusion *a =
		vs_exclusion_get(arg, h->moid, pf ? pf->pci : NULL);
	const struct vs_maintenance_window *w =
		vs_maintenance_window_blocking(h->moid);

	char words[VS_EXCLUSION_TEXT];

	if ((a || w) && why)
		vs_strlcpy(why, public_words(a, w, words), size);
	return a || w;
}

/* ---- what a hard finding keeps away ----------------------------------------- */

const struct vs_exclusion *vs_exclusion_checks(const char *host)
{
	struct vs_template_fault *u;

	vs_assert_locked();
	if (!vs_hosts.unfit)
		return NULL;
	HASH_FIND_STR(vs_hosts.unfit, host, u);
	return u ? u->avoids : NULL;
}

static void unfit_free(struct vs_template_fault *all)
{
	struct vs_template_fault *u, *next;

	HASH_ITER(hh, all, u, next) {
		HASH_DEL(all, u);
		while (u->avoids) {
			struct vs_exclusion *a = u->avoids;

			u->avoids = a->next;
			free(a);
		}
		free(u);
	}
}

static void unfit_add(struct vs_template_fault **all, const struct vs_found *f)
{
	struct vs_template_fault *u;
	struct vs_exclusion *a;

	HASH_FIND_STR(*all, f->bars, u);
	if (!u) {
		u = vs_calloc(1, sizeof(*u));
		vs_strlcpy(u->moid, f->bars, sizeof(u->moid));
		HASH_ADD_STR(*all, moid, u);
	}
	a = vs_calloc(1, sizeof(*a));
	a->cause = VS_EXCLUDED_UNFIT;
	a->until_ms = VS_EXCLUDED_FOREVER;
	vs_strlcpy(a->moid, f->bars, sizeof(a->moid));
	vs_strlcpy(a->pf, f->pf, sizeof(a->pf));
	snprintf(a->why, sizeof(a->why), "%s: %s, should be %s",
		 vs_check_kinds[f->code].code, f->is, f->should);
	a->next = u->avoids;
	u->avoids = a;
}

static bool same_avoids(const struct vs_template_fault *u,
			const struct vs_template_fault *v)
{
	const struct vs_exclusion *a = u->avoids, *b = v ? v->avoids : NULL;

	for (; a && b; a = a->next, b = b->next)
		if (strcmp(a->pf, b->pf) || strcmp(a->why, b->why))
			return false;
	return !a && !b;
}

/* Marks their nodes changed. */
static bool touch_changed(struct vs_core *c, struct vs_template_fault *of,
			  struct vs_template_fault *other)
{
	struct vs_template_fault *u, *v;
	bool any = false;

	for (u = of; u; u = u->hh.next) {
		const struct vs_host *h = vs_host_get(&c->inv, u->moid);

		HASH_FIND_STR(other, u->moid, v);
		if (same_avoids(u, v))
			continue;
		any = true;
		if (h)
			vs_host_nodes_mark_changed(c, h);
	}
	return any;
}

void vs_unfit_set(struct vs_core *c, const struct vs_found_list *l)
{
	struct vs_template_fault *old = vs_hosts.unfit;
	bool came, went;

	vs_hosts.unfit = NULL;
	for (size_t i = 0; i < l->n; i++)
		if (l->f[i].bars[0])
			unfit_add(&vs_hosts.unfit, &l->f[i]);
	came = touch_changed(c, vs_hosts.unfit, old);
	went = touch_changed(c, old, vs_hosts.unfit);
	unfit_free(old);
	if (came || went)
		vs_avoids_changed();
	if (went)
		vs_capacity_freed();
}

/* ---- the state file -------------------------------------------------------- */

static const char *const causes[] = {
	[VS_EXCLUDED_FAILED] = "failed", [VS_EXCLUDED_BROKEN] = "broken",
	[VS_EXCLUDED_DRAINED] = "drained", [VS_EXCLUDED_DRAINS] = "sick",
	[VS_EXCLUDED_LICENCE] = "licence",
};

struct json_object *vs_avoids_json(void)
{
	int64_t epoch_ms = vs_wall_ms() - vs_clock();
	struct json_object *arr = vs_jb_arr();

	for (const struct vs_exclusion *a = vs_hosts.avoids; a; a = a->next) {
		struct json_object *o;

		if (a->cause == VS_EXCLUDED_PF_CHANGE)
			continue;	/* found again by the PFs */
		o = vs_jb_obj(NULL);
		vs_jb_str(o, "cause", causes[a->cause]);
		vs_jb_str(o, "host", a->moid);
		vs_jb_str(o, "pf", a->pf);
		if (a->until_ms != VS_EXCLUDED_FOREVER)
			vs_jb_int(o, "until", (epoch_ms + a->until_ms) / 1000);
		vs_jb_str(o, "why", a->why);
		if (a->requeue)
			vs_jb_bool(o, "requeue", true);
		vs_jb_add(arr, o);
	}
	return arr;
}

static enum vs_exclusion_cause cause_of(const char *name)
{
	for (size_t i = 0; i < VS_COUNT(causes); i++)
		if (!strcmp(causes[i], name))
			return (enum vs_exclusion_cause)i;
	return VS_EXCLUDED_FAILED;
}

/* Until an operator ends it. */
static bool lasting(enum vs_exclusion_cause cause)
{
	return cause == VS_EXCLUDED_DRAINED || cause == VS_EXCLUDED_DRAINS;
}

/* A clock that was set must not lock a host out for years. */
static bool sane(enum vs_exclusion_cause cause, int64_t left_ms)
{
	return lasting(cause) || (left_ms > 0 &&
		left_ms <= (cause == VS_EXCLUDED_BROKEN ? VS_BREAKER_MAX_MS :
			    VS_EXCLUDE_HOST_MS));
}

void vs_avoids_read(struct vs_core *c, struct vs_j list)
{
	int64_t epoch_ms = vs_wall_ms() - vs_clock(), now_ms = vs_clock();

	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j j = vs_j_at(list, i);
		const char *host = vs_j_str(vs_j_get(j, "host"));
		const char *pf = vs_j_str_or(vs_j_opt(j, "pf"), "");
		const char *why = vs_j_str_or(vs_j_opt(j, "why"), "");
		const char *cause = vs_j_str_or(vs_j_opt(j, "cause"), "");
		int64_t until = vs_j_int_or(vs_j_opt(j, "until"), 0);
		enum vs_exclusion_cause which = cause_of(cause);

		if (list.doc->err.code)
			return;
		if (until < 0 || until > INT64_MAX / 2000)
			continue;
		until = until * 1000 - epoch_ms;
		if (sane(which, until - now_ms))
			vs_exclude_set(which, host, pf,
				       lasting(which) ?
				       VS_EXCLUDED_FOREVER : until, why);
		if (vs_j_bool_or(vs_j_opt(j, "requeue"), false))
			vs_exclusion_requeue(c, host);
	}
}
