/* SPDX-License-Identifier: GPL-2.0-or-later */
/* util: error box, memory, log, clocks, buffers, names. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "util/buf.h"
#include "util/err.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/time.h"

/* ---- err ------------------------------------------------------------------ */
static void err_set_fills_code_and_text_and_returns_minus_one(void **state)
{
	struct vs_err err = { .fault = "Old", .text = "old" };

	(void)state;
	assert_int_equal(vs_err_set(&err, VS_E_BUSY, "a %d b", 7), -1);
	assert_int_equal(err.code, VS_E_BUSY);
	assert_string_equal(err.text, "a 7 b");
	assert_string_equal(err.fault, "");
}

static void err_prefix_keeps_code_and_fault(void **state)
{
	struct vs_err err;

	(void)state;
	vs_err_set(&err, VS_E_RETRY, "refused");
	vs_strlcpy(err.fault, "HostConnectFault", sizeof(err.fault));
	assert_int_equal(vs_err_prefix(&err, "host %s", "esx01"), -1);
	assert_string_equal(err.text, "host esx01: refused");
	assert_string_equal(err.fault, "HostConnectFault");
	assert_int_equal(err.code, VS_E_RETRY);
}

static void err_may_be_null(void **state)
{
	(void)state;
	assert_int_equal(vs_err_set(NULL, VS_E_BUG, "x"), -1);
	assert_int_equal(vs_err_prefix(NULL, "x"), -1);
}

static void err_text_may_quote_itself(void **state)
{
	struct vs_err err;

	(void)state;
	vs_err_set(&err, VS_E_BUG, "inner");
	vs_err_set(&err, VS_E_BUG, "outer (%s)", err.text);
	assert_string_equal(err.text, "outer (inner)");
	vs_err_prefix(&err, "%s", err.text);
	assert_string_equal(err.text, "outer (inner): outer (inner)");
}

static void err_text_is_one_line(void **state)
{
	struct vs_err err;

	(void)state;
	vs_err_set(&err, VS_E_BUG, "a\nb\r\tc\x7f");
	assert_string_equal(err.text, "a b  c ");
	vs_err_prefix(&err, "x\ny");
	assert_string_equal(err.text, "x y: a b  c ");
}

static void err_text_too_long_is_cut_behind_its_prefix(void **state)
{
	struct vs_err err;
	char big[2000];

	(void)state;
	memset(big, 'z', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	vs_err_set(&err, VS_E_BUG, "%s", big);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	vs_err_prefix(&err, "where");
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_memory_equal(err.text, "where: zzz", 10);
	vs_err_prefix(&err, "%s", big);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void every_code_has_its_own_name(void **state)
{
	(void)state;
	for (int i = VS_OK; i <= VS_E_BUG; i++) {
		assert_non_null(vs_code_name(i));
		for (int j = VS_OK; j < i; j++)
			assert_string_not_equal(vs_code_name(i),
						vs_code_name(j));
	}
	assert_string_equal(vs_code_name(VS_E_OTHER_HOST), "other-host");
	assert_string_equal(vs_code_name(999), "?");
	assert_string_equal(vs_code_name(-1), "?");
}

/* ---- mem ------------------------------------------------------------------ */
static void memory_of_size_zero_is_still_memory(void **state)
{
	char *p = vs_calloc(0, 8);

	(void)state;
	assert_non_null(p);
	assert_int_equal(*p, 0);
	p = vs_realloc(p, 0, 8);
	assert_non_null(p);
	free(p);
	p = vs_calloc(8, 0);
	assert_non_null(p);
	free(p);
}

static void strings_are_copied_and_formatted(void **state)
{
	char *s = vs_strdup("abc"), *t = vs_asprintf("%s-%d", s, 5);

	(void)state;
	assert_string_equal(s, "abc");
	assert_string_equal(t, "abc-5");
	assert_null(vs_strdup(NULL));
	free(s);
	free(t);
}

static void str_replace_says_whether_it_changed(void **state)
{
	char *slot = NULL;

	(void)state;
	assert_int_equal(vs_str_replace(&slot, NULL), 0);
	assert_int_equal(vs_str_replace(&slot, "abc"), 1);
	assert_int_equal(vs_str_replace(&slot, "abc"), 0);
	assert_string_equal(slot, "abc");
	assert_int_equal(vs_str_replace(&slot, slot + 1), 1);
	assert_string_equal(slot, "bc");
	assert_int_equal(vs_str_replace(&slot, NULL), 1);
	assert_null(slot);
}

static void strlcpy_cuts_and_terminates(void **state)
{
	char dst[4] = "xxx";

	(void)state;
	assert_ptr_equal(vs_strlcpy(dst, "abcdef", sizeof(dst)), dst);
	assert_string_equal(dst, "abc");
	vs_strlcpy(dst, "de", sizeof(dst));
	assert_string_equal(dst, "de");
	vs_strlcpy(dst, "zz", 0);
	assert_string_equal(dst, "de");
	vs_strlcpy(dst, dst + 1, sizeof(dst));
	assert_string_equal(dst, "e");
	vs_strlcpy(dst, NULL, sizeof(dst));
	assert_string_equal(dst, "");
}

static void grow_keeps_what_was_there(void **state)
{
	int *a = NULL;
	size_t cap = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		VS_GROW(a, cap, i + 1);
		assert_true(cap > (size_t)i);
		a[i] = i;
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(a[i], i);
	VS_GROW(a, cap, 5000);
	assert_true(cap >= 5000);
	free(a);
}

static void cleanup_attributes_close_and_free(void **state)
{
	int fds[2], copy;
	FILE *f;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	copy = fds[0];
	f = fdopen(fds[1], "w");
	assert_non_null(f);
	{
		VS_CLOSE int a = fds[0];
		VS_CLOSE int none = -1;
		VS_FCLOSE FILE *b = f;
		VS_FCLOSE FILE *nil = NULL;
		VS_FREE char *c = vs_strdup("leak check");

		(void)a, (void)none, (void)b, (void)nil, (void)c;
	}
	assert_int_equal(fcntl(copy, F_GETFD), -1);
	assert_int_equal(fcntl(fds[1], F_GETFD), -1);
}

/* ---- log ------------------------------------------------------------------ */
static char logged[4096];
static enum vs_log_level logged_level;

static void keep_line(enum vs_log_level level, const char *line)
{
	logged_level = level;
	vs_strlcpy(logged, line, sizeof(logged));
}

static void a_log_line_cannot_start_another_one(void **state)
{
	(void)state;
	vs_log_to(keep_line);
	vs_error("VM %s: gone", "a\nerror: b");
	assert_int_equal(logged_level, VS_LOG_ERROR);
	assert_string_equal(logged, "VM a error: b: gone");
	vs_info("x");
	assert_int_equal(logged_level, VS_LOG_INFO);
	vs_debug("y=%d", 3);
	assert_int_equal(logged_level, VS_LOG_DEBUG);
	assert_string_equal(logged, "y=3");
	vs_log_to(NULL);
}

static void a_log_line_has_a_maximum(void **state)
{
	char big[4000];

	(void)state;
	memset(big, 'z', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	vs_log_to(keep_line);
	vs_info("%s", big);
	assert_int_equal(strlen(logged), 2047);
	assert_string_equal(logged + 2040, "zzzz...");
	vs_log_to(NULL);
}

static void without_a_sink_lines_go_to_stderr(void **state)
{
	char got[200] = "";
	int fds[2], saved = dup(STDERR_FILENO);
	ssize_t n;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	dup2(fds[1], STDERR_FILENO);
	vs_error("one");
	vs_info("two");
	vs_debug("three");
	dup2(saved, STDERR_FILENO);
	n = read(fds[0], got, sizeof(got) - 1);
	close(saved);
	close(fds[0]);
	close(fds[1]);
	assert_true(n > 0);
	assert_string_equal(got, "error: one\ntwo\ndebug: three\n");
}

/* ---- time ----------------------------------------------------------------- */
static void clocks_are_in_milliseconds(void **state)
{
	int64_t a = vs_now_ms(), w = vs_wall_ms();

	(void)state;
	assert_true(a > 0);
	assert_true(vs_now_ms() >= a);
	/* between 2020 and 2200 */
	assert_true(w > 1577836800000LL && w < 7258118400000LL);
}

/* ---- buf ------------------------------------------------------------------ */
static void a_buffer_never_passes_its_maximum(void **state)
{
	struct vs_buf b = VS_BUF_INIT(10);

	(void)state;
	assert_int_equal(vs_buf_add(&b, "12345", 5), 0);
	assert_int_equal(vs_buf_add(&b, "678901", 6), -1);
	assert_string_equal(b.data, "12345");
	assert_int_equal(vs_buf_printf(&b, "%06d", 1), -1);
	assert_int_equal(b.len, 5);
	assert_int_equal(vs_buf_printf(&b, "%05d", 42), 0);
	assert_string_equal(b.data, "1234500042");
	assert_int_equal(vs_buf_add(&b, "", 0), 0);
	assert_int_equal(vs_buf_add(&b, "x", 1), -1);
	vs_buf_free(&b);
	assert_null(b.data);
}

static void a_buffer_is_terminated_even_if_nothing_was_added(void **state)
{
	struct vs_buf b = VS_BUF_INIT(10);

	(void)state;
	vs_buf_reset(&b);
	assert_int_equal(vs_buf_add(&b, NULL, 0), 0);
	assert_string_equal(b.data, "");
	vs_buf_add(&b, "abc", 3);
	vs_buf_reset(&b);
	assert_string_equal(b.data, "");
	assert_int_equal(b.len, 0);
	vs_buf_free(&b);
}

static void a_buffer_grows_up_to_its_maximum(void **state)
{
	struct vs_buf b = VS_BUF_INIT(100000);
	char piece[777];

	(void)state;
	memset(piece, 'p', sizeof(piece));
	while (!vs_buf_add(&b, piece, sizeof(piece)))
		;
	assert_int_equal(b.len, 100000 / 777 * 777);
	assert_int_equal(vs_buf_add(&b, piece, 100000 - b.len), 0);
	assert_int_equal(b.len, 100000);
	assert_int_equal(strlen(b.data), 100000);
	vs_buf_free(&b);
}

static void a_length_that_would_wrap_is_refused(void **state)
{
	struct vs_buf b = VS_BUF_INIT(10);

	(void)state;
	vs_buf_add(&b, "123", 3);
	assert_int_equal(vs_buf_add(&b, "x", SIZE_MAX), -1);
	assert_int_equal(vs_buf_add(&b, "x", SIZE_MAX - 2), -1);
	vs_buf_free(&b);
}

/* ---- name ----------------------------------------------------------------- */
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
		"00000:3b:00.1", "0000:3g:00.1", "0000-3b-00.1", "0000:3b:00.12",
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
		vs_mac_of("c1", node, i % 3, i % 5, a);
		vs_mac_of("c1", node, i % 3, i % 5, b);
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
	vs_mac_of("c1", "vm1", 0, 0, a);
	vs_mac_of("c2", "vm1", 0, 0, b);
	assert_string_not_equal(a, b);
	vs_mac_of("c1", "vm2", 0, 0, b);
	assert_string_not_equal(a, b);
	vs_mac_of("c1", "vm1", 1, 0, b);
	assert_string_not_equal(a, b);
	vs_mac_of("c1", "vm1", 0, 1, b);
	assert_string_not_equal(a, b);
	/* and on where one ends and the next begins */
	vs_mac_of("c1v", "m1", 0, 0, b);
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
		vs_mac_of("5c7f", node, 1, 0, mac[i]);
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
	struct vs_mark m = { "3c9d", "vm001", UUID }, back;
	char *s = vs_mark_format(&m);

	(void)state;
	assert_string_equal(s, "3c9d/vm001/" UUID);
	assert_int_equal(vs_mark_parse(s, &back), 0);
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
		"c/0123456789012345678901234567890123456789012345678901234567890"
		"12345678901234567890123456789012345678901234567890/" UUID,
	};
	struct vs_mark m = { .node = "untouched" };

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bad); i++)
		assert_int_equal(vs_mark_parse(bad[i], &m), -1);
	assert_int_equal(vs_mark_parse(NULL, &m), -1);
	assert_string_equal(m.node, "untouched");
	/* the longest that is allowed */
	assert_int_equal(vs_mark_parse(
		UUID "/n01234567890123456789012345678901234567890123456789012"
		"345678901/" UUID, &m), 0);
	assert_int_equal(strlen(m.node), 63);
	assert_string_equal(m.cluster, UUID);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			err_set_fills_code_and_text_and_returns_minus_one),
		cmocka_unit_test(err_prefix_keeps_code_and_fault),
		cmocka_unit_test(err_may_be_null),
		cmocka_unit_test(err_text_may_quote_itself),
		cmocka_unit_test(err_text_is_one_line),
		cmocka_unit_test(err_text_too_long_is_cut_behind_its_prefix),
		cmocka_unit_test(every_code_has_its_own_name),
		cmocka_unit_test(memory_of_size_zero_is_still_memory),
		cmocka_unit_test(strings_are_copied_and_formatted),
		cmocka_unit_test(str_replace_says_whether_it_changed),
		cmocka_unit_test(strlcpy_cuts_and_terminates),
		cmocka_unit_test(grow_keeps_what_was_there),
		cmocka_unit_test(cleanup_attributes_close_and_free),
		cmocka_unit_test(a_log_line_cannot_start_another_one),
		cmocka_unit_test(a_log_line_has_a_maximum),
		cmocka_unit_test(without_a_sink_lines_go_to_stderr),
		cmocka_unit_test(clocks_are_in_milliseconds),
		cmocka_unit_test(a_buffer_never_passes_its_maximum),
		cmocka_unit_test(
			a_buffer_is_terminated_even_if_nothing_was_added),
		cmocka_unit_test(a_buffer_grows_up_to_its_maximum),
		cmocka_unit_test(a_length_that_would_wrap_is_refused),
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
		cmocka_unit_test(node_names_are_safe_in_requests_and_paths),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("util", tests, NULL, NULL);
}
