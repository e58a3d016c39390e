/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks. Durations and instants are int64_t milliseconds. */
#ifndef VS_UTIL_TIME_H
#define VS_UTIL_TIME_H

#include <stdint.h>

int64_t vs_now_ms(void);	/* monotonic, for deadlines */
int64_t vs_wall_ms(void);	/* since the epoch, for people */

#endif
