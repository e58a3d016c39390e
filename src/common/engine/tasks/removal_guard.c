/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The removal limit: an emptied node list or a wrong file must not cost a site
 * its VMs. Each removal of a VM that follows neither a job's end, nor a
 * power-down of Slurm's, nor a rebuild that a job waits for, asks here first:
 * more than max(3, 5 %) of our VMs within ten minutes, and all such work stops
 * until an operator has looked (svf reconcile) and said so (--confirm).
 *
 * A VM is counted once, however many calls its end takes, and however often
 * slurmctld starts meanwhile (state_file.c). A confirmation is for the VMs that wait
 * at that moment, not for those that come later. A power-down that Slurm asked
 * for before a restart is Slurm's word after it, too, for the power-off alone; and
 * if its VM is gone then, it went for that, and is not missed (missing_vm.c).
 */
#include <stdlib.h>
#include <string.h>
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/tasks/tasks_i.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/time.h"

#define MINUTE_MS (60 * 1000)

struct vs_removal_limit vs_removal_limit;

static int limit(void)
{
	int share = vs_removal_limit.ours / 20;

	return share > 3 ? share : 3;
}

void vs_removal_count(const char *vm, int64_t minute,
		      bool confirmed)
{
	struct vs_removal_permit *e;

	HASH_FIND_STR(vs_removal_limit.ends, vm, e);
	if (!e) {
		e = vs_calloc(1, sizeof(*e));
		vs_strlcpy(e->vm, vm, sizeof(e->vm));
		HASH_ADD_STR(vs_removal_limit.ends, vm, e);
	}
	e->minute = minute;
	e->confirmed = confirmed;
}

/* Of the last ten minutes, by a clock that was not set back. */
static bool is_recent(int64_t then, int64_t minute)
{
	return then <= minute && then > minute - VS_REMOVAL_MINUTES;
}

/* How many recent ones no operator has confirmed; the others are forgotten. */
static int recent(int64_t minute)
{
	struct vs_removal_permit *e, *tmp;
	int n = 0;

	HASH_ITER(hh, vs_removal_limit.ends, e, tmp) {
		if (!is_recent(e->minute, minute)) {
			HASH_DEL(vs_removal_limit.ends, e);
			free(e);
		} else if (!e->confirmed) {
			n++;
		}
	}
	return n;
}

bool vs_removal_limit_is_reached(void)
{
	return vs_removal_limit.on;
}

void vs_removal_limit_set(int vms)
{
	vs_removal_limit.ours = vms;
}

void vs_removal_release(void)
{
	struct vs_removal_permit *e, *tmp;

	HASH_ITER(hh, vs_removal_limit.ends, e, tmp) {
		HASH_DEL(vs_removal_limit.ends, e);
		free(e);
	}
	vs_removal_limit.on = false;
}

static void asked_forget(struct vs_removal_request *a)
{
	HASH_DEL(vs_removal_limit.asked, a);
	free(a);
}

void vs_removal_clear(void)
{
	struct vs_removal_request *a, *tmp;

	vs_removal_release();
	HASH_ITER(hh, vs_removal_limit.asked, a, tmp)
		asked_forget(a);
	vs_removal_limit.asked_minute = 0;
}

/* ---- what Slurm has asked for ----------------------------------------------- */

void vs_removal_request_note(const char *node, const char *vm,
			     int64_t minute)
{
	struct vs_removal_request *a;

	HASH_FIND_STR(vs_removal_limit.asked, node, a);
	if (!a) {
		a = vs_calloc(1, sizeof(*a));
		vs_strlcpy(a->node, node, sizeof(a->node));
		HASH_ADD_STR(vs_removal_limit.asked, node, a);
	}
	vs_strlcpy(a->vm, vm, sizeof(a->vm));
	a->minute = minute;
}

bool vs_removal_was_requested(const char *node,
			      const char *vm)
{
	struct vs_removal_request *a;

	HASH_FIND_STR(vs_removal_limit.asked, node, a);
	return a && (!vm || !strcmp(a->vm, vm)) &&
		is_recent(a->minute, vs_wall_ms() / MINUTE_MS);
}

/* Once a minute. */
static void asked_expire(int64_t minute)
{
	struct vs_removal_request *a, *tmp;

	if (minute == vs_removal_limit.asked_minute)
		return;
	vs_removal_limit.asked_minute = minute;
	HASH_ITER(hh, vs_removal_limit.asked, a, tmp)
		if (!is_recent(a->minute, minute))
			asked_forget(a);
}

void vs_removal_request(const char *node, const char *vm,
			bool ends)
{
	struct vs_removal_request *a;
	int64_t minute;

	if (!vs_removal_limit.asked && !ends)
		return;			/* nearly always, for each node in use */
	minute = vs_wall_ms() / MINUTE_MS;
	asked_expire(minute);
	HASH_FIND_STR(vs_removal_limit.asked, node, a);
	if (ends ? a && !strcmp(a->vm, vm) : !a)
		return;
	if (ends)
		vs_removal_request_note(node, vm, minute);
	else
		asked_forget(a);
	vs_state_file_dirty();
}

/* ---- what neither Slurm nor an operator asks for ----------------------------- */

void vs_removal_node_set(struct vs_node *n, enum vs_removal_state braked)
{
	n->braked = braked;
}

bool vs_removal_check(enum vs_removal_state *state, const char *vm,
		      const char *name)
{
	int64_t minute = vs_wall_ms() / MINUTE_MS;
	struct vs_removal_permit *e;
	int n;

	if (*state == VS_REMOVAL_PASSED)
		return true;
	if (vs_removal_limit.on && *state == VS_REMOVAL_WAITS)
		return false;		/* asked again in each pass */
	n = recent(minute);
	HASH_FIND_STR(vs_removal_limit.ends, vm, e);
	if (e || (!vs_removal_limit.on && n < limit())) {
		vs_removal_count(vm, minute, e && e->confirmed);
		*state = VS_REMOVAL_PASSED;
		vs_state_file_dirty();
		return true;
	}
	if (!vs_removal_limit.on) {
		vs_removal_limit.on = true;
		vs_state_file_dirty();
		vs_error("the removal limit is reached: more than %d of %d VMs would be powered off or destroyed within 10 minutes without a job's end or a power-down, %s is next: inspect with svf reconcile, continue with svf reconcile --confirm",
			 limit(), vs_removal_limit.ours, name);
	}
	*state = VS_REMOVAL_WAITS;
	return false;
}

/* ---- the state file -------------------------------------------------------- */

struct json_object *vs_removal_limit_json(void)
{
	struct json_object *brake = vs_jb_obj(NULL), *ends = vs_jb_arr();
	struct json_object *asked = vs_jb_arr();

	for (const struct vs_removal_permit *e = vs_removal_limit.ends; e;
	     e = e->hh.next) {
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_str(o, "vm", e->vm);
		vs_jb_int(o, "minute", e->minute);
		vs_jb_bool(o, "confirmed", e->confirmed);
		vs_jb_add(ends, o);
	}
	for (const struct vs_removal_request *a = vs_removal_limit.asked; a;
	     a = a->hh.next) {
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_str(o, "node", a->node);
		vs_jb_str(o, "vm", a->vm);
		vs_jb_int(o, "minute", a->minute);
		vs_jb_add(asked, o);
	}
	vs_jb_bool(brake, "on", vs_removal_limit.on);
	vs_jb_put(brake, "ends", ends);
	vs_jb_put(brake, "asked", asked);
	return brake;
}

void vs_removal_limit_read(struct vs_j j)
{
	bool on = vs_j_bool_or(vs_j_opt(j, "on"), false);
	struct vs_j list = vs_j_opt(j, "ends");

	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j e = vs_j_at(list, i);
		const char *vm = vs_j_str(vs_j_get(e, "vm"));
		int64_t minute = vs_j_int(vs_j_get(e, "minute"));

		if (j.doc->err.code)
			break;
		vs_removal_count(vm, minute,
				 vs_j_bool_or(vs_j_opt(e, "confirmed"), false));
	}
	list = vs_j_opt(j, "asked");
	for (size_t i = 0; i < vs_j_len(list) && !j.doc->err.code; i++) {
		struct vs_j e = vs_j_at(list, i);
		const char *node = vs_j_str(vs_j_get(e, "node"));
		const char *vm = vs_j_str(vs_j_get(e, "vm"));
		int64_t minute = vs_j_int(vs_j_get(e, "minute"));

		if (!j.doc->err.code)
			vs_removal_request_note(node, vm, minute);
	}
	if (j.doc->err.code)
		vs_removal_clear();
	else
		vs_removal_limit.on = on;
	if (vs_removal_limit.on)
		vs_error("the removal limit was reached before the restart: inspect with svf reconcile, continue with svf reconcile --confirm");
}
