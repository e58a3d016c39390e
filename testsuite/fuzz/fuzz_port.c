/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What slurm-vsphere-port is called with, and what a device may say: the first
 * line as a port's word, the second as a MAC, the rest as attributes and GIDs.
 *
 * What must hold: nothing crashes; a word that is taken is printed as one that is
 * taken and means the same; a reason is one printable line; a GID that is
 * chosen is of the port and the interface.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "contribs/guest/port.h"
#include "util/mem.h"

static void word(const char *s)
{
	struct port_spec a, b;
	struct port_seen seen = { .attr.active_mtu = IBV_MTU_4096 };
	char out[PORT_SPEC_LEN];

	if (port_spec_parse(s, &a))
		return;
	vs_strlcpy(seen.device, a.device, sizeof(seen.device));
	seen.port = a.port;
	seen.gid_index = a.gid_index;
	seen.gid = a.gid;
	seen.node_guid = a.node_guid;
	seen.port_guid = a.port_guid;
	port_spec_format(&seen, out);
	if (port_spec_parse(out, &b) || b.mtu != 4096 || b.port != a.port ||
	    strcmp(b.device, a.device) || b.gid_index != a.gid_index ||
	    b.node_guid != a.node_guid || b.port_guid != a.port_guid ||
	    memcmp(&b.gid, &a.gid, sizeof(a.gid)))
		abort();
}

static void said(int rc, const struct vs_err *err)
{
	if (!rc)
		return;
	if (!err->text[0] ||
	    (err->code != VS_E_RETRY && err->code != VS_E_CONFIG))
		abort();
	for (const char *c = err->text; *c; c++)
		if (!isprint((unsigned char)*c))
			abort();
}

static void judge(const uint8_t *data, size_t size, struct port_want *want)
{
	struct port_seen seen = { .device = "mlx5_0", .port = 1 };
	struct port_spec spec = { .device = "mlx5_0", .port = 1, .mtu = 2048,
				  .node_guid = 1, .gid_index = -1 };
	const struct ibv_gid_entry *g;
	struct ibv_gid_entry gids[8];
	struct vs_err err = { 0 };
	size_t n = 0;

	if (size < 10)
		return;
	want->layer = data[0] & 1 ? IBV_LINK_LAYER_ETHERNET :
		IBV_LINK_LAYER_INFINIBAND;
	want->mtu = data[1] << 8 | data[2];
	want->need = data[3] % 3;
	want->ifindex = 2;
	seen.attr.state = data[4];
	seen.attr.active_mtu = data[5];
	seen.attr.max_mtu = data[6];
	seen.attr.phys_state = data[7];
	seen.attr.link_layer = data[8];
	seen.node_guid = data[9] & 1;
	said(port_judge(want, &seen, &err), &err);
	said(port_judge_again(want->layer, &spec, &seen, &err), &err);
	for (size_t at = 10; n < 8 && at + 19 <= size; at += 19, n++) {
		memset(&gids[n], 0, sizeof(gids[n]));
		gids[n].port_num = data[at];
		gids[n].gid_type = data[at + 1];
		gids[n].ndev_ifindex = data[at + 2];
		memcpy(gids[n].gid.raw, data + at + 3, 16);
	}
	g = port_gid_choose(want, 1, gids, n);
	if (g && (g->port_num != 1 || g->ndev_ifindex != 2 ||
		  g->gid_type != IBV_GID_TYPE_ROCE_V2))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	VS_FREE char *text = vs_calloc(size + 1, 1);
	struct port_want want = { .netdev = "eth1" };
	char *at = text, *first, *mac;

	memcpy(text, data, size);
	first = strsep(&at, "\n");
	word(first);
	mac = at ? strsep(&at, "\n") : NULL;
	if (mac)
		port_mac_parse(mac, want.mac);
	if (at)
		judge(data + (at - text), size - (size_t)(at - text), &want);
	return 0;
}

#define FUZZ_CORPUS "port"
#include "fuzz_main.h"
