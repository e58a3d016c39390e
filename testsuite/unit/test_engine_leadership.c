/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Terms of office: the engine's own thread on the fake vCenter, the end of a
 * term, its interruption by a reconfigure that failed, and a new one.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>
#include "engine/tasks/tasks_i.h"
#include "engine/tasks/tasks.h"
#include "engine_stage.h"
#include "scratch.h"

static atomic_bool in_control;
static char dir[SCRATCH_LEN];

#define SUSPEND_MS 600000

static bool active(void *ctx)
{
	(void)ctx;
	return atomic_load(&in_control);
}

static void nodes_read(void *ctx, struct vs_slurm_node *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		rows[i].flags = DOWN;
		rows[i].suspend_ms = SUSPEND_MS;
	}
}

static const struct vs_slurm_ops port = {
	.active = active, .nodes_read = nodes_read,
	.jobs_read = jobs_configure,
};

/* What another engine would find: it may begin (and lets go again), or not. */
static bool free_for_others(void)
{
	VS_FREE char *path = vs_asprintf("%s/slurm_vsphere.lock", dir);
	VS_CLOSE int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	return !flock(fd, LOCK_EX | LOCK_NB);
}

static bool becomes_free(bool wanted)
{
	for (int i = 0; i < 500; i++) {
		if (free_for_others() == wanted)
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return false;
}

static void engine_start(void)
{
	struct vs_conf *conf = conf_make(2, "warm", 1024);
	struct vs_err err = { 0 };

	conf->state_dir = vs_strdup(dir);
	conf->svf_port = 0;
	atomic_store(&in_control, true);
	core_set_clock(NULL);
	assert_int_equal(vs_core_api_get()->start(conf, &port, &err), 0);
	assert_true(becomes_free(false));
}

static bool suspend_time_is_read(int node)
{
	for (int i = 0; i < 500; i++) {
		int64_t is;

		vs_lock();
		is = core_nodes()[node].ahead.suspend_ms;
		vs_unlock();
		if (is == SUSPEND_MS)
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return false;
}

/* The process that a reconfigure starts may begin while this one still lives.
 * If it doesn't come up, this one continues, and Slurm doesn't report its jobs
 * again. */
static void an_interrupted_term_goes_on_with_what_it_knew(void **state)
{
	const struct vs_core_api *api = vs_core_api_get();
	int one;

	(void)state;
	begin(2, 1, 2, "warm");
	engine_start();
	api->node_ids((const char *[]){ "vm1" }, 1, &one);
	api->job_wait(7, 0, &one, 1);
	assert_true(suspend_time_is_read(one));
	atomic_store(&in_control, false);
	assert_true(becomes_free(true));
	atomic_store(&in_control, true);
	assert_true(becomes_free(false));
	vs_lock();
	assert_true(vs_job_waits(7));
	assert_int_equal(node_job(&core_nodes()[one]), 7);
	vs_unlock();
	(api->stop)();	/* cmocka has a macro of that name */
	assert_true(free_for_others());
}

static void a_new_term_knows_nothing_of_an_earlier_ones_jobs(void **state)
{
	int one;

	(void)state;
	begin(2, 1, 2, "power_off");
	ready();
	bring_up(7, "vm1");
	one = id("vm1");
	vs_job_wait(&vs_core, 7, 0, &one, 1);
	vs_exclude_failed("host-1", NULL, now + 60000, "text");
	vs_removal_limit.on = true;
	vs_lock();
	vs_leadership_begin(&vs_core);
	vs_unlock();
	assert_int_equal(node_job(&core_nodes()[one]), 0);
	assert_false(vs_job_waits(7));
	assert_null(vs_ledger_get(core_ledger(), "vm1"));
	assert_null(vs_avoids());
	assert_false(vs_removal_limit_is_reached());
	/* The VM of a node that is up stays; no job is in it. */
	flags("vm1", UP);
	vs_client_renew_clear();
	fake_load();
	fake_slow(NULL, 0);
	turns(3);
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 0);
	assert_non_null(vs_ledger_get(core_ledger(), "vm1"));
	assert_int_equal(vs_tasks_provisioning() + vs_tasks_power_ops(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_term_knows_nothing_of_an_earlier_ones_jobs),
		cmocka_unit_test(an_interrupted_term_goes_on_with_what_it_knew),
	};
	static const char *const files[] = {
		"slurm_vsphere.lock", "slurm_vsphere.id",
		"slurm_vsphere.hints", "vsphere_control.port",
	};
	int rc;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (!mkdtemp(scratch_path(dir, "term")))
		return 1;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	for (size_t i = 0; i < VS_COUNT(files); i++) {
		VS_FREE char *path = vs_asprintf("%s/%s", dir, files[i]);

		unlink(path);
	}
	return rmdir(dir) ? 1 : rc;
}
