/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All or none, all and not the first ones: gangs that can't be held whole, and
 * many prologs that wait. */
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include "engine/persist/persist.h"
#include "engine_stage.h"
#include "scratch.h"

#define WAITS 200

static uint32_t requeued;	/* a job that has begun again, 0: none */

/* The last job was cancelled. */
static void jobs_read(void *ctx, struct vs_slurm_job *rows, size_t n)
{
	jobs_configure(ctx, rows, n);
	for (size_t i = 0; i < n; i++) {
		rows[i].configuring = rows[i].job != WAITS;
		rows[i].restart = rows[i].job == requeued;
	}
}

static const struct vs_slurm_ops port = { .jobs_read = jobs_read };

static size_t waits(void)
{
	size_t n = 0;

	for (const struct vs_wait *w = vs_waits(); w; w = w->next)
		n++;
	return n;
}

static void a_gang_that_cannot_be_held_whole_holds_nothing(void **state)
{
	struct vs_err err = { 0 };
	struct vs_node *nodes[3];

	(void)state;
	begin(3, 2, 4, "warm");
	ready();
	nodes[0] = vs_node_named(&vs_core, "vm1");
	nodes[1] = vs_node_named(&vs_core, "vm2");
	nodes[2] = nodes[0];		/* the ledger refuses it */
	assert_int_equal(vs_claim_take_gang(&vs_core, nodes, 3, 7, &err), -1);
	assert_int_equal(err.code, VS_E_BUG);
	assert_non_null(strstr(err.text, "vm1"));
	assert_null(vs_ledger_get(core_ledger(), "vm1"));
	assert_null(vs_ledger_get(core_ledger(), "vm2"));
	err = (struct vs_err) { 0 };
	assert_int_equal(vs_claim_take_gang(&vs_core, nodes, 2, 7, &err), 0);
	assert_non_null(vs_ledger_get(core_ledger(), "vm1"));
	assert_non_null(vs_ledger_get(core_ledger(), "vm2"));
}

static void a_hold_that_cannot_be_moved_stays_where_it_is(void **state)
{
	char moid[VS_MOID_LEN];
	struct vs_host *to;
	struct vs_claim was;

	(void)state;
	begin(3, 3, 2, "warm");
	ready();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	was = *vs_ledger_get(core_ledger(), "vm1");
	to = vs_host_get(core_inv(), "host-3");
	assert_string_not_equal(was.host, to->moid);
	memcpy(moid, to->moid, sizeof(moid));
	to->moid[0] = '\0';		/* the ledger refuses it */
	assert_int_equal(vs_claim_move(&vs_core,
				       vs_node_named(&vs_core, "vm1"), to),
			 -1);
	memcpy(to->moid, moid, sizeof(moid));
	assert_non_null(vs_ledger_get(core_ledger(), "vm1"));
	assert_string_equal(vs_ledger_get(core_ledger(), "vm1")->host,
			    was.host);
	assert_int_equal(vs_ledger_get(core_ledger(), "vm1")->job, 7);
	assert_int_equal(vs_claim_move(&vs_core,
				       vs_node_named(&vs_core, "vm1"), to),
			 0);
	assert_string_equal(vs_ledger_get(core_ledger(), "vm1")->host,
			    "host-3");
}

/* Jobs 1 to WAITS wait in their prologs for one node, from this job on. */
static void all_wait(int first, int step)
{
	int one;

	begin(1, 1, 1, "warm");
	ready();
	core_set_port(&port);
	one = id("vm1");
	vs_lock();
	for (int job = first; job >= 1 && job <= WAITS; job += step)
		vs_job_wait(&vs_core, (uint32_t)job, 0, &one, 1);
	vs_unlock();
}

static void the_last_of_many_waiting_prologs_is_asked_for_too(void **state)
{
	(void)state;
	all_wait(1, 1);
	assert_int_equal(waits(), WAITS);
	vs_waits_gone(&vs_core);
	assert_int_equal(waits(), WAITS - 1);
	for (const struct vs_wait *w = vs_waits(); w; w = w->next)
		assert_int_not_equal(w->job, WAITS);
}

/* The same where the list begins with the one that is gone. */
static void the_first_of_them_too(void **state)
{
	(void)state;
	all_wait(WAITS, -1);
	vs_waits_gone(&vs_core);
	assert_int_equal(waits(), WAITS - 1);
}

/* Its old prolog is answered; the new run has a prolog of its own. */
static void a_job_that_has_begun_again_waits_no_more(void **state)
{
	(void)state;
	all_wait(1, 1);
	requeued = 5;
	vs_waits_gone(&vs_core);
	requeued = 0;
	assert_int_equal(waits(), WAITS - 2);
	for (const struct vs_wait *w = vs_waits(); w; w = w->next)
		assert_int_not_equal(w->job, 5);
}

/* The file's size is limited to 10 bytes, as a full disk would have it. */
static void half_an_id_of_a_cluster_is_never_kept(void **state)
{
	char dir[SCRATCH_LEN], id[VS_UUID_LEN] = "", again[VS_UUID_LEN];
	struct rlimit was, ten;
	struct vs_err err = { 0 };
	VS_FREE char *path = NULL;
	int rc;

	(void)state;
	assert_non_null(mkdtemp(scratch_path(dir, "half")));
	path = vs_asprintf("%s/slurm_vsphere.id", dir);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	ten = was;
	ten.rlim_cur = 10;
	setrlimit(RLIMIT_FSIZE, &ten);
	rc = vs_cluster_id_load(dir, id, &err);
	setrlimit(RLIMIT_FSIZE, &was);
	assert_int_equal(rc, -1);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(vs_cluster_id_load(dir, id, &err), 0);
	assert_int_equal(vs_cluster_id_load(dir, again, &err), 0);
	assert_string_equal(id, again);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);	/* nothing else is left there */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gang_that_cannot_be_held_whole_holds_nothing),
		cmocka_unit_test(a_hold_that_cannot_be_moved_stays_where_it_is),
		cmocka_unit_test(
			the_last_of_many_waiting_prologs_is_asked_for_too),
		cmocka_unit_test(the_first_of_them_too),
		cmocka_unit_test(a_job_that_has_begun_again_waits_no_more),
		cmocka_unit_test(half_an_id_of_a_cluster_is_never_kept),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
