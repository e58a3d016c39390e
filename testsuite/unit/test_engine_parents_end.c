/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a parent: what has to be known first. */
#include "parents_stage.h"

/* Its last child is gone, and it is wanted still. */
static void childless(void)
{
	begin_linked(2, 1);
	ready();
	first_child();
	fake_remove(fake_get("vm1"));
	flags("vm1", DOWN);
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
}

static void a_beat_since_it_is_unwanted_is_waited_for(void **st)
{
	(void)st;
	childless();
	fake_template("vm-tpl2", NULL);
	turns(80);
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	fake_slow(NULL, 0);
	turns(5);
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_beat_since_it_is_unwanted_is_waited_for),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
