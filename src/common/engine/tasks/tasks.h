/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What limits the changes that slurm-vsphere makes in vCenter: the calls that are
 * under way beside their limits (tasks.c), when a node's next call may be sent
 * (retry.c), how many VMs may be created in an hour and whether clones get their
 * devices at once (clone_quota.c), how many VMs may be removed without a request
 * (removal_guard.c), and an operator's pause of all changes (pause.c).
 *
 * The module owns the calls under way, the quota, the removal limit and each node's
 * op, retry and braked. The caller holds the core's lock. No function here calls
 * vCenter or Slurm, and none waits.
 *
 * Rules: nothing here knows for what a call is. Calls of nodes and of clone
 * sources count for the host on which they work.
 */
#ifndef VS_ENGINE_TASKS_H
#define VS_ENGINE_TASKS_H

#include "engine/state/state.h"
#include "util/json.h"

struct json_object;
struct vs_vc_found;

/* ---- tasks.c: calls that are under way -------------------------------------- */

/*
 * Sets the node's call, in the place of the one before: it began at now_ms; id is
 * the client's, 0: the call is done, and its effect isn't shown yet. vm and host
 * are moIds, or NULL. VS_OP_NONE: the node has none any more.
 */
void vs_op_set(struct vs_core *c, struct vs_node *n, enum vs_op_type kind,
	       uint64_t id, const char *vm, const char *host, int64_t now_ms);
/* The list of nodes that have a call, built again when the nodes are others: empties
 * it; adds this node. */
void vs_tasks_busy_none(struct vs_core *c);
void vs_tasks_busy_add(struct vs_core *c, struct vs_node *n);
/* The node's call is this task (its moId). */
void vs_op_task_note(struct vs_node *n, const char *task);
/* What the node's call copies (a VM's moId, "": nothing), and whether its spec adds
 * VFs or devices. */
void vs_op_spec_note(struct vs_node *n, const char *source, bool devices);
/* The node's call is to be cancelled; its end tells whether it was. */
void vs_op_cancel_note(struct vs_node *n);
/* Who hears what becomes of calls of a kind (I1). */
struct vs_task_owner {
	/* A call for the node on this host (moId, "" or NULL) has failed, or could
	 * not be made. The node has no call any more. */
	void (*failed)(struct vs_core *c, struct vs_node *n,
		       enum vs_op_type kind, const char *host,
		       const struct vs_err *err, int64_t now_ms);
};
/* Sets who owns calls of this kind; the owner has to live as long as the process. */
void vs_tasks_own(enum vs_op_type kind, const struct vs_task_owner *owner);
/* Tells the owner. Each kind has to have one. */
void vs_task_failed(struct vs_core *c, struct vs_node *n, enum vs_op_type kind,
		    const char *host, const struct vs_err *err,
		    int64_t now_ms);

/* A call with this id, which is the client's and not 0, is under way on a host
 * (moId; "": on none that is known). */
void vs_task_begin(uint64_t id, const char *host);
/* The call is over. Nothing happens if none with this id is under way. */
void vs_task_end(uint64_t id);
/* No call is under way any more. */
void vs_tasks_clear(void);
/* How many are under way on each host, by host->index. The array is the core's,
 * and true until a call begins or ends, or vCenter shows other hosts. */
const int *vs_tasks_by_host(struct vs_core *c);
/* May one more call of this action be sent within MaxProvisionOps= or
 * MaxPowerOps=? Not while svf pause is in force. */
bool vs_op_affords(const struct vs_core *c, enum vs_action action);
/* No more calls may be sent to this host (moId) now. */
bool vs_op_host_full(const struct vs_core *c, const char *host);
/* How many count for MaxProvisionOps=, and for MaxPowerOps=. A module that makes calls
 * for something else than a node adds its own. */
int vs_tasks_provisioning(void);
int vs_tasks_power_ops(void);
void vs_tasks_provisioning_add(int by);
void vs_tasks_power_add(int by);
/* Unowned tasks: clones by slurm-vsphere that are under way, and of which no node is
 * known. Adds one; ends the one with this id, if there is one; is a task one of them? */
void vs_unowned_task_add(uint64_t id, const char *task, int64_t now_ms);
bool vs_unowned_task_end(uint64_t id);
bool vs_unowned_task_is_known(const char *task);
/* How many there are; does any keep nodes without a VM waiting? */
size_t vs_unowned_tasks_count(void);
bool vs_unowned_tasks_wait(void);
/* The task of one that began at that time or before: it is waited for no longer.
 * NULL: there is none. */
const char *vs_unowned_task_abandon(int64_t by_ms);
void vs_unowned_tasks_forget(void);
/* Has one ended since the turn's pass over the nodes? Others may have its budget. */
bool vs_tasks_ended(void);
void vs_tasks_ended_clear(void);

/* ---- pause.c: svf pause, svf resume -------------------------------------------- */

struct vs_pause {
	char user[33];			/* who paused */
	char reason[120];
	char text[168];			/* "paused by USER: REASON" */
	int64_t uid;			/* -1: not known */
	int64_t at;			/* when, s since the epoch */
	int64_t since_ms;		/* of vs_clock(); INT64_MIN: before this
					 * process */
};
/* May a call be sent that changes vCenter, or that cancels a task there? Each call
 * passes here. Returns false while a pause is in force. */
bool vs_changes_permitted(void);
/* The pause in force. Returns NULL if there is none. */
const struct vs_pause *vs_pause_get(void);
/* Stops all changing calls, or replaces who did so and why. Keeps copies of the
 * texts, bounded and in one line. */
void vs_pause_begin(struct vs_core *c, const char *user, uint32_t uid,
		    const char *reason);
/* Permits them again. Does nothing if no pause is in force. */
void vs_pause_end(struct vs_core *c);
/* For the state file. The caller frees it. Returns NULL if no pause is in force. */
struct json_object *vs_pause_json(void);
void vs_pause_read(struct vs_j j);

/* ---- retry.c: when a node's next call may be sent ----------------------------- */

/* Another call is due: no failure counts, and the call may be sent at once. */
void vs_retry_reset(struct vs_node *n);
/* The call has succeeded, or is given up: no failure counts. */
void vs_retry_uncount(struct vs_node *n);
/* Counts a failure. Returns true if more than VS_TRIES_MAX in a row were counted. */
bool vs_retry_count(struct vs_node *n);
/* The failure can't end by itself: the next vs_retry_count() returns true. */
void vs_retry_spend(struct vs_node *n);
/* No call is sent before this time of vs_clock(), in ms; 0: at once. */
void vs_retry_pause(struct vs_node *n, int64_t until_ms);
/* Keeps a copy of why the node's call failed, or was not sent, for svf status and for
 * what comes next. NULL: the last failure counts no more. */
void vs_retry_error(struct vs_node *n, const struct vs_err *err);
/* A call's outcome is unknown: the node counts as busy until a periodic poll of
 * vCenter that begins from now on has been read. */
void vs_retry_reread(const struct vs_core *c, struct vs_node *n);
/* The node waits for no poll any more. */
void vs_retry_reread_end(struct vs_node *n);

/* ---- clone_quota.c: MaxClonesPerHour= ----------------------------------------- */

/* A clone was sent for the node; or for no node. */
void vs_clones_sent(struct vs_node *n);
void vs_clones_note_one(void);
/* The node has been given (or loses) a place for a VM that must be created. */
void vs_clones_owe(struct vs_node *n, bool owed);
/* Once after some of them: may more jobs begin? Writes no time at which they may. */
void vs_clones_assess(struct vs_core *c);
/* Will a VM be created for the node once it has a place for that job? Asked
 * before it has one. */
bool vs_clones_needed(const struct vs_core *c, const struct vs_node *n,
		      uint32_t job);
/* Once a turn: minutes pass, nodes are others. */
void vs_clones_update(struct vs_core *c);
/* Returns why the quota keeps new jobs from this node (vm: its VM, or NULL), or NULL
 * if it doesn't. */
const char *vs_clones_blocked(struct vs_core *c, const struct vs_node *n,
			      const struct vs_vm *vm);
/* Most of the hour's quota is used: the rest is for jobs. */
bool vs_clones_scarce(const struct vs_core *c);
/* Seconds since the epoch at which more VMs may be created; 0: now. */
int64_t vs_clones_open(const struct vs_core *c);
/* The quota's findings, for the preflight. */
void vs_clones_check(struct vs_core *c);
/* How many VMs were created in the last hour. */
int vs_clones_hour(void);
/* No VM was created. */
void vs_clones_clear(void);
/* For the state file; the caller frees it. What is read and isn't as expected is left
 * out. */
struct json_object *vs_clones_json(void);
void vs_clones_read(struct vs_j list);

/* ---- clone_quota.c: do clones get their VFs and devices at once? --------------- */

/* A vCenter, by its instanceUuid and its build. */
struct vs_vcenter_id { char uuid[VS_UUID_LEN], build[64]; };

/* vCenter is there: which one it is. */
void vs_clone_way_found(const struct vs_vc_found *f);
/* The one that answers; uuid "": none has yet. */
const struct vs_vcenter_id *vs_vcenter_now(void);
/* Are clones made without VFs and devices, which a reconfiguration adds? */
bool vs_clone_way_plain(void);
/*
 * Has a clone, or a reconfiguration after one, shown which way this vCenter takes?
 * Until then clones are sent with VFs and devices. A clone that vCenter refuses for
 * them costs its VM VS_CLONE_TRIAL_CALLS more: another clone and a reconfiguration.
 */
#define VS_CLONE_TRIAL_CALLS 2
bool vs_clone_way_known(void);
/* Is this node's clone one of them? Not where its adapter takes none. */
bool vs_node_clone_plain(const struct vs_node *n);
/*
 * The node's clone or reconfiguration has ended; err NULL: it succeeded. Returns true
 * if vCenter refused the clone for its devices: it is sent again without them, and
 * nothing is to blame. Else returns false.
 */
bool vs_clone_way_end(const struct vs_node *n,
		      const struct vs_node_op *was, const struct vs_err *err);
/* The vCenter that made a clone with devices, and the one that refused one, for the
 * state file. NULL: there was none. The caller frees it. */
struct json_object *vs_clone_taken_json(void);
struct json_object *vs_clone_refused_json(void);
void vs_clone_taken_read(struct vs_j j);
void vs_clone_refused_read(struct vs_j j);

/* ---- removal_guard.c: the removal limit ---------------------------------------- */

/* Returns true if the removal limit permits that this VM is powered off or destroyed
 * without a request of Slurm's, and counts the VM once. A permit is final. */
bool vs_removal_check(enum vs_removal_state *state, const char *vm,
		      const char *name);
/* Is the limit reached? An operator has to look then. */
bool vs_removal_limit_is_reached(void);
/* How many VMs this cluster has: the limit depends on that. */
void vs_removal_limit_set(int vms);
/* Sets whether the limit has permitted the removal of this node's VM. */
void vs_removal_node_set(struct vs_node *n, enum vs_removal_state braked);
/* Forgets all VMs whose removal was permitted: the limit is not reached any more. */
void vs_removal_release(void);
/* Counts this VM as removed in this minute, since the epoch; confirmed: an operator
 * has confirmed it, so it does not count. */
void vs_removal_count(const char *vm, int64_t minute,
		      bool confirmed);
void vs_removal_clear(void);
/* Slurm has powered the VM's node down, or uses it again (ends: false). Across a
 * restart that is known for ten minutes. */
void vs_removal_request(const char *node, const char *vm,
			bool ends);
/* Was the removal of this node's VM requested, and of this VM unless NULL? */
bool vs_removal_was_requested(const char *node,
			      const char *vm);
void vs_removal_request_note(const char *node, const char *vm,
			     int64_t minute);
/* For the state file; the caller frees it. What is read and isn't as expected is
 * left out as a whole. */
struct json_object *vs_removal_limit_json(void);
void vs_removal_limit_read(struct vs_j j);

#endif
