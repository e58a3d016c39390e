/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What users may learn through the control channel: Slurm's PrivateData, as
 * the port tells it, is honoured in each report.
 */
#include "engine_stage.h"
#include "engine/report.h"
#include "util/json.h"

#define OWNER 1001
#define STRANGER 1002

static bool all_jobs, all_nodes;

static bool sees_jobs(void *ctx, uint32_t uid)
{
	(void)ctx;
	(void)uid;
	return all_jobs;
}

static bool sees_nodes(void *ctx, uint32_t uid)
{
	(void)ctx;
	(void)uid;
	return all_nodes;
}

/* Job 4711 of OWNER is on every node. */
static void nodes_jobs(void *ctx, struct vs_port_job *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		rows[i].job = 4711;
		rows[i].uid = OWNER;
	}
}

static const char *waits_for;		/* what Slurm says of job 4712 */

static int job_info(void *ctx, uint32_t job, uint32_t *uid, char *state,
		    size_t state_size, char *reason, size_t reason_size)
{
	(void)ctx;
	*uid = OWNER;
	if (job == 4712 && waits_for) {
		vs_strlcpy(state, "PENDING", state_size);
		vs_strlcpy(reason, waits_for, reason_size);
		return 0;
	}
	vs_strlcpy(state, "RUNNING", state_size);
	vs_strlcpy(reason, "None", reason_size);
	return job == 4711 ? 0 : -1;
}

static const struct vs_port port = {
	.sees_jobs = sees_jobs, .sees_nodes = sees_nodes,
	.nodes_jobs = nodes_jobs, .job_info = job_info,
};

static int stage(void **state)
{
	(void)state;
	begin(1, 1, 1, "warm");
	vs_core.port = &port;
	ready();
	all_jobs = all_nodes = false;
	return 0;
}

static size_t reasons_said(int64_t now_ms)
{
	size_t n = 0;

	vs_lock();
	vs_core.ntells = 0;
	vs_job_reasons(&vs_core, now_ms);
	for (size_t i = 0; i < vs_core.ntells; i++)
		n += vs_core.tells[i].kind == VS_TELL_REASON &&
		     vs_core.tells[i].job == 4712;
	vs_core.ntells = 0;
	vs_unlock();
	return n;
}

static void a_reason_that_backfill_wiped_is_said_again(void **state)
{
	int wants[] = { 0 };

	(void)state;
	vs_job_refused(&vs_core, 4712, wants, 1, 1, "needs 1 node, 0 VFs free");
	assert_int_equal(reasons_said(now + 5000), 1);
	waits_for = "needs 1 node";
	vs_jobs_recheck(&vs_core);
	assert_int_equal(reasons_said(now + 10000), 0);
	/* Slurm's own word for something else is left alone */
	waits_for = "Priority";
	vs_jobs_recheck(&vs_core);
	assert_int_equal(reasons_said(now + 15000), 0);
	waits_for = "Resources";
	vs_jobs_recheck(&vs_core);
	assert_int_equal(reasons_said(now + 20000), 1);
	assert_int_equal(reasons_said(now + 25000), 0);
	waits_for = NULL;
	vs_jobs_recheck(&vs_core);
	assert_null(vs_core.refused);
}

/* The report as text, or the error's. */
static char *asked(const char *what, uint32_t uid)
{
	struct vs_err err = { 0 };
	struct json_object *o = vs_core_report(what, 4711, uid, &err);

	return o ? vs_jb_text_free(o) : vs_strdup(err.text);
}

static bool says(const char *what, uint32_t uid, const char *word)
{
	VS_FREE char *text = asked(what, uid);

	return strstr(text, word) != NULL;
}

static void jobs_of_others_are_hidden_by_private_data(void **state)
{
	(void)state;
	all_nodes = true;
	assert_true(says("nodes", OWNER, "4711"));
	assert_true(says("nodes", STRANGER, "vm1"));
	assert_false(says("nodes", STRANGER, "4711"));
	all_jobs = true;
	assert_true(says("nodes", STRANGER, "4711"));
}

static void nodes_are_hidden_by_private_data(void **state)
{
	(void)state;
	all_jobs = true;
	assert_false(says("nodes", STRANGER, "vm1"));
	all_nodes = true;
	assert_true(says("nodes", STRANGER, "vm1"));
}

static void a_hidden_job_is_answered_for_like_one_that_is_not_there(void **state)
{
	struct vs_err none = { 0 }, hidden = { 0 };

	(void)state;
	assert_null(vs_core_report("why", 4711, STRANGER, &hidden));
	assert_null(vs_core_report("why", 4712, STRANGER, &none));
	assert_int_equal(hidden.code, VS_E_GONE);
	assert_int_equal(none.code, VS_E_GONE);
	assert_string_equal(hidden.text, "no such job: 4711");
	assert_string_equal(none.text, "no such job: 4712");
	assert_true(says("why", OWNER, "RUNNING"));
	all_jobs = true;
	assert_true(says("why", STRANGER, "RUNNING"));
}

/* Everybody may read it; slurmctld's log has the address and the account. */
static void why_vcenter_is_away_names_neither_address_nor_account(void **state)
{
	static const char *const t[][2] = {
		{ "no connection to https://vc.example.org:8443: Failed to "
		  "connect to vc.example.org port 8443",
		  "no connection to vCenter: Failed to connect to vCenter port"
		  " 8443" },
		{ "Could not resolve host: vc.example.org.",
		  "Could not resolve host: vCenter." },
		{ "name 'vc.example.org' (not www.vc.example.org.uk)",
		  "name 'vCenter' (not www.vc.example.org.uk)" },
		{ "Username=slurm is refused by slurm-vsphere's vCenter",
		  "Username=... is refused by slurm-vsphere's vCenter" },
		{ "slurm", "..." }, { "", "" },
	};
	struct vs_conf *conf = vs_core.conf;

	(void)state;
	vs_str_replace(&conf->vcenter, "https://vc.example.org:8443/");
	vs_str_replace(&conf->username, "slurm");
	for (size_t i = 0; i < VS_COUNT(t); i++) {
		vs_vc_state_set(&vs_core, t[i][0]);
		assert_string_equal(vs_core.vc_state, t[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup(f, stage)
		T(a_reason_that_backfill_wiped_is_said_again),
		T(jobs_of_others_are_hidden_by_private_data),
		T(nodes_are_hidden_by_private_data),
		T(a_hidden_job_is_answered_for_like_one_that_is_not_there),
		T(why_vcenter_is_away_names_neither_address_nor_account),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
