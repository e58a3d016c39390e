/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PlaceVm: on which host DRS would put a clone. A question and no more: it
 * reserves nothing and changes nothing, needs no right but to see the cluster,
 * and has no answer where DRS is off (InvalidState).
 */
#include <curl/curl.h>

#include "util/mem.h"
#include "vcenter/calls/calls_i.h"

#define TIMEOUT_MS 30000

struct json_object *vs_vcx_where_spec(const struct vs_vc_where *w)
{
	struct json_object *o = vs_jb_obj(NULL), *hosts = vs_jb_arr();
	struct json_object *spec = vs_jb_obj("PlacementSpec");
	struct json_object *clone = vs_jb_obj("VirtualMachineCloneSpec");
	struct json_object *to = vs_jb_obj("VirtualMachineRelocateSpec");

	vs_jb_ref(to, "datastore", "Datastore", w->datastore);
	vs_jb_ref(to, "pool", "ResourcePool", w->pool);
	vs_jb_put(clone, "location", to);
	vs_jb_bool(clone, "template", false);
	vs_jb_bool(clone, "powerOn", false);
	vs_jb_str(spec, "placementType", "clone");
	vs_jb_ref(spec, "vm", "VirtualMachine", w->source);
	vs_jb_str(spec, "cloneName", w->name);
	vs_jb_put(spec, "cloneSpec", clone);
	for (size_t i = 0; i < w->nhosts; i++)
		vs_jb_add(hosts, vs_jb_new_ref("HostSystem", w->hosts[i]));
	vs_jb_put(spec, "hosts", hosts);
	/* what runs stays where it is */
	vs_jb_bool(spec, "disallowPrerequisiteMoves", true);
	vs_jb_put(o, "placementSpec", spec);
	return o;
}

static const char *target_of(struct vs_j recommendation)
{
	struct vs_j actions = vs_j_opt(recommendation, "action");
	size_t n = vs_j_len(actions);
	struct vs_j host;

	for (size_t i = 0; i < n; i++) {
		host = vs_j_opt(vs_j_at(actions, i), "targetHost");
		if (!vs_j_null(host))
			return vs_j_ref(host, NULL);
	}
	return "";
}

const char *vs_vcx_where_read(struct vs_j reply)
{
	struct vs_j list = vs_j_opt(reply, "recommendations");
	size_t n = vs_j_len(list);
	int64_t best = -1;
	const char *host = "";

	for (size_t i = 0; i < n; i++) {
		struct vs_j r = vs_j_at(list, i);
		int64_t rating = vs_j_int_or(vs_j_opt(r, "rating"), 0);
		const char *target = target_of(r);

		if (*target && rating > best) {
			best = rating;
			host = target;
		}
	}
	return host;
}

/*
 * ClusterDrsFaults.faultsByVm: the first VM's first fault stands for all, in
 * either form of faults in data (fault.h).
 */
static struct vs_j first_fault(struct vs_j drs_fault)
{
	struct vs_j vms = vs_j_opt(drs_fault, "faultsByVm"), none = { 0 };
	size_t n = vs_j_len(vms);

	for (size_t i = 0; i < n; i++) {
		struct vs_j list = vs_j_opt(vs_j_at(vms, i), "fault");

		if (vs_j_len(list))
			return vs_j_at(list, 0);
	}
	return none;
}

void vs_vcx_where_none(struct vs_j reply, struct vs_err *err)
{
	struct vs_j drs = vs_j_opt(vs_j_quiet(reply), "drsFault");
	const char *reason = vs_j_str_or(vs_j_opt(drs, "reason"), "");
	struct vs_j fault = first_fault(drs);
	struct vs_err why = { 0 };

	if (!vs_j_null(fault))
		vs_vcx_fault(fault, VCX_IN_CALL, &why);
	vs_err_set(err, VS_E_SHORTAGE, "PlaceVm recommends no host%s%s%s%s",
		   *reason ? ": " : "", reason, *why.text ? ": " : "",
		   why.text);
	vs_one_line(err->text);
	vs_strlcpy(err->fault, why.fault, sizeof(err->fault));
}

static void on_where(struct vcx_call *call, struct vs_j reply,
		     const struct vs_err *err)
{
	struct vs_vc *vc = call->vc;
	const char *host = err ? "" : vs_vcx_where_read(reply);
	struct vs_err odd;

	if (err && err->code == VS_E_RELOGIN) {
		vs_vcx_fail(vc, err);
		return;
	}
	if (!err && !*host) {
		vs_vcx_where_none(reply, &odd);
		err = &odd;
	}
	if (vc->ev.where) {
		vs_inv_together(vc->inv, true);
		vc->ev.where(vc->ev_arg, call->id, host, err);
		vs_inv_together(vc->inv, false);
	}
}

int64_t vs_vc_where(struct vs_vc *vc, const struct vs_vc_where *w,
		    struct vs_err *err)
{
	struct vcx_call *call;

	if (!vs_vc_is_up(vc))
		return vs_err_set(err, VS_E_RETRY, "not connected to vCenter");
	call = vs_vcx_post(&vc->http, 0, on_where, "ClusterComputeResource",
			   w->cluster, "PlaceVm", vs_vcx_where_spec(w));
	curl_easy_setopt(call->easy, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS);
	call->id = vs_vcx_new_id(vc);
	return (int64_t)call->id;
}
