/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keeps a template's clones waiting: its parent isn't what was asked for. */
#include "engine/vmspec/vmspec.h"
#include "clone_source_stage.h"
#include "util/log.h"

static int said;

static void count(enum vs_log_level level, const char *line)
{
	said += level == VS_LOG_ERROR && strstr(line, "its clones wait");
}

static void begin_counting(void)
{
	said = 0;
	vs_log_to(count);
}

/* No node is failed, no more clone sources are made, and the pending reason and
 * the log say why. */
static void waits_for_somebody(const char *node, const char *why)
{
	turns(100);
	assert_non_null(strstr(core_capacity()[0].missing, why));
	assert_non_null(heard(VS_REQUEST_RELEASE, node));
	assert_null(heard(VS_REQUEST_FAIL, NULL));
	assert_int_equal(said, 1);
}

static void one_that_was_moved_at_once_is_not_made_again(void **st)
{
	struct fake_vm *p;

	(void)st;
	begin_counting();
	begin_instant(1, 2);
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	p = fake_parent("parent-");
	vs_strlcpy(p->host, strcmp(p->host, "host-1") ? "host-1" : "host-2",
		   sizeof(p->host));
	assert_true(fake_finish(FAKE_POWER_ON));
	waits_for_somebody("vm1", "was made for host esx");
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	vs_log_to(NULL);
}

/* Storage DRS moves it, for example, or an administrator renames the
 * datastore. */
static void one_on_another_datastore_is_not_made_again(void **st)
{
	struct fake_vm *p;

	(void)st;
	begin_counting();
	begin_linked(2, 1);
	core_conf()->datastore = vs_strdup("s");
	ready();
	wants(7, "vm1");
	assert_true(fake_finish(FAKE_CLONE));
	p = fake_parent("parent-");
	vs_strlcpy(p->store, "other", sizeof(p->store));
	fake_show(p);
	waits_for_somebody("vm1", "was made for datastore s and is on o:");
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	/* said once, though it is tried again; then another one may be made */
	now += VS_EXCLUDE_HOST_MS;
	flags("vm1", DOWN);
	turns(20);
	assert_string_equal(core_capacity()[0].missing, "");
	ntold = 0;
	wants(8, "vm2");
	waits_for_somebody("vm2", "was made for datastore s and is on o:");
	now += VS_EXCLUDE_HOST_MS;
	flags("vm2", DOWN);
	turns(20);
	wants(9, "vm1");
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	vs_log_to(NULL);
}

/* The source has lost its tag, and no job has asked for it for long. */
static void begin_stripped(void)
{
	begin_counting();
	begin_linked(2, 1);
	ready();
	wants(7, "vm1");
	assert_true(fake_finish(FAKE_CLONE));
	fake_parent("parent-")->mark[0] = '\0';
	fake_show(fake_parent("parent-"));
	now += VS_AWAIT_MS;
	turns(2);
	fake_slow(NULL, 0);
	waits_for_somebody("vm1", "has lost its ownership tags");
	flags("vm1", DOWN);
	vs_log_to(NULL);
	now += 30 * 60 * 1000;
	turns(40);
	fake_slow(NULL, 0);
	turns(20);
	assert_string_equal(core_capacity()[0].missing, "");
}

static void one_that_was_stripped_is_not_made_again_for_ever(void **st)
{
	(void)st;
	begin_stripped();
	wants(8, "vm2");
	turns(20);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_non_null(strstr(core_capacity()[0].missing, "has lost its ownership tags"));
	flags("vm2", DOWN);
	turns(2);
	vs_clone_sources_try_again(&vs_core);
	wants(9, "vm1");
	turns(20);
	assert_int_equal(fake_sent[FAKE_CLONE], 2);
}

static void one_that_was_stripped_and_deleted_is_made_again(void **st)
{
	(void)st;
	begin_stripped();
	fake_remove(fake_parent("parent-"));
	turns(2);
	wants(8, "vm2");
	turns(20);
	assert_int_equal(fake_sent[FAKE_CLONE], 2);
}

static void one_whose_mark_was_taken_is_not_made_again(void **st)
{
	(void)st;
	begin_counting();
	begin_linked(1, 1);
	ready();
	wants(7, "vm1");
	assert_true(fake_finish(FAKE_CLONE));
	fake_parent("parent-")->mark[0] = '\0';
	fake_show(fake_parent("parent-"));
	now += VS_AWAIT_MS;
	turns(2);
	fake_slow(NULL, 0);
	waits_for_somebody("vm1", "has lost its ownership tags");
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	vs_log_to(NULL);
}

static void one_that_is_gone_is_made_again(void **st)
{
	(void)st;
	begin_linked(1, 1);
	ready();
	wants(7, "vm1");
	assert_true(fake_finish(FAKE_CLONE));
	fake_remove(fake_parent("parent-"));
	now += VS_AWAIT_MS;
	turns(2);
	fake_slow(NULL, 0);
	turns(5);
	assert_string_equal(core_capacity()[0].missing, "");
	assert_int_equal(fake_sent[FAKE_CLONE], 2);
}

static void one_that_lost_its_nic_is_no_nodes_fault(void **st)
{
	struct fake_vm *p;

	(void)st;
	begin_counting();
	begin_instant(2, 1);
	parent_stands(7, "vm1");
	p = fake_parent("parent-");
	p->has_nic = false;
	fake_show(p);
	flags("vm1", BOOT);
	waits_for_somebody("vm1", "no longer has the NICs of its clones");
	assert_int_equal(fake_sent[FAKE_INSTANT], 0);
	assert_int_equal(job_begin(8, "vm2", NULL), -1);
	vs_log_to(NULL);
}

static void each_template_has_its_own_bar(void **st)
{
	struct vs_conf *conf = conf_make(2, "warm", 1024);
	struct vs_clone_source_key a, b;
	struct vs_core *c = &vs_core;

	(void)st;
	begin(2, 1, 8, "warm");
	conf_other_from(conf, 1, "vmxnet3");
	conf->partitions[0].clone = vs_strdup("linked");
	conf->partitions[1].clone = vs_strdup("instant");
	begin_as(conf);
	ready();
	assert_int_equal(c->nprofiles, 2);
	assert_int_equal(
		vs_clone_source_key_fill(c, &core_profiles()[0], "host-1", "d", &a),
		0);
	assert_int_equal(
		vs_clone_source_key_fill(c, &core_profiles()[1], "host-1", "d", &b),
		0);
	vs_clone_sources_block(c, &a, now + 60000, "the one");
	vs_clone_sources_block(c, &b, now + 90000, "the other");
	assert_string_equal(core_capacity()[0].missing, "the one");
	assert_string_equal(core_capacity()[1].missing, "the other");
	assert_int_equal(job_begin(7, "vm1", NULL), -1);
	now += 60000;
	turns(15);
	assert_string_equal(core_capacity()[0].missing, "");
	assert_string_equal(core_capacity()[1].missing, "the other");
	vs_clone_sources_try_again(c);
	assert_string_equal(core_capacity()[1].missing, "");
	assert_int_equal(job_begin(8, "vm2", NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_was_moved_at_once_is_not_made_again),
		cmocka_unit_test(one_on_another_datastore_is_not_made_again),
		cmocka_unit_test(one_whose_mark_was_taken_is_not_made_again),
		cmocka_unit_test(one_that_was_stripped_is_not_made_again_for_ever),
		cmocka_unit_test(one_that_was_stripped_and_deleted_is_made_again),
		cmocka_unit_test(one_that_is_gone_is_made_again),
		cmocka_unit_test(one_that_lost_its_nic_is_no_nodes_fault),
		cmocka_unit_test(each_template_has_its_own_bar),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
