/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCenter's faults, in the two forms in which it sends them inside data
 * (TaskInfo.error, missingSet): flat, as VI JSON of vCenter 8.0.3 does, and
 * wrapped into a LocalizedMethodFault, as SOAP does.
 *
 *	{"_typeName":"InvalidArgument","faultstring":TEXT,...}
 *	{"_typeName":"LocalizedMethodFault","localizedMessage":TEXT,
 *	 "fault":{"_typeName":"InvalidArgument",...}}
 *
 * A fault may have a member of its own that is named `fault`; it is a cause and
 * not the fault. No member of a fault, of whatever type, makes the document
 * fail that it stands in.
 */
#ifndef VS_VCENTER_TRANSPORT_FAULT_H
#define VS_VCENTER_TRANSPORT_FAULT_H

#include "util/json.h"

enum vcx_where { VCX_IN_CALL, VCX_IN_TASK };

/* Returns the fault's own type, such as "NoPermission"; "" if fault is null or
 * names none. The result lives as long as the document. */
const char *vs_vcx_fault_type(struct vs_j fault);
/* Sets err: what to do next by the fault's type and by where it was met, and
 * what it says. A null fault gives "UnknownFault". */
void vs_vcx_fault(struct vs_j fault, enum vcx_where where, struct vs_err *err);
/* The first fault in a missingSet that makes the whole read worthless. Returns
 * false if there is none. That NotAuthenticated stands there was seen over
 * SOAP only. */
bool vs_vcx_missing_session(struct vs_j missing_set, struct vs_err *err);
/* A view's or a collector's id is session[KEY]ID, and who has the key has the
 * session: the key and the id go, in place; or the key alone. */
void vs_vcx_mask(char *text);
void vs_vcx_mask_key(char *text);

/* ---- what a failed operation says (err.fault) ------------------------------ */
#define VS_VC_FAULT_NO_VF "NoVirtualFunction"	/* err.fault when a power-on
	* found no free VF, whatever type vCenter gave it; VS_E_OTHER_HOST */
#define VS_VC_FAULT_NO_DEVICE "NoPciDevice"	/* the same for a device that a
	* VM gets whole: not there, not enabled, another VM's */
#define VS_VC_FAULT_NO_SPACE "NoDiskSpace"	/* the same for room on the
	* datastore; VS_E_SHORTAGE */
/* Returns true if a fault of that type (err.fault) speaks of a licence; the code
 * is VS_E_CONFIG then. */
bool vs_vc_fault_is_licence(const char *type);

#endif
