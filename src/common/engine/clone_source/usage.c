/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What keeps parents, for all of them at once: one walk over the nodes, one over
 * the VMs, and no search of either for each parent. The lock is held.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "engine/clone_source/clone_source.h"
#include "engine/clone_source/clone_source_i.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"

struct key {				/* not always ended by '\0' */
	const char *s;
	size_t len;
	struct vs_clone_source *r;
};

struct keys {
	struct key *v;
	size_t n;
	int (*cmp)(const char *a, const char *b, size_t n);
};

static int order(const struct keys *k, const struct key *a, const struct key *b)
{
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return k->cmp(a->s, b->s, a->len);
}

static int by_dir(const void *a, const void *b)
{
	return order(&(struct keys){ .cmp = strncmp }, a, b);
}

static int by_uuid(const void *a, const void *b)
{
	return order(&(struct keys){ .cmp = strncasecmp }, a, b);
}

static void add(struct keys *k, const char *s, struct vs_clone_source *r)
{
	if (s[0])
		k->v[k->n++] = (struct key) { s, strlen(s), r };
}

/* vm stands on each that has this key. */
static void mark(const struct keys *k, const char *s, size_t len,
		 const struct vs_vm *vm)
{
	const struct key is = { .s = s, .len = len };
	size_t lo = 0, hi = k->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (order(k, &k->v[mid], &is) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < k->n && !order(k, &k->v[lo], &is); lo++)
		if (strcmp(k->v[lo].r->id, vm->moid))
			k->v[lo].r->has_children = true;
}

static void children_seen(struct vs_core *c, struct keys *dirs,
			  struct keys *uuids)
{
	vs_clone_sources.unread[0] = '\0';
	qsort(dirs->v, dirs->n, sizeof(*dirs->v), by_dir);
	qsort(uuids->v, uuids->n, sizeof(*uuids->v), by_uuid);
	for (const struct vs_vm *vm = c->inv.vms; vm; vm = vm->hh.next) {
		const char *end;

		if (!vm->readable && !vs_clone_sources.unread[0] &&
		    (!vm->disks.bases_told || !strcmp(vm->folder, c->folder)))
			vs_strlcpy(vs_clone_sources.unread,
				   vm->name[0] ? vm->name : vm->moid,
				   sizeof(vs_clone_sources.unread));
		for (const char *s = vm->disks.bases; s && *s; s = end + 1) {
			end = strchr(s, '\n');
			mark(dirs, s, (size_t)(end - s), vm);
		}
		if (vm->clone.from[0])
			mark(uuids, vm->clone.from, strlen(vm->clone.from), vm);
	}
}

/* Of unwanted ones only; of others it is not used. */
static void children(struct vs_core *c)
{
	size_t n = HASH_COUNT(vs_clone_sources.all);
	VS_FREE struct key *dir = vs_calloc(n + 1, sizeof(*dir));
	VS_FREE struct key *uuid = vs_calloc(n + 1, sizeof(*uuid));
	struct keys dirs = { .v = dir, .cmp = strncmp };
	struct keys uuids = { .v = uuid, .cmp = strncasecmp };

	for (struct vs_clone_source *r = vs_clone_sources.all; r;
	     r = r->hh.next) {
		const struct vs_vm *vm = r->unwanted_ms ?
			vs_vm_get(&c->inv, r->id) : NULL;

		r->has_children = true;
		if (!vm)
			continue;
		r->has_children = false;
		add(&dirs, vm->disks.dir, r);
		add(&uuids, vm->uuid, r);
	}
	vs_strlcpy(vs_clone_sources.unread, "?",
		   sizeof(vs_clone_sources.unread));
	if (dirs.n || uuids.n)
		children_seen(c, &dirs, &uuids);
}

/* A clone of one is under way, or done and not shown yet. */
static void copies(struct vs_core *c)
{
	vs_clone_sources.copies_lost = vs_unowned_tasks_wait();
	vs_clone_sources.missing = false;
	for (size_t i = 0; i < c->nnodes; i++) {
		const struct vs_node *n = &c->nodes[i];
		struct vs_clone_source *r = n->op.kind == VS_OP_CLONE ?
			vs_clone_source_record(c, n->op.source, false) : NULL;

		vs_clone_sources.copies_lost |=
			vs_node_is(n, VS_COND_CLONE_UNCONFIRMED);
		vs_clone_sources.missing |= n->absent.how;
		if (r)
			r->copied = true;
	}
}

/* ---- of which of those that are alike clones are made ------------------------------ */

struct alike {
	const struct vs_vm *vm;
	const char *host;		/* "": any */
	size_t store;			/* "[name": so long in its directory */
	struct vs_clone_source *r;
};

static int by_key(const struct alike *a, const struct alike *b)
{
	const struct vs_vm *x = a->vm, *y = b->vm;
	int by = (int)x->parent.kind - (int)y->parent.kind;

	if (!by)
		by = strcmp(x->parent.of, y->parent.of);
	if (!by)
		by = (a->store > b->store) - (a->store < b->store);
	if (!by)
		by = strncmp(x->disks.dir, y->disks.dir, a->store);
	return by ? by : strcmp(a->host, b->host);
}

static int by_choice(const void *a, const void *b)
{
	const struct alike *x = a, *y = b;
	int by = by_key(x, y);

	return by ? by : vs_clone_source_order(x->vm, y->vm) ? -1 : 1;
}

/* Does a partition want one of these on each host? */
static bool per_host(const struct vs_core *c,
		     const struct vs_clone_source_tag *mark)
{
	struct vs_clone_source_tag is;

	for (size_t i = 0; i < c->nprofiles; i++)
		if (c->profiles[i].clone_per_host &&
		    c->profiles[i].clone == mark->kind &&
		    !vs_clone_source_tag_fill(mark->kind, c->now[i].hash, &is) &&
		    !strcmp(is.of, mark->of))
			return true;
	return false;
}

/* As vs_clone_source_choose() would, for all keys at once. */
static void choices(struct vs_core *c)
{
	VS_FREE struct alike *v =
		vs_calloc((size_t)vs_clone_sources_count(c) + 1, sizeof(*v));
	const struct vs_vm *vm;
	size_t n = 0;

	LIST_FOREACH(vm, &c->inv.parents, with_parents) {
		if (vs_vm_owner(vm, c->folder, c->cluster_id) !=
		    VS_OWNER_CLONE_SOURCE)
			continue;
		v[n++] = (struct alike) {
			.vm = vm, .store = strcspn(vm->disks.dir, "]"),
			.host = per_host(c, &vm->parent) ? vm->host : "",
			.r = vs_clone_source_record(c, vm->moid, false),
		};
	}
	qsort(v, n, sizeof(*v), by_choice);
	for (size_t i = 0; i < n; i++)
		if (v[i].r)
			v[i].r->worse = i && !by_key(&v[i - 1], &v[i]);
}

void vs_clone_sources_observe(struct vs_core *c, int64_t now_ms)
{
	struct vs_clone_source *p;

	for (p = vs_clone_sources.all; p; p = p->hh.next) {
		p->copied = now_ms < p->copied_until_ms;
		p->made = false;
	}
	/* what its making is, by its key, may be at work on it too */
	for (p = vs_clone_sources.all; p; p = p->hh.next) {
		struct vs_clone_source *r = p->op != VS_CLONE_SOURCE_IDLE ?
			vs_clone_source_record(c, p->vm, false) : NULL;

		if (r)
			r->made = true;
	}
	copies(c);
	children(c);
	choices(c);
}
