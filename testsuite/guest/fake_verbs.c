/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A libibverbs with the calls that slurm-vsphere-port makes, which shows what the
 * file SV_VERBS says. Each call reads the file again, and a change of anything
 * in its directory is an asynchronous event. A line sets something of the last
 * device, or of its last port:
 *
 *   device NAME             path DIR (in a fake /sys)      guid HEX
 *   broken                  it can't be opened
 *   port N                  layer Ethernet|InfiniBand      phys N
 *   state N|FILE            FILE's first line begins with the number
 *   mtu BYTES|FILE          active_mtu, or that of an interface with this MTU
 *   max BYTES               max_mtu
 *   gid INDEX v1|v2|ib IFINDEX ADDRESS
 *
 * No file: a machine without RDMA. Each look at the devices adds a byte to the
 * file SV_VERBS_LOG; the second one begins with the program SV_VERBS_THEN, so
 * that the world changes exactly after it was looked at.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICES 16
#define PORTS 4
#define GIDS 16

struct port {
	int number, layer, phys, state, mtu, max;
	size_t ngids;
	struct ibv_gid_entry gids[GIDS];
};

struct device {
	char name[64], path[256];
	uint64_t guid;
	int broken;
	size_t nports;
	struct port ports[PORTS];
};

static struct device devices[DEVICES];
static size_t ndevices;

static int number_in(const char *file)
{
	FILE *in = fopen(file, "re");
	int n = 0;

	if (in && fscanf(in, "%d", &n) != 1)
		n = 0;
	if (in)
		fclose(in);
	return n;
}

static int number_or_file(const char *s, int *from_file)
{
	*from_file = *s == '/';
	return *from_file ? number_in(s) : (int)strtol(s, NULL, 10);
}

/* As the kernel's RoCE: what is left of the interface's MTU. */
static int roce_mtu(int mtu)
{
	return mtu >= 4192 ? 4096 : mtu >= 2144 ? 2048 : mtu >= 1120 ? 1024 :
	       mtu >= 608 ? 512 : 256;
}

static void gid_line(struct port *p, const char *value)
{
	struct ibv_gid_entry *g = &p->gids[p->ngids];
	char type[8], address[64];

	if (p->ngids == GIDS || sscanf(value, "%u %7s %u %63s", &g->gid_index,
				       type, &g->ndev_ifindex, address) != 4 ||
	    inet_pton(AF_INET6, address, g->gid.raw) != 1)
		abort();
	g->gid_type = !strcmp(type, "v2") ? IBV_GID_TYPE_ROCE_V2 :
		!strcmp(type, "v1") ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_IB;
	g->port_num = (uint32_t)p->number;
	p->ngids++;
}

static void port_line(struct port *p, const char *key, const char *value)
{
	int from_file = 0;

	if (!strcmp(key, "layer")) {
		p->layer = !strcmp(value, "Ethernet") ?
			IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
	} else if (!strcmp(key, "phys")) {
		p->phys = (int)strtol(value, NULL, 10);
	} else if (!strcmp(key, "state")) {
		p->state = number_or_file(value, &from_file);
	} else if (!strcmp(key, "mtu")) {
		p->mtu = number_or_file(value, &from_file);
		if (from_file)
			p->mtu = roce_mtu(p->mtu);
	} else if (!strcmp(key, "max")) {
		p->max = (int)strtol(value, NULL, 10);
	} else if (!strcmp(key, "gid")) {
		gid_line(p, value);
	} else {
		abort();
	}
}

static void line_read(const char *key, const char *value)
{
	struct device *d = &devices[ndevices ? ndevices - 1 : 0];

	if (!strcmp(key, "device")) {
		if (ndevices == DEVICES)
			abort();
		d = &devices[ndevices++];
		memset(d, 0, sizeof(*d));
		snprintf(d->name, sizeof(d->name), "%s", value);
	} else if (!strcmp(key, "path")) {
		snprintf(d->path, sizeof(d->path), "%s", value);
	} else if (!strcmp(key, "guid")) {
		d->guid = strtoull(value, NULL, 16);
	} else if (!strcmp(key, "broken")) {
		d->broken = 1;
	} else if (!strcmp(key, "port")) {
		if (d->nports == PORTS)
			abort();
		d->ports[d->nports++] = (struct port) {
			.number = (int)strtol(value, NULL, 10), .state = 4,
			.mtu = 1024, .max = 4096, .phys = 5,
			.layer = IBV_LINK_LAYER_ETHERNET,
		};
	} else if (d->nports) {
		port_line(&d->ports[d->nports - 1], key, value);
	}
}

static int read_all(void)
{
	const char *file = getenv("SV_VERBS");
	FILE *in = file ? fopen(file, "re") : NULL;
	char line[512];

	ndevices = 0;
	if (!in)
		return -1;
	while (fgets(line, sizeof(line), in)) {
		char key[32], value[400] = "";

		if (sscanf(line, "%31s %399[^\n]", key, value) >= 1)
			line_read(key, value);
	}
	fclose(in);
	return 0;
}

static struct device *device_now(struct ibv_context *ctx)
{
	read_all();
	for (size_t i = 0; i < ndevices; i++)
		if (!strcmp(devices[i].name, ctx->device->name))
			return &devices[i];
	errno = EIO;
	return NULL;
}

static struct port *port_now(struct ibv_context *ctx, uint32_t n)
{
	struct device *d = device_now(ctx);

	for (size_t i = 0; d && i < d->nports; i++)
		if ((uint32_t)d->ports[i].number == n)
			return &d->ports[i];
	errno = EINVAL;
	return NULL;
}

static enum ibv_mtu mtu_code(int bytes)
{
	enum ibv_mtu m = IBV_MTU_256;

	while (m < IBV_MTU_4096 && (128 << m) < bytes)
		m++;
	return m;
}

/* ---- the calls --------------------------------------------------------------- */

static void looked(void)
{
	const char *log = getenv("SV_VERBS_LOG"), *then = getenv("SV_VERBS_THEN");
	char *argv[] = { (char *)then, NULL };
	FILE *out = log ? fopen(log, "ae") : NULL;
	static int looks;
	pid_t pid;

	if (out) {
		fputc('.', out);
		fclose(out);
	}
	if (++looks == 2 && then &&
	    !posix_spawn(&pid, then, NULL, NULL, argv, environ))
		waitpid(pid, NULL, 0);
}

struct ibv_device **ibv_get_device_list(int *num)
{
	struct ibv_device **list;

	looked();
	if (read_all()) {
		errno = ENOSYS;
		*num = 0;
		return NULL;
	}
	list = calloc(ndevices + 1, sizeof(*list));
	for (size_t i = 0; i < ndevices; i++) {
		list[i] = calloc(1, sizeof(**list));
		snprintf(list[i]->name, sizeof(list[i]->name), "%.63s",
			 devices[i].name);
		snprintf(list[i]->ibdev_path, sizeof(list[i]->ibdev_path),
			 "%.255s", devices[i].path);
	}
	*num = (int)ndevices;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	for (size_t i = 0; list[i]; i++)
		free(list[i]);
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	struct ibv_context ctx = { .device = device };
	struct device *d = device_now(&ctx);

	return htobe64(d ? d->guid : 0);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *ctx = calloc(1, sizeof(*ctx));
	char dir[512];
	struct device *d;

	ctx->device = calloc(1, sizeof(*device));
	*ctx->device = *device;
	d = device_now(ctx);
	if (!d || d->broken) {
		free(ctx->device);
		free(ctx);
		errno = ENODEV;
		return NULL;
	}
	snprintf(dir, sizeof(dir), "%s", getenv("SV_VERBS"));
	*strrchr(dir, '/') = '\0';
	ctx->async_fd = inotify_init1(IN_CLOEXEC);
	inotify_add_watch(ctx->async_fd, dir, IN_CLOSE_WRITE | IN_MOVED_TO);
	return ctx;
}

int ibv_close_device(struct ibv_context *ctx)
{
	close(ctx->async_fd);
	free(ctx->device);
	free(ctx);
	return 0;
}

int ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	struct device *d = device_now(ctx);

	memset(attr, 0, sizeof(*attr));
	attr->phys_port_cnt = d ? (uint8_t)d->nports : 0;
	return d ? 0 : EIO;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *ctx, uint8_t n,
		   struct _compat_ibv_port_attr *out)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)out;
	struct port *p = port_now(ctx, n);

	if (!p)
		return EIO;
	attr->state = (enum ibv_port_state)p->state;
	attr->max_mtu = mtu_code(p->max);
	attr->active_mtu = mtu_code(p->mtu < p->max ? p->mtu : p->max);
	attr->phys_state = (uint8_t)p->phys;
	attr->link_layer = (uint8_t)p->layer;
	attr->gid_tbl_len = GIDS;
	return 0;
}

int ibv_query_gid(struct ibv_context *ctx, uint8_t n, int index,
		  union ibv_gid *gid)
{
	struct port *p = port_now(ctx, n);

	memset(gid, 0, sizeof(*gid));
	for (size_t i = 0; p && i < p->ngids; i++)
		if ((int)p->gids[i].gid_index == index)
			*gid = p->gids[i].gid;
	return p && index < GIDS ? 0 : -1;
}

ssize_t _ibv_query_gid_table(struct ibv_context *ctx,
			     struct ibv_gid_entry *entries, size_t max,
			     uint32_t flags, size_t size)
{
	struct device *d = device_now(ctx);
	size_t n = 0;

	if (flags || size != sizeof(*entries))
		return -EINVAL;
	for (size_t i = 0; d && i < d->nports; i++)
		for (size_t k = 0; k < d->ports[i].ngids && n < max; k++)
			entries[n++] = d->ports[i].gids[k];
	return d ? (ssize_t)n : -EIO;
}

int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event)
{
	char buf[4096] __attribute__((aligned(8)));

	memset(event, 0, sizeof(*event));
	event->event_type = IBV_EVENT_PORT_ACTIVE;
	return read(ctx->async_fd, buf, sizeof(buf)) > 0 ? 0 : -1;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}
