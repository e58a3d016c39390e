/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drains by others, counted by host: HostDrainThreshold= is another than it was.
 */
#include <unistd.h>
#include "engine/persist/persist.h"
#include "engine_stage.h"
#include "scratch.h"

static const struct vs_exclusion *sick(void)
{
	return vs_exclusion_find(VS_EXCLUDED_DRAINS, "host-1");
}

static void limit(int most)
{
	struct vs_conf *conf = conf_make(4, "warm", 1024);

	conf->host_drain_threshold = most;
	vs_setup_apply(&vs_core, conf);
	vs_setup_macs(&vs_core);
	ready();
}

/* vm1 and vm2 are drained by others, on the only host. */
static void two_drained(void)
{
	begin(4, 1, 4, "warm");
	vs_health_clear(&vs_core);
	ready();
	bring_up(1, "vm1");
	bring_up(2, "vm2");
	flags("vm1", BUSY | VS_NODE_TAKEN);
	flags("vm2", BUSY | VS_NODE_TAKEN);
	turn();
	assert_int_equal(vs_health_drains("host-1"), 2);
}

static void another_limit_of_drains_is_judged_by_at_once(void **st)
{
	(void)st;
	two_drained();
	assert_null(sick());
	limit(2);
	assert_non_null(sick());
	assert_int_equal(job_begin(3, "vm3", NULL), -1);
	limit(3);
	assert_null(sick());
	assert_int_equal(job_begin(3, "vm3", NULL), 0);
	limit(1);
	assert_non_null(sick());
	limit(0);
	assert_null(sick());
	assert_int_equal(vs_health_drains("host-1"), 2);
}

/* The host stays excluded until all nodes are resumed, even if the
 * configuration is read again. */
static void the_same_limit_of_drains_ends_nothing(void **st)
{
	(void)st;
	two_drained();
	limit(2);
	flags("vm1", BUSY);
	turn();
	assert_int_equal(vs_health_drains("host-1"), 1);
	limit(2);
	assert_non_null(sick());
	limit(3);
	assert_null(sick());
}

static void a_limit_that_changed_while_nothing_ran_is_seen(void **st)
{
	static const struct { int most; bool out; } rows[] = {
		{ 2, true }, { 3, false }, { 0, false },
	};
	char dir[SCRATCH_LEN], path[SCRATCH_FILE];
	VS_FREE char *text = NULL;

	(void)st;
	two_drained();
	limit(2);
	assert_non_null(mkdtemp(scratch_path(dir, "host")));
	vs_str_replace(&core_conf()->state_dir, dir);
	vs_state_file_urgent();
	vs_state_file_save(&vs_core, now);
	text = vs_state_file_read(dir);
	snprintf(path, sizeof(path), "%s/slurm_vsphere.hints", dir);
	unlink(path);
	rmdir(dir);
	assert_non_null(text);
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		begin(4, 1, 4, "warm");
		vs_health_clear(&vs_core);
		core_conf()->host_drain_threshold = rows[i].most;
		vs_state_file_read_done(false);
		vs_state_file_load(&vs_core, text, NULL);
		assert_int_equal(vs_health_drains("host-1"), 2);
		assert_int_equal(sick() != NULL, rows[i].out);
	}
	vs_health_clear(&vs_core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_limit_of_drains_is_judged_by_at_once),
		cmocka_unit_test(the_same_limit_of_drains_ends_nothing),
		cmocka_unit_test(a_limit_that_changed_while_nothing_ran_is_seen),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
