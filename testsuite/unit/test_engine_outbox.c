/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to Slurm that Slurm accepts or refuses: the module that asked gets
 * the answer in the same pass.
 */
#include "engine/run/run_i.h"
#include "prefetch_stage.h"

static int answer;		/* of the port: 0 accepted, -1 refused */
static char asked[64];

static int port_asks(void *ctx, const char *node, enum vs_slurm_request change,
		     uint32_t job, const char *reason)
{
	(void)ctx;
	(void)change;
	(void)job;
	(void)reason;
	vs_strlcpy(asked, node, sizeof(asked));
	return answer;
}

/* Slurm hears what was asked since the last time. */
static void slurm_answers(int with)
{
	static const struct vs_slurm_ops answers = {
		.node_set = port_asks,
	};
	const struct vs_slurm_ops *was = core_port();
	int64_t push_ms = now;

	answer = with;
	asked[0] = '\0';
	core_set_port(&answers);
	for (size_t i = 0; i < ntold; i++)
		if (told[i].kind == VS_REQUEST_REBUILD ||
		    told[i].kind == VS_REQUEST_POWER_UP)
			vs_outbox_send(&vs_core, &told[i], 1, now, &push_ms);
	core_set_port(was);
	ntold = 0;
}

/* vm1 is up with a VM of an older profile, and a job is to have it. */
static struct vs_node *to_be_rebuilt(void)
{
	struct fake_vm *vm;

	begin(2, 1, 2, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	vm = fake_get("vm1");
	vs_strlcpy(vm->profile, "0123456789abcdef", sizeof(vm->profile));
	fake_show(vm);
	turns(2);
	job_starts(8, "vm1");
	ntold = 0;
	turn();
	assert_non_null(heard(VS_REQUEST_REBUILD, "vm1"));
	return vs_node_named(&vs_core, "vm1");
}

static void a_rebuild_that_slurm_accepts_makes_the_node_power_up(void **state)
{
	struct vs_node *n = to_be_rebuilt();

	(void)state;
	slurm_answers(0);
	assert_string_equal(asked, "vm1");
	assert_true(n->flags & VS_NODE_POWERING_UP);
	assert_false(n->flags & VS_NODE_UP);
	turn();
	assert_null(heard(VS_REQUEST_REBUILD, NULL));
}

static void a_rebuild_that_slurm_refuses_is_asked_for_again(void **state)
{
	struct vs_node *n = to_be_rebuilt();

	(void)state;
	slurm_answers(-1);
	assert_true(n->flags & VS_NODE_UP);
	turns(4);			/* 400 ms */
	assert_null(heard(VS_REQUEST_REBUILD, NULL));
	turns(2);
	assert_non_null(heard(VS_REQUEST_REBUILD, "vm1"));
}

static void a_node_whose_rebuild_is_refused_for_a_minute_is_given_up(void **state)
{
	struct vs_node *n = to_be_rebuilt();
	const int64_t began = now;

	(void)state;
	while (now - began < 59000) {
		slurm_answers(-1);
		turn();
		assert_null(heard(VS_REQUEST_FAIL, NULL));
	}
	assert_false(vs_node_is(n, VS_COND_RELEASED));
	while (now - began < 62000 && !vs_node_is(n, VS_COND_RELEASED)) {
		slurm_answers(-1);
		turn();
	}
	assert_true(vs_node_is(n, VS_COND_RELEASED));
	assert_non_null(heard(VS_REQUEST_FAIL, "vm1"));
	assert_int_equal(heard(VS_REQUEST_FAIL, "vm1")->job, 8);
}

static void a_rebuild_waits_for_an_epilog_however_long(void **state)
{
	struct vs_node *n = to_be_rebuilt();
	const int64_t began = now;

	(void)state;
	n->flags |= VS_NODE_COMPLETING;
	while (now - began < 70000) {
		slurm_answers(-1);
		turn();
	}
	assert_false(vs_node_is(n, VS_COND_RELEASED));
}

static void a_node_whose_power_up_slurm_refuses_is_cloned_and_stays_off(void **state)
{
	struct vs_node *n;

	(void)state;
	for (int with = -1; with <= 0; with++) {
		stage(2, 1, 2, "warm", 2);
		planned(7, "vm1", 10);
		plan_is_read();
		assert_non_null(heard(VS_REQUEST_POWER_UP, "vm1"));
		n = vs_node_named(&vs_core, "vm1");
		assert_int_equal(n->ahead.state, VS_PREFETCH_UP);
		slurm_answers(with);
		assert_string_equal(asked, "vm1");
		assert_int_equal(n->ahead.state,
				 with ? VS_PREFETCH_CLONE : VS_PREFETCH_UP);
	}
}

static void an_answer_for_a_node_that_is_gone_is_dropped(void **state)
{
	(void)state;
	to_be_rebuilt();
	for (size_t i = 0; i < ntold; i++)
		vs_strlcpy(told[i].node, "vm99", sizeof(told[i].node));
	slurm_answers(-1);
	assert_string_equal(asked, "vm99");
	stage(2, 1, 2, "warm", 2);
	planned(7, "vm1", 10);
	plan_is_read();
	for (size_t i = 0; i < ntold; i++)
		vs_strlcpy(told[i].node, "vm99", sizeof(told[i].node));
	slurm_answers(-1);
	assert_int_equal(vs_node_named(&vs_core, "vm1")->ahead.state,
			 VS_PREFETCH_UP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rebuild_that_slurm_accepts_makes_the_node_power_up),
		cmocka_unit_test(a_rebuild_that_slurm_refuses_is_asked_for_again),
		cmocka_unit_test(a_node_whose_rebuild_is_refused_for_a_minute_is_given_up),
		cmocka_unit_test(a_rebuild_waits_for_an_epilog_however_long),
		cmocka_unit_test(a_node_whose_power_up_slurm_refuses_is_cloned_and_stays_off),
		cmocka_unit_test(an_answer_for_a_node_that_is_gone_is_dropped),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
