/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node's conditions: a change marks the node, each combination that must not be
 * is refused by its own row, and each row needs all that it names.
 */
#include "engine_stage.h"

static struct vs_core c;
static struct vs_node_summary kept;

/* Up, with a job that runs: legal, and the base of all plants. */
static struct vs_node legal(void)
{
	kept = (struct vs_node_summary) { .fresh = true,
					  .rests = true,
					  .epoch = 3 };
	return (struct vs_node) {
		.name = "vm1",
		.kept = &kept,
		.flags = UP,
		.claims.job = 7,
		.wanted = VS_DESIRED_KEEP,
		.seen = VS_OBSERVED_ON,
		.conditions = VS_COND_JOB_RUNS | VS_COND_COMPARED,
	};
}

static void no_job(struct vs_node *n)
{
	n->claims.job = 0;
}

static void not_running(struct vs_node *n)
{
	n->conditions &= ~(uint32_t)VS_COND_JOB_RUNS;
}

static void off(struct vs_node *n)
{
	n->seen = VS_OBSERVED_OFF;
}

static void no_job_and_off(struct vs_node *n)
{
	not_running(n);
	no_job(n);
	off(n);
}

static void down(struct vs_node *n)
{
	n->flags = DOWN;
}

static void wanted_on(struct vs_node *n)
{
	n->wanted = VS_DESIRED_ON;
}

static void not_compared(struct vs_node *n)
{
	n->conditions &= ~(uint32_t)VS_COND_COMPARED;
}

static void told_and_off(struct vs_node *n)
{
	n->boot.told_ms = 1;
	off(n);
}

static void missing(struct vs_node *n)
{
	n->absent.how = VS_MISSING_OBSERVED;
}

static void clones(struct vs_node *n)
{
	n->op.kind = VS_OP_CLONE;
	n->op.id = 1;
}

static void shuts_down(struct vs_node *n)
{
	n->op.kind = VS_OP_SHUTDOWN;
}

static void as_is(struct vs_node *n)
{
	(void)n;
}

/* What makes the condition illegal in a node that is legal else, and what is said. */
static const struct {
	uint32_t condition;
	void (*plant)(struct vs_node *n);
	const char *why;
} plants[] = {
	{ VS_COND_JOB_RUNS, no_job, "a job runs on a node without a job" },
	{ VS_COND_JOB_LAUNCHED, not_running,
	  "a job that was launched before doesn't run" },
	{ VS_COND_REBUILD, no_job_and_off, "no job waits for the rebuild" },
	{ VS_COND_REBUILD, as_is, "the right VM is on and is rebuilt" },
	{ VS_COND_REMOVABLE, as_is, "a VM that a job needs may be removed" },
	{ VS_COND_VACATE, down, "a node that isn't up is vacated" },
	{ VS_COND_ADOPTING, wanted_on, "an adopted VM isn't kept" },
	{ VS_COND_ADOPTING, not_compared,
	  "a VM is adopted that could be adopted again" },
	{ VS_COND_GUEST_READY, as_is,
	  "Slurm doesn't know of a boot that is over" },
	{ VS_COND_GUEST_READY, told_and_off,
	  "the guest of a VM that isn't on is ready" },
	{ VS_COND_BOOT_DIED, as_is, "a boot's end was not acted upon" },
	{ VS_COND_KNOWN_OFF, missing, "a VM that was off is missing" },
	{ VS_COND_CLONE_UNCONFIRMED, clones,
	  "a clone was sent while another may be under way" },
	{ VS_COND_STARTING, shuts_down, "a VM is changed while it starts" },
};

static void each_illegal_combination_is_refused(void **st)
{
	(void)st;
	for (size_t i = 0; i < VS_COUNT(plants); i++) {
		struct vs_node n = legal();
		const char *why;

		assert_null(vs_node_illegal(&c, &n));
		plants[i].plant(&n);
		n.conditions |= plants[i].condition;
		why = vs_node_illegal(&c, &n);
		if (!why || strcmp(why, plants[i].why))
			fail_msg("\"%s\" is planted, \"%s\" is found",
				 plants[i].why, why ? why : "nothing");
		/* It is the condition that is illegal there. */
		n.conditions &= ~plants[i].condition;
		if (vs_node_illegal(&c, &n))
			fail_msg("without the condition: %s",
				 vs_node_illegal(&c, &n));
	}
}

static void each_row_of_the_table_is_planted(void **st)
{
	size_t rows = 0;

	(void)st;
	for (; vs_node_illegal_entry(rows); rows++) {
		bool found = false;

		for (size_t i = 0; i < VS_COUNT(plants); i++)
			found |= !strcmp(plants[i].why,
					 vs_node_illegal_entry(rows));
		if (!found)
			fail_msg("not planted: %s",
				 vs_node_illegal_entry(rows));
	}
	assert_int_equal(rows, VS_COUNT(plants));
}

static void what_no_table_forbids_is_legal(void **st)
{
	struct vs_node n = legal();

	(void)st;
	n.conditions |= VS_COND_JOB_LAUNCHED | VS_COND_VACATE |
		VS_COND_HOST_DRAIN | VS_COND_RELEASED | VS_COND_POWER_CYCLE |
		VS_COND_STARTING | VS_COND_CLONE_RESERVED | VS_COND_VM_LOST |
		VS_COND_GUEST_LOST | VS_COND_KNOWN_OFF | VS_COND_ADOPTING;
	n.op.kind = VS_OP_POWER_ON;
	assert_null(vs_node_illegal(&c, &n));
	/* In Mode=observe nothing is done about what was to be done. */
	down(&n);
	not_compared(&n);
	assert_non_null(vs_node_illegal(&c, &n));
	c.observe = true;
	assert_null(vs_node_illegal(&c, &n));
	c.observe = false;
	n = legal();
	n.conditions |= VS_COND_GUEST_READY;
	n.boot.told_ms = 1;
	assert_null(vs_node_illegal(&c, &n));
	n.seen = VS_OBSERVED_BUSY;
	assert_null(vs_node_illegal(&c, &n));
	n = legal();
	n.conditions |= VS_COND_REMOVABLE;
	n.wanted = VS_DESIRED_OFF;
	assert_null(vs_node_illegal(&c, &n));
	n.wanted = VS_DESIRED_GONE;
	assert_null(vs_node_illegal(&c, &n));
}

static void a_change_marks_the_node(void **st)
{
	struct vs_node n = legal();

	(void)st;
	vs_node_condition(&n, VS_COND_COMPARED, true);
	assert_true(kept.rests && kept.epoch == 3 && !kept.touches);
	vs_node_condition(&n, VS_COND_VACATE, true);
	assert_true(vs_node_is(&n, VS_COND_VACATE));
	assert_true(vs_node_is(&n, VS_COND_COMPARED));
	assert_false(kept.rests || kept.epoch || kept.touches != 1);
	vs_node_condition(&n, VS_COND_VACATE, false);
	assert_false(vs_node_is(&n, VS_COND_VACATE));
	assert_int_equal(kept.touches, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_illegal_combination_is_refused),
		cmocka_unit_test(each_row_of_the_table_is_planted),
		cmocka_unit_test(what_no_table_forbids_is_legal),
		cmocka_unit_test(a_change_marks_the_node),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
