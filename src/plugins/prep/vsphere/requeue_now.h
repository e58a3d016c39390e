/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs that left their nodes before any slurmd knew of them. */
#ifndef VS_PLUGINS_PREP_VSPHERE_REQUEUE_NOW_H
#define VS_PLUGINS_PREP_VSPHERE_REQUEUE_NOW_H

#include <stdint.h>

/* In the epilog hook (JOB W is held): its prolog was still running. */
void vs_requeue_note(uint32_t job);
/* From a thread without locks, after a callback: if the job is back in the
 * queue, it may start again now. */
void vs_requeue_release(uint32_t job);

#endif
