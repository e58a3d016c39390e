/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf top's screen: what stands on it at which size, and what keys do. Expected
 * texts are written by hand from svf(1).
 */
#include "top_stage.h"

/* The screen has its size, whatever is on it. */
static void drawn(const struct top_model *m, struct top_view *v,
		  struct top_lines *out)
{
	top_lines_free(out);
	*out = (struct top_lines){ 0 };
	top_draw(m, v, out);
	assert_int_equal(out->n, v->rows);
	for (size_t i = 0; i < out->n; i++)
		assert_true(out->l[i].n <= v->cols);
}

/* hosts h0000 to, one PF of 8; every 100th quarantined; job 7 on h0500 */
static struct top_model *many(int hosts)
{
	struct vs_buf b = VS_BUF_INIT(1 << 20);
	struct top_model *m;

	vs_buf_printf(&b, "{\"site\":\"big\",\"at\":1789000000,\"hosts\":{\"hosts\":[");
	for (int i = 0; i < hosts; i++) {
		char why[80];

		snprintf(why, sizeof(why), ",\"reasons\":[\"%d was where 3 VMs in a row did not start\"]", i);
		vs_buf_printf(&b, "%s{\"host\":\"h%04d.example.org\",\"state\":\"%s\"%s,\"pfs\":[{\"pci\":\"" PF0 "\",\"nic\":\"vmnic4\",\"total\":8,\"managed\":%d}]}",
			      i ? "," : "", i, i % 100 == 99 ? "QUARANTINED" :
			      "UP", i % 100 == 99 ? why : "", i == 500);
	}
	vs_buf_printf(&b, "]},\"nodes\":{\"nodes\":[{\"node\":\"vm1\",\"vm_state\":\"ON\",\"host\":\"h0500.example.org\",\"pf\":\"" PF0 "\",\"job\":7}]},"
		"\"jobs\":{\"jobs\":[{\"job\":7,\"id\":\"7\",\"uid\":0,\"state\":\"RUNNING\",\"vfs\":1,\"nodes\":[\"vm1\"]},"
		"{\"job\":9,\"id\":\"9_1\",\"uid\":0,\"partition\":\"roce\",\"state\":\"PENDING\",\"need\":4,\"reason\":\"needs 4 VFs, 3 free\",\"start_time\":1789003600}]},"
		"\"status\":{\"vcenter\":\"https://vc\",\"up\":true,\"since\":1788996400,\"mode\":\"manage\",\"in_flight\":3,\"calls\":120,\"mutating\":7,\"vms_on\":1,\"vms_off\":0,\"starts\":5,\"failures\":2}}");
	m = model_of(b.data, NULL);
	vs_buf_free(&b);
	return m;
}

static void press(const struct top_model *m, struct top_view *v,
		  struct top_lines *out, const char *keys)
{
	for (; *keys; keys++)
		top_key(m, v, (uint32_t)(unsigned char)*keys);
	drawn(m, v, out);
}

static void key(const struct top_model *m, struct top_view *v,
		struct top_lines *out, uint32_t k)
{
	assert_int_equal(top_key(m, v, k), TOP_DID);
	drawn(m, v, out);
}

static void engine_queue_and_hosts_are_on_one_screen(void **state)
{
	static const int sizes[][2] = { { 24, 80 }, { 50, 200 }, { 10, 40 },
					{ 12, 130 }, { 300, 500 } };
	static const char *const all[] = { "big", "vCenter up for 01:00:00",
		"3 operations in flight", "120 calls, 7 changing",
		"5 VM starts", "2 failures", "h0000  UP", "vmnic4 ........",
		"QUEUE: 1 job waiting", "9_1", "needs 4 VFs, 3 free", "expected",
		"JOBS WITH VFS: 1", "A 7", "q quit" };
	struct top_model *m = many(1000);
	struct top_lines out = { 0 };

	(void)state;
	for (size_t i = 0; i < VS_COUNT(sizes); i++) {
		struct top_view v = { .rows = sizes[i][0], .cols = sizes[i][1],
				      .interval = 2, .now = 1789000000 };

		drawn(m, &v, &out);
		for (size_t k = 0; k < VS_COUNT(all) && i < 2; k++)
			if (!shows(&out, all[k]))
				fail_msg("%dx%d: no '%s'", v.cols, v.rows,
					 all[k]);
	}
	top_lines_free(&out);
	top_model_free(m);
}

/* Three hosts leave their room to the jobs, a thousand don't; and what has no room
 * for its last words shows that there were some. */
static void room_that_hosts_dont_take_is_the_jobs(void **state)
{
	struct vs_buf b = VS_BUF_INIT(1 << 16);
	struct top_view v = { .rows = 24, .cols = 80, .interval = 2,
			      .now = 1789000000 };
	struct top_lines out = { 0 };
	struct top_model *m;

	(void)state;
	vs_buf_printf(&b, "{\"at\":1789000000,\"hosts\":{\"hosts\":[{\"host\":\"h1\",\"state\":\"UP\",\"pfs\":[{\"pci\":\"" PF0 "\",\"total\":8}]}]},\"jobs\":{\"jobs\":[");
	for (int i = 1; i < 12; i++)
		vs_buf_printf(&b, "%s{\"job\":%d,\"id\":\"%d\",\"uid\":0,\"state\":\"RUNNING\",\"vfs\":1,\"nodes\":[\"vm%d\"]}",
			      i > 1 ? "," : "", i, 100 + i, i);
	vs_buf_printf(&b, "]},\"nodes\":{\"nodes\":[");
	for (int i = 1; i < 12; i++)
		vs_buf_printf(&b, "%s{\"node\":\"vm%d\",\"vm_state\":\"ON\",\"host\":\"h1\",\"pf\":\"" PF0 "\",\"job\":%d}",
			      i > 1 ? "," : "", i, i);
	vs_buf_printf(&b, "]},\"status\":{\"up\":true,\"since\":1788996400,\"notes\":[\"a note that is much longer than any line of eighty columns has room for, and ends so\"]}}");
	m = model_of(b.data, NULL);
	vs_buf_free(&b);
	drawn(m, &v, &out);
	assert_true(shows(&out, "101") && shows(&out, "111"));
	assert_false(shows(&out, "more lines"));
	assert_true(shows(&out, "has room for, and ..."));
	top_model_free(m);
	m = many(1000);
	drawn(m, &v, &out);
	assert_true(shows(&out, "h0008"));
	top_lines_free(&out);
	top_model_free(m);
}

/* A GPU is no VF, and is not called one. */
static void devices_are_told_from_vfs(void **state)
{
	static const char text[] =
"{\"at\":1789000000,\"hosts\":{\"hosts\":[{\"host\":\"esx1\",\"state\":\"UP\",\"pfs\":["
"{\"pci\":\"" PF0 "\",\"nic\":\"vmnic4\",\"total\":3,\"managed\":1,\"free\":2},"
"{\"pci\":\"0000:65:00.0\",\"device\":\"10de:20b0\",\"total\":2,\"managed\":1,\"free\":1}]}]},"
"\"nodes\":{\"nodes\":[{\"node\":\"vm1\",\"vm_state\":\"ON\",\"host\":\"esx1\","
"\"pf\":\"" PF0 ",0000:65:00.0\",\"job\":7},{\"node\":\"vm2\",\"vm_state\":\"NONE\"}]},"
"\"jobs\":{\"jobs\":[{\"job\":7,\"id\":\"7\",\"uid\":0,\"state\":\"RUNNING\","
"\"vfs\":1,\"devices\":1,\"nodes\":[\"vm1\"]},"
"{\"job\":8,\"id\":\"8\",\"uid\":0,\"state\":\"RUNNING\",\"vfs\":0,\"devices\":2}]},"
"\"status\":{\"vcenter\":\"https://vc\",\"up\":true,\"mode\":\"manage\"}}";
	struct top_model *m = model_of(text, NULL);
	struct top_view v = { .rows = 30, .cols = 120, .interval = 2,
			      .now = 1789000000 };
	struct top_lines out = { 0 };

	(void)state;
	drawn(m, &v, &out);
	assert_true(shows(&out, "3 VFs, 2 devices:"));
	assert_true(shows(&out, "FREE/ALL"));
	assert_true(shows(&out, "10de:20b0 A."));
	assert_true(shows(&out, "RUNNING   1 VF, 1 device"));
	assert_true(shows(&out, "RUNNING   2 devices"));
	top_lines_free(&out);
	top_model_free(m);
}

static void a_terminal_that_is_too_small_is_told_so(void **state)
{
	static const int sizes[][2] = { { 9, 80 }, { 24, 39 }, { 1, 1 },
					{ 2, 200 }, { 0, 0 } };
	struct top_model *m = many(3);
	struct top_lines out = { 0 };

	(void)state;
	for (size_t i = 0; i < VS_COUNT(sizes); i++) {
		struct top_view v = { .rows = sizes[i][0],
				      .cols = sizes[i][1] };

		drawn(m, &v, &out);
		if (i < 2) {
			expect_line(&out, 0, "terminal too small:");
			expect_line(&out, 1, i ? "39x24, needs 40x10" :
				    "80x9, needs 40x10");
		}
	}
	top_lines_free(&out);
	top_model_free(m);
}

static void all_of_a_thousand_hosts_can_be_reached(void **state)
{
	struct top_model *m = many(1000);
	struct top_view v = { .rows = 24, .cols = 80, .interval = 2 };
	struct top_lines out = { 0 };
	size_t pages = 0, seen = 0, reasons = 0;

	(void)state;
	drawn(m, &v, &out);
	assert_true(shows(&out, "h0000") && v.page > 4);
	key(m, &v, &out, TOP_KEY_DOWN);
	assert_true(!shows(&out, "h0000") && shows(&out, "h0001"));
	key(m, &v, &out, TOP_KEY_UP);
	key(m, &v, &out, TOP_KEY_UP);
	assert_true(shows(&out, "h0000"));
	for (seen = v.page; seen < 1000 && pages < 1000; pages++) {
		VS_FREE char *why = NULL;

		key(m, &v, &out, TOP_KEY_PGDN);
		assert_true(v.at <= seen);	/* none is passed over */
		seen = v.at + v.page;
		why = vs_asprintf("%zu was where", reasons * 100 + 99);
		reasons += shows(&out, why);
	}
	assert_int_equal(reasons, 10);		/* nor what is below one */
	assert_true(shows(&out, "h0999"));
	key(m, &v, &out, TOP_KEY_PGUP);
	assert_false(shows(&out, "h0999"));
	key(m, &v, &out, TOP_KEY_END);
	assert_true(shows(&out, "h0999") && v.at + v.page == 1000);
	key(m, &v, &out, TOP_KEY_HOME);
	assert_true(shows(&out, "h0000"));
	assert_true(shows(&out, "FREE/VFS 1-") && shows(&out, " of 1000"));
	top_lines_free(&out);
	top_model_free(m);
}

static bool marked(const struct top_lines *ls, const char *what)
{
	for (size_t i = 0; i < ls->n; i++) {
		const char *at = strstr(line_text(ls, i), what);

		if (at && ls->l[i].g[at - line_text(ls, i)].style & TOP_MARK)
			return true;
	}
	return false;
}

static void a_host_or_job_is_found(void **state)
{
	struct top_model *m = many(1000);
	struct top_view v = { .rows = 24, .cols = 80, .interval = 2 };
	struct top_lines out = { 0 };

	(void)state;
	press(m, &v, &out, "/H07");
	assert_true(shows(&out, "/H07_") && v.at == 0);
	press(m, &v, &out, "77\n");
	assert_true(marked(&out, "h0777"));
	press(m, &v, &out, "/7\n");		/* the job, no host's seven */
	assert_int_equal(m->hosts[v.at].name[3], '0');
	assert_true(marked(&out, "A......."));
	assert_true(marked(&out, "7        "));
	assert_false(marked(&out, "h0507"));
	press(m, &v, &out, "\033/h09\n");
	assert_true(marked(&out, "h0900"));
	press(m, &v, &out, "n");
	assert_int_equal(v.at, 901);
	press(m, &v, &out, "/nobody\n");
	assert_true(shows(&out, "no host, job or user with VFs is named 'nobody'"));
	press(m, &v, &out, "x");
	assert_false(shows(&out, "nobody"));
	press(m, &v, &out, "/9\n");		/* one that only waits */
	assert_true(marked(&out, "9_1"));
	press(m, &v, &out, "\033");
	assert_false(marked(&out, "9_1"));
	top_lines_free(&out);
	top_model_free(m);
}

static void hosts_are_sorted_by_what_one_looks_for(void **state)
{
	struct top_model *m = many(1000);
	struct top_view v = { .rows = 24, .cols = 80, .interval = 2 };
	struct top_lines out = { 0 };

	(void)state;
	press(m, &v, &out, "s");
	assert_true(shows(&out, "sort: trouble") && shows(&out, "h0099"));
	press(m, &v, &out, "ss");
	assert_true(shows(&out, "sort: used") && shows(&out, "h0500"));
	press(m, &v, &out, "s");
	assert_true(shows(&out, "sort: name") && shows(&out, "h0000"));
	top_lines_free(&out);
	top_model_free(m);
}

/* Each sign, and no other; all of them fit below the picture. */
static void signs_that_are_shown_are_explained(void **state)
{
	static const char text[] =
"{\"at\":1789000000,\"hosts\":{\"hosts\":["
"{\"host\":\"h1\",\"state\":\"UP\",\"pfs\":[{\"pci\":\"" PF0 "\",\"total\":9,"
"\"managed\":3,\"reserved\":2,\"foreign\":1,\"unverified\":1,\"free\":2}]},"
"{\"host\":\"h2\",\"state\":\"QUARANTINED\",\"pfs\":[{\"pci\":\"" PF0 "\",\"total\":1,\"free\":1}]},"
"{\"host\":\"h3\",\"state\":\"DRAINED\",\"pfs\":[{\"pci\":\"" PF0 "\",\"total\":1,\"free\":1}]},"
"{\"host\":\"h4\",\"state\":\"UNKNOWN\",\"pfs\":[{\"pci\":\"" PF0 "\",\"total\":1}]}]},"
"\"nodes\":{\"nodes\":["
"{\"node\":\"vm1\",\"vm_state\":\"ON\",\"host\":\"h1\",\"pf\":\"" PF0 "\",\"job\":7},"
"{\"node\":\"vm2\",\"vm_state\":\"OFF\",\"host\":\"h1\",\"pf\":\"" PF0 "\",\"job\":7},"
"{\"node\":\"vm3\",\"vm_state\":\"ON\",\"host\":\"h1\",\"pf\":\"" PF0 "\"}]},"
"\"jobs\":{\"jobs\":[{\"job\":7,\"id\":\"7\",\"uid\":0,\"state\":\"RUNNING\","
"\"vfs\":2,\"nodes\":[\"vm1\",\"vm2\"]}]},\"status\":{\"up\":true}}";
	struct top_model *m = model_of(text, NULL);
	struct top_view v = { .rows = 24, .cols = 80, .interval = 2 };
	struct top_lines out = { 0 }, all = { .width = 80 };

	(void)state;
	drawn(m, &v, &out);
	assert_true(shows(&out, "Aa=*+#!.."));
	for (int i = 0; i < TOP_USES; i++)
		if (!shows(&out, top_uses[i].legend))
			fail_msg("%s", top_uses[i].legend);
	assert_true(shows(&out, "A-Z job with this letter  a-z its VM is not on yet"));
	top_legend_lines(m, false, &all);
	assert_int_equal(all.n, 1 + TOP_USES);
	assert_true(shows(&all, "  ?    can't be counted now"));
	top_lines_free(&all);
	top_model_free(m);
	m = many(3);
	drawn(m, &v, &out);
	assert_true(shows(&out, ". free"));
	assert_false(shows(&out, top_uses[TOP_FOREIGN].legend));
	top_lines_free(&out);
	top_model_free(m);
}

static void pause_help_and_quit_do_what_they_say(void **state)
{
	struct top_model *m = many(3);
	struct top_view v = { .rows = 24, .cols = 80, .interval = 2,
			      .now = 1789000000 };
	struct top_lines out = { 0 };

	(void)state;
	assert_int_equal(top_key(m, &v, 'p'), TOP_DID);
	drawn(m, &v, &out);
	assert_true(v.paused && shows(&out, "PAUSED"));
	assert_int_equal(top_key(m, &v, 'p'), TOP_DID_ASK);
	drawn(m, &v, &out);
	assert_false(shows(&out, "PAUSED"));
	assert_int_equal(top_key(m, &v, ' '), TOP_DID_ASK);
	key(m, &v, &out, 'h');
	for (int i = 0; i < TOP_USES; i++)
		assert_true(shows(&out, top_uses[i].what));
	assert_true(shows(&out, "order of hosts") && shows(&out, "this, and back"));
	key(m, &v, &out, 'h');
	assert_true(shows(&out, "h0001"));
	assert_int_equal(top_key(m, &v, 'q'), TOP_DID_QUIT);
	press(m, &v, &out, "/q");		/* typed, it is a letter */
	assert_string_equal(v.search, "q");
	key(m, &v, &out, TOP_KEY_BACK);
	assert_string_equal(v.search, "");
	v.away = v.now;
	vs_strlcpy(v.error, "slurmctld is not reachable", sizeof(v.error));
	drawn(m, &v, &out);
	assert_true(shows(&out, "slurmctld is silent since") &&
		    shows(&out, "slurmctld is not reachable") &&
		    shows(&out, "h0001"));
	drawn(NULL, &v, &out);
	assert_true(shows(&out, "slurmctld is not reachable"));
	top_lines_free(&out);
	top_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engine_queue_and_hosts_are_on_one_screen),
		cmocka_unit_test(room_that_hosts_dont_take_is_the_jobs),
		cmocka_unit_test(devices_are_told_from_vfs),
		cmocka_unit_test(a_terminal_that_is_too_small_is_told_so),
		cmocka_unit_test(all_of_a_thousand_hosts_can_be_reached),
		cmocka_unit_test(a_host_or_job_is_found),
		cmocka_unit_test(hosts_are_sorted_by_what_one_looks_for),
		cmocka_unit_test(signs_that_are_shown_are_explained),
		cmocka_unit_test(pause_help_and_quit_do_what_they_say),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
