/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of jobs/ keep together, for them alone. The lock is held. */
#ifndef VS_ENGINE_JOBS_I_H
#define VS_ENGINE_JOBS_I_H

#include "engine/jobs/jobs.h"

struct vs_jobs {
	struct vs_pending *refused;	/* uthash by job */
	unsigned int reasons_turn;	/* whose turn it is of these */
};
extern struct vs_jobs vs_jobs;

#endif
