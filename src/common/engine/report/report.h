/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shape of vs_core_report()'s answers: the contract between the engine,
 * which fills them, and their readers (svf, the tests).
 *
 * What a user may not see (PrivateData) or what is not known is absent, never
 * null, "" or 0; a reader takes every field as optional except those marked
 * (*). Unknown fields are passed over, so that fields can be added. Instants
 * are seconds since the epoch, amounts are integers, names of states are lower
 * case words. Arrays are sorted: hosts and nodes by name, PFs by address.
 *
 * "hosts": {
 *   "hosts": [ {
 *     "host": "esx01", (*)
 *     "cluster": "HPC1",		of vCenter
 *     "leaf": "leaf1",			Switch= of vsphere.conf
 *     "state": "up", (*)		up, avoided (it or a PF of it, after a
 *					failure or a change), quarantined (its
 *					breaker is open; HostDrainThreshold=), on-trial (half-open),
 *					draining (by an operator, VMs are on
 *					it), drained (none is), maintenance,
 *					entering-maintenance, standby,
 *					disconnected, unknown
 *     "reasons": [ "text", ... ],	why not plainly up
 *     "avoided_until": 1789000000,	absent: until an operator says so
 *     "maintenance_at": 1789000000,	planned: svf host drain --at
 *     "moves": 2,			nodes whose VMs leave it with their jobs
 *     "jobs_left": 2, "nodes_left": 4,	of one that is to be empty, now or
 *					then: with VMs on it
 *     "safe_at": 1789000000,		when the last of these jobs ends; absent
 *					while unknown
 *     "safe": true,			no managed VM is on
 *     "drained_by_others": 2,		nodes that a user or a health check has
 *					drained while their VMs ran here, and
 *					that still are drained
 *     "pfs": [ {				and what is handed out whole, by kind
 *       "pci": "0000:3b:00.0", (*)
 *       "pnic": "vmnic4",
 *       "switch": "dvs-roce",		what its uplink belongs to
 *       "device": "10de:20b0",		of devices that are handed out whole:
 *					vendor and device; pci is the first's;
 *					or a DVX class, or a vGPU's profile:
 *					pci is then a name made up for it
 *       "label": "a",			their hardware label
 *       "can": [ "vmotion" ],		of a class or profile: what the host's
 *					driver can do (names as in svf adapters)
 *       "per_gpu": 10,			vGPUs of the profile on one GPU
 *       "crowded": 5,			not to be had, for their GPUs run
 *					another profile
 *       "numa": 0,			NUMA node of the host
 *       "total": 8, "ours": 2, "foreign": 1, "suspect": 0,
 *       "held": 1,			promised or requested, not seen in use
 *       "free": 4,			below 0: over-committed
 *       "unknown": true		the counts can't be relied on; no
 *					"free" then
 *     } ],
 *     "pfs_total": 2,			rows without "device"
 *     "vfs_total": 16, "vfs_ours": 4,	sums of these rows
 *     "vfs_foreign": 1, "vfs_held": 1,	foreign: with those of suspects
 *     "vfs_free": 10,			an over-committed PF counts 0, but below
 *					0 if it is the only one; absent where the
 *					counts of a PF can't be relied on
 *     "devices_total": 2, "devices_free": 1,	of all its rows with "device";
 *					absent without such, _free where unknown
 *     "cpu_mhz_total": 96000, "cpu_mhz_free": 48000,
 *     "memory_mb_total": 524288, "memory_mb_free": 262144,
 *     "vms_ours": 2, "vms_foreign": 5
 *   } ],
 *   "notes": [ "text", ... ]		what holds for all: "vCenter is not
 *					reachable since ...", "observe mode"
 * }
 *
 * "nodes": {
 *   "nodes": [ {
 *     "node": "vm003", (*)
 *     "vm_state": "on", (*)		none, cloning, off, starting, on,
 *					stopping, suspended, unknown
 *     "slurm_state": "idle",		powered_down, powering_up, idle,
 *					allocated, completing, down, drain, ...
 *     "host": "esx01", "pf": "0000:3b:00.0",
 *     "mac": "00:50:56:01:02:03",	of several cards (NICsPerNode=) all, with
 *					commas between them; so "pf"
 *     "adapter": "sriov-roce", "partition": "roce",
 *     "job": 4711,			absent also where it is another's
 *     "action": "power-on",		what the engine does or waits for
 *					(boot: for its guest), or
 *					"nothing"
 *     "since": 1789000000,		of action
 *     "usual": 34,			how many seconds it took lately
 *     "order": "evict",		an operator's, that isn't done yet
 *     "drained_on": "esx01",		host of its VM when a user or a health
 *					check drained it
 *     "waits": "text",			for the parent of its clone, or
 *					why its VM isn't resumed yet
 *     "last_error": "text"
 *   } ],
 *   "suspect": [ { "vm": "vm009", "why": "text" } ],
 *   "notes": [ ... ]
 * }
 *
 * "jobs": those that have managed nodes or wait for them, by number {
 *   "jobs": [ {
 *     "job": 4711, (*)
 *     "id": "4711", (*)		as squeue writes it: "12_3", "14+1"
 *     "uid": 1000, "partition": "roce",
 *     "state": "RUNNING", (*)		as Slurm says it
 *     "adapters": [ "sriov-roce" ],	of its nodes, or those it waits for
 *     "nodes": [ "vm001", ... ],	managed nodes that it has
 *     "hosts": [ "esx01", ... ],	of their VMs, on or promised
 *     "vfs": 4,			in use or held by them
 *     "devices": 1,			the same of those handed out whole;
 *					absent where there is none
 *     "waited_s": 12,			for want of VFs (or devices), now or
 *					before it began; absent: not at all, or
 *					not known
 *     "provision_s": 35,		from there until its VMs were up, or now
 *     "making": 2,			nodes of it that are not up yet
 *     "phase": "clone", "since": 1789000000,	the one of these that was begun
 *					last, by what is done for it
 *     "need": 4,			nodes it waits for
 *     "text": "needs 4 sriov-roce VFs, 3 free",	while it waits;
 *     "expected": 1789000000		when it may begin, as far as is known
 *   } ],
 *   "notes": [ ... ]
 * }
 *
 * "why" (a job; one that does not exist or may not be seen is VS_E_GONE): {
 *   "job": 4711, (*)
 *   "state": "PENDING", "reason": "Resources",	as Slurm says them
 *   "text": "waits for 2 VFs of sriov-roce: 6 of 8 in use, ...", (*)
 *   "expected": 1789000000,		when it may begin, as far as is known
 *   "nodes": [ as in "nodes", those of this job ]
 * }
 *
 * "status": {
 *   "vcenter": "https://vc.example.org",
 *   "up": true, (*) "since": 1789000000,	of up
 *   "error": "text",				while up is false
 *   "mode": "manage", (*)
 *   "cluster_id": "uuid",
 *   "calls": 1234, "mutating": 45,		to vCenter since start
 *   "select_calls": {"count": 1200, "p50_us": 30, "p99_us": 210,
 *     "worst_us": 900, "cpu_p50_us": ...}, "slurm_locks": {...},
 *						how long we kept slurmctld
 *   "pace": [ { "template": "rhel9", (*)	moving means of what was measured
 *     "clone_ms": 8100, "power_on_ms": ..., "boot_ms": ..., "relocate_ms",
 *     "reconfigure_ms", "power_off_ms", "destroy_ms": ...,
 *     "parent_ms": ... } ],			until clones were made of it
 *   "drs": {"agreed": 3, "moved": 1, "refused": 0, "failed": 0},
 *						answers to PlaceVm, Placement=drs
 *   "in_flight": 3,			operations
 *   "starts": 40, "failures": 2,		since start: VMs that came up, steps of
 *					nodes' VMs that failed
 *   "clones_hour": 17, "clones_max": 20,	VMs made in the last hour
 *   "nodes": 64, "vms_on": 12, "vms_off": 3, "suspect": 0,
 *   "parents": 2,				of linked and instant clones
 *   "ahead": 2,				VMs made ahead of jobs, now
 *   "ahead_made": 9, "ahead_used": 6, "ahead_removed": 1,	and since start
 *   "metrics": "http://127.0.0.1:9853/metrics",	where they are served
 *   "metrics_error": "text",			MetricsPort= is set, but they aren't
 *   "brake": true,				stopped, waits for an operator
 *   "paused": { "user": "alice", "uid": 1000,	by svf pause; absent: it isn't
 *     "since": 1789000000, "reason": "text" },
 *   "notes": [ ... ]
 * }
 *
 * "parents": VMs that linked and instant clones stand on {
 *   "parents": [ {
 *     "vm": "parent-rhel9-1a2b3c4d", (*)
 *     "kind": "linked",			or "instant"; absent: unmarked
 *     "state": "ready", (*)		cloning, no-snapshot, snapshot, off,
 *					booting, ready, away, on, destroy,
 *					unmarked (its key is gone)
 *     "template": "rhel9",		absent: a version that is no more
 *     "datastore": "vsan", "host": "esx01",
 *     "since": 1789000000,		of cloning
 *     "children": 12, (*)		VMs that stand on its disks
 *     "wanted": true, (*)		false: it goes after its last child
 *     "stays": "text"			why one is kept that isn't needed
 *   } ],
 *   "notes": [ ... ]
 * }
 *
 * "reconcile": what slurm-vsphere fixes though no job asks for it {
 *   "brake": true, (*)
 *   "vms": [ { "vm": "vm009", (*) "state": "on", "what": "text", (*)
 *		"waits": true		for svf reconcile --confirm
 *   } ],
 *   "suspect": [ as in "nodes" ],
 *   "notes": [ ... ]
 * }
 *
 * "plan": what a job that got these nodes now would find {
 *   "time": 1789000000, (*)		slurmctld's
 *   "served": true, (*)		all of them can be, together, now
 *   "text": "needs 4 sriov-roce VFs, 3 free",	while they can't
 *   "after_idle": true,		they can be as soon as idle VMs are off:
 *   "give_way": [ "vm007" ],		these, as far as one can say
 *   "nodes": [ {			managed nodes, in the order asked for
 *     "node": "vm003", (*) "adapter": "sriov-roce", (*)
 *     "do": "clone", (*)		reuse, power-on, clone, relocate,
 *					reconfigure, rebuild, wait
 *     "steps": [ "clone", "power-on" ],
 *     "clone": "linked",		or "instant", where a VM is made, and not in full
 *     "host": "esx01", "pf": "0000:3b:00.0",
 *     "calls": 2, (*)			that change something
 *     "calls_most": 4,			if vCenter refuses devices in its clone,
 *					while that is not known
 *     "seconds": 34			for it alone, from measured durations
 *   } ],
 *   "others": 1,			nodes that need no VM
 *   "busy": 2,				nodes with jobs on them
 *   "calls": 8, (*)			that change something
 *   "calls_most": 16,			as in "nodes"
 *   "seconds": 34,			until the last node has registered,
 *					under the budgets; while served
 *   "measured": true,			false: nothing to go by, it is Slurm's
 *					ResumeTimeout, the longest of the nodes'
 *   "queued": true,			while served: the nodes are idle, and jobs
 *					of their partitions are pending
 *   "notes": [ ... ]
 * }
 *
 * "objects": what a finding may be about {
 *   "objects": [ "esx01", ... ]	hosts, clusters, names of vsphere.conf, and
 *					nodes if they may be seen
 * }
 * "check": what is found wrong {
 *   "up": true, (*)			false: of vCenter nothing is known now
 *   "seq": 17, (*)			number of the reading that this is of
 *   "read": 1789000000,		the last of them
 *   "hosts": 16, (*)			that were looked at
 *   "findings": [ {			(*) of the preflight, of what hosts
 *					share, of hosts, of slurm.conf
 *     "code": "vf-off", (*)		of plan/checks/check_codes.c
 *     "severity": "hard", (*)		hard, warning, unknown
 *     "of": "PF", (*)			what the object is
 *     "object": "esx01", (*) "pf": "0000:3b:00.0",
 *     "is": "text", (*) "should": "text", (*)
 *     "fix": "command\ncommand",	for operators
 *     "why": "text" (*)
 *   } ]
 * }
 * "recheck": all is read again, if an operator asks {
 *   "seq": 17, (*)			number of the last reading begun
 *   "asked": true			another is: "check" will have its number
 * }
 *
 * "confirm": { "confirmed": 5 (*) }		VMs that waited
 * "adopt": { "cluster_id": "uuid", (*) "vms": 12 (*) }
 * "leave", "leave-requeue": as "drain", and nothing is ordered
 * "drain", "drain-requeue", "resume": { "host": "esx01", (*) "was": "drained" (*) }  the state; of
 *	"drain" also maintenance_at to safe as in "hosts", and {
 *   "moves": 2, (*) "stays": 1, (*)	nodes whose VMs leave with their jobs; whose
 *					jobs end there, or are requeued
 *   "nodes": [ { "node": "vm003", (*) "job": 4711,
 *     "will": "move", (*)		with its job; stay: until its job ends;
 *					requeue: its jobs are; off: it is idle
 *     "why": "text"			it can't leave
 *   } ] }
 * "evict", "requeue", "rebuild", "evict-on", "rebuild-on": {
 *   "nodes": [ { "node": "vm003", (*)
 *     "did": "off", (*)		off: it goes off now; after-job; destroy: it
 *					is off, and is destroyed; nothing;
 *					refused
 *     "text": "why",			of the last two
 *     "job": 4711			that has it
 *   } ] }
 * "forget": { "node": "vm003", (*) "vm_host": "esx01" }
 */
#ifndef VS_ENGINE_REPORT_H
#define VS_ENGINE_REPORT_H

#include <stdint.h>
#include "engine/clone_source/clone_source.h"
#include "engine/state/state.h"

struct json_object;
/* ---- report.c: takes the lock ---- */

/* Returns "hosts", "nodes", "jobs", "why" (job), "status", "parents", "reconcile",
 * "check" or "recheck", as uid may see it; the caller frees it. Returns NULL and sets
 * err if there is no such report or job. */
struct json_object *vs_core_report(const char *what, uint32_t job, uint32_t uid,
				   struct vs_err *err);
/* "plan": what would be done now for a job that gets these nodes, as Slurm
 * lists them. Nothing is changed, held or remembered. */
struct json_object *vs_core_plan(const char *nodes, uint32_t uid,
				 struct vs_err *err);

/* ---- parts of reports: the lock is held ---- */

int64_t vs_report_epoch(int64_t mono_ms);	/* as seconds since the epoch */
/* Adds "paused", unless no pause is in force, and "in_flight". The lock is held. */
void vs_report_pause(struct json_object *top);
void vs_report_str(struct json_object *o, const char *key, const char *s);
void vs_report_notes(struct vs_core *c, struct json_object *top,
		     bool operators);
const char *vs_report_host_state(const struct vs_core *c,
				 const struct vs_host *h);
const char *vs_report_slurm_state(uint32_t flags);
const char *vs_report_vm_state(struct vs_core *c, const struct vs_node *n,
			       const struct vs_vm *vm);
void vs_report_times(struct json_object *top);
void vs_report_suspects(struct vs_core *c, struct json_object *top);

/* Returns why an unwanted clone source stays, or NULL if it goes. */
const char *vs_clone_source_stays(const struct vs_core *c,
				  const struct vs_vm *vm);
/* How many are in which state, by kind; what is zero is added to. */
void vs_clone_sources_states(
	const struct vs_core *c,
	unsigned int n[VS_CLONE_KINDS][VS_CLONE_SOURCE_STATES]);
/*
 * Parents of the clones that a plan is about, each looked at once. Returns ms
 * until the parent is ready of which n's VM is cloned at this place, as it has
 * taken here; 0: there is one, or none is needed; -1: never measured. Adds to
 * *calls what vCenter is asked for before that. *all is NULL at first; the caller
 * frees it.
 */
struct vs_clone_source_asked;
int64_t vs_clone_source_ask(const struct vs_core *c, const struct vs_node *n,
			    const struct vs_claim *h,
			    struct vs_clone_source_asked **all, int64_t *calls);
void vs_clone_sources_asked_free(struct vs_clone_source_asked *all);

#endif
