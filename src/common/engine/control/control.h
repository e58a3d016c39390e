/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control channel's server: svf's questions, answered from memory.
 */
#ifndef VS_ENGINE_CONTROL_H
#define VS_ENGINE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/state/config.h"
#include "util/err.h"

struct json_object;
struct vs_core;
struct vs_host;

/*
 * Listen on conf->svf_listen_addr:svf_port (port 0: a free one) and serve in
 * a thread of its own; the port's number is in STATE_DIR/vsphere_control.port
 * then. It obeys requests to this host, of conf->slurm.cluster. What is needed of
 * conf is copied. -1 VS_E_CONFIG if that can't be.
 */
int vs_control_start(const struct vs_conf *conf, struct vs_err *err);
/* End the thread and all connections. Harmless if nothing was started. */
void vs_control_stop(void);

/* admin_actions.c: an operator confirms; lock held. All VMs whose removal waits
 * for the removal limit may go. Returns their number. */
size_t vs_removal_confirm(struct vs_core *c);
/* What the host's PFs are now is right. Returns whether one was left out for
 * being another than it was. */
bool vs_pf_change_confirm(struct vs_host *h);

/* An operator's request: "confirm" (the removal limit), "adopt" (VMs of a lost
 * cluster id), "forget" (name: a node whose VM is lost with its host), "drain"
 * and "resume" (name: a host; text: why), "drain-requeue" (jobs that can't
 * leave with their VMs are requeued), "leave" and "leave-requeue" (what would
 * become of the VMs there, nothing is ordered), "evict", "requeue", "rebuild"
 * (name: nodes, as Slurm lists them; text: why), "evict-on" and "rebuild-on"
 * (text: the host where their VMs are to be next, if there is room), "pause" (text:
 * why; no call that changes vCenter is sent until "pause-end"). The caller
 * has asked vs_lookup_viewer() for an operator. The caller owns the result; NULL
 * with err. */
struct json_object *vs_core_request(const char *what, const char *name,
				    const char *text, uint32_t uid,
				    struct vs_err *err);
/* "drain" at a time, s since the epoch: until then the host takes VMs of jobs that
 * end before it. */
struct json_object *vs_core_drain_at(const char *name, const char *text,
				     int64_t at, bool requeue, uint32_t uid,
				     struct vs_err *err);

#endif
