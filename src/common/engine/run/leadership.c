/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leadership lasts from the moment when this slurmctld controls the cluster
 * until it shuts down, yields to the primary or is replaced by the process that
 * a reconfigure started. Without leadership the engine has no session in
 * vCenter and no control port, and sends nothing to Slurm.
 *
 * One engine acts at a time: it locks a file in StateSaveLocation before it
 * calls vCenter. The kernel drops the lock when the process ends. The engine
 * waits for another process that holds the lock, but not for ever, because a
 * hanging slurmctld must not stop the one that has taken over. It reads what
 * both did in vCenter before it changes anything.
 *
 * This file waits for vCenter no longer than a logout may take, and never for
 * Slurm. loop.c runs its passes and takes the core's lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "engine/clone_source/clone_source.h"
#include "engine/control/control.h"
#include "engine/forecast/forecast.h"
#include "engine/hosts/hosts.h"
#include "engine/jobs/jobs.h"
#include "engine/maintenance/maintenance.h"
#include "engine/prefetch/prefetch.h"
#include "engine/reconcile/reconcile.h"
#include "engine/run/run.h"
#include "engine/slurm/outbox.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "util/mem.h"
#include "util/time.h"

#define PATIENCE_MS 30000

/* ---- one at a time ---------------------------------------------------------- */

/* False: another one has it. */
static bool lock_take(struct vs_leadership *t, const char *state_dir)
{
	VS_FREE char *path = vs_asprintf("%s/slurm_vsphere.lock", state_dir);

	t->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (t->lock_fd >= 0 && !flock(t->lock_fd, LOCK_EX | LOCK_NB))
		return true;
	if (t->lock_fd >= 0 && errno == EWOULDBLOCK) {
		vs_cleanup_fd(&t->lock_fd);
		t->lock_fd = -1;
		return false;
	}
	/* A file system without locks, or full: what else holds must do. */
	vs_info("%s cannot be locked: %s", path, strerror(errno));
	return true;
}

/* ---- beginning and end -------------------------------------------------------- */

bool vs_leadership_take(struct vs_leadership *t, const char *state_dir,
			int64_t now_ms)
{
	if (!lock_take(t, state_dir)) {
		if (!t->waits_since_ms) {
			t->waits_since_ms = now_ms;
			vs_info("the engine of another slurmctld still runs: waiting for its end");
		}
		if (now_ms - t->waits_since_ms < PATIENCE_MS)
			return false;
		vs_error("the engine of another slurmctld has not ended in %d s: continuing without its lock in %s",
			 PATIENCE_MS / 1000, state_dir);
	}
	t->waits_since_ms = 0;
	t->held = true;
	return true;
}

void vs_leadership_drop(struct vs_leadership *t)
{
	/* A child between fork and exec has it open too. */
	if (t->lock_fd >= 0)
		flock(t->lock_fd, LOCK_UN);
	vs_cleanup_fd(&t->lock_fd);
	t->lock_fd = -1;
	vs_info("this slurmctld is no longer in control: disconnected from vCenter");
}

/* ---- what svf talks to ------------------------------------------------------- */

/* svf without an answer is no reason to stop scheduling. */
void vs_leadership_control(struct vs_leadership *t, const struct vs_conf *conf)
{
	VS_FREE char *at = vs_asprintf("%s:%d %s", conf->svf_listen_addr,
		conf->svf_port,
		conf->munge_socket ? conf->munge_socket : "");
	struct vs_err err = { 0 };

	if (t->control_at && !strcmp(t->control_at, at))
		return;
	if (!vs_control_start(conf, &err)) {
		vs_str_replace(&t->control_at, at);
		vs_str_replace(&t->control_why, NULL);
	} else {
		vs_str_replace(&t->control_at, NULL);
		if (vs_str_replace(&t->control_why, err.text))
			vs_error("svf gets no answers: %s", err.text);
	}
}

/*
 * Starts leadership in a process that had it before: what the process knows of
 * jobs and nodes is out of date, because another controller acted since. (After
 * a reconfigure that failed, leadership continues with what it knows.)
 */
void vs_leadership_begin(struct vs_core *c)
{
	vs_assert_locked();
	vs_calls_lost(c);
	vs_orphans_clear();
	vs_jobs_clear();
	vs_prefetch_clear();
	vs_vmotions_forget();
	vs_clone_sources_clear(c);
	vs_ledger_clear(&c->ledger);
	vs_avoids_clear();
	vs_windows_clear(c);
	vs_health_clear(c);
	vs_draining_hosts_clear();
	vs_removal_clear();
	vs_clones_clear();
	for (size_t i = 0; i < c->nnodes; i++) {
		struct vs_node *n = &c->nodes[i];
		struct vs_node was = *n;

		free(n->claims.beside);
		free(n->foreign);
		*n = (struct vs_node) {
			.name = was.name, .id = was.id, .conf = was.conf,
			.profile = was.profile, .net = was.net,
			.kept = was.kept,
		};
	}
	vs_setup_macs(c);
	vs_forecast_clear();
	vs_forecast_renew(c);
	vs_outbox_clear();
	c->started = false;
	vs_state_file_forget();
	vs_client_renew();
	vs_nodes_mark_changed(c);
}
