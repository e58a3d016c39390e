/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A test's own directory or file below TMPDIR, for mkdtemp() and mkstemp(). run.sh
 * fails a program that leaves one behind. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#define SCRATCH_LEN 96		/* of the path */
#define SCRATCH_FILE (SCRATCH_LEN + 40)	/* of a file's in it */

/* Fills path with a template, and returns it. */
static inline char *scratch_path(char path[SCRATCH_LEN], const char *name)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(path, SCRATCH_LEN, "%s/vs-%s-XXXXXX",
		 tmp && tmp[0] ? tmp : "/tmp", name);
	return path;
}

static inline int scratch_drop(const char *path, const struct stat *st, int type,
			       struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* With all that is in it. */
static inline void scratch_remove(const char *path)
{
	nftw(path, scratch_drop, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
