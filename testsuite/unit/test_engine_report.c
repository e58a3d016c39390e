/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What users may learn through the control channel: Slurm's PrivateData, as
 * the port tells it, is honoured in each report.
 */
#include "engine/run/run_i.h"
#include "engine/report/report.h"
#include "engine_stage.h"
#include "util/json.h"
#include "util/time.h"

#define OWNER 1001
#define STRANGER 1002
#define HAS(text, part) assert_non_null(strstr(text, part))

/* Job 4711 of OWNER is on every node. */
static void nodes_jobs(void *ctx, struct vs_slurm_node_job *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		rows[i].job = 4711;
		rows[i].uid = OWNER;
	}
}

static enum vs_job_waits waits = VS_WAITS_CAPACITY;	/* job 4712 */
static int64_t planned_start;				/* and of that */
static const char *requeued;			/* job 4711, which is pending then */
static uint32_t visits[5000];				/* by job */
/* Job 4711 is pending, with these nodes; NULL: it runs. */
static const char *may_use, *out_of_service, *its_reason;

static void jobs_read(void *ctx, struct vs_slurm_job *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		struct vs_slurm_job_nodes *nodes =
			rows[i].text ? rows[i].text->nodes : NULL;
		bool there = rows[i].job == 4711, runs = there && !may_use;

		visits[rows[i].job]++;
		rows[i].there = there;
		rows[i].uid = OWNER;
		rows[i].waits = runs ? VS_WAITS_NOT : waits;
		rows[i].start = planned_start;
		if (rows[i].text)
			*rows[i].text = (struct vs_slurm_job_text) {
				.state = "RUNNING", .reason = "None",
				.nodes = nodes,
			};
		if (rows[i].text && requeued) {
			rows[i].waits = VS_WAITS_ELSE;
			*rows[i].text = (struct vs_slurm_job_text) {
				.state = "PENDING", .reason = "BeginTime",
			};
			vs_strlcpy(rows[i].text->requeued, requeued,
				   sizeof(rows[i].text->requeued));
		}
		if (!may_use || !nodes)
			continue;
		vs_strlcpy(rows[i].text->state, "PENDING", 24);
		vs_strlcpy(rows[i].text->reason, its_reason, 64);
		nodes->may_use = vs_strdup(may_use);
		nodes->out = out_of_service ? vs_strdup(out_of_service) : NULL;
	}
}

static uint32_t job_part(void *ctx, uint32_t job, bool component, uint32_t n)
{
	(void)ctx;
	if (component)
		return job == 14 ? 200 + n : 0;
	return job == 12 ? 100 + n : 0;
}

static const struct vs_slurm_ops port = {
	.job_part = job_part, .jobs_read = jobs_read,
	.viewer = viewer,
	.nodes_jobs = nodes_jobs,
};

static int stage(void **state)
{
	(void)state;
	begin(1, 1, 1, "warm");
	core_set_port(&port);
	ready();
	all_jobs = all_nodes = false;
	the_operator = -1;
	may_use = out_of_service = NULL;
	its_reason = "None";
	waits = VS_WAITS_CAPACITY;
	return 0;
}

static void a_part_of_a_job_is_a_job_of_its_own(void **state)
{
	static const char *const none[] = {
		"", "+", "x", "+x", "3x", "-3", "+-1", "++1", " 3", "4294967295",
	};

	(void)state;
	assert_int_equal(vs_core_part(12, "3"), 103);
	assert_int_equal(vs_core_part(14, "+1"), 201);
	assert_int_equal(vs_core_part(14, "1"), 0);
	assert_int_equal(vs_core_part(12, "+3"), 0);
	for (size_t i = 0; i < VS_COUNT(none); i++)
		assert_int_equal(vs_core_part(12, none[i]), 0);
}

/* NULL: nothing. */
static const char *reason_said(int64_t now_ms)
{
	static char text[256];
	struct vs_outbox_request *t;
	bool said = false;
	size_t n;

	vs_lock();
	vs_job_reasons(&vs_core, now_ms);
	t = vs_outbox_take(&n);
	for (size_t i = 0; i < n; i++)
		if (t[i].kind == VS_REQUEST_REASON && t[i].job == 4712) {
			said = true;
			vs_strlcpy(text, t[i].text, sizeof(text));
		}
	free(t);
	vs_unlock();
	return said ? text : NULL;
}

static void refused_and_said(void)
{
	int wants[] = { 0 };

	vs_outbox_clear();
	refuse(4712, wants, 1, 1, "needs 1 node, 0 VFs free");
	assert_non_null(strstr(reason_said(now + 5000), "0 VFs free"));
}

static void a_reason_that_backfill_wiped_is_said_again(void **state)
{
	(void)state;
	refused_and_said();
	waits = VS_WAITS_CAPACITY;
	vs_jobs_recheck(&vs_core);
	assert_null(reason_said(now + 15000));
	waits = VS_WAITS_WORDLESS;
	vs_jobs_recheck(&vs_core);
	assert_non_null(strstr(reason_said(now + 20000), "0 VFs free"));
	assert_null(reason_said(now + 25000));
	waits = VS_WAITS_NOT;
	vs_jobs_recheck(&vs_core);
	assert_null(vs_refusals());
	/* its record isn't to say so for ever: it may have begun elsewhere */
	assert_string_equal(reason_said(now + 30000), "");
}

static void slurms_own_plan_is_what_is_expected(void **state)
{
	char at[32], was[32];

	(void)state;
	waits = VS_WAITS_CAPACITY;
	refused_and_said();
	planned_start = vs_wall_ms() / 1000 + 7200;
	vs_clock_text(planned_start, at, sizeof(at));
	vs_jobs_recheck(&vs_core);
	assert_non_null(strstr(reason_said(now + 10000), at));
	/* by seconds only: no news */
	planned_start += 20;
	vs_jobs_recheck(&vs_core);
	assert_null(reason_said(now + 50000));
	vs_strlcpy(was, at, sizeof(was));
	planned_start += 7200;
	vs_clock_text(planned_start, at, sizeof(at));
	vs_jobs_recheck(&vs_core);
	vs_refusals()->wiped = true;
	assert_non_null(strstr(reason_said(now + 90000), at));
	assert_string_not_equal(was, at);
	planned_start = 0;
}

#define QUEUE 1000

static void of_a_long_queue_all_have_their_turn(void **state)
{
	int wants[] = { 0 };
	struct vs_outbox_request *t;
	size_t n;

	(void)state;
	waits = VS_WAITS_CAPACITY;
	memset(visits, 0, sizeof(visits));
	for (uint32_t job = 1; job < QUEUE; job++)
		refuse(job, wants, 1, 1, "needs 1 node, 0 VFs free");
	vs_outbox_clear();
	for (int i = 0; i < 200; i++) {
		if (i < 16)
			vs_jobs_recheck(&vs_core);
		vs_lock();
		vs_job_reasons(&vs_core, now + 5000);
		vs_unlock();
	}
	for (uint32_t job = 1; job < QUEUE; job++) {
		assert_uint_in_range(visits[job], 1, 2);
		visits[job] = 0;
	}
	t = vs_outbox_take(&n);
	for (size_t i = 0; i < n; i++)
		visits[t[i].job]++;
	for (uint32_t job = 1; job < QUEUE; job++)
		assert_int_equal(visits[job], 1);
	free(t);
	vs_jobs_clear();
}

/* A limit of its QOS, a person: VFs are not what it waits for any more. */
static void slurms_own_reason_takes_ours_back(void **state)
{
	(void)state;
	refused_and_said();
	waits = VS_WAITS_ELSE;
	now += 1000;		/* of several partitions one may say so */
	vs_jobs_recheck(&vs_core);
	assert_non_null(vs_refusals());
	now += 5000;
	vs_jobs_recheck(&vs_core);
	assert_null(vs_refusals());
	assert_string_equal(reason_said(now), "");
}

/* ---- what a job got --------------------------------------------------------- */

static char got[512];

static void job_got(void *ctx, uint32_t job,
		    const struct vs_slurm_assignment *rows, size_t n)
{
	(void)ctx;
	snprintf(got, sizeof(got), "%u:", job);
	for (size_t i = 0; i < n; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got),
			 " %s %s %s %s", rows[i].node, rows[i].adapter,
			 rows[i].host, rows[i].pfs);
}

/* It is there already when the job may begin. */
static void prolog_done(uint32_t job, bool ok)
{
	assert_true(ok);
	vs_strlcpy(got + strlen(got), job == 7 ? " begins" : "?", 8);
}

static void epilog_done(uint32_t job)
{
	(void)job;
}

static void slurm_is_told_what_a_job_got_before_it_begins(void **state)
{
	static const struct vs_slurm_ops to = { .job_got = job_got };
	static const struct vs_prep_ops prep = { prolog_done, epilog_done };
	int64_t push_ms = now;
	const struct vs_vm *vm;
	VS_FREE char *want = NULL;
	int one = id("vm1");

	(void)state;
	core_set_port(&to);
	vs_outbox_prep_set(&prep);
	bring_up(7, "vm1");
	ntold = 0;
	vs_job_wait(&vs_core, 7, 0, &one, 1);
	turn();
	vs_outbox_send(&vs_core, told, ntold, now, &push_ms);
	vm = vs_node_vm(&vs_core, &core_nodes()[one]);
	want = vs_asprintf("7: vm1 sriov-roce %s %s begins", vm->host_ptr->name,
			   vs_ledger_get(core_ledger(), "vm1")->vfs[0].pf);
	assert_string_equal(got, want);
	/* and that it has left, before it may be launched again */
	ntold = 0;
	vs_job_end(&vs_core, 7, &one, 1, true);
	turn();
	vs_outbox_send(&vs_core, told, ntold, now, &push_ms);
	assert_string_equal(got, "7:");
	vs_outbox_prep_set(NULL);
}

static void what_a_job_waited_for_is_told_by_its_parts(void **state)
{
	struct vs_requesting_job a = { .job = 7, .lacks = VS_PENDING_VFS };
	int one = id("vm1");
	struct vs_wait w = { .job = 7, .ids = &one, .n = 1 };
	VS_FREE char *text = NULL;

	(void)state;
	vs_job_set_pending(&vs_core, &a, &one, 1, 1, "no VF is free");
	now += 12000;
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", WANTED);
	turn();
	now += 20000;
	assert_true(fake_finish(FAKE_CLONE));
	flags("vm1", BOOT);
	turns(2);
	now += 3000;
	assert_true(fake_finish(FAKE_POWER_ON));
	turn();
	now += 11500;
	flags("vm1", BUSY);
	turn();
	text = vs_startup_times_text(&vs_core, &w, now);
	/* each of the five turns takes 100 ms besides */
	assert_string_equal(text, "waited_s=12.0 provision_s=35.0 cold=1 "
			    "clone_s=20.0 power_on_s=3.1 boot_s=11.6");
	/* of one that a process before this began, nothing */
	vs_job_end(&vs_core, 7, &one, 1, false);
	vs_job_claim(&vs_core, 7, 0, &one, 1, false);
	assert_null(vs_startup_times_text(&vs_core, &w, now));
}

static void of_who_comes_to_a_vm_that_is_made_for_another_nothing_is_told(void **st)
{
	int one = id("vm1");
	struct vs_wait w = { .job = 7, .ids = &one, .n = 1 };
	VS_FREE char *text = NULL;

	(void)st;
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	text = vs_startup_times_text(&vs_core, &w, now);
	assert_non_null(text);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	assert_null(vs_startup_times_text(&vs_core, &w, now));
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

/* The answer, to be freed by the next call. */
static const char *answer(const char *verb, uint32_t job)
{
	static char *text;
	struct vs_err err = { 0 };
	struct json_object *o = vs_core_report(verb, job, OWNER, &err);

	free(text);
	if (!o)
		fail_msg("%s: %s", verb, err.text);
	text = vs_jb_text_free(o);
	return text;
}

static void an_ended_job_is_said_to_have_ended(void **state)
{
	(void)state;
	HAS(answer("why", 4711), "the job has ended, and slurm-vsphere keeps nothing of ended jobs. ");
	HAS(answer("why", 4711), "sacct -j 4711 has its nodes");
}

static void a_requeued_job_is_told_why(void **state)
{
	(void)state;
	requeued = "node vm1: its VM was powered off while a job ran";
	HAS(answer("why", 4711), "\"text\":\"Slurm's own reason applies, before any of vSphere: BeginTime; its last run was requeued: node vm1: its VM was powered off while a job ran\"");
	requeued = "";
	HAS(answer("why", 4711), "before any of vSphere: BeginTime\"");
	requeued = NULL;
}

static void one_node_is_no_nodes(void **state)
{
	(void)state;
	assert_int_equal(job_begin(4711, "vm1", NULL), 0);
	HAS(answer("why", 4711), "\"text\":\"0 of 1 node is up; vm1: ");
	flags("vm1", BUSY);
	turn();
	HAS(answer("why", 4711), "\"text\":\"its node is up\"");
}

static void drained_nodes_are_told_from_draining_ones(void **state)
{
	static const struct { uint32_t flags; const char *state; } t[] = {
		{ VS_NODE_UP | VS_NODE_DRAIN, "DRAINED" },
		{ BUSY | VS_NODE_DRAIN, "DRAINING" },
		{ VS_NODE_UP | VS_NODE_COMPLETING | VS_NODE_DRAIN, "DRAINING" },
		{ VS_NODE_POWERED_DOWN | VS_NODE_DRAIN, "POWERED_DOWN+DRAINED" },
		{ VS_NODE_POWERING_UP | VS_NODE_ALLOCATED | VS_NODE_DRAIN,
		  "POWERING_UP+DRAINING" },
		{ VS_NODE_DOWN | VS_NODE_DRAIN, "DOWN+DRAINED" },
		{ VS_NODE_POWERED_DOWN, "POWERED_DOWN" },
		{ VS_NODE_UP, "IDLE" },
	};

	(void)state;
	all_nodes = true;
	for (size_t i = 0; i < VS_COUNT(t); i++) {
		VS_FREE char *says = vs_asprintf("\"node_state\":\"%s\"",
						 t[i].state);

		flags("vm1", t[i].flags);
		HAS(answer("nodes", 0), says);
	}
}

/* ---- a pending job of which no test by Slurm has left a reason ---- */

static void text_is(const char *want)
{
	VS_FREE char *text = vs_asprintf("\"text\":\"%s\"", want);

	HAS(answer("why", 4711), text);
}

/* Backfill has planned it in a year, or no scheduler has tested it. */
static void a_pause_is_said_without_a_test_of_the_job(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	may_use = "vm1";
	text_is("Slurm has not tested the job yet");
	vs_jb_free(vs_core_request("pause", "", "upgrade", 0, &err));
	planned_start = vs_wall_ms() / 1000 + VS_START_UNKNOWN;
	text_is("paused by root: upgrade");
	assert_null(strstr(answer("why", 4711), "start_time"));
	planned_start = 0;
	may_use = "other[1-2],vm1";
	text_is("Slurm's own reason applies; no VM is started for it: paused by root: upgrade");
	may_use = "other1";
	text_is("the job waits for nothing in vSphere; Slurm's own reason applies");
	may_use = "vm1";
	waits = VS_WAITS_ELSE;
	its_reason = "Dependency";
	text_is("Slurm's own reason applies, before any of vSphere: Dependency");
	vs_jb_free(vs_core_request("pause-end", "", "", 0, &err));
	waits = VS_WAITS_CAPACITY;
	its_reason = "Resources";
	text_is("the job waits for nothing in vSphere; Slurm's own reason applies");
}

/* After a failed prolog Slurm says BeginTime for two minutes. */
static void nodes_out_of_service_that_the_job_names_are_said(void **state)
{
	(void)state;
	may_use = "vm1";
	waits = VS_WAITS_ELSE;
	its_reason = "BeginTime";
	out_of_service = "node vm1 is drained: prep/vsphere: rxe0 port 1 is DOWN";
	text_is("Slurm's own reason applies, before any of vSphere: BeginTime");
	all_nodes = true;	/* PrivateData permits it */
	text_is("Slurm's own reason applies, before any of vSphere: BeginTime; node vm1 is drained: prep/vsphere: rxe0 port 1 is DOWN");
}

static void a_second_pause_shows_the_first(void **state)
{
	struct vs_err err = { 0 };
	VS_FREE char *first = NULL, *second = NULL;

	(void)state;
	first = vs_jb_text_free(vs_core_request("pause", "", "upgrade", 0, &err));
	second = vs_jb_text_free(vs_core_request("pause", "", "repair", 0, &err));
	assert_null(strstr(first, "replaced"));
	HAS(second, "\"replaced\":{\"user\":\"root\"");
	HAS(second, "\"reason\":\"upgrade\"");
	HAS(second, "\"reason\":\"repair\"");
	vs_jb_free(vs_core_request("pause-end", "", "", 0, &err));
}

static void nothing_lost_is_nothing_to_adopt(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	assert_null(vs_core_request("adopt", "", "", 0, &err));
	assert_string_equal(err.text, "the folder has no VM that can be adopted");
	bring_up(7, "vm1");
	assert_null(vs_core_request("adopt", "", "", 0, &err));
	assert_int_equal(err.code, VS_E_GONE);
	assert_string_equal(err.text, "nothing is lost: each VM in the folder belongs to this cluster");
}

/* Objects of findings that are not there yet: svf check refuses all other words. */
static void objects_without_a_finding_are_known(void **state)
{
	(void)state;
	HAS(answer("objects", 0), "\"esx1\"");
	HAS(answer("objects", 0), "\"slurm.conf\"");
	assert_null(strstr(answer("objects", 0), "\"vm1\""));
	all_nodes = true;
	HAS(answer("objects", 0), "\"vm1\"");
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
		{ "VCenterUser=slurm is refused by slurm-vsphere's vCenter",
		  "VCenterUser=... is refused by slurm-vsphere's vCenter" },
		{ "slurm", "..." }, { "", "" },
	};
	struct vs_conf *conf = core_conf();

	(void)state;
	vs_str_replace(&conf->vcenter, "https://vc.example.org:8443/");
	vs_str_replace(&conf->username, "slurm");
	for (size_t i = 0; i < VS_COUNT(t); i++) {
		vs_vc_state_set(&vs_core, t[i][0]);
		assert_string_equal(core_vc_state(), t[i][1]);
	}
}

static bool names(const char *verb, uint32_t uid, const char *what)
{
	struct vs_err err = { 0 };
	struct json_object *o = vs_core_report(verb, 0, uid, &err);
	VS_FREE char *text = NULL;

	if (!o)
		fail_msg("%s: %s", verb, err.text);
	text = vs_jb_text_free(o);
	return strstr(text, what) != NULL;
}

static void operators_alone_are_told_the_address_and_nobody_the_account(
							void **state)
{
	static const char *const verbs[] = {
		"status", "check", "hosts", "nodes", "reconcile", "clone-sources",
	};
	(void)state;
	the_operator = OWNER;
	all_nodes = true;
	vs_str_replace(&core_conf()->vcenter, "https://vc.example.org:8443/");
	vs_str_replace(&core_conf()->username, "svc-account");
	vs_vc_state_set(&vs_core, "no connection to https://vc.example.org:8443");
	core_set_ready(false);
	for (size_t i = 0; i < VS_COUNT(verbs); i++) {
		if (names(verbs[i], STRANGER, "vc.example.org"))
			fail_msg("%s names the address", verbs[i]);
		assert_false(names(verbs[i], STRANGER, "svc-account"));
		assert_false(names(verbs[i], OWNER, "svc-account"));
	}
	assert_true(names("status", OWNER, "https:\\/\\/vc.example.org") ||
		    names("status", OWNER, "https://vc.example.org"));
}

static void events_that_the_client_refused_are_shown(void **state)
{
	(void)state;
	fake_stats.refused_events = 3;
	assert_true(names("status", STRANGER, "\"refused_events\":3"));
	fake_stats.refused_events = 0;
	assert_true(names("status", STRANGER, "\"refused_events\":0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_part_of_a_job_is_a_job_of_its_own, stage),
#define T(f) cmocka_unit_test_setup(f, stage)
		T(a_reason_that_backfill_wiped_is_said_again),
		T(slurms_own_plan_is_what_is_expected),
		T(of_a_long_queue_all_have_their_turn),
		T(slurms_own_reason_takes_ours_back),
		T(slurm_is_told_what_a_job_got_before_it_begins),
		T(what_a_job_waited_for_is_told_by_its_parts),
		T(of_who_comes_to_a_vm_that_is_made_for_another_nothing_is_told),
		T(jobs_of_others_are_hidden_by_private_data),
		T(nodes_are_hidden_by_private_data),
		T(an_ended_job_is_said_to_have_ended),
		T(a_requeued_job_is_told_why),
		T(one_node_is_no_nodes),
		T(drained_nodes_are_told_from_draining_ones),
		T(a_pause_is_said_without_a_test_of_the_job),
		T(nodes_out_of_service_that_the_job_names_are_said),
		T(a_second_pause_shows_the_first),
		T(nothing_lost_is_nothing_to_adopt),
		T(objects_without_a_finding_are_known),
		T(a_hidden_job_is_answered_for_like_one_that_is_not_there),
		T(why_vcenter_is_away_names_neither_address_nor_account),
		T(events_that_the_client_refused_are_shown),
		T(operators_alone_are_told_the_address_and_nobody_the_account),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
