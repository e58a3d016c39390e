/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An operation that an adapter type forbids is refused before vCenter is
 * called: each type, each operation, each release, by VMware's tables as listed
 * here.
 */
#include "engine/maintenance/maintenance_i.h"
#include "engine_stage.h"
#include "plan/inventory/capability.h"
#include "plan/inventory/host_facts.h"

#define OLDEST VS_RELEASE(8, 0, 1)

/* The first release that permits it, 0: none does. For dvx the driver decides,
 * and no API shows its answer: no. */
static const int may_from[VS_ADAPTER_TYPES][VS_OPERATIONS] = {
	/* vmotion, snapshot, ha, drs-place, drs-move, hot-add, instant */
	[VS_ADAPTER_VMXNET3] = { OLDEST, OLDEST, OLDEST, OLDEST, OLDEST,
				 OLDEST, OLDEST },
	[VS_ADAPTER_PVRDMA] = { OLDEST, OLDEST, OLDEST, OLDEST, OLDEST, 0, 0 },
	[VS_ADAPTER_SRIOV] = { 0, 0, VS_RELEASE(8, 0, 2), VS_RELEASE(8, 0, 2),
			       0, 0, 0 },
	[VS_ADAPTER_DIRECTPATH] = { 0, 0, 0, 0, 0, 0, 0 },
	[VS_ADAPTER_DYNAMIC] = { 0, 0, OLDEST, OLDEST, 0, 0, 0 },
	[VS_ADAPTER_DVX] = { 0, 0, OLDEST, OLDEST, 0, 0, 0 },
	[VS_ADAPTER_VGPU] = { OLDEST, 0, OLDEST, OLDEST, 0, 0, 0 },
};

static const struct { int release; const char *words; } releases[] = {
	{ 0, "" }, { OLDEST, "8.0.1" }, { VS_RELEASE(8, 0, 2), "8.0.2" },
	{ VS_RELEASE(8, 0, 3), "8.0.3.0" }, { VS_RELEASE(9, 0, 0), "9.0.0.0" },
};

static struct vs_node *vm1;
static struct vs_vm *vm;
static struct vs_claim at;

/* vm1 is on, on host-1, and has a place on host-2. */
static void on_stage(void)
{
	begin(1, 2, 2, "warm");
	ready();
	bring_up(7, "vm1");
	vm1 = vs_node_named(&vs_core, "vm1");
	vm = vs_node_vm(&vs_core, vm1);
	assert_non_null(vm);
	at = *vs_ledger_get(core_ledger(), "vm1");
	vs_strlcpy(at.host, "host-2", sizeof(at.host));
	vm->nnics = 0;
}

static void as(int type, int release)
{
	core_adapters()[0].type = (enum vs_adapter_type)type;
	core_set_release(release);
	for (struct vs_host *h = core_inv()->hosts; h; h = h->hh.next) {
		if (!h->facts)
			h->facts = vs_host_facts_new();
		vs_strlcpy(h->facts->setup.version, release >= VS_RELEASE(9, 0, 0) ?
			   "9.0.0" : release == VS_RELEASE(8, 0, 3) ? "8.0.3" :
			   release == VS_RELEASE(8, 0, 2) ? "8.0.2" : "8.0.1",
			   sizeof(h->facts->setup.version));
	}
}

static bool may(int type, int deed, int release)
{
	int from = may_from[type][deed];

	return from && (release ? release : OLDEST) >= from;
}

static void each_type_deed_and_release_is_as_vmware_says(void **st)
{
	(void)st;
	on_stage();
	for (int t = 0; t < VS_ADAPTER_TYPES; t++)
		for (int d = 0; d < VS_OPERATIONS; d++)
			for (size_t r = 0; r < VS_COUNT(releases); r++) {
				struct vs_err err = { 0 };
				int rc;

				as(t, releases[r].release);
				rc = vs_capability_check(&vs_core, vm1, vm,
							 (enum vs_operation)d,
							 NULL, &err);
				if (may(t, d, releases[r].release) == !rc)
					continue;
				fail_msg("%s, %s, release %s: rc=%d %s",
					 vs_adapter_kinds[t].name,
					 vs_operation_names[d],
					 releases[r].words, rc, err.text);
			}
}

/* The calls that the client has, of those that a type may forbid: to move a VM
 * that is on, and to change its devices. */
static void what_is_forbidden_is_not_sent_and_the_reason_is_told(void **st)
{
	static const struct {
		enum vs_action action;
		enum vs_operation deed;
		enum fake_kind call;
	} calls[] = {
		{ VS_DO_RELOCATE, VS_OPERATION_VMOTION, FAKE_RELOCATE },
		{ VS_DO_RECONFIGURE, VS_OPERATION_HOT_ADD, FAKE_RECONFIGURE },
	};
	static const struct vs_vc_op nobody;

	(void)st;
	on_stage();
	for (int t = 0; t < VS_ADAPTER_TYPES; t++)
		for (size_t i = 0; i < VS_COUNT(calls); i++)
			for (size_t r = 0; r < VS_COUNT(releases); r++) {
				bool ok = may(t, calls[i].deed,
					      releases[r].release);
				struct vs_err err = { 0 };
				enum vs_op_type kind;
				int64_t rc;

				as(t, releases[r].release);
				fake_sent[calls[i].call] = 0;
				rc = vs_op_send(&vs_core, vm1, &at, vm,
						calls[i].action, now, &nobody,
						&kind, &err);
				assert_int_equal(fake_sent[calls[i].call], ok);
				assert_true(ok == (rc > 0));
				if (ok)
					continue;
				assert_int_equal(err.code, VS_E_REQUEST);
				assert_non_null(strstr(err.text,
					vs_operation_names[calls[i].deed]));
				assert_non_null(strstr(err.text,
					vs_adapter_kinds[t].name));
			}
}

/* One of those that are switched off may be moved and changed, whatever it has. */
static void a_vm_that_is_off_passes(void **st)
{
	static const struct vs_vc_op nobody;
	struct vs_err err = { 0 };
	enum vs_op_type kind;

	(void)st;
	on_stage();
	vm->power = VS_POWER_OFF;
	assert_true(vs_op_send(&vs_core, vm1, &at, vm, VS_DO_RELOCATE, now,
			       &nobody, &kind, &err) > 0);
	assert_int_equal(kind, VS_OP_RELOCATE);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
}

/* The template may have brought a NIC of its own; ExtraDevice= brings another. */
static void all_that_the_vm_has_is_asked_of(void **st)
{
	struct vs_adapter with;
	struct vs_err err = { 0 };

	(void)st;
	on_stage();
	as(VS_ADAPTER_VMXNET3, VS_RELEASE(8, 0, 3));
	assert_int_equal(vs_capability_check(&vs_core, vm1, vm,
					     VS_OPERATION_VMOTION, NULL, &err),
			 0);
	vm->nnics = 1;
	vm->nics[0].kind = VS_NIC_PCI_FIXED;
	assert_int_equal(vs_capability_check(&vs_core, vm1, vm,
					     VS_OPERATION_VMOTION, NULL, &err),
			 -1);
	assert_non_null(strstr(err.text, "directpath"));
	vm->nics[0].kind = VS_NIC_ETHERNET;
	assert_int_equal(vs_capability_check(&vs_core, vm1, vm,
					     VS_OPERATION_VMOTION, NULL, &err),
			 0);
	with = core_adapters()[0];
	with.type = VS_ADAPTER_DYNAMIC;
	core_adapters()[0].with = &with;
	assert_int_equal(vs_capability_check(&vs_core, vm1, vm,
					     VS_OPERATION_VMOTION, NULL, &err),
			 -1);
	assert_non_null(strstr(err.text, "dynamic-directpath"));
	core_adapters()[0].with = NULL;
}

/* Of vCenter, the host that it is on and the one that it goes to. */
static void the_oldest_release_decides(void **st)
{
	struct vs_host *to;
	struct vs_err err = { 0 };

	(void)st;
	on_stage();
	as(VS_ADAPTER_VGPU, VS_RELEASE(9, 0, 0));
	to = vs_host_get(core_inv(), "host-2");
	assert_int_equal(vs_capability_check(&vs_core, vm1, vm,
					     VS_OPERATION_VMOTION, to, &err),
			 0);
	vs_strlcpy(to->facts->setup.version, "6.7.0", sizeof(to->facts->setup.version));
	assert_int_equal(vs_capability_check(&vs_core, vm1, vm,
					     VS_OPERATION_VMOTION, to, &err),
			 -1);
	assert_string_equal(err.text, "vmotion: type vgpu allows it from vSphere 6.7U1 on, this is 6.7");
	vs_strlcpy(vm->host_ptr->facts->setup.version, "6.7.0",
		   sizeof(vm->host_ptr->facts->setup.version));
	assert_int_equal(vs_capability_check(&vs_core, vm1, vm,
					     VS_OPERATION_VMOTION, NULL, &err),
			 -1);
}

static void releases_are_read(void **st)
{
	(void)st;
	assert_int_equal(vs_release_parse("8.0.3.0"), VS_RELEASE(8, 0, 3));
	assert_int_equal(vs_release_parse("6.7.0"), VS_RELEASE(6, 7, 0));
	assert_int_equal(vs_release_parse("9.0"), VS_RELEASE(9, 0, 0));
	assert_int_equal(vs_release_parse(""), 0);
	assert_int_equal(vs_release_parse("8."), 0);
	assert_int_equal(vs_release_parse("8.123.1"), 0);
	assert_int_equal(vs_release_parse("vSphere"), 0);
	assert_int_equal(vs_release_older(0, VS_RELEASE(9, 0, 0)), OLDEST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_deed_and_release_is_as_vmware_says),
		cmocka_unit_test(what_is_forbidden_is_not_sent_and_the_reason_is_told),
		cmocka_unit_test(a_vm_that_is_off_passes),
		cmocka_unit_test(all_that_the_vm_has_is_asked_of),
		cmocka_unit_test(the_oldest_release_decides),
		cmocka_unit_test(releases_are_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
