/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The partitions that a job would be submitted to, when they are several: of
 * them Slurm's --test-only answers for the first that can run the job at all,
 * while the real job begins in the first that can at once.
 */
#include <stdlib.h>
#include <string.h>

#include "sbatch.h"
#include "util/buf.h"
#include "util/mem.h"

static const struct svf_option partition = {
	.brief = "-p", .name = "--partition", .env = "SBATCH_PARTITION",
	.takes = true,
};

char *svf_partitions(const struct svf_job *j, char **rest, int *nrest)
{
	char *found = svf_option(j, &partition);

	*nrest = 0;
	for (int i = 0, used; i < j->n; i += used ? used : 1) {
		const char *value;

		used = i >= j->noptions ? 0 :
			svf_option_at(&partition, j->words[i],
				      i + 1 < j->noptions ? j->words[i + 1] :
				      NULL, &value);
		if (!used)
			rest[(*nrest)++] = j->words[i];
	}
	if (found && strchr(found, ','))
		return found;
	free(found);
	return NULL;
}

bool svf_partition_drop(char *list, const char *name)
{
	size_t size = strlen(list) + 1;
	VS_FREE char *copy = vs_strdup(list);
	struct vs_buf left = VS_BUF_INIT(size);
	char *save = NULL;
	bool dropped = false;

	for (char *s = strtok_r(copy, ",", &save); s;
	     s = strtok_r(NULL, ",", &save)) {
		if (!strcmp(s, name))
			dropped = true;
		else
			vs_buf_printf(&left, "%s%s", left.len ? "," : "", s);
	}
	vs_strlcpy(list, left.data ? left.data : "", size);
	vs_buf_free(&left);
	return dropped && list[0];
}
