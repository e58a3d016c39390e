/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See clone_source.h.
 *
 * Rules: a parent is known by its marks and by where it lies now, never by its
 * name. What can't be read is neither used nor gone. Who stands on its disks is
 * asked of the disks and of the mark: either is enough to keep it.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "plan/inventory/inventory.h"
#include "plan/inventory/clone_source.h"
#include "plan/inventory/vm_profile.h"
#include "util/mem.h"

#define LINKED_MIN_MB 1024
#define LINKED_SHARE 10
#define HALF 8			/* of a profile's hash: see vm_profile.h */
#define STEM_MAX 40
#define PER_HOST "linked_per_host"
#define NAME_CHARS "abcdefghijklmnopqrstuvwxyz0123456789" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ._-"

static const char *const kinds[VS_CLONE_KINDS] = { "full", "linked",
						   "instant" };
/* So much of the profile's hash do their parents depend on. */
static const size_t of_hash[VS_CLONE_KINDS] = {
	[VS_CLONE_LINKED] = HALF,
	[VS_CLONE_INSTANT] = VS_PROFILE_HASH_LEN - 1,
};

const char *vs_clone_name(enum vs_clone_type k)
{
	return k < VS_CLONE_KINDS ? kinds[k] : "?";
}

bool vs_clone_per_host(const char *word)
{
	return word && (!strcasecmp(word, PER_HOST) ||
			!strcasecmp(word, kinds[VS_CLONE_INSTANT]));
}

int vs_clone_parse(const char *word, enum vs_clone_type *out)
{
	if (!word) {
		*out = VS_CLONE_FULL;
		return 0;
	}
	if (!strcasecmp(word, PER_HOST))
		word = kinds[VS_CLONE_LINKED];
	for (int k = 0; k < VS_CLONE_KINDS; k++)
		if (!strcasecmp(word, kinds[k])) {
			*out = (enum vs_clone_type)k;
			return 0;
		}
	return -1;
}

/* ---- marks ---------------------------------------------------------------- */

bool vs_clone_source_tag_parse(const char *s, struct vs_clone_source_tag *out)
{
	const char *slash = s ? strchr(s, '/') : NULL;

	*out = (struct vs_clone_source_tag) { .kind = VS_CLONE_KINDS };
	if (!s || !s[0])
		return false;
	if (!slash || !slash[1] || strlen(slash + 1) >= VS_CLONE_SOURCE_OF_LEN)
		return true;
	for (int k = 0; k < VS_CLONE_KINDS; k++)
		if (strlen(kinds[k]) == (size_t)(slash - s) &&
		    !strncmp(kinds[k], s, (size_t)(slash - s))) {
			out->kind = (enum vs_clone_type)k;
			vs_strlcpy(out->of, slash + 1, sizeof(out->of));
		}
	return true;
}

char *vs_clone_source_tag_format(const struct vs_clone_source_tag *m)
{
	return vs_asprintf("%s/%s", vs_clone_name(m->kind), m->of);
}

int vs_clone_source_tag_fill(enum vs_clone_type kind, const char *hash,
			     struct vs_clone_source_tag *out)
{
	if (kind >= VS_CLONE_KINDS || !of_hash[kind] ||
	    strlen(hash) < of_hash[kind])
		return -1;
	*out = (struct vs_clone_source_tag) { .kind = kind };
	memcpy(out->of, hash, of_hash[kind]);
	return 0;
}

/* ---- which one -------------------------------------------------------------- */

bool vs_clone_source_is(const struct vs_inventory *inv, const struct vs_vm *vm,
			const struct vs_clone_source_key *key)
{
	return vm->as_parent && vm->parent.kind == key->mark.kind &&
	       (!key->host[0] || !strcmp(vm->host, key->host)) &&
	       !strcmp(vm->parent.of, key->mark.of) &&
	       vs_vm_lies_on(inv, vm, key->store);
}

bool vs_clone_source_reachable(const struct vs_vm *vm)
{
	return vm->readable && vm->connected && vm->host_ptr &&
	       vs_host_usable(vm->host_ptr);
}

static int rank(const struct vs_vm *vm)
{
	return 2 * vs_clone_source_reachable(vm) +
		(vs_clone_source_action(vm) == VS_CLONE_SOURCE_READY);
}

bool vs_clone_source_order(const struct vs_vm *a, const struct vs_vm *b)
{
	int by = b ? rank(a) - rank(b) : 1;

	return by > 0 || (!by && strcmp(a->name, b->name) < 0);
}

struct vs_vm *vs_clone_source_choose(const struct vs_inventory *inv,
				     const struct vs_clone_source_key *key,
				     const char *folder, const char *cluster_id)
{
	const struct vs_host *h = key->host[0] ? vs_host_get(inv, key->host) :
		NULL;
	struct vs_vm *vm = h ? LIST_FIRST(&h->vms) : LIST_FIRST(&inv->parents);
	struct vs_vm *best = NULL;

	for (; vm; vm = h ? LIST_NEXT(vm, on_host) :
		     LIST_NEXT(vm, with_parents))
		if (vs_clone_source_is(inv, vm, key) &&
		    vs_vm_owner(vm, folder, cluster_id) ==
			    VS_OWNER_CLONE_SOURCE &&
		    vs_clone_source_order(vm, best))
			best = vm;
	return best;
}

enum vs_clone_source_action vs_clone_source_action(const struct vs_vm *chosen)
{
	if (!chosen || !vs_clone_source_reachable(chosen))
		return chosen ? VS_CLONE_SOURCE_AWAY : VS_CLONE_SOURCE_MAKE;
	if (chosen->parent.kind == VS_CLONE_INSTANT)
		return chosen->power == VS_POWER_OFF ? VS_CLONE_SOURCE_BOOT :
		       chosen->power == VS_POWER_ON && chosen->clone.frozen ?
		       VS_CLONE_SOURCE_READY : VS_CLONE_SOURCE_FREEZES;
	return !chosen->clone.snapshot[0] ? VS_CLONE_SOURCE_SNAP :
					    VS_CLONE_SOURCE_READY;
}

/* ---- names ------------------------------------------------------------------ */

/* "images/rhel 9" gives "rhel-9". */
static void stem_of(const char *template_name, char out[STEM_MAX + 1])
{
	const char *last = template_name;

	for (const char *p = last; *p; p++)
		if (*p == '/')
			last = p + 1;
	vs_strlcpy(out, last, STEM_MAX + 1);
	for (char *p = out; *p; p++)
		if (!strchr(NAME_CHARS, *p))
			*p = '-';
}

void vs_clone_source_name(const char *cluster_id,
			  const struct vs_clone_source_key *key,
			  const char *template_name, unsigned int ordinal,
			  char out[VS_NAME_LEN])
{
	char stem[STEM_MAX + 1];
	uint64_t h = VS_HASH_START;

	stem_of(template_name, stem);
	h = vs_hash_str(h, cluster_id);
	h = vs_hash_str(h, vs_clone_name(key->mark.kind));
	h = vs_hash_str(h, key->mark.of);
	h = vs_hash_str(h, key->store);
	h = vs_hash_str(h, key->host);
	h ^= h >> 32;
	if (ordinal)
		snprintf(out, VS_NAME_LEN, "parent-%s-%08x-%u", stem,
			 (unsigned int)(h & 0xffffffff), ordinal + 1);
	else
		snprintf(out, VS_NAME_LEN, "parent-%s-%08x", stem,
			 (unsigned int)(h & 0xffffffff));
}

/* ---- children ----------------------------------------------------------------- */

/* bases: "[store] dir/\n" for each directory. */
static bool stands_on(const struct vs_vm *vm, const char *dir)
{
	size_t len = strlen(dir);

	for (const char *s = vm->disks.bases; s && *s && len;) {
		const char *end = strchr(s, '\n');

		if ((size_t)(end - s) == len && !strncmp(s, dir, len))
			return true;
		s = end + 1;
	}
	return false;
}

bool vs_clone_source_has_child(const struct vs_vm *parent,
			       const struct vs_vm *vm)
{
	return vm != parent &&
	       (stands_on(vm, parent->disks.dir) ||
		(vm->clone.from[0] && !strcasecmp(vm->clone.from, parent->uuid)));
}

size_t vs_clone_source_children(const struct vs_inventory *inv,
				const struct vs_vm *parent, const char *folder,
				bool *unsure)
{
	size_t n = 0;

	*unsure = false;
	for (const struct vs_vm *vm = inv->vms; vm; vm = vm->hh.next) {
		n += vs_clone_source_has_child(parent, vm);
		*unsure |= !vm->readable &&
			(!vm->disks.bases_told || !strcmp(vm->folder, folder));
	}
	return n;
}

int64_t vs_linked_mb(int64_t template_mb)
{
	int64_t mb = template_mb / LINKED_SHARE;

	if (mb < LINKED_MIN_MB)
		mb = LINKED_MIN_MB;
	return mb < template_mb ? mb : template_mb;
}
