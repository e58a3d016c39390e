/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client's numbers are read by svf's thread while the engine's works: they
 * only grow, and built with -fsanitize=thread this says nothing of races.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdatomic.h>
#include <cmocka.h>

#include "util/time.h"
#include "vcenter/calls/calls.h"

static atomic_bool stop;
static struct vs_vc *vc;

static void *reader(void *arg)
{
	struct vs_vc_stats now, last = { 0 };
	int *backwards = arg;

	while (!stop) {
		vs_vc_stats_get(vc, &now);
		*backwards += now.calls < last.calls ||
			now.errors < last.errors ||
			now.updates < last.updates;
		last = now;
	}
	return NULL;
}

static void numbers_are_read_while_the_client_works(void **state)
{
	static const char *const clusters[] = { "C", NULL };
	static const struct vs_vc_events none;
	struct vs_vc_conf conf = {
		.url = "https://127.0.0.1:1", .username = "u",
		.password_file = "/nonexistent",
		.names = { .datacenter = "D", .folder = "F",
			   .datastore = "S", .clusters = clusters },
	};
	struct vs_vc_stats end;
	struct vs_err err = { 0 };
	pthread_t thread;
	int backwards = 0;

	(void)state;
	vc = vs_vc_new(&conf, &none, NULL, &err);
	assert_non_null(vc);
	assert_int_equal(pthread_create(&thread, NULL, reader, &backwards), 0);
	for (int i = 0; i < 20; i++) {
		vs_vc_retry(vc);
		vs_vc_iterate(vc, vs_now_ms(), 20, -1);
	}
	stop = true;
	pthread_join(thread, NULL);
	vs_vc_stats_get(vc, &end);
	assert_int_equal(backwards, 0);
	assert_true(end.calls >= 2);
	assert_true(end.errors >= 1 && end.errors <= end.calls);
	vs_vc_free(vc, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_read_while_the_client_works),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
