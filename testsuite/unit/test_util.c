/* SPDX-License-Identifier: GPL-2.0-or-later */
/* util: error box, memory, log, clocks, buffers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "util/buf.h"
#include "util/err.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/secret_file.h"
#include "util/times.h"
#include "util/time.h"

/* ---- err ---------------------------------------------------------------- */
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

static void controls_of_all_kinds_become_blanks(void **state)
{
	char text[] = "a\033[31mb\xc2\x85""c\xc2\x9b""d\x7f\xc2\xa9 \xc3\x85\xc2";

	(void)state;
	/* a copyright sign and a letter of two bytes stay, and a cut one */
	assert_string_equal(vs_one_line(text),
			    "a [31mb  c  d \xc2\xa9 \xc3\x85\xc2");
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

/* ---- mem ---------------------------------------------------------------- */
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

/* ---- log ---------------------------------------------------------------- */
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

/* ---- time --------------------------------------------------------------- */
static void clocks_are_in_milliseconds(void **state)
{
	int64_t a = vs_now_ms(), w = vs_wall_ms();

	(void)state;
	assert_true(a > 0);
	assert_true(vs_now_ms() >= a);
	/* between 2020 and 2200 */
	assert_true(w > 1577836800000LL && w < 7258118400000LL);
}

/* ---- buf ---------------------------------------------------------------- */
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

/* ---- times -------------------------------------------------------------- */

static int by_us(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void quantiles_are_right_within_an_eighth(void **state)
{
	static struct vs_times t;
	static int64_t us[5000];
	uint32_t seed = 4711;
	static const int of[] = { 1, 500, 900, 990, 999, 1000 };

	(void)state;
	assert_int_equal(vs_times_quantile(&t, 990), 0);
	for (size_t i = 0; i < VS_COUNT(us); i++) {
		seed = seed * 1664525 + 1013904223;
		us[i] = (seed >> 8) >> (seed % 20);
		vs_times_add(&t, us[i]);
	}
	qsort(us, VS_COUNT(us), sizeof(us[0]), by_us);
	for (size_t i = 0; i < VS_COUNT(of); i++) {
		int64_t is = us[(VS_COUNT(us) * (size_t)of[i] + 999) / 1000 -
				1];
		int64_t said = vs_times_quantile(&t, of[i]);

		assert_true(said >= is && said <= is + is / 8);
	}
	assert_int_equal(vs_times_quantile(&t, 1000), us[VS_COUNT(us) - 1]);
}

static void times_of_any_size_have_a_slot(void **state)
{
	struct vs_times t = { 0 };

	(void)state;
	vs_times_add(&t, -5);
	assert_int_equal(vs_times_quantile(&t, 1000), 0);
	vs_times_add(&t, INT64_MAX);
	assert_int_equal(vs_times_quantile(&t, 1000), INT64_MAX);
}

/* ---- secret_file --------------------------------------------------------- */
static void a_secret_file_is_read_by_its_owner_alone(void **state)
{
	struct stat st = { .st_uid = 7 };
	struct vs_err err;
	char mode[32];

	(void)state;
	for (unsigned int m = 0; m <= 0777; m++) {
		bool alone = (m | 0600) == 0600;

		st.st_mode = S_IFREG | m;
		assert_int_equal(vs_secret_file_check(&st, 7, &err), -!alone);
		if (alone)
			continue;
		snprintf(mode, sizeof(mode), "has mode %04o: expected", m);
		assert_non_null(strstr(err.text, mode));
		assert_int_equal(err.code, VS_E_CONFIG);
	}
	st.st_mode = S_IFREG | 0600;
	assert_int_equal(vs_secret_file_check(&st, 8, &err), -1);
	assert_non_null(strstr(err.text, "belongs to uid 7: it must belong to "
			       "uid 8"));
	st.st_mode = S_IFIFO | 0600;
	assert_int_equal(vs_secret_file_check(&st, 7, &err), -1);
	assert_non_null(strstr(err.text, "regular file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			err_set_fills_code_and_text_and_returns_minus_one),
		cmocka_unit_test(quantiles_are_right_within_an_eighth),
		cmocka_unit_test(times_of_any_size_have_a_slot),
		cmocka_unit_test(err_prefix_keeps_code_and_fault),
		cmocka_unit_test(err_may_be_null),
		cmocka_unit_test(err_text_may_quote_itself),
		cmocka_unit_test(controls_of_all_kinds_become_blanks),
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
		cmocka_unit_test(a_secret_file_is_read_by_its_owner_alone),
		cmocka_unit_test(a_buffer_never_passes_its_maximum),
		cmocka_unit_test(
			a_buffer_is_terminated_even_if_nothing_was_added),
		cmocka_unit_test(a_buffer_grows_up_to_its_maximum),
		cmocka_unit_test(a_length_that_would_wrap_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("util", tests, NULL, NULL);
}
