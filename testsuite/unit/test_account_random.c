/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * licenses and license_list of job records, by random sequences of what happens to
 * jobs and of what users ask for: the text is Slurm's memory and says what the
 * list has, the user's own licenses stay, and no entry of slurm-vsphere is left
 * at the end. See test_written.c, which lists what is written. VS_SEED=N repeats
 * a run.
 */
#include <time.h>
#include "account_stage.h"
#include "plugins/license_text.h"

static unsigned int seed;

static uint32_t any(uint32_t n)
{
	return (uint32_t)rand_r(&seed) % n;
}

static char *digits(void)
{
	static char text[NODES + 1];
	size_t n = 0;

	for (char c = '0'; c < '0' + NODES; c++)
		if (any(2))
			text[n++] = c;
	text[n] = '\0';
	return text;
}

/* As a submission leaves them; vf and pair may be asked for, and are replaced. */
static char *own(uint32_t *other)
{
	*other = any(3);
	return vs_asprintf("%s%s%s%s", *other == 1 ? "other:1" :
			   *other ? "other:2" : "", *other ? "," : "",
			   any(2) ? "third:4" : "third:5",
			   any(3) ? "" : ",vf:9,pair:1");
}

struct counted { const char *name; uint32_t n; };

static int count(void *x, void *arg)
{
	licenses_t *one = x;
	struct counted *c = arg;

	c->n += xstrcmp(one->name, c->name) ? 0 : one->total;
	return 0;
}

static uint32_t total(vs_list_t list, const char *name)
{
	struct counted c = { .name = name };

	if (list)
		list_for_each(list, count, &c);
	return c.n;
}

/* The same, by the text: Slurm saves it and reads it after a restart. */
static uint32_t total_of_text(const char *text, const char *name)
{
	uint32_t n = 0;

	for (const char *at = text; at && *at; at += !!*at) {
		if (vs_license_named(at, name))
			n += (uint32_t)strtoul(at + strlen(name) + 1, NULL,
					       10);
		at += strcspn(at, ",;");
	}
	return n;
}

static void is_right(const char *nodes_of_job, uint32_t other)
{
	static const char *const names[] = { "vf", "pair", "vmxnet3", "other",
					     "third" };
	uint32_t vf = 0;
	buf_t *buffer = init_buf(64);
	char *back = NULL;
	uint32_t n;

	assert_true(!job.licenses || xsize(job.licenses) >
		    strlen(job.licenses));
	packstr(job.licenses, buffer);
	set_buf_offset(buffer, 0);
	assert_int_equal(unpackstr_xmalloc(&back, &n, buffer), SLURM_SUCCESS);
	assert_int_equal(xstrcmp(back, job.licenses), 0);
	xfree(back);
	free_buf(buffer);
	for (size_t i = 0; i < VS_COUNT(names); i++)
		assert_int_equal(total(job.license_list, names[i]),
				 total_of_text(job.licenses, names[i]));
	assert_int_equal(total(job.license_list, "other"), other);
	assert_uint_in_range(total(job.license_list, "third"), 4, 5);
	for (const char *c = nodes_of_job; c && *c; c++)
		vf += *c < '4' ? 1 : *c < '6' ? 2 : 0;
	if (nodes_of_job)
		assert_int_equal(total(job.license_list, "vf"), vf);
}

static void lives(void)
{
	char at[NODES + 1];
	uint32_t other;
	VS_FREE char *text = own(&other);

	has_its_own(text);
	for (uint32_t runs = 1 + any(3); runs; runs--) {
		vs_strlcpy(at, digits(), sizeof(at));
		begin(at);
		is_right(at, other);
		while (at[0] && any(2)) {
			size_t lost = any((uint32_t)strlen(at));

			loses(at[lost] - '0');
			memmove(at + lost, at + lost + 1, strlen(at + lost));
			is_right(at, other);
		}
		vs_account_end(&job);
		is_right("", other);
		assert_false(vs_license_listed(job.licenses, "vf"));
	}
	xfree(job.licenses);
	FREE_NULL_LIST(job.license_list);
}

static void licenses_stay_right_whatever_comes(void **state)
{
	const char *given = getenv("VS_SEED");

	(void)state;
	seed = given ? (unsigned int)strtoul(given, NULL, 10) :
		(unsigned int)time(NULL);
	print_message("VS_SEED=%u\n", seed);
	for (int round = 0; round < 3000; round++)
		lives();
}

/* Slurm bounds the text of a submission, and not that of an update. 2 MB of it
 * took 3 s, 4 MB 17 s, while the time grew with the square of the length. */
static void a_long_text_costs_no_more_than_its_length(void **state)
{
	size_t bytes = 4u << 20;
	struct timespec from, to;

	(void)state;
	job.licenses = xmalloc(bytes + 8);
	for (size_t at = 0; at + 4 < bytes; at += 4)
		memcpy(job.licenses + at, at % 12 ? "x:0," : "vf;,", 4);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	begin("1");
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	assert_uint_in_range(to.tv_sec - from.tv_sec, 0, 2);
	assert_int_equal(strncmp(job.licenses, "x:0,x:0,", 8), 0);
	assert_int_equal(total_of_text(job.licenses, "vf"), 1);
	assert_int_equal(strlen(job.licenses) + 1, (bytes / 4 - 1) / 3 * 2 * 4 +
			 strlen("vf:1,"));
	xfree(job.licenses);
	FREE_NULL_LIST(job.license_list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ACCOUNT(licenses_stay_right_whatever_comes),
		ACCOUNT(a_long_text_costs_no_more_than_its_length),
	};

	/* the stage's, for other tests */
	(void)asks;
	(void)at_least;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
