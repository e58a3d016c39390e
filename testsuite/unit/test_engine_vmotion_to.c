/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where VMs that leave a host go: how many targets are looked for in a turn, what
 * is promised beforehand, and what is held over a restart.
 */
#include <unistd.h>
#include "engine/maintenance/maintenance_i.h"
#include "engine/persist/persist.h"
#include "engine/run/run_i.h"
#include "scratch.h"
#include "vmotion_stage.h"

#define MANY 40

/* ---- many at once -------------------------------------------------------------- */

static const char *vm(int i)
{
	static char name[16];

	snprintf(name, sizeof(name), "vm%d", i + 1);
	return name;
}

/* n jobs, 7 and more, each on its VM on host-1. */
static void run_many(int n, int hosts)
{
	struct vs_conf *conf = conf_make(n, "warm", 1024);

	begin(1, hosts, 3, "warm");
	free(conf->adapters[0].type);
	conf->adapters[0].type = vs_strdup("vmxnet3");
	conf->adapters[0].mtu = 0;
	free(conf->placement);
	conf->placement = vs_strdup("pack");
	begin_as(conf);
	ready();
	for (int i = 0; i < n; i++) {
		bring_up(7 + (uint32_t)i, vm(i));
		assert_string_equal(fake_get(vm(i))->host, "host-1");
	}
	for (size_t i = 0; i < core_nnodes(); i++)
		flags(core_nodes()[i].name, BUSY);
	turns(2);
	ntold = 0;
}

static int in_state(enum vs_vmotion_state state)
{
	int n = 0;

	for (size_t i = 0; i < core_nnodes(); i++)
		n += core_nodes()[i].vmotion.state == state;
	return n;
}

/* None finds room, and each is told so: some in each turn, all in a few. */
static void some_are_looked_for_in_a_turn_and_all_in_a_few(void **st)
{
	(void)st;
	run_many(MANY, 2);
	maintenance(2, true);
	drain("esx1");
	turn();
	assert_uint_in_range(in_state(VS_VMOTION_STAYS), 1, MANY / 2);
	assert_int_equal(in_state(VS_VMOTION_STAYS) + in_state(VS_VMOTION_DUE),
			 MANY);
	turns(3);
	assert_int_equal(in_state(VS_VMOTION_STAYS), MANY);
}

static int lines;

static void count_stays(enum vs_log_level level, const char *line)
{
	(void)level;
	lines += strstr(line, "its VM stays on its host") != NULL;
}

/* They are looked for again and again, some in a turn: who isn't in this one
 * still stays, or Slurm's reservation would say so and the contrary by turns. */
static void who_finds_no_room_stays_until_it_was_looked_for(void **st)
{
	int asked = 0;

	(void)st;
	run_many(MANY, 2);
	maintenance(2, true);
	lines = 0;
	vs_log_to(count_stays);
	drain("esx1");
	turns(4);
	assert_int_equal(in_state(VS_VMOTION_STAYS), MANY);
	for (int i = 0; i < MANY; i++)
		asked += node(vm(i))->vmotion.again_ms > now + 5000;
	assert_int_equal(asked, 0);
	for (int i = 0; i < 40; i++) {
		now += 400;
		turn();
		assert_int_equal(in_state(VS_VMOTION_STAYS), MANY);
	}
	/* those of all have expired, twice at least, and were renewed */
	for (int i = 0; i < MANY; i++)
		asked += node(vm(i))->vmotion.again_ms > now - 1000;
	vs_log_to(NULL);
	assert_int_equal(asked, MANY);
	assert_int_equal(lines, MANY);
	maintenance(2, false);
	for (int i = 0; i < 20; i++) {
		now += 400;
		turn();
	}
	assert_int_equal(fake_sent[FAKE_RELOCATE], core_conf()->max_vmotions_per_host);
}

/* The only target is full, so that all are asked again and again, the first
 * ones before the last have been: those have their turn, too. */
static void who_waits_keeps_nobody_from_its_turn(void **st)
{
	int asked = 0;

	(void)st;
	run_many(MANY + 4, 3);
	for (int i = 0; i < 4; i++) {
		vs_strlcpy(fake_get(vm(i))->host, "host-3", 32);
		fake_show(fake_get(vm(i)));
	}
	turns(2);
	core_conf()->max_vmotions_per_host = 4;
	drain("esx3");
	drain("esx1");
	turns(2);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 4);
	for (int i = 0; i < 5; i++) {
		now += 1000;
		turn();
	}
	assert_int_equal(fake_sent[FAKE_RELOCATE], 4);
	assert_int_equal(in_state(VS_VMOTION_DUE), MANY);
	for (int i = 0; i < MANY + 4; i++)
		asked += node(vm(i))->vmotion.again_ms > 0;
	assert_int_equal(asked, MANY + 4);
	vs_vmotions.others = 0;
}

/* ---- what a job is told ---------------------------------------------------------- */

static char heard_of[64];	/* "vm1:esx2 vm2:esx3 " */

static void job_got(void *ctx, uint32_t job,
		    const struct vs_slurm_assignment *rows, size_t n)
{
	size_t len = strlen(heard_of);

	(void)ctx;
	(void)job;
	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(heard_of + len, sizeof(heard_of) - len,
					"%s:%s ", rows[i].node, rows[i].host);
}

/* Two VMs of one job come in one turn: it is told once, of both. */
static void a_gang_that_moves_is_told_once(void **st)
{
	static const struct vs_slurm_ops port = { .job_got = job_got };
	const struct vs_slurm_ops *was = core_port();
	const int both[2] = { 0, 1 };
	int64_t push_ms = now;

	(void)st;
	heard_of[0] = '\0';
	run("vmxnet3", 2, 3);
	vs_job_claim(&vs_core, 9, 0, both, 2, true);
	for (int i = 0; i < 2; i++) {
		vs_strlcpy(fake_get(vm(i))->host, i ? "host-3" : "host-2", 32);
		fake_show(fake_get(vm(i)));
	}
	turns(2);
	core_set_port(&port);
	for (size_t i = 0; i < ntold; i++)
		if (told[i].kind == VS_REQUEST_ASSIGNMENT && told[i].job == 9)
			vs_outbox_send(&vs_core, &told[i], 1, now, &push_ms);
	core_set_port(was);
	assert_string_equal(heard_of, "vm1:esx2 vm2:esx3 ");
	vs_vmotions.others = 0;
}

/* ---- what is promised ---------------------------------------------------------- */

static struct json_object *plan_of(const char *host)
{
	struct json_object *top = vs_jb_obj(NULL);

	vs_lock();
	vs_vmotion_plan(&vs_core, vs_host_get(core_inv(), host), false, top);
	vs_unlock();
	return top;
}

static int64_t number_of(struct json_object *top, const char *key)
{
	char *text = vs_jb_text_free(top);
	char *at = strstr(text, key);
	long long n = -1;

	assert_non_null(at);
	assert_int_equal(sscanf(at + strlen(key), "\": %lld", &n) +
			 sscanf(at + strlen(key), "\":%lld", &n) > 0, 1);
	free(text);
	return n;
}

/* vm1 and vm2 of one kind, vm3 and vm4 of another, all on host-1; host-2 has
 * memory left for so many. */
static void two_kinds(size_t room)
{
	struct vs_conf *conf = conf_make(4, "warm", 1024);
	struct vs_claim other = { .node = "x", .host = "host-2" };
	const struct vs_profile *p;
	struct vs_err err;

	begin(1, 2, 3, "warm");
	free(conf->adapters[0].type);
	conf->adapters[0].type = vs_strdup("vmxnet3");
	conf->adapters[0].mtu = 0;
	conf_other_from(conf, 2, "vmxnet3");
	free(conf->placement);
	conf->placement = vs_strdup("pack");
	begin_as(conf);
	ready();
	for (int i = 0; i < 4; i++) {
		bring_up(7 + (uint32_t)i, vm(i));
		assert_string_equal(fake_get(vm(i))->host, "host-1");
	}
	p = node("vm1")->profile;
	assert_ptr_not_equal(p, node("vm3")->profile);
	other.mem_mb = 512 * 1024 - (int64_t)room *
		(vs_profile_reserved_mb(p) + vs_profile_overhead_mb(p));
	assert_int_equal(vs_ledger_take(core_ledger(), &other, &err), 0);
	ntold = 0;
}

/* There is room for two of the first kind, or of the second, and not for both. */
static void no_two_kinds_are_promised_the_same_room(void **st)
{
	(void)st;
	for (size_t room = 0; room <= 4; room++) {
		two_kinds(room);
		assert_int_equal(number_of(plan_of("host-1"), "nodes_moving"), room);
		assert_int_equal(number_of(plan_of("host-1"), "nodes_staying"),
				 4 - room);
		assert_string_equal(held_on(">vm1"), "");
		assert_string_equal(held_on(">vm4"), "");
	}
}

/* And as many do move. */
static void what_is_promised_is_done(void **st)
{
	(void)st;
	two_kinds(3);
	drain("esx1");
	turns(5);
	while (fake_finish(FAKE_RELOCATE))
		turns(10);
	assert_int_equal(in_state(VS_VMOTION_STAYS), 1);
	assert_string_equal(held_on("vm1"), "host-2");
	assert_string_equal(held_on("vm4"), "host-1");
	vs_vmotions.moved = 0;
}

/* ---- over a restart ------------------------------------------------------------- */

static char dir[SCRATCH_LEN];

enum saved { NOT, IN_ITS_TURN, AT_YIELD, AFTER_DOWN };

/* The client is gone before anything was saved. */
static void saved_late(struct vs_core *c, enum saved when)
{
	struct vs_leadership term = { .held = true, .lock_fd = -1 };

	vs_state_file_dirty();
	if (when == AT_YIELD) {
		vs_leadership_yield(c, &term);
		assert_false(term.held);
		return;
	}
	vs_calls_lost(c);
	vs_state_file_urgent();
	vs_state_file_save(c, now);
}

/* vm1 moves to host-2, and this process ends: what it saved last is what the
 * turn saved in which it asked for that, or later. */
static void ended_on_its_way(enum saved when)
{
	struct vs_core *c = &vs_core;
	char *text;

	run("vmxnet3", 1, 2);
	free((char *)core_conf()->state_dir);
	core_conf()->state_dir = vs_strdup(dir);
	flags("vm1", BUSY);
	turns(5);
	vs_state_file_urgent();
	vs_state_file_save(c, now);
	drain("esx1");
	turn();
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	if (when == IN_ITS_TURN)
		vs_state_file_save(c, now);
	else if (when != NOT)
		saved_late(c, when);
	vs_calls_lost(c);
	assert_int_equal(vs_ledger_release(core_ledger(), ">vm1"), 0);
	node("vm1")->vmotion = (struct vs_vmotion) { .tries = 0 };
	core_set_ready(false);
	vs_state_file_forget();
	vs_avoids_clear();
	text = vs_state_file_read(dir);
	assert_non_null(text);
	vs_state_file_load(c, text, NULL);
	free(text);
	fake_load();
}

static void its_task_is_shown(void)
{
	const struct vs_vc_task t = {
		.moid = "task-77", .name = "VirtualMachine.relocate",
		.entity = fake_get("vm1")->moid, .entity_name = "vm1",
		.state = "running", .user = "slurm",
	};

	fake_slow(&t, 1);
}

static void the_target_is_held_over_a_restart(void **st)
{
	(void)st;
	ended_on_its_way(IN_ITS_TURN);
	its_task_is_shown();
	turns(3);
	assert_string_equal(held_on("vm1"), "host-1");
	assert_string_equal(held_on(">vm1"), "host-2");
	turns(60);
	assert_string_equal(held_on(">vm1"), "host-2");
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	vs_strlcpy(fake_get("vm1")->host, "host-2", 32);
	fake_show(fake_get("vm1"));
	assert_true(fake_finish(FAKE_ADOPT));
	fake_slow(NULL, 0);
	turns(5);
	assert_string_equal(held_on("vm1"), "host-2");
	assert_string_equal(held_on(">vm1"), "");
	assert_int_equal(vs_vmotions.moved, 1);
	vs_vmotions.moved = 0;
}

static void a_handover_tells_of_what_is_under_way(void **st)
{
	static const enum saved late[] = { AT_YIELD, AFTER_DOWN };

	(void)st;
	for (size_t i = 0; i < VS_COUNT(late); i++) {
		ended_on_its_way(late[i]);
		assert_non_null(vs_vmotions.bound);
		assert_string_equal(vs_vmotions.bound->node, "vm1");
		assert_string_equal(vs_vmotions.bound->vm,
				    fake_get("vm1")->moid);
		assert_string_equal(vs_vmotions.bound->host, "host-2");
		its_task_is_shown();
		turns(3);
		assert_string_equal(held_on(">vm1"), "host-2");
	}
}

/* What another controller was told is not this one's. */
static void a_new_term_has_none_of_an_earlier_ones(void **st)
{
	(void)st;
	ended_on_its_way(IN_ITS_TURN);
	assert_non_null(vs_vmotions.bound);
	vs_lock();
	vs_leadership_begin(&vs_core);
	vs_client_renew_clear();
	vs_unlock();
	assert_null(vs_vmotions.bound);
}

/* It has ended meanwhile: there, or not at all. */
static void no_longer_than_its_task_is_there(void **st)
{
	(void)st;
	ended_on_its_way(IN_ITS_TURN);
	fake_slow(NULL, 0);
	turns(3);
	assert_true(core_ready());
	assert_string_equal(held_on("vm1"), "host-1");
	assert_string_not_equal(held_on(">vm1"), "host-1");
	assert_null(vs_vmotions.bound);
}

/* Without the state file's entry the task's origin and target are unknown. */
static void without_the_hint_nothing_is_held(void **st)
{
	(void)st;
	ended_on_its_way(NOT);
	its_task_is_shown();
	turns(3);
	assert_string_equal(held_on("vm1"), "host-1");
	assert_string_equal(held_on(">vm1"), "");
}

/* Another VM of that name, or another node's. */
static void a_hint_of_another_vm_is_not_believed(void **st)
{
	(void)st;
	ended_on_its_way(IN_ITS_TURN);
	assert_non_null(vs_vmotions.bound);
	vs_strlcpy(vs_vmotions.bound->vm, "vm-999999", VS_MOID_LEN);
	its_task_is_shown();
	turns(3);
	assert_string_equal(held_on(">vm1"), "");
}

static int begin_dir(void **st)
{
	(void)st;
	return mkdtemp(scratch_path(dir, "vmotion")) ? 0 : -1;
}

static int end_dir(void **st)
{
	char path[SCRATCH_FILE];

	(void)st;
	snprintf(path, sizeof(path), "%s/slurm_vsphere.hints", dir);
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(some_are_looked_for_in_a_turn_and_all_in_a_few),
		cmocka_unit_test(who_finds_no_room_stays_until_it_was_looked_for),
		cmocka_unit_test(who_waits_keeps_nobody_from_its_turn),
		cmocka_unit_test(a_gang_that_moves_is_told_once),
		cmocka_unit_test(no_two_kinds_are_promised_the_same_room),
		cmocka_unit_test(what_is_promised_is_done),
		cmocka_unit_test(the_target_is_held_over_a_restart),
		cmocka_unit_test(a_handover_tells_of_what_is_under_way),
		cmocka_unit_test(a_new_term_has_none_of_an_earlier_ones),
		cmocka_unit_test(no_longer_than_its_task_is_there),
		cmocka_unit_test(without_the_hint_nothing_is_held),
		cmocka_unit_test(a_hint_of_another_vm_is_not_believed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, begin_dir, end_dir);
}
