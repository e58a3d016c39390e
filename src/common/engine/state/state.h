/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine's state: the one struct, its mutex and its clock, questions about nodes,
 * VMs and hosts that need nothing else, change marks, findings, durations and counters.
 * The header that all modules of the engine include: core.h and node.h have its
 * structs, config.h what plugins fill without them.
 *
 * The caller holds the core's lock unless said. No function here waits, but those that
 * take or lend the lock.
 *
 * Rules: nothing here calls vCenter, Slurm or another module of the engine.
 */
#ifndef VS_ENGINE_STATE_H
#define VS_ENGINE_STATE_H

#include "engine/state/config.h"
#include "engine/state/core.h"
#include "engine/state/node.h"
#include "plan/checks/checks.h"
#include "plan/inventory/clone_source.h"
#include "util/err.h"
#include "util/times.h"
#include "vs_config.h"

struct json_object;

/* ---- lock.c: no lock held, unless said ----------------------------------- */

extern struct vs_core vs_core;

extern atomic_int vs_lock_waiting;	/* by how many threads of slurmctld's */
extern atomic_uint vs_lock_had;		/* how often one of them has had it */
void vs_lock(void);
void vs_unlock(void);
/* slurmctld's threads: the engine's thread lends them the lock at once. */
static inline void vs_lock_priority(void)
{
	atomic_fetch_add(&vs_lock_waiting, 1);
	vs_lock();
	atomic_fetch_add(&vs_lock_had, 1);
	atomic_fetch_sub(&vs_lock_waiting, 1);
}
/* By who holds it, but slurmctld's threads: one of those that want it has had it
 * when this returns, if it got a processor within 5 ms. */
void vs_lock_yield(void);
/* By who holds it: calls work(arg) without the lock, for long work on private copies.
 * Nothing of the state that was read before holds when this returns. */
void vs_lock_yield_to(void (*work)(void *arg), void *arg);
/* The first statement of what other modules call and needs the lock. Built with
 * --enable-debug it ends the process where the calling thread does not hold the lock;
 * else it is nothing. */
#ifdef VS_DEBUG
void vs_assert_locked_in(const char *function);
#define vs_assert_locked() vs_assert_locked_in(__func__)
/* For unit tests: this thread needs no lock, because no other thread runs. */
extern _Thread_local bool vs_lock_not_needed;
#else
#define vs_assert_locked() ((void)0)
#endif
/* Wakes the engine's thread, or lets it make another turn before it waits. */
void vs_wake(void);
/* The monotonic time in ms; tests bring a clock of their own. */
int64_t vs_clock(void);

/* ---- each.c: each node or host in turn ------------------------------------- */

/* slurmctld's threads have the lock between two slices: no pointer from before is
 * kept. */
typedef void vs_each_node_fn(struct vs_core *c, struct vs_node *n, void *arg);
typedef void vs_each_host_fn(struct vs_core *c, struct vs_host *h, void *arg);

/* Calls fn for each node, by id. Returns true if that were all. Returns false if
 * another configuration came: its nodes are others, and fn was called for some of
 * the old ones. */
bool vs_each_node(struct vs_core *c, vs_each_node_fn *fn, void *arg);
/* The same for each host that was there at the start and still is; the lock is lent
 * after each of them, for what is asked of a host takes long. */
bool vs_each_host(struct vs_core *c, vs_each_host_fn *fn, void *arg);

/* ---- node_queries.c: a node, its VM and its jobs --------------------------- */

/* Returns the node of that name, or NULL if it is not managed. */
struct vs_node *vs_node_named(struct vs_core *c, const char *name);
/* Returns the node with the id that the plugins know, or NULL if it is not
 * managed. */
static inline struct vs_node *vs_node_at(struct vs_core *c, int id)
{
	return id >= 0 && (size_t)id < c->nnodes ? &c->nodes[id] : NULL;
}

/* On its way out, or asked to go. */
static inline bool vs_node_going(const struct vs_node *n)
{
	return vs_node_is(n, VS_COND_VACATE) || (n->flags & (VS_NODE_POWERING_DOWN |
					VS_NODE_POWER_DOWN_ASKED));
}

/* Returns the VM of the node's name in the folder, of any owner, or NULL if
 * none is shown. */
struct vs_vm *vs_node_vm(struct vs_core *c, const struct vs_node *n);
/* The host (moId) on which an operator wants the node's VM next; NULL: any. vm is the
 * node's VM, or NULL. */
const char *vs_node_preferred_host(const struct vs_node *n,
				   const struct vs_vm *vm);
/* vCenter can read the VM, and its host answers. */
bool vs_vm_is_reachable(const struct vs_vm *vm);
/* Nothing can be decided about this VM: no job for its node. */
bool vs_node_vm_unsure(const struct vs_vm *vm);
/* Returns the host on which the node's managed VM is on, or NULL if it is
 * off. */
const struct vs_host *vs_node_on(struct vs_core *c, const struct vs_node *n);
/* It is suspended, by whomever. */
bool vs_node_sleeps(struct vs_core *c, const struct vs_node *n);
/* On, or suspended: it keeps that host from being empty. */
const struct vs_host *vs_node_there(struct vs_core *c, const struct vs_node *n);

/* Has the job a claim on the node? */
bool vs_job_has(const struct vs_node *n, uint32_t job);
/* Does any job run on the node, with nothing left that it waited for? */
bool vs_job_runs(const struct vs_node *n);
/* The link to the wait of the job's prolog; *link is NULL if it doesn't wait. */
struct vs_wait **vs_wait_find(uint32_t job);
/* Does the job's prolog wait for its nodes? */
bool vs_job_waits(uint32_t job);
/* Prologs that wait, by next; the link to the first, for jobs/ alone. */
const struct vs_wait *vs_waits(void);
struct vs_wait **vs_waits_first(void);
/* The node's VM goes with its job: it is promised to a preemptor. */
bool vs_node_is_preempting(const struct vs_node *n);

/* What is known of DRS and HA of the cluster of the VM's host; NULL: nothing. */
const struct vs_cluster_policy *vs_cluster_policy_get(const struct vs_core *c,
						      const struct vs_vm *vm);
/* Does DRS by itself move such a VM while it is on? */
bool vs_cluster_policy_moves(const struct vs_core *c, const struct vs_vm *vm);
/* Which of the configuration's VSphereCluster lines the host belongs to, by the
 * names that were found last; -1: none, and no managed VM goes there. */
int vs_host_cluster(const struct vs_core *c, const struct vs_host *h);

/* "clone", "power-on" ... in logs and for svf. */
const char *vs_op_name(enum vs_op_type k);
/* The node's call has been under way for more than a minute, and no clone: no new
 * job for the node. */
bool vs_op_hangs(const struct vs_node *n, int64_t now_ms);

/* ---- changes.c ----------------------------------------------------------- */

/* One of the node's own facts has changed. */
void vs_node_mark_changed(struct vs_node *n);
/* What the engine itself has concluded of the node has changed: it is judged again,
 * but vCenter and Slurm show nothing new. */
void vs_node_stir(struct vs_node *n);
/* Something has changed that many of them hang on. */
void vs_nodes_mark_changed(struct vs_core *c);
/* Those whose VM is on this host. */
void vs_host_nodes_mark_changed(struct vs_core *c, const struct vs_host *h);
/* The node's summary has been computed again, until the node changes. */
void vs_node_summary_renewed(const struct vs_core *c, struct vs_node *n);
/* Why no VM can be made from the profile's (its index) template, "": it can. How
 * many VMs of it there is capacity for is counted again. */
void vs_profile_missing_set(struct vs_core *c, size_t profile, const char *why);
/* That alone. */
void vs_profile_capacity_outdate(struct vs_core *c, size_t profile);
/* The engine has looked at the node since its last touch; nothing is to be done for
 * it, or something is. */
void vs_node_looked(struct vs_node *n);
void vs_node_rests_set(struct vs_node *n, bool rests);
/* Templates or profiles have changed: computes their hashes again and marks all
 * nodes changed. */
void vs_profiles_changed(struct vs_core *c);

/* Capacity grew, or a node can be allocated again: run/loop.c tells Slurm's
 * scheduler at the end of its turn. */
void vs_capacity_freed(void);
bool vs_capacity_freed_pending(void);
void vs_capacity_freed_clear(void);
void vs_name_freed(void);
bool vs_name_freed_pending(void);
void vs_name_freed_clear(void);

/* VFs have begun to go for a job: what prefetch has decided is weighed again. */
void vs_plans_outdate(void);
bool vs_plans_outdated_taken(void);

/* Something that the state file keeps has changed: it is written at the end of a
 * turn, if it was read before. */
void vs_state_file_dirty(void);
bool vs_state_file_pending(void);
/* It is written at the next turn's end, however short ago it was written. */
void vs_state_file_urgent(void);
/* Is it to be written now? If so, it is not again within `again_ms` unless urgent. */
bool vs_state_file_due(int64_t now_ms, int64_t again_ms);
/* It was read (or must be read before anything is written to it). */
void vs_state_file_read_done(bool read);
bool vs_state_file_is_read(void);
/* It is to be read, and nothing has changed. */
void vs_state_file_forget(void);

/* ---- findings.c: what the preflight finds ---------------------------------- */

/* What the preflight has found, by what it stops: nothing (for operators),
 * nothing (for everybody to know), new jobs, all changes. */
enum vs_stops { VS_STOPS_NOTHING, VS_STOPS_PLANS, VS_STOPS_JOBS, VS_STOPS_ALL };
/* The same thing for `svf check`: copied; NULL: that has it otherwise. */
struct vs_says {
	enum vs_check code;
	const char *object, *is, *should, *fix;
};
struct vs_finding { enum vs_stops stops; char *text; struct vs_found found; };

/* Something that the preflight judges has changed: it runs again. */
void vs_findings_outdate(void);
bool vs_findings_outdated(void);
/* Something that the checks of what hosts share ask has changed; was it so since
 * this was asked last? */
void vs_shared_outdate(void);
bool vs_shared_outdated_taken(void);
/* What it has found last, *n of them, true until it runs again. */
const struct vs_finding *vs_findings(size_t *n);

/* Empties the list. Returns the old one, *n of them, for vs_findings_free(). */
struct vs_finding *vs_findings_begin(size_t *n);
void vs_findings_free(struct vs_finding *list, size_t n);
/* Adds a finding; says: the same thing for svf check, or NULL. */
void vs_finding_add(enum vs_stops stops, const struct vs_says *says,
		    const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* No new job gets a node of this profile (its index). The first reason counts. */
void vs_host_block(struct vs_core *c, size_t profile, const char *why);

/* ---- vcenter_state.c ------------------------------------------------------- */

/* Why vCenter is not there, as everybody may read it. */
void vs_vc_state_set(struct vs_core *c, const char *text);
/* Since when that is so, or vCenter is there: as wall-clock time. */
void vs_vc_since_set(int64_t wall_ms);
int64_t vs_vc_since_ms(void);
/* The account that the session has, "": not known. */
void vs_vc_user_set(const char *user);
const char *vs_vc_user(void);
/* How far vCenter is known: its names are resolved; its inventory is loaded; the
 * first pass after that is done. Unloaded: it is away, or loads again. Lost: and
 * its names are not resolved. */
void vs_vc_found(struct vs_core *c);
void vs_vc_loaded(struct vs_core *c);
void vs_vc_ready(struct vs_core *c);
void vs_vc_unloaded(struct vs_core *c);
void vs_vc_lost(struct vs_core *c);
/* The inventory is loaded again, for the so-manieth time. */
void vs_load_begun(void);
uint64_t vs_load_seq(void);
/* Nothing is done before the next slow beat; was that delivered? */
void vs_poll_await(const struct vs_core *c);
bool vs_poll_is_due(const struct vs_core *c);
/* A new client is made: the configuration changed. */
void vs_client_renew(void);
bool vs_client_renewed(void);
void vs_client_renew_clear(void);
/* It tries now, whatever it waits for. */
void vs_client_retry(void);
bool vs_client_retry_taken(void);
/* After such an error of a call, look before anything else is done: what is there
 * may be other than we believe. */
bool vs_failure_is_unconfirmed(enum vs_code code);

/* ---- durations.c: how long clones, power-ons and boots take here -------------- */

#define VS_DURATION_BOOT VS_OPS		/* from on to registered */
#define VS_DURATION_CLONE_SOURCE (VS_OPS + 1) /* a parent, until clones are made of it */
#define VS_DURATIONS (VS_DURATION_CLONE_SOURCE + 1)

struct vs_durations {
	char template_moid[VS_MOID_LEN], name[VS_LABEL_LEN];
	uint32_t known;			/* a bit for each of ms[] */
	int64_t ms[VS_DURATIONS];	/* by enum vs_op_type, VS_DURATION_ */
	UT_hash_handle hh;
};

/* One more was measured, of an enum vs_op_type or VS_DURATION_. */
void vs_duration_note(const struct vs_profile *p, int what,
		      int64_t ms);
/* The moving mean; -1: none was measured for this template. */
int64_t vs_duration_ms(const struct vs_profile *p,
		       int what);
void vs_paces_clear(void);
void vs_report_paces(struct json_object *top);

/* For how many seconds a VM that is asked to go still holds its VF. */
int64_t vs_power_down_s(const struct vs_core *c);
/* How long one took, in ms; 0: none was seen to go. */
void vs_forecast_down_set(int64_t ms);
int64_t vs_forecast_down_ms(void);
/* Writes a time, in s since the epoch, as people read it: "14:05", or with the day
 * if that isn't today. No lock is needed. */
void vs_clock_text(int64_t at, char *out, size_t size);

/* ---- activity.c: how soon the engine must hear of changes ---------------------- */

/* Tells the client. stirs: something is wanted or under way; keeps: some VMs are kept
 * on. */
void vs_activity_publish(struct vs_core *c, bool stirs, bool keeps,
			 int64_t now_ms);
void vs_activity_wake(int64_t now_ms);	/* an operator asks: at once */

/* ---- counters.c: what is counted for the metrics where it happens --------------- */

/* Counters of the process: nothing is decided by them. */

#define VS_HIST_BOUNDS 12
/* Durations by their upper bounds, the last one without. */
struct vs_hist {
	uint64_t n[VS_HIST_BOUNDS + 1];	/* not cumulated */
	int64_t sum_ms;
};
extern const int64_t vs_hist_step_ms[VS_HIST_BOUNDS];
extern const int64_t vs_hist_wait_ms[VS_HIST_BOUNDS];

#define VS_METRIC_STEPS 16 /* room for enum vs_op_type and VS_DURATION_BOOT */
struct vs_metrics {
	struct vs_hist steps[VS_METRIC_STEPS];
	uint64_t failed[VS_METRIC_STEPS][VS_CODES];
	uint64_t starts;		/* VMs that we switched on and that came up */
	uint64_t given_up[VS_CODES];	/* nodes, to Slurm */
	struct vs_hist vf_wait;		/* of jobs, until they began */
	struct vs_clone_source_counts {	/* by kind of their clones */
		uint64_t made, failed, ended;
	} parents[VS_CLONE_KINDS];
};

/* What was counted so far. */
const struct vs_metrics *vs_metrics_counted(void);
void vs_metrics_clear(void);
/* A step, of enum vs_op_type or VS_DURATION_BOOT, took so long. */
void vs_metrics_duration(int step, int64_t ms);
void vs_metrics_failed(int step, enum vs_code code);
void vs_metrics_released(enum vs_code code);
/* Its slurmd has registered after our power-on; ms: since it was seen on, 0: not
 * known. */
void vs_metrics_started(int64_t ms);
/* Its guest was asked to shut down, and it is off now. */
void vs_metrics_off_asked(struct vs_node *n, int64_t asked_ms);
void vs_metrics_off(struct vs_node *n, bool is_off,
		    int64_t now_ms);
/* A clone source for clones of this kind was made, failed, or was removed. */
void vs_metrics_clone_source_made(enum vs_clone_type kind);
void vs_metrics_clone_source_failed(enum vs_clone_type kind);
void vs_metrics_clone_source_ended(enum vs_clone_type kind);
/* slurmctld was kept so long by us: as it felt, and our own work. No lock is needed. */
void vs_timed_add(enum vs_timed what, int64_t us, int64_t cpu_us);
struct vs_times *vs_timed(enum vs_timed what, bool cpu);
/* Slurm's questions, and what each asks in its turn. The lock is held, but for
 * vs_query_counts_stock(). */
struct vs_query_counts {
	_Atomic uint64_t calls, stock, core;
};
void vs_query_counts_call(enum vs_query_mode mode);
/* Another query for the last call: to the core, or to stock cons_tres. */
void vs_query_counts_core(void);
void vs_query_counts_stock(void);
const struct vs_query_counts *vs_query_counts(enum vs_query_mode mode);
/* A job was refused / begins; r: its last refusal, NULL: there was none. */
void vs_metrics_pending(struct vs_pending *r, enum vs_pending_reason lacks,
			int64_t now_ms);
void vs_metrics_began(const struct vs_pending *r,
		      int64_t now_ms);
/* The URL at which the metrics are served, "": they are not; why not, "": it is
 * not configured. Set: is it another than before? */
bool vs_metrics_place_set(const char *at, const char *why);
void vs_metrics_place(const char **at, const char **why);

#endif
