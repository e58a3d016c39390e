/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the checks do in the engine: a hard finding keeps new VMs from its PF,
 * with the reason, until it is fixed. Running VMs aren't touched, and what is
 * unknown blocks no VM. Also: which user is shown what.
 */
#include <pthread.h>
#include <sched.h>
#include "engine/checks/checks_i.h"
#include "engine_stage.h"
#include "engine/report/report.h"
#include "util/json.h"

static struct {
	int mtu;
	bool link, known;
	const char *power;
} esx1;

/* esx1, set up like that. */
static void show(void)
{
	const struct vs_vc_pf pf = {
		.pci = "0000:3b:00.0", .pnic = "vmnic4", .switch_uuid = "sw",
		.vfs = 2, .link_up = esx1.link,
		.facts = { .enabled = true, .asked = 2, .most = 16,
			   .driver = "nmlx5_core", .version = "4.23",
			   .firmware = "22.39" },
	};
	const struct vs_switch_facts sw = { "sw", "dvs", esx1.mtu };
	struct vs_host_setup setup = { .version = "8.0.3", .build = "1",
				       .clocks = 1 };

	vs_strlcpy(setup.power, esx1.power, sizeof(setup.power));
	fake_host(&(struct vs_vc_host) {
		.moid = "host-1", .has = VS_VC_HOST_PFS | VS_VC_HOST_STATE |
			(esx1.known ? VS_VC_HOST_FACTS : 0),
		.connected = true, .powered_on = true, .pfs = &pf, .npfs = 1,
		.switches = &sw, .nswitches = 1,
		.setup = esx1.known ? &setup : NULL,
	});
	now += 2000;
	turn();
}

static void one_host(void)
{
	begin(2, 1, 2, "warm");
	ready();
	the_operator = 0;
	esx1.mtu = 9000;
	esx1.link = esx1.known = true;
	esx1.power = "static";
	show();
}

/* Why a job can't begin there, "": it could. */
static const char *refusal(const char *node)
{
	static char why[256];
	struct vs_err err = { 0 };
	int one = id(node);

	why[0] = '\0';
	if (vs_query_capacity(&vs_core, &one, 1, NULL, why, sizeof(why))) {
		assert_int_equal(job_begin(99, node, NULL), 0);
		vs_job_end(&vs_core, 99, &one, 1, false);
	} else {
		assert_int_equal(vs_job_begin(&vs_core, 99, 0, &one, 1, &err),
				 -1);
	}
	turn();
	return why;
}

#define HAS(text, part) do {						\
	const char *t_ = (text);					\
	if (!strstr(t_, part))						\
		fail_msg("\"%s\" is not in: %s", part, t_);		\
} while (0)

static void a_small_mtu_keeps_new_vms_away_until_it_is_mended(void **st)
{
	(void)st;
	one_host();
	assert_string_equal(refusal("vm1"), "");
	esx1.mtu = 1500;
	show();
	HAS(refusal("vm1"), "mtu: MTU 1500 on dvs, should be 9000");
	esx1.mtu = 9000;
	show();
	assert_string_equal(refusal("vm1"), "");
	assert_null(vs_exclusion_checks("host-1"));
}

static void without_link_the_running_vm_is_left_alone(void **st)
{
	(void)st;
	one_host();
	bring_up(7, "vm1");
	memset(fake_sent, 0, sizeof(fake_sent));
	ntold = 0;
	esx1.link = false;
	show();
	turns(30);
	for (int k = 0; k < FAKE_KINDS; k++)
		assert_int_equal(fake_sent[k], 0);
	assert_null(heard(VS_REQUEST_DRAIN, NULL));
	assert_null(heard(VS_REQUEST_FAIL, NULL));
	HAS(refusal("vm2"), "link-down: vmnic4 has no link");
}

static void what_is_not_known_keeps_nobody_away(void **st)
{
	(void)st;
	begin(2, 1, 2, "warm");
	ready();
	esx1.mtu = 1500;
	esx1.link = true;
	esx1.known = false;
	show();
	assert_string_equal(refusal("vm1"), "");
}

static void an_operators_resume_does_not_end_what_is_still_so(void **st)
{
	struct vs_err err;

	(void)st;
	one_host();
	esx1.mtu = 1500;
	show();
	vs_jb_free(vs_core_request("resume", "esx1", "", 0, &err));
	turns(2);
	HAS(refusal("vm1"), "mtu: ");
}

/* ---- who is told what --------------------------------------------------------- */

static int boot_bound;

static void slurm_check(void *ctx, const struct vs_slurm_bounds *b,
			vs_slurm_found *fn, void *arg)
{
	(void)ctx;
	boot_bound = b->boot_timeout_s;
	fn(arg, VS_CHECK_SLURM_RESUME_RATE, "100", "ResumeRate=0",
	   "ResumeRate=0");
}

static const struct vs_slurm_ops port = { .viewer = viewer,
				     .slurm_check = slurm_check };

static char *check_of(uint32_t uid)
{
	return vs_jb_text_free(vs_core_report("check", 0, uid, NULL));
}

static void commands_and_rights_are_for_operators(void **st)
{
	VS_FREE char *all = NULL, *some = NULL;

	(void)st;
	one_host();
	core_set_port(&port);
	esx1.power = "low";
	fake_lack = (struct vs_vc_missing_privilege) { "Folder", "slurm",
						       "A.B, C.D",
						       VS_VC_FOR_JOBS };
	show();
	fake_slow(NULL, 0);
	turns(2);
	all = check_of(0);
	HAS(all, "\"code\":\"power-policy\",\"severity\":\"warning\"");
	HAS(all, "-s 'High Performance'");
	HAS(all, "\"fix\":\"govc role.update -a ROLE A.B C.D\"");
	HAS(all, "\"fix\":\"slurm.conf: ResumeRate=0\"");
	assert_int_equal(boot_bound, core_conf()->boot_timeout_s);
	some = check_of(1000);
	HAS(some, "power-policy");
	assert_null(strstr(some, "fix"));
	assert_null(strstr(some, "rights-"));
	fake_lack.key = NULL;
	fake_slow(NULL, 0);
	turns(2);
}

static int64_t number_of(const char *what, uint32_t uid)
{
	VS_FREE char *text = vs_jb_text_free(vs_core_report(what, 0, uid,
							    NULL));
	const char *at = strstr(text, "\"seq\":");

	assert_non_null(at);
	return strtoll(at + 6, NULL, 10);
}

/* What was begun before the question doesn't count as its answer. */
static void a_recheck_is_answered_by_a_reading_that_began_after_it(void **st)
{
	int64_t asked;

	(void)st;
	one_host();
	core_set_port(&port);
	fake_slow(NULL, 0);
	turns(2);
	asked = number_of("recheck", 0);
	assert_true(number_of("check", 0) <= asked);
	assert_true(vs_checks.look);
	assert_false(vs_client_retry_taken());	/* no login that was refused */
	fake_slow(NULL, 0);
	assert_true(number_of("check", 0) <= asked);	/* not judged yet */
	turns(2);
	assert_true(number_of("check", 0) > asked);
	vs_checks.look = false;
	number_of("recheck", 1000);		/* no operator: not read */
	assert_false(vs_checks.look);
}

static void while_vcenter_is_away_that_is_what_is_said(void **st)
{
	VS_FREE char *text = NULL;

	(void)st;
	one_host();
	core_set_port(&port);
	fake_down(VS_E_RETRY);
	text = check_of(0);
	HAS(text, "\"code\":\"vcenter-away\",\"severity\":\"hard\"");
	HAS(text, "connection lost");
}

/* ---- a right that is no job's business ----------------------------------------- */

static void lacks_and_runs(const struct vs_vc_missing_privilege *lack,
			   enum vs_check code, const char *words)
{
	const struct vs_finding *f;
	size_t n;

	begin(1, 1, 1, "power_off");
	ready();
	fake_lack = *lack;
	fake_slow(NULL, 0);
	turn();
	assert_null(vs_query_blocked(&vs_core));
	f = vs_findings(&n);
	assert_int_equal(n, 1);
	assert_int_equal(f->stops, VS_STOPS_NOTHING);
	HAS(f->text, words);
	assert_int_equal(f->found.code, code);
	bring_up(7, "vm1");
	fake_lack.key = NULL;
	fake_slow(NULL, 0);
	turn();
	vs_findings(&n);
	assert_int_equal(n, 0);
}

static void rights_that_no_start_needs_stop_none(void **st)
{
	static const struct vs_vc_missing_privilege hot = { "Folder", "slurm",
		"Resource.HotMigrate", VS_VC_FOR_VMOTION };

	(void)st;
	lacks_and_runs(&hot, VS_CHECK_RIGHTS_VMOTION,
		       "lacks privileges on Folder=slurm: Resource.HotMigrate: VMs stay on a draining host");
}

static void a_right_of_a_kind_of_vms_stops_the_jobs_of_these(void **st)
{
	static const struct {
		enum vs_vc_use use;
		enum vs_clone_type clone;
		bool notes, stops;
	} rows[] = {
		{ VS_VC_FOR_NOTES, VS_CLONE_FULL, true, true },
		{ VS_VC_FOR_NOTES, VS_CLONE_FULL, false, false },
		{ VS_VC_FOR_SOURCES, VS_CLONE_INSTANT, false, true },
		{ VS_VC_FOR_SOURCES, VS_CLONE_LINKED, false, true },
		{ VS_VC_FOR_SOURCES, VS_CLONE_FULL, true, false },
		{ VS_VC_FOR_LINKED, VS_CLONE_LINKED, false, true },
		{ VS_VC_FOR_LINKED, VS_CLONE_INSTANT, true, false },
	};
	struct vs_err err = { 0 };
	int one, rc;

	(void)st;
	one_host();
	one = id("vm1");
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		core_profiles()[0].clone = rows[i].clone;
		core_profiles()[0].annotation = rows[i].notes ? "x" : NULL;
		fake_lack = (struct vs_vc_missing_privilege) { "Folder",
							       "slurm", "A.B",
							       rows[i].use };
		fake_slow(NULL, 0);
		turns(2);
		assert_null(vs_query_blocked(&vs_core));
		rc = vs_job_begin(&vs_core, 99, 0, &one, 1, &err);
		assert_int_equal(rc, rows[i].stops ? -1 : 0);
		if (rc)
			HAS(err.text, "on Folder=slurm: A.B");
		else
			vs_job_end(&vs_core, 99, &one, 1, false);
	}
	core_profiles()[0].clone = VS_CLONE_FULL;
	core_profiles()[0].annotation = NULL;
	fake_lack.key = NULL;
	fake_slow(NULL, 0);
	turn();
}

/* ---- a configuration that comes in the middle ---------------------------------- */

static void *another_configuration(void *arg)
{
	vs_lock_priority();
	core_set_epoch(core_epoch() + 1);
	core_set_loaded(false);
	vs_unlock();
	return arg;
}

/* Nothing is judged, or sent, by the old client's word. The lock is lent for a
 * moment only: on a busy machine the other thread may need some of them. */
static void what_a_lent_lock_lets_in_ends_the_turn(void **state)
{
	uint64_t judged = 0;
	pthread_t t;

	(void)state;
	begin(2, 2, 2, "warm");
	ready();
	vs_lock();
	assert_int_equal(pthread_create(&t, NULL, another_configuration, NULL),
			 0);
	while (!atomic_load(&vs_lock_waiting))
		sched_yield();
	for (int i = 0; core_loaded() && i < 1000; i++) {
		judged = vs_checks.judged_epoch;
		vs_checks.stale = true;
		vs_checks.at_ms = 0;
		vs_pass_run(&vs_core, now);
	}
	assert_false(core_loaded());
	assert_int_equal(vs_checks.judged_epoch, judged);
	vs_unlock();
	pthread_join(t, NULL);
	core_set_epoch(core_epoch() - 1);
	core_set_loaded(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_mtu_keeps_new_vms_away_until_it_is_mended),
		cmocka_unit_test(without_link_the_running_vm_is_left_alone),
		cmocka_unit_test(what_is_not_known_keeps_nobody_away),
		cmocka_unit_test(an_operators_resume_does_not_end_what_is_still_so),
		cmocka_unit_test(commands_and_rights_are_for_operators),
		cmocka_unit_test(a_recheck_is_answered_by_a_reading_that_began_after_it),
		cmocka_unit_test(while_vcenter_is_away_that_is_what_is_said),
		cmocka_unit_test(rights_that_no_start_needs_stop_none),
		cmocka_unit_test(a_right_of_a_kind_of_vms_stops_the_jobs_of_these),
		cmocka_unit_test(what_a_lent_lock_lets_in_ends_the_turn),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
