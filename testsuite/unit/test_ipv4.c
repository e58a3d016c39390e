/* SPDX-License-Identifier: GPL-2.0-or-later */
/* util: addresses of nodes out of pools. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "util/mem.h"
#include "util/ipv4.h"

static struct vs_ipv4_pool pool(const char *text)
{
	struct vs_ipv4_pool p;
	struct vs_err err = { 0 };

	if (vs_ipv4_pool_nth(text, 0, &p, &err))
		fail_msg("%s", err.text);
	return p;
}

static void a_nodes_address_is_the_number_of_its_name(void **state)
{
	static const struct { const char *pool, *node, *want; } good[] = {
		{ "10.1.0.0/16", "vm012", "10.1.0.12/16" },
		{ "10.1.0.0/16", "vm300", "10.1.1.44/16" },
		{ "192.168.7.0/24", "n254", "192.168.7.254/24" },
		{ "192.168.7.128/25", "rack2-7", "192.168.7.135/25" },
		{ "10.1.0.10-10.1.0.250/16", "vm001", "10.1.0.10/16" },
		{ "10.1.0.10-10.1.0.250/16", "vm241", "10.1.0.250/16" },
		{ "10.1.0.10-10.1.0.250/16@101", "vm101", "10.1.0.10/16" },
		{ "10.1.0.0/24@1001", "vm1254", "10.1.0.254/24" },
		{ "10.1.0.0/24@0", "vm0", "10.1.0.1/24" },
		{ "dhcp", "login", "dhcp" },
	};
	static const struct { const char *pool, *node; } bad[] = {
		{ "192.168.7.0/24", "n255" },	/* broadcast */
		{ "192.168.7.0/24", "n0" },
		{ "192.168.7.0/24", "n256" },
		{ "10.0.0.0/8", "n99999999999" },
		{ "10.1.0.0/16", "login" },
		{ "10.1.0.10-10.1.0.250/16", "vm242" },
		{ "10.1.0.10-10.1.0.250/16@101", "vm100" },
		{ "10.1.0.10-10.1.0.250/16@101", "vm342" },
	};
	char out[VS_IPV4_LEN];

	(void)state;
	for (size_t i = 0; i < VS_COUNT(good); i++) {
		struct vs_ipv4_pool p = pool(good[i].pool);

		assert_int_equal(vs_ipv4_pool_address(&p, good[i].node, out, NULL), 0);
		assert_string_equal(out, good[i].want);
	}
	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		struct vs_ipv4_pool p = pool(bad[i].pool);
		struct vs_err err = { 0 };

		assert_int_equal(vs_ipv4_pool_address(&p, bad[i].node, out, &err), -1);
		assert_non_null(strstr(err.text, "expected a name that ends "));
	}
}

static void what_is_no_pool_is_refused(void **state)
{
	static const char *const bad[] = {
		"", "10.1.0.1/16", "10.1.0.0", "10.1.0.0/31", "10.1.0.0/7",
		"10.1.0.0/16x", "10.1.0.0/ 16", "10.1.0.0/+16", "10.1/16",
		"/16", "fd00::/64", "10.1.0.0/16@", "10.1.0.0/16@-1",
		"10.1.0.0/16@1@2", "10.1.0.10-10.1.0.9/16",
		"10.1.0.10-10.2.0.9/16", "10.1.0.0-10.1.0.9/24",
		"10.1.0.9-10.1.0.255/24", "10.1.0.1-/24", "-10.1.0.1/24",
		"10.1.0.1-10.1.0.9", "DHCP", "dhcp/16", "10.1.0.0/16 ",
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		struct vs_err err = { 0 };
		struct vs_ipv4_pool p;

		assert_int_equal(vs_ipv4_pool_nth(bad[i], 0, &p, &err), -1);
		assert_non_null(strstr(err.text, "expected"));
	}
}

static void each_of_a_list_is_its_own(void **state)
{
	static const char list[] = "10.1.0.0/16,10.2.0.5-10.2.0.9/24,dhcp";
	struct vs_ipv4_pool p;

	(void)state;
	assert_int_equal(vs_ipv4_pool_count(list), 3);
	assert_int_equal(vs_ipv4_pool_nth(list, 1, &p, NULL), 0);
	assert_int_equal(p.first, 0x0a020005);
	assert_int_equal(p.last, 0x0a020009);
	assert_int_equal(p.net, 0x0a020000);
	assert_int_equal(vs_ipv4_pool_nth(list, 2, &p, NULL), 0);
	assert_true(p.dhcp);
	assert_int_equal(vs_ipv4_pool_nth(list, 3, &p, NULL), -1);
}

static void pools_and_subnets_that_meet_are_known(void **state)
{
	struct vs_ipv4_pool whole = pool("10.1.0.0/16"), low, high, other, dhcp;

	(void)state;
	low = pool("10.1.0.10-10.1.0.20/16");
	high = pool("10.1.0.21-10.1.0.30/16");
	other = pool("10.2.0.0/16");
	dhcp = pool("dhcp");
	assert_true(vs_ipv4_pool_meets(&whole, &low));
	assert_true(vs_ipv4_pool_meets(&low, &whole));
	assert_false(vs_ipv4_pool_meets(&low, &high));
	assert_true(vs_ipv4_pool_net_meets(&low, &high));
	high = pool("10.1.0.20-10.1.0.30/24");
	assert_true(vs_ipv4_pool_meets(&low, &high));
	assert_true(vs_ipv4_pool_net_meets(&whole, &high));
	assert_false(vs_ipv4_pool_net_meets(&whole, &other));
	assert_false(vs_ipv4_pool_meets(&whole, &dhcp));
	assert_false(vs_ipv4_pool_net_meets(&dhcp, &whole));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_nodes_address_is_the_number_of_its_name),
		cmocka_unit_test(what_is_no_pool_is_refused),
		cmocka_unit_test(each_of_a_list_is_its_own),
		cmocka_unit_test(pools_and_subnets_that_meet_are_known),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
