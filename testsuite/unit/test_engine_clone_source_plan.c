/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What svf plan says of parents: their calls, and how long they take. */
#include "clone_source_stage.h"
#include "engine/tasks/tasks_i.h"
#include "util/json.h"

static const struct vs_slurm_ops port = { .viewer = viewer };

/* The report, to be freed. */
static struct vs_jdoc asked(const char *nodes)
{
	struct vs_err err = { 0 };
	struct json_object *o;
	VS_FREE char *text = NULL;
	struct vs_jdoc doc;

	core_set_port(&port);
	all_nodes = true;
	o = vs_core_plan(nodes, 1001, &err);
	if (!o)
		fail_msg("%s", err.text);
	text = vs_jb_text_free(o);
	assert_int_equal(vs_jdoc_parse(&doc, text, strlen(text), &err), 0);
	return doc;
}

static struct vs_j row(struct vs_jdoc *doc, size_t i)
{
	return vs_j_at(vs_j_get(vs_j_root(doc), "nodes"), i);
}

static int64_t number(struct vs_jdoc *doc, const char *key)
{
	return vs_j_int_or(vs_j_opt(vs_j_root(doc), key), -1);
}

static void measured(void)
{
	const struct vs_profile *p = &core_profiles()[0];

	vs_duration_note(p, VS_OP_CLONE, 8000);
	vs_duration_note(p, VS_OP_POWER_ON, 4000);
	vs_duration_note(p, VS_DURATION_BOOT, 20000);
}

static void parent_takes(int seconds)
{
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
	now += (int64_t)seconds * 1000;
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_SNAPSHOT));
	turns(2);
	vs_job_end(&vs_core, 7, &(int) { id("vm1") }, 1, false);
	flags("vm1", DOWN);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
}

static void the_making_of_a_parent_is_in_it(void **state)
{
	struct vs_jdoc doc;
	int64_t was;

	(void)state;
	begin_linked(4, 2);
	ready();
	measured();
	/* never made: its duration is unknown */
	doc = asked("vm3");
	assert_false(vs_j_bool(vs_j_get(vs_j_root(&doc), "measured")));
	assert_int_equal(number(&doc, "calls"), 2 + 2);
	vs_jdoc_free(&doc);
	parent_takes(100);
	doc = asked("vm3");
	was = number(&doc, "seconds");
	assert_uint_in_range(was, 28, 32);
	vs_jdoc_free(&doc);
	fake_remove(fake_parent(""));
	doc = asked("vm[2-3]");
	assert_uint_in_range(number(&doc, "seconds"), was + 100, was + 102);
	assert_uint_in_range(vs_j_int(vs_j_get(row(&doc, 0), "seconds")),
			     was + 100, was + 102);
	vs_jdoc_free(&doc);
}

/* The report's calls, and its most; 0: it names none. */
static void calls_are(const char *nodes, int64_t calls, int64_t most)
{
	struct vs_jdoc doc = asked(nodes);

	assert_int_equal(number(&doc, "calls"), calls);
	assert_int_equal(number(&doc, "calls_max"), most ? most : -1);
	vs_jdoc_free(&doc);
}

/*
 * A new VM takes 2 calls: clone and power-on. A vCenter that refuses devices in its
 * clone costs it 2 more: a second clone and a reconfiguration. A clone source takes
 * 2: clone and snapshot. It has no devices that vCenter could refuse, so never more.
 */
static void the_most_calls_are_of_vms_and_not_of_clone_sources(void **state)
{
	(void)state;
	vs_clones.way = (struct vs_clone_way) { .trial_ms = 0 };
	begin_linked(4, 2);
	per_host();
	ready();
	vs_str_replace(&core_conf()->placement, "spread");
	/* 3 VMs on 2 hosts, each with a source of its own:
	 * 3 x 2 + 2 x 2, and 3 x 2 more */
	calls_are("vm[1-3]", 10, 16);
	/* one VM on one of them: 1 x 2 + 1 x 2, and 1 x 2 more */
	calls_are("vm1", 4, 6);
	wants(7, "vm1");
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	/* One source is cloned and lacks its snapshot, the other one lacks both:
	 * 3 x 2 + 1 + 2, and 3 x 2 more */
	calls_are("vm[1-3]", 9, 15);
	assert_true(fake_finish(FAKE_SNAPSHOT));
	turns(2);
	/* One source is ready: 3 x 2 + 2, and 3 x 2 more */
	calls_are("vm[1-3]", 8, 14);
	assert_true(fake_finish(FAKE_CLONE));	/* vm1's, with its VF */
	turns(2);
	/* vm1 is powered on, 2 VMs and a source are made: 1 + 2 x 2 + 2. The way
	 * is known now. */
	calls_are("vm[1-3]", 7, 0);
	vs_clones.way.takes = (struct vs_vcenter_id) { .uuid = "" };
	/* vm1 is never cloned again: 1 + 2 x 2 + 2, and 2 x 2 more */
	calls_are("vm[1-3]", 7, 11);
	vs_str_replace(&core_conf()->placement, NULL);
}

/* One that stands frozen has no snapshot, and lacks none. */
static void an_instant_clone_is_one_call(void **state)
{
	struct vs_jdoc doc;

	(void)state;
	begin_instant(2, 1);
	doc = asked("vm1");
	assert_int_equal(number(&doc, "calls"), 1 + 2);
	vs_jdoc_free(&doc);
	parent_stands(7, "vm1");
	doc = asked("vm2");
	assert_int_equal(number(&doc, "calls"), 1);
	assert_string_equal(vs_j_str(vs_j_get(row(&doc, 0), "clone")),
			    "instant");
	vs_jdoc_free(&doc);
}

static int64_t parent_ms(void)
{
	return vs_duration_ms(&core_profiles()[0], VS_DURATION_CLONE_SOURCE);
}

/* No job asks for it for two hours: they don't count as its duration. */
static void hours_without_anybody_are_no_measure(void **state)
{
	int64_t was;

	(void)state;
	begin_linked(4, 2);
	ready();
	was = parent_ms();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
	now += 60000;
	assert_true(fake_finish(FAKE_CLONE));
	vs_job_end(&vs_core, 7, &(int) { id("vm1") }, 1, false);
	flags("vm1", DOWN);
	turns(2);
	now += 2 * 60 * 60 * 1000;
	turns(2);
	wants(8, "vm2");
	assert_true(fake_finish(FAKE_SNAPSHOT));
	turns(2);
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
	assert_int_equal(parent_ms(), was);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_making_of_a_parent_is_in_it),
		cmocka_unit_test(the_most_calls_are_of_vms_and_not_of_clone_sources),
		cmocka_unit_test(an_instant_clone_is_one_call),
		cmocka_unit_test(hours_without_anybody_are_no_measure),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
