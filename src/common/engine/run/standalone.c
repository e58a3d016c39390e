/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of the engine without slurmctld (svf check --standalone): vCenter is read
 * once, the site is judged once, and the answer is the report of svf check.
 *
 * Rules: no pass over nodes runs, so nothing is decided for any. The client is made
 * read-only besides, and refuses each changing call. No file is written.
 */
#include <string.h>
#include <unistd.h>
#include "engine/checks/checks.h"
#include "engine/clone_source/clone_source.h"
#include "engine/persist/persist.h"
#include "engine/report/report.h"
#include "engine/run/run.h"
#include "engine/state/state.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/time.h"

#define LOGOUT_MS 2000
#define TURN_MS 200

static struct { bool down; struct vs_err err; char about[128]; } heard;

static void on_up(void *arg, const struct vs_vc_found *f)
{
	vs_strlcpy(heard.about, f->about, sizeof(heard.about));
	vs_watch_events.up(arg, f);
}

static void on_down(void *arg, const struct vs_err *err)
{
	heard.down = true;
	heard.err = *err;
	vs_watch_events.down(arg, err);
}

/* The id of a slurmctld that has run here, if there is one: its VMs are no other
 * cluster's. None is made. */
static int id_load(struct vs_core *c, const char *state_dir, struct vs_err *err)
{
	VS_FREE char *path = vs_asprintf("%s/%s", state_dir ? state_dir : "",
					 VS_CLUSTER_ID_FILE);

	if (!state_dir || access(path, F_OK)) {
		vs_uuid_random(c->cluster_id);
		return 0;
	}
	return vs_cluster_id_load(state_dir, c->cluster_id, err);
}

static int start(struct vs_core *c, struct vs_conf *conf_take,
		 const struct vs_slurm_ops *port, struct vs_err *err)
{
	static struct vs_vc_events events;
	VS_FREE char *state_dir = (char *)conf_take->state_dir;
	int rc;

	conf_take->state_dir = NULL;
	events = vs_watch_events;
	events.up = on_up;
	events.down = on_down;
	if (vs_setup_check(conf_take, err)) {
		vs_conf_free(conf_take);
		return -1;
	}
	vs_lock();
	c->port = port;
	vs_setup_apply(c, conf_take);
	rc = id_load(c, state_dir, err);
	if (!rc) {
		vs_setup_macs(c);
		c->vc = vs_watch_connect(c, &events, true, err);
	}
	vs_unlock();
	return c->vc ? 0 : -1;
}

/* Once vCenter's inventory and its slow values are there. */
static void judge(struct vs_core *c)
{
	vs_template_hosts_update(c);
	vs_checks_update(c, vs_clock());
	vs_preflight(c);
	vs_vc_ready(c);
}

static bool is_read(struct vs_core *c)
{
	bool done;

	vs_lock();
	done = c->found && c->loaded && vs_poll_is_due(c);
	if (done)
		judge(c);
	vs_unlock();
	return done;
}

static void step_set(const struct vs_core *c, struct vs_standalone *s)
{
	struct vs_vc_stats st = { 0 };

	if (c->vc)
		vs_vc_stats_get(c->vc, &st);
	s->failed = s->err.code == VS_E_LOGIN ? VS_STEP_LOGIN :
		!st.logins ? VS_STEP_CONNECTION :
		!heard.about[0] ? VS_STEP_NAMES : VS_STEP_INVENTORY;
}

/* The findings, and all names that are no mistake after svf check. */
static struct json_object *report(struct vs_err *err)
{
	struct json_object *top = vs_core_report("check", 0, 0, err);
	struct json_object *names = vs_core_report("objects", 0, 0, err);

	if (top && names)
		vs_jb_put(top, "objects", vs_jb_clone(
			vs_jb_member(names, "objects")));
	vs_jb_free(names);
	return top;
}

struct json_object *vs_standalone_check(struct vs_conf *conf_take,
					const struct vs_slurm_ops *port,
					int patience_ms,
					struct vs_standalone *s)
{
	struct vs_core *c = &vs_core;
	int64_t end_ms = vs_now_ms() + patience_ms;
	struct json_object *top = NULL;
	bool done = false;

	memset(&heard, 0, sizeof(heard));
	*s = (struct vs_standalone) { .failed = VS_STEPS };
	if (start(c, conf_take, port, &s->err)) {
		s->failed = VS_STEP_CONNECTION;
		return NULL;
	}
	while (!done && !heard.down && vs_now_ms() < end_ms) {
		vs_vc_iterate(c->vc, vs_now_ms(), TURN_MS, -1);
		done = is_read(c);
	}
	vs_strlcpy(s->about, heard.about, sizeof(s->about));
	vs_strlcpy(s->user, vs_vc_user(), sizeof(s->user));
	if (done) {
		top = report(&s->err);
	} else {
		s->err = heard.err;
		if (!heard.down)
			vs_err_set(&s->err, VS_E_RETRY,
				   "vCenter's inventory was not read within %d s",
				   patience_ms / 1000);
		step_set(c, s);
	}
	vs_vc_free(c->vc, LOGOUT_MS);
	c->vc = NULL;
	return top;
}
