/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suspend as a preemption action.
 */
#include "engine/core_i.h"

struct vs_suspend *vs_suspend_of(const struct vs_core *c, uint32_t job)
{
	struct vs_suspend *s = c->suspends;

	while (s && s->job != job)
		s = s->next;
	return s;
}
