/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries in and out of a job's SPANK environment.
 *
 * Rules: the array is never shrunk behind an entry that is no NULL; no entry of
 * a user is looked at before it is known to be there. See job_env.h.
 */
#include "job_env.h"
#include "plugins/slurm/compat.h"

uint32_t vs_job_env_replace(char ***entries, uint32_t *size,
			    bool (*drop)(const char *entry),
			    char *const *add, uint32_t nadd)
{
	char **env = *entries;
	uint32_t kept = 0, was = env ? *size : 0;

	for (uint32_t i = 0; i < was; i++) {
		char *entry = env[i];

		env[i] = NULL;
		if (entry && !drop(entry))
			env[kept++] = entry;
		else
			xfree(entry);
	}
	if (kept + nadd) {
		xrecalloc(*entries, (size_t)kept + nadd + 1, sizeof(char *));
		for (uint32_t i = 0; i < nadd; i++)
			(*entries)[kept + i] = xstrdup(add[i]);
		(*entries)[kept + nadd] = NULL;
	} else {
		xfree(*entries);
	}
	*size = kept + nadd;
	return was - kept;
}
