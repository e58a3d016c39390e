/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The picture of svf top and svf map: whose each VF is, a host's lines, and text
 * in SVG. Expected texts are written by hand from svf(1).
 */
#include "svf/map/map.h"
#include "top_stage.h"

static const char *cells_of(const struct top_model *m, size_t host, int pf)
{
	static char text[TOP_PF_CELLS + 1];
	const struct top_pf *p = &m->hosts[host].pfs[pf];

	for (int i = 0; i < p->ncells; i++)
		text[i] = top_cell_char(m, &p->cells[i]);
	text[p->ncells] = '\0';
	return text;
}

static const char one_host[] =
"{\"nodes\":{\"nodes\":["
" {\"node\":\"vm1\",\"vm_state\":\"ON\",\"node_state\":\"ALLOCATED\","
"  \"host\":\"e1\",\"pf\":\"" PF0 "\",\"job\":7},"
" {\"node\":\"vm2\",\"vm_state\":\"STARTING\",\"node_state\":\"POWERING_UP\","
"  \"host\":\"e1\",\"pf\":\"" PF0 "\",\"job\":7},"
" {\"node\":\"vm3\",\"vm_state\":\"ON\",\"node_state\":\"ALLOCATED\","
"  \"host\":\"e1\",\"pf\":\"" PF0 "\"},"
" {\"node\":\"vm4\",\"vm_state\":\"NONE\",\"node_state\":\"POWERING_UP\","
"  \"host\":\"e1\",\"pf\":\"" PF0 "\"},"
" {\"node\":\"vm5\",\"vm_state\":\"ON\",\"node_state\":\"IDLE\","
"  \"host\":\"e1\",\"pf\":\"" PF0 "," PF1 "\"}]},"
"\"hosts\":{\"hosts\":[{\"host\":\"e1\",\"state\":\"UP\",\"pfs\":["
" {\"pci\":\"" PF0 "\",\"nic\":\"vmnic4\",\"total\":10,\"managed\":3,\"reserved\":2,"
"  \"foreign\":1,\"unverified\":1,\"free\":3},"
" {\"pci\":\"" PF1 "\",\"total\":2,\"managed\":1,\"free\":1}]}]},"
"\"jobs\":{\"jobs\":[{\"job\":7,\"id\":\"7\",\"uid\":0,\"state\":\"RUNNING\","
" \"nodes\":[\"vm1\",\"vm2\"],\"vfs\":2,\"provisioning\":1,\"phase\":\"power-on\"}]},"
"\"status\":{\"up\":true,\"mode\":\"manage\"},\"site\":\"here\"}";

/* One host with one PF of 4: state, reasons ("" or a JSON list), more of it. */
static struct top_model *host_in(const char *state, const char *reasons,
				 const char *more)
{
	VS_FREE char *text = vs_asprintf(
"{\"hosts\":{\"hosts\":[{\"host\":\"e1\",\"state\":\"%s\",%s\"pfs\":["
" {\"pci\":\"" PF0 "\",\"total\":4%s},"
" {\"pci\":\"" PF1 "\",\"total\":2}]}]},\"status\":{\"up\":true}}",
		state, reasons, more);

	return model_of(text, NULL);
}

/* ---- whose a VF is ---------------------------------------------------------------- */

static void each_use_of_a_vf_has_its_sign(void **state)
{
	struct top_model *m = model_of(one_host, NULL);

	(void)state;
	assert_string_equal(cells_of(m, 0, 0), "Aa=*+#!...");
	assert_string_equal(cells_of(m, 0, 1), "=.");
	assert_int_equal(m->hosts[0].free, 4);
	assert_int_equal(m->uses[TOP_HIDDEN], 1);
	assert_int_equal(m->uses[TOP_IDLE], 2);
	for (int i = 0; i < TOP_USES; i++)
		for (int k = 0; k < i; k++)
			assert_int_not_equal(top_uses[i].ch, top_uses[k].ch);
	top_model_free(m);
}

static void what_nodes_do_not_tell_is_counted_without_a_name(void **state)
{
	struct top_model *m;

	(void)state;
	m = host_in("UP", "", ",\"managed\":2,\"reserved\":1,\"foreign\":1");
	assert_string_equal(cells_of(m, 0, 0), "**+#");
	top_model_free(m);
	m = host_in("UP", "", ",\"unknown\":true,\"managed\":1");
	assert_string_equal(cells_of(m, 0, 0), "*???");
	top_model_free(m);
	m = host_in("UP", "", ",\"managed\":5,\"free\":-1");
	assert_string_equal(cells_of(m, 0, 0), "*****");
	assert_int_equal(m->hosts[0].pfs[0].over, 1);
	top_model_free(m);
}

/* A VM went on between the two answers: its VF is one VF. */
static void a_vf_that_two_answers_tell_differently_is_shown_once(void **state)
{
	static const char text[] =
"{\"nodes\":{\"nodes\":[{\"node\":\"vm1\",\"vm_state\":\"%s\",\"host\":\"e1\","
" \"pf\":\"" PF0 "\",\"job\":7}]},\"hosts\":{\"hosts\":[{\"host\":\"e1\","
" \"state\":\"UP\",\"pfs\":[{\"pci\":\"" PF0 "\",\"total\":2,\"%s\":1}]}]},"
"\"jobs\":{\"jobs\":[{\"job\":7,\"id\":\"7\",\"vfs\":1,\"nodes\":[\"vm1\"]}]}}";
	static const char *const pairs[][3] = {
		{ "ON", "reserved", "A." }, { "STARTING", "managed", "a." },
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(pairs); i++) {
		VS_FREE char *s = vs_strdup(text);
		VS_FREE char *full = NULL;
		struct top_model *m;
		char *first = strstr(s, "%s"), *second;

		*first = '\0';
		second = strstr(first + 2, "%s");
		*second = '\0';
		full = vs_asprintf("%s%s%s%s%s", s, pairs[i][0], first + 2,
				   pairs[i][1], second + 2);
		m = model_of(full, NULL);
		assert_string_equal(cells_of(m, 0, 0), pairs[i][2]);
		top_model_free(m);
	}
}

static void free_vfs_of_a_host_that_gets_no_vm_are_not_free(void **state)
{
	static const struct { const char *state, *reasons, *pf0, *pf1; } c[] = {
		{ "UP", "", "....", ".." },
		{ "ON_TRIAL", "", "....", ".." },
		{ "QUARANTINED", "", "xxxx", "xx" },
		{ "DRAINED", "", "----", "--" },
		{ "DRAINING", "", "----", "--" },
		{ "MAINTENANCE", "", "----", "--" },
		{ "DISCONNECTED", "", "----", "--" },
		{ "UNKNOWN", "", "????", "??" },
		{ "EXCLUDED", "", "----", "--" },
		{ "EXCLUDED", "\"reasons\":[\"no link\"],", "----", "--" },
		{ "EXCLUDED", "\"reasons\":[\"" PF0 ": no link\"],", "----", ".." },
		{ "EXCLUDED", "\"reasons\":[\"" PF1 ": no link\"],", "....", "--" },
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(c); i++) {
		struct top_model *m = host_in(c[i].state, c[i].reasons, "");

		assert_string_equal(cells_of(m, 0, 0), c[i].pf0);
		assert_string_equal(cells_of(m, 0, 1), c[i].pf1);
		top_model_free(m);
	}
}

/* Jobs from..to with a VF each, but for `without`. */
static struct top_model *jobs_model(int from, int to, int without,
				    const struct top_model *was)
{
	struct vs_buf b = VS_BUF_INIT(65536);
	struct top_model *m;

	vs_buf_printf(&b, "{\"jobs\":{\"jobs\":[{\"job\":1,\"id\":\"1\",\"need\":2,\"reason\":\"x\"}");
	for (int i = from; i <= to; i++)
		if (i != without)
			vs_buf_printf(&b, ",{\"job\":%d,\"id\":\"%d\",\"vfs\":1}",
				      i, i);
	vs_buf_printf(&b, "]}}");
	m = model_of(b.data, was);
	vs_buf_free(&b);
	return m;
}

static void a_job_keeps_its_letter_while_it_has_vfs(void **state)
{
	struct top_model *m = jobs_model(10, 13, 0, NULL), *next;

	(void)state;
	assert_int_equal(m->jobs[0].letter, 0);		/* it only waits */
	assert_int_equal(m->jobs[top_job_at(m, 12)].letter, 'C');
	next = jobs_model(10, 14, 11, m);
	top_model_free(m);
	assert_int_equal(next->jobs[top_job_at(next, 10)].letter, 'A');
	assert_int_equal(next->jobs[top_job_at(next, 12)].letter, 'C');
	assert_int_equal(next->jobs[top_job_at(next, 13)].letter, 'D');
	assert_int_equal(next->jobs[top_job_at(next, 14)].letter, 'E');
	top_model_free(next);
}

static void more_jobs_than_letters_differ_in_colour(void **state)
{
	struct top_model *m = jobs_model(10, 10 + 51, 0, NULL);

	(void)state;
	for (int i = 10; i < 10 + 26; i++) {
		const struct top_job *a = &m->jobs[top_job_at(m, i)];
		const struct top_job *b = &m->jobs[top_job_at(m, i + 26)];

		assert_int_equal(a->letter, 'A' + i - 10);
		assert_int_equal(b->letter, a->letter);
		assert_int_not_equal(b->colour, a->colour);
	}
	top_model_free(m);
}

/* ---- lines --------------------------------------------------------------------------- */

static void a_host_is_a_line_if_it_fits_and_more_if_not(void **state)
{
	struct top_model *m = model_of(one_host, NULL);
	struct top_lines wide = { .width = 100 }, narrow = { .width = 44 };
	struct top_lines pipe = { 0 };

	(void)state;
	top_host_lines(m, NULL, 0, &wide);
	assert_int_equal(wide.n, 1);
	expect_line(&wide, 0, "e1    UP             4/12   "
		    "vmnic4 Aa=*+#!...  0000:af:00.0 =.");
	top_host_lines(m, NULL, 0, &narrow);
	assert_int_equal(narrow.n, 3);
	expect_line(&narrow, 0, "e1    UP             4/12   vmnic4 Aa=*+#!..");
	expect_line(&narrow, 1, "                                   .");
	expect_line(&narrow, 2, "                            0000:af:00.0 =.");
	top_host_lines(m, NULL, 0, &pipe);
	assert_int_equal(pipe.n, 1);
	top_lines_free(&wide);
	top_lines_free(&narrow);
	top_lines_free(&pipe);
	top_model_free(m);
}

static void a_device_that_is_handed_out_whole_has_its_number(void **state)
{
	struct top_model *m = host_in("UP", "",
				      ",\"device\":\"10de:20b0\",\"managed\":1");
	struct top_lines ls = { .width = 100 };

	(void)state;
	top_host_lines(m, NULL, 0, &ls);
	expect_line(&ls, 0, "e1    UP             5/6    10de:20b0 *...  "
		    "0000:af:00.0 ..");
	top_lines_free(&ls);
	top_model_free(m);
}

static void a_reason_stands_beside_its_host_or_below_it(void **state)
{
	struct top_model *m = host_in("QUARANTINED", "\"reasons\":["
		"\"3 starts failed\",\"single VM next\"],", "");
	struct top_lines wide = { .width = 110 }, narrow = { .width = 76 };

	(void)state;
	top_host_lines(m, NULL, 0, &wide);
	expect_line(&wide, 0, "e1    QUARANTINED    0/6    0000:3b:00.0 xxxx  "
		    "0000:af:00.0 xx  3 starts failed; single VM next");
	top_host_lines(m, NULL, 0, &narrow);
	expect_line(&narrow, 1, "                            "
		    "3 starts failed; single VM next");
	top_lines_free(&wide);
	top_lines_free(&narrow);
	top_model_free(m);
}

static void a_name_steers_no_terminal(void **state)
{
	struct top_lines ls = { .width = 20 };
	struct top_line *l = top_line_new(&ls);

	(void)state;
	top_put(l, TOP_PLAIN, "%s", "a\033[2Jb\x7f" "\xc2\x9b" "\xff"
		"\xc3\xa9" "\xe4\xb8\xad" "\xcc\x81");
	assert_int_equal(l->n, 12);
	expect_line(&ls, 0, "a?[2Jb???~??");
	assert_int_equal(l->g[9].ch, 0xe9);
	top_put(l, TOP_PLAIN, "%s", "1234567890");
	assert_int_equal(l->n, 20);
	top_lines_free(&ls);
}

/* ---- SVG ------------------------------------------------------------------------------ */

static void any_name_is_text_in_xml(void **state)
{
	static const char *const pairs[][2] = {
		{ "a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c'" },
		{ "\x01\x1b\x7f\n", "????" },
		{ "\xc3\xa9\xf0\x9f\x98\x80", "\xc3\xa9\xf0\x9f\x98\x80" },
		{ "\xff\xc3\xc0\x80", "????" },
		{ "\xed\xa0\x80", "???" },		/* half a pair */
		{ "\xef\xbf\xbe", "???" },		/* no character */
		{ "\xc2\x9b", "??" },
		{ "123456789012", "1234567890..." },
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(pairs); i++) {
		VS_FREE char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		assert_non_null(f);
		map_put_text(f, pairs[i][0], 10);
		fclose(f);
		assert_string_equal(text, pairs[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_use_of_a_vf_has_its_sign),
		cmocka_unit_test(what_nodes_do_not_tell_is_counted_without_a_name),
		cmocka_unit_test(a_vf_that_two_answers_tell_differently_is_shown_once),
		cmocka_unit_test(free_vfs_of_a_host_that_gets_no_vm_are_not_free),
		cmocka_unit_test(a_job_keeps_its_letter_while_it_has_vfs),
		cmocka_unit_test(more_jobs_than_letters_differ_in_colour),
		cmocka_unit_test(a_host_is_a_line_if_it_fits_and_more_if_not),
		cmocka_unit_test(a_device_that_is_handed_out_whole_has_its_number),
		cmocka_unit_test(a_reason_stands_beside_its_host_or_below_it),
		cmocka_unit_test(a_name_steers_no_terminal),
		cmocka_unit_test(any_name_is_text_in_xml),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
