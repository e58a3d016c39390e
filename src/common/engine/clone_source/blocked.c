/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bars: no clones of a template's version for a while, for what keeps its
 * parent is an administrator's business; and who is barred because the parent that
 * was made last isn't where it was asked for.
 *
 * Rules: a bar speaks of one version of one template alone, of what kind its clones
 * are; no node goes down for it. Each reason is logged once, until it has not been
 * given for an hour. The lock is held.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/clone_source/clone_source.h"
#include "engine/clone_source/clone_source_i.h"
#include "engine/hosts/hosts.h"
#include "engine/state/state.h"
#include "util/mem.h"

#define SAID_MS (60 * 60 * 1000)
#define YOUNG_MS (10 * 60 * 1000)	/* who moves it now does so each time */

static bool same_mark(const struct vs_clone_source_tag *a,
		      const struct vs_clone_source_tag *b)
{
	return a->kind == b->kind && !strcmp(a->of, b->of);
}

static bool asks_for(const struct vs_core *c, size_t i,
		     const struct vs_clone_source_tag *m)
{
	struct vs_clone_source_tag is;

	return !vs_clone_source_tag_fill(c->profiles[i].clone, c->now[i].hash,
					 &is) &&
	       same_mark(&is, m);
}

/* What others say of the template stays. */
static void show(struct vs_core *c, const struct vs_clone_block *b,
		 const char *was, const char *why)
{
	for (size_t i = 0; i < c->nprofiles; i++) {
		const struct vs_profile_capacity *now = &c->now[i];

		if (!asks_for(c, i, &b->of) ||
		    (now->missing[0] && strcmp(now->missing, was)))
			continue;
		vs_profile_missing_set(c, i, why);
	}
	vs_capacity_freed();
	vs_nodes_mark_changed(c);
}

static void lift(struct vs_core *c, struct vs_clone_block *b)
{
	if (!b->on)
		return;
	b->on = false;
	show(c, b, b->why, "");
}

static struct vs_clone_block *bar_of(const struct vs_clone_source_tag *m)
{
	struct vs_clone_sources *p = &vs_clone_sources;

	for (size_t i = 0; i < p->nbars; i++)
		if (same_mark(&p->bars[i].of, m))
			return &p->bars[i];
	VS_GROW(p->bars, p->cap_bars, p->nbars + 1);
	p->bars[p->nbars] = (struct vs_clone_block) { .of = *m };
	return &p->bars[p->nbars++];
}

void vs_clone_sources_block(struct vs_core *c,
			    const struct vs_clone_source_key *key,
			    int64_t until_ms, const char *why)
{
	struct vs_clone_block *b = bar_of(&key->mark);
	char was[sizeof(b->why)];

	vs_strlcpy(was, b->why, sizeof(was));
	vs_strlcpy(b->why, why, sizeof(b->why));
	b->on = true;
	b->until_ms = until_ms;
	show(c, b, was, b->why);
	if (strcmp(was, b->why))
		vs_error("%s: its clones wait", why);
}

void vs_clone_sources_blocks_end(struct vs_core *c, int64_t now_ms)
{
	struct vs_clone_sources *p = &vs_clone_sources;

	for (size_t i = p->nbars; i--;) {
		if (now_ms >= p->bars[i].until_ms)
			lift(c, &p->bars[i]);
		if (now_ms >= p->bars[i].until_ms + SAID_MS)
			p->bars[i] = p->bars[--p->nbars];
	}
}

void vs_clone_sources_try_again(struct vs_core *c)
{
	vs_assert_locked();
	for (size_t i = 0; i < vs_clone_sources.nbars; i++)
		lift(c, &vs_clone_sources.bars[i]);
	vs_clone_sources.nbars = 0;
	for (struct vs_clone_source *p = vs_clone_sources.all; p;
	     p = p->hh.next) {
		p->born[0] = '\0';
		p->astray = false;
	}
}

/* ---- one that is not where it was asked for ---------------------------------------- */

static bool is_marked(const struct vs_core *c,
		      const struct vs_clone_source_key *key,
		      const struct vs_vm *vm)
{
	return vm->readable &&
	       vs_vm_owner(vm, c->folder, c->cluster_id) ==
		       VS_OWNER_CLONE_SOURCE &&
	       same_mark(&vm->parent, &key->mark);
}

static const char *store_name(const struct vs_core *c, const char *moid)
{
	int at = c->inv.nuses ? vs_shared_capacity_pool(&c->inv, moid) : -1;

	return at >= 0 ? c->inv.pools[at].name :
		c->inv.store.name[0] ? c->inv.store.name : "its datastore";
}

static const char *host_name(const struct vs_core *c, const char *moid)
{
	const struct vs_host *h = vs_host_get(&c->inv, moid);

	return h ? h->name : "an unknown host";
}

/* What it is, in words that follow its name. */
static void word(const struct vs_core *c, const struct vs_clone_source_key *key,
		 const struct vs_vm *vm, char *out, size_t size)
{
	size_t store = strcspn(vm->disks.dir, "]");

	if (!vm->readable)
		snprintf(out, size, "cannot be read: check it in vCenter");
	else if (!is_marked(c, key, vm))
		snprintf(
			out, size,
			"has lost its ownership tags (" VS_KEY_OWNER ", "
			VS_KEY_CLONE_SOURCE ") or left the Folder: delete it, "
			"and prevent further changes");
	else if (key->host[0] && strcmp(vm->host, key->host))
		snprintf(out, size,
			 "was made for host %.60s and is on %.60s: prevent DRS and others from moving it",
			 host_name(c, key->host), host_name(c, vm->host));
	else
		snprintf(out, size,
			 "was made for datastore %.60s and is on %.*s: prevent Storage DRS and others from moving it, or name that datastore in Datastore=",
			 store_name(c, key->store),
			 (int)(store > 61 ? 60 : store ? store - 1 : 0),
			 store ? vm->disks.dir + 1 : "");
}

static const struct vs_vm *stray_of(const struct vs_core *c,
				    const struct vs_clone_source *p)
{
	const struct vs_vm *vm = p->born[0] ? vs_vm_get(&c->inv, p->born) :
		NULL;

	return vm && !(vs_clone_source_is(&c->inv, vm, &p->key) &&
		       is_marked(c, &p->key, vm)) ? vm : NULL;
}

bool vs_clone_source_misplaced(const struct vs_core *c,
			       const struct vs_clone_source *p)
{
	return p->astray && stray_of(c, p);
}

bool vs_clone_source_misplaced_end(struct vs_core *c, struct vs_clone_source *p,
				   int64_t now_ms)
{
	const struct vs_vm *vm = stray_of(c, p);
	char is[200], why[sizeof(is) + 80];

	/* one that was moved later on was where it should be until then */
	p->astray = vm && (p->astray || now_ms - p->born_ms < YOUNG_MS ||
			   (vm->readable && !is_marked(c, &p->key, vm)));
	if (!p->astray)
		return false;
	word(c, &p->key, vm, is, sizeof(is));
	snprintf(why, sizeof(why), "clone source %.50s of %s clones %s", vm->name,
		 vs_clone_name(p->key.mark.kind), is);
	vs_clone_sources_block(c, &p->key, now_ms + VS_EXCLUDE_HOST_MS, why);
	return true;
}

void vs_clone_source_changed(struct vs_core *c, const struct vs_node *n,
			     const struct vs_vm *parent, int64_t now_ms)
{
	char why[256];

	snprintf(why, sizeof(why),
		 "clone source %.60s was changed and no longer has the NICs of its clones: power it off and delete it, another is created",
		 parent->name);
	vs_clone_sources_block(c, &n->parent->key, now_ms + VS_EXCLUDE_HOST_MS,
			       why);
}
