/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A template's disks: what a clone of them takes, their keys for a clone's
 * storage policy, and whether they, or its files, are encrypted.
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/vc_i.h"

/*
 * What a clone of these disks takes: as much as they take themselves, which for
 * thin ones is less than they may grow to. Where that isn't told, what is
 * certain: the thick ones.
 */
static int64_t disks_mb(struct vs_j dev, struct vs_j committed)
{
	int64_t all = 0, thick = 0, bytes, has = vs_j_int_or(committed, 0);
	size_t n = vs_j_len(dev);

	for (size_t i = 0; i < n; i++) {
		struct vs_j d = vs_j_at(dev, i);

		if (strcmp(vs_j_type(d), "VirtualDisk"))
			continue;
		bytes = vs_j_int_or(vs_j_opt(d, "capacityInBytes"),
				    vs_j_int_or(vs_j_opt(d, "capacityInKB"),
						0) * 1024);
		all += bytes;
		if (!vs_j_bool_or(vs_j_opt(vs_j_opt(d, "backing"),
					   "thinProvisioned"), true))
			thick += bytes;
	}
	bytes = has < all ? has : all;
	return (bytes > thick ? bytes : thick) >> 20;
}

static void disks_set(struct vcx_template *t, struct vs_j dev)
{
	size_t n = vs_j_len(dev);

	free(t->disks);
	t->disks = vs_calloc(n + 1, sizeof(*t->disks));
	t->ndisks = 0;
	for (size_t i = 0; i < n; i++) {
		struct vs_j d = vs_j_at(dev, i);

		if (!strcmp(vs_j_type(d), "VirtualDisk"))
			t->disks[t->ndisks++] =
				(int)vs_j_int_or(vs_j_opt(d, "key"), 0);
	}
}

/* Its files, or a disk, have a key (vSphere API, CryptoKeyId). */
static void keys_set(struct vcx_template *t, struct vs_j props,
		     struct vs_j dev)
{
	bool tpm = false;
	bool key = !vs_j_null(vs_vcx_prop(props, "config.keyId"));

	for (size_t i = 0, n = vs_j_len(dev); i < n; i++) {
		struct vs_j d = vs_j_at(dev, i);

		tpm |= !strcmp(vs_j_type(d), "VirtualTPM");
		key |= !strcmp(vs_j_type(d), "VirtualDisk") &&
			!vs_j_null(vs_j_opt(vs_j_opt(d, "backing"), "keyId"));
	}
	t->changed |= t->tpm != tpm || t->encrypted != key;
	t->tpm = tpm;
	t->encrypted = key;
}

void vs_vcx_template_disks(struct vcx_template *t, struct vs_j props,
			   struct vs_j dev)
{
	t->disk_mb = disks_mb(dev, vs_vcx_prop(props,
					       "summary.storage.committed"));
	disks_set(t, dev);
	keys_set(t, props, dev);
}
