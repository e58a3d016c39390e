/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a host is set up, out of its properties, and a template: what isn't said
 * is unknown, what is taken back is so again.
 */
#include "inv_stage.h"
#include "vcenter/client/client_i.h"

#define ENTER(changes) UPDATE(SET("f-hosts", OBJ("enter", "HostSystem", \
						 "host-1", changes)))
#define MODIFY(changes) UPDATE(SET("f-hosts", OBJ("modify", "HostSystem", \
						  "host-1", changes)))
#define SERVERS(list) CHANGE("config.dateTimeInfo.ntpConfig", \
	"{'_typeName':'HostNtpConfig','server':[" list "]}")

/* After the update, what would be delivered. */
static struct vs_vc_host told(struct vs_inv *inv, const char *update)
{
	assert_int_equal(feed(inv, update), 0);
	assert_non_null(inv->hosts);
	return inv->hosts->v;
}

static void a_host_that_says_nothing_is_unknown(void **state)
{
	struct vs_vc_host h = told(*state, ENTER(CHANGE("name", STR("esx1"))));

	assert_string_equal(h.setup->version, "");
	assert_string_equal(h.setup->build, "");
	assert_string_equal(h.setup->power, "");
	assert_int_equal(h.setup->clocks, -1);
	assert_int_equal(h.setup->reboot, -1);
	assert_int_equal(h.nswitches, 0);
}

static void what_it_says_is_read_and_forgotten_when_taken_back(void **state)
{
	struct vs_vc_host h = told(*state, ENTER(
		CHANGE("config.product", "{'version':'8.0.3','build':'24022510'}")
		"," CHANGE("config.powerSystemInfo", "{'currentPolicy':{'key':2,"
			   "'name':'n','shortName':'dynamic'}}")
		"," SERVERS("'a','b'")
		"," CHANGE("config.dateTimeInfo.systemClockProtocol", STR("ntp"))
		"," CHANGE("summary.rebootRequired",
			   "{'_typeName':'boolean','_value':true}")
		"," CHANGE("config.virtualNicManagerInfo.netConfig",
			   "[{'nicType':'vmotion','candidateVnic':[{'key':"
			   "'vmotion.k0','portgroup':'no'}],'selectedVnic':"
			   "['vmotion.k0']},{'nicType':'management',"
			   "'candidateVnic':[{'key':'k0','portgroup':'',"
			   "'spec':{'distributedVirtualPort':{'portgroupKey':"
			   "'dvportgroup-7'}}},{'key':'management.k1',"
			   "'portgroup':'VM Network','spec':{}},{'key':'k2',"
			   "'portgroup':'no'}],'selectedVnic':"
			   "['management.k0','management.k1']}]")
		"," CHANGE("config.network.proxySwitch", "[{'dvsUuid':'50 2a',"
			   "'dvsName':'dvs-roce','mtu':9000,'pnic':[]},"
			   "{'dvsUuid':'50 2b','dvsName':'old','pnic':[]}]")));

	assert_int_equal(h.setup->nmgmt, 2);
	assert_string_equal(h.setup->mgmt[0], "dvportgroup-7");
	assert_string_equal(h.setup->mgmt[1], "VM Network");
	assert_string_equal(h.setup->version, "8.0.3");
	assert_string_equal(h.setup->build, "24022510");
	assert_string_equal(h.setup->power, "dynamic");
	assert_int_equal(h.setup->clocks, 2);
	assert_int_equal(h.setup->reboot, 1);
	assert_int_equal(h.nswitches, 2);
	assert_string_equal(h.switches[0].uuid, "50 2a");
	assert_string_equal(h.switches[0].name, "dvs-roce");
	assert_int_equal(h.switches[0].mtu, 9000);
	assert_int_equal(h.switches[1].mtu, 0);
	h = told(*state, MODIFY(CHANGE("config.powerSystemInfo", "null") ","
				CHANGE("summary.rebootRequired", "null") ","
				CHANGE("config.dateTimeInfo.ntpConfig",
				       "null")));
	assert_string_equal(h.setup->power, "");
	assert_int_equal(h.setup->clocks, -1);
	assert_int_equal(h.setup->reboot, -1);
	assert_string_equal(h.setup->build, "24022510");
}

static void no_servers_are_none_but_with_ptp(void **state)
{
	struct vs_vc_host h = told(*state, ENTER(SERVERS("")));

	assert_int_equal(h.setup->clocks, 0);
	h = told(*state, MODIFY(CHANGE(
		"config.dateTimeInfo.systemClockProtocol", STR("ptp"))));
	assert_int_equal(h.setup->clocks, 1);
}

/* Address= names hosts: which of its devices are meant hangs on its name. */
static void a_host_that_is_renamed_is_told_with_its_devices(void **state)
{
	struct vs_inv *inv = *state;

	told(inv, ENTER(CHANGE("name", STR("esx1"))));
	told(inv, MODIFY(CHANGE("summary.rebootRequired", "null")));
	assert_false(host_had & VS_VC_HOST_PFS);
	told(inv, MODIFY(CHANGE("name", STR("esx2"))));
	assert_true(host_had & VS_VC_HOST_NAME);
	assert_true(host_had & VS_VC_HOST_PFS);
}

/* A property changes of which only parts are read: all parts are read again. */
static void a_parents_change_is_read_anew(void **state)
{
	struct vs_inv *inv = *state;

	feed(inv, ENTER(SERVERS("'a'")));
	assert_true(TAILQ_EMPTY(&inv->refetch));
	feed(inv, MODIFY(CHANGE("config.dateTimeInfo", "{}")));
	assert_false(TAILQ_EMPTY(&inv->refetch));
}

static void a_pfs_driver_and_wishes_are_the_nics_and_the_devices(void **state)
{
	struct vs_inv *inv = *state;
	const struct vcx_host *h;

	feed(inv, ENTER(
		CHANGE("config.pciPassthruInfo", "[{'_typeName':'HostSriovInfo',"
		       "'id':'0000:3B:00.0','sriovCapable':true,"
		       "'sriovEnabled':true,'sriovActive':false,"
		       "'numVirtualFunction':0,"
		       "'numVirtualFunctionRequested':8,"
		       "'maxVirtualFunctionSupported':63}]") ","
		CHANGE("config.network.pnic", "[{'key':'k','device':'vmnic4',"
		       "'pci':'0000:3b:00.0','driver':'nmlx5_core',"
		       "'driverVersion':'4.23','firmwareVersion':'22.39'},"
		       "{'key':'l','device':'vmnic5','pci':'0000:5e:00.0'}]")));
	h = inv->hosts;
	assert_int_equal(h->npts, 1);
	assert_true(h->pts[0].enabled);
	assert_int_equal(h->pts[0].vfs, 0);
	assert_int_equal(h->pts[0].asked, 8);
	assert_int_equal(h->pts[0].most, 63);
	assert_string_equal(h->pnics[0].driver, "nmlx5_core");
	assert_string_equal(h->pnics[0].version, "4.23");
	assert_string_equal(h->pnics[0].firmware, "22.39");
	assert_string_equal(h->pnics[1].version, "");
}

/* ---- templates -------------------------------------------------------------- */

static struct vcx_template template_of(const char *props)
{
	struct vs_jdoc doc = parse(props);
	struct vcx_template t = { 0 };

	vs_vcx_template_facts(&t, vs_j_root(&doc));
	vs_jdoc_free(&doc);
	return t;
}
#define PROP(n, v) "{'name':'" n "','val':" v "}"

static void a_template_that_says_nothing_is_unknown(void **state)
{
	struct vcx_template t = template_of("[]");

	(void)state;
	assert_string_equal(t.guest, "");
	assert_int_equal(t.passthrough, 0);
	assert_int_equal(t.hot_add, VS_VC_AUTO_UNKNOWN);
	assert_int_equal(t.tools, VS_VC_AUTO_UNKNOWN);
	assert_int_equal(t.snapshot, VS_VC_AUTO_NO);	/* unset: there is none */
	free(t.guest);
}

/* What VMs are given back that are no longer told otherwise. */
static void a_templates_sockets_and_secure_boot_are_known(void **state)
{
	struct vcx_template t = template_of("["
		PROP("config.bootOptions",
		     "{'_typeName':'VirtualMachineBootOptions',"
		     "'efiSecureBootEnabled':true}") ","
		PROP("config.hardware.autoCoresPerSocket",
		     "{'_typeName':'boolean','_value':false}") ","
		PROP("config.hardware.numCoresPerSocket",
		     "{'_typeName':'int','_value':4}") "]");

	(void)state;
	assert_int_equal(t.cores_per_socket, 4);
	assert_int_equal(t.secure_boot, VS_VC_AUTO_YES);
	free(t.guest);
	t = template_of("["
		PROP("config.bootOptions",
		     "{'_typeName':'VirtualMachineBootOptions'}") ","
		PROP("config.hardware.autoCoresPerSocket",
		     "{'_typeName':'boolean','_value':true}") ","
		PROP("config.hardware.numCoresPerSocket",
		     "{'_typeName':'int','_value':4}") "]");
	assert_int_equal(t.cores_per_socket, -1);
	assert_int_equal(t.secure_boot, VS_VC_AUTO_UNKNOWN);
	free(t.guest);
}

static void what_no_template_should_have_is_seen(void **state)
{
	struct vcx_template t = template_of("["
		PROP("config.guestId", STR("rhel9_64Guest")) ","
		PROP("config.cpuHotAddEnabled",
		     "{'_typeName':'boolean','_value':false}") ","
		PROP("config.memoryHotAddEnabled",
		     "{'_typeName':'boolean','_value':true}") ","
		PROP("snapshot", "{'_typeName':'VirtualMachineSnapshotInfo'}") ","
		PROP("guest.toolsVersionStatus2",
		     STR("guestToolsNotInstalled")) ","
		PROP("config.hardware.device", "[{'_typeName':'VirtualVmxnet3'},"
		     "{'_typeName':'VirtualPCIPassthrough'},"
		     "{'_typeName':'VirtualSriovEthernetCard'},"
		     "{'_typeName':'VirtualVmxnet3Vrdma'}]") "]");

	(void)state;
	assert_string_equal(t.guest, "rhel9_64Guest");
	assert_int_equal(t.passthrough, 3);
	assert_int_equal(t.hot_add, VS_VC_AUTO_YES);
	assert_int_equal(t.tools, VS_VC_AUTO_NO);
	assert_int_equal(t.snapshot, VS_VC_AUTO_YES);
	free(t.guest);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_host_that_says_nothing_is_unknown),
		T(what_it_says_is_read_and_forgotten_when_taken_back),
		T(no_servers_are_none_but_with_ptp),
		T(a_host_that_is_renamed_is_told_with_its_devices),
		T(a_parents_change_is_read_anew),
		T(a_pfs_driver_and_wishes_are_the_nics_and_the_devices),
		cmocka_unit_test(a_template_that_says_nothing_is_unknown),
		cmocka_unit_test(a_templates_sockets_and_secure_boot_are_known),
		cmocka_unit_test(what_no_template_should_have_is_seen),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
