/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the checks share; no other folder includes it. */
#ifndef VS_PLAN_CHECKS_I_H
#define VS_PLAN_CHECKS_I_H

#include "plan/checks/checks.h"

struct vs_usual {
	struct usual *all;
	struct { int64_t mem, cores; } *fits;	/* VMs, by profile */
};

/* One more has this value; "" counts nothing. */
void vs_usual_add(struct vs_usual *u, const char *kind, const char *key,
		  const char *value);
void vs_usual_count_pfs(struct vs_usual *u, const struct vs_check_site *s,
			const struct vs_host *h);

static inline bool vs_check_takes_vf(const struct vs_adapter *a)
{
	return vs_adapter_vfs(a) && vs_adapter_nics(a);
}

void vs_check_host_capacity(const struct vs_check_site *s,
			    const struct vs_usual *u, const struct vs_host *h,
			    struct vs_found_list *l);

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
/* A card of a kind by which this adapter's VMs get to its network on other
 * hosts; where none is known, any. */
bool vs_check_nic_adapter(const struct vs_usual *u, const struct vs_adapter *a,
			  const char *driver);
/* It has one that no adapter draws on, though it could be this one's. */
bool vs_check_surplus(const struct vs_check_site *s, const struct vs_usual *u,
		      const struct vs_host *h, size_t a);
/* Into maintenance, these commands (a line each, "": none), a reboot, and back
 * when the host is there again: no line comes before what it needs. */
char *vs_check_reboot(const struct vs_host *h, const char *commands);

#endif
