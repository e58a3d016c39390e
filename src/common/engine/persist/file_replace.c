/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file is replaced: whole, or not at all. No lock is held.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "engine/persist/persist.h"
#include "util/crash.h"
#include "util/mem.h"

/* The old file or the new one, whole, whatever happens. */
int vs_file_replace(const char *path, const char *text, struct vs_err *err)
{
	VS_FREE char *tmp = vs_asprintf("%s.new", path);
	size_t len = strlen(text);
	VS_CLOSE int fd = -1;

	vs_crash_before("write", path);
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, len) != (ssize_t)len || fsync(fd))
		return vs_err_set(err, VS_E_RETRY, "%s: %s", path,
				  strerror(errno));
	vs_crash_after("write", path);
	vs_crash_before("rename", path);
	if (rename(tmp, path))
		return vs_err_set(err, VS_E_RETRY, "%s: %s", path,
				  strerror(errno));
	vs_crash_after("rename", path);
	return 0;
}
