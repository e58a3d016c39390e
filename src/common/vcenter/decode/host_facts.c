/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a host is set up, for the preflight: ESXi's release, its power policy,
 * its time servers, whether it waits for a reboot, its switches. Streamed with
 * all else of a host, so that a change is known at once and costs no call.
 *
 * Rules: what isn't said is unknown. Of the clock's properties only those are
 * asked for that an administrator sets: the others change by the second.
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/decode/inventory.h"

static void set_clocks(struct vcx_host *h, struct vs_j ntp)
{
	h->v.setup.clocks = vs_j_null(ntp) ? -1 :
		(int)vs_j_len(vs_j_opt(ntp, "server"));
}

static void set_policy(struct vcx_host *h, struct vs_j info)
{
	vs_inv_text_set(&h->v.setup.power, vs_j_str_or(vs_j_opt(vs_j_opt(info,
			"currentPolicy"), "shortName"), ""));
}

/* "key-vim.host.VirtualNic-vmk0", or with its service and a dot before it. */
static bool is_selected(struct vs_j net, const char *type, const char *key)
{
	struct vs_j list = vs_j_opt(net, "selectedVnic");
	VS_FREE char *whole = vs_asprintf("%s.%s", type, key);

	for (size_t i = 0, n = vs_j_len(list); *key && i < n; i++) {
		const char *s = vs_j_str_or(vs_j_at(list, i), "");

		if (!strcmp(s, key) || !strcmp(s, whole))
			return true;
	}
	return false;
}

/* Of a distributed switch the port group's key, else its name. */
static const char *portgroup_of(struct vs_j vnic)
{
	struct vs_j port = vs_j_opt(vs_j_opt(vnic, "spec"),
				    "distributedVirtualPort");

	return vs_j_str_or(vs_j_opt(port, "portgroupKey"),
			   vs_j_str_or(vs_j_opt(vnic, "portgroup"), ""));
}

static void set_mgmt(struct vcx_host *h, struct vs_j nets)
{
	static const char type[] = "management";
	struct vs_vc_setup *s = &h->v.setup;
	char **keys = NULL;

	vs_strs_free((char **)s->mgmt, s->nmgmt);
	s->nmgmt = 0;
	for (size_t i = 0, n = vs_j_len(nets); i < n; i++) {
		struct vs_j net = vs_j_at(nets, i);
		struct vs_j all = vs_j_opt(net, "candidateVnic");

		if (strcmp(vs_j_str_or(vs_j_opt(net, "nicType"), ""), type))
			continue;
		for (size_t k = 0, m = vs_j_len(all); k < m; k++) {
			struct vs_j vnic = vs_j_at(all, k);

			if (!is_selected(net, type, vs_j_str_or(
					vs_j_opt(vnic, "key"), "")))
				continue;
			keys = vs_realloc(keys, s->nmgmt + 1, sizeof(*keys));
			keys[s->nmgmt++] = vs_strdup(portgroup_of(vnic));
		}
	}
	s->mgmt = (const char *const *)keys;
}

unsigned int vs_inv_host_fact(struct vcx_host *h, const char *path,
			      struct vs_j val)
{
	if (!strcmp(path, "config.product")) {
		vs_inv_text_set(&h->v.setup.version, vs_j_str_or(
				vs_j_opt(val, "version"), ""));
		vs_inv_text_set(&h->v.setup.build, vs_j_str_or(
				vs_j_opt(val, "build"), ""));
	} else if (!strcmp(path, "config.powerSystemInfo")) {
		set_policy(h, val);
	} else if (!strcmp(path, "config.dateTimeInfo.ntpConfig")) {
		set_clocks(h, val);
	} else if (!strcmp(path, "config.dateTimeInfo.systemClockProtocol")) {
		/* The precision time protocol has no list of servers. */
		h->ptp = !strcmp(vs_j_str_or(val, ""), "ptp");
	} else if (!strcmp(path, "config.virtualNicManagerInfo.netConfig")) {
		set_mgmt(h, val);
	} else if (!strcmp(path, "summary.rebootRequired")) {
		h->v.setup.reboot = vs_j_null(val) ? -1 :
			vs_j_bool_or(val, false);
	} else {
		return 0;
	}
	return VS_VC_HOST_FACTS;
}

void vs_inv_host_facts_put(const struct vcx_host *h, struct vs_vc_setup *out,
			   struct vs_vc_switch *switches)
{
	for (size_t i = 0; i < h->nproxies; i++)
		switches[i] = (struct vs_vc_switch){ h->proxies[i].uuid,
			h->proxies[i].name, h->proxies[i].mtu };
	out->switches = switches;
	out->nswitches = h->nproxies;
	if (h->ptp)
		out->clocks = 1;
}

void vs_inv_host_facts_free(struct vcx_host *h)
{
	vs_strs_free((char **)h->v.setup.mgmt, h->v.setup.nmgmt);
	free((char *)h->v.setup.version);
	free((char *)h->v.setup.build);
	free((char *)h->v.setup.power);
}
