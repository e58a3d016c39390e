/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What svf-probe's reports and recordings show of names and addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "probe.h"

static void end(struct probe *p)
{
	names_free(&p->names);
	names_free(&p->addresses);
	names_free(&p->values);
}

static void is_numbered(struct probe *p, const char *text, const char *want)
{
	char *got = scrub_numbered(p, text);

	assert_string_equal(got, want);
	free(got);
}

static void is_reported(struct probe *p, const char *text, const char *want)
{
	char *got = scrub(p, text);

	assert_string_equal(got, want);
	free(got);
}

static void a_name_goes_wherever_it_is_a_word(void **state)
{
	struct probe p = { 0 };

	(void)state;
	alias_add(&p, "esx01.example.org", "host");
	alias_add(&p, "esx02.example.org", "host");
	alias_add(&p, "web", "vm");
	is_reported(&p, "host esx01.example.org (esx01) of EXAMPLE.ORG",
		    "host host-1 (host-1) of domain-1");
	is_reported(&p, "esx02, esx021, esx09.example.org, webs, a_web, web.",
		    "host-2, esx021, esx09.domain-1, webs, a_web, vm-1.");
	end(&p);
}

/* They are in each moId and path. */
static void default_folders_are_no_names(void **state)
{
	struct probe p = { 0 };

	(void)state;
	alias_add(&p, "vm", "folder");
	alias_add(&p, "host", "folder");
	alias_add(&p, "x", "folder");
	is_reported(&p, "DC/vm/x of vm-12", "DC/vm/x of vm-12");
	end(&p);
}

static void addresses_are_told_from_what_looks_like_them(void **state)
{
	struct probe p = { 0 };

	(void)state;
	is_numbered(&p, "10.0.0.12 fe80::1 2001:db8:1:2:3:4:5:6",
		    "198.18.0.1 2001:db8::2 2001:db8::3");
	is_numbered(&p, "10.0.0.12, 10.0.0.13", "198.18.0.1, 198.18.0.4");
	/* releases, masks, a PCI address, a driver, a word with a colon */
	is_numbered(&p, "8.0.3.0 255.255.240.0 0.0.0.0 0000:3b:00.0 1.2.3 a:b",
		    "8.0.3.0 255.255.240.0 0.0.0.0 0000:3b:00.0 1.2.3 a:b");
	is_numbered(&p, "00:50:56:9A:bb:cc 00:50:56:9a:bb:cc",
		    "00:50:56:00:00:05 00:50:56:00:00:05");
	is_numbered(&p, "500c1d3e-0000-4000-8000-00aabbccddee.",
		    "00000000-0000-4000-8000-000000000006.");
	is_reported(&p, "10.0.0.12 00:50:56:9a:bb:cc", "ADDRESS MAC");
	end(&p);
}

static void a_path_has_no_names(void **state)
{
	struct probe p = { 0 };
	char *got;

	(void)state;
	alias_add(&p, "Task", "vm");
	got = scrub_path(&p, "/sdk/vim25/8.0.3.0/Task/task-7/info");
	assert_string_equal(got, "/sdk/vim25/8.0.3.0/Task/task-7/info");
	free(got);
	end(&p);
}

static void names_stay_where_that_is_asked(void **state)
{
	struct probe p = { .o.names = true };

	(void)state;
	alias_add(&p, "web", "vm");
	is_reported(&p, "web 10.0.0.12", "web 10.0.0.12");
	is_numbered(&p, "web 10.0.0.12", "web 10.0.0.12");
	end(&p);
}

static void a_value_has_one_word(void **state)
{
	struct probe p = { 0 };

	(void)state;
	assert_string_equal(value_alias(&p, "rack 5", "annotation"),
			    "annotation-1");
	assert_string_equal(value_alias(&p, "rack 6", "annotation"),
			    "annotation-2");
	assert_string_equal(value_alias(&p, "rack 5", "label"),
			    "annotation-1");
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_goes_wherever_it_is_a_word),
		cmocka_unit_test(default_folders_are_no_names),
		cmocka_unit_test(addresses_are_told_from_what_looks_like_them),
		cmocka_unit_test(a_path_has_no_names),
		cmocka_unit_test(names_stay_where_that_is_asked),
		cmocka_unit_test(a_value_has_one_word),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
