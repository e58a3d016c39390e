/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NIC's RDMA device and port by libibverbs, and the wait for it. Of /sys
 * nothing is read but which function of which device an interface is (links).
 *
 * Rules: a device that is open is closed again; each wait has an end; changes
 * nothing.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "port.h"
#include "util/mem.h"

#define POLL_MS 500		/* a device that isn't there has no events */

struct table {
	struct ibv_gid_entry gids[PORT_GIDS];
	size_t n;
};

/* The device whose function the interface is one of, as a path. */
static bool same_function(const struct port_want *want,
			  const struct ibv_device *dev)
{
	char path[PATH_MAX], a[PATH_MAX], b[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/class/net/%s/device", want->root,
		 want->netdev);
	if (!realpath(path, a))
		return false;
	snprintf(path, sizeof(path), "%.*s/device", PATH_MAX - 8,
		 dev->ibdev_path);
	return realpath(path, b) && !strcmp(a, b);
}

static void table_read(struct ibv_context *ctx, struct table *t)
{
	ssize_t n = ibv_query_gid_table(ctx, t->gids, PORT_GIDS, 0);

	t->n = n > 0 ? (size_t)n : 0;
}

static uint64_t port_guid(struct ibv_context *ctx, int port)
{
	union ibv_gid gid;

	if (ibv_query_gid(ctx, (uint8_t)port, 0, &gid))
		return 0;
	return be64toh(gid.global.interface_id);
}

/*
 * The port whose GIDs are of the interface, or whose GUID is made of the MAC;
 * of a device that is the NIC's own, the only one. 0: none.
 */
static int port_of(const struct port_want *want, struct ibv_context *ctx,
		   const struct table *t, bool own)
{
	struct ibv_device_attr attr;

	for (size_t i = 0; want->ifindex && i < t->n; i++)
		if (t->gids[i].ndev_ifindex == want->ifindex)
			return (int)t->gids[i].port_num;
	if (!own || ibv_query_device(ctx, &attr))
		return 0;
	for (int p = 1; p <= attr.phys_port_cnt; p++)
		if (port_guid_is_of(port_guid(ctx, p), want->mac))
			return p;
	return attr.phys_port_cnt == 1 ? 1 : 0;
}

static int opened(struct ibv_device *dev, struct ibv_context **ctx,
		  struct vs_err *err)
{
	*ctx = ibv_open_device(dev);
	if (*ctx)
		return 0;
	return vs_err_set(err, VS_E_RETRY,
		"RDMA device %s can't be opened: %s (is the module ib_uverbs loaded, and rdma-core of this kernel's age?)",
		ibv_get_device_name(dev), strerror(errno));
}

/* Of one device, or of none: *ctx is left open for the one that it is. */
static int try_device(const struct port_want *want, struct ibv_device *dev,
		      struct port_seen *seen, struct ibv_context **ctx,
		      struct table *t, struct vs_err *err)
{
	bool own = same_function(want, dev);

	if (opened(dev, ctx, err))
		return own ? -1 : 0;
	table_read(*ctx, t);
	seen->port = port_of(want, *ctx, t, own);
	if (!seen->port && !own) {
		ibv_close_device(*ctx);
		*ctx = NULL;
		return 0;
	}
	vs_strlcpy(seen->device, ibv_get_device_name(dev),
		   sizeof(seen->device));
	seen->node_guid = be64toh(ibv_get_device_guid(dev));
	if (!seen->port)
		return vs_err_set(err, VS_E_RETRY,
			"RDMA device %s has several ports, and none is of %s yet",
			seen->device, want->netdev);
	if (ibv_query_port(*ctx, (uint8_t)seen->port, &seen->attr))
		return vs_err_set(err, VS_E_RETRY,
			"%s port %d can't be asked: %s", seen->device,
			seen->port, strerror(errno));
	seen->port_guid = port_guid(*ctx, seen->port);
	return 1;
}

/* Does the kernel have what libibverbs doesn't know? */
static bool kernel_has_any(const char *root)
{
	char path[PATH_MAX];
	struct dirent *e;
	bool any = false;
	DIR *d;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband", root);
	d = opendir(path);
	while (d && !any && (e = readdir(d)))
		any = e->d_name[0] != '.';
	if (d)
		closedir(d);
	return any;
}

static int none_of_it(const struct port_want *want, int count,
		      struct vs_err *err)
{
	if (count)
		return vs_err_set(err, VS_E_RETRY,
			"%s has no RDMA device, though others are there (%d): RDMA is off for its VF, or the NIC's driver in the template is too old",
			want->netdev, count);
	if (kernel_has_any(want->root))
		return vs_err_set(err, VS_E_RETRY,
			"%s: the kernel has an RDMA device, but libibverbs knows no driver for it: install rdma-core's providers in the template (ibverbs-providers)",
			want->netdev);
	return vs_err_set(err, VS_E_RETRY,
		"%s has no RDMA device: is its RDMA driver in the template (mlx5_ib, vmw_pvrdma), and RDMA on for the VF?",
		want->netdev);
}

static int gid_pick(const struct port_want *want, struct port_seen *seen,
		    const struct table *t, struct vs_err *err)
{
	const struct ibv_gid_entry *g;
	char address[INET_ADDRSTRLEN];

	seen->gid_index = -1;
	if (want->layer != IBV_LINK_LAYER_ETHERNET)
		return 0;
	g = port_gid_choose(want, seen->port, t->gids, t->n);
	if (g) {
		seen->gid_index = (int)g->gid_index;
		seen->gid = g->gid;
		return 0;
	}
	inet_ntop(AF_INET, &want->address, address, sizeof(address));
	return vs_err_set(err, VS_E_RETRY,
		"%s port %d has no GID of RoCE v2 for %s%s of %s: %s",
		seen->device, seen->port,
		want->need == PORT_NEED_ADDRESS ? "the address " :
		want->need == PORT_NEED_IPV4 ? "an IPv4 address" : "any address",
		want->need == PORT_NEED_ADDRESS ? address : "", want->netdev,
		want->need == PORT_NEED_IPV4 ?
		"no lease yet; does a DHCP server serve that network, and is the template's network configured for DHCP on it?" :
		"was the address taken away, or does the device speak RoCE v1 alone?");
}

int port_look(const struct port_want *want, struct port_seen *seen,
	      struct ibv_context **async, struct vs_err *err)
{
	VS_FREE struct table *t = vs_calloc(1, sizeof(*t));
	int count = 0, rc = 0;
	struct ibv_device **list = ibv_get_device_list(&count);

	memset(seen, 0, sizeof(*seen));
	memset(err, 0, sizeof(*err));
	*async = NULL;
	/* The NIC's own first: opening others may fail for their own reasons. */
	for (int own = 1; own >= 0 && !rc; own--)
		for (int i = 0; i < count && !rc; i++)
			if (same_function(want, list[i]) == !!own)
				rc = try_device(want, list[i], seen, async, t,
						err);
	if (list)
		ibv_free_device_list(list);
	if (!rc)
		return none_of_it(want, count, err);
	if (rc > 0)
		rc = port_judge(want, seen, err) ||
			gid_pick(want, seen, t, err) ? -1 : 0;
	return rc;
}

/* ---- the wait ----------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* An event of the device, or a while. */
static void pause_for(struct ibv_context *ctx, int64_t ms)
{
	struct pollfd fd = { .fd = ctx ? ctx->async_fd : -1, .events = POLLIN };
	struct ibv_async_event event;

	if (poll(&fd, 1, (int)(ms < POLL_MS ? ms : POLL_MS)) < 1 ||
	    !(fd.revents & POLLIN))
		return;
	fcntl(fd.fd, F_SETFL, fcntl(fd.fd, F_GETFL) | O_NONBLOCK);
	if (!ibv_get_async_event(ctx, &event))
		ibv_ack_async_event(&event);
}

int port_wait(const struct port_want *want, int64_t timeout_ms,
	      struct port_seen *seen, struct vs_err *err)
{
	int64_t end = now_ms() + timeout_ms;

	for (;;) {
		struct ibv_context *ctx = NULL;
		int rc = port_look(want, seen, &ctx, err);
		int64_t left = end - now_ms();

		if (rc && err->code == VS_E_RETRY && left > 0)
			pause_for(ctx, left);
		if (ctx)
			ibv_close_device(ctx);
		if (!rc || err->code != VS_E_RETRY || left <= 0)
			return rc;
	}
}

/* ---- again, before a job ------------------------------------------------------- */

static int check_open(uint8_t layer, const struct port_spec *spec,
		      struct ibv_context *ctx, struct vs_err *err)
{
	struct port_seen seen = {
		.node_guid = be64toh(ibv_get_device_guid(ctx->device)),
	};
	union ibv_gid gid;

	if (ibv_query_port(ctx, (uint8_t)spec->port, &seen.attr))
		return vs_err_set(err, VS_E_RETRY,
				  "%s port %d can't be asked: %s", spec->device,
				  spec->port, strerror(errno));
	if (spec->gid_index < 0)
		seen.port_guid = port_guid(ctx, spec->port);
	if (port_judge_again(layer, spec, &seen, err))
		return -1;
	if (spec->gid_index < 0 ||
	    (!ibv_query_gid(ctx, (uint8_t)spec->port, spec->gid_index, &gid) &&
	     !memcmp(&gid, &spec->gid, sizeof(gid))))
		return 0;
	return vs_err_set(err, VS_E_RETRY,
		"%s port %d has another GID at index %d than at boot: the NIC's address was changed or taken away",
		spec->device, spec->port, spec->gid_index);
}

int port_check(uint8_t layer, const struct port_spec *spec, struct vs_err *err)
{
	struct ibv_context *ctx = NULL;
	int count = 0, at, rc;
	struct ibv_device **list = ibv_get_device_list(&count);

	for (at = 0; at < count; at++)
		if (!strcmp(ibv_get_device_name(list[at]), spec->device))
			break;
	if (at == count)
		rc = vs_err_set(err, VS_E_RETRY,
			"the RDMA device %s is gone: the VF or its driver failed (dmesg in the guest tells)",
			spec->device);
	else
		rc = opened(list[at], &ctx, err);
	if (list)
		ibv_free_device_list(list);
	if (ctx) {
		rc = check_open(layer, spec, ctx, err);
		ibv_close_device(ctx);
	}
	return rc;
}
