/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's headers, and all that differs between its releases: every #if on
 * SLURM_VERSION_NUMBER of this project stands in slurm/compat.[ch].
 *
 * Functions bind lazily, data doesn't: slurmctld's variables are declared weak
 * here, for client commands load the select plugin too and have none of them.
 */
#ifndef VS_PLUGINS_SLURM_COMPAT_H
#define VS_PLUGINS_SLURM_COMPAT_H

/* Slurm's headers leave parameters unused. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#include "src/common/slurm_xlator.h"
#include "slurm/slurm_errno.h"
#include "src/common/job_resources.h"
#include "src/common/node_conf.h"
#include "src/common/plugin.h"
#include "src/common/read_config.h"
#include "src/common/run_in_daemon.h"
#include "src/common/slurm_protocol_defs.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#define VS_GE(a, b) (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(a, b, 0))
#if VS_GE(23, 2)
#include "src/common/job_features.h"
#endif
#if VS_GE(24, 11)
#include "src/common/node_features.h"
#endif
#if VS_GE(23, 2)
#include "src/interfaces/preempt.h"
#include "src/interfaces/prep.h"
#include "src/interfaces/select.h"
#else
#include "src/common/prep.h"
#include "src/common/select.h"
#endif
#include "src/slurmctld/agent.h"
#include "src/slurmctld/fed_mgr.h"
#include "src/slurmctld/job_scheduler.h"
#include "src/slurmctld/licenses.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/node_scheduler.h"
#if !VS_GE(23, 2)
#include "src/slurmctld/preempt.h"
#endif
#include "src/slurmctld/reservation.h"
#include "src/slurmctld/slurmctld.h"
#include "src/slurmctld/state_save.h"
#pragma GCC diagnostic pop

#pragma weak config_list
#pragma weak job_list
#pragma weak part_list
#pragma weak resv_list
#pragma weak last_job_update
#pragma weak last_resv_update
#pragma weak slurmctld_config
#pragma weak slurmctld_diag_stats
#pragma weak avail_feature_list
#pragma weak avail_node_bitmap
#pragma weak booting_node_bitmap
#pragma weak default_part_loc
#pragma weak fed_mgr_fed_rec
#pragma weak idle_node_bitmap
#pragma weak last_node_update
#pragma weak license_free_rec
#pragma weak node_record_count
#pragma weak node_record_table_ptr
#pragma weak share_node_bitmap
#pragma weak slurm_conf
#pragma weak up_node_bitmap
#if VS_GE(24, 5)
#pragma weak power_down_node_bitmap
#pragma weak power_up_node_bitmap
#else
#pragma weak power_node_bitmap
#endif

/* ---- the select interface ------------------------------------------------ */

#if VS_GE(23, 2)
typedef list_t *vs_list_t;
#else
typedef List vs_list_t;
#endif
#if VS_GE(23, 11)
typedef resv_exc_t vs_exc_t;
#else
typedef bitstr_t vs_exc_t;
#endif
#if VS_GE(23, 11)
typedef hostlist_t *vs_hostlist_t;
#else
typedef hostlist_t vs_hostlist_t;
#endif
#if VS_GE(24, 11)
#define VS_XARGS , will_run_data_t *will_run __attribute__((unused))
#define VS_XFIELD will_run_data_t *will_run;
#define VS_XSET(t) ((t)->will_run = will_run)
#define VS_XPASS(t) , (t)->will_run
#else
#define VS_XARGS
#define VS_XFIELD
#define VS_XSET(t) ((void)0)
#define VS_XPASS(t)
#endif
typedef int vs_job_test_fn(job_record_t *job_ptr, bitstr_t *bitmap,
			   uint32_t min_nodes, uint32_t max_nodes,
			   uint32_t req_nodes, uint16_t mode,
			   vs_list_t preemptee_candidates,
			   vs_list_t *preemptee_job_list,
			   vs_exc_t *exc VS_XARGS);
#if VS_GE(25, 5)
#define VS_PLUGIN_ID 109	/* running_cons_tres() asks for it */
#else
#define VS_PLUGIN_ID 110	/* must differ from the stock plugin's */
#endif

/*
 * What the decorator forwards, as F(name, return type, parameters, arguments).
 * Left out are plugin_id, job_test and the hooks that the plugin adds to.
 */
#define VS_SYMBOLS_ALL(F)						\
	F(job_ready, int, (job_record_t *job_ptr), (job_ptr))		\
	F(job_suspend, int, (job_record_t *job_ptr, bool indf),		\
	  (job_ptr, indf))						\
	F(job_resume, int, (job_record_t *job_ptr, bool indf),		\
	  (job_ptr, indf))						\
	F(select_nodeinfo_set, int, (job_record_t *job_ptr), (job_ptr))	\
	F(select_nodeinfo_set_all, int, (void), ())

#if !VS_GE(25, 5)
#define VS_SYMBOLS_24(F)						\
	F(state_save, int, (char *dir), (dir))				\
	F(state_restore, int, (char *dir), (dir))			\
	F(job_init, int, (vs_list_t jobs), (jobs))			\
	F(step_pick_nodes, bitstr_t *, (job_record_t *job_ptr,		\
	  select_jobinfo_t *info, uint32_t count, bitstr_t **avail),	\
	  (job_ptr, info, count, avail))				\
	F(step_start, int, (step_record_t *step), (step))		\
	F(step_finish, int, (step_record_t *step, bool killing),	\
	  (step, killing))						\
	F(select_nodeinfo_pack, int, (select_nodeinfo_t *info,		\
	  buf_t *buffer, uint16_t version), (info, buffer, version))	\
	F(select_nodeinfo_unpack, int, (select_nodeinfo_t **info,	\
	  buf_t *buffer, uint16_t version), (info, buffer, version))	\
	F(select_nodeinfo_alloc, select_nodeinfo_t *, (void), ())	\
	F(select_nodeinfo_free, int, (select_nodeinfo_t *info), (info))	\
	F(select_nodeinfo_get, int, (select_nodeinfo_t *info,		\
	  enum select_nodedata_type kind, enum node_states state,	\
	  void *data), (info, kind, state, data))			\
	F(select_jobinfo_alloc, select_jobinfo_t *, (void), ())		\
	F(select_jobinfo_free, int, (select_jobinfo_t *info), (info))	\
	F(select_jobinfo_set, int, (select_jobinfo_t *info,		\
	  enum select_jobdata_type kind, void *data),			\
	  (info, kind, data))						\
	F(select_jobinfo_get, int, (select_jobinfo_t *info,		\
	  enum select_jobdata_type kind, void *data),			\
	  (info, kind, data))						\
	F(select_jobinfo_copy, select_jobinfo_t *,			\
	  (select_jobinfo_t *info), (info))				\
	F(select_jobinfo_pack, int, (select_jobinfo_t *info,		\
	  buf_t *buffer, uint16_t version), (info, buffer, version))	\
	F(select_jobinfo_unpack, int, (select_jobinfo_t **info,		\
	  buf_t *buffer, uint16_t version), (info, buffer, version))	\
	F(get_info_from_plugin, int, (enum select_plugindata_info kind,	\
	  job_record_t *job_ptr, void *data), (kind, job_ptr, data))
#else
#define VS_SYMBOLS_24(F)
#endif

#if !VS_GE(23, 11)
#define VS_SYMBOLS_23(F)						\
	F(resv_test, bitstr_t *, (resv_desc_msg_t *resv, uint32_t count, \
	  bitstr_t *avail, bitstr_t **cores), (resv, count, avail, cores))
#else
#define VS_SYMBOLS_23(F)
#endif

#if !VS_GE(23, 2)
#define VS_SYMBOLS_22(F)						\
	F(job_signal, int, (job_record_t *job_ptr, int sig),		\
	  (job_ptr, sig))						\
	F(select_jobinfo_sprint, char *, (select_jobinfo_t *info,	\
	  char *text, size_t size, int mode), (info, text, size, mode))	\
	F(select_jobinfo_xstrdup, char *, (select_jobinfo_t *info,	\
	  int mode), (info, mode))					\
	F(update_node_config, int, (int index), (index))
#else
#define VS_SYMBOLS_22(F)
#endif

#if VS_GE(26, 5)
#define VS_SYMBOLS_26(F)						\
	F(job_mem_reduce, void, (job_record_t *job_ptr), (job_ptr))
#else
#define VS_SYMBOLS_26(F)
#endif

#define VS_SYMBOLS(F) VS_SYMBOLS_ALL(F) VS_SYMBOLS_22(F)		\
	VS_SYMBOLS_23(F) VS_SYMBOLS_24(F) VS_SYMBOLS_26(F)

/* A WILL_RUN test may be about a later time than now. */
#if VS_GE(24, 11)
#define VS_TEST_FROM(t) ((t)->will_run ? (t)->will_run->start : 0)
#else
#define VS_TEST_FROM(t) ((time_t)0)
#endif
#define VS_TEST_LATER(t) (VS_TEST_FROM(t) > time(NULL))

/* For WILL_RUN cons_tres weighs the nodes itself, by their Weight and who must
 * boot, whatever sched_weight was. */
#define VS_STOCK_WEIGHS VS_GE(23, 11)

/* struct job_details, or job_details_t. */
typedef __typeof__(*((job_record_t *)NULL)->details) vs_job_details_t;

/* What the loader looks for; all else in a plugin is hidden. */
#define VS_EXPORT __attribute__((visibility("default")))

/* ---- the job_submit interface ---------------------------------------------- */

/* Before 23.02 an update has no message of its own. */
#if VS_GE(23, 2)
#define VS_MODIFY_ARGS , char **err_msg
#define VS_MODIFY_MSG err_msg
#define VS_MODIFY_PASS(err_msg) , err_msg
#else
#define VS_MODIFY_ARGS
#define VS_MODIFY_MSG NULL
#define VS_MODIFY_PASS(err_msg)
#endif

/* Of --exclusive and its like: whole nodes. */
#if VS_GE(24, 11)
#define VS_SHARED_ALONE(shared)						\
	((shared) == JOB_SHARED_NONE || (shared) == JOB_SHARED_TOPO)
#else
#define VS_SHARED_ALONE(shared) ((shared) == JOB_SHARED_NONE)
#endif

/* Between alternatives of which all nodes of a job take the same. */
#if VS_GE(23, 2)
#define VS_FEATURE_XOR FEATURE_OP_MOR
#else
#define VS_FEATURE_XOR FEATURE_OP_XOR
#endif

/*
 * A constraint as Slurm itself reads it, in a job record made up for that, as
 * slurmctld does for submissions from 23.11: its details->feature_list. 0, or
 * Slurm's error; free *out in either case. Under JOB R, NODE R.
 */
int vs_constraint_read(const char *features, uint32_t user, job_record_t **out);
void vs_constraint_free(job_record_t *constraint);
/* Clears the nodes that don't fit it; what stands in brackets, and counts, are
 * left to the caller. Each feature's nodes are in the list afterwards. */
void vs_constraint_nodes(job_record_t *constraint, bitstr_t *nodes);

/*
 * Returns the nodes of a host list; the caller frees them. Returns NULL if the
 * list is malformed, names a node that does not exist, or has more names than
 * there are nodes: such a list is not expanded. Under NODE R.
 */
bitstr_t *vs_nodes_bitmap(const char *names);

/* The job may run in another cluster, of which nothing is known here. */
bool vs_federated(void);

/* ---- what moved ------------------------------------------------------------ */

/* job_state's flags, through the setter where there is one. */
void vs_job_flag_set(job_record_t *job_ptr, uint32_t flag);

/*
 * It is on its nodes, and its prolog isn't over. Suspending a job, or resuming
 * it, wipes JOB_CONFIGURING: gang scheduling and preemption do so while VMs boot.
 */
static inline bool vs_job_in_prolog(const job_record_t *job_ptr)
{
	return (IS_JOB_RUNNING(job_ptr) || IS_JOB_SUSPENDED(job_ptr)) &&
	       (IS_JOB_CONFIGURING(job_ptr) ||
		(job_ptr->details && job_ptr->details->prolog_running));
}

/* Of a reservation: create_resv(), update_resv(). Slurm's code. Under
 * vs_lock_resvs_write(). Of desc it takes what it keeps. */
int vs_resv_create(resv_desc_msg_t *desc);
int vs_resv_update(resv_desc_msg_t *desc);
#define VS_RESV_COMMENTS VS_GE(23, 2)	/* has it a comment */
/* "" where the release has none. */
const char *vs_resv_comment(const slurmctld_resv_t *resv_ptr);
void vs_resv_comment_set(resv_desc_msg_t *desc, const char *comment);

/* update_node() as SlurmUser. Under JOB W, NODE W, PART W. */
int vs_update_node(update_node_msg_t *msg);

/* The job of a slurmd's prolog. */
#if VS_GE(25, 11)
#define VS_ENV_JOB(env) ((env)->step_id.job_id)
#else
#define VS_ENV_JOB(env) ((env)->jobid)
#endif

/* The node's place in the bitmaps of power saving. All under NODE W. */
void vs_node_bits_powering_up(node_record_t *node_ptr);
void vs_node_bits_powered_down(node_record_t *node_ptr);

/* Ask slurmd to register. Under NODE W; the message goes out by itself. */
void vs_node_ask_registration(node_record_t *node_ptr);

/* "Resources", "Priority", ... */
const char *vs_reason_name(job_record_t *job_ptr);

/* SuspendExcStates, as flags of node_state; 0 before 23.02. Under CONF R. */
uint32_t vs_suspend_exc_states(void);

/* SuspendTime of the node's own line in slurm.conf, which Slurm has from 26.05 on;
 * NO_VAL: none. Under NODE R. */
static inline uint32_t vs_node_line_suspend_time(const node_record_t *node_ptr)
{
#if VS_GE(26, 5)
	return node_ptr->config_ptr->suspend_time;
#else
	(void)node_ptr;
	return NO_VAL;
#endif
}

/* SelectTypeParameters: VS_CR(CORE), VS_CR(MEMORY), ... */
#if VS_GE(25, 11)
#define VS_CR(what) SELECT_##what
#else
#define VS_CR(what) CR_##what
#endif

/* Slurm before 23.02 hides powered-down cloud nodes without it. */
static inline bool vs_private_cloud_missing(void)
{
#if VS_GE(23, 2)
	return false;
#else
	return !(slurm_conf.private_data & PRIVATE_CLOUD_NODES);
#endif
}

/* An operator's reconfigure made this process; the one before it continues if
 * this one doesn't start (not with slurmctld -D). */
bool vs_begun_by_reconfigure(void);
bool vs_another_goes_on(void);

/* slurmctld's locks were named alike in all releases but for what they add. */
void vs_lock_nodes_read(void);		/* node R */
void vs_unlock_nodes_read(void);
void vs_lock_parts_read(void);		/* conf R, node R, part R */
void vs_unlock_parts_read(void);
void vs_lock_jobs_read(void);		/* conf R, job R, node R */
void vs_unlock_jobs_read(void);
void vs_lock_write(void);		/* conf R, job W, node W, part W, fed R */
void vs_unlock_write(void);
void vs_lock_nodes_write(void);		/* node W alone */
void vs_unlock_nodes_write(void);
void vs_lock_resvs_write(void);	/* conf R, job W, node W, part R */
void vs_unlock_resvs_write(void);
void vs_lock_jobs_write(void);		/* job W alone */
void vs_unlock_jobs_write(void);
void vs_lock_jobs_write_nodes_read(void);
void vs_unlock_jobs_write_nodes_read(void);

/*
 * A job that waits for VFs alone. Before 23.02 the main scheduler lets no job
 * of the partition pass it (backfill does). Since then the plugin can tell it
 * to continue, and has to see to it that no job passes which needs the same
 * VFs.
 */
int vs_rc_waits(void);
bool vs_waits_in_order(const job_record_t *job_ptr);
/* How many passes of backfill have ended. `sdiag --reset` and midnight begin again
 * with 0. A JOB lock is held. */
uint32_t vs_backfill_passes(void);

/*
 * The job gets as few nodes as it may have: it asks so (--use-min-nodes), or
 * from 26.05 it has tasks and no number of nodes, and Slurm takes the tasks for
 * the most nodes. sbatch --test-only ignores both and asks for the most.
 */
#if VS_GE(26, 5)
#define VS_FEWEST_FLAGS (USE_MIN_NODES | JOB_IMPLICIT_MAX_NODES)
#else
#define VS_FEWEST_FLAGS USE_MIN_NODES
#endif
static inline bool vs_wants_fewest(const job_record_t *job_ptr)
{
	return job_ptr->bit_flags & VS_FEWEST_FLAGS;
}

/* In an RPC's submission of this job, not in a later look at it. */
bool vs_job_is_new(const job_record_t *job_ptr);

/* ---- licenses: Slurm's code. Under JOB W ------------------------------------ */

/* "vf:2,other:1", those that the cluster has; NULL: none. */
vs_list_t vs_licenses_read(const char *text);
/* Count these as taken, or as given back, in the job's name. */
void vs_licenses_take(job_record_t *job_ptr, vs_list_t list);
void vs_licenses_return(job_record_t *job_ptr, vs_list_t list);
/* Both are of one license, of one place: their numbers may be added. */
bool vs_licenses_same(const licenses_t *a, const licenses_t *b);
/* job_ptr->license_list has changed while the job has its nodes. */
void vs_licenses_changed(job_record_t *job_ptr);

#endif
