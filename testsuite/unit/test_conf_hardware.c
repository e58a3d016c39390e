/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vsphere.conf's PartitionName= lines: what they say of hardware, and what
 * adapter and latency don't leave to them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "conf_stage.h"
#include "plan/devices/vm_hardware.h"
#include "util/mem.h"

#define ETH "PartitionName=eth Adapter=vmxnet3 Template=t "
#define SR "PartitionName=sr Adapter=sriov-roce Template=t "

/* A right file with one more line, the ninth. */
static void refused(const char *more, const char *words)
{
	VS_FREE char *text = stage_text(more);

	if (stage_read(text))
		fail_msg("taken: %s", more);
	if (!strstr(stage_err.text, words) ||
	    !strstr(stage_err.text, "line 9"))
		fail_msg("\"%s\" lacks \"%s\"", stage_err.text, words);
}

static const struct vs_conf_partition *taken(const char *more)
{
	VS_FREE char *text = stage_text(more);
	struct vs_conf *c = stage_read(text);

	if (!c)
		fail_msg("%s: %s", more, stage_err.text);
	return &c->partitions[1];
}

static void words_and_numbers_are_taken(void **state)
{
	const struct vs_conf_partition *p;

	(void)state;
	p = taken(ETH "CPUReservation=3000 MemoryReservation=Full CPUShares=low "
		  "MemoryShares=5000 CoresPerSocket=4 SecureBoot=yes\n");
	assert_int_equal(p->cpu_reservation, 3000);
	assert_int_equal(p->memory_reservation, VS_RESERVE_FULL);
	assert_int_equal(p->cpu_shares, VS_SHARES_LOW);
	assert_int_equal(p->memory_shares, 5000);
	assert_int_equal(p->cores_per_socket, 4);
	assert_string_equal(p->secure_boot, "yes");
	assert_string_equal(p->numa_affinity, "none");
	p = taken(ETH "\n");
	assert_int_equal(p->cpu_reservation, 0);
	assert_int_equal(p->memory_reservation, 0);
	assert_int_equal(p->cpu_shares, VS_SHARES_NORMAL);
	assert_int_equal(p->memory_shares, VS_SHARES_NORMAL);
	assert_int_equal(p->cores_per_socket, 0);
	assert_null(p->secure_boot);
	p = taken(SR "CPUReservation=full MemoryReservation=full "
		  "LatencySensitivity=high NumaAffinity=pf CPUShares=HIGH\n");
	assert_int_equal(p->cpu_reservation, VS_RESERVE_FULL);
	assert_int_equal(p->cpu_shares, VS_SHARES_HIGH);
}

static void what_is_neither_is_refused(void **state)
{
	(void)state;
	refused(ETH "CPUReservation=all\n",
		"CPUReservation=all: expected full, or a number from 0 to");
	refused(ETH "CPUReservation=-1\n", "expected full, or a number");
	refused(ETH "MemoryReservation=4G\n",
		"MemoryReservation=4G: expected full, or a number");
	refused(ETH "CPUShares=0\n",
		"CPUShares=0: expected low, normal, high, or a number from 1 to 1000000");
	refused(ETH "MemoryShares=1000001\n", "or a number from 1 to 1000000");
	refused(ETH "CPUShares=-2\n", "expected low, normal, high");
	refused(ETH "CoresPerSocket=0\n", "a number from 1 to 768");
	refused(ETH "NumaAffinity=0\n", "expected one of none|pf");
	refused(ETH "SecureBoot=maybe\n", "expected one of yes|no");
}

static void what_contradicts_a_demand_is_refused_with_the_reason(void **state)
{
	(void)state;
	refused(SR "MemoryReservation=1024\n",
		"contradicts Adapter=sriov-roce: with Type=sriov the device writes to any of the VM's memory");
	refused(SR "MemoryReservation=0\n", "MemoryReservation=0 contradicts");
	refused(ETH "LatencySensitivity=high MemoryReservation=1024\n",
		"contradicts LatencySensitivity=high, which needs all of the VM's memory");
	refused(ETH "LatencySensitivity=high CPUReservation=1000\n",
		"CPUReservation=1000 contradicts LatencySensitivity=high");
	refused(ETH "LatencySensitivity=high CPUReservation=0\n",
		"CPUReservation=0 contradicts LatencySensitivity=high");
	refused(ETH "NumaAffinity=pf\n",
		"NumaAffinity=pf: a VM with Adapter=vmxnet3 (Type=vmxnet3) has no PF");
}

/* What is beside a NIC pins memory, too. */
static void devices_beside_a_nic_have_their_demands(void **state)
{
	VS_FREE char *text = stage_text(
		"AdapterName=gpu Type=dynamic-directpath Vendor=1 Device=1\n");

	(void)state;
	assert_null(stage_read(text));
	free(text);
	text = stage_text("AdapterName=gpu Type=dynamic-directpath "
		"Vendor=0x10de Device=0x20b0\n"
		"AdapterName=eg Type=vmxnet3 Network=n ExtraDevice=gpu\n"
		"PartitionName=eg Adapter=eg Template=t MemoryReservation=1\n");
	if (stage_read(text))
		fail_msg("taken");
	assert_non_null(strstr(stage_err.text, "with Type=dynamic-directpath"));
	free(text);
	text = stage_text("AdapterName=gpu Type=dynamic-directpath "
		"Vendor=0x10de Device=0x20b0\n"
		"PartitionName=g Adapter=gpu Template=t NumaAffinity=pf\n");
	if (!stage_read(text))
		fail_msg("%s", stage_err.text);
}

static struct vs_conf *of_nodes(const char *more)
{
	VS_FREE char *text = stage_text(more);

	return stage_nodes(text);
}

static void a_nodes_own_size_counts(void **state)
{
	(void)state;
	stage_node("vm1", "vmxnet3", 6, 1024, true);
	stage_node("vm2", "sriov-roce", 6, 1024, true);
	stage_partition("roce", "1", false);
	stage_partition("eth", "0", false);
	stage_partition("more", "0", false);
	assert_non_null(of_nodes(ETH "CoresPerSocket=3\n"));
	assert_null(of_nodes(ETH "CoresPerSocket=4\n"));
	assert_non_null(strstr(stage_err.text,
		"line 9: CoresPerSocket=4 does not divide the 6 CPUs of a node"));
	assert_null(of_nodes(ETH "MemoryReservation=90000\n"));
	assert_non_null(strstr(stage_err.text,
		"MemoryReservation=90000 is more than the 1312 MB of a VM"));
	assert_non_null(of_nodes(ETH "CPUShares=low\n"
		"PartitionName=more Adapter=vmxnet3 Template=t CPUShares=low\n"));
	assert_null(of_nodes(ETH "CPUShares=low\n"
		"PartitionName=more Adapter=vmxnet3 Template=t\n"));
	assert_non_null(strstr(stage_err.text, "disagree"));
}

#define T(test) cmocka_unit_test_setup_teardown(test, stage_up, stage_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(words_and_numbers_are_taken),
		T(what_is_neither_is_refused),
		T(what_contradicts_a_demand_is_refused_with_the_reason),
		T(devices_beside_a_nic_have_their_demands),
		T(a_nodes_own_size_counts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
