/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QueryConfigTarget: which devices a host offers to VMs, and the systemId that
 * a backing by address must say of each; and what the parameters of its DVX
 * classes must be. A question and no more, to the
 * environment browser of the host's cluster; the answer is long, and so it is
 * asked of hosts on which such a VM is to be alone.
 */
#include <curl/curl.h>
#include <string.h>

#include "util/mem.h"
#include "util/name.h"
#include "vcenter/calls/calls_i.h"
#include "vcenter/spec/spec.h"

#define TIMEOUT_MS 30000

struct vs_vc_target *vs_vcx_target_read(struct vs_j reply, size_t *n)
{
	struct vs_j list = vs_j_opt(reply, "pciPassthrough");
	size_t len = vs_j_len(list);
	struct vs_vc_target *out = vs_calloc(len + 1, sizeof(*out));

	*n = 0;
	for (size_t i = 0; i < len; i++) {
		struct vs_j one = vs_j_at(list, i);
		const char *id = vs_j_str_or(vs_j_opt(
			vs_j_opt(one, "pciDevice"), "id"), "");
		const char *system = vs_j_str_or(vs_j_opt(one, "systemId"),
						 "");

		if (*system && !vs_pci_parse(id, out[*n].pci, NULL))
			out[(*n)++].system = system;
	}
	return out;
}

static enum vs_vc_value value_of(const char *option_type)
{
	static const struct { const char *name; enum vs_vc_value type; } of[] = {
		{ "StringOption", VS_VC_VALUE_STRING },
		{ "ChoiceOption", VS_VC_VALUE_STRING },
		{ "BoolOption", VS_VC_VALUE_BOOL },
		{ "IntOption", VS_VC_VALUE_INT },
		{ "LongOption", VS_VC_VALUE_LONG },
		{ "FloatOption", VS_VC_VALUE_FLOAT },
	};

	for (size_t i = 0; i < VS_COUNT(of); i++)
		if (!strcmp(of[i].name, option_type))
			return of[i].type;
	return VS_VC_VALUE_UNKNOWN;
}

/* A name that is too long for our specs is left out. */
static bool name_take(char to[64], struct vs_j key)
{
	const char *name = vs_j_str_or(key, "");

	vs_strlcpy(to, name, 64);
	return *name && strlen(name) < 64;
}

struct vs_vc_option *vs_vcx_options_read(struct vs_j reply, size_t *n)
{
	struct vs_j list = vs_j_opt(reply, "dvxClassInfo");
	struct vs_vc_option *out = NULL;
	size_t cap = 0;

	*n = 0;
	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j one = vs_j_at(list, i);
		struct vs_j defs = vs_j_opt(one, "configParams");
		struct vs_vc_option o;

		if (!name_take(o.class, vs_j_opt(vs_j_opt(one, "deviceClass"),
						 "key")))
			continue;
		for (size_t k = 0; k < vs_j_len(defs); k++) {
			struct vs_j def = vs_j_at(defs, k);

			if (!name_take(o.key, vs_j_opt(def, "key")))
				continue;
			o.type = value_of(vs_j_type(vs_j_opt(def,
							     "optionType")));
			VS_GROW(out, cap, *n + 1);
			out[(*n)++] = o;
		}
	}
	return out;
}

static void on_target(struct vcx_call *call, struct vs_j reply,
		      const struct vs_err *err)
{
	struct vs_vc *vc = call->vc;
	VS_FREE struct vs_vc_target *list = NULL;
	VS_FREE struct vs_vc_option *options = NULL;
	struct vs_vc_targets t = { .devices = NULL };
	struct vs_err bad;

	if (err && err->code == VS_E_RELOGIN) {
		vs_vcx_fail(vc, err);
		return;
	}
	if (!err) {
		t.devices = list = vs_vcx_target_read(reply, &t.ndevices);
		t.options = options = vs_vcx_options_read(reply, &t.noptions);
		err = vs_json_failed(reply.doc, &bad) ? &bad : NULL;
	}
	if (vc->ev.target) {
		vs_inv_together(vc->inv, true);
		vc->ev.target(vc->ev_arg, call->id, &t, err);
		vs_inv_together(vc->inv, false);
	}
}

int64_t vs_vc_target(struct vs_vc *vc, const char *cluster, const char *host,
		     struct vs_err *err)
{
	const char *browser = NULL, *name = "";
	struct vcx_call *call;

	if (!vs_vc_is_up(vc))
		return vs_err_set(err, VS_E_RETRY, "not connected to vCenter");
	for (size_t i = 0; i < vc->nclusters; i++)
		if (!strcmp(vc->clusters[i].moid, cluster)) {
			browser = vc->clusters[i].browser;
			name = vc->clusters[i].name;
		}
	if (!browser)
		return vs_err_set(err, VS_E_RETRY,
			"the environment browser of its cluster is not read yet");
	/* vCenter leaves it unset then, and where the cluster has no host. */
	if (!*browser)
		return vs_err_set(err, VS_E_RETRY,
			"no host of cluster %s answers vCenter, so vCenter shows no devices: reconnect its hosts",
			name);
	call = vs_vcx_post(&vc->http, 0, on_target, "EnvironmentBrowser",
			   browser,
			   "QueryConfigTarget", vs_spec_config_target(host));
	curl_easy_setopt(call->easy, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS);
	call->id = vs_vcx_new_id(vc);
	return (int64_t)call->id;
}
