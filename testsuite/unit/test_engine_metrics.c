/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the engine counts for Prometheus, and what is made of it: each count by what
 * it counts, each VF in one state and one alone.
 */
#include "clone_source_stage.h"
#include "vcenter/transport/tally.h"

static char *text_of(bool openmetrics)
{
	struct vs_buf b = VS_BUF_INIT(1 << 20);
	struct vs_metrics_facts f;
	struct vs_err err = { 0 };

	assert_int_equal(vs_metrics_read(&vs_core, &f, &err), 0);
	assert_int_equal(vs_metrics_text(&f, openmetrics, &b, &err), 0);
	vs_metrics_facts_free(&f);
	return b.data;
}

/* The value behind the line's name and labels, "slurm_vsphere_" left out. */
static double value(const char *what)
{
	VS_FREE char *text = text_of(true);
	VS_FREE char *line = vs_asprintf("\nslurm_vsphere_%s ", what);
	const char *at = strstr(text, line);

	if (!at)
		fail_msg("%s is not there", what);
	assert_null(strstr(at + 1, line));	/* once */
	return strtod(at + strlen(line), NULL);
}

#define PF "{adapter=\"sriov-roce\",host=\"esx1\",pf=\"0000:3b:00.0\",state="
static void expect_vfs(int free, int held, int ours, int foreign,
		       int quarantined, int lost)
{
	assert_int_equal(value("vfs" PF "\"free\"}"), free);
	assert_int_equal(value("vfs" PF "\"reserved\"}"), held);
	assert_int_equal(value("vfs" PF "\"managed\"}"), ours);
	assert_int_equal(value("vfs" PF "\"foreign\"}"), foreign);
	assert_int_equal(value("vfs" PF "\"unverified\"}"), 0);
	assert_int_equal(value("vfs" PF "\"quarantined\"}"), quarantined);
	assert_int_equal(value("vfs" PF "\"lost\"}"), lost);
}

static int fresh(void **state)
{
	(void)state;
	vs_metrics_clear();
	begin(4, 1, 4, "warm");
	ready();
	return 0;
}

static void each_vf_is_in_one_state(void **state)
{
	struct fake_vm *theirs;

	(void)state;
	expect_vfs(4, 0, 0, 0, 0, 0);
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	expect_vfs(3, 1, 0, 0, 0, 0);
	flags("vm1", BOOT);
	turn();
	fake_finish(FAKE_CLONE);
	turns(2);
	fake_finish(FAKE_POWER_ON);
	turn();
	expect_vfs(3, 0, 1, 0, 0, 0);
	theirs = fake_add_vm("x", "group-v9", "host-1", true);
	theirs->has_nic = true;
	vs_strlcpy(theirs->pci, "0000:3b:00.0", sizeof(theirs->pci));
	fake_show(theirs);
	turn();
	expect_vfs(2, 0, 1, 1, 0, 0);
	vs_exclude_set(VS_EXCLUDED_DRAINED, "host-1", NULL,
		       VS_EXCLUDED_FOREVER, "by hand");
	expect_vfs(0, 0, 1, 1, 2, 0);
	assert_int_equal(value("hosts{state=\"drained\"}"), 1);
	vs_exclude_end(VS_EXCLUDED_DRAINED, "host-1");
	vs_exclude_set(VS_EXCLUDED_FAILED, "host-1", "0000:3b:00.0",
		       VS_EXCLUDED_FOREVER, "no VF");
	expect_vfs(0, 0, 1, 1, 2, 0);
	vs_exclude_end(VS_EXCLUDED_FAILED, "host-1");
	vs_host_get(core_inv(), "host-1")->connected = false;
	expect_vfs(0, 0, 1, 1, 0, 2);
	assert_int_equal(value("hosts{state=\"disconnected\"}"), 1);
}

/* The VFs of a host that is off by intent aren't lost: DPM's standby, a reboot
 * in maintenance mode. */
static void a_host_that_is_off_by_intent_has_lost_nothing(void **state)
{
	struct vs_host *h = vs_host_get(core_inv(), "host-1");

	(void)state;
	h->standby = true;
	h->powered_on = false;
	expect_vfs(0, 0, 0, 0, 4, 0);
	h->standby = false;
	h->powered_on = true;
	h->maintenance = true;
	h->connected = false;
	expect_vfs(0, 0, 0, 0, 4, 0);
	h->maintenance = false;
	expect_vfs(0, 0, 0, 0, 0, 4);
	h->connected = true;
}

static void a_pause_is_told_apart_too(void **state)
{
	(void)state;
	assert_int_equal(value("paused"), 0);
	vs_pause_begin(&vs_core, "root", 0, "why");
	assert_int_equal(value("paused"), 1);
	vs_pause_end(&vs_core);
}

/* What blocks jobs in Mode=observe is the administrator's own will. */
static void a_site_that_is_observed_is_told_apart(void **state)
{
	(void)state;
	assert_int_equal(value("observe"), 0);
	core_set_observe(true);
	assert_int_equal(value("observe"), 1);
	core_set_observe(false);
}

/* Fewer VFs than it had, and fewer than are in use. */
static void vfs_that_went_are_lost_and_too_many_are_below_zero(void **state)
{
	struct vs_host *h = vs_host_get(core_inv(), "host-1");

	(void)state;
	h->pfs[0].vfs = 3;
	vs_host_changed(core_inv(), h);
	expect_vfs(3, 0, 0, 0, 0, 1);
	bring_up(7, "vm1");
	bring_up(8, "vm2");
	h->pfs[0].vfs = 1;
	vs_host_changed(core_inv(), h);
	expect_vfs(-1, 0, 2, 0, 0, 3);
}

static void a_pf_names_all_who_draw_on_it(void **state)
{
	struct vs_conf *conf = conf_make(4, "warm", 1024);

	(void)state;
	conf_other_from(conf, 2, "sriov");
	begin_as(conf);
	ready();
	assert_int_equal(value("vfs{adapter=\"sriov-roce,other\",host=\"esx1\",pf=\"0000:3b:00.0\",state=\"free\"}"), 4);
	assert_int_equal(value("nodes{adapter=\"sriov-roce\",state=\"powered_down\"}"), 2);
	assert_int_equal(value("nodes{adapter=\"other\",state=\"powered_down\"}"), 2);
	assert_int_equal(value("node_vms{adapter=\"other\",state=\"none\"}"), 2);
	assert_int_equal(value("node_vms{adapter=\"other\",state=\"on\"}"), 0);
}

static void a_start_is_timed_step_by_step(void **state)
{
	(void)state;
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turn();
	assert_int_equal(value("operations_in_flight{type=\"provisioning\"}"), 1);
	assert_int_equal(value("node_vms{adapter=\"sriov-roce\",state=\"cloning\"}"), 1);
	now += 8000;
	fake_finish(FAKE_CLONE);
	turns(2);
	now += 2000;
	fake_finish(FAKE_POWER_ON);
	turn();
	now += 20000;
	flags("vm1", BUSY);
	turn();
	assert_true(value("step_duration_seconds_sum{step=\"clone\"}") == 8.0);
	assert_int_equal(value("step_duration_seconds_bucket{step=\"clone\",le=\"5.0\"}"), 0);
	assert_int_equal(value("step_duration_seconds_bucket{step=\"clone\",le=\"10.0\"}"), 1);
	assert_int_equal(value("step_duration_seconds_bucket{step=\"clone\",le=\"+Inf\"}"), 1);
	assert_uint_in_range((int)value("step_duration_seconds_sum{step=\"power_on\"}"), 2, 3);
	assert_uint_in_range((int)value("step_duration_seconds_sum{step=\"boot\"}"), 20, 21);
	assert_int_equal(value("step_duration_seconds_count{step=\"boot\"}"), 1);
	assert_int_equal(value("vm_starts_total"), 1);
	turns(100);
	assert_int_equal(value("vm_starts_total"), 1);	/* once */
}

static void a_shutdown_ends_when_the_vm_is_off(void **state)
{
	struct fake_vm *vm;

	(void)state;
	bring_up(7, "vm1");
	end_job(7, "vm1");
	vm = fake_get("vm1");
	vm->tools = true;
	fake_show(vm);
	flags("vm1", GOING);
	turn();
	assert_true(fake_finish(FAKE_SHUTDOWN));
	vm->on = true;			/* the guest takes its time */
	fake_show(vm);
	turns(3);
	assert_int_equal(value("step_duration_seconds_count{step=\"shutdown\"}"), 0);
	now += 12000;
	vm->on = false;
	fake_show(vm);
	turns(2);
	assert_int_equal(value("step_duration_seconds_count{step=\"shutdown\"}"), 1);
	assert_uint_in_range((int)value("step_duration_seconds_sum{step=\"shutdown\"}"), 12, 13);
	/* and a later one is another */
	turns(5);
	assert_int_equal(value("step_duration_seconds_count{step=\"shutdown\"}"), 1);
}

static void failures_are_counted_by_step_and_code(void **state)
{
	(void)state;
	boot_up(7, "vm1");
	assert_true(fake_fault(FAKE_POWER_ON, VS_E_OTHER_HOST,
			       "GenericVmConfigFault", "the NIC is broken"));
	assert_int_equal(value("step_failures_total{step=\"power_on\",code=\"other_host\"}"), 1);
	assert_int_equal(value("step_failures_total{step=\"power_on\",code=\"retry\"}"), 0);
	assert_int_equal(value("step_failures_total{step=\"clone\",code=\"other_host\"}"), 0);
	assert_int_equal(value("step_duration_seconds_count{step=\"power_on\"}"), 0);
}

static void a_breaker_is_seen_half_open_and_open(void **state)
{
	static const char *const names[] = { "vm1", "vm2", "vm3" };

	(void)state;
	assert_int_equal(value("host_breaker{host=\"esx1\"}"), 0);
	for (int i = 0; i < 3; i++)
		vs_breaker_failed(&vs_core, "host-1", names[i], "broken", now);
	assert_int_equal(value("host_breaker{host=\"esx1\"}"), 2);
	assert_int_equal(value("hosts{state=\"quarantined\"}"), 1);
	expect_vfs(0, 0, 0, 0, 4, 0);
	now += 6 * 60 * 1000;
	turns(2);
	assert_int_equal(value("host_breaker{host=\"esx1\"}"), 1);
	vs_breaker_served(&vs_core, "host-1");
	assert_int_equal(value("host_breaker{host=\"esx1\"}"), 0);
	expect_vfs(4, 0, 0, 0, 0, 0);
}

static void a_wait_begins_with_the_first_refusal_for_vfs(void **state)
{
	struct vs_requesting_job nodes = { .job = 9,
					   .lacks = VS_PENDING_NODES };
	int one = id("vm1");

	(void)state;
	vs_job_set_pending(&vs_core, &nodes, &one, 1, 1, "3 free");
	now += 100000;			/* Slurm's own want doesn't count */
	assert_int_equal(value("jobs_waiting{reason=\"nodes\"}"), 1);
	assert_true(value("vf_wait_oldest_seconds") == 0);
	refuse(9, &one, 1, 1, "none is free");
	now += 40000;
	refuse(9, &one, 1, 1, "none is free");
	assert_int_equal(value("jobs_waiting{reason=\"vfs\"}"), 1);
	assert_true(value("vf_wait_oldest_seconds") == 40.0);
	now += 2000;
	assert_int_equal(job_begin(9, "vm1", NULL), 0);
	assert_int_equal(value("vf_wait_seconds_count"), 1);
	assert_true(value("vf_wait_seconds_sum") == 42.0);
	assert_int_equal(value("vf_wait_seconds_bucket{le=\"15.0\"}"), 0);
	assert_int_equal(value("vf_wait_seconds_bucket{le=\"60.0\"}"), 1);
	assert_int_equal(value("jobs_waiting{reason=\"vfs\"}"), 0);
	assert_int_equal(job_begin(10, "vm2", NULL), 0);
	assert_int_equal(value("vf_wait_seconds_count"), 2);
	assert_int_equal(value("vf_wait_seconds_bucket{le=\"1.0\"}"), 1);
}

static void what_vcenter_calls_a_host_breaks_no_line(void **state)
{
	struct vs_host *h = vs_host_get(core_inv(), "host-1");
	VS_FREE char *text = NULL;

	(void)state;
	vs_strlcpy(h->name, "a\"b\\c\nd\xc3", sizeof(h->name)); /* cut short */
	text = text_of(true);
	assert_non_null(strstr(text, "\nslurm_vsphere_host_breaker{host=\"a\\\"b\\\\c?d?\"} 0\n"));
	vs_strlcpy(h->name, "h\xc3\xb6st", sizeof(h->name));
	free(text);
	text = text_of(true);
	assert_non_null(strstr(text, "{host=\"h\xc3\xb6st\"} 0\n"));
	vs_strlcpy(h->name, "esx1", sizeof(h->name));
}

static void the_formats_differ_in_heads_and_end(void **state)
{
	VS_FREE char *open = text_of(true), *plain = text_of(false);

	(void)state;
	assert_string_equal(open + strlen(open) - 6, "# EOF\n");
	assert_null(strstr(plain, "# EOF"));
	assert_null(strstr(plain, "# UNIT"));
	assert_non_null(strstr(open, "# TYPE slurm_vsphere_vm_starts counter\n"));
	assert_non_null(strstr(plain, "# TYPE slurm_vsphere_vm_starts_total counter\n"));
	assert_non_null(strstr(open, "# TYPE slurm_vsphere_build info\n"));
	assert_non_null(strstr(plain, "# TYPE slurm_vsphere_build_info gauge\n"));
	assert_non_null(strstr(open, "# UNIT slurm_vsphere_vf_wait_seconds seconds\n"));
}

static void a_page_that_is_too_long_is_none(void **state)
{
	struct vs_buf b = VS_BUF_INIT(5000);
	struct vs_metrics_facts f;
	struct vs_err err = { 0 };

	(void)state;
	assert_int_equal(vs_metrics_read(&vs_core, &f, &err), 0);
	assert_int_equal(vs_metrics_text(&f, true, &b, &err), -1);
	assert_int_equal(err.code, VS_E_BUG);
	vs_metrics_facts_free(&f);
	vs_buf_free(&b);
}

static void calls_are_counted_by_their_last_word(void **state)
{
	static struct vs_tally rows[VS_TALLY_NAMES];
	char what[64];
	size_t n;

	(void)state;
	vs_tally_note("POST /sdk/vim25/8.0.1.0/VirtualMachine/vm-1/PowerOnVM_Task",
		      VS_OK, 1500000);
	vs_tally_note("POST /sdk/vim25/8.0.1.0/VirtualMachine/vm-2/PowerOnVM_Task",
		      VS_E_BUSY, 500000);
	vs_tally_note("GET /a/b\"c", VS_OK, 1);
	assert_int_equal(value("vcenter_calls_total{call=\"PowerOnVM_Task\",outcome=\"ok\"}"), 1);
	assert_int_equal(value("vcenter_calls_total{call=\"PowerOnVM_Task\",outcome=\"busy\"}"), 1);
	assert_int_equal(value("vcenter_calls_total{call=\"other\",outcome=\"ok\"}"), 1);
	assert_true(value("vcenter_call_duration_seconds_sum{call=\"PowerOnVM_Task\"}") == 2.0);
	assert_int_equal(value("vcenter_call_duration_seconds_count{call=\"PowerOnVM_Task\"}"), 2);
	/* however many names there are */
	for (int i = 0; i < 3 * VS_TALLY_NAMES; i++) {
		snprintf(what, sizeof(what), "POST /x/Method%d", i);
		vs_tally_note(what, VS_OK, 1);
	}
	n = vs_tally_get(rows);
	assert_uint_in_range(n, VS_TALLY_NAMES - 1, VS_TALLY_NAMES);
	assert_true(value("vcenter_calls_total{call=\"other\",outcome=\"ok\"}")
		    > VS_TALLY_NAMES);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(rows[i].name, rows[k].name);
}

#define FRESH(f) cmocka_unit_test_setup(f, fresh)

static void clone_sources_are_counted_by_type_and_state(void **state)
{
	(void)state;
	begin_linked(2, 1);
	ready();
	assert_int_equal(value("clone_sources{type=\"linked\",state=\"ready\"}"), 0);
	wants(7, "vm1");
	assert_int_equal(value("clone_sources{type=\"linked\",state=\"cloning\"}"), 1);
	assert_true(fake_finish(FAKE_CLONE));
	assert_int_equal(value("clone_sources_made_total{type=\"linked\"}"), 1);
	turns(2);
	assert_int_equal(value("clone_sources{type=\"linked\",state=\"snapshot\"}"), 1);
	assert_int_equal(value("clone_sources{type=\"linked\",state=\"no_snapshot\"}"), 0);
	assert_true(fake_fail(FAKE_SNAPSHOT, VS_E_BUSY, "not now"));
	assert_int_equal(value("clone_sources{type=\"linked\",state=\"no_snapshot\"}"), 1);
	assert_int_equal(value("clone_sources_failed_total{type=\"linked\"}"), 1);
	assert_int_equal(value("clone_sources_failed_total{type=\"instant\"}"), 0);
	vs_job_end(&vs_core, 7, &(int) { id("vm1") }, 1, false);
	flags("vm1", DOWN);
	fake_template("vm-tpl2", NULL);
	time_passes();
	assert_int_equal(value("clone_sources{type=\"linked\",state=\"destroy\"}"), 1);
	assert_true(fake_finish(FAKE_DESTROY));
	assert_int_equal(value("clone_sources_removed_total{type=\"linked\"}"), 1);
	turns(20);
	assert_int_equal(value("clone_sources{type=\"linked\",state=\"destroy\"}"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FRESH(each_vf_is_in_one_state),
		FRESH(a_host_that_is_off_by_intent_has_lost_nothing),
		FRESH(a_site_that_is_observed_is_told_apart),
		FRESH(a_pause_is_told_apart_too),
		FRESH(vfs_that_went_are_lost_and_too_many_are_below_zero),
		FRESH(a_pf_names_all_who_draw_on_it),
		FRESH(a_start_is_timed_step_by_step),
		FRESH(clone_sources_are_counted_by_type_and_state),
		FRESH(a_shutdown_ends_when_the_vm_is_off),
		FRESH(failures_are_counted_by_step_and_code),
		FRESH(a_breaker_is_seen_half_open_and_open),
		FRESH(a_wait_begins_with_the_first_refusal_for_vfs),
		FRESH(what_vcenter_calls_a_host_breaks_no_line),
		FRESH(the_formats_differ_in_heads_and_end),
		FRESH(a_page_that_is_too_long_is_none),
		FRESH(calls_are_counted_by_their_last_word),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
