/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state file in StateSaveLocation: its text, read and written whole. What is in
 * it, run/saved_state.c says. No lock is held: this is file work.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "engine/persist/persist.h"
#include "util/buf.h"
#include "util/log.h"
#include "util/mem.h"

#define HINTS_MAX (8 << 20)

static char *hints_path(const char *state_dir)
{
	return vs_asprintf("%s/slurm_vsphere.hints", state_dir);
}

static int read_file(const char *path, struct vs_buf *buf)
{
	VS_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	char part[4096];
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	while ((n = read(fd, part, sizeof(part))) > 0)
		if (vs_buf_add(buf, part, (size_t)n))
			return -1;
	return n < 0 ? -1 : 0;
}

char *vs_state_file_read(const char *state_dir)
{
	VS_FREE char *path = hints_path(state_dir);
	struct vs_buf buf = VS_BUF_INIT(HINTS_MAX);

	if (!read_file(path, &buf))
		return buf.data;
	vs_info("%s cannot be read: the saved state is ignored", path);
	vs_buf_free(&buf);
	return NULL;
}

int vs_state_file_write(const char *state_dir, const char *text,
			struct vs_err *err)
{
	VS_FREE char *path = hints_path(state_dir);

	return vs_file_replace(path, text, err);
}
