/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See model.h: power_save's beat, ResumeTimeout and SlurmdTimeout, slurmd in
 * its VM, the queue, and at random what users and administrators do. Nothing
 * here looks at what the engine means to do, except where the plugins ask it.
 */
#include <string.h>
#include "fake_vc.h"
#include "model.h"
#include "node_state.h"

#define RESUME_TIMEOUT_MS 60000
#define SUSPEND_TIME_MS 20000
#define SILENT_MS 20000		/* and after twice that it is DOWN */
#define TOOLS_MS 1000

/* ---- guests -------------------------------------------------------------- */

static void guest_runs(int k, struct model_node *n)
{
	struct fake_vm *vm = model_vm(k);

	if (!vm || !vm->on) {
		n->moid[0] = '\0';
		n->deaf_ms = 0;
		n->register_ms = 0;
		return;
	}
	if (strcmp(vm->moid, n->moid)) {
		vs_strlcpy(n->moid, vm->moid, sizeof(n->moid));
		n->on_ms = model.now;
		n->register_ms = model.now + 1500 + model_random(4000);
		model_say("vm%d's guest boots", k + 1);
	}
	if (!vm->tools && model.now - n->on_ms > TOOLS_MS) {
		vm->tools = true;
		if (!model.away && !model_lost(vm))
			fake_show(vm);
	}
}

/* slurmctld takes only who has booted since it asked for the node. */
static void registers(int k, struct model_node *n)
{
	bool taken = n->powering_up &&
		n->on_ms + 1000 >= n->boot_ms / 1000 * 1000;

	if (!n->register_ms || model.now < n->register_ms)
		return;
	n->register_ms = 0;
	model_say("vm%d registers%s", k + 1, taken ? "" : ", in vain");
	if (!taken)
		return;
	n->powering_up = n->stale = false;
	n->idle_ms = model.now;
}

/* slurmctld asks each node that is up to register, at its first ping; and one
 * that is DOWN, which returns to service. */
static void registers_again(int k, struct model_node *n)
{
	if (n->timed_out && !n->powering_down && !n->powered_down) {
		n->down = n->timed_out = false;
		n->idle_ms = model.now;
		model_say("vm%d responds, and is not DOWN any more", k + 1);
	}
	if (!n->stale || !model_is_up(n) || !model_chance(20))
		return;
	n->stale = false;
	n->idle_ms = model.now;
	model_say("vm%d registers, and has no job", k + 1);
}

static void pinged(int k, struct model_node *n)
{
	bool answers = n->moid[0] && model.now >= n->deaf_ms;

	if (answers || (!model_is_up(n) && !n->silent)) {
		n->lost_ms = 0;
		n->silent = false;
		if (answers)
			registers_again(k, n);
	} else if (!n->lost_ms) {
		n->lost_ms = model.now;
	} else if (model.now - n->lost_ms > 2 * SILENT_MS) {
		model_set_down(k, "Not responding");
	} else if (model.now - n->lost_ms > SILENT_MS) {
		n->silent = true;
	}
}

void model_guests(void)
{
	for (int k = 0; k < MODEL_NODES; k++) {
		struct model_node *n = &model.nodes[k];

		guest_runs(k, n);
		registers(k, n);
		pinged(k, n);
		if (!n->powering_up || n->untimed ||
		    model.now - n->boot_ms <= RESUME_TIMEOUT_MS)
			continue;
		model_broken("ResumeTimeout of vm%d", k + 1);
		model_set_down(k, "ResumeTimeout reached");
	}
}

/* ---- power_save ---------------------------------------------------------- */

static void power_save(int k, struct model_node *n)
{
	bool off = n->powered_down || n->powering_up || n->powering_down ||
		n->down;
	bool goes_down = n->timed_out && !n->powered_down && !n->powering_down;

	if (n->powered_down && !n->down && !n->powering_down && !n->stale &&
	    (model_jobs_on(k) || n->on_asked)) {
		n->powered_down = n->on_asked = false;
		n->powering_up = true;
		n->boot_ms = model.now;
		n->untimed = false;
		model_say("vm%d is POWERING_UP", k + 1);
	} else if ((!off || goes_down) && !n->stale && !model_jobs_on(k) &&
		   (n->off_asked || model.now - n->idle_ms > SUSPEND_TIME_MS)) {
		n->off_asked = n->silent = false;
		n->powering_down = true;
		n->powering_down_until = model.now + MODEL_SUSPENDING_MS;
		model_say("vm%d is POWERING_DOWN", k + 1);
	}
}

/* Drain, and power_down_force, which waits for no job; a slurmd that hangs. */
static void operators(int k, struct model_node *n)
{
	if (model_chance(2) && model_is_up(n)) {
		n->deaf_ms = model.now + 10000 + model_random(100000);
		model_say("vm%d's slurmd hangs", k + 1);
	}
	if (model_chance(2) && !n->down) {
		n->drained = true;
		model_say("operator: drain vm%d", k + 1);
	}
	if (model_chance(2) && !n->powered_down && !n->powering_down &&
	    !n->down) {
		model_say("operator: power_down_force vm%d", k + 1);
		model_requeue_on(k);
		n->powering_up = n->silent = false;
		n->off_asked = n->stale;
		n->powering_down = !n->stale;
		n->powering_down_until = model.now + MODEL_SUSPENDING_MS;
	}
}

static void administrators(int k, struct model_node *n)
{
	if (n->down && !n->timed_out && model_chance(10)) {
		n->powered_down = true;
		n->down = false;
		n->idle_ms = model.now;
		model_say("administrator: resume vm%d", k + 1);
	}
	if (n->drained && (!model.events || model_chance(5))) {
		n->drained = false;
		/* as Slurm does of one that is powered down, now and then */
		n->silent = n->powered_down && model_chance(500);
		model_say("administrator: resume vm%d", k + 1);
	}
	if (!model.events)
		return;
	if (model.people)
		operators(k, n);
	if (model_chance(3) && !n->powered_down && !n->powering_down &&
	    !n->powering_up) {
		n->off_asked = true;
		model_say("administrator: power_down vm%d", k + 1);
	}
	if (model_chance(4) && n->powered_down && !n->down) {
		n->on_asked = true;
		model_say("administrator: power_up vm%d", k + 1);
	}
}

/* ---- jobs ---------------------------------------------------------------- */

static bool may_have(const struct model_job *q, int k)
{
	const struct model_node *n = &model.nodes[k];

	if (n->down || n->powering_down || n->off_asked || n->silent ||
	    n->drained || n->stale ||
	    model_jobs_on(k) > (q->exclusive ? 0 : 1))
		return false;
	for (int j = 1; j <= MODEL_JOBS; j++)
		if (model_has(&model.jobs[j], k) && model.jobs[j].exclusive)
			return false;
	return vs_node_avail(&vs_core, &core_nodes()[k]) != VS_AVAIL_NONE;
}

static void schedule(int j)
{
	struct model_job *q = &model.jobs[j];
	int first = (int)model_random(MODEL_NODES), n = 0, ids[2];
	struct vs_err err;

	for (int i = 0; i < MODEL_NODES && n < q->n; i++)
		if (may_have(q, (first + i) % MODEL_NODES))
			ids[n++] = (first + i) % MODEL_NODES;
	if (n < q->n || (model.away && core_vc_state()[0]) ||
	    vs_api_job_begin(&vs_core, (uint32_t)j, q->restart, ids, (size_t)n,
			 &err))
		return;
	memcpy(q->nodes, ids, sizeof(*ids) * (size_t)n);
	q->state = MODEL_CONFIGURING;
	q->begin_ms = model.now;
	/* at once: before the engine has looked */
	q->prolog_ms = model.now + 100 * model_random(4);
	q->waits = false;
	model_say("job %d.%u begins on vm%d%s%.0d", j, q->restart, ids[0] + 1,
		  n > 1 ? ", vm" : "", n > 1 ? ids[1] + 1 : 0);
}

static void job_lives(int j)
{
	struct model_job *q = &model.jobs[j];

	if (q->state == MODEL_QUEUED && !q->cleaning && model_chance(100))
		schedule(j);
	if (q->state == MODEL_RUNNING && model.now >= q->end_ms) {
		model_say("job %d ends", j);
		model_leave(j, false);
	}
	if (model.events && model_active(q) && model_chance(4)) {
		bool requeue = model_chance(500);

		model_say("user: %s job %d", requeue ? "requeue" : "cancel", j);
		model_leave(j, requeue);
	}
	if (q->state == MODEL_CONFIGURING && !q->waits &&
	    model.now >= q->prolog_ms) {
		q->waits = q->cleaning = true;
		model_say("job %d's prolog begins", j);
		vs_job_wait(&vs_core, (uint32_t)j, q->restart, q->nodes,
			    (size_t)q->n);
	}
}

void model_slurm(void)
{
	for (int k = 0; k < MODEL_NODES; k++) {
		struct model_node *n = &model.nodes[k];

		if (model.now % 1000 < 100)
			power_save(k, n);
		if (n->powering_down &&
		    model.now > n->powering_down_until) {
			n->powering_down = false;
			n->powered_down = true;
			model_say("vm%d is POWERED_DOWN", k + 1);
		}
		administrators(k, n);
	}
	for (int j = 1; j <= MODEL_JOBS; j++)
		job_lives(j);
}

/* While slurmctld was away: the engine sees it when it loads. */
static void switched_off(int k)
{
	struct fake_vm *vm = model_vm(k);

	if (!vm || model_lost(vm))
		return;
	vm->on = vm->tools = false;
	model_say("vCenter: vm%d was switched off", k + 1);
}

/* slurmctld's files of nodes and jobs are of different ages. */
static void counted_as_allocated(void)
{
	for (int k = 0; k < MODEL_NODES; k++) {
		struct model_node *n = &model.nodes[k];

		if (n->powering_up || n->powering_down || n->down ||
		    model_jobs_on(k) || !model_chance(300))
			continue;
		n->stale = true;
		n->given_up = 0;
		n->silent = model_chance(n->powered_down ? 500 : 200);
		model_say("vm%d counts as allocated", k + 1);
		if (!n->powered_down && model_chance(300))
			switched_off(k);
	}
}

void model_restarted(void)
{
	if (model.people)
		counted_as_allocated();
	model_rows_look();
	model_tell_flags();
	for (int j = 1; j <= MODEL_JOBS; j++) {
		struct model_job *q = &model.jobs[j];

		q->cleaning = false;
		if (!model_active(q))
			continue;
		vs_job_claim(&vs_core, (uint32_t)j, q->restart, q->nodes,
			     (size_t)q->n, q->state == MODEL_RUNNING);
		q->waits = false;
		q->prolog_ms = model.now + 300;
	}
}

/* ---- what has become of it ----------------------------------------------- */

bool model_over(void)
{
	for (int j = 1; j <= MODEL_JOBS; j++)
		if (model.jobs[j].state != MODEL_OVER)
			return false;
	return true;
}

bool model_rests(void)
{
	for (int k = 0; k < MODEL_NODES; k++) {
		const struct model_node *n = &model.nodes[k];

		if (!n->powered_down || n->powering_up || n->powering_down ||
		    n->down || n->on_asked || n->drained || n->stale)
			return false;
	}
	return model_over();
}

void model_state(void)
{
	for (int j = 1; j <= MODEL_JOBS; j++) {
		const struct model_job *q = &model.jobs[j];

		if (q->state != MODEL_OVER)
			model_say("job %d is in state %d since %.0f s on vm%d",
				  j, (int)q->state,
				  (double)(model.now - q->begin_ms) / 1000,
				  q->nodes[0] + 1);
	}
	for (int k = 0; k < MODEL_NODES; k++) {
		const struct vs_node *n = &core_nodes()[k];
		const struct fake_vm *vm = model_vm(k);

		model_say("vm%d: flags=%x wanted=%s seen=%s action=%s op=%s job=%u beside=%zu vm=%s%s%s",
			  k + 1, model_flags(k), vs_desired_name(n->wanted),
			  vs_observed_name(n->seen), vs_action_name(n->action),
			  vs_op_name(n->op.kind), node_job(n), node_beside(n),
			  !vm ? "none" : vm->on ? "on" : "off",
			  node_error(n)->text[0] ? " error: " : "",
			  node_error(n)->text);
	}
}
