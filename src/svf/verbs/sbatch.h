/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `sbatch --test-only` answers. */
#ifndef SVF_SBATCH_H
#define SVF_SBATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/rpc/message.h"
#include "util/err.h"

struct svf_sbatch {
	int64_t start;			/* seconds since the epoch, 0 unknown */
	uint32_t cpus;
	char nodes[VS_CTL_NODES_MAX];	/* as Slurm lists them */
	char partition[256];		/* "": not said */
};

/* Runs sbatch --test-only with these n options, each in one word
 * ("--nodes=4"), and waits 30 s at most. Returns 0 and fills *out. Returns -1
 * and sets err if Slurm refuses the job (VS_E_REQUEST), if slurmctld does not
 * answer (VS_E_RETRY), or if there is no sbatch (VS_E_CONFIG). */
int svf_sbatch(char **options, int n, struct svf_sbatch *out,
	       struct vs_err *err);
/* Finds the line of the answer in what sbatch printed. The line is the same in
 * all releases from 22.05 to 26.05. Returns false, and leaves *out, if there is
 * none. */
bool svf_sbatch_parse(const char *text, struct svf_sbatch *out);

#endif
