/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host_devices.c: the devices of hosts that adapters hand to VMs whole. The lock is
 * held. */
#ifndef VS_ENGINE_INVENTORY_H
#define VS_ENGINE_INVENTORY_H

#include "engine/state/core_i.h"

/* Does any adapter hand out devices? Else nothing is read of them. */
bool vs_devices_wanted(const struct vs_core *c);
/* All rows of the host's table, from what vCenter tells of it; and one of them
 * for which there is no room (an address, or a name). */
void vs_host_rows(const struct vs_core *c, struct vs_host *to,
		  const struct vs_vc_host *h);
void vs_row_left_out(struct vs_host *to, const char *what);
/* The host's devices that some adapter wants, as rows after its PFs. */
void vs_devices_rows(const struct vs_core *c, struct vs_host *to,
		     const struct vs_vc_host *h);

/* The rest of those rows: what the host has by name (DVX classes, profiles). */
void vs_named_rows(const struct vs_core *c, struct vs_host *to, int from,
		   const struct vs_vc_host *h);

/* Those that would be, were they active, into its facts. */
struct vs_host_facts;
void vs_devices_idle(const struct vs_core *c, const struct vs_host *h,
		     const struct vs_vc_host *from, struct vs_host_facts *f);

#endif
