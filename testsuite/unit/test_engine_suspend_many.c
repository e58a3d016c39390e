/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Twelve jobs at once: who has his turn, and for whom there is room on disk. */
#include "suspend_stage.h"

static void all_look(void *ctx, struct vs_port_look *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct vs_port_look) {
			.job = rows[i].job,
			.is = rows[i].job ? VS_JOB_RUNNING : VS_JOB_GONE,
			.suspended = true, .ours = true, .since = 1700000000,
		};
}

static void name_of(char name[16], int i)
{
	snprintf(name, 16, "vm%d", i + 1);
}

/* Jobs 30 to 41 have vm1 to vm12, of so much memory, on two hosts. */
static void crowd(int names, int64_t memory_mb, const struct vs_port *p)
{
	struct vs_conf *conf = conf_make(names, "warm", memory_mb);

	begin(names, 2, 12, "warm");
	free(conf->adapters[0].type);
	conf->adapters[0].type = vs_strdup("vmxnet3");
	conf->adapters[0].mtu = 0;
	conf->partitions[0].memory_reservation = -1;	/* all */
	begin_as(conf);
	ready();
	vs_core.port = p;
	vs_suspends_clear(&vs_core);
	may_all_be_suspended(true);
	for (int i = 0; i < 12; i++) {
		char name[16];
		int node;

		name_of(name, i);
		node = id(name);
		bring_up(30 + (uint32_t)i, name);
		vs_job_claim(&vs_core, 30 + (uint32_t)i, 0, &node, 1, true);
	}
}

static bool on_first(int i)
{
	char name[16];

	name_of(name, i);
	return !strcmp(fake_get(name)->host, "host-1");
}

static void found_asleep(int i)
{
	char name[16];

	name_of(name, i);
	vs_suspend_found(&vs_core, &(struct vs_port_look) {
		.job = 30 + (uint32_t)i });
	fake_get(name)->on = false;
	fake_get(name)->suspended = true;
	fake_show(fake_get(name));
	flags(name, SILENT);
}

/* Those of a host that is to be empty ask first, and are refused each time. */
static void the_last_one_has_its_turn_too(void **state)
{
	struct vs_port all = port;
	int last = -1;

	(void)state;
	all.jobs_look = all_look;
	crowd(12, 40 * 1024, &all);
	for (int i = 0; i < 12; i++)
		if (on_first(i))
			found_asleep(i);
		else
			last = i;
	found_asleep(last);
	assert_true(vs_suspends_count(&vs_core) > 4);
	vs_host_get(&vs_core.inv, "host-1")->maintenance = true;
	round_of(6);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 1);
	assert_true(fake_finish(FAKE_POWER_ON));
	vs_core.port = &port;
}

/* Nobody's turn for the datastore is worth that none of them goes. */
static void of_many_whose_memory_has_no_room_all_but_some_end(void **state)
{
	struct vs_victim many[12];
	int ids[12], wants[10], n = 0;
	bool taken[12] = { false };

	(void)state;
	crowd(24, 80 * 1024, &port);
	fake_store_mb = 120 * 1024;
	fake_slow(NULL, 0);
	turn();
	for (int i = 0; i < 12; i++) {
		char name[16];

		name_of(name, i);
		ids[i] = id(name);
		many[i] = (struct vs_victim) {
			.ids = &ids[i], .n = 1, .job = 30 + (uint32_t)i,
		};
	}
	for (int i = 0; i < 10; i++) {
		char name[16];

		name_of(name, 12 + i);
		wants[i] = id(name);
	}
	assert_int_equal(vs_make_room(&vs_core, 20, wants, 10, many, 12, taken),
			 9);
	for (int i = 0; i < 12; i++)
		n += taken[i];
	assert_int_equal(n, 9);
	assert_int_equal(vs_suspends_count(&vs_core), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_one_has_its_turn_too),
		cmocka_unit_test(of_many_whose_memory_has_no_room_all_but_some_end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
