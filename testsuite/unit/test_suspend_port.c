/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The port's words for suspended VMs, with the real records: which jobs may be
 * suspended and resumed, and by whom; what becomes of their records and nodes.
 * slurmctld's job_suspend() and its tables are played here.
 */
#include "slurm_compat.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include "cmocka_range.h"
#include "slurm_port.h"
#include "slurm_port_i.h"

#define LINE "vsphere: adapter=roce vm1=esx1/a waited_s=0.1"

static job_record_t job;
static vs_job_details_t details;
static node_record_t node;
static const job_record_t *const it = &job;
static const node_record_t *const vm1 = &node;
static bitstr_t *nodes;
static int locked, saves, refuses, asked;
static bool core_says;
static const char *const names[] = { "vm1", "vm2" };	/* vm2 is no more */

/* ---- slurmctld's part --------------------------------------------------------- */

job_record_t *find_job_record(uint32_t id)
{
	assert_int_equal(locked, 1);
	return id == job.job_id ? &job : NULL;
}

int vs_job_suspend_op(job_record_t *job_ptr, uint16_t op)
{
	int rc = refuses;

	assert_int_equal(locked, 1);
	if (op == RESUME_JOB && !rc)
		rc = vs_port_resume_test(job_ptr, false, NULL);
	if (!rc)
		job_ptr->job_state = op == SUSPEND_JOB ? JOB_SUSPENDED :
			JOB_RUNNING;
	return rc;
}

void vs_lock_write(void) { locked++; }
void vs_unlock_write(void) { locked--; }
void vs_lock_nodes_write(void) { locked++; }
void vs_unlock_nodes_write(void) { locked--; }
void vs_lock_jobs_read(void) { locked++; }
void vs_unlock_jobs_read(void) { locked--; }
void vs_lock_nodes_read(void) { locked++; }
void vs_unlock_nodes_read(void) { locked--; }
static int sent;

void vs_job_send_resume(const job_record_t *job_ptr)
{
	assert_ptr_equal(job_ptr, &job);
	assert_int_equal(locked, 1);
	sent++;
}

void schedule_job_save(void) { saves++; }

void set_job_prio(job_record_t *job_ptr)
{
	job_ptr->priority = 55;
}

node_record_t *vs_port_node_next(const char *name, int *next)
{
	assert_int_equal(locked, 1);
	(void)next;
	return strcmp(name, "vm1") ? NULL : &node;
}

void vs_node_ask_registration(node_record_t *node_ptr)
{
	assert_ptr_equal(node_ptr, &node);
	asked++;
}

static bool core_job_is_suspended(uint32_t id)
{
	return core_says && id == 7;
}

static const struct vs_core_api core = {
	.job_is_suspended = core_job_is_suspended,
};

bitstr_t *avail_node_bitmap;
time_t last_job_update, last_node_update;
vs_list_t job_list;

/* --------------------------------------------------------------------------------- */

static int up(void **state)
{
	(void)state;
	nodes = bit_alloc(1);
	avail_node_bitmap = bit_alloc(1);
	bit_set(avail_node_bitmap, 0);
	memset(&node, 0, sizeof(node));
	node.name = "vm1";
	node.node_state = NODE_STATE_IDLE;
	memset(&details, 0, sizeof(details));
	memset(&job, 0, sizeof(job));
	job = (job_record_t) { .job_id = 7, .job_state = JOB_RUNNING,
			       .restart_cnt = 2, .priority = 100,
			       .details = &details, .node_bitmap = nodes };
	job.system_comment = xstrdup(LINE);
	job.spank_job_env = xcalloc(2, sizeof(char *));
	job.spank_job_env[0] = xstrdup("SPANK_HIS=1");
	job.spank_job_env_size = 1;
	saves = refuses = asked = sent = 0;
	core_says = false;
	return 0;
}

static int down(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < job.spank_job_env_size; i++)
		xfree(job.spank_job_env[i]);
	xfree(job.spank_job_env);
	xfree(job.system_comment);
	FREE_NULL_BITMAP(nodes);
	FREE_NULL_BITMAP(avail_node_bitmap);
	assert_int_equal(locked, 0);
	return 0;
}

static void a_job_is_suspended_and_resumed_without_a_trace(void **state)
{
	(void)state;
	assert_int_equal(vs_port_job_suspend(NULL, 7, 42), 0);
	assert_true(IS_JOB_SUSPENDED(it));
	assert_int_equal(vs_port_suspended_for(&job), 42);
	assert_non_null(strstr(job.system_comment, "VMs suspended for JobId=42"));
	assert_int_equal(saves, 1);
	assert_int_equal(vs_port_job_suspend(NULL, 7, 43), -1);
	assert_int_equal(vs_port_suspended_for(&job), 42);
	assert_int_equal(vs_port_job_resume(NULL, 7), 0);
	assert_true(IS_JOB_RUNNING(it));
	assert_int_equal(vs_port_suspended_for(&job), 0);
	assert_string_equal(job.system_comment, LINE);
	assert_int_equal(job.spank_job_env_size, 1);
	assert_string_equal(job.spank_job_env[0], "SPANK_HIS=1");
	assert_int_equal(saves, 2);
	assert_int_equal(vs_port_job_resume(NULL, 7), -1);
}

static void a_job_that_may_not_be_suspended_is_left_alone(void **state)
{
	static const struct {
		uint32_t state, priority, het;
		uint8_t prolog;
		time_t preempted;
	} not[] = {
		{ .state = JOB_PENDING, .priority = 1 },
		{ .state = JOB_SUSPENDED, .priority = 1 },
		{ .state = JOB_RUNNING | JOB_CONFIGURING, .priority = 1 },
		{ .state = JOB_RUNNING | JOB_COMPLETING, .priority = 1 },
		{ .state = JOB_RUNNING, .priority = 1, .prolog = 1 },
		{ .state = JOB_RUNNING, .priority = 1, .het = 6 },
		{ .state = JOB_RUNNING, .priority = 1, .preempted = 1 },
		{ .state = JOB_RUNNING },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(not) / sizeof(not[0]); i++) {
		job.job_state = not[i].state;
		job.priority = not[i].priority;
		job.het_job_id = not[i].het;
		job.preempt_time = not[i].preempted;
		details.prolog_running = not[i].prolog;
		assert_int_equal(vs_port_job_suspend(NULL, 7, 42), -1);
		assert_int_equal(job.job_state, not[i].state);
	}
	assert_int_equal(vs_port_job_suspend(NULL, 8, 42), -1);
	assert_string_equal(job.system_comment, LINE);
	assert_int_equal(saves, 0);
}

static void who_runs_is_told_to_go_on_and_nobody_else(void **state)
{
	(void)state;
	job.nodes = "vm1";
	vs_port_job_continue(NULL, 7);
	assert_int_equal(sent, 1);
	vs_port_job_continue(NULL, 8);
	job.job_state = JOB_SUSPENDED;
	vs_port_job_continue(NULL, 7);
	job.job_state = JOB_RUNNING | JOB_COMPLETING;
	vs_port_job_continue(NULL, 7);
	job.nodes = NULL;
	job.job_state = JOB_RUNNING;
	vs_port_job_continue(NULL, 7);
	assert_int_equal(sent, 1);
}

static void what_slurm_refuses_is_not_marked(void **state)
{
	(void)state;
	refuses = ESLURM_NOT_SUPPORTED;
	assert_int_equal(vs_port_job_suspend(NULL, 7, 42), -1);
	assert_int_equal(vs_port_suspended_for(&job), 0);
	assert_string_equal(job.system_comment, LINE);
	refuses = 0;
	assert_int_equal(vs_port_job_suspend(NULL, 7, 42), 0);
	refuses = SLURM_ERROR;	/* a node is down */
	assert_int_equal(vs_port_job_resume(NULL, 7), -1);
	assert_int_equal(vs_port_suspended_for(&job), 42);
}

static void nobody_but_the_port_resumes_it(void **state)
{
	(void)state;
	assert_int_equal(vs_port_resume_test(&job, true, &core), 0);
	assert_int_equal(vs_port_job_suspend(NULL, 7, 42), 0);
	/* the core knows nothing of it: its nodes are no VMs any more */
	assert_int_equal(vs_port_resume_test(&job, true, &core), 0);
	core_says = true;
	assert_int_equal(vs_port_resume_test(&job, true, &core),
			 ESLURM_NODES_BUSY);
	/* gang scheduling; and while no core is there */
	assert_int_equal(vs_port_resume_test(&job, false, &core),
			 ESLURM_NODES_BUSY);
	assert_int_equal(vs_port_resume_test(&job, true, NULL),
			 ESLURM_NODES_BUSY);
	assert_int_equal(job.priority, 100);
	assert_int_equal(vs_port_job_resume(NULL, 7), 0);
	/* of no job that others have suspended */
	assert_int_equal(vs_port_resume_test(&job, true, &core), 0);
}

static void an_operators_hold_is_an_operators_to_take_off(void **state)
{
	(void)state;
	assert_int_equal(vs_port_job_suspend(NULL, 7, 42), 0);
	core_says = true;
	job.priority = 0;	/* scontrol suspend */
	assert_int_equal(vs_port_job_resume(NULL, 7), -1);
	assert_true(IS_JOB_SUSPENDED(it));
	assert_int_equal(vs_port_resume_test(&job, false, &core),
			 ESLURM_NODES_BUSY);
	assert_int_equal(job.priority, 0);
	assert_int_equal(vs_port_resume_test(&job, true, &core),
			 ESLURM_NODES_BUSY);
	assert_int_equal(job.priority, 55);
	assert_int_equal(vs_port_job_resume(NULL, 7), 0);
}

/* By these the select plugin counts its cores. */
static void its_cores_are_its_own_while_it_is_suspended(void **state)
{
	(void)state;
	assert_false(vs_port_has_cores(&job));
	assert_int_equal(vs_port_job_suspend(NULL, 7, 42), 0);
	assert_true(vs_port_has_cores(&job));
	assert_false(vs_port_is_held(&job));
	job.priority = 0;
	assert_true(vs_port_has_cores(&job));
	assert_true(vs_port_is_held(&job));
	job.job_state = JOB_RUNNING;	/* resumed by others, marked still */
	assert_false(vs_port_has_cores(&job));
	assert_false(vs_port_is_held(&job));
	vs_port_suspend_anew(&job);
	job.job_state = JOB_SUSPENDED;
	assert_false(vs_port_has_cores(&job));
	assert_string_equal(job.system_comment, LINE);
	/* an operator's */
	assert_false(vs_port_is_held(&job));
}

static void another_run_is_not_suspended_by_this_ones_mark(void **state)
{
	(void)state;
	assert_int_equal(vs_port_job_suspend(NULL, 7, 42), 0);
	job.restart_cnt++;
	assert_int_equal(vs_port_suspended_for(&job), 0);
	assert_int_equal(vs_port_resume_test(&job, true, &core), 0);
	assert_int_equal(vs_port_job_resume(NULL, 7), -1);
}

static void a_silent_node_is_known_and_gets_no_job(void **state)
{
	(void)state;
	node.not_responding = true;
	vs_port_nodes_suspended(NULL, names, 2);
	assert_uint_in_range(time(NULL) - node.last_response, 0, 5);
	assert_true(IS_NODE_NO_RESPOND(vm1));
	assert_false(node.not_responding);
	assert_false(bit_test(avail_node_bitmap, 0));
}

static void nodes_that_slurm_has_given_up_are_left_to_it(void **state)
{
	static const uint32_t states[] = {
		NODE_STATE_DOWN, NODE_STATE_IDLE | NODE_STATE_POWERED_DOWN,
		NODE_STATE_IDLE | NODE_STATE_POWERING_UP,
		NODE_STATE_IDLE | NODE_STATE_POWERING_DOWN,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		node.node_state = states[i];
		vs_port_nodes_suspended(NULL, names, 1);
		vs_port_nodes_wake(NULL, names, 1, 0);
		assert_int_equal(node.node_state, states[i]);
		assert_int_equal(node.last_response, 0);
		assert_int_equal(asked, 0);
		node.last_response = 0;
	}
}

/* It was away for longer than SlurmdTimeout. */
static void a_new_slurmctld_gives_them_time(void **state)
{
	node_record_t *table[] = { &node };

	(void)state;
	node_record_table_ptr = table;
	job_list = list_create(NULL);
	list_append(job_list, &job);
	assert_int_equal(vs_port_job_suspend(NULL, 7, 42), 0);
	bit_set(nodes, 0);
	node.last_response = 1000;
	vs_port_suspended_taken();
	assert_uint_in_range(time(NULL) - node.last_response, 0, 5);
	assert_true(IS_NODE_IDLE(vm1) && !IS_NODE_NO_RESPOND(vm1));
	/* gang scheduling's, an operator's */
	job.restart_cnt++;
	node.last_response = 1000;
	vs_port_suspended_taken();
	assert_int_equal(node.last_response, 1000);
	FREE_NULL_LIST(job_list);
	node_record_table_ptr = NULL;
}

static void an_answer_is_told_from_our_own_word(void **state)
{
	int64_t since;

	(void)state;
	vs_port_nodes_suspended(NULL, names, 1);
	since = vs_port_nodes_wake(NULL, names, 1, 0);
	assert_int_equal(asked, 1);
	assert_false(vs_port_nodes_answered(NULL, names, 1, since));
	/* it is set anew while it is silent still: that is no answer */
	vs_port_nodes_suspended(NULL, names, 1);
	assert_false(vs_port_nodes_answered(NULL, names, 1, since));
	node.last_response = time(NULL);
	node.node_state &= ~(uint32_t)NODE_STATE_NO_RESPOND;
	assert_true(vs_port_nodes_answered(NULL, names, 1, since));
	assert_false(vs_port_nodes_answered(NULL, names, 2, since));
	node.last_response = (time_t)since;	/* an older one */
	assert_false(vs_port_nodes_answered(NULL, names, 1, since));
}

#define T(f) cmocka_unit_test_setup_teardown(f, up, down)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_job_is_suspended_and_resumed_without_a_trace),
		T(a_job_that_may_not_be_suspended_is_left_alone),
		T(who_runs_is_told_to_go_on_and_nobody_else),
		T(what_slurm_refuses_is_not_marked),
		T(nobody_but_the_port_resumes_it),
		T(an_operators_hold_is_an_operators_to_take_off),
		T(its_cores_are_its_own_while_it_is_suspended),
		T(another_run_is_not_suspended_by_this_ones_mark),
		T(a_silent_node_is_known_and_gets_no_job),
		T(nodes_that_slurm_has_given_up_are_left_to_it),
		T(a_new_slurmctld_gives_them_time),
		T(an_answer_is_told_from_our_own_word),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
