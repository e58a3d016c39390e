/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCenter's faults as codes that say what to do next. The wire carries no type
 * hierarchy, so the families we care about are a table.
 *
 * Rules: a missing VF, or missing room on a datastore, is recognised by its
 * text, whatever type wraps it (ESXi's message reaches us inside several). A
 * type that is not in the table is judged by where it appeared: a task may
 * succeed on another host, a call won't by itself. A licence is an
 * administrator's to change: no other host is tried. The text is vCenter's own,
 * in one line; a licence's fault has its type in front.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/transport/fault.h"

#define WRAPPER "LocalizedMethodFault"
#define CAUSES_DEEP 4
#define CAUSES_MAX 8		/* of those that stand side by side */

struct row {
	const char *type;
	enum vs_code code;
};

static const struct row table[] = {
	/* the session and its rights */
	{ "NotAuthenticated", VS_E_RELOGIN },
	{ "InvalidLogin", VS_E_LOGIN },
	{ "PasswordExpired", VS_E_LOGIN },
	{ "NoPermission", VS_E_CONFIG },
	/* no room on this host */
	{ "InsufficientResourcesFault", VS_E_OTHER_HOST },
	{ "InsufficientGraphicsResourcesFault", VS_E_OTHER_HOST },
	{ "InsufficientMemoryResourcesFault", VS_E_OTHER_HOST },
	{ "InsufficientCpuResourcesFault", VS_E_OTHER_HOST },
	{ "InsufficientHostCapacityFault", VS_E_OTHER_HOST },
	{ "InsufficientHostMemoryCapacityFault", VS_E_OTHER_HOST },
	{ "InsufficientHostCpuCapacityFault", VS_E_OTHER_HOST },
	{ "InsufficientPerCpuCapacity", VS_E_OTHER_HOST },
	{ "InsufficientNetworkCapacity", VS_E_OTHER_HOST },
	{ "InsufficientNetworkResourcePoolCapacity", VS_E_OTHER_HOST },
	{ "InsufficientStandbyResource", VS_E_OTHER_HOST },
	{ "NumVirtualCpusExceedsLimit", VS_E_OTHER_HOST },
	{ "NotEnoughCpus", VS_E_OTHER_HOST },
	{ "MemorySizeNotSupported", VS_E_OTHER_HOST },
	{ "NoCompatibleHost", VS_E_OTHER_HOST },
	{ "VirtualHardwareVersionNotSupported", VS_E_OTHER_HOST },
	/* of the CPUs: "The host does not meet feature requirements" */
	{ "FeatureRequirementsNotMet", VS_E_OTHER_HOST },
	{ "DeviceNotSupported", VS_E_OTHER_HOST },
	{ "DeviceBackingNotSupported", VS_E_OTHER_HOST },
	{ "InvalidDeviceBacking", VS_E_OTHER_HOST },
	{ "InvalidState", VS_E_OTHER_HOST },
	{ "InvalidHostState", VS_E_OTHER_HOST },
	{ "InvalidHostConnectionState", VS_E_OTHER_HOST },
	{ "NoHost", VS_E_OTHER_HOST },
	{ "GenericVmConfigFault", VS_E_OTHER_HOST },
	/* nowhere now */
	{ "InsufficientFailoverResourcesFault", VS_E_SHORTAGE },
	{ "NoDiskSpace", VS_E_SHORTAGE },
	{ "InsufficientStorageSpace", VS_E_SHORTAGE },
	/* the link to the host broke in the middle */
	{ "HostCommunication", VS_E_UNKNOWN },
	{ "HostNotConnected", VS_E_UNKNOWN },
	{ "HostNotReachable", VS_E_UNKNOWN },
	/* as it is, never */
	{ "QuestionPending", VS_E_REQUEST },
	{ "InvalidVmConfig", VS_E_REQUEST },
	{ "InvalidDeviceSpec", VS_E_REQUEST },
	{ "VmConfigFault", VS_E_REQUEST },
	{ "InvalidArgument", VS_E_REQUEST },
	{ "InvalidName", VS_E_REQUEST },
	{ "NotSupported", VS_E_REQUEST },
	{ "InvalidFolder", VS_E_REQUEST },
	{ "InvalidDatastore", VS_E_REQUEST },
	{ "DisallowedMigrationDeviceAttached", VS_E_REQUEST },
	{ "CannotAccessVmDevice", VS_E_REQUEST },
	{ "InvalidProperty", VS_E_BUG },
	{ "InvalidType", VS_E_BUG },
	{ "InvalidRequest", VS_E_BUG },
	{ "MethodNotFound", VS_E_BUG },
	/* the object */
	{ "ManagedObjectNotFound", VS_E_GONE },
	{ "DuplicateName", VS_E_EXISTS },
	{ "AlreadyExists", VS_E_EXISTS },
	{ "FileAlreadyExists", VS_E_EXISTS },
	{ "TaskInProgress", VS_E_BUSY },
	{ "InvalidPowerState", VS_E_STATE },
	{ "ToolsUnavailable", VS_E_STATE },
	{ "RequestCanceled", VS_E_CANCELED },
	/* after a while */
	{ "ConcurrentAccess", VS_E_RETRY },
	{ "ResourceInUse", VS_E_RETRY },
	{ "FileLocked", VS_E_RETRY },
	{ "CannotAccessFile", VS_E_RETRY },
	{ "FileFault", VS_E_RETRY },
	{ "TooManyConcurrentNativeClones", VS_E_RETRY },
	{ "Timedout", VS_E_RETRY },
	{ "SystemError", VS_E_RETRY },
	{ "MigrationFault", VS_E_RETRY },
	{ "CustomizationFault", VS_E_RETRY },
	{ "InvalidCollectorVersion", VS_E_RETRY },
};

/* InvalidEditionLicense, NotEnoughLicenses, FaultToleranceNotLicensed: each such
 * type has it in its name. RestrictedVersion says "Current license or ESXi version
 * prohibits execution of the requested operation". */
bool vs_vc_fault_is_licence(const char *type)
{
	return strstr(type, "Licens") || !strcmp(type, "RestrictedVersion");
}

static enum vs_code code_of(const char *type, enum vcx_where where)
{
	if (vs_vc_fault_is_licence(type))
		return VS_E_CONFIG;
	for (size_t i = 0; i < VS_COUNT(table); i++)
		if (!strcmp(table[i].type, type))
			return table[i].code;
	return where == VCX_IN_TASK ? VS_E_OTHER_HOST : VS_E_REQUEST;
}

static bool says_no_vf(const char *s)
{
	return strcasestr(s, "SR-IOV virtual function") ||
		strcasestr(s, "No virtual function");
}

/* vCenter translates ESXi's text, and a release may word it otherwise: the
 * message's key stays. No public recording has that key. */
static bool key_says_no_vf(const char *key)
{
	return !strncmp(key, "msg.pciPassthru.", strlen("msg.pciPassthru.")) &&
		(strcasestr(key, "noVF") ||
		 strcasestr(key, "noVirtualFunction"));
}

/* Whatever type vCenter gives it: of assignable hardware, in use, not enabled. */
static bool says_no_device(const char *s)
{
	return strcasestr(s, "One or more devices (pciPassthru") ||
		strcasestr(s, "Failed to register the device pciPassthru") ||
		(!strncasecmp(s, "Device ", strlen("Device ")) &&
		 strcasestr(s, " is already in use"));
}

static bool says_memory_lock(const char *s)
{
	return strcasestr(s, "sched.mem.min") ||
		strcasestr(s, "Invalid memory setting");
}

static bool says_no_space(const char *s)
{
	return strcasestr(s, "No space left on device") ||
		strcasestr(s, "not enough space") ||
		strcasestr(s, "insufficient disk space");
}

/* What a fault says in words, in the order in which it is worth reading. */
struct words {
	const char *best;
	bool no_vf, no_device, memory_lock, no_space;
};

static void hear(struct words *w, const char *s)
{
	bool telling = says_no_vf(s) || says_no_device(s) ||
		says_memory_lock(s) || says_no_space(s);

	if (!*s)
		return;
	if (!w->best || (telling && !w->no_vf && !w->no_device &&
			 !w->memory_lock && !w->no_space))
		w->best = s;
	w->no_vf |= says_no_vf(s);
	w->no_device |= says_no_device(s);
	w->memory_lock |= says_memory_lock(s);
	w->no_space |= says_no_space(s);
}

static void hear_message(struct words *w, struct vs_j m)
{
	const char *text = vs_j_str_or(vs_j_opt(m, "message"), "");

	if (!w->no_vf && key_says_no_vf(vs_j_str_or(vs_j_opt(m, "key"), ""))) {
		w->best = *text ? text : w->best;
		w->no_vf = true;
	}
	hear(w, text);
}

static struct vs_j inner_of(struct vs_j f)
{
	const char *type = vs_j_type(f);
	struct vs_j in;

	if (*type && strcmp(type, WRAPPER))
		return f;
	in = vs_j_opt(f, "fault");
	return vs_j_is_obj(in) ? in : f;
}

const char *vs_vcx_fault_type(struct vs_j fault)
{
	const char *type = vs_j_type(inner_of(vs_j_quiet(fault)));

	return strcmp(type, WRAPPER) ? type : "";
}

static void gather(struct words *w, struct vs_j f, int depth);

static void gather_all(struct words *w, struct vs_j list, int depth)
{
	size_t n = vs_j_len(list);

	for (size_t i = 0; i < n && i < CAUSES_MAX; i++)
		gather(w, vs_j_at(list, i), depth);
}

/* A cause may have a cause; NoCompatibleHost has one error for each host. The
 * same names are strings, faults or lists of faults, by the fault's type. */
static void gather(struct words *w, struct vs_j f, int depth)
{
	static const char *const causes[] = { "faultCause", "fault", "reason",
		"error" };
	struct vs_j in = inner_of(f), list;
	size_t n;

	if (vs_j_null(f) || depth > CAUSES_DEEP)
		return;
	hear(w, vs_j_str_or(vs_j_opt(f, "localizedMessage"), ""));
	hear(w, vs_j_str_or(vs_j_opt(in, "faultstring"), ""));
	hear(w, vs_j_str_or(vs_j_opt(in, "reason"), ""));
	list = vs_j_opt(in, "faultMessage");
	n = vs_j_len(list);
	for (size_t i = 0; i < n; i++)
		hear_message(w, vs_j_at(list, i));
	for (size_t i = 0; i < VS_COUNT(causes); i++) {
		gather(w, vs_j_opt(in, causes[i]), depth + 1);
		gather_all(w, vs_j_opt(in, causes[i]), depth + 1);
	}
}

static void mask(char *text, bool ids)
{
	static const char begin[] = "session[";
	char *to = text, *from = text, *at;

	while ((at = strstr(from, begin))) {
		size_t n = (size_t)(at - from) + strlen(begin);

		memmove(to, from, n);
		to += n;
		from += n;
		from += strcspn(from, "]\"'<>, \r\n");
		if (*from != ']' || !ids)
			continue;
		*to++ = *from++;
		while (isalnum((unsigned char)*from) || *from == '-')
			from++;
	}
	memmove(to, from, strlen(from) + 1);
}

void vs_vcx_mask(char *text)
{
	mask(text, true);
}

void vs_vcx_mask_key(char *text)
{
	mask(text, false);
}

/* The words with which a reader who sees only the type would be lost. */
static void add_details(struct vs_j in, char *text, size_t size)
{
	static const char *const keys[] = { "privilegeId", "invalidProperty",
		"name", "existingState", "feature" };
	size_t n = strlen(text);

	for (size_t i = 0; i < VS_COUNT(keys) && n < size; i++) {
		struct vs_j v = vs_j_opt(in, keys[i]);
		const char *s = vs_j_str_or(v, "");

		if (*s && !strstr(text, s))
			n += snprintf(text + n, size - n, " (%s %s)", keys[i],
				      s);
	}
}

void vs_vcx_fault(struct vs_j fault, enum vcx_where where, struct vs_err *err)
{
	const char *type = vs_vcx_fault_type(fault);
	struct words w = { 0 };

	fault = vs_j_quiet(fault);
	if (!*type)
		type = "UnknownFault";
	gather(&w, fault, 0);
	vs_err_set(err, code_of(type, where), "%s%s%s",
		   vs_vc_fault_is_licence(type) && w.best ? type : "",
		   vs_vc_fault_is_licence(type) && w.best ? ": " : "",
		   w.best ? w.best : type);
	vs_strlcpy(err->fault, type, sizeof(err->fault));
	if (w.no_vf) {
		err->code = VS_E_OTHER_HOST;
		vs_strlcpy(err->fault, VS_VC_FAULT_NO_VF, sizeof(err->fault));
	} else if (w.no_device) {
		err->code = VS_E_OTHER_HOST;
		vs_strlcpy(err->fault, VS_VC_FAULT_NO_DEVICE,
			   sizeof(err->fault));
	} else if (w.memory_lock) {
		err->code = VS_E_REQUEST;
	} else if (w.no_space || !strcmp(type, "NoDiskSpace") ||
		   !strcmp(type, "InsufficientStorageSpace")) {
		err->code = VS_E_SHORTAGE;
		vs_strlcpy(err->fault, VS_VC_FAULT_NO_SPACE,
			   sizeof(err->fault));
	}
	add_details(inner_of(fault), err->text, sizeof(err->text));
	vs_one_line(err->text);
	vs_one_line(err->fault);
	vs_vcx_mask(err->text);
}

bool vs_vcx_missing_session(struct vs_j missing_set, struct vs_err *err)
{
	size_t n = vs_j_len(missing_set);

	for (size_t i = 0; i < n; i++) {
		struct vs_j f = vs_j_opt(vs_j_at(missing_set, i), "fault");

		if (!strcmp(vs_vcx_fault_type(f), "NotAuthenticated")) {
			vs_vcx_fault(f, VCX_IN_CALL, err);
			return true;
		}
	}
	return false;
}
