/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm's host lists: "vm[001-004,007],other". */
#ifndef VS_UTIL_HOSTLIST_H
#define VS_UTIL_HOSTLIST_H

#include <stddef.h>

/*
 * Returns a NULL-terminated array for vs_hostlist_free(). Returns NULL if the
 * list is malformed, has more than 65,536 names or 4 MiB of them, or a name of
 * more than 255 bytes; no more than these 4 MiB were taken then.
 */
char **vs_hostlist_expand(const char *list);
void vs_hostlist_free(char **names);

/*
 * The shortest list that this way of writing gives for n names, in the order
 * in which their kinds first come: "esx[01-03,07].example.org,other". Each name
 * once. Of a name the last digits count that are followed by none but in its
 * domain. free() it; "" for none.
 */
char *vs_hostlist_compress(const char *const *names, size_t n);

#endif
