/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stage of tests that place gangs in one world. */
#ifndef VS_TEST_PLAN_STAGE_H
#define VS_TEST_PLAN_STAGE_H

#include "plan_world.h"

#define MANY 64

static struct world w;
static struct vs_place_node gang[MANY];

static int setup(void **state)
{
	(void)state;
	w_init(&w);
	w_gang(&w, gang, MANY);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	w_clear(&w);
	return 0;
}

static void place(size_t n)
{
	struct vs_err err = { 0 };

	if (vs_place(&w.env, gang, n, &err))
		fail_msg("%s", err.text);
}

#endif
