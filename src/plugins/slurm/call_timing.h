/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long slurmctld's threads and locks are kept by us, told to the core for
 * svf status. Calls of the plugins are timed without what the stock plugin takes
 * of them.
 */
#ifndef VS_PLUGINS_SLURM_CALL_TIMING_H
#define VS_PLUGINS_SLURM_CALL_TIMING_H

#include <stdint.h>
#include "engine/run/api.h"

void vs_timed_to(const struct vs_core_api *core);

/* slurmctld's locks were taken / are given back, in this thread. */
void vs_timed_locked(void);
void vs_timed_unlocked(void);

/* A call from slurmctld into this plugin. Between vs_timed_others_begin and
 * vs_timed_others_end the time counts for cons_tres. All in one thread; the
 * outermost counts. */
void vs_timed_begin(void);
void vs_timed_others_begin(void);
void vs_timed_others_end(void);
void vs_timed_end(void);

#endif
