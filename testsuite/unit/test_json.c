/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checked JSON door: paths in errors, boxes, builders' order and text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/json.h"

static struct vs_jdoc parse(const char *text)
{
	struct vs_jdoc doc;
	struct vs_err err = { 0 };

	if (vs_jdoc_parse(&doc, text, strlen(text), &err))
		fail_msg("%s: %s", text, err.text);
	return doc;
}

static void refused(const char *text, size_t len, const char *why)
{
	struct vs_jdoc doc;
	struct vs_err err = { 0 };

	if (!vs_jdoc_parse(&doc, text, len, &err))
		fail_msg("accepted: %.40s", text);
	if (!strstr(err.text, why))
		fail_msg("\"%s\" does not say \"%s\"", err.text, why);
	assert_null(doc.root);
	vs_jdoc_free(&doc);
}

static void nothing_and_null_are_one_success(void **state)
{
	static const char *const texts[] = { "", " \r\n", "null", " null\n" };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct vs_jdoc doc = parse(texts[i]);

		assert_null(doc.root);
		assert_true(vs_j_null(vs_j_root(&doc)));
		vs_jdoc_free(&doc);
	}
}

static void texts_of_all_languages_are_read_and_must_be_utf8(void **state)
{
	static const char bad[] = "{\"name\":\"Gr\xfc\xdf""e\"}";
	struct vs_jdoc doc = parse("{\"n\":\"Gr\xc3\xbc\xc3\x9f""e \xe8\xaa\x9e\","
				   "\"m\":\"\\u00e9\"}");

	(void)state;
	assert_string_equal(vs_j_str(vs_j_get(vs_j_root(&doc), "n")),
			    "Gr\xc3\xbc\xc3\x9f""e \xe8\xaa\x9e");
	assert_string_equal(vs_j_str(vs_j_get(vs_j_root(&doc), "m")),
			    "\xc3\xa9");
	vs_jdoc_free(&doc);
	refused(bad, sizeof(bad) - 1, "utf-8");
}

static void bare_values_are_read(void **state)
{
	struct vs_jdoc doc = parse("7");

	(void)state;
	assert_int_equal(vs_j_int(vs_j_root(&doc)), 7);
	vs_jdoc_free(&doc);
	doc = parse("true\n");
	assert_true(vs_j_bool(vs_j_root(&doc)));
	vs_jdoc_free(&doc);
	doc = parse("\"8.0.3.0\"");
	assert_string_equal(vs_j_str(vs_j_root(&doc)), "8.0.3.0");
	vs_jdoc_free(&doc);
	doc = parse("{\"_typeName\":\"string\",\"_value\":\"a\"}");
	assert_string_equal(vs_j_str(vs_j_root(&doc)), "a");
	vs_jdoc_free(&doc);
}

static void what_is_not_one_json_value_is_refused(void **state)
{
	char deep[400];

	(void)state;
	refused("{\"a\":1", 6, "JSON is incomplete");
	refused("tru", 3, "not JSON");
	refused("[1", 2, "JSON is incomplete");
	refused("{} {}", 5, "JSON");
	refused("<?xml version=\"1.0\"?>", 21, "not JSON");
	refused("[1,]", 4, "not JSON");
	refused("[1]\0x", 5, "NUL");
	refused("\"\xff\xfe\"", 4, "not JSON");
	memset(deep, '[', sizeof(deep));
	refused(deep, sizeof(deep), "not JSON");
}

static void an_error_says_the_path(void **state)
{
	struct vs_jdoc doc = parse("{\"hosts\":[{\"m\":1},{\"m\":\"x\"},{}]}");
	struct vs_j hosts = vs_j_get(vs_j_root(&doc), "hosts");
	struct vs_err err = { 0 };

	(void)state;
	assert_int_equal(vs_j_len(hosts), 3);
	assert_int_equal(vs_j_int(vs_j_get(vs_j_at(hosts, 0), "m")), 1);
	assert_false(vs_json_failed(&doc, &err));
	assert_int_equal(vs_j_int(vs_j_get(vs_j_at(hosts, 2), "m")), 0);
	assert_true(vs_json_failed(&doc, &err));
	assert_string_equal(err.text, "hosts[2].m: missing");
	/* The first failure stays. */
	assert_int_equal(vs_j_int(vs_j_get(vs_j_at(hosts, 1), "m")), 0);
	assert_true(vs_json_failed(&doc, &err));
	assert_string_equal(err.text, "hosts[2].m: missing");
	vs_jdoc_free(&doc);
}

struct surprise {
	const char *text;
	int kind;
	const char *error;
};

/* json-c: the length of a missing array aborts the process, slurmctld. */
static void a_surprising_type_is_an_error_and_never_an_abort(void **state)
{
	static const struct surprise t[] = {
		{ "{\"a\":{}}", 's', "a: expected a string" },
		{ "{\"a\":1.5}", 'i', "a: expected a whole number" },
		{ "{\"a\":\"1\"}", 'i', "a: expected a whole number" },
		{ "{\"a\":0}", 'b', "a: expected true or false" },
		{ "{\"a\":{}}", 'n', "a: expected an array" },
		{ "{}", '?', "a: missing" },
		{ "{\"a\":[]}", 'g', "a: expected an object" },
		{ "{\"a\":\"vm-1\"}", 'r', "a: expected an object" },
		{ "{\"a\":{\"value\":7}}", 'r', "a.value: expected a string" },
		{ "{\"a\":\"x\\u0000y\"}", 's', "a: a NUL inside a string" },
		{ "{\"a\":[1]}", '@', "a[1]: missing" },
		{ "{\"a\":null}", 's', "a: missing" },
		{ "{\"a\":null}", '?', "a: missing" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct vs_jdoc doc = parse(t[i].text);
		struct vs_j a = vs_j_opt(vs_j_root(&doc), "a");
		struct vs_err err = { 0 };

		switch (t[i].kind) {
		case 's': assert_string_equal(vs_j_str(a), ""); break;
		case 'i': assert_int_equal(vs_j_int_or(a, 9), 9); break;
		case 'b': assert_true(vs_j_bool_or(a, true)); break;
		case 'n': assert_int_equal(vs_j_len(a), 0); break;
		case 'g': assert_true(vs_j_null(vs_j_get(a, "x"))); break;
		case 'r': assert_string_equal(vs_j_ref(a, NULL), ""); break;
		case '@': assert_true(vs_j_null(vs_j_at(a, 1))); break;
		case '?':
			a = vs_j_get(vs_j_root(&doc), "a");
			assert_int_equal(vs_j_len(a), 0);
			break;
		}
		if (!vs_json_failed(&doc, &err) || strcmp(err.text, t[i].error))
			fail_msg("%s '%c': \"%s\"", t[i].text, t[i].kind,
				 err.text);
		vs_jdoc_free(&doc);
	}
}

static void optional_members_give_defaults_quietly(void **state)
{
	struct vs_jdoc doc = parse("{\"b\":null}");
	struct vs_j r = vs_j_root(&doc);
	const char *type = "unset";

	(void)state;
	assert_string_equal(vs_j_str_or(vs_j_opt(r, "a"), "d"), "d");
	assert_int_equal(vs_j_int_or(vs_j_opt(r, "b"), -1), -1);
	assert_true(vs_j_bool_or(vs_j_opt(r, "a"), true));
	assert_int_equal(vs_j_len(vs_j_opt(r, "a")), 0);
	assert_string_equal(vs_j_ref(vs_j_opt(r, "a"), &type), "");
	assert_string_equal(type, "");
	/* Required inside something optional that is not there. */
	assert_int_equal(vs_j_int_or(vs_j_get(vs_j_opt(r, "a"), "x"), 3), 3);
	assert_false(vs_json_failed(&doc, NULL));
	vs_jdoc_free(&doc);
}

static void boxes_are_looked_through(void **state)
{
	struct vs_jdoc doc = parse(
		"{\"n\":{\"_typeName\":\"long\",\"_value\":9007199254740995},"
		"\"l\":{\"_typeName\":\"ArrayOfString\",\"_value\":[\"a\","
		"{\"_typeName\":\"string\",\"_value\":\"b\"}]},"
		"\"r\":{\"_typeName\":\"ManagedObjectReference\","
		"\"type\":\"Task\",\"value\":\"task-7\"}}");
	struct vs_j r = vs_j_root(&doc);
	const char *type;

	(void)state;
	assert_true(vs_j_int(vs_j_get(r, "n")) == 9007199254740995LL);
	assert_int_equal(vs_j_len(vs_j_get(r, "l")), 2);
	assert_string_equal(vs_j_str(vs_j_at(vs_j_get(r, "l"), 1)), "b");
	assert_string_equal(vs_j_ref(vs_j_get(r, "r"), &type), "task-7");
	assert_string_equal(type, "Task");
	assert_string_equal(vs_j_type(vs_j_get(r, "r")),
			    "ManagedObjectReference");
	assert_false(vs_json_failed(&doc, NULL));
	vs_jdoc_free(&doc);
}

static void a_long_path_is_cut_and_not_overrun(void **state)
{
	struct vs_jdoc doc = parse("{}");
	struct vs_j j = vs_j_root(&doc);

	(void)state;
	for (int i = 0; i < 60; i++)
		j = vs_j_at(vs_j_opt(j, "member"), 12);
	assert_true(strlen(j.where) < sizeof(j.where));
	vs_jdoc_free(&doc);
}

static void builders_keep_order_and_leave_out_null(void **state)
{
	struct json_object *o = vs_jb_obj("OptionValue"), *a = vs_jb_arr();
	char *text;

	(void)state;
	vs_jb_str(o, "key", "a/b\"c");
	vs_jb_str(o, "absent", NULL);
	vs_jb_ref(o, "nothing", "Task", NULL);
	vs_jb_put(o, "value", vs_jb_boxed_str(""));
	vs_jb_int(o, "n", 1LL << 60);
	vs_jb_bool(o, "yes", true);
	vs_jb_add_str(a, "x");
	vs_jb_add(a, vs_jb_new_ref("Task", "task-1"));
	vs_jb_put(o, "list", a);
	text = vs_jb_text_free(o);
	assert_string_equal(text,
		"{\"_typeName\":\"OptionValue\",\"key\":\"a/b\\\"c\","
		"\"value\":{\"_typeName\":\"string\",\"_value\":\"\"},"
		"\"n\":1152921504606846976,\"yes\":true,\"list\":[\"x\","
		"{\"_typeName\":\"ManagedObjectReference\",\"type\":\"Task\","
		"\"value\":\"task-1\"}]}");
	free(text);
	vs_jb_free(vs_jb_obj(NULL));
	vs_jb_free(NULL);
}

static char *repeated(const char *piece, size_t bytes)
{
	size_t len = strlen(piece), at = 1;
	char *text = malloc(bytes + len + 3);

	assert_non_null(text);
	text[0] = '[';
	while (at + len < bytes) {
		memcpy(text + at, piece, len);
		at += len;
		text[at++] = ',';
	}
	text[at - 1] = ']';
	text[at] = '\0';
	return text;
}

/* In a child that may have 300 MiB: 0, it was refused with that word; 1, it was
 * read; anything else, it died. */
static int child_parses(const char *text)
{
	struct rlimit most = { 300u << 20, 300u << 20 };
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		struct vs_jdoc doc;
		struct vs_err err = { 0 };
		int rc;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
		setrlimit(RLIMIT_AS, &most);
#else
		(void)most;
#endif
		rc = vs_jdoc_parse(&doc, text, strlen(text), &err);
		_exit(!rc ? 1 : strstr(err.text, "MiB of memory") ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

static void a_text_that_swells_is_refused_before_it_is_read(void **state)
{
	static const char *const pieces[] = {
		"{}", "{\"a\":{}}", "[{}]", "[]", "{\"a\":{\"b\":{}}}", "7",
		"'\"',\"\xc3\xa9\",{},{},{},{}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		char *text = repeated(pieces[i], 4u << 20);

		if (child_parses(text))
			fail_msg("4 MB of %s: not refused", pieces[i]);
		free(text);
	}
}

/* It swells no more than others may, but is too long for that. */
static void no_text_takes_more_than_half_a_gibibyte(void **state)
{
	char *text = repeated("7   ", 24u << 20);

	(void)state;
	assert_int_equal(child_parses(text), 0);
	free(text);
}

/* As vCenter says what a VM has: 5 MB of it take some 65 MiB. */
static void a_long_honest_answer_is_read(void **state)
{
	static const char one[] = "{\"_typeName\":\"ObjectUpdate\","
		"\"kind\":\"enter\",\"obj\":{\"_typeName\":"
		"\"ManagedObjectReference\",\"type\":\"VirtualMachine\","
		"\"value\":\"vm-1047\"},\"changeSet\":[{\"_typeName\":"
		"\"PropertyChange\",\"name\":\"runtime.powerState\",\"op\":"
		"\"assign\",\"val\":\"poweredOn\"}]}";
	char *text = repeated(one, 5u << 20);

	(void)state;
	assert_int_equal(child_parses(text), 1);
	free(text);
}

/* "TYPE.KEY" of where it stands, an element's by the object around it. */
static char *place_of(void *arg, const struct vs_jpos *at, const char *s)
{
	size_t *n = arg;
	char *out = malloc(64);

	++*n;
	while (at && !at->key)
		at = at->up;
	if (!strcmp(s, "keep")) {
		free(out);
		return NULL;
	}
	snprintf(out, 64, "%s.%s", at ? vs_jpos_str(at, "t") : "",
		 at ? at->key : "");
	return out;
}

static void each_string_is_seen_with_its_place(void **state)
{
	struct vs_jdoc doc = parse("{\"t\":\"keep\",\"a\":\"1\",\"n\":7,"
		"\"l\":[\"2\",[\"3\"],{\"b\":\"4\"},null,true],"
		"\"o\":{\"t\":\"keep\",\"c\":\"\"}}");
	size_t n = 0;
	char *text;

	(void)state;
	vs_jb_each_str(doc.root, place_of, &n);
	text = vs_jb_text_free(doc.root);
	assert_int_equal(n, 7);
	assert_string_equal(text, "{\"t\":\"keep\",\"a\":\"keep.a\",\"n\":7,"
		"\"l\":[\"keep.l\",[\"keep.l\"],{\"b\":\".b\"},null,true],"
		"\"o\":{\"t\":\"keep\",\"c\":\"keep.c\"}}");
	free(text);
	doc = parse("\"alone\"");
	vs_jb_each_str(doc.root, place_of, &n);
	text = vs_jb_text_free(doc.root);
	assert_string_equal(text, "\".\"");
	free(text);
	vs_jb_each_str(NULL, place_of, &n);
	assert_int_equal(n, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_string_is_seen_with_its_place),
		cmocka_unit_test(nothing_and_null_are_one_success),
		cmocka_unit_test(texts_of_all_languages_are_read_and_must_be_utf8),
		cmocka_unit_test(bare_values_are_read),
		cmocka_unit_test(what_is_not_one_json_value_is_refused),
		cmocka_unit_test(an_error_says_the_path),
		cmocka_unit_test(
			a_surprising_type_is_an_error_and_never_an_abort),
		cmocka_unit_test(optional_members_give_defaults_quietly),
		cmocka_unit_test(boxes_are_looked_through),
		cmocka_unit_test(a_long_path_is_cut_and_not_overrun),
		cmocka_unit_test(builders_keep_order_and_leave_out_null),
		cmocka_unit_test(
			a_text_that_swells_is_refused_before_it_is_read),
		cmocka_unit_test(no_text_takes_more_than_half_a_gibibyte),
		cmocka_unit_test(a_long_honest_answer_is_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
