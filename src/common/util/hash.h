/* SPDX-License-Identifier: GPL-2.0-or-later */
/* uthash with our memory: what cannot be had aborts, never exit(-1) inside
 * slurmctld. Use this in place of <uthash.h>. */
#ifndef VS_UTIL_HASH_H
#define VS_UTIL_HASH_H

#include <stdlib.h>
#include <uthash.h>
#include "util/mem.h"

#undef uthash_malloc
#undef uthash_fatal
#define uthash_malloc(sz) vs_calloc(1, sz)
#define uthash_fatal(msg) abort()

#endif
