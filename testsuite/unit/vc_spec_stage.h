/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bodies of calls as the tests of vcenter/spec write them: JSON with single
 * quotes. */
#ifndef VC_SPEC_STAGE_H
#define VC_SPEC_STAGE_H

#include "util/json.h"
#include "util/mem.h"
#include "vcenter/spec/spec.h"

#define REF(type, value) "{'_typeName':'ManagedObjectReference'," \
	"'type':'" type "','value':'" value "'}"
#define DVS "'backing':{'_typeName':" \
	"'VirtualEthernetCardDistributedVirtualPortBackingInfo'," \
	"'port':{'_typeName':'DistributedVirtualSwitchPortConnection'," \
	"'switchUuid':'50 2a','portgroupKey':'dvportgroup-30'}}"
#define MAC "'addressType':'manual','macAddress':'00:50:56:01:02:03'"

/* A template's first NIC as vCenter 8.0 shows it, on a port of a distributed
 * switch that is connected to the template. */
#define SHOWN_NIC "{'_typeName':'VirtualVmxnet3','key':4000," \
	"'deviceInfo':{'_typeName':'Description'," \
	"'label':'Network adapter 1','summary':'DVSwitch: 50 2a'}," \
	"'backing':{'_typeName':" \
	"'VirtualEthernetCardDistributedVirtualPortBackingInfo'," \
	"'port':{'_typeName':'DistributedVirtualSwitchPortConnection'," \
	"'switchUuid':'50 2a','portgroupKey':'dvportgroup-30'," \
	"'portKey':'518','connectionCookie':1998469027}}," \
	"'connectable':{'_typeName':'VirtualDeviceConnectInfo'," \
	"'migrateConnect':'unset','startConnected':true," \
	"'allowGuestControl':true,'connected':false,'status':'untried'}," \
	"'slotInfo':{'_typeName':'VirtualDevicePciBusSlotInfo'," \
	"'pciSlotNumber':192},'controllerKey':100,'unitNumber':7," \
	"'numaNode':-1,'addressType':'assigned'," \
	"'macAddress':'00:50:56:aa:aa:aa','wakeOnLanEnabled':true," \
	"'resourceAllocation':{'_typeName':" \
	"'VirtualEthernetCardResourceAllocation','reservation':0," \
	"'limit':-1,'share':{'_typeName':'SharesInfo','shares':50," \
	"'level':'normal'}},'uptCompatibilityEnabled':true}"

static inline void is(struct json_object *body, const char *expected)
{
	VS_FREE char *text = vs_jb_text_free(body);
	VS_FREE char *want = vs_strdup(expected);

	for (char *p = want; *p; p++)
		if (*p == '\'')
			*p = '"';
	assert_string_equal(text, want);
}

/* vs_spec_nic() of that NIC. */
static inline struct json_object *nic_of(const char *text)
{
	VS_FREE char *json = vs_strdup(text);
	struct json_object *copy;
	struct vs_err err = { 0 };
	struct vs_jdoc doc;

	for (char *p = json; *p; p++)
		if (*p == '\'')
			*p = '"';
	if (vs_jdoc_parse(&doc, json, strlen(json), &err))
		fail_msg("%s", err.text);
	copy = vs_spec_nic(vs_j_root(&doc));
	vs_jdoc_free(&doc);
	return copy;
}

#endif
