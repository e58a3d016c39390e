/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts that are to be empty (cordon.c). The lock is held. */
#ifndef VS_ENGINE_HOSTS_H
#define VS_ENGINE_HOSTS_H

#include "engine/state/core_i.h"

/* In maintenance, entering it, or drained by an operator. */
bool vs_host_wanted(const struct vs_host *h);
/* Why, for such a host. note: with the note of the operator who drained it, which
 * is not for everybody. */
void vs_host_wanted_words(const struct vs_host *h,
			  bool note, char *why, size_t size);
/* The same with the note. */
void vs_why_wanted(const struct vs_host *h,
		   char *why, size_t size);

#endif
