/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between check.c, check_host.c, check_pf.c and check_site.c. */
#ifndef VS_PLAN_CHECK_I_H
#define VS_PLAN_CHECK_I_H

#include "plan/check.h"

/* One more has this value; "" counts nothing. */
void vs_usual_add(struct vs_usual *u, const char *kind, const char *key,
		  const char *value);
void vs_usual_count_pfs(struct vs_usual *u, const struct vs_check_site *s,
			const struct vs_host *h);

static inline bool vs_check_takes_vf(const struct vs_adapter *a)
{
	return vs_adapter_kinds[a->type].takes_vf;
}

/* What the host says of the switch of an adapter's network; NULL: nothing. */
const struct vs_switch_facts *vs_check_switch(const struct vs_host *h,
					      const struct vs_network *net);
/* A PF by which the adapter's VMs get to its network? Of this driver, which the
 * host's facts must say; "": of any. */
bool vs_check_has_pf(const struct vs_check_site *s, const struct vs_host *h,
		     size_t a, const char *driver);
/* Uplinks of the adapter's network that can't be PFs, though they should: all,
 * if it has no PF there; else those of the PFs' driver. False: it has none. */
bool vs_check_incapable(const struct vs_check_site *s, const struct vs_usual *u,
			const struct vs_host *h, size_t a,
			struct vs_found_list *l);
/* Leave it, into maintenance, and come back anew. */
char *vs_check_reboot(const struct vs_host *h);

#endif
