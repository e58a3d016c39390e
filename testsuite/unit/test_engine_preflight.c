/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the preflight refuses, with which text, and that the block ends with the
 * periodic poll that shows the problem fixed. What a job's end may do
 * meanwhile. Mode=observe.
 */
#include "engine/checks/checks_i.h"
#include "engine_stage.h"
#include "engine/report/report.h"
#include "util/json.h"

static int sent(void)
{
	int n = 0;

	for (int k = 0; k < FAKE_KINDS; k++)
		n += k == FAKE_ADOPT ? 0 : fake_sent[k];
	return n;
}

/* Why a job can't begin there, "": it could. */
static const char *refusal(const char *node)
{
	static char text[640];
	struct vs_err err = { 0 };
	int one = id(node);

	text[0] = '\0';
	if (vs_job_begin(&vs_core, 99, 0, &one, 1, &err))
		vs_strlcpy(text, err.text, sizeof(text));
	else
		vs_job_end(&vs_core, 99, &one, 1, false);
	turn();
	return text;
}

static const char *why_of(const char *node)
{
	static char why[256];
	int one = id(node);

	assert_int_equal(
		vs_query_capacity(&vs_core, &one, 1, NULL, why, sizeof(why)),
		0);
	return why;
}

/* A slow beat, and the turn that judges it. */
static void beat(void)
{
	fake_slow(NULL, 0);
	turn();
}

#define HAS(text, part) assert_non_null(strstr(text, part))

/* ---- DRS and HA ---------------------------------------------------------- */

static void drs_that_chooses_hosts_stops_new_jobs_until_it_is_mended(void **st)
{
	(void)st;
	begin(2, 1, 2, "warm");
	ready();
	fake_drs = VS_VC_AUTO_YES;
	beat();
	HAS(refusal("vm1"), "DRS of cluster C1 chooses hosts automatically");
	HAS(why_of("vm1"), ": DRS of cluster C1");
	assert_true(vs_query_ever(&vs_core, (int[]) { 0, 1 }, 2, NULL));
	fake_drs = VS_VC_AUTO_NO;
	beat();
	assert_string_equal(refusal("vm1"), "");
}

static void what_cannot_be_read_of_drs_and_ha_counts_as_automated(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	fake_drs = VS_VC_AUTO_UNKNOWN;
	beat();
	HAS(refusal("vm1"), "DRS of cluster C1 cannot be read");
	fake_drs = VS_VC_AUTO_NO;
	fake_ha = VS_VC_AUTO_UNKNOWN;
	beat();
	HAS(refusal("vm1"), "HA of cluster C1 cannot be read");
}

static const char *actual(enum vs_check code)
{
	size_t n;
	const struct vs_finding *f = vs_findings(&n);

	for (size_t i = 0; i < n; i++)
		if (f[i].found.code == code)
			return f[i].found.is;
	fail_msg("there is no such finding");
	return NULL;
}

/* The value decides, and no word of the text: an administrator chose the name. */
static void what_drs_does_is_no_matter_of_a_cluster_s_name(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	fake_cluster_name = "cannot be read";
	fake_drs = fake_ha = VS_VC_AUTO_YES;
	beat();
	assert_string_equal(actual(VS_CHECK_DRS), "DRS chooses hosts");
	assert_string_equal(actual(VS_CHECK_HA), "HA restarts VMs");
	fake_cluster_name = "C1";
	fake_drs = fake_ha = VS_VC_AUTO_UNKNOWN;
	beat();
	assert_string_equal(actual(VS_CHECK_DRS), "not readable");
	assert_string_equal(actual(VS_CHECK_HA), "not readable");
}

static void ha_that_restarts_vms_stops_new_jobs(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	fake_ha = VS_VC_AUTO_YES;
	beat();
	HAS(refusal("vm1"), "HA of cluster C1 would restart VMs");
}

static void a_job_that_has_begun_goes_on_and_ends(void **st)
{
	(void)st;
	begin(1, 1, 1, "power_off");
	ready();
	clone_for(7, "vm1");
	fake_drs = fake_ha = VS_VC_AUTO_YES;
	beat();
	turns(3);
	assert_true(fake_finish(FAKE_POWER_ON));
	flags("vm1", BUSY);
	turn();
	end_job(7, "vm1");
	flags("vm1", GOING);
	turns(3);
	assert_int_equal(fake_sent[FAKE_POWER_OFF] + fake_sent[FAKE_SHUTDOWN],
			 1);
}

static void an_override_of_the_vm_counts_before_its_cluster(void **st)
{
	(void)st;
	begin(2, 1, 2, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	fake_drs = VS_VC_AUTO_YES;
	fake_override = (struct vs_vc_override) { fake_get("vm1")->moid,
		VS_VC_AUTO_NO, VS_VC_AUTO_UNKNOWN, false };
	beat();
	assert_string_equal(refusal("vm1"), "");
	HAS(refusal("vm2"), "DRS of cluster C1");
	fake_drs = VS_VC_AUTO_NO;
	fake_override.drs = VS_VC_AUTO_YES;
	beat();
	HAS(refusal("vm1"), "an override lets DRS choose hosts");
	assert_string_equal(refusal("vm2"), "");
	fake_override.drs = VS_VC_AUTO_UNKNOWN;
	fake_override.ha = VS_VC_AUTO_YES;
	beat();
	HAS(refusal("vm1"), "an override lets HA restart its VM");
}

static void nothing_is_reclaimed_for_a_job_that_may_not_begin(void **st)
{
	int wants;

	(void)st;
	begin(2, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	fake_drs = VS_VC_AUTO_YES;
	beat();
	wants = id("vm2");
	refuse(8, &wants, 1, 1, "DRS");
	turns(3);
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	fake_drs = VS_VC_AUTO_NO;
	fake_lack = (struct vs_vc_missing_privilege) { "Folder", "slurm", "A.B",
		VS_VC_FOR_JOBS };
	beat();
	turns(3);
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	fake_lack.key = NULL;
	beat();
	turns(3);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
}

/* ---- rights -------------------------------------------------------------- */

static void a_missing_right_is_named_and_stops_new_jobs_alone(void **st)
{
	(void)st;
	begin(1, 1, 1, "power_off");
	ready();
	bring_up(7, "vm1");
	fake_lack = (struct vs_vc_missing_privilege) { "Folder", "slurm",
		"VirtualMachine.Config.Memory, Resource.ColdMigrate",
		VS_VC_FOR_JOBS };
	beat();
	HAS(vs_query_blocked(&vs_core),
	    "the account lacks privileges on Folder=slurm: VirtualMachine.Config.Memory, Resource.ColdMigrate");
	end_job(7, "vm1");
	flags("vm1", GOING);
	turns(3);
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 1);
	fake_lack.key = NULL;
	beat();
	assert_null(vs_query_blocked(&vs_core));
}

static void a_right_missing_on_a_template_stops_the_jobs_that_need_it(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	fake_lack = (struct vs_vc_missing_privilege) { "Template", "tpl", "A.B",
		VS_VC_FOR_JOBS };
	beat();
	HAS(refusal("vm1"), "on Template=tpl: A.B");
	assert_null(vs_query_blocked(&vs_core));
	fake_lack.name = "another";
	beat();
	assert_string_equal(refusal("vm1"), "");
	fake_lack = (struct vs_vc_missing_privilege) { "Network", "NET", "C.D",
		VS_VC_FOR_JOBS };
	beat();
	HAS(refusal("vm1"), "on Network=NET: C.D");
}

static void rights_that_are_not_told_are_as_they_were(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	fake_rights_known = false;
	ready();
	assert_string_equal(refusal("vm1"), "");
	fake_rights_known = true;
	fake_lack = (struct vs_vc_missing_privilege) { "Folder", "slurm", "A.B",
		VS_VC_FOR_JOBS };
	beat();
	fake_rights_known = false;
	fake_lack.key = NULL;
	beat();
	HAS(vs_query_blocked(&vs_core), "A.B");
}

static const struct vs_slurm_ops port = { .viewer = viewer };

static bool status_says(const char *part)
{
	struct json_object *o = vs_core_report("status", 0, 1000, NULL);
	VS_FREE char *text = vs_jb_text_free(o);

	return strstr(text, part);
}

static void rights_in_excess_are_told_to_operators_and_stop_nothing(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	core_set_port(&port);
	fake_excess = "Host.Config.Maintenance";
	ready();
	assert_string_equal(refusal("vm1"), "");
	the_operator = -1;
	assert_false(status_says("Host.Config.Maintenance"));
	the_operator = 1000;
	assert_true(status_says("Host.Config.Maintenance"));
}

/* ---- PFs and names --------------------------------------------------------- */

static void more_names_than_vfs_are_refused_unless_allowed(void **st)
{
	(void)st;
	begin(3, 1, 2, "warm");
	core_conf()->allow_more_nodes_than_vfs = false;
	ready();
	HAS(refusal("vm1"), "3 nodes of adapter sriov-roce for 2 VFs");
	core_conf()->allow_more_nodes_than_vfs = true;
	vs_hosts_reordered(core_inv());
	turn();
	assert_string_equal(refusal("vm1"), "");
}

static void nodes_count_by_the_vfs_that_each_takes(void **st)
{
	struct vs_adapter *a;

	(void)st;
	begin(3, 1, 6, "warm");
	core_conf()->allow_more_nodes_than_vfs = false;
	a = &core_adapters()[0];
	a->per_node = 2;
	ready();
	assert_string_equal(refusal("vm1"), "");
	a->per_node = 3;
	vs_hosts_reordered(core_inv());
	vs_checks.judged_epoch = core_epoch() + 1;
	turn();
	HAS(refusal("vm1"), "3 nodes of adapter sriov-roce, which need 9 VFs, for 6 VFs");
	a->per_node = 2;
	a->rails = true;
	vs_hosts_reordered(core_inv());
	vs_checks.judged_epoch = core_epoch() + 1;
	turn();
	HAS(refusal("vm1"), "3 nodes of adapter sriov-roce with NICsPerNode=2: the hosts have capacity for 0 of them, each VF on a PF of its own");
}

static void a_named_pf_that_is_no_uplink_anywhere_is_refused(void **st)
{
	(void)st;
	begin(1, 2, 1, "warm");
	vs_strlcpy(core_adapters()[0].pf, "0000:99:00.0", VS_PCI_LEN);
	ready();
	HAS(refusal("vm1"), "on no host is PF=0000:99:00.0 an uplink of Network=NET with VFs");
	assert_true(vs_query_ever(&vs_core, (int[]) { 0 }, 1, NULL));
	vs_strlcpy(core_adapters()[0].pf, "0000:3b:00.0", VS_PCI_LEN);
	vs_hosts_reordered(core_inv());	/* as a new configuration does */
	beat();
	assert_string_equal(refusal("vm1"), "");
}

static void a_network_whose_uplinks_have_no_vfs_is_refused(void **st)
{
	(void)st;
	begin(1, 2, 0, "warm");
	ready();
	HAS(refusal("vm1"), "no host has an uplink of Network=NET with VFs");
}

static void a_host_of_which_nothing_is_known_may_have_the_pf(void **st)
{
	(void)st;
	begin(1, 2, 0, "warm");
	fake_load();
	vs_host_get(core_inv(), "host-2")->pfs_known = false;
	fake_slow(NULL, 0);
	turn();
	assert_null(strstr(refusal("vm1"), "on no host"));
}

/* ---- another pool ----------------------------------------------------------- */

static void a_vm_in_another_pool_is_moved_before_it_is_used(void **st)
{
	(void)st;
	begin_idle("power_off");
	flags("vm1", GOING);
	turns(3);
	assert_true(fake_finish(FAKE_POWER_OFF));
	flags("vm1", DOWN);
	turns(2);
	vs_strlcpy(fake_get("vm1")->pool, "resgroup-old", 32);
	fake_show(fake_get("vm1"));
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(3);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 2);
}

/* ---- Mode=observe ------------------------------------------------------------ */

static void observe_says_what_it_would_do_and_does_nothing(void **st)
{
	struct vs_pending *r;
	char text[256];
	int wants[2];

	(void)st;
	begin(2, 2, 1, "warm");
	core_set_observe(true);
	ready();
	wants[0] = id("vm1");
	wants[1] = id("vm2");
	HAS(refusal("vm1"), "Mode=observe");
	refuse(8, wants, 2, 2, "Mode=observe");
	r = vs_refusals();
	vs_observe_text(&vs_core, r, text, sizeof(text));
	HAS(text, "Mode=observe: would place vm1 on esx");
	HAS(text, " PF 0000:3b:00.0, vm2 on esx");
	r->need = 1;
	fake_drs = VS_VC_AUTO_YES;
	beat();
	vs_observe_text(&vs_core, r, text, sizeof(text));
	HAS(text, "Mode=observe: would wait: DRS of cluster C1");
	vs_lock();
	vs_job_reasons(&vs_core, now + 5000);
	vs_unlock();
	turn();
	HAS(heard(VS_REQUEST_REASON, NULL)->text, "Mode=observe: would wait");
	flags("vm1", BOOT);
	turns(20);
	assert_int_equal(sent(), 0);
	assert_null(vs_ledger_get(core_ledger(), "vm1"));
}

static void observe_needs_no_rights_and_says_which_it_would(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	core_set_port(&port);
	core_set_observe(true);
	fake_lack = (struct vs_vc_missing_privilege) { "Folder", "slurm", "A.B",
		VS_VC_FOR_JOBS };
	ready();
	HAS(vs_query_blocked(&vs_core), "Mode=observe");
	assert_string_equal(core_unserved(), "");
	the_operator = 1000;
	assert_true(status_says("for Mode=manage the account lacks privileges on Folder=slurm: A.B"));
}

static struct vs_conf *conf_of(const char *mode)
{
	struct vs_conf *conf = conf_make(2, "power_off", 1024);

	free(conf->mode);
	conf->mode = vs_strdup(mode);
	return conf;
}

/* As a reconfigure does it: the client is another one. */
static void mode(const char *m)
{
	vs_calls_lost(&vs_core);
	vs_setup_apply(&vs_core, conf_of(m));
	vs_setup_macs(&vs_core);
	core_set_ready(false);
	core_set_loaded(false);
	ready();
}

static void the_mode_changes_and_what_is_under_way_is_left_alone(void **st)
{
	int before;

	(void)st;
	begin(2, 1, 2, "power_off");
	ready();
	bring_up(8, "vm2");
	clone_for(7, "vm1");
	mode("observe");
	before = sent();
	turns(5);
	/* Slurm hears of vm1 while it waits; vm2's job ends, and no more */
	assert_non_null(heard(VS_REQUEST_BOOT_PUSH, "vm1"));
	end_job(8, "vm2");
	flags("vm2", GOING);
	turns(5);
	assert_int_equal(sent(), before);
	assert_int_equal(fake_cancels, 0);
	assert_null(heard(VS_REQUEST_POWER_DOWN, NULL));
	mode("manage");
	turns(5);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	assert_int_equal(fake_waiting(FAKE_POWER_OFF), 1);
}

static void what_ran_on_while_observed_is_adopted_afterwards(void **st)
{
	(void)st;
	begin(2, 1, 2, "power_off");
	ready();
	bring_up(8, "vm2");
	mode("observe");
	end_job(8, "vm2");
	flags("vm2", GOING);
	turns(2);
	flags("vm2", DOWN);
	turns(2);
	mode("manage");
	turns(2);
	assert_non_null(heard(VS_REQUEST_ADOPT, "vm2"));
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drs_that_chooses_hosts_stops_new_jobs_until_it_is_mended),
		cmocka_unit_test(what_cannot_be_read_of_drs_and_ha_counts_as_automated),
		cmocka_unit_test(what_drs_does_is_no_matter_of_a_cluster_s_name),
		cmocka_unit_test(ha_that_restarts_vms_stops_new_jobs),
		cmocka_unit_test(a_job_that_has_begun_goes_on_and_ends),
		cmocka_unit_test(an_override_of_the_vm_counts_before_its_cluster),
		cmocka_unit_test(nothing_is_reclaimed_for_a_job_that_may_not_begin),
		cmocka_unit_test(a_missing_right_is_named_and_stops_new_jobs_alone),
		cmocka_unit_test(a_right_missing_on_a_template_stops_the_jobs_that_need_it),
		cmocka_unit_test(rights_that_are_not_told_are_as_they_were),
		cmocka_unit_test(rights_in_excess_are_told_to_operators_and_stop_nothing),
		cmocka_unit_test(more_names_than_vfs_are_refused_unless_allowed),
		cmocka_unit_test(nodes_count_by_the_vfs_that_each_takes),
		cmocka_unit_test(a_named_pf_that_is_no_uplink_anywhere_is_refused),
		cmocka_unit_test(a_network_whose_uplinks_have_no_vfs_is_refused),
		cmocka_unit_test(a_host_of_which_nothing_is_known_may_have_the_pf),
		cmocka_unit_test(a_vm_in_another_pool_is_moved_before_it_is_used),
		cmocka_unit_test(observe_says_what_it_would_do_and_does_nothing),
		cmocka_unit_test(observe_needs_no_rights_and_says_which_it_would),
		cmocka_unit_test(the_mode_changes_and_what_is_under_way_is_left_alone),
		cmocka_unit_test(what_ran_on_while_observed_is_adopted_afterwards),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
