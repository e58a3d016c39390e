/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `sbatch --test-only` answers, and what it was asked. */
#ifndef SVF_SBATCH_H
#define SVF_SBATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/control_msg.h"
#include "util/err.h"
#include "util/json.h"

/* ---- job.c: the job that is asked about ------------------------------------ */
struct svf_job {
	char **words;			/* not ours */
	int n, noptions;		/* before the script's name */
	char *script;			/* its text; NULL: there is none */
	bool on_stdin;			/* it came from there */
};
/* -1: nothing that can be asked about; err says why. */
int svf_job_read(struct svf_job *j, char **words, int n, struct vs_err *err);
void svf_job_free(struct svf_job *j);

struct svf_option {
	const char *brief, *name, *env;	/* "-p" or NULL, "--partition", a
					 * variable or NULL */
	bool takes;			/* a value */
};
/* What counts of this option: of the words, else the variable, else the script;
 * to be free()d ("" if it takes no value). NULL: it isn't given. */
char *svf_option(const struct svf_job *j, const struct svf_option *o);
/* How many words (0, 1 or 2) it takes here, and its value. */
int svf_option_at(const struct svf_option *o, const char *word,
		  const char *next, const char **value);

/* ---- sbatch.c -------------------------------------------------------------- */
struct svf_sbatch {
	int64_t start;			/* seconds since the epoch, 0 unknown */
	uint32_t cpus;
	char nodes[VS_CTL_NODES_MAX];	/* as Slurm lists them */
	char partition[256];		/* "": not said */
	bool several;			/* jobs in one: the nodes are all of
					 * theirs, mixed */
};

/* Run it with these words; the script goes to its stdin, NULL: none does. -1:
 * the job would be refused, or it can't be asked; err says why. */
int svf_sbatch(char **words, int n, const char *script,
	       struct svf_sbatch *out, struct vs_err *err);
/* Find its line in what it has printed; the same for all releases from 22.05
 * to 26.05. */
bool svf_sbatch_parse(const char *text, struct svf_sbatch *out);

/* ---- partition.c --------------------------------------------------------- */
/* The list of partitions, to be free()d, if there are several; else NULL. The
 * other words into rest (room for all). */
char *svf_partitions(const struct svf_job *j, char **rest, int *nrest);
/* Take one out of the list; false: it wasn't there, or was the last. */
bool svf_partition_drop(char *list, const char *name);

/* ---- untold.c ------------------------------------------------------------ */
/* -1: what it says of this job would be wrong. */
int svf_untold_check(const struct svf_job *j, struct vs_err *err);
/* Add to the report's notes what it doesn't know of this job. */
void svf_untold_note(const struct svf_job *j, struct vs_jdoc *doc);

#endif
