/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine in random worlds: three nodes, ten jobs, two hosts with two VFs.
 *
 * Modelled: power_save's states of a node, slurmd's registering and its
 * silence, jobs alone or beside others on one or two nodes; people who cancel,
 * requeue, power nodes up and down, and who switch, strip and destroy VMs in
 * vCenter; calls that fail or whose answer is lost, vCenter away; slurmctld
 * killed with calls under way; in some worlds operators who drain, resume and
 * power nodes down by force, hosts that don't answer, pauses of all changes, foreign VMs in a node's
 * place, nodes that count as allocated and no job has. After three minutes all of that ends, and
 * everything must come to rest.
 * Not modelled: the port's races with slurmctld's locks, reservations,
 * reconfigure, hosts that change, room in pools and datastores, the hints file, slow guests. chaos.py has these, with the real daemons.
 *
 * Judged, in every turn: I1, no power-on to a PF without a free VF; I2, a job
 * starts only where its VM is on and has its NIC; with Retention=destroy, on
 * no VM that was made for another job (or run of it); no changing call during a pause; no prolog and no node
 * runs into its timeout; the sums that the engine keeps are true. At the end:
 * progress, every job ends; nothing leaks, every node is powered down and
 * every VF free.
 *
 * The calls that the engine sends in 200 worlds are compared with those that
 * testsuite/golden/model_traces.txt keeps, a digest for each world: a step that
 * changes no behaviour leaves them as they are. testsuite/golden/traces.py shows
 * and compares the calls themselves, and keeps new digests.
 *
 * VS_WORLDS=N: so many worlds in each test. VS_WORLD=SEED: that one alone, with
 * its story. VS_TRACE=DIR: the calls of the 200 worlds and their digests are
 * written there, and nothing else is tested. A world follows from its seed: no
 * clock, no thread, no state that an earlier one left.
 */
#include <inttypes.h>
#include "engine/control/control.h"
#include "engine/run/run_i.h"
#include "engine_stage.h"
#include "fake_vc_i.h"
#include "model.h"
#include "util/log.h"

#define HOSTS 2
#define VFS 2
#define EVENTS_TURNS 1800		/* people and faults end then */
#define WORLD_TURNS 12000
#define REST_TURNS 6000			/* at most: hosts are avoided for 5 min */
#define STILL_TURNS 100			/* and nothing moves any more */

static struct { unsigned restarts, nics, pauses; bool people; } kind; /* per mille */
static int64_t slow_ms, back_ms, push_ms, lost_until_ms, paused_until_ms;
static struct { unsigned seed; char *text; size_t size; } told_of;
static FILE *trace;		/* the calls of a world, NULL: not traced */

/* ---- vCenter ------------------------------------------------------------- */

static void restart(void)
{
	struct vs_core *c = &vs_core;

	model_say("slurmctld is killed");
	for (int i = 0; i < fake_ncalls; i++) {
		struct fake_call *call = &fake_calls[i];
		bool twice = call->kind == FAKE_CLONE &&
			fake_get(call->clone.name);

		if (!call->waiting)
			continue;
		call->waiting = false;
		if (!model_chance(500) || twice)
			continue;
		model_say("call %d happens all the same", (int)call->kind);
		fake_effect(call);
	}
	vs_lock();
	vs_leadership_begin(c);
	vs_unlock();
	vs_client_renew_clear();
	vs_state_file_read_done(true);
	model_restarted();
	model.away = false;
	model.lost = 0;
	fake_load();
	fake_slow(NULL, 0);
}

static bool there(const char *moid)
{
	for (int k = 0; k < MODEL_NODES; k++)
		if (model_vm(k) && !strcmp(model_vm(k)->moid, moid))
			return true;
	return false;
}

static void call_ends(enum fake_kind k)
{
	static const enum vs_code codes[] = {
		VS_E_OTHER_HOST, VS_E_RETRY, VS_E_STATE, VS_E_BUSY,
		VS_E_UNKNOWN, VS_E_GONE,
	};
	struct fake_call *call = fake_oldest(k);

	if (model.events && model_chance(100)) {
		enum vs_code code = codes[model_random(VS_COUNT(codes))];

		model_say("call %d fails: %s", (int)k, vs_code_name(code));
		if (code == VS_E_UNKNOWN)
			fake_lose(k, model_chance(500));
		else
			fake_fail(k, code, "at random");
	} else if (k == FAKE_CLONE && fake_get(call->clone.name)) {
		fake_fail(k, VS_E_EXISTS, "DuplicateName");
	} else if (k != FAKE_CLONE && k != FAKE_ADOPT && !there(call->vm)) {
		fake_fail(k, VS_E_GONE, "ManagedObjectNotFound");
	} else {
		model_say("call %d is done", (int)k);
		fake_finish(k);
	}
}

/* vCenter waits for it. */
static bool on_lost_host(enum fake_kind k)
{
	const struct fake_call *call = fake_oldest(k);
	const struct fake_vm *vm = fake_by_moid(call->vm);

	return (vm && model_lost(vm)) ||
		(model.lost && call->host[0] &&
		 call->host[5] == '0' + model.lost);
}

static void calls(void)
{
	for (int k = 0; k < FAKE_KINDS; k++) {
		if (!fake_waiting((enum fake_kind)k) ||
		    on_lost_host((enum fake_kind)k))
			continue;
		if (model_chance(300))
			fake_accept((enum fake_kind)k);
		if (model_chance(120))
			call_ends((enum fake_kind)k);
	}
	if ((fake_slow_asked && model_chance(200)) || now - slow_ms > 15000) {
		slow_ms = now;
		fake_slow(NULL, 0);
	}
}

static void administrators(void)
{
	int k = (int)model_random(MODEL_NODES);
	struct fake_vm *vm = model_vm(k);

	if (!vm || model_lost(vm))
		return;
	if (model_chance(4)) {
		vm->on = model_chance(300);
		vm->tools = false;
		model_say("vCenter: vm%d is switched %s", k + 1,
			  vm->on ? "on" : "off");
		fake_show(vm);
	} else if (vm->on && model_chance(kind.nics)) {
		model_say("vCenter: vm%d loses its NIC", k + 1);
		vm->has_nic = false;
		fake_show(vm);
	} else if (!vm->on && model_chance(2)) {
		model_say("vCenter: vm%d is destroyed", k + 1);
		fake_remove(vm);
	}
}

static void hosts_answer(int host, bool yes)
{
	char moid[16];

	snprintf(moid, sizeof(moid), "host-%d", host);
	fake_host(&(struct vs_vc_host){
		.moid = moid, .has = VS_VC_HOST_STATE, .connected = yes,
		.powered_on = true });
	for (size_t i = 0; i < MAX_VMS; i++) {
		const struct fake_vm *vm = &fake_vms[i];

		if (vm->used && !strcmp(vm->host, moid))
			fake_tell(vm, &(struct vs_vc_vm){
				.moid = vm->moid,
				.has = VS_VC_VM_CONN | VS_VC_VM_POWER,
				.connected = yes, .power = !yes ? "unknown" :
				vm->on ? "poweredOn" : "poweredOff" });
	}
}

/* A host that doesn't answer vCenter, with VMs that run on. */
static void hosts(void)
{
	if (model.lost && (now > lost_until_ms || !model.events)) {
		model_say("host-%d answers", model.lost);
		hosts_answer(model.lost, true);
		model.lost = 0;
	} else if (!model.lost && model.events && model_chance(2)) {
		model.lost = 1 + (int)model_random(HOSTS);
		lost_until_ms = now + 2000 + model_random(30000);
		model_say("host-%d doesn't answer", model.lost);
		hosts_answer(model.lost, false);
	}
}

static void foreign_vms(void)
{
	int k = (int)model_random(MODEL_NODES);
	const char *name = core_nodes()[k].name;
	struct fake_vm *vm = fake_get(name);

	if (!vm && model.events && !model.lost && model_chance(8)) {
		model_say("vCenter: a foreign VM is called vm%d", k + 1);
		fake_show(fake_add_vm(name, "group-v1", "host-1", false));
	} else if (vm && !vm->mark[0] && !model_lost(vm) &&
		   (!model.events || model_chance(5))) {
		model_say("vCenter: the foreign vm%d is gone", k + 1);
		fake_remove(vm);
	}
}

/* svf pause and svf resume: an operator, whether vCenter is there or not. As
 * control/admin_actions.c does it. */
static void pauses(void)
{
	const struct vs_pause *pause = vs_pause_get();

	if (pause && (now > paused_until_ms || !model.events)) {
		model_say("svf resume");
		vs_waits_paused(pause->since_ms, now);
		vs_boots_paused(&vs_core, pause->since_ms, now);
		vs_pause_end(&vs_core);
	} else if (!pause && model.events && model_chance(kind.pauses)) {
		paused_until_ms = now + model_random(60000);
		model_say("svf pause");
		vs_pause_begin(&vs_core, "root", 0, "at random");
	}
}

static void vcenter(void)
{
	if (kind.pauses)
		pauses();
	if (model.away && now < back_ms)
		return;
	if (model.away) {
		model.away = false;
		model.lost = 0;
		model_say("vCenter is back");
		fake_load();
		fake_slow(NULL, 0);
		return;
	}
	calls();
	if (model.people) {
		hosts();
		foreign_vms();
	}
	if (!model.events)
		return;
	if (model_chance(kind.restarts)) {
		restart();
	} else if (model_chance(2)) {
		model.away = true;
		back_ms = now + model_random(15000);
		model_say("vCenter is away");
		fake_down(VS_E_RETRY);
	} else {
		administrators();
	}
}

/* ---- worlds -------------------------------------------------------------- */

static void world_begins(unsigned seed, FILE *story)
{
	struct vs_core *c = &vs_core;

	now = 1000000;
	slow_ms = back_ms = push_ms = lost_until_ms = 0;
	model_begin(seed, story);
	model.now = now;
	model.people = kind.people;
	vs_calls_lost(c);
	fake_serial = 0;
	begin(MODEL_NODES, HOSTS, VFS, model.retention);
	fake_trace_to(trace);
	vs_leadership_begin(c);
	core_set_port(&model_port);
	vs_outbox_prep_set(&model_prep);
	vs_client_renew_clear();
	vs_state_file_read_done(true);
	model_tell_flags();
	ready();
}

static void world_turns(int t)
{
	ntold = 0;
	turn();
	model.now = now;
	/* Slurm's part looks at nodes, too: it needs no lock here. */
	(vs_outbox_send)(&vs_core, told, ntold, now, &push_ms);
	model_guests();
	model_slurm();
	vcenter();
	if (fake_while_paused) {
		model_broken("%d changing calls during svf pause",
			     fake_while_paused);
		fake_while_paused = 0;
	}
	model_rows_look();
	if (t % 2)
		model_tell_flags();
	if (model.events)
		return;
	/* the operator sees to what waits for him */
	if (vs_removal_limit_is_reached())
		vs_removal_confirm(&vs_core);
	if (t % 600)
		return;
	breakers_clear();
	/* svf vm forget, as the reason of its node says */
	for (int k = 0; k < MODEL_NODES; k++)
		if (node_missing(&core_nodes()[k]) && !model_vm(k)) {
			vs_missing_forget(&core_nodes()[k]);
			vs_node_mark_changed(&core_nodes()[k]);
		}
}

/* The number of VFs that no VM uses, and that no job can get. */
static int leaked(void)
{
	int n = 0;

	for (int i = 1; i <= HOSTS; i++) {
		char host[16];

		snprintf(host, sizeof(host), "host-%d", i);
		n += VFS - free_on(host);
	}
	return n;
}

static bool at_rest(void)
{
	for (int k = 0; k < FAKE_KINDS; k++)
		if (fake_waiting((enum fake_kind)k))
			return false;
	for (int k = 0; k < MODEL_NODES; k++)
		if (model_vm(k) && (model_vm(k)->on ||
				    !strcmp(model.retention, "destroy")))
			return false;
	return model_rests() && !leaked();
}

static void judge(void)
{
	if (fake_overfull)
		model_broken("I1: %d power-ons to a PF without a free VF",
			     fake_overfull);
	if (!model_over())
		model_broken("progress: not every job has ended");
	else if (!at_rest())
		model_broken("leak: no rest after the last job, %d VFs taken",
			     leaked());
}

static char *story_ends(void)
{
	fclose(model.story);
	model.story = NULL;
	return told_of.text;
}

/* The story; how many invariants were broken in *broken. */
static char *world(unsigned seed, int *broken)
{
	FILE *story = open_memstream(&told_of.text, &told_of.size);
	int t = 0, rest = 0;

	assert_non_null(story);
	told_of.seed = seed;
	world_begins(seed, story);
	while (t < WORLD_TURNS && rest < REST_TURNS &&
	       (model.events || !at_rest())) {
		if (model.events && (t == EVENTS_TURNS || model_over())) {
			model.events = false;
			model_say("people and faults end");
		}
		world_turns(t++);
		rest += model_over();
	}
	for (int i = 0; i < STILL_TURNS; i++)
		world_turns(t++);
	judge();
	if (model.broken)
		model_state();
	*broken = model.broken;
	return story_ends();
}

static void tell_story(unsigned seed, const char *story)
{
	printf("# world %u, Retention=%s:\n", seed, model.retention);
	while (*story) {
		int n = (int)strcspn(story, "\n");

		printf("# %.*s\n", n, story);
		story += n + (story[n] == '\n');
	}
}

/* An assertion left a world in the middle. */
static int cut_short(void **state)
{
	(void)state;
	kind.pauses = 0;
	if (!model.story)
		return 0;
	model_state();
	tell_story(told_of.seed, story_ends());
	free(told_of.text);
	return 0;
}

static unsigned number(const char *name, unsigned otherwise)
{
	const char *s = getenv(name);

	return s ? (unsigned)strtoul(s, NULL, 10) : otherwise;
}

static void worlds(unsigned n, unsigned restarts, unsigned nics, bool people)
{
	unsigned only = number("VS_WORLD", 0), first = only ? only : 1;
	unsigned bad = 0;

	kind.restarts = restarts;
	kind.nics = nics;
	kind.people = people;
	n = only ? 1 : number("VS_WORLDS", n);
	for (unsigned seed = first; seed < first + n; seed++) {
		int broken;
		char *story = world(seed, &broken);

		if (only || (broken && !bad))
			tell_story(seed, story);
		else if (broken)
			printf("# world %u breaks %d too\n", seed, broken);
		bad += broken != 0;
		free(story);
	}
	assert_int_equal(bad, 0);
}

static void in_500_worlds_nothing_leaks_and_everybody_gets_on(void **state)
{
	(void)state;
	worlds(500, 0, 0, false);
}

static void nor_in_200_where_slurmctld_is_killed(void **state)
{
	(void)state;
	worlds(200, 3, 0, false);
}

static void nor_in_100_where_nics_are_taken_away(void **state)
{
	(void)state;
	worlds(100, 0, 2, false);
}

static void nor_in_200_where_operators_pause_all_changes(void **state)
{
	(void)state;
	kind.pauses = 4;
	worlds(100, 0, 0, false);
	worlds(100, 3, 1, true);
}

/* ---- traces -------------------------------------------------------------- */

#define TRACES 200

struct digest { unsigned lines; uint64_t sum; };

/* FNV-1a, 64 bits. */
static struct digest digest(const char *text)
{
	struct digest d = { 0, 14695981039346656037u };

	for (; *text; text++) {
		d.sum = (d.sum ^ (unsigned char)*text) * 1099511628211u;
		d.lines += *text == '\n';
	}
	return d;
}

/* The calls of a world; to be free()d. Each fourth world has restarts, each
 * fourth NICs that are taken away, each fourth all that people do. */
static char *traced(unsigned seed)
{
	char *text;
	size_t size;
	int broken;

	kind.restarts = seed % 4 == 1 || seed % 4 == 3 ? 3 : 0;
	kind.nics = seed % 4 >= 2 ? 2 : 0;
	kind.people = seed % 4 == 3;
	trace = open_memstream(&text, &size);
	assert_non_null(trace);
	free(world(seed, &broken));
	fake_trace_to(NULL);
	fclose(trace);
	trace = NULL;
	assert_int_equal(broken, 0);
	return text;
}

static FILE *kept_digests(void)
{
	const char *top = getenv("srcdir");
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/testsuite/golden/model_traces.txt",
		 top ? top : ".");
	f = fopen(path, "r");
	assert_non_null(f);
	return f;
}

static void the_engine_sends_the_calls_that_are_kept(void **state)
{
	unsigned only = number("VS_WORLD", 0), n = number("VS_WORLDS", TRACES);
	unsigned seed = 0, bad = 0;
	char line[128];
	FILE *f = kept_digests();

	(void)state;
	while (fgets(line, sizeof(line), f)) {
		struct digest kept, is;
		char *text;

		if (line[0] == '#')
			continue;
		assert_int_equal(sscanf(line, "%u %u %" SCNx64, &seed,
					&kept.lines, &kept.sum), 3);
		if (only ? seed != only : seed > n)
			continue;
		text = traced(seed);
		is = digest(text);
		free(text);
		if (is.lines == kept.lines && is.sum == kept.sum)
			continue;
		if (!bad++)
			printf("# world %u sends other calls than are kept "
			       "(doc/dev/testing.md: golden traces)\n", seed);
	}
	fclose(f);
	assert_int_equal(seed, TRACES);
	if (bad)
		printf("# so do %u worlds in all\n", bad);
	assert_int_equal(bad, 0);
}

static FILE *made(const char *name)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", getenv("VS_TRACE"), name);
	f = fopen(path, "w");
	if (!f)
		print_error("can't write %s\n", path);
	assert_non_null(f);
	return f;
}

static void traces_are_written(void **state)
{
	FILE *digests = made("digests");

	(void)state;
	for (unsigned seed = 1; seed <= TRACES; seed++) {
		char *text = traced(seed), name[16];
		struct digest d = digest(text);
		FILE *f;

		snprintf(name, sizeof(name), "%u", seed);
		f = made(name);
		fputs(text, f);
		assert_int_equal(fclose(f), 0);
		free(text);
		fprintf(digests, "%u %u %016" PRIx64 "\n", seed, d.lines,
			d.sum);
	}
	assert_int_equal(fclose(digests), 0);
}

static void rows_told(void)
{
	printf("# %-44s reached    left, and became\n", "state of a node");
	for (int i = 0; i < model_nrows; i++) {
		const struct model_row *r = &model_rows[i];

		printf("# %-44s %7u %7u", r->name, r->reached, r->left);
		for (int k = 0; k < model_nrows; k++)
			if (r->next[k])
				printf(", %s %u", model_rows[k].name,
				       r->next[k]);
		putchar('\n');
	}
}

/* Each row of the table is one of the document's, and the other way round. */
static void rows_are_the_documents(void)
{
	const char *top = getenv("srcdir");
	char path[512], line[512];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/doc/dev/node-states.md", top ? top : ".");
	f = fopen(path, "r");
	assert_non_null(f);
	/* The first table; the conditions that follow have another test. */
	while (fgets(line, sizeof(line), f) && strncmp(line, "## ", 3)) {
		char *end;

		if (strncmp(line, "| ", 2) || !strncmp(line, "| state", 7))
			continue;
		end = strstr(line + 2, " |");
		assert_non_null(end);
		*end = '\0';
		assert_true(n < model_nrows);
		assert_string_equal(line + 2, model_rows[n++].name);
	}
	fclose(f);
	assert_int_equal(n, model_nrows);
}

static void each_state_of_a_node_is_reached_and_ends(void **state)
{
	(void)state;
	rows_are_the_documents();
	for (int i = 0; i < model_nrows; i++)
		model_rows[i] = (struct model_row){ .name = model_rows[i].name };
	worlds(300, 3, 1, true);
	rows_told();
	for (int i = 0; i < model_nrows && !getenv("VS_WORLD") &&
	     !getenv("VS_WORLDS"); i++) {
		if (model_rows[i].left < 10)
			print_error("%s\n", model_rows[i].name);
		assert_true(model_rows[i].reached >= 10);
		assert_true(model_rows[i].left >= 10);
	}
}

static void a_world_follows_from_its_seed_alone(void **state)
{
	int broken;
	char *once, *again;

	(void)state;
	once = traced(7);
	free(traced(11));
	again = traced(7);
	assert_string_equal(once, again);
	free(once);
	free(again);
	kind.restarts = 3;
	kind.nics = 2;
	kind.people = true;
	once = world(7, &broken);
	free(world(8, &broken));
	again = world(7, &broken);
	assert_string_equal(once, again);
	free(once);
	free(again);
}

/* The engine's own words are part of the story. */
static void heard_log(enum vs_log_level level, const char *line)
{
	(void)level;
	if (model.story)
		fprintf(model.story, "%8.1f | %s\n", (double)now / 1000, line);
}

#define WORLDS(test) cmocka_unit_test_teardown(test, cut_short)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLDS(in_500_worlds_nothing_leaks_and_everybody_gets_on),
		WORLDS(nor_in_200_where_slurmctld_is_killed),
		WORLDS(nor_in_100_where_nics_are_taken_away),
		WORLDS(nor_in_200_where_operators_pause_all_changes),
		WORLDS(each_state_of_a_node_is_reached_and_ends),
		WORLDS(a_world_follows_from_its_seed_alone),
		WORLDS(the_engine_sends_the_calls_that_are_kept),
	};
	const struct CMUnitTest writing[] = { WORLDS(traces_are_written) };

	vs_log_to(heard_log);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (getenv("VS_TRACE"))
		return cmocka_run_group_tests(writing, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
