/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rpctool.c: VMware's RPC in a QEMU guest: `vmware-rpctool REQUEST` and
 * `vmtoolsd --cmd REQUEST`, by the name that it has.
 *
 * QEMU has not VMware's door to the host. A virtio-serial port stands for it, at whose
 * other end `hypervisor` answers: a line of request, a line "1 VALUE" or "0 REASON".
 * Prints VALUE and returns 0; prints REASON on standard error and returns 1, also if
 * no answer comes. The port can be opened once at a time: a second caller waits.
 * instantclone.freeze gets its answer when the VM continues, however late.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PORT "/dev/virtio-ports/com.vmware.rpc"
#ifndef OPEN_TRIES
#define OPEN_TRIES 1000		/* of 20 ms */
#endif

static int open_port(void)
{
	int fd, i;

	for (i = 0; i < OPEN_TRIES; i++) {
		fd = open(PORT, O_RDWR | O_CLOEXEC);
		if (fd >= 0 || (errno != EBUSY && errno != ENOENT))
			return fd;
		usleep(20000);
	}
	return -1;
}

/* Reads a line of at most size - 1 bytes. Returns 0, or -1 if the port fails. */
static int read_line(int fd, char *line, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t n = 0;
	ssize_t got;

	while (n < size - 1) {
		if (poll(&p, 1, 1000) < 0 && errno != EINTR)
			return -1;
		got = read(fd, line + n, size - 1 - n);
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return -1;
		if (got <= 0) {
			usleep(10000);
			continue;
		}
		n += (size_t)got;
		if (line[n - 1] == '\n') {
			line[n - 1] = '\0';
			return 0;
		}
	}
	return -1;
}

int main(int argc, char **argv)
{
	static char line[65536];
	const char *name = strrchr(argv[0], '/');
	int tools = !strcmp(name ? name + 1 : argv[0], "vmtoolsd");
	int fd;

	if (argc != 2 + tools || (tools && strcmp(argv[1], "--cmd"))) {
		fprintf(stderr, "usage: vmware-rpctool REQUEST, or vmtoolsd --cmd REQUEST\n");
		return 2;
	}
	fd = open_port();
	if (fd < 0 || dprintf(fd, "%s\n", argv[1 + tools]) < 0 ||
	    read_line(fd, line, sizeof(line))) {
		fprintf(stderr, "Failed sending message to VMware: %s\n", strerror(errno));
		return 1;
	}
	if (line[0] == '1') {
		puts(line[1] ? line + 2 : "");
		return 0;
	}
	fprintf(stderr, "%s\n", line[0] ? line + 2 : "no answer");
	return 1;
}
