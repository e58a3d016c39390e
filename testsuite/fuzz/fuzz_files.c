/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small files that others write: the first byte says which one the rest is (I:
 * the cluster id in StateSaveLocation; P: what a job got, as a variable that
 * slurmctld sends; anything else: what the guest's script left for slurmd and,
 * after a NUL, sysfs' state of a port).
 *
 * What must hold: nothing crashes; an id that is taken is one; a refusal has
 * its words, and a port that isn't ACTIVE is refused; what a task will read is
 * made of words.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/state/state.h"
#include "engine/persist/persist.h"
#include "plugins/guest_files.h"
#include "plugins/prep/vsphere/device_check.h"
#include "plugins/prep/vsphere/check_process.h"
#include "util/mem.h"
#include "testsuite/unit/scratch.h"

static char dir[SCRATCH_LEN];
static char id_path[SCRATCH_FILE], ready_path[SCRATCH_FILE];
static char port_dir[SCRATCH_FILE], state_path[SCRATCH_FILE];

/* No program of whatever name is run here: neither the script, "PATH check", nor
 * slurm-vsphere-port, "PATH check LAYER SPEC...". */
enum vs_port_answer vs_port_check(const char *const argv[], int timeout_ms,
				  char *why, size_t size)
{
	size_t answer;
	int n = 0;

	while (argv[n])
		n++;
	if (argv[0][0] != '/' || n < 2 || n == 3 || n > 11 ||
	    strcmp(argv[1], "check") || timeout_ms <= 0)
		abort();
	answer = strlen(argv[n == 2 ? 0 : 3]) % 3;
	if (answer == 1)
		snprintf(why, size, "it is wrong");
	return answer == 0 ? VS_PORT_RIGHT :
	       answer == 1 ? VS_PORT_WRONG : VS_PORT_UNASKED;
}

static void clean(void)
{
	unlink(id_path);
	unlink(ready_path);
	unlink(state_path);
	rmdir(port_dir);
	rmdir(dir);
}

static void prepare(void)
{
	if (id_path[0])
		return;
	if (!mkdtemp(scratch_path(dir, "fuzz")))
		abort();
	snprintf(id_path, sizeof(id_path), "%s/slurm_vsphere.id", dir);
	snprintf(ready_path, sizeof(ready_path), "%s/ready", dir);
	snprintf(port_dir, sizeof(port_dir), "%s/p", dir);
	snprintf(state_path, sizeof(state_path), "%s/p/state", dir);
	if (mkdir(port_dir, 0700))
		abort();
	setenv("SLURM_VSPHERE_RUN", dir, 1);
	atexit(clean);
}

static void put(const char *path, const void *data, size_t size)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(data, 1, size, f) != size || fclose(f))
		abort();
}

static void cluster_id(const uint8_t *data, size_t size)
{
	char out[VS_UUID_LEN] = "";
	struct vs_err err = { 0 };

	put(id_path, data, size);
	if (vs_cluster_id_load(dir, out, &err)) {
		if (err.code != VS_E_CONFIG || !err.text[0])
			abort();
	} else if (!vs_uuid_valid(out) || memcmp(out, data, strlen(out))) {
		abort();
	}
}

static void words(const char *list, size_t size)
{
	if (!memchr(list, '\0', size))
		abort();
	for (; *list; list++)
		if (*list <= ' ' || *list > '~')
			abort();
}

static void facts(void)
{
	struct vs_guest g;

	vs_guest_read(&g);
	words(g.node, sizeof(g.node));
	words(g.adapter, sizeof(g.adapter));
	words(g.macs, sizeof(g.macs));
	words(g.devices, sizeof(g.devices));
	words(g.ports, sizeof(g.ports));
	words(g.gid_index, sizeof(g.gid_index));
	if (strspn(g.gid_index, "0123456789") != strlen(g.gid_index))
		abort();
}

/* "port @" stands for the port whose state file this program writes. */
static void device(const char *text, size_t size)
{
	const char *nul = memchr(text, '\0', size);
	size_t len = nul ? (size_t)(nul - text) : size;
	VS_FREE char *ready = vs_calloc(len + sizeof(port_dir) + 1, 1);
	const char *at = memmem(text, len, "port @", 6);
	size_t head = at ? (size_t)(at - text) + 5 : len;
	char why[64];

	memcpy(ready, text, head);
	if (at)
		snprintf(ready + head, len - head + sizeof(port_dir), "%s%.*s",
			 port_dir, (int)(len - head - 1), at + 6);
	put(ready_path, ready, strlen(ready));
	put(state_path, nul ? nul + 1 : "", nul ? size - len - 1 : 0);
	memset(why, 'x', sizeof(why));
	if (vs_device_check(why, sizeof(why))) {
		if (!memchr(why, '\0', sizeof(why)) || !why[0])
			abort();
	} else if (strncmp(ready, "ok", 2)) {
		abort();
	}
	facts();
}

/* Written down for tasks, and read by them, it is what it was. */
static void place(const char *text, size_t size)
{
	VS_FREE char *entry = vs_asprintf(VS_ASSIGNMENT_ENV "0=%.*s", (int)size,
					  text);
	struct vs_assignment_place found;
	struct vs_guest g;

	if (vs_assignment_find(&entry, 1, "vm1", &found))
		return;
	put(ready_path, "ok\n", 3);
	if (vs_guest_place_write(&found))
		abort();
	vs_guest_read(&g);
	if (strcmp(g.place.host, found.host) || strcmp(g.place.pfs, found.pfs))
		abort();
	vs_guest_place_write(NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	prepare();
	if (!size)
		return 0;
	if (data[0] == 'I')
		cluster_id(data + 1, size - 1);
	else if (data[0] == 'P')
		place((const char *)data + 1, size - 1);
	else
		device((const char *)data + 1, size - 1);
	return 0;
}

#define FUZZ_CORPUS "files"
#define FUZZ_ROUNDS 2000		/* each writes a file */
#include "fuzz_main.h"
