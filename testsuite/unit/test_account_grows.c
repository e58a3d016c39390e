/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Licenses of a job that grows by another one's nodes: VFs count once, and what
 * users asked for themselves goes over as Slurm would have it.
 */
#include "account_stage.h"

/* The other's licenses as its submission leaves them, on these nodes. */
static void other_has(const char *text, const char *digits)
{
	other.job_id = 8;
	other.licenses = xstrdup(text);
	other.license_list = vs_licenses_read(text);
	other.node_bitmap = nodes(digits);
	vs_account_begin(&other);
}

/* As cons_tres leaves them. */
static void others_nodes_move(void)
{
	bit_or(job.node_bitmap, other.node_bitmap);
	bit_clear_all(other.node_bitmap);
	vs_account_moved(&other, &job);
}

static int is_called(void *x, void *key)
{
	return !strcmp(((licenses_t *)x)->name, key);
}

static licenses_t *find(vs_list_t list, char *name)
{
	return list_find_first(list, is_called, name);
}

/* And Slurm, which merges what both have next, finds nothing to merge: 26.05
 * would never give back what it reads from text. */
static void a_job_that_grows_by_anothers_nodes_counts_each_once(void **state)
{
	(void)state;
	begin("014");
	other_has("other:1", "15");		/* node 1 is shared */
	assert_string_equal(other.licenses, "other:1,vf:3,pair:2");
	others_nodes_move();
	assert_string_equal(w.returned, "vf:4,pair:2 vf:3,pair:2");
	assert_string_equal(w.taken, "vf:6,pair:4");
	assert_string_equal(job.licenses, "other:1,vf:6,pair:4");
	assert_string_equal(words(job.license_list), "other:1,vf:6,pair:4");
	assert_null(other.licenses);
	assert_null(other.license_list);
	assert_int_equal(w.changed, 1);
}

/* The very records move, and their numbers are added. */
static void a_job_that_grows_takes_over_the_others_own(void **state)
{
	licenses_t *matlab;

	(void)state;
	has_its_own("other:2");
	begin("0");
	other_has("other:1,matlab:1", "1");
	matlab = find(other.license_list, "matlab");
	find(job.license_list, "other")->used = 2;
	find(other.license_list, "other")->used = 1;
	others_nodes_move();
	assert_string_equal(job.licenses, "other:3,matlab:1,vf:2");
	assert_string_equal(words(job.license_list), "other:3,matlab:1,vf:2");
	assert_int_equal(find(job.license_list, "other")->used, 3);
	assert_ptr_equal(find(job.license_list, "matlab"), matlab);
	assert_null(other.licenses);
	assert_null(other.license_list);
}

/* Slurm would join "a|b" and the VF licenses to a text that it can't read. */
static void beside_alternatives_none_of_ours_are_left(void **state)
{
	(void)state;
	begin("0");
	other.licenses = xstrdup("other:1|matlab:1");
	other.license_list = vs_licenses_read("other:1");
	other.node_bitmap = nodes("1");
	others_nodes_move();
	assert_null(job.licenses);
	assert_null(job.license_list);
	assert_string_equal(w.returned, "vf:1");
	assert_string_equal(w.taken, "");
	assert_string_equal(other.licenses, "other:1|matlab:1");
	assert_string_equal(words(other.license_list), "other:1");
}

static void alternatives_that_grow_get_none_of_ours(void **state)
{
	(void)state;
	job.licenses = xstrdup("vf:1|other:1");
	job.license_list = vs_licenses_read("vf:1");
	job.node_bitmap = nodes("0");
	other_has("matlab:1", "1");
	assert_string_equal(other.licenses, "matlab:1,vf:1");
	others_nodes_move();
	assert_string_equal(other.licenses, "matlab:1");
	assert_string_equal(words(other.license_list), "matlab:1");
	assert_string_equal(w.returned, "vf:1");
	assert_string_equal(job.licenses, "vf:1|other:1");	/* its choice */
	assert_string_equal(words(job.license_list), "vf:1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ACCOUNT(a_job_that_grows_by_anothers_nodes_counts_each_once),
		ACCOUNT(a_job_that_grows_takes_over_the_others_own),
		ACCOUNT(beside_alternatives_none_of_ours_are_left),
		ACCOUNT(alternatives_that_grow_get_none_of_ours),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
