/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf pause: an operator has stopped all calls that change vCenter, until svf
 * resume. The state file keeps that, so a restart or another slurmctld does not end
 * it.
 *
 * Rules: vs_changes_permitted() is the one place that each changing call passes
 * before it is sent, the cancellation of a task included. Calls under way end by
 * themselves, and their ends are taken as ever. What only reads vCenter continues.
 * The lock is held.
 */
#include <stdio.h>
#include <string.h>
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/time.h"

static struct vs_pause current;	/* user "": no pause */

bool vs_changes_permitted(void)
{
	vs_assert_locked();
	return !current.user[0];
}

const struct vs_pause *vs_pause_get(void)
{
	vs_assert_locked();
	return current.user[0] ? &current : NULL;
}

/* Takes texts of a user, or of a file that any process may have written. */
static void set(const char *user, int64_t uid, int64_t at, const char *reason,
		int64_t since_ms)
{
	current = (struct vs_pause) { .uid = uid, .at = at, .since_ms = since_ms };
	vs_strlcpy(current.user, user && user[0] ? user : "?", sizeof(current.user));
	vs_strlcpy(current.reason, reason ? reason : "", sizeof(current.reason));
	vs_one_line(current.user);
	vs_one_line(current.reason);
	snprintf(current.text, sizeof(current.text), "paused by %s%s%s", current.user,
		 current.reason[0] ? ": " : "", current.reason);
}

void vs_pause_begin(struct vs_core *c, const char *user, uint32_t uid,
		    const char *reason)
{
	int64_t since_ms = current.user[0] ? current.since_ms : vs_clock();

	vs_assert_locked();
	set(user, uid, vs_wall_ms() / 1000, reason, since_ms);
	vs_info("no call that changes vCenter is sent any more: %s; svf resume ends that",
		current.text);
	vs_nodes_mark_changed(c);
	vs_state_file_dirty();
	vs_state_file_urgent();
}

void vs_pause_end(struct vs_core *c)
{
	vs_assert_locked();
	if (!current.user[0])
		return;
	vs_info("calls that change vCenter are sent again: it was %s", current.text);
	current.user[0] = '\0';
	vs_nodes_mark_changed(c);
	vs_capacity_freed();
	vs_state_file_dirty();
	vs_state_file_urgent();
}

/* ---- the state file -------------------------------------------------------- */

struct json_object *vs_pause_json(void)
{
	struct json_object *o;

	vs_assert_locked();
	if (!current.user[0])
		return NULL;
	o = vs_jb_obj(NULL);
	vs_jb_str(o, "user", current.user);
	vs_jb_int(o, "uid", current.uid);
	vs_jb_int(o, "since", current.at);
	vs_jb_str(o, "reason", current.reason);
	return o;
}

/* Of a pause that is half readable, the pause counts: it errs on the safe side. */
void vs_pause_read(struct vs_j j)
{
	vs_assert_locked();
	if (vs_j_null(j)) {
		current.user[0] = '\0';	/* another slurmctld may have ended it */
		return;
	}
	j = vs_j_quiet(j);
	set(vs_j_str_or(vs_j_opt(j, "user"), ""),
	    vs_j_int_or(vs_j_opt(j, "uid"), -1),
	    vs_j_int_or(vs_j_opt(j, "since"), 0),
	    vs_j_str_or(vs_j_opt(j, "reason"), ""), INT64_MIN);
	vs_error("no call that changes vCenter is sent, since before this start: %s; svf resume ends that",
		 current.text);
}
