/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What may not be read, until it may: a right that is taken away and given back
 * while vCenter is being watched.
 */
#include "inv_stage.h"

#define BARRED(kind, changes, path) "{'kind':'" kind "','obj':" \
	REF("VirtualMachine", "vm-1") ",'changeSet':[" changes \
	"],'missingSet':[{'path':'" path "','fault':" \
	FLAT("NoPermission") "}]}"

static void read_anew(struct vs_inv *inv, enum vcx_filter f, const char *props,
		      const char *missing)
{
	VS_FREE char *json = vs_asprintf("{'p':[%s],'m':[%s]}", props,
					 missing);
	struct vs_jdoc doc = parse(json);

	out[0] = '\0';
	vs_inv_reread(inv, f, "vm-1", vs_j_get(vs_j_root(&doc), "p"),
		      vs_j_get(vs_j_root(&doc), "m"));
	vs_inv_flush(inv);
	vs_jdoc_free(&doc);
}

#define PROP(n, v) "{'name':'" n "','val':" v "}"
#define MISSING "{'path':'parent','fault':" NESTED("NoPermission") "}"

static void what_may_be_read_again_is_readable_again(void **state)
{
	DELIVERS(*state, UPDATE(SET("f-vms", OBJ("enter", "VirtualMachine",
			"vm-1", POWER("poweredOn") ","
			CHANGE("config.hardware.device", "[]"))) ","
		SET("f-ours", BARRED("enter", "", "parent"))),
		"vm vm-1 unreadable power=poweredOn host= folder= owner=-"
		" uuid= locked=0 mem=0;");
	wanted_is(*state, "");
	/* Still barred, it says so itself. */
	feed(*state, UPDATE(SET("f-ours", BARRED("modify", "", "parent"))));
	wanted_is(*state, "");
	feed(*state, UPDATE(SET("f-ours", OBJ("modify", "VirtualMachine",
		"vm-1", CHANGE("name", STR("a"))))));
	wanted_is(*state, "vm-1/1 ");
	read_anew(*state, VCX_F_MANAGED, "", MISSING);
	assert_non_null(strstr(out, "vm vm-1 unreadable"));
	/* Also when vCenter says nothing of it, and only in that filter. */
	vs_inv_retry_blocked(*state);
	wanted_is(*state, "vm-1/1 ");
	read_anew(*state, VCX_F_MANAGED, PROP("name", STR("vm001")), "");
	assert_non_null(strstr(out, "vm vm-1 name=vm001 power=poweredOn"));
	vs_inv_retry_blocked(*state);
	wanted_is(*state, "");
}

#define BARRED_AS(fault) UPDATE(SET("f-vms", "{'kind':'enter','obj':" \
	REF("VirtualMachine", "vm-1") ",'changeSet':[" \
	CHANGE("config.hardware.device", "[]") "],'missingSet':[" \
	"{'path':'runtime.host','fault':" fault "}]}"))

static void what_bars_is_understood_in_both_forms(void **state)
{
	static const char *const t[] = { BARRED_AS(FLAT("NoPermission")),
		BARRED_AS(NESTED("NoPermission")),
		BARRED_AS("{'fault':{'_typeName':'NoPermission'}}") };

	for (size_t i = 0; i < VS_COUNT(t); i++) {
		feed(*state, UPDATE(SET("f-vms", OBJ("leave", "VirtualMachine",
						     "vm-1", ""))));
		assert_int_equal(feed(*state, t[i]), 0);
		assert_non_null(strstr(out, "vm vm-1 unreadable"));
		vs_inv_retry_blocked(*state);
		wanted_is(*state, "vm-1/0 ");
	}
}

#define OBJECT_MISSING(f, fault) UPDATE("{'filter':" \
	REF("PropertyFilter", "f-vms") ",'missingSet':[{'obj':" \
	REF("VirtualMachine", "vm-1") ",'fault':" fault "}]}")

/* Its leave follows; until then nothing is to be read of it. */
static void a_vm_that_is_gone_is_not_barred(void **state)
{
	static const char *const gone[] = {
		OBJECT_MISSING("f-vms", FLAT("ManagedObjectNotFound")),
		OBJECT_MISSING("f-vms", NESTED("ManagedObjectNotFound")) };
	static const char *const barred[] = {
		OBJECT_MISSING("f-vms", FLAT("NoPermission")),
		OBJECT_MISSING("f-vms", NESTED("NoPermission")) };

	feed(*state, UPDATE(SET("f-vms", OBJ("enter", "VirtualMachine", "vm-1",
		POWER("poweredOn") ","
		CHANGE("config.hardware.device", "[]")))));
	for (size_t i = 0; i < VS_COUNT(gone); i++)
		DELIVERS(*state, gone[i], "");
	for (size_t i = 0; i < VS_COUNT(barred); i++) {
		assert_int_equal(feed(*state, barred[i]), 0);
		assert_true(vs_inv_vm_unreadable(vs_inv_vm(*state, "vm-1")));
		read_anew(*state, VCX_F_VMS, PROP("config.hardware.device",
						  "[]"), "");
		assert_false(vs_inv_vm_unreadable(vs_inv_vm(*state, "vm-1")));
	}
}

static void all_that_is_barred_has_its_turn(void **state)
{
	struct vs_inv *inv = *state;
	struct vcx_vm *vm;
	int want = 0;

	for (int i = 0; i < 40; i++) {
		VS_FREE char *set = vs_asprintf(UPDATE(SET("f-vms",
			"{'kind':'enter','obj':" REF("VirtualMachine", "vm-%d")
			",'missingSet':[{'path':'config.template','fault':"
			FLAT("NoPermission") "}]}")), i);

		assert_int_equal(feed(inv, set), 0);
	}
	for (int i = 0; i < 3; i++)
		vs_inv_retry_blocked(inv);
	for (vm = inv->vms; vm; vm = vm->hh.next) {
		struct vcx_refetch *r;

		TAILQ_FOREACH(r, &inv->refetch, link)
			want += !strcmp(r->moid, vm->v.moid);
	}
	assert_int_equal(want, 40);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(what_may_be_read_again_is_readable_again),
		T(what_bars_is_understood_in_both_forms),
		T(a_vm_that_is_gone_is_not_barred),
		T(all_that_is_barred_has_its_turn),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
