/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An operator's order for thousands of nodes: slurmctld's threads have the core's
 * lock in the middle of it, and what they do there, a new configuration first of
 * all, makes nothing of before believed.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine_stage.h"
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

	atomic_fetch_add(&vs_lock_wanted, 1);
	while (!done) {
		vs_lock();
		if (begun(c)) {
			lent = !over(c);
			if (lent)
				deed(c);
			done = true;
		}
		vs_unlock();
		sched_yield();
	}
	atomic_fetch_sub(&vs_lock_wanted, 1);
	return arg;
}

static pthread_t slurmctld_begin(void)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, slurmctld, NULL), 0);
	while (!atomic_load(&vs_lock_wanted))
		sched_yield();
	return t;
}

static bool first_ordered(struct vs_core *c)
{
	(void)c;
	return vs_orders_any(&node("vm1")->orders);
}

static bool last_ordered(struct vs_core *c)
{
	(void)c;
	return vs_orders_any(&node(LAST)->orders);
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
	o = vs_core_act("evict", ALL, "", 0, &err);
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
	return vs_j_str(vs_j_get(vs_j_at(rows, i), "did"));
}

static const char *said(struct vs_j rows, size_t i)
{
	return vs_j_str(vs_j_get(vs_j_at(rows, i), "text"));
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
			"changed while the order was given: there is no such node any more; give it again");
	}
	order_end();
}

/* As core_start does: vCenter's inventory is to be read anew. */
static void not_loaded(struct vs_core *c)
{
	c->epoch++;
	c->loaded = c->found = c->ready = false;
}

static void observing(struct vs_core *c)
{
	c->observe = true;
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
			"Mode=observe" : "inventory is not loaded; give it again"));
		assert_false(vs_orders_any(&node(LAST)->orders));
		vs_core.observe = false;
		order_end();
	}
}

/* ---- they are saved --------------------------------------------------------------- */

static bool saving(struct vs_core *c)
{
	return !c->hints_dirty;
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
	char dir[] = "/tmp/vs-lent-XXXXXX", file[64];
	struct vs_core *c = &vs_core;
	uint64_t epoch;
	struct stat st;
	pthread_t t;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/slurm_vsphere.hints", dir);
	many();
	free(c->conf->state_dir);
	c->conf->state_dir = vs_strdup(dir);
	node("vm1")->orders.evict = true;
	begun = saving;
	over = never;
	deed = fewer_nodes;
	epoch = c->epoch;
	c->hints_dirty = true;
	c->hints_save_ms = 0;
	t = slurmctld_begin();
	vs_hints_save(c, now);
	pthread_join(t, NULL);
	assert_true(lent && c->epoch != epoch);
	assert_true(c->hints_dirty);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* ---- svf plan --------------------------------------------------------------------- */

#define PLANNED 300
#define ALL_PLANNED "vm[1-300]"
#define HOSTS 20

/* Once for its names, once a node for its steps, for its figures and for its row. */
#define LENDS (1 + 3 * PLANNED)
#define YIELDS 1000		/* of vs_lock_lend(), while the lock is wanted */

static void (*event)(void);	/* of vCenter's, while the lock is lent */
static int yields, moment;

/* vs_lock_lend() calls it without the lock. */
int sched_yield(void)
{
	if (!event)
		return (int)syscall(SYS_sched_yield);
	if (yields++ == moment * YIELDS)
		event();
	return 0;
}

static const struct vs_port plans_port = { .sees_nodes = sees_nodes };

static void inventory_read_again(void)
{
	vs_watch_events.load_begin(&vs_core);
}

static void hosts_gone(void)
{
	for (int i = 1; i <= HOSTS; i++) {
		char moid[24];

		snprintf(moid, sizeof(moid), "host-%d", i);
		vs_watch_events.host_gone(&vs_core, moid);
	}
}

static struct json_object *plan_beside(void (*what)(void), struct vs_err *err)
{
	struct json_object *o;

	begin(PLANNED, HOSTS, 16, "warm");
	vs_core.port = &plans_port;
	all_nodes = true;
	ready();
	yields = 0;
	event = what;
	atomic_fetch_add(&vs_lock_wanted, 1);
	o = vs_core_plan(ALL_PLANNED, 1001, err);
	atomic_fetch_sub(&vs_lock_wanted, 1);
	event = NULL;
	assert_true(yields > moment * YIELDS);
	return o;
}

/* A place is on a host, and the host may go while the lock is lent. ASan sees a
 * plan that looks at it then. */
static void hosts_that_go_while_a_plan_is_made_are_not_looked_at(void **state)
{
	(void)state;
	for (moment = 1; moment < LENDS; moment += 61) {
		struct json_object *o = plan_beside(hosts_gone, NULL);

		assert_non_null(o);
		vs_jb_free(o);
	}
}

static void an_inventory_that_is_read_again_ends_a_plan(void **state)
{
	(void)state;
	for (moment = 0; moment < LENDS; moment += 61) {
		struct vs_err err = { 0 };

		assert_null(plan_beside(inventory_read_again, &err));
		assert_string_equal(err.text, "plan: the configuration or vCenter's inventory was read again while the plan was made: ask again");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slurmctld_has_the_lock_in_the_middle_of_an_order),
		cmocka_unit_test(an_order_for_nodes_that_are_gone_meanwhile_is_refused),
		cmocka_unit_test(nothing_is_ordered_by_an_inventory_that_is_none_any_more),
		cmocka_unit_test(orders_that_are_saved_while_the_configuration_changes_are_again),
		cmocka_unit_test(hosts_that_go_while_a_plan_is_made_are_not_looked_at),
		cmocka_unit_test(an_inventory_that_is_read_again_ends_a_plan),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
