/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VMs that no node has, the limit of removals that no job or user requested,
 * and the state file, which outlives a restart. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/persist/persist.h"
#include "engine/control/control.h"
#include "engine/tasks/tasks_i.h"
#include "engine/tasks/tasks.h"
#include "engine_stage.h"
#include "scratch.h"
#include "util/name.h"
#include "util/time.h"

static const char *slurm_knows;		/* a node that slurmctld has */

static void nodes_read(void *ctx, struct vs_slurm_node *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++)
		rows[i].flags = slurm_knows &&
			!strcmp(rows[i].name, slurm_knows) ? UP : 0;
}

static const struct vs_slurm_ops port = { .nodes_read = nodes_read };

static void start(int nodes)
{
	begin(nodes, 2, 8, "warm");
	core_set_port(&port);
	vs_orphans_clear();
	now += 1000;		/* the next turn looks for orphans */
	vs_removal_clear();
	slurm_knows = NULL;
}

/* A VM with this cluster's ownership tag. */
static struct fake_vm *ours(const char *name, bool on)
{
	struct fake_vm *vm = fake_add_vm(name, "group-v1", "host-1", on);

	snprintf(vm->mark, sizeof(vm->mark), "%s/%s/%s", core_cluster_id(),
		 name, vm->uuid);
	return vm;
}

/* Another second, Slurm asked, and a slow beat. */
static void second(void)
{
	vs_orphans_query_slurm(&vs_core);
	fake_slow(NULL, 0);
	turns(11);
}

static int ends(void)
{
	return fake_sent[FAKE_SHUTDOWN] + fake_sent[FAKE_POWER_OFF] +
		fake_sent[FAKE_DESTROY];
}

static void a_vm_without_a_node_is_switched_off_and_destroyed(void **st)
{
	(void)st;
	start(1);
	ours("old1", true);
	ready();
	turns(20);
	assert_int_equal(ends(), 0);	/* Slurm was not asked yet */
	second();
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 1);
	assert_true(fake_finish(FAKE_POWER_OFF));
	turns(40);
	assert_true(fake_finish(FAKE_DESTROY));
	assert_null(fake_get("old1"));
	turns(40);
	assert_int_equal(ends(), 2);
	assert_null(vs_orphans());
	assert_int_equal(vs_tasks_power_ops(), 0);
}

static void what_is_not_an_orphan_is_left_alone(void **st)
{
	struct fake_vm *vm;
	struct vs_vc_task task = { .moid = "task-9", .name = "VirtualMachine.x",
				   .state = "running", .user = "somebody" };

	(void)st;
	start(1);
	ours("known", true);			/* Slurm has it */
	vm = ours("copy", true);		/* a copy: another uuid */
	vm->uuid[0] = 'f';
	ours("template", false)->is_template = true;
	ours("unread", true)->unreadable = true;
	ours("disk", false)->disks_own = false;
	fake_add_vm("foreign", "group-v1", "host-1", true);
	vm = ours("busy", true);
	task.entity = vm->moid;
	slurm_knows = "known";
	ready();
	for (int i = 0; i < 5; i++) {
		vs_orphans_query_slurm(&vs_core);
		fake_slow(&task, 1);
		turns(11);
	}
	assert_int_equal(ends(), 0);
	second();			/* the task is over */
	assert_int_equal(ends(), 1);
	assert_int_equal(fake_waiting(FAKE_POWER_OFF), 1);
}

static void the_fourth_vm_waits_for_an_operator(void **st)
{
	(void)st;
	start(1);
	for (int i = 0; i < 6; i++) {
		char name[8];

		snprintf(name, sizeof(name), "old%d", i);
		ours(name, false);
	}
	ready();
	second();
	assert_int_equal(ends(), 3);
	assert_true(vs_removal_limit_is_reached());
	for (int i = 0; i < 3; i++)
		assert_true(fake_finish(FAKE_DESTROY));
	for (int i = 0; i < 20; i++)
		second();
	assert_int_equal(ends(), 3);
	assert_int_equal(vs_removal_confirm(&vs_core), 3);
	ours("late", false);
	fake_show(fake_get("late"));
	for (int i = 0; i < 3; i++)
		second();
	/* the three that waited, and the late one as the first of a new count */
	assert_int_equal(ends(), 7);
	assert_false(vs_removal_limit_is_reached());
}

static void a_large_site_may_lose_its_twentieth(void **st)
{
	enum vs_removal_state state[12] = { 0 };
	char vm[12][8];
	int passed = 0;

	(void)st;
	start(1);
	ready();
	vs_removal_limit.ours = 200;
	for (int i = 0; i < 12; i++) {
		snprintf(vm[i], sizeof(vm[i]), "vm-%d", i);
		passed += vs_removal_check(&state[i], vm[i], "x");
	}
	assert_int_equal(passed, 10);
	for (int i = 0; i < 12; i++)	/* each is counted once */
		assert_int_equal(vs_removal_check(&state[i], vm[i], "x"),
				 i < 10);
}

static void flag_all(uint32_t f)
{
	for (size_t i = 0; i < core_nnodes(); i++)
		flags(core_nodes()[i].name, f);
}

static void warm_up(void)
{
	ready();
	for (uint32_t i = 0; i < 8; i++) {
		bring_up(100 + i, core_nodes()[i].name);
		end_job(100 + i, core_nodes()[i].name);
	}
}

static void eight_warm(void)
{
	start(8);
	warm_up();
}

static void what_slurm_powers_down_is_not_counted(void **st)
{
	(void)st;
	eight_warm();
	flag_all(GOING);
	turns(3);
	while (fake_finish(FAKE_POWER_OFF))
		turns(2);
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 8);
	assert_false(vs_removal_limit_is_reached());
}

static void vms_on_under_powered_down_nodes_are_counted(void **st)
{
	(void)st;
	eight_warm();
	/* Slurm has lost its memory of them all, long after the start. */
	flag_all(DOWN);
	turns(5);
	while (fake_finish(FAKE_POWER_OFF))
		turns(2);
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 3);
	assert_true(vs_removal_limit_is_reached());
	assert_non_null(strstr(node_error(&core_nodes()[7])->text, "svf reconcile"));
	assert_int_equal(vs_removal_confirm(&vs_core), 5);
	turns(5);
	while (fake_finish(FAKE_POWER_OFF))
		turns(2);
	assert_int_equal(fake_sent[FAKE_POWER_OFF], 8);
}

/* ---- hints ----------------------------------------------------------------- */

static char dir[SCRATCH_LEN];

static void restart(void)
{
	char *text;

	vs_avoids_clear();
	vs_removal_clear();
	vs_state_file_forget();
	vs_state_file_urgent();
	text = vs_state_file_read(dir);
	vs_state_file_load(&vs_core, text, NULL);
	free(text);
}

static void hints_on(int nodes)
{
	start(nodes);
	free((char *)core_conf()->state_dir);
	core_conf()->state_dir = vs_strdup(dir);
	vs_state_file_read_done(true);
	vs_state_file_urgent();
}

static void hints_outlive_a_restart(void **st)
{
	const struct vs_exclusion *a;
	const struct vs_removal_permit *e;
	struct stat sb;
	char path[SCRATCH_FILE];

	(void)st;
	assert_non_null(mkdtemp(scratch_path(dir, "hints")));
	hints_on(1);
	vs_exclude_failed("esx1", "0000:3b:00.0", now + 60000, "it failed");
	vs_removal_limit.on = true;
	vs_removal_count("vm-7", 29000003, true);
	vs_state_file_save(&vs_core, now);
	snprintf(path, sizeof(path), "%s/slurm_vsphere.hints", dir);
	assert_int_equal(stat(path, &sb), 0);
	assert_int_equal(sb.st_mode & 0777, 0600);
	restart();
	a = vs_exclusion_get(&vs_core, "esx1", "0000:3b:00.0");
	assert_non_null(a);
	assert_string_equal(a->why, "it failed");
	assert_true(a->until_ms >= now + 58000 && a->until_ms <= now + 60000);
	assert_true(vs_removal_limit_is_reached());
	HASH_FIND_STR(vs_removal_limit.ends, "vm-7", e);
	assert_non_null(e);
	assert_int_equal(e->minute, 29000003);
	assert_true(e->confirmed);
	vs_removal_clear();
}

/* Its end takes several starts of slurmctld, for vCenter fails each time. */
static void a_vm_is_counted_once_whoever_restarts(void **st)
{
	enum vs_removal_state state;

	(void)st;
	hints_on(1);
	for (int i = 0; i < 8; i++) {
		for (int vm = 0; vm < 3; vm++) {
			state = VS_REMOVAL_UNREQUESTED;
			assert_true(vs_removal_check(
				&state, (const char *[]) { "a", "b", "c" }[vm],
				"x"));
		}
		vs_state_file_urgent();
		vs_state_file_save(&vs_core, now);
		restart();
	}
	state = VS_REMOVAL_UNREQUESTED;
	assert_false(vs_removal_check(&state, "d", "x"));
	assert_true(vs_removal_limit_is_reached());
	state = VS_REMOVAL_UNREQUESTED;
	assert_true(vs_removal_check(&state, "a", "x"));
	vs_removal_clear();
}

/* slurmctld is restarted while many are powered down, and Slurm then shows them
 * powered down whose VMs are on still. */
static void a_power_down_of_slurms_outlives_a_restart(void **st)
{
	const char *first;

	(void)st;
	hints_on(8);
	warm_up();
	first = vs_node_vm(&vs_core, &core_nodes()[0])->moid;
	assert_false(vs_removal_was_requested("vm1", first));
	flag_all(GOING);
	turns(3);
	assert_true(vs_removal_was_requested("vm1", first));
	while (fake_fail(FAKE_POWER_OFF, VS_E_BUSY, "busy"))
		;
	turns(1);
	vs_state_file_urgent();
	vs_state_file_save(&vs_core, now);
	restart();
	assert_true(vs_removal_was_requested("vm1", first));
	for (size_t i = 0; i < core_nnodes(); i++) {
		vs_node_condition(&core_nodes()[i], VS_COND_REMOVABLE, false);
		vs_retry_pause(&core_nodes()[i], 0);
	}
	flag_all(DOWN);
	second();			/* what failed is looked at first */
	while (fake_finish(FAKE_POWER_OFF))
		turns(2);
	for (size_t i = 0; i < core_nnodes(); i++)
		assert_int_equal(vs_node_vm(&vs_core, &core_nodes()[i])->power,
				 VS_POWER_OFF);
	assert_false(vs_removal_limit_is_reached());
	vs_removal_clear();
}

/* It is for that power-off alone: not for a destruction, not for long, and not
 * for a VM that a job has used since. */
static void what_slurm_asked_for_is_no_leave_for_more(void **st)
{
	char id[] = "vm-gone-0";
	enum vs_removal_state state;
	const char *vm, *name;

	(void)st;
	eight_warm();
	name = core_nodes()[0].name;
	vm = vs_node_vm(&vs_core, &core_nodes()[0])->moid;
	flag_all(GOING);
	turns(1);
	assert_true(vs_removal_was_requested(name, vm));
	assert_false(vs_removal_was_requested(name, "vm-other"));
	assert_false(vs_removal_was_requested("other", vm));
	flag_all(UP);
	turns(1);
	assert_false(vs_removal_was_requested(name, vm));
	vs_removal_request_note(name, vm,
				vs_wall_ms() / 60000 - VS_REMOVAL_MINUTES);
	assert_false(vs_removal_was_requested(name, vm));
	vs_removal_request_note(name, vm, vs_wall_ms() / 60000 + 1);
	assert_false(vs_removal_was_requested(name, vm));
	for (int i = 0; i < 4; i++, id[8]++) {	/* each is counted all the same */
		state = VS_REMOVAL_UNREQUESTED;
		vs_removal_request_note(id, id,
					vs_wall_ms() / 60000);
		assert_int_equal(vs_removal_check(&state, id, "x"), i < 3);
	}
	vs_removal_clear();
}

/* What was confirmed but has not ended yet is so after a restart too. */
static void a_confirmation_outlives_a_restart(void **st)
{
	(void)st;
	hints_on(1);
	for (int i = 0; i < 8; i++)
		ours((const char *[]){ "o1", "o2", "o3", "o4", "o5", "o6", "o7",
				       "o8" }[i], false);
	ready();
	second();
	assert_int_equal(ends(), 3);
	assert_int_equal(vs_removal_confirm(&vs_core), 5);
	vs_state_file_urgent();
	vs_state_file_save(&vs_core, now);
	restart();
	vs_orphans_clear();
	for (int i = 0; i < 3; i++)
		second();
	assert_false(vs_removal_limit_is_reached());
	vs_removal_clear();
}

static void write_hints(const char *text)
{
	char path[SCRATCH_FILE];
	FILE *f;

	snprintf(path, sizeof(path), "%s/slurm_vsphere.hints", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* What it says would be lost, and must not be. */
static void hints_of_a_newer_format_are_neither_read_nor_written(void **st)
{
	static const char newer[] =
		"{\"format\":2,\"avoid\":[{\"host\":\"esx1\",\"pf\":\"\",\"until\":1,\"why\":\"x\"}]}";
	VS_FREE char *after = NULL;
	struct vs_err err = { 0 };

	(void)st;
	hints_on(1);
	write_hints(newer);
	vs_state_file_forget();
	assert_int_equal(vs_state_file_load(&vs_core, newer, &err), -1);
	assert_int_equal(err.code, VS_E_CONFIG);
	assert_non_null(strstr(err.text,
			       "/slurm_vsphere.hints has format 2, this release reads format 1: install the newer slurm-vsphere again"));
	assert_null(vs_avoids());
	assert_false(vs_state_file_is_read());
	vs_exclude_failed("esx2", NULL, now + 60000, "text");
	vs_state_file_urgent();
	vs_state_file_save(&vs_core, now);
	after = vs_state_file_read(dir);
	assert_string_equal(after, newer);
	/* Without the key it is of the first format, which is written. */
	write_hints("{\"brake\":{\"on\":true}}");
	restart();
	assert_true(vs_removal_limit_is_reached());
	vs_exclude_failed("esx2", NULL, now + 60000, "text");
	vs_state_file_save(&vs_core, now);
	free(after);
	after = vs_state_file_read(dir);
	assert_non_null(strstr(after, "\"format\":1"));
	vs_avoids_clear();
	vs_removal_clear();
}

static void hints_that_are_none_are_left_out(void **st)
{
	static const char *const bad[] = {
		"", "{", "[]", "42", "{\"avoid\":7,\"brake\":[]}",
		"{\"avoid\":[{\"host\":1}],\"brake\":{\"on\":\"x\"}}",
		"{\"avoid\":[{\"host\":\"esx1\",\"pf\":\"\",\"until\":99999999999,\"why\":\"\"}]}",
		"{\"brake\":{\"on\":true,\"ends\":[{\"vm\":\"a\",\"minute\":\"x\"}]}}",
	};
	char path[SCRATCH_FILE];

	(void)st;
	hints_on(1);
	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		write_hints(bad[i]);
		restart();
		assert_null(vs_avoids());
		assert_false(vs_removal_limit_is_reached());
	}
	snprintf(path, sizeof(path), "%s/slurm_vsphere.hints", dir);
	unlink(path);
	rmdir(dir);
}

/* ---- a VF for which a power-on may be under way -------------------------------- */

static struct vs_vc_task power_on_of(const char *name)
{
	return (struct vs_vc_task) {
		.name = "VirtualMachine.powerOn", .moid = "task-3",
		.entity = fake_get(name)->moid, .entity_name = name,
		.state = "running", .user = "slurm",
	};
}

/* vm2 has left the file while its power-on was under way; one VF in all. */
static void vm2_leaves(void)
{
	struct vs_vc_task t;

	start(2);
	begin(2, 1, 1, "warm");
	ready();
	boot_up(7, "vm2");
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	t = power_on_of("vm2");
	vs_setup_apply(&vs_core, conf_make(1, "warm", 1024));
	vs_setup_macs(&vs_core);
	flags("vm1", DOWN);
	core_set_found(false);
	core_set_loaded(false);
	core_set_ready(false);
	vs_calls_lost(&vs_core);
	fake_load();
	fake_slow(&t, 1);
	turns(25);
	assert_true(core_ready());
	assert_int_equal(job_begin(8, "vm1", NULL), -1);
	fake_slow(&t, 1);
	turns(25);
	assert_int_equal(job_begin(8, "vm1", NULL), -1);
}

static void a_node_that_leaves_the_file_keeps_its_vf_while_it_starts(void **st)
{
	struct fake_vm *vm;

	(void)st;
	vm2_leaves();
	vm = fake_get("vm2");
	vm->on = true;
	fake_show(vm);
	turns(11);
	assert_null(vs_ledger_get(core_ledger(), "vm2"));
	assert_int_equal(free_on("host-1"), 0);		/* its NIC's */
	assert_int_equal(job_begin(8, "vm1", NULL), -1);
	vm->on = false;
	fake_show(vm);
	turn();
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
}

static void it_gets_free_when_its_start_has_come_to_nothing(void **st)
{
	(void)st;
	vm2_leaves();
	fake_slow(NULL, 0);
	turns(11);
	assert_null(vs_ledger_get(core_ledger(), "vm2"));
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
}

static void a_vm_of_no_node_that_just_starts_has_its_vf(void **st)
{
	struct vs_vc_task t;
	struct fake_vm *vm;

	(void)st;
	start(1);
	begin(1, 1, 1, "warm");
	vm = ours("old1", false);
	vm->has_nic = true;
	vs_strlcpy(vm->mac, "00:50:56:00:00:99", sizeof(vm->mac));
	t = power_on_of("old1");
	fake_load();
	fake_slow(&t, 1);
	turns(11);
	assert_int_equal(job_begin(8, "vm1", NULL), -1);
	fake_slow(NULL, 0);
	turns(11);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vm_without_a_node_is_switched_off_and_destroyed),
		cmocka_unit_test(what_is_not_an_orphan_is_left_alone),
		cmocka_unit_test(the_fourth_vm_waits_for_an_operator),
		cmocka_unit_test(a_large_site_may_lose_its_twentieth),
		cmocka_unit_test(what_slurm_powers_down_is_not_counted),
		cmocka_unit_test(vms_on_under_powered_down_nodes_are_counted),
		cmocka_unit_test(hints_outlive_a_restart),
		cmocka_unit_test(a_vm_is_counted_once_whoever_restarts),
		cmocka_unit_test(a_power_down_of_slurms_outlives_a_restart),
		cmocka_unit_test(what_slurm_asked_for_is_no_leave_for_more),
		cmocka_unit_test(a_confirmation_outlives_a_restart),
		cmocka_unit_test(hints_of_a_newer_format_are_neither_read_nor_written),
		cmocka_unit_test(hints_that_are_none_are_left_out),
		cmocka_unit_test(a_node_that_leaves_the_file_keeps_its_vf_while_it_starts),
		cmocka_unit_test(it_gets_free_when_its_start_has_come_to_nothing),
		cmocka_unit_test(a_vm_of_no_node_that_just_starts_has_its_vf),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
