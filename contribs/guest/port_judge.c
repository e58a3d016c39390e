/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a port must be, and the words if it isn't: what is, what should be, what
 * to do. Pure: no call of libibverbs is made here. They become a node's reason, in
 * which "Word=" would look like a field of scontrol's.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "port.h"

/* GRH, UDP, BTH, XRC, atomic and ICRC headers of a RoCE packet. */
#define ROCE_HEADERS 96
#define IPOIB_HEADER 4
#define IPOIB_DATAGRAM_MAX 4092

const char *port_layer_name(uint8_t layer)
{
	return layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand";
}

uint8_t port_layer_of(const char *name)
{
	return !strcmp(name, "Ethernet") ? IBV_LINK_LAYER_ETHERNET :
	       !strcmp(name, "InfiniBand") ? IBV_LINK_LAYER_INFINIBAND :
	       IBV_LINK_LAYER_UNSPECIFIED;
}

int port_mac_parse(const char *s, uint8_t mac[6])
{
	unsigned int b[6];
	char more;

	if (strlen(s) != 17 || sscanf(s, "%2x:%2x:%2x:%2x:%2x:%2x%c", &b[0],
				      &b[1], &b[2], &b[3], &b[4], &b[5],
				      &more) != 6)
		return -1;
	for (int i = 0; i < 6; i++)
		mac[i] = (uint8_t)b[i];
	return 0;
}

bool port_guid_is_of(uint64_t guid, const uint8_t mac[6])
{
	static const int shift[6] = { 56, 48, 40, 16, 8, 0 };

	for (int i = 0; i < 6; i++)
		if (((uint8_t)(guid >> shift[i]) ^ mac[i]) & (i ? 0xff : 0xfd))
			return false;
	return true;
}

int port_mtu_for(uint8_t layer, int mtu)
{
	int ib;

	if (mtu <= 0)
		return 0;
	if (layer == IBV_LINK_LAYER_ETHERNET) {
		for (ib = 4096; ib >= 256; ib /= 2)
			if (ib <= mtu - ROCE_HEADERS)
				return ib;
		return 0;
	}
	if (mtu > IPOIB_DATAGRAM_MAX)
		return 0;
	for (ib = 256; ib < mtu + IPOIB_HEADER; ib *= 2)
		;
	return ib;
}

int port_mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128 << mtu : 0;
}

/* ---- the GID ----------------------------------------------------------------- */

static bool is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, 0xff };

	return !memcmp(gid->raw, mapped, sizeof(mapped));
}

static int gid_rank(const struct port_want *want, const union ibv_gid *gid)
{
	if (is_ipv4(gid))
		return want->need == PORT_NEED_ADDRESS &&
			!memcmp(gid->raw + 12, &want->address, 4) ? 4 : 3;
	return gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80 ? 1 : 2;
}

const struct ibv_gid_entry *port_gid_choose(const struct port_want *want,
					    int port,
					    const struct ibv_gid_entry *gids,
					    size_t n)
{
	static const int least[] = {
		[PORT_NEED_V2] = 1, [PORT_NEED_IPV4] = 3,
		[PORT_NEED_ADDRESS] = 4,
	};
	const struct ibv_gid_entry *best = NULL;
	int best_rank = least[want->need] - 1;

	for (size_t i = 0; i < n; i++) {
		const struct ibv_gid_entry *g = &gids[i];
		int rank;

		if (g->port_num != (uint32_t)port ||
		    g->gid_type != IBV_GID_TYPE_ROCE_V2 ||
		    g->ndev_ifindex != want->ifindex)
			continue;
		rank = gid_rank(want, &g->gid);
		if (rank > best_rank) {
			best = g;
			best_rank = rank;
		}
	}
	return best;
}

/* ---- the port ---------------------------------------------------------------- */

static const char *state_name(enum ibv_port_state state)
{
	static const char *const names[] = {
		"in no state", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"
	};

	return state <= IBV_PORT_ACTIVE_DEFER ? names[state] : "in no state";
}

static uint8_t layer_of(const struct ibv_port_attr *attr)
{
	return attr->link_layer == IBV_LINK_LAYER_ETHERNET ?
		IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
}

/* phys_state as InfiniBand numbers it; RoCE drivers follow. */
static const char *state_advice(uint8_t layer, const struct ibv_port_attr *attr)
{
	bool ib = layer == IBV_LINK_LAYER_INFINIBAND;

	if (ib && (attr->state == IBV_PORT_INIT ||
		   attr->state == IBV_PORT_ARMED))
		return "the subnet manager has not brought it up: does one run, and does it serve VFs (opensm: virt_enabled 2)?";
	switch (attr->phys_state) {
	case 2:
		return "no signal: look at cable and switch port of the PF it is of";
	case 3:
		return ib ? "disabled: look at the VF's link policy on the host, and at the switch port" :
			"disabled: look at the uplink of the PF it is of, and at the switch port";
	default:
		return ib ? "look at cable, switch and subnet manager" :
			"look at the uplink of the PF it is of: cable and switch port";
	}
}

static int judge_layer(uint8_t want, const char *device, int port,
		       const struct ibv_port_attr *attr, struct vs_err *err)
{
	if (layer_of(attr) == want)
		return 0;
	return vs_err_set(err, VS_E_CONFIG,
		"%s port %d is %s, %s is wanted: wrong network or link layer in vsphere.conf, or the adapter in the host is in the other mode (mlxconfig: set LINK_TYPE_P1 to %s)",
		device, port, port_layer_name(layer_of(attr)),
		port_layer_name(want),
		want == IBV_LINK_LAYER_ETHERNET ? "ETH" : "IB");
}

static int judge_state(uint8_t layer, const char *device, int port,
		       const struct ibv_port_attr *attr, struct vs_err *err)
{
	if (attr->state == IBV_PORT_ACTIVE)
		return 0;
	return vs_err_set(err, VS_E_RETRY, "%s port %d is %s, not ACTIVE: %s",
			  device, port, state_name(attr->state),
			  state_advice(layer, attr));
}

/* On InfiniBand they come from the hypervisor. */
static int judge_guids(const struct port_want *want,
		       const struct port_seen *seen, struct vs_err *err)
{
	const uint8_t *m = want->mac;

	if (!seen->node_guid || !seen->port_guid)
		return vs_err_set(err, VS_E_RETRY,
			"%s has the %s GUID 0: the host gave its VF none; power the VM off and on, and look at the host's driver and firmware if that is no help",
			seen->device, seen->node_guid ? "port" : "node");
	if (port_guid_is_of(seen->port_guid, m) ||
	    port_guid_is_of(seen->node_guid, m))
		return 0;
	return vs_err_set(err, VS_E_CONFIG,
		"%s has the node GUID %016llx and the port GUID %016llx, and neither is made of this node's MAC %02x:%02x:%02x:%02x:%02x:%02x: the VF kept another VM's, or the host's driver makes them otherwise; power the VM off and on",
		seen->device, (unsigned long long)seen->node_guid,
		(unsigned long long)seen->port_guid, m[0], m[1], m[2], m[3],
		m[4], m[5]);
}

static int judge_mtu(const struct port_want *want, const struct port_seen *seen,
		     struct vs_err *err)
{
	int least = port_mtu_for(want->layer, want->mtu);
	int is = port_mtu_bytes(seen->attr.active_mtu);
	int max = port_mtu_bytes(seen->attr.max_mtu);

	/* RoCE at the device's best, if that is less: nothing gives more. */
	if (want->layer == IBV_LINK_LAYER_ETHERNET && max && max < least)
		least = max;
	if (is >= least)
		return 0;
	return vs_err_set(err, VS_E_RETRY,
		"%s port %d has active_mtu %d, for MTU %d it should be %d: %s",
		seen->device, seen->port, is, want->mtu, least,
		want->layer == IBV_LINK_LAYER_ETHERNET ?
		"the NIC did not take the MTU; look at the MTU of switch and PF" :
		"look at the subnet manager's partition (opensm: mtu 5 is 4096), or set a smaller MTU in vsphere.conf");
}

int port_judge(const struct port_want *want, const struct port_seen *seen,
	       struct vs_err *err)
{
	if (judge_layer(want->layer, seen->device, seen->port, &seen->attr, err))
		return -1;
	if (want->layer == IBV_LINK_LAYER_INFINIBAND &&
	    judge_guids(want, seen, err))
		return -1;
	if (judge_state(want->layer, seen->device, seen->port, &seen->attr,
			err))
		return -1;
	return judge_mtu(want, seen, err);
}

/* Before the state: a subnet manager that doesn't know a GUID leaves it INIT. */
static int judge_guids_again(const struct port_spec *spec,
			     const struct port_seen *seen, struct vs_err *err)
{
	if ((!spec->node_guid && !spec->port_guid) ||
	    (spec->node_guid == seen->node_guid &&
	     spec->port_guid == seen->port_guid))
		return 0;
	return vs_err_set(err, VS_E_RETRY,
		"%s has the node GUID %016llx and the port GUID %016llx, at boot they were %016llx and %016llx: somebody gave the VF others on its host; power the VM off and on",
		spec->device, (unsigned long long)seen->node_guid,
		(unsigned long long)seen->port_guid,
		(unsigned long long)spec->node_guid,
		(unsigned long long)spec->port_guid);
}

int port_judge_again(uint8_t layer, const struct port_spec *spec,
		     const struct port_seen *seen, struct vs_err *err)
{
	int is = port_mtu_bytes(seen->attr.active_mtu);

	if (judge_layer(layer, spec->device, spec->port, &seen->attr, err) ||
	    judge_guids_again(spec, seen, err) ||
	    judge_state(layer, spec->device, spec->port, &seen->attr, err))
		return -1;
	if (is >= spec->mtu)
		return 0;
	return vs_err_set(err, VS_E_RETRY,
		"%s port %d has active_mtu %d, at boot it was %d: somebody changed the interface's MTU, or the fabric's",
		spec->device, spec->port, is, spec->mtu);
}

/* ---- what was right at boot, as a word --------------------------------------- */

/* "/NODE_GUID/PORT_GUID", not both 0, or nothing. */
static int guids_parse(const char *s, struct port_spec *spec)
{
	char node[17], port[17], more;

	if (!*s)
		return 0;
	if (strlen(s) != 34 ||
	    sscanf(s, "/%16[0-9a-f]/%16[0-9a-f]%c", node, port, &more) != 2 ||
	    strlen(node) != 16)
		return -1;
	spec->node_guid = strtoull(node, NULL, 16);
	spec->port_guid = strtoull(port, NULL, 16);
	return spec->node_guid || spec->port_guid ? 0 : -1;
}

int port_spec_parse(const char *s, struct port_spec *out)
{
	struct port_spec spec = { .gid_index = -1 };
	char index[8], gid[64], more;
	int rest = 0;

	if (strlen(s) >= PORT_SPEC_LEN ||
	    sscanf(s, "%63[A-Za-z0-9_.-]/%3d/%5d/%7[0-9-]/%63[0-9a-f:.-]%n",
		   spec.device, &spec.port, &spec.mtu, index, gid, &rest) != 5 ||
	    spec.port < 1 || spec.port > 255 || spec.mtu < 0 ||
	    guids_parse(s + rest, &spec))
		return -1;
	if (strcmp(index, "-")) {
		if (sscanf(index, "%5d%c", &spec.gid_index, &more) != 1 ||
		    spec.gid_index < 0 || s[rest] ||
		    inet_pton(AF_INET6, gid, spec.gid.raw) != 1)
			return -1;
	} else if (strcmp(gid, "-")) {
		return -1;
	}
	*out = spec;
	return 0;
}

void port_spec_format(const struct port_seen *seen, char out[PORT_SPEC_LEN])
{
	char index[16] = "-", gid[INET6_ADDRSTRLEN] = "-", guids[36] = "";

	if (seen->gid_index >= 0) {
		snprintf(index, sizeof(index), "%d", seen->gid_index);
		inet_ntop(AF_INET6, seen->gid.raw, gid, sizeof(gid));
	}
	if (seen->gid_index < 0 && (seen->node_guid || seen->port_guid))
		snprintf(guids, sizeof(guids), "/%016llx/%016llx",
			 (unsigned long long)seen->node_guid,
			 (unsigned long long)seen->port_guid);
	snprintf(out, PORT_SPEC_LEN, "%s/%d/%d/%s/%s%s", seen->device,
		 seen->port, port_mtu_bytes(seen->attr.active_mtu), index, gid,
		 guids);
}
