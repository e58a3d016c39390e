/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second look at the RDMA device, before a job's first step. The guest's
 * script has looked before slurmd started; since then a cable or a switch may
 * have failed. Reads two kinds of small files and changes nothing; libc only,
 * for it runs in slurmd on every VM.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device.h"
#include "../../guest.h"

/* First line of a file without its newline: 0, or -1 with errno. */
static int first_line(const char *path, char *line, size_t size)
{
	FILE *in = fopen(path, "re");

	if (!in)
		return -1;
	if (!fgets(line, (int)size, in))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(in);
	return 0;
}

/* sysfs writes "4: ACTIVE". */
static int port_check(const char *dir, char *why, size_t size)
{
	char path[1024], state[64];

	snprintf(path, sizeof(path), "%s/state", dir);
	if (first_line(path, state, sizeof(state))) {
		snprintf(why, size, "the RDMA port %s is gone: %s", dir,
			 strerror(errno));
		return -1;
	}
	if (strncmp(state, "4:", 2)) {
		snprintf(why, size, "the RDMA port %s is \"%s\", not ACTIVE",
			 dir, state);
		return -1;
	}
	return 0;
}

int vs_device_check(char *why, size_t size)
{
	char path[1024], line[512];
	int rc = 0;
	FILE *in;

	vs_guest_path("ready", path, sizeof(path));
	in = fopen(path, "re");
	if (!in && errno == ENOENT)
		return 0;
	if (!in) {
		snprintf(why, size, "%s: %s", path, strerror(errno));
		return -1;
	}
	if (!fgets(line, sizeof(line), in))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (strcmp(line, "ok")) {
		snprintf(why, size, "the RDMA device is not ready: %s",
			 !strncmp(line, "failed: ", 8) ? line + 8 :
			 *line ? line : "the start-up script wrote nothing");
		rc = -1;
	}
	while (!rc && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "port ", 5))
			rc = port_check(line + 5, why, size);
	}
	fclose(in);
	return rc;
}
