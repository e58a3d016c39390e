/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read of a template: what a clone of its disks takes, and what its clones
 * say of its first NIC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "vc_spec_stage.h"
#include "vcenter/client/client_i.h"

#define MB40 "41943040"
#define MB100 "104857600"
#define DISK(bytes, thin) "{'_typeName':'VirtualDisk','key':2000," \
	"'capacityInKB':1024,'capacityInBytes':" bytes ",'backing':{" \
	"'_typeName':'VirtualDiskFlatVer2BackingInfo'" thin "}}"
#define OLD_DISK "{'_typeName':'VirtualDisk','key':2000," \
	"'capacityInKB':40960,'backing':{'_typeName':" \
	"'VirtualDiskFlatVer2BackingInfo','thinProvisioned':false}}"
#define NIC "{'_typeName':'VirtualVmxnet3','key':4000,'capacityInBytes':" MB100 \
	",'addressType':'assigned'}"
#define THIN ",'thinProvisioned':true"
#define THICK ",'thinProvisioned':false"

/* Reads a template with these devices into t; committed "": not told. */
static void read_into(struct vcx_template *t, const char *devices,
		      const char *committed)
{
	VS_FREE char *text = vs_asprintf("[{'name':'config.hardware.device',"
		"'val':{'_typeName':'ArrayOfVirtualDevice','_value':[%s]}}"
		"%s%s%s]", devices, *committed ?
		",{'name':'summary.storage.committed','val':{'_typeName':"
		"'long','_value':" : "", committed, *committed ? "}}" : "");
	struct vs_jdoc doc;
	struct vs_err err;

	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	if (vs_jdoc_parse(&doc, text, strlen(text), &err))
		fail_msg("%s: %s", err.text, text);
	vs_vcx_template_set(t, vs_j_root(&doc));
	vs_jdoc_free(&doc);
}

static int64_t disks(const char *devices, const char *committed)
{
	struct vcx_template t = { .name = NULL };
	int64_t mb;

	read_into(&t, devices, committed);
	mb = vs_vcx_template_view(&t).disk_mb;
	vs_vcx_template_wipe(&t);
	return mb;
}

static void a_clone_takes_what_the_template_itself_takes(void **state)
{
	(void)state;
	assert_int_equal(disks(DISK(MB100, THIN), MB40), 40);
	assert_int_equal(disks(DISK(MB100, ""), MB40), 40);
	/* logs and nvram are no disks */
	assert_int_equal(disks(DISK(MB40, THIN), MB100), 40);
	assert_int_equal(disks(DISK(MB40, THIN) "," DISK(MB40, THIN), MB100),
			 80);
}

static void a_thick_disk_takes_all_of_it(void **state)
{
	(void)state;
	assert_int_equal(disks(DISK(MB100, THICK), MB40), 100);
	assert_int_equal(disks(DISK(MB100, THICK), MB100), 100);
	assert_int_equal(disks(OLD_DISK, ""), 40);
}

static void where_it_is_not_told_the_thick_ones_are_certain(void **state)
{
	(void)state;
	assert_int_equal(disks(DISK(MB100, THIN), ""), 0);
	assert_int_equal(disks(DISK(MB100, ""), ""), 0);
	assert_int_equal(disks(DISK(MB40, THICK) "," DISK(MB100, THIN), ""),
			 40);
}

static void what_is_no_disk_takes_nothing(void **state)
{
	(void)state;
	assert_int_equal(disks(NIC, MB100), 0);
	assert_int_equal(disks("", MB100), 0);
	assert_int_equal(disks(NIC "," DISK(MB40, THICK), ""), 40);
}

/* Its port is connected to the template, and its slot is the template's. */
static void of_its_first_nic_clones_say_type_key_and_network(void **state)
{
	struct vcx_template t = { .name = NULL };

	(void)state;
	read_into(&t, DISK(MB40, THIN) "," SHOWN_NIC "," NIC, "");
	is(vs_jb_clone(t.nic), "{'_typeName':'VirtualVmxnet3','key':4000,"
	   DVS "}");
	vs_vcx_template_wipe(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clone_takes_what_the_template_itself_takes),
		cmocka_unit_test(a_thick_disk_takes_all_of_it),
		cmocka_unit_test(where_it_is_not_told_the_thick_ones_are_certain),
		cmocka_unit_test(what_is_no_disk_takes_nothing),
		cmocka_unit_test(
			of_its_first_nic_clones_say_type_key_and_network),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("template", tests, NULL, NULL);
}
