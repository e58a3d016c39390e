/* SPDX-License-Identifier: GPL-2.0-or-later */
/* util: PCI and MAC addresses, uuids, hashes, the owner mark, node names. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/mem.h"
#include "util/name.h"

static void pci_addresses_come_out_in_lower_case(void **state)
{
	char out[VS_PCI_LEN];

	(void)state;
	assert_int_equal(vs_pci_parse("0000:3B:0a.7", out, NULL), 0);
	assert_string_equal(out, "0000:3b:0a.7");
	assert_int_equal(vs_pci_parse("ffff:FF:1f.0", out, NULL), 0);
	assert_string_equal(out, "ffff:ff:1f.0");
}

static void a_wrong_pci_address_is_refused_with_the_form_expected(void **state)
{
	static const char *const bad[] = {
		"", "0000:3b:00:1", "3b:00.1", "0000:3b:00.", "0000:3b:00.8",
		"0000:3b:20.0", "0000:3b:00.1 ", " 0000:3b:00.1", "000:3b:00.1",
		"00000:3b:00.1", "0000:3g:00.1", "0000-3b-00.1",
		"0000:3b:00.12",
	};
	char out[VS_PCI_LEN] = "untouched";
	struct vs_err err;

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bad); i++)
		assert_int_equal(vs_pci_parse(bad[i], out, NULL), -1);
	assert_int_equal(vs_pci_parse(NULL, out, NULL), -1);
	assert_string_equal(out, "untouched");
	assert_int_equal(vs_pci_parse("0000:3b:00:1", out, &err), -1);
	assert_int_equal(err.code, VS_E_CONFIG);
	assert_non_null(strstr(err.text, "0000:3b:00:1"));
	assert_non_null(strstr(err.text, "dddd:bb:ss.f"));
}

static void a_mac_is_stable_and_in_the_manual_range(void **state)
{
	char a[VS_MAC_LEN], b[VS_MAC_LEN];
	unsigned int x, y, z;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		char node[16];

		snprintf(node, sizeof(node), "vm%04d", i);
		vs_mac_make("c1", node, i % 3, i % 5, a);
		vs_mac_make("c1", node, i % 3, i % 5, b);
		assert_string_equal(a, b);
		assert_int_equal(strlen(a), 17);
		assert_int_equal(sscanf(a, "00:50:56:%2x:%2x:%2x", &x, &y, &z),
				 3);
		assert_true(x <= 0x3f);
	}
}

static void a_mac_depends_on_each_of_its_arguments(void **state)
{
	char a[VS_MAC_LEN], b[VS_MAC_LEN];

	(void)state;
	vs_mac_make("c1", "vm1", 0, 0, a);
	vs_mac_make("c2", "vm1", 0, 0, b);
	assert_string_not_equal(a, b);
	vs_mac_make("c1", "vm2", 0, 0, b);
	assert_string_not_equal(a, b);
	vs_mac_make("c1", "vm1", 1, 0, b);
	assert_string_not_equal(a, b);
	vs_mac_make("c1", "vm1", 0, 1, b);
	assert_string_not_equal(a, b);
	/* and on where one ends and the next begins */
	vs_mac_make("c1v", "m1", 0, 0, b);
	assert_string_not_equal(a, b);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void macs_of_many_nodes_collide_no_more_than_chance_has_it(void **state)
{
	enum { N = 4000 };
	static char mac[N][VS_MAC_LEN];
	int same = 0;

	(void)state;
	for (int i = 0; i < N; i++) {
		char node[16];

		snprintf(node, sizeof(node), "vm%d", i);
		vs_mac_make("5c7f", node, 1, 0, mac[i]);
	}
	qsort(mac, N, sizeof(mac[0]), by_text);
	for (int i = 1; i < N; i++)
		same += !strcmp(mac[i - 1], mac[i]);
	/* expected: N * N / 2 / 2^22, nearly 2 */
	assert_true(same < 10);
}

static void random_uuids_are_valid_version_4_and_differ(void **state)
{
	char a[VS_UUID_LEN], b[VS_UUID_LEN];

	(void)state;
	vs_uuid_random(a);
	vs_uuid_random(b);
	assert_true(vs_uuid_valid(a));
	assert_int_equal(a[14], '4');
	assert_non_null(strchr("89ab", a[19]));
	assert_string_not_equal(a, b);
}

static void uuids_are_checked_to_the_last_byte(void **state)
{
	(void)state;
	assert_true(vs_uuid_valid("50211e0a-0000-4000-8000-00000000000f"));
	assert_true(vs_uuid_valid("50211E0A-0000-4000-8000-00000000000F"));
	assert_false(vs_uuid_valid(NULL));
	assert_false(vs_uuid_valid(""));
	assert_false(vs_uuid_valid("50211e0a-0000-4000-8000-00000000000"));
	assert_false(vs_uuid_valid("50211e0a-0000-4000-8000-00000000000ff"));
	assert_false(vs_uuid_valid("50211e0a-0000-4000-8000-00000000000g"));
	assert_false(vs_uuid_valid("50211e0a00000-4000-8000-00000000000f"));
}

static void the_hash_is_64_bit_fnv_1a(void **state)
{
	(void)state;
	/* test vectors of the FNV authors (isthe.com/chongo/tech/comp/fnv) */
	assert_true(vs_hash(VS_HASH_START, "", 0) == 0xcbf29ce484222325ULL);
	assert_true(vs_hash(VS_HASH_START, "a", 1) == 0xaf63dc4c8601ec8cULL);
	assert_true(vs_hash(VS_HASH_START, "foobar", 6) ==
		    0x85944171f73967e8ULL);
	/* chained is the same as at once; the NUL parts strings */
	assert_true(vs_hash(vs_hash(VS_HASH_START, "foo", 3), "bar", 3) ==
		    vs_hash(VS_HASH_START, "foobar", 6));
	assert_true(vs_hash_str(VS_HASH_START, "a") ==
		    vs_hash(VS_HASH_START, "a", 2));
	assert_true(vs_hash_str(vs_hash_str(VS_HASH_START, "ab"), "c") !=
		    vs_hash_str(vs_hash_str(VS_HASH_START, "a"), "bc"));
}

#define UUID "50211e0a-0000-4000-8000-000000000001"

static void a_mark_comes_back_as_it_was_written(void **state)
{
	struct vs_owner_tag m = { "3c9d", "vm001", UUID }, back;
	char *s = vs_owner_tag_format(&m);

	(void)state;
	assert_string_equal(s, "3c9d/vm001/" UUID);
	assert_int_equal(vs_owner_tag_parse(s, &back), 0);
	assert_string_equal(back.cluster, m.cluster);
	assert_string_equal(back.node, m.node);
	assert_string_equal(back.uuid, m.uuid);
	free(s);
}

static void a_broken_mark_is_refused(void **state)
{
	static const char *const bad[] = {
		"", "/", "//", "c", "c/n", "c/n/", "c/n/x", "/n/" UUID,
		"c//" UUID, "c/n/" UUID "/", "c/n/" UUID "0", "c/n/m/" UUID,
		"c/-n/" UUID, "c d/n/" UUID, "c/n m/" UUID,
		"0123456789012345678901234567890123456/n/" UUID,
		"c/n0123456789012345678901234567890123456789012345678901234567"
		"89012/" UUID,
		"c/01234567890123456789012345678901234567890123456789012345678"
		"12345678901234567890123456789012345678901234567890/" UUID,
	};
	struct vs_owner_tag m = { .node = "untouched" };

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bad); i++)
		assert_int_equal(vs_owner_tag_parse(bad[i], &m), -1);
	assert_int_equal(vs_owner_tag_parse(NULL, &m), -1);
	assert_string_equal(m.node, "untouched");
	/* the longest that is allowed */
	assert_int_equal(vs_owner_tag_parse(
		UUID "/n01234567890123456789012345678901234567890123456789012"
		"345678901/" UUID, &m), 0);
	assert_int_equal(strlen(m.node), 63);
	assert_string_equal(m.cluster, UUID);
}

/* The first format has no prefix. */
static void a_mark_of_a_newer_format_is_known_and_not_read(void **state)
{
	static const struct { const char *mark; int version; } rows[] = {
		{ "3c9d/vm001/" UUID, 1 }, { NULL, 1 }, { "", 1 }, { "v", 1 },
		{ "v2", 1 }, { "v:x", 1 }, { "v2/vm001/" UUID, 1 },
		{ "v0:x", 1 }, { "v1:3c9d/vm001/" UUID, 1 },
		{ "v2:3c9d/vm001/" UUID, 2 }, { "v17:", 17 },
		{ "v99999999999999999999:x", 1 },
	};
	struct vs_owner_tag m;

	(void)state;
	for (size_t i = 0; i < VS_COUNT(rows); i++)
		assert_int_equal(vs_owner_tag_version(rows[i].mark),
				 rows[i].version);
	assert_int_equal(vs_owner_tag_parse("v2:3c9d/vm001/" UUID, &m), -1);
	assert_int_equal(vs_owner_tag_parse("v2/vm001/" UUID, &m), 0);
}

static void node_names_are_safe_in_requests_and_paths(void **state)
{
	char name[70];

	(void)state;
	assert_true(vs_node_name_valid("vm001"));
	assert_true(vs_node_name_valid("a.b_c-D9"));
	assert_false(vs_node_name_valid(NULL));
	assert_false(vs_node_name_valid(""));
	assert_false(vs_node_name_valid("-a"));
	assert_false(vs_node_name_valid(".a"));
	assert_false(vs_node_name_valid("a/b"));
	assert_false(vs_node_name_valid("a b"));
	assert_false(vs_node_name_valid("a%2f"));
	assert_false(vs_node_name_valid("n\xc3\xb6" "de"));
	memset(name, 'x', sizeof(name));
	name[63] = '\0';
	assert_true(vs_node_name_valid(name));
	name[63] = 'x';
	name[64] = '\0';
	assert_false(vs_node_name_valid(name));
}

static void names_of_a_list_are_without_their_blanks(void **state)
{
	const char *list = " vsan ,, local 1,\t,b ", *name;

	(void)state;
	assert_int_equal(vs_list_next(&list, &name), 4);
	assert_memory_equal(name, "vsan", 4);
	assert_int_equal(vs_list_next(&list, &name), 7);
	assert_memory_equal(name, "local 1", 7);
	assert_int_equal(vs_list_next(&list, &name), 1);
	assert_memory_equal(name, "b", 1);
	assert_int_equal(vs_list_next(&list, &name), 0);
	assert_int_equal(vs_list_next(&list, &name), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pci_addresses_come_out_in_lower_case),
		cmocka_unit_test(
			a_wrong_pci_address_is_refused_with_the_form_expected),
		cmocka_unit_test(a_mac_is_stable_and_in_the_manual_range),
		cmocka_unit_test(a_mac_depends_on_each_of_its_arguments),
		cmocka_unit_test(
			macs_of_many_nodes_collide_no_more_than_chance_has_it),
		cmocka_unit_test(random_uuids_are_valid_version_4_and_differ),
		cmocka_unit_test(uuids_are_checked_to_the_last_byte),
		cmocka_unit_test(the_hash_is_64_bit_fnv_1a),
		cmocka_unit_test(a_mark_comes_back_as_it_was_written),
		cmocka_unit_test(a_broken_mark_is_refused),
		cmocka_unit_test(a_mark_of_a_newer_format_is_known_and_not_read),
		cmocka_unit_test(node_names_are_safe_in_requests_and_paths),
		cmocka_unit_test(names_of_a_list_are_without_their_blanks),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("name", tests, NULL, NULL);
}
