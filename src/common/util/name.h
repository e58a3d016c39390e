/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names: PCI addresses, MAC addresses, uuids, the owner mark. */
#ifndef VS_UTIL_NAME_H
#define VS_UTIL_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "util/err.h"

#define VS_MAC_LEN 18		/* "00:50:56:3a:bc:de" and its NUL */
#define VS_UUID_LEN 37
#define VS_PCI_LEN 13		/* "0000:3b:00.0" and its NUL */

/* What follows a noun after a number: "" after 1, else "s". */
static inline const char *vs_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/*
 * A PCI address dddd:bb:ss.f in lower case into out. The error names the form
 * expected (the field's name is the caller's to prefix).
 */
int vs_pci_parse(const char *s, char out[VS_PCI_LEN], struct vs_err *err);

/*
 * The next name of a list "a, b" at *list, which moves on past it: its start in
 * *name and its length, without the blanks around it. 0: there are no more;
 * empty names are passed over.
 */
size_t vs_list_next(const char **list, const char **name);

/*
 * The MAC of NIC `index` of a node: stable over every rebuild, in VMware's
 * range for manual addresses (00:50:56:00:00:00-00:50:56:3f:ff:ff). Two
 * names may collide in these 22 bits; the caller checks its set of nodes and
 * raises salt for the later name (in sorted order) until it is free.
 */
void vs_mac_make(const char *cluster_id, const char *node, unsigned int index,
		 unsigned int salt, char out[VS_MAC_LEN]);

/* A random uuid (version 4), lower case. */
void vs_uuid_random(char out[VS_UUID_LEN]);
bool vs_uuid_valid(const char *s);

/* 64-bit FNV-1a, chained: start with VS_HASH_START. */
#define VS_HASH_START 0xcbf29ce484222325ULL
uint64_t vs_hash(uint64_t h, const void *data, size_t len);
uint64_t vs_hash_str(uint64_t h, const char *s);	/* NUL included */

/*
 * The ownership tag, "CLUSTERID/NODE/INSTANCEUUID": that is format 1, and has no
 * prefix. Each later format begins with "vN:", N its number. So an earlier release
 * takes the VM for none of its own, and leaves it alone.
 */
#define VS_KEY_OWNER "slurm.vsphere.owner"
#define VS_KEY_PROFILE "slurm.vsphere.profile"
#define VS_OWNER_TAG_FORMAT 1
struct vs_owner_tag {
	char cluster[VS_UUID_LEN];
	char node[64];
	char uuid[VS_UUID_LEN];
};
/* Returns 0. Returns -1 for what is no tag of VS_OWNER_TAG_FORMAT. */
int vs_owner_tag_parse(const char *s, struct vs_owner_tag *out);
/* Returns the format that the text names, 1 if it names none. */
int vs_owner_tag_version(const char *s);
char *vs_owner_tag_format(const struct vs_owner_tag *m);	/* free() it */

/* Is it UTF-8, as JSON must be (no surrogates, nothing overlong)? */
bool vs_utf8_valid(const char *s);

/* A node or object name we are willing to put into requests and paths:
 * 1-63 of [A-Za-z0-9._-], not starting with '-' or '.'. */
bool vs_node_name_valid(const char *s);

#define VS_DISTANCE_MAX 63
/* How many letters must be changed, added or left out to make b of a, without
 * regard to case: for "did you mean". Of more than VS_DISTANCE_MAX letters the
 * rest isn't looked at. */
unsigned int vs_name_distance(const char *a, size_t alen, const char *b,
			      size_t blen);

#endif
