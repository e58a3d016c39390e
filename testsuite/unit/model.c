/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See model.h: power_save's states of a node, slurmd's registering, jobs from
 * the queue to their end, users and administrators, and the port by which the
 * engine speaks to all of it. Slurm's rules only, nothing of what the engine
 * ought to do; what it must never do is judged where it would hurt.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "fake_vc.h"
#include "model.h"

#define PUSHED_MS 30000		/* ResumeTimeout is put off to so long ago */
#define GIVEN_UP_MOST 3		/* without an effect: each is three log lines */

struct model model;

unsigned model_random(unsigned below)
{
	model.seed = model.seed * 1103515245u + 12345u;
	return (model.seed >> 8) % below;
}

bool model_chance(unsigned permille)
{
	return model_random(1000) < permille;
}

static void __attribute__((format(printf, 1, 0)))
say(const char *fmt, va_list args)
{
	fprintf(model.story, "%8.1f ", (double)model.now / 1000);
	vfprintf(model.story, fmt, args);
	putc('\n', model.story);
}

void model_say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
}

void model_broken(const char *fmt, ...)
{
	va_list args;

	model.broken++;
	fputs("BROKEN: ", model.story);
	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
}

void model_begin(unsigned seed, FILE *story)
{
	static const char *const retentions[] = { "warm", "power_off", "destroy" };

	model = (struct model) {
		.seed = seed * 2654435761u + 1, .story = story, .events = true,
	};
	model.retention = retentions[model_random(3)];
	for (int k = 0; k < MODEL_NODES; k++)
		model.nodes[k].powered_down = true;
	for (int j = 1; j <= MODEL_JOBS; j++) {
		struct model_job *q = &model.jobs[j];

		q->n = 1 + (int)model_random(2);
		q->length_ms = 200 + (int)model_random(20000);
		/* a VM that is made for one job has no other beside it */
		q->exclusive = !strcmp(model.retention, "destroy") ||
			model_chance(300);
	}
}

/* ---- nodes --------------------------------------------------------------- */

bool model_active(const struct model_job *q)
{
	return q->state == MODEL_CONFIGURING || q->state == MODEL_RUNNING;
}

bool model_has(const struct model_job *q, int k)
{
	return model_active(q) &&
		(q->nodes[0] == k || (q->n > 1 && q->nodes[1] == k));
}

int model_jobs_on(int k)
{
	int n = 0;

	for (int j = 1; j <= MODEL_JOBS; j++)
		n += model_has(&model.jobs[j], k);
	return n;
}

static bool runs_on(int k)
{
	for (int j = 1; j <= MODEL_JOBS; j++)
		if (model_has(&model.jobs[j], k) &&
		    model.jobs[j].state == MODEL_RUNNING)
			return true;
	return false;
}

static bool in_power_save(const struct model_node *n)
{
	return n->powered_down || n->powering_up || n->powering_down;
}

bool model_is_up(const struct model_node *n)
{
	return !in_power_save(n) && !n->down && !n->silent;
}

/* As slurm_ops/node_repair.c, when the nodes are read. */
static void repair(int k)
{
	struct model_node *n = &model.nodes[k];
	bool wrong = n->down ? n->timed_out && !n->drained :
		n->stale || (n->silent && !n->drained);

	if (!n->powered_down || n->powering_up || n->powering_down ||
	    model_jobs_on(k) || !wrong)
		return;
	n->stale = n->silent = n->down = n->timed_out = false;
	model_say("vm%d is idle again", k + 1);
}

uint32_t model_flags(int k)
{
	const struct model_node *n = &model.nodes[k];

	return (n->powered_down ? VS_NODE_POWERED_DOWN : 0) |
		(n->powering_up ? VS_NODE_POWERING_UP : 0) |
		(n->powering_down ? VS_NODE_POWERING_DOWN : 0) |
		(n->off_asked ? VS_NODE_POWER_DOWN_ASKED : 0) |
		(n->on_asked ? VS_NODE_POWER_UP_ASKED : 0) |
		(n->down ? VS_NODE_DOWN : 0) |
		(n->timed_out ? VS_NODE_SILENT | VS_NODE_NO_RESPOND : 0) |
		(n->silent ? VS_NODE_NO_RESPOND : 0) |
		(n->drained ? VS_NODE_DRAIN | VS_NODE_TAKEN : 0) |
		(n->stale || model_jobs_on(k) ? VS_NODE_ALLOCATED : 0) |
		(model_is_up(n) ? VS_NODE_UP : 0);
}

void model_tell_flags(void)
{
	for (int k = 0; k < MODEL_NODES; k++) {
		uint32_t flags = model_flags(k);

		/* as read; then the port repairs */
		vs_node_flags(&vs_core, &core_nodes()[k], flags);
		repair(k);
	}
}

struct fake_vm *model_vm(int k)
{
	struct fake_vm *vm = fake_get(core_nodes()[k].name);

	return vm && vm->mark[0] ? vm : NULL;	/* else it is foreign */
}

bool model_lost(const struct fake_vm *vm)
{
	return model.lost && vm->host[5] == '0' + model.lost;
}

void model_leave(int j, bool requeue)
{
	struct model_job *q = &model.jobs[j];

	q->state = requeue ? MODEL_QUEUED : MODEL_OVER;
	q->restart += requeue;
	q->waits = false;
	vs_job_end(&vs_core, (uint32_t)j, q->nodes, (size_t)q->n, false);
	for (int i = 0; i < q->n; i++)
		model.nodes[q->nodes[i]].idle_ms = model.now;
}

void model_requeue_on(int k)
{
	for (int j = 1; j <= MODEL_JOBS; j++) {
		if (!model_has(&model.jobs[j], k))
			continue;
		model_say("job %d is requeued, for vm%d", j, k + 1);
		model_leave(j, true);
	}
}

void model_set_down(int k, const char *why)
{
	struct model_node *n = &model.nodes[k];

	model_say("vm%d is DOWN: %s", k + 1, why);
	n->powering_up = n->off_asked = n->silent = n->drained = false;
	n->stale = false;
	n->timed_out = !strcmp(why, "Not responding");
	n->powered_down = !n->timed_out;
	n->down = true;
	n->lost_ms = 0;
	model_requeue_on(k);
}

/* ---- what the engine says ------------------------------------------------ */

static int node_of(const char *name)
{
	return vs_node_named(&vs_core, name)->id;
}

/* It was meant for a job that has the node no more. */
static bool came_too_late(int k, uint32_t job)
{
	return model_jobs_on(k) && job != VS_JOB_ANY &&
		!(job && model_has(&model.jobs[job], k));
}

static void boots(struct model_node *n)
{
	n->powering_up = true;
	n->silent = false;
	n->boot_ms = model.now;
	n->untimed = false;
}

static int rebuild(const char *node)
{
	int k = node_of(node);
	struct model_node *n = &model.nodes[k];

	fake_trace_line("slurm: rebuild %s", node);
	if (!n->powering_up && !in_power_save(n) && !n->down && !runs_on(k))
		boots(n);
	model_say("engine: rebuild vm%d: %s", k + 1,
		  n->powering_up ? "yes" : "no");
	return n->powering_up ? 0 : -1;
}

static int power_down(const char *node, const char *why)
{
	int k = node_of(node);
	struct model_node *n = &model.nodes[k];

	fake_trace_line("slurm: power_down %s", node);
	if (!model_is_up(n) || model_jobs_on(k))
		return -1;
	if (!n->off_asked)
		model_say("engine: power down vm%d: %s", k + 1, why);
	n->off_asked = true;
	return 0;
}

static int fail(const char *node, uint32_t job, const char *reason)
{
	int k = node_of(node);

	fake_trace_line("slurm: fail %s job=%u", node, job);
	if (came_too_late(k, job))
		return -1;
	model_set_down(k, reason);
	return 0;
}

/* As vs_slurm_node_emptied(). */
static void emptied(struct model_node *n)
{
	n->stale = false;
}

static int release(const char *node, uint32_t job, const char *reason)
{
	int k = node_of(node);
	struct model_node *n = &model.nodes[k];

	fake_trace_line("slurm: giveup %s job=%u", node, job);
	if (came_too_late(k, job) || n->powering_down ||
	    (!model_jobs_on(k) && n->powered_down))
		return -1;
	model_say("engine: give up vm%d: %s", k + 1, reason);
	if (++n->given_up > GIVEN_UP_MOST)
		model_broken("vm%d was given up %d times", k + 1, n->given_up);
	model_requeue_on(k);
	emptied(n);
	n->powering_up = n->powered_down = n->down = n->silent = false;
	n->on_asked = n->timed_out = false;
	if (n->stale) {		/* power saving passes it over */
		n->off_asked = true;
		return 0;
	}
	n->off_asked = false;
	n->given_up = 0;
	n->powering_down = true;
	n->powering_down_until = model.now + MODEL_SUSPENDING_MS;
	return 0;
}

static void nodes_boot_push(void *ctx, const char *const *nodes, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		struct model_node *p = &model.nodes[node_of(nodes[i])];

		fake_trace_line("slurm: boot_push %s", nodes[i]);
		if (!p->powering_up)
			continue;
		p->untimed = false;
		if (p->boot_ms < model.now - PUSHED_MS)
			p->boot_ms = model.now - PUSHED_MS;
	}
}

static void node_booted(void *ctx, const char *node, int64_t ago_ms, bool ask)
{
	int k = node_of(node);
	struct model_node *n = &model.nodes[k];

	(void)ctx;
	fake_trace_line("slurm: booted %s ago_ms=%" PRId64 " ask=%d", node,
			ago_ms, ask);
	model_say("engine: vm%d has booted%s", k + 1, ask ? ", ask it" : "");
	if (!n->powering_up)
		return;
	if (ago_ms >= 0)
		n->boot_ms = model.now - ago_ms - 2000;
	else if (ask)
		n->boot_ms = 1;
	n->untimed = n->boot_ms < model.now - PUSHED_MS;
	if (ask)
		n->register_ms = model.now + 300;
}

static int adopt(const char *node)
{
	int k = node_of(node);
	struct model_node *n = &model.nodes[k];

	fake_trace_line("slurm: adopt %s", node);
	if (!n->powered_down || n->powering_up || n->powering_down || n->down)
		return -1;
	if (n->moid[0] && model_chance(500)) {
		n->powered_down = n->stale = false;
		n->idle_ms = model.now;
		model_say("vm%d registers, and is adopted", k + 1);
	}
	return 0;
}

static int node_set(void *ctx, const char *node, enum vs_slurm_request change,
		    uint32_t job, const char *reason)
{
	(void)ctx;
	switch (change) {
	case VS_REQUEST_REBUILD:
		return rebuild(node);
	case VS_REQUEST_POWER_DOWN:
		return power_down(node, reason);
	case VS_REQUEST_ADOPT:
		return adopt(node);
	case VS_REQUEST_FAIL:
		return fail(node, job, reason);
	case VS_REQUEST_RELEASE:
		return release(node, job, reason);
	case VS_REQUEST_DRAIN:
		fake_trace_line("slurm: drain %s", node);
		return 0;
	case VS_REQUEST_UNDRAIN:
		fake_trace_line("slurm: undrain %s", node);
		return 0;
	default:
		model_broken("%s: no such change: %d", node, (int)change);
		return -1;
	}
}

/* I2, and no job on a VM that was made for another. */
static void starts_well(int j)
{
	const struct model_job *q = &model.jobs[j];
	char tag[32];

	snprintf(tag, sizeof(tag), "%d.%u", j, q->restart);
	for (int i = 0; i < q->n; i++) {
		const struct fake_vm *vm = model_vm(q->nodes[i]);
		int k = q->nodes[i] + 1;

		if (!vm || !vm->on)
			model_broken("I2: job %d starts on vm%d: it is %s", j,
				     k, vm ? "off" : "not there");
		else if (!vm->has_nic)
			model_broken("I2: job %d starts on vm%d without a NIC",
				     j, k);
		else if (!strcmp(model.retention, "destroy") &&
			 strcmp(tag, vm->tag))
			model_broken("job %s starts on vm%d, made for '%s'",
				     tag, k, vm->tag);
	}
}

static void prolog_done(uint32_t job, bool ok)
{
	struct model_job *q = &model.jobs[job];

	fake_trace_line("slurm: prolog_done job=%u ok=%d", job, ok);
	model_say("engine: the prolog of job %u: %s", job, ok ? "yes" : "no");
	q->cleaning = false;
	if (q->state != MODEL_CONFIGURING || !q->waits)
		return;
	if (!ok) {
		model_broken("job %u waited ProvisionTimeout in vain", job);
		model_leave((int)job, true);
		return;
	}
	starts_well((int)job);
	q->state = MODEL_RUNNING;
	q->end_ms = model.now + q->length_ms;
}

static void power_scan(void *ctx)
{
	(void)ctx;
	fake_trace_line("slurm: power_scan");
}

static void schedule(void *ctx)
{
	(void)ctx;
	fake_trace_line("slurm: schedule");
}

static void no_reason(void *ctx, uint32_t job, const char *text)
{
	(void)ctx;
	(void)job;
	(void)text;
}

static void no_got(void *ctx, uint32_t job,
		   const struct vs_slurm_assignment *rows, size_t n)
{
	(void)ctx;
	(void)rows;
	fake_trace_line("slurm: job_got job=%u rows=%zu", job, n);
}

/* No job of the model has an epilog. */
const struct vs_prep_ops model_prep = { .prolog_done = prolog_done };

const struct vs_slurm_ops model_port = {
	.node_set = node_set, .nodes_boot_push = nodes_boot_push,
	.node_booted = node_booted,
	.job_reason = no_reason, .job_requeued = no_reason, .job_got = no_got,
	.power_scan = power_scan, .schedule = schedule,
};
