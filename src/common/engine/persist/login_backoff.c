/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A login that vCenter has refused, beyond the life of the slurmctld that tried
 * it: one that is started over and over, by systemd say, would send the same
 * wrong password each time and have the account locked.
 *
 * Rules: kept is what names the try (user, file and the file's own marks), never
 * the password or anything made from it. It bars the first login after a start
 * alone, for five minutes, and no other try: another user, a file that changed
 * or an operator's word count at once. A note that can't be written or read
 * blocks no login. No lock is held: there is file work in here.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/persist/persist.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/time.h"

#define NOTE_MAX 4096

static char *note_path(const char *dir)
{
	return vs_asprintf("%s/slurm_vsphere.login", dir);
}

/* "" if the file can't be read: the caller that reads it reports that. */
static char *try_of(const char *user, const char *file)
{
	struct stat st;

	if (!file || stat(file, &st))
		return vs_strdup("");
	return vs_asprintf("%s %s %llu %lld.%09ld %lld", user, file,
			   (unsigned long long)st.st_ino,
			   (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
			   (long long)st.st_size);
}

void vs_login_refused(const char *dir, const char *user, const char *file)
{
	VS_FREE char *path = note_path(dir), *try = try_of(user, file);
	VS_FREE char *text = vs_asprintf("%lld %s\n",
					 (long long)vs_wall_ms(), try);
	struct vs_err err = { 0 };

	if (*try && vs_file_replace(path, text, &err))
		vs_error("a refused login cannot be recorded: %s", err.text);
}

void vs_login_taken(const char *dir)
{
	VS_FREE char *path = note_path(dir);

	unlink(path);
}

int64_t vs_login_blocked_ms(const char *dir, const char *user, const char *file)
{
	VS_FREE char *path = note_path(dir), *try = try_of(user, file);
	VS_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char text[NOTE_MAX], *end;
	int64_t at_ms, left_ms;
	ssize_t n;

	if (fd < 0 || (n = read(fd, text, sizeof(text) - 1)) <= 0)
		return 0;
	text[n] = '\0';
	at_ms = strtoll(text, &end, 10);
	if (at_ms < 0 || at_ms > vs_wall_ms())
		return 0;
	left_ms = at_ms + VS_LOGIN_BLOCK_MS - vs_wall_ms();
	if (*end != ' ' || left_ms <= 0 || left_ms > VS_LOGIN_BLOCK_MS)
		return 0;
	end++;
	end[strcspn(end, "\n")] = '\0';
	return strcmp(end, try) ? 0 : left_ms;
}
