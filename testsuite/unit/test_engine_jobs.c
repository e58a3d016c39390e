/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All jobs in one answer: what they have, what they wait for, who may see it. */
#include "engine_stage.h"
#include "engine/report/report.h"
#include "util/json.h"
#include "util/time.h"

#define OWNER 1001
#define STRANGER 1002

static enum vs_job_waits waits;		/* of those that pend */
static int asked;
static uint32_t gone;

/* Jobs up to 100 run, the others pend. */
static void jobs_read(void *ctx, struct vs_slurm_job *rows, size_t n)
{
	(void)ctx;
	asked++;
	for (size_t i = 0; i < n; i++) {
		bool runs = rows[i].job <= 100;

		rows[i].there = rows[i].job != gone;
		rows[i].uid = OWNER;
		rows[i].waits = runs ? VS_WAITS_NOT : waits;
		*rows[i].text = (struct vs_slurm_job_text) {
			.partition = "roce", .reason = "Dependency",
		};
		snprintf(rows[i].text->id, sizeof(rows[i].text->id), "%u",
			 rows[i].job);
		vs_strlcpy(rows[i].text->state, runs ? "RUNNING" : "PENDING",
			   sizeof(rows[i].text->state));
	}
}

static const struct vs_slurm_ops port = {
	.viewer = viewer,
	.jobs_read = jobs_read,
};

static int stage(void **state)
{
	(void)state;
	begin(6, 2, 2, "warm");
	core_set_port(&port);
	ready();
	all_jobs = all_nodes = true;
	waits = VS_WAITS_CAPACITY;
	asked = 0;
	gone = 0;
	return 0;
}

static struct vs_jdoc doc;

static struct vs_j jobs_for(uint32_t uid)
{
	struct vs_err err = { 0 };

	vs_jdoc_free(&doc);
	doc = (struct vs_jdoc) { .root = vs_core_report("jobs", 0, uid, &err) };
	assert_non_null(doc.root);
	return vs_j_get(vs_j_root(&doc), "jobs");
}

static int64_t number(struct vs_j j, const char *key)
{
	return vs_j_int_or(vs_j_opt(j, key), -1);
}

static const char *text(struct vs_j j, const char *key)
{
	return vs_j_str_or(vs_j_opt(j, key), "-");
}

static void a_job_has_its_nodes_hosts_and_vfs(void **state)
{
	struct vs_j j;

	(void)state;
	bring_up(7, "vm1");
	bring_up(8, "vm2");
	j = jobs_for(OWNER);
	assert_int_equal(vs_j_len(j), 2);
	assert_int_equal(asked, 1);
	j = vs_j_at(j, 0);
	assert_int_equal(number(j, "job"), 7);
	assert_int_equal(number(j, "uid"), OWNER);
	assert_string_equal(text(j, "state"), "RUNNING");
	assert_int_equal(number(j, "vfs"), 1);
	assert_int_equal(number(j, "provisioning"), -1);
	assert_string_equal(vs_j_str(vs_j_at(vs_j_get(j, "nodes"), 0)), "vm1");
	assert_string_equal(vs_j_str(vs_j_at(vs_j_get(j, "adapters"), 0)),
			    "sriov-roce");
	assert_int_equal(vs_j_len(vs_j_get(j, "hosts")), 1);
	assert_string_equal(text(j, "reason"), "-");
}

static void what_is_on_its_way_says_how_far(void **state)
{
	struct vs_j j;

	(void)state;
	bring_up(7, "vm1");
	assert_int_equal(job_begin(8, "vm2", "vm3"), 0);
	flags("vm2", WANTED);
	turn();
	j = vs_j_at(jobs_for(OWNER), 1);
	assert_int_equal(number(j, "job"), 8);
	assert_int_equal(number(j, "provisioning"), 2);
	assert_string_equal(text(j, "phase"), "clone");
	assert_true(number(j, "since") > 0);
	assert_int_equal(number(j, "vfs"), 2);	/* they are held already */
	assert_int_equal(vs_j_len(vs_j_get(j, "nodes")), 2);
}

static void who_waits_says_for_what(void **state)
{
	int wants[] = { 0, 1 };
	struct vs_j j;

	(void)state;
	refuse(4711, wants, 2, 2, "needs 2 sriov-roce VFs, 1 free");
	j = vs_j_at(jobs_for(OWNER), 0);
	assert_int_equal(number(j, "job"), 4711);
	assert_int_equal(number(j, "need"), 2);
	assert_non_null(strstr(text(j, "reason"), "1 free"));
	assert_int_equal(number(j, "vfs"), -1);
	assert_int_equal(vs_j_len(vs_j_get(j, "adapters")), 1);
	waits = VS_WAITS_ELSE;		/* Slurm's reason comes first */
	assert_string_equal(text(vs_j_at(jobs_for(OWNER), 0), "reason"),
			    "Dependency");
}

static void a_job_that_begins_waits_no_more(void **state)
{
	int wants[] = { 0 };
	struct vs_j j;

	(void)state;
	refuse(7, wants, 1, 1, "needs 1 sriov-roce VF, 0 free");
	bring_up(7, "vm1");
	j = jobs_for(OWNER);
	assert_int_equal(vs_j_len(j), 1);
	assert_string_equal(text(vs_j_at(j, 0), "reason"), "-");
}

static void what_slurm_has_forgotten_is_left_out(void **state)
{
	int wants[] = { 0 };

	(void)state;
	refuse(4711, wants, 1, 1, "needs 1 VF");
	refuse(4712, wants, 1, 1, "needs 1 VF");
	gone = 4711;
	assert_int_equal(vs_j_len(jobs_for(OWNER)), 1);
}

static void private_data_is_honoured(void **state)
{
	struct vs_j j;

	(void)state;
	bring_up(7, "vm1");
	all_jobs = false;
	assert_int_equal(vs_j_len(jobs_for(STRANGER)), 0);
	all_nodes = false;
	j = jobs_for(OWNER);
	assert_int_equal(vs_j_len(j), 1);
	j = vs_j_at(j, 0);
	assert_true(vs_j_null(vs_j_opt(j, "nodes")));
	assert_true(vs_j_null(vs_j_opt(j, "hosts")));
	assert_int_equal(number(j, "vfs"), 1);
}

/* One question to Slurm, whatever the number, in the order of jobs. */
static void thousands_come_in_one_answer(void **state)
{
	int wants[] = { 0 };
	struct vs_j j;

	(void)state;
	for (uint32_t job = 6000; job > 1000; job--)
		refuse(job, wants, 1, 1, "needs 1 VF");
	j = jobs_for(OWNER);
	assert_int_equal(vs_j_len(j), 5000);
	assert_int_equal(asked, 1);
	assert_int_equal(number(vs_j_at(j, 0), "job"), 1001);
	assert_int_equal(number(vs_j_at(j, 4999), "job"), 6000);
	vs_jdoc_free(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup(f, stage)
		T(a_job_has_its_nodes_hosts_and_vfs),
		T(what_is_on_its_way_says_how_far),
		T(who_waits_says_for_what),
		T(a_job_that_begins_waits_no_more),
		T(what_slurm_has_forgotten_is_left_out),
		T(private_data_is_honoured),
		T(thousands_come_in_one_answer),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
