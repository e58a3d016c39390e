/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the start-up script leaves on a node, in a directory of the test's. */
#ifndef GUEST_STAGE_H
#define GUEST_STAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cmocka_range.h"
#include "scratch.h"
#include "util/mem.h"

static char dir[SCRATCH_LEN];

static void put(const char *name, const char *text)
{
	VS_FREE char *path = vs_asprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
}

static int up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(scratch_path(dir, "guest")));
	setenv("SLURM_VSPHERE_RUN", dir, 1);
	return 0;
}

static int down(void **state)
{
	const char *names[] = { "ready", "place", "state", "checker",
		"asked" };

	(void)state;
	for (size_t i = 0; i < VS_COUNT(names); i++) {
		VS_FREE char *path = vs_asprintf("%s/%s", dir, names[i]);

		unlink(path);
	}
	assert_int_equal(rmdir(dir), 0);	/* nothing else was left */
	return 0;
}

#endif
