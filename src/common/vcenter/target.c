/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QueryConfigTarget: which devices a host offers to VMs, and the systemId that
 * a backing by address must say of each. A question and no more, to the
 * environment browser of the host's cluster; the answer is long, and so it is
 * asked of hosts on which such a VM is to be alone.
 */
#include <curl/curl.h>
#include <string.h>

#include "util/mem.h"
#include "util/name.h"
#include "vcenter/spec.h"
#include "vcenter/vc_i.h"

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

static void on_target(struct vcx_call *call, struct vs_j reply,
		      const struct vs_err *err)
{
	struct vs_vc *vc = call->vc;
	VS_FREE struct vs_vc_target *list = NULL;
	struct vs_err bad;
	size_t n = 0;

	if (err && err->code == VS_E_RELOGIN) {
		vs_vcx_fail(vc, err);
		return;
	}
	if (!err) {
		list = vs_vcx_target_read(reply, &n);
		err = vs_json_failed(reply.doc, &bad) ? &bad : NULL;
	}
	if (vc->ev.target)
		vc->ev.target(vc->ev_arg, call->id, list, n, err);
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
			"the environment browser of its cluster isn't read yet");
	/* vCenter leaves it unset then, and where the cluster has no host. */
	if (!*browser)
		return vs_err_set(err, VS_E_RETRY,
			"no host of cluster %s answers vCenter, so vCenter tells none of its devices: reconnect its hosts",
			name);
	call = vs_vcx_post(vc, 0, on_target, "EnvironmentBrowser", browser,
			   "QueryConfigTarget", vs_spec_config_target(host));
	curl_easy_setopt(call->easy, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS);
	call->id = ++vc->next_id;
	return (int64_t)call->id;
}
