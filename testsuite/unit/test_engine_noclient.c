/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine's own thread while it has no client: its cluster id can't be read,
 * the first login is barred. */
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>
#include "engine_stage.h"
#include "scratch.h"

static char dir[SCRATCH_LEN];
static atomic_int answered;		/* 1: well, -1: not */
static atomic_bool pushed;

static bool active(void *ctx)
{
	(void)ctx;
	return true;
}

static void nodes_read(void *ctx, struct vs_slurm_node *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++)
		rows[i].flags = BOOT;
}

static void prolog_done(uint32_t job, bool ok)
{
	(void)job;
	answered = ok ? 1 : -1;
}

static void boot_push(void *ctx, const char *const *nodes, size_t n)
{
	(void)ctx;
	pushed = n == 1 && !strcmp(nodes[0], "vm1");
}

static const struct vs_slurm_ops port = {
	.active = active, .nodes_read = nodes_read,
	.jobs_read = jobs_configure, .nodes_boot_push = boot_push,
};
static const struct vs_prep_ops prep = { .prolog_done = prolog_done };

static void a_prolog_is_answered_at_its_timeout_and_no_boot_runs_out(void **state)
{
	const struct vs_core_api *api = vs_core_api_get();
	struct vs_conf *conf = conf_make(1, "warm", 1024);
	VS_FREE char *path = vs_asprintf("%s/slurm_vsphere.id", dir);
	struct vs_err err = { 0 };
	FILE *f;
	int one;

	(void)state;
	f = fopen(path, "w");
	fputs("not an id\n", f);
	fclose(f);
	begin(1, 1, 1, "warm");
	core_set_vc(NULL);
	core_set_clock(NULL);
	conf->state_dir = vs_strdup(dir);
	conf->svf_port = 0;
	conf->provision_timeout_s = 1;
	api->prep_ops(&prep);
	assert_int_equal(api->start(conf, &port, &err), 0);
	vs_lock();
	one = id("vm1");
	vs_unlock();
	api->job_wait(7, 0, &one, 1);
	for (int i = 0; i < 100 && !(answered && pushed); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	(api->stop)();	/* cmocka has a macro of that name */
	unlink(path);
	assert_int_equal(answered, -1);
	assert_true(pushed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_prolog_is_answered_at_its_timeout_and_no_boot_runs_out),
	};

	int failed;

	if (!mkdtemp(scratch_path(dir, "novc")))
		return 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	scratch_remove(dir);
	return failed;
}
