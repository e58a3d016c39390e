/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words to Slurm: noted while the core's lock is held, said by the engine's
 * thread at the end of its turn, without it, for the port takes slurmctld's
 * locks. What many nodes have in common is said once. What a job got is kept here
 * until it is said.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/slurm/outbox.h"
#include "engine/slurm/slurm_ops.h"
#include "engine/state/state.h"
#include "util/crash.h"
#include "util/mem.h"
#include "util/time.h"

#define PUSH_MS 1000

static struct vs_outbox_request *tells;
static size_t ntells, cap_tells;
static struct vs_assignment *gots;	/* of jobs whose prolog is answered */
static const struct vs_prep_ops *prep;

void vs_outbox_prep_set(const struct vs_prep_ops *ops)
{
	prep = ops;
}

struct vs_outbox_request *vs_outbox_take(size_t *n)
{
	struct vs_outbox_request *all = tells;

	*n = ntells;
	tells = NULL;
	ntells = cap_tells = 0;
	return all;
}

void vs_outbox_clear(void)
{
	ntells = 0;
}

void vs_outbox_release_unsent(const char *node)
{
	size_t kept = 0;

	for (size_t i = 0; i < ntells; i++)
		if (tells[i].kind != VS_REQUEST_RELEASE || tells[i].job ||
		    strcmp(tells[i].node, node))
			tells[kept++] = tells[i];
	ntells = kept;
}

void vs_outbox_post(enum vs_slurm_request kind, const char *node,
		    uint32_t job, bool ok, const char *text)
{
	struct vs_outbox_request *t;

	vs_assert_locked();
	VS_GROW(tells, cap_tells, ntells + 1);
	t = &tells[ntells++];
	t->kind = kind;
	vs_strlcpy(t->node, node ? node : "", sizeof(t->node));
	t->job = job;
	t->ok = ok;
	t->at_ms = 0;
	t->done = NULL;
	t->got = NULL;
	t->accepted = false;
	/* A guest's or a vCenter's words may be in it. */
	vs_one_line(vs_strlcpy(t->text, text ? text : "", sizeof(t->text)));
}

void vs_outbox_ask(enum vs_slurm_request kind, const char *node, uint32_t job,
		   bool ok, const char *text, vs_outbox_answer_fn *done)
{
	vs_outbox_post(kind, node, job, ok, text);
	tells[ntells - 1].done = done;
}

void vs_outbox_post_booted(const char *node, int64_t at_ms,
			   bool ask)
{
	vs_outbox_post(VS_REQUEST_BOOTED, node, 0, ask, NULL);
	tells[ntells - 1].at_ms = at_ms;
}

/* ---- what jobs got ------------------------------------------------------------ */

void vs_outbox_post_assignment(struct vs_assignment *g)
{
	g->next = gots;
	gots = g;
}

static void got_free(struct vs_assignment *g)
{
	for (size_t i = 0; i < g->n; i++) {
		free(g->rows[i].node);
		free(g->rows[i].adapter);
		free(g->rows[i].host);
		free(g->rows[i].pfs);
		free(g->rows[i].took);
	}
	free(g->rows);
	free(g);
}

/* The latest of this job, unlinked; NULL: there is none. */
static struct vs_assignment *take(uint32_t job)
{
	struct vs_assignment **link = &gots, *g;

	while (*link && (*link)->job != job)
		link = &(*link)->next;
	g = *link;
	if (g)
		*link = g->next;
	return g;
}

void vs_outbox_assignments_take(struct vs_outbox_request *said, size_t n)
{
	vs_assert_locked();
	for (size_t i = 0; i < n; i++)
		said[i].got = said[i].kind == VS_REQUEST_PROLOG ||
			said[i].kind == VS_REQUEST_ASSIGNMENT ?
			take(said[i].job) : NULL;
}

static void got_say(const struct vs_slurm_ops *p, struct vs_outbox_request *t)
{
	if (!t->got)
		return;
	vs_crash_before("tell", "got");
	p->job_got(p->ctx, t->job, t->got->rows, t->got->n);
	vs_crash_after("tell", "got");
	got_free(t->got);
	t->got = NULL;
}

void vs_outbox_assignments_clear(void)
{
	while (gots)
		got_free(take(gots->job));
}

/* ---- one word ------------------------------------------------------------------ */

/* t->ok: not for the first time. */
static void powered_down(const struct vs_outbox_request *t)
{
	if (t->accepted && !t->ok)
		vs_info("node=%s is powered down: %s", t->node, t->text);
}

void vs_outbox_answered(struct vs_core *c, const struct vs_outbox_request *said,
			size_t n)
{
	vs_assert_locked();
	for (size_t i = 0; i < n; i++) {
		if (said[i].kind == VS_REQUEST_POWER_DOWN)
			powered_down(&said[i]);
		if (said[i].done)
			said[i].done(c, &said[i], said[i].accepted);
	}
}

#ifdef VS_CRASH_POINTS
static const char *const tell_names[] = {
	[VS_REQUEST_REBUILD] = "rebuild",
	[VS_REQUEST_POWER_DOWN] = "power_down",
	[VS_REQUEST_FAIL] = "fail",
	[VS_REQUEST_RELEASE] = "giveup",
	[VS_REQUEST_SCAN] = "scan",
	[VS_REQUEST_PROLOG] = "prolog",
	[VS_REQUEST_EPILOG] = "epilog",
	[VS_REQUEST_REASON] = "reason",
	[VS_REQUEST_SCHEDULE] = "schedule",
	[VS_REQUEST_BOOT_PUSH] = "boot_push",
	[VS_REQUEST_BOOTED] = "booted",
	[VS_REQUEST_ADOPT] = "adopt",
	[VS_REQUEST_DRAIN] = "drain",
	[VS_REQUEST_UNDRAIN] = "undrain",
	[VS_REQUEST_POWER_UP] = "power_up",
	[VS_REQUEST_ASSIGNMENT] = "got",
	[VS_REQUEST_REQUEUED] = "reason",
};
#endif

static bool together(enum vs_slurm_request k)
{
	return k == VS_REQUEST_SCAN || k == VS_REQUEST_BOOT_PUSH ||
	       k == VS_REQUEST_SCHEDULE;
}

/* PrEpPlugins was checked, and only prep/vsphere makes a job wait. */
static void prep_is_missing(uint32_t job, const char *call)
{
	vs_error("bug: no plugin answers the %s of JobId=%u", call, job);
}

static void say_of_job(struct vs_core *c, struct vs_outbox_request *t)
{
	const struct vs_slurm_ops *p = c->port;

	switch (t->kind) {
	case VS_REQUEST_PROLOG:
		got_say(p, t);
		if (prep)
			prep->prolog_done(t->job, t->ok);
		else
			prep_is_missing(t->job, "prolog");
		break;
	case VS_REQUEST_REQUEUED:
		p->job_requeued(p->ctx, t->job, t->text);
		break;
	case VS_REQUEST_ASSIGNMENT:
		got_say(p, t);
		break;
	case VS_REQUEST_EPILOG:
		p->job_got(p->ctx, t->job, NULL, 0);
		if (prep)
			prep->epilog_done(t->job);
		else
			prep_is_missing(t->job, "epilog");
		break;
	case VS_REQUEST_REASON:
		p->job_reason(p->ctx, t->job, t->text);
		break;
	default:
		break;		/* together, below */
	}
}

static void say(struct vs_core *c, struct vs_outbox_request *t)
{
	const struct vs_slurm_ops *p = c->port;

	vs_crash_before("tell", tell_names[t->kind]);
	if (t->kind <= VS_REQUEST_NODE_LAST)
		t->accepted = !p->node_set(p->ctx, t->node, t->kind, t->job,
					   t->text);
	else if (t->kind == VS_REQUEST_BOOTED)
		p->node_booted(p->ctx, t->node, t->at_ms ?
			       vs_clock() - t->at_ms : -1, t->ok);
	else
		say_of_job(c, t);
	vs_crash_after("tell", tell_names[t->kind]);
}

void vs_outbox_say(struct vs_core *c, struct vs_outbox_request *said, size_t n,
		   bool whole, int64_t now_ms, int64_t *push_ms)
{
	const struct vs_slurm_ops *p = c->port;
	VS_FREE const char **push = vs_calloc(n + 1, sizeof(*push));
	bool scan = false, schedule = false;
	size_t npush = 0;

	for (size_t i = 0; i < n; i++) {
		scan |= said[i].kind == VS_REQUEST_SCAN;
		schedule |= said[i].kind == VS_REQUEST_SCHEDULE;
		if (said[i].kind == VS_REQUEST_BOOT_PUSH)
			push[npush++] = said[i].node;
		if (!together(said[i].kind))
			say(c, &said[i]);
	}
	/* Of all that wait, or some would be left out again and again. */
	if (!whole || now_ms - *push_ms < PUSH_MS)
		npush = scan = 0;
	if (npush || scan)
		*push_ms = now_ms;
	if (npush) {
		vs_crash_before("tell", "boot_push");
		p->nodes_boot_push(p->ctx, push, npush);
		vs_crash_after("tell", "boot_push");
	}
	if (scan) {
		vs_crash_before("tell", "scan");
		p->power_scan(p->ctx);
		vs_crash_after("tell", "scan");
	}
	if (schedule) {
		vs_crash_before("tell", "schedule");
		p->schedule(p->ctx);
		vs_crash_after("tell", "schedule");
	}
}
