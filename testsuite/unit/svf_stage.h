/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf as it is installed, run against the control channel's real server. COLUMNS,
 * SBATCH_CONSTRAINT and SBATCH_PARTITION of the test's environment are svf's too. */
#ifndef SVF_STAGE_H
#define SVF_STAGE_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include "control_stage.h"

#define NOBODY 65534

enum { HOSTS, NODES, WHY, STATUS, PLAN, JOBS, CHECK, OBJECTS };	/* into stage_report_text */

extern int port;		/* of the server that restart() has started */
extern char control[32];	/* SVF_CONTROL of the next run, "" for none */
extern char out[65536], errs[8192];	/* of the last run */
extern char svf_path[256];	/* PATH of the next run, "" for none */
extern bool as_nobody;		/* the next runs are that user's */

/* cmocka's set-up of each test: a server, SVF_CONTROL at it, a slurm.conf that
 * names munge's socket, an empty vsphere.conf beside it. */
int restart(void **state);
/* What each slurm.conf has, with geteuid(): the server is this user's. */
#define CLUSTER "ClusterName=" STAGE_CLUSTER "\nSlurmUser=%u\n"
/* Words separated by blanks; the exit code, with out and errs filled. The
 * binary is src/svf/svf, or VS_SVF of the environment. */
int svf(const char *words);
/* The same without waiting: its standard output, and its process in *pid. The
 * caller ends and waits for the process, and closes the file. */
FILE *svf_open(const char *words, pid_t *pid);
/* A file in the stage's directory, readable by all. */
void write_file(const char *name, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
char *path_of(const char *name);	/* free() it */

#define expect_in(text, part) do {					\
	if (!strstr(text, part))					\
		fail_msg("'%s' is not in: %s", part, text);		\
} while (0)

#endif
