/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs whose VMs are suspended for another job's sake, as people read of them.
 * The lock is held.
 */
#include <stdio.h>
#include <string.h>
#include "engine/core_i.h"
#include "util/buf.h"
#include "util/time.h"

#define HOSTS_SAID 3

size_t vs_suspends_count(const struct vs_core *c)
{
	return HASH_COUNT(c->suspends.jobs);
}

/* " on esx01, esx02 and 4 more"; "": no VM of it is seen. */
static void hosts_words(struct vs_core *c, const struct vs_suspend *s,
			struct vs_buf *out)
{
	const struct vs_host *said[HOSTS_SAID];
	size_t n = 0, more = 0, k;

	VS_EACH_OF_SUSPEND(c, s, node) {
		const struct vs_vm *vm = vs_node_vm(c, node);

		if (!vm || !vm->host_ptr)
			continue;
		for (k = 0; k < n && said[k] != vm->host_ptr; k++)
			;
		if (k < n)
			continue;
		if (n < HOSTS_SAID)
			said[n++] = vm->host_ptr;
		else
			more++;
	}
	for (k = 0; k < n; k++)
		vs_buf_printf(out, "%s%s", k ? ", " : " on ", said[k]->name);
	if (more)
		vs_buf_printf(out, " and on others");
}

/* When it goes on, or why not. */
static void then_words(struct vs_core *c, const struct vs_suspend *s,
		       struct vs_buf *out)
{
	if (s->held) {
		vs_buf_printf(out, "; an operator has suspended it too: they go on after scontrol resume %u",
			      s->job);
		return;
	}
	if (s->for_job && vs_suspend_gives_way(s, vs_clock()))
		vs_buf_printf(out, "; they go on when that one has begun and there is room");
	else
		vs_buf_printf(out, "; they go on when there is room");
	hosts_words(c, s, out);
	if (s->why[0])
		vs_buf_printf(out, " (%s)", s->why);
}

void vs_suspend_words(struct vs_core *c, const struct vs_suspend *s, char *out,
		      size_t size)
{
	static const char *const doing[] = {
		[VS_SUSPEND_STOPS] = "are to be suspended",
		[VS_SUSPEND_HEEDS] = "are to be suspended",
		[VS_SUSPEND_GOES] = "are being suspended",
		[VS_SUSPEND_IS] = "are suspended",
		[VS_SUSPEND_RESUMES] = "are being resumed; they were suspended",
		[VS_SUSPEND_WAKES] = "are on again, and their slurmds are to answer; they were suspended",
	};
	struct vs_buf b = VS_BUF_INIT(1024);
	char at[32];

	vs_buf_printf(&b, "its VMs %s", doing[s->state]);
	if (s->state == VS_SUSPEND_IS && s->wall_ms) {
		vs_expect_clock(s->wall_ms / 1000, at, sizeof(at));
		vs_buf_printf(&b, " since %s", at);
	}
	if (s->for_job)
		vs_buf_printf(&b, " for JobId=%u", s->for_job);
	if (s->state == VS_SUSPEND_IS)
		then_words(c, s, &b);
	else if ((s->state == VS_SUSPEND_RESUMES ||
		  s->state == VS_SUSPEND_GOES) && s->why[0])
		vs_buf_printf(&b, " (%s)", s->why);
	snprintf(out, size, "%s", b.data ? b.data : "");
	vs_buf_free(&b);
}

void vs_suspend_vain_words(const struct vs_core *c, uint32_t for_job,
			   char *text, size_t size)
{
	int64_t until_ms = vs_suspend_vain_until(c, for_job);
	size_t at = strlen(text);
	char when[32];

	if (!until_ms || at >= size)
		return;
	vs_expect_clock(vs_report_epoch(until_ms), when, sizeof(when));
	snprintf(text + at, size - at,
		 "%sothers were suspended for it and it didn't begin: nobody is again before %s",
		 at ? "; " : "", when);
}
