/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf's verbs, in the order in which help and the man page have them. */
#include <string.h>

#include "verb_table.h"
#include "svf/local/local.h"
#include "svf/map/map.h"
#include "svf/top/top.h"
#include "svf/verbs/verbs.h"

const struct svf_verb *const svf_verbs[] = {
	&svf_hosts, &svf_nodes, &svf_jobs, &svf_why, &svf_plan, &svf_status,
	&svf_reconcile, &svf_pause, &svf_resume, &svf_adopt, &svf_vm,
	&svf_host, &svf_conf,
	&svf_check, &svf_support, &svf_top, &svf_map, &svf_adapters,
	&svf_clone_sources, NULL
};

const struct svf_verb *svf_verb_named(const char *name)
{
	for (const struct svf_verb *const *v = svf_verbs; *v; v++)
		if (!strcmp((*v)->name, name))
			return *v;
	return NULL;
}
