/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hosts that their administrator empties, hosts that don't answer, and VMs that
 * DRS or HA starts on another host than slurm-vsphere chose.
 */
#include "engine_stage.h"
#include "util/json.h"

static const struct vs_vc_task entering = {
	.moid = "task-900", .name = "HostSystem.enterMaintenanceMode",
	.entity = "host-1", .entity_name = "esx1", .state = "running",
	.user = "admin",
};

static void idle_nodes_of_a_wanted_host_go_down_and_come_back(void **st)
{
	(void)st;
	begin(1, 2, 1, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	assert_string_equal(fake_get("vm1")->host, "host-1");
	fake_slow(&entering, 1);
	turns(2);
	assert_non_null(strstr(heard(VS_REQUEST_DRAIN, "vm1")->text,
			       "esx1 is entering maintenance"));
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	flags("vm1", GOING | VS_NODE_DRAIN);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_OFF));
	flags("vm1", DOWN | VS_NODE_DRAIN);
	assert_null(heard(VS_REQUEST_UNDRAIN, "vm1"));
	turns(60);
	assert_non_null(heard(VS_REQUEST_UNDRAIN, "vm1"));
	flags("vm1", DOWN);
	ntold = 0;
	turns(200);
	assert_null(heard(VS_REQUEST_DRAIN, "vm1"));
	assert_null(heard(VS_REQUEST_UNDRAIN, "vm1"));
}

static void a_running_job_finishes_on_a_wanted_host(void **st)
{
	(void)st;
	begin(1, 2, 1, "warm");
	ready();
	bring_up(7, "vm1");
	fake_slow(&entering, 1);
	turns(60);
	assert_non_null(heard(VS_REQUEST_DRAIN, "vm1"));
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	flags("vm1", BUSY | VS_NODE_DRAIN);
	turns(100);
	assert_int_equal(fake_sent[FAKE_POWER_OFF] + fake_sent[FAKE_SHUTDOWN],
			 0);
	end_job(7, "vm1");
	flags("vm1", UP | VS_NODE_DRAIN);
	turns(60);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
}

static void maintenance_called_off_lifts_the_drain(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	fake_slow(&entering, 1);
	turns(2);
	flags("vm1", BUSY | VS_NODE_DRAIN);
	fake_slow(NULL, 0);
	turns(60);
	assert_non_null(heard(VS_REQUEST_UNDRAIN, "vm1"));
}

static void an_administrators_drain_is_left_alone(void **st)
{
	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	bring_up(7, "vm1");
	flags("vm1", BUSY | VS_NODE_DRAIN);
	turns(200);
	assert_null(heard(VS_REQUEST_UNDRAIN, "vm1"));
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
}

/* ---- drained by an operator ---------------------------------------------------- */

static void drain(const char *host, const char *why)
{
	struct vs_err err = { 0 };

	vs_jb_free(vs_core_request("drain", host, why, 0, &err));
	assert_int_equal(err.code, VS_OK);
}

static void resume(const char *host)
{
	struct vs_err err = { 0 };

	vs_jb_free(vs_core_request("resume", host, "", 0, &err));
	assert_int_equal(err.code, VS_OK);
}

static void a_drained_host_gets_empty_and_takes_nothing(void **st)
{
	(void)st;
	begin(3, 1, 3, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	bring_up(8, "vm2");
	drain("esx1", "a fan\nis broken");
	turns(2);
	assert_string_equal(heard(VS_REQUEST_DRAIN, "vm1")->text,
		"host esx1 is drained by an operator: a fan is broken");
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
	assert_non_null(heard(VS_REQUEST_DRAIN, "vm2"));
	assert_null(heard(VS_REQUEST_POWER_DOWN, "vm2"));
	assert_int_equal(job_begin(9, "vm3", NULL), -1);
	flags("vm1", UP | VS_NODE_DRAIN);
	flags("vm2", BUSY | VS_NODE_DRAIN);
	turns(6000);			/* ten minutes */
	assert_int_equal(job_begin(9, "vm3", NULL), -1);
	ntold = 0;
	resume("esx1");
	turns(60);
	assert_non_null(heard(VS_REQUEST_UNDRAIN, "vm2"));
	assert_int_equal(job_begin(9, "vm3", NULL), 0);
}

/* How many hosts svf hosts shows in that state. */
static int hosts_in(const char *state)
{
	struct vs_jdoc doc = { 0 };
	struct vs_err err = { 0 };
	struct vs_j hosts;
	int n = 0;

	doc.root = vs_core_report("hosts", 0, 0, &err);
	hosts = vs_j_get(vs_j_root(&doc), "hosts");
	for (size_t i = 0; i < vs_j_len(hosts); i++)
		n += !strcmp(state, vs_j_str(vs_j_get(vs_j_at(hosts, i),
						      "state")));
	vs_jdoc_free(&doc);
	return n;
}

/* As Slurm's words for nodes: draining until the last VM has left. */
static void a_host_is_draining_while_vms_are_on_it(void **st)
{
	(void)st;
	begin(3, 2, 3, "warm");
	ready();
	bring_up(7, "vm1");
	assert_int_equal(hosts_in("UP"), 2);
	drain("esx1", "");
	drain("esx2", "");
	turns(2);
	assert_int_equal(hosts_in("DRAINING"), 1);
	assert_int_equal(hosts_in("DRAINED"), 1);
}

/* Users read the records of their jobs: what is left out, and by what. */
static void an_operators_note_is_in_no_jobs_words(void **st)
{
	static const char note[] = "ask Doe: BMC 10.0.0.9";
	const struct vs_host *h;
	struct vs_err err = { 0 };
	char why[VS_EXCLUSION_TEXT];

	(void)st;
	begin(1, 1, 3, "warm");
	ready();
	drain("esx1", note);
	assert_string_equal(vs_exclusion_note(&vs_core),
		"; 1 host excluded (esx1: drained by an operator)");
	h = vs_host_get(core_inv(), "host-1");
	assert_true(vs_exclusion_explain(&vs_core, h, NULL, why, sizeof(why)));
	assert_string_equal(why, "drained by an operator");
	assert_int_equal(vs_job_begin(&vs_core, 9, 0, &(int) { id("vm1") }, 1,
				      &err), -1);
	assert_null(strstr(err.text, "Doe"));
	vs_exclude_set(VS_EXCLUDED_DRAINED, "host-1", NULL,
		       VS_EXCLUDED_FOREVER,
		       "maintenance planned for 2026-11-23T10:00: ask Doe");
	assert_string_equal(vs_exclusion_note(&vs_core),
		"; 1 host excluded (esx1: maintenance planned for 2026-11-23T10:00)");
	/* a cause that slurm-vsphere found is no note */
	resume("esx1");
	vs_exclude_set(VS_EXCLUDED_FAILED, "host-1", NULL,
		       VS_EXCLUDED_FOREVER, "clone failed: no space");
	assert_non_null(
		strstr(vs_exclusion_note(&vs_core), "failed: no space"));
}

static void an_order_for_no_host_is_one_clear_line(void **st)
{
	struct vs_err err = { 0 };

	(void)st;
	begin(1, 1, 1, "warm");
	ready();
	assert_null(vs_core_request("drain", "esx9", "", 0, &err));
	assert_string_equal(err.text, "no such host: esx9");
}

/* ---- VMs that run elsewhere than was thought ------------------------------------ */

static void shown_on(const char *name, const char *host)
{
	struct fake_vm *vm = fake_get(name);

	vs_strlcpy(vm->host, host, sizeof(vm->host));
	vm->on = true;
	fake_show(vm);
}

static const struct vs_claim *hold(const char *node)
{
	return vs_ledger_get(core_ledger(), node);
}

/* DRS starts vm1 on the host whose only VF vm2 was promised. */
static void what_drs_displaces_at_power_on_is_placed_again(void **st)
{
	(void)st;
	begin(2, 2, 1, "warm");
	ready();
	boot_up(7, "vm1");
	assert_string_equal(hold("vm1")->host, "host-1");
	assert_int_equal(job_begin(8, "vm2", NULL), 0);
	flags("vm2", BOOT);
	turn();
	assert_string_equal(hold("vm2")->host, "host-2");
	assert_true(fake_finish(FAKE_CLONE));
	shown_on("vm1", "host-2");
	assert_true(fake_finish(FAKE_POWER_ON));
	turns(10);
	assert_string_equal(hold("vm1")->host, "host-2");
	assert_string_equal(hold("vm2")->host, "host-1");
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(2);
	assert_string_equal(fake_get("vm2")->host, "host-1");
	assert_int_equal(fake_sent[FAKE_POWER_ON], 2);
	assert_int_equal(fake_overfull, 0);
	assert_null(heard(VS_REQUEST_FAIL, NULL));
	assert_null(heard(VS_REQUEST_RELEASE, NULL));
}

static void what_drs_has_taken_is_counted_before_anybody_has_looked(void **st)
{
	(void)st;
	begin(2, 2, 1, "warm");
	ready();
	boot_up(7, "vm1");
	shown_on("vm1", "host-2");
	assert_int_equal(job_begin(8, "vm2", NULL), 0);
	assert_string_equal(hold("vm2")->host, "host-1");
}

static void what_drs_displaces_before_the_clone_costs_no_move(void **st)
{
	(void)st;
	begin(2, 2, 1, "warm");
	ready();
	boot_up(7, "vm1");
	assert_int_equal(job_begin(8, "vm2", NULL), 0);
	assert_string_equal(hold("vm2")->host, "host-2");
	shown_on("vm1", "host-2");
	assert_true(fake_finish(FAKE_POWER_ON));
	flags("vm2", BOOT);
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_string_equal(fake_get("vm2")->host, "host-1");
	assert_int_equal(fake_sent[FAKE_RELOCATE], 0);
}

/* OpenNebula/one#5261: the device is counted where the VM was. */
static void ha_restarts_a_vm_elsewhere_and_the_hold_goes_with_it(void **st)
{
	(void)st;
	begin(1, 2, 1, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	assert_int_equal(free_on("host-1"), 0);
	shown_on("vm1", "host-2");
	turns(2);
	assert_string_equal(hold("vm1")->host, "host-2");
	assert_int_equal(free_on("host-1"), 1);
	assert_int_equal(free_on("host-2"), 0);
	assert_non_null(strstr(node_error(&core_nodes()[0])->text,
			       "was on esx1 and is on esx2"));
	assert_non_null(strstr(node_error(&core_nodes()[0])->text, "HA"));
}

/* ---- hosts that don't answer ------------------------------------------------------ */

static void answers(const char *host, bool yes)
{
	fake_host(&(struct vs_vc_host){
		.moid = host, .has = VS_VC_HOST_STATE, .connected = yes,
		.powered_on = true });
	for (const char *const *n = (const char *const []){ "vm1", "vm2", NULL };
	     *n; n++) {
		struct fake_vm *vm = fake_get(*n);

		if (!vm || strcmp(vm->host, host))
			continue;
		fake_tell(vm, &(struct vs_vc_vm){
			.moid = vm->moid, .has = VS_VC_VM_CONN | VS_VC_VM_POWER,
			.connected = yes, .power = !yes ? "unknown" :
			vm->on ? "poweredOn" : "poweredOff" });
	}
	turn();
}

static int all_sent(void)
{
	int n = 0;

	for (int k = 0; k < FAKE_KINDS; k++)
		n += fake_sent[k];
	return n;
}

/* "": where it was. */
static void vm1_comes_on(const char *host, bool lost)
{
	struct fake_vm *vm = fake_get("vm1");

	if (lost) {
		answers(vm->host, false);
		turns(20);
	}
	if (!host[0])
		answers(vm->host, true);
	else
		vs_strlcpy(vm->host, host, sizeof(vm->host));
	fake_show(vm);
	turns(5);
}

static void with_a_job(void)
{
	begin(1, 2, 1, "warm");
	ready();
	bring_up(7, "vm1");
	turns(3);
	assert_string_equal(fake_get("vm1")->host, "host-1");
	ntold = 0;
}

/* Slurm would believe its job running for long. */
static void a_job_whose_vm_ha_started_elsewhere_is_requeued(void **st)
{
	(void)st;
	with_a_job();
	vm1_comes_on("host-2", true);
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[0]),
			 VS_AVAIL_NONE);
	ntold = 0;
	turns(30);
	assert_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

static void a_job_whose_vm_is_moved_while_it_is_in_sight_goes_on(void **st)
{
	(void)st;
	with_a_job();
	vm1_comes_on("host-2", false);
	assert_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

static void a_job_whose_host_was_silent_for_a_while_goes_on(void **st)
{
	(void)st;
	with_a_job();
	vm1_comes_on("", true);
	assert_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

/* slurm-operator#79: what can't be seen is taken for gone. */
static void a_silent_hosts_vm_is_not_built_a_second_time(void **st)
{
	int sent;

	(void)st;
	begin(2, 2, 1, "warm");
	ready();
	bring_up(7, "vm1");
	sent = all_sent();
	answers("host-1", false);
	/* Slurm gives the node up, and would have it again */
	vs_job_end(&vs_core, 7, (int[]){ id("vm1") }, 1, false);
	flags("vm1", VS_NODE_DOWN | VS_NODE_NO_RESPOND);
	turns(600);
	flags("vm1", DOWN);
	turns(600);
	assert_int_equal(job_begin(8, "vm1", NULL), -1);
	flags("vm1", VS_NODE_POWERING_UP);
	turns(600);
	assert_int_equal(all_sent(), sent);
	assert_non_null(hold("vm1"));
	/* others are served elsewhere */
	assert_int_equal(job_begin(9, "vm2", NULL), 0);
	assert_string_equal(hold("vm2")->host, "host-2");
}

static void a_host_that_is_back_counts_its_vfs_and_serves(void **st)
{
	(void)st;
	begin(2, 1, 2, "warm");
	ready();
	bring_up(7, "vm1");
	answers("host-1", false);
	assert_int_equal(job_begin(8, "vm2", NULL), -1);
	fake_get("vm1")->on = false;	/* it was rebooted */
	vs_job_end(&vs_core, 7, (int[]){ id("vm1") }, 1, false);
	flags("vm1", DOWN);
	answers("host-1", true);
	turns(3);
	assert_int_equal(free_on("host-1"), 2);
	assert_int_equal(job_begin(8, "vm1", "vm2"), 0);
}

/* vCenter shows its VMs' answers in a turn after the host's. */
static void a_job_that_waits_for_a_silent_vm_is_looked_at_when_it_answers(
	void **st)
{
	struct vs_vc_vm vm = {
		.has = VS_VC_VM_CONN | VS_VC_VM_POWER, .connected = true,
		.power = "poweredOn"
	};

	(void)st;
	with_a_job();
	vm.moid = fake_get("vm1")->moid;
	end_job(7, "vm1");
	answers("host-1", false);
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[0]),
			 VS_AVAIL_NONE);
	fake_host(&(struct vs_vc_host){
		.moid = "host-1", .has = VS_VC_HOST_STATE, .connected = true,
		.powered_on = true });
	turn();
	vs_capacity_freed_clear();
	fake_tell(vm, &vm);
	assert_true(vs_capacity_freed_pending());
	vs_capacity_freed_clear();
	fake_tell(vm, &vm);
	assert_false(vs_capacity_freed_pending());
}

static void a_vm_that_is_forgotten_may_be_built_anew(void **st)
{
	struct vs_err err = { 0 };

	(void)st;
	begin(1, 2, 1, "warm");
	ready();
	bring_up(7, "vm1");
	answers("host-1", false);
	vs_job_end(&vs_core, 7, (int[]){ id("vm1") }, 1, false);
	flags("vm1", DOWN);
	turns(2);
	assert_int_equal(job_begin(8, "vm1", NULL), -1);
	vs_capacity_freed_clear();
	vs_name_freed_clear();
	vs_jb_free(vs_core_request("forget", "vm1", "", 0, &err));
	assert_int_equal(err.code, VS_OK);
	assert_true(vs_name_freed_pending() && vs_capacity_freed_pending());
	turns(2);
	/* vCenter takes no second VM of that name */
	assert_int_equal(vs_job_begin(&vs_core, 8, 0, (int[]){ id("vm1") }, 1,
				      &err), -1);
	assert_non_null(strstr(err.text, "still registered"));
	vs_job_claim(&vs_core, 9, 0, (int[]){ id("vm1") }, 1, false);
	flags("vm1", BOOT);
	ntold = 0;
	turns(100);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_null(heard(VS_REQUEST_FAIL, "vm1"));
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
	vs_job_end(&vs_core, 9, (int[]){ id("vm1") }, 1, false);
	flags("vm1", DOWN);
	turns(2);
	fake_remove(fake_get("vm1"));
	turns(2);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_nodes_of_a_wanted_host_go_down_and_come_back),
		cmocka_unit_test(a_running_job_finishes_on_a_wanted_host),
		cmocka_unit_test(maintenance_called_off_lifts_the_drain),
		cmocka_unit_test(an_administrators_drain_is_left_alone),
		cmocka_unit_test(a_drained_host_gets_empty_and_takes_nothing),
		cmocka_unit_test(a_host_is_draining_while_vms_are_on_it),
		cmocka_unit_test(an_operators_note_is_in_no_jobs_words),
		cmocka_unit_test(an_order_for_no_host_is_one_clear_line),
		cmocka_unit_test(what_drs_displaces_at_power_on_is_placed_again),
		cmocka_unit_test(what_drs_displaces_before_the_clone_costs_no_move),
		cmocka_unit_test(what_drs_has_taken_is_counted_before_anybody_has_looked),
		cmocka_unit_test(ha_restarts_a_vm_elsewhere_and_the_hold_goes_with_it),
		cmocka_unit_test(a_job_whose_vm_ha_started_elsewhere_is_requeued),
		cmocka_unit_test(a_job_whose_vm_is_moved_while_it_is_in_sight_goes_on),
		cmocka_unit_test(a_job_whose_host_was_silent_for_a_while_goes_on),
		cmocka_unit_test(a_silent_hosts_vm_is_not_built_a_second_time),
		cmocka_unit_test(a_host_that_is_back_counts_its_vfs_and_serves),
		cmocka_unit_test(a_job_that_waits_for_a_silent_vm_is_looked_at_when_it_answers),
		cmocka_unit_test(a_vm_that_is_forgotten_may_be_built_anew),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
