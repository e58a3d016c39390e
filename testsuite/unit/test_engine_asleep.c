/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VMs that an administrator has suspended: they are left alone while they have jobs,
 * and switched off when Slurm has taken the jobs from them. They can be resumed on
 * their host alone, so that a host that is to be empty isn't while they have jobs.
 */
#include "engine/maintenance/maintenance_i.h"
#include "vmotion_stage.h"

static void sleeps(const char *name, bool is)
{
	struct fake_vm *vm = fake_get(name);

	vm->on = !is;
	vm->suspended = is;
	fake_show(vm);
}

/* Job 7 is in vm1, on host-1; a vCenter user suspends vm1. */
static void one_sleeps(void)
{
	run("vmxnet3", 1, 2);
	flags("vm1", BUSY);
	turns(5);
	sleeps("vm1", true);
	turns(3);
	assert_int_equal(node("vm1")->seen, VS_OBSERVED_SUSPENDED);
	assert_string_equal(held_on("vm1"), "");
	ntold = 0;
}

static void it_is_left_alone_while_its_job_is_there(void **st)
{
	(void)st;
	one_sleeps();
	turns(200);
	assert_int_equal(fake_sent[FAKE_POWER_ON], 1);
	assert_int_equal(fake_sent[FAKE_SHUTDOWN], 0);
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 0);
	assert_int_equal(ntold, 0);
	assert_int_equal(vs_node_avail(&vs_core, node("vm1")), VS_AVAIL_NONE);
}

/* Slurm ends the job, and no slurmd can say that it has; or the node is DOWN because
 * it is silent. */
static void it_goes_off_when_slurm_has_ended_its_job(void **st)
{
	static const uint32_t ends[] = { VS_NODE_COMPLETING,
		VS_NODE_DOWN | VS_NODE_SILENT };

	(void)st;
	for (size_t i = 0; i < VS_COUNT(ends); i++) {
		one_sleeps();
		flags("vm1", ends[i]);
		turns(3);
		assert_int_equal(fake_sent[FAKE_POWER_OFF], 1);
		assert_true(fake_fail(FAKE_POWER_OFF, VS_E_RETRY, "not now"));
		fake_slow(NULL, 0);
		turns(100);
		assert_int_equal(fake_sent[FAKE_POWER_OFF], 2);
		assert_true(fake_finish(FAKE_POWER_OFF));
		turns(3);
		assert_int_equal(node("vm1")->seen, VS_OBSERVED_OFF);
		assert_int_equal(fake_sent[FAKE_POWER_OFF], 2);
	}
}

static void order(const char *what, const char *name)
{
	struct vs_err err = { 0 };

	vs_jb_free(vs_core_request(what, name, "", 0, &err));
	assert_int_equal(err.code, VS_OK);
}

static struct vs_remaining_vms remains(char words[256])
{
	struct vs_remaining_vms r;

	vs_host_remaining_vms(&vs_core, vs_host_get(core_inv(), "host-1"),
			      &r);
	vs_remaining_vms_text(&r, words, 256);
	return r;
}

static void planned(const char *will, const char *why)
{
	struct json_object *top = vs_jb_obj(NULL);
	char *text;

	vs_vmotion_plan(&vs_core, vs_host_get(core_inv(), "host-1"), false,
			top);
	text = vs_jb_text_free(top);
	if (!strstr(text, will) || !strstr(text, why))
		fail_msg("%s isn't told with %s: %s", will, why, text);
	free(text);
}

static int heard_times(enum vs_slurm_request kind)
{
	int n = 0;

	for (size_t i = 0; i < ntold; i++)
		n += told[i].kind == kind;
	return n;
}

static void it_stays_and_the_node_says_why(void **st)
{
	char words[256];
	struct vs_remaining_vms r;
	int64_t judged;

	(void)st;
	one_sleeps();
	planned("\"stay\"", "the VM is suspended and can only be resumed on this host");
	drain("esx1");
	turns(20);
	judged = node("vm1")->vmotion.again_ms;
	turns(20);		/* it isn't judged, and logged, in each */
	assert_true(node("vm1")->vmotion.again_ms == judged);
	assert_non_null(heard(VS_REQUEST_DRAIN, "vm1"));
	assert_string_equal(heard(VS_REQUEST_DRAIN, "vm1")->text,
		"host esx1 is drained by an operator; the VM stays until the job ends: the VM is suspended and can only be resumed on this host");
	assert_int_equal(fake_sent[FAKE_RELOCATE], 0);
	assert_null(heard(VS_REQUEST_RELEASE, NULL));
	assert_int_equal(node("vm1")->vmotion.state, VS_VMOTION_STAYS);
	r = remains(words);
	assert_int_equal(r.jobs, 1);
	assert_int_equal(r.asleep, 1);
	assert_true(r.safe_at == VS_TIME_NEVER);
	assert_non_null(strstr(words, "1 job on 1 node, safe at an unknown time"));
	assert_non_null(strstr(words, "; 1 VM is suspended"));
}

static void one_that_goes_on_leaves(void **st)
{
	(void)st;
	one_sleeps();
	maintenance(1, true);
	turns(40);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 0);
	flags("vm1", BUSY | VS_NODE_DRAIN);
	sleeps("vm1", false);
	turns(60);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(60);
	assert_string_equal(held_on("vm1"), "host-2");
	assert_non_null(heard(VS_REQUEST_UNDRAIN, "vm1"));
	vs_vmotions.moved = 0;
}

static void requeue_ends_its_job_and_it_goes_off(void **st)
{
	char words[256];

	(void)st;
	one_sleeps();
	order("drain-requeue", "esx1");
	turns(3);
	assert_int_equal(heard(VS_REQUEST_RELEASE, "vm1")->job, VS_JOB_ANY);
	assert_int_equal(heard(VS_REQUEST_REQUEUED, NULL)->job, 7);
	assert_non_null(strstr(heard(VS_REQUEST_REQUEUED, NULL)->text,
			       "jobs are requeued: the VM is suspended"));
	end_job(7, "vm1");
	flags("vm1", GOING);
	turns(3);
	assert_int_equal(fake_sent[FAKE_SHUTDOWN] + fake_sent[FAKE_POWER_OFF],
			 1);
	assert_true(fake_finish(FAKE_POWER_OFF));
	turns(3);
	assert_int_equal(remains(words).safe_at, 0);
	assert_string_equal(words, "no managed VM is on, safe now");
}

static void an_idle_one_goes_off(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	end_job(7, "vm1");
	sleeps("vm1", true);
	turns(2);
	planned("\"off\"", "vm1");
	drain("esx1");
	turns(3);
	assert_non_null(heard(VS_REQUEST_POWER_DOWN, "vm1"));
}

/* A suspended VM doesn't keep its host from maintenance mode. */
static void anothers_is_no_matter(void **st)
{
	char words[256];

	(void)st;
	run("vmxnet3", 1, 2);
	fake_show(fake_add_vm("foreign", "group-other", "host-1", true));
	assert_int_equal(remains(words).others, 1);
	sleeps("foreign", true);
	assert_int_equal(remains(words).others, 0);
}

static void an_eviction_waits_for_its_job_or_ends_it(void **st)
{
	(void)st;
	one_sleeps();
	order("evict", "vm1");
	turns(20);
	assert_non_null(heard(VS_REQUEST_DRAIN, "vm1"));
	assert_null(heard(VS_REQUEST_RELEASE, NULL));
	assert_true(node("vm1")->orders.evict);
	order("requeue", "vm1");
	turns(60);
	assert_true(heard_times(VS_REQUEST_RELEASE) > 0);
	assert_int_equal(heard(VS_REQUEST_REQUEUED, NULL)->job, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_left_alone_while_its_job_is_there),
		cmocka_unit_test(it_goes_off_when_slurm_has_ended_its_job),
		cmocka_unit_test(it_stays_and_the_node_says_why),
		cmocka_unit_test(one_that_goes_on_leaves),
		cmocka_unit_test(requeue_ends_its_job_and_it_goes_off),
		cmocka_unit_test(an_idle_one_goes_off),
		cmocka_unit_test(anothers_is_no_matter),
		cmocka_unit_test(an_eviction_waits_for_its_job_or_ends_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
