/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs whose guest is no more (lost_guest.c). The lock is held.
 */
#ifndef VS_ENGINE_LOST_GUEST_H
#define VS_ENGINE_LOST_GUEST_H

#include "engine/state/core_i.h"

/* That is over; and where is the VM? Before anything else is judged. */
void vs_ended_look(struct vs_core *c, struct vs_node *n, int64_t now_ms);
/* Switches a suspended VM off whose node Slurm is completing, or has set DOWN because
 * it is silent: no job of it is left to be resumed. */
void vs_ended_suspended_act(struct vs_core *c, struct vs_node *n,
			    int64_t now_ms);
/* A job whose VM was started again elsewhere is requeued. */
void vs_ended_act(struct vs_core *c, struct vs_node *n, int64_t now_ms);

#endif
