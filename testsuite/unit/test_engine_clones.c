/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many VMs are made in an hour: the hour itself, and who waits for it. */
#include <unistd.h>
#include "engine/persist/persist.h"
#include "engine/prefetch/prefetch_i.h"
#include "engine/tasks/tasks_i.h"
#include "engine_stage.h"
#include "scratch.h"
#include "util/time.h"

#define MINUTE 29000000

static void the_hour_slides(void **st)
{
	struct vs_clones k = { .minute = 0 };

	(void)st;
	assert_int_equal(vs_clones_made(&k, MINUTE), 0);
	vs_clones_note(&k, MINUTE, 2);
	vs_clones_note(&k, MINUTE, 1);
	vs_clones_note(&k, MINUTE + 10, 4);
	assert_int_equal(vs_clones_made(&k, MINUTE + 10), 7);
	assert_int_equal(vs_clones_made(&k, MINUTE + 59), 7);
	assert_int_equal(vs_clones_made(&k, MINUTE + 60), 4);
	assert_int_equal(vs_clones_made(&k, MINUTE + 70), 0);
	/* what is there already counts before what comes */
	assert_int_equal(vs_clones_left(&k, MINUTE + 10, 7), MINUTE + 10);
	assert_int_equal(vs_clones_left(&k, MINUTE + 10, 6), MINUTE + 60);
	assert_int_equal(vs_clones_left(&k, MINUTE + 10, 4), MINUTE + 60);
	assert_int_equal(vs_clones_left(&k, MINUTE + 10, 3), MINUTE + 70);
	vs_clones_note(&k, MINUTE + 61, 1);
	assert_int_equal(vs_clones_made(&k, MINUTE + 61), 5);
	/* after a long time nothing of before is left */
	vs_clones_note(&k, MINUTE + 500, 1);
	assert_int_equal(vs_clones_made(&k, MINUTE + 500), 1);
	assert_int_equal(vs_clones_made(&k, MINUTE + 559), 1);
	assert_int_equal(vs_clones_made(&k, MINUTE + 560), 0);
}

static void a_clock_that_is_set_back_forgets_at_most(void **st)
{
	struct vs_clones k = { .minute = 0 };

	(void)st;
	vs_clones_note(&k, MINUTE, 3);
	assert_int_equal(vs_clones_made(&k, MINUTE - 1), 3);
	vs_clones_note(&k, MINUTE - 1, 1);
	assert_int_equal(vs_clones_made(&k, MINUTE), 4);
	/* by a day */
	assert_int_equal(vs_clones_made(&k, MINUTE - 1440), 0);
	vs_clones_note(&k, MINUTE - 1440, 1);
	assert_int_equal(vs_clones_made(&k, MINUTE - 1440), 1);
	vs_clones_note(&k, 0, 1);
	vs_clones_note(&k, -5, 1);
	assert_int_equal(vs_clones_made(&k, MINUTE - 1440), 1);
}

static void begin_with(int nodes, int cap, const char *retention)
{
	vs_clones_clear();
	begin(nodes, 2, 4, retention);
	core_conf()->max_clones_per_hour = cap;
	ready();
}

/* An hour later. */
static void hour_passes(void)
{
	vs_clones.minute -= VS_CLONES_MINUTES;
	vs_clones.seen_minute = 0;
	turn();
}

static const char *barred(const char *node)
{
	return vs_node_blocked(&vs_core, vs_node_named(&vs_core, node));
}

static bool told_that(const char *part)
{
	size_t n;
	const struct vs_finding *f = vs_findings(&n);

	for (size_t i = 0; i < n; i++)
		if (strstr(f[i].text, part))
			return true;
	return false;
}

static void what_was_made_keeps_new_jobs_waiting(void **st)
{
	(void)st;
	begin_with(4, 2, "warm");
	bring_up(7, "vm1");
	assert_false(told_that("MaxClonesPerHour=2 VMs were created in the last hour: jobs"));
	bring_up(8, "vm2");
	turn();
	assert_int_equal(vs_clones_hour(), 2);
	assert_true(told_that("MaxClonesPerHour=2 VMs were created in the last hour: jobs"));
	assert_non_null(strstr(barred("vm3"), "MaxClonesPerHour=2 is reached until"));
	assert_int_equal(job_begin(9, "vm3", NULL), -1);
	/* an existing VM needs no clone: its node isn't blocked */
	end_job(7, "vm1");
	assert_null(barred("vm1"));
	assert_int_equal(job_begin(9, "vm1", NULL), 0);
	hour_passes();
	assert_null(barred("vm3"));
	assert_true(vs_capacity_freed_pending());
	assert_false(told_that("MaxClonesPerHour"));
	assert_int_equal(job_begin(10, "vm3", NULL), 0);
}

/* Before a single call was sent: jobs begin faster than clones. */
static void what_is_owed_counts_at_once(void **st)
{
	(void)st;
	begin_with(4, 2, "warm");
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	assert_int_equal(job_begin(8, "vm2", NULL), 0);
	assert_int_equal(job_begin(9, "vm3", NULL), -1);
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	/* one of them goes before it was made */
	flags("vm1", WANTED);
	vs_job_end(&vs_core, 8, &(int) { id("vm2") }, 1, false);
	turns(50);
	assert_int_equal(vs_clones_hour(), 1);
	assert_int_equal(vs_clones.owed, 0);
	assert_int_equal(job_begin(9, "vm3", NULL), 0);
	assert_int_equal(vs_clones.owed, 1);
}

/* In job_begin, under slurmctld's locks, no time is looked for. */
static void the_time_is_found_in_the_engines_own_turn(void **st)
{
	(void)st;
	begin_with(4, 2, "warm");
	assert_int_equal(job_begin(7, "vm1", "vm2"), 0);
	assert_string_equal(barred("vm3"), "MaxClonesPerHour=2 is reached");
	turn();
	assert_non_null(strstr(barred("vm3"), "is reached until"));
}

/* Of another template: it is destroyed first, and one is made. */
static void a_vm_that_must_be_made_anew_is_owed(void **st)
{
	(void)st;
	begin_with(3, 2, "warm");
	bring_up(7, "vm1");
	end_job(7, "vm1");
	powered_down("vm1");
	fake_template("vm-new", NULL);
	turn();
	assert_int_equal(vs_clones_hour(), 1);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	assert_int_equal(vs_clones.owed, 1);
	assert_non_null(barred("vm2"));
	flags("vm1", BOOT);
	turns(2);
	assert_true(fake_finish(FAKE_DESTROY));
	turns(2);
	assert_int_equal(vs_clones_hour(), 2);
	assert_int_equal(vs_clones.owed, 0);
}

/* What is on, or was made for this very job, is not made again. */
static void what_is_there_for_the_job_is_not_owed(void **st)
{
	(void)st;
	begin_with(3, 2, "destroy");
	clone_for(7, "vm1");
	turns(2);
	assert_true(fake_fault(FAKE_POWER_ON, VS_E_OTHER_HOST,
			       "GenericVmConfigFault", "no"));
	turns(20);
	assert_true(fake_waiting(FAKE_RELOCATE));
	assert_int_equal(vs_clones.owed, 0);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(3);
	assert_true(fake_finish(FAKE_POWER_ON));
	vs_ledger_clear(core_ledger());
	turns(2);
	assert_non_null(vs_ledger_get(core_ledger(), "vm1"));
	assert_int_equal(vs_clones.owed, 0);
}

/* One VM is left of the hour: the whole gang has it, and all that it needs. */
static void a_gang_is_never_half_made(void **st)
{
	int ids[4];
	struct vs_err err;

	(void)st;
	begin_with(5, 2, "warm");
	bring_up(7, "vm5");
	for (int i = 0; i < 4; i++)
		ids[i] = id((const char *[]) { "vm1", "vm2", "vm3", "vm4" }[i]);
	assert_int_equal(vs_job_begin(&vs_core, 8, 0, ids, 4, &err), 0);
	for (int i = 0; i < 4; i++)
		vs_node_flags(&vs_core, &core_nodes()[ids[i]], WANTED);
	turns(3);
	assert_int_equal(fake_sent[FAKE_CLONE], 5);
	assert_int_equal(vs_clones_hour(), 5);
	assert_int_equal(vs_clones.owed, 0);
}

/* Retention=destroy: each job needs a new clone. */
static void vms_that_a_job_uses_up_count_as_none(void **st)
{
	(void)st;
	begin_with(3, 1, "destroy");
	bring_up(7, "vm1");
	turn();
	assert_non_null(barred("vm2"));
	assert_non_null(barred("vm1"));
}

static void most_of_it_used_is_told(void **st)
{
	(void)st;
	begin_with(8, 5, "warm");
	vs_clones_note(&vs_clones, vs_wall_ms() / 60000, 3);
	hour_passes();
	vs_clones.minute += VS_CLONES_MINUTES;
	bring_up(7, "vm1");
	turn();
	assert_int_equal(vs_clones_hour(), 4);
	assert_true(told_that("more than 80 % of MaxClonesPerHour=5"));
	assert_true(vs_clones_scarce(&vs_core));
	assert_null(barred("vm2"));
}

static size_t jobs_ahead(void *ctx, int64_t within_s,
			 struct vs_slurm_planned *rows, size_t max)
{
	(void)ctx;
	(void)within_s;
	(void)max;
	rows[0] = (struct vs_slurm_planned) { .node = "vm3",
					      .job = 9,
					      .in_s = 60 };
	return 1;
}

/* vm1 was made in this hour; may vm3 be made ahead of job 9? */
static size_t made_ahead(int cap)
{
	static const struct vs_slurm_ops port = { .jobs_ahead = jobs_ahead };
	const struct vs_slurm_ops *was = core_port();

	begin_with(4, cap, "warm");
	core_set_port(&port);
	core_conf()->prefetch.vms = 4;
	core_conf()->prefetch.window_s = 600;
	core_conf()->prefetch.grace_s = 60;
	vs_clones_note(&vs_clones, vs_wall_ms() / 60000, 3);
	bring_up(7, "vm1");
	assert_null(barred("vm3"));
	vs_prefetch_read(&vs_core, now);
	vs_prefetch_update(&vs_core, now);
	core_set_port(was);
	return vs_plans.nahead;
}

static void what_little_is_left_is_for_jobs_that_begin(void **st)
{
	(void)st;
	assert_int_equal(made_ahead(5), 0);
	vs_prefetch_clear();
	assert_int_equal(made_ahead(20), 1);
	vs_prefetch_clear();
}

static void without_a_cap_many_are_told_of_and_none_waits(void **st)
{
	(void)st;
	begin_with(2, 0, "warm");
	vs_clones_note(&vs_clones, vs_wall_ms() / 60000, 999);
	bring_up(7, "vm1");
	turn();
	assert_true(told_that("more than 1000 VMs were created"));
	assert_false(vs_clones_scarce(&vs_core));
	assert_null(barred("vm2"));
}

/* A configuration with another one. */
static void another_cap_is_in_force_at_once(void **st)
{
	(void)st;
	begin_with(4, 1, "warm");
	bring_up(7, "vm1");
	turn();
	assert_non_null(barred("vm2"));
	core_conf()->max_clones_per_hour = 2;
	core_set_epoch(core_epoch() + 1);
	turn();
	assert_null(barred("vm2"));
	assert_true(vs_capacity_freed_pending());
	core_conf()->max_clones_per_hour = 0;
	core_set_epoch(core_epoch() + 1);
	turn();
	assert_null(barred("vm2"));
}

static char dir[SCRATCH_LEN];

static void a_restart_forgets_nothing(void **st)
{
	char path[SCRATCH_FILE];
	char *text;

	(void)st;
	assert_non_null(mkdtemp(scratch_path(dir, "clones")));
	begin_with(4, 2, "warm");
	free(core_conf()->state_dir);
	core_conf()->state_dir = vs_strdup(dir);
	bring_up(7, "vm1");
	bring_up(8, "vm2");
	vs_state_file_urgent();
	vs_state_file_save(&vs_core, now);
	vs_clones_clear();
	vs_state_file_read_done(false);
	text = vs_state_file_read(dir);
	assert_non_null(text);
	vs_state_file_load(&vs_core, text, NULL);
	free(text);
	turn();
	assert_int_equal(vs_clones_hour(), 2);
	assert_non_null(barred("vm3"));
	snprintf(path, sizeof(path), "%s/slurm_vsphere.hints", dir);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hour_slides),
		cmocka_unit_test(a_clock_that_is_set_back_forgets_at_most),
		cmocka_unit_test(what_was_made_keeps_new_jobs_waiting),
		cmocka_unit_test(what_is_owed_counts_at_once),
		cmocka_unit_test(the_time_is_found_in_the_engines_own_turn),
		cmocka_unit_test(a_vm_that_must_be_made_anew_is_owed),
		cmocka_unit_test(what_is_there_for_the_job_is_not_owed),
		cmocka_unit_test(a_gang_is_never_half_made),
		cmocka_unit_test(vms_that_a_job_uses_up_count_as_none),
		cmocka_unit_test(most_of_it_used_is_told),
		cmocka_unit_test(what_little_is_left_is_for_jobs_that_begin),
		cmocka_unit_test(without_a_cap_many_are_told_of_and_none_waits),
		cmocka_unit_test(another_cap_is_in_force_at_once),
		cmocka_unit_test(a_restart_forgets_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
