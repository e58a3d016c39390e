/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client's state machine: each pair of its table, and each wrong answer to
 * each call of a session, after which the client must come up again by itself.
 */
#define CURL_DISABLE_TYPECHECK
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "cmocka_range.h"
#include "scratch.h"
#include <sys/stat.h>
#include "util/log.h"
#include "../fuzz/scripted_vc.h"

static char file[SCRATCH_LEN];

/* ---- the table --------------------------------------------------------------- */

static bool is_failure(enum vcx_event ev)
{
	return ev >= VCX_EV_LOST;
}

/* What the rules say, in other words than the table's. */
static bool expected(enum vcx_state from, enum vcx_event ev,
		     enum vcx_state *to)
{
	if (is_failure(ev)) {
		*to = VCX_WAITING;
		return from != VCX_WAITING;
	}
	if (ev == VCX_EV_VERSION_LOST) {
		*to = VCX_LOAD;
		return from == VCX_LOAD || from == VCX_UP;
	}
	/* the n-th step leads from the n-th state to the next one */
	*to = (enum vcx_state)(ev - VCX_EV_START + 1);
	return (int)from == (int)ev - VCX_EV_START;
}

static void each_pair_is_handled_or_refused(void **state)
{
	int handled = 0, refused = 0;

	(void)state;
	for (int s = 0; s < VCX_NSTATES; s++) {
		for (int ev = 0; ev < VCX_NEVENTS; ev++) {
			enum vcx_state to, again, want;
			bool ok = vs_vcx_leads(s, ev, &to, &again);

			assert_int_equal(ok, expected(s, ev, &want));
			handled += ok;
			refused += !ok;
			if (!ok)
				continue;
			assert_int_equal(to, want);
			/* a new login needs the ids of this client's content */
			if (is_failure(ev))
				assert_int_equal(again,
					ev == VCX_EV_NO_SESSION &&
					s >= VCX_RESOLVE ?
					VCX_LOGIN : VCX_HELLO);
		}
	}
	print_message("pairs=%d handled=%d refused=%d\n", handled + refused,
		      handled, refused);
	assert_int_equal(handled + refused, VCX_NSTATES * VCX_NEVENTS);
}

static int said;
static char said_last[512];

static void hear(enum vs_log_level level, const char *line)
{
	said += level == VS_LOG_ERROR;
	vs_strlcpy(said_last, line, sizeof(said_last));
}

static void quiet(enum vs_log_level level, const char *line)
{
	(void)level;
	(void)line;
}

/* Each pair that the rules refuse, one after the other, in a real client. */
static void what_is_refused_is_counted_and_logged(void **state)
{
	static const struct vs_vc_events none = { .down = NULL };
	struct vs_vc *vc = script_client(file, NULL, &none);
	struct vs_vc_stats stats;
	uint64_t refused = 0;

	(void)state;
	vs_log_to(hear);
	for (int s = 0; s < VCX_NSTATES; s++) {
		for (int ev = 0; ev < VCX_NEVENTS; ev++) {
			enum vcx_state want;

			if (expected(s, ev, &want))
				continue;
			vc->state = s;
			said = 0;
			assert_false(vs_vcx_event(vc, ev));
			assert_int_equal(vc->state, s);
			vs_vc_stats_get(vc, &stats);
			assert_int_equal(stats.refused_events, ++refused);
			assert_int_equal(said, 1);
			assert_non_null(strstr(said_last, "is refused in the state"));
		}
	}
	assert_int_equal(script.calls, 0);
	vs_log_to(quiet);
	vc->state = VCX_WAITING;
	vs_vc_free(vc, 0);
}

/* ---- answers ----------------------------------------------------------------- */

static int bad, at, downs;
static unsigned int bad_call;
static enum vs_code last_down;
static char last_words[sizeof(((struct vs_err *)0)->text)];
static bool login_spoiled;
static struct vs_vc *asks;		/* the client that is answered */
static unsigned int met[VCX_NSTATES][VS_COUNT(scripted_bad)];

static int spoil_one(unsigned int call)
{
	if (call != bad_call)
		return -1;
	login_spoiled |= script.is_login;
	met[asks->state][bad]++;
	return bad;
}

static int spoil_two(unsigned int call)
{
	if (call != bad_call && call != bad_call + 1)
		return -1;
	login_spoiled |= script.is_login;
	return bad;
}

static void on_down(void *arg, const struct vs_err *err)
{
	(void)arg;
	assert_true(err->text[0]);
	last_down = err->code;
	vs_strlcpy(last_words, err->text, sizeof(last_words));
	downs++;
}

static const struct vs_vc_events events = { .down = on_down };

/* Turns until it is up, after the spoiled call; 0: it never was. */
static unsigned int comes_up(void)
{
	struct vs_vc *vc = script_client(file, NULL, &events);
	struct vs_vc_stats stats;
	unsigned int n;

	assert_non_null(vc);
	asks = vc;
	last_down = VS_OK;
	login_spoiled = false;
	for (n = 1; n < 400; n++) {
		vs_vc_iterate(vc, 1000 + n * 2000, 0, -1);
		if (script.calls > bad_call + 1 && vs_vc_is_up(vc))
			break;
	}
	vs_vc_stats_get(vc, &stats);
	assert_int_equal(stats.refused_events, 0);
	assert_false(script.lost_id);
	assert_false(script.mistyped);
	at = (int)script.calls;
	vs_vc_free(vc, 0);
	return n < 400 ? n : 0;
}

static void each_wrong_answer(int (*spoil)(unsigned int call))
{
	unsigned int calls, runs = 0, stopped = 0;

	bad_call = 0;
	script.spoil = NULL;
	assert_int_not_equal(comes_up(), 0);
	calls = (unsigned int)at;
	script.spoil = spoil;
	for (bad_call = 0; bad_call < calls; bad_call++) {
		for (bad = 0; bad < (int)VS_COUNT(scripted_bad); bad++) {
			runs++;
			if (comes_up())
				continue;
			/* it waits for its password file, as it must */
			if (last_down != VS_E_LOGIN || !login_spoiled)
				fail_msg("call %u, answer %s: never up again",
					 bad_call, scripted_bad[bad]);
			stopped++;
		}
	}
	print_message("calls=%u answers=%zu runs=%u stopped by a refused login=%u\n",
		      calls, VS_COUNT(scripted_bad), runs, stopped);
	assert_true(calls > 20);
	assert_int_equal(runs, calls * VS_COUNT(scripted_bad));
	/* only answers to the login are such */
	assert_uint_in_range(stopped, 1, 2 * VS_COUNT(scripted_bad));
}

/* Each answer was given in each state that asks. */
static void after_one_wrong_answer_it_comes_up(void **state)
{
	(void)state;
	each_wrong_answer(spoil_one);
	for (int s = VCX_HELLO; s < VCX_NSTATES; s++)
		for (size_t i = 0; i < VS_COUNT(scripted_bad); i++)
			if (!met[s][i])
				fail_msg("state %d never had the answer %s", s,
					 scripted_bad[i]);
}

static void after_two_wrong_answers_it_comes_up(void **state)
{
	(void)state;
	each_wrong_answer(spoil_two);
}

/* ---- without end ------------------------------------------------------------- */

static const char version_lost[] = FAULT("InvalidCollectorVersion");
static unsigned int waits;
static bool load_is_good;

static int index_of(const char *answer)
{
	for (size_t i = 0; i < VS_COUNT(scripted_bad); i++)
		if (!strcmp(scripted_bad[i], answer))
			return (int)i;
	fail_msg("no answer %s", answer);
	return -1;
}

/* No version is good for a second wait, or for none at all. */
static int spoil_versions(unsigned int call)
{
	(void)call;
	if (!script.is_wait)
		return -1;
	if (++waits > 1000)
		fail_msg("the inventory is loaded without end");
	return script.is_first && load_is_good ? -1 : index_of(version_lost);
}

static void a_vcenter_that_forgets_each_version_is_asked_slowly(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct vs_vc *vc = script_client(file, NULL, &events);
		int64_t now = 1000;

		load_is_good = i;
		script.spoil = spoil_versions;
		waits = 0;
		downs = 0;
		while (!downs && now < 60000)
			vs_vc_iterate(vc, now += 100, 0, -1);
		assert_int_equal(downs, 1);
		assert_uint_in_range(waits, 3, 10);
		assert_false(vs_vc_is_up(vc));
		/* a minute of it: at most one session a second */
		waits = 0;
		for (int64_t end = now + 60000; now < end;)
			vs_vc_iterate(vc, now += 100, 0, -1);
		assert_uint_in_range(waits, 4, 600);
		/* and it comes back */
		script.spoil = NULL;
		for (int n = 0; n < 40 && !vs_vc_is_up(vc); n++)
			vs_vc_iterate(vc, now += 2000, 0, -1);
		assert_true(vs_vc_is_up(vc));
		vs_vc_free(vc, 0);
	}
}

static int spoil_second_waits(unsigned int call)
{
	(void)call;
	return script.is_wait && !script.is_first && waits ?
		(waits--, index_of(version_lost)) : -1;
}

static void one_version_that_is_lost_costs_no_session(void **state)
{
	struct vs_vc *vc = script_client(file, NULL, &events);
	int64_t now = 1000;

	(void)state;
	script.spoil = spoil_second_waits;
	waits = 0;
	while (!vs_vc_is_up(vc))
		vs_vc_iterate(vc, now += 2000, 0, -1);
	downs = 0;
	for (int n = 0; n < 20; n++) {
		waits = 1;
		for (int k = 0; k < 4; k++)
			vs_vc_iterate(vc, now += 2000, 0, -1);
		assert_int_equal(waits, 0);
		assert_true(vs_vc_is_up(vc));
	}
	assert_int_equal(downs, 0);
	vs_vc_free(vc, 0);
}

static char ca[sizeof(file) + 3];
static bool ca_is_corrected;

/* The second call is refused for a minute; VCenterCAFile is corrected during it. */
static int spoil_the_second(unsigned int call)
{
	if (call != 1)
		return -1;
	if (ca_is_corrected)
		fclose(fopen(ca, "w"));
	return index_of(FAULT("InvalidLogin"));
}

static void a_file_that_is_corrected_during_the_attempt_counts(void **state)
{
	(void)state;
	snprintf(ca, sizeof(ca), "%s.ca", file);
	script.spoil = spoil_the_second;
	for (int i = 0; i < 2; i++) {
		struct vs_vc *vc = script_client(file, NULL, &events);
		int64_t now = 1000, end;

		ca_is_corrected = i;
		vc->http.ca_file = vs_strdup(ca);
		for (downs = 0; !downs && now < 60000;)
			vs_vc_iterate(vc, now += 100, 0, -1);
		assert_int_equal(script.calls, 2);
		end = now + 50000;
		while (script.calls == 2 && now < end)
			vs_vc_iterate(vc, now += 100, 0, -1);
		if (i)
			assert_uint_in_range(end - now,
				50000 - 2 * VCX_PASSWORD_CHECK_MS, 50000);
		else
			assert_int_equal(script.calls, 2);
		vs_vc_free(vc, 0);
	}
	unlink(ca);
}

/* A mode that slurmctld refuses in vsphere.conf is refused at a login, too. */
static void a_password_file_of_another_mode_is_not_read(void **state)
{
	struct vs_vc *vc = script_client(file, NULL, &events);

	(void)state;
	script.spoil = NULL;
	assert_int_equal(chmod(file, 0700), 0);
	downs = 0;
	for (int64_t now = 1000; !downs && now < 60000; now += 100)
		vs_vc_iterate(vc, now, 0, -1);
	assert_int_equal(chmod(file, 0600), 0);
	assert_int_equal(downs, 1);
	assert_int_equal(last_down, VS_E_CONFIG);
	assert_non_null(strstr(last_words, "has mode 0700: expected 0600 or 0400"));
	assert_false(script.is_login);
	vs_vc_free(vc, 0);
}

static int count_waits(unsigned int call)
{
	(void)call;
	if (script.is_wait && ++waits > 1000)
		fail_msg("it waits for updates without end");
	return -1;
}

/* "Nothing new" comes at once, and not after the seconds that were asked for. */
static void a_wait_that_does_not_wait_is_not_repeated_at_once(void **state)
{
	(void)state;
	for (int calm = 0; calm < VS_VC_POLLS; calm++) {
		struct vs_vc *vc = script_client(file, NULL, &events);
		int64_t now = 1000;

		script.spoil = count_waits;
		waits = 0;
		vs_vc_poll_set(vc, calm);
		while (!vs_vc_is_up(vc))
			vs_vc_iterate(vc, now += 2000, 0, -1);
		waits = 0;
		for (int64_t end = now + 60000; now < end;)
			vs_vc_iterate(vc, now += 100, 0, -1);
		assert_uint_in_range(waits, 1, 400);
		vs_vc_free(vc, 0);
	}
}

/* The next call for a VM waits for the end of its task; nothing waits for others. */
static void changes_are_gathered_for_less_while_a_task_is_under_way(void **state)
{
	static const int ms[VS_VC_POLLS] = { 200, 5000, 10000 };
	struct vs_vc *vc = script_client(file, NULL, &events);
	struct vcx_op op = { .id = 1 };

	(void)state;
	for (int calm = 0; calm < VS_VC_POLLS; calm++) {
		vs_vc_poll_set(vc, calm);
		vc->now = vc->watch.told_at + 10;
		assert_int_equal(vs_vcx_gather_ms(vc, true), ms[calm]);
		vc->tasks.by_task = &op;
		assert_int_equal(vs_vcx_gather_ms(vc, true),
				 calm == VS_VC_POLL_HIGH ? 50 : ms[calm]);
		vc->now = vc->watch.told_at + 2000;
		assert_int_equal(vs_vcx_gather_ms(vc, false), 0);
		vc->tasks.by_task = NULL;
	}
	vs_vc_free(vc, 0);
}

/* Each answer to one call says that another one follows. */
static const char *endless_call;	/* in its URL */
static char *endless;
static unsigned int asked;

static const char *without_end(const char *url)
{
	if (!strstr(url, endless_call))
		return NULL;
	if (++asked > 2 * VCX_PAGES_MAX)
		fail_msg("%s is asked without end", endless_call);
	return endless;
}

static char *repeated(const char *head, const char *one, int n,
		      const char *tail)
{
	struct vs_buf b = VS_BUF_INIT(1 << 20);

	vs_buf_add(&b, head, strlen(head));
	for (int i = 0; i < n; i++) {
		if (i)
			vs_buf_add(&b, ",", 1);
		vs_buf_add(&b, one, strlen(one));
	}
	vs_buf_add(&b, tail, strlen(tail) + 1);
	return b.data;
}

#define HOST "\"obj\":{\"_typeName\":\"ManagedObjectReference\",\"type\":\"HostSystem\",\"value\":\"x\"}"

static char *a_page(int objects)
{
	return repeated("2{\"_typeName\":\"RetrieveResult\",\"token\":\"1\",\"objects\":[",
			"{" HOST "}", objects, "]}");
}

static char *a_part(int objects)
{
	VS_FREE char *head = vs_asprintf("2{\"_typeName\":\"UpdateSet\",\"version\":\"1\",\"truncated\":true,\"filterSet\":[{\"filter\":%s,\"objectSet\":[",
					 script.lines[17] + 1);

	return repeated(head, "{\"kind\":\"leave\"," HOST "}", objects,
			"]}]}");
}

/* From the start, or while it is up. */
static void ends(struct vs_vc *vc, int64_t *now, int objects)
{
	script.instead = without_end;
	asked = 0;
	downs = 0;
	for (int n = 0; n < 1000 && !downs; n++)
		vs_vc_iterate(vc, *now += 1000, 0, -1);
	assert_int_equal(downs, 1);
	assert_int_equal(last_down, VS_E_RETRY);
	if (!strstr(last_words, "is too long"))
		fail_msg("%s", last_words);
	assert_int_equal(asked, objects ? VCX_OBJECTS_MAX / objects + 1 :
			 VCX_PAGES_MAX + 1);
	assert_false(vs_vc_is_up(vc));
	script.instead = NULL;
	for (int n = 0; n < 40 && !vs_vc_is_up(vc); n++)
		vs_vc_iterate(vc, *now += 2000, 0, -1);
	assert_true(vs_vc_is_up(vc));
}

static void an_answer_without_end_fails_the_client(void **state)
{
	(void)state;
	script.spoil = NULL;
	for (int i = 0; i < 4; i++) {
		struct vs_vc *vc = script_client(file, NULL, &events);
		int objects = i % 2 ? 400 : 0;
		int64_t now = 1000;

		endless_call = i < 2 ? "RetrievePropertiesEx" :
			"/WaitForUpdatesEx";
		endless = i < 2 ? a_page(objects) : a_part(objects);
		ends(vc, &now, objects);
		ends(vc, &now, objects);
		vs_vc_free(vc, 0);
		free(endless);
	}
}

/* One part, then the last one, or nothing new. */
static const char *two_parts(const char *url)
{
	if (!strstr(url, endless_call))
		return NULL;
	return ++asked % 2 ? endless : asked % 4 ? "2" :
		"2{\"_typeName\":\"UpdateSet\",\"version\":\"1\",\"filterSet\":[]}";
}

static void changes_that_end_may_be_many(void **state)
{
	struct vs_vc *vc = script_client(file, NULL, &events);
	int64_t now = 1000;

	(void)state;
	script.instead = NULL;
	while (!vs_vc_is_up(vc))
		vs_vc_iterate(vc, now += 2000, 0, -1);
	endless_call = "/WaitForUpdatesEx";
	endless = a_part(0);
	script.instead = two_parts;
	asked = 0;
	downs = 0;
	vc->slow_at = INT64_MAX;	/* the script has no more beats */
	while (asked < 3 * VCX_PAGES_MAX) {
		vs_vc_iterate(vc, now += 1000, 0, -1);
		if (downs)
			fail_msg("%s", last_words);
	}
	assert_true(vs_vc_is_up(vc));
	script.instead = NULL;
	vs_vc_free(vc, 0);
	free(endless);
}

static void a_call_of_an_unknown_object_is_not_sent(void **state)
{
	struct vs_vc *vc;

	(void)state;
	script.spoil = NULL;
	vc = script_client(file, NULL, &events);
	vs_vcx_login(vc);	/* before ServiceContent was read */
	assert_int_equal(script.calls, 0);
	vs_vc_iterate(vc, 1000, 0, -1);
	assert_false(script.lost_id);
	assert_false(script.mistyped);
	vs_vc_free(vc, 0);
}

/* The password, and what a session's key ends with, as they are kept here: so
 * that the only copies in memory are the client's. */
#define MASK 0x55
static const char masked[] = "\x26\x0d\x36\x27\x30\x21\x78\x3a\x33\x78\x21\x3d\x30\x78\x36\x39\x3c\x30\x3b\x21";

static bool is_it(const char *p)
{
	for (size_t i = 0; i + 1 < sizeof(masked); i++)
		if ((p[i] ^ MASK) != masked[i])
			return false;
	return true;
}

/* How often it stands in what this process can write to. */
static int copies(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[512], how[8];
	int n = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, how) != 3 ||
		    strncmp(how, "rw", 2) || strstr(line, "[stack]") ||
		    strstr(line, "[v"))
			continue;
		for (const char *p = (const char *)from;
		     p + sizeof(masked) < (const char *)to; p++)
			n += is_it(p);
	}
	if (f)
		fclose(f);
	return n;
}

static int before, at_login, after;

/* While the login is under way its body is there; it is freed right before the
 * next call is answered, and nothing has taken its place yet. */
static int scan(unsigned int call)
{
	(void)call;
	if (script.is_login)
		at_login = copies();
	else if (at_login && after < 0)
		after = copies();
	return -1;
}

static void no_copy_of_the_password_is_left(void **state)
{
	char path[SCRATCH_LEN], text[sizeof(masked)];
	int fd = mkstemp(scratch_path(path, "states"));
	struct vs_vc *vc;

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	/* their shadows are terabytes, and freed memory is not given back */
	close(fd);
	unlink(path);
	(void)text;
	(void)scan;
	(void)vc;
	skip();
#else
	for (size_t i = 0; i < sizeof(masked); i++)
		text[i] = (char)(masked[i] ^ MASK);
	assert_int_equal(write(fd, text, sizeof(masked) - 1),
			 sizeof(masked) - 1);
	close(fd);
	explicit_bzero(text, sizeof(text));
	at_login = 0;
	after = -1;
	script.spoil = scan;
	before = copies();
	assert_int_equal(before, 0);
	vc = script_client(path, NULL, &events);
	for (int n = 1; n < 40 && !vs_vc_is_up(vc); n++)
		vs_vc_iterate(vc, 1000 + n * 2000, 0, -1);
	assert_true(vs_vc_is_up(vc));
	assert_int_equal(at_login, 1);
	assert_int_equal(after, 0);
	assert_int_equal(copies(), 0);
	vs_vc_free(vc, 0);
	assert_int_equal(copies(), 0);
	unlink(path);
#endif
}

static int up(void **state)
{
	const char *top = getenv("srcdir");
	VS_FREE char *path = vs_asprintf("%s/testsuite/fuzz/corpus/client/session",
					 top ? top : ".");
	int fd = mkstemp(scratch_path(file, "states"));

	(void)state;
	vs_log_to(quiet);
	assert_true(fd >= 0 && write(fd, "secret\n", 7) == 7);
	close(fd);
	script_load(path);
	return 0;
}

static int down(void **state)
{
	(void)state;
	script_free();
	return unlink(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pair_is_handled_or_refused),
		cmocka_unit_test(what_is_refused_is_counted_and_logged),
		cmocka_unit_test(after_one_wrong_answer_it_comes_up),
		cmocka_unit_test(after_two_wrong_answers_it_comes_up),
		cmocka_unit_test(a_vcenter_that_forgets_each_version_is_asked_slowly),
		cmocka_unit_test(one_version_that_is_lost_costs_no_session),
		cmocka_unit_test(a_file_that_is_corrected_during_the_attempt_counts),
		cmocka_unit_test(a_password_file_of_another_mode_is_not_read),
		cmocka_unit_test(a_wait_that_does_not_wait_is_not_repeated_at_once),
		cmocka_unit_test(changes_are_gathered_for_less_while_a_task_is_under_way),
		cmocka_unit_test(an_answer_without_end_fails_the_client),
		cmocka_unit_test(changes_that_end_may_be_many),
		cmocka_unit_test(a_call_of_an_unknown_object_is_not_sent),
		cmocka_unit_test(no_copy_of_the_password_is_left),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, up, down);
}
