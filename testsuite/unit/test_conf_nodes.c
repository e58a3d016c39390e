/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vsphere.conf and slurm.conf together: which nodes slurm-vsphere manages, and
 * how Slurm must be configured. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plugins/slurm/compat.h"
#include "conf_stage.h"
#include "util/mem.h"

static void says(const char *words)
{
	if (!strstr(stage_err.text, words))
		fail_msg("\"%s\" lacks \"%s\"", stage_err.text, words);
}

static struct vs_conf *with(const char *more)
{
	VS_FREE char *text = stage_text(more);

	return stage_nodes(text);
}

static void cloud_nodes_of_a_partition_are_ours_with_their_size(void **state)
{
	struct vs_conf *c;

	(void)state;
	stage_node("vm1", "x86,sriov-roce,big", 16, 65536, true);
	stage_node("metal", "sriov-roce", 16, 65536, false);
	stage_node("vm2", "sriov-roce", 4, 1000, true);
	stage_node("other", NULL, 4, 1000, true);
	stage_partition("roce", "012", false);
	stage_partition("rest", "3", false);
	c = with("");
	assert_non_null(c);
	assert_int_equal(c->nnodes, 2);
	assert_string_equal(c->nodes[0].name, "vm1");
	assert_string_equal(c->nodes[0].adapter, "sriov-roce");
	assert_string_equal(c->nodes[0].partition, "roce");
	assert_int_equal(c->nodes[0].vcpus, 16);
	/* 65536 + 256 + 65536/32 */
	assert_int_equal(c->nodes[0].memory_mb, 67840);
	assert_int_equal(c->nodes[1].vcpus, 4);
	/* 1000 + 256 + 31 = 1287, up to a multiple of 4 */
	assert_int_equal(c->nodes[1].memory_mb, 1288);
	assert_false(c->nodes[0].exclusive);
}

static void a_node_without_an_address_in_the_subnet_is_refused(void **state)
{
	(void)state;
	stage_node("login", "sriov-roce", 16, 1024, true);
	stage_partition("roce", "0", true);
	assert_null(stage_nodes(STAGE_TOP
		"VSphereCluster=HPC1\n"
		"AdapterName=sriov-roce Type=sriov Network=n AdapterAddresses=10.1.0.0/24\n"
		"PartitionName=roce Adapter=sriov-roce Template=t\n"));
	assert_non_null(strstr(stage_err.text, "AdapterAddresses=10.1.0.0/24: node login: expected a name that ends with a number from 1 to 254"));
}

static const char two_pools[] = STAGE_TOP
	"VSphereCluster=HPC1\n"
	"AdapterName=sriov-roce Type=sriov Network=n AdapterAddresses=10.1.0.0/24\n"
	"PartitionName=roce Adapter=sriov-roce Template=t "
	"ManagementAddresses=10.9.0.10-10.9.0.99/24\n"
	"PartitionName=big Adapter=sriov-roce Template=t "
	"AdapterAddresses=10.2.0.10-10.2.0.12/16@101 ManagementAddresses=10.9.0.0/30\n";

static void nodes_have_addresses_of_their_partitions_pools(void **state)
{
	struct vs_conf *c;

	(void)state;
	stage_node("vm1", "sriov-roce", 16, 1024, true);
	stage_node("vm90", "sriov-roce", 16, 1024, true);
	stage_partition("roce", "01", true);
	c = stage_nodes(STAGE_TOP "VSphereCluster=HPC1\n"
		"AdapterName=sriov-roce Type=sriov Network=n NICsPerNode=2 "
		"AdapterAddresses=10.1.0.0/24,10.2.0.10-10.2.0.99/16\n"
		"PartitionName=roce Adapter=sriov-roce Template=t "
		"ManagementAddresses=10.9.0.10-10.9.0.99/24\n");
	assert_non_null(c);
	assert_string_equal(c->nodes[0].address, "10.1.0.1/24,10.2.0.10/16");
	assert_string_equal(c->nodes[0].first_address, "10.9.0.10/24");
	assert_string_equal(c->nodes[1].address, "10.1.0.90/24,10.2.0.99/16");
	assert_string_equal(c->nodes[1].first_address, "10.9.0.99/24");
}

static void a_node_that_finds_no_address_left_is_refused(void **state)
{
	(void)state;
	stage_node("vm1", "sriov-roce", 16, 1024, true);
	stage_node("vm104", "sriov-roce", 16, 1024, true);
	stage_partition("roce", "0", true);
	stage_partition("big", "1", true);
	assert_null(stage_nodes(two_pools));
	says("line 8: AdapterAddresses=10.2.0.10-10.2.0.12/16@101: node vm104: expected a name that ends with a number from 101 to 103 for its address");
}

static void two_nodes_with_one_address_are_refused(void **state)
{
	(void)state;
	stage_node("a1", "sriov-roce", 16, 1024, true);
	stage_node("b01", "sriov-roce", 16, 1024, true);
	stage_partition("roce", "01", true);
	assert_null(stage_nodes(STAGE_TOP "VSphereCluster=HPC1\n"
		"AdapterName=sriov-roce Type=sriov Network=n AdapterAddresses=10.1.0.0/24\n"
		"PartitionName=roce Adapter=sriov-roce Template=t\n"));
	says("line 7: node b01 would have the address 10.1.0.1/24 of node a1");
}

static void a_node_whose_address_is_the_gateway_is_refused(void **state)
{
	(void)state;
	stage_node("vm1", "sriov-roce", 16, 1024, true);
	stage_partition("roce", "0", true);
	assert_null(stage_nodes(STAGE_TOP "VSphereCluster=HPC1\n"
		"AdapterName=sriov-roce Type=sriov Network=n\n"
		"PartitionName=roce Adapter=sriov-roce Template=t "
		"ManagementAddresses=10.9.0.0/24 Gateway=10.9.0.1\n"));
	says("node vm1: its address 10.9.0.1/24 is the Gateway=");
}

static void a_vm_is_as_large_as_its_node_and_the_overhead(void **state)
{
	struct vs_conf *c;

	(void)state;
	stage_node("vm1", "sriov-roce", 8, 1024, true);
	stage_node("vm2", "vmxnet3", 16, 1024, true);
	stage_partition("roce", "0", true);
	stage_partition("eth", "1", true);
	c = stage_nodes(STAGE_TOP
		"VSphereCluster=HPC1\n"
		"AdapterName=sriov-roce Type=sriov Network=n\n"
		"AdapterName=vmxnet3 Type=vmxnet3 Network=n\n"
		"PartitionName=roce Adapter=sriov-roce Template=t Retention=destroy\n"
		"PartitionName=eth Adapter=vmxnet3 Template=t MemoryOverhead=100\n");
	assert_non_null(c);
	assert_int_equal(c->nodes[0].vcpus, 8);
	/* 1024 + 256 + 1024 / 32 */
	assert_int_equal(c->nodes[0].memory_mb, 1312);
	assert_true(c->nodes[0].exclusive);
	assert_int_equal(c->nodes[1].memory_mb, 1124);
}

static void a_node_with_two_adapters_is_refused_by_name(void **state)
{
	(void)state;
	stage_node("vm1", "sriov-roce,vmxnet3", 2, 1024, true);
	stage_partition("roce", "0", false);
	assert_null(with(""));
	says("vsphere.conf line 8: node vm1 has two adapters");
	says("sriov-roce and vmxnet3");
}

static void a_node_with_no_adapter_is_refused_by_name(void **state)
{
	(void)state;
	stage_node("vm1", "sriov-roce", 2, 1024, true);
	stage_node("vm2", "sriov-roce2,x-sriov-roce", 2, 1024, true);
	stage_partition("roce", "01", false);
	assert_null(with(""));
	says("vsphere.conf line 8: node vm2 has no adapter");
	says("Feature=sriov-roce");
}

static void a_node_with_another_adapter_than_its_line_is_refused(void **state)
{
	(void)state;
	stage_node("vm1", "vmxnet3", 2, 1024, true);
	stage_partition("roce", "0", false);
	assert_null(with(""));
	says("line 8: node vm1 has the Feature vmxnet3");
	says("Adapter=sriov-roce");
}

static void two_lines_that_disagree_on_a_node_are_refused(void **state)
{
	(void)state;
	stage_node("vm1", "sriov-roce", 2, 1024, true);
	stage_partition("roce", "0", false);
	stage_partition("debug", "0", false);
	assert_non_null(with("PartitionName=debug Adapter=sriov-roce "
			     "Template=rhel9-ofed\n"));
	assert_null(with("PartitionName=debug Adapter=sriov-roce "
			 "Template=rhel9-ofed Retention=power_off\n"));
	says("line 9: node vm1 is in the partitions roce and debug");
	says("disagree");
}

static void partitions_that_slurm_lacks_or_that_hold_no_vm_are_refused(
	void **state)
{
	(void)state;
	stage_node("vm1", "sriov-roce", 2, 1024, false);
	assert_null(with(""));
	says("line 8: PartitionName=roce: there is no such partition");
	stage_partition("roce", "0", false);
	assert_null(with(""));
	says("line 8: PartitionName=roce: expected nodes with State=CLOUD");
}

static void destroy_is_for_nodes_that_are_never_shared(void **state)
{
	const char *text = STAGE_TOP "VSphereCluster=HPC1\n"
		"AdapterName=sriov-roce Type=sriov Network=n\n"
		"PartitionName=roce Adapter=sriov-roce Template=t "
		"Retention=destroy\n";

	(void)state;
	stage_node("vm1", "sriov-roce", 2, 1024, true);
	stage_partition("roce", "0", true);
	assert_non_null(stage_nodes(text));
	stage_partition("shared", "0", false);
	assert_null(stage_nodes(text));
	says("line 7: Retention=destroy");
	says("partition shared may share node vm1");
	says("OverSubscribe=EXCLUSIVE");
}

static void a_node_without_memory_is_refused(void **state)
{
	(void)state;
	stage_node("vm1", "sriov-roce", 2, 1, true);
	stage_partition("roce", "0", false);
	assert_null(with(""));
	says("line 8: node vm1 has no usable RealMemory");
}

static void a_name_that_no_vm_can_have_is_refused(void **state)
{
	(void)state;
	stage_node("-vm/1", "sriov-roce", 2, 1024, true);
	stage_partition("roce", "0", false);
	assert_null(with(""));
	says("node name \"-vm/1\"");
}

static void equal_configurations_have_equal_hashes(void **state)
{
	uint64_t a, b, c, d;

	(void)state;
	stage_node("vm1", "sriov-roce", 2, 1024, true);
	stage_partition("roce", "0", false);
	a = vs_conf_hash(with(""));
	b = vs_conf_hash(with("# nothing new\n"));
	c = vs_conf_hash(with("BootTimeout=301\n"));
	stage_node("vm2", "sriov-roce", 2, 1024, true);
	stage_partition("more", "1", false);
	d = vs_conf_hash(with("PartitionName=more Adapter=sriov-roce "
			      "Template=rhel9-ofed\n"));
	assert_true(a == b);
	assert_true(a != c);
	assert_true(a != d);
}

static void say_another(const struct vs_conf_key *k, void *slot, int by)
{
	if (k->type == VS_CONF_INT || k->type == VS_CONF_HEX ||
	    k->type == VS_CONF_SHARES || k->type == VS_CONF_OPTIONS)
		*(int *)slot += by;
	else if (k->type == VS_CONF_MB || k->type == VS_CONF_AMOUNT)
		*(int64_t *)slot += by;
	else
		*(bool *)slot = !*(bool *)slot;
}

/* A change that isn't seen here isn't taken over by a reconfiguration. */
static void every_key_counts_in_the_hash(void **state)
{
	struct vs_conf *c;
	uint64_t h;

	(void)state;
	stage_node("vm1", "sriov-roce", 2, 1024, true);
	stage_partition("roce", "0", false);
	c = with("ESXiHost=esx1 Switch=leaf1\n");
	assert_non_null(c);
	h = vs_conf_hash(c);
	for (size_t i = 0; i < vs_conf_nkeys; i++) {
		const struct vs_conf_key *k = &vs_conf_keys[i];
		void *lines[VS_SCOPES] = { c, c->adapters, c->partitions,
					   c->clusters, c->hosts };
		void *slot = (char *)lines[k->scope] + k->offset;
		bool number = k->type == VS_CONF_INT ||
			k->type == VS_CONF_HEX ||
			k->type == VS_CONF_AMOUNT ||
			k->type == VS_CONF_SHARES ||
			k->type == VS_CONF_OPTIONS ||
			k->type == VS_CONF_MB || k->type == VS_CONF_BOOL;
		char *was = number ? NULL : *(char **)slot, word[] = "another";

		if (number)
			say_another(k, slot, 1);
		else
			*(char **)slot = word;
		if (vs_conf_hash(c) == h)
			fail_msg("%s= is not in the hash", k->key);
		if (number)
			say_another(k, slot, -1);
		else
			*(char **)slot = was;
	}
	assert_true(vs_conf_hash(c) == h);
	assert_true(vs_conf_hash(with("ESXiHost=esx1 Switch=leaf1\n"
				      "HostDrainThreshold=2\n")) != h);
	c = with("PrefetchOptions=grace=7\n");
	assert_int_equal(c->prefetch.window_s, 600);
	assert_true(vs_conf_hash(c) != h);
}

/* ---- nodes that come and go ---------------------------------------------------- */

static void a_created_node_is_ours_as_any_other(void **state)
{
	struct vs_conf *c;

	(void)state;
	stage_node("vm1", "sriov-roce", 2, 1024, true);
	stage_node("dyn1", "sriov-roce", 2, 1024, true);
	stage_created();
	stage_hole();
	stage_partition("roce", "01", false);
	c = with("");
	assert_non_null(c);
	assert_int_equal(c->nnodes, 2);
	assert_false(c->nodes[0].dynamic);
	assert_string_equal(c->nodes[1].name, "dyn1");
	assert_true(c->nodes[1].dynamic);
	assert_string_equal(stage_refused(), "");
}

/* It would keep slurmctld from its next start. */
static void a_created_node_that_does_not_fit_is_left_out_alone(void **state)
{
	struct vs_conf *c;

	(void)state;
	stage_node("dyn1", "other", 2, 1024, true);
	stage_created();
	stage_node("dyn2", "sriov-roce", 2, 1, true);
	stage_created();
	stage_node("vm1", "sriov-roce", 2, 1024, true);
	stage_partition("roce", "012", false);
	c = with("");
	assert_non_null(c);
	assert_int_equal(c->nnodes, 1);
	assert_string_equal(c->nodes[0].name, "vm1");
	assert_non_null(strstr(stage_refused(), "dyn1: "));
	assert_non_null(strstr(stage_refused(),
			       "line 8: node dyn1 has no adapter"));
	assert_non_null(strstr(stage_refused(),
			       "line 8: node dyn2 has no usable RealMemory"));
}

static void a_created_node_whose_lines_disagree_is_dropped_again(void **state)
{
	struct vs_conf *c;
	const char *said;

	(void)state;
	stage_node("dyn1", "sriov-roce", 2, 1024, true);
	stage_created();
	stage_node("vm1", "sriov-roce", 2, 1024, true);
	stage_node("vm2", "sriov-roce", 4, 1024, true);
	stage_partition("roce", "012", false);
	stage_partition("debug", "0", false);
	stage_partition("third", "012", false);
	c = with("PartitionName=debug Adapter=sriov-roce Template=rhel9-ofed "
		 "Retention=power_off\n"
		 "PartitionName=third Adapter=sriov-roce Template=rhel9-ofed\n");
	assert_non_null(c);
	assert_int_equal(c->nnodes, 2);
	assert_string_equal(c->nodes[0].name, "vm2");
	assert_string_equal(c->nodes[1].name, "vm1");
	said = strstr(stage_refused(), "dyn1: ");
	assert_non_null(said);
	assert_non_null(strstr(said, "roce and debug, whose lines disagree"));
	assert_null(strstr(said + 1, "dyn1: "));
}

static void a_partition_may_wait_for_its_first_node(void **state)
{
	(void)state;
	stage_node("metal", "sriov-roce", 2, 1024, false);
	stage_hole();
	stage_partition("roce", "0", false);
	assert_non_null(with(""));
}

/* ---- slurm.conf --------------------------------------------------------------- */

static void slurm_lacks(const char *key, const char *value, const char *words)
{
	memset(&stage_err, 0, sizeof(stage_err));
	stage_slurm(key, value);
	assert_int_equal(vs_conf_check_slurm(&stage_err), -1);
	says(words);
}

static void a_slurm_conf_with_all_we_need_passes(void **state)
{
	(void)state;
	assert_int_equal(vs_conf_check_slurm(&stage_err), 0);
}

static void without_suspend_program_we_refuse_to_start(void **state)
{
	(void)state;
	slurm_lacks("SuspendProgram", NULL, "SuspendProgram is missing");
}

static void without_resume_program_we_refuse_to_start(void **state)
{
	(void)state;
	slurm_lacks("ResumeProgram", NULL, "ResumeProgram is missing");
}

static void without_suspend_time_we_refuse_to_start(void **state)
{
	(void)state;
	slurm_lacks("SuspendTime", NULL, "SuspendTime is missing or INFINITE");
	stage_node("metal", NULL, 2, 1024, false);
	stage_partition("batch", "0", false);
	slurm_lacks("SuspendTime", NULL, "no partition has one");
	stage_partition_has(INFINITE, 0);
	slurm_lacks("SuspendTime", NULL, "no partition has one");
}

/* As SchedMD advises for clusters with other nodes. */
static void a_partitions_suspend_time_suffices(void **state)
{
	(void)state;
	stage_node("metal", NULL, 2, 1024, false);
	stage_node("vm1", "sriov-roce", 2, 1024, true);
	stage_partition("batch", "0", false);
	stage_partition("roce", "1", false);
	stage_slurm("SuspendTime", NULL);
	stage_partition_has(600, 0);
	if (vs_conf_check_slurm(&stage_err))
		fail_msg("%s", stage_err.text);
	stage_partition_has(0, 0);	/* at once */
	assert_int_equal(vs_conf_check_slurm(&stage_err), 0);
}

static char found[512];

static void check_found(void *arg, enum vs_check code, const char *is,
			const char *should, const char *fix)
{
	size_t len = strlen(found);

	(void)arg;
	(void)fix;
	if (code == VS_CHECK_SLURM_RESUME_TIMEOUT ||
	    code == VS_CHECK_SLURM_SUSPEND_TIMEOUT)
		snprintf(found + len, sizeof(found) - len, "%s, %s; ", is,
			 should);
}

static const char *timeouts(const char *partitions)
{
	const struct vs_slurm_bounds b = { 600, 50, partitions, false };

	found[0] = '\0';
	vs_slurm_checks(&b, check_found, NULL);
	return found;
}

/* The cluster's are for other nodes; Slurm has worked out each node's own. */
static void timeouts_are_those_of_the_vms(void **state)
{
	static const struct { const char *name; int resume, suspend; } rows[] = {
		{ "vm1", 1800, 60 }, { "vm2", 1200, 50 }, { "vm3", 300, 10 },
		{ "metal", 30, 5 },
	};

	(void)state;
	slurm_conf.resume_timeout = 60;
	slurm_conf.suspend_timeout = 30;
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		stage_node(rows[i].name, "sriov-roce", 2, 1024, i < 3);
		node_record_table_ptr[i]->resume_timeout =
			(uint16_t)rows[i].resume;
		node_record_table_ptr[i]->suspend_timeout =
			(uint16_t)rows[i].suspend;
	}
	stage_partition("roce", "013", false);
	stage_partition("eth", "12", false);
	assert_string_equal(timeouts("roce"), "");
	assert_string_equal(timeouts("roce,eth"),
			    "300, ResumeTimeout=1200; 10, SuspendTimeout=50; ");
	assert_string_equal(timeouts("gone"),
			    "60, ResumeTimeout=1200; 30, SuspendTimeout=50; ");
	/* Before power saving has begun. */
	for (int i = 0; i < node_record_count; i++)
		node_record_table_ptr[i]->resume_timeout =
			node_record_table_ptr[i]->suspend_timeout = NO_VAL16;
	assert_string_equal(timeouts("roce"),
			    "60, ResumeTimeout=1200; 30, SuspendTimeout=50; ");
}

static void memlock_found(void *arg, enum vs_check code, const char *is,
			  const char *should, const char *fix)
{
	(void)should;
	(void)fix;
	if (code == VS_CHECK_SLURM_MEMLOCK)
		snprintf(arg, 200, "%s", is);
}

/* By the rules of Slurm's parse_rlimits(). */
static void the_memory_lock_of_the_login_node_is_found(void **state)
{
	static const struct { const char *some, *except, *is; } rows[] = {
		{ NULL, NULL, "PropagateResourceLimits=ALL" },
		{ "ALL", NULL, "PropagateResourceLimits=ALL" },
		{ "CORE,MEMLOCK", NULL, "PropagateResourceLimits=CORE,MEMLOCK" },
		{ "RLIMIT_MEMLOCK", NULL, "PropagateResourceLimits=RLIMIT_MEMLOCK" },
		{ "NONE", NULL, "" },
		{ "CORE, STACK", NULL, "" },
		{ "MEMLOCKS", NULL, "" },
		{ NULL, "MEMLOCK", "" },
		{ NULL, "STACK, RLIMIT_MEMLOCK", "" },
		{ NULL, "ALL", "" },
		{ "ALL", "MEMLOCK", "" },
		{ NULL, "NONE", "PropagateResourceLimitsExcept=NONE" },
		{ "NONE", "STACK", "PropagateResourceLimitsExcept=STACK" },
	};
	struct vs_slurm_bounds b = { .rdma = true };
	char is[200];

	(void)state;
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		stage_slurm("PropagateResourceLimits", rows[i].some);
		stage_slurm("PropagateResourceLimitsExcept", rows[i].except);
		is[0] = '\0';
		vs_slurm_checks(&b, memlock_found, is);
		assert_string_equal(is, rows[i].is);
	}
	b.rdma = false;		/* vmxnet3 alone pins nothing */
	is[0] = '\0';
	vs_slurm_checks(&b, memlock_found, is);
	assert_string_equal(is, "");
}

static void select_parameters_without_a_test_are_refused_by_name(void **state)
{
	static const struct { int shares; const char *name; } refused[] = {
		{ VS_CR(CPU) | VS_CR(MEMORY), "CR_CPU_Memory" },
		{ VS_CR(SOCKET), "CR_Socket" },
		{ VS_CR(SOCKET) | VS_CR(LLN), "CR_Socket" },
		{ VS_CR(MEMORY), "CR_Memory" },
	};
	static const int tested[] = {
		VS_CR(CPU), VS_CR(CORE), VS_CR(CORE) | VS_CR(MEMORY),
		VS_CR(SOCKET) | VS_CR(MEMORY),
		VS_CR(CORE) | VS_CR(MEMORY) | VS_CR(PACK_NODES),
		VS_CR(CORE) | VS_CR(ONE_TASK_PER_CORE) |
		VS_CR(CORE_DEFAULT_DIST_BLOCK),
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(refused); i++) {
		VS_FREE char *words = vs_asprintf(
			"slurm.conf: SelectTypeParameters=%s is not tested",
			refused[i].name);

		memset(&stage_err, 0, sizeof(stage_err));
		slurm_conf.select_type_param = (uint16_t)refused[i].shares;
		assert_int_equal(vs_conf_check_slurm(&stage_err), -1);
		says(words);
	}
	for (size_t i = 0; i < VS_COUNT(tested); i++) {
		slurm_conf.select_type_param = (uint16_t)tested[i];
		assert_int_equal(vs_conf_check_slurm(&stage_err), 0);
	}
}

static void select_parameters_of_a_partition_are_refused_too(void **state)
{
	(void)state;
	stage_node("vm1", "sriov-roce", 2, 1024, true);
	stage_partition("roce", "0", false);
	stage_partition_has(NO_VAL, VS_CR(SOCKET));
	assert_null(with(""));
	says("gives it SelectTypeParameters=CR_Socket, which is not tested");
	stage_partition_has(NO_VAL, VS_CR(CORE) | VS_CR(MEMORY));
	assert_non_null(with(""));
}

static void without_the_prep_plugin_we_refuse_to_start(void **state)
{
	(void)state;
	slurm_lacks("PrEpPlugins", "prep/script", "prep/vsphere is not in");
	slurm_lacks("PrEpPlugins", NULL, "prep/vsphere is not in");
	slurm_lacks("PrEpPlugins", "prep/vsphere2", "prep/vsphere is not in");
}

/* All that order nodes by their names; which there are differs by release. */
static void a_topology_of_node_names_is_refused_by_name(void **state)
{
	(void)state;
	slurm_lacks("TopologyPlugin", "topology/tree", "topology/tree");
	slurm_lacks("TopologyPlugin", "topology/block", "topology/block");
	slurm_lacks("TopologyPlugin", "topology/3d_torus", "topology/3d_torus");
	slurm_lacks("TopologyPlugin", "topology/torus3d", "topology/torus3d");
	slurm_lacks("TopologyPlugin", "topology/ring", "topology/ring");
	slurm_lacks("TopologyPlugin", "tree", "TopologyPlugin=tree");
}

static void the_flat_topology_has_a_name_in_each_release(void **state)
{
	static const char *const flat[] = {
		NULL, "topology/none", "topology/default", "topology/flat",
		"flat",
	};
	struct vs_err err = { 0 };

	(void)state;
	for (size_t i = 0; i < VS_COUNT(flat); i++) {
		stage_slurm("TopologyPlugin", flat[i]);
		if (vs_conf_check_slurm(&err))
			fail_msg("%s: %s", flat[i], err.text);
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, stage_up, stage_down)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(cloud_nodes_of_a_partition_are_ours_with_their_size),
		T(a_vm_is_as_large_as_its_node_and_the_overhead),
		T(a_node_without_an_address_in_the_subnet_is_refused),
		T(nodes_have_addresses_of_their_partitions_pools),
		T(a_node_that_finds_no_address_left_is_refused),
		T(two_nodes_with_one_address_are_refused),
		T(a_node_whose_address_is_the_gateway_is_refused),
		T(a_node_with_two_adapters_is_refused_by_name),
		T(a_node_with_no_adapter_is_refused_by_name),
		T(a_node_with_another_adapter_than_its_line_is_refused),
		T(two_lines_that_disagree_on_a_node_are_refused),
		T(partitions_that_slurm_lacks_or_that_hold_no_vm_are_refused),
		T(destroy_is_for_nodes_that_are_never_shared),
		T(a_node_without_memory_is_refused),
		T(a_name_that_no_vm_can_have_is_refused),
		T(equal_configurations_have_equal_hashes),
		T(every_key_counts_in_the_hash),
		T(a_created_node_is_ours_as_any_other),
		T(a_created_node_that_does_not_fit_is_left_out_alone),
		T(a_created_node_whose_lines_disagree_is_dropped_again),
		T(a_partition_may_wait_for_its_first_node),
		T(a_slurm_conf_with_all_we_need_passes),
		T(without_suspend_program_we_refuse_to_start),
		T(without_resume_program_we_refuse_to_start),
		T(without_suspend_time_we_refuse_to_start),
		T(a_partitions_suspend_time_suffices),
		T(timeouts_are_those_of_the_vms),
		T(the_memory_lock_of_the_login_node_is_found),
		T(select_parameters_without_a_test_are_refused_by_name),
		T(select_parameters_of_a_partition_are_refused_too),
		T(without_the_prep_plugin_we_refuse_to_start),
		T(a_topology_of_node_names_is_refused_by_name),
		T(the_flat_topology_has_a_name_in_each_release),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
