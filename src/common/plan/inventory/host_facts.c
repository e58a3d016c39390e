/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of what is known of a host for the checks: see host_facts.h.
 */
#include <stdlib.h>
#include "plan/inventory/host_facts.h"
#include "util/mem.h"

struct vs_host_facts *vs_host_facts_new(void)
{
	struct vs_host_facts *f = vs_calloc(1, sizeof(*f));

	f->setup.clocks = f->setup.reboot = -1;
	return f;
}

void vs_host_facts_free(struct vs_host_facts *f)
{
	if (!f)
		return;
	free(f->switches);
	free(f->incapable);
	free(f->idle);
	free(f);
}
