/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shape of vs_core_report()'s answers: the contract between the engine,
 * which fills them, and their readers (svf, the tests).
 *
 * What a user may not see (PrivateData) or what is not known is absent, never
 * null, "" or 0; a reader takes every field as optional except those marked
 * (*). Unknown fields are passed over, so that fields can be added. Instants
 * are seconds since the epoch, amounts are integers, states are written as Slurm
 * writes them (POWERED_DOWN), other words in lower case. Arrays are sorted: hosts and nodes by name, PFs by address.
 *
 * "hosts": {
 *   "hosts": [ {
 *     "host": "esx01", (*)
 *     "cluster": "HPC1",		of vCenter
 *     "leaf": "leaf1",			Switch= of vsphere.conf
 *     "state": "UP", (*)		UP, EXCLUDED (it or a PF of it, after a
 *					failure or a change), QUARANTINED (its
 *					breaker is open; HostDrainThreshold=), ON_TRIAL (half-open),
 *					DRAINING (by an operator, VMs are on
 *					it), DRAINED (none is), MAINTENANCE,
 *					ENTERING_MAINTENANCE, STANDBY,
 *					DISCONNECTED, UNKNOWN
 *     "reasons": [ "text", ... ],	why not plainly up
 *     "excluded_until": 1789000000,	absent: until an operator says so
 *     "maintenance_at": 1789000000,	planned: svf host drain --at
 *     "nodes_moving": 2,		nodes whose VMs leave it with their jobs
 *     "jobs_remaining": 2, "nodes_remaining": 4,	of one that is to be
 *					empty, now or then: with VMs on it
 *     "safe_at": 1789000000,		when the last of these jobs ends; absent
 *					while unknown
 *     "safe": true,			no managed VM is on
 *     "node_drains": 2,		nodes that a user or a health check has
 *					drained while their VMs ran here, and
 *					that still are drained
 *     "pfs": [ {				and what is handed out whole, by kind
 *       "pci": "0000:3b:00.0", (*)
 *       "nic": "vmnic4",
 *       "network": "dvs-roce",		what its uplink belongs to
 *       "device": "10de:20b0",		of devices that are handed out whole:
 *					vendor and device; pci is the first's;
 *					or a DVX class, or a vGPU's profile:
 *					pci is then a name made up for it
 *       "label": "a",			their hardware label
 *       "operations": [ "vmotion" ],	of a class or profile: what the host's
 *					driver can do (names as in svf adapters)
 *       "per_gpu": 10,			vGPUs of the profile on one GPU
 *       "blocked": 5,			not available, because their GPUs run
 *					another profile
 *       "numa": 0,			NUMA node of the host
 *       "total": 8, "managed": 2, "foreign": 1, "unverified": 0,
 *       "reserved": 1,			for a VM that does not use it yet
 *       "free": 4,			below 0: over-committed
 *       "unknown": true		the counts can't be relied on; no
 *					"free" then
 *     } ],
 *     "pfs_total": 2,			rows without "device"
 *     "vfs_total": 16, "vfs_managed": 4,	sums of these rows
 *     "vfs_foreign": 1, "vfs_reserved": 1,	foreign: with unverified ones
 *     "vfs_free": 10,			an over-committed PF counts 0, but below
 *					0 if it is the only one; absent where the
 *					counts of a PF can't be relied on
 *     "devices_total": 2, "devices_free": 1,	of all its rows with "device";
 *					absent without such, _free where unknown
 *     "cpu_mhz_total": 96000, "cpu_mhz_free": 48000,
 *     "memory_mb_total": 524288, "memory_mb_free": 262144,
 *     "vms_managed": 2, "vms_foreign": 5
 *   } ],
 *   "findings": [ {			in hosts, nodes, jobs, plan, status, reconcile
 *     "text": "DRS of ...", (*)	and clone sources: what the preflight has found
 *     "stops_jobs": true (*)
 *   } ],
 *   "notes": [ "text", ... ]		what holds for all: "vCenter is not
 *					reachable since ...", "observe mode"
 * }
 *
 * "nodes": {
 *   "nodes": [ {
 *     "node": "vm003", (*)
 *     "vm_state": "ON", (*)		NONE, CLONING, OFF, STARTING, ON,
 *					STOPPING, SUSPENDED, FOREIGN, UNKNOWN
 *     "node_state": "IDLE",		in Slurm: POWERED_DOWN, POWERING_UP, IDLE,
 *					ALLOCATED, COMPLETING, DOWN, DRAIN, ...
 *     "host": "esx01", "pf": "0000:3b:00.0",
 *     "mac": "00:50:56:01:02:03",	of several NICs (NICsPerNode=) all, with
 *					commas between them; so "pf"
 *     "adapter": "sriov-roce", "partition": "roce",
 *     "job": 4711,			absent also where it is another's
 *     "action": "power-on",		what the engine does or waits for
 *					(boot: for its guest), or
 *					"nothing"
 *     "since": 1789000000,		of action
 *     "usual_s": 34,		how many seconds it took lately
 *     "request": "evict",		an operator's, that isn't done yet
 *     "drained_on": "esx01",		host of its VM when a user or a health
 *					check drained it
 *     "reason": "text",			why its clone waits for a clone source,
 *					or its VM isn't resumed yet
 *     "last_error": "text"
 *   } ],
 *   "unverified": [ { "vm": "vm009", "reason": "text" } ],
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
 *     "wait_time_s": 12,		for want of VFs (or devices), now or
 *					before it began; absent: not at all, or
 *					not known
 *     "provision_time_s": 35,		from there until its VMs were up, or now
 *     "provisioning": 2,		nodes of it that are not up yet
 *     "phase": "clone", "since": 1789000000,	the one of these that was begun
 *					last, by what is done for it
 *     "need": 4,			nodes it waits for
 *     "reason": "needs 4 sriov-roce VFs, 3 free",	while it waits;
 *     "start_time": 1789000000		when it may begin, as far as is known
 *   } ],
 *   "notes": [ ... ]
 * }
 *
 * "why" (a job; one that does not exist or may not be seen is VS_E_GONE): {
 *   "job": 4711, (*)
 *   "state": "PENDING", "reason": "Resources",	as Slurm says them
 *   "text": "waits for 2 VFs of sriov-roce: 6 of 8 in use, ...", (*)
 *   "start_time": 1789000000,		when it may begin, as far as is known
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
 *   "usual_durations": [ { "template": "rhel9", (*)	moving means of what was measured
 *     "clone_ms": 8100, "power_on_ms": ..., "boot_ms": ..., "relocate_ms",
 *     "reconfigure_ms", "power_off_ms", "destroy_ms": ...,
 *     "clone_source_ms": ... } ],			until clones can be made of it
 *   "drs": {"agreed": 3, "moved": 1, "refused": 0, "failed": 0},
 *						answers to PlaceVm, Placement=drs
 *   "in_flight": 3,			operations
 *   "starts": 40, "failures": 2,		since start: VMs that came up, steps of
 *					nodes' VMs that failed
 *   "clones_hour": 17, "clones_max": 20,	VMs made in the last hour
 *   "nodes": 64, "vms_on": 12, "vms_off": 3, "unverified": 0,
 *   "clone_sources": 2,			of linked and instant clones
 *   "prefetched": 2,			VMs made ahead of jobs, now
 *   "prefetch_made": 9, "prefetch_used": 6, "prefetch_removed": 1,	and since start
 *   "metrics": "http://127.0.0.1:9853/metrics",	where they are served
 *   "metrics_error": "text",			MetricsPort= is set, but they aren't
 *   "removal_limit_reached": true,	removals wait for an operator
 *   "paused": { "user": "alice", "uid": 1000,	by svf pause; absent: it isn't
 *     "since": 1789000000, "reason": "text" },
 *   "notes": [ ... ]
 * }
 *
 * "clone-sources": VMs that linked and instant clones are made of {
 *   "clone_sources": [ {
 *     "vm": "parent-rhel9-1a2b3c4d", (*)
 *     "type": "linked",			or "instant"; absent: UNTAGGED
 *     "state": "READY", (*)		CLONING, NO_SNAPSHOT, SNAPSHOT, OFF,
 *					BOOTING, READY, AWAY, ON, DESTROY,
 *					UNTAGGED (its key is gone)
 *     "template": "rhel9",		absent: a version that is no more
 *     "datastore": "vsan", "host": "esx01",
 *     "since": 1789000000,		of cloning
 *     "clones": 12, (*)			VMs whose disks depend on it
 *     "removal_pending": false, (*)	true: it goes after its last clone
 *     "reason": "text"			why one is kept that isn't needed
 *   } ],
 *   "notes": [ ... ]
 * }
 *
 * "reconcile": what slurm-vsphere fixes though no job asks for it {
 *   "removal_limit_reached": true, (*)
 *   "vms": [ { "vm": "vm009", (*) "state": "ON", "description": "text", (*)
 *		"confirmation_required": true	by svf reconcile --confirm
 *   } ],
 *   "unverified": [ as in "nodes" ],
 *   "notes": [ ... ]
 * }
 *
 * "plan": what a job that got these nodes now would find {
 *   "time": 1789000000, (*)		slurmctld's
 *   "served": true, (*)		all of them can be, together, now
 *   "reason": "needs 4 sriov-roce VFs, 3 free",	while they can't
 *   "after_reclaim": true,		they can be as soon as idle VMs are off:
 *   "reclaimed_nodes": [ "vm007" ],	these, as far as one can say
 *   "nodes": [ {			managed nodes, in the order asked for
 *     "node": "vm003", (*) "adapter": "sriov-roce", (*)
 *     "action": "clone", (*)		reuse, power-on, clone, relocate,
 *					reconfigure, rebuild, wait
 *     "steps": [ "clone", "power-on" ],
 *     "clone": "linked",		or "instant", where a VM is made, and not in full
 *     "host": "esx01", "pf": "0000:3b:00.0",
 *     "calls": 2, (*)			that change something
 *     "calls_max": 4,			if vCenter refuses devices in its clone,
 *					while that is not known
 *     "seconds": 34			for it alone, from measured durations
 *   } ],
 *   "unmanaged_nodes": 1,		nodes that need no VM
 *   "busy_nodes": 2,			nodes with jobs on them
 *   "calls": 8, (*)			that change something
 *   "calls_max": 16,			as in "nodes"
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
 *     "object_type": "PF", (*)
 *     "object": "esx01", (*) "pf": "0000:3b:00.0",
 *     "actual": "text", (*) "expected": "text", (*)
 *     "fix": "command\ncommand",	for operators
 *     "reason": "text" (*)		why it matters
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
 * "drain", "drain-requeue", "resume": { "host": "esx01", (*) "previous_state": "DRAINED" (*) }; of
 *	"drain" also maintenance_at to safe as in "hosts", and {
 *   "nodes_moving": 2, (*) "nodes_staying": 1, (*)	nodes whose VMs leave with their jobs; whose
 *					jobs end there, or are requeued
 *   "nodes": [ { "node": "vm003", (*) "job": 4711,
 *     "outcome": "move", (*)		with its job; stay: until its job ends;
 *					requeue: its jobs are; off: it is idle
 *     "reason": "text"			why it can't leave
 *   } ] }
 * "evict", "requeue", "rebuild", "evict-on", "rebuild-on": {
 *   "nodes": [ { "node": "vm003", (*)
 *     "action": "off", (*)		off: it goes off now; after-job; destroy: it
 *					is off, and is destroyed; nothing;
 *					refused
 *     "description": "text",		of the last two
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

/* Returns "hosts", "nodes", "jobs", "why" (job), "status", "clone-sources",
 * "reconcile", "check" or "recheck", as uid may see it; the caller frees it. Returns NULL and sets
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
/* Adds the state in upper case, as Slurm writes states: "on_trial" as ON_TRIAL. */
void vs_report_state(struct json_object *o, const char *key, const char *state);
void vs_report_notes(struct vs_core *c, struct json_object *top,
		     bool operators);
const char *vs_report_host_state(const struct vs_core *c,
				 const struct vs_host *h);
const char *vs_report_slurm_state(uint32_t flags);
const char *vs_report_vm_state(struct vs_core *c, const struct vs_node *n,
			       const struct vs_vm *vm);
void vs_report_times(struct json_object *top);
void vs_report_queries(struct json_object *top);
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
