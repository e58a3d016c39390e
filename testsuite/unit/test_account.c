/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is told to Slurm's accounting of a job: as many licenses as its nodes' VMs
 * take VFs, when they are asked for, had, lost and given back; the user's own
 * licenses are left alone.
 */
#include "account_stage.h"

/* ---- the tests ---------------------------------------------------------------- */

static void each_vf_is_asked_for_node_by_node(void **state)
{
	(void)state;
	assert_string_equal(asks("012", 0), "vf:3,pair:0,vmxnet3:0");
	assert_string_equal(asks("045", 0), "vf:5,pair:4,vmxnet3:0");
	/* a VM without VFs counts by its own name, a node of others not at all */
	assert_string_equal(asks("67", 0), "vf:0,pair:0,vmxnet3:1");
	assert_string_equal(asks("7", 0), "vf:0,pair:0,vmxnet3:0");
}

static void a_test_asks_for_no_more_than_it_takes_at_least(void **state)
{
	(void)state;
	assert_string_equal(at_least(2, "0123"), "vf:2,pair:0,vmxnet3:0");
	assert_string_equal(at_least(2, "45"), "vf:4,pair:4,vmxnet3:0");
	assert_string_equal(at_least(3, "0145"), "vf:3,pair:0,vmxnet3:0");
	assert_string_equal(at_least(0, "45"), "vf:2,pair:2,vmxnet3:0");
	/* it may get no VF, from a node that slurm-vsphere doesn't manage */
	assert_string_equal(at_least(1, "07"), "vf:0,pair:0,vmxnet3:0");
}

static void what_only_asks_whether_it_could_ever_run_asks_for_none(void **state)
{
	(void)state;
	assert_string_equal(asks("0", SELECT_MODE_TEST_ONLY), "");
	job.job_id = 0;
	assert_string_equal(asks("0", 0), "");
	job.job_id = 7;
	job.tres_req_cnt = NULL;
	assert_string_equal(asks("0", 0), "");
}

static void it_has_them_while_it_has_its_nodes(void **state)
{
	(void)state;
	begin("0145");
	assert_string_equal(words(job.license_list), "vf:6,pair:4");
	assert_string_equal(job.licenses, "vf:6,pair:4");
	assert_string_equal(w.taken, "");	/* Slurm does, next */
	vs_account_end(&job);
	assert_string_equal(w.returned, "vf:6,pair:4");
	assert_null(job.license_list);
	assert_null(job.licenses);
	w.returned[0] = '\0';
	vs_account_end(&job);			/* once is enough */
	assert_string_equal(w.returned, "");
}

static void a_job_that_begins_again_counts_once(void **state)
{
	(void)state;
	begin("01");
	begin("0");
	assert_string_equal(words(job.license_list), "vf:1");
	assert_string_equal(job.licenses, "vf:1");
}

static void its_own_licenses_stay(void **state)
{
	(void)state;
	has_its_own("other:2");
	begin("4");
	assert_string_equal(job.licenses, "other:2,vf:2,pair:2");
	assert_string_equal(words(job.license_list), "other:2,vf:2,pair:2");
	vs_account_end(&job);
	assert_string_equal(w.returned, "vf:2,pair:2");
	assert_string_equal(job.licenses, "other:2");
	assert_string_equal(words(job.license_list), "other:2");
}

/* A job holds the VF licenses of its VMs, however many it asked for. */
static void ours_that_it_asked_for_are_replaced(void **state)
{
	(void)state;
	has_its_own("vf:5,other:1");
	begin("0");
	assert_string_equal(job.licenses, "other:1,vf:1");
	assert_string_equal(words(job.license_list), "other:1,vf:1");
}

static const char *barred(const char *digits)
{
	static char left[NODES + 1];
	struct vs_test t = { .job_ptr = &job };
	bitstr_t *bits = nodes(digits);
	size_t n = 0;

	vs_accounting_block(&t, bits);
	for (int i = 0; i < NODES; i++)
		if (bit_test(bits, i))
			left[n++] = (char)('0' + i);
	left[n] = '\0';
	FREE_NULL_BITMAP(bits);
	return left;
}

/* A limit of license/vf that such a job passed would be none. */
static void alternatives_get_no_node_that_counts(void **state)
{
	(void)state;
	assert_string_equal(barred("01234567"), "01234567");
	job.licenses = xstrdup("other:1,vf:1");
	assert_string_equal(barred("01234567"), "01234567");
	xfree(job.licenses);
	job.licenses = xstrdup("other:1|vf:1");
	assert_string_equal(barred("01234567"), "7");
	xfree(slurm_conf.licenses);
	slurm_conf.licenses = xstrdup("pair:4,other:3");
	w.epoch++;
	assert_string_equal(barred("01234567"), "012367");
	xfree(slurm_conf.licenses);
	slurm_conf.licenses = xstrdup("other:3");
	w.epoch++;
	assert_string_equal(barred("01234567"), "01234567");
}

static void alternatives_are_left_as_they_are(void **state)
{
	(void)state;
	job.licenses = xstrdup("other:1|vf:1");
	begin("0");
	assert_string_equal(job.licenses, "other:1|vf:1");
	assert_null(job.license_list);
}

static void a_node_that_is_lost_is_given_back(void **state)
{
	(void)state;
	has_its_own("other:1");
	begin("0145");
	loses(4);
	assert_string_equal(w.returned, "vf:6,pair:4");
	assert_string_equal(w.taken, "vf:4,pair:2");
	assert_string_equal(job.licenses, "other:1,vf:4,pair:2");
	assert_int_equal(w.changed, 1);
	loses(5);
	assert_string_equal(words(job.license_list), "other:1,vf:2");
	loses(0);
	w.taken[0] = '\0';
	loses(1);				/* the last */
	assert_string_equal(w.returned, "vf:1");
	assert_string_equal(w.taken, "");
	assert_string_equal(job.licenses, "other:1");
}

/* Its owner did that: what it has counts again, and is not given back twice. */
static void licenses_that_were_taken_off_it_come_back(void **state)
{
	(void)state;
	begin("01");
	FREE_NULL_LIST(job.license_list);
	xfree(job.licenses);
	loses(1);
	assert_string_equal(w.returned, "");
	assert_string_equal(w.taken, "vf:1");
	assert_string_equal(job.licenses, "vf:1");
}

static void the_sites_names_alone_are_counted(void **state)
{
	(void)state;
	xfree(slurm_conf.licenses);
	slurm_conf.licenses = xstrdup("vfs:3,pair@dbd:2,my-vf:1,sriov-roce=2");
	w.epoch++;
	assert_string_equal(asks("04", 0), "sriov-roce:1");
	xfree(slurm_conf.licenses);
	w.epoch++;
	assert_string_equal(asks("04", 0), "");
	begin("04");
	assert_null(job.licenses);
}

static void another_configuration_counts_anew(void **state)
{
	(void)state;
	assert_string_equal(asks("0", 0), "vf:1,pair:0,vmxnet3:0");
	w.roce_vfs = 3;
	assert_string_equal(asks("0", 0), "vf:1,pair:0,vmxnet3:0");
	w.epoch++;
	assert_string_equal(asks("0", 0), "vf:3,pair:0,vmxnet3:0");
	/* and so do other nodes */
	node_record_count = 4;
	assert_string_equal(asks("0", 0), "vf:3,pair:0,vmxnet3:0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ACCOUNT(each_vf_is_asked_for_node_by_node),
		ACCOUNT(a_test_asks_for_no_more_than_it_takes_at_least),
		ACCOUNT(what_only_asks_whether_it_could_ever_run_asks_for_none),
		ACCOUNT(it_has_them_while_it_has_its_nodes),
		ACCOUNT(a_job_that_begins_again_counts_once),
		ACCOUNT(its_own_licenses_stay),
		ACCOUNT(ours_that_it_asked_for_are_replaced),
		ACCOUNT(alternatives_get_no_node_that_counts),
		ACCOUNT(alternatives_are_left_as_they_are),
		ACCOUNT(a_node_that_is_lost_is_given_back),
		ACCOUNT(licenses_that_were_taken_off_it_come_back),
		ACCOUNT(the_sites_names_alone_are_counted),
		ACCOUNT(another_configuration_counts_anew),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
