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

/* The precision time protocol has no list of servers. */
static void count_clocks(struct vcx_host *h)
{
	h->setup.clocks = h->ptp ? 1 : h->servers;
}

static void set_text(char *to, size_t size, struct vs_j in, const char *key)
{
	vs_strlcpy(to, vs_j_str_or(vs_j_opt(in, key), ""), size);
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
	struct vs_host_setup *s = &h->setup;

	s->nmgmt = 0;
	for (size_t i = 0, n = vs_j_len(nets); i < n; i++) {
		struct vs_j net = vs_j_at(nets, i);
		struct vs_j all = vs_j_opt(net, "candidateVnic");

		if (strcmp(vs_j_str_or(vs_j_opt(net, "nicType"), ""), type))
			continue;
		for (size_t k = 0, m = vs_j_len(all);
		     k < m && s->nmgmt < VS_HOST_MGMT; k++) {
			struct vs_j vnic = vs_j_at(all, k);

			if (is_selected(net, type, vs_j_str_or(
					vs_j_opt(vnic, "key"), "")))
				vs_strlcpy(s->mgmt[s->nmgmt++],
					   portgroup_of(vnic), VS_LABEL_LEN);
		}
	}
}

unsigned int vs_inv_host_fact(struct vcx_host *h, const char *path,
			      struct vs_j val)
{
	struct vs_host_setup *s = &h->setup;

	if (!strcmp(path, "config.product")) {
		set_text(s->version, sizeof(s->version), val, "version");
		set_text(s->build, sizeof(s->build), val, "build");
	} else if (!strcmp(path, "config.powerSystemInfo")) {
		set_text(s->power, sizeof(s->power),
			 vs_j_opt(val, "currentPolicy"), "shortName");
	} else if (!strcmp(path, "config.dateTimeInfo.ntpConfig")) {
		h->servers = vs_j_null(val) ? -1 :
			(int)vs_j_len(vs_j_opt(val, "server"));
		count_clocks(h);
	} else if (!strcmp(path, "config.dateTimeInfo.systemClockProtocol")) {
		h->ptp = !strcmp(vs_j_str_or(val, ""), "ptp");
		count_clocks(h);
	} else if (!strcmp(path, "config.virtualNicManagerInfo.netConfig")) {
		set_mgmt(h, val);
	} else if (!strcmp(path, "summary.rebootRequired")) {
		s->reboot = vs_j_null(val) ? -1 : vs_j_bool_or(val, false);
	} else {
		return 0;
	}
	return VS_VC_HOST_FACTS;
}
