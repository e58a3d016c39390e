/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One judgement of VCenterPasswordFile, for all that read vsphere.conf and all that
 * log in: slurmctld at its start, its client at each login, svf-probe.
 */
#include <sys/stat.h>

#include "util/secret_file.h"

int vs_secret_file_check(const struct stat *st, unsigned int uid,
			 struct vs_err *err)
{
	if (!S_ISREG(st->st_mode))
		return vs_err_set(err, VS_E_CONFIG, "is not a regular file");
	if (st->st_uid != uid)
		return vs_err_set(err, VS_E_CONFIG,
			"belongs to uid %u: it must belong to uid %u (chown it)",
			(unsigned int)st->st_uid, uid);
	if (st->st_mode & 0177)
		return vs_err_set(err, VS_E_CONFIG,
			"has mode %04o: expected 0600 or 0400 (chmod 600 it)",
			(unsigned int)st->st_mode & 07777);
	return 0;
}
