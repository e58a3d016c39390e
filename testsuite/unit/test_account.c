/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is told to Slurm's accounting of a job: as many licenses as its nodes' VMs
 * take VFs, when they are asked for, had, lost and given back; the user's own
 * licenses are left alone. Lists are libslurmfull's, licenses are played by hand.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "select/cons_tres_vsphere/account.h"
#include "select/cons_tres_vsphere/cluster.h"
#include "util/mem.h"

/* 0-3 sriov-roce, a VF each; 4, 5 pair, two VFs each; 6 vmxnet3; 7 not ours */
#define NODES 8
static const struct vs_kind kinds[NODES] = {
	{ .adapter = 0, .cards = 1 }, { .adapter = 0, .cards = 1 },
	{ .adapter = 0, .cards = 1 }, { .adapter = 0, .cards = 1 },
	{ .adapter = 1, .cards = 2 }, { .adapter = 1, .cards = 2 },
	{ .adapter = 2 },
};
#define OURS 7

static struct {
	uint64_t epoch;
	int roce_cards;
	char asked[200], taken[200], returned[200];
	int changed;
} w;
static job_record_t job, other;
static uint64_t tres[4];
static struct vs_core_api api;

/* ---- the core -------------------------------------------------------------- */

static uint64_t epoch(void)
{
	return w.epoch;
}

static void kinds_of(const int *ids, size_t n, struct vs_kind *out,
		     char ***names)
{
	char **all = vs_calloc(4, sizeof(*all));

	for (size_t i = 0; i < n; i++) {
		out[i] = kinds[ids[i] - 100];
		if (!out[i].adapter)
			out[i].cards = w.roce_cards;
	}
	all[0] = vs_strdup("sriov-roce");
	all[1] = vs_strdup("pair");
	all[2] = vs_strdup("vmxnet3");
	*names = all;
}

const struct vs_core_api *vs_cluster_core(void)
{
	return &api;
}

size_t vs_cluster_ids(const bitstr_t *bitmap, int **ids, int **at)
{
	size_t n = 0;

	*ids = vs_calloc(NODES, sizeof(**ids));
	*at = vs_calloc(NODES, sizeof(**at));
	for (int i = 0; i < MIN(OURS, bit_size((bitstr_t *)bitmap)); i++) {
		if (!bit_test((bitstr_t *)bitmap, i))
			continue;
		(*ids)[n] = i + 100;
		(*at)[n++] = i;
	}
	return n;
}

/* ---- Slurm's licenses ------------------------------------------------------ */

void license_free_rec(void *x)
{
	licenses_t *one = x;

	if (one)
		xfree(one->name);
	xfree(one);
}

static int say(void *x, void *arg)
{
	licenses_t *one = x;
	char *out = arg;
	size_t len = strlen(out);

	snprintf(out + len, 200 - len, "%s%s:%u", len ? "," : "", one->name,
		 one->total);
	return 0;
}

static const char *words(vs_list_t list)
{
	static char out[200];

	out[0] = '\0';
	if (list)
		list_for_each(list, say, out);
	return out;
}

void license_set_job_tres_cnt(vs_list_t list, uint64_t *cnt, bool locked)
{
	assert_ptr_equal(cnt, tres);
	assert_false(locked);
	vs_strlcpy(w.asked, words(list), sizeof(w.asked));
}

vs_list_t vs_licenses_read(const char *text)
{
	vs_list_t list = list_create(license_free_rec);

	for (const char *at = text; *at; at += !!*at) {
		size_t len = strcspn(at, ",");
		const char *colon = memchr(at, ':', len);
		licenses_t *one = xmalloc(sizeof(*one));

		assert_non_null(colon);
		one->name = xstrndup(at, (size_t)(colon - at));
		one->total = (uint32_t)strtoul(colon + 1, NULL, 10);
		list_append(list, one);
		at += len;
	}
	return list;
}

void vs_licenses_take(job_record_t *job_ptr, vs_list_t list)
{
	assert_ptr_equal(job_ptr, &job);
	vs_strlcpy(w.taken, words(list), sizeof(w.taken));
}

void vs_licenses_return(job_record_t *job_ptr, vs_list_t list)
{
	size_t len = strlen(w.returned);

	assert_true(job_ptr == &job || job_ptr == &other);
	if (job_ptr == &job)
		len = 0;
	snprintf(w.returned + len, sizeof(w.returned) - len, "%s%s",
		 len ? " " : "", words(list));
}

void vs_licenses_changed(job_record_t *job_ptr)
{
	assert_true(job_ptr == &job || job_ptr == &other);
	if (job_ptr == &job)
		w.changed++;
}

bool vs_licenses_same(const licenses_t *a, const licenses_t *b)
{
	return !strcmp(a->name, b->name);
}

char *license_list_to_string(vs_list_t list)
{
	return list && list_count(list) ? xstrdup(words(list)) : NULL;
}

/* ---- the stage -------------------------------------------------------------- */

static bitstr_t *nodes(const char *digits)
{
	bitstr_t *bits = bit_alloc(NODES);

	for (; *digits; digits++)
		bit_set(bits, *digits - '0');
	return bits;
}

static int up(void **state)
{
	(void)state;
	w.epoch++;
	w.roce_cards = 1;
	w.changed = 0;
	w.asked[0] = w.taken[0] = w.returned[0] = '\0';
	api.epoch = epoch;
	api.kinds = kinds_of;
	node_record_count = NODES;
	slurm_conf.licenses = xstrdup("vf:8,pair:4,vmxnet3:9,other:3");
	memset(&job, 0, sizeof(job));
	memset(&other, 0, sizeof(other));
	job.job_id = 7;
	job.tres_req_cnt = tres;
	return 0;
}

static int down(void **state)
{
	(void)state;
	xfree(slurm_conf.licenses);
	xfree(job.licenses);
	FREE_NULL_LIST(job.license_list);
	FREE_NULL_BITMAP(job.node_bitmap);
	xfree(other.licenses);
	FREE_NULL_LIST(other.license_list);
	FREE_NULL_BITMAP(other.node_bitmap);
	return 0;
}

/* What its limits are judged by, if it gets these. */
static const char *asks(const char *digits, uint16_t mode)
{
	struct vs_test t = { .job_ptr = &job, .mode = mode };
	bitstr_t *bits = nodes(digits);

	w.asked[0] = '\0';
	vs_account_asks(&t, bits);
	FREE_NULL_BITMAP(bits);
	return w.asked;
}

static const char *at_least(uint32_t min, const char *digits)
{
	struct vs_test t = { .job_ptr = &job, .min = min };
	bitstr_t *bits = nodes(digits);

	w.asked[0] = '\0';
	vs_account_least(&t, bits);
	FREE_NULL_BITMAP(bits);
	return w.asked;
}

static void begin(const char *digits)
{
	FREE_NULL_BITMAP(job.node_bitmap);
	job.node_bitmap = nodes(digits);
	vs_account_begin(&job);
}

static void loses(int i)
{
	node_record_t lost = { .index = i };

	vs_account_resized(&job, &lost);
	bit_clear(job.node_bitmap, i);
}

/* "other:2", as its submission leaves it. */
static void has_its_own(const char *text)
{
	job.licenses = xstrdup(text);
	job.license_list = vs_licenses_read(text);
}

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
	/* it may get none, of a node that is nobody's VM */
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

/* No job has more of ours than its VMs, whatever was asked for. */
static void ours_that_it_asked_for_are_replaced(void **state)
{
	(void)state;
	has_its_own("vf:5,other:1");
	begin("0");
	assert_string_equal(job.licenses, "other:1,vf:1");
	assert_string_equal(words(job.license_list), "other:1,vf:1");
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

/* Slurm would join "a|b" and ours to what it can't read. */
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
	w.roce_cards = 3;
	assert_string_equal(asks("0", 0), "vf:1,pair:0,vmxnet3:0");
	w.epoch++;
	assert_string_equal(asks("0", 0), "vf:3,pair:0,vmxnet3:0");
	/* and so do other nodes */
	node_record_count = 4;
	assert_string_equal(asks("0", 0), "vf:3,pair:0,vmxnet3:0");
}

#define ACCOUNT(name) cmocka_unit_test_setup_teardown(name, up, down)
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
		ACCOUNT(alternatives_are_left_as_they_are),
		ACCOUNT(a_node_that_is_lost_is_given_back),
		ACCOUNT(licenses_that_were_taken_off_it_come_back),
		ACCOUNT(a_job_that_grows_by_anothers_nodes_counts_each_once),
		ACCOUNT(a_job_that_grows_takes_over_the_others_own),
		ACCOUNT(beside_alternatives_none_of_ours_are_left),
		ACCOUNT(alternatives_that_grow_get_none_of_ours),
		ACCOUNT(the_sites_names_alone_are_counted),
		ACCOUNT(another_configuration_counts_anew),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
