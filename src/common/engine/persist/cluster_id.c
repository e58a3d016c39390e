/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cluster's id in Slurm's StateSaveLocation: it says whose a VM is.
 *
 * Rules: the file holds a whole id, or none. No lock is held.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "engine/persist/persist.h"
#include "util/crash.h"
#include "util/mem.h"
#include "util/name.h"

/* Half an id would be linked as if it were one: a full disk or a limit of the
 * file's size writes less than it was asked to. */
static int id_write(int fd, const char *id)
{
	ssize_t n = write(fd, id, VS_UUID_LEN - 1);

	if (n >= 0 && n != VS_UUID_LEN - 1) {
		errno = ENOSPC;
		return -1;
	}
	return n < 0 ? -1 : 0;
}

/* Random, written once: a test cluster with a copied slurm.conf owns
 * nothing. Written beside and linked, so that half an id is never read. */
int vs_cluster_id_load(const char *state_dir, char out[VS_UUID_LEN],
		       struct vs_err *err)
{
	VS_FREE char *path = vs_asprintf("%s/" VS_CLUSTER_ID_FILE,
				    state_dir);
	VS_FREE char *tmp = vs_asprintf("%s.%d", path, (int)getpid());
	VS_CLOSE int fd = -1;
	char id[VS_UUID_LEN + 1] = "";
	ssize_t len;

	for (int tries = 0; tries < 2; tries++) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0) {
			len = read(fd, id, VS_UUID_LEN - 1);
			if (len != VS_UUID_LEN - 1 || !vs_uuid_valid(id))
				return vs_err_set(err, VS_E_CONFIG,
					"%s holds no cluster id: restore it, or remove it and run svf adopt",
					path);
			vs_strlcpy(out, id, VS_UUID_LEN);
			return 0;
		}
		if (errno != ENOENT)
			break;
		vs_uuid_random(id);
		vs_crash_before("write", path);
		fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd < 0 || id_write(fd, id) || fsync(fd))
			break;
		close(fd);
		fd = -1;
		vs_crash_after("write", path);
		vs_crash_before("rename", path);
		if (link(tmp, path) && errno != EEXIST)
			break;
		vs_crash_after("rename", path);
		unlink(tmp);
	}
	vs_err_set(err, VS_E_CONFIG, "%s: %s", path, strerror(errno));
	unlink(tmp);
	return -1;
}

/* svf adopt: another cluster id than before is in force from now on. */
int vs_cluster_id_store(const char *state_dir, const char *id,
			struct vs_err *err)
{
	VS_FREE char *path = vs_asprintf("%s/slurm_vsphere.id", state_dir);

	return vs_file_replace(path, id, err);
}
