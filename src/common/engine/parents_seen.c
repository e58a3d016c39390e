/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What keeps parents, for all of them at once: one walk over the nodes, one over
 * the VMs, and no search of either for each parent. The lock is held.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "engine/core_i.h"
#include "util/mem.h"

struct key {				/* not always ended by '\0' */
	const char *s;
	size_t len;
	struct vs_parent *r;
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

static void add(struct keys *k, const char *s, struct vs_parent *r)
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
	c->parents.unread = false;
	qsort(dirs->v, dirs->n, sizeof(*dirs->v), by_dir);
	qsort(uuids->v, uuids->n, sizeof(*uuids->v), by_uuid);
	for (const struct vs_vm *vm = c->inv.vms; vm; vm = vm->hh.next) {
		const char *end;

		c->parents.unread |= !vm->readable &&
			(!vm->bases_told || !strcmp(vm->folder, c->folder));
		for (const char *s = vm->bases; s && *s; s = end + 1) {
			end = strchr(s, '\n');
			mark(dirs, s, (size_t)(end - s), vm);
		}
		if (vm->from[0])
			mark(uuids, vm->from, strlen(vm->from), vm);
	}
}

/* Of those that nobody wants; of others nobody asks. */
static void children(struct vs_core *c)
{
	size_t n = HASH_COUNT(c->parents.all);
	VS_FREE struct key *dir = vs_calloc(n + 1, sizeof(*dir));
	VS_FREE struct key *uuid = vs_calloc(n + 1, sizeof(*uuid));
	struct keys dirs = { .v = dir, .cmp = strncmp };
	struct keys uuids = { .v = uuid, .cmp = strncasecmp };

	for (struct vs_parent *r = c->parents.all; r; r = r->hh.next) {
		const struct vs_vm *vm = r->unwanted_ms ?
			vs_vm_get(&c->inv, r->id) : NULL;

		r->has_children = true;
		if (!vm)
			continue;
		r->has_children = false;
		add(&dirs, vm->disk_dir, r);
		add(&uuids, vm->uuid, r);
	}
	c->parents.unread = true;
	if (dirs.n || uuids.n)
		children_seen(c, &dirs, &uuids);
}

/* A clone of one is under way, or done and not shown yet. */
static void copies(struct vs_core *c)
{
	c->parents.copies_lost = vs_strays_wait(c);
	c->parents.missing = false;
	for (size_t i = 0; i < c->nnodes; i++) {
		const struct vs_node *n = &c->nodes[i];
		struct vs_parent *r = n->op.kind == VS_OP_CLONE ?
			vs_parent_record(c, n->op.source, false) : NULL;

		c->parents.copies_lost |= n->clone_lost;
		c->parents.missing |= n->missing;
		if (r)
			r->copied = true;
	}
}

void vs_parents_see(struct vs_core *c, int64_t now_ms)
{
	struct vs_parent *p;

	for (p = c->parents.all; p; p = p->hh.next) {
		p->copied = now_ms < p->copied_until_ms;
		p->made = false;
	}
	/* what its making is, by its key, may be at work on it too */
	for (p = c->parents.all; p; p = p->hh.next) {
		struct vs_parent *r = p->op != VS_PARENT_IDLE ?
			vs_parent_record(c, p->vm, false) : NULL;

		if (r)
			r->made = true;
	}
	copies(c);
	children(c);
}
