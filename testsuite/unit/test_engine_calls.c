/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call matrix at the engine: every call that changes something ends once
 * in each of the ways in which it can end, in every scenario that sends it. A
 * small model of Slurm acts as slurmctld would. Afterwards the job runs, or has
 * failed once with a reason; no claim, task or second VM is left; the number of
 * calls is bounded.
 *
 * What the network does to a call (refused, cut, spoilt) has become one of
 * these ends in the client: testsuite/crash/calls.py shows that.
 */
#include "engine/tasks/tasks.h"
#include "engine_stage.h"
#include "util/log.h"

enum way {
	/* 0 .. VS_E_BUG: the call is refused with that code */
	TASK = 32,		/* + code: its task ends with it */
	LOST = 64,		/* the answer is lost, nothing has happened */
	LOST_DONE,		/* the answer is lost, it has happened */
	LOST_LATE,		/* the same, and it happens seconds later */
	CUT, CUT_DONE,		/* the connection is lost with the answer */
	CUT_TASK,		/* the same, but its task ends later */
	ENDLESS,		/* its task never ends, unless it is cancelled */
	WAYS
};

enum { NEW, OFF, CHANGED_OFF, CHANGED_ON, MOVED, REBUILT, SUSPENDED,
       DESTROYED, CANCELLED, SCENARIOS };
static const char *const scenario_names[] = {
	"new", "off", "changed-off", "changed-on", "moved", "rebuilt",
	"suspended", "destroyed", "cancelled",
};
static const char *const kind_names[FAKE_KINDS + 1] = {
	"clone", "reconfigure", "relocate", "power-on", "power-off",
	"shutdown", "destroy", "adopt", "snapshot", "instant", "no call",
};

/* ---- a small Slurm, of one node and one job -------------------------------- */

#define JOB 7

static void quiet(enum vs_log_level level, const char *line)
{
	(void)level;
	if (getenv("VS_TEST_LOG"))
		fprintf(stderr, "%lld %s\n", (long long)now, line);
}

static struct {
	uint32_t flags;
	bool begun, cancelled;
	int answers;			/* of its prolog */
	bool ran, failed;
	char why[256];
	int since;			/* turns in this state */
} slurm;

static void slurm_set(uint32_t f)
{
	if (slurm.flags != f)
		slurm.since = 0;
	slurm.flags = f;
	flags("vm1", f);
}

static void slurm_job_ends(void)
{
	int one = id("vm1");

	if (slurm.begun)
		vs_job_end(&vs_core, JOB, &one, 1, false);
	slurm.begun = false;
}

static void slurm_hears(const struct vs_outbox_request *t)
{
	switch (t->kind) {
	case VS_REQUEST_FAIL:
	case VS_REQUEST_RELEASE:
		slurm.failed |= slurm.begun;
		vs_strlcpy(slurm.why, t->text, sizeof(slurm.why));
		slurm_job_ends();
		slurm_set(t->kind == VS_REQUEST_FAIL ? DOWN | VS_NODE_DOWN :
						       DOWN);
		break;
	case VS_REQUEST_REBUILD:
		if (slurm.flags == BUSY && !slurm.ran)
			slurm_set(BOOT);
		break;
	case VS_REQUEST_POWER_DOWN:
		if (slurm.flags == UP)
			slurm_set(GOING);
		break;
	case VS_REQUEST_PROLOG:
		slurm.answers++;
		slurm.ran |= t->ok && slurm.begun;
		if (t->ok || !slurm.begun)
			break;
		/* requeued, and its node boots for no job */
		slurm.failed = true;
		vs_strlcpy(slurm.why, "ProvisionTimeout", sizeof(slurm.why));
		slurm_job_ends();
		break;
	default:
		break;
	}
}

static void slurm_goes_on(void)
{
	struct fake_vm *vm = fake_get("vm1");

	for (size_t i = 0; i < ntold; i++)
		slurm_hears(&told[i]);
	ntold = 0;
	slurm.since++;
	if (slurm.flags == WANTED && slurm.since > 3)
		slurm_set(BOOT);
	else if ((slurm.flags & VS_NODE_POWERING_UP) && slurm.since > 5 && vm &&
		 vm->on)
		slurm_set(slurm.begun ? BUSY : UP);
	else if (slurm.flags == GOING && slurm.since > 20)
		slurm_set(DOWN);
	if (slurm.begun && slurm.cancelled && !slurm.ran) {
		slurm_job_ends();
		slurm_set(slurm.flags == BUSY ? UP : GOING);
	}
}

static void slurm_begins(void)
{
	int one = id("vm1");

	assert_int_equal(job_begin(JOB, "vm1", NULL), 0);
	slurm.begun = true;
	vs_job_wait(&vs_core, JOB, 0, &one, 1);
	slurm_set((slurm.flags & UP) ? BUSY : WANTED);
}

/* ---- a vCenter that does what it is asked, but for one call ------------------ */

static enum fake_kind bad_kind;
static enum way bad_way;
static bool spoilt;			/* the one call has come */
static int late, away, beat_in;		/* turns until then, 0: not so */
static int vms_most;			/* of one name */

static void spoil(void)
{
	bool its_task = (bad_way >= TASK && bad_way < LOST) ||
		bad_way == CUT_TASK || bad_way == ENDLESS;

	spoilt = true;
	if (its_task)
		fake_accept(bad_kind);
	if (bad_way == LOST_LATE || bad_way == CUT_TASK) {
		fake_late(bad_kind);
		late = 40;
	}
	if (bad_way < LOST) {
		fake_fail(bad_kind, bad_way & (TASK - 1), "declared");
	} else if (bad_way == LOST || bad_way == LOST_DONE ||
		   bad_way == LOST_LATE) {
		fake_lose(bad_kind, bad_way == LOST_DONE);
	} else if (bad_way == CUT || bad_way == CUT_DONE ||
		   bad_way == CUT_TASK) {
		if (bad_way == CUT_DONE)
			fake_lose(bad_kind, true);
		fake_down(VS_E_RETRY);
		away = 10;
	}
}

static void beat(void)
{
	struct vs_vc_task t;
	bool any = fake_late_task(&t);

	fake_slow(&t, any ? 1 : 0);
}

static void vcenter_goes_on(int now_turn)
{
	if (away && !--away) {
		fake_load();
		beat();
	}
	if (away)
		return;
	if (late && !--late) {
		fake_late_happens();
		fake_finish(FAKE_ADOPT);
	}
	for (int k = 0; k < FAKE_ADOPT; k++) {
		if ((enum fake_kind)k == bad_kind && fake_waiting(k) &&
		    !spoilt)
			spoil();
		else if (bad_way == ENDLESS && (enum fake_kind)k == bad_kind &&
			 fake_cancels && fake_waiting(k))
			fake_fail(k, VS_E_CANCELED, "cancelled");
		else if (bad_way != ENDLESS || (enum fake_kind)k != bad_kind)
			while (!away && fake_finish(k))
				;
	}
	/* What is asked for comes two seconds later. */
	if (fake_slow_asked && !beat_in)
		beat_in = 20;
	if (!away && ((beat_in && !--beat_in) || now_turn % 150 == 0))
		beat();
}

static void time_passes(int n)
{
	for (int i = 1; i <= n; i++) {
		turn();
		slurm_goes_on();
		vcenter_goes_on(i);
		if (fake_count() > vms_most)
			vms_most = fake_count();
	}
}

/* ---- scenarios --------------------------------------------------------------- */

static void up_for_nobody(void)
{
	slurm_set(VS_NODE_POWERING_UP);
	time_passes(30);
	assert_int_equal(slurm.flags, UP);
}

static void off_for_nobody(void)
{
	up_for_nobody();
	slurm_set(GOING);
	time_passes(40);
	assert_int_equal(slurm.flags, DOWN);
	assert_false(fake_get("vm1")->on);
}

static void profile_changes(void)
{
	core_profiles()[0].memory_mb = 2048;
	vs_profiles_changed(&vs_core);
}

static void template_changes(void)
{
	vs_strlcpy(core_profiles()[0].template_version, "2",
		   sizeof(core_profiles()[0].template_version));
	vs_profiles_changed(&vs_core);
}

static void hosts_vfs_go(void)
{
	struct fake_vm *thief;

	for (int i = 0; i < 2; i++) {
		thief = fake_add_vm(i ? "thief1" : "thief0", "group-other",
				    fake_get("vm1")->host, true);
		thief->has_nic = true;
		vs_strlcpy(thief->pci, "0000:3b:00.0", sizeof(thief->pci));
		fake_show(thief);
	}
}

static void prepare(int s)
{
	switch (s) {
	case OFF:
		off_for_nobody();
		break;
	case CHANGED_OFF:
		off_for_nobody();
		profile_changes();
		break;
	case CHANGED_ON:
		up_for_nobody();
		profile_changes();
		break;
	case MOVED:
		off_for_nobody();
		hosts_vfs_go();
		break;
	case REBUILT:
		off_for_nobody();
		template_changes();
		break;
	case SUSPENDED:
		up_for_nobody();
		fake_get("vm1")->tools = true;
		fake_show(fake_get("vm1"));
		break;
	case DESTROYED:
		up_for_nobody();
		break;
	default:
		break;
	}
}

static bool has_job(int s)
{
	return s != SUSPENDED && s != DESTROYED;
}

static void wish(int s)
{
	if (has_job(s))
		slurm_begins();
	else
		slurm_set(GOING);
	if (s == CANCELLED) {
		time_passes(1);
		slurm.cancelled = true;
	}
}

/* All is given back, as after a job's end and SuspendTime. */
static void the_end(void)
{
	slurm_job_ends();
	if (slurm.flags & (UP | VS_NODE_POWERING_UP))
		slurm_set(GOING);
	time_passes(800);
	if (slurm.flags == UP || slurm.flags == BUSY) {
		slurm_set(GOING);
		time_passes(800);
	}
}

static char cell[96];

#define must(what)							\
	do {								\
		if (!(what)) {						\
			print_error("%s: not " #what "; why: %s; last: %s\n", \
				    cell, slurm.why,			\
				    node_error(&core_nodes()[0])->text);	\
			fail();						\
		}							\
	} while (0)

static int changes(void)
{
	int n = 0;

	for (int k = 0; k < FAKE_ADOPT; k++)
		n += fake_sent[k];
	return n;
}

static void judge(int s, int bound)
{
	struct fake_vm *vm = fake_get("vm1");

	must(vms_most <= 1);
	must(!vm || !vm->on);
	must(!vs_ledger_get(core_ledger(), "vm1"));
	must(free_on("host-1") >= 0 && free_on("host-2") >= 0);
	must(vs_tasks_provisioning() == 0 && vs_tasks_power_ops() == 0);
	must(fake_overfull == 0);
	must(slurm.flags == DOWN || slurm.failed);
	must(s != DESTROYED || !vm);
	must(changes() <= bound);
	must(!vs_waits());
}

/* True: the scenario sent such a call. */
static bool run(int s, enum fake_kind kind, enum way way, int bound)
{
	bool reached;

	snprintf(cell, sizeof(cell), "%s, %s, way %d", scenario_names[s],
		 kind_names[kind], way);
	memset(&slurm, 0, sizeof(slurm));
	bad_kind = FAKE_KINDS;		/* until the stage is set */
	bad_way = WAYS;
	spoilt = false;
	late = away = beat_in = vms_most = 0;
	begin(1, 2, 2, s == DESTROYED ? "destroy" : "warm");
	core_conf()->provision_timeout_s = 200;
	ready();
	slurm.flags = DOWN;
	prepare(s);
	memset(fake_sent, 0, sizeof(fake_sent));
	bad_kind = kind;
	bad_way = way;
	wish(s);
	time_passes(2500);
	reached = spoilt;
	if (has_job(s) && s != CANCELLED) {
		must(slurm.ran || slurm.failed);
		must(!slurm.failed || slurm.why[0]);
		must(slurm.answers == 1);
	}
	must(bad_way != ENDLESS || !slurm.ran || !reached);
	bad_way = bad_way == ENDLESS ? WAYS : bad_way;
	the_end();
	judge(s, bound);
	return reached;
}

/* Each way of each call that the scenario sends. */
static void in_every_way(int s)
{
	int normal, cells = 0;

	run(s, FAKE_KINDS, WAYS, 100);
	must(!has_job(s) || s == CANCELLED || slurm.ran);
	normal = changes();
	for (int k = 0; k < FAKE_ADOPT; k++) {
		if (!run(s, k, LOST, 100))
			continue;
		for (int w = VS_E_RETRY; w < WAYS; w++) {
			if ((w > VS_E_BUG && w < TASK + VS_E_RETRY) ||
			    (w > TASK + VS_E_BUG && w < LOST))
				continue;
			run(s, k, w, 2 * normal + 6);
			cells++;
		}
	}
	must(cells > 0);
	print_message("# %s: %d cells\n", scenario_names[s], cells);
}

#define TEST(name, s) static void name(void **st) { (void)st; in_every_way(s); }
TEST(a_new_vms_calls_fail_in_every_way, NEW)
TEST(the_calls_for_a_vm_that_is_off_fail_in_every_way, OFF)
TEST(the_calls_for_a_changed_vm_that_is_off_fail_in_every_way, CHANGED_OFF)
TEST(the_calls_for_a_changed_vm_that_is_on_fail_in_every_way, CHANGED_ON)
TEST(the_calls_of_a_move_fail_in_every_way, MOVED)
TEST(the_calls_for_a_changed_template_fail_in_every_way, REBUILT)
TEST(the_calls_of_a_suspend_fail_in_every_way, SUSPENDED)
TEST(the_calls_of_a_destruction_fail_in_every_way, DESTROYED)
TEST(the_calls_of_a_cancelled_job_fail_in_every_way, CANCELLED)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_vms_calls_fail_in_every_way),
		cmocka_unit_test(the_calls_for_a_vm_that_is_off_fail_in_every_way),
		cmocka_unit_test(the_calls_for_a_changed_vm_that_is_off_fail_in_every_way),
		cmocka_unit_test(the_calls_for_a_changed_vm_that_is_on_fail_in_every_way),
		cmocka_unit_test(the_calls_of_a_move_fail_in_every_way),
		cmocka_unit_test(the_calls_for_a_changed_template_fail_in_every_way),
		cmocka_unit_test(the_calls_of_a_suspend_fail_in_every_way),
		cmocka_unit_test(the_calls_of_a_destruction_fail_in_every_way),
		cmocka_unit_test(the_calls_of_a_cancelled_job_fail_in_every_way),
	};

	vs_log_to(quiet);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
