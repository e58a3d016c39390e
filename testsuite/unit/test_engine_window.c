/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Planned maintenance: which jobs a host still takes before it, when it is
 * reported as safe, and what a restart remembers.
 */
#include <unistd.h>
#include "engine/persist/persist.h"
#include "engine_stage.h"
#include "scratch.h"
#include "util/json.h"
#include "util/time.h"

static int64_t in_s(int64_t s)
{
	return vs_wall_ms() / 1000 + s;
}

static int begin_until(uint32_t job, const char *node, int64_t end)
{
	int rc;

	vs_until_set(end);
	rc = job_begin(job, node, NULL);
	vs_until_set(0);
	if (!rc)
		vs_forecast_job_end(&vs_core, job, end);
	return rc;
}

static size_t room_until(int64_t end)
{
	size_t room;

	vs_until_set(end);
	room = vs_capacity_count(&vs_core, vs_node_named(&vs_core, "vm3"));
	vs_until_set(0);
	return room;
}

static void planned(const char *host, int64_t at)
{
	assert_int_equal(
		vs_maintenance_window_set(&vs_core, host, at, "planned", false),
		0);
}

/* esx1 and esx2 have a VF each. */
static void a_host_takes_what_ends_before_its_time(void **st)
{
	(void)st;
	begin(3, 2, 1, "warm");
	ready();
	planned("host-1", in_s(1000));
	planned("host-2", in_s(2000));
	assert_int_equal(room_until(in_s(900)), 2);
	assert_int_equal(room_until(in_s(1500)), 1);
	assert_int_equal(room_until(in_s(900)), 2);	/* nothing is mixed up */
	assert_int_equal(room_until(in_s(2500)), 0);
	assert_int_equal(room_until(0), 0);	/* the job's end is unknown */
	assert_int_equal(begin_until(7, "vm1", in_s(2500)), -1);
	assert_int_equal(begin_until(7, "vm1", in_s(1500)), 0);
	assert_string_equal(vs_ledger_get(core_ledger(), "vm1")->host,
			    "host-2");
	assert_int_equal(begin_until(8, "vm2", in_s(1500)), -1);
	assert_int_equal(begin_until(8, "vm2", in_s(900)), 0);
	assert_true(vs_maintenance_window_end(&vs_core, "host-1"));
	assert_false(vs_maintenance_window_end(&vs_core, "host-1"));
}

/* The VM is there, and none for a longer job; nor is its place, given while
 * nothing was planned, when the clone has yet to begin. */
static void a_warm_vm_is_none_for_a_job_that_is_too_long(void **st)
{
	(void)st;
	begin(2, 1, 2, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	planned("host-1", in_s(1000));
	assert_int_equal(begin_until(8, "vm1", in_s(1500)), -1);
	assert_int_equal(begin_until(8, "vm1", in_s(900)), 0);
}

static void what_was_promised_before_goes_elsewhere(void **st)
{
	(void)st;
	begin(3, 2, 1, "warm");
	ready();
	assert_int_equal(begin_until(7, "vm1", in_s(5000)), 0);
	assert_string_equal(vs_ledger_get(core_ledger(), "vm1")->host,
			    "host-1");
	planned("host-1", in_s(1000));
	flags("vm1", BOOT);
	turns(3);
	assert_string_equal(vs_ledger_get(core_ledger(), "vm1")->host,
			    "host-2");
}

static void safe_is_when_the_last_job_ends(void **st)
{
	struct vs_host *h;
	struct vs_remaining_vms r;
	int64_t end = in_s(500);
	char words[160];

	(void)st;
	begin(3, 1, 3, "warm");
	ready();
	bring_up(7, "vm1");
	bring_up(8, "vm2");
	bring_up(9, "vm3");
	end_job(9, "vm3");
	h = vs_host_get_named(core_inv(), "esx1");
	vs_forecast_job_end(&vs_core, 7, in_s(200));
	vs_forecast_job_end(&vs_core, 8, end);
	vs_host_remaining_vms(&vs_core, h, &r);
	assert_int_equal(r.jobs, 2);
	assert_int_equal(r.nodes, 3);
	assert_int_equal(r.safe_at, end);
	vs_forecast_job_end(&vs_core, 7, INT64_MAX);	/* suspended, say */
	vs_host_remaining_vms(&vs_core, h, &r);
	assert_true(r.safe_at == VS_TIME_NEVER);
	vs_remaining_vms_text(&r, words, sizeof(words));
	assert_non_null(strstr(words, "2 jobs on 3 nodes, safe at an unknown time"));
	vs_forecast_job_end(&vs_core, 7, in_s(400L * 24 * 3600)); /* no limit */
	vs_host_remaining_vms(&vs_core, h, &r);
	assert_true(r.safe_at == VS_TIME_NEVER);
}

/* Another process, which has the hints file. */
static void again(int nodes, int hosts)
{
	char dir[SCRATCH_LEN], path[SCRATCH_FILE];
	VS_FREE char *text = NULL;

	assert_non_null(mkdtemp(scratch_path(dir, "window")));
	free(core_conf()->state_dir);
	core_conf()->state_dir = vs_strdup(dir);
	vs_state_file_urgent();
	vs_state_file_read_done(true);
	vs_state_file_dirty();
	vs_state_file_save(&vs_core, now);
	text = vs_state_file_read(dir);
	snprintf(path, sizeof(path), "%s/slurm_vsphere.hints", dir);
	unlink(path);
	rmdir(dir);
	assert_non_null(text);
	vs_windows_clear(&vs_core);
	begin(nodes, hosts, 1, "warm");
	vs_state_file_read_done(false);
	vs_state_file_load(&vs_core, text, NULL);
}

static void its_time_comes_and_it_is_remembered(void **st)
{
	const struct vs_maintenance_window *w;

	(void)st;
	begin(3, 2, 1, "warm");
	ready();
	planned("host-1", in_s(5000));
	planned("host-2", in_s(1));
	turns(2);
	assert_non_null(vs_exclusion_find(VS_EXCLUDED_DRAINED, "host-2"));
	assert_null(vs_maintenance_window_get("host-2"));
	again(3, 2);
	ready();
	w = vs_maintenance_window_get("host-1");
	assert_non_null(w);
	assert_string_equal(w->why, "planned");
	assert_non_null(vs_exclusion_find(VS_EXCLUDED_DRAINED, "host-2"));
}

/* ---- what Slurm is told ------------------------------------------------------- */

static struct { size_t calls, n; int64_t end; char nodes[64], comment[256]; } said;

static void resvs_set(void *ctx, const struct vs_slurm_resv *rows, size_t n)
{
	(void)ctx;
	said.calls++;
	said.n = n;
	said.end = n ? rows[0].end : 0;
	vs_strlcpy(said.nodes, n ? rows[0].nodes : "", sizeof(said.nodes));
	vs_strlcpy(said.comment, n ? rows[0].comment : "",
		   sizeof(said.comment));
}

static void say(int after_ms)
{
	now += after_ms;
	vs_draining_hosts_publish(&vs_core, now);
}

static const struct vs_slurm_ops port = { .resvs_set = resvs_set };

static void two_jobs_on_esx1(void)
{
	begin(3, 1, 3, "warm");
	core_set_port(&port);
	ready();
	bring_up(7, "vm1");
	bring_up(8, "vm2");
	vs_exclude_set(VS_EXCLUDED_DRAINED, "host-1", NULL,
		       VS_EXCLUDED_FOREVER, "drained: firmware");
}

/* It is written into Slurm's accounting each time it changes. */
static void what_is_overdue_changes_nothing_by_itself(void **st)
{
	int64_t end;
	char comment[256];

	(void)st;
	two_jobs_on_esx1();
	vs_forecast_job_end(&vs_core, 7, in_s(-500));
	vs_forecast_job_end(&vs_core, 8, in_s(-400));
	say(5000);
	assert_int_equal(said.n, 1);
	end = said.end;
	assert_uint_in_range((uint64_t)end, (uint64_t)in_s(60), (uint64_t)in_s(660));
	assert_int_equal(end % 600, 0);
	vs_strlcpy(comment, said.comment, sizeof(comment));
	end_job(8, "vm2");
	say(5000);
	assert_string_equal(said.comment, comment);
	assert_non_null(strstr(comment, "firmware"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_takes_what_ends_before_its_time),
		cmocka_unit_test(a_warm_vm_is_none_for_a_job_that_is_too_long),
		cmocka_unit_test(what_was_promised_before_goes_elsewhere),
		cmocka_unit_test(safe_is_when_the_last_job_ends),
		cmocka_unit_test(its_time_comes_and_it_is_remembered),
		cmocka_unit_test(what_is_overdue_changes_nothing_by_itself),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
