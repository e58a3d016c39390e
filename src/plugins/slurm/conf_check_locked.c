/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of slurm.conf for `svf check` of a running slurmctld: the port's call
 * takes the locks. It comes from the control channel's thread, and holds a read lock
 * for as long as a few strings and a walk over the nodes take.
 */
#include "conf_check.h"
#include "compat.h"
#include "suspend_exclusions.h"
#include "util/mem.h"
#include "util/name.h"

static bool is_time(uint32_t suspend_time)
{
	return suspend_time != INFINITE && suspend_time != NO_VAL;
}

#define LIST_MAX 900

/* Cut after a whole name, or range, if it is too long for a line. */
static void shorten(char *list)
{
	int depth = 0, inside = 0;
	size_t end = 0;

	if (strlen(list) <= LIST_MAX)
		return;
	for (size_t i = 0; i < LIST_MAX; i++) {
		depth += (list[i] == '[') - (list[i] == ']');
		if (list[i] != ',')
			continue;
		end = i;
		inside = depth;
	}
	if (inside)
		list[end++] = ']';
	list[end] = '\0';
}

/* "bm[...]" may be long: the first one, and how many. */
static void others(vs_slurm_found *fn, void *arg)
{
	const char *first = "";
	char *list = NULL, is[256], should[160], fix[LIST_MAX + 240];
	size_t n = vs_suspend_unmanaged(&first, &list);

	if (!n)
		return;
	snprintf(is, sizeof(is), "%zu node%s that %s no VM%s: %s%s", n,
		 vs_plural(n), n == 1 ? "is" : "are", vs_plural(n),
		 first, n == 1 ? "" : ", ...");
	shorten(list);
	snprintf(should, sizeof(should), "SuspendTime=INFINITE, and SuspendTime=%u in the VMs' PartitionName= lines",
		 is_time(slurm_conf.suspend_time) ? slurm_conf.suspend_time : 600);
	snprintf(fix, sizeof(fix), "%s; or add to SuspendExcNodes=: %s", should,
		 list);
	fn(arg, VS_CHECK_SLURM_OTHERS, is, should, fix);
	xfree(list);
}

void vs_slurm_conf_check(void *ctx, const struct vs_slurm_bounds *b,
			 vs_slurm_found *fn, void *arg)
{
	(void)ctx;
	vs_lock_parts_read();
	vs_slurm_checks(b, fn, arg);
	others(fn, arg);
	vs_unlock_parts_read();
}
