/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What no host will ever hold. */
#ifndef VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_STATIC_CAPACITY_H
#define VS_PLUGINS_SELECT_CONS_TRES_VSPHERE_STATIC_CAPACITY_H

#include "controller.h"
#include "job_test.h"

/*
 * A new job for which there is no choice among these candidates that the hosts
 * could hold if all were well; the log says why. A queued job is never told so:
 * it would be held, even when capacity is back.
 */
bool vs_never(const struct vs_test *t, const struct vs_core_api *core,
	      const struct vs_picked *p);

#endif
