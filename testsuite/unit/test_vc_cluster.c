/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a cluster's configurationEx says of DRS and HA, and what it leaves out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "vcenter/client/client_i.h"

static struct vcx_cluster cluster;

static void read_conf(const char *text)
{
	struct vs_jdoc doc;

	assert_int_equal(vs_jdoc_parse(&doc, text, strlen(text), NULL), 0);
	vs_vcx_cluster_set(&cluster, vs_j_root(&doc));
	assert_false(vs_json_failed(&doc, NULL));
	vs_jdoc_free(&doc);
}

static int drs(const char *conf)
{
	read_conf(conf);
	return cluster.drs;
}

static int ha(const char *conf)
{
	read_conf(conf);
	return cluster.ha;
}

#define DRS(in) "{\"drsConfig\":{" in "}}"
#define HA(in) "{\"dasConfig\":{" in "}}"
#define ON "\"enabled\":true"

static void what_is_not_said_is_unknown_never_no(void **state)
{
	(void)state;
	assert_int_equal(drs("{}"), VS_VC_AUTO_UNKNOWN);
	assert_int_equal(drs("null"), VS_VC_AUTO_UNKNOWN);
	assert_int_equal(drs(DRS("")), VS_VC_AUTO_UNKNOWN);
	assert_int_equal(drs(DRS(ON)), VS_VC_AUTO_UNKNOWN);
	assert_int_equal(ha("{}"), VS_VC_AUTO_UNKNOWN);
	assert_int_equal(ha(HA("")), VS_VC_AUTO_UNKNOWN);
}

static void only_off_and_manual_leave_the_host_to_us(void **state)
{
	(void)state;
	assert_int_equal(drs(DRS("\"enabled\":false,"
		"\"defaultVmBehavior\":\"fullyAutomated\"")), VS_VC_AUTO_NO);
	assert_int_equal(drs(DRS(ON ",\"defaultVmBehavior\":\"manual\"")),
			 VS_VC_AUTO_NO);
	assert_int_equal(drs(DRS(ON
		",\"defaultVmBehavior\":\"partiallyAutomated\"")),
			 VS_VC_AUTO_YES);
	assert_int_equal(drs(DRS(ON
		",\"defaultVmBehavior\":\"aNewOne\"")), VS_VC_AUTO_YES);
}

/* Partial automation places at power-on, and recommends what to move. */
static void only_full_automation_moves_vms_that_are_on(void **state)
{
	(void)state;
	read_conf(DRS(ON ",\"defaultVmBehavior\":\"partiallyAutomated\""));
	assert_false(vs_vcx_cluster_view(&cluster).moves);
	read_conf(DRS(ON ",\"defaultVmBehavior\":\"fullyAutomated\""));
	assert_true(vs_vcx_cluster_view(&cluster).moves);
	read_conf(DRS("\"enabled\":false,"
		      "\"defaultVmBehavior\":\"fullyAutomated\""));
	assert_false(vs_vcx_cluster_view(&cluster).moves);
}

static void ha_restarts_unless_its_default_is_disabled(void **state)
{
	(void)state;
	assert_int_equal(ha(HA("\"enabled\":false")), VS_VC_AUTO_NO);
	assert_int_equal(ha(HA(ON)), VS_VC_AUTO_YES);
	assert_int_equal(ha(HA(ON ",\"defaultVmSettings\":"
			       "{\"restartPriority\":\"low\"}")),
			 VS_VC_AUTO_YES);
	assert_int_equal(ha(HA(ON ",\"defaultVmSettings\":"
			       "{\"restartPriority\":\"disabled\"}")),
			 VS_VC_AUTO_NO);
}

static void ha_without_host_monitoring_restarts_nothing(void **state)
{
	(void)state;
	assert_int_equal(ha(HA(ON ",\"hostMonitoring\":\"disabled\"")),
			 VS_VC_AUTO_NO);
	assert_int_equal(ha(HA(ON ",\"hostMonitoring\":\"disabled\","
			       "\"vmMonitoring\":\"vmMonitoringOnly\"")),
			 VS_VC_AUTO_NO);
	assert_int_equal(ha(HA(ON ",\"hostMonitoring\":\"enabled\"")),
			 VS_VC_AUTO_YES);
	assert_int_equal(ha(HA(ON ",\"hostMonitoring\":\"aNewOne\"")),
			 VS_VC_AUTO_YES);
	assert_int_equal(ha(HA("\"hostMonitoring\":\"disabled\"")),
			 VS_VC_AUTO_UNKNOWN);
}

#define KEY(vm) "\"key\":{\"type\":\"VirtualMachine\",\"value\":\"" vm "\"}"
#define DRS_VM(vm, in) "{" KEY(vm) in "}"

static void overrides_count_where_drs_looks_at_them(void **state)
{
	(void)state;
	read_conf("{\"drsConfig\":{" ON ",\"defaultVmBehavior\":\"manual\"},"
		  "\"drsVmConfig\":["
		  DRS_VM("vm-1", ",\"enabled\":false") ","
		  DRS_VM("vm-2", ",\"behavior\":\"fullyAutomated\"") ","
		  DRS_VM("vm-3", "") "],\"dasVmConfig\":["
		  DRS_VM("vm-2", ",\"dasSettings\":{\"restartPriority\":\"disabled\"}") ","
		  DRS_VM("vm-4", ",\"restartPriority\":\"high\"") ","
		  DRS_VM("vm-5", ",\"restartPriority\":\"clusterRestartPriority\"")
		  "]}");
	assert_int_equal(cluster.noverrides, 4);
	assert_int_equal(cluster.overrides[0].drs, VS_VC_AUTO_NO);
	assert_int_equal(cluster.overrides[1].drs, VS_VC_AUTO_YES);
	assert_true(cluster.overrides[1].moves && !cluster.overrides[0].moves);
	assert_int_equal(cluster.overrides[1].ha, VS_VC_AUTO_NO);
	assert_int_equal(cluster.overrides[2].drs, VS_VC_AUTO_UNKNOWN);
	assert_string_equal(cluster.overrides[3].vm, "vm-4");
	assert_int_equal(cluster.overrides[3].ha, VS_VC_AUTO_YES);
	read_conf("{\"drsConfig\":{" ON ",\"enableVmBehaviorOverrides\":false,"
		  "\"defaultVmBehavior\":\"fullyAutomated\"},\"drsVmConfig\":["
		  DRS_VM("vm-1", ",\"enabled\":false") "]}");
	assert_int_equal(cluster.noverrides, 0);
	vs_vcx_cluster_forget(&cluster);
}

#define VM1 DRS_VM("vm-1", ",\"behavior\":\"fullyAutomated\"," \
		   "\"dasSettings\":{\"restartPriority\":\"high\"}")
#define BOTH(drs, ha) "{\"drsConfig\":{" drs "},\"dasConfig\":{" ha "}," \
		      "\"drsVmConfig\":[" VM1 "],\"dasVmConfig\":[" VM1 "]}"
#define PRIO(p) "\"defaultVmSettings\":{\"restartPriority\":\"" p "\"}"

static void overrides_of_what_is_off_are_not_in_force(void **state)
{
	(void)state;
	read_conf(BOTH(ON, ON "," PRIO("disabled")));
	assert_int_equal(cluster.ha, VS_VC_AUTO_NO);
	assert_int_equal(cluster.noverrides, 1);
	assert_int_equal(cluster.overrides[0].ha, VS_VC_AUTO_YES);
	read_conf(BOTH("\"enabled\":false", "\"enabled\":false"));
	assert_int_equal(cluster.noverrides, 0);
	read_conf(BOTH("\"enabled\":false",
		       ON ",\"hostMonitoring\":\"disabled\""));
	assert_int_equal(cluster.noverrides, 0);
	read_conf(BOTH("", ""));	/* not said: they may be */
	assert_int_equal(cluster.overrides[0].ha, VS_VC_AUTO_YES);
	vs_vcx_cluster_forget(&cluster);
}

#define DPM(drs, dpm, hosts) "{\"drsConfig\":{" drs "}," \
	"\"dpmConfigInfo\":{" dpm "},\"dpmHostConfig\":[" hosts "]}"
#define AUTO "\"defaultDpmBehavior\":\"automated\""
#define MANUAL "\"defaultDpmBehavior\":\"manual\""

static bool dpm(const char *conf)
{
	read_conf(conf);
	return cluster.dpm;
}

static void dpm_switches_hosts_off_where_drs_is_on(void **state)
{
	(void)state;
	assert_false(dpm("{}"));
	assert_true(dpm(DPM(ON, ON "," AUTO, "")));
	assert_false(dpm(DPM(ON, ON "," MANUAL, "")));
	assert_false(dpm(DPM(ON, "\"enabled\":false," AUTO, "")));
	assert_false(dpm(DPM("\"enabled\":false", ON "," AUTO, "")));
	/* a host's own word */
	assert_true(dpm(DPM(ON, ON "," MANUAL,
		"{\"behavior\":\"manual\"},{\"behavior\":\"automated\"}")));
	assert_false(dpm(DPM(ON, ON "," MANUAL,
		"{\"enabled\":false,\"behavior\":\"automated\"}")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_said_is_unknown_never_no),
		cmocka_unit_test(only_off_and_manual_leave_the_host_to_us),
		cmocka_unit_test(only_full_automation_moves_vms_that_are_on),
		cmocka_unit_test(ha_restarts_unless_its_default_is_disabled),
		cmocka_unit_test(ha_without_host_monitoring_restarts_nothing),
		cmocka_unit_test(overrides_count_where_drs_looks_at_them),
		cmocka_unit_test(overrides_of_what_is_off_are_not_in_force),
		cmocka_unit_test(dpm_switches_hosts_off_where_drs_is_on),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
