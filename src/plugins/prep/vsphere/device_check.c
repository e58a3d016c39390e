/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second look at the NICs, before a job's first step. The guest's script has
 * looked before slurmd started; since then a cable, a switch, or a user with
 * root may have changed them. The script itself looks again (interface: there,
 * MAC, up, MTU; port: link layer, GUIDs, ACTIVE, active_mtu, GID; in some
 * milliseconds), in a process of its own, because a driver that hangs blocks
 * each process that reads its /sys. An older template's, which doesn't say that
 * it can, has slurm-vsphere-port look; where neither can be asked, the port's
 * state is better than nothing. Changes nothing; libc only, for it runs in
 * slurmd on every VM.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device_check.h"
#include "check_process.h"
#include "plugins/guest_files.h"

#define PORTS_MAX 8
#define ANSWER_MS 10000
#define LINE_MAX_ 512

/* What `ready` says of the ports, as lines. */
struct ready {
	char dirs[PORTS_MAX][LINE_MAX_];
	char specs[PORTS_MAX][LINE_MAX_];
	char script[LINE_MAX_], checker[LINE_MAX_], layer[32];
	size_t ndirs, nspecs;
};

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
static int dir_check(const char *dir, char *why, size_t size)
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

static void fact(struct ready *r, const char *line)
{
	if (!strncmp(line, "port ", 5) && r->ndirs < PORTS_MAX)
		snprintf(r->dirs[r->ndirs++], LINE_MAX_, "%s", line + 5);
	else if (!strncmp(line, "rdma ", 5) && r->nspecs < PORTS_MAX)
		snprintf(r->specs[r->nspecs++], LINE_MAX_, "%s", line + 5);
	else if (!strncmp(line, "checker /", 9))
		snprintf(r->checker, sizeof(r->checker), "%s", line + 8);
	else if (!strncmp(line, "guest-check /", 13))
		snprintf(r->script, sizeof(r->script), "%s", line + 12);
	else if (!strncmp(line, "link-layer ", 11))
		snprintf(r->layer, sizeof(r->layer), "%.31s", line + 11);
}

/* Returns 1 with the facts if the script said ok, 0 if this is no managed VM,
 * -1 with why. */
static int ready_read(struct ready *r, char *why, size_t size)
{
	char path[1024], line[LINE_MAX_];
	FILE *in;

	memset(r, 0, sizeof(*r));
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
		fclose(in);
		return -1;
	}
	while (fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		fact(r, line);
	}
	fclose(in);
	return 1;
}

static enum vs_port_answer ask(const struct ready *r, char *why, size_t size)
{
	const char *script[] = { r->script, "check", NULL };
	const char *argv[PORTS_MAX + 4] = { r->checker, "check", r->layer };
	enum vs_port_answer answer = VS_PORT_UNASKED;

	if (r->script[0])
		answer = vs_port_check(script, ANSWER_MS, why, size);
	if (answer != VS_PORT_UNASKED)
		return answer;
	if (!r->checker[0] || !r->nspecs || r->nspecs != r->ndirs)
		return VS_PORT_UNASKED;
	for (size_t i = 0; i < r->nspecs; i++)
		argv[3 + i] = r->specs[i];
	return vs_port_check(argv, ANSWER_MS, why, size);
}

int vs_device_check(char *why, size_t size)
{
	struct ready r;
	int rc = ready_read(&r, why, size);

	if (rc <= 0)
		return rc;
	switch (ask(&r, why, size)) {
	case VS_PORT_RIGHT:
		return 0;
	case VS_PORT_WRONG:
		return -1;
	case VS_PORT_UNASKED:
		break;
	}
	for (size_t i = 0; i < r.ndirs; i++)
		if (dir_check(r.dirs[i], why, size))
			return -1;
	return 0;
}
