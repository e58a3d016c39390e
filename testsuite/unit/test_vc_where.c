/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vcenter: PlaceVm and QueryConfigTarget, what is asked, which answer counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "util/mem.h"
#include "vcenter/calls/calls_i.h"

static void answers(const char *json, const char *host)
{
	VS_FREE char *text = vs_strdup(json);
	struct vs_err err = { 0 };
	struct vs_jdoc doc;

	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	assert_int_equal(vs_jdoc_parse(&doc, text, strlen(text), &err), 0);
	assert_string_equal(vs_vcx_where_read(vs_j_root(&doc)), host);
	vs_jdoc_free(&doc);
}

#define ACTION(host) "{'_typeName':'PlacementAction','targetHost':{" \
	"'_typeName':'ManagedObjectReference','type':'HostSystem'," \
	"'value':'" host "'}}"
#define NO_TARGET "{'_typeName':'StorageMigrationAction'}"
#define ADVICE(rating, action) "{'_typeName':'ClusterRecommendation'," \
	"'rating':" #rating ",'action':[" action "]}"

static void the_host_that_is_recommended_most_is_taken(void **state)
{
	(void)state;
	answers("{'recommendations':[" ADVICE(3, ACTION("host-1")) ","
		ADVICE(5, ACTION("host-2")) "," ADVICE(4, ACTION("host-3"))
		"]}", "host-2");
	answers("{'recommendations':[" ADVICE(5, ACTION("host-1")) ","
		ADVICE(5, ACTION("host-2")) "]}", "host-1");
}

static void advice_that_names_no_host_is_passed_over(void **state)
{
	(void)state;
	answers("{'recommendations':[" ADVICE(5, NO_TARGET) ","
		ADVICE(1, NO_TARGET "," ACTION("host-3")) "]}", "host-3");
	answers("{'recommendations':[" ADVICE(5, NO_TARGET) "]}", "");
}

static void a_cluster_of_which_no_host_answers_is_named(void **state)
{
	struct vcx_cluster c = { .name = (char *)"HPC1",
				 .moid = (char *)"domain-c7" };
	struct vs_vc vc = { .state = VCX_UP, .clusters = &c, .nclusters = 1 };
	struct vs_err err = { 0 };

	(void)state;
	assert_int_equal(vs_vc_target(&vc, c.moid, "host-1", &err), -1);
	assert_string_equal(err.text, "the environment browser of its cluster "
			    "is not read yet");
	/* unset, as vCenter has it then */
	c.browser = (char *)"";
	assert_int_equal(vs_vc_target(&vc, c.moid, "host-1", &err), -1);
	assert_int_equal(err.code, VS_E_RETRY);
	assert_non_null(strstr(err.text, "no host of cluster HPC1 answers"));
}

static void none_because(const char *json, const char *text, const char *type)
{
	VS_FREE char *copy = vs_strdup(json);
	struct vs_err err = { 0 }, bad;
	struct vs_jdoc doc;

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	assert_int_equal(vs_jdoc_parse(&doc, copy, strlen(copy), &err), 0);
	vs_vcx_where_none(vs_j_root(&doc), &err);
	assert_false(vs_json_failed(&doc, &bad));
	assert_int_equal(err.code, VS_E_SHORTAGE);
	assert_string_equal(err.text, text);
	assert_string_equal(err.fault, type);
	vs_jdoc_free(&doc);
}

#define BY_VM(faults) "{'drsFault':{'_typeName':'ClusterDrsFaults'," \
	"'reason':'No place','faultsByVm':[{'_typeName':" \
	"'ClusterDrsFaultsFaultsByVm','vm':{'_typeName':" \
	"'ManagedObjectReference','type':'VirtualMachine','value':'vm-1'}," \
	"'fault':" faults "}]}}"

/* FaultsByVM.fault: MethodFault in VI JSON's text, LocalizedMethodFault in SOAP's. */
static void faults_by_vm_say_why_in_both_forms(void **state)
{
	static const char why[] =
		"PlaceVm recommends no host: No place: Host is in standby.";

	(void)state;
	none_because(BY_VM("[{'_typeName':'InvalidHostState','faultstring':"
			   "'Host is in standby.'},{'_typeName':'NoHost'}]"),
		     why, "InvalidHostState");
	none_because(BY_VM("[{'_typeName':'LocalizedMethodFault',"
			   "'localizedMessage':'Host is in standby.','fault':"
			   "{'_typeName':'InvalidHostState'}}]"),
		     why, "InvalidHostState");
	none_because("{'recommendations':[]}", "PlaceVm recommends no host",
		     "");
	/* what is of another type than the API says fails nothing */
	none_because(BY_VM("[{'_typeName':'InvalidHostState',"
			   "'faultCause':7,'faultMessage':'x'}]"),
		     "PlaceVm recommends no host: No place: InvalidHostState",
		     "InvalidHostState");
	none_because(BY_VM("7"), "PlaceVm recommends no host: No place", "");
	none_because("{'drsFault':{'reason':[],'faultsByVm':{'vm':1}}}",
		     "PlaceVm recommends no host", "");
	none_because("{'drsFault':[7]}", "PlaceVm recommends no host", "");
	none_because("[]", "PlaceVm recommends no host", "");
}

static void where_nothing_is_recommended_there_is_no_host(void **state)
{
	(void)state;
	answers("{'drsFault':{'reason':'none'}}", "");
	answers("{'recommendations':[]}", "");
	answers("[]", "");
}

static void the_question_names_template_place_and_hosts(void **state)
{
	static const char *const hosts[] = { "host-4", "host-7" };
	const struct vs_vc_where w = {
		.cluster = "domain-c8", .source = "vm-100", .name = "vm001",
		.pool = "resgroup-9", .datastore = "datastore-5",
		.hosts = hosts, .nhosts = 2,
	};
	VS_FREE char *text = vs_jb_text_free(vs_vcx_where_spec(&w));

	(void)state;
	assert_non_null(strstr(text, "\"placementType\":\"clone\""));
	assert_non_null(strstr(text, "\"cloneName\":\"vm001\""));
	assert_non_null(strstr(text, "\"value\":\"vm-100\""));
	assert_non_null(strstr(text, "\"value\":\"resgroup-9\""));
	assert_non_null(strstr(text, "\"value\":\"datastore-5\""));
	assert_non_null(strstr(text, "\"value\":\"host-4\""));
	assert_non_null(strstr(text, "\"value\":\"host-7\""));
	assert_non_null(strstr(text, "\"disallowPrerequisiteMoves\":true"));
}

/* ---- QueryConfigTarget ---------------------------------------------------- */

#define DEVICE(id, system) "{'_typeName':'VirtualMachinePciPassthroughInfo'," \
	"'name':'x','pciDevice':{'_typeName':'HostPciDevice','id':'" id "'}," \
	"'systemId':'" system "'}"

static void a_device_is_known_by_its_address_and_says_its_system(void **state)
{
	VS_FREE char *text = vs_strdup("{'numCpus':4,'pciPassthrough':["
		DEVICE("0000:3B:00.0", "one") "," DEVICE("0000:af:00.0", "")
		",{'name':'odd'}," DEVICE("here", "two") ","
		DEVICE("0000:d8:00.0", "two") "]}");
	VS_FREE struct vs_vc_target *list = NULL;
	struct vs_err err = { 0 };
	struct vs_jdoc doc;
	size_t n;

	(void)state;
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	assert_int_equal(vs_jdoc_parse(&doc, text, strlen(text), &err), 0);
	list = vs_vcx_target_read(vs_j_root(&doc), &n);
	assert_int_equal(n, 2);
	assert_string_equal(list[0].pci, "0000:3b:00.0");
	assert_string_equal(list[0].system, "one");
	assert_string_equal(list[1].pci, "0000:d8:00.0");
	assert_string_equal(list[1].system, "two");
	vs_jdoc_free(&doc);
}

#define OPTION(key, type) "{'_typeName':'OptionDef','label':'l'," \
	"'summary':'s','key':'" key "','optionType':{'_typeName':'" type "'}}"
#define CLASS(key, params) "{'_typeName':'VirtualMachineDvxClassInfo'," \
	"'deviceClass':{'_typeName':'ElementDescription','label':'l'," \
	"'summary':'s','key':'" key "'},'vendorName':'v','sriovNic':false" \
	params "}"
#define TEN "aaaaaaaaaa"

/* As of a real host with DVX classes (8.0). */
static void the_parameters_of_a_class_have_types(void **state)
{
	VS_FREE char *text = vs_strdup("{'dvxClassInfo':["
		CLASS("com.v.sr", ",'configParams':["
		      OPTION("maxVfSizeMb", "LongOption") ","
		      OPTION("mode", "ChoiceOption") ","
		      OPTION("on", "BoolOption") "," OPTION("n", "IntOption")
		      "," OPTION("f", "FloatOption") ","
		      OPTION("s", "StringOption") "," OPTION("new", "NewOption")
		      "," OPTION(TEN TEN TEN TEN TEN TEN TEN, "LongOption")
		      "]") "," CLASS("com.v.none", "") ",{'vendorName':'odd'}]}");
	static const struct { const char *key; enum vs_vc_value type; } want[] = {
		{ "maxVfSizeMb", VS_VC_VALUE_LONG },
		{ "mode", VS_VC_VALUE_STRING }, { "on", VS_VC_VALUE_BOOL },
		{ "n", VS_VC_VALUE_INT }, { "f", VS_VC_VALUE_FLOAT },
		{ "s", VS_VC_VALUE_STRING }, { "new", VS_VC_VALUE_UNKNOWN },
	};
	VS_FREE struct vs_vc_option *list = NULL;
	struct vs_err err = { 0 };
	struct vs_jdoc doc;
	size_t n;

	(void)state;
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	assert_int_equal(vs_jdoc_parse(&doc, text, strlen(text), &err), 0);
	list = vs_vcx_options_read(vs_j_root(&doc), &n);
	assert_false(vs_json_failed(&doc, &err));
	assert_int_equal(n, VS_COUNT(want));
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(list[i].class, "com.v.sr");
		assert_string_equal(list[i].key, want[i].key);
		assert_int_equal(list[i].type, want[i].type);
	}
	vs_jdoc_free(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_host_that_is_recommended_most_is_taken),
		cmocka_unit_test(advice_that_names_no_host_is_passed_over),
		cmocka_unit_test(a_cluster_of_which_no_host_answers_is_named),
		cmocka_unit_test(where_nothing_is_recommended_there_is_no_host),
		cmocka_unit_test(faults_by_vm_say_why_in_both_forms),
		cmocka_unit_test(the_question_names_template_place_and_hosts),
		cmocka_unit_test(a_device_is_known_by_its_address_and_says_its_system),
		cmocka_unit_test(the_parameters_of_a_class_have_types),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
