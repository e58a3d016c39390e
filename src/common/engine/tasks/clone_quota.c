/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many VMs are made in an hour. Each leaves tasks and events in vCenter's
 * database for a month: short jobs with Retention=destroy fill it. With
 * MaxClonesPerHour= no job that needs a new VM begins while so many were made
 * in the last hour, or are owed to jobs that have begun.
 *
 * Rules: a job that has begun gets all its VMs, and so does an administrator's
 * power_up: a gang may exceed the cap, and jobs then wait the longer, but none
 * waits half made while it holds VFs. One VM that may be made lets a job of any
 * size begin, else small ones would keep it out for ever. VMs that exist are no
 * matter. The lock is held.
 *
 * And whether clones get their VFs and devices at once, or by a reconfiguration
 * (struct vs_clone_way).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/tasks/tasks_i.h"
#include "engine/vmspec/vmspec.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/time.h"

#define MINUTE_MS (60 * 1000)

struct vs_clones vs_clones;

/* ---- the hour: pure ----------------------------------------------------------- */

static int *slot(const struct vs_clones *k, int64_t minute)
{
	return (int *)&k->made[minute % VS_CLONES_MINUTES];
}

static bool is_kept(const struct vs_clones *k, int64_t minute)
{
	return minute > 0 && minute <= k->minute &&
	       minute > k->minute - VS_CLONES_MINUTES;
}

void vs_clones_note(struct vs_clones *k, int64_t minute, int n)
{
	if (minute <= 0)
		return;
	if (minute <= k->minute - VS_CLONES_MINUTES ||
	    minute >= k->minute + VS_CLONES_MINUTES) {
		memset(k->made, 0, sizeof(k->made));
		k->minute = minute;
	}
	while (k->minute < minute)
		*slot(k, ++k->minute) = 0;
	*slot(k, minute) += n;
}

int vs_clones_made(const struct vs_clones *k, int64_t minute)
{
	int64_t from = minute - VS_CLONES_MINUTES + 1;
	int n = 0;

	/* a clock that was set back a little has not been so far */
	for (int64_t m = from; m <= k->minute; m++)
		n += is_kept(k, m) ? *slot(k, m) : 0;
	return k->minute - minute >= VS_CLONES_MINUTES ? 0 : n;
}

int64_t vs_clones_left(const struct vs_clones *k, int64_t minute, int max)
{
	int64_t end = minute + VS_CLONES_MINUTES;
	int n = vs_clones_made(k, minute);

	for (; minute < end && n > max; minute++) {
		int64_t oldest = minute - VS_CLONES_MINUTES + 1;

		n -= is_kept(k, oldest) ? *slot(k, oldest) : 0;
	}
	return minute;
}

/* ---- the cap ------------------------------------------------------------------ */

static int64_t minute_now(void)
{
	return vs_wall_ms() / MINUTE_MS;
}

int vs_clones_hour(void)
{
	vs_assert_locked();
	return vs_clones_made(&vs_clones, minute_now());
}

int64_t vs_clones_open(const struct vs_core *c)
{
	const struct vs_clones *k = &vs_clones;
	int max = c->conf->max_clones_per_hour - k->owed - 1;

	if (!k->full)
		return 0;
	return 60 * vs_clones_left(k, minute_now(), max > 0 ? max : 0);
}

static int enough_of(const struct vs_core *c)
{
	int cap = c->conf->max_clones_per_hour;

	return cap ? cap - cap / 5 : VS_CLONES_MANY;
}

void vs_clones_assess(struct vs_core *c)
{
	struct vs_clones *k = &vs_clones;
	int sum = vs_clones_hour() + k->owed, cap = c->conf->max_clones_per_hour;
	bool full = cap && sum >= cap, many = sum >= enough_of(c);

	if (many != k->many || full != k->full)
		vs_findings_outdate();
	k->many = many;
	if (full != k->full) {
		k->full = full;
		vs_nodes_mark_changed(c);
		if (!full)
			vs_capacity_freed();
		snprintf(k->why, sizeof(k->why), "MaxClonesPerHour=%d is reached",
			 cap);
	}
}

/* Minutes are searched for that: in the engine's turn alone. */
static void say_when(struct vs_core *c)
{
	struct vs_clones *k = &vs_clones;
	char at[32];

	if (!k->full)
		return;
	vs_clock_text(vs_clones_open(c), at, sizeof(at));
	snprintf(k->why, sizeof(k->why),
		 "MaxClonesPerHour=%d is reached until %s", c->conf->max_clones_per_hour,
		 at);
}

void vs_clones_owe(struct vs_node *n, bool owed)
{
	if (vs_node_is(n, VS_COND_CLONE_RESERVED) == owed)
		return;
	vs_node_condition(n, VS_COND_CLONE_RESERVED, owed);
	vs_clones.owed += owed ? 1 : -1;
	vs_clones.unjudged = true;
}

void vs_clones_sent(struct vs_node *n)
{
	vs_clones_note_one();
	vs_clones_owe(n, false);
}

void vs_clones_note_one(void)
{
	vs_clones_note(&vs_clones, minute_now(), 1);
	vs_state_file_dirty();
	vs_clones.unjudged = true;
}

/* Nodes that a new configuration has dropped were not reported. */
void vs_clones_update(struct vs_core *c)
{
	struct vs_clones *k = &vs_clones;

	vs_assert_locked();
	if (k->seen_epoch != c->epoch || k->seen_minute != minute_now()) {
		k->seen_epoch = c->epoch;
		k->seen_minute = minute_now();
		k->owed = 0;
		for (size_t i = 0; i < c->nnodes; i++) {
			struct vs_node *n = &c->nodes[i];

			vs_node_condition(n, VS_COND_CLONE_RESERVED,
				vs_node_is(n, VS_COND_CLONE_RESERVED) &&
				vs_ledger_get(&c->ledger, n->name));
			k->owed += vs_node_is(n, VS_COND_CLONE_RESERVED);
		}
		k->unjudged = true;
	}
	if (!k->unjudged)
		return;
	vs_clones_assess(c);
	say_when(c);
	k->unjudged = false;
}

static bool must_be_made(const struct vs_core *c, const struct vs_node *n,
			 const struct vs_vm *vm)
{
	if (!vm)
		return n->op.kind != VS_OP_CLONE &&
		       !vs_ledger_get(&c->ledger, n->name);
	return (n->profile->retention == VS_RETAIN_DESTROY ||
		n->profile->clone == VS_CLONE_INSTANT ||
		vs_node_fit(c, n, vm) == VS_FIT_REBUILD);
}

/* What is on, or was made for this very job, is there. */
bool vs_clones_needed(const struct vs_core *c, const struct vs_node *n,
		      uint32_t job)
{
	const struct vs_vm *vm = vs_node_vm((struct vs_core *)c, n);

	if (vm && vm->power == VS_POWER_ON)
		return false;
	if (vm && job && strtoul(vm->job_tag, NULL, 10) == job)
		return vs_node_fit(c, n, vm) == VS_FIT_REBUILD;
	return must_be_made(c, n, vm);
}

const char *vs_clones_blocked(struct vs_core *c, const struct vs_node *n,
			      const struct vs_vm *vm)
{
	return vs_clones.full && must_be_made(c, n, vm) ? vs_clones.why : NULL;
}

bool vs_clones_scarce(const struct vs_core *c)
{
	return c->conf->max_clones_per_hour && vs_clones.many;
}

/* Texts that don't change with every VM: each change of them is logged. */
void vs_clones_check(struct vs_core *c)
{
	const struct vs_clones *k = &vs_clones;
	int cap = c->conf->max_clones_per_hour;
	const struct vs_says says = { VS_CHECK_CLONES, "MaxClonesPerHour",
		k->full ? "reached" : cap ? "more than 80 % of it" :
		"more than 1000 VMs in an hour, and no limit",
		cap ? "fewer new VMs, or a higher limit" :
		"fewer new VMs, or a limit",
		"vsphere.conf: PartitionName=... Retention=warm" };

	if (k->full)
		vs_finding_add(
			VS_STOPS_JOBS, &says,
			"MaxClonesPerHour=%d VMs were created in the last hour: jobs that need a new VM stay pending, jobs on existing VMs run (Retention=warm or power_off keeps VMs)",
			cap);
	else if (k->many && cap)
		vs_finding_add(
			VS_STOPS_PLANS, &says,
			"more than 80 %% of MaxClonesPerHour=%d VMs were created in the last hour: no VM is prefetched now",
			cap);
	else if (k->many)
		vs_finding_add(
			VS_STOPS_NOTHING, &says,
			"more than %d VMs were created in the last hour: each VM leaves tasks and events in vCenter's database for as long as vCenter retains them; Retention=warm or power_off makes fewer, MaxClonesPerHour= sets a limit",
			VS_CLONES_MANY);
}

void vs_clones_clear(void)
{
	vs_clones = (struct vs_clones) { .minute = 0 };
}

struct json_object *vs_clones_json(void)
{
	const struct vs_clones *k = &vs_clones;
	struct json_object *arr = vs_jb_arr();

	for (int i = VS_CLONES_MINUTES - 1; i >= 0; i--) {
		int64_t minute = k->minute - i;
		struct json_object *o;

		if (minute <= 0 || !k->made[minute % VS_CLONES_MINUTES])
			continue;
		o = vs_jb_obj(NULL);
		vs_jb_int(o, "minute", minute);
		vs_jb_int(o, "made", k->made[minute % VS_CLONES_MINUTES]);
		vs_jb_add(arr, o);
	}
	return arr;
}

/* In the order of time; of the future there are none. */
void vs_clones_read(struct vs_j list)
{
	int64_t now = vs_wall_ms() / MINUTE_MS;

	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j j = vs_j_at(list, i);
		int64_t minute = vs_j_int(vs_j_get(j, "minute"));
		int64_t made = vs_j_int(vs_j_get(j, "made"));

		if (list.doc->err.code)
			return;
		if (minute > now - VS_CLONES_MINUTES && minute <= now &&
		    made > 0 && made < 1000000)
			vs_clones_note(&vs_clones, minute, (int)made);
	}
}

/* ---- devices in clones -------------------------------------------------------- */

#define TRIAL_MS (10 * MINUTE_MS)	/* a clone and a reconfiguration */

void vs_clone_way_found(const struct vs_vc_found *f)
{
	struct vs_vcenter_id *now = &vs_clones.way.now;
	const char *build = strstr(f->about, "build-");

	vs_assert_locked();
	vs_strlcpy(now->uuid, f->instance_uuid, sizeof(now->uuid));
	vs_strlcpy(now->build, build ? build + strlen("build-") : f->about,
		   sizeof(now->build));
}

const struct vs_vcenter_id *vs_vcenter_now(void)
{
	return &vs_clones.way.now;
}

static bool under_trial(const struct vs_clone_way *w)
{
	return w->trial[0] && vs_clock() - w->trial_ms < TRIAL_MS;
}

static bool is_now(const struct vs_clone_way *w, const struct vs_vcenter_id *id)
{
	return w->now.uuid[0] && !strcmp(w->now.uuid, id->uuid) &&
		!strcmp(w->now.build, id->build);
}

bool vs_clone_way_plain(void)
{
	const struct vs_clone_way *w = &vs_clones.way;

	vs_assert_locked();
	return under_trial(w) || is_now(w, &w->refuses);
}

bool vs_clone_way_known(void)
{
	vs_assert_locked();
	return vs_clone_way_plain() ||
		is_now(&vs_clones.way, &vs_clones.way.takes);
}

bool vs_node_clone_plain(const struct vs_node *n)
{
	vs_assert_locked();
	return vs_adapter_takes(n->profile->adapter) && vs_clone_way_plain();
}

/* The faults by which vCenter may say that a clone's spec has no devices. */
static bool refuses_devices(const struct vs_err *err)
{
	static const char *const faults[] = { "InvalidArgument",
		"InvalidDeviceSpec", "NotSupported", "InvalidVmConfig",
		"VmConfigFault", "DisallowedMigrationDeviceAttached" };

	for (size_t i = 0; i < VS_COUNT(faults); i++)
		if (!strcmp(err->fault, faults[i]))
			return true;
	return false;
}

static void clone_taken_note(void)
{
	struct vs_clone_way *w = &vs_clones.way;

	if (is_now(w, &w->takes))
		return;
	w->takes = w->now;
	vs_state_file_dirty();
}

static void trial_begin(const struct vs_node *n,
			const struct vs_err *err)
{
	struct vs_clone_way *w = &vs_clones.way;

	if (vs_clone_way_plain())
		return;		/* it was sent before */
	vs_strlcpy(w->trial, n->name, sizeof(w->trial));
	w->trial_ms = vs_clock();
	vs_info("node=%s vCenter refuses its clone with VFs or devices fault=%s: %s: the VM is cloned without them, and a reconfiguration adds them",
		n->name, err->fault, err->text);
}

static void trial_end(bool proven)
{
	struct vs_clone_way *w = &vs_clones.way;

	if (proven) {
		w->refuses = w->now;
		vs_state_file_dirty();
	}
	vs_info("node=%s %s", w->trial, proven ?
		"got its devices by a reconfiguration, as all clones of this vCenter will until its build changes" :
		"cannot get its devices by a reconfiguration either: clones are made with their devices");
	w->trial[0] = '\0';
}

bool vs_clone_way_end(const struct vs_node *n,
		      const struct vs_node_op *was, const struct vs_err *err)
{
	const struct vs_clone_way *w = &vs_clones.way;
	bool trial = under_trial(w) && !strcmp(w->trial, n->name);

	if (was->kind == VS_OP_CLONE && was->devices) {
		if (!err)
			clone_taken_note();
		if (!err || !refuses_devices(err))
			return false;
		trial_begin(n, err);
		vs_metrics_failed(was->kind, err->code);
		return true;
	}
	if (trial && was->kind == VS_OP_RECONFIGURE && was->devices && !err)
		trial_end(true);
	else if (trial && err && err->code == VS_E_REQUEST)
		trial_end(false);
	return false;
}

static struct json_object *id_json(const struct vs_vcenter_id *id)
{
	struct json_object *o;

	if (!id->uuid[0])
		return NULL;
	o = vs_jb_obj(NULL);
	vs_jb_str(o, "vcenter", id->uuid);
	vs_jb_str(o, "build", id->build);
	return o;
}

static void id_read(struct vs_j j, struct vs_vcenter_id *id)
{
	const char *uuid = vs_j_str_or(vs_j_opt(j, "vcenter"), "");
	const char *build = vs_j_str_or(vs_j_opt(j, "build"), "");

	if (vs_j_null(j) || j.doc->err.code)
		return;
	vs_strlcpy(id->uuid, uuid, sizeof(id->uuid));
	vs_strlcpy(id->build, build, sizeof(id->build));
}

struct json_object *vs_clone_taken_json(void)
{
	return id_json(&vs_clones.way.takes);
}

struct json_object *vs_clone_refused_json(void)
{
	return id_json(&vs_clones.way.refuses);
}

void vs_clone_taken_read(struct vs_j j)
{
	id_read(j, &vs_clones.way.takes);
}

void vs_clone_refused_read(struct vs_j j)
{
	id_read(j, &vs_clones.way.refuses);
}
