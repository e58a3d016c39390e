/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A mutating call's task, as the property collector tells of it: in any order,
 * its caller hears once how it ended. */
#include "inv_stage.h"
#include "vcenter/client/client_i.h"

static void on_done(void *arg, uint64_t id, const char *result,
		    const struct vs_err *e)
{
	(void)arg;
	note("done %d %s %s%s%s;", (int)id, vs_code_name(e ? e->code : VS_OK),
	     result, e ? ": " : "", e ? e->text : "");
}

static const struct vs_vc_op op = { .done = on_done };
static struct vs_vc vc;

static void receive(const struct vcx_task_update *t)
{
	vs_vcx_task_received(&vc, t);
}

/* The operation's task is task-1, and so is its id. */
static int begin(void **state)
{
	struct vs_inv *inv;

	memset(&vc, 0, sizeof(vc));
	setup(state);
	inv = *state;
	on_task = receive;
	vc.inv = inv;
	vs_vcx_op_task(&vc, vs_vcx_op_find(&vc, vs_vcx_op_new(&vc, "clone",
			&op)), "task-1");
	return 0;
}

static int end(void **state)
{
	vs_vcx_ops_free(&vc);
	return teardown(state);
}

#define TELL(changes) UPDATE(SET("f-tasks", OBJ("modify", "Task", "task-1", \
						changes)))
#define STATE(v) CHANGE("info.state", "{'_typeName':'TaskInfoState'," \
			"'_value':'" v "'}")
#define RESULT CHANGE("info.result", REF("VirtualMachine", "vm-7"))
#define TAKEN "{'_typeName':'DuplicateName','faultstring':" \
	"'The name is taken.'}"
#define TAKEN_NESTED "{'_typeName':'LocalizedMethodFault','fault':" \
	"{'_typeName':'DuplicateName'},'localizedMessage':" \
	"'The name is taken.'}"
#define ERROR(fault) CHANGE("info.error", fault)

static void state_and_result_together_end_it(void **state)
{
	DELIVERS(*state, TELL(STATE("running")), "");
	DELIVERS(*state, TELL(STATE("success") "," RESULT), "done 1 ok vm-7;");
	DELIVERS(*state, TELL(STATE("success") "," RESULT), "");
}

static void a_result_before_the_state_is_kept(void **state)
{
	DELIVERS(*state, TELL(RESULT), "");
	DELIVERS(*state, TELL(STATE("running")), "");
	DELIVERS(*state, TELL(STATE("success")), "done 1 ok vm-7;");
}

/* VMware's guide has it in a box once; else a clone's VM would be lost, and made
 * twice. Other results name no VM. */
static void a_result_is_a_reference_in_any_form_or_none(void **state)
{
	static const struct { const char *result, *moid; } t[] = {
		{ REF("VirtualMachine", "vm-7"), "vm-7" },
		{ "{'_typeName':'ManagedObjectReference','_value':"
		  REF("VirtualMachine", "vm-7") "}", "vm-7" },
		{ "{'_typeName':'ManagedObjectReference','_value':"
		  "{'type':'VirtualMachine','value':'vm-7'}}", "vm-7" },
		{ "{'type':'VirtualMachine','value':'vm-7'}", "vm-7" },
		{ STR("vm-7"), "" }, { "[]", "" }, { "7", "" },
		{ "{'_typeName':'OptionValue','key':'a','value':" STR("b") "}",
		  "" },
		{ "{'type':7,'value':'vm-7'}", "" },
		{ "{'type':'VirtualMachine','value':[7]}", "" },
	};

	for (size_t i = 0; i < VS_COUNT(t); i++) {
		VS_FREE char *set = vs_asprintf(TELL(STATE("success") ","
			CHANGE("info.result", "%s")), t[i].result);
		VS_FREE char *want = vs_asprintf("done %zu ok %s;", i + 1,
						 t[i].moid);

		DELIVERS(*state, set, want);
		vs_vcx_op_task(&vc, vs_vcx_op_find(&vc, vs_vcx_op_new(&vc,
				"clone", &op)), "task-1");
	}
}

static void an_error_before_the_state_is_kept(void **state)
{
	DELIVERS(*state, TELL(ERROR(TAKEN)), "");
	DELIVERS(*state, TELL(STATE("error")),
		 "done 1 exists : The name is taken.;");
}

static void an_error_in_a_wrapper_is_kept_as_well(void **state)
{
	DELIVERS(*state, TELL(ERROR(TAKEN_NESTED)), "");
	DELIVERS(*state, TELL(STATE("error")),
		 "done 1 exists : The name is taken.;");
}

/* CannotAccessVmConfig.reason is a fault, where others have a text; so is the
 * wrapper's `error`, where others have a list. */
static void a_fault_with_odd_members_is_told_and_harms_nothing(void **state)
{
	DELIVERS(*state, TELL(STATE("error") "," ERROR(
		"{'_typeName':'CannotAccessVmConfig','faultstring':'No.',"
		"'reason':{'_typeName':'FileNotFound','file':'a'}}")),
		"done 1 other-host : No.;");
	vs_vcx_op_task(&vc, vs_vcx_op_find(&vc, vs_vcx_op_new(&vc, "clone",
			&op)), "task-1");
	DELIVERS(*state, TELL(STATE("error") "," ERROR(
		"{'_typeName':'VmFaultToleranceConfigIssueWrapper',"
		"'faultstring':'No.','error':{'_typeName':'SystemError',"
		"'reason':'r'}}")), "done 2 other-host : No.;");
}

static void a_whole_info_is_understood_as_well(void **state)
{
	DELIVERS(*state, TELL(CHANGE("info", "{'_typeName':'TaskInfo',"
		"'state':'success','result':" REF("VirtualMachine", "vm-8")
		"}")), "done 1 ok vm-8;");
}

static void a_task_that_vcenter_forgot_is_of_unknown_outcome(void **state)
{
	DELIVERS(*state, TELL(RESULT), "");
	DELIVERS(*state, UPDATE(SET("f-tasks", OBJ("leave", "Task", "task-1",
						   ""))),
		 "done 1 unknown : clone: vCenter no longer knows "
		 "task-1;");
}

static void tasks_that_follow_one_another_go_to_the_list_together(void **state)
{
	int64_t at = vc.tasks.list_at;

	(void)state;
	assert_true(at > vc.now && at <= vc.now + 100);
	vc.now += 20;
	vs_vcx_op_task(&vc, vs_vcx_op_find(&vc, vs_vcx_op_new(&vc, "clone",
			&op)), "task-2");
	assert_int_equal(vc.tasks.list_at, at);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		T(state_and_result_together_end_it),
		T(a_result_before_the_state_is_kept),
		T(an_error_before_the_state_is_kept),
		T(an_error_in_a_wrapper_is_kept_as_well),
		T(a_fault_with_odd_members_is_told_and_harms_nothing),
		T(a_result_is_a_reference_in_any_form_or_none),
		T(a_whole_info_is_understood_as_well),
		T(a_task_that_vcenter_forgot_is_of_unknown_outcome),
		T(tasks_that_follow_one_another_go_to_the_list_together),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
