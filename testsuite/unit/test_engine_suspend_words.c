/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What people and Prometheus learn of jobs whose VMs are suspended: job 11 of two
 * nodes on two hosts is, for job 20.
 */
#include "engine_stage.h"
#include "util/buf.h"
#include "util/json.h"
#include "util/time.h"

#define HAS(text, words) do {						\
	if (!strstr(text, words))					\
		fail_msg("\"%s\" lacks \"%s\"", text, words);		\
} while (0)
#define LACKS(text, words) do {						\
	if (strstr(text, words))					\
		fail_msg("\"%s\" has \"%s\"", text, words);		\
} while (0)

static int job_info(void *ctx, uint32_t job, uint32_t *uid, char *state,
		    size_t state_size, char *reason, size_t reason_size)
{
	(void)ctx;
	*uid = 0;
	vs_strlcpy(state, "SUSPENDED", state_size);
	vs_strlcpy(reason, "None", reason_size);
	return job == 11 ? 0 : -1;
}

static void jobs_info(void *ctx, struct vs_port_job_row *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		rows[i].there = true;
		rows[i].waits = VS_WAITS_NOT;
		vs_strlcpy(rows[i].id, "11", sizeof(rows[i].id));
		vs_strlcpy(rows[i].state, "SUSPENDED", sizeof(rows[i].state));
	}
}

static void nodes_jobs(void *ctx, struct vs_port_job *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++)
		rows[i].job = 11;
}

static bool is_operator(void *ctx, uint32_t uid)
{
	(void)ctx;
	return !uid;
}

static const struct vs_port port = {
	.is_operator = is_operator,
	.sees_jobs = sees_jobs, .sees_nodes = sees_nodes,
	.nodes_jobs = nodes_jobs, .job_info = job_info,
	.jobs_info = jobs_info,
};

static struct vs_suspend *s;

static int stage(void **state)
{
	int ids[2];

	(void)state;
	begin(2, 2, 1, "warm");
	vs_suspends_clear(&vs_core);
	vs_core.port = &port;
	ready();
	all_jobs = all_nodes = true;
	bring_up(11, "vm1");
	bring_up(11, "vm2");
	ids[0] = id("vm1");
	ids[1] = id("vm2");
	vs_job_claim(&vs_core, 11, 0, ids, 2, true);
	vs_suspend_found(&vs_core, &(struct vs_port_look) {
		.job = 11, .for_job = 20,
	});
	s = vs_suspend_of(&vs_core, 11);
	assert_non_null(s);
	return 0;
}

static int stage_end(void **state)
{
	(void)state;
	vs_suspends_clear(&vs_core);
	return 0;
}

static const char *words(void)
{
	static char text[1024];

	vs_suspend_words(&vs_core, s, text, sizeof(text));
	return text;
}

static void each_state_has_its_words(void **state)
{
	static const char *const begin_with[] = {
		[VS_SUSPEND_STOPS] = "its VMs are to be suspended for JobId=20",
		[VS_SUSPEND_HEEDS] = "its VMs are to be suspended for JobId=20",
		[VS_SUSPEND_GOES] = "its VMs are being suspended for JobId=20",
		[VS_SUSPEND_IS] = "its VMs are suspended since ",
		[VS_SUSPEND_RESUMES] = "its VMs are being resumed; they were suspended for JobId=20",
		[VS_SUSPEND_WAKES] = "its VMs are on again, and their slurmds are to answer; they were suspended for JobId=20",
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(begin_with); i++) {
		s->state = (enum vs_suspend_state)i;
		if (strncmp(words(), begin_with[i], strlen(begin_with[i])))
			fail_msg("\"%s\" is not \"%s\"", words(),
				 begin_with[i]);
	}
}

static void when_it_goes_on_is_said(void **state)
{
	(void)state;
	HAS(words(), "; they go on when that one has begun and there is room on esx1, esx2");
	s->waits = false;
	HAS(words(), "for JobId=20; they go on when there is room on esx1, esx2");
	vs_strlcpy(s->why, "host full", sizeof(s->why));
	HAS(words(), " (host full)");
	s->held = true;
	HAS(words(), "an operator has suspended it too: they go on after scontrol resume 11");
	s->held = false;
	s->for_job = 0;
	LACKS(words(), "JobId");
	s->state = VS_SUSPEND_RESUMES;
	HAS(words(), "they were suspended (host full)");
}

static void no_text_is_longer_than_its_room(void **state)
{
	char text[24];

	(void)state;
	vs_suspend_words(&vs_core, s, text, sizeof(text));
	assert_string_equal(text, "its VMs are suspended s");
}

static char *report(const char *what)
{
	return vs_jb_text_free(vs_core_report(what, 11, 0, NULL));
}

static void svf_says_it_of_the_job_and_its_nodes(void **state)
{
	VS_FREE char *why = NULL, *jobs = NULL, *nodes = NULL, *status = NULL;

	(void)state;
	vs_strlcpy(s->why, "host full", sizeof(s->why));
	flags("vm1", VS_NODE_ALLOCATED);	/* NO_RESPOND: it isn't up */
	fake_get("vm1")->on = false;
	fake_get("vm1")->suspended = true;
	fake_show(fake_get("vm1"));
	vs_hold_drop(&vs_core, vs_node_named(&vs_core, "vm1"));
	why = report("why");
	HAS(why, "\"text\":\"its VMs are suspended since ");
	LACKS(why, "nodes are up");
	jobs = report("jobs");
	HAS(jobs, "\"text\":\"its VMs are suspended since ");
	HAS(jobs, "\"hosts\":[\"esx1\"");
	LACKS(jobs, "\"making\"");
	nodes = report("nodes");
	HAS(nodes, "\"vm_state\":\"suspended\"");
	HAS(nodes, "\"action\":\"suspended\"");
	HAS(nodes, "\"waits\":\"host full\"");
	status = report("status");
	HAS(status, "\"suspended\":1");
	vs_suspends_clear(&vs_core);
	free(jobs);
	jobs = report("jobs");
	LACKS(jobs, "\"text\"");
}

static void the_page_counts_jobs(void **state)
{
	struct vs_buf b = VS_BUF_INIT(1 << 20);
	struct vs_metrics_facts f = { .epoch = 0 };
	struct vs_err err = { 0 };

	(void)state;
	vs_core.suspends.suspended = 7;
	vs_core.suspends.resumed = 5;
	vs_metrics_failed(&vs_core, VS_OP_SUSPEND, VS_E_BUSY);
	assert_int_equal(vs_metrics_read(&vs_core, &f, &err), 0);
	assert_int_equal(vs_metrics_text(&f, true, &b, &err), 0);
	HAS(b.data, "\nslurm_vsphere_suspended_jobs 1\n");
	HAS(b.data, "\nslurm_vsphere_jobs_suspended_total 7\n");
	HAS(b.data, "\nslurm_vsphere_jobs_resumed_total 5\n");
	HAS(b.data, "step_failures_total{step=\"suspend\",code=\"busy\"} 1\n");
	HAS(b.data, "step_failures_total{step=\"resume\",code=\"busy\"} 0\n");
	vs_metrics_facts_free(&f);
	vs_buf_free(&b);
}

#define T(test) cmocka_unit_test_setup_teardown(test, stage, stage_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_state_has_its_words),
		T(when_it_goes_on_is_said),
		T(no_text_is_longer_than_its_room),
		T(svf_says_it_of_the_job_and_its_nodes),
		T(the_page_counts_jobs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
