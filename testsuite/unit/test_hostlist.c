/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Host lists, there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "util/hostlist.h"
#include "util/mem.h"

/* names: separated by blanks. */
static void is(const char *names, const char *want)
{
	VS_FREE char *copy = vs_strdup(names), *list = NULL;
	const char *words[16];
	char *save = NULL;
	size_t n = 0;

	for (char *w = strtok_r(copy, " ", &save); w;
	     w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	list = vs_hostlist_compress(words, n);
	assert_string_equal(list, want);
}

static void neighbours_are_a_range(void **state)
{
	(void)state;
	is("vm001 vm002 vm003", "vm[001-003]");
	is("vm003 vm001 vm002 vm007 vm009", "vm[001-003,007,009]");
	is("vm1", "vm1");
	is("", "");
}

static void kinds_are_apart_and_in_their_order(void **state)
{
	(void)state;
	is("b2 a1 b1 login a2", "b[1-2],a[1-2],login");
	is("a1 a01 a02", "a1,a[01-02]");
	is("n9 n10", "n9,n10");
}

static void a_domain_is_no_number(void **state)
{
	(void)state;
	is("esx1.dc2.org esx2.dc2.org esx3.dc3.org",
	   "esx[1-2].dc2.org,esx3.dc3.org");
	is("10.0.0.1 10.0.0.2", "10.0.0.1,10.0.0.2");
	is("r1n2-ib r1n3-ib", "r1n[2-3]-ib");
}

static void each_name_comes_once(void **state)
{
	(void)state;
	is("vm2 vm1 vm2 login login", "vm[1-2],login");
}

static void long_numbers_stay_what_they_are(void **state)
{
	(void)state;
	is("x12345678901 x12345678902", "x12[345678901-345678902]");
}

/* Is this list refused by a process that may have 200 MiB? */
static bool refused_with_little_memory(const char *list)
{
	struct rlimit most = { 200u << 20, 200u << 20 };
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
		setrlimit(RLIMIT_AS, &most);
#else
		(void)most;
#endif
		_exit(vs_hostlist_expand(list) ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static void names_and_their_bytes_have_a_maximum(void **state)
{
	char list[17000], *at = list;
	char **names;

	(void)state;
	memset(list, 'x', sizeof(list));
	vs_strlcpy(list + 16300, "[0-65535]", sizeof(list) - 16300);
	assert_true(refused_with_little_memory(list));
	vs_strlcpy(list + 250, "[00000-65535]", sizeof(list) - 250);	/* 255 bytes each: 16 MiB */
	assert_true(refused_with_little_memory(list));
	vs_strlcpy(list + 251, "[00000-00001]", sizeof(list) - 251);	/* 256 bytes */
	assert_null(vs_hostlist_expand(list + 0));
	vs_strlcpy(list + 250, "[00000-00001]", sizeof(list) - 250);
	names = vs_hostlist_expand(list);
	assert_non_null(names);
	assert_int_equal(strlen(names[1]), 255);
	vs_hostlist_free(names);
	memset(list, 'x', 254);
	vs_strlcpy(list + 254, "[9-10]", sizeof(list) - 254);	/* 255 and 256 bytes */
	assert_null(vs_hostlist_expand(list));
	memset(list, 'x', 256);
	list[256] = '\0';
	assert_null(vs_hostlist_expand(list));
	list[255] = '\0';
	names = vs_hostlist_expand(list);
	assert_non_null(names);
	vs_hostlist_free(names);
	/* many short ones are what Slurm writes */
	for (int i = 0; i < 3000; i++)
		at += snprintf(at, 8, "%sv%d", i ? "," : "", i % 10);
	names = vs_hostlist_expand(list);
	assert_non_null(names);
	vs_hostlist_free(names);
	assert_true(refused_with_little_memory("a[0-65536]"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_are_a_range),
		cmocka_unit_test(kinds_are_apart_and_in_their_order),
		cmocka_unit_test(a_domain_is_no_number),
		cmocka_unit_test(each_name_comes_once),
		cmocka_unit_test(long_numbers_stay_what_they_are),
		cmocka_unit_test(names_and_their_bytes_have_a_maximum),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
