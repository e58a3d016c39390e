/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values that are not of the type which vCenter's API gives them, and properties
 * that vCenter itself fails to read. The object is unreadable until it can be
 * read, what was known of it stays, and nothing else suffers.
 */
#include "inv_stage.h"
#include "util/log.h"

static char said[4096];
static int lines;

static void hear(enum vs_log_level level, const char *line)
{
	size_t n = strlen(said);

	if (level != VS_LOG_ERROR)
		return;
	lines++;
	snprintf(said + n, sizeof(said) - n, "%s\n", line);
}

static int begin(void **state)
{
	said[0] = '\0';
	lines = 0;
	vs_log_to(hear);
	return setup(state);
}

static int end(void **state)
{
	vs_log_to(NULL);
	return teardown(state);
}

static void read_anew(struct vs_inv *inv, enum vcx_filter f, const char *moid,
		      const char *props, const char *missing)
{
	VS_FREE char *json = vs_asprintf("{'p':[%s],'m':[%s]}", props,
					 missing);
	struct vs_jdoc doc = parse(json);

	out[0] = '\0';
	vs_inv_reread(inv, f, moid, vs_j_get(vs_j_root(&doc), "p"),
		      vs_j_get(vs_j_root(&doc), "m"));
	assert_false(vs_json_failed(&doc, &err));
	vs_inv_flush(inv);
	vs_jdoc_free(&doc);
}

#define PROP(n, v) "{'name':'" n "','val':" v "}"
#define VM(kind, id, changes) SET("f-vms", OBJ(kind, "VirtualMachine", id, \
					       changes))
#define MEMORY(v) CHANGE("config.memoryAllocation", "{'reservation':" v "}")
#define LOCKED CHANGE("config.memoryReservationLockedToMax", "true")
#define DEVICES(v) CHANGE("config.hardware.device", v)
#define NIC "{'_typeName':'VirtualSriovEthernetCard','key':4000," \
	"'macAddress':'00:50:56:00:00:01'}"

static void a_bad_value_bars_its_vm_and_no_other(void **state)
{
	struct vs_inv *inv = *state;

	DELIVERS(inv, UPDATE(VM("enter", "vm-1", POWER("poweredOn") ","
		CHANGE("runtime.host", REF("HostSystem", "host-1")) ","
		DEVICES("[{'_typeName':'VirtualE1000e','addressType':7,"
			"'macAddress':['a']}]")) ","
		VM("enter", "vm-2", POWER("poweredOn") "," DEVICES("[]"))),
		/* its host is known, or its VFs would count nowhere */
		"vm vm-1 unreadable power=poweredOn host=host-1;"
		"vm vm-2 power=poweredOn host= owner=- uuid= locked=0 mem=0;");
	assert_string_equal(said, "vCenter's data of vm-1 cannot be read: "
		"config.hardware.device: filterSet[0].objectSet[0].changeSet[2]."
		"val[0].macAddress: expected a string\n");
	wanted_is(inv, "");
}

static void what_was_known_stays_until_it_is_readable_again(void **state)
{
	struct vs_inv *inv = *state;

	feed(inv, UPDATE(VM("enter", "vm-1", POWER("poweredOn") ","
		DEVICES("[" NIC "]") "," MEMORY("4096") "," LOCKED)));
	/* Neither the bad value is told, nor what it would have cleared. */
	DELIVERS(inv, UPDATE(VM("modify", "vm-1", MEMORY("'much'") ","
		POWER("suspended"))), "vm vm-1 unreadable power=suspended;");
	DELIVERS(inv, UPDATE(VM("modify", "vm-1", DEVICES("7"))), "");
	assert_int_equal(lines, 1);	/* it is known of it */
	wanted_is(inv, "");
	/* On the beat, as long as it takes. */
	vs_inv_retry_blocked(inv);
	wanted_is(inv, "vm-1/0 ");
	read_anew(inv, VCX_F_VMS, "vm-1", PROP("runtime.powerState",
		STR("suspended")) "," PROP("config.hardware.device", "[" NIC
		"]") "," PROP("config.memoryAllocation", "{'reservation':[]}"),
		"");
	assert_string_equal(out, "vm vm-1 unreadable power=suspended host="
			    " owner=- nic=4/00:50:56:00:00:01/auto;");
	vs_inv_retry_blocked(inv);
	vs_inv_retry_blocked(inv);
	wanted_is(inv, "vm-1/0 ");
	read_anew(inv, VCX_F_VMS, "vm-1", PROP("runtime.powerState",
		STR("suspended")) "," PROP("config.hardware.device", "[" NIC
		"]") "," PROP("config.memoryAllocation",
			      "{'reservation':2048}"), "");
	assert_string_equal(out, "vm vm-1 power=suspended host= owner=- uuid="
			    " locked=0 mem=2048 nic=4/00:50:56:00:00:01/auto;");
	vs_inv_retry_blocked(inv);
	wanted_is(inv, "");
	assert_int_equal(lines, 1);
	feed(inv, UPDATE(VM("modify", "vm-1", DEVICES("7"))));
	assert_int_equal(lines, 2);
}

/* It need not wait for the beat. */
static void a_good_value_has_it_read_at_once(void **state)
{
	struct vs_inv *inv = *state;

	feed(inv, UPDATE(VM("enter", "vm-1", POWER("poweredOn") ","
			    DEVICES("[]") "," MEMORY("true"))));
	wanted_is(inv, "");
	DELIVERS(inv, UPDATE(VM("modify", "vm-1", POWER("poweredOff"))),
		 "vm vm-1 unreadable power=poweredOff;");
	wanted_is(inv, "");
	DELIVERS(inv, UPDATE(VM("modify", "vm-1", MEMORY("1024"))),
		 "vm vm-1 unreadable;");
	wanted_is(inv, "vm-1/0 ");
}

/* The folder's filter doesn't tell what the other one holds. */
static void the_other_filter_tells_no_bad_value(void **state)
{
	struct vs_inv *inv = *state;

	feed(inv, UPDATE(VM("enter", "vm-1", POWER("poweredOn") ","
			    DEVICES("[]") "," MEMORY("'x'"))));
	DELIVERS(inv, UPDATE(SET("f-ours", OBJ("enter", "VirtualMachine",
		"vm-1", CHANGE("name", STR("a")) ","
		CHANGE("config.instanceUuid", STR("u1"))))),
		"vm vm-1 unreadable name=a folder= owner=-;");
}

static void a_host_with_a_bad_value_is_unreadable(void **state)
{
	struct vs_inv *inv = *state;

#define HOST(kind, changes) UPDATE(SET("f-hosts", OBJ(kind, "HostSystem", \
	"host-1", changes)))
	DELIVERS(inv, HOST("enter", CHANGE("runtime.connectionState",
		STR("connected")) "," CHANGE("config.pciPassthruInfo", "[]") ","
		CHANGE("config.network.pnic", "[]")),
		"host host-1 connected 0x0 0MB hw0;");
	DELIVERS(inv, HOST("modify", CHANGE("config.pciPassthruInfo",
		"[{'_typeName':'HostSriovInfo','sriovCapable':true,'id':7}]")),
		"host host-1 unreadable;");
	assert_int_equal(host_had & VS_VC_HOST_PFS, 0);
	vs_inv_retry_blocked(inv);
	wanted_is(inv, "host-1/2 ");
	read_anew(inv, VCX_F_HOSTS, "host-1", PROP("runtime.connectionState",
		STR("connected")) "," PROP("config.pciPassthruInfo", "[]") ","
		PROP("config.network.pnic", "[]"), "");
	assert_string_equal(out, "host host-1 connected 0x0 0MB hw0;");
	assert_true(host_had & VS_VC_HOST_PFS);
	vs_inv_retry_blocked(inv);
	wanted_is(inv, "");
	/* What only its checks ask keeps no VM away. */
	DELIVERS(inv, HOST("modify", CHANGE("config.powerSystemInfo", "7")),
		 "");
	vs_inv_retry_blocked(inv);
	wanted_is(inv, "host-1/2 ");
}

#define TREE(cpu) "{'key':'host','config':{'cpuAllocation':{'reservation':" cpu \
	"},'memoryAllocation':{'reservation':200000}}}"

/* Two hosts' systemResources on one page of the slow values. */
static void tree_is(struct vs_inv *inv, const char *moid, struct vs_jdoc *page,
		    size_t i)
{
	struct vs_j o = vs_j_at(vs_j_get(vs_j_root(page), "objects"), i);

	vs_inv_host_system(inv, moid, vs_j_get(o, "val"));
}

static void a_host_whose_system_resources_are_odd_keeps_what_it_had(
	void **state)
{
	static const char *const good = "{'objects':[{'val':" TREE("50000")
		"},{'val':" TREE("60000") "}]}";
	static const char *const odd = "{'objects':[{'val':" TREE("'much'")
		"},{'val':" TREE("70000") "}]}";
	struct vs_inv *inv = *state;
	struct vcx_host *h1, *h2;
	struct vs_jdoc page;

	feed(inv, UPDATE(SET("f-hosts", OBJ("enter", "HostSystem", "host-1",
			     "") "," OBJ("enter", "HostSystem", "host-2", ""))));
	HASH_FIND_STR(inv->hosts, "host-1", h1);
	HASH_FIND_STR(inv->hosts, "host-2", h2);
	page = parse(good);
	tree_is(inv, "host-1", &page, 0);
	tree_is(inv, "host-2", &page, 1);
	vs_jdoc_free(&page);
	assert_int_equal(h1->capacity.sys_cpu, 50000);
	assert_int_equal(lines, 0);
	page = parse(odd);
	tree_is(inv, "host-1", &page, 0);
	tree_is(inv, "host-2", &page, 1);
	/* Nothing else on the page suffers: its read ends well. */
	assert_false(vs_json_failed(&page, &err));
	vs_jdoc_free(&page);
	assert_int_equal(h1->capacity.sys_cpu, 50000);
	assert_int_equal(h1->capacity.sys_mem, 200000);
	assert_int_equal(h2->capacity.sys_cpu, 70000);
	assert_string_equal(said, "vCenter's data of host-1 cannot be read: "
		"systemResources: objects[0].val.config.cpuAllocation."
		"reservation: expected a whole number\n");
	/* A page that is broken before it stays so. */
	page = parse(odd);
	vs_j_int(vs_j_get(vs_j_root(&page), "objects"));
	tree_is(inv, "host-2", &page, 1);
	assert_true(vs_json_failed(&page, &err));
	vs_jdoc_free(&page);
}

static void a_task_of_no_readable_state_is_of_unknown_outcome(void **state)
{
#define TASK(id, v) OBJ("modify", "Task", id, CHANGE("info.state", v))
	DELIVERS(*state, UPDATE(SET("f-tasks", TASK("task-1", "7") ","
				    TASK("task-2", STR("success")))),
		 "lost task-1;task task-2 success;");
	assert_int_equal(lines, 1);
}

/* Templates do so on real vCenters: SystemError for one property, which is no
 * "unset", and no matter of rights. */
static void what_vcenter_fails_to_read_is_not_taken_for_unset(void **state)
{
	struct vs_inv *inv = *state;
#define FAILS(kind, changes, path, fault) UPDATE(SET("f-vms", "{'kind':'" kind \
	"','obj':" REF("VirtualMachine", "vm-1") ",'changeSet':[" changes "]," \
	"'missingSet':[{'path':'" path "','fault':" fault "}]}"))

	DELIVERS(inv, FAILS("enter", POWER("poweredOn") "," DEVICES("[]"),
			    "runtime.host", FLAT("SystemError")),
		 "vm vm-1 unreadable power=poweredOn owner=- uuid= locked=0"
		 " mem=0;");
	assert_string_equal(said, "vCenter's data of vm-1 cannot be read: "
			    "runtime.host: No.\n");
	vs_inv_retry_blocked(inv);
	wanted_is(inv, "vm-1/0 ");
	read_anew(inv, VCX_F_VMS, "vm-1", PROP("runtime.powerState",
		STR("poweredOn")) "," PROP("config.hardware.device", "[]"),
		"{'path':'config','fault':" NESTED("SystemError") "}");
	assert_string_equal(out, "vm vm-1 unreadable power=poweredOn host=;");
	read_anew(inv, VCX_F_VMS, "vm-1", PROP("runtime.powerState",
		STR("poweredOn")) "," PROP("config.hardware.device", "[]"),
		"");
	assert_string_equal(out, "vm vm-1 power=poweredOn host= owner=- uuid="
			    " locked=0 mem=0;");
	/* It goes; its leave follows. */
	feed(inv, FAILS("modify", "", "runtime.host",
			FLAT("ManagedObjectNotFound")));
	assert_string_equal(out, "");
}

static void many_are_said_in_few_lines(void **state)
{
	struct vs_inv *inv = *state;

	for (int i = 0; i < 40; i++) {
		VS_FREE char *set = vs_asprintf(UPDATE(VM("enter", "vm-%d",
			DEVICES("[]") "," MEMORY("'x'"))), i);

		assert_int_equal(feed(inv, set), 0);
	}
	assert_int_equal(lines, 8);
	vs_inv_retry_blocked(inv);
	assert_int_equal(lines, 9);
	assert_non_null(strstr(said, "cannot be read, 32 more times\n"));
	vs_inv_retry_blocked(inv);
	assert_int_equal(lines, 9);
}

/* What is no property's value fails the whole set, also beside one that is. */
static void a_broken_set_is_not_excused_by_a_bad_value(void **state)
{
	assert_int_equal(feed(*state, UPDATE(SET("f-vms", "{'kind':7,'obj':"
		REF("VirtualMachine", "vm-1") "}," OBJ("enter",
		"VirtualMachine", "vm-2", POWER("poweredOn") ","
		DEVICES("{}"))))), -1);
	assert_string_equal(err.text,
		"filterSet[0].objectSet[0].kind: expected a string");
	assert_int_equal(feed(*state, UPDATE(VM("enter", "vm-2",
		DEVICES("{}") ",{'op':'assign'}"))), -1);
	assert_string_equal(err.text, "filterSet[0].objectSet[0].changeSet[1]."
			    "name: missing");
	assert_int_equal(feed(*state, UPDATE(SET("f-tasks", "{'kind':7,'obj':"
		REF("Task", "task-1") "}," TASK("task-2", "7")))), -1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		T(a_bad_value_bars_its_vm_and_no_other),
		T(what_was_known_stays_until_it_is_readable_again),
		T(a_good_value_has_it_read_at_once),
		T(the_other_filter_tells_no_bad_value),
		T(a_host_with_a_bad_value_is_unreadable),
		T(a_host_whose_system_resources_are_odd_keeps_what_it_had),
		T(a_task_of_no_readable_state_is_of_unknown_outcome),
		T(what_vcenter_fails_to_read_is_not_taken_for_unset),
		T(many_are_said_in_few_lines),
		T(a_broken_set_is_not_excused_by_a_bad_value),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
