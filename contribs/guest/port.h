/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm-vsphere-port: is the RDMA port of this node's NIC what it should be?
 * Asked of libibverbs alone, by the guest's script at boot and by prep/vsphere
 * before a job. An error's code says what next: VS_E_RETRY may pass by itself,
 * VS_E_CONFIG will not.
 */
#ifndef VS_GUEST_PORT_H
#define VS_GUEST_PORT_H

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include "util/err.h"

#define PORT_GIDS 1024		/* of a device that we look at */

/* The GID that a RoCE NIC must have. */
enum port_need {
	PORT_NEED_V2,		/* any of RoCE v2 */
	PORT_NEED_IPV4,		/* of whatever IPv4 address: DHCP gives it */
	PORT_NEED_ADDRESS,	/* of want.address */
};

struct port_want {
	const char *root;	/* before /sys, "" but in tests */
	const char *netdev;	/* the NIC's interface */
	unsigned int ifindex;	/* its number, 0: not known */
	uint8_t mac[6];
	uint8_t layer;		/* IBV_LINK_LAYER_ETHERNET or _INFINIBAND */
	int mtu;		/* set on the interface, 0: any */
	enum port_need need;
	struct in_addr address;
};

struct port_seen {
	char device[64];
	int port;		/* 0: no port is the NIC's yet */
	struct ibv_port_attr attr;
	uint64_t node_guid;	/* host order, as the next */
	uint64_t port_guid;
	int gid_index;		/* -1: none was asked for */
	union ibv_gid gid;
};

/* The values that `check` gets for a port: DEVICE/PORT/ACTIVE_MTU/INDEX/GID; on
 * InfiniBand DEVICE/PORT/ACTIVE_MTU/-/-/NODE_GUID/PORT_GUID, 16 hex digits each
 * (an older release's word ends before them). */
struct port_spec {
	char device[64];
	int port, mtu, gid_index;	/* bytes; -1: no GID */
	union ibv_gid gid;
	uint64_t node_guid, port_guid;	/* host order; 0, 0: any */
};
#define PORT_SPEC_LEN 160

/* ---- port_judge.c: pure ---------------------------------------------------- */

const char *port_layer_name(uint8_t layer);
/* 0 (UNSPECIFIED) if it is the name of none. */
uint8_t port_layer_of(const char *name);

/* "00:50:56:01:02:03": 0 or -1. */
int port_mac_parse(const char *s, uint8_t mac[6]);

/* The MAC with two bytes in its middle, and perhaps the bit for "locally
 * administered" turned; the two bytes are not looked at. */
bool port_guid_is_of(uint64_t guid, const uint8_t mac[6]);

/*
 * The least active_mtu in bytes that fits an interface's MTU, 0: any will do.
 * RoCE: the largest IB MTU that leaves room for 96 bytes of headers (as the
 * kernel's iboe_get_mtu()). InfiniBand: IPoIB's datagrams have 4 bytes more than
 * its MTU; above 4092 it is in connected mode, which says nothing of the port.
 */
int port_mtu_for(uint8_t layer, int mtu);

/* Returns the bytes of one of libibverbs' MTUs. Returns 0 for any other value: a
 * driver may report one that this release doesn't know. */
int port_mtu_bytes(enum ibv_mtu mtu);

/* Of RoCE v2 on that port and interface the GID that serves best: of the
 * address, of an IPv4 address, routable, link-local. NULL: none serves. */
const struct ibv_gid_entry *port_gid_choose(const struct port_want *want,
					    int port,
					    const struct ibv_gid_entry *gids,
					    size_t n);

/* All but the GID. 0, or -1 with the sentence that an administrator reads. */
int port_judge(const struct port_want *want, const struct port_seen *seen,
	       struct vs_err *err);

/* A port that was right at boot, now; of seen the attributes and GUIDs count. The
 * layer is the node's, the rest spec's. */
int port_judge_again(uint8_t layer, const struct port_spec *spec,
		     const struct port_seen *seen, struct vs_err *err);

/* 0 or -1. */
int port_spec_parse(const char *s, struct port_spec *out);
void port_spec_format(const struct port_seen *seen, char out[PORT_SPEC_LEN]);

/* ---- port_find.c: libibverbs ------------------------------------------------ */

/*
 * Look once. 0 with everything in seen; -1 with the reason. *async is then the
 * open device whose next event may change that, or NULL; ibv_close_device() it.
 */
int port_look(const struct port_want *want, struct port_seen *seen,
	      struct ibv_context **async, struct vs_err *err);

/* Until it is right, no longer than timeout_ms, nor when it can't become so. */
int port_wait(const struct port_want *want, int64_t timeout_ms,
	      struct port_seen *seen, struct vs_err *err);

/* One of `check`'s. */
int port_check(uint8_t layer, const struct port_spec *spec, struct vs_err *err);

/* ---- port_random.c ----------------------------------------------------------- */

/*
 * Writes all of the descriptor in to the device at path and has the kernel seed
 * its generator again (ioctl RNDRESEEDCRNG). Returns 0 on success. Returns -1 and
 * sets err if the device refuses either.
 */
int port_reseed(int in, const char *path, struct vs_err *err);

#endif
