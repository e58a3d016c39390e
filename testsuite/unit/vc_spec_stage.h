/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bodies of calls as the tests of vcenter/spec write them: JSON with single
 * quotes. */
#ifndef VC_SPEC_STAGE_H
#define VC_SPEC_STAGE_H

#include "util/json.h"
#include "util/mem.h"
#include "vcenter/spec.h"

#define REF(type, value) "{'_typeName':'ManagedObjectReference'," \
	"'type':'" type "','value':'" value "'}"
#define DVS "'backing':{'_typeName':" \
	"'VirtualEthernetCardDistributedVirtualPortBackingInfo'," \
	"'port':{'_typeName':'DistributedVirtualSwitchPortConnection'," \
	"'switchUuid':'50 2a','portgroupKey':'dvportgroup-30'}}"
#define CONNECT "'connectable':{'_typeName':'VirtualDeviceConnectInfo'," \
	"'startConnected':true,'allowGuestControl':true,'connected':false}"
#define MAC "'addressType':'manual','macAddress':'00:50:56:01:02:03'"

static inline void is(struct json_object *body, const char *expected)
{
	VS_FREE char *text = vs_jb_text_free(body);
	VS_FREE char *want = vs_strdup(expected);

	for (char *p = want; *p; p++)
		if (*p == '\'')
			*p = '"';
	assert_string_equal(text, want);
}

static inline struct json_object *parsed(const char *text)
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
	copy = vs_jb_copy(vs_j_root(&doc));
	vs_jdoc_free(&doc);
	return copy;
}

#endif
