/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCenter that refuses VFs and devices in a clone: its VMs are cloned without,
 * and a reconfiguration adds them. What is remembered of it, and for how long.
 */
#include "engine/tasks/tasks_i.h"
#include "engine_stage.h"
#include "util/json.h"

static void world_of(int nodes)
{
	vs_clones.way = (struct vs_clone_way) { .trial_ms = 0 };
	begin(nodes, 2, 8, "power_off");
	fake_about = "VMware vCenter Server 8.0.3 build-24022515";
	ready();
}

static int calls(void)
{
	int sum = 0;

	for (int k = 0; k < FAKE_KINDS; k++)
		sum += fake_sent[k];
	return sum;
}

static void due(uint32_t job, const char *node)
{
	assert_int_equal(job_begin(job, node, NULL), 0);
	flags(node, BOOT);
	turns(2);
}

static void refused(void)
{
	assert_true(fake_fault(FAKE_CLONE, VS_E_REQUEST, "InvalidArgument",
			       "A specified parameter was not correct: spec.config.deviceChange"));
	turns(10);
}

/* Its clone is there without a NIC, and its reconfiguration is sent. */
static void plain_clone(const char *node)
{
	assert_true(fake_finish(FAKE_CLONE));
	assert_false(fake_get(node)->has_nic);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_RECONFIGURE), 1);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 0);
}

static void comes_up(const char *node)
{
	assert_true(fake_get(node)->has_nic);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	flags(node, BUSY);
	turn();
	assert_null(heard(VS_REQUEST_FAIL, NULL));
	assert_null(heard(VS_REQUEST_RELEASE, NULL));
}

/* vm1 shows that clones with devices are refused. */
static void learn(void)
{
	world_of(4);
	due(7, "vm1");
	refused();
	plain_clone("vm1");
	assert_true(fake_finish(FAKE_RECONFIGURE));
	comes_up("vm1");
}

static void a_refused_clone_is_made_without_devices(void **st)
{
	(void)st;
	world_of(4);
	due(7, "vm1");
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	refused();
	assert_int_equal(fake_sent[FAKE_CLONE], 2);
	plain_clone("vm1");
	assert_true(fake_finish(FAKE_RECONFIGURE));
	comes_up("vm1");
	assert_int_equal(calls(), 4);
	assert_null(vs_avoids());	/* no host is to blame */
}

static void calls_for_a_vm_are_two_or_three(void **st)
{
	int was;

	(void)st;
	world_of(2);
	due(7, "vm1");
	assert_true(fake_finish(FAKE_CLONE));
	comes_up("vm1");
	print_message("# calls for a VM, cloned with its VF: %d\n", calls());
	assert_int_equal(calls(), 2);
	learn();
	was = calls();
	due(8, "vm2");
	plain_clone("vm2");
	assert_true(fake_finish(FAKE_RECONFIGURE));
	comes_up("vm2");
	print_message("# calls for a VM, whose VF a reconfiguration adds: %d\n",
		      calls() - was);
	assert_int_equal(calls() - was, 3);
}

static struct vs_jdoc parsed(struct json_object *report_take)
{
	VS_FREE char *text = vs_jb_text_free(report_take);
	struct vs_err err = { 0 };
	struct vs_jdoc doc;

	if (vs_jdoc_parse(&doc, text, strlen(text), &err))
		fail_msg("%s", err.text);
	return doc;
}

/* What svf plan says of one node that has no VM, and svf status of all. */
static void plan_is(const char *node, const char *steps, int calls, int most,
		    int seconds, const char *devices_by)
{
	static const struct vs_slurm_ops port = { .viewer = viewer };
	const struct vs_slurm_ops *was = core_port();
	struct vs_err err = { 0 };
	struct vs_jdoc doc;
	struct vs_j row, list;
	char got[128] = "";

	core_set_port(&port);
	all_nodes = true;
	doc = parsed(vs_core_plan(node, 1001, &err));
	row = vs_j_at(vs_j_get(vs_j_root(&doc), "nodes"), 0);
	list = vs_j_get(row, "steps");
	for (size_t i = 0; i < vs_j_len(list); i++) {
		size_t n = strlen(got);

		snprintf(got + n, sizeof(got) - n, "%s ",
			 vs_j_str(vs_j_at(list, i)));
	}
	assert_string_equal(got, steps);
	assert_int_equal(vs_j_int(vs_j_get(row, "calls")), calls);
	assert_int_equal(vs_j_int(vs_j_get(vs_j_root(&doc), "calls")), calls);
	assert_int_equal(vs_j_int_or(vs_j_opt(row, "calls_max"), 0), most);
	assert_int_equal(vs_j_int_or(vs_j_opt(vs_j_root(&doc), "calls_max"), 0),
			 most);
	assert_int_equal(vs_j_int(vs_j_get(row, "seconds")), seconds);
	vs_jdoc_free(&doc);
	doc = parsed(vs_core_report("status", 0, 1001, &err));
	assert_string_equal(vs_j_str(vs_j_get(vs_j_root(&doc), "devices_by")),
			    devices_by);
	vs_jdoc_free(&doc);
	core_set_port(was);
}

static void plan_and_status_know_both_ways(void **st)
{
	const struct vs_profile *p;

	(void)st;
	world_of(4);
	vs_paces_clear();
	p = core_nodes()[0].profile;
	vs_duration_note(p, VS_OP_CLONE, 8000);
	vs_duration_note(p, VS_OP_RECONFIGURE, 2000);
	vs_duration_note(p, VS_OP_POWER_ON, 4000);
	vs_duration_note(p, VS_DURATION_BOOT, 20000);
	plan_is("vm2", "clone power-on ", 2, 4, 8 + 4 + 20, "untried");
	vs_clones.way.takes = vs_clones.way.now;
	plan_is("vm2", "clone power-on ", 2, 0, 8 + 4 + 20, "clone");
	vs_clones.way.refuses = vs_clones.way.now;
	plan_is("vm2", "clone reconfigure power-on ", 3, 0, 8 + 2 + 4 + 20,
		"reconfigure");
}

/* As after a restart of slurmctld: the hints file is all that is left. */
static void restarted(const char *about)
{
	struct json_object *top = vs_jb_obj(NULL);
	char *text;

	vs_jb_put(top, "clone_devices_taken", vs_clone_taken_json());
	vs_jb_put(top, "clone_devices_refused", vs_clone_refused_json());
	text = vs_jb_text_free(top);
	vs_clones.way = (struct vs_clone_way) { .trial_ms = 0 };
	vs_state_file_read_done(false);
	vs_state_file_load(&vs_core, text, NULL);
	free(text);
	fake_about = about;
	fake_down(VS_E_RETRY);
	ready();
}

static void it_is_remembered_until_vcenter_has_another_build(void **st)
{
	(void)st;
	learn();
	assert_true(vs_state_file_pending());
	restarted("VMware vCenter Server 8.0.3 build-24022515");
	due(8, "vm2");
	plain_clone("vm2");
	assert_true(fake_finish(FAKE_RECONFIGURE));
	comes_up("vm2");
	restarted("VMware vCenter Server 8.0.3 build-24322831");
	due(9, "vm3");
	assert_true(fake_finish(FAKE_CLONE));
	comes_up("vm3");
}

static void a_clone_that_is_made_is_remembered_likewise(void **st)
{
	(void)st;
	world_of(4);
	assert_false(vs_clone_way_known());
	due(7, "vm1");
	assert_false(vs_clone_way_known());
	vs_state_file_forget();		/* that a clone was sent */
	vs_state_file_read_done(true);
	assert_true(fake_finish(FAKE_CLONE));
	assert_true(vs_clone_way_known());
	assert_true(vs_state_file_pending());
	comes_up("vm1");
	restarted("VMware vCenter Server 8.0.3 build-24022515");
	assert_true(vs_clone_way_known());
	restarted("VMware vCenter Server 8.0.3 build-24322831");
	assert_false(vs_clone_way_known());
	due(8, "vm2");
	refused();		/* this build refuses what the other took */
	assert_true(vs_clone_way_known());
	plain_clone("vm2");
	assert_true(fake_finish(FAKE_RECONFIGURE));
	assert_string_equal(vs_clones.way.refuses.build, "24322831");
	assert_string_equal(vs_clones.way.takes.build, "24022515");
}

static void a_spec_that_is_wrong_anyway_is_not_taken_for_it(void **st)
{
	(void)st;
	world_of(4);
	due(7, "vm1");
	refused();
	plain_clone("vm1");
	assert_true(fake_fault(FAKE_RECONFIGURE, VS_E_REQUEST,
			       "InvalidDeviceSpec", "device '1'"));
	turns(2);
	assert_non_null(heard(VS_REQUEST_FAIL, "vm1"));
	assert_null(vs_clone_refused_json());
	due(8, "vm2");
	assert_true(fake_finish(FAKE_CLONE));
	assert_true(fake_get("vm2")->has_nic);
}

/* Also where it is no matter of devices: the second one fails as the first. */
static void a_clone_that_fails_without_devices_too_fails(void **st)
{
	(void)st;
	world_of(4);
	due(7, "vm1");
	refused();
	refused();
	assert_int_equal(fake_sent[FAKE_CLONE], 2);
	assert_non_null(heard(VS_REQUEST_FAIL, "vm1"));
	assert_false(vs_clone_way_plain());
}

static void clones_that_were_under_way_are_made_again_too(void **st)
{
	(void)st;
	world_of(4);
	due(7, "vm1");
	due(8, "vm2");
	assert_int_equal(fake_waiting(FAKE_CLONE), 2);
	refused();
	assert_int_equal(fake_waiting(FAKE_CLONE), 2);
	refused();		/* the older one: vm2's */
	assert_int_equal(fake_sent[FAKE_CLONE], 4);
	assert_true(fake_finish(FAKE_CLONE));
	assert_true(fake_finish(FAKE_CLONE));
	assert_false(fake_get("vm1")->has_nic);
	assert_false(fake_get("vm2")->has_nic);
	turns(2);
	assert_string_equal(vs_clones.way.trial, "vm1");
	assert_true(fake_finish(FAKE_RECONFIGURE));
	assert_true(fake_finish(FAKE_RECONFIGURE));
	turns(2);
	assert_string_equal(vs_clones.way.refuses.uuid, "u");
	assert_string_equal(vs_clones.way.refuses.build, "24022515");
	assert_null(heard(VS_REQUEST_FAIL, NULL));
}

static void another_nodes_calls_say_nothing_of_the_trial(void **st)
{
	const struct vs_node_op done = { .kind = VS_OP_RECONFIGURE,
					 .devices = true };
	const struct vs_err err = { .code = VS_E_REQUEST };
	const struct vs_node *other;

	(void)st;
	world_of(4);
	due(7, "vm1");
	refused();
	other = vs_node_named(&vs_core, "vm2");
	assert_false(vs_clone_way_end(other, &done, &err));
	assert_true(vs_clone_way_plain());
	assert_false(vs_clone_way_end(other, &done, NULL));
	assert_null(vs_clone_refused_json());
}

/* Its job was canceled, say. */
static void a_trial_that_comes_to_no_end_is_given_up(void **st)
{
	(void)st;
	world_of(4);
	due(7, "vm1");
	refused();
	assert_true(vs_clone_way_plain());
	now += 10 * 60 * 1000;
	assert_false(vs_clone_way_plain());
	assert_null(vs_clone_refused_json());
}

/* There is nothing that could be left out. */
static void a_clone_without_devices_fails_as_ever(void **st)
{
	struct vs_conf *conf;

	(void)st;
	world_of(1);
	conf = conf_make(1, "power_off", 1024);
	conf_other_from(conf, 0, "vmxnet3");
	begin_as(conf);
	ready();
	due(7, "vm1");
	refused();
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_non_null(heard(VS_REQUEST_FAIL, "vm1"));
}

#define T(test) cmocka_unit_test(test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_refused_clone_is_made_without_devices),
		T(calls_for_a_vm_are_two_or_three),
		T(it_is_remembered_until_vcenter_has_another_build),
		T(a_clone_that_is_made_is_remembered_likewise),
		T(plan_and_status_know_both_ways),
		T(a_spec_that_is_wrong_anyway_is_not_taken_for_it),
		T(a_clone_that_fails_without_devices_too_fails),
		T(clones_that_were_under_way_are_made_again_too),
		T(another_nodes_calls_say_nothing_of_the_trial),
		T(a_trial_that_comes_to_no_end_is_given_up),
		T(a_clone_without_devices_fails_as_ever),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
