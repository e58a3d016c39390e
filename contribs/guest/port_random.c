/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An instant clone's kernel has its parent's generator of random numbers. What
 * is written to /dev/urandom goes into the input pool alone: the generator that
 * getrandom() and /dev/urandom read is seeded from it only minutes later.
 * RNDRESEEDCRNG (Linux 4.17, needs CAP_SYS_ADMIN) does it at once (random(4),
 * drivers/char/random.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/random.h>
#include "port.h"

#ifndef RNDRESEEDCRNG
#define RNDRESEEDCRNG _IO('R', 0x07)
#endif

static int refused(const char *what, const char *path, struct vs_err *err)
{
	return vs_err_set(err, VS_E_RETRY, "%s %s: %s", path, what,
			  strerror(errno));
}

/* All of in to out. */
static int copy(int in, int out)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(in, buf, sizeof(buf))) > 0)
		for (ssize_t done = 0, w; done < n; done += w) {
			w = write(out, buf + done, (size_t)(n - done));
			if (w < 0)
				return -1;
		}
	return n < 0 ? -1 : 0;
}

int port_reseed(int in, const char *path, struct vs_err *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	int rc = 0;

	if (fd < 0)
		return refused("can't be opened", path, err);
	if (copy(in, fd))
		rc = refused("can't be written", path, err);
	else if (ioctl(fd, RNDRESEEDCRNG))
		rc = refused("doesn't seed its generator again (RNDRESEEDCRNG: Linux 4.17, CAP_SYS_ADMIN)",
			     path, err);
	close(fd);
	return rc;
}
