/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prep/vsphere in slurmctld, with the real records: what Slurm is answered, and
 * of which jobs the core is told. The core, the job table and the callbacks are
 * played here.
 */
#include "plugins/slurm/compat.h"
#include "plugins/core_loader.h"
#include "plugins/prep/vsphere/device_check.h"
#include "plugins/prep/vsphere/requeue_now.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

extern void prep_p_register_callbacks(prep_callbacks_t *given);
extern int prep_p_prolog_slurmctld(job_record_t *job_ptr, bool *async);
extern int prep_p_epilog_slurmctld(job_record_t *job_ptr, bool *async);

static job_record_t job;
static bool job_known;
static int locked;
static int answers, rc_seen, waits, ends, notes;
static bool is_running;
static const struct vs_prep_ops *ops;

/* ---- slurmctld's part --------------------------------------------------------- */

job_record_t *find_job_record(uint32_t id)
{
	return job_known && id == job.job_id ? &job : NULL;
}

void vs_lock_jobs_write(void)
{
	locked++;
}

void vs_unlock_jobs_write(void)
{
	locked--;
}

void vs_job_flag_set(job_record_t *job_ptr, uint32_t flag)
{
	assert_int_equal(locked, 1);
	job_ptr->job_state |= flag;
}

static void answer(int rc, uint32_t id, bool timed_out)
{
	assert_int_equal(locked, 0);	/* it takes slurmctld's locks itself */
	assert_int_equal(id, 7);
	assert_false(timed_out);
	rc_seen = rc;
	answers++;
}

void vs_requeue_note(uint32_t id)
{
	notes += id == 7;
}

void vs_requeue_release(uint32_t id)
{
	(void)id;
}

int vs_device_check(char *why, size_t size)
{
	(void)why;
	(void)size;
	return 0;
}

/* ---- the core's part ---------------------------------------------------------- */

static bool core_running(void)
{
	return is_running;
}

/* Of two nodes, slurm-vsphere manages the second. */
static void core_node_ids(const char *const *names, size_t n, int *ids)
{
	for (size_t i = 0; i < n; i++)
		ids[i] = strcmp(names[i], "vm002") ? -1 : 1;
}

static void core_prep_ops(const struct vs_prep_ops *given)
{
	ops = given;
}

static void core_job_wait(uint32_t id, uint32_t restart, const int *ids,
			  size_t n)
{
	(void)id;
	(void)restart;
	(void)ids;
	waits += (int)n;
}

static void core_job_end(uint32_t id, const int *ids, size_t n, bool notify)
{
	(void)id;
	(void)ids;
	assert_true(notify);
	ends += (int)n;
}

static const struct vs_core_api api = {
	.running = core_running, .node_ids = core_node_ids,
	.prep_ops = core_prep_ops, .job_wait = core_job_wait,
	.job_end = core_job_end,
};

const struct vs_core_api *vs_core_open(struct vs_err *err)
{
	(void)err;
	return &api;
}

/* ---- the tests ------------------------------------------------------------------ */

static int setup(void **state)
{
	prep_callbacks_t given = {
		.prolog_slurmctld = answer, .epilog_slurmctld = answer,
	};

	(void)state;
	job = (job_record_t) {
		.magic = JOB_MAGIC, .job_id = 7,
		.job_state = JOB_RUNNING | JOB_CONFIGURING,
	};
	job_known = is_running = true;
	answers = waits = ends = notes = 0;
	rc_seen = -1;
	prep_p_register_callbacks(&given);
	return 0;
}

static void a_job_that_cannot_be_served_goes_back_to_the_queue(void **state)
{
	(void)state;
	ops->prolog_done(7, false);
	assert_int_equal(answers, 1);
	assert_true(WIFEXITED(rc_seen) && WEXITSTATUS(rc_seen));
}

static void a_job_that_can_is_started(void **state)
{
	(void)state;
	ops->prolog_done(7, true);
	assert_int_equal(answers, 1);
	assert_int_equal(rc_seen, 0);
}

/* Gang scheduling suspends jobs while their VMs boot, and resumes them. */
static void a_suspended_job_is_launched_all_the_same(void **state)
{
	static const uint32_t wiped[] = { JOB_SUSPENDED, JOB_RUNNING };
	vs_job_details_t details = { .prolog_running = 1 };

	(void)state;
	job.details = &details;
	for (size_t i = 0; i < sizeof(wiped) / sizeof(*wiped); i++) {
		job.job_state = wiped[i];
		ops->prolog_done(7, true);
		assert_int_equal(rc_seen, 0);
		assert_true(job.job_state & JOB_CONFIGURING);
	}
	details.prolog_running = 0;		/* it was, already */
	job.job_state = JOB_RUNNING;
	ops->prolog_done(7, true);
	assert_false(job.job_state & JOB_CONFIGURING);
	job.details = NULL;
}

/* slurm-prep: a late callback resurrects a cancelled job: a failed prolog is
 * answered by job_requeue. */
static void a_late_failure_of_a_job_that_is_over_is_none(void **state)
{
	static const uint32_t over[] = {
		JOB_CANCELLED, JOB_CANCELLED | JOB_COMPLETING, JOB_COMPLETE,
		JOB_PENDING, JOB_PENDING | JOB_COMPLETING, JOB_RUNNING,
		JOB_NODE_FAIL,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(over) / sizeof(*over); i++) {
		job.job_state = over[i];
		rc_seen = -1;
		ops->prolog_done(7, false);
		assert_int_equal(rc_seen, 0);
	}
	job_known = false;		/* purged */
	rc_seen = -1;
	ops->prolog_done(7, false);
	assert_int_equal(rc_seen, 0);
}

static void the_end_of_an_epilog_is_said_once(void **state)
{
	(void)state;
	ops->epilog_done(7);
	assert_int_equal(answers, 1);
	assert_int_equal(rc_seen, 0);
}

static bool prolog_waits(void)
{
	bool async = false;

	locked = 1;		/* slurmctld holds it */
	assert_int_equal(prep_p_prolog_slurmctld(&job, &async), SLURM_SUCCESS);
	locked = 0;
	return async;
}

static bool epilog_waits(void)
{
	bool async = false;

	assert_int_equal(prep_p_epilog_slurmctld(&job, &async), SLURM_SUCCESS);
	return async;
}

static void a_job_waits_for_those_of_its_nodes_that_are_ours(void **state)
{
	node_record_t first = { .name = "vm001" }, second = { .name = "vm002" };
	node_record_t *table[] = { &first, &second };

	(void)state;
	node_record_table_ptr = table;
	node_record_count = 2;
	job.node_bitmap = bit_alloc(2);
	bit_set(job.node_bitmap, 0);
	assert_false(prolog_waits());
	assert_int_equal(waits, 0);
	bit_set(job.node_bitmap, 1);
	assert_true(prolog_waits());
	assert_int_equal(waits, 1);
	assert_false(job.job_state & JOB_POWER_UP_NODE);
	assert_true(epilog_waits());
	assert_int_equal(ends, 1);
	job.job_state = JOB_SUSPENDED | JOB_CONFIGURING;
	assert_true(prolog_waits());
	assert_int_equal(waits, 2);
	/* its time limit is not to run while one of its nodes boots */
	job.job_state = JOB_RUNNING | JOB_CONFIGURING;
	second.node_state = NODE_STATE_ALLOCATED | NODE_STATE_POWERING_UP;
	assert_true(prolog_waits());
	assert_int_equal(waits, 3);
	assert_int_equal(job.job_state,
			 JOB_RUNNING | JOB_CONFIGURING | JOB_POWER_UP_NODE);
	job.job_state = JOB_CANCELLED;	/* before its prolog had a thread */
	assert_false(prolog_waits());
	is_running = false;		/* no answer would ever come */
	job.job_state = JOB_RUNNING | JOB_CONFIGURING;
	assert_false(prolog_waits());
	assert_false(epilog_waits());
	bit_free(job.node_bitmap);
	node_record_table_ptr = NULL;
	node_record_count = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_job_that_cannot_be_served_goes_back_to_the_queue, setup),
		cmocka_unit_test_setup(a_job_that_can_is_started, setup),
		cmocka_unit_test_setup(a_suspended_job_is_launched_all_the_same, setup),
		cmocka_unit_test_setup(a_late_failure_of_a_job_that_is_over_is_none, setup),
		cmocka_unit_test_setup(the_end_of_an_epilog_is_said_once, setup),
		cmocka_unit_test_setup(a_job_waits_for_those_of_its_nodes_that_are_ours, setup),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
