/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linked clones and the parents that they stand on. */
#include "engine_stage.h"

static void begin_linked(int nodes, int hosts)
{
	struct vs_conf *conf = conf_make(nodes, "warm", 1024);

	begin(nodes, hosts, 8, "warm");
	conf->partitions[0].clone = vs_strdup("linked");
	begin_as(conf);
	fake_disk_mb = 20480;
}

STAGE void per_host(void)
{
	free(vs_core.conf->clone_parents);
	vs_core.conf->clone_parents = vs_strdup("host");
}

static void wants(uint32_t job, const char *node)
{
	assert_int_equal(job_begin(job, node, NULL), 0);
	flags(node, BOOT);
	turns(2);
}

static const char *waits(const char *node)
{
	const char *why = vs_parent_waits(vs_node_named(&vs_core, node));

	return why ? why : "(it doesn't)";
}

/* vm1 has its VM, and the parent is there. */
STAGE void first_child(void)
{
	wants(7, "vm1");
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_SNAPSHOT));
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
}

static void the_first_clone_makes_the_parent(void **st)
{
	const struct fake_vm *p, *vm;

	(void)st;
	begin_linked(2, 1);
	ready();
	wants(7, "vm1");
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_non_null(strstr(waits("vm1"), "the template is being copied to parent-tpl-"));
	/* for two it is made once */
	wants(8, "vm2");
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_true(fake_finish(FAKE_CLONE));
	assert_null(fake_get("vm1"));
	p = fake_parent("parent-tpl-");
	assert_non_null(p);
	assert_string_equal(p->source, "vm-tpl");
	assert_false(p->has_card);
	turns(2);
	assert_int_equal(fake_sent[FAKE_SNAPSHOT], 1);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_non_null(strstr(waits("vm2"), "a snapshot is being made of parent-tpl-"));
	assert_true(fake_finish(FAKE_SNAPSHOT));
	turns(2);
	assert_int_equal(fake_sent[FAKE_CLONE], 3);
	assert_true(fake_finish(FAKE_CLONE));
	assert_true(fake_finish(FAKE_CLONE));
	vm = fake_get("vm1");
	assert_string_equal(vm->source, p->moid);
	assert_string_equal(vm->from, p->uuid);
	assert_string_equal(vm->parent, "");
	assert_true(vm->base[0] && vm->has_card);
	turns(2);
	assert_int_equal(fake_waiting(FAKE_POWER_ON), 2);
	assert_int_equal(vs_core.provisioning, 0);
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_clone_makes_the_parent),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
