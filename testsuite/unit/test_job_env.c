/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arrays of a job's SPANK environment that slurm-vsphere writes, against
 * Slurm's own functions: whatever was in such an array, Slurm can read it
 * afterwards by its size, by its closing NULL, pack it and read it back. With
 * ASan a read behind the array ends the program.
 */
#include "plugins/slurm/compat.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "src/common/env.h"
#include "src/common/xstring.h"
#include "plugins/job_assignment.h"
#include "plugins/job_env.h"
#include "util/mem.h"

#define OURS VS_ASSIGNMENT_ENV "7=vm001=esx01/0000:3b:00.0"

static char **entries;
static uint32_t size;

/* As Slurm's unpackstr_array() makes it: "O" is slurm-vsphere's, "U" a user's,
 * "-" a string without a byte, which it turns into NULL. */
static void array_make(const char *kinds)
{
	size = (uint32_t)strlen(kinds);
	entries = size ? xcalloc(size + 1, sizeof(char *)) : NULL;
	for (uint32_t i = 0; i < size; i++)
		entries[i] = kinds[i] == 'O' ? xstrdup(OURS) :
			kinds[i] == 'U' ? xstrdup_printf("SPANK_U%u=1", i) :
			NULL;
}

static void array_free(void)
{
	for (uint32_t i = 0; i < size; i++)
		xfree(entries[i]);
	xfree(entries);
}

/* Slurm's readers, in turn; each entry is looked at to its last byte. */
static void slurm_reads(void)
{
	buf_t *buffer = init_buf(64);
	char **merged = env_array_create(), **again = NULL;
	uint32_t n = 0, bytes = 0;

	if (entries)
		env_array_merge(&merged, (const char **)entries);
	for (char **e = entries; e && *e; e++, n++)
		bytes += (uint32_t)strlen(*e);
	assert_int_equal(n, size);
	packstr_array(entries, size, buffer);
	set_buf_offset(buffer, 0);
	assert_int_equal(unpackstr_array(&again, &n, buffer), SLURM_SUCCESS);
	assert_int_equal(n, size);
	for (uint32_t i = 0; i < size; i++) {
		assert_string_equal(again[i], entries[i]);
		bytes -= (uint32_t)strlen(again[i]);
		xfree(again[i]);
	}
	assert_int_equal(bytes, 0);
	xfree(again);
	env_array_free(merged);
	free_buf(buffer);
}

/* What is expected is worked out from the kinds alone. */
static void replaces(const char *kinds, uint32_t nadd)
{
	char *add[] = { (char *)VS_ASSIGNMENT_ENV "0=a",
			(char *)VS_ASSIGNMENT_ENV "1=b",
			(char *)VS_ASSIGNMENT_ENV "2=c" };
	uint32_t users = 0, at = 0, dropped;

	for (const char *k = kinds; *k; k++)
		users += *k == 'U';
	array_make(kinds);
	dropped = vs_job_env_replace(&entries, &size, vs_assignment_env_managed,
				     add, nadd);
	assert_int_equal(dropped, strlen(kinds) - users);
	assert_int_equal(size, users + nadd);
	if (!size)
		assert_null(entries);
	else
		assert_null(entries[size]);
	for (uint32_t i = 0; kinds[i]; i++) {
		VS_FREE char *name = vs_asprintf("SPANK_U%u=1", i);

		if (kinds[i] == 'U')
			assert_string_equal(entries[at++], name);
	}
	for (uint32_t i = 0; i < nadd; i++)
		assert_string_equal(entries[users + i], add[i]);
	slurm_reads();
	array_free();
}

static void each_order_of_entries_stays_closed(void **state)
{
	static const char *const kinds[] = {
		"", "O", "U", "-", "UO", "OU", "OUOU", "OOUU", "UUOO", "-U",
		"U-", "-O", "OOOO", "----", "O-U-O-U",
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(kinds); i++)
		for (uint32_t n = 0; n <= 3; n += n ? 2 : 1)
			replaces(kinds[i], n);
}

/* The array that a submitter crashed slurmctld with. */
static void a_thousand_of_ours_before_two_thousand_others(void **state)
{
	char kinds[3001];

	(void)state;
	memset(kinds, 'O', 1000);
	memset(kinds + 1000, 'U', 2000);
	kinds[3000] = '\0';
	replaces(kinds, 1);
}

static void random_arrays_stay_closed(void **state)
{
	const char *seed = getenv("VS_SEED");
	unsigned int s = seed ? (unsigned int)strtoul(seed, NULL, 10) :
		(unsigned int)time(NULL);

	(void)state;
	print_message("VS_SEED=%u\n", s);
	for (int round = 0; round < 2000; round++) {
		char kinds[41];
		size_t n = (size_t)rand_r(&s) % 41;

		for (size_t i = 0; i < n; i++)
			kinds[i] = "OU-U"[rand_r(&s) % 4];
		kinds[n] = '\0';
		replaces(kinds, (uint32_t)rand_r(&s) % 4);
	}
}

static void entries_without_a_byte_belong_to_nobody(void **state)
{
	struct vs_assignment_place place;
	char *env[] = { NULL, (char *)OURS, NULL };

	(void)state;
	assert_false(vs_assignment_env_managed(NULL));
	assert_int_equal(vs_assignment_find(env, 3, "vm001", &place), 0);
	assert_string_equal(place.host, "esx01");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_order_of_entries_stays_closed),
		cmocka_unit_test(a_thousand_of_ours_before_two_thousand_others),
		cmocka_unit_test(random_arrays_stay_closed),
		cmocka_unit_test(entries_without_a_byte_belong_to_nobody),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
