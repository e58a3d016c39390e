/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf pause: no call that changes vCenter is sent, calls under way end by
 * themselves, jobs wait with the operator's reason, and a restart does not end it.
 * The random worlds of test_engine_model have pauses too.
 */
#include <unistd.h>
#include "engine/persist/persist.h"
#include "engine_stage.h"
#include "scratch.h"
#include "util/json.h"
#include "util/time.h"

#define WHY "vCenter is upgraded"

/* Root's name on this host. */
static void pause_all(const char *why)
{
	struct vs_err err = { 0 };
	struct json_object *o = vs_core_request("pause", "", why, 0, &err);

	assert_non_null(o);
	vs_jb_free(o);
}

static void resume_all(void)
{
	struct vs_err err = { 0 };
	struct json_object *o = vs_core_request("pause-end", "", "", 0, &err);

	assert_non_null(o);
	vs_jb_free(o);
}

static int sent(void)
{
	int n = fake_cancels;

	for (int k = 0; k < FAKE_KINDS; k++)
		n += fake_sent[k];
	return n;
}

/* What Slurm was told by seconds() last. */
static int said[VS_REQUEST_SCHEDULE + 1];

/* So many seconds pass, a turn for each. */
static void seconds(int n)
{
	memset(said, 0, sizeof(said));
	while (n--) {
		now += 900;
		ntold = 0;
		turn();
		for (size_t i = 0; i < ntold; i++)
			said[told[i].kind]++;
	}
}

static void a_call_under_way_ends_and_none_follows(void **st)
{
	int before, one;

	(void)st;
	begin_cloning();
	one = id("vm1");
	vs_job_wait(&vs_core, 7, 0, &one, 1);
	before = sent();
	pause_all(WHY);
	turns(3);
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
	assert_true(fake_finish(FAKE_CLONE));
	seconds(2 * core_conf()->provision_timeout_s);
	assert_int_equal(sent(), before);
	assert_int_equal(said[VS_REQUEST_PROLOG], 0);
	assert_int_equal(said[VS_REQUEST_RELEASE], 0);
	assert_int_equal(said[VS_REQUEST_FAIL], 0);
	assert_true(said[VS_REQUEST_BOOT_PUSH] > 0);
	resume_all();
	turns(2);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	assert_true(fake_finish(FAKE_POWER_ON));
	flags("vm1", BUSY);
	ntold = 0;
	turns(2);
	assert_non_null(heard(VS_REQUEST_PROLOG, NULL));
	assert_true(heard(VS_REQUEST_PROLOG, NULL)->ok);
	assert_int_equal(fake_while_paused, 0);
}

/* A job's prolog waits, with 100 s of ProvisionTimeout left, when the pause begins. */
static void pause_a_prolog(void)
{
	int one;

	begin_cloning();
	one = id("vm1");
	vs_job_wait(&vs_core, 7, 0, &one, 1);
	seconds(core_conf()->provision_timeout_s - 100);
	pause_all(WHY);
}

static void ends_after_what_was_left(void)
{
	resume_all();
	seconds(90);
	assert_int_equal(said[VS_REQUEST_PROLOG], 0);
	seconds(20);
	assert_int_equal(said[VS_REQUEST_PROLOG], 1);
}

/* What was left of ProvisionTimeout when the pause began is left when it ends. */
static void a_pause_is_no_part_of_a_prologs_time(void **st)
{
	(void)st;
	pause_a_prolog();
	seconds(500);
	ends_after_what_was_left();
}

/* Another operator's reason does not begin another pause. */
static void nor_is_one_whose_reason_changes(void **st)
{
	(void)st;
	pause_a_prolog();
	seconds(300);
	pause_all("it takes longer");
	assert_string_equal(vs_pause_get()->text,
			    "paused by root: it takes longer");
	seconds(300);
	ends_after_what_was_left();
}

static void nor_of_the_time_for_a_node_that_no_job_waits_for(void **st)
{
	int most;

	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	most = core_conf()->provision_timeout_s;
	pause_all(WHY);
	flags("vm1", VS_NODE_POWERING_UP);
	seconds(most + 100);
	resume_all();
	seconds(most - 100);
	assert_int_equal(said[VS_REQUEST_RELEASE], 0);
	seconds(200);
	assert_int_equal(said[VS_REQUEST_RELEASE], 1);
}

static void no_job_begins_and_the_reason_is_said(void **st)
{
	struct vs_err err = { 0 };
	struct json_object *o;
	int one;

	(void)st;
	begin_idle("warm");
	pause_all(WHY);
	assert_int_equal(job_begin(8, "vm1", NULL), -1);
	assert_string_equal(vs_query_blocked(&vs_core), "paused by root: " WHY);
	one = id("vm1");
	refuse(8, &one, 1, 1, vs_query_blocked(&vs_core));
	o = vs_jb_obj(NULL);
	vs_report_pause(o);
	assert_non_null(vs_jb_member(o, "paused"));
	vs_jb_free(o);
	vs_capacity_freed_clear();
	resume_all();
	assert_true(vs_capacity_freed_pending());	/* Slurm tries it again */
	assert_null(vs_query_blocked(&vs_core));
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	assert_null(vs_core_request("pause-end", "", "", 0, &err));
	assert_int_equal(err.code, VS_E_STATE);
	assert_null(vs_core_request("pause", "", "", 0, &err));
	assert_int_equal(err.code, VS_E_REQUEST);
}

static void a_vm_that_slurm_powers_down_goes_off_afterwards(void **st)
{
	(void)st;
	begin_idle("warm");
	pause_all(WHY);
	flags("vm1", GOING);
	seconds(60);
	flags("vm1", DOWN);
	seconds(60);
	assert_true(fake_get("vm1")->on);
	assert_int_equal(fake_while_paused, 0);
	resume_all();
	turns(2);
	assert_int_equal(fake_waiting(FAKE_POWER_OFF), 1);
}

static void no_task_is_cancelled(void **st)
{
	(void)st;
	begin_cloning();
	assert_true(fake_accept(FAKE_CLONE));
	pause_all(WHY);
	vs_job_end(&vs_core, 7, &(int) { id("vm1") }, 1, false);
	flags("vm1", DOWN);
	seconds(10);
	assert_int_equal(fake_cancels, 0);
	resume_all();
	turns(2);
	assert_int_equal(fake_cancels, 1);
}

static void nor_one_whose_end_was_ordered_before_it_was_a_task(void **st)
{
	(void)st;
	begin_cloning();
	vs_job_end(&vs_core, 7, &(int) { id("vm1") }, 1, false);
	flags("vm1", DOWN);
	turns(2);
	assert_true(core_nodes()[0].op.cancel_asked);
	pause_all(WHY);
	assert_true(fake_accept(FAKE_CLONE));
	assert_int_equal(fake_cancels, 0);
}

/* A clone for a node that is not known, which hangs. */
static void nor_one_that_hangs(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	vs_unowned_task_add(7, "task-7", now);
	pause_all(WHY);
	seconds(400);
	assert_int_equal(fake_cancels, 0);
	resume_all();
	turns(2);
	assert_int_equal(fake_cancels, 1);
	vs_unowned_tasks_forget();
}

/* Slurm has no such node. */
static void none_known(void *ctx, struct vs_slurm_node *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++)
		rows[i].flags = 0;
}

static void polls(int n)
{
	while (n--) {
		vs_orphans_query_slurm(&vs_core);
		fake_slow(NULL, 0);
		turns(11);
	}
}

static void a_vm_that_no_node_has_stays(void **st)
{
	static const struct vs_slurm_ops port = { .nodes_read = none_known };
	struct fake_vm *vm;

	(void)st;
	begin(1, 2, 8, "warm");
	core_set_port(&port);
	vs_orphans_clear();
	now += 1000;
	vs_removal_clear();
	vm = fake_add_vm("old1", "group-v1", "host-1", false);
	snprintf(vm->mark, sizeof(vm->mark), "%s/old1/%s", core_cluster_id(),
		 vm->uuid);
	ready();
	pause_all(WHY);
	polls(5);
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	resume_all();
	polls(2);
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
}

/* ---- the state file ---------------------------------------------------------- */

static char dir[SCRATCH_LEN];

static int remove_file(void **st)
{
	(void)st;
	scratch_remove(dir);
	return 0;
}

static void saves_to_a_file(void)
{
	if (!dir[0])
		assert_non_null(mkdtemp(scratch_path(dir, "pause")));
	free((char *)core_conf()->state_dir);
	core_conf()->state_dir = vs_strdup(dir);
}

/* Another slurmctld reads what this one has written, or this text. */
static void starts_again(const char *text)
{
	VS_FREE char *kept = NULL;

	vs_state_file_save(&vs_core, now);
	kept = vs_state_file_read(dir);
	vs_state_file_forget();
	vs_state_file_load(&vs_core, text ? text : kept, NULL);
}

static void it_survives_a_restart_with_who_when_and_why(void **st)
{
	const struct vs_pause *p;
	int64_t at;
	int one;

	(void)st;
	begin_cloning();
	saves_to_a_file();
	pause_all(WHY);
	at = vs_pause_get()->at;
	vs_state_file_save(&vs_core, now);
	vs_pause_end(&vs_core);		/* all of memory goes */
	vs_state_file_forget();
	{
		VS_FREE char *kept = vs_state_file_read(dir);

		vs_state_file_load(&vs_core, kept, NULL);
	}
	p = vs_pause_get();
	assert_non_null(p);
	assert_string_equal(p->text, "paused by root: " WHY);
	assert_int_equal(p->uid, 0);
	assert_int_equal(p->at, at);
	/* a prolog of before the restart has all of its time left */
	one = id("vm1");
	vs_job_wait(&vs_core, 7, 0, &one, 1);
	seconds(core_conf()->provision_timeout_s + 100);
	resume_all();
	seconds(100);
	assert_int_equal(said[VS_REQUEST_PROLOG], 0);
	starts_again(NULL);
	assert_null(vs_pause_get());
}

/* A file of an older release has no such member. */
static void another_slurmctld_may_have_ended_it(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	saves_to_a_file();
	pause_all(WHY);
	starts_again("{\"brake\":{\"on\":false}}");
	assert_null(vs_pause_get());
}

static void a_pause_that_is_half_readable_counts(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	saves_to_a_file();
	starts_again("{\"paused\":{\"reason\":[7],\"since\":\"now\"}}");
	assert_non_null(vs_pause_get());
	assert_string_equal(vs_pause_get()->text, "paused by ?");
	assert_false(vs_changes_permitted());
}

static void hostile_texts_are_one_line_and_bounded(void **st)
{
	char text[400];
	const char *detail;

	(void)st;
	begin(1, 1, 1, "warm");
	memset(text, 'x', sizeof(text));
	memcpy(text, "a\n\x1b[31mb\xc2\x9b", 10);
	text[sizeof(text) - 1] = '\0';
	vs_pause_begin(&vs_core, text, 7, text);
	detail = strstr(vs_pause_get()->text, ": ");
	assert_non_null(detail);
	assert_true(detail - vs_pause_get()->text <= 58);
	assert_true(strlen(vs_pause_get()->text) < 170);
	for (const char *p = vs_pause_get()->text; *p; p++)
		assert_true(*p != '\n' && *p != '\x1b');
	assert_null(strstr(vs_pause_get()->text, "\xc2\x9b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_under_way_ends_and_none_follows),
		cmocka_unit_test(a_pause_is_no_part_of_a_prologs_time),
		cmocka_unit_test(nor_is_one_whose_reason_changes),
		cmocka_unit_test(nor_of_the_time_for_a_node_that_no_job_waits_for),
		cmocka_unit_test(no_job_begins_and_the_reason_is_said),
		cmocka_unit_test(a_vm_that_slurm_powers_down_goes_off_afterwards),
		cmocka_unit_test(no_task_is_cancelled),
		cmocka_unit_test(nor_one_whose_end_was_ordered_before_it_was_a_task),
		cmocka_unit_test(nor_one_that_hangs),
		cmocka_unit_test(a_vm_that_no_node_has_stays),
		cmocka_unit_test(it_survives_a_restart_with_who_when_and_why),
		cmocka_unit_test(another_slurmctld_may_have_ended_it),
		cmocka_unit_test(a_pause_that_is_half_readable_counts),
		cmocka_unit_test(hostile_texts_are_one_line_and_bounded),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, remove_file);
}
