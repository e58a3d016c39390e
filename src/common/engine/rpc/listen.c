/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the control channel listens (and the metrics), and how others learn of it.
 *
 * Rules: the socket is non-blocking and never inherited by what slurmctld
 * starts; the port's file is whole or not there. Nothing is accepted here.
 */
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/rpc/rpc.h"
#include "util/mem.h"

int vs_listen_at(const struct vs_listen_keys *keys, const char *addr, int port,
		 struct vs_err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_PASSIVE }, *list;
	char service[16];
	int rc, fd = -1, one = 1;

	snprintf(service, sizeof(service), "%d", port);
	rc = getaddrinfo(addr, service, &hints, &list);
	if (rc)
		return vs_err_set(err, VS_E_CONFIG, "%s=%s: %s", keys->addr,
				  addr, gai_strerror(rc));
	for (struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK |
			    SOCK_CLOEXEC, 0);
		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, 64)) {
			rc = errno;
			close(fd);
			errno = rc;
			fd = -1;
		}
	}
	freeaddrinfo(list);
	if (fd < 0)
		vs_err_set(err, VS_E_CONFIG,
			   "%s=%s %s=%d: cannot listen: %s", keys->addr,
			   addr, keys->port, port, strerror(errno));
	return fd;
}

/* Writes the port's number for clients if any free port was chosen: whole or not there. */
static int port_write(int fd, const char *dir, struct vs_err *err)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	char port[NI_MAXSERV];
	VS_FREE char *path = vs_asprintf("%s/vsphere_control.port", dir);
	VS_FREE char *tmp = vs_asprintf("%s.new", path);
	FILE *f;
	bool ok;

	if (getsockname(fd, (struct sockaddr *)&sa, &len) ||
	    getnameinfo((struct sockaddr *)&sa, len, NULL, 0, port,
			sizeof(port), NI_NUMERICSERV))
		return vs_err_set(err, VS_E_BUG, "the port of the own socket is unknown");
	f = fopen(tmp, "we");
	ok = f && fprintf(f, "%s\n", port) > 0;
	if (f && fclose(f))
		ok = false;
	if (!ok || rename(tmp, path))
		return vs_err_set(err, VS_E_CONFIG, "%s: cannot be written: %s",
				  path, strerror(errno));
	return 0;
}

int vs_control_listen(const struct vs_conf *conf, struct vs_err *err)
{
	static const struct vs_listen_keys keys = { "SvfListenAddr", "SvfPort" };
	int fd = vs_listen_at(&keys, conf->svf_listen_addr, conf->svf_port,
			      err);

	if (fd >= 0 && conf->state_dir &&
	    port_write(fd, conf->state_dir, err)) {
		close(fd);
		fd = -1;
	}
	return fd;
}
