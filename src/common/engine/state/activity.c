/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How soon the engine must hear of what changes in vCenter. While something is
 * wanted or under way, at once; when nothing has been for a while, changes by
 * others may come together, for each telling costs a call.
 *
 * Rules: what stirs is said by what the last pass has found, and by operators;
 * the pause goes with the first of it. VMs that are on may run jobs, and what
 * befalls them may come a few seconds late, not more. Never judges a change.
 */
#include "engine/state/state.h"

#define CALM_AFTER_MS 30000

static int64_t stirred_ms;

void vs_activity_wake(int64_t now_ms)
{
	vs_assert_locked();
	stirred_ms = now_ms;
}

void vs_activity_publish(struct vs_core *c, bool stirs, bool keeps,
			 int64_t now_ms)
{
	vs_assert_locked();
	if (stirs)
		vs_activity_wake(now_ms);
	if (c->vc)
		vs_vc_poll_set(c->vc, now_ms - stirred_ms < CALM_AFTER_MS ?
					      VS_VC_POLL_HIGH :
				      keeps ? VS_VC_POLL_LOW :
					      VS_VC_POLL_LOWEST);
}
