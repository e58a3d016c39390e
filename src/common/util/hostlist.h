/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm's host lists: "vm[001-004,007],other". */
#ifndef VS_UTIL_HOSTLIST_H
#define VS_UTIL_HOSTLIST_H

/* A NULL-terminated array for vs_hostlist_free(); NULL if the list is
 * malformed. */
char **vs_hostlist_expand(const char *list);
void vs_hostlist_free(char **names);

#endif
