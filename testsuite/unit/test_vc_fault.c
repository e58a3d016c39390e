/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCenter's faults -> what to do next (vSphere's fault types), in both forms:
 * flat as in TaskInfo.error of vCenter 8.0.3, and wrapped as SOAP has it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "util/mem.h"
#include "vcenter/client/client_i.h"

static struct vs_err judged(const char *text, enum vcx_where where)
{
	VS_FREE char *json = vs_strdup(text);
	struct vs_err err = { 0 };
	struct vs_jdoc doc;

	for (char *p = json; *p; p++)
		if (*p == '\'')
			*p = '"';
	if (vs_jdoc_parse(&doc, json, strlen(json), &err))
		fail_msg("%s: %s", text, err.text);
	vs_vcx_fault(vs_j_root(&doc), where, &err);
	vs_jdoc_free(&doc);
	return err;
}

struct sample { const char *type; enum vs_code code; };

static const struct sample samples[] = {
	{ "NotAuthenticated", VS_E_RELOGIN },
	{ "InvalidLogin", VS_E_LOGIN },
	{ "PasswordExpired", VS_E_LOGIN },
	{ "NoPermission", VS_E_CONFIG },
	{ "GenericVmConfigFault", VS_E_OTHER_HOST },
	{ "InsufficientResourcesFault", VS_E_OTHER_HOST },
	{ "InsufficientMemoryResourcesFault", VS_E_OTHER_HOST },
	{ "InsufficientCpuResourcesFault", VS_E_OTHER_HOST },
	{ "InsufficientHostCapacityFault", VS_E_OTHER_HOST },
	{ "InsufficientHostMemoryCapacityFault", VS_E_OTHER_HOST },
	{ "InsufficientHostCpuCapacityFault", VS_E_OTHER_HOST },
	{ "InsufficientPerCpuCapacity", VS_E_OTHER_HOST },
	{ "InsufficientNetworkCapacity", VS_E_OTHER_HOST },
	{ "InsufficientStandbyResource", VS_E_OTHER_HOST },
	{ "InsufficientFailoverResourcesFault", VS_E_SHORTAGE },
	{ "NumVirtualCpusExceedsLimit", VS_E_OTHER_HOST },
	{ "NotEnoughCpus", VS_E_OTHER_HOST },
	{ "MemorySizeNotSupported", VS_E_OTHER_HOST },
	{ "NoCompatibleHost", VS_E_OTHER_HOST },
	{ "VirtualHardwareVersionNotSupported", VS_E_OTHER_HOST },
	{ "DeviceNotSupported", VS_E_OTHER_HOST },
	{ "DeviceBackingNotSupported", VS_E_OTHER_HOST },
	{ "InvalidDeviceBacking", VS_E_OTHER_HOST },
	{ "InvalidState", VS_E_OTHER_HOST },
	{ "InvalidHostState", VS_E_OTHER_HOST },
	{ "InvalidHostConnectionState", VS_E_OTHER_HOST },
	{ "NoHost", VS_E_OTHER_HOST },
	{ "FeatureRequirementsNotMet", VS_E_OTHER_HOST },
	{ "HostNotConnected", VS_E_UNKNOWN },
	{ "HostNotReachable", VS_E_UNKNOWN },
	{ "HostCommunication", VS_E_UNKNOWN },
	{ "NoDiskSpace", VS_E_SHORTAGE },
	{ "InsufficientStorageSpace", VS_E_SHORTAGE },
	{ "InvalidDeviceSpec", VS_E_REQUEST },
	{ "InvalidVmConfig", VS_E_REQUEST },
	{ "QuestionPending", VS_E_REQUEST },
	{ "NotSupported", VS_E_REQUEST },
	{ "InvalidArgument", VS_E_REQUEST },
	{ "DisallowedMigrationDeviceAttached", VS_E_REQUEST },
	{ "CannotAccessVmDevice", VS_E_REQUEST },
	{ "InvalidProperty", VS_E_BUG },
	{ "InvalidType", VS_E_BUG },
	{ "InvalidRequest", VS_E_BUG },
	{ "MethodNotFound", VS_E_BUG },
	{ "ManagedObjectNotFound", VS_E_GONE },
	{ "DuplicateName", VS_E_EXISTS },
	{ "AlreadyExists", VS_E_EXISTS },
	{ "FileAlreadyExists", VS_E_EXISTS },
	{ "TaskInProgress", VS_E_BUSY },
	{ "InvalidPowerState", VS_E_STATE },
	{ "ToolsUnavailable", VS_E_STATE },
	{ "RequestCanceled", VS_E_CANCELED },
	{ "ConcurrentAccess", VS_E_RETRY },
	{ "ResourceInUse", VS_E_RETRY },
	{ "FileLocked", VS_E_RETRY },
	{ "CannotAccessFile", VS_E_RETRY },
	{ "TooManyConcurrentNativeClones", VS_E_RETRY },
	{ "Timedout", VS_E_RETRY },
	{ "CustomizationFault", VS_E_RETRY },
	{ "MigrationFault", VS_E_RETRY },
	{ "SystemError", VS_E_RETRY },
	{ "InvalidCollectorVersion", VS_E_RETRY },
	{ "VmConfigIncompatibleForRecordReplay", VS_E_OTHER_HOST },
};

static void each_family_says_what_to_do(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3 * VS_COUNT(samples); i++) {
		const struct sample *s = &samples[i / 3];
		VS_FREE char *json = i % 3 == 0 ? vs_asprintf(
			"{'fault':{'_typeName':'%s'},"
			"'localizedMessage':'It did not work.'}", s->type) :
			i % 3 == 1 ? vs_asprintf(
			"{'_typeName':'LocalizedMethodFault','fault':"
			"{'_typeName':'%s'},'localizedMessage':"
			"'It did not work.'}", s->type) : vs_asprintf(
			"{'_typeName':'%s','faultstring':'It did not work.'}",
			s->type);
		struct vs_err err = judged(json, VCX_IN_TASK);

		if (err.code != s->code)
			fail_msg("%s: %s", json, vs_code_name(err.code));
		/* both kinds of no room are one to the engine */
		assert_string_equal(err.fault, !strcmp(s->type,
			"InsufficientStorageSpace") ? VS_VC_FAULT_NO_SPACE :
			s->type);
		assert_string_equal(err.text, "It did not work.");
	}
}

/* Another host of the same licences would be tried without end. */
static void a_licence_is_for_an_administrator_and_named(void **state)
{
	static const char *const types[] = { "LicenseExpired",
		"LicenseRestricted", "InvalidEditionLicense",
		"NotEnoughLicenses", "ExpiredFeatureLicense",
		"NoLicenseServerConfigured", "FaultToleranceNotLicensed",
		"RestrictedVersion" };

	(void)state;
	for (size_t i = 0; i < VS_COUNT(types); i++) {
		VS_FREE char *json = vs_asprintf("{'_typeName':'%s',"
			"'faultstring':'Not allowed.','feature':'sriov'}",
			types[i]);
		VS_FREE char *want = vs_asprintf(
			"%s: Not allowed. (feature sriov)", types[i]);
		struct vs_err err = judged(json, VCX_IN_TASK);

		assert_int_equal(err.code, VS_E_CONFIG);
		assert_int_equal(judged(json, VCX_IN_CALL).code, VS_E_CONFIG);
		assert_string_equal(err.fault, types[i]);
		assert_string_equal(err.text, want);
		assert_true(vs_vc_fault_is_licence(err.fault));
	}
	assert_string_equal(judged("{'_typeName':'NotEnoughLicenses'}",
				   VCX_IN_TASK).text, "NotEnoughLicenses");
	assert_false(vs_vc_fault_is_licence("NoPermission"));
	assert_false(vs_vc_fault_is_licence(""));
}

/* ESXi's text comes translated, and may be worded otherwise one day. */
static void a_missing_vf_is_known_by_its_message_key(void **state)
{
#define MESSAGE(key) "{'_typeName':'GenericVmConfigFault','faultstring':" \
	"'Fehler.','faultMessage':[{'key':'msg.moduletable.powerOnFailed'," \
	"'message':'Modul.'},{'key':'" key "','message':'Keine VF frei.'}]}"
	struct vs_err err = judged(MESSAGE("msg.pciPassthru.noVF"),
				   VCX_IN_TASK);

	(void)state;
	assert_int_equal(err.code, VS_E_OTHER_HOST);
	assert_string_equal(err.fault, VS_VC_FAULT_NO_VF);
	assert_string_equal(err.text, "Keine VF frei.");
	assert_string_equal(judged(MESSAGE("msg.pciPassthru.noMigration"),
				   VCX_IN_TASK).fault, "GenericVmConfigFault");
	assert_string_equal(judged(MESSAGE("msg.other.noVF"),
				   VCX_IN_TASK).fault, "GenericVmConfigFault");
}

/* From a trace of vCenter 8.0.3 (evoila/meho, issue 3663). */
static void the_form_of_a_real_vcenter_is_understood(void **state)
{
	struct vs_err err = judged("{'_typeName':'InvalidArgument',"
		"'faultstring':'A specified parameter was not correct: "
		"configSpec.guestId','invalidProperty':'configSpec.guestId'}",
		VCX_IN_TASK);

	(void)state;
	assert_int_equal(err.code, VS_E_REQUEST);
	assert_string_equal(err.fault, "InvalidArgument");
	assert_string_equal(err.text, "A specified parameter was not correct: "
			    "configSpec.guestId");
}

/* Five types have a member `fault` of their own, which is a cause. */
static void a_cause_is_not_taken_for_the_fault(void **state)
{
#define CAUSE "'fault':{'_typeName':'RemoteDeviceNotSupported'," \
	"'device':'CD'}"
#define WRAPPED_CAUSE "'fault':{'_typeName':'LocalizedMethodFault','fault':" \
	"{'_typeName':'RemoteDeviceNotSupported'},'localizedMessage':'CD.'}"
#define OWN(cause) "{'_typeName':'DisallowedMigrationDeviceAttached'," cause "}"
	static const char *const t[] = {
		OWN(CAUSE), OWN(WRAPPED_CAUSE),
		"{'_typeName':'LocalizedMethodFault','fault':" OWN(CAUSE) "}",
		"{'fault':" OWN(WRAPPED_CAUSE) "}",
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(t); i++) {
		struct vs_err err = judged(t[i], VCX_IN_TASK);

		assert_string_equal(err.fault,
				    "DisallowedMigrationDeviceAttached");
		assert_int_equal(err.code, VS_E_REQUEST);
	}
	/* its words count all the same */
	assert_string_equal(judged(OWN("'fault':{'_typeName':'X','faultstring':"
		"'No SR-IOV virtual function'}"), VCX_IN_TASK).fault,
		VS_VC_FAULT_NO_VF);
}

static void an_unknown_fault_is_judged_by_where_it_appeared(void **state)
{
	(void)state;
	assert_int_equal(judged("{'_typeName':'NewFault'}", VCX_IN_TASK).code,
			 VS_E_OTHER_HOST);
	assert_int_equal(judged("{'_typeName':'NewFault'}", VCX_IN_CALL).code,
			 VS_E_REQUEST);
	assert_string_equal(judged("{'_typeName':'NewFault'}",
				   VCX_IN_CALL).text, "NewFault");
	assert_string_equal(judged("{}", VCX_IN_CALL).fault, "UnknownFault");
}

static void a_missing_vf_is_known_by_its_words_in_any_fault(void **state)
{
	static const char *const t[] = {
		"{'fault':{'_typeName':'GenericVmConfigFault','reason':'x'},"
		"'localizedMessage':'pciPassthru0: No SR-IOV virtual function "
		"(VF) is available for given physical function (PF) "
		"(0000:3b:00.0)'}",
		"{'fault':{'_typeName':'SystemError','reason':'No virtual "
		"function left'},'localizedMessage':'Failed to power on.'}",
		"{'fault':{'_typeName':'VmConfigFault','faultMessage':["
		"{'key':'a','message':'Module DevicePowerOn power on failed.'},"
		"{'key':'b','message':'No SR-IOV Virtual Function is free'}]},"
		"'localizedMessage':'Failed to start the virtual machine.'}",
		"{'fault':{'_typeName':'NoCompatibleHost','error':["
		"{'fault':{'_typeName':'GenericVmConfigFault'},"
		"'localizedMessage':'No SR-IOV virtual function (VF)'}]},"
		"'localizedMessage':'No host is compatible.'}",
		"{'_typeName':'SystemError','faultstring':'General error',"
		"'faultCause':{'fault':{'_typeName':'X','reason':"
		"'No SR-IOV virtual function'}}}",
		"{'_typeName':'NoCompatibleHost','faultstring':'No host.',"
		"'error':[{'_typeName':'GenericVmConfigFault','faultstring':"
		"'x','faultMessage':[{'key':'b','message':"
		"'No SR-IOV virtual function (VF)'}]}]}",
		"{'_typeName':'CannotAccessVmConfig','faultstring':'No.',"
		"'reason':{'_typeName':'X','faultstring':"
		"'No SR-IOV virtual function'}}",
		"{'_typeName':'VmFaultToleranceConfigIssueWrapper','error':"
		"{'_typeName':'LocalizedMethodFault','fault':{'_typeName':'X'},"
		"'localizedMessage':'No SR-IOV virtual function'}}",
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(t); i++) {
		struct vs_err err = judged(t[i], VCX_IN_TASK);

		assert_int_equal(err.code, VS_E_OTHER_HOST);
		assert_string_equal(err.fault, VS_VC_FAULT_NO_VF);
		/* The telling words are what is passed on. */
		assert_non_null(strcasestr(err.text, "virtual function"));
	}
}

static void a_missing_device_is_known_by_its_words(void **state)
{
	static const char *const t[] = {
		"{'fault':{'_typeName':'InsufficientResourcesFault'},"
		"'localizedMessage':'Insufficient resources. One or more "
		"devices (pciPassthru0) required by VM vm1 are not available "
		"on host esx01.'}",
		"{'fault':{'_typeName':'GenericVmConfigFault','faultMessage':["
		"{'key':'a','message':'Module DevicePowerOn power on failed.'},"
		"{'key':'b','message':'Device 65:00.0 is already in use.'}]},"
		"'localizedMessage':'Failed to power on.'}",
		"{'fault':{'_typeName':'GenericVmConfigFault','reason':"
		"'Failed to register the device pciPassthru0 for 0000:65:00.0 "
		"due to unavailable hardware or software support.'}}",
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(t); i++) {
		struct vs_err err = judged(t[i], VCX_IN_TASK);

		assert_int_equal(err.code, VS_E_OTHER_HOST);
		assert_string_equal(err.fault, VS_VC_FAULT_NO_DEVICE);
		assert_non_null(strcasestr(err.text, "device"));
	}
	/* a file that is in use is none */
	assert_string_not_equal(judged("{'fault':{'_typeName':'FileLocked'},"
		"'localizedMessage':'The file is already in use'}",
		VCX_IN_TASK).fault, VS_VC_FAULT_NO_DEVICE);
}

static void a_full_datastore_is_known_by_its_words(void **state)
{
	static const char *const t[] = {
		"{'fault':{'_typeName':'GenericVmConfigFault','faultMessage':["
		"{'key':'a','message':'Module DevicePowerOn power on failed.'},"
		"{'key':'b','message':'No space left on device'}]},"
		"'localizedMessage':'Failed to power on.'}",
		"{'fault':{'_typeName':'SystemError','reason':'There is not "
		"enough space on the file system'},'localizedMessage':'x'}",
		"{'fault':{'_typeName':'NoDiskSpace','datastore':'vsan'},"
		"'localizedMessage':'Insufficient disk space on datastore'}",
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(t); i++) {
		struct vs_err err = judged(t[i], VCX_IN_TASK);

		assert_int_equal(err.code, VS_E_SHORTAGE);
		assert_string_equal(err.fault, VS_VC_FAULT_NO_SPACE);
		assert_non_null(strcasestr(err.text, "space"));
	}
}

static void a_wrong_reservation_is_no_matter_of_the_host(void **state)
{
	struct vs_err err = judged(
		"{'fault':{'_typeName':'GenericVmConfigFault'},"
		"'localizedMessage':'Invalid memory setting: memory reservation"
		" (sched.mem.min) should be equal to memsize(8192).'}",
		VCX_IN_TASK);

	(void)state;
	assert_int_equal(err.code, VS_E_REQUEST);
	err = judged("{'fault':{'_typeName':'GenericVmConfigFault'},"
		     "'localizedMessage':'Device is gone.'}", VCX_IN_TASK);
	assert_int_equal(err.code, VS_E_OTHER_HOST);
}

static void the_text_is_one_line_and_names_what_is_missing(void **state)
{
	struct vs_err err = judged(
		"{'_typeName':'NoPermission','faultstring':"
		"'Permission to perform this operation was denied.\\n',"
		"'privilegeId':'VirtualMachine.Inventory.Delete'}",
		VCX_IN_CALL);

	(void)state;
	assert_null(strchr(err.text, '\n'));
	assert_non_null(strstr(err.text, "VirtualMachine.Inventory.Delete"));
	err = judged("{'_typeName':'InvalidPowerState','faultstring':'No.',"
		     "'existingState':'poweredOn'}", VCX_IN_CALL);
	assert_non_null(strstr(err.text, "poweredOn"));
}

static void a_sessions_key_is_taken_out_of_any_text(void **state)
{
	static const char *const t[][2] = {
		{ "ListView/session[52ab-1]52cd-2/DestroyView",
		  "ListView/session[]/DestroyView" },
		{ "'vim.view:session[1]2' and 'session[3]4'.",
		  "'vim.view:session[]' and 'session[]'." },
		{ "cut off in session[52ab-1", "cut off in session[" },
		{ "cut off in session[", "cut off in session[" },
		{ "session[]", "session[]" },
		{ "a session, no key", "a session, no key" },
		{ "", "" },
	};
	struct vs_err err = judged("{'_typeName':'ManagedObjectNotFound',"
		"'faultstring':'The object vim.view:session[k]i is gone'}",
		VCX_IN_CALL);

	(void)state;
	assert_string_equal(err.text, "The object vim.view:session[] is gone");
	for (size_t i = 0; i < VS_COUNT(t); i++) {
		VS_FREE char *s = vs_strdup(t[i][0]);

		vs_vcx_mask(s);
		assert_string_equal(s, t[i][1]);
	}
}

static void a_fault_of_the_wrong_shape_is_survived(void **state)
{
	(void)state;
	judged("null", VCX_IN_TASK);
	judged("7", VCX_IN_TASK);
	assert_string_equal(judged("{'_typeName':'LocalizedMethodFault'}",
				   VCX_IN_TASK).fault, "UnknownFault");
	assert_string_equal(judged("{'fault':[],'localizedMessage':{}}",
				   VCX_IN_TASK).fault, "UnknownFault");
	assert_string_equal(judged("{'_typeName':'X','fault':7}",
				   VCX_IN_TASK).fault, "X");
}

/* What a fault has in it, of whatever type, is no failure of the update. */
static void no_member_of_a_fault_fails_the_document(void **state)
{
	static const char *const shapes[] = { "7", "true", "'a'", "'\\u0000'",
		"[]", "{}", "[null]", "[7]", "[['a']]", "{'fault':7}",
		"{'_typeName':7}", "{'_typeName':'X','fault':[null]}" };
	static const char *const names[] = { "fault", "reason", "error",
		"faultCause", "faultMessage", "faultstring", "localizedMessage",
		"privilegeId", "name", "existingState" };

	(void)state;
	for (size_t i = 0; i < VS_COUNT(shapes) * VS_COUNT(names); i++) {
		VS_FREE char *json = vs_asprintf("{'_typeName':'SystemError',"
			"'%s':%s}", names[i % VS_COUNT(names)],
			shapes[i / VS_COUNT(names)]);
		struct vs_err err = { 0 };
		struct vs_jdoc doc;

		for (char *p = json; *p; p++)
			if (*p == '\'')
				*p = '"';
		assert_int_equal(vs_jdoc_parse(&doc, json, strlen(json), &err),
				 0);
		assert_string_equal(vs_vcx_fault_type(vs_j_root(&doc)),
				    "SystemError");
		vs_vcx_fault(vs_j_root(&doc), VCX_IN_TASK, &err);
		assert_string_equal(err.fault, "SystemError");
		if (vs_json_failed(&doc, &err))
			fail_msg("%s: %s", json, err.text);
		vs_jdoc_free(&doc);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_family_says_what_to_do),
		cmocka_unit_test(
			an_unknown_fault_is_judged_by_where_it_appeared),
		cmocka_unit_test(
			a_missing_vf_is_known_by_its_words_in_any_fault),
		cmocka_unit_test(a_missing_device_is_known_by_its_words),
		cmocka_unit_test(a_full_datastore_is_known_by_its_words),
		cmocka_unit_test(a_wrong_reservation_is_no_matter_of_the_host),
		cmocka_unit_test(
			the_text_is_one_line_and_names_what_is_missing),
		cmocka_unit_test(a_sessions_key_is_taken_out_of_any_text),
		cmocka_unit_test(a_fault_of_the_wrong_shape_is_survived),
		cmocka_unit_test(the_form_of_a_real_vcenter_is_understood),
		cmocka_unit_test(a_cause_is_not_taken_for_the_fault),
		cmocka_unit_test(a_licence_is_for_an_administrator_and_named),
		cmocka_unit_test(a_missing_vf_is_known_by_its_message_key),
		cmocka_unit_test(no_member_of_a_fault_fails_the_document),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
