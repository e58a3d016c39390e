/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of holds is told to those who subscribed, in their order.
 */
#include "vmotion_stage.h"

struct heard_claim {
	char who, node[16];
	enum vs_claim_event event;
	char before[16];	/* the host of the hold as it was, "": none is given */
	char now[16];		/* that of the hold, "": there is none */
};

static struct heard_claim claims[32];
static size_t nclaims;

static void note(char who, struct vs_core *c, struct vs_node *n,
		 enum vs_claim_event e, const struct vs_claim *before)
{
	const struct vs_claim *h = vs_ledger_get(core_ledger(), n->name);
	struct heard_claim *to = &claims[nclaims++];

	(void)c;
	assert_true(nclaims <= VS_COUNT(claims));
	*to = (struct heard_claim) { .who = who, .event = e };
	vs_strlcpy(to->node, n->name, sizeof(to->node));
	vs_strlcpy(to->before, before ? before->host : "", sizeof(to->before));
	vs_strlcpy(to->now, h ? h->host : "", sizeof(to->now));
}

static void first(struct vs_core *c, struct vs_node *n, enum vs_claim_event e,
		  const struct vs_claim *before)
{
	note('1', c, n, e, before);
}

static void second(struct vs_core *c, struct vs_node *n, enum vs_claim_event e,
		   const struct vs_claim *before)
{
	note('2', c, n, e, before);
}

static void listen(void)
{
	static vs_claim_fn *const both[] = { first, second };

	nclaims = 0;
	vs_claims_subscribe(both, VS_COUNT(both));
}

/* The next event of all, heard by both. */
static void is_heard(size_t i, const char *node, enum vs_claim_event e,
		     const char *before, const char *now_on)
{
	for (size_t k = 0; k < 2; k++) {
		const struct heard_claim *is = &claims[2 * i + k];

		assert_true(2 * i + k < nclaims);
		assert_int_equal(is->who, k ? '2' : '1');
		assert_string_equal(is->node, node);
		assert_int_equal(is->event, e);
		assert_string_equal(is->before, before);
		assert_string_equal(is->now, now_on);
	}
}

static void a_hold_is_told_of_when_a_job_takes_it_and_when_it_goes(void **st)
{
	char host[16];

	(void)st;
	begin(1, 2, 2, "warm");
	ready();
	listen();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	vs_strlcpy(host, held_on("vm1"), sizeof(host));
	assert_string_not_equal(host, "");
	assert_int_equal(nclaims, 4);
	is_heard(0, "vm1", VS_CLAIM_TAKEN, "", host);
	is_heard(1, "vm1", VS_CLAIM_BY_JOB, "", host);
	nclaims = 0;
	vs_claim_release(&vs_core, node("vm1"));
	assert_int_equal(nclaims, 2);
	is_heard(0, "vm1", VS_CLAIM_RELEASED, host, "");
	vs_claim_release(&vs_core, node("vm1"));
	assert_int_equal(nclaims, 2);
}

static void a_hold_that_follows_its_vm_is_told_of_with_the_host_it_left(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	listen();
	vs_strlcpy(fake_get("vm1")->host, "host-2", 32);
	fake_show(fake_get("vm1"));
	turns(2);
	assert_int_equal(nclaims, 2);
	is_heard(0, "vm1", VS_CLAIM_MOVED, "host-1", "host-2");
}

static void a_vm_that_is_on_and_under_a_task_is_told_of(void **st)
{
	(void)st;
	run("vmxnet3", 1, 2);
	listen();
	vs_claim_adopt(&vs_core, node("vm1"),
		       vs_node_vm(&vs_core, node("vm1")));
	assert_int_equal(nclaims, 2);
	is_heard(0, "vm1", VS_CLAIM_ADOPTED, "", "host-1");
}

static void a_configuration_brings_back_those_who_hear(void **st)
{
	(void)st;
	begin(1, 2, 2, "warm");
	ready();
	listen();
	begin_as(conf_make(1, "warm", 1024));
	ready();
	nclaims = 0;
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	assert_string_not_equal(held_on("vm1"), "");
	assert_int_equal(nclaims, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hold_is_told_of_when_a_job_takes_it_and_when_it_goes),
		cmocka_unit_test(a_hold_that_follows_its_vm_is_told_of_with_the_host_it_left),
		cmocka_unit_test(a_vm_that_is_on_and_under_a_task_is_told_of),
		cmocka_unit_test(a_configuration_brings_back_those_who_hear),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
