/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf adapters: the capability table for people. Expected texts are written by
 * hand from svf(1) and VMware's tables.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "svf_stage.h"
#include "util/json.h"
#include "util/mem.h"

static const char site[] =
"VCenter=https://vc.example.org\n"
"VCenterUser=slurm@vsphere.local\n"
"VCenterPasswordFile=/etc/slurm/vcenter.password\n"
"Datacenter=DC0\nFolder=slurm\nDatastore=vsan\n"
"VSphereCluster=HPC1\n"
"AdapterName=roce Type=sriov Network=ROCE-PG NICsPerNode=2\n"
"AdapterName=ib Type=sriov Network=IB-PG LinkLayer=InfiniBand\n"
"AdapterName=eth Type=vmxnet3 Network=VM-PG\n"
"PartitionName=roce Adapter=roce Template=rhel9\n";

static void types_are_a_table_with_the_sites_adapters(void **state)
{
	(void)state;
	write_file("vsphere.conf", "%s", site);
	assert_int_equal(svf("adapters -O type,site,vmotion,ha,memory,hw sriov pvrdma vmxnet3"),
			 0);
	assert_string_equal(out,
"TYPE     SITE     VMOTION  HA      MEMORY  HW\n"
"vmxnet3  eth      yes      yes     -        7\n"
"pvrdma   -        yes      yes     -       13\n"
"sriov    roce,ib  no       8.0U2+  full    10\n");
	assert_string_equal(errs, "");
}

static void the_sites_adapters_have_a_line_each(void **state)
{
	(void)state;
	write_file("vsphere.conf", "%s", site);
	assert_int_equal(svf("adapters --site -O adapter,type,network,nics,snapshot"), 0);
	assert_string_equal(out,
"ADAPTER  TYPE     NETWORK  NICS  SNAPSHOT\n"
"roce     sriov    ROCE-PG     2  no\n"
"ib       sriov    IB-PG       1  no\n"
"eth      vmxnet3  VM-PG       1  yes\n");
	assert_int_equal(svf("adapters --site -h -O adapter eth"), 0);
	assert_string_equal(out, "eth\n");
}

static void json_has_the_table_and_the_site(void **state)
{
	struct vs_err err = { 0 };
	struct vs_jdoc doc;
	struct vs_j one;

	(void)state;
	write_file("vsphere.conf", "%s", site);
	assert_int_equal(svf("--json adapters sriov"), 0);
	assert_int_equal(vs_jdoc_parse(&doc, out, strlen(out), &err), 0);
	one = vs_j_at(vs_j_get(vs_j_root(&doc), "types"), 0);
	assert_string_equal(vs_j_str(vs_j_get(one, "type")), "sriov");
	assert_string_equal(vs_j_str(vs_j_get(vs_j_get(one, "operations"),
					      "drs-place")), "8.0U2+");
	assert_int_equal(vs_j_len(vs_j_get(vs_j_root(&doc), "types")), 1);
	one = vs_j_at(vs_j_get(vs_j_root(&doc), "adapters"), 1);
	assert_string_equal(vs_j_str(vs_j_get(one, "adapter")), "ib");
	vs_jdoc_free(&doc);
}

static void without_the_file_the_table_is_there_all_the_same(void **state)
{
	(void)state;
	write_file("vsphere.conf", "nonsense\n");
	assert_int_equal(svf("adapters -h -O type,site sriov"), 0);
	assert_string_equal(out, "sriov  ?\n");
	expect_in(errs, "svf: the site's adapters aren't known: ");
	assert_int_not_equal(svf("adapters --site"), 0);
	assert_int_equal(svf("adapters carrier-pigeon"), 1);
	expect_in(errs, "svf: no such adapter type: carrier-pigeon\n");
	assert_string_equal(out, "");
	assert_int_equal(svf("adapters -h -O type sriov pigeon owl"), 1);
	assert_string_equal(out, "sriov\n");
	expect_in(errs, "svf: no such adapter type: pigeon\nsvf: no such adapter type: owl\n");
	assert_int_equal(svf("--json adapters pigeon"), 1);
	write_file("vsphere.conf", "%s", site);
	assert_int_equal(svf("adapters --site nope"), 1);
	assert_string_equal(errs, "svf: no such AdapterName= in vsphere.conf: nope\n");
	assert_string_equal(out, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup(f, restart)
		T(types_are_a_table_with_the_sites_adapters),
		T(the_sites_adapters_have_a_line_each),
		T(json_has_the_table_and_the_site),
		T(without_the_file_the_table_is_there_all_the_same),
	};

	signal(SIGPIPE, SIG_IGN);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	unsetenv("COLUMNS");
	return cmocka_run_group_tests(tests, stage_open, stage_close);
}
