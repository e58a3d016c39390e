/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A VM with a node's name that is not this cluster's: what is said of it, how
 * often, and when it is said to be gone.
 */
#include "engine_stage.h"
#include "util/log.h"

static int lines, gone;

static void heard_log(enum vs_log_level level, const char *line)
{
	lines += level == VS_LOG_ERROR && strstr(line, "gets no job: ");
	gone += strstr(line, "no foreign VM has its name") != NULL;
}

static struct vs_node *node(void)
{
	return vs_node_named(&vs_core, "vm1");
}

static struct fake_vm *taken(void)
{
	struct fake_vm *vm;

	begin(1, 1, 1, "warm");
	ready();
	lines = gone = 0;
	vm = fake_add_vm("vm1", "group-v1", "host-1", false);
	fake_show(vm);
	return vm;
}

static void connected(const struct fake_vm *vm, bool yes)
{
	fake_tell(vm, &(struct vs_vc_vm){
		.moid = vm->moid, .has = VS_VC_VM_CONN, .connected = yes });
}

static void it_is_named_once_with_its_path_and_the_remedy(void **state)
{
	struct fake_vm *vm = taken();

	(void)state;
	vs_str_replace(&core_conf()->datacenter, "DC0");
	vs_str_replace(&core_conf()->folder, "slurm");
	turns(20);
	assert_string_equal(node()->foreign,
		"a foreign VM has the node's name: /DC0/vm/slurm/vm1 was not made by slurm-vsphere; rename that VM, or move it to another folder");
	assert_string_equal(vs_node_blocked(&vs_core, node()), node()->foreign);
	assert_int_equal(lines, 1);
	assert_int_equal(gone, 0);
	fake_remove(vm);
	turns(20);
	assert_null(node()->foreign);
	assert_null(vs_node_blocked(&vs_core, node()));
	assert_int_equal(gone, 1);
}

/* Its mark can't be read then: after a restart it may be our own. */
static void one_that_cannot_be_read_is_not_called_anybodys(void **state)
{
	struct fake_vm *vm = taken();

	(void)state;
	connected(vm, false);
	turns(3);
	assert_null(strstr(node()->foreign, "was not made"));
	assert_non_null(strstr(node()->foreign, "vCenter cannot read "));
	assert_non_null(strstr(node()->foreign, "may be the node's VM or a foreign VM"));
	assert_non_null(vs_node_blocked(&vs_core, node()));
	/* when it can be read it is named for what it is */
	connected(vm, true);
	turns(3);
	assert_non_null(strstr(node()->foreign, "was not made by slurm-vsphere"));
	assert_int_equal(lines, 2);
	assert_int_equal(gone, 0);
}

static void one_with_a_newer_tag_is_named_with_its_format(void **state)
{
	struct fake_vm *vm = taken();

	(void)state;
	fake_tell(vm, &(struct vs_vc_vm){
		.moid = vm->moid, .has = VS_VC_VM_MARK,
		.owner_mark = "v2:what-a-later-release-writes" });
	turns(3);
	assert_non_null(strstr(node()->foreign,
		"vm1 has the ownership tag of a newer slurm-vsphere (format 2): install that release again"));
	assert_non_null(vs_node_blocked(&vs_core, node()));
	assert_int_equal(fake_sent[FAKE_POWER_OFF] + fake_sent[FAKE_CLONE], 0);
}

static void nor_is_it_gone_while_a_call_is_under_way(void **state)
{
	struct fake_vm *vm = taken();

	(void)state;
	turns(3);
	vs_retry_reread(&vs_core, node());
	vs_node_mark_changed(node());
	turns(3);
	assert_non_null(node()->foreign);
	assert_int_equal(gone, 0);
	fake_remove(vm);
	turns(3);
	assert_null(node()->foreign);
	assert_int_equal(gone, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_named_once_with_its_path_and_the_remedy),
		cmocka_unit_test(one_that_cannot_be_read_is_not_called_anybodys),
		cmocka_unit_test(one_with_a_newer_tag_is_named_with_its_format),
		cmocka_unit_test(nor_is_it_gone_while_a_call_is_under_way),
	};

	vs_log_to(heard_log);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
