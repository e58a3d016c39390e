/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An operator's order for thousands of nodes: slurmctld's threads have the core's
 * lock in the middle of it, and what they do there, a new configuration first of
 * all, makes nothing of before believed.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "engine/state/state.h"
#include "cmocka_range.h"
#include "engine_stage.h"
#include "scratch.h"
#include "util/json.h"

#define NODES 4000
#define ALL "vm[1-4000]"
#define LAST "vm4000"
#define KEPT 1000		/* nodes of the new configuration */

static bool lent;		/* the thread was in the middle */
static void (*deed)(struct vs_core *c);
static bool (*begun)(struct vs_core *c), (*over)(struct vs_core *c);

static struct vs_node *node(const char *name)
{
	return vs_node_named(&vs_core, name);
}

/* As one of slurmctld's: it wants the lock all the time. */
static void *slurmctld(void *arg)
{
	struct vs_core *c = &vs_core;
	bool done = false;

	atomic_fetch_add(&vs_lock_waiting, 1);
	while (!done) {
		vs_lock_priority();
		if (begun(c)) {
			lent = !over(c);
			if (lent)
				deed(c);
			done = true;
		}
		vs_unlock();
		sched_yield();
	}
	atomic_fetch_sub(&vs_lock_waiting, 1);
	return arg;
}

static pthread_t slurmctld_begin(void)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, slurmctld, NULL), 0);
	while (!atomic_load(&vs_lock_waiting))
		sched_yield();
	return t;
}

static bool first_ordered(struct vs_core *c)
{
	(void)c;
	return vs_vm_actions_any(&node("vm1")->orders);
}

static bool last_ordered(struct vs_core *c)
{
	(void)c;
	return vs_vm_actions_any(&node(LAST)->orders);
}

/* All nodes are down but the first and the last, whose VMs are on and idle. */
static void many(void)
{
	begin(NODES, 1, 2, "warm");
	ready();
	bring_up(7, "vm1");
	end_job(7, "vm1");
	bring_up(8, LAST);
	end_job(8, LAST);
	lent = false;
	begun = first_ordered;
	over = last_ordered;
}

/* The answer's rows. */
static struct vs_jdoc doc;
static char *text;

static struct vs_j order(void)
{
	struct vs_err err = { 0 };
	struct json_object *o;
	struct vs_j rows;
	pthread_t t;

	t = slurmctld_begin();
	o = vs_core_request("evict", ALL, "", 0, &err);
	pthread_join(t, NULL);
	assert_non_null(o);
	text = vs_jb_text_free(o);
	assert_int_equal(vs_jdoc_parse(&doc, text, strlen(text), NULL), 0);
	rows = vs_j_get(vs_j_root(&doc), "nodes");
	assert_int_equal(vs_j_len(rows), NODES);
	return rows;
}

static void order_end(void)
{
	vs_jdoc_free(&doc);
	free(text);
}

static const char *did(struct vs_j rows, size_t i)
{
	return vs_j_str(vs_j_get(vs_j_at(rows, i), "action"));
}

static const char *said(struct vs_j rows, size_t i)
{
	return vs_j_str(vs_j_get(vs_j_at(rows, i), "description"));
}

static void nothing(struct vs_core *c)
{
	(void)c;
}

static void slurmctld_has_the_lock_in_the_middle_of_an_order(void **state)
{
	struct vs_j rows;

	(void)state;
	many();
	deed = nothing;
	rows = order();
	assert_true(lent);
	assert_string_equal(did(rows, 0), "off");
	assert_string_equal(did(rows, 1), "nothing");
	assert_string_equal(did(rows, NODES - 1), "off");
	order_end();
}

/* ---- a configuration that comes in the middle ------------------------------------- */

static void fewer_nodes(struct vs_core *c)
{
	vs_setup_apply(c, conf_make(KEPT, "warm", 1024));
	vs_setup_macs(c);
}

static void an_order_for_nodes_that_are_gone_meanwhile_is_refused(void **state)
{
	struct vs_j rows;

	(void)state;
	many();
	deed = fewer_nodes;
	rows = order();
	assert_true(lent);
	assert_string_equal(did(rows, 0), "off");
	assert_true(node("vm1")->orders.evict);		/* it is carried on */
	for (size_t i = KEPT; i < NODES; i++) {
		/* those before the change were done as ordered */
		if (i < NODES - 1 && !strcmp(did(rows, i), "nothing"))
			continue;
		assert_string_equal(did(rows, i), "refused");
		assert_string_equal(said(rows, i),
			"the node changed during the request: the node no longer exists; repeat the command");
	}
	order_end();
}

/* As core_start does: vCenter's inventory must be read again. */
static void not_loaded(struct vs_core *c)
{
	(void)c;
	core_set_epoch(core_epoch() + 1);
	core_set_loaded(false);
	core_set_found(false);
	core_set_ready(false);
}

static void observing(struct vs_core *c)
{
	(void)c;
	core_set_observe(true);
}

static void nothing_is_ordered_by_an_inventory_that_is_none_any_more(void **state)
{
	static void (*const deeds[])(struct vs_core *c) = {
		not_loaded, observing,
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(deeds); i++) {
		struct vs_j rows;

		many();
		deed = deeds[i];
		rows = order();
		assert_true(lent);
		assert_string_equal(did(rows, 0), "off");
		assert_string_equal(did(rows, NODES - 1), "refused");
		assert_non_null(strstr(said(rows, NODES - 1), i ?
			"Mode=observe" : "inventory is not loaded; repeat the command"));
		assert_false(vs_vm_actions_any(&node(LAST)->orders));
		core_set_observe(false);
		order_end();
	}
}

/* ---- they are saved --------------------------------------------------------------- */

static bool saving(struct vs_core *c)
{
	(void)c;
	return !vs_state_file_pending();
}

static bool never(struct vs_core *c)
{
	(void)c;
	return false;
}

/* The file is of two configurations then: another one follows. */
static void orders_that_are_saved_while_the_configuration_changes_are_again(
	void **state)
{
	char dir[SCRATCH_LEN], file[SCRATCH_FILE];
	struct vs_core *c = &vs_core;
	uint64_t epoch;
	struct stat st;
	pthread_t t;

	(void)state;
	assert_non_null(mkdtemp(scratch_path(dir, "lent")));
	snprintf(file, sizeof(file), "%s/slurm_vsphere.hints", dir);
	many();
	free(core_conf()->state_dir);
	core_conf()->state_dir = vs_strdup(dir);
	node("vm1")->orders.evict = true;
	begun = saving;
	over = never;
	deed = fewer_nodes;
	epoch = core_epoch();
	vs_state_file_dirty();
	vs_state_file_urgent();
	t = slurmctld_begin();
	vs_state_file_save(c, now);
	pthread_join(t, NULL);
	assert_true(lent && core_epoch() != epoch);
	assert_true(vs_state_file_pending());
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* ---- each node, each host ------------------------------------------------------------ */

struct walk {
	int seen, changes_at;		/* -1: never */
};

static void node_seen(struct vs_core *c, struct vs_node *n, void *arg)
{
	struct walk *w = arg;

	(void)c;
	assert_int_equal(n->id, w->seen);
	if (w->seen++ == w->changes_at)
		core_set_epoch(core_epoch() + 1);
}

/* What is found of nodes that are gone is worth nothing. */
static void a_walk_over_nodes_ends_where_the_configuration_changes(void **state)
{
	struct walk all = { .changes_at = -1 }, some = { .changes_at = 70 };

	(void)state;
	begin(300, 1, 1, "warm");
	assert_true(vs_each_node(&vs_core, node_seen, &all));
	assert_int_equal(all.seen, 300);
	assert_false(vs_each_node(&vs_core, node_seen, &some));
	assert_uint_in_range(some.seen, 71, 299);
}

static void host_seen(struct vs_core *c, struct vs_host *h, void *arg)
{
	struct walk *w = arg;

	(void)c;
	assert_ptr_equal(vs_host_get(core_inv(), h->moid), h);
	if (w->seen++ == w->changes_at)
		core_set_epoch(core_epoch() + 1);
	else if (w->seen == 1)
		fake_tell(gone, VS_VC_HOST, strcmp(h->moid, "host-3") ?
			  "host-3" : "host-4");
}

static void a_walk_over_hosts_passes_over_those_that_went(void **state)
{
	struct walk all = { .changes_at = -1 }, some = { .changes_at = 1 };

	(void)state;
	begin(1, 6, 1, "warm");
	ready();
	assert_true(vs_each_host(&vs_core, host_seen, &all));
	assert_int_equal(all.seen, 5);
	assert_false(vs_each_host(&vs_core, host_seen, &some));
	assert_int_equal(some.seen, 2);
}

/* ---- the lock is asserted --------------------------------------------------------- */

#ifdef VS_DEBUG
/* In a process of its own. Returns its status, as waitpid() gives it. */
static int touched_by_a_child(bool with_lock)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		lock_needed(true);
		if (with_lock)
			vs_lock();
		vs_nodes_mark_changed(&vs_core);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void a_call_without_the_lock_ends_the_process(void **state)
{
	int status;

	(void)state;
	begin(1, 1, 1, "warm");
	status = touched_by_a_child(true);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	status = touched_by_a_child(false);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}
#else
static void a_call_without_the_lock_ends_the_process(void **state)
{
	(void)state;
	skip();
}
#endif

/* ---- svf plan --------------------------------------------------------------------- */

#define PLANNED 300
#define ALL_PLANNED "vm[1-300]"
#define HOSTS 20
#define VFS 16			/* of each; 320 in all */

/* After what is read for the placement: once a node for its steps, twice before
 * the figures, once a node for these and for its row. */
#define LENDS_AFTER (2 + 3 * PLANNED)
#define YIELDS 1000	/* of vs_lock_yield(), while the lock is wanted */

static void (*event)(void);	/* of vCenter's or Slurm's, without the lock */
static int yields, moment, lends, events;

/* vs_lock_yield() calls it without the lock. */
int sched_yield(void)
{
	void (*what)(void) = event;
	bool needed;

	if (!what)
		return (int)syscall(SYS_sched_yield);
	atomic_fetch_add(&vs_lock_had, 1);
	lends = yields / YIELDS + 1;
	if (yields++ == moment * YIELDS) {
		event = NULL;
		atomic_fetch_sub(&vs_lock_waiting, 1);
		needed = lock_needed(false);
		what();
		lock_needed(needed);
		atomic_fetch_add(&vs_lock_waiting, 1);
		event = what;
		events++;
	}
	return 0;
}

static const struct vs_slurm_ops plans_port = { .viewer = viewer };

static void no_change(void)
{
}

static void inventory_read_again(void)
{
	fake_tell(load_begin);
}

static void host_gone(void)
{
	fake_tell(gone, VS_VC_HOST, "host-1");
}

static void hosts_gone(void)
{
	for (int i = 1; i <= HOSTS; i++) {
		char moid[24];

		snprintf(moid, sizeof(moid), "host-%d", i);
		fake_tell(gone, VS_VC_HOST, moid);
	}
}

/* VMs of others get so many VFs of two hosts. */
static void vfs_taken(int n)
{
	for (int i = 0; i < n; i++) {
		char name[24];
		struct fake_vm *vm;

		snprintf(name, sizeof(name), "other%d", i);
		vm = fake_add_vm(name, "group-other",
				 i % 2 ? "host-3" : "host-4", true);
		vm->has_nic = true;
		vs_strlcpy(vm->pci, "0000:3b:00.0", sizeof(vm->pci));
		fake_show(vm);
	}
}

static void some_vfs_taken(void)
{
	vfs_taken(10);
}

static void too_many_vfs_taken(void)
{
	vfs_taken(30);
}

static void host_in_maintenance(void)
{
	vs_lock();
	vs_host_get(core_inv(), "host-7")->maintenance = true;
	vs_host_changed(core_inv(), vs_host_get(core_inv(), "host-7"));
	vs_unlock();
}

/* The first and the last of the nodes by number. */
static void job_begins(void)
{
	struct vs_err err = { 0 };

	assert_int_equal(vs_core_api_get()->job_begin(9, 0,
		(int[]) { node("vm1")->id, node("vm300")->id }, 2, &err), 0);
}

static void job_ends(void)
{
	vs_core_api_get()->job_end(8, (int[]) { node("vm200")->id }, 1, false);
	vs_lock();
	vs_claim_release(&vs_core, node("vm200"));
	vs_unlock();
}

/* The VM of vm150 is off. */
static void vm_gone(void)
{
	fake_remove(fake_get("vm150"));
}

static void vm_to(const char *name, const char *host)
{
	vs_strlcpy(fake_get(name)->host, host, sizeof(fake_get(name)->host));
	fake_show(fake_get(name));
}

static void vm_elsewhere(void)
{
	vm_to("vm150", "host-12");
}

/* vm100 runs on another host by now: its hold follows. */
static void engine_turns(void)
{
	turn();
}

/* vm200 has a place, for a job that has not begun its VM. */
static void plan_world(void)
{
	struct vs_err err = { 0 };

	begin(PLANNED, HOSTS, VFS, "warm");
	core_set_port(&plans_port);
	all_nodes = true;
	ready();
	bring_up(7, "vm100");
	bring_up(6, "vm150");
	end_job(6, "vm150");
	powered_down("vm150");
	assert_int_equal(vs_core_api_get()->job_begin(8, 0,
		(int[]) { node("vm200")->id }, 1, &err), 0);
	vm_to("vm100", "host-20");
}

/* The answer without its time, to be freed; NULL and err: there is none. */
static char *plan_text(struct vs_err *err)
{
	struct json_object *o;
	char *answer, *time;

	o = vs_core_plan(ALL_PLANNED, 1001, err);
	if (!o)
		return NULL;
	answer = vs_jb_text_free(o);
	time = strstr(answer, "\"time\":");
	assert_non_null(time);
	for (time += strlen("\"time\":"); *time >= '0' && *time <= '9'; time++)
		*time = '0';
	return answer;
}

static char *plan_beside(void (*what)(void), struct vs_err *err)
{
	char *answer;

	plan_world();
	yields = events = 0;
	event = what;
	atomic_fetch_add(&vs_lock_waiting, 1);
	answer = plan_text(err);
	atomic_fetch_sub(&vs_lock_waiting, 1);
	event = NULL;
	assert_true(events > 0);
	return answer;
}

/* How often the lock is lent until all is read. */
static int reading(void)
{
	moment = 0;
	free(plan_beside(no_change, NULL));
	assert_true(lends > LENDS_AFTER + 3);
	return lends - LENDS_AFTER;
}

/* A place is on a host, and the host may go while the lock is lent. ASan sees a
 * plan that looks at it then. */
static void hosts_that_go_while_a_plan_is_made_are_not_looked_at(void **state)
{
	int read = reading();

	(void)state;
	for (moment = 0; moment < LENDS_AFTER;
	     moment += moment < read ? 1 : 61) {
		struct vs_err err = { 0 };
		char *answer = plan_beside(hosts_gone, &err);

		/* VMs went with their hosts: that starts the plan over */
		assert_true(!answer || moment >= read);
		assert_true(answer || strstr(err.text, "the hosts have capacity for 0"));
		assert_true(!answer || strstr(answer, "\"served\":true"));
		free(answer);
	}
}

/* Whatever changes while hosts and nodes are read in pieces, the plan is the one
 * that is made after that; of a change in the middle of the rows it may be the one
 * before. */
static void a_plan_is_of_one_state(void **state)
{
	static void (*const changes[])(void) = {
		host_gone, some_vfs_taken, too_many_vfs_taken,
		host_in_maintenance, job_begins, job_ends, vm_gone,
		vm_elsewhere, engine_turns,
	};
	int read = reading(), last = read + PLANNED;

	(void)state;
	for (size_t i = 0; i < VS_COUNT(changes); i++) {
		char *before, *after;

		plan_world();
		before = plan_text(NULL);
		changes[i]();
		after = plan_text(NULL);
		assert_string_not_equal(before, after);
		for (moment = 0; moment < last;
		     moment += moment < read ? 1 : 37) {
			char *answer = plan_beside(changes[i], NULL);

			assert_non_null(answer);
			assert_true(!strcmp(answer, after) ||
				    (moment >= read &&
				     !strcmp(answer, before)));
			/* what is read again is placed once */
			assert_true(moment >= read ||
				    lends < LENDS_AFTER + PLANNED);
			free(answer);
		}
		free(before);
		free(after);
	}
}

/* Each time that the lock is lent. */
static void touched(void)
{
	vs_lock();
	vs_node_mark_changed(node("vm300"));
	vs_unlock();
	moment++;
}

static void nodes_that_change_all_the_time_end_no_plan(void **state)
{
	char *answer;

	(void)state;
	moment = 0;
	answer = plan_beside(touched, NULL);
	assert_non_null(answer);
	assert_true(events > 3 * PLANNED);
	assert_non_null(strstr(answer, "\"served\":true"));
	free(answer);
}

static void an_inventory_that_is_read_again_ends_a_plan(void **state)
{
	(void)state;
	for (moment = 0; moment < LENDS_AFTER; moment += 61) {
		struct vs_err err = { 0 };

		assert_null(plan_beside(inventory_read_again, &err));
		assert_string_equal(err.text, "plan: the configuration or vCenter's inventory was read again while the plan was made: ask again");
	}
}

/* ---- idle VMs that are asked back ------------------------------------------------- */

#define IDLE 300		/* vm1 to vm300, without a VF */
#define WAITING 200		/* vm301 to vm500 */

/* Job 8 waits for nodes that lack memory of the pool. */
static void idle_world(void)
{
	int wants[WAITING];
	char name[16];

	begin(IDLE + WAITING, HOSTS, VFS, "warm");
	for (int i = 1; i <= IDLE; i++) {
		char host[24];
		struct fake_vm *vm;

		snprintf(name, sizeof(name), "vm%d", i);
		snprintf(host, sizeof(host), "host-%d", i % HOSTS + 1);
		vm = fake_add_vm(name, "group-v1", host, true);
		snprintf(vm->mark, sizeof(vm->mark), "%s/%s/%s",
			 core_cluster_id(), name, vm->uuid);
		flags(name, UP);
	}
	fake_pool_mb = 500;
	ready();
	for (int i = 0; i < WAITING; i++) {
		snprintf(name, sizeof(name), "vm%d", IDLE + 1 + i);
		wants[i] = id(name);
	}
	refuse(8, wants, WAITING, WAITING, "no room");
	ntold = 0;
}

/* As where another slurmctld takes over. */
static void jobs_are_forgotten(void)
{
	vs_lock();
	vs_jobs_clear();
	vs_unlock();
}

static void hundred_nodes(void)
{
	vs_lock();
	vs_setup_apply(&vs_core, conf_make(100, "warm", 1024));
	vs_setup_macs(&vs_core);
	vs_unlock();
}

/* A job begins on one that is idle, unless it is asked back already. */
static void job_begins_on_vm150(void)
{
	struct vs_err err = { 0 };

	if (!vs_node_going(node("vm150")))
		assert_int_equal(vs_core_api_get()->job_begin(9, 0,
			(int[]) { node("vm150")->id }, 1, &err), 0);
}

/* How many are asked back while `what` happens, the moment'th time that the
 * lock is lent. */
static size_t asked_back_beside(void (*what)(void))
{
	size_t n = 0;

	idle_world();
	yields = events = 0;
	event = what;
	atomic_fetch_add(&vs_lock_waiting, 1);
	turns(3);
	atomic_fetch_sub(&vs_lock_waiting, 1);
	event = NULL;
	for (size_t i = 0; i < ntold; i++)
		n += told[i].kind == VS_REQUEST_POWER_DOWN;
	return n;
}

/* ASan sees who looks at nodes of before. */
static void what_changes_while_idle_vms_are_asked_back_counts(void **state)
{
	bool some_before = false, few_before = false;
	int lent_often;

	(void)state;
	moment = 0;
	assert_int_equal(asked_back_beside(no_change), WAITING);
	lent_often = lends;
	for (moment = 0; moment < lent_often; moment++) {
		size_t n = asked_back_beside(jobs_are_forgotten);

		assert_true(n <= WAITING);
		some_before |= n && n < WAITING;
		n = asked_back_beside(hundred_nodes);
		assert_true(n <= WAITING);
		few_before |= n && n < WAITING;
		n = asked_back_beside(job_begins_on_vm150);
		assert_int_equal(n, WAITING);
		assert_true(!node("vm150")->claims.job ||
			    !heard(VS_REQUEST_POWER_DOWN, "vm150"));
	}
	assert_true(some_before && few_before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slurmctld_has_the_lock_in_the_middle_of_an_order),
		cmocka_unit_test(an_order_for_nodes_that_are_gone_meanwhile_is_refused),
		cmocka_unit_test(nothing_is_ordered_by_an_inventory_that_is_none_any_more),
		cmocka_unit_test(orders_that_are_saved_while_the_configuration_changes_are_again),
		cmocka_unit_test(a_walk_over_nodes_ends_where_the_configuration_changes),
		cmocka_unit_test(a_walk_over_hosts_passes_over_those_that_went),
		cmocka_unit_test(a_call_without_the_lock_ends_the_process),
		cmocka_unit_test(hosts_that_go_while_a_plan_is_made_are_not_looked_at),
		cmocka_unit_test(a_plan_is_of_one_state),
		cmocka_unit_test(nodes_that_change_all_the_time_end_no_plan),
		cmocka_unit_test(an_inventory_that_is_read_again_ends_a_plan),
		cmocka_unit_test(what_changes_while_idle_vms_are_asked_back_counts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
